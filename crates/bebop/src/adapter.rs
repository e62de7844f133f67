//! Boolean programs as supergraphs: the only module that knows what a statement is.
//!
//! A free choice (`*`) needs no variable of its own: every choice of an expression is made apart
//! from all others, so an expression is exactly the pair of the states in which it may be true
//! and the states in which it may be false.

use crate::bdd::Bdd;
use crate::space::{Copy, Slot, Space};
use crate::supergraph::{Edge, Ends, Proc, Procedure, Supergraph, Vertex};
use hardbop_boolean_program::program::{Action, BinaryOp, ExprId, Node, ProcId, Program, VarId};
use hardbop_budget::Stopped;
use std::ops::Range;

/// A boolean program, seen as a supergraph.
#[derive(Debug)]
pub struct BooleanProgram<'p> {
    program: &'p Program,
    /// The slot of every variable.
    slots: Vec<Slot>,
    /// The relation of every edge, once it was asked for; until then [`UNASKED`].
    relations: Vec<Bdd>,
    /// What holds in every state of a procedure, once it was asked for.
    invariants: Vec<Option<Bdd>>,
    /// Whether there is any `enforce`.
    has_invariants: bool,
}

/// The relation of no edge.
const UNASKED: Bdd = Bdd::NONE;

/// Where an expression may be true, and where it may be false.
#[derive(Clone, Copy)]
struct May {
    yes: Bdd,
    no: Bdd,
}

