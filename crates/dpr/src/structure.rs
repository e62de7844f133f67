//! What the control flow alone tells about errors: which side of a branch may still reach one,
//! and where the ways from a branch to an error meet again.
//!
//! An error here is whatever a run must not be led past unseen: the location of an open check, an
//! unsupported construct, a call to a function that may meet either, and the return from a
//! function whose caller may go on to one.
//!
//! The *meeting point* of a location is the first location that every way from it to an error
//! passes: its immediate postdominator with respect to errors. Ways that end without an error do
//! not count. Where a location lies in loops, the next arrival at the head of such a loop is a
//! point of its own, so that the meeting point is always the same unrolled point, whichever way
//! was taken. Ways through the next iteration are known by the loop's exits only.

use hardbop_cfront::ids::{CheckId, EdgeId, FuncId, LocId};
use hardbop_cfront::program::{Callee, LocationKind, Op, Program};
use hardbop_graph::{Dominators, reachable, reversed};
use hardbop_model::loops::FunctionGraph;
use hardbop_semantics::Semantics;
use hardbop_semantics::effects::{Effects, written_by};
use hardbop_semantics::layout::StateVarId;
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// Whether a caller may still meet an error once this function has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Return {
    /// It may.
    Live,
    /// It cannot, or there is no caller.
    Dead,
}

/// Where the ways from a location to an error meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meet {
    /// There is no way to an error.
    Never,
    /// They do not meet before the error.
    Nowhere,
    /// Here, at its first visit in the same call.
    At(LocId),
}

/// The program's control flow with its errors.
pub(crate) struct Structure<'p> {
    pub program: &'p Program,
    graphs: FxHashMap<FuncId, Rc<FunctionGraph>>,
    open: BTreeSet<CheckId>,
    /// Unsupported constructs that were met already: nothing is gained by meeting them again.
    met: BTreeSet<EdgeId>,
    may_fail: Vec<bool>,
    views: FxHashMap<(FuncId, Return), Rc<View>>,
    meets: FxHashMap<(FuncId, Return, Option<usize>), Rc<Vec<Meet>>>,
    writes: FxHashMap<(LocId, LocId, Return), Rc<BTreeSet<StateVarId>>>,
    distances: Vec<u32>,
}

/// One function under one kind of return.
struct View {
    /// The locations from which an error may be reached.
    live: Vec<bool>,
}

