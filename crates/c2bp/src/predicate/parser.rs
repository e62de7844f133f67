//! C expressions to typed expressions of a program.

use super::lexer::{Kind, Number, Precision, Token};
use super::names::{self, Meaning};
use super::typing::{promoted, usual};
use super::{PredicateSet, Scope};
use hardbop_cfront::dump::type_name;
use hardbop_cfront::ids::{ExprId, PlaceId, RecordId, TypeId};
use hardbop_cfront::program::{BinaryOp, ExprKind, PlaceKind, UnaryOp, VarKind};
use hardbop_cfront::types::{FloatKind, Type};
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

    fn size_of(&mut self) -> Result<Operand> {
        let ty = if matches!(self.peek().kind, Kind::Sign("("))
            && let Some(end) = self.type_at(self.at + 1)
        {
            let ty = self.parse_type(self.at + 1)?;
            self.at = end;
            self.expect(")")?;
            ty
        } else {
            match self.prefix()? {
                Operand::Value(value) => self.ty(value),
                Operand::Place(place) => self.set.program.place(place).ty,
            }
        };
        let size = self.types().size_of(ty);
        let width = self.types().model().pointer_size() as u32 * 8;
        let ty = self.set.program.types.int(width, false);
        Ok(Operand::Value(
            self.add(ExprKind::Int(u128::from(size)), ty),
        ))
    }

    fn postfix(&mut self) -> Result<Operand> {
        let start = self.span();
        let mut operand = self.primary()?;
        loop {
            let Kind::Sign(sign) = self.peek().kind else {
                return Ok(operand);
            };
            let here = self.span();
            match sign {
                "[" => {
                    self.at += 1;
                    let second = self.span();
                    let index = self.conditional()?;
                    let index = self.scalar(index, second)?;
                    self.expect("]")?;
                    operand = self.element(operand, index, start.to(here))?;
                }
                "." => {
                    self.at += 1;
                    let Operand::Place(place) = operand else {
                        return Err(Diagnostic::error(
                            here,
                            "only a struct or union has members",
                        ));
                    };
                    operand = self.member(place)?;
                }
                "->" => {
                    self.at += 1;
                    let pointer = self.scalar(operand, start)?;
                    let Operand::Place(place) = self.dereference(pointer, start)? else {
                        return Err(Diagnostic::error(here, "a function has no members"));
                    };
                    operand = self.member(place)?;
                }
                "++" | "--" => return Err(self.error("a predicate cannot have side effects")),
                "(" => {
                    return Err(self
                        .error("a predicate cannot call functions")
                        .label("its value must not depend on running code"));
                }
                _ => return Ok(operand),
            }
        }
    }

    fn element(&mut self, base: Operand, index: ExprId, span: Span) -> Result<Operand> {
        if !matches!(self.kind(index), Type::Int { .. } | Type::Bool) {
            return Err(Diagnostic::error(span, "an index must be an integer"));
        }
        if let Operand::Place(place) = base
            && let Type::Array { element, .. } = *self.types().get(self.set.program.place(place).ty)
        {
            let wide = self.set.program.types.intptr();
            let index = self.convert(index, wide);
            return Ok(Operand::Place(
                self.set.place(PlaceKind::Index(place, index), element),
            ));
        }
        let pointer = self.scalar(base, span)?;
        if !matches!(self.kind(pointer), Type::Pointer(_)) {
            return Err(Diagnostic::error(
                span,
                "only arrays and pointers can be indexed",
            ));
        }
        let moved = self.moved(pointer, index, BinaryOp::Add);
        self.dereference(moved, span)
    }

    fn member(&mut self, place: PlaceId) -> Result<Operand> {
        let span = self.span();
        let Kind::Name(name) = self.peek().kind.clone() else {
            return Err(self.error("expected the name of a member"));
        };
        let Type::Record(record) = *self.types().get(self.set.program.place(place).ty) else {
            let ty = type_name(self.types(), self.set.program.place(place).ty);
            return Err(
                Diagnostic::error(span, "only a struct or union has members")
                    .label(format!("this is a member of a `{ty}`")),
            );
        };
        self.at += 1;
        let Some(path) = self.find_member(record, &name, 0) else {
            let record = self.types().record(record);
            let fields = record.fields.iter().filter_map(|f| f.name.as_deref());
            let error =
                Diagnostic::error(span, format!("`{}` has no member `{name}`", record.name));
            return Err(match names::suggestion(&name, fields) {
                Some(known) => error.label(format!("did you mean `{known}`?")),
                None => error,
            });
        };
        let mut at = place;
        for (field, ty) in path {
            at = self.set.place(PlaceKind::Field(at, field), ty);
        }
        Ok(Operand::Place(at))
    }

    /// The way to a member, through anonymous ones.
    fn find_member(&self, record: RecordId, name: &str, depth: u32) -> Option<Vec<(u32, TypeId)>> {
        let fields = &self.types().record(record).fields;
        for (index, field) in fields.iter().enumerate() {
            if field.name.as_deref() == Some(name) {
                return Some(vec![(index as u32, field.ty)]);
            }
            if field.name.is_none()
                && depth < 32
                && let Type::Record(inner) = *self.types().get(field.ty)
                && let Some(mut path) = self.find_member(inner, name, depth + 1)
            {
                path.insert(0, (index as u32, field.ty));
                return Some(path);
            }
        }
        None
    }

    fn primary(&mut self) -> Result<Operand> {
        let token = self.peek().clone();
        match token.kind {
            Kind::Int(number) => {
                self.at += 1;
                let ty = self.number_type(number);
                let bits = u128::from(number.value);
                let bits = match *self.types().get(ty) {
                    Type::Int { width: 32, .. } => bits & 0xffff_ffff,
                    _ => bits,
                };
                Ok(Operand::Value(self.add(ExprKind::Int(bits), ty)))
            }
            Kind::Float(value, precision) => {
                self.at += 1;
                let (kind, bits) = match precision {
                    Precision::Single => (FloatKind::F32, u128::from((value as f32).to_bits())),
                    Precision::Double => (FloatKind::F64, u128::from(value.to_bits())),
                };
                let ty = self.set.program.types.intern(Type::Float(kind));
                Ok(Operand::Value(self.add(ExprKind::Float(bits), ty)))
            }
            Kind::Name(name) => {
                self.at += 1;
                self.name(&name, token.span)
            }
            Kind::Sign("(") => {
                self.at += 1;
                let operand = self.conditional()?;
                if matches!(self.peek().kind, Kind::Sign("=")) {
                    return Err(self
                        .error("a predicate cannot have side effects")
                        .label("an assignment; a comparison is written `==`"));
                }
                if matches!(self.peek().kind, Kind::Sign(",")) {
                    return Err(self.error("a predicate cannot use the comma operator"));
                }
                self.expect(")")?;
                Ok(operand)
            }
            Kind::End => Err(self
                .error("a predicate is missing")
                .label("expected an expression")),
            Kind::Sign(_) => Err(self.error("expected an expression")),
        }
    }

    fn number_type(&mut self, number: Number) -> TypeId {
        let types = &mut self.set.program.types;
        if number.character {
            return types.int(32, true);
        }
        let decimal = number.base == 10;
        let long = match types.model() {
            hardbop_cfront::types::DataModel::Lp64 => 64,
            hardbop_cfront::types::DataModel::Ilp32 if number.long => 32,
            hardbop_cfront::types::DataModel::Ilp32 => 32,
        };
        let candidates = [
            (32, true),
            (32, false),
            (long, true),
            (long, false),
            (64, true),
            (64, false),
        ];
        for (width, signed) in candidates {
            if number.unsigned && signed
                || number.long && width < long
                || decimal && !number.unsigned && !signed
            {
                continue;
            }
            let bits = if signed { width - 1 } else { width };
            if bits >= 64 || number.value >> bits == 0 {
                return types.int(width, signed);
            }
        }
        types.int(64, false)
    }

    fn name(&mut self, name: &str, span: Span) -> Result<Operand> {
        if name == "old" && matches!(self.peek().kind, Kind::Sign("(")) {
            return self.old(span);
        }
        if name == "return" || name == "$return" {
            return self.result(span);
        }
        let program = &self.set.program;
        match names::resolve(program, self.scope, name) {
            Meaning::Variable(variable) => {
                let described = program.variable(variable);
                if self.time == Time::Entry
                    && matches!(described.kind, VarKind::Local(_) | VarKind::Temporary(_))
                {
                    return Err(Diagnostic::error(
                        span,
                        format!("`{name}` has no value when its function is entered"),
                    )
                    .label("`old` takes parameters and globals only"));
                }
                let ty = described.ty;
                Ok(Operand::Place(self.set.place(PlaceKind::Var(variable), ty)))
            }
            Meaning::Function(function) => {
                let ty = program.function(function).ty;
                let ty = self.set.program.types.pointer(ty);
                Ok(Operand::Value(self.add(ExprKind::Function(function), ty)))
            }
            Meaning::Several(variables) => {
                let lines: Vec<String> = variables
                    .iter()
                    .map(|&id| format!("`{name}@{}`", program.variable(id).source.line))
                    .collect();
                Err(
                    Diagnostic::error(span, format!("`{name}` is declared more than once here"))
                        .label(format!("say which one: {}", lines.join(" or "))),
                )
            }
            Meaning::Elsewhere(functions)
                if functions.iter().any(|&f| self.scope == Scope::Function(f)) =>
            {
                let (bare, line) = name.rsplit_once('@').unwrap_or((name, ""));
                Err(Diagnostic::error(
                    span,
                    format!("no `{bare}` is declared in line {line}"),
                ))
            }
            Meaning::Elsewhere(functions) => {
                let of = &program.function(functions[0]).name;
                Err(match self.scope {
                    Scope::Global => Diagnostic::error(
                        span,
                        format!(
                            "a global predicate cannot mention `{name}`, which is local to `{of}`"
                        ),
                    )
                    .label(format!(
                        "write `{of}: ...` to make it a predicate of `{of}`"
                    )),
                    Scope::Function(function) => {
                        let here = &program.function(function).name;
                        Diagnostic::error(
                            span,
                            format!("`{name}` is not visible in `{here}`: it is local to `{of}`"),
                        )
                    }
                })
            }
            Meaning::Nothing if name == "NULL" => {
                let void = self.set.program.types.intern(Type::Void);
                let ty = self.set.program.types.pointer(void);
                Ok(Operand::Value(self.add(ExprKind::Int(0), ty)))
            }
            Meaning::Nothing => {
                let error = Diagnostic::error(span, format!("there is no variable `{name}`"));
                let known = names::suggestion(name, names::visible(program, self.scope));
                Err(match known {
                    Some(known) => error.label(format!("did you mean `{known}`?")),
                    None => error,
                })
            }
        }
    }

    fn result(&mut self, span: Span) -> Result<Operand> {
        if self.time == Time::Entry {
            return Err(Diagnostic::error(
                span,
                "there is no returned value at the entry",
            ));
        }
        let Scope::Function(function) = self.scope else {
            return Err(Diagnostic::error(
                span,
                "a global predicate cannot mention a returned value",
            )
            .label("write it in the scope of a function"));
        };
        let described = self.set.program.function(function);
        match described.result {
            Some(variable) => {
                let ty = self.set.program.variable(variable).ty;
                Ok(Operand::Place(self.set.place(PlaceKind::Var(variable), ty)))
            }
            None => Err(Diagnostic::error(
                span,
                format!("`{}` does not return a value", described.name),
            )),
        }
    }

    fn old(&mut self, span: Span) -> Result<Operand> {
        let Scope::Function(function) = self.scope else {
            return Err(
                Diagnostic::error(span, "a global predicate cannot mention entry values")
                    .label("`old` belongs to a function"),
            );
        };
        if self.time == Time::Entry {
            return Err(Diagnostic::error(span, "`old` cannot be nested"));
        }
        self.expect("(")?;
        self.time = Time::Entry;
        let inner = self.span();
        let operand = self.conditional()?;
        let value = self.scalar(operand, inner)?;
        self.time = Time::Now;
        self.expect(")")?;
        let variable = self.set.old(function, value);
        let ty = self.ty(value);
        let place = self.set.place(PlaceKind::Var(variable), ty);
        Ok(Operand::Value(self.add(ExprKind::Load(place), ty)))
    }

    /// If a type stands at a position: where it ends.
    fn type_at(&self, start: usize) -> Option<usize> {
        let mut at = start;
        let mut words = 0;
        while let Some(Token {
            kind: Kind::Name(name),
            ..
        }) = self.tokens.get(at)
        {
            match name.as_str() {
                "struct" | "union" => at += 2,
                "void" | "char" | "short" | "int" | "long" | "signed" | "unsigned" | "_Bool"
                | "float" | "double" | "const" | "volatile" => at += 1,
                _ => break,
            }
            words += 1;
        }
        while matches!(
            self.tokens.get(at),
            Some(Token {
                kind: Kind::Sign("*"),
                ..
            })
        ) {
            at += 1;
        }
        let closed = matches!(
            self.tokens.get(at),
            Some(Token {
                kind: Kind::Sign(")"),
                ..
            })
        );
        (words > 0 && closed).then_some(at)
    }

    /// The type at a position where [`Parser::type_at`] found one.
    fn parse_type(&mut self, start: usize) -> Result<TypeId> {
        let mut at = start;
        let mut words: Vec<String> = Vec::new();
        let mut record = None;
        while let Some(Token {
            kind: Kind::Name(name),
            ..
        }) = self.tokens.get(at)
        {
            at += 1;
            match name.as_str() {
                "const" | "volatile" => {}
                "struct" | "union" => {
                    let span = self.tokens[at.min(self.tokens.len() - 1)].span;
                    let Some(Token {
                        kind: Kind::Name(tag),
                        ..
                    }) = self.tokens.get(at)
                    else {
                        return Err(Diagnostic::error(
                            span,
                            "expected the name of a struct or union",
                        ));
                    };
                    at += 1;
                    record = Some(self.record(tag, span)?);
                }
                _ => words.push(name.clone()),
            }
        }
        let types = &mut self.set.program.types;
        let has = |word: &str| words.iter().any(|w| w == word);
        let long = if types.model().pointer_size() == 8 {
            64
        } else {
            32
        };
        let longs = words.iter().filter(|w| *w == "long").count();
        let ty = if let Some(record) = record {
            Type::Record(record)
        } else if has("void") {
            Type::Void
        } else if has("_Bool") {
            Type::Bool
        } else if has("float") {
            Type::Float(FloatKind::F32)
        } else if has("double") {
            Type::Float(if longs > 0 {
                FloatKind::X87
            } else {
                FloatKind::F64
            })
        } else {
            let width = if has("char") {
                8
            } else if has("short") {
                16
            } else if longs > 1 {
                64
            } else if longs == 1 {
                long
            } else {
                32
            };
            Type::Int {
                width,
                signed: !has("unsigned"),
            }
        };
        let mut ty = types.intern(ty);
        while matches!(
            self.tokens.get(at),
            Some(Token {
                kind: Kind::Sign("*"),
                ..
            })
        ) {
            ty = types.pointer(ty);
            at += 1;
        }
        Ok(ty)
    }

    fn record(&self, tag: &str, span: Span) -> Result<RecordId> {
        let types = self.types();
        let matches = |name: &str| {
            name == tag || name.strip_prefix("struct ").or(name.strip_prefix("union ")) == Some(tag)
        };
        (0..types.record_count() as u32)
            .map(RecordId)
            .find(|&id| types.record(id).complete && matches(&types.record(id).name))
            .ok_or_else(|| Diagnostic::error(span, format!("there is no struct or union `{tag}`")))
    }
}
