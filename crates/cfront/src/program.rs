//! `Program`: C as edge-labelled control-flow graphs over typed, side-effect-free expressions.
//!
//! This is what every stage after the front end works on. An edge does one thing ([`Op`]); an
//! expression has no side effect and no hidden conversion; what the text leaves open about the
//! order of evaluation is decided (left to right). What may go wrong is explicit: a check is a
//! guarded edge to a location of kind [`LocationKind::Error`].
//!
//! Arithmetic is that of the machine: two's complement, wrapping, of the type's width, signed or
//! not by the operands' type. Where C leaves the result undefined (signed overflow, shifting by
//! too much), the meaning is still total and is said at [`BinaryOp`]; the optional checks say
//! whether such a place can be reached.

pub use crate::checks::{Check, CheckKind, HeapFact, ProgramEnd};
use crate::ids::{CheckId, EdgeId, ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
pub use crate::indices::Indices;
use crate::mismatch::DISPATCH;
pub use crate::rounding::{RoundedOp, modes as rounding};
use crate::start::START;
use crate::types::{RecordKind, Type, Types};
use crate::words::Words;
pub use crate::woven::{ObjectCandidate, RuleVariable, WatchedObject, WhichObject, WovenRule};
use hardbop_diagnostics::{Sources, Span};
use std::ops::Range;

/// A whole C program, linked from its translation units.
#[derive(Clone, Debug)]
pub struct Program {
    /// The types and their layout.
    pub types: Types,
    /// Every variable: globals, statics, formals, locals, temporaries, string literals.
    pub variables: Vec<Variable>,
    /// Every function. After linking each has a body: one that no unit defines gets a body that
    /// returns anything, and an entry in [`Program::assumptions`].
    pub functions: Vec<Function>,
    /// Every location; those of one function are contiguous.
    pub locations: Vec<Location>,
    /// Every edge; those that leave one location are contiguous.
    pub edges: Vec<Edge>,
    /// Every expression; operands stand before what uses them.
    pub exprs: Vec<Expr>,
    /// Every place.
    pub places: Vec<Place>,
    /// What may be violated.
    pub checks: Vec<Check>,
    /// Where execution starts. Before it, variables of static storage have their initial value.
    pub entry: FuncId,
    /// What every verdict about this program rests on, in the order of first use.
    pub assumptions: Vec<Assumption>,
    /// The constructs that are not supported; an [`Op::Unsupported`] edge points here.
    pub unsupported: Vec<Unsupported>,
    /// The texts that the program was read from.
    pub sources: Sources,
    /// The names of files that line markers (`# 12 "x.h"`) mention.
    pub presumed_files: Vec<String>,
    /// The rules that were woven into it.
    pub rules: Vec<WovenRule>,
    /// Where indices may lead in arrays that are parts of objects.
    pub indices: Indices,
    /// The names of types and numbers, for texts about the program.
    pub words: Words,
}

/// Where something stands in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// The text that was read.
    pub span: Span,
    /// The file that it came from by its line markers: an index into
    /// [`Program::presumed_files`].
    pub file: u32,
    /// The line in that file.
    pub line: u32,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name in the source. Temporaries have names that C cannot have (`t#3`).
    pub name: String,
    /// Its type; arrays and records are variables as a whole.
    pub ty: TypeId,
    /// What it is.
    pub kind: VarKind,
    /// Whether its address is taken anywhere, so that it may be reached through pointers.
    /// Indexing an array variable or selecting a member in place does not count.
    pub address_taken: bool,
    /// Where it is declared.
    pub source: Source,
    /// Its value before the program starts, for static storage.
    pub initial: Initial,
    /// Whether it is a string literal or a `const` object of static storage, which the machine
    /// does not let anybody write.
    pub read_only: bool,
    /// The alignment in bytes that its declaration asks for; 1 where its type's will do.
    pub align: u64,
}

impl Variable {
    /// The name of compound literals.
    pub(crate) const COMPOUND_LITERAL: &str = "literal#";

    /// Whether it is the object of a compound literal.
    pub fn is_compound_literal(&self) -> bool {
        self.name == Variable::COMPOUND_LITERAL
    }

    /// The name of objects in which callers keep the further arguments (`...`) of a call.
    pub(crate) const FURTHER_ARGUMENTS: &str = "further#arguments";

    /// Whether it holds the further arguments of a call.
    pub fn is_further_arguments(&self) -> bool {
        self.name == Variable::FURTHER_ARGUMENTS
    }
}

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    /// A global with external or internal linkage.
    Global,
    /// A `static` local; it lives as long as the program.
    Static(FuncId),
    /// A string literal's array, or a compound literal outside of functions.
    Literal,
    /// A parameter.
    Formal(FuncId),
    /// A local that the user declared, or a compound literal in a function.
    Local(FuncId),
    /// A value that lowering had to keep.
    Temporary(FuncId),
    /// The value that the function returns.
    Result(FuncId),
}

