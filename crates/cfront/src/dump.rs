//! A program as readable pseudo-C: every conversion is a cast, every edge a line
//! `from -> to  what it does`, with locations counted from 0 in each function.

mod types;
mod values;

use crate::ids::{ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
use crate::program::*;
use crate::types::{FloatKind, RecordKind, Type, Types, Variadic};
use std::fmt::Write;
pub use types::{declare, type_name};

/// The whole program: records, variables of static storage, functions.
pub fn dump(program: &Program) -> String {
    let mut out = String::new();
    let view = View::of(program);
    for id in 0..program.types.record_count() {
        record(&mut out, program, crate::ids::RecordId(id as u32));
    }
    for (i, variable) in program.variables.iter().enumerate() {
        if matches!(
            variable.kind,
            VarKind::Global | VarKind::Static(_) | VarKind::Literal
        ) {
            let word = match variable.kind {
                VarKind::Static(_) => "static ",
                VarKind::Literal => "literal ",
                _ => "",
            };
            let _ = writeln!(
                out,
                "{word}{}{};",
                view.declaration(VarId(i as u32)),
                initial(&view, &variable.initial)
            );
        }
    }
    for id in 0..program.functions.len() {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&dump_function(program, FuncId(id as u32)));
    }
    out
}

/// One function.
pub fn dump_function(program: &Program, id: FuncId) -> String {
    let view = View::of(program);
    let function = program.function(id);
    let mut out = String::new();
    let origin = match function.origin {
        Origin::User => "",
        Origin::Model => " // model",
        Origin::Undefined => " // undefined",
    };
    let result = match program.types.get(function.ty) {
        Type::Function { result, .. } => type_name(&program.types, *result),
        _ => "void".to_owned(),
    };
    let mut formals: Vec<String> = function
        .formals
        .iter()
        .map(|&formal| view.declaration(formal))
        .collect();
    if matches!(
        program.types.get(function.ty),
        Type::Function {
            variadic: Variadic::Yes,
            ..
        }
    ) {
        formals.push("...".to_owned());
    }
    let _ = writeln!(
        out,
        "{result} {}({}){origin}",
        function.name,
        formals.join(", ")
    );
    for &local in &function.locals {
        let _ = writeln!(out, "  {};", view.declaration(local));
    }
    let first = function.locations.start;
    let number = |location: LocId| location.0 - first;
    if function.entry.0 != first {
        let _ = writeln!(out, "  entry {}", number(function.entry));
    }
    for at in function.locations.clone() {
        let location = &program.locations[at as usize];
        let mut marks: Vec<String> = location
            .labels
            .iter()
            .map(|label| format!("label {label}"))
            .collect();
        match location.kind {
            LocationKind::Plain => {}
            LocationKind::LoopHead => marks.push("loop".to_owned()),
            LocationKind::Exit => marks.push("exit".to_owned()),
            LocationKind::Halt => marks.push("halt".to_owned()),
            LocationKind::Error(check) => {
                let check = &program.checks[check.index()];
                marks.push(format!("error: {}", check.message));
            }
        }
        if !marks.is_empty() {
            let _ = writeln!(out, "  {}: {}", at - first, marks.join(", "));
        }
        for (_, edge) in program.edges_from(LocId(at)) {
            let text = view.op(&edge.op);
            let _ = write!(out, "  {} -> {}  {text}", at - first, number(edge.to));
            if let Some(rule) = program.rule_at(edge.source) {
                let _ = write!(out, "  // rule {}, line {}", rule.name, edge.source.line);
            }
            out.push('\n');
        }
    }
    out
}

/// An expression of a program.
pub fn expr_text(program: &Program, expr: ExprId) -> String {
    View::of(program).expr(expr)
}

/// The declaration of a variable: `int a[10]`.
pub fn declaration_text(program: &Program, variable: VarId) -> String {
    let variable = program.variable(variable);
    declare(&program.types, variable.ty, &variable.name)
}

/// A place of a program.
pub fn place_text(program: &Program, place: PlaceId) -> String {
    View::of(program).place(place)
}

/// What an edge of a program does.
pub fn op_text(program: &Program, op: &Op) -> String {
    View::of(program).op(op)
}

/// The tables that names are looked up in: those of a program, or of one being built.
pub(crate) struct View<'a> {
    pub types: &'a Types,
    pub variables: &'a [Variable],
    pub exprs: &'a [Expr],
    pub places: &'a [Place],
    pub unsupported: &'a [Unsupported],
    pub function_name: &'a dyn Fn(FuncId) -> &'a str,
}

