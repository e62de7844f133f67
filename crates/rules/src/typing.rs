//! What the names in a rule stand for, and its expressions as expressions of the program.

use crate::ast::*;
use crate::watching::Subject;
use crate::weave::Home;
use hardbop_c_text::Dialect;
use hardbop_c_text::names::{Names, Time, function_value};
use hardbop_c_text::typing::{Operand, Typed, Typing};
use hardbop_cfront::dump::type_name;
use hardbop_cfront::edit::Tables;
use hardbop_cfront::ids::{ExprId, FuncId, TypeId, VarId};
use hardbop_cfront::program::{BinaryOp, ExprKind, Source, VarKind};
use hardbop_cfront::types::Type;
use hardbop_diagnostics::{Diagnostic, Span};
use std::collections::BTreeMap;

/// An error has been reported.
pub(crate) struct Refused;

/// What a handler knows of the event that it runs at.
pub(crate) struct Site {
    /// The function's name, as the user knows it.
    pub function: String,
    pub event: Event,
    /// The arguments, by position.
    pub arguments: Vec<ExprId>,
    /// The result, if the event is after the call and the function has one.
    pub result: Option<ExprId>,
    /// Where the function is defined or first mentioned.
    pub source: Option<Source>,
    /// Where it is kept whether the call is about an object that the rule has chosen.
    pub met: BTreeMap<Subject, ExprId>,
}

/// Translates the expressions of a handler.
pub(crate) struct Expressions<'a> {
    pub tables: &'a mut Tables,
    pub home: &'a Home<'a>,
    pub site: &'a Site,
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

impl Expressions<'_> {
    /// What was typed; what could not be is reported, at its place among the program's texts.
    fn reported<T>(&mut self, typed: Typed<T>) -> Result<T, Refused> {
        typed.map_err(|mut diagnostic| {
            diagnostic.span = diagnostic.span.map(|span| self.home.span(span));
            self.diagnostics.push(diagnostic);
            Refused
        })
    }

    /// Reports an error.
    pub fn refuse<T>(
        &mut self,
        span: Span,
        message: impl Into<String>,
        label: &str,
    ) -> Result<T, Refused> {
        self.reported(Err(Diagnostic::error(span, message).label(label)))
    }

    fn typed<T>(&mut self, typed: impl FnOnce(&mut Typing<'_>) -> Typed<T>) -> Result<T, Refused> {
        let mut names = RuleNames {
            home: self.home,
            site: self.site,
        };
        let found = typed(&mut Typing {
            dialect: Dialect::Rule,
            tables: self.tables,
            names: &mut names,
        });
        self.reported(found)
    }

    /// The value of an expression; a scalar.
    pub fn value(&mut self, expr: NodeId) -> Result<ExprId, Refused> {
        let ast = &self.home.rule.exprs;
        self.typed(|typing| typing.value(ast, expr))
    }

    /// An operator on two values.
    pub fn combine(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        span: Span,
    ) -> Result<ExprId, Refused> {
        self.typed(|typing| typing.combine(op, left, right, span))
    }

    /// A value as it is assigned to a variable of a type.
    pub fn assigned(&mut self, value: ExprId, ty: TypeId, span: Span) -> Result<ExprId, Refused> {
        let types = &self.tables.program.types;
        let to_pointer = matches!(types.get(ty), Type::Pointer(_));
        let from_pointer = matches!(self.tables.type_of(value), Type::Pointer(_));
        let fits = match (to_pointer, from_pointer) {
            (true, true) | (false, false) => true,
            (true, false) => self.tables.constant_value(value) == Some(0),
            (false, true) => matches!(types.get(ty), Type::Bool),
        };
        if fits {
            return Ok(self.tables.convert(value, ty));
        }
        let (from, to) = (
            type_name(types, self.tables.ty(value)),
            type_name(types, ty),
        );
        let message = format!("a value of type `{from}` does not fit a variable of type `{to}`");
        self.refuse(span, message, "say how by a cast")
    }

    /// The object that an expression names, if it names one: its position in the state.
    pub fn object(&self, expr: NodeId) -> Option<usize> {
        let NodeKind::Name(name) = &self.home.rule.exprs.node(expr).kind else {
            return None;
        };
        let position = self.home.rule.state_variable(name)?;
        matches!(self.home.rule.state[position].ty, StateType::Object).then_some(position)
    }
}

