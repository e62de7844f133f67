//! The C front end: from C text to typed control-flow graphs, and a machine that runs them.
//!
//! In come C files ([`load::load`]), preprocessed or not, in the dialect that gcc accepts; out
//! come one linked [`program::Program`], what its pointers may point to ([`points_to`]), and
//! whatever there is to say about the text. Parsing and typing are done by the `rucc` crates,
//! which only `parse` and `lower` see; library functions that no file defines are added from
//! models written in C. The [`interp`] module runs a program on given inputs: it is the judge of
//! every failing run that an engine claims.

mod builder;
pub mod call_graph;
mod calls;
mod cfg;
mod checks;
pub mod compile_commands;
pub mod control;
mod conventions;
mod counts;
pub mod derived;
pub mod dot;
pub mod dump;
pub mod edit;
pub mod entry;
mod finish;
mod fold;
mod further;
mod headers;
mod heap;
pub mod ids;
pub mod indices;
pub mod inline;
pub mod interp;
pub mod load;
mod lower;
mod mismatch;
mod mod_ref;
pub mod models;
pub mod operands;
pub mod options;
pub mod parse;
pub mod placement;
pub mod points_to;
pub mod program;
mod quoted;
mod ranges;
mod reach;
mod rounding;
mod start;
pub mod types;
mod uninit;
mod unwritten;
pub mod verify;
pub mod watch;
pub mod words;
mod woven;
