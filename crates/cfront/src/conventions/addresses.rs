//! Places where a program looks at more of its addresses than C says of them: the order and the
//! distance of different objects, addresses as numbers, addresses that are used again, string
//! literals that may be one.

use super::View;
use crate::control::cyclic;
use crate::ids::{ExprId, FuncId, LocId, TypeId, VarId};
use crate::operands::{Operand, each_below, each_operand};
use crate::points_to::{Class, ClassId, leaves};
use crate::program::{
    BinaryOp, CheckKind, Edge, ExprKind, Initial, InitialValue, LocationKind, Op, PlaceKind,
    Source, UnaryOp, VarKind,
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
        "objects lie at addresses of Hardbop's choice, all multiples of 16: an address is used as a \
         number at",
        "no object has the address of an earlier one that is gone: addresses are compared at",
        "different string literals are different objects: their addresses are compared at",
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
    let hidden = !makes_numbers(view);
    for (_, edge) in view.user_edges() {
        if asks_by_itself(view, edge) {
            continue;
        }
        let mut roots = Vec::new();
        each_operand(&edge.op, &mut |operand| roots.push(operand));
        each_below(program, roots, &mut |operand| {
            let Operand::Expr(id) = operand else {
                return;
            };
            if let Some((kind, classes)) = look(view, id)
                && !(hidden && kind == Kind::Number)
            {
                out.push(Look {
                    source: edge.source,
                    kind,
                    classes,
                });
            }
        });
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

/// Whether the program has a way to make a number of an address: a cast, a union, a copy of bytes.
/// Where it has none, that points-to finds addresses in integers is want of precision.
fn makes_numbers(view: &View<'_>) -> bool {
    let program = view.program;
    let types = &program.types;
    let is_pointer = |ty| matches!(types.get(ty), Type::Pointer(_));
    let is_number = |ty| matches!(types.get(ty), Type::Int { .. } | Type::Float(_));
    let mut found = false;
    for (_, edge) in view.user_edges() {
        found |= matches!(edge.op, Op::CopyMemory { .. });
        let mut roots = Vec::new();
        each_operand(&edge.op, &mut |operand| roots.push(operand));
        each_below(program, roots, &mut |operand| match operand {
            Operand::Expr(id) => {
                let expr = program.expr(id);
                if let ExprKind::Convert(from) = expr.kind {
                    let from = program.expr(from).ty;
                    found |= is_pointer(from) && is_number(expr.ty);
                    found |= shows_pointers(types, from, expr.ty);
                }
            }
            Operand::Place(id) => {
                if let PlaceKind::Field(base, _) = program.place(id).kind
                    && let Type::Record(record) = types.get(program.place(base).ty)
                {
                    found |= types.record(*record).kind == RecordKind::Union;
                }
            }
        });
    }
    found
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

fn look(view: &View<'_>, id: ExprId) -> Option<(Kind, BTreeSet<ClassId>)> {
    let program = view.program;
    let expr = program.expr(id);
    let is_pointer = |e: ExprId| matches!(program.types.get(program.expr(e).ty), Type::Pointer(_));
    let both = |a, b| Some(BTreeSet::from([objects(view, a)?, objects(view, b)?]));
    let numbers = |operands: &[ExprId]| {
        let found: BTreeSet<ClassId> = operands
            .iter()
            .filter(|&&e| !is_pointer(e))
            .filter_map(|&e| address(view, e))
            .collect();
        (!found.is_empty()).then_some((Kind::Number, found))
    };
    match expr.kind {
        ExprKind::PointerDifference { left, right, .. } => Some((Kind::Order, both(left, right)?)),
        ExprKind::Binary(op, left, right) => match op {
            BinaryOp::Eq | BinaryOp::Ne if is_pointer(left) => {
                Some((Kind::Equality, both(left, right)?))
            }
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge if is_pointer(left) => {
                Some((Kind::Order, both(left, right)?))
            }
            BinaryOp::Eq | BinaryOp::Ne => {
                let zero = |e: ExprId| matches!(program.expr(e).kind, ExprKind::Int(0));
                if zero(left) || zero(right) {
                    return None;
                }
                numbers(&[left, right])
            }
            BinaryOp::And | BinaryOp::Or => None,
            _ => numbers(&[left, right]),
        },
        ExprKind::Unary(UnaryOp::Not, _) => None,
        ExprKind::Unary(_, operand) => numbers(&[operand]),
        // Bytes of an address that is in memory are numbers.
        ExprKind::Load(_) => {
            let wide = program.types.model().pointer_size() as u32 * 8;
            let narrow =
                matches!(program.types.get(expr.ty), Type::Int { width, .. } if *width < wide);
            let spot = if narrow {
                view.points_to.pointer(id)
            } else {
                None
            };
            let class = spot?.class;
            let known = &view.points_to.classes()[class.0 as usize];
            let some = !known.variables.is_empty() || !known.allocations.is_empty();
            some.then(|| (Kind::Number, BTreeSet::from([class])))
        }
        // A part of an address is a number.
        ExprKind::Convert(operand) => {
            let wide = program.types.model().pointer_size() as u32 * 8;
            let narrow =
                matches!(program.types.get(expr.ty), Type::Int { width, .. } if *width < wide);
            let class = if narrow { address(view, operand) } else { None };
            class.map(|class| (Kind::Number, BTreeSet::from([class])))
        }
        _ => None,
    }
}

/// The class that a pointer points into, if there are objects in it.
fn objects(view: &View<'_>, id: ExprId) -> Option<ClassId> {
    let spot = view.points_to.pointer(id)?;
    let class = &view.points_to.classes()[spot.class.0 as usize];
    let some = class.external || !class.variables.is_empty() || !class.allocations.is_empty();
    some.then_some(spot.class)
}

/// The class that an integer as wide as a pointer holds an address into.
fn address(view: &View<'_>, id: ExprId) -> Option<ClassId> {
    let program = view.program;
    let expr = program.expr(id);
    let wide = program.types.model().pointer_size() as u32 * 8;
    match (expr.kind, program.types.get(expr.ty)) {
        (_, Type::Pointer(_)) => objects(view, id),
        (_, Type::Int { width, .. }) if *width >= wide => {
            let spot = view.points_to.pointer(id)?;
            let class = &view.points_to.classes()[spot.class.0 as usize];
            let some = !class.variables.is_empty() || !class.allocations.is_empty();
            some.then_some(spot.class)
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

/// How often objects begin and whether they end.
struct Lives {
    /// By location, whether it lies on a cycle of its function.
    cyclic: Vec<bool>,
    /// By function, whether it is called at most once.
    once: Vec<bool>,
    freed: BTreeSet<ClassId>,
    /// Locals that end inside of their function.
    scoped: BTreeSet<VarId>,
}

impl Lives {
    fn new(view: &View<'_>) -> Lives {
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
                Op::Free { pointer } => freed.extend(objects(view, *pointer)),
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
    fn objects(&self, view: &View<'_>, id: ClassId) -> usize {
        let class = &view.points_to.classes()[id.0 as usize];
        let mut count = class.variables.len();
        for edge in &class.allocations {
            let from = view.program.edges[edge.index()].from;
            let function = view.program.locations[from.index()].function;
            let single = !self.cyclic[from.index()] && self.once[function.index()];
            count += if single { 1 } else { 2 };
        }
        count += if class.external { 2 } else { 0 };
        count
    }

    /// Whether an object of a class may end before another one begins.
    fn is_reused(&self, view: &View<'_>, id: ClassId) -> bool {
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

/// Whether two string literals of some classes may be one object: one is the end of the other.
fn may_be_one(view: &View<'_>, classes: &BTreeSet<ClassId>) -> bool {
    let of = |id: &ClassId| &view.points_to.classes()[id.0 as usize];
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
        variable.kind == VarKind::Literal && variable.name.contains('"')
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
