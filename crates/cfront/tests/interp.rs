//! What the interpreter does with C programs, one behaviour at a time.

use expect_test::{Expect, expect};
use hardbop_cfront::interp::{
    Exhausted, Limits, Script, TraceMode, Unknown, parse_inputs, report, run,
};
use hardbop_cfront::types::DataModel;
use hardbop_test_support::oracle;

/// Runs a program on inputs for both data models, which must do the same, and shows the outcome
/// and where it was.
fn check(text: &str, inputs: &str, expected: Expect) {
    let mut shown: Vec<String> = Vec::new();
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        let program = oracle::program(text, model).expect("the program is accepted");
        let inputs = parse_inputs(inputs).expect("the inputs are numbers");
        let limits = Limits {
            steps: 10_000_000,
            depth: 2_000,
            ..Limits::default()
        };
        let run = run(&program, &mut Script::new(inputs), &limits);
        let report = report(&program, &run);
        let place = report.place.map_or(String::new(), |(_, line, text)| {
            format!(" [{line}: {text}]")
        });
        shown.push(format!("{}{place}", report.outcome));
    }
    assert_eq!(shown[0], shown[1], "both data models");
    expected.assert_eq(&shown[0]);
}

#[test]
fn one_of_many_runs_allocates_little_beside_what_is_static() {
    let text = "void *malloc(unsigned long); char large[8 << 20];
         int main(void) { char *small = malloc(1000); large[5] = 7; small[1] = large[5];
           char *p = malloc(1 << 28); return small[1]; }";
    let program = oracle::program(text, DataModel::Lp64).expect("the program is accepted");
    let outcome = |limits: &Limits| {
        let run = run(&program, &mut Script::new(Vec::new()), limits);
        report(&program, &run).outcome
    };
    assert_eq!(outcome(&Limits::default()), "returned 7");
    let one_of_many = Limits::of_many(10_000, Limits::default().budget);
    assert_eq!(outcome(&one_of_many), "undefined: out of memory");
}

#[test]
fn returned_values() {
    check(
        "int main(void) { return 2 + 3; }",
        "",
        expect!["returned 5"],
    );
    check("int main(void) { return -1; }", "", expect!["returned -1"]);
}

#[test]
fn inputs_are_converted_to_what_is_asked_for() {
    check(
        "int __VERIFIER_nondet_int(void); unsigned char __VERIFIER_nondet_uchar(void);
         _Bool __VERIFIER_nondet_bool(void);
         int main(void) { int a = __VERIFIER_nondet_int(); int b = __VERIFIER_nondet_uchar();
           return a * 1000 + b * 10 + __VERIFIER_nondet_bool(); }",
        "-1, 300, 7",
        expect!["returned -559"],
    );
}

#[test]
fn checks_and_ends() {
    check(
        "void assert(int); int __VERIFIER_nondet_int(void); void __VERIFIER_assume(int);
         void reach_error(void) {}
         int main(void) { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x > 3);
           if (x == 5) reach_error(); return x; }",
        "5",
        expect!["violated: call of `reach_error` [4: reach_error()]"],
    );
    check(
        "int __VERIFIER_nondet_int(void); void __VERIFIER_assume(int);
         int main(void) { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x > 3); return x; }",
        "3",
        expect!["ended: an assumption does not hold [2: x > 3]"],
    );
}

#[test]
fn what_has_no_meaning_is_trapped() {
    check(
        "int d; int main(void) { return 1 / d; }",
        "",
        expect!["undefined: division by zero [1: return 1 / d;]"],
    );
    check(
        "int main(void) { int *p = 0; return *p; }",
        "",
        expect!["undefined: null pointer dereferenced [1: return *p;]"],
    );
    check(
        "int a[3]; int main(void) { int i = 3; return a[i]; }",
        "",
        expect!["undefined: access outside of its object [1: return a[i];]"],
    );
    check(
        "int main(void) { int a[2]; int *p = a - 1; return p[0]; }",
        "",
        expect!["undefined: access outside of its object [1: return p[0];]"],
    );
    check(
        "int *p; void f(void) { int x = 1; p = &x; }\nint main(void) { f(); return *p; }",
        "",
        expect!["undefined: pointer to an object whose life is over dereferenced [2: return *p;]"],
    );
    check(
        "int d; int g(void) { return 1; }
         int main(void) { int (*f)(void) = d ? g : (int (*)(void))77; return f(); }",
        "",
        expect!["undefined: call through a pointer to no such function [2: f()]"],
    );
    check(
        "int f(int n) { return f(n + 1) + 1; }\nint main(void) { return f(0); }",
        "",
        expect!["undefined: stack overflow [1: f(n + 1)]"],
    );
    check(
        "int main(void) { return *(int *)4096; }",
        "",
        expect!["undefined: pointer to no object dereferenced [1: return *(int *)4096;]"],
    );
}

#[test]
fn each_life_of_a_local_is_an_object_of_its_own() {
    check(
        "int main(void) { int *p = 0, s = 0;
           for (int i = 0; i < 2; i++) { int x = i; if (p) s += *p; p = &x; }
           return s; }",
        "",
        expect!["undefined: pointer to an object whose life is over dereferenced [2: s += *p]"],
    );
}

