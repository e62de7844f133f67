//! All paths together: what it takes, what it finds, and that nothing but the gate is believed.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::load_text;
use hardbop_dpr::generate::locks;
use hardbop_dpr::{Dpr, Options};
use hardbop_engine::claim::{Clause, Clauses, Decision};
use hardbop_engine::{Answer, Claim, Desk, Ended, Engine, Event, Reason, Task};
use hardbop_gate::{Outcome, Report, alone};
use hardbop_model::points::{PointId, Points};
use hardbop_model::{Model, Prepared};

/// Does something with the task of a program.
fn with_task<R>(text: &str, then: impl FnOnce(&Task<'_>) -> R) -> R {
    let loaded = load_text("test.c", text).expect(text);
    let checks: Vec<CheckId> = (0..loaded.program.checks.len() as u32)
        .map(CheckId)
        .collect();
    let budget = Budget::unlimited();
    let prepared = Prepared::with_points_to(&loaded.program, loaded.points_to, &budget).unwrap();
    then(&Task {
        model: &Model::new(&loaded.program, &prepared),
        checks: &checks,
        budget: &budget,
    })
}

fn run(text: &str, depth: u32) -> Report {
    let options = Options {
        depth,
        together_after: Some(0),
        ..Options::default()
    };
    with_task(text, |task| alone(&Dpr(options), task, &mut |_| {}))
}

fn outcome(report: &Report) -> String {
    let shown = report.outcomes.values().map(|outcome| match outcome {
        Outcome::Proved(_) => "proved".to_owned(),
        Outcome::Violated(_) => "violated".to_owned(),
        Outcome::Unknown(Reason::Bound(depth)) => format!("up to {depth}"),
        Outcome::Unknown(why) => format!("{why:?}"),
    });
    let mut all: Vec<String> = shown.collect();
    all.dedup();
    all.join(", ")
}

/// The steps and questions that locks take.
fn work(count: u32) -> (u64, u64) {
    let report = run(&locks(count, None), 5);
    assert_eq!(outcome(&report), "up to 5");
    assert_eq!(report.count("explored"), 0);
    (report.count("steps together"), report.count("queries"))
}

#[test]
fn locks_take_work_in_proportion_to_their_number() {
    let all: Vec<(u64, u64)> = (1..=8).map(|fives| work(5 * fives)).collect();
    // Five locks more cost as much as any other five.
    let steps: Vec<u64> = all.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let queries: Vec<u64> = all.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    assert!(steps.iter().all(|&more| more == steps[0]), "{all:?}");
    assert!(queries.iter().all(|&more| more == queries[0]), "{all:?}");
    assert!(steps[0] > 0 && steps[0] < 2000, "{all:?}");
    assert!(queries[0] < 200, "{all:?}");
}

#[test]
fn the_lock_that_is_forgotten_is_found() {
    for (count, forgotten) in [(5, 0), (20, 7), (40, 39)] {
        let report = run(&locks(count, Some(forgotten)), 5);
        assert!(
            outcome(&report).contains("violated"),
            "{count}, {forgotten}: {}",
            outcome(&report)
        );
        assert_eq!(report.count("explored"), 0);
    }
}

const RECURSION: &str = "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int sum(int n) { if (n <= 0) return 0; return n + sum(n - 1); }
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 3) return 0;
    int s = 0;
    for (int i = 0; i <= n; i++) s += i;
    if (s != sum(n)) reach_error();
    return 0;
}";

#[test]
fn loops_and_recursion_that_end_are_proved() {
    let report = run(RECURSION, 5);
    assert_eq!(outcome(&report), "proved");
    assert_eq!(report.count("explored"), 0);
    // A loop that goes further than the bound proves nothing.
    assert_eq!(outcome(&run(RECURSION, 2)), "up to 2");
    let wrong = RECURSION.replace("return 0; return", "return n == 0; return");
    assert_eq!(outcome(&run(&wrong, 5)), "violated");
}

