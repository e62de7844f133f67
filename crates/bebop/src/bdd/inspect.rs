//! Looking into diagrams: size, support, models.

use super::table::LEAF;
use super::{Bdd, Manager, Var};
use crate::hash::FastSet;
use std::collections::BTreeSet;

impl Manager {
    /// The number of inner nodes that the roots reach together.
    pub fn node_count(&self, roots: impl IntoIterator<Item = Bdd>) -> usize {
        let mut seen = FastSet::default();
        self.visit(roots, &mut seen, |_| {});
        seen.len()
    }

    /// The variables that the function depends on, in the order of their numbers.
    pub fn support(&self, f: Bdd) -> BTreeSet<Var> {
        let mut levels = FastSet::default();
        self.visit([f], &mut FastSet::default(), |level| {
            levels.insert(level);
        });
        levels
            .into_iter()
            .map(|level| self.var_at[level as usize])
            .collect()
    }

    fn visit(
        &self,
        roots: impl IntoIterator<Item = Bdd>,
        seen: &mut FastSet<u32>,
        mut level_seen: impl FnMut(u32),
    ) {
        let mut stack: Vec<u32> = roots.into_iter().map(|root| root.0).collect();
        while let Some(node) = stack.pop() {
            let (level, lo, hi) = self.table.get(node);
            if level != LEAF && seen.insert(node) {
                level_seen(level);
                stack.extend([lo, hi]);
            }
        }
    }

    /// The first variable that the function depends on, and what is left of it where that is false
    /// and where it is true; `None` for a constant.
    pub fn branch(&self, f: Bdd) -> Option<(Var, Bdd, Bdd)> {
        let (level, lo, hi) = self.table.get(f.0);
        (level != LEAF).then(|| (self.var_at[level as usize], Bdd(lo), Bdd(hi)))
    }

    /// A partial assignment that meets the function whatever the other variables are: the first
    /// one when false comes before true in the order of the variables. `None` for the empty set.
    pub fn pick(&self, f: Bdd) -> Option<Vec<(Var, bool)>> {
        let mut assignment = Vec::new();
        self.pick_with(f, |var, value| assignment.push((var, value)))
            .then_some(assignment)
    }

    /// The same, literal by literal; says whether there is an assignment.
    pub(crate) fn pick_with(&self, f: Bdd, mut literal: impl FnMut(Var, bool)) -> bool {
        if f.is_false() {
            return false;
        }
        let mut node = f.0;
        while node != 1 {
            let (level, lo, hi) = self.table.get(node);
            let value = lo == 0;
            literal(self.var_at[level as usize], value);
            node = if value { hi } else { lo };
        }
        true
    }

    /// The literals that the function implies: a variable is in it if it has the same value in all
    /// models. One pass over the nodes; the constant false implies nothing here.
    pub fn implied(&self, f: Bdd) -> Vec<(Var, bool)> {
        if f.is_false() {
            return Vec::new();
        }
        // By level: whether some path goes on where the variable is false, or true. An edge that
        // jumps over a level does both.
        let levels = self.level_of.len();
        let mut free = vec![0i32; levels + 1];
        let mut goes_on = vec![[false; 2]; levels];
        let mut jump = |above: i64, below: u32| {
            let below = below.min(levels as u32);
            free[(above + 1) as usize] += 1;
            free[below as usize] -= 1;
        };
        let mut seen = FastSet::default();
        let mut stack = vec![f.0];
        jump(-1, self.table.level(f.0));
        while let Some(node) = stack.pop() {
            let (level, lo, hi) = self.table.get(node);
            if level == LEAF || !seen.insert(node) {
                continue;
            }
            for (value, child) in [lo, hi].into_iter().enumerate() {
                if child != 0 {
                    goes_on[level as usize][value] = true;
                    jump(i64::from(level), self.table.level(child));
                    stack.push(child);
                }
            }
        }
        let mut jumps = 0;
        let mut implied = Vec::new();
        for (level, sides) in goes_on.into_iter().enumerate() {
            jumps += free[level];
            if jumps == 0 && sides[0] != sides[1] {
                implied.push((self.var_at[level], sides[1]));
            }
        }
        implied
    }

    /// The function's value under an assignment.
    pub fn evaluate(&self, f: Bdd, assignment: impl Fn(Var) -> bool) -> bool {
        let mut node = f.0;
        loop {
            let (level, lo, hi) = self.table.get(node);
            if level == LEAF {
                return node == 1;
            }
            node = if assignment(self.var_at[level as usize]) {
                hi
            } else {
                lo
            };
        }
    }

    /// The conjunction of literals, built from the last level up: no intermediate diagrams.
    pub fn cube(&mut self, literals: &[(Var, bool)]) -> super::Built {
        let mut levels: Vec<(u32, bool)> = literals
            .iter()
            .map(|&(var, value)| (self.level_of[var.0 as usize], value))
            .collect();
        if !levels.is_sorted() {
            levels.sort_unstable();
        }
        let mut node = 1;
        for (level, value) in levels.into_iter().rev() {
            let (lo, hi) = if value { (0, node) } else { (node, 0) };
            node = self.make(level, lo, hi)?;
        }
        Ok(Bdd(node))
    }
}
