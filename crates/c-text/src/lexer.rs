//! The words of C expressions, and those that the dialects add to them.

use crate::Dialect;
use hardbop_diagnostics::{Diagnostic, FileId, Span};
use std::ops::Range;

/// A word with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// A kind of word.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// A name or a keyword.
    Word(String),
    /// An integer or character constant.
    Number(Number),
    /// A floating-point constant.
    Float(f64, Precision),
    /// A string, without its quotes and escapes.
    Text(String),
    /// `$` and what follows it.
    Dollar(String),
    /// `\` and what follows it.
    Backslash(String),
    /// An operator or a bracket.
    Mark(&'static str),
    /// The end of the text.
    End,
}

/// Which type a floating-point constant has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `float`.
    Single,
    /// `double`.
    Double,
}

/// An integer constant with what decides its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its value; that of a character is extended by its sign.
    pub value: u64,
    /// How it is written.
    pub notation: Notation,
    /// Whether its suffix makes it unsigned.
    pub unsigned: bool,
    /// How long its suffix makes it.
    pub length: Length,
}

impl Number {
    /// The constant that is written with decimal digits only.
    pub fn plain(value: u64) -> Number {
        Number {
            value,
            notation: Notation::Decimal,
            unsigned: false,
            length: Length::Plain,
        }
    }

    /// Its value as a number: that of a character may be negative.
    pub(crate) fn signed(&self) -> i128 {
        match self.notation {
            Notation::Character => i128::from(self.value as i64),
            Notation::Decimal | Notation::Other => i128::from(self.value),
        }
    }
}

/// How an integer constant is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// With decimal digits: it is never unsigned by itself.
    Decimal,
    /// With other digits.
    Other,
    /// Between quotes.
    Character,
}

/// What the suffix of an integer constant asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Length {
    /// Nothing.
    Plain,
    /// At least `long`.
    Long,
    /// `long long`.
    LongLong,
}

/// Longer marks stand before their beginnings.
const MARKS: [&str; 47] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "{", "}", "(", ")", "[", "]", ";", ",", ".", "=",
    "+", "-", "*", "/", "%", "<", ">", "!", "~", "&", "|", "^", "?", ":", "#",
];

/// Splits a part of a text into words; the last one is the end.
pub fn lex(
    dialect: Dialect,
    file: FileId,
    text: &str,
    range: Range<usize>,
) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer {
        dialect,
        file,
        text: &text[..range.end],
        at: range.start,
        tokens: Vec::new(),
        diagnostics: Vec::new(),
    };
    while lexer.step() {}
    lexer.at = range.end;
    lexer.push(range.end, TokenKind::End);
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'a> {
    dialect: Dialect,
    file: FileId,
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
}

