//! Reads what the user names: a file, or `-` for standard input; predicates from such files.

use crate::failure::Failure;
use crate::reading::Reading;
use hardbop_c2bp::predicate::PredicateSet;
use hardbop_cfront::program::Program;
use hardbop_diagnostics::{FileId, Sources};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Places in texts are 32-bit numbers.
const LARGEST: u64 = u32::MAX as u64 - 1;

/// Nobody writes so much C to a pipe; something that never ends does.
const LARGEST_STREAM: u64 = 256 << 20;

/// The bytes of a file, and the name under which messages speak of it.
pub struct Bytes {
    /// The path as the user wrote it, or `<stdin>`.
    pub name: String,
    /// The contents.
    pub bytes: Vec<u8>,
}

/// Whether a path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a file, or standard input for `-`.
pub fn bytes(path: &Path) -> Result<Bytes, Failure> {
    let _reading = Reading::begin();
    if is_stdin(path) {
        let bytes = stream(io::stdin().lock());
        let bytes = bytes.map_err(|error| cannot_read("standard input", &error))?;
        return small_enough("<stdin>".to_owned(), bytes);
    }
    let name = path.display().to_string();
    let quoted = format!("`{name}`");
    let metadata = std::fs::metadata(path).map_err(|error| cannot_read(&quoted, &error))?;
    if metadata.is_dir() {
        return Err(Failure::message(format!(
            "cannot read {quoted}: it is a directory"
        )));
    }
    if metadata.len() > LARGEST {
        return Err(too_large(&name));
    }
    let bytes = contents(path).map_err(|error| cannot_read(&quoted, &error))?;
    small_enough(name, bytes)
}

/// What is in a file. A pipe is read to its end, if that comes soon enough; devices have none.
pub fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::other("it is a device"));
    }
    if kind.is_file() {
        // Files that the system makes up have a size of 0 and may be without an end.
        let mut bytes = Vec::new();
        File::open(path)?
            .take(LARGEST + 1)
            .read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    stream(File::open(path)?)
}

/// What comes out of a pipe, unless that is too much.
fn stream(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST_STREAM + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_STREAM {
        let mib = LARGEST_STREAM >> 20;
        return Err(io::Error::other(format!(
            "it has no end, or is longer than {mib} MiB"
        )));
    }
    Ok(bytes)
}

/// Reads the text of a boolean program and adds it to the sources.
pub fn text(path: &Path, sources: &mut Sources) -> Result<FileId, Failure> {
    let Bytes { name, bytes } = bytes(path)?;
    match hardbop_boolean_program::decode(&name, bytes) {
        Ok(text) => Ok(sources.add(name, text)),
        Err(diagnostic) => Err(Failure::Input {
            sources: Sources::new(),
            diagnostics: vec![diagnostic],
        }),
    }
}

/// A program with the predicates of some files.
pub fn predicates(paths: &[PathBuf], program: Program) -> Result<PredicateSet, Failure> {
    let mut set = PredicateSet::new(program);
    let mut sources = Sources::new();
    let mut errors = Vec::new();
    for path in paths {
        let file = text(path, &mut sources)?;
        errors.extend(set.read(&sources, file));
    }
    if errors.is_empty() {
        Ok(set)
    } else {
        Err(Failure::Input {
            sources,
            diagnostics: errors,
        })
    }
}

fn small_enough(name: String, bytes: Vec<u8>) -> Result<Bytes, Failure> {
    if bytes.len() as u64 > LARGEST {
        Err(too_large(&name))
    } else {
        Ok(Bytes { name, bytes })
    }
}

fn too_large(name: &str) -> Failure {
    Failure::message(format!("`{name}` is too large: at most 4 GiB can be read"))
}

fn cannot_read(what: &str, error: &io::Error) -> Failure {
    let reason = match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    };
    Failure::message(format!("cannot read {what}: {reason}"))
}
