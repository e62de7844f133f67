//! The loop: abstract, check, refine (TR 2000-14, section 4.4; the SLAM loop).
//!
//! In come a prepared program and the checks that are still open; out come claims: invariants over
//! the predicates, or the run of an abstract path that is real. The search itself may guess (it
//! works over mathematical integers first); the gate checks what it claims in the exact meaning.

mod counting;
mod families;
mod groups;
mod lazy;
mod rounds;
mod search;

pub use rounds::{Met, Options, Slam, steps};
