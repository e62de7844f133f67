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
use crate::events::{Events, Listening, Primitive};
use crate::graph::Graph;
use crate::handler::{Body, Into};
use crate::single::Single;
use crate::tables::Tables;
use crate::typing::{Site, plain_name};
use crate::watching::{self, Chosen, Nulls, Subject, Watching};
use hardbop_cfront::ids::{ExprId, FuncId, PlaceId, TypeId, VarId};
use hardbop_cfront::program::*;
use hardbop_cfront::types::{Type, Variadic};
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
pub fn weave(program: Program, rules: &[Rule]) -> Woven {
    let program_variables = program.variables.len();
    let mut tables = Tables::new(program);
    let mut diagnostics = Vec::new();
    let mut homes: Vec<Home<'_>> = rules
        .iter()
        .map(|rule| settle(&mut tables, rule, program_variables))
        .collect();
    let events = Events::find(&tables.program, &homes, &mut diagnostics);
    let single = Single::of(&tables.program);
    for (rule, home) in homes.iter_mut().enumerate() {
        home.watching = watching::decide(&mut tables, home, &events, rule, &single);
    }
    let functions = tables.program.functions.len() as u32;
    let mut graphs: Vec<Graph> = (0..functions)
        .map(|index| Graph::of(&tables.program, FuncId(index)))
        .collect();
    for (&function, found) in &events.functions {
        let graph = &mut graphs[function.index()];
        weave_function(
            &mut tables,
            &homes,
            graph,
            function,
            found,
            &mut diagnostics,
        );
    }
    for (&primitive, found) in &events.primitives {
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
                for graph in &mut graphs {
                    announce(&mut tables, &single, graph, chosen);
                }
            }
        }
    }
    tables.program.locations.clear();
    tables.program.edges.clear();
    for (index, graph) in graphs.into_iter().enumerate() {
        graph.lay_out(&mut tables.program, FuncId(index as u32));
    }
    // A handler for several functions is woven in several times: its mistakes are told once, and
    // in the order of the text.
    let mut told = BTreeSet::new();
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    diagnostics.retain(|diagnostic: &Diagnostic| {
        told.insert((diagnostic.span, diagnostic.message.clone()))
    });
    Woven {
        program: tables.program,
        diagnostics,
    }
}

/// Adds a rule's text and its state to the program.
fn settle<'a>(tables: &mut Tables, rule: &'a Rule, program_variables: usize) -> Home<'a> {
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
        let (ty, values) = match variable.ty {
            StateType::Object => continue,
            StateType::Scalar(ty) => (tables.scalar_type(ty), Vec::new()),
            StateType::Enum { first, count } => {
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
    graph: &mut Graph,
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
        arguments_in(&handler(found).body, &mut used);
    }
    let mut passed = now.clone();
    let mut kept = Vec::new();
    for number in used {
        let Some(&formal) = formals.get(number as usize - 1) else {
            continue;
        };
        if !changes(&tables.program, graph, formal) {
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
        let between = graph.before_exit();
        let values = Values {
            function: (function, &name),
            arguments: &passed,
            result,
            source: Some(source),
            met: &met,
        };
        chain(tables, homes, graph, &values, between, &after, diagnostics);
    }
    let before = in_order([Event::Call, Event::Entry]);
    if !before.is_empty() {
        let between = graph.before_entry();
        let values = Values {
            function: (function, &name),
            arguments: &now,
            result: None,
            source: Some(source),
            met: &BTreeMap::new(),
        };
        chain(tables, homes, graph, &values, between, &before, diagnostics);
    }
    for (place, value) in kept {
        let (start, old) = graph.before_entry();
        graph.edge(start, old, Op::Assign { place, value }, source);
    }
}

/// What handlers that run one after the other see.
struct Values<'a> {
    /// The function whose graph they are part of, and the name that the user knows.
    function: (FuncId, &'a str),
    arguments: &'a [ExprId],
    result: Option<ExprId>,
    source: Option<Source>,
    /// For rules that choose among known objects: whether this call is about the chosen one,
    /// where it is no longer in the variable that says so.
    met: &'a BTreeMap<(usize, Subject), ExprId>,
}

/// Weaves handlers in between two locations, one after the other.
fn chain(
    tables: &mut Tables,
    homes: &[Home<'_>],
    graph: &mut Graph,
    values: &Values<'_>,
    (start, end): (u32, u32),
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
            graph.location(LocationKind::Plain)
        };
        let site = Site {
            function: plain_name(values.function.1).to_owned(),
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
            function: values.function.0,
            graph,
            between: (at, next),
        };
        Body::weave(tables, home, &site, into, &handler.body, diagnostics);
        at = next;
    }
}

