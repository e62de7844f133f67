//! Loops in loops: rounds of an outer loop, each with leaps through inner ones.
//!
//! Where the same walks and leaps have come three times in a row between two visits of a cut point,
//! and every value went along a closed form from round to round, the rounds that are left are one
//! leap. It has two counts: of the rounds, and of the iterations of the inner loop that is running.
//! A variable at an inner loop is its form over the rounds, and from there its form over the
//! iterations.

use crate::course::{Event, Leapt, Now};
use crate::forms::{Form, WordForm};
use crate::graph::{Graph, PathId};
use crate::horizon::{FAR, first_failing, turning};
use crate::sample::holds;
use hardbop_logic::{Assignment, BitVec, Sort, TermId, Terms, Value, atoms, eval};
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::StateVarId;
use std::collections::{BTreeMap, BTreeSet};

/// A part of a round.
#[derive(Clone, Debug)]
pub enum Part {
    /// Paths one after the other, as one.
    Walk(PathId),
    /// A leap through an inner loop.
    Leap(Inner),
}

/// A leap through an inner loop, in every round.
#[derive(Clone, Debug)]
pub struct Inner {
    /// The path that is taken.
    pub path: PathId,
    /// How many times, by rounds.
    pub times: WordForm,
    /// What every variable holds when the inner loop is entered, by rounds.
    pub entered: BTreeMap<StateVarId, Form>,
    /// What every variable adds to that, by iterations; nothing for one that stays.
    pub moved: BTreeMap<StateVarId, WordForm>,
}

/// Many rounds of a loop in which there are others.
#[derive(Clone, Debug)]
pub struct Nest {
    /// Where it started.
    pub from: Now,
    /// What a round consists of.
    pub parts: Vec<Part>,
    /// How many rounds are leapt.
    pub times: u64,
    /// What every variable holds after so many rounds.
    pub forms: BTreeMap<StateVarId, Form>,
}

/// Numbers of iterations are lines of so many bits.
const COUNT: u32 = 64;

fn count(times: u64) -> Value {
    Value::BitVec(BitVec::new(times.into(), COUNT))
}

/// The three rounds that were seen, as one that is repeated; nothing where they differ, or where
/// something is chosen in them. `walk` puts paths together.
pub fn nest(
    events: &[Event],
    at: [usize; 4],
    now: &Now,
    touched: &BTreeSet<Value>,
    walk: &mut dyn FnMut(&[PathId]) -> Option<PathId>,
) -> Option<Nest> {
    let length = at[1] - at[0];
    let rounds = [0, 1, 2].map(|round| events.get(at[round]..at[round] + length));
    let [Some(first), Some(second), Some(third)] = rounds else {
        return None;
    };
    let state = |position: usize| events.get(position).map_or(now, Event::from);
    let forms = through(at.map(state), touched)?;
    let mut parts = Vec::new();
    let mut walked: Vec<PathId> = Vec::new();
    for ((one, two), three) in first.iter().zip(second).zip(third) {
        match (one, two, three) {
            (Event::Walk(one), Event::Walk(two), Event::Walk(three)) => {
                let same = one.path == two.path && two.path == three.path;
                if !same || one.chosen != two.chosen || two.chosen != three.chosen {
                    return None;
                }
                walked.push(one.path);
            }
            (Event::Leap(one), Event::Leap(two), Event::Leap(three)) => {
                if !walked.is_empty() {
                    parts.push(Part::Walk(walk(&walked)?));
                    walked.clear();
                }
                parts.push(Part::Leap(inner([one, two, three], touched)?));
            }
            _ => return None,
        }
    }
    if !walked.is_empty() {
        parts.push(Part::Walk(walk(&walked)?));
    }
    // A round begins with the way to its first inner loop and ends with the way back, and inner
    // loops are told apart by the ways between them.
    let walks = |part: &Part| matches!(part, Part::Walk(_));
    let alternate = parts
        .iter()
        .enumerate()
        .all(|(at, part)| walks(part) == (at % 2 == 0));
    let closed = parts.len() > 2 && parts.len() % 2 == 1;
    (alternate && closed).then(|| Nest {
        from: state(at[0]).clone(),
        parts,
        times: 0,
        forms,
    })
}

