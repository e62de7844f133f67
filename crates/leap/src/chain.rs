//! A chain of walks and leaps from the start of the program to a violated check (Theorem 3 and
//! its dual glue them).
//!
//! Everything in a chain is said over *rigid* constants: one for every value that the program does
//! not determine, and one for every variable at the exit port of a leap. A state on the way is a
//! term over them for each state variable.

use crate::graph::{CutId, Graph, Path, PathId};
use crate::strengthen::{Entry, FoundLeap};
use crate::system::{Step, System, Variable};
use hardbop_cfront::ids::EdgeId;
use hardbop_engine::claim::Count;
use hardbop_logic::{Sort, TermId, Terms};
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::StateVarId;
use std::collections::{BTreeMap, BTreeSet};

/// A value that the program leaves open: the edge that meets it, and how often the path has met
/// that edge before.
pub type ChoiceKey = (EdgeId, usize);

/// What is chosen, over the state at the start of an iteration.
pub type Strategy = BTreeMap<ChoiceKey, TermId>;

/// The values of the state variables that matter, over rigid constants.
pub type Values = BTreeMap<StateVarId, TermId>;

/// A part of a chain.
#[derive(Clone, Debug)]
pub enum Link {
    /// One path between two cut points.
    Walk(Walk),
    /// Through a loop without unrolling it.
    Leap(Box<Leap>),
}

/// A walk along one path.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The path.
    pub path: PathId,
    /// The values that it leaves open: where, and what stands for them here.
    pub choices: Vec<(ChoiceKey, TermId)>,
    /// Its condition, over rigid constants.
    pub condition: TermId,
}

/// A leap.
#[derive(Clone, Debug)]
pub struct Leap {
    /// The loop.
    pub body: Body,
    /// The values on entry.
    pub entry: Entry,
    /// The abstract state, the ports, the theorem.
    pub found: FoundLeap,
    /// What is chosen in every iteration.
    pub strategy: Strategy,
    /// The state before, by state variable.
    pub before: Values,
    /// The node at which the exit port is taken.
    pub exit_node: usize,
    /// What stands for the variables' values at the exit port.
    pub exit_values: Vec<TermId>,
    /// How far the loop is followed, where that is known.
    pub exactly: Option<Exactly>,
    /// What every path does to the counts of iterations, where there are more than one.
    pub counts: Vec<Vec<Count>>,
}

/// How far a loop is followed whose variables have closed forms.
#[derive(Clone, Debug)]
pub struct Exactly {
    /// At least so many paths are taken; exactly so many if there is one path only.
    pub paths: u64,
    /// The counts of iterations, with what they are at the exit port.
    pub last: Vec<(TermId, TermId)>,
}

/// A loop as a transition system, with what it was made of.
#[derive(Clone, Debug)]
pub struct Body {
    /// The system.
    pub system: System,
    /// The cut points that are its nodes.
    pub nodes: Vec<CutId>,
    /// The paths that are its steps.
    pub paths: Vec<PathId>,
    /// From which node to which node each of them leads.
    pub ends: Vec<(usize, usize)>,
    /// The state variables that are its variables; `None` for the count of iterations.
    pub variables: Vec<Option<StateVarId>>,
    /// The position of the count of iterations.
    pub counter: Option<usize>,
}

/// Whether a loop gets a variable that counts its iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// No.
    Off,
    /// Yes.
    On,
}

