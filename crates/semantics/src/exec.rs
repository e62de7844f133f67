//! Running edges on symbolic states.

use crate::Semantics;
use crate::expr::Evaluated;
use crate::layout::{StateKind, StateVarId, rounded};
use crate::memory::Scalar;
use crate::scalar;
use crate::state::{Fresh, FreshOrigin, State};
use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, PlaceId, TypeId, VarId};
use hardbop_cfront::points_to::Spot;
use hardbop_cfront::program::{BinaryOp, Callee, ExprKind, Op, PlaceKind};
use hardbop_cfront::types::Type;
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
    frames: Vec<Frame>,
}

/// What a caller needs back when its callee returns.
#[derive(Clone, Debug)]
struct Frame {
    call: EdgeId,
    callee: FuncId,
    /// The callee's own state variables before the call, as written: an outer activation's.
    outer: Vec<(StateVarId, Option<TermId>)>,
}

/// Objects of up to this many scalars are copied and filled one by one.
const MAX_PARTS: usize = 1024;

impl<'s, 'p> Execution<'s, 'p> {
    /// A run that starts in any state.
    pub fn new(semantics: &'s Semantics<'p>) -> Execution<'s, 'p> {
        Execution {
            semantics,
            state: State::new(),
            facts: Vec::new(),
            fresh: Vec::new(),
            exact: true,
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
            Op::Skip | Op::EndScope { .. } | Op::Free { .. } => {}
            Op::VaStart { .. } | Op::VaCopy { .. } => self.exact = false,
            Op::Assume { condition, holds } => {
                let truth = self.truth(terms, *condition, Evaluated::Always);
                return Ok(if *holds { truth } else { terms.not(truth) });
            }
            Op::Assign { place, value } => self.assign(terms, *place, *value),
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
            Op::Allocate { place, size, .. } => self.allocate(terms, *place, *size),
            Op::FillMemory { to, byte, size } => self.fill(terms, *to, *byte, *size),
            Op::CopyMemory { to, from, size } => self.copy(terms, *to, *from, *size),
            Op::VaArg { place, .. } => {
                self.exact = false;
                self.havoc_place(terms, *place, "argument", FreshOrigin::Imprecise);
            }
            Op::Call { .. } => return Err(Unmodelled::Call(id)),
            Op::Unsupported { .. } => return Err(Unmodelled::Unsupported(id)),
        }
        Ok(pass)
    }

    fn assign(&mut self, terms: &mut Terms, place: PlaceId, value: ExprId) {
        let program = self.semantics.program;
        let ty = program.place(place).ty;
        if program.types.is_scalar(ty) {
            let value = self.number(terms, value, Evaluated::Always);
            self.store(terms, place, value);
        } else if let ExprKind::Load(from) = program.expr(value).kind {
            let values = self.read_parts(terms, from, ty);
            self.write_parts(terms, place, ty, values);
        }
    }

    /// The scalars of an object, or `None` where they are too many.
    fn read_parts(&mut self, terms: &mut Terms, place: PlaceId, ty: TypeId) -> Option<Vec<TermId>> {
        let parts = self.parts(terms, place, ty)?;
        Some(
            parts
                .into_iter()
                .map(|part| self.read(terms, part))
                .collect(),
        )
    }

    fn write_parts(
        &mut self,
        terms: &mut Terms,
        place: PlaceId,
        ty: TypeId,
        values: Option<Vec<TermId>>,
    ) {
        match (self.parts(terms, place, ty), values) {
            (Some(parts), Some(values)) => {
                for (part, value) in parts.into_iter().zip(values) {
                    self.write(terms, part, value);
                }
            }
            _ => {
                self.exact = false;
                self.havoc_regions(terms, place, ty, FreshOrigin::Imprecise);
            }
        }
    }

    /// The scalars of the object at a place.
    fn parts(&mut self, terms: &mut Terms, place: PlaceId, ty: TypeId) -> Option<Vec<Scalar>> {
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
                let spot = self.semantics.points_to.part(spot, leaf.first as i64);
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
            self.store(terms, place, value);
            return;
        }
        match self.parts(terms, place, ty) {
            Some(parts) => self.havoc_parts(terms, parts, name, origin),
            None => self.havoc_regions(terms, place, ty, origin),
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
        let sort = self.semantics.sort(terms, id);
        let name = self.semantics.layout.get(id).name.clone();
        let value = self.make_fresh(terms, &name, sort, origin);
        if !matches!(self.semantics.layout.get(id).kind, StateKind::Memory { .. }) {
            let range = scalar::in_range(terms, value, self.semantics.shape(id));
            self.facts.push(range);
        }
        self.state.set(id, value);
    }

