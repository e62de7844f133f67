//! Horn clauses: loops that are safe, loops that are not, and what the answers say.

use std::time::{Duration, Instant};

use expect_test::expect;
use hardbop_budget::{Budget, Stopped};
use hardbop_logic::{Horn, HornAnswer, Limits, Sort, TermId, Terms, Unknown};

/// `x = 0; while (x < 10) x += step; assert(x != 10 + off)` as clauses over integers or bits.
fn counting(terms: &mut Terms, sort: Sort, step: i128, off: i128) -> (Horn, hardbop_logic::FuncId) {
    let inv = terms.function("inv", &[sort], Sort::Bool);
    let x = terms.constant("x", sort);
    let mut number = |value: i128| match sort {
        Sort::BitVec(width) => terms.bv(value, width),
        _ => terms.int(value),
    };
    let [zero, ten, step, bad] = [0, 10, step, 10 + off].map(&mut number);
    let (less, next): (TermId, TermId) = match sort {
        Sort::BitVec(_) => (terms.bv_ult(x, ten), terms.bv_add(x, step)),
        _ => (terms.int_lt(x, ten), terms.int_add(&[x, step])),
    };
    let [at_zero, at_x, at_next] = [zero, x, next].map(|arg| terms.apply(inv, &[arg]));
    let done = terms.not(less);
    let wrong = terms.eq(x, bad);
    let mut system = Horn::new();
    system.relation(terms, inv);
    system.rule(&[], at_zero);
    system.rule(&[at_x, less], at_next);
    system.query(&[at_x, done, wrong]);
    (system, inv)
}

#[test]
fn a_safe_loop_over_integers_has_an_invariant() {
    let mut terms = Terms::new();
    let (system, inv) = counting(&mut terms, Sort::Int, 1, 1);
    let answer = system.solve(&mut terms, Limits::default(), &Budget::unlimited());
    let HornAnswer::Unreachable(solution) = answer else {
        panic!("{answer:?}")
    };
    let (_, formula) = solution.get(inv).unwrap();
    expect!["inv#0 <= 10"].assert_eq(&terms.infix(formula).to_string());
    let four = terms.int(4);
    let at_four = solution.at(&mut terms, inv, &[four]).unwrap();
    expect!["true"].assert_eq(&terms.infix(at_four).to_string());
}

#[test]
fn a_safe_loop_over_bits_has_an_invariant() {
    let mut terms = Terms::new();
    let (system, inv) = counting(&mut terms, Sort::BitVec(8), 1, 1);
    let answer = system.solve(&mut terms, Limits::default(), &Budget::unlimited());
    let HornAnswer::Unreachable(solution) = answer else {
        panic!("{answer:?}")
    };
    assert!(solution.get(inv).is_some());
}

#[test]
fn an_unsafe_loop_has_a_derivation() {
    for sort in [Sort::Int, Sort::BitVec(8)] {
        let mut terms = Terms::new();
        let (system, inv) = counting(&mut terms, sort, 3, 2);
        let answer = system.solve(&mut terms, Limits::default(), &Budget::unlimited());
        let HornAnswer::Reachable { facts } = answer else {
            panic!("{answer:?}")
        };
        let mut values: Vec<String> = facts
            .iter()
            .filter(|(relation, _)| *relation == inv)
            .map(|(_, args)| args[0].to_string())
            .collect();
        values.sort_by_key(|value| value.parse::<i64>().unwrap());
        expect!["0 3 6 9 12"].assert_eq(&values.join(" "));
    }
}

#[test]
fn two_relations_and_recursion() {
    // f(n) = n <= 0 ? 0 : f(n - 1) + 1; assert(f(n) >= 0)
    let mut terms = Terms::new();
    let f = terms.function("f", &[Sort::Int, Sort::Int], Sort::Bool);
    let main = terms.function("main", &[Sort::Int], Sort::Bool);
    let [n, r] = ["n", "r"].map(|name| terms.constant(name, Sort::Int));
    let [zero, one] = [0, 1].map(|value| terms.int(value));
    let base = terms.int_le(n, zero);
    let step = terms.not(base);
    let before = terms.int_sub(n, one);
    let after = terms.int_add(&[r, one]);
    let f_zero = terms.apply(f, &[n, zero]);
    let f_before = terms.apply(f, &[before, r]);
    let f_after = terms.apply(f, &[n, after]);
    let f_result = terms.apply(f, &[n, r]);
    let main_result = terms.apply(main, &[r]);
    let negative = terms.int_lt(r, zero);
    let mut system = Horn::new();
    system.relation(&terms, f);
    system.relation(&terms, main);
    system.rule(&[base], f_zero);
    system.rule(&[step, f_before], f_after);
    system.rule(&[f_result], main_result);
    system.query(&[main_result, negative]);
    let answer = system.solve(&mut terms, Limits::default(), &Budget::unlimited());
    let HornAnswer::Unreachable(solution) = answer else {
        panic!("{answer:?}")
    };
    let (_, formula) = solution.get(main).unwrap();
    expect!["main#0 >= 0"].assert_eq(&terms.infix(formula).to_string());
}

#[test]
fn the_budget_ends_a_search_without_end() {
    // x = y = 1; loop { (x, y) = (x + y, x) }; assert(x * x - x * y - y * y is not 7)
    let mut terms = Terms::new();
    let inv = terms.function("inv", &[Sort::Int, Sort::Int], Sort::Bool);
    let [x, y] = ["x", "y"].map(|name| terms.constant(name, Sort::Int));
    let one = terms.int(1);
    let sum = terms.int_add(&[x, y]);
    let [xx, xy, yy] = [[x, x], [x, y], [y, y]].map(|pair| terms.int_mul(&pair));
    let rest = terms.int_add(&[xy, yy]);
    let form = terms.int_sub(xx, rest);
    let seven = terms.int(7);
    let wrong = terms.eq(form, seven);
    let start = terms.apply(inv, &[one, one]);
    let here = terms.apply(inv, &[x, y]);
    let next = terms.apply(inv, &[sum, x]);
    let mut system = Horn::new();
    system.relation(&terms, inv);
    system.rule(&[], start);
    system.rule(&[here], next);
    system.query(&[here, wrong]);
    let begin = Instant::now();
    let budget = Budget::unlimited().with_time(Duration::from_millis(300));
    let answer = system.solve(&mut terms, Limits::default(), &budget);
    assert!(
        matches!(
            answer,
            HornAnswer::Unknown(Unknown::Stopped(Stopped::Time) | Unknown::GaveUp(_))
        ),
        "{answer:?}"
    );
    assert!(
        begin.elapsed() < Duration::from_secs(60),
        "took {:?}",
        begin.elapsed()
    );
}
