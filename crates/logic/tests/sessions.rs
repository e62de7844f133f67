//! Questions to solvers: answers, models, cores, limits, cache, log.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use expect_test::expect;
use hardbop_budget::{Budget, Stopped};
use hardbop_logic::{
    Answer, Limits, Session, Sort, TermId, Terms, Unknown, Value, Z3Options, Z3Solver, eval,
};

fn session<'s>() -> Session<'s> {
    Session::new(
        Box::new(Z3Solver::new(Z3Options::default())),
        Budget::unlimited(),
    )
}

#[test]
fn a_model_gives_values_of_every_sort() {
    let mut terms = Terms::new();
    let byte = Sort::BitVec(8);
    let memory_sort = terms.array_sort(Sort::BitVec(32), byte);
    let memory = terms.constant("memory", memory_sort);
    let p = terms.constant("p", Sort::BitVec(32));
    let n = terms.constant("n", Sort::Int);
    let flag = terms.constant("flag", Sort::Bool);
    let f = terms.function("f", &[Sort::Int], Sort::Int);

    let address = terms.bv(0x1000, 32);
    let at_p = terms.select(memory, p);
    let seven = terms.bv(7, 8);
    let big = terms.int(-123_456_789_012_345_678_901_234_567_890);
    let fn_ = terms.apply(f, &[n]);
    let three = terms.int(3);
    let formulas = [
        terms.eq(p, address),
        terms.eq(at_p, seven),
        terms.eq(n, big),
        terms.eq(fn_, three),
        flag,
    ];
    let mut session = session();
    for formula in formulas {
        session.assert(&terms, formula);
    }
    assert_eq!(session.check(&terms, &[]), Answer::Sat);
    let model = session.model(&mut terms).unwrap();
    let show = |term: TermId| model.get(term).unwrap().to_string();
    expect!["4096"].assert_eq(&show(p));
    expect!["-123456789012345678901234567890"].assert_eq(&show(n));
    expect!["true"].assert_eq(&show(flag));
    for formula in formulas {
        assert_eq!(eval(&terms, formula, &model), Ok(Value::Bool(true)));
    }
}

#[test]
fn a_minimal_core_has_no_needless_assumption() {
    let mut terms = Terms::new();
    let x = terms.constant("x", Sort::BitVec(16));
    let y = terms.constant("y", Sort::BitVec(16));
    let z = terms.constant("z", Sort::BitVec(16));
    let limit = terms.bv(100, 16);
    let assumptions = [
        terms.bv_ult(x, y),
        terms.bv_ult(z, limit),
        terms.bv_ult(y, z),
        terms.bv_ult(limit, y),
        terms.bv_ult(x, limit),
    ];
    let mut session = session();
    assert_eq!(session.check(&terms, &assumptions), Answer::Unsat);
    let core = session.minimal_core(&terms);
    let text: Vec<String> = core
        .iter()
        .map(|&term| terms.infix(term).to_string())
        .collect();
    expect!["z <u 100, y <u z, y >u 100"].assert_eq(&text.join(", "));
}

#[test]
fn the_cache_answers_again_and_knows_levels() {
    let mut terms = Terms::new();
    let x = terms.constant("x", Sort::Int);
    let [one, two] = [1, 2].map(|value| terms.int(value));
    let [is_one, is_two] = [one, two].map(|value| terms.eq(x, value));
    let mut session = session();
    session.assert(&terms, is_one);
    assert_eq!(session.check(&terms, &[is_two]), Answer::Unsat);
    session.push();
    session.assert(&terms, is_two);
    assert_eq!(session.check(&terms, &[]), Answer::Unsat);
    session.pop();
    assert_eq!(session.check(&terms, &[]), Answer::Sat);
    assert_eq!(session.check(&terms, &[is_two, is_two]), Answer::Unsat);
    assert_eq!(session.core(), [is_two]);
    assert_eq!(session.check(&terms, &[]), Answer::Sat);
    // The model is there although the answer came from the cache.
    assert_eq!(
        session
            .model(&mut terms)
            .unwrap()
            .get(x)
            .unwrap()
            .to_string(),
        "1"
    );
    let statistics = session.statistics();
    assert_eq!((statistics.queries, statistics.hits), (5, 2));
    assert_eq!(
        (statistics.sat, statistics.unsat, statistics.unknown),
        (2, 2, 0)
    );
}

