//! Engines together: what one decides is closed for the others.
//!
//! In comes a [`Task`], out comes one [`Report`] that holds for every check the first answer that
//! passed the gate, and whose claim that was. Cheap engines go first, one after the
//! other, so that small programs get the same answer by the same engine every time; then the rest
//! run side by side, as *lanes* of engines that follow each other on one core.

use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_engine::claim::{Nowhere, ScopedPredicate};
use hardbop_engine::{Claim, Ended, Event, Reason, Task};
use hardbop_gate::{Evidence, Gate, Outcome, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

mod doubt;
mod functions;
mod lanes;
mod looks;
mod plan;
mod quantified;
mod ranks;
mod shown;
mod slices;
mod tidy;

pub use doubt::Contradiction;
pub use functions::Functions;
use lanes::side_by_side;
pub use plan::{
    Plan, Proofs, Shows, Step, Until, default_doubts, default_plan, readable, termination_plan,
};
pub use ranks::{ShownRank, ShownSet};
pub use shown::Invariant;
use shown::{both, invariants};
pub use slices::Slices;

/// What the engines found out together.
#[derive(Debug, Default)]
pub struct Found {
    /// The answers.
    pub report: Report,
    /// Which engine decided a check.
    pub engines: BTreeMap<CheckId, &'static str>,
    /// Proofs and runs that cannot both be right. If there is one, nothing counts as proved.
    pub contradictions: Vec<Contradiction>,
    /// The invariants behind what is proved, by the locations of the program itself.
    pub invariants: BTreeMap<LocId, Invariant>,
    /// The predicates that they are made of.
    pub predicates: Vec<ScopedPredicate>,
    /// What falls in loops and calls, if that is how it is known that executions end.
    pub ranks: Vec<ShownRank>,
    /// The sets that executions need never leave, if that is how it is known that they do not end.
    pub sets: BTreeMap<CheckId, ShownSet>,
    /// How deep checks that are not decided hold, where that was looked for.
    pub bounded: BTreeMap<CheckId, Depth>,
    /// The proved checks that were doubted already.
    doubted: BTreeSet<CheckId>,
    /// Whether a proof speaks for all executions: none comes to what is not supported.
    complete: bool,
    /// What is being looked for.
    wanted: Wanted,
    /// How much of it.
    until: Until,
}

/// How many iterations of each loop were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// So many, and nothing was violated.
    pub reached: u32,
    /// So many were asked for.
    pub wanted: u32,
}

/// What is being looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wanted {
    /// Answers.
    #[default]
    Answers,
    /// For what is proved, a proof that can be shown.
    Proofs(Shows),
    /// For what is proved, a proof that says less.
    Less,
}

