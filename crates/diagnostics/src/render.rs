//! Diagnostics as text: a headline, the place, the source line and a caret under it.

use crate::{Diagnostic, Severity, Sources, Span};
use std::fmt::Write;

/// Whether to use terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text only.
    Plain,
    /// ANSI colours.
    Colour,
}

/// At most this many characters of a source line are shown, around the place that matters:
/// machine-made files have lines of megabytes.
const WINDOW: usize = 100;

/// The message as text, ending in a newline.
pub fn render(diagnostic: &Diagnostic, sources: &Sources, style: Style) -> String {
    let (word, colour) = match diagnostic.severity {
        Severity::Warning => ("warning", "33"),
        Severity::Error => ("error", "31"),
    };
    let mut out = String::new();
    let head = paint(style, &format!("1;{colour}"), word);
    let _ = writeln!(out, "{head}: {}", paint(style, "1", &diagnostic.message));
    if let Some(span) = diagnostic.span {
        excerpt(&mut out, sources, span, &diagnostic.label, style, colour);
    }
    for (span, text) in &diagnostic.notes {
        let _ = writeln!(out, "{}: {text}", paint(style, "1;36", "note"));
        if let Some(span) = span {
            excerpt(&mut out, sources, *span, "", style, "36");
        }
    }
    out
}

fn excerpt(
    out: &mut String,
    sources: &Sources,
    span: Span,
    label: &str,
    style: Style,
    colour: &str,
) {
    let position = sources.position(span.file, span.start);
    let line = sources.line_span(span.file, position.line);
    let text = sources.slice(line);
    let before = position.column as usize - 1;
    let marked_end = span.end.clamp(span.start, line.end.max(span.start));
    let marked = sources.text(span.file)[span.start as usize..marked_end as usize]
        .chars()
        .count();

    let skipped = if before > WINDOW / 2 && text.len() > WINDOW {
        before - WINDOW / 2
    } else {
        0
    };
    let shown: String = text
        .chars()
        .skip(skipped)
        .take(WINDOW)
        .map(printable)
        .collect();
    let cut_after = text.chars().skip(skipped).nth(WINDOW).is_some();
    let lead = if skipped > 0 { "..." } else { "" };
    let tail = if cut_after { "..." } else { "" };

    let number = position.line.to_string();
    let gutter = " ".repeat(number.len());
    let bar = paint(style, "34", "|");
    let indent = " ".repeat(lead.len() + before - skipped);
    let carets = "^".repeat(marked.clamp(1, WINDOW.saturating_sub(before - skipped).max(1)));
    let under = if label.is_empty() {
        carets
    } else {
        format!("{carets} {label}")
    };
    let _ = writeln!(
        out,
        "{gutter}{} {}:{}:{}",
        paint(style, "34", "-->"),
        sources.name(span.file),
        position.line,
        position.column
    );
    let _ = writeln!(out, "{gutter} {bar}");
    let _ = writeln!(
        out,
        "{} {bar} {lead}{shown}{tail}",
        paint(style, "34", &number)
    );
    let _ = writeln!(
        out,
        "{gutter} {bar} {indent}{}",
        paint(style, colour, &under)
    );
}

/// A tab is one column in our counting, so it is shown as one space; control characters would
/// disturb the terminal.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

fn paint(style: Style, code: &str, text: &str) -> String {
    match style {
        Style::Plain => text.to_owned(),
        Style::Colour => format!("\x1b[{code}m{text}\x1b[0m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileId;

    #[test]
    fn shows_the_line_and_a_caret() {
        let mut sources = Sources::new();
        let file = sources.add("a.bp", "begin\n  x := y\nend\n");
        let diagnostic = Diagnostic::error(Span::new(file, 13, 14), "unknown variable `y`")
            .label("not declared")
            .note(Some(Span::new(file, 0, 5)), "in this procedure");
        assert_eq!(
            render(&diagnostic, &sources, Style::Plain),
            "\
error: unknown variable `y`
 --> a.bp:2:8
  |
2 |   x := y
  |        ^ not declared
note: in this procedure
 --> a.bp:1:1
  |
1 | begin
  | ^^^^^
"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let mut sources = Sources::new();
        let file = sources.add(
            "a.c",
            format!("{}!{}", "a".repeat(100_000), "b".repeat(100_000)),
        );
        let text = render(
            &Diagnostic::error(Span::new(file, 100_000, 100_001), "bad"),
            &sources,
            Style::Plain,
        );
        assert!(text.contains("a.c:1:100001"));
        assert!(text.len() < 500, "{text}");
        assert_eq!(
            text.lines().nth(3).unwrap().find('!'),
            text.lines().nth(4).unwrap().find('^')
        );
    }

    #[test]
    fn the_end_of_the_text_is_a_place() {
        let mut sources = Sources::new();
        let file = sources.add("a.c", "x");
        let text = render(
            &Diagnostic::error(Span::new(FileId(0), 1, 1), "e"),
            &sources,
            Style::Plain,
        );
        assert_eq!(file, FileId(0));
        assert!(text.ends_with("1 | x\n  |  ^\n"), "{text}");
    }
}
