//! The tables of a program, to which expressions, places and variables are added, equal ones once.

use crate::ids::{ExprId, FuncId, PlaceId, TypeId, VarId};
use crate::program::{
    Expr, ExprKind, Initial, Place, PlaceKind, Program, Source, VarKind, Variable,
};
use crate::types::Type;
use std::collections::HashMap;

/// A program and what is needed to add to it.
#[derive(Clone, Debug)]
pub struct Tables {
    /// The program. Expressions and places that are added past the tables are not shared.
    pub program: Program,
    exprs: HashMap<Expr, ExprId>,
    places: HashMap<Place, PlaceId>,
}

impl Tables {
    /// The tables of a program.
    pub fn new(program: Program) -> Tables {
        let exprs = program.exprs.iter().enumerate();
        let exprs = exprs.map(|(i, expr)| (expr.clone(), ExprId(i as u32)));
        let places = program.places.iter().enumerate();
        let places = places.map(|(i, place)| (place.clone(), PlaceId(i as u32)));
        Tables {
            exprs: exprs.collect(),
            places: places.collect(),
            program,
        }
    }

    /// An expression; a new one only if there is none like it.
    pub fn expr(&mut self, kind: ExprKind, ty: TypeId) -> ExprId {
        let program = &mut self.program;
        *self
            .exprs
            .entry(Expr { kind, ty })
            .or_insert_with(|| program.add_expr(kind, ty))
    }

    /// A place; a new one only if there is none like it.
    pub fn place(&mut self, kind: PlaceKind, ty: TypeId) -> PlaceId {
        let program = &mut self.program;
        *self
            .places
            .entry(Place { kind, ty })
            .or_insert_with(|| program.add_place(kind, ty))
    }

    /// Where a variable is.
    pub fn variable_place(&mut self, variable: VarId) -> PlaceId {
        let ty = self.program.variable(variable).ty;
        self.place(PlaceKind::Var(variable), ty)
    }

    /// What is in a place.
    pub fn load(&mut self, place: PlaceId) -> ExprId {
        let ty = self.program.place(place).ty;
        self.expr(ExprKind::Load(place), ty)
    }

    /// What a variable holds.
    pub fn load_variable(&mut self, variable: VarId) -> ExprId {
        let place = self.variable_place(variable);
        self.load(place)
    }

    /// A new variable; `initial` is for static storage.
    pub fn variable(
        &mut self,
        name: String,
        ty: TypeId,
        kind: VarKind,
        source: Source,
        initial: Initial,
    ) -> VarId {
        self.program.add_variable(Variable {
            name,
            ty,
            kind,
            address_taken: false,
            source,
            initial,
            read_only: false,
            align: 1,
        })
    }

    /// A new variable for a value that a function keeps.
    pub fn temporary(
        &mut self,
        function: FuncId,
        name: String,
        ty: TypeId,
        source: Source,
    ) -> VarId {
        let kind = VarKind::Temporary(function);
        let variable = self.variable(name, ty, kind, source, Initial::None);
        self.program.functions[function.index()]
            .locals
            .push(variable);
        variable
    }

    /// The type of an expression.
    pub fn ty(&self, expr: ExprId) -> TypeId {
        self.program.expr(expr).ty
    }

    /// The type of an expression, looked up.
    pub fn type_of(&self, expr: ExprId) -> &Type {
        self.program.types.get(self.ty(expr))
    }

    /// `int`.
    pub fn int(&mut self) -> TypeId {
        self.program.types.int(32, true)
    }

    /// `void *`.
    pub fn void_pointer(&mut self) -> TypeId {
        let void = self.program.types.intern(Type::Void);
        self.program.types.pointer(void)
    }

    /// A constant of an integer, `_Bool` or pointer type; the value is cut to the type's width.
    pub fn constant(&mut self, value: i128, ty: TypeId) -> ExprId {
        let width = self.program.types.bit_width(ty).unwrap_or(32);
        let mask = u128::MAX >> (128 - width.clamp(1, 128));
        let bits = match self.program.types.get(ty) {
            Type::Bool => u128::from(value != 0),
            _ => value as u128 & mask,
        };
        self.expr(ExprKind::Int(bits), ty)
    }

    /// The bits of a constant.
    pub fn constant_value(&self, expr: ExprId) -> Option<u128> {
        match self.program.expr(expr).kind {
            ExprKind::Int(bits) => Some(bits),
            _ => None,
        }
    }

    /// A scalar converted to a scalar type. Constants that stay integers, and null, are converted
    /// here and now, so that `x == 0` has one form.
    pub fn convert(&mut self, expr: ExprId, ty: TypeId) -> ExprId {
        if self.ty(expr) == ty {
            return expr;
        }
        let to = self.program.types.get(ty);
        if let Some(bits) = self.constant_value(expr)
            && !matches!(to, Type::Float(_))
        {
            let from = self.ty(expr);
            let width = self.program.types.bit_width(from).unwrap_or(128);
            let value = bits as i128;
            let negative =
                self.program.types.is_signed(from) && width < 128 && bits >> (width - 1) & 1 == 1;
            let value = if negative {
                value - (1 << width)
            } else {
                value
            };
            return self.constant(value, ty);
        }
        self.expr(ExprKind::Convert(expr), ty)
    }

    /// `left && right`.
    pub fn and(&mut self, left: ExprId, right: ExprId) -> ExprId {
        let int = self.int();
        let kind = ExprKind::Binary(crate::program::BinaryOp::And, left, right);
        self.expr(kind, int)
    }
}
