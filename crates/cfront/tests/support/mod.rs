//! What the differential tests share: a generator of C programs, gcc, and the way from a text to
//! a run of it.

// Each test uses a part of it.
#![allow(dead_code)]

pub mod generate;
pub mod oracle;
pub mod random;
