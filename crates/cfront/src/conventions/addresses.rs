//! Places where a program looks at more of its addresses than C says of them: the order and the
//! distance of different objects, addresses as numbers, addresses that are used again, literals
//! that may be one.
//!
//! Points-to follows the bits of addresses through values of every type, so an address is used as a
//! number where something is computed of such a value, be it a whole address or a byte of one, by
//! the program or by a function of the library that it calls.

use super::View;
use super::lives::Lives;
use crate::ids::{ExprId, FuncId, LocId, TypeId, VarId};
use crate::operands::{Operand, each_below, each_load, each_operand};
use crate::points_to::{Class, ClassId, Spot, leaves};
use crate::program::{
    BinaryOp, CheckKind, Edge, ExprKind, Initial, InitialValue, LocationKind, Op, Origin,
    PlaceKind, Program, Root, Source, UnaryOp, VarKind,
};
use crate::types::{RecordKind, Type, Types};
use std::collections::BTreeSet;

pub(super) fn find(view: &View<'_>) -> Vec<String> {
    let looks = looks(view);
    if looks.is_empty() {
        return Vec::new();
    }
    let lives = Lives::new(view);
    let stepped = stepped(view);
    let numbers = numbers_as_pointers(view);
    let mut first: [Option<Source>; 4] = [None; 4];
    let mut note = |kind: usize, source: Source| {
        let known = first[kind].get_or_insert(source);
        *known = (*known).min(source);
    };
    for look in &looks {
        let several =
            look.classes.len() > 1 || look.classes.iter().any(|&id| lives.objects(view, id) > 1);
        if several && look.classes.iter().any(|&id| lives.is_reused(view, id)) {
            note(2, look.source);
        }
        if look.classes.iter().any(|id| numbers.contains(id)) {
            note(1, look.source);
        }
        match look.kind {
            Kind::Number => note(1, look.source),
            Kind::Order if several => note(0, look.source),
            Kind::Equality if several => {
                if look.classes.iter().any(|id| stepped.contains(id)) {
                    note(0, look.source);
                }
                if may_be_one(view, &look.classes) {
                    note(3, look.source);
                }
            }
            Kind::Order | Kind::Equality => {}
        }
    }
    const TEXTS: [&str; 4] = [
        "different objects lie in one order and at fixed distances: addresses are compared at",
        "objects lie at addresses of Hardbop's choice, aligned as C asks and no more (those of the \
         heap to 16 bytes): an address is used as a number at",
        "objects that come after others have gone lie where Hardbop puts them: addresses are \
         compared at",
        "different literals are different objects: their addresses are compared at",
    ];
    let texts = TEXTS.iter().zip(first);
    texts
        .filter_map(|(text, source)| Some(format!("{text} {}", view.place(source?))))
        .collect()
}

/// A place where addresses are looked at.
struct Look {
    source: Source,
    kind: Kind,
    /// The objects that it may be about.
    classes: BTreeSet<ClassId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Whether two addresses are the same.
    Equality,
    /// Which one is smaller, or how far apart they are.
    Order,
    /// An address in arithmetic of integers.
    Number,
}

fn looks(view: &View<'_>) -> Vec<Look> {
    let program = view.program;
    let mut out = Vec::new();
    let numbers_by = numbers_by(view);
    let called = called_at(view);
    for (_, edge) in view.edges(|_| true) {
        let function = program.locations[edge.from.index()].function;
        let is_users = program.function(function).origin == Origin::User;
        let source = if is_users {
            Some(edge.source)
        } else {
            called[function.index()]
        };
        let Some(source) = source else {
            continue;
        };
        let seen = is_users || takes_any_object(view, function) || numbers_by == Some(By::View);
        if !seen || asks_by_itself(view, edge) {
            continue;
        }
        let mut found: Vec<_> = look_of_edge(view, &edge.op).into_iter().collect();
        let mut roots = Vec::new();
        each_operand(&edge.op, &mut |operand| roots.push(operand));
        each_below(program, roots, &mut |operand| {
            found.extend(match operand {
                Operand::Expr(id) => look(view, id),
                Operand::Place(id) => match program.place(id).kind {
                    PlaceKind::Index(_, index) => numbers(view, &[index]),
                    _ => None,
                },
            });
        });
        // What the library does with pointers, it does as the standard says; but of bytes that it
        // reads behind them, it does not know what they are.
        if is_users {
            found.retain(|&(kind, _)| kind != Kind::Number || numbers_by.is_some());
        } else {
            let reads = reads_behind_pointers(view, &edge.op);
            found.retain(|&(kind, _)| kind == Kind::Number && reads);
        }
        out.extend(found.into_iter().map(|(kind, classes)| Look {
            source,
            kind,
            classes,
        }));
    }
    out
}

