//! The cut points of a program and the paths between them, each path as one guarded assignment.

use crate::flat::{Below, Flat, Move, NodeId, TooLarge};
use hardbop_budget::Stopped;
use hardbop_cfront::ids::{CheckId, EdgeId, FuncId, LocId, VarId};
use hardbop_graph::cycles;
use hardbop_logic::{Op as TermOp, Prover, TermId, Terms};
use hardbop_model::plain::is_plain;
use hardbop_semantics::constants::{Constants, Meaning};
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{Execution, Fresh, FreshOrigin, Semantics, State};
use std::collections::{BTreeMap, BTreeSet};

/// A cut point, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CutId(pub u32);

impl CutId {
    /// The start of the program.
    pub const START: CutId = CutId(0);
}

/// A path, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathId(pub u32);

/// Where a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// At a cut point.
    Cut(CutId),
    /// Where a check is violated.
    Violated(CheckId),
}

/// A value that the program does not determine, met on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The edge that meets it.
    pub edge: EdgeId,
    /// How often the path has met something at this edge before.
    pub occurrence: usize,
    /// The symbol for it.
    pub symbol: TermId,
    /// Where it comes from.
    pub origin: FreshOrigin,
}

/// A path between two cut points.
#[derive(Clone, Debug)]
pub struct Path {
    /// Where it starts.
    pub from: CutId,
    /// Where it ends.
    pub to: End,
    /// What happens, move by move.
    pub moves: Vec<Move>,
    /// When it is taken, over the state before and the unknowns.
    pub condition: TermId,
    /// The state after it.
    pub state: State,
    /// What it leaves open.
    pub unknowns: Vec<Unknown>,
    /// Whether every model is a run.
    pub exact: bool,
}

/// A cut point: the start of the program (the first one), or a node that cuts loops.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The node.
    pub node: NodeId,
    /// Its location.
    pub location: LocId,
    /// The paths that start here, by their number.
    pub paths: Vec<PathId>,
    /// The state variables that matter here.
    pub relevant: BTreeSet<StateVarId>,
    /// The strongly connected part of the graph that it lies in; `None` if in no loop.
    pub part: Option<usize>,
}

/// Cut points and paths.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The cut points; the first one is the start of the program.
    pub cuts: Vec<Cut>,
    /// The paths.
    pub paths: Vec<Path>,
    /// The checks that some path may violate.
    pub checks: BTreeSet<CheckId>,
    /// The constants of state variables.
    pub constants: Constants,
    /// Whether it is the graph of the program itself, and not of one with variables for depths.
    pub is_of_the_program: bool,
    /// Whether no paths were left out: because there are too many, or because of a suggestion.
    pub complete: bool,
}

/// Why there is no graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoGraph {
    /// The program is too large.
    TooLarge,
    /// The budget ran out.
    Stopped(Stopped),
}

/// Which loops are looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Suggestion {
    /// All of them.
    #[default]
    None,
    /// Only runs that pass no other cut location than these: the loop heads of an abstract path.
    Through(BTreeSet<LocId>),
}

/// At most this many paths leave one cut point.
const MAX_PATHS: usize = 192;
/// A path has at most this many moves.
const MAX_MOVES: usize = 20_000;

