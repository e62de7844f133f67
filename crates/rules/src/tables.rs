//! A program that rules are being woven into: its tables, to which expressions, places and
//! variables are added, equal ones once.

use crate::ast::{ScalarType, Signedness, Width};
use hardbop_cfront::ids::{ExprId, FuncId, PlaceId, TypeId, VarId};
use hardbop_cfront::program::{
    Expr, ExprKind, Initial, Place, PlaceKind, Program, Source, VarKind, Variable,
};
use hardbop_cfront::types::{DataModel, Type};
use std::collections::HashMap;

/// A program and what is needed to add to it.
pub(crate) struct Tables {
    pub program: Program,
    exprs: HashMap<Expr, ExprId>,
    places: HashMap<Place, PlaceId>,
}

impl Tables {
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

    pub fn expr(&mut self, kind: ExprKind, ty: TypeId) -> ExprId {
        let expr = Expr { kind, ty };
        if let Some(&id) = self.exprs.get(&expr) {
            return id;
        }
        let id = ExprId(self.program.exprs.len() as u32);
        self.program.exprs.push(expr.clone());
        self.exprs.insert(expr, id);
        id
    }

    pub fn place(&mut self, kind: PlaceKind, ty: TypeId) -> PlaceId {
        let place = Place { kind, ty };
        if let Some(&id) = self.places.get(&place) {
            return id;
        }
        let id = PlaceId(self.program.places.len() as u32);
        self.program.places.push(place.clone());
        self.places.insert(place, id);
        id
    }

    pub fn variable_place(&mut self, variable: VarId) -> PlaceId {
        let ty = self.program.variable(variable).ty;
        self.place(PlaceKind::Var(variable), ty)
    }

    pub fn load(&mut self, place: PlaceId) -> ExprId {
        let ty = self.program.place(place).ty;
        self.expr(ExprKind::Load(place), ty)
    }

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
        self.program.variables.push(Variable {
            name,
            ty,
            kind,
            address_taken: false,
            source,
            initial,
        });
        VarId(self.program.variables.len() as u32 - 1)
    }

    /// A value that a function keeps.
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

    pub fn ty(&self, expr: ExprId) -> TypeId {
        self.program.expr(expr).ty
    }

    pub fn type_of(&self, expr: ExprId) -> &Type {
        self.program.types.get(self.ty(expr))
    }

    pub fn int(&mut self) -> TypeId {
        self.integer(32, Signedness::Signed)
    }

    pub fn integer(&mut self, width: u32, sign: Signedness) -> TypeId {
        let signed = sign == Signedness::Signed;
        self.program.types.intern(Type::Int { width, signed })
    }

    /// The width of a pointer in bits.
    pub fn pointer_width(&self) -> u32 {
        self.program.types.model().pointer_size() as u32 * 8
    }

    pub fn void_pointer(&mut self) -> TypeId {
        let void = self.program.types.intern(Type::Void);
        self.program.types.intern(Type::Pointer(void))
    }

    /// The type that numbers and addresses are watched as.
    pub fn object_type(&mut self) -> TypeId {
        self.integer(self.pointer_width(), Signedness::Unsigned)
    }

    pub fn scalar_type(&mut self, ty: ScalarType) -> TypeId {
        match ty {
            ScalarType::Bool => self.program.types.intern(Type::Bool),
            ScalarType::Pointer => self.void_pointer(),
            ScalarType::Int(width, sign) => {
                let bits = match (width, self.program.types.model()) {
                    (Width::Char, _) => 8,
                    (Width::Short, _) => 16,
                    (Width::Int, _) | (Width::Long, DataModel::Ilp32) => 32,
                    (Width::Long, DataModel::Lp64) | (Width::LongLong, _) => 64,
                };
                self.integer(bits, sign)
            }
        }
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

    /// The value of a constant.
    pub fn constant_value(&self, expr: ExprId) -> Option<u128> {
        match self.program.expr(expr).kind {
            ExprKind::Int(bits) => Some(bits),
            _ => None,
        }
    }

    /// A scalar converted to a scalar type.
    pub fn convert(&mut self, expr: ExprId, ty: TypeId) -> ExprId {
        if self.ty(expr) == ty {
            return expr;
        }
        if let Some(bits) = self.constant_value(expr) {
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
}
