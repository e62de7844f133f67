//! Loops that count from a number to another one in few steps.
//!
//! In comes a loop of a function, out comes whether it looks like such a loop. Who asks must not
//! depend on the answer: it is a guess by the text.

use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, VarId};
use hardbop_cfront::program::{BinaryOp, ExprKind, Op, PlaceKind, Program};
use std::collections::BTreeMap;

/// The most steps that are few.
const FEW: u128 = 64;

/// So many statements may stand between the beginning of a count and its loop.
const BETWEEN: usize = 8;

/// A function whose loops are looked at.
pub(crate) struct Counting<'a> {
    program: &'a Program,
    function: FuncId,
    /// The edges that lead to each location.
    incoming: BTreeMap<LocId, Vec<EdgeId>>,
}

impl<'a> Counting<'a> {
    /// The loops of a function.
    pub(crate) fn new(program: &'a Program, function: FuncId) -> Counting<'a> {
        let mut incoming: BTreeMap<LocId, Vec<EdgeId>> = BTreeMap::new();
        for location in program.function(function).locations.clone() {
            for (id, edge) in program.edges_from(LocId(location)) {
                incoming.entry(edge.to).or_default().push(id);
            }
        }
        Counting {
            program,
            function,
            incoming,
        }
    }

    /// Whether the loop that begins at a location, and has these locations inside, counts upwards
    /// from a number to another one in few steps.
    pub(crate) fn ends_soon(&self, head: LocId, inside: &dyn Fn(LocId) -> bool) -> bool {
        let mut leaving = self.program.edges_from(head);
        let limit = leaving.find_map(|(_, edge)| match edge.op {
            Op::Assume {
                condition,
                holds: true,
            } if inside(edge.to) => self.limit(condition),
            _ => None,
        });
        let Some((counter, end)) = limit else {
            return false;
        };
        let outside = |edge: &&EdgeId| !inside(self.program.edges[edge.index()].from);
        let entries = self.incoming.get(&head).into_iter().flatten();
        let starts: Option<Vec<u128>> = entries
            .filter(outside)
            .map(|&edge| self.start(edge, counter))
            .collect();
        let Some(start) = starts.and_then(|starts| starts.into_iter().min()) else {
            return false;
        };
        end.saturating_sub(start) <= FEW && self.goes_up(counter, inside)
    }

    /// The counter and the number that a condition compares it with.
    fn limit(&self, condition: ExprId) -> Option<(VarId, u128)> {
        match self.program.expr(condition).kind {
            ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Ne, left, right) => {
                Some((self.loaded(left)?, self.number(right)?))
            }
            _ => None,
        }
    }

    /// The number in a counter behind an edge.
    fn start(&self, mut edge: EdgeId, counter: VarId) -> Option<u128> {
        for _ in 0..BETWEEN {
            let at = &self.program.edges[edge.index()];
            match at.op {
                Op::Assign { place, value } if self.variable(place) == Some(counter) => {
                    return self.number(value);
                }
                Op::Call {
                    result: Some(place),
                    ..
                }
                | Op::Input { place, .. }
                | Op::Havoc { place }
                    if self.variable(place) == Some(counter) =>
                {
                    return None;
                }
                _ => {}
            }
            match self.incoming.get(&at.from).map(Vec::as_slice) {
                Some(&[before]) => edge = before,
                _ => return None,
            }
        }
        None
    }

    /// Whether a counter is added to in a loop, and nothing else is done to it.
    fn goes_up(&self, counter: VarId, inside: &dyn Fn(LocId) -> bool) -> bool {
        let locations = self.program.function(self.function).locations.clone();
        let edges = locations
            .filter(|&location| inside(LocId(location)))
            .flat_map(|location| self.program.edges_from(LocId(location)));
        let mut moved = false;
        for (_, edge) in edges {
            let (place, value) = match edge.op {
                Op::Assign { place, value } => (place, Some(value)),
                Op::Call {
                    result: Some(place),
                    ..
                }
                | Op::Input { place, .. }
                | Op::Havoc { place } => (place, None),
                _ => continue,
            };
            if self.variable(place) != Some(counter) {
                continue;
            }
            if !value.is_some_and(|value| self.is_more(value, counter)) {
                return false;
            }
            moved = true;
        }
        moved
    }

    /// Whether a value is that of a counter and a number more.
    fn is_more(&self, value: ExprId, counter: VarId) -> bool {
        match self.program.expr(value).kind {
            ExprKind::Binary(BinaryOp::Add, left, right) => {
                let number = self.number(right);
                self.loaded(left) == Some(counter) && number.is_some_and(|n| 0 < n && n <= FEW)
            }
            _ => false,
        }
    }

    /// The variable whose value an expression is, by whatever type.
    fn loaded(&self, mut expr: ExprId) -> Option<VarId> {
        loop {
            match self.program.expr(expr).kind {
                ExprKind::Convert(inner) => expr = inner,
                ExprKind::Load(place) => return self.variable(place),
                _ => return None,
            }
        }
    }

    fn number(&self, mut expr: ExprId) -> Option<u128> {
        loop {
            match self.program.expr(expr).kind {
                ExprKind::Convert(inner) => expr = inner,
                ExprKind::Int(number) => return Some(number),
                _ => return None,
            }
        }
    }

    fn variable(&self, place: PlaceId) -> Option<VarId> {
        match self.program.place(place).kind {
            PlaceKind::Var(variable) => Some(variable),
            _ => None,
        }
    }
}
