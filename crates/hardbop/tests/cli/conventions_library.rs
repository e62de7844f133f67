//! What `docs/src/soundness.md` says of the C library, line by line: each assumption with a program
//! that shows it.

use crate::conventions::check;
use crate::scene::Scene;
use expect_test::expect;

// The C library. `strtod` is in `sound_environment::numbers_that_are_not_followed_are_guesses`, `sin` in
// `sound_language::functions_of_mathematics_have_their_ranges`.

/// Succeeds and moves.
#[test]
fn allocation() {
    check(
        r#"int main(void) { int *p = malloc(4), *q = realloc(p, 8); assert(q != 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion q != 0 (in main)
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that realloc always moves the object
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:6
            assuming that `free` is given null or live memory of the heap: not asked about (`--check free`), first at x.c:6
        "#]],
    );
}

/// Has no effect; reads anything.
#[test]
fn writing_and_reading() {
    check(
        r#"int main(void) { int x = 1; printf("%d", x); assert(x == 1); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion x == 1 (in main)
            assuming that printing has no effect on the program
        "#]],
    );
    check(
        r#"int main(void) { int x = 1; printf("abc%n", &x); assert(x == 1); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:6: assertion x == 1 (in main)
              because `%n` in what is printed at x.c:6 is not supported and can be reached
            assuming that printing has no effect on the program
        "#]],
    );
    check(
        r#"int main(void) { int n = 0; scanf("%d", &n); assert(n != 5); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion n != 5 (in main)
            assuming that scanf reads any values, and texts that fit into their objects
        "#]],
    );
    check(
        r#"int main(void) { char c[40]; assert(snprintf(c, 40, "%f", 1.0) == 8); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion snprintf(c, 40, "%f", 1.0) == 8 (in main), if `snprintf` can do what it does in this run
            assuming that `%f`, `%e`, `%g`, `%a`, `%p`, `%m` and wide characters are printed as any text
        "#]],
    );
    check(
        r#"#define _GNU_SOURCE
int asprintf(char **, const char *, ...);
int main(void) { char *p; assert(asprintf(&p, "x") == 1); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:8: assertion asprintf(&p, "x") == 1 (in main), if `asprintf` can do what it does in this run
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that asprintf writes any text
        "#]],
    );
}

/// Any text that fits; a stream may end at any time.
#[test]
fn lines_and_blocks_are_any() {
    check(
        r#"int main(void) {
  char line[4];
  if (!fgets(line, sizeof line, stdin)) return 0;
  assert(strlen(line) <= 3);
  assert(line[0] != 'x');
}"#,
        "",
        expect![[r#"
            PROVED x.c:9: assertion strlen(line) <= 3 (in main)
            VIOLATED x.c:10: assertion line[0] != 'x' (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:8
        "#]],
    );
    check(
        r#"#include <unistd.h>
int main(void) { char c[8]; long n = read(0, c, 8); assert(n >= -1 && n <= 8); assert(n != 3); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion n >= -1 && n <= 8 (in main)
            VIOLATED x.c:7: assertion n != 3 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:7
        "#]],
    );
    check(
        r#"int main(void) { char c[8]; size_t n = fread(c, 2, 4, stdin); assert(n <= 4); assert(n != 4); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion n <= 4 (in main)
            VIOLATED x.c:6: assertion n != 4 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:6
        "#]],
    );
    check(
        r#"#include <sys/types.h>
ssize_t getline(char **, size_t *, FILE *);
int main(void) { char *s = 0; size_t room = 0; ssize_t n = getline(&s, &room, stdin); assert(n <= 0 || s[n] == 0); assert(n != 2); }"#,
        "",
        expect![[r#"
            PROVED x.c:8: assertion n <= 0 || s[n] == 0 (in main)
            VIOLATED x.c:8: assertion n != 2 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that getline moves a buffer that grows
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:8
            assuming that `free` is given null or live memory of the heap: not asked about (`--check free`), first at x.c:8
        "#]],
    );
}

/// Proofs hold whatever it is; a run that may read it shows nothing.
#[test]
fn what_is_written_is_not_followed() {
    check(
        r#"int main(void) {
  FILE *f = fopen("x", "w");
  if (!f) return 0;
  fputc('7', f);
  fclose(f);
  f = fopen("x", "r");
  if (!f) return 0;
  int c = fgetc(f);
  assert(c < 256);
  assert(c != '8');
}"#,
        "--engine unroll",
        expect![[r#"
            PROVED x.c:14: assertion c < 256 (in main)
            UNKNOWN x.c:15: assertion c != '8' (in main)
              because the run that was found reads a file that it may have written itself, and contents of files are not followed
            2 checks: 1 proved, 0 violated, 1 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that files may hold anything, and what is written to one is not read back
            assuming that printing has no effect on the program
        "#]],
    );
}

/// What else it reads is in `sound_environment::known_texts_have_no_false_alarms`.
#[test]
fn sscanf_reads_any_pointer() {
    check(
        r#"int main(void) { void *p = 0; sscanf("0x10", "%p", &p); assert(p == (void *)16); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion p == (void *)16 (in main), if `sscanf` can do what it does in this run
            assuming that `%p` reads any pointer
            assuming that strtod reads any number where a text is not a decimal number of few digits
            assuming that objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:6
        "#]],
    );
}

/// As the table says.
#[test]
fn locale_clocks_environment_and_numbers() {
    check(
        r#"#include <ctype.h>
int main(void) { int c = __VERIFIER_nondet_int(); if (c > 127 && c < 256) assert(!isalpha(c)); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion !isalpha(c) (in main)
            assuming that the locale is "C"
        "#]],
    );
    check(
        r#"#include <time.h>
int main(void) { time_t a = time(0), b = time(0); assert(a <= b); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion a <= b (in main), if `time` can do what it does in this run
            assuming that clocks show any time
        "#]],
    );
    check(
        r#"#include <time.h>
int main(void) { clock_t a = clock(); assert(a >= 0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion a >= 0 (in main), if `clock` can do what it does in this run
            assuming that clocks show any time
        "#]],
    );
    check(
        r#"#include <sys/time.h>
int main(void) { struct timeval t; if (gettimeofday(&t, 0) == 0) assert(t.tv_sec > 0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion t.tv_sec > 0 (in main), if `gettimeofday` can do what it does in this run
            assuming that clocks show any time
        "#]],
    );
    check(
        r#"int main(void) { char *a = getenv("A"), *b = getenv("A"); assert((a == 0) == (b == 0)); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:6: assertion (a == 0) == (b == 0) (in main), if `getenv` can do what it does in this run
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that the environment may hold any value for any name, and another one each time
        "#]],
    );
    check(
        r#"int main(void) { assert(rand() >= 0); assert(rand() == 5); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion rand() >= 0 (in main)
            VIOLATED x.c:6: assertion rand() == 5 (in main), if `rand` can do what it does in this run
            2 checks: 1 proved, 1 violated, 0 unknown
        "#]],
    );
    check(
        r#"int main(void) { char *s = strerror(2); assert(s != 0); assert(s[0] == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion s != 0 (in main)
            VIOLATED x.c:6: assertion s[0] == 0 (in main), if `strerror` can do what it does in this run
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that messages for errors and signals are any text
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:6
        "#]],
    );
}

/// One thread, a stable sort.
#[test]
fn sorting_and_mutexes() {
    check(
        r#"int less(const void *a, const void *b) { return *(int *)a - *(int *)b; }
int main(void) { int a[3] = { 3, 1, 2 }; qsort(a, 3, sizeof(int), less); assert(a[0] == 1 && a[2] == 3); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion a[0] == 1 && a[2] == 3 (in main)
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that qsort keeps the order of equal elements
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:6
            assuming that `free` is given null or live memory of the heap: not asked about (`--check free`), first at x.c:7
        "#]],
    );
    check(
        r#"int order(const void *a, const void *b) { return *(int *)a - *(int *)b; }
int main(void) { int a[3] = { 1, 3, 5 }, k = 3; int *p = bsearch(&k, a, 3, sizeof(int), order); assert(p == a + 1); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion p == a + 1 (in main)
            assuming that bsearch compares by halving
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:6
        "#]],
    );
    check(
        r#"#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) { assert(pthread_mutex_lock(&m) == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:8: assertion pthread_mutex_lock(&m) == 0 (in main)
            assuming that there is one thread, and it does not wait for itself
        "#]],
    );
}

/// Of the library: ranges, and what nobody follows.
#[test]
fn ranges_of_numbers() {
    check(
        r#"int main(void) { assert(random() >= 0); long n = mrand48(); assert(n >= -(1L << 31) && n < 1L << 31); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion random() >= 0 (in main)
            PROVED x.c:6: assertion n >= -(1L << 31) && n < 1L << 31 (in main)
            2 checks: 2 proved, 0 violated, 0 unknown
        "#]],
    );
}

/// Null beyond what an object can have; alignment is that of `malloc`.
#[test]
fn other_allocation() {
    check(
        r#"extern unsigned __VERIFIER_nondet_uint(void);
int main(void) { unsigned n = __VERIFIER_nondet_uint(); assert(malloc(n) != 0 || n >= 1u << 31); assert(n < 1u << 31); }"#,
        "--data-model ilp32",
        expect![[r#"
            PROVED x.c:7: assertion malloc(n) != 0 || n >= 1u << 31 (in main)
            VIOLATED x.c:7: assertion n < 1u << 31 (in main)
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^31 bytes or more, and no execution fills the address space
        "#]],
    );
    check(
        r#"int main(void) { char *s = strdup("ab"); assert(s != 0 && s[1] == 'b' && s[2] == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:6: assertion s != 0 && s[1] == 'b' && s[2] == 0 (in main)
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:6
        "#]],
    );
    check(
        r#"void *aligned_alloc(size_t, size_t);
int main(void) { char *p = aligned_alloc(64, 64); assert((unsigned long)p % 64 == 0); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:7: assertion (unsigned long)p % 64 == 0 (in main)
              because the run that was found does not replay: it returns
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that alignment beyond that of malloc is not modelled
            assuming that objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:7
        "#]],
    );
}

/// The locale is "C", and texts of the library are any.
#[test]
fn locales_and_messages() {
    check(
        r#"#include <ctype.h>
int main(void) { int c = __VERIFIER_nondet_int(); if (c > 127 && c < 256) assert(tolower(c) == c); assert(tolower('A') == 'a'); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion tolower(c) == c (in main)
            PROVED x.c:7: assertion tolower('A') == 'a' (in main)
            2 checks: 2 proved, 0 violated, 0 unknown
            assuming that the locale is "C"
        "#]],
    );
    check(
        r#"char *strsignal(int);
int main(void) { char *s = strsignal(2); assert(s != 0); assert(s[0] == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion s != 0 (in main)
            VIOLATED x.c:7: assertion s[0] == 0 (in main), if `strsignal` can do what it does in this run
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            assuming that messages for errors and signals are any text
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:7
        "#]],
    );
}

/// Which may be another process than this one.
#[test]
fn kill_may_be_about_another_process() {
    check(
        r#"#include <signal.h>
int x;
void handler(int number) { x = number; }
int main(void) { signal(SIGUSR1, handler); kill(__VERIFIER_nondet_int(), SIGUSR1); assert(x != SIGUSR1); assert(x != 0); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:9: assertion x != SIGUSR1 (in main), if `kill` can do what it does in this run
            VIOLATED x.c:9: assertion x != 0 (in main)
            2 checks: 0 proved, 2 violated, 0 unknown
            assuming that signals come from `raise`, `kill` and `abort` only
        "#]],
    );
}

/// Into memory of the program's: not supported.
#[test]
fn buffers_of_streams() {
    check(
        r#"char buffer[64];
int main(void) { setvbuf(stdout, buffer, 0, 64); puts("x"); assert(buffer[0] == 0); }"#,
        "--engine unroll",
        expect![[r#"
            UNKNOWN x.c:7: assertion buffer[0] == 0 (in main)
              because what is printed goes to the program's memory at <hardbop>/models/stdio.c:924 is not supported and can be reached
            assuming that files may hold anything, and what is written to one is not read back
            assuming that printing has no effect on the program
        "#]],
    );
    check(
        r#"int x;
int main(void) { setvbuf(stdout, 0, 2, 0); setbuf(stdin, 0); assert(x == 0); }"#,
        "",
        expect![[r#"
            PROVED x.c:7: assertion x == 0 (in main)
            assuming that files may hold anything, and what is written to one is not read back
        "#]],
    );
    check(
        r#"FILE *open_memstream(char **, size_t *);
int main(void) { char *s = 0; size_t n = 0; FILE *f = open_memstream(&s, &n); fputs("x", f); fflush(f); assert(n == 0); }"#,
        "",
        expect![[r#"
            UNKNOWN x.c:7: assertion n == 0 (in main)
              because `open_memstream`: what is printed goes to the program's memory at x.c:7 is not supported and can be reached
            assuming that printing has no effect on the program
        "#]],
    );
}

/// Reads a text that fits.
#[test]
fn gets_fits() {
    check(
        r#"char *gets(char *);
int main(void) { struct { char c[4]; int n; } s; s.n = 1; if (gets(s.c)) assert(s.n == 1); }"#,
        "",
        expect![[r#"
            VIOLATED x.c:7: assertion s.n == 1 (in main)
            assuming that gets reads lines that fit into the object
        "#]],
    );
}

/// There is one thread, with variables of its own.
#[test]
fn one_thread() {
    check(
        r#"#include <pthread.h>
_Thread_local int x;
int main(void) { assert(x == 0); assert(pthread_self() == pthread_self()); }"#,
        "",
        expect![[r#"
            PROVED x.c:8: assertion x == 0 (in main)
            PROVED x.c:8: assertion pthread_self() == pthread_self() (in main)
            2 checks: 2 proved, 0 violated, 0 unknown
            assuming that there is one thread, and it does not wait for itself
        "#]],
    );
}

/// What is known to write through its arguments is not taken for what changes nothing.
#[test]
fn functions_without_a_model_that_write() {
    let text = |condition: &str| {
        format!(
            "#include <wchar.h>
#include <time.h>
#include <assert.h>
int main(void) {{
  int other = 5;
  wchar_t to[4] = {{ L'z' }}, from[2] = {{ L'a' }};
  struct tm date = {{ 0 }};
  date.tm_mon = 13;
  wcsxfrm(to, from, 4);
  strptime(\"1\", \"%m\", &date);
  assert({condition});
  return 0;
}}
"
        )
    };
    let said = |condition: &str| {
        let scene = Scene::file("x.c", text(condition));
        let output = scene.output("check x.c -q --no-trace");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        told.lines().next().map(str::to_owned)
    };
    let line = |answer: &str, condition: &str, rest: &str| {
        Some(format!(
            "{answer} x.c:11: assertion {condition} (in main){rest}"
        ))
    };
    let known = "other == 5";
    assert_eq!(said(known), line("PROVED", known, ""));
    let guessed = ", if `strptime` and `wcsxfrm` can do what they do in this run";
    for written in ["to[0] == L'z'", "date.tm_mon == 13"] {
        assert_eq!(said(written), line("VIOLATED", written, guessed));
    }
}
