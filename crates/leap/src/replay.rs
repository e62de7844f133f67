//! A chain, made concrete and run by the interpreter on the program itself.
//!
//! The inputs outside of loops come from a model of the chain. Inside a leap they come from its
//! strategy: where that depends on the state, the run is watched, and the state at the loop's head
//! decides what the next iteration is given.

use crate::chain::{Leap, Link};
use crate::graph::Graph;
use crate::sample::holds;
use crate::search::Chain;
use hardbop_budget::Budget;
use hardbop_cfront::ids::{EdgeId, LocId, TypeId, VarId};
use hardbop_cfront::interp::{
    Environment, Interpreter, Limits, Observer, Outcome, Request, State, TraceMode,
};
use hardbop_cfront::program::Program;
use hardbop_logic::{Assignment, BitVec, Sort, TermId, Terms, Value, eval};
use hardbop_semantics::replay::Violation;
use hardbop_semantics::{FreshOrigin, Semantics};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// The most executed edges that are kept for the report.
const TRACE: usize = 200_000;

/// What the environment answers with.
#[derive(Default)]
struct Answers {
    /// Outside of loops: edge by edge, in order.
    inputs: BTreeMap<EdgeId, VecDeque<u128>>,
    unknowns: BTreeMap<EdgeId, VecDeque<u128>>,
    /// Inside the loop that is running.
    scheduled: BTreeMap<EdgeId, u128>,
}

struct Chosen(Rc<RefCell<Answers>>);

impl Environment for Chosen {
    fn input(&mut self, request: Request<'_>, _: TypeId) -> Option<u128> {
        let mut answers = self.0.borrow_mut();
        let edge = request.edge?;
        let next = answers.inputs.get_mut(&edge).and_then(VecDeque::pop_front);
        Some(next.or(answers.scheduled.get(&edge).copied()).unwrap_or(0))
    }

    fn input_bytes(&mut self, _: Request<'_>, _: &mut [u8]) -> bool {
        true
    }

    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]) {
        let mut answers = self.0.borrow_mut();
        let Some(edge) = request.edge else {
            return;
        };
        let next = answers
            .unknowns
            .get_mut(&edge)
            .and_then(VecDeque::pop_front);
        if let Some(bits) = next.or(answers.scheduled.get(&edge).copied()) {
            for (index, byte) in bytes.iter_mut().take(16).enumerate() {
                *byte = (bits >> (8 * index)) as u8;
            }
        }
    }
}

/// Watches the loop heads and schedules what comes next.
struct Scheduler<'a> {
    terms: &'a Terms,
    program: &'a Program,
    /// The model's values, and those of the loop's variables at its head.
    assignment: Assignment,
    leaps: Vec<Watched<'a>>,
    /// The leap that is going on, or that comes next.
    current: usize,
    answers: Rc<RefCell<Answers>>,
}

/// A leap as the scheduler needs it.
struct Watched<'a> {
    leap: &'a Leap,
    heads: Vec<LocId>,
    /// The program variables behind the loop's variables.
    variables: Vec<Option<(VarId, Sort)>>,
}

impl Observer for Scheduler<'_> {
    fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
        let from = self.program.edges[edge.index()].from;
        while let Some(watched) = self.leaps.get(self.current) {
            let Some(node) = watched.heads.iter().position(|&head| head == from) else {
                return;
            };
            if !watched.assign(&mut self.assignment, state) {
                return;
            }
            // Only where another leap begins at the same head does it matter whether this one
            // is over.
            let set = watched.leap.found.ports.state.0[node];
            if self.comes_later(from) && !holds(self.terms, set, &self.assignment) {
                self.current += 1;
                continue;
            }
            let mut answers = self.answers.borrow_mut();
            for (&(edge, _), &chosen) in &watched.leap.strategy {
                if let Ok(value) = eval(self.terms, chosen, &self.assignment) {
                    answers.scheduled.insert(edge, bits(&value));
                }
            }
            return;
        }
    }
}

impl Scheduler<'_> {
    /// Whether the leap after this one starts at the same head.
    fn comes_later(&self, head: LocId) -> bool {
        self.leaps
            .get(self.current + 1)
            .is_some_and(|next| next.heads.contains(&head))
    }
}

