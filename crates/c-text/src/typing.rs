//! From trees to expressions of a program, typed as in C.

mod operators;
mod places;

use crate::Dialect;
use crate::ast::{Ast, NodeId, NodeKind, UnaryWord};
use crate::lexer::{Length, Notation, Number, Precision};
use crate::names::{Names, Time};
pub use crate::type_name::type_id;
use hardbop_cfront::dump::type_name;
use hardbop_cfront::edit::Tables;
use hardbop_cfront::ids::{ExprId, PlaceId, TypeId};
use hardbop_cfront::program::ExprKind;
use hardbop_cfront::types::{DataModel, FloatKind, Type, Types};
use hardbop_diagnostics::{Diagnostic, Span};

/// What an expression stands for: a value, or a place, whose address can still be taken.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    /// A value.
    Value(ExprId),
    /// A place.
    Place(PlaceId),
}

/// Something typed, or why it could not be.
pub type Typed<T> = Result<T, Diagnostic>;

/// Types expressions.
pub struct Typing<'a> {
    /// Which language they are written in.
    pub dialect: Dialect,
    /// The program, to which they are added.
    pub tables: &'a mut Tables,
    /// What their names stand for.
    pub names: &'a mut dyn Names,
}

impl Typing<'_> {
    /// The value of an expression; a scalar.
    pub fn value(&mut self, ast: &Ast, root: NodeId) -> Typed<ExprId> {
        let stretch = ast.stretch(root);
        let first = *stretch.start() as usize;
        let times = times(ast, root, first)?;
        let mut operands: Vec<Operand> = Vec::new();
        for (id, time) in ast.within(root).zip(times) {
            let of = |id: NodeId| operands[id.index() - first];
            let operand = self.node(ast, id, time, of)?;
            operands.push(operand);
        }
        self.scalar(operands[root.index() - first], ast.span(root))
    }

    fn node(
        &mut self,
        ast: &Ast,
        id: NodeId,
        time: Time,
        of: impl Fn(NodeId) -> Operand,
    ) -> Typed<Operand> {
        let span = ast.span(id);
        Ok(Operand::Value(match &ast.node(id).kind {
            NodeKind::Number(number) => self.number(*number),
            NodeKind::Float(value, precision) => self.float(*value, *precision),
            NodeKind::Name(name) => return self.names.name(self.tables, name, time, span),
            NodeKind::Argument(number) => return self.names.argument(self.tables, *number, span),
            NodeKind::Result => return self.names.result(self.tables, time, span),
            NodeKind::Old(inner) => {
                let value = self.scalar(of(*inner), ast.span(*inner))?;
                self.names.old(self.tables, value, span)?
            }
            NodeKind::Unary(UnaryWord::Deref, inner) => {
                let pointer = self.scalar(of(*inner), ast.span(*inner))?;
                return self.pointee(pointer, span);
            }
            NodeKind::Unary(UnaryWord::AddressOf, inner) => self.address_of(of(*inner), span)?,
            NodeKind::Unary(op, inner) => {
                let value = self.scalar(of(*inner), ast.span(*inner))?;
                self.unary(*op, value, span)?
            }
            NodeKind::Binary(op, left, right) => {
                let left = self.scalar(of(*left), ast.span(*left))?;
                let right = self.scalar(of(*right), ast.span(*right))?;
                self.combine(*op, left, right, span)?
            }
            NodeKind::Conditional(condition, then, otherwise) => {
                let condition = self.scalar(of(*condition), ast.span(*condition))?;
                let then = self.scalar(of(*then), ast.span(*then))?;
                let otherwise = self.scalar(of(*otherwise), ast.span(*otherwise))?;
                let (then, otherwise) = self.meet(then, otherwise, span)?;
                let ty = self.tables.ty(then);
                let kind = ExprKind::Conditional {
                    condition,
                    then,
                    otherwise,
                };
                self.tables.expr(kind, ty)
            }
            NodeKind::Cast(name, inner) => {
                let value = self.scalar(of(*inner), ast.span(*inner))?;
                let ty = type_id(self.tables, name)?;
                if !self.types().is_scalar(ty) {
                    return Err(Diagnostic::error(span, "only scalars can be converted to"));
                }
                self.tables.convert(value, ty)
            }
            NodeKind::SizeOf(inner) => {
                let ty = match of(*inner) {
                    Operand::Value(value) => self.tables.ty(value),
                    Operand::Place(place) => self.tables.program.place(place).ty,
                };
                self.size_of(ty)
            }
            NodeKind::SizeOfType(name) => {
                let ty = type_id(self.tables, name)?;
                self.size_of(ty)
            }
            NodeKind::Member(base, member) => {
                return self.member(of(*base), member, ast.span(*base));
            }
            NodeKind::Arrow(base, member) => {
                let pointer = self.scalar(of(*base), ast.span(*base))?;
                let record = self.pointee(pointer, ast.span(*base))?;
                return self.member(record, member, ast.span(*base));
            }
            NodeKind::Index(base, index) => {
                let index_span = ast.span(*index);
                let index = self.scalar(of(*index), index_span)?;
                if !self.is_integer(index) {
                    return Err(Diagnostic::error(index_span, "an index is an integer")
                        .label("not an integer"));
                }
                return self.element(of(*base), index, ast.span(*base));
            }
        }))
    }

    fn types(&self) -> &Types {
        &self.tables.program.types
    }

    fn type_name(&self, expr: ExprId) -> String {
        type_name(self.types(), self.tables.ty(expr))
    }

    fn is_integer(&self, value: ExprId) -> bool {
        matches!(self.tables.type_of(value), Type::Int { .. } | Type::Bool)
    }

    fn is_pointer(&self, value: ExprId) -> bool {
        matches!(self.tables.type_of(value), Type::Pointer(_))
    }

    /// An operand as a scalar: a place is read, and an array becomes a pointer.
    fn scalar(&mut self, operand: Operand, span: Span) -> Typed<ExprId> {
        let value = match operand {
            Operand::Value(value) => value,
            Operand::Place(place) => {
                let ty = self.tables.program.place(place).ty;
                match *self.types().get(ty) {
                    Type::Array { element, .. } => self.address(place, element, span)?,
                    _ => self.tables.load(place),
                }
            }
        };
        match (self.tables.type_of(value), self.dialect) {
            (Type::Float(_), Dialect::Rule) => {
                let message = "rules do not look at floating-point numbers";
                Err(Diagnostic::error(span, message).label("one of them"))
            }
            _ if self.types().is_scalar(self.tables.ty(value)) => Ok(value),
            _ => {
                let message = format!(
                    "a value of type `{}` is not a scalar",
                    self.type_name(value)
                );
                Err(Diagnostic::error(span, message))
            }
        }
    }

    fn size_of(&mut self, ty: TypeId) -> ExprId {
        let size = i128::from(self.types().size_of(ty));
        let width = self.types().model().pointer_size() as u32 * 8;
        let ty = self.tables.program.types.int(width, false);
        self.tables.constant(size, ty)
    }

    /// An integer constant has the first type that it fits, of those that its suffix allows.
    fn number(&mut self, number: Number) -> ExprId {
        let types = &mut self.tables.program.types;
        let long = match types.model() {
            DataModel::Lp64 => 64,
            DataModel::Ilp32 => 32,
        };
        let candidates = [
            (Length::Plain, 32),
            (Length::Long, long),
            (Length::LongLong, 64),
        ];
        let decimal = number.notation == Notation::Decimal;
        let mut fitting = candidates
            .into_iter()
            .filter(|(length, _)| *length >= number.length)
            .flat_map(|(_, width)| [(width, true), (width, false)])
            .filter(|&(width, signed)| {
                let bits = if signed { width - 1 } else { width };
                let allowed = match signed {
                    true => !number.unsigned,
                    false => number.unsigned || !decimal,
                };
                allowed && (bits >= 64 || number.value >> bits == 0)
            });
        let (width, signed) = match number.notation {
            Notation::Character => (32, true),
            _ => fitting.next().unwrap_or((64, false)),
        };
        let ty = types.int(width, signed);
        self.tables.constant(number.signed(), ty)
    }

    fn float(&mut self, value: f64, precision: Precision) -> ExprId {
        let (kind, bits) = match precision {
            Precision::Single => (FloatKind::F32, u128::from((value as f32).to_bits())),
            Precision::Double => (FloatKind::F64, u128::from(value.to_bits())),
        };
        let ty = self.tables.program.types.intern(Type::Float(kind));
        self.tables.expr(ExprKind::Float(bits), ty)
    }
}

/// When the nodes of an expression are evaluated, in their order.
fn times(ast: &Ast, root: NodeId, first: usize) -> Typed<Vec<Time>> {
    let mut nodes: Vec<NodeId> = ast.within(root).collect();
    let mut times = vec![Time::Now; nodes.len()];
    // What a node is an operand of comes after it.
    nodes.reverse();
    for id in nodes {
        let mut time = times[id.index() - first];
        if let NodeKind::Old(_) = ast.node(id).kind {
            if time == Time::Entry {
                return Err(Diagnostic::error(ast.span(id), "`old` cannot be nested"));
            }
            time = Time::Entry;
        }
        for operand in ast.operands(id) {
            times[operand.index() - first] = time;
        }
    }
    Ok(times)
}
