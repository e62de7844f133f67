//! Explanations: from a path without an error to a clause (Algorithms 3 and 5), soundly.
//!
//! A clause is a set of decisions L, and what it claims is this: *no run whose decisions agree
//! with L meets an error* (within the bound). Only then may all oracles that make the decisions
//! of L be left out.
//!
//! The claim rests on a set of *needed* steps of the path. Walking back from the end of the path,
//! the explanation keeps for every branch with several live sides one of three things:
//!
//! - The branch is *free*: whichever side a run takes, it comes to the same meeting point, which
//!   the path passes too, before any error; no needed step lies in between; and nothing is
//!   written in between, on any way, whose value a core carries across: from the equation that
//!   the core holds, or from the first use, to the last use. This is where φ choices are
//!   accounted for.
//! - The branch was decided by the path: every other live side is refuted by an unsatisfiable core
//!   of the path's single-assignment form, and the steps of the core become needed.
//! - The branch was the oracle's choice: its decision joins L.
//!
//! Then a run that agrees with L passes all needed steps, in order, with values that satisfy
//! their constraints: by induction along the path. Needed branches go the same way, by L or by
//! their cores; free branches lead to their meeting points without disturbing what is needed.
//! So it ends as the path did, or earlier without an error. A branch with one live side needs
//! nothing: a run that takes another side meets no error anyway, and one that goes on satisfies
//! the condition, which a core may therefore use.
//!
//! The control decisions that the statements of a core depend on, transitively, are thus in the
//! explanation: a needed step between a branch and its meeting point makes the branch needed.

use crate::assignments::{Assignments, Kind};
use crate::run::{Act, End, Position};
use crate::smus::{Verdict, smallest};
use crate::structure::{Meet, Structure};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::LocId;
use hardbop_engine::claim::Decision;
use hardbop_logic::{Answer, Session, TermId, Terms};
use hardbop_semantics::Semantics;
use hardbop_semantics::effects::Effects;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// What is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// That the whole path meets no error.
    Path,
    /// That a side of the branch at the path's last position cannot be taken.
    Refused(u32),
}

/// How cores are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cores {
    /// What the run was told, with all equations behind it.
    Quick,
    /// The smallest unsatisfiable subset, as far as the questions reach.
    Smallest,
}

/// Why a set of decisions leads to no error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Explanation {
    /// The decisions.
    pub decisions: BTreeSet<Decision>,
    /// The branches at which it does not matter which side is taken, with the positions of their
    /// meeting points.
    pub free: BTreeMap<usize, usize>,
}

/// The most questions for one core, and for one explanation.
const QUESTIONS: usize = 60;
const ALL_QUESTIONS: usize = 150;
/// Up to this many candidates the smallest core is sought, not just a minimal one.
const SMALL: usize = 24;
/// Equations behind a condition that are too many to ask a solver about.
const LARGE: usize = 400;

/// What all explanations of a program share.
#[derive(Clone, Copy)]
pub(crate) struct Meaning<'a, 'p> {
    pub semantics: &'a Semantics<'p>,
    pub effects: &'a Effects,
    pub budget: &'a Budget,
}

/// What an explanation is made from.
pub(crate) struct Explainer<'a, 'p> {
    meaning: Meaning<'a, 'p>,
    pub structure: &'a mut Structure<'p>,
    pub terms: &'a mut Terms,
    /// A session in which the axioms are asserted.
    session: &'a mut Session<'static>,
    pub path: &'a [Position],
    pub form: &'a Assignments,
    occurrences: FxHashMap<(u32, LocId), Vec<usize>>,
    questions: usize,
}

/// A version that needed steps use: its variable must keep its value between these steps.
#[derive(Clone, Copy, Debug)]
struct Use {
    variable: hardbop_semantics::layout::StateVarId,
    from: usize,
    until: usize,
}

#[derive(Default)]
struct Needs {
    steps: BTreeSet<usize>,
    uses: FxHashMap<TermId, Use>,
    /// Where the uses begin, the last first: walking back, a use ends to matter there.
    begins: BinaryHeap<(usize, TermId)>,
    /// Equations that are needed with everything behind them.
    whole: FxHashSet<usize>,
}

impl Needs {
    fn note(&mut self, version: TermId, used: Use) {
        let entry = self.uses.entry(version).or_insert(used);
        entry.from = entry.from.min(used.from);
        entry.until = entry.until.max(used.until);
        self.begins.push((entry.from, version));
    }

    /// Forgets the uses that begin after a step, when no later branch is looked at any more.
    fn settle(&mut self, step: usize) {
        while let Some(&(from, version)) = self.begins.peek()
            && from > step
        {
            self.begins.pop();
            if self.uses.get(&version).is_some_and(|used| used.from > step) {
                self.uses.remove(&version);
            }
        }
    }
}

