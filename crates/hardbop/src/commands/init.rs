//! `hardbop init`: begins a project.

use crate::cli::InitArgs;
use crate::commands::artifacts::save;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::project::FILE;
use hardbop_diagnostics::Sources;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Body {
    file: String,
    patterns: Vec<String>,
}

/// Writes a project file for the C files below a directory.
pub fn run(arguments: &InitArgs, console: &Console) -> Result<Verdict, Failure> {
    let path = arguments.directory.join(FILE);
    let shown = path.display().to_string();
    if path.exists() {
        return Err(Failure::message(format!("`{shown}` exists already")));
    }
    let patterns = patterns(&arguments.directory)?;
    save(&path, &text(&patterns))?;
    match console.format() {
        Format::Text => console.text(&format!(
            "wrote {shown}; `hardbop check` without arguments now checks the project\n"
        ))?,
        Format::Json => {
            let body = Body {
                file: shown,
                patterns,
            };
            console.value(Verdict::Fine, &Sources::new(), &[], body)?;
        }
    }
    Ok(Verdict::Fine)
}

/// One pattern for every directory that has C files, not looking into hidden ones.
fn patterns(root: &Path) -> Result<Vec<String>, Failure> {
    let mut found = BTreeSet::new();
    let mut work = vec![PathBuf::new()];
    let mut seen = 0;
    while let Some(directory) = work.pop() {
        let whole = root.join(&directory);
        let entries = std::fs::read_dir(&whole).map_err(|error| {
            Failure::message(format!("cannot read `{}`: {error}", whole.display()))
        })?;
        for entry in entries.filter_map(Result::ok) {
            seen += 1;
            let name = entry.file_name().to_string_lossy().into_owned();
            // A link may lead round in a circle.
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && !name.starts_with('.') && seen < 100_000 {
                work.push(directory.join(name));
            } else if name.ends_with(".c") {
                found.insert(directory.join("*.c").display().to_string());
            }
        }
    }
    Ok(found.into_iter().collect())
}

fn text(patterns: &[String]) -> String {
    let files: Vec<String> = patterns
        .iter()
        .map(|pattern| format!("{pattern:?}"))
        .collect();
    format!(
        "# What `hardbop check` checks in this project.\n\n\
         # Each of these files is checked by itself.\n\
         files = [{}]\n\
         # exclude = [\"tests/*.c\"]\n\n\
         # Include directories and macros.\n\
         # include = [\"include\"]\n\
         # define = [\"DEBUG=1\"]\n\n\
         # Checks beyond assertions and error calls: div-by-zero, overflow, pointer, bounds, free.\n\
         # check = [\"overflow\"]\n\n\
         # Limits for one file: seconds and MiB.\n\
         time_limit = 60\n\
         # memory_limit = 2000\n\n\
         # A program of several files.\n\
         # [[program]]\n\
         # name = \"driver\"\n\
         # files = [\"src/main.c\", \"src/lock.c\"]\n",
        files.join(", ")
    )
}
