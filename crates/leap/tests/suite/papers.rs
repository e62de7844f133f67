//! The procedures of "Leaping Loops in the Presence of Abstraction", with the paper's ports.

use crate::support::{load, picture, run};
use expect_test::{Expect, expect};
use hardbop_leap::Options;

#[track_caller]
fn check(text: &str, expected: Expect) {
    let (program, points_to) = load(text);
    let report = run(&program, &points_to, &Options::default(), 300);
    expected.assert_eq(&picture(&program, &report));
}

#[test]
fn figure_1_simple() {
    check(
        include_str!("../../../../examples/c/leap/simple.c"),
        expect![[r#""#]],
    );
}

#[test]
fn figure_6_less_simple() {
    check(
        include_str!("../../../../examples/c/leap/less_simple.c"),
        expect![[r#""#]],
    );
}

#[test]
fn figure_8_nested() {
    check(
        include_str!("../../../../examples/c/leap/nested.c"),
        expect![[r#""#]],
    );
}

#[test]
fn figure_9_jump_beyond_n() {
    check(
        include_str!("../../../../examples/c/leap/jump_beyond_n.c"),
        expect![[r#""#]],
    );
}

#[test]
fn figure_10_flip() {
    check(
        include_str!("../../../../examples/c/leap/flip.c"),
        expect![[r#""#]],
    );
}
