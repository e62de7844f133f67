//! What guessing proves, and by which invariants.

use expect_test::{Expect, expect};
use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_engine::Task;
use hardbop_gate::Outcome;
use hardbop_houdini::Houdini;
use hardbop_model::{Model, Prepared};
use hardbop_portfolio::{Found, Listener, Plan, Proofs, Shows};
use hardbop_test_support::inputs::loaded;
use std::fmt::Write;

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
#define assert(e) do { if (!(e)) __assert_fail(#e, \"\", 0, \"\"); } while (0)
#line 1
";

/// Nobody listens.
struct Deaf;

impl Listener for Deaf {
    fn event(&mut self, _: &'static str, _: hardbop_engine::Event) {}

    fn late(&mut self, _: &Found) {}
}

/// An answer for every check, then the invariants where control may come, in C.
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&found_by(Houdini::default(), text));
}

/// The same by guesses of some kind.
fn found_by(engine: Houdini, text: &str) -> String {
    let program = &loaded(&format!("{PRELUDE}{text}")).program;
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let budget = Budget::unlimited();
    let prepared = Prepared::new(program, &Budget::unlimited()).unwrap();
    let task = Task {
        model: &Model::new(program, &prepared),
        checks: &checks,
        budget: &budget,
    };
    let plan = Plan {
        proofs: Proofs::Readable {
            engines: Vec::new(),
            shows: Shows::Invariants,
        },
        ..Plan::alone(engine)
    };
    let found = hardbop_portfolio::check(&plan, &task, &mut Deaf);
    let mut out = String::new();
    for (id, outcome) in &found.report.outcomes {
        let line = program.checks[id.index()].source.line;
        let word = match outcome {
            Outcome::Proved(_) => "proved".to_owned(),
            Outcome::Violated(_) => "violated".to_owned(),
            Outcome::Unknown(reason) => format!("unknown: {reason}"),
        };
        let _ = writeln!(out, "line {line}: {word}");
    }
    for (location, c) in &found.invariants {
        let edges = program.edges_from(*location);
        let line = edges.map(|(_, edge)| edge.source.line).next().unwrap_or(0);
        let text = c.contract.as_deref().or(c.plain.as_deref());
        if let Some(text) = text.filter(|&text| text != "1") {
            let _ = writeln!(out, "at line {line}: {text}");
        }
    }
    out
}

