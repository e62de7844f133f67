//! The C front end.

mod headers;
pub mod ids;
pub mod interp;
pub mod parse;
pub mod points_to;
pub mod program;
pub mod types;
