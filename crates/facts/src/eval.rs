//! What is known of an expression where something is known of the state.

use crate::contents::{element, held_by, targets};
use crate::heap;
use crate::refine::refined;
use crate::state::{State, cell, held, mortal, numbers, reread};
use crate::value::{Base, Range, Value};
use hardbop_cfront::ids::{ExprId, PlaceId, TypeId, VarId};
use hardbop_cfront::program::{BinaryOp, ExprKind, PlaceKind, UnaryOp};
use hardbop_cfront::types::Type;
use hardbop_semantics::Semantics;
use std::collections::BTreeMap;

/// Deeper expressions are not looked at: every reading goes at most so deep, conditions included.
pub const DEPTH: u32 = 40;
/// What is looked at where a side of a choice is taken costs much, so it is at most so deep.
const SIDES: u32 = 4;

/// Reads expressions in a state.
pub struct Reader<'a, 'p> {
    /// The program's meaning.
    pub semantics: &'a Semantics<'p>,
    /// What is known.
    pub state: &'a State,
    /// How deep expressions are looked at.
    depth: u32,
}

impl<'a, 'p> Reader<'a, 'p> {
    /// Reads expressions in a state.
    pub fn new(semantics: &'a Semantics<'p>, state: &'a State) -> Reader<'a, 'p> {
        Reader::to(DEPTH, semantics, state)
    }

    /// The same to a depth.
    pub fn to(depth: u32, semantics: &'a Semantics<'p>, state: &'a State) -> Reader<'a, 'p> {
        Reader {
            semantics,
            state,
            depth,
        }
    }

    /// What is known of an expression.
    pub fn value(&self, expr: ExprId) -> Option<Value> {
        self.deep(expr, self.depth)
    }

    /// The numbers that an expression of an integer type may be.
    pub fn number(&self, expr: ExprId) -> Option<Range> {
        self.number_in(expr, self.depth)
    }

    /// Whether a condition holds, if that is known.
    pub fn truth(&self, expr: ExprId) -> Option<bool> {
        self.truth_in(expr, self.depth)
    }

    fn truth_in(&self, expr: ExprId, depth: u32) -> Option<bool> {
        match self.deep(expr, depth)? {
            Value::Number(range) if !range.has(0) => Some(true),
            Value::Number(range) => range.single().map(|number| number != 0),
            Value::Pointer(bases) => match bases.get(&Base::Null) {
                None => Some(true),
                Some(range) if !range.has(0) => Some(true),
                Some(range) => (bases.len() == 1 && range.single().is_some()).then_some(false),
            },
        }
    }

    fn number_in(&self, expr: ExprId, depth: u32) -> Option<Range> {
        let all = numbers(self.semantics, self.semantics.program.expr(expr).ty);
        match self.deep(expr, depth) {
            Some(Value::Number(range)) => Some(range),
            _ => all,
        }
    }

