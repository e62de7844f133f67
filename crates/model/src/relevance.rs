//! What can matter for the checks of a program: from them backwards over data, control and calls
//! (Weiser: Program slicing, TSE 1984).
//!
//! Data are regions of memory, as points-to tells them apart; what writes to one that matters
//! matters, with all that it reads. Control is by what decides whether control comes to something
//! that matters (`control.rs`). A function matters if something in it does. Then those of its calls
//! do whose results matter, and all of them if it does more than give a result; and what decides
//! whether it comes back. That it may go on for ever inside of what does not matter is
//! left out: executions behind it are only more than there are.
//!
//! All of that is often most of the program. So it is asked for in depths ([`Depth`]): the least is
//! what the values depend on that the checks are about, whatever decides when they are written and
//! which function a pointer calls.
//!
//! Nothing is trusted that rests on this. It is a guess about what a proof needs.

mod control;

use control::{Control, never_return};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::call_graph::callable;
use hardbop_cfront::derived::Derived;
use hardbop_cfront::ids::{CheckId, EdgeId, ExprId, FuncId, LocId, PlaceId};
use hardbop_cfront::operands::{Operand, each_below, each_load};
use hardbop_cfront::program::{Callee, Edge, ExprKind, LocationKind, Op, Program, VarKind};
use hardbop_semantics::Semantics;
use hardbop_semantics::effects::written_by;
use hardbop_semantics::layout::StateVarId;
use std::collections::BTreeSet;

/// How far control is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// To the branches in front of the checks, and so often to the branches in front of what writes
    /// what was found to matter.
    Branches(u32),
    /// All the way.
    All,
}

/// Why something matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// It leads to the violation of a check.
    Check(CheckId),
    /// What comes next is not supported.
    Unsupported,
    /// It decides whether something that matters is done.
    Decides(LocId),
    /// It decides whether a function that matters comes back.
    Ends(FuncId),
    /// It writes what an edge reads that matters.
    Writes(StateVarId, EdgeId),
    /// It calls a function that matters.
    Calls(FuncId),
    /// It is a condition on what matters.
    Tells,
}

/// What matters.
#[derive(Clone, Debug)]
pub struct Relevance {
    /// For every edge, why it matters, if it does.
    edges: Vec<Option<Cause>>,
    /// The functions in which something matters.
    functions: Vec<bool>,
    data: BTreeSet<StateVarId>,
}

impl Relevance {
    /// Works out what matters for some checks of a program.
    pub fn new(
        semantics: &Semantics<'_>,
        checks: &[CheckId],
        depth: Depth,
        budget: &Budget,
    ) -> Result<Relevance, Stopped> {
        Relevance::among(None, semantics, checks, depth, budget)
    }

    /// The same without edges whose copies are known not to matter where calls are inlined.
    pub fn but(
        known: &Relevance,
        inlined: &Derived,
        semantics: &Semantics<'_>,
        checks: &[CheckId],
        depth: Depth,
        budget: &Budget,
    ) -> Result<Relevance, Stopped> {
        let is_call = |edge: &Edge| matches!(edge.op, Op::Call { .. });
        let mut may: Vec<bool> = semantics.program.edges.iter().map(is_call).collect();
        let kept = inlined.edges.iter().zip(&known.edges);
        for original in kept.filter_map(|(&original, cause)| cause.and(original)) {
            may[original.index()] = true;
        }
        Relevance::among(Some(may), semantics, checks, depth, budget)
    }

    fn among(
        may: Option<Vec<bool>>,
        semantics: &Semantics<'_>,
        checks: &[CheckId],
        depth: Depth,
        budget: &Budget,
    ) -> Result<Relevance, Stopped> {
        let mut search = Search::new(semantics, depth, budget)?;
        search.may = may;
        search.begin(checks);
        search.run(budget)?;
        if let Depth::Branches(times) = depth {
            for _ in 0..times {
                let written = std::mem::take(&mut search.written);
                search.branches_before(written);
                search.run(budget)?;
            }
            search.tell();
        }
        Ok(search.found)
    }

    /// Why an edge matters, if it does.
    pub fn cause(&self, edge: EdgeId) -> Option<Cause> {
        self.edges[edge.index()]
    }

    /// Whether an edge matters.
    pub fn keeps(&self, edge: EdgeId) -> bool {
        self.edges[edge.index()].is_some()
    }

    /// How many edges matter.
    pub fn count(&self) -> usize {
        self.edges.iter().flatten().count()
    }

    /// Whether a function matters.
    pub fn enters(&self, function: FuncId) -> bool {
        self.functions[function.index()]
    }

    /// The data that matter.
    pub fn data(&self) -> &BTreeSet<StateVarId> {
        &self.data
    }
}