/// The value of a variable of static storage before the program starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Automatic storage: unknown until [`Op::Declare`] or a call gives it a life.
    None,
    /// An external variable that no unit defines: any value.
    Unknown,
    /// Zero, except for these parts, which do not overlap and are sorted by offset.
    Data(Vec<InitialPart>),
}

/// A part of an initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialPart {
    /// The distance from the start of the variable in bits.
    pub offset_bits: u64,
    /// What stands there.
    pub value: InitialValue,
}

/// What stands in a part of an initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitialValue {
    /// A scalar: a constant, the address of a variable of static storage, or a function.
    Scalar(ExprId),
    /// A bit-field's value, of that many bits.
    Bits(ExprId, u32),
    /// Raw bytes, as of a string.
    Bytes(Vec<u8>),
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name. Static functions of different units that share a name are told apart by a
    /// suffix (`f#2`).
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Its parameters.
    pub formals: Vec<VarId>,
    /// Its locals and temporaries, formals and result not among them.
    pub locals: Vec<VarId>,
    /// Where the returned value is held; `None` for `void`.
    pub result: Option<VarId>,
    /// Whether it was defined, and by whom.
    pub origin: Origin,
    /// Its locations.
    pub locations: Range<u32>,
    /// Where a call enters.
    pub entry: LocId,
    /// Where it returns; no edges leave.
    pub exit: LocId,
    /// Where it is defined, or first mentioned.
    pub source: Source,
}

impl Function {
    /// Whether it is one of ours that only passes a call on: what calls `main` with its arguments,
    /// or what tells the targets of a pointer apart.
    pub fn passes_on(&self) -> bool {
        self.origin == Origin::Model && (self.name == START || self.name.starts_with(DISPATCH))
    }
}

/// Who defined a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user's text.
    User,
    /// The library models that come with the front end.
    Model,
    /// Nobody: the body returns anything.
    Undefined,
}

/// A location: a point of control.
#[derive(Clone, Debug)]
pub struct Location {
    /// The function it belongs to.
    pub function: FuncId,
    /// What is special about it.
    pub kind: LocationKind,
    /// The edges that leave it.
    pub edges: Range<u32>,
    /// The labels of the source that stand here.
    pub labels: Vec<String>,
}

/// What is special about a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationKind {
    /// Nothing.
    Plain,
    /// The head of a `while`, `for` or `do` loop, or the target of a backward `goto`.
    LoopHead,
    /// The function's exit.
    Exit,
    /// The check is violated here; no edges leave.
    Error(CheckId),
    /// The program ends here (`exit`, `abort`, a false assumption of the user); no edges leave.
    Halt,
}

/// An edge.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where it leaves.
    pub from: LocId,
    /// Where it leads; for a call, where the call returns to.
    pub to: LocId,
    /// What it does.
    pub op: Op,
    /// The user's text that it stands for.
    pub source: Source,
}

