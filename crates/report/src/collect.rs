//! Collects results from what an engine says about a program.

use crate::results::{
    Answer, Bounded, CheckResult, DataModel, EdgeStep, FlowGraph, FlowNode, Input, Invariant,
    InvariantAt, Place, Rank, Results, Trace,
};
use crate::trace::{Places, trace};
use hardbop_budget::Budget;
use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{CheckId, FuncId, LocId};
use hardbop_cfront::interp::Run;
use hardbop_cfront::program::{
    Assumption, Callee, CheckKind, Function, LocationKind, Op, Origin, Program, Source,
};
use hardbop_cfront::types;
use std::collections::{BTreeMap, BTreeSet};

/// What an engine says of a check.
#[derive(Clone, Debug)]
pub enum Said<'a> {
    /// No execution violates it.
    Proved,
    /// This run does.
    Violated(&'a Run),
    /// There is a run that does, too long to be run.
    Leapt(Leapt),
    /// This run is the beginning of one that never ends.
    Endless(&'a Run, Endless),
    /// No execution does up to a depth.
    Bounded(Bounded),
    /// Neither is known, and why.
    Unknown(String),
}

/// How an execution goes on for ever.
#[derive(Clone, Debug)]
pub struct Endless {
    /// Where it is after its beginning.
    pub at: Source,
    /// So many steps the beginning has, ...
    pub stem: u64,
    /// ... and so many inputs.
    pub stem_inputs: usize,
    /// How it goes on.
    pub then: Then,
}

/// How an execution goes on.
#[derive(Clone, Debug)]
pub enum Then {
    /// Its state comes again.
    Again {
        /// After so many steps, ...
        cycle: u64,
        /// ... and given so many inputs.
        inputs: usize,
    },
    /// Its states are some that it need not leave.
    Stays {
        /// What holds where, in the manner of C.
        sets: Vec<(Source, String)>,
        /// What it is given, by which function.
        chosen: Vec<(Source, String, String)>,
    },
}

/// A violation that is known by a chain of must transitions.
#[derive(Clone, Debug)]
pub struct Leapt {
    /// What the program is given outside of loops: where, by which function, and what.
    pub inputs: Vec<(Source, String, String)>,
    /// The loops that are leapt.
    pub loops: Vec<Source>,
    /// At least so many steps the run has.
    pub length: String,
    /// How many questions confirmed it.
    pub questions: u64,
}

/// Puts results together.
pub struct Collector<'p> {
    program: &'p Program,
    places: Places,
    /// The functions that can be called.
    callable: BTreeSet<FuncId>,
    results: Results,
}

