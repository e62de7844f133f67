//! Programs that change how floating point is rounded.
//!
//! The mode is a variable of the models of `fenv.h`. Where something may write it, each operation
//! on floats that rounds reads it; initial values are rounded before the program starts, to the
//! nearest.

use crate::builder::{Body, Builder};
use crate::ids::{ExprId, FuncId, PlaceId};
use crate::operands::Renumber;
use crate::program::{BinaryOp, Callee, ExprKind, Op, Origin, PlaceKind, UnaryOp};
use crate::types::{FloatKind, Type};

/// An operation on floats whose result is rounded as a mode says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoundedOp {
    /// `x + y`.
    Add,
    /// `x - y`.
    Sub,
    /// `x * y`.
    Mul,
    /// `x / y`.
    Div,
    /// `x * y + z`, rounded once.
    Fma,
    /// The square root.
    Sqrt,
    /// The integer next to it, as a float.
    Rint,
    /// The same number, of an integer or another float, as a float of this type.
    Convert,
}

impl RoundedOp {
    /// How many operands it takes.
    pub fn arity(self) -> usize {
        match self {
            RoundedOp::Add | RoundedOp::Sub | RoundedOp::Mul | RoundedOp::Div => 2,
            RoundedOp::Fma => 3,
            RoundedOp::Sqrt | RoundedOp::Rint | RoundedOp::Convert => 1,
        }
    }

    /// Its name where it is shown.
    pub fn name(self) -> &'static str {
        match self {
            RoundedOp::Add => "add",
            RoundedOp::Sub => "sub",
            RoundedOp::Mul => "mul",
            RoundedOp::Div => "div",
            RoundedOp::Fma => "fma",
            RoundedOp::Sqrt => "sqrt",
            RoundedOp::Rint => "rint",
            RoundedOp::Convert => "convert",
        }
    }
}

/// The modes of rounding of x86's `fenv.h`, without the one that is not named: to the nearest.
pub mod modes {
    /// `FE_DOWNWARD`.
    pub const DOWN: u128 = 0x400;
    /// `FE_UPWARD`.
    pub const UP: u128 = 0x800;
    /// `FE_TOWARDZERO`.
    pub const ZERO: u128 = 0xc00;
}

/// The variable that holds the mode.
const MODE: &str = "__hardbop_rounding";

/// The models that write it.
const SETTERS: [&str; 3] = ["fesetround", "fesetenv", "feupdateenv"];

/// What became of expressions and places.
struct Renewed<'a> {
    exprs: &'a [u32],
    places: &'a [Option<u32>],
}

impl Renumber for Renewed<'_> {
    fn expr(&self, id: ExprId) -> ExprId {
        // What was made since is as it should be.
        ExprId(self.exprs.get(id.index()).copied().unwrap_or(id.0))
    }

    fn place(&self, id: PlaceId) -> PlaceId {
        let new = self.places.get(id.index()).copied().flatten();
        PlaceId(new.unwrap_or(id.0))
    }
}

impl Builder {
    /// Lets operations on floats follow the mode, if anybody may change it.
    pub(crate) fn follow_rounding(&mut self, bodies: &mut [Body]) {
        let Some(mode) = self.mode_that_changes(bodies) else {
            return;
        };
        let (count, place_count) = (self.exprs.len(), self.places.len());
        let mut exprs: Vec<u32> = Vec::with_capacity(count);
        // Places are met through the expressions that use them, or by an edge.
        let mut places: Vec<Option<u32>> = vec![None; place_count];
        for index in 0..count {
            let expr = self.exprs[index].clone();
            if let ExprKind::Load(place) | ExprKind::AddressOf(place) = expr.kind {
                self.renew_place(place, &exprs, &mut places);
            }
            let map = Renewed {
                exprs: &exprs,
                places: &places,
            };
            let kind = self.rounded(map.expr_kind(expr.kind), expr.ty, mode);
            let id = match kind == expr.kind {
                true => ExprId(index as u32),
                false => self.expr(kind, expr.ty),
            };
            exprs.push(id.0);
        }
        for place in 0..place_count {
            self.renew_place(PlaceId(place as u32), &exprs, &mut places);
        }
        let map = Renewed {
            exprs: &exprs,
            places: &places,
        };
        for edge in bodies.iter_mut().flat_map(|body| &mut body.edges) {
            map.op(&mut edge.op);
        }
    }