/// What an edge does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Nothing.
    Skip,
    /// Passes only where the scalar condition is nonzero (`holds`) or zero. The assumes that
    /// leave one location exclude each other and leave no state behind, unless one of them is
    /// the user's own `__VERIFIER_assume` (whose other side leads to a [`LocationKind::Halt`]).
    Assume {
        /// A scalar expression.
        condition: ExprId,
        /// The truth value that it must have.
        holds: bool,
    },
    /// Writes a value to a place of the same type. Records and arrays are written as a whole,
    /// from a [`ExprKind::Load`].
    Assign {
        /// Where.
        place: PlaceId,
        /// What.
        value: ExprId,
    },
    /// Writes a value chosen by the environment: `__VERIFIER_nondet_*()` and what models say is
    /// an input. Part of the failing run that a user is shown.
    Input {
        /// Where; a scalar.
        place: PlaceId,
        /// The function that the user called, e.g. `__VERIFIER_nondet_int`.
        name: String,
    },
    /// Writes any value (each scalar part of its own): the result of an undefined function, what
    /// inline assembly writes.
    Havoc {
        /// Where.
        place: PlaceId,
    },
    /// Writes any bytes to a range of memory.
    HavocMemory {
        /// The first byte.
        pointer: ExprId,
        /// The number of bytes; `None` for everything that can be reached from the pointer.
        size: Option<ExprId>,
        /// Whether the bytes are an input (`__VERIFIER_nondet_memory`).
        input: bool,
    },
    /// Calls a function and writes its result.
    Call {
        /// Who is called.
        callee: Callee,
        /// The arguments, converted to the parameters' types; further ones are those of
        /// a function that nobody defines, or are not looked at.
        arguments: Vec<ExprId>,
        /// Where the result goes.
        result: Option<PlaceId>,
    },
    /// A local (a whole object) begins its life with unknown contents.
    Declare {
        /// The local.
        variable: VarId,
    },
    /// Locals end their lives; pointers to them dangle.
    EndScope {
        /// The locals.
        variables: Vec<VarId>,
    },
    /// Makes a fresh object of unknown contents and writes its address to a place.
    Allocate {
        /// Where the address goes.
        place: PlaceId,
        /// The size in bytes.
        size: ExprId,
        /// How long it lives.
        lifetime: Lifetime,
    },
    /// Ends the life of a heap object. Null is allowed and does nothing.
    Free {
        /// The object's address.
        pointer: ExprId,
    },
    /// `memmove`: copies bytes; the ranges may overlap.
    CopyMemory {
        /// Where to.
        to: ExprId,
        /// Where from.
        from: ExprId,
        /// The number of bytes.
        size: ExprId,
    },
    /// `memset`: writes a byte many times.
    FillMemory {
        /// Where to.
        to: ExprId,
        /// The byte, as an `int` of which the low 8 bits count.
        byte: ExprId,
        /// The number of bytes.
        size: ExprId,
    },
    /// Says which of the bits behind a pointer have no value, although they were just written: as
    /// many as the type of `bits` has.
    SetOpen {
        /// The first byte.
        pointer: ExprId,
        /// The bits, of an unsigned type.
        bits: ExprId,
    },
    /// Something that is not supported. An execution that comes here has no known meaning.
    Unsupported {
        /// An index into [`Program::unsupported`].
        construct: u32,
    },
}

/// Who is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function by its name.
    Direct(FuncId),
    /// A function by a pointer.
    Indirect {
        /// The pointer.
        pointer: ExprId,
        /// The functions that it may point to, by points-to and by type, sorted.
        targets: Vec<FuncId>,
    },
}

impl Callee {
    /// The functions that the call may enter.
    pub fn targets(&self) -> &[FuncId] {
        match self {
            Callee::Direct(target) => std::slice::from_ref(target),
            Callee::Indirect { targets, .. } => targets,
        }
    }
}

/// How long an allocated object lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Until it is freed.
    Heap,
    /// Until the function returns (`alloca`, variable-length arrays).
    Frame,
    /// As long as the program: it is the library's own, e.g. what `getenv` returns.
    Library,
}

/// A place: C's lvalue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// How it is reached.
    pub kind: PlaceKind,
    /// The type of what it holds.
    pub ty: TypeId,
}

/// How a place is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceKind {
    /// A variable as a whole.
    Var(VarId),
    /// What a pointer points to.
    Deref(ExprId),
    /// A member of a record, by its position in [`crate::types::Record::fields`]; may be a
    /// bit-field, which is read and written by its bits and extended by its type's sign.
    Field(PlaceId, u32),
    /// An element of an array; the index has the type `ptrdiff_t`.
    Index(PlaceId, ExprId),
}

/// What a place is, or is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// A variable.
    Variable(VarId),
    /// What a pointer points to.
    Pointer(ExprId),
}

/// A side-effect-free expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expr {
    /// The top operator.
    pub kind: ExprKind,
    /// The type of the value. Comparisons, `!` and the tests give `int` 0 or 1.
    pub ty: TypeId,
}

