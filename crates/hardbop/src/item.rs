//! Checks an item: looks into the store, or runs `hardbop check` as a process of its own.
//!
//! One machine and a node of many do the same here. Each item is a process, so that one that runs
//! into a limit or fails does not take the others with it.

use crate::store::{Hashes, Store};
use crate::tool::Tool;
use hardbop_budget::Stopped;
use hardbop_cluster::journal::{Brief, Known};
use hardbop_cluster::store::{Claims, Entry, Question};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What is asked about an item.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Asked {
    /// What it is, for people.
    pub title: String,
    /// The arguments of `hardbop`.
    pub arguments: Vec<String>,
    /// The files that the user named, rules among them.
    pub own: Vec<String>,
}

/// Whether what is in the store is taken at its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// It is: it was checked when it was written, and is whole.
    Stored,
    /// Its claims are put through the gate again.
    Rechecked,
}

/// With what an item is checked.
pub struct Bench<'a> {
    /// The project's directory.
    pub directory: &'a Path,
    /// The tool.
    pub tool: &'a Tool,
    /// The store.
    pub store: &'a Store,
    /// Whether it is believed.
    pub trust: Trust,
    /// Whether nobody wants the answer any more.
    pub unwanted: &'a (dyn Fn() -> bool + Sync),
}

/// What became of an item.
pub struct Done {
    /// The answer; `None` if nobody wanted it any more.
    pub brief: Option<Brief>,
    /// How it is known.
    pub known: Known,
    /// How long it took.
    pub seconds: f64,
    /// Why it could not be kept.
    pub unkept: Option<String>,
}

impl Asked {
    /// The same for one engine alone, or for a part of its search: `dpr`, `dpr 0/4`.
    pub fn by_engine(&self, lane: &str) -> Asked {
        let mut arguments = self.arguments.clone();
        let options = arguments.iter().take_while(|word| *word != "--");
        if let Some(at) = options.into_iter().position(|word| word == "--engine") {
            arguments.drain(at..at + 2);
        }
        let at = arguments.len().min(1);
        let words = match lane.split_once(' ') {
            Some((engine, part)) => vec!["--engine", engine, "--cube", part],
            None => vec!["--engine", lane],
        };
        arguments.splice(at..at, words.into_iter().map(str::to_owned));
        Asked {
            arguments,
            title: format!("{} by {lane}", self.title),
            own: self.own.clone(),
        }
    }

    /// The question as a key; `None` if a file cannot be read, which the work will say.
    pub fn question(&self, tool: &Tool, hashes: &Hashes) -> Option<Question> {
        let own: Option<BTreeMap<String, String>> = self
            .own
            .iter()
            .map(|file| Some((file.clone(), hashes.of(file)?)))
            .collect();
        Some(Question::new(&tool.identity, &self.arguments, &own?))
    }
}

