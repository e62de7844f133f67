//! The papers' examples.

mod common;

use common::{abstracted, code, reachable};
use expect_test::{Expect, expect};
use hardbop_budget::Budget;
use hardbop_c2bp::{Arithmetic, CubeBound, Dnf, Options, Prover, Search};
use hardbop_logic::{Limits, Sort, TermId};

fn integers() -> Options {
    Options {
        arithmetic: Arithmetic::Integers,
        ..Options::default()
    }
}

#[track_caller]
fn check(c: &str, predicates: &str, options: &Options, expected: Expect) {
    let text = abstracted(c, predicates, options).text;
    common::loaded(&text);
    expected.assert_eq(&code(&text));
}

/// Whether one of the program's errors can be reached.
fn fails(text: &str) -> bool {
    reachable(text)
        .iter()
        .any(|label| label.starts_with("ERROR"))
}

fn prover<'s>() -> Prover<'s> {
    let bound = CubeBound::Length(3);
    Prover::new(
        bound,
        Search::Guided,
        Limits::default(),
        Budget::unlimited(),
    )
}

/// F(goal) with the predicates named b1, b2, ...
fn strengthened(
    prover: &mut Prover<'_>,
    goal: TermId,
    predicates: &[TermId],
    first: u32,
) -> String {
    let found: Dnf = prover.implying(&[], goal, predicates).expect("no limits");
    if found.is_never() {
        return "false".to_owned();
    }
    if found.is_always() {
        return "true".to_owned();
    }
    let cubes: Vec<String> = found
        .cubes
        .iter()
        .map(|cube| {
            let literals: Vec<String> = cube
                .literals()
                .iter()
                .map(|&(at, sign)| format!("{}b{}", if sign { "" } else { "!" }, at + first))
                .collect();
            literals.join(" & ")
        })
        .collect();
    cubes.join(" | ")
}

