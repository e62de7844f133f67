//! `hardbop work`: does a task of a run on a node, and then, as long as there is time, others of
//! its wave that nobody has begun. People do not call it; schedulers do.

use crate::cli::WorkArgs;
use crate::cluster::Scheduler;
use crate::cluster::run::{Directory, Journal, Journals, Run, Wave};
use crate::failure::{Failure, Verdict};
use crate::item::{Bench, Done};
use crate::store::Store;
use crate::tool::Tool;
use hardbop_cluster::journal::{Answered, Line, Piece};
use hardbop_cluster::ledger::Work;
use hardbop_cluster::{TaskId, WaveId};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often it is looked whether anybody still wants the answer.
const LOOKED: Duration = Duration::from_millis(500);

/// Does a task.
pub fn run(arguments: &WorkArgs) -> Result<Verdict, Failure> {
    let started = Instant::now();
    let directory = Directory::at(&arguments.run);
    let lost = |error: std::io::Error| {
        Failure::message(format!("the run `{}`: {error}", arguments.run.display()))
    };
    let (id, task) = (WaveId(arguments.wave), TaskId(number(arguments)?));
    let run = directory.run().map_err(lost)?;
    let wave = directory.wave(id).map_err(lost)?;
    if wave.tasks.get(task.index()).is_none() {
        return Err(Failure::message(format!("there is no task {}", task.0)));
    }
    if directory.is_over() {
        return Ok(Verdict::Fine);
    }
    let node = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let tool = Tool::this(&directory.tool_of(&node))?;
    if tool.identity != run.tool {
        let reason = format!(
            "{node} has another build of hardbop (`{}`, {}) than the one that began the run ({})",
            tool.program.display(),
            &tool.identity[..12],
            &run.tool[..12.min(run.tool.len())],
        );
        let refused = Line::Refused {
            reason: reason.clone(),
        };
        let mut journal = directory.journal(id, task, &node).map_err(lost)?;
        journal
            .write(&[Line::Opened { node }, refused])
            .map_err(lost)?;
        return Err(Failure::message(reason));
    }
    let store = Store::open(&run.store, &run.directory)?;
    let node = Node {
        directory: &directory,
        run: &run,
        tool: &tool,
        store: &store,
        name: node,
        started,
    };
    let mut done = 0;
    for next in std::iter::once(task).chain((0..).map(TaskId).take(wave.tasks.len())) {
        // Its own task comes first, whatever it takes. So do those that a process before this one
        // took over, and was lost.
        let ours = next == task || directory.claimant(id, next) == Some(task);
        if !ours && (directory.is_over() || !node.has_time(&wave, next)) {
            continue;
        }
        let owner = directory.claim(id, next, task).map_err(lost)?;
        if owner != task || (next == task && done > 0) {
            continue;
        }
        match node.task(id, next, &wave, &mut done).map_err(lost)? {
            After::Next => {}
            After::Over => return Ok(Verdict::Fine),
            After::Interrupted => {
                return Err(Failure::message("somebody stopped the work on this node"));
            }
        }
    }
    Ok(Verdict::Fine)
}

/// The number of the task: as given, or as the scheduler says.
fn number(arguments: &WorkArgs) -> Result<u32, Failure> {
    let told = || {
        let variables = Scheduler::NUMBERS.iter();
        let mut values = variables.filter_map(|name| std::env::var(name).ok());
        values.find_map(|value| value.parse().ok())
    };
    arguments
        .task
        .or_else(told)
        .ok_or_else(|| Failure::message("no scheduler says which task this is: give --task"))
}

/// What processes did that had the same task before, and were lost.
#[derive(Default)]
struct Before {
    answered: BTreeSet<Piece>,
    begun: BTreeMap<Piece, u32>,
    /// What was left of it was given back.
    closed: bool,
}

impl Before {
    fn read(directory: &Directory, wave: WaveId, task: TaskId) -> std::io::Result<Before> {
        let mut before = Before::default();
        for news in Journals::default().news_of(directory, wave, task)? {
            match news.line {
                Line::Began(piece) => *before.begun.entry(piece).or_default() += 1,
                Line::Answered(answered) => {
                    before.answered.insert(answered.piece);
                }
                Line::GaveUp { piece, .. } => {
                    before.answered.insert(piece);
                }
                Line::Closed => before.closed = true,
                _ => {}
            }
        }
        Ok(before)
    }
}