/// Whether an edge belongs to a check that looks at addresses, which the program does not: where
/// its answer depends on the layout, that is said where the check is made.
fn asks_by_itself(view: &View<'_>, edge: &Edge) -> bool {
    let program = view.program;
    let about_addresses = |to: LocId| match program.locations[to.index()].kind {
        LocationKind::Error(check) => matches!(
            program.checks[check.index()].kind,
            CheckKind::Alignment | CheckKind::Overlap
        ),
        _ => false,
    };
    matches!(edge.op, Op::Assume { .. })
        && program
            .edges_from(edge.from)
            .any(|(_, other)| about_addresses(other.to))
}

/// For every function of the library, where the program first calls it, itself or through others.
fn called_at(view: &View<'_>) -> Vec<Option<Source>> {
    let program = view.program;
    let mut first: Vec<Option<Source>> = vec![None; program.functions.len()];
    let mut calls: Vec<Vec<FuncId>> = vec![Vec::new(); program.functions.len()];
    let mut work = Vec::new();
    for (_, edge) in view.edges(|_| true) {
        let Op::Call { callee, .. } = &edge.op else {
            continue;
        };
        let caller = program.locations[edge.from.index()].function;
        for target in callee.targets() {
            if program.function(caller).origin == Origin::User {
                work.push((edge.source, *target));
            } else {
                calls[caller.index()].push(*target);
            }
        }
    }
    work.sort();
    work.reverse();
    while let Some((source, function)) = work.pop() {
        if first[function.index()].is_none_or(|known| source < known) {
            first[function.index()] = Some(source);
            work.extend(calls[function.index()].iter().map(|&next| (source, next)));
        }
    }
    first
}

/// Whether a function of the library takes any object (`void *`), to look at its bytes.
fn takes_any_object(view: &View<'_>, function: FuncId) -> bool {
    let types = &view.program.types;
    let any = |&formal: &VarId| match types.get(view.program.variable(formal).ty) {
        Type::Pointer(to) => matches!(types.get(*to), Type::Void),
        _ => false,
    };
    view.program.function(function).formals.iter().any(any)
}

fn reads_behind_pointers(view: &View<'_>, op: &Op) -> bool {
    let mut found = false;
    each_load(view.program, op, &mut |place| {
        found |= matches!(view.program.root(place), Root::Pointer(_));
    });
    found
}

/// How a program makes a number of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// By a copy of bytes.
    Copy,
    /// By a cast or a union.
    View,
}

/// By which means the program can make a number of an address. Where it has none, that points-to
/// finds addresses in integers is want of precision.
fn numbers_by(view: &View<'_>) -> Option<By> {
    let program = view.program;
    let mut roots = Vec::new();
    let mut copies = false;
    for (_, edge) in view.user_edges() {
        copies |= matches!(edge.op, Op::CopyMemory { .. });
        each_operand(&edge.op, &mut |operand| roots.push(operand));
    }
    for variable in &program.variables {
        if let Initial::Data(parts) = &variable.initial {
            roots.extend(parts.iter().filter_map(|part| match part.value {
                InitialValue::Scalar(value) | InitialValue::Bits(value, _) => {
                    Some(Operand::Expr(value))
                }
                InitialValue::Bytes(_) => None,
            }));
        }
    }
    let mut views = false;
    each_below(program, roots, &mut |operand| {
        views |= shows_a_number(program, operand)
    });
    match (views, copies) {
        (true, _) => Some(By::View),
        (false, true) => Some(By::Copy),
        (false, false) => None,
    }
}

