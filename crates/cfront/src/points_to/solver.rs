//! Collects what a program does with pointers, and unifies what they may point to.

use super::nodes::{Cell, Nodes};
use super::{Class, ClassId, PointsTo, Spot, bit_field, leaves, regions};
use crate::ids::{EdgeId, ExprId, FuncId, PlaceId, TypeId, VarId};
use crate::operands::each_load;
use crate::program::{
    BinaryOp, Callee, ExprKind, Function, Initial, InitialValue, Op, PlaceKind, Program, UnaryOp,
};
use crate::types::{Type, Types};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Analyses a whole program.
pub(super) fn solve(program: &Program) -> PointsTo {
    let mut solver = Solver::new(program);
    solver.initial_values();
    for index in 0..program.exprs.len() {
        solver.value(ExprId(index as u32));
    }
    for index in 0..program.places.len() {
        solver.place(PlaceId(index as u32));
    }
    for index in 0..program.edges.len() {
        solver.edge(EdgeId(index as u32));
    }
    solver.indirect_calls();
    solver.finish()
}

struct Solver<'a> {
    program: &'a Program,
    nodes: Nodes,
    variables: Vec<Option<Cell>>,
    functions: Vec<Option<Cell>>,
    places: Vec<Option<Cell>>,
    values: Vec<Option<Option<Cell>>>,
    /// Objects from outside, by the type of what they hold.
    outside: HashMap<TypeId, Cell>,
    /// What variadic arguments point to: one class for the whole program, since a `va_list` may
    /// be handed on.
    variadic: Option<Cell>,
    indirect: Vec<EdgeId>,
    linked: BTreeSet<(EdgeId, FuncId)>,
}

impl<'a> Solver<'a> {
    fn new(program: &'a Program) -> Solver<'a> {
        Solver {
            program,
            nodes: Nodes::default(),
            variables: vec![None; program.variables.len()],
            functions: vec![None; program.functions.len()],
            places: vec![None; program.places.len()],
            values: vec![None; program.exprs.len()],
            outside: HashMap::new(),
            variadic: None,
            indirect: Vec::new(),
            linked: BTreeSet::new(),
        }
    }

    fn types(&self) -> &'a Types {
        &self.program.types
    }

    fn variable(&mut self, id: VarId) -> Cell {
        if let Some(cell) = self.variables[id.index()] {
            return cell;
        }
        let cell = self.nodes.fresh();
        self.variables[id.index()] = Some(cell);
        self.nodes.content(cell).variables.insert(id);
        self.declare_arrays(cell, self.program.variable(id).ty);
        cell
    }

    /// Tells a class about the arrays in an object of that type.
    fn declare_arrays(&mut self, cell: Cell, ty: TypeId) {
        match self.types().get(ty) {
            Type::Array { element, .. } => {
                let element = *element;
                let size = self.types().size_of(element);
                self.nodes.add_array(cell, self.types().size_of(ty), size);
                self.declare_arrays(cell, element);
            }
            Type::Record(record) => {
                for field in &self.types().record(*record).fields {
                    if field.bit_width.is_none()
                        && matches!(
                            self.types().get(field.ty),
                            Type::Array { .. } | Type::Record(_)
                        )
                    {
                        let at = self.nodes.shift(cell, field.offset() as i64);
                        self.declare_arrays(at, field.ty);
                    }
                }
            }
            _ => {}
        }
    }

    fn function(&mut self, id: FuncId) -> Cell {
        if let Some(cell) = self.functions[id.index()] {
            return cell;
        }
        let cell = self.nodes.fresh();
        self.functions[id.index()] = Some(cell);
        self.nodes.add_function(cell, id);
        cell
    }

    fn place(&mut self, id: PlaceId) -> Cell {
        if let Some(cell) = self.places[id.index()] {
            return cell;
        }
        let place = self.program.place(id);
        let cell = match place.kind {
            PlaceKind::Var(variable) => self.variable(variable),
            PlaceKind::Deref(pointer) => match self.value(pointer) {
                Some(cell) => cell,
                None => self.nodes.fresh(),
            },
            PlaceKind::Field(base, index) => {
                let at = self.place(base);
                match self.types().get(self.program.place(base).ty) {
                    Type::Record(record) => {
                        let offset = self.types().record(*record).fields[index as usize].offset();
                        self.nodes.shift(at, offset as i64)
                    }
                    _ => at,
                }
            }
            PlaceKind::Index(base, _) => {
                let at = self.place(base);
                let element = self.types().size_of(place.ty);
                // A flexible member's length is not in its type.
                let length = match self.types().size_of(self.program.place(base).ty) {
                    0 => 1 << 40,
                    known => known,
                };
                self.nodes.add_array(at, length, element);
                at
            }
        };
        self.places[id.index()] = Some(cell);
        cell
    }

    fn wide(&self, ty: TypeId) -> bool {
        let pointer = self.types().model().pointer_size() as u32 * 8;
        match self.types().get(ty) {
            Type::Pointer(_) => true,
            Type::Int { width, .. } => *width >= pointer,
            _ => false,
        }
    }

