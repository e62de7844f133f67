//! Irredundant sums of products (Minato and Morreale): a diagram as a short formula.

use super::table::LEAF;
use super::{Bdd, Manager, Var};
use hardbop_budget::Stopped;

/// A variable or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literal {
    /// The variable.
    pub var: Var,
    /// The value that it has.
    pub value: bool,
}

/// A conjunction of literals, in the order of the variables; the empty one is true.
pub type Cube = Vec<Literal>;

/// Why a cover was not made.
enum Refused {
    Stopped(Stopped),
    TooLong,
}

impl From<Stopped> for Refused {
    fn from(stopped: Stopped) -> Refused {
        Refused::Stopped(stopped)
    }
}

impl Manager {
    /// An irredundant disjunction of cubes that is true wherever `lower` is and nowhere where
    /// `upper` is not. `None` if more than `most` cubes would be needed on the way.
    pub fn cubes(
        &mut self,
        lower: Bdd,
        upper: Bdd,
        most: usize,
    ) -> Result<Option<Vec<Cube>>, Stopped> {
        let mut budget = most;
        let found = self.deep(|m| m.isop_step(lower.0, upper.0, &mut budget));
        let mut cubes = match found {
            Ok((cubes, _)) => cubes,
            Err(Refused::TooLong) => return Ok(None),
            Err(Refused::Stopped(stopped)) => return Err(stopped),
        };
        for cube in &mut cubes {
            cube.reverse();
        }
        cubes.sort();
        Ok(Some(cubes))
    }

    /// The cubes, with their literals from the last level up, and their union.
    fn isop_step(
        &mut self,
        lower: u32,
        upper: u32,
        most: &mut usize,
    ) -> Result<(Vec<Cube>, u32), Refused> {
        if lower == 0 {
            return Ok((Vec::new(), 0));
        }
        if upper == 1 {
            *most = most.checked_sub(1).ok_or(Refused::TooLong)?;
            return Ok((vec![Vec::new()], 1));
        }
        self.step()?;
        let (level, lower_lo, lower_hi, upper_lo, upper_hi) = self.split(lower, upper);
        debug_assert!(level != LEAF);
        // What only one branch can cover needs the literal; the rest may do without it.
        let only_lo = self.difference_step(lower_lo, upper_hi)?;
        let only_hi = self.difference_step(lower_hi, upper_lo)?;
        let (mut cubes, lo) = self.isop_step(only_lo, upper_lo, most)?;
        let (hi_cubes, hi) = self.isop_step(only_hi, upper_hi, most)?;
        let rest_lo = self.difference_step(lower_lo, lo)?;
        let rest_hi = self.difference_step(lower_hi, hi)?;
        let rest = self.or_step(rest_lo, rest_hi)?;
        let both = self.and_step(upper_lo, upper_hi)?;
        let (rest_cubes, rest) = self.isop_step(rest, both, most)?;
        let var = self.var_at[level as usize];
        for cube in &mut cubes {
            cube.push(Literal { var, value: false });
        }
        cubes.extend(hi_cubes.into_iter().map(|mut cube| {
            cube.push(Literal { var, value: true });
            cube
        }));
        cubes.extend(rest_cubes);
        let split = self.make(level, lo, hi)?;
        let union = self.or_step(split, rest)?;
        Ok((cubes, union))
    }
}
