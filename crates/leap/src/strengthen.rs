//! Finds an abstract state that a leap goes through: the loop's own condition and every candidate
//! predicate that holds on entry and is kept by each step that stays.

use crate::candidate::{Seeds, candidates};
use crate::modal::{either, exit_port};
use crate::sample::{Course, Sample, holds as true_in, run};
use crate::system::{States, System};
use crate::theorem::{Failed, Ports, Theorem, View, holds};
use crate::views::views;
use hardbop_logic::{Assignment, Op, Prover, Sort, TermId, Terms, Undecided, Unknown, eval};
use std::collections::BTreeSet;

/// Where a loop is entered.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The node.
    pub node: usize,
    /// The values of the variables, over the rigid constants.
    pub values: Vec<TermId>,
}

/// A leap that was found.
#[derive(Clone, Debug)]
pub struct FoundLeap {
    /// The abstract state and its ports.
    pub ports: Ports,
    /// The theorem whose conditions hold.
    pub theorem: Theorem,
    /// What tells states apart.
    pub view: View,
    /// For every node the predicates that make up the abstract state, besides the condition for
    /// staying.
    pub predicates: Vec<Vec<TermId>>,
}

/// Why there is no leap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// The loop cannot be entered here.
    NotEntered,
    /// A run from the entry comes back to where it was.
    Cycle,
    /// The conditions of neither theorem hold; this one fails for Theorem 2.
    Conditions(Failed),
    /// The solver did not know.
    Undecided(Undecided),
}

impl From<Undecided> for NotFound {
    fn from(undecided: Undecided) -> NotFound {
        NotFound::Undecided(undecided)
    }
}

/// Which theorems are tried, in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directions {
    /// Theorem 2, then Theorem 1.
    Both,
    /// Theorem 2 only.
    Forward,
}

/// How far a loop is run to see what it does.
const SAMPLES: usize = 48;

/// Looks for an abstract state through which a leap goes from the entry.
///
/// `counter` is the position of a variable that counts iterations, if the system has one.
pub fn find(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    entry: &Entry,
    conditions: &BTreeSet<TermId>,
    counter: Option<usize>,
    directions: Directions,
) -> Result<FoundLeap, NotFound> {
    let stays = stay(terms, system);
    let at_entry = at(terms, system, &entry.values, stays.0[entry.node]);
    let Some(rigid) = prover.model(terms, &[system.given, at_entry])? else {
        return Err(NotFound::NotEntered);
    };
    let samples = sampled(terms, system, entry, &rigid)?;
    let seeds = Seeds {
        system,
        entry: &entry.values,
        conditions,
        samples: &samples,
        rigid: &rigid,
        counter,
    };
    let mut kept: Vec<Vec<TermId>> = (0..system.nodes)
        .map(|node| candidates(terms, &seeds, node))
        .collect();
    let given = terms.and(&[system.given, at_entry]);
    holding_on_entry(prover, terms, given, entry, system, &mut kept)?;
    inductive(prover, terms, system, given, &stays, &mut kept)?;
    for (node, predicates) in kept.iter_mut().enumerate() {
        weed(prover, terms, given, stays.0[node], predicates)?;
    }
    let ports = ports(terms, system, entry, &kept);
    let mut given_system = system.clone();
    given_system.given = given;
    let mut failed = None;
    for view in views(terms, system, &stays, counter) {
        match holds(
            prover,
            terms,
            &given_system,
            &ports,
            Theorem::Forward,
            &view,
        )? {
            Ok(()) => {
                return Ok(FoundLeap {
                    ports,
                    theorem: Theorem::Forward,
                    view,
                    predicates: kept,
                });
            }
            Err(why) => failed = failed.or(Some(why)),
        }
    }
    if directions == Directions::Both
        && let Some(found) = backward(prover, terms, &given_system, &ports, &kept)?
    {
        return Ok(found);
    }
    Err(NotFound::Conditions(failed.unwrap_or(Failed::Uniqueness)))
}

