//! What searches stand on, and what lies between two cut points: a condition and a state at the
//! end.

use crate::constants::{Constants, Meaning};
use crate::effects::Effects;
use crate::layout::StateVarId;
use crate::segment::{Blocks, Segment};
use crate::skeleton::{Skeleton, SkeletonEdgeKind};
use crate::{Execution, Semantics, State, Unmodelled};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::Op;
use hardbop_logic::{self as logic, Sort, TermId, Terms};
use std::collections::BTreeMap;

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
        let mut blocks = Blocks::new();
        let mut steps = Vec::with_capacity(self.skeleton.edges.len());
        for edge in &self.skeleton.edges {
            steps.extend(self.step(terms, &mut blocks, edge.kind).ok()?);
        }
        Some(steps)
    }

    /// The same steps as relations of states: what was only chosen on the way is left out, and with it
    /// how one came past the other cases of a `switch` of which a slice kept nothing else.
    pub fn relations(&self, terms: &mut Terms) -> Option<Vec<Step>> {
        let mut steps = self.steps(terms)?;
        for step in &mut steps {
            self.forget_choices(terms, step);
        }
        Some(steps)
    }

    /// A truth value that is part of no state and said once can be what it is said to be.
    fn forget_choices(&self, terms: &mut Terms, step: &mut Step) {
        if *terms.op(step.condition) != logic::Op::And {
            return;
        }
        let chosen = |terms: &Terms, part: TermId| {
            let atom = terms.negated(part).unwrap_or(part);
            let is_choice = matches!(terms.op(atom), logic::Op::Constant(_))
                && terms.sort(atom) == Sort::Bool
                && self.constants.meaning(atom).is_none();
            is_choice.then_some(atom)
        };
        let parts = terms.args(step.condition).to_vec();
        let (choices, mut roots): (Vec<TermId>, Vec<TermId>) = parts
            .iter()
            .partition(|&&part| chosen(terms, part).is_some());
        if choices.is_empty() {
            return;
        }
        let returned = step.returned.as_ref();
        let states = [
            Some(&step.state),
            step.entered.as_ref(),
            returned.map(|returned| &returned.state),
            returned.map(|returned| &returned.entered),
        ];
        let written = states.into_iter().flatten().flat_map(State::written);
        roots.extend(written.map(|(_, term)| term));
        let read = terms.free_constants(&roots);
        let is_kept = |terms: &Terms, part: &TermId| {
            chosen(terms, *part).is_none_or(|choice| read.contains(&choice))
        };
        let kept: Vec<TermId> = parts
            .into_iter()
            .filter(|part| is_kept(terms, part))
            .collect();
        step.condition = terms.and(&kept);
    }

    /// What an edge of the skeleton does, from any state; `None` if it is never taken. `blocks` are
    /// those that begin in any state. The same edge has the same terms every time but for the
    /// values that it makes up.
    pub fn step(
        &self,
        terms: &mut Terms,
        blocks: &mut Blocks,
        kind: SkeletonEdgeKind,
    ) -> Result<Option<Step>, Unmodelled> {
        let program = self.semantics.program;
        let entry = |function: FuncId| program.function(function).entry;
        let mut run = Execution::new(self.semantics);
        let (from, to, segment) = match kind {
            SkeletonEdgeKind::Start => {
                let start = Segment::Start(program.entry);
                (None, entry(program.entry), start)
            }
            // The start is the root's call.
            SkeletonEdgeKind::Call(None, _) => return Ok(None),
            SkeletonEdgeKind::Block(from, to) => (Some(from), to, Segment::Block(from, to)),
            SkeletonEdgeKind::Call(Some(call), callee) => {
                let from = program.edges[call.index()].from;
                (Some(from), entry(callee), Segment::Enter(call, callee))
            }
            SkeletonEdgeKind::Return(call, callee) => {
                return Ok(Some(self.returning(terms, run, call, callee)));
            }
            SkeletonEdgeKind::Unsupported(edge) => {
                let Op::Unsupported { construct } = program.edges[edge.index()].op else {
                    return Ok(None);
                };
                return Ok(Some(Step {
                    from: Some(program.edges[edge.index()].from),
                    to: End::Unsupported(construct),
                    returned: None,
                    condition: terms.bool(true),
                    state: State::new(),
                    entered: None,
                }));
            }
        };
        let cuts = &self.skeleton.cuts;
        let Some(condition) = run.segment(terms, segment, cuts, blocks)? else {
            return Ok(None);
        };
        let enters = !matches!(segment, Segment::Block(..));
        Ok(Some(Step {
            from,
            to: End::At(to),
            returned: None,
            condition,
            entered: enters.then(|| run.state.clone()),
            state: run.state,
        }))
    }

    /// A call that is entered and left: whatever the callee may change, and all of its own frame,
    /// may be anything at its exit.
    fn returning(
        &self,
        terms: &mut Terms,
        mut run: Execution<'_, '_>,
        call: EdgeId,
        callee: FuncId,
    ) -> Step {
        let program = self.semantics.program;
        let edge = &program.edges[call.index()];
        let condition = run.enter(terms, call, callee);
        let entered = run.state.clone();
        for id in self.given_back(callee) {
            let sort = self.semantics.sort(terms, id);
            let name = format!("{}'", self.semantics.layout.get(id).name);
            let after = terms.constant(&name, sort);
            run.state.set(id, after);
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

    /// What a function may leave changed, and its own frame.
    pub fn given_back(&self, callee: FuncId) -> impl Iterator<Item = StateVarId> {
        let modified = self.effects.modified(callee).iter().copied();
        modified.chain(self.semantics.frame_variables(callee))
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
