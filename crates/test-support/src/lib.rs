//! What the tests of several crates share. Nothing but tests and benchmarks depends on it.
//!
//! - [`random`]: random numbers that are the same on every machine.
//! - [`generate`]: random C programs, one module for each family; a seed is a program.
//! - [`answers`]: what an engine by itself says of a program.
//! - [`desk`]: a desk that keeps what the gate accepts.
//! - [`inputs`]: loading C text, and running a program on all its inputs.
//! - [`oracle`]: gcc as the judge of what a C program means, with a place for its files.
//! - [`systems`]: random little systems of bits, and what they reach.
//! - [`setting`]: how many cases a suite tries.

#![allow(
    clippy::print_stderr,
    reason = "a test that is skipped must say so where its output is read"
)]

pub mod answers;
pub mod desk;
pub mod generate;
pub mod inputs;
pub mod oracle;
pub mod random;
pub mod systems;

/// A number from the environment, such as `HARDBOP_CASES`.
pub fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(usual)
}
