//! What items may cost, by what they cost before.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an item is taken to cost about which nothing is known, in seconds.
const GUESS: f64 = 1.0;

/// How much the last time counts against those before it.
const WEIGHT: f64 = 0.5;

/// What items cost before, by their titles, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Costs {
    known: BTreeMap<String, f64>,
}

impl Costs {
    /// Notes what an item cost.
    pub fn note(&mut self, title: &str, seconds: f64) {
        if !seconds.is_finite() || seconds < 0.0 {
            return;
        }
        let known = self.known.entry(title.to_owned()).or_insert(seconds);
        *known += WEIGHT * (seconds - *known);
    }

    /// What items may cost: what they did, or else what the middle one of those that are known did.
    pub fn estimate<'a>(&self, titles: impl IntoIterator<Item = &'a str>) -> Vec<f64> {
        let mut all: Vec<f64> = self.known.values().copied().collect();
        all.sort_by(f64::total_cmp);
        let middle = all.get(all.len() / 2).copied().unwrap_or(GUESS);
        let cost = |title: &str| self.known.get(title).copied().unwrap_or(middle);
        titles.into_iter().map(cost).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_costs_what_the_others_do() {
        let mut costs = Costs::default();
        assert_eq!(costs.estimate(["a"]), [GUESS]);
        costs.note("a", 2.0);
        costs.note("b", 8.0);
        costs.note("c", 1.0);
        assert_eq!(costs.estimate(["a", "b", "new"]), [2.0, 8.0, 2.0]);
        // The last time counts more than those before it, and nonsense does not count.
        costs.note("b", 4.0);
        costs.note("b", f64::NAN);
        assert_eq!(costs.estimate(["b"]), [6.0]);
    }
}
