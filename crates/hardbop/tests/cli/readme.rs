//! The sessions in the documentation are run, so that they cannot lie.
//!
//! In a block fenced with `console`, a line that begins with `$ ` is a command and the lines
//! after it are what it prints; a line `...` stands for any lines. Set `UPDATE_EXPECT=1` to
//! rewrite the blocks (those without `...`) with what is printed now.

use crate::scene::root;
use std::path::Path;
use std::process::Command;

#[test]
fn readme() {
    check_sessions("README.md");
}

#[test]
fn architecture() {
    check_sessions("ARCHITECTURE.md");
}

#[test]
fn driver_tutorial() {
    check_sessions("docs/tutorial-driver.md");
}

fn check_sessions(name: &str) {
    let path = root().join(name);
    let before = std::fs::read_to_string(&path).expect("the document is there");
    let after = replay(&before);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, after).expect("the document can be written");
    } else {
        assert_eq!(before, after, "{name} does not show what is printed now");
    }
}

/// The document with every session as it goes now.
fn replay(document: &str) -> String {
    let mut lines = document.lines().peekable();
    let mut result = String::new();
    while let Some(line) = lines.next() {
        result.push_str(line);
        result.push('\n');
        if line != "```console" {
            continue;
        }
        let mut status = 0;
        while let Some(command) = lines.next_if(|line| line.starts_with("$ ")) {
            let mut expected = String::new();
            while let Some(line) = lines.next_if(|&line| !line.starts_with("$ ") && line != "```") {
                expected.push_str(line);
                expected.push('\n');
            }
            let (actual, code) = shell(&command[2..], status);
            status = code;
            result.push_str(command);
            result.push('\n');
            result.push_str(if matches(&expected, &actual) {
                &expected
            } else {
                &actual
            });
        }
    }
    result
}

/// Whether the text is the one expected, where a line `...` stands for any lines.
fn matches(expected: &str, actual: &str) -> bool {
    let mut pieces = expected.split("...\n");
    let Some(mut rest) = pieces.next().and_then(|first| actual.strip_prefix(first)) else {
        return false;
    };
    let mut last = None;
    for piece in pieces {
        last = Some(piece);
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    match last {
        None => rest.is_empty(),
        Some(piece) => actual.ends_with(piece),
    }
}

/// What a command prints in the root of the repository, and its exit code. The exit code of the
/// command before it is in `$?`.
fn shell(command: &str, status: i32) -> (String, i32) {
    let binaries = Path::new(env!("CARGO_BIN_EXE_hardbop"))
        .parent()
        .expect("it has a directory");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("exec 2>&1; (exit {status}); {command}"))
        .current_dir(root())
        .env("PATH", format!("{}:{path}", binaries.display()))
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
}
