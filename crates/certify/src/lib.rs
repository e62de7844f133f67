//! Certificates: invariants that prove checks, re-checked one block at a time.
//!
//! This crate shares nothing with the search that found the invariants: it knows the program's
//! meaning (exact, in machine words), formulas at cut points, and the solver. Every block, call
//! and return must lead from the invariant at its start to the invariant at its end; a location
//! without an invariant is claimed to be unreachable. If all questions are answered `unsat`, no
//! execution reaches a location whose invariant is false.

mod proof;

use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_logic::{Answer, Session, TermId, Terms, Unknown};
use hardbop_newton::atoms::{Constants, Meaning};
use hardbop_semantics::block::{Block, block};
use hardbop_semantics::effects::Effects;
use hardbop_semantics::skeleton::{Point, Skeleton, SkeletonEdge, SkeletonEdgeKind};
use hardbop_semantics::{Execution, Semantics, State};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Invariants at cut points, over the values now and at the procedure's entry (`old`). Where there
/// is none, the claim is that control never comes there.
#[derive(Clone, Debug, Default)]
pub struct Certificate {
    /// By location.
    pub invariants: BTreeMap<LocId, TermId>,
}

/// What became of a certificate.
#[derive(Clone, Debug)]
pub enum Certified {
    /// Every step of it holds.
    Yes {
        /// How many questions were asked.
        questions: u64,
    },
    /// A step does not hold.
    No {
        /// The step.
        edge: SkeletonEdge,
    },
    /// It does not even claim that a location is unreachable that it is to prove unreachable.
    Admits {
        /// The location.
        location: LocId,
    },
    /// The solver does not know about a step.
    Unknown {
        /// The step.
        edge: SkeletonEdge,
        /// Why not.
        why: Unknown,
    },
}

/// What a certificate is checked against.
pub struct Certifier<'a, 'p> {
    /// The exact meaning of the program.
    pub semantics: &'a Semantics<'p>,
    /// What functions may change.
    pub effects: &'a Effects,
    /// The cut points.
    pub skeleton: &'a Skeleton,
    /// The constants of state variables.
    pub constants: &'a Constants,
}

impl Certifier<'_, '_> {
    /// Checks that a certificate claims that some locations are unreachable, and every step of
    /// it.
    pub fn certify(
        &self,
        terms: &mut Terms,
        session: &mut Session<'_>,
        certificate: &Certificate,
        unreachable: &[LocId],
    ) -> Certified {
        for &location in unreachable {
            if self.invariant(terms, certificate, location) != terms.bool(false) {
                return Certified::Admits { location };
            }
        }
        let mut blocks: BTreeMap<LocId, Block> = BTreeMap::new();
        let mut questions = 0;
        session.push();
        for axiom in self.semantics.axioms(terms) {
            session.assert(terms, axiom);
        }
        let mut verdict = None;
        for vertex in &self.skeleton.vertices {
            // What the claims of one vertex share is told to the solver once.
            session.push();
            for edge in &self.skeleton.edges[vertex.edges.clone()] {
                verdict = self.refuted(
                    terms,
                    session,
                    certificate,
                    edge,
                    &mut blocks,
                    &mut questions,
                );
                if verdict.is_some() {
                    break;
                }
            }
            session.pop();
            if verdict.is_some() {
                break;
            }
        }
        session.pop();
        verdict.unwrap_or(Certified::Yes { questions })
    }

    /// Why a step does not hold; `None` if it does.
    fn refuted(
        &self,
        terms: &mut Terms,
        session: &mut Session<'_>,
        certificate: &Certificate,
        edge: &SkeletonEdge,
        blocks: &mut BTreeMap<LocId, Block>,
        questions: &mut u64,
    ) -> Option<Certified> {
        let no = Certified::No { edge: *edge };
        let Some(claim) = self.claim(terms, blocks, certificate, edge) else {
            return Some(no);
        };
        if terms.op(claim) == &hardbop_logic::Op::Bool(false) {
            return None;
        }
        *questions += 1;
        match session.check(terms, &[claim]) {
            Answer::Unsat => None,
            Answer::Sat => Some(no),
            Answer::Unknown(why) => Some(Certified::Unknown { edge: *edge, why }),
        }
    }

    fn invariant(&self, terms: &mut Terms, certificate: &Certificate, at: LocId) -> TermId {
        match certificate.invariants.get(&at) {
            Some(&formula) => formula,
            None => terms.bool(false),
        }
    }

