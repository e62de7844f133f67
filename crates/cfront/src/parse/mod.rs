//! One translation unit: C text in, a typed tree out.
//!
//! The preprocessor, parser and type checker are the `rucc` crates; this module drives them and
//! turns what they say into our own diagnostics and places. Nothing outside of `parse` and
//! `lower` sees their types.

mod decode;
mod driver;
mod files;
mod limits;
mod nesting;
mod repair;
mod replaced;
mod report;
mod texts;
mod unevaluated;

pub use driver::{ParsedUnit, parse_unit};
pub use files::{Files, NoFiles};
pub use texts::Texts;

use crate::types::DataModel;
use std::path::PathBuf;

/// One file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name, as the user wrote it. Quoted includes are first looked for in its directory.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What must be done with it before it is C.
    pub kind: InputKind,
    /// Options that hold for this file only; they come after the common ones.
    pub preprocess: Preprocess,
}

/// What must be done with an input before it is C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A `.c` file: it is preprocessed here.
    Source,
    /// A `.i` file: already preprocessed; line markers say where each line came from.
    Preprocessed,
}

impl InputKind {
    /// The kind that a file's name stands for.
    pub fn of(name: &str) -> InputKind {
        match name.rsplit_once('.') {
            Some((_, "i" | "ii")) => InputKind::Preprocessed,
            _ => InputKind::Source,
        }
    }
}

/// What the preprocessor is told on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preprocess {
    /// `-I`, in order.
    pub include_dirs: Vec<PathBuf>,
    /// `-isystem`, in order.
    pub system_dirs: Vec<PathBuf>,
    /// `-D`: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// `-U`.
    pub undefines: Vec<String>,
    /// `-include`: files that are read before the first line.
    pub forced_includes: Vec<String>,
    /// Where the standard headers come from.
    pub headers: Headers,
}

/// Where the standard headers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Headers {
    /// From the set that comes with the front end, so that results do not depend on the machine;
    /// headers that are not in it are looked for in the system's directories.
    #[default]
    Own,
    /// From the system's directories; the set that comes with the front end is the last resort.
    System,
}

/// What holds for every unit of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseOptions {
    /// The widths of the basic types.
    pub model: DataModel,
    /// What the preprocessor is told.
    pub preprocess: Preprocess,
}

impl ParseOptions {
    /// No include directories and no macros.
    pub fn new(model: DataModel) -> ParseOptions {
        ParseOptions {
            model,
            preprocess: Preprocess::default(),
        }
    }
}