/// Whether something looks at a pointer as a number, or at a number as a pointer.
fn shows_a_number(program: &Program, operand: Operand) -> bool {
    let types = &program.types;
    let is_pointer = |ty| matches!(types.get(ty), Type::Pointer(_));
    let is_number = |ty| matches!(types.get(ty), Type::Int { .. } | Type::Float(_));
    match operand {
        Operand::Expr(id) => {
            let expr = program.expr(id);
            match expr.kind {
                ExprKind::Convert(from) => {
                    let from = program.expr(from).ty;
                    is_pointer(from) && is_number(expr.ty)
                        || is_number(from) && is_pointer(expr.ty)
                        || shows_pointers(types, from, expr.ty)
                }
                ExprKind::Int(value) => value != 0 && is_pointer(expr.ty),
                _ => false,
            }
        }
        Operand::Place(id) => match program.place(id).kind {
            PlaceKind::Field(base, _) => match types.get(program.place(base).ty) {
                Type::Record(record) => types.record(*record).kind == RecordKind::Union,
                _ => false,
            },
            _ => false,
        },
    }
}

/// Whether a cast of a pointer makes integers of what may be pointers behind it.
fn shows_pointers(types: &Types, from: TypeId, to: TypeId) -> bool {
    let (Type::Pointer(from), Type::Pointer(to)) = (types.get(from), types.get(to)) else {
        return false;
    };
    let hidden = matches!(types.get(*from), Type::Void)
        || leaves(types, *from)
            .iter()
            .any(|&(_, leaf, _)| matches!(types.get(leaf), Type::Pointer(_)));
    hidden && matches!(types.get(*to), Type::Int { .. })
}