impl<'p> Collector<'p> {
    /// Results of a program, with nothing known yet.
    pub fn new(program: &'p Program) -> Collector<'p> {
        let results = Results {
            entry: entry_name(program),
            data_model: match program.types.model() {
                types::DataModel::Ilp32 => DataModel::Ilp32,
                types::DataModel::Lp64 => DataModel::Lp64,
            },
            ..Results::default()
        };
        let mut collector = Collector {
            program,
            places: Places::default(),
            callable: callable(program).into_iter().collect(),
            results,
        };
        collector.results.assumptions = assumptions(program);
        collector
    }

    /// Adds the answer to a check. The run of a violation is repeated within the budget.
    pub fn check(&mut self, id: CheckId, said: Said<'_>, budget: &Budget) {
        let check = &self.program.checks[id.index()];
        let place = self.places.place(self.program, check.source);
        let answer = match said {
            Said::Proved => Answer::Proved,
            Said::Bounded(bounded) => Answer::Bounded(bounded),
            Said::Unknown(reason) => Answer::Unknown(reason),
            Said::Endless(run, endless) => {
                Answer::Violated(Box::new(self.endless(run, &endless, budget)))
            }
            Said::Leapt(leapt) => Answer::Violated(Box::new(self.leapt(&leapt))),
            Said::Violated(run) => {
                Answer::Violated(Box::new(trace(self.program, run, &mut self.places, budget)))
            }
        };
        self.results.checks.push(CheckResult {
            kind: check.kind,
            message: check.message.clone(),
            function: self.program.function(check.function).name.clone(),
            place,
            rule: self
                .program
                .rule_at(check.source)
                .map(|rule| rule.name.clone()),
            answer,
            engine: None,
            next_step: None,
            uncalled: !self.callable.contains(&check.function),
        });
    }

    /// Says of the last check what a user can try.
    pub fn next_step(&mut self, next: Option<&'static str>) {
        if let Some(last) = self.results.checks.last_mut() {
            last.next_step = next;
        }
    }

    /// A violation that never comes to an end.
    fn endless(&mut self, run: &Run, endless: &Endless, budget: &Budget) -> Trace {
        let whole = trace(self.program, run, &mut self.places, budget);
        let place = at_text(self.program, endless.at);
        let stem = steps_text(endless.stem);
        let (words, inputs, cycle) = match &endless.then {
            Then::Again { cycle, inputs } => {
                let given = match inputs {
                    0 => String::new(),
                    1 => ", given the last of the inputs again and again".to_owned(),
                    some => format!(", given the last {some} of the inputs again and again"),
                };
                let words = format!(
                    "an execution goes round for ever: its state at {place} after {stem} comes \
                     again after {} more{given}",
                    steps_text(*cycle)
                );
                (words, endless.stem_inputs + inputs, *cycle)
            }
            Then::Stays { sets, chosen } => {
                let mut words = format!(
                    "an execution goes on for ever: from {place} after {stem} on it can stay where"
                );
                for (index, (at, set)) in sets.iter().enumerate() {
                    let and = if index > 0 { " and" } else { "" };
                    let place = at_text(self.program, *at);
                    let set = if set == "true" {
                        "anything"
                    } else {
                        set.as_str()
                    };
                    words.push_str(&format!("{and} {set} holds at {place}"));
                }
                for (at, function, value) in chosen {
                    let place = at_text(self.program, *at);
                    words.push_str(&format!(", given {function}() = {value} at {place}"));
                }
                (words, endless.stem_inputs, 0)
            }
        };
        Trace {
            endless: Some(words),
            inputs: whole.inputs.into_iter().take(inputs).collect(),
            guesses: whole.guesses,
            length: endless.stem + cycle,
            ..Trace::default()
        }
    }

    /// A violation without a run.
    fn leapt(&self, leapt: &Leapt) -> Trace {
        let at = |source: Source| {
            let file = self.program.presumed_files.get(source.file as usize);
            (file.cloned().unwrap_or_default(), source.line)
        };
        let inputs = leapt.inputs.iter().map(|(source, function, value)| {
            let (file, line) = at(*source);
            Input {
                function: function.clone(),
                file,
                line,
                value: value.clone(),
                ty: String::new(),
            }
        });
        let mut loops: Vec<String> = Vec::new();
        for &source in &leapt.loops {
            let (file, line) = at(source);
            let place = format!("{file}:{line}");
            if !loops.contains(&place) {
                loops.push(place);
            }
        }
        let noun = if loops.len() == 1 { "loop" } else { "loops" };
        let Leapt {
            length, questions, ..
        } = leapt;
        Trace {
            inputs: inputs.collect(),
            leapt: Some(format!(
                "a run of at least {length} steps does, too long to be replayed: it leaps the \
                 {noun} at {}, by must transitions that {questions} questions confirm",
                loops.join(" and ")
            )),
            ..Trace::default()
        }
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
            rule: None,
        });
    }

    /// Adds what falls at a location.
    pub fn rank(&mut self, location: LocId, words: Vec<String>) {
        let entry = &self.program.locations[location.index()];
        let function = self.program.function(entry.function);
        let first = self.program.edges_from(location).next();
        let source = match first {
            Some((_, edge)) if location != function.entry => edge.source,
            _ => function.source,
        };
        let place = self.places.place(self.program, source);
        let rank = Rank { place, words };
        if !self.results.ranks.contains(&rank) {
            self.results.ranks.push(rank);
        }
    }

    /// The place of something in the program.
    pub fn place(&mut self, source: Source) -> Place {
        self.places.place(self.program, source)
    }

    /// The results, to add to what has no place.
    pub fn results(&mut self) -> &mut Results {
        &mut self.results
    }

    /// The control flow of the functions in which checks stand or which violations go through.
    fn graphs(&self) -> Vec<FlowGraph> {
        let mut wanted: BTreeSet<&str> = BTreeSet::new();
        for check in &self.results.checks {
            wanted.insert(&check.function);
            if let Answer::Violated(trace) = &check.answer {
                wanted.extend(trace.calls.iter().map(|call| call.function.as_str()));
            }
        }
        let functions = self.program.functions.iter();
        functions
            .filter(|function| {
                function.origin == Origin::User && wanted.contains(function.name.as_str())
            })
            .map(|function| self.graph(function))
            .collect()
    }

    fn graph(&self, function: &Function) -> FlowGraph {
        let program = self.program;
        // Edges that only end lives stand where the scope ends, which says nothing to a reader.
        let line_at = |location: LocId| {
            let mut at = location;
            for _ in 0..100 {
                let (_, edge) = program.edges_from(at).next()?;
                match edge.op {
                    Op::EndScope { .. } | Op::Declare { .. } | Op::Skip => at = edge.to,
                    _ if program.rule_at(edge.source).is_some() => at = edge.to,
                    _ => return Some(edge.source),
                }
            }
            None
        };
        let mut lines: BTreeMap<u32, String> = BTreeMap::new();
        let mut follows: BTreeSet<(u32, u32)> = BTreeSet::new();
        for location in function.locations.clone() {
            for (_, edge) in program.edges_from(LocId(location)) {
                let line = edge.source.line;
                if matches!(edge.op, Op::EndScope { .. } | Op::Declare { .. } | Op::Skip)
                    || program.rule_at(edge.source).is_some()
                {
                    continue;
                }
                lines.entry(line).or_insert_with(|| {
                    let span = edge.source.span;
                    let number = program.sources.line(span.file, span.start);
                    let whole = program.sources.line_span(span.file, number);
                    program.sources.slice(whole).trim().to_owned()
                });
                if let Some(next) = line_at(edge.to)
                    && next.line != line
                {
                    follows.insert((line, next.line));
                }
            }
        }
        let order: BTreeMap<u32, usize> = lines.keys().copied().zip(0..).collect();
        let edges = follows
            .iter()
            .filter_map(|(from, to)| Some((*order.get(from)?, *order.get(to)?)))
            .collect();
        let nodes = lines
            .into_iter()
            .map(|(line, text)| FlowNode { line, text })
            .collect();
        FlowGraph {
            function: function.name.clone(),
            nodes,
            edges,
        }
    }

    /// All of it.
    pub fn finish(self) -> Results {
        let graphs = self.graphs();
        let mut results = self.results;
        if results
            .checks
            .iter()
            .any(|check| matches!(check.answer, Answer::Proved))
        {
            results.assumptions.extend(ends(self.program));
        }
        let ended = |check: &CheckResult| {
            check.kind == CheckKind::Termination && matches!(check.answer, Answer::Proved)
        };
        if results.checks.iter().any(ended) {
            results.assumptions.extend(ended_by_checks(self.program));
        }
        results.graphs = graphs;
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
}

