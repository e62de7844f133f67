//! The concrete interpreter: runs a [`Program`] on given inputs.
//!
//! In come a program, an [`Environment`] that answers for everything the program does not decide
//! itself (inputs, unknown contents), and [`Limits`]; out comes a [`Run`]: how it ended, what was
//! consumed, and the executed edges. The meaning of every edge is that of [`crate::program`];
//! where C leaves behaviour undefined and the program's meaning gives none either (division by
//! zero, an access outside of its object), the run is [`Outcome::Trapped`].
//!
//! Details that C leaves to the implementation are those of gcc on x86: pointers are addresses
//! of 32 or 64 bits, little-endian; the stack grows down; floats are IEEE 754. A call's result
//! is written to its place after the callee has returned, and that place is found then.
//!
//! Functions are compiled to register code when they are first called. Calls and expressions
//! use no recursion of the host, so deep recursion of the program ends in
//! [`TrapKind::StackOverflow`] and not in a crash.

mod addresses;
mod call;
mod code;
mod compile;
mod environment;
mod execute;
mod expression;
mod float;
mod heap;
mod inputs;
mod layout;
mod machine;
mod memory;
mod open;
mod outside;
mod rare;
mod report;
mod scalar;
mod snapshot;
mod start;
mod state;

pub use environment::{Environment, Request, Wanted};
pub use inputs::{Exhausted, InputError, InputValue, Script, Unknown, parse_inputs};

pub use addresses::{OUTSIDE_OBJECT, function_address, outside};
pub use report::{Report, ReportInput, report, value_text};
pub use snapshot::Snapshot;
pub use state::{LiveObject, State};

use crate::ids::{CheckId, EdgeId, TypeId};
use crate::program::{ExprKind, Program};
use code::FunctionCode;
use hardbop_budget::{Budget, Stopped};
use layout::Layout;
use memory::Memory;
use std::cell::OnceCell;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The entry function returned.
    Returned(Option<Value>),
    /// The program ended itself (`exit`, `abort`, a false assumption) after this edge.
    Halted(EdgeId),
    /// A check was violated.
    Violated(CheckId),
    /// The edge does something that has no meaning.
    Trapped {
        /// What went wrong.
        kind: TrapKind,
        /// Where.
        edge: EdgeId,
    },
    /// The edge holds a construct that is not supported.
    Unsupported(EdgeId),
    /// The edge asks for an input and there is none left.
    OutOfInputs(EdgeId),
    /// The limit on executed edges was reached.
    StepLimit,
    /// The budget ran out.
    Stopped(Stopped),
}

/// What has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrapKind {
    /// A division or remainder by zero.
    DivisionByZero,
    /// An access through a null pointer.
    NullPointer,
    /// An access through a pointer to an object whose life is over.
    Dangling,
    /// An access through a pointer that belongs to no object.
    WildPointer,
    /// An access outside of the pointer's object.
    OutOfBounds,
    /// A write to a string literal or to a `const` object of static storage.
    ReadOnly,
    /// `free` of what is not the start of a live heap object.
    BadFree,
    /// A call through a pointer that is not one of the functions that may be called there.
    BadCall,
    /// A call with arguments that the callee cannot take.
    BadArguments,
    /// Too many calls are active, or their objects take too much room.
    StackOverflow,
    /// More memory is in use than the limit allows.
    OutOfMemory,
    /// None of the edges that leave a location can be taken.
    Stuck,
}

/// A scalar value: its type and its bits, zero-extended. A pointer is its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The type.
    pub ty: TypeId,
    /// The bits.
    pub bits: u128,
}

/// What a run may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most edges that are executed.
    pub steps: u64,
    /// The most calls that are active at a time.
    pub depth: usize,
    /// The most bytes in live objects, beside those of static ones.
    pub memory: u64,
    /// Time, the process's memory, cancellation.
    pub budget: Budget,
    /// Which of the executed edges are kept.
    pub trace: TraceMode,
    /// Whether it is watched if the run depends on anything but its inputs.
    pub contents: Contents,
    /// Where objects on the heap are put.
    pub heap: Heap,
}

/// Where objects on the heap are put: C leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heap {
    /// Never where an earlier one was.
    Fresh,
    /// Where one of that size was that was freed last, if there is one, as most libraries do it.
    Again,
}

/// Whether it is watched if a run depends on anything but its inputs: on memory that was never
/// written, on the numbers behind pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// It is not.
    Anything,
    /// It is, and [`Run::determined`] says it.
    Watched,
}

