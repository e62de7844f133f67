//! Inputs as a list: the environment of `--inputs 1,2,-3`.

use super::environment::{Environment, Request};
use super::scalar::{Kind, convert, mask};
use super::{Consumed, Run, float};
use crate::ids::TypeId;
use crate::types::FloatKind;
use std::fmt;

/// An input as a user writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum InputValue {
    /// A number, converted to the type that is asked for as C converts it.
    Int(i128),
    /// A decimal fraction; converted to an integer it loses its fraction.
    Float(String),
    /// The value's own bits, whatever the type.
    Bits(u128),
    /// The bytes of a range of memory, zeros after their end.
    Bytes(Vec<u8>),
}

/// What happens when a list of inputs has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// Every further input is 0.
    Zero,
    /// The run ends.
    Stop,
    /// Further inputs are made up.
    Random,
}

/// What unknown contents are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Zeros.
    Zero,
    /// Made up.
    Random,
    /// These, in the order in which they are asked for; then zeros.
    Script(Vec<Vec<u8>>),
}

/// An environment that reads from a list.
#[derive(Clone, Debug)]
pub struct Script {
    inputs: Vec<InputValue>,
    next: usize,
    exhausted: Exhausted,
    unknown: Unknown,
    next_unknown: usize,
    random: u64,
}

/// Why a list of inputs cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The part that is wrong.
    pub text: String,
    /// Its position in the list, counted from 1.
    pub position: usize,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "input {} is not a number, a character or bytes: `{}`",
            self.position, self.text
        )
    }
}

impl std::error::Error for InputError {}

impl Script {
    /// Reads these inputs; after them, and for unknown contents, zeros.
    pub fn new(inputs: Vec<InputValue>) -> Script {
        let (exhausted, unknown) = (Exhausted::Zero, Unknown::Zero);
        Script {
            inputs,
            next: 0,
            exhausted,
            unknown,
            next_unknown: 0,
            random: 0,
        }
    }

    /// Repeats a run.
    pub fn replay(run: &Run) -> Script {
        let inputs = run.inputs.iter().map(|input| match &input.value {
            Consumed::Scalar(value) => InputValue::Bits(value.bits),
            Consumed::Bytes(bytes) => InputValue::Bytes(bytes.clone()),
        });
        Script::new(inputs.collect()).unknown(Unknown::Script(run.unknowns.clone()))
    }

    /// The same list, with another way to go on after its end.
    pub fn exhausted(mut self, exhausted: Exhausted) -> Script {
        self.exhausted = exhausted;
        self
    }

    /// The same list, with other unknown contents.
    pub fn unknown(mut self, unknown: Unknown) -> Script {
        self.unknown = unknown;
        self
    }

    /// The same list, with a seed for what is made up.
    pub fn seed(mut self, seed: u64) -> Script {
        self.random = seed;
        self
    }

    fn value(&mut self) -> Option<InputValue> {
        let value = self.inputs.get(self.next).cloned();
        self.next += 1;
        value.or_else(|| match self.exhausted {
            Exhausted::Zero => Some(InputValue::Int(0)),
            Exhausted::Stop => None,
            Exhausted::Random => Some(InputValue::Bits(self.interesting())),
        })
    }

    /// SplitMix64.
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Random bits, small numbers more often than large ones.
    fn interesting(&mut self) -> u128 {
        let bits = u128::from(self.random()) | u128::from(self.random()) << 64;
        match self.random() % 4 {
            0 => bits & 7,
            1 => (bits & 0xff).wrapping_sub(128),
            _ => bits,
        }
    }
}

impl Environment for Script {
    fn input(&mut self, request: Request<'_>, ty: TypeId) -> Option<u128> {
        let to = Kind::of(&request.program.types, ty)?;
        Some(match self.value()? {
            InputValue::Int(n) => {
                let from = Kind::Int {
                    width: 128,
                    signed: true,
                };
                convert(from, to, n as u128)
            }
            InputValue::Float(text) => {
                let kind = match to {
                    Kind::Float(kind) => kind,
                    _ => FloatKind::F128,
                };
                convert(Kind::Float(kind), to, float::parse(kind, &text)?)
            }
            InputValue::Bits(bits) => bits & mask(to.width()),
            InputValue::Bytes(bytes) => bytes
                .iter()
                .take(16)
                .rev()
                .fold(0, |bits, &b| bits << 8 | u128::from(b)),
        })
    }

    fn input_bytes(&mut self, _: Request<'_>, bytes: &mut [u8]) -> bool {
        let Some(value) = self.value() else {
            return false;
        };
        match value {
            InputValue::Bytes(given) => {
                let length = given.len().min(bytes.len());
                bytes[..length].copy_from_slice(&given[..length]);
            }
            InputValue::Int(n) => {
                let length = bytes.len().min(16);
                bytes[..length].copy_from_slice(&n.to_le_bytes()[..length]);
            }
            InputValue::Bits(_) | InputValue::Float(_) => {
                bytes
                    .iter_mut()
                    .for_each(|byte| *byte = self.random() as u8);
            }
        }
        true
    }

