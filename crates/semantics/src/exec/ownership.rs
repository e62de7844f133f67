//! To which objects pointers belong while a program runs, and whether an access is inside of one.

use super::Execution;
use crate::expr::{Evaluated, RED_ZONE, STACK_CHUNK};
use crate::layout::{StateKind, StateVarId};
use crate::memory::Scalar;
use crate::ownership::{DEAD, FIRST_LIFE, IDENTITY, NEXT_LIFE, NOBODY, Ownership};
use crate::scalar;
use crate::state::FreshOrigin;
use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, PlaceId, VarId};
use hardbop_cfront::program::{BinaryOp, ExprKind, PlaceKind};
use hardbop_cfront::types::Type;
use hardbop_logic::{Sign, Sort, TermId, Terms};

impl<'s> Execution<'s, '_> {
    fn ownership(&self) -> Option<&'s Ownership> {
        self.semantics.layout.ownership()
    }

    pub(super) fn identity(&self, terms: &mut Terms, number: u128) -> TermId {
        scalar::literal(terms, number, IDENTITY, self.semantics.pointer_arithmetic())
    }

    fn unknown_owner(&mut self, terms: &mut Terms) -> TermId {
        let sort = scalar::sort(IDENTITY, self.semantics.pointer_arithmetic());
        self.imprecise(terms, "owner", sort)
    }

    /// The identity of the object that begins at an address, if it has that one.
    fn by_address(&self, terms: &mut Terms, address: TermId) -> TermId {
        match terms.sort(address) {
            Sort::BitVec(_) => terms.resize(address, IDENTITY.width, Sign::Unsigned),
            _ => address,
        }
    }

    /// The other way round.
    pub(super) fn address_of_identity(&self, terms: &mut Terms, identity: TermId) -> TermId {
        let width = self.semantics.pointer_shape().width;
        match terms.sort(identity) {
            Sort::BitVec(_) => terms.resize(identity, width, Sign::Unsigned),
            _ => identity,
        }
    }

    /// A number of bytes in the encoding of sizes of objects.
    fn byte_count(&mut self, terms: &mut Terms, size: ExprId, evaluated: Evaluated) -> TermId {
        let shape = self.shape_of(self.semantics.program.expr(size).ty);
        let value = self.number(terms, size, evaluated);
        let value = scalar::convert(terms, value, shape, IDENTITY);
        scalar::encode(terms, value, IDENTITY, self.semantics.pointer_arithmetic())
    }

    /// Which object a variable is now.
    pub(super) fn variable_identity(&mut self, terms: &mut Terms, variable: VarId) -> TermId {
        match self.ownership().and_then(|known| known.life(variable)) {
            Some(life) => self.state.get(self.semantics, terms, life),
            None => {
                let address = self.variable_address(terms, variable);
                self.by_address(terms, address)
            }
        }
    }

    /// To which object the value of a pointer expression belongs; `None` if nobody asks for any.
    pub(crate) fn owner_of(
        &mut self,
        terms: &mut Terms,
        pointer: ExprId,
        evaluated: Evaluated,
    ) -> Option<TermId> {
        self.ownership()?;
        let types = &self.semantics.program.types;
        let ty = self.semantics.program.expr(pointer).ty;
        matches!(types.get(ty), Type::Pointer(_)).then(|| self.owner(terms, pointer, evaluated))
    }

    fn owner(&mut self, terms: &mut Terms, pointer: ExprId, evaluated: Evaluated) -> TermId {
        let program = self.semantics.program;
        let mut at = pointer;
        loop {
            match program.expr(at).kind {
                ExprKind::Int(_) | ExprKind::Function(_) => {
                    return self.identity(terms, NOBODY);
                }
                ExprKind::Load(place) => return self.loaded_owner(terms, place, evaluated),
                ExprKind::AddressOf(place) => match self.root(place) {
                    PlaceKind::Var(variable) => return self.variable_identity(terms, variable),
                    PlaceKind::Deref(pointer) => at = pointer,
                    PlaceKind::Field(..) | PlaceKind::Index(..) => {
                        return self.unknown_owner(terms);
                    }
                },
                ExprKind::PointerAdd { pointer, .. } => at = pointer,
                // Through an integer of the same size and back it stays the same pointer.
                ExprKind::Convert(operand) if self.keeps_pointers(operand) => at = operand,
                ExprKind::Conditional {
                    condition,
                    then,
                    otherwise,
                } => {
                    let condition = self.truth(terms, condition, Evaluated::Perhaps);
                    let mut side = |expr| {
                        stacker::maybe_grow(RED_ZONE, STACK_CHUNK, || {
                            self.owner(terms, expr, Evaluated::Perhaps)
                        })
                    };
                    let (a, b) = (side(then), side(otherwise));
                    return terms.ite(condition, a, b);
                }
                ExprKind::Convert(_) => return self.owner_by_address(terms, at, evaluated),
                _ => return self.unknown_owner(terms),
            }
        }
    }

    /// To which object a pointer belongs that was computed as an integer: to the one that it
    /// points into, if there is one variable only that its bits can come from. With several, a
    /// neighbour could be taken for the object that was meant.
    fn owner_by_address(
        &mut self,
        terms: &mut Terms,
        pointer: ExprId,
        evaluated: Evaluated,
    ) -> TermId {
        let Some(spot) = self.semantics.points_to.pointer(pointer) else {
            return self.unknown_owner(terms);
        };
        let program = self.semantics.program;
        let class = &self.semantics.points_to.classes()[spot.class.0 as usize];
        let (&[variable], true, false) = (
            class.variables.as_slice(),
            class.allocations.is_empty(),
            class.external,
        ) else {
            return self.unknown_owner(terms);
        };
        if !program.variable(variable).address_taken
            || self.semantics.layout.activation_address(variable).is_some()
        {
            return self.unknown_owner(terms);
        }
        let address = self.pointer(terms, pointer, evaluated);
        let base = self.variable_address(terms, variable);
        let length = program.types.size_of(program.variable(variable).ty);
        let end = self.identity(terms, u128::from(length) + 1);
        let one = self.identity(terms, 1);
        let inside = self.inside(terms, address, base, end, one);
        let identity = self.variable_identity(terms, variable);
        let dead = self.identity(terms, DEAD);
        let is_dead = terms.eq(identity, dead);
        let nobody = self.identity(terms, NOBODY);
        let own = terms.ite(is_dead, nobody, identity);
        if inside == terms.bool(true) {
            return own;
        }
        let unknown = self.unknown_owner(terms);
        terms.ite(inside, own, unknown)
    }

    /// Whether a conversion of this operand to a pointer is one of a pointer, or of a constant.
    fn keeps_pointers(&self, operand: ExprId) -> bool {
        let program = self.semantics.program;
        let operand = program.expr(operand);
        let whole = self.shape_of(operand.ty).width == self.semantics.pointer_shape().width;
        match program.types.get(operand.ty) {
            Type::Pointer(_) => true,
            Type::Int { .. } => match operand.kind {
                ExprKind::Int(_) => true,
                ExprKind::Convert(inner) => {
                    let inner = program.expr(inner).ty;
                    whole && matches!(program.types.get(inner), Type::Pointer(_))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The variable or the pointer that a place begins with.
    fn root(&self, mut place: PlaceId) -> PlaceKind {
        loop {
            match self.semantics.program.place(place).kind {
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => place = base,
                root => return root,
            }
        }
    }

    fn loaded_owner(&mut self, terms: &mut Terms, id: PlaceId, evaluated: Evaluated) -> TermId {
        let owner = self
            .scalar(terms, id, evaluated)
            .and_then(|scalar| self.read_owner(terms, &scalar));
        match owner {
            Some(owner) => owner,
            None => self.unknown_owner(terms),
        }
    }

    /// Where the owner of the pointer that a scalar is can be found.
    fn owners(&self, scalar: &Scalar) -> Option<(StateVarId, StateKind)> {
        let ownership = self.ownership()?;
        let (region, _) = self.kind_at(scalar.spot)?;
        let owners = ownership.owners(region)?;
        Some((owners, self.semantics.layout.get(owners).kind))
    }

    /// Whether a scalar is all of a pointer.
    fn is_whole(&self, scalar: &Scalar) -> bool {
        let size = self.semantics.program.types.size_of(scalar.ty);
        let pointer = self.semantics.program.types.model().pointer_size();
        let starts = match self.kind_at(scalar.spot) {
            Some((_, StateKind::Cell { .. })) => self.offset_in_region(scalar.spot) == 0,
            // The address says where it starts.
            _ => true,
        };
        size == pointer && scalar.bits.is_none() && starts
    }

    /// To which object the pointer that a scalar is belongs; `None` if it is none.
    pub(crate) fn read_owner(&mut self, terms: &mut Terms, scalar: &Scalar) -> Option<TermId> {
        let (owners, kind) = self.owners(scalar)?;
        if !self.is_whole(scalar) {
            return None;
        }
        let held = self.state.get(self.semantics, terms, owners);
        match (kind, scalar.address) {
            (StateKind::Identities, Some(address)) => Some(terms.select(held, address)),
            (StateKind::Identity, _) => Some(held),
            _ => None,
        }
    }

    /// After a scalar was written: the pointer there belongs to this object, or to anybody.
    pub(crate) fn write_owner(
        &mut self,
        terms: &mut Terms,
        scalar: &Scalar,
        value: TermId,
        owner: Option<TermId>,
    ) {
        let Some((owners, kind)) = self.owners(scalar) else {
            return;
        };
        if !self.is_whole(scalar) && kind == StateKind::Identities {
            // Some pointer around here; which one is not worth knowing.
            self.exact = false;
            self.set_unknown(terms, owners, FreshOrigin::Imprecise);
            return;
        }
        let null = scalar::constant_signed(terms, value) == Some(0);
        let owner = match owner.filter(|_| self.is_whole(scalar)) {
            Some(owner) => owner,
            None if null && self.is_whole(scalar) => self.identity(terms, NOBODY),
            None => self.unknown_owner(terms),
        };
        let held = match (kind, scalar.address) {
            (StateKind::Identities, Some(address)) => {
                let all = self.state.get(self.semantics, terms, owners);
                terms.store(all, address, owner)
            }
            _ => owner,
        };
        self.state.set(owners, held);
    }

    /// After all of a region was written: its pointers are null, or belong to anybody.
    pub(crate) fn write_owners(&mut self, terms: &mut Terms, region: StateVarId, null: bool) {
        let Some(owners) = self.ownership().and_then(|known| known.owners(region)) else {
            return;
        };
        if null {
            let zero = self.zero(terms, owners);
            self.state.set(owners, zero);
        } else {
            self.exact = false;
            self.set_unknown(terms, owners, FreshOrigin::Imprecise);
        }
    }

    /// Before the program starts: nothing is allocated, and the locals of the entry function live.
    pub(crate) fn start_lives(&mut self, terms: &mut Terms) {
        let Some(ownership) = self.ownership() else {
            return;
        };
        for (_, extents) in ownership.all_extents() {
            let none = self.zero(terms, extents);
            self.state.set(extents, none);
        }
        let first = self.identity(terms, FIRST_LIFE);
        self.state.set(ownership.next_life(), first);
        let entry = self
            .semantics
            .program
            .function(self.semantics.program.entry);
        let dead = self.identity(terms, DEAD);
        for (variable, life) in ownership.lives() {
            self.state.set(life, dead);
            if entry.locals.contains(&variable) || entry.formals.contains(&variable) {
                self.begin_life(terms, variable);
            }
        }
    }

    /// A local begins a life that no pointer knows of.
    pub(super) fn begin_life(&mut self, terms: &mut Terms, variable: VarId) {
        let Some(ownership) = self.ownership() else {
            return;
        };
        if let Some(life) = ownership.life(variable) {
            let next = ownership.next_life();
            let identity = self.state.get(self.semantics, terms, next);
            self.state.set(life, identity);
            let more = self.identity(terms, NEXT_LIFE);
            let after = self.advance(terms, identity, more);
            self.state.set(next, after);
        } else if self.semantics.layout.activation_address(variable).is_some() {
            let program = self.semantics.program;
            let size = program.types.size_of(program.variable(variable).ty);
            let size = self.identity(terms, u128::from(size));
            self.set_extent(terms, variable, Some(size));
        }
    }

    /// A local ends.
    pub(super) fn end_life(&mut self, terms: &mut Terms, variable: VarId) {
        let Some(ownership) = self.ownership() else {
            return;
        };
        if let Some(life) = ownership.life(variable) {
            let dead = self.identity(terms, DEAD);
            self.state.set(life, dead);
        } else if self.semantics.layout.activation_address(variable).is_some() {
            self.set_extent(terms, variable, None);
        }
    }

    /// Writes the size of the present object of a local of a recursive function.
    fn set_extent(&mut self, terms: &mut Terms, variable: VarId, size: Option<TermId>) {
        let spot = self.semantics.points_to.variable(variable);
        let extents = spot.and_then(|spot| self.ownership()?.extents(spot.class));
        if let Some(extents) = extents {
            let address = self.variable_address(terms, variable);
            let identity = self.by_address(terms, address);
            self.write_extent(terms, extents, identity, size);
        }
    }

    fn write_extent(
        &mut self,
        terms: &mut Terms,
        extents: StateVarId,
        identity: TermId,
        size: Option<TermId>,
    ) {
        let value = match size {
            Some(size) => {
                let one = self.identity(terms, 1);
                self.advance(terms, size, one)
            }
            None => self.identity(terms, 0),
        };
        let all = self.state.get(self.semantics, terms, extents);
        let written = terms.store(all, identity, value);
        self.state.set(extents, written);
    }

    /// All that lives no longer than a call ends.
    pub(super) fn end_frame(&mut self, terms: &mut Terms, function: FuncId) {
        let Some(ownership) = self.ownership() else {
            return;
        };
        let described = self.semantics.program.function(function);
        for &variable in described.locals.iter().chain(&described.formals) {
            self.end_life(terms, variable);
        }
        for extents in ownership.in_frame(function) {
            self.exact = false;
            self.set_unknown(terms, extents, FreshOrigin::Imprecise);
        }
    }

    /// An object was taken from the frontier.
    pub(super) fn begin_object(
        &mut self,
        terms: &mut Terms,
        edge: EdgeId,
        address: TermId,
        size: ExprId,
    ) -> Option<TermId> {
        let ownership = self.ownership()?;
        let identity = self.by_address(terms, address);
        let spot = self.semantics.points_to.allocation(edge);
        if let Some(extents) = spot.and_then(|spot| ownership.extents(spot.class)) {
            let size = self.byte_count(terms, size, Evaluated::Always);
            self.write_extent(terms, extents, identity, Some(size));
        }
        Some(identity)
    }

    /// `free` of a pointer: of null, nothing happens.
    pub(super) fn free(&mut self, terms: &mut Terms, pointer: ExprId) {
        self.note_end(terms, pointer);
        let Some(ownership) = self.ownership() else {
            return;
        };
        let spot = self.semantics.points_to.pointer(pointer);
        let Some(extents) = spot.and_then(|spot| ownership.extents(spot.class)) else {
            return;
        };
        let address = self.pointer(terms, pointer, Evaluated::Always);
        let owner = self.owner(terms, pointer, Evaluated::Always);
        let null = self.bytes(terms, 0);
        let null = terms.eq(address, null);
        // One write whichever it is: what is known of other objects is seen behind it at once.
        let all = self.state.get(self.semantics, terms, extents);
        let end = terms.select(all, owner);
        let gone = self.identity(terms, 0);
        let end = terms.ite(null, end, gone);
        let written = terms.store(all, owner, end);
        self.state.set(extents, written);
    }

    /// Whether so many bytes from a pointer on lie in one object that lives.
    pub(crate) fn valid_access(
        &mut self,
        terms: &mut Terms,
        pointer: ExprId,
        size: ExprId,
        evaluated: Evaluated,
    ) -> TermId {
        let spot = self.semantics.points_to.pointer(pointer);
        let (Some(ownership), Some(spot)) = (self.ownership(), spot) else {
            return self.imprecise(terms, "valid", Sort::Bool);
        };
        let program = self.semantics.program;
        let class = &self.semantics.points_to.classes()[spot.class.0 as usize];
        // Objects from outside are not known.
        self.exact &= !class.external;
        let address = self.pointer(terms, pointer, evaluated);
        let owner = self.owner(terms, pointer, evaluated);
        let size = self.byte_count(terms, size, evaluated);
        let mut ways = Vec::new();
        for &variable in &class.variables {
            if !program.variable(variable).address_taken
                || self.semantics.layout.activation_address(variable).is_some()
            {
                continue;
            }
            let identity = self.variable_identity(terms, variable);
            let own = terms.eq(owner, identity);
            let base = self.variable_address(terms, variable);
            let length = program.types.size_of(program.variable(variable).ty);
            let end = self.identity(terms, u128::from(length) + 1);
            let inside = self.inside(terms, address, base, end, size);
            ways.push(terms.and(&[own, inside]));
        }
        if let Some(extents) = ownership.extents(spot.class) {
            let all = self.state.get(self.semantics, terms, extents);
            let end = terms.select(all, owner);
            let base = self.address_of_identity(terms, owner);
            ways.push(self.inside(terms, address, base, end, size));
        }
        terms.or(&ways)
    }

    /// Whether a pointer belongs to a string literal or to a constant of static storage.
    pub(crate) fn points_to_constant(
        &mut self,
        terms: &mut Terms,
        pointer: ExprId,
        evaluated: Evaluated,
    ) -> TermId {
        let spot = self.semantics.points_to.pointer(pointer);
        let (Some(_), Some(spot)) = (self.ownership(), spot) else {
            return self.imprecise(terms, "constant", Sort::Bool);
        };
        let program = self.semantics.program;
        let class = &self.semantics.points_to.classes()[spot.class.0 as usize];
        let constants: Vec<VarId> = class
            .variables
            .iter()
            .copied()
            .filter(|&variable| program.variable(variable).read_only)
            .collect();
        if constants.is_empty() {
            return terms.bool(false);
        }
        let owner = self.owner(terms, pointer, evaluated);
        let mut ways = Vec::new();
        for variable in constants {
            let identity = self.variable_identity(terms, variable);
            ways.push(terms.eq(owner, identity));
        }
        terms.or(&ways)
    }

    /// Whether a range of bytes lies inside of an object; `end` is one more than its size.
    fn inside(
        &mut self,
        terms: &mut Terms,
        address: TermId,
        base: TermId,
        end: TermId,
        size: TermId,
    ) -> TermId {
        let less = |terms: &mut Terms, a, b| scalar::compare(terms, BinaryOp::Lt, a, b, IDENTITY);
        if scalar::is_int(terms, address) {
            let offset = terms.int_sub(address, base);
            let zero = terms.int(0);
            let behind = terms.int_le(zero, offset);
            let last = terms.int_add(&[offset, size]);
            let before = less(terms, last, end);
            return terms.and(&[behind, before]);
        }
        let offset = terms.bv_sub(address, base);
        let offset = terms.resize(offset, IDENTITY.width, Sign::Unsigned);
        let begins = less(terms, offset, end);
        let rest = terms.bv_sub(end, offset);
        let fits = less(terms, size, rest);
        terms.and(&[begins, fits])
    }

    /// Whether a pointer may be freed: null, or the start of an object on the heap that lives.
    pub(crate) fn valid_free(
        &mut self,
        terms: &mut Terms,
        pointer: ExprId,
        evaluated: Evaluated,
    ) -> TermId {
        let address = self.pointer(terms, pointer, evaluated);
        let zero = self.bytes(terms, 0);
        let null = terms.eq(address, zero);
        if null == terms.bool(true) {
            return null;
        }
        let spot = self.semantics.points_to.pointer(pointer);
        let (Some(ownership), Some(spot)) = (self.ownership(), spot) else {
            return self.imprecise(terms, "valid", Sort::Bool);
        };
        let class = &self.semantics.points_to.classes()[spot.class.0 as usize];
        if class.external || !ownership.is_heap(spot.class) {
            return self.imprecise(terms, "valid", Sort::Bool);
        }
        let Some(extents) = ownership.extents(spot.class) else {
            return null;
        };
        let owner = self.owner(terms, pointer, evaluated);
        let base = self.address_of_identity(terms, owner);
        let starts = terms.eq(address, base);
        let all = self.state.get(self.semantics, terms, extents);
        let end = terms.select(all, owner);
        let nothing = self.identity(terms, 0);
        let gone = terms.eq(end, nothing);
        let lives = terms.not(gone);
        let heap = terms.and(&[starts, lives]);
        terms.or(&[null, heap])
    }
}
