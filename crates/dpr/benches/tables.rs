//! The tables.
fn main() {}
