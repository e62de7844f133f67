//! Runs that are steered: where an input led to a state that looks like none before, the next runs
//! go on from there.
//!
//! In comes a program; out come the scripts of runs that violate checks. Every place where a run was
//! asked for an input, in a state that was not seen before, is kept with the values that were not
//! tried yet. A run repeats the answers that lead to such a place, tries another value, and goes on
//! into what is new. Places in states of a rare kind come first, near ones before far ones, and
//! every other time any place. With few states (protocols, schedulers, state machines) that sees all
//! of them; with many, it sees some of every kind. Where there is memory that nobody looks at,
//! states that look alike are passed on guesses.

mod steered;

use self::steered::{SoFar, Steered};
use crate::hints::Hints;
use crate::likeness::{Likeness, Looks, mixed};
use crate::runs::Runs;
use hardbop_budget::Budget;
use hardbop_cfront::ids::EdgeId;
use hardbop_cfront::interp::{Interpreter, Limits, Observer, Outcome, Run, State};
use hardbop_cfront::program::{Edge, Op};
use hardbop_engine::claim::{Given, Run as RunClaim, Script};
use hardbop_engine::{Claim, Desk, Ended, Event, Figure, Reason, Task};
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::rc::Rc;

/// The most places that are kept.
const PLACES: usize = 1_000_000;

/// Where an input was asked for, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PlaceId(u32);

/// What led to a place: the place before it, if there is one, and the answers since.
#[derive(Clone, Default)]
struct Before {
    place: Option<PlaceId>,
    answers: Vec<u128>,
}

/// Values that were not tried at a place.
#[derive(Default)]
struct Left {
    /// These first; the last one is next.
    own: Vec<u128>,
    /// Then the rest of all that the input is compared with, which many places share.
    shared: Rc<Vec<u128>>,
    /// Which of them is next.
    next: usize,
}

impl Left {
    fn is_empty(&self) -> bool {
        self.own.is_empty() && self.next >= self.shared.len()
    }

    fn take(&mut self) -> Option<u128> {
        self.own.pop().or_else(|| {
            let value = self.shared.get(self.next)?;
            self.next += 1;
            Some(*value)
        })
    }
}

/// Where an input was asked for.
struct Place {
    /// What led here.
    before: Before,
    /// How many answers lead here.
    depth: u32,
    /// How many places in states of this kind there were before.
    alike: u32,
    /// What was not tried.
    left: Left,
    /// How many values were tried.
    tried: u32,
}

/// What was seen.
#[derive(Default)]
struct Seen {
    places: Vec<Place>,
    exact: BTreeSet<u64>,
    rough: BTreeMap<u64, u32>,
    /// Places with values left: rare kinds first, then near ones.
    queue: BinaryHeap<Reverse<(u32, u32, PlaceId)>>,
}

impl Seen {
    /// Keeps a place, with the values that are to be tried; `None` if it is known.
    fn add(&mut self, looks: Looks, before: &Before, left: Left) -> Option<PlaceId> {
        if self.places.len() >= PLACES || !self.exact.insert(looks.exact) {
            return None;
        }
        let before = before.clone();
        let count = self.rough.entry(looks.rough).or_default();
        let alike = *count;
        *count += 1;
        let id = PlaceId(self.places.len() as u32);
        let first = before.place.map_or(0, |place| self.place(place).depth);
        let depth = first + before.answers.len() as u32;
        self.places.push(Place {
            before,
            depth,
            alike,
            left,
            tried: 0,
        });
        self.put(id);
        Some(id)
    }

    fn place(&self, id: PlaceId) -> &Place {
        &self.places[id.0 as usize]
    }

    fn put(&mut self, id: PlaceId) {
        let place = self.place(id);
        // A place with many values gives way to others now and then.
        let turn = place.alike + place.tried / 8;
        if !place.left.is_empty() {
            self.queue.push(Reverse((turn, place.depth, id)));
        }
    }

    /// The next value that a place was not asked with.
    fn take(&mut self, id: PlaceId) -> Option<u128> {
        let place = &mut self.places[id.0 as usize];
        place.tried += 1;
        place.left.take()
    }

    /// The answers that lead to a place.
    fn answers(&self, id: PlaceId) -> Vec<u128> {
        let mut answers = Vec::with_capacity(self.place(id).depth as usize + 1);
        let mut at = Some(id);
        while let Some(id) = at {
            let before = &self.place(id).before;
            answers.extend(before.answers.iter().rev());
            at = before.place;
        }
        answers.reverse();
        answers
    }

    /// The answers that lead to a place, and one more.
    fn answers_and(&self, id: PlaceId, value: u128) -> Vec<u128> {
        let mut answers = self.answers(id);
        answers.push(value);
        answers
    }

    /// Any place, with the answers that lead there; every other time the beginning. `None` if
    /// there is none.
    fn any(&self, turn: u64) -> Option<(Option<PlaceId>, Vec<u128>)> {
        let chance = mixed(turn, 3);
        let index = (chance / 2).checked_rem(self.places.len() as u64)?;
        if chance.is_multiple_of(2) {
            return Some((None, Vec::new()));
        }
        let id = PlaceId(index as u32);
        Some((Some(id), self.answers(id)))
    }

