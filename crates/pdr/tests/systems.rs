//! The search on random little systems, against explicit reachability: what is found is a way, what
//! is excluded is an invariant, and the two never disagree.

use hardbop_budget::Budget;
use hardbop_pdr::constants::Constants;
use hardbop_pdr::rounds::{Reach, Reaching};
use hardbop_pdr::search::{Allowed, Search};
use hardbop_pdr::system::{Cube, PointId, System};
use hardbop_test_support::random::Random;
use hardbop_test_support::setting;
use hardbop_test_support::systems::{BITS, reached, successors, system};
use std::collections::BTreeSet;

/// The value of a position in a state: of its bits, then of what is derived from them.
fn value(state: u8, position: usize) -> bool {
    let bit = |at: usize| state >> at & 1 == 1;
    match position {
        BITS => bit(0) != bit(1),
        4 => bit(1) && !bit(2),
        _ => bit(position),
    }
}

#[test]
fn what_is_found_is_reached_and_what_is_excluded_is_not() {
    let mut random = Random(2011);
    let (mut found, mut excluded, mut known) = (0, 0, 0);
    for case in 0..setting("HARDBOP_CASES", 2_000) {
        let (system, state, inputs) = system(&mut random);
        let target = PointId(system.points.len() as u32 - 1);
        let reached = reached(&system, &state, &inputs);
        let is_reached = reached.iter().any(|&(point, _)| point == target);
        let budget = Budget::unlimited();
        // Every other time it is told which bits have one value only.
        let constants = match case % 2 {
            0 => Constants::none(&system),
            _ => Constants::new(&system, &budget).expect("nobody stops it"),
        };
        for &(point, bits) in &reached {
            for literal in constants.cube(point) {
                let is = value(bits, literal.position());
                assert_eq!(is, literal.value(), "case {case}: another value");
                known += 1;
            }
        }
        let mut search = Search::new(&system, &constants, Allowed::ANYTHING, &budget);
        match search.run(&[target], &mut |_| {}).expect("nobody stops it") {
            Reach::Found(point, way) => {
                found += 1;
                assert_eq!(point, target);
                assert!(is_reached, "case {case}: it is not reached");
                // The steps can be taken one after the other.
                let mut at = BTreeSet::from([(System::START, 0)]);
                for step in way {
                    let all = at.into_iter();
                    let next = all.flat_map(|at| successors(&system, &state, &inputs, at));
                    at = next
                        .filter(|next| next.0 == step)
                        .map(|next| next.1)
                        .collect();
                }
                assert!(at.iter().any(|&(point, _)| point == target), "case {case}");
            }
            Reach::Never => {
                let cubes = search.excluded().to_vec();
                excluded += 1;
                assert!(!is_reached, "case {case}: it is reached");
                let allowed = |(point, bits): (PointId, u8)| {
                    let mut cubes = cubes[point.index()].iter();
                    let within = |cube: &Cube| {
                        let mut all = cube.iter();
                        all.all(|it| value(bits, it.position()) == it.value())
                    };
                    let known = within(&constants.cube(point));
                    point == System::START || known && !cubes.any(within)
                };
                // Every step leads from what is allowed to what is allowed.
                for point in 0..system.points.len() as u32 {
                    for bits in 0..1u8 << BITS {
                        let at = (PointId(point), bits);
                        if !allowed(at) || point == 0 && bits > 0 {
                            continue;
                        }
                        for (_, next) in successors(&system, &state, &inputs, at) {
                            assert!(allowed(next), "case {case}: no invariant");
                        }
                    }
                }
                assert!((0..1u8 << BITS).all(|bits| !allowed((target, bits))));
            }
        }
    }
    assert!(
        found > 100 && excluded > 100 && known > 100,
        "{found} found, {excluded} excluded, {known} bits known"
    );
}
