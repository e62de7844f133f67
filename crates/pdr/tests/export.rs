//! Exported circuits, read back and run state by state: they reach a bad state exactly if the
//! system reaches its target, and both languages say the same.

use hardbop_pdr::export::Sequential;
use hardbop_pdr::system::PointId;
use hardbop_test_support::random::Random;
use hardbop_test_support::systems::{reached, system};
use std::collections::{BTreeMap, BTreeSet};

/// Inputs and latches in; the latches after a step out, and whether the state is bad.
type Run = dyn Fn(&[bool], &[bool]) -> (Vec<bool>, bool);

/// A circuit that was read: how many inputs and latches it has, and what it does.
struct Read {
    inputs: usize,
    latches: usize,
    /// What it does with inputs and latches.
    run: Box<Run>,
}

fn numbers(line: &str) -> Vec<usize> {
    let words = line.split(' ').map(|word| word.parse().expect("a number"));
    words.collect()
}

fn read_aiger(text: &str) -> Read {
    let mut lines = text.lines();
    let head = lines.next().expect("a header");
    let head = numbers(head.strip_prefix("aag ").expect("AIGER as text"));
    let &[most, inputs, latches, 0, ands, 1] = head.as_slice() else {
        panic!("a header with other parts: {head:?}");
    };
    let mut next = |count: usize| -> Vec<Vec<usize>> {
        (0..count)
            .map(|_| numbers(lines.next().expect("another line")))
            .collect()
    };
    let (ins, states, bad, gates) = (next(inputs), next(latches), next(1), next(ands));
    assert_eq!(lines.next(), None);
    assert_eq!(most, inputs + latches + ands);
    let run = move |given: &[bool], state: &[bool]| {
        let mut values = vec![false; most + 1];
        for (line, &value) in ins.iter().zip(given) {
            values[line[0] / 2] = value;
        }
        for (line, &value) in states.iter().zip(state) {
            values[line[0] / 2] = value;
        }
        for line in &gates {
            let of = |literal: usize| values[literal / 2] != (literal % 2 == 1);
            assert!(line[0] > line[1] && line[1] >= line[2], "out of order");
            values[line[0] / 2] = of(line[1]) && of(line[2]);
        }
        let of = |literal: usize| values[literal / 2] != (literal % 2 == 1);
        (
            states.iter().map(|line| of(line[1])).collect(),
            of(bad[0][0]),
        )
    };
    Read {
        inputs,
        latches,
        run: Box::new(run),
    }
}

fn read_btor2(text: &str) -> Read {
    let lines: Vec<Vec<String>> = text
        .lines()
        .map(|line| line.split(' ').map(str::to_owned).collect())
        .collect();
    let count = |word: &str| lines.iter().filter(|line| line[1] == word).count();
    let (inputs, latches) = (count("input"), count("state"));
    assert_eq!(
        (count("next"), count("init"), count("bad")),
        (latches, latches, 1)
    );
    let run = move |given: &[bool], state: &[bool]| {
        let mut values: BTreeMap<String, bool> = BTreeMap::new();
        let mut after: BTreeMap<String, bool> = BTreeMap::new();
        let mut states = Vec::new();
        let (mut given, mut state) = (given.iter(), state.iter());
        let mut bad = false;
        for line in &lines {
            let of = |at: usize| values[&line[at]];
            let value = match line[1].as_str() {
                "sort" => continue,
                "zero" => false,
                "input" => *given.next().expect("an input"),
                "state" => {
                    states.push(line[0].clone());
                    *state.next().expect("a state")
                }
                "init" => {
                    assert!(!values[&line[4]]);
                    continue;
                }
                "not" => !of(3),
                "and" => of(3) && of(4),
                "next" => {
                    after.insert(line[3].clone(), of(4));
                    continue;
                }
                "bad" => {
                    bad = of(2);
                    continue;
                }
                other => panic!("`{other}` was not expected"),
            };
            values.insert(line[0].clone(), value);
        }
        (states.iter().map(|line| after[line]).collect(), bad)
    };
    Read {
        inputs,
        latches,
        run: Box::new(run),
    }
}

fn reaches_bad(read: &Read) -> bool {
    let start = vec![false; read.latches];
    let mut seen = BTreeSet::from([start.clone()]);
    let mut work = vec![start];
    while let Some(state) = work.pop() {
        for given in 0..1u32 << read.inputs {
            let given: Vec<bool> = (0..read.inputs).map(|at| given >> at & 1 == 1).collect();
            let (next, bad) = (read.run)(&given, &state);
            if bad {
                return true;
            }
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    false
}

#[test]
fn what_is_read_back_reaches_what_the_system_reaches() {
    let mut random = Random(42);
    let mut bad = 0;
    for case in 0..60 {
        let (system, state, inputs) = system(&mut random);
        let target = PointId(system.points.len() as u32 - 1);
        let expected = reached(&system, &state, &inputs)
            .iter()
            .any(|&(point, _)| point == target);
        bad += u32::from(expected);
        let circuit = Sequential::new(&system, &[target]);
        let aiger = reaches_bad(&read_aiger(&circuit.aiger()));
        assert_eq!(aiger, expected, "case {case} in AIGER");
        let btor2 = reaches_bad(&read_btor2(&circuit.btor2()));
        assert_eq!(btor2, expected, "case {case} in BTOR2");
    }
    assert!((10..50).contains(&bad), "{bad} of 60");
}
