//! The dynamic single-assignment form of a path.
//!
//! Every write along the path makes a new version of a state variable, a symbol of its own, with
//! an equation that says what was written in terms of earlier versions. What a branch required is
//! a formula over the versions that it read. The weakest precondition of a condition along the
//! path is that condition with all equations substituted; here the equations stay apart, so that
//! an unsatisfiable core names the statements themselves.

use crate::run::{Act, Constant, Position};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::program::Op;
use hardbop_logic::{TermId, Terms};
use hardbop_model::points::Side;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{Execution, Semantics, State};
use rustc_hash::FxHashMap;

/// Something that holds on the path.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    /// Where it comes from; 0 is before the first position, 1 the first position, and so on.
    pub step: usize,
    pub term: TermId,
    /// The versions that it speaks of.
    pub versions: Vec<TermId>,
    pub kind: Kind,
}

/// What kind of thing a constraint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What a version was given.
    Definition(TermId),
    /// What passing a step requires: a condition, or that an operation had a meaning.
    Requirement,
}

/// A version of a state variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    pub variable: StateVarId,
    /// The step that made it.
    pub step: usize,
    /// Its equation, if it has one.
    pub definition: Option<usize>,
}

/// A path in single-assignment form.
pub(crate) struct Assignments {
    /// In the order of their steps.
    pub constraints: Vec<Constraint>,
    pub versions: FxHashMap<TermId, Version>,
    /// For the sides that the path rules out, by step and side, what taking them requires.
    pub refused: FxHashMap<(usize, u32), Vec<TermId>>,
}

struct Builder<'s, 'p, 't> {
    run: Execution<'s, 'p>,
    terms: &'t mut Terms,
    before: State,
    out: Assignments,
}

impl Builder<'_, '_, '_> {
    fn versions_in(&self, term: TermId) -> Vec<TermId> {
        self.terms
            .free_constants(&[term])
            .into_iter()
            .filter(|constant| self.out.versions.contains_key(constant))
            .collect()
    }

    fn push(&mut self, step: usize, term: TermId, kind: Kind) {
        if *self.terms.op(term) == hardbop_logic::Op::Bool(true) {
            return;
        }
        let versions = self.versions_in(term);
        self.out.constraints.push(Constraint {
            step,
            term,
            versions,
            kind,
        });
    }

    fn facts(&mut self, step: usize) {
        for fact in std::mem::take(&mut self.run.facts) {
            self.push(step, fact, Kind::Requirement);
        }
    }

    /// Gives everything that a step wrote a version.
    fn versions(&mut self, step: usize) {
        // What the step requires speaks of the values that it computed, not yet of the versions.
        self.facts(step);
        let written: Vec<(StateVarId, TermId)> = self
            .run
            .state
            .written()
            .filter(|&(id, term)| self.before.written_to(id) != Some(term))
            .collect();
        for (id, term) in written {
            // What a return restores is an older version of the same variable.
            let old = self
                .out
                .versions
                .get(&term)
                .is_some_and(|v| v.variable == id);
            if old {
                continue;
            }
            let sort = self.terms.sort(term);
            let name = format!("{}@{step}", self.run.semantics.layout.get(id).name);
            let version = self.terms.fresh(&name, sort);
            let equation = self.terms.eq(version, term);
            let versions = self.versions_in(term);
            let definition = self.out.constraints.len();
            self.out.constraints.push(Constraint {
                step,
                term: equation,
                versions,
                kind: Kind::Definition(version),
            });
            self.out.versions.insert(
                version,
                Version {
                    variable: id,
                    step,
                    definition: Some(definition),
                },
            );
            self.run.state.set(id, version);
        }
        self.before = self.run.state.clone();
    }

    fn side(&mut self, step: usize, side: Side) -> Vec<TermId> {
        match side {
            Side::Edge(edge) => {
                let mut terms = match self.run.semantics.program.edges[edge.index()].op {
                    Op::Assume { .. } => self.run.edge(self.terms, edge).into_iter().collect(),
                    _ => Vec::new(),
                };
                terms.append(&mut self.run.facts);
                terms
            }
            Side::Enter(edge, callee) => {
                let mut trial = self.run.clone();
                let condition = trial.enter(self.terms, edge, callee);
                let _ = step;
                vec![condition]
            }
        }
    }
}

/// The single-assignment form of a path.
pub(crate) fn assignments(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    path: &[Position],
    budget: &Budget,
) -> Result<Assignments, Stopped> {
    let mut versions = FxHashMap::default();
    for index in 0..semantics.layout.variables().len() {
        let variable = StateVarId(index as u32);
        let constant = semantics.constant(terms, variable);
        versions.insert(
            constant,
            Version {
                variable,
                step: 0,
                definition: None,
            },
        );
    }
    let mut builder = Builder {
        run: Execution::new(semantics),
        terms,
        before: State::new(),
        out: Assignments {
            constraints: Vec::new(),
            versions,
            refused: FxHashMap::default(),
        },
    };
    builder.run.start(builder.terms);
    builder.versions(0);
    for (index, position) in path.iter().enumerate() {
        let step = index + 1;
        if index % 256 == 255 {
            budget.check()?;
        }
        match &position.act {
            Act::Edge(edge) => {
                if let Ok(condition) = builder.run.edge(builder.terms, *edge) {
                    builder.push(step, condition, Kind::Requirement);
                }
                let op = &semantics.program.edges[edge.index()].op;
                match op {
                    Op::Skip | Op::Assume { .. } | Op::EndScope { .. } | Op::Free { .. } => {
                        builder.facts(step);
                    }
                    _ => builder.versions(step),
                }
            }
            Act::Enter(edge, callee) => {
                builder.run.enter(builder.terms, *edge, *callee);
                builder.versions(step);
            }
            Act::Leave => {
                builder.run.leave(builder.terms);
                builder.versions(step);
            }
            Act::Branch(branch) => {
                for refused in &branch.ruled_out {
                    let side = branch.sides[refused.side as usize];
                    let terms = builder.side(step, side);
                    builder.out.refused.insert((step, refused.side), terms);
                }
                match branch.taken.map(|taken| branch.sides[taken as usize]) {
                    Some(Side::Edge(edge)) => {
                        // What follows from the equations need not be said again.
                        if let Ok(condition) = builder.run.edge(builder.terms, edge)
                            && branch.certain == Constant::No
                        {
                            builder.push(step, condition, Kind::Requirement);
                        }
                        match semantics.program.edges[edge.index()].op {
                            Op::Assume { .. } | Op::Skip => builder.facts(step),
                            _ => builder.versions(step),
                        }
                    }
                    Some(Side::Enter(edge, callee)) => {
                        let condition = builder.run.enter(builder.terms, edge, callee);
                        builder.push(step, condition, Kind::Requirement);
                        builder.versions(step);
                    }
                    None => {}
                }
            }
            Act::End(_) => {}
        }
    }
    Ok(builder.out)
}
