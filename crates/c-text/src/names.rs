//! What a name stands for, and what a wrong one may have meant.

use crate::print;
use crate::typing::{Operand, Typed};
use hardbop_cfront::edit::Tables;
use hardbop_cfront::ids::{ExprId, FuncId, PlaceId, VarId};
use hardbop_cfront::program::{ExprKind, Program, VarKind};
use hardbop_diagnostics::{Diagnostic, Span};

/// When an expression is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Where it stands.
    Now,
    /// When the function was entered: it is part of an `old(e)`.
    Entry,
}

/// Says what the names in a text stand for.
pub trait Names {
    /// What a name stands for.
    fn name(&mut self, tables: &mut Tables, name: &str, time: Time, span: Span) -> Typed<Operand>;

    /// What `$1` and so on stand for.
    fn argument(&mut self, tables: &mut Tables, number: u32, span: Span) -> Typed<Operand>;

    /// What `$return` stands for.
    fn result(&mut self, tables: &mut Tables, time: Time, span: Span) -> Typed<Operand>;

    /// What a value was when the function was entered.
    fn old(&mut self, tables: &mut Tables, value: ExprId, span: Span) -> Typed<ExprId>;
}

/// Where a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Everywhere: it mentions globals only.
    Global,
    /// In a function.
    Function(FuncId),
}

/// A ghost variable that holds what an expression was worth when its function was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Old {
    /// The function.
    pub function: FuncId,
    /// The ghost.
    pub variable: VarId,
    /// The expression, over parameters and globals.
    pub value: ExprId,
}

/// The names of a program, seen from somewhere in it.
pub struct ProgramNames<'a> {
    /// Where the text is read.
    pub scope: Scope,
    /// The ghosts so far; those that are needed are added.
    pub olds: &'a mut Vec<Old>,
    /// What `$return` stands for, if that is not the result of the function.
    pub result: Option<PlaceId>,
}

impl Names for ProgramNames<'_> {
    fn name(&mut self, tables: &mut Tables, name: &str, time: Time, span: Span) -> Typed<Operand> {
        let program = &tables.program;
        match resolve(program, self.scope, name) {
            Meaning::Variable(variable) => {
                let kind = program.variable(variable).kind;
                if time == Time::Entry && matches!(kind, VarKind::Local(_) | VarKind::Temporary(_))
                {
                    let message = format!("`{name}` has no value when its function is entered");
                    return Err(Diagnostic::error(span, message)
                        .label("`old` takes parameters and globals only"));
                }
                Ok(Operand::Place(tables.variable_place(variable)))
            }
            Meaning::Function(function) => Ok(function_value(tables, function)),
            Meaning::Nothing if program.words.number_named(name).is_some() => {
                let number = program.words.number_named(name).unwrap_or_default();
                // An `int` where that holds it, as C has it; else the first that does.
                let [int, long, unsigned] = [(32, true), (64, true), (64, false)]
                    .map(|(width, signed)| tables.program.types.int(width, signed));
                let ty = match number {
                    _ if i32::try_from(number).is_ok() => int,
                    _ if i64::try_from(number).is_ok() => long,
                    _ => unsigned,
                };
                Ok(Operand::Value(tables.constant(number, ty)))
            }
            Meaning::Nothing if name == "NULL" => {
                let ty = tables.void_pointer();
                Ok(Operand::Value(tables.constant(0, ty)))
            }
            meaning => Err(refused(program, self.scope, name, span, meaning)),
        }
    }

    fn argument(&mut self, _: &mut Tables, number: u32, span: Span) -> Typed<Operand> {
        let message = format!("`${number}` means nothing here");
        Err(Diagnostic::error(span, message))
    }

    fn result(&mut self, tables: &mut Tables, time: Time, span: Span) -> Typed<Operand> {
        if time == Time::Entry {
            return Err(Diagnostic::error(
                span,
                "there is no returned value at the entry",
            ));
        }
        if let Some(place) = self.result {
            return Ok(Operand::Place(place));
        }
        let Scope::Function(function) = self.scope else {
            return Err(Diagnostic::error(
                span,
                "a global predicate cannot mention a returned value",
            )
            .label("write it in the scope of a function"));
        };
        let described = tables.program.function(function);
        match described.result {
            Some(variable) => Ok(Operand::Place(tables.variable_place(variable))),
            None => {
                let message = format!("`{}` does not return a value", described.name);
                Err(Diagnostic::error(span, message))
            }
        }
    }

    fn old(&mut self, tables: &mut Tables, value: ExprId, span: Span) -> Typed<ExprId> {
        let Scope::Function(function) = self.scope else {
            let message = "a global predicate cannot mention entry values";
            return Err(Diagnostic::error(span, message).label("`old` belongs to a function"));
        };
        let mut known = self.olds.iter();
        let known = known.find(|old| old.function == function && old.value == value);
        let variable = match known {
            Some(old) => old.variable,
            None => {
                let name = format!("old({})", print::text(&tables.program, value));
                let source = tables.program.function(function).source;
                let variable = tables.temporary(function, name, tables.ty(value), source);
                self.olds.push(Old {
                    function,
                    variable,
                    value,
                });
                variable
            }
        };
        Ok(tables.load_variable(variable))
    }
}

