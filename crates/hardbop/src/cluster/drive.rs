//! Drives a run: hands work out, reads what comes back, hands out again what was lost.
//!
//! Everything that is known of a run is in its directory, so whoever comes may drive it: the one
//! who holds the lock does, the others look on, and one of them takes over when it is gone.

use super::run::{Directory, Journals, Run, Wave};
use super::{Alive, Scheduler, Submission, Trouble};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use hardbop_budget::Budget;
use hardbop_cluster::costs::Costs;
use hardbop_cluster::journal::{Answered, Known, Line};
use hardbop_cluster::ledger::{Final, Ledger, Work};
use hardbop_cluster::packing::{Packing, pack};
use hardbop_cluster::site::{ItemLimits, Site};
use hardbop_cluster::{ItemId, TaskId, WaveId};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::time::{Duration, Instant};

/// How often the scheduler is asked which tasks are over.
const ASKED: Duration = Duration::from_secs(2);
/// How long after the end of a task its journal may still come to be seen.
const LATE: Duration = Duration::from_secs(2);
/// How far apart waves are handed out.
const APART: Duration = Duration::from_secs(2);
/// How often journals are looked at: at most, and at least.
const LOOKED: (Duration, Duration) = (Duration::from_millis(40), Duration::from_millis(250));
/// How many workers there are thought to be where nobody says so.
const WORKERS: usize = 16;
/// What a task of several items may be worth at most, in seconds.
const MOST: f64 = 600.0;

/// How a run was watched to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every item has its answer.
    Complete,
    /// Somebody wants to know more: a person pressed Ctrl-C, or time is over.
    Interrupted,
    /// Somebody else cancelled it.
    Cancelled,
}

/// What a watch takes.
pub struct Drive<'a> {
    directory: &'a Directory,
    run: &'a Run,
    scheduler: Scheduler,
    ledger: Ledger,
    journals: Journals,
    costs: Costs,
    waves: BTreeMap<WaveId, Wave>,
    /// Waves that the scheduler does not have yet.
    kept_back: BTreeSet<WaveId>,
    gone: BTreeMap<(WaveId, TaskId), Instant>,
    released: BTreeSet<ItemId>,
    wheel: Option<File>,
    asked: Option<Instant>,
    handed_out: Option<Instant>,
    trouble: Option<(Instant, Trouble)>,
}

/// Whether a run begins now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It does: if the scheduler will not have it, that is told at once.
    Fresh,
    /// It was there before: a scheduler that is not there may come back.
    Joined,
}

