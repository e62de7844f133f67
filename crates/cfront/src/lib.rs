//! The C front end.

pub mod ids;
pub mod program;
pub mod types;
