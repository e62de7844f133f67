//! Source texts and places in them.

/// A file of a [`Sources`] table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A range of bytes in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// The smallest range that holds both, which must lie in the same file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file);
        Span::new(
            self.file,
            self.start.min(other.start),
            self.end.max(other.end),
        )
    }
}

/// A line and a column, both counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// The source texts of one run.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    name: String,
    text: String,
    /// The byte at which each line starts.
    lines: Vec<u32>,
}

impl Sources {
    /// An empty table.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Adds a text. Texts beyond 4 GiB are the caller's to refuse.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        let starts = memchr_lines(text.as_bytes());
        self.files.push(File {
            name: name.into(),
            text,
            lines: starts,
        });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file that was added under a name with a text, if there is one.
    pub fn find(&self, name: &str, text: &str) -> Option<FileId> {
        let same = |file: &File| file.name == name && file.text == text;
        self.files
            .iter()
            .position(same)
            .map(|index| FileId(index as u32))
    }

    /// The name under which a file was added.
    pub fn name(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].name
    }

    /// The whole text of a file.
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    /// The text of a range.
    pub fn slice(&self, span: Span) -> &str {
        &self.text(span.file)[span.start as usize..span.end as usize]
    }

    /// The line, counted from 1, that holds a byte.
    pub fn line(&self, file: FileId, byte: u32) -> u32 {
        self.files[file.0 as usize]
            .lines
            .partition_point(|&start| start <= byte) as u32
    }

    /// The line and column of a byte.
    pub fn position(&self, file: FileId, byte: u32) -> Position {
        let line = self.line(file, byte);
        let entry = &self.files[file.0 as usize];
        let start = entry.lines[line as usize - 1] as usize;
        let column = entry.text[start..byte as usize].chars().count() as u32 + 1;
        Position { line, column }
    }

    /// The range of a line's text, without its end-of-line characters.
    pub fn line_span(&self, file: FileId, line: u32) -> Span {
        let entry = &self.files[file.0 as usize];
        let start = entry.lines[line as usize - 1];
        let end = entry
            .lines
            .get(line as usize)
            .map_or(entry.text.len() as u32, |&next| next - 1);
        let text = &entry.text[start as usize..end as usize];
        Span::new(
            file,
            start,
            start + text.trim_end_matches('\r').len() as u32,
        )
    }
}

fn memchr_lines(text: &[u8]) -> Vec<u32> {
    std::iter::once(0)
        .chain(
            text.iter()
                .enumerate()
                .filter(|&(_, &b)| b == b'\n')
                .map(|(i, _)| i as u32 + 1),
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut sources = Sources::new();
        let file = sources.add("x.c", "ab\n\u{e9}c\r\n");
        assert_eq!(sources.position(file, 0), Position { line: 1, column: 1 });
        assert_eq!(sources.position(file, 5), Position { line: 2, column: 2 });
        assert_eq!(sources.slice(sources.line_span(file, 2)), "\u{e9}c");
        assert_eq!(sources.line(file, 8), 3);
    }
}