    /// The next place to go on from, with the answers that lead there and one that is new. Every
    /// other time it is any place: where all states are of different kinds, far ones would never
    /// have their turn.
    fn next(&mut self, turn: u64) -> Option<(PlaceId, Vec<u128>)> {
        if turn.is_multiple_of(2) && !self.places.is_empty() {
            let first = mixed(turn, turn) as usize % self.places.len();
            for index in first..self.places.len().min(first + 16) {
                let id = PlaceId(index as u32);
                if let Some(value) = self.take(id) {
                    return Some((id, self.answers_and(id, value)));
                }
            }
        }
        while let Some(Reverse((_, _, id))) = self.queue.pop() {
            if let Some(value) = self.take(id) {
                self.put(id);
                return Some((id, self.answers_and(id, value)));
            }
        }
        None
    }
}

/// Runs a program, steered, for no more than so many edges in all.
pub(crate) fn explore(options: &Runs, edges: u64, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
    let program = task.model.program;
    let hints = Hints::of(program);
    let likeness = Likeness::of(program, &hints);
    let interpreter = Interpreter::new(program);
    let mut seen = Seen::default();
    let mut ended = Ended::open(task, &Reason::Length(options.steps as usize));
    let mut next = Some((None, Vec::new()));
    let (mut runs, mut steps) = (0u64, 0);
    // The heap is not looked at either.
    let allocates = |edge: &Edge| matches!(edge.op, Op::Allocate { .. });
    let mut is_unseen = program.edges.iter().any(allocates);
    let limits = Limits::of_many(options.steps, Budget::unlimited());
    while let Some((from, given)) = next.take() {
        // A look at the budget costs as much as a short run.
        let looked = match runs % 16 {
            0 => task.budget.check(),
            _ => Ok(()),
        };
        if let Err(stopped) = looked {
            let reason = Reason::Stopped(stopped);
            for open in ended.open.values_mut() {
                *open = reason.clone();
            }
            ended.incomplete = Some(reason);
            break;
        }
        let looks = Cell::new(None);
        let is_new = Cell::new(given.is_empty());
        // The answers since the place: one to go on from it, none to come to it once more.
        let since = given.len() - from.map_or(0, |from| seen.place(from).depth as usize);
        let before = Before {
            place: from,
            answers: given[given.len() - since..].to_vec(),
        };
        let mut steered = Steered {
            hints: &hints,
            seen: &mut seen,
            looks: &looks,
            is_new: &is_new,
            given: given.into_iter(),
            before,
            run: runs,
            is_unseen,
            so_far: SoFar::default(),
        };
        let mut onlooker = Onlooker {
            likeness: &likeness,
            looks: &looks,
            is_new: &is_new,
        };
        let run = interpreter.run_observed(&mut steered, &limits, &mut onlooker);
        is_unseen = steered.is_unseen;
        runs += 1;
        // The beginning of a run costs something, too, and so does memory that has to be filled.
        let filled: usize = run.unknowns.iter().map(Vec::len).sum();
        steps += run.steps + 50 + filled as u64 / 8;
        violated(&run, desk, &mut ended);
        let is_done = ended.open.is_empty() && !task.checks.is_empty();
        if is_done || runs >= options.runs || steps >= edges {
            break;
        }
        if runs.is_multiple_of(1_024) {
            desk.event(Event {
                doing: "exploring".into(),
                open: ended.open.len(),
                figures: figures(runs, &seen),
            });
        }
        next = seen.next(runs).map(|(from, given)| (Some(from), given));
        // Every place was tried, but states of which not all is seen may be worth another try.
        if next.is_none() && is_unseen {
            next = seen.any(runs);
        }
    }
    ended.statistics = figures(runs, &seen);
    ended
}

fn figures(runs: u64, seen: &Seen) -> Vec<Figure> {
    vec![
        Figure::count("runs", runs),
        Figure::count("states", seen.places.len() as u64),
        Figure::count("kinds of states", seen.rough.len() as u64),
    ]
}

/// Claims what a run violates.
fn violated(run: &Run, desk: &mut dyn Desk, ended: &mut Ended) {
    let Outcome::Violated(check) = run.outcome else {
        return;
    };
    if !ended.open.contains_key(&check) {
        return;
    }
    let given = Given::Script(Script::of(run));
    let claim = Claim::Run(RunClaim { check, given });
    if desk.submit(claim).refused().is_none() {
        ended.open.remove(&check);
    }
}

/// Looks at the states in which inputs are asked for, once the run is where none was before.
struct Onlooker<'a> {
    likeness: &'a Likeness,
    looks: &'a Cell<Option<Looks>>,
    is_new: &'a Cell<bool>,
}

impl Observer for Onlooker<'_> {
    fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
        if self.is_new.get() && self.likeness.is_asking(edge) {
            self.looks.set(Some(self.likeness.look(edge, state)));
        }
    }
}
