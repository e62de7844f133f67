//! The loop on C programs: the papers' own, and random ones compared to all their runs.

mod exhaustive;
mod mutations;
mod papers;
