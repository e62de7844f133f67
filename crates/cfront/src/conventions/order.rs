//! Operands whose order C leaves open, where one of them does what the other one sees.

use super::View;
use crate::call_graph::calls_of;
use crate::ids::{FuncId, VarId};
use crate::lower::{Operand, Unsequenced};
use crate::mod_ref::{self, ModRef, Touched};
use crate::points_to::ClassId;
use crate::program::{LocationKind, Origin, VarKind};
use std::collections::BTreeSet;

pub(super) fn find(view: &View<'_>, unsequenced: &[Unsequenced]) -> Option<String> {
    let lines: BTreeSet<(u32, u32)> = view
        .user_edges()
        .map(|(_, edge)| (edge.source.file, edge.source.line))
        .collect();
    let mut reached = unsequenced
        .iter()
        .filter(|pair| lines.contains(&(pair.source.file, pair.source.line)))
        .peekable();
    reached.peek()?;
    let judge = Judge {
        view,
        effects: mod_ref::analyse(view.program, view.points_to),
        recursive: crate::call_graph::recursive(view.program),
    };
    let first = reached
        .filter(|pair| judge.matters(pair))
        .map(|pair| pair.source)
        .min()?;
    Some(format!(
        "what C lets be evaluated in any order is evaluated in one: it may matter at {}",
        view.place(first)
    ))
}

struct Judge<'a> {
    view: &'a View<'a>,
    effects: ModRef,
    recursive: Vec<bool>,
}

/// What an operand touches, its calls included.
#[derive(Default)]
struct Reach {
    reads: Set,
    writes: Set,
    /// Whether it may end the program.
    ends: bool,
    /// Whether it has a check.
    checks: bool,
    /// Whether it does something that is not looked into.
    anything: bool,
}

#[derive(Default)]
struct Set {
    variables: BTreeSet<VarId>,
    classes: BTreeSet<ClassId>,
    /// Some memory, by a pointer.
    memory: bool,
    /// All that can be reached.
    reachable: bool,
}

impl Set {
    fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.classes.is_empty() && !self.memory && !self.reachable
    }

    fn meets(&self, other: &Set) -> bool {
        let blind = |a: &Set, b: &Set| {
            (a.reachable && !b.is_empty()) || (a.memory && (b.memory || !b.classes.is_empty()))
        };
        blind(self, other)
            || blind(other, self)
            || !self.variables.is_disjoint(&other.variables)
            || !self.classes.is_disjoint(&other.classes)
    }
}

impl Judge<'_> {
    fn matters(&self, pair: &Unsequenced) -> bool {
        if pair.left.disturbs(&pair.right) || pair.right.disturbs(&pair.left) {
            return true;
        }
        let (left, right) = (self.reach(&pair.left), self.reach(&pair.right));
        let sees = |a: &Reach, b: &Reach| {
            a.writes.meets(&b.reads)
                || a.writes.meets(&b.writes)
                || (a.ends && b.checks)
                || (a.anything && (b.anything || !b.writes.is_empty()))
        };
        sees(&left, &right) || sees(&right, &left)
    }

    fn reach(&self, operand: &Operand) -> Reach {
        let mut out = Reach {
            anything: operand.anything,
            ..Reach::default()
        };
        self.named(&operand.reads, &mut out.reads);
        self.named(&operand.writes, &mut out.writes);
        out.reads.memory = operand.reads_memory;
        out.writes.memory = operand.writes_memory;
        let mut called: BTreeSet<FuncId> = operand.calls.clone();
        let mut work: Vec<FuncId> = called.iter().copied().collect();
        while let Some(function) = work.pop() {
            let program = self.view.program;
            for location in program.function(function).locations.clone() {
                match program.locations[location as usize].kind {
                    LocationKind::Halt => out.ends = true,
                    LocationKind::Error(_) => out.checks = true,
                    _ => {}
                }
            }
            work.extend(calls_of(program, function).filter(|&callee| called.insert(callee)));
        }
        for &function in &operand.calls {
            let effects = self.effects.of(function);
            self.outside(&effects.read, &called, &mut out.reads);
            self.outside(&effects.modified, &called, &mut out.writes);
        }
        out
    }

    /// Variables that an operand names, and the classes in which pointers find them.
    fn named(&self, variables: &BTreeSet<VarId>, to: &mut Set) {
        let taken = |id: &&VarId| self.view.program.variable(**id).address_taken;
        let class = |id: &VarId| self.view.points_to.variable(*id).map(|spot| spot.class);
        to.classes
            .extend(variables.iter().filter(taken).filter_map(class));
        to.variables.extend(variables);
    }

    /// What calls touch that is there before and after them.
    fn outside(&self, touched: &Touched, called: &BTreeSet<FuncId>, to: &mut Set) {
        let program = self.view.program;
        let inside = |id: &VarId| match program.variable(*id).kind {
            VarKind::Formal(f) | VarKind::Local(f) | VarKind::Temporary(f) | VarKind::Result(f) => {
                called.contains(&f) && !self.recursive[f.index()]
            }
            // `errno` is of no interest, and any call may set it.
            VarKind::Static(f) => {
                let function = program.function(f);
                function.origin == Origin::Model && function.name == "__errno_location"
            }
            VarKind::Literal => true,
            VarKind::Global => false,
        };
        to.reachable |= touched.reachable;
        to.variables
            .extend(touched.variables.iter().filter(|id| !inside(id)));
        for &id in &touched.classes {
            let class = &self.view.points_to.classes()[id.0 as usize];
            let shared = class.external
                || !class.allocations.is_empty()
                || class.variables.iter().any(|id| !inside(id));
            if shared {
                to.classes.insert(id);
            }
        }
    }
}
