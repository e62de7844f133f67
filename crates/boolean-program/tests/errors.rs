//! What bad input gets to hear.

use expect_test::{Expect, expect};
use hardbop_boolean_program::{Dialect, load};
use hardbop_diagnostics::{Sources, Style, render};

fn check_in(dialect: Dialect, text: &str, expected: Expect) {
    let mut sources = Sources::new();
    let file = sources.add("a.bp", text);
    let loaded = load(&sources, file, dialect);
    assert!(loaded.has_errors() == loaded.program.is_none());
    let shown: String = loaded
        .diagnostics
        .iter()
        .map(|d| render(d, &sources, Style::Plain))
        .collect();
    expected.assert_eq(&shown);
}

fn check(text: &str, expected: Expect) {
    check_in(Dialect::Auto, text, expected);
}

/// Checks errors of the statements of `main`, where `x` and `y` are variables.
fn check_body(body: &str, expected: Expect) {
    check(
        &format!("decl x, y;\nvoid main() begin\n{body}\nend\n"),
        expected,
    );
}

// Names and arities.

#[test]
fn unknown_names() {
    check_body(
        "x := z & w;\nf(x);\ngoto L;",
        expect![[r#"
        error: unknown variable `z`
         --> a.bp:3:6
          |
        3 | x := z & w;
          |      ^ not declared before this place
        error: unknown variable `w`
         --> a.bp:3:10
          |
        3 | x := z & w;
          |          ^ not declared before this place
        error: unknown procedure `f`
         --> a.bp:4:1
          |
        4 | f(x);
          | ^ not defined in this file
        error: unknown label `L`
         --> a.bp:5:6
          |
        5 | goto L;
          |      ^ no statement of this procedure has it
    "#]],
    );
}

#[test]
fn no_main() {
    check(
        "decl g;\nvoid f() begin g := 1; end\n",
        expect![[r#"
        error: there is no procedure `main` to start with
    "#]],
    );
    check(
        "",
        expect![[r#"
        error: there is no procedure `main` to start with
    "#]],
    );
}

#[test]
fn duplicates() {
    check(
        "decl g, g;\nvoid f(a, a) begin\n  decl b, a;\n  L: skip;\n  L: b, b := a, a;\nend\nvoid f() begin end\nvoid main() begin end\n",
        expect![[r#"
            error: `g` is declared twice
             --> a.bp:1:9
              |
            1 | decl g, g;
              |         ^ again
            note: first here
             --> a.bp:1:6
              |
            1 | decl g, g;
              |      ^
            error: `a` is declared twice
             --> a.bp:2:11
              |
            2 | void f(a, a) begin
              |           ^ again
            note: first here
             --> a.bp:2:8
              |
            2 | void f(a, a) begin
              |        ^
            error: `a` is declared twice
             --> a.bp:3:11
              |
            3 |   decl b, a;
              |           ^ again
            note: first here
             --> a.bp:2:11
              |
            2 | void f(a, a) begin
              |           ^
            error: the label `L` is set twice
             --> a.bp:5:3
              |
            5 |   L: b, b := a, a;
              |   ^ again
            note: first here
             --> a.bp:4:3
              |
            4 |   L: skip;
              |   ^
            error: `b` is assigned twice
             --> a.bp:5:9
              |
            5 |   L: b, b := a, a;
              |         ^ again
            note: first here
             --> a.bp:5:6
              |
            5 |   L: b, b := a, a;
              |      ^
            error: the procedure `f` is defined twice
             --> a.bp:7:6
              |
            7 | void f() begin end
              |      ^ again
            note: first here
             --> a.bp:2:6
              |
            2 | void f(a, a) begin
              |      ^
        "#]],
    );
}

#[test]
fn the_same_label_twice_on_one_statement_is_one_label() {
    check("void main() begin L: L: L: goto L; end", expect![[r#""#]]);
}

#[test]
fn wrong_arities() {
    check(
        "bool<2> f(a) begin\n  return a;\nend\nvoid main() begin\n  decl x;\n  x := f(x);\n  f();\n  x, x := 1;\n  return x;\nend\n",
        expect![[r#"
            error: `f` returns 2 values, not 1
             --> a.bp:2:3
              |
            2 |   return a;
              |   ^^^^^^^^ expected 2 values
            error: `f` returns 2 values, not 1
             --> a.bp:6:3
              |
            6 |   x := f(x);
              |   ^^^^^^^^^ expected 2 variables to assign to
            note: defined here
             --> a.bp:1:9
              |
            1 | bool<2> f(a) begin
              |         ^
            error: `f` takes 1 argument, not 0
             --> a.bp:7:3
              |
            7 |   f();
              |   ^^^ expected 1 argument
            note: defined here
             --> a.bp:1:9
              |
            1 | bool<2> f(a) begin
              |         ^
            error: 1 value assigned to 2 variables
             --> a.bp:8:3
              |
            8 |   x, x := 1;
              |   ^^^^^^^^^ expected 2 values
            error: `x` is assigned twice
             --> a.bp:8:6
              |
            8 |   x, x := 1;
              |      ^ again
            note: first here
             --> a.bp:8:3
              |
            8 |   x, x := 1;
              |   ^
            error: `main` returns no values, not 1
             --> a.bp:9:3
              |
            9 |   return x;
              |   ^^^^^^^^ expected no values
        "#]],
    );
}

#[test]
fn next_values_outside_of_constrain() {
    check_body(
        "x := 'y;\nconstrain('x | y);",
        expect![[r#"
            error: `'` outside of `constrain`
             --> a.bp:3:7
              |
            3 | x := 'y;
              |       ^ only an assignment has a next state
            error: `'` outside of `constrain`
             --> a.bp:4:12
              |
            4 | constrain('x | y);
              |            ^ only an assignment has a next state
        "#]],
    );
}

#[test]
fn underscore_is_only_a_target() {
    check_body(
        "_ := _;",
        expect![[r#"
        error: `_` has no value
         --> a.bp:3:6
          |
        3 | _ := _;
          |      ^ expected a variable
    "#]],
    );
    check(
        "decl _; void main() begin end",
        expect![[r#"
        error: `_` cannot be declared
         --> a.bp:1:6
          |
        1 | decl _; void main() begin end
          |      ^ expected a name for the variable
    "#]],
    );
}

#[test]
fn declared_too_late() {
    check_body(
        "z := x;\ndecl z;",
        expect![[r#"
        error: unknown variable `z`
         --> a.bp:3:1
          |
        3 | z := x;
          | ^ not declared before this place
    "#]],
    );
}

// Syntax.

#[test]
fn several_errors_in_one_run() {
    check_body(
        "x := ;\nif (x then skip; fi\ngoto ;\nx y := 1;\nf(x,);",
        expect![[r#"
            error: unexpected `;`
             --> a.bp:3:6
              |
            3 | x := ;
              |      ^ expected an expression
            error: unexpected `then`
             --> a.bp:4:7
              |
            4 | if (x then skip; fi
              |       ^^^^ expected an operator or `)`
            note: opened here
             --> a.bp:4:4
              |
            4 | if (x then skip; fi
              |    ^
            error: unexpected `;`
             --> a.bp:5:6
              |
            5 | goto ;
              |      ^ expected a label
            error: unexpected `y`
             --> a.bp:6:3
              |
            6 | x y := 1;
              |   ^ expected `:=`, `,`, `(` or `:`
            error: unexpected `)`
             --> a.bp:7:5
              |
            7 | f(x,);
              |     ^ expected an expression
        "#]],
    );
}

#[test]
fn blocks_that_do_not_match() {
    check_body(
        "while (x) do\n  if (y) then\n    skip;\nod",
        expect![[r#"
            error: this `if` is not closed
             --> a.bp:6:1
              |
            6 | od
              | ^^ expected `fi`
            note: it starts here
             --> a.bp:4:3
              |
            4 |   if (y) then
              |   ^^
        "#]],
    );
    check_body(
        "if (x) then skip; od fi\nelse",
        expect![[r#"
        error: `od` without `while`
         --> a.bp:3:19
          |
        3 | if (x) then skip; od fi
          |                   ^^ closes nothing
        error: `else` without `if`
         --> a.bp:4:1
          |
        4 | else
          | ^^^^ closes nothing
    "#]],
    );
    check_body(
        "if (x) then skip; else skip; else skip; fi",
        expect![[r#"
            error: `else` after `else`
             --> a.bp:3:30
              |
            3 | if (x) then skip; else skip; else skip; fi
              |                              ^^^^ expected `fi`
            note: in this `if`
             --> a.bp:3:1
              |
            3 | if (x) then skip; else skip; else skip; fi
              | ^^
        "#]],
    );
}

#[test]
fn a_body_without_end() {
    check(
        "void main() begin\n  skip;\n",
        expect![[r#"
        error: the body of `main` is not closed
         --> a.bp:3:1
          |
        3 | 
          | ^ expected `end`
        note: it starts here
         --> a.bp:1:6
          |
        1 | void main() begin
          |      ^^^^
    "#]],
    );
    check(
        "void main() begin\n  if (1) then skip;",
        expect![[r#"
        error: the body of `main` is not closed
         --> a.bp:2:20
          |
        2 |   if (1) then skip;
          |                    ^ expected `end`
        note: it starts here
         --> a.bp:1:6
          |
        1 | void main() begin
          |      ^^^^
    "#]],
    );
}

#[test]
fn unterminated_things() {
    check_body(
        "{x == 1 := 1;",
        expect![[r#"
        error: unterminated name in braces
         --> a.bp:3:1
          |
        3 | {x == 1 := 1;
          | ^^^^^^^^^^^^^ expected `}`
        error: unexpected `end`
         --> a.bp:4:1
          |
        4 | end
          | ^^^ expected `:=`, `,`, `(` or `:`
    "#]],
    );
    check_body(
        "x := {};",
        expect![[r#"
        error: empty name in braces
         --> a.bp:3:6
          |
        3 | x := {};
          |      ^^ expected a name
    "#]],
    );
    check_body(
        "skip; /* no end",
        expect![[r#"
        error: unterminated comment
         --> a.bp:3:7
          |
        3 | skip; /* no end
          |       ^^ expected `*/` before the end of the file
        error: the body of `main` is not closed
         --> a.bp:5:1
          |
        5 | 
          | ^ expected `end`
        note: it starts here
         --> a.bp:2:6
          |
        2 | void main() begin
          |      ^^^^
    "#]],
    );
}

#[test]
fn characters_that_belong_nowhere() {
    check_body(
        "x := y @@ x;\nx := \u{e9}t\u{e9};",
        expect![[r#"
        error: unexpected character `@`
         --> a.bp:3:8
          |
        3 | x := y @@ x;
          |        ^^ no token starts like this
        error: unexpected `x`
         --> a.bp:3:11
          |
        3 | x := y @@ x;
          |           ^ expected an operator, `,` or `;`
        error: unexpected character `é`
         --> a.bp:4:6
          |
        4 | x := été;
          |      ^ no token starts like this
        error: unexpected character `é`
         --> a.bp:4:8
          |
        4 | x := été;
          |        ^ no token starts like this
    "#]],
    );
}

#[test]
fn constants_are_not_names() {
    check(
        "decl T; void main() begin 1 := 0; x := 2; end",
        expect![[r#"
            error: `T` is a constant
             --> a.bp:1:6
              |
            1 | decl T; void main() begin 1 := 0; x := 2; end
              |      ^ use --dialect bebop, where it is a name, or put it in braces
            error: `1` is a constant
             --> a.bp:1:27
              |
            1 | decl T; void main() begin 1 := 0; x := 2; end
              |                           ^ expected a name
            error: `2` is not a truth value
             --> a.bp:1:40
              |
            1 | decl T; void main() begin 1 := 0; x := 2; end
              |                                        ^ expected 0 or 1
        "#]],
    );
}

#[test]
fn calls_are_not_expressions() {
    check_body(
        "x := y & f(x);",
        expect![[r#"
        error: a call of `f` inside an expression
         --> a.bp:3:10
          |
        3 | x := y & f(x);
          |          ^ expected a variable; results of calls can only be assigned: `x := f(y)`
    "#]],
    );
}

#[test]
fn labels_stand_before_statements() {
    check_body(
        "if (x) then L: fi\nM:",
        expect![[r#"
        error: the label `L` stands before no statement
         --> a.bp:3:16
          |
        3 | if (x) then L: fi
          |                ^^ expected a statement
        error: the label `M` stands before no statement
         --> a.bp:5:1
          |
        5 | end
          | ^^^ expected a statement
    "#]],
    );
}

#[test]
fn other_things_than_items() {
    check(
        "begin skip; end\nvoid f( begin end\nvoid main() begin end\n",
        expect![[r#"
            error: unexpected `begin`
             --> a.bp:1:1
              |
            1 | begin skip; end
              | ^^^^^ expected a declaration or a procedure
            error: unexpected `begin`
             --> a.bp:2:9
              |
            2 | void f( begin end
              |         ^^^^^ expected a parameter or `)`
        "#]],
    );
}

#[test]
fn absurd_numbers_of_results() {
    check(
        "bool<99999999999> f() begin end void main() begin end",
        expect![[r#"
            error: more than 65536 return values
             --> a.bp:1:6
              |
            1 | bool<99999999999> f() begin end void main() begin end
              |      ^^^^^^^^^^^ too many
        "#]],
    );
    check(
        "bool<x> f() begin end void main() begin end",
        expect![[r#"
            error: unexpected `x`
             --> a.bp:1:6
              |
            1 | bool<x> f() begin end void main() begin end
              |      ^ expected the number of return values
        "#]],
    );
}

#[test]
fn threads_are_refused_by_name() {
    check_body(
        "start_thread f();\nend_thread;\nsync x;\natomic_begin;\natomic_end;\nASYNC_1: skip;",
        expect![[r#"
            error: threads are not supported: `start_thread`
             --> a.bp:3:1
              |
            3 | start_thread f();
              | ^^^^^^^^^^^^ only sequential programs can be checked
            error: threads are not supported: `end_thread`
             --> a.bp:4:1
              |
            4 | end_thread;
              | ^^^^^^^^^^ only sequential programs can be checked
            error: threads are not supported: `sync`
             --> a.bp:5:1
              |
            5 | sync x;
              | ^^^^ only sequential programs can be checked
            error: threads are not supported: `atomic_begin`
             --> a.bp:6:1
              |
            6 | atomic_begin;
              | ^^^^^^^^^^^^ only sequential programs can be checked
            error: threads are not supported: `atomic_end`
             --> a.bp:7:1
              |
            7 | atomic_end;
              | ^^^^^^^^^^ only sequential programs can be checked
            error: threads are not supported: `ASYNC_`
             --> a.bp:8:1
              |
            8 | ASYNC_1: skip;
              | ^^^^^^^ only sequential programs can be checked
        "#]],
    );
}

#[test]
fn what_a_dialect_does_not_have() {
    check_in(
        Dialect::Bebop,
        "decl x;\nvoid main() begin\n  x := schoose[x, *];\nend\n",
        expect![[r#"
            error: a return type is not part of the Bebop dialect; use --dialect auto
             --> a.bp:2:1
              |
            2 | void main() begin
              | ^^^^
            error: `schoose` is not part of the Bebop dialect; use --dialect auto
             --> a.bp:3:8
              |
            3 |   x := schoose[x, *];
              |        ^^^^^^^
            error: a choice that is not a whole condition is not part of the Bebop dialect; use --dialect auto
             --> a.bp:3:8
              |
            3 |   x := schoose[x, *];
              |        ^^^^^^^^^^^^^
            error: `*` is not part of the Bebop dialect; use --dialect auto
             --> a.bp:3:19
              |
            3 |   x := schoose[x, *];
              |                   ^
        "#]],
    );
    check_in(
        Dialect::Boppo,
        "decl {x = 1};\nmain() begin\n  print(1 == 0);\nend\n",
        expect![[r#"
            error: a name in braces is not part of the Boppo dialect; use --dialect auto
             --> a.bp:1:6
              |
            1 | decl {x = 1};
              |      ^^^^^^^
            error: a procedure without `void` or `bool` is not part of the Boppo dialect; use --dialect auto
             --> a.bp:2:1
              |
            2 | main() begin
              | ^^^^
            error: `print` is not part of the Boppo dialect; use --dialect auto
             --> a.bp:3:3
              |
            3 |   print(1 == 0);
              |   ^^^^^
            error: `==` is not part of the Boppo dialect; use --dialect auto
             --> a.bp:3:11
              |
            3 |   print(1 == 0);
              |           ^^
        "#]],
    );
    check_in(
        Dialect::Getafix,
        "decl x;\nvoid main() begin\n  x := x | *;\n  A: B: goto A, B;\nend\n",
        expect![[r#"
            error: a choice that is not a whole condition is not part of the Getafix dialect; use --dialect auto
             --> a.bp:3:8
              |
            3 |   x := x | *;
              |        ^^^^^
            error: a second label on a statement is not part of the Getafix dialect; use --dialect auto
             --> a.bp:4:6
              |
            4 |   A: B: goto A, B;
              |      ^
            error: `goto` with several targets is not part of the Getafix dialect; use --dialect auto
             --> a.bp:4:9
              |
            4 |   A: B: goto A, B;
              |         ^^^^^^^^^
        "#]],
    );
}

#[test]
fn operators_that_dialects_group_differently() {
    check(
        "decl a, b;\nvoid main() begin\n  a := a & b = a;\nend\n",
        expect![[r#"
            warning: `x & y = z` is read as `x & (y = z)` here
             --> a.bp:3:14
              |
            3 |   a := a & b = a;
              |              ^ the dialects disagree; parentheses make it clear
            note: Getafix reads it like this, Boppo as `(x & y) = z`
        "#]],
    );
}

#[test]
fn only_so_many_errors_are_shown() {
    let text = format!("void main() begin\n{}end\n", "x := 1;\n".repeat(1000));
    let mut sources = Sources::new();
    let file = sources.add("a.bp", text);
    let loaded = load(&sources, file, Dialect::Auto);
    assert_eq!(loaded.diagnostics.len(), 51);
    assert_eq!(
        loaded.diagnostics[50].message,
        "further errors are not shown"
    );
    let text = format!("void main() begin\n{}end\n", "x := ;\n".repeat(1000));
    let file = sources.add("b.bp", text);
    let loaded = load(&sources, file, Dialect::Auto);
    assert_eq!(loaded.diagnostics.len(), 51);
    assert_eq!(
        loaded.diagnostics[50].message,
        "further errors are not shown"
    );
}
