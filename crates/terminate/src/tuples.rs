//! Tuples that fall in lexicographic order, for one strongly connected part of a program.
//!
//! A sum that never grows can be the next component whatever comes after it, so there is nothing to
//! regret: take one that falls somewhere, go on with the steps by which it stays the same, and look
//! at the parts into which the cut points fall apart without the others. A step that a solver finds
//! is kept: sums that grow by it need not be asked about.

use crate::system::{Asked, Before, Move, Sample, System};
use crate::tables::tables;
use crate::words::{Sum, Word, sums};
use hardbop_cfront::ids::LocId;
use hardbop_engine::Reason;
use hardbop_engine::claim::Order;
use hardbop_graph::components;
use hardbop_logic::TermId;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The most components of a tuple.
const LONGEST: usize = 10;
/// The most sums that a solver is asked about for one component.
const TRIED: usize = 60;

/// What falls at each cut point, in lexicographic order.
pub(crate) type Tuples = BTreeMap<LocId, Vec<(Order, TermId)>>;

/// What was found.
pub(crate) enum Found {
    /// Tuples.
    Tuples(Tuples),
    /// Nothing falls at this cut point.
    Stuck(LocId),
}

/// Steps that nothing found so far makes fall.
struct Part {
    nodes: Vec<LocId>,
    moves: Vec<Open>,
    prefix: Vec<(Order, TermId)>,
    /// What sums are made of.
    words: Rc<Vec<Word>>,
    /// Whether tables are among them.
    tables: bool,
}

/// A step, as far as it is not done with, and samples of it.
struct Open {
    step: Move,
    samples: Vec<Sample>,
}

/// Looks for tuples over some words.
pub(crate) fn tuples(
    system: &mut System<'_, '_>,
    nodes: Vec<LocId>,
    moves: Vec<Move>,
    words: Vec<Word>,
) -> Result<Found, Reason> {
    let mut done = Tuples::new();
    let open = |step| Open {
        step,
        samples: Vec::new(),
    };
    let mut work = vec![Part {
        nodes,
        moves: moves.into_iter().map(open).collect(),
        prefix: Vec::new(),
        words: Rc::new(words),
        tables: !system.patient,
    }];
    while let Some(mut part) = work.pop() {
        still_taken(system, &mut part.moves, &part.words)?;
        let parts = fall_apart(&part);
        if let [cycle] = parts.as_slice()
            && cycle.cyclic
        {
            if let Some(sum) = next(system, &mut part)? {
                narrow(system, &mut part, &sum);
            } else if !part.tables {
                add_tables(system, &mut part)?;
            } else {
                let stuck = part
                    .moves
                    .first()
                    .map_or(part.nodes[0], |one| one.step.from);
                return Ok(Found::Stuck(stuck));
            }
            work.push(part);
            continue;
        }
        for (number, smaller) in parts.into_iter().enumerate() {
            let mut prefix = part.prefix.clone();
            if part.nodes.len() > 1 {
                let number = system.terms.bv(number as i128, 32);
                prefix.push((Order::Unsigned, number));
            }
            if !smaller.cyclic {
                done.extend(smaller.nodes.into_iter().map(|node| (node, prefix.clone())));
                continue;
            }
            let inside = |open: &Open| {
                let ends = [open.step.from, open.step.to];
                ends.iter().all(|end| smaller.nodes.contains(end))
            };
            let (moves, rest) = part.moves.into_iter().partition(inside);
            part.moves = rest;
            work.push(Part {
                nodes: smaller.nodes,
                moves,
                prefix,
                words: Rc::clone(&part.words),
                tables: part.tables,
            });
        }
    }
    for (&node, words) in &mut done {
        for (_, word) in words {
            *word = system.at(node, *word);
        }
    }
    Ok(Found::Tuples(done))
}

/// Adds words that say how far a state machine is. What samples say of them is not known.
fn add_tables(system: &mut System<'_, '_>, part: &mut Part) -> Result<(), Reason> {
    part.tables = true;
    let moves: Vec<Move> = part.moves.iter().map(|open| open.step.clone()).collect();
    let tables = tables(system, &moves)?;
    if !tables.is_empty() {
        part.words = Rc::new([tables, part.words.to_vec()].concat());
        for open in &mut part.moves {
            open.samples.clear();
        }
    }
    Ok(())
}

/// A strongly connected part of the cut points.
struct Component {
    nodes: Vec<LocId>,
    cyclic: bool,
}

