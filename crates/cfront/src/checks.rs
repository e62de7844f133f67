//! Checks: what may be violated.

use crate::ids::FuncId;
use crate::program::Source;

/// Something that may be violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What kind of thing.
    pub kind: CheckKind,
    /// What is said when it is violated, e.g. `assertion x > 0`.
    pub message: String,
    /// The function in which it stands.
    pub function: FuncId,
    /// Where it stands.
    pub source: Source,
}

/// A kind of check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// `assert` fails.
    Assertion,
    /// `reach_error`, `__VERIFIER_error` or another error function is called.
    ErrorCall,
    /// An error label is reached.
    ErrorLabel,
    /// A division or remainder by zero.
    DivisionByZero,
    /// A signed operation whose result does not fit, or a shift by a wrong amount.
    Overflow,
    /// An unsigned operation whose result does not fit, and wraps around.
    Unsigned,
    /// An integer is converted, not by a cast, to a type that does not have its value.
    Conversion,
    /// A floating-point number is converted to an integer type that does not have its value.
    FloatCast,
    /// An operation on floating-point numbers, none of which is a NaN, gives one.
    Nan,
    /// Something is decided by bits that were never given a value.
    Uninit,
    /// A null, dangling or wild pointer is used.
    Pointer,
    /// An access outside of its object.
    Bounds,
    /// A pointer is moved out of its object, and not only to its end.
    PointerArithmetic,
    /// An access at an address that is no multiple of its type's alignment.
    Alignment,
    /// Memory is copied to where it overlaps itself, by a function that does not allow it.
    Overlap,
    /// A write to a string literal or to a constant of static storage.
    Constant,
    /// `free` of what is not the start of a live heap object.
    Free,
    /// Memory of the heap that nothing points to any more was not freed.
    Leak,
    /// Memory of the heap is not freed when the program ends.
    Cleanup,
    /// A rule says `abort`.
    Rule,
    /// An execution never ends. There is no location where that is seen.
    Termination,
}

impl CheckKind {
    /// A name that is also an identifier, e.g. for SARIF rules.
    pub fn name(self) -> &'static str {
        match self {
            CheckKind::Assertion => "assertion",
            CheckKind::ErrorCall => "error-call",
            CheckKind::ErrorLabel => "error-label",
            CheckKind::DivisionByZero => "div-by-zero",
            CheckKind::Overflow => "overflow",
            CheckKind::Unsigned => "unsigned",
            CheckKind::Conversion => "conversion",
            CheckKind::FloatCast => "float-cast",
            CheckKind::Nan => "nan",
            CheckKind::Uninit => "uninit",
            CheckKind::Pointer => "pointer",
            CheckKind::Bounds => "bounds",
            CheckKind::PointerArithmetic => "pointer-arithmetic",
            CheckKind::Alignment => "alignment",
            CheckKind::Overlap => "overlap",
            CheckKind::Constant => "constant",
            CheckKind::Free => "free",
            CheckKind::Leak => "leak",
            CheckKind::Cleanup => "cleanup",
            CheckKind::Rule => "rule",
            CheckKind::Termination => "termination",
        }
    }

    /// What it means that such a check is violated, in a sentence.
    pub fn explanation(self) -> &'static str {
        match self {
            CheckKind::Assertion => "An assertion can fail.",
            CheckKind::ErrorCall => "A function that stands for an error can be called.",
            CheckKind::ErrorLabel => "A label that stands for an error can be reached.",
            CheckKind::DivisionByZero => "A division or remainder by zero is possible.",
            CheckKind::Overflow => "The result of a signed operation may not fit its type.",
            CheckKind::Unsigned => "The result of an unsigned operation may wrap around.",
            CheckKind::Conversion => "An implicit conversion may change a value.",
            CheckKind::FloatCast => {
                "A floating-point number may not fit the integer type it is converted to."
            }
            CheckKind::Nan => {
                "An operation on floating-point numbers may have no number as its result."
            }
            CheckKind::Uninit => "A value that was never initialised can decide something.",
            CheckKind::Pointer => "A null, dangling or wild pointer can be used.",
            CheckKind::Bounds => "An access can lie outside of its object.",
            CheckKind::PointerArithmetic => "A pointer can be moved out of its object.",
            CheckKind::Alignment => "An access can be misaligned.",
            CheckKind::Overlap => "Memory can be copied to where it overlaps itself.",
            CheckKind::Constant => "A string literal or a constant can be written.",
            CheckKind::Free => "What is not the start of a live heap object can be freed.",
            CheckKind::Leak => "Memory can be lost: nothing points to it, and it was not freed.",
            CheckKind::Cleanup => "The program can end without having freed all memory.",
            CheckKind::Rule => "A rule about the use of an interface can be violated.",
            CheckKind::Termination => "An execution may never end.",
        }
    }
}

/// What should hold of the heap where a program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeapFact {
    /// No object lives.
    Freed,
    /// Every object that lives can be reached from a variable that lives.
    Reached,
}

impl HeapFact {
    /// The fact as an expression.
    pub(crate) fn text(self) -> &'static str {
        match self {
            HeapFact::Freed => "all_freed()",
            HeapFact::Reached => "all_reached()",
        }
    }

    /// The kind of the check that asks for it.
    pub(crate) fn kind(self) -> CheckKind {
        match self {
            HeapFact::Freed => CheckKind::Cleanup,
            HeapFact::Reached => CheckKind::Leak,
        }
    }
}

/// How a program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProgramEnd {
    /// The outermost call is about to return, and its variables end with it. Where an inner call
    /// of the same function returns, the program goes on, and nothing is asked.
    Return,
    /// By `exit`, `abort` or the like, with all calls active.
    Stop,
}
