//! Generalised cofactors: a diagram simplified where only a care set counts.

use super::apply::operation::{CONSTRAIN, RESTRICT};
use super::{Bdd, Built, Manager};
use hardbop_budget::Stopped;

impl Manager {
    /// Coudert and Madre's `constrain`: agrees with `f` on `care`, which must not be empty. The
    /// image of a set under a relation is the range of the constrained relation.
    pub fn constrain(&mut self, f: Bdd, care: Bdd) -> Built {
        debug_assert!(!care.is_false());
        self.deep(|m| m.constrain_step(f.0, care.0)).map(Bdd)
    }

    /// Coudert and Madre's `restrict`: agrees with `f` on `care`, which must not be empty, and
    /// does not depend on variables that `f` does not depend on.
    pub fn restrict(&mut self, f: Bdd, care: Bdd) -> Built {
        debug_assert!(!care.is_false());
        self.deep(|m| m.restrict_step(f.0, care.0)).map(Bdd)
    }

    fn constrain_step(&mut self, f: u32, care: u32) -> Result<u32, Stopped> {
        if care == 1 || f <= 1 {
            return Ok(f);
        }
        if f == care {
            return Ok(1);
        }
        if let Some(result) = self.cache.get(CONSTRAIN, f, care) {
            return Ok(result);
        }
        self.step()?;
        let (level, f_lo, f_hi, care_lo, care_hi) = self.split(f, care);
        let result = if care_lo == 0 {
            self.constrain_step(f_hi, care_hi)?
        } else if care_hi == 0 {
            self.constrain_step(f_lo, care_lo)?
        } else {
            let lo = self.constrain_step(f_lo, care_lo)?;
            let hi = self.constrain_step(f_hi, care_hi)?;
            self.make(level, lo, hi)?
        };
        self.cache.put(CONSTRAIN, f, care, result);
        Ok(result)
    }

    fn restrict_step(&mut self, f: u32, care: u32) -> Result<u32, Stopped> {
        if care == 1 || f <= 1 {
            return Ok(f);
        }
        if f == care {
            return Ok(1);
        }
        if let Some(result) = self.cache.get(RESTRICT, f, care) {
            return Ok(result);
        }
        self.step()?;
        let (f_level, f_lo, f_hi) = self.table.get(f);
        let (care_level, care_lo, care_hi) = self.table.get(care);
        let result = if care_level < f_level {
            let either = self.or_step(care_lo, care_hi)?;
            self.restrict_step(f, either)?
        } else {
            let (care_lo, care_hi) = if care_level == f_level {
                (care_lo, care_hi)
            } else {
                (care, care)
            };
            if care_lo == 0 {
                self.restrict_step(f_hi, care_hi)?
            } else if care_hi == 0 {
                self.restrict_step(f_lo, care_lo)?
            } else {
                let lo = self.restrict_step(f_lo, care_lo)?;
                let hi = self.restrict_step(f_hi, care_hi)?;
                self.make(f_level, lo, hi)?
            }
        };
        self.cache.put(RESTRICT, f, care, result);
        Ok(result)
    }
}
