//! Expressions of a program as C text.
//!
//! Conversions that C makes by itself are left out, so that the text reads as a programmer would
//! write it; all others are printed as casts.

use crate::conversions::{promoted, usual};
use crate::names::of_function;
use hardbop_cfront::dump::type_name;
use hardbop_cfront::ids::{ExprId, PlaceId, TypeId, VarId};
use hardbop_cfront::program::{BinaryOp, ExprKind, PlaceKind, Program, UnaryOp, VarKind};
use hardbop_cfront::types::{DataModel, FloatKind, Type};

/// Deeper expressions are cut: they are for people.
const DEEP: u32 = 200;

/// The C text of an expression. It reads as the same expression, if nothing of it was cut.
pub fn text(program: &Program, expr: ExprId) -> String {
    Printer { program }.expr(expr, 0, 0)
}

struct Printer<'a> {
    program: &'a Program,
}

const CONDITIONAL: u32 = 1;
const PREFIX: u32 = 13;
const POSTFIX: u32 = 14;

fn level(op: BinaryOp) -> (u32, &'static str) {
    match op {
        BinaryOp::Or => (2, "||"),
        BinaryOp::And => (3, "&&"),
        BinaryOp::BitOr => (4, "|"),
        BinaryOp::BitXor => (5, "^"),
        BinaryOp::BitAnd => (6, "&"),
        BinaryOp::Eq => (7, "=="),
        BinaryOp::Ne => (7, "!="),
        BinaryOp::Lt => (8, "<"),
        BinaryOp::Le => (8, "<="),
        BinaryOp::Gt => (8, ">"),
        BinaryOp::Ge => (8, ">="),
        BinaryOp::Shl => (9, "<<"),
        BinaryOp::Shr => (9, ">>"),
        BinaryOp::Add => (10, "+"),
        BinaryOp::Sub => (10, "-"),
        BinaryOp::Mul => (11, "*"),
        BinaryOp::Div => (11, "/"),
        BinaryOp::Rem => (11, "%"),
        BinaryOp::CopySign => (0, "copysign"),
        BinaryOp::FloatMod => (0, "fmod"),
    }
}

fn parenthesised(text: String, own: u32, wanted: u32) -> String {
    if own < wanted {
        format!("({text})")
    } else {
        text
    }
}

