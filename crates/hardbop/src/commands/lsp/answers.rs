//! What a check said, as editors show it.

use serde_json::{Value, json};
use std::fmt::Write;

/// What is known of a text.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    diagnostics: Vec<Told>,
    /// Lines of this text, from 0, with what is known there.
    known: Vec<(u64, String)>,
    proved: usize,
    violated: usize,
    open: usize,
    error: Option<String>,
}

/// A diagnostic.
#[derive(Clone, Debug)]
struct Told {
    /// 1 is an error, 2 a warning, 3 an information, 4 a hint.
    severity: u8,
    line: u64,
    columns: (u64, u64),
    code: String,
    message: String,
    related: Vec<Related>,
}

/// Where something else stands.
#[derive(Clone, Debug)]
struct Related {
    file: String,
    line: u64,
    message: String,
}

/// So many steps of a failing run are shown.
const STEPS: usize = 100;

impl Answers {
    /// What the JSON of `hardbop check` says of a text in a file.
    pub fn of(value: &Value, path: &str, text: &str) -> Answers {
        let mut answers = Answers::default();
        let lines: Vec<&str> = text.lines().collect();
        let place = |one: &Value| {
            let own = one["file"].as_str() == Some(path);
            let line = one["line"].as_u64().filter(|_| own);
            line.map(|line| line.saturating_sub(1))
        };
        for one in value["diagnostics"].as_array().into_iter().flatten() {
            answers.diagnostics.extend(said(one, place(one), &lines));
        }
        let error = value["error"]["message"].as_str();
        answers.error = error.map(str::to_owned);
        for check in value["checks"].as_array().into_iter().flatten() {
            answers.check(check, place(check), &lines, path);
        }
        for invariant in value["invariants"].as_array().into_iter().flatten() {
            let shown = invariant["contract"].as_str();
            let shown = shown.or_else(|| invariant["c"].as_str());
            let shown = shown.or_else(|| invariant["formula"].as_str());
            let what = match invariant["at"].as_str() {
                Some("loop") => "loop invariant",
                Some("entry") => "requires",
                Some("exit") => "ensures",
                _ => continue,
            };
            if let (Some(line), Some(shown)) = (place(invariant), shown)
                && !matches!(shown, "1" | "true")
            {
                answers.known.push((line, format!("{what} `{shown}`")));
            }
        }
        answers
    }

    fn check(&mut self, check: &Value, line: Option<u64>, lines: &[&str], path: &str) {
        let word = |key: &str| check[key].as_str().unwrap_or_default();
        let (answer, message) = (word("answer"), word("message"));
        let severity = match answer {
            "PROVED" => {
                self.proved += 1;
                if let Some(line) = line {
                    self.known.push((line, format!("proved: {message}")));
                }
                return;
            }
            "VIOLATED" => {
                self.violated += 1;
                1
            }
            "BOUNDED" => {
                self.open += 1;
                4
            }
            _ => {
                self.open += 1;
                3
            }
        };
        let said = match (answer, check["reason"].as_str()) {
            ("VIOLATED", _) => message.to_owned(),
            ("BOUNDED", _) => format!(
                "{message}: no violation up to {} iterations of each loop, not proved",
                check["depth"].as_u64().unwrap_or(0)
            ),
            (_, reason) => format!("{message}: unknown, because {}", reason.unwrap_or("-")),
        };
        let steps = check["path"].as_array().into_iter().flatten();
        let mut related: Vec<Related> = steps.filter_map(related).take(STEPS).collect();
        let line = line.or_else(|| {
            // A check of another file is shown where this one leads to it.
            let own = related.iter().rev().find(|step| step.file == path);
            own.map(|step| step.line)
        });
        if line.is_none() {
            related.clear();
        }
        let line = line.unwrap_or(0);
        self.diagnostics.push(Told {
            severity,
            line,
            columns: columns(lines, line),
            code: word("kind").to_owned(),
            message: said,
            related,
        });
    }

    /// Whether more time may tell more.
    pub fn is_open(&self) -> bool {
        self.open > 0 || self.proved > 0
    }

    /// The counts.
    pub fn summary(&self) -> String {
        let Answers {
            proved,
            violated,
            open,
            ..
        } = self;
        match (&self.error, proved + violated + open) {
            (Some(error), _) => error.clone(),
            (None, 0) => "nothing to check".to_owned(),
            _ => format!("{proved} proved, {violated} violated, {open} unknown"),
        }
    }

    /// What is known at a line, from 0.
    pub fn hover(&self, line: u64) -> Option<String> {
        let mut out = String::new();
        for (_, known) in self.known.iter().filter(|(at, _)| *at == line) {
            let _ = writeln!(out, "- {known}");
        }
        (!out.is_empty()).then_some(out)
    }

    /// The diagnostics, with the URIs that files have.
    pub fn diagnostics(&self, uri: impl Fn(&str) -> String) -> Vec<Value> {
        let position = |line: u64, column: u64| json!({ "line": line, "character": column });
        let told = self.diagnostics.iter().map(|one| {
            let (from, to) = one.columns;
            let related = one.related.iter().map(|step| {
                let at = position(step.line, 0);
                json!({
                    "location": {
                        "uri": uri(&step.file),
                        "range": { "start": at, "end": at },
                    },
                    "message": step.message,
                })
            });
            json!({
                "range": { "start": position(one.line, from), "end": position(one.line, to) },
                "severity": one.severity,
                "code": one.code,
                "source": "hardbop",
                "message": one.message,
                "relatedInformation": related.collect::<Vec<_>>(),
            })
        });
        told.collect()
    }
}

/// A message about the text itself.
fn said(one: &Value, line: Option<u64>, lines: &[&str]) -> Option<Told> {
    let message = one["message"].as_str()?;
    // That a library has no `main` is nothing to be mended.
    if line.is_none() && message.contains("to start at") {
        return None;
    }
    let line = line.unwrap_or(0);
    let from = one["column"]
        .as_u64()
        .map(|column| column.saturating_sub(1));
    let (first, last) = columns(lines, line);
    Some(Told {
        severity: match one["severity"].as_str() {
            Some("error") => 1,
            _ => 2,
        },
        line,
        columns: (from.unwrap_or(first), last.max(from.unwrap_or(0) + 1)),
        code: "c".to_owned(),
        message: message.to_owned(),
        related: Vec::new(),
    })
}

/// A step of a failing run.
fn related(step: &Value) -> Option<Related> {
    let text = step["text"].as_str()?;
    let mut values = Vec::new();
    for (name, value) in step["values"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        match name.as_str() {
            "$return" => values.push(format!("returns {value}")),
            name => values.push(format!("{name} = {value}")),
        }
    }
    let message = match values.is_empty() {
        true => text.to_owned(),
        false => format!("{text}  ({})", values.join(", ")),
    };
    Some(Related {
        file: step["file"].as_str()?.to_owned(),
        line: step["line"].as_u64()?.saturating_sub(1),
        message,
    })
}

/// What of a line has text, as columns of UTF-16 units, which is how editors count.
fn columns(lines: &[&str], line: u64) -> (u64, u64) {
    let text = usize::try_from(line).ok().and_then(|line| lines.get(line));
    let text = text.copied().unwrap_or_default();
    let width = |text: &str| text.encode_utf16().count() as u64;
    let before = text.len() - text.trim_start().len();
    (width(&text[..before]), width(text.trim_end()).max(1))
}
