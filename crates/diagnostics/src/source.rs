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
    /// The byte at which the first of every [`LINES`] lines starts.
    marks: Vec<u32>,
}

/// Texts of millions of lines are read, and hardly one of their lines is shown: lines are counted
/// from the last mark before them.
const LINES: usize = 32;

impl Sources {
    /// An empty table.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Adds a text. Texts beyond 4 GiB are the caller's to refuse.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        let marks = marks(text.as_bytes());
        self.files.push(File {
            name: name.into(),
            text,
            marks,
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
        let file = &self.files[file.0 as usize];
        let mark = file.marks.partition_point(|&start| start <= byte) - 1;
        let before = &file.text.as_bytes()[file.marks[mark] as usize..file.end(byte)];
        let lines = before.iter().filter(|&&b| b == b'\n').count();
        (mark * LINES + lines) as u32 + 1
    }

    /// The line and column of a byte.
    pub fn position(&self, file: FileId, byte: u32) -> Position {
        let line = self.line(file, byte);
        let file = &self.files[file.0 as usize];
        let before = &file.text[..file.end(byte)];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before[start..].chars().count() as u32 + 1;
        Position { line, column }
    }

    /// The range of a line's text, without its end-of-line characters.
    pub fn line_span(&self, file: FileId, line: u32) -> Span {
        let entry = &self.files[file.0 as usize];
        let place = line as usize - 1;
        let mut lines = entry.text[entry.marks[place / LINES] as usize..].split('\n');
        let skipped: usize = lines
            .by_ref()
            .take(place % LINES)
            .map(|line| line.len() + 1)
            .sum();
        let start = entry.marks[place / LINES] + skipped as u32;
        let text = lines.next().unwrap_or_default();
        Span::new(
            file,
            start,
            start + text.trim_end_matches('\r').len() as u32,
        )
    }
}

impl File {
    /// A place in the text that is no further than its end.
    fn end(&self, byte: u32) -> usize {
        self.text.len().min(byte as usize)
    }
}

fn marks(text: &[u8]) -> Vec<u32> {
    let ends = text.iter().enumerate().filter(|&(_, &b)| b == b'\n');
    let starts = ends.map(|(at, _)| at as u32 + 1);
    std::iter::once(0).chain(starts).step_by(LINES).collect()
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

    #[test]
    fn lines_behind_a_mark_are_found_like_those_before_it() {
        let lines: Vec<String> = (1..=100).map(|n| format!("line {n}\n")).collect();
        let mut sources = Sources::new();
        let file = sources.add("x.c", lines.concat());
        let mut start = 0;
        for (number, text) in (1..).zip(&lines) {
            let end = start + text.len() as u32;
            for byte in start..end {
                let position = Position {
                    line: number,
                    column: byte - start + 1,
                };
                assert_eq!(sources.position(file, byte), position);
            }
            assert_eq!(
                sources.line_span(file, number),
                Span::new(file, start, end - 1)
            );
            start = end;
        }
        // What comes after the last line's end is one more, and empty.
        assert_eq!(sources.line(file, start), 101);
        assert_eq!(sources.line_span(file, 101), Span::new(file, start, start));
        assert_eq!(sources.line(file, u32::MAX), 101);
    }
}