    fn deep(&self, id: ExprId, depth: u32) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        let program = self.semantics.program;
        let expr = program.expr(id);
        let number = |range: Option<Range>| {
            let all = numbers(self.semantics, expr.ty)?;
            Some(Value::Number(
                range.filter(|&range| all.covers(range)).unwrap_or(all),
            ))
        };
        match expr.kind {
            ExprKind::Int(bits) => match program.types.get(expr.ty) {
                Type::Pointer(_) if bits == 0 => Some(Value::null()),
                Type::Int { width, signed } if *width <= 64 => {
                    let all = Range::of_width(*width, *signed);
                    let value = (bits & ((1 << width) - 1)) as i128;
                    let value = match value > all.high {
                        true => value - (1 << width),
                        false => value,
                    };
                    Some(Value::Number(Range::of(value)))
                }
                Type::Bool => Some(Value::Number(Range::of((bits != 0).into()))),
                _ => None,
            },
            ExprKind::Load(place) => match self.loaded(place, depth) {
                Some(value) => Some(value),
                None => number(None),
            },
            ExprKind::AddressOf(place) => self.address(place, depth).map(Value::Pointer),
            ExprKind::PointerAdd {
                pointer,
                index,
                scale,
            } => {
                let Some(Value::Pointer(bases)) = self.deep(pointer, depth) else {
                    return None;
                };
                let index = self.number_in(index, depth)?;
                moved(bases, scaled(index, scale)?).map(Value::Pointer)
            }
            ExprKind::PointerDifference { left, right, scale } => {
                let (Some(Value::Pointer(a)), Some(Value::Pointer(b))) =
                    (self.deep(left, depth), self.deep(right, depth))
                else {
                    return number(None);
                };
                number(difference(&a, &b, scale))
            }
            ExprKind::Convert(operand) => self.converted(operand, expr.ty, depth),
            ExprKind::Unary(op, operand) => self.unary(op, operand, expr.ty, depth),
            ExprKind::Binary(op, left, right) => self.binary(op, left, right, expr.ty, depth),
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => match self.truth_in(condition, depth) {
                Some(true) => self.deep(then, depth),
                Some(false) => self.deep(otherwise, depth),
                None => self.either(condition, then, otherwise, depth),
            },
            ExprKind::ValidAccess { pointer, size } => number(self.valid(pointer, size, depth)),
            ExprKind::ValidFree { pointer } => number(self.valid_free(pointer, depth)),
            ExprKind::PointsToConstant { pointer } => number(self.constant(pointer, depth)),
            ExprKind::Overflows { .. } => self.overflows(id, depth),
            _ => number(None),
        }
    }

    /// One of two values, each where its side of a condition is taken.
    fn either(
        &self,
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
        depth: u32,
    ) -> Option<Value> {
        if depth + SIDES < DEPTH {
            return self.deep(then, depth)?.join(&self.deep(otherwise, depth)?);
        }
        let side = |holds: bool, value: ExprId| {
            let state = refined(self.semantics, self.state, condition, holds, depth)?;
            Some(Reader::to(depth, self.semantics, &state).deep(value, depth))
        };
        match (side(true, then), side(false, otherwise)) {
            (Some(a), Some(b)) => a?.join(&b?),
            (one, other) => one.or(other)?,
        }
    }

    /// What a place holds, as its type reads it.
    fn loaded(&self, place: PlaceId, depth: u32) -> Option<Value> {
        let Some(id) = cell(self.semantics, place) else {
            return self.loaded_element(place, depth);
        };
        let value = self.state.values.get(&id)?;
        let ty = self.semantics.program.place(place).ty;
        match (value, self.semantics.program.types.get(ty)) {
            (Value::Pointer(_), Type::Pointer(_)) => Some(value.clone()),
            (Value::Number(range), _) => {
                let all = numbers(self.semantics, ty)?;
                held(self.semantics, id)?;
                reread(*range, all).map(Value::Number)
            }
            _ => None,
        }
    }

    /// The same for an element of an array.
    fn loaded_element(&self, place: PlaceId, depth: u32) -> Option<Value> {
        if self.state.contents.is_empty() && self.state.heaps.is_empty() {
            return None;
        }
        let region = element(self.semantics, place)?;
        let value = match targets(self, place, depth) {
            Some(targets) => held_by(self.state, region, &targets)?,
            None => heap::held(self, region, place, depth)?,
        };
        let ty = self.semantics.program.place(place).ty;
        match (&value, self.semantics.program.types.get(ty)) {
            (Value::Pointer(_), Type::Pointer(_)) => Some(value),
            (Value::Number(range), Type::Int { .. }) => {
                let all = numbers(self.semantics, ty)?;
                Some(Value::Number(wrapped(*range, all)))
            }
            _ => None,
        }
    }

    /// What a place lies in, and how far from the beginning.
    pub fn address(&self, place: PlaceId, depth: u32) -> Option<BTreeMap<Base, Range>> {
        let offset = self.distance(place, depth)?;
        let program = self.semantics.program;
        let mut root = place;
        loop {
            match program.place(root).kind {
                PlaceKind::Var(variable) => {
                    let followed = self.is_followed(variable);
                    return followed.then(|| BTreeMap::from([(Base::Variable(variable), offset)]));
                }
                PlaceKind::Deref(pointer) => {
                    let Some(Value::Pointer(bases)) = self.deep(pointer, depth) else {
                        return None;
                    };
                    return moved(bases, offset);
                }
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => root = base,
            }
        }
    }

    /// Whether a place is in a variable that it names.
    pub fn is_named(&self, mut place: PlaceId) -> bool {
        let program = self.semantics.program;
        loop {
            match program.place(place).kind {
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => place = base,
                PlaceKind::Var(_) => return true,
                PlaceKind::Deref(_) => return false,
            }
        }
    }

    /// How far a place is from the variable that it is in, or from what the pointer points to that
    /// leads to it.
    pub fn distance(&self, mut place: PlaceId, depth: u32) -> Option<Range> {
        let program = self.semantics.program;
        let mut offset = Range::of(0);
        loop {
            let described = program.place(place);
            match described.kind {
                PlaceKind::Var(_) | PlaceKind::Deref(_) => return Some(offset),
                PlaceKind::Field(base, index) => {
                    let at = match program.types.get(program.place(base).ty) {
                        Type::Record(record) => {
                            program.types.record(*record).fields[index as usize].offset()
                        }
                        _ => return None,
                    };
                    offset = offset.plus(Range::of(i128::from(at)))?;
                    place = base;
                }
                PlaceKind::Index(base, index) => {
                    let size = program.types.size_of(described.ty);
                    let index = self.number_in(index, depth)?;
                    offset = offset.plus(scaled(index, size)?)?;
                    place = base;
                }
            }
        }
    }

    /// Whether pointers into a variable are followed: it has one address, and lives for ever, or
    /// now.
    fn is_followed(&self, variable: VarId) -> bool {
        let layout = &self.semantics.layout;
        layout.activation_address(variable).is_none()
            && layout.distance(variable).is_some()
            && (!mortal(self.semantics, variable) || self.state.alive.contains(&variable))
    }

    fn converted(&self, operand: ExprId, to: TypeId, depth: u32) -> Option<Value> {
        let types = &self.semantics.program.types;
        let from = self.semantics.program.expr(operand).ty;
        let value = self.deep(operand, depth);
        match (value, types.get(to)) {
            (Some(value @ Value::Pointer(_)), Type::Pointer(_)) => Some(value),
            (Some(Value::Number(range)), Type::Pointer(_)) if range == Range::of(0) => {
                Some(Value::null())
            }
            (Some(Value::Pointer(bases)), Type::Bool) => {
                let null = bases.get(&Base::Null).map(|range| range.has(0));
                Some(Value::Number(match null {
                    Some(true) if bases.len() > 1 => Range::new(0, 1),
                    Some(true) => Range::of(0),
                    _ => Range::of(1),
                }))
            }
            (value, Type::Bool) => {
                let range = match value {
                    Some(Value::Number(range)) if range == Range::of(0) => Range::of(0),
                    Some(Value::Number(range)) if !range.has(0) => Range::of(1),
                    _ => Range::new(0, 1),
                };
                Some(Value::Number(range))
            }
            (value, _) => {
                let all = numbers(self.semantics, to)?;
                let range = match value {
                    Some(Value::Number(range)) => Some(range),
                    _ => numbers(self.semantics, from),
                };
                Some(Value::Number(
                    range.map_or(all, |range| wrapped(range, all)),
                ))
            }
        }
    }

    fn unary(&self, op: UnaryOp, operand: ExprId, ty: TypeId, depth: u32) -> Option<Value> {
        let all = numbers(self.semantics, ty)?;
        let range = match op {
            UnaryOp::Not => match self.truth_in(operand, depth) {
                Some(holds) => Some(Range::of((!holds).into())),
                None => Some(Range::new(0, 1)),
            },
            UnaryOp::Negate => self.number_in(operand, depth)?.negated(),
            UnaryOp::BitNot => {
                let range = self.number_in(operand, depth)?;
                match all.low < 0 {
                    true => Some(Range::new(-1 - range.high, -1 - range.low)),
                    false => Some(Range::new(all.high - range.high, all.high - range.low)),
                }
            }
            _ => None,
        };
        let range = range.filter(|&range| all.covers(range));
        Some(Value::Number(range.unwrap_or(all)))
    }

    fn binary(
        &self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        ty: TypeId,
        depth: u32,
    ) -> Option<Value> {
        let all = numbers(self.semantics, ty)?;
        let known = match op {
            BinaryOp::And | BinaryOp::Or => {
                let decides = op == BinaryOp::Or;
                match (self.truth_in(left, depth), self.truth_in(right, depth)) {
                    (Some(a), _) if a == decides => Some(Range::of(decides.into())),
                    (_, Some(b)) if b == decides => Some(Range::of(decides.into())),
                    (Some(_), Some(_)) => Some(Range::of((!decides).into())),
                    _ => Some(Range::new(0, 1)),
                }
            }
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => {
                let (a, b) = (self.deep(left, depth), self.deep(right, depth));
                let holds = match (a, b) {
                    (Some(Value::Pointer(a)), Some(Value::Pointer(b))) => {
                        compared_pointers(op, &a, &b)
                    }
                    _ => {
                        let a = self.number_in(left, depth);
                        let b = self.number_in(right, depth);
                        a.zip(b).and_then(|(a, b)| compared(op, a, b))
                    }
                };
                Some(match holds {
                    Some(holds) => Range::of(holds.into()),
                    None => Range::new(0, 1),
                })
            }
            _ => {
                let a = self.number_in(left, depth)?;
                let b = self.number_in(right, depth)?;
                arithmetic(op, a, b)
            }
        };
        let known = known.filter(|&range| all.covers(range));
        Some(Value::Number(known.unwrap_or(all)))
    }

    fn overflows(&self, id: ExprId, depth: u32) -> Option<Value> {
        let ExprKind::Overflows {
            op,
            left,
            right,
            at,
        } = self.semantics.program.expr(id).kind
        else {
            return None;
        };
        let fits = || {
            let all = numbers(self.semantics, at)?;
            let (a, b) = (self.number_in(left, depth)?, self.number_in(right, depth)?);
            let exact = match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => arithmetic(op, a, b)?,
                _ => return None,
            };
            all.covers(exact).then_some(Range::of(0))
        };
        Some(Value::Number(fits().unwrap_or(Range::new(0, 1))))
    }

    /// Whether an access of so many bytes is inside of what it belongs to.
    fn valid(&self, pointer: ExprId, size: ExprId, depth: u32) -> Option<Range> {
        let Some(Value::Pointer(bases)) = self.deep(pointer, depth) else {
            return None;
        };
        let size = self.number_in(size, depth)?;
        let program = self.semantics.program;
        let inside = |(base, range): (&Base, &Range)| match base {
            Base::Null => false,
            Base::Variable(variable) => {
                let length = program.types.size_of(program.variable(*variable).ty);
                let taken = program.variable(*variable).address_taken;
                let end = range.high.checked_add(size.high);
                let fits = end.is_some_and(|end| end <= i128::from(length));
                taken && range.low >= 0 && fits
            }
            Base::Newest(class) | Base::Other(class) => {
                let heap = self.state.heaps.get(class);
                let objects = heap.and_then(|heap| match base {
                    Base::Newest(_) => heap.newest.as_ref(),
                    _ => heap.others.as_ref(),
                });
                let end = range.high.checked_add(size.high);
                let fits = |least| end.is_some_and(|end| end <= least);
                objects.is_some_and(|objects| range.low >= 0 && fits(objects.least))
            }
        };
        bases.iter().all(inside).then_some(Range::of(1))
    }

    /// Whether a pointer may be freed: null, or the beginning of what is allocated and lives.
    fn valid_free(&self, pointer: ExprId, depth: u32) -> Option<Range> {
        let Some(Value::Pointer(bases)) = self.deep(pointer, depth) else {
            return None;
        };
        let begins = |(base, range): (&Base, &Range)| {
            *range == Range::of(0) && !matches!(base, Base::Variable(_))
        };
        bases.iter().all(begins).then_some(Range::of(1))
    }

    /// Whether what a pointer points to may not be written, if it is the same for all that it may
    /// point to.
    fn constant(&self, pointer: ExprId, depth: u32) -> Option<Range> {
        let Some(Value::Pointer(bases)) = self.deep(pointer, depth) else {
            return None;
        };
        let program = self.semantics.program;
        let constant = |base: &Base| match base {
            Base::Variable(variable) => program.variable(*variable).read_only,
            Base::Null | Base::Newest(_) | Base::Other(_) => false,
        };
        let mut all = bases.keys().map(constant);
        let first = all.next()?;
        all.all(|other| other == first)
            .then_some(Range::of(i128::from(first)))
    }
}

