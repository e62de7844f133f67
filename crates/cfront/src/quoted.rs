//! The pieces of C that messages of checks speak of, as the source has them.

use crate::lower::TEXT;
use crate::program::Program;

/// Puts the text of the source into the messages of the checks.
pub(crate) fn quote_sources(program: &mut Program) {
    let Program {
        checks, sources, ..
    } = program;
    for check in checks {
        if check.message.contains(TEXT) {
            let span = check.source.span;
            let text = sources.text(span.file);
            let text = quoted(text, span.start as usize, span.end as usize);
            let text = text.unwrap_or_else(|| format!("line {}", check.source.line));
            check.message = check.message.replace(TEXT, &text);
        }
    }
}

/// The most characters of a piece of C in a message.
const QUOTED: usize = 60;

/// A piece of C on one line, with the parentheses of its first and last operands, and the arguments
/// of a macro; a long one is cut. Nothing if it is a part of something else, as the places of macro
/// arguments can be.
fn quoted(text: &str, start: usize, end: usize) -> Option<String> {
    let piece = text.get(start..end).filter(|piece| !piece.is_empty())?;
    let (before, after) = (&text[..start], &text[end..]);
    let mut open = 0usize;
    let mut unopened = 0usize;
    for c in piece.chars() {
        match c {
            '(' | '[' => open += 1,
            ')' | ']' if open == 0 => unopened += 1,
            ')' | ']' => open -= 1,
            _ => {}
        }
    }
    let mut start = start;
    for c in before.chars().rev() {
        match c {
            _ if unopened == 0 => break,
            '(' | '[' => unopened -= 1,
            _ if c.is_whitespace() => {}
            _ => return None,
        }
        start -= c.len_utf8();
    }
    let is_name = piece.chars().all(|c| c.is_alphanumeric() || c == '_');
    let called = is_name && after.starts_with('(');
    let mut end = end;
    for (at, c) in after.chars().enumerate() {
        match c {
            _ if open == 0 && !(called && at == 0) => break,
            '(' | '[' if called => open += 1,
            ')' | ']' => open -= 1,
            _ if called && at < LARGEST_CALL || c.is_whitespace() => {}
            _ => return None,
        }
        end += c.len_utf8();
    }
    if open > 0 || unopened > 0 {
        return None;
    }
    let words: Vec<&str> = text[start..end].split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(QUOTED) {
        Some((cut, _)) => Some(format!("{} …", line[..cut].trim_end())),
        None => Some(line),
    }
}

/// Where the arguments of a macro are longer than this, they are not looked at.
const LARGEST_CALL: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    /// The piece of a text between two bars.
    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let (before, rest) = text.split_once('|').unwrap();
        let (piece, after) = rest.split_once('|').unwrap();
        let whole = format!("{before}{piece}{after}");
        let end = before.len() + piece.len();
        assert_eq!(quoted(&whole, before.len(), end).as_deref(), expected);
    }

    #[test]
    fn operands_keep_their_parentheses() {
        check("r = |n * (m - 1|);", Some("n * (m - 1)"));
        check("r = (|n + 1) * (m - 1| ) ;", Some("(n + 1) * (m - 1 )"));
        check("r = a[(|n + 1) * 2|];", Some("(n + 1) * 2"));
    }

    #[test]
    fn a_macro_is_shown_with_its_arguments() {
        check("r = |GET|(p, (q)) + 1;", Some("GET(p, (q))"));
        check("r = |x| + 1;", Some("x"));
    }

    #[test]
    fn a_piece_of_something_else_is_not_shown() {
        check("f(a, |b) + c|);", None);
        check("f(|(a|, b);", None);
    }

    #[test]
    fn long_pieces_are_cut() {
        let long = format!("|{} + 1|", "abcdefghi ".repeat(10).trim_end());
        let expected = format!("{} …", "abcdefghi ".repeat(6).trim_end());
        check(&long, Some(&expected));
    }
}
