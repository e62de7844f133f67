//! A run as the user's own steps, with the values that they set and read.

use crate::flow::Flow;
use crate::object::describe;
use crate::record::{Event, Phase, Record, What, record};
use crate::relevance::relevant;
use crate::results::{
    Binding, CallRun, Guess, Input, LoopRun, Place, Relevance, Role, SourceText, Step, StepKind,
    StepOf, Trace,
};
use crate::rule_run::{Belongs, belongs, word};
use hardbop_budget::Budget;
use hardbop_cfront::dump::{place_text, type_name};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId, PlaceId};
use hardbop_cfront::interp::{self, Consumed, Run};
use hardbop_cfront::models::is_guess;
use hardbop_cfront::program::{Assumption, LocationKind, Op, Origin, PlaceKind, Program, Source};
use hardbop_diagnostics::FileId;
use std::collections::{BTreeMap, BTreeSet};

/// The files and texts that places refer to, each once.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The names of files, as the user knows them.
    pub files: Vec<String>,
    /// The texts that were read.
    pub sources: Vec<SourceText>,
    known_files: BTreeMap<u32, u32>,
    known_sources: BTreeMap<FileId, u32>,
}

impl Places {
    /// Where something stands.
    pub fn place(&mut self, program: &Program, source: Source) -> Place {
        let file = *self.known_files.entry(source.file).or_insert_with(|| {
            let name = program.presumed_files.get(source.file as usize);
            self.files.push(name.cloned().unwrap_or_default());
            self.files.len() as u32 - 1
        });
        let span = source.span;
        let text = *self.known_sources.entry(span.file).or_insert_with(|| {
            self.sources.push(SourceText {
                name: program.sources.name(span.file).to_owned(),
                text: program.sources.text(span.file).to_owned(),
            });
            self.sources.len() as u32 - 1
        });
        let start = program.sources.position(span.file, span.start);
        let end = program.sources.position(span.file, span.end);
        let end_column = if end.line == start.line {
            end.column
        } else {
            let line = program.sources.line_span(span.file, start.line);
            program.sources.position(span.file, line.end).column
        };
        Place {
            file,
            line: source.line,
            source: text,
            source_line: start.line,
            column: start.column,
            end_column,
        }
    }
}

/// The trace of a run. Without its steps if the run cannot be repeated.
pub fn trace(program: &Program, run: &Run, places: &mut Places, budget: &Budget) -> Trace {
    let inputs = inputs(program, run);
    let Some(record) = record(program, run, budget) else {
        return Trace {
            inputs,
            guesses: guessed_inputs(program, run),
            length: run.steps,
            ..Trace::default()
        };
    };
    let functions: BTreeSet<FuncId> = record.activations.iter().map(|a| a.function).collect();
    let flows: BTreeMap<FuncId, Flow> = functions
        .into_iter()
        .map(|function| (function, Flow::new(program, function)))
        .collect();
    let marks = relevant(program, &record, &flows);
    let guesses = guesses(program, &record, &marks);
    let mut builder = Builder {
        program,
        record: &record,
        flows: &flows,
        places,
        trace: Trace {
            inputs,
            length: record.steps,
            rule: record.rule.clone(),
            guesses,
            object: describe(program, run, budget),
            ..Trace::default()
        },
        shown: Vec::new(),
        open: BTreeMap::new(),
    };
    builder.calls();
    for (index, event) in record.events.iter().enumerate() {
        if let Some((position, count)) = record.gap
            && position == index
        {
            builder.trace.gap = Some((builder.trace.steps.len(), count));
        }
        builder.event(event, marks[index]);
    }
    builder.finish()
}