/// The forms of the variables through four states.
fn through(states: [&Now; 4], touched: &BTreeSet<Value>) -> Option<BTreeMap<StateVarId, Form>> {
    let mut forms = BTreeMap::new();
    for &id in states[0].values.keys() {
        let [a, b, c, d] = states.map(|state| state.values.get(&id));
        let form = Form::through([a?, b?, c?, d?], touched)?;
        forms.insert(id, form);
    }
    Some(forms)
}

/// One inner loop, as three rounds leapt it. A fourth value of every line is where it leads.
fn inner(rounds: [&Leapt; 3], touched: &BTreeSet<Value>) -> Option<Inner> {
    let [one, two, three] = rounds;
    let same = one.path == two.path && two.path == three.path && one.from.cut == two.from.cut;
    if !same || one.chosen != two.chosen || two.chosen != three.chosen {
        return None;
    }
    let times = extended([&count(one.times), &count(two.times), &count(three.times)])?;
    let mut entered = BTreeMap::new();
    let mut moved = BTreeMap::new();
    for &id in one.from.values.keys() {
        let [a, b, c] = rounds.map(|round| round.from.values.get(&id));
        let (a, b, c) = (a?, b?, c?);
        let form = match extended([a, b, c]) {
            Some(form) => Form::Word(form),
            None => Form::through([a, b, c, c], touched).filter(|form| form.at(1) == *c)?,
        };
        entered.insert(id, form);
        let by = |round: &Leapt| match round.forms.get(&id) {
            Some(Form::Word(form)) => Some(Some((form.slope, form.bend, form.width))),
            Some(Form::Same(_)) => Some(None),
            Some(Form::Cells(_, cells)) if cells.values().all(|f| f.slope == 0 && f.bend == 0) => {
                Some(None)
            }
            _ => None,
        };
        let (x, y, z) = (by(one)?, by(two)?, by(three)?);
        if x != y || y != z {
            return None;
        }
        if let Some((slope, bend, width)) = x {
            let start = 0;
            moved.insert(
                id,
                WordForm {
                    width,
                    start,
                    slope,
                    bend,
                },
            );
        }
    }
    Some(Inner {
        path: one.path,
        times,
        entered,
        moved,
    })
}

/// The form through three values: they say what the fourth has to be.
fn extended(values: [&Value; 3]) -> Option<WordForm> {
    let [a, b, c] = values;
    let first = WordForm::through([a, b, b, b])
        .map(|form| form.width)
        .or_else(|| match a {
            Value::BitVec(bits) => Some(bits.width()),
            _ => None,
        })?;
    let number = |value: &Value| match value {
        Value::BitVec(bits) => u128::try_from(bits.unsigned().clone()).ok(),
        _ => None,
    };
    let (x, y, z) = (number(a)?, number(b)?, number(c)?);
    let mask = u128::MAX >> (128 - first);
    let slope = y.wrapping_sub(x) & mask;
    let bend = z.wrapping_sub(y).wrapping_sub(slope) & mask;
    (bend % 2 == 0).then_some(WordForm {
        width: first,
        start: x,
        slope,
        bend,
    })
}

impl Inner {
    /// What every variable holds in a round after so many iterations.
    fn at(&self, round: u64, iteration: u64) -> BTreeMap<StateVarId, Value> {
        let mut values = BTreeMap::new();
        for (&id, form) in &self.entered {
            let mut value = form.at(round);
            if let (Some(moved), Value::BitVec(bits)) = (self.moved.get(&id), &value) {
                let sum = bits.unsigned() + moved.bits_at(iteration);
                value = Value::BitVec(BitVec::new(sum, bits.width()));
            }
            values.insert(id, value);
        }
        values
    }

    /// How many iterations there are in a round.
    pub fn times_at(&self, round: u64) -> u64 {
        self.times.bits_at(round) as u64
    }

