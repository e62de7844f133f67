//! Handlers of `malloc` and `free`, which are edges of the program and not functions: they become
//! functions of their own, which are called before and after.

use crate::events::{Listening, Primitive};
use crate::watching::object_type;
use crate::weave::{Home, Values, chain};
use hardbop_cfront::edit::{Graphs, Tables};
use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
use hardbop_cfront::program::{Callee, Function, Initial, Op, Origin, VarKind};
use hardbop_cfront::types::{Type, Variadic};
use hardbop_diagnostics::Diagnostic;
use std::collections::BTreeMap;

/// Weaves handlers in around the edges that are calls of `malloc` or `free`.
pub(crate) fn weave_primitive(
    tables: &mut Tables,
    homes: &[Home<'_>],
    graphs: &mut Graphs,
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
        let between = graphs.add_function(listener);
        let values = Values {
            function: primitive.name(),
            arguments: &arguments,
            result,
            source: None,
            met: &BTreeMap::new(),
        };
        chain(
            tables,
            homes,
            graphs,
            &values,
            between,
            &handlers,
            diagnostics,
        );
        let types: Vec<TypeId> = formals
            .iter()
            .map(|&formal| tables.program.variable(formal).ty)
            .collect();
        for function in (0..tables.program.functions.len() as u32).map(FuncId) {
            if function != listener && tables.program.function(function).origin == Origin::User {
                let calls = calls_of(graphs, function, primitive);
                call_listener(tables, graphs, &calls, primitive, side, (listener, &types));
            }
        }
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
        Primitive::Malloc => ("size", object_type(tables)),
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
    let nowhere = LocId(0);
    tables.program.add_function(Function {
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
    })
}

/// The edges of a function that are calls of the primitive.
fn calls_of(graphs: &Graphs, function: FuncId, primitive: Primitive) -> Vec<EdgeId> {
    graphs
        .edges_of(function)
        .filter(|(_, edge)| primitive.arguments(&edge.op).is_some())
        .map(|(id, _)| id)
        .collect()
}

/// Calls a listener, with arguments of these types, before or after edges that are calls of the
/// primitive.
fn call_listener(
    tables: &mut Tables,
    graphs: &mut Graphs,
    calls: &[EdgeId],
    primitive: Primitive,
    side: Side,
    (listener, types): (FuncId, &[TypeId]),
) {
    for &id in calls {
        let edge = &graphs.edges()[id.index()];
        let Some(mut arguments) = primitive.arguments(&edge.op) else {
            continue;
        };
        let source = edge.source;
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
        let (from, to) = match side {
            Side::Before => graphs.split_before(id),
            Side::After => graphs.split_after(id),
        };
        graphs.edge(from, to, call, source);
    }
}
