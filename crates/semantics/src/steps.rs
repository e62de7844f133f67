//! What searches stand on, and what lies between two cut points: a condition and a state at the
//! end.

use crate::block::{Block, block};
use crate::constants::{Constants, Meaning};
use crate::effects::Effects;
use crate::skeleton::{Skeleton, SkeletonEdgeKind};
use crate::{Execution, Semantics, State};
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_logic::{TermId, Terms};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// What a program means to a search, in one encoding.
#[derive(Clone, Copy)]
pub struct Ground<'a, 'p> {
    /// How the program is read.
    pub semantics: &'a Semantics<'p>,
    /// What functions may change.
    pub effects: &'a Effects,
    /// The cut points.
    pub skeleton: &'a Skeleton,
    /// The constants of state variables.
    pub constants: &'a Constants,
}

/// A step from one cut point to another.
#[derive(Clone, Debug)]
pub struct Step {
    /// Where it begins; `None` for the start of the program.
    pub from: Option<LocId>,
    /// Where it ends.
    pub to: End,
    /// For a return: the callee.
    pub returned: Option<Returned>,
    /// When it is taken.
    pub condition: TermId,
    /// The state at its end.
    pub state: State,
    /// The state at the entry of the procedure that it ends in; `None` if that is the same as at
    /// its beginning.
    pub entered: Option<State>,
}

/// Where a step ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At a cut point.
    At(LocId),
    /// Where something is not supported: an index into the program's list of such.
    Unsupported(u32),
}

/// How a callee ended.
#[derive(Clone, Debug)]
pub struct Returned {
    /// Its exit.
    pub exit: LocId,
    /// Its state there.
    pub state: State,
    /// Its state when it was entered.
    pub entered: State,
}

impl Ground<'_, '_> {
    /// All steps; `None` if one of them has no meaning.
    pub fn steps(&self, terms: &mut Terms) -> Option<Vec<Step>> {
        let mut blocks: BTreeMap<LocId, Block> = BTreeMap::new();
        let mut steps = Vec::with_capacity(self.skeleton.edges.len());
        for edge in &self.skeleton.edges {
            if let Some(step) = self.step(terms, &mut blocks, edge.kind)? {
                steps.push(step);
            }
        }
        Some(steps)
    }

    fn step(
        &self,
        terms: &mut Terms,
        blocks: &mut BTreeMap<LocId, Block>,
        kind: SkeletonEdgeKind,
    ) -> Option<Option<Step>> {
        let program = self.semantics.program;
        let entry = |function: FuncId| program.function(function).entry;
        let mut run = Execution::new(self.semantics);
        let step = match kind {
            SkeletonEdgeKind::Start => {
                run.start(terms);
                let condition = terms.and(&run.facts);
                Step {
                    from: None,
                    to: End::At(entry(program.entry)),
                    returned: None,
                    condition,
                    entered: Some(run.state.clone()),
                    state: run.state,
                }
            }
            // The start is the root's call.
            SkeletonEdgeKind::Call(None, _) => return Some(None),
            SkeletonEdgeKind::Block(from, to) => {
                let made = match blocks.entry(from) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        let cuts = &self.skeleton.cuts;
                        place.insert(block(self.semantics, terms, from, cuts).ok()?)
                    }
                };
                let exit = made.exits.iter().find(|exit| exit.location == to)?;
                Step {
                    from: Some(from),
                    to: End::At(to),
                    returned: None,
                    condition: exit.condition,
                    state: exit.state.clone(),
                    entered: None,
                }
            }
            SkeletonEdgeKind::Call(Some(call), callee) => {
                let condition = run.enter(terms, call, callee);
                let mut conjuncts = run.facts;
                conjuncts.push(condition);
                Step {
                    from: Some(program.edges[call.index()].from),
                    to: End::At(entry(callee)),
                    returned: None,
                    condition: terms.and(&conjuncts),
                    entered: Some(run.state.clone()),
                    state: run.state,
                }
            }
            SkeletonEdgeKind::Return(call, callee) => {
                let edge = &program.edges[call.index()];
                let condition = run.enter(terms, call, callee);
                let entered = run.state.clone();
                // Whatever the callee may change, and all of its own frame, may be anything.
                let own = self.semantics.frame_variables(callee);
                for id in self.effects.modified(callee).iter().copied().chain(own) {
                    let sort = self.semantics.sort(terms, id);
                    let any = terms.fresh("exit", sort);
                    run.state.set(id, any);
                }
                let returned = Returned {
                    exit: program.function(callee).exit,
                    state: run.state.clone(),
                    entered,
                };
                run.leave(terms);
                let mut conjuncts = run.facts;
                conjuncts.push(condition);
                Step {
                    from: Some(edge.from),
                    to: End::At(edge.to),
                    returned: Some(returned),
                    condition: terms.and(&conjuncts),
                    state: run.state,
                    entered: None,
                }
            }
            SkeletonEdgeKind::Unsupported(edge) => {
                let hardbop_cfront::program::Op::Unsupported { construct } =
                    program.edges[edge.index()].op
                else {
                    return Some(None);
                };
                Step {
                    from: Some(program.edges[edge.index()].from),
                    to: End::Unsupported(construct),
                    returned: None,
                    condition: terms.bool(true),
                    state: State::new(),
                    entered: None,
                }
            }
        };
        Some(Some(step))
    }

    /// What a constant of a formula about the end of a step stands for there.
    pub fn at_end(&self, terms: &mut Terms, step: &Step, constant: TermId) -> TermId {
        self.at(terms, constant, &step.state, step.entered.as_ref())
    }

    /// A formula at a callee's exit, said at the end of the call.
    pub fn at_exit(&self, terms: &mut Terms, returned: &Returned, formula: TermId) -> TermId {
        let mut map = BTreeMap::new();
        for constant in terms.free_constants(&[formula]) {
            let value = self.at(terms, constant, &returned.state, Some(&returned.entered));
            map.insert(constant, value);
        }
        terms.substitute(formula, &map)
    }

    fn at(&self, terms: &mut Terms, constant: TermId, now: &State, old: Option<&State>) -> TermId {
        match (self.constants.meaning(constant), old) {
            (Some(Meaning::Now(id)), _) => now.get(self.semantics, terms, id),
            (Some(Meaning::Old(id)), Some(old)) => old.get(self.semantics, terms, id),
            _ => constant,
        }
    }
}