impl<'a> View<'a> {
    fn of(program: &'a Program) -> ViewOf<'a> {
        ViewOf { program }
    }
}

/// A view of a finished program.
struct ViewOf<'a> {
    program: &'a Program,
}

impl ViewOf<'_> {
    fn with<T>(&self, f: impl FnOnce(&View<'_>) -> T) -> T {
        let program = self.program;
        let function_name = |id: FuncId| program.functions[id.index()].name.as_str();
        f(&View {
            types: &program.types,
            variables: &program.variables,
            exprs: &program.exprs,
            places: &program.places,
            unsupported: &program.unsupported,
            function_name: &function_name,
        })
    }

    fn declaration(&self, variable: VarId) -> String {
        let variable = self.program.variable(variable);
        declare(&self.program.types, variable.ty, &variable.name)
    }

    fn expr(&self, expr: ExprId) -> String {
        self.with(|view| view.expr(expr, Level::Lowest))
    }

    fn place(&self, place: PlaceId) -> String {
        self.with(|view| view.place(place))
    }

    fn op(&self, op: &Op) -> String {
        self.with(|view| view.op(op))
    }
}

/// How tightly an operator binds; an operand that binds less tightly gets parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Lowest,
    Conditional,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relational,
    Shift,
    Additive,
    Multiplicative,
    Prefix,
    Postfix,
}

/// Expressions deeper than this are cut: they are for people.
const DEEP: u32 = 200;

