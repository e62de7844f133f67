//! Running a loop from one of its entry states, to see what its variables do.
//!
//! What is seen is only ever a guess; predicates made of it are proved or dropped.

use crate::system::System;
use hardbop_logic::{Assignment, Sort, TermId, Terms, Value, eval};
use num_traits::ToPrimitive;

/// A state of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The node.
    pub node: usize,
    /// The values of the variables.
    pub values: Vec<Value>,
}

/// How a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// It left the system's steps.
    Left,
    /// It was going on when looking stopped.
    GoingOn,
    /// It came back to a state that it had been in: it never leaves.
    Cycle,
    /// A value could not be computed.
    Lost,
}

/// The first states of a run from a state, under values for the rigid constants. Where several
/// steps can be taken, they take turns.
pub fn run(
    terms: &Terms,
    system: &System,
    rigid: &Assignment,
    start: Sample,
    length: usize,
) -> (Vec<Sample>, Course) {
    let mut seen = vec![start];
    let deterministic = system.steps.iter().all(|step| step.choices.is_empty());
    for turn in 0..length {
        let Some(now) = seen.last() else {
            return (seen, Course::Lost);
        };
        let assignment = assign(system, rigid, &now.values);
        let mut next = None;
        let count = system.steps.len();
        let first = if deterministic { 0 } else { turn };
        for offset in 0..count {
            let step = &system.steps[(first + offset) % count];
            if step.from != now.node || !holds(terms, step.condition, &assignment) {
                continue;
            }
            let values: Result<Vec<Value>, _> = step
                .post
                .iter()
                .map(|&post| eval(terms, post, &assignment))
                .collect();
            let Ok(values) = values else {
                return (seen, Course::Lost);
            };
            next = Some(Sample {
                node: step.to,
                values,
            });
            break;
        }
        match next {
            None => return (seen, Course::Left),
            Some(next) if deterministic && seen.contains(&next) => return (seen, Course::Cycle),
            Some(next) => seen.push(next),
        }
    }
    (seen, Course::GoingOn)
}

/// The assignment of a state.
pub fn assign(system: &System, rigid: &Assignment, values: &[Value]) -> Assignment {
    let mut assignment = rigid.clone();
    for (variable, value) in system.variables.iter().zip(values) {
        assignment.set(variable.constant, value.clone());
    }
    assignment
}

/// Whether a formula holds under an assignment.
pub fn holds(terms: &Terms, formula: TermId, assignment: &Assignment) -> bool {
    matches!(eval(terms, formula, assignment), Ok(Value::Bool(true)))
}

/// The number that a word stands for.
pub fn number(value: &Value, signed: bool) -> Option<i128> {
    match value {
        Value::BitVec(bits) if signed => bits.signed().to_i128(),
        Value::BitVec(bits) => bits.unsigned().to_i128(),
        _ => None,
    }
}

/// The positions of the variables that are words of at most 64 bits.
pub fn words(terms: &Terms, system: &System) -> Vec<usize> {
    (0..system.variables.len())
        .filter(|&at| {
            matches!(terms.sort(system.variables[at].constant), Sort::BitVec(width) if width <= 64)
        })
        .collect()
}