/// What happens while a plan runs.
pub trait Listener {
    /// Something that an engine does.
    fn event(&mut self, engine: &'static str, event: Event);

    /// An engine begins.
    fn started(&mut self, _engine: &'static str) {}

    /// A check is decided by what an engine claimed.
    fn decided(&mut self, _engine: &'static str, _check: CheckId, _outcome: &Outcome) {}

    /// An engine is done. It is the first that decided so many checks, and so many are open now.
    fn ended(&mut self, _engine: &'static str, _decided: usize, _open: usize) {}

    /// Nothing more will be found, but engines are still at work: the budget ended a while ago, and
    /// solvers look up from their work when they like; or everything is decided. Whoever need not
    /// wait may use what was found and leave the process.
    fn late(&mut self, found: &Found);
}

/// Runs a plan until every check is decided or the plan or the budget ends.
pub fn check(plan: &Plan, task: &Task<'_>, listener: &mut dyn Listener) -> Found {
    let mut found = Found {
        until: plan.until,
        ..Found::default()
    };
    // Even where there is nothing to check, something that is not supported may be reached.
    found.report.incomplete = Some(Reason::Length(0));
    for &check in task.checks {
        // Any engine has more to say than this.
        let reason = Reason::Length(0);
        found
            .report
            .outcomes
            .insert(check, Outcome::Unknown(reason));
    }
    found.look(task);
    for engine in &plan.first {
        let lane = [std::slice::from_ref(engine)];
        side_by_side(&lane, plan, task, &mut found, listener);
    }
    let lanes: Vec<&[Step]> = plan.lanes.iter().map(Vec::as_slice).collect();
    side_by_side(&lanes, plan, task, &mut found, listener);
    found.stop(task.budget);
    found.doubt(&plan.doubts, task);
    if let Proofs::Readable { engines, shows } = &plan.proofs {
        make_readable(engines, *shows, plan, task, &mut found, listener);
    }
    found.show(task);
    found
}

/// Everything is decided that will be. Looks for proofs that can be shown, and cuts them down.
fn make_readable(
    engines: &[Step],
    shows: Shows,
    plan: &Plan,
    task: &Task<'_>,
    found: &mut Found,
    listener: &mut dyn Listener,
) {
    found.wanted = Wanted::Proofs(shows);
    for engine in engines {
        let lane = [std::slice::from_ref(engine)];
        side_by_side(&lane, plan, task, found, listener);
    }
    found.wanted = Wanted::Less;
    let proofs = found.report.proofs();
    let claims = proofs.iter().filter_map(|proof| match proof.claim() {
        Claim::Invariants(claim) => Some(claim.clone()),
        _ => None,
    });
    let tidy: Step = plan::timed(
        tidy::Tidy {
            claims: claims.collect(),
        },
        TIDYING,
    );
    side_by_side(&[&[tidy]], plan, task, found, listener);
}

/// How long proofs are cut down at most.
const TIDYING: Duration = Duration::from_secs(5);

impl Found {
    /// What is known where no engine ran.
    pub fn of(report: Report) -> Found {
        Found {
            report,
            ..Found::default()
        }
    }

    /// Makes of proofs what users read.
    fn show(&mut self, task: &Task<'_>) {
        let mut shown: Option<BTreeMap<LocId, Invariant>> = None;
        let mut predicates = BTreeSet::new();
        let mut ranks = Vec::new();
        for proof in self.report.proofs() {
            if let Claim::Invariants(claim) = proof.claim() {
                let Some(new) = invariants(task, claim) else {
                    continue;
                };
                shown = Some(match shown {
                    None => new,
                    Some(known) => both(known, &new),
                });
                predicates.extend(claim.predicates.iter().cloned());
            }
            if let Claim::Ranking(claim) = proof.claim() {
                ranks.extend(ranks::shown(task.model, claim));
            }
        }
        self.ranks = ranks;
        for (&check, outcome) in &self.report.outcomes {
            if let Outcome::Violated(refutation) = outcome
                && let Claim::Recurrence(claim) = refutation.claim()
            {
                let shown = ranks::shown_set(task.model, claim);
                self.sets.insert(check, shown);
            }
        }
        self.invariants = shown.unwrap_or_default();
        self.predicates = predicates.into_iter().collect();
    }

    /// Whether there is nothing left to find out.
    fn is_settled(&self) -> bool {
        let done = self.open().is_empty();
        (done && self.complete)
            || self.is_all_violated()
            || !self.contradictions.is_empty()
            || self.is_enough()
    }

    /// Whether a violation was found and the user wants no more than one.
    fn is_enough(&self) -> bool {
        let mut outcomes = self.report.outcomes.values();
        self.until == Until::FirstViolation
            && outcomes.any(|outcome| matches!(outcome, Outcome::Violated(_)))
    }

    /// Whether an outcome is what is being looked for.
    fn is_open(&self, outcome: &Outcome) -> bool {
        match (self.wanted, outcome) {
            (Wanted::Answers, outcome) => !outcome.is_decided(),
            (Wanted::Proofs(shows), Outcome::Proved(proof)) => !shows.is_shown(proof.claim()),
            (Wanted::Less, Outcome::Proved(proof)) => {
                matches!(proof.claim(), Claim::Invariants(_))
            }
            _ => false,
        }
    }

    fn is_all_violated(&self) -> bool {
        let mut outcomes = self.report.outcomes.values();
        !self.report.outcomes.is_empty()
            && outcomes.all(|outcome| matches!(outcome, Outcome::Violated(_)))
    }

    /// How many checks an engine decided.
    fn decided_by(&self, engine: &str) -> usize {
        self.engines.values().filter(|&&by| by == engine).count()
    }

    /// What needs no engine: checks that no code can violate.
    fn look(&mut self, task: &Task<'_>) {
        let errors = task.model.plain.errors(task.checks);
        let absent = errors.into_iter().filter(|(_, at)| at.is_empty());
        let checks: Vec<CheckId> = absent.map(|(check, _)| check).collect();
        if checks.is_empty() && !task.checks.is_empty() {
            return;
        }
        let gate = Gate::new(task.model, task.budget.clone());
        if let Ok(evidence) = gate.check(Claim::Nowhere(Nowhere { checks })) {
            self.take("front end", &evidence);
        }
    }

    /// The checks for which something is still being looked for.
    fn open(&self) -> Vec<CheckId> {
        let outcomes = self.report.outcomes.iter();
        outcomes
            .filter(|(_, outcome)| self.is_open(outcome))
            .map(|(&check, _)| check)
            .collect()
    }

    /// Says of what is open that the budget ended, or that nobody wants to know.
    fn stop(&mut self, budget: &Budget) {
        if self.is_enough() {
            for outcome in self.report.outcomes.values_mut() {
                if let Outcome::Unknown(known) = outcome
                    && !matches!(known, Reason::Contradiction { .. })
                {
                    *known = Reason::First;
                }
            }
        }
        let (Err(stopped), false) = (budget.check(), self.is_settled()) else {
            return;
        };
        if self.wanted != Wanted::Answers {
            return;
        }
        let reason = Reason::Stopped(stopped);
        for outcome in self.report.outcomes.values_mut() {
            if let Outcome::Unknown(known) = outcome
                && (matches!(known, Reason::Stopped(_)) || is_better(known, &reason))
            {
                *outcome = Outcome::Unknown(reason.clone());
            }
        }
        match &mut self.report.incomplete {
            Some(known) if is_better(known, &reason) => *known = reason,
            Some(_) => {}
            none => *none = Some(reason),
        }
    }

    /// Adds evidence that an engine's claim is.
    fn take(&mut self, engine: &'static str, evidence: &Evidence) {
        self.contradict(engine, evidence);
        let (checks, outcome) = match evidence {
            Evidence::Proof(_) if !self.contradictions.is_empty() => return,
            Evidence::Proof(proof) => {
                self.complete = true;
                let checks = proof.claim().proves().to_vec();
                (checks, Outcome::Proved(Arc::clone(proof)))
            }
            Evidence::Refutation(refutation) => {
                let outcome = Outcome::Violated(Arc::clone(refutation));
                (Vec::from_iter(refutation.claim().violates()), outcome)
            }
        };
        for check in checks {
            match self.report.outcomes.get(&check) {
                Some(Outcome::Unknown(Reason::Contradiction { .. })) => {}
                // It is decided; this one can be shown.
                Some(known @ Outcome::Proved(_)) => {
                    if self.wanted != Wanted::Answers && self.is_open(known) {
                        self.report.outcomes.insert(check, outcome.clone());
                    }
                }
                Some(Outcome::Unknown(_)) => {
                    self.report.outcomes.insert(check, outcome.clone());
                    self.engines.insert(check, engine);
                }
                Some(Outcome::Violated(_)) | None => {}
            }
        }
        if (self.complete || self.is_all_violated()) && self.contradictions.is_empty() {
            // Nobody asks what else there is.
            self.report.incomplete = None;
        }
    }

    /// Adds what an engine leaves.
    fn ended(&mut self, engine: &'static str, ended: Ended) {
        let Ended {
            open,
            incomplete,
            statistics,
        } = ended;
        for (check, reason) in open {
            if let Some(Outcome::Unknown(known)) = self.report.outcomes.get(&check)
                && is_better(known, &reason)
            {
                self.report.outcomes.insert(check, Outcome::Unknown(reason));
            }
        }
        if let (Some(known), Some(new)) = (&self.report.incomplete, incomplete)
            && is_better(known, &new)
        {
            self.report.incomplete = Some(new);
        }
        if self.report.statistics.is_empty() || self.decided_by(engine) > 0 {
            self.report.statistics = statistics;
        }
    }
}

/// Whether a reason tells a user more than another.
fn is_better(known: &Reason, new: &Reason) -> bool {
    fn weight(reason: &Reason) -> u8 {
        match reason {
            Reason::Contradiction { .. } => 10,
            Reason::Unsupported(_) => 9,
            Reason::ReadsBack | Reason::ComparesGone => 7,
            Reason::Replay(_) | Reason::Certificate | Reason::Evidence => 6,
            // It tells a user where to look.
            Reason::NoRank(_) | Reason::Recursion(_) | Reason::Solver(_) => 5,
            Reason::Stopped(_) => 4,
            Reason::Bound(_) => 3,
            Reason::Refinement | Reason::LongPath | Reason::Guesses | Reason::Values => 2,
            // This is what stands there before anybody looked.
            Reason::Length(0) => 0,
            _ => 1,
        }
    }
    weight(new) > weight(known)
}
