//! The C front end.

mod builder;
mod calls;
mod cfg;
pub mod compile_commands;
pub mod dump;
mod finish;
mod fold;
pub mod graph;
mod headers;
pub mod ids;
pub mod interp;
pub mod load;
mod lower;
pub mod mod_ref;
mod models;
mod operands;
pub mod options;
pub mod parse;
pub mod points_to;
pub mod program;
mod reach;
pub mod types;
pub mod verify;
