//! The boolean connectives, and the tests that build nothing.

use super::table::LEAF;
use super::{Bdd, Built, Manager};
use hardbop_budget::Stopped;

/// What cached results belong to; numbers from [`FIRST_PASS`] on are the passes.
pub(super) mod operation {
    pub const NOT: u32 = 0;
    pub const AND: u32 = 1;
    pub const OR: u32 = 2;
    pub const XOR: u32 = 3;
    pub const DIFFERENCE: u32 = 4;
    pub const INTERSECTS: u32 = 5;
    pub const CONSTRAIN: u32 = 6;
    pub const RESTRICT: u32 = 7;
    pub const FIRST_PASS: u32 = 16;
}
use operation::*;

impl Manager {
    /// The complement.
    pub fn not(&mut self, f: Bdd) -> Built {
        self.deep(|m| m.xor_step(f.0, 1)).map(Bdd)
    }

    /// The intersection.
    pub fn and(&mut self, f: Bdd, g: Bdd) -> Built {
        if f.is_false() || g.is_true() || f == g {
            return Ok(f);
        }
        self.deep(|m| m.and_step(f.0, g.0)).map(Bdd)
    }

    /// The union.
    pub fn or(&mut self, f: Bdd, g: Bdd) -> Built {
        if f.is_false() || g.is_true() || f == g {
            return Ok(g);
        }
        self.deep(|m| m.or_step(f.0, g.0)).map(Bdd)
    }

    /// The exclusive or.
    pub fn xor(&mut self, f: Bdd, g: Bdd) -> Built {
        self.deep(|m| m.xor_step(f.0, g.0)).map(Bdd)
    }

    /// Where both have the same value.
    pub fn iff(&mut self, f: Bdd, g: Bdd) -> Built {
        let different = self.xor(f, g)?;
        self.not(different)
    }

    /// What is in `f` and not in `g`.
    pub fn difference(&mut self, f: Bdd, g: Bdd) -> Built {
        if f.is_false() || g.is_false() {
            return Ok(f);
        }
        self.deep(|m| m.difference_step(f.0, g.0)).map(Bdd)
    }

    /// If `f` then `g` else `h`.
    pub fn ite(&mut self, f: Bdd, g: Bdd, h: Bdd) -> Built {
        self.deep(|m| m.ite_step(f.0, g.0, h.0)).map(Bdd)
    }

    /// Whether some assignment meets both. Builds nothing.
    pub fn intersects(&mut self, f: Bdd, g: Bdd) -> Result<bool, Stopped> {
        self.deep(|m| m.intersects_step(f.0, g.0))
    }

    /// Whether every assignment that meets `f` meets `g`. Builds nothing.
    pub fn is_subset(&mut self, f: Bdd, g: Bdd) -> Result<bool, Stopped> {
        self.deep(|m| m.exceeds_step(f.0, g.0))
            .map(|exceeds| !exceeds)
    }

    /// The top level of two nodes and their four cofactors there.
    #[inline]
    pub(super) fn split(&self, f: u32, g: u32) -> (u32, u32, u32, u32, u32) {
        let (f_level, f_lo, f_hi) = self.table.get(f);
        let (g_level, g_lo, g_hi) = self.table.get(g);
        let level = f_level.min(g_level);
        let (f_lo, f_hi) = if f_level == level {
            (f_lo, f_hi)
        } else {
            (f, f)
        };
        let (g_lo, g_hi) = if g_level == level {
            (g_lo, g_hi)
        } else {
            (g, g)
        };
        (level, f_lo, f_hi, g_lo, g_hi)
    }

    pub(super) fn and_step(&mut self, f: u32, g: u32) -> Result<u32, Stopped> {
        let (f, g) = if f <= g { (f, g) } else { (g, f) };
        if f == 0 || f == g {
            return Ok(f);
        }
        if f == 1 {
            return Ok(g);
        }
        if let Some(result) = self.cache.get(AND, f, g) {
            return Ok(result);
        }
        self.step()?;
        let (level, f_lo, f_hi, g_lo, g_hi) = self.split(f, g);
        let lo = self.and_step(f_lo, g_lo)?;
        let hi = self.and_step(f_hi, g_hi)?;
        let result = self.make(level, lo, hi)?;
        self.cache.put(AND, f, g, result);
        Ok(result)
    }

    pub(super) fn or_step(&mut self, f: u32, g: u32) -> Result<u32, Stopped> {
        let (f, g) = if f <= g { (f, g) } else { (g, f) };
        if f == 1 || f == g {
            return Ok(f);
        }
        if f == 0 {
            return Ok(g);
        }
        if let Some(result) = self.cache.get(OR, f, g) {
            return Ok(result);
        }
        self.step()?;
        let (level, f_lo, f_hi, g_lo, g_hi) = self.split(f, g);
        let lo = self.or_step(f_lo, g_lo)?;
        let hi = self.or_step(f_hi, g_hi)?;
        let result = self.make(level, lo, hi)?;
        self.cache.put(OR, f, g, result);
        Ok(result)
    }

