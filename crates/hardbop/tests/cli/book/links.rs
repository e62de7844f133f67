//! Links between documents lead somewhere, and the book is complete.

use super::{CHAPTERS, chapters, text_of};
use crate::scene::root;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The documents outside of the book.
const OTHERS: [&str; 8] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/decisions/README.md",
    "docs/decisions/0001-own-bdd-kernel.md",
    "docs/decisions/0002-rucc-front-end.md",
    "docs/decisions/0003-flat-program-tables.md",
];

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for path in OTHERS.map(str::to_owned).into_iter().chain(chapters()) {
        for link in links(&expanded(&path)) {
            if let Err(why) = follow(&path, &link) {
                wrong.push(format!("{path}: ({link}): {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A page that the table of contents does not have would not be in the book.
#[test]
fn every_chapter_is_in_the_table_of_contents() {
    let contents = format!("{CHAPTERS}/SUMMARY.md");
    let mut listed: Vec<String> = links(&text_of(&contents))
        .iter()
        .map(|link| format!("{CHAPTERS}/{link}"))
        .collect();
    listed.push(contents);
    listed.sort();
    assert_eq!(listed, chapters());
}

/// Every rule of the library has its page in the book.
#[test]
fn every_rule_has_a_page() {
    for rule in hardbop::rules::library::RULES {
        let page = expanded(&format!("{CHAPTERS}/rules/{}.md", rule.name));
        assert_eq!(page.trim_end(), rule.page.trim_end(), "{}", rule.name);
    }
}

/// Where a link leads, or what is wrong with it.
fn follow(from: &str, link: &str) -> Result<(), String> {
    if link.starts_with("https://") {
        return Ok(());
    }
    let (file, fragment) = match link.split_once('#') {
        Some((file, fragment)) => (file, Some(fragment)),
        None => (link, None),
    };
    let target = match file {
        "" => PathBuf::from(from),
        _ => normal(&Path::new(from).parent().unwrap_or(Path::new("")).join(file)),
    };
    if !root().join(&target).exists() {
        return Err("there is no such file".to_owned());
    }
    if from.starts_with(CHAPTERS) && !target.starts_with(CHAPTERS) {
        return Err("leads out of the book, where readers of the pages cannot follow".to_owned());
    }
    let Some(fragment) = fragment else {
        return Ok(());
    };
    let target = target.to_str().expect("a plain name");
    match anchors(&expanded(target)).contains_key(fragment) {
        true => Ok(()),
        false => Err("there is no such heading".to_owned()),
    }
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                result.pop();
            }
            Component::CurDir => {}
            other => result.push(other),
        }
    }
    result
}

/// The text of a document with what it includes.
fn expanded(path: &str) -> String {
    let mut result = String::new();
    for line in text_of(path).lines() {
        let included = line
            .strip_prefix("{{#include ")
            .and_then(|rest| rest.strip_suffix("}}"));
        match included {
            Some(file) => {
                // A part of a file is named after a colon.
                let file = file.split(':').next().unwrap_or_default();
                let file = Path::new(path).parent().unwrap_or(Path::new("")).join(file);
                result.push_str(&text_of(normal(&file).to_str().expect("a plain name")));
            }
            None => {
                result.push_str(line);
                result.push('\n');
            }
        }
    }
    result
}

/// The lines outside of fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The targets of the links of a text.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        // What stands between backticks is no link; the text of a link may hold some.
        let mut plain = String::new();
        for (index, part) in line.split('`').enumerate() {
            plain.push_str(if index % 2 == 0 { part } else { "code" });
        }
        for (at, _) in plain.match_indices("](") {
            let rest = &plain[at + 2..];
            if let Some(end) = rest.find(')') {
                found.push(rest[..end].to_owned());
            }
        }
    }
    found
}

/// The anchors of the headings of a text, as mdBook and code hosts make them, with how often each
/// occurs.
fn anchors(text: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for line in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let anchor: String = title
            .trim()
            .chars()
            .filter_map(|c| match c {
                '_' | '-' => Some(c),
                c if c.is_alphanumeric() => Some(c.to_ascii_lowercase()),
                c if c.is_whitespace() => Some('-'),
                _ => None,
            })
            .collect();
        *found.entry(anchor).or_default() += 1;
    }
    found
}

#[test]
fn links_are_told_from_code() {
    let text = "[a](b.md) `[c](d.md)` [`e`](f.md#g)\n```\n[h](i.md)\n```\n";
    assert_eq!(links(text), ["b.md", "f.md#g"]);
}

#[test]
fn anchors_are_made_of_headings() {
    let found = anchors("# A `b`: c\n## Two\n```\n# not this\n```\n");
    assert_eq!(found.into_keys().collect::<Vec<_>>(), ["a-b-c", "two"]);
}