impl<'a> Drive<'a> {
    /// Looks at a run, and drives it if nobody else does.
    pub fn new(directory: &'a Directory, run: &'a Run, costs: Costs) -> Result<Drive<'a>, Failure> {
        Ok(Drive {
            scheduler: Scheduler::of(&run.on, &run.site)?,
            ledger: Ledger::new(run.items.len(), run.policy.clone()),
            journals: Journals::default(),
            waves: BTreeMap::new(),
            kept_back: BTreeSet::new(),
            gone: BTreeMap::new(),
            released: BTreeSet::new(),
            wheel: None,
            asked: None,
            handed_out: None,
            trouble: None,
            directory,
            run,
            costs,
        })
    }

    /// What is known.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How many lines of journals were damaged.
    pub fn damaged(&self) -> usize {
        self.journals.damaged()
    }

    /// Watches until every item has its answer, or somebody does not want to watch any more.
    pub fn watch(
        &mut self,
        start: Start,
        budget: &Budget,
        console: &Console,
    ) -> Result<End, Failure> {
        let progress = Progress::new(console);
        let mut pause = LOOKED.0;
        loop {
            let news = self.look()?;
            self.drive(start)?;
            progress.say(self.state());
            if self.ledger.is_complete() {
                self.conclude();
                return Ok(End::Complete);
            }
            if self.directory.is_cancelled() {
                return Ok(End::Cancelled);
            }
            if budget.check().is_err() {
                return Ok(End::Interrupted);
            }
            pause = match news {
                true => LOOKED.0,
                false => (pause * 2).min(LOOKED.1),
            };
            std::thread::sleep(pause);
        }
    }

    /// Cancels the run: tasks see it, and the scheduler is told.
    pub fn cancel(&mut self) -> Result<(), Failure> {
        cancel(self.directory, &mut self.scheduler)
    }

    /// What is going on, in a line.
    fn state(&self) -> String {
        let answers = self.ledger.answers();
        let violated = answers.values().filter(|one| one.brief.exit_code == 1);
        let (done, all) = (self.ledger.done(), self.run.items.len());
        let (out, nodes) = (self.ledger.out().len(), self.ledger.nodes().len());
        let violated = violated.count();
        let on = &self.run.on;
        let mut state = format!(
            "{done} of {all} checked, {violated} violated; {out} tasks on {on}, {nodes} nodes so far"
        );
        if let Some((since, Trouble(trouble))) = &self.trouble {
            let seconds = since.elapsed().as_secs();
            state.push_str(&format!("; for {seconds} s: {trouble}"));
        }
        state
    }

    /// Reads what is new. Whether anything was.
    fn look(&mut self) -> Result<bool, Failure> {
        let mut any = false;
        // Waves first: journals speak of their tasks.
        while let Ok(wave) = self.directory.wave(self.next_wave()) {
            let id = self.next_wave();
            self.ledger.wave(id, &wave.tasks);
            self.kept_back.insert(id);
            self.waves.insert(id, wave);
            any = true;
        }
        // A file system that is not there may come back.
        let Ok(news) = self.journals.news(self.directory) else {
            if std::fs::metadata(self.directory.path())
                .is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
            {
                let path = self.directory.path().display();
                return Err(Failure::message(format!(
                    "the run's directory `{path}` is gone"
                )));
            }
            return Ok(any);
        };
        for one in news {
            any = true;
            match one.task {
                Some((wave, task)) => {
                    self.ledger.line(wave, task, &one.process, &one.line);
                    if one.line == Line::Closed {
                        self.ledger.over(wave, task);
                    }
                }
                None => {
                    if let Line::Answered(answered) = one.line {
                        self.ledger.known(answered.piece.item, known(*answered));
                    }
                }
            }
        }
        Ok(any)
    }

    fn next_wave(&self) -> WaveId {
        let last = self.waves.last_key_value();
        WaveId(last.map_or(0, |(wave, _)| wave.0 + 1))
    }

    /// Does what a driver does, if this is the one.
    fn drive(&mut self, start: Start) -> Result<(), Failure> {
        if self.wheel.is_none() {
            // Whoever had it may have handed something out since we looked: look again first.
            self.wheel = self.directory.wheel();
            return Ok(());
        }
        for item in self.ledger.settled_lanes() {
            if self.released.insert(item) {
                // A node that does not see it works in vain, and no more.
                let _ = self.directory.release(item);
            }
        }
        let due = |last: Option<Instant>, after| last.is_none_or(|at| at.elapsed() >= after);
        if due(self.handed_out, APART) && self.hand_out()? {
            self.handed_out = Some(Instant::now());
        }
        self.submit(start)?;
        if due(self.asked, ASKED) {
            self.asked = Some(Instant::now());
            self.ask();
        }
        Ok(())
    }

    /// Makes a wave of what is to be done. Whether there was anything.
    fn hand_out(&mut self) -> Result<bool, Failure> {
        let works = self.ledger.here();
        if works.is_empty() {
            return Ok(false);
        }
        let titles = self.run.items.iter().map(|item| item.title.as_str());
        let estimates = self.costs.estimate(titles);
        let (whole, lanes): (Vec<Work>, Vec<Work>) = works
            .into_iter()
            .partition(|work| work.piece.lane.is_none());
        let cost = |work: &Work| {
            estimates
                .get(work.piece.item.index())
                .copied()
                .unwrap_or(1.0)
        };
        // Those that took a node with them are alone.
        let (suspect, fresh): (Vec<Work>, Vec<Work>) =
            whole.into_iter().partition(|work| work.begun > 0);
        let items: Vec<(ItemId, f64)> = fresh
            .iter()
            .map(|work| (work.piece.item, cost(work)))
            .collect();
        let by_item: BTreeMap<ItemId, Work> = fresh
            .iter()
            .map(|work| (work.piece.item, work.clone()))
            .collect();
        let site = &self.run.site;
        let packing = Packing {
            workers: workers(site),
            least: site.pack.unwrap_or_else(|| self.run.on.worth()),
            most: MOST,
        };
        let mut tasks: Vec<(Vec<Work>, f64)> = pack(&items, &packing)
            .into_iter()
            .map(|pack| {
                let works = pack
                    .items
                    .iter()
                    .filter_map(|item| by_item.get(item).cloned());
                (works.collect(), pack.seconds)
            })
            .collect();
        let limit = self.run.time_limit.unwrap_or(0.0);
        tasks.extend(lanes.into_iter().map(|work| (vec![work], limit)));
        tasks.extend(
            suspect
                .into_iter()
                .map(|work| (vec![work.clone()], cost(&work))),
        );
        let limits = ItemLimits {
            seconds: self.run.time_limit,
            mib: self.run.memory_limit,
        };
        // A process that is done with its task goes on with others: it is given the time for as
        // much as all of them have to do.
        let share = tasks.iter().map(|(_, seconds)| seconds).sum::<f64>() / packing.workers as f64;
        for chunk in tasks.chunks(self.scheduler.most_tasks()) {
            let expected: Vec<f64> = chunk.iter().map(|(_, seconds)| *seconds).collect();
            let longest = expected.iter().copied().fold(share.min(MOST), f64::max);
            let wave = Wave {
                tasks: chunk.iter().map(|(works, _)| works.clone()).collect(),
                expected,
                request: site.request(limits, longest),
            };
            let id = self.next_wave();
            self.directory.add_wave(id, &wave).map_err(|error| {
                let path = self.directory.path().display();
                Failure::message(format!(
                    "cannot write to the run's directory `{path}`: {error}"
                ))
            })?;
            self.ledger.wave(id, &wave.tasks);
            self.kept_back.insert(id);
            self.waves.insert(id, wave);
        }
        Ok(true)
    }

    /// Gives the scheduler the waves that it does not have.
    fn submit(&mut self, start: Start) -> Result<(), Failure> {
        let waiting: Vec<WaveId> = self.kept_back.iter().copied().collect();
        for id in waiting {
            if self.directory.job(id).is_some() {
                self.kept_back.remove(&id);
                continue;
            }
            if self.trouble.is_some() && self.asked.is_some_and(|at| at.elapsed() < ASKED) {
                return Ok(());
            }
            let Some(wave) = self.waves.get(&id) else {
                continue;
            };
            let command = [
                self.run.program.display().to_string(),
                "work".to_owned(),
                "--run".to_owned(),
                self.directory.path().display().to_string(),
                "--wave".to_owned(),
                id.0.to_string(),
            ];
            let submitted = self.scheduler.submit(&Submission {
                name: &format!("hardbop-{}-{}", self.run.started, id.0),
                command: &command,
                tasks: wave.tasks.len(),
                request: &wave.request,
                directory: &self.run.directory,
                complaints: &self.directory.complaints(),
                tries: self.run.policy.tries,
            });
            match submitted {
                Ok(job) => {
                    self.trouble = None;
                    self.kept_back.remove(&id);
                    // If it cannot be noted, the wave is handed over once more some day, and
                    // whatever is answered twice counts once.
                    let _ = self.directory.set_job(id, &job);
                }
                Err(Trouble(trouble)) if start == Start::Fresh && id == WaveId(0) => {
                    self.directory.discard();
                    let on = &self.run.on;
                    return Err(Failure::message(format!("--on {on}: {trouble}")));
                }
                Err(trouble) => {
                    self.trouble.get_or_insert((Instant::now(), trouble));
                    self.asked = Some(Instant::now());
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Asks which tasks are over, and tells the ledger, once their journals can have come.
    fn ask(&mut self) {
        let out = self.ledger.out();
        let waves: BTreeSet<WaveId> = out.iter().map(|(wave, _)| *wave).collect();
        for id in waves {
            let (Some(job), Some(wave)) = (self.directory.job(id), self.waves.get(&id)) else {
                continue;
            };
            let alive = match self.scheduler.alive(&job, wave.tasks.len()) {
                Ok(alive) => alive,
                Err(trouble) => {
                    self.trouble.get_or_insert((Instant::now(), trouble));
                    return;
                }
            };
            self.trouble = None;
            for &(wave, task) in out.iter().filter(|(wave, _)| *wave == id) {
                // It lives as long as whoever took it over does.
                let lives = match &alive {
                    Alive::None => false,
                    Alive::These(tasks) if tasks.contains(&task) => true,
                    Alive::These(tasks) => self
                        .directory
                        .claimant(wave, task)
                        .is_some_and(|by| tasks.contains(&by)),
                };
                if lives {
                    self.gone.remove(&(wave, task));
                    continue;
                }
                let since = self.gone.entry((wave, task)).or_insert_with(Instant::now);
                if since.elapsed() >= LATE {
                    self.ledger.over(wave, task);
                }
            }
        }
    }

    /// Ends a run whose items are all answered.
    fn conclude(&mut self) {
        if self.wheel.is_none() {
            return;
        }
        for item in self.ledger.settled_lanes() {
            if self.released.insert(item) {
                let _ = self.directory.release(item);
            }
        }
        // Whoever does not see it finds every item answered.
        let _ = self.directory.finish();
        // Tasks that others did are still in the queue.
        for &id in self.waves.keys() {
            if let Some(job) = self.directory.job(id) {
                self.scheduler.cancel(&job);
            }
        }
    }
}

/// How many tasks may run at a time.
fn workers(site: &Site) -> usize {
    site.workers.unwrap_or(WORKERS)
}

/// Cancels a run.
pub fn cancel(directory: &Directory, scheduler: &mut Scheduler) -> Result<(), Failure> {
    directory.cancel().map_err(|error| {
        let path = directory.path().display();
        Failure::message(format!(
            "cannot write to the run's directory `{path}`: {error}"
        ))
    })?;
    for wave in (0..).map(WaveId) {
        if directory.wave(wave).is_err() {
            return Ok(());
        }
        if let Some(job) = directory.job(wave) {
            scheduler.cancel(&job);
        }
    }
    Ok(())
}

/// An answer that was known before.
fn known(answered: Answered) -> Final {
    Final {
        brief: answered.brief,
        seconds: answered.seconds,
        known: Known::Stored,
        lanes: Vec::new(),
    }
}
