//! Circuits: formulas as and-inverter graphs, and a SAT solver that decides questions about them.
//!
//! In come terms of `logic` that speak of bits: machine words, memory, uninterpreted functions,
//! floats. Out come bits of a [`Graph`] ([`Blaster`]), answers with models and cores about them
//! ([`Sat`]), or both behind `logic`'s own interface ([`CircuitSolver`]), so that whoever asks a
//! session can ask a circuit instead. That there is no model can be checked by its proof
//! ([`proof`]). Integers without bounds and quantifiers have no circuit; a question with them is
//! not known.

mod blast;
mod cases;
mod graph;
mod operators;
pub mod proof;
mod sat;
mod solver;
mod words;

pub use blast::{Blaster, NoCircuit, Read};
pub use graph::{Bit, Graph, Node, NodeId};
pub use sat::{Outcome, Sat, Switch};
pub use solver::{CircuitSolver, Show, TOO_LARGE};
pub use words::Word;
