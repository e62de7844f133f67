//! Refinement: predicates that rule an infeasible path out, from a solution of Horn clauses.
//!
//! Every point of the path is a relation over the procedure's entry values and current values; a
//! call is a rule with the callee's exit relation in its body, so that procedures keep summaries
//! of their own. In a *path program* all visits of one cut point share a relation, and a solution
//! is an inductive invariant for every unrolling; in a *path* each visit has its own, and a
//! solution is a sequence of interpolants.

use crate::clauses::Solved;
use crate::predicate::{Predicate, predicates};
use hardbop_budget::Budget;
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_logic::{Limits, TermId, Terms, Unknown};
use hardbop_semantics::Unmodelled;
use hardbop_semantics::rules::{Key, Rule, Rules};
use hardbop_semantics::segment::Segment;
use hardbop_semantics::skeleton::VertexId;
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// Which points of a path share a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All visits of one cut point: loops stay loops.
    PathProgram,
    /// None: the path as it is.
    Path,
}

/// What refinement found.
#[derive(Clone, Debug)]
pub enum Refinement {
    /// Predicates over which there is no such path, each with the cut point where it helps.
    Predicates(Vec<(LocId, Predicate)>),
    /// Over this encoding there is an error path of this shape.
    Reachable,
    /// The solver gave up.
    Unknown(Unknown),
    /// An edge on the way has no meaning.
    Unmodelled(Unmodelled),
}

/// Finds predicates and invariants.
pub struct Refiner<'a, 'p> {
    /// The program, usually over the integers.
    pub ground: Ground<'a, 'p>,
}

/// What is known of a whole program.
#[derive(Clone, Debug)]
pub enum Invariants {
    /// Invariants at cut points that keep control away from the targets.
    Found(BTreeMap<LocId, TermId>),
    /// Over this encoding a target is reached.
    Reachable,
    /// The solver gave up.
    Unknown(Unknown),
    /// An edge has no meaning.
    Unmodelled(Unmodelled),
}

impl Refiner<'_, '_> {
    /// Looks for predicates that rule out an infeasible path to a violated check.
    pub fn refine(
        &self,
        terms: &mut Terms,
        segments: &[Segment],
        shape: Shape,
        limits: Limits,
        budget: &Budget,
    ) -> Refinement {
        let rules = self.path_rules(segments, shape);
        match self.solve(terms, &rules, limits, budget) {
            Solved::Reachable => Refinement::Reachable,
            Solved::Unknown(why) => Refinement::Unknown(why),
            Solved::Unmodelled(edge) => Refinement::Unmodelled(edge),
            Solved::Unreachable(formulas) => {
                let mut found = BTreeSet::new();
                for (key, formula) in formulas {
                    let (function, location) = rules.points[&key];
                    let atoms = predicates(
                        self.ground.semantics,
                        self.ground.constants,
                        terms,
                        function,
                        formula,
                    );
                    found.extend(atoms.into_iter().map(|atom| (location, atom)));
                }
                Refinement::Predicates(found.into_iter().collect())
            }
        }
    }

    /// Looks for invariants of the whole program that keep control away from some vertices.
    pub fn invariants(
        &self,
        terms: &mut Terms,
        targets: &BTreeSet<VertexId>,
        limits: Limits,
        budget: &Budget,
    ) -> Invariants {
        let rules = self.ground.program_rules(targets);
        match self.solve(terms, &rules, limits, budget) {
            Solved::Reachable => Invariants::Reachable,
            Solved::Unknown(why) => Invariants::Unknown(why),
            Solved::Unmodelled(edge) => Invariants::Unmodelled(edge),
            Solved::Unreachable(formulas) => {
                // What cannot lead to a target needs no invariant; the targets have none.
                let mut invariants = BTreeMap::new();
                for (key, &(_, location)) in &rules.points {
                    if !rules.goals.contains(key) {
                        let formula = formulas.get(key).copied();
                        let formula = formula.unwrap_or_else(|| terms.bool(true));
                        invariants.insert(location, formula);
                    }
                }
                Invariants::Found(invariants)
            }
        }
    }

    /// The rules of a path, its points, and the last point.
    fn path_rules(&self, segments: &[Segment], shape: Shape) -> Rules {
        let program = self.ground.semantics.program;
        let mut rules = BTreeSet::new();
        let mut points = BTreeMap::new();
        let mut at: Option<(Key, FuncId)> = None;
        let mut open: Vec<(Key, FuncId, Key)> = Vec::new();
        let key = |position: usize, location: LocId| match shape {
            Shape::PathProgram => Key::Location(location),
            Shape::Path => Key::Position(position),
        };
        for (position, segment) in segments.iter().enumerate() {
            let (to, function, location) = match *segment {
                Segment::Start(function) => {
                    let location = program.function(function).entry;
                    let to = key(position, location);
                    rules.insert(Rule::Start { to });
                    (to, function, location)
                }
                Segment::Block(start, end) => {
                    let Some((from, function)) = at else { continue };
                    let to = key(position, end);
                    rules.insert(Rule::Block {
                        from,
                        to,
                        start,
                        end,
                    });
                    (to, function, end)
                }
                Segment::Enter(call, callee) => {
                    let Some((from, caller)) = at else { continue };
                    let location = program.function(callee).entry;
                    let to = key(position, location);
                    open.push((from, caller, to));
                    rules.insert(Rule::Enter {
                        from,
                        to,
                        call,
                        callee,
                    });
                    (to, callee, location)
                }
                Segment::Leave(call, callee) => {
                    let (Some((exit, _)), Some((from, caller, entry))) = (at, open.pop()) else {
                        continue;
                    };
                    let location = program.edges[call.index()].to;
                    let to = key(position, location);
                    rules.insert(Rule::Leave {
                        from,
                        entry,
                        exit,
                        to,
                        call,
                        callee,
                    });
                    (to, caller, location)
                }
            };
            points.insert(to, (function, location));
            at = Some((to, function));
        }
        Rules {
            rules: rules.into_iter().collect(),
            points,
            goals: at.into_iter().map(|(key, _)| key).collect(),
        }
    }
}
