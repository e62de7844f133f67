//! Which events of an engine are lines of the log: all of the first ones, then one now and then.

use std::time::Duration;

/// The lines that an engine has written.
#[derive(Debug, Default)]
pub struct Lines {
    written: u32,
    /// When the last one was.
    last: Duration,
    /// The events since then.
    folded: u64,
}

/// So many events of an engine are lines each; of the others some are.
const ALL_LINES: u32 = 100;
/// How far apart these are.
const APART: Duration = Duration::from_millis(500);

impl Lines {
    /// Whether an event is a line: then the number of those before it that were none.
    pub fn next(&mut self, now: Duration) -> Option<u64> {
        if self.written >= ALL_LINES && now < self.last + APART {
            self.folded += 1;
            return None;
        }
        self.written += 1;
        self.last = now;
        Some(std::mem::take(&mut self.folded))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_events_some_are_lines() {
        let mut lines = Lines::default();
        let told: Vec<Option<u64>> = (0..1_000u64)
            .map(|at| lines.next(Duration::from_millis(at)))
            .collect();
        let written: Vec<u64> = told.into_iter().flatten().collect();
        // A hundred at once, and then one after half a second.
        assert_eq!(written.len(), 101);
        assert_eq!(written[100], 499);
    }
}
