//! Rules: what a program must do at the border to another one, checked on all its executions.
//!
//! In come the text of a rule ([`parse`]) and a [`Program`](hardbop_cfront::program::Program);
//! out comes the program with the rule woven in ([`weave`]): it has the rule's state among its
//! variables and the rule's `abort`s among its checks. The language follows SLIC, the rule
//! language of SLAM: a state machine beside the program, with handlers that run when functions
//! are called and when they return.
//!
//! ```text
//! state { enum { released, acquired } lock = released; }
//!
//! acquire.entry {
//!     watch $1;                                  // whichever lock: the rule is about one
//!     if (lock == acquired) abort "the lock is acquired twice";
//!     lock = acquired;
//! }
//! ```
//!
//! The rules of the [`library`] come with the tool.

mod ast;
mod events;
mod handler;
pub mod library;
mod parser;
mod primitive;
mod single;
mod typing;
mod watching;
mod weave;

pub use ast::{Rule, RuleOrigin};
pub use parser::parse;
pub use weave::{Woven, weave};
