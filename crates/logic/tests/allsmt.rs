//! Enumeration of models against brute force.

mod common;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use common::{Generator, Kind, numbers};
use hardbop_budget::Budget;
use hardbop_logic::{
    Answer, Assignment, BitVec, Cube, Enumeration, Session, Sort, Terms, Value, Z3Options,
    Z3Solver, all_models, eval, merge_cubes,
};

/// All values of three two-bit variables and two truth values.
fn all_assignments(terms: &mut Terms) -> Vec<Assignment> {
    let [x, y, z] = ["x", "y", "z"].map(|name| terms.constant(name, Sort::BitVec(2)));
    let [p, q] = ["p", "q"].map(|name| terms.constant(name, Sort::Bool));
    (0u32..256)
        .map(|bits| {
            let mut assignment = Assignment::new();
            for (at, constant) in [x, y, z].into_iter().enumerate() {
                let value = (bits >> (2 * at)) & 3;
                assignment.set(constant, Value::BitVec(BitVec::new(value.into(), 2)));
            }
            assignment.set(p, Value::Bool(bits & 64 != 0));
            assignment.set(q, Value::Bool(bits & 128 != 0));
            assignment
        })
        .collect()
}

#[test]
fn enumeration_finds_exactly_the_combinations_there_are() {
    for seed in 0..150 {
        let mut terms = Terms::new();
        let random = numbers(seed);
        let mut generator = Generator {
            terms: &mut terms,
            random,
            kind: Kind::Bits,
            width: 2,
        };
        let formula = generator.bool(3);
        let predicates: Vec<_> = (0..4).map(|_| generator.bool(2)).collect();
        let assumption = generator.bool(1);
        let formula = terms.simplify(formula);
        let predicates: Vec<_> = predicates.iter().map(|&at| terms.simplify(at)).collect();
        let assumption = terms.simplify(assumption);

        let mut expected = BTreeSet::new();
        for assignment in all_assignments(&mut terms) {
            let holds = |at| eval(&terms, at, &assignment).unwrap().as_bool().unwrap();
            if holds(formula) && holds(assumption) {
                expected.insert(
                    predicates
                        .iter()
                        .map(|&at| holds(at))
                        .collect::<Vec<bool>>(),
                );
            }
        }

        let solver = Z3Solver::new(Z3Options::default());
        let mut session = Session::new(Box::new(solver), Budget::unlimited());
        session.assert(&terms, formula);
        // Twice with one session: the first run leaves nothing behind that hides models.
        for round in 0..2 {
            let mut found = Vec::new();
            let ended = all_models(
                &mut session,
                &mut terms,
                &predicates,
                &[assumption],
                &mut |cube| {
                    found.push(cube.clone());
                    ControlFlow::Continue(())
                },
            );
            assert_eq!(ended, Ok(Enumeration::Complete));
            let told: BTreeSet<Vec<bool>> = found
                .iter()
                .map(|cube| cube.0.iter().map(|value| value.unwrap()).collect())
                .collect();
            assert_eq!(told.len(), found.len(), "seed {seed}: told twice");
            assert_eq!(told, expected, "seed {seed}, round {round}");
            let merged = merge_cubes(&found);
            assert!(merged.len() <= found.len());
            for bits in 0..16u32 {
                let values: Vec<bool> = (0..4).map(|at| bits & (1 << at) != 0).collect();
                let covering = merged.iter().filter(|cube| cube.covers(&values)).count();
                assert_eq!(
                    covering,
                    usize::from(expected.contains(&values)),
                    "seed {seed}"
                );
            }
        }
        assert_ne!(
            session.check(&terms, &[]),
            Answer::Unknown(hardbop_logic::Unknown::Time)
        );
    }
}

#[test]
fn the_callback_may_stop() {
    let mut terms = Terms::new();
    let predicates: Vec<_> = (0..10)
        .map(|at| terms.constant(&format!("p{at}"), Sort::Bool))
        .collect();
    let solver = Z3Solver::new(Z3Options::default());
    let mut session = Session::new(Box::new(solver), Budget::unlimited());
    let mut count = 0;
    let ended = all_models(
        &mut session,
        &mut terms,
        &predicates,
        &[],
        &mut |_: &Cube| {
            count += 1;
            if count == 3 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        },
    );
    assert_eq!((ended, count), (Ok(Enumeration::Broken), 3));
}
