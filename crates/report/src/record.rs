//! Runs a violation once more and writes down what every edge reads and writes.
//!
//! The run is repeated from its inputs, so it is the same run; an observer looks on. What is kept
//! is bounded: the first and the last part of a very long run.

mod inside;

use crate::results::RuleRun;
use crate::rule_run::Watcher;
use hardbop_budget::Budget;
use hardbop_cfront::dump::place_text;
use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, PlaceId, TypeId, VarId};
use hardbop_cfront::interp::{
    Consumed, Interpreter, Limits, Observer, Outcome, Run, Script, State, TraceMode, Value,
};
use hardbop_cfront::operands::{Operand, operands_of};
use hardbop_cfront::program::{Callee, ExprKind, Op, PlaceKind, Program, VarKind};
use hardbop_cfront::types::Type;
use inside::inside;
use std::collections::{BTreeMap, VecDeque};

/// The most events kept from the start of a run.
const FIRST: usize = 150_000;
/// The most events kept from the end of a run.
const LAST: usize = 50_000;

/// A run, written down.
#[derive(Debug)]
pub struct Record {
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The calls; the first is that of the entry function.
    pub activations: Vec<Activation>,
    /// The position before which events are missing, and how many.
    pub gap: Option<(usize, u64)>,
    /// The number of executed edges.
    pub steps: u64,
    /// Where variables of static storage live: the first byte, and how many.
    pub statics: BTreeMap<VarId, (u64, u64)>,
    /// The rule that is violated, if it is one.
    pub rule: Option<RuleRun>,
}

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Activation {
    /// The function.
    pub function: FuncId,
    /// The call around it.
    pub parent: Option<u32>,
    /// The number of events before it, missing ones included.
    pub started: u64,
    /// Whether it was active when the run ended.
    pub open: bool,
}

/// Something that happened: an executed edge, or a return.
#[derive(Clone, Debug)]
pub struct Event {
    /// The number of events before it, missing ones included.
    pub number: u64,
    /// The edge; for a return, that of the call.
    pub edge: EdgeId,
    /// Whether the edge was executed, or a call of it returned.
    pub phase: Phase,
    /// The call that it belongs to.
    pub activation: u32,
    /// What it reads.
    pub reads: Vec<Cell>,
    /// What it writes.
    pub writes: Vec<Cell>,
    /// The values that a person may want to see.
    pub values: Vec<Seen>,
    /// The input that it asked for, by its position.
    pub input: Option<u32>,
    /// The number of the state that the violated rule is in before it.
    pub rule_state: u32,
}

/// Which part of an edge an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The edge is executed.
    Executed,
    /// The call of the edge has returned.
    Returned,
}

/// A part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cell {
    /// A variable of a call that lives in no memory.
    Register(u32, VarId),
    /// Bytes of memory: the first one, and how many.
    Memory(u64, u64),
}

/// A value that a person may want to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What has it.
    pub what: What,
    /// The value.
    pub value: String,
}

/// What has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A place that is written.
    Set(PlaceId),
    /// A place that is read.
    Read(PlaceId),
    /// A parameter that it is passed to.
    Passed(VarId),
    /// The running function's result.
    Returned,
    /// What a function gave back.
    ResultOf(FuncId),
}

/// Writes a run down by repeating it. `None` if it does not repeat.
pub fn record(program: &Program, run: &Run, budget: &Budget) -> Option<Record> {
    let mut observer = Recorder::new(program, run);
    let limits = Limits {
        steps: run.steps.saturating_add(1),
        budget: budget.clone(),
        trace: TraceMode::Off,
        ..Limits::default()
    };
    let interpreter = Interpreter::new(program);
    let again = interpreter.run_observed(&mut Script::replay(run), &limits, &mut observer);
    if again.outcome != run.outcome {
        return None;
    }
    let Recorder {
        mut first,
        last,
        dropped,
        mut activations,
        stack,
        statics,
        rule,
        ..
    } = observer;
    for &index in &stack {
        activations[index as usize].open = true;
    }
    let gap = (dropped > 0).then_some((first.len(), dropped));
    first.extend(last);
    Some(Record {
        events: first,
        activations,
        gap,
        steps: again.steps,
        statics,
        rule: rule.map(Watcher::finish),
    })
}