impl<'p> Structure<'p> {
    pub(crate) fn new(program: &'p Program, open: BTreeSet<CheckId>) -> Structure<'p> {
        let mut structure = Structure {
            program,
            graphs: FxHashMap::default(),
            open,
            met: BTreeSet::new(),
            may_fail: Vec::new(),
            views: FxHashMap::default(),
            meets: FxHashMap::default(),
            writes: FxHashMap::default(),
            distances: Vec::new(),
        };
        structure.refresh();
        structure
    }

    /// The checks that are not decided yet.
    pub(crate) fn open(&self) -> &BTreeSet<CheckId> {
        &self.open
    }

    /// A check is decided: its location is an end like any other.
    pub(crate) fn close(&mut self, check: CheckId) {
        self.open.remove(&check);
        self.refresh();
    }

    /// An unsupported construct was met.
    pub(crate) fn meet_unsupported(&mut self, edge: EdgeId) {
        self.met.insert(edge);
        self.refresh();
    }

    fn refresh(&mut self) {
        self.views.clear();
        self.meets.clear();
        self.writes.clear();
        let program = self.program;
        let mut may_fail = vec![false; program.functions.len()];
        let mut callers: Vec<Vec<FuncId>> = vec![Vec::new(); program.functions.len()];
        let mut work = Vec::new();
        for (index, edge) in program.edges.iter().enumerate() {
            let function = program.locations[edge.from.index()].function;
            let fails = match &edge.op {
                Op::Call { callee, .. } => {
                    for target in callee.targets() {
                        callers[target.index()].push(function);
                    }
                    false
                }
                _ => self.fails(EdgeId(index as u32)),
            };
            if fails && !std::mem::replace(&mut may_fail[function.index()], true) {
                work.push(function);
            }
        }
        while let Some(function) = work.pop() {
            for &caller in &callers[function.index()] {
                if !std::mem::replace(&mut may_fail[caller.index()], true) {
                    work.push(caller);
                }
            }
        }
        self.may_fail = may_fail;
        self.distances = self.measure();
    }

    /// Whether an edge other than a call is itself an error or leads to one at once.
    fn fails(&self, id: EdgeId) -> bool {
        let edge = &self.program.edges[id.index()];
        match (&edge.op, self.program.locations[edge.to.index()].kind) {
            (Op::Unsupported { .. }, _) => !self.met.contains(&id),
            (_, LocationKind::Error(check)) => self.open.contains(&check),
            _ => false,
        }
    }

    /// Whether an error may be met on an edge itself.
    fn dangerous(&self, id: EdgeId) -> bool {
        match &self.program.edges[id.index()].op {
            Op::Call { callee, .. } => callee
                .targets()
                .iter()
                .any(|target| self.may_fail[target.index()]),
            _ => self.fails(id),
        }
    }

    /// Whether a call of a function may meet an error.
    pub(crate) fn may_fail(&self, function: FuncId) -> bool {
        self.may_fail[function.index()]
    }

    pub(crate) fn graph(&mut self, function: FuncId) -> Rc<FunctionGraph> {
        let program = self.program;
        let entry = self.graphs.entry(function);
        Rc::clone(entry.or_insert_with(|| Rc::new(FunctionGraph::new(program, function))))
    }

    fn view(&mut self, function: FuncId, returns: Return) -> Rc<View> {
        if let Some(view) = self.views.get(&(function, returns)) {
            return Rc::clone(view);
        }
        let graph = self.graph(function);
        let mut predecessors = vec![Vec::new(); graph.count];
        let mut starts = Vec::new();
        for index in 0..graph.count {
            let mut start = self.is_live_exit(graph.location(index), returns);
            for (id, edge) in self.program.edges_from(graph.location(index)) {
                // Nothing is known beyond what is not supported.
                if !matches!(edge.op, Op::Unsupported { .. }) {
                    predecessors[graph.index(edge.to)].push(index);
                }
                start |= self.dangerous(id);
            }
            if start {
                starts.push(index);
            }
        }
        let live = reachable(&predecessors, starts);
        let view = Rc::new(View { live });
        self.views.insert((function, returns), Rc::clone(&view));
        view
    }

    fn is_live_exit(&self, location: LocId, returns: Return) -> bool {
        returns == Return::Live
            && self.program.locations[location.index()].kind == LocationKind::Exit
    }

    /// Whether a run at this location may still meet an error.
    pub(crate) fn is_live(&mut self, location: LocId, returns: Return) -> bool {
        let function = self.program.locations[location.index()].function;
        let view = self.view(function, returns);
        let graph = self.graph(function);
        view.live[graph.index(location)]
    }

    /// Whether a run that takes this edge may still meet an error.
    pub(crate) fn is_live_edge(&mut self, id: EdgeId, returns: Return) -> bool {
        let edge = &self.program.edges[id.index()];
        let known = !matches!(edge.op, Op::Unsupported { .. });
        self.dangerous(id) || (known && self.is_live(edge.to, returns))
    }

    /// Where the ways from a location to an error meet.
    pub(crate) fn meet(&mut self, location: LocId, returns: Return) -> Meet {
        let function = self.program.locations[location.index()].function;
        let graph = self.graph(function);
        if !self.is_live(location, returns) {
            return Meet::Never;
        }
        if !graph.is_reducible() {
            return Meet::Nowhere;
        }
        let nest = graph.nest(location);
        let key = (function, returns, nest.last().copied());
        if let Some(meets) = self.meets.get(&key) {
            return meets[graph.index(location)];
        }
        let unrolled = Unrolled::new(self, &graph, &nest, returns);
        let meets = Rc::new(unrolled.meets(&graph));
        self.meets.insert(key, Rc::clone(&meets));
        meets[graph.index(location)]
    }

    /// The state variables that may be written between a branch and its meeting point, on any way.
    pub(crate) fn writes_between(
        &mut self,
        semantics: &Semantics<'_>,
        effects: &Effects,
        branch: LocId,
        meet: LocId,
        returns: Return,
    ) -> Rc<BTreeSet<StateVarId>> {
        let key = (branch, meet, returns);
        if let Some(known) = self.writes.get(&key) {
            return Rc::clone(known);
        }
        // The plain graph holds every unrolled way: a location is passed over only where it is
        // the meeting point, and that is where the first visit ends.
        let mut out = BTreeSet::new();
        let mut seen = BTreeSet::from([branch]);
        let mut work = vec![branch];
        while let Some(location) = work.pop() {
            for (_, edge) in self.program.edges_from(location) {
                written_by(semantics, &edge.op, &mut out);
                if let Op::Call { callee, .. } = &edge.op {
                    for &target in callee.targets() {
                        out.extend(effects.modified(target));
                        self.bound_by(semantics, target, &mut out);
                    }
                }
                if edge.to != meet && seen.insert(edge.to) {
                    work.push(edge.to);
                }
            }
        }
        let out = Rc::new(out);
        self.writes.insert(key, Rc::clone(&out));
        out
    }

    /// What a call gives a new life: the callee's own variables.
    fn bound_by(&self, semantics: &Semantics<'_>, callee: FuncId, out: &mut BTreeSet<StateVarId>) {
        let function = self.program.function(callee);
        let own = function.formals.iter().chain(&function.locals);
        for &variable in own.chain(&function.result) {
            written_by(semantics, &Op::Declare { variable }, out);
        }
    }

    /// The number of edges from a location to the nearest error, as far as the graph tells.
    pub(crate) fn distance(&self, location: LocId) -> u32 {
        self.distances[location.index()]
    }

    fn measure(&self) -> Vec<u32> {
        let program = self.program;
        let mut predecessors: Vec<Vec<LocId>> = vec![Vec::new(); program.locations.len()];
        for edge in &program.edges {
            predecessors[edge.to.index()].push(edge.from);
            if let Op::Call { callee, .. } = &edge.op {
                for target in callee.targets() {
                    let function = program.function(*target);
                    predecessors[function.entry.index()].push(edge.from);
                    predecessors[edge.to.index()].push(function.exit);
                }
            }
        }
        let mut distances = vec![u32::MAX; program.locations.len()];
        let mut work = VecDeque::new();
        for (index, location) in program.locations.iter().enumerate() {
            let at = LocId(index as u32);
            let open = matches!(location.kind, LocationKind::Error(c) if self.open.contains(&c));
            if open
                || program
                    .edges_from(at)
                    .any(|(id, edge)| matches!(edge.op, Op::Unsupported { .. }) && self.fails(id))
            {
                distances[index] = 0;
                work.push_back(at);
            }
        }
        while let Some(at) = work.pop_front() {
            let next = distances[at.index()] + 1;
            for &from in &predecessors[at.index()] {
                if distances[from.index()] == u32::MAX {
                    distances[from.index()] = next;
                    work.push_back(from);
                }
            }
        }
        distances
    }
}

/// A function's graph as seen from inside some loops: the locations, then the next arrival at the
/// head of each of those loops, then the error.
struct Unrolled {
    successors: Vec<Vec<usize>>,
    heads: Vec<LocId>,
    error: usize,
}

impl Unrolled {
    fn new(
        structure: &Structure<'_>,
        graph: &FunctionGraph,
        nest: &[usize],
        returns: Return,
    ) -> Unrolled {
        let count = graph.count;
        let error = count + nest.len();
        let mut successors = vec![Vec::new(); error + 1];
        let heads: Vec<LocId> = nest.iter().map(|&at| graph.head(at)).collect();
        // Where an edge leads: back to a head from inside its loop is the next arrival.
        let follow = |from: LocId, to: LocId| -> usize {
            let again = nest
                .iter()
                .position(|&at| graph.head(at) == to && graph.holds(at, from));
            again.map_or(graph.index(to), |place| count + place)
        };
        for index in 0..count {
            let from = graph.location(index);
            if structure.is_live_exit(from, returns) {
                successors[index].push(error);
            }
            for (id, edge) in structure.program.edges_from(from) {
                if structure.dangerous(id) {
                    successors[index].push(error);
                }
                let to = follow(from, edge.to);
                if !matches!(edge.op, Op::Unsupported { .. }) {
                    successors[index].push(to);
                }
                for (place, &at) in nest.iter().enumerate() {
                    if !graph.holds(at, from) {
                        continue;
                    }
                    // From the next arrival on, the loop is known by its exits and its errors.
                    if structure.dangerous(id) {
                        successors[count + place].push(error);
                    }
                    if !graph.holds(at, edge.to) {
                        successors[count + place].push(to);
                    }
                }
            }
            for (place, &at) in nest.iter().enumerate() {
                if graph.holds(at, from) && structure.is_live_exit(from, returns) {
                    successors[count + place].push(error);
                }
            }
        }
        Unrolled {
            successors,
            heads,
            error,
        }
    }

    fn meets(&self, graph: &FunctionGraph) -> Vec<Meet> {
        let above = Dominators::new(&reversed(&self.successors), self.error);
        (0..graph.count)
            .map(|index| match above.immediate(index) {
                None => Meet::Never,
                Some(at) if at == self.error => Meet::Nowhere,
                Some(at) if at >= graph.count => Meet::At(self.heads[at - graph.count]),
                Some(at) => Meet::At(graph.location(at)),
            })
            .collect()
    }
}

/// Whether a call names the function that it calls.
pub(crate) fn is_direct(program: &Program, edge: EdgeId) -> bool {
    matches!(
        program.edges[edge.index()].op,
        Op::Call {
            callee: Callee::Direct(_),
            ..
        }
    )
}
