//! Joining path edges with transfers and summaries: Join, SelfLoop and Lift of section 3.1.
//!
//! A path edge of a procedure relates the entry values of its inputs to the current values of
//! the slots that are live. A transfer speaks only of what the edge reads and writes; all else
//! stays as it is without being mentioned. Each join is one pass over the diagrams, which also
//! forgets what is dead at the edge's end.

use crate::bdd::{Bdd, Built, PassId, Var};
use crate::hash::FastMap;
use crate::ranges::Ranges;
use crate::slot_set as set;
use crate::space::{Copy, Slot, Space};
use crate::supergraph::{Edge, Ends, Frame, Proc, Supergraph};
use hardbop_budget::Stopped;

/// A supergraph, the space of its states, and the slots to track: what every step needs.
pub(crate) struct Joins<'a, G> {
    pub(crate) graph: &'a mut G,
    pub(crate) space: &'a mut Space,
    pub(crate) ranges: &'a Ranges,
    pub(crate) memo: &'a mut Memo,
}

/// What was worked out before. Diagrams in it are dropped at a collection.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// The pass of every edge that is no call, and the pass of every call that joins a summary.
    edge_passes: Vec<PassId>,
    /// By procedure.
    invariants: Vec<Option<Bdd>>,
    /// By the inputs of a procedure.
    self_loops: FastMap<Vec<u64>, Bdd>,
    /// By procedure: the pass that gives the caller's view of its summary.
    view_passes: Vec<PassId>,
    /// By call: the passes that enter the callee and that lift its summary.
    call_passes: FastMap<Edge, (PassId, PassId)>,
    /// The same for calls without results where one word holds all slots, by the words and the
    /// numbers that they depend on.
    plain_calls: FastMap<[u64; 5], (PassId, PassId)>,
    /// The passes of edges that are no calls, where one word holds all slots: by what is live
    /// before and after, and by what is written.
    plain_edges: FastMap<[u64; 3], PassId>,
    /// By the passes that see and lift a summary, the arguments and the part of the summary.
    lifted: FastMap<(PassId, PassId, Bdd, Bdd), Bdd>,
    /// The passes that were made, by all that they depend on. Programs of machines have the same
    /// few shapes of edges again and again.
    shapes: FastMap<Vec<u64>, PassId>,
    key: Vec<u64>,
    writes: Vec<Slot>,
}

/// More lifted summaries than this are not remembered.
const MOST_LIFTED: usize = 1 << 16;

/// What a pass is for: with the rows of slots that it depends on, it says all about it.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    Image = 1,
    Join,
    Enter,
    Lift,
    View,
    Written,
    Forgotten,
}

impl Memo {
    /// Forgets all diagrams.
    pub(crate) fn before_collection(&mut self) {
        self.invariants.clear();
        self.self_loops.clear();
        self.lifted.clear();
    }
}

/// Lists of variables from which a pass is made.
#[derive(Default)]
pub(crate) struct PassLists {
    pub(crate) quantified: Vec<Var>,
    pub(crate) moved: Vec<(Var, Var)>,
}

impl PassLists {
    pub(crate) fn quantify(&mut self, slot: Slot, copy: Copy) {
        self.quantified.push(Space::var(slot, copy));
    }

    pub(crate) fn shift(&mut self, slot: Slot, from: Copy, to: Copy) {
        self.moved
            .push((Space::var(slot, from), Space::var(slot, to)));
    }

    pub(crate) fn intern(&self, space: &mut Space) -> PassId {
        space.bdds.pass(&self.quantified, &self.moved)
    }
}