struct Search<'a, 'p> {
    semantics: &'a Semantics<'p>,
    depth: Depth,
    /// What writes to what matters, and of which it was not asked yet what decides that.
    written: Vec<EdgeId>,
    controls: Vec<Option<Control>>,
    /// Whether an edge may matter, if that is known.
    may: Option<Vec<bool>>,
    /// By state variable, the edges that write it.
    writers: Vec<Vec<EdgeId>>,
    /// By function, the calls that may enter it.
    calls: Vec<Vec<EdgeId>>,
    /// The functions that do more than give results.
    active: Vec<bool>,
    /// Locations that control must come to, which were looked at.
    reached: Vec<bool>,
    found: Relevance,
    work: Vec<Work>,
}

/// Something that turned out to matter, and whose own needs were not looked at yet.
enum Work {
    Edge(EdgeId),
    Location(LocId),
    Function(FuncId),
    Active(FuncId),
    Data(StateVarId, EdgeId),
}

impl<'a, 'p> Search<'a, 'p> {
    fn new(
        semantics: &'a Semantics<'p>,
        depth: Depth,
        budget: &Budget,
    ) -> Result<Search<'a, 'p>, Stopped> {
        let program = semantics.program;
        let mut ticks = budget.ticks();
        let never = never_return(program);
        let mut controls: Vec<Option<Control>> = Vec::new();
        controls.resize_with(program.functions.len(), || None);
        let mut writers = vec![Vec::new(); semantics.layout.variables().len()];
        let mut calls = vec![Vec::new(); program.functions.len()];
        for function in callable(program) {
            controls[function.index()] = Some(Control::new(program, function, &never));
            for location in program.function(function).locations.clone() {
                for (id, edge) in program.edges_from(LocId(location)) {
                    ticks.tick()?;
                    let mut written = BTreeSet::new();
                    written_by(semantics, &edge.op, &mut written);
                    // The next address is no data: where objects lie decides nothing.
                    written.remove(&semantics.layout.frontier());
                    for variable in written {
                        writers[variable.index()].push(id);
                    }
                    if let Op::Call { callee, .. } = &edge.op {
                        for target in callee.targets() {
                            calls[target.index()].push(id);
                        }
                    }
                }
            }
        }
        Ok(Search {
            semantics,
            depth,
            written: Vec::new(),
            controls,
            may: None,
            writers,
            calls,
            active: vec![false; program.functions.len()],
            reached: vec![false; program.locations.len()],
            found: Relevance {
                edges: vec![None; program.edges.len()],
                functions: vec![false; program.functions.len()],
                data: BTreeSet::new(),
            },
            work: Vec::new(),
        })
    }

