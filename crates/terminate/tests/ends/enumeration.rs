//! Answers against the truth, on random programs over tiny words of which all states are known; and
//! the gate against claims that were changed.

use crate::common::{decide, ends, program};
use crate::tiny::Tiny;
use hardbop_budget::Budget;
use hardbop_cfront::ids::LocId;
use hardbop_engine::Claim;
use hardbop_engine::claim::{Component, Order, Rank, Ranking, Recurrence};
use hardbop_gate::{Gate, Outcome};
use hardbop_model::{Model, Prepared};
use hardbop_test_support::random::Random;
use std::time::Duration;

/// How many programs are tried.
const PROGRAMS: u64 = 400;

#[test]
fn answers_agree_with_all_states() {
    let (mut proved, mut violated) = (0, 0);
    for seed in 0..PROGRAMS {
        let tiny = Tiny::new(seed);
        let text = tiny.text();
        let program = program(&text);
        let prepared = Prepared::new(&program, &Budget::unlimited()).unwrap();
        let model = Model::new(&program, &prepared);
        let found = decide(&model, Duration::from_secs(2));
        match &found.report.outcomes[&ends(&program)] {
            Outcome::Proved(_) => {
                assert!(tiny.ends(), "seed {seed} does not always end:\n{text}");
                proved += 1;
            }
            Outcome::Violated(_) => {
                assert!(!tiny.ends(), "seed {seed} always ends:\n{text}");
                violated += 1;
            }
            Outcome::Unknown(_) => {}
        }
    }
    // Most of them are decided; if not, something was lost.
    let decided = proved + violated;
    assert!(
        decided >= PROGRAMS * 9 / 10,
        "only {proved} proved, {violated} violated"
    );
}

#[test]
fn changed_claims_are_refused_unless_they_are_right() {
    let mut random = Random(7);
    let (mut accepted, mut refused) = (0, 0);
    for seed in 1000..1060 {
        let tiny = Tiny::new(seed);
        let text = tiny.text();
        let program = program(&text);
        let prepared = Prepared::new(&program, &Budget::unlimited()).unwrap();
        let model = Model::new(&program, &prepared);
        let found = decide(&model, Duration::from_secs(2));
        let claim = match &found.report.outcomes[&ends(&program)] {
            Outcome::Proved(proof) => proof.claim().clone(),
            Outcome::Violated(refutation) => refutation.claim().clone(),
            Outcome::Unknown(_) => continue,
        };
        let budget = Budget::unlimited().with_time(Duration::from_secs(20));
        let gate = Gate::new(&model, budget);
        for _ in 0..6 {
            let Some(changed) = changed(&claim, &mut random) else {
                continue;
            };
            let says_ends = changed.violates().is_none();
            match gate.check(changed) {
                Ok(_) => {
                    accepted += 1;
                    assert_eq!(says_ends, tiny.ends(), "seed {seed}:\n{text}");
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(
        refused > 60 && accepted > 0,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn ranks_out_of_thin_air_prove_nothing_that_is_not_so() {
    let mut random = Random(23);
    let mut accepted = 0;
    for seed in 2000..2060 {
        let tiny = Tiny::new(seed);
        let text = tiny.text();
        let program = program(&text);
        let prepared = Prepared::new(&program, &Budget::unlimited()).unwrap();
        let model = Model::new(&program, &prepared);
        let budget = Budget::unlimited().with_time(Duration::from_secs(20));
        let gate = Gate::new(&model, budget);
        for _ in 0..6 {
            let claim = made_up(&model, &mut random);
            if gate.check(Claim::Ranking(Box::new(claim))).is_ok() {
                accepted += 1;
                assert!(tiny.ends(), "seed {seed} does not always end:\n{text}");
            }
        }
    }
    assert!(accepted > 0);
}

/// A claim with something changed in it; `None` if there is nothing to change.
fn changed(claim: &Claim, random: &mut Random) -> Option<Claim> {
    Some(match claim {
        Claim::Ranking(ranking) => {
            let mut ranking = ranking.clone();
            let ranked: Vec<usize> = (0..ranking.ranks.len())
                .filter(|&at| !ranking.ranks[at].components.is_empty())
                .collect();
            let at = *ranked.get(random.below(ranked.len().max(1)))?;
            let components = &mut ranking.ranks[at].components;
            let one = random.below(components.len());
            match random.below(5u32) {
                0 => components[one].order = other(components[one].order),
                1 => drop(components.remove(one)),
                2 => components.reverse(),
                3 => {
                    // Nothing is known any more.
                    for formula in ranking.invariants.at.values_mut() {
                        *formula = "true".to_owned();
                    }
                }
                _ => ranking.ranks[at].level += 1,
            }
            Claim::Ranking(ranking)
        }
        Claim::Recurrence(recurrence) => {
            let mut recurrence = recurrence.clone();
            change_set(&mut recurrence, random);
            Claim::Recurrence(recurrence)
        }
        Claim::Lasso(lasso) => {
            let mut lasso = lasso.clone();
            match random.below(3u32) {
                0 => lasso.stem += 1 + random.below(3u64),
                1 => lasso.cycle += 1 + random.below(3u64),
                _ => drop(lasso.script.inputs.pop()),
            }
            Claim::Lasso(lasso)
        }
        _ => return None,
    })
}

fn change_set(recurrence: &mut Recurrence, random: &mut Random) {
    match random.below(4u32) {
        0 => recurrence.stem += 1,
        1 => drop(recurrence.chosen.pop()),
        2 => {
            for (_, set) in &mut recurrence.sets {
                *set = "true".to_owned();
            }
        }
        _ => drop(recurrence.script.inputs.pop()),
    }
}

fn other(order: Order) -> Order {
    match order {
        Order::Signed => Order::Unsigned,
        Order::Unsigned => Order::Signed,
    }
}

/// A claim with a word at every cut point that somebody thought of.
fn made_up(model: &Model<'_>, random: &mut Random) -> Ranking {
    let view = &model.flat;
    let layout = &view.semantics.layout;
    let mut words: Vec<String> = Vec::new();
    for (at, variable) in layout.variables().iter().enumerate() {
        if variable.name.starts_with("main::") && variable.name.len() == 7 {
            let name = format!("|{}#{at}|", variable.name);
            words.push(name.clone());
            words.push(format!("(bvneg {name})"));
        }
    }
    let cuts: Vec<LocId> = view.skeleton.cuts.iter().copied().collect();
    let word = words[random.below(words.len())].clone();
    let order = if random.one_in(3) {
        Order::Signed
    } else {
        Order::Unsigned
    };
    let mut claim = Ranking {
        checks: vec![ends(model.program)],
        ..Ranking::default()
    };
    claim.invariants.cuts = cuts.clone();
    for &at in &cuts {
        claim.invariants.at.insert(at, "true".to_owned());
        let head = view.program.locations[at.index()].kind
            == hardbop_cfront::program::LocationKind::LoopHead;
        // Loops of one level, in the order of the program, after what comes before them.
        let level = if head { 1 } else { 2 };
        let components = match head {
            true => vec![Component {
                order,
                term: word.clone(),
            }],
            false => Vec::new(),
        };
        claim.ranks.push(Rank {
            at,
            level,
            components,
        });
    }
    for function in hardbop_cfront::call_graph::callable(view.program) {
        claim.calls.push(hardbop_engine::claim::CallRank {
            function,
            level: 0,
            components: Vec::new(),
        });
    }
    claim
}
