//! All executions at once, layer by layer.
//!
//! Layer `n` holds what can be reached over `n` blocks: for every cut point, and every stack of
//! calls, one condition and one state, in which all paths that meet there are merged. A violated
//! check is asked about as soon as a layer reaches it; a model of its condition tells the path, the
//! path's own model tells the inputs. Cut points whose condition has no model are left out; when a
//! layer is empty, every execution has been seen.

use hardbop_budget::Stopped;
use hardbop_cfront::ids::{CheckId, EdgeId, FuncId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_circuit::{CircuitSolver, TOO_LARGE};
use hardbop_engine::claim::{Given, Run, Unreached, Unrolling};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Figure, Reason, Scope, Task};
use hardbop_logic::{
    Answer, Limits, Session, Solver, TermId, Terms, Unknown, Value, Z3Options, Z3Solver,
};
use hardbop_model::state::StateSize;
use hardbop_newton::feasible::{Feasibility, feasible};
use hardbop_semantics::frontier::same_frontier;
use hardbop_semantics::replay::original_choices;
use hardbop_semantics::segment::{Blocks, Segment};
use hardbop_semantics::skeleton::{Point, Skeleton, SkeletonEdgeKind, VertexId};
use hardbop_semantics::{Execution, Semantics};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Unrolls the program, layer by layer.
#[derive(Clone, Debug)]
pub struct Unroll {
    /// The most layers.
    pub layers: u32,
    /// The most edges of a program that is looked at.
    pub edges: usize,
    /// The most time for one question about a violated check.
    pub query_time: Duration,
    /// The most time for one question whether a cut point is reached at all.
    pub prune_time: Duration,
    /// Who is asked.
    pub decided_by: DecidedBy,
    /// How large circuits may become, in nodes and looks at what was written to memory. A program
    /// that needs larger ones is declined, as soon as that is seen.
    pub nodes: usize,
    /// The largest state of a program that is translated to circuits.
    pub state: StateSize,
}

/// Where objects begin to lie on circuits: behind the first pages, in any address space.
const ORIGIN: u64 = 0x10000;

/// Who answers the questions about layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// An SMT solver.
    Smt,
    /// A SAT solver, on circuits: words and memory as bits.
    Circuits,
}

impl Unroll {
    /// The same engine on circuits.
    pub fn on_circuits() -> Unroll {
        Unroll {
            decided_by: DecidedBy::Circuits,
            ..Unroll::default()
        }
    }
}

impl Default for Unroll {
    fn default() -> Unroll {
        Unroll {
            layers: 100_000,
            edges: usize::MAX,
            query_time: Duration::from_secs(30),
            prune_time: Duration::from_millis(500),
            decided_by: DecidedBy::Smt,
            // A few seconds of translating, and a gigabyte.
            nodes: 8_000_000,
            state: StateSize {
                bits: 100_000,
                memories: 256,
            },
        }
    }
}

impl Engine for Unroll {
    fn name(&self) -> &'static str {
        match self.decided_by {
            DecidedBy::Smt => "unroll",
            DecidedBy::Circuits => "sat",
        }
    }

    fn scope(&self) -> Scope {
        Scope::Both
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let view = &task.model.flat;
        if self.decided_by == DecidedBy::Circuits && !StateSize::of(view).fits(self.state) {
            let reason = Reason::NoBits("more state than it takes");
            return Ended::declined(task, desk, &reason);
        }
        let mut terms = Terms::new();
        let session = self.session(task, &view.semantics, &mut terms);
        let mut search = Search {
            options: self,
            task,
            program: view.program,
            semantics: &view.semantics,
            skeleton: &view.skeleton,
            desk,
            terms,
            session,
            nodes: Vec::new(),
            dead: Vec::new(),
            open: task.checks.iter().copied().collect(),
            reasons: BTreeMap::new(),
            incomplete: None,
            questions: 0,
            layer: 0,
        };
        if view.program.edges.len() > self.edges {
            search.incomplete = Some(Reason::Bound(0));
        } else {
            search.run();
        }
        search.end()
    }
}

impl Unroll {
    fn session(
        &self,
        task: &Task<'_>,
        semantics: &Semantics<'_>,
        terms: &mut Terms,
    ) -> Session<'static> {
        let options = Z3Options {
            logic: semantics.logic(),
            ..Z3Options::default()
        };
        let solver: Box<dyn Solver> = match self.decided_by {
            DecidedBy::Smt => Box::new(Z3Solver::new(options)),
            DecidedBy::Circuits => {
                let mut solver = CircuitSolver::new().within(self.nodes);
                // Where objects lie is not the program's to say: with their addresses known, most of
                // what is read and written is, too. A proof is checked for all origins.
                let origin = semantics.origin(terms);
                solver.fix(terms, origin, ORIGIN);
                Box::new(solver)
            }
        };
        let mut session = Session::new(solver, task.budget.clone());
        session.set_limits(Limits {
            time: Some(self.query_time),
            steps: None,
        });
        session
    }
}

