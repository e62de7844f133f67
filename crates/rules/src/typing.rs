//! The expressions of a rule, typed as in C, as expressions of the program.

use crate::ast::*;
use crate::watching::Subject;
use crate::weave::Home;
use hardbop_cfront::dump::type_name;
use hardbop_cfront::edit::Tables;
use hardbop_cfront::ids::{ExprId, FuncId, PlaceId, TypeId, VarId};
use hardbop_cfront::program::{BinaryOp, ExprKind, PlaceKind, Source, UnaryOp, VarKind};
use hardbop_cfront::types::{DataModel, RecordKind, Type, Types};
use hardbop_diagnostics::{Diagnostic, Span};
use std::collections::BTreeMap;

/// An error has been reported.
pub(crate) struct Refused;

/// What a handler knows of the event that it runs at.
pub(crate) struct Site {
    /// The function's name, as the user knows it.
    pub function: String,
    pub event: Event,
    /// The arguments, by position.
    pub arguments: Vec<ExprId>,
    /// The result, if the event is after the call and the function has one.
    pub result: Option<ExprId>,
    /// Where the function is defined or first mentioned.
    pub source: Option<Source>,
    /// Where it is kept whether the call is about an object that the rule has chosen.
    pub met: BTreeMap<Subject, ExprId>,
}

/// Translates expressions.
pub(crate) struct Typing<'a> {
    pub tables: &'a mut Tables,
    pub home: &'a Home<'a>,
    pub site: &'a Site,
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

/// What an expression stands for.
enum Operand {
    Value(ExprId),
    Place(PlaceId),
}

type Typed<T> = Result<T, Refused>;

