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
    edge_passes: Vec<Option<PassId>>,
    /// By procedure.
    invariants: Vec<Option<Bdd>>,
    self_loops: FastMap<Proc, Bdd>,
    /// By procedure: the pass that gives the caller's view of its summary.
    view_passes: FastMap<Proc, PassId>,
    /// By call: the passes that enter the callee and that lift its summary.
    call_passes: FastMap<Edge, (PassId, PassId)>,
    /// By call: the arguments and the part of the summary that were lifted last, and the result.
    lifted: FastMap<Edge, (Bdd, Bdd, Bdd)>,
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
        if let Some(Some(pass)) = self.memo.edge_passes.get(edge.index()) {
            return *pass;
        }
        let ends = self.graph.ends(edge);
        let lists = match ends.callee {
            None => self.image_lists(edge, ends),
            Some(callee) => self.join_lists(edge, ends, callee),
        };
        let pass = lists.intern(self.space);
        if self.memo.edge_passes.is_empty() {
            self.memo.edge_passes = vec![None; self.graph.edges() as usize];
        }
        self.memo.edge_passes[edge.index()] = Some(pass);
        pass
    }

    fn image_lists(&self, edge: Edge, ends: Ends) -> PassLists {
        let mut writes = Vec::new();
        self.graph.writes(edge, &mut writes);
        let before = self.ranges.live(self.graph, ends.from);
        let after = self.ranges.live(self.graph, ends.to);
        let mut lists = PassLists::default();
        for slot in set::slots(before) {
            if !set::has(after, slot) && !writes.contains(&slot) {
                lists.quantify(slot, Copy::Current);
            }
        }
        for &slot in &writes {
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
        if let Some(&passes) = self.memo.call_passes.get(&call) {
            return passes;
        }
        let enter = self.enter_lists(ends, callee).intern(self.space);
        let lift = self.lift_lists(call, callee).intern(self.space);
        self.memo.call_passes.insert(call, (enter, lift));
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
        let same = match self.memo.self_loops.get(&procedure) {
            Some(&same) => same,
            None => {
                let inputs = set::slots(self.ranges.inputs(procedure)).collect::<Vec<_>>();
                let same = self.space.self_loop(inputs)?;
                self.memo.self_loops.insert(procedure, same);
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
        let pass = match self.memo.view_passes.get(&callee) {
            Some(&pass) => pass,
            None => {
                let pass = self.view_lists(callee).intern(self.space);
                self.memo.view_passes.insert(callee, pass);
                pass
            }
        };
        self.space.bdds.project(summary, pass)
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
        if let Some(&(known_arguments, known_summary, result)) = self.memo.lifted.get(&call)
            && known_arguments == arguments
            && known_summary == summary
        {
            return Ok(result);
        }
        let Some(callee) = self.graph.ends(call).callee else {
            return Ok(Bdd::FALSE);
        };
        let view = self.callers_view(callee, summary)?;
        let ends = self.graph.ends(call);
        let (_, pass) = self.call_passes(call, ends, callee);
        let result = self.space.bdds.image(arguments, view, pass)?;
        self.memo.lifted.insert(call, (arguments, summary, result));
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
