//! C2bp: predicate abstraction of C programs, after "Automatic Predicate Abstraction of C
//! Programs" (Ball, Majumdar, Millstein, Rajamani) and TR 2000-14, sections 4.1 and 4.5.
//!
//! In come a C program and predicates over it ([`predicate::PredicateSet`]); out comes a boolean
//! program with the same control flow, in which every predicate is a variable
//! ([`abstract_program`]). Every execution of the C program is one of the boolean program, with
//! the predicates' truth values as the values of the variables.

mod abstraction;
mod code;
mod cube;
mod joins;
mod output;
pub mod predicate;
mod procedure;
mod prover;
mod signature;

pub use abstraction::{
    BooleanProgram, Events, NoEvents, Options, ProcedureStatistics, abstract_program,
};
pub use cube::{Cube, Dnf};
pub use hardbop_semantics::scalar::Arithmetic;
pub use prover::{CubeBound, Prover, ProverStatistics, Search};
