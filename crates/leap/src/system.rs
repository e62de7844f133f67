//! The concrete transition system of a loop, and sets of its states (section 2 of the paper).
//!
//! A state is a node (a place of control) and a value for every variable. A step is a guarded
//! parallel assignment between two nodes. Constants that are no variables are *rigid*: they have
//! one value in a whole run, and what is said of the system is said for every value that `given`
//! allows.

use hardbop_logic::{Sort, TermId, Terms};
use std::collections::BTreeMap;

/// A variable of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// A name for people.
    pub name: String,
    /// The constant that stands for its value in a state.
    pub constant: TermId,
    /// Whether comparisons of it are signed.
    pub signed: bool,
}

/// A step: from a state at one node to a state at another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The node where it starts.
    pub from: usize,
    /// The node where it ends.
    pub to: usize,
    /// When it can be taken, over the variables, the rigid constants and the choices.
    pub condition: TermId,
    /// What every variable holds afterwards, in the order of [`System::variables`].
    pub post: Vec<TermId>,
    /// The constants that stand for values that the environment chooses in this step.
    pub choices: Vec<TermId>,
}

/// A transition system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// The variables.
    pub variables: Vec<Variable>,
    /// How many nodes there are.
    pub nodes: usize,
    /// The steps.
    pub steps: Vec<Step>,
    /// What holds of the rigid constants.
    pub given: TermId,
    twins: Vec<TermId>,
}

/// A set of states: for every node a formula over the variables and the rigid constants. An
/// abstract state of the paper is one, and so is a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct States(pub Vec<TermId>);

impl States {
    /// The states at one node that satisfy a formula.
    pub fn at(terms: &mut Terms, nodes: usize, node: usize, formula: TermId) -> States {
        let nothing = terms.bool(false);
        let mut sets = vec![nothing; nodes];
        sets[node] = formula;
        States(sets)
    }

    /// The states of both sets.
    pub fn and(&self, terms: &mut Terms, other: &States) -> States {
        let both = |(&a, &b): (&TermId, &TermId)| terms.and(&[a, b]);
        States(self.0.iter().zip(&other.0).map(both).collect())
    }

    /// The states of this set that are not in the other one.
    pub fn without(&self, terms: &mut Terms, other: &States) -> States {
        let difference = |(&a, &b): (&TermId, &TermId)| {
            let not = terms.not(b);
            terms.and(&[a, not])
        };
        States(self.0.iter().zip(&other.0).map(difference).collect())
    }

    /// The same set, in other words: every formula with constants replaced.
    pub fn substitute(&self, terms: &mut Terms, map: &BTreeMap<TermId, TermId>) -> States {
        let replaced = |&formula: &TermId| terms.substitute(formula, map);
        States(self.0.iter().map(replaced).collect())
    }
}

impl System {
    /// A system.
    pub fn new(
        terms: &mut Terms,
        variables: Vec<Variable>,
        nodes: usize,
        steps: Vec<Step>,
        given: TermId,
    ) -> System {
        let twins = variables
            .iter()
            .map(|variable| {
                let sort = terms.sort(variable.constant);
                terms.fresh(&format!("{}'", variable.name), sort)
            })
            .collect();
        System {
            variables,
            nodes,
            steps,
            given,
            twins,
        }
    }

    /// Whether there are finitely many states for every value of the rigid constants: condition
    /// 1 of the theorems. Machine words are finite; mathematical integers are not.
    pub fn is_finite(&self, terms: &Terms) -> bool {
        fn finite(terms: &Terms, sort: Sort) -> bool {
            match sort {
                Sort::Bool | Sort::BitVec(_) => true,
                Sort::Array(array) => {
                    let (index, element) = terms.array_parts(array);
                    finite(terms, index) && finite(terms, element)
                }
                Sort::Int => false,
            }
        }
        self.variables
            .iter()
            .all(|variable| finite(terms, terms.sort(variable.constant)))
    }

    /// A second name for the value of every variable, for questions about two states.
    pub fn twins(&self) -> &[TermId] {
        &self.twins
    }

    /// What turns a formula about a state into one about its twin.
    pub fn to_twin(&self) -> BTreeMap<TermId, TermId> {
        self.variables
            .iter()
            .zip(&self.twins)
            .map(|(variable, &twin)| (variable.constant, twin))
            .collect()
    }

    /// A formula about the state after a step, as one about the state before it.
    pub fn after(&self, terms: &mut Terms, step: &Step, formula: TermId) -> TermId {
        let map = self
            .variables
            .iter()
            .zip(&step.post)
            .map(|(variable, &post)| (variable.constant, post))
            .collect();
        terms.substitute(formula, &map)
    }

    /// When a step can be taken into a set.
    pub fn into(&self, terms: &mut Terms, step: &Step, set: &States) -> TermId {
        let after = self.after(terms, step, set.0[step.to]);
        terms.and(&[step.condition, after])
    }
}
