//! Lazy predicate abstraction: a C program as a supergraph of boolean states.
//!
//! The slots of a state are the predicates in scope. What a block does to them is asked of the
//! solver when Bebop has states to send through it, and only for those: all models over the
//! predicates that matter, as a relation (DESIGN of C2bp: large blocks, AllSMT). Predicates that a
//! block cannot touch keep their value without a question. Answers are kept across refinements as
//! long as the predicates they speak of stay the same.
//!
//! A predicate is tracked only at the cut points where the precision asks for it. Between them
//! its slot holds nothing: an edge to a cut point that tracks it works it out again, and an edge
//! that may change a global predicate which its end does not track leaves it open.

mod relations;
mod wiring;

use hardbop_bebop::bdd::Bdd;
use hardbop_bebop::space::{Slot, Space};
use hardbop_bebop::supergraph::{Edge, Ends, Proc, Procedure, Supergraph, Vertex};
use hardbop_budget::Stopped;
use hardbop_cfront::ids::{FuncId, LocId};
use hardbop_cfront::program::VarKind;
use hardbop_logic::{Cube, Session, TermId, Terms};
use hardbop_newton::predicate::Predicate;
use hardbop_semantics::Semantics;
use hardbop_semantics::block::Block;
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::places::Places;
use hardbop_semantics::skeleton::{
    ProcedureId, Skeleton, SkeletonEdgeId, SkeletonEdgeKind, VertexId,
};
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// Which predicates are tracked where.
pub type Precision = BTreeMap<LocId, BTreeSet<Predicate>>;

/// What is kept from round to round: blocks, and answers of the solver.
#[derive(Default)]
pub struct Memory {
    pub(crate) blocks: BTreeMap<LocId, Block>,
    answers: HashMap<Question, Vec<Known>>,
    places: Places,
    together: usize,
}

impl Memory {
    /// Follows predicates together as long as that gives no more combinations for each state; what
    /// was followed one by one is asked again.
    pub(crate) fn follow(&mut self, together: usize) {
        self.together = together;
        for known in self.answers.values_mut() {
            known.retain(|known| known.together);
        }
    }
}

/// What a relation speaks of: the edge, the predicates before and after. Formulas, not slots: they
/// mean the same in every round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Question {
    edge: SkeletonEdgeId,
    before: Vec<TermId>,
    after: Vec<TermId>,
}

/// The answer for some states: cubes over the predicates before, and for them all models over the
/// predicates before and after, those of each group that is independent of the others apart.
#[derive(Clone, Debug)]
struct Known {
    domain: Vec<Cube>,
    models: Vec<Vec<Cube>>,
    /// Whether all predicates were followed together.
    together: bool,
}

/// A predicate with what it speaks of.
#[derive(Clone, Debug)]
struct Entry {
    formula: TermId,
    now: BTreeSet<StateVarId>,
    /// The cut points that track it.
    tracked: BTreeSet<VertexId>,
}

impl Entry {
    fn at(&self, vertex: VertexId) -> bool {
        self.tracked.contains(&vertex)
    }
}

/// One procedure's predicates.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// The local predicates, those that make sense at the entry first.
    predicates: Vec<Entry>,
    /// How many make sense at the entry.
    formals: usize,
    /// Which make sense at the exit: positions in `predicates`.
    returns: Vec<usize>,
    /// The slots that hold what callees return.
    temporaries: usize,
}

/// An edge with the slots that it reads and writes.
#[derive(Clone, Debug, Default)]
struct Wiring {
    reads: Vec<Slot>,
    writes: Vec<Slot>,
    /// The formulas of the slots read, over the state before.
    before: Vec<TermId>,
    /// The formulas of the first slots written, over the state before and fresh symbols; the
    /// other slots written may have any value.
    after: Vec<TermId>,
    /// What must hold for the edge to be taken.
    condition: Option<TermId>,
    results: Vec<(Slot, Slot)>,
}