impl Typing<'_> {
    pub fn refuse<T>(&mut self, span: Span, message: impl Into<String>, label: &str) -> Typed<T> {
        let diagnostic = Diagnostic::error(self.home.span(span), message).label(label);
        self.diagnostics.push(diagnostic);
        Err(Refused)
    }

    fn types(&self) -> &Types {
        &self.tables.program.types
    }

    fn name(&self, ty: TypeId) -> String {
        type_name(self.types(), ty)
    }

    /// The object that an expression names, if it names one: its position in the state.
    pub fn object(&self, expr: &Expr) -> Option<usize> {
        let ExprWord::Name(name) = &expr.kind else {
            return None;
        };
        let position = self.state_variable(name)?;
        (self.home.rule.state[position].ty == StateType::Object).then_some(position)
    }

    /// The position of a variable of the state.
    pub fn state_variable(&self, name: &str) -> Option<usize> {
        let mut state = self.home.rule.state.iter();
        state.position(|variable| variable.name.text == name)
    }

    /// The value of an expression; a scalar.
    pub fn value(&mut self, expr: &Expr) -> Typed<ExprId> {
        match self.operand(expr)? {
            Operand::Value(value) => self.scalar(value, expr.span),
            Operand::Place(place) => self.read(place, expr.span),
        }
    }

    fn scalar(&mut self, value: ExprId, span: Span) -> Typed<ExprId> {
        let ty = self.tables.ty(value);
        match self.types().get(ty) {
            Type::Float(_) => self.refuse(
                span,
                "rules do not look at floating-point numbers",
                "one of them",
            ),
            _ if self.types().is_scalar(ty) => Ok(value),
            _ => {
                let name = self.name(ty);
                self.refuse(
                    span,
                    format!("a value of type `{name}` is not a scalar"),
                    "",
                )
            }
        }
    }

    /// The value of a place; arrays become pointers.
    fn read(&mut self, place: PlaceId, span: Span) -> Typed<ExprId> {
        let ty = self.tables.program.place(place).ty;
        if let Type::Array { element, .. } = *self.types().get(ty) {
            return self.address(place, element, span);
        }
        let value = self.tables.load(place);
        self.scalar(value, span)
    }

    fn address(&mut self, place: PlaceId, to: TypeId, span: Span) -> Typed<ExprId> {
        let mut root = place;
        loop {
            match self.tables.program.place(root).kind {
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => root = base,
                PlaceKind::Deref(_) => break,
                PlaceKind::Var(variable) => {
                    let variable = &mut self.tables.program.variables[variable.index()];
                    if variable.kind != VarKind::Global {
                        return self.refuse(
                            span,
                            "only what outlives the call has an address in a rule",
                            "this does not",
                        );
                    }
                    variable.address_taken = true;
                    break;
                }
            }
        }
        let ty = self.tables.program.types.intern(Type::Pointer(to));
        Ok(self.tables.expr(ExprKind::AddressOf(place), ty))
    }

    fn operand(&mut self, expr: &Expr) -> Typed<Operand> {
        let span = expr.span;
        Ok(Operand::Value(match &expr.kind {
            ExprWord::Number { value, width, sign } => {
                let ty = scalar_type(self.tables, ScalarType::Int(*width, *sign));
                self.tables.constant(*value as i128, ty)
            }
            ExprWord::Name(name) => return self.named(name, span),
            ExprWord::Argument(_) | ExprWord::Result => {
                let value = match expr.kind {
                    ExprWord::Argument(number) => self.argument(number, span)?,
                    _ => self.result(span)?,
                };
                return Ok(match self.tables.program.expr(value).kind {
                    ExprKind::Load(place) => Operand::Place(place),
                    _ => Operand::Value(value),
                });
            }
            ExprWord::Unary(UnaryWord::Deref, inner) => {
                let pointer = self.value(inner)?;
                return self.pointee(pointer, span).map(Operand::Place);
            }
            ExprWord::Unary(UnaryWord::AddressOf, inner) => self.address_of(inner, span)?,
            ExprWord::Unary(op, inner) => self.unary(*op, inner)?,
            ExprWord::Binary(op, left, right) => self.binary(*op, left, right, span)?,
            ExprWord::Conditional(condition, then, otherwise) => {
                let condition = self.value(condition)?;
                let (then, otherwise) = (self.value(then)?, self.value(otherwise)?);
                let (then, otherwise) = self.meet(then, otherwise, span)?;
                let ty = self.tables.ty(then);
                let kind = ExprKind::Conditional {
                    condition,
                    then,
                    otherwise,
                };
                self.tables.expr(kind, ty)
            }
            ExprWord::Cast(ty, inner) => {
                let value = self.value(inner)?;
                let ty = scalar_type(self.tables, *ty);
                self.tables.convert(value, ty)
            }
            ExprWord::Member(base, member) => {
                let Operand::Place(place) = self.operand(base)? else {
                    return self.refuse(base.span, "this has no members", "not a struct or union");
                };
                return self.member(place, member, base.span).map(Operand::Place);
            }
            ExprWord::Arrow(base, member) => {
                let pointer = self.value(base)?;
                let place = self.pointee(pointer, base.span)?;
                return self.member(place, member, base.span).map(Operand::Place);
            }
            ExprWord::Index(base, index) => {
                return self.element(base, index, span).map(Operand::Place);
            }
        }))
    }

    fn named(&mut self, name: &str, span: Span) -> Typed<Operand> {
        if let Some(index) = self.state_variable(name) {
            let Some(&variable) = self.home.variables.get(&index) else {
                return self.refuse(
                    span,
                    format!("the object `{name}` can only be compared, in a condition"),
                    "expected something like `if ($1 == object)`",
                );
            };
            return Ok(Operand::Place(self.tables.variable_place(variable)));
        }
        let mut constants = self.home.rule.constants.iter();
        if let Some(constant) = constants.find(|constant| constant.name.text == name) {
            let value = constant.value;
            let int = self.tables.int();
            return Ok(Operand::Value(self.tables.constant(value, int)));
        }
        let program = &self.tables.program;
        let globals: Vec<VarId> = (0..self.home.program_variables as u32)
            .map(VarId)
            .filter(|&id| {
                let variable = program.variable(id);
                variable.kind == VarKind::Global && variable.name == name
            })
            .collect();
        let functions: Vec<FuncId> = (0..program.functions.len() as u32)
            .map(FuncId)
            .filter(|&id| plain_name(&program.function(id).name) == name)
            .collect();
        match (globals.as_slice(), functions.as_slice()) {
            (&[global], []) => Ok(Operand::Place(self.tables.variable_place(global))),
            ([], &[function]) => {
                let to = program.function(function).ty;
                let ty = self.tables.program.types.intern(Type::Pointer(to));
                let value = self.tables.expr(ExprKind::Function(function), ty);
                Ok(Operand::Value(value))
            }
            ([], []) => self.refuse(
                span,
                format!("unknown name `{name}`"),
                "neither in the state of the rule nor a global of the program",
            ),
            _ => self.refuse(
                span,
                format!("several files of the program have a `{name}` of their own"),
                "it is not clear which one is meant",
            ),
        }
    }

    fn argument(&mut self, number: u32, span: Span) -> Typed<ExprId> {
        if let Some(&value) = self.site.arguments.get(number as usize - 1) {
            return Ok(value);
        }
        let count = self.site.arguments.len();
        let function = &self.site.function;
        let message = match count {
            0 => format!("`{function}` has no parameters, so there is no `${number}`"),
            1 => format!("`{function}` has one parameter, so there is no `${number}`"),
            _ => format!("`{function}` has {count} parameters, so there is no `${number}`"),
        };
        let mut diagnostic = Diagnostic::error(self.home.span(span), message).label("not there");
        if let Some(source) = self.site.source {
            diagnostic = diagnostic.note(Some(source.span), "the function is here");
        }
        self.diagnostics.push(diagnostic);
        Err(Refused)
    }

    fn result(&mut self, span: Span) -> Typed<ExprId> {
        if let Some(result) = self.site.result {
            return Ok(result);
        }
        let function = &self.site.function;
        if self.site.event.is_after() {
            let message = format!("`{function}` returns nothing, so there is no `$return`");
            return self.refuse(span, message, "not there");
        }
        let event = self.site.event.word();
        let message = format!("there is no `$return` yet at `.{event}`");
        self.refuse(span, message, "known at `.exit` and `.return`")
    }

    fn pointee(&mut self, pointer: ExprId, span: Span) -> Typed<PlaceId> {
        let Type::Pointer(to) = *self.tables.type_of(pointer) else {
            let name = self.name(self.tables.ty(pointer));
            return self.refuse(
                span,
                format!("a value of type `{name}` points to nothing"),
                "not a pointer",
            );
        };
        match self.types().get(to) {
            Type::Void | Type::Function { .. } => {
                let name = self.name(self.tables.ty(pointer));
                let message = format!("what a `{name}` points to cannot be read");
                self.refuse(span, message, "no object of a known type")
            }
            Type::Record(record) if !self.types().record(*record).complete => {
                let name = self.types().record(*record).name.clone();
                let message = format!("the members of `{name}` are not known");
                self.refuse(span, message, "only declared in the program")
            }
            _ => Ok(self.tables.place(PlaceKind::Deref(pointer), to)),
        }
    }

    /// A member; those of anonymous members count as the record's own.
    fn member(&mut self, place: PlaceId, member: &Name, span: Span) -> Typed<PlaceId> {
        let ty = self.tables.program.place(place).ty;
        let Type::Record(record) = *self.types().get(ty) else {
            let name = self.name(ty);
            return self.refuse(
                span,
                format!("a value of type `{name}` has no members"),
                "not a struct or union",
            );
        };
        let mut paths = vec![(record, Vec::new())];
        while let Some((record, path)) = paths.pop() {
            for (position, field) in self.types().record(record).fields.iter().enumerate() {
                let mut path: Vec<(u32, TypeId)> = path.clone();
                path.push((position as u32, field.ty));
                match (&field.name, self.types().get(field.ty)) {
                    (Some(name), _) if *name == member.text => {
                        return Ok(path.into_iter().fold(place, |place, (position, ty)| {
                            self.tables.place(PlaceKind::Field(place, position), ty)
                        }));
                    }
                    (None, Type::Record(inner)) => paths.push((*inner, path)),
                    _ => {}
                }
            }
        }
        let record = self.types().record(record);
        let word = match record.kind {
            RecordKind::Struct => "struct",
            RecordKind::Union => "union",
        };
        let name = record.name.trim_start_matches(word).trim_start();
        let message = format!("`{word} {name}` has no member `{}`", member.text);
        self.refuse(member.span, message, "not there")
    }

    fn element(&mut self, base: &Expr, index: &Expr, span: Span) -> Typed<PlaceId> {
        let array = self.operand(base)?;
        let index_span = index.span;
        let index = self.value(index)?;
        if !self.is_integer(index) {
            return self.refuse(index_span, "an index is an integer", "not an integer");
        }
        let distance = self.tables.program.types.intptr();
        let index = self.tables.convert(index, distance);
        if let Operand::Place(place) = array
            && let Type::Array { element, .. } =
                *self.types().get(self.tables.program.place(place).ty)
        {
            return Ok(self.tables.place(PlaceKind::Index(place, index), element));
        }
        let pointer = match array {
            Operand::Place(place) => self.read(place, base.span)?,
            Operand::Value(value) => value,
        };
        let first = self.pointee(pointer, span)?;
        let to = self.tables.program.place(first).ty;
        let scale = self.types().size_of(to);
        let ty = self.tables.ty(pointer);
        let kind = ExprKind::PointerAdd {
            pointer,
            index,
            scale,
        };
        let pointer = self.tables.expr(kind, ty);
        Ok(self.tables.place(PlaceKind::Deref(pointer), to))
    }

    fn address_of(&mut self, inner: &Expr, span: Span) -> Typed<ExprId> {
        match self.operand(inner)? {
            Operand::Place(place) => {
                if let PlaceKind::Field(base, position) = self.tables.program.place(place).kind {
                    let ty = self.tables.program.place(base).ty;
                    if let Type::Record(record) = *self.types().get(ty)
                        && let Some(field) =
                            self.types().record(record).fields.get(position as usize)
                        && field.bit_width.is_some()
                    {
                        return self.refuse(span, "a bit-field has no address", "");
                    }
                }
                let ty = self.tables.program.place(place).ty;
                self.address(place, ty, span)
            }
            Operand::Value(value)
                if matches!(self.tables.program.expr(value).kind, ExprKind::Function(_)) =>
            {
                Ok(value)
            }
            Operand::Value(_) => self.refuse(span, "only what is stored has an address", ""),
        }
    }

    fn is_integer(&self, value: ExprId) -> bool {
        matches!(self.tables.type_of(value), Type::Int { .. } | Type::Bool)
    }

    fn is_pointer(&self, value: ExprId) -> bool {
        matches!(self.tables.type_of(value), Type::Pointer(_))
    }

    fn is_null(&self, value: ExprId) -> bool {
        self.is_integer(value) && self.tables.constant_value(value) == Some(0)
    }

    fn promote(&mut self, value: ExprId) -> ExprId {
        let small = match *self.tables.type_of(value) {
            Type::Bool => true,
            Type::Int { width, .. } => width < 32,
            _ => false,
        };
        if small {
            let int = self.tables.int();
            return self.tables.convert(value, int);
        }
        value
    }

    fn integer(&mut self, expr: &Expr, what: &str) -> Typed<ExprId> {
        let value = self.value(expr)?;
        if self.is_integer(value) {
            return Ok(self.promote(value));
        }
        self.refuse(expr.span, format!("{what} needs integers"), "a pointer")
    }

    fn unary(&mut self, op: UnaryWord, inner: &Expr) -> Typed<ExprId> {
        let op = match op {
            UnaryWord::Not => {
                let value = self.value(inner)?;
                let int = self.tables.int();
                return Ok(self.tables.expr(ExprKind::Unary(UnaryOp::Not, value), int));
            }
            UnaryWord::Minus => UnaryOp::Negate,
            UnaryWord::BitNot => UnaryOp::BitNot,
            _ => return self.integer(inner, "`+`"),
        };
        let value = self.integer(inner, "arithmetic")?;
        let ty = self.tables.ty(value);
        if op == UnaryOp::Negate
            && let Some(bits) = self.tables.constant_value(value)
        {
            return Ok(self.tables.constant((bits as i128).wrapping_neg(), ty));
        }
        Ok(self.tables.expr(ExprKind::Unary(op, value), ty))
    }

    /// Two integers of one type, by C's usual conversions; two pointers of one type.
    fn meet(&mut self, left: ExprId, right: ExprId, span: Span) -> Typed<(ExprId, ExprId)> {
        match (self.is_pointer(left), self.is_pointer(right)) {
            (true, true) => {
                let ty = self.tables.ty(left);
                Ok((left, self.tables.convert(right, ty)))
            }
            (true, false) if self.is_null(right) => {
                let ty = self.tables.ty(left);
                Ok((left, self.tables.convert(right, ty)))
            }
            (false, true) if self.is_null(left) => {
                let ty = self.tables.ty(right);
                Ok((self.tables.convert(left, ty), right))
            }
            (false, false) => {
                let (left, right) = (self.promote(left), self.promote(right));
                let (
                    Type::Int {
                        width: a,
                        signed: s,
                    },
                    Type::Int {
                        width: b,
                        signed: t,
                    },
                ) = (self.tables.type_of(left), self.tables.type_of(right))
                else {
                    return self.refuse(span, "the operands are not integers", "");
                };
                let ty = match a.cmp(b) {
                    std::cmp::Ordering::Greater => self.tables.ty(left),
                    std::cmp::Ordering::Less => self.tables.ty(right),
                    std::cmp::Ordering::Equal if *s && !*t => self.tables.ty(right),
                    std::cmp::Ordering::Equal => self.tables.ty(left),
                };
                Ok((
                    self.tables.convert(left, ty),
                    self.tables.convert(right, ty),
                ))
            }
            _ => self.refuse(
                span,
                "a pointer and an integer do not go together",
                "expected two pointers or two integers",
            ),
        }
    }

    fn binary(&mut self, op: BinaryWord, left: &Expr, right: &Expr, span: Span) -> Typed<ExprId> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        if matches!(op, BinaryWord::And | BinaryWord::Or) {
            let int = self.tables.int();
            let kind = ExprKind::Binary(program_op(op).0, left, right);
            return Ok(self.tables.expr(kind, int));
        }
        self.combine(op, left, right, span)
    }

    /// An arithmetic operator or a comparison of two values.
    pub fn combine(
        &mut self,
        op: BinaryWord,
        left: ExprId,
        right: ExprId,
        span: Span,
    ) -> Typed<ExprId> {
        let (program_op, comparison) = program_op(op);
        if !comparison && (self.is_pointer(left) || self.is_pointer(right)) {
            return self.refuse(span, "a rule does no arithmetic on pointers", "");
        }
        if matches!(op, BinaryWord::Div | BinaryWord::Rem)
            && self
                .tables
                .constant_value(right)
                .is_none_or(|bits| bits == 0)
        {
            return self.refuse(
                span,
                "a rule divides by constants only, and not by 0",
                "the divisor is neither",
            );
        }
        if matches!(op, BinaryWord::Shl | BinaryWord::Shr) {
            let (left, right) = (self.promote(left), self.promote(right));
            let ty = self.tables.ty(left);
            let kind = ExprKind::Binary(program_op, left, right);
            return Ok(self.tables.expr(kind, ty));
        }
        let (left, right) = self.meet(left, right, span)?;
        let ty = if comparison {
            self.tables.int()
        } else {
            self.tables.ty(left)
        };
        let kind = ExprKind::Binary(program_op, left, right);
        Ok(self.tables.expr(kind, ty))
    }

    /// A value as it is assigned to a variable of a type.
    pub fn assigned(&mut self, value: ExprId, ty: TypeId, span: Span) -> Typed<ExprId> {
        let to_pointer = matches!(self.types().get(ty), Type::Pointer(_));
        let fits = match (to_pointer, self.is_pointer(value)) {
            (true, true) | (false, false) => true,
            (true, false) => self.is_null(value),
            (false, true) => matches!(self.types().get(ty), Type::Bool),
        };
        if fits {
            return Ok(self.tables.convert(value, ty));
        }
        let (from, to) = (self.name(self.tables.ty(value)), self.name(ty));
        let message = format!("a value of type `{from}` does not fit a variable of type `{to}`");
        self.refuse(span, message, "say how by a cast")
    }
}

