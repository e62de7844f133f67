//! Facts about all elements: programs that need them, and claims about them that are not so.

use hardbop_engine::claim::{Adding, Invariants};
use hardbop_houdini::Houdini;
use hardbop_test_support::desk::changed;
use hardbop_test_support::inputs::loaded;

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
#define assert(e) do { if (!(e)) __assert_fail(#e, \"\", 0, \"\"); } while (0)
#line 1
";

/// What is proved of a program, and which changes of its invariants the gate accepts.
fn proved(text: &str, changes: &Changes<'_>) -> (usize, Vec<bool>) {
    let program = &loaded(&format!("{PRELUDE}{text}")).program;
    changed(program, &Houdini::default(), changes)
}

/// All checks of a program are proved.
fn check(text: &str) {
    let (found, _) = proved(text, &|_| Vec::new());
    assert_eq!(found, text.matches("assert(").count(), "{text}");
}

/// No check of a program is proved.
fn check_open(text: &str) {
    let (found, _) = proved(text, &|_| Vec::new());
    assert_eq!(found, 0, "{text}");
}

#[test]
fn a_loop_that_counts_down() {
    check(
        "int a[100000];
int main(void) {
  for (int i = 99999; i >= 0; i--) a[i] = i + 2;
  for (int i = 0; i < 100000; i++) assert(a[i] == i + 2);
}",
    );
}

/// Sums over elements of two widths are told apart.
#[test]
fn sums_over_bytes_and_words() {
    check(
        "unsigned char a[8]; unsigned b[8];
         int main(void) {
           unsigned s = 0, t = 0, u = 0;
           for (int i = 0; i < 8; i++) { a[i] = __VERIFIER_nondet_int(); b[i] = __VERIFIER_nondet_int(); }
           for (int i = 0; i < 8; i++) s += a[i] >> 1;
           for (int i = 0; i < 8; i++) t += b[i];
           for (int i = 0; i < 8; i++) u += b[i];
           assert(t == u);
           return s > 0;
         }",
    );
}

#[test]
fn what_is_found_is_there() {
    check(
        "int a[100000];
int main(void) {
  int x = __VERIFIER_nondet_int(), i, j;
  for (i = 0; i < 100000; i++) if (a[i] == x) break;
  for (j = 0; j < i; j++) assert(a[j] != x);
  if (i < 100000) assert(a[i] == x);
}",
    );
}

/// Where the array is written is decided in the step that writes it.
#[test]
fn a_search_ends_at_what_was_written_before() {
    let text = |end: &str| {
        format!(
            "int a[1000];
int main(void) {{
  unsigned k = __VERIFIER_nondet_uint(), j = 0;
  if (k >= 1000) return 0;
  a[k] = 3;
  while (j < 1000 && a[j] != 3) j++;
  assert(j {end});
  return 0;
}}"
        )
    };
    check(&text("<= k"));
    check_open(&text("< k"));
}

#[test]
fn rows_and_columns() {
    check(
        "int a[1000][1000];
int main(void) {
  int i, j;
  for (i = 0; i < 1000; i++) for (j = 0; j < 1000; j++) a[i][j] = 3;
  for (i = 0; i < 1000; i++) for (j = 0; j < 1000; j++) assert(a[i][j] == 3);
}",
    );
}

/// The last column is not written.
#[test]
fn one_column_less() {
    check_open(
        "int a[30][20];
int main(void) {
  int i, j;
  for (i = 0; i < 30; i++) for (j = 0; j < 19; j++) a[i][j] = 3;
  for (i = 0; i < 30; i++) for (j = 0; j < 20; j++) assert(a[i][j] == 3);
}",
    );
}

