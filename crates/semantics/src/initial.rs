//! What holds before the program starts, and what always holds.

use crate::Semantics;
use crate::exec::Execution;
use crate::expr::Evaluated;
use crate::layout::StateVarId;
use crate::leaves::all_leaves;
use crate::memory::Scalar;
use crate::scalar;
use hardbop_cfront::ids::{FuncId, VarId};
use hardbop_cfront::points_to::Spot;
use hardbop_cfront::program::{BinaryOp, Initial, InitialValue};
use hardbop_logic::{Op, TermId, Terms};
use std::collections::BTreeMap;

/// A longer text makes the memory that it lies in unknown.
const MAX_BYTES: usize = 4096;

/// So many of the lowest bits of the origin are 0: it is where a page begins.
pub const PAGE_BITS: u32 = 12;

impl Semantics<'_> {
    /// The symbolic address from which all others are counted.
    pub fn origin(&self, terms: &mut Terms) -> TermId {
        let sort = scalar::sort(self.pointer_shape(), self.pointer_arithmetic());
        terms.constant("origin", sort)
    }

    /// How far an address is from the origin, if that is known.
    pub(crate) fn distance(&self, terms: &mut Terms, address: TermId) -> Option<i128> {
        let origin = self.origin(terms);
        if address == origin {
            return Some(0);
        }
        match (terms.op(address), terms.args(address)) {
            (Op::BvAdd | Op::IntAdd, &[base, distance]) if base == origin => {
                scalar::constant_signed(terms, distance)
            }
            _ => None,
        }
    }

    /// What holds in every state: objects lie above the first page and below the middle of the
    /// address space, and the frontier lies above every object that has a name.
    pub fn axioms(&self, terms: &mut Terms) -> Vec<TermId> {
        let shape = self.pointer_shape();
        let origin = self.origin(terms);
        let arithmetic = self.pointer_arithmetic();
        let page = scalar::literal(terms, 1 << PAGE_BITS, shape, arithmetic);
        let limit = (1u128 << (shape.width - 1)) - u128::from(self.layout.total()) - 1;
        let limit = scalar::literal(terms, limit, shape, arithmetic);
        let above = scalar::compare(terms, BinaryOp::Le, page, origin, shape);
        let below = scalar::compare(terms, BinaryOp::Le, origin, limit, shape);
        let aligned = if scalar::is_int(terms, origin) {
            let rest = terms.int_mod(origin, page);
            let zero = terms.int(0);
            terms.eq(rest, zero)
        } else {
            let low = terms.extract(origin, PAGE_BITS - 1, 0);
            let zero = terms.bv(0, PAGE_BITS);
            terms.eq(low, zero)
        };
        let first = Execution::new(self).at_distance(terms, self.layout.total());
        let frontier = self.constant(terms, self.layout.frontier());
        let ordered = scalar::compare(terms, BinaryOp::Le, first, frontier, shape);
        vec![above, below, aligned, ordered]
    }

    /// The state variables that belong to the frames of a function, in order.
    pub fn frame_variables(&self, function: FuncId) -> Vec<StateVarId> {
        self.frames.get(&function).cloned().unwrap_or_default()
    }

    pub(crate) fn frames_of(layout: &crate::layout::Layout) -> BTreeMap<FuncId, Vec<StateVarId>> {
        let mut frames: BTreeMap<FuncId, Vec<StateVarId>> = BTreeMap::new();
        for (index, variable) in layout.variables().iter().enumerate() {
            if let Some(owner) = variable.owner {
                frames
                    .entry(owner)
                    .or_default()
                    .push(StateVarId(index as u32));
            }
        }
        frames
    }
}

