//! A headless Chromium, driven by its DevTools protocol over a WebSocket.

use crate::picture::Picture;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::stream::MaybeTlsStream;
use tungstenite::{Message, WebSocket};

/// How long a single answer may take; the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// The names under which Chromium is installed.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A browser; it ends with this value.
pub struct Browser {
    process: Child,
    address: String,
    /// Its profile.
    _directory: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Browser {
    /// Starts one, if one is installed.
    pub fn start() -> Option<Browser> {
        let name = NAMES.iter().find(|name| {
            let version = Command::new(name)
                .arg("--version")
                .stderr(Stdio::null())
                .output();
            version.is_ok_and(|output| output.status.success())
        })?;
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut process = Command::new(name)
            .args([
                "--headless",
                // The tests may run as root in a container, where the sandbox cannot be had.
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-extensions",
                "--disable-background-networking",
                "--no-first-run",
                "--force-device-scale-factor=1",
                "--window-size=1280,900",
                "--remote-debugging-port=0",
            ])
            .arg(format!("--user-data-dir={}", directory.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let errors = BufReader::new(process.stderr.take().expect("it is piped"));
        let mut lines = errors.lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line.strip_prefix("DevTools listening on ")?.to_owned()))
            .expect("the browser says where it listens");
        // A full pipe would stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Browser {
            process,
            address,
            _directory: directory,
        })
    }

    /// Opens a page and waits until it is there.
    pub fn open(&self, page: &Path) -> Tab {
        let (socket, _) = tungstenite::connect(&self.address).expect("the browser answers");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        }
        let mut tab = Tab {
            socket,
            session: None,
            next: 0,
            loaded: false,
            complaints: Vec::new(),
            requests: Vec::new(),
        };
        let target = tab.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = tab.call(
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        );
        tab.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network", "Accessibility"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.size(1280, 900);
        tab.scheme("light");
        tab.loaded = false;
        let url = format!("file://{}", page.display());
        let answer = tab.call("Page.navigate", json!({ "url": url }));
        assert_eq!(answer["errorText"], Value::Null);
        while !tab.loaded {
            tab.receive();
        }
        tab
    }
}

/// A page in the browser.
pub struct Tab {
    socket: WebSocket<MaybeTlsStream<TcpStream>>,
    session: Option<String>,
    next: u64,
    loaded: bool,
    /// Errors and warnings of the page.
    pub complaints: Vec<String>,
    /// The addresses that were fetched.
    pub requests: Vec<String>,
}

impl Tab {
    /// Calls a method of the protocol.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let message = Message::text(message.to_string());
        self.socket.send(message).expect("the browser listens");
        let start = Instant::now();
        loop {
            let answer = self.receive();
            if answer["id"] == json!(id) {
                assert_eq!(answer["error"], Value::Null, "{method}");
                return answer["result"].clone();
            }
            assert!(start.elapsed() < PATIENCE, "{method} is not answered");
        }
    }

    /// The next message; what it tells of the page is kept.
    fn receive(&mut self) -> Value {
        let message = self.socket.read().expect("the browser speaks");
        let Message::Text(text) = message else {
            return Value::Null;
        };
        let value: Value = serde_json::from_str(&text).expect("it speaks JSON");
        let parameters = &value["params"];
        match value["method"].as_str() {
            Some("Page.loadEventFired") => self.loaded = true,
            Some("Network.requestWillBeSent") => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                self.requests.push(url.to_owned());
            }
            Some("Runtime.exceptionThrown") => {
                self.complaints
                    .push(parameters["exceptionDetails"].to_string());
            }
            Some("Runtime.consoleAPICalled")
                if ["error", "warning", "assert"]
                    .contains(&parameters["type"].as_str().unwrap_or_default()) =>
            {
                self.complaints.push(parameters["args"].to_string());
            }
            Some("Log.entryAdded")
                if ["error", "warning"]
                    .contains(&parameters["entry"]["level"].as_str().unwrap_or_default()) =>
            {
                self.complaints.push(parameters["entry"].to_string());
            }
            _ => {}
        }
        value
    }

    /// The value of an expression.
    #[track_caller]
    pub fn value(&mut self, expression: &str) -> Value {
        let answer = self.call(
            "Runtime.evaluate",
            json!({ "expression": expression, "returnByValue": true }),
        );
        assert_eq!(answer["exceptionDetails"], Value::Null, "{expression}");
        answer["result"]["value"].clone()
    }

    /// Does something of which the value does not matter.
    #[track_caller]
    pub fn evaluate(&mut self, expression: &str) {
        self.value(expression);
    }

    /// Clicks into the middle of an element, after it was moved into sight.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let place = self.value(&format!(
            "(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect(); \
             const x = r.left + r.width / 2, y = r.top + r.height / 2; \
             const hit = document.elementFromPoint(x, y); \
             return [x, y, hit === e || e.contains(hit)]; }})(document.querySelector({selector:?}))"
        ));
        assert_eq!(place[2], true, "{selector} can be clicked on: {place}");
        for kind in ["mousePressed", "mouseReleased"] {
            self.call(
                "Input.dispatchMouseEvent",
                json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 }),
            );
        }
    }

    /// Puts the keyboard's focus on an element.
    #[track_caller]
    pub fn focus(&mut self, selector: &str) {
        let focused = self.value(&format!(
            "(e => {{ e.focus(); return document.activeElement === e; }})(document.querySelector({selector:?}))"
        ));
        assert_eq!(focused, true, "{selector} takes the focus");
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            _ => 40,
        };
        for kind in ["rawKeyDown", "keyUp"] {
            self.call(
                "Input.dispatchKeyEvent",
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code }),
            );
        }
    }

    /// Sets the colour scheme that the user prefers.
    pub fn scheme(&mut self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": [feature] }),
        );
    }

    /// Sets the size of the window; a narrow one is a phone.
    pub fn size(&mut self, width: u64, height: u64) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 }),
        );
    }

    /// A picture of the window.
    pub fn screenshot(&mut self) -> Picture {
        let answer = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        Picture::decode(answer["data"].as_str().expect("a picture"))
    }

    /// What assistive technology sees: roles and names.
    pub fn accessible(&mut self) -> Vec<(String, String)> {
        let tree = self.call("Accessibility.getFullAXTree", json!({}));
        let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
        let nodes = tree["nodes"].as_array().expect("a tree");
        nodes
            .iter()
            .filter(|node| node["ignored"] != true)
            .map(|node| (text(&node["role"]), text(&node["name"])))
            .collect()
    }
}