/// Weaves handlers in around the edges that are calls of `malloc` or `free`.
fn weave_primitive(
    tables: &mut Tables,
    homes: &[Home<'_>],
    graphs: &mut Vec<Graph>,
    primitive: Primitive,
    found: &[Listening],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let is_after = |found: &&Listening| {
        let handler = &homes[found.rule].rule.handlers[found.handler];
        handler.event.is_after()
    };
    let (after, before): (Vec<&Listening>, Vec<&Listening>) = found.iter().partition(is_after);
    let sides = [(Side::Before, before), (Side::After, after)];
    for (side, mut handlers) in sides {
        if handlers.is_empty() {
            continue;
        }
        handlers.sort_by_key(|found| {
            let event = homes[found.rule].rule.handlers[found.handler].event;
            (event, found.rule, found.handler)
        });
        let listener = add_listener(tables, homes, primitive, side, &handlers);
        let described = tables.program.function(listener);
        let formals: Vec<VarId> = described.formals.clone();
        let mut arguments: Vec<ExprId> = formals
            .iter()
            .map(|&formal| tables.load_variable(formal))
            .collect();
        let result = match (primitive, side) {
            (Primitive::Malloc, Side::After) => arguments.pop(),
            _ => None,
        };
        let mut graph = Graph::new();
        let values = Values {
            function: (listener, primitive.name()),
            arguments: &arguments,
            result,
            source: None,
            met: &BTreeMap::new(),
        };
        let between = (graph.entry, graph.exit);
        chain(
            tables,
            homes,
            &mut graph,
            &values,
            between,
            &handlers,
            diagnostics,
        );
        graphs.push(graph);
        let types: Vec<TypeId> = formals
            .iter()
            .map(|&formal| tables.program.variable(formal).ty)
            .collect();
        for (index, graph) in graphs.iter_mut().enumerate() {
            let function = FuncId(index as u32);
            if function != listener && tables.program.function(function).origin == Origin::User {
                call_listener(tables, graph, primitive, side, listener, &types);
            }
        }
    }
}

/// Says before every call that a rule watches whether it is about the chosen object.
fn announce(tables: &mut Tables, single: &Single, graph: &mut Graph, chosen: &Chosen) {
    for index in 0..graph.edges.len() {
        let edge = &graph.edges[index];
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
        let from = edge.from;
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
        let middle = graph.location(LocationKind::Plain);
        graph.edges[index].from = middle;
        graph.edge(from, middle, Op::Assign { place, value }, chosen.source);
    }
}

/// Before or after the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// A function that holds the handlers of one side of a primitive; its graph comes later.
fn add_listener(
    tables: &mut Tables,
    homes: &[Home<'_>],
    primitive: Primitive,
    side: Side,
    handlers: &[&Listening],
) -> FuncId {
    let id = FuncId(tables.program.functions.len() as u32);
    let word = match side {
        Side::Before => "entry",
        Side::After => "exit",
    };
    let home = &homes[handlers[0].rule];
    let handler = &home.rule.handlers[handlers[0].handler];
    let source = home.source(&tables.program, handler.functions[0].span);
    let pointer = tables.void_pointer();
    let mut parameters = vec![match primitive {
        Primitive::Malloc => ("size", tables.object_type()),
        Primitive::Free => ("pointer", pointer),
    }];
    if (primitive, side) == (Primitive::Malloc, Side::After) {
        parameters.push(("result", pointer));
    }
    let formals = parameters
        .iter()
        .map(|&(name, ty)| {
            let kind = VarKind::Formal(id);
            tables.variable(name.to_owned(), ty, kind, source, Initial::None)
        })
        .collect();
    let result = tables.program.types.intern(Type::Void);
    let ty = tables.program.types.intern(Type::Function {
        result,
        parameters: parameters.iter().map(|&(_, ty)| ty).collect(),
        variadic: Variadic::No,
    });
    let nowhere = hardbop_cfront::ids::LocId(0);
    tables.program.functions.push(Function {
        name: format!("{}.{word}", primitive.name()),
        ty,
        formals,
        locals: Vec::new(),
        result: None,
        origin: Origin::Model,
        locations: 0..0,
        entry: nowhere,
        exit: nowhere,
        source,
    });
    id
}

/// Calls a listener before or after every edge of a graph that is a call of the primitive.
fn call_listener(
    tables: &mut Tables,
    graph: &mut Graph,
    primitive: Primitive,
    side: Side,
    listener: FuncId,
    types: &[TypeId],
) {
    for index in 0..graph.edges.len() {
        let edge = &graph.edges[index];
        let Some(mut arguments) = primitive.arguments(&edge.op) else {
            continue;
        };
        let (from, to, source) = (edge.from, edge.to, edge.source);
        if let (Side::After, Op::Allocate { place, .. }) = (side, &edge.op) {
            let place: PlaceId = *place;
            arguments.push(tables.load(place));
        }
        let arguments = arguments
            .into_iter()
            .zip(types)
            .map(|(argument, &ty)| tables.convert(argument, ty))
            .collect();
        let call = Op::Call {
            callee: Callee::Direct(listener),
            arguments,
            result: None,
        };
        let middle = graph.location(LocationKind::Plain);
        match side {
            Side::Before => {
                graph.edges[index].from = middle;
                graph.edge(from, middle, call, source);
            }
            Side::After => {
                graph.edges[index].to = middle;
                graph.edge(middle, to, call, source);
            }
        }
    }
}

/// The numbers of the arguments that statements mention.
fn arguments_in(statements: &[Stmt], out: &mut BTreeSet<u32>) {
    for statement in statements {
        let (exprs, inner) = statement.parts();
        let mut work = exprs;
        while let Some(expr) = work.pop() {
            if let ExprWord::Argument(number) = expr.kind {
                out.insert(number);
            }
            work.extend(expr.operands());
        }
        for statements in inner {
            arguments_in(statements, out);
        }
    }
}

/// Whether a parameter may hold something else than what was passed.
fn changes(program: &Program, graph: &Graph, formal: VarId) -> bool {
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
    graph.edges.iter().any(|edge| {
        let written = match &edge.op {
            Op::Assign { place, .. }
            | Op::Input { place, .. }
            | Op::Havoc { place }
            | Op::Allocate { place, .. } => Some(*place),
            Op::Call { result, .. } => *result,
            Op::VaArg { place, list } => {
                if root(*list) == Some(formal) {
                    return true;
                }
                Some(*place)
            }
            Op::VaStart { list } => Some(*list),
            Op::VaCopy { to, .. } => Some(*to),
            Op::Declare { variable } => return *variable == formal,
            Op::Skip
            | Op::Assume { .. }
            | Op::HavocMemory { .. }
            | Op::EndScope { .. }
            | Op::Free { .. }
            | Op::CopyMemory { .. }
            | Op::FillMemory { .. }
            | Op::Unsupported { .. } => None,
        };
        written.and_then(root) == Some(formal)
    })
}
