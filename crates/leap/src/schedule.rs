//! What to choose in every iteration, where the program leaves it open (section 5).
//!
//! First the same value every time, which disables the other choices; then values that a predicate
//! schedules: the parity of a counter (round robin), a condition of the program, one of the
//! user's.

use crate::chain::{ChoiceKey, Strategy};
use crate::graph::{Graph, PathId};
use hardbop_logic::{Op, Sort, TermId, Terms, Value, eval};
use std::collections::{BTreeMap, BTreeSet};

/// At most so many strategies are tried for one loop.
const MOST: usize = 48;
/// At most so many values are tried for one choice.
const VALUES: usize = 6;

/// The choices that some paths leave open and that matter to them.
pub fn keys(terms: &Terms, graph: &Graph, paths: &[PathId]) -> BTreeMap<ChoiceKey, Sort> {
    let mut keys = BTreeMap::new();
    for &index in paths {
        let path = graph.path(index);
        let mut roots = vec![path.condition];
        if let crate::graph::End::Cut(to) = path.to {
            roots.extend(
                graph
                    .cut(to)
                    .relevant
                    .iter()
                    .filter_map(|&id| path.state.written_to(id)),
            );
        }
        let free = terms.free_constants(&roots);
        for unknown in &path.unknowns {
            if free.contains(&unknown.symbol)
                && matches!(terms.sort(unknown.symbol), Sort::BitVec(_))
            {
                keys.insert(
                    (unknown.edge, unknown.occurrence),
                    terms.sort(unknown.symbol),
                );
            }
        }
    }
    keys
}

/// The strategies to try, simple ones first. `schedules` are predicates over the state at the
/// start of an iteration.
pub fn strategies(
    terms: &mut Terms,
    graph: &Graph,
    paths: &[PathId],
    schedules: &BTreeSet<TermId>,
) -> Vec<Strategy> {
    let keys = keys(terms, graph, paths);
    if keys.is_empty() {
        return vec![Strategy::new()];
    }
    let values: Vec<(ChoiceKey, Vec<TermId>)> = keys
        .iter()
        .map(|(&key, &sort)| (key, values(terms, graph, paths, key, sort)))
        .collect();
    let mut found: Vec<Strategy> = vec![Strategy::new()];
    for (key, options) in &values {
        let mut longer = Vec::new();
        for option in options {
            for strategy in &found {
                let mut strategy = strategy.clone();
                strategy.insert(*key, *option);
                longer.push(strategy);
            }
        }
        longer.truncate(MOST);
        found = longer;
    }
    // One choice at a time is scheduled by a predicate, the others stay what they were.
    let plain = found.clone();
    for &schedule in schedules {
        for (key, options) in &values {
            for strategy in plain.iter().take(8) {
                for &other in options.iter().take(3) {
                    if strategy[key] == other || found.len() >= 4 * MOST {
                        continue;
                    }
                    let mut scheduled = strategy.clone();
                    let chosen = terms.ite(schedule, other, strategy[key]);
                    scheduled.insert(*key, chosen);
                    if !found.contains(&scheduled) {
                        found.push(scheduled);
                    }
                }
            }
        }
    }
    found
}

/// The values worth trying for one choice: one for every way in which the conditions on it alone
/// can come out, then some small numbers.
fn values(
    terms: &mut Terms,
    graph: &Graph,
    paths: &[PathId],
    key: ChoiceKey,
    sort: Sort,
) -> Vec<TermId> {
    let width = sort.width();
    let mut constants: Vec<i128> = vec![1, 0, -1];
    let mut atoms: BTreeSet<TermId> = BTreeSet::new();
    // What it is compared to, where that is a matter of the state.
    let mut equals: BTreeSet<TermId> = BTreeSet::new();
    let mut added_up = false;
    let one_symbol = terms.fresh("choice", sort);
    for &index in paths {
        let path = graph.path(index);
        let Some(unknown) = path
            .unknowns
            .iter()
            .find(|unknown| (unknown.edge, unknown.occurrence) == key)
        else {
            continue;
        };
        let posts: Vec<TermId> = path.state.written().map(|(_, post)| post).collect();
        let lands = |post: &TermId| {
            let moved = matches!(terms.op(*post), Op::BvAdd | Op::BvSub);
            moved && terms.free_constants(&[*post]).contains(&unknown.symbol)
        };
        added_up |= posts.iter().any(lands);
        let renamed = terms.substitute(path.condition, &[(unknown.symbol, one_symbol)].into());
        for atom in hardbop_logic::atoms(terms, renamed) {
            let free = terms.free_constants(&[atom]);
            if !free.contains(&one_symbol) {
                continue;
            }
            if free.len() == 1 {
                atoms.insert(atom);
            }
            if let (Op::Eq, &[a, b]) = (terms.op(atom), terms.args(atom)) {
                for (one, other) in [(a, b), (b, a)] {
                    let free = terms.free_constants(&[other]);
                    let state = |constant: &TermId| graph.constants.meaning(*constant).is_some();
                    if one == one_symbol && !free.is_empty() && free.iter().all(state) {
                        equals.insert(other);
                    }
                }
            }
            for term in terms.postorder(&[atom]) {
                if let Some(Value::BitVec(bits)) = terms.value_of(term)
                    && matches!(terms.op(term), Op::BitVec(_))
                    && let Ok(value) = i128::try_from(bits.signed())
                {
                    constants.extend([value, value + 1, value - 1]);
                }
            }
        }
    }
    let mut found = Vec::new();
    let mut outcomes: BTreeMap<Vec<bool>, usize> = BTreeMap::new();
    // How far a word moves by what is chosen is worth more than one try.
    let most = if added_up { 3 } else { 1 };
    for value in constants {
        let value = terms.bv(value, width);
        if found.contains(&value) {
            continue;
        }
        let mut assignment = hardbop_logic::Assignment::new();
        if let Some(literal) = terms.value_of(value) {
            assignment.set(one_symbol, literal);
        }
        let outcome: Vec<bool> = atoms
            .iter()
            .map(|&atom| matches!(eval(terms, atom, &assignment), Ok(Value::Bool(true))))
            .collect();
        // Without conditions every value counts.
        let tries = outcomes.entry(outcome).or_default();
        *tries += 1;
        if atoms.is_empty() || *tries <= most {
            found.push(value);
        }
    }
    found.truncate(VALUES);
    found.extend(equals.into_iter().take(2));
    found
}
