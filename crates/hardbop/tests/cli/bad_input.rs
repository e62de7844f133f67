//! Bad input is answered with a clear message and exit code 2.

use crate::scene::Scene;
use expect_test::{Expect, expect};

#[track_caller]
fn check(program: &str, expected: Expect) {
    Scene::file("x.bp", program).check("bebop x.bp", expected);
}

#[test]
fn no_such_file() {
    Scene::empty().check(
        "bebop x.bp",
        expect![[r#"
        [stderr]
        error: cannot read `x.bp`: there is no such file
        [exit 2]
    "#]],
    );
}

#[test]
fn a_directory() {
    Scene::empty().check(
        "bebop .",
        expect![[r#"
        [stderr]
        error: cannot read `.`: it is a directory
        [exit 2]
    "#]],
    );
}

#[cfg(unix)]
#[test]
fn an_unreadable_file() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::file("x.bp", "");
    let path = scene.path().join("x.bp");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        // Root reads everything.
        return;
    }
    scene.check(
        "bebop x.bp",
        expect![[r#"
        [stderr]
        error: cannot read `x.bp`: permission denied
        [exit 2]
    "#]],
    );
}

#[test]
fn a_binary_file() {
    Scene::file("x.bp", b"\x7fELF\x00\x01").check(
        "bebop x.bp",
        expect![[r#"
        [stderr]
        error: x.bp is a binary file: byte 4 is zero
        [exit 2]
    "#]],
    );
}

#[test]
fn text_that_is_not_utf8() {
    Scene::file("x.bp", b"decl g;\n// caf\xe9\n").check(
        "bebop x.bp",
        expect![[r#"
        [stderr]
        error: x.bp is not text in UTF-8: see byte 14 in line 2
        [exit 2]
    "#]],
    );
}

#[test]
fn an_empty_file() {
    check(
        "",
        expect![[r#"
        [stderr]
        error: there is no procedure `main` to start with
        [exit 2]
    "#]],
    );
}

#[test]
fn an_unknown_label() {
    Scene::examples().check(
        "bebop bp/driver.bp --label OOPS",
        expect![[r#"
        [stderr]
        error: there is no label `OOPS`; the labels are main.HEAD, main.DONE
        [exit 2]
    "#]],
    );
    Scene::examples().check(
        "bebop bp/driver.bp --label acquire.HEAD",
        expect![[r#"
        [stderr]
        error: there is no label `acquire.HEAD`; the labels are main.HEAD, main.DONE
        [exit 2]
    "#]],
    );
    Scene::examples().check(
        "bebop bp/driver.bp --invariants OOPS",
        expect![[r#"
        [stderr]
        error: there is no label `OOPS`; the labels are main.HEAD, main.DONE
        [exit 2]
    "#]],
    );
    Scene::examples().check(
        "bp export bp/driver.bp --label OOPS",
        expect![[r#"
        [stderr]
        error: there is no label `OOPS`; the labels are main.HEAD, main.DONE
        [exit 2]
    "#]],
    );
    check(
        "void main() begin goto L; end",
        expect![[r#"
        [stderr]
        error: unknown label `L`
         --> x.bp:1:24
          |
        1 | void main() begin goto L; end
          |                        ^ no statement of this procedure has it
        [exit 2]
    "#]],
    );
}

#[test]
fn a_missing_main() {
    check(
        "void f() begin skip; end",
        expect![[r#"
        [stderr]
        error: there is no procedure `main` to start with
        [exit 2]
    "#]],
    );
}

#[test]
fn a_call_with_wrong_arity() {
    check(
        "void f(a, b) begin skip; end\nvoid main() begin f(1); end",
        expect![[r#"
            [stderr]
            error: `f` takes 2 arguments, not 1
             --> x.bp:2:19
              |
            2 | void main() begin f(1); end
              |                   ^^^^ expected 2 arguments
            note: defined here
             --> x.bp:1:6
              |
            1 | void f(a, b) begin skip; end
              |      ^
            [exit 2]
        "#]],
    );
    check(
        "bool f() begin return 1; end\nvoid main() begin decl x, y; x, y := f(); end",
        expect![[r#"
            [stderr]
            error: `f` returns 1 value, not 2
             --> x.bp:2:30
              |
            2 | void main() begin decl x, y; x, y := f(); end
              |                              ^^^^^^^^^^^ expected 1 variable to assign to
            note: defined here
             --> x.bp:1:6
              |
            1 | bool f() begin return 1; end
              |      ^
            [exit 2]
        "#]],
    );
}

#[test]
fn duplicate_names() {
    check(
        "decl g, g; void main() begin skip; end",
        expect![[r#"
        [stderr]
        error: `g` is declared twice
         --> x.bp:1:9
          |
        1 | decl g, g; void main() begin skip; end
          |         ^ again
        note: first here
         --> x.bp:1:6
          |
        1 | decl g, g; void main() begin skip; end
          |      ^
        [exit 2]
    "#]],
    );
    check(
        "void main() begin skip; end\nvoid main() begin skip; end",
        expect![[r#"
            [stderr]
            error: the procedure `main` is defined twice
             --> x.bp:2:6
              |
            2 | void main() begin skip; end
              |      ^^^^ again
            note: first here
             --> x.bp:1:6
              |
            1 | void main() begin skip; end
              |      ^^^^
            [exit 2]
        "#]],
    );
    check(
        "void main() begin L: skip; L: skip; end",
        expect![[r#"
        [stderr]
        error: the label `L` is set twice
         --> x.bp:1:28
          |
        1 | void main() begin L: skip; L: skip; end
          |                            ^ again
        note: first here
         --> x.bp:1:19
          |
        1 | void main() begin L: skip; L: skip; end
          |                   ^
        [exit 2]
    "#]],
    );
}

#[test]
fn an_unterminated_name() {
    check(
        "decl {x == 0;\nvoid main() begin skip; end\n",
        expect![[r#"
            [stderr]
            error: unterminated name in braces
             --> x.bp:1:6
              |
            1 | decl {x == 0;
              |      ^^^^^^^^ expected `}`
            error: unexpected `void`
             --> x.bp:2:1
              |
            2 | void main() begin skip; end
              | ^^^^ expected `,` or `;`
            2 errors
            [exit 2]
        "#]],
    );
}

#[test]
fn an_unterminated_comment() {
    check(
        "void main() begin skip; end /* and",
        expect![[r#"
        [stderr]
        error: unterminated comment
         --> x.bp:1:29
          |
        1 | void main() begin skip; end /* and
          |                             ^^ expected `*/` before the end of the file
        [exit 2]
    "#]],
    );
}

#[test]
fn several_errors_at_once() {
    check(
        "void main() begin\n  x := 1;\n  y := ;\n  skip\nend\n",
        expect![[r#"
            [stderr]
            error: unexpected `;`
             --> x.bp:3:8
              |
            3 |   y := ;
              |        ^ expected an expression
            [exit 2]
        "#]],
    );
    check(
        "void main() begin\n  x := 1;\n  f();\n  y := z;\nend\n",
        expect![[r#"
            [stderr]
            error: unknown variable `x`
             --> x.bp:2:3
              |
            2 |   x := 1;
              |   ^ not declared before this place
            error: unknown procedure `f`
             --> x.bp:3:3
              |
            3 |   f();
              |   ^ not defined in this file
            error: unknown variable `y`
             --> x.bp:4:3
              |
            4 |   y := z;
              |   ^ not declared before this place
            error: unknown variable `z`
             --> x.bp:4:8
              |
            4 |   y := z;
              |        ^ not declared before this place
            4 errors
            [exit 2]
        "#]],
    );
}

#[test]
fn threads() {
    check(
        "void main() begin start_thread goto L; L: skip; end",
        expect![[r#"
            [stderr]
            error: threads are not supported: `start_thread`
             --> x.bp:1:19
              |
            1 | void main() begin start_thread goto L; L: skip; end
              |                   ^^^^^^^^^^^^ only sequential programs can be checked
            [exit 2]
        "#]],
    );
}

#[test]
fn errors_as_json() {
    let scene = Scene::file("x.bp", "void main() begin\n  x := 1;\nend\n");
    let value = scene.json("bebop x.bp");
    expect![[r#"
        {
          "command": "bebop",
          "diagnostics": [
            {
              "column": 3,
              "file": "x.bp",
              "label": "not declared before this place",
              "line": 2,
              "message": "unknown variable `x`",
              "severity": "error"
            }
          ],
          "error": {
            "kind": "input",
            "message": "unknown variable `x`"
          },
          "exit_code": 2
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&value).unwrap());
    let value = scene.json("bebop y.bp");
    expect![[r#"
        {
          "command": "bebop",
          "diagnostics": [],
          "error": {
            "kind": "usage",
            "message": "cannot read `y.bp`: there is no such file"
          },
          "exit_code": 2
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn warnings_do_not_refuse() {
    check(
        "decl unused; void main() begin return; skip; end",
        expect![[r#"
            there is nothing to decide: no label and no assertion
            [stderr]
            warning: the variable `unused` is never used
             --> x.bp:1:6
              |
            1 | decl unused; void main() begin return; skip; end
              |      ^^^^^^
            warning: unreachable statement
             --> x.bp:1:40
              |
            1 | decl unused; void main() begin return; skip; end
              |                                        ^^^^ no path leads here
            [exit 0]
        "#]],
    );
    let scene = Scene::file("x.bp", "decl unused; void main() begin skip; end");
    let value = scene.json("bebop x.bp");
    assert_eq!(value["exit_code"], 0);
    assert_eq!(value["diagnostics"][0]["severity"], "warning");
}

/// Ten megabytes of parentheses must not take the stack with them.
#[test]
fn deep_nesting() {
    let deep = 1_000_000;
    let program = format!(
        "void main() begin decl x; x := {}x{}; L: skip; end",
        "(".repeat(deep),
        ")".repeat(deep)
    );
    let scene = Scene::file("x.bp", program);
    let output = scene.output("bebop x.bp --no-trace");
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let unclosed = Scene::file("x.bp", "(".repeat(10_000_000));
    assert_eq!(unclosed.output("bebop x.bp").status.code(), Some(2));
}