/// The answer for the first check.
fn first_by(engine: Houdini, text: &str) -> String {
    let found = found_by(engine, text);
    found.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_counter_ends_at_its_bound() {
    check(
        "int main(void) {
  int n = __VERIFIER_nondet_int(), i = 0;
  if (n < 0) return 0;
  while (i < n) i++;
  assert(i == n);
}",
        expect![[r#"
            line 5: proved
            at line 4: i <= n
            at line 5: n == i
        "#]],
    );
}

#[test]
fn counters_that_move_together_keep_their_relation() {
    check(
        "int main(void) {
  unsigned n = __VERIFIER_nondet_uint(), x = n, y = 0;
  while (x > 0) { x--; y += 3; }
  assert(y == 3 * n);
}",
        expect![[r#"
            line 4: proved
            at line 3: (int)((unsigned int)(int)n * (unsigned int)3) == (int)((unsigned int)(int)y + (unsigned int)(int)((unsigned int)(int)x * (unsigned int)3))
            at line 4: y == (unsigned int)(int)((unsigned int)(int)n * (unsigned int)3)
        "#]],
    );
}

#[test]
fn steps_of_two_stay_even() {
    check(
        "int main(void) {
  unsigned x = 0;
  while (__VERIFIER_nondet_int()) x += 2;
  assert(x != 7);
}",
        expect![[r#"
            line 4: proved
            at line 3: (x & 1) == 0
            at line 4: (x & 1) == 0
        "#]],
    );
}

#[test]
fn some_checks_are_proved_where_others_fail() {
    check(
        "int main(void) {
  int lock = 0;
  for (;;) {
    if (__VERIFIER_nondet_int()) break;
    assert(lock == 0);
    lock = 1;
    if (__VERIFIER_nondet_int()) assert(lock == 2);
    lock = 0;
  }
}",
        expect![[r#"
            line 5: proved
            line 7: unknown: the invariants that were guessed do not exclude it
            at line 4: lock == 0
            at line 5: lock == 0
        "#]],
    );
}

#[test]
fn recursion_keeps_what_its_arguments_say() {
    check(
        "int down(int n) {
  if (n <= 0) return 0;
  return down(n - 1);
}
int main(void) {
  assert(down(__VERIFIER_nondet_int()) == 0);
}",
        expect![[r#"
            line 6: proved
            at line 0: $return == 0
        "#]],
    );
}

#[test]
fn flags_are_told_apart() {
    check(
        "int main(void) {
  int a = __VERIFIER_nondet_int(), b = 0, c = 0;
  if (a) { b = 5; c = 7; }
  while (__VERIFIER_nondet_int()) ;
  if (b == 5) assert(c == 7);
}",
        expect![[r#"
            line 5: proved
            at line 4: b != 5 || c == 7
            at line 5: c == 7
        "#]],
    );
}

#[test]
fn what_needs_products_is_left_to_others() {
    check(
        "int main(void) {
  unsigned n = __VERIFIER_nondet_uint(), i = 0, square = 0;
  if (n > 1000) return 0;
  while (i < n) { square += 2 * i + 1; i++; }
  assert(square == n * n);
}",
        expect![[r#"
            line 5: unknown: the invariants that were guessed do not exclude it
        "#]],
    );
}

/// What is said of one element that is any of them, with `any0` for its index, is said of all.
#[test]
fn all_elements_of_an_array() {
    check(
        "int a[1000000];
int main(void) {
  for (int i = 0; i < 1000000; i++) a[i] = 42;
  for (int x = 0; x < 1000000; x++) assert(a[x] == 42);
}",
        expect![[r#"
            line 4: proved
            at line 4: x >= 0
            at line 4: 0 <= x && x < 1000000
        "#]],
    );
}

#[test]
fn a_copy_is_the_same() {
    check(
        "int a[100000], b[100000];
int main(void) {
  for (int i = 0; i < 100000; i++) a[i] = __VERIFIER_nondet_int();
  for (int i = 0; i < 100000; i++) b[i] = a[i];
  for (int x = 0; x < 100000; x++) assert(b[x] == a[x]);
}",
        expect![[r#"
            line 5: proved
            at line 5: x >= 0
            at line 5: 0 <= x && x < 100000
        "#]],
    );
}

/// The last element is not written: what is guessed of the others does not hold of it.
#[test]
fn one_element_less() {
    check(
        "int a[1000];
int main(void) {
  for (int i = 0; i < 999; i++) a[i] = 42;
  for (int x = 0; x < 1000; x++) assert(a[x] == 42);
}",
        expect![[r#"
            line 4: unknown: the invariants that were guessed do not exclude it
        "#]],
    );
}

/// A counter that nobody reads any more says what another variable is.
#[test]
fn what_is_forgotten_is_remembered() {
    let text = |more: u32| {
        format!(
            "int main(void) {{
                int n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int();
                int i = 0, j = 0, l = 0, k = 0;
                if (n < -1000 || n > 1000 || m < -1000 || m > 1000) return 0;
                while (i < n) {{ i++; k++; }}
                while (j < m) {{ j++; k++; }}
                while (l < n + m) {{ assert(k > {more}); l++; k--; }}
                return 0;
            }}"
        )
    };
    let open = "line 7: unknown: the invariants that were guessed do not exclude it";
    assert_eq!(first_by(Houdini::default(), &text(0)), open);
    assert_eq!(first_by(Houdini::remembering(), &text(0)), "line 7: proved");
    assert_eq!(first_by(Houdini::remembering(), &text(1)), open);
}

/// An input that never changes decides what a loop does.
#[test]
fn inputs_that_never_change_tell_states_apart() {
    let text = |sides: &str| {
        format!(
            "int main(void) {{
                int up = __VERIFIER_nondet_int();
                unsigned x = 0, y = 0;
                while (__VERIFIER_nondet_int()) {{
                    x += 3;
                    if (up > 7) y += 3; else y -= 3;
                }}
                if (up > 7) assert(x == {sides});
                return 0;
            }}"
        )
    };
    let open = "line 8: unknown: the invariants that were guessed do not exclude it";
    assert_eq!(
        first_by(Houdini::remembering(), &text("y")),
        "line 8: proved"
    );
    assert_eq!(first_by(Houdini::remembering(), &text("-y")), open);
}

/// What bounds a word of 64 bits says nothing of a narrower one that is compared with it.
#[test]
fn words_of_different_widths_are_compared() {
    let text = "int main(void) {
                long n = __VERIFIER_nondet_int();
                int i = 0, k = 0;
                if (n < -1000 || n > 1000) return 0;
                while (i < n) { i++; k++; }
                assert(k <= 1000);
                while (k > 0) k--;
                return 0;
            }";
    let open = "line 6: unknown: the invariants that were guessed do not exclude it";
    assert_eq!(first_by(Houdini::remembering(), text), open);
}

/// What is doubled in every round is a power of two.
#[test]
fn what_is_doubled_is_a_power() {
    let text = |bound: u32| {
        format!(
            "int main(void) {{
                int n = __VERIFIER_nondet_int();
                unsigned x = 1;
                if (n < 0 || n > {bound}) return 0;
                for (int i = 0; i < n; i++) x = 2 * x;
                assert(x == 1u << n);
                assert(x != 0);
                return 0;
            }}"
        )
    };
    let open = "line 6: unknown: the invariants that were guessed do not exclude it";
    assert_eq!(first_by(Houdini::default(), &text(31)), open);
    let found = found_by(Houdini::of_powers(), &text(31));
    assert!(
        found.starts_with("line 6: proved\nline 7: proved\n"),
        "{found}"
    );
    let found = found_by(Houdini::of_powers(), &text(40));
    assert!(found.contains("line 7: unknown"), "{found}");
}

/// A function that calls itself twice does as many things.
#[test]
fn the_moves_of_a_tower_are_a_power() {
    let text = |most: u32| {
        format!(
            "int moves;
            void move(int n) {{
                if (n == 0) return;
                assert(moves < 2147483647);
                moves++;
                move(n - 1);
                move(n - 1);
            }}
            int main(void) {{
                int n = __VERIFIER_nondet_int();
                if (n < 1 || n > {most}) return 0;
                move(n);
                return 0;
            }}"
        )
    };
    let open = "line 4: unknown: the invariants that were guessed do not exclude it";
    assert_eq!(first_by(Houdini::of_powers(), &text(31)), "line 4: proved");
    assert_eq!(first_by(Houdini::of_powers(), &text(32)), open);
}

/// A function that adds as often as it is told gives a product back.
#[test]
fn additions_of_a_recursion_are_a_product() {
    let text = |most: u32| {
        format!(
            "int times(int n, int m) {{
                if (m < 0) return times(n, -m);
                if (m == 0) return 0;
                int rest = times(n, m - 1);
                assert(rest <= 2147483647 - n);
                return n + rest;
            }}
            int main(void) {{
                int n = __VERIFIER_nondet_int(), m = __VERIFIER_nondet_int();
                if (n < 0 || n > {most} || m < 0 || m > {most}) return 0;
                times(n, m);
                return 0;
            }}"
        )
    };
    let open = "line 5: unknown: the invariants that were guessed do not exclude it";
    let proved = "line 5: proved";
    assert_eq!(first_by(Houdini::default(), &text(46340)), open);
    assert_eq!(first_by(Houdini::of_arguments(), &text(46340)), proved);
    assert_eq!(first_by(Houdini::of_arguments(), &text(46341)), open);
}

/// No condition of the program says how far the first variable goes.
#[test]
fn ranges_that_the_text_tells_are_known_before_anything_is_guessed() {
    let program = |most: i32| {
        format!(
            "int main(void) {{
               int x = 0, y = 0;
               while (__VERIFIER_nondet_int()) {{
                 assert(y <= {most});
                 y = x + 500;
                 if (x < 1000) x += 7; else x = 0;
               }}
             }}"
        )
    };
    let unknown = "line 4: unknown: the invariants that were guessed do not exclude it";
    assert_eq!(first_by(Houdini::told(), &program(1_600)), "line 4: proved");
    assert_eq!(first_by(Houdini::default(), &program(1_600)), unknown);
    assert_eq!(first_by(Houdini::told(), &program(1_400)), unknown);
}
