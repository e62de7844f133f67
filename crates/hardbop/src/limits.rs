//! What a command may use: the user's limits, and the user's patience (Ctrl-C).

use crate::cli::Limits;
use crate::failure::{Failure, Verdict};
use crate::guard;
use hardbop_budget::{Budget, cpu_limit};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What is left for telling what is known, of the processor time after which the system ends the
/// process: a tenth, within these bounds.
const TELLING: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(3)];

/// The processor time that the work may take: what the user says, or what the system allows.
pub fn cpu(limits: &Limits) -> Option<Duration> {
    let said = limits.cpu_limit;
    let said = said.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let [least, most] = TELLING;
    let allowed = cpu_limit().map(|limit| limit.saturating_sub((limit / 10).clamp(least, most)));
    match (said, allowed) {
        (Some(said), Some(allowed)) => Some(said.min(allowed)),
        (said, allowed) => said.or(allowed),
    }
}

/// The memory that the work may hold, in bytes: what the user says, or three quarters of what is free
/// now: what takes more makes the machine unusable, and ends in a crash.
pub fn memory(limits: &Limits) -> Option<u64> {
    let said = limits.memory_limit;
    let said = said.map(|mib| mib.saturating_mul(1 << 20));
    said.or_else(most)
}

/// Three quarters of the memory that is free now, in bytes.
pub fn most() -> Option<u64> {
    Some(available()? / 4 * 3)
}

/// The memory that is free now, in bytes.
fn available() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kibibytes: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

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
    if let Some(limit) = cpu(limits) {
        budget = budget.with_cpu(limit);
    }
    if let Some(bytes) = memory(limits) {
        budget = budget.with_memory(bytes);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_limited_where_nobody_says_how() {
        let limits = |memory_limit| Limits {
            time_limit: None,
            cpu_limit: None,
            memory_limit,
        };
        assert_eq!(memory(&limits(Some(3))), Some(3 << 20));
        let free = available().expect("the system tells");
        let most = memory(&limits(None)).expect("a limit");
        assert!(most > 0 && most < free / 8 * 7, "{most} of {free}");
    }
}