impl<G: Supergraph> Joins<'_, G> {
    /// Collects garbage, if it is time; only these roots and the supergraph's survive.
    pub(crate) fn collect_if_due(&mut self, roots: impl Iterator<Item = Bdd>) {
        if self.space.bdds.wants_collection() {
            self.memo.before_collection();
            let mut all: Vec<Bdd> = roots.collect();
            self.graph.roots(&mut |root| all.push(root));
            all.sort_unstable();
            all.dedup();
            self.space.collect(&all);
        }
    }

    /// What holds in every state of the procedure.
    pub(crate) fn invariant(&mut self, procedure: Proc) -> Built {
        if !self.graph.has_invariants() {
            return Ok(Bdd::TRUE);
        }
        if let Some(&Some(known)) = self.memo.invariants.get(procedure.index()) {
            return Ok(known);
        }
        let invariant = self.graph.invariant(procedure, self.space)?;
        self.memo
            .invariants
            .resize(self.graph.procedures() as usize, None);
        self.memo.invariants[procedure.index()] = Some(invariant);
        Ok(invariant)
    }

    /// The slots that the procedure's invariant reads.
    fn invariant_reads(&self, procedure: Proc) -> Vec<Slot> {
        let mut slots = Vec::new();
        self.graph.invariant_reads(procedure, &mut slots);
        slots
    }

    /// The edge's transfer, with the invariant of its procedure on the next state.
    pub(crate) fn transfer(&mut self, edge: Edge, from: Bdd) -> Built {
        let relation = self.graph.transfer(edge, from, self.space)?;
        if !self.graph.has_invariants() {
            return Ok(relation);
        }
        let procedure = self.graph.procedure_of(self.graph.ends(edge).from);
        let invariant = self.invariant(procedure)?;
        if invariant.is_true() {
            return Ok(relation);
        }
        let mut writes = Vec::new();
        self.graph.writes(edge, &mut writes);
        if writes.is_empty() {
            return Ok(relation);
        }
        let mut lists = PassLists::default();
        for slot in writes {
            lists.shift(slot, Copy::Current, Copy::Next);
        }
        let pass = lists.intern(self.space);
        let after = self.space.bdds.project(invariant, pass)?;
        self.space.bdds.and(relation, after)
    }

    /// Join(P, Transfer): path edges to where the edge leads.
    pub(crate) fn image(&mut self, edge: Edge, from: Bdd) -> Built {
        let relation = self.transfer(edge, from)?;
        let pass = self.edge_pass(edge);
        if relation.is_true() && self.space.bdds.is_identity(pass) {
            return Ok(from);
        }
        self.space.bdds.image(from, relation, pass)
    }

    fn edge_pass(&mut self, edge: Edge) -> PassId {
        if let Some(&pass) = self.memo.edge_passes.get(edge.index())
            && pass != PassId::NONE
        {
            return pass;
        }
        let ends = self.graph.ends(edge);
        let pass = match ends.callee {
            None => self.image_pass(edge, ends),
            Some(callee) => self.join_pass(edge, ends, callee),
        };
        if self.memo.edge_passes.is_empty() {
            self.memo.edge_passes = vec![PassId::NONE; self.graph.edges() as usize];
        }
        self.memo.edge_passes[edge.index()] = pass;
        pass
    }

    /// The pass of a shape, made by `lists` if there was none like it. The shape depends on the
    /// rows that `describe` adds.
    fn shaped(
        &mut self,
        shape: Shape,
        describe: impl FnOnce(&Self, &mut Vec<u64>),
        lists: impl FnOnce(&Self) -> PassLists,
    ) -> PassId {
        let mut key = std::mem::take(&mut self.memo.key);
        key.clear();
        key.push(shape as u64);
        describe(self, &mut key);
        let pass = match self.memo.shapes.get(key.as_slice()) {
            Some(&pass) => pass,
            None => {
                let pass = lists(self).intern(self.space);
                self.memo.shapes.insert(key.clone(), pass);
                pass
            }
        };
        self.memo.key = key;
        pass
    }

    /// The pass that does something with each slot that an edge writes.
    pub(crate) fn written(
        &mut self,
        shape: Shape,
        edge: Edge,
        each: impl Fn(&mut PassLists, Slot),
    ) -> PassId {
        let mut writes = std::mem::take(&mut self.memo.writes);
        writes.clear();
        self.graph.writes(edge, &mut writes);
        let describe = |_: &Self, key: &mut Vec<u64>| {
            key.extend(writes.iter().map(|slot| u64::from(slot.0)));
        };
        let pass = self.shaped(shape, describe, |_| {
            let mut lists = PassLists::default();
            for &slot in &writes {
                each(&mut lists, slot);
            }
            lists
        });
        self.memo.writes = writes;
        pass
    }

    fn image_pass(&mut self, edge: Edge, ends: Ends) -> PassId {
        let mut writes = std::mem::take(&mut self.memo.writes);
        writes.clear();
        self.graph.writes(edge, &mut writes);
        let before = self.ranges.live(self.graph, ends.from);
        let after = self.ranges.live(self.graph, ends.to);
        let plain = match (before, after) {
            ([before], [after]) => {
                let written = writes.iter().fold(0u64, |row, slot| row | 1 << slot.0);
                Some([*before, *after, written])
            }
            _ => None,
        };
        if let Some(&pass) = plain.and_then(|key| self.memo.plain_edges.get(&key)) {
            self.memo.writes = writes;
            return pass;
        }
        let describe = |joins: &Self, key: &mut Vec<u64>| {
            key.extend(joins.ranges.live(joins.graph, ends.from));
            key.extend(joins.ranges.live(joins.graph, ends.to));
            key.extend(writes.iter().map(|slot| u64::from(slot.0)));
        };
        let pass = self.shaped(Shape::Image, describe, |joins| {
            joins.image_lists(&writes, ends)
        });
        self.memo.writes = writes;
        if let Some(key) = plain {
            self.memo.plain_edges.insert(key, pass);
        }
        pass
    }

    fn image_lists(&self, writes: &[Slot], ends: Ends) -> PassLists {
        let before = self.ranges.live(self.graph, ends.from);
        let after = self.ranges.live(self.graph, ends.to);
        let mut lists = PassLists::default();
        for slot in set::slots(before) {
            if !set::has(after, slot) && !writes.contains(&slot) {
                lists.quantify(slot, Copy::Current);
            }
        }
        for &slot in writes {
            lists.quantify(slot, Copy::Current);
            if set::has(after, slot) {
                lists.shift(slot, Copy::Next, Copy::Current);
            } else {
                lists.quantify(slot, Copy::Next);
            }
        }
        lists
    }

    /// The states in which a call enters the callee, by the current values of its inputs. The
    /// callee's invariant is not in it yet.
    pub(crate) fn enter(&mut self, call: Edge, from: Bdd) -> Built {
        let ends = self.graph.ends(call);
        let Some(callee) = ends.callee else {
            return Ok(Bdd::FALSE);
        };
        let arguments = self.graph.arguments(call, from, self.space)?;
        let (pass, _) = self.call_passes(call, ends, callee);
        self.space.bdds.image(from, arguments, pass)
    }

    fn call_passes(&mut self, call: Edge, ends: Ends, callee: Proc) -> (PassId, PassId) {
        let frame = Frame::of(self.graph, callee);
        let caller = self.graph.procedure_of(ends.from);
        let inputs = (self.ranges.inputs(caller), self.ranges.inputs(callee));
        let live = self.ranges.live(self.graph, ends.from);
        let plain = match (inputs, live, self.graph.has_results(call)) {
            (([caller], [callee]), [live], false) => {
                let formals = u64::from(frame.formals.start) << 32 | u64::from(frame.formals.end);
                Some([
                    *caller,
                    *callee,
                    *live,
                    formals,
                    u64::from(frame.returns.end),
                ])
            }
            _ => None,
        };
        let known = match &plain {
            Some(key) => self.memo.plain_calls.get(key),
            None => self.memo.call_passes.get(&call),
        };
        if let Some(&passes) = known {
            return passes;
        }
        let formals = [frame.formals.start, frame.formals.end].map(u64::from);
        let describe = |joins: &Self, key: &mut Vec<u64>| {
            let caller = joins.graph.procedure_of(ends.from);
            key.extend(formals);
            key.extend(joins.ranges.inputs(caller));
            key.extend(joins.ranges.live(joins.graph, ends.from));
            key.extend(joins.ranges.inputs(callee));
        };
        let enter = self.shaped(Shape::Enter, describe, |joins| {
            joins.enter_lists(ends, callee)
        });
        let describe = |joins: &Self, key: &mut Vec<u64>| {
            key.extend(formals);
            key.push(u64::from(frame.returns.end));
            let mut results = Vec::new();
            joins.graph.results(call, &mut results);
            key.extend(results.iter().map(|&(value, _)| u64::from(value.0)));
        };
        let lift = self.shaped(Shape::Lift, describe, |joins| {
            joins.lift_lists(call, callee)
        });
        match plain {
            Some(key) => self.memo.plain_calls.insert(key, (enter, lift)),
            None => self.memo.call_passes.insert(call, (enter, lift)),
        };
        (enter, lift)
    }

    fn enter_lists(&self, ends: Ends, callee: Proc) -> PassLists {
        let caller = self.graph.procedure_of(ends.from);
        let frame = Frame::of(self.graph, callee);
        let inputs = self.ranges.inputs(callee);
        let mut lists = PassLists::default();
        for slot in set::slots(self.ranges.inputs(caller)) {
            lists.quantify(slot, Copy::Entry);
        }
        for slot in set::slots(self.ranges.live(self.graph, ends.from)) {
            if slot.0 >= frame.globals.end || !set::has(inputs, slot) {
                lists.quantify(slot, Copy::Current);
            }
        }
        for slot in frame.formals.map(Slot) {
            if set::has(inputs, slot) {
                lists.shift(slot, Copy::Next, Copy::Current);
            } else {
                lists.quantify(slot, Copy::Next);
            }
        }
        lists
    }

    /// SelfLoop: the path edges with which a procedure starts in these states.
    pub(crate) fn start(&mut self, procedure: Proc, states: Bdd) -> Built {
        let inputs = self.ranges.inputs(procedure);
        let same = match self.memo.self_loops.get(inputs) {
            Some(&same) => same,
            None => {
                let same = self.space.self_loop(set::slots(inputs))?;
                self.memo.self_loops.insert(inputs.to_vec(), same);
                same
            }
        };
        let invariant = self.invariant(procedure)?;
        let states = self.space.bdds.and(states, invariant)?;
        self.space.bdds.and(states, same)
    }

    /// A summary of the callee, between the caller's current globals, the next values of the
    /// callee's formals, and the next values of globals and return values.
    pub(crate) fn callers_view(&mut self, callee: Proc, summary: Bdd) -> Built {
        let pass = self.view_pass(callee);
        self.space.bdds.project(summary, pass)
    }

    fn view_pass(&mut self, callee: Proc) -> PassId {
        if let Some(&pass) = self.memo.view_passes.get(callee.index())
            && pass != PassId::NONE
        {
            return pass;
        }
        let describe = |joins: &Self, key: &mut Vec<u64>| {
            let returns = Frame::of(joins.graph, callee).returns;
            let exit = joins.graph.procedure(callee).exit;
            key.extend([returns.start, returns.end].map(u64::from));
            key.extend(joins.ranges.inputs(callee));
            key.extend(joins.ranges.modified(callee));
            key.extend(joins.ranges.live(joins.graph, exit));
        };
        let pass = self.shaped(Shape::View, describe, |joins| joins.view_lists(callee));
        if self.memo.view_passes.is_empty() {
            self.memo.view_passes = vec![PassId::NONE; self.graph.procedures() as usize];
        }
        self.memo.view_passes[callee.index()] = pass;
        pass
    }

    fn view_lists(&self, callee: Proc) -> PassLists {
        let frame = Frame::of(self.graph, callee);
        let exit = self.graph.procedure(callee).exit;
        let mut lists = PassLists::default();
        for slot in set::slots(self.ranges.inputs(callee)) {
            let to = if slot.0 < frame.globals.end {
                Copy::Current
            } else {
                Copy::Next
            };
            lists.shift(slot, Copy::Entry, to);
        }
        let modified = self.ranges.modified(callee);
        for slot in set::slots(self.ranges.live(self.graph, exit)) {
            if set::has(modified, slot) || frame.returns.contains(&slot.0) {
                lists.shift(slot, Copy::Current, Copy::Next);
            } else {
                lists.quantify(slot, Copy::Current);
            }
        }
        lists
    }

    /// Lift: a summary of the callee as a relation at the call, between the caller's current
    /// slots and the next values of globals and of the return values that the call uses.
    pub(crate) fn lift(&mut self, call: Edge, from: Bdd, summary: Bdd) -> Built {
        let arguments = self.graph.arguments(call, from, self.space)?;
        let ends = self.graph.ends(call);
        let Some(callee) = ends.callee else {
            return Ok(Bdd::FALSE);
        };
        let view_pass = self.view_pass(callee);
        let (_, pass) = self.call_passes(call, ends, callee);
        let key = (view_pass, pass, arguments, summary);
        if let Some(&result) = self.memo.lifted.get(&key) {
            return Ok(result);
        }
        let view = self.space.bdds.project(summary, view_pass)?;
        let result = self.space.bdds.image(arguments, view, pass)?;
        if self.memo.lifted.len() >= MOST_LIFTED {
            self.memo.lifted.clear();
        }
        self.memo.lifted.insert(key, result);
        Ok(result)
    }

    fn lift_lists(&self, call: Edge, callee: Proc) -> PassLists {
        let frame = Frame::of(self.graph, callee);
        let mut results = Vec::new();
        self.graph.results(call, &mut results);
        let mut lists = PassLists::default();
        for slot in frame.formals.map(Slot) {
            lists.quantify(slot, Copy::Next);
        }
        for slot in frame.returns.map(Slot) {
            if !results.iter().any(|&(value, _)| value == slot) {
                lists.quantify(slot, Copy::Next);
            }
        }
        lists
    }

    /// Join(P, SummaryEdges): path edges to the return point of a call.
    pub(crate) fn join(&mut self, call: Edge, from: Bdd, lifted: Bdd) -> Built {
        if from.is_false() || lifted.is_false() {
            return Ok(Bdd::FALSE);
        }
        let pass = self.edge_pass(call);
        let mut joined = self.space.bdds.image(from, lifted, pass)?;
        let ends = self.graph.ends(call);
        joined = self.take_results(call, ends, joined)?;
        if !self.graph.has_invariants() {
            return Ok(joined);
        }
        let caller = self.graph.procedure_of(ends.from);
        // Everything that the invariant reads was kept for it, even if it turned out to be true;
        // now forget what is dead.
        let reads = self.invariant_reads(caller);
        if reads.is_empty() {
            return Ok(joined);
        }
        let invariant = self.invariant(caller)?;
        let after = self.ranges.live(self.graph, ends.to);
        let mut lists = PassLists::default();
        for slot in reads {
            if !set::has(after, slot) {
                lists.quantify(slot, Copy::Current);
            }
        }
        let pass = lists.intern(self.space);
        self.space.bdds.image(joined, invariant, pass)
    }

    fn join_pass(&mut self, call: Edge, ends: Ends, callee: Proc) -> PassId {
        let describe = |joins: &Self, key: &mut Vec<u64>| {
            key.extend(joins.ranges.live(joins.graph, ends.from));
            key.extend(joins.ranges.live(joins.graph, ends.to));
            key.extend(joins.ranges.modified(callee));
            let mut results = Vec::new();
            joins.graph.results(call, &mut results);
            let pair =
                |(value, target): (Slot, Slot)| u64::from(value.0) << 32 | u64::from(target.0);
            key.extend(results.into_iter().map(pair));
            // No slot has this number, so what follows cannot be taken for results.
            key.push(u64::MAX);
            let caller = joins.graph.procedure_of(ends.from);
            let reads = joins.invariant_reads(caller);
            key.extend(reads.into_iter().map(|slot| u64::from(slot.0)));
        };
        self.shaped(Shape::Join, describe, |joins| {
            joins.join_lists(call, ends, callee)
        })
    }

    fn join_lists(&self, call: Edge, ends: Ends, callee: Proc) -> PassLists {
        let mut results = Vec::new();
        self.graph.results(call, &mut results);
        let caller = self.graph.procedure_of(ends.from);
        let mut after = self.ranges.live(self.graph, ends.to).to_vec();
        for slot in self.invariant_reads(caller) {
            set::insert(&mut after, slot);
        }
        let modified = self.ranges.modified(callee);
        let is_target = |slot| results.iter().any(|&(_, target)| target == slot);
        let mut lists = PassLists::default();
        for slot in set::slots(self.ranges.live(self.graph, ends.from)) {
            if set::has(modified, slot) || is_target(slot) || !set::has(&after, slot) {
                lists.quantify(slot, Copy::Current);
            }
        }
        for slot in set::slots(modified) {
            if set::has(&after, slot) && !is_target(slot) {
                lists.shift(slot, Copy::Next, Copy::Current);
            } else {
                lists.quantify(slot, Copy::Next);
            }
        }
        for &(value, target) in &results {
            if !set::has(&after, target) {
                lists.quantify(value, Copy::Next);
            }
        }
        lists
    }

    /// Copies the return values, which stand in the next values of the callee's slots, to the
    /// slots that take them.
    fn take_results(&mut self, call: Edge, ends: Ends, joined: Bdd) -> Result<Bdd, Stopped> {
        let mut results = Vec::new();
        self.graph.results(call, &mut results);
        if results.is_empty() {
            return Ok(joined);
        }
        let caller = self.graph.procedure_of(ends.from);
        let reads = self.invariant_reads(caller);
        let after = self.ranges.live(self.graph, ends.to);
        results.retain(|(_, target)| set::has(after, *target) || reads.contains(target));
        let mut copy = Bdd::TRUE;
        let mut lists = PassLists::default();
        for (value, target) in results {
            let same = self
                .space
                .same((target, Copy::Current), (value, Copy::Next))?;
            copy = self.space.bdds.and(copy, same)?;
            lists.quantify(value, Copy::Next);
        }
        let pass = lists.intern(self.space);
        self.space.bdds.image(joined, copy, pass)
    }
}
