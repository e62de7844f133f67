//! What a user can ask of lowering: the checks, the error labels, and what undefined functions do.

use crate::program::CheckKind;
use std::collections::BTreeSet;

/// What a user can ask of lowering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowerOptions {
    /// Where execution starts; `main` unless the user says otherwise.
    pub entry: String,
    /// What is assumed of the arguments of an entry that is not `main`: `buf is readable for len`,
    /// `s is a string`, `p is not null`, or a condition in C.
    pub arguments: Vec<String>,
    /// The checks asked for beyond assertions and error calls, which are always there:
    /// [`CheckKind::DivisionByZero`], [`CheckKind::Overflow`], [`CheckKind::Unsigned`],
    /// [`CheckKind::Conversion`], [`CheckKind::FloatCast`], [`CheckKind::Nan`],
    /// [`CheckKind::Uninit`],
    /// [`CheckKind::Pointer`], [`CheckKind::Bounds`], [`CheckKind::PointerArithmetic`],
    /// [`CheckKind::Alignment`], [`CheckKind::Overlap`], [`CheckKind::Constant`],
    /// [`CheckKind::Free`], [`CheckKind::Leak`], [`CheckKind::Cleanup`]; and
    /// [`CheckKind::Termination`], one for the whole program.
    pub checks: BTreeSet<CheckKind>,
    /// Whether a left shift of a value is among the overflows.
    pub left_shifts: LeftShifts,
    /// Whether `malloc` may return null at any time.
    pub allocations: Allocations,
    /// What is behind a violation.
    pub violations: Violations,
    /// What a failing assertion or a call of an error function is.
    pub failures: Failures,
    /// Labels whose being reached is an error, e.g. `ERROR`.
    pub error_labels: BTreeSet<String>,
    /// Functions whose being called is an error, whether or not the user gives them a body.
    pub error_functions: BTreeSet<String>,
    /// What a function that no unit defines may do.
    pub undefined: Undefined,
    /// What the question takes for granted, in words: an assumption of every verdict.
    pub granted: Vec<String>,
    /// Functions that rules listen to: the user's calls of them stay calls even if the front end
    /// knows by itself what they do. (Only `malloc` and `free` stay what they are; rules see
    /// [`crate::program::Op::Allocate`] and [`crate::program::Op::Free`].)
    pub hooks: BTreeSet<String>,
}

/// Whether a left shift of a negative value, or one whose result does not fit, is an overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftShifts {
    /// It is, as in the standard.
    Overflow,
    /// It is not, as in SV-COMP: bits are moved. A shift by a wrong amount still is.
    Move,
}

/// Whether `malloc` may return null at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocations {
    /// It does so only for more bytes than an object can have, which is an assumption.
    Succeed,
    /// It may.
    MayFail,
}

/// What is behind a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violations {
    /// Nothing: it ends the execution.
    End,
    /// The execution may end or go on, if what happens next has a meaning here: not where memory
    /// is used wrongly or something is divided by zero.
    Pass,
}

/// What a failing assertion or a call of an error function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failures {
    /// A check that is violated.
    Checks,
    /// An end of the program like `abort`: whoever asks about nothing but the heap at the end of
    /// the program asks about this end, too.
    Ends,
}

/// What a function that no unit defines may do, besides returning anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// Nothing.
    Pure,
    /// Write anything to the memory that it can reach: from its pointer arguments and from the
    /// variables with external linkage.
    Havoc,
}

impl Default for LowerOptions {
    fn default() -> LowerOptions {
        LowerOptions {
            entry: "main".to_owned(),
            arguments: Vec::new(),
            checks: BTreeSet::new(),
            left_shifts: LeftShifts::Overflow,
            allocations: Allocations::Succeed,
            violations: Violations::End,
            failures: Failures::Checks,
            error_labels: BTreeSet::new(),
            error_functions: ["reach_error", "__VERIFIER_error"]
                .map(str::to_owned)
                .into(),
            undefined: Undefined::Pure,
            granted: Vec::new(),
            hooks: BTreeSet::new(),
        }
    }
}

impl LowerOptions {
    /// Whether the user's calls of a function that the front end knows stay calls. Where `malloc`
    /// is listened to, `calloc` is a call too, so that what allocates in the user's own code is
    /// `malloc`.
    pub(crate) fn is_hooked(&self, name: &str) -> bool {
        const HOOKABLE: [&str; 6] = ["calloc", "memcpy", "memmove", "memset", "exit", "abort"];
        let listened = self.hooks.contains(name);
        let allocates = name == "calloc" && self.hooks.contains("malloc");
        HOOKABLE.contains(&name) && (listened || allocates)
    }

    /// Whether a check was asked for.
    pub fn wants(&self, kind: CheckKind) -> bool {
        self.checks.contains(&kind)
    }
}
