//! The resolved boolean program: procedures as control-flow graphs over numbered variables.
//!
//! This is what everything after the parser works on: the model checker, the reference
//! interpreter, the exporters. It follows Bebop section 2: a vertex for every statement, one exit
//! vertex a procedure, and, where the paper has one vertex Err for all failing assertions, one
//! such vertex for each assertion, so that each gets its own answer.

use hardbop_diagnostics::Span;
use std::ops::Range;
use std::sync::Arc;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the table that this id belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A variable, counted over the whole program.
    VarId
);
id!(
    /// A procedure.
    ProcId
);
id!(
    /// A vertex of the control-flow graph, counted over the whole program.
    VertexId
);
id!(
    /// An edge of the control-flow graph, counted over the whole program.
    EdgeId
);
id!(
    /// An expression of [`Exprs`].
    ExprId
);

/// A boolean program in which every name is resolved and every arity is right.
#[derive(Clone, Debug)]
pub struct Program {
    /// Every variable of the program.
    pub variables: Vec<Variable>,
    /// The global ones, in the order of declaration.
    pub globals: Vec<VarId>,
    /// The procedures, in the order of the text.
    pub procedures: Vec<Procedure>,
    /// Where execution starts.
    pub main: ProcId,
    /// Every vertex; those of one procedure are contiguous.
    pub vertices: Vec<Vertex>,
    /// Every edge; those that leave one vertex are contiguous.
    pub edges: Vec<Edge>,
    /// The lists that belong to the edges.
    pub(crate) effects: Effects,
    /// Every expression.
    pub exprs: Exprs,
    /// `enforce` outside of procedures: holds in every state of the program.
    pub enforce: Option<ExprId>,
    /// The labels and assertions that one can ask about, in the order of the text.
    pub targets: Vec<Target>,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name as written, without the braces of `{x == 0}`.
    pub name: Arc<str>,
    /// What it is to its procedure.
    pub kind: VarKind,
    /// Where it is declared.
    pub span: Span,
}

/// What a variable is to its procedure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    /// Visible everywhere.
    Global,
    /// A parameter.
    Formal(ProcId),
    /// Declared in the body.
    Local(ProcId),
    /// A return value: assigned by `return e1, e2` and read by the caller. Has no name in the
    /// text; its `name` is `return` or `return.2` and so on.
    Return(ProcId),
}

/// A procedure.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub formals: Vec<VarId>,
    /// The variables declared in its body.
    pub locals: Vec<VarId>,
    /// Its return values.
    pub returns: Vec<VarId>,
    /// `enforce` at the start of the body: holds in every state of the procedure.
    pub enforce: Option<ExprId>,
    /// Its vertices.
    pub vertices: Range<u32>,
    /// First_B(pr): where a call enters.
    pub entry: VertexId,
    /// Exit_pr: where it is left. Has no outgoing edges.
    pub exit: VertexId,
    /// The whole definition in the text.
    pub span: Span,
}

/// A vertex: a place between two statements, named after the statement that starts there.
#[derive(Clone, Debug)]
pub struct Vertex {
    /// The procedure it belongs to.
    pub procedure: ProcId,
    /// The kind of statement that starts here.
    pub kind: VertexKind,
    /// The statement in the text (for `if` and `while`: the head, not the body; for an exit
    /// vertex: the final `end`).
    pub span: Span,
    /// The outgoing edges.
    pub edges: Range<u32>,
}

/// The kind of statement that starts at a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexKind {
    /// `skip`, `print`, or an empty body's implicit statement.
    Skip,
    /// An assignment, `constrain` included.
    Assign,
    /// `if` or `elsif`.
    If,
    /// `while`: a loop head.
    While,
    /// `assert`.
    Assert,
    /// `assume`, `constrain (e)`, `abortif`.
    Assume,
    /// `dead`.
    Dead,
    /// A call.
    Call,
    /// `goto`.
    Goto,
    /// `return`.
    Return,
    /// The end of a procedure.
    Exit,
    /// Where a failing assertion leads; no outgoing edges. The span is the assertion's.
    Failed,
}

