//! Loop-free blocks: everything between two sets of locations, as one formula.
//!
//! This is large-block encoding: paths that meet are merged with `ite`, so a block of many
//! branches is one formula and not many paths.

use crate::Semantics;
use crate::exec::{Execution, Unmodelled};
use crate::state::{Fresh, State};
use hardbop_cfront::ids::{EdgeId, LocId};
use hardbop_cfront::program::{Edge, Op, Program};
use hardbop_logic::{Sort, TermId, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// What a block does on the way to one of its ends.
#[derive(Clone, Debug)]
pub struct BlockExit {
    /// The location where the block ends.
    pub location: LocId,
    /// The condition, over the state at the start and the fresh symbols, under which it ends
    /// here; facts included.
    pub condition: TermId,
    /// The state there.
    pub state: State,
}

/// A block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Where it starts.
    pub start: LocId,
    /// Where it ends, sorted by location.
    pub exits: Vec<BlockExit>,
    /// For every edge in the block the condition under which it is taken: a model of the block
    /// tells the path by them.
    pub edges: BTreeMap<EdgeId, TermId>,
    /// The unknown values met in it, with their edges.
    pub fresh: Vec<(EdgeId, Fresh)>,
    /// Whether every model is a run.
    pub exact: bool,
}

/// The block that starts at a location and ends wherever a location of `cuts` (or one without
/// edges) is met. Call edges are never inside a block: their start must be among the cuts.
///
/// `cuts` must cut every cycle; the caller sees to it that loop heads are in it.
pub fn block(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    start: LocId,
    cuts: &BTreeSet<LocId>,
) -> Result<Block, Unmodelled> {
    block_from(semantics, terms, start, cuts, State::new())
}

/// The same block, entered in a given state.
pub fn block_from(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    start: LocId,
    cuts: &BTreeSet<LocId>,
    entered: State,
) -> Result<Block, Unmodelled> {
    let program = semantics.program;
    let order = topological(semantics, start, cuts);
    let mut result = Block {
        start,
        exits: Vec::new(),
        edges: BTreeMap::new(),
        fresh: Vec::new(),
        exact: true,
    };
    let top = terms.bool(true);
    let mut entry = Some((top, entered));
    let mut arrivals: BTreeMap<LocId, Vec<(TermId, State)>> = BTreeMap::new();
    for location in order {
        let here = match entry.take() {
            Some(first) => first,
            None => {
                let Some(list) = arrivals.remove(&location) else {
                    continue;
                };
                merge_all(semantics, terms, list)
            }
        };
        let mut choices = choices(program, terms, location).into_iter();
        for (id, edge) in program.edges_from(location) {
            let mut run = Execution::new(semantics);
            run.state = here.1.clone();
            let guard = run.edge(terms, id)?;
            let mut conjuncts = vec![here.0, guard];
            conjuncts.extend(choices.next());
            conjuncts.append(&mut run.facts);
            let condition = terms.and(&conjuncts);
            result.edges.insert(id, condition);
            result
                .fresh
                .extend(run.fresh.into_iter().map(|fresh| (id, fresh)));
            result.exact &= run.exact;
            arrivals
                .entry(edge.to)
                .or_default()
                .push((condition, run.state));
        }
    }
    for (location, list) in arrivals {
        let (condition, state) = merge_all(semantics, terms, list);
        result.exits.push(BlockExit {
            location,
            condition,
            state,
        });
    }
    Ok(result)
}

/// For each edge that leaves a location, that it is the one that is taken, where nothing else says
/// so: a slice has branches that go either way.
fn choices(program: &Program, terms: &mut Terms, location: LocId) -> Vec<TermId> {
    let edges = program.locations[location.index()].edges.len();
    let is_condition = |(_, edge): (EdgeId, &Edge)| matches!(edge.op, Op::Assume { .. });
    if edges < 2 || program.edges_from(location).all(is_condition) {
        return Vec::new();
    }
    let mut choices = Vec::with_capacity(edges);
    let mut others = Vec::new();
    for number in 0..edges {
        let mut chosen = others.clone();
        if number + 1 < edges {
            let choice = terms.fresh("choice", Sort::Bool);
            chosen.push(choice);
            others.push(terms.not(choice));
        }
        choices.push(terms.and(&chosen));
    }
    choices
}

fn merge_all(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    list: Vec<(TermId, State)>,
) -> (TermId, State) {
    // Nobody comes over a way whose condition is false.
    let never = terms.bool(false);
    let taken = list.iter().any(|(condition, _)| *condition != never);
    let list = list.into_iter().rev();
    let mut list = list.filter(|(condition, _)| !taken || *condition != never);
    let Some((mut condition, mut state)) = list.next() else {
        return (terms.bool(false), State::new());
    };
    for (other, before) in list {
        // Where a branch is over, nobody needs to know how control came to it.
        let (both, side) = match terms.fork(other, condition) {
            Some(fork) => fork,
            None => (terms.or(&[other, condition]), other),
        };
        state = before.merge(&state, side, semantics, terms);
        condition = both;
    }
    (condition, state)
}

/// The locations inside the block, each after everything that leads to it.
fn topological(semantics: &Semantics<'_>, start: LocId, cuts: &BTreeSet<LocId>) -> Vec<LocId> {
    let program = semantics.program;
    let inside = |location: LocId| {
        location == start
            || (!cuts.contains(&location) && !program.locations[location.index()].edges.is_empty())
    };
    let mut seen: BTreeSet<LocId> = BTreeSet::from([start]);
    let mut order = Vec::new();
    let mut stack: Vec<(LocId, u32)> = vec![(start, 0)];
    while let Some((location, next)) = stack.last_mut() {
        let edges = program.locations[location.index()].edges.clone();
        let index = edges.start + *next;
        if index < edges.end {
            *next += 1;
            let to = program.edges[index as usize].to;
            // A cycle back to the start ends the block there.
            if to != start && inside(to) && seen.insert(to) {
                stack.push((to, 0));
            }
        } else {
            order.push(*location);
            stack.pop();
        }
    }
    order.reverse();
    order
}