/// The functions of the library, as the user calls them, that answer by guessing, and the assembly,
/// on whose answers the end of the run depends.
fn guesses(program: &Program, record: &Record, marks: &[bool]) -> Vec<Guess> {
    let assembly = assembly(program);
    let mut found = BTreeSet::new();
    for (event, _) in record
        .events
        .iter()
        .zip(marks)
        .filter(|(event, marked)| **marked || changes_anything(program, event.edge))
    {
        found.extend(guess_of_assembly(program, &assembly, event.edge));
        let mut guess = false;
        let mut at = Some(event.activation);
        while let Some(activation) = at.and_then(|at| record.activations.get(at as usize)) {
            let function = program.function(activation.function);
            if function.origin == Origin::User {
                break;
            }
            guess |= is_guess(&function.name);
            let parent = activation.parent;
            let caller = parent.and_then(|at| record.activations.get(at as usize));
            let user = caller
                .is_none_or(|caller| program.function(caller.function).origin == Origin::User);
            if guess && user {
                found.insert(Guess::Function(function.name.clone()));
            }
            at = parent;
        }
    }
    found.into_iter().collect()
}

/// Whether an edge changes whatever can be reached: what depends on that is not followed.
fn changes_anything(program: &Program, edge: EdgeId) -> bool {
    matches!(
        program.edges[edge.index()].op,
        Op::HavocMemory { size: None, .. }
    )
}

/// Where there is inline assembly.
fn assembly(program: &Program) -> BTreeSet<Source> {
    let assembly = program.assumptions.iter().filter_map(|assumption| {
        let Assumption::InlineAssembly { source } = assumption else {
            return None;
        };
        Some(*source)
    });
    assembly.collect()
}

/// The assembly whose output an edge makes up.
fn guess_of_assembly(
    program: &Program,
    assembly: &BTreeSet<Source>,
    edge: EdgeId,
) -> Option<Guess> {
    let edge = &program.edges[edge.index()];
    let guesses = matches!(edge.op, Op::Havoc { .. }) && assembly.contains(&edge.source);
    guesses.then(|| {
        let file = program.presumed_files.get(edge.source.file as usize);
        let file = file.map_or("", String::as_str);
        Guess::Assembly(format!("{file}:{}", edge.source.line))
    })
}

/// The functions of the library that asked for an input as a guess, and all assembly that
/// writes, where it is not known whether the end of the run depends on it.
fn guessed_inputs(program: &Program, run: &Run) -> Vec<Guess> {
    let asked = run.inputs.iter().map(|input| {
        let from = program.edges[input.edge.index()].from;
        let function = program.locations[from.index()].function;
        program.function(function)
    });
    let guesses = asked.filter(|f| f.origin != Origin::User && is_guess(&f.name));
    let assembly = assembly(program);
    let edges = (0..program.edges.len() as u32).map(EdgeId);
    let written = edges.filter_map(|edge| guess_of_assembly(program, &assembly, edge));
    let found: BTreeSet<Guess> = guesses
        .map(|f| Guess::Function(f.name.clone()))
        .chain(written)
        .collect();
    found.into_iter().collect()
}

/// The inputs of a run.
fn inputs(program: &Program, run: &Run) -> Vec<Input> {
    let told = interp::report(program, run).inputs;
    run.inputs
        .iter()
        .zip(told)
        .map(|(consumed, told)| Input {
            function: told.name,
            file: told.place.0,
            line: told.place.1,
            value: told.value,
            ty: match &consumed.value {
                Consumed::Scalar(value) => type_name(&program.types, value.ty),
                Consumed::Bytes(_) => String::new(),
            },
        })
        .collect()
}

struct Builder<'a> {
    program: &'a Program,
    record: &'a Record,
    flows: &'a BTreeMap<FuncId, Flow>,
    places: &'a mut Places,
    trace: Trace,
    /// For every activation its number among the calls that are shown.
    shown: Vec<Option<u32>>,
    /// By call, the loops that control is in: their heads, and their numbers.
    open: BTreeMap<u32, Vec<(LocId, usize)>>,
}