impl Graph {
    /// The graph that leads to some checks.
    pub fn new(
        semantics: &Semantics<'_>,
        terms: &mut Terms,
        prover: &mut Prover,
        checks: &BTreeSet<CheckId>,
        suggestion: &Suggestion,
        depths: &BTreeMap<FuncId, VarId>,
    ) -> Result<Graph, NoGraph> {
        let program = semantics.program;
        let flat = Flat::new(program).map_err(|TooLarge| NoGraph::TooLarge)?;
        let goals: BTreeSet<NodeId> = (0..flat.nodes.len() as u32)
            .map(NodeId)
            .filter(|&node| {
                flat.violated(program, node)
                    .is_some_and(|check| checks.contains(&check))
            })
            .collect();
        let counts = flat.leading_to(&goals);
        let cut_nodes = flat.cuts(&counts);
        let constants = Constants::new(semantics, terms);
        let mut graph = Graph {
            cuts: Vec::new(),
            paths: Vec::new(),
            checks: BTreeSet::new(),
            constants,
            is_of_the_program: true,
            complete: true,
        };
        let mut numbers = BTreeMap::new();
        let wanted = |location: LocId| match suggestion {
            Suggestion::None => true,
            Suggestion::Through(locations) => locations.contains(&location),
        };
        let start = std::iter::once(NodeId::START);
        for (position, node) in start.chain(cut_nodes.iter().copied()).enumerate() {
            let location = flat.nodes[node.index()].location;
            if position > 0 && !wanted(location) {
                continue;
            }
            if position > 0 {
                numbers.insert(node, CutId(graph.cuts.len() as u32));
            }
            graph.cuts.push(Cut {
                node,
                location,
                paths: Vec::new(),
                relevant: BTreeSet::new(),
                part: None,
            });
        }
        let walker = Walker {
            semantics,
            flat: &flat,
            counts: &counts,
            cut_nodes: &cut_nodes,
            numbers: &numbers,
            goals: &goals,
            depths: &depth_states(semantics, depths),
        };
        if counts[0] {
            for cut in graph.cut_ids() {
                walker.paths(terms, prover, &mut graph, cut)?;
            }
        }
        graph.relevance(semantics, terms);
        graph.parts();
        Ok(graph)
    }

    /// A cut point.
    pub fn cut(&self, id: CutId) -> &Cut {
        &self.cuts[id.0 as usize]
    }

    /// A path.
    pub fn path(&self, id: PathId) -> &Path {
        &self.paths[id.0 as usize]
    }

    /// All cut points.
    pub fn cut_ids(&self) -> impl Iterator<Item = CutId> + use<> {
        (0..self.cuts.len() as u32).map(CutId)
    }

    /// All paths.
    pub fn path_ids(&self) -> impl Iterator<Item = PathId> + use<> {
        (0..self.paths.len() as u32).map(PathId)
    }

    /// The state variables that matter at every cut point: what conditions read, and what decides
    /// the values of what matters later.
    fn relevance(&mut self, semantics: &Semantics<'_>, terms: &mut Terms) {
        let mut changed = true;
        while changed {
            changed = false;
            for index in 0..self.paths.len() {
                let path = &self.paths[index];
                let mut roots = vec![path.condition];
                if let End::Cut(to) = path.to {
                    for &id in &self.cut(to).relevant {
                        roots.push(path.state.get(semantics, terms, id));
                    }
                }
                let read = self.variables_in(terms, &roots);
                let from = self.paths[index].from.0 as usize;
                let relevant = &mut self.cuts[from].relevant;
                let before = relevant.len();
                relevant.extend(read);
                changed |= relevant.len() > before;
            }
        }
    }

    /// The state variables that terms mention.
    pub fn variables_in(&self, terms: &Terms, roots: &[TermId]) -> BTreeSet<StateVarId> {
        terms
            .free_constants(roots)
            .into_iter()
            .filter_map(|constant| match self.constants.meaning(constant) {
                Some(Meaning::Now(id)) => Some(id),
                _ => None,
            })
            .collect()
    }

    /// Finds the strongly connected parts: cut points that reach each other.
    fn parts(&mut self) {
        let successors: Vec<Vec<usize>> = self
            .cuts
            .iter()
            .map(|cut| {
                let ends = cut.paths.iter().map(|&path| self.path(path).to);
                let cuts = ends.filter_map(|end| match end {
                    End::Cut(to) => Some(to.0 as usize),
                    End::Violated(_) => None,
                });
                cuts.collect()
            })
            .collect();
        for (cut, part) in self.cuts.iter_mut().zip(cycles(&successors)) {
            cut.part = part;
        }
    }