/// Whether a character can be part of a name; GNU C lets `$` be.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
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
            self.number(start);
        } else if first == '$' {
            self.at += 1;
            let text = self.take(is_word).to_owned();
            self.push(start, TokenKind::Dollar(text));
        } else if first == '\\' && self.dialect == Dialect::Witness {
            self.at += 1;
            let text = self.take(is_word).to_owned();
            self.push(start, TokenKind::Backslash(text));
        } else if is_word(first) {
            self.word(start);
        } else if first == '"' {
            self.string(start);
        } else if first == '\'' {
            self.character(start);
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            self.at += mark.len();
            self.push(start, TokenKind::Mark(mark));
        } else {
            self.at += first.len_utf8();
            let shown = match first {
                '\\' => "\\".to_owned(),
                other => other.escape_debug().to_string(),
            };
            let noun = self.dialect.noun();
            self.error(start, format!("`{shown}` has no place in {noun}"), "");
        }
        true
    }

    fn word(&mut self, start: usize) {
        self.take(is_word);
        // A temporary, or one of several variables of a name.
        if self.dialect != Dialect::Rule
            && let Some(number) = self.rest().strip_prefix(['#', '@'])
            && number.starts_with(|c: char| c.is_ascii_digit())
        {
            self.at += 1;
            self.take(|c| c.is_ascii_digit());
        }
        let text = self.text[start..self.at].to_owned();
        self.push(start, TokenKind::Word(text));
    }

    fn number(&mut self, start: usize) {
        let rest = self.rest();
        let hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
        let mut before = ' ';
        let length = rest.find(|c: char| {
            let sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E') && !hexadecimal;
            before = c;
            !(is_word(c) || c == '.' || sign)
        });
        self.at += length.unwrap_or(rest.len());
        let text = &self.text[start..self.at];
        match number(text) {
            Some(kind) => self.push(start, kind),
            None => {
                self.error(
                    start,
                    format!("`{text}` is not a number of C"),
                    "expected a constant such as 10, 0x1f, 7UL or 'a'",
                );
                self.push(start, TokenKind::Number(Number::plain(0)));
            }
        }
    }

    fn string(&mut self, start: usize) {
        self.at += 1;
        if self.dialect != Dialect::Rule {
            let noun = self.dialect.noun();
            return self.error(start, format!("{noun} cannot have string literals"), "");
        }
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
                    match escape(&rest.as_bytes()[1..]) {
                        Some((value, length)) => {
                            text.push(char::from(value));
                            self.at += length;
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
        let bytes = self.rest().as_bytes();
        let (value, length) = match bytes.first() {
            Some(b'\\') => match escape(&bytes[1..]) {
                Some((value, length)) => (Some(value), length + 1),
                None => (None, 0),
            },
            Some(&byte) if byte.is_ascii() && byte != b'\n' && byte != b'\'' => (Some(byte), 1),
            _ => (None, 0),
        };
        match value {
            Some(value) if bytes.get(length) == Some(&b'\'') => {
                self.at += length + 1;
                // `char` is signed: '\xff' is -1.
                let value = i64::from(value as i8) as u64;
                let notation = Notation::Character;
                let number = Number {
                    notation,
                    ..Number::plain(value)
                };
                self.push(start, TokenKind::Number(number));
            }
            _ => self.error(
                start,
                "this is not a character constant",
                "expected one character between quotes, such as 'a'",
            ),
        }
    }
}

fn number(text: &str) -> Option<TokenKind> {
    let lower = text.to_ascii_lowercase();
    let hexadecimal = lower.starts_with("0x");
    if !hexadecimal && lower.contains(['.', 'e']) {
        let (digits, precision) = match lower.strip_suffix('f') {
            Some(digits) => (digits, Precision::Single),
            None => (lower.as_str(), Precision::Double),
        };
        let value = digits.parse().ok()?;
        return Some(TokenKind::Float(value, precision));
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    let (unsigned, length) = match suffix {
        "" => (false, Length::Plain),
        "u" => (true, Length::Plain),
        "l" => (false, Length::Long),
        "ul" | "lu" => (true, Length::Long),
        "ll" => (false, Length::LongLong),
        "ull" | "llu" => (true, Length::LongLong),
        _ => return None,
    };
    let (digits, base) = match digits.get(..2) {
        Some("0x") => (&digits[2..], 16),
        Some("0b") => (&digits[2..], 2),
        _ if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    // A sign is not part of a number, whatever `from_str_radix` says.
    let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let value = u64::from_str_radix(digits, base).ok().filter(|_| plain)?;
    Some(TokenKind::Number(Number {
        value,
        notation: match base {
            10 => Notation::Decimal,
            _ => Notation::Other,
        },
        unsigned,
        length,
    }))
}

/// The character that follows a backslash, and the length of what spells it.
fn escape(bytes: &[u8]) -> Option<(u8, usize)> {
    let plain = |value: u8| Some((value, 1));
    match *bytes.first()? {
        b'n' => plain(10),
        b't' => plain(9),
        b'r' => plain(13),
        b'a' => plain(7),
        b'b' => plain(8),
        b'f' => plain(12),
        b'v' => plain(11),
        byte @ (b'\\' | b'\'' | b'"' | b'?') => plain(byte),
        b'0'..=b'7' => {
            let octal = |byte: &&u8| matches!(byte, b'0'..=b'7');
            let digits = bytes.iter().take(3).take_while(octal);
            let value = digits
                .clone()
                .fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            Some((value as u8, digits.count()))
        }
        b'x' => {
            let digit = |byte: &u8| char::from(*byte).to_digit(16);
            let digits = bytes[1..].iter().map_while(digit);
            let value = digits
                .clone()
                .fold(0u32, |value, digit| (value * 16 + digit) & 0xff);
            let count = digits.count();
            (count > 0).then_some((value as u8, count + 1))
        }
        _ => None,
    }
}
