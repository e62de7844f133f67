//! Loops that count from a number to another one in few steps.
//!
//! In comes a loop of a function, out comes whether it looks like such a loop. Who asks must not
//! depend on the answer: it is a guess by the text.

use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, VarId};
use hardbop_cfront::program::{BinaryOp, ExprKind, Op, PlaceKind, Program};
use std::collections::{BTreeMap, BTreeSet};

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

    /// Whether every way round the loop passes a condition that some counter is below one of the
    /// text's small numbers, and adds to that counter: it is gone round a few times, wherever in it
    /// the condition stands.
    pub(crate) fn is_short(&self, head: LocId, inside: &dyn Fn(LocId) -> bool) -> bool {
        let locations = self.program.function(self.function).locations.clone();
        let mut tests: BTreeMap<VarId, BTreeSet<EdgeId>> = BTreeMap::new();
        let mut additions: BTreeMap<VarId, BTreeSet<EdgeId>> = BTreeMap::new();
        let mut is_left = false;
        for location in locations.map(LocId).filter(|&location| inside(location)) {
            for (id, edge) in self.program.edges_from(location) {
                is_left |= !inside(edge.to);
                match edge.op {
                    Op::Assume { condition, holds } => {
                        if let Some(counter) = self.is_below(condition, holds) {
                            tests.entry(counter).or_default().insert(id);
                        }
                    }
                    Op::Assign { place, value } => {
                        if let Some(counter) = self.variable(place)
                            && self.is_more(value, counter)
                        {
                            additions.entry(counter).or_default().insert(id);
                        }
                    }
                    _ => {}
                }
            }
        }
        // Whoever comes into a loop that nothing leaves is not heard of again.
        !is_left
            || tests.iter().any(|(&counter, tests)| {
                let added = additions.get(&counter);
                let passes = |edges| !self.comes_round(head, inside, edges);
                added.is_some_and(passes) && passes(tests) && self.goes_up(counter, inside)
            })
    }

    /// Whether there is a way round a loop without some edges.
    fn comes_round(
        &self,
        head: LocId,
        inside: &dyn Fn(LocId) -> bool,
        without: &BTreeSet<EdgeId>,
    ) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![head];
        while let Some(location) = work.pop() {
            for (id, edge) in self.program.edges_from(location) {
                if without.contains(&id) || !inside(edge.to) {
                    continue;
                }
                if edge.to == head {
                    return true;
                }
                if seen.insert(edge.to) {
                    work.push(edge.to);
                }
            }
        }
        false
    }

    /// The counter that is below a small number where a condition is as an edge says.
    fn is_below(&self, condition: ExprId, holds: bool) -> Option<VarId> {
        let (left, right) = match (self.program.expr(condition).kind, holds) {
            (ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Ne, left, right), true)
            | (ExprKind::Binary(BinaryOp::Ge | BinaryOp::Gt | BinaryOp::Eq, left, right), false) => {
                (left, right)
            }
            _ => return None,
        };
        let number = self.number(right)?;
        (number <= FEW).then(|| self.loaded(left)).flatten()
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
