//! The ledger of a run: what is answered, what is out, what is to be run again.
//!
//! It is made anew from the waves and the journals by whoever drives the run, so that nothing is
//! lost if the driver is. An item has one answer, the first that came whole; what was begun and not
//! finished when its task was over is handed out again, so many times, and then given up with the
//! reason.

use crate::journal::{Answered, Brief, Known, Line, Piece};
use crate::lanes::join;
use crate::{ItemId, TaskId, WaveId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How the ledger decides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// How many times an item is begun, or a task of it lost, before it is given up.
    pub tries: u32,
    /// The engines that an item is given to, each as a task, if it ran out of time.
    pub lanes: Vec<String>,
    /// Who took so many seconds ran out of time.
    pub long: Option<f64>,
}

/// A piece that is handed out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// What is to be done.
    pub piece: Piece,
    /// How many times it was begun before, and never finished.
    pub begun: u32,
}

/// What happened beside the work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tasks that ended without all of their answers.
    pub lost_tasks: u32,
    /// Pieces that were handed out again.
    pub again: u32,
    /// Pieces that were given up.
    pub given_up: u32,
    /// Nodes that refused the work, by the reason.
    pub refused: BTreeMap<String, u32>,
    /// Items that were given to several engines.
    pub split: u32,
    /// Answers that could not be kept in the store, by the reason.
    pub unkept: BTreeMap<String, u32>,
}

/// The answer of an item.
#[derive(Clone, Debug, PartialEq)]
pub struct Final {
    /// The answer.
    pub brief: Brief,
    /// How long it took, on all nodes together.
    pub seconds: f64,
    /// How it is known.
    pub known: Known,
    /// The engines whose answers are in it, where it was split.
    pub lanes: Vec<String>,
}

/// Where a piece is.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    /// To be handed out.
    Here,
    /// In a task.
    Out(WaveId, TaskId),
    /// Answered.
    Back,
    /// Given up, and why.
    Lost(String),
}

#[derive(Clone, Debug)]
struct State {
    place: Place,
    /// Begun, by a process that did not finish it (yet).
    begun: BTreeSet<String>,
    /// Begun and lost, as far as tasks are over.
    begun_lost: u32,
    /// In tasks that were lost before it was begun.
    missed: u32,
}

impl State {
    fn new() -> State {
        State {
            place: Place::Here,
            begun: BTreeSet::new(),
            begun_lost: 0,
            missed: 0,
        }
    }
}

/// The ledger.
#[derive(Clone, Debug)]
pub struct Ledger {
    policy: Policy,
    items: usize,
    pieces: BTreeMap<Piece, State>,
    finals: BTreeMap<ItemId, Final>,
    /// What is known of items that are split.
    open: BTreeMap<ItemId, Final>,
    nodes: BTreeMap<String, String>,
    tasks: BTreeMap<(WaveId, TaskId), TaskState>,
    tally: Tally,
}

#[derive(Clone, Debug, Default)]
struct TaskState {
    over: bool,
    closed: bool,
    pieces: Vec<Piece>,
    refusals: BTreeSet<String>,
    last: Option<String>,
}

