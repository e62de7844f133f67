//! The parts of a search, each by itself: together they find what the whole search finds, and none
//! of them proves anything.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::load_text;
use hardbop_dpr::{Dpr, Options, Part};
use hardbop_engine::Task;
use hardbop_gate::{Outcome, alone};
use hardbop_model::{Model, Prepared};
use hardbop_test_support::generate::branches::program;

/// The words for what becomes of the first check.
fn outcome(text: &str, part: Option<Part>) -> &'static str {
    let loaded = load_text("a.c", text).expect("a program");
    let budget = Budget::unlimited();
    let prepared = Prepared::with_points_to(&loaded.program, loaded.points_to, &budget);
    let prepared = prepared.expect("there is no limit");
    let task = Task {
        model: &Model::new(&loaded.program, &prepared),
        checks: &[CheckId(0)],
        budget: &budget,
    };
    let options = Options {
        part,
        ..Options::default()
    };
    match alone(&Dpr(options), &task, &mut |_| {}).outcomes[&CheckId(0)] {
        Outcome::Proved(_) => "proved",
        Outcome::Violated(_) => "violated",
        Outcome::Unknown(_) => "unknown",
    }
}

fn parts(text: &str, of: u32) -> Vec<&'static str> {
    let part = |index| Part::new(index, of).expect("a part");
    (0..of)
        .map(|index| outcome(text, Some(part(index))))
        .collect()
}

/// One error behind three choices: of eight parts one sees it.
#[test]
fn one_part_of_eight_has_the_error() {
    let text = "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = 0;
    if (__VERIFIER_nondet_int()) x += 1;
    if (__VERIFIER_nondet_int()) x += 2;
    if (__VERIFIER_nondet_int()) x += 4;
    if (x == 5) reach_error();
    return 0;
}";
    assert_eq!(outcome(text, None), "violated");
    let found = parts(text, 8);
    let count = |word: &str| found.iter().filter(|one| **one == word).count();
    assert_eq!((count("violated"), count("unknown")), (1, 7), "{found:?}");
}

/// A program without an error has none in any part, and no part says that there is none.
#[test]
fn no_part_proves_anything() {
    let text = "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = 0;
    if (__VERIFIER_nondet_int()) x += 1;
    if (__VERIFIER_nondet_int()) x += 2;
    if (x == 5) reach_error();
    return 0;
}";
    assert_eq!(outcome(text, None), "proved");
    for of in [2, 4, 8] {
        assert!(parts(text, of).iter().all(|one| *one == "unknown"), "{of}");
    }
}

#[test]
fn parts_together_find_what_the_whole_search_finds() {
    let mut violated = 0;
    for seed in 0..24 {
        let text = program(seed);
        let whole = outcome(&text, None);
        let found = parts(&text, 4);
        assert!(!found.contains(&"proved"), "seed {seed}");
        assert_eq!(
            found.contains(&"violated"),
            whole == "violated",
            "seed {seed}: {found:?}"
        );
        violated += u32::from(whole == "violated");
    }
    assert!(violated > 2, "{violated}");
}

#[test]
fn there_are_as_many_parts_as_a_power_of_two() {
    assert!(Part::new(0, 1).is_none() && Part::new(0, 3).is_none());
    assert!(Part::new(4, 4).is_none() && Part::new(0, 512).is_none());
    assert!(Part::new(3, 4).is_some());
}
