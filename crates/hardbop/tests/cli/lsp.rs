//! `hardbop lsp`, through the protocol itself.

use crate::scene::{Scene, hardbop};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A client that says what the test says, and hears everything.
struct Client {
    server: Child,
    stdin: ChildStdin,
    heard: Receiver<Value>,
    next: i64,
}

/// Nothing takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

impl Client {
    fn start(scene: &Scene, options: Value) -> Client {
        let mut server = hardbop(&scene.path())
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("hardbop starts");
        let stdin = server.stdin.take().expect("it is piped");
        let stdout = server.stdout.take().expect("it is piped");
        let (sender, heard) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Some(message) = read(&mut reader) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut client = Client {
            server,
            stdin,
            heard,
            next: 0,
        };
        let answer = client.ask(
            "initialize",
            json!({ "capabilities": {}, "initializationOptions": options }),
        );
        assert_eq!(answer["capabilities"]["hoverProvider"], true);
        client.tell("initialized", json!({}));
        client
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        self.stdin.flush().expect("it listens");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Asks, and waits for the answer; what is heard before is dropped.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.wait(|message| message["id"] == id)["result"].clone()
    }

    fn wait(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Ok(message) = self.heard.recv_timeout(Duration::from_millis(100))
                && wanted(&message)
            {
                return message;
            }
        }
        panic!("the server said nothing of the kind");
    }

    /// The next diagnostics of a version.
    fn diagnostics(&self, version: i64) -> Vec<Value> {
        let message = self.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["version"] == version
        });
        let told = message["params"]["diagnostics"].as_array();
        told.expect("a list").clone()
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "c", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, uri: &str, version: i64, text: &str) {
        self.tell(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri, "version": version },
                "contentChanges": [{ "text": text }],
            }),
        );
    }

    /// The end, as the protocol has it.
    fn end(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        let status = self.server.wait().expect("it ends");
        assert!(status.success(), "{status}");
    }
}

fn read(reader: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().strip_prefix("Content-Length:") {
            Some(number) => length = number.trim().parse().ok()?,
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

fn uri(scene: &Scene, name: &str) -> String {
    format!("file://{}", scene.path().join(name).display())
}

const WRONG: &str = "#include <assert.h>
#include \"half.h\"
int main(void) {
  int x = HALF(8);
  x = x + 1;
  assert(x == 4);
  return 0;
}
";

/// The text is never saved: what is checked is what the editor shows.
#[test]
fn violations_come_with_their_runs() {
    let scene = Scene::file("half.h", "#define HALF(x) ((x) / 2)\n");
    let uri = uri(&scene, "wrong.c");
    let mut client = Client::start(&scene, json!({ "timeLimit": 5 }));
    client.open(&uri, WRONG);
    let told = client.diagnostics(1);
    assert_eq!(told.len(), 1, "{told:?}");
    let one = &told[0];
    assert_eq!(one["severity"], 1);
    assert_eq!(one["source"], "hardbop");
    assert_eq!(one["code"], "assertion");
    assert_eq!(one["range"]["start"], json!({ "line": 5, "character": 2 }));
    assert_eq!(one["range"]["end"], json!({ "line": 5, "character": 17 }));
    let related = one["relatedInformation"].as_array().expect("a list");
    let said: Vec<&str> = related
        .iter()
        .map(|step| step["message"].as_str().expect("words"))
        .collect();
    assert!(said.iter().any(|step| step.contains("x = 5")), "{said:?}");
    assert!(
        related
            .iter()
            .all(|step| step["location"]["uri"] == uri.as_str()),
        "{related:?}"
    );
    client.change(&uri, 2, &WRONG.replace("== 4", "== 5"));
    assert_eq!(client.diagnostics(2), Vec::<Value>::new());
    client.change(&uri, 3, "int main(void) { return y; }\n");
    let told = client.diagnostics(3);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["range"]["start"]["line"], 0);
    client.end();
}

#[test]
fn what_is_proved_can_be_hovered_over() {
    let text = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
  int i = 0;
  while (__VERIFIER_nondet_int()) {
    if (i < 10) i++;
  }
  if (i > 10) reach_error();
}
";
    let scene = Scene::empty();
    let uri = uri(&scene, "loop.c");
    let mut client = Client::start(&scene, json!({ "timeLimit": 20 }));
    client.open(&uri, text);
    client.diagnostics(1);
    // Invariants come with the second look.
    client.diagnostics(1);
    let hover = |client: &mut Client, line: u64| {
        let at = json!({ "line": line, "character": 4 });
        client.ask(
            "textDocument/hover",
            json!({ "textDocument": { "uri": uri }, "position": at }),
        )
    };
    let shown = hover(&mut client, 4);
    let shown = shown["contents"]["value"].as_str().unwrap_or_default();
    assert!(shown.contains("loop invariant `"), "{shown}");
    let shown = hover(&mut client, 7);
    let shown = shown["contents"]["value"].as_str().unwrap_or_default();
    assert!(shown.contains("proved: call of `reach_error`"), "{shown}");
    assert_eq!(hover(&mut client, 3), Value::Null);
    client.end();
}

#[test]
fn a_function_can_be_checked_by_itself() {
    let text = "int get(const int *p) {\n  return *p;\n}\n";
    let scene = Scene::empty();
    let uri = uri(&scene, "lib.c");
    let arguments = json!(["--check", "pointer,bounds"]);
    let mut client = Client::start(&scene, json!({ "arguments": arguments, "timeLimit": 10 }));
    client.open(&uri, text);
    assert_eq!(
        client.diagnostics(1),
        Vec::<Value>::new(),
        "no main is no mistake"
    );
    let at = json!({ "line": 1, "character": 0 });
    let actions = client.ask(
        "textDocument/codeAction",
        json!({
            "textDocument": { "uri": uri },
            "range": { "start": at, "end": at },
            "context": { "diagnostics": [] },
        }),
    );
    assert_eq!(actions[0]["title"], "Check `get` with hardbop");
    let command = &actions[0]["command"];
    client.ask(
        "workspace/executeCommand",
        json!({ "command": command["command"], "arguments": command["arguments"] }),
    );
    let told = client.diagnostics(1);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["message"], "null pointer in *p");
    let message = client.wait(|message| message["method"] == "window/showMessage");
    let message = message["params"]["message"].as_str().expect("words");
    assert!(
        message.starts_with("hardbop: get: 1 proved, 1 violated"),
        "{message}"
    );
    client.end();
}

/// A check that would take for ever ends when the text changes, and the new text has its answer.
#[test]
fn a_change_cancels_what_is_going_on() {
    let hard = "extern unsigned __VERIFIER_nondet_uint(void);
extern void reach_error(void);
int main(void) {
  unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
  while (__VERIFIER_nondet_uint()) { a = a * a + b; b = b * 7 + a; }
  if (a * b == 1234567 && a > b) reach_error();
}
";
    let scene = Scene::empty();
    let uri = uri(&scene, "hard.c");
    let mut client = Client::start(&scene, json!({ "timeLimit": 3600 }));
    client.open(&uri, hard);
    client.diagnostics(1);
    let begun = Instant::now();
    client.change(&uri, 2, "int main(void) { return 0; }\n");
    assert_eq!(client.diagnostics(2), Vec::<Value>::new());
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "nobody waits for the old one"
    );
    client.end();
}
