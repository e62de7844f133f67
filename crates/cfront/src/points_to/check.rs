//! Points-to is a claim: this checks it, statement by statement.
//!
//! In come a program and a [`PointsTo`], whoever made it; out comes the first statement that does
//! not keep it, if there is one. There is no search here, no unification and no worklist: the
//! claims are given, and each expression, place and edge is looked at once. What the analysis and
//! this page share is the meaning of [`PointsTo`]: a class and an offset for every place and for
//! what every value points to, and for every scalar in memory what it points to.

mod regions;
mod unwritten;

use super::{Leaf, PointsTo, Spot, bit_field, leaves};
use crate::ids::{EdgeId, ExprId, FuncId, PlaceId, TypeId};
use crate::operands::each_load;
use crate::program::{
    BinaryOp, Callee, ExprKind, Initial, InitialValue, Op, Origin, PlaceKind, Program, UnaryOp,
};
use crate::types::Type;
use hardbop_budget::{Budget, Stopped};
use std::fmt;

/// A claim of a points-to analysis that a program does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    what: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Broken {}

/// That the claims stand, or what breaks them.
pub type Checked = Result<(), Broken>;

/// Checks that every statement of a program keeps what is claimed.
pub fn check(program: &Program, claims: &PointsTo, budget: &Budget) -> Result<Checked, Stopped> {
    let mut ticks = budget.ticks();
    let c = Checker { program, claims };
    let ids = |count: usize| 0..count as u32;
    let exprs = ids(program.exprs.len()).map(|id| c.expression(ExprId(id)));
    let places = ids(program.places.len()).map(|id| c.place(PlaceId(id)));
    let initials = (0..program.variables.len()).map(|index| c.initial(index));
    let edges = ids(program.edges.len()).map(|id| c.edge(EdgeId(id)));
    let functions = ids(program.functions.len()).map(|id| c.unwritten(FuncId(id)));
    let all = std::iter::once_with(|| c.regions()).chain(exprs);
    for checked in all
        .chain(places)
        .chain(initials)
        .chain(edges)
        .chain(functions)
    {
        ticks.tick()?;
        if checked.is_err() {
            return Ok(checked);
        }
    }
    Ok(Ok(()))
}

struct Checker<'a> {
    program: &'a Program,
    claims: &'a PointsTo,
}