impl Bench<'_> {
    /// Answers from the store, without any work.
    pub fn stored(&self, asked: &Asked, hashes: &Hashes) -> Option<Done> {
        let question = asked.question(self.tool, hashes)?;
        let (_, entry) = self.store.known(&question, hashes)?;
        Some(Done {
            brief: Some(Brief::of(&entry.result).filter(Brief::is_decided)?),
            known: Known::Stored,
            seconds: 0.0,
            unkept: None,
        })
    }

    /// Answers.
    pub fn check(&self, asked: &Asked) -> Done {
        let started = Instant::now();
        let hashes = Hashes::new(self.directory);
        let stored = match self.trust {
            Trust::Stored => self.stored(asked, &hashes),
            Trust::Rechecked => self.rechecked(asked, &hashes),
        };
        let mut done = stored.unwrap_or_else(|| self.find(asked, &hashes));
        done.seconds = started.elapsed().as_secs_f64();
        done
    }

    /// An answer from the store whose claims pass the gate; one whose claims do not is thrown away.
    fn rechecked(&self, asked: &Asked, hashes: &Hashes) -> Option<Done> {
        let question = asked.question(self.tool, hashes)?;
        let (key, entry) = self.store.known(&question, hashes)?;
        let brief = Brief::of(&entry.result).filter(Brief::is_decided)?;
        if !self.certified(asked, &entry, &brief) {
            if !(self.unwanted)() {
                // Where it cannot be removed, it is not believed the next time either.
                let _ = self.store.remove(&key);
            }
            return None;
        }
        Some(Done {
            brief: Some(brief),
            known: Known::Rechecked,
            seconds: 0.0,
            unkept: None,
        })
    }

    /// Whether the claims of an entry say what its answers say, and pass the gate.
    fn certified(&self, asked: &Asked, entry: &Entry, brief: &Brief) -> bool {
        let mut open: Vec<String> = brief
            .checks
            .iter()
            .filter(|check| check.answer.text() != "UNKNOWN")
            .map(|check| format!("{} {}:{}:", check.answer.text(), check.file, check.line))
            .collect();
        for claims in &entry.claims {
            let Some(bytes) = self.store.claims(&claims.sha256) else {
                return false;
            };
            let Ok(file) = tempfile::NamedTempFile::new() else {
                return false;
            };
            if std::fs::write(file.path(), bytes).is_err() {
                return false;
            }
            let mut arguments = asked.arguments.clone();
            arguments[0] = "certify".to_owned();
            // Who found them, and of which checks they are some, does not matter to the gate.
            let files = arguments.iter().position(|word| word == "--");
            for option in ["--engine", "--cube", "--group"] {
                let before = arguments.iter().take(files.unwrap_or(usize::MAX));
                let mut found = before.enumerate().filter(|(_, word)| *word == option);
                if let Some(at) = found.next().map(|(at, _)| at) {
                    arguments.drain(at..at + 2);
                }
            }
            arguments.push(file.path().display().to_string());
            let Ran::Said(Some(value)) = self.run(&arguments) else {
                return false;
            };
            if !matches!(value["exit_code"].as_u64(), Some(0 | 1)) {
                return false;
            }
            for answer in value["answers"].as_array().into_iter().flatten() {
                let word = answer["answer"].as_str().unwrap_or_default();
                let place = answer["place"].as_str().unwrap_or_default();
                let said = format!("{word} {place}");
                if let Some(at) = open.iter().position(|one| said.starts_with(one.as_str())) {
                    open.swap_remove(at);
                }
            }
        }
        open.is_empty() && !entry.claims.is_empty()
    }

    /// Does the work.
    fn find(&self, asked: &Asked, hashes: &Hashes) -> Done {
        let certificate = tempfile::NamedTempFile::new().ok();
        let mut arguments = asked.arguments.clone();
        if let Some(certificate) = &certificate {
            let path = certificate.path().display().to_string();
            arguments.splice(1..1, ["--certificate".to_owned(), path]);
        }
        let (brief, unkept) = match self.run(&arguments) {
            Ran::Unwanted => (None, None),
            Ran::Failed(reason) => {
                let failed = Brief {
                    exit_code: crate::failure::REFUSED,
                    error: Some(reason),
                    ..Brief::default()
                };
                (Some(failed), None)
            }
            Ran::Said(value) => {
                let brief = value.as_ref().and_then(Brief::of);
                let brief = brief.unwrap_or_else(|| Brief {
                    exit_code: crate::failure::REFUSED,
                    error: Some("it ended without an answer".to_owned()),
                    ..Brief::default()
                });
                let path = certificate.as_ref().map(|file| file.path().to_path_buf());
                let unkept = match (value, path) {
                    (Some(value), Some(path)) if brief.is_decided() => {
                        self.keep(asked, value, &path, hashes).err()
                    }
                    _ => None,
                };
                (Some(brief), unkept)
            }
        };
        Done {
            brief,
            known: Known::Found,
            seconds: 0.0,
            unkept,
        }
    }

    /// Keeps an answer with its claims. What was not read as a whole is not kept.
    fn keep(
        &self,
        asked: &Asked,
        result: Value,
        certificate: &PathBuf,
        hashes: &Hashes,
    ) -> Result<(), String> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let mut files = BTreeMap::new();
        for file in result["files"].as_array().into_iter().flatten() {
            let Some(name) = text(file) else {
                return Ok(());
            };
            // Of what was read, not of what is there by now.
            let Some(hash) = text(&result["hashes"][&name]).filter(|hash| hash.len() == 64) else {
                return Ok(());
            };
            files.insert(name, hash);
        }
        // The question speaks of the files as they were before: if one has changed since, the
        // answer belongs to another question.
        let same = |file: &String| {
            files
                .get(file)
                .is_some_and(|is| hashes.of(file).as_ref() == Some(is))
        };
        if files.is_empty() || !asked.own.iter().all(same) {
            return Ok(());
        }
        let Some(question) = asked.question(self.tool, hashes) else {
            return Ok(());
        };
        let absent = result["absent"].as_array().into_iter().flatten();
        let absent: Vec<String> = absent.filter_map(text).collect();
        let said = |error: std::io::Error| error.to_string();
        let claims = std::fs::read(certificate).map_err(said)?;
        let sha256 = self.store.keep_claims(&claims).map_err(said)?;
        let entry = Entry {
            files,
            absent,
            seconds: result["statistics"]["seconds"].as_f64().unwrap_or(0.0),
            result,
            claims: vec![Claims { sha256 }],
            title: asked.title.clone(),
        };
        self.store.keep(&question, &entry).map_err(said)
    }

    /// Runs the tool and waits for what it says, or until nobody wants to know.
    fn run(&self, arguments: &[String]) -> Ran {
        let child = Command::new(&self.tool.program)
            .args(arguments)
            .current_dir(self.directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => return Ran::Failed(format!("cannot be started: {error}")),
        };
        let (sender, said) = channel();
        if let Some(mut stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                // What cannot be read is no answer.
                let _ = stdout.read_to_end(&mut bytes);
                let _ = sender.send(bytes);
            });
        }
        let pid = Pid::from_child(&child);
        let mut asked_to_end: Option<Instant> = None;
        let bytes = loop {
            match said.recv_timeout(Duration::from_millis(50)) {
                Ok(bytes) => break bytes,
                Err(RecvTimeoutError::Disconnected) => break Vec::new(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !(self.unwanted)() {
                continue;
            }
            match asked_to_end {
                None => {
                    asked_to_end = Some(Instant::now());
                    // If it ended just now, there is nothing left to end.
                    let _ = kill_process(pid, Signal::INT);
                }
                Some(at) if at.elapsed() > Duration::from_secs(3) => {
                    let _ = child.kill();
                }
                Some(_) => {}
            }
        };
        let status = child.wait();
        let value: Option<Value> = serde_json::from_slice(&bytes).ok();
        let brief = value.as_ref().and_then(Brief::of);
        let decided = brief.as_ref().is_some_and(Brief::is_decided);
        // Whoever stops a node may stop its processes one by one.
        let cancelled = brief.is_some_and(|brief| is_cancelled(&brief));
        match (value, status) {
            _ if !decided && (cancelled || (self.unwanted)()) => Ran::Unwanted,
            (Some(value), _) => Ran::Said(Some(value)),
            (None, Ok(status)) => Ran::Failed(format!("it ended without an answer: {status}")),
            (None, Err(error)) => Ran::Failed(format!("it cannot be waited for: {error}")),
        }
    }
}

/// Whether nothing is known because somebody stopped the work.
fn is_cancelled(brief: &Brief) -> bool {
    let cancelled = Stopped::Cancelled.to_string();
    let says = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(&cancelled));
    let mut checks = brief.checks.iter();
    says(&brief.error) || says(&brief.incomplete) || checks.any(|check| says(&check.reason))
}

/// What came of a process.
enum Ran {
    /// Nobody wanted to know any more.
    Unwanted,
    /// It gave no answer.
    Failed(String),
    /// What it said.
    Said(Option<Value>),
}
