//! The C front end.

mod headers;
pub mod ids;
pub mod parse;
pub mod program;
pub mod types;
