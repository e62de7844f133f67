//! Uninitialised reads: which bits have a value goes along with the program, and a value that
//! decides something must have all the bits that it is decided by.
//!
//! A variable that is reached by its name only has another one beside it, which holds the bits
//! that have no value; those of arguments and results go along in variables of their own. Of
//! memory, the interpreter knows it ([`ExprKind::Open`]), and the logic takes it to be anything.
//! Only what may have bits without a value at all is watched (`dirt.rs`). Copying such a value
//! is no use of it: a branch, an address, an argument that leaves the program are.

mod bits;
mod dirt;

use crate::edit::{Graphs, Tables};
use crate::finish::quote_sources;
use crate::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
use crate::lower::TEXT;
use crate::operands::{Operand, each_below, each_operand};
use crate::options::Violations;
use crate::points_to::PointsTo;
use crate::program::*;
use crate::types::Type;
use bits::Bits;
use dirt::{Dirt, Home, home};
use std::collections::{BTreeMap, BTreeSet};

/// The most scalars of an object that is copied one by one.
const MOST_LEAVES: usize = 64;

/// Adds the checks that nothing is decided by bits without a value.
pub(crate) fn weave(mut program: Program, points_to: &PointsTo, violations: Violations) -> Program {
    settle(&mut program);
    let dirt = Dirt::find(&program, points_to);
    if dirt.is_empty() {
        return program;
    }
    let graphs = Graphs::new(&program);
    let edges = program.edges.len();
    let bits = Bits::new(Tables::new(program), points_to, &dirt);
    let mut weaver = Weaver {
        bits,
        graphs,
        violations,
        transfers: BTreeMap::new(),
        constants: BTreeMap::new(),
        met: BTreeSet::new(),
        temporaries: 0,
    };
    weaver.make_shadows();
    weaver.bits.find_all();
    for index in 0..edges {
        weaver.edge(EdgeId(index as u32));
    }
    weaver.enter_and_leave();
    let mut program = weaver.bits.tables.program;
    weaver.graphs.lay_out(&mut program);
    quote_sources(&mut program);
    program
}

/// Puts objects into memory that are copied as a whole and have many parts.
fn settle(program: &mut Program) {
    let mut large = BTreeSet::new();
    let mut note = |place: PlaceId| {
        let ty = program.place(place).ty;
        if !program.types.is_scalar(ty)
            && let Root::Variable(id) = program.root(place)
            && count_leaves(program, ty) > MOST_LEAVES
        {
            large.insert(id);
        }
    };
    for edge in &program.edges {
        match &edge.op {
            Op::Assign { place, value } => {
                note(*place);
                if let ExprKind::Load(from) = program.expr(*value).kind {
                    note(from);
                }
            }
            Op::Call {
                arguments, result, ..
            } => {
                result.iter().for_each(|place| note(*place));
                for argument in arguments {
                    if let ExprKind::Load(from) = program.expr(*argument).kind {
                        note(from);
                    }
                }
            }
            _ => {}
        }
    }
    for id in large {
        program.variables[id.index()].address_taken = true;
    }
}

fn count_leaves(program: &Program, ty: TypeId) -> usize {
    let mut count = 0;
    let mut work = vec![(ty, 1usize)];
    while let Some((ty, times)) = work.pop() {
        match program.types.get(ty) {
            Type::Array { element, length } => {
                work.push((*element, times.saturating_mul(*length as usize)));
            }
            Type::Record(record) => {
                let fields = program.types.record(*record).fields.iter();
                work.extend(fields.map(|field| (field.ty, times)));
            }
            _ => count += times,
        }
        if count > MOST_LEAVES {
            break;
        }
    }
    count
}

/// What goes from a caller to its callee, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Transfer {
    Argument(usize),
    Result,
}

/// The same bits everywhere in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Filled {
    Zeros,
    Ones,
}

struct Weaver<'a> {
    bits: Bits<'a>,
    graphs: Graphs,
    violations: Violations,
    transfers: BTreeMap<(Transfer, TypeId), VarId>,
    constants: BTreeMap<(Filled, TypeId), VarId>,
    /// The locations whose branches are done.
    met: BTreeSet<LocId>,
    temporaries: u32,
}

