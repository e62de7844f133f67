//! Names, numbers, `old(...)`, and what follows them: elements and members.

use super::super::Scope;
use super::super::lexer::{Kind, Number, Precision};
use super::super::names::{self, Meaning};
use super::{Operand, Parser, Result, Time};
use hardbop_cfront::dump::type_name;
use hardbop_cfront::ids::{ExprId, PlaceId, RecordId, TypeId};
use hardbop_cfront::program::{BinaryOp, ExprKind, PlaceKind, VarKind};
use hardbop_cfront::types::{FloatKind, Type};
use hardbop_diagnostics::{Diagnostic, Span};

impl Parser<'_> {
    pub(super) fn postfix(&mut self) -> Result<Operand> {
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

    pub(super) fn element(&mut self, base: Operand, index: ExprId, span: Span) -> Result<Operand> {
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

    pub(super) fn name(&mut self, name: &str, span: Span) -> Result<Operand> {
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

    pub(super) fn result(&mut self, span: Span) -> Result<Operand> {
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

    pub(super) fn old(&mut self, span: Span) -> Result<Operand> {
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
}