impl<'p> BooleanProgram<'p> {
    /// Lays the program's variables out over slots.
    pub fn new(program: &'p Program) -> BooleanProgram<'p> {
        let mut slots = vec![Slot(0); program.variables.len()];
        for (slot, var) in program.globals.iter().enumerate() {
            slots[var.index()] = Slot(slot as u32);
        }
        for procedure in &program.procedures {
            let own = procedure
                .formals
                .iter()
                .chain(&procedure.returns)
                .chain(&procedure.locals);
            for (slot, var) in own.enumerate() {
                slots[var.index()] = Slot((program.globals.len() + slot) as u32);
            }
        }
        BooleanProgram {
            program,
            slots,
            relations: vec![UNASKED; program.edges.len()],
            invariants: vec![None; program.procedures.len()],
            has_invariants: program.enforce.is_some()
                || program.procedures.iter().any(|p| p.enforce.is_some()),
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The slot of a variable.
    pub fn slot(&self, var: VarId) -> Slot {
        self.slots[var.index()]
    }

    /// The variable that has a slot in a procedure.
    pub fn variable(&self, procedure: ProcId, slot: Slot) -> VarId {
        let globals = &self.program.globals;
        let own = &self.program.procedures[procedure.index()];
        let tables = [globals, &own.formals, &own.returns, &own.locals];
        let mut index = slot.index();
        for table in tables {
            match table.get(index) {
                Some(&var) => return var,
                None => index -= table.len(),
            }
        }
        unreachable!("every slot in scope has a variable")
    }

    fn action(&self, edge: Edge) -> Action<'p> {
        self.program.action(&self.program.edges[edge.index()])
    }

    /// Calls `found` for every leaf of an expression.
    fn leaves(&self, expr: ExprId, mut found: impl FnMut(Node)) {
        // Most expressions are short: one operand is followed, the others wait, and the list of
        // those allocates nothing while it is empty.
        let mut waiting = Vec::new();
        let mut next = Some(expr);
        while let Some(expr) = next {
            next = match self.program.exprs.node(expr) {
                Node::Not(a) => Some(a),
                Node::Binary(_, a, b) | Node::Choose(a, b) => {
                    waiting.push(b);
                    Some(a)
                }
                leaf => {
                    found(leaf);
                    waiting.pop()
                }
            };
        }
    }

    fn add_reads(&self, expr: ExprId, slots: &mut Vec<Slot>) {
        self.leaves(expr, |leaf| {
            if let Node::Var(var) | Node::Next(var) = leaf {
                slots.push(self.slots[var.index()]);
            }
        });
    }

    /// The same as [`BooleanProgram::may`] for an expression without operands, else `None`.
    fn leaf(
        &self,
        node: Node,
        assigned: &[(VarId, ExprId)],
        space: &mut Space,
    ) -> Result<Option<May>, Stopped> {
        Ok(Some(match node {
            Node::Const(value) => {
                let (yes, no) = match value {
                    true => (Bdd::TRUE, Bdd::FALSE),
                    false => (Bdd::FALSE, Bdd::TRUE),
                };
                May { yes, no }
            }
            Node::Choice => May {
                yes: Bdd::TRUE,
                no: Bdd::TRUE,
            },
            Node::Var(var) => variable(self.slot(var), Copy::Current, space)?,
            Node::Next(var) => {
                let changes = assigned.iter().any(|&(target, _)| target == var);
                let copy = if changes { Copy::Next } else { Copy::Current };
                variable(self.slot(var), copy, space)?
            }
            Node::Not(_) | Node::Binary(..) | Node::Choose(..) => return Ok(None),
        }))
    }

    /// Where the expression may be true and where it may be false. `assigned` are the variables
    /// whose next value differs from the current one.
    fn may(
        &self,
        expr: ExprId,
        assigned: &[(VarId, ExprId)],
        space: &mut Space,
    ) -> Result<May, Stopped> {
        // Without recursion: expressions may be nested very deeply. A leaf, or a negated one,
        // which most of them are, needs no stack either.
        match self.program.exprs.node(expr) {
            Node::Not(a) => {
                if let Some(a) = self.leaf(self.program.exprs.node(a), assigned, space)? {
                    return Ok(May {
                        yes: a.no,
                        no: a.yes,
                    });
                }
            }
            node => {
                if let Some(leaf) = self.leaf(node, assigned, space)? {
                    return Ok(leaf);
                }
            }
        }
        let mut order = Vec::new();
        let mut stack = vec![expr];
        while let Some(expr) = stack.pop() {
            order.push(expr);
            match self.program.exprs.node(expr) {
                Node::Not(a) => stack.push(a),
                Node::Binary(_, a, b) | Node::Choose(a, b) => stack.extend([a, b]),
                Node::Const(_) | Node::Var(_) | Node::Next(_) | Node::Choice => {}
            }
        }
        let mut values: Vec<May> = Vec::new();
        for expr in order.into_iter().rev() {
            let node = self.program.exprs.node(expr);
            if let Some(leaf) = self.leaf(node, assigned, space)? {
                values.push(leaf);
                continue;
            }
            let value = match node {
                Node::Const(_) | Node::Choice | Node::Var(_) | Node::Next(_) => continue,
                Node::Not(_) => {
                    let a = values.pop().expect("the operand came before");
                    May {
                        yes: a.no,
                        no: a.yes,
                    }
                }
                Node::Binary(op, _, _) => {
                    let b = values.pop().expect("the operands came before");
                    let a = values.pop().expect("the operands came before");
                    binary(op, a, b, space)?
                }
                Node::Choose(_, _) => {
                    let b = values.pop().expect("the operands came before");
                    let a = values.pop().expect("the operands came before");
                    // True if a; else false if b; else either.
                    let either = space.bdds.and(a.no, b.no)?;
                    May {
                        yes: space.bdds.or(a.yes, either)?,
                        no: a.no,
                    }
                }
            };
            values.push(value);
        }
        Ok(values.pop().expect("an expression has a value"))
    }

    /// The relation that says that the slot's next value is one that the expression may have.
    fn assigns(&self, slot: Slot, expr: ExprId, space: &mut Space) -> Result<Bdd, Stopped> {
        let May { yes, no } = self.may(expr, &[], space)?;
        let next = space.value(slot, Copy::Next)?;
        space.bdds.ite(next, yes, no)
    }

    fn relation(&self, edge: Edge, space: &mut Space) -> Result<Bdd, Stopped> {
        match self.action(edge) {
            Action::Skip => Ok(Bdd::TRUE),
            Action::Assume { condition, holds } => {
                let may = self.may(condition, &[], space)?;
                Ok(if holds { may.yes } else { may.no })
            }
            Action::Assign {
                assignments,
                constrain,
            } => {
                let mut relation = Bdd::TRUE;
                for &(var, expr) in assignments {
                    let one = self.assigns(self.slot(var), expr, space)?;
                    relation = space.bdds.and(relation, one)?;
                }
                if let Some(constrain) = constrain {
                    let may = self.may(constrain, assignments, space)?;
                    relation = space.bdds.and(relation, may.yes)?;
                }
                Ok(relation)
            }
            Action::Call {
                callee, arguments, ..
            } => {
                let formals = &self.program.procedures[callee.index()].formals;
                let mut relation = Bdd::TRUE;
                for (&formal, &argument) in formals.iter().zip(arguments) {
                    let one = self.assigns(self.slot(formal), argument, space)?;
                    relation = space.bdds.and(relation, one)?;
                }
                Ok(relation)
            }
        }
    }

    fn cached_relation(&mut self, edge: Edge, space: &mut Space) -> Result<Bdd, Stopped> {
        let known = self.relations[edge.index()];
        if known != UNASKED {
            return Ok(known);
        }
        if let Action::Assume { condition, holds } = self.action(edge) {
            // Both ways of a branch are asked for, one soon after the other.
            let may = self.may(condition, &[], space)?;
            let from = self.program.edges[edge.index()].from;
            let siblings = self.program.vertices[from.index()].edges.clone();
            for sibling in siblings.map(Edge) {
                if let Action::Assume {
                    condition: other,
                    holds,
                } = self.action(sibling)
                    && other == condition
                {
                    self.relations[sibling.index()] = if holds { may.yes } else { may.no };
                }
            }
            return Ok(if holds { may.yes } else { may.no });
        }
        let relation = self.relation(edge, space)?;
        self.relations[edge.index()] = relation;
        Ok(relation)
    }
}

fn variable(slot: Slot, copy: Copy, space: &mut Space) -> Result<May, Stopped> {
    let var = Space::var(slot, copy);
    Ok(May {
        yes: space.bdds.literal(var, true)?,
        no: space.bdds.literal(var, false)?,
    })
}

fn binary(op: BinaryOp, a: May, b: May, space: &mut Space) -> Result<May, Stopped> {
    let bdds = &mut space.bdds;
    // The choices of both operands are made apart, so any pair of their values may occur.
    let mut may = May {
        yes: Bdd::FALSE,
        no: Bdd::FALSE,
    };
    for (a_value, a) in [(false, a.no), (true, a.yes)] {
        for (b_value, b) in [(false, b.no), (true, b.yes)] {
            let both = bdds.and(a, b)?;
            let side = if op.apply(a_value, b_value) {
                &mut may.yes
            } else {
                &mut may.no
            };
            *side = bdds.or(*side, both)?;
        }
    }
    Ok(may)
}

impl Supergraph for BooleanProgram<'_> {
    fn globals(&self) -> u32 {
        self.program.globals.len() as u32
    }

    fn procedures(&self) -> u32 {
        self.program.procedures.len() as u32
    }

    fn main(&self) -> Proc {
        Proc(self.program.main.0)
    }

    fn procedure(&self, procedure: Proc) -> Procedure {
        let procedure = &self.program.procedures[procedure.index()];
        Procedure {
            vertices: procedure.vertices.clone(),
            entry: Vertex(procedure.entry.0),
            exit: Vertex(procedure.exit.0),
            formals: procedure.formals.len() as u32,
            returns: procedure.returns.len() as u32,
            locals: procedure.locals.len() as u32,
        }
    }

    fn vertices(&self) -> u32 {
        self.program.vertices.len() as u32
    }

    fn procedure_of(&self, vertex: Vertex) -> Proc {
        Proc(self.program.vertices[vertex.index()].procedure.0)
    }

    fn edges(&self) -> u32 {
        self.program.edges.len() as u32
    }

    fn edges_from(&self, vertex: Vertex) -> Range<u32> {
        self.program.vertices[vertex.index()].edges.clone()
    }

    fn ends(&self, edge: Edge) -> Ends {
        let edge = &self.program.edges[edge.index()];
        let callee = self.program.callee(edge).map(|callee| Proc(callee.0));
        Ends {
            from: Vertex(edge.from.0),
            to: Vertex(edge.to.0),
            callee,
        }
    }

    fn reads(&self, edge: Edge, slots: &mut Vec<Slot>) {
        match self.action(edge) {
            Action::Skip => {}
            Action::Assume { condition, .. } => self.add_reads(condition, slots),
            Action::Assign {
                assignments,
                constrain,
            } => {
                for &(_, expr) in assignments {
                    self.add_reads(expr, slots);
                }
                if let Some(constrain) = constrain {
                    self.leaves(constrain, |leaf| match leaf {
                        Node::Var(var) => slots.push(self.slot(var)),
                        Node::Next(var) if !assignments.iter().any(|&(to, _)| to == var) => {
                            slots.push(self.slot(var));
                        }
                        _ => {}
                    });
                }
            }
            Action::Call { arguments, .. } => {
                for &argument in arguments {
                    self.add_reads(argument, slots);
                }
            }
        }
    }

    fn writes(&self, edge: Edge, slots: &mut Vec<Slot>) {
        match self.action(edge) {
            Action::Skip | Action::Assume { .. } => {}
            Action::Assign { assignments, .. } => {
                slots.extend(assignments.iter().map(|&(var, _)| self.slot(var)));
            }
            Action::Call { results, .. } => {
                slots.extend(results.iter().flatten().map(|&var| self.slot(var)));
            }
        }
    }

    fn results(&self, call: Edge, found: &mut Vec<(Slot, Slot)>) {
        if let Action::Call {
            callee, results, ..
        } = self.action(call)
        {
            let returns = &self.program.procedures[callee.index()].returns;
            let pairs = returns.iter().zip(results);
            found.extend(pairs.filter_map(|(&value, &target)| {
                target.map(|target| (self.slot(value), self.slot(target)))
            }));
        }
    }

    fn transfer(&mut self, edge: Edge, _from: Bdd, space: &mut Space) -> Result<Bdd, Stopped> {
        self.cached_relation(edge, space)
    }

    fn arguments(&mut self, call: Edge, _from: Bdd, space: &mut Space) -> Result<Bdd, Stopped> {
        self.cached_relation(call, space)
    }

    fn invariant(&mut self, procedure: Proc, space: &mut Space) -> Result<Bdd, Stopped> {
        if let Some(invariant) = self.invariants[procedure.index()] {
            return Ok(invariant);
        }
        let own = self.program.procedures[procedure.index()].enforce;
        let mut invariant = Bdd::TRUE;
        for enforce in [self.program.enforce, own].into_iter().flatten() {
            let may = self.may(enforce, &[], space)?;
            invariant = space.bdds.and(invariant, may.yes)?;
        }
        self.invariants[procedure.index()] = Some(invariant);
        Ok(invariant)
    }

    fn has_invariants(&self) -> bool {
        self.has_invariants
    }

    fn invariant_reads(&self, procedure: Proc, slots: &mut Vec<Slot>) {
        let own = self.program.procedures[procedure.index()].enforce;
        for enforce in [self.program.enforce, own].into_iter().flatten() {
            self.add_reads(enforce, slots);
        }
    }

    fn roots(&self, visit: &mut dyn FnMut(Bdd)) {
        let asked = self.relations.iter().filter(|&&root| root != UNASKED);
        for &root in asked.chain(self.invariants.iter().flatten()) {
            visit(root);
        }
    }
}