impl Ledger {
    /// The ledger of so many items; of those that are known already nothing is to be done.
    pub fn new(items: usize, policy: Policy) -> Ledger {
        let numbers = 0..u32::try_from(items).unwrap_or(u32::MAX);
        let whole = numbers.map(|item| Piece {
            item: ItemId(item),
            lane: None,
        });
        Ledger {
            policy,
            items,
            pieces: whole.map(|piece| (piece, State::new())).collect(),
            finals: BTreeMap::new(),
            open: BTreeMap::new(),
            nodes: BTreeMap::new(),
            tasks: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    /// Notes an answer that needs no task.
    pub fn known(&mut self, item: ItemId, answer: Final) {
        self.finals.entry(item).or_insert(answer);
        let piece = Piece { item, lane: None };
        if let Some(state) = self.pieces.get_mut(&piece) {
            state.place = Place::Back;
        }
    }

    /// Notes what was handed out.
    pub fn wave(&mut self, wave: WaveId, tasks: &[Vec<Work>]) {
        for (task, works) in (0..).map(TaskId).zip(tasks) {
            let mut pieces = Vec::new();
            for Work { piece, begun } in works {
                pieces.push(piece.clone());
                let state = self.pieces.entry(piece.clone()).or_insert_with(State::new);
                if matches!(state.place, Place::Here | Place::Out(..)) {
                    state.place = Place::Out(wave, task);
                }
                state.begun_lost = state.begun_lost.max(*begun);
            }
            let state = self.tasks.entry((wave, task)).or_default();
            state.pieces = pieces;
        }
    }

    /// Notes a line of the journal of a process.
    pub fn line(&mut self, wave: WaveId, task: TaskId, process: &str, line: &Line) {
        match line {
            Line::Opened { node } => {
                self.nodes.insert(process.to_owned(), node.clone());
                if let Some(state) = self.tasks.get_mut(&(wave, task)) {
                    state.last = Some(process.to_owned());
                }
            }
            Line::Refused { reason } => {
                if let Some(state) = self.tasks.get_mut(&(wave, task))
                    && state.refusals.insert(process.to_owned())
                {
                    *self.tally.refused.entry(reason.clone()).or_default() += 1;
                }
            }
            Line::Began(piece) => {
                if let Some(state) = self.pieces.get_mut(piece) {
                    state.begun.insert(process.to_owned());
                }
            }
            Line::Answered(answered) => self.answered(answered),
            Line::GaveUp { piece, reason } => self.give_up(piece, reason.clone()),
            Line::Closed => {
                if let Some(state) = self.tasks.get_mut(&(wave, task)) {
                    state.closed = true;
                }
            }
        }
    }

    fn answered(&mut self, answered: &Answered) {
        let piece = &answered.piece;
        let Some(state) = self.pieces.get_mut(piece) else {
            return;
        };
        if state.place == Place::Back {
            // Two nodes had it: one answer counts.
            return;
        }
        if matches!(state.place, Place::Lost(_)) {
            self.tally.given_up = self.tally.given_up.saturating_sub(1);
        }
        state.place = Place::Back;
        if let Some(reason) = &answered.unkept {
            *self.tally.unkept.entry(reason.clone()).or_default() += 1;
        }
        let item = piece.item;
        // What a node found in the store was put there since the run began, by this run or another.
        let (known, seconds) = match answered.known {
            Known::Stored => (Known::Found, 0.0),
            known => (known, answered.seconds),
        };
        let fresh = Final {
            brief: answered.brief.clone(),
            seconds,
            known,
            lanes: piece.lane.iter().cloned().collect(),
        };
        match (&piece.lane, self.open.remove(&item)) {
            (None, _) if self.is_hard(answered) => {
                self.tally.split += 1;
                for lane in &self.policy.lanes {
                    let lane = Some(lane.clone());
                    let state = State::new();
                    self.pieces.entry(Piece { item, lane }).or_insert(state);
                }
                self.open.insert(item, fresh);
            }
            (Some(lane), Some(mut known)) => {
                let joined = join(&known.brief, &fresh.brief);
                if joined != known.brief {
                    known.lanes.push(lane.clone());
                }
                known.brief = joined;
                known.seconds += fresh.seconds;
                self.open.insert(item, known);
            }
            // The item was answered before this lane of it was: nothing is counted twice.
            (Some(_), None) => {}
            (None, _) => {
                self.finals.insert(item, fresh);
            }
        }
        self.settle(item);
    }

    /// Whether an item goes to several engines now.
    fn is_hard(&self, answered: &Answered) -> bool {
        let long = self
            .policy
            .long
            .is_some_and(|long| answered.seconds >= long);
        let brief = &answered.brief;
        let unknown = brief.exit_code == crate::journal::UNKNOWN && brief.error.is_none();
        long && unknown && !self.policy.lanes.is_empty()
    }

    /// Ends the splitting of an item if it is decided, or if nobody is left who might.
    fn settle(&mut self, item: ItemId) {
        let Some(known) = self.open.get(&item) else {
            return;
        };
        let out = self
            .lanes_of(item)
            .any(|(_, state)| matches!(state.place, Place::Here | Place::Out(..)));
        if (known.brief.is_decided() || !out)
            && let Some(known) = self.open.remove(&item)
        {
            self.finals.insert(item, known);
        }
    }

    fn lanes_of(&self, item: ItemId) -> impl Iterator<Item = (&Piece, &State)> {
        let begin = Piece { item, lane: None };
        let mine = self.pieces.range(begin..);
        mine.take_while(move |(piece, _)| piece.item == item)
            .filter(|(piece, _)| piece.lane.is_some())
    }

    fn give_up(&mut self, piece: &Piece, reason: String) {
        let Some(state) = self.pieces.get_mut(piece) else {
            return;
        };
        if matches!(state.place, Place::Back | Place::Lost(_)) {
            return;
        }
        state.place = Place::Lost(reason.clone());
        self.tally.given_up += 1;
        if piece.lane.is_none() {
            let given_up = Final {
                brief: Brief::unknown(reason),
                seconds: 0.0,
                known: Known::Found,
                lanes: Vec::new(),
            };
            self.finals.insert(piece.item, given_up);
        } else {
            self.settle(piece.item);
        }
    }

    /// Notes that a task is over, however it ended. All of its journals have been read.
    pub fn over(&mut self, wave: WaveId, task: TaskId) {
        let Some(state) = self.tasks.get_mut(&(wave, task)) else {
            return;
        };
        if std::mem::replace(&mut state.over, true) {
            return;
        }
        let refused = !state.refusals.is_empty();
        let (closed, last) = (state.closed, state.last.clone());
        let pieces = state.pieces.clone();
        let node = last.and_then(|process| self.nodes.get(&process).cloned());
        let mut lost = false;
        for piece in pieces {
            let Some(state) = self.pieces.get_mut(&piece) else {
                continue;
            };
            if state.place != Place::Out(wave, task) {
                continue;
            }
            state.place = Place::Here;
            self.tally.again += 1;
            let begun = std::mem::take(&mut state.begun).len();
            if begun > 0 {
                lost = true;
                state.begun_lost += u32::try_from(begun).unwrap_or(u32::MAX);
            } else if !closed {
                lost = true;
                state.missed += 1;
            }
            let tries = self.policy.tries;
            let reason = if state.begun_lost >= tries {
                let on = node.as_ref().map(|node| format!(", last on {node}"));
                let on = on.unwrap_or_default();
                Some(format!(
                    "it was begun {} times and the node was lost each time{on}",
                    state.begun_lost
                ))
            } else if state.missed >= tries {
                let why = match self.tally.refused.keys().next_back() {
                    Some(reason) if refused => reason.clone(),
                    _ => "the task ended before it was begun".to_owned(),
                };
                Some(format!("{} tasks of it were lost: {why}", state.missed))
            } else {
                None
            };
            if let Some(reason) = reason {
                self.tally.again -= 1;
                self.give_up(&piece, reason);
            }
        }
        if lost {
            self.tally.lost_tasks += 1;
        }
    }

    /// What is to be handed out now. Lanes of items that are answered are not.
    pub fn here(&self) -> Vec<Work> {
        let here = self.pieces.iter().filter(|(piece, state)| {
            state.place == Place::Here && !self.finals.contains_key(&piece.item)
        });
        here.map(|(piece, state)| Work {
            piece: piece.clone(),
            begun: state.begun_lost,
        })
        .collect()
    }

    /// The tasks that are out with something in them that is not answered.
    pub fn out(&self) -> BTreeSet<(WaveId, TaskId)> {
        let open = self
            .pieces
            .iter()
            .filter(|(piece, _)| !self.finals.contains_key(&piece.item));
        open.filter_map(|(_, state)| match state.place {
            Place::Out(wave, task) => Some((wave, task)),
            _ => None,
        })
        .collect()
    }

    /// Items of which lanes are out that nobody needs any more.
    pub fn settled_lanes(&self) -> BTreeSet<ItemId> {
        let out = self.pieces.iter().filter(|(piece, state)| {
            piece.lane.is_some()
                && matches!(state.place, Place::Out(..))
                && self.finals.contains_key(&piece.item)
        });
        out.map(|(piece, _)| piece.item).collect()
    }

    /// How many items have their answer.
    pub fn done(&self) -> usize {
        self.finals.len()
    }

    /// Whether every item has its answer.
    pub fn is_complete(&self) -> bool {
        self.finals.len() >= self.items
    }

    /// The answers that there are.
    pub fn answers(&self) -> &BTreeMap<ItemId, Final> {
        &self.finals
    }

    /// What happened beside the work.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The machines that took a task.
    pub fn nodes(&self) -> BTreeSet<&str> {
        self.nodes.values().map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests;
