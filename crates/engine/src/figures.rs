//! Numbers with names: what engines say of their progress and of their cost.

use num_bigint::BigUint;
use std::fmt;

/// A number with what it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What is counted, as a user reads it after the number: `rounds`, `Horn queries`.
    pub name: &'static str,
    /// The number.
    pub value: Value,
}

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// So many.
    Count(u64),
    /// So many, where that can be more than a machine word holds.
    Big(BigUint),
    /// A part of the whole, between 0 and 1.
    Share(f64),
    /// Whether.
    Flag(bool),
}

impl Figure {
    /// So many.
    pub fn count(name: &'static str, count: u64) -> Figure {
        let value = Value::Count(count);
        Figure { name, value }
    }

    /// So many, where that can be more than a machine word holds.
    pub fn big(name: &'static str, count: BigUint) -> Figure {
        let value = Value::Big(count);
        Figure { name, value }
    }

    /// A part of the whole, between 0 and 1.
    pub fn share(name: &'static str, share: f64) -> Figure {
        let value = Value::Share(share);
        Figure { name, value }
    }

    /// Whether.
    pub fn flag(name: &'static str, flag: bool) -> Figure {
        let value = Value::Flag(flag);
        Figure { name, value }
    }

    /// The name as machines like it: `horn_queries`.
    pub fn key(&self) -> String {
        self.name.to_lowercase().replace(' ', "_")
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Count(count) => write!(f, "{count}"),
            Value::Big(count) => write!(f, "{count}"),
            Value::Share(share) => write!(f, "{:.1}%", share * 100.0),
            Value::Flag(flag) => f.write_str(if *flag { "with" } else { "without" }),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.value, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_text() {
        let big = BigUint::from(u64::MAX) + 1u32;
        for (figure, text, key) in [
            (Figure::count("rounds", 3), "3 rounds", "rounds"),
            (
                Figure::count("Horn queries", 0),
                "0 Horn queries",
                "horn_queries",
            ),
            (
                Figure::big("paths", big),
                "18446744073709551616 paths",
                "paths",
            ),
            (Figure::share("covered", 1.0), "100.0% covered", "covered"),
            (
                Figure::flag("exact search", false),
                "without exact search",
                "exact_search",
            ),
        ] {
            assert_eq!(figure.to_string(), text);
            assert_eq!(figure.key(), key);
        }
    }
}
