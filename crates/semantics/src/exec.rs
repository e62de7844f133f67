//! Running edges on symbolic states.

mod calls;
mod objects;
mod ownership;
mod sizes;

use crate::Semantics;
use crate::expr::Evaluated;
use crate::layout::StateVarId;
use crate::leaves::{Leaf, all_leaves, padding};
use crate::memory::Scalar;
use crate::scalar;
use crate::state::{Fresh, FreshOrigin, State};
use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, PlaceId, TypeId, VarId};
use hardbop_cfront::points_to::Spot;
use hardbop_cfront::program::{ExprKind, Op};
use hardbop_logic::{Sort, TermId, Terms};
use std::fmt;

/// An edge that has no meaning in logic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmodelled {
    /// The construct at this edge is not supported.
    Unsupported(EdgeId),
    /// The edge is a call: callers decide whether to enter it ([`Execution::enter`]).
    Call(EdgeId),
}

impl fmt::Display for Unmodelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmodelled::Unsupported(_) => f.write_str("a construct that is not supported"),
            Unmodelled::Call(_) => f.write_str("a call where none is expected"),
        }
    }
}

impl std::error::Error for Unmodelled {}

/// A run in progress: the symbolic state and what is known of it.
#[derive(Clone, Debug)]
pub struct Execution<'s, 'p> {
    /// How the program is read.
    pub semantics: &'s Semantics<'p>,
    /// The state.
    pub state: State,
    /// What holds in every run that comes this far, apart from the conditions that it passed:
    /// ranges of types, divisors that are not zero, pointers that are not null.
    pub facts: Vec<TermId>,
    /// The symbols that were made up on the way, in order.
    pub fresh: Vec<Fresh>,
    /// Whether every model of the conditions and facts is a run; if not, a model is a guess.
    pub exact: bool,
    /// The assignment that is being run.
    pub(crate) running: Option<EdgeId>,
    frames: Vec<Frame>,
}

/// A scalar's value, and for a pointer, to which object it belongs.
#[derive(Clone, Copy, Debug)]
struct Value {
    number: TermId,
    owner: Option<TermId>,
}

/// What a caller needs back when its callee returns.
#[derive(Clone, Debug)]
struct Frame {
    call: EdgeId,
    callee: FuncId,
    /// The callee's own state variables before the call, as written: an outer activation's.
    outer: Vec<(StateVarId, Option<TermId>)>,
}

impl<'s, 'p> Execution<'s, 'p> {
    /// A run that starts in any state.
    pub fn new(semantics: &'s Semantics<'p>) -> Execution<'s, 'p> {
        Execution {
            semantics,
            state: State::new(),
            facts: Vec::new(),
            fresh: Vec::new(),
            exact: true,
            running: None,
            frames: Vec::new(),
        }
    }

    /// The run that is `self` where the condition holds and `other` where it does not. Both must
    /// have the same calls open.
    pub fn merge(
        mut self,
        other: Execution<'s, 'p>,
        condition: TermId,
        terms: &mut Terms,
    ) -> Execution<'s, 'p> {
        self.state = self
            .state
            .merge(&other.state, condition, self.semantics, terms);
        for (frame, otherwise) in self.frames.iter_mut().zip(&other.frames) {
            for ((id, value), (_, other)) in frame.outer.iter_mut().zip(&otherwise.outer) {
                if value != other {
                    let own = |value: Option<TermId>, terms: &mut Terms| match value {
                        Some(value) => value,
                        None => self.semantics.constant(terms, *id),
                    };
                    let (then, otherwise) = (own(*value, terms), own(*other, terms));
                    *value = Some(terms.ite(condition, then, otherwise));
                }
            }
        }
        self.fresh.extend(other.fresh);
        self.exact &= other.exact;
        self
    }