fn program_op(op: BinaryWord) -> (BinaryOp, bool) {
    match op {
        BinaryWord::Mul => (BinaryOp::Mul, false),
        BinaryWord::Div => (BinaryOp::Div, false),
        BinaryWord::Rem => (BinaryOp::Rem, false),
        BinaryWord::Add => (BinaryOp::Add, false),
        BinaryWord::Sub => (BinaryOp::Sub, false),
        BinaryWord::Shl => (BinaryOp::Shl, false),
        BinaryWord::Shr => (BinaryOp::Shr, false),
        BinaryWord::BitAnd => (BinaryOp::BitAnd, false),
        BinaryWord::BitXor => (BinaryOp::BitXor, false),
        BinaryWord::BitOr => (BinaryOp::BitOr, false),
        BinaryWord::Lt => (BinaryOp::Lt, true),
        BinaryWord::Le => (BinaryOp::Le, true),
        BinaryWord::Gt => (BinaryOp::Gt, true),
        BinaryWord::Ge => (BinaryOp::Ge, true),
        BinaryWord::Eq => (BinaryOp::Eq, true),
        BinaryWord::Ne => (BinaryOp::Ne, true),
        BinaryWord::And => (BinaryOp::And, true),
        BinaryWord::Or => (BinaryOp::Or, true),
    }
}

/// A type of rules as one of the program.
pub(crate) fn scalar_type(tables: &mut Tables, ty: ScalarType) -> TypeId {
    let types = &mut tables.program.types;
    match ty {
        ScalarType::Bool => types.intern(Type::Bool),
        ScalarType::Pointer => tables.void_pointer(),
        ScalarType::Int(width, sign) => {
            let bits = match (width, types.model()) {
                (Width::Char, _) => 8,
                (Width::Short, _) => 16,
                (Width::Int, _) | (Width::Long, DataModel::Ilp32) => 32,
                (Width::Long, DataModel::Lp64) | (Width::LongLong, _) => 64,
            };
            types.int(bits, sign == Signedness::Signed)
        }
    }
}

/// A function's name without the number that tells static functions apart.
pub(crate) fn plain_name(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((plain, number)) if number.bytes().all(|b| b.is_ascii_digit()) => plain,
        _ => name,
    }
}