/// What an expression does with addresses.
fn look(view: &View<'_>, id: ExprId) -> Option<(Kind, BTreeSet<ClassId>)> {
    let program = view.program;
    let expr = program.expr(id);
    let is_pointer = |e: ExprId| matches!(program.types.get(program.expr(e).ty), Type::Pointer(_));
    match expr.kind {
        ExprKind::PointerDifference { left, right, .. } => pointers(view, Kind::Order, left, right),
        ExprKind::Binary(op, left, right) => match op {
            BinaryOp::Eq | BinaryOp::Ne if is_pointer(left) => {
                pointers(view, Kind::Equality, left, right)
            }
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge if is_pointer(left) => {
                pointers(view, Kind::Order, left, right)
            }
            BinaryOp::Eq | BinaryOp::Ne if is_zero(view, right) => asked_for_null(view, left),
            BinaryOp::Eq | BinaryOp::Ne if is_zero(view, left) => asked_for_null(view, right),
            BinaryOp::And | BinaryOp::Or => {
                asked_for_null(view, left).or_else(|| asked_for_null(view, right))
            }
            _ => numbers(view, &[left, right]),
        },
        ExprKind::Unary(UnaryOp::Not, operand) => asked_for_null(view, operand),
        ExprKind::Unary(_, operand) => numbers(view, &[operand]),
        ExprKind::Overflows { left, right, .. } => numbers(view, &[left, right]),
        ExprKind::PointerAdd { index, .. } => numbers(view, &[index]),
        ExprKind::Rounded { op, operands, .. } => numbers(view, &operands[..op.arity()]),
        ExprKind::Conditional { condition, .. } => asked_for_null(view, condition),
        ExprKind::Convert(operand) => {
            let wide = program.types.model().pointer_size() as u32 * 8;
            match program.types.get(expr.ty) {
                Type::Bool => asked_for_null(view, operand),
                // A part of an address is a number, and so is one that is rounded.
                Type::Int { width, .. } if *width < wide && is_whole(view, operand) => {
                    let class = address(view, operand)?;
                    Some((Kind::Number, BTreeSet::from([class])))
                }
                Type::Float(_) => numbers(view, &[operand]),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What an edge itself does with addresses.
fn look_of_edge(view: &View<'_>, op: &Op) -> Option<(Kind, BTreeSet<ClassId>)> {
    match *op {
        Op::Assume { condition, .. } => asked_for_null(view, condition),
        Op::Allocate { size, .. } | Op::CopyMemory { size, .. } => numbers(view, &[size]),
        Op::FillMemory { byte, size, .. } => numbers(view, &[byte, size]),
        _ => None,
    }
}

/// Two pointers are compared.
fn pointers(
    view: &View<'_>,
    kind: Kind,
    left: ExprId,
    right: ExprId,
) -> Option<(Kind, BTreeSet<ClassId>)> {
    match (objects(view, left), objects(view, right)) {
        (Some(left), Some(right)) => Some((kind, BTreeSet::from([left, right]))),
        (Some(class), None) if !is_zero(view, right) => {
            Some((Kind::Number, BTreeSet::from([class])))
        }
        (None, Some(class)) if !is_zero(view, left) => {
            Some((Kind::Number, BTreeSet::from([class])))
        }
        _ => None,
    }
}

fn is_zero(view: &View<'_>, id: ExprId) -> bool {
    matches!(view.program.expr(id).kind, ExprKind::Int(0))
}

/// Integers and floating-point numbers are computed with.
fn numbers(view: &View<'_>, operands: &[ExprId]) -> Option<(Kind, BTreeSet<ClassId>)> {
    let program = view.program;
    let is_pointer = |e: ExprId| matches!(program.types.get(program.expr(e).ty), Type::Pointer(_));
    let found: BTreeSet<ClassId> = operands
        .iter()
        .filter(|&&e| !is_pointer(e))
        .filter_map(|&e| address(view, e))
        .collect();
    (!found.is_empty()).then_some((Kind::Number, found))
}

/// Something is asked whether it is 0: of a whole address that is known, of a part it is not.
fn asked_for_null(view: &View<'_>, id: ExprId) -> Option<(Kind, BTreeSet<ClassId>)> {
    (!is_whole(view, id)).then(|| numbers(view, &[id]))?
}

/// Whether a value has all bits of the address that it may be.
fn is_whole(view: &View<'_>, mut id: ExprId) -> bool {
    let program = view.program;
    let wide = program.types.model().pointer_size() as u32 * 8;
    loop {
        let expr = program.expr(id);
        match program.types.get(expr.ty) {
            Type::Int { width, .. } if *width >= wide => {}
            Type::Pointer(_) => {}
            _ => return false,
        }
        let ExprKind::Convert(from) = expr.kind else {
            return true;
        };
        id = from;
    }
}

/// The class that a pointer points into, if there is anything in it.
pub(super) fn objects(view: &View<'_>, id: ExprId) -> Option<ClassId> {
    let spot = view.points_to.pointer(id)?;
    let class = &view.points_to.classes()[spot.class.0 as usize];
    (class.external || is_inhabited(class)).then_some(spot.class)
}

fn is_inhabited(class: &Class) -> bool {
    !class.variables.is_empty() || !class.allocations.is_empty() || !class.functions.is_empty()
}

/// The class into which a value has an address, or a part of one.
fn address(view: &View<'_>, id: ExprId) -> Option<ClassId> {
    match view.program.types.get(view.program.expr(id).ty) {
        Type::Pointer(_) => objects(view, id),
        Type::Int { .. } | Type::Float(_) => {
            let spot = view.points_to.pointer(id)?;
            let class = &view.points_to.classes()[spot.class.0 as usize];
            is_inhabited(class).then_some(spot.class)
        }
        _ => None,
    }
}

/// The classes of pointers that are moved, so that they may point behind their object.
fn stepped(view: &View<'_>) -> BTreeSet<ClassId> {
    let program = view.program;
    let moved = |id: ExprId| match program.expr(id).kind {
        ExprKind::PointerAdd { index, .. } => !matches!(program.expr(index).kind, ExprKind::Int(0)),
        ExprKind::AddressOf(place) => {
            matches!(program.place(place).kind, PlaceKind::Index(_, index)
                if !matches!(program.expr(index).kind, ExprKind::Int(0)))
        }
        _ => false,
    };
    (0..program.exprs.len() as u32)
        .map(ExprId)
        .filter(|&id| moved(id))
        .filter_map(|id| objects(view, id))
        .collect()
}

/// The classes of pointers that may be plain numbers: constants, or integers that were cast.
fn numbers_as_pointers(view: &View<'_>) -> BTreeSet<ClassId> {
    let program = view.program;
    let is_number = |id: ExprId| {
        let expr = program.expr(id);
        matches!(program.types.get(expr.ty), Type::Pointer(_))
            && match expr.kind {
                ExprKind::Int(value) => value != 0,
                ExprKind::Convert(from) => {
                    !matches!(program.types.get(program.expr(from).ty), Type::Pointer(_))
                }
                _ => false,
            }
    };
    let mut found = BTreeSet::new();
    // A value that has a number in it, and the spot that it is written to.
    let mut written = |value: ExprId, to: Option<Spot>| {
        let mut numbers = false;
        each_below(program, [Operand::Expr(value)], &mut |operand| {
            numbers |= matches!(operand, Operand::Expr(id) if is_number(id));
        });
        if numbers {
            found.extend(view.points_to.pointer(value).map(|spot| spot.class));
            let pointee = to.and_then(|spot| view.points_to.pointee(spot));
            found.extend(pointee.map(|spot| spot.class));
        }
    };
    for (_, edge) in view.edges(|_| true) {
        match &edge.op {
            Op::Assign { place, value } => written(*value, view.points_to.place(*place)),
            Op::Call {
                callee, arguments, ..
            } => {
                for target in callee.targets() {
                    let formals = &program.function(*target).formals;
                    for (&value, &formal) in arguments.iter().zip(formals) {
                        written(value, view.points_to.variable(formal));
                    }
                }
            }
            _ => {}
        }
    }
    for (index, variable) in program.variables.iter().enumerate() {
        let Initial::Data(parts) = &variable.initial else {
            continue;
        };
        let start = view.points_to.variable(VarId(index as u32));
        for part in parts {
            if let InitialValue::Scalar(value) = part.value {
                let bytes = (part.offset_bits / 8) as i64;
                written(value, start.map(|spot| view.points_to.part(spot, bytes)));
            }
        }
    }
    found
}

/// Whether two literals of some classes may be one object: compound ones, or texts of which one is
/// the end of the other.
fn may_be_one(view: &View<'_>, classes: &BTreeSet<ClassId>) -> bool {
    let of = |id: &ClassId| &view.points_to.classes()[id.0 as usize];
    let compound = |id: &&VarId| view.program.variable(**id).is_compound_literal();
    let compounds: BTreeSet<&VarId> = classes
        .iter()
        .flat_map(|id| of(id).variables.iter().filter(compound))
        .collect();
    if compounds.len() > 1 {
        return true;
    }
    let texts: BTreeSet<VarId> = classes
        .iter()
        .flat_map(|id| literals(view, of(id)))
        .collect();
    let bytes: Vec<Vec<u8>> = texts.iter().map(|&id| literal(view, id)).collect();
    if bytes.len() > 500 {
        return true;
    }
    let ends = |a: &Vec<u8>, b: &Vec<u8>| a.ends_with(b) || b.ends_with(a);
    let mut rest = bytes.as_slice();
    while let [first, others @ ..] = rest {
        if others.iter().any(|other| ends(first, other)) {
            return true;
        }
        rest = others;
    }
    false
}

fn literals<'a>(view: &'a View<'_>, class: &'a Class) -> impl Iterator<Item = VarId> + 'a {
    let text = |id: &VarId| {
        let variable = view.program.variable(*id);
        variable.kind == VarKind::Literal && !variable.is_compound_literal()
    };
    class.variables.iter().copied().filter(text)
}

/// The bytes of a string literal.
fn literal(view: &View<'_>, id: VarId) -> Vec<u8> {
    let variable = view.program.variable(id);
    let mut bytes = vec![0; view.program.types.size_of(variable.ty) as usize];
    if let Initial::Data(parts) = &variable.initial {
        for part in parts {
            if let InitialValue::Bytes(given) = &part.value {
                let start = (part.offset_bits / 8) as usize;
                for (at, byte) in given.iter().enumerate() {
                    if let Some(to) = bytes.get_mut(start + at) {
                        *to = *byte;
                    }
                }
            }
        }
    }
    bytes
}
