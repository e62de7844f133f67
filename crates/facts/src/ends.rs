//! Where accesses may be: inside of their objects, if they are known to be valid; and not at an end
//! of what they might be if what is there is known not to be what was found. That is how a string
//! is read no further than to its zero.

use crate::contents::{Part, Targets, Which, element, targets};
use crate::eval::{DEPTH, Reader, wrapped};
use crate::refine::narrow;
use crate::state::{State, cell, numbers};
use crate::value::{Base, Range, Value};
use hardbop_cfront::ids::{ExprId, PlaceId};
use hardbop_cfront::program::{ExprKind, PlaceKind};
use hardbop_cfront::types::Type;
use hardbop_semantics::Semantics;
use std::collections::BTreeMap;

/// So many elements at an end are left out at once at most.
const ELEMENTS: usize = 4;

/// So many bytes from a pointer on lie in an object that lives.
pub fn valid(
    semantics: &Semantics<'_>,
    state: &mut State,
    pointer: ExprId,
    size: ExprId,
    depth: u32,
) -> Option<()> {
    let reader = Reader::to(depth, semantics, state);
    let (Some(Value::Pointer(bases)), Some(size)) = (reader.value(pointer), reader.number(size))
    else {
        return Some(());
    };
    let program = semantics.program;
    let mut left = BTreeMap::new();
    for (base, range) in bases {
        let most = match base {
            Base::Null => continue,
            Base::Variable(variable) => {
                i128::from(program.types.size_of(program.variable(variable).ty))
            }
            // How large it is at most nobody follows.
            Base::Newest(_) | Base::Other(_) => range.high.max(0) + size.low,
        };
        if let Some(range) = range.meet(Range::new(0, most - size.low)) {
            left.insert(base, range);
        }
    }
    narrow_pointer(semantics, state, pointer, left, depth)
}

/// An expression is not this number.
pub fn differs(
    semantics: &Semantics<'_>,
    state: &mut State,
    mut expr: ExprId,
    number: i128,
    depth: u32,
) -> Option<()> {
    let program = semantics.program;
    loop {
        match program.expr(expr).kind {
            ExprKind::Convert(operand) => {
                let all = numbers(semantics, program.expr(expr).ty);
                let from = numbers(semantics, program.expr(operand).ty);
                let (Some(all), Some(from)) = (all, from) else {
                    return Some(());
                };
                if !all.covers(from) {
                    return Some(());
                }
                expr = operand;
            }
            ExprKind::Load(place) => {
                let is_out = |value: Range| value == Range::of(number);
                return without_ends(semantics, state, place, depth, is_out);
            }
            _ => return Some(()),
        }
    }
}

/// What was read at a place is not one of some numbers.
pub fn without_ends(
    semantics: &Semantics<'_>,
    state: &mut State,
    place: PlaceId,
    depth: u32,
    is_out: impl Fn(Range) -> bool,
) -> Option<()> {
    let reader = Reader::to(depth, semantics, state);
    let all = numbers(semantics, semantics.program.place(place).ty);
    let (Some(region), Some(all)) = (element(semantics, place), all) else {
        return Some(());
    };
    let Some(before) = targets(&reader, place, depth) else {
        return Some(());
    };
    let mut left = Targets::new();
    for (&variable, &range) in &before {
        let out = |at: i128| {
            let which = Which::At(at);
            let known = state.contents.get(&Part {
                region,
                variable,
                which,
            });
            matches!(known, Some(Value::Number(value)) if is_out(wrapped(*value, all)))
        };
        let Range { mut low, mut high } = range;
        for _ in 0..ELEMENTS {
            high -= i128::from(low <= high && out(high));
            low += i128::from(low <= high && out(low));
        }
        if low <= high {
            left.insert(variable, Range::new(low, high));
        }
    }
    if left == before {
        return Some(());
    }
    let left = left.into_iter();
    let left = left.map(|(variable, range)| (Base::Variable(variable), range));
    narrow_place(semantics, state, place, left.collect(), depth)
}

