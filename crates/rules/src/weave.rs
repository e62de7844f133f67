//! Weaving: a program and rules become a program whose executions are watched by the rules.
//!
//! Every function of a [`Program`] has a body, also one that no file defines. So `.call` and
//! `.entry` handlers are woven in at the function's entry and `.exit` and `.return` handlers at
//! its exit, whoever calls it, by name or by pointer. `malloc` and `free` are edges and not
//! functions; there, handlers are functions of their own that are called before and after.
//!
//! The user's locations and edges stay as they are, with their sources; those of a rule have
//! sources in the rule's file.

use crate::ast::*;
use crate::events::{Events, Listening};
use crate::handler::{Body, Into};
use crate::primitive::weave_primitive;
use crate::single::Single;
use crate::typing::{Site, plain_name};
use crate::watching::{self, Chosen, Nulls, Subject, Watching};
use hardbop_budget::{Budget, Stopped};
use hardbop_c_text::typing::type_id;
use hardbop_cfront::edit::{Graphs, Tables};
use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
use hardbop_cfront::program::*;
use hardbop_diagnostics::{Diagnostic, FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// What came of weaving.
#[derive(Debug)]
pub struct Woven {
    /// The program. If there is an error among the diagnostics, it is good for nothing but the
    /// texts that they point into.
    pub program: Program,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// A rule that has found its place in the program.
pub(crate) struct Home<'a> {
    pub rule: &'a Rule,
    /// The rule's text among those of the program.
    file: FileId,
    /// Its name among the presumed files.
    presumed: u32,
    /// The variables of its state by position, without its objects.
    pub variables: BTreeMap<usize, VarId>,
    /// How it knows its objects.
    pub watching: BTreeMap<Subject, Watching>,
    /// How many variables the program had before it.
    pub program_variables: usize,
}

impl Home<'_> {
    /// A place of the rule as one of the program's texts.
    pub fn span(&self, span: Span) -> Span {
        Span {
            file: self.file,
            ..span
        }
    }

    /// The beginning of the rule.
    pub fn start(&self) -> Span {
        Span::new(self.file, 0, 0)
    }

    pub fn source(&self, program: &Program, span: Span) -> Source {
        let span = self.span(span);
        Source {
            span,
            file: self.presumed,
            line: program.sources.line(span.file, span.start),
        }
    }
}

/// Weaves rules into a program, in order.
pub fn weave(program: Program, rules: &[Rule], budget: &Budget) -> Result<Woven, Stopped> {
    let program_variables = program.variables.len();
    let mut tables = Tables::new(program);
    let mut diagnostics = Vec::new();
    let mut homes: Vec<Home<'_>> = rules
        .iter()
        .map(|rule| settle(&mut tables, rule, program_variables, &mut diagnostics))
        .collect();
    let events = Events::find(&tables.program, &homes, &mut diagnostics);
    let single = Single::of(&tables.program, budget)?;
    for (rule, home) in homes.iter_mut().enumerate() {
        home.watching = watching::decide(&mut tables, home, &events, rule, &single);
    }
    let mut graphs = Graphs::new(&tables.program);
    for (&function, found) in &events.functions {
        budget.check()?;
        weave_function(
            &mut tables,
            &homes,
            &mut graphs,
            function,
            found,
            &mut diagnostics,
        );
    }
    for (&primitive, found) in &events.primitives {
        budget.check()?;
        weave_primitive(
            &mut tables,
            &homes,
            &mut graphs,
            primitive,
            found,
            &mut diagnostics,
        );
    }
    for home in &homes {
        for watching in home.watching.values() {
            if let Watching::Chosen(chosen) = watching {
                announce(&mut tables, &single, &mut graphs, chosen);
            }
        }
    }
    graphs.lay_out(&mut tables.program);
    // A handler for several functions is woven in several times: its mistakes are told once, and
    // in the order of the text.
    let mut told = BTreeSet::new();
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    diagnostics.retain(|diagnostic: &Diagnostic| {
        told.insert((diagnostic.span, diagnostic.message.clone()))
    });
    Ok(Woven {
        program: tables.program,
        diagnostics,
    })
}