    /// What a variable holds, as facts over the counts of rounds and of iterations.
    pub fn facts(
        &self,
        terms: &mut Terms,
        id: StateVarId,
        variable: TermId,
        (rounds, iterations): (TermId, TermId),
    ) -> Option<Vec<TermId>> {
        let form = self.entered.get(&id)?;
        let Some(moved) = self.moved.get(&id) else {
            return Some(form.facts(terms, variable, rounds));
        };
        let entered = match form {
            Form::Word(form) => form.term(terms, rounds),
            Form::Same(value) => terms.literal(value, Sort::BitVec(moved.width)),
            Form::Cells(..) => return None,
        };
        let moved = moved.term(terms, iterations);
        let there = terms.bv_add(entered, moved);
        Some(vec![terms.eq(variable, there)])
    }

    /// How many iterations there are, over the count of rounds.
    pub fn times_term(&self, terms: &mut Terms, rounds: TermId) -> TermId {
        let width = terms.width(rounds);
        let mask = u128::MAX >> (128 - width);
        let short = WordForm {
            width,
            start: self.times.start & mask,
            slope: self.times.slope & mask,
            bend: self.times.bend & mask,
        };
        short.term(terms, rounds)
    }
}

impl Nest {
    /// At least so many paths are taken.
    pub fn length(&self) -> u64 {
        let inner = self.parts.iter().map(|part| match part {
            Part::Walk(_) => 1,
            Part::Leap(inner) => inner.times_at(0).min(inner.times_at(self.times - 1)),
        });
        inner
            .fold(0u64, u64::saturating_add)
            .saturating_mul(self.times)
    }
}

/// How many rounds go on as the ones that were seen.
pub fn rounds(semantics: &Semantics<'_>, terms: &mut Terms, graph: &Graph, nest: &Nest) -> u64 {
    let mut limit = FAR;
    let mut before: Vec<Option<&Inner>> = Vec::new();
    let mut last = None;
    for part in &nest.parts {
        before.push(last);
        if let Part::Leap(inner) = part {
            last = Some(inner);
        }
    }
    let assign = |terms: &mut Terms, values: &BTreeMap<StateVarId, Value>| {
        let mut assignment = Assignment::new();
        for (&id, value) in values {
            assignment.set(semantics.constant(terms, id), value.clone());
        }
        assignment
    };
    // The state before a part in a round.
    let state = |terms: &mut Terms, part: usize, round: u64| {
        let values = match before[part] {
            Some(inner) => inner.at(round, inner.times_at(round)),
            None => nest
                .forms
                .iter()
                .map(|(&id, form)| (id, form.at(round)))
                .collect(),
        };
        assign(terms, &values)
    };
    for (at, part) in nest.parts.iter().enumerate() {
        if let Part::Walk(path) = part {
            let first: Vec<Assignment> = (0..4).map(|round| state(terms, at, round)).collect();
            for atom in atoms(terms, graph.path(*path).condition) {
                limit = limit.min(turning(terms, atom, &first));
            }
        }
    }
    let mut goes_on = |round: u64| {
        let mut parts = nest.parts.iter().enumerate().peekable();
        while let Some((at, part)) = parts.next() {
            match part {
                Part::Walk(id) => {
                    let path = graph.path(*id);
                    let now = state(terms, at, round);
                    let next: BTreeMap<StateVarId, Value> = match parts.peek() {
                        Some((_, Part::Leap(inner))) => inner.at(round, 0),
                        _ => {
                            let forms = nest.forms.iter();
                            forms.map(|(&id, form)| (id, form.at(round + 1))).collect()
                        }
                    };
                    let lands = next.iter().all(|(&id, value)| {
                        let post = path.state.get(semantics, terms, id);
                        eval(terms, post, &now).is_ok_and(|found| found.same(value))
                    });
                    if !lands || !holds(terms, path.condition, &now) {
                        return false;
                    }
                }
                Part::Leap(inner) => {
                    let times = inner.times_at(round);
                    let condition = graph.path(inner.path).condition;
                    for (iteration, stays) in
                        [(0, true), (times.wrapping_sub(1), true), (times, false)]
                    {
                        let now = assign(terms, &inner.at(round, iteration));
                        if holds(terms, condition, &now) != stays {
                            return false;
                        }
                    }
                }
            }
        }
        true
    };
    first_failing(limit, &mut goes_on)
}
