//! Predicates by weakest preconditions.

use expect_test::{Expect, expect};
use hardbop_budget::Budget;
use hardbop_cfront::ids::LocId;
use hardbop_cfront::program::LocationKind;
use hardbop_logic::Terms;
use hardbop_newton::refine::Refiner;
use hardbop_semantics::constants::Constants;
use hardbop_semantics::effects::Effects;
use hardbop_semantics::segment::Segment;
use hardbop_semantics::skeleton::Skeleton;
use hardbop_semantics::steps::Ground;
use hardbop_semantics::{Encoding, Semantics};
use hardbop_test_support::inputs::loaded;
use std::fmt::Write;

/// The predicates at the only loop of a program, for the path that passes it once on the way to
/// the violated check.
fn check(text: &str, expected: Expect) {
    let loaded = loaded(text);
    let program = &loaded.program;
    let semantics = Semantics::new(program, &loaded.points_to, Encoding::Bits);
    let effects = Effects::new(&semantics);
    let skeleton = Skeleton::new(program);
    let mut terms = Terms::new();
    let constants = Constants::new(&semantics, &mut terms);
    let refiner = Refiner {
        ground: Ground {
            semantics: &semantics,
            effects: &effects,
            skeleton: &skeleton,
            constants: &constants,
        },
    };
    let find = |wanted: fn(LocationKind) -> bool| {
        let mut locations = (0..program.locations.len() as u32).map(LocId);
        locations
            .find(|at| wanted(program.locations[at.index()].kind))
            .expect("the program has such a location")
    };
    let head = find(|kind| kind == LocationKind::LoopHead);
    let error = find(|kind| matches!(kind, LocationKind::Error(_)));
    let entry = program.function(program.entry).entry;
    let path = [
        Segment::Start(program.entry),
        Segment::Block(entry, head),
        Segment::Block(head, error),
    ];
    let budget = Budget::unlimited();
    let found = refiner.preconditions(&mut terms, &path, &[0, 1, 2], &budget);
    let mut out = String::new();
    for (location, predicate) in found {
        if location == head {
            let _ = writeln!(out, "{}", terms.infix(predicate.formula));
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn conditions_after_a_loop_are_said_in_front_of_it() {
    check(
        "extern int __VERIFIER_nondet_int(void);
         extern void reach_error(void);
         int main(void) {
           int x = __VERIFIER_nondet_int(), y = 0;
           if (x > 3) y = 1;
           while (__VERIFIER_nondet_int()) ;
           if (y + 2 == 3) { x = x - 1; if (x <= 2) reach_error(); }
         }",
        expect![[r#"
            main::y == 1
            main::x - 1 <= 2
        "#]],
    );
}

#[test]
fn what_is_read_later_is_not_spoken_of() {
    check(
        "extern int __VERIFIER_nondet_int(void);
         extern void reach_error(void);
         int main(void) {
           int y = 0;
           while (__VERIFIER_nondet_int()) ;
           int z = __VERIFIER_nondet_int();
           if (z > y) { if (y == 1) reach_error(); }
         }",
        expect![[r#"
            main::y == 1
        "#]],
    );
}
