//! The language of boolean programs.

pub mod program;
