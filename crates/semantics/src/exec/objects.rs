//! Objects: how they begin, and ranges of bytes that are filled and copied.

use super::Execution;
use crate::Semantics;
use crate::expr::Evaluated;
use crate::layout::{StateKind, StateVarId, rounded};
use crate::leaves::{MAX_PARTS, all_leaves};
use crate::memory::Scalar;
use crate::scalar;
use crate::state::FreshOrigin;
use hardbop_cfront::ids::{EdgeId, ExprId, PlaceId, TypeId, VarId};
use hardbop_cfront::placement::{UNIT, alignment};
use hardbop_cfront::points_to::Spot;
use hardbop_cfront::points_to::regions::Region;
use hardbop_cfront::program::{BinaryOp, ExprKind, PlaceKind};
use hardbop_cfront::types::Type;
use hardbop_logic::{TermId, Terms};

impl Execution<'_, '_> {
    /// A local begins its life with unknown contents.
    pub(super) fn declare(&mut self, terms: &mut Terms, variable: VarId) {
        let origin = FreshOrigin::Uninitialised(variable);
        if let Some(holder) = self.semantics.layout.activation_address(variable) {
            // A new object: memory above the frontier is unknown already.
            let program = self.semantics.program;
            let size = program.types.size_of(program.variable(variable).ty);
            let align = alignment(program, variable);
            let more = if align == UNIT { 0 } else { align };
            let start = self.take(terms, None, size.saturating_add(more));
            let address = self.placed(terms, start, align);
            self.state.set(holder, address);
            self.begin_life(terms, variable);
            return;
        }
        self.begin_life(terms, variable);
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
                self.havoc_padding(terms, spot, address, ty);
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

    /// Where an object of that alignment begins in memory that was taken for it.
    fn placed(&mut self, terms: &mut Terms, start: TermId, align: u64) -> TermId {
        // What is taken begins at a multiple of the unit.
        let align = i128::from(align);
        if align == i128::from(UNIT) {
            return start;
        }
        if align < i128::from(UNIT) {
            let distance = self.bytes(terms, align);
            return self.advance(terms, start, distance);
        }
        let most = self.bytes(terms, align - 1);
        let end = self.advance(terms, start, most);
        if scalar::is_int(terms, end) {
            let unit = self.bytes(terms, align);
            let units = terms.int_div(end, unit);
            terms.int_mul(&[units, unit])
        } else {
            let mask = terms.bv(-align, self.semantics.pointer_shape().width);
            terms.bv_and(end, mask)
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
        // Memory is never exhausted: the new frontier lies above the old one. That is an assumption
        // which is printed; sizes that no address space has do not come here, since lowering makes
        // null of them.
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

    pub(super) fn allocate(
        &mut self,
        terms: &mut Terms,
        edge: EdgeId,
        place: PlaceId,
        size: ExprId,
    ) {
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
        self.note_birth(terms, edge, address);
        // What lies above the frontier is unknown already; so is what cells hold from now on.
        for id in self.semantics.cells_of_new_object(place) {
            self.havoc_variable(terms, id, FreshOrigin::Imprecise);
        }
        let owner = self.begin_object(terms, edge, address, size);
        self.store(terms, place, address, owner);
    }

    /// The scalars of the regions of a class that lie in `size` bytes from a pointer on, whole or
    /// in part; `None` where it is not known which these are, or they are too many.
    fn range_parts(
        &mut self,
        terms: &mut Terms,
        pointer: ExprId,
        size: u64,
    ) -> Option<Vec<Scalar>> {
        let semantics = self.semantics;
        let spot = semantics.points_to.pointer(pointer)?;
        let address = self.pointer(terms, pointer, Evaluated::Always);
        let regions = semantics.points_to.regions();
        // An offset inside of an array stands for that of any element, unless the expression says
        // which one it is.
        let element = semantics.points_to.element_at(spot);
        let exact = element.is_none() || names_first_element(semantics, pointer);
        let mut parts = Vec::new();
        for id in regions.of_class(spot.class) {
            let region = regions.get(id);
            let state = semantics.layout.region(id);
            match semantics.layout.get(state).kind {
                StateKind::Cell { .. } => {
                    if !exact {
                        return None;
                    }
                    self.cell_parts(spot, region, size, &mut parts)?;
                }
                StateKind::Memory { unit } => {
                    let ty = self.plain_type(unit)?;
                    let start = Spot {
                        offset: region.start,
                        ..spot
                    };
                    for value in values_in_range(semantics, spot, region, element, size) {
                        let distance = self.bytes(terms, i128::from(value.start));
                        parts.push(Scalar {
                            spot: start,
                            address: Some(self.advance(terms, address, distance)),
                            ty,
                            bits: value.bits(unit),
                        });
                        if parts.len() > MAX_PARTS {
                            return None;
                        }
                    }
                }
                StateKind::Frontier
                | StateKind::Address
                | StateKind::Identity
                | StateKind::Identities
                | StateKind::Extents
                | StateKind::Births { .. }
                | StateKind::References => {}
            }
            if parts.len() > MAX_PARTS {
                return None;
            }
        }
        Some(parts)
    }

    /// What lies of a cell in `size` bytes from a spot on: one byte at a time where that is not
    /// all of it.
    fn cell_parts(
        &self,
        spot: Spot,
        region: Region,
        size: u64,
        parts: &mut Vec<Scalar>,
    ) -> Option<()> {
        let end = spot.offset + size as i64;
        if region.end <= spot.offset || end <= region.start {
            return Some(());
        }
        let inside = spot.offset <= region.start && region.end <= end;
        let unit = if inside { region.unit } else { 1 };
        let ty = self.plain_type(unit)?;
        let (from, to) = (region.start.max(spot.offset), region.end.min(end));
        for offset in (from..to).step_by(unit as usize) {
            parts.push(Scalar {
                spot: Spot { offset, ..spot },
                address: None,
                ty,
                bits: None,
            });
        }
        Some(())
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

    pub(super) fn fill(&mut self, terms: &mut Terms, to: ExprId, byte: ExprId, size: ExprId) {
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
            self.write_owners(terms, id, scalar::constant_signed(terms, byte) == Some(0));
        }
        true
    }

    pub(super) fn copy(&mut self, terms: &mut Terms, to: ExprId, from: ExprId, size: ExprId) {
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
                let values = self.read_all(terms, sources);
                self.write_all(terms, targets, values);
            }
            None => self.havoc_class_of(terms, to, FreshOrigin::Imprecise),
        }
    }
}

/// A value of an array in memory that lies in a range of bytes: where it starts, counted from the
/// range, and which of its bytes lie in the range.
struct ValueInRange {
    start: i64,
    first: u64,
    count: u64,
}

impl ValueInRange {
    /// As bits of a value, if it is a part of one.
    fn bits(&self, unit: u64) -> Option<(u32, u32)> {
        (self.count < unit).then_some((self.first as u32 * 8, self.count as u32 * 8))
    }
}

/// The values of a region that may lie in `size` bytes from a spot on, whole or in part. Where no
/// value lies, there is no harm in naming one: nobody looks there.
fn values_in_range(
    semantics: &Semantics<'_>,
    spot: Spot,
    region: Region,
    element: Option<u64>,
    size: u64,
) -> impl Iterator<Item = ValueInRange> {
    let unit = region.unit as i64;
    let mut stride = semantics.layout.stride(region.unit) as i64;
    if element.is_some_and(|element| element % stride as u64 != 0) || region.start == i64::MIN {
        // The pointer may stand anywhere between the values.
        stride = 1;
    }
    let distance = if stride == 1 {
        0
    } else {
        (region.start - spot.offset).rem_euclid(stride)
    };
    // The first one that reaches into the range.
    let first = distance - (distance + unit - 1).div_euclid(stride) * stride;
    let last = size as i64;
    (first..last)
        .step_by(stride as usize)
        .filter_map(move |start| {
            let (from, to) = (start.max(0), (start + unit).min(last));
            (from < to).then(|| ValueInRange {
                start,
                first: (from - start) as u64,
                count: (to - from) as u64,
            })
        })
}

/// Whether a pointer expression names an object or its first element: the pointer stands just
/// where its offset says.
fn names_first_element(semantics: &Semantics<'_>, pointer: ExprId) -> bool {
    let program = semantics.program;
    let ExprKind::AddressOf(mut place) = strip_converts(semantics, pointer) else {
        return false;
    };
    loop {
        match program.place(place).kind {
            PlaceKind::Var(_) => return true,
            PlaceKind::Field(base, _) => place = base,
            PlaceKind::Index(base, index) => {
                if !matches!(program.expr(index).kind, ExprKind::Int(0)) {
                    return false;
                }
                place = base;
            }
            PlaceKind::Deref(pointer) => {
                let spot = semantics.points_to.pointer(pointer);
                return spot.is_some_and(|spot| semantics.points_to.element_at(spot).is_none());
            }
        }
    }
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