impl View<'_> {
    /// An expression, in parentheses if it binds less tightly than asked for.
    pub fn expr(&self, id: ExprId, level: Level) -> String {
        let mut out = String::new();
        self.write_expr(&mut out, id, level, 0);
        out
    }

    /// A place.
    pub fn place(&self, id: PlaceId) -> String {
        let mut out = String::new();
        self.write_place(&mut out, id, 0);
        out
    }

    fn write_place(&self, out: &mut String, id: PlaceId, depth: u32) {
        if depth > DEEP {
            out.push_str("...");
            return;
        }
        match self.places[id.index()].kind {
            PlaceKind::Var(var) => out.push_str(&self.variables[var.index()].name),
            PlaceKind::Deref(pointer) => {
                out.push('*');
                self.write_expr(out, pointer, Level::Prefix, depth + 1);
            }
            PlaceKind::Field(base, field) => {
                let name = match self.types.get(self.places[base.index()].ty) {
                    Type::Record(record) => {
                        let fields = &self.types.record(*record).fields;
                        fields.get(field as usize).and_then(|f| f.name.clone())
                    }
                    _ => None,
                };
                let name = name.unwrap_or_else(|| format!("<{field}>"));
                if let PlaceKind::Deref(pointer) = self.places[base.index()].kind {
                    self.write_expr(out, pointer, Level::Postfix, depth + 1);
                    out.push_str("->");
                } else {
                    self.write_place(out, base, depth + 1);
                    out.push('.');
                }
                out.push_str(&name);
            }
            PlaceKind::Index(base, index) => {
                if let PlaceKind::Deref(_) = self.places[base.index()].kind {
                    out.push('(');
                    self.write_place(out, base, depth + 1);
                    out.push(')');
                } else {
                    self.write_place(out, base, depth + 1);
                }
                out.push('[');
                self.write_expr(out, index, Level::Lowest, depth + 1);
                out.push(']');
            }
        }
    }

    fn write_expr(&self, out: &mut String, id: ExprId, level: Level, depth: u32) {
        if depth > DEEP {
            out.push_str("...");
            return;
        }
        let depth = depth + 1;
        let expr = &self.exprs[id.index()];
        let ours = level_of(expr.kind);
        let open = ours < level;
        if open {
            out.push('(');
        }
        match expr.kind {
            ExprKind::Int(bits) => out.push_str(&self.number(bits, expr.ty)),
            ExprKind::Float(bits) => out.push_str(&self.float(bits, expr.ty)),
            ExprKind::Load(place) => self.write_place(out, place, depth),
            ExprKind::AddressOf(place) => {
                let decayed = matches!(
                    self.types.get(self.places[place.index()].ty),
                    Type::Array { element, .. }
                        if self.types.get(expr.ty) == &Type::Pointer(*element)
                );
                if !decayed {
                    out.push('&');
                }
                self.write_place(out, place, depth);
            }
            ExprKind::Function(function) => out.push_str((self.function_name)(function)),
            ExprKind::Unary(op, operand) => match unary_sign(op) {
                Some(sign) => {
                    out.push_str(sign);
                    self.write_expr(out, operand, Level::Prefix, depth);
                }
                None => {
                    let _ = write!(out, "{}(", unary_name(op));
                    self.write_expr(out, operand, Level::Lowest, depth);
                    out.push(')');
                }
            },
            ExprKind::Binary(op, left, right) => match binary_sign(op) {
                Some((sign, _)) => {
                    self.write_expr(out, left, ours, depth);
                    let _ = write!(out, " {sign} ");
                    self.write_expr(out, right, tighter(ours), depth);
                }
                None => {
                    let name = if op == BinaryOp::CopySign {
                        "copysign"
                    } else {
                        "fmod"
                    };
                    let _ = write!(out, "{name}(");
                    self.write_expr(out, left, Level::Lowest, depth);
                    out.push_str(", ");
                    self.write_expr(out, right, Level::Lowest, depth);
                    out.push(')');
                }
            },
            ExprKind::PointerAdd {
                pointer,
                index,
                scale,
            } => {
                self.write_expr(out, pointer, Level::Additive, depth);
                out.push_str(" + ");
                self.write_expr(out, index, Level::Multiplicative, depth);
                let to = match self.types.get(expr.ty) {
                    Type::Pointer(to) => self.types.size_of(*to),
                    _ => 0,
                };
                if scale != to {
                    let _ = write!(out, " *{scale}");
                }
            }
            ExprKind::PointerDifference { left, right, scale } => {
                self.write_expr(out, left, Level::Additive, depth);
                out.push_str(" - ");
                self.write_expr(out, right, Level::Multiplicative, depth);
                let to = match self.types.get(self.exprs[left.index()].ty) {
                    Type::Pointer(to) => self.types.size_of(*to),
                    _ => 0,
                };
                if scale != to {
                    let _ = write!(out, " /{scale}");
                }
            }
            ExprKind::Convert(operand) => {
                let _ = write!(out, "({})", type_name(self.types, expr.ty));
                self.write_expr(out, operand, Level::Prefix, depth);
            }
            ExprKind::Rounded { op, mode, operands } => {
                let _ = match op {
                    RoundedOp::Convert => {
                        write!(out, "convert<{}>[", type_name(self.types, expr.ty))
                    }
                    _ => write!(out, "{}[", op.name()),
                };
                self.write_expr(out, mode, Level::Lowest, depth);
                out.push_str("](");
                for (at, &operand) in operands[..op.arity()].iter().enumerate() {
                    out.push_str(if at == 0 { "" } else { ", " });
                    self.write_expr(out, operand, Level::Lowest, depth);
                }
                out.push(')');
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.write_expr(out, condition, Level::Or, depth);
                out.push_str(" ? ");
                self.write_expr(out, then, Level::Conditional, depth);
                out.push_str(" : ");
                self.write_expr(out, otherwise, Level::Conditional, depth);
            }
            ExprKind::Overflows {
                op,
                left,
                right,
                at,
            } => {
                let sign = binary_sign(op).map_or("?", |(sign, _)| sign);
                let _ = write!(out, "overflows<{}>(", type_name(self.types, at));
                self.write_expr(out, left, Level::Multiplicative, depth);
                let _ = write!(out, " {sign} ");
                self.write_expr(out, right, Level::Prefix, depth);
                out.push(')');
            }
            ExprKind::ValidAccess { pointer, size } => {
                out.push_str("valid_access(");
                self.write_expr(out, pointer, Level::Lowest, depth);
                out.push_str(", ");
                self.write_expr(out, size, Level::Lowest, depth);
                out.push(')');
            }
            ExprKind::HeapIs { fact, .. } => out.push_str(fact.text()),
            ExprKind::ValidFree { pointer }
            | ExprKind::PointsToConstant { pointer }
            | ExprKind::ObjectSize { pointer }
            | ExprKind::Open { pointer } => {
                out.push_str(match expr.kind {
                    ExprKind::ValidFree { .. } => "valid_free(",
                    ExprKind::PointsToConstant { .. } => "points_to_constant(",
                    ExprKind::Open { .. } => "open_bits(",
                    _ => "object_size(",
                });
                self.write_expr(out, pointer, Level::Lowest, depth);
                out.push(')');
            }
        }
        if open {
            out.push(')');
        }
    }

    fn float(&self, bits: u128, ty: TypeId) -> String {
        match *self.types.get(ty) {
            Type::Float(FloatKind::F32) => format!("{:?}f", f32::from_bits(bits as u32)),
            Type::Float(FloatKind::F64) => format!("{:?}", f64::from_bits(bits as u64)),
            Type::Float(FloatKind::X87) => format!("x87:{bits:#x}"),
            _ => format!("f128:{bits:#x}"),
        }
    }

    /// What an edge does.
    pub fn op(&self, op: &Op) -> String {
        let value = |e: ExprId| self.expr(e, Level::Lowest);
        match op {
            Op::Skip => "skip;".to_owned(),
            Op::Assume {
                condition,
                holds: true,
            } => format!("assume({});", value(*condition)),
            Op::Assume {
                condition,
                holds: false,
            } => {
                format!("assume(!{});", self.expr(*condition, Level::Prefix))
            }
            Op::Assign { place, value: v } => format!("{} = {};", self.place(*place), value(*v)),
            Op::Input { place, name } => format!("{} = input {name}();", self.place(*place)),
            Op::Havoc { place } => format!("{} = anything;", self.place(*place)),
            Op::HavocMemory {
                pointer,
                size,
                input,
            } => {
                let word = if *input { "input" } else { "anything" };
                match size {
                    Some(size) => {
                        format!("memory({}, {}) = {word};", value(*pointer), value(*size))
                    }
                    None => format!("memory({}) = {word};", value(*pointer)),
                }
            }
            Op::Call {
                callee,
                arguments,
                result,
            } => {
                let callee = match callee {
                    Callee::Direct(function) => (self.function_name)(*function).to_owned(),
                    Callee::Indirect { pointer, .. } => {
                        format!("(*{})", self.expr(*pointer, Level::Prefix))
                    }
                };
                let arguments: Vec<String> = arguments.iter().map(|&a| value(a)).collect();
                let call = format!("{callee}({});", arguments.join(", "));
                match result {
                    Some(result) => format!("{} = {call}", self.place(*result)),
                    None => call,
                }
            }
            Op::Declare { variable } => {
                format!("declare {};", self.variables[variable.index()].name)
            }
            Op::EndScope { variables } => {
                let names: Vec<&str> = variables
                    .iter()
                    .map(|v| self.variables[v.index()].name.as_str())
                    .collect();
                format!("end {};", names.join(", "))
            }
            Op::Allocate {
                place,
                size,
                lifetime,
            } => {
                let word = match lifetime {
                    Lifetime::Heap => "malloc",
                    Lifetime::Frame => "alloca",
                    Lifetime::Library => "library_memory",
                };
                format!("{} = {word}({});", self.place(*place), value(*size))
            }
            Op::Free { pointer } => format!("free({});", value(*pointer)),
            Op::CopyMemory { to, from, size } => {
                format!(
                    "memmove({}, {}, {});",
                    value(*to),
                    value(*from),
                    value(*size)
                )
            }
            Op::FillMemory { to, byte, size } => {
                format!(
                    "memset({}, {}, {});",
                    value(*to),
                    value(*byte),
                    value(*size)
                )
            }
            Op::SetOpen { pointer, bits } => {
                format!("set_open_bits({}, {});", value(*pointer), value(*bits))
            }
            Op::Unsupported { construct } => {
                let what = self
                    .unsupported
                    .get(*construct as usize)
                    .map_or("?", |u| &u.what);
                format!("unsupported: {what};")
            }
        }
    }
}

