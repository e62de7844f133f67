//! What a command may use: the user's limits, and the user's patience (Ctrl-C).

use crate::cli::Limits;
use crate::failure::{Failure, Verdict};
use crate::guard;
use hardbop_budget::Budget;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The budget of a command. From here on the first Ctrl-C asks the work to stop and report what
/// is known, and the second one ends the process.
pub fn budget(limits: &Limits) -> Result<Budget, Failure> {
    let mut budget = Budget::unlimited();
    if let Some(seconds) = limits.time_limit {
        // A limit too long for a `Duration` is no limit.
        if let Ok(limit) = Duration::try_from_secs_f64(seconds) {
            budget = budget.with_time(limit);
        }
    }
    if let Some(mib) = limits.memory_limit {
        budget = budget.with_memory(mib.saturating_mul(1 << 20));
    }
    let cancelled = budget.cancellation();
    let installed = ctrlc::set_handler(move || {
        if cancelled.swap(true, Ordering::Relaxed) {
            // The user asked twice, and what was said is written.
            guard::leave(Verdict::Unknown.exit_code());
        }
    });
    installed.map_err(|error| Failure::internal(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(budget)
}