/// A program abstracted by a set of predicates.
pub struct Abstraction<'a, 'p> {
    ground: &'a Ground<'a, 'p>,
    terms: &'a mut Terms,
    session: &'a mut Session<'static>,
    memory: &'a mut Memory,
    globals: Vec<Entry>,
    scopes: Vec<Scope>,
    wirings: Vec<Option<Wiring>>,
    relations: Vec<Option<(Bdd, Bdd)>>,
    /// How many relations were asked of the solver.
    pub queries: u64,
}

impl<'a, 'p> Abstraction<'a, 'p> {
    /// Abstracts a program by predicates.
    pub fn new(
        ground: &'a Ground<'a, 'p>,
        terms: &'a mut Terms,
        session: &'a mut Session<'static>,
        memory: &'a mut Memory,
        precision: &Precision,
    ) -> Abstraction<'a, 'p> {
        let mut tracked: BTreeMap<Predicate, BTreeSet<VertexId>> = BTreeMap::new();
        for (&location, predicates) in precision {
            if let Some(vertex) = ground.skeleton.vertex_at(location) {
                for predicate in predicates {
                    tracked.entry(predicate.clone()).or_default().insert(vertex);
                }
            }
        }
        let mut globals = Vec::new();
        let mut locals: BTreeMap<FuncId, Vec<Entry>> = BTreeMap::new();
        for (predicate, mut tracked) in tracked {
            let Some(support) = ground.constants.support(terms, predicate.formula) else {
                continue;
            };
            let now = support
                .iter()
                .filter_map(|meaning| match meaning {
                    Meaning::Now(id) => Some(*id),
                    _ => None,
                })
                .collect();
            match predicate.scope {
                None => {
                    track_into_calls(ground.skeleton, &mut tracked);
                    globals.push(Entry {
                        formula: predicate.formula,
                        now,
                        tracked,
                    });
                }
                Some(function) => {
                    let entry = Entry {
                        formula: predicate.formula,
                        now,
                        tracked,
                    };
                    locals.entry(function).or_default().push(entry);
                }
            }
        }
        let mut scopes = Vec::new();
        for procedure in &ground.skeleton.procedures {
            let mut scope = Scope::default();
            if let Some(function) = procedure.function {
                let entries = locals.remove(&function).unwrap_or_default();
                let (first, rest): (Vec<Entry>, Vec<Entry>) = entries
                    .into_iter()
                    .partition(|entry| at_entry(ground, entry));
                scope.formals = first.len();
                scope.predicates = first.into_iter().chain(rest).collect();
                scope.returns = (0..scope.predicates.len())
                    .filter(|&index| {
                        let entry = &scope.predicates[index];
                        entry.at(procedure.exit) && at_exit(ground, entry)
                    })
                    .collect();
            }
            scopes.push(scope);
        }
        for edge in &ground.skeleton.edges {
            if let SkeletonEdgeKind::Call(_, callee) = edge.kind
                && let Some(target) = ground.skeleton.procedure_of(callee)
            {
                let needed = scopes[target.index()].returns.len();
                let caller = ground.skeleton.vertex(edge.from).procedure;
                let caller = &mut scopes[caller.index()];
                caller.temporaries = caller.temporaries.max(needed);
            }
        }
        let edges = ground.skeleton.edges.len();
        let mut abstraction = Abstraction {
            ground,
            terms,
            session,
            memory,
            globals,
            scopes,
            wirings: vec![None; edges],
            relations: vec![None; edges],
            queries: 0,
        };
        for edge in 0..edges as u32 {
            abstraction.wire(SkeletonEdgeId(edge));
        }
        abstraction
    }

    /// The formula of a slot of a procedure, over the constants of state variables; `None` for a
    /// slot that only carries what a callee returned.
    pub fn formula(&self, procedure: ProcedureId, slot: Slot) -> Option<TermId> {
        let index = slot.index();
        if let Some(global) = self.globals.get(index) {
            return Some(global.formula);
        }
        let scope = &self.scopes[procedure.index()];
        let index = index - self.globals.len();
        if index < scope.formals {
            return Some(scope.predicates[index].formula);
        }
        let index = index - scope.formals;
        if index < scope.returns.len() {
            return Some(scope.predicates[scope.returns[index]].formula);
        }
        let index = index - scope.returns.len() + scope.formals;
        scope.predicates.get(index).map(|entry| entry.formula)
    }

