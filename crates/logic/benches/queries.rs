//! What a query of predicate abstraction costs: one incremental solver, predicates as assumptions,
//! the same questions over bit-vectors and over integers.
//!
//! Run with `cargo bench -p hardbop-logic`. Prints microseconds per query.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::ops::ControlFlow;
use std::time::Instant;

use hardbop_budget::Budget;
use hardbop_logic::{Answer, Session, Sort, TermId, Terms, Z3Options, Z3Solver, all_models};

/// A block of code with five variables and eight steps, and predicates before and after it.
struct Block {
    terms: Terms,
    formula: TermId,
    before: Vec<TermId>,
    after: Vec<TermId>,
}

fn block(sort: Sort) -> Block {
    let mut terms = Terms::new();
    let number = |terms: &mut Terms, value: i128| match sort {
        Sort::BitVec(width) => terms.bv(value, width),
        _ => terms.int(value),
    };
    let add = |terms: &mut Terms, a, b| match sort {
        Sort::BitVec(_) => terms.bv_add(a, b),
        _ => terms.int_add(&[a, b]),
    };
    let less = |terms: &mut Terms, a, b| match sort {
        Sort::BitVec(_) => terms.bv_slt(a, b),
        _ => terms.int_lt(a, b),
    };
    let names = ["x", "y", "z", "n", "r"];
    let start: Vec<TermId> = names.map(|name| terms.constant(name, sort)).into();
    let mut now = start.clone();
    let mut steps = Vec::new();
    for step in 0..8usize {
        let (target, source) = (step % 5, (step * 3 + 1) % 5);
        let constant = number(&mut terms, step as i128 % 3 - 1);
        let sum = add(&mut terms, now[source], constant);
        let condition = less(&mut terms, now[(step + 2) % 5], now[(step + 4) % 5]);
        let chosen = terms.ite(condition, sum, now[target]);
        let next = terms.constant(&format!("{}{step}", names[target]), sort);
        steps.push(terms.eq(next, chosen));
        now[target] = next;
    }
    let formula = terms.and(&steps);
    let predicates = |terms: &mut Terms, at: &[TermId]| {
        let (zero, three) = (number(terms, 0), number(terms, 3));
        vec![
            terms.eq(at[0], zero),
            less(terms, at[0], at[1]),
            less(terms, at[1], three),
            less(terms, at[2], at[3]),
            terms.eq(at[3], at[4]),
            less(terms, at[4], zero),
        ]
    };
    let before = predicates(&mut terms, &start);
    let after = predicates(&mut terms, &now);
    Block {
        terms,
        formula,
        before,
        after,
    }
}

/// All cubes of up to two predicates before the block.
fn cubes(terms: &mut Terms, predicates: &[TermId]) -> Vec<Vec<TermId>> {
    let mut all = vec![Vec::new()];
    for &predicate in predicates {
        let negated = terms.not(predicate);
        let shorter: Vec<Vec<TermId>> = all
            .iter()
            .filter(|cube: &&Vec<TermId>| cube.len() < 2)
            .cloned()
            .collect();
        for literal in [predicate, negated] {
            for cube in &shorter {
                let mut longer = cube.clone();
                longer.push(literal);
                all.push(longer);
            }
        }
    }
    all
}

fn main() {
    for (name, sort, logic) in [
        ("bit-vectors, 32 bits", Sort::BitVec(32), None),
        ("bit-vectors, QF_BV solver", Sort::BitVec(32), Some("QF_BV")),
        ("integers", Sort::Int, None),
    ] {
        let Block {
            mut terms,
            formula,
            before,
            after,
        } = block(sort);
        let cubes = cubes(&mut terms, &before);
        let options = Z3Options {
            logic,
            ..Z3Options::default()
        };
        let mut session = Session::new(
            Box::new(Z3Solver::new(options.clone())),
            Budget::unlimited(),
        );
        session.assert(&terms, formula);
        let start = Instant::now();
        let mut unsat = 0;
        for &predicate in &after {
            let negated = terms.not(predicate);
            for goal in [predicate, negated] {
                for cube in &cubes {
                    let mut assumptions = cube.clone();
                    assumptions.push(goal);
                    unsat += usize::from(session.check(&terms, &assumptions) == Answer::Unsat);
                }
            }
        }
        let statistics = session.statistics();
        let queries = statistics.queries;
        println!(
            "{name:28} {queries} queries, {unsat} unsat, {:.1} us each ({:.1} us in the solver)",
            start.elapsed().as_secs_f64() * 1e6 / queries as f64,
            statistics.time.as_secs_f64() * 1e6 / queries as f64,
        );

        let mut session = Session::new(Box::new(Z3Solver::new(options)), Budget::unlimited());
        session.assert(&terms, formula);
        let start = Instant::now();
        let mut count = 0;
        let ended = all_models(&mut session, &mut terms, &after, &[], &mut |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        println!(
            "{name:28} {count} models over {} predicates ({ended:?}), {:.1} us each",
            after.len(),
            start.elapsed().as_secs_f64() * 1e6 / f64::from(count),
        );
    }
}
