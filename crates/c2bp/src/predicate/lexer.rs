//! The tokens of predicates: those of C expressions, and names that C cannot have (`$return`,
//! `t#3` for a temporary, `x@12` for the `x` declared in line 12).

use hardbop_diagnostics::{Diagnostic, FileId, Span};

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Name(String),
    /// An integer constant.
    Int(Number),
    /// A floating-point constant; the flag says whether it is a `float`.
    Float(f64, Precision),
    Sign(&'static str),
    End,
}

/// Which type a floating-point constant has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    Single,
    Double,
}

/// An integer constant with what decides its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub value: u64,
    pub base: u32,
    pub unsigned: bool,
    pub long: bool,
    pub character: bool,
}

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    pub span: Span,
}

/// Longer ones first, so that the first that fits is the right one.
const SIGNS: [&str; 45] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "^=", "|=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!",
    "<", ">", "=", "(", ")", "[", "]", "?", ":", ",", ".", ";", "{",
];

/// The tokens of a part of a file, with an [`Kind::End`] after the last one.
pub(super) fn tokens(
    file: FileId,
    text: &str,
    range: std::ops::Range<usize>,
) -> Result<Vec<Token>, Diagnostic> {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = range.start;
    let span = |from: usize, to: usize| Span::new(file, from as u32, to as u32);
    while at < range.end {
        let start = at;
        let byte = bytes[at];
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => {
                at += 1;
                while at < range.end && is_word(bytes[at]) {
                    at += 1;
                }
                if at + 1 < range.end
                    && matches!(bytes[at], b'#' | b'@')
                    && bytes[at + 1].is_ascii_digit()
                {
                    at += 1;
                    while at < range.end && bytes[at].is_ascii_digit() {
                        at += 1;
                    }
                }
                let name = text[start..at].to_owned();
                out.push(Token {
                    kind: Kind::Name(name),
                    span: span(start, at),
                });
            }
            b'0'..=b'9' => {
                while at < range.end && (is_word(bytes[at]) || bytes[at] == b'.') {
                    let exponent = matches!(bytes[at], b'e' | b'E')
                        && !text[start..at].starts_with("0x")
                        && !text[start..at].starts_with("0X");
                    at += 1;
                    if exponent && at < range.end && matches!(bytes[at], b'+' | b'-') {
                        at += 1;
                    }
                }
                let kind = number(&text[start..at]).ok_or_else(|| {
                    Diagnostic::error(span(start, at), "this is not a number of C")
                        .label("expected a constant such as 10, 0x1f, 7UL or 'a'")
                })?;
                out.push(Token {
                    kind,
                    span: span(start, at),
                });
            }
            b'\'' => {
                let (value, end) = character(bytes, at, range.end).ok_or_else(|| {
                    Diagnostic::error(span(start, start + 1), "this is not a character constant")
                        .label("expected one character between quotes")
                })?;
                at = end;
                let value = Number {
                    value,
                    base: 10,
                    unsigned: false,
                    long: false,
                    character: true,
                };
                out.push(Token {
                    kind: Kind::Int(value),
                    span: span(start, at),
                });
            }
            b'"' => {
                return Err(Diagnostic::error(
                    span(start, start + 1),
                    "a predicate cannot have string literals",
                ));
            }
            _ => {
                let rest = &text[at..range.end];
                let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) else {
                    let width = rest.chars().next().map_or(1, char::len_utf8);
                    return Err(Diagnostic::error(
                        span(start, start + width),
                        "this character has no place in a predicate",
                    ));
                };
                at += sign.len();
                out.push(Token {
                    kind: Kind::Sign(sign),
                    span: span(start, at),
                });
            }
        }
    }
    out.push(Token {
        kind: Kind::End,
        span: span(range.end, range.end),
    });
    Ok(out)
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

fn number(text: &str) -> Option<Kind> {
    let lower = text.to_ascii_lowercase();
    let hexadecimal = lower.starts_with("0x");
    if !hexadecimal && (lower.contains('.') || lower.contains('e')) {
        let (digits, precision) = match lower.strip_suffix('f') {
            Some(digits) => (digits, Precision::Single),
            None => (lower.as_str(), Precision::Double),
        };
        return digits
            .parse()
            .ok()
            .map(|value| Kind::Float(value, precision));
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    if !matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu") {
        return None;
    }
    let (digits, base) = if let Some(rest) = digits.strip_prefix("0x") {
        (rest, 16)
    } else if let Some(rest) = digits.strip_prefix("0b") {
        (rest, 2)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (&digits[1..], 8)
    } else {
        (digits, 10)
    };
    let value = u64::from_str_radix(digits, base).ok()?;
    Some(Kind::Int(Number {
        value,
        base,
        unsigned: suffix.contains('u'),
        long: suffix.contains('l'),
        character: false,
    }))
}

/// The value of the character constant that starts at a quote, and where it ends.
fn character(bytes: &[u8], start: usize, end: usize) -> Option<(u64, usize)> {
    let mut at = start + 1;
    let byte = *bytes[..end].get(at)?;
    at += 1;
    let value = match byte {
        b'\'' => return None,
        b'\\' => {
            let escaped = *bytes[..end].get(at)?;
            at += 1;
            match escaped {
                b'n' => 10,
                b't' => 9,
                b'r' => 13,
                b'a' => 7,
                b'b' => 8,
                b'f' => 12,
                b'v' => 11,
                b'\\' | b'\'' | b'"' | b'?' => u64::from(escaped),
                b'0'..=b'7' => {
                    let mut value = u64::from(escaped - b'0');
                    for _ in 0..2 {
                        match bytes[..end].get(at) {
                            Some(&digit @ b'0'..=b'7') => {
                                value = value * 8 + u64::from(digit - b'0');
                                at += 1;
                            }
                            _ => break,
                        }
                    }
                    value & 0xff
                }
                b'x' => {
                    let mut value = 0u64;
                    let first = at;
                    while let Some(digit) =
                        bytes[..end].get(at).and_then(|&b| (b as char).to_digit(16))
                    {
                        value = (value * 16 + u64::from(digit)) & 0xff;
                        at += 1;
                    }
                    if at == first {
                        return None;
                    }
                    value
                }
                _ => return None,
            }
        }
        0x80.. => return None,
        _ => u64::from(byte),
    };
    if bytes[..end].get(at) != Some(&b'\'') {
        return None;
    }
    // `char` is signed: '\xff' is -1.
    Some((i64::from(value as u8 as i8) as u64, at + 1))
}