    /// The formula that is always true.
    pub fn always(&mut self) -> TermId {
        self.terms.bool(true)
    }

    /// A slot's value as a formula over the current values, or over the entry values (`entry`).
    pub fn literal(
        &mut self,
        procedure: ProcedureId,
        slot: Slot,
        entry: bool,
        value: bool,
    ) -> Option<TermId> {
        let mut formula = self.formula(procedure, slot)?;
        if entry {
            let semantics = self.ground.semantics;
            let mut map = BTreeMap::new();
            for constant in self.terms.free_constants(&[formula]) {
                if let Some(Meaning::Now(id)) = self.ground.constants.meaning(constant) {
                    map.insert(constant, semantics.old_constant(self.terms, id));
                }
            }
            formula = self.terms.substitute(formula, &map);
        }
        Some(if value {
            formula
        } else {
            self.terms.not(formula)
        })
    }

    /// A disjunction of conjunctions.
    pub fn disjunction(&mut self, cubes: Vec<Vec<TermId>>) -> TermId {
        let cubes: Vec<TermId> = cubes.iter().map(|cube| self.terms.and(cube)).collect();
        self.terms.or(&cubes)
    }

    /// The slot of the local predicate at a position.
    fn local_slot(&self, procedure: ProcedureId, position: usize) -> Slot {
        let scope = &self.scopes[procedure.index()];
        let globals = self.globals.len();
        if position < scope.formals {
            Slot((globals + position) as u32)
        } else {
            Slot((globals + scope.returns.len() + position) as u32)
        }
    }

    fn return_slot(&self, procedure: ProcedureId, position: usize) -> Slot {
        Slot((self.globals.len() + self.scopes[procedure.index()].formals + position) as u32)
    }

    fn temporary_slot(&self, procedure: ProcedureId, position: usize) -> Slot {
        let scope = &self.scopes[procedure.index()];
        let first = self.globals.len() + scope.predicates.len() + scope.returns.len();
        Slot((first + position) as u32)
    }

    /// The predicates in scope with their slots.
    fn visible(&self, procedure: ProcedureId) -> Vec<(Slot, Entry)> {
        let mut all: Vec<(Slot, Entry)> = self
            .globals
            .iter()
            .enumerate()
            .map(|(index, entry)| (Slot(index as u32), entry.clone()))
            .collect();
        for (position, entry) in self.scopes[procedure.index()].predicates.iter().enumerate() {
            all.push((self.local_slot(procedure, position), entry.clone()));
        }
        all
    }
}

/// A global predicate that a callee's entry tracks must be there at every call of it: calls pass
/// globals on as they are.
fn track_into_calls(skeleton: &Skeleton, tracked: &mut BTreeSet<VertexId>) {
    loop {
        let before = tracked.len();
        for edge in &skeleton.edges {
            if let SkeletonEdgeKind::Call(_, callee) = edge.kind
                && let Some(target) = skeleton.procedure_of(callee)
                && tracked.contains(&skeleton.procedure(target).entry)
            {
                tracked.insert(edge.from);
            }
        }
        if tracked.len() == before {
            return;
        }
    }
}

fn is_result(semantics: &Semantics<'_>, id: StateVarId) -> bool {
    semantics.layout.get(id).variable.is_some_and(|variable| {
        matches!(
            semantics.program.variable(variable).kind,
            VarKind::Result(_)
        )
    })
}

/// Whether a predicate speaks only of what a procedure finds at its entry.
fn at_entry(ground: &Ground<'_, '_>, entry: &Entry) -> bool {
    let layout = &ground.semantics.layout;
    entry.now.iter().all(|&id| {
        let variable = layout.get(id);
        variable.owner.is_none()
            || variable.variable.is_some_and(|variable| {
                matches!(
                    ground.semantics.program.variable(variable).kind,
                    VarKind::Formal(_)
                )
            })
    })
}

