//! Calls of functions that do not call themselves become copies of their bodies
//! ([`hardbop_cfront::inline`]).

use super::{Keeps, Pass};
use hardbop_cfront::inline::{Limits, inline};

/// The pass.
pub const PASS: Pass = Pass {
    name: "inline",
    does: "calls of functions that do not call themselves become copies of their bodies",
    keeps: Keeps::Exact,
    run: |program, budget| inline(program, &Limits::default(), budget),
};