impl<'a, 'p> Explainer<'a, 'p> {
    pub(crate) fn new(
        meaning: Meaning<'a, 'p>,
        structure: &'a mut Structure<'p>,
        terms: &'a mut Terms,
        session: &'a mut Session<'static>,
        path: &'a [Position],
        form: &'a Assignments,
    ) -> Explainer<'a, 'p> {
        let mut occurrences: FxHashMap<(u32, LocId), Vec<usize>> = FxHashMap::default();
        for (index, position) in path.iter().enumerate() {
            let key = (position.frame, position.location);
            occurrences.entry(key).or_default().push(index);
        }
        Explainer {
            meaning,
            structure,
            terms,
            session,
            path,
            form,
            occurrences,
            questions: ALL_QUESTIONS,
        }
    }

    /// The explanation of a goal.
    pub(crate) fn explain(&mut self, goal: Goal, cores: Cores) -> Result<Explanation, Stopped> {
        let path = self.path;
        let mut needs = Needs::default();
        let mut out = Explanation::default();
        for (index, position) in path.iter().enumerate().rev() {
            let step = index + 1;
            if step % 64 == 0 {
                self.meaning.budget.check()?;
            }
            match &position.act {
                Act::Branch(branch) => {
                    let last = index + 1 == path.len();
                    if let (Goal::Refused(side), true) = (goal, last) {
                        let refused = branch.ruled_out.iter().find(|r| r.side == side);
                        needs.steps.insert(step);
                        if let Some(refused) = refused {
                            self.refute(&mut needs, step, side, &refused.by, cores);
                        }
                        continue;
                    }
                    if branch.taken.is_some() {
                        if branch.live.len() < 2 {
                            continue;
                        }
                        if let Some(meeting) = self.meeting(&mut needs, index) {
                            out.free.insert(index, meeting);
                            continue;
                        }
                    }
                    needs.steps.insert(step);
                    match branch.taken {
                        Some(side) if branch.open() > 1 => {
                            let node = position.node;
                            out.decisions.insert(Decision { point: node, side });
                        }
                        _ => {
                            for refused in &branch.ruled_out {
                                self.refute(&mut needs, step, refused.side, &refused.by, cores);
                            }
                        }
                    }
                }
                Act::End(End::Infeasible(by)) => {
                    needs.steps.insert(step);
                    self.refute(&mut needs, step, u32::MAX, by, cores);
                }
                _ => {}
            }
        }
        Ok(out)
    }

    /// The position of the meeting point of a branch, if it does not matter which side a run
    /// takes there.
    fn meeting(&mut self, needs: &mut Needs, index: usize) -> Option<usize> {
        let position = &self.path[index];
        let step = index + 1;
        if needs.steps.contains(&step) {
            return None;
        }
        let Meet::At(meet) = self.structure.meet(position.location, position.returns) else {
            return None;
        };
        let visits = self.occurrences.get(&(position.frame, meet))?;
        let next = visits.partition_point(|&visit| visit <= index);
        let at = *visits.get(next)?;
        let meeting = at + 1;
        if needs.steps.range(step + 1..meeting).next().is_some() {
            return None;
        }
        needs.settle(step);
        let spans = |used: &&Use| used.from <= step && used.until >= meeting;
        if !needs.uses.values().any(|used| spans(&used)) {
            return Some(at);
        }
        let writes = self.structure.writes_between(
            self.meaning.semantics,
            self.meaning.effects,
            position.location,
            meet,
            position.returns,
        );
        let disturbed = needs
            .uses
            .values()
            .filter(spans)
            .any(|used| writes.contains(&used.variable));
        (!disturbed).then_some(at)
    }