/// Whether a predicate speaks only of what a procedure leaves at its exit.
fn at_exit(ground: &Ground<'_, '_>, entry: &Entry) -> bool {
    let layout = &ground.semantics.layout;
    entry
        .now
        .iter()
        .all(|&id| layout.get(id).owner.is_none() || is_result(ground.semantics, id))
}

impl Supergraph for Abstraction<'_, '_> {
    fn globals(&self) -> u32 {
        self.globals.len() as u32
    }

    fn procedures(&self) -> u32 {
        self.ground.skeleton.procedures.len() as u32
    }

    fn main(&self) -> Proc {
        Proc(0)
    }

    fn procedure(&self, procedure: Proc) -> Procedure {
        let skeleton = &self.ground.skeleton.procedures[procedure.index()];
        let scope = &self.scopes[procedure.index()];
        Procedure {
            vertices: skeleton.vertices.clone(),
            entry: Vertex(skeleton.entry.0),
            exit: Vertex(skeleton.exit.0),
            formals: scope.formals as u32,
            returns: scope.returns.len() as u32,
            locals: (scope.predicates.len() - scope.formals + scope.temporaries) as u32,
        }
    }

    fn vertices(&self) -> u32 {
        self.ground.skeleton.vertices.len() as u32
    }

    fn procedure_of(&self, vertex: Vertex) -> Proc {
        Proc(self.ground.skeleton.vertex(VertexId(vertex.0)).procedure.0)
    }

    fn edges(&self) -> u32 {
        self.ground.skeleton.edges.len() as u32
    }

    fn edges_from(&self, vertex: Vertex) -> Range<u32> {
        self.ground
            .skeleton
            .vertex(VertexId(vertex.0))
            .edges
            .clone()
    }

    fn ends(&self, edge: Edge) -> Ends {
        let ends = self.ground.skeleton.edge(SkeletonEdgeId(edge.0));
        let callee = match ends.kind {
            SkeletonEdgeKind::Call(_, callee) => self
                .ground
                .skeleton
                .procedure_of(callee)
                .map(|id| Proc(id.0)),
            _ => None,
        };
        Ends {
            from: Vertex(ends.from.0),
            to: Vertex(ends.to.0),
            callee,
        }
    }

    fn reads(&self, edge: Edge, slots: &mut Vec<Slot>) {
        if let Some(wiring) = &self.wirings[edge.index()] {
            slots.extend(&wiring.reads);
        }
    }

    fn writes(&self, edge: Edge, slots: &mut Vec<Slot>) {
        let Some(wiring) = &self.wirings[edge.index()] else {
            return;
        };
        match self.ground.skeleton.edge(SkeletonEdgeId(edge.0)).kind {
            SkeletonEdgeKind::Call(..) => {
                slots.extend(wiring.results.iter().map(|&(_, target)| target));
            }
            _ => slots.extend(&wiring.writes),
        }
    }

    fn results(&self, call: Edge, results: &mut Vec<(Slot, Slot)>) {
        if let Some(wiring) = &self.wirings[call.index()] {
            results.extend(&wiring.results);
        }
    }

    fn transfer(&mut self, edge: Edge, from: Bdd, space: &mut Space) -> Result<Bdd, Stopped> {
        self.relation(SkeletonEdgeId(edge.0), from, space)
    }

    fn arguments(&mut self, call: Edge, from: Bdd, space: &mut Space) -> Result<Bdd, Stopped> {
        self.relation(SkeletonEdgeId(call.0), from, space)
    }

    fn invariant(&mut self, _: Proc, _: &mut Space) -> Result<Bdd, Stopped> {
        Ok(Bdd::TRUE)
    }

    fn invariant_reads(&self, _: Proc, _: &mut Vec<Slot>) {}

    fn roots(&self, visit: &mut dyn FnMut(Bdd)) {
        for (known, relation) in self.relations.iter().flatten() {
            visit(*known);
            visit(*relation);
        }
    }
}