fn level_of(kind: ExprKind) -> Level {
    match kind {
        ExprKind::Binary(op, ..) => binary_sign(op).map_or(Level::Postfix, |(_, level)| level),
        ExprKind::PointerAdd { .. } | ExprKind::PointerDifference { .. } => Level::Additive,
        ExprKind::Conditional { .. } => Level::Conditional,
        ExprKind::Unary(op, _) if unary_sign(op).is_some() => Level::Prefix,
        ExprKind::Convert(_) => Level::Prefix,
        _ => Level::Postfix,
    }
}

fn tighter(level: Level) -> Level {
    match level {
        Level::Or => Level::And,
        Level::And => Level::BitOr,
        Level::BitOr => Level::BitXor,
        Level::BitXor => Level::BitAnd,
        Level::BitAnd => Level::Equality,
        Level::Equality => Level::Relational,
        Level::Relational => Level::Shift,
        Level::Shift => Level::Additive,
        Level::Additive => Level::Multiplicative,
        _ => Level::Prefix,
    }
}

fn unary_sign(op: UnaryOp) -> Option<&'static str> {
    match op {
        UnaryOp::Negate => Some("-"),
        UnaryOp::BitNot => Some("~"),
        UnaryOp::Not => Some("!"),
        _ => None,
    }
}

