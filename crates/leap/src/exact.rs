//! Runs with every leap exact: strategies are tried one after the other, the run that each makes is
//! followed ([`crate::course`]), and one that violates the check becomes a chain.
//!
//! The abstract state of such a leap is the closed form of every variable over the count of
//! iterations, which is at most the number of periods leapt; the exit port is where it is that
//! number. What is chosen is a word of the chain, not something that is run.

use crate::chain::{
    Body, Counting, Exactly, Leap, Link, Strategy, Values, Walk, body, entry, idle,
};
use crate::course::{Course, Event, Follower, Leapt, Policy, Walked};
use crate::graph::{CutId, End, Graph, PathId};
use crate::nest::{Nest, Part};
use crate::schedule::{keys, strategies};
use crate::search::Chain;
use crate::strengthen::{Entry, FoundLeap};
use crate::system::{States, System, Variable};
use crate::theorem::{Ports, Theorem, View};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::CheckId;
use hardbop_engine::claim::Count;
use hardbop_logic::{Assignment, Sort, TermId, Terms, Value};
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{FreshOrigin, Semantics};
use std::collections::{BTreeMap, BTreeSet};

/// What became of the attempt.
pub enum Exact {
    /// A chain was accepted.
    Accepted,
    /// The program leaves nothing open, and its only run does not violate the check.
    Never,
    /// Nothing is known.
    Open,
}

/// What is looked for.
pub struct Wanted {
    /// The check to be violated.
    pub check: CheckId,
    /// The most parts of runs that are followed, all together.
    pub parts: usize,
}

/// The most chains that are handed in.
const CHAINS: usize = 4;

/// Follows runs until a chain is accepted. The graph gets the paths of whole periods.
pub fn exact(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    budget: &Budget,
    graph: &mut Graph,
    wanted: &Wanted,
    judge: &mut dyn FnMut(&mut Terms, &Graph, &Chain, &Assignment) -> bool,
) -> Result<Exact, Stopped> {
    let check = wanted.check;
    let policies = policies(semantics, terms, graph);
    let open = policies.len() > 1;
    let mut follower = Follower {
        semantics,
        terms,
        graph,
        check,
        budget,
        known: BTreeMap::new(),
        parts: wanted.parts,
    };
    let mut chains = 0;
    for policy in &policies {
        if follower.parts == 0 {
            break;
        }
        match follower.follow(policy)? {
            Course::Violated(events) => {
                let (terms, graph) = (&mut *follower.terms, &*follower.graph);
                let mut model = Assignment::new();
                let found = chain(semantics, terms, graph, check, &events, &mut model);
                let Some(chain) = found else {
                    continue;
                };
                chains += 1;
                if judge(terms, graph, &chain, &model) {
                    return Ok(Exact::Accepted);
                }
                if chains >= CHAINS {
                    return Ok(Exact::Open);
                }
            }
            Course::Ended if !open && follower.graph.complete => return Ok(Exact::Never),
            Course::Ended | Course::Lost => {}
        }
    }
    Ok(Exact::Open)
}

