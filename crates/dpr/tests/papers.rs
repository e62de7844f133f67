//! The programs of the paper's figures.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::load_text;
use hardbop_dpr::{Dpr, Learning, Options, Order};
use hardbop_engine::claim::Clauses;
use hardbop_engine::{Claim, Task};
use hardbop_gate::{Outcome, Report, alone};
use hardbop_model::{Model, Prepared};

/// Decides the checks of a program.
fn run(text: &str, options: &Options) -> Report {
    let loaded = load_text("test.c", text).expect(text);
    let checks: Vec<CheckId> = (0..loaded.program.checks.len() as u32)
        .map(CheckId)
        .collect();
    let prepared =
        Prepared::with_points_to(&loaded.program, loaded.points_to, &Budget::unlimited()).unwrap();
    let task = Task {
        model: &Model::new(&loaded.program, &prepared),
        checks: &checks,
        budget: &Budget::unlimited(),
    };
    alone(&Dpr(options.clone()), &task, &mut |_| {})
}

/// Checks verdicts, choices, paths and explored paths.
fn check(text: &str, options: &Options, expected: &str) {
    let report = run(text, options);
    let outcomes: Vec<String> = report
        .outcomes
        .values()
        .map(|outcome| match outcome {
            Outcome::Proved(_) => "proved".to_owned(),
            Outcome::Violated(_) => "violated".to_owned(),
            Outcome::Unknown(why) => format!("unknown: {why:?}"),
        })
        .collect();
    let figures: Vec<String> = ["choices", "paths", "explored", "pruned"]
        .iter()
        .filter_map(|name| Some(format!("{} {name}", report.figure(name)?)))
        .collect();
    let shown = format!("{}; {}", outcomes.join(", "), figures.join(", "));
    assert_eq!(shown, expected);
}

/// The clauses of a proof.
fn clauses(report: &Report) -> Clauses {
    match report.proofs().first().map(|proof| proof.claim()) {
        Some(Claim::Clauses(clauses)) => clauses.clone(),
        other => panic!("no clauses: {other:?}"),
    }
}

const FOO: &str = "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = 5, y = 8, z = 20;
    if (__VERIFIER_nondet_int()) y = y - 1; else y = y + 1;
    x = 2 * x;
    if (__VERIFIER_nondet_int()) z = z - 1; else z = z + 1;
    if (x > 10) reach_error();
    return 0;
}";

#[test]
fn figure_1_needs_one_execution() {
    check(
        FOO,
        &Options::default(),
        "proved; 2 choices, 4 paths, 1 explored, 3 pruned",
    );
}

#[test]
fn figure_1_without_learning_needs_all() {
    let options = Options {
        learning: Learning::Off,
        ..Options::default()
    };
    check(
        FOO,
        &options,
        "proved; 2 choices, 4 paths, 4 explored, 0 pruned",
    );
}

/// Here the second conditional changes x on one side: two paths are left after the first run, and
/// one of them is the bug.
const FOO2: &str = "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = 5, y = 8, z = 10;
    if (__VERIFIER_nondet_int()) y = y - 1; else y = y + 1;
    x = 2 * x;
    if (__VERIFIER_nondet_int()) z = z - 1; else { z = z + 1; x = x + 1; }
    if (x > 10) reach_error();
    return 0;
}";

#[test]
fn figure_2_finds_the_error_in_the_other_half() {
    check(
        FOO2,
        &Options {
            order: Order::DepthFirst,
            ..Options::default()
        },
        "violated; 2 choices, 4 paths, 2 explored, 1 pruned",
    );
}

#[test]
fn figure_2_leaves_the_two_paths_of_the_else_branch() {
    // With a larger limit both halves are safe, each by its own explanation: the first clause
    // speaks of the second choice only.
    let text = FOO2.replace("x > 10", "x > 20");
    let report = run(&text, &Options::default());
    let proof = clauses(&report);
    let sizes: Vec<usize> = proof.clauses.iter().map(|c| c.decisions.len()).collect();
    assert_eq!(sizes, [1, 1]);
    let nodes: Vec<_> = proof.clauses.iter().map(|c| c.decisions[0].point).collect();
    assert_eq!(nodes[0], nodes[1]);
    assert_eq!(report.count("explored"), 2);
}

