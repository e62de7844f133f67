//! The course of one run, with its loops leapt as it comes to them.
//!
//! Where everything that a program leaves open is chosen by a strategy, there is one run. It is
//! followed on concrete values, path by path. Where the same paths have come three times in a row
//! and every value went along a closed form, the rest of the loop is one leap: by as many whole
//! periods as its conditions hold for. What is left of the loop is walked.
//!
//! Nothing here is believed: what is leapt becomes a claim with the forms as its abstract state.

use crate::chain::{ChoiceKey, Strategy};
use crate::compose::composed;
use crate::forms::Form;
use crate::graph::{CutId, End, Graph, Path, PathId};
use crate::horizon::horizon;
use crate::nest::{Nest, nest, rounds};
use crate::sample::holds;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::CheckId;
use hardbop_logic::{Assignment, Op, TermId, Terms, Value, eval};
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::StateVarId;
use std::collections::{BTreeMap, BTreeSet};

/// A state at a cut point: the values of what matters there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Now {
    /// The cut point.
    pub cut: CutId,
    /// The values.
    pub values: BTreeMap<StateVarId, Value>,
}

/// One path of the run.
#[derive(Clone, Debug)]
pub struct Walked {
    /// Where it started.
    pub from: Now,
    /// The path.
    pub path: PathId,
    /// What was chosen for what it leaves open, in that order.
    pub chosen: Vec<Value>,
}

/// A leap of the run.
#[derive(Clone, Debug)]
pub struct Leapt {
    /// Where it started.
    pub from: Now,
    /// The paths of a period as one path.
    pub path: PathId,
    /// What is chosen in every period, by what the path leaves open.
    pub chosen: Vec<Value>,
    /// How many periods are leapt.
    pub times: u64,
    /// What every variable holds after so many of them.
    pub forms: BTreeMap<StateVarId, Form>,
}

/// A part of the run.
#[derive(Clone, Debug)]
pub enum Event {
    /// A path.
    Walk(Walked),
    /// Many periods of a loop.
    Leap(Leapt),
    /// Many rounds of a loop with leaps in it.
    Nest(Nest),
}

impl Event {
    /// Where it started.
    pub fn from(&self) -> &Now {
        match self {
            Event::Walk(walked) => &walked.from,
            Event::Leap(leapt) => &leapt.from,
            Event::Nest(nest) => &nest.from,
        }
    }
}

/// How a run went.
#[derive(Clone, Debug)]
pub enum Course {
    /// It violates the check.
    Violated(Vec<Event>),
    /// It ends elsewhere.
    Ended,
    /// It was not followed to its end.
    Lost,
}

/// What is chosen where the program leaves something open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Over the state at the start of a path.
    pub rest: Strategy,
    /// For so many times at first something else.
    pub first: Option<(usize, Strategy)>,
}

/// The most parts of a run.
const EVENTS: usize = 3_000;
/// The most paths between two visits of a cut point that are looked at as a period.
const PERIOD: usize = 40;
/// Loops that go on for fewer iterations are walked.
const FEW: u64 = 64;
/// So many parts are soon.
const SOON: usize = 300;

/// Follows runs.
pub struct Follower<'a, 'p> {
    /// How the program is read.
    pub semantics: &'a Semantics<'p>,
    /// The terms.
    pub terms: &'a mut Terms,
    /// Cut points and paths; paths for whole periods are added.
    pub graph: &'a mut Graph,
    /// The check to be violated.
    pub check: CheckId,
    /// The budget.
    pub budget: &'a Budget,
    /// So many parts of runs may still be followed, all together.
    pub parts: usize,
    /// Periods that were put together before.
    pub known: BTreeMap<Vec<PathId>, PathId>,
}

/// Whether a run does the same again and again.
enum Repeats {
    No,
    /// From an event on.
    From(usize, Box<Leapt>),
    /// The same, with leaps in every round.
    Rounds(usize, Box<Nest>),
    /// It comes back to where it was, and will again.
    ForEver,
}

/// What comes after a path.
enum Next {
    At(Now),
    Violated,
    Nothing,
    Lost,
}

