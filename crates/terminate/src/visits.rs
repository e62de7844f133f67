//! A run into a loop, and the values of variables whenever control comes by.

use hardbop_budget::Budget;
use hardbop_cfront::ids::{EdgeId, LocId, TypeId, VarId};
use hardbop_cfront::interp::{Environment, Interpreter, Limits, Observer, Request, State};
use hardbop_cfront::program::Program;
use hardbop_engine::claim::Script;
use std::cell::Cell;
use std::collections::BTreeMap;

/// The most steps of a run.
const STEPS: u64 = 20_000;
/// The most visits that are kept.
const VISITS: usize = 60;

/// What the program is given before it comes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// The same number everywhere.
    Same(i128),
    /// A small number that depends on the place.
    ByPlace,
}

impl Manner {
    /// All that are tried.
    pub(crate) const ALL: [Manner; 5] = [
        Manner::Same(1),
        Manner::Same(0),
        Manner::ByPlace,
        Manner::Same(1_000),
        Manner::Same(-1_000),
    ];

    /// Whether it is only for loops that nothing else comes by.
    pub(crate) fn is_last_resort(self) -> bool {
        matches!(self, Manner::Same(number) if number.abs() > 1)
    }
}

/// Control is at a cut point.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    /// After so many steps.
    pub(crate) step: u64,
    /// The cut point of the prepared program.
    pub(crate) at: LocId,
    /// The values of variables, as far as those can be named there.
    pub(crate) values: Vec<Option<u64>>,
    /// How many inputs, and how many unknown contents, were given so far.
    inputs: (usize, usize),
}

/// A run that comes by.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) visits: Vec<Visit>,
    script: Script,
}

impl Run {
    /// What the run is given before a step.
    pub(crate) fn script(&self, step: u64) -> Script {
        let visit = self.visits.iter().find(|visit| visit.step == step);
        let (inputs, unknowns) = visit.map_or((0, 0), |visit| visit.inputs);
        let mut script = self.script.clone();
        script.inputs.truncate(inputs);
        script.unknowns.truncate(unknowns);
        script
    }
}

/// Runs a program; in the loop, some edges are given the same each time. `None` if it does not come
/// by.
pub(crate) fn run(
    program: &Program,
    places: &BTreeMap<LocId, LocId>,
    variables: &[VarId],
    given: &BTreeMap<EdgeId, i128>,
    manner: Manner,
    budget: &Budget,
) -> Option<Run> {
    let inside = Cell::new(false);
    let counts = Cell::new((0, 0));
    let mut environment = Given {
        given,
        inside: &inside,
        counts: &counts,
        manner,
    };
    let mut watch = Watch {
        program,
        places,
        variables,
        inside: &inside,
        counts: &counts,
        step: 0,
        visits: Vec::new(),
    };
    let limits = Limits::of_many(STEPS, budget.clone());
    let run = Interpreter::new(program).run_observed(&mut environment, &limits, &mut watch);
    let visits = watch.visits;
    // One that leaves the loop soon shows nothing.
    (visits.len() > 2).then(|| Run {
        visits,
        script: Script::of(&run),
    })
}

/// What the program is given.
struct Given<'a> {
    given: &'a BTreeMap<EdgeId, i128>,
    /// Whether it came by once.
    inside: &'a Cell<bool>,
    counts: &'a Cell<(usize, usize)>,
    manner: Manner,
}

impl Given<'_> {
    fn number(&self, edge: Option<EdgeId>) -> u128 {
        let chosen = edge.and_then(|edge| self.given.get(&edge));
        match chosen.filter(|_| self.inside.get()) {
            Some(&number) => number as u128,
            None => match self.manner {
                Manner::Same(number) => number as u128,
                Manner::ByPlace => u128::from(edge.map_or(0, |edge| edge.0 % 7)),
            },
        }
    }
}

impl Environment for Given<'_> {
    fn input(&mut self, request: Request<'_>, _: TypeId) -> Option<u128> {
        let (inputs, unknowns) = self.counts.get();
        self.counts.set((inputs + 1, unknowns));
        Some(self.number(request.edge))
    }

    fn input_bytes(&mut self, request: Request<'_>, bytes: &mut [u8]) -> bool {
        let (inputs, unknowns) = self.counts.get();
        self.counts.set((inputs + 1, unknowns));
        bytes.fill(self.number(request.edge) as u8);
        true
    }

    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]) {
        let (inputs, unknowns) = self.counts.get();
        self.counts.set((inputs, unknowns + 1));
        let number = self.number(request.edge).to_le_bytes();
        for (byte, part) in bytes.iter_mut().zip(number.into_iter().cycle()) {
            *byte = part;
        }
    }
}

/// Looks at the variables whenever control comes by.
struct Watch<'a> {
    program: &'a Program,
    places: &'a BTreeMap<LocId, LocId>,
    variables: &'a [VarId],
    inside: &'a Cell<bool>,
    counts: &'a Cell<(usize, usize)>,
    step: u64,
    visits: Vec<Visit>,
}

impl Observer for Watch<'_> {
    fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
        let from = self.program.edges[edge.index()].from;
        if let Some(&at) = self.places.get(&from)
            && self.visits.len() < VISITS
        {
            let read = |&variable: &VarId| Some(state.variable(variable)?.bits as u64);
            let values = self.variables.iter().map(read).collect();
            self.inside.set(true);
            self.visits.push(Visit {
                step: self.step,
                at,
                values,
                inputs: self.counts.get(),
            });
        }
        self.step += 1;
    }
}
