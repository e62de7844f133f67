//! All states that can be reached, as far as the values of what is followed tell states apart.

use crate::ends::{Value, ends};
use crate::known::{Known, Tools};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::LocId;
use hardbop_logic::{Op, TermId};
use hardbop_semantics::steps::End;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What is followed at each cut point that can lead to a target: terms about the state, variables
/// and conditions.
pub type Followed = BTreeMap<LocId, Vec<TermId>>;

/// A cut point with the values of what is followed there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The cut point.
    pub location: LocId,
    /// The values, in the order of what is followed.
    pub values: Vec<Value>,
    /// The state before it; `None` for the start of the program.
    pub before: Option<usize>,
}

impl State {
    /// What is known in it.
    pub fn known(&self, followed: &Followed) -> Vec<(TermId, TermId)> {
        let terms = followed.get(&self.location).into_iter().flatten();
        let pairs = terms.zip(&self.values);
        pairs
            .filter_map(|(&term, &value)| Some((term, value?)))
            .collect()
    }
}

/// What became of an exploration.
#[derive(Clone, Debug)]
pub enum Explored {
    /// No target is reached; these states are all that are.
    Closed(Vec<State>),
    /// The last of these states is at a target.
    Target(Vec<State>),
    /// This has too many values.
    Many(TermId),
}

/// Why an exploration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The budget ended.
    Stopped(Stopped),
    /// There are too many states.
    States,
}

impl From<Stopped> for Halt {
    fn from(stopped: Stopped) -> Halt {
        Halt::Stopped(stopped)
    }
}

/// What is explored.
pub struct Exploration<'a> {
    /// What is followed where.
    pub followed: &'a Followed,
    /// The targets.
    pub targets: &'a BTreeSet<LocId>,
    /// The most values of something that is followed.
    pub values: usize,
    /// The most states.
    pub states: usize,
    /// What may be used.
    pub budget: &'a Budget,
}

impl Exploration<'_> {
    /// Explores breadth first, so that the way to a target is short.
    pub fn run(&self, tools: &mut Tools<'_, '_>) -> Result<Explored, Halt> {
        let mut reached = Reached::default();
        let mut next = None;
        loop {
            self.budget.check()?;
            if reached.states.len() > self.states {
                return Err(Halt::States);
            }
            if let Some(found) = self.follow(tools, next, &mut reached)? {
                return Ok(found);
            }
            let after = next.map_or(0, |state| state + 1);
            if after == reached.states.len() {
                return Ok(Explored::Closed(reached.states));
            }
            next = Some(after);
        }
    }

    /// Follows all steps from a state.
    fn follow(
        &self,
        tools: &mut Tools<'_, '_>,
        state: Option<usize>,
        reached: &mut Reached,
    ) -> Result<Option<Explored>, Halt> {
        let from = state.map(|state| reached.states[state].location);
        let known = state.map(|state| reached.states[state].known(self.followed));
        let known = known.unwrap_or_default();
        let mut facts = Vec::new();
        for &(term, value) in &known {
            if !matches!(tools.terms.op(term), Op::Constant(_)) {
                facts.push(tools.terms.eq(term, value));
            }
        }
        let mut known = Known::new(&mut tools.terms, &known);
        for step in tools.steps.from(from) {
            let End::At(location) = tools.steps.get(step).to else {
                continue;
            };
            let is_target = self.targets.contains(&location);
            let followed = match self.followed.get(&location) {
                Some(followed) => followed.as_slice(),
                None if is_target => &[],
                None => continue,
            };
            let condition = tools.steps.get(step).condition;
            let condition = known.settle(tools, condition);
            if *tools.terms.op(condition) == Op::Bool(false) {
                continue;
            }
            let mut wanted = Vec::with_capacity(followed.len());
            for &term in followed {
                wanted.push(known.end(tools, step, term));
            }
            for values in ends(tools, condition, &facts, &wanted)? {
                if let Some(many) = reached.count(followed, &values, self.values) {
                    return Ok(Some(Explored::Many(many)));
                }
                if !reached.known.insert((location, values.clone())) {
                    continue;
                }
                reached.states.push(State {
                    location,
                    values,
                    before: state,
                });
                if is_target {
                    return Ok(Some(Explored::Target(reached.way())));
                }
            }
        }
        Ok(None)
    }
}

/// What was reached so far.
#[derive(Default)]
struct Reached {
    states: Vec<State>,
    known: HashSet<(LocId, Vec<Value>)>,
    /// All values of what is followed.
    values: BTreeMap<TermId, BTreeSet<TermId>>,
}

impl Reached {
    /// Counts values. Says what has more than the most.
    fn count(&mut self, followed: &[TermId], values: &[Value], most: usize) -> Option<TermId> {
        for (&term, &value) in followed.iter().zip(values) {
            let all = self.values.entry(term).or_default();
            all.extend(value);
            if all.len() > most {
                return Some(term);
            }
        }
        None
    }

    /// The way to the last state.
    fn way(&self) -> Vec<State> {
        let mut way = Vec::new();
        let mut at = self.states.len().checked_sub(1);
        while let Some(state) = at {
            way.push(self.states[state].clone());
            at = self.states[state].before;
        }
        way.reverse();
        way
    }
}
