//! The sessions in the documentation are run, so that they cannot lie.
//!
//! In a block fenced with `console`, a line that begins with `$ ` is a command (lines after it
//! that begin with `> ` belong to it) and the lines after it are what it prints; a line `...`
//! stands for any lines, and `…` in a line for any part of it. Every document is played in a directory of its own that holds a copy of
//! `examples`, so that commands may write files; the commands of one document see what those
//! before them have written. Set `UPDATE_EXPECT=1` to rewrite what is not as it is printed now.

mod links;
mod options;

use crate::scene::root;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The directory of the book's chapters.
const CHAPTERS: &str = "docs/src";

/// A test for every document with sessions, and one that none was forgotten.
macro_rules! documents {
    ($($test:ident $path:literal)*) => {
        $(#[test]
        fn $test() {
            check_sessions($path);
        })*

        #[test]
        fn every_session_is_run() {
            let mut with_sessions: Vec<String> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
                .map(str::to_owned)
                .into_iter()
                .chain(chapters())
                .filter(|path| text_of(path).contains("```console"))
                .collect();
            with_sessions.sort();
            let mut tested = vec![$($path.to_owned()),*];
            tested.sort();
            assert_eq!(with_sessions, tested, "the documents with sessions, and those that are run");
        }
    };
}

documents! {
    readme "README.md"
    architecture "ARCHITECTURE.md"
    quick_start "docs/src/quick-start.md"
    your_code "docs/src/your-code.md"
    driver_tutorial "docs/src/tutorial-driver.md"
    reading "docs/src/reading.md"
    certificates "docs/src/certificates.md"
    reports "docs/src/reports.md"
    rules "docs/src/rules.md"
    projects "docs/src/project.md"
    svcomp "docs/src/svcomp.md"
    elements "docs/src/elements.md"
    nodes "docs/src/nodes.md"
    termination "docs/src/termination.md"
    json "docs/src/json.md"
    soundness "docs/src/soundness.md"
    engines "docs/src/engines.md"
    paper_boolean_programs "docs/src/papers/boolean-programs.md"
    paper_bebop "docs/src/papers/bebop.md"
    paper_c2bp "docs/src/papers/c2bp.md"
    paper_newton "docs/src/papers/newton.md"
    paper_slam "docs/src/papers/slam.md"
    paper_dpr "docs/src/papers/dpr.md"
    paper_leaping_loops "docs/src/papers/leaping-loops.md"
    boolean_program_language "docs/src/boolean-programs.md"
}

/// The files of the book, as paths from the root of the repository, in order.
fn chapters() -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(CHAPTERS)];
    while let Some(directory) = open.pop() {
        let entries = std::fs::read_dir(root().join(&directory)).expect("the book is there");
        for entry in entries {
            let path = directory.join(entry.expect("it can be read").file_name());
            if root().join(&path).is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ext| ext == "md") {
                found.push(path.to_str().expect("a plain name").to_owned());
            }
        }
    }
    found.sort();
    found
}

/// The text of a file of the repository.
fn text_of(path: &str) -> String {
    std::fs::read_to_string(root().join(path))
        .unwrap_or_else(|error| panic!("{path} cannot be read: {error}"))
}

#[track_caller]
fn check_sessions(path: &str) {
    let played = replay(&text_of(path));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(root().join(path), played.document).expect("the document can be written");
    } else {
        let changed = played.changed.join("\n");
        assert!(
            changed.is_empty(),
            "{path} does not show what is printed now:\n{changed}"
        );
    }
}

/// A document that was played.
struct Played {
    /// Its text with every session as it goes now.
    document: String,
    /// The commands that print something else than it says, with what they print.
    changed: Vec<String>,
}

