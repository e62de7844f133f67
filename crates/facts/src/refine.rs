//! What is known where a condition holds.

use crate::ends::{differs, narrow_pointer, valid, without_ends};
use crate::eval::{Reader, wrapped};
use crate::state::{State, cell, held, numbers};
use crate::value::{Base, Range, Value};
use hardbop_cfront::ids::{ExprId, PlaceId};
use hardbop_cfront::program::{BinaryOp, ExprKind, UnaryOp};
use hardbop_semantics::Semantics;
use std::collections::BTreeMap;

/// What is known of a state in which a condition holds, or does not; `None` if there is no such
/// state. Conditions are looked at to a depth.
pub fn refined(
    semantics: &Semantics<'_>,
    state: &State,
    condition: ExprId,
    holds: bool,
    depth: u32,
) -> Option<State> {
    let mut state = state.clone();
    demand(semantics, &mut state, condition, holds, depth)?;
    Some(state)
}

fn demand(
    semantics: &Semantics<'_>,
    state: &mut State,
    condition: ExprId,
    holds: bool,
    depth: u32,
) -> Option<()> {
    let Some(depth) = depth.checked_sub(1) else {
        return Some(());
    };
    let known = Reader::to(depth, semantics, state).truth(condition);
    if let Some(known) = known {
        return (known == holds).then_some(());
    }
    match semantics.program.expr(condition).kind {
        ExprKind::Unary(UnaryOp::Not, operand) => demand(semantics, state, operand, !holds, depth),
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
            if (op == BinaryOp::And) == holds {
                demand(semantics, state, left, holds, depth)?;
                return demand(semantics, state, right, holds, depth);
            }
            // One of them decides, and it is not known which.
            let mut one = state.clone();
            let mut other = state.clone();
            let one = demand(semantics, &mut one, left, holds, depth).map(|()| one);
            let other = demand(semantics, &mut other, right, holds, depth).map(|()| other);
            *state = match (one, other) {
                (Some(one), Some(other)) => one.join(&other),
                (one, other) => one.or(other)?,
            };
            Some(())
        }
        ExprKind::Binary(op, left, right) => {
            let op = match holds {
                true => Some(op),
                false => negated(op),
            };
            op.map_or(Some(()), |op| {
                compare(semantics, state, op, left, right, depth)
            })
        }
        ExprKind::Convert(operand) if keeps_truth(semantics, operand, condition) => {
            demand(semantics, state, operand, holds, depth)
        }
        ExprKind::ValidAccess { pointer, size } if holds => {
            valid(semantics, state, pointer, size, depth)
        }
        ExprKind::Load(place) => {
            let all = numbers(semantics, semantics.program.expr(condition).ty);
            match (all, holds) {
                (_, false) if all.is_some() => {
                    narrow(semantics, state, condition, Range::of(0), depth)
                }
                (Some(all), true) => {
                    let reader = Reader::to(depth, semantics, state);
                    let now = reader.number(condition).unwrap_or(all);
                    let without = without(now, 0)?;
                    narrow(semantics, state, condition, without, depth)?;
                    differs(semantics, state, condition, 0, depth)
                }
                _ => null(semantics, state, place, !holds),
            }
        }
        _ => Some(()),
    }
}

/// Whether what is not zero is not zero after a conversion.
fn keeps_truth(semantics: &Semantics<'_>, operand: ExprId, converted: ExprId) -> bool {
    let size = |expr: ExprId| {
        let all = numbers(semantics, semantics.program.expr(expr).ty)?;
        Some(all.high - all.low)
    };
    size(operand).is_some_and(|from| size(converted).is_some_and(|to| to >= from))
}

/// The comparison that holds where this one does not.
fn negated(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        _ => return None,
    })
}

/// Numbers without one of them, if that is at an end.
fn without(range: Range, number: i128) -> Option<Range> {
    let low = range.low + i128::from(range.low == number);
    let high = range.high - i128::from(range.high == number);
    (low <= high).then_some(Range { low, high })
}

fn compare(
    semantics: &Semantics<'_>,
    state: &mut State,
    op: BinaryOp,
    left: ExprId,
    right: ExprId,
    depth: u32,
) -> Option<()> {
    let reader = Reader::to(depth, semantics, state);
    let (a, b) = (reader.number(left), reader.number(right));
    let (Some(a), Some(b)) = (a, b) else {
        return compare_pointers(semantics, state, op, left, right, depth);
    };
    let (for_left, for_right) = match op {
        BinaryOp::Eq => (a.meet(b)?, a.meet(b)?),
        BinaryOp::Ne => {
            for (one, other) in [(left, b), (right, a)] {
                if let Some(number) = other.single() {
                    differs(semantics, state, one, number, depth)?;
                }
            }
            let apart = |range: Range, other: Range| match other.single() {
                Some(number) => without(range, number),
                None => Some(range),
            };
            (apart(a, b)?, apart(b, a)?)
        }
        BinaryOp::Lt => (
            a.meet(Range::new(i128::MIN, b.high - 1))?,
            b.meet(Range::new(a.low + 1, i128::MAX))?,
        ),
        BinaryOp::Le => (
            a.meet(Range::new(i128::MIN, b.high))?,
            b.meet(Range::new(a.low, i128::MAX))?,
        ),
        BinaryOp::Gt => return compare(semantics, state, BinaryOp::Lt, right, left, depth),
        BinaryOp::Ge => return compare(semantics, state, BinaryOp::Le, right, left, depth),
        _ => return Some(()),
    };
    narrow(semantics, state, left, for_left, depth)?;
    narrow(semantics, state, right, for_right, depth)
}

