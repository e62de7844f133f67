//! Functions that a claim leaves apart: their calls are steps, and nothing is said of what is inside.
//!
//! That is right where nothing inside can violate a check that is claimed to hold, whatever the
//! data: neither the function nor anything that it may call has such a place, or comes to what is
//! not supported. A call that never comes back takes no step, and violates nothing either.

use hardbop_cfront::call_graph::calls_of;
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_engine::Reason;
use hardbop_engine::claim::Invariants;
use std::collections::BTreeSet;

/// The functions that a claim leaves apart, if it may.
pub(crate) fn apart(program: &Program, claim: &Invariants) -> Result<BTreeSet<FuncId>, Reason> {
    let apart: BTreeSet<FuncId> = claim.apart.iter().copied().collect();
    let known = |function: &FuncId| function.index() < program.functions.len();
    if !apart.iter().all(known) || apart.contains(&program.entry) {
        return Err(Reason::Certificate);
    }
    let mut inside = apart.clone();
    let mut work: Vec<FuncId> = inside.iter().copied().collect();
    while let Some(function) = work.pop() {
        work.extend(calls_of(program, function).filter(|&callee| inside.insert(callee)));
    }
    for function in inside {
        for index in program.function(function).locations.clone() {
            let location = &program.locations[index as usize];
            if matches!(location.kind, LocationKind::Error(check) if claim.checks.contains(&check))
            {
                return Err(Reason::Certificate);
            }
            for (_, edge) in program.edges_from(LocId(index)) {
                if let Op::Unsupported { construct } = edge.op {
                    return Err(Reason::unsupported(program, construct));
                }
            }
        }
    }
    Ok(apart)
}

#[cfg(test)]
mod tests {
    use crate::Gate;
    use hardbop_budget::Budget;
    use hardbop_cfront::ids::{CheckId, FuncId, LocId};
    use hardbop_cfront::load::load_text;
    use hardbop_cfront::program::{LocationKind, Program};
    use hardbop_engine::Claim;
    use hardbop_engine::claim::Invariants;
    use hardbop_model::{Model, Prepared};
    use std::collections::BTreeMap;

    const PROGRAM: &str = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);
        int state, other;
        void quiet(int n) { while (n > 0) { other += n; n--; } }
        void loud(void) { state = 1; }
        void wrong(void) { if (other) reach_error(); }
        int main(void) { quiet(7); CALL if (state) reach_error(); return 0; }";

    /// Claims that the last check of the program holds because `state` is 0 wherever control is in
    /// `main`, with some functions left apart.
    fn is_accepted(call: &str, names: &[&str]) -> bool {
        let loaded = load_text("a.c", &PROGRAM.replace("CALL", call)).unwrap();
        let program = &loaded.program;
        let budget = Budget::unlimited();
        let named = |name: &str| {
            let mut functions = program.functions.iter();
            FuncId(
                functions
                    .position(|function| function.name == name)
                    .unwrap() as u32,
            )
        };
        let apart: Vec<FuncId> = names.iter().map(|name| named(name)).collect();
        let all = apart.iter().copied().collect();
        let prepared = Prepared::leaving(&all, program, loaded.points_to.clone(), &budget);
        let prepared = prepared.unwrap();
        let claim = Invariants {
            checks: (0..program.checks.len() as u32).map(CheckId).collect(),
            cuts: Vec::new(),
            at: in_main(&prepared.derived.program, "(= |state#0| #x00000000)"),
            apart,
            ..Invariants::default()
        };
        let usual = Prepared::with_points_to(program, loaded.points_to, &budget).unwrap();
        let model = Model::new(program, &usual);
        let gate = Gate::new(&model, budget);
        gate.check(Claim::Invariants(claim)).is_ok()
    }

    fn in_main(program: &Program, formula: &str) -> BTreeMap<LocId, String> {
        let locations = program.locations.iter().enumerate();
        let fine = locations.filter(|(_, at)| {
            let violated = matches!(at.kind, LocationKind::Error(_));
            !violated && program.function(at.function).name == "main"
        });
        fine.map(|(index, _)| (LocId(index as u32), formula.to_owned()))
            .collect()
    }

    #[test]
    fn what_a_function_cannot_touch_stays_as_it_was() {
        assert!(is_accepted("", &["quiet"]));
    }

    #[test]
    fn what_a_function_may_change_is_unknown() {
        assert!(!is_accepted("loud();", &["quiet", "loud"]));
    }

    #[test]
    fn a_function_that_can_violate_a_check_cannot_be_left_apart() {
        assert!(!is_accepted("wrong();", &["quiet", "wrong"]));
    }

    #[test]
    fn what_calls_such_a_function_cannot_either() {
        assert!(!is_accepted("", &["quiet", "main"]));
    }

    /// The loop of `quiet` is cut nowhere.
    #[test]
    fn what_is_not_left_apart_is_looked_at() {
        assert!(!is_accepted("", &["loud"]));
    }
}