#[test]
fn an_irreducible_loop_is_left_to_runs() {
    let report = run(
        "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int i = 0;
    if (__VERIFIER_nondet_int()) goto inside;
again:
    i++;
inside:
    i++;
    if (i < 4) goto again;
    if (i > 5) reach_error();
    return 0;
}",
        64,
    );
    assert_eq!(outcome(&report), "proved");
    assert!(report.count("explored") > 0);
}

/// Claims something, whatever the program.
struct Claiming(fn(&[CheckId]) -> Clauses);

impl Engine for Claiming {
    fn name(&self) -> &'static str {
        "claiming"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        desk.event(Event {
            doing: "claiming".into(),
            open: task.checks.len(),
            figures: Vec::new(),
        });
        let answer = desk.submit(Claim::Clauses((self.0)(task.checks)));
        assert!(!matches!(answer, Answer::Accepted), "nothing here is true");
        Ended::default()
    }
}

/// That nobody comes to these points, of a list that has the first few locations of `main`.
fn nobody_comes_to(checks: &[CheckId], unreached: &[u32], decisions: &[(u32, u32)]) -> Clauses {
    let context = hardbop_model::points::ContextId(0);
    let location = |at: u32| (context, hardbop_cfront::ids::LocId(at));
    Clauses {
        checks: checks.to_vec(),
        points: Points {
            contexts: vec![hardbop_model::points::Around::Start],
            points: (0..6).map(location).collect(),
        },
        clauses: vec![Clause {
            decisions: decisions
                .iter()
                .map(|&(point, side)| Decision {
                    point: PointId(point),
                    side,
                })
                .collect(),
            together: Some(unreached.iter().copied().map(PointId).collect()),
            ..Clause::default()
        }],
    }
}

#[test]
fn the_gate_refuses_what_is_not_so() {
    let violated = "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x > 10) reach_error();
    return 0;
}";
    let claims: [fn(&[CheckId]) -> Clauses; 4] = [
        // Nothing is unreached, and an error is reached all the same.
        |checks| nobody_comes_to(checks, &[], &[]),
        // The points before the error are reached.
        |checks| nobody_comes_to(checks, &[0, 1, 2, 3, 4, 5], &[]),
        // Points that are nowhere.
        |checks| nobody_comes_to(checks, &[77], &[]),
        // Decisions rule out some executions, not all.
        |checks| {
            nobody_comes_to(
                checks,
                &[],
                &[(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1)],
            )
        },
    ];
    for claim in claims {
        let report = with_task(violated, |task| alone(&Claiming(claim), task, &mut |_| {}));
        assert!(report.proofs().is_empty());
    }
    // The loop goes on after any number of iterations: that no execution comes to its head again
    // is not so, and without it the executions do not end.
    let endless = "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    unsigned i = 0;
    while (__VERIFIER_nondet_int()) i++;
    if (i == 3) reach_error();
    return 0;
}";
    for claim in claims {
        let report = with_task(endless, |task| alone(&Claiming(claim), task, &mut |_| {}));
        assert!(report.proofs().is_empty());
    }
}

/// Two ways that a run may both take meet again: a state of one must not be lost in the other's.
#[test]
fn ways_that_both_may_be_taken_are_both_followed() {
    let text = "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int one(void) { return 1; }
int two(void) { return 2; }
int three(void) { return 3; }
int main(void) {
    int (*f)(void) = one;
    int n = __VERIFIER_nondet_int();
    switch (n) { case 1: f = two; break; case 2: f = three; break; default: break; }
    int r = f();
    if (r == LIMIT) reach_error();
    return 0;
}";
    for limit in 1..=3 {
        let report = run(&text.replace("LIMIT", &limit.to_string()), 5);
        assert_eq!(outcome(&report), "violated", "{limit}");
    }
    assert_eq!(outcome(&run(&text.replace("LIMIT", "4"), 5)), "proved");
}
