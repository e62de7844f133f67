//! The files that a command writes: looked at before the work begins, so that hours of it are not
//! lost to a directory that does not exist, and no text of the user's is written over.

use crate::cli::Artifacts;
use crate::failure::Failure;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Every file that is to be written, with the option that asks for it.
fn wanted(artifacts: &Artifacts) -> Vec<(&'static str, PathBuf)> {
    let page = artifacts.html.as_ref().map(|html| html.join("index.html"));
    let all = [
        ("--harness", artifacts.harness.clone()),
        ("--certificate", artifacts.certificate.clone()),
        ("--witness", artifacts.witness.clone()),
        ("--html", page),
        ("--sarif", artifacts.sarif.clone()),
        ("--junit", artifacts.junit.clone()),
        ("--dot", artifacts.dot.clone()),
        ("--svg", artifacts.svg.clone()),
    ];
    let given = all.into_iter();
    given
        .filter_map(|(option, path)| Some((option, path?)))
        .collect()
}

/// Refuses outputs that cannot be written, or that are one of these inputs or each other.
pub fn check<'a>(
    artifacts: &Artifacts,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let outputs = wanted(artifacts);
    apart(artifacts, inputs)?;
    if let Some(directory) = &artifacts.html {
        fs::create_dir_all(directory).map_err(|error| {
            let shown = directory.display();
            Failure::message(format!("cannot make the directory `{shown}`: {error}"))
        })?;
    }
    for (_, path) in &outputs {
        try_to_write(path).map_err(|error| {
            Failure::message(format!("cannot write `{}`: {error}", path.display()))
        })?;
    }
    Ok(())
}

/// Refuses outputs that are one of these inputs, or each other. Inputs that are included are known
/// only when the program was read.
pub fn apart<'a>(
    artifacts: &Artifacts,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    let outputs = wanted(artifacts);
    let inputs: Vec<&Path> = inputs.into_iter().collect();
    for (index, (option, path)) in outputs.iter().enumerate() {
        if inputs.iter().any(|input| is_same(input, path)) {
            return Err(Failure::message(format!(
                "{option} would write over `{}`, which is read",
                path.display()
            )));
        }
        let earlier = &outputs[..index];
        if let Some((other, _)) = earlier.iter().find(|(_, other)| is_same(other, path)) {
            return Err(Failure::message(format!(
                "{option} and {other} would both write `{}`",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Whether two paths are one regular file, by whatever names.
fn is_same(one: &Path, other: &Path) -> bool {
    match (identity(one), identity(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// What tells a file from others: its inode, or, where there is none yet, its directory's and its
/// name. Terminals, pipes and devices can be written to more than once.
fn identity(path: &Path) -> Option<(u64, u64, Option<PathBuf>)> {
    use std::os::unix::fs::MetadataExt;
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Some((found.dev(), found.ino(), None)),
        Ok(_) => None,
        Err(_) => {
            let parent = path.parent().filter(|parent| *parent != Path::new(""));
            let found = fs::metadata(parent.unwrap_or(Path::new("."))).ok()?;
            Some((
                found.dev(),
                found.ino(),
                path.file_name().map(PathBuf::from),
            ))
        }
    }
}

/// Opens a file for writing and leaves everything as it was.
fn try_to_write(path: &Path) -> std::io::Result<()> {
    match fs::metadata(path) {
        // Opening a pipe would wait for its reader.
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(()),
        Ok(_) => OpenOptions::new().append(true).open(path).map(drop),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            fs::remove_file(path)
        }
        Err(error) => Err(error),
    }
}
