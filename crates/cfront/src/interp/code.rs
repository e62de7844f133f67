//! The machine's code: what a function is compiled to before it runs.
//!
//! A function's scalars whose address is never taken are registers of its frame; everything else
//! is an object, known by a slot of the frame or by its place among the static objects. An
//! instruction is 16 bytes; what needs more stands in a side table ([`Rare`]).

use super::memory::Access;
use super::scalar::Kind;
use crate::ids::{EdgeId, FuncId, TypeId, VarId};
use crate::program::{BinaryOp, HeapFact, Lifetime, ProgramEnd, RoundedOp, UnaryOp};
use crate::types::FloatKind;

/// A register, counted from the start of the frame.
pub(super) type R = u32;

/// An operator on integers of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IntOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
}

/// A comparison of integers of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Cmp {
    /// The comparison that an operator stands for.
    pub(super) fn of(op: BinaryOp) -> Option<Cmp> {
        Some(match op {
            BinaryOp::Eq => Cmp::Eq,
            BinaryOp::Ne => Cmp::Ne,
            BinaryOp::Lt => Cmp::Lt,
            BinaryOp::Le => Cmp::Le,
            BinaryOp::Gt => Cmp::Gt,
            BinaryOp::Ge => Cmp::Ge,
            _ => return None,
        })
    }

    /// The comparison that is true where this one is not.
    pub(super) fn negated(self) -> Cmp {
        match self {
            Cmp::Eq => Cmp::Ne,
            Cmp::Ne => Cmp::Eq,
            Cmp::Lt => Cmp::Ge,
            Cmp::Le => Cmp::Gt,
            Cmp::Gt => Cmp::Le,
            Cmp::Ge => Cmp::Lt,
        }
    }

    /// The comparison with its operands exchanged.
    pub(super) fn mirrored(self) -> Cmp {
        match self {
            Cmp::Eq => Cmp::Eq,
            Cmp::Ne => Cmp::Ne,
            Cmp::Lt => Cmp::Gt,
            Cmp::Le => Cmp::Ge,
            Cmp::Gt => Cmp::Lt,
            Cmp::Ge => Cmp::Le,
        }
    }

    /// Compares two registers' low halves.
    #[inline(always)]
    pub(super) fn holds(self, signed: bool, a: u64, b: u64) -> bool {
        // Flipping the top bit turns the signed order into the unsigned one.
        let flip = u64::from(signed) << 63;
        let (a, b) = (a ^ flip, b ^ flip);
        match self {
            Cmp::Eq => a == b,
            Cmp::Ne => a != b,
            Cmp::Lt => a < b,
            Cmp::Le => a <= b,
            Cmp::Gt => a > b,
            Cmp::Ge => a >= b,
        }
    }
}

/// How a result is brought to the form that registers have: the unused bits at the top, and
/// whether they repeat the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Norm {
    pub unused: u8,
    pub signed: bool,
}

impl Norm {
    /// For values of a kind of at most 64 bits.
    pub(super) fn of(kind: Kind) -> Norm {
        Norm {
            unused: (64 - kind.width().clamp(1, 64)) as u8,
            signed: kind.signed(),
        }
    }

    /// Drops the bits beyond the width and extends.
    #[inline(always)]
    pub(super) fn apply(self, value: u64) -> u64 {
        let high = value << self.unused;
        if self.signed {
            ((high as i64) >> self.unused) as u64
        } else {
            high >> self.unused
        }
    }
}

