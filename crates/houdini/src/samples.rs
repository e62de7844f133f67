//! States that runs of a program come to, at its cut points: material for guesses.
//!
//! A run is made of the program's steps: inputs are chosen, mostly small ones, the step is taken
//! whose condition is true then, and its state is computed, until numbers become large. Nothing is proved by runs, and a run
//! that goes wrong only leads to guesses that are dropped again. The same program has the same runs
//! every time.

use crate::candidates::Hints;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::LocId;
use hardbop_logic::{Assignment, BitVec, Sort, TermId, Terms, Value, eval};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// How many runs are made, ...
const RUNS: usize = 120;
/// ... of at most so many steps, ...
const STEPS: usize = 40;
/// ... of which each is tried with so many inputs.
const TRIES: usize = 24;
/// The most states at one point, ...
const STATES: usize = 240;
/// ... and of one run.
const OF_ONE_RUN: usize = 12;
/// A number of more bits is large.
const LARGE_BITS: u64 = 26;
/// Steps that speak of more are not computed.
const LARGE: usize = 3_000;

/// The states that runs came to.
#[derive(Debug, Default)]
pub struct Samples {
    at: BTreeMap<LocId, Vec<Assignment>>,
}

/// A step with what has to be known to take it.
struct Ready<'s> {
    step: &'s Step,
    inputs: BTreeSet<TermId>,
    /// What is live at its end, and the terms that tell its values.
    ends: Vec<(TermId, TermId)>,
}

impl Samples {
    /// The states at a point.
    pub fn at(&self, location: LocId) -> &[Assignment] {
        self.at.get(&location).map_or(&[], Vec::as_slice)
    }

    /// Makes runs; nothing if the program has steps that are too large for that.
    pub fn new(
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        steps: &[Step],
        live: &BTreeMap<LocId, Live>,
        hints: &Hints,
        budget: &Budget,
    ) -> Result<Samples, Stopped> {
        let mut ready: BTreeMap<Option<LocId>, Vec<Ready<'_>>> = BTreeMap::new();
        for step in steps {
            let End::At(to) = step.to else {
                continue;
            };
            let mut ends = Vec::new();
            for constant in live_constants(ground, terms, live.get(&to)) {
                ends.push((constant, ground.at_end(terms, step, constant)));
            }
            let mut roots: Vec<TermId> = ends.iter().map(|&(_, term)| term).collect();
            roots.push(step.condition);
            if terms.postorder(&roots).len() > LARGE {
                return Ok(Samples::default());
            }
            let constants = terms.free_constants(&roots).into_iter();
            let inputs = constants.filter(|&at| ground.constants.meaning(at).is_none());
            let inputs = inputs.collect();
            let of = ready.entry(step.from).or_default();
            of.push(Ready { step, inputs, ends });
        }
        let mut chooser = Chooser {
            random: 0x9e37_79b9_7f4a_7c15,
            hints,
        };
        let mut samples = Samples::default();
        for run in 0..RUNS {
            budget.check()?;
            samples.run(terms, &ready, &mut chooser, run);
        }
        Ok(samples)
    }

    /// One run, until it ends or is long enough.
    fn run(
        &mut self,
        terms: &Terms,
        ready: &BTreeMap<Option<LocId>, Vec<Ready<'_>>>,
        chooser: &mut Chooser<'_>,
        number: usize,
    ) {
        let mut at: Option<LocId> = None;
        let mut state = Assignment::new();
        let mut taken: BTreeMap<LocId, usize> = BTreeMap::new();
        for _ in 0..STEPS {
            let Some(steps) = ready.get(&at) else {
                return;
            };
            let inputs: BTreeSet<TermId> = steps
                .iter()
                .flat_map(|ready| ready.inputs.iter().copied())
                .collect();
            let tries = if inputs.is_empty() { 1 } else { TRIES };
            let next = (0..tries).find_map(|_| {
                let mut tried = state.clone();
                for &input in &inputs {
                    if let Some(value) = chooser.value(terms, input) {
                        tried.set(input, value);
                    }
                }
                let holds = |ready: &&Ready<'_>| {
                    eval(terms, ready.step.condition, &tried) == Ok(Value::Bool(true))
                };
                let ready = steps.iter().find(holds)?;
                let mut after = Assignment::new();
                for &(constant, term) in &ready.ends {
                    after.set(constant, eval(terms, term, &tried).ok()?);
                }
                Some((ready.step, after))
            });
            let Some((step, after)) = next else {
                return;
            };
            let End::At(to) = step.to else {
                return;
            };
            if after.iter().any(|(_, value)| is_large(value)) {
                return;
            }
            let known = self.at.entry(to).or_default();
            let of_run = taken.entry(to).or_default();
            // Later runs are looked at later on, too.
            let wanted =
                *of_run < OF_ONE_RUN && (number.is_multiple_of(3) || chooser.below(2) == 0);
            if wanted && known.len() < STATES && !known.contains(&after) {
                known.push(after.clone());
                *of_run += 1;
            }
            state = after;
            at = Some(to);
        }
    }
}

/// Whether a number is so large that it may have wrapped around: what holds of such is no equation
/// between numbers.
fn is_large(value: &Value) -> bool {
    match value {
        Value::BitVec(bits) if bits.width() >= 16 => {
            let (positive, negative) = (bits.unsigned().bits(), bits.signed().bits());
            positive.min(negative) > LARGE_BITS
        }
        _ => false,
    }
}

/// The constants of what is live at a point.
fn live_constants(ground: &Ground<'_, '_>, terms: &mut Terms, live: Option<&Live>) -> Vec<TermId> {
    let mut found = Vec::new();
    if let Some(live) = live {
        let now = live.now.iter().map(|&id| Meaning::Now(id));
        let old = live.old.iter().map(|&id| Meaning::Old(id));
        for meaning in now.chain(old) {
            match meaning {
                Meaning::Now(id) => found.push(ground.semantics.constant(terms, id)),
                Meaning::Old(id) => found.push(ground.semantics.old_constant(terms, id)),
                Meaning::Origin => {}
            }
        }
    }
    found
}

/// Chooses inputs.
struct Chooser<'h> {
    random: u64,
    hints: &'h Hints,
}

impl Chooser<'_> {
    /// A number below a bound (xorshift).
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % bound
    }

    /// A value of an input: mostly small, sometimes one that it is compared to.
    fn value(&mut self, terms: &Terms, input: TermId) -> Option<Value> {
        let width = match terms.sort(input) {
            Sort::Bool => return Some(Value::Bool(self.below(2) == 1)),
            Sort::BitVec(width) => width,
            _ => return None,
        };
        let literals: Vec<TermId> = self.hints.literals_of(input).copied().collect();
        let number = match self.below(10) {
            0..6 => self.below(13),
            6 => self.below(100),
            7 => self.below(1_000),
            8 if !literals.is_empty() => {
                let literal = literals[self.below(literals.len() as u64) as usize];
                return terms.value_of(literal);
            }
            _ => return Some(negative(width, 1 + self.below(9))),
        };
        Some(Value::BitVec(BitVec::new(number.into(), width)))
    }
}

/// The opposite of a number.
fn negative(width: u32, number: u64) -> Value {
    Value::BitVec(BitVec::from_int(&(-i128::from(number)).into(), width))
}
