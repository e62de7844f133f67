//! How much of an object lies behind a pointer: what `realloc` copies.

use super::Execution;
use crate::expr::Evaluated;
use crate::ownership::IDENTITY;
use crate::scalar;
use crate::state::FreshOrigin;
use hardbop_cfront::ids::{ExprId, TypeId};
use hardbop_cfront::program::BinaryOp;
use hardbop_logic::{Sign, TermId, Terms};

impl Execution<'_, '_> {
    /// How many bytes lie from a pointer on up to the end of the object that it belongs to. Of what
    /// does not live, of what may be from outside, and where nobody keeps count, it is anything.
    pub(crate) fn object_size(
        &mut self,
        terms: &mut Terms,
        pointer: ExprId,
        ty: TypeId,
        evaluated: Evaluated,
    ) -> TermId {
        let arithmetic = self.semantics.pointer_arithmetic();
        let shape = self.shape_of(ty);
        let sort = scalar::sort(shape, arithmetic);
        let unknown = self.make_fresh(terms, "object_size", sort, FreshOrigin::Imprecise);
        let range = scalar::in_range(terms, unknown, shape);
        self.facts.push(range);
        let size = self
            .known_size(terms, pointer, evaluated)
            .map(|(known, rest)| {
                let rest = scalar::convert(terms, rest, IDENTITY, shape);
                let rest = scalar::encode(terms, rest, shape, arithmetic);
                terms.ite(known, rest, unknown)
            });
        let size = size.unwrap_or(unknown);
        self.exact &= !terms.free_constants(&[size]).contains(&unknown);
        size
    }

    /// When that is known, and how many there are then; `None` if it never is.
    fn known_size(
        &mut self,
        terms: &mut Terms,
        pointer: ExprId,
        evaluated: Evaluated,
    ) -> Option<(TermId, TermId)> {
        let semantics = self.semantics;
        let ownership = semantics.layout.ownership()?;
        let spot = semantics.points_to.pointer(pointer)?;
        let class = &semantics.points_to.classes()[spot.class.0 as usize];
        if class.external {
            return None;
        }
        let address = self.pointer(terms, pointer, evaluated);
        let owner = self.owner_of(terms, pointer, evaluated)?;
        let mut known = terms.bool(false);
        let mut size = self.identity(terms, 0);
        if let Some(extents) = ownership.extents(spot.class) {
            let all = self.state.get(semantics, terms, extents);
            let end = terms.select(all, owner);
            let gone = terms.eq(end, size);
            known = terms.not(gone);
            let base = self.address_of_identity(terms, owner);
            size = self.rest(terms, address, base, end);
        }
        for &variable in &class.variables {
            // The size of a local of which there are many is kept like that of what is allocated.
            let many = semantics.layout.activation_address(variable).is_some();
            if many || !semantics.program.variable(variable).address_taken {
                continue;
            }
            let identity = self.variable_identity(terms, variable);
            let own = terms.eq(owner, identity);
            let base = self.variable_address(terms, variable);
            let program = semantics.program;
            let length = program.types.size_of(program.variable(variable).ty);
            let end = self.identity(terms, u128::from(length) + 1);
            let rest = self.rest(terms, address, base, end);
            known = terms.or(&[own, known]);
            size = terms.ite(own, rest, size);
        }
        Some((known, size))
    }

    /// How many bytes lie between an address and the end of an object; `end` is one more than its
    /// size. None do if the address lies elsewhere.
    fn rest(&mut self, terms: &mut Terms, address: TermId, base: TermId, end: TermId) -> TermId {
        let none = self.identity(terms, 0);
        let (offset, last, rest) = if scalar::is_int(terms, address) {
            let offset = terms.int_sub(address, base);
            let one = terms.int(1);
            let last = terms.int_sub(end, one);
            (offset, last, terms.int_sub(last, offset))
        } else {
            let offset = terms.bv_sub(address, base);
            let offset = terms.resize(offset, IDENTITY.width, Sign::Unsigned);
            let one = terms.bv(1, IDENTITY.width);
            let last = terms.bv_sub(end, one);
            (offset, last, terms.bv_sub(last, offset))
        };
        let inside = scalar::compare(terms, BinaryOp::Le, offset, last, IDENTITY);
        let behind = match scalar::is_int(terms, address) {
            true => scalar::compare(terms, BinaryOp::Le, none, offset, IDENTITY),
            false => terms.bool(true),
        };
        let inside = terms.and(&[behind, inside]);
        terms.ite(inside, rest, none)
    }
}
