//! Whether a program can see which NaN an operation gave.
//!
//! IEEE 754 leaves open which one it is, and compilers and machines differ. As long as nobody
//! looks, one is as good as another. Those who look are `signbit` and `copysign`, and whoever
//! reads the bytes of a float as something else: then the NaN that is written may be any.

use crate::Semantics;
use crate::leaves::all_leaves;
use hardbop_cfront::ids::{PlaceId, TypeId};
use hardbop_cfront::points_to::Spot;
use hardbop_cfront::points_to::regions::RegionId;
use hardbop_cfront::program::{BinaryOp, ExprKind, Op, UnaryOp};
use hardbop_cfront::types::{FloatKind, Type};
use std::collections::BTreeMap;

/// What the regions of memory are read and written as: a kind of float, or anything else.
type Views = BTreeMap<RegionId, Option<FloatKind>>;

/// How a region is looked at.
#[derive(PartialEq)]
enum View {
    AsBefore,
    AsSomethingElse,
}

impl Semantics<'_> {
    /// Whether anything in the program may depend on the sign or the payload of a NaN.
    pub(crate) fn sees_nans(&self) -> bool {
        let program = self.program;
        let float = |ty: TypeId| matches!(program.types.get(ty), Type::Float(_));
        if !program.exprs.iter().any(|expr| float(expr.ty)) {
            return false;
        }
        let looks = program.exprs.iter().any(|expr| {
            matches!(
                expr.kind,
                ExprKind::Unary(UnaryOp::SignBit, _) | ExprKind::Binary(BinaryOp::CopySign, ..)
            )
        });
        let copies = |op: &Op| matches!(op, Op::CopyMemory { .. });
        if looks || program.edges.iter().any(|edge| copies(&edge.op)) {
            return true;
        }
        let mut views = Views::new();
        program.places.iter().enumerate().any(|(index, place)| {
            let spot = self.points_to.place(PlaceId(index as u32));
            spot.is_some_and(|spot| self.is_seen_otherwise(&mut views, spot, place.ty))
        })
    }

    /// Notes that a region is seen at a type, and tells whether it is a float's seen otherwise.
    fn is_seen_otherwise(&self, views: &mut Views, spot: Spot, ty: TypeId) -> bool {
        if self.program.types.is_scalar(ty) {
            return self.view(views, spot, ty) == View::AsSomethingElse;
        }
        match all_leaves(self, ty) {
            Some(leaves) => leaves.into_iter().any(|leaf| {
                let spot = self.points_to.part(spot, leaf.offset as i64);
                self.view(views, spot, leaf.ty) == View::AsSomethingElse
            }),
            // Whoever has so many parts may look at them in any way.
            None => true,
        }
    }

    fn view(&self, views: &mut Views, spot: Spot, ty: TypeId) -> View {
        let kind = match self.program.types.get(ty) {
            Type::Float(kind) => Some(*kind),
            _ => None,
        };
        let Some(region) = self.points_to.regions().at(spot) else {
            return View::AsBefore;
        };
        match *views.entry(region).or_insert(kind) {
            before if before == kind => View::AsBefore,
            _ => View::AsSomethingElse,
        }
    }
}
