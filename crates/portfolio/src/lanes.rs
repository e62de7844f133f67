//! Lanes: engines that follow each other on one core, several lanes side by side.
//!
//! Each lane has a thread and a desk of its own, where its claims go through the gate; one thread
//! listens to all of them and takes down what passed.

use crate::looks::allocates;
use crate::plan::{ALLOCATING_CHECKED, FACTS_CHECKED, UNROLLING_CHECKED};
use crate::{Found, Listener, Plan, Proofs, Step};
use hardbop_budget::{Budget, resident_bytes};
use hardbop_cfront::ids::CheckId;
use hardbop_engine::{Answer, Claim, Desk, Ended, Event, Reason, Suggestion, Task};
use hardbop_facts::FACTS;
use hardbop_gate::{Evidence, Gate};
use hardbop_model::Model;
use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::Scope;
use std::time::{Duration, Instant};

/// What a lane tells.
enum Message {
    Started(&'static str),
    Event(&'static str, Event),
    Suggestion(Suggestion),
    Evidence(&'static str, Evidence),
    Ended(&'static str, Box<Ended>),
    Done,
}

/// At most so many suggestions are followed: each costs others the time that it takes.
const FOLLOWED: usize = 4;

/// Runs lanes of engines side by side until they end or everything is decided.
pub(crate) fn side_by_side(
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
    let engines = plan.first.len() + plan.lanes.iter().map(Vec::len).sum::<usize>();
    let crowd = match engines {
        0 | 1 => Crowd::One,
        _ => Crowd::Many,
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let mut running = 0;
        for lane in lanes {
            let (sender, budget, open) = (sender.clone(), budget.clone(), open.clone());
            let work = move || run_lane(lane, task, &open, &budget, crowd, &sender);
            // Without a thread of its own a lane is left out; the others still run.
            running += usize::from(begin(scope, work));
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
                let work = move || run_lane(&[engine], task, &open, &budget, crowd, &sender);
                started += usize::from(begin(scope, work));
            }
            started
        };
        let mut late = |found: &mut Found, listener: &mut dyn Listener| {
            found.stop(&budget);
            // What is told now is what the user sees.
            found.doubt(&plan.doubts, task);
            found.show(task);
            listener.late(found);
        };
        let others = match (&plan.proofs, running) {
            // What is decided is all that is wanted.
            (Proofs::AsFound, 2..) => Others::Left,
            _ => Others::Stopped,
        };
        let lanes = Lanes {
            receiver: &receiver,
            running,
            others,
            budget: &budget,
        };
        lanes.listen(&mut follow, &mut late, found, listener);
    });
}

/// Whether an engine has the time for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crowd {
    /// It has.
    One,
    /// Others wait for their turn.
    Many,
}

/// Terms can be deep, and solvers recurse over them; where the address space is limited
/// (`ulimit -v`), a smaller stack is better than no lane.
const STACKS: [usize; 3] = [512 << 20, 64 << 20, 16 << 20];

/// Begins some work in a thread of its own. Says whether there is one.
fn begin<'s>(scope: &'s Scope<'s, '_>, work: impl FnOnce() + Send + 's) -> bool {
    let work = Arc::new(Mutex::new(Some(work)));
    STACKS.iter().any(|&stack| {
        let work = Arc::clone(&work);
        let run = move || {
            let work = work.lock().ok().and_then(|mut work| work.take());
            if let Some(work) = work {
                work();
            }
        };
        let thread = std::thread::Builder::new().stack_size(stack);
        thread.spawn_scoped(scope, run).is_ok()
    })
}

fn run_lane(
    lane: &[Step],
    task: &Task<'_>,
    open: &[CheckId],
    budget: &Budget,
    crowd: Crowd,
    sender: &Sender<Message>,
) {
    let _done = Done(sender);
    let mut open = open.to_vec();
    for engine in lane {
        if budget.check().is_err() {
            break;
        }
        let kind = |check: &CheckId| task.model.program.checks[check.index()].kind;
        let (asked, kept): (Vec<CheckId>, Vec<CheckId>) = open
            .iter()
            .partition(|check| engine.scope().covers(kind(check)));
        if asked.is_empty() && !kept.is_empty() {
            continue;
        }
        let task = Task {
            checks: &asked,
            budget,
            ..*task
        };
        let name = engine.name();
        let mut desk = Counter {
            name,
            model: task.model,
            budget: budget.clone(),
            crowd,
            sender,
        };
        desk.tell(Message::Started(name));
        let mut ended = engine.check(&task, &mut desk);
        if budget.check().is_ok() {
            // It was not the user's limit that ended it.
            for reason in ended.open.values_mut().chain(&mut ended.incomplete) {
                if matches!(reason, Reason::Stopped(_)) {
                    *reason = Reason::Turn;
                }
            }
        }
        let mut left: BTreeSet<CheckId> = ended.open.keys().copied().collect();
        left.extend(kept);
        desk.tell(Message::Ended(name, Box::new(ended)));
        open.retain(|check| left.contains(check));
        if open.is_empty() {
            break;
        }
    }
}

