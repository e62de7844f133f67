//! `hardbop rules`: the library of rules.

use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::rules::library_rule;
use hardbop_diagnostics::Sources;
use hardbop_rules::library::{LibraryRule, RULES};
use serde::Serialize;
use std::fmt::Write;

/// What the user wants to see.
pub enum Show<'a> {
    /// A line for each rule.
    List,
    /// The page of a rule.
    Page(&'a str),
    /// The text of a rule.
    Source(&'a str),
}

#[derive(Serialize)]
struct Body<'a> {
    rules: Vec<Described<'a>>,
}

#[derive(Serialize)]
struct Described<'a> {
    name: &'a str,
    summary: &'a str,
    page: &'a str,
    source: &'a str,
}

/// Shows the rules.
pub fn run(show: Show<'_>, console: &Console) -> Result<Verdict, Failure> {
    let chosen: Vec<&LibraryRule> = match show {
        Show::List => RULES.iter().collect(),
        Show::Page(name) | Show::Source(name) => vec![library_rule(name)?],
    };
    match console.format() {
        Format::Json => {
            let described = |rule: &&LibraryRule| Described {
                name: rule.name,
                summary: rule.summary(),
                page: rule.page,
                source: rule.text,
            };
            let rules = chosen.iter().map(described).collect();
            console.value(Verdict::Fine, &Sources::new(), &[], Body { rules })?;
        }
        Format::Text => console.text(&match show {
            Show::List => list(&chosen),
            Show::Page(_) => chosen.iter().map(|rule| rule.page).collect(),
            Show::Source(_) => chosen.iter().map(|rule| rule.text).collect(),
        })?,
    }
    Ok(Verdict::Fine)
}

fn list(rules: &[&LibraryRule]) -> String {
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for rule in rules {
        let _ = writeln!(text, "{:width$}  {}", rule.name, rule.summary());
    }
    text.push_str("\n`hardbop rules NAME` shows what a rule demands, with examples.\n");
    text
}
