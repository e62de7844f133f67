//! The worked example of the book's page "How to add an engine".

// ANCHOR: engine
use hardbop_engine::claim::{Given, Run, Script};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Figure, Reason, Task};

/// What happens if every input is zero?
struct Zeros;

impl Engine for Zeros {
    fn name(&self) -> &'static str {
        "zeros"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        // Whatever is not claimed is open, with a reason.
        let mut ended = Ended::open(task, &Reason::Guesses);
        for &check in task.checks {
            if let Err(stopped) = task.budget.check() {
                return Ended::open(task, &Reason::Stopped(stopped));
            }
            desk.event(Event {
                doing: "trying zeros".into(),
                open: ended.open.len(),
                figures: Vec::new(),
            });
            // A script that has come to its end goes on with zeros.
            let given = Given::Script(Script::default());
            match desk.submit(Claim::Run(Run { check, given })).refused() {
                None => ended.open.remove(&check),
                Some(reason) => ended.open.insert(check, reason),
            };
        }
        ended.statistics = vec![Figure::count("runs", task.checks.len() as u64)];
        ended
    }
}
// ANCHOR_END: engine

// ANCHOR: test
use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::load_text;
use hardbop_gate::{Outcome, alone};
use hardbop_model::{Model, Prepared};

#[test]
fn the_gate_tells_what_is_true() {
    let text = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
        int main(void) {
          int x = __VERIFIER_nondet_int();
          if (x == 3) reach_error();
          if (x == 0) reach_error();
          return 0;
        }";
    let loaded = load_text("test.c", text).expect("the program is well formed");
    let prepared =
        Prepared::with_points_to(&loaded.program, loaded.points_to, &Budget::unlimited()).unwrap();
    let task = Task {
        model: &Model::new(&loaded.program, &prepared),
        checks: &[CheckId(0), CheckId(1)],
        budget: &Budget::unlimited(),
    };
    let report = alone(&Zeros, &task, &mut |_| {});
    // The run does something else than what was claimed of the first check.
    assert!(matches!(
        &report.outcomes[&CheckId(0)],
        Outcome::Unknown(Reason::Replay(_))
    ));
    assert!(matches!(report.outcomes[&CheckId(1)], Outcome::Violated(_)));
}
// ANCHOR_END: test
