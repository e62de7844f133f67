//! How much of a pile of C files the front end takes: one line per file with what came of it.
//!
//!     cargo run --release --example survey -- [32|64] FILE...
//!     cargo run --release --example survey < LIST      (lines `32 FILE` or `64 FILE`)
//!
//! A line is `STATUS BITS FILE BYTES MILLISECONDS REASON`; the status is `ok`, `unsupported` (a
//! construct that an execution can reach), or `refused`.
#![allow(clippy::print_stdout)]

use hardbop_budget::Budget;
use hardbop_cfront::load::{Options, load};
use hardbop_cfront::parse::{Files, Input, InputKind, Preprocess};
use hardbop_cfront::types::DataModel;
use hardbop_diagnostics::{Diagnostic, Sources};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Instant;

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty() {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if let Some((bits, path)) = line.split_once(' ') {
                survey(bits, path);
            }
        }
    } else {
        let mut bits = "64";
        for argument in &arguments {
            match argument.as_str() {
                "32" | "64" => bits = argument,
                path => survey(bits, path),
            }
        }
    }
}

fn survey(bits: &str, path: &str) {
    let model = if bits == "32" {
        DataModel::Ilp32
    } else {
        DataModel::Lp64
    };
    let Ok(bytes) = std::fs::read(path) else {
        println!("refused {bits} {path} 0 0 cannot be read");
        return;
    };
    let size = bytes.len();
    let input = Input {
        name: path.to_owned(),
        bytes,
        kind: InputKind::of(path),
        preprocess: Preprocess::default(),
    };
    let mut options = Options::new(model);
    let start = Instant::now();
    let unlimited = Budget::unlimited();
    let mut loaded =
        load(std::slice::from_ref(&input), &options, &Disk, &unlimited).expect("nothing limits it");
    // Tests of a front end often have no `main`: start anywhere.
    for entry in functions(&input) {
        let missing = |d: &Diagnostic| !d.is_error() || d.message.contains("to start at");
        if loaded.program.is_some() || !loaded.diagnostics.iter().all(missing) {
            break;
        }
        options.lower.entry = entry;
        loaded = load(std::slice::from_ref(&input), &options, &Disk, &unlimited)
            .expect("nothing limits it");
    }
    if functions(&input).is_empty() {
        loaded
            .diagnostics
            .retain(|d| !d.message.contains("to start at"));
    }
    let time = start.elapsed().as_secs_f64() * 1e3;
    let error = loaded.diagnostics.iter().find(|d| d.is_error());
    let unsupported = loaded
        .diagnostics
        .iter()
        .find(|d| d.message.starts_with("not supported"));
    let (status, reason) = match (error, unsupported) {
        (Some(error), _) => ("refused", describe(error, loaded.sources())),
        (None, Some(warning)) => ("unsupported", describe(warning, loaded.sources())),
        (None, None) => ("ok", String::new()),
    };
    println!("{status} {bits} {path} {size} {time:.1} {reason}");
}

/// The names that are followed by a parenthesis, at the starts of lines: good enough to find a
/// function to start at.
fn functions(input: &Input) -> Vec<String> {
    let text = String::from_utf8_lossy(&input.bytes);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.lines()
        .filter(|line| !line.starts_with(['#', ' ', '\t', '/']))
        .filter(|line| !line.trim_end().ends_with(';') && !line.contains('='))
        .filter_map(|line| {
            let before = line.split_once('(')?.0.trim_end();
            let name = before.rsplit(|c| !word(c)).next()?;
            (!name.is_empty() && before.len() > name.len()).then(|| name.to_owned())
        })
        .collect()
}

fn describe(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let place = diagnostic.span.map(|span| {
        let position = sources.position(span.file, span.start);
        format!(
            " @ {}:{}:{}",
            sources.name(span.file),
            position.line,
            position.column
        )
    });
    format!("{}{}", diagnostic.message, place.unwrap_or_default())
}
