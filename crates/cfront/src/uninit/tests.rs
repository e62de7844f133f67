//! Runs of small programs: where the interpreter finds the first use of bits without a value.

use crate::interp::{Interpreter, Limits, Outcome, Script};
use crate::load::{Options, load};
use crate::parse::{Input, InputKind, NoFiles, Preprocess};
use crate::program::CheckKind;
use crate::types::DataModel;
use hardbop_budget::Budget;

/// The text whose value is used without one in the run without inputs, or how the run ends.
fn used(text: &str) -> String {
    let input = Input {
        name: "x.c".to_owned(),
        bytes: text.as_bytes().to_vec(),
        kind: InputKind::of("x.c"),
        preprocess: Preprocess::default(),
    };
    let mut options = Options::new(DataModel::Lp64);
    options.lower.checks.insert(CheckKind::Uninit);
    let loaded = load(&[input], &options, &NoFiles, &Budget::unlimited()).unwrap();
    let Some(loaded) = loaded.program else {
        return format!("{:?}", loaded.diagnostics);
    };
    assert_eq!(crate::verify::verify(&loaded.program), Vec::<String>::new());
    let mut nothing = Script::new(Vec::new());
    let run = Interpreter::new(&loaded.program).run(&mut nothing, &Limits::default());
    match run.outcome {
        Outcome::Violated(check) => {
            let message = &loaded.program.checks[check.index()].message;
            message.replace("uninitialised value used in ", "")
        }
        Outcome::Returned(_) => "nothing".to_owned(),
        outcome => format!("{outcome:?}"),
    }
}

#[test]
fn a_branch_is_a_use_and_a_copy_is_none() {
    assert_eq!(
        used("int main(void) { int x; int y = x; return 0; }"),
        "nothing"
    );
    assert_eq!(
        used("int main(void) { int x; int y = x; if (y + 1) return 1; return 0; }"),
        "y + 1"
    );
    let branches = "int main(void) { int x, n = 0; for (int i = 0; i < 3; i++) { if (i == 2 && x) n++; x = i; } return n; }";
    assert_eq!(used(branches), "nothing");
}

#[test]
fn every_bit_counts_for_itself() {
    let text = |condition: &str| {
        format!(
            "int main(void) {{ unsigned x, y = 0; x = (x & 0xff00u) | 5u; if ({condition}) y++; return 0; }}"
        )
    };
    assert_eq!(used(&text("x & 1u")), "nothing");
    assert_eq!(used(&text("x & 0x100u")), "x & 0x100u");
    assert_eq!(used(&text("x")), "nothing");
    assert_eq!(used(&text("x == 6u")), "nothing");
    assert_eq!(used(&text("x == 5u")), "x == 5u");
    assert_eq!(used(&text("(x << 24) >> 24 == 5u")), "nothing");
    assert_eq!(used(&text("x >> 8 == 0u")), "x >> 8 == 0u");
    assert_eq!(used(&text("(unsigned char)x == 5")), "nothing");
    assert_eq!(used(&text("(x ^ x) & 1u")), "nothing");
    assert_eq!(used(&text("(x + 1u) & 0xffu")), "nothing");
    assert_eq!(
        used(&text("0x10000u & x + 0x100u")),
        "0x10000u & x + 0x100u"
    );
}

#[test]
fn a_part_of_a_struct_may_go_along() {
    let text = |rest: &str| {
        format!(
            "struct S {{ int a; unsigned b : 3; int c : 5; struct {{ short d[2]; }} e; }};
             static struct S same(struct S s) {{ return s; }}
             struct S global;
             int main(void) {{ struct S s, t; s.a = 1; s.c = -2; s.e.d[1] = 3;
               t = same(s); struct S *p = &global; *p = t; {rest} return 0; }}"
        )
    };
    assert_eq!(used(&text("if (t.a == 1 && p->a == 1) t.a++;")), "nothing");
    assert_eq!(
        used(&text("if (t.c == -2 && p->c == -2 && global.c < 0) t.a++;")),
        "nothing"
    );
    assert_eq!(
        used(&text("if (t.e.d[1] == 3 && p->e.d[1] == 3) t.a++;")),
        "nothing"
    );
    assert_eq!(used(&text("if (t.b) t.a++;")), "t.b");
    assert_eq!(used(&text("if (p->b) t.a++;")), "p->b");
    assert_eq!(used(&text("if (global.e.d[0]) t.a++;")), "global.e.d[0]");
    assert_eq!(
        used(&text("p->b = 1; if (p->b == 1 && p->c == -2) t.a++;")),
        "nothing"
    );
}

#[test]
fn memory_of_the_heap_has_no_value_at_first() {
    let text = |rest: &str| {
        format!(
            "#include <stdlib.h>
             #include <string.h>
             int main(void) {{ int *p = malloc(16), *q = calloc(4, 4); p[1] = 7; {rest} return 0; }}"
        )
    };
    assert_eq!(used(&text("if (p[1] && q[2] == 0) p[1]++;")), "nothing");
    assert_eq!(used(&text("if (p[0]) p[1]++;")), "p[0]");
    assert_eq!(
        used(&text(
            "memcpy(q, p, 16); if (q[1] == 7) p[0] = 1; if (q[2]) p[1]++;"
        )),
        "q[2]"
    );
    assert_eq!(
        used(&text(
            "q[3] = p[3]; q[2] = p[1]; if (q[2]) p[1]++; if (q[3]) p[1]++;"
        )),
        "q[3]"
    );
    assert_eq!(
        used(&text(
            "p = realloc(p, 32); if (p[1] == 7) p[2] = 1; if (p[7]) p[1]++;"
        )),
        "p[7]"
    );
    assert_eq!(
        used(&text("memset(p, 0, 16); if (p[3]) p[1]++;")),
        "nothing"
    );
}

#[test]
fn addresses_arguments_and_results_are_uses() {
    assert_eq!(
        used("int main(void) { int a[3] = {1, 2, 3}, i; return a[i] > 5; }"),
        "return a[i] > 5;"
    );
    assert_eq!(used("int main(void) { int *p; return *p; }"), "return *p;");
    assert_eq!(
        used("int f(int x) { return x ? 1 : 2; } int main(void) { int y; return f(y); }"),
        "return x ? 1 : 2;"
    );
    assert_eq!(
        used("int f(void) { int x; return x; } int main(void) { if (f()) return 1; return 0; }"),
        "f()"
    );
    assert_eq!(
        used(
            "int f(int n) { int x; if (n) x = n; if (n > 1) return f(n - 1) + x; return x; } int main(void) { if (f(3) == 6) return 0; return 1; }"
        ),
        "nothing"
    );
    assert_eq!(
        used("#include <stdio.h>\nint main(void) { int x; printf(\"%d\", x); return 0; }"),
        "printf(\"%d\", x)"
    );
    assert_eq!(
        used(
            "int one(int x) { return x; } int two(int x) { if (x > 0) return 1; return 0; } int main(int c, char **v) { int (*f[2])(int) = { one, two }; int y; f[0](y); return f[1](y); }"
        ),
        "x > 0"
    );
}