fn scaled(index: Range, scale: u64) -> Option<Range> {
    index.corners(Range::of(i128::from(scale)), i128::checked_mul)
}

fn moved(bases: BTreeMap<Base, Range>, by: Range) -> Option<BTreeMap<Base, Range>> {
    let moved = bases
        .into_iter()
        .map(|(base, range)| Some((base, range.plus(by)?)));
    moved.collect()
}

/// The distance between two pointers into one object.
fn difference(a: &BTreeMap<Base, Range>, b: &BTreeMap<Base, Range>, scale: u64) -> Option<Range> {
    let ((base, &a), (other, &b)) = (a.iter().next()?, b.iter().next()?);
    if base != other || !base.is_one() {
        return None;
    }
    let bytes = a.plus(b.negated()?)?;
    let scale = i128::from(scale).max(1);
    bytes.corners(Range::of(scale), i128::checked_div)
}

/// Numbers in a type whose numbers are all of these, after they wrapped around.
pub fn wrapped(range: Range, all: Range) -> Range {
    if all.covers(range) {
        return range;
    }
    let size = all.high - all.low + 1;
    let turns = (range.low - all.low).div_euclid(size) * size;
    let turned = Range::new(range.low - turns, range.high - turns);
    match all.covers(turned) {
        true => turned,
        false => all,
    }
}

