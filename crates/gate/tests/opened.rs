//! Claims about programs in which indices may leave arrays that are parts of objects.

use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::indices;
use hardbop_cfront::load::load_text;
use hardbop_cfront::program::LocationKind;
use hardbop_engine::Claim;
use hardbop_engine::claim::{Invariants, Reach};
use hardbop_gate::Gate;
use hardbop_model::{Model, Prepared};
use std::collections::{BTreeMap, BTreeSet};

const PRELUDE: &str = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);
    int state, other; struct box { char bytes[4]; char behind; int *pointer; } b;\n";

/// Claims that no check is violated since a formula holds wherever control is in `main`.
fn is_accepted(indices: Reach, formula: &str, main: &str) -> bool {
    let text = format!("{PRELUDE}int main(void) {{ {main} return 0; }}");
    let loaded = load_text("o.c", &text).unwrap();
    let budget = Budget::unlimited();
    let (program, points_to) = (&loaded.program, &loaded.points_to);
    let opened = match indices {
        Reach::Elements => None,
        Reach::Object => match indices::open(program, points_to, &budget).unwrap() {
            Some(opened) => Some(opened),
            None => return false,
        },
    };
    let (claimed, known) = match &opened {
        Some(opened) => (&opened.program, &opened.points_to),
        None => (program, points_to),
    };
    let prepared = Prepared::leaving(&BTreeSet::new(), claimed, known.clone(), &budget);
    let derived = prepared.unwrap().derived.program;
    let fine = derived.locations.iter().enumerate().filter(|(_, at)| {
        let violated = matches!(at.kind, LocationKind::Error(_));
        !violated && derived.function(at.function).name == "main"
    });
    let at: BTreeMap<LocId, String> = fine
        .map(|(index, _)| (LocId(index as u32), formula.to_owned()))
        .collect();
    let claim = Invariants {
        checks: (0..program.checks.len() as u32).map(CheckId).collect(),
        at,
        indices,
        ..Invariants::default()
    };
    let prepared = Prepared::with_points_to(program, points_to.clone(), &budget).unwrap();
    let model = Model::new(program, &prepared);
    Gate::new(&model, budget)
        .check(Claim::Invariants(claim))
        .is_ok()
}

const STATE: &str = "(= |state#0| #x00000000)";

/// Nothing is known of the index, so it may leave the array, and proofs stop there; in the opened
/// program they go on.
#[test]
fn what_lies_in_other_objects_is_not_touched() {
    let main = "b.bytes[__VERIFIER_nondet_int()] = 1; if (state) reach_error();";
    assert!(!is_accepted(Reach::Elements, STATE, main));
    assert!(is_accepted(Reach::Object, STATE, main));
}

/// What lies behind the array may be written.
#[test]
fn what_lies_in_the_same_object_is() {
    let main = "b.bytes[__VERIFIER_nondet_int()] = 1; if (b.behind) reach_error();";
    assert!(!is_accepted(Reach::Object, "true", main));
}

/// An index beside the array reaches a pointer, which leads elsewhere then.
#[test]
fn pointers_in_the_same_object_may_lead_elsewhere() {
    let main = "long l = (long)&state; b.pointer = &other;
        b.bytes[__VERIFIER_nondet_int()] = (char)l; *b.pointer = 1; if (state) reach_error();";
    assert!(!is_accepted(Reach::Object, STATE, main));
}

/// There is nothing to open.
#[test]
fn a_program_without_such_indices_is_not_opened() {
    let main = "b.bytes[2] = 1; if (state) reach_error();";
    assert!(is_accepted(Reach::Elements, STATE, main));
    assert!(!is_accepted(Reach::Object, STATE, main));
}
