//! The language of predicates.

mod common;

use common::{analysed, errors};
use expect_test::{Expect, expect};

const C: &str = "
    struct node { int value; struct node *next; unsigned flag : 3; };
    int g; long wide; unsigned char byte; int a[4];
    struct node *head;
    static int counter;
    int get(int n, int *p) {
        int local = n;
        { int local = 2; n = n + local; }
        return *p + local + counter;
    }
    int main(void) { int x = g; head = 0; return get(x, &x) + a[x & 3] + byte + (int)wide; }
";

#[track_caller]
fn texts(predicates: &str, expected: Expect) {
    let analysed = analysed(C, predicates);
    let out: String = analysed
        .predicates
        .iter()
        .map(|p| format!("{}\n", p.text))
        .collect();
    expected.assert_eq(&out);
}

#[track_caller]
fn refused(predicates: &str, expected: Expect) {
    expected.assert_eq(&errors(C, predicates));
}

/// Types and numbers that have a name of the source.
#[test]
fn know_typedefs_and_enumerators() {
    let c = "
        typedef unsigned char byte_t;
        typedef struct { byte_t state; enum { IDLE, BUSY = 7, FAR = 3000000000 } mode; } device;
        device d; device *p; int one;
        int main(void) { p = &d; d.mode = IDLE; return one; }
    ";
    let predicates =
        "global: d.mode == BUSY, (byte_t)one == 3, p == (device *)&one, (byte_t)(one + 1) == IDLE
                      global: d.mode == FAR, (one) - 1 == BUSY";
    let out: String = analysed(c, predicates)
        .predicates
        .iter()
        .map(|p| format!("{}\n", p.text))
        .collect();
    expect![[r#"
        d.mode == 7
        (unsigned char)one == 3
        p == (device *)&one
        (unsigned char)(one + 1) == 0
        d.mode == 3000000000L
        one - 1 == 7
    "#]]
    .assert_eq(&out);
    expect![[r#"
        error: there is no type `word_t`
         --> x.pred:1:17
          |
        1 | global: one == (word_t)d.state, one == BUZY
          |                 ^^^^^^
    "#]]
    .assert_eq(&errors(c, "global: one == (word_t)d.state, one == BUZY"));
}

#[test]
fn have_a_normal_form() {
    texts(
        "global: g==0,(g)  ==  0, g<wide, byte==255, 'a' < g, !(g>1&&wide), -g <= ~3
         global: head->value<=head->next->value, (*head).flag == 1, a[g+1] > a[1], head == NULL
         global: (g ? wide : 2) != 3U, sizeof(struct node) > sizeof g, (unsigned char)g == byte
         get: *p <= n, old(n) < n, return == old(*p) + 1, local@7 == 0, p == &g, n == counter // and
         main: x << 2 == g   # more",
        expect![[r#"
            g == 0
            g < wide
            byte == 255
            97 < g
            !(g > 1 && wide)
            -g <= ~3
            head->value <= head->next->value
            head->flag == 1
            a[g + 1] > a[1]
            head == 0
            (g ? wide : 2L) != 3
            24UL > 4
            (unsigned char)g == byte
            *p <= n
            old(n) < n
            $return == old(*p) + 1
            local@7 == 0
            p == &g
            n == counter
            x << 2 == g
        "#]],
    );
}

#[test]
fn errors_are_explained() {
    refused(
        "global: gg == 0",
        expect![[r#"
        error: there is no variable `gg`
         --> x.pred:1:9
          |
        1 | global: gg == 0
          |         ^^ did you mean `g`?
    "#]],
    );
    refused(
        "global: n == 0",
        expect![[r#"
        error: a global predicate cannot mention `n`, which is local to `get`
         --> x.pred:1:9
          |
        1 | global: n == 0
          |         ^ write `get: ...` to make it a predicate of `get`
    "#]],
    );
    refused(
        "get: x == 0",
        expect![[r#"
        error: `x` is not visible in `get`: it is local to `main`
         --> x.pred:1:6
          |
        1 | get: x == 0
          |      ^
    "#]],
    );
    refused(
        "get: local == 0",
        expect![[r#"
        error: `local` is declared more than once here
         --> x.pred:1:6
          |
        1 | get: local == 0
          |      ^^^^^ say which one: `local@7` or `local@8`
    "#]],
    );
    refused(
        "gett: n == 0",
        expect![[r#"
        error: there is no function `gett`
         --> x.pred:1:1
          |
        1 | gett: n == 0
          | ^^^^ did you mean `get`?
    "#]],
    );
    refused(
        "n == 0",
        expect![[r#"
        error: this predicate has no scope
         --> x.pred:1:1
          |
        1 | n == 0
          | ^^^^^^ write `global: ...` or `function: ...`
    "#]],
    );
    refused(
        "get: n = 0",
        expect![[r#"
            error: an expression has no side effects
             --> x.pred:1:8
              |
            1 | get: n = 0
              |        ^ an assignment; a comparison is written `==`
        "#]],
    );
    refused(
        "get: n++ == 0",
        expect![[r#"
            error: an expression has no side effects
             --> x.pred:1:7
              |
            1 | get: n++ == 0
              |       ^^
        "#]],
    );
    refused(
        "get: get(1, p) == 0",
        expect![[r#"
            error: a predicate calls no functions
             --> x.pred:1:6
              |
            1 | get: get(1, p) == 0
              |      ^^^ it only looks at what the program does
        "#]],
    );
    refused(
        "get: n == ",
        expect![[r#"
            error: unexpected end of the predicate
             --> x.pred:1:10
              |
            1 | get: n == 
              |          ^ expected an expression
        "#]],
    );
    refused(
        "get: (n == 1",
        expect![[r#"
            error: unexpected end of the predicate
             --> x.pred:1:13
              |
            1 | get: (n == 1
              |             ^ expected `)`
        "#]],
    );
    refused(
        "get: n == 0 n",
        expect![[r#"
        error: unexpected text after the predicate
         --> x.pred:1:13
          |
        1 | get: n == 0 n
          |             ^ expected an operator, `,` or the end of the line
    "#]],
    );
    refused(
        "get: head->valeu == 0",
        expect![[r#"
            error: `struct node` has no member `valeu`
             --> x.pred:1:12
              |
            1 | get: head->valeu == 0
              |            ^^^^^ did you mean `value`?
        "#]],
    );
    refused(
        "get: n.value == 0",
        expect![[r#"
            error: a value of type `int` has no members
             --> x.pred:1:6
              |
            1 | get: n.value == 0
              |      ^ not a struct or union
        "#]],
    );
    refused(
        "get: *n == 0",
        expect![[r#"
            error: only a pointer can be followed
             --> x.pred:1:6
              |
            1 | get: *n == 0
              |      ^^ the operand has the type `int`
        "#]],
    );
    refused(
        "get: *head",
        expect![[r#"
            error: a value of type `struct node` is not a scalar
             --> x.pred:1:6
              |
            1 | get: *head
              |      ^^^^^
        "#]],
    );
    refused(
        "get: old(local@7) == 0",
        expect![[r#"
        error: `local@7` has no value when its function is entered
         --> x.pred:1:10
          |
        1 | get: old(local@7) == 0
          |          ^^^^^^^ `old` takes parameters and globals only
    "#]],
    );
    refused(
        "global: old(g) == 0, $return",
        expect![[r#"
            error: a global predicate cannot mention entry values
             --> x.pred:1:9
              |
            1 | global: old(g) == 0, $return
              |         ^^^^^^ `old` belongs to a function
        "#]],
    );
    refused(
        "get: n == 09",
        expect![[r#"
            error: `09` is not a number of C
             --> x.pred:1:11
              |
            1 | get: n == 09
              |           ^^ expected a constant such as 10, 0x1f, 7UL or 'a'
        "#]],
    );
    refused(
        "get: n == \"a\"",
        expect![[r#"
        error: a predicate cannot have string literals
         --> x.pred:1:11
          |
        1 | get: n == "a"
          |           ^
    "#]],
    );
    refused(
        "get: n ? 1 : é",
        expect![[r#"
            error: `é` has no place in a predicate
             --> x.pred:1:14
              |
            1 | get: n ? 1 : é
              |              ^
        "#]],
    );
}

/// Whatever the text: an answer, no panic, no deep recursion.
#[test]
fn odd_texts_are_survived() {
    let deep = format!("main: {}x{} == 0", "(".repeat(50_000), ")".repeat(50_000));
    assert!(errors(C, &deep).contains("nested too deeply"));
    let minus = format!("main: {}x == 0", "- ".repeat(50_000));
    assert!(errors(C, &minus).contains("nested too deeply"));
    let long = format!("main: x{} == 0", " + 1".repeat(20_000));
    assert_eq!(errors(C, &long), "");
    for text in [
        "main:",
        ":",
        "main: ,,;",
        "main: '",
        "main: '\\",
        "main: 1e",
        "main: 0x",
        "\u{0}",
        "main: x@",
    ] {
        errors(C, text);
    }
    let bytes = b"main: x=!<>()[]{}*&+-/%^|~?:;,.'\"09azAZ_$#@ \t\n";
    let mut seed = 7u64;
    for _ in 0..3000 {
        let mut text = String::from("main: ");
        for _ in 0..12 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push(bytes[(seed >> 33) as usize % bytes.len()] as char);
        }
        let _ = common::try_errors(&text);
    }
}

/// Predicates from the program's own conditions.
#[test]
fn come_from_conditions() {
    let mut set = hardbop_c2bp::predicate::PredicateSet::new(common::program(
        "int g; int main(void) { int x = 0; if (g > 0 && !(x == g)) x = 1; while (x < 3) x++; return 0; }",
    ));
    set.add_conditions();
    let out: String = set
        .predicates()
        .iter()
        .map(|p| format!("{:?} {}\n", p.scope, p.text))
        .collect();
    expect![[r#"
        Global g > 0
        Function(FuncId(0)) x == g
        Function(FuncId(0)) x < 3
    "#]]
    .assert_eq(&out);
}
