//! `hardbop check` without arguments: checks a project, files times rules.
//!
//! Each item is a process of its own, so that one that runs into a limit or fails does not take
//! the others with it. Answers are kept by what they depend on: the options, this very tool, the
//! contents of every file that was read, and that others are not there.

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
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Instant, UNIX_EPOCH};

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
    project.validate()?;
    let items = project.items()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = project.config.jobs.unwrap_or(cores).clamp(1, items.len());
    let program = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("cannot find myself: {error}")))?;
    let tool = Tool {
        identity: identity(&program),
        program,
    };
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
                let row = check(project, item, &tool, budget);
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

/// The tool that checks an item: this one.
struct Tool {
    program: PathBuf,
    identity: String,
}

/// What tells a tool from others of the same version: when it was built, and how large it is.
fn identity(program: &Path) -> String {
    let known = std::fs::metadata(program).ok();
    let built = known.as_ref().and_then(|known| known.modified().ok());
    let built = built.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let size = known.map_or(0, |known| known.len());
    format!(
        "{VERSION} {size} {}",
        built.map_or(0, |built| built.as_nanos())
    )
}

fn check(project: &Project, item: &Item, tool: &Tool, budget: &Budget) -> Row {
    let started = Instant::now();
    let arguments = project.arguments(item);
    let store = store(project, tool, &arguments);
    if let Some(value) = known(project, &store) {
        let mut row = Row::of(item, &value);
        row.cached = true;
        return row;
    }
    let output = Command::new(&tool.program)
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
            // Ctrl-C reaches it, too, perhaps before it can say anything.
            Err(_) if budget.check().is_err() => Row::missing(item),
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
fn store(project: &Project, tool: &Tool, arguments: &[String]) -> PathBuf {
    let key = sha256(format!("{}\n{}", tool.identity, arguments.join("\n")).as_bytes());
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
    let mut absent = kept["result"]["absent"].as_array().into_iter().flatten();
    let same = same
        && absent.all(|file| {
            let name = file.as_str().unwrap_or_default();
            !project.directory.join(name).exists()
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
    let rules: BTreeSet<&str> = rows.iter().filter_map(|row| row.rule.as_deref()).collect();
    let mut out = if rules.len() > 1 {
        table(rows, console)
    } else {
        list(rows, console)
    };
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

fn colour(answer: &str) -> &'static str {
    match answer {
        "PROVED" => "32",
        "VIOLATED" => "31",
        _ => "33",
    }
}

impl Row {
    fn title(&self) -> String {
        match &self.rule {
            Some(rule) => format!("{} [{rule}]", self.name),
            None => self.name.clone(),
        }
    }

    /// What there is to say beside the answer.
    fn detail(&self) -> String {
        let checks = self.proved + self.violated + self.unknown;
        match (self.answer, &self.message) {
            ("ERROR" | "UNKNOWN", Some(message)) => message.clone(),
            ("VIOLATED", _) => format!("{} of {checks} checks", self.violated),
            ("UNKNOWN", None) => format!("{} of {checks} checks", self.unknown),
            _ => format!("{checks} checks"),
        }
    }
}

/// An answer a line, with what is not proved below it.
fn list(rows: &[Row], console: &Console) -> String {
    let widest = rows.iter().map(|row| row.title().chars().count()).max();
    let widest = widest.unwrap_or(0).min(60);
    let mut out = String::new();
    for row in rows {
        write_row(&mut out, row, widest, console);
    }
    out
}

fn write_row(out: &mut String, row: &Row, widest: usize, console: &Console) {
    let title = row.title();
    let pad = widest.saturating_sub(title.chars().count());
    let word = console.paint(colour(row.answer), row.answer);
    let gap = 8usize.saturating_sub(row.answer.len());
    let detail = row.detail();
    let _ = write!(out, "{title}{:pad$}  {word}{:gap$}  {detail}", "", "");
    out.push_str(if row.cached { ", as before\n" } else { "\n" });
    for line in &row.lines {
        let _ = writeln!(out, "  {line}");
    }
}

/// Files down, rules across; then everything that is not proved.
fn table(rows: &[Row], console: &Console) -> String {
    let mut rules: Vec<&str> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    let mut cells: BTreeMap<(&str, &str), &Row> = BTreeMap::new();
    for row in rows {
        let rule = row.rule.as_deref().unwrap_or_default();
        if !rules.contains(&rule) {
            rules.push(rule);
        }
        if cells.insert((&row.name, rule), row).is_none()
            && names.last() != Some(&row.name.as_str())
        {
            names.push(&row.name);
        }
    }
    let widest = names.iter().map(|name| name.chars().count()).max();
    let widest = widest.unwrap_or(0).max(4);
    let width = |rule: &str| rule.chars().count().max(8);
    let mut out = format!("{:widest$}", "file");
    for rule in &rules {
        let _ = write!(out, "  {rule:width$}", width = width(rule));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    for name in &names {
        let mut line = format!("{name:widest$}");
        let mut pad = 0;
        for rule in &rules {
            let answer = cells.get(&(*name, *rule)).map_or("-", |row| row.answer);
            let _ = write!(
                line,
                "{:pad$}  {}",
                "",
                console.paint(colour(answer), answer)
            );
            pad = width(rule).saturating_sub(answer.len());
        }
        let _ = writeln!(out, "{line}");
    }
    let open: Vec<&Row> = rows.iter().filter(|row| row.answer != "PROVED").collect();
    if !open.is_empty() {
        out.push('\n');
    }
    let widest = open.iter().map(|row| row.title().chars().count()).max();
    let widest = widest.unwrap_or(0).min(60);
    for row in open {
        write_row(&mut out, row, widest, console);
    }
    out
}
