//! The words of a rule.

use crate::ast::{Signedness, Width};
use hardbop_diagnostics::{Diagnostic, FileId, Span};

/// A word with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// A kind of word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or a keyword.
    Word(String),
    /// An integer or character constant, with the least type that its suffix allows.
    Number(u128, Width, Signedness),
    /// A string, without its quotes and escapes.
    Text(String),
    /// `$` and what follows it.
    Dollar(String),
    /// An operator or a bracket.
    Mark(&'static str),
    /// The end of the text.
    End,
}

/// Longer marks stand before their beginnings.
const MARKS: [&str; 46] = [
    "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=",
    "*=", "/=", "%=", "&=", "|=", "^=", "{", "}", "(", ")", "[", "]", ";", ",", ".", "=", "+", "-",
    "*", "/", "%", "<", ">", "!", "~", "&", "|", "^", "?", ":", "#",
];

/// Splits a text into words; the last one is the end.
pub(crate) fn lex(file: FileId, text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer {
        file,
        text,
        at: 0,
        tokens: Vec::new(),
        diagnostics: Vec::new(),
    };
    while lexer.step() {}
    let end = lexer.span(text.len());
    lexer.tokens.push(Token {
        kind: TokenKind::End,
        span: Span::new(file, end.end, end.end),
    });
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Lexer<'a> {
    /// The range from a place up to where we are.
    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start as u32, self.at.max(start) as u32)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, start: usize, kind: TokenKind) {
        let span = self.span(start);
        self.tokens.push(Token { kind, span });
    }

    fn error(&mut self, start: usize, message: impl Into<String>, label: &str) {
        let span = self.span(start);
        self.diagnostics
            .push(Diagnostic::error(span, message).label(label));
    }

    /// Takes the characters that fit.
    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn step(&mut self) -> bool {
        self.take(char::is_whitespace);
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return false;
        };
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if rest.starts_with("//") {
            self.take(|c| c != '\n');
        } else if let Some(comment) = rest.strip_prefix("/*") {
            match comment.find("*/") {
                Some(length) => self.at += length + 4,
                None => {
                    self.at += 2;
                    self.error(start, "the comment does not end", "expected `*/`");
                    self.at = self.text.len();
                }
            }
        } else if first.is_ascii_digit() {
            let text = self.take(word);
            self.number(start, text);
        } else if word(first) {
            let text = self.take(word).to_owned();
            self.push(start, TokenKind::Word(text));
        } else if first == '$' {
            self.at += 1;
            let text = self.take(word).to_owned();
            self.push(start, TokenKind::Dollar(text));
        } else if first == '"' {
            self.string(start);
        } else if first == '\'' {
            self.character(start);
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            self.at += mark.len();
            self.push(start, TokenKind::Mark(mark));
        } else {
            self.at += first.len_utf8();
            let shown = first.escape_debug();
            self.error(start, format!("`{shown}` has no meaning in a rule"), "");
        }
        true
    }

    fn number(&mut self, start: usize, text: &str) {
        let lower = text.to_ascii_lowercase();
        let digits = lower.trim_end_matches(['u', 'l']);
        let suffix = &lower[digits.len()..];
        let (radix, body) = match digits.get(..2) {
            Some("0x") => (16, &digits[2..]),
            Some("0b") => (2, &digits[2..]),
            _ if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
            _ => (10, digits),
        };
        let value = u128::from_str_radix(body, radix).ok();
        let value = value.filter(|&value| value <= u128::from(u64::MAX));
        let Some(value) = value else {
            self.error(
                start,
                format!("`{text}` is not an integer constant"),
                "expected a number of at most 64 bits, such as 3 or 0x1f",
            );
            self.push(start, TokenKind::Number(0, Width::Int, Signedness::Signed));
            return;
        };
        let sign = if suffix.contains('u') || value > i64::MAX as u128 {
            Signedness::Unsigned
        } else {
            Signedness::Signed
        };
        let small = match sign {
            Signedness::Signed => i32::MAX as u128,
            Signedness::Unsigned => u128::from(u32::MAX),
        };
        let width = if suffix.contains("ll") || value > small {
            Width::LongLong
        } else if suffix.contains('l') {
            Width::Long
        } else {
            Width::Int
        };
        self.push(start, TokenKind::Number(value, width, sign));
    }

    /// The character after a backslash, and the length of what spells it.
    fn escape(rest: &str) -> Option<char> {
        Some(match rest.chars().next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            c @ ('\\' | '\'' | '"') => c,
            _ => return None,
        })
    }

    fn string(&mut self, start: usize) {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            match rest.chars().next() {
                None | Some('\n') => {
                    self.error(start, "the string does not end", "expected `\"`");
                    break;
                }
                Some('"') => {
                    self.at += 1;
                    break;
                }
                Some('\\') => {
                    let from = self.at;
                    self.at += 1;
                    match Lexer::escape(self.rest()) {
                        Some(c) => {
                            text.push(c);
                            self.at += 1;
                        }
                        None => self.error(from, "unknown escape in a string", ""),
                    }
                }
                Some(c) => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        self.push(start, TokenKind::Text(text));
    }

    fn character(&mut self, start: usize) {
        self.at += 1;
        let rest = self.rest();
        let (value, length) = match rest.strip_prefix('\\') {
            Some(after) => (Lexer::escape(after), 2),
            None => {
                let first = rest.chars().next().filter(|c| c.is_ascii() && *c != '\n');
                (first, 1)
            }
        };
        let closed = rest
            .get(length..)
            .is_some_and(|rest| rest.starts_with('\''));
        match value {
            Some(c) if closed => {
                self.at += length + 1;
                let kind = TokenKind::Number(c as u128, Width::Int, Signedness::Signed);
                self.push(start, kind);
            }
            _ => self.error(
                start,
                "not a character constant",
                "expected one such as 'a'",
            ),
        }
    }
}
