//! Which object a rule watches, and how a handler knows whether it has met it.
//!
//! `watch $1` is about one arbitrary object. In general that is an unknown address, chosen before
//! the program starts, with which every argument is compared. Where every call of the functions
//! concerned passes a constant or the address of a variable (or of a part of one), no address is
//! needed: the objects are known, a few truth values choose one of them, and each call says
//! whether it is about the chosen one. The same holds where a call passes a pointer that can point
//! to one object only ([`single`](crate::single)).
//!
//! With `track`, objects begin their lives in sight of the rule. One of them is chosen then, and
//! what it was before does not matter, since the state begins anew.

use crate::ast::*;
use crate::events::{Events, Listening};
use crate::single::Single;
use crate::weave::Home;
use hardbop_cfront::edit::Tables;
use hardbop_cfront::ids::{ExprId, FuncId, PlaceId, TypeId, VarId};
use hardbop_cfront::program::{
    BinaryOp, Callee, ExprKind, Initial, ObjectCandidate as Known, Op, PlaceKind, Program, Source,
    UnaryOp, VarKind, WatchedObject, WhichObject,
};
use hardbop_cfront::types::Type;
use std::collections::{BTreeMap, BTreeSet};

/// What is watched: by `watch`, or by an `object` of the state at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Watch,
    Object(usize),
}

/// How an object is watched.
#[derive(Clone, Debug)]
pub(crate) enum Watching {
    /// It has this address.
    Address(VarId),
    /// There is only one.
    TheOnlyOne(Nulls),
    /// It is one of several that are known.
    Chosen(Chosen),
    /// It is one that began its life in sight of the rule.
    Tracked(Tracked),
    /// There is only one, and it is watched from when it begins its life.
    TheOnlyOneTracked {
        /// Whether it has begun.
        tracking: VarId,
        /// Whether null is passed, too.
        nulls: Nulls,
    },
}

/// Whether null, which is no object, is passed besides objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    Never,
    Passed,
}

/// One of several known objects is watched.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// Whether a call is about it; set just before the call.
    pub met: VarId,
    /// For each function concerned, the position of the argument that is watched.
    pub functions: BTreeMap<FuncId, usize>,
    /// For each object, whether it is the watched one.
    pub conditions: BTreeMap<Known, ExprId>,
    /// Where the rule speaks of it.
    pub source: Source,
}

/// An object is watched from when it begins its life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracked {
    /// Whether there is one.
    pub tracking: VarId,
    /// Its address or number.
    pub object: VarId,
    /// Whether to choose the next one.
    pub chance: VarId,
}

/// The most objects that are told apart by truth values.
const MOST: usize = 6;

/// Decides how a rule watches its objects, and adds what it needs to the program.
pub(crate) fn decide(
    tables: &mut Tables,
    home: &Home<'_>,
    events: &Events,
    rule: usize,
    single: &Single,
) -> BTreeMap<Subject, Watching> {
    let mut decided = BTreeMap::new();
    let bodies = || home.rule.handlers.iter().map(|handler| &handler.body);
    let is_track = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Track(_));
    let is_watch = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Watch(_));
    if let Some(span) = bodies().find_map(|body| find(body, &is_track)) {
        let name = tables.program.rules[rule].name.clone();
        let source = home.source(&tables.program, span);
        let bool = tables.program.types.intern(Type::Bool);
        let known = known_objects(
            &tables.program,
            single,
            home.rule,
            events,
            rule,
            Subject::Watch,
        );
        if let Some(known) = known.filter(|known| known.objects.len() <= 1) {
            let kind = VarKind::Global;
            let initial = Initial::Data(Vec::new());
            let tracking = tables.variable(format!("{name}.tracking"), bool, kind, source, initial);
            let candidates = known.objects.into_iter().collect();
            let flags = Vec::new();
            let which = WhichObject::OneOf { flags, candidates };
            let ty = pointee(&tables.program, home.rule, events, rule, Subject::Watch);
            remember(tables, rule, None, which, ty);
            let nulls = known.nulls;
            let watching = Watching::TheOnlyOneTracked { tracking, nulls };
            return BTreeMap::from([(Subject::Watch, watching)]);
        }
        let object = object_type(tables);
        let mut global = |word: &str, ty: TypeId| {
            let (name, kind) = (format!("{name}.{word}"), VarKind::Global);
            tables.variable(name, ty, kind, source, Initial::Data(Vec::new()))
        };
        let tracked = Tracked {
            tracking: global("tracking", bool),
            object: global("object", object),
            chance: global("chance", bool),
        };
        let which = WhichObject::In {
            variable: tracked.object,
            exists: Some(tracked.tracking),
        };
        remember(tables, rule, None, which, None);
        decided.insert(Subject::Watch, Watching::Tracked(tracked));
    } else if let Some(span) = bodies().find_map(|body| find(body, &is_watch)) {
        let source = home.source(&tables.program, span);
        let known = known_objects(
            &tables.program,
            single,
            home.rule,
            events,
            rule,
            Subject::Watch,
        );
        let ty = pointee(&tables.program, home.rule, events, rule, Subject::Watch);
        let watching = one(tables, rule, (None, ty), known, source);
        decided.insert(Subject::Watch, watching);
    }
    for (position, variable) in home.rule.state.iter().enumerate() {
        if matches!(variable.ty, StateType::Object) {
            let subject = Subject::Object(position);
            let source = home.source(&tables.program, variable.name.span);
            let known = known_objects(&tables.program, single, home.rule, events, rule, subject);
            let name = Some(variable.name.text.as_str());
            let ty = pointee(&tables.program, home.rule, events, rule, subject);
            decided.insert(subject, one(tables, rule, (name, ty), known, source));
        }
    }
    decided
}

