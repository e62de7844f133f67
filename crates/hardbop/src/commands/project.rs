//! `hardbop check` without arguments: checks a project, files times rules.
//!
//! Each item is a process of its own, so that one that runs into a limit or fails does not take
//! the others with it. Answers are kept by what they depend on: the options and the contents of
//! every file that was read.

use crate::commands::artifacts::VERSION;
use crate::console::{Console, Format};
use crate::failure::{Failure, REFUSED, Verdict};
use crate::progress::Progress;
use crate::project::{Item, Project};
use hardbop_budget::Budget;
use hardbop_diagnostics::Sources;
use hardbop_witness::read::sha256;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The directory, beside the project file, where answers are kept.
const CACHE: &str = ".hardbop/cache";

#[derive(Serialize)]
struct Body {
    items: Vec<Row>,
}

/// What is known of an item.
#[derive(Serialize)]
struct Row {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    answer: &'static str,
    proved: usize,
    violated: usize,
    unknown: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    cached: bool,
    seconds: f64,
    #[serde(skip)]
    lines: Vec<String>,
}

/// Checks a project.
pub fn run(project: &Project, budget: &Budget, console: &Console) -> Result<Verdict, Failure> {
    let items = project.items()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = project.config.jobs.unwrap_or(cores).clamp(1, items.len());
    let program = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("cannot find myself: {error}")))?;
    let next = AtomicUsize::new(0);
    let rows: Mutex<BTreeMap<usize, Row>> = Mutex::new(BTreeMap::new());
    {
        let progress = Progress::new(console);
        let progress = Mutex::new(progress);
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else {
                    return;
                };
                if budget.check().is_err() {
                    return;
                }
                let row = check(project, item, &program);
                if let Ok(mut rows) = rows.lock() {
                    rows.insert(index, row);
                    let bad = rows.values().filter(|row| row.answer == "VIOLATED").count();
                    let (done, all) = (rows.len(), items.len());
                    if let Ok(progress) = progress.lock() {
                        progress.say(format!("{done} of {all} checked, {bad} violated"));
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(work);
            }
        });
    }
    let mut rows = rows.into_inner().unwrap_or_default();
    for (index, item) in items.iter().enumerate() {
        rows.entry(index).or_insert_with(|| Row::missing(item));
    }
    let rows: Vec<Row> = rows.into_values().collect();
    let any = |word: &str| rows.iter().any(|row| row.answer == word);
    let verdict = if any("VIOLATED") {
        Verdict::Found
    } else if any("UNKNOWN") || any("ERROR") {
        Verdict::Unknown
    } else {
        Verdict::Fine
    };
    match console.format() {
        Format::Text => console.text(&text(&rows, console))?,
        Format::Json => {
            let body = Body { items: rows };
            console.value(verdict, &Sources::new(), &[], body)?;
        }
    }
    Ok(verdict)
}

impl Row {
    fn new(item: &Item) -> Row {
        Row {
            name: item.name.clone(),
            rule: item.rule.clone(),
            answer: "UNKNOWN",
            proved: 0,
            violated: 0,
            unknown: 0,
            message: None,
            cached: false,
            seconds: 0.0,
            lines: Vec::new(),
        }
    }

    fn missing(item: &Item) -> Row {
        let message = Some("stopped before it was looked at".to_owned());
        Row {
            message,
            ..Row::new(item)
        }
    }

    /// What the JSON of `hardbop check` says of an item.
    fn of(item: &Item, value: &Value) -> Row {
        let mut row = Row::new(item);
        if value["exit_code"] == REFUSED {
            row.answer = "ERROR";
            let message = value["error"]["message"].as_str();
            row.message = Some(message.unwrap_or("it failed").to_owned());
            return row;
        }
        for check in value["checks"].as_array().into_iter().flatten() {
            let word = check["answer"].as_str().unwrap_or_default();
            match word {
                "PROVED" => row.proved += 1,
                "VIOLATED" => row.violated += 1,
                _ => row.unknown += 1,
            }
            if word != "PROVED" {
                let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
                let mut line = format!(
                    "{word} {}:{}: {} (in {})",
                    text("file"),
                    check["line"],
                    text("message"),
                    text("function")
                );
                if let Some(reason) = check["reason"].as_str() {
                    let _ = write!(line, ", because {reason}");
                }
                row.lines.push(line);
            }
        }
        row.message = value["incomplete"].as_str().map(str::to_owned);
        row.answer = match value["exit_code"].as_u64() {
            Some(0) => "PROVED",
            Some(1) => "VIOLATED",
            _ => "UNKNOWN",
        };
        row
    }
}

