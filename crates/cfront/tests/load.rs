//! Loading whole programs: links, warnings, indirect calls, graphs.

use expect_test::{Expect, expect};
use hardbop_budget::Budget;
use hardbop_cfront::dot;
use hardbop_cfront::ids::ExprId;
use hardbop_cfront::load::{Loaded, LoadedProgram, Options, load};
use hardbop_cfront::options::Undefined;
use hardbop_cfront::parse::{Files, Input, InputKind, Preprocess};
use hardbop_cfront::program::{Callee, CheckKind, Op, Origin, Program};
use hardbop_cfront::types::DataModel;
use hardbop_cfront::verify::verify;
use hardbop_diagnostics::{Style, render};
use std::path::Path;

/// Files in one text: each begins with a line `//- NAME`. Those that end in `.c` or `.i` are
/// units; all can be included.
struct Fixture(Vec<(String, String)>);

impl Fixture {
    fn new(text: &str) -> Fixture {
        let mut files: Vec<(String, String)> = Vec::new();
        for line in text.lines() {
            match line.strip_prefix("//- ") {
                Some(name) => files.push((name.to_owned(), String::new())),
                None => {
                    if files.is_empty() {
                        files.push(("main.c".to_owned(), String::new()));
                    }
                    let (_, text) = files.last_mut().expect("not empty");
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        Fixture(files)
    }

    fn load(&self, options: &Options) -> Loaded {
        let inputs: Vec<Input> = self
            .0
            .iter()
            .filter(|(name, _)| name.ends_with(".c") || name.ends_with(".i"))
            .map(|(name, text)| Input {
                name: name.clone(),
                bytes: text.clone().into_bytes(),
                kind: InputKind::of(name),
                preprocess: Preprocess::default(),
            })
            .collect();
        load(&inputs, options, self, &Budget::unlimited()).unwrap()
    }
}

impl Files for Fixture {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let found = self.0.iter().find(|(name, _)| Path::new(name) == path);
        found
            .map(|(_, text)| text.clone().into_bytes())
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

/// What the user is told about a program, and what its verdicts rest on.
fn check_with(text: &str, options: &Options, expected: Expect) {
    let loaded = Fixture::new(text).load(options);
    let mut out: String = loaded
        .diagnostics
        .iter()
        .map(|d| render(d, loaded.sources(), Style::Plain))
        .collect();
    let refused = loaded.diagnostics.iter().any(|d| d.is_error());
    assert_eq!(refused, loaded.program.is_none());
    if let Some(loaded) = &loaded.program {
        assert_eq!(verify(&loaded.program), Vec::<String>::new());
        for assumption in &loaded.program.assumptions {
            let text = format!("{assumption:?}");
            out.push_str(&format!(
                "assumes {}\n",
                text.split(", source").next().unwrap_or(&text)
            ));
        }
    }
    expected.assert_eq(&out);
}

fn check(text: &str, expected: Expect) {
    check_with(text, &Options::new(DataModel::Lp64), expected);
}

fn program(text: &str) -> LoadedProgram {
    let loaded = Fixture::new(text).load(&Options::new(DataModel::Lp64));
    let told: String = loaded
        .diagnostics
        .iter()
        .map(|d| render(d, loaded.sources(), Style::Plain))
        .collect();
    loaded.program.unwrap_or_else(|| panic!("{told}"))
}

#[test]
fn an_undefined_function_is_named_once_where_it_is_first_called() {
    check(
        "int f(int);\nint unused(void);\nint g(void) { return unused(); }\n\
         int main(void) { f(1); return f(2); }",
        expect![[r#"
            warning: function `f` is not defined
             --> main.c:4:18
              |
            4 | int main(void) { f(1); return f(2); }
              |                  ^^^^ it is taken to return anything
            assumes UndefinedFunction { name: "f"
        "#]],
    );
}

#[test]
fn an_undefined_function_may_change_memory_if_the_user_says_so() {
    let mut options = Options::new(DataModel::Lp64);
    options.lower.undefined = Undefined::Havoc;
    check_with(
        "int f(int *);\nint main(void) { int x; return f(&x); }",
        &options,
        expect![[r#"
        warning: function `f` is not defined
         --> main.c:2:32
          |
        2 | int main(void) { int x; return f(&x); }
          |                                ^^^^^ it is taken to change memory and return anything
        assumes UndefinedFunction { name: "f"
    "#]],
    );
}

#[test]
fn an_undefined_variable_has_any_value() {
    check(
        "extern int x, y;\nint main(void) { return x; }",
        expect![[r#"
        assumes UndefinedVariable { name: "x"
    "#]],
    );
}

#[test]
fn what_is_not_supported_is_told_only_where_it_can_be_reached() {
    check(
        "#include <setjmp.h>\njmp_buf b;\n\
         int no(void) { longjmp(b, 1); }\nint main(void) { return 0; }",
        expect![[""]],
    );
    check(
        "#include <setjmp.h>\njmp_buf b;\nint main(void) { longjmp(b, 1); }",
        expect![[r#"
            warning: not supported: `longjmp`
             --> main.c:3:18
              |
            3 | int main(void) { longjmp(b, 1); }
              |                  ^^^^^^^^^^^^^ executions that come here have no verdict
        "#]],
    );
    check(
        "#include <pthread.h>\nvoid *f(void *p) { return p; }\n\
         int main(void) { pthread_t t; return pthread_create(&t, 0, f, 0); }",
        expect![[r#"
            warning: not supported: `pthread_create`: only sequential programs are understood
             --> main.c:3:38
              |
            3 | int main(void) { pthread_t t; return pthread_create(&t, 0, f, 0); }
              |                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^ executions that come here have no verdict
        "#]],
    );
}

#[test]
fn a_program_needs_its_entry() {
    check(
        "int f(void) { return 0; }",
        expect![[r#"
        error: the program has no function `main` to start at; `--entry f` starts at that function, with arguments that may be anything, and `hardbop check --each` looks at every function by itself
    "#]],
    );
    let mut options = Options::new(DataModel::Lp64);
    options.lower.entry = "f".to_owned();
    check_with("int f(void) { return 0; }", &options, expect![[""]]);
}

#[test]
fn units_are_linked() {
    check(
        "//- a.c\n#include \"h.h\"\nint shared = 3;\nstatic int local(void) { return 1; }\n\
         int main(void) { return twice(shared) + local(); }\n\
         //- b.c\n#include \"h.h\"\nstatic int local(void) { return 2; }\n\
         int twice(int x) { return local() * x; }\n\
         //- h.h\n#pragma once\nextern int shared;\nint twice(int);\n",
        expect![[""]],
    );
    check(
        "//- a.c\nint f(void) { return 1; }\nint main(void) { return f(); }\n\
         //- b.c\nint f(void) { return 2; }\n",
        expect![[r#"
            error: function `f` is defined more than once
             --> b.c:1:5
              |
            1 | int f(void) { return 2; }
              |     ^ defined again here
            note: first defined here
             --> a.c:1:5
              |
            1 | int f(void) { return 1; }
              |     ^
        "#]],
    );
}

#[test]
fn errors_of_all_units_are_told() {
    check(
        "//- a.c\n#include \"bad.h\"\nint main(void) { return x; }\n\
         //- b.i\n# 10 \"orig.c\"\nint f(void) { return 1 }\n\
         //- bad.h\nint y = z;\n#include <nowhere.h>\n",
        expect![[r#"
            error: `nowhere.h` file not found
             --> bad.h:2:1
              |
            2 | #include <nowhere.h>
              | ^
            note: included from here
             --> a.c:1:1
              |
            1 | #include "bad.h"
              | ^
            note: searched: <hardbop>, /usr/local/include, /usr/include/x86_64-linux-gnu, /usr/include/aarch64-linux-gnu, /usr/include
            error: expected `;`, found `}`
             --> b.i:2:23
              |
            2 | int f(void) { return 1 }
              |                       ^
            note: this is line 10 of `orig.c`
        "#]],
    );
}

/// The targets of each indirect call, in order.
fn targets(program: &Program) -> String {
    let mut out = String::new();
    for edge in &program.edges {
        if let Op::Call {
            callee: Callee::Indirect { targets, .. },
            ..
        } = &edge.op
        {
            let names: Vec<&str> = targets
                .iter()
                .map(|&f| program.function(f).name.as_str())
                .collect();
            let text = program.sources.slice(edge.source.span);
            out.push_str(&format!("{text}: {}\n", names.join(", ")));
        }
    }
    out
}

#[test]
fn indirect_calls_know_their_targets() {
    let loaded = program(
        "struct ops { int (*open)(int); int (*close)(int); };\n\
         int a(int x) { return x; }\nint b(int x) { return -x; }\nint c(int x) { return 0; }\n\
         void other(void) {}\nvoid (*keep)(void) = other;\n\
         struct ops one = { a, b }, two = { .open = c, .close = b };\n\
         int use(struct ops *o) { return o->open(1) + o->close(2); }\n\
         int main(void) { int (*f)(int) = b; return use(&one) + use(&two) + f(3); }",
    );
    expect![[r#"
        o->open(1): a, c
        o->close(2): b
        f(3): b
    "#]]
    .assert_eq(&targets(&loaded.program));
}

#[test]
fn a_pointer_from_outside_calls_what_has_its_type() {
    check(
        "typedef int (*fun)(int);\nfun get(void);\nint a(int x) { return x; }\nfun kept = a;\n\
         int main(void) { return get()(1); }",
        expect![[r#"
            warning: function `get` is not defined
             --> main.c:5:25
              |
            5 | int main(void) { return get()(1); }
              |                         ^^^^^ it is taken to return anything
            assumes UndefinedFunction { name: "get"
            assumes Model { text: "a function pointer that comes from outside points to a function of its type that the program names" }
        "#]],
    );
    check(
        "typedef int (*fun)(long);\nfun get(void);\nint main(void) { return get()(1); }",
        expect![[r#"
            warning: function `get` is not defined
             --> main.c:3:25
              |
            3 | int main(void) { return get()(1); }
              |                         ^^^^^ it is taken to return anything
            assumes UndefinedFunction { name: "get"
            assumes Model { text: "a call through a pointer to a function outside of the program returns anything" }
        "#]],
    );
}

#[test]
fn graphs_are_drawn() {
    let loaded = program(
        "#include <assert.h>\nint main(int n) { while (n > 0) n--; assert(n == 0); return n; }",
    );
    let program = &loaded.program;
    expect![[r#"
        digraph program {
          node [shape=circle, fontname="monospace", fontsize=10];
          edge [fontname="monospace", fontsize=10];
          subgraph cluster_0 {
            label="main";
            L0 [label="0", style=bold];
            L1 [label="1", shape=doublecircle];
            L2 [label="2"];
            L3 [label="3"];
            L4 [label="4"];
            L5 [label="5\nassertion n == 0", color=red, shape=octagon];
            L6 [label="6\nexit"];
            L0 -> L1 [label=""];
            L1 -> L2 [label="assume(n > 0);"];
            L1 -> L3 [label="assume(!(n > 0));"];
            L2 -> L1 [label="n = n - 1;"];
            L3 -> L4 [label="assume(n == 0);"];
            L3 -> L5 [label="assume(!(n == 0));"];
            L4 -> L6 [label="result# = n;"];
          }
        }
    "#]]
    .assert_eq(&dot::dot(program, &dot::user_functions(program)));
}

#[test]
fn a_small_program_takes_the_models_that_it_needs() {
    let text = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
                int main(int c, char **v) { char b[20]; strcpy(b, v[0]); return atoi(b); }";
    let program = program(text);
    let models = program.program.functions.iter();
    let models = models.filter(|function| function.origin == Origin::Model);
    let names: Vec<&str> = models.map(|function| function.name.as_str()).collect();
    expect![[r#"
        [
            "strcpy",
            "atoi",
            "__hardbop_start",
            "strtol",
            "__hardbop_strdigits",
            "__errno_location",
            "__hardbop_fails",
            "__hardbop_may_fail",
        ]
    "#]]
    .assert_debug_eq(&names);
}

/// A check of a call through a pointer compares it with the functions that points-to names: those
/// comparisons are expressions that points-to must know, too.
#[test]
fn points_to_knows_every_expression() {
    let fixture = Fixture::new(
        "int a(void) { return 1; } int b(void) { return 2; }
struct ops { int (*run)(void); }; struct ops o = { a };
int main(int argc, char **argv) { if (argc > 1) o.run = b; return o.run(); }",
    );
    let mut options = Options::new(DataModel::Lp64);
    options.lower.checks.insert(CheckKind::Pointer);
    let loaded = fixture.load(&options).program.expect("it has no errors");
    let LoadedProgram { program, points_to } = loaded;
    let pointers = (0..program.exprs.len() as u32)
        .filter(|&index| points_to.pointer(ExprId(index)).is_some())
        .count();
    assert!(pointers > 0);
}