/// An edge: one way on from a vertex. [`Program::action`] says what happens on it.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Where it leaves.
    pub from: VertexId,
    /// Where it leads; for a call, the vertex after the call (ReturnPt_B).
    pub to: VertexId,
    /// What happens on it, in few bytes: programs of machines have millions of edges.
    pub(crate) effect: Effect,
}

/// What happens on an edge.
#[derive(Clone, Copy, Debug)]
pub enum Action<'p> {
    /// Nothing.
    Skip,
    /// The edge is taken only in states (and with choices) where the expression has this value.
    Assume {
        /// The decider.
        condition: ExprId,
        /// The value that it must have.
        holds: bool,
    },
    /// A parallel assignment: all values are computed in the old state. `return e1, e2` assigns
    /// to the procedure's return variables; `dead x` assigns a free choice.
    Assign {
        /// What is assigned; no variable occurs twice, `_` targets are left out.
        assignments: &'p [(VarId, ExprId)],
        /// A relation between the old state and the new one ([`Node::Next`]) that the
        /// assignment's free choices must meet; where they cannot, execution stops.
        constrain: Option<ExprId>,
    },
    /// A call: the arguments go to the formals, and the return values to the targets.
    Call {
        /// Who is called.
        callee: ProcId,
        /// One argument for every formal.
        arguments: &'p [ExprId],
        /// One target for every return value, `None` for `_`; empty where they are ignored.
        results: &'p [Option<VarId>],
    },
}

/// An [`Action`] whose lists are in the tables of [`Effects`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    Skip,
    Assume {
        condition: ExprId,
        holds: bool,
    },
    /// A range of the assignments.
    Assign {
        start: u32,
        end: u32,
    },
    /// A position in the table of those with a relation.
    Constrained(u32),
    /// The callee, and a position in the table of calls.
    Call {
        callee: ProcId,
        lists: u32,
    },
}

/// The lists of all actions of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    assignments: Vec<(VarId, ExprId)>,
    constrained: Vec<(Range<u32>, ExprId)>,
    arguments: Vec<ExprId>,
    results: Vec<Option<VarId>>,
    /// The arguments and the results of calls.
    calls: Vec<(Range<u32>, Range<u32>)>,
}

impl Effects {
    pub(crate) fn assign(
        &mut self,
        assignments: impl Iterator<Item = (VarId, ExprId)>,
        constrain: Option<ExprId>,
    ) -> Effect {
        let range = added(&mut self.assignments, assignments);
        match constrain {
            None => Effect::Assign {
                start: range.start,
                end: range.end,
            },
            Some(relation) => {
                self.constrained.push((range, relation));
                Effect::Constrained(self.constrained.len() as u32 - 1)
            }
        }
    }

    pub(crate) fn call(
        &mut self,
        callee: ProcId,
        arguments: &[ExprId],
        results: &[Option<VarId>],
    ) -> Effect {
        let plain = arguments.is_empty() && results.is_empty();
        // All calls without lists share an entry.
        if self.calls.is_empty() {
            self.calls.push((0..0, 0..0));
        }
        let lists = if plain {
            0
        } else {
            let arguments = added(&mut self.arguments, arguments.iter().copied());
            let results = added(&mut self.results, results.iter().copied());
            self.calls.push((arguments, results));
            self.calls.len() as u32 - 1
        };
        Effect::Call { callee, lists }
    }
}

fn added<T>(table: &mut Vec<T>, more: impl Iterator<Item = T>) -> Range<u32> {
    let start = table.len() as u32;
    table.extend(more);
    start..table.len() as u32
}

fn part<T>(table: &[T], range: Range<u32>) -> &[T] {
    &table[range.start as usize..range.end as usize]
}

/// Something whose reachability one can ask about.
#[derive(Clone, Debug)]
pub struct Target {
    /// What it is.
    pub kind: TargetKind,
    /// The vertex whose reachability is the question.
    pub vertex: VertexId,
    /// Where it stands in the text.
    pub span: Span,
}