    /// Any contents for the regions that an object at a place lies in, other objects' too.
    fn havoc_regions(
        &mut self,
        terms: &mut Terms,
        place: PlaceId,
        ty: TypeId,
        origin: FreshOrigin,
    ) {
        let Some(spot) = self.semantics.points_to.place(place) else {
            return;
        };
        let types = &self.semantics.program.types;
        let mut seen = Vec::new();
        for (offset, _, _) in hardbop_cfront::points_to::leaves(types, ty) {
            let at = self.semantics.points_to.part(spot, offset as i64);
            if let Some((id, _)) = self.kind_at(at)
                && !seen.contains(&id)
            {
                seen.push(id);
                self.havoc_variable(terms, id, origin);
            }
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

    /// A local begins its life with unknown contents.
    fn declare(&mut self, terms: &mut Terms, variable: VarId) {
        let origin = FreshOrigin::Uninitialised(variable);
        if let Some(holder) = self.semantics.layout.activation_address(variable) {
            // A new object: memory above the frontier is unknown already.
            let size = self
                .semantics
                .program
                .types
                .size_of(self.semantics.program.variable(variable).ty);
            let address = self.take(terms, None, size);
            self.state.set(holder, address);
            return;
        }
        let Some(spot) = self.semantics.points_to.variable(variable) else {
            return;
        };
        let entry = self.semantics.program.variable(variable);
        let regions = self.semantics.points_to.regions();
        let single = regions.of_class(spot.class).all(|region| {
            let id = self.semantics.layout.region(region);
            self.semantics.layout.get(id).variable == Some(variable)
        });
        if single {
            for region in regions.of_class(spot.class) {
                let id = self.semantics.layout.region(region);
                self.havoc_variable(terms, id, origin);
            }
            return;
        }
        let ty = entry.ty;
        match all_leaves(self.semantics, ty) {
            Some(leaves) => {
                let address = self.variable_address(terms, variable);
                let parts = self.parts_at(terms, spot, address, leaves);
                self.havoc_parts(terms, parts, &entry.name, origin);
            }
            None => {
                self.exact = false;
                for region in regions.of_class(spot.class) {
                    let id = self.semantics.layout.region(region);
                    self.havoc_variable(terms, id, origin);
                }
            }
        }
    }

    /// Takes memory from the frontier and gives its address.
    fn take(&mut self, terms: &mut Terms, size: Option<TermId>, constant: u64) -> TermId {
        let frontier = self.semantics.layout.frontier();
        let address = self.state.get(self.semantics, terms, frontier);
        let shape = self.semantics.pointer_shape();
        let taken = match size {
            // Rounded up: a size that is not known may be anything, so one more unit is taken.
            Some(size) => {
                let extra = self.bytes(terms, 32);
                let sum = self.advance(terms, size, extra);
                let rest = self.bytes(terms, 16);
                if scalar::is_int(terms, sum) {
                    let units = terms.int_div(sum, rest);
                    terms.int_mul(&[units, rest])
                } else {
                    let mask = terms.bv(-16, shape.width);
                    terms.bv_and(sum, mask)
                }
            }
            None => self.bytes(terms, i128::from(rounded(constant))),
        };
        let next = self.advance(terms, address, taken);
        // Memory is never exhausted: the new frontier lies above the old one.
        let grows = scalar::compare(terms, BinaryOp::Lt, address, next, shape);
        self.facts.push(grows);
        if let Some(size) = size {
            let fits = scalar::compare(terms, BinaryOp::Le, size, taken, shape);
            self.facts.push(fits);
        }
        let range = scalar::in_range(terms, next, shape);
        self.facts.push(range);
        self.state.set(frontier, next);
        address
    }

    fn allocate(&mut self, terms: &mut Terms, place: PlaceId, size: ExprId) {
        let shape = self.shape_of(self.semantics.program.expr(size).ty);
        let value = self.number(terms, size, Evaluated::Always);
        let constant = scalar::constant_signed(terms, value).filter(|&n| (0..1 << 40).contains(&n));
        let address = match constant {
            Some(constant) => self.take(terms, None, constant as u64),
            None => {
                let pointer = self.semantics.pointer_shape();
                let value = scalar::convert(terms, value, shape, pointer);
                let value =
                    scalar::encode(terms, value, pointer, self.semantics.pointer_arithmetic());
                self.take(terms, Some(value), 0)
            }
        };
        self.store(terms, place, address);
    }

    /// The scalars of the regions of a class that lie in `size` bytes from a pointer on.
    fn range_parts(
        &mut self,
        terms: &mut Terms,
        pointer: ExprId,
        size: u64,
    ) -> Option<Vec<Scalar>> {
        let spot = self.semantics.points_to.pointer(pointer)?;
        let address = self.pointer(terms, pointer, Evaluated::Always);
        let regions = self.semantics.points_to.regions();
        let mut parts = Vec::new();
        for id in regions.of_class(spot.class) {
            let region = regions.get(id);
            let state = self.semantics.layout.region(id);
            let kind = self.semantics.layout.get(state).kind;
            let end = spot.offset + size as i64;
            match kind {
                StateKind::Cell { .. } => {
                    if region.end <= spot.offset || end <= region.start {
                        continue;
                    }
                    // One byte at a time where the range does not hold all of it.
                    let inside = spot.offset <= region.start && region.end <= end;
                    let unit = if inside { region.unit as i64 } else { 1 };
                    let from = region.start.max(spot.offset);
                    let to = region.end.min(end);
                    for offset in (from..to).step_by(unit as usize) {
                        let ty = self.plain_type(unit as u64)?;
                        let spot = Spot { offset, ..spot };
                        parts.push(Scalar {
                            spot,
                            address: None,
                            ty,
                            bits: None,
                        });
                    }
                }
                StateKind::Memory { unit } => {
                    let stride = self.semantics.layout.stride(unit);
                    let known = region.start != i64::MIN;
                    let first = if known && unit > 1 {
                        (region.start - spot.offset).rem_euclid(stride as i64)
                    } else {
                        0
                    };
                    let ty = self.plain_type(unit)?;
                    let mut at = first as u64;
                    while at + unit <= size {
                        let offset = self.bytes(terms, i128::from(at));
                        let place = self.advance(terms, address, offset);
                        let spot = Spot {
                            offset: if known { region.start } else { spot.offset },
                            ..spot
                        };
                        parts.push(Scalar {
                            spot,
                            address: Some(place),
                            ty,
                            bits: None,
                        });
                        at += stride;
                        if parts.len() > MAX_PARTS {
                            return None;
                        }
                    }
                }
                StateKind::Frontier | StateKind::Address => {}
            }
            if parts.len() > MAX_PARTS {
                return None;
            }
        }
        Some(parts)
    }

    /// An unsigned integer type of that many bytes, if the program has one of that size.
    pub(crate) fn plain_type(&self, bytes: u64) -> Option<TypeId> {
        self.semantics.plain_types.get(&bytes).copied()
    }

    pub(crate) fn constant_size(&mut self, terms: &mut Terms, size: ExprId) -> Option<u64> {
        let value = self.number(terms, size, Evaluated::Always);
        scalar::constant_signed(terms, value)
            .and_then(|n| u64::try_from(n).ok())
            .filter(|&n| n <= 8 * MAX_PARTS as u64)
    }

    fn fill(&mut self, terms: &mut Terms, to: ExprId, byte: ExprId, size: ExprId) {
        if self.fill_variable(terms, to, byte, size) {
            return;
        }
        let parts = self
            .constant_size(terms, size)
            .and_then(|size| self.range_parts(terms, to, size));
        let Some(parts) = parts else {
            self.havoc_class_of(terms, to, FreshOrigin::Imprecise);
            return;
        };
        let byte = self.low_byte(terms, byte);
        for part in parts {
            let value = self.repeated(terms, byte, part.ty);
            self.write(terms, part, value);
        }
    }

    fn low_byte(&mut self, terms: &mut Terms, byte: ExprId) -> TermId {
        let shape = self.shape_of(self.semantics.program.expr(byte).ty);
        let value = self.number(terms, byte, Evaluated::Always);
        let bits = scalar::to_bits(terms, value, shape);
        terms.extract(bits, 7, 0)
    }

    fn repeated(&mut self, terms: &mut Terms, byte: TermId, ty: TypeId) -> TermId {
        let size = self.semantics.program.types.size_of(ty);
        let mut word = byte;
        for _ in 1..size {
            word = terms.concat(word, byte);
        }
        word
    }

    /// Fills a whole variable that is alone in its class, however large.
    fn fill_variable(&mut self, terms: &mut Terms, to: ExprId, byte: ExprId, size: ExprId) -> bool {
        let program = self.semantics.program;
        let ExprKind::AddressOf(place) = strip_converts(self.semantics, to) else {
            return false;
        };
        let PlaceKind::Var(variable) = program.place(place).kind else {
            return false;
        };
        let whole = program.types.size_of(program.variable(variable).ty);
        let value = self.number(terms, size, Evaluated::Always);
        if scalar::constant_signed(terms, value) != Some(i128::from(whole)) {
            return false;
        }
        let Some(spot) = self.semantics.points_to.variable(variable) else {
            return false;
        };
        let regions = self.semantics.points_to.regions();
        let ids: Vec<StateVarId> = regions
            .of_class(spot.class)
            .map(|r| self.semantics.layout.region(r))
            .collect();
        if !ids
            .iter()
            .all(|&id| self.semantics.layout.get(id).variable == Some(variable))
        {
            return false;
        }
        let byte = self.low_byte(terms, byte);
        for id in ids {
            let shape = self.semantics.shape(id);
            let arithmetic = self.semantics.arithmetic(id);
            let mut word = byte;
            while terms.width(word) < shape.width {
                word = terms.concat(byte, word);
            }
            let word = terms.extract(word, shape.width - 1, 0);
            let value = scalar::encode(terms, word, shape, arithmetic);
            let filled = match self.semantics.layout.get(id).kind {
                StateKind::Memory { .. } => {
                    let sort = self.semantics.sort(terms, id);
                    terms.const_array(sort, value)
                }
                _ => value,
            };
            self.state.set(id, filled);
        }
        true
    }

    fn copy(&mut self, terms: &mut Terms, to: ExprId, from: ExprId, size: ExprId) {
        let size = self.constant_size(terms, size);
        let parts = size.and_then(|size| {
            let targets = self.range_parts(terms, to, size)?;
            let sources = self.range_parts(terms, from, size)?;
            // One class holds both; cells of one object cannot be the source and the target.
            (targets.len() == sources.len()
                && targets.iter().zip(&sources).all(|(a, b)| a.ty == b.ty))
            .then_some((targets, sources))
        });
        match parts {
            Some((targets, sources)) => {
                let values: Vec<TermId> = sources
                    .into_iter()
                    .map(|part| self.read(terms, part))
                    .collect();
                for (part, value) in targets.into_iter().zip(values) {
                    self.write(terms, part, value);
                }
            }
            None => self.havoc_class_of(terms, to, FreshOrigin::Imprecise),
        }
    }

    /// Enters a function that a call edge calls: binds its parameters, and gives the condition
    /// under which this is the function called.
    pub fn enter(&mut self, terms: &mut Terms, call: EdgeId, callee: FuncId) -> TermId {
        let program = self.semantics.program;
        let Op::Call {
            callee: how,
            arguments,
            ..
        } = &program.edges[call.index()].op
        else {
            return terms.bool(false);
        };
        let condition = match how {
            Callee::Direct(_) => terms.bool(true),
            Callee::Indirect { pointer, .. } => {
                let pointer = self.pointer(terms, *pointer, Evaluated::Always);
                let distance = self.semantics.layout.function_distance(callee);
                let address = self.at_distance(terms, distance);
                terms.eq(pointer, address)
            }
        };
        let function = program.function(callee);
        enum Passed {
            Scalar(TermId),
            Parts(Option<Vec<TermId>>),
        }
        let mut passed = Vec::new();
        for (&argument, _) in arguments.iter().zip(&function.formals) {
            let ty = program.expr(argument).ty;
            passed.push(if program.types.is_scalar(ty) {
                Passed::Scalar(self.number(terms, argument, Evaluated::Always))
            } else if let ExprKind::Load(place) = program.expr(argument).kind {
                Passed::Parts(self.read_parts(terms, place, ty))
            } else {
                Passed::Parts(None)
            });
        }
        let own = self.semantics.frame_variables(callee);
        let outer = own
            .iter()
            .map(|&id| (id, self.state.written_to(id)))
            .collect();
        self.frames.push(Frame {
            call,
            callee,
            outer,
        });
        for &variable in function
            .locals
            .iter()
            .chain(&function.formals)
            .chain(&function.result)
        {
            self.declare(terms, variable);
        }
        for (value, &formal) in passed.into_iter().zip(&function.formals) {
            let Some(spot) = self.semantics.points_to.variable(formal) else {
                continue;
            };
            let ty = program.variable(formal).ty;
            let address = self.variable_address(terms, formal);
            match value {
                Passed::Scalar(value) => {
                    let scalar = Scalar {
                        spot,
                        address: Some(address),
                        ty,
                        bits: None,
                    };
                    self.write(terms, scalar, value);
                }
                Passed::Parts(values) => {
                    if let (Some(values), Some(leaves)) = (values, all_leaves(self.semantics, ty)) {
                        let parts = self.parts_at(terms, spot, address, leaves);
                        for (part, value) in parts.into_iter().zip(values) {
                            self.write(terms, part, value);
                        }
                    } else {
                        self.exact = false;
                    }
                }
            }
        }
        condition
    }

    /// Leaves the function that was entered last: its result goes where the call wants it.
    /// Does nothing if no call was entered.
    pub fn leave(&mut self, terms: &mut Terms) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let program = self.semantics.program;
        let result = match &program.edges[frame.call.index()].op {
            Op::Call { result, .. } => *result,
            _ => None,
        };
        let returned = program.function(frame.callee).result;
        let values = match (result, returned) {
            (Some(_), Some(variable)) => {
                let ty = program.variable(variable).ty;
                let spot = self.semantics.points_to.variable(variable);
                spot.zip(all_leaves(self.semantics, ty))
                    .map(|(spot, leaves)| {
                        let address = self.variable_address(terms, variable);
                        let parts = self.parts_at(terms, spot, address, leaves);
                        parts
                            .into_iter()
                            .map(|part| self.read(terms, part))
                            .collect::<Vec<_>>()
                    })
            }
            _ => None,
        };
        for (id, value) in frame.outer {
            match value {
                Some(value) => self.state.set(id, value),
                None => self.state.reset(id),
            }
        }
        if let Some(place) = result {
            let ty = program.place(place).ty;
            self.write_parts(terms, place, ty, values);
        }
    }
}

/// A scalar part of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// Its distance from the start in bytes.
    pub offset: u64,
    /// The distance of its twin in the first elements of the arrays around it.
    pub first: u64,
    pub ty: TypeId,
    pub bits: Option<(u32, u32)>,
}

