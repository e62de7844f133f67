//! C expressions to typed expressions of a program.

mod primary;
mod types;

use super::lexer::{Kind, Token};
use super::typing::{promoted, usual};
use super::{PredicateSet, Scope};
use hardbop_cfront::dump::type_name;
use hardbop_cfront::ids::{ExprId, PlaceId, TypeId};
use hardbop_cfront::program::{BinaryOp, ExprKind, PlaceKind, UnaryOp};
use hardbop_cfront::types::Type;
use hardbop_diagnostics::{Diagnostic, Span};

/// Expressions may be nested this deeply.
const DEEPEST: u32 = 200;

/// What was read: a value, or a place that can still be taken the address of.
#[derive(Clone, Copy, Debug)]
enum Operand {
    Value(ExprId),
    Place(PlaceId),
}

/// Where in `old(...)` the parser is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    Now,
    Entry,
}

pub(super) struct Parser<'a> {
    pub set: &'a mut PredicateSet,
    pub scope: Scope,
    pub tokens: &'a [Token],
    at: usize,
    depth: u32,
    time: Time,
}

type Result<T> = std::result::Result<T, Diagnostic>;

/// Operators with the strength with which they bind, `||` first.
const OPERATORS: [(&str, u32, BinaryOp); 18] = [
    ("||", 1, BinaryOp::Or),
    ("&&", 2, BinaryOp::And),
    ("|", 3, BinaryOp::BitOr),
    ("^", 4, BinaryOp::BitXor),
    ("&", 5, BinaryOp::BitAnd),
    ("==", 6, BinaryOp::Eq),
    ("!=", 6, BinaryOp::Ne),
    ("<", 7, BinaryOp::Lt),
    ("<=", 7, BinaryOp::Le),
    (">", 7, BinaryOp::Gt),
    (">=", 7, BinaryOp::Ge),
    ("<<", 8, BinaryOp::Shl),
    (">>", 8, BinaryOp::Shr),
    ("+", 9, BinaryOp::Add),
    ("-", 9, BinaryOp::Sub),
    ("*", 10, BinaryOp::Mul),
    ("/", 10, BinaryOp::Div),
    ("%", 10, BinaryOp::Rem),
];

