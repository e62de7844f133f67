//! An order of the points of the unrolled program: each after everything that leads to it.
//!
//! In come the loops of a function; out come the ranks of locations and loops among what the same
//! loop holds. A point's key is the ranks and numbers of arrivals of what is around it, outermost
//! first; keys are compared as words in a dictionary. Whoever follows executions that meet wants
//! this order. Another one costs time, not soundness.

use crate::loops::FunctionGraph;
use crate::points::{Around, ContextId, Numbering};
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::Program;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The ranks of one function.
#[derive(Clone, Debug)]
struct Ranks {
    locations: Vec<u32>,
    /// By the position of the head.
    loops: HashMap<LocId, u32>,
}

/// What a loop, or the function itself, holds directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Loop(usize),
    Location(usize),
}

impl Ranks {
    /// `None` if a loop has several entries.
    fn new(program: &Program, function: FuncId, graph: &FunctionGraph) -> Option<Ranks> {
        if !graph.is_reducible() {
            return None;
        }
        let nests: Vec<Vec<usize>> = (0..graph.count)
            .map(|index| graph.nest(graph.location(index)))
            .collect();
        let item = |index: usize, level: usize| match nests[index].get(level) {
            Some(&at) => Item::Loop(at),
            None => Item::Location(index),
        };
        // Below every loop and below the function itself: what leads to what.
        let mut edges: BTreeMap<Option<usize>, BTreeSet<(Item, Item)>> = BTreeMap::new();
        let mut items: BTreeMap<Option<usize>, BTreeSet<Item>> = BTreeMap::new();
        for (index, nest) in nests.iter().enumerate() {
            for level in 0..=nest.len() {
                let holder = level.checked_sub(1).map(|up| nest[up]);
                items.entry(holder).or_default().insert(item(index, level));
            }
        }
        for (from, successors) in program.successors(function).iter().enumerate() {
            for &to in successors {
                let again = nests[from]
                    .iter()
                    .any(|&at| graph.head(at) == graph.location(to));
                if again {
                    continue;
                }
                let pairs = nests[from].iter().zip(&nests[to]);
                let common = pairs.take_while(|(a, b)| a == b).count();
                let holder = common.checked_sub(1).map(|up| nests[from][up]);
                let pair = (item(from, common), item(to, common));
                if pair.0 != pair.1 {
                    edges.entry(holder).or_default().insert(pair);
                }
            }
        }
        let mut ranks = Ranks {
            locations: vec![0; graph.count],
            loops: HashMap::new(),
        };
        for (holder, members) in items {
            let edges = edges.remove(&holder).unwrap_or_default();
            let mut waiting: BTreeMap<Item, usize> =
                members.iter().map(|&member| (member, 0)).collect();
            for (_, to) in &edges {
                *waiting.entry(*to).or_default() += 1;
            }
            let free = waiting.iter().filter(|&(_, &count)| count == 0);
            let mut ready: BTreeSet<Item> = free.map(|(&member, _)| member).collect();
            let mut rank = 0;
            while let Some(next) = ready.pop_first() {
                match next {
                    Item::Location(index) => ranks.locations[index] = rank,
                    Item::Loop(at) => {
                        ranks.loops.insert(graph.head(at), rank);
                    }
                }
                rank += 1;
                let least = (next, Item::Loop(0));
                for &(_, to) in edges.range(least..).take_while(|(from, _)| *from == next) {
                    let count = waiting.entry(to).or_default();
                    *count = count.saturating_sub(1);
                    if *count == 0 {
                        ready.insert(to);
                    }
                }
            }
            if (rank as usize) < members.len() {
                return None;
            }
        }
        Some(ranks)
    }
}

/// A point's place in the order.
pub type Key = Vec<u32>;

/// The order of the points of a program.
#[derive(Debug, Default)]
pub struct Order {
    functions: HashMap<FuncId, Option<Rc<Ranks>>>,
    contexts: HashMap<ContextId, Rc<Key>>,
}

impl Order {
    /// An order that knows nothing yet.
    pub fn new() -> Order {
        Order::default()
    }

    fn ranks(&mut self, program: &Program, function: FuncId) -> Option<Rc<Ranks>> {
        let known = self.functions.entry(function).or_insert_with(|| {
            let graph = FunctionGraph::new(program, function);
            Ranks::new(program, function, &graph).map(Rc::new)
        });
        known.clone()
    }

    /// Whether the points of a function have an order.
    pub fn is_known(&mut self, program: &Program, function: FuncId) -> bool {
        self.ranks(program, function).is_some()
    }

    fn rank(&mut self, program: &Program, location: LocId) -> Option<u32> {
        let function = program.locations[location.index()].function;
        let first = program.function(function).locations.start;
        let ranks = self.ranks(program, function)?;
        Some(ranks.locations[(location.0 - first) as usize])
    }

    fn around(
        &mut self,
        program: &Program,
        numbering: &Numbering,
        context: ContextId,
    ) -> Option<Rc<Key>> {
        let mut unknown = Vec::new();
        let mut at = context;
        let mut key = loop {
            if let Some(known) = self.contexts.get(&at) {
                break Rc::clone(known);
            }
            match numbering.around(at) {
                Around::Start => break Rc::new(Vec::new()),
                Around::Call(up, ..) | Around::Loop(up, ..) => {
                    unknown.push(at);
                    at = up;
                }
            }
        };
        for at in unknown.into_iter().rev() {
            let mut longer = Key::clone(&key);
            match numbering.around(at) {
                Around::Start => {}
                Around::Call(_, edge, callee) => {
                    let from = program.edges[edge.index()].from;
                    longer.extend([self.rank(program, from)?, callee.index() as u32 + 1]);
                }
                Around::Loop(_, head, arrivals) => {
                    let function = program.locations[head.index()].function;
                    let rank = *self.ranks(program, function)?.loops.get(&head)?;
                    longer.extend([rank, arrivals]);
                }
            }
            key = Rc::new(longer);
            self.contexts.insert(at, Rc::clone(&key));
        }
        Some(key)
    }

    /// The place of a point; `None` if a loop around it has several entries.
    pub fn key(
        &mut self,
        program: &Program,
        numbering: &Numbering,
        context: ContextId,
        location: LocId,
    ) -> Option<Key> {
        let mut key = Key::clone(&*self.around(program, numbering, context)?);
        key.push(self.rank(program, location)?);
        Some(key)
    }
}