/// What answers rest on, in words.
pub fn assumptions(program: &Program) -> Vec<String> {
    let words = |assumption: &Assumption| match assumption {
        Assumption::UndefinedFunction {
            name,
            source,
            havoc,
            returns,
        } => {
            let effect = if *havoc {
                "changes any memory it can reach"
            } else {
                "changes nothing"
            };
            let at = at_text(program, *source);
            let end = if *returns {
                "returns anything"
            } else {
                "does not return"
            };
            Some(format!(
                "`{name}`, first called at {at}, {end} and {effect}"
            ))
        }
        Assumption::UndefinedVariable { name, source } => Some(format!(
            "`{name}`, declared at {}, starts with any value",
            at_text(program, *source)
        )),
        Assumption::InlineAssembly { source } => Some(format!(
            "the assembly at {} writes only its outputs",
            at_text(program, *source)
        )),
        Assumption::Model { text } => Some(text.clone()),
        Assumption::Ends { .. } => None,
    };
    program.assumptions.iter().filter_map(words).collect()
}

/// What proofs rest on beyond that, in words: executions end where something goes wrong that
/// nobody asked about.
pub fn ends(program: &Program) -> Vec<String> {
    let words = |assumption: &Assumption| {
        let Assumption::Ends { check, source } = assumption else {
            return None;
        };
        let never = match check {
            CheckKind::DivisionByZero => "no execution divides by zero",
            CheckKind::Constant => "a constant is written",
            CheckKind::Free => "`free` is given null or live memory of the heap",
            _ => "every access is inside of a live object",
        };
        Some(format!(
            "{never}: not asked about (`--check {}`), first at {}",
            check.name(),
            at_text(program, *source)
        ))
    };
    program.assumptions.iter().filter_map(words).collect()
}

