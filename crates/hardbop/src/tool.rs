//! This very tool, known by its contents: answers belong to it, and nodes must have the same one.

use crate::failure::Failure;
use crate::store::write_whole;
use hardbop_cluster::seal::{open, seal, sha256, sha256_of};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The tool that checks an item: this one.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The program.
    pub program: PathBuf,
    /// The hash of the program and of the solver's library.
    pub identity: String,
}

impl Tool {
    /// This one. What was hashed before is remembered in a file: a program is large.
    pub fn this(memory: &Path) -> Result<Tool, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| Failure::internal(format!("cannot find myself: {error}")))?;
        let mut files = vec![program.clone()];
        files.extend(solver_libraries());
        let mut stamps = Vec::new();
        for file in &files {
            stamps.push(stamp(file).map_err(|error| unreadable(file, &error))?);
        }
        let stamp = stamps.join("\n");
        if let Some(identity) = remembered(memory, &stamp) {
            return Ok(Tool { program, identity });
        }
        let mut hashes = Vec::new();
        for file in &files {
            let bytes = std::fs::read(file).map_err(|error| unreadable(file, &error))?;
            hashes.push(sha256(&bytes));
        }
        let identity = sha256_of(hashes.iter().map(String::as_str));
        // Where it cannot be remembered, it is hashed again.
        let known = format!("{identity}\n{stamp}");
        let _ = write_whole(memory, seal("tool", &known).as_bytes());
        Ok(Tool { program, identity })
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::internal(format!("cannot read `{}`: {error}", file.display()))
}

/// What changes when a file does: the system sees to the last time of change, not the user.
fn stamp(file: &Path) -> std::io::Result<String> {
    let known = std::fs::metadata(file)?;
    Ok(format!(
        "{} {} {} {} {}.{} {}.{}",
        file.display(),
        known.dev(),
        known.ino(),
        known.size(),
        known.mtime(),
        known.mtime_nsec(),
        known.ctime(),
        known.ctime_nsec()
    ))
}

fn remembered(memory: &Path, stamp: &str) -> Option<String> {
    let text = std::fs::read_to_string(memory).ok()?;
    let (identity, known) = open("tool", &text).ok()?.split_once('\n')?;
    (known == stamp).then(|| identity.to_owned())
}

/// The solver's library, where it is loaded and not a part of the program.
fn solver_libraries() -> Vec<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut found: Vec<PathBuf> = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| PathBuf::from(&line[at..])))
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy());
            name.is_some_and(|name| name.starts_with("libz3"))
        })
        .collect();
    found.sort();
    found.dedup();
    found
}
