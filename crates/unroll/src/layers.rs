//! All executions at once, layer by layer.
//!
//! Layer `n` holds what can be reached over `n` blocks: for every cut point, and every stack of
//! calls, one condition and one state, in which all paths that meet there are merged. A violated
//! check is asked about as soon as a layer reaches it; a model of its condition tells the path, the
//! path's own model tells the inputs. Cut points whose condition has no model are left out; when a
//! layer is empty, every execution has been seen.

mod evidence;

use hardbop_budget::Stopped;
use hardbop_cfront::ids::{CheckId, EdgeId, FuncId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_circuit::{CircuitSolver, TOO_LARGE};
use hardbop_engine::claim::{Unreached, Unrolling};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Figure, Reason, Scope, Task};
use hardbop_logic::{Answer, Limits, Session, Solver, TermId, Terms, Unknown, Z3Options, Z3Solver};
use hardbop_model::stages::{Following, Stage, Stages, When};
use hardbop_model::state::StateSize;
use hardbop_semantics::frontier::same_frontier;
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
    /// Which executions are merged. By points, a program is only followed to an end if its loops
    /// have some.
    pub following: Following,
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
            following: Following::Blocks,
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
        let flat = &task.model.flat;
        let following = match Stages::has_points(flat.program) {
            true => self.following,
            false => Following::Blocks,
        };
        let by_points;
        let view = match following {
            Following::Blocks => flat,
            Following::Points => {
                by_points = flat.cut_at_exits();
                &by_points
            }
        };
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
            stages: Stages::new(view.program, following),
            following,
            desk,
            terms,
            session,
            nodes: Vec::new(),
            dead: Vec::new(),
            open: task.checks.iter().copied().collect(),
            suspects: Vec::new(),
            at_a_time: 1,
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
                let mut solver = CircuitSolver::growing().within(self.nodes).by_cases();
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

/// Where executions come to, and when.
type Waiting<'s, 'p> = BTreeMap<(When, Key), (Stage, Vec<Arrival<'s, 'p>>)>;

/// What is reached in a layer.
struct Reached<'s, 'p> {
    key: Key,
    stage: Stage,
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
    stages: Stages<'p>,
    desk: &'a mut dyn Desk,
    terms: Terms,
    session: Session<'static>,
    nodes: Vec<Node>,
    /// Where no execution comes.
    dead: Vec<Unreached>,
    following: Following,
    open: BTreeSet<CheckId>,
    /// Where checks are violated if conditions hold, which is still to be asked.
    suspects: Vec<(CheckId, NodeId, TermId)>,
    /// So many of them are asked about at once.
    at_a_time: usize,
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
        let stage = self.stages.start();
        let key = Key {
            calls: Vec::new(),
            vertex,
        };
        self.nodes.push(Node {
            arrivals: Vec::new(),
        });
        let node = NodeId(0);
        let first = Reached {
            key,
            stage,
            node,
            condition,
            run,
        };
        let mut waiting: Waiting<'s, 'p> = BTreeMap::new();
        self.step(first, &mut waiting)?;
        while let Some(((when, key), (stage, arrivals))) = waiting.pop_first() {
            if self.open.is_empty() {
                break;
            }
            let before = self.layer;
            self.layer = match when {
                When::Blocks(count) => count,
                When::Point(_) => before + 1,
            };
            if self.layer > self.options.layers {
                return Err(End::Reason(Reason::Bound(self.options.layers)));
            }
            if self.layer > before {
                self.task.budget.check()?;
                self.tell();
            }
            if let Some(reached) = self.meet(key, stage, arrivals)? {
                self.step(reached, &mut waiting)?;
            }
        }
        self.ask()?;
        self.claim()
    }

    fn tell(&mut self) {
        let (layers, nodes) = (self.layer.into(), self.nodes.len() as u64);
        self.desk.event(Event {
            doing: "unrolling".into(),
            open: self.open.len(),
            figures: match self.following {
                Following::Blocks => vec![
                    Figure::count("layers", layers),
                    Figure::count("cut points", nodes),
                ],
                Following::Points => vec![Figure::count("cut points", nodes)],
            },
        });
    }

    /// All executions were followed: nothing that is still open is violated.
    fn claim(&mut self) -> Result<(), End> {
        if self.open.is_empty() && !self.task.checks.is_empty() {
            return Ok(());
        }
        let claim = Claim::Unrolling(Unrolling {
            checks: self.open.iter().copied().collect(),
            cuts: self.skeleton.cuts.iter().copied().collect(),
            following: self.following,
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
    fn step(&mut self, reached: Reached<'s, 'p>, waiting: &mut Waiting<'s, 'p>) -> Result<(), End> {
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
            let stage = match segment {
                Segment::Enter(call, callee) => self.stages.enter(&reached.stage, call, callee),
                Segment::Leave(call, _) => {
                    let to = self.program.edges[call.index()].to;
                    self.stages.leave(&reached.stage, to)
                }
                Segment::Block(_, to) => self.stages.block(&reached.stage, to),
                Segment::Start(_) => self.stages.start(),
            };
            let place = waiting.entry((stage.when.clone(), key));
            place.or_insert_with(|| (stage, Vec::new())).1.push(arrival);
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
        stage: Stage,
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
                    let (either, side) = match self.terms.fork(arrival.condition, condition) {
                        Some(fork) => fork,
                        None => {
                            let either = self.terms.or(&[arrival.condition, condition]);
                            (either, arrival.condition)
                        }
                    };
                    (either, arrival.run.merge(run, side, &mut self.terms))
                }
            });
        }
        let location = match self.skeleton.vertex(key.vertex).point {
            Point::At(location) => Some(location),
            _ => None,
        };
        let unreached = |location| Unreached {
            layer: stage.when.clone(),
            calls: key.calls.clone(),
            location,
        };
        let Some((condition, run)) = merged else {
            self.dead.extend(location.map(unreached));
            return Ok(None);
        };
        self.nodes.push(Node { arrivals: ways });
        if let Some(location) = location
            && let LocationKind::Error(check) = self.program.locations[location.index()].kind
        {
            if self.open.contains(&check) {
                self.suspects.push((check, node, condition));
                if self.suspects.len() >= self.at_a_time {
                    self.ask()?;
                }
            }
            return Ok(None);
        }
        let is_asked = match self.following {
            Following::Blocks => true,
            Following::Points => location.is_some_and(|at| self.stages.is_again(&stage, at)),
        };
        if is_asked && condition != self.terms.bool(true) && !self.may_hold(condition)? {
            self.dead.extend(location.map(unreached));
            return Ok(None);
        }
        Ok(Some(Reached {
            key,
            stage,
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
