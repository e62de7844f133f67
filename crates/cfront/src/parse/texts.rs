//! The texts of a whole program, and the places of one unit in them.

use super::decode::{Decoded, decode};
use crate::program::Source;
use hardbop_diagnostics::{FileId, Sources, Span};
use rucc_diag::SourceMap;
use std::collections::HashMap;

/// The source texts of a program and the file names that its line markers mention. One for all
/// units; [`crate::program::Program`] takes both tables over.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// The texts.
    pub sources: Sources,
    /// The names, each once.
    pub presumed_files: Vec<String>,
    indices: HashMap<String, u32>,
    /// Headers that are already there, by name and content: several units share them.
    known: HashMap<String, (FileId, usize)>,
}

impl Texts {
    /// No texts.
    pub fn new() -> Texts {
        Texts::default()
    }

    /// The index of a name in [`Texts::presumed_files`].
    pub fn presumed(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.indices.get(name) {
            return index;
        }
        let index = self.presumed_files.len() as u32;
        self.presumed_files.push(name.to_owned());
        self.indices.insert(name.to_owned(), index);
        index
    }

    fn add(&mut self, name: &str, text: String) -> FileId {
        match self.known.get(name) {
            Some(&(file, length)) if length == text.len() && self.sources.text(file) == text => {
                file
            }
            _ => {
                let length = text.len();
                let file = self.sources.add(name, text);
                self.known.insert(name.to_owned(), (file, length));
                file
            }
        }
    }
}

/// The way from the positions of one unit to places in [`Texts`].
#[derive(Debug)]
pub(super) struct Places {
    map: SourceMap,
    files: Vec<File>,
    /// The names that line markers mention, to their index in [`Texts::presumed_files`].
    names: HashMap<String, u32>,
}

#[derive(Debug)]
struct File {
    id: FileId,
    /// The offsets only; the text itself belongs to [`Texts`].
    decoded: Option<Decoded>,
    /// The index of the file's own name.
    name: u32,
}

impl Places {
    /// Adds the unit's files to the texts. `marked` is where line markers stand.
    pub(super) fn new(map: SourceMap, marked: &[rucc_diag::Span], texts: &mut Texts) -> Places {
        let mut indices: HashMap<String, u32> = HashMap::new();
        for marker in marked {
            let Some(after) = map.presumed_after(marker.lo) else {
                continue;
            };
            if !indices.contains_key(after.name) {
                indices.insert(after.name.to_owned(), texts.presumed(after.name));
            }
        }
        let mut files = Vec::with_capacity(map.files().len());
        for file in map.files() {
            let decoded = decode(file.bytes());
            let ascii = decoded.text.is_ascii();
            let index = texts.presumed(&file.name);
            indices.insert(file.name.clone(), index);
            let (id, decoded) = if ascii {
                (texts.add(&file.name, decoded.text), None)
            } else {
                (texts.add(&file.name, decoded.text.clone()), Some(decoded))
            };
            files.push(File {
                id,
                decoded,
                name: index,
            });
        }
        Places {
            map,
            files,
            names: indices,
        }
    }

    /// The place of a span. A span that has none (what the compiler made up) is the start of the
    /// first file; one that runs over several files is cut at the end of its first.
    pub(super) fn source(&self, span: rucc_diag::Span) -> Source {
        let Some(index) = self.map.lookup_file(span.lo) else {
            return self.nowhere();
        };
        let original = self.map.file(index);
        let file = &self.files[index.index()];
        let start = span.lo - original.start;
        let end = if span.hi > original.end {
            start
        } else {
            span.hi - original.start
        };
        let offset = |byte: u32| match &file.decoded {
            Some(decoded) => decoded.offset(byte),
            None => byte,
        };
        let place = Span::new(file.id, offset(start), offset(end.max(start)));
        let (name, line) = match original.presumed_position(span.lo) {
            Some(presumed) => (
                self.names.get(presumed.name).copied().unwrap_or(file.name),
                presumed.line,
            ),
            None => (file.name, 1),
        };
        Source {
            span: place,
            file: name,
            line,
        }
    }

    /// The user's own place: where a header's span stands, the `#include` that leads to it.
    pub(super) fn include_chain(&self, span: rucc_diag::Span) -> Vec<rucc_diag::Span> {
        let mut chain = Vec::new();
        let mut at = span;
        while let Some(file) = self.map.lookup_file(at.lo) {
            match self.map.file(file).included_from {
                Some(from) if chain.len() < 200 => {
                    chain.push(from);
                    at = from;
                }
                _ => break,
            }
        }
        chain
    }

    /// The file that a line marker names for a span, if it is not the one that was read.
    pub(super) fn presumed_elsewhere(&self, span: rucc_diag::Span) -> Option<&str> {
        let file = self.map.file(self.map.lookup_file(span.lo)?);
        let name = file.presumed_position(span.lo)?.name;
        (name != file.name).then_some(name)
    }

    pub(super) fn is_known(&self, span: rucc_diag::Span) -> bool {
        !span.is_dummy() && self.map.lookup_file(span.lo).is_some()
    }

    fn nowhere(&self) -> Source {
        match self.files.first() {
            Some(file) => Source {
                span: Span::new(file.id, 0, 0),
                file: file.name,
                line: 1,
            },
            None => Source {
                span: Span::new(FileId(0), 0, 0),
                file: 0,
                line: 1,
            },
        }
    }
}
