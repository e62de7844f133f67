//! The weakest abstract state that a leap goes through, for the explanation.
//!
//! The search keeps every predicate that holds all along the loop, since it cannot know which of
//! them will matter after it. A reader wants to see what the leap rests on: so predicates are
//! dropped, and lower bounds lowered, as long as the theorem's conditions hold and the exit port
//! stays what it is, or still leads to where the chain goes on. In the paper's own examples this gives the paper's
//! abstract states.

use crate::chain::{Leap, Link};
use crate::graph::{End, Graph};
use crate::modal::open;
use crate::strengthen::{at, ports, stay};
use crate::system::States;
use crate::theorem::{Ports, Theorem, holds};
use hardbop_logic::{Op, Prover, TermId, Terms};
use hardbop_semantics::Semantics;
use std::collections::BTreeMap;

/// At most so many weaker states are tried.
const TRIES: usize = 24;
/// Bounds up to this are lowered.
const SMALL: u64 = 16;

/// The leap with the weakest abstract state that was found for it.
pub fn relaxed(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    prover: &mut Prover,
    graph: &Graph,
    leap: &Leap,
    after: &[Link],
) -> Leap {
    let mut weakest = leap.clone();
    if leap.found.theorem != Theorem::Forward {
        return weakest;
    }
    let system = &leap.body.system;
    let stays = stay(terms, system);
    let entered = at(terms, system, &leap.entry.values, stays.0[leap.entry.node]);
    weakest.body.system.given = terms.and(&[system.given, entered]);
    let onward = onward(semantics, terms, graph, leap, after)
        .filter(|onward| leads(terms, prover, &weakest, &leap.found.ports.exit, onward));
    let mut tries = TRIES;
    let mut accept = |terms: &mut Terms,
                      prover: &mut Prover,
                      weakest: &mut Leap,
                      predicates: Vec<Vec<TermId>>,
                      may_grow: bool| {
        if tries == 0 {
            return false;
        }
        tries -= 1;
        let tried = ports(terms, &leap.body.system, &leap.entry, &predicates);
        let onward = onward.as_ref().filter(|_| may_grow);
        let stands = is_fine(terms, prover, weakest, &tried, onward);
        if stands {
            weakest.found.ports = tried;
            weakest.found.predicates = predicates;
        }
        stands
    };
    for node in 0..system.nodes {
        // The ones that say the most come last, and go first.
        let mut position = weakest.found.predicates[node].len();
        while position > 0 {
            position -= 1;
            let mut fewer = weakest.found.predicates.clone();
            let dropped = fewer[node].remove(position);
            // Without a bound or an equation a reader would miss where the loop is left.
            let may_grow = is_congruence(terms, dropped);
            accept(terms, prover, &mut weakest, fewer, may_grow);
        }
        for position in 0..weakest.found.predicates[node].len() {
            for lower in lowered(terms, weakest.found.predicates[node][position]) {
                let mut weaker = weakest.found.predicates.clone();
                weaker[node][position] = lower;
                if accept(terms, prover, &mut weakest, weaker, true) {
                    break;
                }
            }
        }
    }
    weakest.body.system.given = system.given;
    weakest
}

/// Whether a leap through an abstract state stands, and leads on.
fn is_fine(
    terms: &mut Terms,
    prover: &mut Prover,
    leap: &Leap,
    tried: &Ports,
    onward: Option<&States>,
) -> bool {
    let system = &leap.body.system;
    let stands = holds(
        prover,
        terms,
        system,
        tried,
        Theorem::Forward,
        &leap.found.view,
    );
    if stands != Ok(Ok(())) {
        return false;
    }
    match onward {
        Some(onward) => leads(terms, prover, leap, &tried.exit, onward),
        // Where the search cannot tell either, the exit port must at least not grow.
        None => leads(terms, prover, leap, &tried.exit, &leap.found.ports.exit),
    }
}

/// Whether all states of a set are in another one.
fn leads(terms: &mut Terms, prover: &mut Prover, leap: &Leap, set: &States, into: &States) -> bool {
    set.0.iter().zip(&into.0).all(|(&set, &into)| {
        let outside = terms.not(into);
        let question = [leap.body.system.given, set, outside];
        prover.unsatisfiable(terms, &question) == Ok(true)
    })
}

/// The states from which one step leads to where the chain goes on up to its next leap, or to its
/// end.
fn onward(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    graph: &Graph,
    leap: &Leap,
    after: &[Link],
) -> Option<States> {
    let mut walks = after.iter().map_while(|link| match link {
        Link::Walk(walk) => Some(graph.path(walk.path)),
        Link::Leap(_) => None,
    });
    // The first walk is the step that leaves the loop; any other step to the same place will do.
    let leaving = walks.next()?;
    let rest: Vec<_> = walks.collect();
    let mut condition = terms.bool(true);
    for path in rest.iter().rev() {
        let mut map = BTreeMap::new();
        for constant in terms.free_constants(&[condition]) {
            for (id, value) in path.state.written() {
                if semantics.constant(terms, id) == constant {
                    map.insert(constant, value);
                }
            }
        }
        condition = terms.substitute(condition, &map);
        condition = terms.and(&[path.condition, condition]);
        let inputs: Vec<TermId> = path.unknowns.iter().map(|u| u.symbol).collect();
        condition = open(terms, &inputs, condition);
    }
    let End::Cut(to) = leaving.to else {
        return None;
    };
    // What the loop leaves alone has the value that it had before.
    let mut fixed = BTreeMap::new();
    for (&id, &value) in &leap.before {
        let constant = semantics.constant(terms, id);
        if !leap.body.variables.contains(&Some(id)) {
            fixed.insert(constant, value);
        }
    }
    let condition = terms.substitute(condition, &fixed);
    let system = &leap.body.system;
    let mut ways = vec![Vec::new(); system.nodes];
    for (step, &path) in system.steps.iter().zip(&leap.body.paths) {
        if graph.path(path).to != End::Cut(to) {
            continue;
        }
        let then = system.after(terms, step, condition);
        ways[step.from].push(terms.and(&[step.condition, then]));
    }
    Some(States(ways.iter().map(|ways| terms.or(ways)).collect()))
}

fn is_congruence(terms: &Terms, predicate: TermId) -> bool {
    let inside = terms.postorder(&[predicate]);
    inside
        .iter()
        .any(|&term| matches!(terms.op(term), Op::Extract { low: 0, .. }))
}

/// Weaker forms of a lower bound by a small number, the weakest first.
fn lowered(terms: &mut Terms, predicate: TermId) -> Vec<TermId> {
    let op = terms.op(predicate).clone();
    if !matches!(op, Op::BvSle | Op::BvUle) {
        return Vec::new();
    }
    let &[bound, word] = terms.args(predicate) else {
        return Vec::new();
    };
    let number = terms
        .value_of(bound)
        .and_then(|value| crate::sample::number(&value, true))
        .and_then(|number| u64::try_from(number).ok())
        .filter(|&number| number <= SMALL && terms.value_of(word).is_none());
    let Some(number) = number else {
        return Vec::new();
    };
    let width = terms.width(word);
    (0..number)
        .map(|lower| {
            let lower = terms.bv(i128::from(lower), width);
            match op {
                Op::BvSle => terms.bv_sle(lower, word),
                _ => terms.bv_ule(lower, word),
            }
        })
        .collect()
}
