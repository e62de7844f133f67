//! The store of answers: under which keys they are, and what an entry says.
//!
//! What an answer depends on is known in two steps. The *question* is known before the work: the
//! very tool, the arguments, the contents of the files that the user named. Which other files were
//! read, and which were looked for and not found, is known afterwards. So an entry's key is the
//! hash of the question and the hash of what was read: entries of one question stand side by side,
//! one for each state of the headers, and each is written once and never changed. Claims (the
//! certificates of `hardbop check --certificate`) are kept by the hash of their contents.

use crate::seal::{Damage, open, seal, sha256, sha256_of};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What is asked, as a hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question(String);

impl Question {
    /// The question of a tool, known by its hash, with arguments, about files, known by theirs.
    pub fn new(tool: &str, arguments: &[String], own: &BTreeMap<String, String>) -> Question {
        let count = arguments.len().to_string();
        let files = own.iter().flat_map(|(name, hash)| [name.as_str(), hash]);
        let head = ["hardbop question 1", tool, count.as_str()];
        let arguments = arguments.iter().map(String::as_str);
        Question(sha256_of(head.into_iter().chain(arguments).chain(files)))
    }

    /// The folder of its entries.
    pub fn folder(&self) -> String {
        format!("answers/{}/{}", &self.0[..2], self.0)
    }
}

/// The folder of all entries.
pub const ANSWERS: &str = "answers";
/// The folder of all claims.
pub const CLAIMS: &str = "claims";
/// The kind of sealed entries.
pub const ENTRY: &str = "entry";

/// An answer with what it depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The files that were read, with their hashes.
    pub files: BTreeMap<String, String>,
    /// The files that were looked for where there is none.
    pub absent: Vec<String>,
    /// The JSON of `hardbop check`.
    pub result: Value,
    /// The claims behind it.
    pub claims: Vec<Claims>,
    /// How long it took.
    pub seconds: f64,
    /// What was asked, for people.
    pub title: String,
}

/// Where claims are, and how they were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The hash of the certificate.
    pub sha256: String,
}

impl Entry {
    /// The name of the entry in the folder of its question.
    pub fn name(&self) -> String {
        let files = self
            .files
            .iter()
            .flat_map(|(name, hash)| [name.as_str(), hash]);
        let absent = self.absent.iter().map(String::as_str);
        sha256_of(files.chain(["absent"]).chain(absent))
    }

    /// The entry as it is written.
    pub fn text(&self) -> String {
        // Plain data: there is nothing in it that cannot be written.
        seal(ENTRY, &serde_json::to_string(self).unwrap_or_default())
    }

    /// An entry that was written under a name.
    pub fn read(name: &str, text: &str) -> Result<Entry, Damage> {
        let body = open(ENTRY, text)?;
        let entry: Entry = serde_json::from_str(body).map_err(|_| Damage::Foreign)?;
        match entry.name() == name {
            true => Ok(entry),
            false => Err(Damage::Broken),
        }
    }
}

/// Where a certificate is kept.
pub fn claims_key(sha256: &str) -> String {
    format!("{CLAIMS}/{}/{sha256}", sha256.get(..2).unwrap_or("00"))
}

/// Whether a certificate is the one that was kept.
pub fn is_whole(key: &str, bytes: &[u8]) -> bool {
    key.rsplit('/').next() == Some(sha256(bytes).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn files(list: &[(&str, &str)]) -> BTreeMap<String, String> {
        let own = |&(name, hash): &(&str, &str)| (name.to_owned(), hash.to_owned());
        list.iter().map(own).collect()
    }

    fn entry() -> Entry {
        Entry {
            files: files(&[("a.c", "11"), ("a.h", "22")]),
            absent: vec!["b.h".to_owned()],
            result: json!({"exit_code": 0}),
            claims: Vec::new(),
            seconds: 0.5,
            title: "a.c".to_owned(),
        }
    }

    #[test]
    fn everything_that_matters_is_in_the_question() {
        let arguments = vec!["check".to_owned(), "a.c".to_owned()];
        let asked = |tool: &str, arguments: &[String], own: &[(&str, &str)]| {
            Question::new(tool, arguments, &files(own)).folder()
        };
        let known = asked("tool", &arguments, &[("a.c", "11")]);
        assert_eq!(known, asked("tool", &arguments, &[("a.c", "11")]));
        assert_ne!(known, asked("other", &arguments, &[("a.c", "11")]));
        assert_ne!(known, asked("tool", &arguments[..1], &[("a.c", "11")]));
        assert_ne!(known, asked("tool", &arguments, &[("a.c", "12")]));
        assert_ne!(known, asked("tool", &arguments, &[("b.c", "11")]));
    }

    #[test]
    fn a_damaged_entry_is_found_by_its_hash() {
        let entry = entry();
        let (name, text) = (entry.name(), entry.text());
        assert_eq!(Entry::read(&name, &text), Ok(entry.clone()));
        assert!(Entry::read(&name, &text[..text.len() - 1]).is_err());
        assert!(Entry::read(&name, &text.replace("\"exit_code\":0", "\"exit_code\":1")).is_err());
        // Nor does an entry stand in for another one.
        assert!(Entry::read("another", &text).is_err());
    }

    #[test]
    fn entries_are_named_by_what_was_read() {
        let one = entry();
        let mut other = entry();
        // Two writers of one key: what they say may differ in times, the key does not.
        other.seconds = 2.0;
        assert_eq!(one.name(), other.name());
        other.absent.clear();
        assert_ne!(one.name(), other.name());
    }

    #[test]
    fn claims_are_known_by_their_contents() {
        let key = claims_key(&sha256(b"claim"));
        assert!(is_whole(&key, b"claim"));
        assert!(!is_whole(&key, b"clai"));
    }
}
