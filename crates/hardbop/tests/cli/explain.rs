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
    check(
        NEWTON,
        "--arith int",
        expect![[r#"
            x.c:12: call of `reach_error` (in main)
              the shortest path to it cannot be run over the integers:
                [1] x.c:4: b = input __VERIFIER_nondet_int();
                    1. b = input1
                [2] x.c:5: assume(b > 0);
                    input1 >= 1 (1)
                [3] x.c:6: c = b + b;
                    2. c = 2 * input1 (1)
                [4] x.c:7: z = c;
                    3. z = 2 * input1 (2)
                [5] x.c:8: a = b;
                    4. a = input1 (1), replaced later
                [6] x.c:9: a = a - 1;
                    5. a = input1 - 1 (4), forgotten later
                [7] x.c:10: x = b;
                    6. x = input1 (1)
                [8] x.c:11: assume(a < b);
                    7. a = θa
                    θa + 1 <= input1 (1,7)
                [9] x.c:12: assume(c == a);
                    θa == 2 * input1 (2,7)
              these conditions contradict each other:
                [2] input1 >= 1
                [8] θa + 1 <= input1
                [9] θa == 2 * input1
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
        "#]],
    );
}

#[test]
fn the_same_in_machine_words() {
    check(
        NEWTON,
        "--check-line 12",
        expect![[r#"
            x.c:12: call of `reach_error` (in main)
              the shortest path to it cannot be run:
                [1] x.c:4: b = input __VERIFIER_nondet_int();
                    1. b = input1
                [2] x.c:5: assume(b > 0);
                    input1 > 0 (1)
                [3] x.c:6: c = b + b;
                    2. c = input1 + input1 (1)
                [4] x.c:7: z = c;
                    3. z = input1 + input1 (2)
                [5] x.c:8: a = b;
                    4. a = input1 (1), replaced later
                [6] x.c:9: a = a - 1;
                    5. a = input1 - 1 (4)
                [7] x.c:10: x = b;
                    6. x = input1 (1)
                [8] x.c:11: assume(a < b);
                    input1 - 1 < input1 (1,5)
                [9] x.c:12: assume(c == a);
                    input1 + input1 == input1 - 1 (2,5)
              these conditions contradict each other:
                [2] input1 > 0
                [9] input1 + input1 == input1 - 1
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
        "#]],
    );
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
                    1. main::n = input1
                [2] x.c:6: twice(n);
                    2. twice::n = input1 (1)
                [3] x.c:3: result# = n + n;
                    3. result# = input1 + input1 (2)
                [4] x.c:6: return from twice
                    4. twice(n) = input1 + input1 (3)
                [5] x.c:6: assume(twice(n) == -84);
                    input1 + input1 == -84 (4)
                [6] x.c:6: assume(n > -50);
                    input1 > -50 (1)
                [7] x.c:6: assume(n < 0);
                    input1 < 0 (1)
              with x.c:5: input __VERIFIER_nondet_int() = -42
            [exit 0]
        "#]],
    );
}

#[test]
fn a_line_without_a_check_is_an_error() {
    check(
        NEWTON,
        "--check-line 5",
        expect![[r#"
        [stderr]
        error: there is no check at line 5
        [exit 2]
    "#]],
    );
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

/// A counter that has to be known exactly, and a flag that does not matter.
const COUNTED: &str = "int main(void) {
  int i, flag = __VERIFIER_nondet_int();
  for (i = 0; i < 2; i++) flag = !flag;
  if (i != 2) reach_error();
  return 0;
}
";

#[test]
fn every_path_that_the_loop_meets() {
    check(
        COUNTED,
        "--loop",
        expect![[r#"
        round 1: x.c:6: call of `reach_error` (in main)
          the path that Bebop finds to it cannot be run:
            [1] x.c:4: flag = input __VERIFIER_nondet_int();
                1. flag = input1
            [2] x.c:5: i = 0;
                2. i = 0
            [3] x.c:5: assume(!(i < 2));
                false (2)
          these conditions contradict each other:
            [3] false
          these statements alone cannot be run either:
            [2] x.c:5: i = 0;
                1. i = 0
            [3] x.c:5: assume(!(i < 2));
                false (1)
          predicates that keep such paths away:
        main: i < 2
        round 2: x.c:6: call of `reach_error` (in main)
          the path that Bebop finds to it cannot be run:
            [1] x.c:4: flag = input __VERIFIER_nondet_int();
                1. flag = input1, replaced later
            [2] x.c:5: i = 0;
                2. i = 0, replaced later
            [3] x.c:5: assume(i < 2);
                true (2)
            [4] x.c:5: flag = !flag;
                3. flag = input1 == 0 ? 1 : 0 (1)
            [5] x.c:5: i = i + 1;
                4. i = 1 (2)
            [6] x.c:5: assume(!(i < 2));
                false (4)
          these conditions contradict each other:
            [6] false
          these statements alone cannot be run either:
            [2] x.c:5: i = 0;
                1. i = 0, replaced later
            [5] x.c:5: i = i + 1;
                2. i = 1 (1)
            [6] x.c:5: assume(!(i < 2));
                false (2)
          predicates that keep such paths away:
        main: i < 2
        main: i == 2
        PROVED x.c:6: call of `reach_error` (in main)
        [exit 0]
    "#]],
    );
}

#[test]
fn a_path_of_the_loop_that_can_be_run() {
    let text = "int main(void) {
  int n = __VERIFIER_nondet_int();
  while (n > 5) n = n - 7;
  if (n == 4) reach_error();
  return 0;
}
";
    check(
        text,
        "--loop",
        expect![[r#"
        round 1: x.c:6: call of `reach_error` (in main)
          the path that Bebop finds to it can be run:
            [1] x.c:4: n = input __VERIFIER_nondet_int();
                1. n = input1
            [2] x.c:5: assume(!(n > 5));
                input1 <= 5 (1)
            [3] x.c:6: assume(n == 4);
                input1 == 4 (1)
          with x.c:4: input __VERIFIER_nondet_int() = 4
        VIOLATED x.c:6: call of `reach_error` (in main)
        [exit 0]
    "#]],
    );
}

/// What one stage prints the next one reads: predicates of the loop, by which Bebop then proves it.
#[test]
fn predicates_of_the_loop_are_read_by_the_abstraction() {
    let prelude = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n";
    let scene = Scene::file("x.c", format!("{prelude}{COUNTED}"));
    let printed = |scene: &Scene, arguments: &str| {
        String::from_utf8(scene.output(arguments).stdout).expect("text")
    };
    let told = printed(&scene, "explain x.c --loop");
    let predicates: Vec<&str> = told
        .lines()
        .filter(|line| line.starts_with("main: "))
        .collect();
    assert!(!predicates.is_empty(), "{told}");
    let scene = scene.and_file("x.pred", predicates.join("\n"));
    let program = printed(&scene, "abstract x.c --pred x.pred");
    let scene = scene.and_file("x.bp", program);
    scene.check(
        "bebop x.bp --label ERROR_1 --no-trace",
        expect![[r#"
        x.bp:21: label ERROR_1 in main: reachable
        1 label reachable
        [exit 1]
    "#]],
    );
}

#[test]
fn several_checks_are_explained_each_by_itself() {
    let text = "int held;
int main(void) {
  held = 1;
  if (!held) reach_error();
  if (__VERIFIER_nondet_int())
    if (held > 1) reach_error();
  return 0;
}
";
    check(
        text,
        "",
        expect![[r#"
        x.c:6: call of `reach_error` (in main)
          the shortest path to it cannot be run:
            [1] x.c:3: the program starts
                1. held = 0, replaced later
            [2] x.c:5: held = 1;
                2. held = 1
            [3] x.c:6: assume(!held);
                false (2)
          these conditions contradict each other:
            [3] false
          these statements alone cannot be run either:
            [2] x.c:5: held = 1;
                1. held = 1
            [3] x.c:6: assume(!held);
                false (1)
        x.c:8: call of `reach_error` (in main)
          the shortest path to it cannot be run:
            [1] x.c:3: the program starts
                1. held = 0, replaced later
            [2] x.c:5: held = 1;
                2. held = 1
            [3] x.c:6: assume(held);
                true (2)
            [4] x.c:7: input __VERIFIER_nondet_int();
                3. __VERIFIER_nondet_int() = input1
            [5] x.c:7: assume(__VERIFIER_nondet_int());
                input1 != 0 (3)
            [6] x.c:8: assume(held > 1);
                false (2)
          these conditions contradict each other:
            [6] false
          these statements alone cannot be run either:
            [2] x.c:5: held = 1;
                1. held = 1
            [6] x.c:8: assume(held > 1);
                false (1)
        [exit 0]
    "#]],
    );
}
