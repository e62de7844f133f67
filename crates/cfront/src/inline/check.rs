//! Inlining is a claim: this checks it, location by location.
//!
//! In come a program and an [`Derived`], whoever made it; out comes the first thing by which the
//! two differ, if there is one. There is no choice of calls here, no copying and no search: the
//! inlined program is walked once, and every location of it that is reached stands for one
//! location of the program in one *activation*, that is, in a function's own body or in a copy of
//! one that stands for one call. What leaves a location must be what leaves the location that it
//! stands for, with the variables of the activation; where the call itself is gone, there must be
//! the edges that pass its arguments, and at the end of the copy those that pass its result. So
//! every execution of the one is an execution of the other.
//!
//! What the walk does not reach, no execution reaches, and nothing is said of it, except that it
//! leads nowhere else.
//!
//! A call through a pointer that points to none of its targets has no execution in the logic, and
//! ends a run of the interpreter: the last `else` of the comparisons must be a
//! [`LocationKind::Halt`].

mod entry;
mod mismatch;
mod open;
mod renaming;
mod tables;

pub use mismatch::{Mismatch, Where};

use crate::derived::Derived;
use crate::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
use crate::program::*;
use crate::types::Type;
use entry::Entries;
use hardbop_budget::{Budget, Stopped, Ticks};
use renaming::{Activation, ActivationId, Renaming};

/// That the two agree, or how they differ.
pub type Checked<T = ()> = Result<T, Mismatch>;

/// Why a walk ended early.
enum Ended {
    Mismatch(Mismatch),
    Stopped(Stopped),
}

impl From<Mismatch> for Ended {
    fn from(mismatch: Mismatch) -> Ended {
        Ended::Mismatch(mismatch)
    }
}

impl From<Stopped> for Ended {
    fn from(stopped: Stopped) -> Ended {
        Ended::Stopped(stopped)
    }
}

/// Checks that an inlined program has the executions of the program, and no others, and that it
/// says rightly what its locations and edges stand for.
pub fn check(original: &Program, inlined: &Derived, budget: &Budget) -> Result<Checked, Stopped> {
    match walk(original, inlined, budget) {
        Ok(()) => Ok(Ok(())),
        Err(Ended::Mismatch(mismatch)) => Ok(Err(mismatch)),
        Err(Ended::Stopped(stopped)) => Err(stopped),
    }
}

fn walk(original: &Program, inlined: &Derived, budget: &Budget) -> Result<(), Ended> {
    budget.check()?;
    tables::shared(original, &inlined.program)?;
    tables::laid_out(inlined)?;
    tables::locals(original, &inlined.program)?;
    let int = Type::Int {
        width: 32,
        signed: true,
    };
    let mut types = inlined.program.types.all();
    let mut walk = Walk {
        original,
        inlined,
        int: types.find(|(_, ty)| **ty == int).map(|(id, _)| id),
        renaming: Renaming::new(original, &inlined.program),
        roles: vec![None; inlined.program.locations.len()],
        work: Vec::new(),
        called: vec![false; original.functions.len()],
        calls: Vec::new(),
        ticks: budget.ticks(),
    };
    walk.called(original.entry);
    while let Some(function) = walk.calls.pop() {
        walk.function(function)?;
    }
    // What no call reaches has lost its body, or still has the one that it had.
    for (index, called) in walk.called.clone().into_iter().enumerate() {
        let id = FuncId(index as u32);
        if !called && !walk.is_emptied(id) {
            walk.function(id)?;
        }
    }
    Ok(walk.lives()?)
}

/// What a location of the inlined program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It is a location of the program in an activation.
    Is(LocId, ActivationId),
    /// It stands between the edges that take the place of a call.
    Between,
}

/// An edge of the inlined program that takes the place of a call, or of a part of one.
struct Passing<'a> {
    id: EdgeId,
    op: &'a Op,
    to: LocId,
}

