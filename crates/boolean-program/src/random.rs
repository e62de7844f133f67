//! Random numbers that are the same on every machine.

/// SplitMix64: small, fast, and good enough to pick programs and paths.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Either value, equally likely.
    pub fn coin(&mut self) -> bool {
        self.bits() >> 63 == 1
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // The bias is below 2^-32 for the bounds that occur here.
        (((self.bits() >> 32) * bound as u64) >> 32) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_reference_implementation() {
        let mut random = Random::new(1234567);
        assert_eq!(random.bits(), 6457827717110365317);
        assert_eq!(random.bits(), 3203168211198807973);
    }
}
