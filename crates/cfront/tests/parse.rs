//! Reading units: what is accepted, what is refused, and what the user is told.

use expect_test::{Expect, expect};
use hardbop_cfront::parse::{
    Input, InputKind, NoFiles, ParseOptions, Preprocess, Texts, parse_unit,
};
use hardbop_cfront::types::DataModel;
use hardbop_diagnostics::{Style, render};

fn input(name: &str, bytes: &[u8]) -> Input {
    Input {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
        kind: InputKind::of(name),
        preprocess: Preprocess::default(),
    }
}

/// What the user is told about a unit; `accepted` if nothing.
fn check(name: &str, bytes: impl AsRef<[u8]>, expected: Expect) {
    let mut texts = Texts::new();
    let options = ParseOptions::new(DataModel::Lp64);
    let (unit, diagnostics) =
        parse_unit(&input(name, bytes.as_ref()), &options, &NoFiles, &mut texts);
    let mut out: String = diagnostics
        .iter()
        .map(|d| render(d, &texts.sources, Style::Plain))
        .collect();
    assert_eq!(unit.is_some(), diagnostics.is_empty());
    if unit.is_some() {
        out.push_str("accepted\n");
    }
    expected.assert_eq(&out);
}

#[test]
fn a_good_unit_is_accepted() {
    check(
        "a.c",
        "#include <stdbool.h>\nbool f(int x) { return x > 0; }\n",
        expect![[r#"
        accepted
    "#]],
    );
}

#[test]
fn several_errors_are_told_at_once() {
    check(
        "a.c",
        "int f(void) { return 1 + ; }\nint g(void) { x = ; }\n",
        expect![[r#"
        error: expected an expression, found `;`
         --> a.c:1:26
          |
        1 | int f(void) { return 1 + ; }
          |                          ^
        error: expected an expression, found `;`
         --> a.c:2:19
          |
        2 | int g(void) { x = ; }
          |                   ^
    "#]],
    );
    check(
        "a.c",
        "int f(void) { return y; }\nint g(struct s *p) { return p->q; }\n",
        expect![[r#"
        error: 'y' undeclared (first use in this function)
         --> a.c:1:22
          |
        1 | int f(void) { return y; }
          |                      ^
        error: invalid use of undefined type 'struct s'
         --> a.c:2:29
          |
        2 | int g(struct s *p) { return p->q; }
          |                             ^^^^
    "#]],
    );
}