/// A function's address: what its name is worth.
pub fn function_value(tables: &mut Tables, function: FuncId) -> Operand {
    let ty = tables.program.function(function).ty;
    let ty = tables.program.types.pointer(ty);
    Operand::Value(tables.expr(ExprKind::Function(function), ty))
}

/// What a name stands for.
enum Meaning {
    Variable(VarId),
    Function(FuncId),
    /// Several locals of nested blocks have the name.
    Several(Vec<VarId>),
    /// It is a local of these functions, none of which is the scope.
    Elsewhere(Vec<FuncId>),
    Nothing,
}

/// The variables of a function with that name: parameters, locals, statics, temporaries.
pub(crate) fn of_function(program: &Program, function: FuncId, name: &str) -> Vec<VarId> {
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
fn resolve(program: &Program, scope: Scope, name: &str) -> Meaning {
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

/// Why a name stands for nothing that could be meant.
fn refused(
    program: &Program,
    scope: Scope,
    name: &str,
    span: Span,
    meaning: Meaning,
) -> Diagnostic {
    match meaning {
        Meaning::Several(variables) => {
            let lines: Vec<String> = variables
                .iter()
                .map(|&id| format!("`{name}@{}`", program.variable(id).source.line))
                .collect();
            Diagnostic::error(span, format!("`{name}` is declared more than once here"))
                .label(format!("say which one: {}", lines.join(" or ")))
        }
        Meaning::Elsewhere(functions) if functions.iter().any(|&f| scope == Scope::Function(f)) => {
            let (bare, line) = name.rsplit_once('@').unwrap_or((name, ""));
            Diagnostic::error(span, format!("no `{bare}` is declared in line {line}"))
        }
        Meaning::Elsewhere(functions) => {
            let of = &program.function(functions[0]).name;
            match scope {
                Scope::Global => Diagnostic::error(
                    span,
                    format!("a global predicate cannot mention `{name}`, which is local to `{of}`"),
                )
                .label(format!(
                    "write `{of}: ...` to make it a predicate of `{of}`"
                )),
                Scope::Function(function) => {
                    let here = &program.function(function).name;
                    Diagnostic::error(
                        span,
                        format!("`{name}` is not visible in `{here}`: it is local to `{of}`"),
                    )
                }
            }
        }
        Meaning::Variable(_) | Meaning::Function(_) | Meaning::Nothing => {
            let error = Diagnostic::error(span, format!("there is no variable `{name}`"));
            match suggestion(name, visible(program, scope)) {
                Some(known) => error.label(format!("did you mean `{known}`?")),
                None => error,
            }
        }
    }
}

/// The known name that is nearest to a wrong one, if any is near.
pub fn suggestion<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = wrong.chars().count().div_ceil(3).min(3);
    known
        .map(|name| (distance(wrong, name), name))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, name)| name)
}

/// The names that can be mentioned in a scope.
fn visible(program: &Program, scope: Scope) -> impl Iterator<Item = &str> {
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
