//! How long one thread has worked.
//!
//! A limit on a single question counts the processor time of the thread that asks it: a question gets
//! the same answer on a machine that does much else, where a clock on the wall would end it sooner.

use std::time::Duration;

#[cfg(not(target_family = "wasm"))]
use rustix::{
    thread::{Pid, gettid},
    time::{ClockId, clock_gettime},
};
#[cfg(not(target_family = "wasm"))]
use std::time::Instant;

/// The work of the thread that began it.
#[derive(Clone, Copy, Debug)]
#[cfg(not(target_family = "wasm"))]
pub struct Stint {
    thread: Pid,
    /// What the thread had worked before.
    before: Duration,
    began: Instant,
}

#[cfg(not(target_family = "wasm"))]
impl Stint {
    /// This thread begins to work.
    pub fn begin() -> Stint {
        let before = clock_gettime(ClockId::ThreadCPUTime);
        Stint {
            thread: gettid(),
            before: Duration::try_from(before).unwrap_or_default(),
            began: Instant::now(),
        }
    }

    /// How long it is since it began: it has not worked longer than this.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// How long it has worked. For the thread itself: of others this means nothing.
    pub fn worked(&self) -> Duration {
        let now = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
        now.saturating_sub(self.before)
    }

    /// Whether it has worked this long; any thread may ask. Where the system does not tell, all time
    /// counts.
    pub fn is_over(&self, limit: Duration) -> bool {
        self.elapsed() >= limit && self.seen().is_none_or(|worked| worked >= limit)
    }

    /// How long it has worked, as far as the system tells others.
    fn seen(&self) -> Option<Duration> {
        let thread = self.thread.as_raw_nonzero();
        let times = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
        let worked: u64 = times.split_ascii_whitespace().next()?.parse().ok()?;
        // What others see may lag behind what the thread itself was told.
        Some(Duration::from_nanos(worked).saturating_sub(self.before))
    }
}

/// In a browser no time passes.
#[derive(Clone, Copy, Debug)]
#[cfg(target_family = "wasm")]
pub struct Stint;

#[cfg(target_family = "wasm")]
impl Stint {
    /// This thread begins to work.
    pub fn begin() -> Stint {
        Stint
    }

    /// How long it is since it began.
    pub fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    /// How long it has worked.
    pub fn worked(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether it has worked this long.
    pub fn is_over(&self, limit: Duration) -> bool {
        limit.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_sleeps_does_not_work() {
        let stint = Stint::begin();
        std::thread::sleep(Duration::from_millis(30));
        assert!(stint.elapsed() >= Duration::from_millis(30));
        assert!(stint.worked() < Duration::from_millis(30));
        if stint.seen().is_some() {
            assert!(!stint.is_over(Duration::from_millis(30)));
        }
        assert!(stint.is_over(Duration::ZERO));
    }

    #[test]
    fn work_is_seen_by_others() {
        let stint = Stint::begin();
        let mut number = 1u64;
        while !stint.is_over(Duration::from_millis(20)) {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
        }
        assert_ne!(number, 0);
        let seen = std::thread::spawn(move || stint.is_over(Duration::from_millis(10)));
        assert!(seen.join().expect("a thread"));
    }
}
