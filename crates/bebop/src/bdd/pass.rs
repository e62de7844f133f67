//! Passes: conjunction, quantification and renaming in one recursion.
//!
//! A pass says for every variable whether it is kept, quantified out, or moved to the place of
//! another one. The image of a set under a relation, the projection of a set and the renaming of
//! copies are all passes; doing them at once saves the intermediate diagrams, and makes renaming
//! cost nothing beyond the nodes that it touches.

use super::apply::operation::FIRST_PASS;
use super::{Bdd, Built, Manager, Var};
use crate::hash::FastMap;
use hardbop_budget::Stopped;
use std::sync::Arc;

/// An interned pass of a manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PassId(u32);

impl PassId {
    /// No pass, in tables of passes that are not all known.
    pub(crate) const NONE: PassId = PassId(u32::MAX);
}

/// What happens to the variable of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Keep,
    Quantify,
    /// Moves by so many levels. Copies of one slot are neighbours, so this is small.
    Move(i16),
}

/// What a pass does, by levels.
#[derive(Debug)]
struct Pass {
    /// The first level that it changes.
    first: u32,
    /// What happens from there on; beyond the end everything is kept.
    fates: Vec<Fate>,
}

/// The same, by variables: quantified ones, moved ones.
type Key = (Vec<Var>, Vec<(Var, Var)>);

/// All passes of a manager.
#[derive(Debug, Default)]
pub(super) struct Passes {
    passes: Vec<Arc<Pass>>,
    keys: Vec<Key>,
    ids: FastMap<Key, u32>,
}

impl Passes {
    /// Fits every pass to a new order of the variables.
    pub(super) fn reorder(&mut self, level_of: &[u32]) {
        for (pass, key) in self.passes.iter_mut().zip(&self.keys) {
            *pass = Arc::new(Pass::new(key, level_of));
        }
    }
}

impl Pass {
    fn new((quantified, moved): &Key, level_of: &[u32]) -> Pass {
        let level = |var: Var| level_of[var.0 as usize];
        let levels = quantified
            .iter()
            .copied()
            .chain(moved.iter().map(|&(from, _)| from));
        let (first, last) = levels.fold((u32::MAX, 0), |(first, last), var| {
            (first.min(level(var)), last.max(level(var)))
        });
        if first == u32::MAX {
            return Pass {
                first: 0,
                fates: Vec::new(),
            };
        }
        let mut fates = vec![Fate::Keep; (last - first + 1) as usize];
        for &var in quantified {
            fates[(level(var) - first) as usize] = Fate::Quantify;
        }
        for &(from, to) in moved {
            let distance = i64::from(level(to)) - i64::from(level(from));
            let distance = i16::try_from(distance).expect("copies stand close to each other");
            fates[(level(from) - first) as usize] = Fate::Move(distance);
        }
        Pass { first, fates }
    }

    #[inline]
    fn fate(&self, level: u32) -> Fate {
        match level.checked_sub(self.first) {
            Some(offset) => self
                .fates
                .get(offset as usize)
                .copied()
                .unwrap_or(Fate::Keep),
            None => Fate::Keep,
        }
    }

    /// The first level from which on nothing changes.
    #[inline]
    fn end(&self) -> u32 {
        self.first + self.fates.len() as u32
    }
}

impl Manager {
    /// The pass that quantifies some variables existentially and renames others, all at once.
    /// No variable may be in both lists.
    pub fn pass(&mut self, quantified: &[Var], moved: &[(Var, Var)]) -> PassId {
        let mut key = (quantified.to_vec(), moved.to_vec());
        key.0.sort_unstable();
        key.0.dedup();
        key.1.sort_unstable();
        if let Some(&id) = self.passes.ids.get(&key) {
            return PassId(id);
        }
        let id = self.passes.passes.len() as u32;
        self.passes
            .passes
            .push(Arc::new(Pass::new(&key, &self.level_of)));
        self.passes.keys.push(key.clone());
        self.passes.ids.insert(key, id);
        PassId(id)
    }

    /// Whether the pass changes nothing.
    pub fn is_identity(&self, pass: PassId) -> bool {
        self.passes.passes[pass.0 as usize].fates.is_empty()
    }

    /// The conjunction of both, sent through the pass.
    pub fn image(&mut self, f: Bdd, g: Bdd, pass: PassId) -> Built {
        let operation = FIRST_PASS + pass.0;
        if f.is_false() || g.is_false() {
            return Ok(Bdd::FALSE);
        }
        // Most images of a search were computed before.
        if f != g {
            let (a, b) = (f.0.min(g.0), f.0.max(g.0));
            if let Some(result) = self.cache.get(operation, a, b) {
                return Ok(Bdd(result));
            }
        }
        let pass = Arc::clone(&self.passes.passes[pass.0 as usize]);
        self.deep(|m| m.image_step(f.0, g.0, operation, &pass))
            .map(Bdd)
    }

    /// The diagram, sent through the pass.
    pub fn project(&mut self, f: Bdd, pass: PassId) -> Built {
        self.image(f, Bdd::TRUE, pass)
    }

    fn image_step(&mut self, f: u32, g: u32, operation: u32, pass: &Pass) -> Result<u32, Stopped> {
        if f == 0 || g == 0 {
            return Ok(0);
        }
        let (f, g) = if f == g {
            (1, g)
        } else if f <= g {
            (f, g)
        } else {
            (g, f)
        };
        if g == 1 {
            return Ok(1);
        }
        let top = self.table.level(f).min(self.table.level(g));
        if top >= pass.end() {
            return self.and_step(f, g);
        }
        if let Some(result) = self.cache.get(operation, f, g) {
            return Ok(result);
        }
        self.step()?;
        let (level, f_lo, f_hi, g_lo, g_hi) = self.split(f, g);
        let lo = self.image_step(f_lo, g_lo, operation, pass)?;
        let result = match pass.fate(level) {
            Fate::Quantify if lo == 1 => 1,
            Fate::Quantify => {
                let hi = self.image_step(f_hi, g_hi, operation, pass)?;
                self.or_step(lo, hi)?
            }
            Fate::Keep => {
                let hi = self.image_step(f_hi, g_hi, operation, pass)?;
                self.place(level, lo, hi)?
            }
            Fate::Move(distance) => {
                let hi = self.image_step(f_hi, g_hi, operation, pass)?;
                self.place(level.wrapping_add_signed(i32::from(distance)), lo, hi)?
            }
        };
        self.cache.put(operation, f, g, result);
        Ok(result)
    }

    /// The node for a level whose children may, after a renaming that changes the order, stand
    /// above it. Renamings of copies keep the order, so the slow way is never taken in practice;
    /// it is there so that no renaming can give a wrong result.
    #[inline]
    fn place(&mut self, level: u32, lo: u32, hi: u32) -> Result<u32, Stopped> {
        if self.table.level(lo).min(self.table.level(hi)) > level {
            return self.make(level, lo, hi);
        }
        let var = self.make(level, 0, 1)?;
        self.ite_step(var, hi, lo)
    }
}
