//! The conditions of Theorems 1 and 2, as questions to the solver.
//!
//! Both theorems say that a run goes from an entry port through an abstract state to its exit
//! port, without a ranking function: the states in between are finitely many, and the conditions
//! leave no room for a cycle on the way.
//!
//! Theorem 2 is checked in a slightly more general form, for variables that the abstraction hides
//! (the remark of section 3.1): states at a node count as one where they agree on some variables,
//! the *view*. Every state outside of the exit port must have a successor whose view is not the
//! entry's, and two steps into one view must come from one view. Along a run from the entry no
//! view then comes twice: the first one that did would have come twice before. There are finitely
//! many views, so the run ends, in the exit port. With all variables in the view this is the
//! paper's theorem.

use crate::modal::{must_minus, must_plus};
use crate::system::{States, System};
use hardbop_logic::{Op, Prover, TermId, Terms, Undecided};
use std::collections::BTreeMap;

/// The theorem that a leap rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Theorem {
    /// Theorem 1: every state of the exit port is reached from some state of the entry port.
    Backward,
    /// Theorem 2: every state of the entry port reaches some state of the exit port.
    Forward,
}

/// The condition that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failed {
    /// Condition 1: there are infinitely many states.
    Finiteness,
    /// Condition 2: a state has two successors (Theorem 1) or two predecessors (Theorem 2).
    Uniqueness,
    /// Condition 3: a state has no predecessor (Theorem 1) or no successor (Theorem 2) where it
    /// has to have one.
    Continuation,
    /// A port is not a part of the abstract state.
    Port,
}

/// An abstract state with its ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The abstract state `a`.
    pub state: States,
    /// The entry port, a part of `a`.
    pub entry: States,
    /// The exit port, a part of `a`.
    pub exit: States,
}

/// What tells two states apart in condition 2 of Theorem 2.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum View {
    /// Every variable.
    Whole,
    /// At every node these variables, by their position.
    Of(Vec<Vec<usize>>),
}

impl View {
    /// The same variables at every node.
    pub fn everywhere(system: &System, positions: &[usize]) -> View {
        View::Of(vec![positions.to_vec(); system.nodes])
    }

    /// The variables of a system that are seen at a node.
    pub fn positions(&self, system: &System, node: usize) -> Vec<usize> {
        match self {
            View::Whole => (0..system.variables.len()).collect(),
            View::Of(positions) => positions[node].clone(),
        }
    }
}

/// Checks the conditions of a theorem. The view matters to Theorem 2 only.
pub fn holds(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    ports: &Ports,
    theorem: Theorem,
    view: &View,
) -> Result<Result<(), Failed>, Undecided> {
    if !system.is_finite(terms) {
        return Ok(Err(Failed::Finiteness));
    }
    for port in [&ports.entry, &ports.exit] {
        for node in 0..system.nodes {
            let outside = terms.not(ports.state.0[node]);
            if !prover.unsatisfiable(terms, &[system.given, port.0[node], outside])? {
                return Ok(Err(Failed::Port));
            }
        }
    }
    let unique = match theorem {
        Theorem::Backward => one_successor(prover, terms, system, ports)?,
        Theorem::Forward => one_predecessor(prover, terms, system, ports, view)?,
    };
    if !unique {
        return Ok(Err(Failed::Uniqueness));
    }
    let before = ports.state.without(terms, &ports.exit);
    let after = ports.state.without(terms, &ports.entry);
    let continues = match theorem {
        Theorem::Backward => must_minus(prover, terms, system, &before, &after)?,
        Theorem::Forward => {
            let after = match view {
                View::Whole => after,
                View::Of(positions) => away_from_entry(terms, system, ports, positions),
            };
            must_plus(prover, terms, system, &before, &after)?
        }
    };
    Ok(if continues {
        Ok(())
    } else {
        Err(Failed::Continuation)
    })
}

/// The states of `a` whose view no state of the entry port has.
fn away_from_entry(
    terms: &mut Terms,
    system: &System,
    ports: &Ports,
    positions: &[Vec<usize>],
) -> States {
    let twin = system.to_twin();
    let hidden: Vec<TermId> = system.twins().to_vec();
    let mut sets = Vec::with_capacity(system.nodes);
    for (node, seen) in positions.iter().enumerate() {
        let entry = terms.substitute(ports.entry.0[node], &twin);
        let mut conjuncts = vec![entry];
        for &at in seen {
            conjuncts.push(terms.eq(system.variables[at].constant, system.twins()[at]));
        }
        let same = terms.and(&conjuncts);
        let same = unquantified(terms, &hidden, same);
        let differs = terms.not(same);
        sets.push(terms.and(&[ports.state.0[node], differs]));
    }
    States(sets)
}

