//! Reports: results that people and machines can read.
//!
//! In come what an engine knows about a program and the program itself; out come texts: for a
//! terminal ([`terminal`]), for a browser ([`html`]), for code hosts and continuous integration
//! ([`sarif`], [`junit`]), for Graphviz ([`dot`]), for a C compiler ([`harness`]). Engines do not appear here: [`collect`] turns answers and runs into
//! [`results::Results`], plain data that every renderer takes. The path of a violation is made by
//! repeating its run in the concrete interpreter and looking on, so what is shown is what
//! happened; which steps matter is decided by a dynamic slice of that run.

pub mod annotations;
pub mod collect;
pub mod dot;
mod flow;
pub mod harness;
pub mod html;
pub mod join;
pub mod junit;
mod object;
mod record;
mod relevance;
pub mod results;
pub mod rows;
mod rule_run;
pub mod sarif;
mod shorten;
pub mod svcomp;
pub mod svg;
pub mod terminal;
mod trace;
mod walked;
pub mod xml;
pub mod yaml;
