//! `hardbop lsp`: answers in an editor, by the language server protocol.
//!
//! The server itself only talks: each check is a process of its own (`runs.rs`), which is ended as
//! soon as the text changes. A text is looked at twice: first for a moment, so that what is easy is
//! there at once, and then, if something is open, for as long as the editor wants.

mod answers;
mod functions;
mod places;
mod runs;

use crate::failure::{Failure, Verdict};
use answers::Answers;
use lsp_server::{Connection, Message, Notification, Request, Response};
use places::{path_of, uri_of};
use runs::{Asked, Run, Said};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// The command behind "check this function".
const CHECK_FUNCTION: &str = "hardbop.checkFunction";

/// So long nothing must have been typed before a text is looked at.
const STILLNESS: Duration = Duration::from_millis(300);

/// So often it is looked up what checks have said.
const INTERVAL: Duration = Duration::from_millis(20);

/// The seconds of the first look, ...
const GLANCE: f64 = 0.5;

/// ... and those of the second, unless the editor says otherwise.
const SECONDS: f64 = 20.0;

/// Serves an editor until it says that it is done.
pub fn run() -> Result<Verdict, Failure> {
    let (connection, threads) = Connection::stdio();
    let broken = |error: &dyn std::fmt::Display| {
        Failure::message(format!("the editor does not keep to the protocol: {error}"))
    };
    let capabilities = json!({
        "textDocumentSync": { "openClose": true, "change": 1, "save": true },
        "hoverProvider": true,
        "codeActionProvider": true,
        "executeCommandProvider": { "commands": [CHECK_FUNCTION] },
    });
    let told = connection
        .initialize(capabilities)
        .map_err(|error| broken(&error))?;
    let (sender, said) = channel();
    let server = Server {
        connection,
        options: Options::of(&told["initializationOptions"]),
        documents: BTreeMap::new(),
        sender,
        said,
    };
    server.serve().map_err(|error| broken(&error))?;
    threads.join().map_err(|error| broken(&error))?;
    Ok(Verdict::Fine)
}

/// What the editor wants.
struct Options {
    /// Further arguments of `hardbop check`.
    arguments: Vec<String>,
    /// The seconds of a check.
    seconds: f64,
}

impl Options {
    fn of(value: &Value) -> Options {
        let arguments = value["arguments"].as_array().into_iter().flatten();
        let arguments = arguments.filter_map(|one| one.as_str().map(str::to_owned));
        let seconds = value["timeLimit"].as_f64().filter(|seconds| *seconds > 0.0);
        Options {
            arguments: arguments.collect(),
            seconds: seconds.unwrap_or(SECONDS),
        }
    }
}

/// A text that is open in the editor.
struct Document {
    text: String,
    version: i64,
    /// What is known of it.
    answers: Answers,
    /// When it is looked at next.
    due: Option<Instant>,
    /// What is being found out.
    run: Option<Run>,
}

struct Server {
    connection: Connection,
    options: Options,
    documents: BTreeMap<String, Document>,
    sender: Sender<Said>,
    said: Receiver<Said>,
}

type Broken = Box<dyn std::error::Error + Send + Sync>;

impl Server {
    fn serve(mut self) -> Result<(), Broken> {
        loop {
            match self.connection.receiver.recv_timeout(INTERVAL) {
                Ok(Message::Request(request)) => {
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    self.request(request)?;
                }
                Ok(Message::Notification(notification)) => self.notification(&notification)?,
                Ok(Message::Response(_)) => {}
                Err(ended) if ended.is_timeout() => {}
                // The editor is gone.
                Err(_) => return Ok(()),
            }
            while let Ok(said) = self.said.try_recv() {
                self.heard(said)?;
            }
            self.begin();
        }
    }

