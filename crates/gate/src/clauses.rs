//! Clauses over the choices of a program: each rules out what it says, and together they rule out
//! every execution.
//!
//! A clause comes with *marks*: at which branches of its path the decision is in the clause, and
//! from which free branches the path skips to where. The check runs the program along that path,
//! with plain symbolic states. At a mark of the first kind it takes the decision; at one of the
//! second kind it looks at everything that can be reached before the meeting point, makes sure
//! that no error is there, and forgets the value of every state variable that is written there; at
//! any other branch all live sides but one must be refuted by what is known. No core, no
//! single-assignment form and no postdominator is used.
//!
//! Another kind of clause is shown by all paths together (`together`).
//!
//! An execution that meets an error takes, at every point of the unrolled program that it comes to,
//! one of the *live* sides, from which an error can be reached. So if no choice of one live side a
//! point escapes all clauses, no execution meets an error.

mod about;
mod together;

use crate::{Gate, refused};
use about::is_about;
use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, EdgeId, FuncId, LocId};
use hardbop_cfront::program::{Callee, LocationKind, Op, Program};
use hardbop_engine::Reason;
use hardbop_engine::claim::{Clause, Clauses, Decision, Mark};
use hardbop_logic::{Answer, Session, Sort, TermId, Terms};
use hardbop_model::loops::FunctionGraph;
use hardbop_model::points::{Around, ContextId, Numbering, PointId, Side, sides};
use hardbop_semantics::effects::{Effects, written_by};
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{Execution, Semantics};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

impl Gate<'_> {
    /// Checks that every clause stands and that together they leave nothing. Gives the number of
    /// clauses.
    pub(crate) fn clauses(&self, claim: &Clauses) -> Result<u64, Reason> {
        let view = &self.model.plain;
        if !is_about(view.program, claim) {
            return Err(Reason::Certificate);
        }
        let mut numbering = Numbering::of(&claim.points).ok_or(Reason::Certificate)?;
        let open: BTreeSet<CheckId> = claim.checks.iter().copied().collect();
        let mut terms = Terms::new();
        let mut session = self.session_about(&view.semantics, &mut terms);
        let mut rechecker = Rechecker::new(
            &view.semantics,
            &view.effects,
            &open,
            &mut numbering,
            &self.budget,
        );
        for clause in &claim.clauses {
            self.budget.check().map_err(Reason::Stopped)?;
            if !rechecker.holds(&mut terms, &mut session, clause) {
                self.budget.check().map_err(Reason::Stopped)?;
                return Err(Reason::Evidence);
            }
        }
        let question = rechecker.left_over(&mut terms, &claim.clauses)?;
        let mut session = self.session();
        match session.check(&terms, &question) {
            Answer::Unsat => Ok(claim.clauses.len() as u64),
            Answer::Sat => Err(Reason::Evidence),
            other => Err(refused(other)),
        }
    }
}

/// Whether a caller may still meet an error once this function has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Return {
    /// It may.
    Live,
    /// It cannot, or there is no caller.
    Dead,
}

/// When it is asked whether no side at all of a branch can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asking {
    /// At the last branch of the marked path, which is almost always right: that is where the
    /// path ended.
    Sparingly,
    /// At every branch: a check that was still open when the clause was learned may have kept the
    /// path going for longer.
    Always,
}

/// The most steps of a path that is checked again.
const STEPS: usize = 4_000_000;

/// What checking works with.
struct Rechecker<'a, 'p> {
    semantics: &'a Semantics<'p>,
    effects: &'a Effects,
    open: &'a BTreeSet<CheckId>,
    numbering: &'a mut Numbering,
    budget: &'a Budget,
    graphs: HashMap<FuncId, Rc<FunctionGraph>>,
    failing: Vec<bool>,
    live: HashMap<(LocId, Return), bool>,
}

struct Frame {
    context: ContextId,
    returns: Return,
    back: LocId,
}

impl<'a, 'p> Rechecker<'a, 'p> {
    fn new(
        semantics: &'a Semantics<'p>,
        effects: &'a Effects,
        open: &'a BTreeSet<CheckId>,
        numbering: &'a mut Numbering,
        budget: &'a Budget,
    ) -> Rechecker<'a, 'p> {
        let program = semantics.program;
        let mut rechecker = Rechecker {
            semantics,
            effects,
            open,
            numbering,
            budget,
            graphs: HashMap::new(),
            failing: vec![false; program.functions.len()],
            live: HashMap::new(),
        };
        // Functions that may meet an error, until nothing changes.
        let mut changed = true;
        while changed {
            changed = false;
            for (index, edge) in program.edges.iter().enumerate() {
                let function = program.locations[edge.from.index()].function.index();
                if !rechecker.failing[function] && rechecker.is_error(EdgeId(index as u32)) {
                    rechecker.failing[function] = true;
                    changed = true;
                }
            }
        }
        rechecker
    }