#[test]
fn heap_objects() {
    const LIB: &str = "typedef __SIZE_TYPE__ size_t; void *malloc(size_t); void free(void *);\n";
    let with = |body: &str| format!("{LIB}int main(void) {{ {body} }}");
    check(
        &with("int *p = malloc(8); p[0] = 1; p[1] = 2; int s = p[0] + p[1]; free(p); return s;"),
        "",
        expect!["returned 3"],
    );
    let outcome = |text: String| {
        let program = oracle::program(&text, DataModel::Lp64).expect("the program is accepted");
        report(
            &program,
            &run(&program, &mut Script::new(Vec::new()), &Limits::default()),
        )
        .outcome
    };
    let bad_free = "undefined: free of what is not the start of a live heap object";
    assert_eq!(
        outcome(with("int *p = malloc(4); free(p); free(p); return 0;")),
        bad_free
    );
    assert_eq!(
        outcome(with("char *p = malloc(4); free(p + 1); return 0;")),
        bad_free
    );
    assert_eq!(outcome(with("int x; free(&x); return 0;")), bad_free);
    assert_eq!(outcome(with("free(0); return 0;")), "returned 0");
    assert_eq!(
        outcome(with("int *p = malloc(4); free(p); return *p;")),
        "undefined: pointer to an object whose life is over dereferenced"
    );
}

#[test]
fn pointers_survive_integers_bytes_and_copies() {
    check(
        "void *memcpy(void *, const void *, __SIZE_TYPE__);
         struct node { int v; struct node *next; };
         int main(void) {
           struct node a = { 1, 0 }, b = { 2, &a }, c;
           c = b;                                    // as a record
           struct node *p = (struct node *)(__UINTPTR_TYPE__)c.next;   // through an integer
           struct node *q; memcpy(&q, &c.next, sizeof q);              // by memcpy
           struct node *r; char *from = (char *)&p, *to = (char *)&r;  // byte by byte
           for (unsigned i = 0; i < sizeof r; i++) to[i] = from[i];
           return p->v + q->v + r->v + (p == q) * 10 + (&b > &a || &a > &b) * 100; }",
        "",
        expect!["returned 113"],
    );
}

#[test]
fn variadic_arguments() {
    check(
        "struct pair { int a; long long b; };
         long long sum(int n, ...) {
           __builtin_va_list ap, aq; long long s = 0; __builtin_va_start(ap, n);
           while (n-- > 0) s += __builtin_va_arg(ap, int);
           s += (long long)__builtin_va_arg(ap, double); __builtin_va_copy(aq, ap);
           s += __builtin_va_arg(aq, struct pair).b; s += __builtin_va_arg(ap, struct pair).a;
           __builtin_va_end(ap); __builtin_va_end(aq); return s; }
         int main(void) { struct pair p = { 1000, 20000 };
           return (int)sum(2, 1, -3, 100.5, p); }",
        "",
        expect!["returned 21098"],
    );
    check(
        "int f(int n, ...) { __builtin_va_list ap; __builtin_va_start(ap, n);
           return __builtin_va_arg(ap, int); }
         int main(void) { return f(1); }",
        "",
        expect!["undefined: null pointer dereferenced [2: __builtin_va_arg(ap, int)]"],
    );
}

#[test]
fn unknown_contents_are_stable_until_overwritten() {
    let text = "int main(void) { int a[4]; int x = a[1], y = a[1]; a[1] = 5;
                  return (x == y) + (a[1] == 5); }";
    let program = oracle::program(text, DataModel::Lp64).expect("the program is accepted");
    let mut random = Script::new(Vec::new()).unknown(Unknown::Random).seed(3);
    let first = run(&program, &mut random, &Limits::default());
    assert_eq!(report(&program, &first).outcome, "returned 2");
    assert!(first.unknowns.iter().flatten().any(|&byte| byte != 0));
    let again = run(&program, &mut Script::replay(&first), &Limits::default());
    assert_eq!(again, first);
}

#[test]
fn running_out_of_inputs_can_end_a_run() {
    let text = "int __VERIFIER_nondet_int(void);
                int main(void) { int n = 0; while (__VERIFIER_nondet_int()) n++; return n; }";
    let program = oracle::program(text, DataModel::Lp64).expect("the program is accepted");
    let mut stop = Script::new(parse_inputs("1,1").unwrap()).exhausted(Exhausted::Stop);
    let limits = Limits {
        trace: TraceMode::Last(1),
        ..Limits::default()
    };
    let run = run(&program, &mut stop, &limits);
    assert_eq!(report(&program, &run).outcome, "no inputs left");
    assert_eq!(run.inputs.len(), 2);
    assert_eq!(run.trace.len(), 1);
}

/// Taken for an undefined function, it would lose its side effects.
#[test]
fn nested_functions_are_not_supported() {
    let text = "int g; int main(void) { int f(int y) { g = 5; return y; } return f(3) + g; }";
    let program = oracle::program(text, DataModel::Lp64).expect("the program is accepted");
    let run = run(&program, &mut Script::new(Vec::new()), &Limits::default());
    assert_eq!(
        report(&program, &run).outcome,
        "not supported: a nested function"
    );
}
