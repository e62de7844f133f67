//! What a node writes down while it works: one line for each thing that happened, each with its
//! hash, so that a line is whole or nothing. Every process writes a journal of its own.

use crate::ItemId;
use crate::seal::{open_line, seal_line};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// A process took the task.
    Opened {
        /// The machine.
        node: String,
    },
    /// It will not work for us.
    Refused {
        /// Why.
        reason: String,
    },
    /// An item was begun.
    Began(Piece),
    /// An item is answered.
    Answered(Box<Answered>),
    /// An item was begun so often that it is given up.
    GaveUp {
        /// Which.
        piece: Piece,
        /// Why.
        reason: String,
    },
    /// Nothing more will be begun: what is left is for another task.
    Closed,
}

/// An item, for all engines or for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Piece {
    /// The item.
    pub item: ItemId,
    /// The engine, where it is split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// To what.
    pub piece: Piece,
    /// The answer.
    pub brief: Brief,
    /// How long it took.
    pub seconds: f64,
    /// How it is known.
    pub known: Known,
    /// Why it could not be kept in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unkept: Option<String>,
}

/// How an answer is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// It was found now.
    Found,
    /// It was in the store.
    Stored,
    /// It was in the store, and its claims passed the gate again.
    Rechecked,
}

/// What is said of an item: the part of the JSON of `hardbop check` that a table needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// The exit code.
    pub exit_code: u8,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why not everything is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// The checks.
    pub checks: Vec<Check>,
}

/// What is said of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The answer.
    pub answer: Word,
    /// Where it is.
    pub file: String,
    /// Where it is.
    pub line: u64,
    /// What it demands.
    pub message: String,
    /// The function that it is in.
    pub function: String,
    /// Why nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether no execution can call the function that it is in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unreachable: bool,
}

/// An answer, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Word {
    /// No execution violates it.
    Proved,
    /// An execution does.
    Violated,
    /// No execution up to a depth does.
    Bounded,
    /// Neither is known.
    Unknown,
}

impl Word {
    /// The word.
    pub fn text(self) -> &'static str {
        match self {
            Word::Proved => "PROVED",
            Word::Violated => "VIOLATED",
            Word::Bounded => "BOUNDED",
            Word::Unknown => "UNKNOWN",
        }
    }
}

/// The exit code of an answer that is not known.
pub const UNKNOWN: u8 = 3;

impl Brief {
    /// Nothing is known, and this is why.
    pub fn unknown(reason: impl Into<String>) -> Brief {
        Brief {
            exit_code: UNKNOWN,
            incomplete: Some(reason.into()),
            ..Brief::default()
        }
    }

    /// What the JSON of `hardbop check` says; `None` if it is none.
    pub fn of(value: &Value) -> Option<Brief> {
        let exit_code = u8::try_from(value["exit_code"].as_u64()?).ok()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let mut checks = Vec::new();
        for check in value["checks"].as_array().into_iter().flatten() {
            let word = |key: &str| text(&check[key]).unwrap_or_default();
            checks.push(Check {
                answer: match check["answer"].as_str() {
                    Some("PROVED") => Word::Proved,
                    Some("VIOLATED") => Word::Violated,
                    Some("BOUNDED") => Word::Bounded,
                    _ => Word::Unknown,
                },
                file: word("file"),
                line: check["line"].as_u64().unwrap_or(0),
                message: word("message"),
                function: word("function"),
                reason: text(&check["reason"]),
                unreachable: check["unreachable"].as_bool().unwrap_or(false),
            });
        }
        let internal = text(&value["internal_error"]);
        Some(Brief {
            exit_code,
            error: text(&value["error"]["message"]).or(internal),
            incomplete: text(&value["incomplete"]),
            checks,
        })
    }

    /// Whether it is an answer that can be kept: everything is proved, or something is violated.
    pub fn is_decided(&self) -> bool {
        matches!(self.exit_code, 0 | 1) && self.error.is_none()
    }
}

impl Line {
    /// The line as it is written, with its end.
    pub fn text(&self) -> String {
        // Plain data: there is nothing in it that cannot be written.
        seal_line(&serde_json::to_string(self).unwrap_or_default())
    }
}

/// Reads a journal as it grows.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    half: Vec<u8>,
    damaged: usize,
}

impl Reader {
    /// The lines that are whole now that more bytes came.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.half.extend_from_slice(piece);
            if self.half.last() != Some(&b'\n') {
                continue;
            }
            self.half.pop();
            let whole = std::mem::take(&mut self.half);
            let line = std::str::from_utf8(&whole).ok().and_then(open_line);
            match line.and_then(|line| serde_json::from_str(line).ok()) {
                Some(line) => lines.push(line),
                None if whole.is_empty() => {}
                None => self.damaged += 1,
            }
        }
        lines
    }

    /// How many lines were not what had been written.
    pub fn damaged(&self) -> usize {
        self.damaged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn began(item: u32) -> Line {
        Line::Began(Piece {
            item: ItemId(item),
            lane: None,
        })
    }

    #[test]
    fn a_journal_is_read_as_it_grows() {
        let text = format!("{}{}", began(1).text(), began(2).text());
        let mut reader = Reader::default();
        let mut lines = Vec::new();
        for byte in text.as_bytes() {
            lines.extend(reader.feed(&[*byte]));
        }
        assert_eq!(lines, [began(1), began(2)]);
        assert_eq!(reader.damaged(), 0);
    }

    #[test]
    fn a_half_line_is_left_out_and_the_next_one_is_read() {
        let half = &began(1).text()[..20];
        let text = format!("{half}\n{}", began(2).text());
        let mut reader = Reader::default();
        assert_eq!(reader.feed(text.as_bytes()), [began(2)]);
        assert_eq!(reader.damaged(), 1);
    }

    #[test]
    fn the_json_of_a_check_in_brief() {
        let brief = Brief::of(&json!({
            "exit_code": 1,
            "checks": [{"answer": "VIOLATED", "file": "a.c", "line": 3, "message": "m", "function": "f", "run": []}],
        }));
        let brief = brief.expect("an answer");
        assert_eq!(brief.checks[0].answer, Word::Violated);
        assert!(brief.is_decided());
        assert_eq!(Brief::of(&json!({"half": 1})), None);
        let broken = json!({"exit_code": 0, "checks": [], "internal_error": "two engines"});
        assert!(!Brief::of(&broken).expect("an answer").is_decided());
    }
}
