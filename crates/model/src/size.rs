//! How large a program is, counted in what passes take away: statements, variables, procedures.

use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{LocId, PlaceId};
use hardbop_cfront::operands::{Operand, each_below, each_operand};
use hardbop_cfront::program::{Op, PlaceKind, Program};
use std::collections::BTreeSet;

/// How large the code is that can be called from a program's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The edges that do something or ask something.
    pub statements: usize,
    /// The variables that these speak of.
    pub variables: usize,
    /// The procedures.
    pub procedures: usize,
}

impl Size {
    /// The size of a program.
    pub fn of(program: &Program) -> Size {
        let functions = callable(program);
        let mut statements = 0;
        let mut variables = BTreeSet::new();
        // Edges share most of what they refer to.
        let mut seen = vec![false; program.places.len()];
        let mut see = |place: PlaceId| {
            if let PlaceKind::Var(variable) = program.place(place).kind
                && !std::mem::replace(&mut seen[place.index()], true)
            {
                variables.insert(variable);
            }
        };
        for &function in &functions {
            for location in program.function(function).locations.clone() {
                for (_, edge) in program.edges_from(LocId(location)) {
                    if edge.op == Op::Skip {
                        continue;
                    }
                    statements += 1;
                    let mut operands = Vec::new();
                    each_operand(&edge.op, &mut |operand| operands.push(operand));
                    each_below(program, operands, &mut |operand| {
                        if let Operand::Place(place) = operand {
                            see(place);
                        }
                    });
                }
            }
        }
        Size {
            statements,
            variables: variables.len(),
            procedures: functions.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Size;
    use hardbop_cfront::load::load_text;

    #[test]
    fn only_what_can_be_called_counts() {
        let text = "int g, h; void unused(void) { h = 1; }
            void used(void) { g = 1; } int main(void) { used(); return g; }";
        let size = Size::of(&load_text("size.c", text).unwrap().program);
        assert_eq!(size.procedures, 2);
        // `g` and the result of `main`.
        assert_eq!(size.variables, 2);
    }
}