    fn unknown(&mut self, _: Request<'_>, bytes: &mut [u8]) {
        match &self.unknown {
            Unknown::Zero => {}
            Unknown::Random => bytes
                .iter_mut()
                .for_each(|byte| *byte = self.random() as u8),
            Unknown::Script(script) => {
                if let Some(given) = script.get(self.next_unknown) {
                    let length = given.len().min(bytes.len());
                    bytes[..length].copy_from_slice(&given[..length]);
                }
                self.next_unknown += 1;
            }
        }
    }

    fn unknown_is_zero(&self) -> bool {
        match &self.unknown {
            Unknown::Zero => true,
            Unknown::Random => false,
            Unknown::Script(script) => script.is_empty(),
        }
    }
}

/// Reads a list of inputs: numbers (`-3`, `0x1F`, `0b101`, `1.5e3`), characters (`'a'`, `'\n'`)
/// and bytes (`x'00ff'`), separated by commas or white space.
pub fn parse_inputs(text: &str) -> Result<Vec<InputValue>, InputError> {
    let mut inputs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let length = item_length(rest);
        let (item, tail) = rest.split_at(length);
        let error = || InputError {
            text: item.to_string(),
            position: inputs.len() + 1,
        };
        let value = parse_input(item).ok_or_else(error)?;
        inputs.push(value);
        rest = tail.trim_start();
        if let Some(tail) = rest.strip_prefix(',') {
            rest = tail.trim_start();
            if rest.is_empty() {
                let position = inputs.len() + 1;
                return Err(InputError {
                    text: String::new(),
                    position,
                });
            }
        }
    }
    Ok(inputs)
}

/// The length of the first item; a comma or a space in quotes does not end it.
fn item_length(text: &str) -> usize {
    let mut quoted = false;
    let mut escaped = false;
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '\'' => quoted = !quoted,
            ',' if !quoted => return i,
            c if c.is_whitespace() && !quoted => return i,
            _ => {}
        }
    }
    text.len()
}

fn parse_input(item: &str) -> Option<InputValue> {
    if let Some(hex) = item.strip_prefix("x'").and_then(|s| s.strip_suffix('\'')) {
        let digits: Vec<u32> = hex.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
        let pairs = digits.chunks_exact(2);
        let whole = pairs.remainder().is_empty();
        let bytes = pairs.map(|pair| (pair[0] * 16 + pair[1]) as u8).collect();
        return whole.then_some(InputValue::Bytes(bytes));
    }
    if let Some(quoted) = item.strip_prefix('\'').and_then(|s| s.strip_suffix('\'')) {
        let mut chars = quoted.chars();
        let c = match (chars.next()?, chars.next()) {
            ('\\', Some(c)) => match c {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                '\\' | '\'' => c,
                _ => return None,
            },
            ('\\', None) | (_, Some(_)) => return None,
            (c, None) => c,
        };
        return (chars.next().is_none() && c.is_ascii()).then_some(InputValue::Int(c as i128));
    }
    let (negative, digits) = match item.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, item.strip_prefix('+').unwrap_or(item)),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, body) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        _ => (10, lower.as_str()),
    };
    if body.starts_with(['+', '-']) {
        return None;
    }
    if let Ok(magnitude) = u128::from_str_radix(body, radix) {
        return Some(match negative {
            true => InputValue::Int((magnitude as i128).wrapping_neg()),
            false => InputValue::Int(magnitude as i128),
        });
    }
    let decimal = body.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let special = matches!(body, "inf" | "infinity" | "nan");
    if radix == 10 && (decimal || special) && lower.parse::<f64>().is_ok() {
        let sign = if negative { "-" } else { "" };
        return Some(InputValue::Float(format!("{sign}{lower}")));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let shown = match parse_inputs(text) {
            Ok(values) => values
                .iter()
                .map(|v| format!("{v:?}"))
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn lists_of_inputs() {
        check("1,2,-3", expect!["Int(1) Int(2) Int(-3)"]);
        check(" 0x1F 0b101\n+7 ", expect!["Int(31) Int(5) Int(7)"]);
        check(
            "'a', ',', '\\n', x'00ff'",
            expect!["Int(97) Int(44) Int(10) Bytes([0, 255])"],
        );
        check(
            "1.5e3, -.5, -inf",
            expect![[r#"Float("1.5e3") Float("-.5") Float("-inf")"#]],
        );
        check("", expect![""]);
        check(
            "340282366920938463463374607431768211455",
            expect!["Int(-1)"],
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        check(
            "1,x",
            expect!["input 2 is not a number, a character or bytes: `x`"],
        );
        check(
            "1,,2",
            expect!["input 2 is not a number, a character or bytes: ``"],
        );
        check(
            "1,",
            expect!["input 2 is not a number, a character or bytes: ``"],
        );
        check(
            "--1",
            expect!["input 1 is not a number, a character or bytes: `--1`"],
        );
        check(
            "x'0'",
            expect!["input 1 is not a number, a character or bytes: `x'0'`"],
        );
        check(
            "'ab'",
            expect!["input 1 is not a number, a character or bytes: `'ab'`"],
        );
    }
}
