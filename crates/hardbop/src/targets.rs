//! The labels and assertions that one can ask about: how a user names them, and how they are
//! named to the user.

use crate::console::JsonPlace;
use crate::failure::Failure;
use hardbop_boolean_program::program::{Program, Target, TargetKind};
use hardbop_diagnostics::Sources;
use serde::Serialize;

/// At most this many labels are listed where a user asked for one that is not there.
const LISTED: usize = 10;

/// A target as JSON.
#[derive(Serialize)]
pub struct JsonTarget<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    procedure: &'a str,
    #[serde(flatten)]
    place: JsonPlace,
}

impl<'a> JsonTarget<'a> {
    /// The target's name and place.
    pub fn of(program: &'a Program, sources: &Sources, target: &'a Target) -> JsonTarget<'a> {
        let (kind, label) = match &target.kind {
            TargetKind::Label(label) => ("label", Some(label.as_str())),
            TargetKind::Assertion => ("assertion", None),
        };
        let place = JsonPlace::of(sources, target.span);
        JsonTarget {
            kind,
            label,
            procedure: procedure(program, target),
            place,
        }
    }
}

/// What a target is, in words, e.g. `label R in main`.
pub fn describe(program: &Program, target: &Target) -> String {
    let procedure = procedure(program, target);
    match &target.kind {
        TargetKind::Label(label) => format!("label {label} in {procedure}"),
        TargetKind::Assertion => format!("assertion in {procedure}"),
    }
}

/// What a user asks about.
pub struct Question<'a> {
    /// The labels that the user names: `L` for the label L of every procedure that has one,
    /// `procedure.L` for a single one.
    pub labels: &'a [String],
    /// Which assertions.
    pub assertions: Assertions,
}

/// Which assertions a user asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assertions {
    /// All of them.
    All,
    /// None if labels are named; else all of them and all labels.
    UnlessLabels,
}

/// The positions, in [`Program::targets`], of what the user asks about.
pub fn select(program: &Program, question: &Question<'_>) -> Result<Vec<usize>, Failure> {
    if question.labels.is_empty() && question.assertions == Assertions::UnlessLabels {
        return Ok((0..program.targets.len()).collect());
    }
    for name in question.labels {
        labels(program, name)?;
    }
    let wanted = |target: &Target| match target.kind {
        TargetKind::Assertion => question.assertions == Assertions::All,
        TargetKind::Label(_) => question
            .labels
            .iter()
            .any(|name| is_named(program, target, name)),
    };
    let positions = program.targets.iter().enumerate();
    Ok(positions
        .filter(|(_, target)| wanted(target))
        .map(|(position, _)| position)
        .collect())
}

/// The positions, in [`Program::targets`], of the labels of that name; at least one.
pub fn labels(program: &Program, name: &str) -> Result<Vec<usize>, Failure> {
    let targets = program.targets.iter().enumerate();
    let named = targets.filter(|(_, target)| is_named(program, target, name));
    let positions: Vec<usize> = named.map(|(position, _)| position).collect();
    if positions.is_empty() {
        Err(no_such_label(program, name))
    } else {
        Ok(positions)
    }
}

fn is_named(program: &Program, target: &Target, name: &str) -> bool {
    let TargetKind::Label(label) = &target.kind else {
        return false;
    };
    let in_procedure = || name.strip_suffix(label.as_str())?.strip_suffix('.');
    label == name || in_procedure() == Some(procedure(program, target))
}

fn procedure<'a>(program: &'a Program, target: &Target) -> &'a str {
    let id = program.vertices[target.vertex.index()].procedure;
    &program.procedures[id.index()].name
}

fn no_such_label(program: &Program, name: &str) -> Failure {
    let labels: Vec<String> = program
        .targets
        .iter()
        .filter_map(|target| match &target.kind {
            TargetKind::Label(label) => Some(format!("{}.{label}", procedure(program, target))),
            TargetKind::Assertion => None,
        })
        .collect();
    let known = match labels.as_slice() {
        [] => "the program has no labels".to_owned(),
        few if few.len() <= LISTED => format!("the labels are {}", few.join(", ")),
        many => format!(
            "the labels are {}, ... ({})",
            many[..LISTED].join(", "),
            many.len()
        ),
    };
    Failure::message(format!("there is no label `{name}`; {known}"))
}