impl Builder<'_> {
    /// Numbers the calls that are shown: those of functions that the user wrote, and whose
    /// callers are shown.
    fn calls(&mut self) {
        for activation in &self.record.activations {
            let function = self.program.function(activation.function);
            let Some(parent) = self.caller(activation.parent) else {
                self.shown.push(None);
                continue;
            };
            if function.origin != Origin::User {
                self.shown.push(None);
                continue;
            }
            let number = self.trace.calls.len() as u32;
            let recursion = self.recursion(parent, &function.name);
            self.trace.calls.push(CallRun {
                function: function.name.clone(),
                depth: parent.map_or(0, |p| self.trace.calls[p as usize].depth + 1),
                parent,
                recursion,
                open: activation.open,
            });
            self.shown.push(Some(number));
        }
    }

    /// The call that is shown around an activation with that parent: none for the first one.
    /// Nothing if it is inside of what is not shown.
    fn caller(&self, mut parent: Option<u32>) -> Option<Option<u32>> {
        while let Some(at) = parent {
            if let Some(shown) = self.shown[at as usize] {
                return Some(Some(shown));
            }
            let around = &self.record.activations[at as usize];
            if !self.program.function(around.function).passes_on() {
                return None;
            }
            parent = around.parent;
        }
        Some(None)
    }

    /// How many calls of a function are around. The nearest one has counted the others; it is not
    /// looked for far away.
    fn recursion(&self, mut around: Option<u32>, function: &str) -> u32 {
        for _ in 0..100 {
            let Some(call) = around.map(|at| &self.trace.calls[at as usize]) else {
                return 0;
            };
            if call.function == function {
                return call.recursion + 1;
            }
            around = call.parent;
        }
        0
    }

    fn event(&mut self, event: &Event, matters: bool) {
        let Some(call) = self.shown.get(event.activation as usize).copied().flatten() else {
            // A rule may be violated in a function whose inside is not shown.
            if self.is_violation(event)
                && let Some(call) = self.shown_around(event.activation)
            {
                self.violated(event, call);
            }
            return;
        };
        let edge = &self.program.edges[event.edge.index()];
        let function = self.program.locations[edge.from.index()].function;
        if event.phase == Phase::Executed {
            self.follow_loops(call, function, edge.from);
        }
        let kind = match (&edge.op, event.phase) {
            (Op::EndScope { .. } | Op::Declare { .. } | Op::Skip, _)
                if !self.is_violation(event) =>
            {
                return;
            }
            (_, Phase::Returned) => StepKind::Statement,
            (Op::Assume { holds, .. }, _) => StepKind::Branch { holds: *holds },
            (Op::Call { .. }, _) => match self.callee(event) {
                Some(callee) => StepKind::Call(callee),
                None => StepKind::ClosedCall,
            },
            _ => match (event.input, event.values.first().map(|seen| seen.what)) {
                (Some(input), _) => StepKind::Input(input),
                (_, Some(What::Returned)) => StepKind::Return,
                _ => StepKind::Statement,
            },
        };
        let place = self.places.place(self.program, edge.source);
        let mut values = self.values(event);
        if let StepKind::Input(input) = kind
            && values.is_empty()
            && let Some(input) = self.trace.inputs.get(input as usize)
        {
            values.push(Binding {
                name: format!("{}()", input.function),
                value: input.value.clone(),
                role: Role::Set,
            });
        }
        if kind == StepKind::ClosedCall {
            // The names of a model's parameters mean nothing to the user.
            values.retain(|binding| binding.role != Role::Passed);
        }
        self.trace.steps.push(Step {
            kind,
            place,
            call,
            values,
            relevance: if matters {
                Relevance::Matters
            } else {
                Relevance::Other
            },
            of: self.whose(edge.source),
            state: event.rule_state,
        });
        if self.is_violation(event) {
            self.violated(event, call);
        }
    }

    /// The nearest call around one that is shown.
    fn shown_around(&self, activation: u32) -> Option<u32> {
        let mut at = Some(activation);
        while let Some(activation) = at {
            if let Some(call) = self.shown[activation as usize] {
                return Some(call);
            }
            at = self.record.activations[activation as usize].parent;
        }
        None
    }

    fn whose(&self, source: Source) -> StepOf {
        match self.program.rule_at(source) {
            Some(_) => StepOf::Rule,
            None => StepOf::Program,
        }
    }

    fn is_violation(&self, event: &Event) -> bool {
        let edge = &self.program.edges[event.edge.index()];
        let kind = self.program.locations[edge.to.index()].kind;
        event.phase == Phase::Executed && matches!(kind, LocationKind::Error(_))
    }

    /// The step that stands for the violation itself.
    fn violated(&mut self, event: &Event, call: u32) {
        let edge = &self.program.edges[event.edge.index()];
        if let LocationKind::Error(check) = self.program.locations[edge.to.index()].kind {
            let source = self.program.checks[check.index()].source;
            let place = self.places.place(self.program, source);
            self.trace.steps.push(Step {
                kind: StepKind::Violation,
                place,
                call,
                values: Vec::new(),
                relevance: Relevance::Matters,
                of: self.whose(source),
                state: event.rule_state,
            });
        }
    }

    /// The call that an event opens, if it is shown.
    fn callee(&self, event: &Event) -> Option<u32> {
        let next = event.number + 1;
        let index = self
            .record
            .activations
            .partition_point(|activation| activation.started < next);
        let activation = self.record.activations.get(index)?;
        let opened = activation.started == next && activation.parent == Some(event.activation);
        opened.then(|| self.shown[index]).flatten()
    }

    fn values(&self, event: &Event) -> Vec<Binding> {
        let binding = |(name, role): (String, Role), value: &str| Binding {
            name,
            value: value.to_owned(),
            role,
        };
        let mut values: Vec<Binding> = Vec::new();
        for seen in &event.values {
            let named = match seen.what {
                What::Set(place) | What::Read(place) => {
                    let role = match seen.what {
                        What::Set(_) => Role::Set,
                        _ => Role::Read,
                    };
                    match self.root(place) {
                        Belongs::Inside => continue,
                        Belongs::State(variable) => {
                            let value = word(variable, &seen.value);
                            values.push(binding((variable.name.clone(), role), value));
                            continue;
                        }
                        Belongs::Program => (place_text(self.program, place), role),
                    }
                }
                What::Passed(variable) => {
                    (self.program.variable(variable).name.clone(), Role::Passed)
                }
                What::Returned => ("return".to_owned(), Role::Returned),
                What::ResultOf(function) => {
                    let function = self.program.function(function);
                    if function.origin == Origin::User {
                        // Its own `return` says it.
                        continue;
                    }
                    (format!("{}()", function.name), Role::Set)
                }
            };
            if named.0.contains('#') {
                continue;
            }
            let next = binding(named, &seen.value);
            if !values.contains(&next) {
                values.push(next);
            }
        }
        values
    }

    /// Whose a place is.
    fn root(&self, place: PlaceId) -> Belongs<'_> {
        match self.program.place(place).kind {
            PlaceKind::Var(variable) => belongs(self.program, variable),
            _ => Belongs::Program,
        }
    }

    /// Closes the loops that control has left, and begins an iteration at a loop head.
    fn follow_loops(&mut self, call: u32, function: FuncId, at: LocId) {
        let flow = &self.flows[&function];
        let next = self.trace.steps.len();
        let open = self.open.entry(call).or_default();
        while let Some(&(head, number)) = open.last() {
            if flow.is_in_loop(head, at) {
                break;
            }
            self.trace.loops[number].end = next;
            open.pop();
        }
        if self.program.locations[at.index()].kind != LocationKind::LoopHead {
            return;
        }
        match open.last() {
            Some(&(head, number)) if head == at => {
                let iterations = &mut self.trace.loops[number].iterations;
                // Both ways out of a head are conditions: an iteration begins once.
                if iterations.last() != Some(&next) {
                    iterations.push(next);
                }
            }
            _ => {
                open.push((at, self.trace.loops.len()));
                self.trace.loops.push(LoopRun {
                    call,
                    iterations: vec![next],
                    end: usize::MAX,
                });
            }
        }
    }

    fn finish(mut self) -> Trace {
        let end = self.trace.steps.len();
        for run in &mut self.trace.loops {
            run.end = run.end.min(end);
        }
        self.trace
    }
}