const SUMS: &str = "int a[100000];
int main(void) {
  int n = __VERIFIER_nondet_int(), i;
  unsigned s = 0, t = 0;
  if (n < 0 || n > 100000) return 0;
  for (i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
  for (i = 0; i < n; i++) s += a[i];
  for (i = 0; i < n; i++) t += a[i];
  assert(s == t);
}";

#[test]
fn the_same_sum_twice() {
    check(SUMS);
}

/// The first element comes twice.
#[test]
fn another_sum() {
    check_open(
        "int a[1000];
int main(void) {
  unsigned s = 0, t = 0;
  int i;
  for (i = 0; i < 1000; i++) s += a[i];
  for (i = 0; i < 1000; i++) { t += a[i]; if (i == 0) a[i] = 5; }
  for (i = 0; i < 1; i++) t += a[i];
  assert(s == t);
}",
    );
}

#[test]
fn a_sum_in_an_array_of_one_element() {
    check(
        "extern void *malloc(unsigned long);
int main(void) {
  int n = __VERIFIER_nondet_int(), i;
  if (n <= 0 || n > 1000000) return 0;
  int *a = malloc(n * sizeof(int));
  long long s[1];
  for (i = 0; i < n; i++) a[i] = 1;
  for (i = 0; i < n; i++) if (i == 0) s[0] = 0; else s[0] = s[0] + a[i];
  assert(s[0] <= n);
}",
    );
}

#[test]
fn how_many_there_are() {
    check(
        "int a[1000];
int main(void) {
  int i, c = 0, d = 0;
  for (i = 0; i < 1000; i++) a[i] = __VERIFIER_nondet_int();
  for (i = 0; i < 1000; i++) if (a[i] > 0) c++;
  for (i = 0; i < 1000; i++) if (a[i] > 0) d++;
  assert(c == d);
}",
    );
}

/// The first element moves to the end; what joins all of them is the same.
fn rotated(operator: &str, last: &str) -> String {
    format!(
        "int joined(int x[100000]) {{
  long long r = x[0];
  for (int i = 1; i < 100000; i++) r = r {operator} x[i];
  return r;
}}
int main(void) {{
  int x[100000];
  for (int i = 0; i < 100000; i++) x[i] = __VERIFIER_nondet_int();
  int before = joined(x), first = x[0];
  for (int i = 0; i < 99999; i++) x[i] = x[i + 1];
  x[99999] = {last};
  assert(joined(x) == before);
}}"
    )
}

#[test]
fn what_joins_elements_in_another_order() {
    check(&rotated("^", "first"));
    check(&rotated("&", "first"));
    check_open(&rotated("^", "first + 1"));
    check_open(&rotated("&", "first + 1"));
}

/// Of products it is enough that they are the same where their factors are.
#[test]
fn products_that_are_stored() {
    let text = |stored: &str| {
        format!(
            "int a[100000], b[100000];
int main(void) {{
  for (int i = 0; i < 100000; i++) {{
    int x = __VERIFIER_nondet_int();
    a[i] = x;
    b[i] = {stored};
  }}
  for (int i = 0; i < 100000; i++) assert(b[i] == a[i] * a[i]);
}}"
        )
    };
    check(&text("x * x"));
    check_open(&text("x * (x + 1)"));
}

const STRINGS: &str = "typedef __SIZE_TYPE__ size_t;
size_t strlen(const char *);
char *strcpy(char *, const char *);
int strcmp(const char *, const char *);
void *memset(void *, int, size_t);
void *memcpy(void *, const void *, size_t);
int memcmp(const void *, const void *, size_t);
void *malloc(size_t);
";

/// Functions of the library are known by what they do, however long that takes them.
#[test]
fn strings_of_any_length() {
    let text = |then: &str| {
        format!(
            "{STRINGS}char s[1000000], t[1000000];
int main(void) {{
  for (int i = 0; i < 999999; i++) s[i] = __VERIFIER_nondet_int();
  s[999999] = 0;
  {then}
}}"
        )
    };
    check(&text(
        "unsigned n = strlen(s); assert(n < 1000000); assert(s[n] == 0);
         for (unsigned i = 0; i < n; i++) assert(s[i] != 0);",
    ));
    check(&text("strcpy(t, s); assert(strcmp(t, s) == 0);"));
    check_open(&text("unsigned n = strlen(s); assert(n < 999999);"));
    check_open(&text("strcpy(t, s); s[7] = 1; assert(strcmp(t, s) == 0);"));
}