impl Execution<'_, '_> {
    /// Puts the run at the start of the program: static storage has its initial value, and the
    /// locals of the entry function are unknown.
    pub fn start(&mut self, terms: &mut Terms) {
        let semantics = self.semantics;
        let program = semantics.program;
        let frontier = self.at_distance(terms, semantics.layout.total());
        self.state.set(semantics.layout.frontier(), frontier);
        self.start_lives(terms);
        self.start_births(terms);
        // A variable alone in its class starts from zero as a whole; in shared memory, what no
        // initialiser mentions is written part by part.
        for (index, variable) in program.variables.iter().enumerate() {
            let id = VarId(index as u32);
            let Initial::Data(parts) = &variable.initial else {
                continue;
            };
            let Some(spot) = semantics.points_to.variable(id) else {
                continue;
            };
            let regions = semantics.points_to.regions();
            let ids: Vec<StateVarId> = regions
                .of_class(spot.class)
                .map(|r| semantics.layout.region(r))
                .collect();
            let alone = ids
                .iter()
                .all(|&s| semantics.layout.get(s).variable == Some(id));
            let address = self.variable_address(terms, id);
            if alone {
                for state in ids {
                    let zero = self.zero(terms, state);
                    self.state.set(state, zero);
                    self.write_owners(terms, state, true);
                }
            } else if let Some(leaves) = all_leaves(semantics, variable.ty) {
                for leaf in leaves {
                    let offset = self.bytes(terms, i128::from(leaf.offset));
                    let at = self.advance(terms, address, offset);
                    let spot = self.semantics.points_to.part(spot, leaf.offset as i64);
                    let scalar = Scalar {
                        spot,
                        address: Some(at),
                        ty: leaf.ty,
                        bits: leaf.bits,
                    };
                    let shape = self.shape_of(leaf.ty);
                    let zero = scalar::literal(terms, 0, shape, semantics.pointer_arithmetic());
                    self.write(terms, scalar, zero);
                }
            } else {
                self.exact = false;
            }
            for part in parts {
                self.initial_part(terms, spot, address, part.offset_bits, &part.value);
            }
        }
    }

    pub(crate) fn zero(&mut self, terms: &mut Terms, id: StateVarId) -> TermId {
        let shape = self.semantics.shape(id);
        let zero = scalar::literal(terms, 0, shape, self.semantics.arithmetic(id));
        match self.semantics.layout.get(id).kind {
            kind if kind.is_array() => {
                let sort = self.semantics.sort(terms, id);
                terms.const_array(sort, zero)
            }
            _ => zero,
        }
    }

    fn initial_part(
        &mut self,
        terms: &mut Terms,
        spot: Spot,
        address: TermId,
        offset_bits: u64,
        value: &InitialValue,
    ) {
        let program = self.semantics.program;
        let at = |this: &mut Self, terms: &mut Terms, byte: u64| {
            let offset = this.bytes(terms, i128::from(byte));
            let place = this.advance(terms, address, offset);
            (this.semantics.points_to.part(spot, byte as i64), place)
        };
        let byte = offset_bits / 8;
        match value {
            InitialValue::Scalar(expr) | InitialValue::Bits(expr, _) => {
                let (spot, place) = at(self, terms, byte);
                let term = self.number(terms, *expr, Evaluated::Always);
                let bits = match value {
                    InitialValue::Bits(_, width) => Some(((offset_bits % 8) as u32, *width)),
                    _ => None,
                };
                let ty = program.expr(*expr).ty;
                let owner = self.owner_of(terms, *expr, Evaluated::Always);
                let scalar = Scalar {
                    spot,
                    address: Some(place),
                    ty,
                    bits,
                };
                self.write_pointer(terms, scalar, term, owner);
            }
            InitialValue::Bytes(bytes) => {
                let char_type = self.plain_type(1);
                let Some(char_type) = char_type.filter(|_| bytes.len() <= MAX_BYTES) else {
                    self.exact = false;
                    for region in self.semantics.points_to.regions().of_class(spot.class) {
                        self.forget(terms, self.semantics.layout.region(region));
                    }
                    return;
                };
                for (index, &value) in bytes.iter().enumerate() {
                    let (spot, place) = at(self, terms, byte + index as u64);
                    let term = terms.bv(i128::from(value), 8);
                    let scalar = Scalar {
                        spot,
                        address: Some(place),
                        ty: char_type,
                        bits: None,
                    };
                    self.write(terms, scalar, term);
                }
            }
        }
    }
}
