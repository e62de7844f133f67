//! Decides where each variable lives while the program runs.

use super::addresses::{FUNCTION_SIZE, FUNCTIONS, after};
use super::code::{FrameLayout, Slot, Storage};
use crate::ids::{ExprId, PlaceId, VarId};
use crate::placement::{UNIT, alignment, period, placed};
use crate::program::{ExprKind, Op, PlaceKind, Program, VarKind};

/// Where all variables live.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// By variable.
    pub storage: Vec<Storage>,
    /// By function.
    pub frames: Vec<FrameLayout>,
    /// The variables of static storage with their address and size, in the order of their
    /// objects, of which the first has number 1.
    pub statics: Vec<(VarId, u64, u64)>,
}

/// Lays out a program.
pub(super) fn layout(program: &Program) -> Layout {
    let in_memory = variables_in_memory(program);
    let declared = declared_variables(program);
    let mut storage = vec![Storage::Register(0); program.variables.len()];
    let mut statics = Vec::new();
    let mut address = first_address(program);
    for (i, variable) in program.variables.iter().enumerate() {
        if let VarKind::Global | VarKind::Static(_) | VarKind::Literal = variable.kind {
            let size = size_of(program, VarId(i as u32));
            let base = placed(address, alignment(program, VarId(i as u32)));
            address = after(base, size);
            statics.push((VarId(i as u32), base, size));
            storage[i] = Storage::Static(statics.len() as u32);
        }
    }
    let frames = program.functions.iter().map(|function| {
        let mut frame = FrameLayout {
            align: UNIT,
            ..FrameLayout::default()
        };
        let variables = function
            .formals
            .iter()
            .chain(&function.locals)
            .chain(&function.result);
        for &variable in variables {
            let i = variable.index();
            if matches!(storage[i], Storage::Static(_)) {
                continue;
            }
            storage[i] = if in_memory[i] {
                let size = size_of(program, variable);
                let align = alignment(program, variable);
                let offset = placed(frame.frame_size, align);
                frame.align = frame.align.max(period(align));
                frame.frame_size = after(offset, size);
                frame.slots.push(Slot {
                    size,
                    offset,
                    at_entry: !declared[i],
                });
                frame.slot_variables.push(variable);
                Storage::Slot(frame.slots.len() as u32 - 1)
            } else {
                frame.variables += 1;
                Storage::Register(frame.variables - 1)
            };
        }
        // Wherever the stack is, there is room for a start that is aligned.
        let size = frame.frame_size.saturating_add(UNIT - 1) & !(UNIT - 1);
        frame.frame_size = size.saturating_add(frame.align - UNIT);
        frame
    });
    let frames = frames.collect();
    Layout {
        storage,
        frames,
        statics,
    }
}

/// The first address behind the functions.
pub(super) fn first_address(program: &Program) -> u64 {
    let functions = program.functions.len() as u64 + 1;
    (FUNCTIONS + FUNCTION_SIZE * functions).next_multiple_of(0x1_0000)
}

/// The size of a variable: of its type, or more where its initial value goes beyond, as that of
/// a struct with a flexible array member may.
fn size_of(program: &Program, id: VarId) -> u64 {
    use crate::program::{Initial, InitialValue};
    let variable = program.variable(id);
    let size = program.types.size_of(variable.ty);
    let Initial::Data(parts) = &variable.initial else {
        return size;
    };
    let end = parts.last().map_or(0, |part| {
        let bits = match &part.value {
            InitialValue::Scalar(expr) => program.types.size_of(program.expr(*expr).ty) * 8,
            InitialValue::Bits(_, width) => u64::from(*width),
            InitialValue::Bytes(bytes) => bytes.len() as u64 * 8,
        };
        part.offset_bits.saturating_add(bits).div_ceil(8)
    });
    size.max(end)
}

/// The variables that must be objects: all that is not scalar, and the scalars whose address is
/// taken or that are seen as something else than they are.
pub(super) fn variables_in_memory(program: &Program) -> Vec<bool> {
    let types = &program.types;
    let mut in_memory: Vec<bool> = program
        .variables
        .iter()
        .map(|variable| !types.is_scalar(variable.ty))
        .collect();
    for place in &program.places {
        match place.kind {
            PlaceKind::Var(variable) => {
                if program.variable(variable).ty != place.ty {
                    in_memory[variable.index()] = true;
                }
            }
            PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => {
                if let PlaceKind::Var(variable) = program.place(base).kind {
                    in_memory[variable.index()] = true;
                }
            }
            PlaceKind::Deref(_) => {}
        }
    }
    for expr in &program.exprs {
        if let ExprKind::AddressOf(place) = expr.kind
            && let PlaceKind::Var(variable) = program.place(place).kind
        {
            in_memory[variable.index()] = true;
        }
    }
    in_memory
}

fn declared_variables(program: &Program) -> Vec<bool> {
    let mut declared = vec![false; program.variables.len()];
    for edge in &program.edges {
        if let Op::Declare { variable } = edge.op {
            declared[variable.index()] = true;
        }
    }
    declared
}

/// A place taken apart: where it starts, and the way from there.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub root: Root,
    /// The constant distance from the root in bytes.
    pub offset: u64,
    /// The variable distances: an index and the size of an element.
    pub indices: Vec<(ExprId, u64)>,
    /// For a bit-field, its distance from there in bits and its width.
    pub bits: Option<(u64, u32)>,
}

/// Where a place starts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Root {
    Var(VarId),
    Deref(ExprId),
}

/// Takes a place apart.
pub(super) fn path(program: &Program, place: PlaceId) -> Path {
    use crate::types::Type;
    let mut path = Path {
        root: Root::Var(VarId(0)),
        offset: 0,
        indices: Vec::new(),
        bits: None,
    };
    let mut current = place;
    loop {
        match program.place(current).kind {
            PlaceKind::Var(variable) => {
                path.root = Root::Var(variable);
                break;
            }
            PlaceKind::Deref(pointer) => {
                path.root = Root::Deref(pointer);
                break;
            }
            PlaceKind::Field(base, position) => {
                if let Type::Record(record) = program.types.get(program.place(base).ty)
                    && let Some(field) = program.types.record(*record).fields.get(position as usize)
                {
                    match field.bit_width {
                        Some(width) if current == place => {
                            path.offset = field.offset_bits / 8;
                            path.bits = Some((field.offset_bits % 8, width));
                        }
                        _ => path.offset = path.offset.wrapping_add(field.offset()),
                    }
                }
                current = base;
            }
            PlaceKind::Index(base, index) => {
                let scale = program.types.size_of(program.place(current).ty);
                match program.expr(index).kind {
                    ExprKind::Int(value) => {
                        let ty = program.expr(index).ty;
                        let width = program.types.bit_width(ty).unwrap_or(64);
                        let value = super::scalar::extend(value, width) as u64;
                        path.offset = path.offset.wrapping_add(value.wrapping_mul(scale));
                    }
                    _ => path.indices.push((index, scale)),
                }
                current = base;
            }
        }
    }
    path
}