    /// Whether a path can be part of a claim that is not replayed: nothing but plain values, no
    /// memory that an access could miss, no calls that pile up.
    pub fn is_plain(&self, semantics: &Semantics<'_>, terms: &Terms, path: &Path) -> bool {
        let mut edges = Vec::new();
        for step in &path.moves {
            match *step {
                Move::Again(..) | Move::Back(..) => return false,
                Move::Edge(edge) | Move::Enter(edge, _) | Move::Leave(edge, _) => edges.push(edge),
            }
        }
        let functions = terms
            .postorder(&[path.condition])
            .into_iter()
            .any(|term| matches!(terms.op(term), TermOp::Select | TermOp::Apply(_)));
        path.exact && is_plain(semantics, edges) && !functions
    }
}

struct Walker<'a, 'p> {
    semantics: &'a Semantics<'p>,
    flat: &'a Flat,
    counts: &'a [bool],
    cut_nodes: &'a BTreeSet<NodeId>,
    numbers: &'a BTreeMap<NodeId, CutId>,
    goals: &'a BTreeSet<NodeId>,
    /// What counts the activations of a recursive function.
    depths: &'a BTreeMap<FuncId, StateVarId>,
}

/// The state variables of the program's variables for depths.
fn depth_states(
    semantics: &Semantics<'_>,
    depths: &BTreeMap<FuncId, VarId>,
) -> BTreeMap<FuncId, StateVarId> {
    let mut found = BTreeMap::new();
    for (index, described) in semantics.layout.variables().iter().enumerate() {
        for (&function, &variable) in depths {
            if described.variable == Some(variable) {
                found.insert(function, StateVarId(index as u32));
            }
        }
    }
    found
}

/// A path in the making.
#[derive(Clone)]
struct Partial {
    node: NodeId,
    moves: Vec<Move>,
    conditions: Vec<TermId>,
    state: State,
    unknowns: Vec<Unknown>,
    exact: bool,
}

impl Walker<'_, '_> {
    /// Finds the paths that start at a cut point.
    fn paths(
        &self,
        terms: &mut Terms,
        prover: &mut Prover,
        graph: &mut Graph,
        cut: CutId,
    ) -> Result<(), NoGraph> {
        let mut first = Partial {
            node: graph.cut(cut).node,
            moves: Vec::new(),
            conditions: Vec::new(),
            state: State::new(),
            unknowns: Vec::new(),
            exact: true,
        };
        if cut == CutId::START {
            let mut run = Execution::new(self.semantics);
            run.start(terms);
            first.exact = run.exact;
            first.conditions = run.facts;
            first.state = run.state;
        }
        let mut found = 0;
        let mut work = vec![first];
        while let Some(partial) = work.pop() {
            if let Err(stopped) = prover.budget.check() {
                return Err(NoGraph::Stopped(stopped));
            }
            let successors = &self.flat.successors[partial.node.index()];
            let mut open = 0;
            for &(step, to) in successors.iter().rev() {
                if !self.counts[to.index()] {
                    continue;
                }
                let Some(next) = self.advance(terms, &partial, step, to) else {
                    continue;
                };
                let end = if self.goals.contains(&to) {
                    self.flat
                        .violated(self.semantics.program, to)
                        .map(End::Violated)
                } else if self.cut_nodes.contains(&to) {
                    match self.numbers.get(&to) {
                        Some(&cut) => Some(End::Cut(cut)),
                        // Another loop than the ones suggested.
                        None => {
                            graph.complete = false;
                            continue;
                        }
                    }
                } else {
                    None
                };
                let Some(end) = end else {
                    open += 1;
                    if next.moves.len() < MAX_MOVES {
                        work.push(next);
                    } else {
                        graph.complete = false;
                    }
                    continue;
                };
                let condition = terms.and(&next.conditions);
                if prover.unsatisfiable(terms, &[condition]) == Ok(true) {
                    continue;
                }
                if let End::Violated(check) = end {
                    graph.checks.insert(check);
                }
                let path = PathId(graph.paths.len() as u32);
                graph.cuts[cut.0 as usize].paths.push(path);
                graph.paths.push(Path {
                    from: cut,
                    to: end,
                    moves: next.moves,
                    condition,
                    state: next.state,
                    unknowns: next.unknowns,
                    exact: next.exact,
                });
                found += 1;
            }
            // Where paths part, the ones that cannot be taken are given up early.
            if open > 1 && work.len() > 8 {
                let at = work.len() - open;
                for partial in work.split_off(at) {
                    let condition = terms.and(&partial.conditions);
                    if prover.unsatisfiable(terms, &[condition]) != Ok(true) {
                        work.push(partial);
                    }
                }
            }
            if found >= MAX_PATHS {
                graph.complete &= work.is_empty();
                break;
            }
        }
        Ok(())
    }