    fn notification(&mut self, notification: &Notification) -> Result<(), Broken> {
        let params = &notification.params;
        let document = &params["textDocument"];
        let Some(uri) = document["uri"].as_str().map(str::to_owned) else {
            return Ok(());
        };
        let version = document["version"].as_i64().unwrap_or(0);
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let text = document["text"].as_str().unwrap_or_default();
                self.changed(uri, text.to_owned(), version, Duration::ZERO);
            }
            "textDocument/didChange" => {
                // Texts come as a whole: that is what was agreed on.
                let changes = params["contentChanges"].as_array();
                let last = changes.and_then(|changes| changes.last());
                if let Some(text) = last.and_then(|change| change["text"].as_str()) {
                    self.changed(uri, text.to_owned(), version, STILLNESS);
                }
            }
            "textDocument/didSave" => {
                if let Some(document) = self.documents.get_mut(&uri)
                    && document.due.is_some()
                {
                    document.due = Some(Instant::now());
                }
            }
            "textDocument/didClose" => {
                self.documents.remove(&uri);
                self.publish(&uri, &Answers::default(), None)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// There is a new text: whatever is being found out of the old one is of no use.
    fn changed(&mut self, uri: String, text: String, version: i64, after: Duration) {
        let before = self.documents.remove(&uri);
        let document = Document {
            text,
            version,
            answers: before.map_or_else(Answers::default, |before| before.answers),
            due: Some(Instant::now() + after),
            run: None,
        };
        self.documents.insert(uri, document);
    }

    /// Begins what is due.
    fn begin(&mut self) {
        let now = Instant::now();
        for (uri, document) in &mut self.documents {
            if document.due.is_some_and(|due| due <= now) {
                document.due = None;
                let asked = Asked {
                    uri: uri.clone(),
                    version: document.version,
                    entry: None,
                    seconds: GLANCE.min(self.options.seconds),
                    last: self.options.seconds <= GLANCE,
                };
                document.run = ask(asked, &document.text, &self.options, &self.sender);
            }
        }
    }

    /// A check has said something.
    fn heard(&mut self, said: Said) -> Result<(), Broken> {
        let Said { asked, value } = said;
        let Some(document) = self.documents.get_mut(&asked.uri) else {
            return Ok(());
        };
        if document.version != asked.version {
            return Ok(());
        }
        let path = path_of(&asked.uri);
        let answers = Answers::of(&value, &path, &document.text);
        let again = !asked.last && answers.is_open();
        document.answers = answers.clone();
        document.run = None;
        if again {
            let asked = Asked {
                seconds: self.options.seconds,
                last: true,
                ..asked.clone()
            };
            document.run = ask(asked, &document.text, &self.options, &self.sender);
        }
        let version = document.version;
        self.publish(&asked.uri, &answers, Some(version))?;
        if let (Some(entry), false) = (&asked.entry, again) {
            let message = format!("hardbop: {entry}: {}", answers.summary());
            self.notify(
                "window/showMessage",
                json!({ "type": 3, "message": message }),
            )?;
        }
        Ok(())
    }

    fn request(&mut self, request: Request) -> Result<(), Broken> {
        let params = &request.params;
        let result = match request.method.as_str() {
            "textDocument/hover" => self.hover(params),
            "textDocument/codeAction" => self.actions(params),
            "workspace/executeCommand" => self.command(params),
            other => {
                let message = format!("`{other}` is not known here");
                let unknown = lsp_server::ErrorCode::MethodNotFound as i32;
                let response = Response::new_err(request.id, unknown, message);
                return Ok(self.connection.sender.send(Message::Response(response))?);
            }
        };
        let response = Response::new_ok(request.id, result);
        Ok(self.connection.sender.send(Message::Response(response))?)
    }

    fn hover(&self, params: &Value) -> Value {
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
        let line = params["position"]["line"].as_u64().unwrap_or(0);
        let document = self.documents.get(uri);
        let text = document.and_then(|document| document.answers.hover(line));
        text.map_or(
            Value::Null,
            |text| json!({ "contents": { "kind": "markdown", "value": text } }),
        )
    }

    /// The function at a place can be checked by itself.
    fn actions(&self, params: &Value) -> Value {
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default();
        let line = params["range"]["start"]["line"].as_u64().unwrap_or(0);
        let document = self.documents.get(uri);
        let function = document.and_then(|document| functions::at(&document.text, line));
        let Some(function) = function else {
            return json!([]);
        };
        let title = format!("Check `{function}` with hardbop");
        json!([{
            "title": title,
            "kind": "source",
            "command": {
                "title": title,
                "command": CHECK_FUNCTION,
                "arguments": [uri, function],
            },
        }])
    }

    fn command(&mut self, params: &Value) -> Value {
        let arguments = &params["arguments"];
        if let (Some(CHECK_FUNCTION), Some(uri), Some(function)) = (
            params["command"].as_str(),
            arguments[0].as_str(),
            arguments[1].as_str(),
        ) && let Some(document) = self.documents.get_mut(uri)
        {
            document.due = None;
            let asked = Asked {
                uri: uri.to_owned(),
                version: document.version,
                entry: Some(function.to_owned()),
                seconds: self.options.seconds,
                last: true,
            };
            document.run = ask(asked, &document.text, &self.options, &self.sender);
        }
        Value::Null
    }

    fn publish(&self, uri: &str, answers: &Answers, version: Option<i64>) -> Result<(), Broken> {
        let mut params = json!({
            "uri": uri,
            "diagnostics": answers.diagnostics(uri_of),
        });
        if let Some(version) = version {
            params["version"] = json!(version);
        }
        self.notify("textDocument/publishDiagnostics", params)
    }

    fn notify(&self, method: &str, params: Value) -> Result<(), Broken> {
        let notification = Notification::new(method.to_owned(), params);
        let message = Message::Notification(notification);
        Ok(self.connection.sender.send(message)?)
    }
}

fn ask(asked: Asked, text: &str, options: &Options, sender: &Sender<Said>) -> Option<Run> {
    Run::begin(asked, text, &options.arguments, sender.clone())
}