struct Walk<'a> {
    original: &'a Program,
    inlined: &'a Derived,
    /// The type of comparisons.
    int: Option<TypeId>,
    renaming: Renaming<'a>,
    roles: Vec<Option<Role>>,
    /// Locations with a role of which the edges are to be looked at.
    work: Vec<LocId>,
    /// The functions that are called, and those of them that are to be walked.
    called: Vec<bool>,
    calls: Vec<FuncId>,
    ticks: Ticks<'a>,
}

impl<'a> Walk<'a> {
    fn called(&mut self, function: FuncId) {
        if !std::mem::replace(&mut self.called[function.index()], true) {
            self.calls.push(function);
        }
    }

    /// Whether nothing is left of a function but a way from its entry to its exit.
    fn is_emptied(&self, id: FuncId) -> bool {
        let program = &self.inlined.program;
        let (new, old) = (program.function(id), self.original.function(id));
        let origin = |at: LocId| self.inlined.locations[at.index()];
        let plain = |at: LocId, kind| {
            let location = &program.locations[at.index()];
            location.kind == kind && location.labels.is_empty()
        };
        let mut edges = program.edges_from(new.entry);
        let leads = edges.next().is_some_and(|(id, edge)| {
            edge.to == new.exit
                && edge.op == Op::Skip
                && edge.source == old.source
                && self.inlined.edges[id.index()].is_none()
        });
        leads
            && edges.next().is_none()
            && new.locations.len() == 2
            && new.locals == old.locals
            && plain(new.entry, LocationKind::Plain)
            && plain(new.exit, LocationKind::Exit)
            && program.locations[new.exit.index()].edges.is_empty()
            && (origin(new.entry), origin(new.exit)) == (old.entry, old.exit)
    }

    /// Walks through a function of the inlined program.
    fn function(&mut self, id: FuncId) -> Result<(), Ended> {
        let (new, old) = (
            self.inlined.program.function(id),
            self.original.function(id),
        );
        let exit = &self.inlined.program.locations[new.exit.index()];
        if exit.kind != LocationKind::Exit || !exit.edges.is_empty() {
            let at = Where::Location(new.exit);
            return Err(Mismatch::new(at, "is not an exit").into());
        }
        let own = self.renaming.add(Activation {
            callee: id,
            holder: id,
            call: None,
            returns: false,
        });
        self.arrive(new.entry, old.entry, own)?;
        while let Some(at) = self.work.pop() {
            self.ticks.tick()?;
            if let Some(Role::Is(old, activation)) = self.roles[at.index()] {
                self.location(at, old, activation)?;
            }
        }
        Ok(())
    }

    /// A location is reached where the program reaches another one.
    fn arrive(&mut self, new: LocId, old: LocId, activation: ActivationId) -> Checked {
        let role = Role::Is(old, activation);
        match self.roles[new.index()].replace(role) {
            None => self.work.push(new),
            Some(known) if known == role => {}
            Some(_) => {
                let at = Where::Location(new);
                return Err(Mismatch::new(at, "is reached as two things"));
            }
        }
        Ok(())
    }

    /// A location stands between the edges that take the place of a call.
    fn between(&mut self, new: LocId, old: LocId, kind: LocationKind) -> Checked {
        let location = &self.inlined.program.locations[new.index()];
        let fits = self.roles[new.index()].replace(Role::Between).is_none()
            && location.kind == kind
            && location.labels.is_empty()
            && self.inlined.locations[new.index()] == old;
        must(fits, Where::Location(new), "passes nothing on")
    }

