//! A rule as it was written: its state, its handlers, and their bodies.

use hardbop_c_text::ast::TypeName;
pub(crate) use hardbop_c_text::ast::{Ast, Name, NodeId, NodeKind, UnaryWord};
use hardbop_cfront::program::BinaryOp;
use hardbop_diagnostics::Span;
use std::collections::BTreeSet;

/// A rule without syntax errors.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name: that of its file without the ending, or that in the library.
    pub name: String,
    /// Where it comes from.
    pub origin: RuleOrigin,
    /// The name of its file, as messages show it.
    pub path: String,
    /// Its text.
    pub text: String,
    /// The variables of its state.
    pub(crate) state: Vec<StateVariable>,
    /// The constants that its enums name.
    pub(crate) constants: Vec<Constant>,
    /// The expressions of its handlers.
    pub(crate) exprs: Ast,
    /// What it does at which event, in order.
    pub(crate) handlers: Vec<Handler>,
}

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleOrigin {
    /// A file of the user: every function that it names is meant.
    File,
    /// The library: it names the functions of several systems, of which a program uses some.
    Library,
}

impl Rule {
    /// The functions that the rule listens to.
    pub fn functions(&self) -> BTreeSet<&str> {
        let names = self.handlers.iter().flat_map(|handler| &handler.functions);
        names.map(|name| name.text.as_str()).collect()
    }

    /// The position of a variable of the state.
    pub(crate) fn state_variable(&self, name: &str) -> Option<usize> {
        let mut state = self.state.iter();
        state.position(|variable| variable.name.text == name)
    }
}

/// A variable of the state.
#[derive(Clone, Debug)]
pub(crate) struct StateVariable {
    pub name: Name,
    pub ty: StateType,
    /// Its value before the program starts.
    pub initial: i128,
}

/// The type of a variable of the state.
#[derive(Clone, Debug)]
pub(crate) enum StateType {
    /// A scalar; what a pointer points to is never looked at through it.
    Scalar(TypeName),
    /// An enum: an `int` whose values have names, the position of the first one and how many.
    Enum { first: usize, count: usize },
    /// An arbitrary object, the same from the start to the end.
    Object,
}

/// A constant of an enum.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pub name: Name,
    pub value: i128,
}

/// What happens at an event.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    pub functions: Vec<Name>,
    pub event: Event,
    pub body: Vec<Stmt>,
}

/// When a handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A call has been made: what the caller does last before the function runs.
    Call,
    /// The function begins.
    Entry,
    /// The function is about to return.
    Exit,
    /// It has returned: what the caller sees first.
    Return,
}

impl Event {
    pub fn word(self) -> &'static str {
        match self {
            Event::Call => "call",
            Event::Entry => "entry",
            Event::Exit => "exit",
            Event::Return => "return",
        }
    }

    /// Whether the function's result is known.
    pub fn is_after(self) -> bool {
        matches!(self, Event::Exit | Event::Return)
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    If {
        condition: NodeId,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// `x = e`, or `x op= e`.
    Assign {
        target: NodeId,
        op: Option<BinaryOp>,
        value: NodeId,
    },
    /// The rule is violated; `$fname` in the message is the function's name.
    Abort { message: String },
    /// The execution is of no interest from here on.
    Halt,
    /// The handler ends.
    Return,
    /// The handler ends unless the value is the watched object.
    Watch(NodeId),
    /// The value is an object that begins its life: from here on it may be the watched one, and
    /// the state begins anew. The handler ends unless it is.
    Track(NodeId),
}

impl Stmt {
    /// The expressions that the statement itself reads, and the statements in it.
    pub fn parts(&self) -> (Vec<NodeId>, [&[Stmt]; 2]) {
        match &self.kind {
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => (vec![*condition], [then, otherwise]),
            StmtKind::Assign { target, value, .. } => (vec![*target, *value], [&[], &[]]),
            StmtKind::Watch(expr) | StmtKind::Track(expr) => (vec![*expr], [&[], &[]]),
            StmtKind::Abort { .. } | StmtKind::Halt | StmtKind::Return => (Vec::new(), [&[], &[]]),
        }
    }
}