/// The desk of a lane: claims go through the gate here, in the lane's own thread.
struct Counter<'a> {
    name: &'static str,
    model: &'a Model<'a>,
    budget: Budget,
    crowd: Crowd,
    sender: &'a Sender<Message>,
}

impl Counter<'_> {
    /// Whoever listened may be gone; then nothing that is told matters any more.
    fn tell(&self, message: Message) {
        let _ = self.sender.send(message);
    }
}

impl Desk for Counter<'_> {
    fn event(&mut self, event: Event) {
        self.tell(Message::Event(self.name, event));
    }

    fn submit(&mut self, claim: Claim) -> Answer {
        let budget = match claim {
            Claim::Unrolling(_) if self.crowd == Crowd::Many => match allocates(self.model) {
                true => ALLOCATING_CHECKED.of(&self.budget),
                false => UNROLLING_CHECKED.of(&self.budget),
            },
            Claim::Invariants(_) if self.crowd == Crowd::Many && self.name == FACTS => {
                FACTS_CHECKED.of(&self.budget)
            }
            _ => self.budget.clone(),
        };
        match Gate::new(self.model, budget).check(claim) {
            Ok(evidence) => {
                self.tell(Message::Evidence(self.name, evidence));
                Answer::Accepted
            }
            Err(reason) => Answer::Refused(reason),
        }
    }

    fn suggest(&mut self, suggestion: Suggestion) {
        self.tell(Message::Suggestion(suggestion));
    }
}

/// Says at the end of a lane that it is done, even if that end is a panic.
struct Done<'a>(&'a Sender<Message>);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let _ = self.0.send(Message::Done);
    }
}

/// What becomes of engines that are at work when everything is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    /// They are stopped.
    Stopped,
    /// They are left behind by whoever can leave, since a solver that is interrupted may take its
    /// time, or crash.
    Left,
}

/// Lanes that are at work.
struct Lanes<'a> {
    receiver: &'a Receiver<Message>,
    running: usize,
    others: Others,
    budget: &'a Budget,
}

impl Lanes<'_> {
    fn listen(
        mut self,
        follow: &mut dyn FnMut(&Suggestion) -> usize,
        late: &mut dyn FnMut(&mut Found, &mut dyn Listener),
        found: &mut Found,
        listener: &mut dyn Listener,
    ) {
        let mut ended: Option<Instant> = None;
        let mut settled: Option<Instant> = None;
        let patience = match self.budget.memory() {
            Some(_) => MEMORY_PATIENCE,
            None => PATIENCE,
        };
        while self.running > 0 {
            // Whoever decided the last check comes back by itself, with what it counted.
            let mut back = false;
            match self.receiver.recv_timeout(patience) {
                Ok(Message::Started(engine)) => listener.started(engine),
                Ok(Message::Event(engine, mut event)) => {
                    event.open = found.open().len();
                    listener.event(engine, event);
                }
                Ok(Message::Suggestion(suggestion)) => {
                    if found.open().contains(&suggestion.check) {
                        self.running += follow(&suggestion);
                    }
                }
                Ok(Message::Evidence(engine, evidence)) => {
                    let open = found.open();
                    found.take(engine, &evidence);
                    for check in open {
                        if let Some(outcome) = found.report.outcomes.get(&check)
                            && outcome.is_decided()
                        {
                            listener.decided(engine, check, outcome);
                        }
                    }
                }
                Ok(Message::Ended(engine, ended)) => {
                    let decided = found.decided_by(engine);
                    found.ended(engine, *ended);
                    listener.ended(engine, decided, found.open().len());
                    back = decided > 0;
                }
                Ok(Message::Done) => self.running -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if found.is_settled() && self.budget.check().is_ok() {
                let since = settled.get_or_insert_with(Instant::now);
                let waits = self.others == Others::Left && !back && since.elapsed() < GRACE;
                if !waits {
                    if self.others == Others::Left && self.running > 0 {
                        late(found, listener);
                    }
                    self.budget.cancel();
                }
            }
            if self.budget.check().is_err() {
                let since = ended.get_or_insert_with(Instant::now);
                if since.elapsed() > GRACE || is_far_over(self.budget) {
                    late(found, listener);
                }
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