/// Figure 4: w is zero, so the product is zero whatever y is: the explanation does not speak of
/// the branches that changed x, y and z.
#[test]
fn figure_4_values_matter_not_only_dependences() {
    check(
        "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = 10, y = 5, z = 3, w = 0;
    if (__VERIFIER_nondet_int()) y = y + 1;
    if (__VERIFIER_nondet_int()) z = y;
    if (__VERIFIER_nondet_int()) y = z + x;
    w = w * y;
    if (w != 0) reach_error();
    return 0;
}",
        &Options::default(),
        "proved; 3 choices, 8 paths, 1 explored, 7 pruned",
    );
}

/// Figure 3: a statement is in the scope of the conditionals around it and of no others.
#[test]
fn figure_3_scopes_that_are_closed_do_not_count() {
    let report = run(
        "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = 0, y = 0;
    if (__VERIFIER_nondet_int()) {
        y = 1;
    } else {
        if (__VERIFIER_nondet_int()) {
            if (__VERIFIER_nondet_int()) y = 2; else y = 3;
            if (__VERIFIER_nondet_int()) y = 4; else y = 5;
            x = 1;
        }
    }
    if (x > 1) reach_error();
    return 0;
}",
        &Options {
            order: Order::DepthFirst,
            ..Options::default()
        },
    );
    let proof = clauses(&report);
    let sizes: Vec<usize> = proof.clauses.iter().map(|c| c.decisions.len()).collect();
    // Not b1; not (not b1 and b2); not (not b1 and not b2).
    assert_eq!(sizes, [1, 2, 2]);
    assert_eq!(report.count("choices"), 4);
}

#[test]
fn an_input_is_a_choice_and_what_contradicts_it_is_learned() {
    check(
        "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int n = __VERIFIER_nondet_int(), y = 0;
    if (n > 10) y = 1;
    if (n > 5) y = y + 1;
    if (y == 1 && n > 20) reach_error();
    if (y == 2 && n <= 5) reach_error();
    return 0;
}",
        &Options::default(),
        "proved, proved; 2 choices, 4 paths, 3 explored, 1 pruned",
    );
}

#[test]
fn beyond_the_bound_nothing_is_claimed() {
    let options = Options {
        depth: 3,
        ..Options::default()
    };
    check(
        "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int n = 0;
    while (__VERIFIER_nondet_int()) n = n + 1;
    if (n == 5) reach_error();
    return 0;
}",
        &options,
        "unknown: Bound(3); 4 choices, 16 paths, 5 explored, 11 pruned",
    );
}

#[test]
fn recursion_and_pointers_follow_the_shared_meaning() {
    check(
        "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int total;
void add(int *p, int n) { if (n > 0) { *p = *p + n; add(p, n - 1); } }
int main(void) {
    int a = 0, b = 0;
    int *p = &a;
    if (__VERIFIER_nondet_int()) p = &b;
    add(p, 3);
    if (a + b != 6) reach_error();
    if (a == 6) reach_error();
    return 0;
}",
        &Options::default(),
        "proved, violated; 1 choices, 2 paths, 3 explored, 0 pruned",
    );
}

#[test]
fn several_workers_agree() {
    let options = Options {
        jobs: 3,
        ..Options::default()
    };
    for (text, violated) in [(FOO, false), (FOO2, true)] {
        let report = run(text, &options);
        let outcome = report.outcomes.values().next().expect("one check");
        assert_eq!(matches!(outcome, Outcome::Violated(_)), violated);
        assert_eq!(matches!(outcome, Outcome::Proved(_)), !violated);
    }
}

#[test]
fn the_families_of_the_tables_are_decided() {
    use hardbop_dpr::generate::{Validity, max_3sat, nfa, sentence};
    let valid = run(&nfa(&sentence(13, Validity::Valid)), &Options::default());
    assert!(matches!(
        valid.outcomes.values().next(),
        Some(Outcome::Violated(_))
    ));
    let invalid = run(&nfa(&sentence(13, Validity::Invalid)), &Options::default());
    assert!(matches!(
        invalid.outcomes.values().next(),
        Some(Outcome::Proved(_))
    ));
    // The paper explored 13 of the paths.
    assert!(invalid.count("explored") <= 13, "{:?}", invalid.statistics);
    let formula = run(&max_3sat(9, 349, 1), &Options::default());
    assert!(matches!(
        formula.outcomes.values().next(),
        Some(Outcome::Proved(_))
    ));
    // The paper explored 44 of the 512 paths of its formula.
    assert!(formula.count("explored") <= 44, "{:?}", formula.statistics);
}
