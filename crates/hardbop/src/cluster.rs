//! A project on a cluster: the run's directory, the schedulers, a node's work, and the driver.

pub mod drive;
mod hq;
pub mod run;
mod slurm;

use crate::failure::Failure;
use hardbop_cluster::TaskId;
use hardbop_cluster::site::{On, Request, Site};
use std::collections::BTreeSet;
use std::path::Path;

/// A scheduler that is there already.
pub enum Scheduler {
    /// HyperQueue.
    Hq(hq::HyperQueue),
    /// Slurm.
    Slurm(slurm::Slurm),
}

/// Tasks that are handed to a scheduler together.
pub struct Submission<'a> {
    /// The name of the job.
    pub name: &'a str,
    /// The command of a task; the scheduler tells it its number.
    pub command: &'a [String],
    /// How many tasks there are.
    pub tasks: usize,
    /// What each of them needs.
    pub request: &'a Request,
    /// Where they start.
    pub directory: &'a Path,
    /// Where what they complain about is written.
    pub complaints: &'a Path,
    /// How many times a task may be started.
    pub tries: u32,
}

/// The tasks of a job that are not over.
#[derive(Debug, PartialEq, Eq)]
pub enum Alive {
    /// These.
    These(BTreeSet<TaskId>),
    /// None: the scheduler does not know the job, or is done with it.
    None,
}

/// Why a scheduler could not be asked. It may be restarting.
#[derive(Clone, Debug)]
pub struct Trouble(pub String);

impl Scheduler {
    /// The scheduler of a place.
    pub fn of(on: &On, site: &Site) -> Result<Scheduler, Failure> {
        match on {
            On::Local => Err(Failure::internal("this machine is no scheduler")),
            On::Hq(server) => {
                let hq = hq::HyperQueue::new(server.as_deref(), site);
                Ok(Scheduler::Hq(hq))
            }
            On::Slurm(partition) => {
                let slurm = slurm::Slurm::new(partition.as_deref(), site);
                Ok(Scheduler::Slurm(slurm))
            }
        }
    }

    /// Whether it is there, as far as that can be seen before it is asked.
    pub fn ready(&self) -> Result<(), Failure> {
        match self {
            Scheduler::Hq(hq) => hq.ready(),
            Scheduler::Slurm(_) => Ok(()),
        }
    }

    /// Hands tasks over. Gives back by what the scheduler knows them.
    pub fn submit(&mut self, submission: &Submission<'_>) -> Result<String, Trouble> {
        match self {
            Scheduler::Hq(hq) => hq.submit(submission),
            Scheduler::Slurm(slurm) => slurm.submit(submission),
        }
    }

    /// Which of so many tasks of a job are not over.
    pub fn alive(&mut self, job: &str, tasks: usize) -> Result<Alive, Trouble> {
        match self {
            Scheduler::Hq(hq) => hq.alive(job, tasks),
            Scheduler::Slurm(slurm) => slurm.alive(job),
        }
    }

    /// Cancels a job. Tasks look for themselves whether they are wanted, so this need not succeed.
    pub fn cancel(&mut self, job: &str) {
        match self {
            Scheduler::Hq(hq) => hq.cancel(job),
            Scheduler::Slurm(slurm) => slurm.cancel(job),
        }
    }

    /// How many tasks of a wave it takes.
    pub fn most_tasks(&self) -> usize {
        match self {
            Scheduler::Hq(_) => 100_000,
            // The usual `MaxArraySize` is 1001.
            Scheduler::Slurm(_) => 1000,
        }
    }

    /// The environment variable in which a task finds its number.
    pub const NUMBERS: [&'static str; 2] = ["SLURM_ARRAY_TASK_ID", "HQ_TASK_ID"];
}

/// Words for a shell.
fn quoted(words: &[String]) -> String {
    let quote = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}
