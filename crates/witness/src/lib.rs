//! Witnesses: what a verifier says so that another tool can check it.
//!
//! In come results and out come witnesses in the formats of SV-COMP ([`mod@write`]: versions 2.0 and
//! 2.1; [`graphml`]: version 1.0); in come such files, of whatever tool, and out come a
//! [`model::Witness`] and what is wrong with the file ([`read`]). A witness is validated by weaving
//! it into the program ([`weave`]): a violation witness becomes a counter that follows its
//! waypoints, invariants become checks at their loops. What is then proved or violated of the woven
//! program is what is known of the witness.
//!
//! D. Beyer, M. Dangl, D. Dietsch, M. Heizmann, T. Lemberger, M. Tautschnig: *Verification
//! Witnesses*, TOSEM 2022; P. Ayaziova, D. Beyer, M. Lingsch-Rosenfeld, M. Spiessl, J. Strejcek:
//! *Software Verification Witnesses 2.0*, SPIN 2024.

mod branch;
mod expression;
pub mod graphml;
pub mod model;
pub mod read;
mod sew;
mod text;
pub mod weave;
pub mod write;