#[test]
fn memory_of_any_length() {
    let text = |filled: &str| {
        format!(
            "{STRINGS}int main(void) {{
  unsigned n = __VERIFIER_nondet_uint();
  if (n > 100000000) return 0;
  int *a = malloc(n * sizeof *a);
  memset(a, 0, {filled} * sizeof *a);
  for (unsigned i = 0; i < n; i++) assert(a[i] == 0);
}}"
        )
    };
    check(&text("n"));
    check_open(&text("(n / 2)"));
    let text = |from: &str| {
        format!(
            "{STRINGS}int a[100000], b[100000];
int main(void) {{
  for (int i = 0; i < 100000; i++) a[i] = i;
  memcpy(b, {from}, 99999 * sizeof *a);
  for (int i = 0; i < 99999; i++) assert(b[i] == i);
}}"
        )
    };
    check(&text("a"));
    check_open(&text("a + 1"));
}

/// A word is compared with a wider one, and that with literals.
#[test]
fn literals_of_another_width() {
    check(&format!(
        "{STRINGS}char s[1000000];
int main(void) {{
  unsigned n = __VERIFIER_nondet_uint();
  if (n >= 1000000) return 0;
  for (unsigned long k = 0; k < n; k++) s[k] = 'x';
  s[n] = 0;
  assert(strlen(s) == n);
}}"
    ));
}

/// Changes of a claim.
type Changes<'a> = dyn Fn(&Invariants) -> Vec<Invariants> + 'a;

/// Every text of a claim with one of its words in the place of another, where that changes it.
fn with(claim: &Invariants, old: &str, new: &str) -> Vec<Invariants> {
    let mut found = Vec::new();
    for (&at, text) in &claim.at {
        if text.contains(old) {
            let mut mutant = claim.clone();
            mutant.at.insert(at, text.replace(old, new));
            found.push(mutant);
        }
    }
    found
}

const FILLED: &str = "int a[100000];
int main(void) {
  for (int i = 0; i < 100000; i++) a[i] = 42;
  for (int x = 0; x < 100000; x++) assert(a[x] == 42);
}";

