//! What `docs/src/soundness.md` says is not supported, or refused, each with a program that shows it.

use crate::conventions::check;
use expect_test::expect;

// What is not supported. `sigaction` is in `sound_environment::other_ways_to_handle_signals_are_not_supported`,
// sizes and calls through pointers of other types are in `sound_language`, nesting is in
// `bad_input::deep_nesting`.

/// Jumps, handlers, labels, nested functions.
#[test]
fn nothing_is_proved_where_these_can_be_reached() {
    check(
        r#"#include <setjmp.h>
jmp_buf b;
int x;
int main(void) { if (setjmp(b)) assert(x == 0); longjmp(b, 1); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:9: assertion x == 0 (in main)
              because `longjmp` at x.c:9 is not supported and can be reached
            assuming that no function outside of the program calls `longjmp`, and nobody reads what `setjmp` writes
        "#]],
    );
    check(
        r#"typedef struct { long place[64]; } ucontext_t;
int getcontext(ucontext_t *);
int setcontext(const ucontext_t *);
int x;
int main(void) { ucontext_t c; getcontext(&c); assert(x == 0); x = 1; setcontext(&c); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:10: assertion x == 0 (in main)
              because `getcontext`: control leaves the function's graph at x.c:10 is not supported and can be reached
        "#]],
    );
    check(
        r#"typedef struct { long place[64]; } ucontext_t;
void makecontext(ucontext_t *, void (*)(void), int, ...);
int x;
void work(void) { x = 1; }
int main(void) { ucontext_t c; makecontext(&c, work, 0); assert(x == 0); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:10: assertion x == 0 (in main)
              because `makecontext`: control leaves the function's graph at x.c:10 is not supported and can be reached
        "#]],
    );
    check(
        r#"int on_exit(void (*)(int, void *), void *);
void h(int a, void *b) {}
int x;
int main(void) { assert(x == 0); on_exit(h, 0); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:9: assertion x == 0 (in main)
              because `on_exit`: what runs at the end is understood where `atexit` is used at x.c:9 is not supported and can be reached
        "#]],
    );
    check(
        r#"int x;
int main(void) { void *p = __VERIFIER_nondet_int() ? &&l : 0; assert(x == 0); goto *p; l: return 0; }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:7: assertion x == 0 (in main)
              because a computed goto to what is no label of the function at x.c:7 is not supported and can be reached
        "#]],
    );
    check(
        r#"int main(void) { int x = __VERIFIER_nondet_int(); int f(void) { return x; } assert(f() == x); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:6: assertion f() == x (in main)
              because a nested function at x.c:6 is not supported and can be reached
            assuming that `f`, first called at x.c:6, returns anything and changes nothing
        "#]],
    );
}

/// Complex numbers, vectors, variable members, storage orders, registers.
#[test]
fn nothing_is_proved_of_these_types() {
    check(
        r#"int x;
int main(void) { _Complex double z = 1; assert(x == 0); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:7: assertion x == 0 (in main)
              because a vector or a complex number at x.c:7 is not supported and can be reached
        "#]],
    );
    check(
        r#"typedef int v4 __attribute__((vector_size(16)));
int main(void) { v4 a = { 1, 2, 3, 4 }; v4 b = a + a; assert(b[0] == 2); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:7: assertion b[0] == 2 (in main)
              because a vector or a complex number at x.c:7 is not supported and can be reached
        "#]],
    );
    check(
        r#"int main(void) { int n = __VERIFIER_nondet_int() & 3; struct { int a[n + 1]; int b; } s; s.b = 1; assert(s.b == 1); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:6: assertion s.b == 1 (in main)
              because a struct with a member of variable length at x.c:6 is not supported and can be reached
            assuming that sizes of variable-length arrays and of `alloca` are not negative and fit on the stack
        "#]],
    );
    check(
        r#"struct __attribute__((scalar_storage_order("big-endian"))) s { int a; };
int main(void) { struct s s; s.a = 1; assert(*(char *)&s == 0); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:7: assertion *(char *)&s == 0 (in main)
              because a struct with a storage order of its own at x.c:7 is not supported and can be reached
        "#]],
    );
    check(
        r#"int main(void) { register int r asm("ebx") = 1; assert(r == 1); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:6: assertion r == 1 (in main)
              because a variable in a register of its own at x.c:6 is not supported and can be reached
        "#]],
    );
}

/// `ifunc`, and arguments that are passed in another way.
#[test]
fn nothing_is_proved_of_these_calls() {
    check(
        r#"static int a(void) { return 1; }
static void *choose(void) { return a; }
int f(void) __attribute__((ifunc("choose")));
int main(void) { assert(f() == 1); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:9: assertion f() == 1 (in main)
              because a function chosen by `ifunc` at x.c:9 is not supported and can be reached
        "#]],
    );
    check(
        r#"int f(double d) { return d > 1; }
int main(void) { int (*g)(int) = (int (*)(int))f; assert(g(3) == 1); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:7: assertion g(3) == 1 (in main)
              because a call of `f` through a pointer of another type at x.c:7 is not supported and can be reached
            assuming that a call through a pointer to a function outside of the program returns anything
        "#]],
    );
}

/// With an error.
#[test]
fn units_that_are_refused() {
    check(
        r#"struct s { int a : 3 __attribute__((aligned(8))); int b; };
int main(void) { assert(sizeof(struct s) == 16); }"#,
        "",
        expect![[r#"
            error: a bit-field with an alignment of its own is not supported: its layout is not known to be gcc's
        "#]],
    );
    check(
        r#"#pragma pack(2)
struct __attribute__((packed)) s { char c; int b; };
int main(void) { assert(sizeof(struct s) == 5); }"#,
        "",
        expect![[r#"
            error: `packed` under `#pragma pack` is not supported: its layout is not known to be gcc's
        "#]],
    );
    check(
        r#"struct s { int a : 3; } s;
int main(void) { int x = sizeof(s.a = 1); assert(x == 4); }"#,
        "",
        expect![[r#"
            error: the size of what is assigned to a bit-field is not supported
        "#]],
    );
    check(
        r#"extern int w __attribute__((weak));
int *p = &w;
int main(void) { assert(p != 0); }"#,
        "",
        expect![[r#"
            error: not supported: the address of the weak `w`, which may be absent, in an initialiser
        "#]],
    );
    check(
        r#"int f(void) __attribute__((alias("other")));
int main(void) { assert(f() == 1); }"#,
        "",
        expect![[r#"
            error: not supported: the alias `f` is given to what this unit does not define
        "#]],
    );
    check(
        r#"register int r asm("ebx");
int main(void) { r = 1; assert(r == 1); }"#,
        "",
        expect![[r#"
            error: 'r' is a global register variable, which this compiler does not support
        "#]],
    );
}

/// Against broken files. That of a file's size is tested where it is, `cfront::parse::limits`.
#[test]
fn limits_against_broken_files() {
    let subscripts = "[0]".repeat(1002);
    check(
        &format!("int *a;\nint main(void) {{ return a{subscripts}; }}"),
        "",
        expect![[r#"
            error: more than 1000 subscripts follow each other
        "#]],
    );
    let [open, close] = ["1 - (", ")"].map(|one| one.repeat(100_000));
    check(
        &format!("int main(void) {{ return {open}0{close}; }}"),
        "",
        expect![[r#"
            error: brackets nested more deeply than 256 levels
        "#]],
    );
}

/// The compiler knows what it does, and nobody else.
#[test]
fn builtins_that_are_not_known() {
    check(
        r#"int main(void) { assert(__builtin_fmod(5.0, 3.0) == 2.0); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:6: assertion __builtin_fmod(5.0, 3.0) == 2.0 (in main)
              because `__builtin_fmod`: a function of the compiler that is not known at x.c:6 is not supported and can be reached
            assuming that `__builtin_fmod`, first called at x.c:6, returns anything and changes nothing
        "#]],
    );
}