/// TR 2000-14, section 4.1: the table for E = {x = 1, x = 2, x <= 3} and x := x + 1. The paper's
/// integers are unbounded; on a machine, x <= 3 also comes from the largest number.
#[test]
fn the_table_of_section_4_1() {
    let table = |sort: Sort| {
        let mut prover = prover();
        let terms = &mut prover.terms;
        let x = terms.constant("x", sort);
        let number = |terms: &mut hardbop_logic::Terms, value: i128| match sort {
            Sort::Int => terms.int(value),
            _ => terms.bv(value, 32),
        };
        let one = number(terms, 1);
        let next = match sort {
            Sort::Int => terms.int_add(&[x, one]),
            _ => terms.bv_add(x, one),
        };
        let predicates = |terms: &mut hardbop_logic::Terms, of: TermId| {
            let (one, two, three) = (number(terms, 1), number(terms, 2), number(terms, 3));
            let small = match sort {
                Sort::Int => terms.int_le(of, three),
                _ => terms.bv_sle(of, three),
            };
            [terms.eq(of, one), terms.eq(of, two), small]
        };
        let before = predicates(terms, x);
        let after = predicates(terms, next);
        let mut out = String::new();
        for (name, goal) in ["x = 1", "x = 2", "x <= 3"].into_iter().zip(after) {
            let negation = prover.terms.not(goal);
            let positive = strengthened(&mut prover, goal, &before, 1);
            let negative = strengthened(&mut prover, negation, &before, 1);
            out.push_str(&format!("{name}: {positive}; not: {negative}\n"));
        }
        out
    };
    expect![[r#"
        x = 1: false; not: b1 | b2 | !b3
        x = 2: b1; not: !b1 | b2 | !b3
        x <= 3: b1 | b2; not: !b3
    "#]]
    .assert_eq(&table(Sort::Int));
    expect![[r#"
        x = 1: false; not: b1 | b2 | !b3
        x = 2: b1; not: !b1 | b2 | !b3
        x <= 3: b1 | b2; not: false
    "#]]
    .assert_eq(&table(Sort::BitVec(32)));
}

/// The same statement in a program.
#[test]
fn an_increment() {
    let c = "int x; int main(void) { x = x + 1; return x; }";
    check(
        c,
        "global: x == 1, x == 2, x <= 3",
        &integers(),
        expect![[r#"
        decl {x == 1};
        decl {x == 2};
        decl {x <= 3};
        enforce (!{x == 1} | !{x == 2}) & (!{x == 1} | {x <= 3}) & (!{x == 2} | {x <= 3});
        void main() begin
          {x == 1}, {x == 2}, {x <= 3} := F, F, T;
          {x == 1}, {x == 2}, {x <= 3} :=
            choose(F, {x == 1} | {x == 2} | !{x <= 3}),
            {x == 1},
            choose({x == 1} | {x == 2}, !{x <= 3});
          skip;
          return;
        end
    "#]],
    );
    check(
        c,
        "global: x == 1, x == 2, x <= 3",
        &Options::default(),
        expect![[r#"
        decl {x == 1};
        decl {x == 2};
        decl {x <= 3};
        enforce (!{x == 1} | !{x == 2}) & (!{x == 1} | {x <= 3}) & (!{x == 2} | {x <= 3});
        void main() begin
          {x == 1}, {x == 2}, {x <= 3} := F, F, T;
          {x == 1}, {x == 2}, {x <= 3} :=
            choose(F, {x == 1} | {x == 2} | !{x <= 3}),
            {x == 1},
            choose({x == 1} | {x == 2}, F);
          skip;
          return;
        end
    "#]],
    );
}

/// TR 2000-14, section 4.1: assert(y < z) with b4 = (x < y), b5 = (x < z), b6 = (y < z).
#[test]
fn the_assert_of_section_4_1() {
    for sort in [Sort::Int, Sort::BitVec(32)] {
        let mut prover = prover();
        let terms = &mut prover.terms;
        let [x, y, z] = ["x", "y", "z"].map(|name| terms.constant(name, sort));
        let mut less = |a, b| match sort {
            Sort::Int => terms.int_lt(a, b),
            _ => terms.bv_slt(a, b),
        };
        let predicates = [less(x, y), less(x, z), less(y, z)];
        let asserted = predicates[2];
        let negation = prover.terms.not(asserted);
        assert_eq!(
            strengthened(&mut prover, negation, &predicates, 4),
            "!b6 | b4 & !b5"
        );
        let goals: Vec<(TermId, TermId)> = predicates
            .iter()
            .map(|&e| {
                let not = prover.terms.not(e);
                (
                    prover.terms.implies(asserted, e),
                    prover.terms.implies(asserted, not),
                )
            })
            .collect();
        let found: Vec<(String, String)> = goals
            .into_iter()
            .map(|(a, b)| {
                let a = strengthened(&mut prover, a, &predicates, 4);
                (a, strengthened(&mut prover, b, &predicates, 4))
            })
            .collect();
        // The paper leaves out cubes that the failing assertion excludes: those with !b6.
        assert_eq!(
            found[0],
            ("b4 | !b6".to_owned(), "!b4 | !b5 | !b6".to_owned())
        );
        assert_eq!(
            found[1],
            ("b4 | b5 | !b6".to_owned(), "!b5 | !b6".to_owned())
        );
        assert_eq!(found[2].0, "true");
    }
}

/// The assertion in a program: it can fail, and after it the predicates agree.
#[test]
fn an_assert() {
    let c = "
        extern void __VERIFIER_assume(int);
        extern void reach_error(void);
        void main_(int x, int y, int z) {
            __VERIFIER_assume(y < z);
            if (x < y && !(x < z)) reach_error();
        }
        extern int nondet(void);
        int main(void) { main_(nondet(), nondet(), nondet()); return 0; }
    ";
    let text = abstracted(c, "main_: x < y, x < z, y < z", &Options::default()).text;
    assert!(!fails(&text), "{text}");
    // b4 & !b5 already excludes y < z.
    let text = abstracted(c, "main_: x < y, x < z", &Options::default()).text;
    assert!(!fails(&text), "{text}");
    let text = abstracted(c, "main_: x < y", &Options::default()).text;
    assert!(fails(&text), "{text}");
}

/// C2bp, section 4.3: `*p = *p + x` in `foo`, and section 4.4: the conditional `*p <= x`.
#[test]
fn an_assignment_through_a_pointer_and_a_conditional() {
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
    check(
        c,
        "foo: *p <= 0, x == 0, r == 0",
        &Options::default(),
        expect![[r#"
        bool foo({*p <= 0}, {x == 0}) begin
          decl {r == 0};
          if (*) then
            assume({*p <= 0} | !{x == 0});
            {*p <= 0} := choose({x == 0}, F);
          else
            assume(!{*p <= 0} | !{x == 0});
            {*p <= 0} := choose({*p <= 0} & {x == 0}, !{*p <= 0} & {x == 0});
          fi;
          {r == 0} := T;
          skip;
          return {*p <= 0};
        end
        void main() begin
          decl {foo: *p <= 0};
          {foo: *p <= 0} := foo(*, *);
          return;
        end
    "#]],
    );
}

/// The slides: k = 0, p = q and k = k + 1 with the predicates k = 0 and p < q.
#[test]
fn the_table_of_the_slides() {
    let c = "
        int main(void) {
            int k, p, q;
            k = 0;
            p = q;
            k = k + 1;
            return 0;
        }
    ";
    check(
        c,
        "main: k == 0, p < q",
        &Options::default(),
        expect![[r#"
        void main() begin
          decl {k == 0};
          decl {p < q};
          {k == 0} := T;
          {p < q} := F;
          {k == 0} := choose(F, {k == 0});
          skip;
          return;
        end
    "#]],
    );
}

const FIGURE_1: &str = "
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

/// TR 2000-14, Figure 1: in B1 and B2 line 10 can be reached, in B3 it cannot.
#[test]
fn figure_1() {
    let skeleton = abstracted(FIGURE_1, "", &Options::default()).text;
    assert!(fails(&skeleton));
    let b2 = abstracted(FIGURE_1, "global: numUnits == 0", &Options::default()).text;
    assert!(fails(&b2));
    let b3 = "global: numUnits == 0\ngetUnit: canEnter";
    assert!(!fails(&abstracted(FIGURE_1, b3, &Options::default()).text));
    check(
        FIGURE_1,
        b3,
        &Options::default(),
        expect![[r#"
        decl {numUnits == 0};
        void NewUnit() begin
          return;
        end
        void gotUnit() begin
          return;
        end
        void getUnit() begin
          decl {canEnter};
          {canEnter} := F;
          if (*) then
            assume({numUnits == 0});
            if (*) then
              skip;
              NewUnit();
              {numUnits == 0} := F;
              {canEnter} := T;
            else
              skip;
            fi;
          else
            assume(!{numUnits == 0});
            {canEnter} := T;
          fi;
          if (*) then
            assume({canEnter});
            if (*) then
              assume({numUnits == 0});
            ERROR_1:
              assume(F);
            else
              assume(!{numUnits == 0});
            fi;
            gotUnit();
          else
            assume(!{canEnter});
          fi;
          return;
        end
        void main() begin
          {numUnits == 0} := T;
          nondet();
          {numUnits == 0} := *;
          nondet();
          getUnit();
          skip;
          return;
        end
        void nondet() begin
          skip;
          return;
        end
    "#]],
    );
}

/// TR 2000-14, Figure 6: a path through two calls that exclude each other. The paper's symbolic
/// constants are the globals' values, which do not change here.
#[test]
fn figure_6() {
    let c = "
        extern int nondet(void);
        extern void __VERIFIER_assume(int);
        extern void reach_error(void);
        int x, y;
        void B(int b1, int b2) {
            __VERIFIER_assume(b1 < b2);
        }
        int main(void) {
            x = nondet();
            y = nondet();
            B(x, y);
            B(y, x);
            reach_error();
            return 0;
        }
    ";
    let predicates = "global: x < y, y < x\nB: b1 == x, b1 == y, b2 == y, b2 == x";
    assert!(fails(
        &abstracted(c, "global: x < y, y < x", &Options::default()).text
    ));
    assert!(!fails(&abstracted(c, predicates, &Options::default()).text));
    check(
        c,
        predicates,
        &Options::default(),
        expect![[r#"
        decl {x < y};
        decl {y < x};
        enforce !{x < y} | !{y < x};
        void B({b1 == x}, {b1 == y}, {b2 == y}, {b2 == x}) begin
          enforce (!{x < y} | !{b1 == x} | !{b1 == y}) & (!{x < y} | !{b2 == y} | !{b2 == x}) & (!{y < x} | !{b1 == x} | !{b1 == y}) & (!{y < x} | !{b2 == y} | !{b2 == x});
          if (*) then
            assume((!{b1 == x} | !{b2 == x}) & (!{b1 == y} | !{b2 == y}) & ({x < y} | !{b1 == x} | !{b2 == y}) & (!{x < y} | !{b1 == y} | !{b2 == x}) & ({y < x} | !{b1 == y} | !{b2 == x}) & (!{y < x} | !{b1 == x} | !{b2 == y}));
          else
            assume((!{x < y} | !{b1 == x} | !{b2 == y}) & (!{y < x} | !{b1 == y} | !{b2 == x}));
            assume(F);
          fi;
          return;
        end
        void main() begin
          {x < y}, {y < x} := F, F;
          nondet();
          {x < y}, {y < x} := *, *;
          nondet();
          {x < y}, {y < x} := *, *;
          B(T, choose(!{x < y} & !{y < x}, {x < y} | {y < x}), T, choose(!{x < y} & !{y < x}, {x < y} | {y < x}));
          B(choose(!{x < y} & !{y < x}, {x < y} | {y < x}), T, choose(!{x < y} & !{y < x}, {x < y} | {y < x}), T);
        ERROR_1:
          assume(F);
        end
        void nondet() begin
          skip;
          return;
        end
    "#]],
    );
}

/// A summary by `old` and `$return`: what a call gives back is known to the caller.
#[test]
fn returned_values() {
    let c = "
        extern void reach_error(void);
        int increment(int n) {
            int m = n + 1;
            return m;
        }
        int main(void) {
            int a = 5, b;
            b = increment(a);
            if (b != 6) reach_error();
            return 0;
        }
    ";
    let predicates =
        "main: a == 5, b == 6\nincrement: n == old(n), m == old(n) + 1, $return == old(n) + 1";
    let text = abstracted(c, predicates, &Options::default()).text;
    assert!(!fails(&text), "{text}");
}
