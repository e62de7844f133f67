//! `hardbop explain`.

use crate::scene::Scene;
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, options: &str, expected: Expect) {
    let prelude = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n";
    Scene::file("x.c", format!("{prelude}{text}"))
        .check(&format!("explain x.c {options}"), expected);
}

/// The example of the Newton paper, with two assignments that do not matter.
const NEWTON: &str = "int main(void) {
  int a, b = __VERIFIER_nondet_int(), c, x, z;
  if (b > 0) {
    c = b + b;
    z = c;
    a = b;
    a = a - 1;
    x = b;
    if (a < b)
      if (c == a) reach_error();
  }
  return 0;
}
";

#[test]
fn a_path_that_cannot_be_run() {
    check(NEWTON, "--arith int", expect![[r#"
        x.c:12: call of `reach_error` (in main)
          the shortest path to it cannot be run over the integers:
            [1] x.c:4: b = input __VERIFIER_nondet_int();
                1. b = __VERIFIER_nondet_int!
            [2] x.c:5: assume(b > 0);
                __VERIFIER_nondet_int! >= 1 (1)
            [3] x.c:6: c = b + b;
                2. c = 2 * __VERIFIER_nondet_int! (1)
            [4] x.c:7: z = c;
                3. z = 2 * __VERIFIER_nondet_int! (2)
            [5] x.c:8: a = b;
                4. a = __VERIFIER_nondet_int! (1), replaced later
            [6] x.c:9: a = a - 1;
                5. a = __VERIFIER_nondet_int! - 1 (4), forgotten later
            [7] x.c:10: x = b;
                6. x = __VERIFIER_nondet_int! (1)
            [8] x.c:11: assume(a < b);
                7. a = θa
                θa + 1 <= __VERIFIER_nondet_int! (1,7)
            [9] x.c:12: assume(c == a);
                2 * __VERIFIER_nondet_int! == θa (2,7)
          these conditions contradict each other:
            [2] __VERIFIER_nondet_int! >= 1
            [8] θa + 1 <= __VERIFIER_nondet_int!
            [9] 2 * __VERIFIER_nondet_int! == θa
          whatever these values are:
            before [8] a = θa
          these statements alone cannot be run either:
            [2] x.c:5: assume(b > 0);
                1. b = θb
                θb >= 1 (1)
            [3] x.c:6: c = b + b;
                2. c = 2 * θb (1)
            [8] x.c:11: assume(a < b);
                3. a = θa
                θa + 1 <= θb (1,3)
            [9] x.c:12: assume(c == a);
                θa == 2 * θb (2,3)
        [exit 0]
    "#]]);
}

#[test]
fn the_same_in_machine_words() {
    check(NEWTON, "--check-line 12", expect![[r#"
        x.c:12: call of `reach_error` (in main)
          the shortest path to it cannot be run:
            [1] x.c:4: b = input __VERIFIER_nondet_int();
                1. b = __VERIFIER_nondet_int!
            [2] x.c:5: assume(b > 0);
                __VERIFIER_nondet_int! > 0 (1)
            [3] x.c:6: c = b + b;
                2. c = __VERIFIER_nondet_int! + __VERIFIER_nondet_int! (1)
            [4] x.c:7: z = c;
                3. z = __VERIFIER_nondet_int! + __VERIFIER_nondet_int! (2)
            [5] x.c:8: a = b;
                4. a = __VERIFIER_nondet_int! (1), replaced later
            [6] x.c:9: a = a - 1;
                5. a = __VERIFIER_nondet_int! - 1 (4)
            [7] x.c:10: x = b;
                6. x = __VERIFIER_nondet_int! (1)
            [8] x.c:11: assume(a < b);
                __VERIFIER_nondet_int! - 1 < __VERIFIER_nondet_int! (1,5)
            [9] x.c:12: assume(c == a);
                __VERIFIER_nondet_int! + __VERIFIER_nondet_int! == __VERIFIER_nondet_int! - 1 (2,5)
          these conditions contradict each other:
            [2] __VERIFIER_nondet_int! > 0
            [9] __VERIFIER_nondet_int! + __VERIFIER_nondet_int! == __VERIFIER_nondet_int! - 1
          these statements alone cannot be run either:
            [2] x.c:5: assume(b > 0);
                1. b = θb
                θb > 0 (1)
            [3] x.c:6: c = b + b;
                2. c = θb + θb (1)
            [5] x.c:8: a = b;
                3. a = θb (1), replaced later
            [6] x.c:9: a = a - 1;
                4. a = θb - 1 (3)
            [9] x.c:12: assume(c == a);
                θb + θb == θb - 1 (2,4)
        [exit 0]
    "#]]);
}

#[test]
fn a_path_that_can_be_run() {
    check(
        "int twice(int n) { return n + n; }
int main(void) {
  int n = __VERIFIER_nondet_int();
  if (twice(n) == -84 && n > -50 && n < 0) reach_error();
  return 0;
}
",
        "",
        expect![[r#"
            x.c:6: call of `reach_error` (in main)
              the shortest path to it can be run:
                [1] x.c:5: n = input __VERIFIER_nondet_int();
                    1. main::n = __VERIFIER_nondet_int!
                [2] x.c:6: t#1 = twice(n);
                    2. twice::n = __VERIFIER_nondet_int! (1)
                [3] x.c:3: result# = n + n;
                    3. result# = __VERIFIER_nondet_int! + __VERIFIER_nondet_int! (2)
                [4] x.c:6: return from twice
                    4. t#1 = __VERIFIER_nondet_int! + __VERIFIER_nondet_int! (3)
                [5] x.c:6: assume(t#1 == -84);
                    __VERIFIER_nondet_int! + __VERIFIER_nondet_int! == -84 (4)
                [6] x.c:6: assume(n > -50);
                    __VERIFIER_nondet_int! > -50 (1)
                [7] x.c:6: assume(n < 0);
                    __VERIFIER_nondet_int! < 0 (1)
              with x.c:5: input __VERIFIER_nondet_int() = -42
            [exit 0]
        "#]],
    );
}

#[test]
fn a_line_without_a_check_is_an_error() {
    check(NEWTON, "--check-line 5", expect![[r#"
        [stderr]
        error: there is no check at line 5
        [exit 2]
    "#]]);
}

#[test]
fn machines_get_the_tables() {
    check(
        "int lock;
int main(void) {
  lock = 1;
  if (!lock) reach_error();
  return 0;
}
",
        "--json",
        expect![[r#"
            {
              "command": "explain",
              "exit_code": 0,
              "diagnostics": [],
              "arith": "exact",
              "checks": [
                {
                  "message": "call of `reach_error`",
                  "function": "main",
                  "file": "x.c",
                  "line": 6,
                  "path": "infeasible",
                  "steps": [
                    {
                      "number": 1,
                      "file": "x.c",
                      "line": 3,
                      "statement": "the program starts"
                    },
                    {
                      "number": 2,
                      "file": "x.c",
                      "line": 5,
                      "statement": "lock = 1;"
                    },
                    {
                      "number": 3,
                      "file": "x.c",
                      "line": 6,
                      "statement": "assume(!lock);"
                    }
                  ],
                  "context": {
                    "entries": [
                      {
                        "number": 1,
                        "step": 1,
                        "variable": "lock",
                        "value": "0",
                        "depends_on": [],
                        "kind": "assigned",
                        "state": "history"
                      },
                      {
                        "number": 2,
                        "step": 2,
                        "variable": "lock",
                        "value": "1",
                        "depends_on": [],
                        "kind": "assigned",
                        "state": "store"
                      }
                    ],
                    "conditions": [
                      {
                        "step": 3,
                        "formula": "false",
                        "depends_on": [
                          2
                        ]
                      }
                    ]
                  },
                  "core": [
                    {
                      "step": 3,
                      "formula": "false",
                      "depends_on": [
                        2
                      ]
                    }
                  ],
                  "annotations": [],
                  "projection": {
                    "steps": [
                      2,
                      3
                    ],
                    "entries": [
                      {
                        "number": 1,
                        "step": 2,
                        "variable": "lock",
                        "value": "1",
                        "depends_on": [],
                        "kind": "assigned",
                        "state": "store"
                      }
                    ],
                    "conditions": [
                      {
                        "step": 3,
                        "formula": "false",
                        "depends_on": [
                          1
                        ]
                      }
                    ]
                  }
                }
              ],
              "assumptions": []
            }
            [exit 0]
        "#]],
    );
}
