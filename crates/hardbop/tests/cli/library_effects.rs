//! What functions of the C library may do besides what they are called for: set `errno`, leave a
//! part behind where they fail, write again to where their last answer is.

use crate::scene::Scene;

/// The first line of what is said about the statements of a `main`, without its place.
fn said(statements: &str, options: &str) -> String {
    let text = format!(
        "#include <assert.h>\n#include <errno.h>\n#include <math.h>\n#include <stdio.h>\n\
         #include <stdlib.h>\n#include <string.h>\n#include <time.h>\n#include <unistd.h>\n\
         #include <sys/stat.h>\nint main(void) {{\n{statements}\nreturn 0;\n}}\n"
    );
    let scene = Scene::file("x.c", text);
    let output = scene.output(&format!("check x.c -q --no-trace {options}"));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = told.lines().next().unwrap_or_default();
    let (answer, rest) = first.split_once(' ').unwrap_or((first, ""));
    let guess = rest
        .split_once("(in main), ")
        .map_or("", |(_, guess)| guess);
    format!("{answer} {guess}").trim_end().to_owned()
}

#[track_caller]
fn may_fail(statements: &str, guess: &str) {
    assert_eq!(
        said(statements, ""),
        format!("VIOLATED {guess}").trim_end(),
        "{statements}"
    );
}

#[track_caller]
fn holds(statements: &str) {
    assert_eq!(said(statements, ""), "PROVED", "{statements}");
}

#[test]
fn who_fails_sets_errno() {
    may_fail("errno = 0; if (getchar() == EOF) assert(errno == 0);", "");
    may_fail(
        "errno = 0; if (mkdir(\"d\", 0) < 0) assert(errno == 0);",
        "",
    );
    may_fail(
        "errno = 0; fclose(fopen(\"f\", \"w\")); assert(errno == 0);",
        "",
    );
    may_fail(
        "errno = 0; printf(\"x\"); assert(errno == 0);",
        "if `printf` can do what it does in this run",
    );
    may_fail(
        "struct timespec t = {0, -1}; assert(nanosleep(&t, 0) == 0);",
        "",
    );
    may_fail("void *p; assert(posix_memalign(&p, 3, 16) == 0);", "");
    // It is never set to 0, and who cannot fail does not set it.
    holds("errno = 5; perror(\"x\"); assert(errno != 0);");
    holds("errno = 0; size_t n = strlen(\"abc\"); assert(errno == 0 && n == 3);");
    holds("if (!fopen(\"f\", \"r\")) assert(errno > 0);");
}

#[test]
fn functions_of_numbers_set_errno_outside_of_their_domain() {
    let call = |function: &str, x: &str| {
        format!("volatile double x = {x}; errno = 0; double y = {function}; assert(errno == 0);")
    };
    may_fail(&call("sqrt(x)", "-1"), "");
    may_fail(&call("__builtin_sqrt(x)", "-1"), "");
    may_fail(&call("fmod(1, x)", "0"), "");
    may_fail(
        &call("log(x)", "-1"),
        "if `log` can do what it does in this run",
    );
    may_fail(
        &call("ldexp(x, 2000)", "1"),
        "if `ldexp` can do what it does in this run",
    );
    holds(&call("sqrt(x)", "4"));
    holds(&call("fmod(x, 2)", "5"));
    holds(&call("exp(x)", "1"));
}

#[test]
fn an_allocation_that_fails_sets_errno() {
    let statements = "errno = 0; void *p = malloc(8); if (!p) assert(errno == 0); free(p);";
    holds(statements);
    assert_eq!(said(statements, "--malloc-may-fail"), "VIOLATED");
}

#[test]
fn what_was_read_before_an_error_is_anything() {
    may_fail(
        "char s[4] = \"abc\"; if (!fgets(s, 4, stdin)) assert(s[0] == 'a');",
        "",
    );
    may_fail(
        "int a[2] = {1, 2}; if (fread(a, 4, 2, stdin) == 0) assert(a[0] == 1);",
        "",
    );
    may_fail(
        "char *s = 0; size_t n = 0; if (getline(&s, &n, stdin) < 0) assert(s == 0);",
        "",
    );
    may_fail(
        "int x, n = -5; if (scanf(\"%d%n\", &x, &n) == 1) assert(n == -5);",
        "",
    );
}

#[test]
fn an_answer_may_be_where_the_last_one_was() {
    may_fail(
        "time_t t = 0, u = 1e8; struct tm *a = gmtime(&t); int y = a->tm_year; gmtime(&u);\n\
         assert(a->tm_year == y);",
        "if `gmtime` can do what it does in this run",
    );
    may_fail(
        "char *a = strerror(1), c = a[0]; strerror(2); assert(a[0] == c);",
        "if `strerror` can do what it does in this run",
    );
    holds("time_t t = time(0); struct tm *d = localtime(&t); if (d) assert(d->tm_mday < 32);");
}

#[test]
fn who_sleeps_may_be_woken() {
    may_fail("assert(sleep(10) == 0);", "");
    may_fail("alarm(10); assert(alarm(0) == 0);", "");
    holds("assert(alarm(10) == 0);");
    holds("assert(sleep(10) <= 10);");
}

#[test]
fn variables_of_the_library_are_set_by_their_functions() {
    let guess = |name: &str| format!("if `{name}` can do what it does in this run");
    may_fail(
        "extern int signgam; signgam = 5; lgamma(0.5); assert(signgam == 5);",
        &guess("lgamma"),
    );
    may_fail(
        "char *a[] = {\"x\", 0}; int before = optind; getopt(1, a, \"a\"); assert(optind == before);",
        &guess("getopt"),
    );
    // One that the program defines is its own.
    holds(
        "static int optind = 3; char *a[] = {\"x\", 0}; getopt(1, a, \"a\"); assert(optind == 3);",
    );
}

#[test]
fn characters_that_a_locale_does_not_say_are_guessed() {
    let text = |bytes: &str| {
        format!("wchar_t c = 0; if (mbtowc(&c, \"{bytes}\", 1) == 1) assert(c == 'a');")
    };
    holds(&text("a"));
    may_fail(&text("b"), "");
    may_fail(
        &text("\\xe4"),
        "if `mbtowc` can do what it does in this run",
    );
}