fn compared(op: BinaryOp, a: Range, b: Range) -> Option<bool> {
    match op {
        BinaryOp::Eq => match a.meet(b) {
            None => Some(false),
            Some(_) => (a.single().is_some() && a == b).then_some(true),
        },
        BinaryOp::Ne => compared(BinaryOp::Eq, a, b).map(|same| !same),
        BinaryOp::Lt if a.high < b.low => Some(true),
        BinaryOp::Lt if a.low >= b.high => Some(false),
        BinaryOp::Le if a.high <= b.low => Some(true),
        BinaryOp::Le if a.low > b.high => Some(false),
        BinaryOp::Gt => compared(BinaryOp::Lt, b, a),
        BinaryOp::Ge => compared(BinaryOp::Le, b, a),
        _ => None,
    }
}

/// Whether pointers are equal, or in order in one object.
fn compared_pointers(
    op: BinaryOp,
    a: &BTreeMap<Base, Range>,
    b: &BTreeMap<Base, Range>,
) -> Option<bool> {
    let one = |bases: &BTreeMap<Base, Range>| match bases.len() {
        1 => bases.iter().next().map(|(&base, &range)| (base, range)),
        _ => None,
    };
    match op {
        BinaryOp::Ne => compared_pointers(BinaryOp::Eq, a, b).map(|same| !same),
        BinaryOp::Eq => {
            if let (Some((base, range)), Some((other, others))) = (one(a), one(b))
                && base == other
                && base.is_one()
            {
                return compared(BinaryOp::Eq, range, others);
            }
            // Only null is in no object, and equal to no pointer into one.
            let null = BTreeMap::from([(Base::Null, Range::of(0))]);
            let inside = |bases: &BTreeMap<Base, Range>| {
                let mut bases = bases.iter();
                bases.all(|(&base, range)| base != Base::Null || !range.has(0))
            };
            (*a == null && inside(b) || *b == null && inside(a)).then_some(false)
        }
        _ => {
            let ((base, range), (other, others)) = (one(a)?, one(b)?);
            let inside = range.low >= 0 && others.low >= 0;
            (base == other && base.is_one() && base != Base::Null && inside)
                .then(|| compared(op, range, others))
                .flatten()
        }
    }
}