/// Pointers are compared with null, mostly; else with others into the same object.
fn compare_pointers(
    semantics: &Semantics<'_>,
    state: &mut State,
    op: BinaryOp,
    left: ExprId,
    right: ExprId,
    depth: u32,
) -> Option<()> {
    let equal = match op {
        BinaryOp::Eq => true,
        BinaryOp::Ne => false,
        _ => return compare_distances(semantics, state, op, left, right, depth),
    };
    let is_null = |state: &State, expr: ExprId| {
        let reader = Reader::to(depth, semantics, state);
        reader.value(expr) == Some(Value::null())
    };
    for (one, other) in [(left, right), (right, left)] {
        if is_null(state, other)
            && let Some(place) = loaded(semantics, one)
        {
            return null(semantics, state, place, equal);
        }
    }
    Some(())
}

/// Of two pointers into one object, one is before the other.
fn compare_distances(
    semantics: &Semantics<'_>,
    state: &mut State,
    op: BinaryOp,
    left: ExprId,
    right: ExprId,
    depth: u32,
) -> Option<()> {
    let reader = Reader::to(depth, semantics, state);
    let one = |expr: ExprId| match reader.value(expr) {
        Some(Value::Pointer(bases)) if bases.len() == 1 => bases.into_iter().next(),
        _ => None,
    };
    let (Some((base, a)), Some((other, b))) = (one(left), one(right)) else {
        return Some(());
    };
    if base != other || !base.is_one() || base == Base::Null {
        return Some(());
    }
    let below = |range: Range, strict: i128| Range::new(i128::MIN, range.high - strict);
    let above = |range: Range, strict: i128| Range::new(range.low + strict, i128::MAX);
    let (for_left, for_right) = match op {
        BinaryOp::Lt => (below(b, 1), above(a, 1)),
        BinaryOp::Le => (below(b, 0), above(a, 0)),
        BinaryOp::Gt => (above(b, 1), below(a, 1)),
        BinaryOp::Ge => (above(b, 0), below(a, 0)),
        _ => return Some(()),
    };
    for (expr, range) in [(left, a.meet(for_left)?), (right, b.meet(for_right)?)] {
        let left = BTreeMap::from([(base, range)]);
        narrow_pointer(semantics, state, expr, left, depth)?;
    }
    Some(())
}

/// The place that is all of an expression, conversions between pointers aside.
fn loaded(semantics: &Semantics<'_>, mut expr: ExprId) -> Option<PlaceId> {
    loop {
        match semantics.program.expr(expr).kind {
            ExprKind::Load(place) => return Some(place),
            ExprKind::Convert(operand) => expr = operand,
            _ => return None,
        }
    }
}

/// A pointer is null, or is not.
fn null(semantics: &Semantics<'_>, state: &mut State, place: PlaceId, is: bool) -> Option<()> {
    let Some(id) = cell(semantics, place) else {
        return Some(());
    };
    let Some(Value::Pointer(bases)) = state.values.get_mut(&id) else {
        return Some(());
    };
    match is {
        true => bases.retain(|&base, _| base == Base::Null),
        false => bases.retain(|&base, range| base != Base::Null || *range != Range::of(0)),
    }
    (!bases.is_empty()).then_some(())
}

/// An expression is one of some numbers.
pub fn narrow(
    semantics: &Semantics<'_>,
    state: &mut State,
    expr: ExprId,
    to: Range,
    depth: u32,
) -> Option<()> {
    let (mut expr, mut to) = (expr, to);
    loop {
        let program = semantics.program;
        match program.expr(expr).kind {
            ExprKind::Convert(operand) => {
                let reader = Reader::to(depth, semantics, state);
                let all = numbers(semantics, program.expr(expr).ty);
                let (Some(all), Some(from)) = (all, reader.number(operand)) else {
                    return Some(());
                };
                if numbers(semantics, program.expr(operand).ty).is_none() {
                    return Some(());
                }
                match before(from, all, to) {
                    Before::Numbers(range) => (expr, to) = (operand, range),
                    Before::None => return None,
                    Before::Unknown => return Some(()),
                }
            }
            ExprKind::Load(place) => {
                let Some(id) = cell(semantics, place) else {
                    let is_out = |value: Range| value.meet(to).is_none();
                    return without_ends(semantics, state, place, depth, is_out);
                };
                let Some(all) = held(semantics, id) else {
                    return Some(());
                };
                let range = wrapped(to, all);
                let known = match state.values.get(&id) {
                    Some(Value::Number(known)) => known.meet(range)?,
                    Some(Value::Pointer(_)) => return Some(()),
                    None => range,
                };
                if known == all {
                    state.values.remove(&id);
                } else {
                    state.values.insert(id, Value::Number(known));
                }
                return Some(());
            }
            _ => return Some(()),
        }
    }
}

/// What was converted, to become one of some numbers.
enum Before {
    Numbers(Range),
    None,
    Unknown,
}

fn before(from: Range, all: Range, to: Range) -> Before {
    if all.covers(from) {
        return from.meet(to).map_or(Before::None, Before::Numbers);
    }
    // A negative number becomes a large one, if nothing is cut off.
    let size = all.high - all.low + 1;
    if all.low == 0 && from.low < 0 && from.low >= -size && from.high <= all.high {
        let plain = from
            .meet(Range::new(0, i128::MAX))
            .and_then(|from| from.meet(to));
        let below = from
            .meet(Range::new(i128::MIN, -1))
            .and_then(|from| from.meet(Range::new(to.low - size, to.high - size)));
        return match (plain, below) {
            (Some(plain), Some(below)) => Before::Numbers(plain.join(below)),
            (Some(one), None) | (None, Some(one)) => Before::Numbers(one),
            (None, None) => Before::None,
        };
    }
    Before::Unknown
}
