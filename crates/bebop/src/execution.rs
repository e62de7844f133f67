//! The states along a path.
//!
//! They are computed anew, over all slots in scope: forward the path edges along exactly this
//! sequence of vertices, then backward those among them from which the rest of it can be
//! followed. A value that is the same in all of these is *forced* by the trace, as in the paper's
//! Figure 1; and one full execution is picked from them.

use crate::back::{Point, Values};
use crate::bdd::{Bdd, Built};
use crate::hash::FastMap;
use crate::join::{Joins, PassLists};
use crate::path::Walk;
use crate::slot_set as set;
use crate::space::{Copy, Slot, Space};
use crate::supergraph::{Edge, Frame, Proc, Supergraph, Vertex};
use crate::trace::{Move, Step, Value};
use hardbop_budget::Stopped;

/// Computes the states along a path. `joins` must track the whole scope.
pub(crate) fn states<G: Supergraph>(
    walk: &Walk<'_>,
    joins: &mut Joins<'_, G>,
    moves: &[Move],
) -> Result<Option<Vec<Step>>, Stopped> {
    let forward = Forward::run(walk, joins, moves)?;
    Backward::run(walk, joins, &forward, moves)
}

/// The path edges along the path.
struct Forward {
    /// Before each move.
    before: Vec<Bdd>,
    vertices: Vec<Vertex>,
    depths: Vec<u32>,
    /// For a return: the move that entered the callee. For an entry: the move that returns.
    partner: Vec<Option<usize>>,
    /// Before each move, the slots that a closed call left open.
    unknown: Vec<Vec<Slot>>,
}

impl Forward {
    fn run<G: Supergraph>(
        walk: &Walk<'_>,
        joins: &mut Joins<'_, G>,
        moves: &[Move],
    ) -> Result<Forward, Stopped> {
        let main = joins.graph.main();
        let mut now = joins.start(main, Bdd::TRUE)?;
        let mut vertex = joins.graph.procedure(main).entry;
        let mut open: Vec<usize> = Vec::new();
        let mut depth = 0;
        let mut unknown: Vec<Slot> = Vec::new();
        let mut forward = Forward {
            before: Vec::new(),
            vertices: Vec::new(),
            depths: Vec::new(),
            partner: vec![None; moves.len()],
            unknown: Vec::new(),
        };
        for (index, &step) in moves.iter().enumerate() {
            forward.before.push(now);
            forward.vertices.push(vertex);
            forward.depths.push(depth);
            forward.unknown.push(unknown.clone());
            match step {
                Move::Along(edge) => {
                    let mut after = Bdd::FALSE;
                    for edge in parallel(joins.graph, edge) {
                        let image = joins.image(edge, now)?;
                        after = joins.space.bdds.or(after, image)?;
                    }
                    now = after;
                    vertex = joins.graph.ends(edge).to;
                    let mut writes = Vec::new();
                    joins.graph.writes(edge, &mut writes);
                    unknown.retain(|slot| !writes.contains(slot));
                }
                Move::Into(call) => {
                    let Some(callee) = joins.graph.ends(call).callee else {
                        continue;
                    };
                    let states = joins.enter(call, now)?;
                    now = joins.start(callee, states)?;
                    vertex = joins.graph.procedure(callee).entry;
                    unknown.retain(|slot| slot.0 < joins.graph.globals());
                    open.push(index);
                    depth += 1;
                }
                Move::Return(call) => {
                    let Some(entered) = open.pop() else { continue };
                    forward.partner[index] = Some(entered);
                    forward.partner[entered] = Some(index);
                    let from = forward.before[entered];
                    let lifted = joins.lift(call, from, now)?;
                    now = joins.join(call, from, lifted)?;
                    vertex = joins.graph.ends(call).to;
                    depth -= 1;
                    let globals = joins.graph.globals();
                    unknown.retain(|slot| slot.0 < globals);
                    let locals = forward.unknown[entered].iter().filter(|s| s.0 >= globals);
                    unknown.extend(locals);
                    let mut writes = Vec::new();
                    joins.graph.writes(call, &mut writes);
                    unknown.retain(|slot| !writes.contains(slot));
                }
                Move::Over(call) => {
                    let Some(callee) = joins.graph.ends(call).callee else {
                        continue;
                    };
                    let exit = joins.graph.procedure(callee).exit;
                    let summary = walk.paths.reached[exit.index()];
                    let lifted = joins.lift(call, now, summary)?;
                    now = joins.join(call, now, lifted)?;
                    vertex = joins.graph.ends(call).to;
                    left_open(walk, joins, call, callee, &mut unknown);
                }
                Move::End => {}
            }
            let roots = || {
                walk_roots(walk)
                    .into_iter()
                    .chain(forward.before.iter().copied())
            };
            if joins.space.bdds.wants_collection() {
                joins.collect_if_due(roots().chain([now]));
            }
        }
        Ok(forward)
    }
}

