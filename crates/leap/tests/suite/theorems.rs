//! The theorems on systems written by hand: the paper's examples and its counter-example.

use hardbop_budget::Budget;
use hardbop_leap::modal::{entry_port, exit_port, may, must_minus, must_plus};
use hardbop_leap::system::{States, Step, System, Variable};
use hardbop_leap::theorem::{Failed, Ports, Theorem, View, holds};
use hardbop_logic::{Limits, Prover, Sort, TermId, Terms};

fn prover() -> Prover {
    Prover::new(Budget::unlimited(), Limits::default())
}

fn variable(terms: &mut Terms, name: &str, sort: Sort) -> Variable {
    Variable {
        name: name.to_owned(),
        constant: terms.constant(name, sort),
        signed: true,
    }
}

fn states(formula: TermId) -> States {
    States(vec![formula])
}

/// The first loop of `simple`: x := x + 1 while 0 <= x < n.
struct Counting {
    terms: Terms,
    system: System,
    inside: TermId,
    first: TermId,
    last: TermId,
}

fn counting() -> Counting {
    let mut terms = Terms::new();
    let word = Sort::BitVec(32);
    let x = variable(&mut terms, "x", word);
    let n = terms.constant("n", word);
    let (zero, one) = (terms.bv(0, 32), terms.bv(1, 32));
    let next = terms.bv_add(x.constant, one);
    let condition = terms.bv_slt(x.constant, n);
    let positive = terms.bv_slt(zero, n);
    let low = terms.bv_sle(zero, x.constant);
    let inside = terms.and(&[low, condition]);
    let first = terms.eq(x.constant, zero);
    let before = terms.bv_sub(n, one);
    let last = terms.eq(x.constant, before);
    let step = Step {
        from: 0,
        to: 0,
        condition,
        post: vec![next],
        choices: Vec::new(),
    };
    let system = System::new(&mut terms, vec![x], 1, vec![step], positive);
    Counting {
        terms,
        system,
        inside,
        first,
        last,
    }
}

/// Example 1: the abstract state 0 <= x < n with entry port x = 0 and exit port x = n - 1.
#[test]
fn both_theorems_hold_for_a_counting_loop() {
    let Counting {
        mut terms,
        system,
        inside,
        first,
        last,
    } = counting();
    let ports = Ports {
        state: states(inside),
        entry: states(first),
        exit: states(last),
    };
    let mut prover = prover();
    for theorem in [Theorem::Forward, Theorem::Backward] {
        let result = holds(
            &mut prover,
            &mut terms,
            &system,
            &ports,
            theorem,
            &View::Whole,
        );
        assert_eq!(result, Ok(Ok(())), "{theorem:?}");
    }
}

/// Lemma 1: leaving 0 <= x < n for n <= x, the maximal exit port is x = n - 1, and the maximal
/// entry port of what comes after is x = n.
#[test]
fn maximal_ports_are_the_papers() {
    let Counting {
        mut terms,
        system,
        inside,
        last,
        ..
    } = counting();
    let mut prover = prover();
    let x = system.variables[0].constant;
    let n = terms.constant("n", Sort::BitVec(32));
    let beyond = terms.bv_sle(n, x);
    let (a, b) = (states(inside), states(beyond));
    let exit = exit_port(&mut terms, &system, &a, &b);
    let entry = entry_port(&mut prover, &mut terms, &system, &a, &b).expect("easy");
    let at_n = terms.eq(x, n);
    for (port, expected) in [(exit, last), (entry, at_n)] {
        let same = terms.iff(port.0[0], expected);
        assert_eq!(prover.implies(&mut terms, system.given, same), Ok(true));
    }
    assert_eq!(may(&mut prover, &mut terms, &system, &a, &b), Ok(true));
    assert_eq!(
        must_plus(&mut prover, &mut terms, &system, &a, &b),
        Ok(false)
    );
    assert_eq!(
        must_minus(&mut prover, &mut terms, &system, &a, &b),
        Ok(false)
    );
    let (last, at_n) = (states(last), states(at_n));
    assert_eq!(
        must_plus(&mut prover, &mut terms, &system, &last, &at_n),
        Ok(true)
    );
    assert_eq!(
        must_minus(&mut prover, &mut terms, &system, &last, &at_n),
        Ok(true)
    );
}

