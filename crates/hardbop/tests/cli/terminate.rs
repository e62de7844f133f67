//! `hardbop terminate`.

use crate::scene::Scene;
use expect_test::{Expect, expect};

fn scene(text: &str) -> Scene {
    let prelude =
        "extern int __VERIFIER_nondet_int(void);\nextern unsigned __VERIFIER_nondet_uint(void);\n";
    Scene::file("x.c", format!("{prelude}{text}"))
}

#[track_caller]
fn check(text: &str, options: &str, expected: Expect) {
    scene(text).check(&format!("terminate x.c {options}"), expected);
}

const NESTED: &str = "int main(void) {
  int n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int();
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      ;
  return 0;
}
";

const LASSO: &str = "int main(void) {
  int x = __VERIFIER_nondet_int();
  while (x != 0) {
    if (x == 5 && __VERIFIER_nondet_int() == 7)
      continue;
    x = x > 0 ? x - 1 : 0;
  }
  return 0;
}
";

const COUNTER: &str = "int main(void) {
  unsigned i = __VERIFIER_nondet_uint();
  while (i != 7)
    i += 2;
  return 0;
}
";

#[test]
fn what_falls_is_shown_for_every_loop() {
    check(
        NESTED,
        "",
        expect![[r#"
        PROVED x.c:3: every execution ends (in main)
          rank at x.c:5: n - i
          rank at x.c:6: (n - i, m - j)
        [exit 0]
    "#]],
    );
    let json = scene(NESTED).json("terminate x.c");
    assert_eq!(json["checks"][0]["answer"], "PROVED");
    assert_eq!(json["ranks"][1]["rank"][1], "m - j");
}

#[test]
fn a_state_that_comes_again_is_shown() {
    check(
        LASSO,
        "",
        expect![[r#"
        VIOLATED x.c:3: every execution ends (in main)
          an execution goes round for ever: its state at x.c:5 after 11 steps comes again after 4 steps more, given the last of the inputs again and again
          x.c:4: input __VERIFIER_nondet_int() = 7
          x.c:6: input __VERIFIER_nondet_int() = 7
          x.c:6: input __VERIFIER_nondet_int() = 7
        [exit 1]
    "#]],
    );
}

#[test]
fn a_set_that_need_not_be_left_is_shown() {
    check(
        COUNTER,
        "",
        expect![[r#"
        VIOLATED x.c:3: every execution ends (in main)
          an execution goes on for ever: from x.c:5 after 1 step on it can stay where i != 7 && (i & 1) == 0 holds at x.c:5
          x.c:4: input __VERIFIER_nondet_uint() = 0
        [exit 1]
    "#]],
    );
}

#[test]
fn what_is_not_found_is_unknown() {
    check(
        "int main(void) {
  unsigned x = __VERIFIER_nondet_uint();
  while (x > 1)
    x = x % 2 ? 3 * x + 1 : x / 2;
  return 0;
}
",
        "--time-limit 3",
        expect![[r#"
            UNKNOWN x.c:3: every execution ends (in main)
              because nothing was found that falls with every step of the loop at x.c:5
            [exit 3]
        "#]],
    );
    check(
        "#include <setjmp.h>
jmp_buf again;
int main(void) {
  if (setjmp(again) < 3)
    longjmp(again, 1);
  return 0;
}
",
        "-q",
        expect![[r#"
            UNKNOWN x.c:5: every execution ends (in main)
              because `longjmp` at x.c:7 is not supported and can be reached
            assuming that no function outside of the program calls `longjmp`, and nobody reads what `setjmp` writes
            [exit 3]
        "#]],
    );
}

#[test]
fn asking_for_overflows_ends_executions_there() {
    let text = "int main(void) {
  int x = __VERIFIER_nondet_int();
  while (x != 7) x = x + 2;
  return 0;
}
";
    check(
        text,
        "",
        expect![[r#"
        VIOLATED x.c:3: every execution ends (in main)
          an execution goes on for ever: from x.c:5 after 1 step on it can stay where x != 7 && (x & 1) == 0 holds at x.c:5
          x.c:4: input __VERIFIER_nondet_int() = 0
        [exit 1]
    "#]],
    );
    check(
        text,
        "--check overflow",
        expect![[r#"
        PROVED x.c:3: every execution ends (in main)
          rank at x.c:5: -x
        assuming that an execution ends where signed arithmetic overflows, first at x.c:5
        [exit 0]
    "#]],
    );
}

#[test]
fn recursion_ends_or_not() {
    check(
        "unsigned gcd(unsigned a, unsigned b) { return b == 0 ? a : gcd(b, a % b); }
int main(void) {
  gcd(__VERIFIER_nondet_uint(), __VERIFIER_nondet_uint());
  return 0;
}
",
        "",
        expect![[r#"
            PROVED x.c:4: every execution ends (in main)
              rank at x.c:3: b
            assuming that no execution divides by zero: not asked about (`--check div-by-zero`), first at x.c:3
            [exit 0]
        "#]],
    );
}

#[test]
fn claims_are_checked_again() {
    for text in [NESTED, LASSO, COUNTER] {
        let scene = scene(text);
        let written = scene.output("terminate x.c --certificate x.cert");
        assert_ne!(written.status.code(), Some(3));
        let again = scene.output("certify x.c x.cert");
        assert_eq!(again.status.code(), written.status.code());
    }
    let scene = scene(COUNTER);
    scene.output("terminate x.c --certificate x.cert");
    scene.check(
        "certify x.c x.cert",
        expect![[r#"
        VIOLATED x.c:3: every execution ends
          a set of states that need not be left, checked again: 1 question to z3
        [exit 1]
    "#]],
    );
}
