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

#[test]
fn a_missing_header_is_named_with_the_places_that_were_tried() {
    check(
        "a.c",
        "#include \"nowhere.h\"\nint x;\n",
        expect![[r#"
        error: `nowhere.h` file not found
         --> a.c:1:1
          |
        1 | #include "nowhere.h"
          | ^
        note: searched: , <hardbop>, /usr/local/include, /usr/include/x86_64-linux-gnu, /usr/include/aarch64-linux-gnu, /usr/include
    "#]],
    );
}

#[test]
fn includes_that_include_themselves_end() {
    struct Own;
    impl hardbop_cfront::parse::Files for Own {
        fn read(&self, _: &std::path::Path) -> std::io::Result<Vec<u8>> {
            Ok(b"#include \"self.h\"\n".to_vec())
        }
    }
    let mut texts = Texts::new();
    let options = ParseOptions::new(DataModel::Lp64);
    let unit = input("a.c", b"#include \"self.h\"\n");
    let (parsed, told) = parse_unit(&unit, &options, &Own, &mut texts);
    assert!(parsed.is_none());
    assert_eq!(told[0].message, "`#include` nested too deeply");
}

#[test]
fn conflicting_declarations_are_told_with_the_first() {
    check(
        "a.c",
        "int f(int);\nchar *f(void);\nint x;\ndouble x;\n",
        expect![[r#"
        error: conflicting types for 'f'; have 'char *(void)'
         --> a.c:2:7
          |
        2 | char *f(void);
          |       ^
        note: previous declaration of 'f' with type 'int(int)'
         --> a.c:1:5
          |
        1 | int f(int);
          |     ^
        error: conflicting types for 'x'; have 'double'
         --> a.c:4:8
          |
        4 | double x;
          |        ^
        note: previous declaration of 'x' with type 'int'
         --> a.c:3:5
          |
        3 | int x;
          |     ^
    "#]],
    );
}

#[test]
fn line_markers_say_where_a_line_came_from() {
    let mut texts = Texts::new();
    let options = ParseOptions::new(DataModel::Lp64);
    let unit = input("a.i", b"# 1 \"x.c\"\nint a;\n# 70 \"y.h\" 1\n\nint b;\n");
    let (parsed, _) = parse_unit(&unit, &options, &NoFiles, &mut texts);
    let parsed = parsed.unwrap();
    let places: Vec<String> = parsed
        .tree
        .top_level()
        .iter()
        .map(|&id| parsed.source(parsed.tree.decl_span(id)))
        .map(|s| format!("{}:{}", texts.presumed_files[s.file as usize], s.line))
        .collect();
    assert_eq!(places, ["x.c:1", "y.h:71"]);
}

#[test]
fn an_error_in_a_macro_is_told_where_the_macro_is_used() {
    check(
        "a.c",
        "#define ADD(x) x + missing\nint f(void) {\n  return ADD(1);\n}\n",
        expect![[r#"
        error: 'missing' undeclared (first use in this function)
         --> a.c:3:10
          |
        3 |   return ADD(1);
          |          ^^^
    "#]],
    );
}

#[test]
fn bytes_that_are_not_utf_8_are_text() {
    check(
        "a.c",
        b"/* caf\xe9 */ char s[] = \"\xe9t\xe9\";\nint y = z; // \xff\n",
        expect![[r#"
        error: 'z' undeclared (first use in this function)
         --> a.c:2:9
          |
        2 | int y = z; // ÿ
          |         ^
    "#]],
    );
    check(
        "a.c",
        b"char s[4] = \"\xe9t\xe9\"; _Static_assert(sizeof s == 4, \"\");\n",
        expect![[r#"
        accepted
    "#]],
    );
}

#[test]
fn binary_files_are_not_c() {
    check(
        "a.c",
        b"\x7fELF\0\0\0int x;",
        expect![[r#"
        error: this is not a C file: it contains a zero byte
         --> a.c:1:5
          |
        1 | �ELF���int x;
          |     ^
    "#]],
    );
}

#[test]
fn brackets_that_mean_nothing_may_be_nested_deeply() {
    let deep = 10_000;
    let nested = |open: &str, inner: &str, close: &str| {
        let (open, close) = (open.repeat(deep), close.repeat(deep));
        format!("{open}{inner}{close}")
    };
    // The trees are as deep as what they are made of, so readers of units have a large stack.
    let accepted = |text: String| {
        let read = move || {
            check(
                "a.c",
                text,
                expect![[r#"
                accepted
            "#]],
            );
        };
        let thread = std::thread::Builder::new().stack_size(1 << 30);
        thread
            .spawn(read)
            .expect("a thread")
            .join()
            .expect("accepted");
    };
    accepted(format!("int x = {};", nested("(", "1", ")")));
    accepted(format!("int x = {};", nested("(", "1", " + 2)")));
    accepted(format!(
        "int f(int x) {{ return {}; }}",
        nested("(x && ", "1", ")")
    ));
    accepted(format!("int f(void) {}", nested("{", "", "}")));
    accepted(format!(
        "void f(int x) {{ {} }}",
        nested("if (x) { x++; ", "x = 1;", "}")
    ));
    accepted(format!(
        "void f(int x) {{ {} }}",
        nested("if (x) x++; else { x--; ", "", "}")
    ));
    accepted(format!(
        "void f(int x) {{ {} }}",
        nested("if (x) { x--; } else { x++; ", "", "}")
    ));
    accepted(format!(
        "void f(int x) {{ {} }}",
        nested("if (x) { x--; } else if (x > 2) { x++; ", "", "}")
    ));
}

#[test]
fn deep_nesting_is_refused_in_words() {
    let deep = 100_000;
    let sums = format!("int x = {}1{};", "1 - (".repeat(deep), ")".repeat(deep));
    check(
        "a.c",
        sums,
        expect![[r#"
        error: brackets nested more deeply than 256 levels
         --> a.c:1:1293
          |
        1 | ...(1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - (1 - ...
          |                                                      ^
    "#]],
    );
    let blocks = "{ int x; ".repeat(deep);
    check(
        "a.c",
        format!("void f(void) {blocks}{}", "}".repeat(deep)),
        expect![[r#"
            error: brackets nested more deeply than 256 levels
             --> a.c:1:2318
              |
            1 | ...t x; { int x; { int x; { int x; { int x; { int x; { int x; { int x; { int x; { int x; { int x; { int...
              |                                                      ^
        "#]],
    );
    let brackets = format!("int a{};", "[1]".repeat(deep));
    check(
        "a.c",
        brackets,
        expect![[r#"
        error: more than 1000 subscripts follow each other
         --> a.c:1:3009
          |
        1 | ...1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1][1...
          |                                                      ^
    "#]],
    );
}

#[test]
fn what_gcc_only_warns_about_is_accepted() {
    // A call before the definition, which has another type than the call suggests.
    check(
        "a.c",
        "void f(void) { g(1); }\nvoid g(int x) {}\n",
        expect![[r#"
        accepted
    "#]],
    );
    // An integer for a pointer, a pointer for an integer, no return value.
    check(
        "a.c",
        "int f(char *p) { int x = p; p = x; }\n",
        expect![[r#"
        accepted
    "#]],
    );
    // An object whose type is completed later.
    check(
        "a.c",
        "struct s x;\nstruct s { int a; };\nint f(void) { return x.a; }\n",
        expect![[r#"
        accepted
    "#]],
    );
    // Braces around a number.
    check(
        "a.c",
        "int a[2] = {{{1}}, {2}};\n",
        expect![[r#"
        accepted
    "#]],
    );
    // A string for an array of arrays.
    check(
        "a.c",
        "char a[1][1][5] = {\"1234\"};\n",
        expect![[r#"
        accepted
    "#]],
    );
    // A pragma inside of an expression, a local label that nothing uses.
    check(
        "a.c",
        "char *s = \"a\"\n#pragma what\n\"b\";\nvoid f(void) { __label__ l; }\n",
        expect![[r#"
        accepted
    "#]],
    );
}

/// Whether the initialisers are refused for replacing parts of others.
fn is_replacing(declaration: &str) -> bool {
    let text = format!(
        "struct pair {{ int x, y; }};
union word {{ int i; char c[8]; struct pair p; }};
struct both {{ struct pair p; int z; struct pair q[3]; }};
enum {{ A, B }};
int f(void);
void g(struct pair s) {{ {declaration}; }}
"
    );
    let mut texts = Texts::new();
    let options = ParseOptions::new(DataModel::Lp64);
    let input = input("a.c", text.as_bytes());
    let (unit, diagnostics) = parse_unit(&input, &options, &NoFiles, &mut texts);
    assert_eq!(unit.is_some(), diagnostics.is_empty());
    diagnostics.iter().any(|found| {
        let said = render(found, &texts.sources, Style::Plain);
        assert!(said.contains("replaces a part of another one"), "{said}");
        true
    })
}

/// Braces set what they do not mention to 0, and so does another member of a union; gcc does not
/// evaluate what is replaced.
#[test]
fn initialisers_that_replace_parts_of_others_are_refused() {
    for replacing in [
        "struct both b = { .p.y = 4, .z = 5, .p = { 7 } }",
        "struct both b = { .q[1].y = 4, .p = { 1 }, 5, { { 7 }, 8 } }",
        "struct both b = { { 1, 2 }, 3, .p = { 4 } }",
        "static int a[2][2] = { [0][1] = 5, [0] = { 3 } }",
        "static int a[2][2] = { [0][1] = 5, [0] = {} }",
        "struct pair a[9] = { [0 ... 8] = { 1, 2 }, [3] = { 5 } }",
        "struct pair a[3] = { [A] = { 1, 2 }, [B] = { 3 }, [A] = { 1 } }",
        "struct pair a[3] = { { 1, 2 }, { 3, 4 }, [1] = { 5 } }",
        "struct pair *p = (struct pair[2]){ [1].y = 4, [1] = { 7 } }",
        "union word u = { .c = { 1, 2, 3, 4, 5 }, .i = 0 }",
        "union word u = { .p.x = 1, .c[0] = 3 }",
        "int a[2] = { [0] = f(), [0] = 1 }",
        "struct both b = { .p = s, .p.y = 9 }",
    ] {
        assert!(is_replacing(replacing), "{replacing}");
    }
    for other in [
        "struct both b = { .p = { 7 }, .z = 5, .q = { { 1 }, { 2 } } }",
        "struct both b = { .z = 1, .p.x = 1, .p.y = 2 }",
        "struct both b = { .p = { 1, 2 }, .p.y = 9 }",
        "struct both b = { { 1, 2 }, .q = { { 4 } } }",
        "int a[9] = { [0 ... 8] = 1, [3] = 5 }",
        "struct pair a[9] = { [0 ... 8] = { 1, 2 }, [3] = { 5, 6 } }",
        "struct pair a[9] = { [0 ... 8] = { .x = 1, .y = 2 }, [3] = { .y = 1, .x = 6 } }",
        "struct pair a[2] = { [B] = { 1, 2 }, [A] = { 3 } }",
        "union word u = { .c = { 1, 2, 3 }, .c[1] = 0 }",
    ] {
        assert!(!is_replacing(other), "{other}");
    }
}

/// A cast gives a value, which has no qualifiers.
#[test]
fn a_choice_by_a_cast_to_a_qualified_type_is_refused() {
    check(
        "a.c",
        "int x = _Generic((const int)1, int : 1, const int : 2);\n",
        expect![[r#"
            error: not supported: a choice by the type of a cast to a qualified type
             --> a.c:1:9
              |
            1 | int x = _Generic((const int)1, int : 1, const int : 2);
              |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        "#]],
    );
    check(
        "a.c",
        "int y, x = _Generic((const int *)&y, int * : 1, const int * : 2);\n",
        expect![[r#"
            accepted
        "#]],
    );
}
