//! A proof and a run that contradicts it: nobody is believed, and it is said.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::load_text;
use hardbop_engine::{Engine, Event, Outcome, Report, Task};
use hardbop_portfolio::{Found, Listener, Plan, Step, check, default_doubts};
use hardbop_unroll::Runs;
use std::time::Duration;

/// Says of everything that it is proved.
struct Liar;

impl Engine for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn check(&self, task: &Task<'_>, _: &mut dyn FnMut(Event)) -> Report {
        Report {
            outcomes: task.checks.iter().map(|&c| (c, Outcome::Proved)).collect(),
            ..Report::default()
        }
    }
}

/// Waits until the budget ends, so that nobody waits for it.
struct Sleeper;

impl Engine for Sleeper {
    fn name(&self) -> &'static str {
        "sleeper"
    }

    fn check(&self, task: &Task<'_>, _: &mut dyn FnMut(Event)) -> Report {
        while task.budget.check().is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(900));
        Report::default()
    }
}

/// Keeps the answers that were known when time was over.
#[derive(Default)]
struct Late(Option<Vec<String>>);

impl Listener for Late {
    fn event(&mut self, _: &'static str, _: Event) {}

    fn late(&mut self, found: &Found) {
        self.0.get_or_insert_with(|| said(found));
    }
}

fn said(found: &Found) -> Vec<String> {
    let outcomes = found.report.outcomes.values();
    let text = |outcome: &Outcome| match outcome {
        Outcome::Proved => "PROVED".to_owned(),
        Outcome::Violated(_) => "VIOLATED".to_owned(),
        Outcome::Unknown(reason) => format!("UNKNOWN because {reason}"),
    };
    outcomes.map(text).collect()
}

/// The first check fails for one input, the second one holds.
const PROGRAM: &str = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (n == 7654321) reach_error();
  if (n * 2 == 1) reach_error();
  return 0;
}
";

fn checked(plan: &Plan, time: Duration) -> (Found, Late) {
    let loaded = load_text("test.c", PROGRAM).expect("the program is well formed");
    let budget = Budget::unlimited().with_time(time);
    let task = Task {
        program: &loaded.program,
        points_to: &loaded.points_to,
        checks: &[CheckId(0), CheckId(1)],
        budget: &budget,
    };
    let mut late = Late::default();
    let found = check(plan, &task, &mut late);
    (found, late)
}

fn plan(first: Vec<Step>, lanes: Vec<Vec<Step>>) -> Plan {
    Plan {
        first,
        lanes,
        followers: Vec::new(),
        doubts: default_doubts(),
    }
}

const CONTRADICTED: &str = "UNKNOWN because of an internal error: engine liar has a proof, and engine run a run \
                            that contradicts it";

#[test]
fn a_proof_is_doubted_before_it_is_told() {
    let plan = plan(vec![Box::new(Liar)], Vec::new());
    let (found, _) = checked(&plan, Duration::from_secs(60));
    // The second proof is no better than the first one.
    assert_eq!(said(&found), [CONTRADICTED, CONTRADICTED]);
    assert_eq!(found.contradictions.len(), 1);
    assert_eq!(found.contradictions[0].check, CheckId(0));
    assert!(found.engines.is_empty());
    assert!(!found.report.is_complete());
}

#[test]
fn a_proof_is_doubted_when_time_is_over_too() {
    let half: Vec<Step> = vec![Box::new(HalfLiar)];
    let plan = plan(half, vec![vec![Box::new(Sleeper)]]);
    let (_, late) = checked(&plan, Duration::from_millis(300));
    let said = late.0.expect("the sleeper is late");
    assert!(said[0].contains("internal error"), "{said:?}");
}

/// Lies about the first check only.
struct HalfLiar;

impl Engine for HalfLiar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn check(&self, task: &Task<'_>, events: &mut dyn FnMut(Event)) -> Report {
        let mut report = Liar.check(task, events);
        report.outcomes.remove(&CheckId(1));
        report
    }
}

#[test]
fn a_violation_and_a_later_proof_contradict_each_other() {
    let runs = Runs {
        guesses: hardbop_unroll::Guesses::Hinted,
        ..Runs::default()
    };
    let plan = Plan {
        first: vec![Box::new(runs), Box::new(AlwaysLiar)],
        lanes: Vec::new(),
        followers: Vec::new(),
        doubts: Vec::new(),
    };
    let (found, _) = checked(&plan, Duration::from_secs(60));
    let said = said(&found);
    assert_eq!(said[0], CONTRADICTED);
    // The liar's other proof does not count either.
    assert!(said[1].starts_with("UNKNOWN"), "{said:?}");
}

/// Speaks of checks that it was not asked about.
struct AlwaysLiar;

impl Engine for AlwaysLiar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn check(&self, _: &Task<'_>, _: &mut dyn FnMut(Event)) -> Report {
        let checks = [CheckId(0), CheckId(1)];
        Report {
            outcomes: checks.map(|check| (check, Outcome::Proved)).into(),
            ..Report::default()
        }
    }
}
