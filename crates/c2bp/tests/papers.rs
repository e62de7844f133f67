//! The papers' examples.

mod common;

use common::{abstracted, code, reachable};
use expect_test::{Expect, expect};
use hardbop_c2bp::{Arithmetic, CubeBound, Options};

fn integers() -> Options {
    Options { arithmetic: Arithmetic::Integers, ..Options::default() }
}

fn check(c: &str, predicates: &str, options: &Options, expected: Expect) {
    let text = abstracted(c, predicates, options).text;
    common::loaded(&text);
    expected.assert_eq(&code(&text));
}

/// C2bp, section 4.3: `*p = *p + x` in `foo`, and section 4.4: the conditional `*p <= x`.
#[test]
fn assignment_through_a_pointer_and_a_conditional() {
    let c = "
        int foo(int *p, int x) {
            int r;
            if (*p <= x)
                *p = x;
            else
                *p = *p + x;
            r = 0;
            return r;
        }
        int y;
        int main(void) { return foo(&y, y); }
    ";
    check(c, "foo: *p <= 0, x == 0, r == 0", &integers(), expect![[r#""#]]);
    let _ = CubeBound::Exact;
}

/// TR 2000-14, Figure 1.
#[test]
fn figure_1() {
    let c = "
        int numUnits, level;
        void NewUnit(void) {}
        void gotUnit(void) {}
        extern void reach_error(void);
        void getUnit(void) {
            int canEnter = 0;
            if (numUnits == 0) {
                if (level > 10) {
                    NewUnit();
                    numUnits = 1;
                    canEnter = 1;
                }
            } else
                canEnter = 1;
            if (canEnter) {
                if (numUnits == 0)
                    reach_error();
                else
                    gotUnit();
            }
        }
        extern int nondet(void);
        int main(void) { numUnits = nondet(); level = nondet(); getUnit(); return 0; }
    ";
    let b2 = abstracted(c, "global: numUnits == 0", &Options::default()).text;
    println!("{b2}");
    assert_eq!(reachable(&b2), ["ERROR_1"]);
    let b3 = abstracted(c, "global: numUnits == 0\ngetUnit: canEnter", &Options::default()).text;
    assert!(reachable(&b3).is_empty(), "{b3}");
}
