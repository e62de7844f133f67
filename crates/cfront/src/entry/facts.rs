//! What users say of the arguments of an entry: `buf is readable for len`, `s is a string`,
//! `p is not null`, or any condition in C.

use std::fmt;

/// What is known of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// What a parameter points to.
    Shape {
        /// The parameter.
        name: String,
        shape: Shape,
        null: Null,
    },
    /// A condition in C that holds when the function is called.
    Condition(String),
}

/// What a pointer points to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Shape {
    /// What its type suggests.
    #[default]
    Auto,
    /// One object.
    One,
    /// So many elements, in C; any number if nobody says.
    Array(Option<String>),
    /// Characters and a zero behind them.
    Text,
}

/// Whether a pointer may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Null {
    /// It may.
    Maybe,
    /// It may not.
    Never,
}

impl Fact {
    /// Reads what a user says. What does not speak of what an argument is, is a condition.
    pub(super) fn read(text: &str) -> Result<Fact, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("nothing is said".to_owned());
        }
        let Some((name, said)) = text.split_once(" is ") else {
            return Ok(Fact::Condition(text.to_owned()));
        };
        let (said, null) = match said.trim().strip_suffix("or null") {
            Some(said) => (said.trim(), Null::Maybe),
            None => (said.trim(), Null::Never),
        };
        let shape = match said {
            "not null" => Shape::Auto,
            "a string" => Shape::Text,
            "one object" => Shape::One,
            "an array" => Shape::Array(None),
            _ => match said.strip_prefix("readable for ") {
                Some(count) => Shape::Array(Some(count.trim().to_owned())),
                None => {
                    return Err(format!(
                        "it is not known what `is {said}` says; `is not null`, `is a string`, `is \
                         one object`, `is an array` and `is readable for LENGTH` are, each with \
                         `or null` behind it, and conditions in C like `n > 0`"
                    ));
                }
            },
        };
        let name = name.trim().to_owned();
        Ok(Fact::Shape { name, shape, null })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Auto | Shape::One => f.write_str("an object of its own, as are those that it points to, of which two may be one, and behind which all pointers are null"),
            Shape::Array(None) => f.write_str("an array of any length"),
            Shape::Array(Some(count)) => write!(f, "readable for {count}"),
            Shape::Text => f.write_str("a string of any length"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> (String, Shape, Null) {
        match Fact::read(text) {
            Ok(Fact::Shape { name, shape, null }) => (name, shape, null),
            other => panic!("{text} is {other:?}"),
        }
    }

    #[test]
    fn what_an_argument_is_has_a_few_words() {
        let p = || "p".to_owned();
        assert_eq!(shape("p is not null"), (p(), Shape::Auto, Null::Never));
        assert_eq!(shape(" p is a string "), (p(), Shape::Text, Null::Never));
        assert_eq!(
            shape("p is a string or null"),
            (p(), Shape::Text, Null::Maybe)
        );
        let counted = Shape::Array(Some("n + 1".to_owned()));
        assert_eq!(
            shape("p is readable for n + 1"),
            (p(), counted, Null::Never)
        );
        assert_eq!(shape("p is one object"), (p(), Shape::One, Null::Never));
        assert_eq!(
            shape("p is an array or null"),
            (p(), Shape::Array(None), Null::Maybe)
        );
    }

    #[test]
    fn everything_else_is_a_condition_or_a_mistake() {
        let condition = Fact::Condition("n > 0 && n < 9".to_owned());
        assert_eq!(Fact::read("n > 0 && n < 9"), Ok(condition));
        assert!(Fact::read("p is nice").unwrap_err().contains("is nice"));
        assert!(Fact::read("  ").is_err());
    }
}
