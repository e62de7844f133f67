//! How the bits without a value flow along edges: assignments, stores, calls.

use super::dirt::{Home, home};
use super::{Filled, Transfer, Weaver};
use crate::ids::{ExprId, FuncId, PlaceId, VarId};
use crate::program::*;
use crate::types::Type;
use std::collections::BTreeSet;

impl Weaver<'_> {
    /// What an edge does to bits without a value, before and after it.
    pub(super) fn flows(
        &mut self,
        edge: &Edge,
        function: FuncId,
        before: &mut Vec<Op>,
        after: &mut Vec<Op>,
    ) {
        match &edge.op {
            Op::Assign { place, value } => {
                self.assign(*place, *value, function, edge.source, before, after);
            }
            Op::Input { place, .. } | Op::Havoc { place } | Op::Allocate { place, .. } => {
                self.clear(*place, before);
            }
            Op::Declare { variable } => {
                if let Some(&shadow) = self.bits.shadows.get(variable) {
                    before.push(self.fill(shadow, Filled::Ones));
                }
            }
            Op::Call {
                callee,
                arguments,
                result,
            } => {
                let targets = callee.targets().to_vec();
                self.call(&targets, arguments, *result, before, after);
            }
            _ => {}
        }
    }

    pub(super) fn fill(&mut self, shadow: VarId, with: Filled) -> Op {
        let place = self.bits.tables.variable_place(shadow);
        let value = self.filled(with, self.program().variable(shadow).ty);
        Op::Assign { place, value }
    }

    /// Everything in a place has a value now.
    pub(super) fn clear(&mut self, place: PlaceId, before: &mut Vec<Op>) {
        if let Some(shadow) = self.bits.shadow_place(place) {
            let value = self.filled(Filled::Zeros, self.program().place(shadow).ty);
            before.push(Op::Assign {
                place: shadow,
                value,
            });
        }
    }

    pub(super) fn assign(
        &mut self,
        place: PlaceId,
        value: ExprId,
        function: FuncId,
        source: Source,
        before: &mut Vec<Op>,
        after: &mut Vec<Op>,
    ) {
        let ty = self.program().place(place).ty;
        if self.program().types.is_scalar(ty) {
            let open = self.bits.of(value);
            self.store(place, open, function, source, before, after);
            return;
        }
        let ExprKind::Load(from) = self.program().expr(value).kind else {
            return;
        };
        match (self.bits.shadow_place(place), self.bits.shadow_place(from)) {
            (Some(to), Some(from)) => {
                let value = self.bits.tables.load(from);
                before.push(Op::Assign { place: to, value });
            }
            (to, from_shadow) => {
                let at = home(self.program(), self.bits.points_to, from);
                let open = from_shadow.is_some()
                    || matches!(at, Some(Home::Memory(_))) && self.bits.dirt.of(at);
                if !open {
                    self.clear(place, before);
                } else if to.is_some() || from_shadow.is_some() {
                    let (to, from) = (self.leaves(place), self.leaves(from));
                    for (to, from) in to.into_iter().zip(from) {
                        let value = self.bits.leaf(from);
                        self.store(to, value, function, source, before, after);
                    }
                }
                // Memory that is copied to memory takes its bits along.
            }
        }
    }

    /// The scalar parts of a place, one by one.
    pub(super) fn leaves(&mut self, place: PlaceId) -> Vec<PlaceId> {
        let mut found = Vec::new();
        let mut work = vec![place];
        while let Some(place) = work.pop() {
            let ty = self.program().place(place).ty;
            match self.program().types.get(ty).clone() {
                Type::Array { element, length } => {
                    for index in (0..length).rev() {
                        let intptr = self.bits.tables.program.types.intptr();
                        let index = self.bits.tables.constant(i128::from(index), intptr);
                        let kind = PlaceKind::Index(place, index);
                        work.push(self.bits.tables.place(kind, element));
                    }
                }
                Type::Record(record) => {
                    let fields = self.program().types.record(record).fields.clone();
                    for (index, field) in fields.iter().enumerate().rev() {
                        let kind = PlaceKind::Field(place, index as u32);
                        work.push(self.bits.tables.place(kind, field.ty));
                    }
                }
                _ => found.push(place),
            }
        }
        found
    }

    /// A scalar with some bits without a value is written to a place.
    pub(super) fn store(
        &mut self,
        place: PlaceId,
        open: Option<ExprId>,
        function: FuncId,
        source: Source,
        before: &mut Vec<Op>,
        after: &mut Vec<Op>,
    ) {
        if let Some(shadow) = self.bits.shadow_place(place) {
            let ty = self.program().place(shadow).ty;
            let value = match open {
                Some(open) => self.bits.tables.convert(open, ty),
                None => self.filled(Filled::Zeros, ty),
            };
            before.push(Op::Assign {
                place: shadow,
                value,
            });
            return;
        }
        let in_memory = match self.program().root(place) {
            Root::Variable(id) => self.program().variable(id).address_taken,
            Root::Pointer(_) => true,
        };
        let Some(open) = open.filter(|_| in_memory) else {
            return;
        };
        // What is written may be what says where: both are kept from before.
        let (pointer, mask, bits) = self.bits.bytes(place);
        let kept = self.temporary(function, self.bits.tables.ty(pointer), source);
        before.push(Op::Assign {
            place: kept,
            value: pointer,
        });
        let pointer = self.bits.tables.load(kept);
        let open = self.bits.tables.convert(open, mask);
        let value = self.temporary(function, mask, source);
        before.push(Op::Assign {
            place: value,
            value: open,
        });
        let open = self.bits.tables.load(value);
        let bits = match bits {
            None => open,
            Some((first, width)) => self.bits.inserted(pointer, open, first, width),
        };
        after.push(Op::SetOpen { pointer, bits });
    }

    pub(super) fn call(
        &mut self,
        targets: &[FuncId],
        arguments: &[ExprId],
        result: Option<PlaceId>,
        before: &mut Vec<Op>,
        after: &mut Vec<Op>,
    ) {
        let mut given = BTreeSet::new();
        let mut returned = BTreeSet::new();
        for target in targets {
            let target = self.program().function(*target).clone();
            for (index, (formal, argument)) in target.formals.iter().zip(arguments).enumerate() {
                if let Some(&shadow) = self.bits.shadows.get(formal) {
                    let ty = self.program().variable(shadow).ty;
                    given.insert((index, ty, *argument));
                }
            }
            if let Some(&shadow) = target.result.and_then(|id| self.bits.shadows.get(&id)) {
                returned.insert(self.program().variable(shadow).ty);
            }
        }
        for (index, ty, argument) in given {
            let place = self.transfer(Transfer::Argument(index), ty);
            self.hand_over(place, argument, before);
        }
        let to = result.and_then(|place| self.bits.shadow_place(place));
        let Some(to) = to else {
            return;
        };
        let ty = self.program().place(to).ty;
        if returned.contains(&ty) {
            // Those that give back nothing else leave it as it is.
            let place = self.transfer(Transfer::Result, ty);
            let value = self.filled(Filled::Zeros, ty);
            before.push(Op::Assign { place, value });
            let value = self.bits.tables.load(place);
            after.push(Op::Assign { place: to, value });
        } else {
            let value = self.filled(Filled::Zeros, ty);
            before.push(Op::Assign { place: to, value });
        }
    }

    /// Writes the bits of an argument to where the callee finds them.
    pub(super) fn hand_over(&mut self, place: PlaceId, argument: ExprId, before: &mut Vec<Op>) {
        let ty = self.program().place(place).ty;
        if self.program().types.is_scalar(ty) {
            let value = match self.bits.of(argument) {
                Some(open) => self.bits.tables.convert(open, ty),
                None => self.filled(Filled::Zeros, ty),
            };
            before.push(Op::Assign { place, value });
            return;
        }
        let ExprKind::Load(from) = self.program().expr(argument).kind else {
            return;
        };
        if let Some(from) = self.bits.shadow_place(from) {
            let value = self.bits.tables.load(from);
            before.push(Op::Assign { place, value });
            return;
        }
        let value = self.filled(Filled::Zeros, ty);
        before.push(Op::Assign { place, value });
        let (to, from) = (self.leaves(place), self.leaves(from));
        for (to, from) in to.into_iter().zip(from) {
            if let Some(open) = self.bits.leaf(from) {
                let ty = self.program().place(to).ty;
                let value = self.bits.tables.convert(open, ty);
                before.push(Op::Assign { place: to, value });
            }
        }
    }

    /// Where functions are entered, their variables have no value but those that were given one;
    /// where they are left, the caller gets the bits of the result.
    pub(super) fn enter_and_leave(&mut self) {
        for index in 0..self.program().functions.len() {
            let function = FuncId(index as u32);
            let described = self.program().function(function).clone();
            let source = described.source;
            let mut begin = Vec::new();
            for (index, formal) in described.formals.iter().enumerate() {
                if let Some(&shadow) = self.bits.shadows.get(formal) {
                    let ty = self.program().variable(shadow).ty;
                    let from = self.transfer(Transfer::Argument(index), ty);
                    let value = self.bits.tables.load(from);
                    let place = self.bits.tables.variable_place(shadow);
                    begin.push(Op::Assign { place, value });
                }
            }
            for id in described.locals.iter().chain(&described.result) {
                if let Some(&shadow) = self.bits.shadows.get(id) {
                    begin.push(self.fill(shadow, Filled::Ones));
                }
            }
            if !begin.is_empty() {
                let (mut at, entry) = self.graphs.before_entry(function);
                for op in begin {
                    let next = self.graphs.location(function, LocationKind::Plain);
                    self.graphs.edge(at, next, op, source);
                    at = next;
                }
                self.graphs.edge(at, entry, Op::Skip, source);
            }
            if let Some(&shadow) = described.result.and_then(|id| self.bits.shadows.get(&id)) {
                let ty = self.program().variable(shadow).ty;
                let place = self.transfer(Transfer::Result, ty);
                let value = self.bits.tables.load_variable(shadow);
                let (last, exit) = self.graphs.before_exit(function);
                self.graphs
                    .edge(last, exit, Op::Assign { place, value }, source);
            }
        }
    }
}