/// Section 3.1: `while true do if y = 0 then x := x - 1`, with the abstract state x, y >= 0, the
/// entry port y > 0 and the exit port x = y = 0. No state of the entry port leads to the exit
/// port, since y stays.
fn without_finiteness(sort: Sort, expected: Failed) {
    let mut terms = Terms::new();
    let x = variable(&mut terms, "x", sort);
    let y = variable(&mut terms, "y", sort);
    let (x0, y0) = (x.constant, y.constant);
    let (zero, minus, not_below, above): (TermId, TermId, [TermId; 2], TermId) = match sort {
        Sort::BitVec(width) => {
            let zero = terms.bv(0, width);
            let minus = terms.bv(-1, width);
            let down = terms.bv_add(x0, minus);
            let both = [terms.bv_sle(zero, x0), terms.bv_sle(zero, y0)];
            (zero, down, both, terms.bv_slt(zero, y0))
        }
        _ => {
            let zero = terms.int(0);
            let minus = terms.int(-1);
            let down = terms.int_add(&[x0, minus]);
            let both = [terms.int_le(zero, x0), terms.int_le(zero, y0)];
            (zero, down, both, terms.int_lt(zero, y0))
        }
    };
    let y_zero = terms.eq(y0, zero);
    let x_zero = terms.eq(x0, zero);
    let y_other = terms.not(y_zero);
    let down = Step {
        from: 0,
        to: 0,
        condition: y_zero,
        post: vec![minus, y0],
        choices: Vec::new(),
    };
    let stay = Step {
        from: 0,
        to: 0,
        condition: y_other,
        post: vec![x0, y0],
        choices: Vec::new(),
    };
    let given = terms.bool(true);
    let system = System::new(&mut terms, vec![x, y], 1, vec![down, stay], given);
    let a = terms.and(&not_below);
    let e = terms.and(&[a, above]);
    let exit = terms.and(&[x_zero, y_zero]);
    let ports = Ports {
        state: states(a),
        entry: states(e),
        exit: states(exit),
    };
    let result = holds(
        &mut prover(),
        &mut terms,
        &system,
        &ports,
        Theorem::Backward,
        &View::Whole,
    );
    assert_eq!(result, Ok(Err(expected)));
}

#[test]
fn the_counter_example_is_rejected_for_unbounded_integers() {
    without_finiteness(Sort::Int, Failed::Finiteness);
}

#[test]
fn the_counter_example_is_rejected_for_machine_integers() {
    // The largest x has no predecessor that is not negative.
    without_finiteness(Sort::BitVec(32), Failed::Continuation);
}