/// Makes the transition system of some paths, entered with given values. Variables that no path
/// changes are replaced by their values.
#[expect(clippy::too_many_arguments, reason = "all of it describes one loop")]
pub fn body(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    graph: &Graph,
    paths: &[PathId],
    values: &Values,
    strategy: &Strategy,
    counting: Counting,
    given: TermId,
) -> Body {
    let mut nodes: BTreeSet<CutId> = BTreeSet::new();
    for &path in paths {
        nodes.insert(graph.path(path).from);
        if let crate::graph::End::Cut(to) = graph.path(path).to {
            nodes.insert(to);
        }
    }
    let nodes: Vec<CutId> = nodes.into_iter().collect();
    let relevant: BTreeSet<StateVarId> = nodes
        .iter()
        .flat_map(|&node| graph.cut(node).relevant.iter().copied())
        .collect();
    let mut fixed: BTreeMap<TermId, TermId> = BTreeMap::new();
    let mut variables = Vec::new();
    let mut ids = Vec::new();
    for &id in &relevant {
        let constant = semantics.constant(terms, id);
        let modified = paths.iter().any(|&path| {
            let path = graph.path(path);
            lands_on(graph, path, id) && path.state.get(semantics, terms, id) != constant
        });
        if modified {
            variables.push(Variable {
                name: semantics.layout.get(id).name.clone(),
                constant,
                signed: semantics.shape(id).signed,
            });
            ids.push(Some(id));
        } else if let Some(&value) = values.get(&id) {
            fixed.insert(constant, value);
        }
    }
    let counter = (counting == Counting::On).then(|| {
        let widest = variables
            .iter()
            .filter_map(|variable| match terms.sort(variable.constant) {
                Sort::BitVec(width) if width <= 64 => Some(width),
                _ => None,
            })
            .max()
            .unwrap_or(32);
        let sort = Sort::BitVec(widest);
        variables.push(Variable {
            name: "iteration".to_owned(),
            // A program may have a variable of that name.
            constant: terms.fresh("iteration", sort),
            signed: false,
        });
        ids.push(None);
        variables.len() - 1
    });
    let mut steps: Vec<Step> = Vec::new();
    for &index in paths {
        let path = graph.path(index);
        let crate::graph::End::Cut(to) = path.to else {
            continue;
        };
        let mut map = fixed.clone();
        let mut choices = Vec::new();
        for unknown in &path.unknowns {
            match strategy.get(&(unknown.edge, unknown.occurrence)) {
                Some(&chosen) => {
                    let chosen = terms.substitute(chosen, &fixed);
                    map.insert(unknown.symbol, chosen);
                }
                None => choices.push(unknown.symbol),
            }
        }
        let mut post = Vec::new();
        for (position, id) in ids.iter().enumerate() {
            post.push(match id {
                Some(id) if graph.cut(to).relevant.contains(id) => {
                    let value = path.state.get(semantics, terms, *id);
                    terms.substitute(value, &map)
                }
                // What does not matter there is the same in all states.
                Some(_) => idle(terms, variables[position].constant),
                None => {
                    let count = variables[position].constant;
                    let one = terms.bv(1, terms.width(count));
                    terms.bv_add(count, one)
                }
            });
        }
        let condition = terms.substitute(path.condition, &map);
        let position = |cut: CutId| nodes.iter().position(|&node| node == cut);
        let (Some(from), Some(to)) = (position(path.from), position(to)) else {
            continue;
        };
        let mut used = post.clone();
        used.push(condition);
        let free = terms.free_constants(&used);
        choices.retain(|choice| free.contains(choice));
        steps.push(Step {
            from,
            to,
            condition,
            post,
            choices,
        });
    }
    Body {
        ends: steps.iter().map(|step| (step.from, step.to)).collect(),
        system: System::new(terms, variables, nodes.len(), steps, given),
        nodes,
        paths: paths.to_vec(),
        variables: ids,
        counter,
    }
}

/// The value of a variable where it does not matter: nothing reads it before it is written again,
/// so any one value will do, and one for all keeps states from differing in nothing.
pub fn idle(terms: &mut Terms, constant: TermId) -> TermId {
    match terms.sort(constant) {
        Sort::BitVec(width) => terms.bv(0, width),
        _ => constant,
    }
}

/// Whether what a path does to a variable matters where it ends.
fn lands_on(graph: &Graph, path: &Path, id: StateVarId) -> bool {
    match path.to {
        crate::graph::End::Cut(to) => graph.cut(to).relevant.contains(&id),
        crate::graph::End::Violated(_) => false,
    }
}

/// The entry of a body with given values.
pub fn entry(terms: &mut Terms, body: &Body, at: CutId, values: &Values) -> Option<Entry> {
    let node = body.nodes.iter().position(|&node| node == at)?;
    let mut entered = Vec::new();
    for (variable, id) in body.system.variables.iter().zip(&body.variables) {
        let sort = terms.sort(variable.constant);
        entered.push(match id {
            Some(id) => match values.get(id) {
                Some(&value) => value,
                None => idle(terms, variable.constant),
            },
            None => terms.bv(0, sort.width()),
        });
    }
    Some(Entry {
        node,
        values: entered,
    })
}