    /// What the value of an expression points to, if it can be (a part of) a pointer.
    fn value(&mut self, id: ExprId) -> Option<Cell> {
        if let Some(known) = self.values[id.index()] {
            return known;
        }
        let expr = self.program.expr(id);
        let cell = match expr.kind {
            ExprKind::Load(place) => {
                let at = self.place(place);
                match self.types().get(expr.ty) {
                    Type::Int { .. } | Type::Pointer(_) => Some(self.nodes.pointee(at)),
                    _ => None,
                }
            }
            ExprKind::AddressOf(place) => Some(self.place(place)),
            ExprKind::Function(function) => Some(self.function(function)),
            ExprKind::Unary(UnaryOp::Negate | UnaryOp::BitNot, operand) if self.wide(expr.ty) => {
                self.blurred(&[operand])
            }
            ExprKind::Binary(op, left, right) if self.wide(expr.ty) => match op {
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor => self.blurred(&[left, right]),
                BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Div | BinaryOp::Rem => {
                    self.blurred(&[left])
                }
                _ => None,
            },
            ExprKind::PointerAdd {
                pointer,
                index,
                scale,
            } => {
                let base = self.value(pointer);
                base.map(|base| match self.program.expr(index).kind {
                    ExprKind::Int(0) => base,
                    // Bytes counted from a pointer: `container_of` and its kin.
                    ExprKind::Int(bits) if scale == 1 => {
                        let bytes = match self.types().bit_width(self.program.expr(index).ty) {
                            Some(32) => i64::from(bits as u32 as i32),
                            _ => bits as i64,
                        };
                        self.nodes.shift(base, bytes)
                    }
                    _ => self.nodes.step(base, scale),
                })
            }
            ExprKind::Convert(operand) => {
                let narrow = !self.wide(self.program.expr(operand).ty);
                match self.types().get(expr.ty) {
                    Type::Int { .. } | Type::Pointer(_) if !(narrow && self.wide(expr.ty)) => {
                        self.value(operand)
                    }
                    _ => None,
                }
            }
            ExprKind::Conditional {
                then, otherwise, ..
            } => match (self.value(then), self.value(otherwise)) {
                (Some(a), Some(b)) => {
                    self.nodes.unify(a, b);
                    Some(a)
                }
                (a, b) => a.or(b),
            },
            _ => None,
        };
        self.values[id.index()] = Some(cell);
        cell
    }

    /// What integer arithmetic makes of pointers: something in the same objects, anywhere.
    fn blurred(&mut self, operands: &[ExprId]) -> Option<Cell> {
        let mut result: Option<Cell> = None;
        for &operand in operands {
            if let Some(cell) = self.value(operand) {
                self.nodes.collapse(cell);
                if let Some(other) = result {
                    self.nodes.unify(other, cell);
                }
                result = Some(cell);
            }
        }
        result
    }

    /// The value goes to the scalar at a cell.
    fn flow(&mut self, value: Option<Cell>, to: Cell) {
        if let Some(value) = value {
            let pointee = self.nodes.pointee(to);
            self.nodes.unify(pointee, value);
        }
    }

    /// A value of any type goes to a cell.
    fn assign(&mut self, to: Cell, value: ExprId) {
        let ty = self.program.expr(value).ty;
        if self.types().is_scalar(ty) {
            self.access(to, ty, None);
            let value = self.value(value);
            self.flow(value, to);
        } else if let ExprKind::Load(place) = self.program.expr(value).kind {
            let from = self.place(place);
            for (offset, leaf, bits) in leaves(self.types(), ty) {
                let source = self.nodes.shift(from, offset as i64);
                let target = self.nodes.shift(to, offset as i64);
                self.access(source, leaf, bits);
                self.access(target, leaf, bits);
                let value = Some(self.nodes.pointee(source));
                self.flow(value, target);
            }
        }
    }

    fn access(&mut self, cell: Cell, ty: TypeId, bits: Option<(u32, u32)>) {
        let size = match bits {
            Some((first, width)) => u64::from((first + width).div_ceil(8)),
            None => self.types().size_of(ty),
        };
        self.nodes.access(cell, size);
    }

    /// A place is read or written as a whole.
    fn touch(&mut self, id: PlaceId) {
        let place = self.program.place(id);
        let at = self.place(id);
        if self.types().is_scalar(place.ty) {
            let bits = bit_field(self.program, id);
            self.access(at, place.ty, bits);
        } else {
            for (offset, leaf, bits) in leaves(self.types(), place.ty) {
                let part = self.nodes.shift(at, offset as i64);
                self.access(part, leaf, bits);
            }
        }
    }

    /// Anything may be written to a place: pointers in it come from outside.
    fn havoc(&mut self, place: PlaceId) {
        self.touch(place);
        let at = self.place(place);
        let ty = self.program.place(place).ty;
        let parts = if self.types().is_scalar(ty) {
            vec![(0, ty, None)]
        } else {
            leaves(self.types(), ty)
        };
        for (offset, leaf, _) in parts {
            self.allow_outside(at, offset, leaf);
        }
    }