/// Adds a rule's text and its state to the program.
fn settle<'a>(
    tables: &mut Tables,
    rule: &'a Rule,
    program_variables: usize,
    diagnostics: &mut Vec<Diagnostic>,
) -> Home<'a> {
    let program = &mut tables.program;
    // Whoever weaves several rules, each into a program of its own, may have put the texts there.
    let file = program
        .sources
        .find(&rule.path, &rule.text)
        .unwrap_or_else(|| program.sources.add(rule.path.clone(), rule.text.clone()));
    program.presumed_files.push(rule.path.clone());
    let presumed = program.presumed_files.len() as u32 - 1;
    let taken = program.rules.iter().filter(|known| {
        let base = known.name.split('#').next();
        base == Some(rule.name.as_str())
    });
    let name = match taken.count() {
        0 => rule.name.clone(),
        count => format!("{}#{}", rule.name, count + 1),
    };
    let mut home = Home {
        rule,
        file,
        presumed,
        variables: BTreeMap::new(),
        watching: BTreeMap::new(),
        program_variables,
    };
    let mut woven = WovenRule {
        name,
        file,
        state: Vec::new(),
        objects: Vec::new(),
        choices: Vec::new(),
        watched: Vec::new(),
    };
    for (position, variable) in rule.state.iter().enumerate() {
        let (ty, values) = match &variable.ty {
            StateType::Object => continue,
            StateType::Scalar(name) => match type_id(tables, name) {
                Ok(ty) => (ty, Vec::new()),
                Err(error) => {
                    diagnostics.push(error);
                    continue;
                }
            },
            &StateType::Enum { first, count } => {
                let constants = rule.constants[first..first + count].iter();
                let named = constants.map(|constant| (constant.value, constant.name.text.clone()));
                (tables.int(), named.collect())
            }
        };
        let id = state_variable(tables, &home, &woven.name, variable, ty);
        home.variables.insert(position, id);
        woven.state.push(RuleVariable {
            name: variable.name.text.clone(),
            variable: id,
            values,
        });
    }
    tables.program.rules.push(woven);
    home
}

fn state_variable(
    tables: &mut Tables,
    home: &Home<'_>,
    rule: &str,
    variable: &StateVariable,
    ty: TypeId,
) -> VarId {
    let mut parts = Vec::new();
    if variable.initial != 0 {
        let value = tables.constant(variable.initial, ty);
        parts.push(InitialPart {
            offset_bits: 0,
            value: InitialValue::Scalar(value),
        });
    }
    let source = home.source(&tables.program, variable.name.span);
    let name = format!("{rule}.{}", variable.name.text);
    let initial = Initial::Data(parts);
    tables.variable(name, ty, VarKind::Global, source, initial)
}

/// Weaves handlers in at the entry and the exit of a function.
fn weave_function(
    tables: &mut Tables,
    homes: &[Home<'_>],
    graphs: &mut Graphs,
    function: FuncId,
    found: &[Listening],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let handler = |found: &Listening| &homes[found.rule].rule.handlers[found.handler];
    let described = tables.program.function(function);
    let (name, source) = (described.name.clone(), described.source);
    let (formals, result) = (described.formals.clone(), described.result);
    let now: Vec<ExprId> = formals
        .iter()
        .map(|&formal| tables.load_variable(formal))
        .collect();
    let result = result.map(|result| tables.load_variable(result));
    // What an exit handler sees are the values that were passed, whatever became of them.
    let mut used = BTreeSet::new();
    for found in found.iter().filter(|found| handler(found).event.is_after()) {
        let rule = homes[found.rule].rule;
        arguments_in(&rule.exprs, &handler(found).body, &mut used);
    }
    let mut passed = now.clone();
    let mut kept = Vec::new();
    for number in used {
        let Some(&formal) = formals.get(number as usize - 1) else {
            continue;
        };
        if !changes(&tables.program, graphs, function, formal) {
            continue;
        }
        let (ty, formal_name) = {
            let variable = tables.program.variable(formal);
            (variable.ty, variable.name.clone())
        };
        let copy = tables.temporary(function, format!("{formal_name}#passed"), ty, source);
        kept.push((tables.variable_place(copy), now[number as usize - 1]));
        passed[number as usize - 1] = tables.load_variable(copy);
    }
    // Calls that the function makes say something else about the chosen objects.
    let mut met: BTreeMap<(usize, Subject), ExprId> = BTreeMap::new();
    for found in found.iter().filter(|found| handler(found).event.is_after()) {
        for (&subject, watching) in &homes[found.rule].watching {
            if let Watching::Chosen(chosen) = watching
                && chosen.functions.contains_key(&function)
                && !met.contains_key(&(found.rule, subject))
            {
                let ty = tables.program.variable(chosen.met).ty;
                let name = format!("{}#passed", tables.program.variable(chosen.met).name);
                let copy = tables.temporary(function, name, ty, source);
                let now = tables.load_variable(chosen.met);
                kept.push((tables.variable_place(copy), now));
                met.insert((found.rule, subject), tables.load_variable(copy));
            }
        }
    }
    let in_order = |events: [Event; 2]| -> Vec<&Listening> {
        let of = |event| {
            found
                .iter()
                .filter(move |found| handler(found).event == event)
        };
        events.into_iter().flat_map(of).collect()
    };
    let after = in_order([Event::Exit, Event::Return]);
    if !after.is_empty() {
        let between = graphs.before_exit(function);
        let values = Values {
            function: &name,
            arguments: &passed,
            result,
            source: Some(source),
            met: &met,
        };
        chain(tables, homes, graphs, &values, between, &after, diagnostics);
    }
    let before = in_order([Event::Call, Event::Entry]);
    if !before.is_empty() {
        let between = graphs.before_entry(function);
        let values = Values {
            function: &name,
            arguments: &now,
            result: None,
            source: Some(source),
            met: &BTreeMap::new(),
        };
        chain(
            tables,
            homes,
            graphs,
            &values,
            between,
            &before,
            diagnostics,
        );
    }
    for (place, value) in kept {
        let (start, old) = graphs.before_entry(function);
        graphs.edge(start, old, Op::Assign { place, value }, source);
    }
}

/// What handlers that run one after the other see.
pub(crate) struct Values<'a> {
    /// The function, by the name that the user knows.
    pub function: &'a str,
    pub arguments: &'a [ExprId],
    pub result: Option<ExprId>,
    pub source: Option<Source>,
    /// For rules that choose among known objects: whether this call is about the chosen one,
    /// where it is no longer in the variable that says so.
    pub met: &'a BTreeMap<(usize, Subject), ExprId>,
}

