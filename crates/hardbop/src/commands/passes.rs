//! What each preparation of a program did to its size, for `hardbop check --stats`.

use hardbop_cfront::program::Program;
use hardbop_engine::{Event, Value};
use hardbop_model::passes::{inline, slice};
use hardbop_model::size::Size;
use hardbop_report::results::Figure;
use serde_json::json;

/// What one pass did.
#[derive(Clone, Debug)]
pub struct Passed {
    pass: &'static str,
    before: Size,
    after: Size,
}

impl Passed {
    /// What inlining made of a program.
    pub fn inlining(program: &Program, inlined: &Program) -> Passed {
        Passed {
            pass: inline::PASS.name,
            before: Size::of(program),
            after: Size::of(inlined),
        }
    }

    /// What slicing left of a program, if an event tells of that.
    pub fn slicing(event: &Event) -> Option<Passed> {
        let count = |name: &str| {
            let mut figures = event.figures.iter();
            match figures.find(|figure| figure.name == name)?.value {
                Value::Count(count) => usize::try_from(count).ok(),
                _ => None,
            }
        };
        Some(Passed {
            pass: slice::PASS.name,
            before: Size {
                statements: count("statements")?,
                variables: count("variables")?,
                procedures: count("procedures")?,
            },
            after: Size {
                statements: count("statements left")?,
                variables: count("variables left")?,
                procedures: count("procedures left")?,
            },
        })
    }
}

/// What some passes did, as one figure; `None` if there were none.
pub fn figure(passed: &[Passed]) -> Option<Figure> {
    if passed.is_empty() {
        return None;
    }
    let text = |passed: &Passed| {
        let Passed {
            pass,
            before,
            after,
        } = passed;
        format!(
            "{pass}: {} to {} statements, {} to {} variables, {} to {} procedures",
            before.statements,
            after.statements,
            before.variables,
            after.variables,
            before.procedures,
            after.procedures
        )
    };
    let value = |passed: &Passed| {
        json!({
            "pass": passed.pass,
            "statements": [passed.before.statements, passed.after.statements],
            "variables": [passed.before.variables, passed.after.variables],
            "procedures": [passed.before.procedures, passed.after.procedures],
        })
    };
    let texts: Vec<String> = passed.iter().map(text).collect();
    Some(Figure {
        key: "passes".to_owned(),
        text: texts.join("; "),
        value: passed.iter().map(value).collect(),
    })
}