struct Recorder<'p> {
    program: &'p Program,
    run: &'p Run,
    first: Vec<Event>,
    last: VecDeque<Event>,
    dropped: u64,
    activations: Vec<Activation>,
    stack: Vec<u32>,
    /// The call edge that each active call is at, for those that are not the innermost.
    calls: Vec<EdgeId>,
    inputs: u32,
    /// Objects of static storage and of active calls: address, size, name, type.
    objects: Vec<Object>,
    /// The number of known objects when each active call began.
    marks: Vec<usize>,
    /// The number of known objects before those of a caller whose callee has not begun.
    pending: Option<usize>,
    statics: BTreeMap<VarId, (u64, u64)>,
    started: bool,
    rule: Option<Watcher<'p>>,
    /// The state that the rule was in when it was last looked at.
    rule_state: u32,
}

#[derive(Clone, Copy)]
struct Object {
    address: u64,
    variable: VarId,
}

impl<'p> Recorder<'p> {
    fn new(program: &'p Program, run: &'p Run) -> Recorder<'p> {
        let rule = match run.outcome {
            Outcome::Violated(check) => program.rule_at(program.checks[check.index()].source),
            _ => None,
        };
        Recorder {
            program,
            run,
            first: Vec::new(),
            last: VecDeque::new(),
            dropped: 0,
            activations: Vec::new(),
            stack: Vec::new(),
            calls: Vec::new(),
            inputs: 0,
            objects: Vec::new(),
            marks: Vec::new(),
            pending: None,
            statics: BTreeMap::new(),
            started: false,
            rule: rule.map(|rule| Watcher::new(program, rule)),
            rule_state: 0,
        }
    }

    fn count(&self) -> u64 {
        (self.first.len() + self.last.len()) as u64 + self.dropped
    }

    fn push(&mut self, event: Event) {
        if self.first.len() < FIRST {
            self.first.push(event);
            return;
        }
        if self.last.len() == LAST {
            self.last.pop_front();
            self.dropped += 1;
        }
        self.last.push_back(event);
    }

    fn latest(&mut self) -> Option<&mut Event> {
        match self.last.back_mut() {
            Some(event) => Some(event),
            None => self.first.last_mut(),
        }
    }

    /// Opens and closes calls until the stack is that of the state.
    fn follow(&mut self, state: &mut State<'_, '_>) {
        let depth = state.depth();
        while self.stack.len() > depth {
            let callee = self.stack.pop();
            let call = self.calls.pop();
            if let Some(mark) = self.marks.pop() {
                self.objects.truncate(mark);
            }
            let (Some(callee), Some(call)) = (callee, call) else {
                return;
            };
            let exact = self.stack.len() == depth;
            self.returned(callee, call, exact, state);
        }
        while self.stack.len() < depth {
            let function = state.function();
            let index = self.activations.len() as u32;
            self.activations.push(Activation {
                function,
                parent: self.stack.last().copied(),
                started: self.count(),
                open: false,
            });
            self.stack.push(index);
            let mark = self.pending.take().unwrap_or(self.objects.len());
            self.marks.push(mark);
            if self.stack.len() > 1 {
                let formals = &self.program.function(function).formals;
                let cells: Vec<Cell> = formals
                    .iter()
                    .filter_map(|&formal| self.variable(formal, 0, None, state))
                    .collect();
                let values: Vec<Seen> = formals
                    .iter()
                    .filter_map(|&formal| {
                        let value = state.variable(formal)?;
                        Some(Seen {
                            what: What::Passed(formal),
                            value: self.text(value, state),
                        })
                    })
                    .collect();
                let call = self.latest().map(|event| event.edge);
                if let (Some(event), Some(call)) = (self.latest(), call) {
                    event.writes.extend(cells);
                    event.values.extend(values);
                    self.calls.push(call);
                }
            }
        }
        // The callee did nothing that could be seen.
        if let Some(mark) = self.pending.take() {
            self.objects.truncate(mark);
        }
    }

    /// A call has returned: its result goes to its place. Where the caller has returned, too, what
    /// the place is can be told only if it is a variable.
    fn returned(&mut self, callee: u32, call: EdgeId, exact: bool, state: &mut State<'_, '_>) {
        let Op::Call { result, .. } = &self.program.edges[call.index()].op else {
            return;
        };
        let Some(&activation) = self.stack.last() else {
            return;
        };
        let function = self.activations[callee as usize].function;
        let source = self.program.function(function).result;
        let mut writes = Vec::new();
        let mut values = Vec::new();
        let reads = source.map(|variable| Cell::Register(callee, variable));
        if let Some(place) = *result {
            let plain = matches!(self.program.place(place).kind, PlaceKind::Var(_));
            if exact {
                writes.extend(self.place(place, state));
                if let PlaceKind::Var(variable) = self.program.place(place).kind
                    && let Some(value) = state.variable(variable)
                {
                    let what = if self.is_named(place) {
                        What::Set(place)
                    } else {
                        What::ResultOf(function)
                    };
                    values.push(Seen {
                        what,
                        value: self.text(value, state),
                    });
                }
            } else if plain && let PlaceKind::Var(variable) = self.program.place(place).kind {
                writes.push(Cell::Register(activation, variable));
            }
        }
        let number = self.count();
        self.push(Event {
            number,
            edge: call,
            phase: Phase::Returned,
            activation,
            reads: reads.into_iter().collect(),
            writes,
            values,
            input: None,
            rule_state: self.rule_state,
        });
    }

    fn variable(
        &self,
        variable: VarId,
        offset: u64,
        size: Option<u64>,
        state: &State<'_, '_>,
    ) -> Option<Cell> {
        if let Some(address) = state.address(variable) {
            let whole = self
                .program
                .types
                .size_of(self.program.variable(variable).ty);
            return Some(Cell::Memory(
                address.wrapping_add(offset),
                size.unwrap_or(whole),
            ));
        }
        let activation = *self.stack.last()?;
        Some(Cell::Register(activation, variable))
    }

    /// The part of the state that a place is.
    fn place(&self, place: PlaceId, state: &mut State<'_, '_>) -> Option<Cell> {
        let types = &self.program.types;
        let size = types.size_of(self.program.place(place).ty).max(1);
        let mut offset: u64 = 0;
        let mut at = place;
        loop {
            match self.program.place(at).kind {
                PlaceKind::Var(variable) => {
                    let part = (at != place).then_some(size);
                    return self.variable(variable, offset, part, state);
                }
                PlaceKind::Deref(pointer) => {
                    let base = state.eval(pointer).ok()??.bits as u64;
                    return Some(Cell::Memory(base.wrapping_add(offset), size));
                }
                PlaceKind::Field(base, field) => {
                    if let Type::Record(record) = types.get(self.program.place(base).ty) {
                        let field = types.record(*record).fields.get(field as usize)?;
                        offset = offset.wrapping_add(field.offset_bits / 8);
                    }
                    at = base;
                }
                PlaceKind::Index(base, index) => {
                    let index = state.eval(index).ok()??.bits as u64;
                    let stride = types.size_of(self.program.place(at).ty);
                    offset = offset.wrapping_add(index.wrapping_mul(stride));
                    at = base;
                }
            }
        }
    }

    /// The expressions that say which place a place is.
    fn address_parts(&self, place: PlaceId, work: &mut Vec<ExprId>) {
        let mut at = place;
        loop {
            match self.program.place(at).kind {
                PlaceKind::Var(_) => return,
                PlaceKind::Deref(pointer) => {
                    work.push(pointer);
                    return;
                }
                PlaceKind::Field(base, _) => at = base,
                PlaceKind::Index(base, index) => {
                    work.push(index);
                    at = base;
                }
            }
        }
    }

    /// What some expressions read; with the values of scalars if they are wanted.
    fn reads(
        &self,
        mut work: Vec<ExprId>,
        state: &mut State<'_, '_>,
        mut seen: Option<&mut Vec<Seen>>,
    ) -> Vec<Cell> {
        let mut cells = Vec::new();
        while let Some(expr) = work.pop() {
            match self.program.expr(expr).kind {
                ExprKind::Load(place) => {
                    cells.extend(self.place(place, state));
                    self.address_parts(place, &mut work);
                    if let Some(seen) = seen.as_deref_mut()
                        && self.is_named(place)
                        && let Ok(Some(value)) = state.eval(expr)
                    {
                        seen.push(Seen {
                            what: What::Read(place),
                            value: self.text(value, state),
                        });
                    }
                }
                ExprKind::AddressOf(place) => self.address_parts(place, &mut work),
                ExprKind::Conditional {
                    condition,
                    then,
                    otherwise,
                } => {
                    let holds = state.eval(condition).ok().flatten();
                    match holds {
                        Some(value) if value.bits != 0 => work.push(then),
                        Some(_) => work.push(otherwise),
                        None => work.extend([then, otherwise]),
                    }
                    work.push(condition);
                }
                ref plain => {
                    let first = work.len();
                    operands_of(plain, &mut |operand| {
                        if let Operand::Expr(operand) = operand {
                            work.push(operand);
                        }
                    });
                    work[first..].reverse();
                }
            }
        }
        cells
    }

    /// Whether a place is one that the user's text names.
    fn is_named(&self, place: PlaceId) -> bool {
        let mut at = place;
        loop {
            match self.program.place(at).kind {
                PlaceKind::Var(variable) => {
                    return !matches!(
                        self.program.variable(variable).kind,
                        VarKind::Temporary(_) | VarKind::Result(_) | VarKind::Literal
                    );
                }
                PlaceKind::Deref(_) => return !place_text(self.program, at).contains('#'),
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => at = base,
            }
        }
    }

    fn set(&self, place: PlaceId, value: ExprId, state: &mut State<'_, '_>) -> Option<Seen> {
        if let PlaceKind::Var(variable) = self.program.place(place).kind
            && matches!(self.program.variable(variable).kind, VarKind::Result(_))
        {
            let value = state.eval(value).ok()??;
            return Some(Seen {
                what: What::Returned,
                value: self.text(value, state),
            });
        }
        if !self.is_named(place) {
            return None;
        }
        let value = state.eval(value).ok()??;
        Some(Seen {
            what: What::Set(place),
            value: self.text(value, state),
        })
    }

    /// A value for people: pointers by the name of what they point to.
    fn text(&self, value: Value, state: &State<'_, '_>) -> String {
        let program = self.program;
        if let Type::Pointer(to) = program.types.get(value.ty) {
            if value.bits == 0 {
                return "NULL".to_owned();
            }
            if let Some(name) = self.object_at(value.bits as u64, Some(*to), state) {
                return name;
            }
        }
        hardbop_cfront::interp::value_text(program, value)
    }

    /// The object at an address, or a part of it, in C; of a type, if one is wanted.
    fn object_at(
        &self,
        address: u64,
        wanted: Option<TypeId>,
        state: &State<'_, '_>,
    ) -> Option<String> {
        let program = self.program;
        let own = self.locals(state);
        let objects = own.iter().chain(self.objects.iter().rev());
        for object in objects {
            let variable = program.variable(object.variable);
            let size = program.types.size_of(variable.ty).max(1);
            let offset = address.wrapping_sub(object.address);
            if offset < size && !variable.name.contains('#') {
                if variable.kind == VarKind::Literal {
                    return Some("a string".to_owned());
                }
                let path = inside(&program.types, variable.ty, offset, wanted);
                return Some(format!("&{}{path}", variable.name));
            }
        }
        None
    }

    /// Looks at the rule before an edge.
    fn look_at_rule(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
        let Some(mut rule) = self.rule.take() else {
            return;
        };
        self.rule_state = rule.state(state);
        let source = self.program.edges[edge.index()].source;
        // Where the rule itself acts, its object may be one of a call that is active now.
        if self.program.rule_at(source).is_some() {
            rule.meet(state, &|address, ty, state| {
                self.object_at(address, ty, state)
            });
        }
        self.rule = Some(rule);
    }

    /// The objects of the running call.
    fn locals(&self, state: &State<'_, '_>) -> Vec<Object> {
        let function = self.program.function(state.function());
        let variables = function.formals.iter().chain(&function.locals);
        variables
            .filter(|&&variable| self.program.variable(variable).address_taken)
            .filter_map(|&variable| {
                let address = state.address(variable)?;
                Some(Object { address, variable })
            })
            .collect()
    }

    fn start(&mut self, state: &State<'_, '_>) {
        self.started = true;
        for (index, variable) in self.program.variables.iter().enumerate() {
            if !matches!(
                variable.kind,
                VarKind::Global | VarKind::Static(_) | VarKind::Literal
            ) {
                continue;
            }
            let variable = VarId(index as u32);
            if let Some(address) = state.address(variable) {
                let size = self
                    .program
                    .types
                    .size_of(self.program.variable(variable).ty);
                self.statics.insert(variable, (address, size));
                self.objects.push(Object { address, variable });
            }
        }
    }

    fn event(&mut self, id: EdgeId, state: &mut State<'_, '_>) -> Event {
        let program = self.program;
        let mut values = Vec::new();
        let mut reads = Vec::new();
        let mut writes = Vec::new();
        let mut input = None;
        let mut parts = Vec::new();
        match &program.edges[id.index()].op {
            Op::Skip | Op::Declare { .. } | Op::EndScope { .. } | Op::Unsupported { .. } => {}
            Op::Assume { condition, .. } => {
                reads = self.reads(vec![*condition], state, Some(&mut values));
            }
            Op::Assign { place, value } => {
                self.address_parts(*place, &mut parts);
                parts.push(*value);
                reads = self.reads(parts, state, None);
                writes.extend(self.place(*place, state));
                values.extend(self.set(*place, *value, state));
            }
            Op::Input { place, .. } => {
                self.address_parts(*place, &mut parts);
                reads = self.reads(parts, state, None);
                writes.extend(self.place(*place, state));
                input = Some(self.inputs);
                if let Some(consumed) = self.run.inputs.get(self.inputs as usize)
                    && let Consumed::Scalar(value) = consumed.value
                    && self.is_named(*place)
                {
                    values.push(Seen {
                        what: What::Set(*place),
                        value: self.text(value, state),
                    });
                }
                self.inputs += 1;
            }
            Op::Havoc { place } => {
                self.address_parts(*place, &mut parts);
                reads = self.reads(parts, state, None);
                writes.extend(self.place(*place, state));
            }
            Op::HavocMemory {
                pointer,
                size,
                input: wanted,
            } => {
                reads = self.reads(vec![*pointer], state, None);
                if let Some(size) = size {
                    writes.extend(self.range(*pointer, *size, state));
                }
                if *wanted {
                    input = Some(self.inputs);
                    self.inputs += 1;
                }
            }
            Op::Call {
                callee, arguments, ..
            } => {
                parts.extend(arguments.iter().copied());
                if let Callee::Indirect { pointer, .. } = callee {
                    parts.push(*pointer);
                }
                reads = self.reads(parts, state, None);
                let own = self.locals(state);
                self.pending = Some(self.objects.len());
                self.objects.extend(own);
            }
            Op::Allocate { place, size, .. } => {
                self.address_parts(*place, &mut parts);
                parts.push(*size);
                reads = self.reads(parts, state, None);
                writes.extend(self.place(*place, state));
            }
            Op::Free { pointer } => reads = self.reads(vec![*pointer], state, None),
            Op::CopyMemory { to, from, size } => {
                reads = self.reads(vec![*to, *from, *size], state, None);
                reads.extend(self.range(*from, *size, state));
                writes.extend(self.range(*to, *size, state));
            }
            Op::FillMemory { to, byte, size } => {
                reads = self.reads(vec![*to, *byte, *size], state, None);
                writes.extend(self.range(*to, *size, state));
            }
            Op::SetOpen { pointer, bits } => {
                reads = self.reads(vec![*pointer, *bits], state, None);
            }
        }
        Event {
            number: self.count(),
            edge: id,
            phase: Phase::Executed,
            activation: self.stack.last().copied().unwrap_or(0),
            reads,
            writes,
            values,
            input,
            rule_state: self.rule_state,
        }
    }

    fn range(&self, pointer: ExprId, size: ExprId, state: &mut State<'_, '_>) -> Option<Cell> {
        let start = state.eval(pointer).ok()??.bits as u64;
        let size = state.eval(size).ok()??.bits as u64;
        Some(Cell::Memory(start, size))
    }
}

impl Observer for Recorder<'_> {
    fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
        if !self.started {
            self.start(state);
        }
        self.follow(state);
        self.look_at_rule(edge, state);
        let event = self.event(edge, state);
        self.push(event);
    }
}