    /// The scalar at an offset of a cell, if a pointer, may come from outside.
    fn allow_outside(&mut self, at: Cell, offset: u64, leaf: TypeId) {
        if let Type::Pointer(to) = *self.types().get(leaf) {
            let part = self.nodes.shift(at, offset as i64);
            let outside = self.outside(to);
            self.flow(Some(outside), part);
        }
    }

    fn outside(&mut self, ty: TypeId) -> Cell {
        if let Some(&cell) = self.outside.get(&ty) {
            return cell;
        }
        let cell = self.nodes.fresh();
        self.nodes.content(cell).external = true;
        self.outside.insert(ty, cell);
        cell
    }

    fn initial_values(&mut self) {
        for (index, variable) in self.program.variables.iter().enumerate() {
            let cell = self.variable(VarId(index as u32));
            if variable.initial == Initial::Unknown {
                for (offset, leaf, _) in leaves(self.types(), variable.ty) {
                    self.allow_outside(cell, offset, leaf);
                }
            }
            let Initial::Data(parts) = &variable.initial else {
                continue;
            };
            for part in parts {
                let at = self.nodes.shift(cell, (part.offset_bits / 8) as i64);
                // What an initialiser writes counts as an access: a region must not hold a part
                // of it only.
                match &part.value {
                    InitialValue::Scalar(expr) => {
                        self.access(at, self.program.expr(*expr).ty, None);
                        let value = self.value(*expr);
                        self.flow(value, at);
                    }
                    InitialValue::Bits(expr, width) => {
                        let bits = Some(((part.offset_bits % 8) as u32, *width));
                        self.access(at, self.program.expr(*expr).ty, bits);
                    }
                    InitialValue::Bytes(bytes) => {
                        for index in 0..bytes.len() {
                            let byte = self.nodes.shift(at, index as i64);
                            self.nodes.access(byte, 1);
                        }
                    }
                }
            }
        }
    }

    fn edge(&mut self, id: EdgeId) {
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
                let to = self.place(*place);
                self.flow(Some(object), to);
            }
            Op::CopyMemory { to, from, .. } => {
                if let (Some(to), Some(from)) = (self.value(*to), self.value(*from)) {
                    self.nodes.unify(to, from);
                }
            }
            Op::VaArg { place, .. } => {
                self.touch(*place);
                let variadic = self.variadic();
                let to = self.place(*place);
                self.flow(Some(variadic), to);
            }
            Op::Skip
            | Op::Assume { .. }
            | Op::HavocMemory { .. }
            | Op::Declare { .. }
            | Op::EndScope { .. }
            | Op::Free { .. }
            | Op::FillMemory { .. }
            | Op::VaStart { .. }
            | Op::VaCopy { .. }
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
            } else if let Some(value) = self.value(argument) {
                let variadic = self.variadic();
                self.nodes.unify(variadic, value);
            }
        }
        if let (Some(place), Some(returned)) = (result, function.result) {
            self.touch(place);
            let to = self.place(place);
            let from = self.variable(returned);
            let ty = self.program.place(place).ty;
            let parts = if self.types().is_scalar(ty) {
                vec![(0, ty, None)]
            } else {
                leaves(self.types(), ty)
            };
            for (offset, _, _) in parts {
                let source = self.nodes.shift(from, offset as i64);
                let target = self.nodes.shift(to, offset as i64);
                let value = Some(self.nodes.pointee(source));
                self.flow(value, target);
            }
        }
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

    fn finish(mut self) -> PointsTo {
        let roots: Vec<u32> = self.nodes.roots().collect();
        let ids: HashMap<u32, ClassId> = roots
            .iter()
            .enumerate()
            .map(|(i, &root)| (root, ClassId(i as u32)))
            .collect();
        let nodes = &mut self.nodes;
        let mut spot = |cell: Option<Cell>| {
            cell.map(|cell| {
                let at = nodes.find(cell);
                Spot {
                    class: ids[&at.node],
                    offset: at.offset,
                }
            })
        };
        let places = self.places.iter().map(|&cell| spot(cell)).collect();
        let variables = self.variables.iter().map(|&cell| spot(cell)).collect();
        let pointers = self
            .values
            .iter()
            .map(|value| spot(value.flatten()))
            .collect();
        let mut targets: BTreeMap<EdgeId, Vec<FuncId>> = BTreeMap::new();
        for &(call, function) in &self.linked {
            targets.entry(call).or_default().push(function);
        }
        let mut classes = Vec::with_capacity(roots.len());
        let mut layouts = Vec::with_capacity(roots.len());
        let mut folds = Vec::with_capacity(roots.len());
        for &root in &roots {
            let content = self.nodes.content(Cell {
                node: root,
                offset: 0,
            });
            classes.push(Class {
                collapsed: content.collapsed,
                variables: content.variables.iter().copied().collect(),
                allocations: content.allocations.iter().copied().collect(),
                functions: content.functions.iter().copied().collect(),
                external: content.external,
            });
            folds.push(content.fold());
            layouts.push(regions::Layout::of(content));
        }
        let regions = regions::Regions::of(layouts);
        PointsTo {
            classes,
            places,
            variables,
            pointers,
            targets,
            regions,
            folds,
        }
    }
}
