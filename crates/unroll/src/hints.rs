//! Which numbers the program compares an input with: guesses among them come further.
//!
//! Only guessing depends on this, never an answer, so the text is read with a light hand: copies
//! between whole variables are followed in both directions, and nothing else is.

use hardbop_cfront::ids::{EdgeId, ExprId, PlaceId, VarId};
use hardbop_cfront::program::*;
use std::collections::BTreeMap;

/// For variables that are compared with numbers, the numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    numbers: BTreeMap<VarId, Vec<u128>>,
}

/// The most numbers that are kept for a variable.
const MOST: usize = 48;

impl Hints {
    /// The comparisons of a program.
    pub(crate) fn of(program: &Program) -> Hints {
        let mut copies = Copies {
            parent: (0..program.variables.len() as u32).collect(),
        };
        for edge in &program.edges {
            match &edge.op {
                Op::Assign { place, value } => {
                    copies.join(variable(program, *place), read(program, *value));
                }
                Op::Call {
                    callee: Callee::Direct(function),
                    arguments,
                    result,
                } => {
                    let function = program.function(*function);
                    for (&formal, &argument) in function.formals.iter().zip(arguments) {
                        copies.join(Some(formal), read(program, argument));
                    }
                    let result = result.and_then(|place| variable(program, place));
                    copies.join(result, function.result);
                }
                _ => {}
            }
        }
        let mut hints = Hints::default();
        for expr in &program.exprs {
            let ExprKind::Binary(op, left, right) = expr.kind else {
                continue;
            };
            let around = match op {
                BinaryOp::Eq | BinaryOp::Ne => 0,
                BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => 1,
                _ => continue,
            };
            for (one, other) in [(left, right), (right, left)] {
                if let (Some(variable), Some(number)) = (read(program, one), number(program, other))
                {
                    hints.add(copies.find(variable), number, around);
                }
            }
        }
        // From now on a variable need not know its copies.
        for index in 0..program.variables.len() as u32 {
            let first = copies.find(VarId(index));
            if first != VarId(index)
                && let Some(numbers) = hints.numbers.get(&first).cloned()
            {
                hints.numbers.insert(VarId(index), numbers);
            }
        }
        hints
    }

    fn add(&mut self, variable: VarId, number: u128, around: u128) {
        let known = self.numbers.entry(variable).or_default();
        let near = [
            number,
            number.wrapping_add(around),
            number.wrapping_sub(around),
        ];
        for number in near {
            if known.len() < MOST && !known.contains(&number) {
                known.push(number);
            }
        }
    }

    /// The numbers that a variable is compared with, or those near to them.
    pub(crate) fn compared(&self, variable: VarId) -> &[u128] {
        self.numbers.get(&variable).map_or(&[], Vec::as_slice)
    }

    /// All numbers that anything is compared with, in the order of the variables.
    pub(crate) fn all(&self) -> impl Iterator<Item = u128> + Clone + '_ {
        self.numbers.values().flatten().copied()
    }

    /// The numbers for the input of an edge.
    pub(crate) fn at(&self, program: &Program, edge: Option<EdgeId>) -> &[u128] {
        let place = edge.and_then(|edge| match &program.edges[edge.0 as usize].op {
            Op::Input { place, .. } | Op::Havoc { place } => Some(*place),
            _ => None,
        });
        let variable = place.and_then(|place| variable(program, place));
        variable.map_or(&[], |variable| self.compared(variable))
    }
}

/// The variable that a place is the whole of.
fn variable(program: &Program, place: PlaceId) -> Option<VarId> {
    match program.place(place).kind {
        PlaceKind::Var(variable) => Some(variable),
        _ => None,
    }
}

/// What an expression converts, if it only converts.
fn converted(program: &Program, mut expr: ExprId) -> ExprId {
    while let ExprKind::Convert(from) = program.expr(expr).kind {
        expr = from;
    }
    expr
}

/// The variable that an expression reads, if it does nothing else.
fn read(program: &Program, expr: ExprId) -> Option<VarId> {
    match program.expr(converted(program, expr)).kind {
        ExprKind::Load(place) => variable(program, place),
        _ => None,
    }
}

fn number(program: &Program, expr: ExprId) -> Option<u128> {
    match (
        program.expr(expr).kind,
        program.expr(converted(program, expr)).kind,
    ) {
        (ExprKind::Float(bits), _) => Some(bits),
        (_, ExprKind::Int(number)) => Some(number),
        _ => None,
    }
}

/// Classes of variables that are copied from one to the other.
struct Copies {
    parent: Vec<u32>,
}

impl Copies {
    fn find(&mut self, variable: VarId) -> VarId {
        let mut at = variable.0;
        while self.parent[at as usize] != at {
            let next = self.parent[at as usize];
            self.parent[at as usize] = self.parent[next as usize];
            at = next;
        }
        VarId(at)
    }

    fn join(&mut self, one: Option<VarId>, other: Option<VarId>) {
        if let (Some(one), Some(other)) = (one, other) {
            let (one, other) = (self.find(one), self.find(other));
            self.parent[other.0 as usize] = one.0;
        }
    }
}
