//! Newton: is an abstract error path real, and if not, which predicates rule it out?
//!
//! In comes a path through the skeleton of a program
//! ([`Segment`](hardbop_semantics::segment::Segment)s); out comes either a concrete
//! run to replay ([`feasible`]), or predicates ([`refine`]) over which no path like it exists any
//! more. A path that passes a loop head more than once is refined as a *path program*: its edges
//! with their loops, as Horn clauses, so that one solution rules out every unrolling (TR 2000-14,
//! sections 4.2 to 4.4 give the loop-free case).
//!
//! For people, a path is explained as the papers do it: as [`statements`], simulated with all
//! dependencies ([`annotate`]) and projected to what matters ([`icpp`]).

pub mod annotate;
mod choices;
mod clauses;
pub mod cores;
pub mod exact;
pub mod feasible;
mod forget;
pub mod icpp;
pub mod predicate;
pub mod refine;
pub mod shortest;
pub mod statements;
mod wp;
