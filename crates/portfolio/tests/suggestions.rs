//! What one engine suggests another one takes up.

use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::load::load_text;
use hardbop_engine::{Desk, Ended, Engine, Event, Reason, Suggestion, Task};
use hardbop_gate::Outcome;
use hardbop_leap::Leap;
use hardbop_model::{Model, Prepared};
use hardbop_portfolio::{Found, Listener, Plan, Proofs, Until, check};
use std::collections::BTreeSet;
use std::time::Duration;

/// Suggests a path through all locations of some lines, and decides nothing itself.
struct Suggests(BTreeSet<u32>);

impl Engine for Suggests {
    fn name(&self) -> &'static str {
        "suggests"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let program = task.model.program;
        for &check in task.checks {
            let through: BTreeSet<LocId> = (0..program.locations.len() as u32)
                .map(LocId)
                .filter(|&location| {
                    let mut edges = program.edges_from(location);
                    edges.any(|(_, edge)| self.0.contains(&edge.source.line))
                })
                .collect();
            // The same again is nothing new.
            for _ in 0..3 {
                let through = through.clone();
                desk.suggest(Suggestion { check, through });
            }
        }
        Ended::open(task, &Reason::Refinement)
    }
}

/// Keeps the names of the engines that began.
#[derive(Default)]
struct Began(Vec<&'static str>);

impl Listener for Began {
    fn event(&mut self, _: &'static str, _: Event) {}

    fn started(&mut self, engine: &'static str) {
        self.0.push(engine);
    }

    fn late(&mut self, _: &Found) {}
}

/// A violation behind the loop at line 4.
const PROGRAM: &str = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
int main(void) {
  int n = __VERIFIER_nondet_int(), x = 0;
  while (x < n) x++;
  if (x > 100000 && x == n) reach_error();
  return 0;
}
";

fn checked(lines: &[u32]) -> (Found, Vec<&'static str>) {
    let loaded = load_text("test.c", PROGRAM).expect("the program is well formed");
    let budget = Budget::unlimited().with_time(Duration::from_secs(120));
    let prepared = Prepared::new(&loaded.program, &Budget::unlimited()).unwrap();
    let task = Task {
        model: &Model::new(&loaded.program, &prepared),
        checks: &[CheckId(0)],
        budget: &budget,
    };
    let plan = Plan {
        first: Vec::new(),
        lanes: vec![vec![Box::new(Suggests(lines.iter().copied().collect()))]],
        followers: vec![Box::new(Leap::default())],
        doubts: Vec::new(),
        proofs: Proofs::AsFound,
        until: Until::AllDecided,
    };
    let mut began = Began::default();
    let found = check(&plan, &task, &mut began);
    (found, began.0)
}

#[test]
fn a_suggested_path_is_leapt() {
    let (found, began) = checked(&[3, 4, 5]);
    assert!(matches!(
        found.report.outcomes[&CheckId(0)],
        Outcome::Violated(_)
    ));
    assert_eq!(found.engines[&CheckId(0)], "leap");
    assert_eq!(began, ["suggests", "leap"]);
}

#[test]
fn a_path_past_the_loop_leads_nowhere() {
    let (found, began) = checked(&[6]);
    assert!(matches!(
        found.report.outcomes[&CheckId(0)],
        Outcome::Unknown(_)
    ));
    assert_eq!(began, ["suggests", "leap"]);
}