/// Which of the executed edges are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceMode {
    /// None; costs nothing.
    Off,
    /// Up to so many of the first ones.
    First(usize),
    /// The last ones, up to so many.
    Last(usize),
}

impl Default for Limits {
    /// A hundred million edges, a hundred thousand calls, 1 GiB, no trace.
    fn default() -> Limits {
        Limits {
            steps: 100_000_000,
            depth: 100_000,
            memory: 1 << 30,
            budget: Budget::unlimited(),
            trace: TraceMode::Off,
            contents: Contents::Anything,
            heap: Heap::Fresh,
        }
    }
}

impl Limits {
    /// What one of many runs may use: no more memory than so few edges can look at. All that is
    /// allocated has to be filled with something, which takes longer than the run.
    pub fn of_many(steps: u64, budget: Budget) -> Limits {
        Limits {
            steps,
            memory: steps.saturating_mul(64).clamp(1 << 20, 1 << 30),
            budget,
            ..Limits::default()
        }
    }
}

/// What happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How it ended.
    pub outcome: Outcome,
    /// The number of executed edges.
    pub steps: u64,
    /// The inputs that were consumed, in order.
    pub inputs: Vec<ConsumedInput>,
    /// The unknown contents, in the order in which they were asked for; none if the environment
    /// makes them all zero. With the inputs they make a [`Script`] that repeats the run.
    pub unknowns: Vec<Vec<u8>>,
    /// The executed edges that were kept, in order.
    pub trace: Vec<EdgeId>,
    /// Whether the run was watched, and all that it did with memory follows from its inputs.
    /// (Scalars whose address is never taken are not in memory.)
    pub determined: bool,
    /// Whether a pointer to a local that is gone was compared with one to another object, so that
    /// what came after may depend on where locals lie.
    pub compared_gone: bool,
}

/// An input that a run consumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumedInput {
    /// The edge that asked for it.
    pub edge: EdgeId,
    /// What it was given.
    pub value: Consumed,
}

/// What an edge was given as its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consumed {
    /// A scalar.
    Scalar(Value),
    /// The bytes of a range of memory.
    Bytes(Vec<u8>),
}

/// Looks on while a program runs.
pub trait Observer {
    /// Whether [`Observer::edge`] does anything; if not, it costs nothing.
    const ACTIVE: bool = true;

    /// Called before an edge is executed, or for an assume after it has been found to hold.
    fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>);

    /// Called when the run has ended, however it did, before its memory is given up.
    fn end(&mut self, outcome: &Outcome, state: &mut State<'_, '_>) {
        let _ = (outcome, state);
    }
}

/// Looks at nothing.
struct Nobody;

impl Observer for Nobody {
    const ACTIVE: bool = false;

    fn edge(&mut self, _: EdgeId, _: &mut State<'_, '_>) {}
}

/// A program that is ready to run, any number of times.
pub struct Interpreter<'p> {
    program: &'p Program,
    layout: Layout,
    functions: Vec<OnceCell<FunctionCode>>,
    /// The memory before the program starts, without the unknown contents.
    image: OnceCell<Result<Memory, TrapKind>>,
    /// Whether the program asks which bits were never written.
    asks: bool,
}

impl<'p> Interpreter<'p> {
    /// Prepares a program.
    pub fn new(program: &'p Program) -> Interpreter<'p> {
        let functions = program.functions.iter().map(|_| OnceCell::new()).collect();
        let layout = layout::layout(program);
        Interpreter {
            program,
            layout,
            functions,
            image: OnceCell::new(),
            asks: program
                .exprs
                .iter()
                .any(|expr| matches!(expr.kind, ExprKind::Open { .. })),
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// Runs the program from its entry.
    pub fn run(&self, environment: &mut dyn Environment, limits: &Limits) -> Run {
        start::run(self, environment, limits, &mut Nobody)
    }

    /// Runs the program from its entry while an observer looks on.
    pub fn run_observed<O: Observer>(
        &self,
        environment: &mut dyn Environment,
        limits: &Limits,
        observer: &mut O,
    ) -> Run {
        start::run(self, environment, limits, observer)
    }
}

/// Runs a program once.
pub fn run(program: &Program, environment: &mut dyn Environment, limits: &Limits) -> Run {
    Interpreter::new(program).run(environment, limits)
}

#[cfg(test)]
mod tests;