/// What is known of the objects that can be met.
struct KnownObjects {
    /// The functions concerned, with the position of the argument.
    functions: BTreeMap<FuncId, usize>,
    objects: BTreeSet<Known>,
    nulls: Nulls,
}

/// The type that numbers and addresses are watched as.
pub(crate) fn object_type(tables: &mut Tables) -> TypeId {
    let types = &mut tables.program.types;
    let width = types.model().pointer_size() as u32 * 8;
    types.int(width, false)
}

/// Lets a rule know which object it watches, for those who show an execution.
fn remember(
    tables: &mut Tables,
    rule: usize,
    name: Option<&str>,
    which: WhichObject,
    ty: Option<TypeId>,
) {
    let name = name.map(str::to_owned);
    let watched = &mut tables.program.rules[rule].watched;
    watched.push(WatchedObject { name, which, ty });
}

/// What the pointers point to that are compared with an object, by the functions' own words.
fn pointee(
    program: &Program,
    rule: &Rule,
    events: &Events,
    index: usize,
    subject: Subject,
) -> Option<TypeId> {
    let mut met = events.functions.iter().flat_map(|(&function, found)| {
        let mine = found.iter().filter(move |found| found.rule == index);
        mine.map(move |found| (function, found.handler))
    });
    met.find_map(|(function, handler)| {
        let positions = positions(rule, &rule.handlers[handler].body, subject)?;
        let formals = &program.function(function).formals;
        let formal = formals.get(*positions.first()?)?;
        match program.types.get(program.variable(*formal).ty) {
            Type::Pointer(to) if *program.types.get(*to) != Type::Void => Some(*to),
            _ => None,
        }
    })
}