/// The strongly connected parts, each after those that it leads to.
fn fall_apart(part: &Part) -> Vec<Component> {
    let number = |node: &LocId| part.nodes.iter().position(|other| other == node);
    let mut successors = vec![Vec::new(); part.nodes.len()];
    for open in &part.moves {
        if let (Some(from), Some(to)) = (number(&open.step.from), number(&open.step.to)) {
            successors[from].push(to);
        }
    }
    let component = |members: Vec<usize>| Component {
        cyclic: members.len() > 1 || successors[members[0]].contains(&members[0]),
        nodes: members.iter().map(|&member| part.nodes[member]).collect(),
    };
    components(&successors).into_iter().map(component).collect()
}

/// Drops steps that are never taken, and sees that there is a sample of the others.
fn still_taken(
    system: &mut System<'_, '_>,
    moves: &mut Vec<Open>,
    words: &[Word],
) -> Result<(), Reason> {
    let mut kept = Vec::new();
    for mut open in std::mem::take(moves) {
        if open.samples.is_empty() {
            let pairs = pairs(system, &open.step, words);
            match system.ask(&[open.step.taken], &pairs)? {
                Asked::Never => continue,
                Asked::Sample(sample) => open.samples.push(sample),
                Asked::Unknown => {}
            }
        }
        kept.push(open);
    }
    *moves = kept;
    Ok(())
}

/// The words before and after a step.
pub(crate) fn pairs(
    system: &mut System<'_, '_>,
    step: &Move,
    words: &[Word],
) -> Vec<(TermId, TermId, bool)> {
    let pair = |word: &Word| {
        let (before, after) = ends(system, step, word.term);
        (before, after, word.signed)
    };
    words.iter().map(pair).collect()
}

/// A term before and after a step.
fn ends(system: &mut System<'_, '_>, step: &Move, term: TermId) -> (TermId, TermId) {
    let (from, to) = (system.at(step.from, term), system.at(step.to, term));
    let before = match step.before {
        Before::Now => from,
        Before::Entry => system.at_entry(from),
    };
    (before, system.after(step.step, to))
}

/// A sum that no step makes grow, and some step makes fall.
fn next(system: &mut System<'_, '_>, part: &mut Part) -> Result<Option<Sum>, Reason> {
    if part.prefix.len() >= LONGEST {
        return Ok(None);
    }
    let words = Rc::clone(&part.words);
    let sums = sums(&words);
    let mut refused = vec![false; sums.len()];
    let mut tried = 0;
    loop {
        // Samples that came since may let others fall.
        let mut hopeful: Vec<(Reverse<usize>, usize)> = (0..sums.len())
            .filter(|&at| !refused[at])
            .filter_map(|at| Some((Reverse(falling(part, &sums[at])?), at)))
            .collect();
        hopeful.sort();
        if hopeful.is_empty() {
            return Ok(None);
        }
        for (_, at) in hopeful {
            let sum = &sums[at];
            if falling(part, sum).is_none() {
                continue;
            }
            tried += 1;
            if tried > TRIED {
                return Ok(None);
            }
            if !grows(system, part, &words, sum)? {
                return Ok(Some(sum.clone()));
            }
            refused[at] = true;
        }
    }
}

/// By how many samples a sum falls; `None` if there is none, or if it grows by one.
fn falling(part: &Part, sum: &Sum) -> Option<usize> {
    let mut count = 0;
    for sample in part.moves.iter().flat_map(|open| &open.samples) {
        match sum.falls(sample) {
            0 => {}
            by if by > 0 => count += 1,
            _ => return None,
        }
    }
    (count > 0).then_some(count)
}

/// Whether a sum may grow by some step. A sample of that is kept.
fn grows(
    system: &mut System<'_, '_>,
    part: &mut Part,
    words: &[Word],
    sum: &Sum,
) -> Result<bool, Reason> {
    let (order, term) = sum.term(system.terms, words);
    for open in &mut part.moves {
        let (before, after) = ends(system, &open.step, term);
        let grown = match order {
            Order::Signed => system.terms.bv_slt(before, after),
            Order::Unsigned => system.terms.bv_ult(before, after),
        };
        let pairs = pairs(system, &open.step, words);
        match system.ask(&[open.step.taken, grown], &pairs)? {
            Asked::Never => {}
            Asked::Sample(sample) => {
                open.samples.push(sample);
                return Ok(true);
            }
            Asked::Unknown => return Ok(true),
        }
    }
    Ok(false)
}

/// Takes a sum for the next component: what is left are the steps by which it stays the same.
fn narrow(system: &mut System<'_, '_>, part: &mut Part, sum: &Sum) {
    let (order, term) = sum.term(system.terms, &part.words);
    part.prefix.push((order, term));
    for open in &mut part.moves {
        let (before, after) = ends(system, &open.step, term);
        let same = system.terms.eq(before, after);
        open.step.taken = system.terms.and(&[open.step.taken, same]);
        open.samples.retain(|sample| sum.falls(sample) == 0);
    }
}