/// Weaves handlers in between two locations, one after the other.
pub(crate) fn chain(
    tables: &mut Tables,
    homes: &[Home<'_>],
    graphs: &mut Graphs,
    values: &Values<'_>,
    (start, end): (LocId, LocId),
    handlers: &[&Listening],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut at = start;
    for (position, found) in handlers.iter().enumerate() {
        let home = &homes[found.rule];
        let handler = &home.rule.handlers[found.handler];
        let next = if position + 1 == handlers.len() {
            end
        } else {
            graphs.location(graphs.function(start), LocationKind::Plain)
        };
        let site = Site {
            function: plain_name(values.function).to_owned(),
            event: handler.event,
            arguments: values.arguments.to_vec(),
            result: values.result,
            source: values.source,
            met: values
                .met
                .iter()
                .filter(|((rule, _), _)| *rule == found.rule)
                .map(|(&(_, subject), &met)| (subject, met))
                .collect(),
        };
        let into = Into {
            graphs,
            between: (at, next),
        };
        Body::weave(tables, home, &site, into, &handler.body, diagnostics);
        at = next;
    }
}

/// Says before every call that a rule watches whether it is about the chosen object.
fn announce(tables: &mut Tables, single: &Single, graphs: &mut Graphs, chosen: &Chosen) {
    for id in (0..graphs.edges().len() as u32).map(EdgeId) {
        let edge = &graphs.edges()[id.index()];
        let Op::Call {
            callee: Callee::Direct(function),
            arguments,
            ..
        } = &edge.op
        else {
            continue;
        };
        let Some(&position) = chosen.functions.get(function) else {
            continue;
        };
        let Some(&argument) = arguments.get(position) else {
            continue;
        };
        let met = watching::met(&tables.program, single, argument);
        let known = met.and_then(|met| {
            let condition = chosen.conditions.get(&met.object?).copied()?;
            Some((condition, met.nulls))
        });
        let int = tables.int();
        let condition = match known {
            Some((condition, Nulls::Never)) => condition,
            Some((condition, Nulls::Passed)) => {
                let not = tables.expr(ExprKind::Unary(UnaryOp::Not, argument), int);
                let some = tables.expr(ExprKind::Unary(UnaryOp::Not, not), int);
                tables.expr(ExprKind::Binary(BinaryOp::And, condition, some), int)
            }
            None => tables.constant(0, int),
        };
        let place = tables.variable_place(chosen.met);
        let bool = tables.program.place(place).ty;
        let value = tables.convert(condition, bool);
        let (from, middle) = graphs.split_before(id);
        graphs.edge(from, middle, Op::Assign { place, value }, chosen.source);
    }
}

/// The numbers of the arguments that statements mention.
fn arguments_in(ast: &Ast, statements: &[Stmt], out: &mut BTreeSet<u32>) {
    for statement in statements {
        let (exprs, inner) = statement.parts();
        for expr in exprs.into_iter().flat_map(|expr| ast.within(expr)) {
            if let NodeKind::Argument(number) = ast.node(expr).kind {
                out.insert(number);
            }
        }
        for statements in inner {
            arguments_in(ast, statements, out);
        }
    }
}

/// Whether a parameter may hold something else than what was passed.
fn changes(program: &Program, graphs: &Graphs, function: FuncId, formal: VarId) -> bool {
    if program.variable(formal).address_taken {
        return true;
    }
    let root = |mut place: PlaceId| loop {
        match program.place(place).kind {
            PlaceKind::Var(variable) => return Some(variable),
            PlaceKind::Deref(_) => return None,
            PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => place = base,
        }
    };
    graphs.edges_of(function).any(|(_, edge)| {
        let written = match &edge.op {
            Op::Assign { place, .. }
            | Op::Input { place, .. }
            | Op::Havoc { place }
            | Op::Allocate { place, .. } => Some(*place),
            Op::Call { result, .. } => *result,
            Op::Declare { variable } => return *variable == formal,
            Op::Skip
            | Op::Assume { .. }
            | Op::HavocMemory { .. }
            | Op::EndScope { .. }
            | Op::Free { .. }
            | Op::CopyMemory { .. }
            | Op::FillMemory { .. }
            | Op::SetOpen { .. }
            | Op::Unsupported { .. } => None,
        };
        written.and_then(root) == Some(formal)
    })
}
