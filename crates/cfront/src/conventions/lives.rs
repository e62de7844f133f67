//! How often the objects of a class begin, and whether they end before others begin.

use super::View;
use crate::control::cyclic;
use crate::ids::{FuncId, VarId};
use crate::points_to::ClassId;
use crate::program::{Op, VarKind};
use std::collections::BTreeSet;

/// How often objects begin and whether they end.
pub(super) struct Lives {
    /// By location, whether it lies on a cycle of its function.
    cyclic: Vec<bool>,
    /// By function, whether it is called at most once.
    once: Vec<bool>,
    freed: BTreeSet<ClassId>,
    /// Locals that end inside of their function.
    scoped: BTreeSet<VarId>,
}

impl Lives {
    pub(super) fn new(view: &View<'_>) -> Lives {
        let program = view.program;
        let cyclic = cyclic(program);
        let mut calls: Vec<Vec<(FuncId, bool)>> = vec![Vec::new(); program.functions.len()];
        let mut freed = BTreeSet::new();
        let mut scoped = BTreeSet::new();
        for (_, edge) in view.edges(|_| true) {
            match &edge.op {
                Op::Call { callee, .. } => {
                    let caller = program.locations[edge.from.index()].function;
                    for target in callee.targets() {
                        calls[target.index()].push((caller, cyclic[edge.from.index()]));
                    }
                }
                Op::Free { pointer } => freed.extend(super::addresses::objects(view, *pointer)),
                Op::EndScope { variables } if cyclic[edge.from.index()] => {
                    scoped.extend(variables);
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
            scoped,
        }
    }

    /// How many objects there are in a class: 2 for more than one.
    pub(super) fn objects(&self, view: &View<'_>, id: ClassId) -> usize {
        let class = &view.points_to.classes()[id.0 as usize];
        let mut count = class.variables.len();
        for edge in &class.allocations {
            let from = view.program.edges[edge.index()].from;
            let function = view.program.locations[from.index()].function;
            let single = !self.cyclic[from.index()] && self.once[function.index()];
            count += if single { 1 } else { 2 };
        }
        count += if class.external { 2 } else { 0 };
        count + class.functions.len()
    }

    /// Whether an object of a class may end before another one begins.
    pub(super) fn is_reused(&self, view: &View<'_>, id: ClassId) -> bool {
        let class = &view.points_to.classes()[id.0 as usize];
        let ends = |&id: &VarId| match view.program.variable(id).kind {
            VarKind::Local(f) | VarKind::Formal(f) | VarKind::Temporary(f) => {
                self.scoped.contains(&id) || !self.once[f.index()]
            }
            _ => false,
        };
        (!class.allocations.is_empty() && self.freed.contains(&id))
            || class.variables.iter().any(ends)
    }
}
