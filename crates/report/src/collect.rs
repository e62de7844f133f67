//! Collects results from what an engine says about a program.

use crate::results::{
    Answer, CheckKind, CheckResult, DataModel, EdgeStep, Invariant, InvariantAt, Place, Results,
};
use crate::trace::{Places, trace};
use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::interp::Run;
use hardbop_cfront::program::{self, Assumption, LocationKind, Program, Source};
use hardbop_cfront::types;

/// What an engine says of a check.
#[derive(Clone, Debug)]
pub enum Said<'a> {
    /// No execution violates it.
    Proved,
    /// This run does.
    Violated(&'a Run),
    /// Neither is known, and why.
    Unknown(String),
}

/// Puts results together.
pub struct Collector<'p> {
    program: &'p Program,
    places: Places,
    results: Results,
}

impl<'p> Collector<'p> {
    /// Results of a program, with nothing known yet.
    pub fn new(program: &'p Program) -> Collector<'p> {
        let results = Results {
            entry: program.function(program.entry).name.clone(),
            data_model: match program.types.model() {
                types::DataModel::Ilp32 => DataModel::Ilp32,
                types::DataModel::Lp64 => DataModel::Lp64,
            },
            ..Results::default()
        };
        let mut collector = Collector {
            program,
            places: Places::default(),
            results,
        };
        collector.results.assumptions = collector.assumptions();
        collector
    }

    /// Adds the answer to a check. The run of a violation is repeated within the budget.
    pub fn check(&mut self, id: CheckId, said: Said<'_>, budget: &Budget) {
        let check = &self.program.checks[id.index()];
        let place = self.places.place(self.program, check.source);
        let answer = match said {
            Said::Proved => Answer::Proved,
            Said::Unknown(reason) => Answer::Unknown(reason),
            Said::Violated(run) => {
                Answer::Violated(Box::new(trace(self.program, run, &mut self.places, budget)))
            }
        };
        self.results.checks.push(CheckResult {
            kind: kind(check.kind),
            message: check.message.clone(),
            function: self.program.function(check.function).name.clone(),
            place,
            answer,
        });
    }

    /// Adds the executed edges, as the front end has them, to the violation that was added last.
    pub fn edges(&mut self, edges: Vec<EdgeStep>) {
        if let Some(check) = self.results.checks.last_mut()
            && let Answer::Violated(trace) = &mut check.answer
        {
            trace.edges = edges;
        }
    }

    /// Adds an invariant of a proof: the formula, what C can say of it, and all of it as a
    /// contract in C.
    pub fn invariant(
        &mut self,
        location: LocId,
        formula: String,
        c: Option<String>,
        contract: Option<String>,
    ) {
        let entry = &self.program.locations[location.index()];
        let function = self.program.function(entry.function);
        let (at, source) = if location == function.entry {
            (InvariantAt::Entry, function.source)
        } else {
            let at = match entry.kind {
                LocationKind::LoopHead => InvariantAt::LoopHead,
                LocationKind::Exit => InvariantAt::Exit,
                _ => InvariantAt::Inside,
            };
            let first = self.program.edges_from(location).next();
            (at, first.map_or(function.source, |(_, edge)| edge.source))
        };
        let place = self.places.place(self.program, source);
        self.results.invariants.push(Invariant {
            function: function.name.clone(),
            place,
            at,
            formula,
            c,
            contract,
        });
    }

    /// The place of something in the program.
    pub fn place(&mut self, source: Source) -> Place {
        self.places.place(self.program, source)
    }

    /// The results, to add to what has no place.
    pub fn results(&mut self) -> &mut Results {
        &mut self.results
    }

    /// All of it.
    pub fn finish(self) -> Results {
        let mut results = self.results;
        results.files = self.places.files;
        results.sources = self.places.sources;
        results.invariants.sort_by_key(|invariant| {
            let order = match invariant.at {
                InvariantAt::Entry => 0,
                InvariantAt::LoopHead | InvariantAt::Inside => 1,
                InvariantAt::Exit => 2,
            };
            (
                invariant.place.file,
                invariant.function.clone(),
                order,
                invariant.place,
            )
        });
        results
    }

    /// What answers rest on, in words.
    fn assumptions(&self) -> Vec<String> {
        let at = |source: Source| {
            let file = self.program.presumed_files.get(source.file as usize);
            format!("{}:{}", file.map_or("", String::as_str), source.line)
        };
        let words = |assumption: &Assumption| match assumption {
            Assumption::UndefinedFunction {
                name,
                source,
                havoc,
            } => {
                let effect = if *havoc {
                    "changes any memory it can reach"
                } else {
                    "changes nothing"
                };
                let at = at(*source);
                format!("`{name}`, first called at {at}, returns anything and {effect}")
            }
            Assumption::UndefinedVariable { name, source } => {
                format!(
                    "`{name}`, declared at {}, starts with any value",
                    at(*source)
                )
            }
            Assumption::InlineAssembly { source } => {
                format!("the assembly at {} writes only its outputs", at(*source))
            }
            Assumption::Model { text } => text.clone(),
        };
        self.program.assumptions.iter().map(words).collect()
    }
}

fn kind(kind: program::CheckKind) -> CheckKind {
    match kind {
        program::CheckKind::Assertion => CheckKind::Assertion,
        program::CheckKind::ErrorCall => CheckKind::ErrorCall,
        program::CheckKind::ErrorLabel => CheckKind::ErrorLabel,
        program::CheckKind::DivisionByZero => CheckKind::DivisionByZero,
        program::CheckKind::Overflow => CheckKind::Overflow,
        program::CheckKind::Pointer => CheckKind::Pointer,
        program::CheckKind::Bounds => CheckKind::Bounds,
        program::CheckKind::Free => CheckKind::Free,
    }
}
