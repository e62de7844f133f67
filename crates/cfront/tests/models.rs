//! The models of library functions: the exact ones answer as a C library does, those that read
//! from outside read inputs.

use hardbop_budget::Budget;
use hardbop_cfront::interp::{Exhausted, InputValue, Interpreter, Limits, Outcome, Script};
use hardbop_cfront::load::{Options, load};
use hardbop_cfront::parse::{Input, InputKind, NoFiles, Preprocess};
use hardbop_cfront::program::{Assumption, Program};
use hardbop_cfront::types::DataModel;
use hardbop_diagnostics::{Style, render};

fn program(text: &str, model: DataModel) -> Program {
    let input = Input {
        name: "test.c".to_owned(),
        bytes: text.into(),
        kind: InputKind::Source,
        preprocess: Preprocess::default(),
    };
    let loaded = load(
        &[input],
        &Options::new(model),
        &NoFiles,
        &Budget::unlimited(),
    )
    .unwrap();
    let told: String = loaded
        .diagnostics
        .iter()
        .map(|d| render(d, loaded.sources(), Style::Plain))
        .collect();
    assert!(told.is_empty(), "{told}");
    loaded.program.expect("no errors").program
}

/// Runs a program on inputs and says how it ends.
fn outcome(program: &Program, inputs: Vec<InputValue>) -> String {
    let mut script = Script::new(inputs).exhausted(Exhausted::Stop);
    let run = Interpreter::new(program).run(&mut script, &Limits::default());
    match run.outcome {
        Outcome::Returned(Some(value)) => format!("returned {}", value.bits),
        Outcome::Violated(check) => format!("violated {}", program.checks[check.index()].message),
        Outcome::Trapped { kind, edge } => {
            let source = program.edges[edge.index()].source;
            format!("trapped {kind:?} at {}", program.sources.slice(source.span))
        }
        other => format!("{other:?}"),
    }
}

fn passes(text: &str) {
    for model in [DataModel::Ilp32, DataModel::Lp64] {
        assert_eq!(outcome(&program(text, model), Vec::new()), "returned 0");
    }
}

#[test]
fn strings() {
    passes(include_str!("models/string.c"));
}

#[test]
fn wide_characters() {
    passes(include_str!("models/wchar.c"));
}

#[test]
fn stdlib_and_ctype() {
    passes(include_str!("models/stdlib.c"));
}

#[test]
fn texts() {
    passes(include_str!("models/stdio.c"));
}

/// How a program ends on inputs, at LP64.
fn check(text: &str, inputs: &[i128], expected: &str) {
    let inputs = inputs.iter().map(|&i| InputValue::Int(i)).collect();
    assert_eq!(outcome(&program(text, DataModel::Lp64), inputs), expected);
}

#[test]
fn what_is_read_is_an_input() {
    let text = "#include <stdio.h>\nint main(void) { return getchar(); }";
    check(text, &[65], "returned 65");
    let text = "#include <stdlib.h>\nint main(void) { return rand() % 10; }";
    check(text, &[13], "returned 3");
    // The first input is the number of fields that scanf finds.
    let text = "#include <stdio.h>\nint main(void) { int x = 7, y = 8;\n\
                int n = scanf(\"%d,%d\", &x, &y); return n * 100 + x * 10 + y; }";
    check(text, &[2, 3, 4], "returned 234");
    check(text, &[1, 3], "returned 138");
    check(text, &[0], "returned 78");
}

#[test]
fn printing_does_nothing() {
    let text = "#include <stdio.h>\nint main(void) { int x = 3; printf(\"%d\\n\", x);\n\
                fprintf(stderr, \"%d\", x); puts(\"\"); return x; }";
    check(text, &[], "returned 3");
}

#[test]
fn exit_handlers_run_in_reverse_when_main_returns_and_at_exit() {
    let text = |end: &str| {
        format!(
            "#include <assert.h>\n#include <stdlib.h>\nint n = 1;\n\
             void first(void) {{ assert(n != 6); }}\nvoid second(void) {{ n = n * 2; }}\n\
             int main(void) {{ atexit(first); atexit(second); n = 3; {end} }}"
        )
    };
    check(&text("return 0;"), &[], "violated assertion n != 6");
    check(&text("exit(1);"), &[], "violated assertion n != 6");
    assert!(outcome(&program(&text("abort();"), DataModel::Lp64), vec![]).starts_with("Halted"));
}