/// A cut point with the calls that are open there, outermost first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    calls: Vec<(EdgeId, FuncId)>,
    vertex: VertexId,
}

/// A [`Node`], by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NodeId(usize);

/// A cut point in a layer.
struct Node {
    /// How it is come to: from which node, over what, under which condition.
    arrivals: Vec<(NodeId, Segment, TermId)>,
}

/// A way into a cut point of the next layer.
struct Arrival<'s, 'p> {
    from: NodeId,
    segment: Segment,
    condition: TermId,
    run: Execution<'s, 'p>,
}

/// What is reached in a layer.
struct Reached<'s, 'p> {
    key: Key,
    node: NodeId,
    condition: TermId,
    run: Execution<'s, 'p>,
}

struct Search<'a, 's, 'p> {
    options: &'a Unroll,
    task: &'a Task<'a>,
    program: &'a Program,
    semantics: &'s Semantics<'p>,
    skeleton: &'a Skeleton,
    desk: &'a mut dyn Desk,
    terms: Terms,
    session: Session<'static>,
    nodes: Vec<Node>,
    /// Where no execution comes.
    dead: Vec<Unreached>,
    open: BTreeSet<CheckId>,
    /// Why checks that were asked about are not decided.
    reasons: BTreeMap<CheckId, Reason>,
    incomplete: Option<Reason>,
    questions: u64,
    layer: u32,
}

/// What ends the search early.
enum End {
    Stopped(Stopped),
    Reason(Reason),
}

impl From<Stopped> for End {
    fn from(stopped: Stopped) -> End {
        End::Stopped(stopped)
    }
}

/// Whether a solver gave up since its circuit would become too large.
fn is_too_large(why: &Unknown) -> bool {
    matches!(why, Unknown::GaveUp(why) if why == TOO_LARGE)
}

fn too_large() -> End {
    End::Reason(Reason::NoBits("circuits that are too large"))
}