    /// Makes the steps needed that rule a side out.
    fn refute(&mut self, needs: &mut Needs, step: usize, side: u32, by: &[usize], cores: Cores) {
        let form = self.form;
        let none = Vec::new();
        let targets = form.refused.get(&(step, side)).unwrap_or(&none);
        let mut requirements = Vec::new();
        for &step in by {
            let from = form.constraints.partition_point(|c| c.step < step);
            let here = form.constraints[from..].iter().enumerate();
            requirements.extend(
                here.take_while(|(_, constraint)| constraint.step == step)
                    .filter(|(_, constraint)| constraint.kind == Kind::Requirement)
                    .map(|(index, _)| from + index),
            );
        }
        let core = match cores {
            Cores::Smallest => self.core(targets, &requirements),
            Cores::Quick => None,
        };
        let direct: BTreeSet<TermId> = self.terms.free_constants(targets);
        let Some(core) = core else {
            for version in direct {
                self.whole(needs, version, step);
            }
            for index in requirements {
                let constraint = &form.constraints[index];
                needs.steps.insert(constraint.step);
                for &version in &constraint.versions {
                    self.whole(needs, version, constraint.step);
                }
            }
            needs.steps.remove(&0);
            return;
        };
        // Where a version comes from matters only if the core holds its equation. If not, the
        // core stands whatever the value is, as long as all its uses see the same one.
        let defined: FxHashSet<TermId> = core
            .iter()
            .filter_map(|&index| match form.constraints[index].kind {
                Kind::Definition(version) => Some(version),
                Kind::Requirement => None,
            })
            .collect();
        let mut first: FxHashMap<TermId, (usize, usize)> = FxHashMap::default();
        let mut seen = |version: TermId, at: usize| {
            let entry = first.entry(version).or_insert((at, at));
            *entry = (entry.0.min(at), entry.1.max(at));
        };
        for version in direct {
            seen(version, step);
        }
        for &index in &core {
            let constraint = &form.constraints[index];
            for &version in &constraint.versions {
                seen(version, constraint.step);
            }
            if constraint.step > 0 {
                needs.steps.insert(constraint.step);
            }
        }
        for (version, (from, until)) in first {
            if let Some(known) = form.versions.get(&version) {
                let from = if defined.contains(&version) {
                    known.step
                } else {
                    from
                };
                let variable = known.variable;
                needs.note(
                    version,
                    Use {
                        variable,
                        from,
                        until,
                    },
                );
            }
        }
    }

    /// Makes a version needed with all equations behind it.
    fn whole(&self, needs: &mut Needs, version: TermId, at: usize) {
        let form = self.form;
        let mut work = vec![(version, at)];
        while let Some((version, until)) = work.pop() {
            let Some(known) = form.versions.get(&version) else {
                continue;
            };
            let from = match known.definition {
                Some(_) => known.step,
                None => until,
            };
            let variable = known.variable;
            needs.note(
                version,
                Use {
                    variable,
                    from,
                    until,
                },
            );
            if let Some(definition) = known.definition
                && needs.whole.insert(definition)
            {
                let constraint = &form.constraints[definition];
                if constraint.step > 0 {
                    needs.steps.insert(constraint.step);
                }
                work.extend(constraint.versions.iter().map(|&v| (v, constraint.step)));
            }
        }
    }

    /// The equations behind some terms, if they are not too many.
    fn cone(&self, of: &[TermId]) -> Option<BTreeSet<usize>> {
        let form = self.form;
        let mut seen = BTreeSet::new();
        let mut work: Vec<TermId> = self.terms.free_constants(of).into_iter().collect();
        while let Some(version) = work.pop() {
            let known = form.versions.get(&version);
            if let Some(definition) = known.and_then(|version| version.definition)
                && seen.insert(definition)
            {
                work.extend(&form.constraints[definition].versions);
                if seen.len() > LARGE {
                    return None;
                }
            }
        }
        Some(seen)
    }

    /// Constraints that contradict the targets, given the requirements that do so with what was
    /// computed; `None` if it is too much to ask.
    fn core(&mut self, targets: &[TermId], requirements: &[usize]) -> Option<Vec<usize>> {
        let form = self.form;
        if self.questions == 0 {
            return None;
        }
        let mut of: Vec<TermId> = targets.to_vec();
        of.extend(
            requirements
                .iter()
                .map(|&index| form.constraints[index].term),
        );
        let mut all = self.cone(&of)?;
        all.extend(requirements);
        let candidates: Vec<usize> = all.into_iter().collect();
        // The whole is a core in any case, and one constraint is as few as they come.
        if candidates.len() <= 1 {
            return Some(candidates);
        }
        let session = &mut *self.session;
        session.push();
        for &target in targets {
            session.assert(self.terms, target);
        }
        let terms = &*self.terms;
        let asked = session.statistics().queries;
        let mut ask = |subset: &[usize]| {
            let assumptions: Vec<TermId> = subset
                .iter()
                .map(|&index| form.constraints[index].term)
                .collect();
            match session.check(terms, &assumptions) {
                Answer::Unsat => {
                    let core: BTreeSet<TermId> = session.core().into_iter().collect();
                    let members = subset.iter().copied();
                    Verdict::Unsatisfiable(
                        members
                            .filter(|&index| core.contains(&form.constraints[index].term))
                            .collect(),
                    )
                }
                _ => Verdict::Open,
            }
        };
        let found = match ask(&candidates) {
            // The run was told so in other words, so the whole is a core in any case.
            Verdict::Open => candidates,
            Verdict::Unsatisfiable(core) => {
                let all = if candidates.len() <= SMALL {
                    &candidates
                } else {
                    &core
                };
                smallest(core.clone(), all, QUESTIONS.min(self.questions), &mut ask).0
            }
        };
        let asked = (session.statistics().queries - asked) as usize;
        self.questions = self.questions.saturating_sub(asked);
        session.pop();
        Some(found)
    }
}
