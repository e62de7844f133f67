//! Checks a clause again, by other means than those that found it.
//!
//! A clause comes with *marks*: at which branches of its path the decision is in the clause, and
//! from which free branches the path skips to where. The check runs the program along that path
//! once more, with plain symbolic states. At a mark of the first kind it takes the decision; at
//! one of the second kind it looks at everything that can be reached before the meeting point,
//! makes sure that no error is there, and forgets the value of every state variable that is
//! written there; at any other branch all live sides but one must be refuted by what is known.
//! No core, no single-assignment form and no postdominator is used.

use crate::graph::FunctionGraph;
use crate::nodes::{ContextId, Nodes};
use crate::oracle::Decision;
use crate::run::{Side, sides};
use crate::structure::Return;
use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, EdgeId, FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_logic::{Answer, Session, TermId, Terms};
use hardbop_semantics::effects::{Effects, written_by};
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::{Execution, Semantics};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What to do at a branch, by its number among the branches that the marked path visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The clause holds the decision for this side.
    Decided(u32),
    /// It does not matter which side is taken; go on here.
    Free(LocId),
    /// The clause holds the decision for this side, and the side cannot be taken.
    Refused(u32),
}

/// The evidence for a clause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// What to do at some of the branches.
    pub at: Vec<(u32, Mark)>,
    /// How many branches the marked path visits.
    pub branches: u32,
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

/// What checking again works with.
pub(crate) struct Rechecker<'a, 'p> {
    pub semantics: &'a Semantics<'p>,
    pub effects: &'a Effects,
    pub open: &'a BTreeSet<CheckId>,
    pub nodes: &'a mut Nodes,
    pub budget: &'a Budget,
    graphs: FxHashMap<FuncId, Rc<FunctionGraph>>,
    failing: Vec<bool>,
    live: FxHashMap<(LocId, Return), bool>,
}

struct Frame {
    context: ContextId,
    returns: Return,
    back: LocId,
}

impl<'a, 'p> Rechecker<'a, 'p> {
    pub(crate) fn new(
        semantics: &'a Semantics<'p>,
        effects: &'a Effects,
        open: &'a BTreeSet<CheckId>,
        nodes: &'a mut Nodes,
        budget: &'a Budget,
    ) -> Rechecker<'a, 'p> {
        let program = semantics.program;
        let mut rechecker = Rechecker {
            semantics,
            effects,
            open,
            nodes,
            budget,
            graphs: FxHashMap::default(),
            failing: vec![false; program.functions.len()],
            live: FxHashMap::default(),
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
        if !graph.reducible || program.locations[meet.index()].function != function {
            return None;
        }
        let region = self.reachable(branch, Some(meet));
        if self.meets_error(&region, returns) {
            return None;
        }
        for at in 0..graph.loops.len() {
            let head = graph.loops[at].head;
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
    pub(crate) fn holds(
        &mut self,
        terms: &mut Terms,
        session: &mut Session<'static>,
        clause: &[Decision],
        marks: &Marks,
    ) -> bool {
        [Asking::Sparingly, Asking::Always]
            .into_iter()
            .any(|asking| self.follow(terms, session, clause, marks, asking))
    }

    fn follow(
        &mut self,
        terms: &mut Terms,
        session: &mut Session<'static>,
        clause: &[Decision],
        marks: &Marks,
        asking: Asking,
    ) -> bool {
        let program = self.program();
        let mut run = Execution::new(self.semantics);
        run.start(terms);
        let mut known: Vec<TermId> = Vec::new();
        let entry = program.function(program.entry).entry;
        let mut frames = vec![Frame {
            context: self.nodes.start(),
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
            let context = self.nodes.arrive(&graph, frame.context, at).0;
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
                    let node = self.nodes.node(context, at);
                    let mark = marks.at.get(next).filter(|&&(place, _)| place == visited);
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
                            if !clause.contains(&Decision { node, side }) {
                                return false;
                            }
                            side
                        }
                        Some(&(_, Mark::Refused(side))) => {
                            if !clause.contains(&Decision { node, side }) {
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
                            let sparing = asking == Asking::Sparingly && visited < marks.branches;
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
                let context = self.nodes.call(context, edge, callee);
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
            callee: hardbop_cfront::program::Callee::Direct(_),
            ..
        }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_cfront::load::{LoadedProgram, load_text};
    use hardbop_logic::{Z3Options, Z3Solver};
    use hardbop_semantics::Encoding;

    fn loaded(text: &str) -> LoadedProgram {
        load_text("test.c", text).expect(text)
    }

    /// The second choice matters: one side makes x 11.
    const FOO2: &str = "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = 5, y = 8;
    if (__VERIFIER_nondet_int()) y = y - 1; else y = y + 1;
    x = 2 * x;
    if (__VERIFIER_nondet_int()) y = y - 1; else x = x + 1;
    if (x > 10) reach_error();
    return 0;
}";

    /// Checks a clause about [`FOO2`]: marks by the numbers of its branches, where `None` means
    /// free and `Some(side)` a decision of the clause.
    fn check(choices: [Option<u32>; 2], expected: bool) {
        let loaded = loaded(FOO2);
        let program = &loaded.program;
        let semantics = Semantics::new(program, &loaded.points_to, Encoding::Bits);
        let effects = Effects::new(&semantics);
        let open = BTreeSet::from([CheckId(0)]);
        let mut nodes = Nodes::new();
        let branches: Vec<LocId> = (0..program.locations.len() as u32)
            .map(LocId)
            .filter(|&at| {
                program.locations[at.index()].function == program.entry
                    && program.edges_from(at).count() == 2
            })
            .collect();
        let mut clause = Vec::new();
        let mut marks = Vec::new();
        for (place, choice) in choices.into_iter().enumerate() {
            let mark = match choice {
                Some(side) => {
                    let context = nodes.start();
                    let node = nodes.node(context, branches[place]);
                    clause.push(Decision { node, side });
                    Mark::Decided(side)
                }
                // Both sides lead to one location.
                None => {
                    let ends: Vec<LocId> = program
                        .edges_from(branches[place])
                        .map(|(_, edge)| {
                            let next = program.edges_from(edge.to).next();
                            next.map_or(edge.to, |(_, edge)| edge.to)
                        })
                        .collect();
                    assert_eq!(ends[0], ends[1], "the shape of the program");
                    Mark::Free(ends[0])
                }
            };
            marks.push((place as u32, mark));
        }
        let marks = Marks {
            at: marks,
            branches: 3,
        };
        let mut terms = Terms::new();
        let solver = Box::new(Z3Solver::new(Z3Options::default()));
        let mut session = Session::new(solver, Budget::unlimited());
        for axiom in semantics.axioms(&mut terms) {
            session.assert(&terms, axiom);
        }
        let budget = Budget::unlimited();
        let mut rechecker = Rechecker::new(&semantics, &effects, &open, &mut nodes, &budget);
        let holds = rechecker.holds(&mut terms, &mut session, &clause, &marks);
        assert_eq!(holds, expected);
    }

    #[test]
    fn a_clause_about_the_choice_that_matters_stands() {
        check([None, Some(0)], true);
        check([Some(1), Some(0)], true);
    }

    #[test]
    fn a_clause_that_excludes_the_error_falls() {
        check([None, Some(1)], false);
        check([Some(0), Some(1)], false);
    }

    #[test]
    fn a_branch_that_writes_what_is_needed_is_not_free() {
        check([Some(0), None], false);
        check([None, None], false);
    }
}
