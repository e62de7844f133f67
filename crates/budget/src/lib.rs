//! Limits on long work: a deadline, processor time, a memory ceiling and a cancellation flag.
//!
//! An engine gets a [`Budget`] and calls [`Budget::check`] at its safe points. Running out is an
//! ordinary value ([`Stopped`]) that travels up to an UNKNOWN verdict; nothing panics or exits.

mod stint;

pub use stint::Stint;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
#[cfg(not(target_family = "wasm"))]
use std::time::Instant;

/// A browser shows its clock to scripts only: there, no time passes, and who runs the work has to
/// end it.
#[cfg(target_family = "wasm")]
#[derive(Clone, Copy, Debug)]
struct Instant;

#[cfg(target_family = "wasm")]
impl Instant {
    fn now() -> Instant {
        Instant
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

/// What a piece of work may use. Cheap to clone; clones share the cancellation flag.
#[derive(Clone, Debug)]
pub struct Budget {
    started: Instant,
    time: Option<Duration>,
    cpu: Option<Duration>,
    memory: Option<u64>,
    used: Arc<Used>,
    cancelled: Arc<AtomicBool>,
    /// The flags of the budgets that this one is a part of.
    around: Vec<Arc<AtomicBool>>,
}

/// Why work stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The time limit passed.
    Time,
    /// The memory limit was reached.
    Memory,
    /// The user cancelled.
    Cancelled,
}

impl Budget {
    /// No limit at all; only cancellation stops the work.
    pub fn unlimited() -> Budget {
        Budget {
            started: Instant::now(),
            time: None,
            cpu: None,
            memory: None,
            used: Arc::default(),
            cancelled: Arc::new(AtomicBool::new(false)),
            around: Vec::new(),
        }
    }

    /// A part of this budget: it has the same limits and stops when this one is cancelled, but
    /// can be cancelled by itself.
    pub fn child(&self) -> Budget {
        let mut child = self.clone();
        child.around.push(Arc::clone(&self.cancelled));
        child.cancelled = Arc::new(AtomicBool::new(false));
        child
    }

    /// Stops the work at its next safe point, and that of all clones and children.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The same budget, with a time limit that counts from the budget's start.
    pub fn with_time(mut self, limit: Duration) -> Budget {
        self.time = Some(limit);
        self
    }

    /// The same budget, with a limit on the processor time of the whole process, all its threads
    /// together.
    pub fn with_cpu(mut self, limit: Duration) -> Budget {
        self.cpu = Some(limit);
        self
    }

    /// The same budget, with a ceiling in bytes on the memory of the whole process.
    pub fn with_memory(mut self, bytes: u64) -> Budget {
        self.memory = Some(bytes);
        self
    }

