//! Declarations inside of functions, and compound literals.

use super::Lower;
use super::body::{ScopeItem, Storage};
use crate::ids::{PlaceId, TypeId, VarId};
use crate::program::*;
use crate::types::{Record, Type};
use rucc_sema as sema;

impl Lower<'_> {
    /// Passes a declaration statement.
    pub(super) fn declarations(&mut self, list: sema::DeclList) {
        let list = self.unit.tree[list].to_vec();
        for id in list {
            let decl = &self.unit.tree[id];
            match decl.kind {
                // A declaration does nothing, and the function may be defined later in the file. A
                // definition is GNU C's nested function: it has no linkage.
                sema::DeclKind::Function => {
                    if decl.body.is_some() && decl.linkage == sema::Linkage::None {
                        let source = self.unit.source(self.unit.tree.decl_span(id));
                        self.f().source = source;
                        self.unsupported("a nested function");
                    }
                }
                sema::DeclKind::Type => {
                    let ty = decl.ty;
                    self.evaluate_lengths(ty);
                }
                sema::DeclKind::Object => {
                    let automatic = decl.linkage == sema::Linkage::None
                        && decl.duration == sema::StorageDuration::Automatic;
                    if automatic {
                        self.declare_local(id);
                    } else {
                        self.global(id);
                    }
                }
            }
        }
    }

    fn declare_local(&mut self, id: sema::DeclId) {
        let decl = &self.unit.tree[id];
        let (decl_ty, init, cleanup) = (decl.ty, decl.init, decl.cleanup);
        if decl.register.is_some() {
            let source = self.unit.source(self.unit.tree.decl_span(id));
            self.f().source = source;
            self.unsupported("a variable in a register of its own");
        }
        if self.is_variable_size(decl_ty) {
            self.declare_vla(id);
            return;
        }
        self.evaluate_lengths(decl_ty);
        let Storage::Variable(variable) = self.local(id) else {
            return;
        };
        let source = self.b.variables[variable.index()].source;
        self.f().source = source;
        let taken = self.effects.is_taken(id);
        let scope = self.f().scope;
        self.f().scopes[scope].items.push(ScopeItem {
            variable,
            taken,
            cleanup,
        });
        let ty = self.b.variables[variable.index()].ty;
        // A scalar that nothing points to needs no birth if it is written at once, or if the
        // call has just made it unknown.
        let plain = self.b.types.is_scalar(ty) && !taken;
        if !(plain && (init.is_some() || !self.f().repeats)) {
            self.emit(Op::Declare { variable });
        }
        if let Some(init) = init {
            let place = self.b.var_place(variable);
            self.initialise(place, decl_ty, init);
        }
    }

    /// The variable of a local declaration.
    pub(super) fn local(&mut self, id: sema::DeclId) -> Storage {
        if let Some(&storage) = self.f().variables.get(&id) {
            return storage;
        }
        let decl = &self.unit.tree[id];
        let name = match decl.name {
            Some(name) => self.unit.names.resolve(name).to_owned(),
            None => Variable::COMPOUND_LITERAL.to_owned(),
        };
        let decl_ty = decl.ty;
        let align = decl.alignment.map_or(1, u64::from);
        let ty = self.ty(decl_ty);
        let source = self.unit.source(self.unit.tree.decl_span(id));
        let func = self.f().func;
        let variable = self.b.add_variable(Variable {
            name,
            ty,
            kind: VarKind::Local(func),
            address_taken: false,
            source,
            initial: Initial::None,
            read_only: false,
            align,
        });
        if self.effects.is_taken(id) {
            self.f().taken.insert(variable);
        }
        let f = self.f();
        f.locals.push(variable);
        f.variables.insert(id, Storage::Variable(variable));
        Storage::Variable(variable)
    }

    /// `(T){ ... }`: makes the object anew each time it is evaluated.
    pub(super) fn compound_literal(&mut self, id: sema::DeclId) -> PlaceId {
        let decl = &self.unit.tree[id];
        let (decl_ty, init) = (decl.ty, decl.init);
        if decl.duration != sema::StorageDuration::Automatic || self.function.is_none() {
            let variable = self.global(id);
            return self.b.var_place(variable);
        }
        let Storage::Variable(variable) = self.local(id) else {
            unreachable!("a compound literal has no variable length")
        };
        self.lives_in_scope(id, variable);
        self.emit(Op::Declare { variable });
        let place = self.b.var_place(variable);
        if let Some(init) = init {
            self.initialise(place, decl_ty, init);
        }
        place
    }

    /// The object of a compound literal lives as long as the block that it stands in.
    fn lives_in_scope(&mut self, id: sema::DeclId, variable: VarId) {
        let taken = self.effects.is_taken(id);
        let scope = self.f().scope;
        let items = &mut self.f().scopes[scope].items;
        // An expression may be evaluated in several places.
        if items.iter().all(|item| item.variable != variable) {
            items.push(ScopeItem {
                variable,
                taken,
                cleanup: None,
            });
        }
    }

    /// The type of an object whose initialiser gives its flexible member a length.
    pub(super) fn with_extent(&mut self, id: sema::DeclId, ty: TypeId) -> TypeId {
        let extent = self.unit.tree.extent(id);
        if extent <= self.b.types.size_of(ty) {
            return ty;
        }
        let Type::Record(record) = *self.b.types.get(ty) else {
            return ty;
        };
        let mut longer: Record = self.b.types.record(record).clone();
        let Some(last) = longer.fields.last_mut() else {
            return ty;
        };
        let Type::Array { element, .. } = *self.b.types.get(last.ty) else {
            return ty;
        };
        let size = self.b.types.size_of(element).max(1);
        let length = (extent - last.offset()).div_ceil(size);
        last.ty = self.b.types.intern(Type::Array { element, length });
        longer.size = extent;
        let record = self.b.types.add_record(longer);
        self.b.types.intern(Type::Record(record))
    }
}