impl Watched<'_> {
    /// Reads the loop's variables. Says whether all of them could be read.
    fn assign(&self, assignment: &mut Assignment, state: &mut State<'_, '_>) -> bool {
        let system = &self.leap.body.system;
        for (variable, known) in system.variables.iter().zip(&self.variables) {
            let Some((id, Sort::BitVec(width))) = known else {
                continue;
            };
            let Some(value) = state.variable(*id) else {
                return false;
            };
            let value = BitVec::new(value.bits.into(), *width);
            assignment.set(variable.constant, Value::BitVec(value));
        }
        true
    }
}

fn bits(value: &Value) -> u128 {
    match value {
        Value::Bool(value) => u128::from(*value),
        Value::BitVec(bits) => u128::try_from(bits.unsigned().clone()).unwrap_or(0),
        Value::Int(_) | Value::Array(_) => 0,
    }
}

/// Runs the program with the values that a model gives to a chain. Gives the run if it violates
/// the chain's check.
pub fn replay(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    graph: &Graph,
    chain: &Chain,
    model: &Assignment,
    steps: u64,
    budget: &Budget,
) -> Result<Violation, Outcome> {
    let program = semantics.program;
    let mut answers = Answers::default();
    let mut leaps = Vec::new();
    let mut watch = false;
    for link in &chain.links {
        match link {
            Link::Walk(walk) => {
                let path = graph.path(walk.path);
                for &(key, symbol) in &walk.choices {
                    let origin = path
                        .unknowns
                        .iter()
                        .find(|unknown| (unknown.edge, unknown.occurrence) == key)
                        .map(|unknown| unknown.origin);
                    let value = eval(terms, symbol, model).map_or(0, |value| bits(&value));
                    let list = match origin {
                        Some(FreshOrigin::Input(_)) => &mut answers.inputs,
                        // Entering a call makes its locals unknown, which the interpreter does
                        // not ask about one by one.
                        _ if is_call(program, key.0) => continue,
                        _ => &mut answers.unknowns,
                    };
                    list.entry(key.0).or_default().push_back(value);
                }
            }
            // Nothing is chosen in a nest but what nobody reads.
            Link::Leap(leap) if !leap.counts.is_empty() => {}
            Link::Leap(leap) if leap.exactly.is_some() => {
                // What is chosen is known round by round.
                for _ in 0..leap.exactly.as_ref().map_or(0, |exactly| exactly.paths) {
                    for (&(edge, _), &chosen) in &leap.strategy {
                        let value = terms.value_of(chosen).map_or(0, |value| bits(&value));
                        let path = leap.body.paths.first().map(|&path| graph.path(path));
                        let input = path.is_some_and(|path| {
                            path.unknowns.iter().any(|unknown| {
                                unknown.edge == edge
                                    && matches!(unknown.origin, FreshOrigin::Input(_))
                            })
                        });
                        let list = match input {
                            true => &mut answers.inputs,
                            false if is_call(program, edge) => continue,
                            false => &mut answers.unknowns,
                        };
                        list.entry(edge).or_default().push_back(value);
                    }
                }
            }
            Link::Leap(leap) => {
                let settled = settle(terms, leap, model);
                for (&(edge, _), &chosen) in &settled {
                    match terms.value_of(chosen) {
                        Some(value) => {
                            let bits = bits(&value);
                            let before = answers.scheduled.insert(edge, bits);
                            watch |= before.is_some_and(|before| before != bits);
                        }
                        None => watch = true,
                    }
                }
                leaps.push(leap);
            }
        }
    }
    let limits = Limits {
        steps,
        budget: budget.clone(),
        trace: TraceMode::First(TRACE),
        ..Limits::default()
    };
    let answers = Rc::new(RefCell::new(answers));
    let mut environment = Chosen(Rc::clone(&answers));
    let interpreter = Interpreter::new(program);
    let run = if watch {
        let leaps = leaps
            .iter()
            .map(|leap| watched(semantics, terms, graph, leap))
            .collect();
        let mut scheduler = Scheduler {
            terms,
            program,
            assignment: model.clone(),
            leaps,
            current: 0,
            answers,
        };
        interpreter.run_observed(&mut environment, &limits, &mut scheduler)
    } else {
        interpreter.run(&mut environment, &limits)
    };
    if run.outcome == Outcome::Violated(chain.check) {
        Ok(Violation {
            check: chain.check,
            run,
        })
    } else {
        Err(run.outcome)
    }
}