/// Parts of the entry port to try where the whole of it does not do (section 4.1, dual): smaller
/// ones make condition 3 of Theorem 2 easier. The values on entry are terms over what the program
/// left open before, so a part is a condition on that: a parity, a sign, or all of it at once.
pub fn entry_parts(terms: &mut Terms, entry: &Entry, rigid: &Assignment) -> Vec<TermId> {
    let mut parts = Vec::new();
    let mut point = Vec::new();
    for &value in &entry.values {
        let Sort::BitVec(width) = terms.sort(value) else {
            continue;
        };
        if terms.value_of(value).is_some() {
            continue;
        }
        if width > 1 {
            let low = terms.extract(value, 0, 0);
            for bit in [0, 1] {
                let bit = terms.bv(bit, 1);
                parts.push(terms.eq(low, bit));
            }
            let zero = terms.bv(0, width);
            let signs = [terms.bv_slt(zero, value), terms.bv_slt(value, zero)];
            parts.extend(signs);
        }
        if let Ok(now) = eval(terms, value, rigid) {
            let sort = terms.sort(value);
            let now = terms.literal(&now, sort);
            point.push(terms.eq(value, now));
        }
    }
    if !point.is_empty() {
        parts.push(terms.and(&point));
    }
    parts
}

/// The abstract state that predicates make at every node, besides the condition for staying, with
/// the entry port at the entry and the maximal exit port.
pub fn ports(
    terms: &mut Terms,
    system: &System,
    entry: &Entry,
    predicates: &[Vec<TermId>],
) -> Ports {
    let stays = stay(terms, system);
    let mut state = Vec::with_capacity(system.nodes);
    for (&stays, predicates) in stays.0.iter().zip(predicates) {
        let mut conjuncts = vec![stays];
        conjuncts.extend(predicates);
        state.push(terms.and(&conjuncts));
    }
    let state = States(state);
    let mut equations = vec![state.0[entry.node]];
    for (variable, &value) in system.variables.iter().zip(&entry.values) {
        equations.push(terms.eq(variable.constant, value));
    }
    let point = terms.and(&equations);
    // Every step that can be followed by another one keeps the predicates, so it ends in the
    // abstract state; to say no more than that keeps the port small. Should it be too small, the
    // conditions of the theorems will not hold.
    let staying = exit_port(terms, system, &state, &stays);
    Ports {
        exit: state.without(terms, &staying),
        entry: States::at(terms, system.nodes, entry.node, point),
        state,
    }
}