    /// Counts an activation of a function that is active already.
    fn deeper(&self, terms: &mut Terms, run: &mut Execution<'_, '_>, callee: FuncId, by: i128) {
        if let Some(&depth) = self.depths.get(&callee) {
            let now = run.state.get(self.semantics, terms, depth);
            let by = terms.bv(by, terms.width(now));
            let then = terms.bv_add(now, by);
            run.state.set(depth, then);
        }
    }

    /// One move further; `None` where it cannot be taken.
    fn advance(
        &self,
        terms: &mut Terms,
        partial: &Partial,
        step: Move,
        to: NodeId,
    ) -> Option<Partial> {
        let mut run = Execution::new(self.semantics);
        run.state = partial.state.clone();
        let (edge, condition) = match step {
            Move::Edge(edge) => (edge, run.edge(terms, edge).ok()?),
            Move::Enter(call, callee) => (call, run.enter(terms, call, callee)),
            Move::Again(call, callee) => {
                let condition = run.enter(terms, call, callee);
                self.deeper(terms, &mut run, callee, 1);
                (call, condition)
            }
            Move::Leave(call, callee) => {
                // The frame is made only to be left: what entering did is taken back.
                run.enter(terms, call, callee);
                run.state = partial.state.clone();
                run.facts.clear();
                run.fresh.clear();
                run.exact = true;
                run.leave(terms);
                (call, terms.bool(true))
            }
            Move::Back(call, callee, below) => {
                // A frame that keeps anything at all for the activation below; what the one above
                // returns is read from its own.
                let caller = self.semantics.program.edges[call.index()].from;
                let caller = self.semantics.program.locations[caller.index()].function;
                for function in BTreeSet::from([callee, caller]) {
                    for id in self.semantics.frame_variables(function) {
                        run.forget(terms, id);
                    }
                }
                let kept = run.state.clone();
                run.enter(terms, call, callee);
                run.facts.clear();
                run.state = partial.state.clone();
                for id in self.semantics.frame_variables(caller) {
                    if caller != callee {
                        run.state.set(id, kept.get(self.semantics, terms, id));
                    }
                }
                run.leave(terms);
                run.exact = false;
                let condition = match self.depths.get(&callee) {
                    Some(&depth) => {
                        let now = run.state.get(self.semantics, terms, depth);
                        let one = terms.bv(1, terms.width(now));
                        match below {
                            Below::First => terms.eq(now, one),
                            Below::Other => terms.bv_ult(one, now),
                        }
                    }
                    None => terms.bool(true),
                };
                self.deeper(terms, &mut run, callee, -1);
                (call, condition)
            }
        };
        if matches!(terms.op(condition), TermOp::Bool(false)) {
            return None;
        }
        let mut next = partial.clone();
        next.node = to;
        next.moves.push(step);
        for fact in run.facts.into_iter().chain([condition]) {
            if !matches!(terms.op(fact), TermOp::Bool(true)) {
                next.conditions.push(fact);
            }
        }
        next.state = run.state;
        next.exact &= run.exact;
        let occurrence = next
            .unknowns
            .iter()
            .filter(|unknown| unknown.edge == edge)
            .count();
        for (index, Fresh { term, origin }) in run.fresh.into_iter().enumerate() {
            next.exact &= origin != FreshOrigin::Imprecise;
            next.unknowns.push(Unknown {
                edge,
                occurrence: occurrence + index,
                symbol: term,
                origin,
            });
        }
        Some(next)
    }
}
