//! Rules are read, woven into programs, and refused where they make no sense.

use expect_test::{Expect, expect};
use hardbop_budget::Budget;
use hardbop_cfront::dump::dump_function;
use hardbop_cfront::ids::FuncId;
use hardbop_cfront::load::{Options, load};
use hardbop_cfront::parse::{Input, InputKind, NoFiles, Preprocess};
use hardbop_cfront::program::Program;
use hardbop_cfront::types::DataModel;
use hardbop_cfront::verify::verify;
use hardbop_diagnostics::{Diagnostic, Sources, Style, render};
use hardbop_rules::{Rule, RuleOrigin, library, parse, weave};

fn told(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let rendered = diagnostics.iter().map(|d| render(d, sources, Style::Plain));
    rendered.collect()
}

fn read(text: &str) -> Result<Rule, String> {
    let mut sources = Sources::new();
    let file = sources.add("r.rule", text);
    let (rule, diagnostics) = parse("r", RuleOrigin::File, file, &sources);
    rule.ok_or_else(|| told(&diagnostics, &sources))
}

fn program(text: &str, rule: &Rule) -> Program {
    let input = Input {
        name: "x.c".to_owned(),
        bytes: text.into(),
        kind: InputKind::Source,
        preprocess: Preprocess::default(),
    };
    let mut options = Options::new(DataModel::Lp64);
    options.lower.hooks = rule.functions().into_iter().map(str::to_owned).collect();
    let loaded = load(&[input], &options, &NoFiles, &Budget::unlimited()).unwrap();
    let told = told(&loaded.diagnostics, loaded.sources());
    loaded.program.expect(&told).program
}

/// What the rule does to the program: its messages, and the functions that it changed.
fn woven(text: &str, rule: &str) -> String {
    let rule = match read(rule) {
        Ok(rule) => rule,
        Err(told) => return told,
    };
    let woven = weave(program(text, &rule), &[rule], &Budget::unlimited()).unwrap();
    let mut out = told(&woven.diagnostics, &woven.program.sources);
    if woven.diagnostics.iter().any(Diagnostic::is_error) {
        return out;
    }
    let wrong = verify(&woven.program);
    assert!(wrong.is_empty(), "{wrong:#?}");
    let program = &woven.program;
    for (index, function) in program.functions.iter().enumerate() {
        let touched = function.locations.clone().any(|location| {
            let id = hardbop_cfront::ids::LocId(location);
            let mut edges = program.edges_from(id);
            edges.any(|(_, edge)| program.rule_at(edge.source).is_some())
        });
        if touched {
            out.push_str(&dump_function(program, FuncId(index as u32)));
        }
    }
    out
}

#[track_caller]
fn check(program: &str, rule: &str, expected: Expect) {
    expected.assert_eq(&woven(program, rule));
}

/// What is wrong with a rule by itself.
#[track_caller]
fn refused(rule: &str, expected: Expect) {
    expected.assert_eq(&read(rule).expect_err("the rule is refused"));
}

const LOCKS: &str = "struct lock { int held; };
void acquire(struct lock *lock);
int release(struct lock *lock, int flags);
struct lock one, two;
int counter;
";