#[test]
fn the_log_stands_alone() {
    let mut terms = Terms::new();
    let x = terms.constant("x y|z", Sort::BitVec(8));
    let zero = terms.bv(0, 8);
    let square = terms.bv_mul(x, x);
    let positive = terms.bv_slt(zero, square);
    let same = terms.eq(square, x);
    let text = Rc::new(RefCell::new(String::new()));
    let mut session = session();
    let sink = Rc::clone(&text);
    session.set_log(Box::new(move |line| sink.borrow_mut().push_str(line)));
    session.assert(&terms, positive);
    assert_eq!(session.check(&terms, &[same]), Answer::Sat);
    expect![[r#"
        (set-logic ALL)
        (declare-fun |x y%7Cz| () (_ BitVec 8))
        (assert (bvslt #x00 (bvmul |x y%7Cz| |x y%7Cz|)))
        (assert (= |x y%7Cz| (bvmul |x y%7Cz| |x y%7Cz|))) ; assumed
        (check-sat)
        ; sat
    "#]]
    .assert_eq(&text.borrow());
}

/// Factoring a product of two primes keeps any solver busy for longer than a test may last.
fn hard(terms: &mut Terms) -> TermId {
    let width = 128;
    let [a, b] = ["a", "b"].map(|name| terms.constant(name, Sort::BitVec(width)));
    let product = terms.bv_mul(a, b);
    // 18446744073709551557 * 18446744073709551533, both prime.
    let value = terms.bv(
        18_446_744_073_709_551_557_u128.wrapping_mul(18_446_744_073_709_551_533) as i128,
        width,
    );
    let one = terms.bv(1, width);
    let limit = terms.bv(1 << 64, width);
    let parts = [
        terms.eq(product, value),
        terms.bv_ult(one, a),
        terms.bv_ult(one, b),
        terms.bv_ult(a, limit),
        terms.bv_ult(b, limit),
    ];
    terms.and(&parts)
}

#[test]
fn a_time_limit_stops_a_query() {
    let mut terms = Terms::new();
    let hard = hard(&mut terms);
    let mut session = session();
    session.assert(&terms, hard);
    session.set_limits(Limits {
        time: Some(Duration::from_millis(200)),
        steps: None,
    });
    let start = Instant::now();
    assert_eq!(session.check(&terms, &[]), Answer::Unknown(Unknown::Time));
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "took {:?}",
        start.elapsed()
    );

    // The solver is still of use afterwards.
    let x = terms.constant("x", Sort::Bool);
    session.set_limits(Limits::default());
    let mut fresh = crate::session();
    fresh.assert(&terms, x);
    assert_eq!(fresh.check(&terms, &[]), Answer::Sat);
}

#[test]
fn a_step_limit_stops_a_query_without_a_clock() {
    let mut terms = Terms::new();
    let hard = hard(&mut terms);
    let mut session = session();
    session.assert(&terms, hard);
    session.set_limits(Limits {
        time: None,
        steps: Some(20_000),
    });
    assert_eq!(session.check(&terms, &[]), Answer::Unknown(Unknown::Steps));
}

#[test]
fn a_cancelled_budget_interrupts_at_once() {
    let mut terms = Terms::new();
    let hard = hard(&mut terms);
    let budget = Budget::unlimited();
    let flag = budget.cancellation();
    let mut session = Session::new(Box::new(Z3Solver::new(Z3Options::default())), budget);
    session.assert(&terms, hard);
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(150));
        flag.store(true, Ordering::Relaxed);
    });
    let start = Instant::now();
    let answer = session.check(&terms, &[]);
    assert_eq!(
        answer,
        Answer::Unknown(Unknown::Stopped(Stopped::Cancelled))
    );
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "took {:?}",
        start.elapsed()
    );
    canceller.join().unwrap();
}

#[test]
fn a_spent_budget_asks_nothing() {
    let mut terms = Terms::new();
    let x = terms.constant("x", Sort::Bool);
    let budget = Budget::unlimited().with_time(Duration::ZERO);
    let mut session = Session::new(Box::new(Z3Solver::new(Z3Options::default())), budget);
    let answer = session.check(&terms, &[x]);
    assert_eq!(answer, Answer::Unknown(Unknown::Stopped(Stopped::Time)));
}

#[test]
fn quantifiers_are_understood() {
    let mut terms = Terms::new();
    let x = terms.constant("x", Sort::Int);
    let y = terms.constant("y", Sort::Int);
    let above = terms.int_lt(x, y);
    let some = terms.exists(&[y], above);
    let all = terms.forall(&[x], some);
    let wrong = terms.not(all);
    let mut session = session();
    session.assert(&terms, wrong);
    assert_eq!(session.check(&terms, &[]), Answer::Unsat);
}

#[test]
fn a_deep_formula_is_only_a_big_one() {
    // Depth that would overflow the stack of anything recursive.
    let mut terms = Terms::new();
    let mut deep = terms.constant("x0", Sort::Bool);
    for at in 1..100_000 {
        let next = terms.constant(&format!("x{}", at % 10), Sort::Bool);
        let other = terms.constant(&format!("y{}", at % 7), Sort::Bool);
        deep = if at % 2 == 0 {
            terms.and(&[deep, next])
        } else {
            terms.or(&[deep, other])
        };
    }
    assert!(terms.size(deep) > 50_000);
    let text = hardbop_logic::smtlib_text(&terms, deep);
    let names = hardbop_logic::Names::of(&terms, &[deep]);
    assert_eq!(
        hardbop_logic::parse_term(&mut terms, &names, &text),
        Ok(deep)
    );
    assert_eq!(terms.simplify(deep), deep);
    let model = hardbop_logic::Assignment::new();
    assert_eq!(eval(&terms, deep, &model), Ok(Value::Bool(false)));
    assert!(!terms.infix(deep).to_string().is_empty());
    let mut session = session();
    session.assert(&terms, deep);
    assert_eq!(session.check(&terms, &[]), Answer::Sat);
}

#[test]
#[should_panic(expected = "a session is about the terms of one arena")]
fn a_session_is_not_asked_about_other_terms() {
    // Its solver knows terms by their ids: those of another arena would be other questions.
    let mut terms = Terms::new();
    let x = terms.constant("x", Sort::Bool);
    let mut session = session();
    assert_eq!(session.check(&terms, &[x]), Answer::Sat);
    let mut others = Terms::new();
    let y = others.constant("y", Sort::Bool);
    let _ = session.check(&others, &[y]);
}