    fn program(&self) -> &'p Program {
        self.semantics.program
    }

    /// What must not be reached, and what is not supported.
    fn begin(&mut self, checks: &[CheckId]) {
        let program = self.program();
        let mut first = Vec::new();
        for (index, edge) in program.edges.iter().enumerate() {
            let id = EdgeId(index as u32);
            let function = program.locations[edge.from.index()].function;
            if self.controls[function.index()].is_none() {
                continue;
            }
            if let LocationKind::Error(check) = program.locations[edge.to.index()].kind
                && checks.contains(&check)
            {
                self.keep(id, Cause::Check(check));
            } else if matches!(edge.op, Op::Unsupported { .. }) {
                self.keep(id, Cause::Unsupported);
            } else {
                continue;
            }
            if !matches!(edge.op, Op::Assume { .. }) {
                first.push(id);
            }
        }
        if self.depth != Depth::All {
            self.branches_before(first);
        }
    }

    /// The branches that come first on the way back from some edges matter: those that decide
    /// whether they are taken or, where nothing in their function does, its calls.
    fn branches_before(&mut self, mut edges: Vec<EdgeId>) {
        let program = self.program();
        let mut seen = BTreeSet::new();
        while let Some(edge) = edges.pop() {
            let from = program.edges[edge.index()].from;
            if !seen.insert(from) {
                continue;
            }
            let function = program.locations[from.index()].function;
            let Some(control) = &self.controls[function.index()] else {
                continue;
            };
            let deciding = control.deciding(from).to_vec();
            if deciding.is_empty() {
                edges.extend(&self.calls[function.index()]);
            }
            for branch in deciding {
                self.branch(branch, from);
            }
        }
    }

    /// Conditions on nothing but what matters matter, too: they cost nothing.
    fn tell(&mut self) {
        let program = self.program();
        for (index, edge) in program.edges.iter().enumerate() {
            let function = program.locations[edge.from.index()].function;
            if !self.found.functions[function.index()] || self.found.edges[index].is_some() {
                continue;
            }
            if let Op::Assume { .. } = edge.op {
                let mut read = BTreeSet::new();
                each_load(program, &edge.op, &mut |place| {
                    written_by(self.semantics, &Op::Havoc { place }, &mut read);
                });
                if read.is_subset(&self.found.data) {
                    self.found.edges[index] = Some(Cause::Tells);
                }
            }
        }
    }

    fn run(&mut self, budget: &Budget) -> Result<(), Stopped> {
        let mut ticks = budget.ticks();
        while let Some(work) = self.work.pop() {
            ticks.tick()?;
            match work {
                Work::Edge(edge) => {
                    let from = self.program().edges[edge.index()].from;
                    self.come_to(from);
                    self.read(edge);
                    self.beside(edge, from);
                    self.act(edge, from);
                }
                Work::Location(location) => self.decide(location),
                Work::Function(function) => self.end(function),
                Work::Active(function) => self.call(function),
                Work::Data(id, by) => self.write(id, by),
            }
        }
        Ok(())
    }

    fn keep(&mut self, id: EdgeId, cause: Cause) {
        let may = self.may.as_ref().is_none_or(|may| may[id.index()]);
        let known = &mut self.found.edges[id.index()];
        if may && known.is_none() {
            *known = Some(cause);
            self.work.push(Work::Edge(id));
        }
    }

    /// Control must come to a location.
    fn come_to(&mut self, location: LocId) {
        if !std::mem::replace(&mut self.reached[location.index()], true) {
            self.work.push(Work::Location(location));
        }
    }

    /// A function matters.
    fn enter(&mut self, function: FuncId) {
        if !std::mem::replace(&mut self.found.functions[function.index()], true) {
            self.work.push(Work::Function(function));
        }
    }

    /// Something is read by an edge that matters.
    fn need(&mut self, id: StateVarId, by: EdgeId) {
        if self.found.data.insert(id) {
            self.work.push(Work::Data(id, by));
        }
    }

    /// The branches that decide whether control comes to a location matter.
    fn decide(&mut self, location: LocId) {
        let program = self.program();
        let function = program.locations[location.index()].function;
        self.enter(function);
        if self.depth != Depth::All {
            return;
        }
        let Some(control) = &self.controls[function.index()] else {
            return;
        };
        for branch in control.deciding(location).to_vec() {
            self.branch(branch, location);
        }
    }

    /// A branch matters, for it decides whether control comes to a location.
    fn branch(&mut self, branch: LocId, location: LocId) {
        for (side, edge) in self.program().edges_from(branch) {
            if matches!(edge.op, Op::Assume { .. }) {
                self.keep(side, Cause::Decides(location));
            }
        }
        self.come_to(branch);
    }

    /// Beside a condition that matters, the others of its branch do: what it says when it does not
    /// hold.
    fn beside(&mut self, edge: EdgeId, from: LocId) {
        let program = self.program();
        let is_condition = |op: &Op| matches!(op, Op::Assume { .. });
        if let Some(cause) = self.found.edges[edge.index()]
            && is_condition(&program.edges[edge.index()].op)
        {
            for (side, edge) in program.edges_from(from) {
                if is_condition(&edge.op) {
                    self.keep(side, cause);
                }
            }
        }
    }

    /// What an edge that matters does beyond giving a result makes its function active.
    fn act(&mut self, id: EdgeId, from: LocId) {
        let program = self.program();
        let function = program.locations[from.index()].function;
        let op = &program.edges[id.index()].op;
        let mut written = BTreeSet::new();
        written_by(self.semantics, op, &mut written);
        let elsewhere = |id: &StateVarId| {
            self.found.data.contains(id) && self.semantics.layout.get(*id).owner != Some(function)
        };
        let calls = match op {
            Op::Call { callee, .. } => callee.targets(),
            _ => &[],
        };
        let cause = self.found.edges[id.index()];
        if matches!(cause, Some(Cause::Check(_) | Cause::Unsupported))
            || written.iter().any(elsewhere)
            || calls.iter().any(|target| self.active[target.index()])
        {
            self.activate(function);
        }
    }

    fn activate(&mut self, function: FuncId) {
        if !std::mem::replace(&mut self.active[function.index()], true) {
            self.enter(function);
            self.work.push(Work::Active(function));
        }
    }

    /// All calls of a function that does more than give a result matter.
    fn call(&mut self, function: FuncId) {
        for call in self.calls[function.index()].clone() {
            self.keep(call, Cause::Calls(function));
            self.pass(call, function);
            let caller = self.program().edges[call.index()].from;
            self.activate(self.program().locations[caller.index()].function);
        }
    }

    /// What decides whether a function comes back matters.
    fn end(&mut self, function: FuncId) {
        if self.depth == Depth::All
            && let Some(control) = &self.controls[function.index()]
        {
            for edge in control.last.clone() {
                self.keep(edge, Cause::Ends(function));
            }
        }
    }

    /// What an edge that matters reads matters.
    fn read(&mut self, id: EdgeId) {
        let program = self.program();
        let Op::Call { callee, result, .. } = &program.edges[id.index()].op else {
            let mut places = Vec::new();
            let op = &program.edges[id.index()].op;
            each_load(program, op, &mut |place| places.push(place));
            for place in places {
                self.place(place, id);
            }
            if let Op::CopyMemory { from, .. } = op {
                self.behind(*from, id);
            }
            return;
        };
        if let Callee::Indirect { pointer, .. } = callee
            && self.depth == Depth::All
        {
            self.operand(Operand::Expr(*pointer), id);
        }
        for target in callee.targets() {
            if self.found.functions[target.index()] {
                self.pass(id, *target);
            }
        }
        if let Some(place) = result
            && self.is_read(*place)
        {
            self.give_back(id, *place);
        }
    }

    /// A call gives a result that matters.
    fn give_back(&mut self, call: EdgeId, place: PlaceId) {
        let program = self.program();
        let Op::Call { callee, .. } = &program.edges[call.index()].op else {
            return;
        };
        self.operand(Operand::Place(place), call);
        for target in callee.targets() {
            if let Some(result) = program.function(*target).result
                && let Some(spot) = self.semantics.points_to.variable(result)
            {
                let regions = self.semantics.points_to.regions().of_class(spot.class);
                for region in regions {
                    self.need(self.semantics.layout.region(region), call);
                }
            }
            self.enter(*target);
        }
    }

    /// Whether something that matters reads from a place.
    fn is_read(&self, place: PlaceId) -> bool {
        let op = Op::Havoc { place };
        let mut written = BTreeSet::new();
        written_by(self.semantics, &op, &mut written);
        written.iter().any(|id| self.found.data.contains(id))
    }

    /// What is passed to parameters that matter matters.
    fn pass(&mut self, call: EdgeId, function: FuncId) {
        if !self.found.keeps(call) {
            return;
        }
        let program = self.program();
        let Op::Call { arguments, .. } = &program.edges[call.index()].op else {
            return;
        };
        let formals = &program.function(function).formals;
        for (&argument, &formal) in arguments.iter().zip(formals) {
            let Some(spot) = self.semantics.points_to.variable(formal) else {
                continue;
            };
            let mut regions = self.semantics.points_to.regions().of_class(spot.class);
            let matters =
                regions.any(|id| self.found.data.contains(&self.semantics.layout.region(id)));
            if matters {
                self.operand(Operand::Expr(argument), call);
            }
        }
    }

    /// What an operand reads matters.
    fn operand(&mut self, operand: Operand, by: EdgeId) {
        let program = self.program();
        let mut places = Vec::new();
        each_below(program, [operand], &mut |operand| {
            if let Operand::Expr(id) = operand
                && let ExprKind::Load(place) = program.expr(id).kind
            {
                places.push(place);
            }
        });
        for place in places {
            self.place(place, by);
        }
    }

    /// What is at a place matters.
    fn place(&mut self, place: PlaceId, by: EdgeId) {
        let op = Op::Havoc { place };
        let mut read = BTreeSet::new();
        written_by(self.semantics, &op, &mut read);
        for id in read {
            self.need(id, by);
        }
    }

    /// What is behind a pointer matters.
    fn behind(&mut self, pointer: ExprId, by: EdgeId) {
        if let Some(spot) = self.semantics.points_to.pointer(pointer) {
            for region in self.semantics.points_to.regions().of_class(spot.class) {
                self.need(self.semantics.layout.region(region), by);
            }
        }
    }

    /// What writes to data that matter matters.
    fn write(&mut self, id: StateVarId, by: EdgeId) {
        let program = self.program();
        for writer in self.writers[id.index()].clone() {
            let known = self.found.keeps(writer);
            self.keep(writer, Cause::Writes(id, by));
            if !self.found.keeps(writer) {
                continue;
            }
            if !known {
                self.written.push(writer);
            }
            if let Op::Call { result, .. } = &program.edges[writer.index()].op
                && let Some(place) = result
            {
                self.give_back(writer, *place);
            }
        }
        // Parameters get their values where their functions are called.
        let points_to = self.semantics.points_to;
        let Some(region) = self.semantics.layout.region_of(id) else {
            return;
        };
        let class = points_to.regions().get(region).class;
        for &variable in &points_to.classes()[class.0 as usize].variables {
            if let VarKind::Formal(function) = program.variable(variable).kind
                && self.found.functions[function.index()]
            {
                for call in self.calls[function.index()].clone() {
                    self.pass(call, function);
                }
            }
        }
    }
}
