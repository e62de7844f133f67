//! Collects what a program does with pointers, and unifies what they may point to.

use super::content::Cell;
use super::nodes::Nodes;
use super::{Class, ClassId, PointsTo, Spot, bit_field, leaves, regions};
use crate::ids::{EdgeId, ExprId, FuncId, PlaceId, TypeId, VarId};
use crate::indices::Indices;
use crate::program::{BinaryOp, ExprKind, Initial, InitialValue, PlaceKind, Program, UnaryOp};
use crate::types::{Type, Types};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A scalar in an object: where it lies, its type, and for a bit-field its bits.
type Part = (Cell, TypeId, Option<(u32, u32)>);

pub(super) struct Solver<'a> {
    pub program: &'a Program,
    pub nodes: Nodes,
    pub variables: Vec<Option<Cell>>,
    pub functions: Vec<Option<Cell>>,
    pub places: Vec<Option<Cell>>,
    pub values: Vec<Option<Option<Cell>>>,
    /// Objects from outside, by the type of what they hold.
    pub outside: HashMap<TypeId, Cell>,
    /// What variadic arguments point to: one class for the whole program, since a `va_list` may
    /// be handed on.
    pub variadic: Option<Cell>,
    /// What functions without a body may know and change: everything that was ever handed to
    /// one, and all that can be reached from there.
    pub world: Option<Cell>,
    /// Pointers that are compared: one from outside may be the one that it is compared with.
    pub compared: Vec<(Cell, Cell)>,
    /// Objects that bytes from outside are written to, and where pointers in those lead.
    pub filled: Vec<(Cell, Cell)>,
    /// Pointers that are subtracted.
    pub subtracted: Vec<(Cell, Cell)>,
    pub allocations: Vec<(EdgeId, Cell)>,
    pub indirect: Vec<EdgeId>,
    pub linked: BTreeSet<(EdgeId, FuncId)>,
}

impl<'a> Solver<'a> {
    pub fn new(program: &'a Program) -> Solver<'a> {
        Solver {
            program,
            nodes: Nodes::default(),
            variables: vec![None; program.variables.len()],
            functions: vec![None; program.functions.len()],
            places: vec![None; program.places.len()],
            values: vec![None; program.exprs.len()],
            outside: HashMap::new(),
            variadic: None,
            world: None,
            compared: Vec::new(),
            filled: Vec::new(),
            subtracted: Vec::new(),
            allocations: Vec::new(),
            indirect: Vec::new(),
            linked: BTreeSet::new(),
        }
    }

    pub fn types(&self) -> &'a Types {
        &self.program.types
    }

