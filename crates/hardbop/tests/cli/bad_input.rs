//! Bad input is answered with a clear message and exit code 2.

use crate::scene::Scene;
use expect_test::{Expect, expect};

#[track_caller]
fn check(program: &str, expected: Expect) {
    Scene::file("x.bp", program).check("bebop x.bp", expected);
}

#[test]
fn no_such_file() {
    Scene::empty().check("bebop x.bp", expect![[""]]);
}

#[test]
fn a_directory() {
    Scene::empty().check("bebop .", expect![[""]]);
}

#[cfg(unix)]
#[test]
fn an_unreadable_file() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::file("x.bp", "");
    let path = scene.path().join("x.bp");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0)).unwrap();
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
    Scene::file("x.bp", b"\x7fELF\x00\x01").check("bebop x.bp", expect![[""]]);
}

#[test]
fn text_that_is_not_utf8() {
    Scene::file("x.bp", b"decl g;\n// caf\xe9\n").check("bebop x.bp", expect![[""]]);
}

#[test]
fn an_empty_file() {
    check("", expect![[""]]);
}

#[test]
fn an_unknown_label() {
    Scene::examples().check("bebop bp/driver.bp --label OOPS", expect![[""]]);
    Scene::examples().check("bebop bp/driver.bp --label acquire.HEAD", expect![[""]]);
    Scene::examples().check("bebop bp/driver.bp --invariants OOPS", expect![[""]]);
    Scene::examples().check("bp export bp/driver.bp --label OOPS", expect![[""]]);
    check("void main() begin goto L; end", expect![[""]]);
}

#[test]
fn a_missing_main() {
    check("void f() begin skip; end", expect![[""]]);
}

#[test]
fn a_call_with_wrong_arity() {
    check(
        "void f(a, b) begin skip; end\nvoid main() begin f(1); end",
        expect![[""]],
    );
    check(
        "bool f() begin return 1; end\nvoid main() begin decl x, y; x, y := f(); end",
        expect![[""]],
    );
}

#[test]
fn duplicate_names() {
    check("decl g, g; void main() begin skip; end", expect![[""]]);
    check(
        "void main() begin skip; end\nvoid main() begin skip; end",
        expect![[""]],
    );
    check("void main() begin L: skip; L: skip; end", expect![[""]]);
}

#[test]
fn an_unterminated_name() {
    check(
        "decl {x == 0;\nvoid main() begin skip; end\n",
        expect![[""]],
    );
}

#[test]
fn an_unterminated_comment() {
    check("void main() begin skip; end /* and", expect![[""]]);
}

#[test]
fn several_errors_at_once() {
    check(
        "void main() begin\n  x := 1;\n  y := ;\n  skip\nend\n",
        expect![[""]],
    );
    check(
        "void main() begin\n  x := 1;\n  f();\n  y := z;\nend\n",
        expect![[""]],
    );
}

#[test]
fn threads() {
    check(
        "void main() begin start_thread goto L; L: skip; end",
        expect![[""]],
    );
}

#[test]
fn errors_as_json() {
    let scene = Scene::file("x.bp", "void main() begin\n  x := 1;\nend\n");
    let value = scene.json("bebop x.bp");
    expect![[""]].assert_eq(&serde_json::to_string_pretty(&value).unwrap());
    let value = scene.json("bebop y.bp");
    expect![[""]].assert_eq(&serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn warnings_do_not_refuse() {
    check(
        "decl unused; void main() begin return; skip; end",
        expect![[""]],
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
