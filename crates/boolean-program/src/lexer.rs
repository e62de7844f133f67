//! Text to tokens, one at a time.
//!
//! Words that only some dialects reserve (`dead`, `sync`, `choose`, ...) come out as names; the
//! parser knows them by where they stand, so that a program may still use them as names.

use crate::dialect::{Dialect, Feature, Operator};
use hardbop_diagnostics::{Diagnostic, FileId, Span};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A name: an index into the table of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Name(Symbol),
    Constant(bool),
    /// A number other than 0 and 1, as in `bool<3>`.
    Number(u32),
    Operator(Operator),
    Decl,
    Begin,
    End,
    Void,
    Bool,
    Goto,
    Return,
    Skip,
    If,
    Then,
    Else,
    Elsif,
    Fi,
    While,
    Do,
    Od,
    Not,
    Star,
    QuestionMark,
    Tick,
    Assign,
    Semicolon,
    Colon,
    Comma,
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    Less,
    Greater,
    EndOfText,
}

/// A token and its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    pub token: Token,
    pub start: u32,
    pub end: u32,
}

/// A comment's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its first byte, that of `//` or `/*`.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
}

/// Names are short and come again and again: eight bytes at a time are hashed by a multiplication.
#[derive(Clone, Copy, Debug, Default)]
struct NameHasher(u64);

impl NameHasher {
    fn add(&mut self, word: u64) {
        let mixed = u128::from(self.0 ^ word ^ 0xF39C_C060_5CED_C835) * 0x9E37_79B9_7F4A_7C15;
        self.0 = (mixed as u64) ^ ((mixed >> 64) as u64);
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.add(u64::from(value) + (1 << 32));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(crate) struct Lexer<'t> {
    text: &'t str,
    file: FileId,
    dialect: Dialect,
    position: usize,
    symbols: HashMap<&'t str, Symbol, BuildHasherDefault<NameHasher>>,
    /// The symbols of names of one letter, which are the most frequent ones.
    letters: [Option<Symbol>; 128],
    pub names: Vec<&'t str>,
    pub comments: Vec<Comment>,
    /// What went wrong since the parser last looked.
    pub problems: Vec<Problem>,
}

/// What the lexer has to report.
pub(crate) enum Problem {
    Error(Diagnostic),
    Uses(Feature, Span),
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str, file: FileId, dialect: Dialect) -> Lexer<'t> {
        Lexer {
            text,
            file,
            dialect,
            position: 0,
            symbols: HashMap::default(),
            letters: [None; 128],
            names: Vec::new(),
            comments: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// From here on there is nothing but the end of the text.
    pub fn stop(&mut self) {
        self.position = self.text.len();
        self.problems.clear();
    }

    pub fn next(&mut self) -> Lexeme {
        loop {
            self.skip_blanks_and_comments();
            let start = self.position;
            let Some(&first) = self.text.as_bytes().get(start) else {
                return Lexeme {
                    token: Token::EndOfText,
                    start: start as u32,
                    end: start as u32,
                };
            };
            if let Some(token) = self.token(first) {
                return Lexeme {
                    token,
                    start: start as u32,
                    end: self.position as u32,
                };
            }
        }
    }

    fn token(&mut self, first: u8) -> Option<Token> {
        let start = self.position;
        let rest = &self.text.as_bytes()[start..];
        let is = |text: &[u8]| rest.starts_with(text);
        let (token, length) = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => return Some(self.word()),
            b'0'..=b'9' => return Some(self.number()),
            b'{' => return self.braced(),
            b':' if is(b":=") => (Token::Assign, 2),
            b':' => (Token::Colon, 1),
            b';' => (Token::Semicolon, 1),
            b',' => (Token::Comma, 1),
            b'(' => (Token::Open, 1),
            b')' => (Token::Close, 1),
            b'[' => (Token::OpenBracket, 1),
            b']' => (Token::CloseBracket, 1),
            b'*' => (Token::Star, 1),
            b'?' => (Token::QuestionMark, 1),
            b'\'' => (Token::Tick, 1),
            b'^' => (Token::Operator(Operator::Xor), 1),
            b'&' if is(b"&&") => self.doubled(Operator::And),
            b'&' => (Token::Operator(Operator::And), 1),
            b'|' if is(b"||") => self.doubled(Operator::Or),
            b'|' => (Token::Operator(Operator::Or), 1),
            b'!' if is(b"!=") => (Token::Operator(Operator::NotEqual), 2),
            b'!' => (Token::Not, 1),
            b'~' => {
                self.uses(Feature::Tilde, start, start + 1);
                (Token::Not, 1)
            }
            b'=' if is(b"=>") => (Token::Operator(Operator::Implies), 2),
            b'=' if is(b"==") => {
                self.uses(Feature::EqualsEquals, start, start + 2);
                (Token::Operator(Operator::Equal), 2)
            }
            b'=' => (Token::Operator(Operator::Equal), 1),
            b'<' if is(b"<=>") => {
                self.uses(Feature::Equivalence, start, start + 3);
                (Token::Operator(Operator::Equivalent), 3)
            }
            b'<' => (Token::Less, 1),
            b'>' => (Token::Greater, 1),
            _ => {
                self.unexpected_characters();
                return None;
            }
        };
        self.position += length;
        Some(token)
    }

    fn doubled(&mut self, operator: Operator) -> (Token, usize) {
        self.uses(Feature::DoubledOperator, self.position, self.position + 2);
        (Token::Operator(operator), 2)
    }