impl Checker<'_> {
    fn must(&self, holds: bool, what: impl FnOnce() -> String) -> Checked {
        if holds {
            Ok(())
        } else {
            Err(Broken { what: what() })
        }
    }

    fn value(&self, expr: ExprId) -> Option<Spot> {
        self.claims.pointers[expr.index()]
    }

    fn at(&self, place: PlaceId) -> Result<Spot, Broken> {
        self.claims.places[place.index()].ok_or_else(|| Broken {
            what: format!("place {} lies nowhere", place.0),
        })
    }

    fn pointee(&self, spot: Spot) -> Option<Spot> {
        self.claims.pointees.get(&spot).copied()
    }

    fn is_collapsed(&self, spot: Spot) -> bool {
        self.claims.classes[spot.class.0 as usize].collapsed
    }

    /// A value that points there is kept in the scalar at a spot.
    fn flows(&self, value: Option<Spot>, to: Spot, what: &str) -> Checked {
        let kept = value.is_none() || self.pointee(to) == value;
        self.must(kept, || {
            format!("{what}: a pointer to {value:?} is lost at {to:?}")
        })
    }

    /// Where the value of one expression points to, that of another may point to.
    fn includes(&self, from: ExprId, to: ExprId) -> Checked {
        let (value, kept) = (self.value(from), self.value(to));
        self.must(value.is_none() || value == kept, || {
            format!(
                "expression {} forgets what expression {} points to",
                to.0, from.0
            )
        })
    }

    /// A value that is computed from others points anywhere in their objects.
    fn blurs(&self, from: ExprId, to: ExprId) -> Checked {
        self.includes(from, to)?;
        let known = self.value(from);
        let fine = known.is_none_or(|spot| self.is_collapsed(spot));
        self.must(fine, || {
            format!("expression {} is computed with an offset that counts", to.0)
        })
    }

    fn is_wide(&self, ty: TypeId) -> bool {
        let types = &self.program.types;
        let width = types.model().pointer_size() as u32 * 8;
        match types.get(ty) {
            Type::Pointer(_) => true,
            Type::Int { width: own, .. } => *own == width,
            _ => false,
        }
    }

    fn number(&self, id: ExprId) -> Option<i64> {
        let expr = self.program.expr(id);
        let ExprKind::Int(bits) = expr.kind else {
            return None;
        };
        let width = self.program.types.bit_width(expr.ty)?.clamp(1, 64);
        let unused = 64 - width;
        Some(((bits as u64) << unused) as i64 >> unused)
    }

    fn expression(&self, id: ExprId) -> Checked {
        let expr = self.program.expr(id);
        match expr.kind {
            ExprKind::Load(place) => {
                if !self.program.types.is_scalar(expr.ty) {
                    return Ok(());
                }
                let held = self.pointee(self.at(place)?);
                self.must(held.is_none() || held == self.value(id), || {
                    format!("expression {} does not see the pointer that it loads", id.0)
                })
            }
            ExprKind::AddressOf(place) => {
                let spot = self.at(place)?;
                self.must(self.value(id) == Some(spot), || {
                    format!("expression {} is not the address of its place", id.0)
                })
            }
            ExprKind::Function(function) => {
                let spot = self.value(id);
                let known = spot.is_some_and(|spot| {
                    let class = &self.claims.classes[spot.class.0 as usize];
                    class.functions.contains(&function)
                });
                self.must(known, || {
                    format!("function {} is not where it is named", function.0)
                })
            }
            ExprKind::Unary(op, operand) => match op {
                UnaryOp::Negate
                | UnaryOp::BitNot
                | UnaryOp::ByteSwap
                | UnaryOp::FloatAbs
                | UnaryOp::FloatFloor
                | UnaryOp::FloatCeil
                | UnaryOp::FloatTrunc
                | UnaryOp::FloatRound
                | UnaryOp::FloatRint => self.blurs(operand, id),
                UnaryOp::Not
                | UnaryOp::PopCount
                | UnaryOp::LeadingZeros
                | UnaryOp::TrailingZeros
                | UnaryOp::FloatSqrt
                | UnaryOp::IsNan
                | UnaryOp::IsInfinite
                | UnaryOp::IsFinite
                | UnaryOp::IsNormal
                | UnaryOp::SignBit => Ok(()),
            },
            ExprKind::Binary(op, left, right) => match op {
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::CopySign => {
                    self.blurs(left, id)?;
                    self.blurs(right, id)
                }
                BinaryOp::Shl
                | BinaryOp::Shr
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::FloatMod => self.blurs(left, id),
                BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge => self.compared(left, right),
                BinaryOp::And | BinaryOp::Or => Ok(()),
            },
            ExprKind::Rounded { op, operands, .. } => {
                let mut operands = operands[..op.arity()].iter();
                operands.try_for_each(|&operand| self.blurs(operand, id))
            }
            ExprKind::PointerAdd {
                pointer,
                index,
                scale,
            } => self.moved(id, pointer, self.number(index), scale),
            ExprKind::Convert(operand) => {
                let from = self.program.expr(operand).ty;
                if matches!(self.program.types.get(expr.ty), Type::Bool) {
                    Ok(())
                } else if self.is_wide(from) && self.is_wide(expr.ty) {
                    self.includes(operand, id)
                } else {
                    self.blurs(operand, id)
                }
            }
            ExprKind::Conditional {
                then, otherwise, ..
            } => {
                self.includes(then, id)?;
                self.includes(otherwise, id)
            }
            // Their distance, added to one, leads to the other.
            ExprKind::PointerDifference { left, right, .. } => {
                let classes = [left, right].map(|expr| self.value(expr).map(|spot| spot.class));
                let [left, right] = classes;
                self.must(left.is_none() || right.is_none() || left == right, || {
                    format!("expression {} subtracts pointers of two classes", id.0)
                })
            }
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Overflows { .. }
            | ExprKind::ValidAccess { .. }
            | ExprKind::ValidFree { .. }
            | ExprKind::PointsToConstant { .. }
            | ExprKind::HeapIs { .. }
            | ExprKind::ObjectSize { .. }
            | ExprKind::Open { .. } => Ok(()),
        }
    }

    /// A pointer from outside may be the one that it is compared with.
    fn compared(&self, left: ExprId, right: ExprId) -> Checked {
        let (Some(a), Some(b)) = (self.value(left), self.value(right)) else {
            return Ok(());
        };
        let wide = self.is_wide(self.program.expr(left).ty);
        let outside = |spot: Spot| {
            let class = &self.claims.classes[spot.class.0 as usize];
            let known = !class.variables.is_empty() || !class.allocations.is_empty();
            class.external || !known && class.functions.is_empty()
        };
        self.must(a == b || !wide || !(outside(a) || outside(b)), || {
            format!(
                "expression {} is compared with a pointer from outside",
                left.0
            )
        })
    }

    /// What the environment writes somewhere may be a pointer from outside.
    fn written_outside(&self, spot: Spot, ty: TypeId) -> Checked {
        for (offset, leaf, _) in self.scalars(ty) {
            if !matches!(self.program.types.get(leaf), Type::Pointer(_)) {
                continue;
            }
            let at = self.claims.part(spot, offset as i64);
            let external = self
                .pointee(at)
                .is_some_and(|pointee| self.claims.classes[pointee.class.0 as usize].external);
            self.must(external, || {
                format!("a pointer from outside is not expected at {at:?}")
            })?;
        }
        Ok(())
    }

    /// What a function without a body can reach is one class, which points to itself.
    fn known_outside(&self, pointer: ExprId) -> Checked {
        let Some(spot) = self.value(pointer) else {
            return Ok(());
        };
        let class = &self.claims.classes[spot.class.0 as usize];
        let (from, to) = (i64::MIN, i64::MAX);
        let at = |offset| Spot { offset, ..spot };
        let mut held = self.claims.pointees.range(at(from)..at(to));
        let closed = held.all(|(_, pointee)| pointee.class == spot.class);
        self.must(class.external && class.collapsed && closed, || {
            format!("expression {} reaches more than is said", pointer.0)
        })
    }

    /// A pointer that moves points to where it moved, whichever element its offset stood for.
    fn moved(&self, id: ExprId, pointer: ExprId, count: Option<i64>, scale: u64) -> Checked {
        let Some(base) = self.value(pointer) else {
            return Ok(());
        };
        let lost = || format!("expression {} does not say where it moves to", id.0);
        if self.is_collapsed(base) || scale == 0 {
            return self.must(self.value(id) == Some(base), lost);
        }
        let expected = match count {
            Some(0) => base,
            // What holds of a move by any number of elements holds of one by a known number.
            Some(_) if self.value(id) == Some(base) && self.walks(id, base, scale).is_ok() => base,
            Some(count) => {
                let bytes = count.saturating_mul(scale as i64);
                let moved = self.claims.part(base, bytes);
                if self.claims.element_at(base).is_some() {
                    self.moved_in_array(id, base, bytes)?;
                }
                moved
            }
            None => {
                self.walks(id, base, scale)?;
                base
            }
        };
        self.must(self.value(id) == Some(expected), lost)
    }

    /// A move by known bytes from an element that is not known: it must come to the same offset
    /// from every element, or to where nobody looks.
    fn moved_in_array(&self, id: ExprId, base: Spot, bytes: i64) -> Checked {
        let target = self.claims.part(base, bytes);
        let fold = &self.claims.folds[base.class.0 as usize];
        let agrees = |offset: i64| {
            let there = self.claims.part(Spot { offset, ..base }, bytes);
            there == target || !self.is_accessed(there, 1)
        };
        let twins = fold.twins(base.offset, bytes.unsigned_abs());
        // By whole elements in a class that has nothing but the array: what the offset says does
        // not matter until somebody looks there.
        let sizes = fold.around(base.offset);
        let element = sizes.min().filter(|&size| bytes % size as i64 == 0);
        if element.is_some_and(|element| self.walks(id, base, element).is_ok())
            && !self.is_accessed(target, 1)
        {
            return Ok(());
        }
        self.must(twins.into_iter().all(agrees), || {
            format!("expression {} may leave its array", id.0)
        })
    }

    /// A move by an unknown number of elements: wherever it comes to, the offset is the same, or
    /// nobody looks there.
    fn walks(&self, id: ExprId, base: Spot, scale: u64) -> Checked {
        let fold = &self.claims.folds[base.class.0 as usize];
        let larger = fold.around(base.offset).filter(|&size| size > scale);
        let even = larger.into_iter().all(|size| size % scale == 0);
        self.must(even, || {
            format!("expression {} walks between elements", id.0)
        })?;
        let (low, high) = self.extent(base);
        let step = scale as i64;
        let mut at = base.offset - (base.offset - low).div_euclid(step) * step;
        let mut looks = 0;
        while at < high {
            let there = self.claims.part(Spot { offset: at, ..base }, 0);
            let same = there == base || !self.is_accessed(there, scale);
            looks += 1;
            self.must(same && looks <= MOST_LOOKS, || {
                format!("expression {} may leave its array", id.0)
            })?;
            let skipped = fold.leaves_at(at, step).filter(|_| there == base);
            at = skipped.unwrap_or(at + step);
        }
        Ok(())
    }

    /// The offsets at which anything lies in the objects of a class before they repeat.
    fn extent(&self, spot: Spot) -> (i64, i64) {
        let regions = self.claims.regions();
        let (mut low, mut high) = (spot.offset, spot.offset + 1);
        for id in regions.of_class(spot.class) {
            let region = regions.get(id);
            (low, high) = (low.min(region.start), high.max(region.end));
        }
        self.claims.folds[spot.class.0 as usize].extent(low, high)
    }

    /// Whether any access of the program touches one of so many bytes from a spot on.
    fn is_accessed(&self, spot: Spot, bytes: u64) -> bool {
        let regions = self.claims.regions();
        regions.of_class(spot.class).any(|id| {
            let region = regions.get(id);
            region.start < spot.offset.saturating_add_unsigned(bytes) && spot.offset < region.end
        })
    }

    fn place(&self, id: PlaceId) -> Checked {
        let program = self.program;
        let Some(spot) = self.claims.places[id.index()] else {
            return Ok(());
        };
        let expected = match program.place(id).kind {
            PlaceKind::Var(variable) => self.claims.variables[variable.index()],
            PlaceKind::Deref(pointer) => match self.value(pointer) {
                Some(spot) => Some(spot),
                // It points to nothing that is known.
                None => return Ok(()),
            },
            PlaceKind::Field(base, index) => {
                let offset = match program.types.get(program.place(base).ty) {
                    Type::Record(record) => {
                        program.types.record(*record).fields[index as usize].offset()
                    }
                    _ => 0,
                };
                Some(self.claims.part(self.at(base)?, offset as i64))
            }
            PlaceKind::Index(base, index) => {
                let array = self.at(base)?;
                let element = program.types.size_of(program.place(id).ty);
                let length = match *program.types.get(program.place(base).ty) {
                    Type::Array { length, .. } if !program.is_flexible(base) && length > 0 => {
                        length
                    }
                    _ => u64::MAX,
                };
                match self.number(index) {
                    Some(index) => {
                        let bytes = index.saturating_mul(element as i64);
                        Some(self.claims.part(array, bytes))
                    }
                    None => {
                        self.alike(id, array, element, length)?;
                        Some(array)
                    }
                }
            }
        };
        self.must(expected == Some(spot), || {
            format!("place {} is said to lie elsewhere", id.0)
        })
    }

    /// All elements of an array have one offset.
    fn alike(&self, id: PlaceId, array: Spot, element: u64, length: u64) -> Checked {
        let mut ends = (0..length.min(MOST_LOOKS as u64)).chain(length.checked_sub(1));
        let alike = ends.all(|index| {
            let bytes = index.saturating_mul(element).min(1 << 39);
            index == u64::MAX - 1 || self.claims.part(array, bytes as i64) == array
        });
        self.must(alike, || format!("place {}: elements are told apart", id.0))
    }

    fn scalars(&self, ty: TypeId) -> Vec<Leaf> {
        if self.program.types.is_scalar(ty) {
            vec![(0, ty, None)]
        } else {
            leaves(&self.program.types, ty)
        }
    }

    /// A place is read or written as a whole.
    fn touched(&self, place: PlaceId) -> Checked {
        let spot = self.at(place)?;
        let ty = self.program.place(place).ty;
        if let Some(bits) = bit_field(self.program, place) {
            return self.accessed(spot, (0, ty, Some(bits)));
        }
        for leaf in self.scalars(ty) {
            self.accessed(self.claims.part(spot, leaf.0 as i64), leaf)?;
        }
        Ok(())
    }

    /// A value of any type goes to a spot.
    fn assigned(&self, to: Spot, value: ExprId, what: &str) -> Checked {
        let expr = self.program.expr(value);
        if self.program.types.is_scalar(expr.ty) {
            self.accessed(to, (0, expr.ty, None))?;
            return self.flows(self.value(value), to, what);
        }
        match expr.kind {
            ExprKind::Load(place) => self.copied(self.at(place)?, to, expr.ty, what),
            _ => Ok(()),
        }
    }

    fn copied(&self, from: Spot, to: Spot, ty: TypeId, what: &str) -> Checked {
        for leaf in self.scalars(ty) {
            let source = self.claims.part(from, leaf.0 as i64);
            let target = self.claims.part(to, leaf.0 as i64);
            self.accessed(target, leaf)?;
            self.flows(self.pointee(source), target, what)?;
        }
        Ok(())
    }

    fn initial(&self, index: usize) -> Checked {
        let variable = &self.program.variables[index];
        let (Some(start), Initial::Data(parts)) = (self.claims.variables[index], &variable.initial)
        else {
            return Ok(());
        };
        for part in parts {
            let at = self.claims.part(start, (part.offset_bits / 8) as i64);
            if let InitialValue::Scalar(expr) = part.value {
                self.accessed(at, (0, self.program.expr(expr).ty, None))?;
                self.flows(self.value(expr), at, "an initial value")?;
            }
        }
        Ok(())
    }

    fn edge(&self, id: EdgeId) -> Checked {
        let program = self.program;
        let op = &program.edges[id.index()].op;
        let mut loads = Ok(());
        each_load(program, op, &mut |place| {
            if loads.is_ok() {
                loads = self.touched(place);
            }
        });
        loads?;
        match op {
            Op::Assign { place, value } => {
                self.touched(*place)?;
                self.assigned(self.at(*place)?, *value, "an assignment")
            }
            Op::Call {
                callee,
                arguments,
                result,
            } => {
                for &function in callee.targets() {
                    self.call(function, arguments, *result)?;
                }
                if let Callee::Indirect { pointer, .. } = callee
                    && let Some(spot) = self.value(*pointer)
                {
                    let known = &self.claims.classes[spot.class.0 as usize].functions;
                    let linked = self.claims.targets(id);
                    let all = known.iter().all(|function| linked.contains(function));
                    return self.must(all, || format!("edge {} calls more than is said", id.0));
                }
                Ok(())
            }
            Op::Allocate { place, .. } => {
                self.touched(*place)?;
                let object = self.claims.allocation(id);
                self.must(object.is_some(), || format!("edge {} makes nothing", id.0))?;
                self.flows(object, self.at(*place)?, "an allocation")
            }
            Op::CopyMemory { to, from, .. } => {
                let (to, from) = (self.value(*to), self.value(*from));
                self.must(to.is_none() || from.is_none() || to == from, || {
                    format!("edge {} copies between classes", id.0)
                })
            }
            Op::Input { place, .. } | Op::Havoc { place } => {
                self.touched(*place)?;
                self.written_outside(self.at(*place)?, program.place(*place).ty)
            }
            Op::HavocMemory {
                pointer,
                size: None,
                ..
            } => self.known_outside(*pointer),
            Op::Skip
            | Op::Assume { .. }
            | Op::HavocMemory { .. }
            | Op::Declare { .. }
            | Op::EndScope { .. }
            | Op::Free { .. }
            | Op::FillMemory { .. }
            | Op::SetOpen { .. }
            | Op::Unsupported { .. } => Ok(()),
        }
    }

    fn call(&self, callee: FuncId, arguments: &[ExprId], result: Option<PlaceId>) -> Checked {
        let function = self.program.function(callee);
        for (index, &argument) in arguments.iter().enumerate() {
            match function.formals.get(index) {
                Some(formal) => {
                    if let Some(to) = self.claims.variables[formal.index()] {
                        self.assigned(to, argument, "an argument")?;
                    }
                }
                None if function.origin == Origin::Undefined => self.variadic(argument)?,
                // Nobody looks at it.
                None => {}
            }
        }
        if let (Some(place), Some(returned)) = (result, function.result)
            && let Some(from) = self.claims.variables[returned.index()]
        {
            self.touched(place)?;
            let ty = self.program.place(place).ty;
            self.copied(from, self.at(place)?, ty, "a result")?;
        }
        Ok(())
    }

    fn variadic(&self, argument: ExprId) -> Checked {
        let expr = self.program.expr(argument);
        let mut values = Vec::new();
        if self.program.types.is_scalar(expr.ty) {
            values.push(self.value(argument));
        } else if let ExprKind::Load(place) = expr.kind {
            let from = self.at(place)?;
            for (offset, _, _) in self.scalars(expr.ty) {
                values.push(self.pointee(self.claims.part(from, offset as i64)));
            }
        }
        let known = |value: Option<Spot>| value.is_none() || value == self.claims.variadic;
        self.must(values.into_iter().all(known), || {
            format!("argument {} is lost behind `...`", argument.0)
        })
    }
}

/// How many elements of an array are looked at: more than that are like the first ones.
const MOST_LOOKS: usize = 4096;

#[cfg(test)]
mod tests;