impl Follower<'_, '_> {
    /// Follows the run that a policy makes.
    pub fn follow(&mut self, policy: &Policy) -> Result<Course, Stopped> {
        let mut values = BTreeMap::new();
        for id in self.graph.cut(CutId::START).relevant.clone() {
            let sort = self.semantics.sort(self.terms, id);
            values.insert(id, Value::default_of(self.terms, sort));
        }
        let mut now = Now {
            cut: CutId::START,
            values,
        };
        let mut events: Vec<Event> = Vec::new();
        let mut touched = BTreeSet::new();
        let mut turns = 0;
        while events.len() < EVENTS && self.parts > 0 {
            self.budget.check()?;
            self.parts -= 1;
            let mut found = match self.graph.cut(now.cut).part {
                Some(_) => self.repeats(&events, &now, &touched),
                None => Repeats::No,
            };
            if let (Repeats::No, Some(_)) = (&found, self.graph.cut(now.cut).part)
                && let Some((at, nest)) = self.nested(&events, &now, &touched)
            {
                found = Repeats::Rounds(at, Box::new(nest));
            }
            if let Repeats::Rounds(at, nest) = found {
                let forms = nest.forms.iter();
                now.values = forms.map(|(&id, form)| (id, form.at(nest.times))).collect();
                events.truncate(at);
                events.push(Event::Nest(*nest));
                continue;
            }
            if let Repeats::ForEver = found {
                return Ok(Course::Ended);
            }
            if let Repeats::From(at, leapt) = found {
                let leapt = *leapt;
                let mut values = BTreeMap::new();
                for (&id, form) in &leapt.forms {
                    values.insert(id, form.at(leapt.times));
                }
                now.values = values;
                events.truncate(at);
                events.push(Event::Leap(leapt));
                continue;
            }
            let (walked, next) = match self.step(&now, policy, &mut turns, &mut touched) {
                (Some(walked), next) => (walked, next),
                (None, Next::Lost) => return Ok(Course::Lost),
                (None, _) => return Ok(Course::Ended),
            };
            events.push(Event::Walk(walked));
            match next {
                Next::At(next) => now = next,
                Next::Violated => return Ok(Course::Violated(events)),
                Next::Nothing => return Ok(Course::Ended),
                Next::Lost => return Ok(Course::Lost),
            }
        }
        Ok(Course::Lost)
    }

    fn assign(&mut self, values: &BTreeMap<StateVarId, Value>) -> Assignment {
        let mut assignment = Assignment::new();
        for (&id, value) in values {
            assignment.set(self.semantics.constant(self.terms, id), value.clone());
        }
        assignment
    }

    /// One path further.
    fn step(
        &mut self,
        now: &Now,
        policy: &Policy,
        turns: &mut usize,
        touched: &mut BTreeSet<Value>,
    ) -> (Option<Walked>, Next) {
        let state = self.assign(&now.values);
        for path_id in self.graph.cut(now.cut).paths.clone() {
            let path = self.graph.path(path_id);
            let mut assignment = state.clone();
            let mut chosen = Vec::new();
            let mut decided = false;
            for unknown in &path.unknowns {
                let key = (unknown.edge, unknown.occurrence);
                let value = policy.choose(self.terms, key, *turns, &state);
                decided |= value.is_some();
                let sort = self.terms.sort(unknown.symbol);
                let value = value.unwrap_or_else(|| Value::default_of(self.terms, sort));
                assignment.set(unknown.symbol, value.clone());
                chosen.push(value);
            }
            if !holds(self.terms, path.condition, &assignment) {
                continue;
            }
            *turns += usize::from(decided);
            let to = path.to;
            let walked = Walked {
                from: now.clone(),
                path: path_id,
                chosen,
            };
            let cut = match to {
                End::Violated(check) if check == self.check => {
                    return (Some(walked), Next::Violated);
                }
                End::Violated(_) => return (Some(walked), Next::Nothing),
                End::Cut(cut) => cut,
            };
            let mut values = BTreeMap::new();
            let mut arrays = Vec::new();
            let path = self.graph.path(path_id);
            for &id in &self.graph.cut(cut).relevant {
                let post = path.state.get(self.semantics, self.terms, id);
                match eval(self.terms, post, &assignment) {
                    Ok(value) => {
                        if matches!(value, Value::Array(_)) {
                            arrays.push(post);
                        }
                        values.insert(id, value);
                    }
                    Err(_) => return (Some(walked), Next::Lost),
                }
            }
            if !arrays.is_empty() {
                arrays.push(path.condition);
                touch(self.terms, &arrays, &assignment, touched);
            }
            return (Some(walked), Next::At(Now { cut, values }));
        }
        (None, Next::Nothing)
    }

