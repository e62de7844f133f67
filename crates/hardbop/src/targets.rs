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
        JsonTarget { kind, label, procedure: procedure(program, target), place }
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

/// The positions, in [`Program::targets`], of the labels that the user names: `L` for the label L
/// of every procedure that has one, `procedure.L` for a single one. All targets, if no label is
/// named.
pub fn select(program: &Program, names: &[String]) -> Result<Vec<usize>, Failure> {
    let mut selected = Vec::new();
    for name in names {
        let before = selected.len();
        selected.extend(program.targets.iter().enumerate().filter_map(|(position, target)| {
            let TargetKind::Label(label) = &target.kind else { return None };
            let qualified = || format!("{}.{label}", procedure(program, target));
            (label == name || qualified() == *name).then_some(position)
        }));
        if selected.len() == before {
            return Err(no_such_label(program, name));
        }
    }
    if names.is_empty() {
        selected.extend(0..program.targets.len());
    }
    selected.sort_unstable();
    selected.dedup();
    Ok(selected)
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
        many => format!("the labels are {}, ... ({})", many[..LISTED].join(", "), many.len()),
    };
    Failure::message(format!("there is no label `{name}`; {known}"))
}
