//! Memory that is lost, and memory that is not freed when the program ends.

use crate::scene::Scene;
use expect_test::expect;

const MEMTRACK: &str = "CHECK( init(main()), LTL(G valid-memtrack) )\n";
const CLEANUP: &str = "CHECK( init(main()), LTL(G valid-memcleanup) )\n";

fn scene(text: &str) -> Scene {
    let text = format!(
        "#include <stdlib.h>\nextern int __VERIFIER_nondet_int(void);\nint *kept;\n{text}\n"
    );
    Scene::file("x.c", text)
        .and_file("memtrack.prp", MEMTRACK)
        .and_file("cleanup.prp", CLEANUP)
}

#[test]
fn what_is_freed_on_every_way_is_neither_lost_nor_left() {
    let loops = scene(
        "int main(void) {
  int n = __VERIFIER_nondet_int();
  for (int i = 0; i < n; i++) {
    int *p = malloc(sizeof *p);
    *p = i;
    free(p);
  }
  return 0;
}",
    );
    loops.check("check x.c --check leak,cleanup", expect![[r#"
        PROVED x.c:4: memory lost at the end of the program (in main)
        PROVED x.c:4: memory left at the end of the program (in main)
        PROVED x.c:4: every execution ends, so that lost memory is seen (in main)
          rank at x.c:6: n - i
        3 checks: 3 proved, 0 violated, 0 unknown
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:8
        assuming that `free` is given null or live memory of the heap: not asked about (`--check free`), first at x.c:9
        [exit 0]
    "#]]);
}

#[test]
fn a_way_out_that_forgets_to_free_loses_memory() {
    let early = scene(
        "int main(void) {
  int *p = malloc(sizeof *p);
  if (__VERIFIER_nondet_int() == 5)
    return 1;
  free(p);
  return 0;
}",
    );
    early.check("check x.c --check leak", expect![[r#"
        VIOLATED x.c:4: memory lost at the end of the program (in main)
          5  int *p = malloc(sizeof *p);  live heap objects = 1
          4  int main(void) {             live heap objects = 1
          4  memory lost at the end of the program
          object: 4 bytes allocated at x.c:5
          x.c:6: input __VERIFIER_nondet_int() = 5
        PROVED x.c:4: every execution ends, so that lost memory is seen (in main)
        2 checks: 1 proved, 1 violated, 0 unknown
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        assuming that `free` is given null or live memory of the heap: not asked about (`--check free`), first at x.c:8
        [exit 1]
    "#]]);
    early.check("check x.c --property memtrack.prp --no-trace", expect![[r#"
        VIOLATED x.c:4: memory lost at the end of the program (in main)
          object: 4 bytes allocated at x.c:5
          x.c:6: input __VERIFIER_nondet_int() = 5
        UNKNOWN x.c:4: every execution ends, so that lost memory is seen (in main)
          because the search ended with the first violation (`--first`, `--property`)
        2 checks: 0 proved, 1 violated, 1 unknown
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        result: false(valid-memtrack)
        [exit 1]
    "#]]);
    early.check("check x.c --property cleanup.prp --no-trace", expect![[r#"
        VIOLATED x.c:4: memory left at the end of the program (in main)
          object: 4 bytes allocated at x.c:5
          x.c:6: input __VERIFIER_nondet_int() = 5
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        result: false(valid-memcleanup)
        [exit 1]
    "#]]);
}

#[test]
fn what_a_global_variable_points_to_is_not_lost() {
    let global = scene("int main(void) {\n  kept = malloc(sizeof *kept);\n  return 0;\n}");
    global.check("check x.c --check cleanup --no-trace", expect![[r#"
        VIOLATED x.c:4: memory left at the end of the program (in main)
          object: 4 bytes allocated at x.c:5
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        [exit 1]
    "#]]);
    // Who points to what is for runs to see: the one run of a program without inputs proves it.
    global.check("check x.c --check leak --no-trace", expect![[r#"
        PROVED x.c:4: memory lost at the end of the program (in main)
        PROVED x.c:4: every execution ends, so that lost memory is seen (in main)
        2 checks: 2 proved, 0 violated, 0 unknown
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        [exit 0]
    "#]]);
    global.check("c run x.c --check leak", expect![[r#"
        returned 0, after 5 steps
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        [exit 0]
    "#]]);
}

#[test]
fn pointers_in_objects_and_in_numbers_count() {
    let hidden = scene(
        "struct node { struct node *next; };
unsigned char bytes[sizeof(void *)];
int main(void) {
  struct node *a = malloc(sizeof *a);
  a->next = malloc(sizeof *a);
  a->next->next = 0;
  for (unsigned i = 0; i < sizeof a; i++)
    bytes[i] = (unsigned char)((unsigned long)a >> 8 * i);
  return 0;
}",
    );
    hidden.check("c run x.c --check leak", expect![[r#"
        x.c:12: not supported: telling whether memory is lost in `return 0;`, after 34 steps
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        assuming that objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the heap to 16 bytes): an address is used as a number at x.c:11
        [exit 3]
    "#]]);
}

#[test]
fn at_exit_and_abort_variables_are_still_there() {
    let stops = scene(
        "int main(void) {
  int *p = malloc(sizeof *p), **held = &p;
  if (held == 0)
    return 1;
  exit(0);
}",
    );
    stops.check("c run x.c --check leak", expect![[r#"
        x.c:8: ended in `main` in `exit(0)`, after 7 steps
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        [exit 0]
    "#]]);
    stops.check("check x.c --check cleanup --no-trace", expect![[r#"
        VIOLATED x.c:8: memory left at the end of the program in exit(0) (in main)
          object: 4 bytes allocated at x.c:5
        PROVED x.c:4: memory left at the end of the program (in main)
        2 checks: 1 proved, 1 violated, 0 unknown
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        [exit 1]
    "#]]);
}

#[test]
fn what_an_endless_execution_loses_is_not_called_safe() {
    let endless = scene(
        "int main(void) {
  int *p = malloc(sizeof *p);
  while (1)
    p = malloc(sizeof *p);
}",
    );
    endless.check(
        "check x.c --property memtrack.prp --engine houdini",
        expect![[r#"
            UNKNOWN x.c:4: every execution ends, so that lost memory is seen (in main)
              because nothing was found in the first 0 steps, and some runs are longer
            assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
            result: unknown
            [exit 3]
        "#]],
    );
}

#[test]
fn the_end_by_a_failure_is_an_end() {
    let fails = scene(
        "extern void reach_error(void);
int main(void) {
  int *p = malloc(sizeof *p);
  *p = __VERIFIER_nondet_int();
  if (*p == 7)
    reach_error();
  free(p);
  return 0;
}",
    );
    fails.check("check x.c --property cleanup.prp --no-trace", expect![[r#"
        VIOLATED x.c:9: memory left at the end of the program in reach_error() (in main)
          object: 4 bytes allocated at x.c:6
          x.c:7: input __VERIFIER_nondet_int() = 7
        PROVED x.c:5: memory left at the end of the program (in main)
        2 checks: 1 proved, 1 violated, 0 unknown
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        assuming that every access is inside of a live object: not asked about (`--check pointer`), first at x.c:7
        assuming that `free` is given null or live memory of the heap: not asked about (`--check free`), first at x.c:10
        result: false(valid-memcleanup)
        [exit 1]
    "#]]);
}

#[test]
fn only_the_outermost_call_of_main_is_the_end() {
    let calls_itself = scene(
        "int depth;
int main(void) {
  int *p = malloc(sizeof *p);
  if (depth++ < 1)
    main();
  free(p);
  return 0;
}",
    );
    calls_itself.check("check x.c --check leak,cleanup --no-trace", expect![[r#"
        PROVED x.c:5: memory lost at the end of the program (in main)
        PROVED x.c:5: memory left at the end of the program (in main)
        PROVED x.c:5: every execution ends, so that lost memory is seen (in main)
        3 checks: 3 proved, 0 violated, 0 unknown
        assuming that memory can always be allocated: `malloc` returns null only for 2^47 bytes or more, and no execution fills the address space
        assuming that `free` is given null or live memory of the heap: not asked about (`--check free`), first at x.c:9
        [exit 0]
    "#]]);
}