impl Weaver<'_> {
    fn program(&self) -> &Program {
        &self.bits.tables.program
    }

    fn make_shadows(&mut self) {
        for index in 0..self.program().variables.len() {
            let id = VarId(index as u32);
            if !self.bits.dirt.of_variable(id) {
                continue;
            }
            let variable = self.program().variable(id).clone();
            let ty = self.bits.shadow_type(variable.ty);
            let name = format!("bits of {} without a value", variable.name);
            let shadow = match variable.kind {
                VarKind::Global | VarKind::Static(_) | VarKind::Literal => {
                    self.global(name, ty, variable.source, Vec::new())
                }
                VarKind::Formal(f)
                | VarKind::Local(f)
                | VarKind::Temporary(f)
                | VarKind::Result(f) => self.bits.tables.temporary(f, name, ty, variable.source),
            };
            self.bits.shadows.insert(id, shadow);
        }
    }

    fn global(
        &mut self,
        name: String,
        ty: TypeId,
        source: Source,
        parts: Vec<InitialPart>,
    ) -> VarId {
        let initial = Initial::Data(parts);
        let kind = VarKind::Global;
        self.bits.tables.variable(name, ty, kind, source, initial)
    }

    fn start(&self) -> Source {
        self.program().function(self.program().entry).source
    }

    fn transfer(&mut self, what: Transfer, ty: TypeId) -> PlaceId {
        let known = self.transfers.get(&(what, ty)).copied();
        let variable = known.unwrap_or_else(|| {
            let name = match what {
                Transfer::Argument(index) => {
                    format!("bits of argument {} without a value", index + 1)
                }
                Transfer::Result => "bits of the result without a value".to_owned(),
            };
            let name = format!("{name} #{}", self.transfers.len());
            let source = self.start();
            let variable = self.global(name, ty, source, Vec::new());
            self.transfers.insert((what, ty), variable);
            variable
        });
        self.bits.tables.variable_place(variable)
    }

    /// A value of a shadow's type that has the same bits everywhere.
    fn filled(&mut self, with: Filled, ty: TypeId) -> ExprId {
        if self.program().types.is_scalar(ty) {
            let value = match with {
                Filled::Zeros => 0,
                Filled::Ones => -1,
            };
            return self.bits.tables.constant(value, ty);
        }
        let known = self.constants.get(&(with, ty)).copied();
        let variable = known.unwrap_or_else(|| {
            let size = self.program().types.size_of(ty) as usize;
            let parts = match with {
                Filled::Zeros => Vec::new(),
                Filled::Ones => vec![InitialPart {
                    offset_bits: 0,
                    value: InitialValue::Bytes(vec![u8::MAX; size]),
                }],
            };
            let name = match with {
                Filled::Zeros => "all bits have a value",
                Filled::Ones => "no bit has a value",
            };
            let name = format!("{name} #{}", self.constants.len());
            let source = self.start();
            let variable = self.global(name, ty, source, parts);
            self.constants.insert((with, ty), variable);
            variable
        });
        self.bits.tables.load_variable(variable)
    }

    fn temporary(&mut self, function: FuncId, ty: TypeId, source: Source) -> PlaceId {
        self.temporaries += 1;
        let name = format!("u#{}", self.temporaries);
        let variable = self.bits.tables.temporary(function, name, ty, source);
        self.bits.tables.variable_place(variable)
    }

    /// Does what belongs to an edge of the program.
    fn edge(&mut self, id: EdgeId) {
        // As the program has it: the graphs may have cut it off from its start.
        let edge = self.program().edges[id.index()].clone();
        let function = self.graphs.function(edge.from);
        let checks = self.uses(&edge);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        self.flows(&edge, function, &mut before, &mut after);
        if checks.is_empty() && before.is_empty() && after.is_empty() {
            return;
        }
        let (mut at, last) = match edge.op {
            Op::Assume { .. } => {
                // Both branches ask the same.
                if !self.met.insert(edge.from) {
                    return;
                }
                let from = self.graphs.edges()[id.index()].from;
                (from, self.graphs.split(from))
            }
            _ => self.graphs.split_before(id),
        };
        for bad in checks {
            at = self.check(at, function, bad, edge.source);
        }
        for op in before {
            let next = self.graphs.location(function, LocationKind::Plain);
            self.graphs.edge(at, next, op, edge.source);
            at = next;
        }
        self.graphs.edge(at, last, Op::Skip, edge.source);
        if after.is_empty() {
            return;
        }
        let (mut at, to) = self.graphs.split_after(id);
        for op in after {
            let next = self.graphs.location(function, LocationKind::Plain);
            self.graphs.edge(at, next, op, edge.source);
            at = next;
        }
        self.graphs.edge(at, to, Op::Skip, edge.source);
    }

    /// Adds a check that is violated where a condition holds, and gives where it goes on.
    fn check(&mut self, at: LocId, function: FuncId, bad: ExprId, source: Source) -> LocId {
        let check = self.bits.tables.program.add_check(Check {
            kind: CheckKind::Uninit,
            message: format!("uninitialised value used in {TEXT}"),
            function,
            source,
        });
        let error = self.graphs.location(function, LocationKind::Error(check));
        let next = self.graphs.location(function, LocationKind::Plain);
        match self.violations {
            Violations::End => self.graphs.branch(at, bad, error, next, source),
            Violations::Pass => {
                let (violated, chosen) = (
                    self.graphs.location(function, LocationKind::Plain),
                    self.graphs.location(function, LocationKind::Plain),
                );
                self.graphs.branch(at, bad, violated, next, source);
                let int = self.bits.tables.int();
                let place = self.temporary(function, int, source);
                self.graphs
                    .edge(violated, chosen, Op::Havoc { place }, source);
                let passes = self.bits.tables.load(place);
                self.graphs.branch(chosen, passes, next, error, source);
            }
        }
        next
    }

    /// The conditions under which an edge uses a bit without a value.
    fn uses(&mut self, edge: &Edge) -> Vec<ExprId> {
        let mut values = BTreeSet::new();
        let mut conditions = BTreeSet::new();
        match &edge.op {
            Op::Assume { condition, .. } if !self.belongs_to_check(edge.from) => {
                conditions.insert(*condition);
            }
            Op::Call {
                callee, arguments, ..
            } => {
                if let Callee::Indirect { pointer, .. } = callee {
                    values.insert(*pointer);
                }
                for target in callee.targets() {
                    let target = self.program().function(*target);
                    // What leaves the program must have a value.
                    let known = match target.origin {
                        Origin::Undefined => 0,
                        _ => target.formals.len(),
                    };
                    values.extend(arguments.iter().skip(known));
                }
            }
            Op::Free { pointer } => _ = values.insert(*pointer),
            Op::Allocate { size, .. } => _ = values.insert(*size),
            Op::HavocMemory { pointer, size, .. } => {
                values.insert(*pointer);
                values.extend(size);
            }
            Op::CopyMemory { to, from, size } => values.extend([*to, *from, *size]),
            Op::FillMemory { to, byte, size } => values.extend([*to, *byte, *size]),
            _ => {}
        }
        values.extend(self.addresses(&edge.op));
        let ours = matches!(edge.op, Op::Assume { .. }) && conditions.is_empty();
        if !ours {
            conditions.extend(self.decisions(&edge.op));
        }
        let mut found = Vec::new();
        for condition in conditions {
            found.extend(self.bits.truth(condition));
        }
        for value in values {
            if let Some(bits) = self.bits.of(value) {
                found.push(self.bits.any(bits));
            }
        }
        found
    }

    /// Whether a branch is one of ours: it leads to a violation that the program does not make
    /// itself.
    fn belongs_to_check(&self, at: LocId) -> bool {
        let program = self.program();
        program
            .edges_from(at)
            .any(|(_, edge)| match program.locations[edge.to.index()].kind {
                LocationKind::Error(check) => !matches!(
                    program.checks[check.index()].kind,
                    CheckKind::Assertion | CheckKind::ErrorCall | CheckKind::ErrorLabel
                ),
                _ => false,
            })
    }

    /// What decides inside of the expressions of an operation: `c ? a : b`, `c && a`.
    fn decisions(&self, op: &Op) -> BTreeSet<ExprId> {
        let program = self.program();
        let mut roots = Vec::new();
        each_operand(op, &mut |operand| roots.push(operand));
        let mut found = BTreeSet::new();
        each_below(program, roots, &mut |operand| {
            if let Operand::Expr(id) = operand
                && let ExprKind::Conditional { condition, .. }
                | ExprKind::Binary(BinaryOp::And | BinaryOp::Or, condition, _) =
                    program.expr(id).kind
            {
                found.insert(condition);
            }
        });
        found
    }

    /// The pointers and indices of all places that an operation reads or writes.
    fn addresses(&self, op: &Op) -> BTreeSet<ExprId> {
        let program = self.program();
        let mut places = Vec::new();
        let mut roots = Vec::new();
        each_operand(op, &mut |operand| {
            if let Operand::Place(place) = operand {
                places.push(place);
            }
            roots.push(operand);
        });
        each_below(program, roots, &mut |operand| {
            if let Operand::Expr(id) = operand
                && let ExprKind::Load(place) = program.expr(id).kind
            {
                places.push(place);
            }
        });
        let mut found = BTreeSet::new();
        while let Some(place) = places.pop() {
            match program.place(place).kind {
                PlaceKind::Var(_) => {}
                PlaceKind::Deref(pointer) => _ = found.insert(pointer),
                PlaceKind::Field(base, _) => places.push(base),
                PlaceKind::Index(base, index) => {
                    found.insert(index);
                    places.push(base);
                }
            }
        }
        found
    }

    /// What an edge does to bits without a value, before and after it.
    fn flows(&mut self, edge: &Edge, function: FuncId, before: &mut Vec<Op>, after: &mut Vec<Op>) {
        match &edge.op {
            Op::Assign { place, value } => {
                self.assign(*place, *value, function, edge.source, before, after);
            }
            Op::Input { place, .. }
            | Op::Havoc { place }
            | Op::Allocate { place, .. }
            | Op::VaArg { place, .. } => self.clear(*place, before),
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

    fn fill(&mut self, shadow: VarId, with: Filled) -> Op {
        let place = self.bits.tables.variable_place(shadow);
        let value = self.filled(with, self.program().variable(shadow).ty);
        Op::Assign { place, value }
    }

    /// Everything in a place has a value now.
    fn clear(&mut self, place: PlaceId, before: &mut Vec<Op>) {
        if let Some(shadow) = self.bits.shadow_place(place) {
            let value = self.filled(Filled::Zeros, self.program().place(shadow).ty);
            before.push(Op::Assign {
                place: shadow,
                value,
            });
        }
    }

    fn assign(
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
    fn leaves(&mut self, place: PlaceId) -> Vec<PlaceId> {
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
    fn store(
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

    fn call(
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
    fn hand_over(&mut self, place: PlaceId, argument: ExprId, before: &mut Vec<Op>) {
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
    fn enter_and_leave(&mut self) {
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

#[cfg(test)]
mod tests;
