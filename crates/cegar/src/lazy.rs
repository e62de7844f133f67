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

use crate::groups::{Group, groups};
use hardbop_bebop::bdd::Bdd;
use hardbop_bebop::space::{Copy, Slot, Space};
use hardbop_bebop::supergraph::{Edge, Ends, Proc, Procedure, Supergraph, Vertex};
use hardbop_budget::Stopped;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::VarKind;
use hardbop_logic::{Cube, Session, TermId, Terms, Unknown, all_models, merge_cubes};
use hardbop_newton::atoms::{Constants, Meaning, Predicate};
use hardbop_semantics::block::{Block, block};
use hardbop_semantics::effects::Effects;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::skeleton::{Skeleton, SkeletonEdgeKind};
use hardbop_semantics::{Execution, Semantics, State};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::{ControlFlow, Range};

/// Which predicates are tracked where.
pub type Precision = BTreeMap<LocId, BTreeSet<Predicate>>;

/// What does not change from round to round.
pub struct Ground<'a, 'p> {
    /// How the program is read.
    pub semantics: &'a Semantics<'p>,
    /// What functions may change.
    pub effects: &'a Effects,
    /// The cut points.
    pub skeleton: &'a Skeleton,
    /// The constants of state variables.
    pub constants: &'a Constants,
}

/// What is kept from round to round: blocks, and answers of the solver.
#[derive(Default)]
pub struct Memory {
    blocks: BTreeMap<LocId, Block>,
    answers: HashMap<Question, Vec<Known>>,
}

/// What a relation speaks of: the edge, the predicates before and after. Formulas, not slots: they
/// mean the same in every round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Question {
    edge: usize,
    before: Vec<TermId>,
    after: Vec<TermId>,
}

/// The answer for some states: cubes over the predicates before, and for them all models over the
/// predicates before and after, those of each group that is independent of the others apart.
#[derive(Clone, Debug)]
struct Known {
    domain: Vec<Cube>,
    models: Vec<Vec<Cube>>,
}

/// A predicate with what it speaks of.
#[derive(Clone, Debug)]
struct Entry {
    formula: TermId,
    now: BTreeSet<StateVarId>,
    /// The cut points that track it, by their numbers.
    tracked: BTreeSet<usize>,
}

impl Entry {
    fn at(&self, vertex: usize) -> bool {
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
    /// Why precision was lost, if it was: the solver did not know.
    pub lost: Option<Unknown>,
    /// How many relations were asked of the solver.
    pub queries: u64,
}

/// From so many predicates on, groups that are independent of each other are looked for.
const GROUPED: usize = 6;
/// The root's second cut point, from which the entry function is called.
const READY: usize = 1;
/// More models than this for one question: the rest is taken to be possible.
const MAX_MODELS: usize = 4096;

impl<'a, 'p> Abstraction<'a, 'p> {
    /// Abstracts a program by predicates.
    pub fn new(
        ground: &'a Ground<'a, 'p>,
        terms: &'a mut Terms,
        session: &'a mut Session<'static>,
        memory: &'a mut Memory,
        precision: &Precision,
    ) -> Abstraction<'a, 'p> {
        let mut tracked: BTreeMap<Predicate, BTreeSet<usize>> = BTreeMap::new();
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
                let needed = scopes[target].returns.len();
                let caller = ground.skeleton.vertices[edge.from].procedure;
                scopes[caller].temporaries = scopes[caller].temporaries.max(needed);
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
            lost: None,
            queries: 0,
        };
        for edge in 0..edges {
            abstraction.wire(edge);
        }
        abstraction
    }

