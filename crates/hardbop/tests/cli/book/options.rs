//! The page of options has exactly the options that the commands have.
//!
//! A section of the page whose title is a command in backticks has a table of the command's own
//! options, and a line that begins with `Also:` and links to the sections of options that several
//! commands share. Options of every command are in the section of `hardbop`.

use super::text_of;
use crate::scene::{hardbop, root};
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = "docs/src/options.md";

/// The options of a command: by name, the values that they can have, where these are few.
type Options = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_page_of_options_is_complete() {
    let sections = sections(&text_of(PAGE));
    let mut wrong = Vec::new();
    let mut commands = BTreeSet::new();
    for command in all_commands() {
        let title = match command.as_str() {
            "" => "`hardbop`".to_owned(),
            _ => format!("`hardbop {command}`"),
        };
        commands.insert(title.clone());
        let Some(section) = sections.get(&title) else {
            wrong.push(format!("there is no section {title}"));
            continue;
        };
        let mut said = section.options.clone();
        for group in &section.also {
            match sections.get(group) {
                Some(group) => said.extend(group.options.clone()),
                None => wrong.push(format!("{title}: there is no section {group}")),
            }
        }
        if !command.is_empty() {
            said.extend(sections["`hardbop`"].options.clone());
            // Only the command as a whole has a version.
            said.remove("-V");
            said.remove("--version");
        }
        let real = options(&command);
        for (name, values) in &real {
            match said.get(name) {
                None => wrong.push(format!("{title}: {name} is not on the page")),
                Some(said) if said != values => wrong.push(format!(
                    "{title}: {name} can be {values:?}, and the page says {said:?}"
                )),
                Some(_) => {}
            }
        }
        for name in said.keys().filter(|name| !real.contains_key(*name)) {
            wrong.push(format!("{title}: there is no {name}"));
        }
    }
    for title in sections
        .keys()
        .filter(|title| title.starts_with("`hardbop"))
    {
        if !commands.contains(title) {
            wrong.push(format!("there is no command {title}"));
        }
    }
    assert!(wrong.is_empty(), "{PAGE}:\n{}", wrong.join("\n"));
}

/// What a section of the page says.
#[derive(Default)]
struct Section {
    options: Options,
    also: Vec<String>,
}

fn sections(page: &str) -> BTreeMap<String, Section> {
    let mut found: BTreeMap<String, Section> = BTreeMap::new();
    let mut title = String::new();
    for line in page.lines() {
        if let Some(next) = line.strip_prefix("## ") {
            title = next.to_owned();
        }
        let section = found.entry(title.clone()).or_default();
        if let Some(groups) = line.strip_prefix("Also: ") {
            let names = groups.split('[').skip(1);
            let names = names.filter_map(|rest| Some(rest.split_once(']')?.0.to_owned()));
            section.also.extend(names);
        }
        // A row: the option in the first cell; `a`, `b` or `c` in the second are its values.
        if !line.starts_with("| `-") {
            continue;
        }
        let cells: Vec<&str> = line.split('|').collect();
        assert_eq!(cells.len(), 5, "three cells in {line}");
        let values: BTreeSet<String> = code(cells[2]).into_iter().collect();
        for option in code(cells[1]) {
            let name = option.split([' ', '[', '=']).next().unwrap_or_default();
            section.options.insert(name.to_owned(), values.clone());
        }
    }
    found
}

/// What stands between backticks.
fn code(text: &str) -> Vec<String> {
    let parts = text.split('`').skip(1).step_by(2);
    parts.map(str::to_owned).collect()
}

/// The commands and the commands of commands; the first one is the program itself.
fn all_commands() -> Vec<String> {
    let mut found = vec![String::new()];
    let mut at = 0;
    while at < found.len() {
        let parent = found[at].clone();
        for name in subcommands(&help(&parent)) {
            found.push(format!("{parent} {name}").trim_start().to_owned());
        }
        at += 1;
    }
    found
}

fn help(command: &str) -> String {
    let output = hardbop(&root())
        .args(command.split_whitespace())
        .arg("--help")
        .output()
        .expect("hardbop starts");
    assert!(output.status.success(), "`hardbop {command} --help` works");
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

fn subcommands(help: &str) -> Vec<String> {
    let mut lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let mut found = Vec::new();
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        // A long description goes on in the next line, further to the right.
        if let Some(rest) = line.strip_prefix("  ")
            && !rest.starts_with(' ')
        {
            found.extend(rest.split_whitespace().next().map(str::to_owned));
        }
    }
    found.retain(|name| name != "help");
    found
}

/// The options that the help of a command has.
fn options(command: &str) -> Options {
    let mut found = Options::new();
    let mut current: Vec<String> = Vec::new();
    let text = help(command);
    for line in text.lines().take_while(|line| *line != "Examples:") {
        let trimmed = line.trim_start();
        if line.len() - trimmed.len() <= 6 && trimmed.starts_with('-') {
            current = trimmed
                .split(", ")
                .filter_map(|part| part.split([' ', '[']).next())
                .map(str::to_owned)
                .collect();
            for name in &current {
                found.insert(name.clone(), BTreeSet::new());
            }
        } else if let Some(value) = trimmed.strip_prefix("- ")
            && let Some((value, _)) = value.split_once(':')
        {
            for name in &current {
                found
                    .entry(name.clone())
                    .or_default()
                    .insert(value.to_owned());
            }
        }
    }
    found
}