/// Theorem 1 with the maximal exit port, then with parts of it where only condition 3 fails.
fn backward(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    ports: &Ports,
    kept: &[Vec<TermId>],
) -> Result<Option<FoundLeap>, Undecided> {
    let mut tried = vec![ports.exit.clone()];
    let conditions: BTreeSet<TermId> = kept.iter().flatten().copied().collect();
    for &condition in conditions.iter().take(8) {
        for part in [condition, terms.not(condition)] {
            let smaller = |&exit: &TermId| terms.and(&[exit, part]);
            tried.push(States(ports.exit.0.iter().map(smaller).collect()));
        }
    }
    for exit in tried {
        let ports = Ports {
            exit: exit.clone(),
            ..ports.clone()
        };
        let empty = {
            let any = terms.or(&exit.0);
            prover.unsatisfiable(terms, &[system.given, any])?
        };
        if empty {
            continue;
        }
        match holds(
            prover,
            terms,
            system,
            &ports,
            Theorem::Backward,
            &View::Whole,
        )? {
            Ok(()) => {
                return Ok(Some(FoundLeap {
                    ports,
                    theorem: Theorem::Backward,
                    view: View::Whole,
                    predicates: kept.to_vec(),
                }));
            }
            Err(Failed::Continuation) => {}
            // A smaller exit port makes condition 2 harder.
            Err(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// For every node the states from which some step can be taken.
pub fn stay(terms: &mut Terms, system: &System) -> States {
    let conditions = |node: usize| {
        let steps = system.steps.iter().filter(|step| step.from == node);
        let conditions: Vec<TermId> = steps.map(|step| step.condition).collect();
        either(terms, conditions)
    };
    States((0..system.nodes).map(conditions).collect())
}

/// Drops the predicates that follow from the others: each of them would be a part of every
/// question to come. The simple ones are the ones to keep.
fn weed(
    prover: &mut Prover,
    terms: &mut Terms,
    given: TermId,
    stays: TermId,
    predicates: &mut Vec<TermId>,
) -> Result<(), Undecided> {
    predicates.sort_by_key(|&predicate| {
        let is_equation = |&part: &TermId| matches!(terms.op(part), Op::Eq);
        // A word that is one of two numbers is told best by them.
        let telling = match terms.op(predicate) {
            Op::Or => terms.args(predicate).iter().all(is_equation) && terms.size(predicate) < 8,
            _ => is_equation(&predicate),
        };
        (!telling, terms.size(predicate), predicate)
    });
    let mut at = predicates.len();
    while at > 0 {
        at -= 1;
        let mut question = vec![given, stays];
        let candidate = predicates.remove(at);
        question.extend(&*predicates);
        question.push(terms.not(candidate));
        match prover.unsatisfiable(terms, &question) {
            Ok(true) => {}
            Err(Undecided(Unknown::Stopped(stopped))) => {
                return Err(Undecided(Unknown::Stopped(stopped)));
            }
            // One that is too hard to tell is kept.
            Ok(false) | Err(_) => predicates.insert(at, candidate),
        }
    }
    Ok(())
}

/// A formula about a state, of the state that these values make.
pub fn at(terms: &mut Terms, system: &System, values: &[TermId], formula: TermId) -> TermId {
    let map = system
        .variables
        .iter()
        .zip(values)
        .map(|(variable, &value)| (variable.constant, value))
        .collect();
    terms.substitute(formula, &map)
}

fn sampled(
    terms: &Terms,
    system: &System,
    entry: &Entry,
    rigid: &Assignment,
) -> Result<Vec<Sample>, NotFound> {
    let values: Result<Vec<_>, _> = entry
        .values
        .iter()
        .map(|&value| eval(terms, value, rigid))
        .collect();
    let Ok(values) = values else {
        return Ok(Vec::new());
    };
    let start = Sample {
        node: entry.node,
        values,
    };
    let (mut samples, course) = run(terms, system, rigid, start, SAMPLES);
    match course {
        Course::Cycle => Err(NotFound::Cycle),
        Course::Left => {
            // The last state is one from which no step can be taken.
            samples.pop();
            Ok(samples)
        }
        Course::GoingOn | Course::Lost => Ok(samples),
    }
}

/// Drops the candidates that need not hold on entry.
fn holding_on_entry(
    prover: &mut Prover,
    terms: &mut Terms,
    given: TermId,
    entry: &Entry,
    system: &System,
    kept: &mut [Vec<TermId>],
) -> Result<(), Undecided> {
    let node = entry.node;
    loop {
        let mut there = Vec::new();
        for &candidate in &kept[node] {
            there.push(at(terms, system, &entry.values, candidate));
        }
        let all = terms.and(&there);
        let violated = terms.not(all);
        let Some(model) = prover.model(terms, &[given, violated])? else {
            return Ok(());
        };
        let before = kept[node].len();
        let mut index = 0;
        kept[node].retain(|_| {
            index += 1;
            true_in(terms, there[index - 1], &model)
        });
        if kept[node].len() == before {
            kept[node].clear();
        }
    }
}

/// Drops candidates until the rest is kept by every step that stays.
fn inductive(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    given: TermId,
    stays: &States,
    kept: &mut [Vec<TermId>],
) -> Result<(), Undecided> {
    let mut stable = 0;
    let mut at = 0;
    // Round robin over the steps until all of them were seen without a change.
    while stable < system.steps.len() {
        let step = &system.steps[at % system.steps.len()];
        at += 1;
        let mut after = Vec::new();
        for &candidate in &kept[step.to] {
            after.push(system.after(terms, step, candidate));
        }
        let all = terms.and(&after);
        let violated = terms.not(all);
        let mut question = vec![given, step.condition];
        question.extend(&kept[step.from]);
        question.push(system.after(terms, step, stays.0[step.to]));
        question.push(violated);
        if matches!(terms.op(violated), Op::Bool(false)) {
            stable += 1;
            continue;
        }
        let model = match prover.model(terms, &question) {
            Ok(None) => {
                stable += 1;
                continue;
            }
            Ok(Some(model)) => model,
            Err(undecided) => {
                // Too hard together: the ones with products go.
                let before = kept[step.to].len();
                kept[step.to].retain(|&candidate| !has_product(terms, candidate));
                if kept[step.to].len() == before {
                    return Err(undecided);
                }
                stable = 0;
                continue;
            }
        };
        let before = kept[step.to].len();
        let mut index = 0;
        kept[step.to].retain(|_| {
            index += 1;
            true_in(terms, after[index - 1], &model)
        });
        if kept[step.to].len() == before {
            // The model does not show which: give all of them up.
            kept[step.to].clear();
        }
        stable = 0;
    }
    Ok(())
}

fn has_product(terms: &Terms, formula: TermId) -> bool {
    terms
        .postorder(&[formula])
        .into_iter()
        .any(|term| matches!(terms.op(term), Op::BvMul))
}
