//! How much of the time that is left a piece of work may take. Plans decide it; engines only keep
//! to it.

use hardbop_budget::Budget;
use std::time::Duration;

/// So many parts of what is left, and no more than some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// How many parts, ...
    pub parts: u32,
    /// ... of how many.
    pub of: u32,
    /// And no more than this.
    pub at_most: Duration,
}

impl Turn {
    /// For a reading of the program that is a guess: one that takes long is no good one.
    pub const GUESS: Turn = Turn {
        parts: 3,
        of: 5,
        at_most: Duration::from_secs(300),
    };

    /// The part of a budget that is this turn, from now on.
    pub fn of(self, budget: &Budget) -> Budget {
        let share = match budget.remaining() {
            Some(left) => (left * self.parts / self.of).min(self.at_most),
            None => self.at_most,
        };
        budget.clone().with_time(budget.elapsed() + share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_a_part_of_what_is_left() {
        let turn = Turn {
            parts: 1,
            of: 4,
            at_most: Duration::from_secs(100),
        };
        let left = |budget: Budget| turn.of(&budget).remaining().unwrap_or_default().as_secs();
        let seconds = Duration::from_secs;
        // The clock goes on between the two questions.
        assert!((18..=20).contains(&left(Budget::unlimited().with_time(seconds(80)))));
        assert!((98..=100).contains(&left(Budget::unlimited().with_time(seconds(8_000)))));
        assert!((98..=100).contains(&left(Budget::unlimited())));
    }
}