fn walk_roots(walk: &Walk<'_>) -> Vec<Bdd> {
    let mut roots = Vec::new();
    (walk.keep)(&mut roots);
    roots
}

/// What a closed call does to the set of unknown slots: globals that the callee modifies and that
/// are dead at its exit are not in its summary.
fn left_open<G: Supergraph>(
    walk: &Walk<'_>,
    joins: &Joins<'_, G>,
    call: Edge,
    callee: Proc,
    unknown: &mut Vec<Slot>,
) {
    let exit = joins.graph.procedure(callee).exit;
    let summarised = walk.live.live(joins.graph, exit);
    let modified = joins.ranges.modified(callee);
    unknown.retain(|&slot| !(set::has(modified, slot) && set::has(summarised, slot)));
    for slot in set::slots(modified) {
        if !set::has(summarised, slot) && !unknown.contains(&slot) {
            unknown.push(slot);
        }
    }
    let mut results = Vec::new();
    joins.graph.results(call, &mut results);
    for (value, target) in results {
        unknown.retain(|&slot| slot != target);
        if !set::has(summarised, value) {
            unknown.push(target);
        }
    }
}

/// The backward pass.
struct Backward {
    /// The path edges after the move from which the rest of the path can be followed.
    after: Bdd,
    /// The same for the execution that was picked.
    point: Point,
}

/// What must be remembered while the inside of a call is passed backward.
struct OpenCall {
    /// What the path needs after the call, in terms of values before it and given back.
    returned: Bdd,
    /// The callee's path edges to its exit from which the path can be followed.
    exits: Bdd,
    /// The picked state before the call.
    point: Point,
}

impl Backward {
    fn run<G: Supergraph>(
        walk: &Walk<'_>,
        joins: &mut Joins<'_, G>,
        forward: &Forward,
        moves: &[Move],
    ) -> Result<Option<Vec<Step>>, Stopped> {
        let mut steps: Vec<Step> = Vec::with_capacity(moves.len());
        let mut open: Vec<OpenCall> = Vec::new();
        let mut implied: FastMap<Bdd, Values> = FastMap::default();
        let mut now = Backward {
            after: Bdd::FALSE,
            point: Point::default(),
        };
        for index in (0..moves.len()).rev() {
            let vertex = forward.vertices[index];
            let from = forward.before[index];
            let mut leaves = moves[index];
            let found = match moves[index] {
                Move::End => pick_point(joins, vertex, from).map(|point| (from, point)),
                Move::Along(edge) => now.along(joins, edge, from)?.map(|(set, point, edge)| {
                    leaves = Move::Along(edge);
                    (set, point)
                }),
                Move::Over(call) => {
                    let Some(callee) = joins.graph.ends(call).callee else {
                        return Ok(None);
                    };
                    let exit = joins.graph.procedure(callee).exit;
                    let view = joins.callers_view(callee, walk.paths.reached[exit.index()])?;
                    now.over(joins, call, callee, from, view)?
                        .map(|(set, point, _)| (set, point))
                }
                Move::Return(call) => {
                    let Some(entered) = forward.partner[index] else {
                        return Ok(None);
                    };
                    let call_state = forward.before[entered];
                    let Some((opened, exit_point)) =
                        now.open(joins, call, call_state, from, vertex)?
                    else {
                        return Ok(None);
                    };
                    let exits = opened.exits;
                    open.push(opened);
                    Some((exits, exit_point))
                }
                Move::Into(call) => {
                    let Some(callee) = joins.graph.ends(call).callee else {
                        return Ok(None);
                    };
                    if forward.partner[index].is_some() {
                        let Some(opened) = open.pop() else {
                            return Ok(None);
                        };
                        let view = joins.callers_view(callee, opened.exits)?;
                        let steps = joins.before_call(call, from, view, opened.returned)?;
                        let set = joins.forget_call(callee, steps)?;
                        Some((set, opened.point))
                    } else {
                        now.enter_unreturned(joins, call, callee, from)?
                    }
                }
            };
            let Some((after, point)) = found else {
                return Ok(None);
            };
            now = Backward { after, point };
            let unknown = &forward.unknown[index];
            steps.push(Step {
                vertex,
                depth: forward.depths[index],
                leaves,
                state: now.values(joins, vertex, unknown, &mut implied),
            });
            if joins.space.bdds.wants_collection() {
                implied.clear();
                let held = open.iter().flat_map(|call| [call.returned, call.exits]);
                let roots = walk_roots(walk)
                    .into_iter()
                    .chain(forward.before.iter().copied());
                joins.collect_if_due(roots.chain(held).chain([now.after]));
            }
        }
        steps.reverse();
        Ok(Some(steps))
    }