/// A place is in one of some objects, so far from its beginning.
fn narrow_place(
    semantics: &Semantics<'_>,
    state: &mut State,
    place: PlaceId,
    left: BTreeMap<Base, Range>,
    depth: u32,
) -> Option<()> {
    if left.is_empty() {
        return None;
    }
    let program = semantics.program;
    let reader = Reader::to(depth, semantics, state);
    let mut root = place;
    while let PlaceKind::Field(base, _) | PlaceKind::Index(base, _) = program.place(root).kind {
        root = base;
    }
    let distance = |place| reader.distance(place, depth).and_then(Range::single);
    match (program.place(root).kind, program.place(place).kind) {
        (PlaceKind::Deref(pointer), _) => match distance(place) {
            Some(offset) => {
                let left = shifted(left, -offset)?;
                narrow_pointer(semantics, state, pointer, left, depth)
            }
            None => Some(()),
        },
        (PlaceKind::Var(_), PlaceKind::Index(base, index)) => match distance(base) {
            Some(offset) => {
                let size = program.types.size_of(program.place(place).ty);
                narrow_index(semantics, state, index, left, offset, size, depth)
            }
            None => Some(()),
        },
        _ => Some(()),
    }
}

/// A pointer is into one of some objects, so far from its beginning.
pub(crate) fn narrow_pointer(
    semantics: &Semantics<'_>,
    state: &mut State,
    mut pointer: ExprId,
    mut left: BTreeMap<Base, Range>,
    depth: u32,
) -> Option<()> {
    let program = semantics.program;
    for _ in 0..DEPTH {
        if left.is_empty() {
            return None;
        }
        let reader = Reader::to(depth, semantics, state);
        match program.expr(pointer).kind {
            ExprKind::Convert(operand)
                if matches!(
                    program.types.get(program.expr(operand).ty),
                    Type::Pointer(_)
                ) =>
            {
                pointer = operand;
            }
            ExprKind::PointerAdd {
                pointer: from,
                index,
                scale,
            } => {
                if let Some(number) = reader.number(index).and_then(Range::single) {
                    left = shifted(left, number.checked_mul(i128::from(scale))?.checked_neg()?)?;
                    pointer = from;
                    continue;
                }
                let Some(Value::Pointer(bases)) = reader.value(from) else {
                    return Some(());
                };
                let only = bases.iter().next().filter(|_| bases.len() == 1);
                return match only.and_then(|(_, range)| range.single()) {
                    Some(offset) => {
                        narrow_index(semantics, state, index, left, offset, scale, depth)
                    }
                    None => Some(()),
                };
            }
            ExprKind::Load(place) => {
                let known = cell(semantics, place).and_then(|id| state.values.get_mut(&id));
                if let Some(Value::Pointer(known)) = known {
                    let meet = |(base, range): (&Base, &Range)| {
                        let both = range.meet(*left.get(base)?)?;
                        Some((*base, both))
                    };
                    *known = known.iter().filter_map(meet).collect();
                    return (!known.is_empty()).then_some(());
                }
                return Some(());
            }
            _ => return Some(()),
        }
    }
    Some(())
}

/// An index leads into one object, so far from its beginning.
fn narrow_index(
    semantics: &Semantics<'_>,
    state: &mut State,
    index: ExprId,
    left: BTreeMap<Base, Range>,
    offset: i128,
    scale: u64,
    depth: u32,
) -> Option<()> {
    let scale = i128::from(scale);
    let (Some((_, range)), 1) = (left.iter().next(), left.len()) else {
        return Some(());
    };
    if scale == 0 {
        return Some(());
    }
    let low = -(-(range.low - offset)).div_euclid(scale);
    let high = (range.high - offset).div_euclid(scale);
    if low > high {
        return None;
    }
    narrow(semantics, state, index, Range::new(low, high), depth)
}

fn shifted(bases: BTreeMap<Base, Range>, by: i128) -> Option<BTreeMap<Base, Range>> {
    let moved = bases
        .into_iter()
        .map(|(base, range)| Some((base, range.plus(Range::of(by))?)));
    moved.collect()
}