    /// Looks at a location and what leaves it.
    fn location(&mut self, new: LocId, old: LocId, activation: ActivationId) -> Checked {
        let (inlined, original) = (self.inlined, self.original);
        let found = &inlined.program.locations[new.index()];
        let known = &original.locations[old.index()];
        let here = Where::Location(new);
        let stands = inlined.locations[new.index()] == old;
        must(stands, here, "is said to be another one")?;
        must(found.labels == known.labels, here, "has other labels")?;
        let Activation { callee, call, .. } = *self.renaming.activation(activation);
        let leaves = call.filter(|_| old == original.function(callee).exit);
        if let Some((caller, call)) = leaves {
            must(found.kind == LocationKind::Plain, here, "ends a copy")?;
            return self.leave(new, activation, caller, call);
        }
        let kept = found.kind == known.kind
            && (found.kind == LocationKind::Exit) == (new == inlined.program.function(callee).exit)
            && (found.kind != LocationKind::Exit || call.is_none());
        must(kept, here, "is of another kind")?;
        let mut edges = inlined.program.edges_from(new);
        for (id, edge) in original.edges_from(old) {
            let Some((new_id, new_edge)) = edges.next() else {
                return Err(Mismatch::new(here, format!("lost edge {}", id.0)));
            };
            let at = Where::Edge(new_id);
            must(new_edge.source == edge.source, at, "has another source")?;
            match (inlined.edges[new_id.index()], &edge.op) {
                (Some(origin), _) => {
                    must(origin == id, at, "stands for another edge")?;
                    self.kept(activation, at, new_edge, edge)?;
                }
                (None, Op::Call { callee, .. }) => {
                    let first = Passing {
                        id: new_id,
                        op: &new_edge.op,
                        to: new_edge.to,
                    };
                    match callee {
                        Callee::Direct(target) => {
                            must(*first.op == Op::Skip, at, "begins no copy")?;
                            self.enter(first.to, activation, id, *target)?;
                        }
                        Callee::Indirect { pointer, targets } => {
                            let second = edges
                                .next()
                                .ok_or_else(|| Mismatch::new(here, "chooses no target"))?;
                            let sides = (first, self.passing(second, id)?);
                            self.choose(activation, id, *pointer, targets, sides)?;
                        }
                    }
                }
                (None, _) => return Err(Mismatch::new(at, "stands for no edge")),
            }
        }
        must(edges.next().is_none(), here, "has a further edge")
    }

    /// An edge that was kept does the same with the variables of its activation, and leads to the
    /// same location.
    fn kept(&mut self, activation: ActivationId, at: Where, new: &Edge, old: &Edge) -> Checked {
        let framed = matches!(
            old.op,
            Op::Allocate {
                lifetime: Lifetime::Frame,
                ..
            }
        );
        let copy = self.renaming.activation(activation).call.is_some();
        must(!(framed && copy), at, "needs a frame of its own")?;
        let same = self.renaming.op(activation, &new.op, &old.op);
        same.map_err(|what| Mismatch::new(at, what))?;
        if let Op::Call { callee, .. } = &old.op {
            for &target in callee.targets() {
                self.called(target);
            }
        }
        self.arrive(new.to, old.to, activation)
    }

