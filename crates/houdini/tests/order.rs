//! Facts about two elements of one array: that it is sorted, that its elements differ; claims about
//! them that are not so. Loops that begin with the last element, and values that depend on
//! conditions.

use hardbop_engine::claim::Invariants;
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

/// Numbers that nobody knows, and a loop that looks at all of them in order.
fn sorting(sort: &str, holds: &str) -> String {
    format!(
        "#define N 1000
int main(void) {{
  int a[N];
  for (int i = 0; i < N; i++) a[i] = __VERIFIER_nondet_int();
  {sort}
  for (int x = 0; x < N; x++)
    for (int y = x + 1; y < N; y++) assert({holds});
}}"
    )
}

const SELECTION: &str = "for (int i = 0; i < N; i++) {
    int m = i;
    for (int k = i + 1; k < N; k++) if (a[k] < a[m]) m = k;
    int t = a[i]; a[i] = a[m]; a[m] = t;
  }";

#[test]
fn what_is_selected_is_sorted() {
    check(&sorting(SELECTION, "a[x] <= a[y]"));
}

/// The last element is never looked at.
#[test]
fn what_is_not_looked_at_is_not_sorted() {
    let short = SELECTION.replace("k < N", "k < N - 1");
    check_open(&sorting(&short, "a[x] <= a[y]"));
}

/// A set takes what it does not have.
fn set(condition: &str) -> String {
    format!(
        "#define N 1000
int s[N], n = 0;
int has(int x) {{ for (int i = 0; i < n; i++) if (s[i] == x) return 1; return 0; }}
int main(void) {{
  for (int i = 0; i < N; i++) {{
    int x = __VERIFIER_nondet_int();
    if ({condition} && n < N) s[n++] = x;
  }}
  for (int x = 0; x < n; x++)
    for (int y = x + 1; y < n; y++) assert(s[x] != s[y]);
}}"
    )
}

#[test]
fn elements_of_a_set_differ() {
    check(&set("!has(x)"));
    check_open(&set("(x == 7 || !has(x))"));
}

/// It has as many elements as a variable says, and each comes from the one before.
#[test]
fn each_is_one_more_than_the_one_before() {
    let text = |last: &str| {
        format!(
            "int main(void) {{
  int n = __VERIFIER_nondet_int();
  if (n <= 1 || n > 10000) return 0;
  int a[n];
  a[0] = 5;
  for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1;
  assert(a[n - 1] == {last});
}}"
        )
    };
    check(&text("n + 4"));
    check_open(&text("n + 5"));
}

#[test]
fn what_begins_with_the_last() {
    let text = |from: &str| {
        format!(
            "int a[1000];
int main(void) {{
  int n = __VERIFIER_nondet_int();
  if (n <= 1 || n > 1000) return 0;
  for (int i = {from}; i >= 0; i--) a[i] = n - i;
  for (int i = n - 1; i >= 0; i--) assert(a[i] == n - i);
}}"
        )
    };
    check(&text("n - 1"));
    check_open(&text("n - 2"));
}

/// Bytes count without a sign.
#[test]
fn as_many_as_a_byte_says() {
    let text = |end: &str| {
        format!(
            "unsigned char a[256];
int main(void) {{
  unsigned char n = __VERIFIER_nondet_uint();
  for (unsigned char i = 0; i < n; i++) a[i] = 7;
  for (unsigned char i = 0; i < {end}; i++) assert(a[i] == 7);
}}"
        )
    };
    check(&text("n"));
    check_open(&text("n / 2 + 100"));
}

#[test]
fn what_is_written_depends_on_the_index() {
    let text = |odd: &str| {
        format!(
            "int a[1000];
int main(void) {{
  for (int i = 0; i < 1000; i++) if (i % 2 == 0) a[i] = 0; else a[i] = {odd};
  for (int i = 1; i < 1000; i += 2) assert(a[i] == 1);
}}"
        )
    };
    check(&text("1"));
    check_open(&text("i == 777 ? 2 : 1"));
}

/// That elements differ is refused of more elements than there are, and where a part of it is
/// missing.
#[test]
fn changed_facts_about_two_elements_are_refused() {
    let (found, accepted) = proved(&set("!has(x)"), &|claim| {
        let wider = with(claim, "(bvslt |any0#| |any1#|)", "(bvsle |any0#| |any1#|)");
        let shifted = with(
            claim,
            "(bvmul |any1#| ",
            "(bvmul (bvadd #x0000000000000001 |any1#|) ",
        );
        let nothing = claim.at.iter().filter(|(_, text)| text.contains("|any1#|"));
        let nothing = nothing.map(|(at, _)| {
            let mut mutant = claim.clone();
            mutant.at.insert(*at, "true".to_owned());
            mutant
        });
        let mut alone = claim.clone();
        alone.instances.clear();
        let kinds = [wider, shifted, nothing.collect(), vec![alone]];
        assert!(kinds.iter().all(|kind| !kind.is_empty()), "{claim:?}");
        kinds.concat()
    });
    assert_eq!(found, 1);
    assert!(!accepted.contains(&true), "{accepted:?}");
}
