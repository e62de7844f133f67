//! What edges do with pointers: assignments, calls, bytes that are copied or come from outside.

use super::content::Cell;
use super::solver::Solver;
use crate::ids::{EdgeId, ExprId, FuncId, PlaceId};
use crate::operands::each_load;
use crate::program::{Callee, ExprKind, Function, Op, Origin, PlaceKind};
use crate::types::{Type, Variadic};
use crate::unwritten::pointers_read_unwritten;
use std::collections::BTreeSet;

impl Solver<'_> {
    /// A variable that is moved by elements from where it is goes on like that, in a loop say: its
    /// offset is that of any element.
    pub fn walk_on(&mut self, place: PlaceId, value: ExprId) {
        let ExprKind::PointerAdd {
            pointer,
            index,
            scale,
        } = self.program.expr(value).kind
        else {
            return;
        };
        let ExprKind::Load(from) = self.program.expr(pointer).kind else {
            return;
        };
        let sides = [place, from].map(|place| &self.program.place(place).kind);
        let [PlaceKind::Var(to), PlaceKind::Var(from)] = sides else {
            return;
        };
        let moves = self.constant(index).is_some_and(|count| count != 0);
        if to == from
            && moves
            && self.values[value.index()].is_none()
            && let Some(base) = self.value(pointer)
        {
            self.values[value.index()] = Some(Some(self.nodes.walk(base, scale)));
        }
    }

    pub fn edge(&mut self, id: EdgeId) {
        let program = self.program;
        let edge = &program.edges[id.index()];
        each_load(program, &edge.op, &mut |place| self.touch(place));
        match &edge.op {
            Op::Assign { place, value } => {
                self.touch(*place);
                let to = self.place(*place);
                self.assign(to, *value);
            }
            Op::Input { place, .. } | Op::Havoc { place } => self.havoc(*place),
            Op::Call {
                callee: Callee::Direct(callee),
                arguments,
                result,
            } => {
                self.call(*callee, arguments, *result);
            }
            Op::Call {
                callee: Callee::Indirect { pointer, .. },
                result,
                ..
            } => {
                self.value(*pointer);
                if let Some(result) = result {
                    self.touch(*result);
                }
                self.indirect.push(id);
            }
            Op::Allocate { place, .. } => {
                self.touch(*place);
                let object = self.nodes.fresh();
                self.nodes.content(object).allocations.insert(id);
                self.allocations.push((id, object));
                let to = self.place(*place);
                self.flow(Some(object), to);
            }
            Op::CopyMemory { to, from, .. } => {
                if let (Some(to), Some(from)) = (self.value(*to), self.value(*from)) {
                    self.nodes.unify(to, from);
                }
            }
            Op::HavocMemory { pointer, size, .. } => {
                if let Some(cell) = self.value(*pointer) {
                    let source = match size {
                        // Bytes that come from outside.
                        Some(_) => {
                            let void = self.types().all().find(|(_, ty)| **ty == Type::Void);
                            void.map(|(void, _)| self.outside(void))
                        }
                        None => Some(self.world()),
                    };
                    match source {
                        Some(source) if size.is_some() => self.filled.push((cell, source)),
                        Some(world) => self.nodes.unify(cell, world),
                        None => {}
                    }
                }
            }
            Op::Skip
            | Op::Assume { .. }
            | Op::Declare { .. }
            | Op::EndScope { .. }
            | Op::Free { .. }
            | Op::FillMemory { .. }
            | Op::SetOpen { .. }
            | Op::Unsupported { .. } => {}
        }
    }

    fn variadic(&mut self) -> Cell {
        *self.variadic.get_or_insert_with(|| self.nodes.fresh())
    }

    fn call(&mut self, callee: FuncId, arguments: &[ExprId], result: Option<PlaceId>) {
        let function: &Function = self.program.function(callee);
        for (index, &argument) in arguments.iter().enumerate() {
            if let Some(&formal) = function.formals.get(index) {
                let to = self.variable(formal);
                self.assign(to, argument);
            } else if function.origin == Origin::Undefined {
                self.pass_variadic(argument);
            }
        }
        if let (Some(place), Some(returned)) = (result, function.result) {
            self.touch(place);
            let to = self.place(place);
            let from = self.variable(returned);
            let ty = self.program.place(place).ty;
            if self.types().is_scalar(ty) {
                let value = Some(self.nodes.pointee(from));
                self.flow(value, to);
            } else {
                self.copy_object(from, to, ty);
            }
        }
    }

    /// An argument goes to `...`: what it holds may be taken out at any type.
    fn pass_variadic(&mut self, argument: ExprId) {
        let variadic = self.variadic();
        let ty = self.program.expr(argument).ty;
        if self.types().is_scalar(ty) {
            if let Some(value) = self.value(argument) {
                self.nodes.unify(variadic, value);
            }
        } else if let ExprKind::Load(place) = self.program.expr(argument).kind {
            let from = self.place(place);
            for (part, _, _) in self.scalars(from, ty) {
                let value = self.nodes.pointee(part);
                self.nodes.unify(variadic, value);
            }
        }
    }

    /// Functions without a body that may change memory know what they are handed, and may give
    /// it back.
    pub fn undefined_functions(&mut self) {
        for function in &self.program.functions {
            let changes = |id: u32| {
                matches!(
                    self.program.edges[id as usize].op,
                    Op::HavocMemory { size: None, .. }
                )
            };
            let mut locations = function.locations.clone();
            let havoc = locations.any(|location| {
                let edges = &self.program.locations[location as usize].edges;
                edges.clone().any(changes)
            });
            if function.origin != Origin::Undefined || !havoc {
                continue;
            }
            for &variable in function.formals.iter().chain(&function.result) {
                let cell = self.variable(variable);
                self.tell_world(cell, self.program.variable(variable).ty);
            }
            if let Type::Function {
                variadic: Variadic::Yes,
                ..
            } = self.types().get(function.ty)
            {
                let (variadic, world) = (self.variadic(), self.world());
                self.nodes.unify(variadic, world);
            }
        }
    }

    /// The entry's parameters come from outside.
    pub fn entry_parameters(&mut self) {
        for &formal in &self.program.function(self.program.entry).formals {
            let cell = self.variable(formal);
            self.allow_outside(cell, self.program.variable(formal).ty);
        }
    }

    /// A pointer that is read before it was written may lead anywhere.
    pub fn unwritten_pointers(&mut self) {
        for index in 0..self.program.functions.len() {
            for variable in pointers_read_unwritten(self.program, FuncId(index as u32)) {
                let cell = self.variable(variable);
                self.allow_outside(cell, self.program.variable(variable).ty);
            }
        }
    }

    /// Goes on until nothing is new: calls through pointers, accesses that overlap, pointers from
    /// outside that are compared with others.
    pub fn settle(&mut self) {
        loop {
            self.indirect_calls();
            let mut changed = self.nodes.settle_accesses();
            for (cell, source) in self.filled.clone() {
                let pointees: Vec<Cell> = self
                    .nodes
                    .content(cell)
                    .pointees
                    .values()
                    .copied()
                    .collect();
                for pointee in pointees {
                    changed |= self.make_one(pointee, source);
                }
            }
            for (a, b) in self.subtracted.clone() {
                if self.nodes.find(a).node != self.nodes.find(b).node {
                    self.nodes.collapse(a);
                    changed |= self.make_one(a, b);
                }
            }
            if !changed {
                for (a, b) in self.compared.clone() {
                    if self.is_outside(a) || self.is_outside(b) {
                        changed |= self.make_one(a, b);
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Whether a pointer to the class may come from outside: from an input, an undefined function
    /// or a number.
    fn is_outside(&mut self, cell: Cell) -> bool {
        let content = self.nodes.content(cell);
        content.external || content.is_empty()
    }

    fn make_one(&mut self, a: Cell, b: Cell) -> bool {
        let changed = self.nodes.find(a) != self.nodes.find(b);
        if changed {
            self.nodes.unify(a, b);
        }
        changed
    }

    /// Links indirect calls to what their pointers may point to, until nothing is new.
    fn indirect_calls(&mut self) {
        loop {
            let before = (self.linked.len(), self.nodes.function_joins);
            for call in self.indirect.clone() {
                let program = self.program;
                let Op::Call {
                    callee: Callee::Indirect { pointer, targets },
                    arguments,
                    result,
                } = &program.edges[call.index()].op
                else {
                    continue;
                };
                // Targets that are there already were found in another way: by type, where the
                // pointer comes from outside.
                let mut functions: BTreeSet<FuncId> = targets.iter().copied().collect();
                if let Some(cell) = self.value(*pointer) {
                    functions.extend(self.nodes.content(cell).functions.iter());
                }
                for function in functions {
                    if self.linked.insert((call, function)) {
                        self.call(function, arguments, *result);
                    }
                }
            }
            if before == (self.linked.len(), self.nodes.function_joins) {
                return;
            }
        }
    }
}