    /// An edge that takes the place of a call: it stands for nothing else, and is told as the call.
    fn passing(&self, (id, edge): (EdgeId, &'a Edge), call: EdgeId) -> Checked<Passing<'a>> {
        let fits = self.inlined.edges[id.index()].is_none()
            && edge.source == self.original.edges[call.index()].source;
        must(fits, Where::Edge(id), "passes nothing on")?;
        Ok(Passing {
            id,
            op: &edge.op,
            to: edge.to,
        })
    }

    /// The one edge that leaves a location, which takes the place of a call.
    fn only(&self, at: LocId, call: EdgeId) -> Checked<Passing<'a>> {
        let mut edges = self.inlined.program.edges_from(at);
        match (edges.next(), edges.next()) {
            (Some(edge), None) => self.passing(edge, call),
            _ => Err(Mismatch::new(Where::Location(at), "does not lead on")),
        }
    }

    /// The pointer is compared with each target, one after the other.
    fn choose(
        &mut self,
        caller: ActivationId,
        call: EdgeId,
        pointer: ExprId,
        targets: &[FuncId],
        mut sides: (Passing<'a>, Passing<'a>),
    ) -> Checked {
        let from = self.original.edges[call.index()].from;
        for (index, &target) in targets.iter().enumerate() {
            let (yes, no) = &sides;
            let at = Where::Edge(yes.id);
            let condition = match (yes.op, no.op) {
                (
                    Op::Assume {
                        condition,
                        holds: true,
                    },
                    Op::Assume {
                        condition: same,
                        holds: false,
                    },
                ) if condition == same => *condition,
                _ => return Err(Mismatch::new(at, "does not choose by a comparison")),
            };
            self.compares(caller, condition, pointer, target)
                .map_err(|what| Mismatch::new(at, what))?;
            let (copy, other) = (yes.to, no.to);
            self.enter(copy, caller, call, target)?;
            let last = index + 1 == targets.len();
            let kind = match last {
                true => LocationKind::Halt,
                false => LocationKind::Plain,
            };
            self.between(other, from, kind)?;
            let mut edges = self.inlined.program.edges_from(other);
            match (last, edges.next(), edges.next(), edges.next()) {
                (true, None, ..) => {}
                (false, Some(yes), Some(no), None) => {
                    sides = (self.passing(yes, call)?, self.passing(no, call)?);
                }
                _ => {
                    let at = Where::Location(other);
                    return Err(Mismatch::new(at, "does not choose between all targets"));
                }
            }
        }
        let at = Where::Edge(sides.0.id);
        must(!targets.is_empty(), at, "calls nothing")
    }

    /// `pointer == target`.
    fn compares(
        &mut self,
        caller: ActivationId,
        condition: ExprId,
        pointer: ExprId,
        target: FuncId,
    ) -> Result<(), String> {
        let program = &self.inlined.program;
        let expr = |id: ExprId| program.exprs.get(id.index()).ok_or("no such expression");
        let compared = expr(condition)?;
        let ExprKind::Binary(BinaryOp::Eq, left, right) = compared.kind else {
            return Err("does not compare".to_owned());
        };
        let right = expr(right)?;
        let fits = right.kind == ExprKind::Function(target)
            && right.ty == self.original.expr(pointer).ty
            && Some(compared.ty) == self.int;
        if !fits {
            return Err("compares with something else".to_owned());
        }
        self.renaming.expr(caller, left, pointer)
    }

    /// A copy begins: lives of its variables, then the arguments, then its entry.
    fn enter(
        &mut self,
        first: LocId,
        caller: ActivationId,
        call: EdgeId,
        callee: FuncId,
    ) -> Checked {
        let original = self.original;
        let function = original.function(callee);
        let Op::Call { arguments, .. } = &original.edges[call.index()].op else {
            return Err(Mismatch::new(Where::Location(first), "begins no copy"));
        };
        let enough = arguments.len() >= function.formals.len();
        must(enough, Where::Location(first), "lacks arguments")?;
        let holder = self.renaming.activation(caller).holder;
        let activation = self.renaming.add(Activation {
            callee,
            holder,
            call: Some((caller, call)),
            returns: false,
        });
        let mut at = first;
        while let Some((id, edge)) = self.inlined.program.edges_from(at).next()
            && let Op::Declare { variable } = edge.op
            && self.inlined.edges[id.index()].is_none()
        {
            self.between(at, function.entry, LocationKind::Plain)?;
            let step = self.only(at, call)?;
            let copy = self.renaming.claim(activation, variable);
            let copy = copy.map_err(|what| Mismatch::new(Where::Edge(step.id), what))?;
            copy.declared = true;
            at = step.to;
        }
        // Arguments speak of the caller's variables, which are not those of the copy: so it does
        // not matter that they are written one after the other. Nobody looks at further ones.
        for (&argument, &formal) in arguments.iter().zip(&function.formals) {
            self.between(at, function.entry, LocationKind::Plain)?;
            let step = self.only(at, call)?;
            let here = Where::Edge(step.id);
            let Op::Assign { place, value } = *step.op else {
                return Err(Mismatch::new(here, "passes no argument"));
            };
            let ty = original.variable(formal).ty;
            let fits = original.expr(argument).ty == ty;
            must(fits, here, "passes an argument of another type")?;
            let passed = self.renaming.whole(activation, place, formal);
            passed.map_err(|what| Mismatch::new(here, what))?;
            let passed = self.renaming.expr(caller, value, argument);
            passed.map_err(|what| Mismatch::new(here, what))?;
            at = step.to;
        }
        self.arrive(at, function.entry, activation)
    }

    /// A copy ends: its result, then the lives of what pointers may point to, then on behind the
    /// call.
    fn leave(
        &mut self,
        exit: LocId,
        activation: ActivationId,
        caller: ActivationId,
        call: EdgeId,
    ) -> Checked {
        let original = self.original;
        let callee = self.renaming.activation(activation).callee;
        let function = original.function(callee);
        let edge = &original.edges[call.index()];
        let Op::Call { result, .. } = edge.op else {
            return Err(Mismatch::new(Where::Location(exit), "ends no copy"));
        };
        self.renaming.activations[activation.0 as usize].returns = true;
        let mut step = self.only(exit, call)?;
        let mut passed = false;
        if let Some(place) = result {
            let here = Where::Edge(step.id);
            let held = function.result;
            let held = held.ok_or_else(|| Mismatch::new(here, "has no result"))?;
            self.gives(activation, step.op, held, caller, place)
                .map_err(|what| Mismatch::new(here, what))?;
            passed = true;
        }
        let variables = function
            .locals
            .iter()
            .chain(&function.formals)
            .chain(&function.result);
        let taken = variables.filter(|&&variable| original.variable(variable).address_taken);
        let lives = taken.count();
        if lives > 0 {
            if passed {
                let at = step.to;
                self.between(at, function.exit, LocationKind::Plain)?;
                step = self.only(at, call)?;
            }
            let here = Where::Edge(step.id);
            let Op::EndScope { variables } = step.op else {
                return Err(Mismatch::new(here, "does not end the lives of a copy"));
            };
            must(variables.len() == lives, here, "ends other lives")?;
            for &variable in variables {
                let taken = self.inlined.program.variables.get(variable.index());
                let taken = taken.is_some_and(|variable| variable.address_taken);
                let copy = self.renaming.claim(activation, variable);
                let copy = copy.map_err(|what| Mismatch::new(here, what))?;
                let first = !std::mem::replace(&mut copy.ended, true);
                must(taken && first, here, "ends other lives")?;
            }
            passed = true;
        }
        if !passed {
            let here = Where::Edge(step.id);
            must(*step.op == Op::Skip, here, "does not just return")?;
        }
        self.arrive(step.to, edge.to, caller)
    }

    /// The result of a copy goes where the call wants it.
    fn gives(
        &mut self,
        activation: ActivationId,
        op: &Op,
        held: VarId,
        caller: ActivationId,
        wanted: PlaceId,
    ) -> Result<(), String> {
        let Op::Assign { place, value } = *op else {
            return Err("gives no result".to_owned());
        };
        let ty = self.original.variable(held).ty;
        let value = self.inlined.program.exprs.get(value.index());
        match value.map(|value| (value.ty, value.kind)) {
            Some((given, ExprKind::Load(from)))
                if given == ty && self.original.place(wanted).ty == ty =>
            {
                self.renaming.whole(activation, from, held)?;
            }
            _ => return Err("gives another result".to_owned()),
        }
        self.renaming.place(caller, place, wanted)
    }

    /// Every copy of a variable that could show what an activation before it left there begins a
    /// life with its activation; and what pointers may point to ends it there.
    fn lives(&self) -> Checked {
        let mut entries = Entries::new(self.original);
        let first = self.original.variables.len();
        for (index, copy) in self.renaming.copies.iter().enumerate() {
            let (Some(user), Some(of)) = (copy.user, copy.of) else {
                continue;
            };
            let here = Where::Variable(VarId((first + index) as u32));
            let activation = self.renaming.activation(user);
            let variable = self.original.variable(of);
            let callee = self.original.function(activation.callee);
            let taken = variable.address_taken;
            let passed = callee.formals.contains(&of);
            let needed = taken || (!passed && entries.is_open(activation.callee, of));
            must(
                copy.declared || !needed,
                here,
                "keeps what it held before its function was called",
            )?;
            let ended = copy.ended || !taken || !activation.returns;
            must(ended, here, "outlives its function")?;
        }
        Ok(())
    }
}

fn must(holds: bool, at: Where, what: &str) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(Mismatch::new(at, what)),
    }
}

#[cfg(test)]
mod tests;
