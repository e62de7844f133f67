//! May and must transitions between sets of states, and ports (sections 2 and 4.1).
//!
//! `may` and `must+` speak of successors, which are terms over the state before: they need no
//! quantifier where no choice is left open. `must-` speaks of predecessors. They are guessed by
//! running the step backwards ([`inverse`]), and a guess is checked as a part of the question, so
//! a wrong one can only lose an answer; where there is no guess, the solver gets the quantifier.

use crate::system::{States, Step, System};
use hardbop_logic::{Op, Prover, Sort, TermId, Terms, Undecided};
use std::collections::{BTreeMap, BTreeSet};

/// may(a, b): some state of `a` has a successor in `b`.
pub fn may(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    a: &States,
    b: &States,
) -> Result<bool, Undecided> {
    for step in &system.steps {
        let into = system.into(terms, step, b);
        if !prover.unsatisfiable(terms, &[system.given, a.0[step.from], into])? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// must+(a, b): every state of `a` has a successor in `b`; that is, `a` implies `Pre(s, b)`, which
/// is `WP(s, b)` for deterministic steps.
pub fn must_plus(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    a: &States,
    b: &States,
) -> Result<bool, Undecided> {
    for node in 0..system.nodes {
        let pre = pre_at(terms, system, b, node);
        let none = terms.not(pre);
        if !prover.unsatisfiable(terms, &[system.given, a.0[node], none])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// must-(a, b): every state of `b` has a predecessor in `a`; that is, `b` implies `SP(s, a)`.
pub fn must_minus(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    a: &States,
    b: &States,
) -> Result<bool, Undecided> {
    for node in 0..system.nodes {
        let post = sp_at(prover, terms, system, a, node)?;
        let none = terms.not(post);
        if !prover.unsatisfiable(terms, &[system.given, b.0[node], none])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The maximal exit port for `a` to `b`: `a` and `Pre(s, b)` (Lemma 1).
pub fn exit_port(terms: &mut Terms, system: &System, a: &States, b: &States) -> States {
    let port = |node: usize| {
        let pre = pre_at(terms, system, b, node);
        terms.and(&[a.0[node], pre])
    };
    States((0..system.nodes).map(port).collect())
}

/// An entry port for `b` from `a`: `b` and `SP(s, a)` (Lemma 1). It is the maximal one wherever
/// every step can be run backwards or the solver was left to do it.
pub fn entry_port(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    a: &States,
    b: &States,
) -> Result<States, Undecided> {
    let mut port = Vec::with_capacity(system.nodes);
    for node in 0..system.nodes {
        let post = sp_at(prover, terms, system, a, node)?;
        port.push(terms.and(&[b.0[node], post]));
    }
    Ok(States(port))
}

/// The states at a node that have a successor in a set.
fn pre_at(terms: &mut Terms, system: &System, set: &States, node: usize) -> TermId {
    let mut ways = Vec::new();
    for step in system.steps.iter().filter(|step| step.from == node) {
        let into = system.into(terms, step, set);
        ways.push(open(terms, &step.choices, into));
    }
    either(terms, ways)
}

/// Whether one of some conditions holds. Where two of them differ only in that one says the
/// opposite of the other at one point, that point does not matter: the two sides of a branch
/// together are what is tested before it.
pub fn either(terms: &mut Terms, conditions: Vec<TermId>) -> TermId {
    let parts = |terms: &Terms, condition: TermId| -> BTreeSet<TermId> {
        match terms.op(condition) {
            Op::And => terms.args(condition).iter().copied().collect(),
            _ => BTreeSet::from([condition]),
        }
    };
    let mut sets: Vec<BTreeSet<TermId>> = conditions
        .iter()
        .map(|&condition| parts(terms, condition))
        .collect();
    let mut at = 0;
    while at < sets.len() {
        let merged = (0..sets.len()).find_map(|other| {
            let mut only = sets[at].difference(&sets[other]).copied();
            let (Some(here), None) = (only.next(), only.next()) else {
                return None;
            };
            let mut only = sets[other].difference(&sets[at]).copied();
            let (Some(there), None) = (only.next(), only.next()) else {
                return None;
            };
            (terms.not(here) == there).then_some((other, here))
        });
        match merged {
            Some((other, here)) => {
                sets[at].remove(&here);
                sets.remove(other);
                // What was merged may now merge with others.
                at = 0;
            }
            None => at += 1,
        }
    }
    let conditions: Vec<TermId> = sets
        .into_iter()
        .map(|set| terms.and(&set.into_iter().collect::<Vec<_>>()))
        .collect();
    terms.or(&conditions)
}

/// There are values for those of the constants that the formula mentions.
pub(crate) fn open(terms: &mut Terms, constants: &[TermId], formula: TermId) -> TermId {
    let free = terms.free_constants(&[formula]);
    let bound: Vec<TermId> = constants
        .iter()
        .copied()
        .filter(|constant| free.contains(constant))
        .collect();
    if bound.is_empty() {
        formula
    } else {
        terms.exists(&bound, formula)
    }
}

/// The states at a node that have a predecessor in a set.
fn sp_at(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    set: &States,
    node: usize,
) -> Result<TermId, Undecided> {
    let mut ways = Vec::new();
    for step in system.steps.iter().filter(|step| step.to == node) {
        let before = terms.and(&[set.0[step.from], step.condition]);
        if matches!(terms.op(before), Op::Bool(false)) {
            continue;
        }
        // The state now is called by the variables, the state before by the twins.
        let twin = system.to_twin();
        let mut conjuncts = vec![terms.substitute(before, &twin)];
        for (variable, &post) in system.variables.iter().zip(&step.post) {
            let post = terms.substitute(post, &twin);
            conjuncts.push(terms.eq(variable.constant, post));
        }
        let relation = terms.and(&conjuncts);
        let way = match inverse(prover, terms, system, step, before)? {
            Some(inverse) => {
                let map = system.twins().iter().copied().zip(inverse).collect();
                let relation = terms.substitute(relation, &map);
                open(terms, &step.choices, relation)
            }
            None => {
                let mut bound = system.twins().to_vec();
                bound.extend(&step.choices);
                open(terms, &bound, relation)
            }
        };
        ways.push(way);
    }
    Ok(terms.or(&ways))
}

/// The state before a step as terms over the state after it, if the step can be run backwards
/// from where it starts in the set `before`. A step that puts a chosen value into a variable
/// cannot.
pub fn inverse(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    step: &Step,
    before: TermId,
) -> Result<Option<Vec<TermId>>, Undecided> {
    let used = terms.free_constants(&step.post);
    if step.choices.iter().any(|choice| used.contains(choice)) {
        return Ok(None);
    }
    let constants: BTreeSet<TermId> = system.variables.iter().map(|v| v.constant).collect();
    // Known values before the step, over the variables after it.
    let mut known: BTreeMap<TermId, TermId> = BTreeMap::new();
    let mut progress = true;
    while progress && known.len() < constants.len() {
        progress = false;
        for variable in &system.variables {
            if known.contains_key(&variable.constant) {
                continue;
            }
            for (holder, &post) in system.variables.iter().zip(&step.post) {
                let mut open = terms.free_constants(&[post]);
                open.retain(|c| constants.contains(c) && !known.contains_key(c));
                if open.len() != 1 || !open.contains(&variable.constant) {
                    continue;
                }
                // What is known already is renamed only after solving, so that the equation
                // speaks of the state before on its right-hand side alone.
                if let Some(solved) = solve(terms, post, variable.constant, holder.constant, &known)
                {
                    known.insert(variable.constant, solved);
                    progress = true;
                    break;
                }
            }
        }
        if !progress {
            progress = implied(prover, terms, system, step, before, &mut known)?;
        }
    }
    let all = system
        .variables
        .iter()
        .map(|variable| known.get(&variable.constant).copied());
    Ok(all.collect())
}

/// Solves `term(unknown) = value` for the unknown, which occurs in it once on a way of operators
/// that can be undone. Other variables in the term are replaced by what is known of them.
fn solve(
    terms: &mut Terms,
    mut term: TermId,
    unknown: TermId,
    mut value: TermId,
    known: &BTreeMap<TermId, TermId>,
) -> Option<TermId> {
    while term != unknown {
        let args = terms.args(term).to_vec();
        let holders: Vec<usize> = (0..args.len())
            .filter(|&at| terms.free_constants(&[args[at]]).contains(&unknown))
            .collect();
        let [at] = holders.as_slice() else {
            return None;
        };
        let at = *at;
        let others: Vec<TermId> = (0..args.len())
            .filter(|&i| i != at)
            .map(|i| terms.substitute(args[i], known))
            .collect();
        value = match terms.op(term).clone() {
            Op::BvAdd => others
                .iter()
                .fold(value, |value, &other| terms.bv_sub(value, other)),
            Op::IntAdd => others
                .iter()
                .fold(value, |value, &other| terms.int_sub(value, other)),
            Op::BvSub if at == 0 => terms.bv_add(value, others[0]),
            Op::BvSub => terms.bv_sub(others[0], value),
            Op::BvXor => terms.bv_xor(value, others[0]),
            Op::BvNeg => terms.bv_neg(value),
            Op::BvNot => terms.bv_not(value),
            _ => return None,
        };
        term = args[at];
    }
    Some(value)
}

/// Looks for a variable that was overwritten, whose value before the step is at a fixed distance
/// from one that is known, or fixed itself.
fn implied(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    step: &Step,
    before: TermId,
    known: &mut BTreeMap<TermId, TermId>,
) -> Result<bool, Undecided> {
    let Some(model) = prover.model(terms, &[system.given, before])? else {
        return Ok(false);
    };
    let value = |terms: &mut Terms, constant: TermId| {
        let value = hardbop_logic::eval(terms, constant, &model).ok()?;
        let sort = terms.sort(constant);
        Some(terms.literal(&value, sort))
    };
    for variable in &system.variables {
        let constant = variable.constant;
        let Sort::BitVec(_) = terms.sort(constant) else {
            continue;
        };
        if known.contains_key(&constant) {
            continue;
        }
        let Some(own) = value(terms, constant) else {
            continue;
        };
        let mut anchors: Vec<TermId> = system
            .variables
            .iter()
            .map(|other| other.constant)
            .filter(|other| known.contains_key(other) && terms.sort(*other) == terms.sort(constant))
            .collect();
        // What the step compares the variable with may tell its value too.
        for term in terms.postorder(&[step.condition]) {
            if matches!(
                terms.op(term),
                Op::BvSle | Op::BvSlt | Op::BvUle | Op::BvUlt | Op::Eq
            ) {
                for &side in terms.args(term) {
                    let free = terms.free_constants(&[side]);
                    let rigid = system.variables.iter().all(|v| !free.contains(&v.constant));
                    if rigid && terms.sort(side) == terms.sort(constant) {
                        anchors.push(side);
                    }
                }
            }
        }
        for anchor in anchors {
            let Some(at) = value(terms, anchor) else {
                continue;
            };
            let distance = terms.bv_sub(own, at);
            let there = terms.bv_add(anchor, distance);
            let equal = terms.eq(constant, there);
            let set = terms.and(&[system.given, before]);
            if prover.implies(terms, set, equal)? {
                let solved = terms.substitute(there, known);
                known.insert(constant, solved);
                return Ok(true);
            }
        }
        let fixed = terms.eq(constant, own);
        let set = terms.and(&[system.given, before]);
        if prover.implies(terms, set, fixed)? {
            known.insert(constant, own);
            return Ok(true);
        }
    }
    Ok(false)
}
