//! Dynamic path reduction (Yang, Al-Rawi, Sakallah, Huang, Smolka, Grosu: *Dynamic Path Reduction
//! for Software Model Checking*).
//!
//! In come a prepared program and the checks that are still open; out come claims: a run that
//! violates a check, or, when all paths were run or ruled out, the clauses that rule them out.
//! The program is run under *oracles* that decide its choices; from every run without an error a
//! clause is learned that rules out all oracles that would fail for the same reason.
//!
//! What the paper leaves out is here: inputs are symbols, so a branch on an input is a choice;
//! there are procedures, recursion, pointers and arrays, by the meaning that all engines share.
//! What a clause claims, and why it is so, is said in `explain`; every clause is checked by other
//! means behind the gate.
//!
//! ```
//! use hardbop_budget::Budget;
//! use hardbop_cfront::ids::CheckId;
//! use hardbop_cfront::load::load_text;
//! use hardbop_dpr::Dpr;
//! use hardbop_engine::{Task, Value};
//! use hardbop_gate::{Outcome, alone};
//! use hardbop_model::{Model, Prepared};
//!
//! let text = "
//!     extern int __VERIFIER_nondet_int(void);
//!     extern void reach_error(void);
//!     int main(void) {
//!         int x = 5, y = 8;
//!         if (__VERIFIER_nondet_int()) y = y - 1; else y = y + 1;
//!         if (2 * x > 10) reach_error();
//!         return y;
//!     }";
//! let loaded = load_text("foo.c", text).unwrap();
//! let budget = Budget::unlimited();
//! let prepared = Prepared::with_points_to(&loaded.program, loaded.points_to, &budget).unwrap();
//! let task = Task {
//!     model: &Model::new(&loaded.program, &prepared),
//!     checks: &[CheckId(0)],
//!     budget: &budget,
//! };
//! let report = alone(&Dpr::default(), &task, &mut |_| {});
//! assert!(matches!(report.outcomes[&CheckId(0)], Outcome::Proved(_)));
//! // The choice has nothing to do with x: one of the two paths is enough.
//! assert_eq!(report.count("explored"), 1);
//! assert_eq!(report.figure("pruned"), Some(&Value::Big(1u32.into())));
//! ```

mod assignments;
mod check;
mod count;
mod explain;
pub mod generate;
mod nodes;
mod oracle;
mod run;
mod search;
mod smus;
mod structure;
mod together;

pub use check::{Dpr, Learning, Options, Order, Part};