    fn program(&self) -> &'p Program {
        self.semantics.program
    }

    fn graph(&mut self, function: FuncId) -> Rc<FunctionGraph> {
        let program = self.program();
        let entry = self.graphs.entry(function);
        Rc::clone(entry.or_insert_with(|| Rc::new(FunctionGraph::new(program, function))))
    }

    /// Whether an error may be met on an edge.
    fn is_error(&self, id: EdgeId) -> bool {
        let edge = &self.program().edges[id.index()];
        match &edge.op {
            Op::Unsupported { .. } => true,
            Op::Call { callee, .. } => callee.targets().iter().any(|f| self.failing[f.index()]),
            _ => self.is_open(edge.to).is_some(),
        }
    }

    fn is_open(&self, location: LocId) -> Option<CheckId> {
        match self.program().locations[location.index()].kind {
            LocationKind::Error(check) if self.open.contains(&check) => Some(check),
            _ => None,
        }
    }

    /// Everything in a call that can be reached from a location without going through another.
    fn reachable(&self, from: LocId, avoiding: Option<LocId>) -> BTreeSet<LocId> {
        let mut seen = BTreeSet::from([from]);
        let mut work = vec![from];
        while let Some(location) = work.pop() {
            for (_, edge) in self.program().edges_from(location) {
                if Some(edge.to) != avoiding && seen.insert(edge.to) {
                    work.push(edge.to);
                }
            }
        }
        seen
    }

    /// Whether an error can be met at these locations or on the edges that leave them.
    fn meets_error(&self, locations: &BTreeSet<LocId>, returns: Return) -> bool {
        locations.iter().any(|&location| {
            self.is_open(location).is_some()
                || (returns == Return::Live
                    && self.program().locations[location.index()].kind == LocationKind::Exit)
                || self
                    .program()
                    .edges_from(location)
                    .any(|(id, _)| self.is_error(id))
        })
    }

    fn is_live(&mut self, location: LocId, returns: Return) -> bool {
        if let Some(&known) = self.live.get(&(location, returns)) {
            return known;
        }
        let live = self.meets_error(&self.reachable(location, None), returns);
        self.live.insert((location, returns), live);
        live
    }

    /// What may be written between a free branch and its meeting point; `None` if the branch is
    /// not free.
    fn between(
        &mut self,
        branch: LocId,
        meet: LocId,
        returns: Return,
    ) -> Option<BTreeSet<StateVarId>> {
        let program = self.program();
        let function = program.locations[branch.index()].function;
        let graph = self.graph(function);
        if !graph.is_reducible() || program.locations[meet.index()].function != function {
            return None;
        }
        let region = self.reachable(branch, Some(meet));
        if self.meets_error(&region, returns) {
            return None;
        }
        for at in 0..graph.loops() {
            let head = graph.head(at);
            let (inside, around) = (graph.holds(at, meet), graph.holds(at, branch));
            // The meeting point would be another one in another iteration.
            let again =
                around && inside && head != meet && head != branch && region.contains(&head);
            // A loop is entered at its head.
            let middle = inside && !around && head != meet;
            // Back at the branch itself without having met.
            let cycle = around && inside && head == branch && self.comes_back(&region, branch);
            if again || middle || cycle {
                return None;
            }
        }
        let mut written = BTreeSet::new();
        for &location in &region {
            for (_, edge) in program.edges_from(location) {
                written_by(self.semantics, &edge.op, &mut written);
                if let Op::Call { callee, .. } = &edge.op {
                    for &target in callee.targets() {
                        written.extend(self.effects.modified(target));
                        let callee = program.function(target);
                        let own = callee.formals.iter().chain(&callee.locals);
                        for &variable in own.chain(&callee.result) {
                            written_by(self.semantics, &Op::Declare { variable }, &mut written);
                        }
                    }
                }
            }
        }
        Some(written)
    }

    fn comes_back(&self, region: &BTreeSet<LocId>, to: LocId) -> bool {
        region.iter().any(|&location| {
            self.program()
                .edges_from(location)
                .any(|(_, edge)| edge.to == to)
        })
    }

    /// Whether no run that makes the decisions of a clause meets an error; no, if the budget does
    /// not reach for finding out.
    fn holds(
        &mut self,
        terms: &mut Terms,
        session: &mut Session<'static>,
        clause: &Clause,
    ) -> bool {
        if let Some(unreached) = &clause.together {
            return self.holds_together(terms, session, clause, unreached);
        }
        [Asking::Sparingly, Asking::Always]
            .into_iter()
            .any(|asking| self.follow(terms, session, clause, asking))
    }

    fn follow(
        &mut self,
        terms: &mut Terms,
        session: &mut Session<'static>,
        clause: &Clause,
        asking: Asking,
    ) -> bool {
        let program = self.program();
        let mut run = Execution::new(self.semantics);
        run.start(terms);
        let mut known: Vec<TermId> = Vec::new();
        let entry = program.function(program.entry).entry;
        let mut frames = vec![Frame {
            context: self.numbering.start(),
            returns: Return::Dead,
            back: entry,
        }];
        let mut at = entry;
        let mut visited = 0;
        let mut next = 0;
        for step in 0..STEPS {
            if step % 256 == 255 && self.budget.check().is_err() {
                return false;
            }
            for fact in run.facts.drain(..) {
                if *terms.op(fact) != hardbop_logic::Op::Bool(true) {
                    known.push(fact);
                }
            }
            let Some(frame) = frames.last_mut() else {
                return true;
            };
            let returns = frame.returns;
            let function = program.locations[at.index()].function;
            let graph = self.graph(function);
            let context = self.numbering.arrive(&graph, frame.context, at).0;
            frame.context = context;
            if self.is_open(at).is_some() {
                return session.check(terms, &known) == Answer::Unsat;
            }
            if !self.is_live(at, returns) {
                return true;
            }
            if program.locations[at.index()].kind == LocationKind::Exit {
                run.leave(terms);
                at = frames.pop().map_or(at, |frame| frame.back);
                continue;
            }
            let sides = sides(program, at);
            let mut taken = None;
            match sides.as_slice() {
                [] => return true,
                [Side::Edge(edge)] if !is_assume(program, *edge) => {
                    if run.edge(terms, *edge).is_err() {
                        return false;
                    }
                    at = program.edges[edge.index()].to;
                    if run
                        .facts
                        .iter()
                        .any(|&f| *terms.op(f) == hardbop_logic::Op::Bool(false))
                    {
                        return true;
                    }
                }
                [Side::Enter(edge, callee)] if is_direct(program, *edge) => {
                    run.enter(terms, *edge, *callee);
                    taken = Some((*edge, *callee));
                }
                _ => {
                    let point = self.numbering.point(context, at);
                    let mark = clause
                        .marks
                        .get(next)
                        .filter(|&&(place, _)| place == visited);
                    visited += 1;
                    let side = match mark {
                        Some(&(_, Mark::Free(meet))) => {
                            next += 1;
                            let Some(written) = self.between(at, meet, returns) else {
                                return false;
                            };
                            for id in written {
                                run.forget(terms, id);
                            }
                            at = meet;
                            continue;
                        }
                        Some(&(_, Mark::Decided(side))) => {
                            next += 1;
                            if !clause.decisions.contains(&Decision { point, side }) {
                                return false;
                            }
                            side
                        }
                        Some(&(_, Mark::Refused(side))) => {
                            if !clause.decisions.contains(&Decision { point, side }) {
                                return false;
                            }
                            let Some(&way) = sides.get(side as usize) else {
                                return false;
                            };
                            return !self.is_live_side(way, returns)
                                || refuted(&mut run, terms, session, &known, way);
                        }
                        None => {
                            let mut left: Vec<u32> = Vec::new();
                            for (index, &way) in sides.iter().enumerate() {
                                if self.is_live_side(way, returns) {
                                    left.push(index as u32);
                                }
                            }
                            let sparing = asking == Asking::Sparingly && visited < clause.branches;
                            let needed = usize::from(sparing);
                            let mut asked = 0;
                            while left.len() > needed && asked < left.len() {
                                let way = sides[left[asked] as usize];
                                if refuted(&mut run, terms, session, &known, way) {
                                    left.remove(asked);
                                } else {
                                    asked += 1;
                                }
                            }
                            match *left.as_slice() {
                                [] => return true,
                                [only] => only,
                                _ => return false,
                            }
                        }
                    };
                    match sides.get(side as usize) {
                        Some(&Side::Edge(edge)) => {
                            let Ok(condition) = run.edge(terms, edge) else {
                                return false;
                            };
                            known.push(condition);
                            at = program.edges[edge.index()].to;
                        }
                        Some(&Side::Enter(edge, callee)) => {
                            let condition = run.enter(terms, edge, callee);
                            known.push(condition);
                            taken = Some((edge, callee));
                        }
                        None => return false,
                    }
                    known.retain(|&term| *terms.op(term) != hardbop_logic::Op::Bool(true));
                }
            }
            if let Some((edge, callee)) = taken {
                let back = program.edges[edge.index()].to;
                let returns = if self.is_live(back, returns) {
                    Return::Live
                } else {
                    Return::Dead
                };
                let context = self.numbering.call(context, edge, callee);
                frames.push(Frame {
                    context,
                    returns,
                    back,
                });
                at = program.function(callee).entry;
            }
        }
        false
    }

    /// That some choice of one live side a point escapes all clauses.
    fn left_over(&mut self, terms: &mut Terms, clauses: &[Clause]) -> Result<Vec<TermId>, Reason> {
        let mut chosen: BTreeMap<Decision, TermId> = BTreeMap::new();
        let mut conditions = Vec::new();
        let spoken_of: BTreeSet<PointId> = clauses
            .iter()
            .flat_map(|clause| clause.decisions.iter().map(|decision| decision.point))
            .collect();
        for point in spoken_of {
            let known = self.numbering.points().points.get(point.0 as usize);
            let &(context, location) = known.ok_or(Reason::Certificate)?;
            let returns = self.returns(context);
            let mut live = Vec::new();
            for (side, way) in sides(self.program(), location).into_iter().enumerate() {
                if self.is_live_side(way, returns) {
                    let side = side as u32;
                    let name = format!("point{}side{side}", point.0);
                    let taken = terms.constant(&name, Sort::Bool);
                    chosen.insert(Decision { point, side }, taken);
                    live.push(taken);
                }
            }
            // Exactly one of them, where there is any: else no error lies beyond this point, and no
            // execution that matters comes to it.
            if !live.is_empty() {
                conditions.push(terms.or(&live));
            }
            for (at, &one) in live.iter().enumerate() {
                for &other in &live[at + 1..] {
                    let both = terms.and(&[one, other]);
                    conditions.push(terms.not(both));
                }
            }
        }
        let never = terms.bool(false);
        for clause in clauses {
            let made = |decision| chosen.get(decision).copied().unwrap_or(never);
            let decisions: Vec<TermId> = clause.decisions.iter().map(made).collect();
            let all = terms.and(&decisions);
            conditions.push(terms.not(all));
        }
        Ok(conditions)
    }

    /// Whether an error may be met after the call that a context is in has returned.
    fn returns(&mut self, context: ContextId) -> Return {
        let mut calls = Vec::new();
        let mut at = context;
        loop {
            match self.numbering.around(at) {
                Around::Start => break,
                Around::Call(up, edge, _) => {
                    calls.push(edge);
                    at = up;
                }
                Around::Loop(up, ..) => at = up,
            }
        }
        let mut returns = Return::Dead;
        for edge in calls.into_iter().rev() {
            let back = self.program().edges[edge.index()].to;
            returns = match self.is_live(back, returns) {
                true => Return::Live,
                false => Return::Dead,
            };
        }
        returns
    }

    fn is_live_side(&mut self, side: Side, returns: Return) -> bool {
        match side {
            Side::Edge(edge) => {
                let to = self.program().edges[edge.index()].to;
                self.is_error(edge) || self.is_live(to, returns)
            }
            Side::Enter(edge, callee) => {
                let back = self.program().edges[edge.index()].to;
                self.failing[callee.index()] || self.is_live(back, returns)
            }
        }
    }
}

