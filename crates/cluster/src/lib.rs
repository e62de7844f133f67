//! Work that is done by many machines, as far as it can be thought through on one.
//!
//! In comes what is to be checked (items by number, with what they may cost) and what came back
//! from nodes (lines of journals); out come tasks for a scheduler, the resources to ask for, what
//! is to be done again, and the answer of every item. Nothing here touches a file, a clock or a
//! network: `hardbop` does, and the same code plans a real run and simulates one.
//!
//! | module | in | out |
//! | --- | --- | --- |
//! | [`costs`] | what earlier runs took | what each item may take |
//! | [`packing`] | costs, the number of workers | tasks, heaviest first, small items together |
//! | [`site`] | limits of the tool | limits for the scheduler, with margins |
//! | [`journal`] | what a node did | lines that are whole or nothing |
//! | [`ledger`] | lines, tasks that are over | answers, each once, and what is to be run again |
//! | [`lanes`] | answers of several engines on one item | one answer, or a contradiction |
//! | [`store`] | what an answer depends on | keys and sealed entries |
//! | [`simulate`] | costs, latencies, workers | wall time and efficiency |

pub mod costs;
pub mod journal;
pub mod lanes;
pub mod ledger;
pub mod packing;
pub mod seal;
pub mod simulate;
pub mod site;
pub mod store;

use serde::{Deserialize, Serialize};

/// A thing to check, by its number in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ItemId(pub u32);

/// Tasks that were handed to the scheduler together, by their number in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WaveId(pub u32);

/// A task, by its number in its wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub u32);

impl ItemId {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl TaskId {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
