//! How a command ends: the exit codes, and what stopped it if it could not do its work.

use hardbop_budget::Stopped;
use hardbop_diagnostics::{Diagnostic, Sources};

/// The verdict behind a command's exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything asked about is proved or unreachable, or the command did its work.
    Fine,
    /// Something is reachable or violated.
    Found,
    /// What is not proved has no violation up to the depth that was asked for.
    Bounded,
    /// A limit was reached, or the work was cancelled, before the question was settled.
    Unknown,
}

/// The exit code of bad input, bad usage and internal errors.
pub const REFUSED: u8 = 2;

/// The exit code of an answer up to a depth.
pub const BOUNDED: u8 = 4;

impl Verdict {
    /// The documented exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Fine => 0,
            Verdict::Found => 1,
            Verdict::Unknown => 3,
            Verdict::Bounded => BOUNDED,
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// The input has errors, each with its place.
    Input {
        /// The texts that the diagnostics point into.
        sources: Sources,
        /// The errors, and the warnings that came with them.
        diagnostics: Vec<Diagnostic>,
    },
    /// Bad input or usage that no place in a text stands for.
    Message(String),
    /// A mistake of ours.
    Internal(String),
    /// A limit was reached before there was anything to say.
    Stopped(Stopped),
    /// The answer is printed and so is what went wrong afterwards.
    Told,
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Failure {
        Failure::Stopped(stopped)
    }
}

impl Failure {
    /// Bad input or usage, said in one line without a full stop.
    pub fn message(text: impl Into<String>) -> Failure {
        Failure::Message(text.into())
    }

    /// A mistake of ours, said in one line without a full stop.
    pub fn internal(text: impl Into<String>) -> Failure {
        Failure::Internal(text.into())
    }
}
