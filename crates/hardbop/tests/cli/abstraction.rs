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
    check(
        "global: locked == 0\n",
        "",
        expect![[r#"
        // Predicate abstraction of x.c
        // arithmetic: machine integers, exactly; cubes up to 3 literals

        decl {locked == 0};

        void lock() begin  // lock in x.c:6
          if (*) then
            assume(!{locked == 0});  // 7: locked
          ERROR_1:
            assume(F);  // 8: call of `reach_error`
          else
            assume({locked == 0});  // 7: !(locked)
          fi;
          {locked == 0} := F;  // 9: locked = 1
          return;
        end

        void main() begin  // main in x.c:12
          {locked == 0} := T;  // static storage before the start
          lock();  // 13: lock()
          skip;  // 14: __VERIFIER_nondet_int()
          if (*) then
            skip;  // 14: __VERIFIER_nondet_int()
            {locked == 0} := T;  // 15: locked = 0
          else
            skip;  // 14: !(__VERIFIER_nondet_int())
            lock();  // 17: lock()
          fi;
          skip;  // 18: return 0;
          return;
        end
        [exit 0]
    "#]],
    );
}

#[test]
fn seeds_predicates_from_conditions() {
    Scene::file("x.c", LOCK).check(
        "abstract x.c --pred-from conditions",
        expect![[r#"
        // Predicate abstraction of x.c
        // arithmetic: machine integers, exactly; cubes up to 3 literals

        decl {locked};

        void lock() begin  // lock in x.c:6
          if (*) then
            assume({locked});  // 7: locked
          ERROR_1:
            assume(F);  // 8: call of `reach_error`
          else
            assume(!{locked});  // 7: !(locked)
          fi;
          {locked} := T;  // 9: locked = 1
          return;
        end

        void main() begin  // main in x.c:12
          decl {t#1};
          {locked} := F;  // static storage before the start
          lock();  // 13: lock()
          {t#1} := *;  // 14: __VERIFIER_nondet_int()
          if (*) then
            assume({t#1});  // 14: __VERIFIER_nondet_int()
            {locked} := F;  // 15: locked = 0
          else
            assume(!{t#1});  // 14: !(__VERIFIER_nondet_int())
            lock();  // 17: lock()
          fi;
          skip;  // 18: return 0;
          return;
        end
        [exit 0]
    "#]],
    );
}

#[test]
fn says_what_is_wrong_with_predicates() {
    check(
        "global: lokced == 0\n",
        "",
        expect![[r#"
        [stderr]
        error: there is no variable `lokced`
         --> x.pred:1:9
          |
        1 | global: lokced == 0
          |         ^^^^^^ did you mean `locked`?
        [exit 2]
    "#]],
    );
    check(
        "global: locked = 0\n",
        "",
        expect![[r#"
        [stderr]
        error: an expression has no side effects
         --> x.pred:1:16
          |
        1 | global: locked = 0
          |                ^ an assignment; a comparison is written `==`
        [exit 2]
    "#]],
    );
    check(
        "global: lock() == 0\n",
        "",
        expect![[r#"
        [stderr]
        error: a predicate calls no functions
         --> x.pred:1:9
          |
        1 | global: lock() == 0
          |         ^^^^ it only looks at what the program does
        [exit 2]
    "#]],
    );
    check(
        "mian: locked == 0\n",
        "",
        expect![[r#"
        [stderr]
        error: there is no function `mian`
         --> x.pred:1:1
          |
        1 | mian: locked == 0
          | ^^^^ did you mean `main`?
        [exit 2]
    "#]],
    );
    check(
        "locked == 0\n",
        "",
        expect![[r#"
        [stderr]
        error: this predicate has no scope
         --> x.pred:1:1
          |
        1 | locked == 0
          | ^^^^^^^^^^^ write `global: ...` or `function: ...`
        [exit 2]
    "#]],
    );
    check(
        "global: $return == 0\nlock: $return == 0\n",
        "",
        expect![[r#"
        [stderr]
        error: a global predicate cannot mention a returned value
         --> x.pred:1:9
          |
        1 | global: $return == 0
          |         ^^^^^^^ write it in the scope of a function
        error: `lock` does not return a value
         --> x.pred:2:7
          |
        2 | lock: $return == 0
          |       ^^^^^^^
        2 errors
        [exit 2]
    "#]],
    );
}

#[test]
fn a_limit_prints_no_program() {
    check(
        "global: locked == 0\n",
        "--time-limit 0",
        expect![[r#"
        [stderr]
        warning: the time limit passed before the abstraction was done: nothing is printed
        [exit 3]
    "#]],
    );
}