fn unary_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Negate => "-",
        UnaryOp::BitNot => "~",
        UnaryOp::Not => "!",
        UnaryOp::PopCount => "popcount",
        UnaryOp::LeadingZeros => "leading_zeros",
        UnaryOp::TrailingZeros => "trailing_zeros",
        UnaryOp::ByteSwap => "bswap",
        UnaryOp::FloatAbs => "fabs",
        UnaryOp::FloatSqrt => "sqrt",
        UnaryOp::FloatFloor => "floor",
        UnaryOp::FloatCeil => "ceil",
        UnaryOp::FloatTrunc => "trunc",
        UnaryOp::FloatRound => "round",
        UnaryOp::FloatRint => "rint",
        UnaryOp::IsNan => "isnan",
        UnaryOp::IsInfinite => "isinf",
        UnaryOp::IsFinite => "isfinite",
        UnaryOp::IsNormal => "isnormal",
        UnaryOp::SignBit => "signbit",
    }
}

fn binary_sign(op: BinaryOp) -> Option<(&'static str, Level)> {
    Some(match op {
        BinaryOp::Add => ("+", Level::Additive),
        BinaryOp::Sub => ("-", Level::Additive),
        BinaryOp::Mul => ("*", Level::Multiplicative),
        BinaryOp::Div => ("/", Level::Multiplicative),
        BinaryOp::Rem => ("%", Level::Multiplicative),
        BinaryOp::Shl => ("<<", Level::Shift),
        BinaryOp::Shr => (">>", Level::Shift),
        BinaryOp::BitAnd => ("&", Level::BitAnd),
        BinaryOp::BitOr => ("|", Level::BitOr),
        BinaryOp::BitXor => ("^", Level::BitXor),
        BinaryOp::And => ("&&", Level::And),
        BinaryOp::Or => ("||", Level::Or),
        BinaryOp::Eq => ("==", Level::Equality),
        BinaryOp::Ne => ("!=", Level::Equality),
        BinaryOp::Lt => ("<", Level::Relational),
        BinaryOp::Le => ("<=", Level::Relational),
        BinaryOp::Gt => (">", Level::Relational),
        BinaryOp::Ge => (">=", Level::Relational),
        BinaryOp::CopySign | BinaryOp::FloatMod => return None,
    })
}

fn record(out: &mut String, program: &Program, id: crate::ids::RecordId) {
    let record = program.types.record(id);
    let word = match record.kind {
        RecordKind::Struct => "struct",
        RecordKind::Union => "union",
    };
    let name = if record.name.starts_with(word) {
        record.name.clone()
    } else {
        format!("{word} {}", record.name)
    };
    if !record.complete {
        let _ = writeln!(out, "{name};");
        return;
    }
    let _ = writeln!(
        out,
        "{name} {{ // size {}, align {}",
        record.size, record.align
    );
    for field in &record.fields {
        let name = field.name.as_deref().unwrap_or("");
        let declared = declare(&program.types, field.ty, name);
        match field.bit_width {
            Some(width) => {
                let _ = writeln!(out, "  {declared} : {width}; // bit {}", field.offset_bits);
            }
            None => {
                let _ = writeln!(out, "  {declared}; // at {}", field.offset());
            }
        }
    }
    out.push_str("};\n");
}

fn initial(view: &ViewOf<'_>, initial: &Initial) -> String {
    match initial {
        Initial::None => String::new(),
        Initial::Unknown => " = anything".to_owned(),
        Initial::Data(parts) => {
            let mut out = " = {".to_owned();
            for (i, part) in parts.iter().enumerate() {
                let separator = if i == 0 { "" } else { ", " };
                let at = part.offset_bits / 8;
                let bit = part.offset_bits % 8;
                let _ = write!(out, "{separator}[{at}");
                if bit != 0 {
                    let _ = write!(out, ".{bit}");
                }
                out.push_str("] = ");
                match &part.value {
                    InitialValue::Scalar(value) => out.push_str(&view.expr(*value)),
                    InitialValue::Bits(value, width) => {
                        let _ = write!(out, "{} : {width}", view.expr(*value));
                    }
                    InitialValue::Bytes(bytes) => {
                        let _ = write!(out, "\"{}\"", bytes.escape_ascii());
                    }
                }
            }
            out.push('}');
            out
        }
    }
}