    /// A run of characters that no token starts with is one error, not one for each.
    fn unexpected_characters(&mut self) {
        let start = self.position;
        let known = |c: char| {
            c.is_ascii_alphanumeric()
                || c.is_ascii_whitespace()
                || "_${:;,()[]*?'^&|!~=<>/".contains(c)
        };
        let length = self.text[start..]
            .find(known)
            .unwrap_or(self.text.len() - start);
        // A `/` that starts no comment is unexpected and yet in the list above.
        let length = length.max(1);
        self.position = start + length;
        let first = self.text[start..].chars().next().unwrap_or(' ');
        let shown = if first.is_control() {
            format!("unexpected control character U+{:04X}", first as u32)
        } else {
            format!("unexpected character `{first}`")
        };
        let span = self.span(start, start + length);
        self.problems.push(Problem::Error(
            Diagnostic::error(span, shown).label("no token starts like this"),
        ));
    }

    fn word(&mut self) -> Token {
        let bytes = self.text.as_bytes();
        let start = self.position;
        let mut end = start;
        let mut special = false;
        while let Some(&b) = bytes.get(end) {
            match b {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => {}
                b'$' | b'#' | b'-' => special = true,
                _ => break,
            }
            end += 1;
        }
        self.position = end;
        if special {
            self.uses(Feature::SpecialName, start, end);
        }
        let text = &self.text[start..end];
        // Keywords have two to six letters, small ones; two constants have one.
        let keyword = matches!(text.len(), 2..=6) && bytes[start].is_ascii_lowercase();
        if !keyword && !matches!(text, "T" | "F") {
            return Token::Name(self.intern(text));
        }
        match text {
            "decl" => Token::Decl,
            "begin" => Token::Begin,
            "end" => Token::End,
            "void" => Token::Void,
            "bool" => Token::Bool,
            "goto" => Token::Goto,
            "return" => Token::Return,
            "skip" => Token::Skip,
            "if" => Token::If,
            "then" => Token::Then,
            "else" => Token::Else,
            "elsif" => Token::Elsif,
            "fi" => Token::Fi,
            "while" => Token::While,
            "do" => Token::Do,
            "od" => Token::Od,
            "T" if self.dialect.has_letter_constants() => Token::Constant(true),
            "F" if self.dialect.has_letter_constants() => Token::Constant(false),
            _ => Token::Name(self.intern(text)),
        }
    }

    fn number(&mut self) -> Token {
        let start = self.position;
        let digits = self.text[start..]
            .bytes()
            .take_while(u8::is_ascii_digit)
            .count();
        self.position += digits;
        match &self.text[start..start + digits] {
            "0" => Token::Constant(false),
            "1" => Token::Constant(true),
            digits => Token::Number(digits.parse().unwrap_or(u32::MAX)),
        }
    }

    /// `{any string}`: a name. It ends on its line, so that a forgotten `}` does not swallow the
    /// rest of the program.
    fn braced(&mut self) -> Option<Token> {
        let start = self.position;
        let inside = start + 1;
        let length = self.text[inside..].find(['}', '\n', '\r']);
        let end = inside + length.unwrap_or(self.text.len() - inside);
        let closed = self.text.as_bytes().get(end) == Some(&b'}');
        self.position = if closed { end + 1 } else { end };
        let span = self.span(start, self.position);
        if !closed {
            self.problems.push(Problem::Error(
                Diagnostic::error(span, "unterminated name in braces").label("expected `}`"),
            ));
        }
        let name = self.text[inside..end].trim();
        if name.is_empty() && closed {
            self.problems.push(Problem::Error(
                Diagnostic::error(span, "empty name in braces").label("expected a name"),
            ));
        }
        self.uses(Feature::BracedName, start, self.position);
        Some(Token::Name(self.intern(name)))
    }

    pub fn text(&self, lexeme: Lexeme) -> &'t str {
        &self.text[lexeme.start as usize..lexeme.end as usize]
    }

    fn intern(&mut self, text: &'t str) -> Symbol {
        let letter = match text.as_bytes() {
            [letter] => self.letters.get_mut(usize::from(*letter)),
            _ => None,
        };
        if let Some(Some(known)) = letter {
            return *known;
        }
        let names = &mut self.names;
        let symbol = *self.symbols.entry(text).or_insert_with(|| {
            names.push(text);
            Symbol(names.len() as u32 - 1)
        });
        if let Some(letter) = letter {
            *letter = Some(symbol);
        }
        symbol
    }

    fn skip_blanks_and_comments(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.position) {
                Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) => self.position += 1,
                Some(b'/') => match bytes.get(self.position + 1) {
                    Some(b'/') => {
                        let rest = &self.text[self.position..];
                        let length = rest.find('\n').unwrap_or(rest.len());
                        self.comment(rest[..length].trim_end().len(), length);
                    }
                    Some(b'*') => {
                        let rest = &self.text[self.position..];
                        match rest[2..].find("*/") {
                            Some(length) => self.comment(length + 4, length + 4),
                            None => {
                                let span = self.span(self.position, self.position + 2);
                                self.problems.push(Problem::Error(
                                    Diagnostic::error(span, "unterminated comment")
                                        .label("expected `*/` before the end of the file"),
                                ));
                                self.position = self.text.len();
                            }
                        }
                    }
                    _ => return,
                },
                _ => return,
            }
        }
    }

    fn comment(&mut self, kept: usize, skipped: usize) {
        let start = self.position as u32;
        self.comments.push(Comment {
            start,
            end: start + kept as u32,
        });
        self.position += skipped;
    }

    fn uses(&mut self, feature: Feature, start: usize, end: usize) {
        if !self.dialect.has(feature) {
            let span = self.span(start, end);
            self.problems.push(Problem::Uses(feature, span));
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }
}
