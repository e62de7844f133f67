//! Pointers that can point to one object only.
//!
//! Where the points-to analysis finds a single variable of static storage behind a pointer, and
//! nothing from outside of the program, the pointer is null or the variable's address: no address
//! has to be compared. Parts of arrays are many objects behind one pointer, and are left out.

use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{ExprId, TypeId};
use hardbop_cfront::points_to::{self, PointsTo};
use hardbop_cfront::program::{ExprKind, ObjectCandidate, Program, VarKind};
use hardbop_cfront::types::{Type, Types};

/// Knows which pointers can point to one object only.
pub(crate) struct Single {
    points_to: Option<PointsTo>,
}

impl Single {
    /// Looks at a program. One that makes pointers of numbers has objects that nobody knows.
    pub fn of(program: &Program, budget: &Budget) -> Result<Single, Stopped> {
        let makes_pointers = (0..program.exprs.len() as u32)
            .map(ExprId)
            .any(|expr| is_made_of_a_number(program, expr));
        let points_to = match makes_pointers {
            true => None,
            false => Some(points_to::analyse(program, budget)?),
        };
        Ok(Single { points_to })
    }

    /// The object that a pointer points to unless it is null.
    pub fn object(&self, program: &Program, expr: ExprId) -> Option<ObjectCandidate> {
        let points_to = self.points_to.as_ref()?;
        if !matches!(program.types.get(program.expr(expr).ty), Type::Pointer(_)) {
            return None;
        }
        let spot = points_to.pointer(expr)?;
        let class = points_to.classes().get(spot.class.0 as usize)?;
        let [variable] = class.variables[..] else {
            return None;
        };
        let other = class.collapsed
            || class.external
            || !class.allocations.is_empty()
            || !class.functions.is_empty();
        let described = program.variable(variable);
        let lasting = matches!(described.kind, VarKind::Global | VarKind::Static(_));
        let start = points_to.variable(variable)?;
        let size = program.types.size_of(described.ty) as i64;
        // Where offsets repeat, pointers walk through the object.
        let walked = points_to.part(start, size).offset != start.offset + size;
        let one = !other && lasting && !walked && spot == start;
        let found = one && !begins_with_an_array(&program.types, described.ty);
        found.then_some(ObjectCandidate::Part(variable, 0))
    }
}

fn is_made_of_a_number(program: &Program, expr: ExprId) -> bool {
    let described = program.expr(expr);
    if !matches!(program.types.get(described.ty), Type::Pointer(_)) {
        return false;
    }
    match described.kind {
        ExprKind::Int(bits) => bits != 0,
        ExprKind::Convert(inner) => {
            let inner = program.expr(inner);
            let zero = matches!(inner.kind, ExprKind::Int(0));
            !zero && !matches!(program.types.get(inner.ty), Type::Pointer(_))
        }
        _ => false,
    }
}

fn begins_with_an_array(types: &Types, mut ty: TypeId) -> bool {
    loop {
        match types.get(ty) {
            Type::Array { .. } => return true,
            Type::Record(record) => {
                let fields = &types.record(*record).fields;
                if fields.iter().filter(|field| field.offset() == 0).count() != 1 {
                    // A union, or fields that share their first byte.
                    return true;
                }
                match fields.iter().find(|field| field.offset() == 0) {
                    Some(field) => ty = field.ty,
                    None => return true,
                }
            }
            _ => return false,
        }
    }
}