/// What is tried where the program leaves something open: the same value each time, values that
/// predicates schedule, and the same values each time but for the first ones.
fn policies(semantics: &Semantics<'_>, terms: &mut Terms, graph: &Graph) -> Vec<Policy> {
    let all: Vec<PathId> = graph.path_ids().collect();
    if keys(terms, graph, &all).is_empty() {
        return vec![Policy::default()];
    }
    let mut schedules = BTreeSet::new();
    for path in &graph.paths {
        for atom in hardbop_logic::atoms(terms, path.condition) {
            if graph
                .constants
                .support(terms, atom)
                .is_some_and(|found| !found.is_empty())
            {
                schedules.insert(atom);
            }
        }
        let End::Cut(to) = path.to else {
            continue;
        };
        if graph.cut(path.from).part.is_none() {
            continue;
        }
        for (id, _) in path.state.written() {
            let constant = semantics.constant(terms, id);
            if !graph.cut(to).relevant.contains(&id)
                || !matches!(terms.sort(constant), Sort::BitVec(_))
            {
                continue;
            }
            let low = terms.extract(constant, 0, 0);
            let zero = terms.bv(0, 1);
            schedules.insert(terms.eq(low, zero));
            let zero = terms.bv(0, terms.width(constant));
            schedules.insert(terms.bv_slt(zero, constant));
        }
    }
    let found = strategies(terms, graph, &all, &schedules);
    let plain: Vec<&Strategy> = found
        .iter()
        .filter(|strategy| {
            strategy
                .values()
                .all(|&value| terms.value_of(value).is_some())
        })
        .take(6)
        .collect();
    let mut policies: Vec<Policy> = Vec::new();
    let policy = |rest: &Strategy, first: Option<(usize, Strategy)>| Policy {
        rest: rest.clone(),
        first,
    };
    policies.extend(plain.iter().map(|strategy| policy(strategy, None)));
    for times in 1..=2 {
        for rest in &plain {
            for first in plain.iter().filter(|first| first != &rest) {
                policies.push(policy(rest, Some((times, (*first).clone()))));
            }
        }
    }
    for strategy in &found {
        let other = policy(strategy, None);
        if !policies.contains(&other) {
            policies.push(other);
        }
    }
    policies
}

/// The chain of a run.
fn chain(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    graph: &Graph,
    check: CheckId,
    events: &[Event],
    model: &mut Assignment,
) -> Option<Chain> {
    let mut links = Vec::new();
    for event in events {
        links.push(match event {
            Event::Walk(walked) => Link::Walk(walk(terms, graph, walked)),
            Event::Leap(leapt) => {
                let leap = leap(semantics, terms, graph, leapt, model)?;
                Link::Leap(Box::new(leap))
            }
            Event::Nest(nest) => {
                let leap = nested(semantics, terms, graph, nest, model)?;
                Link::Leap(Box::new(leap))
            }
        });
    }
    Some(Chain {
        links,
        condition: terms.bool(true),
        check,
    })
}

fn walk(terms: &mut Terms, graph: &Graph, walked: &Walked) -> Walk {
    let mut choices = Vec::new();
    for (unknown, value) in graph.path(walked.path).unknowns.iter().zip(&walked.chosen) {
        let sort = terms.sort(unknown.symbol);
        if matches!(sort, Sort::BitVec(_)) {
            let literal = terms.literal(value, sort);
            choices.push(((unknown.edge, unknown.occurrence), literal));
        }
    }
    Walk {
        path: walked.path,
        choices,
        condition: terms.bool(true),
    }
}

/// Values as literals.
fn literals(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    values: &BTreeMap<StateVarId, Value>,
) -> Values {
    let mut found = Values::new();
    for (&id, value) in values {
        let sort = semantics.sort(terms, id);
        found.insert(id, terms.literal(value, sort));
    }
    found
}

