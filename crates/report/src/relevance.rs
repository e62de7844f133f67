//! Which steps of a run a violation depends on: a dynamic slice (Korel, Laski), by data and by
//! control, with the branches whose other side would have written what matters.

use crate::flow::Flow;
use crate::record::{Cell, Event, Phase, Record};
use hardbop_cfront::ids::{FuncId, LocId, VarId};
use hardbop_cfront::program::{Op, Program};
use std::collections::{BTreeMap, BTreeSet};

/// For every event, whether the end of the run depends on it.
pub fn relevant(program: &Program, record: &Record, flows: &BTreeMap<FuncId, Flow>) -> Vec<bool> {
    let started = record.activations.iter().enumerate();
    let mut slice = Slice {
        program,
        flows,
        record,
        demand: Demand::default(),
        undecided: BTreeMap::new(),
        calls: BTreeSet::new(),
        opened: started
            .map(|(index, activation)| (activation.started, index as u32))
            .collect(),
    };
    let mut marks = vec![false; record.events.len()];
    for (index, event) in record.events.iter().enumerate().rev() {
        let last = index + 1 == record.events.len();
        if slice.wants(event) || last {
            marks[index] = true;
            slice.include(event);
        }
    }
    marks
}

struct Slice<'a> {
    program: &'a Program,
    flows: &'a BTreeMap<FuncId, Flow>,
    record: &'a Record,
    /// The parts of the state whose last write is still to be found.
    demand: Demand,
    /// By call, the locations of which the branch that led there is still to be found.
    undecided: BTreeMap<u32, BTreeSet<LocId>>,
    /// The calls whose call edge is still to be found.
    calls: BTreeSet<u32>,
    /// The call that began with an event, by the event's number.
    opened: BTreeMap<u64, u32>,
}

impl Slice<'_> {
    fn wants(&mut self, event: &Event) -> bool {
        let edge = &self.program.edges[event.edge.index()];
        // Asked before the demand changes: the branch comes before what it decides.
        let mut wanted = self.would_have_written(event);
        for &cell in &event.writes {
            wanted |= self.demand.take(cell);
        }
        if event.phase == Phase::Returned {
            return wanted;
        }
        let function = self.program.locations[edge.from.index()].function;
        if let Some(open) = self.undecided.get_mut(&event.activation)
            && let Some(flow) = self.flows.get(&function)
        {
            let before = open.len();
            open.retain(|&location| !flow.deciders(location).contains(&event.edge));
            wanted |= open.len() < before;
        }
        if matches!(edge.op, Op::Call { .. })
            && let Some(callee) = self.opened.get(&(event.number + 1))
        {
            wanted |= self.calls.remove(callee);
        }
        wanted
    }

    /// Whether another way out of the same branch writes a variable that is wanted.
    fn would_have_written(&self, event: &Event) -> bool {
        let edge = &self.program.edges[event.edge.index()];
        if event.phase != Phase::Executed || !matches!(edge.op, Op::Assume { .. }) {
            return false;
        }
        let function = self.program.locations[edge.from.index()].function;
        let Some(flow) = self.flows.get(&function) else {
            return false;
        };
        self.program
            .edges_from(edge.from)
            .filter(|&(id, _)| id != event.edge)
            .flat_map(|(id, _)| flow.written_behind(id))
            .any(|variable| {
                let variable = VarId(variable);
                let register = (event.activation, variable);
                let memory = self.record.statics.get(&variable);
                self.demand.registers.contains(&register)
                    || memory.is_some_and(|&(start, size)| self.demand.touches(start, size))
            })
    }

    fn include(&mut self, event: &Event) {
        for &cell in &event.reads {
            self.demand.add(cell);
        }
        let edge = &self.program.edges[event.edge.index()];
        let function = self.program.locations[edge.from.index()].function;
        if let Some(flow) = self.flows.get(&function)
            && !flow.deciders(edge.from).is_empty()
        {
            let open = self.undecided.entry(event.activation).or_default();
            open.insert(edge.from);
        }
        if let Some(activation) = self.record.activations.get(event.activation as usize)
            && activation.parent.is_some()
        {
            self.calls.insert(event.activation);
        }
    }
}

/// A set of parts of the state.
#[derive(Default)]
struct Demand {
    registers: BTreeSet<(u32, VarId)>,
    /// Disjoint ranges of bytes, by their first one: the byte after the last.
    memory: BTreeMap<u64, u64>,
}

/// Larger ranges are wanted by their first bytes only.
const LARGEST: u64 = 1 << 20;

impl Demand {
    fn add(&mut self, cell: Cell) {
        match cell {
            Cell::Register(call, variable) => {
                self.registers.insert((call, variable));
            }
            Cell::Memory(start, size) => {
                self.cut(start, size);
                self.memory
                    .insert(start, start.saturating_add(size.min(LARGEST)));
            }
        }
    }

    /// Removes what a write covers. Says whether there was any.
    fn take(&mut self, cell: Cell) -> bool {
        match cell {
            Cell::Register(call, variable) => self.registers.remove(&(call, variable)),
            Cell::Memory(start, size) => self.cut(start, size),
        }
    }

    fn touches(&self, start: u64, size: u64) -> bool {
        let end = start.saturating_add(size.min(LARGEST));
        let before = self.memory.range(..end).next_back();
        before.is_some_and(|(_, &until)| until > start)
    }

    fn cut(&mut self, start: u64, size: u64) -> bool {
        let end = start.saturating_add(size.min(LARGEST));
        let touched: Vec<(u64, u64)> = self
            .memory
            .range(..end)
            .rev()
            .take_while(|&(_, &until)| until > start)
            .map(|(&from, &until)| (from, until))
            .collect();
        for &(from, until) in &touched {
            self.memory.remove(&from);
            if from < start {
                self.memory.insert(from, start);
            }
            if until > end {
                self.memory.insert(end, until);
            }
        }
        !touched.is_empty()
    }
}
