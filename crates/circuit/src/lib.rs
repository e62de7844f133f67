//! Circuits: formulas as and-inverter graphs, and a SAT solver that decides questions about them.
//!
//! In come terms of `logic` that speak of bits: machine words, memory, uninterpreted functions,
//! floats. Out come bits of a [`Graph`] ([`Blaster`]), answers with models and cores about them
//! ([`Sat`]), or both behind `logic`'s own interface ([`CircuitSolver`]), so that whoever asks a
//! session can ask a circuit instead. Integers without bounds and quantifiers have no circuit; a
//! question with them is not known.

mod blast;
mod graph;
mod operators;
mod sat;
mod solver;
mod words;

pub use blast::{Blaster, NoCircuit, Read};
pub use graph::{Bit, Graph, Node, NodeId};
pub use sat::{Outcome, Sat, Switch};
pub use solver::CircuitSolver;
pub use words::Word;
