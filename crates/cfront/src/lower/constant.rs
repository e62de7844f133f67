//! Constants: numbers, and addresses of what lives as long as the program.

use super::Lower;
use crate::ids::{ExprId, PlaceId, TypeId};
use crate::program::*;
use crate::types::Type;
use rucc_sema as sema;
use rucc_types as rt;

impl Lower<'_> {
    pub(super) fn constant(
        &mut self,
        id: sema::ExprId,
        constant: sema::Const,
        ty: rt::TypeId,
    ) -> ExprId {
        let ty = self.ty(ty);
        match self.constant_expr(constant, ty) {
            Some(expr) => expr,
            None => {
                self.at_expr(id);
                self.unsupported_value("a constant of this kind", ty)
            }
        }
    }

    /// A folded constant as an expression; `None` for what is not supported.
    pub(super) fn constant_expr(&mut self, constant: sema::Const, ty: TypeId) -> Option<ExprId> {
        match constant {
            sema::Const::Int(value) => Some(match self.b.types.get(ty) {
                Type::Float(_) => {
                    let int = self.b.types.int(128, true);
                    let value = self.b.int(value, int);
                    self.b.convert(value, ty)
                }
                _ => self.b.int(value, ty),
            }),
            sema::Const::Float(float) => Some(self.b.expr(ExprKind::Float(float.to_bits()), ty)),
            sema::Const::Address(address) => self.address_constant(address, ty),
            sema::Const::Complex { .. }
            | sema::Const::ComplexInt { .. }
            | sema::Const::Apart { .. } => None,
        }
    }

    fn address_constant(&mut self, address: sema::Address, ty: TypeId) -> Option<ExprId> {
        let intptr = self.b.types.intptr();
        let base = match address.base {
            sema::Base::Decl(decl) if self.unit.tree[decl].kind == sema::DeclKind::Function => {
                let func = self.func(decl);
                self.used(func);
                let function = self.b.functions[func.index()].ty;
                let pointer = self.b.types.pointer(function);
                let address = self.b.expr(ExprKind::Function(func), pointer);
                self.unless_absent(decl, address)
            }
            sema::Base::Decl(decl) => {
                let storage = self.storage(decl);
                let place = self.storage_place(storage);
                let address = self.address(place);
                self.unless_absent(decl, address)
            }
            sema::Base::Str(string) => {
                let source = self
                    .b
                    .variables
                    .last()
                    .map_or_else(|| self.unit.source(rucc_diag::Span::DUMMY), |v| v.source);
                let source = self.function.as_ref().map_or(source, |f| f.source);
                let var = self.string(string, source);
                let place = self.b.var_place(var);
                self.address(place)
            }
            sema::Base::Label(label) => self.label_address(label)?,
            sema::Base::Absolute => {
                let value = self.b.int(address.offset, intptr);
                return Some(self.b.convert(value, ty));
            }
        };
        let mut address_expr = base;
        if address.offset != 0 {
            // Prefer a path of members and elements to a number of bytes.
            if let ExprKind::AddressOf(place) = self.b.exprs[base.index()].kind
                && let Ok(offset) = u64::try_from(address.offset)
                && let Some(part) = self.part_at(place, offset, ty)
            {
                return Some(self.b.address_of(part, ty));
            }
            let bytes = self.char_pointer();
            let moved = self.b.convert(base, bytes);
            let index = self.b.int(address.offset, intptr);
            address_expr = self.b.pointer_add(moved, index, 1);
        } else if let ExprKind::AddressOf(place) = self.b.exprs[base.index()].kind
            && let Some(part) = self.part_at(place, 0, ty)
        {
            return Some(self.b.address_of(part, ty));
        }
        Some(self.b.convert(address_expr, ty))
    }

    /// The part of a place at that offset to which a pointer of that type can point.
    fn part_at(&mut self, mut place: PlaceId, mut offset: u64, ty: TypeId) -> Option<PlaceId> {
        let Type::Pointer(wanted) = *self.b.types.get(ty) else {
            return None;
        };
        loop {
            let at = self.place_ty(place);
            if offset == 0 && at == wanted {
                return Some(place);
            }
            match self.b.types.get(at).clone() {
                Type::Array { element, length } => {
                    let size = self.b.types.size_of(element);
                    // One past the end is no element.
                    if size == 0 || (length > 0 && offset / size >= length) {
                        return None;
                    }
                    // A pointer to the first element is how the array decays.
                    if offset == 0 && element == wanted {
                        return Some(place);
                    }
                    let intptr = self.b.types.intptr();
                    let index = self.b.int(i128::from(offset / size), intptr);
                    offset %= size;
                    place = self.b.place(PlaceKind::Index(place, index), element);
                }
                Type::Record(record) => {
                    let fields = &self.b.types.record(record).fields;
                    let found = fields.iter().enumerate().rev().find(|(_, f)| {
                        f.bit_width.is_none()
                            && f.offset() <= offset
                            && offset < f.offset() + self.b.types.size_of(f.ty).max(1)
                    });
                    let (position, field) = found?;
                    let (field_ty, start) = (field.ty, field.offset());
                    offset -= start;
                    place = self
                        .b
                        .place(PlaceKind::Field(place, position as u32), field_ty);
                }
                _ => return None,
            }
        }
    }
}
