//! The environment of a run that is steered: it answers as it was told, and then with what was not
//! tried.
//!
//! In come requests of the interpreter; out come answers, and places are kept to come back to: where
//! inputs are asked for, where undefined functions give something, and where memory is read that the
//! program did not write.

use super::{Before, Left, PlaceId, Seen};
use crate::hints::Hints;
use crate::likeness::{Looks, mixed};
use crate::runs::{Guess, Style};
use hardbop_cfront::ids::{EdgeId, TypeId, VarId};
use hardbop_cfront::interp::{Environment, Request, Wanted, function_address};
use hardbop_cfront::program::{Op, Program};
use hardbop_cfront::types::{DataModel, Type};
use std::cell::Cell;
use std::collections::BTreeSet;

/// The most new places of one run: others are to have their turn.
const NEW_PLACES: u32 = 32;
/// The most new places of one run where memory was read that the program did not write.
const NEW_CONTENTS: u32 = 256;
/// The most inputs of one run that are passed where the variables look as they did before.
const PASSED: u32 = 64;
/// So many of the numbers that an input is compared with come before others.
const NEAR: usize = 48;
/// The most parts of a variable that are filled in.
const USUAL_PARTS: u32 = 1_000;

/// Answers as it was told, and then with what was not tried.
pub(super) struct Steered<'a> {
    pub(super) hints: &'a Hints,
    pub(super) seen: &'a mut Seen,
    /// What the onlooker saw.
    pub(super) looks: &'a Cell<Option<Looks>>,
    /// Whether the answers that were given are used up.
    pub(super) is_new: &'a Cell<bool>,
    pub(super) given: std::vec::IntoIter<u128>,
    /// The place before, and the answers there and since.
    pub(super) before: Before,
    /// The run's number: guesses of different runs differ.
    pub(super) run: u64,
    /// Whether there is memory that is not looked at, on the heap or outside. Then states that look
    /// alike need not be.
    pub(super) is_unseen: bool,
    /// What the run came to so far.
    pub(super) so_far: SoFar,
}

/// What a run came to so far.
#[derive(Default)]
pub(super) struct SoFar {
    /// What the state looked like when it was asked last.
    last: Option<Looks>,
    /// What memory of the outside was found to hold, where that is not what it usually holds: no
    /// look at the variables shows it.
    found: u64,
    /// How many new places there were, where inputs were asked for and where memory was read.
    new: u32,
    contents: u32,
    /// How many inputs were passed.
    passes: u32,
    /// How often it was asked.
    asked: u64,
}

impl Steered<'_> {
    /// The answer to a request that was told, if one was.
    fn told(&mut self) -> Option<u128> {
        let answer = self.given.next()?;
        if self.given.len() == 0 {
            self.is_new.set(true);
        }
        Some(answer)
    }

    /// The answer to a request; `None` if this was seen before.
    fn answer(&mut self, request: Request<'_>, ty: TypeId) -> Option<u128> {
        self.so_far.asked += 1;
        if let Some(answer) = self.told() {
            return Some(answer);
        }
        let looks = match (self.looks.take(), self.so_far.last) {
            (Some(looks), _) => looks,
            // The same edge asks more than once.
            (None, Some(last)) => last.again(),
            (None, None) => Looks { rough: 0, exact: 0 },
        };
        let looks = Looks {
            exact: mixed(looks.exact, self.so_far.found),
            ..looks
        };
        self.so_far.last = Some(looks);
        self.so_far.new += 1;
        let mut place = None;
        if self.so_far.new <= NEW_PLACES {
            let left = self.values(request, ty, looks.exact);
            place = self.seen.add(looks, &self.before, left);
        }
        self.first_at(place)
    }

    /// What to try for an input.
    fn values(&self, request: Request<'_>, ty: TypeId, seed: u64) -> Left {
        let hints = self.hints.at(request.program, request.edge);
        let own = values(request, ty, &hints, seed, self.so_far.asked);
        match hints.len() > NEAR {
            true => Left {
                own,
                shared: hints,
                next: 0,
            },
            false => Left {
                own,
                ..Left::default()
            },
        }
    }

    /// What something holds that an undefined function or assembly wrote: as good as an input, but
    /// what was seen before is passed.
    fn havocked(&mut self, request: Request<'_>, ty: TypeId) -> u128 {
        match self.answer(request, ty) {
            Some(answer) => answer,
            None => self.passed(request, ty),
        }
    }

    /// An answer where this was seen before.
    fn passed(&mut self, request: Request<'_>, ty: TypeId) -> u128 {
        let seed = self.so_far.last.map_or(0, |last| last.exact);
        let seed = mixed(mixed(seed, self.so_far.asked), self.run);
        let values = self.values(request, ty, seed).own;
        self.pass(values[mixed(seed, 1) as usize % values.len()])
    }

    /// The first answer at a new place.
    fn first_at(&mut self, place: Option<PlaceId>) -> Option<u128> {
        let place = place?;
        let answer = self.seen.take(place)?;
        self.before = Before {
            place: Some(place),
            answers: vec![answer],
        };
        Some(answer)
    }

    /// Gives an answer at what is no place of its own: others come after it.
    fn pass(&mut self, answer: u128) -> u128 {
        self.before.answers.push(answer);
        answer
    }

    /// What a variable holds that others define: its pointers lead to objects and functions, as
    /// long as there are not many.
    fn usual(&mut self, program: &Program, variable: VarId, bytes: &mut [u8]) {
        let types = &program.types;
        let mut left = vec![(program.variable(variable).ty, 0)];
        let mut parts = 0;
        while let Some((ty, at)) = left.pop() {
            parts += 1;
            if parts > USUAL_PARTS {
                break;
            }
            match types.get(ty) {
                Type::Pointer(_) => {
                    self.so_far.asked += 1;
                    let function = self.hints.callees(ty).next().map(function_address);
                    let value =
                        function.unwrap_or_else(|| object(types.model(), self.so_far.asked));
                    let room = bytes.iter_mut().skip(at as usize);
                    for (byte, value) in room
                        .zip(value.to_le_bytes())
                        .take(types.size_of(ty) as usize)
                    {
                        *byte = value;
                    }
                }
                Type::Array { element, length } => {
                    let size = types.size_of(*element);
                    left.extend((0..(*length).min(16)).map(|index| (*element, at + index * size)));
                }
                Type::Record(record) => {
                    let fields = types.record(*record).fields.iter();
                    left.extend(fields.map(|field| (field.ty, at + field.offset())));
                }
                _ => {}
            }
        }
    }

    /// What a scalar in memory that the program did not write holds. A pointer leads to an object
    /// of its own, then nowhere: drivers are handed structures that others have filled in, and
    /// believe in them. A number is nothing, then what the edge compares it with.
    fn contents(&mut self, request: Request<'_>, size: usize) -> u128 {
        self.so_far.asked += 1;
        let values = match request.wanted {
            Wanted::Pointer => {
                let functions = self.hints.functions(request.program, request.edge);
                let functions = functions.into_iter().rev().map(function_address);
                let object = object(request.program.types.model(), self.so_far.asked);
                let values = [0, object].into_iter().chain(functions);
                values.map(u128::from).collect()
            }
            _ => {
                let mut values = self.hints.nearby(request.program, request.edge, size);
                values.push(0);
                values
            }
        };
        let usual = values.last().copied().unwrap_or(0);
        let edge = request.edge.map_or(0, |edge| u64::from(edge.0) + 1);
        self.is_unseen = true;
        if let Some(answer) = self.told() {
            if answer != usual {
                self.so_far.found = mixed(mixed(self.so_far.found, edge), answer as u64);
            }
            return answer;
        }
        // Nothing but the way here tells what memory holds.
        let place = self.before.place.map_or(0, |place| u64::from(place.0) + 1);
        let answers = self.before.answers.iter();
        let looks = Looks {
            rough: mixed(edge, 1),
            exact: answers.fold(mixed(edge, place), |hash, &answer| {
                mixed(hash, answer as u64)
            }),
        };
        self.so_far.contents += 1;
        let chance = mixed(mixed(looks.exact, self.run), self.so_far.asked);
        let unusual = values[(chance / 8) as usize % values.len()];
        let place = match self.so_far.contents <= NEW_CONTENTS {
            true => {
                let left = Left {
                    own: values,
                    ..Left::default()
                };
                self.seen.add(looks, &self.before, left)
            }
            false => None,
        };
        match self.first_at(place) {
            Some(answer) => answer,
            None if chance.is_multiple_of(8) => self.pass(unusual),
            None => self.pass(usual),
        }
    }
}