/// The top operator of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExprKind {
    /// An integer or pointer constant: the value's bits, zero-extended.
    Int(u128),
    /// A floating-point constant: its bits in the format of its type, zero-extended.
    Float(u128),
    /// The value of a place. Of a record or an array only as what an assignment, an argument or
    /// a result is taken from.
    Load(PlaceId),
    /// The address of a place that is not a bit-field. The address of an array may have the type
    /// of a pointer to its element: that is how arrays decay.
    AddressOf(PlaceId),
    /// The address of a function.
    Function(FuncId),
    /// A unary operator.
    Unary(UnaryOp, ExprId),
    /// A binary operator on two operands of one type, except for shifts, whose result and left
    /// operand have one type, and whose right operand is any integer.
    Binary(BinaryOp, ExprId, ExprId),
    /// `pointer + index`: moves by `index` (of type `ptrdiff_t`) times `scale` bytes.
    PointerAdd {
        /// The pointer.
        pointer: ExprId,
        /// How many elements.
        index: ExprId,
        /// The size of an element in bytes.
        scale: u64,
    },
    /// `left - right` in elements.
    PointerDifference {
        /// The minuend.
        left: ExprId,
        /// The subtrahend.
        right: ExprId,
        /// The size of an element in bytes, not 0.
        scale: u64,
    },
    /// Converts a scalar to the scalar type of this expression, as C does: integers are
    /// truncated or extended by the sign of the type they come from, `_Bool` is `!= 0`, pointers
    /// are unsigned integers of their size, floats truncate towards zero.
    Convert(ExprId),
    /// An operation on floats that is rounded as a mode says. All modes are those of x86's
    /// `fenv.h`; any other number is taken for the first one, to the nearest.
    Rounded {
        /// The operation.
        op: RoundedOp,
        /// The mode, an `int`.
        mode: ExprId,
        /// The operands; from its arity on, the last one stands again.
        operands: [ExprId; 3],
    },
    /// `condition ? then : otherwise`; only one of them is evaluated.
    Conditional {
        /// A scalar.
        condition: ExprId,
        /// The value if it is nonzero.
        then: ExprId,
        /// The value if it is zero.
        otherwise: ExprId,
    },
    /// Whether the exact result of an addition, subtraction, multiplication, division,
    /// remainder, left shift or (with the left operand 0) negation of two integers, taken as
    /// mathematical numbers, is not a value of `at`.
    Overflows {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        left: ExprId,
        /// The right operand, maybe of another type.
        right: ExprId,
        /// The type in question.
        at: TypeId,
    },
    /// Whether `size` bytes from `pointer` on lie inside one live object.
    ValidAccess {
        /// The first byte.
        pointer: ExprId,
        /// The number of bytes.
        size: ExprId,
    },
    /// Whether `free` may be called: null, or the start of a live heap object.
    ValidFree {
        /// The argument of `free`.
        pointer: ExprId,
    },
    /// Whether a pointer belongs to an object that is not to be written: a string literal, or a
    /// constant of static storage.
    PointsToConstant {
        /// The pointer.
        pointer: ExprId,
    },
    /// Whether the heap is as it should be where the program ends.
    HeapIs {
        /// What should hold.
        fact: HeapFact,
        /// How the program ends.
        end: ProgramEnd,
    },
    /// `__builtin_object_size` at run time: the bytes from the pointer to its object's end.
    ObjectSize {
        /// The pointer.
        pointer: ExprId,
    },
    /// Which bits behind a pointer were never given a value, as an unsigned integer: as many as its
    /// type has, from the first byte on.
    Open {
        /// The first byte.
        pointer: ExprId,
    },
}

/// A unary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnaryOp {
    /// `-x`, wrapping; of a float, its sign flipped.
    Negate,
    /// `~x`.
    BitNot,
    /// `!x`: 1 if the scalar is zero, else 0.
    Not,
    /// The number of one bits.
    PopCount,
    /// The number of leading zero bits; the width for 0.
    LeadingZeros,
    /// The number of trailing zero bits; the width for 0.
    TrailingZeros,
    /// The bytes in reverse order.
    ByteSwap,
    /// `fabs`.
    FloatAbs,
    /// `sqrt`, correctly rounded.
    FloatSqrt,
    /// `floor`.
    FloatFloor,
    /// `ceil`.
    FloatCeil,
    /// `trunc`.
    FloatTrunc,
    /// `round`: halves away from zero.
    FloatRound,
    /// `rint`: halves to even.
    FloatRint,
    /// `isnan`.
    IsNan,
    /// `isinf`, without the sign.
    IsInfinite,
    /// `isfinite`.
    IsFinite,
    /// `isnormal`.
    IsNormal,
    /// `signbit`.
    SignBit,
}

/// A binary operator. Signedness is that of the (left) operand's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryOp {
    /// Addition, wrapping.
    Add,
    /// Subtraction, wrapping.
    Sub,
    /// Multiplication, wrapping.
    Mul,
    /// Division, towards zero. By zero: the run ends there (the interpreter says so; in logic
    /// the value is that of SMT-LIB's `bvudiv`/`bvsdiv`, and no such run is replayed). The
    /// smallest number by -1 wraps to itself.
    Div,
    /// Remainder, with the sign of the dividend. By zero as for division.
    Rem,
    /// Left shift. The amount counts modulo nothing: from the width on, the result is 0.
    Shl,
    /// Right shift, arithmetic if signed. From the width on, 0 or -1.
    Shr,
    /// `&`.
    BitAnd,
    /// `|`.
    BitOr,
    /// `^`.
    BitXor,
    /// `&&` of two scalars; the right one is not evaluated if the left one is zero.
    And,
    /// `||` of two scalars; the right one is not evaluated if the left one is not zero.
    Or,
    /// `==`, of integers, pointers or floats.
    Eq,
    /// `!=`.
    Ne,
    /// `<`; pointers compare as unsigned numbers.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `copysign(x, y)`.
    CopySign,
    /// `fmod(x, y)`.
    FloatMod,
}