    /// How many calls have been entered and not left.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn make_fresh(
        &mut self,
        terms: &mut Terms,
        name: &str,
        sort: Sort,
        origin: FreshOrigin,
    ) -> TermId {
        let term = terms.fresh(name, sort);
        self.fresh.push(Fresh { term, origin });
        term
    }

    /// Whether a scalar expression is not zero here. Nothing is concluded from its being
    /// evaluated: it may be a formula about the program that no run computes.
    pub fn condition(&mut self, terms: &mut Terms, expr: ExprId) -> TermId {
        self.truth(terms, expr, Evaluated::Perhaps)
    }

    /// The number that a scalar expression has here, in the same way.
    pub fn value(&mut self, terms: &mut Terms, expr: ExprId) -> TermId {
        self.number(terms, expr, Evaluated::Perhaps)
    }

    /// Gives a scalar variable the value of an expression, of which no run need compute it.
    pub fn set_variable(&mut self, terms: &mut Terms, variable: VarId, value: ExprId) {
        let value = self.number(terms, value, Evaluated::Perhaps);
        let Some(spot) = self.semantics.points_to.variable(variable) else {
            return;
        };
        let address = Some(self.variable_address(terms, variable));
        let ty = self.semantics.program.variable(variable).ty;
        let scalar = Scalar {
            spot,
            address,
            ty,
            bits: None,
        };
        self.write(terms, scalar, value);
    }

    /// Forgets what a state variable holds: from now on, anything.
    pub fn forget(&mut self, terms: &mut Terms, id: StateVarId) {
        self.havoc_variable(terms, id, FreshOrigin::Imprecise);
    }

    /// Runs an edge that is not a call. Gives the condition under which a run passes it.
    pub fn edge(&mut self, terms: &mut Terms, id: EdgeId) -> Result<TermId, Unmodelled> {
        let program = self.semantics.program;
        let pass = terms.bool(true);
        match &program.edges[id.index()].op {
            Op::Skip | Op::SetOpen { .. } => {}
            Op::EndScope { variables } => {
                for &variable in variables {
                    self.end_life(terms, variable);
                }
            }
            Op::Free { pointer } => self.free(terms, *pointer),
            Op::Assume { condition, holds } => {
                let truth = self.truth(terms, *condition, Evaluated::Always);
                return Ok(if *holds { truth } else { terms.not(truth) });
            }
            Op::Assign { place, value } => {
                self.running = Some(id);
                self.assign(terms, *place, *value);
                self.running = None;
                self.note_visit(terms, *place);
            }
            Op::Input { place, name } => {
                let origin = FreshOrigin::Input(id);
                self.havoc_place(terms, *place, name, origin);
            }
            Op::Havoc { place } => {
                self.havoc_place(terms, *place, "unknown", FreshOrigin::Havoc(id));
            }
            Op::HavocMemory { pointer, size, .. } => match size {
                Some(_) => self.havoc_class_of(terms, *pointer, FreshOrigin::Havoc(id)),
                None => self.havoc_all(terms, FreshOrigin::Havoc(id)),
            },
            Op::Declare { variable } => self.declare(terms, *variable),
            Op::Allocate { place, size, .. } => self.allocate(terms, id, *place, *size),
            Op::FillMemory { to, byte, size } => self.fill(terms, *to, *byte, *size),
            Op::CopyMemory { to, from, size } => self.copy(terms, *to, *from, *size),
            Op::Call { .. } => return Err(Unmodelled::Call(id)),
            Op::Unsupported { .. } => return Err(Unmodelled::Unsupported(id)),
        }
        Ok(pass)
    }

    fn assign(&mut self, terms: &mut Terms, place: PlaceId, value: ExprId) {
        let program = self.semantics.program;
        let ty = program.place(place).ty;
        if program.types.is_scalar(ty) {
            let number = self.number(terms, value, Evaluated::Always);
            let owner = self.owner_of(terms, value, Evaluated::Always);
            self.store(terms, place, number, owner);
        } else if let ExprKind::Load(from) = program.expr(value).kind {
            let values = self.read_parts(terms, from, ty);
            self.write_parts(terms, place, ty, values);
        }
    }

    /// The scalars of an object, or `None` where they are too many.
    fn read_parts(&mut self, terms: &mut Terms, place: PlaceId, ty: TypeId) -> Option<Vec<Value>> {
        let parts = self.parts(terms, place, ty)?;
        Some(self.read_all(terms, parts))
    }

    fn read_all(&mut self, terms: &mut Terms, parts: Vec<Scalar>) -> Vec<Value> {
        let read = |part: Scalar| Value {
            owner: self.read_owner(terms, &part),
            number: self.read(terms, part),
        };
        parts.into_iter().map(read).collect()
    }

    fn write_all(&mut self, terms: &mut Terms, parts: Vec<Scalar>, values: Vec<Value>) {
        for (part, value) in parts.into_iter().zip(values) {
            self.write_pointer(terms, part, value.number, value.owner);
        }
    }

    fn write_parts(
        &mut self,
        terms: &mut Terms,
        place: PlaceId,
        ty: TypeId,
        values: Option<Vec<Value>>,
    ) {
        match (self.parts(terms, place, ty), values) {
            (Some(parts), Some(values)) => {
                self.havoc_padding_of(terms, place, ty);
                self.write_all(terms, parts, values);
            }
            _ => {
                self.exact = false;
                self.havoc_regions(terms, place, FreshOrigin::Imprecise);
            }
        }
    }

    /// The scalars of the object at a place.
    pub(crate) fn parts(
        &mut self,
        terms: &mut Terms,
        place: PlaceId,
        ty: TypeId,
    ) -> Option<Vec<Scalar>> {
        let spot = self.semantics.points_to.place(place)?;
        let leaves = all_leaves(self.semantics, ty)?;
        let address = self.address(terms, place, Evaluated::Always);
        Some(self.parts_at(terms, spot, address, leaves))
    }

    pub(crate) fn parts_at(
        &mut self,
        terms: &mut Terms,
        spot: Spot,
        address: TermId,
        leaves: Vec<Leaf>,
    ) -> Vec<Scalar> {
        leaves
            .into_iter()
            .map(|leaf| {
                let offset = self.bytes(terms, i128::from(leaf.offset));
                let at = self.advance(terms, address, offset);
                let spot = self.semantics.points_to.part(spot, leaf.offset as i64);
                Scalar {
                    spot,
                    address: Some(at),
                    ty: leaf.ty,
                    bits: leaf.bits,
                }
            })
            .collect()
    }

    fn unknown(
        &mut self,
        terms: &mut Terms,
        ty: TypeId,
        name: &str,
        origin: FreshOrigin,
    ) -> TermId {
        let shape = self.shape_of(ty);
        let sort = scalar::sort(shape, self.semantics.pointer_arithmetic());
        let value = self.make_fresh(terms, name, sort, origin);
        let range = scalar::in_range(terms, value, shape);
        self.facts.push(range);
        value
    }

    fn havoc_place(&mut self, terms: &mut Terms, place: PlaceId, name: &str, origin: FreshOrigin) {
        let program = self.semantics.program;
        let ty = program.place(place).ty;
        if program.types.is_scalar(ty) {
            let value = self.unknown(terms, ty, name, origin);
            self.store(terms, place, value, None);
            return;
        }
        match self.parts(terms, place, ty) {
            Some(parts) => {
                self.havoc_padding_of(terms, place, ty);
                self.havoc_parts(terms, parts, name, origin);
            }
            None => self.havoc_regions(terms, place, origin),
        }
    }

    /// What lies between the members of the object at a place becomes unknown.
    fn havoc_padding_of(&mut self, terms: &mut Terms, place: PlaceId, ty: TypeId) {
        if self.semantics.program.types.is_scalar(ty) {
            return;
        }
        if let Some(spot) = self.semantics.points_to.place(place) {
            let address = self.address(terms, place, Evaluated::Always);
            self.havoc_padding(terms, spot, address, ty);
        }
    }

    /// What lies between the members of an object becomes unknown, where anybody looks at it:
    /// a value of a record says nothing of it.
    fn havoc_padding(&mut self, terms: &mut Terms, spot: Spot, address: TermId, ty: TypeId) {
        let Some(byte) = self.plain_type(1) else {
            return;
        };
        for offset in padding(&self.semantics.program.types, ty) {
            let at = self.semantics.points_to.part(spot, offset as i64);
            if self.kind_at(at).is_none() {
                continue;
            }
            let distance = self.bytes(terms, i128::from(offset));
            let address = Some(self.advance(terms, address, distance));
            let value = self.unknown(terms, byte, "padding", FreshOrigin::Imprecise);
            let scalar = Scalar {
                spot: at,
                address,
                ty: byte,
                bits: None,
            };
            self.write(terms, scalar, value);
        }
    }

    fn havoc_parts(
        &mut self,
        terms: &mut Terms,
        parts: Vec<Scalar>,
        name: &str,
        origin: FreshOrigin,
    ) {
        for part in parts {
            let value = self.unknown(terms, part.ty, name, origin);
            self.write(terms, part, value);
        }
    }

    /// Any contents for a whole state variable.
    fn havoc_variable(&mut self, terms: &mut Terms, id: StateVarId, origin: FreshOrigin) {
        self.set_unknown(terms, id, origin);
        self.write_owners(terms, id, false);
    }

    fn set_unknown(&mut self, terms: &mut Terms, id: StateVarId, origin: FreshOrigin) {
        let sort = self.semantics.sort(terms, id);
        let name = self.semantics.layout.get(id).name.clone();
        let value = self.make_fresh(terms, &name, sort, origin);
        if !self.semantics.layout.get(id).kind.is_array() {
            let range = scalar::in_range(terms, value, self.semantics.shape(id));
            self.facts.push(range);
        }
        self.state.set(id, value);
    }

    /// Any contents for the regions that an object at a place lies in, other objects' too.
    fn havoc_regions(&mut self, terms: &mut Terms, place: PlaceId, origin: FreshOrigin) {
        let Some(spot) = self.semantics.points_to.place(place) else {
            return;
        };
        for region in self.semantics.points_to.regions().of_class(spot.class) {
            let id = self.semantics.layout.region(region);
            self.havoc_variable(terms, id, origin);
        }
    }

    fn class_variables(&self, pointer: ExprId) -> Vec<StateVarId> {
        let Some(spot) = self.semantics.points_to.pointer(pointer) else {
            return Vec::new();
        };
        let regions = self.semantics.points_to.regions();
        regions
            .of_class(spot.class)
            .map(|region| self.semantics.layout.region(region))
            .collect()
    }

    fn havoc_class_of(&mut self, terms: &mut Terms, pointer: ExprId, origin: FreshOrigin) {
        self.exact = false;
        for id in self.class_variables(pointer) {
            self.havoc_variable(terms, id, origin);
        }
    }

    fn havoc_all(&mut self, terms: &mut Terms, origin: FreshOrigin) {
        self.exact = false;
        let regions = self.semantics.points_to.regions().all().len() as u32;
        for index in 0..regions {
            let id = StateVarId(index);
            if self.semantics.layout.get(id).owner.is_none() {
                self.havoc_variable(terms, id, origin);
            }
        }
    }
}
