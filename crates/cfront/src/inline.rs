//! Inlining: calls of functions that do not call themselves, replaced by copies of their bodies.
//!
//! In comes a program, out comes one that does the same, in which engines find long stretches of
//! code without calls. Every edge of the result knows the edge that it is a copy of, so that what
//! is found out about the result can be told, and replayed, on the program itself.
//!
//! A copy has its own locals, formals and result, which are locals of the caller. A call through a
//! pointer becomes a chain of comparisons with the functions that it may call. Functions that
//! nothing calls any more lose their bodies, so that analyses of the result do not see them.

pub mod check;
mod choice;
mod copies;

use crate::derived::Derived;
use crate::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, VarId};
use crate::program::*;
use choice::inlined_calls;
use copies::Copies;
use hardbop_budget::{Budget, Stopped, Ticks};
use std::collections::BTreeSet;

/// What is inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most edges of a function that is called from several places.
    pub shared: usize,
    /// The most edges that a function may grow to.
    pub function: usize,
    /// The most functions that a call through a pointer may call.
    pub targets: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            shared: 600,
            function: 20_000,
            targets: 6,
        }
    }
}

/// Inlines what the limits allow. What comes out is checked; should it not do what the program
/// does, nothing is inlined.
pub fn inline(program: &Program, limits: &Limits, budget: &Budget) -> Result<Derived, Stopped> {
    inline_but(program, limits, &BTreeSet::new(), budget)
}

/// The same, but calls that can only enter some functions stay calls.
pub fn inline_but(
    program: &Program,
    limits: &Limits,
    apart: &BTreeSet<FuncId>,
    budget: &Budget,
) -> Result<Derived, Stopped> {
    let inlined = made(program, limits, apart, budget)?;
    Ok(match check::check(program, &inlined, budget)? {
        Ok(()) => inlined,
        Err(_) => Derived::unchanged(program.clone()),
    })
}

/// What inlining gives, as it is: for the tests, which want to know that it stands the check.
pub fn inline_unchecked(
    program: &Program,
    limits: &Limits,
    budget: &Budget,
) -> Result<Derived, Stopped> {
    made(program, limits, &BTreeSet::new(), budget)
}

fn made(
    program: &Program,
    limits: &Limits,
    apart: &BTreeSet<FuncId>,
    budget: &Budget,
) -> Result<Derived, Stopped> {
    let inlined = inlined_calls(program, limits, apart);
    let mut inliner = Inliner {
        inlined: &inlined,
        program: program.clone(),
        bodies: vec![None; program.functions.len()],
        ticks: budget.ticks(),
    };
    // Only what is still called is expanded, so the work is as large as the result.
    let mut work = vec![program.entry];
    while let Some(function) = work.pop() {
        if inliner.bodies[function.index()].is_none() {
            let body = inliner.body(function)?;
            work.extend(body.called());
            inliner.bodies[function.index()] = Some(body);
        }
    }
    Ok(inliner.finish())
}

/// A function's body with calls inlined: locations and edges are counted from 0. These are not
/// [`edit::Graphs`](crate::edit::Graphs), which know one of everything: a body is copied as often
/// as it is called, and each location and edge of a copy says what it is a copy of.
#[derive(Clone, Debug)]
struct Body {
    locals: Vec<VarId>,
    locations: Vec<Point>,
    entry: usize,
    exit: usize,
}

impl Body {
    /// The functions that are called from it.
    fn called(&self) -> Vec<FuncId> {
        let steps = self.locations.iter().flat_map(|location| &location.edges);
        let mut called = Vec::new();
        for step in steps {
            if let Op::Call { callee, .. } = &step.op {
                called.extend(callee.targets());
            }
        }
        called
    }
}

/// A location of a body.
#[derive(Clone, Debug)]
struct Point {
    origin: LocId,
    kind: LocationKind,
    labels: Vec<String>,
    edges: Vec<Step>,
}

/// An edge of a body.
#[derive(Clone, Debug)]
struct Step {
    origin: Option<EdgeId>,
    to: usize,
    op: Op,
    source: Source,
}

struct Inliner<'a> {
    /// The calls that are replaced.
    inlined: &'a BTreeSet<EdgeId>,
    /// The program, to which variables, places and expressions are added.
    program: Program,
    bodies: Vec<Option<Body>>,
    ticks: Ticks<'a>,
}