impl Printer<'_> {
    fn ty(&self, expr: ExprId) -> TypeId {
        self.program.expr(expr).ty
    }

    /// The operand of a conversion, or the expression itself.
    fn stripped(&self, expr: ExprId) -> ExprId {
        match self.program.expr(expr).kind {
            ExprKind::Convert(operand) => operand,
            _ => expr,
        }
    }

    fn expr(&self, id: ExprId, wanted: u32, depth: u32) -> String {
        if depth > DEEP {
            return "...".to_owned();
        }
        let depth = depth + 1;
        let program = self.program;
        let expr = program.expr(id);
        match expr.kind {
            ExprKind::Int(bits) => self.number(bits, expr.ty),
            ExprKind::Float(bits) => match program.types.get(expr.ty) {
                Type::Float(FloatKind::F32) => format!("{:?}f", f32::from_bits(bits as u32)),
                Type::Float(FloatKind::F64) => format!("{:?}", f64::from_bits(bits as u64)),
                _ => format!("float:{bits:#x}"),
            },
            ExprKind::Load(place) => self.place(place, wanted, depth),
            ExprKind::AddressOf(place) => {
                let decayed = matches!(
                    program.types.get(program.place(place).ty),
                    Type::Array { element, .. }
                        if program.types.get(expr.ty) == &Type::Pointer(*element)
                );
                if decayed {
                    self.place(place, wanted, depth)
                } else {
                    let inner = self.place(place, PREFIX, depth);
                    parenthesised(format!("&{inner}"), PREFIX, wanted)
                }
            }
            ExprKind::Function(function) => program.function(function).name.clone(),
            ExprKind::Unary(op, operand) => self.unary(op, operand, wanted, depth),
            ExprKind::Binary(op, left, right) => self.binary(op, left, right, wanted, depth),
            ExprKind::PointerAdd { pointer, index, .. } => {
                let a = self.expr(pointer, 10, depth);
                let b = self.index(index, 11, depth);
                parenthesised(format!("{a} + {b}"), 10, wanted)
            }
            ExprKind::PointerDifference { left, right, .. } => {
                let a = self.expr(left, 10, depth);
                let b = self.expr(right, 11, depth);
                parenthesised(format!("{a} - {b}"), 10, wanted)
            }
            ExprKind::Convert(operand) => {
                let inner = self.expr(operand, PREFIX, depth);
                let cast = format!("({}){inner}", type_name(&program.types, expr.ty));
                parenthesised(cast, PREFIX, wanted)
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                let a = self.expr(condition, CONDITIONAL + 1, depth);
                let b = self.expr(then, 0, depth);
                let c = self.expr(otherwise, CONDITIONAL, depth);
                parenthesised(format!("{a} ? {b} : {c}"), CONDITIONAL, wanted)
            }
            ExprKind::Rounded { .. }
            | ExprKind::Overflows { .. }
            | ExprKind::ValidAccess { .. }
            | ExprKind::ValidFree { .. }
            | ExprKind::PointsToConstant { .. }
            | ExprKind::HeapIs { .. }
            | ExprKind::ObjectSize { .. }
            | ExprKind::Open { .. } => hardbop_cfront::dump::expr_text(program, id),
        }
    }

    fn unary(&self, op: UnaryOp, operand: ExprId, wanted: u32, depth: u32) -> String {
        let sign = match op {
            UnaryOp::Not => "!",
            UnaryOp::Negate => "-",
            UnaryOp::BitNot => "~",
            _ => {
                let inner = self.expr(operand, 0, depth);
                return format!("{op:?}({inner})");
            }
        };
        // Promotions are C's own.
        let shown = match op {
            UnaryOp::Not => operand,
            _ => {
                let bare = self.stripped(operand);
                let same = usual(&self.program.types, self.ty(bare), self.ty(bare));
                if same == Some(self.program.types.get(self.ty(operand)).clone()) {
                    bare
                } else {
                    operand
                }
            }
        };
        let inner = self.expr(shown, PREFIX, depth);
        let gap = if op == UnaryOp::Negate && inner.starts_with('-') {
            " "
        } else {
            ""
        };
        parenthesised(format!("{sign}{gap}{inner}"), PREFIX, wanted)
    }

    fn binary(&self, op: BinaryOp, left: ExprId, right: ExprId, wanted: u32, depth: u32) -> String {
        let (own, sign) = level(op);
        let (mut a, mut b) = (left, right);
        let types = &self.program.types;
        if !matches!(op, BinaryOp::And | BinaryOp::Or) {
            let at = types.get(self.ty(left)).clone();
            let pointer = matches!(at, Type::Pointer(_));
            let null = |e: ExprId| {
                let bare = self.stripped(e);
                matches!(self.program.expr(bare).kind, ExprKind::Int(0)).then_some(bare)
            };
            if pointer {
                // A null pointer constant needs no cast, nor do pointers of one type.
                b = null(right).unwrap_or(right);
                a = null(left).unwrap_or(left);
            } else {
                let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
                let choices = [
                    (self.stripped(left), self.stripped(right)),
                    (self.stripped(left), right),
                    (left, self.stripped(right)),
                ];
                if let Some(text) = self.with_constant(op, left, right, &at, wanted, depth) {
                    return text;
                }
                for (x, y) in choices {
                    let fits = if shift {
                        y == right && usual(types, self.ty(x), self.ty(x)) == Some(at.clone())
                    } else {
                        usual(types, self.ty(x), self.ty(y)) == Some(at.clone())
                    };
                    if fits {
                        (a, b) = (x, y);
                        break;
                    }
                }
            }
        }
        if own == 0 {
            return format!(
                "{sign}({}, {})",
                self.expr(a, 0, depth),
                self.expr(b, 0, depth)
            );
        }
        let left = self.expr(a, own, depth);
        let right = self.expr(b, own + 1, depth);
        parenthesised(format!("{left} {sign} {right}"), own, wanted)
    }

    /// An operator with a small constant on its right, which needs no suffix: the other operand
    /// brings it to its type.
    fn with_constant(
        &self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        at: &Type,
        wanted: u32,
        depth: u32,
    ) -> Option<String> {
        let types = &self.program.types;
        let value = self.small(right)?;
        let (own, sign) = level(op);
        if own == 0 || matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            return None;
        }
        let fits = |x: ExprId| match (promoted(types.get(self.ty(x))), at) {
            (
                Type::Int { width, signed },
                Type::Int {
                    width: to,
                    signed: sign,
                },
            ) => width == *to && signed == *sign,
            _ => false,
        };
        let left = [self.stripped(left), left].into_iter().find(|&x| fits(x))?;
        let left = self.expr(left, own, depth);
        Some(parenthesised(format!("{left} {sign} {value}"), own, wanted))
    }

    /// The value of a constant that is an `int` and not negative.
    fn small(&self, expr: ExprId) -> Option<u128> {
        match (
            self.program.expr(expr).kind,
            self.program.types.get(self.ty(expr)),
        ) {
            (ExprKind::Int(bits), Type::Int { width: 32.., .. }) if bits < 1 << 31 => Some(bits),
            _ => None,
        }
    }

    /// An index: converted to `ptrdiff_t` by C itself.
    fn index(&self, expr: ExprId, wanted: u32, depth: u32) -> String {
        match self.small(expr) {
            Some(value) => value.to_string(),
            None => self.expr(self.stripped(expr), wanted, depth),
        }
    }

    fn place(&self, id: PlaceId, wanted: u32, depth: u32) -> String {
        if depth > DEEP {
            return "...".to_owned();
        }
        let depth = depth + 1;
        let program = self.program;
        match program.place(id).kind {
            PlaceKind::Var(variable) => self.variable(variable),
            PlaceKind::Deref(pointer) => {
                if let ExprKind::PointerAdd { pointer, index, .. } = program.expr(pointer).kind {
                    let base = self.expr(pointer, POSTFIX, depth);
                    let index = self.index(index, 0, depth);
                    return format!("{base}[{index}]");
                }
                let inner = self.expr(pointer, PREFIX, depth);
                parenthesised(format!("*{inner}"), PREFIX, wanted)
            }
            PlaceKind::Field(base, field) => {
                let name = match program.types.get(program.place(base).ty) {
                    Type::Record(record) => program.types.record(*record).fields[field as usize]
                        .name
                        .clone(),
                    _ => None,
                };
                let Some(name) = name else {
                    // An anonymous member is passed through without a word.
                    return self.place(base, wanted, depth);
                };
                if let PlaceKind::Deref(pointer) = program.place(base).kind
                    && !matches!(program.expr(pointer).kind, ExprKind::PointerAdd { .. })
                {
                    return format!("{}->{name}", self.expr(pointer, POSTFIX, depth));
                }
                let anonymous = self.place(base, POSTFIX, depth);
                let arrow = self.through_pointer(base);
                let (anonymous, sign) = match arrow {
                    Some(pointer) => (self.expr(pointer, POSTFIX, depth), "->"),
                    None => (anonymous, "."),
                };
                format!("{anonymous}{sign}{name}")
            }
            PlaceKind::Index(base, index) => {
                let base = self.place(base, POSTFIX, depth);
                let index = self.index(index, 0, depth);
                format!("{base}[{index}]")
            }
        }
    }

    /// The pointer under a chain of anonymous members.
    fn through_pointer(&self, mut place: PlaceId) -> Option<ExprId> {
        loop {
            match self.program.place(place).kind {
                PlaceKind::Field(base, field) => {
                    let Type::Record(record) = self.program.types.get(self.program.place(base).ty)
                    else {
                        return None;
                    };
                    let fields = &self.program.types.record(*record).fields;
                    if fields[field as usize].name.is_some() {
                        return None;
                    }
                    place = base;
                }
                PlaceKind::Deref(pointer) => return Some(pointer),
                _ => return None,
            }
        }
    }

    /// A variable's name; with the line of its declaration where its function has several of
    /// that name.
    fn variable(&self, id: VarId) -> String {
        let variable = self.program.variable(id);
        let function = match variable.kind {
            VarKind::Formal(f) | VarKind::Local(f) | VarKind::Static(f) => f,
            VarKind::Result(_) => return "$return".to_owned(),
            VarKind::Global | VarKind::Literal | VarKind::Temporary(_) => {
                return variable.name.clone();
            }
        };
        if of_function(self.program, function, &variable.name).len() > 1 {
            format!("{}@{}", variable.name, variable.source.line)
        } else {
            variable.name.clone()
        }
    }

    fn number(&self, bits: u128, ty: TypeId) -> String {
        match *self.program.types.get(ty) {
            Type::Int { width, signed } => {
                let suffix = match (width, signed, self.program.types.model()) {
                    (64.., true, DataModel::Lp64) => "L",
                    (64.., false, DataModel::Lp64) => "UL",
                    (64.., true, DataModel::Ilp32) => "LL",
                    (64.., false, DataModel::Ilp32) => "ULL",
                    (32.., false, _) => "U",
                    _ => "",
                };
                if signed {
                    let shift = 128 - width;
                    format!("{}{suffix}", ((bits << shift) as i128) >> shift)
                } else {
                    format!("{bits}{suffix}")
                }
            }
            Type::Pointer(_) if bits == 0 => "0".to_owned(),
            Type::Pointer(_) => format!("({}){bits:#x}", type_name(&self.program.types, ty)),
            _ => bits.to_string(),
        }
    }
}
