//! Pointers that walk through arrays, searches that halve, and elements that are moved: programs
//! that are proved without unrolling anything, and others like them that are wrong.

use hardbop_houdini::Houdini;
use hardbop_test_support::desk::left_open;
use hardbop_test_support::inputs::loaded;

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void);
extern char __VERIFIER_nondet_char(void);
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
#define assert(e) do { if (!(e)) __assert_fail(#e, \"\", 0, \"\"); } while (0)
#line 1
";

/// How many checks of a program are left open.
fn open(text: &str) -> usize {
    let program = &loaded(&format!("{PRELUDE}{text}")).program;
    left_open(program, &Houdini::told()).len()
}

/// All checks of a program are proved.
fn check(text: &str) {
    assert_eq!(open(text), 0, "{text}");
}

/// No check of a program is proved.
fn check_open(text: &str) {
    assert_eq!(open(text), text.matches("assert(").count(), "{text}");
}

/// Fills an array, with a pointer that goes as far as an end.
fn filled(end: &str) -> String {
    format!(
        "int a[100000];
int main(void) {{
  for (int *p = a; p < a + {end}; p++) *p = 7;
  for (int i = 0; i < 100000; i++) assert(a[i] == 7);
}}"
    )
}

#[test]
fn a_pointer_walks_to_the_end() {
    check(&filled("100000"));
}

#[test]
fn a_pointer_that_stops_before_the_end() {
    check_open(&filled("99999"));
}

/// A pointer that goes on by two elements leaves every other one.
#[test]
fn a_pointer_that_leaves_elements_out() {
    check_open(
        "int a[100000];
int main(void) {
  for (int *p = a; p < a + 100000; p += 2) *p = 7;
  for (int i = 0; i < 100000; i++) assert(a[i] == 7);
}",
    );
}

/// A pointer that is set into two arrays is at no element of one.
#[test]
fn a_pointer_into_two_arrays() {
    check_open(
        "int a[100000], b[100000];
int main(void) {
  int *p = a, *end = a + 100000;
  if (__VERIFIER_nondet_int()) { p = b; end = b + 100000; }
  while (p < end) *p++ = 7;
  for (int i = 0; i < 100000; i++) assert(a[i] == 7);
}",
    );
}

/// Copies a string, by two pointers that move together.
fn copied(writes: &str) -> String {
    format!(
        "char from[1000], to[1000];
int main(void) {{
  for (int i = 0; i < 999; i++) from[i] = __VERIFIER_nondet_char();
  from[999] = 0;
  char *p = from, *q = to;
  while (*p) {{ {writes} }}
  *q = 0;
  for (int i = 0; from[i]; i++) assert(to[i] == from[i]);
}}"
    )
}

#[test]
fn two_pointers_copy_a_string() {
    check(&copied("*q++ = *p++;"));
}

#[test]
fn two_pointers_copy_something_else() {
    check_open(&copied("*q++ = *p++ + 1;"));
}

/// A search that halves, for the first element that is not below a number.
fn searched(order: &str, moves: &str) -> String {
    format!(
        "int a[1000];
int main(void) {{
  int n = __VERIFIER_nondet_int(), x = __VERIFIER_nondet_int();
  if (n < 0 || n > 1000) return 0;
  for (int i = 0; i < n; i++) {{
    a[i] = __VERIFIER_nondet_int();
    if (i > 0 && {order}) abort();
  }}
  int low = 0, high = n;
  while (low < high) {{
    int middle = low + (high - low) / 2;
    if (a[middle] < x) low = {moves}; else high = middle;
  }}
  for (int i = 0; i < low; i++) assert(a[i] < x);
}}"
    )
}

#[test]
fn a_search_that_halves() {
    check(&searched("a[i - 1] > a[i]", "middle + 1"));
}

#[test]
fn a_search_where_nothing_is_in_order() {
    check_open(&searched("a[i - 1] == a[i]", "middle + 1"));
}

#[test]
fn a_search_that_skips_an_element() {
    check_open(&searched("a[i - 1] > a[i]", "middle + 2"));
}

/// What is new is written to two arrays, and one of them is moved by one.
#[test]
fn elements_that_move_by_one() {
    let text = |first: &str| {
        format!(
            "int main(void) {{
  int a[1000], b[1000];
  for (int i = 0; i < 1000; i++) a[i] = b[i] = __VERIFIER_nondet_int();
  int first = a[0];
  for (int i = 0; i < 999; i++) a[i] = a[i + 1];
  a[999] = {first};
  assert(a[999] == b[0]);
}}"
        )
    };
    check(&text("first"));
    check_open(&text("a[1]"));
}

/// Fills an array from behind, down to an element.
fn filled_backwards(last: &str) -> String {
    format!(
        "int a[1000];
int main(void) {{
  int n = __VERIFIER_nondet_int();
  if (n < 0 || n > 1000) return 0;
  int *p = a + n;
  while (p > {last}) *--p = 4;
  for (int i = 0; i < n; i++) assert(a[i] == 4);
}}"
    )
}

#[test]
fn a_pointer_that_walks_backwards() {
    check(&filled_backwards("a"));
}

#[test]
fn a_pointer_that_stops_before_the_first_element() {
    check_open(&filled_backwards("a + 1"));
}

/// Looks at elements from the last one on, in a loop that began where the number of them was read.
#[test]
fn down_from_behind_the_last_element() {
    let text = |start: &str| {
        format!(
            "int a[1000];
int main(void) {{
  int n = __VERIFIER_nondet_int();
  if (n < 0 || n > 1000) return 0;
  for (int i = {start}; i >= 0; i--) a[i] = 7;
  for (int i = n; i-- > 0;) assert(a[i] == 7);
}}"
        )
    };
    check(&text("n - 1"));
    check_open(&text("n - 2"));
}

/// One element that nobody knows, in the place of a loop over all.
#[test]
fn an_index_that_is_chosen() {
    let text = |within: &str| {
        format!(
            "int main(void) {{
  int a[1001], b[1001];
  int n = __VERIFIER_nondet_int();
  if (n < 0 || n > 1000) return 0;
  for (int i = 0; i < n; i++) b[i] = a[i];
  int k = __VERIFIER_nondet_int();
  if (k >= 0 && k {within} n) assert(b[k] == a[k]);
}}"
        )
    };
    check(&text("<"));
    check_open(&text("<="));
}