#[test]
fn handlers_are_woven_in_at_entry_and_exit() {
    check(
        "int f(int x) { if (x) return 1; x = 5; return 2; } int main(void) { return f(3); }",
        "state { int depth = 7; unsigned char seen; }
f.entry { depth++; if ($1 > 0 && depth != 3) seen = $1; }
f.exit { if ($return == $1) abort \"$fname gave its argument\"; else depth -= 1; }
",
        expect![[r#"
            int f(int x)
              int x#passed;
              0 -> 1  x#passed = x;
              1 -> 2  r.depth = r.depth + 1;  // rule r, line 2
              2 -> 3  assume(x > 0);  // rule r, line 2
              2 -> 5  assume(!(x > 0));  // rule r, line 2
              3 -> 4  assume(r.depth != 3);  // rule r, line 2
              3 -> 5  assume(!(r.depth != 3));  // rule r, line 2
              4 -> 5  r.seen = (unsigned char)x;  // rule r, line 2
              5 -> 6  assume(x);
              5 -> 10  assume(!x);
              6 -> 7  result# = 1;
              7 -> 8  assume(result# == x#passed);  // rule r, line 3
              7 -> 9  assume(!(result# == x#passed));  // rule r, line 3
              8: error: f gave its argument
              9 -> 12  r.depth = r.depth - 1;  // rule r, line 3
              10 -> 11  x = 5;
              11 -> 7  result# = 2;
              12: exit
        "#]],
    );
}

#[test]
fn call_and_return_come_before_entry_and_after_exit() {
    check(
        "void f(void) {} int main(void) { f(); return 0; }",
        "state { int order; }
f.return { order = 4; } f.exit { order = 3; } f.entry { order = 2; } f.call { order = 1; }
",
        expect![[r#"
            void f()
              0 -> 1  r.order = 1;  // rule r, line 2
              1 -> 2  r.order = 2;  // rule r, line 2
              2 -> 3  skip;
              3 -> 4  r.order = 3;  // rule r, line 2
              4 -> 5  r.order = 4;  // rule r, line 2
              5: exit
        "#]],
    );
}

#[test]
fn functions_without_a_body_have_events_too() {
    check(
        &format!("{LOCKS}int main(void) {{ acquire(&one); return 0; }}"),
        "state { int held; } acquire.exit { held = 1; }",
        expect![[r#"
            void acquire(struct lock *p#) // undefined
              0 -> 1  skip;
              1 -> 2  r.held = 1;  // rule r, line 1
              2: exit
        "#]],
    );
}

#[test]
fn one_known_object_needs_no_watching() {
    check(
        &format!("{LOCKS}int main(void) {{ acquire(&one); acquire(&one); return 0; }}"),
        "state { int held; }
acquire.entry { watch $1; if (held) abort \"twice\"; held = 1; }
",
        expect![[r#"
            void acquire(struct lock *p#) // undefined
              0 -> 1  assume(r.held);  // rule r, line 2
              0 -> 2  assume(!r.held);  // rule r, line 2
              1: error: twice
              2 -> 3  r.held = 1;  // rule r, line 2
              3 -> 4  skip;
              4: exit
        "#]],
    );
}

#[test]
fn one_of_several_known_objects_is_chosen() {
    check(
        &format!(
            "{LOCKS}int main(void) {{ acquire(&one); acquire(&two); return release(&one, 1); }}"
        ),
        "state { int held; }
acquire.entry { watch $1; held = 1; }
release.exit { watch $1; if ($return) held = 0; }
",
        expect![[r#"
            int main()
              0 -> 1  r.object.met = r.object1;  // rule r, line 2
              1 -> 2  acquire(&one);
              2 -> 3  r.object.met = (_Bool)!r.object1;  // rule r, line 2
              3 -> 4  acquire(&two);
              4 -> 5  r.object.met = r.object1;  // rule r, line 2
              5 -> 6  result# = release(&one, 1);
              6: exit
            void acquire(struct lock *p#) // undefined
              0 -> 1  assume(r.object.met);  // rule r, line 2
              0 -> 2  assume(!r.object.met);  // rule r, line 2
              1 -> 2  r.held = 1;  // rule r, line 2
              2 -> 3  skip;
              3: exit
            int release(struct lock *p#, int p#) // undefined
              _Bool r.object.met#passed;
              0 -> 1  r.object.met#passed = r.object.met;
              1 -> 2  result# = anything;
              2 -> 3  assume(r.object.met#passed);  // rule r, line 3
              2 -> 5  assume(!r.object.met#passed);  // rule r, line 3
              3 -> 4  assume(result#);  // rule r, line 3
              3 -> 5  assume(!result#);  // rule r, line 3
              4 -> 5  r.held = 0;  // rule r, line 3
              5: exit
        "#]],
    );
}

#[test]
fn unknown_objects_are_compared_by_address() {
    check(
        &format!("{LOCKS}int main(int n, char **v) {{ acquire(n ? &one : &two); return 0; }}"),
        "state { int held; } acquire.entry { watch $1; held = 1; }",
        expect![[r#"
            void acquire(struct lock *p#) // undefined
              0 -> 1  assume(p#);  // rule r, line 1
              0 -> 3  assume(!p#);  // rule r, line 1
              1 -> 2  assume((unsigned long)p# == r.object);  // rule r, line 1
              1 -> 3  assume(!((unsigned long)p# == r.object));  // rule r, line 1
              2 -> 3  r.held = 1;  // rule r, line 1
              3 -> 4  skip;
              4: exit
        "#]],
    );
}

#[test]
fn tracking_begins_anew_with_each_object() {
    check(
        &format!("{LOCKS}int main(void) {{ acquire(&one); acquire(&two); return 0; }}"),
        "state { int held = 3; } acquire.entry { track $1; held = 1; }",
        expect![[r#"
            void acquire(struct lock *p#) // undefined
              0 -> 1  assume(r.tracking);  // rule r, line 1
              0 -> 4  assume(!r.tracking);  // rule r, line 1
              1 -> 2  assume(p#);  // rule r, line 1
              1 -> 4  assume(!p#);  // rule r, line 1
              2 -> 3  assume((unsigned long)p# == r.object);  // rule r, line 1
              2 -> 4  assume(!((unsigned long)p# == r.object));  // rule r, line 1
              3 -> 4  r.tracking = 0;  // rule r, line 1
              4 -> 5  assume(p#);  // rule r, line 1
              4 -> 6  assume(!p#);  // rule r, line 1
              5 -> 6  assume(r.tracking);  // rule r, line 1
              5 -> 7  assume(!r.tracking);  // rule r, line 1
              6 -> 13  skip;
              7 -> 8  r.chance = anything;  // rule r, line 1
              8 -> 9  assume(r.chance);  // rule r, line 1
              8 -> 6  assume(!r.chance);  // rule r, line 1
              9 -> 10  r.tracking = 1;  // rule r, line 1
              10 -> 11  r.object = (unsigned long)p#;  // rule r, line 1
              11 -> 12  r.held = 3;  // rule r, line 1
              12 -> 6  r.held = 1;  // rule r, line 1
              13: exit
        "#]],
    );
}

#[test]
fn the_only_object_needs_no_address() {
    check(
        &format!("{LOCKS}int main(void) {{ acquire(&one); return 0; }}"),
        "state { int held = 3; } acquire.entry { track $1; held = 1; }",
        expect![[r#"
            void acquire(struct lock *p#) // undefined
              0 -> 1  r.tracking = 1;  // rule r, line 1
              1 -> 2  r.held = 3;  // rule r, line 1
              2 -> 3  r.held = 1;  // rule r, line 1
              3 -> 4  skip;
              4: exit
        "#]],
    );
}

#[test]
fn malloc_and_free_are_events() {
    check(
        "#include <stdlib.h>
int main(void) { void *p = calloc(2, 8); p = malloc(7); free(p); return 0; }",
        "state { int live; }
malloc.exit { if ($1 > 5 && $return != NULL) live++; }
calloc.exit { live += 10; }
free.call { if ($1 == 0) return; live--; }
",
        expect![[r#"
            void * calloc(unsigned long count, unsigned long size) // model
              unsigned long total;
              int t#1;
              void *p;
              void *t#2;
              unsigned long t#3;
              0 -> 1  declare total;
              1 -> 2  t#1 = overflows<unsigned long>(count * size);
              2 -> 3  total = count * size;
              3 -> 4  assume((_Bool)t#1);
              3 -> 6  assume(!(_Bool)t#1);
              4 -> 5  result# = NULL;
              5 -> 14  r.live = r.live + 10;  // rule r, line 3
              6 -> 7  t#3 = total;
              7 -> 8  assume(t#3 > 140737488355327UL);
              7 -> 13  assume(!(t#3 > 140737488355327UL));
              8 -> 9  t#2 = NULL;
              9 -> 10  p = t#2;
              10 -> 11  assume(p != NULL);
              10 -> 12  assume(!(p != NULL));
              11 -> 12  memset(p, 0, total);
              12 -> 5  result# = p;
              13 -> 9  t#2 = malloc(t#3);
              14: exit
            void malloc.exit(unsigned long size, void *result) // model
              0 -> 1  assume(size > 5UL);  // rule r, line 2
              0 -> 3  assume(!(size > 5UL));  // rule r, line 2
              1 -> 2  assume(result != NULL);  // rule r, line 2
              1 -> 3  assume(!(result != NULL));  // rule r, line 2
              2 -> 3  r.live = r.live + 1;  // rule r, line 2
              3: exit
            void free.entry(void *pointer) // model
              0 -> 2  assume(pointer == NULL);  // rule r, line 4
              0 -> 1  assume(!(pointer == NULL));  // rule r, line 4
              1 -> 2  r.live = r.live - 1;  // rule r, line 4
              2: exit
        "#]],
    );
}

#[test]
fn what_the_front_end_knows_is_called_where_a_rule_listens() {
    check(
        "#include <string.h>
#include <stdlib.h>
char a[4], b[4];
int main(void) { memcpy(a, b, 4); memset(a, 0, 4); if (a[0]) abort(); return 0; }",
        "state { int copies; } [memcpy, memset, abort].entry { copies++; }",
        expect![[r#"
            void * memcpy(void *to, void *from, unsigned long size) // model
              0 -> 1  r.copies = r.copies + 1;  // rule r, line 1
              1 -> 2  memmove(to, from, size);
              2 -> 3  result# = to;
              3: exit
            void * memset(void *to, int byte, unsigned long size) // model
              0 -> 1  r.copies = r.copies + 1;  // rule r, line 1
              1 -> 2  memset(to, byte, size);
              2 -> 3  result# = to;
              3: exit
            void abort() // model
              0 -> 1  r.copies = r.copies + 1;  // rule r, line 1
              1 -> 2  skip;
              2: halt
              3: exit
        "#]],
    );
}

#[test]
fn what_the_program_has_can_be_looked_at() {
    check(
        "struct inner { int low; union { char c; int i; }; unsigned flag : 3; };
struct outer { struct inner in[4]; struct inner *next; };
struct outer global;
static void handler(int n) {}
void set(struct outer *o, void (*h)(int), struct inner by_value) {}
int main(void) { struct inner x = {1}; set(&global, handler, x); return 0; }",
        "state { int n; void *last; _Bool b; long long wide = -1; }
set.entry {
    if ($1 == &global && $2 == handler) n = $1->in[2].c + $1->next->flag;
    if ($1->in[n].i << 2 < -3 || $3.low % 4 != 0) last = $1;
    b = global.next != 0 ? $1->next != NULL : 'x' == 120;
    wide = (unsigned char) n | 0x100000000;
    n = *(&$1->in[1].low);
    if (last == $1) halt;
}
",
        expect![[r#"
            void set(struct outer *o, void (*h)(int), struct inner by_value)
              0 -> 1  assume(o == &global);  // rule r, line 3
              0 -> 3  assume(!(o == &global));  // rule r, line 3
              1 -> 2  assume(h == handler);  // rule r, line 3
              1 -> 3  assume(!(h == handler));  // rule r, line 3
              2 -> 3  r.n = (int)((unsigned int)o->in[2L].<1>.c + o->next->flag);  // rule r, line 3
              3 -> 4  assume(o->in[(long)r.n].<1>.i << 2 < -3);  // rule r, line 4
              3 -> 11  assume(!(o->in[(long)r.n].<1>.i << 2 < -3));  // rule r, line 4
              4 -> 5  r.last = (void *)o;  // rule r, line 4
              5 -> 6  r.b = (_Bool)(global.next != NULL ? o->next != NULL : 120 == 120);  // rule r, line 5
              6 -> 7  r.wide = (long)(unsigned char)r.n | 4294967296L;  // rule r, line 6
              7 -> 8  r.n = *&o->in[1L].low;  // rule r, line 7
              8 -> 9  assume(r.last == (void *)o);  // rule r, line 8
              8 -> 10  assume(!(r.last == (void *)o));  // rule r, line 8
              9: halt
              10 -> 12  skip;
              11 -> 4  assume(by_value.low % 4 != 0);  // rule r, line 4
              11 -> 5  assume(!(by_value.low % 4 != 0));  // rule r, line 4
              12: exit
        "#]],
    );
}

#[test]
fn static_functions_of_one_name_are_all_meant() {
    let rule = read("state { int n; } f.entry { n++; }").unwrap();
    let unit = |name: &str, text: &str| Input {
        name: name.to_owned(),
        bytes: text.into(),
        kind: InputKind::Source,
        preprocess: Preprocess::default(),
    };
    let inputs = [
        unit(
            "a.c",
            "static int f(void) { return 1; } int g(void) { return f(); }",
        ),
        unit(
            "b.c",
            "int g(void); static int f(void) { return 2; } int main(void) { return f() + g(); }",
        ),
    ];
    let loaded = load(
        &inputs,
        &Options::new(DataModel::Lp64),
        &NoFiles,
        &Budget::unlimited(),
    )
    .unwrap();
    let woven = weave(
        loaded.program.unwrap().program,
        &[rule],
        &Budget::unlimited(),
    )
    .unwrap();
    assert!(woven.diagnostics.is_empty());
    let edges = woven.program.edges.iter();
    let woven_in = edges.filter(|edge| woven.program.rule_at(edge.source).is_some());
    assert_eq!(woven_in.count(), 2);
}

#[test]
fn functions_that_are_not_there_are_told() {
    check(
        &format!("{LOCKS}int main(void) {{ acquire(&one); return 0; }}"),
        "state { int n; } [acquire, aquire].entry { n = 1; } release.exit { n = 0; }
assert.entry { n = 2; } main.call { n = 3; }",
        expect![[r#"
            warning: no file defines or calls `aquire`
             --> r.rule:1:28
              |
            1 | state { int n; } [acquire, aquire].entry { n = 1; } release.exit { n = 0; }
              |                            ^^^^^^ nothing happens here
            warning: no file defines or calls `release`
             --> r.rule:1:53
              |
            1 | state { int n; } [acquire, aquire].entry { n = 1; } release.exit { n = 0; }
              |                                                     ^^^^^^^ nothing happens here
            error: calls of `assert` are no events
             --> r.rule:2:1
              |
            2 | assert.entry { n = 2; } main.call { n = 3; }
              | ^^^^^^ it is part of the checker
            error: the program starts at `main`: there is no `.call` of it
             --> r.rule:2:25
              |
            2 | assert.entry { n = 2; } main.call { n = 3; }
              |                         ^^^^ say `main.entry`
        "#]],
    );
}

#[test]
fn mistakes_about_the_program_are_shown() {
    check(
        &format!("{LOCKS}int main(void) {{ acquire(&one); return release(&one, 2); }}"),
        "state { int n; object o; enum { off, on }; }
release.entry { n = $3; }
acquire.entry { n = $return; }
acquire.exit { n = $return; }
acquire.entry { counter = 1; on = 2; $1 = 0; o = $1; *$1 = 2; nothing = 1; }
release.exit { n = $1; n = $1 + 1; n = $1->size; n = $2.held; n = n / $2; if (o) n = o; }
release.exit { n = unknown; if ($1 == 5) n = 1; n = *$2; n = &$2; }
",
        expect![[r#"
            error: `release` has 2 parameters, so there is no `$3`
             --> r.rule:2:21
              |
            2 | release.entry { n = $3; }
              |                     ^^ not there
            note: the function is here
             --> x.c:3:5
              |
            3 | int release(struct lock *lock, int flags);
              |     ^^^^^^^
            error: there is no `$return` yet at `.entry`
             --> r.rule:3:21
              |
            3 | acquire.entry { n = $return; }
              |                     ^^^^^^^ known at `.exit` and `.return`
            error: `acquire` returns nothing, so there is no `$return`
             --> r.rule:4:20
              |
            4 | acquire.exit { n = $return; }
              |                    ^^^^^^^ not there
            error: `counter` belongs to the program: a rule changes its own state only
             --> r.rule:5:17
              |
            5 | acquire.entry { counter = 1; on = 2; $1 = 0; o = $1; *$1 = 2; nothing = 1; }
              |                 ^^^^^^^ assigned here
            error: `on` is a constant
             --> r.rule:5:30
              |
            5 | acquire.entry { counter = 1; on = 2; $1 = 0; o = $1; *$1 = 2; nothing = 1; }
              |                              ^^ assigned here
            error: a rule changes the variables of its own state only
             --> r.rule:5:38
              |
            5 | acquire.entry { counter = 1; on = 2; $1 = 0; o = $1; *$1 = 2; nothing = 1; }
              |                                      ^^ assigned here
            error: the object `o` never changes
             --> r.rule:5:46
              |
            5 | acquire.entry { counter = 1; on = 2; $1 = 0; o = $1; *$1 = 2; nothing = 1; }
              |                                              ^ assigned here
            error: a rule changes the variables of its own state only
             --> r.rule:5:54
              |
            5 | acquire.entry { counter = 1; on = 2; $1 = 0; o = $1; *$1 = 2; nothing = 1; }
              |                                                      ^^^ assigned here
            error: unknown name `nothing`
             --> r.rule:5:63
              |
            5 | acquire.entry { counter = 1; on = 2; $1 = 0; o = $1; *$1 = 2; nothing = 1; }
              |                                                               ^^^^^^^ neither in the state of the rule nor a global of the program
            error: a value of type `struct lock *` does not fit a variable of type `int`
             --> r.rule:6:20
              |
            6 | release.exit { n = $1; n = $1 + 1; n = $1->size; n = $2.held; n = n / $2; if (o) n = o; }
              |                    ^^ say how by a cast
            error: a rule does no arithmetic on pointers
             --> r.rule:6:28
              |
            6 | release.exit { n = $1; n = $1 + 1; n = $1->size; n = $2.held; n = n / $2; if (o) n = o; }
              |                            ^^^^^^
            error: `struct lock` has no member `size`
             --> r.rule:6:44
              |
            6 | release.exit { n = $1; n = $1 + 1; n = $1->size; n = $2.held; n = n / $2; if (o) n = o; }
              |                                            ^^^^ not there
            error: a value of type `int` has no members
             --> r.rule:6:54
              |
            6 | release.exit { n = $1; n = $1 + 1; n = $1->size; n = $2.held; n = n / $2; if (o) n = o; }
              |                                                      ^^ not a struct or union
            error: a rule divides by constants only, and not by 0
             --> r.rule:6:67
              |
            6 | release.exit { n = $1; n = $1 + 1; n = $1->size; n = $2.held; n = n / $2; if (o) n = o; }
              |                                                                   ^^^^^^ the divisor is neither
            error: the object `o` can only be compared, in a condition
             --> r.rule:6:79
              |
            6 | release.exit { n = $1; n = $1 + 1; n = $1->size; n = $2.held; n = n / $2; if (o) n = o; }
              |                                                                               ^ expected something like `if ($1 == object)`
            error: the object `o` can only be compared, in a condition
             --> r.rule:6:86
              |
            6 | release.exit { n = $1; n = $1 + 1; n = $1->size; n = $2.held; n = n / $2; if (o) n = o; }
              |                                                                                      ^ expected something like `if ($1 == object)`
            error: unknown name `unknown`
             --> r.rule:7:20
              |
            7 | release.exit { n = unknown; if ($1 == 5) n = 1; n = *$2; n = &$2; }
              |                    ^^^^^^^ neither in the state of the rule nor a global of the program
            error: a pointer and an integer do not go together
             --> r.rule:7:33
              |
            7 | release.exit { n = unknown; if ($1 == 5) n = 1; n = *$2; n = &$2; }
              |                                 ^^^^^^^ expected two pointers or two integers
            error: only a pointer can be followed
             --> r.rule:7:53
              |
            7 | release.exit { n = unknown; if ($1 == 5) n = 1; n = *$2; n = &$2; }
              |                                                     ^^^ the operand has the type `int`
            error: only what outlives the call has an address in a rule
             --> r.rule:7:62
              |
            7 | release.exit { n = unknown; if ($1 == 5) n = 1; n = *$2; n = &$2; }
              |                                                              ^^^ this does not
        "#]],
    );
}

#[test]
fn statements_after_the_end_are_told() {
    check(
        "void f(void) {} int main(void) { f(); return 0; }",
        "state { int n; } f.entry { if (n) halt; else return; n = 1; abort \"x\"; }",
        expect![[r#"
            warning: this statement is never reached
             --> r.rule:1:54
              |
            1 | state { int n; } f.entry { if (n) halt; else return; n = 1; abort "x"; }
              |                                                      ^^^^^^ control leaves the handler before it
            void f()
              0 -> 1  assume(r.n);  // rule r, line 1
              0 -> 2  assume(!r.n);  // rule r, line 1
              1: halt
              2 -> 3  skip;
              3: exit
        "#]],
    );
}

#[test]
fn broken_rules_are_refused_with_their_places() {
    refused(
        "",
        expect![[r#"
        error: the rule has no handler
         --> r.rule:1:1
          |
        1 | 
          | ^ expected one such as `lock.entry { ... }`
    "#]],
    );
    refused(
        "state { int x = 1 }\nf.entry { x = 1; }\ng.start { }\nh.exit { x = ; }\n",
        expect![[r#"
            error: unexpected `}`
             --> r.rule:1:19
              |
            1 | state { int x = 1 }
              |                   ^ expected `;` at the end of the declaration
            error: `start` is not an event
             --> r.rule:3:3
              |
            3 | g.start { }
              |   ^^^^^ expected `entry`, `exit`, `call` or `return`
            error: unexpected `;`
             --> r.rule:4:14
              |
            4 | h.exit { x = ; }
              |              ^ expected an expression
        "#]],
    );
    refused(
        "state { float x; struct s y; int a[3]; }\nf.entry { while (1) ; }\n",
        expect![[r#"
            error: unexpected `float`
             --> r.rule:1:9
              |
            1 | state { float x; struct s y; int a[3]; }
              |         ^^^^^ expected a scalar type (`int`, `enum { ... }`, `void *`, ...) or `object`
            error: `while` is not a statement of rules
             --> r.rule:2:11
              |
            2 | f.entry { while (1) ; }
              |           ^^^^^ expected an assignment, `if`, `abort`, `halt`, `return`, `watch` or `track`
        "#]],
    );
    refused(
        "state { int x; int x; enum { x }; }\n f.entry { if (x = 1) g(); }\n",
        expect![[r#"
            error: `x` is declared twice
             --> r.rule:1:20
              |
            1 | state { int x; int x; enum { x }; }
              |                    ^ declared again here
            note: first declared here
             --> r.rule:1:13
              |
            1 | state { int x; int x; enum { x }; }
              |             ^
            error: an expression has no side effects
             --> r.rule:2:18
              |
            2 |  f.entry { if (x = 1) g(); }
              |                  ^ expected `==`, or an assignment as a statement of its own
        "#]],
    );
    refused(
        "f.entry { x++ + 1; }\nf.exit { y = x++; }",
        expect![[r#"
            error: unexpected `+`
             --> r.rule:1:15
              |
            1 | f.entry { x++ + 1; }
              |               ^ expected `;` at the end of the statement
            error: an expression has no side effects
             --> r.rule:2:15
              |
            2 | f.exit { y = x++; }
              |               ^^ expected a statement of its own
        "#]],
    );
    refused(
        "f.entry { abort; }\nf.exit { abort \"x }\n",
        expect![[r#"
            error: unexpected `;`
             --> r.rule:1:16
              |
            1 | f.entry { abort; }
              |                ^ expected a message, as in abort "the lock is held already"
            error: the string does not end
             --> r.rule:2:16
              |
            2 | f.exit { abort "x }
              |                ^^^^ expected `"`
            error: unexpected end of the rule
             --> r.rule:3:1
              |
            3 | 
              | ^ expected `;` at the end of the statement
        "#]],
    );
    refused(
        "f.entry { x = $0; y = $fname; z = 0x; }",
        expect![[r#"
            error: `$0` means nothing here
             --> r.rule:1:15
              |
            1 | f.entry { x = $0; y = $fname; z = 0x; }
              |               ^^ expected `$1`, `$2`, ... or `$return`
            error: `0x` is not a number of C
             --> r.rule:1:35
              |
            1 | f.entry { x = $0; y = $fname; z = 0x; }
              |                                   ^^ expected a constant such as 10, 0x1f, 7UL or 'a'
        "#]],
    );
    refused(
        "f.entry { /* ",
        expect![[r#"
        error: the comment does not end
         --> r.rule:1:11
          |
        1 | f.entry { /* 
          |           ^^ expected `*/`
        error: unexpected end of the rule
         --> r.rule:1:14
          |
        1 | f.entry { /* 
          |              ^ expected `}`
    "#]],
    );
    refused(
        "#include <x.h>\nf.entry { x = 'ab'; } \u{1F600}",
        expect![[r#"
            error: unexpected `#`
             --> r.rule:1:1
              |
            1 | #include <x.h>
              | ^ expected `state { ... }`, or the name of a function as in `lock.entry { ... }`
            error: this is not a character constant
             --> r.rule:2:15
              |
            2 | f.entry { x = 'ab'; } 😀
              |               ^ expected one character between quotes, such as 'a'
            error: this is not a character constant
             --> r.rule:2:18
              |
            2 | f.entry { x = 'ab'; } 😀
              |                  ^ expected one character between quotes, such as 'a'
            error: `😀` has no place in a rule
             --> r.rule:2:23
              |
            2 | f.entry { x = 'ab'; } 😀
              |                       ^
        "#]],
    );
    refused(
        "[f, g.entry { }",
        expect![[r#"
        error: unexpected `.`
         --> r.rule:1:6
          |
        1 | [f, g.entry { }
          |      ^ expected `]` or `,`
    "#]],
    );
    refused(
        "f { }",
        expect![[r#"
        error: unexpected `{`
         --> r.rule:1:3
          |
        1 | f { }
          |   ^ expected `.` and an event after the function
    "#]],
    );
    refused(
        "state { int x = y; void z; void *p = 3; object o = 1; }",
        expect![[r#"
            error: an initial value must be a constant
             --> r.rule:1:17
              |
            1 | state { int x = y; void z; void *p = 3; object o = 1; }
              |                 ^ not a constant
        "#]],
    );
}

#[test]
fn depth_is_limited() {
    let deep = |open: &str, close: &str| {
        let text = format!(
            "f.entry {{ x = {}1{}; }}",
            open.repeat(10_000),
            close.repeat(10_000)
        );
        let told = read(&text).expect_err("it is too deep");
        told.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(deep("(", ")"), "error: nested too deeply");
    assert_eq!(deep("- ", ""), "error: nested too deeply");
    assert_eq!(deep("1+", ""), "error: the expression is too long");
    let blocks = format!("f.entry {{ {}", "if (1) {".repeat(10_000));
    assert!(read(&blocks).is_err());
}

#[test]
fn every_rule_of_the_library_is_good_and_has_a_page() {
    for rule in library::RULES {
        let mut sources = Sources::new();
        let file = sources.add(rule.path, rule.text);
        let (parsed, diagnostics) = parse(rule.name, RuleOrigin::Library, file, &sources);
        assert!(parsed.is_some(), "{}", told(&diagnostics, &sources));
        assert!(rule.page.starts_with(&format!("# {}\n\n", rule.name)));
        assert!(rule.summary().ends_with('.'), "{}", rule.name);
    }
    assert!(library::RULES.is_sorted_by_key(|rule| rule.name));
}

#[test]
fn near_names_are_found() {
    assert_eq!(library::nearest("lok"), ["lock"]);
    assert_eq!(library::nearest("mutex-ordre"), ["mutex-order"]);
    assert_eq!(library::nearest("spinlock"), ["lock"]);
    assert!(library::nearest("zzzzzzzzz").is_empty());
}