    /// The formula of a slot of a procedure, over the constants of state variables; `None` for a
    /// slot that only carries what a callee returned.
    pub fn formula(&self, procedure: usize, slot: Slot) -> Option<TermId> {
        let index = slot.index();
        if let Some(global) = self.globals.get(index) {
            return Some(global.formula);
        }
        let scope = &self.scopes[procedure];
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
        procedure: usize,
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
    fn local_slot(&self, procedure: usize, position: usize) -> Slot {
        let scope = &self.scopes[procedure];
        let globals = self.globals.len();
        if position < scope.formals {
            Slot((globals + position) as u32)
        } else {
            Slot((globals + scope.returns.len() + position) as u32)
        }
    }

    fn return_slot(&self, procedure: usize, position: usize) -> Slot {
        Slot((self.globals.len() + self.scopes[procedure].formals + position) as u32)
    }

    fn temporary_slot(&self, procedure: usize, position: usize) -> Slot {
        let scope = &self.scopes[procedure];
        let first = self.globals.len() + scope.predicates.len() + scope.returns.len();
        Slot((first + position) as u32)
    }

    /// The predicates in scope with their slots.
    fn visible(&self, procedure: usize) -> Vec<(Slot, Entry)> {
        let mut all: Vec<(Slot, Entry)> = self
            .globals
            .iter()
            .enumerate()
            .map(|(index, entry)| (Slot(index as u32), entry.clone()))
            .collect();
        for (position, entry) in self.scopes[procedure].predicates.iter().enumerate() {
            all.push((self.local_slot(procedure, position), entry.clone()));
        }
        all
    }

    /// Works out what an edge reads and writes.
    fn wire(&mut self, index: usize) {
        let edge = self.ground.skeleton.edges[index];
        let procedure = self.ground.skeleton.vertices[edge.from].procedure;
        let wiring = match edge.kind {
            SkeletonEdgeKind::Start => self.wire_start(procedure),
            SkeletonEdgeKind::Block(from, to) => {
                self.wire_block(procedure, (edge.from, edge.to), from, to)
            }
            SkeletonEdgeKind::Call(call, callee) => {
                self.wire_call(procedure, edge.from, call, callee)
            }
            SkeletonEdgeKind::Return(call, callee) => {
                self.wire_return(procedure, edge.to, call, callee)
            }
            SkeletonEdgeKind::Unsupported(_) => Wiring::default(),
        };
        self.wirings[index] = Some(wiring);
    }

    fn wire_start(&mut self, procedure: usize) -> Wiring {
        let semantics = self.ground.semantics;
        let mut run = Execution::new(semantics);
        run.start(self.terms);
        let condition = self.terms.and(&run.facts);
        let mut wiring = Wiring {
            condition: Some(condition),
            ..Wiring::default()
        };
        for (slot, entry) in self.visible(procedure) {
            if entry.at(READY) {
                wiring.writes.push(slot);
                let after = run.state.apply(semantics, self.terms, entry.formula);
                wiring.after.push(after);
            }
        }
        wiring
    }

    fn wire_block(
        &mut self,
        procedure: usize,
        (start, end): (usize, usize),
        from: LocId,
        to: LocId,
    ) -> Wiring {
        let semantics = self.ground.semantics;
        if !self.memory.blocks.contains_key(&from)
            && let Ok(made) = block(semantics, self.terms, from, &self.ground.skeleton.cuts)
        {
            self.memory.blocks.insert(from, made);
        }
        let exit = self
            .memory
            .blocks
            .get(&from)
            .and_then(|block| block.exits.iter().find(|exit| exit.location == to))
            .cloned();
        let Some(exit) = exit else {
            // A block without meaning may do anything: all its predicates are open.
            let writes = self
                .visible(procedure)
                .into_iter()
                .map(|(slot, _)| slot)
                .collect();
            return Wiring {
                writes,
                ..Wiring::default()
            };
        };
        let mut wiring = Wiring {
            condition: Some(exit.condition),
            ..Wiring::default()
        };
        let mut open = Vec::new();
        let changed: BTreeSet<StateVarId> = exit.state.written().map(|(id, _)| id).collect();
        for (slot, entry) in self.visible(procedure) {
            let touched = !entry.now.is_disjoint(&changed);
            let kept = entry.at(start) && !touched;
            if entry.at(end) && !kept {
                let after = exit.state.apply(semantics, self.terms, entry.formula);
                if !entry.at(start) || after != entry.formula {
                    wiring.writes.push(slot);
                    wiring.after.push(after);
                }
            } else if !entry.at(end) && touched {
                open.push(slot);
            }
        }
        if self.ground.skeleton.procedures[procedure].exit == end {
            let returns = self.scopes[procedure].returns.clone();
            for (position, &predicate) in returns.iter().enumerate() {
                let formula = self.scopes[procedure].predicates[predicate].formula;
                wiring.writes.push(self.return_slot(procedure, position));
                wiring
                    .after
                    .push(exit.state.apply(semantics, self.terms, formula));
            }
        }
        self.read_relevant(procedure, start, &mut wiring);
        wiring.writes.extend(open);
        wiring
    }

    /// Reads the predicates that can tell anything about the condition and the new values.
    fn read_relevant(&mut self, procedure: usize, vertex: usize, wiring: &mut Wiring) {
        let facts = self
            .visible(procedure)
            .into_iter()
            .filter(|(_, entry)| entry.at(vertex))
            .map(|(slot, entry)| (slot, entry.formula))
            .collect();
        self.read_facts(facts, wiring);
    }

    fn wire_call(
        &mut self,
        caller: usize,
        vertex: usize,
        call: Option<EdgeId>,
        callee: FuncId,
    ) -> Wiring {
        let semantics = self.ground.semantics;
        let Some(target) = self.ground.skeleton.procedure_of(callee) else {
            return Wiring::default();
        };
        let mut run = Execution::new(semantics);
        let condition = match call {
            Some(call) => run.enter(self.terms, call, callee),
            None => self.terms.bool(true),
        };
        let mut conjuncts = std::mem::take(&mut run.facts);
        conjuncts.push(condition);
        let condition = self.terms.and(&conjuncts);
        let mut wiring = Wiring {
            condition: Some(condition),
            ..Wiring::default()
        };
        for position in 0..self.scopes[target].formals {
            let formula = self.scopes[target].predicates[position].formula;
            let entry = self.old_is_now(formula);
            wiring.writes.push(self.local_slot(target, position));
            wiring
                .after
                .push(run.state.apply(semantics, self.terms, entry));
        }
        self.read_relevant(caller, vertex, &mut wiring);
        for position in 0..self.scopes[target].returns.len() {
            let value = self.return_slot(target, position);
            wiring
                .results
                .push((value, self.temporary_slot(caller, position)));
        }
        wiring
    }

    /// A formula at a procedure's entry: what was is what is.
    fn old_is_now(&mut self, formula: TermId) -> TermId {
        let semantics = self.ground.semantics;
        let mut map = BTreeMap::new();
        for constant in self.terms.free_constants(&[formula]) {
            if let Some(Meaning::Old(id)) = self.ground.constants.meaning(constant) {
                map.insert(constant, semantics.constant(self.terms, id));
            }
        }
        self.terms.substitute(formula, &map)
    }

    fn wire_return(&mut self, caller: usize, end: usize, call: EdgeId, callee: FuncId) -> Wiring {
        let semantics = self.ground.semantics;
        let Some(target) = self.ground.skeleton.procedure_of(callee) else {
            return Wiring::default();
        };
        let mut run = Execution::new(semantics);
        let condition = run.enter(self.terms, call, callee);
        let entered = run.state.clone();
        // What the callee may have changed has new names; what it returned too.
        let mut renamed = BTreeMap::new();
        let own = semantics
            .frame_variables(callee)
            .into_iter()
            .filter(|&id| is_result(semantics, id));
        for id in self
            .ground
            .effects
            .modified(callee)
            .iter()
            .copied()
            .chain(own)
        {
            let sort = semantics.sort(self.terms, id);
            let name = format!("{}'", semantics.layout.get(id).name);
            let after = self.terms.constant(&name, sort);
            run.state.set(id, after);
            renamed.insert(id, after);
        }
        let exit_state = run.state.clone();
        run.leave(self.terms);
        let mut conjuncts = std::mem::take(&mut run.facts);
        conjuncts.push(condition);
        let condition = self.terms.and(&conjuncts);
        let mut wiring = Wiring {
            condition: Some(condition),
            ..Wiring::default()
        };
        let globals = self.globals.len() as u32;
        // The callee has kept the global predicates up to date; only the result can change them
        // further.
        let mut after_exit = State::new();
        for (&id, &term) in &renamed {
            if semantics.layout.get(id).owner.is_none() {
                after_exit.set(id, term);
            }
        }
        let exit = self.ground.skeleton.procedures[target].exit;
        let call_from = self.ground.semantics.program.edges[call.index()].from;
        let before = self.ground.skeleton.vertex_at(call_from);
        let mut facts = Vec::new();
        let mut open = Vec::new();
        for index in 0..globals {
            let entry = self.globals[index as usize].clone();
            let now = after_exit.apply(semantics, self.terms, entry.formula);
            let then = run.state.apply(semantics, self.terms, entry.formula);
            // Where the callee does not touch it, it is what it was at the call.
            let untouched = now == entry.formula && before.is_some_and(|b| entry.at(b));
            let valid = entry.at(exit) || untouched;
            if valid {
                facts.push((Slot(index), now));
            }
            if entry.at(end) && (!valid || then != now) {
                wiring.writes.push(Slot(index));
                wiring.after.push(then);
            } else if !entry.at(end) && then != now {
                open.push(Slot(index));
            }
        }
        for (slot, entry) in self.visible(caller) {
            if slot.0 < globals {
                continue;
            }
            let held = before.is_some_and(|b| entry.at(b));
            if entry.at(end) {
                let then = run.state.apply(semantics, self.terms, entry.formula);
                if !held || then != entry.formula {
                    wiring.writes.push(slot);
                    wiring.after.push(then);
                }
            }
            // The caller's own predicates still speak of the state before the call.
            if held {
                facts.push((slot, entry.formula));
            }
        }
        // Return predicates: over what the callee found at its entry and left at its exit.
        for position in 0..self.scopes[target].returns.len() {
            let predicate = self.scopes[target].returns[position];
            let formula = self.scopes[target].predicates[predicate].formula;
            let mut map = BTreeMap::new();
            for constant in self.terms.free_constants(&[formula]) {
                match self.ground.constants.meaning(constant) {
                    Some(Meaning::Old(id)) => {
                        map.insert(constant, entered.get(semantics, self.terms, id));
                    }
                    Some(Meaning::Now(id)) => {
                        map.insert(constant, exit_state.get(semantics, self.terms, id));
                    }
                    _ => {}
                }
            }
            let fact = self.terms.substitute(formula, &map);
            facts.push((self.temporary_slot(caller, position), fact));
        }
        self.read_facts(facts, &mut wiring);
        wiring.writes.extend(open);
        wiring
    }

    fn read_facts(&mut self, facts: Vec<(Slot, TermId)>, wiring: &mut Wiring) {
        let mut roots = wiring.after.clone();
        roots.extend(wiring.condition);
        let mut known: BTreeSet<TermId> = self.terms.free_constants(&roots);
        let mut rest = facts;
        loop {
            let before = rest.len();
            rest.retain(|&(slot, formula)| {
                let support = self.terms.free_constants(&[formula]);
                if support.is_disjoint(&known) {
                    return true;
                }
                known.extend(support);
                wiring.reads.push(slot);
                wiring.before.push(formula);
                false
            });
            if rest.len() == before {
                return;
            }
        }
    }

    /// The relation of an edge, right at least for the states in `from`.
    fn relation(&mut self, edge: usize, from: Bdd, space: &mut Space) -> Result<Bdd, Stopped> {
        let (mut known, mut relation) = self.relations[edge].unwrap_or((Bdd::FALSE, Bdd::FALSE));
        let reads = self.wirings[edge]
            .as_ref()
            .map(|w| w.reads.clone())
            .unwrap_or_default();
        let asked = project(space, from, &reads)?;
        if self.relations[edge].is_none() {
            (known, relation) = self.recall(edge, space)?;
        }
        if !space.bdds.is_subset(asked, known)? {
            let new = space.bdds.difference(asked, known)?;
            let found = self.ask(edge, new, space)?;
            relation = space.bdds.or(relation, found)?;
            known = space.bdds.or(known, new)?;
        }
        self.relations[edge] = Some((known, relation));
        Ok(relation)
    }

    fn question(&self, edge: usize) -> Question {
        let wiring = self.wirings[edge].clone().unwrap_or_default();
        Question {
            edge,
            before: wiring.before,
            after: wiring.after,
        }
    }

    /// What earlier rounds found out about the same question.
    fn recall(&mut self, edge: usize, space: &mut Space) -> Result<(Bdd, Bdd), Stopped> {
        let (mut domain, mut relation) = (Bdd::FALSE, Bdd::FALSE);
        let known = self
            .memory
            .answers
            .get(&self.question(edge))
            .cloned()
            .unwrap_or_default();
        for part in known {
            let covered = self.diagram(edge, &part.domain, space)?;
            let found = self.known_relation(edge, &part, space)?;
            domain = space.bdds.or(domain, covered)?;
            relation = space.bdds.or(relation, found)?;
        }
        Ok((domain, relation))
    }

    /// An answer as a diagram.
    fn known_relation(
        &self,
        edge: usize,
        known: &Known,
        space: &mut Space,
    ) -> Result<Bdd, Stopped> {
        let mut all = self.diagram(edge, &known.domain, space)?;
        for models in &known.models {
            let group = self.diagram(edge, models, space)?;
            all = space.bdds.and(all, group)?;
        }
        Ok(all)
    }

    /// Cubes over the predicates before, or before and after, as a diagram.
    fn diagram(&self, edge: usize, cubes: &[Cube], space: &mut Space) -> Result<Bdd, Stopped> {
        let wiring = self.wirings[edge].as_ref();
        let reads = wiring.map(|w| w.reads.as_slice()).unwrap_or_default();
        let writes = wiring.map(|w| w.writes.as_slice()).unwrap_or_default();
        let mut all = Bdd::FALSE;
        for cube in cubes {
            let literals: Vec<_> = cube
                .0
                .iter()
                .enumerate()
                .filter_map(|(index, value)| {
                    let var = match reads.get(index) {
                        Some(&slot) => Space::var(slot, Copy::Current),
                        None => Space::var(writes[index - reads.len()], Copy::Next),
                    };
                    value.map(|value| (var, value))
                })
                .collect();
            let one = space.bdds.cube(&literals)?;
            all = space.bdds.or(all, one)?;
        }
        Ok(all)
    }

    /// Asks the solver for all models over the predicates, from the states in `new`.
    fn ask(&mut self, edge: usize, new: Bdd, space: &mut Space) -> Result<Bdd, Stopped> {
        self.queries += 1;
        let wiring = self.wirings[edge].clone().unwrap_or_default();
        let reads: HashMap<Slot, usize> = wiring
            .reads
            .iter()
            .enumerate()
            .map(|(i, &slot)| (slot, i))
            .collect();
        let domain: Vec<Cube> = match space.bdds.cubes(new, new, 10_000)? {
            Some(cubes) => cubes
                .into_iter()
                .map(|cube| {
                    let mut values = vec![None; wiring.reads.len()];
                    for literal in cube {
                        let (slot, _) = Space::slot(literal.var);
                        values[reads[&slot]] = Some(literal.value);
                    }
                    Cube(values)
                })
                .collect(),
            None => vec![Cube(vec![None; wiring.reads.len()])],
        };
        let mut formulas = wiring.before.clone();
        formulas.extend(&wiring.after);
        let whole = Group {
            positions: (0..formulas.len()).collect(),
            conditions: wiring.condition.into_iter().collect(),
        };
        let groups = match formulas.len() {
            ..GROUPED => vec![whole],
            _ => groups(self.terms, &formulas, wiring.condition),
        };
        let mut models = Vec::with_capacity(groups.len());
        for group in &groups {
            match self.models(&wiring, &formulas, group, &domain) {
                Ok(found) => models.push(found),
                Err(Unknown::Stopped(stopped)) => return Err(stopped),
                Err(why) => {
                    self.lost = Some(why);
                    // Whatever is not known is possible: sound, and less precise.
                    return self.diagram(edge, &domain, space);
                }
            }
        }
        let known = Known { domain, models };
        let found = self.known_relation(edge, &known, space)?;
        self.memory
            .answers
            .entry(self.question(edge))
            .or_default()
            .push(known);
        Ok(found)
    }

    /// All models over the predicates of a group, as cubes over all predicates.
    fn models(
        &mut self,
        wiring: &Wiring,
        formulas: &[TermId],
        group: &Group,
        domain: &[Cube],
    ) -> Result<Vec<Cube>, Unknown> {
        let asked: Vec<TermId> = group.positions.iter().map(|&at| formulas[at]).collect();
        let mut roots = asked.clone();
        roots.extend(&group.conditions);
        self.session.push();
        let mut facts = self.ground.semantics.axioms(self.terms);
        facts.extend(&group.conditions);
        facts.extend(self.typing(&roots));
        let of_group = |cube: &Cube| {
            let here = |at: usize| group.positions.contains(&at);
            let values = cube.0.iter().enumerate();
            Cube(
                values
                    .map(|(at, value)| value.filter(|_| here(at)))
                    .collect(),
            )
        };
        let states: BTreeSet<TermId> = domain
            .iter()
            .map(|cube| of_group(cube).term(self.terms, &wiring.before))
            .collect();
        let states: Vec<TermId> = states.into_iter().collect();
        facts.push(self.terms.or(&states));
        for fact in facts {
            self.session.assert(self.terms, fact);
        }
        let mut models = Vec::new();
        let ended = all_models(self.session, self.terms, &asked, &[], &mut |cube| {
            models.push(cube.clone());
            if models.len() >= MAX_MODELS {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        self.session.pop();
        if ended? != hardbop_logic::Enumeration::Complete {
            return Err(Unknown::Steps);
        }
        let spread = |cube: Cube| {
            let mut values = vec![None; formulas.len()];
            for (&at, value) in group.positions.iter().zip(cube.0) {
                values[at] = value;
            }
            Cube(values)
        };
        Ok(merge_cubes(&models).into_iter().map(spread).collect())
    }

    /// The ranges of the state variables that formulas mention.
    fn typing(&mut self, roots: &[TermId]) -> Vec<TermId> {
        let mut facts = Vec::new();
        for constant in self.terms.free_constants(roots) {
            if let Some(Meaning::Now(id)) = self.ground.constants.meaning(constant) {
                facts.push(self.ground.semantics.typing(self.terms, id));
            }
        }
        facts
    }
}

/// A global predicate that a callee's entry tracks must be there at every call of it: calls pass
/// globals on as they are.
fn track_into_calls(skeleton: &Skeleton, tracked: &mut BTreeSet<usize>) {
    loop {
        let before = tracked.len();
        for edge in &skeleton.edges {
            if let SkeletonEdgeKind::Call(_, callee) = edge.kind
                && let Some(target) = skeleton.procedure_of(callee)
                && tracked.contains(&skeleton.procedures[target].entry)
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

/// The current values of some slots in a set of path edges.
fn project(space: &mut Space, from: Bdd, keep: &[Slot]) -> Result<Bdd, Stopped> {
    let drop: Vec<_> = space
        .bdds
        .support(from)
        .into_iter()
        .filter(|&var| {
            let (slot, copy) = Space::slot(var);
            copy != Copy::Current || !keep.contains(&slot)
        })
        .collect();
    let pass = space.bdds.pass(&drop, &[]);
    space.bdds.project(from, pass)
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
            vertices: skeleton.vertices.start as u32..skeleton.vertices.end as u32,
            entry: Vertex(skeleton.entry as u32),
            exit: Vertex(skeleton.exit as u32),
            formals: scope.formals as u32,
            returns: scope.returns.len() as u32,
            locals: (scope.predicates.len() - scope.formals + scope.temporaries) as u32,
        }
    }

    fn vertices(&self) -> u32 {
        self.ground.skeleton.vertices.len() as u32
    }

    fn procedure_of(&self, vertex: Vertex) -> Proc {
        Proc(self.ground.skeleton.vertices[vertex.index()].procedure as u32)
    }

    fn edges(&self) -> u32 {
        self.ground.skeleton.edges.len() as u32
    }

    fn edges_from(&self, vertex: Vertex) -> Range<u32> {
        let edges = &self.ground.skeleton.vertices[vertex.index()].edges;
        edges.start as u32..edges.end as u32
    }

    fn ends(&self, edge: Edge) -> Ends {
        let ends = self.ground.skeleton.edges[edge.index()];
        let callee = match ends.kind {
            SkeletonEdgeKind::Call(_, callee) => self
                .ground
                .skeleton
                .procedure_of(callee)
                .map(|index| Proc(index as u32)),
            _ => None,
        };
        Ends {
            from: Vertex(ends.from as u32),
            to: Vertex(ends.to as u32),
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
        match self.ground.skeleton.edges[edge.index()].kind {
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
        self.relation(edge.index(), from, space)
    }

    fn arguments(&mut self, call: Edge, from: Bdd, space: &mut Space) -> Result<Bdd, Stopped> {
        self.relation(call.index(), from, space)
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