/// Something that a verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// A function that no unit defines was taken to return anything (and, if `havoc`, to change
    /// the memory that it can reach).
    UndefinedFunction {
        /// Its name.
        name: String,
        /// Where it is first called.
        source: Source,
        /// Whether it may change memory.
        havoc: bool,
        /// Whether it returns: not if its declaration says that it does not.
        returns: bool,
    },
    /// An external variable that no unit defines may have any initial value.
    UndefinedVariable {
        /// Its name.
        name: String,
        /// Where it is declared.
        source: Source,
    },
    /// Inline assembly was taken to write anything to its outputs and nothing else.
    InlineAssembly {
        /// Where it stands.
        source: Source,
    },
    /// Another simplification of a model, in words (e.g. `malloc never returns null`).
    Model {
        /// What is assumed.
        text: String,
    },
    /// Executions end where something goes wrong that nobody asked about: a proof goes no further
    /// than that. A violation does not rest on it.
    Ends {
        /// The check that asks about it.
        check: CheckKind,
        /// The first place where it may happen.
        source: Source,
    },
}

/// A construct that is not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What it is.
    pub what: String,
    /// Where it stands.
    pub source: Source,
    /// Who does not know its meaning.
    pub gap: Gap,
}

/// Who does not know the meaning of a construct that is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Nobody: a run ends here.
    Everywhere,
    /// Nobody, but as far as is known only what is undefined comes here, so nobody is warned.
    Unlikely,
    /// Only the logic: a run goes on, a proof does not.
    Logic,
}

impl Program {
    /// The rule that something belongs to, by its place.
    pub fn rule_at(&self, source: Source) -> Option<&WovenRule> {
        self.rules.iter().find(|rule| rule.file == source.span.file)
    }

    /// The edges that leave a location, with their ids.
    pub fn edges_from(&self, location: LocId) -> impl Iterator<Item = (EdgeId, &Edge)> {
        let range = self.locations[location.index()].edges.clone();
        range.map(|i| (EdgeId(i), &self.edges[i as usize]))
    }

    /// A function's control flow over positions in its range of locations: where the edges from
    /// each location lead. Calls lead to where they return.
    pub fn successors(&self, function: FuncId) -> Vec<Vec<usize>> {
        let locations = self.function(function).locations.clone();
        let first = locations.start;
        locations
            .map(|location| {
                let edges = self.edges_from(LocId(location));
                edges
                    .map(|(_, edge)| (edge.to.0 - first) as usize)
                    .collect()
            })
            .collect()
    }

    /// The expression behind an id.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.index()]
    }

    /// The place behind an id.
    pub fn place(&self, id: PlaceId) -> &Place {
        &self.places[id.index()]
    }

    /// What a place is, or is a part of.
    pub fn root(&self, mut place: PlaceId) -> Root {
        loop {
            match self.place(place).kind {
                PlaceKind::Var(variable) => return Root::Variable(variable),
                PlaceKind::Deref(pointer) => return Root::Pointer(pointer),
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => place = base,
            }
        }
    }

    /// Whether an array may be longer than its type says; see [`is_flexible`].
    pub fn is_flexible(&self, array: PlaceId) -> bool {
        is_flexible(&self.places, &self.types, array)
    }

    /// The variable behind an id.
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.index()]
    }

    /// The function behind an id.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    /// The function of that name.
    pub fn function_named(&self, name: &str) -> Option<FuncId> {
        self.functions
            .iter()
            .position(|f| f.name == name)
            .map(|i| FuncId(i as u32))
    }
}

/// Whether an array may be longer than its type says: the last member, of at most one element, of
/// a record that is reached through a pointer.
pub fn is_flexible(places: &[Place], types: &Types, array: PlaceId) -> bool {
    let short =
        matches!(types.get(places[array.index()].ty), Type::Array { length, .. } if *length <= 1);
    let mut at = array;
    while let PlaceKind::Field(base, index) = places[at.index()].kind {
        let Type::Record(record) = types.get(places[base.index()].ty) else {
            return false;
        };
        let record = types.record(*record);
        let last = record.kind == RecordKind::Union || index as usize + 1 == record.fields.len();
        if !last {
            return false;
        }
        at = base;
    }
    short && at != array && matches!(places[at.index()].kind, PlaceKind::Deref(_))
}