    /// The value of the mode, if something may write it.
    fn mode_that_changes(&mut self, bodies: &[Body]) -> Option<ExprId> {
        let setters: Vec<FuncId> = (0..self.functions.len())
            .filter(|&index| {
                let function = &self.functions[index];
                function.origin == Origin::Model && SETTERS.contains(&function.name.as_str())
            })
            .map(|index| FuncId(index as u32))
            .collect();
        if setters.is_empty() {
            return None;
        }
        let called = bodies.iter().flat_map(|body| &body.edges).any(|edge| {
            matches!(edge.op, Op::Call { callee: Callee::Direct(id), .. } if setters.contains(&id))
        });
        let named =
            |kind: &ExprKind| matches!(kind, ExprKind::Function(id) if setters.contains(id));
        if !called && !self.exprs.iter().any(|expr| named(&expr.kind)) {
            return None;
        }
        let variable = self.variables.iter().position(|v| v.name == MODE)?;
        let place = self.var_place(crate::ids::VarId(variable as u32));
        let ty = self.places[place.index()].ty;
        Some(self.expr(ExprKind::Load(place), ty))
    }

    /// The place with its parts renewed, from its root on.
    fn renew_place(&mut self, place: PlaceId, exprs: &[u32], places: &mut [Option<u32>]) {
        let mut waiting = vec![place];
        while let Some(&at) = waiting.last() {
            if places[at.index()].is_some() {
                waiting.pop();
                continue;
            }
            let old = self.places[at.index()].clone();
            let base = match old.kind {
                PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => Some(base),
                PlaceKind::Var(_) | PlaceKind::Deref(_) => None,
            };
            let renewed = base.map(|base| places[base.index()]);
            if let (Some(base), Some(None)) = (base, renewed) {
                waiting.push(base);
                continue;
            }
            let base = PlaceId(renewed.flatten().unwrap_or_default());
            let expr = |id: ExprId| ExprId(exprs[id.index()]);
            let kind = match old.kind {
                PlaceKind::Var(variable) => PlaceKind::Var(variable),
                PlaceKind::Deref(pointer) => PlaceKind::Deref(expr(pointer)),
                PlaceKind::Field(_, field) => PlaceKind::Field(base, field),
                PlaceKind::Index(_, index) => PlaceKind::Index(base, expr(index)),
            };
            let new = match kind == old.kind {
                true => at,
                false => self.place(kind, old.ty),
            };
            places[at.index()] = Some(new.0);
            waiting.pop();
        }
    }

    /// An expression that follows the mode, if its value depends on it.
    fn rounded(&self, kind: ExprKind, ty: crate::ids::TypeId, mode: ExprId) -> ExprKind {
        let Type::Float(to) = *self.types.get(ty) else {
            return kind;
        };
        let (op, operands) = match kind {
            ExprKind::Binary(op, a, b) => {
                let op = match op {
                    BinaryOp::Add => RoundedOp::Add,
                    BinaryOp::Sub => RoundedOp::Sub,
                    BinaryOp::Mul => RoundedOp::Mul,
                    BinaryOp::Div => RoundedOp::Div,
                    _ => return kind,
                };
                (op, [a, b, b])
            }
            ExprKind::Unary(UnaryOp::FloatSqrt, a) => (RoundedOp::Sqrt, [a, a, a]),
            ExprKind::Unary(UnaryOp::FloatRint, a) => (RoundedOp::Rint, [a, a, a]),
            ExprKind::Convert(a) if self.loses(a, to) => (RoundedOp::Convert, [a, a, a]),
            ExprKind::Rounded { op, operands, .. } => (op, operands),
            _ => return kind,
        };
        ExprKind::Rounded { op, mode, operands }
    }

    /// Whether some values of an expression are no numbers of a floating-point type.
    fn loses(&self, from: ExprId, to: FloatKind) -> bool {
        match *self.types.get(self.ty_of(from)) {
            Type::Float(from) => from.precision() > to.precision(),
            Type::Int { width, .. } => width > to.precision(),
            _ => false,
        }
    }
}