impl<'s, 'p> Search<'_, 's, 'p> {
    fn run(&mut self) {
        for axiom in self.semantics.axioms(&mut self.terms) {
            self.session.assert(&self.terms, axiom);
        }
        match self.layers() {
            // Without checks nothing was followed, and what is not supported was not met.
            Ok(()) if self.task.checks.is_empty() => self.incomplete = Some(Reason::Bound(0)),
            Ok(()) => {}
            Err(End::Stopped(stopped)) => self.incomplete = Some(Reason::Stopped(stopped)),
            Err(End::Reason(reason)) => self.incomplete = Some(reason),
        }
    }

    fn layers(&mut self) -> Result<(), End> {
        let mut run = Execution::new(self.semantics);
        run.start(&mut self.terms);
        let facts = std::mem::take(&mut run.facts);
        let condition = self.terms.and(&facts);
        let entry = self.program.function(self.program.entry).entry;
        let Some(vertex) = self.skeleton.vertex_at(entry) else {
            return Err(End::Reason(Reason::Refinement));
        };
        self.nodes.push(Node {
            arrivals: Vec::new(),
        });
        let mut layer = vec![Reached {
            key: Key {
                calls: Vec::new(),
                vertex,
            },
            node: NodeId(0),
            condition,
            run,
        }];
        while !layer.is_empty() && !self.open.is_empty() {
            if self.layer >= self.options.layers {
                return Err(End::Reason(Reason::Bound(self.layer)));
            }
            self.task.budget.check()?;
            self.desk.event(Event {
                doing: "unrolling".into(),
                open: self.open.len(),
                figures: vec![
                    Figure::count("layers", self.layer.into()),
                    Figure::count("cut points", self.nodes.len() as u64),
                ],
            });
            let mut next: BTreeMap<Key, Vec<Arrival<'s, 'p>>> = BTreeMap::new();
            for reached in layer {
                self.step(reached, &mut next)?;
            }
            layer = Vec::new();
            self.layer += 1;
            for (key, arrivals) in next {
                layer.extend(self.meet(key, arrivals)?);
            }
        }
        self.claim()
    }

    /// All executions were followed: nothing that is still open is violated.
    fn claim(&mut self) -> Result<(), End> {
        if self.open.is_empty() && !self.task.checks.is_empty() {
            return Ok(());
        }
        let claim = Claim::Unrolling(Unrolling {
            checks: self.open.iter().copied().collect(),
            cuts: self.skeleton.cuts.iter().copied().collect(),
            layers: self.layer,
            dead: std::mem::take(&mut self.dead),
        });
        match self.desk.submit(claim).refused() {
            None => Ok(()),
            Some(Reason::Stopped(stopped)) => Err(End::Stopped(stopped)),
            Some(reason) => Err(End::Reason(reason)),
        }
    }

    /// Goes on from a cut point over all edges that leave it.
    fn step(
        &mut self,
        reached: Reached<'s, 'p>,
        next: &mut BTreeMap<Key, Vec<Arrival<'s, 'p>>>,
    ) -> Result<(), End> {
        let mut blocks = Blocks::new();
        for (segment, key) in self.ways(&reached.key)? {
            self.task.budget.check()?;
            let mut run = reached.run.clone();
            let cuts = &self.skeleton.cuts;
            let taken = run.segment(&mut self.terms, segment, cuts, &mut blocks);
            let Some(taken) = taken.map_err(|_| End::Reason(Reason::Refinement))? else {
                continue;
            };
            // The path's own model tells the inputs.
            run.fresh.clear();
            let arrival = Arrival {
                from: reached.node,
                segment,
                condition: self.terms.and(&[reached.condition, taken]),
                run,
            };
            next.entry(key).or_default().push(arrival);
        }
        Ok(())
    }

    /// The ways on from a cut point: back to the caller, if there is one, or along its edges.
    fn ways(&self, key: &Key) -> Result<Vec<(Segment, Key)>, End> {
        let mut calls = key.calls.clone();
        let procedure = self.skeleton.vertex(key.vertex).procedure;
        if key.vertex == self.skeleton.procedure(procedure).exit {
            let Some((call, callee)) = calls.pop() else {
                return Ok(Vec::new());
            };
            let to = self.program.edges[call.index()].to;
            let back = self.skeleton.vertex_at(to);
            let back = back.map(|vertex| (Segment::Leave(call, callee), Key { calls, vertex }));
            return Ok(back.into_iter().collect());
        }
        let mut ways = Vec::new();
        for edge in self.skeleton.edges_from(key.vertex) {
            let mut calls = calls.clone();
            match edge.kind {
                SkeletonEdgeKind::Start
                | SkeletonEdgeKind::Call(None, _)
                | SkeletonEdgeKind::Return(..) => {}
                SkeletonEdgeKind::Unsupported(edge) => {
                    let construct = match self.program.edges[edge.index()].op {
                        Op::Unsupported { construct } => construct,
                        _ => 0,
                    };
                    return Err(End::Reason(Reason::unsupported(self.program, construct)));
                }
                SkeletonEdgeKind::Call(Some(call), callee) => {
                    let entry = self.program.function(callee).entry;
                    calls.push((call, callee));
                    if let Some(vertex) = self.skeleton.vertex_at(entry) {
                        ways.push((Segment::Enter(call, callee), Key { calls, vertex }));
                    }
                }
                SkeletonEdgeKind::Block(from, to) => {
                    let vertex = edge.to;
                    ways.push((Segment::Block(from, to), Key { calls, vertex }));
                }
            }
        }
        Ok(ways)
    }

    /// Merges the ways into a cut point. Gives nothing if no execution takes them, or if it is a
    /// violated check.
    fn meet(
        &mut self,
        key: Key,
        arrivals: Vec<Arrival<'s, 'p>>,
    ) -> Result<Option<Reached<'s, 'p>>, End> {
        let never = self.terms.bool(false);
        let node = NodeId(self.nodes.len());
        let ways = arrivals
            .iter()
            .map(|arrival| (arrival.from, arrival.segment, arrival.condition))
            .collect();
        let mut merged: Option<(TermId, Execution<'s, 'p>)> = None;
        for mut arrival in arrivals {
            if arrival.condition == never {
                continue;
            }
            merged = Some(match merged {
                None => (arrival.condition, arrival.run),
                Some((condition, mut run)) => {
                    if self.options.decided_by == DecidedBy::Circuits {
                        same_frontier(&mut self.terms, &mut arrival.run, &mut run);
                    }
                    let all = self.terms.or(&[arrival.condition, condition]);
                    let run = arrival.run.merge(run, arrival.condition, &mut self.terms);
                    (all, run)
                }
            });
        }
        let unreached = |search: &Self| match search.skeleton.vertex(key.vertex).point {
            Point::At(location) => Some(Unreached {
                layer: search.layer,
                calls: key.calls.clone(),
                location,
            }),
            _ => None,
        };
        let Some((condition, run)) = merged else {
            self.dead.extend(unreached(self));
            return Ok(None);
        };
        self.nodes.push(Node { arrivals: ways });
        if let Point::At(location) = self.skeleton.vertex(key.vertex).point
            && let LocationKind::Error(check) = self.program.locations[location.index()].kind
        {
            if self.open.contains(&check) {
                self.violated(check, node, condition)?;
            }
            return Ok(None);
        }
        if condition != self.terms.bool(true) && !self.may_hold(condition)? {
            self.dead.extend(unreached(self));
            return Ok(None);
        }
        Ok(Some(Reached {
            key,
            node,
            condition,
            run,
        }))
    }

    /// Whether a condition may have a model; `true` if nobody knows.
    fn may_hold(&mut self, condition: TermId) -> Result<bool, End> {
        self.session.set_limits(Limits {
            time: Some(self.options.prune_time),
            steps: None,
        });
        self.questions += 1;
        let answer = self.session.check(&self.terms, &[condition]);
        self.session.set_limits(Limits {
            time: Some(self.options.query_time),
            steps: None,
        });
        match answer {
            Answer::Unsat => Ok(false),
            Answer::Unknown(Unknown::Stopped(stopped)) if self.task.budget.check().is_err() => {
                Err(End::Stopped(stopped))
            }
            Answer::Unknown(why) if is_too_large(&why) => Err(too_large()),
            _ => Ok(true),
        }
    }

    /// Asks whether a check is really violated at a node.
    fn violated(&mut self, check: CheckId, node: NodeId, condition: TermId) -> Result<(), End> {
        self.questions += 1;
        match self.session.check(&self.terms, &[condition]) {
            Answer::Unsat => Ok(()),
            Answer::Unknown(Unknown::Stopped(stopped)) => Err(End::Stopped(stopped)),
            Answer::Unknown(why) if is_too_large(&why) => Err(too_large()),
            Answer::Unknown(why) => {
                self.close(check, Some(Reason::Solver(why.to_string())));
                Ok(())
            }
            Answer::Sat => {
                let reason = self.concrete(check, node)?;
                self.close(check, reason);
                Ok(())
            }
        }
    }

    /// A check is done with: violated, or open for a reason.
    fn close(&mut self, check: CheckId, reason: Option<Reason>) {
        self.open.remove(&check);
        if let Some(reason) = reason {
            self.incomplete = Some(reason.clone());
            self.reasons.insert(check, reason);
        }
    }

    /// Claims the run behind the model that the solver holds. Gives why that is no violation.
    fn concrete(&mut self, check: CheckId, node: NodeId) -> Result<Option<Reason>, End> {
        let segments = match self.path(node) {
            Ok(segments) => segments,
            Err(why) => return Ok(Some(Reason::Solver(why.to_string()))),
        };
        let answer = feasible(
            self.semantics,
            &self.skeleton.cuts,
            &mut self.terms,
            &mut self.session,
            &segments,
        );
        match answer {
            Feasibility::Feasible(witness) => {
                let choices = original_choices(
                    self.task.model.program,
                    self.task.model.inlined,
                    &witness.choices,
                );
                let given = Given::Choices(choices);
                let claim = Claim::Run(Run { check, given });
                Ok(self.desk.submit(claim).refused())
            }
            Feasibility::Unknown(Unknown::Stopped(stopped)) => Err(End::Stopped(stopped)),
            Feasibility::Unknown(why) => Ok(Some(Reason::Solver(why.to_string()))),
            Feasibility::Infeasible(_) | Feasibility::Unmodelled(_) => Ok(Some(Reason::Refinement)),
        }
    }

    /// The path to a node in the model that the solver holds.
    fn path(&mut self, node: NodeId) -> Result<Vec<Segment>, Unknown> {
        let mut conditions = BTreeSet::new();
        let mut seen = BTreeSet::from([node]);
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            for &(from, _, condition) in &self.nodes[node.0].arrivals {
                conditions.insert(condition);
                if seen.insert(from) {
                    work.push(from);
                }
            }
        }
        let asked: Vec<TermId> = conditions.into_iter().collect();
        let values = self.session.values(&mut self.terms, &asked)?;
        let holds: BTreeSet<TermId> = asked
            .into_iter()
            .zip(values)
            .filter(|(_, value)| matches!(value, Some(Value::Bool(true))))
            .map(|(condition, _)| condition)
            .collect();
        let mut segments = Vec::new();
        let mut at = node;
        loop {
            let taken = self.nodes[at.0]
                .arrivals
                .iter()
                .find(|(_, _, condition)| holds.contains(condition));
            let Some(&(from, segment, _)) = taken else {
                break;
            };
            segments.push(segment);
            at = from;
        }
        segments.push(Segment::Start(self.program.entry));
        segments.reverse();
        Ok(segments)
    }

    fn end(self) -> Ended {
        let mut open = self.reasons;
        if let Some(reason) = &self.incomplete {
            for &check in &self.open {
                open.insert(check, reason.clone());
            }
        }
        Ended {
            open,
            incomplete: self.incomplete,
            statistics: vec![
                Figure::count("layers", self.layer.into()),
                Figure::count("cut points", self.nodes.len() as u64),
                Figure::count("questions", self.questions),
            ],
        }
    }
}
