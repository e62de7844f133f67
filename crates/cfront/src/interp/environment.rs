//! Who answers for what the program does not decide itself.

use crate::ids::{EdgeId, TypeId, VarId};
use crate::program::Program;

/// What is asked for, and where.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The program that runs.
    pub program: &'a Program,
    /// The edge that asks; `None` before the first edge (external variables without a
    /// definition, parameters of the entry function).
    pub edge: Option<EdgeId>,
    /// What it will be read as.
    pub wanted: Wanted,
}

/// What something that is asked for will be read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Anything: the contents of an object.
    Bytes,
    /// A number.
    Number,
    /// A pointer.
    Pointer,
}

/// Supplies inputs and unknown values.
pub trait Environment {
    /// The next scalar input: bits of the type, of which those beyond its width do not count.
    /// `None` ends the run.
    fn input(&mut self, request: Request<'_>, ty: TypeId) -> Option<u128>;

    /// Fills a range of memory that is an input. `false` ends the run.
    fn input_bytes(&mut self, request: Request<'_>, bytes: &mut [u8]) -> bool;

    /// Fills unknown contents: of a new object, of a havocked place. The bytes are zero before.
    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]);

    /// Fills what a variable holds before anything is written to it, where nothing says what that
    /// is: one of static storage before the program starts, a local when its function is called.
    fn unknown_variable(&mut self, request: Request<'_>, variable: VarId, bytes: &mut [u8]) {
        let _ = variable;
        self.unknown(request, bytes);
    }

    /// Fills what an object that the program did not make holds at an address.
    fn outside(&mut self, request: Request<'_>, address: u64, bytes: &mut [u8]) {
        let _ = address;
        self.unknown(request, bytes);
    }

    /// Whether [`Environment::unknown`] always leaves zeros, so that it need not be asked.
    fn unknown_is_zero(&self) -> bool {
        false
    }
}