/// What an operator makes of numbers without bounds.
fn arithmetic(op: BinaryOp, a: Range, b: Range) -> Option<Range> {
    let positive = a.low >= 0 && b.low >= 0;
    match op {
        BinaryOp::Add => a.plus(b),
        BinaryOp::Sub => a.plus(b.negated()?),
        BinaryOp::Mul => a.corners(b, i128::checked_mul),
        BinaryOp::Div if !b.has(0) => a.corners(b, i128::checked_div),
        BinaryOp::Rem if !b.has(0) => {
            let most = b.low.abs().max(b.high.abs()) - 1;
            let low = if a.low < 0 { (-most).max(a.low) } else { 0 };
            let high = if a.high > 0 { most.min(a.high) } else { 0 };
            Some(Range::new(low, high))
        }
        BinaryOp::BitAnd if a.low >= 0 || b.low >= 0 => {
            let most = [a, b].into_iter().filter(|range| range.low >= 0);
            Some(Range::new(0, most.map(|range| range.high).min()?))
        }
        BinaryOp::BitOr | BinaryOp::BitXor if positive => {
            let most = a.high.max(b.high);
            let low = match op {
                BinaryOp::BitOr => a.low.max(b.low),
                _ => 0,
            };
            Some(Range::new(low, power_above(most + 1)? - 1))
        }
        BinaryOp::Shl if b.low >= 0 && b.high < 63 => a.corners(b, |a, by| a.checked_mul(1 << by)),
        BinaryOp::Shr if b.low >= 0 && b.high < 127 => a.corners(b, |a, by| Some(a >> by)),
        _ => None,
    }
}

/// The smallest power of two that is not smaller.
fn power_above(number: i128) -> Option<i128> {
    let power = u128::try_from(number).ok()?.checked_next_power_of_two()?;
    i128::try_from(power).ok()
}
