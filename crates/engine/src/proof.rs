//! The evidence behind PROVED.

use hardbop_cfront::ids::{EdgeId, LocId};
use std::collections::{BTreeMap, BTreeSet};

/// The evidence behind all PROVED outcomes of a report, by its kind.
#[derive(Clone, Debug)]
pub enum Proof {
    /// Invariants that every step keeps and that no violation satisfies.
    Invariants(Invariants),
    /// Clauses that together rule out every path.
    Clauses(Clauses),
    /// All executions were followed to their ends.
    Unrolling(Unrolling),
    /// There is one execution only, and it was run.
    OnlyRun(OnlyRun),
}

/// All executions, followed at once until none goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unrolling {
    /// The most blocks of one execution.
    pub layers: u32,
    /// How many conditions were found to have no model, each by two solvers.
    pub questions: u64,
}

/// The only execution of a program that leaves nothing open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnlyRun {
    /// The number of executed edges.
    pub steps: u64,
}

/// Invariants at the places where the program was cut into blocks. Each block was shown to lead
/// from one to the next in the exact meaning.
#[derive(Clone, Debug, Default)]
pub struct Invariants {
    /// The invariant at every cut point that can be reached, as text.
    pub at: BTreeMap<LocId, String>,
    /// The same as C expressions, where C has words for them.
    pub c: BTreeMap<LocId, CInvariant>,
    /// The predicates that they are made of.
    pub predicates: Vec<ScopedPredicate>,
    /// How many questions certification asked.
    pub questions: u64,
}

impl Invariants {
    /// What both say: where one of them says that control never comes, it does not.
    pub fn and(self, other: Invariants) -> Invariants {
        let mut both = Invariants {
            questions: self.questions + other.questions,
            ..Invariants::default()
        };
        for (location, text) in self.at {
            if let Some(more) = other.at.get(&location) {
                both.at.insert(location, conjunction(&text, more, "true"));
            }
        }
        for (location, text) in self.c {
            if let Some(more) = other.c.get(&location) {
                both.c.insert(location, text.and(more));
            }
        }
        let predicates = self.predicates.into_iter().chain(other.predicates);
        let predicates: BTreeSet<ScopedPredicate> = predicates.collect();
        both.predicates = predicates.into_iter().collect();
        both
    }
}

impl CInvariant {
    fn and(self, other: &CInvariant) -> CInvariant {
        CInvariant {
            // What one of them leaves out may be left out.
            plain: match (self.plain, &other.plain) {
                (Some(a), Some(b)) => Some(conjunction(&a, b, "1")),
                (a, b) => a.or_else(|| b.clone()),
            },
            contract: match (self.contract, &other.contract) {
                (Some(a), Some(b)) => Some(conjunction(&a, b, "1")),
                _ => None,
            },
        }
    }
}

/// Both texts; `always` is how they say nothing.
fn conjunction(a: &str, b: &str, always: &str) -> String {
    if a == b || b == always {
        a.to_owned()
    } else if a == always {
        b.to_owned()
    } else {
        format!("({a}) && ({b})")
    }
}

/// An invariant as C expressions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CInvariant {
    /// What can be said of the variables alone; it may say less than the invariant.
    pub plain: Option<String>,
    /// All of it, with `old(x)` for values at the procedure's entry and `$return` for its result.
    pub contract: Option<String>,
}

/// A predicate as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScopedPredicate {
    /// The procedure whose variables it may speak of; `None` for the program's only.
    pub procedure: Option<String>,
    /// The predicate.
    pub formula: String,
}

/// Clauses over the choices of the program. Each was checked again by other means than those
/// that found it, and a new solver found that together they leave no choice.
#[derive(Clone, Debug, Default)]
pub struct Clauses {
    /// The clauses.
    pub clauses: Vec<Clause>,
}

/// No run that makes these decisions violates a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The decisions.
    pub decisions: Vec<Decision>,
}

/// A choice of one side at a branch of the unrolled program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decision {
    /// The number of the unrolled branch: a location under a stack of calls, in an iteration of
    /// each loop around it.
    pub node: u32,
    /// The edge by which the branch is left.
    pub edge: EdgeId,
    /// The side, by its number among the ways that leave the branch: a call through a pointer is
    /// one edge with a side for each function that it may enter.
    pub side: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_proofs_say_together_what_each_says() {
        let proof = |at: &[(u32, &str)]| Invariants {
            at: at
                .iter()
                .map(|&(l, text)| (LocId(l), text.to_owned()))
                .collect(),
            ..Invariants::default()
        };
        let first = proof(&[(1, "x == 0"), (2, "true"), (3, "y"), (4, "z")]);
        let second = proof(&[(1, "y < 2"), (2, "x == 1"), (3, "y")]);
        let both: Vec<String> = first.and(second).at.into_values().collect();
        assert_eq!(both, ["(x == 0) && (y < 2)", "x == 1", "y"]);
    }
}