impl Inliner<'_> {
    /// A function's body with what is inlined into it.
    fn body(&mut self, id: FuncId) -> Result<Body, Stopped> {
        let mut body = self.plain_body(id);
        // Copies are added at the end, so that calls in them have their turn, too.
        let mut at = 0;
        while at < body.locations.len() {
            self.ticks.tick()?;
            let steps = std::mem::take(&mut body.locations[at].edges);
            let mut kept = Vec::with_capacity(steps.len());
            for step in steps {
                match step.origin.is_some_and(|edge| self.inlined.contains(&edge)) {
                    true => self.inline_call(id, &mut body, &step, &mut kept),
                    false => kept.push(step),
                }
            }
            body.locations[at].edges = kept;
            at += 1;
        }
        Ok(body)
    }

    /// A function's body as it is.
    fn plain_body(&self, id: FuncId) -> Body {
        let function = self.program.function(id);
        let first = function.locations.start;
        let locations = function
            .locations
            .clone()
            .map(|index| {
                let location = &self.program.locations[index as usize];
                let steps: Vec<Step> = self
                    .program
                    .edges_from(LocId(index))
                    .map(|(id, edge)| Step {
                        origin: Some(id),
                        to: (edge.to.0 - first) as usize,
                        op: edge.op.clone(),
                        source: edge.source,
                    })
                    .collect();
                Point {
                    origin: LocId(index),
                    kind: location.kind,
                    labels: location.labels.clone(),
                    edges: steps,
                }
            })
            .collect();
        Body {
            locals: function.locals.clone(),
            locations,
            entry: (function.entry.0 - first) as usize,
            exit: (function.exit.0 - first) as usize,
        }
    }

    /// Replaces a call; the edges that begin it go to `kept`.
    fn inline_call(&mut self, caller: FuncId, body: &mut Body, call: &Step, kept: &mut Vec<Step>) {
        let Op::Call {
            callee,
            arguments,
            result,
        } = &call.op
        else {
            return;
        };
        let step = |to: usize, op: Op| Step {
            origin: None,
            to,
            op,
            source: call.source,
        };
        let origin = call
            .origin
            .map_or(LocId(0), |edge| self.program.edges[edge.index()].from);
        match callee {
            Callee::Direct(target) => {
                let first = self.copy(caller, body, *target, arguments, *result, call);
                kept.push(step(first, Op::Skip));
            }
            Callee::Indirect { pointer, targets } => {
                let mut at = None;
                for target in targets {
                    let condition = self.is_function(*pointer, *target);
                    let first = self.copy(caller, body, *target, arguments, *result, call);
                    let other = body.locations.len();
                    body.locations.push(plain(origin));
                    let sides = [
                        step(
                            first,
                            Op::Assume {
                                condition,
                                holds: true,
                            },
                        ),
                        step(
                            other,
                            Op::Assume {
                                condition,
                                holds: false,
                            },
                        ),
                    ];
                    match at {
                        None => kept.extend(sides),
                        Some(at) => {
                            let at: &mut Point = &mut body.locations[at];
                            at.edges.extend(sides);
                        }
                    }
                    at = Some(other);
                }
                // A pointer to nothing that can be called ends the run.
                if let Some(at) = at {
                    body.locations[at].kind = LocationKind::Halt;
                }
            }
        }
    }

    /// `pointer == function` as an expression.
    fn is_function(&mut self, pointer: ExprId, function: FuncId) -> ExprId {
        let ty = self.program.expr(pointer).ty;
        let int = self.program.types.int(32, true);
        let function = self.program.add_expr(ExprKind::Function(function), ty);
        let same = ExprKind::Binary(BinaryOp::Eq, pointer, function);
        self.program.add_expr(same, int)
    }

    /// Adds a copy of a function to a body, with its arguments and its result passed. Gives the
    /// location where it starts.
    fn copy(
        &mut self,
        caller: FuncId,
        body: &mut Body,
        target: FuncId,
        arguments: &[ExprId],
        result: Option<PlaceId>,
        call: &Step,
    ) -> usize {
        let callee = self.plain_body(target);
        let function = self.program.function(target).clone();
        let declared: BTreeSet<VarId> = callee
            .locations
            .iter()
            .flat_map(|location| &location.edges)
            .filter_map(|step| match step.op {
                Op::Declare { variable } => Some(variable),
                _ => None,
            })
            .collect();
        let mut copies = Copies::default();
        let mut unset = Vec::new();
        let all = callee
            .locals
            .iter()
            .chain(&function.formals)
            .chain(&function.result);
        for &variable in all {
            let copy = self.copy_variable(caller, variable);
            body.locals.push(copy);
            copies.variables.insert(variable, copy);
            let temporary = matches!(self.program.variable(copy).kind, VarKind::Temporary(_));
            let set = function.formals.contains(&variable)
                || declared.contains(&variable)
                || (temporary && Some(variable) != function.result);
            if !set || self.program.variable(copy).address_taken {
                unset.push(copy);
            }
        }
        // First life and arguments, ...
        let mut ops: Vec<Op> = unset
            .iter()
            .map(|&variable| Op::Declare { variable })
            .collect();
        for (&argument, formal) in arguments.iter().zip(&function.formals) {
            let ty = self.program.variable(*formal).ty;
            let place = self
                .program
                .add_place(PlaceKind::Var(copies.variables[formal]), ty);
            ops.push(Op::Assign {
                place,
                value: argument,
            });
        }
        let base = body.locations.len() + ops.len();
        let start = body.locations.len();
        let before = self.program.function(target).entry;
        for op in ops {
            let next = body.locations.len() + 1;
            let to = if next == base {
                base + callee.entry
            } else {
                next
            };
            self.push_step(body, before, op, to, call.source);
        }
        let start = if start == base {
            base + callee.entry
        } else {
            start
        };
        // ... then the body, ...
        for location in &callee.locations {
            let edges = location
                .edges
                .iter()
                .map(|step| Step {
                    origin: step.origin,
                    to: base + step.to,
                    op: self.copy_op(&mut copies, &step.op),
                    source: step.source,
                })
                .collect();
            body.locations.push(Point {
                origin: location.origin,
                kind: match location.kind {
                    LocationKind::Exit => LocationKind::Plain,
                    kind => kind,
                },
                labels: location.labels.clone(),
                edges,
            });
        }
        // ... then the result and the end of all lives.
        let mut ops = Vec::new();
        if let (Some(place), Some(held)) = (result, function.result) {
            let ty = self.program.variable(held).ty;
            let held = self
                .program
                .add_place(PlaceKind::Var(copies.variables[&held]), ty);
            let value = self.program.add_expr(ExprKind::Load(held), ty);
            ops.push(Op::Assign { place, value });
        }
        let mut ended: Vec<VarId> = copies
            .variables
            .values()
            .copied()
            .filter(|&copy| self.program.variable(copy).address_taken)
            .collect();
        if !ended.is_empty() {
            ended.sort_unstable();
            ops.push(Op::EndScope { variables: ended });
        }
        if ops.is_empty() {
            ops.push(Op::Skip);
        }
        let after = self.program.function(target).exit;
        let mut at = base + callee.exit;
        let count = ops.len();
        for (index, op) in ops.into_iter().enumerate() {
            let to = match index + 1 == count {
                true => call.to,
                false => {
                    body.locations.push(plain(after));
                    body.locations.len() - 1
                }
            };
            body.locations[at].edges.push(Step {
                origin: None,
                to,
                op,
                source: call.source,
            });
            at = to;
        }
        start
    }

    /// Adds a location with one edge.
    fn push_step(&self, body: &mut Body, origin: LocId, op: Op, to: usize, source: Source) {
        let mut location = plain(origin);
        location.edges.push(Step {
            origin: None,
            to,
            op,
            source,
        });
        body.locations.push(location);
    }

    /// Puts the bodies together.
    fn finish(mut self) -> Derived {
        let mut locations = Vec::new();
        let mut edges = Vec::new();
        let mut edge_origins = Vec::new();
        let mut location_origins = Vec::new();
        for index in 0..self.program.functions.len() {
            let id = FuncId(index as u32);
            let body = match self.bodies[index].take() {
                Some(body) => body,
                None => self.empty_body(id),
            };
            let first = locations.len();
            for (number, place) in body.locations.into_iter().enumerate() {
                let from = LocId((first + number) as u32);
                let start = edges.len() as u32;
                for step in place.edges {
                    edges.push(Edge {
                        from,
                        to: LocId((first + step.to) as u32),
                        op: step.op,
                        source: step.source,
                    });
                    edge_origins.push(step.origin);
                }
                locations.push(Location {
                    function: id,
                    kind: place.kind,
                    edges: start..edges.len() as u32,
                    labels: place.labels,
                });
                location_origins.push(place.origin);
            }
            let function = &mut self.program.functions[index];
            function.locals = body.locals;
            function.locations = first as u32..locations.len() as u32;
            function.entry = LocId((first + body.entry) as u32);
            function.exit = LocId((first + body.exit) as u32);
        }
        self.program.locations = locations;
        self.program.edges = edges;
        Derived {
            program: self.program,
            edges: edge_origins,
            locations: location_origins,
        }
    }

    /// What is left of a function that nothing calls.
    fn empty_body(&self, id: FuncId) -> Body {
        let function = self.program.function(id);
        let mut entry = plain(function.entry);
        entry.edges.push(Step {
            origin: None,
            to: 1,
            op: Op::Skip,
            source: function.source,
        });
        let mut exit = plain(function.exit);
        exit.kind = LocationKind::Exit;
        Body {
            locals: function.locals.clone(),
            locations: vec![entry, exit],
            entry: 0,
            exit: 1,
        }
    }
}

fn plain(origin: LocId) -> Point {
    Point {
        origin,
        kind: LocationKind::Plain,
        labels: Vec::new(),
        edges: Vec::new(),
    }
}
