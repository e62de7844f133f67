//! Equations between products: what is proved, and what is not.

use hardbop_houdini::Houdini;
use hardbop_test_support::answers;

/// What is said of each check of a program.
fn said(text: &str) -> Vec<String> {
    let head = "void reach_error(void); int __VERIFIER_nondet_int(void);
        unsigned __VERIFIER_nondet_uint(void);
        #define assert(e) do { if (!(e)) reach_error(); } while (0)";
    answers::said(&Houdini::of_products(), &format!("{head}\n{text}"))
}

#[track_caller]
fn proved(text: &str) {
    let said = said(text);
    assert!(
        !said.is_empty() && said.iter().all(|word| word == "proved"),
        "{said:?}"
    );
}

#[track_caller]
fn open(text: &str) {
    let said = said(text);
    assert!(!said.iter().any(|word| word == "proved"), "{said:?}");
}

#[test]
fn sums_of_numbers() {
    let sum = |twice: &str| {
        format!(
            "int main(void) {{
               unsigned n = __VERIFIER_nondet_uint(), s = 0, i = 0;
               while (i < n) {{ i++; s += i; }}
               assert({twice} == n * (n + 1));
             }}"
        )
    };
    proved(&sum("2 * s"));
    open(&sum("2 * s + 2"));
}

#[test]
fn cubes_by_differences() {
    let cubes = |step: u32| {
        format!(
            "int main(void) {{
               int a = __VERIFIER_nondet_int(), n = 0, x = 0, y = 1, z = 6;
               while (n <= a) {{ n = n + 1; x = x + y; y = y + z; z = z + {step}; }}
               assert(x == n * n * n);
             }}"
        )
    };
    proved(&cubes(6));
    open(&cubes(7));
}

#[test]
fn products_by_doubling_and_halving() {
    let product = |left: &str| {
        format!(
            "int main(void) {{
               unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
               unsigned x = a, y = b, z = 0;
               while (y != 0) {{
                 if (y % 2 == 1) {{ z += x; y--; }}
                 x = 2 * x; y = y {left};
               }}
               assert(z == a * b);
             }}"
        )
    };
    proved(&product("/ 2"));
    open(&product("/ 4"));
}

#[test]
fn greatest_common_divisors_with_their_factors() {
    proved(
        "int main(void) {
           int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
           if (x < 1 || y < 1) return 0;
           int a = x, b = y, p = 1, q = 0, r = 0, s = 1;
           while (a != b) {
             if (a > b) { a = a - b; p = p - q; r = r - s; }
             else { b = b - a; q = q - p; s = s - r; }
           }
           assert(p * x + r * y == a);
           assert(p * s - r * q == 1);
         }",
    );
}

#[test]
fn geometric_sums() {
    proved(
        "int main(void) {
           unsigned z = __VERIFIER_nondet_uint(), k = __VERIFIER_nondet_uint(), x = 1, y = z, c = 1;
           while (c < k) { c++; x = x * z + 1; y = y * z; }
           assert(x * (z - 1) + 1 == y);
         }",
    );
}

#[test]
fn quotients_with_bounds() {
    proved(
        "int main(void) {
           int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
           if (x < 0 || y < 1) return 0;
           long long q = 0, r = x;
           while (r >= y) { r = r - y; q = q + 1; }
           assert(x == q * y + r);
           assert(r >= 0 && r < y);
         }",
    );
}

#[test]
fn counters_that_are_widened() {
    let sum = |bound: &str| {
        format!(
            "int main(void) {{
               int n = __VERIFIER_nondet_int();
               if ({bound}) return 0;
               int i = 0; long long s = 0;
               while (i < n) {{ i = i + 1; s = s + i; }}
               assert(2 * s == (long long)n * (n + 1LL));
             }}"
        )
    };
    proved(&sum("n < 0"));
    open(&sum("n < -5"));
}

#[test]
fn loops_in_loops() {
    proved(
        "int main(void) {
           unsigned n = __VERIFIER_nondet_uint(), m = __VERIFIER_nondet_uint(), i, j, c = 0;
           for (i = 0; i < n; i++) for (j = 0; j < m; j++) c++;
           assert(c == n * m);
         }",
    );
}

#[test]
fn programs_that_multiply_nothing_are_declined() {
    open("int main(void) { int i = 0; while (i < 5) i++; assert(i == 5); }");
}