impl<'a> Parser<'a> {
    pub fn new(set: &'a mut PredicateSet, scope: Scope, tokens: &'a [Token]) -> Parser<'a> {
        Parser {
            set,
            scope,
            tokens,
            at: 0,
            depth: 0,
            time: Time::Now,
        }
    }

    /// One predicate: a scalar expression up to the next comma, semicolon or the end.
    pub fn predicate(&mut self) -> Result<(ExprId, Span)> {
        let start = self.span();
        let operand = self.conditional()?;
        let span = start.to(self.tokens[self.at.saturating_sub(1)].span);
        match &self.peek().kind {
            Kind::End | Kind::Sign("," | ";") => {}
            Kind::Sign("=") => {
                return Err(self
                    .error("a predicate cannot have side effects")
                    .label("an assignment; a comparison is written `==`"));
            }
            Kind::Sign("+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "^=" | "|=" | "<<=" | ">>=") => {
                return Err(self
                    .error("a predicate cannot have side effects")
                    .label("an assignment"));
            }
            _ => {
                return Err(self
                    .error("unexpected text after the predicate")
                    .label("expected an operator, `,` or the end of the line"));
            }
        }
        let value = self.value(operand, span)?;
        let ty = self.ty(value);
        if !self.types().is_scalar(ty) {
            let name = type_name(self.types(), ty);
            return Err(Diagnostic::error(span, "a predicate must be a scalar")
                .label(format!("this has the type `{name}`")));
        }
        Ok((value, span))
    }

    /// Whether another predicate follows; passes the separators.
    pub fn more(&mut self) -> bool {
        while matches!(self.peek().kind, Kind::Sign("," | ";")) {
            self.at += 1;
        }
        self.peek().kind != Kind::End
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn span(&self) -> Span {
        self.peek().span
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.span(), message)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek().kind, Kind::Sign(s) if s == sign);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        if self.take(sign) {
            return Ok(());
        }
        Err(self
            .error(format!("expected `{sign}`"))
            .label(match self.peek().kind {
                Kind::End => "the predicate ends here".to_owned(),
                _ => String::new(),
            }))
    }

    fn types(&self) -> &hardbop_cfront::types::Types {
        &self.set.program.types
    }

    fn ty(&self, expr: ExprId) -> TypeId {
        self.set.program.expr(expr).ty
    }

    fn kind(&self, expr: ExprId) -> Type {
        self.types().get(self.ty(expr)).clone()
    }

    fn add(&mut self, kind: ExprKind, ty: TypeId) -> ExprId {
        self.set.expr(kind, ty)
    }

    fn int_type(&mut self) -> TypeId {
        self.set.program.types.int(32, true)
    }

    /// A place or a value as a value: arrays and functions decay.
    fn value(&mut self, operand: Operand, _: Span) -> Result<ExprId> {
        match operand {
            Operand::Value(expr) => Ok(expr),
            Operand::Place(place) => {
                let ty = self.set.program.place(place).ty;
                if let Type::Array { element, .. } = *self.types().get(ty) {
                    let pointer = self.set.program.types.pointer(element);
                    self.set.take_address(place);
                    return Ok(self.add(ExprKind::AddressOf(place), pointer));
                }
                Ok(self.add(ExprKind::Load(place), ty))
            }
        }
    }

    fn scalar(&mut self, operand: Operand, span: Span) -> Result<ExprId> {
        let value = self.value(operand, span)?;
        let ty = self.ty(value);
        if self.types().is_scalar(ty) {
            return Ok(value);
        }
        let name = type_name(self.types(), ty);
        Err(Diagnostic::error(span, "this operand must be a scalar")
            .label(format!("it has the type `{name}`")))
    }

    fn convert(&mut self, expr: ExprId, ty: TypeId) -> ExprId {
        if self.ty(expr) == ty {
            return expr;
        }
        // Constants are folded, so that `x == 0` has one form.
        if let (ExprKind::Int(bits), Type::Int { width, signed }, Type::Int { width: to, .. }) = (
            self.set.program.expr(expr).kind,
            self.kind(expr),
            self.types().get(ty).clone(),
        ) {
            let shift = 128 - width;
            let wide = if signed {
                (((bits << shift) as i128) >> shift) as u128
            } else {
                bits
            };
            let mask = if to == 128 { u128::MAX } else { (1 << to) - 1 };
            return self.add(ExprKind::Int(wide & mask), ty);
        }
        if let (ExprKind::Int(0), Type::Pointer(_)) =
            (self.set.program.expr(expr).kind, self.types().get(ty))
        {
            return self.add(ExprKind::Int(0), ty);
        }
        self.add(ExprKind::Convert(expr), ty)
    }

    fn promote(&mut self, expr: ExprId) -> ExprId {
        let ty = promoted(&self.kind(expr));
        let ty = self.set.program.types.intern(ty);
        self.convert(expr, ty)
    }

    fn conditional(&mut self) -> Result<Operand> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("the predicate is nested too deeply"));
        }
        let start = self.span();
        let condition = self.binary(1)?;
        let result = if self.take("?") {
            let condition = self.scalar(condition, start)?;
            let middle = self.span();
            let then = self.conditional()?;
            let then = self.scalar(then, middle)?;
            self.expect(":")?;
            let last = self.span();
            let otherwise = self.conditional()?;
            let otherwise = self.scalar(otherwise, last)?;
            let (then, otherwise) = self.meet(then, otherwise, middle.to(last))?;
            let ty = self.ty(then);
            Operand::Value(self.add(
                ExprKind::Conditional {
                    condition,
                    then,
                    otherwise,
                },
                ty,
            ))
        } else {
            condition
        };
        self.depth -= 1;
        Ok(result)
    }

    /// Brings two scalars to one type: the usual conversions, or that of the pointer.
    fn meet(&mut self, left: ExprId, right: ExprId, span: Span) -> Result<(ExprId, ExprId)> {
        let (a, b) = (self.kind(left), self.kind(right));
        let pointer = |ty: &Type| matches!(ty, Type::Pointer(_));
        let target = if pointer(&a) || pointer(&b) {
            if matches!(a, Type::Float(_)) || matches!(b, Type::Float(_)) {
                return Err(Diagnostic::error(
                    span,
                    "a pointer and a floating-point number do not mix",
                ));
            }
            if pointer(&a) {
                self.ty(left)
            } else {
                self.ty(right)
            }
        } else {
            match usual(self.types(), self.ty(left), self.ty(right)) {
                Some(ty) => self.set.program.types.intern(ty),
                None => {
                    return Err(Diagnostic::error(
                        span,
                        "these operands do not fit together",
                    ));
                }
            }
        };
        Ok((self.convert(left, target), self.convert(right, target)))
    }

    fn binary(&mut self, lowest: u32) -> Result<Operand> {
        let start = self.span();
        let mut left = self.prefix()?;
        while let Kind::Sign(sign) = self.peek().kind {
            let Some(&(_, strength, op)) = OPERATORS.iter().find(|(s, ..)| *s == sign) else {
                break;
            };
            if strength < lowest {
                break;
            }
            let at = self.span();
            self.at += 1;
            self.depth += 1;
            if self.depth > DEEPEST {
                return Err(self.error("the predicate is nested too deeply"));
            }
            let second = self.span();
            let right = self.binary(strength + 1)?;
            self.depth -= 1;
            let a = self.scalar(left, start)?;
            let b = self.scalar(right, second)?;
            left = Operand::Value(self.operator(op, a, b, at)?);
        }
        Ok(left)
    }

    fn operator(&mut self, op: BinaryOp, a: ExprId, b: ExprId, span: Span) -> Result<ExprId> {
        let int = self.int_type();
        let (left, right) = (self.kind(a), self.kind(b));
        let pointers = (
            matches!(left, Type::Pointer(_)),
            matches!(right, Type::Pointer(_)),
        );
        match op {
            BinaryOp::And | BinaryOp::Or => Ok(self.add(ExprKind::Binary(op, a, b), int)),
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => {
                let (a, b) = self.meet(a, b, span)?;
                Ok(self.add(ExprKind::Binary(op, a, b), int))
            }
            BinaryOp::Add | BinaryOp::Sub if pointers.0 || pointers.1 => {
                self.pointer_arithmetic(op, a, b, span)
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                if !matches!(
                    (&left, &right),
                    (Type::Int { .. } | Type::Bool, Type::Int { .. } | Type::Bool)
                ) {
                    return Err(Diagnostic::error(span, "shifts need integers"));
                }
                let (a, b) = (self.promote(a), self.promote(b));
                let ty = self.ty(a);
                Ok(self.add(ExprKind::Binary(op, a, b), ty))
            }
            _ => {
                if pointers.0 || pointers.1 {
                    return Err(Diagnostic::error(
                        span,
                        "this operator does not take pointers",
                    ));
                }
                let (a, b) = self.meet(a, b, span)?;
                let ty = self.ty(a);
                let integers = matches!(self.types().get(ty), Type::Int { .. });
                let needs = matches!(
                    op,
                    BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor
                );
                if needs && !integers {
                    return Err(Diagnostic::error(span, "this operator needs integers"));
                }
                Ok(self.add(ExprKind::Binary(op, a, b), ty))
            }
        }
    }

    fn pointer_arithmetic(
        &mut self,
        op: BinaryOp,
        a: ExprId,
        b: ExprId,
        span: Span,
    ) -> Result<ExprId> {
        let (left, right) = (self.kind(a), self.kind(b));
        match (left, right) {
            (Type::Pointer(to), Type::Pointer(_)) if op == BinaryOp::Sub => {
                let scale = self.types().size_of(to).max(1);
                let target = self.ty(a);
                let b = self.convert(b, target);
                let ty = self.set.program.types.intptr();
                Ok(self.add(
                    ExprKind::PointerDifference {
                        left: a,
                        right: b,
                        scale,
                    },
                    ty,
                ))
            }
            (Type::Pointer(_), Type::Int { .. } | Type::Bool) => Ok(self.moved(a, b, op)),
            (Type::Int { .. } | Type::Bool, Type::Pointer(_)) if op == BinaryOp::Add => {
                Ok(self.moved(b, a, op))
            }
            _ => Err(Diagnostic::error(
                span,
                "pointers cannot be added up like this",
            )),
        }
    }

    /// `pointer + index` or `pointer - index`.
    fn moved(&mut self, pointer: ExprId, index: ExprId, op: BinaryOp) -> ExprId {
        let ty = self.ty(pointer);
        let scale = match *self.types().get(ty) {
            Type::Pointer(to) => self.types().size_of(to),
            _ => 1,
        };
        let wide = self.set.program.types.intptr();
        let mut index = self.convert(index, wide);
        if op == BinaryOp::Sub {
            index = self.add(ExprKind::Unary(UnaryOp::Negate, index), wide);
        }
        self.add(
            ExprKind::PointerAdd {
                pointer,
                index,
                scale,
            },
            ty,
        )
    }

    fn prefix(&mut self) -> Result<Operand> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("the predicate is nested too deeply"));
        }
        let result = self.prefix_inner();
        self.depth -= 1;
        result
    }

    fn prefix_inner(&mut self) -> Result<Operand> {
        let start = self.span();
        let Kind::Sign(sign) = self.peek().kind else {
            if matches!(&self.peek().kind, Kind::Name(name) if name == "sizeof") {
                self.at += 1;
                return self.size_of();
            }
            return self.postfix();
        };
        match sign {
            "++" | "--" => Err(self.error("a predicate cannot have side effects")),
            "!" => {
                self.at += 1;
                let second = self.span();
                let operand = self.prefix()?;
                let operand = self.scalar(operand, second)?;
                let int = self.int_type();
                Ok(Operand::Value(
                    self.add(ExprKind::Unary(UnaryOp::Not, operand), int),
                ))
            }
            "-" | "+" | "~" => {
                self.at += 1;
                let second = self.span();
                let operand = self.prefix()?;
                let operand = self.scalar(operand, second)?;
                let kind = self.kind(operand);
                let integer = matches!(kind, Type::Int { .. } | Type::Bool);
                if !(integer || sign != "~" && matches!(kind, Type::Float(_))) {
                    return Err(Diagnostic::error(start, "this operator needs a number"));
                }
                let operand = self.promote(operand);
                let ty = self.ty(operand);
                Ok(Operand::Value(match sign {
                    "+" => operand,
                    "-" => match (self.set.program.expr(operand).kind, self.kind(operand)) {
                        (ExprKind::Int(bits), Type::Int { width, .. }) => {
                            let mask = if width == 128 {
                                u128::MAX
                            } else {
                                (1 << width) - 1
                            };
                            self.add(ExprKind::Int(bits.wrapping_neg() & mask), ty)
                        }
                        _ => self.add(ExprKind::Unary(UnaryOp::Negate, operand), ty),
                    },
                    _ => self.add(ExprKind::Unary(UnaryOp::BitNot, operand), ty),
                }))
            }
            "*" => {
                self.at += 1;
                let second = self.span();
                let operand = self.prefix()?;
                let pointer = self.scalar(operand, second)?;
                self.dereference(pointer, start)
            }
            "&" => {
                self.at += 1;
                let second = self.span();
                match self.prefix()? {
                    Operand::Place(place) => {
                        if self.is_bit_field(place) {
                            return Err(Diagnostic::error(second, "a bit-field has no address"));
                        }
                        self.set.take_address(place);
                        let ty = self.set.program.place(place).ty;
                        let ty = self.set.program.types.pointer(ty);
                        Ok(Operand::Value(self.add(ExprKind::AddressOf(place), ty)))
                    }
                    // `&f` of a function is `f`.
                    Operand::Value(value)
                        if matches!(self.set.program.expr(value).kind, ExprKind::Function(_)) =>
                    {
                        Ok(Operand::Value(value))
                    }
                    Operand::Value(_) => {
                        Err(Diagnostic::error(second, "only a place has an address"))
                    }
                }
            }
            "(" => {
                if let Some(end) = self.type_at(self.at + 1) {
                    let ty = self.parse_type(self.at + 1)?;
                    self.at = end;
                    self.expect(")")?;
                    let second = self.span();
                    let operand = self.prefix()?;
                    let value = self.scalar(operand, second)?;
                    if !self.types().is_scalar(ty) {
                        return Err(Diagnostic::error(start, "only scalars can be converted to"));
                    }
                    return Ok(Operand::Value(self.convert(value, ty)));
                }
                self.postfix()
            }
            _ => self.postfix(),
        }
    }

    fn is_bit_field(&self, place: PlaceId) -> bool {
        hardbop_cfront::points_to::bit_field(&self.set.program, place).is_some()
    }

    fn dereference(&mut self, pointer: ExprId, span: Span) -> Result<Operand> {
        match self.kind(pointer) {
            Type::Pointer(to) => match self.types().get(to) {
                Type::Void => Err(Diagnostic::error(
                    span,
                    "a pointer to `void` cannot be followed",
                )
                .label("convert it to another pointer first")),
                Type::Function { .. } => Ok(Operand::Value(pointer)),
                _ => Ok(Operand::Place(
                    self.set.place(PlaceKind::Deref(pointer), to),
                )),
            },
            _ => {
                let name = type_name(self.types(), self.ty(pointer));
                Err(Diagnostic::error(span, "only a pointer can be followed")
                    .label(format!("the operand has the type `{name}`")))
            }
        }
    }
}
