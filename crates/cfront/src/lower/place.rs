//! Lvalues become places.

use super::Lower;
use super::TEXT;
use super::body::Storage;
use crate::ids::{ExprId, PlaceId, TypeId};
use crate::program::*;
use crate::types::Type;
use rucc_ast::{BinaryOp as AstBinary, UnaryOp as AstUnary};
use rucc_sema as sema;
use rucc_types as rt;

impl Lower<'_> {
    /// The place that an lvalue names, or one that holds a record's value.
    pub(super) fn place(&mut self, id: sema::ExprId) -> PlaceId {
        let node = self.unit.tree[id];
        match node.kind {
            sema::ExprKind::Decl(decl) => {
                let storage = self.storage(decl);
                let place = self.storage_place(storage);
                let place = self.as_declared(decl, place);
                if !self.may_be_absent(decl) {
                    return place;
                }
                let address = self.address(place);
                let address = self.unless_absent(decl, address);
                self.b
                    .place(PlaceKind::Deref(address), self.place_ty(place))
            }
            sema::ExprKind::Str(string) => {
                let source = self.unit.source(self.unit.tree.expr_span(id));
                let var = self.string(string, source);
                self.b.var_place(var)
            }
            sema::ExprKind::Member { base, field } => self.member(base, field),
            sema::ExprKind::Subscript { base, index } => self.subscript(id, base, index),
            sema::ExprKind::Unary {
                op: AstUnary::Deref,
                operand,
            } => self.deref(id, operand),
            sema::ExprKind::CompoundLiteral(decl) => self.compound_literal(decl),
            sema::ExprKind::Unary {
                op: AstUnary::Real | AstUnary::Imag,
                ..
            } => {
                let ty = self.ty(node.ty);
                self.at_expr(id);
                self.unsupported("a complex number");
                self.temporary(ty)
            }
            _ => self.record_value(id),
        }
    }

    /// The place of a variable with the type that this unit gives it, where another unit gives
    /// it another one.
    fn as_declared(&mut self, decl: sema::DeclId, place: PlaceId) -> PlaceId {
        if self.unit.tree[decl].linkage == sema::Linkage::None {
            return place;
        }
        let ours = self.unit.tree[decl].ty;
        let ours = self.ty(ours);
        let theirs = self.place_ty(place);
        let array = matches!(
            (self.b.types.get(ours), self.b.types.get(theirs)),
            (Type::Array { element: a, .. }, Type::Array { element: b, .. }) if a == b
        );
        if ours == theirs || array || self.unit.tree.extent(decl) > 0 {
            return place;
        }
        let address = self.address(place);
        self.behind(address, ours)
    }

    pub(super) fn storage_place(&mut self, storage: Storage) -> PlaceId {
        match storage {
            Storage::Variable(var) => self.b.var_place(var),
            Storage::Behind(pointer) => {
                let place = self.b.var_place(pointer);
                let pointer = self.b.load(place);
                let Type::Pointer(to) = *self.b.types.get(self.b.ty_of(pointer)) else {
                    unreachable!("the hidden variable of an array is a pointer")
                };
                self.b.place(PlaceKind::Deref(pointer), to)
            }
        }
    }

    fn member(&mut self, base: sema::ExprId, field: u32) -> PlaceId {
        let base_ty = self.unit.tree[base].ty;
        let rt::TypeKind::Record(record) = self.bare(base_ty) else {
            let ty = self.ty(base_ty);
            self.unsupported("a member of something that is not a record");
            return self.temporary(ty);
        };
        if self.unit.types.record_info(record).variable.is_some() {
            self.unsupported("a struct with a member of variable length");
        }
        if self.unit.types.record_info(record).reverse {
            self.unsupported("a struct with a storage order of its own");
        }
        let base = self.place(base);
        let position = self.field_position(record, field);
        let declared = self.unit.types.record_info(record).fields[field as usize].ty;
        let declared = self.ty(declared);
        match (position, self.b.types.get(self.place_ty(base))) {
            (Some(position), Type::Record(ours)) => {
                // An object whose initialiser gave a flexible member a length has a type of its
                // own, so ask that one.
                let fields = &self.b.types.record(*ours).fields;
                let ty = fields.get(position as usize).map_or(declared, |f| f.ty);
                self.b.place(PlaceKind::Field(base, position), ty)
            }
            _ => self.temporary(declared),
        }
    }

    /// The array behind a pointer expression that is a decayed array, if it is one with a
    /// length that is part of its type.
    fn decayed_array(&mut self, id: sema::ExprId) -> Option<sema::ExprId> {
        let sema::ExprKind::Convert {
            kind: sema::Conversion::ArrayDecay,
            operand,
        } = self.unit.tree[id].kind
        else {
            return None;
        };
        match self.bare(self.unit.tree[operand].ty) {
            rt::TypeKind::Array {
                len: rt::ArrayLen::Variable(_),
                ..
            } => None,
            rt::TypeKind::Array { elem, .. } if self.is_variable_size(elem) => None,
            _ => Some(operand),
        }
    }

    fn subscript(&mut self, id: sema::ExprId, base: sema::ExprId, index: sema::ExprId) -> PlaceId {
        if let rt::TypeKind::Vector { .. } = self.bare(self.unit.tree[base].ty) {
            let ty = self.unit.tree[id].ty;
            let ty = self.ty(ty);
            self.unsupported("a vector");
            return self.temporary(ty);
        }
        let element = self.unit.tree[id].ty;
        match self.decayed_array(base) {
            Some(array) => {
                let place = self.place(array);
                let place = self.keep_place(place, self.effects.of(index));
                self.index(id, place, index)
            }
            None => {
                let pointer = self.value(base);
                let pointer = self.keep_for(pointer, self.effects.of(index));
                let index = self.index_value(index);
                self.at_expr(id);
                let pointer = self.moved_by(pointer, index, element, AstBinary::Add);
                self.deref_place(pointer, element)
            }
        }
    }

    fn index(&mut self, id: sema::ExprId, array: PlaceId, index: sema::ExprId) -> PlaceId {
        let index = self.index_value(index);
        self.at_expr(id);
        self.check_index(array, index);
        self.confine_index(array, index);
        self.index_place(array, index)
    }

    /// An index that leaves an array inside of an object names something else in the object. The
    /// logic keeps the two apart, so its proofs are about the other executions.
    fn confine_index(&mut self, array: PlaceId, index: ExprId) {
        if matches!(self.b.places[array.index()].kind, PlaceKind::Var(_))
            || self.b.constant(index).is_some()
        {
            return;
        }
        let Type::Array { length, .. } = *self.b.types.get(self.place_ty(array)) else {
            return;
        };
        let int = self.int_ty();
        let good = if length == 0 || is_flexible(&self.b.places, &self.b.types, array) {
            let zero = self.b.zero(self.b.ty_of(index));
            self.b.binary(BinaryOp::Ge, index, zero, int)
        } else {
            let size = self.size_ty();
            let unsigned = self.b.convert(index, size);
            let length = self.b.int(i128::from(length), size);
            self.b.binary(BinaryOp::Lt, unsigned, length, int)
        };
        self.confine(
            good,
            "an index outside of an array that is a part of an object",
        );
    }

    /// An element of an array place.
    pub(super) fn index_place(&mut self, array: PlaceId, index: ExprId) -> PlaceId {
        let Type::Array { element, .. } = *self.b.types.get(self.place_ty(array)) else {
            unreachable!("only arrays decay")
        };
        self.b.place(PlaceKind::Index(array, index), element)
    }

    /// An index as a `ptrdiff_t`.
    pub(super) fn index_value(&mut self, index: sema::ExprId) -> ExprId {
        let value = self.value(index);
        let intptr = self.b.types.intptr();
        self.b.convert(value, intptr)
    }

    fn deref(&mut self, id: sema::ExprId, operand: sema::ExprId) -> PlaceId {
        let ty = self.unit.tree[id].ty;
        if let Some(array) = self.decayed_array(operand) {
            let place = self.place(array);
            let intptr = self.b.types.intptr();
            let zero = self.b.int(0, intptr);
            self.at_expr(id);
            return self.index_place(place, zero);
        }
        match self.unit.tree[operand].kind {
            // `*&x` is `x`.
            sema::ExprKind::Unary {
                op: AstUnary::AddrOf,
                operand,
            } => return self.place(operand),
            // `*(a + i)` is `a[i]`.
            sema::ExprKind::Binary {
                op: AstBinary::Add,
                lhs,
                rhs,
            } => {
                if let Some(array) = self.decayed_array(lhs) {
                    let place = self.place(array);
                    let place = self.keep_place(place, self.effects.of(rhs));
                    return self.index(id, place, rhs);
                }
            }
            _ => {}
        }
        let pointer = self.value(operand);
        self.at_expr(id);
        self.deref_place(pointer, ty)
    }

    /// What a pointer points to.
    fn deref_place(&mut self, pointer: ExprId, ty: rt::TypeId) -> PlaceId {
        let ty = self.ty(ty);
        // `*&x` is `x`, unless the pointer was cast.
        if let ExprKind::AddressOf(place) = self.b.exprs[pointer.index()].kind
            && self.place_ty(place) == ty
        {
            return place;
        }
        self.b.place(PlaceKind::Deref(pointer), ty)
    }

    /// The place of an lvalue that is read or written, with the checks that were asked for.
    pub(super) fn access(&mut self, id: sema::ExprId) -> PlaceId {
        let place = self.place(id);
        self.check_place(id, place);
        place
    }

    /// The place of an lvalue that is written, with the checks that were asked for.
    pub(super) fn access_to_write(&mut self, id: sema::ExprId) -> PlaceId {
        let place = self.access(id);
        let mut at = place;
        // What the language knows to be constant is not assigned to; a pointer may lead there, also
        // one that is only a cast of an address.
        let pointer = loop {
            match self.b.places[at.index()].kind {
                PlaceKind::Var(variable) if self.b.variables[variable.index()].read_only => {
                    break self.address(at);
                }
                PlaceKind::Var(_) => return place,
                PlaceKind::Deref(pointer) => break pointer,
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => at = base,
            }
        };
        self.at_expr(id);
        self.check_writable(pointer);
        place
    }

    /// Checks that what a pointer points to may be written.
    pub(super) fn check_writable(&mut self, pointer: ExprId) {
        if self.b.options.wants(CheckKind::Constant) {
            let int = self.int_ty();
            let constant = self.b.expr(ExprKind::PointsToConstant { pointer }, int);
            let message = format!("write to a constant in {TEXT}");
            self.check(CheckKind::Constant, constant, message);
        }
    }

    /// Checks the indices and the pointer on the way to a place. Just taking an address is no
    /// access: `&a[n]` may point behind the array.
    pub(super) fn check_place(&mut self, id: sema::ExprId, place: PlaceId) {
        self.check_alignment(id, place);
        let bounds = self.b.options.wants(CheckKind::Bounds);
        if !bounds && !self.b.options.wants(CheckKind::Pointer) {
            return;
        }
        let mut indices = Vec::new();
        let mut at = place;
        let pointer = loop {
            match self.b.places[at.index()].kind {
                PlaceKind::Var(_) => break None,
                PlaceKind::Deref(pointer) => break Some(pointer),
                PlaceKind::Field(base, _) => at = base,
                PlaceKind::Index(base, index) => {
                    indices.push((base, index));
                    at = base;
                }
            }
        };
        self.at_expr(id);
        if let Some(pointer) = pointer {
            self.check_null(pointer);
        }
        let kind = match bounds {
            true => CheckKind::Bounds,
            false => CheckKind::Pointer,
        };
        // The object decides where no index does.
        let mut object = pointer.is_some();
        for (array, index) in indices.into_iter().rev() {
            let Type::Array { length, .. } = *self.b.types.get(self.place_ty(array)) else {
                continue;
            };
            // A trailing array of length 0 or 1 behind a pointer may be longer than it says.
            if length == 0 || (length == 1 && pointer.is_some()) {
                object = true;
                continue;
            }
            let (size, int) = (self.size_ty(), self.int_ty());
            let unsigned = self.b.convert(index, size);
            let length = self.b.int(i128::from(length), size);
            let good = self.b.binary(BinaryOp::Lt, unsigned, length, int);
            self.require(kind, good, format!("index out of bounds in {TEXT}"));
        }
        if object {
            let (address, size) = self.bytes_of(place);
            self.check_valid(address, size);
        }
    }

    /// The first byte of a place and the number of its bytes; a bit-field has those that hold
    /// its bits.
    fn bytes_of(&mut self, place: PlaceId) -> (ExprId, u64) {
        if let PlaceKind::Field(base, field) = self.b.places[place.index()].kind
            && let Type::Record(record) = *self.b.types.get(self.place_ty(base))
            && let field = &self.b.types.record(record).fields[field as usize]
            && let Some(width) = field.bit_width
        {
            let (first, last) = (
                field.offset_bits / 8,
                (field.offset_bits + u64::from(width) - 1) / 8,
            );
            let address = self.address(base);
            let bytes = self.char_pointer();
            let address = self.b.convert(address, bytes);
            let intptr = self.b.types.intptr();
            let offset = self.b.int(i128::from(first), intptr);
            return (self.b.pointer_add(address, offset, 1), last - first + 1);
        }
        let size = self.b.types.size_of(self.place_ty(place));
        (self.address(place), size)
    }

    fn check_null(&mut self, mut pointer: ExprId) {
        if !self.b.options.wants(CheckKind::Pointer) {
            return;
        }
        // Of `p[i]`, it is `p` that must not be null.
        while let ExprKind::PointerAdd { pointer: base, .. } = self.b.exprs[pointer.index()].kind {
            pointer = base;
        }
        if let ExprKind::AddressOf(_) = self.b.exprs[pointer.index()].kind {
            return;
        }
        let int = self.int_ty();
        let null = self.b.zero(self.b.ty_of(pointer));
        let bad = self.b.binary(BinaryOp::Eq, pointer, null, int);
        self.check(CheckKind::Pointer, bad, format!("null pointer in {TEXT}"));
    }

    fn check_valid(&mut self, pointer: ExprId, size: u64) {
        let size_ty = self.size_ty();
        let size = self.b.int(i128::from(size), size_ty);
        self.check_valid_bytes(pointer, size);
    }

    fn check_valid_bytes(&mut self, pointer: ExprId, size: ExprId) {
        let int = self.int_ty();
        let kind = if self.b.options.wants(CheckKind::Bounds) {
            CheckKind::Bounds
        } else {
            CheckKind::Pointer
        };
        let valid = self.b.expr(ExprKind::ValidAccess { pointer, size }, int);
        self.require(kind, valid, format!("invalid access in {TEXT}"));
    }

    /// Checks that so many bytes from a pointer on may be read or written.
    pub(super) fn check_access(&mut self, pointer: ExprId, size: u64) {
        let size_ty = self.size_ty();
        let size = self.b.int(i128::from(size), size_ty);
        self.check_access_of(pointer, size);
    }

    /// The same with a size that is computed.
    pub(super) fn check_access_of(&mut self, pointer: ExprId, size: ExprId) {
        if self.b.options.wants(CheckKind::Pointer) || self.b.options.wants(CheckKind::Bounds) {
            self.check_null(pointer);
            self.check_valid_bytes(pointer, size);
        }
    }

    /// A pointer moved by an index, with the check that was asked for; the elements may have a
    /// size that is computed.
    pub(super) fn moved_by(
        &mut self,
        pointer: ExprId,
        index: ExprId,
        element: rt::TypeId,
        op: AstBinary,
    ) -> ExprId {
        let moved = self.moved_anywhere(pointer, index, element, op);
        self.check_movement(index, element, moved);
        moved
    }

    fn moved_anywhere(
        &mut self,
        pointer: ExprId,
        mut index: ExprId,
        element: rt::TypeId,
        op: AstBinary,
    ) -> ExprId {
        let intptr = self.b.types.intptr();
        if op == AstBinary::Sub {
            index = self.b.unary(UnaryOp::Negate, index, intptr);
        }
        if self.is_variable_size(element) {
            let size = self.size_of_type(element);
            let size = self.b.convert(size, intptr);
            let bytes = self.b.binary(BinaryOp::Mul, index, size, intptr);
            return self.b.pointer_add(pointer, bytes, 1);
        }
        let ty = self.ty(element);
        // `s.a + i` is `&s.a[i]`, and stays in the array as that does.
        if let ExprKind::AddressOf(array) = self.b.exprs[pointer.index()].kind
            && let Type::Array { element, .. } = *self.b.types.get(self.place_ty(array))
            && element == ty
            && !matches!(self.b.places[array.index()].kind, PlaceKind::Var(_))
            && self.b.constant(index).is_none()
        {
            self.confine_index(array, index);
            let place = self.index_place(array, index);
            let to = self.b.ty_of(pointer);
            return self.b.address_of(place, to);
        }
        let scale = self.b.types.size_of(ty);
        self.b.pointer_add(pointer, index, scale)
    }

    /// The address of a place as a pointer to its type.
    pub(super) fn address(&mut self, place: PlaceId) -> ExprId {
        let ty = self.place_ty(place);
        let pointer = self.b.types.pointer(ty);
        self.b.address_of(place, pointer)
    }

    /// A place of that type behind a pointer.
    pub(super) fn behind(&mut self, pointer: ExprId, ty: TypeId) -> PlaceId {
        let to = self.b.types.pointer(ty);
        let pointer = self.b.convert(pointer, to);
        if let ExprKind::AddressOf(place) = self.b.exprs[pointer.index()].kind
            && self.place_ty(place) == ty
        {
            return place;
        }
        self.b.place(PlaceKind::Deref(pointer), ty)
    }
}
