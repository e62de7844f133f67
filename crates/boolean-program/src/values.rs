//! The values of variables and expressions.

use crate::program::{ExprId, Exprs, Node, ProcId, Program, VarId};

/// Where the variables of a program stand in the states of its procedures.
///
/// A state of a procedure is one value for each variable in scope, in the order of
/// [`Program::in_scope`]: the globals, the formals, the locals, the return values.
#[derive(Clone, Debug)]
pub struct Layout {
    slots: Vec<u32>,
    sizes: Vec<u32>,
    globals: usize,
}

impl Layout {
    /// The layout of a program.
    pub fn new(program: &Program) -> Layout {
        let mut slots = vec![0; program.variables.len()];
        let globals = program.globals.len();
        for (slot, variable) in program.globals.iter().enumerate() {
            slots[variable.index()] = slot as u32;
        }
        let mut sizes = Vec::with_capacity(program.procedures.len());
        for procedure in &program.procedures {
            let mut next = globals as u32;
            for variable in procedure
                .formals
                .iter()
                .chain(&procedure.locals)
                .chain(&procedure.returns)
            {
                slots[variable.index()] = next;
                next += 1;
            }
            sizes.push(next);
        }
        Layout {
            slots,
            sizes,
            globals,
        }
    }

    /// The position of a variable in the states in whose scope it is.
    pub fn slot(&self, variable: VarId) -> usize {
        self.slots[variable.index()] as usize
    }

    /// The number of values in a state of a procedure.
    pub fn size(&self, procedure: ProcId) -> usize {
        self.sizes[procedure.index()] as usize
    }

    /// The number of global variables, which come first in every state.
    pub fn globals(&self) -> usize {
        self.globals
    }
}

/// The values that an expression can have, given that its choices are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueSet {
    can_be_false: bool,
    can_be_true: bool,
}

impl ValueSet {
    /// One value.
    pub fn only(value: bool) -> ValueSet {
        ValueSet {
            can_be_false: !value,
            can_be_true: value,
        }
    }

    /// Both values.
    pub fn both() -> ValueSet {
        ValueSet {
            can_be_false: true,
            can_be_true: true,
        }
    }

    /// Whether the value is one of them.
    pub fn contains(self, value: bool) -> bool {
        if value {
            self.can_be_true
        } else {
            self.can_be_false
        }
    }

    fn values(self) -> impl Iterator<Item = bool> {
        [false, true].into_iter().filter(move |&v| self.contains(v))
    }

    fn add(&mut self, value: bool) {
        if value {
            self.can_be_true = true;
        } else {
            self.can_be_false = true;
        }
    }
}

const NO_VALUE: ValueSet = ValueSet {
    can_be_false: false,
    can_be_true: false,
};

/// The values that an expression can have in a state (`now`) and, in a `constrain`, with the
/// state after it (`next`).
///
/// Every node is the operand of at most one other, so that the choices of two operands are
/// independent of each other and the set is exact.
pub fn possible_values(
    exprs: &Exprs,
    root: ExprId,
    now: impl Fn(VarId) -> bool,
    next: impl Fn(VarId) -> bool,
) -> ValueSet {
    fold(exprs, root, |node, a, b| match node {
        Node::Const(value) => ValueSet::only(value),
        Node::Var(variable) => ValueSet::only(now(variable)),
        Node::Next(variable) => ValueSet::only(next(variable)),
        Node::Choice => ValueSet::both(),
        Node::Not(_) => ValueSet {
            can_be_false: a.can_be_true,
            can_be_true: a.can_be_false,
        },
        Node::Binary(operator, ..) => {
            let mut set = NO_VALUE;
            for x in a.values() {
                for y in b.values() {
                    set.add(operator.apply(x, y));
                }
            }
            set
        }
        Node::Choose(..) => ValueSet {
            can_be_true: a.can_be_true || (a.can_be_false && b.can_be_false),
            can_be_false: a.can_be_false,
        },
    })
}

/// The value of an expression, its choices made by `choose` in the order of the text.
pub(crate) fn value(
    exprs: &Exprs,
    root: ExprId,
    now: impl Fn(VarId) -> bool,
    next: impl Fn(VarId) -> bool,
    mut choose: impl FnMut() -> bool,
) -> bool {
    let set = fold(exprs, root, |node, a, b| {
        let (a, b) = (a.can_be_true, b.can_be_true);
        ValueSet::only(match node {
            Node::Const(value) => value,
            Node::Var(variable) => now(variable),
            Node::Next(variable) => next(variable),
            Node::Choice => choose(),
            Node::Not(_) => !a,
            Node::Binary(operator, ..) => operator.apply(a, b),
            Node::Choose(..) => a || (!b && choose()),
        })
    });
    set.can_be_true
}

/// Works through an expression, operands first, from left to right.
fn fold(
    exprs: &Exprs,
    root: ExprId,
    mut apply: impl FnMut(Node, ValueSet, ValueSet) -> ValueSet,
) -> ValueSet {
    /// A node whose operands are still to come, or are done.
    enum Task {
        Visit(ExprId),
        Apply(Node),
    }
    // Most expressions are a leaf or a negated one, and need no stacks.
    let is_leaf = |node| !matches!(node, Node::Not(_) | Node::Binary(..) | Node::Choose(..));
    let node = exprs.node(root);
    if is_leaf(node) {
        return apply(node, NO_VALUE, NO_VALUE);
    }
    if let Node::Not(a) = node
        && is_leaf(exprs.node(a))
    {
        let a = apply(exprs.node(a), NO_VALUE, NO_VALUE);
        return apply(node, a, NO_VALUE);
    }
    let mut tasks = vec![Task::Visit(root)];
    let mut done = Vec::new();
    while let Some(task) = tasks.pop() {
        match task {
            Task::Visit(id) => {
                let node = exprs.node(id);
                match node {
                    Node::Not(a) => tasks.extend([Task::Apply(node), Task::Visit(a)]),
                    Node::Binary(_, a, b) | Node::Choose(a, b) => {
                        tasks.extend([Task::Apply(node), Task::Visit(b), Task::Visit(a)]);
                    }
                    _ => done.push(apply(node, NO_VALUE, NO_VALUE)),
                }
            }
            Task::Apply(node @ Node::Not(_)) => {
                let a = done.pop().unwrap_or(NO_VALUE);
                done.push(apply(node, a, NO_VALUE));
            }
            Task::Apply(node) => {
                let b = done.pop().unwrap_or(NO_VALUE);
                let a = done.pop().unwrap_or(NO_VALUE);
                done.push(apply(node, a, b));
            }
        }
    }
    done.pop().unwrap_or(NO_VALUE)
}

/// The variables that an expression reads in the current state and in the next one.
pub(crate) fn support(exprs: &Exprs, root: ExprId) -> (Vec<VarId>, Vec<VarId>) {
    let (mut now, mut next) = (Vec::new(), Vec::new());
    let mut work = vec![root];
    while let Some(id) = work.pop() {
        match exprs.node(id) {
            Node::Const(_) | Node::Choice => {}
            Node::Var(variable) => now.push(variable),
            Node::Next(variable) => next.push(variable),
            Node::Not(a) => work.push(a),
            Node::Binary(_, a, b) | Node::Choose(a, b) => work.extend([a, b]),
        }
    }
    for list in [&mut now, &mut next] {
        list.sort();
        list.dedup();
    }
    (now, next)
}
