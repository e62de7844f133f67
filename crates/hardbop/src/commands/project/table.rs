//! What is known of a project's items, as a list or a table for people and as JSON.

use crate::console::Console;
use crate::failure::{BOUNDED, REFUSED, Verdict};
use crate::project::Item;
use hardbop_cluster::journal::{Brief, Known, Word};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What is known of an item.
#[derive(Serialize)]
pub struct Row {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    answer: &'static str,
    proved: usize,
    violated: usize,
    #[serde(skip_serializing_if = "is_zero")]
    bounded: usize,
    unknown: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    cached: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rechecked: bool,
    seconds: f64,
    /// The engines that decided it, where it was split.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    engines: Vec<String>,
    #[serde(skip)]
    lines: Vec<String>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// How an answer came about.
pub struct How {
    /// How it is known.
    pub known: Known,
    /// How long it took.
    pub seconds: f64,
    /// The engines that decided it, where it was split.
    pub engines: Vec<String>,
}

impl Row {
    fn new(item: &Item) -> Row {
        Row {
            name: item.name.clone(),
            rule: item.rule.clone(),
            answer: "UNKNOWN",
            proved: 0,
            violated: 0,
            bounded: 0,
            unknown: 0,
            message: None,
            cached: false,
            rechecked: false,
            seconds: 0.0,
            engines: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// An item that nothing is known of.
    pub fn missing(item: &Item, why: &str) -> Row {
        let message = Some(why.to_owned());
        Row {
            message,
            ..Row::new(item)
        }
    }

    /// What is said of an item.
    pub fn of(item: &Item, brief: &Brief, how: How) -> Row {
        let mut row = Row {
            cached: how.known != Known::Found,
            rechecked: how.known == Known::Rechecked,
            seconds: how.seconds,
            engines: how.engines,
            ..Row::new(item)
        };
        if brief.exit_code == REFUSED {
            row.answer = "ERROR";
            row.message = Some(brief.error.clone().unwrap_or("it failed".to_owned()));
            return row;
        }
        // What no execution can call is nothing that was checked.
        for check in brief.checks.iter().filter(|check| !check.unreachable) {
            match check.answer {
                Word::Proved => row.proved += 1,
                Word::Violated => row.violated += 1,
                Word::Bounded => row.bounded += 1,
                Word::Unknown => row.unknown += 1,
            }
            if check.answer != Word::Proved {
                let mut line = format!(
                    "{} {}:{}: {} (in {})",
                    check.answer.text(),
                    check.file,
                    check.line,
                    check.message,
                    check.function
                );
                if let Some(reason) = &check.reason {
                    let _ = write!(line, ", because {reason}");
                }
                row.lines.push(line);
            }
        }
        row.message = brief.incomplete.clone().or(brief.error.clone());
        row.answer = match brief.exit_code {
            0 => "PROVED",
            1 => "VIOLATED",
            BOUNDED => "BOUNDED",
            _ => "UNKNOWN",
        };
        row
    }

    /// Whether it is violated.
    pub fn is_violated(&self) -> bool {
        self.answer == "VIOLATED"
    }
}

/// The worst answer.
pub fn verdict(rows: &[Row]) -> Verdict {
    let any = |word: &str| rows.iter().any(|row| row.answer == word);
    if any("VIOLATED") {
        Verdict::Found
    } else if any("UNKNOWN") || any("ERROR") {
        Verdict::Unknown
    } else if any("BOUNDED") {
        Verdict::Bounded
    } else {
        Verdict::Fine
    }
}

pub fn text(rows: &[Row], console: &Console) -> String {
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
        ("BOUNDED", "bounded"),
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
    let rechecked = rows.iter().filter(|row| row.rechecked).count();
    if rechecked > 0 {
        parts.push(format!("the claims of {rechecked} checked again"));
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
        let checks = self.proved + self.violated + self.bounded + self.unknown;
        match (self.answer, &self.message) {
            ("ERROR" | "UNKNOWN", Some(message)) => message.clone(),
            ("VIOLATED", _) => format!("{} of {checks} checks", self.violated),
            ("UNKNOWN", None) => format!("{} of {checks} checks", self.unknown),
            ("BOUNDED", _) => format!("{} of {checks} checks", self.bounded),
            _ if checks == 0 => "nothing to check".to_owned(),
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

/// So many open checks of an item are listed.
const OPEN: usize = 5;

fn write_row(out: &mut String, row: &Row, widest: usize, console: &Console) {
    let title = row.title();
    let pad = widest.saturating_sub(title.chars().count());
    let word = console.paint(colour(row.answer), row.answer);
    let gap = 8usize.saturating_sub(row.answer.len());
    let detail = row.detail();
    let _ = write!(out, "{title}{:pad$}  {word}{:gap$}  {detail}", "", "");
    out.push_str(if row.cached { ", as before\n" } else { "\n" });
    // What is violated is what there is to see; of what is open a few tell what it is like.
    let mut open = 0;
    for line in &row.lines {
        open += usize::from(!line.starts_with("VIOLATED"));
        if line.starts_with("VIOLATED") || open <= OPEN {
            let _ = writeln!(out, "  {line}");
        }
    }
    if open > OPEN {
        let _ = writeln!(out, "  ... {} more that are not decided", open - OPEN);
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
