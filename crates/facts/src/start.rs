//! What is known where a program starts: the first values of what has such.

use crate::Arrays;
use crate::contents::{FEW, Part, Which, fits, is_pointer, row};
use crate::eval::Reader;
use crate::heap::{self, Heap};
use crate::state::{State, held, reread};
use crate::value::{Range, Value};
use hardbop_cfront::ids::VarId;
use hardbop_cfront::program::{Initial, InitialPart, InitialValue};
use hardbop_cfront::types::Type;
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::{StateKind, StateVarId};

/// What is known before the first step.
pub(crate) fn start(semantics: &Semantics<'_>, followed: Arrays) -> State {
    let program = semantics.program;
    let mut state = State::default();
    let entry = program.function(program.entry);
    if let Some(ownership) = semantics.layout.ownership() {
        for (variable, _) in ownership.lives() {
            if entry.locals.contains(&variable) || entry.formals.contains(&variable) {
                state.alive.insert(variable);
            }
        }
    }
    if followed != Arrays::Left {
        arrays(semantics, &mut state);
    }
    if followed == Arrays::AndHeap {
        let classes = heap::classes(semantics).into_iter();
        state.heaps = classes.map(|class| (class, Heap::default())).collect();
    }
    let nothing = State::default();
    for (index, variable) in semantics.layout.variables().iter().enumerate() {
        let id = StateVarId(index as u32);
        let (StateKind::Cell { bytes }, Some(of)) = (variable.kind, variable.variable) else {
            continue;
        };
        let reader = Reader::new(semantics, &nothing);
        if let Some(value) = first(&reader, id, of, bytes) {
            state.values.insert(id, value);
        }
    }
    state
}

/// Larger arrays are not looked at: what is known of them is proved element by element.
const ARRAY: u64 = 2048;

/// What arrays hold at first.
fn arrays(semantics: &Semantics<'_>, state: &mut State) {
    let program = semantics.program;
    let nothing = State::default();
    let reader = Reader::new(semantics, &nothing);
    for (index, variable) in program.variables.iter().enumerate() {
        let id = VarId(index as u32);
        let (Initial::Data(parts), Some(spot)) =
            (&variable.initial, semantics.points_to.variable(id))
        else {
            continue;
        };
        if program.types.size_of(variable.ty) > ARRAY {
            continue;
        }
        for region in semantics.points_to.regions().of_class(spot.class) {
            let region = semantics.layout.region(region);
            let Some(row) = row(semantics, region, id) else {
                continue;
            };
            let StateKind::Memory { unit } = semantics.layout.get(region).kind else {
                continue;
            };
            let values: Vec<Option<Value>> = (0..row.count)
                .map(|element| {
                    let begin = row.first + element * row.stride;
                    let value = element_at_first(&reader, parts, region, begin, unit)?;
                    fits(semantics, region, value)
                })
                .collect();
            let mut all = values.first().cloned().flatten();
            for value in &values {
                all = all
                    .zip(value.as_ref())
                    .and_then(|(all, value)| all.join(value));
            }
            let mut know = |which, value: Option<Value>| {
                if let Some(value) = value {
                    let part = Part {
                        region,
                        variable: id,
                        which,
                    };
                    state.contents.insert(part, value);
                }
            };
            // A step may choose an element that no term over the state is the address of: it must be
            // one of few. Of many, the last one is mostly the end of a string.
            let few = row.count <= FEW as i128;
            for (element, value) in (0..row.count).zip(values) {
                let at = row.first + element * row.stride;
                if few || at == row.last() && value != all {
                    know(Which::At(at), value);
                }
            }
            know(Which::All, all);
        }
    }
}

/// The first value of an element of an array.
fn element_at_first(
    reader: &Reader<'_, '_>,
    parts: &[InitialPart],
    region: StateVarId,
    begin: i128,
    bytes: u64,
) -> Option<Value> {
    let begin = u64::try_from(begin).ok()?;
    let (first, end) = (begin * 8, (begin + bytes) * 8);
    let after = parts.partition_point(|part| ends(reader, part) <= first);
    let Some(part) = parts.get(after).filter(|part| part.offset_bits < end) else {
        return Some(match is_pointer(reader.semantics, region) {
            true => Value::null(),
            false => Value::Number(Range::of(0)),
        });
    };
    match &part.value {
        InitialValue::Scalar(expr) if part.offset_bits == first && ends(reader, part) == end => {
            reader.value(*expr)
        }
        InitialValue::Bytes(text) if bytes == 1 && part.offset_bits <= first => {
            let byte = text.get(((first - part.offset_bits) / 8) as usize)?;
            Some(Value::Number(Range::of(i128::from(*byte))))
        }
        _ => None,
    }
}

/// The first value of a part of a variable.
fn first(reader: &Reader<'_, '_>, id: StateVarId, of: VarId, bytes: u64) -> Option<Value> {
    let semantics = reader.semantics;
    let Initial::Data(parts) = &semantics.program.variable(of).initial else {
        return None;
    };
    let region = semantics
        .points_to
        .regions()
        .get(semantics.layout.region_of(id)?);
    let spot = semantics.points_to.variable(of)?;
    let begin = u64::try_from(region.start.checked_sub(spot.offset)?).ok()? * 8;
    let end = begin + bytes * 8;
    let mut here = parts
        .iter()
        .filter(|part| part.offset_bits < end && ends(reader, part) > begin);
    let is_pointer = semantics
        .layout
        .get(id)
        .ty
        .is_some_and(|ty| matches!(semantics.program.types.get(ty), Type::Pointer(_)));
    let value = match (here.next(), here.next()) {
        (None, _) if is_pointer => return Some(Value::null()),
        (None, _) => Value::Number(Range::of(0)),
        (Some(part), None) if part.offset_bits == begin && ends(reader, part) == end => {
            match part.value {
                InitialValue::Scalar(expr) => reader.value(expr)?,
                InitialValue::Bits(..) | InitialValue::Bytes(_) => return None,
            }
        }
        _ => return None,
    };
    match value {
        Value::Pointer(_) => is_pointer.then_some(value),
        Value::Number(range) => reread(range, held(semantics, id)?).map(Value::Number),
    }
}

/// Where a part ends, in bits.
fn ends(reader: &Reader<'_, '_>, part: &InitialPart) -> u64 {
    let types = &reader.semantics.program.types;
    part.offset_bits
        + match &part.value {
            InitialValue::Scalar(expr) => {
                types.size_of(reader.semantics.program.expr(*expr).ty) * 8
            }
            InitialValue::Bits(_, width) => u64::from(*width),
            InitialValue::Bytes(bytes) => bytes.len() as u64 * 8,
        }
}