/// Whether what is known rules a side out.
fn refuted(
    run: &mut Execution<'_, '_>,
    terms: &mut Terms,
    session: &mut Session<'static>,
    known: &[TermId],
    side: Side,
) -> bool {
    let mut required = match side {
        Side::Edge(edge) if is_assume(run.semantics.program, edge) => {
            run.edge(terms, edge).into_iter().collect()
        }
        Side::Edge(_) => Vec::new(),
        Side::Enter(edge, callee) => vec![run.clone().enter(terms, edge, callee)],
    };
    required.append(&mut run.facts);
    if required
        .iter()
        .any(|&term| *terms.op(term) == hardbop_logic::Op::Bool(false))
    {
        return true;
    }
    required.retain(|&term| *terms.op(term) != hardbop_logic::Op::Bool(true));
    if required.is_empty() {
        return false;
    }
    required.extend(known);
    session.check(terms, &required) == Answer::Unsat
}

fn is_assume(program: &Program, edge: EdgeId) -> bool {
    matches!(program.edges[edge.index()].op, Op::Assume { .. })
}

fn is_direct(program: &Program, edge: EdgeId) -> bool {
    matches!(
        program.edges[edge.index()].op,
        Op::Call {
            callee: Callee::Direct(_),
            ..
        }
    )
}