    pub fn variable(&mut self, id: VarId) -> Cell {
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
                        let at = self.nodes.member(cell, field.offset() as i64);
                        self.declare_arrays(at, field.ty);
                    }
                }
            }
            _ => {}
        }
    }

    pub fn function(&mut self, id: FuncId) -> Cell {
        if let Some(cell) = self.functions[id.index()] {
            return cell;
        }
        let cell = self.nodes.fresh();
        self.functions[id.index()] = Some(cell);
        self.nodes.add_function(cell, id);
        cell
    }

    pub fn place(&mut self, id: PlaceId) -> Cell {
        if let Some(cell) = self.places[id.index()] {
            return cell;
        }
        let place = self.program.place(id);
        let cell = match place.kind {
            PlaceKind::Var(variable) => self.variable(variable),
            PlaceKind::Deref(pointer) => {
                let cell = match self.value(pointer) {
                    Some(cell) => cell,
                    None => self.nodes.fresh(),
                };
                if !self.types().is_scalar(place.ty) {
                    self.nodes.view(cell, self.types().size_of(place.ty));
                }
                cell
            }
            PlaceKind::Field(base, index) => {
                let at = self.place(base);
                match self.types().get(self.program.place(base).ty) {
                    Type::Record(record) => {
                        let offset = self.types().record(*record).fields[index as usize].offset();
                        self.nodes.member(at, offset as i64)
                    }
                    _ => at,
                }
            }
            PlaceKind::Index(base, index) => {
                let at = self.place(base);
                let element = self.types().size_of(place.ty);
                // The length of a flexible member is not in its type.
                let length = match self.types().size_of(self.program.place(base).ty) {
                    _ if self.program.is_flexible(base) => 1 << 40,
                    0 => 1 << 40,
                    known => known,
                };
                self.nodes.add_array(at, length, element);
                match self.constant(index) {
                    // An index that is known may name something beside the array.
                    Some(index) if !self.is_inside(index, element, length) => {
                        let bytes = index.saturating_mul(element as i64);
                        self.nodes.shift(at, bytes)
                    }
                    None if self.leaves_array(base) => {
                        self.nodes.collapse(at);
                        at
                    }
                    // Any other one is in the array: lowering sees to that.
                    _ => at,
                }
            }
        };
        self.places[id.index()] = Some(cell);
        cell
    }

    /// Whether an index that is not known may leave an array for what lies beside it.
    fn leaves_array(&self, array: PlaceId) -> bool {
        self.program.indices == Indices::Anywhere
            && !matches!(self.program.place(array).kind, PlaceKind::Var(_))
    }

    fn is_inside(&self, index: i64, element: u64, length: u64) -> bool {
        index >= 0 && (index as u64).saturating_mul(element) < length
    }

    /// The value of a constant expression, as a signed number.
    pub fn constant(&self, id: ExprId) -> Option<i64> {
        let expr = self.program.expr(id);
        let ExprKind::Int(bits) = expr.kind else {
            return None;
        };
        let width = self.types().bit_width(expr.ty)?.clamp(1, 64);
        let unused = 64 - width;
        Some(((bits as u64) << unused) as i64 >> unused)
    }

    /// Whether values of the type are as wide as pointers and hold their bits as they are.
    fn wide(&self, ty: TypeId) -> bool {
        let pointer = self.types().model().pointer_size() as u32 * 8;
        match self.types().get(ty) {
            Type::Pointer(_) => true,
            Type::Int { width, .. } => *width == pointer,
            _ => false,
        }
    }

    /// What the value of an expression points to, if it can be (a part of) a pointer. The bits of
    /// a pointer travel through values of every type; only what they decide, by comparisons and
    /// branches, does not carry them on.
    pub fn value(&mut self, id: ExprId) -> Option<Cell> {
        if let Some(known) = self.values[id.index()] {
            return known;
        }
        let expr = self.program.expr(id);
        let cell = match expr.kind {
            ExprKind::Load(place) => {
                let at = self.place(place);
                self.types()
                    .is_scalar(expr.ty)
                    .then(|| self.nodes.pointee(at))
            }
            ExprKind::AddressOf(place) => {
                let cell = self.place(place);
                if let PlaceKind::Index(base, index) = self.program.place(place).kind
                    && self.constant(index) != Some(0)
                {
                    let array = self.place(base);
                    let element = self.types().size_of(self.program.place(place).ty);
                    self.nodes.enter(array, element);
                }
                Some(cell)
            }
            ExprKind::Function(function) => Some(self.function(function)),
            ExprKind::Unary(op, operand) => match op {
                UnaryOp::Negate | UnaryOp::BitNot | UnaryOp::ByteSwap | UnaryOp::FloatAbs => {
                    self.blurred(&[operand])
                }
                UnaryOp::FloatFloor
                | UnaryOp::FloatCeil
                | UnaryOp::FloatTrunc
                | UnaryOp::FloatRound
                | UnaryOp::FloatRint => self.blurred(&[operand]),
                UnaryOp::Not
                | UnaryOp::PopCount
                | UnaryOp::LeadingZeros
                | UnaryOp::TrailingZeros
                | UnaryOp::FloatSqrt
                | UnaryOp::IsNan
                | UnaryOp::IsInfinite
                | UnaryOp::IsFinite
                | UnaryOp::IsNormal
                | UnaryOp::SignBit => None,
            },
            ExprKind::Binary(op, left, right) => match op {
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::CopySign => self.blurred(&[left, right]),
                BinaryOp::Shl
                | BinaryOp::Shr
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::FloatMod => self.blurred(&[left]),
                BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge => {
                    if self.wide(self.program.expr(left).ty)
                        && let (Some(a), Some(b)) = (self.value(left), self.value(right))
                    {
                        self.compared.push((a, b));
                    }
                    None
                }
                BinaryOp::And | BinaryOp::Or => None,
            },
            ExprKind::Rounded { op, operands, .. } => self.blurred(&operands[..op.arity()]),
            ExprKind::PointerAdd {
                pointer,
                index,
                scale,
            } => {
                let base = self.value(pointer);
                base.map(|base| match self.constant(index) {
                    Some(count) => {
                        let bytes = count.saturating_mul(scale as i64);
                        self.nodes.shift(base, bytes)
                    }
                    None => self.nodes.step(base, scale),
                })
            }
            ExprKind::Convert(operand) => {
                let from = self.program.expr(operand).ty;
                if matches!(self.types().get(expr.ty), Type::Bool) {
                    None
                } else if self.wide(from) && self.wide(expr.ty) {
                    self.value(operand)
                } else {
                    // A part of a pointer, or a part on its way to being one again.
                    self.blurred(&[operand])
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
            // The distance of two objects, added to one of them, leads to the other one.
            ExprKind::PointerDifference { left, right, .. } => {
                if let (Some(a), Some(b)) = (self.value(left), self.value(right)) {
                    self.subtracted.push((a, b));
                }
                None
            }
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Overflows { .. }
            | ExprKind::ValidAccess { .. }
            | ExprKind::ValidFree { .. }
            | ExprKind::PointsToConstant { .. }
            | ExprKind::HeapIs { .. }
            | ExprKind::ObjectSize { .. }
            | ExprKind::Open { .. } => None,
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
    pub fn flow(&mut self, value: Option<Cell>, to: Cell) {
        if let Some(value) = value {
            let pointee = self.nodes.pointee(to);
            self.nodes.unify(pointee, value);
        }
    }

    /// A value of any type goes to a cell.
    pub fn assign(&mut self, to: Cell, value: ExprId) {
        let ty = self.program.expr(value).ty;
        if self.types().is_scalar(ty) {
            self.access(to, ty, None);
            let value = self.value(value);
            self.flow(value, to);
        } else if let ExprKind::Load(place) = self.program.expr(value).kind {
            let from = self.place(place);
            self.copy_object(from, to, ty);
        }
    }

    /// An object of a type that is not scalar goes from one cell to another.
    pub fn copy_object(&mut self, from: Cell, to: Cell, ty: TypeId) {
        self.declare_arrays(from, ty);
        self.declare_arrays(to, ty);
        for (offset, leaf, bits) in leaves(self.types(), ty) {
            let source = self.nodes.member(from, offset as i64);
            let target = self.nodes.member(to, offset as i64);
            self.access(source, leaf, bits);
            self.access(target, leaf, bits);
            let value = Some(self.nodes.pointee(source));
            self.flow(value, target);
        }
    }

    pub fn access(&mut self, cell: Cell, ty: TypeId, bits: Option<(u32, u32)>) {
        let size = match bits {
            Some((first, width)) => u64::from((first + width).div_ceil(8)),
            None => self.types().size_of(ty),
        };
        self.nodes.access(cell, size);
    }

    /// The scalars of an object at a cell; an array contributes its first element, and the class
    /// knows that the others are like it.
    pub fn scalars(&mut self, at: Cell, ty: TypeId) -> Vec<Part> {
        if self.types().is_scalar(ty) {
            return vec![(at, ty, None)];
        }
        self.declare_arrays(at, ty);
        leaves(self.types(), ty)
            .into_iter()
            .map(|(offset, leaf, bits)| (self.nodes.member(at, offset as i64), leaf, bits))
            .collect()
    }

    /// A place is read or written as a whole.
    pub fn touch(&mut self, id: PlaceId) {
        let ty = self.program.place(id).ty;
        let at = self.place(id);
        let bits = bit_field(self.program, id);
        if bits.is_some() {
            self.access(at, ty, bits);
            return;
        }
        for (part, leaf, bits) in self.scalars(at, ty) {
            self.access(part, leaf, bits);
        }
    }

    /// Anything may be written to a place: pointers in it come from outside.
    pub fn havoc(&mut self, place: PlaceId) {
        self.touch(place);
        let at = self.place(place);
        self.allow_outside(at, self.program.place(place).ty);
    }

    /// The pointers in an object at a cell may come from outside.
    pub fn allow_outside(&mut self, at: Cell, ty: TypeId) {
        for (part, leaf, _) in self.scalars(at, ty) {
            if let Type::Pointer(to) = *self.types().get(leaf) {
                let outside = self.outside(to);
                self.flow(Some(outside), part);
            }
        }
    }

    /// What functions without a body know.
    pub fn world(&mut self) -> Cell {
        if let Some(world) = self.world {
            return world;
        }
        let world = self.nodes.fresh();
        self.world = Some(world);
        self.nodes.content(world).external = true;
        self.nodes.collapse(world);
        self.flow(Some(world), world);
        world
    }

    /// The contents of an object become known to functions without a body, and what these know
    /// may be in it.
    pub fn tell_world(&mut self, at: Cell, ty: TypeId) {
        let world = self.world();
        for (part, _, _) in self.scalars(at, ty) {
            self.flow(Some(world), part);
        }
    }

    pub fn outside(&mut self, ty: TypeId) -> Cell {
        if let Some(&cell) = self.outside.get(&ty) {
            return cell;
        }
        let cell = self.nodes.fresh();
        self.nodes.content(cell).external = true;
        self.outside.insert(ty, cell);
        // What lies in it comes from outside, too. Where no type says what kind of object that is,
        // each has its own.
        if !matches!(self.types().get(ty), Type::Void | Type::Function { .. }) {
            for (part, leaf, _) in self.scalars(cell, ty) {
                if let Type::Pointer(to) = *self.types().get(leaf)
                    && !matches!(self.types().get(to), Type::Void | Type::Function { .. })
                {
                    let outside = self.outside(to);
                    self.flow(Some(outside), part);
                }
            }
        }
        cell
    }

    pub fn initial_values(&mut self) {
        for (index, variable) in self.program.variables.iter().enumerate() {
            let cell = self.variable(VarId(index as u32));
            if variable.initial == Initial::Unknown {
                self.allow_outside(cell, variable.ty);
            }
            let Initial::Data(parts) = &variable.initial else {
                continue;
            };
            for part in parts {
                let at = self.nodes.member(cell, (part.offset_bits / 8) as i64);
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
                            let byte = self.nodes.member(at, index as i64);
                            self.nodes.access(byte, 1);
                        }
                    }
                }
            }
        }
    }

    pub fn finish(mut self) -> PointsTo {
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
        let allocations = self
            .allocations
            .iter()
            .filter_map(|&(edge, cell)| Some((edge, spot(Some(cell))?)))
            .collect();
        let mut targets: BTreeMap<EdgeId, Vec<FuncId>> = BTreeMap::new();
        for &(call, function) in &self.linked {
            targets.entry(call).or_default().push(function);
        }
        let variadic = spot(self.variadic);
        let mut pointees = BTreeMap::new();
        for &node in &roots {
            let held = self
                .nodes
                .content(Cell { node, offset: 0 })
                .pointees
                .clone();
            for (offset, cell) in held {
                let at = self.nodes.find(cell);
                let class = ids[&node];
                let pointee = Spot {
                    class: ids[&at.node],
                    offset: at.offset,
                };
                pointees.insert(Spot { class, offset }, pointee);
            }
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
            allocations,
            pointees,
            variadic,
            regions,
            folds,
        }
    }
}