    pub(super) fn xor_step(&mut self, f: u32, g: u32) -> Result<u32, Stopped> {
        let (f, g) = if f <= g { (f, g) } else { (g, f) };
        if f == g {
            return Ok(0);
        }
        if f == 0 {
            return Ok(g);
        }
        if f == 1 && g == 1 {
            return Ok(0);
        }
        if f == 1 {
            return self.not_step(g);
        }
        if let Some(result) = self.cache.get(XOR, f, g) {
            return Ok(result);
        }
        self.step()?;
        let (level, f_lo, f_hi, g_lo, g_hi) = self.split(f, g);
        let lo = self.xor_step(f_lo, g_lo)?;
        let hi = self.xor_step(f_hi, g_hi)?;
        let result = self.make(level, lo, hi)?;
        self.cache.put(XOR, f, g, result);
        Ok(result)
    }

    pub(super) fn not_step(&mut self, f: u32) -> Result<u32, Stopped> {
        if f <= 1 {
            return Ok(1 - f);
        }
        if let Some(result) = self.cache.get(NOT, f, 0) {
            return Ok(result);
        }
        self.step()?;
        let (level, lo, hi) = self.table.get(f);
        let lo = self.not_step(lo)?;
        let hi = self.not_step(hi)?;
        let result = self.make(level, lo, hi)?;
        self.cache.put(NOT, f, 0, result);
        Ok(result)
    }

    pub(super) fn difference_step(&mut self, f: u32, g: u32) -> Result<u32, Stopped> {
        if f == 0 || g == 1 || f == g {
            return Ok(0);
        }
        if g == 0 {
            return Ok(f);
        }
        if f == 1 {
            return self.not_step(g);
        }
        if let Some(result) = self.cache.get(DIFFERENCE, f, g) {
            return Ok(result);
        }
        self.step()?;
        let (level, f_lo, f_hi, g_lo, g_hi) = self.split(f, g);
        let lo = self.difference_step(f_lo, g_lo)?;
        let hi = self.difference_step(f_hi, g_hi)?;
        let result = self.make(level, lo, hi)?;
        self.cache.put(DIFFERENCE, f, g, result);
        Ok(result)
    }

    /// The cache has keys of two nodes, and `ite` is never in an inner loop here: it is made of
    /// the other connectives, save where the condition stands above both branches.
    pub(super) fn ite_step(&mut self, f: u32, g: u32, h: u32) -> Result<u32, Stopped> {
        let (level, lo, hi) = self.table.get(f);
        if level != LEAF && lo <= 1 && hi <= 1 {
            let below = self.table.level(g).min(self.table.level(h));
            if below > level {
                return if hi == 1 {
                    self.make(level, h, g)
                } else {
                    self.make(level, g, h)
                };
            }
        }
        let then = self.and_step(f, g)?;
        let otherwise = self.difference_step(h, f)?;
        self.or_step(then, otherwise)
    }

    fn intersects_step(&mut self, f: u32, g: u32) -> Result<bool, Stopped> {
        let (f, g) = if f <= g { (f, g) } else { (g, f) };
        if f == 0 {
            return Ok(false);
        }
        if f == 1 || f == g {
            return Ok(true);
        }
        if let Some(result) = self.cache.get(INTERSECTS, f, g) {
            return Ok(result != 0);
        }
        // A conjunction that was computed before answers too.
        if let Some(result) = self.cache.get(AND, f, g) {
            return Ok(result != 0);
        }
        self.step()?;
        let (_, f_lo, f_hi, g_lo, g_hi) = self.split(f, g);
        let result = self.intersects_step(f_lo, g_lo)? || self.intersects_step(f_hi, g_hi)?;
        self.cache.put(INTERSECTS, f, g, u32::from(result));
        Ok(result)
    }

    /// Whether something is in `f` and not in `g`. A "no" is remembered as an empty difference,
    /// which is what it is; a "yes" ends the search.
    fn exceeds_step(&mut self, f: u32, g: u32) -> Result<bool, Stopped> {
        if f == 0 || g == 1 || f == g {
            return Ok(false);
        }
        if g == 0 || f == 1 {
            return Ok(true);
        }
        if let Some(result) = self.cache.get(DIFFERENCE, f, g) {
            return Ok(result != 0);
        }
        self.step()?;
        let (_, f_lo, f_hi, g_lo, g_hi) = self.split(f, g);
        let result = self.exceeds_step(f_lo, g_lo)? || self.exceeds_step(f_hi, g_hi)?;
        if !result {
            self.cache.put(DIFFERENCE, f, g, 0);
        }
        Ok(result)
    }
}
