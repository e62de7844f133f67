//! Proofs that there is no model: those of the solver stand, and what is no proof does not.

use hardbop_budget::Budget;
use hardbop_circuit::proof::{Checker, Step, read};
use hardbop_circuit::{Bit, Graph, Outcome, Sat};
use hardbop_test_support::random::Random;

/// Clauses of three literals over so many variables.
fn clauses(random: &mut Random, variables: u64, count: u64) -> Vec<Vec<i32>> {
    (0..count)
        .map(|_| {
            let length = 1 + random.below(4u64).min(2);
            (0..length)
                .map(|_| {
                    let variable = 1 + random.below(variables) as i32;
                    if random.below(2u64) == 0 {
                        variable
                    } else {
                        -variable
                    }
                })
                .collect()
        })
        .collect()
}

/// Whether there is a model, by trying all.
fn has_model(clauses: &[Vec<i32>], variables: u64) -> bool {
    (0..1u64 << variables).any(|model| {
        let holds =
            |&literal: &i32| (model >> (literal.unsigned_abs() - 1) & 1 == 1) == (literal > 0);
        clauses.iter().all(|clause| clause.iter().any(holds))
    })
}

fn stands(steps: &[Step]) -> bool {
    let mut checker = Checker::new();
    steps.iter().all(|step| checker.take(step).is_ok()) && checker.is_contradiction()
}

/// Asks the solver that is checked; the proof, if there is no model.
fn refuted(clauses: &[Vec<i32>], assumed: &[i32], variables: u64) -> Option<(String, String)> {
    let mut graph = Graph::default();
    let inputs: Vec<Bit> = (0..variables).map(|_| graph.input()).collect();
    let bit = |literal: i32| {
        let bit = inputs[literal.unsigned_abs() as usize - 1];
        if literal > 0 { bit } else { !bit }
    };
    let mut sat = Sat::checked();
    sat.keep_proofs();
    for clause in clauses {
        let bits: Vec<Bit> = clause.iter().map(|&literal| bit(literal)).collect();
        sat.clause(&graph, &bits);
    }
    let assumed: Vec<Bit> = assumed.iter().map(|&literal| bit(literal)).collect();
    match sat.check(&graph, &assumed, &[], None, &Budget::unlimited()) {
        Outcome::Unsat => Some(sat.proof(&[]).unwrap()),
        Outcome::Sat => None,
        Outcome::Stopped => panic!("a proof does not stand"),
    }
}

#[test]
fn random_clauses_are_refuted_with_proofs_that_stand() {
    let mut random = Random(11);
    let (mut refuted_count, mut others) = (0, 0);
    for _ in 0..1500 {
        let variables = 3 + random.below(10u64);
        let count = random.below(5 * variables);
        let clauses = clauses(&mut random, variables, count);
        let assumed: Vec<i32> = (0..random.below(3u64))
            .map(|_| 1 + random.below(variables) as i32)
            .collect();
        let mut all = clauses.clone();
        all.extend(assumed.iter().map(|&literal| vec![literal]));
        match refuted(&clauses, &assumed, variables) {
            Some((given, proof)) => {
                refuted_count += 1;
                assert!(!has_model(&all, variables));
                assert!(stands(&read(&given, &proof).unwrap()));
            }
            None => {
                others += 1;
                assert!(has_model(&all, variables));
            }
        }
    }
    assert!(
        refuted_count > 300 && others > 300,
        "{refuted_count} {others}"
    );
}

/// Steps that are changed, left out, or made up never refute what has a model, and where they
/// stand, what they say is true.
#[test]
fn what_is_no_proof_refutes_nothing() {
    let mut random = Random(5);
    let (mut refused, mut tried) = (0, 0);
    for _ in 0..3000 {
        let variables = 3 + random.below(6u64);
        let count = 4 * variables + random.below(20u64);
        let clauses = clauses(&mut random, variables, count);
        let Some((given, proof)) = refuted(&clauses, &[], variables) else {
            continue;
        };
        let mut steps = read(&given, &proof).unwrap();
        // A given clause is left out, and now and then a step is another one.
        let at = random.below(clauses.len() as u64) as usize;
        steps.remove(at);
        let made_up = self::clauses(&mut random, variables, 1).remove(0);
        let last = steps.len() as u64;
        match random.below(3u64) {
            0 => steps.insert(random.below(last) as usize, Step::Follows(made_up)),
            1 => steps.insert(random.below(last) as usize, Step::Dropped(made_up)),
            _ => {}
        }
        let left: Vec<Vec<i32>> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Given(clause) => Some(clause.clone()),
                _ => None,
            })
            .collect();
        tried += 1;
        if stands(&steps) {
            assert!(!has_model(&left, variables), "{steps:?}");
        } else {
            refused += 1;
        }
    }
    assert!(refused > 50 && tried > 500, "{refused} of {tried}");
}

#[test]
fn a_proof_is_refused_at_the_first_step_that_does_not_follow() {
    let given = "c a comment\np cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n";
    let check = |proof: &str| read(given, proof).is_some_and(|steps| stands(&steps));
    assert!(check("1 0\n0\n"));
    assert!(check("-1 0\nd 1 2 0\n0\n"), "what followed stays");
    assert!(!check("d 1 2 0\n-1 0\n0\n"), "there is a model without it");
    assert!(!check("0\n"), "propagation alone does not find it");
    assert!(
        !check("d 1 2 0\nd -1 2 0\n1 0\n0\n"),
        "what is dropped is gone"
    );
    assert!(
        !check("3 0\n0\n"),
        "a new variable would need more than propagation"
    );
    assert!(!check("1 2 0\n"), "no contradiction yet");
    for wrong in ["1\n", "1 0 0\n", "one 0\n", "1 x 0\n"] {
        assert!(!check(wrong), "{wrong}");
    }
}
