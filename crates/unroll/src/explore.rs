//! Runs that are steered: where an input led to a state that looks like none before, the next runs
//! go on from there.
//!
//! In comes a program; out come the scripts of runs that violate checks. Every place where a run was
//! asked for an input, in a state that was not seen before, is kept with the values that were not
//! tried yet. A run repeats the answers that lead to such a place, tries another value, and goes on
//! into what is new. Places in states of a rare kind come first, near ones before far ones, and
//! every other time any place. With
//! few states (protocols, schedulers, state machines) that sees all of them; with many, it sees some
//! of every kind.

use crate::hints::Hints;
use crate::likeness::{Likeness, Looks, mixed};
use crate::runs::{Guess, Runs, Style};
use hardbop_budget::Budget;
use hardbop_cfront::ids::{EdgeId, TypeId};
use hardbop_cfront::interp::{
    Environment, Interpreter, Limits, Observer, Outcome, Request, Run, State, Wanted,
};
use hardbop_cfront::program::{Op, Program};
use hardbop_cfront::types::Type;
use hardbop_engine::claim::{Given, Run as RunClaim, Script};
use hardbop_engine::{Claim, Desk, Ended, Event, Figure, Reason, Task};
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// The most new places of one run: others are to have their turn.
const NEW_PLACES: u32 = 32;
/// The most places that are kept.
const PLACES: usize = 1_000_000;

/// Where an input was asked for, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PlaceId(u32);

/// Where an input was asked for.
struct Place {
    /// The place before it, and the answer that led here from there.
    before: Option<(PlaceId, u128)>,
    /// How many answers lead here.
    depth: u32,
    /// How many places in states of this kind there were before.
    alike: u32,
    /// What was not tried; the last one is next.
    left: Vec<u128>,
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
    fn add(
        &mut self,
        looks: Looks,
        before: Option<(PlaceId, u128)>,
        left: Vec<u128>,
    ) -> Option<PlaceId> {
        if self.places.len() >= PLACES || !self.exact.insert(looks.exact) {
            return None;
        }
        let count = self.rough.entry(looks.rough).or_default();
        let alike = *count;
        *count += 1;
        let id = PlaceId(self.places.len() as u32);
        let depth = before.map_or(0, |(before, _)| self.place(before).depth + 1);
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
        place.left.pop()
    }

    /// The answers that lead to a place, and one more.
    fn answers_and(&self, id: PlaceId, value: u128) -> Vec<u128> {
        let mut answers = Vec::with_capacity(self.place(id).depth as usize + 1);
        let mut at = id;
        while let Some((before, answer)) = self.place(at).before {
            answers.push(answer);
            at = before;
        }
        answers.reverse();
        answers.push(value);
        answers
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
        let before = from.zip(given.last().copied());
        let mut steered = Steered {
            hints: &hints,
            seen: &mut seen,
            looks: &looks,
            is_new: &is_new,
            given: given.into_iter(),
            before,
            last: None,
            new: 0,
            asked: 0,
            ended: false,
        };
        let mut onlooker = Onlooker {
            likeness: &likeness,
            looks: &looks,
            is_new: &is_new,
        };
        let run = interpreter.run_observed(&mut steered, &limits, &mut onlooker);
        runs += 1;
        steps += run.steps;
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

/// Answers as it was told, and then with what was not tried.
struct Steered<'a> {
    hints: &'a Hints,
    seen: &'a mut Seen,
    /// What the onlooker saw.
    looks: &'a Cell<Option<Looks>>,
    /// Whether the answers that were given are used up.
    is_new: &'a Cell<bool>,
    given: std::vec::IntoIter<u128>,
    /// The place before, and the answer there.
    before: Option<(PlaceId, u128)>,
    /// What the state looked like when it was asked last.
    last: Option<Looks>,
    new: u32,
    /// How often it was asked.
    asked: u64,
    ended: bool,
}

impl Steered<'_> {
    /// The answer to a request; `None` if this was seen before.
    fn answer(&mut self, request: Request<'_>, ty: TypeId) -> Option<u128> {
        self.asked += 1;
        if let Some(answer) = self.given.next() {
            if self.given.len() == 0 {
                self.is_new.set(true);
            }
            return Some(answer);
        }
        if self.ended {
            return None;
        }
        let looks = match (self.looks.take(), self.last) {
            (Some(looks), _) => looks,
            // The same edge asks more than once.
            (None, Some(last)) => last.again(),
            (None, None) => Looks { rough: 0, exact: 0 },
        };
        self.last = Some(looks);
        self.new += 1;
        let mut place = None;
        if self.new <= NEW_PLACES {
            let hints = self.hints.at(request.program, request.edge);
            let values = values(request, ty, hints, looks.exact, self.asked);
            place = self.seen.add(looks, self.before, values);
        }
        let answer = place.and_then(|place| Some((place, self.seen.take(place)?)));
        self.ended = answer.is_none();
        self.before = answer;
        answer.map(|(_, answer)| answer)
    }
}

impl Environment for Steered<'_> {
    fn input(&mut self, request: Request<'_>, ty: TypeId) -> Option<u128> {
        self.answer(request, ty)
    }

    fn input_bytes(&mut self, _: Request<'_>, bytes: &mut [u8]) -> bool {
        bytes.fill(0);
        true
    }

    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]) {
        // What an undefined function gives is as good as an input; the rest is zero.
        let havoc = request
            .edge
            .and_then(|edge| havocked(request.program, edge));
        let Some(ty) = havoc.filter(|_| request.wanted != Wanted::Bytes) else {
            return;
        };
        let answer = self.answer(request, ty).unwrap_or(0).to_le_bytes();
        for (byte, value) in bytes.iter_mut().zip(answer) {
            *byte = value;
        }
    }
}

/// The type of the scalar that an edge makes unknown.
fn havocked(program: &Program, edge: EdgeId) -> Option<TypeId> {
    let Op::Havoc { place } = &program.edges[edge.index()].op else {
        return None;
    };
    let ty = program.place(*place).ty;
    program.types.is_scalar(ty).then_some(ty)
}

/// What to try for an input: the numbers that it is compared with, and some of every style. The
/// last one is tried first. Pointers from outside lead to an object of their own for every `asked`.
fn values(request: Request<'_>, ty: TypeId, hints: &[u128], seed: u64, asked: u64) -> Vec<u128> {
    let types = &request.program.types;
    let width = types.bit_width(ty).unwrap_or(8).clamp(1, 128);
    let mask = u128::MAX >> (128 - width);
    let mut values: Vec<u128> = hints.to_vec();
    // Not always the same one first.
    if !values.is_empty() {
        let first = seed as usize % values.len();
        values.rotate_left(first);
    }
    let mut styles = vec![Style::Zero, Style::One];
    if !matches!(types.get(ty), Type::Bool) {
        styles.extend([Style::Small, Style::Medium, Style::Mixed]);
    }
    if hints.is_empty() && mixed(seed, 7).is_multiple_of(2) {
        styles.swap(0, 1);
    }
    for style in styles {
        let mut guess = Guess::new(style, seed);
        guess.objects = asked;
        values.extend(guess.input(request, ty));
    }
    let mut known = BTreeSet::new();
    let kept = values.into_iter().map(|value| value & mask);
    let mut kept: Vec<u128> = kept.filter(|&value| known.insert(value)).collect();
    kept.reverse();
    kept
}