#[test]
fn destructors_run_after_handlers_and_the_last_one_first() {
    let text = |end: &str| {
        format!(
            "#include <assert.h>\n#include <stdlib.h>\nint n;\n\
             __attribute__((destructor)) void first(void) {{ assert(n != 132); }}\n\
             __attribute__((destructor)) void second(void) {{ n = n * 10 + 2; }}\n\
             void handler(void) {{ n = n * 10 + 3; }}\n\
             int main(void) {{ atexit(handler); n = 1; {end} }}"
        )
    };
    check(&text("return 0;"), &[], "violated assertion n != 132");
    check(&text("exit(1);"), &[], "violated assertion n != 132");
    for end in ["abort();", "_exit(0);", "_Exit(0);", "quick_exit(0);"] {
        let ended = outcome(&program(&text(end), DataModel::Lp64), vec![]);
        assert!(ended.starts_with("Halted"), "{end}");
    }
}

#[test]
fn signals_run_their_handlers() {
    let text = |body: &str| {
        format!(
            "#include <signal.h>\n#include <stdlib.h>\nint n;\n\
             void count(int s) {{ n = n * 100 + s; }}\n\
             void again(int s) {{ n++; if (n < 3) raise(s); }}\n\
             int main(void) {{ {body} return n; }}"
        )
    };
    check(&text("signal(2, count); raise(2);"), &[], "returned 2");
    check(&text("signal(2, SIG_IGN); raise(2);"), &[], "returned 0");
    check(&text("signal(2, again); raise(2);"), &[], "returned 3");
    check(
        &text("if (signal(99, count) == SIG_ERR) n = 7;"),
        &[],
        "returned 7",
    );
    let ended = outcome(&program(&text("raise(2);"), DataModel::Lp64), vec![]);
    assert!(ended.starts_with("Halted"));
    let violated = "#include <assert.h>\n#include <signal.h>\n#include <stdlib.h>\n\
                    void last(int s) { assert(s != 6); }\n\
                    int main(void) { signal(SIGABRT, last); abort(); }";
    check(violated, &[], "violated assertion s != 6");
}

#[test]
fn what_no_memory_has_is_not_given() {
    let text = |call: &str| {
        format!(
            "#include <stdlib.h>\nextern unsigned long __VERIFIER_nondet_ulong(void);\n\
             int main(void) {{ unsigned long n = __VERIFIER_nondet_ulong(); return {call} == 0; }}"
        )
    };
    let most = (1i128 << 47) - 1;
    check(&text("malloc(n)"), &[10], "returned 0");
    check(&text("malloc(n)"), &[most + 1], "returned 1");
    check(&text("malloc(-1)"), &[0], "returned 1");
    check(&text("calloc(n, 1)"), &[most + 1], "returned 1");
    check(&text("calloc(n, 16)"), &[1 << 60], "returned 1");
    check(&text("calloc(n, 2)"), &[5], "returned 0");
    check(&text("realloc(malloc(4), n)"), &[-1], "returned 1");
}

#[test]
fn the_user_s_own_function_comes_first() {
    let text = "#include <string.h>\nsize_t strlen(const char *s) { return 42; }\n\
                int main(int n, char **a) { char s[2] = {0}; return strlen(s); }";
    check(text, &[], "returned 42");
}

#[test]
fn setjmp_returns_before_anybody_jumps() {
    let text = "#include <setjmp.h>\njmp_buf b;\n\
                int main(void) { if (setjmp(b) == 0) return 7; return 8; }";
    check(text, &[], "returned 7");
}

#[test]
fn the_locale_writes_numbers_with_a_point() {
    let text = "#include <locale.h>\n#include <limits.h>\n#include <string.h>\n\
                int main(void) { struct lconv *l = localeconv();\n\
                return l->decimal_point[0] * 4 + (strlen(l->negative_sign) == 0) * 2\n\
                + (l->int_n_sign_posn == CHAR_MAX); }";
    check(text, &[], "returned 187");
}

#[test]
fn what_a_model_assumes_is_recorded() {
    let program = program(
        "#include <stdio.h>\n#include <ctype.h>\nint main(void) { return isalpha(getchar()); }",
        DataModel::Lp64,
    );
    assert_eq!(
        program.assumptions,
        [Assumption::Model {
            text: "the locale is \"C\"".to_owned()
        }]
    );
}
