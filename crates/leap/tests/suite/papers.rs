//! The procedures of "Leaping Loops in the Presence of Abstraction", with the paper's ports.

use crate::support::{picture, run};
use expect_test::{Expect, expect};
use hardbop_leap::Options;
use hardbop_test_support::inputs::load;

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
        expect![[r#"
            line 14: violated
              loop at line 11: Theorem 2
                state x < n && x >= 0
                entry x == 0
                exit  x == n - 1
              loop at line 12: Theorem 2
                state x < n * 2 && n <= x
                entry x == n
                exit  n * 2 - 2 <= x && x <= n * 2 - 1
              loop at line 13: Theorem 2
                state x < n * 3 && n * 2 <= x
                entry n * 2 <= x && x <= n * 2 + 1
                exit  n * 3 - 3 <= x && x <= n * 3 - 1
        "#]],
    );
}

#[test]
fn figure_6_less_simple() {
    check(
        include_str!("../../../../examples/c/leap/less_simple.c"),
        expect![[r#"
            line 22: violated
              loop at line 13: Theorem 2
                state x < n && y <= x && x >= 1 && y >= 0 && x - y <= 2
                entry x == 1 && y == 0
                exit  x == n - 1 && n - 2 <= y && y <= n - 1
                choose at line 16: 1
        "#]],
    );
}

#[test]
fn figure_8_nested() {
    check(
        include_str!("../../../../examples/c/leap/nested.c"),
        expect![[r#"
            line 15: violated
              loop at line 10, 13: Theorem 2
                state x < n && x >= 0
                state y >= 0 && x <= n && y <= n && x >= 1
                entry x == 0
                exit  y == n && x == n
        "#]],
    );
}

#[test]
fn figure_9_jump_beyond_n() {
    check(
        include_str!("../../../../examples/c/leap/jump_beyond_n.c"),
        expect![[r#"
            line 21: violated
              loop at line 11: Theorem 2
                state x < n && x >= 2
                entry x == 5
                exit  n - 5 <= x && x <= n - 1
                choose at line 13: 0
        "#]],
    );
}

#[test]
fn figure_10_flip() {
    check(
        include_str!("../../../../examples/c/leap/flip.c"),
        expect![[r#"
            line 16: violated
              loop at line 11: Theorem 2
                state x < n && x >= 0 && (t == -1 || t == 1)
                entry x == 0 && t == 1
                exit  x == n - 1
                choose at line 13: t > 0 ? 0 : 1
        "#]],
    );
}
