//! The search on random little systems, against explicit reachability: exactly the states that are
//! reached are in its sets, and ways lead to their targets.

use hardbop_budget::Budget;
use hardbop_diagrams::order::Order;
use hardbop_diagrams::search::{Limits, Search};
use hardbop_pdr::constants::Constants;
use hardbop_pdr::rounds::{Reach, Reaching};
use hardbop_pdr::system::{PointId, System};
use hardbop_test_support::random::Random;
use hardbop_test_support::setting;
use hardbop_test_support::systems::{BITS, reached, successors, system};
use std::collections::BTreeSet;

const LIMITS: Limits = Limits {
    nodes: 100_000,
    work: 100_000_000,
};

#[test]
fn exactly_what_is_reached_is_found() {
    let mut random = Random(2000);
    let (mut found, mut never) = (0, 0);
    for case in 0..setting("HARDBOP_CASES", 2_000) {
        let (system, state, inputs) = system(&mut random);
        let target = PointId(system.points.len() as u32 - 1);
        let reached = reached(&system, &state, &inputs);
        let budget = Budget::unlimited();
        // Every other time it is told which bits have one value only.
        let constants = match case % 2 {
            0 => Constants::none(&system),
            _ => Constants::new(&system, &budget).expect("nobody stops it"),
        };
        // Three words of a bit each, or one of three.
        let words = match case % 3 {
            0 => vec![state.clone()],
            _ => state.iter().map(|&bit| vec![bit]).collect(),
        };
        let order = Order::new(&system, &constants, &words);
        let search = Search::new(&system, &constants, order, LIMITS, &budget);
        let mut search = search.expect("nobody stops it");
        match search.run(&[target], &mut |_| {}).expect("it is small") {
            Reach::Found(point, way) => {
                found += 1;
                assert_eq!(point, target);
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
                let rest = search.run(&[], &mut |_| {}).expect("it is small");
                assert_eq!(rest, Reach::Never, "case {case}: nothing is looked for");
            }
            Reach::Never => {
                never += 1;
                assert!(!reached.iter().any(|&(point, _)| point == target));
            }
        }
        for point in (1..system.points.len() as u32).map(PointId) {
            for bits in 0..1u8 << BITS {
                let is_one = |place| {
                    let (word, at) = search.order().bit(place);
                    bits >> (word + at) & 1 == 1
                };
                // What has one value has no place in a diagram.
                let is_known = |literal: &hardbop_pdr::system::Literal| {
                    (bits >> literal.position() & 1 == 1) == literal.value()
                };
                let is_reached =
                    search.is_reached(point, is_one) && constants.cube(point).iter().all(is_known);
                assert_eq!(
                    is_reached,
                    reached.contains(&(point, bits)),
                    "case {case}: {bits:03b} at {point:?}"
                );
            }
        }
    }
    assert!(found > 100 && never > 100, "{found} found, {never} not");
}

#[test]
fn a_search_ends_where_it_may_do_no_more() {
    let mut random = Random(7);
    let (system, state, _) = system(&mut random);
    let budget = Budget::unlimited();
    let constants = Constants::none(&system);
    let order = Order::new(&system, &constants, &[state]);
    let limits = Limits { work: 1, ..LIMITS };
    let search = Search::new(&system, &constants, order, limits, &budget);
    let halt = search.expect("nobody stops it").run(&[], &mut |_| {});
    assert_eq!(halt, Err(hardbop_pdr::search::Halt::Work));
}