/// How an object is watched that is any of those known, or any at all. It has a name if it is one
/// of the rule's state.
fn one(
    tables: &mut Tables,
    rule: usize,
    (own_name, ty): (Option<&str>, Option<TypeId>),
    known: Option<KnownObjects>,
    source: Source,
) -> Watching {
    let name = {
        let rule = &tables.program.rules[rule].name;
        format!("{rule}.{}", own_name.unwrap_or("object"))
    };
    let Some(known) = known else {
        let object = object_type(tables);
        let id = tables.variable(name, object, VarKind::Global, source, Initial::Unknown);
        tables.program.rules[rule].objects.push(id);
        let which = WhichObject::In {
            variable: id,
            exists: None,
        };
        remember(tables, rule, own_name, which, ty);
        return Watching::Address(id);
    };
    let KnownObjects {
        functions,
        objects,
        nulls,
    } = known;
    let candidates: Vec<Known> = objects.iter().copied().collect();
    if objects.len() <= 1 {
        let flags = Vec::new();
        let which = WhichObject::OneOf { flags, candidates };
        remember(tables, rule, own_name, which, ty);
        return Watching::TheOnlyOne(nulls);
    }
    let bool = tables.program.types.intern(Type::Bool);
    let int = tables.int();
    let mut conditions = BTreeMap::new();
    let mut flags = Vec::new();
    let mut none_before: Option<ExprId> = None;
    let last = objects.len() - 1;
    for (position, object) in objects.into_iter().enumerate() {
        let mut condition = none_before;
        if position < last {
            let flag = format!("{name}{}", position + 1);
            let flag = tables.variable(flag, bool, VarKind::Global, source, Initial::Unknown);
            flags.push(flag);
            let chosen = tables.load_variable(flag);
            let not = tables.expr(ExprKind::Unary(UnaryOp::Not, chosen), int);
            let mut and = |left: Option<ExprId>, right: ExprId| match left {
                Some(left) => tables.expr(ExprKind::Binary(BinaryOp::And, left, right), int),
                None => right,
            };
            condition = Some(and(none_before, chosen));
            none_before = Some(and(none_before, not));
        }
        if let Some(condition) = condition {
            conditions.insert(object, condition);
        }
    }
    tables.program.rules[rule].choices.push(flags.clone());
    let which = WhichObject::OneOf { flags, candidates };
    remember(tables, rule, own_name, which, ty);
    let initial = Initial::Data(Vec::new());
    let met = format!("{name}.met");
    let met = tables.variable(met, bool, VarKind::Global, source, initial);
    Watching::Chosen(Chosen {
        met,
        functions,
        conditions,
        source,
    })
}

/// Where the first statement of a kind stands.
fn find(statements: &[Stmt], wanted: &dyn Fn(&Stmt) -> bool) -> Option<hardbop_diagnostics::Span> {
    statements.iter().find_map(|statement| {
        if wanted(statement) {
            return Some(statement.span);
        }
        let inner = statement.parts().1;
        inner.into_iter().find_map(|inner| find(inner, wanted))
    })
}

/// The functions in which a rule meets objects and the objects that are passed there; nothing if
/// some call passes something that is not known.
fn known_objects(
    program: &Program,
    single: &Single,
    rule: &Rule,
    events: &Events,
    index: usize,
    subject: Subject,
) -> Option<KnownObjects> {
    let mut functions = BTreeMap::new();
    let mine = |found: &&Listening| found.rule == index;
    for found in events.primitives.values().flatten().filter(mine) {
        if !positions(rule, &rule.handlers[found.handler].body, subject)?.is_empty() {
            return None;
        }
    }
    for (&function, found) in &events.functions {
        for found in found.iter().filter(mine) {
            for position in positions(rule, &rule.handlers[found.handler].body, subject)? {
                if *functions.entry(function).or_insert(position) != position {
                    return None;
                }
            }
        }
    }
    if functions.contains_key(&program.entry) {
        return None;
    }
    let mut objects = BTreeSet::new();
    let mut nulls = Nulls::Never;
    for edge in &program.edges {
        let Op::Call {
            callee, arguments, ..
        } = &edge.op
        else {
            continue;
        };
        match callee {
            Callee::Direct(function) => {
                if let Some(&position) = functions.get(function) {
                    let met = met(program, single, *arguments.get(position)?)?;
                    objects.extend(met.object);
                    if met.nulls == Nulls::Passed {
                        nulls = Nulls::Passed;
                    }
                }
            }
            Callee::Indirect { targets, .. } => {
                if targets.iter().any(|target| functions.contains_key(target)) {
                    return None;
                }
            }
        }
    }
    (objects.len() <= MOST).then_some(KnownObjects {
        functions,
        objects,
        nulls,
    })
}

/// The positions of the arguments that are compared with the object; nothing if something else
/// is, too.
fn positions(rule: &Rule, statements: &[Stmt], subject: Subject) -> Option<BTreeSet<usize>> {
    let mut out = BTreeSet::new();
    for statement in statements {
        match (&statement.kind, subject) {
            (StmtKind::Watch(expr) | StmtKind::Track(expr), Subject::Watch) => {
                out.insert(position(&rule.exprs, *expr)?);
            }
            (_, Subject::Object(object)) => {
                let name = &rule.state[object].name.text;
                for expr in statement.parts().0 {
                    compared(&rule.exprs, expr, name, &mut out)?;
                }
            }
            _ => {}
        }
        for inner in statement.parts().1 {
            out.extend(positions(rule, inner, subject)?);
        }
    }
    Some(out)
}