    /// The flag that a signal handler sets to stop the work at its next safe point.
    pub fn cancellation(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// How long the work has been going on.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// What is left of the time limit, if there is one. Of processor time it is what one of the
    /// threads may take that are usually at work.
    pub fn remaining(&self) -> Option<Duration> {
        let time = self
            .time
            .map(|limit| limit.saturating_sub(self.started.elapsed()));
        let cpu = self.cpu.zip(cpu_time());
        let cpu = cpu.map(|(limit, used)| limit.saturating_sub(used) / THREADS);
        match (time, cpu) {
            (Some(time), Some(cpu)) => Some(time.min(cpu)),
            (time, cpu) => time.or(cpu),
        }
    }

    /// The ceiling on memory in bytes, if there is one.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Says whether the process may hold this many more bytes: to be asked before a large table
    /// is made twice as large, when it would be too late afterwards.
    pub fn allows(&self, bytes: u64) -> Result<(), Stopped> {
        match self
            .memory
            .and_then(|limit| Some((limit, resident_bytes()?)))
        {
            Some((limit, used)) if used.saturating_add(bytes) > limit => Err(Stopped::Memory),
            _ => Ok(()),
        }
    }

    /// Says whether the work may go on. Costs a clock read and, with a limit on memory or on
    /// processor time, now and then a read of what the process has used: call it every few thousand
    /// steps, not at each one.
    pub fn check(&self) -> Result<(), Stopped> {
        let mut flags = std::iter::once(&self.cancelled).chain(&self.around);
        if flags.any(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Stopped::Cancelled);
        }
        if self
            .time
            .is_some_and(|limit| self.started.elapsed() >= limit)
        {
            return Err(Stopped::Time);
        }
        if let Some(limit) = self.cpu
            && self.used.cpu(self.started.elapsed()) >= limit
        {
            return Err(Stopped::Time);
        }
        // Whoever is told to stop holds a little more until it did.
        let too_much = |limit: u64| {
            let used = self.used.memory(self.started.elapsed());
            used >= limit - limit / 16
        };
        if self.memory.is_some_and(too_much) {
            return Err(Stopped::Memory);
        }
        Ok(())
    }
}

/// What the process had used when somebody last looked: to ask the system takes longer than many
/// steps.
#[derive(Debug, Default)]
struct Used {
    cpu: Known,
    memory: Known,
}

/// A number that holds for a while.
#[derive(Debug, Default)]
struct Known {
    /// Until when, in microseconds since the budget's start.
    until: AtomicU64,
    number: AtomicU64,
}

/// How long what was read holds.
const HOLDS: Duration = Duration::from_millis(2);

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Used {
    fn cpu(&self, now: Duration) -> Duration {
        let used = || cpu_time().map(micros).unwrap_or_default();
        Duration::from_micros(self.cpu.at(now, used))
    }

    fn memory(&self, now: Duration) -> u64 {
        let used = || resident_bytes().unwrap_or_default();
        self.memory.at(now, used)
    }
}

impl Known {
    fn at(&self, now: Duration, read: impl Fn() -> u64) -> u64 {
        if micros(now) >= self.until.load(Ordering::Relaxed) {
            self.number.store(read(), Ordering::Relaxed);
            self.until.store(micros(now + HOLDS), Ordering::Relaxed);
        }
        self.number.load(Ordering::Relaxed)
    }
}

/// So many threads share what is left of the processor time.
const THREADS: u32 = 2;

/// Looks at a budget now and then: for work of many small steps.
#[derive(Debug)]
pub struct Ticks<'a> {
    budget: &'a Budget,
    count: u32,
}

/// So many steps go by between two looks.
const STEPS: u32 = 1024;

impl Budget {
    /// Ticks by this budget.
    pub fn ticks(&self) -> Ticks<'_> {
        Ticks {
            budget: self,
            count: 0,
        }
    }
}

impl Ticks<'_> {
    /// A step is made. The first one looks at the budget.
    pub fn tick(&mut self) -> Result<(), Stopped> {
        let looks = self.count.is_multiple_of(STEPS);
        self.count = self.count.wrapping_add(1);
        match looks {
            true => self.budget.check(),
            false => Ok(()),
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stopped::Time => "the time limit passed",
            Stopped::Memory => "the memory limit was reached",
            Stopped::Cancelled => "cancelled",
        })
    }
}

impl std::error::Error for Stopped {}

/// The processor time that this process has used, where the system tells it.
pub fn cpu_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    cpu_time_in(&stat)
}

/// The processor time in a line of `/proc/PID/stat`: the 14th and the 15th word, in hundredths of
/// a second. The second word is the program's name, in which anything may stand.
pub fn cpu_time_in(stat: &str) -> Option<Duration> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_ascii_whitespace().skip(11);
    let user: u64 = words.next()?.parse().ok()?;
    let system: u64 = words.next()?.parse().ok()?;
    Some(Duration::from_millis(
        user.saturating_add(system).saturating_mul(10),
    ))
}

/// The processor time at which the system ends this process, if it does (`ulimit -t`).
pub fn cpu_limit() -> Option<Duration> {
    cpu_limit_in(&std::fs::read_to_string("/proc/self/limits").ok()?)
}

