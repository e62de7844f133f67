//! Pointers that come from outside: from an input, a function without a body, a variable that no
//! file defines, or as an argument of the entry. They are taken to point to objects of their own.

use super::View;
use crate::ids::{PlaceId, VarId};
use crate::operands::{Operand, each_load, each_operand};
use crate::points_to::ClassId;
use crate::program::{Root, Source};
use std::collections::{BTreeMap, BTreeSet};

/// `externals` are the user's variables with external linkage: the outside knows their addresses,
/// whether the program takes them or not.
pub(super) fn find(view: &View<'_>, externals: &[VarId]) -> Vec<String> {
    let mut used: BTreeMap<ClassId, Source> = BTreeMap::new();
    let mut named: BTreeSet<VarId> = BTreeSet::new();
    for (_, edge) in view.user_edges() {
        let mut places: Vec<PlaceId> = Vec::new();
        each_load(view.program, &edge.op, &mut |place| places.push(place));
        each_operand(&edge.op, &mut |operand| {
            if let Operand::Place(place) = operand {
                places.push(place);
            }
        });
        for place in places {
            let pointer = match view.program.root(place) {
                Root::Pointer(pointer) => pointer,
                Root::Variable(variable) => {
                    named.insert(variable);
                    continue;
                }
            };
            if let Some(spot) = view.points_to.pointer(pointer)
                && view.points_to.classes()[spot.class.0 as usize].external
            {
                used.entry(spot.class).or_insert(edge.source);
            }
        }
    }
    let mut texts = Vec::new();
    // Where there is nothing else to point to, nothing is assumed.
    let known = |class: &ClassId| {
        !view.points_to.classes()[class.0 as usize]
            .variables
            .is_empty()
    };
    let others = externals.iter().any(|id| named.contains(id))
        || view.points_to.classes().iter().any(|class| {
            let mut variables = class.variables.iter();
            !class.external
                && (!class.allocations.is_empty()
                    || variables.any(|&id| view.program.variable(id).address_taken))
        });
    if let Some(first) = used.values().next()
        && others
    {
        let but = if used.keys().any(known) {
            ", apart from what they are compared with"
        } else {
            ""
        };
        texts.push(format!(
            "pointers from outside, first used at {}, point to no object of the program{but}",
            view.place(*first)
        ));
    }
    if used.len() > 1 {
        texts.push(
            "pointers from outside to different types point to different objects, and so do \
             `void` pointers in objects from outside"
                .to_owned(),
        );
    }
    texts
}
