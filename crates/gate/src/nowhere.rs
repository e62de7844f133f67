//! Checks that no code can violate.

use crate::Gate;
use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::{Callee, Edge, Gap, LocationKind, Op, Program};
use hardbop_engine::Reason;
use hardbop_engine::claim::Nowhere;

impl Gate<'_> {
    /// No location of what can be called is a violation of the checks, and nothing that can be
    /// called is beyond what is supported: an execution might come to anything from there. Where
    /// only the data of what comes then is unknown, that can lead to no other function if all are
    /// called by their names.
    pub(crate) fn nowhere(&self, claim: &Nowhere) -> Result<(), Reason> {
        let program = self.model.program;
        let callable = callable(program);
        let mut edges = callable
            .iter()
            .flat_map(|&function| edges_of(program, function));
        let by_name = edges.all(|edge| {
            !matches!(
                edge.op,
                Op::Call {
                    callee: Callee::Indirect { .. },
                    ..
                }
            )
        });
        for function in callable {
            for index in program.function(function).locations.clone() {
                let location = LocId(index);
                let kind = program.locations[location.index()].kind;
                if matches!(kind, LocationKind::Error(check) if claim.checks.contains(&check)) {
                    return Err(Reason::Certificate);
                }
                for (_, edge) in program.edges_from(location) {
                    if let Op::Unsupported { construct } = edge.op
                        && !(by_name && is_about_data(program, construct))
                    {
                        return Err(Reason::unsupported(program, construct));
                    }
                }
            }
        }
        Ok(())
    }
}

fn edges_of(program: &Program, function: FuncId) -> impl Iterator<Item = &Edge> {
    let locations = program.function(function).locations.clone();
    locations.flat_map(|index| program.edges_from(LocId(index)).map(|(_, edge)| edge))
}

/// Whether an execution goes on behind a construct, along the program's edges.
fn is_about_data(program: &Program, construct: u32) -> bool {
    let found = program.unsupported.get(construct as usize);
    found.is_some_and(|found| found.gap == Gap::Logic)
}

#[cfg(test)]
mod tests {
    use crate::Gate;
    use hardbop_budget::Budget;
    use hardbop_cfront::ids::CheckId;
    use hardbop_cfront::load::load_text;
    use hardbop_engine::Claim;
    use hardbop_engine::claim::Nowhere;
    use hardbop_model::{Model, Prepared};

    /// Whether it is accepted that no code violates the checks of a program that has an index into
    /// an array that is a part of an object.
    fn is_accepted(rest: &str) -> bool {
        let text = format!(
            "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);
             struct table {{ int a[4]; int b; }} table;
             void never(void) {{ reach_error(); }} void fine(void) {{ }}
             void set(void) {{ table.a[__VERIFIER_nondet_int()] = 1; }} {rest}"
        );
        let program = load_text("a.c", &text).unwrap().program;
        assert!(!program.unsupported.is_empty());
        let budget = Budget::unlimited();
        let prepared = Prepared::new(&program, &budget).unwrap();
        let model = Model::new(&program, &prepared);
        let checks = (0..program.checks.len() as u32).map(CheckId).collect();
        let gate = Gate::new(&model, budget);
        gate.check(Claim::Nowhere(Nowhere { checks })).is_ok()
    }

    #[test]
    fn unknown_data_leads_to_no_other_function() {
        assert!(is_accepted("int main(void) { set(); return 0; }"));
        assert!(!is_accepted("int main(void) { set(); never(); return 0; }"));
    }

    #[test]
    fn but_for_calls_by_pointers() {
        let called = "void (*p)(void) = fine; int main(void) { set(); p(); return 0; }";
        assert!(!is_accepted(called));
    }
}
