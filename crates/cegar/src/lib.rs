//! The loop: abstract, check, refine (TR 2000-14, section 4.4; the SLAM loop).
//!
//! In come a `Program` and the checks that are still open; out comes for each one PROVED with
//! invariants that were re-checked, VIOLATED with a run that was replayed, or UNKNOWN with a
//! reason. The search itself may guess (it works over mathematical integers first); what it finds
//! counts only once [`hardbop_certify`] or [`replay`](hardbop_semantics::replay) has confirmed it in the exact meaning.

mod counting;
mod groups;
pub mod lazy;
mod rounds;
mod search;

pub use rounds::{Arithmetic, Cegar, Options, check, check_suggesting};
