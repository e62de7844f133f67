//! Oracles: assignments to oracle choice variables, as the models of a set of clauses.
//!
//! A choice variable belongs to a *node*, a branch at one point of the unrolled program: a
//! location under a stack of calls, each with the number of arrivals at the heads of the loops
//! around it. (The paper numbers choices by their level on the path; a node says the same on
//! every path, so a clause learned on one path means the same on another.) A node with two sides
//! is one variable; one with more is a variable per side, exactly one of which is true.

use batsat::{BasicSolver, Lit, SolverInterface, Var, lbool};
use hardbop_engine::claim::Decision;
use hardbop_model::points::PointId;
use rustc_hash::FxHashMap;

#[derive(Clone, Debug)]
enum Variables {
    /// One variable; it is true for the first side.
    Two(Var, [u32; 2]),
    /// One variable per side.
    Many(Vec<(u32, Var)>),
}

/// The oracles that are left.
pub(crate) struct Oracles {
    solver: BasicSolver,
    variables: FxHashMap<PointId, Variables>,
    /// Whether the solver's last answer was a model.
    has_model: bool,
}

impl Oracles {
    pub(crate) fn new() -> Oracles {
        Oracles {
            solver: BasicSolver::default(),
            variables: FxHashMap::default(),
            has_model: false,
        }
    }

    /// The sides of a node, if it has a choice variable.
    pub(crate) fn sides(&self, node: PointId) -> Option<Vec<u32>> {
        self.variables.get(&node).map(|variables| match variables {
            Variables::Two(_, sides) => sides.to_vec(),
            Variables::Many(sides) => sides.iter().map(|&(side, _)| side).collect(),
        })
    }

    /// Gives a node a choice variable.
    pub(crate) fn introduce(&mut self, node: PointId, sides: &[u32]) {
        if self.variables.contains_key(&node) {
            return;
        }
        self.has_model = false;
        let variables = match *sides {
            [first, second] => Variables::Two(self.solver.new_var_default(), [first, second]),
            _ => {
                let list: Vec<(u32, Var)> = sides
                    .iter()
                    .map(|&side| (side, self.solver.new_var_default()))
                    .collect();
                let mut some: Vec<Lit> = list.iter().map(|&(_, var)| Lit::new(var, true)).collect();
                self.solver.add_clause_reuse(&mut some);
                for (at, &(_, one)) in list.iter().enumerate() {
                    for &(_, other) in &list[at + 1..] {
                        let mut clause = vec![Lit::new(one, false), Lit::new(other, false)];
                        self.solver.add_clause_reuse(&mut clause);
                    }
                }
                Variables::Many(list)
            }
        };
        self.variables.insert(node, variables);
    }

    /// The literal of a decision at a node that has a choice variable and that side.
    fn literal(&self, decision: Decision) -> Option<Lit> {
        match self.variables.get(&decision.point)? {
            Variables::Two(var, sides) => {
                let at = sides.iter().position(|&side| side == decision.side)?;
                Some(Lit::new(*var, at == 0))
            }
            Variables::Many(sides) => {
                let (_, var) = sides.iter().find(|&&(side, _)| side == decision.side)?;
                Some(Lit::new(*var, true))
            }
        }
    }

    /// Whether an oracle is left that makes these decisions.
    pub(crate) fn allows(&mut self, decisions: &[Decision]) -> bool {
        let mut assumed = Vec::with_capacity(decisions.len());
        for &decision in decisions {
            match self.literal(decision) {
                Some(literal) => assumed.push(literal),
                None => return false,
            }
        }
        if self.has_model
            && assumed
                .iter()
                .all(|&literal| self.solver.value_lit(literal) == lbool::TRUE)
        {
            return true;
        }
        self.has_model = self.solver.solve_limited(&assumed) == lbool::TRUE;
        self.has_model
    }

    /// Rules out every oracle that makes all of these decisions. Says whether it did: a decision
    /// at a node without a choice variable cannot be denied.
    pub(crate) fn exclude(&mut self, decisions: &[Decision]) -> bool {
        let mut clause: Vec<Lit> = decisions
            .iter()
            .filter_map(|&decision| self.literal(decision))
            .map(|literal| !literal)
            .collect();
        // Leaving such a decision out would make the clause say more than it should.
        if clause.len() < decisions.len() {
            return false;
        }
        self.has_model = false;
        self.solver.add_clause_reuse(&mut clause);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(node: u32, side: u32) -> Decision {
        Decision {
            point: PointId(node),
            side,
        }
    }

    #[test]
    fn two_clauses_leave_nothing_of_one_variable() {
        let mut oracles = Oracles::new();
        oracles.introduce(PointId(7), &[0, 1]);
        assert!(oracles.allows(&[decide(7, 0)]));
        oracles.exclude(&[decide(7, 0)]);
        assert!(!oracles.allows(&[decide(7, 0)]));
        assert!(oracles.allows(&[decide(7, 1)]));
        oracles.exclude(&[decide(7, 1)]);
        assert!(!oracles.allows(&[]));
    }

    #[test]
    fn of_many_sides_one_is_taken() {
        let mut oracles = Oracles::new();
        oracles.introduce(PointId(0), &[2, 4, 5]);
        oracles.exclude(&[decide(0, 2)]);
        oracles.exclude(&[decide(0, 5)]);
        assert!(oracles.allows(&[decide(0, 4)]));
        assert!(!oracles.allows(&[decide(0, 2)]));
        oracles.exclude(&[decide(0, 4)]);
        assert!(!oracles.allows(&[]));
    }

    #[test]
    fn what_has_no_variable_cannot_be_excluded() {
        let mut oracles = Oracles::new();
        oracles.introduce(PointId(0), &[0, 1]);
        assert!(!oracles.exclude(&[decide(0, 0), decide(1, 0)]));
        assert!(!oracles.exclude(&[decide(0, 2)]));
        assert!(oracles.allows(&[decide(0, 0)]));
    }

    #[test]
    fn the_empty_clause_excludes_everything() {
        let mut oracles = Oracles::new();
        assert!(oracles.allows(&[]));
        oracles.exclude(&[]);
        assert!(!oracles.allows(&[]));
    }
}
