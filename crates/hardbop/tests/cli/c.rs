//! `hardbop c`.

use crate::scene::Scene;
use expect_test::{Expect, expect};

#[track_caller]
fn check_run(program: &str, options: &str, expected: Expect) {
    Scene::file("x.c", program).check(&format!("c run x.c {options}"), expected);
}

#[test]
fn runs() {
    let scene = Scene::examples();
    scene.check(
        "c run c/midpoint.c --inputs 3,9",
        expect![[r#"
        c/midpoint.c:12: input __VERIFIER_nondet_int() = 3
        c/midpoint.c:13: input __VERIFIER_nondet_int() = 9
        returned 0, after 9 steps
        [exit 0]
    "#]],
    );
    scene.check(
        "c run c/midpoint.c --inputs 2000000000,2100000000",
        expect![[r#"
        c/midpoint.c:12: input __VERIFIER_nondet_int() = 2000000000
        c/midpoint.c:13: input __VERIFIER_nondet_int() = 2100000000
        c/midpoint.c:17: violated: assertion low <= middle && middle <= high, after 7 steps
        [exit 1]
    "#]],
    );
    scene.check(
        "c run c/midpoint.c --inputs 2000000000,2100000000 --check overflow",
        expect![[r#"
        c/midpoint.c:12: input __VERIFIER_nondet_int() = 2000000000
        c/midpoint.c:13: input __VERIFIER_nondet_int() = 2100000000
        c/midpoint.c:8: violated: signed overflow in low + high, after 6 steps
        [exit 1]
    "#]],
    );
    scene.check(
        "c run c/driver.c --inputs 1,0 --trace 6",
        expect![[r#"
        c/driver.c:24: assume(!t#1);
        c/driver.c:28: assume(!(packets != old));
        c/driver.c:29: release();
        c/driver.c:15: assume(locked);
        c/driver.c:16: locked = 0;
        c/driver.c:30: result# = 0;
        c/driver.c:24: input __VERIFIER_nondet_int() = 1
        c/driver.c:24: input __VERIFIER_nondet_int() = 0
        returned 0, after 23 steps
        [exit 0]
    "#]],
    );
}

#[test]
fn inputs_from_a_file() {
    Scene::file("x.c", "int __VERIFIER_nondet_int(void); int main(void) { return __VERIFIER_nondet_int() - __VERIFIER_nondet_int(); }")
        .and_file("values", "44, 0x2\n")
        .check("c run x.c --inputs @values", expect![[r#"
            x.c:1: input __VERIFIER_nondet_int() = 44
            x.c:1: input __VERIFIER_nondet_int() = 2
            returned 42, after 3 steps
            [exit 0]
        "#]]);
}

#[test]
fn bad_inputs() {
    let program = "int main(void) { return 0; }";
    check_run(
        program,
        "--inputs 1,two",
        expect![[r#"
        [stderr]
        error: input 2 is not a number, a character or bytes: `two`
        [exit 2]
    "#]],
    );
    check_run(
        program,
        "--inputs @nowhere",
        expect![[r#"
        [stderr]
        error: cannot read `nowhere`: there is no such file
        [exit 2]
    "#]],
    );
}

#[test]
fn the_ways_a_run_ends() {
    check_run(
        "int main(void) { int z = 0; return 1 / z; }",
        "",
        expect![[r#"
        x.c:1: undefined: division by zero in `return 1 / z;`, after 2 steps
        [exit 1]
    "#]],
    );
    check_run(
        "#include <stdlib.h>\nint main(void) { exit(3); }",
        "",
        expect![[r#"
            x.c:2: ended in `main` in `exit(3)`, after 1 step
            [exit 0]
        "#]],
    );
    check_run(
        "int main(void) { for (;;) ; }",
        "--steps 10",
        expect![[r#"
        the limit on steps was reached, after 10 steps
        [exit 3]
    "#]],
    );
    check_run(
        "int main(void) { int *p = 0; return *p; }",
        "",
        expect![[r#"
        x.c:1: undefined: null pointer dereferenced in `return *p;`, after 2 steps
        [exit 1]
    "#]],
    );
    check_run(
        "int main(void) { ERROR: return 0; }",
        "--error-label ERROR",
        expect![[r#"
        x.c:1: violated: label `ERROR` is reached, after 1 step
        [exit 1]
    "#]],
    );
    check_run(
        "void reach_error(void); int main(void) { reach_error(); }",
        "",
        expect![[r#"
        x.c:1: violated: call of `reach_error`, after 1 step
        [exit 1]
    "#]],
    );
}

#[test]
fn what_a_run_rests_on() {
    check_run(
        "int f(int); int main(void) { return f(1); }",
        "",
        expect![[r#"
        returned 0, after 2 steps
        assuming that `f`, first called at x.c:1, returns anything and changes nothing
        [stderr]
        warning: function `f` is not defined
         --> x.c:1:37
          |
        1 | int f(int); int main(void) { return f(1); }
          |                                     ^^^^ it is taken to return anything
        [exit 0]
    "#]],
    );
    check_run(
        "int f(int); int main(void) { return f(1); }",
        "--undefined havoc -q",
        expect![[r#"
            returned 0, after 3 steps
            assuming that `f`, first called at x.c:1, returns anything and changes any memory it can reach
            [exit 0]
        "#]],
    );
}

#[test]
fn another_entry() {
    check_run(
        "int start(void) { return 7; }",
        "--entry start",
        expect![[r#"
        returned 7, after 1 step
        [exit 0]
    "#]],
    );
    check_run(
        "int start(void) { return 7; }",
        "",
        expect![[r#"
        [stderr]
        error: the program has no function `main` to start at; `--entry start` starts at that function, with arguments that may be anything, and `hardbop check --each` looks at every function by itself
        [exit 2]
    "#]],
    );
}

#[test]
fn several_files_and_the_preprocessor_s_options() {
    Scene::file(
        "a.c",
        "#include \"b.h\"\nint main(void) { return twice(N) + EXTRA; }",
    )
    .and_file("b.c", "int twice(int x) { return 2 * x; }")
    .and_file("b.h", "int twice(int x);")
    .and_file("extra.h", "#define EXTRA 1")
    .check(
        "c run a.c b.c -I . -DN=20 --include extra.h",
        expect![[r#"
            returned 41, after 3 steps
            [exit 0]
        "#]],
    );
}

#[test]
fn data_models() {
    let program = "int main(void) { return sizeof(long) * 10 + sizeof(void *); }";
    check_run(
        program,
        "",
        expect![[r#"
        returned 88, after 1 step
        [exit 0]
    "#]],
    );
    check_run(
        program,
        "--data-model ilp32",
        expect![[r#"
        returned 44, after 1 step
        [exit 0]
    "#]],
    );
}

#[test]
fn preprocessed_files_keep_their_lines() {
    Scene::file(
        "x.i",
        "# 41 \"orig.c\"\nvoid reach_error(void);\nint main(void) { reach_error(); }\n",
    )
    .check(
        "c run x.i",
        expect![[r#"
            orig.c:42: violated: call of `reach_error`, after 1 step
            [exit 1]
        "#]],
    );
}

#[test]
fn a_compilation_database() {
    let scene = Scene::file("a.c", "int main(void) { return N; }");
    let directory = scene.path();
    let database = serde_json::json!([
        { "directory": directory, "file": "a.c", "command": "cc -DN=5 -c a.c -o a.o" }
    ]);
    let scene = scene.and_file("compile_commands.json", database.to_string());
    let text = |command: &str| String::from_utf8(scene.output(command).stdout).unwrap();
    let all = text("c run --compile-commands compile_commands.json");
    assert!(all.starts_with("returned 5, "), "{all}");
    let one = text("c run a.c --compile-commands compile_commands.json");
    assert!(one.starts_with("returned 5, "), "{one}");
    let scene = scene.and_file("bad.json", "{");
    assert_eq!(
        scene
            .output("c run --compile-commands bad.json")
            .status
            .code(),
        Some(2)
    );
    scene.check(
        "c run b.c --compile-commands compile_commands.json",
        expect![[r#"
        [stderr]
        error: `compile_commands.json` does not name `b.c`
        [exit 2]
    "#]],
    );
}

#[test]
fn the_system_s_preprocessor() {
    let scene = Scene::file("x.c", "#ifdef N\nint main(void) { return N; }\n#endif\n");
    scene.check(
        "c run x.c --cpp gcc -DN=3",
        expect![[r#"
            returned 3, after 1 step
            [exit 0]
        "#]],
    );
    let broken = Scene::file("x.c", "#include \"nowhere.h\"\n").output("c run x.c --cpp gcc");
    assert_eq!(broken.status.code(), Some(2));
    let errors = String::from_utf8(broken.stderr).unwrap();
    assert!(
        errors.starts_with("error: gcc -E failed:") && errors.contains("nowhere.h"),
        "{errors}"
    );
}

#[test]
fn a_program_is_shown_after_a_pass() {
    let text = "int g;
static void more(int by) { g += by; }
int down(int n) { return n > 0 ? down(n - 1) : g; }
int main(void) { more(2); return down(3); }
";
    let scene = Scene::file("x.c", text);
    scene.check(
        "c dump x.c --function main --after inline",
        expect![[r#"
            int main()
              int by;
              0 -> 3  skip;
              1 -> 2  result# = down(3);
              2: exit
              3 -> 4  by = 2;
              4 -> 5  g = g + by;
              5 -> 1  skip;
            [exit 0]
        "#]],
    );
    scene.check(
        "c dump x.c --after depths",
        expect![[r#"
        int g = {};
        unsigned int depth of down = {[0] = 0U};

        void more(int by)
          0 -> 1  g = g + by;
          1: exit

        int down(int n)
          int t#1;
          int t#2;
          0 -> 1  assume(n > 0);
          0 -> 4  assume(!(n > 0));
          1 -> 2  t#2 = down(n - 1);
          2 -> 3  t#1 = t#2;
          3 -> 5  result# = t#1;
          4 -> 3  t#1 = g;
          5: exit

        int main()
          0 -> 1  more(2);
          1 -> 2  result# = down(3);
          2: exit
        [exit 0]
    "#]],
    );
    scene.check(
        "c dump x.c --after shrink",
        expect![[r#"
        [stderr]
        error: invalid value 'shrink' for '--after <PASS>'
          [possible values: load, inline, slice, depths]

        For more information, try '--help'.
        [exit 2]
    "#]],
    );
}

#[test]
fn dump() {
    Scene::examples().check(
        "c dump c/midpoint.c",
        expect![[r#"
        int midpoint(int low, int high)
          0 -> 1  result# = (low + high) / 2;
          1: exit

        int main()
          int low;
          int high;
          int middle;
          0 -> 1  low = input __VERIFIER_nondet_int();
          1 -> 2  high = input __VERIFIER_nondet_int();
          2 -> 3  assume(low < 0);
          2 -> 4  assume(!(low < 0));
          3 -> 10  result# = 0;
          4 -> 3  assume(high < low);
          4 -> 5  assume(!(high < low));
          5 -> 6  middle = midpoint(low, high);
          6 -> 7  assume(low <= middle);
          6 -> 9  assume(!(low <= middle));
          7 -> 8  assume(middle <= high);
          7 -> 9  assume(!(middle <= high));
          8 -> 10  result# = 0;
          9: error: assertion low <= middle && middle <= high
          10: exit
        [exit 0]
    "#]],
    );
    Scene::examples().check(
        "c dump c/midpoint.c --function midpoint --check overflow",
        expect![[r#"
            int midpoint(int low, int high)
              0 -> 1  assume(overflows<int>(low + high));
              0 -> 2  assume(!overflows<int>(low + high));
              1: error: signed overflow in low + high
              2 -> 3  assume(overflows<int>((low + high) / 2));
              2 -> 4  assume(!overflows<int>((low + high) / 2));
              3: error: signed overflow in (low + high) / 2
              4 -> 5  result# = (low + high) / 2;
              5: exit
            [exit 0]
        "#]],
    );
    Scene::examples().check(
        "c dump c/midpoint.c --function nowhere",
        expect![[r#"
        [stderr]
        error: there is no function `nowhere`
        [exit 2]
    "#]],
    );
}

#[test]
fn cfg() {
    Scene::examples().check(
        "c cfg c/midpoint.c --function midpoint",
        expect![[r#"
        digraph program {
          node [shape=circle, fontname="monospace", fontsize=10];
          edge [fontname="monospace", fontsize=10];
          subgraph cluster_0 {
            label="midpoint";
            L0 [label="0", style=bold];
            L1 [label="1\nexit"];
            L0 -> L1 [label="result# = (low + high) / 2;"];
          }
        }
        [exit 0]
    "#]],
    );
}

#[test]
fn as_json() {
    let value = Scene::examples().json("c run c/midpoint.c --inputs 3,9 --trace");
    expect![[r#"
        {
          "assumptions": [],
          "command": "c run",
          "diagnostics": [],
          "exit_code": 0,
          "inputs": [
            {
              "file": "c/midpoint.c",
              "function": "__VERIFIER_nondet_int",
              "line": 12,
              "value": "3"
            },
            {
              "file": "c/midpoint.c",
              "function": "__VERIFIER_nondet_int",
              "line": 13,
              "value": "9"
            }
          ],
          "message": "returned 0",
          "outcome": "returned",
          "steps": 9,
          "trace": [
            {
              "edge": "low = input __VERIFIER_nondet_int();",
              "file": "c/midpoint.c",
              "line": 12
            },
            {
              "edge": "high = input __VERIFIER_nondet_int();",
              "file": "c/midpoint.c",
              "line": 13
            },
            {
              "edge": "assume(!(low < 0));",
              "file": "c/midpoint.c",
              "line": 14
            },
            {
              "edge": "assume(!(high < low));",
              "file": "c/midpoint.c",
              "line": 14
            },
            {
              "edge": "middle = midpoint(low, high);",
              "file": "c/midpoint.c",
              "line": 16
            },
            {
              "edge": "result# = (low + high) / 2;",
              "file": "c/midpoint.c",
              "line": 8
            },
            {
              "edge": "assume(low <= middle);",
              "file": "c/midpoint.c",
              "line": 17
            },
            {
              "edge": "assume(middle <= high);",
              "file": "c/midpoint.c",
              "line": 17
            },
            {
              "edge": "result# = 0;",
              "file": "c/midpoint.c",
              "line": 18
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&value).unwrap());
    assert!(Scene::examples().json("c dump c/midpoint.c")["text"].is_string());
    assert!(Scene::examples().json("c export c/spinlock.c --btor2")["text"].is_string());
    assert_eq!(
        Scene::examples().json("c cfg c/midpoint.c")["format"],
        "dot"
    );
}

#[track_caller]
fn refuse(program: impl AsRef<[u8]>, expected: Expect) {
    Scene::file("x.c", program).check("c dump x.c", expected);
}

#[test]
fn syntax_errors() {
    refuse(
        "int main(void) { return 1 }\nint f( { }\n",
        expect![[r#"
        [stderr]
        error: expected `;`, found `}`
         --> x.c:1:26
          |
        1 | int main(void) { return 1 }
          |                          ^
        error: expected `)`, found `{`
         --> x.c:2:8
          |
        2 | int f( { }
          |        ^
        2 errors
        [exit 2]
    "#]],
    );
}

#[test]
fn a_missing_include() {
    refuse(
        "#include \"nowhere.h\"\nint main(void) { return 0; }\n",
        expect![[r#"
            [stderr]
            error: `nowhere.h` file not found
             --> x.c:1:1
              |
            1 | #include "nowhere.h"
              | ^
            note: searched: , <hardbop>, /usr/local/include, /usr/include/x86_64-linux-gnu, /usr/include/aarch64-linux-gnu, /usr/include
            [exit 2]
        "#]],
    );
}

#[test]
fn recursion_through_includes() {
    let output = Scene::file("x.c", "#include \"x.c\"\n").output("c dump x.c");
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("nested too deeply"), "{errors}");
}

#[test]
fn type_errors() {
    refuse(
        "struct s { int a; };\nint main(void) { struct s x; return x.b + undeclared; }\n",
        expect![[r#"
        [stderr]
        error: 'struct s' has no member named 'b'
         --> x.c:2:37
          |
        2 | int main(void) { struct s x; return x.b + undeclared; }
          |                                     ^^^
        error: 'undeclared' undeclared (first use in this function)
         --> x.c:2:43
          |
        2 | int main(void) { struct s x; return x.b + undeclared; }
          |                                           ^^^^^^^^^^
        2 errors
        [exit 2]
    "#]],
    );
}

#[test]
fn conflicting_declarations() {
    refuse(
        "int f(void);\nchar *f(int);\nint main(void) { return 0; }\n",
        expect![[r#"
        [stderr]
        error: conflicting types for 'f'; have 'char *(int)'
         --> x.c:2:7
          |
        2 | char *f(int);
          |       ^
        note: previous declaration of 'f' with type 'int(void)'
         --> x.c:1:5
          |
        1 | int f(void);
          |     ^
        [exit 2]
    "#]],
    );
    Scene::file("a.c", "int x; int main(void) { return x; }")
        .and_file("b.c", "double x = 1;")
        .check(
            "c dump a.c b.c",
            expect![[r#"
            [stderr]
            error: conflicting types for variable `x`
             --> b.c:1:8
              |
            1 | double x = 1;
              |        ^ declared here with another type
            note: first declared here
             --> a.c:1:5
              |
            1 | int x; int main(void) { return x; }
              |     ^
            [exit 2]
        "#]],
        );
    Scene::file("a.c", "int main(void) { return 0; }")
        .and_file("b.c", "int main(void) { return 1; }")
        .check(
            "c dump a.c b.c",
            expect![[r#"
            [stderr]
            error: function `main` is defined more than once
             --> b.c:1:5
              |
            1 | int main(void) { return 1; }
              |     ^^^^ defined again here
            note: first defined here
             --> a.c:1:5
              |
            1 | int main(void) { return 0; }
              |     ^^^^
            [exit 2]
        "#]],
        );
}

#[test]
fn bytes_that_are_not_utf8() {
    let output = Scene::file("x.c", b"int main(void) { return \xff\xfe; }").output("c dump x.c");
    assert_eq!(output.status.code(), Some(2));
    let latin = b"/* caf\xe9 */ int main(void) { return 0; }";
    assert_eq!(
        Scene::file("x.c", latin).output("c dump x.c").status.code(),
        Some(0)
    );
}

#[test]
fn files_that_cannot_be_read() {
    Scene::empty().check(
        "c dump nowhere.c",
        expect![[r#"
        [stderr]
        error: cannot read `nowhere.c`: there is no such file
        [exit 2]
    "#]],
    );
    Scene::empty().check(
        "c dump .",
        expect![[r#"
        [stderr]
        error: cannot read `.`: it is a directory
        [exit 2]
    "#]],
    );
    Scene::empty().check(
        "c dump",
        expect![[r#"
            [stderr]
            error: no file is named: give FILE.c, or --compile-commands JSON
            [exit 2]
        "#]],
    );
}

#[test]
fn a_binary_file() {
    let output = Scene::file("x.c", b"\x7fELF\x00\x01\x02").output("c dump x.c");
    assert_eq!(output.status.code(), Some(2));
}

/// Whatever they are, they are answered: no stack overflow, no panic.
#[test]
fn deep_nesting() {
    let deep = 100_000;
    let nested = |open: &str, close: &str| format!("{}0{}", open.repeat(deep), close.repeat(deep));
    for program in [
        format!("int main(void) {{ return {}; }}", nested("(", ")")),
        format!("int main(void) {{ {} return 0; }}", nested("{", ";}")),
    ] {
        let output = Scene::file("x.c", program).output("c run x.c");
        let code = output.status.code();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(code, Some(0 | 2)), "{code:?} {errors}");
        assert!(!errors.contains("internal error"), "{errors}");
    }
}

#[test]
fn a_very_long_line() {
    let statements = "x=x+1;".repeat(800_000);
    let program = format!("int main(void) {{ int x = 0; {statements} return x == 800000; }}");
    let output = Scene::file("x.c", program).output("c run x.c");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("returned 1, "), "{text}");
}

#[test]
fn an_unsupported_construct_is_named_where_it_can_be_reached() {
    let program = "int main(int argc, char **argv) { double _Complex z = 1; if (argc > 5) z = z * z; return 0; }";
    let output = Scene::file("x.c", program).output("c run x.c");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("not supported"), "{errors}");
    assert!(errors.contains("x.c:1:"), "{errors}");
}

/// A program of one bit as a sequential circuit.
#[test]
fn small_programs_are_circuits() {
    let text = "void reach_error(void); int __VERIFIER_nondet_int(void);
int main(void) {
  _Bool on = 0;
  while (__VERIFIER_nondet_int()) { if (on) reach_error(); }
  return 0;
}
";
    let scene = Scene::empty().and_file("x.c", text);
    let aiger = scene.json("c export x.c --aiger")["text"].to_string();
    assert!(aiger.starts_with("\"aag "), "{aiger}");
    let btor2 = scene.json("c export x.c --btor2")["text"].to_string();
    assert!(btor2.starts_with("\"1 sort bitvec 1\\n"), "{btor2}");
}

#[test]
fn what_is_not_bits_has_no_circuit() {
    let text = "#include <stdlib.h>
#include <assert.h>
int __VERIFIER_nondet_int(void);
int main(void) {
  int *p = malloc(sizeof *p);
  *p = 0;
  while (__VERIFIER_nondet_int()) { p = malloc(sizeof *p); *p = 2; }
  assert(*p != 1);
  return 0;
}
";
    Scene::empty()
        .and_file("x.c", text)
        .check("c export x.c --aiger", expect![[r#"
            [stderr]
            error: the program has no circuit: only bits are searched, and the program has memory that is allocated
            [exit 2]
        "#]]);
}