/// Plays the sessions of a document.
fn replay(document: &str) -> Played {
    let stage = tempfile::tempdir().expect("a temporary directory");
    copy(&root().join("examples"), &stage.path().join("examples"));
    let mut lines = document.lines().peekable();
    let mut result = String::new();
    let mut changed = Vec::new();
    while let Some(line) = lines.next() {
        result.push_str(line);
        result.push('\n');
        if line != "```console" {
            continue;
        }
        let mut status = 0;
        while let Some(first) = lines.next_if(|line| line.starts_with("$ ")) {
            let mut command = first[2..].to_owned();
            result.push_str(first);
            result.push('\n');
            while let Some(more) = lines.next_if(|line| line.starts_with("> ") || *line == ">") {
                command.push('\n');
                command.push_str(more.get(2..).unwrap_or_default());
                result.push_str(more);
                result.push('\n');
            }
            let mut expected = String::new();
            while let Some(line) = lines.next_if(|&line| !line.starts_with("$ ") && line != "```") {
                expected.push_str(line);
                expected.push('\n');
            }
            let (actual, code) = shell(stage.path(), &command, status);
            status = code;
            if matches(&expected, &actual) {
                result.push_str(&expected);
            } else {
                changed.push(format!("$ {command}\n{actual}instead of\n{expected}"));
                result.push_str(&actual);
            }
        }
    }
    Played {
        document: result,
        changed,
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a directory can be made");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let name = entry.expect("it can be read").file_name();
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(from, to).expect("a file can be copied");
        }
    }
}

/// Whether the text is the one expected, where a line `...` stands for any lines and `…` for any
/// part of a line.
fn matches(expected: &str, actual: &str) -> bool {
    let (expected, actual): (Vec<_>, Vec<_>) =
        (expected.lines().collect(), actual.lines().collect());
    // By the number of lines that are matched already: whether the lines so far can be matched so.
    let mut reached = vec![false; actual.len() + 1];
    reached[0] = true;
    for pattern in expected {
        let mut next = vec![false; actual.len() + 1];
        if pattern == "..." {
            let first = reached.iter().position(|&yes| yes);
            next.iter_mut()
                .skip(first.unwrap_or(usize::MAX))
                .for_each(|yes| *yes = true);
        } else {
            for (at, line) in actual.iter().enumerate() {
                next[at + 1] = reached[at] && matches_line(pattern, line);
            }
        }
        reached = next;
    }
    reached[actual.len()]
}

fn matches_line(pattern: &str, line: &str) -> bool {
    let mut pieces = pattern.split('…');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// What a command prints in a directory, and its exit code. The exit code of the command before
/// it is in `$?`. A command that hangs is stopped after ten minutes, so that it fails here
/// and not by the limit of the whole gate; a busy machine may need some of them.
fn shell(directory: &Path, command: &str, status: i32) -> (String, i32) {
    let binaries = Path::new(env!("CARGO_BIN_EXE_hardbop"))
        .parent()
        .expect("it has a directory");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("timeout")
        .args(["600", "sh", "-c"])
        .arg(format!("exec 2>&1; (exit {status}); {command}"))
        .current_dir(directory)
        .env("PATH", format!("{}:{path}", binaries.display()))
        .env("COLUMNS", "100")
        .env("SOURCE_DATE_EPOCH", "1767225600")
        .env_remove("NO_COLOR")
        .output()
        .expect("a shell starts");
    let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
    (text, output.status.code().unwrap_or(-1))
}

#[test]
fn dots_stand_for_any_lines() {
    assert!(matches("a\n...\nc\n", "a\nb\nb\nc\n"));
    assert!(matches("a\n...\n", "a\nb\n"));
    assert!(!matches("a\n...\nc\n", "a\nb\n"));
    assert!(!matches("a\n", "a\nb\n"));
    assert!(matches("a\n...\nb\n...\n", "a\nb\nc\nb\n"));
    assert!(matches("in … s, of …\n", "in 0.1 s, of 3\n"));
    assert!(!matches("in … s\n", "in 0.1 m\n"));
    assert!(!matches("in … s\n", "in 0.1 s\nand more\n"));
}

#[test]
fn commands_may_have_several_lines_and_leave_files() {
    let session =
        "```console\n$ cat > a.txt <<'END'\n> one\n>\n> two\n> END\n$ cat a.txt\nold\n```\n";
    let expected =
        "```console\n$ cat > a.txt <<'END'\n> one\n>\n> two\n> END\n$ cat a.txt\none\n\ntwo\n```\n";
    assert_eq!(replay(session).document, expected);
}
