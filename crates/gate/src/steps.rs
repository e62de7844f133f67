//! What lies between two cut points, as the gate sees it.
//!
//! A program is cut at the entries and exits of functions, before and after calls, where a check
//! is violated, in front of what is not supported, and wherever a claim says. What is left between
//! must be free of cycles; that is looked at here and not taken from anybody. Ways that meet are
//! merged.
//!
//! A call of a function that a claim leaves apart (`apart.rs`) is no cut: it is one step, after
//! which whatever the function may change is unknown.

use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_engine::Reason;
use hardbop_logic::{TermId, Terms};
use hardbop_model::View;
use hardbop_semantics::{Execution, Fresh, State};
use std::collections::{BTreeMap, BTreeSet};

/// Where a program is cut.
pub(crate) struct Cuts {
    locations: BTreeSet<LocId>,
    /// The functions whose calls are steps.
    apart: BTreeSet<FuncId>,
}

/// A way from one cut point to another, with all paths between them merged.
#[derive(Clone)]
pub(crate) struct Way {
    /// Where it ends.
    pub(crate) to: LocId,
    /// When it is taken.
    pub(crate) condition: TermId,
    /// The state at its end.
    pub(crate) state: State,
}

impl Cuts {
    /// The cut points that a claim names, and those that every program has.
    pub(crate) fn new(program: &Program, named: &[LocId], apart: BTreeSet<FuncId>) -> Cuts {
        let is_step = |op: &Op| is_apart(op, &apart);
        let mut cuts: BTreeSet<LocId> = BTreeSet::new();
        for &location in named {
            if location.index() < program.locations.len() {
                cuts.insert(location);
            }
        }
        for function in callable(program) {
            let function = program.function(function);
            cuts.extend([function.entry, function.exit]);
            for index in function.locations.clone() {
                let location = LocId(index);
                let kind = program.locations[location.index()].kind;
                if matches!(kind, LocationKind::Error(_)) {
                    cuts.insert(location);
                }
                for (_, edge) in program.edges_from(location) {
                    match edge.op {
                        Op::Call { .. } if is_step(&edge.op) => {}
                        Op::Call { .. } => cuts.extend([location, edge.to]),
                        Op::Unsupported { .. } => cuts.extend([location]),
                        _ => {}
                    }
                }
            }
        }
        Cuts {
            locations: cuts,
            apart,
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = LocId> {
        self.locations.iter().copied()
    }

    /// The ways from a cut point to the next ones, over edges that are neither calls nor
    /// unsupported; entered in a given state. Ends of the program are no cut points: nothing more
    /// happens there.
    pub(crate) fn ways(
        &self,
        view: &View<'_>,
        terms: &mut Terms,
        start: LocId,
        entered: State,
    ) -> Result<Vec<Way>, Reason> {
        self.ways_open(view, terms, start, entered, &mut Vec::new())
    }

    /// The same; what the edges between leave open is added to a list.
    pub(crate) fn ways_open(
        &self,
        view: &View<'_>,
        terms: &mut Terms,
        start: LocId,
        entered: State,
        open: &mut Vec<(EdgeId, Fresh)>,
    ) -> Result<Vec<Way>, Reason> {
        let (program, semantics) = (view.program, &view.semantics);
        let mut arrived: BTreeMap<LocId, Way> = BTreeMap::new();
        let always = terms.bool(true);
        for location in self.order(program, start)? {
            let (before, state) = if location == start {
                (always, entered.clone())
            } else {
                // What leads here comes earlier in the order.
                match arrived.remove(&location) {
                    Some(way) => (way.condition, way.state),
                    None => continue,
                }
            };
            for (id, edge) in program.edges_from(location) {
                if self.ends(&edge.op) {
                    continue;
                }
                let mut runs = Vec::new();
                match &edge.op {
                    Op::Call { callee, .. } => {
                        for &callee in callee.targets() {
                            let mut run = Execution::new(semantics);
                            run.state = state.clone();
                            let pass = step_over(view, &mut run, terms, id, callee);
                            runs.push((pass, run));
                        }
                    }
                    _ => {
                        let mut run = Execution::new(semantics);
                        run.state = state.clone();
                        let pass = run.edge(terms, id).map_err(|_| Reason::Certificate)?;
                        runs.push((pass, run));
                    }
                }
                for (pass, mut run) in runs {
                    let mut conjuncts = vec![before, pass];
                    conjuncts.append(&mut run.facts);
                    open.extend(run.fresh.drain(..).map(|fresh| (id, fresh)));
                    let condition = terms.and(&conjuncts);
                    let way = match arrived.remove(&edge.to) {
                        None => Way {
                            to: edge.to,
                            condition,
                            state: run.state,
                        },
                        Some(other) => Way {
                            to: edge.to,
                            state: run.state.merge(&other.state, condition, semantics, terms),
                            condition: terms.or(&[condition, other.condition]),
                        },
                    };
                    arrived.insert(edge.to, way);
                }
            }
        }
        let ends = arrived.into_values();
        Ok(ends
            .filter(|way| self.locations.contains(&way.to))
            .collect())
    }

    /// The edges between a cut point and some others, over which control can come to those.
    pub(crate) fn edges_to(
        &self,
        program: &Program,
        start: LocId,
        ends: &BTreeSet<LocId>,
    ) -> Result<Vec<EdgeId>, Reason> {
        let mut leading: BTreeSet<LocId> = BTreeSet::new();
        let mut edges = Vec::new();
        for location in self.order(program, start)?.into_iter().rev() {
            for (id, edge) in program.edges_from(location) {
                let leads = match self.locations.contains(&edge.to) {
                    true => ends.contains(&edge.to),
                    false => leading.contains(&edge.to),
                };
                if leads {
                    leading.insert(location);
                    edges.push(id);
                }
            }
        }
        Ok(edges)
    }

    /// Whether an edge lies between no two cut points.
    fn ends(&self, op: &Op) -> bool {
        match op {
            Op::Call { .. } => !is_apart(op, &self.apart),
            Op::Unsupported { .. } => true,
            _ => false,
        }
    }

    /// The locations between a cut point and the next ones, each after all that lead to it. A
    /// cycle among them is a claim's fault: it forgot to cut it.
    fn order(&self, program: &Program, start: LocId) -> Result<Vec<LocId>, Reason> {
        #[derive(PartialEq)]
        enum Seen {
            Open,
            Done,
        }
        let mut seen: BTreeMap<LocId, Seen> = BTreeMap::from([(start, Seen::Open)]);
        let mut order = Vec::new();
        let mut stack: Vec<(LocId, u32)> = vec![(start, 0)];
        while let Some((location, next)) = stack.last_mut() {
            let edges = program.locations[location.index()].edges.clone();
            let index = edges.start + *next;
            if index >= edges.end {
                seen.insert(*location, Seen::Done);
                order.push(*location);
                stack.pop();
                continue;
            }
            *next += 1;
            let edge = &program.edges[index as usize];
            if self.ends(&edge.op) || self.locations.contains(&edge.to) {
                continue;
            }
            match seen.get(&edge.to) {
                Some(Seen::Open) => return Err(Reason::Certificate),
                Some(Seen::Done) => {}
                None => {
                    seen.insert(edge.to, Seen::Open);
                    stack.push((edge.to, 0));
                }
            }
        }
        order.reverse();
        Ok(order)
    }
}

/// Whether a call enters only functions that are left apart.
fn is_apart(op: &Op, apart: &BTreeSet<FuncId>) -> bool {
    match op {
        Op::Call { callee, .. } => {
            let mut targets = callee.targets().iter();
            !apart.is_empty() && targets.all(|target| apart.contains(target))
        }
        _ => false,
    }
}

/// A call that is entered and left, with nothing known of what is in between: whatever the callee
/// may change, and all of its own frame, may be anything at its exit. Gives the condition under
/// which the callee is the one that is called.
pub(crate) fn step_over(
    view: &View<'_>,
    run: &mut Execution<'_, '_>,
    terms: &mut Terms,
    call: EdgeId,
    callee: FuncId,
) -> TermId {
    let condition = run.enter(terms, call, callee);
    forget(view, run, terms, callee);
    run.leave(terms);
    condition
}

/// What a function may change, and all of its own frame, may be anything.
pub(crate) fn forget(
    view: &View<'_>,
    run: &mut Execution<'_, '_>,
    terms: &mut Terms,
    function: FuncId,
) {
    let own = view.semantics.frame_variables(function);
    for id in view.effects.modified(function).iter().copied().chain(own) {
        let sort = view.semantics.sort(terms, id);
        let any = terms.fresh("exit", sort);
        run.state.set(id, any);
    }
}
