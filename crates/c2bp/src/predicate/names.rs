//! What a name in a predicate stands for, and what a wrong one may have meant.

use super::Scope;
use hardbop_cfront::ids::{FuncId, VarId};
use hardbop_cfront::program::{Program, VarKind};

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Variable(VarId),
    Function(FuncId),
    /// Several locals of nested blocks have the name.
    Several(Vec<VarId>),
    /// It is a local of these functions, none of which is the scope.
    Elsewhere(Vec<FuncId>),
    Nothing,
}

/// The variables of a function with that name: parameters, locals, statics, temporaries.
pub(super) fn of_function(program: &Program, function: FuncId, name: &str) -> Vec<VarId> {
    let own = |kind: VarKind| {
        matches!(kind, VarKind::Formal(f) | VarKind::Local(f) | VarKind::Static(f)
            | VarKind::Temporary(f) if f == function)
    };
    (0..program.variables.len() as u32)
        .map(VarId)
        .filter(|&id| own(program.variable(id).kind) && program.variable(id).name == name)
        .collect()
}

/// Looks a name up: in the function, then among the globals and the functions.
pub(super) fn resolve(program: &Program, scope: Scope, name: &str) -> Meaning {
    let (bare, line) = match name.rsplit_once('@') {
        Some((bare, line)) => (bare, line.parse::<u32>().ok()),
        None => (name, None),
    };
    if let Scope::Function(function) = scope {
        let mut found = of_function(program, function, bare);
        if let Some(line) = line {
            found.retain(|&id| program.variable(id).source.line == line);
        }
        match found.as_slice() {
            [] => {}
            [one] => return Meaning::Variable(*one),
            _ => return Meaning::Several(found),
        }
    }
    let global = (0..program.variables.len() as u32).map(VarId).find(|&id| {
        program.variable(id).kind == VarKind::Global && program.variable(id).name == name
    });
    if let Some(id) = global {
        return Meaning::Variable(id);
    }
    if let Some(function) = program.function_named(name) {
        return Meaning::Function(function);
    }
    let elsewhere: Vec<FuncId> = (0..program.functions.len() as u32)
        .map(FuncId)
        .filter(|&f| !of_function(program, f, bare).is_empty())
        .collect();
    if elsewhere.is_empty() {
        Meaning::Nothing
    } else {
        Meaning::Elsewhere(elsewhere)
    }
}

/// The known name that is nearest to a wrong one, if any is near.
pub(super) fn suggestion<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = wrong.chars().count().div_ceil(3).min(3);
    known
        .map(|name| (distance(wrong, name), name))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, name)| name)
}

/// The names that a predicate in a scope may mention.
pub(super) fn visible(program: &Program, scope: Scope) -> impl Iterator<Item = &str> {
    program.variables.iter().filter_map(move |variable| {
        let seen = match variable.kind {
            VarKind::Global => true,
            VarKind::Formal(f) | VarKind::Local(f) | VarKind::Static(f) => {
                scope == Scope::Function(f)
            }
            _ => false,
        };
        seen.then_some(variable.name.as_str())
    })
}

/// The number of letters to change, add or remove (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
