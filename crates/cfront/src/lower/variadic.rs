//! `va_start`, `va_arg` and `va_copy`: a `va_list` is a pointer to the next argument.
//!
//! Where it is a record, as on x86-64, that pointer is its field for the arguments that lie in the
//! caller's memory: here all of them do (see `further.rs`).

use super::{Lower, TEXT};
use crate::further::WORDS;
use crate::ids::{ExprId, PlaceId, TypeId};
use crate::program::*;
use crate::types::Type;
use rucc_sema as sema;

impl Lower<'_> {
    /// Lets a list begin with the first further argument of the current call.
    pub(super) fn start_list(&mut self, id: sema::ExprId, list: sema::ExprId) {
        let next = self.next_pointer(list);
        self.at_expr(id);
        self.check_list(next);
        let taken = match self.f().further {
            Some(taken) => taken,
            None => {
                let pointer = self.word_pointer();
                let place = self.temporary(pointer);
                let PlaceKind::Var(taken) = self.b.places[place.index()].kind else {
                    unreachable!("a temporary is a variable")
                };
                self.f().further = Some(taken);
                taken
            }
        };
        let place = self.b.var_place(taken);
        let first = self.b.load(place);
        self.set_next(next, first);
    }

    /// The next argument, of that type; the list moves on behind it.
    pub(super) fn next_argument(
        &mut self,
        id: sema::ExprId,
        list: sema::ExprId,
        ty: TypeId,
    ) -> ExprId {
        let next = self.next_pointer(list);
        self.at_expr(id);
        self.check_list(next);
        let pointer = self.b.load(next);
        let passed = self.keep(pointer);
        let kept = self.b.kept_as(ty);
        let word = self.b.types.model().pointer_size();
        let intptr = self.b.types.intptr();
        let kind = self.behind(passed, intptr);
        let kind = self.b.load(kind);
        self.check_passed(passed, kind);
        let fits = self.b.is_kind_of(kind, ty);
        self.confine_kind(fits);
        let distance = self.b.int(i128::from(word), intptr);
        let argument = self.b.pointer_add(passed, distance, 1);
        let step = self.b.int(i128::from(WORDS * word), intptr);
        let moved = self.b.pointer_add(passed, step, 1);
        self.assign(next, moved);
        let place = self.behind(argument, kept);
        let value = self.b.load(place);
        if kept == self.b.types.pointer(ty) {
            let place = self.behind(value, ty);
            return self.b.load(place);
        }
        match kept == ty {
            true => value,
            false => self.convert_scalar(value, ty),
        }
    }

    /// What is asked for if accesses are.
    fn asked_of_accesses(&self) -> Option<CheckKind> {
        let asked = [CheckKind::Bounds, CheckKind::Pointer];
        asked.into_iter().find(|&kind| self.b.options.wants(kind))
    }

    /// Checks that a list is there, if it is somebody else's.
    fn check_list(&mut self, next: PlaceId) {
        let list = match self.b.places[next.index()].kind {
            PlaceKind::Field(list, _) => list,
            _ => next,
        };
        if let PlaceKind::Deref(pointer) = self.b.places[list.index()].kind {
            let size = self.b.types.size_of(self.place_ty(list));
            self.check_access(pointer, size);
        }
    }

    /// Checks that the caller passed another argument.
    fn check_passed(&mut self, pointer: ExprId, kind: ExprId) {
        let Some(asked) = self.asked_of_accesses() else {
            return;
        };
        let (size_ty, int) = (self.size_ty(), self.int_ty());
        let word = self.b.ty_of(kind);
        let size = self.b.types.size_of(word);
        let size = self.b.int(i128::from(size), size_ty);
        let valid = self.b.expr(ExprKind::ValidAccess { pointer, size }, int);
        let none = self.b.zero(word);
        let passed = ExprKind::Conditional {
            condition: valid,
            then: self.b.binary(BinaryOp::Ne, kind, none, int),
            otherwise: valid,
        };
        let passed = self.b.expr(passed, int);
        self.require(asked, passed, format!("no further argument for {TEXT}"));
    }

    /// What is read where something else was passed depends on the machine.
    fn confine_kind(&mut self, fits: ExprId) {
        if let Some(kind) = self.asked_of_accesses() {
            self.require(
                kind,
                fits,
                format!("an argument of another type for {TEXT}"),
            );
            return;
        }
        let (other, next) = (self.location(), self.location());
        self.split(fits, next, other);
        self.f().cur = other;
        let source = self.f().source;
        let what = "`va_arg` where no argument of its type was passed".to_owned();
        let construct = self.b.add_gap(what, source, Gap::Unlikely);
        self.emit(Op::Unsupported { construct });
        self.jump_to(next);
        self.f().cur = next;
    }

    /// Lets a list go on where another one does.
    pub(super) fn copy_list(&mut self, id: sema::ExprId, to: sema::ExprId, from: sema::ExprId) {
        let to = self.next_pointer(to);
        let from = self.next_pointer(from);
        self.at_expr(id);
        self.check_list(to);
        self.check_list(from);
        let next = self.b.load(from);
        self.set_next(to, next);
    }

    fn set_next(&mut self, next: PlaceId, pointer: ExprId) {
        let ty = self.place_ty(next);
        let value = self.b.convert(pointer, ty);
        self.assign(next, value);
    }

    /// Where a list, whose address is given, keeps the pointer to the next argument.
    fn next_pointer(&mut self, address: sema::ExprId) -> PlaceId {
        let list = self.list_behind(address);
        let Type::Record(record) = *self.b.types.get(self.place_ty(list)) else {
            return list;
        };
        let fields = &self.b.types.record(record).fields;
        let is_pointer = |ty: TypeId| matches!(self.b.types.get(ty), Type::Pointer(_));
        let field = fields.iter().position(|field| is_pointer(field.ty));
        let field = field.expect("a list that is a record has a pointer to arguments in memory");
        let ty = self.word_pointer();
        // What it points to are words; it has no name of the program's, and is not shown.
        let next = &mut self.b.types.record_mut(record).fields[field];
        next.name = Some("next#".to_owned());
        next.ty = ty;
        self.b.place(PlaceKind::Field(list, field as u32), ty)
    }

    fn word_pointer(&mut self) -> TypeId {
        let word = self.b.types.intptr();
        self.b.types.pointer(word)
    }

    /// The `va_list` behind its address.
    fn list_behind(&mut self, address: sema::ExprId) -> PlaceId {
        let pointer = self.value(address);
        let Type::Pointer(to) = *self.b.types.get(self.b.ty_of(pointer)) else {
            unreachable!("the checker passes the address of a `va_list`")
        };
        if let ExprKind::AddressOf(place) = self.b.exprs[pointer.index()].kind {
            if self.place_ty(place) == to {
                return place;
            }
            if matches!(self.b.types.get(self.place_ty(place)), Type::Array { element, .. } if *element == to)
            {
                let intptr = self.b.types.intptr();
                let zero = self.b.int(0, intptr);
                return self.b.place(PlaceKind::Index(place, zero), to);
            }
        }
        self.b.place(PlaceKind::Deref(pointer), to)
    }
}