fn check(project: &Project, item: &Item, program: &Path) -> Row {
    let started = Instant::now();
    let arguments = project.arguments(item);
    let store = store(project, &arguments);
    if let Some(value) = known(project, &store) {
        let mut row = Row::of(item, &value);
        row.cached = true;
        return row;
    }
    let output = Command::new(program)
        .args(&arguments)
        .current_dir(&project.directory)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let mut row = match output {
        Err(error) => Row {
            answer: "ERROR",
            message: Some(format!("cannot be started: {error}")),
            ..Row::new(item)
        },
        Ok(output) => match serde_json::from_slice::<Value>(&output.stdout) {
            Ok(value) => {
                let row = Row::of(item, &value);
                if matches!(row.answer, "PROVED" | "VIOLATED") {
                    keep(project, &store, &value);
                }
                row
            }
            Err(_) => Row {
                answer: "ERROR",
                message: Some(format!("it ended without an answer: {}", output.status)),
                ..Row::new(item)
            },
        },
    };
    row.seconds = started.elapsed().as_secs_f64();
    row
}

/// Where the answer of a command is kept.
fn store(project: &Project, arguments: &[String]) -> PathBuf {
    let key = sha256(format!("{VERSION}\n{}", arguments.join("\n")).as_bytes());
    project.directory.join(CACHE).join(format!("{key}.json"))
}

/// A kept answer, if every file that it depends on is still the same.
fn known(project: &Project, store: &Path) -> Option<Value> {
    let kept: Value = serde_json::from_slice(&std::fs::read(store).ok()?).ok()?;
    let files = kept["files"].as_object()?;
    let same = files.iter().all(|(file, hash)| {
        let bytes = std::fs::read(project.directory.join(file));
        bytes.is_ok_and(|bytes| hash.as_str() == Some(&sha256(&bytes)))
    });
    same.then(|| kept["result"].clone())
}

/// Keeps an answer. Where that cannot be done, it will be found again.
fn keep(project: &Project, store: &Path, value: &Value) {
    let mut files = serde_json::Map::new();
    for file in value["files"].as_array().into_iter().flatten() {
        let Some(name) = file.as_str() else {
            return;
        };
        let Ok(bytes) = std::fs::read(project.directory.join(name)) else {
            return;
        };
        files.insert(name.to_owned(), json!(sha256(&bytes)));
    }
    if files.is_empty() {
        return;
    }
    let kept = json!({ "files": files, "result": value });
    if let Some(directory) = store.parent()
        && std::fs::create_dir_all(directory).is_ok()
    {
        let _ = std::fs::write(project.directory.join(".hardbop/.gitignore"), "*\n");
        // Written beside and moved, so that a reader never sees half of it.
        let half = store.with_extension(format!("{}.half", std::process::id()));
        if std::fs::write(&half, kept.to_string()).is_ok() {
            let _ = std::fs::rename(&half, store);
        }
    }
}

fn text(rows: &[Row], console: &Console) -> String {
    let title = |row: &Row| match &row.rule {
        Some(rule) => format!("{} [{rule}]", row.name),
        None => row.name.clone(),
    };
    let widest = rows.iter().map(|row| title(row).chars().count()).max();
    let widest = widest.unwrap_or(0).min(60);
    let mut out = String::new();
    for row in rows {
        let colour = match row.answer {
            "PROVED" => "32",
            "VIOLATED" => "31",
            _ => "33",
        };
        let title = title(row);
        let pad = widest.saturating_sub(title.chars().count());
        let word = console.paint(colour, row.answer);
        let gap = 8usize.saturating_sub(row.answer.len());
        let _ = write!(out, "{title}{:pad$}  {word}{:gap$}  ", "", "");
        let checks = row.proved + row.violated + row.unknown;
        let _ = match (row.answer, &row.message) {
            ("ERROR", Some(message)) => write!(out, "{message}"),
            ("UNKNOWN", Some(message)) => write!(out, "{message}"),
            ("VIOLATED", _) => write!(out, "{} of {checks} checks", row.violated),
            ("UNKNOWN", None) => write!(out, "{} of {checks} checks", row.unknown),
            _ => write!(out, "{checks} checks"),
        };
        out.push_str(if row.cached { ", as before\n" } else { "\n" });
        for line in &row.lines {
            let _ = writeln!(out, "  {line}");
        }
    }
    let count = |word: &str| rows.iter().filter(|row| row.answer == word).count();
    let mut parts = Vec::new();
    for (word, name) in [
        ("PROVED", "proved"),
        ("VIOLATED", "violated"),
        ("UNKNOWN", "unknown"),
        ("ERROR", "with errors"),
    ] {
        if count(word) > 0 {
            parts.push(format!("{} {name}", count(word)));
        }
    }
    let cached = rows.iter().filter(|row| row.cached).count();
    if cached > 0 {
        parts.push(format!("{cached} as before"));
    }
    let _ = writeln!(out, "{} checked: {}", rows.len(), parts.join(", "));
    out
}