/// An instruction. Targets of jumps are positions in [`Code::instrs`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Instr {
    /// An edge is taken.
    Edge {
        edge: EdgeId,
    },
    /// An edge is taken that only leads elsewhere.
    EdgeJump {
        edge: EdgeId,
        to: u32,
    },
    Jump {
        to: u32,
    },
    BranchZero {
        a: R,
        to: u32,
    },
    BranchNonZero {
        a: R,
        to: u32,
    },
    /// Jumps if the comparison holds.
    BranchCmp {
        op: Cmp,
        signed: bool,
        a: R,
        b: R,
        to: u32,
    },
    BranchCmpImm {
        op: Cmp,
        signed: bool,
        a: R,
        imm: i32,
        to: u32,
    },
    Call {
        site: u32,
    },
    Return,
    /// The end of a piece of code that computes one value.
    Stop,
    /// Locations at which a run ends.
    Error {
        check: u32,
    },
    Halt,
    Stuck,
    Unsupported,
    /// The object in which a record was returned is not needed any more.
    DropReturned,

    ConstImm {
        d: R,
        imm: i32,
    },
    Const {
        d: R,
        index: u32,
    },
    Move {
        d: R,
        a: R,
    },
    Int {
        op: IntOp,
        norm: Norm,
        d: R,
        a: R,
        b: R,
    },
    IntImm {
        op: IntOp,
        norm: Norm,
        d: R,
        a: R,
        imm: i32,
    },
    Cmp {
        op: Cmp,
        signed: bool,
        d: R,
        a: R,
        b: R,
    },
    CmpImm {
        op: Cmp,
        signed: bool,
        d: R,
        a: R,
        imm: i32,
    },
    Float {
        op: BinaryOp,
        kind: FloatKind,
        d: R,
        a: R,
        b: R,
    },
    Norm {
        norm: Norm,
        d: R,
        a: R,
    },
    Negate {
        norm: Norm,
        d: R,
        a: R,
    },
    BitNot {
        norm: Norm,
        d: R,
        a: R,
    },
    /// An address that comes from an integer: finds its object.
    ToPointer {
        d: R,
        a: R,
    },
    PointerAdd {
        scale: u16,
        d: R,
        a: R,
        b: R,
    },
    PointerAddImm {
        d: R,
        a: R,
        imm: i32,
    },
    AddressStatic {
        d: R,
        object: u32,
        offset: u32,
    },
    AddressSlot {
        d: R,
        slot: u32,
        offset: u32,
    },
    Load {
        access: Access,
        d: R,
        pointer: R,
        offset: u32,
    },
    LoadStatic {
        access: Access,
        d: R,
        object: u32,
        offset: u32,
    },
    LoadSlot {
        access: Access,
        d: R,
        slot: u32,
        offset: u32,
    },
    Store {
        access: Access,
        a: R,
        pointer: R,
        offset: u32,
    },
    StoreStatic {
        access: Access,
        a: R,
        object: u32,
        offset: u32,
    },
    StoreSlot {
        access: Access,
        a: R,
        slot: u32,
        offset: u32,
    },
    /// Something of [`Code::rare`].
    Rare {
        index: u32,
    },
}

