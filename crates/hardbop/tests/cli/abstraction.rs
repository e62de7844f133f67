//! `hardbop abstract`.

use crate::scene::Scene;
use expect_test::{Expect, expect};

const LOCK: &str = "
int locked;
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

void lock(void) {
    if (locked)
        reach_error();
    locked = 1;
}

int main(void) {
    lock();
    if (__VERIFIER_nondet_int())
        locked = 0;
    else
        lock();
    return 0;
}
";

#[track_caller]
fn check(predicates: &str, options: &str, expected: Expect) {
    Scene::file("x.c", LOCK)
        .and_file("x.pred", predicates)
        .check(&format!("abstract x.c --pred x.pred {options}"), expected);
}

#[test]
fn prints_the_boolean_program() {
    check("global: locked == 0\n", "", expect![[r#""#]]);
}

#[test]
fn seeds_predicates_from_conditions() {
    Scene::file("x.c", LOCK).check("abstract x.c --pred-from conditions", expect![[r#""#]]);
}

#[test]
fn says_what_is_wrong_with_predicates() {
    check("global: lokced == 0\n", "", expect![[r#""#]]);
    check("global: locked = 0\n", "", expect![[r#""#]]);
    check("global: lock() == 0\n", "", expect![[r#""#]]);
    check("mian: locked == 0\n", "", expect![[r#""#]]);
    check("locked == 0\n", "", expect![[r#""#]]);
    check("global: $return == 0\nlock: $return == 0\n", "", expect![[r#""#]]);
}

#[test]
fn a_limit_prints_no_program() {
    check("global: locked == 0\n", "--time-limit 0", expect![[r#""#]]);
}
