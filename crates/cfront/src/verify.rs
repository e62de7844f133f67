//! The invariants of [`Program`], checked. For tests, and for whoever changes a stage that
//! builds or rewrites programs.

mod branching;
mod rounded;

use crate::dump;

use crate::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
use crate::operands::{Operand, each_operand, operands_of, operands_of_place};
use crate::program::*;
use crate::types::{Type, Variadic};

/// Everything that is wrong with a program; nothing for a good one.
pub fn verify(program: &Program) -> Vec<String> {
    let mut verifier = Verifier {
        program,
        found: Vec::new(),
    };
    for id in 0..program.exprs.len() {
        verifier.expr(ExprId(id as u32));
    }
    for id in 0..program.places.len() {
        verifier.place(PlaceId(id as u32));
    }
    verifier.variables();
    verifier.layout();
    for id in 0..program.functions.len() {
        verifier.function(FuncId(id as u32));
    }
    verifier.found
}

struct Verifier<'a> {
    program: &'a Program,
    found: Vec<String>,
}

impl Verifier<'_> {
    fn wrong(&mut self, what: String) {
        self.found.push(what);
    }

    fn get(&self, ty: TypeId) -> &Type {
        self.program.types.get(ty)
    }

    fn ty(&self, expr: ExprId) -> TypeId {
        self.program.expr(expr).ty
    }

    fn is_scalar(&self, ty: TypeId) -> bool {
        self.program.types.is_scalar(ty)
    }

    fn is_int(&self, ty: TypeId) -> bool {
        matches!(
            self.get(ty),
            Type::Int {
                width: 32,
                signed: true
            }
        )
    }

    fn is_integer(&self, ty: TypeId) -> bool {
        matches!(self.get(ty), Type::Int { .. } | Type::Bool)
    }

    fn is_intptr(&self, ty: TypeId) -> bool {
        let bits = self.program.types.model().pointer_size() as u32 * 8;
        matches!(self.get(ty), Type::Int { width, signed: true } if *width == bits)
    }

    fn is_pointer(&self, ty: TypeId) -> bool {
        matches!(self.get(ty), Type::Pointer(_))
    }

    fn is_float(&self, ty: TypeId) -> bool {
        matches!(self.get(ty), Type::Float(_))
    }

    fn name(&self, ty: TypeId) -> String {
        dump::type_name(&self.program.types, ty)
    }

    fn expr(&mut self, id: ExprId) {
        let program = self.program;
        let expr = program.expr(id);
        let mut early = true;
        operands_of(&expr.kind, &mut |operand| match operand {
            Operand::Expr(e) => early &= e < id,
            Operand::Place(p) => early &= self.place_before(p, id),
        });
        if !early {
            self.wrong(format!("expression {} uses an expression after it", id.0));
            return;
        }
        if let Err(why) = self.expr_types(expr) {
            let text = dump::expr_text(program, id);
            let ty = self.name(expr.ty);
            self.wrong(format!("`{text}` of type {ty}: {why}"));
        }
    }

    fn place_before(&self, place: PlaceId, id: ExprId) -> bool {
        let mut at = place;
        loop {
            match self.program.place(at).kind {
                PlaceKind::Var(_) => return true,
                PlaceKind::Deref(e) => return e < id,
                PlaceKind::Field(base, _) => at = base,
                PlaceKind::Index(base, e) => {
                    if e >= id {
                        return false;
                    }
                    at = base;
                }
            }
        }
    }

    fn expr_types(&self, expr: &Expr) -> Result<(), String> {
        let must = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        let ty = expr.ty;
        let points = |pointer| self.is_pointer(self.ty(pointer));
        match expr.kind {
            ExprKind::Int(bits) => {
                let width = self.program.types.bit_width(ty).unwrap_or(0);
                must(
                    (self.is_integer(ty) || self.is_pointer(ty))
                        && (width >= 128 || bits >> width == 0),
                    "an integer constant that does not fit its type",
                )
            }
            ExprKind::Float(_) => must(self.is_float(ty), "a float constant of another type"),
            ExprKind::Load(place) => {
                must(self.program.place(place).ty == ty, "a load of another type")
            }
            ExprKind::AddressOf(place) => {
                must(!self.is_bit_field(place), "the address of a bit-field")?;
                let at = self.program.place(place).ty;
                let decays = match (self.get(at), self.get(ty)) {
                    (_, Type::Pointer(to)) if *to == at => true,
                    // A pointer to an array whose length another unit says.
                    (Type::Array { element: a, .. }, Type::Pointer(to))
                        if matches!(
                            self.get(*to),
                            Type::Array { element: b, length: 0 } if a == b
                        ) =>
                    {
                        true
                    }
                    (Type::Array { element, .. }, Type::Pointer(to)) => element == to,
                    _ => false,
                };
                must(decays, "an address of another type")
            }
            ExprKind::Function(_) => must(self.is_pointer(ty), "a function that is no pointer"),
            ExprKind::Unary(op, a) => self.unary_types(op, self.ty(a), ty),
            ExprKind::Binary(op, a, b) => self.binary_types(op, self.ty(a), self.ty(b), ty),
            ExprKind::PointerAdd { pointer, index, .. } => must(
                self.is_pointer(ty) && self.ty(pointer) == ty && self.is_intptr(self.ty(index)),
                "pointer arithmetic of wrong types",
            ),
            ExprKind::PointerDifference { left, right, scale } => must(
                scale > 0
                    && self.is_pointer(self.ty(left))
                    && self.ty(left) == self.ty(right)
                    && self.is_intptr(ty),
                "a pointer difference of wrong types",
            ),
            ExprKind::Convert(a) => must(
                self.is_scalar(ty) && self.is_scalar(self.ty(a)),
                "a conversion of something not scalar",
            ),
            ExprKind::Rounded { op, mode, operands } => self.rounded_types(op, mode, operands, ty),
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => must(
                self.is_scalar(self.ty(condition))
                    && self.ty(then) == ty
                    && self.ty(otherwise) == ty,
                "a conditional of wrong types",
            ),
            ExprKind::Overflows {
                left, right, at, ..
            } => must(
                self.is_int(ty)
                    && self.is_integer(self.ty(left))
                    && self.is_integer(self.ty(right))
                    && self.is_integer(at),
                "an overflow test of wrong types",
            ),
            ExprKind::ValidAccess { pointer, size } => must(
                self.is_int(ty) && points(pointer) && self.is_integer(self.ty(size)),
                "an access test of wrong types",
            ),
            ExprKind::ValidFree { pointer } | ExprKind::PointsToConstant { pointer } => must(
                self.is_int(ty) && points(pointer),
                "a question about an object of wrong types",
            ),
            ExprKind::HeapIs { .. } => must(self.is_int(ty), "a test of the heap of a wrong type"),
            ExprKind::Open { pointer } => must(
                self.is_integer(ty) && points(pointer),
                "open bits of wrong types",
            ),
            ExprKind::ObjectSize { pointer } => must(
                self.is_integer(ty) && points(pointer),
                "an object size of wrong types",
            ),
        }
    }

    fn unary_types(&self, op: UnaryOp, operand: TypeId, ty: TypeId) -> Result<(), String> {
        let good = match op {
            UnaryOp::Negate => operand == ty && (self.is_integer(ty) || self.is_float(ty)),
            UnaryOp::BitNot
            | UnaryOp::PopCount
            | UnaryOp::LeadingZeros
            | UnaryOp::TrailingZeros
            | UnaryOp::ByteSwap => operand == ty && self.is_integer(ty),
            UnaryOp::Not => self.is_scalar(operand) && self.is_int(ty),
            UnaryOp::FloatAbs
            | UnaryOp::FloatSqrt
            | UnaryOp::FloatFloor
            | UnaryOp::FloatCeil
            | UnaryOp::FloatTrunc
            | UnaryOp::FloatRound
            | UnaryOp::FloatRint => operand == ty && self.is_float(ty),
            UnaryOp::IsNan
            | UnaryOp::IsInfinite
            | UnaryOp::IsFinite
            | UnaryOp::IsNormal
            | UnaryOp::SignBit => self.is_float(operand) && self.is_int(ty),
        };
        if good {
            Ok(())
        } else {
            Err(format!("{op:?} of {}", self.name(operand)))
        }
    }

    fn binary_types(&self, op: BinaryOp, a: TypeId, b: TypeId, ty: TypeId) -> Result<(), String> {
        let good = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => {
                a == b && a == ty && (self.is_integer(a) || self.is_float(a))
            }
            BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
                a == b && a == ty && self.is_integer(a)
            }
            BinaryOp::Shl | BinaryOp::Shr => a == ty && self.is_integer(a) && self.is_integer(b),
            BinaryOp::And | BinaryOp::Or => {
                self.is_scalar(a) && self.is_scalar(b) && self.is_int(ty)
            }
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => a == b && self.is_scalar(a) && self.is_int(ty),
            BinaryOp::CopySign | BinaryOp::FloatMod => a == b && a == ty && self.is_float(a),
        };
        if good {
            Ok(())
        } else {
            Err(format!("{op:?} of {} and {}", self.name(a), self.name(b)))
        }
    }

    fn is_bit_field(&self, place: PlaceId) -> bool {
        let PlaceKind::Field(base, field) = self.program.place(place).kind else {
            return false;
        };
        match self.get(self.program.place(base).ty) {
            Type::Record(record) => {
                let fields = &self.program.types.record(*record).fields;
                fields
                    .get(field as usize)
                    .is_some_and(|f| f.bit_width.is_some())
            }
            _ => false,
        }
    }

    fn place(&mut self, id: PlaceId) {
        let place = self.program.place(id);
        let good = match place.kind {
            PlaceKind::Var(var) => self.program.variable(var).ty == place.ty,
            PlaceKind::Deref(pointer) => {
                matches!(self.get(self.ty(pointer)), Type::Pointer(to) if *to == place.ty)
            }
            PlaceKind::Field(base, field) => match self.get(self.program.place(base).ty) {
                Type::Record(record) => {
                    let fields = &self.program.types.record(*record).fields;
                    fields.get(field as usize).is_some_and(|f| f.ty == place.ty)
                }
                _ => false,
            },
            PlaceKind::Index(base, index) => {
                self.is_intptr(self.ty(index))
                    && matches!(
                        self.get(self.program.place(base).ty),
                        Type::Array { element, .. } if *element == place.ty
                    )
            }
        };
        if !good {
            let text = dump::place_text(self.program, id);
            let ty = self.name(place.ty);
            self.wrong(format!("place `{text}` has the wrong type {ty}"));
        }
    }

    fn variables(&mut self) {
        let program = self.program;
        for variable in &program.variables {
            let is_static = matches!(
                variable.kind,
                VarKind::Global | VarKind::Static(_) | VarKind::Literal
            );
            if is_static == (variable.initial == Initial::None) {
                self.wrong(format!("`{}` has no fitting initial value", variable.name));
            }
            let Initial::Data(parts) = &variable.initial else {
                continue;
            };
            let mut end = 0;
            for part in parts {
                let width = match &part.value {
                    InitialValue::Scalar(e) => program.types.size_of(self.ty(*e)) * 8,
                    InitialValue::Bits(_, width) => u64::from(*width),
                    InitialValue::Bytes(bytes) => bytes.len() as u64 * 8,
                };
                if part.offset_bits < end {
                    self.wrong(format!("parts of `{}` overlap", variable.name));
                }
                end = part.offset_bits + width;
            }
            if end > program.types.size_of(variable.ty) * 8 {
                self.wrong(format!("`{}` is initialised beyond its end", variable.name));
            }
        }
    }

    /// Functions, locations and edges follow each other without gaps.
    fn layout(&mut self) {
        let program = self.program;
        let mut location = 0;
        for function in &program.functions {
            if function.locations.start != location {
                self.wrong(format!(
                    "locations of `{}` are not contiguous",
                    function.name
                ));
            }
            location = function.locations.end;
            for at in [function.entry, function.exit] {
                if !function.locations.contains(&at.0) {
                    self.wrong(format!("`{}` enters or ends elsewhere", function.name));
                }
            }
            if program.locations[function.exit.index()].kind != LocationKind::Exit {
                self.wrong(format!("the exit of `{}` is not one", function.name));
            }
        }
        if location as usize != program.locations.len() {
            self.wrong("there are locations outside of functions".to_owned());
        }
        let mut edge = 0;
        for (i, here) in program.locations.iter().enumerate() {
            if here.edges.start != edge {
                self.wrong(format!("edges of location {i} are not contiguous"));
            }
            edge = here.edges.end;
            let function = program.function(here.function);
            if !function.locations.contains(&(i as u32)) {
                self.wrong(format!("location {i} belongs to another function"));
            }
            let ends = matches!(
                here.kind,
                LocationKind::Exit | LocationKind::Error(_) | LocationKind::Halt
            );
            if ends != here.edges.is_empty() {
                self.wrong(format!(
                    "location {i} in `{}` has wrong edges",
                    function.name
                ));
            }
        }
        if edge as usize != program.edges.len() {
            self.wrong("there are edges outside of locations".to_owned());
        }
    }

    fn function(&mut self, id: FuncId) {
        let program = self.program;
        let function = program.function(id);
        let Type::Function {
            result, parameters, ..
        } = self.get(function.ty).clone()
        else {
            self.wrong(format!("`{}` is no function", function.name));
            return;
        };
        let formals: Vec<TypeId> = function
            .formals
            .iter()
            .map(|&f| program.variable(f).ty)
            .collect();
        let unprototyped = parameters.is_empty();
        if formals != parameters && !unprototyped {
            self.wrong(format!(
                "the formals of `{}` have other types",
                function.name
            ));
        }
        let kept = function.result.map(|r| program.variable(r).ty);
        let void = matches!(self.get(result), Type::Void);
        if kept != (!void).then_some(result) {
            self.wrong(format!(
                "the result of `{}` has another type",
                function.name
            ));
        }
        for &local in &function.locals {
            match program.variable(local).kind {
                VarKind::Local(f) | VarKind::Temporary(f) if f == id => {}
                _ => self.wrong(format!("a local of `{}` is not one", function.name)),
            }
        }
        for at in function.locations.clone() {
            let here = LocId(at);
            self.branching(here);
            for (edge_id, edge) in program.edges_from(here) {
                self.edge(id, edge_id, edge, here);
            }
        }
    }

    fn edge(&mut self, function: FuncId, id: EdgeId, edge: &Edge, from: LocId) {
        let program = self.program;
        let owner = program.function(function);
        if edge.from != from {
            self.wrong(format!("edge {} leaves another location", id.0));
        }
        if !owner.locations.contains(&edge.to.0) {
            self.wrong(format!("edge {} leads out of `{}`", id.0, owner.name));
        }
        let mut strangers = Vec::new();
        each_operand(&edge.op, &mut |operand| {
            self.strangers(operand, function, &mut strangers)
        });
        for var in strangers {
            let name = &program.variable(var).name;
            self.wrong(format!(
                "`{}` uses `{name}` of another function",
                owner.name
            ));
        }
        if let Err(why) = self.op(&edge.op, function) {
            let text = dump::op_text(program, &edge.op);
            self.wrong(format!("`{text}` in `{}`: {why}", owner.name));
        }
    }

    /// The variables of other functions that an operand mentions.
    fn strangers(&self, operand: Operand, function: FuncId, found: &mut Vec<VarId>) {
        let mut work = vec![operand];
        let mut seen = std::collections::HashSet::new();
        while let Some(operand) = work.pop() {
            match operand {
                Operand::Expr(e) => {
                    if seen.insert(e) {
                        operands_of(&self.program.expr(e).kind, &mut |o| work.push(o));
                    }
                }
                Operand::Place(p) => match self.program.place(p).kind {
                    PlaceKind::Var(var) => match self.program.variable(var).kind {
                        VarKind::Formal(f)
                        | VarKind::Local(f)
                        | VarKind::Temporary(f)
                        | VarKind::Result(f)
                            if f != function =>
                        {
                            found.push(var);
                        }
                        _ => {}
                    },
                    kind => operands_of_place(&kind, &mut |o| work.push(o)),
                },
            }
        }
    }

    fn op(&self, op: &Op, function: FuncId) -> Result<(), String> {
        let must = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        let place_ty = |p: PlaceId| self.program.place(p).ty;
        let local = |v: VarId| match self.program.variable(v).kind {
            VarKind::Local(f) | VarKind::Temporary(f) => f == function,
            _ => false,
        };
        match op {
            Op::Skip => Ok(()),
            Op::Assume { condition, .. } => must(
                self.is_scalar(self.ty(*condition)),
                "a condition that is not scalar",
            ),
            Op::Assign { place, value } => {
                must(
                    place_ty(*place) == self.ty(*value),
                    "a value of another type",
                )?;
                let whole = matches!(self.program.expr(*value).kind, ExprKind::Load(_));
                must(
                    self.is_scalar(self.ty(*value)) || whole,
                    "a record that is not read from a place",
                )
            }
            Op::Input { place, .. } => must(self.is_scalar(place_ty(*place)), "not a scalar"),
            Op::Havoc { .. } => Ok(()),
            Op::HavocMemory { pointer, size, .. } => must(
                self.is_pointer(self.ty(*pointer))
                    && size.is_none_or(|s| self.is_integer(self.ty(s))),
                "not a range of memory",
            ),
            Op::Call {
                callee,
                arguments,
                result,
            } => {
                let Callee::Direct(callee) = callee else {
                    let Callee::Indirect { pointer, .. } = callee else {
                        return Ok(());
                    };
                    return must(
                        self.is_pointer(self.ty(*pointer)),
                        "a callee that is no pointer",
                    );
                };
                let called = self.program.function(*callee);
                let variadic = matches!(
                    self.get(called.ty),
                    Type::Function {
                        variadic: Variadic::Yes,
                        ..
                    }
                );
                must(
                    arguments.len() == called.formals.len()
                        || (variadic && arguments.len() > called.formals.len()),
                    "a wrong number of arguments",
                )?;
                for (&argument, &formal) in arguments.iter().zip(&called.formals) {
                    must(
                        self.ty(argument) == self.program.variable(formal).ty,
                        "an argument of another type",
                    )?;
                }
                match (result, called.result) {
                    (None, _) => Ok(()),
                    (Some(place), Some(var)) => must(
                        place_ty(*place) == self.program.variable(var).ty,
                        "a result of another type",
                    ),
                    (Some(_), None) => Err("a result of a function without one".to_owned()),
                }
            }
            Op::Declare { variable } => must(local(*variable), "not a local"),
            Op::EndScope { variables } => must(variables.iter().all(|&v| local(v)), "not a local"),
            Op::Allocate { place, size, .. } => must(
                self.is_pointer(place_ty(*place)) && self.is_integer(self.ty(*size)),
                "an allocation of wrong types",
            ),
            Op::Free { pointer } => must(self.is_pointer(self.ty(*pointer)), "not a pointer"),
            Op::CopyMemory { to, from, size } => must(
                self.is_pointer(self.ty(*to))
                    && self.is_pointer(self.ty(*from))
                    && self.is_integer(self.ty(*size)),
                "a copy of wrong types",
            ),
            Op::FillMemory { to, byte, size } => must(
                self.is_pointer(self.ty(*to))
                    && self.is_int(self.ty(*byte))
                    && self.is_integer(self.ty(*size)),
                "a fill of wrong types",
            ),
            Op::SetOpen { pointer, bits } => must(
                self.is_pointer(self.ty(*pointer)) && self.is_integer(self.ty(*bits)),
                "open bits of wrong types",
            ),
            Op::Unsupported { construct } => must(
                (*construct as usize) < self.program.unsupported.len(),
                "no such unsupported construct",
            ),
        }
    }
}