/// Ranges that are wider, facts about the next element, nothing where something is needed: the
/// gate refuses all of it. A fact may say the same in other words, so some of each kind is enough.
#[test]
fn changed_facts_about_elements_are_refused() {
    let kinds: [(&str, &Changes<'_>); 4] = [
        ("wider ranges", &|claim| {
            with(claim, "bvslt |any0#|", "bvsle |any0#|")
        }),
        ("other elements", &|claim| {
            let next = "(bvadd #x0000000000000004 (bvmul |any0#| #x0000000000000004))";
            with(claim, "(bvmul |any0#| #x0000000000000004)", next)
        }),
        ("another value", &|claim| {
            with(claim, "#x0000002a", "#x0000002b")
        }),
        ("nothing", &|claim| {
            let mut found = Vec::new();
            for (at, text) in &claim.at {
                if text.contains("|any0#|") {
                    let mut mutant = claim.clone();
                    mutant.at.insert(*at, "true".to_owned());
                    found.push(mutant);
                }
            }
            found
        }),
    ];
    for (kind, changed) in kinds {
        let (found, accepted) = proved(FILLED, changed);
        assert_eq!(found, 1, "{kind}");
        assert!(accepted.contains(&false), "{kind}: {accepted:?}");
    }
}

/// Sums of something else, added in another way, of elements that lie elsewhere, or without what
/// one more element adds.
#[test]
fn changed_sums_are_refused() {
    let of_first = |claim: &Invariants, change: &dyn Fn(&mut Invariants)| {
        let mut mutant = claim.clone();
        change(&mut mutant);
        vec![mutant]
    };
    type Change = dyn Fn(&mut Invariants);
    let changes: [(&str, &Change); 6] = [
        ("summand", &|claim| {
            claim.folds[0].summand = claim.folds[0]
                .summand
                .replace("|element0#|", "(bvnot |element0#|)");
        }),
        ("adding", &|claim| claim.folds[0].adding = Adding::Xor),
        ("stride", &|claim| claim.folds[0].stride = 8),
        ("stride of three", &|claim| claim.folds[0].stride = 3),
        ("steps", &|claim| claim.folds[0].steps.clear()),
        ("base", &|claim| {
            claim.folds[0].base = format!("(bvadd {} #x0000000000000004)", claim.folds[0].base);
        }),
    ];
    for (kind, change) in changes {
        let (found, accepted) = proved(SUMS, &|claim| of_first(claim, change));
        assert_eq!((found, accepted), (1, vec![false]), "{kind}");
    }
}

/// What a claim calls by its name is there, and sums are used as sums only.
#[test]
fn folds_that_are_none_are_refused() {
    let changed = |claim: &Invariants| {
        let mut without = claim.clone();
        without.folds.clear();
        let mut bits = claim.clone();
        bits.folds[0].bits = 16;
        let mut of_state = claim.clone();
        of_state.folds[0].summand = of_state.folds[0].memory.clone();
        let mut whole = claim.clone();
        for text in whole.at.values_mut() {
            *text = "(= |sums0#| |sums0#|)".to_owned();
        }
        vec![without, bits, of_state, whole]
    };
    let (_, accepted) = proved(SUMS, &changed);
    assert_eq!(accepted, [false; 4]);
}

/// A chain of copies: by the time the last one is compared with the first one, those between them
/// are dead, so the last one has to be known as a copy of the first.
#[test]
fn a_chain_of_copies() {
    let copies = |broken: &str| {
        format!(
            "int main(void) {{
               int a[100000], b[100000], c[100000], d[100000];
               for (int i = 0; i < 100000; i++) a[i] = __VERIFIER_nondet_int();
               for (int i = 0; i < 100000; i++) b[i] = a[i];
               for (int i = 0; i < 100000; i++) c[i] = b[i];
               {broken}
               for (int i = 0; i < 100000; i++) d[i] = c[i];
               for (int i = 0; i < 100000; i++) assert(d[i] == a[i]);
             }}"
        )
    };
    check(&copies(""));
    check_open(&copies("c[7]++;"));
}

/// What is written with one index is read with another one that moves beside it.
#[test]
fn two_indices_that_move_together() {
    let copy = |from: &str| {
        format!(
            "int a[100000], b[100000];
             int main(void) {{
               int n = __VERIFIER_nondet_int();
               if (n > 100000) return 0;
               for (int k = 0; k < 100000; k++) b[k] = __VERIFIER_nondet_int();
               int i = 1, j = 0;
               while (i < n) {{ a[j] = b[i]; i++; j++; }}
               i = {from}; j = 0;
               while (i < n) {{ assert(a[j] == b[i]); i++; j++; }}
             }}"
        )
    };
    check(&copy("1"));
    check_open(&copy("2"));
}

/// Two elements in each round, in an array whose size is even; that it is even was asked before it
/// had a name.
#[test]
fn an_array_that_is_filled_in_tiles() {
    let tiles = |last: &str| {
        format!(
            "int a[100000];
             int main(void) {{
               int n = __VERIFIER_nondet_int();
               if (n < 2 || n > 100000 || n % 2 != 0) return 0;
               for (int i = 1; i <= n / 2; i++) {{ a[2 * i - 2] = 4; a[2 * i - {last}] = 5; }}
               for (int i = 0; i < n; i++) assert(a[i] == 4 || a[i] == 5);
             }}"
        )
    };
    check(&tiles("1"));
    check_open(&tiles("2"));
}

/// The elements of a tile are told apart by their places in it.
#[test]
fn the_elements_of_tiles_are_told_apart() {
    let tiles = |more: &str| {
        format!(
            "int a[200000];
             int main(void) {{
               int n = __VERIFIER_nondet_int();
               if (n > 100000) return 0;
               for (long i = 0; i < n; i++) {{ a[2 * i] = i; a[2 * i + 1] = i + 5; }}
               for (long i = 0; i < n; i++) assert(a[2 * i + 1] == i + {more});
             }}"
        )
    };
    check(&tiles("5"));
    check_open(&tiles("4"));
}
