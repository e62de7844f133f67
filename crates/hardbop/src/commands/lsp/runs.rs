//! Checks as processes of their own, which are ended when nobody wants their answers any more.

use super::places::path_of;
use serde_json::Value;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

/// What is to be found out.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The text.
    pub uri: String,
    /// Which of its versions.
    pub version: i64,
    /// The function that is checked by itself, if one is.
    pub entry: Option<String>,
    /// The time.
    pub seconds: f64,
    /// Whether nothing comes after it.
    pub last: bool,
}

/// What a check said.
pub struct Said {
    /// What was asked.
    pub asked: Asked,
    /// The result, as JSON.
    pub value: Value,
}

/// A check that is going on. It ends with this value.
pub struct Run {
    child: Arc<Mutex<Option<Child>>>,
}

impl Run {
    /// Begins a check of a text, with further arguments. Whoever holds the other end hears what it
    /// says, unless it is ended before.
    pub fn begin(
        asked: Asked,
        text: &str,
        arguments: &[String],
        sender: Sender<Said>,
    ) -> Option<Run> {
        let path = path_of(&asked.uri);
        let directory = Path::new(&path).parent()?;
        let mut command = Command::new(std::env::current_exe().ok()?);
        command
            .args(["check", "--json", "--time-limit"])
            .arg(asked.seconds.to_string());
        if asked.last {
            command.arg("--invariants");
        }
        if let Some(entry) = &asked.entry {
            command.args(["--entry", entry]);
        }
        let mut child = command
            .args(arguments)
            .args(["--", "-"])
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let (mut stdin, mut stdout) = (child.stdin.take()?, child.stdout.take()?);
        // Lines are those of the file, also where its text is not saved.
        let text = format!("# 1 \"{path}\"\n{text}");
        std::thread::spawn(move || {
            // Whoever was ended reads no more.
            let _ = stdin.write_all(text.as_bytes());
        });
        let child = Arc::new(Mutex::new(Some(child)));
        let shared = Arc::clone(&child);
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.read_to_end(&mut bytes);
            let ended = shared.lock().ok().and_then(|mut child| child.take());
            // Whoever took it away ended it.
            let Some(mut child) = ended else {
                return;
            };
            let _ = child.wait();
            if read.is_ok()
                && let Ok(value) = serde_json::from_slice(&bytes)
            {
                // There may be nobody left to tell.
                let _ = sender.send(Said { asked, value });
            }
        });
        Some(Run { child })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let child = self.child.lock().ok().and_then(|mut child| child.take());
        if let Some(mut child) = child {
            // It may have ended by itself just now.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