    /// Whether what came last is the third period in a row, and then how far that goes on: from
    /// which event on, and the leap.
    fn repeats(&mut self, events: &[Event], now: &Now, touched: &BTreeSet<Value>) -> Repeats {
        let mut visits = vec![events.len()];
        for (at, event) in events.iter().enumerate().rev() {
            if !matches!(event, Event::Walk(_)) || visits.len() > 3 * PERIOD {
                break;
            }
            if event.from().cut == now.cut {
                visits.push(at);
            }
        }
        for period in 1..=(visits.len() - 1) / 3 {
            let at = [3, 2, 1, 0].map(|back| visits[back * period]);
            if at[1] - at[0] > PERIOD || !is_repeated(events, at) {
                continue;
            }
            let state = |position: usize| events.get(position).map_or(now, Event::from);
            let mut forms = BTreeMap::new();
            for &id in now.values.keys() {
                let values = at.map(|position| state(position).values.get(&id));
                let [Some(a), Some(b), Some(c), Some(d)] = values else {
                    return Repeats::No;
                };
                if let Some(form) = Form::through([a, b, c, d], touched) {
                    forms.insert(id, form);
                }
            }
            if forms.len() < now.values.len() {
                continue;
            }
            if at.iter().all(|&position| state(position) == now) {
                return Repeats::ForEver;
            }
            let (paths, chosen) = walks(&events[at[0]..at[1]]);
            let length = paths.len() as u64;
            let Some(path) = self.period(&paths) else {
                return Repeats::No;
            };
            let mut choices = Vec::new();
            for (unknown, value) in self.graph.path(path).unknowns.iter().zip(&chosen) {
                choices.push((unknown.symbol, value.clone()));
            }
            let leapt = Leapt {
                from: state(at[0]).clone(),
                path,
                chosen,
                times: 0,
                forms,
            };
            let path: Path = self.graph.path(path).clone();
            let times = horizon(self.semantics, self.terms, &path, &choices, &leapt.forms);
            // After a while smaller loops are leapt, too: they may lie in a larger one.
            let few = if events.len() < SOON { FEW } else { FEW / 4 };
            if times.saturating_mul(length) >= few && times > 4 {
                return Repeats::From(at[0], Box::new(Leapt { times, ..leapt }));
            }
        }
        Repeats::No
    }

    /// Whether what came last is the third round in a row with leaps in it.
    fn nested(
        &mut self,
        events: &[Event],
        now: &Now,
        touched: &BTreeSet<Value>,
    ) -> Option<(usize, Nest)> {
        let mut visits = vec![events.len()];
        let recent = events.iter().enumerate().rev().take(3 * PERIOD);
        for (at, event) in recent {
            match event {
                Event::Nest(_) => break,
                Event::Walk(walked) if walked.from.cut == now.cut => visits.push(at),
                _ => {}
            }
        }
        for round in 1..=(visits.len() - 1) / 3 {
            let at = [3, 2, 1, 0].map(|back| visits[back * round]);
            let inner = |events: &[Event]| events.iter().any(|e| matches!(e, Event::Leap(_)));
            let even = at[1] - at[0] == at[2] - at[1] && at[2] - at[1] == at[3] - at[2];
            if !even || !inner(&events[at[0]..at[1]]) {
                continue;
            }
            let mut walk = |paths: &[PathId]| self.period(paths);
            let Some(nest) = nest(events, at, now, touched, &mut walk) else {
                continue;
            };
            let times = rounds(self.semantics, self.terms, self.graph, &nest);
            if times > 4 {
                return Some((at[0], Nest { times, ..nest }));
            }
        }
        None
    }

    /// The paths of a period as one path.
    fn period(&mut self, paths: &[PathId]) -> Option<PathId> {
        if let [only] = paths {
            return Some(*only);
        }
        if let Some(&known) = self.known.get(paths) {
            return Some(known);
        }
        let path = composed(self.semantics, self.terms, self.graph, paths)?;
        let id = PathId(self.graph.paths.len() as u32);
        self.graph.paths.push(path);
        self.known.insert(paths.to_vec(), id);
        Some(id)
    }
}

/// Whether three stretches of walks are the same.
fn is_repeated(events: &[Event], at: [usize; 4]) -> bool {
    let length = at[1] - at[0];
    if at[2] - at[1] != length || at[3] - at[2] != length {
        return false;
    }
    (at[0]..at[2]).all(
        |position| match (&events[position], &events[position + length]) {
            (Event::Walk(one), Event::Walk(other)) => {
                one.path == other.path && one.chosen == other.chosen
            }
            _ => false,
        },
    )
}

/// The paths of some walks, and what was chosen on them.
fn walks(events: &[Event]) -> (Vec<PathId>, Vec<Value>) {
    let mut paths = Vec::new();
    let mut chosen = Vec::new();
    for event in events {
        if let Event::Walk(walked) = event {
            paths.push(walked.path);
            chosen.extend(walked.chosen.iter().cloned());
        }
    }
    (paths, chosen)
}

/// The indices at which arrays are read and written.
fn touch(terms: &Terms, roots: &[TermId], assignment: &Assignment, touched: &mut BTreeSet<Value>) {
    for term in terms.postorder(roots) {
        if matches!(terms.op(term), Op::Select | Op::Store)
            && let Ok(index) = eval(terms, terms.args(term)[1], assignment)
        {
            touched.insert(index);
        }
    }
}

impl Policy {
    /// What is chosen in a state.
    fn choose(
        &self,
        terms: &Terms,
        key: ChoiceKey,
        turn: usize,
        state: &Assignment,
    ) -> Option<Value> {
        let first = self.first.as_ref().filter(|(times, _)| turn < *times);
        let strategy = first.map_or(&self.rest, |(_, strategy)| strategy);
        eval(terms, *strategy.get(&key)?, state).ok()
    }
}