/// What a proof that executions end rests on: those end, too, that do what is not defined.
fn ended_by_checks(program: &Program) -> Vec<String> {
    let mut found: BTreeMap<CheckKind, Source> = BTreeMap::new();
    for check in &program.checks {
        found.entry(check.kind).or_insert(check.source);
    }
    let words = |(kind, source): (&CheckKind, &Source)| {
        let what = match kind {
            CheckKind::DivisionByZero => "something is divided by zero",
            CheckKind::Overflow => "signed arithmetic overflows",
            CheckKind::Unsigned => "unsigned arithmetic wraps around",
            CheckKind::Conversion | CheckKind::FloatCast => "a conversion changes a value",
            CheckKind::Pointer | CheckKind::Bounds => "an access is outside of its object",
            CheckKind::Uninit => "something is decided by a value that was never initialised",
            CheckKind::Nan => "an operation gives no number",
            CheckKind::PointerArithmetic => "a pointer leaves its object",
            CheckKind::Alignment => "an access is misaligned",
            CheckKind::Overlap => "memory is copied to where it overlaps itself",
            CheckKind::Free => "`free` is given anything but live memory of the heap",
            // That a violated assertion ends an execution is no assumption.
            _ => return None,
        };
        let at = at_text(program, *source);
        Some(format!("an execution ends where {what}, first at {at}"))
    };
    found.iter().filter_map(words).collect()
}

fn steps_text(count: u64) -> String {
    match count {
        1 => "1 step".to_owned(),
        _ => format!("{count} steps"),
    }
}

fn at_text(program: &Program, source: Source) -> String {
    let file = program.presumed_files.get(source.file as usize);
    format!("{}:{}", file.map_or("", String::as_str), source.line)
}

/// The function that execution starts with, for the user: what calls it is ours.
fn entry_name(program: &Program) -> String {
    let entry = program.function(program.entry);
    if !entry.passes_on() {
        return entry.name.clone();
    }
    let mut edges = program.edges.iter();
    let called = edges.find_map(|edge| match &edge.op {
        Op::Call {
            callee: Callee::Direct(callee),
            ..
        } if entry.locations.contains(&edge.from.0) => {
            // Functions of the library may be called before it, but they are no user's.
            Some(program.function(*callee)).filter(|called| called.origin == Origin::User)
        }
        _ => None,
    });
    called.map_or("main".to_owned(), |function| function.name.clone())
}