/// What comes after an item.
enum After {
    /// The next one.
    Next,
    /// Nothing: the run is over.
    Over,
    /// Nothing: somebody stopped the node.
    Interrupted,
}

struct Node<'a> {
    directory: &'a Directory,
    run: &'a Run,
    tool: &'a Tool,
    store: &'a Store,
    name: String,
    started: Instant,
}

impl Node<'_> {
    /// Whether there is time for a task beside its own.
    fn has_time(&self, wave: &Wave, task: TaskId) -> bool {
        let expected = wave.expected.get(task.index()).copied().unwrap_or(0.0);
        let until = wave.request.begin_until;
        until.is_none_or(|until| self.started.elapsed().as_secs_f64() + expected <= until)
    }

    /// Does a task that is this process's.
    fn task(
        &self,
        id: WaveId,
        task: TaskId,
        wave: &Wave,
        done: &mut usize,
    ) -> std::io::Result<After> {
        let works = wave.tasks.get(task.index()).map_or(&[][..], Vec::as_slice);
        let before = Before::read(self.directory, id, task)?;
        if before.closed {
            return Ok(After::Next);
        }
        let mut journal = self.directory.journal(id, task, &self.name)?;
        let node = self.name.clone();
        journal.write(&[Line::Opened { node }])?;
        for work in works {
            if before.answered.contains(&work.piece) || self.directory.is_released(work.piece.item)
            {
                continue;
            }
            let until = wave.request.begin_until;
            let late = until.is_some_and(|until| self.started.elapsed().as_secs_f64() > until);
            if late && *done > 0 {
                // What is left might be killed before it says that its time is over.
                break;
            }
            *done += 1;
            let begun = work.begun + before.begun.get(&work.piece).copied().unwrap_or(0);
            match self.work(work, begun, &mut journal)? {
                After::Next => {}
                after => return Ok(after),
            }
        }
        journal.write(&[Line::Closed])?;
        Ok(After::Next)
    }

    fn work(&self, work: &Work, begun: u32, journal: &mut Journal) -> std::io::Result<After> {
        let piece = work.piece.clone();
        let item = piece.item;
        if begun >= self.run.policy.tries {
            let reason = format!("it was begun {begun} times and the node was lost each time");
            journal.write(&[Line::GaveUp { piece, reason }])?;
            return Ok(After::Next);
        }
        let Some(asked) = self.run.items.get(item.index()) else {
            return Ok(After::Next);
        };
        let asked = match &piece.lane {
            Some(engine) => asked.by_engine(engine),
            None => asked.clone(),
        };
        journal.write(&[Line::Began(piece.clone())])?;
        let looked = Mutex::new((Instant::now(), false));
        let unwanted = || {
            let Ok(mut looked) = looked.lock() else {
                return false;
            };
            if looked.0.elapsed() >= LOOKED {
                let unwanted = self.is_over() || self.directory.is_released(item);
                *looked = (Instant::now(), unwanted);
            }
            looked.1
        };
        let bench = Bench {
            directory: &self.run.directory,
            tool: self.tool,
            store: self.store,
            trust: self.run.trust,
            unwanted: &unwanted,
        };
        let Done {
            brief,
            known,
            seconds,
            unkept,
        } = bench.check(&asked);
        match brief {
            Some(brief) => {
                let answered = Answered {
                    piece,
                    brief,
                    seconds,
                    known,
                    unkept,
                };
                journal.write(&[Line::Answered(Box::new(answered))])?;
                Ok(After::Next)
            }
            None if self.is_over() => Ok(After::Over),
            None if self.directory.is_released(item) => Ok(After::Next),
            None => Ok(After::Interrupted),
        }
    }

    /// Whether nobody wants the run any more. A file system that does not answer is no such sign.
    fn is_over(&self) -> bool {
        let there = std::fs::metadata(self.directory.path());
        let gone = there.is_err_and(|error| error.kind() == ErrorKind::NotFound);
        gone || self.directory.is_over()
    }
}
