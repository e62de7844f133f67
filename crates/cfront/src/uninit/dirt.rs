//! What may hold bits without a value: variables and classes of memory, whatever the order of
//! events. Everything else needs no watching.

use crate::call_graph::callable;
use crate::ids::{EdgeId, ExprId, FuncId, PlaceId, VarId};
use crate::operands::{Operand, each_below, each_load, each_operand};
use crate::points_to::PointsTo;
use crate::program::*;
use std::collections::BTreeSet;

/// Where bits without a value may be.
#[derive(Debug)]
pub(super) struct Dirt {
    /// By variable. Of one whose address is taken, its class says it.
    variables: Vec<bool>,
    /// By class of memory.
    classes: Vec<bool>,
}

/// What holds a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// A variable that is reached by its name only.
    Variable(VarId),
    /// Memory of a class.
    Memory(usize),
}

/// What a place is a part of; `None` where no pointer can lead.
pub(super) fn home(program: &Program, points_to: &PointsTo, place: PlaceId) -> Option<Home> {
    match program.root(place) {
        Root::Variable(id) if !program.variable(id).address_taken => Some(Home::Variable(id)),
        _ => {
            let spot = points_to.place(place)?;
            Some(Home::Memory(spot.class.0 as usize))
        }
    }
}

impl Dirt {
    /// Finds it.
    pub(super) fn find(program: &Program, points_to: &PointsTo) -> Dirt {
        let mut dirt = Dirt {
            variables: vec![false; program.variables.len()],
            classes: vec![false; points_to.classes().len()],
        };
        for function in callable(program) {
            for id in read_before_written(program, function) {
                dirt.add(program, points_to, id);
            }
        }
        for (class, of) in dirt.classes.iter_mut().zip(points_to.classes()) {
            *class |= of
                .allocations
                .iter()
                .any(|&edge| !is_cleared(program, edge));
        }
        while dirt.spread(program, points_to) {}
        dirt
    }

    /// Whether there is any.
    pub(super) fn is_empty(&self) -> bool {
        !self.variables.contains(&true) && !self.classes.contains(&true)
    }

    /// Whether a variable may hold some.
    pub(super) fn of_variable(&self, id: VarId) -> bool {
        self.variables[id.index()]
    }

    /// Whether what holds a value may hold some.
    pub(super) fn of(&self, home: Option<Home>) -> bool {
        match home {
            Some(Home::Variable(id)) => self.variables[id.index()],
            Some(Home::Memory(class)) => self.classes[class],
            None => false,
        }
    }

    fn add(&mut self, program: &Program, points_to: &PointsTo, id: VarId) {
        if !program.variable(id).address_taken {
            self.variables[id.index()] = true;
        } else if let Some(spot) = points_to.variable(id) {
            self.classes[spot.class.0 as usize] = true;
        }
    }

    fn mark(&mut self, home: Option<Home>) -> bool {
        let known = match home {
            Some(Home::Variable(id)) => &mut self.variables[id.index()],
            Some(Home::Memory(class)) => &mut self.classes[class],
            None => return false,
        };
        !std::mem::replace(known, true)
    }

    fn variable_home(program: &Program, points_to: &PointsTo, id: VarId) -> Option<Home> {
        match program.variable(id).address_taken {
            false => Some(Home::Variable(id)),
            true => points_to
                .variable(id)
                .map(|spot| Home::Memory(spot.class.0 as usize)),
        }
    }

    /// Whether a value may have bits without one.
    fn of_value(&self, program: &Program, points_to: &PointsTo, value: ExprId) -> bool {
        let mut found = false;
        each_below(program, [Operand::Expr(value)], &mut |operand| {
            if let Operand::Expr(id) = operand
                && let ExprKind::Load(place) = program.expr(id).kind
            {
                found |= self.of(home(program, points_to, place));
            }
        });
        found
    }

    /// Follows values from where they are to where they go; whether that was anywhere new.
    fn spread(&mut self, program: &Program, points_to: &PointsTo) -> bool {
        let mut changed = false;
        for edge in &program.edges {
            match &edge.op {
                Op::Assign { place, value } if self.of_value(program, points_to, *value) => {
                    changed |= self.mark(home(program, points_to, *place));
                }
                Op::CopyMemory { to, from, .. } => {
                    let class = |pointer: &ExprId| {
                        let spot = points_to.pointer(*pointer);
                        spot.map(|spot| Home::Memory(spot.class.0 as usize))
                    };
                    if self.of(class(from)) {
                        changed |= self.mark(class(to));
                    }
                }
                Op::Call {
                    callee,
                    arguments,
                    result,
                } => {
                    for target in callee.targets() {
                        let function = program.function(*target);
                        for (&formal, &argument) in function.formals.iter().zip(arguments) {
                            if self.of_value(program, points_to, argument) {
                                let home = Dirt::variable_home(program, points_to, formal);
                                changed |= self.mark(home);
                            }
                        }
                        if let (Some(place), Some(returned)) = (result, function.result)
                            && self.of(Dirt::variable_home(program, points_to, returned))
                        {
                            changed |= self.mark(home(program, points_to, *place));
                        }
                    }
                }
                _ => {}
            }
        }
        changed
    }
}