/// The names in a handler: its rule's, then the program's.
struct RuleNames<'a> {
    home: &'a Home<'a>,
    site: &'a Site,
}

fn refused<T>(span: Span, message: impl Into<String>, label: &str) -> Typed<T> {
    Err(Diagnostic::error(span, message).label(label))
}

/// What is in a place can still be taken the address of.
fn operand(tables: &Tables, value: ExprId) -> Operand {
    match tables.program.expr(value).kind {
        ExprKind::Load(place) => Operand::Place(place),
        _ => Operand::Value(value),
    }
}

impl Names for RuleNames<'_> {
    fn name(&mut self, tables: &mut Tables, name: &str, _: Time, span: Span) -> Typed<Operand> {
        if let Some(index) = self.home.rule.state_variable(name) {
            let Some(&variable) = self.home.variables.get(&index) else {
                return refused(
                    span,
                    format!("the object `{name}` can only be compared, in a condition"),
                    "expected something like `if ($1 == object)`",
                );
            };
            return Ok(Operand::Place(tables.variable_place(variable)));
        }
        let mut constants = self.home.rule.constants.iter();
        let constant = constants.find(|constant| constant.name.text == name);
        let constant = match name {
            "NULL" => Some(0),
            _ => constant.map(|constant| constant.value),
        };
        if let Some(value) = constant {
            let int = tables.int();
            return Ok(Operand::Value(tables.constant(value, int)));
        }
        let program = &tables.program;
        let globals: Vec<VarId> = (0..self.home.program_variables as u32)
            .map(VarId)
            .filter(|&id| {
                let variable = program.variable(id);
                variable.kind == VarKind::Global && variable.name == name
            })
            .collect();
        let functions: Vec<FuncId> = (0..program.functions.len() as u32)
            .map(FuncId)
            .filter(|&id| plain_name(&program.function(id).name) == name)
            .collect();
        match (globals.as_slice(), functions.as_slice()) {
            (&[global], []) => Ok(Operand::Place(tables.variable_place(global))),
            ([], &[function]) => Ok(function_value(tables, function)),
            ([], []) => refused(
                span,
                format!("unknown name `{name}`"),
                "neither in the state of the rule nor a global of the program",
            ),
            _ => refused(
                span,
                format!("several files of the program have a `{name}` of their own"),
                "it is not clear which one is meant",
            ),
        }
    }

    fn argument(&mut self, tables: &mut Tables, number: u32, span: Span) -> Typed<Operand> {
        if let Some(&value) = self.site.arguments.get(number as usize - 1) {
            return Ok(operand(tables, value));
        }
        let count = self.site.arguments.len();
        let function = &self.site.function;
        let message = match count {
            0 => format!("`{function}` has no parameters, so there is no `${number}`"),
            1 => format!("`{function}` has one parameter, so there is no `${number}`"),
            _ => format!("`{function}` has {count} parameters, so there is no `${number}`"),
        };
        let diagnostic = Diagnostic::error(span, message).label("not there");
        Err(match self.site.source {
            Some(source) => diagnostic.note(Some(source.span), "the function is here"),
            None => diagnostic,
        })
    }

    fn result(&mut self, tables: &mut Tables, _: Time, span: Span) -> Typed<Operand> {
        if let Some(result) = self.site.result {
            return Ok(operand(tables, result));
        }
        let function = &self.site.function;
        if self.site.event.is_after() {
            let message = format!("`{function}` returns nothing, so there is no `$return`");
            return refused(span, message, "not there");
        }
        let event = self.site.event.word();
        let message = format!("there is no `$return` yet at `.{event}`");
        refused(span, message, "known at `.exit` and `.return`")
    }

    fn old(&mut self, _: &mut Tables, _: ExprId, span: Span) -> Typed<ExprId> {
        refused(span, "a rule has no `old`", "")
    }
}

/// A function's name without the number that tells static functions apart.
pub(crate) fn plain_name(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((plain, number)) if number.bytes().all(|b| b.is_ascii_digit()) => plain,
        _ => name,
    }
}