    fn along<G: Supergraph>(
        &self,
        joins: &mut Joins<'_, G>,
        edge: Edge,
        from: Bdd,
    ) -> Result<Option<(Bdd, Point, Edge)>, Stopped> {
        let vertex = joins.graph.ends(edge).from;
        let mut set = Bdd::FALSE;
        for edge in parallel(joins.graph, edge) {
            let steps = joins.before_edge(edge, from, self.after)?;
            let steps = joins.forget_writes(edge, steps)?;
            set = joins.space.bdds.or(set, steps)?;
        }
        let after = joins.cube(&self.point)?;
        for edge in parallel(joins.graph, edge) {
            let one = joins.before_edge(edge, set, after)?;
            if let Some(point) = pick_point(joins, vertex, one) {
                return Ok(Some((set, point, edge)));
            }
        }
        Ok(None)
    }

    /// Over a call, with the callee's path edges in the caller's view. Also gives the picked
    /// step, with what was passed to the callee and given back.
    fn over<G: Supergraph>(
        &self,
        joins: &mut Joins<'_, G>,
        call: Edge,
        callee: Proc,
        from: Bdd,
        view: Bdd,
    ) -> Result<Option<(Bdd, Point, Bdd)>, Stopped> {
        let vertex = joins.graph.ends(call).from;
        let returned = joins.before_return(call, callee, self.after)?;
        let steps = joins.before_call(call, from, view, returned)?;
        let set = joins.forget_call(callee, steps)?;
        let after = joins.cube(&self.point)?;
        let returned = joins.before_return(call, callee, after)?;
        let one = joins.before_call(call, set, view, returned)?;
        Ok(pick_point(joins, vertex, one).map(|point| (set, point, one)))
    }

    /// From the return point of a call to the callee's exit.
    fn open<G: Supergraph>(
        &self,
        joins: &mut Joins<'_, G>,
        call: Edge,
        call_state: Bdd,
        exit_state: Bdd,
        exit: Vertex,
    ) -> Result<Option<(OpenCall, Point)>, Stopped> {
        let Some(callee) = joins.graph.ends(call).callee else {
            return Ok(None);
        };
        let returned = joins.before_return(call, callee, self.after)?;
        let wanted = callees_view(joins, call, callee, call_state, returned)?;
        let exits = joins.space.bdds.and(exit_state, wanted)?;
        // One execution: the state before the call, then the callee's exit state that fits it.
        let view = joins.callers_view(callee, exits)?;
        let Some((_, point, step)) = self.over(joins, call, callee, call_state, view)? else {
            return Ok(None);
        };
        let Some(picked) = joins.pick(step) else {
            return Ok(None);
        };
        let globals = joins.graph.globals();
        let frame = Frame::of(joins.graph, callee);
        let mut at_exit = Point::default();
        for slot in set::slots(joins.ranges.inputs(callee)) {
            let copy = if slot.0 < globals {
                Copy::Current
            } else {
                Copy::Next
            };
            at_exit.entry.set(slot, picked.value(slot, copy));
        }
        let mut results = Vec::new();
        joins.graph.results(call, &mut results);
        let modified = set::slots(joins.ranges.modified(callee));
        for slot in modified.chain(frame.returns.map(Slot)) {
            at_exit.current.set(slot, picked.value(slot, Copy::Next));
        }
        let cube = joins.cube(&at_exit)?;
        let chosen = joins.space.bdds.and(exits, cube)?;
        let Some(exit_point) = pick_point(joins, exit, chosen) else {
            return Ok(None);
        };
        Ok(Some((
            OpenCall {
                returned,
                exits,
                point,
            },
            exit_point,
        )))
    }

