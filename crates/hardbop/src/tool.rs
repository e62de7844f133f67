//! This very tool, known by its contents: answers belong to it, and nodes must have the same one.

use crate::failure::Failure;
use hardbop_cluster::seal::{sha256, sha256_of};
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
    /// This one.
    pub fn this() -> Result<Tool, Failure> {
        let program = std::env::current_exe()
            .map_err(|error| Failure::internal(format!("cannot find myself: {error}")))?;
        let mut hashes = vec![hash(&program)?];
        for library in solver_libraries() {
            hashes.push(hash(&library)?);
        }
        let identity = sha256_of(hashes.iter().map(String::as_str));
        Ok(Tool { program, identity })
    }
}

fn hash(path: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::internal(format!("cannot read `{}`: {error}", path.display()))
    })?;
    Ok(sha256(&bytes))
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