    fn at(&self, point: usize) -> Option<LocId> {
        match self.skeleton.vertices[point].point {
            Point::At(location) => Some(location),
            _ => None,
        }
    }

    /// A formula at another state: what it says of now, of `now`; of the entry, of `old`.
    fn moved(
        &self,
        terms: &mut Terms,
        formula: TermId,
        now: &State,
        old: Option<&State>,
    ) -> TermId {
        let mut map = BTreeMap::new();
        for constant in terms.free_constants(&[formula]) {
            match (self.constants.meaning(constant), old) {
                (Some(Meaning::Now(id)), _) => {
                    map.insert(constant, now.get(self.semantics, terms, id));
                }
                (Some(Meaning::Old(id)), Some(old)) => {
                    map.insert(constant, old.get(self.semantics, terms, id));
                }
                _ => {}
            }
        }
        terms.substitute(formula, &map)
    }

    /// What would refute a step: satisfiable only if the step does not hold. `None` if the step
    /// has no meaning and may be taken.
    fn claim(
        &self,
        terms: &mut Terms,
        blocks: &mut BTreeMap<LocId, Block>,
        certificate: &Certificate,
        edge: &SkeletonEdge,
    ) -> Option<TermId> {
        let program = self.semantics.program;
        let before = match self.at(edge.from) {
            Some(location) => self.invariant(terms, certificate, location),
            None => terms.bool(true),
        };
        if before == terms.bool(false) {
            return Some(before);
        }
        let mut run = Execution::new(self.semantics);
        match edge.kind {
            SkeletonEdgeKind::Start => {
                run.start(terms);
                let entry = program.function(program.entry).entry;
                let formula = self.invariant(terms, certificate, entry);
                let after = self.moved(terms, formula, &run.state, Some(&run.state));
                let wrong = terms.not(after);
                let mut conjuncts = run.facts;
                conjuncts.push(wrong);
                Some(terms.and(&conjuncts))
            }
            // The start above is the root's call.
            SkeletonEdgeKind::Call(None, _) => Some(terms.bool(false)),
            SkeletonEdgeKind::Block(from, to) => {
                let made = match blocks.entry(from) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        let cuts = &self.skeleton.cuts;
                        place.insert(block(self.semantics, terms, from, cuts).ok()?)
                    }
                };
                let exit = made.exits.iter().find(|exit| exit.location == to)?;
                let formula = self.invariant(terms, certificate, to);
                let after = self.moved(terms, formula, &exit.state, None);
                let wrong = terms.not(after);
                Some(terms.and(&[before, exit.condition, wrong]))
            }
            SkeletonEdgeKind::Call(Some(call), callee) => {
                let condition = run.enter(terms, call, callee);
                let entry = program.function(callee).entry;
                let formula = self.invariant(terms, certificate, entry);
                let after = self.moved(terms, formula, &run.state, Some(&run.state));
                let wrong = terms.not(after);
                let mut conjuncts = run.facts;
                conjuncts.extend([before, condition, wrong]);
                Some(terms.and(&conjuncts))
            }
            SkeletonEdgeKind::Return(call, callee) => {
                self.claim_return(terms, certificate, call, callee)
            }
            SkeletonEdgeKind::Unsupported(_) => Some(before),
        }
    }

    fn claim_return(
        &self,
        terms: &mut Terms,
        certificate: &Certificate,
        call: hardbop_cfront::ids::EdgeId,
        callee: FuncId,
    ) -> Option<TermId> {
        let program = self.semantics.program;
        let edge = &program.edges[call.index()];
        let before = self.invariant(terms, certificate, edge.from);
        let exit = self.invariant(terms, certificate, program.function(callee).exit);
        let mut run = Execution::new(self.semantics);
        let condition = run.enter(terms, call, callee);
        let entered = run.state.clone();
        // Whatever the callee may change, and all of its own frame, may be anything at its exit.
        let own = self.semantics.frame_variables(callee);
        for id in self.effects.modified(callee).iter().copied().chain(own) {
            let sort = self.semantics.sort(terms, id);
            let any = terms.fresh("exit", sort);
            run.state.set(id, any);
        }
        let left = self.moved(terms, exit, &run.state, Some(&entered));
        run.leave(terms);
        let formula = self.invariant(terms, certificate, edge.to);
        let after = self.moved(terms, formula, &run.state, None);
        let wrong = terms.not(after);
        let mut conjuncts = run.facts;
        conjuncts.extend([before, condition, left, wrong]);
        Some(terms.and(&conjuncts))
    }
}
