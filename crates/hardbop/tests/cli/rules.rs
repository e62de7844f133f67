//! Rules: `hardbop check --rule`, `hardbop rule weave`, `hardbop rules`.

use crate::scene::Scene;
use expect_test::{Expect, expect};

const DRIVER: &str = "extern int __VERIFIER_nondet_int(void);
void acquire(int *lock, int flags);
void release(int *lock);

int lock, other;

int main(void) {
  acquire(&lock, 0);
  if (__VERIFIER_nondet_int() == 3)
    release(&other);
  release(&lock);
  return 0;
}
";

const RULE: &str = "// The lock is held once.
state { enum { released, held } lock = released; }

acquire.entry {
    watch $1;
    if (lock == held) abort \"$fname: held already\";
    lock = held;
}

release.entry {
    watch $1;
    if (lock == released) abort \"$fname: not held\";
    lock = released;
}
";

#[track_caller]
fn check(arguments: &str, expected: Expect) {
    Scene::file("driver.c", DRIVER)
        .and_file("held.rule", RULE)
        .check(arguments, expected);
}

#[test]
fn a_rule_is_checked_for_every_object() {
    check(
        "check driver.c --rule held.rule -q",
        expect![[r#"
            PROVED held.rule:6: acquire: held already (in acquire)
            VIOLATED held.rule:12: release: not held (in release)
              rule held watches &other: lock = released
               8  acquire(&lock, 0);
               9  if (__VERIFIER_nondet_int() == 3)  __VERIFIER_nondet_int() = 3
              10  release(&other);
                  release: not held
              driver.c:9: input __VERIFIER_nondet_int() = 3
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that `acquire`, first called at driver.c:8, returns anything and changes nothing
            assuming that `release`, first called at driver.c:10, returns anything and changes nothing
            [exit 1]
        "#]],
    );
}

#[test]
fn the_trace_shows_what_the_rule_does() {
    check(
        "check driver.c --rule held.rule -q --trace",
        expect![[r#"
            PROVED held.rule:6: acquire: held already (in acquire)
            VIOLATED held.rule:12: release: not held (in release)
              held.rule:5: held.object.met = held.object1;
              driver.c:8: acquire(&lock, 0);
              held.rule:5: assume(!held.object.met);
              driver.c:8: skip;
              driver.c:9: t#1 = input __VERIFIER_nondet_int();
              driver.c:9: assume(t#1 == 3);
              held.rule:5: held.object.met = (_Bool)!held.object1;
              driver.c:10: release(&other);
              held.rule:11: assume(held.object.met);
              held.rule:12: assume(held.lock == 0);
              driver.c:9: input __VERIFIER_nondet_int() = 3
            2 checks: 1 proved, 1 violated, 0 unknown
            assuming that `acquire`, first called at driver.c:8, returns anything and changes nothing
            assuming that `release`, first called at driver.c:10, returns anything and changes nothing
            [exit 1]
        "#]],
    );
}

#[test]
fn the_woven_program_can_be_seen() {
    check(
        "rule weave driver.c --rule held.rule -q",
        expect![[r#"
        int lock = {};
        int other = {};
        int held.lock = {};
        _Bool held.object1 = anything;
        _Bool held.object.met = {};

        int main()
          int t#1;
          0 -> 1  held.object.met = held.object1;  // rule held, line 5
          1 -> 2  acquire(&lock, 0);
          2 -> 3  t#1 = input __VERIFIER_nondet_int();
          3 -> 4  assume(t#1 == 3);
          3 -> 6  assume(!(t#1 == 3));
          4 -> 5  held.object.met = (_Bool)!held.object1;  // rule held, line 5
          5 -> 6  release(&other);
          6 -> 7  held.object.met = held.object1;  // rule held, line 5
          7 -> 8  release(&lock);
          8 -> 9  result# = 0;
          9: exit

        void acquire(int *p#, int p#) // undefined
          0 -> 1  assume(held.object.met);  // rule held, line 5
          0 -> 4  assume(!held.object.met);  // rule held, line 5
          1 -> 2  assume(held.lock == 1);  // rule held, line 6
          1 -> 3  assume(!(held.lock == 1));  // rule held, line 6
          2: error: acquire: held already
          3 -> 4  held.lock = 1;  // rule held, line 7
          4 -> 5  skip;
          5: exit

        void release(int *p#) // undefined
          0 -> 1  assume(held.object.met);  // rule held, line 11
          0 -> 4  assume(!held.object.met);  // rule held, line 11
          1 -> 2  assume(held.lock == 0);  // rule held, line 12
          1 -> 3  assume(!(held.lock == 0));  // rule held, line 12
          2: error: release: not held
          3 -> 4  held.lock = 0;  // rule held, line 13
          4 -> 5  skip;
          5: exit
        [exit 0]
    "#]],
    );
}

#[test]
fn several_rules_are_checked_at_once() {
    let init = "state { int ready; }
acquire.entry { if (!ready) abort \"not initialised\"; }
init.exit { ready = 1; }
";
    Scene::file("driver.c", DRIVER)
        .and_file("held.rule", RULE)
        .and_file("init.rule", init)
        .check(
            "check driver.c --rule held.rule --rule init.rule",
            expect![[r#"
                PROVED held.rule:6: acquire: held already (in acquire)
                VIOLATED held.rule:12: release: not held (in release)
                  rule held watches &other: lock = released
                   8  acquire(&lock, 0);
                   9  if (__VERIFIER_nondet_int() == 3)  __VERIFIER_nondet_int() = 3
                  10  release(&other);
                      release: not held
                  driver.c:9: input __VERIFIER_nondet_int() = 3
                VIOLATED init.rule:2: not initialised (in acquire)
                  rule init: ready = 0
                  8  acquire(&lock, 0);
                     not initialised
                3 checks: 1 proved, 2 violated, 0 unknown
                assuming that `acquire`, first called at driver.c:8, returns anything and changes nothing
                assuming that `release`, first called at driver.c:10, returns anything and changes nothing
                [stderr]
                warning: function `acquire` is not defined
                 --> driver.c:8:3
                  |
                8 |   acquire(&lock, 0);
                  |   ^^^^^^^^^^^^^^^^^ it is taken to return anything
                warning: function `release` is not defined
                  --> driver.c:10:5
                   |
                10 |     release(&other);
                   |     ^^^^^^^^^^^^^^^ it is taken to return anything
                warning: no file defines or calls `init`
                 --> init.rule:3:1
                  |
                3 | init.exit { ready = 1; }
                  | ^^^^ nothing happens here
                [exit 1]
            "#]],
        );
}

#[test]
fn a_violated_rule_hides_neither_another_one_nor_the_programs_own_checks() {
    let program = "#include <assert.h>
void acquire(int *lock, int flags);
void release(int *lock);
int lock, ready;
int main(void) {
  release(&lock);
  acquire(&lock, 0);
  acquire(&lock, 1);
  assert(ready);
  return 0;
}
";
    let never = "state { int count; }
acquire.entry { count++; if (count > 1) abort \"$fname is called twice\"; }
";
    Scene::file("driver.c", program)
        .and_file("held.rule", RULE)
        .and_file("never.rule", never)
        .check(
            "check driver.c --rule held.rule --rule never.rule -q",
            expect![[r#"
                VIOLATED driver.c:9: assertion ready (in main)
                  9  assert(ready);  ready = 0
                  9  assertion ready
                VIOLATED held.rule:12: release: not held (in release)
                  rule held watches &lock: lock = released
                  6  release(&lock);
                     release: not held
                PROVED held.rule:6: acquire: held already (in acquire)
                VIOLATED never.rule:2: acquire is called twice (in acquire)
                  rule never: count = 0
                            | 7  acquire(&lock, 0);
                  count = 1 | 8  acquire(&lock, 1);
                  count = 2 |    acquire is called twice
                4 checks: 1 proved, 3 violated, 0 unknown
                assuming that `release`, first called at driver.c:6, returns anything and changes nothing
                assuming that `acquire`, first called at driver.c:7, returns anything and changes nothing
                [exit 1]
            "#]],
        );
}

#[test]
fn an_object_that_is_the_only_one_behind_its_pointers_needs_no_address() {
    let program = "extern int __VERIFIER_nondet_int(void);
struct request { int status; };
struct request one;
struct request *current;
void dispatch(struct request *request);
void complete(struct request *request) { request->status = 1; }
void dispatch(struct request *request) {
  if (__VERIFIER_nondet_int()) current = request;
  else complete(request);
}
void interrupt(void) {
  if (current) complete(current);
#ifndef BUG
  current = 0;
#endif
}
int main(void) {
  while (__VERIFIER_nondet_int()) {
    dispatch(&one);
    interrupt();
  }
  return 0;
}
";
    let rule = "state { enum { open, done } request = open; }
dispatch.entry { track $1; }
complete.entry { watch $1; if (request == done) abort \"completed twice\"; request = done; }
";
    let scene = Scene::file("x.c", program).and_file("once.rule", rule);
    scene.check(
        "check x.c --rule once.rule",
        expect![[r#"
            PROVED once.rule:3: completed twice (in complete)
            assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:6
            [exit 0]
        "#]],
    );
    scene.check("check x.c --rule once.rule -DBUG", expect![[r#"
        VIOLATED once.rule:3: completed twice (in complete)
          rule once watches &one: request = open
                         | 18  while (__VERIFIER_nondet_int()) {                    __VERIFIER_nondet_int() = 1
                         | 19  dispatch(&one);                                      request = &one
                         |  8      if (__VERIFIER_nondet_int()) current = request;  __VERIFIER_nondet_int() = 1, current = &one
          request = done | 18  while (__VERIFIER_nondet_int()) {                    __VERIFIER_nondet_int() = 1
                         | 19  dispatch(&one);                                      request = &one
          request = open |  8      if (__VERIFIER_nondet_int()) current = request;  __VERIFIER_nondet_int() = 0
                         |  9      else complete(request);                          request = &one
          request = done | 20  interrupt();
                         | 12      if (current) complete(current);                  current = &one, request = &one
                         |             completed twice
          x.c:18: input __VERIFIER_nondet_int() = 1
          x.c:8: input __VERIFIER_nondet_int() = 1
          x.c:18: input __VERIFIER_nondet_int() = 1
          x.c:8: input __VERIFIER_nondet_int() = 0
        [exit 1]
    "#]]);
}

#[test]
fn objects_behind_pointers_are_found_and_replayed() {
    let program = "extern int __VERIFIER_nondet_int(void);
void acquire(int *lock, int flags);
void release(int *lock);
int one, two;
int main(void) {
  int *first = __VERIFIER_nondet_int() ? &one : &two;
  acquire(first, 0);
  acquire(&two, 0);
  return 0;
}
";
    Scene::file("pointers.c", program)
        .and_file("held.rule", RULE)
        .check("check pointers.c --rule held.rule -q", expect![[r#"
            VIOLATED held.rule:6: acquire: held already (in acquire)
              rule held watches &two: lock = released
                          | 6  int *first = __VERIFIER_nondet_int() ? &one : &two;  __VERIFIER_nondet_int() = 0, first = &two
                          | 7  acquire(first, 0);
              lock = held | 8  acquire(&two, 0);
                          |    acquire: held already
              pointers.c:6: input __VERIFIER_nondet_int() = 0
            assuming that `acquire`, first called at pointers.c:7, returns anything and changes nothing
            [exit 1]
        "#]]);
}

#[test]
fn the_library_is_listed() {
    Scene::empty().check("rules", expect![[r#"
        callback     A callback is registered once, with a function to call, and taken back before the program ends.
        descriptor   A file descriptor is used only while it is open, closed once, and closed before the program ends.
        file         A stream is used only while it is open, closed once, and closed before the program ends.
        init-order   An object is initialised before it is used, and not used once it is destroyed.
        interrupts   What may sleep is called only where that is allowed, and the interrupt level is restored.
        lock         Locks are acquired when free and released when held, and none is held when the program ends.
        memory       Memory from `malloc` is freed at most once, and not passed on after that.
        mutex-order  No two locks are ever taken in both orders.
        refcount     An object is neither used nor given back once its last reference is gone.
        request      A driver completes every request once; it returns pending exactly if it says so and keeps the request.

        `hardbop rules NAME` shows what a rule demands, with examples.
        [exit 0]
    "#]]);
}

#[test]
fn a_page_and_a_text_can_be_shown() {
    Scene::empty().check("rules interrupts", expect![[r#"
        # interrupts

        What may sleep is called only where that is allowed, and the interrupt level is restored.

        Between `local_irq_disable` and `local_irq_enable` nothing may sleep; the two alternate. `KeRaiseIrql` only raises the level and `KeLowerIrql` only lowers it; above APC_LEVEL (1) nothing may wait. When `main` returns, interrupts are on and the level is 0 again.

        ## Passes

        ```c
        void local_irq_disable(void);
        void local_irq_enable(void);
        void msleep(unsigned milliseconds);

        extern int __VERIFIER_nondet_int(void);
        int pending;

        int main(void) {
          local_irq_disable();
          int mine = pending;
          pending = 0;
          local_irq_enable();
          if (mine)
            msleep(10);
          return 0;
        }
        ```

        ## Fails

        ```c
        void local_irq_disable(void);
        void local_irq_enable(void);
        void msleep(unsigned milliseconds);

        extern int __VERIFIER_nondet_int(void);
        int pending;

        int main(void) {
          pending = __VERIFIER_nondet_int();
          local_irq_disable();
          if (pending) {
            pending = 0;
            msleep(10);
          }
          local_irq_enable();
          return 0;
        }
        ```

        Violated: msleep may sleep, but interrupts are off
        [exit 0]
    "#]]);
    Scene::empty().check("rules mutex-order --source", expect![[r#"
        // Deadlock: no two locks are taken in both orders.
        //
        // The locks are any two, so it is enough to look for `a` before `b` and later `b` before `a`.

        state {
            object a;
            object b;
            enum { no, yes } holds_a = no, holds_b = no, a_before_b = no;
        }

        [pthread_mutex_lock, pthread_spin_lock, mutex_lock, spin_lock, raw_spin_lock,
         KeAcquireSpinLock, ExAcquireFastMutex, EnterCriticalSection].entry {
            if ($1 == a) {
                if (holds_b == yes && a_before_b == yes) abort "two locks are taken in both orders";
                holds_a = yes;
            } else if ($1 == b) {
                if (holds_a == yes) a_before_b = yes;
                holds_b = yes;
            }
        }

        [pthread_mutex_unlock, pthread_spin_unlock, mutex_unlock, spin_unlock, raw_spin_unlock,
         KeReleaseSpinLock, ExReleaseFastMutex, LeaveCriticalSection].entry {
            if ($1 == a) holds_a = no;
            else if ($1 == b) holds_b = no;
        }
        [exit 0]
    "#]]);
    let value = Scene::empty().json("rules lock");
    assert_eq!(value["rules"][0]["name"], "lock");
    let page = value["rules"][0]["page"].as_str().unwrap();
    assert!(page.starts_with("# lock\n"), "{page}");
}

/// The examples on a rule's page: one passes, one fails as the page says.
#[track_caller]
fn examples(name: &str) {
    let output = Scene::empty().output(&format!("rules {name}"));
    let page = String::from_utf8(output.stdout).unwrap();
    let example = |title: &str| {
        let (_, rest) = page.split_once(title).expect("the page has it");
        let (_, rest) = rest.split_once("```c\n").expect("it begins");
        let (text, rest) = rest.split_once("```").expect("it ends");
        (text.to_owned(), rest.to_owned())
    };
    let (good, _) = example("## Passes");
    let (bad, after) = example("## Fails");
    let message = after
        .lines()
        .find_map(|line| line.strip_prefix("Violated: "));
    let message = message.expect("the page says what is violated");
    let run = |text: &str| {
        let scene = Scene::file("x.c", text);
        let output = scene.output(&format!("check x.c --rule {name} -q --time-limit 120"));
        let told = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), told)
    };
    let (code, told) = run(&good);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("PROVED"), "{told}");
    let (code, told) = run(&bad);
    assert_eq!(code, Some(1), "{told}");
    let mut violated = told.lines().filter(|line| line.starts_with("VIOLATED"));
    assert!(violated.any(|line| line.contains(message)), "{told}");
}

macro_rules! pages {
    ($($test:ident $name:literal)*) => {$(
        #[test]
        fn $test() {
            examples($name);
        }
    )*

    #[test]
    fn every_page_is_tested() {
        let names: Vec<&str> = hardbop::rules::library::RULES.iter().map(|r| r.name).collect();
        assert_eq!(names, [$($name),*]);
    }
    };
}

pages! {
    page_callback "callback"
    page_descriptor "descriptor"
    page_file "file"
    page_init_order "init-order"
    page_interrupts "interrupts"
    page_lock "lock"
    page_memory "memory"
    page_mutex_order "mutex-order"
    page_refcount "refcount"
    page_request "request"
}

#[test]
fn a_broken_rule_is_refused() {
    Scene::file("driver.c", DRIVER)
        .and_file("broken.rule", "state { int x }\nacquire.entry { x = 1 }\n")
        .check(
            "check driver.c --rule broken.rule",
            expect![[r#"
            [stderr]
            error: unexpected `}`
             --> broken.rule:1:15
              |
            1 | state { int x }
              |               ^ expected `;` at the end of the declaration
            error: unexpected `}`
             --> broken.rule:2:23
              |
            2 | acquire.entry { x = 1 }
              |                       ^ expected `;` at the end of the statement
            2 errors
            [exit 2]
        "#]],
        );
}

#[test]
fn a_rule_that_does_not_fit_the_program_is_refused() {
    let rule = "state { int x; }
acquire.entry { x = $3; }
[acquire, release].entry { lock = 1; }
";
    Scene::file("driver.c", DRIVER)
        .and_file("wrong.rule", rule)
        .check(
            "check driver.c --rule wrong.rule",
            expect![[r#"
            [stderr]
            error: `acquire` has 2 parameters, so there is no `$3`
             --> wrong.rule:2:21
              |
            2 | acquire.entry { x = $3; }
              |                     ^^ not there
            note: the function is here
             --> driver.c:2:6
              |
            2 | void acquire(int *lock, int flags);
              |      ^^^^^^^
            error: `lock` belongs to the program: a rule changes its own state only
             --> wrong.rule:3:28
              |
            3 | [acquire, release].entry { lock = 1; }
              |                            ^^^^ assigned here
            2 errors
            [exit 2]
        "#]],
        );
}

#[test]
fn an_unknown_rule_is_told_with_its_neighbours() {
    check(
        "check driver.c --rule spinlock",
        expect![[r#"
        [stderr]
        error: there is no rule `spinlock`: did you mean `lock`? (the name of a file ends in `.rule`)
        [exit 2]
    "#]],
    );
    check(
        "check driver.c --rule refcounts",
        expect![[r#"
        [stderr]
        error: there is no rule `refcounts`: did you mean `refcount`? (the name of a file ends in `.rule`)
        [exit 2]
    "#]],
    );
    check(
        "check driver.c --rule xyzzy",
        expect![[r#"
        [stderr]
        error: there is no rule `xyzzy`: `hardbop rules` lists those that there are (the name of a file ends in `.rule`)
        [exit 2]
    "#]],
    );
    check(
        "rules lok",
        expect![[r#"
        [stderr]
        error: there is no rule `lok`: did you mean `lock`? (the name of a file ends in `.rule`)
        [exit 2]
    "#]],
    );
    check(
        "check driver.c --rule none.rule",
        expect![[r#"
        [stderr]
        error: cannot read `none.rule`: there is no such file
        [exit 2]
    "#]],
    );
    check(
        "check driver.c --rule driver.c",
        expect![[r#"
        [stderr]
        error: unexpected `int`
         --> driver.c:1:8
          |
        1 | extern int __VERIFIER_nondet_int(void);
          |        ^^^ expected `.` and an event after the function
        [exit 2]
    "#]],
    );
}

#[test]
fn functions_that_do_not_exist_are_warned_about() {
    let rule = "state { int n; } aquire.entry { n = 1; }";
    Scene::file("driver.c", DRIVER)
        .and_file("typo.rule", rule)
        .check("check driver.c --rule typo.rule", expect![[r#"
            nothing to check: the program has no assertion and no error call
            assuming that `acquire`, first called at driver.c:8, returns anything and changes nothing
            assuming that `release`, first called at driver.c:10, returns anything and changes nothing
            [stderr]
            warning: function `acquire` is not defined
             --> driver.c:8:3
              |
            8 |   acquire(&lock, 0);
              |   ^^^^^^^^^^^^^^^^^ it is taken to return anything
            warning: function `release` is not defined
              --> driver.c:10:5
               |
            10 |     release(&other);
               |     ^^^^^^^^^^^^^^^ it is taken to return anything
            warning: no file defines or calls `aquire`
             --> typo.rule:1:18
              |
            1 | state { int n; } aquire.entry { n = 1; }
              |                  ^^^^^^ nothing happens here
            [exit 0]
        "#]]);
    check(
        "check driver.c --rule refcount",
        expect![[r#"
        nothing to check: the program has no assertion and no error call
        assuming that `acquire`, first called at driver.c:8, returns anything and changes nothing
        assuming that `release`, first called at driver.c:10, returns anything and changes nothing
        [stderr]
        warning: function `acquire` is not defined
         --> driver.c:8:3
          |
        8 |   acquire(&lock, 0);
          |   ^^^^^^^^^^^^^^^^^ it is taken to return anything
        warning: function `release` is not defined
          --> driver.c:10:5
           |
        10 |     release(&other);
           |     ^^^^^^^^^^^^^^^ it is taken to return anything
        warning: rule `refcount` has nothing to look at: no file defines or calls `ObDereferenceObject`, `ObReferenceObject`, `get_device`, `kref_get`, `kref_init`, `kref_put`, `put_device`, `refcount_dec`, `refcount_inc`, `refcount_init`
        [exit 0]
    "#]],
    );
}