fn leap(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    graph: &Graph,
    leapt: &Leapt,
    model: &mut Assignment,
) -> Option<Leap> {
    let mut strategy = Strategy::new();
    for (unknown, value) in graph.path(leapt.path).unknowns.iter().zip(&leapt.chosen) {
        let sort = terms.sort(unknown.symbol);
        if matches!(sort, Sort::BitVec(_)) {
            let literal = terms.literal(value, sort);
            strategy.insert((unknown.edge, unknown.occurrence), literal);
        }
    }
    let before = literals(semantics, terms, &leapt.from.values);
    let given = terms.bool(true);
    let body = body(
        semantics,
        terms,
        graph,
        &[leapt.path],
        &before,
        &strategy,
        Counting::On,
        given,
    );
    let entry = entry(terms, &body, leapt.from.cut, &before)?;
    let counter = body.counter?;
    let count = body.system.variables[counter].constant;
    let width = terms.width(count);
    let times = terms.bv(i128::from(leapt.times), width);
    if width < 64 && leapt.times >> width != 0 {
        return None;
    }
    let mut predicates = vec![terms.bv_ule(count, times)];
    let mut exit_values = Vec::new();
    for (variable, id) in body.system.variables.iter().zip(&body.variables) {
        let sort = terms.sort(variable.constant);
        let left = terms.fresh(&format!("{}@exit", variable.name), sort);
        exit_values.push(left);
        let Some(id) = id else {
            model.set(left, terms.value_of(times)?);
            continue;
        };
        let form = leapt.forms.get(id)?;
        predicates.extend(form.facts(terms, variable.constant, count));
        model.set(left, form.at(leapt.times));
    }
    let state = terms.and(&predicates);
    let last = terms.eq(count, times);
    let mut first: Vec<TermId> = vec![state];
    for (variable, &value) in body.system.variables.iter().zip(&entry.values) {
        first.push(terms.eq(variable.constant, value));
    }
    let first = terms.and(&first);
    let ports = Ports {
        exit: States(vec![terms.and(&[state, last])]),
        entry: States(vec![first]),
        state: States(vec![state]),
    };
    Some(Leap {
        entry,
        found: FoundLeap {
            ports,
            theorem: Theorem::Forward,
            view: View::Of(vec![vec![counter]]),
            predicates: vec![predicates],
        },
        strategy,
        before,
        exit_node: 0,
        exit_values,
        exactly: Some(Exactly {
            paths: leapt.times,
            last: vec![(count, times)],
        }),
        counts: Vec::new(),
        body,
    })
}

/// The nodes of a nest, with the paths between them and what they do to its counts.
struct Shape {
    nodes: Vec<CutId>,
    paths: Vec<PathId>,
    ends: Vec<(usize, usize)>,
    counts: Vec<Vec<Count>>,
}

fn shape(graph: &Graph, nest: &Nest) -> Shape {
    let mut shape = Shape {
        nodes: vec![nest.from.cut],
        paths: Vec::new(),
        ends: Vec::new(),
        counts: Vec::new(),
    };
    let mut at = 0;
    for (number, part) in nest.parts.iter().enumerate() {
        let last = number + 1 == nest.parts.len();
        let (path, to, counts) = match part {
            Part::Walk(path) if last => (*path, 0, vec![Count::Next, Count::Zero]),
            Part::Walk(path) => (*path, at + 1, vec![Count::Same, Count::Zero]),
            Part::Leap(inner) => {
                shape.nodes.push(graph.path(inner.path).from);
                (inner.path, at, vec![Count::Same, Count::Next])
            }
        };
        shape.paths.push(path);
        shape.ends.push((at, to));
        shape.counts.push(counts);
        at = to;
    }
    shape
}