/// Section 3.2: in `less_simple` some states have two successors, but only one of them in the
/// abstract state 0 < x < n, y <= x <= y + 2. With the maximal exit port condition 3 fails, since
/// x = y = n - 1 has no predecessor but x = n - 1, y = n - 3, which is in the port; with the part
/// of it in which x <= y + 1, Theorem 1 holds.
#[test]
fn theorem_1_holds_for_less_simple() {
    let mut terms = Terms::new();
    let word = Sort::BitVec(16);
    let x = variable(&mut terms, "x", word);
    let y = variable(&mut terms, "y", word);
    let n = terms.constant("n", word);
    let (x0, y0) = (x.constant, y.constant);
    let number = |terms: &mut Terms, value: i128| terms.bv(value, 16);
    let (zero, one, two) = (
        number(&mut terms, 0),
        number(&mut terms, 1),
        number(&mut terms, 2),
    );
    let limit = number(&mut terms, 1000);
    let more = terms.bv_add(y0, two);
    let behind = terms.bv_sle(more, x0);
    let close = terms.not(behind);
    let running = terms.bv_slt(x0, n);
    let up = terms.bv_add(x0, one);
    let step = |terms: &mut Terms, condition: TermId, post: [TermId; 2]| Step {
        from: 0,
        to: 0,
        condition: terms.and(&[running, condition]),
        post: post.to_vec(),
        choices: Vec::new(),
    };
    let steps = vec![
        step(&mut terms, behind, [x0, x0]),
        step(&mut terms, close, [up, y0]),
        step(&mut terms, close, [x0, up]),
    ];
    let (low, high) = (terms.bv_slt(two, n), terms.bv_slt(n, limit));
    let given = terms.and(&[low, high]);
    let system = System::new(&mut terms, vec![x, y], 1, steps, given);
    let above = terms.bv_slt(zero, x0);
    let order = terms.bv_sle(y0, x0);
    let near = terms.bv_sle(x0, more);
    let a = terms.and(&[above, running, order, near]);
    let at_one = terms.eq(x0, one);
    let before = terms.bv_sub(n, one);
    let at_end = terms.eq(x0, before);
    let next = terms.bv_add(y0, one);
    let nearer = terms.bv_sle(x0, next);
    let maximal = terms.and(&[a, at_end]);
    let part = terms.and(&[maximal, nearer]);
    for (exit, expected) in [(maximal, Err(Failed::Continuation)), (part, Ok(()))] {
        let ports = Ports {
            state: states(a),
            entry: states(terms.and(&[a, at_one])),
            exit: states(exit),
        };
        let result = holds(
            &mut prover(),
            &mut terms,
            &system,
            &ports,
            Theorem::Backward,
            &View::Whole,
        );
        assert_eq!(result, Ok(expected));
    }
    // Without the relation between x and y two choices stay inside.
    let coarse = terms.and(&[above, running]);
    let ports = Ports {
        state: states(coarse),
        entry: states(terms.and(&[coarse, at_one])),
        exit: states(terms.and(&[coarse, at_end])),
    };
    let result = holds(
        &mut prover(),
        &mut terms,
        &system,
        &ports,
        Theorem::Backward,
        &View::Whole,
    );
    assert_eq!(result, Ok(Err(Failed::Uniqueness)));
}

/// Section 3.3: the two loops of `nested` in one abstract state, by Theorem 2, with the ports
/// x = y = 0 and x = y = n.
#[test]
fn theorem_2_holds_for_nested() {
    let mut terms = Terms::new();
    let word = Sort::BitVec(32);
    let x = variable(&mut terms, "x", word);
    let y = variable(&mut terms, "y", word);
    let n = terms.constant("n", word);
    let (x0, y0) = (x.constant, y.constant);
    let (zero, one) = (terms.bv(0, 32), terms.bv(1, 32));
    let inner = terms.bv_slt(y0, n);
    let outer = terms.bv_slt(x0, n);
    let done = terms.not(inner);
    let (up_x, up_y) = (terms.bv_add(x0, one), terms.bv_add(y0, one));
    let step = |condition: TermId, post: [TermId; 2]| Step {
        from: 0,
        to: 0,
        condition,
        post: post.to_vec(),
        choices: Vec::new(),
    };
    let next_row = terms.and(&[done, outer]);
    let steps = vec![step(inner, [x0, up_y]), step(next_row, [up_x, zero])];
    let given = terms.bv_slt(zero, n);
    let system = System::new(&mut terms, vec![x, y], 1, steps, given);
    let bounds = [
        terms.bv_sle(zero, x0),
        terms.bv_sle(x0, n),
        terms.bv_sle(zero, y0),
        terms.bv_sle(y0, n),
    ];
    let a = terms.and(&bounds);
    let (x_first, y_first) = (terms.eq(x0, zero), terms.eq(y0, zero));
    let (x_last, y_last) = (terms.eq(x0, n), terms.eq(y0, n));
    let ports = Ports {
        state: states(a),
        entry: states(terms.and(&[x_first, y_first])),
        exit: states(terms.and(&[x_last, y_last])),
    };
    let result = holds(
        &mut prover(),
        &mut terms,
        &system,
        &ports,
        Theorem::Forward,
        &View::Whole,
    );
    assert_eq!(result, Ok(Ok(())));
}
