//! Where headers are read from: the caller's files, and the headers that come with the front end.

use super::Headers;
use rucc_diag::SourceBytes;
use rucc_session::FileSystem;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The files that an `#include` can reach. The front end touches no file except through this.
pub trait Files: Sync {
    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// Whatever the file system says; a file that is not there is [`io::ErrorKind::NotFound`].
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// One name for a file that can be reached by several; `#pragma once` goes by it.
    fn identity(&self, path: &Path) -> PathBuf {
        path.components()
            .filter(|c| !matches!(c, std::path::Component::CurDir))
            .collect()
    }
}

/// No files at all: only the headers that come with the front end can be included.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// The directory under which the headers that come with the front end seem to lie.
pub(super) const OWN_DIRECTORY: &str = "<hardbop>";

/// The directories that a compiler on Linux looks in.
const SYSTEM_DIRECTORIES: [&str; 4] = [
    "/usr/local/include",
    "/usr/include/x86_64-linux-gnu",
    "/usr/include/aarch64-linux-gnu",
    "/usr/include",
];

/// The directories for `#include <...>` after those that the user names, in order.
pub(super) fn standard_directories(headers: Headers) -> Vec<&'static str> {
    let mut directories = SYSTEM_DIRECTORIES.to_vec();
    match headers {
        Headers::Own => directories.insert(0, OWN_DIRECTORY),
        Headers::System => directories.push(OWN_DIRECTORY),
    }
    directories
}

/// Whether a file is one of the system's headers.
pub(super) fn is_system_file(name: &str) -> bool {
    SYSTEM_DIRECTORIES
        .iter()
        .any(|directory| Path::new(name).starts_with(directory))
}

/// The caller's files with our headers among them, as the preprocessor wants them.
pub(super) struct Adapter<'a>(pub(super) &'a dyn Files);

impl fmt::Debug for Adapter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Adapter")
    }
}

impl FileSystem for Adapter<'_> {
    fn read(&self, path: &Path) -> io::Result<SourceBytes> {
        match path.strip_prefix(OWN_DIRECTORY) {
            Ok(name) => match crate::headers::text(name) {
                Some(text) => Ok(SourceBytes::new(text.as_bytes())),
                None => Err(io::ErrorKind::NotFound.into()),
            },
            Err(_) => self.0.read(path).map(SourceBytes::new),
        }
    }

    fn identity(&self, path: &Path) -> PathBuf {
        if path.starts_with(OWN_DIRECTORY) {
            path.to_path_buf()
        } else {
            self.0.identity(path)
        }
    }
}