    /// From the entry of a callee that does not return to the call.
    fn enter_unreturned<G: Supergraph>(
        &self,
        joins: &mut Joins<'_, G>,
        call: Edge,
        callee: Proc,
        from: Bdd,
    ) -> Result<Option<(Bdd, Point)>, Stopped> {
        let vertex = joins.graph.ends(call).from;
        let frame = Frame::of(joins.graph, callee);
        let mut lists = PassLists::default();
        for slot in set::slots(joins.ranges.inputs(callee)) {
            lists.quantify(slot, Copy::Entry);
        }
        for slot in (frame.returns.start..frame.locals.end).map(Slot) {
            lists.quantify(slot, Copy::Current);
        }
        let pass = lists.intern(joins.space);
        let states = joins.space.bdds.project(self.after, pass)?;
        let steps = joins.before_entry(call, callee, from, states)?;
        let set = joins.forget_call(callee, steps)?;
        let mut inputs = Values::default();
        for slot in (0..frame.formals.end).map(Slot) {
            if let Some(value) = self.point.current.get(slot) {
                inputs.set(slot, value);
            }
        }
        let states = joins.cube(&Point {
            entry: Values::default(),
            current: inputs,
        })?;
        let one = joins.before_entry(call, callee, set, states)?;
        Ok(pick_point(joins, vertex, one).map(|point| (set, point)))
    }

    /// The values to show. A slot is forced if no path edge has the other value.
    fn values<G: Supergraph>(
        &self,
        joins: &Joins<'_, G>,
        vertex: Vertex,
        unknown: &[Slot],
        implied: &mut FastMap<Bdd, Values>,
    ) -> Vec<Value> {
        let procedure = joins.graph.procedure_of(vertex);
        let scope = Frame::of(joins.graph, procedure).scope();
        // Loops and calls come by the same states again and again.
        let forced = implied.entry(self.after).or_insert_with(|| {
            let mut forced = Values::default();
            for (var, value) in joins.space.bdds.implied(self.after) {
                if let (slot, Copy::Current) = Space::slot(var) {
                    forced.set(slot, value);
                }
            }
            forced
        });
        let value = |slot: Slot| match forced.get(slot) {
            _ if unknown.contains(&slot) => Value::Unknown,
            Some(value) => Value::Forced(value),
            None => Value::Free(self.point.current.get(slot).unwrap_or(false)),
        };
        scope.map(|slot| value(Slot(slot))).collect()
    }
}

/// The edges that lead the same way: a trace is a sequence of vertices, so two branches of a
/// conditional that are both empty are the same to it. The given edge comes first.
fn parallel<G: Supergraph>(graph: &G, edge: Edge) -> impl Iterator<Item = Edge> + use<G> {
    let ends = graph.ends(edge);
    let others = graph.edges_from(ends.from).map(Edge);
    let same = |&other: &Edge| other != edge && graph.ends(other) == ends;
    // Most have none beside them, so this allocates nothing.
    let others: Vec<Edge> = others.filter(same).collect();
    std::iter::once(edge).chain(others)
}

/// What the caller needs of the callee's path edges to its exit.
fn callees_view<G: Supergraph>(
    joins: &mut Joins<'_, G>,
    call: Edge,
    callee: Proc,
    from: Bdd,
    returned: Bdd,
) -> Built {
    let arguments = joins.graph.arguments(call, from, joins.space)?;
    let ends = joins.graph.ends(call);
    let caller = joins.graph.procedure_of(ends.from);
    let globals = joins.graph.globals();
    let frame = Frame::of(joins.graph, callee);
    let inputs = joins.ranges.inputs(callee);
    let mut lists = PassLists::default();
    for slot in set::slots(joins.ranges.inputs(caller)) {
        lists.quantify(slot, Copy::Entry);
    }
    for slot in set::slots(joins.ranges.live(joins.graph, ends.from)) {
        if slot.0 < globals && set::has(inputs, slot) {
            lists.shift(slot, Copy::Current, Copy::Entry);
        } else {
            lists.quantify(slot, Copy::Current);
        }
    }
    for slot in frame.formals.map(Slot) {
        if set::has(inputs, slot) {
            lists.shift(slot, Copy::Next, Copy::Entry);
        } else {
            lists.quantify(slot, Copy::Next);
        }
    }
    for slot in set::slots(joins.ranges.modified(callee)).chain(frame.returns.map(Slot)) {
        lists.shift(slot, Copy::Next, Copy::Current);
    }
    let pass = lists.intern(joins.space);
    let before = joins.space.bdds.and(from, arguments)?;
    joins.space.bdds.image(before, returned, pass)
}

/// One path edge to a vertex, from a set of them.
fn pick_point<G: Supergraph>(joins: &Joins<'_, G>, vertex: Vertex, set: Bdd) -> Option<Point> {
    let picked = joins.pick(set)?;
    let procedure = joins.graph.procedure_of(vertex);
    let inputs = set::slots(joins.ranges.inputs(procedure));
    let live = set::slots(joins.ranges.live(joins.graph, vertex));
    Some(Point {
        entry: picked.values(inputs, Copy::Entry),
        current: picked.values(live, Copy::Current),
    })
}