impl Environment for Steered<'_> {
    fn input(&mut self, request: Request<'_>, ty: TypeId) -> Option<u128> {
        let answer = self.answer(request, ty);
        if answer.is_some() || !self.is_unseen || self.so_far.passes >= PASSED {
            return answer;
        }
        self.so_far.passes += 1;
        Some(self.passed(request, ty))
    }

    fn input_bytes(&mut self, _: Request<'_>, bytes: &mut [u8]) -> bool {
        bytes.fill(0);
        true
    }

    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]) {
        // What an undefined function gives is as good as an input; whole objects are zero.
        if request.wanted == Wanted::Bytes {
            return;
        }
        let havoc = request
            .edge
            .and_then(|edge| havocked(request.program, edge));
        let answer = match havoc {
            Some(ty) => self.havocked(request, ty),
            None => self.contents(request, bytes.len()),
        };
        for (byte, value) in bytes.iter_mut().zip(answer.to_le_bytes()) {
            *byte = value;
        }
    }

    fn unknown_variable(&mut self, request: Request<'_>, variable: VarId, bytes: &mut [u8]) {
        match request.wanted {
            Wanted::Bytes => self.usual(request.program, variable, bytes),
            Wanted::Number | Wanted::Pointer => self.unknown(request, bytes),
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

/// A pointer to an object of the outside, of its own for every number.
fn object(model: DataModel, number: u64) -> u64 {
    let mut guess = Guess::new(Style::One, 1);
    guess.objects = number;
    guess.pointer(model)
}

/// What to try for an input: the numbers that it is compared with, and some of every style. The
/// last one is tried first. Pointers from outside lead to an object of their own for every `asked`.
fn values(request: Request<'_>, ty: TypeId, hints: &[u128], seed: u64, asked: u64) -> Vec<u128> {
    let types = &request.program.types;
    let width = types.bit_width(ty).unwrap_or(8).clamp(1, 128);
    let mask = u128::MAX >> (128 - width);
    // Not always the same one first.
    let first = (seed as usize).checked_rem(hints.len()).unwrap_or(0);
    let near = hints.iter().cycle().skip(first);
    let mut values: Vec<u128> = near.take(hints.len().min(NEAR)).copied().collect();
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
    if let Type::Pointer(_) = types.get(ty) {
        // An object, then nothing, then numbers that stand for errors.
        let object = object(types.model(), asked);
        values.splice(0..0, [u128::from(object), 0]);
    }
    let mut known = BTreeSet::new();
    let kept = values.into_iter().map(|value| value & mask);
    let mut kept: Vec<u128> = kept.filter(|&value| known.insert(value)).collect();
    kept.reverse();
    kept
}
