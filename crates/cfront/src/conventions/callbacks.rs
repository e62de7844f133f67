//! Functions of the program that are handed to functions without a body, which are taken not to
//! call them.

use super::View;
use crate::ids::{ExprId, TypeId};
use crate::program::{Callee, Op, Origin};
use crate::types::{Type, Types};
use std::collections::BTreeSet;

pub(super) fn find(view: &View<'_>) -> Vec<String> {
    let program = view.program;
    let mut told = BTreeSet::new();
    let mut texts = Vec::new();
    for (_, edge) in view.user_edges() {
        let Op::Call {
            callee, arguments, ..
        } = &edge.op
        else {
            continue;
        };
        if !arguments
            .iter()
            .any(|&argument| leads_to_code(view, argument))
        {
            continue;
        }
        for &target in callee.targets() {
            let function = program.function(target);
            let refused = program
                .edges_from(function.entry)
                .any(|(_, edge)| matches!(edge.op, Op::Unsupported { .. }));
            if function.origin == Origin::Undefined && !refused && told.insert(target) {
                let by = match callee {
                    Callee::Direct(_) => "called",
                    Callee::Indirect { .. } => "called by a pointer",
                };
                texts.push(format!(
                    "`{}`, {by} at {}, calls none of the functions that it is given",
                    function.name,
                    view.place(edge.source)
                ));
            }
        }
    }
    texts
}

/// Whether a value is a function of the user's, or points to an object that holds one.
fn leads_to_code(view: &View<'_>, argument: ExprId) -> bool {
    let program = view.program;
    let Some(spot) = view.points_to.pointer(argument) else {
        return false;
    };
    let class = &view.points_to.classes()[spot.class.0 as usize];
    let users = |&id: &crate::ids::FuncId| program.function(id).origin == Origin::User;
    let mut variables = class.variables.iter();
    class.functions.iter().any(users)
        || variables.any(|&id| holds_code(&program.types, program.variable(id).ty))
}

/// Whether an object of a type has a member that points to a function.
fn holds_code(types: &Types, ty: TypeId) -> bool {
    let mut work = vec![ty];
    let mut seen = BTreeSet::new();
    while let Some(ty) = work.pop() {
        if !seen.insert(ty) {
            continue;
        }
        match types.get(ty) {
            Type::Pointer(to) if matches!(types.get(*to), Type::Function { .. }) => return true,
            Type::Array { element, .. } => work.push(*element),
            Type::Record(record) => {
                work.extend(types.record(*record).fields.iter().map(|field| field.ty));
            }
            _ => {}
        }
    }
    false
}
