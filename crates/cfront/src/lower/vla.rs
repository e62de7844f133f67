//! Variable-length arrays: a hidden pointer to memory that lives as long as the call, and
//! lengths that are evaluated where the type is declared.

use super::Lower;
use super::body::Storage;
use crate::ids::ExprId;
use crate::program::*;
use hardbop_diagnostics::Diagnostic;
use rucc_sema as sema;
use rucc_types as rt;

impl Lower<'_> {
    /// Whether the size of a type is only known when the program runs.
    pub(super) fn is_variable_size(&self, ty: rt::TypeId) -> bool {
        match self.bare(ty) {
            rt::TypeKind::Array { elem, len } => {
                matches!(len, rt::ArrayLen::Variable(_)) || self.is_variable_size(elem)
            }
            rt::TypeKind::Record(record) => self.unit.types.record_info(record).variable.is_some(),
            _ => false,
        }
    }

    /// Refuses members whose lengths matter where their struct is declared, which the tree does
    /// not say: lengths with side effects, and lengths behind pointers.
    pub(super) fn refuse_variable_members(&mut self) {
        let unit = self.unit;
        for (_, record) in unit.types.records() {
            for field in &record.fields {
                let mut at = field.ty;
                let mut behind = false;
                loop {
                    at = match self.bare(at) {
                        rt::TypeKind::Pointer(to) => {
                            behind = true;
                            to
                        }
                        rt::TypeKind::Array { elem, len } => {
                            if let rt::ArrayLen::Variable(vla) = len {
                                let length = unit.tree.vla_size(vla);
                                if behind || !self.effects.of(length).is_pure() {
                                    self.refuse_length(length);
                                }
                            }
                            elem
                        }
                        _ => break,
                    }
                }
            }
        }
    }

    fn refuse_length(&mut self, length: sema::ExprId) {
        let source = self.unit.source(self.unit.tree.expr_span(length));
        let message = "not supported: a length in a struct that is computed with side effects, or \
                       behind a pointer";
        self.b
            .diagnostics
            .push(Diagnostic::error(source.span, message));
    }

    /// Evaluates the lengths that a type mentions and that are not evaluated yet.
    pub(super) fn evaluate_lengths(&mut self, ty: rt::TypeId) {
        match self.bare(ty) {
            rt::TypeKind::Array { elem, len } => {
                if let rt::ArrayLen::Variable(vla) = len {
                    self.evaluate_length(vla);
                }
                self.evaluate_lengths(elem);
            }
            rt::TypeKind::Pointer(to) => self.evaluate_lengths(to),
            _ => {}
        }
    }

    fn evaluate_length(&mut self, vla: rt::VlaId) {
        let expr = self.unit.tree.vla_size(vla);
        // A second declaration with the same type (by a typedef) does not evaluate it again.
        if self.f().lengths.contains_key(&expr) {
            return;
        }
        let value = self.value(expr);
        let ty = self.b.ty_of(value);
        let place = self.temporary(ty);
        self.assign(place, value);
        let length = self.b.load(place);
        self.f().lengths.insert(expr, length);
    }

    /// The size of a type in bytes, computed if need be.
    pub(super) fn size_of_type(&mut self, ty: rt::TypeId) -> ExprId {
        let size_ty = self.size_ty();
        if let rt::TypeKind::Array { elem, len } = self.bare(ty)
            && self.is_variable_size(ty)
        {
            let count = match len {
                rt::ArrayLen::Variable(vla) => {
                    let expr = self.unit.tree.vla_size(vla);
                    let count = self.value(expr);
                    self.convert_scalar(count, size_ty)
                }
                rt::ArrayLen::Fixed(count) => self.b.int(i128::from(count), size_ty),
                _ => self.b.int(0, size_ty),
            };
            let element = self.size_of_type(elem);
            return self.b.binary(BinaryOp::Mul, count, element, size_ty);
        }
        if self.is_variable_size(ty) {
            return self.unsupported_value("a struct with a member of variable length", size_ty);
        }
        let ty = self.ty(ty);
        let size = self.b.types.size_of(ty);
        self.b.int(i128::from(size), size_ty)
    }

    /// Declares a variable-length array.
    pub(super) fn declare_vla(&mut self, id: sema::DeclId) {
        let decl_ty = self.unit.tree[id].ty;
        self.evaluate_lengths(decl_ty);
        let source = self.unit.source(self.unit.tree.decl_span(id));
        self.f().source = source;
        let ty = self.ty(decl_ty);
        let pointer = self.b.types.pointer(ty);
        let name = self.name_of(id).to_owned();
        let func = self.f().func;
        let hidden = self.b.add_variable(Variable {
            name: format!("{name}#"),
            ty: pointer,
            kind: VarKind::Temporary(func),
            address_taken: false,
            source,
            initial: Initial::None,
            read_only: false,
            align: 1,
        });
        self.f().locals.push(hidden);
        self.f().variables.insert(id, Storage::Behind(hidden));
        let size = self.size_of_type(decl_ty);
        let place = self.b.var_place(hidden);
        self.allocate_to(place, size, Lifetime::Frame);
    }
}