/// What a target is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A label of a procedure.
    Label(String),
    /// An assertion: the target is its failing.
    Assertion,
}

/// The expressions of a program: a table in which operands stand before what uses them, so that
/// a loop over a range takes the place of a recursion. Every node is the operand of at most one
/// other, so every [`Node::Choice`] is a choice of its own.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    nodes: Vec<Node>,
}

/// An expression's top operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// `0`, `1`, `F`, `T`.
    Const(bool),
    /// A variable's value in the current state.
    Var(VarId),
    /// `'x`: a variable's value in the next state; only in `constrain`.
    Next(VarId),
    /// `*` or `?`: either value, chosen afresh at each evaluation.
    Choice,
    /// Negation.
    Not(ExprId),
    /// A binary operator.
    Binary(BinaryOp, ExprId, ExprId),
    /// `schoose[a, b]` and `choose(a, b)`: true if `a`, else false if `b`, else either.
    Choose(ExprId, ExprId),
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BinaryOp {
    /// `&`, `&&`
    And,
    /// `|`, `||`
    Or,
    /// `^`, `!=`
    Xor,
    /// `=`, `==`, `<=>`
    Iff,
    /// `=>`
    Implies,
}

impl BinaryOp {
    /// The operator's truth table.
    pub fn apply(self, a: bool, b: bool) -> bool {
        match self {
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            BinaryOp::Iff => a == b,
            BinaryOp::Implies => !a | b,
        }
    }
}

impl Exprs {
    /// An empty table with room for so many nodes.
    pub fn with_capacity(nodes: usize) -> Exprs {
        Exprs {
            nodes: Vec::with_capacity(nodes),
        }
    }

    /// Adds a node; its operands must be in the table already.
    pub fn add(&mut self, node: Node) -> ExprId {
        self.nodes.push(node);
        ExprId(self.nodes.len() as u32 - 1)
    }

    /// The top operator of an expression.
    pub fn node(&self, id: ExprId) -> Node {
        self.nodes[id.index()]
    }

    /// The number of nodes in the table.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

impl Program {
    /// The variables in scope in a procedure: the globals, then its own.
    pub fn in_scope(&self, procedure: ProcId) -> impl Iterator<Item = VarId> + '_ {
        let own = &self.procedures[procedure.index()];
        let locals = own.formals.iter().chain(&own.locals).chain(&own.returns);
        self.globals.iter().chain(locals).copied()
    }

    /// What happens on an edge of the program.
    pub fn action(&self, edge: &Edge) -> Action<'_> {
        let Effects {
            assignments,
            constrained,
            arguments,
            results,
            calls,
        } = &self.effects;
        match edge.effect {
            Effect::Skip => Action::Skip,
            Effect::Assume { condition, holds } => Action::Assume { condition, holds },
            Effect::Assign { start, end } => Action::Assign {
                assignments: part(assignments, start..end),
                constrain: None,
            },
            Effect::Constrained(place) => {
                let (range, relation) = &constrained[place as usize];
                Action::Assign {
                    assignments: part(assignments, range.clone()),
                    constrain: Some(*relation),
                }
            }
            Effect::Call { callee, lists } => {
                let (passed, taken) = &calls[lists as usize];
                Action::Call {
                    callee,
                    arguments: part(arguments, passed.clone()),
                    results: part(results, taken.clone()),
                }
            }
        }
    }

    /// The procedure that an edge calls, if it is a call.
    pub fn callee(&self, edge: &Edge) -> Option<ProcId> {
        match edge.effect {
            Effect::Call { callee, .. } => Some(callee),
            _ => None,
        }
    }

    /// The edges that leave a vertex, with their ids.
    pub fn edges_from(&self, vertex: VertexId) -> impl Iterator<Item = (EdgeId, &Edge)> {
        let range = self.vertices[vertex.index()].edges.clone();
        range.map(|i| (EdgeId(i), &self.edges[i as usize]))
    }
}
