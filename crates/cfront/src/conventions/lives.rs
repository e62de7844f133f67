//! How often the objects of a class begin, and whether they end before others begin.

use super::View;
use crate::control::cyclic;
use crate::ids::{FuncId, VarId};
use crate::points_to::ClassId;
use crate::program::{Op, VarKind};
use std::collections::{BTreeMap, BTreeSet};

/// How often objects begin and whether they end.
pub(super) struct Lives {
    /// By location, whether it lies on a cycle of its function.
    cyclic: Vec<bool>,
    /// By function, whether it is called at most once.
    once: Vec<bool>,
    freed: BTreeSet<ClassId>,
    /// Locals that end inside of their function, with those that always end with them.
    scopes: BTreeMap<VarId, BTreeSet<VarId>>,
}

impl Lives {
    pub(super) fn new(view: &View<'_>) -> Lives {
        let program = view.program;
        let cyclic = cyclic(program);
        let mut calls: Vec<Vec<(FuncId, bool)>> = vec![Vec::new(); program.functions.len()];
        let mut freed = BTreeSet::new();
        let mut scopes: BTreeMap<VarId, BTreeSet<VarId>> = BTreeMap::new();
        for (_, edge) in view.edges(|_| true) {
            match &edge.op {
                Op::Call { callee, .. } => {
                    let caller = program.locations[edge.from.index()].function;
                    for target in callee.targets() {
                        calls[target.index()].push((caller, cyclic[edge.from.index()]));
                    }
                }
                Op::Free { pointer } => freed.extend(super::addresses::objects(view, *pointer)),
                Op::EndScope { variables } => {
                    // A jump out of several scopes ends more than those do by themselves.
                    let all: BTreeSet<VarId> = variables.iter().copied().collect();
                    for &variable in variables {
                        let others = scopes.entry(variable).or_insert_with(|| all.clone());
                        others.retain(|other| all.contains(other));
                    }
                }
                _ => {}
            }
        }
        // What is called once by what is called once; a chain that comes back never begins.
        let mut once = vec![false; program.functions.len()];
        once[program.entry.index()] = calls[program.entry.index()].is_empty();
        loop {
            let mut changed = false;
            for index in 0..once.len() {
                if let [(caller, false)] = calls[index][..]
                    && !once[index]
                    && once[caller.index()]
                {
                    once[index] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        Lives {
            cyclic,
            once,
            freed,
            scopes,
        }
    }

    /// How many objects there are in a class: 2 for more than one.
    pub(super) fn objects(&self, view: &View<'_>, id: ClassId) -> usize {
        let class = &view.points_to.classes()[id.0 as usize];
        let gone = class
            .variables
            .iter()
            .filter(|v| self.is_gone(view, id, **v));
        let mut count = class.variables.len() + gone.count();
        for edge in &class.allocations {
            let from = view.program.edges[edge.index()].from;
            let function = view.program.locations[from.index()].function;
            let single = !self.cyclic[from.index()] && self.once[function.index()];
            count += if single { 1 } else { 2 };
        }
        count += if class.external { 2 } else { 0 };
        count + class.functions.len()
    }

    /// Whether an object of a class may end before another one begins, and be pointed to then.
    pub(super) fn is_reused(&self, view: &View<'_>, id: ClassId) -> bool {
        let class = &view.points_to.classes()[id.0 as usize];
        (!class.allocations.is_empty() && self.freed.contains(&id))
            || class.variables.iter().any(|&v| self.is_gone(view, id, v))
    }

    /// Whether a local of a class may end before another object begins, and something that
    /// outlives it may point to it.
    fn is_gone(&self, view: &View<'_>, class: ClassId, id: VarId) -> bool {
        let (VarKind::Local(owner) | VarKind::Formal(owner) | VarKind::Temporary(owner)) =
            view.program.variable(id).kind
        else {
            return false;
        };
        let scope = self.scopes.get(&id);
        if scope.is_none() && self.once[owner.index()] {
            return false;
        }
        let outlives = |&holder: &VarId| {
            let variable = view.program.variable(holder);
            match variable.kind {
                VarKind::Global | VarKind::Static(_) | VarKind::Literal | VarKind::Result(_) => {
                    true
                }
                // Of one activation, only what ends later; what another one has in a variable that
                // nobody points to, it was handed by one that lives, or by something of the above.
                VarKind::Local(by) | VarKind::Formal(by) | VarKind::Temporary(by) => {
                    let ends_with = scope.is_none_or(|scope| scope.contains(&holder));
                    variable.address_taken || by == owner && !ends_with
                }
            }
        };
        view.points_to.holders(class).any(|holder| {
            let holder = &view.points_to.classes()[holder.0 as usize];
            holder.external
                || !holder.allocations.is_empty()
                || holder.variables.iter().any(outlives)
        })
    }
}