/// A leap through rounds with leaps in them: two counts, and a node for every inner leap.
fn nested(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    graph: &Graph,
    nest: &Nest,
    model: &mut Assignment,
) -> Option<Leap> {
    let shape = shape(graph, nest);
    let mut strategy = Strategy::new();
    let mut ids: BTreeSet<StateVarId> = BTreeSet::new();
    for &path in &shape.paths {
        let path = graph.path(path);
        for unknown in &path.unknowns {
            let sort = terms.sort(unknown.symbol);
            if matches!(unknown.origin, FreshOrigin::Input(_)) {
                return None;
            }
            if matches!(sort, Sort::BitVec(_)) {
                let value = Value::default_of(terms, sort);
                let literal = terms.literal(&value, sort);
                strategy.insert((unknown.edge, unknown.occurrence), literal);
            }
        }
        for &node in &shape.nodes {
            for &id in &graph.cut(node).relevant {
                let constant = semantics.constant(terms, id);
                if path.state.get(semantics, terms, id) != constant {
                    ids.insert(id);
                }
            }
        }
    }
    let mut variables = Vec::new();
    let mut width = 32;
    for &id in &ids {
        let constant = semantics.constant(terms, id);
        if let Sort::BitVec(bits @ 33..=64) = terms.sort(constant) {
            width = width.max(bits);
        }
        variables.push(Variable {
            name: semantics.layout.get(id).name.clone(),
            constant,
            signed: semantics.shape(id).signed,
        });
    }
    if width < 64 && nest.times >> width != 0 {
        return None;
    }
    let rounds = terms.fresh("round", Sort::BitVec(width));
    let iterations = terms.fresh("iteration", Sort::BitVec(width));
    for (name, constant) in [("round", rounds), ("iteration", iterations)] {
        variables.push(Variable {
            name: name.to_owned(),
            constant,
            signed: false,
        });
    }
    let times = terms.bv(i128::from(nest.times), width);
    let zero = terms.bv(0, width);
    let mut outer = vec![terms.bv_ule(rounds, times), terms.eq(iterations, zero)];
    let relevant = |node: usize| &graph.cut(shape.nodes[node]).relevant;
    for &id in ids.iter().filter(|id| relevant(0).contains(id)) {
        let constant = semantics.constant(terms, id);
        outer.extend(nest.forms.get(&id)?.facts(terms, constant, rounds));
    }
    let mut predicates = vec![outer];
    let inner = nest.parts.iter().filter_map(|part| match part {
        Part::Leap(inner) => Some(inner),
        Part::Walk(_) => None,
    });
    for (number, inner) in inner.enumerate() {
        let most = inner.times_term(terms, rounds);
        let mut facts = vec![terms.bv_ult(rounds, times), terms.bv_ule(iterations, most)];
        for &id in ids.iter().filter(|id| relevant(number + 1).contains(id)) {
            let constant = semantics.constant(terms, id);
            facts.extend(inner.facts(terms, id, constant, (rounds, iterations))?);
        }
        predicates.push(facts);
    }
    let never = terms.bool(false);
    let state: Vec<TermId> = predicates.iter().map(|facts| terms.and(facts)).collect();
    let mut exit = vec![never; state.len()];
    let last = terms.eq(rounds, times);
    exit[0] = terms.and(&[state[0], last]);
    let before = literals(semantics, terms, &nest.from.values);
    let mut entered = Vec::new();
    let mut exit_values = Vec::new();
    for (number, variable) in variables.iter().enumerate() {
        let sort = terms.sort(variable.constant);
        let left = terms.fresh(&format!("{}@exit", variable.name), sort);
        exit_values.push(left);
        let id = ids.iter().nth(number);
        let first = id.and_then(|id| before.get(id).copied());
        entered.push(match first {
            Some(value) => value,
            None => idle(terms, variable.constant),
        });
        let value = match id {
            Some(id) => nest.forms.get(id).map(|form| form.at(nest.times)),
            None if variable.constant == rounds => terms.value_of(times),
            None => terms.value_of(zero),
        };
        model.set(
            left,
            value.unwrap_or_else(|| Value::default_of(terms, sort)),
        );
    }
    let mut first = vec![state[0]];
    for (variable, &value) in variables.iter().zip(&entered) {
        first.push(terms.eq(variable.constant, value));
    }
    let mut entry_port = vec![never; state.len()];
    entry_port[0] = terms.and(&first);
    let (at_rounds, at_iterations) = (ids.len(), ids.len() + 1);
    let mut view = vec![vec![at_rounds, at_iterations]; state.len()];
    view[0] = vec![at_rounds];
    let known: Vec<Option<StateVarId>> =
        ids.iter().copied().map(Some).chain([None, None]).collect();
    let given = terms.bool(true);
    let system = System::new(terms, variables, state.len(), Vec::new(), given);
    Some(Leap {
        body: Body {
            system,
            nodes: shape.nodes,
            paths: shape.paths,
            ends: shape.ends,
            variables: known,
            counter: Some(at_rounds),
        },
        entry: Entry {
            node: 0,
            values: entered,
        },
        found: FoundLeap {
            ports: Ports {
                state: States(state),
                entry: States(entry_port),
                exit: States(exit),
            },
            theorem: Theorem::Forward,
            view: View::Of(view),
            predicates,
        },
        strategy,
        before,
        exit_node: 0,
        exit_values,
        exactly: Some(Exactly {
            paths: nest.length(),
            last: vec![(rounds, times), (iterations, zero)],
        }),
        counts: shape.counts,
    })
}