/// Every scalar part of a type, all elements of arrays too; `None` if there are too many.
pub(crate) fn all_leaves(semantics: &Semantics<'_>, ty: TypeId) -> Option<Vec<Leaf>> {
    let types = &semantics.program.types;
    let mut out = Vec::new();
    let mut pending = vec![(0, 0, ty)];
    while let Some((offset, first, ty)) = pending.pop() {
        match types.get(ty) {
            Type::Array { element, length } => {
                let size = types.size_of(*element);
                if *length as usize + pending.len() > MAX_PARTS {
                    return None;
                }
                pending.extend(
                    (0..*length)
                        .rev()
                        .map(|i| (offset + i * size, first, *element)),
                );
            }
            Type::Record(record) => {
                for field in types.record(*record).fields.iter().rev() {
                    match field.bit_width {
                        Some(width) => out.push(Leaf {
                            offset: offset + field.offset(),
                            first: first + field.offset(),
                            ty: field.ty,
                            bits: Some(((field.offset_bits % 8) as u32, width)),
                        }),
                        None => pending.push((
                            offset + field.offset(),
                            first + field.offset(),
                            field.ty,
                        )),
                    }
                }
            }
            _ if types.is_scalar(ty) => out.push(Leaf {
                offset,
                first,
                ty,
                bits: None,
            }),
            _ => {}
        }
        if out.len() > MAX_PARTS {
            return None;
        }
    }
    out.sort_by_key(|leaf| (leaf.offset, leaf.bits, leaf.ty));
    Some(out)
}

/// The expression under conversions between pointers.
fn strip_converts(semantics: &Semantics<'_>, mut expr: ExprId) -> ExprKind {
    let program = semantics.program;
    loop {
        match program.expr(expr).kind {
            ExprKind::Convert(operand)
                if matches!(
                    program.types.get(program.expr(operand).ty),
                    Type::Pointer(_)
                ) =>
            {
                expr = operand;
            }
            kind => return kind,
        }
    }
}