fn position(ast: &Ast, expr: NodeId) -> Option<usize> {
    match ast.node(expr).kind {
        NodeKind::Argument(number) => Some(number as usize - 1),
        _ => None,
    }
}

/// The positions of the arguments that an expression compares with an object.
fn compared(ast: &Ast, expr: NodeId, object: &str, out: &mut BTreeSet<usize>) -> Option<()> {
    let is_object =
        |expr: NodeId| matches!(&ast.node(expr).kind, NodeKind::Name(name) if name == object);
    if is_object(expr) {
        return None;
    }
    if let NodeKind::Binary(BinaryOp::Eq | BinaryOp::Ne, left, right) = ast.node(expr).kind {
        let other = match (is_object(left), is_object(right)) {
            (true, false) => Some(right),
            (false, true) => Some(left),
            _ => None,
        };
        if let Some(other) = other {
            out.insert(position(ast, other)?);
            return Some(());
        }
    }
    for operand in ast.operands(expr) {
        compared(ast, operand, object, out)?;
    }
    Some(())
}

/// What an argument is, if that is known.
pub(crate) struct Met {
    /// The object; none if it is always null.
    pub object: Option<Known>,
    /// Whether it may be null.
    pub nulls: Nulls,
}

/// What an argument is, if that is known.
pub(crate) fn met(program: &Program, single: &Single, expr: ExprId) -> Option<Met> {
    if let Some(object) = known(program, expr) {
        let nulls = match object {
            Some(_) => Nulls::Never,
            None => Nulls::Passed,
        };
        return Some(Met { object, nulls });
    }
    let object = Some(single.object(program, expr)?);
    let nulls = Nulls::Passed;
    Some(Met { object, nulls })
}

/// The object that an argument always is: `Some(None)` for null, which is none.
fn known(program: &Program, expr: ExprId) -> Option<Option<Known>> {
    let described = program.expr(expr);
    match (described.kind, program.types.get(described.ty)) {
        (ExprKind::Int(0), Type::Pointer(_)) => Some(None),
        (ExprKind::Int(bits), Type::Int { width, signed }) => {
            let negative = *signed && *width < 128 && bits >> (width - 1) & 1 == 1;
            let high = if negative { u128::MAX << width } else { 0 };
            Some(Some(Known::Number(bits | high)))
        }
        _ => address(program, expr).map(Some),
    }
}

/// The address that an expression always has: that of a variable of static storage.
fn address(program: &Program, mut expr: ExprId) -> Option<Known> {
    let pointer =
        |expr: ExprId| matches!(program.types.get(program.expr(expr).ty), Type::Pointer(_));
    while let ExprKind::Convert(inner) = program.expr(expr).kind {
        if !pointer(expr) || !pointer(inner) {
            return None;
        }
        expr = inner;
    }
    let ExprKind::AddressOf(place) = program.expr(expr).kind else {
        return None;
    };
    let mut place: PlaceId = place;
    let mut offset = 0u64;
    loop {
        match program.place(place).kind {
            PlaceKind::Deref(_) => return None,
            PlaceKind::Var(variable) => {
                let kind = program.variable(variable).kind;
                let lasting = matches!(kind, VarKind::Global | VarKind::Static(_));
                return lasting.then_some(Known::Part(variable, offset));
            }
            PlaceKind::Field(base, position) => {
                let Type::Record(record) = *program.types.get(program.place(base).ty) else {
                    return None;
                };
                let field = program.types.record(record).fields.get(position as usize)?;
                offset = offset.checked_add(field.offset())?;
                place = base;
            }
            PlaceKind::Index(base, index) => {
                let ExprKind::Int(index) = program.expr(index).kind else {
                    return None;
                };
                let size = program.types.size_of(program.place(place).ty);
                let distance = u64::try_from(index).ok()?.checked_mul(size)?;
                offset = offset.checked_add(distance)?;
                place = base;
            }
        }
    }
}