/// What is done seldom or needs many operands.
#[derive(Clone, Debug)]
pub(super) enum Rare {
    Unary {
        op: UnaryOp,
        kind: Kind,
        to: Kind,
        d: R,
        a: R,
    },
    Binary {
        op: BinaryOp,
        left: Kind,
        right: Kind,
        to: Kind,
        d: R,
        a: R,
        b: R,
    },
    Convert {
        from: Kind,
        to: Kind,
        d: R,
        a: R,
    },
    /// An operation on floats of a kind that is rounded as a register says.
    Rounded {
        op: RoundedOp,
        from: Kind,
        to: FloatKind,
        d: R,
        mode: R,
        operands: [R; 3],
    },
    Overflows {
        op: BinaryOp,
        left: Kind,
        right: Kind,
        at: Kind,
        d: R,
        a: R,
        b: R,
    },
    Difference {
        d: R,
        a: R,
        b: R,
        scale: u64,
    },
    /// The bits are counted from the pointer; a whole scalar is written as a bit-field's value.
    LoadBits {
        kind: Kind,
        d: R,
        pointer: R,
        offset: u64,
        width: u32,
    },
    StoreBits {
        a: R,
        pointer: R,
        offset: u64,
        width: u32,
    },
    ValidAccess {
        d: R,
        pointer: R,
        size: R,
    },
    ValidFree {
        d: R,
        pointer: R,
    },
    PointsToConstant {
        d: R,
        pointer: R,
    },
    HeapIs {
        d: R,
        fact: HeapFact,
        end: ProgramEnd,
    },
    ObjectSize {
        d: R,
        pointer: R,
        to: Kind,
    },
    Open {
        d: R,
        pointer: R,
        to: Kind,
    },
    SetOpen {
        pointer: R,
        bits: R,
        size: u64,
    },
    /// Copies `size` bytes, a constant.
    CopyRecord {
        to: R,
        from: R,
        size: u64,
    },
    /// Puts the next input into a register.
    Input {
        ty: TypeId,
        kind: Kind,
        d: R,
    },
    /// Puts an unknown scalar into a register.
    Unknown {
        kind: Kind,
        d: R,
    },
    HavocRecord {
        pointer: R,
        size: u64,
    },
    HavocMemory {
        pointer: R,
        size: Option<R>,
        input: bool,
    },
    Declare {
        slot: u32,
    },
    EndScope {
        slots: Vec<u32>,
    },
    Allocate {
        d: R,
        size: R,
        lifetime: Lifetime,
    },
    Free {
        pointer: R,
    },
    CopyMemory {
        to: R,
        from: R,
        size: R,
    },
    FillMemory {
        to: R,
        byte: R,
        size: R,
    },
}

/// A place where a function is called.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub callee: Target,
    pub arguments: Vec<Argument>,
    /// Where the result is wanted, and as what (`None`: a record, by its address).
    pub result: Option<(R, Option<Kind>)>,
}

/// Who is called.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Direct(FuncId),
    Indirect { pointer: R, targets: Vec<FuncId> },
}

/// An argument: a scalar in a register, or the address of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument {
    pub reg: R,
    pub shape: Shape,
}

/// What is passed or returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar(Kind),
    Record(u64),
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Register(R),
    Slot(u32),
    Static(u32),
}

/// An object that lives in a frame.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub size: u64,
    /// Its distance from the frame's lowest address.
    pub offset: u64,
    /// Whether it lives from the call on, since no edge begins its life.
    pub at_entry: bool,
}

/// Compiled code, of a function or of one expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub instrs: Vec<Instr>,
    pub rare: Vec<Rare>,
    pub sites: Vec<Site>,
    pub consts: Vec<u128>,
    /// The number of registers, temporaries included.
    pub registers: u32,
    /// The edge that the instructions from a position on belong to, by position.
    pub edges: Vec<(u32, EdgeId)>,
}

impl Code {
    /// The edge that an instruction belongs to.
    pub(super) fn edge_at(&self, position: usize) -> Option<EdgeId> {
        let after = self
            .edges
            .partition_point(|&(start, _)| start as usize <= position);
        Some(self.edges[after.checked_sub(1)?].1)
    }
}

/// A function, ready to run.
#[derive(Clone, Debug)]
pub(super) struct FunctionCode {
    pub function: FuncId,
    pub code: Code,
    /// The registers that hold variables; they come first.
    pub variables: u32,
    /// The variables in registers that may be read before they are written.
    pub open: Vec<(R, Kind, VarId)>,
    pub slots: Vec<Slot>,
    /// The size of the frame's objects with their gaps.
    pub frame_size: u64,
    /// What the start of the frame's objects is a multiple of.
    pub frame_align: u64,
    pub formals: Vec<(Storage, Shape)>,
    pub result: Option<(Storage, Shape)>,
}

/// An expression, ready to be computed in a frame of a function or without any.
#[derive(Clone, Debug)]
pub(super) struct ExprCode {
    pub code: Code,
    pub result: R,
    pub shape: Shape,
}

/// The layout of one function's frame.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameLayout {
    pub variables: u32,
    pub slots: Vec<Slot>,
    pub frame_size: u64,
    pub align: u64,
    /// The variable of each slot.
    pub slot_variables: Vec<VarId>,
}
