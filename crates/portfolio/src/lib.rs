//! Engines together: what one decides is closed for the others.
//!
//! In comes a [`Task`], out comes one [`Report`] that holds for every check the first answer that
//! any engine had evidence for, and which engine that was. Cheap engines go first, one after the
//! other, so that small programs get the same answer by the same engine every time; then the rest
//! run side by side, as *lanes* of engines that follow each other on one core.

use hardbop_budget::{Budget, resident_bytes};
use hardbop_cfront::ids::CheckId;
use hardbop_engine::{Event, Outcome, Proof, Reason, Report, Suggestion, Task};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

mod doubt;
mod plan;

pub use doubt::Contradiction;
pub use plan::{Plan, Step, default_doubts, default_plan, timed};

/// What the engines found out together.
#[derive(Debug, Default)]
pub struct Found {
    /// The answers. The proof is that of the engine that proved the most recent ones.
    pub report: Report,
    /// Which engine decided a check.
    pub engines: BTreeMap<CheckId, &'static str>,
    /// Proofs and runs that cannot both be right. If there is one, nothing counts as proved.
    pub contradictions: Vec<Contradiction>,
    /// The proved checks that were doubted already.
    doubted: BTreeSet<CheckId>,
}

/// What happens while a plan runs.
pub trait Listener {
    /// Something that an engine does.
    fn event(&mut self, engine: &'static str, event: Event);

    /// An engine begins.
    fn started(&mut self, _engine: &'static str) {}

    /// An engine is done. It is the first that decided so many checks, and so many are open now.
    fn ended(&mut self, _engine: &'static str, _decided: usize, _open: usize) {}

    /// The budget ended a while ago, but an engine does not come back: solvers look up from their
    /// work when they like. Whoever cannot wait may use what was found and leave the process.
    fn late(&mut self, found: &Found);
}

/// Runs a plan until every check is decided or the plan or the budget ends.
pub fn check(plan: &Plan, task: &Task<'_>, listener: &mut dyn Listener) -> Found {
    let mut found = Found::default();
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
    for engine in &plan.first {
        let lane = [std::slice::from_ref(engine)];
        side_by_side(&lane, plan, task, &mut found, listener);
    }
    let lanes: Vec<&[Step]> = plan.lanes.iter().map(Vec::as_slice).collect();
    side_by_side(&lanes, plan, task, &mut found, listener);
    found.stop(task.budget);
    found.doubt(&plan.doubts, task);
    found
}

/// What a lane tells.
enum Message {
    Started(&'static str),
    Event(&'static str, Event),
    Suggestion(Suggestion),
    Report(&'static str, Box<Report>),
    Done,
}

/// At most so many suggestions are followed: each costs others the time that it takes.
const FOLLOWED: usize = 4;

fn side_by_side(
    lanes: &[&[Step]],
    plan: &Plan,
    task: &Task<'_>,
    found: &mut Found,
    listener: &mut dyn Listener,
) {
    if found.is_settled() {
        return;
    }
    let budget = task.budget.child();
    let open = found.open();
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let mut running = 0;
        for lane in lanes {
            let (sender, budget, open) = (sender.clone(), budget.clone(), open.clone());
            let thread = std::thread::Builder::new().stack_size(LANE_STACK);
            let work = move || run_lane(lane, task, &open, &budget, &sender);
            // Without a thread of its own a lane is left out; the others still run.
            if thread.spawn_scoped(scope, work).is_ok() {
                running += 1;
            }
        }
        let mut followed = BTreeSet::new();
        let mut follow = |suggestion: &Suggestion| {
            if followed.len() >= FOLLOWED || !followed.insert(suggestion.clone()) {
                return 0;
            }
            let mut started = 0;
            let engines = plan
                .followers
                .iter()
                .filter_map(|engine| engine.following(suggestion));
            for engine in engines {
                let (sender, budget) = (sender.clone(), budget.clone());
                let open = [suggestion.check];
                let thread = std::thread::Builder::new().stack_size(LANE_STACK);
                let work = move || run_lane(&[engine], task, &open, &budget, &sender);
                started += usize::from(thread.spawn_scoped(scope, work).is_ok());
            }
            started
        };
        let mut late = |found: &mut Found, listener: &mut dyn Listener| {
            found.stop(&budget);
            // What is told now is what the user sees.
            found.doubt(&plan.doubts, task);
            listener.late(found);
        };
        listen(
            &receiver,
            running,
            &mut follow,
            &mut late,
            &budget,
            found,
            listener,
        );
    });
}

/// Terms can be deep, and solvers recurse over them.
const LANE_STACK: usize = 512 << 20;

fn run_lane(
    lane: &[Step],
    task: &Task<'_>,
    open: &[CheckId],
    budget: &Budget,
    sender: &Sender<Message>,
) {
    let _done = Done(sender);
    let mut open = open.to_vec();
    for engine in lane {
        if budget.check().is_err() {
            break;
        }
        let task = Task {
            checks: &open,
            budget,
            ..*task
        };
        // Whoever listened may be gone; then nothing that is told matters any more.
        let name = engine.name();
        let _ = sender.send(Message::Started(name));
        let mut tell = |event| {
            let _ = sender.send(Message::Event(name, event));
        };
        let mut suggest = |suggestion| {
            let _ = sender.send(Message::Suggestion(suggestion));
        };
        let mut report = engine.check_suggesting(&task, &mut tell, &mut suggest);
        if budget.check().is_ok() {
            // It was not the user's limit that ended it.
            let outcomes = report.outcomes.values_mut();
            let reasons = outcomes.filter_map(|outcome| match outcome {
                Outcome::Unknown(reason) => Some(reason),
                _ => None,
            });
            for reason in reasons.chain(&mut report.incomplete) {
                if matches!(reason, Reason::Stopped(_)) {
                    *reason = Reason::Turn;
                }
            }
        }
        let decided = |check: &CheckId| report.outcomes.get(check).is_some_and(Outcome::is_decided);
        open.retain(|check| !decided(check));
        let _ = sender.send(Message::Report(name, Box::new(report)));
        if open.is_empty() {
            break;
        }
    }
}

/// Says at the end of a lane that it is done, even if that end is a panic.
struct Done<'a>(&'a Sender<Message>);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let _ = self.0.send(Message::Done);
    }
}

fn listen(
    receiver: &Receiver<Message>,
    mut running: usize,
    follow: &mut dyn FnMut(&Suggestion) -> usize,
    late: &mut dyn FnMut(&mut Found, &mut dyn Listener),
    budget: &Budget,
    found: &mut Found,
    listener: &mut dyn Listener,
) {
    let mut ended: Option<Instant> = None;
    let patience = match budget.memory() {
        Some(_) => MEMORY_PATIENCE,
        None => PATIENCE,
    };
    while running > 0 {
        match receiver.recv_timeout(patience) {
            Ok(Message::Started(engine)) => listener.started(engine),
            Ok(Message::Event(engine, mut event)) => {
                event.open = found.open().len();
                listener.event(engine, event);
            }
            Ok(Message::Suggestion(suggestion)) => {
                if found.open().contains(&suggestion.check) {
                    running += follow(&suggestion);
                }
            }
            Ok(Message::Report(engine, report)) => {
                let before = found.open().len();
                found.take(engine, *report);
                let open = found.open().len();
                listener.ended(engine, before.saturating_sub(open), open);
                if found.is_settled() {
                    budget.cancel();
                }
            }
            Ok(Message::Done) => running -= 1,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if budget.check().is_err() {
            let since = ended.get_or_insert_with(Instant::now);
            if since.elapsed() > GRACE || is_far_over(budget) {
                late(found, listener);
            }
        }
    }
}

/// How long nothing may be told before the budget is looked at.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long engines may take to come back when the budget ended.
const GRACE: Duration = Duration::from_millis(400);
/// The same where memory is limited: a solver takes a hundred megabytes in less time than that.
const MEMORY_PATIENCE: Duration = Duration::from_millis(5);

/// Whether so much memory is held that nobody can be waited for. Engines are told to stop a little
/// before that.
fn is_far_over(budget: &Budget) -> bool {
    match (budget.memory(), resident_bytes()) {
        (Some(limit), Some(used)) => used > limit,
        _ => false,
    }
}

impl Found {
    /// What is known where no engine ran.
    pub fn of(report: Report) -> Found {
        Found {
            report,
            ..Found::default()
        }
    }

    /// What one engine reports, after others had their doubts about what it proves.
    pub fn doubted(
        engine: &'static str,
        report: Report,
        doubts: &[Step],
        task: &Task<'_>,
    ) -> Found {
        let decided = report
            .outcomes
            .iter()
            .filter(|(_, outcome)| outcome.is_decided());
        let engines = decided.map(|(&check, _)| (check, engine)).collect();
        let mut found = Found {
            engines,
            ..Found::of(report)
        };
        found.doubt(doubts, task);
        found
    }

    /// Whether there is nothing left to find out.
    fn is_settled(&self) -> bool {
        self.report.is_complete() || self.is_all_violated() || !self.contradictions.is_empty()
    }

    fn is_all_violated(&self) -> bool {
        let mut outcomes = self.report.outcomes.values();
        !self.report.outcomes.is_empty()
            && outcomes.all(|outcome| matches!(outcome, Outcome::Violated(_)))
    }

    /// The checks that are not decided.
    fn open(&self) -> Vec<CheckId> {
        let outcomes = self.report.outcomes.iter();
        outcomes
            .filter(|(_, outcome)| !outcome.is_decided())
            .map(|(&check, _)| check)
            .collect()
    }

    /// Says of what is open that the budget ended.
    fn stop(&mut self, budget: &Budget) {
        let (Err(stopped), false) = (budget.check(), self.is_settled()) else {
            return;
        };
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

    /// Adds what an engine reports.
    fn take(&mut self, engine: &'static str, report: Report) {
        self.contradict(engine, &report);
        let settled = self.is_settled();
        let mut proved = false;
        for (check, outcome) in report.outcomes {
            let known = self.report.outcomes.get(&check);
            let better = match (known, &outcome) {
                (Some(Outcome::Unknown(known)), Outcome::Unknown(new)) => is_better(known, new),
                // Proofs of a program of which a proof was contradicted do not count.
                (_, Outcome::Proved) if !self.contradictions.is_empty() => false,
                (Some(Outcome::Unknown(Reason::Contradiction { .. })), _) => false,
                (Some(Outcome::Unknown(_)) | None, _) => true,
                _ => false,
            };
            if better {
                if outcome.is_decided() {
                    self.engines.insert(check, engine);
                }
                proved |= matches!(outcome, Outcome::Proved);
                self.report.outcomes.insert(check, outcome);
            }
        }
        if settled {
            return;
        }
        let all = self.report.outcomes.values().all(Outcome::is_decided);
        if proved || self.report.proof.is_none() {
            self.report.proof = match (self.report.proof.take(), report.proof) {
                // Each proves its own checks.
                (Some(Proof::Invariants(known)), Some(Proof::Invariants(new))) => {
                    Some(Proof::Invariants(known.and(new)))
                }
                (known, new) => new.or(known),
            };
        }
        // The engine that closes the last check speaks for all executions, if anyone does.
        let first = self.report.statistics.is_empty();
        if all || first || self.report.incomplete.is_none() {
            self.report.incomplete = report.incomplete;
        }
        if self.is_all_violated() {
            // Nobody asks what else there is.
            self.report.incomplete = None;
        }
        if proved || first || all {
            self.report.statistics = report.statistics;
        }
    }
}

/// Whether a reason tells a user more than another.
fn is_better(known: &Reason, new: &Reason) -> bool {
    fn weight(reason: &Reason) -> u8 {
        match reason {
            Reason::Contradiction { .. } => 10,
            Reason::Unsupported(_) => 9,
            Reason::Replay(_) | Reason::Certificate | Reason::Evidence => 6,
            Reason::Solver(_) => 5,
            Reason::Stopped(_) => 4,
            Reason::Bound(_) => 3,
            Reason::Refinement | Reason::LongPath | Reason::Guesses => 2,
            // This is what stands there before anybody looked.
            Reason::Length(0) => 0,
            _ => 1,
        }
    }
    weight(new) > weight(known)
}
