//! Is this step one that the program can make? The judge of every trace.
//!
//! States are complete here (see [`Layout`]); the choices of a step are not given, and the answer
//! is whether there are any that explain it.

use crate::program::{Action, EdgeId, ExprId, ProcId, Program, VarId};
use crate::values::{Layout, possible_values};

/// Checks single steps of a program.
#[derive(Clone, Debug)]
pub struct Checker<'p> {
    program: &'p Program,
    layout: Layout,
}

impl<'p> Checker<'p> {
    /// A checker for a program.
    pub fn new(program: &'p Program) -> Checker<'p> {
        Checker {
            program,
            layout: Layout::new(program),
        }
    }

    /// Where variables stand in states.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether a state meets every `enforce` in whose scope it is; there is no other state.
    pub fn allowed(&self, procedure: ProcId, state: &[bool]) -> bool {
        let own = self.program.procedures[procedure.index()].enforce;
        [self.program.enforce, own]
            .into_iter()
            .flatten()
            .all(|e| self.can_be(e, state, true))
    }

    /// Whether an edge that is not a call leads from one state to another of its procedure.
    pub fn step(&self, edge: EdgeId, before: &[bool], after: &[bool]) -> bool {
        let edge = &self.program.edges[edge.index()];
        let action = self.program.action(edge);
        let procedure = self.program.vertices[edge.from.index()].procedure;
        if !self.allowed(procedure, before) || !self.allowed(procedure, after) {
            return false;
        }
        match action {
            Action::Skip => before == after,
            Action::Assume { condition, holds } => {
                before == after && self.can_be(condition, before, holds)
            }
            Action::Assign {
                assignments,
                constrain,
            } => {
                let mut rest = before.to_vec();
                for &(variable, value) in assignments {
                    let slot = self.layout.slot(variable);
                    if !self.can_be(value, before, after[slot]) {
                        return false;
                    }
                    rest[slot] = after[slot];
                }
                rest == after && constrain.is_none_or(|r| self.relates(r, before, after))
            }
            Action::Call { .. } => false,
        }
    }

    /// Whether a call leads from a state of the caller to a state at the entry of the callee.
    pub fn enter(&self, edge: EdgeId, before: &[bool], entry: &[bool]) -> bool {
        let edge = &self.program.edges[edge.index()];
        let action = self.program.action(edge);
        let Action::Call {
            callee, arguments, ..
        } = action
        else {
            return false;
        };
        let caller = self.program.vertices[edge.from.index()].procedure;
        let globals = self.layout.globals();
        let formals = &self.program.procedures[callee.index()].formals;
        self.allowed(caller, before)
            && self.allowed(callee, entry)
            && before[..globals] == entry[..globals]
            && formals
                .iter()
                .zip(arguments)
                .all(|(&f, &value)| self.can_be(value, before, entry[self.layout.slot(f)]))
    }

    /// Whether a call that started in `before` and whose callee ended in `exit` leads to `after`.
    pub fn leave(&self, edge: EdgeId, before: &[bool], exit: &[bool], after: &[bool]) -> bool {
        let edge = &self.program.edges[edge.index()];
        let action = self.program.action(edge);
        let Action::Call {
            callee, results, ..
        } = action
        else {
            return false;
        };
        let caller = self.program.vertices[edge.from.index()].procedure;
        let mut expected = before.to_vec();
        let globals = self.layout.globals();
        expected[..globals].copy_from_slice(&exit[..globals]);
        let returns = &self.program.procedures[callee.index()].returns;
        for (target, &value) in results.iter().zip(returns) {
            if let Some(target) = target {
                expected[self.layout.slot(*target)] = exit[self.layout.slot(value)];
            }
        }
        expected == after && self.allowed(callee, exit) && self.allowed(caller, after)
    }

    fn can_be(&self, expr: ExprId, state: &[bool], value: bool) -> bool {
        let read = |v: VarId| state[self.layout.slot(v)];
        possible_values(&self.program.exprs, expr, read, read).contains(value)
    }

    fn relates(&self, relation: ExprId, before: &[bool], after: &[bool]) -> bool {
        let now = |v: VarId| before[self.layout.slot(v)];
        let next = |v: VarId| after[self.layout.slot(v)];
        possible_values(&self.program.exprs, relation, now, next).contains(true)
    }
}
