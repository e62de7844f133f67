//! Limits hold from the first byte that is read.
//!
//! What prepares a program takes a [`budget`] and looks at it; a parser in the middle of a file
//! does not, and a pipe that nobody writes to cannot. So while a program is read, another thread
//! looks at the clock and at the memory, and ends the process with UNKNOWN when a limit is reached.

use crate::cli::Limits;
use crate::console::{Console, while_reading};
use crate::failure::Verdict;
use crate::guard;
use crate::limits;
use hardbop_budget::{Budget, Stopped, cpu_time, resident_bytes};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How much is being read, looked up in headers or lowered just now.
static READING: AtomicUsize = AtomicUsize::new(0);

/// What reading may use.
static BUDGET: OnceLock<Budget> = OnceLock::new();

/// What may be used to read a program, and to prepare it: the user's limits and a little more.
pub fn budget() -> Budget {
    BUDGET.get().cloned().unwrap_or_else(Budget::unlimited)
}

/// How often the limits are looked at. A parser takes a few megabytes in this time.
const INTERVAL: Duration = Duration::from_millis(10);

/// How much longer reading may take. A limit that is shorter than it takes to read a small program
/// is not meant to say nothing about its checks.
const GRACE: Duration = Duration::from_secs(1);

/// Reading may hold so much in any case, for the same reason.
const LEAST: u64 = 32 << 20;

/// Stands for work that does not look at its budget; it is over when this is dropped.
pub struct Reading(());

impl Reading {
    /// Such work begins.
    pub fn begin() -> Reading {
        READING.fetch_add(1, Ordering::SeqCst);
        Reading(())
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        READING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What a program may take to be read where nobody says: files of some ten megabytes do not, but
/// macros that double at each step take all that there is.
const MOST: u64 = 8 << 30;

/// Begins to look at the limits. Without a limit on memory, most of what the machine has to give
/// is one: what needs more would end in a crash.
pub fn watch(limits: Option<&Limits>, console: &Console) {
    let started = Instant::now();
    let time = limits.and_then(|limits| limits.time_limit);
    let time = time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = time.map(|limit| limit.saturating_add(GRACE));
    let asked = limits.and_then(|limits| limits.memory_limit);
    let asked = asked.map(|mib| mib.saturating_mul(1 << 20).max(LEAST));
    let mut budget = Budget::unlimited();
    if let Some(limit) = time {
        budget = budget.with_time(limit);
    }
    let cpu = limits.and_then(limits::cpu);
    if let Some(limit) = cpu {
        budget = budget.with_cpu(limit.saturating_add(GRACE));
    }
    if let Some(bytes) = asked {
        budget = budget.with_memory(bytes);
    }
    // Nobody else sets it.
    let _ = BUDGET.set(budget);
    let memory = asked.or_else(|| Some(limits::most()?.min(MOST)));
    let console = console.clone();
    let look = move || {
        loop {
            std::thread::sleep(INTERVAL);
            if READING.load(Ordering::SeqCst) == 0 {
                continue;
            }
            let late = time.is_some_and(|limit| started.elapsed() >= limit)
                || cpu.is_some_and(|limit| cpu_time() >= Some(limit));
            let large = memory.is_some_and(|limit| resident_bytes() >= Some(limit));
            let reason = match (late, large) {
                (true, _) => Stopped::Time.to_string(),
                (_, true) if asked.is_some() => Stopped::Memory.to_string(),
                (_, true) => "too much memory was used (--memory-limit allows more)".to_owned(),
                _ => continue,
            };
            end(&console, &reason);
        }
    };
    // Without a thread the limits hold only where engines look at them.
    let _ = std::thread::Builder::new()
        .name("limits".to_owned())
        .spawn(look);
}

/// The work that is too long cannot be told to stop.
fn end(console: &Console, reason: &str) -> ! {
    console.stopped(&while_reading(reason));
    console.stderr().close();
    guard::leave(Verdict::Unknown.exit_code())
}