fn cpu_limit_in(limits: &str) -> Option<Duration> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max cpu time"))?;
    let seconds = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The memory this process holds now, where the system tells it.
pub fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// The most memory this process has held so far, where the system tells it.
pub fn peak_resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlimited_goes_on() {
        assert_eq!(Budget::unlimited().check(), Ok(()));
    }

    #[test]
    fn a_passed_deadline_stops() {
        let budget = Budget::unlimited().with_time(Duration::ZERO);
        assert_eq!(budget.check(), Err(Stopped::Time));
        assert_eq!(budget.remaining(), Some(Duration::ZERO));
    }

    #[test]
    fn a_low_ceiling_stops() {
        let budget = Budget::unlimited().with_memory(1);
        assert_eq!(budget.check(), Err(Stopped::Memory));
    }

    #[test]
    fn processor_time_is_a_limit_of_its_own() {
        let budget = Budget::unlimited().with_cpu(Duration::ZERO);
        assert_eq!(budget.check(), Err(Stopped::Time));
        assert_eq!(budget.remaining(), Some(Duration::ZERO));
        let budget = Budget::unlimited().with_cpu(Duration::from_secs(86_400));
        assert_eq!(budget.check(), Ok(()));
        assert!(budget.remaining() <= Some(Duration::from_secs(43_200)));
        assert_eq!(
            budget.child().with_time(Duration::ZERO).remaining(),
            Some(Duration::ZERO)
        );
    }

    #[test]
    fn what_the_system_says_is_read() {
        let stat = "7 (a) b) R 1 7 7 0 -1 4194304 9 0 0 0 125 25 0 0 20 0 1 0 99 8 2";
        assert_eq!(cpu_time_in(stat), Some(Duration::from_millis(1500)));
        assert_eq!(cpu_time_in("nothing"), None);
        let limits =
            "Limit  Soft Limit  Hard Limit  Units\nMax cpu time   30   unlimited   seconds\n";
        assert_eq!(cpu_limit_in(limits), Some(Duration::from_secs(30)));
        let limits = "Max cpu time   unlimited   unlimited   seconds\n";
        assert_eq!(cpu_limit_in(limits), None);
        assert!(cpu_time().is_some());
    }

    #[test]
    fn ticks_look_at_the_first_step_and_then_seldom() {
        let budget = Budget::unlimited();
        let mut ticks = budget.ticks();
        assert_eq!(ticks.tick(), Ok(()));
        budget.cancel();
        let after = (1..).position(|_| ticks.tick().is_err());
        assert_eq!(after, Some(1023));
        assert_eq!(budget.ticks().tick(), Err(Stopped::Cancelled));
    }

    #[test]
    fn what_would_not_fit_is_not_allowed() {
        let budget = Budget::unlimited().with_memory(1 << 40);
        assert_eq!(budget.allows(1 << 20), Ok(()));
        assert_eq!(budget.allows(1 << 41), Err(Stopped::Memory));
        assert_eq!(Budget::unlimited().allows(u64::MAX), Ok(()));
    }

    #[test]
    fn a_child_is_cancelled_alone_or_with_its_parents() {
        let user = Budget::unlimited();
        let (first, second) = (user.child(), user.child());
        let grandchild = first.child();
        first.cancel();
        assert_eq!(first.check(), Err(Stopped::Cancelled));
        assert_eq!(grandchild.check(), Err(Stopped::Cancelled));
        assert_eq!(second.check(), Ok(()));
        assert_eq!(user.check(), Ok(()));
        user.cancel();
        assert_eq!(second.check(), Err(Stopped::Cancelled));
    }

    #[test]
    fn a_child_has_the_limits_of_its_parent() {
        let user = Budget::unlimited().with_time(Duration::ZERO);
        assert_eq!(user.child().check(), Err(Stopped::Time));
    }

    #[test]
    fn clones_share_cancellation() {
        let budget = Budget::unlimited();
        budget.clone().cancellation().store(true, Ordering::Relaxed);
        assert_eq!(budget.check(), Err(Stopped::Cancelled));
    }
}
