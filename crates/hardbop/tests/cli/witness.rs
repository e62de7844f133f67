//! Witnesses: written, looked at, validated.

use crate::scene::Scene;
use expect_test::{Expect, expect};

const BUG: &str = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
  int n = __VERIFIER_nondet_int();
  int i = 0;
  while (i < 3) {
    if (n == 7 + i) break;
    i++;
  }
  if (i == 2) reach_error();
  return 0;
}
";

const SAFE: &str = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int limit = 10;
int clamp(int x) {
  if (x > limit) return limit;
  return x;
}
int main(void) {
  int i = 0;
  while (__VERIFIER_nondet_int()) {
    if (i < 10) i++;
  }
  if (i > 10 || limit != 10) reach_error();
  return clamp(i);
}
";

fn scene(text: &str) -> Scene {
    Scene::file("x.c", text)
}

/// The lines of a file from one that holds a word on, without the indentation that they share:
/// a picture cannot hold it.
fn tail(scene: &Scene, file: &str, from: &str) -> String {
    let text = std::fs::read_to_string(scene.path().join(file)).expect("it was written");
    let start = text.find(from).expect("the word is there");
    let lines = text[start..].lines();
    lines
        .map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line)))
        .collect()
}

#[test]
fn a_violation_becomes_a_sequence_that_is_confirmed() {
    let scene = scene(BUG);
    scene.output("check x.c --witness w.yml");
    expect![[r#"
          content:
          - segment:
            - waypoint:
                type: function_return
                action: follow
                location:
                  file_name: x.c
                  line: 4
                  column: 33
                  function: main
                constraint:
                  value: "\\result == 9"
                  format: acsl_expression
          - segment:
            - waypoint:
                type: target
                action: follow
                location:
                  file_name: x.c
                  line: 10
                  column: 15
                  function: main
    "#]]
    .assert_eq(&tail(&scene, "w.yml", "  content:"));
    scene.check(
        "validate --witness w.yml --lint",
        expect![[r#"
        well formed, 1 entry
        [exit 0]
    "#]],
    );
    scene.check(
        "validate --witness w.yml x.c",
        expect![[r#"
        violation witness confirmed
        VIOLATED x.c:10: call of `reach_error` (in main)
           4  int n = __VERIFIER_nondet_int();  n = 9
           5  int i = 0;                        i = 0
           6  while (i < 3) {                   i = 0
           7  if (n == 7 + i) break;            n = 9, i = 0
           8  i++;                              i = 1
           6  while (i < 3) {                   i = 1
           7  if (n == 7 + i) break;            n = 9, i = 1
           8  i++;                              i = 2
           6  while (i < 3) {                   i = 2
           7  if (n == 7 + i) break;            n = 9, i = 2
          10  if (i == 2) reach_error();        i = 2
          10  call of `reach_error`
          x.c:4: input __VERIFIER_nondet_int() = 9
        [exit 0]
    "#]],
    );
    let json = scene.json("validate --witness w.yml x.c");
    assert_eq!(json["witnesses"][0]["verdict"], "confirmed");
}

#[test]
fn a_proof_becomes_invariants_and_contracts_that_are_confirmed() {
    let scene = scene(SAFE);
    scene.output("check x.c --witness w.yml --witness-version 2.1 --engine slam");
    expect![[r#"
        content:
        - invariant:
              type: loop_invariant
              location:
                file_name: x.c
                line: 10
                column: 3
                function: main
              value: "limit == 10 && i <= 10"
              format: c_expression
        - invariant:
              type: function_contract
              location:
                file_name: x.c
                line: 8
                column: 5
                function: main
              requires: "limit == 10"
              ensures: "1"
              format: acsl_expression
    "#]]
    .assert_eq(&tail(&scene, "w.yml", "  content:"));
    scene.check(
        "validate --witness w.yml x.c",
        expect![[r#"
        correctness witness confirmed
        [exit 0]
    "#]],
    );
}

#[test]
fn graphml_is_written_and_read_back() {
    for text in [BUG, SAFE] {
        let scene = scene(text);
        scene.output("check x.c --witness w.graphml");
        let lint = scene.output("validate --witness w.graphml --lint");
        assert_eq!(lint.status.code(), Some(0));
        let validated = scene.output("validate --witness w.graphml x.c");
        assert_eq!(validated.status.code(), Some(0), "{validated:?}");
    }
}

const METADATA: &str = "  metadata:
    format_version: \"2.0\"
    uuid: 8a60ee66-7879-42f1-8be7-ae8db5b0e333
    creation_time: \"2024-04-29T13:13:07+02:00\"
    producer: {name: other, version: \"1\"}
    task:
      input_files: [x.c]
      input_file_hashes: {}
      specification: \"G ! call(reach_error())\"
      data_model: LP64
      language: C
";

#[track_caller]
fn check_validation(program: &str, kind: &str, content: &str, expected: Expect) {
    let witness = format!("- entry_type: {kind}\n{METADATA}  content:\n{content}");
    scene(program)
        .and_file("w.yml", witness)
        .check("validate --witness w.yml x.c --quiet", expected);
}

#[test]
fn branches_are_followed_at_their_first_visit() {
    let target = "  - segment:\n    - waypoint: {type: target, action: follow, location: {file_name: x.c, line: 10, column: 15}}\n";
    let branch = |line: u32, value: &str| {
        format!(
            "  - segment:\n    - waypoint: {{type: branching, action: follow, constraint: {{value: \
             \"{value}\"}}, location: {{file_name: x.c, line: {line}}}}}\n"
        )
    };
    let good = [branch(7, "false"), branch(7, "false"), branch(7, "true")].concat();
    check_validation(
        BUG,
        "violation_sequence",
        &format!("{good}{target}"),
        expect![[r#"
            violation witness confirmed
            VIOLATED x.c:10: call of `reach_error` (in main)
               4  int n = __VERIFIER_nondet_int();  n = 9
               5  int i = 0;                        i = 0
               6  while (i < 3) {                   i = 0
               7  if (n == 7 + i) break;            n = 9, i = 0
               8  i++;                              i = 1
               6  while (i < 3) {                   i = 1
               7  if (n == 7 + i) break;            n = 9, i = 1
               8  i++;                              i = 2
               6  while (i < 3) {                   i = 2
               7  if (n == 7 + i) break;            n = 9, i = 2
              10  if (i == 2) reach_error();        i = 2
              10  call of `reach_error`
              x.c:4: input __VERIFIER_nondet_int() = 9
            [exit 0]
        "#]],
    );
    let bad = [branch(7, "false"), branch(7, "true")].concat();
    check_validation(
        BUG,
        "violation_sequence",
        &format!("{bad}{target}"),
        expect![[r#"
            violation witness rejected: no execution that follows it violates the property
            [exit 1]
        "#]],
    );
}

#[test]
fn what_is_to_be_avoided_is_avoided() {
    let content = |value: &str| {
        format!(
            "  - segment:
    - waypoint: {{type: assumption, action: avoid, constraint: {{value: \"{value}\", format: c_expression}}, location: {{file_name: x.c, line: 10, column: 3}}}}
    - waypoint: {{type: target, action: follow, location: {{file_name: x.c, line: 10}}}}
"
        )
    };
    check_validation(
        BUG,
        "violation_sequence",
        &content("n > 10"),
        expect![[r#"
            violation witness confirmed
            VIOLATED x.c:10: call of `reach_error` (in main)
               4  int n = __VERIFIER_nondet_int();  n = 9
               5  int i = 0;                        i = 0
               6  while (i < 3) {                   i = 0
               7  if (n == 7 + i) break;            n = 9, i = 0
               8  i++;                              i = 1
               6  while (i < 3) {                   i = 1
               7  if (n == 7 + i) break;            n = 9, i = 1
               8  i++;                              i = 2
               6  while (i < 3) {                   i = 2
               7  if (n == 7 + i) break;            n = 9, i = 2
              10  if (i == 2) reach_error();        n = 9, i = 2
              10  call of `reach_error`
              x.c:4: input __VERIFIER_nondet_int() = 9
            [exit 0]
        "#]],
    );
    check_validation(
        BUG,
        "violation_sequence",
        &content("n == 9"),
        expect![[r#"
            violation witness rejected: no execution that follows it violates the property
            [exit 1]
        "#]],
    );
}

#[test]
fn invariants_of_others_are_checked() {
    let content = |value: &str| {
        format!(
            "  - invariant: {{type: loop_invariant, location: {{file_name: x.c, line: 10, column: 3, \
             function: main}}, value: \"{value}\", format: c_expression}}\n"
        )
    };
    check_validation(
        SAFE,
        "invariant_set",
        &content("0 <= i && i <= 10"),
        expect![[r#"
            correctness witness confirmed
            [exit 0]
        "#]],
    );
    check_validation(
        SAFE,
        "invariant_set",
        &content("i < 1"),
        expect![[r#"
        correctness witness rejected: an invariant does not hold
        VIOLATED x.c:10: invariant i < 1 (in main)
           9  int i = 0;                         i = 0
          10  while (__VERIFIER_nondet_int()) {  __VERIFIER_nondet_int() = 1
          11  if (i < 10) i++;                   i = 1
          10  while (__VERIFIER_nondet_int()) {  i = 1
          10  invariant i < 1
          x.c:10: input __VERIFIER_nondet_int() = 1
        [exit 1]
    "#]],
    );
    check_validation(
        SAFE,
        "invariant_set",
        &content("unknown_name > 3"),
        expect![[r#"
            correctness witness unknown: the property holds, but not all of the witness could be checked
            [exit 3]
        "#]],
    );
}

#[test]
fn a_broken_witness_is_pointed_at() {
    let lint = |text: &str, expected: Expect| {
        Scene::file("w.yml", text).check("validate --witness w.yml --lint", expected);
    };
    lint(
        "",
        expect![[r#"
        [stderr]
        error: the witness is empty
         --> w.yml:1:1
          |
        1 | 
          | ^
        [exit 2]
    "#]],
    );
    lint(
        "entry_type: a\n",
        expect![[r#"
        [stderr]
        error: a witness is a list of entries, and this is a mapping
         --> w.yml:1:1
          |
        1 | entry_type: a
          | ^
        [exit 2]
    "#]],
    );
    lint(
        &format!(
            "- entry_type: violation_sequence\n{METADATA}  content:\n  - segment:\n    - waypoint:\n        \
             type: assumption\n        action: follow\n        location: {{file_name: x.c, line: 0}}\n"
        ),
        expect![[r#"
            [stderr]
            warning: `x.c` has no hash
             --> w.yml:8:21
              |
            8 |       input_files: [x.c]
              |                     ^^^
            error: expected a number from 1 on
              --> w.yml:18:42
               |
            18 |         location: {file_name: x.c, line: 0}
               |                                          ^
            error: the segment has no `follow` waypoint
              --> w.yml:15:7
               |
            15 |     - waypoint:
               |       ^
            2 errors
            [exit 2]
        "#]],
    );
    lint(
        &format!(
            "- entry_type: violation_sequence\n{METADATA}  content:\n  - segment:\n    - waypoint: {{type: \
             function_enter, action: follow, location: {{file_name: x.c, line: 3, colum: 4}}}}\n"
        ),
        expect![[r#"
            [stderr]
            warning: `x.c` has no hash
             --> w.yml:8:21
              |
            8 |       input_files: [x.c]
              |                     ^^^
            warning: the location has no key `colum` in this format
              --> w.yml:15:92
               |
            15 | ...tion: follow, location: {file_name: x.c, line: 3, colum: 4}}
               |                                                      ^^^^^
            error: the last segment must end in a `target`
              --> w.yml:15:24
               |
            15 |     - waypoint: {type: function_enter, action: follow, location: {file_name: x.c, line: 3, colum: 4}...
               |                        ^^^^^^^^^^^^^^
            [exit 2]
        "#]],
    );
    lint(
        "- entry_type: invariant_set\n  metadata: {format_version: \"3.0\"}\n  content: []\n",
        expect![[r#"
            [stderr]
            error: format version `3.0` is not known
             --> w.yml:2:30
              |
            2 |   metadata: {format_version: "3.0"}
              |                              ^^^^^ 2.0, 2.1 and 2.2 are
            [exit 2]
        "#]],
    );
    lint(
        "<graphml><graph></graphml>",
        expect![[r#"
        [stderr]
        error: this is not XML: expected 'graph' tag, not 'graphml' at 1:17
         --> w.yml:1:17
          |
        1 | <graphml><graph></graphml>
          |                 ^
        [exit 2]
    "#]],
    );
}

#[test]
fn a_witness_about_another_file_is_noticed() {
    let scene = scene(BUG);
    scene.output("check x.c --witness w.yml");
    let changed = BUG.replace("i == 2", "i == 1");
    std::fs::write(scene.path().join("x.c"), changed).expect("it can be written");
    scene.check(
        "validate --witness w.yml x.c",
        expect![[r#"
        violation witness rejected: no execution that follows it violates the property
        [stderr]
        warning: `x.c` is not the file that the witness is about: its hash differs
         --> w.yml:1:1
          |
        1 | - entry_type: violation_sequence
          | ^
        [exit 1]
    "#]],
    );
}

const CHOICE: &str = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
  int n = __VERIFIER_nondet_int();
  int level = n > 5 ? (n > 9 ? 2 : 1) : 0;
  if (!(__VERIFIER_nondet_int() || level != 1)) reach_error();
  return 0;
}
";

/// A sequence of `branching` waypoints: line, column and value.
fn branches(points: &[(u32, u32, &str)]) -> String {
    let mut content = String::new();
    for (line, column, value) in points {
        content.push_str(&format!(
            "  - segment:\n    - waypoint: {{type: branching, action: follow, constraint: {{value: \"{value}\"}}, \
             location: {{file_name: x.c, line: {line}, column: {column}}}}}\n"
        ));
    }
    content.push_str(
        "  - segment:\n    - waypoint: {type: target, action: follow, location: {file_name: x.c, line: 6}}\n",
    );
    content
}

#[test]
fn choices_in_expressions_and_conditions_with_calls_are_followed() {
    check_validation(
        CHOICE,
        "violation_sequence",
        &branches(&[(5, 21, "true"), (5, 30, "false"), (6, 3, "true")]),
        expect![[r#"
            violation witness confirmed
            VIOLATED x.c:6: call of `reach_error` (in main)
              4  int n = __VERIFIER_nondet_int();                              n = 8
              5  int level = n > 5 ? (n > 9 ? 2 : 1) : 0;                      n = 8, level = 1
              6  if (!(__VERIFIER_nondet_int() || level != 1)) reach_error();  __VERIFIER_nondet_int() = 0, level = 1
              6  call of `reach_error`
              x.c:4: input __VERIFIER_nondet_int() = 8
              x.c:6: input __VERIFIER_nondet_int() = 0
            [exit 0]
        "#]],
    );
    // Ten and more is another level.
    check_validation(
        CHOICE,
        "violation_sequence",
        &branches(&[(5, 21, "true"), (5, 30, "true")]),
        expect![[r#"
            violation witness rejected: no execution that follows it violates the property
            [exit 1]
        "#]],
    );
    // The inner choice is not evaluated then.
    check_validation(
        CHOICE,
        "violation_sequence",
        &branches(&[(5, 21, "false"), (5, 30, "false")]),
        expect![[r#"
            violation witness rejected: no execution that follows it violates the property
            [exit 1]
        "#]],
    );
    check_validation(
        CHOICE,
        "violation_sequence",
        &branches(&[(6, 3, "false")]),
        expect![[r#"
            violation witness rejected: no execution that follows it violates the property
            [exit 1]
        "#]],
    );
}

#[test]
fn endless_executions_and_threads_are_read_and_not_followed() {
    let cycle = "  - segment:\n    - waypoint: {type: branching, action: cycle, constraint: {value: \"true\"}, \
                 location: {file_name: x.c, line: 5}}\n";
    let witness = format!(
        "- entry_type: violation_sequence\n{}  content:\n{cycle}",
        METADATA.replace("G ! call(reach_error())", "F end")
    );
    let endless = scene(CHOICE).and_file("w.yml", witness);
    endless.check(
        "validate --witness w.yml --lint -q",
        expect![[r#"
        well formed, 1 entry
        [exit 0]
    "#]],
    );
    endless.check(
        "validate --witness w.yml x.c -q",
        expect![[r#"
        [stderr]
        error: witnesses about `termination` are not understood
        [exit 2]
    "#]],
    );
    let both = "  - segment:
    - waypoint: {type: assumption, action: follow, thread_id: 0, constraint: {value: \"n == 7\", format: c_expression}, location: {file_name: x.c, line: 5}}
    - waypoint: {type: assumption, action: follow, thread_id: 1, constraint: {value: \"n == 7\", format: c_expression}, location: {file_name: x.c, line: 5}}
  - segment:
    - waypoint: {type: target, action: follow, location: {file_name: x.c, line: 6}}
";
    let witness = format!(
        "- entry_type: violation_sequence\n{}  content:\n{both}",
        METADATA.replace("\"2.0\"", "\"2.2\"")
    );
    scene(CHOICE)
        .and_file("w.yml", witness)
        .check("validate --witness w.yml x.c -q", expect![[r#"
            violation witness unknown: the property is violated, but not all of the witness could be followed
            VIOLATED x.c:6: call of `reach_error` (in main)
              4  int n = __VERIFIER_nondet_int();                              n = 7
              5  int level = n > 5 ? (n > 9 ? 2 : 1) : 0;                      n = 7, level = 1
              6  if (!(__VERIFIER_nondet_int() || level != 1)) reach_error();  __VERIFIER_nondet_int() = 0, level = 1
              6  call of `reach_error`
              x.c:4: input __VERIFIER_nondet_int() = 7
              x.c:6: input __VERIFIER_nondet_int() = 0
            [exit 3]
        "#]]);
}

/// An automaton of GraphML with one edge for each list of facts, one after the other.
fn automaton(edges: &[&[(&str, &str)]]) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n<graph \
         edgedefault=\"directed\">\n",
    );
    for (key, value) in [
        ("witness-type", "violation_witness"),
        ("sourcecodelang", "C"),
        ("producer", "other"),
        (
            "specification",
            "CHECK( init(main()), LTL(G ! call(reach_error())) )",
        ),
        ("programfile", "x.c"),
        ("programhash", ""),
        ("architecture", "64bit"),
    ] {
        out.push_str(&format!("<data key=\"{key}\">{value}</data>\n"));
    }
    out.push_str("<node id=\"0\"><data key=\"entry\">true</data></node>\n");
    for (index, facts) in edges.iter().enumerate() {
        let next = index + 1;
        let end = if next == edges.len() {
            "<data key=\"violation\">true</data>"
        } else {
            ""
        };
        out.push_str(&format!("<node id=\"{next}\">{end}</node>\n"));
        out.push_str(&format!("<edge source=\"{index}\" target=\"{next}\">"));
        for (key, value) in *facts {
            out.push_str(&format!("<data key=\"{key}\">{value}</data>"));
        }
        out.push_str("</edge>\n");
    }
    out.push_str("</graph></graphml>\n");
    out
}

#[track_caller]
fn check_automaton(edges: &[&[(&str, &str)]], expected: Expect) {
    scene(BUG)
        .and_file("w.graphml", automaton(edges))
        .check("validate --witness w.graphml x.c", expected);
}

#[test]
fn automata_are_followed_by_conditions_results_and_assumptions() {
    let input: &[(&str, &str)] = &[
        ("startline", "4"),
        ("assumption", "\\result == 9;"),
        ("assumption.scope", "main"),
    ];
    let wrong: &[(&str, &str)] = &[("startline", "4"), ("assumption", "n == 8; i == 0;")];
    let right: &[(&str, &str)] = &[("startline", "5"), ("assumption", "n == 9; i == 0;")];
    let stays: &[(&str, &str)] = &[("startline", "7"), ("control", "condition-false")];
    let leaves: &[(&str, &str)] = &[("startline", "7"), ("control", "condition-true")];
    let target: &[(&str, &str)] = &[("startline", "10"), ("enterFunction", "reach_error")];
    check_automaton(
        &[input, right, stays, stays, leaves, target],
        expect![[r#"
        violation witness confirmed
        VIOLATED x.c:10: call of `reach_error` (in main)
           4  int n = __VERIFIER_nondet_int();  n = 9
           5  int i = 0;                        i = 0, n = 9
           6  while (i < 3) {                   i = 0
           7  if (n == 7 + i) break;            n = 9, i = 0
           8  i++;                              i = 1
           6  while (i < 3) {                   i = 1
           7  if (n == 7 + i) break;            n = 9, i = 1
           8  i++;                              i = 2
           6  while (i < 3) {                   i = 2
           7  if (n == 7 + i) break;            n = 9, i = 2
          10  if (i == 2) reach_error();        i = 2
          10  call of `reach_error`
          x.c:4: input __VERIFIER_nondet_int() = 9
        [exit 0]
    "#]],
    );
    check_automaton(
        &[input, stays, leaves, target],
        expect![[r#"
        violation witness rejected: no execution that follows it violates the property
        [exit 1]
    "#]],
    );
    check_automaton(
        &[input, wrong, target],
        expect![[r#"
        violation witness rejected: no execution that follows it violates the property
        [exit 1]
    "#]],
    );
    // What cannot be understood is told, and nothing is confirmed.
    let odd: &[(&str, &str)] = &[("startline", "5"), ("assumption", "n = 9;")];
    check_automaton(
        &[odd, target],
        expect![[r#"
        violation witness unknown: the property is violated, but not all of the witness could be followed
        VIOLATED x.c:10: call of `reach_error` (in main)
           4  int n = __VERIFIER_nondet_int();  n = 9
           5  int i = 0;                        i = 0
           6  while (i < 3) {                   i = 0
           7  if (n == 7 + i) break;            n = 9, i = 0
           8  i++;                              i = 1
           6  while (i < 3) {                   i = 1
           7  if (n == 7 + i) break;            n = 9, i = 1
           8  i++;                              i = 2
           6  while (i < 3) {                   i = 2
           7  if (n == 7 + i) break;            n = 9, i = 2
          10  if (i == 2) reach_error();        i = 2
          10  call of `reach_error`
          x.c:4: input __VERIFIER_nondet_int() = 9
        [stderr]
        warning: `(n = 9)` is not understood: an expression has no side effects
          --> w.graphml:13:1
           |
        13 | <edge source="0" target="1"><data key="startline">5</data><data key="assumption">n = 9;</data></edge...
           | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning: this `assumption` waypoint at line 5 is not followed
          --> w.graphml:13:1
           |
        13 | <edge source="0" target="1"><data key="startline">5</data><data key="assumption">n = 9;</data></edge...
           | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        [exit 3]
    "#]],
    );
    let nowhere: &[(&str, &str)] = &[("control", "condition-true")];
    check_automaton(
        &[nowhere, target],
        expect![[r#"
        violation witness unknown: the property is violated, but not all of the witness could be followed
        VIOLATED x.c:10: call of `reach_error` (in main)
           4  int n = __VERIFIER_nondet_int();  n = 9
           5  int i = 0;                        i = 0
           6  while (i < 3) {                   i = 0
           7  if (n == 7 + i) break;            n = 9, i = 0
           8  i++;                              i = 1
           6  while (i < 3) {                   i = 1
           7  if (n == 7 + i) break;            n = 9, i = 1
           8  i++;                              i = 2
           6  while (i < 3) {                   i = 2
           7  if (n == 7 + i) break;            n = 9, i = 2
          10  if (i == 2) reach_error();        i = 2
          10  call of `reach_error`
          x.c:4: input __VERIFIER_nondet_int() = 9
        [exit 3]
    "#]],
    );
}
