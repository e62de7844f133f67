//! How far a state machine is: a number for each value of a variable that holds few.
//!
//! Which values follow which is asked of a solver, pair by pair. The strongly connected parts of
//! that graph are in an order, and a variable's place in it never grows.

use crate::system::{Asked, Move, System};
use crate::tuples::pairs;
use crate::words::{Word, decisions};
use hardbop_engine::Reason;
use hardbop_graph::components;
use hardbop_logic::atoms_of;
use hardbop_logic::{Op, Sort, TermId};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::steps::Step;
use std::collections::{BTreeMap, BTreeSet};

/// The most variables that are looked at.
const VARIABLES: usize = 4;
/// The most pairs of values that follow each other.
const PAIRS: usize = 200;
/// The width of a place in the order.
const WIDTH: u32 = 16;

/// Words that say how far state machines are, if there are such.
pub(crate) fn tables(system: &mut System<'_, '_>, moves: &[Move]) -> Result<Vec<Word>, Reason> {
    let mut found = Vec::new();
    for variable in machines(system, moves) {
        if let Some(pairs) = follow(system, moves, variable)? {
            found.extend(table(system, variable, &pairs));
        }
    }
    Ok(found)
}

/// Variables that are compared with several numbers for being the same.
fn machines(system: &mut System<'_, '_>, moves: &[Move]) -> Vec<TermId> {
    let steps: Vec<&Step> = moves.iter().map(|step| &system.steps[step.step]).collect();
    let conditions = decisions(&system.ground, system.terms, &steps);
    let mut compared: BTreeMap<TermId, BTreeSet<TermId>> = BTreeMap::new();
    for atom in atoms_of(system.terms, &conditions) {
        let (Op::Eq, &[a, b]) = (system.terms.op(atom), system.terms.args(atom)) else {
            continue;
        };
        for (one, other) in [(a, b), (b, a)] {
            let now = matches!(system.ground.constants.meaning(one), Some(Meaning::Now(_)));
            if now
                && matches!(system.terms.sort(one), Sort::BitVec(2..=64))
                && system.terms.value_of(other).is_some()
            {
                compared.entry(one).or_default().insert(other);
            }
        }
    }
    let mut machines: Vec<(usize, TermId)> = compared
        .into_iter()
        .filter(|(_, numbers)| numbers.len() > 1)
        .map(|(variable, numbers)| (numbers.len(), variable))
        .collect();
    machines.sort_by(|a, b| b.cmp(a));
    let most = machines.into_iter().take(VARIABLES);
    most.map(|(_, variable)| variable).collect()
}

/// Which values follow which; `None` if they are too many.
fn follow(
    system: &mut System<'_, '_>,
    moves: &[Move],
    variable: TermId,
) -> Result<Option<BTreeSet<(i128, i128)>>, Reason> {
    let width = system.terms.width(variable);
    let word = Word {
        term: variable,
        signed: false,
        wraps: true,
    };
    let mut known: BTreeSet<(i128, i128)> = BTreeSet::new();
    for step in moves {
        let ends = pairs(system, step, &[word]);
        let (before, after, _) = ends[0];
        // Those of other steps may be of this one too, so they are asked about here again.
        let mut here: Vec<TermId> = vec![step.taken];
        loop {
            match system.ask(&here, &ends)? {
                Asked::Never => break,
                Asked::Unknown => return Ok(None),
                Asked::Sample(sample) => {
                    let pair = (sample.before[0], sample.after[0]);
                    known.insert(pair);
                    if known.len() > PAIRS || here.len() > PAIRS {
                        return Ok(None);
                    }
                    let from = system.terms.bv(pair.0, width);
                    let to = system.terms.bv(pair.1, width);
                    let from = system.terms.eq(before, from);
                    let to = system.terms.eq(after, to);
                    let this = system.terms.and(&[from, to]);
                    here.push(system.terms.not(this));
                }
            }
        }
    }
    Ok(Some(known))
}

/// The place of each value in the order; `None` if all have the same.
fn table(
    system: &mut System<'_, '_>,
    variable: TermId,
    pairs: &BTreeSet<(i128, i128)>,
) -> Option<Word> {
    let values: BTreeSet<i128> = pairs.iter().flat_map(|&(from, to)| [from, to]).collect();
    let values: Vec<i128> = values.into_iter().collect();
    let number = |value: i128| values.binary_search(&value).unwrap_or(0);
    let mut successors = vec![Vec::new(); values.len()];
    for &(from, to) in pairs {
        successors[number(from)].push(number(to));
    }
    let parts = components(&successors);
    if parts.len() < 2 {
        return None;
    }
    let width = system.terms.width(variable);
    let mut place = system.terms.bv(parts.len() as i128, WIDTH);
    for (at, part) in parts.iter().enumerate() {
        for &value in part {
            let value = system.terms.bv(values[value], width);
            let is = system.terms.eq(variable, value);
            let here = system.terms.bv(at as i128, WIDTH);
            place = system.terms.ite(is, here, place);
        }
    }
    Some(Word {
        term: place,
        signed: false,
        wraps: true,
    })
}
