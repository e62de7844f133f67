//! The sources of the workspace as words, without comments, literals and unit tests.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("a workspace").to_owned()
}

/// A file under `crates/*/src` that is no test.
pub struct Source {
    pub krate: String,
    /// Its path below `crates`.
    pub path: String,
    pub lines: usize,
    pub tokens: Vec<String>,
}

/// A function with a body.
pub struct Function {
    pub name: String,
    /// The type or trait whose function it is; empty for a free one.
    pub owner: String,
    pub signature: Vec<String>,
    pub body: Vec<String>,
}

/// All files, in order.
pub fn sources() -> impl Iterator<Item = Source> {
    let crates = repository().join("crates");
    let mut paths = Vec::new();
    let mut work = vec![crates.clone()];
    while let Some(folder) = work.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let inner = path.strip_prefix(&crates).expect("below");
            let second = inner.iter().nth(1);
            if path.is_dir() && second.is_none_or(|name| name == "src") {
                work.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") && second == Some("src".as_ref())
            {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.into_iter().filter_map(move |path| {
        let inner = path.strip_prefix(&crates).expect("below");
        let is_test =
            |part: &OsStr| part == "tests" || part == "tests.rs" || part == "test-support";
        if inner.iter().any(is_test) {
            return None;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        Some(Source {
            krate: inner.iter().next()?.to_str()?.to_owned(),
            path: inner.to_str()?.to_owned(),
            lines: text.lines().count(),
            tokens: without_tests(tokens(&text)),
        })
    })
}

impl Source {
    /// Whether a word stands in it.
    pub fn has(&self, word: &str) -> bool {
        self.tokens.iter().any(|token| token == word)
    }

    /// Whether words stand in it, one after the other.
    pub fn has_all(&self, words: &[&str]) -> bool {
        self.tokens
            .windows(words.len())
            .any(|at| at.iter().eq(words))
    }

    /// Its functions.
    pub fn functions(&self) -> Vec<Function> {
        let tokens = &self.tokens;
        let mut found = Vec::new();
        // The ends of the blocks of `impl` and `trait` around, and their types.
        let mut owners: Vec<(usize, String)> = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            owners.retain(|&(end, _)| end > at);
            let starts =
                at == 0 || matches!(tokens[at - 1].as_str(), "}" | ";" | "]" | "pub" | ")");
            if starts && matches!(tokens[at].as_str(), "impl" | "trait") {
                let open = (at..tokens.len())
                    .find(|&at| tokens[at] == "{" || tokens[at] == ";")
                    .unwrap_or(at);
                owners.push((closing(tokens, open), owner(&tokens[at..open])));
                at = open;
            } else if tokens[at] == "fn" && tokens.get(at + 1).is_some_and(|t| is_word(t)) {
                let (mut depth, mut open) = (0, at + 2);
                while open < tokens.len() {
                    match tokens[open].as_str() {
                        "(" | "[" => depth += 1,
                        ")" | "]" => depth -= 1,
                        "{" | ";" if depth == 0 => break,
                        _ => {}
                    }
                    open += 1;
                }
                if tokens.get(open).is_some_and(|token| token == "{") {
                    found.push(Function {
                        name: tokens[at + 1].clone(),
                        owner: owners.last().map(|(_, ty)| ty.clone()).unwrap_or_default(),
                        signature: tokens[at..open].to_vec(),
                        body: tokens[open..closing(tokens, open)].to_vec(),
                    });
                }
                at = open;
            }
            at += 1;
        }
        found
    }
}

/// The type that a head such as `impl<'a> Trait<X> for Type<'a> where` is about.
fn owner(head: &[String]) -> String {
    let mut depth = 0;
    let mut name = String::new();
    for token in &head[1..] {
        match token.as_str() {
            "<" => depth += 1,
            ">" => depth -= 1,
            "where" => break,
            ":" if depth == 0 => break,
            "for" if depth == 0 => name.clear(),
            word if depth == 0 && is_word(word) => name = word.to_owned(),
            _ => {}
        }
    }
    name
}

/// Whether a token is a name or a keyword.
pub fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The position of the bracket that closes the one at a position.
pub fn closing(tokens: &[String], open: usize) -> usize {
    let (mut depth, mut at) = (0, open);
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
        at += 1;
    }
    tokens.len()
}

fn without_tests(tokens: Vec<String>) -> Vec<String> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].iter().take(mark.len()).eq(mark.iter()) {
            let end = (at..tokens.len()).find(|&at| tokens[at] == "{" || tokens[at] == ";");
            at = end.map_or(tokens.len(), |at| match tokens[at].as_str() {
                "{" => closing(&tokens, at) + 1,
                _ => at + 1,
            });
            continue;
        }
        out.push(tokens[at].clone());
        at += 1;
    }
    out
}

/// The words and signs of a text. Literals are gone, but for one sign each.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    let word = |at: usize| {
        chars
            .get(at)
            .is_some_and(|c| c.is_alphanumeric() || *c == '_')
    };
    while at < chars.len() {
        let next = chars.get(at + 1).copied();
        match chars[at] {
            c if c.is_whitespace() => at += 1,
            '/' if next == Some('/') => {
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
            }
            '/' if next == Some('*') => {
                while at < chars.len() && !(chars[at] == '*' && chars.get(at + 1) == Some(&'/')) {
                    at += 1;
                }
                at += 2;
            }
            '"' => {
                at = string(&chars, at);
                out.push("\"".to_owned());
            }
            '\'' if next == Some('\\') || chars.get(at + 2) == Some(&'\'') => {
                at += if next == Some('\\') { 3 } else { 2 };
                while chars.get(at).is_some_and(|c| *c != '\'') {
                    at += 1;
                }
                at += 1;
                out.push("\"".to_owned());
            }
            // A lifetime.
            '\'' => {
                at += 1;
                while word(at) {
                    at += 1;
                }
            }
            ':' if next == Some(':') => {
                out.push("::".to_owned());
                at += 2;
            }
            // An arrow's head is no bracket.
            '-' | '=' if next == Some('>') => {
                out.push("->".to_owned());
                at += 2;
            }
            _ if word(at) => {
                let start = at;
                while word(at) {
                    at += 1;
                }
                let name: String = chars[start..at].iter().collect();
                let raw = matches!(name.as_str(), "r" | "br");
                let hashes = chars[at..].iter().take_while(|c| **c == '#').count();
                if raw && chars.get(at + hashes) == Some(&'"') {
                    at = raw_string(&chars, at + hashes, hashes);
                    out.push("\"".to_owned());
                } else if name != "b" || !matches!(chars.get(at), Some('"' | '\'')) {
                    out.push(name);
                }
            }
            c => {
                out.push(c.to_string());
                at += 1;
            }
        }
    }
    out
}

fn string(chars: &[char], open: usize) -> usize {
    let mut at = open + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn raw_string(chars: &[char], open: usize, hashes: usize) -> usize {
    let mut at = open + 1;
    while at < chars.len() {
        let closed = chars[at + 1..].iter().take_while(|c| **c == '#').count();
        if chars[at] == '"' && closed >= hashes {
            return at + 1 + hashes;
        }
        at += 1;
    }
    at
}
