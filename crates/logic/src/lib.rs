//! Logic: terms, their simplification, and questions about them to an SMT solver.
//!
//! In come formulas, built in an arena of [`Terms`]; out come answers: satisfiable with a model,
//! unsatisfiable with a core, or unknown with a reason. Nothing here knows of programs.

mod algebra;
mod allsmt;
mod atoms;
mod bounds;
mod eval;
mod float;
mod horn;
mod infix;
mod parse;
mod prover;
mod put_in;
mod rebase;
mod relative;
mod simplify;
mod smtlib;
mod solver;
mod sort;
mod term;
mod value;
mod walk;

pub use algebra::{
    Lemmas, multiplies, products_as_functions, refuted_by_algebra, without_products,
    without_refuted,
};
pub use allsmt::{Cube, Enumeration, all_models, merge_cubes};
pub use atoms::{atoms, atoms_of};
pub use eval::{Assignment, EvalError, FunctionValue, eval};
pub use float::{
    FloatFormat, FloatOp, FloatOperation, LeadingBit, Rounding, Template as FloatCircuit,
};
pub use horn::{Horn, HornAnswer, Solution};
pub use infix::Infix;
pub use parse::{Names, ParseError, parse_declared, parse_term};
pub use prover::{Prover, Undecided};
pub use put_in::PutIn;
pub use rebase::rebased;
pub use relative::Relative;
pub use simplify::Sign;
pub use smtlib::{declared_text, script, smtlib_text, sort_text};
pub use solver::{
    Answer, Limits, Log, Session, SmtLibProcess, Solver, Statistics, Unknown, Z3Options, Z3Solver,
};
pub use sort::{ArraySort, Sort};
pub use term::{FuncId, Op, SortError, SymbolId, TermId, Terms};
pub use value::{ArrayValue, BitVec, Value};
