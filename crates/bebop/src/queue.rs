//! The worklist: a set of ranks that gives the lowest one first.
//!
//! Bits, and above them one bit for each word that is not empty, and so on: with thousands of
//! ranks waiting, adding and taking one still touches a handful of words.

/// A set of numbers below a limit.
#[derive(Debug)]
pub(crate) struct Queue {
    /// The lowest level has a bit for every number; the highest one is a single word.
    levels: Vec<Vec<u64>>,
}

impl Queue {
    pub(crate) fn new(limit: usize) -> Queue {
        let mut levels = Vec::new();
        let mut size = limit;
        loop {
            size = size.div_ceil(64).max(1);
            levels.push(vec![0; size]);
            if size == 1 {
                return Queue { levels };
            }
        }
    }

    /// Adds a number; one that is there already is there once.
    pub(crate) fn push(&mut self, number: u32) {
        let mut place = number as usize;
        for level in &mut self.levels {
            let word = &mut level[place / 64];
            let known = *word != 0;
            *word |= 1 << (place % 64);
            if known {
                return;
            }
            place /= 64;
        }
    }

    /// Takes the lowest number out.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let mut place = 0;
        for level in self.levels.iter().rev() {
            place = place * 64 + level[place].trailing_zeros() as usize;
        }
        let number = place as u32;
        for level in &mut self.levels {
            let word = &mut level[place / 64];
            *word &= !(1 << (place % 64));
            if *word != 0 {
                break;
            }
            place /= 64;
        }
        Some(number)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.levels.last().is_none_or(|top| top[0] == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_comes_first_and_each_once() {
        let mut queue = Queue::new(300_000);
        for number in [5, 299_999, 64, 5, 4096, 63, 200_000] {
            queue.push(number);
        }
        let mut order = Vec::new();
        while let Some(number) = queue.pop() {
            order.push(number);
            if number == 4096 {
                queue.push(7);
            }
        }
        assert_eq!(order, [5, 63, 64, 4096, 7, 200_000, 299_999]);
        assert!(queue.is_empty() && Queue::new(0).pop().is_none());
    }
}