/// The strategy under the model's values for the rigid constants.
fn settle(terms: &mut Terms, leap: &Leap, model: &Assignment) -> BTreeMap<(EdgeId, usize), TermId> {
    let own: Vec<TermId> = leap
        .body
        .system
        .variables
        .iter()
        .map(|variable| variable.constant)
        .collect();
    let mut settled = BTreeMap::new();
    for (&key, &chosen) in &leap.strategy {
        let mut map = BTreeMap::new();
        for constant in terms.free_constants(&[chosen]) {
            if own.contains(&constant) {
                continue;
            }
            if let Some(value) = model.get(constant).cloned() {
                let sort = terms.sort(constant);
                map.insert(constant, terms.literal(&value, sort));
            }
        }
        settled.insert(key, terms.substitute(chosen, &map));
    }
    settled
}

fn watched<'a>(
    semantics: &Semantics<'_>,
    terms: &Terms,
    graph: &Graph,
    leap: &'a Leap,
) -> Watched<'a> {
    let heads = leap
        .body
        .nodes
        .iter()
        .map(|&node| graph.cut(node).location)
        .collect();
    let variables = leap
        .body
        .system
        .variables
        .iter()
        .zip(&leap.body.variables)
        .map(|(variable, id)| {
            let known = semantics.layout.get((*id)?).variable?;
            Some((known, terms.sort(variable.constant)))
        })
        .collect();
    Watched {
        leap,
        heads,
        variables,
    }
}

fn is_call(program: &Program, edge: EdgeId) -> bool {
    matches!(
        program.edges[edge.index()].op,
        hardbop_cfront::program::Op::Call { .. }
    )
}

/// At least so many edges a run along the chain executes, as far as that is easily told.
pub fn length(terms: &Terms, graph: &Graph, chain: &Chain, model: &Assignment) -> u128 {
    let mut total: u128 = 0;
    for link in &chain.links {
        match link {
            Link::Walk(walk) => total += graph.path(walk.path).moves.len() as u128,
            Link::Leap(leap) => {
                let least = leap.exactly.as_ref().map(|exactly| exactly.paths.into());
                let shortest = leap
                    .body
                    .paths
                    .iter()
                    .map(|&path| graph.path(path).moves.len())
                    .min()
                    .unwrap_or(0) as u128;
                let rounds = least.unwrap_or_else(|| iterations(terms, leap, model));
                total = total.saturating_add(rounds.saturating_mul(shortest));
            }
        }
    }
    total
}

/// At least so many iterations, told by the variable that has the furthest to go in steps of a
/// known size.
fn iterations(terms: &Terms, leap: &Leap, model: &Assignment) -> u128 {
    let system = &leap.body.system;
    let mut most = 0;
    for (at, variable) in system.variables.iter().enumerate() {
        let number = |term: TermId| {
            let value = eval(terms, term, model).ok()?;
            crate::sample::number(&value, variable.signed)
        };
        let (Some(first), Some(last)) =
            (number(leap.entry.values[at]), number(leap.exit_values[at]))
        else {
            continue;
        };
        // The largest step that any path takes, if all of them move by a constant.
        let mut largest: Option<u128> = Some(0);
        for step in &system.steps {
            let moved = step_size(terms, step.post[at], variable.constant);
            largest = largest.zip(moved).map(|(a, b)| a.max(b));
        }
        if let Some(largest) = largest.filter(|&largest| largest > 0) {
            most = most.max((last - first).unsigned_abs() / largest);
        }
    }
    most
}

/// How far `post` is from the variable, if that is a constant.
fn step_size(terms: &Terms, post: TermId, constant: TermId) -> Option<u128> {
    if post == constant {
        return Some(0);
    }
    if !matches!(terms.op(post), hardbop_logic::Op::BvAdd) {
        return None;
    }
    let args = terms.args(post);
    let mut size = None;
    for &arg in args {
        if arg == constant {
            continue;
        }
        let value = terms.value_of(arg)?;
        let number = crate::sample::number(&value, true)?;
        if size.replace(number.unsigned_abs()).is_some() {
            return None;
        }
    }
    size
}