/// There are values for the constants such that the formula holds. Where the formula tells the
/// value of a constant, that value is put in instead of a quantifier.
fn unquantified(terms: &mut Terms, constants: &[TermId], formula: TermId) -> TermId {
    let mut formula = formula;
    let mut left: Vec<TermId> = constants.to_vec();
    loop {
        let conjuncts: Vec<TermId> = match terms.op(formula) {
            Op::And => terms.args(formula).to_vec(),
            _ => vec![formula],
        };
        let found = conjuncts.iter().find_map(|&conjunct| {
            if !matches!(terms.op(conjunct), Op::Eq) {
                return None;
            }
            let &[a, b] = terms.args(conjunct) else {
                return None;
            };
            [(a, b), (b, a)].into_iter().find(|&(constant, value)| {
                left.contains(&constant) && !terms.free_constants(&[value]).contains(&constant)
            })
        });
        let Some((constant, value)) = found else {
            break;
        };
        formula = terms.substitute(formula, &[(constant, value)].into());
        left.retain(|&other| other != constant);
    }
    let free = terms.free_constants(&[formula]);
    left.retain(|constant| free.contains(constant));
    if left.is_empty() {
        formula
    } else {
        terms.exists(&left, formula)
    }
}

/// Condition 2 of Theorem 1: outside of the exit port, no state has two successors in `a`. Two
/// steps, or one step with two choices, must lead to the same state (Lemma 2).
fn one_successor(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    ports: &Ports,
) -> Result<bool, Undecided> {
    let before = ports.state.without(terms, &ports.exit);
    for (index, first) in system.steps.iter().enumerate() {
        for second in &system.steps[index..] {
            if first.from != second.from {
                continue;
            }
            let mut other = second.clone();
            let again = std::ptr::eq(first, second);
            if again && first.choices.is_empty() {
                continue;
            }
            let renamed: BTreeMap<TermId, TermId> = second
                .choices
                .iter()
                .map(|&choice| {
                    let sort = terms.sort(choice);
                    (choice, terms.fresh("choice", sort))
                })
                .collect();
            other.condition = terms.substitute(other.condition, &renamed);
            for post in &mut other.post {
                *post = terms.substitute(*post, &renamed);
            }
            let mut conjuncts = vec![system.given, before.0[first.from]];
            conjuncts.push(system.into(terms, first, &ports.state));
            conjuncts.push(system.into(terms, &other, &ports.state));
            if first.to == other.to {
                let pairs = first.post.iter().zip(&other.post);
                let differences: Vec<TermId> = pairs
                    .map(|(&a, &b)| {
                        let equal = terms.eq(a, b);
                        terms.not(equal)
                    })
                    .collect();
                conjuncts.push(terms.or(&differences));
            }
            if !prover.unsatisfiable(terms, &conjuncts)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Condition 2 of Theorem 2: outside of the entry port, no state has two predecessors in `a`.
fn one_predecessor(
    prover: &mut Prover,
    terms: &mut Terms,
    system: &System,
    ports: &Ports,
    view: &View,
) -> Result<bool, Undecided> {
    let twin = system.to_twin();
    let after = ports.state.without(terms, &ports.entry);
    for (index, first) in system.steps.iter().enumerate() {
        for second in &system.steps[index..] {
            if first.to != second.to {
                continue;
            }
            let mut rename = twin.clone();
            for &choice in &second.choices {
                let sort = terms.sort(choice);
                rename.insert(choice, terms.fresh("choice", sort));
            }
            let mut conjuncts = vec![
                system.given,
                ports.state.0[first.from],
                system.into(terms, first, &after),
            ];
            let into = system.into(terms, second, &ports.state);
            let other = terms.and(&[ports.state.0[second.from], into]);
            conjuncts.push(terms.substitute(other, &rename));
            for at in view.positions(system, first.to) {
                let b = terms.substitute(second.post[at], &rename);
                conjuncts.push(terms.eq(first.post[at], b));
            }
            if first.from == second.from {
                let differences: Vec<TermId> = view
                    .positions(system, first.from)
                    .into_iter()
                    .map(|at| {
                        let (a, b) = (system.variables[at].constant, system.twins()[at]);
                        let equal = terms.eq(a, b);
                        terms.not(equal)
                    })
                    .collect();
                conjuncts.push(terms.or(&differences));
            }
            if !prover.unsatisfiable(terms, &conjuncts)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