/// Whether memory is filled with zeros as soon as it is allocated.
fn is_cleared(program: &Program, edge: EdgeId) -> bool {
    let edge = &program.edges[edge.index()];
    let Op::Allocate { place, size, .. } = edge.op else {
        return false;
    };
    let next: Vec<&Op> = program.edges_from(edge.to).map(|(_, e)| &e.op).collect();
    match next[..] {
        [Op::FillMemory { to, size: all, .. }] => {
            *all == size && program.expr(*to).kind == ExprKind::Load(place)
        }
        _ => false,
    }
}

/// The locals of a function, and its result, that may be read, or be given away, before all of
/// them was written.
fn read_before_written(program: &Program, id: FuncId) -> BTreeSet<VarId> {
    let function = program.function(id);
    let own = function.locals.iter().chain(&function.result);
    let own: BTreeSet<VarId> = own.copied().collect();
    let mut found = BTreeSet::new();
    // What is written on all ways to a location; nothing yet for one that was not met.
    let first = function.locations.start;
    let mut written: Vec<Option<BTreeSet<VarId>>> = vec![None; function.locations.len()];
    written[(function.entry.0 - first) as usize] = Some(BTreeSet::new());
    let mut work = vec![function.entry];
    while let Some(at) = work.pop() {
        let Some(before) = written[(at.0 - first) as usize].clone() else {
            continue;
        };
        for (_, edge) in program.edges_from(at) {
            let whole = written_whole(program, &edge.op);
            let open = |id: &VarId| own.contains(id) && !before.contains(id);
            found.extend(
                mentioned(program, &edge.op, whole)
                    .into_iter()
                    .filter(|id| open(id)),
            );
            let mut after = before.clone();
            if let Op::Declare { variable } = edge.op {
                after.remove(&variable);
            }
            after.extend(whole);
            let there = &mut written[(edge.to.0 - first) as usize];
            let joined = match there {
                None => after,
                Some(known) => known.intersection(&after).copied().collect(),
            };
            if there.as_ref() != Some(&joined) {
                *there = Some(joined);
                work.push(edge.to);
            }
        }
    }
    let end = &written[(function.exit.0 - first) as usize];
    if let (Some(result), Some(written)) = (function.result, end)
        && !written.contains(&result)
    {
        found.insert(result);
    }
    found
}

/// The variable all of which an operation writes.
fn written_whole(program: &Program, op: &Op) -> Option<VarId> {
    let variable = |place: PlaceId| match program.place(place).kind {
        PlaceKind::Var(id) => Some(id),
        _ => None,
    };
    match op {
        Op::Assign { place, .. }
        | Op::Input { place, .. }
        | Op::Havoc { place }
        | Op::Allocate { place, .. } => variable(*place),
        Op::Call { result, .. } => result.and_then(variable),
        Op::FillMemory { to, size, .. } => {
            let mut to = *to;
            while let ExprKind::Convert(inside) = program.expr(to).kind {
                to = inside;
            }
            let ExprKind::AddressOf(place) = program.expr(to).kind else {
                return None;
            };
            let id = variable(place)?;
            let all = u128::from(program.types.size_of(program.variable(id).ty));
            (program.expr(*size).kind == ExprKind::Int(all)).then_some(id)
        }
        _ => None,
    }
}

/// The variables that an operation reads, writes in part, or takes the address of; the one all of
/// which it writes is only among them if it is read, too.
fn mentioned(program: &Program, op: &Op, whole: Option<VarId>) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    if let Op::Declare { .. } | Op::EndScope { .. } = op {
        return found;
    }
    let mut roots = Vec::new();
    each_operand(op, &mut |operand| roots.push(operand));
    each_below(program, roots, &mut |operand| {
        if let Operand::Place(place) = operand
            && let PlaceKind::Var(id) = program.place(place).kind
            && Some(id) != whole
        {
            found.insert(id);
        }
    });
    each_load(program, op, &mut |place| {
        if let Root::Variable(id) = program.root(place) {
            found.insert(id);
        }
    });
    found
}
