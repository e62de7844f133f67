//! Which numbers the program compares an input with: guesses among them come further.
//!
//! Only guessing depends on this, never an answer, so the text is read with a light hand: copies
//! between whole variables are followed in both directions, and nothing else is.

use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, PlaceId, TypeId, VarId};
use hardbop_cfront::operands::{Operand, each_load, each_operand, operands_of};
use hardbop_cfront::program::*;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// For variables that are compared with numbers, the numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    numbers: BTreeMap<VarId, Rc<Vec<u128>>>,
    /// For types of pointers that functions are called through, the functions.
    callees: BTreeMap<TypeId, BTreeSet<FuncId>>,
}

/// The most numbers that are kept for a variable: as many as a large `switch` has cases.
const MOST: usize = 4_096;

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
        for edge in &program.edges {
            if let Op::Call { callee, .. } = &edge.op
                && let Callee::Indirect { pointer, targets } = callee
            {
                let callees = hints.callees.entry(program.expr(*pointer).ty).or_default();
                callees.extend(targets);
            }
        }
        for expr in &program.exprs {
            let ExprKind::Binary(op, left, right) = expr.kind else {
                continue;
            };
            let around = match op {
                BinaryOp::Eq | BinaryOp::Ne | BinaryOp::BitAnd => 0,
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
        let known = Rc::make_mut(self.numbers.entry(variable).or_default());
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
        self.numbers.get(&variable).map_or(&[], |numbers| numbers)
    }

    /// All numbers that anything is compared with, in the order of the variables.
    pub(crate) fn all(&self) -> impl Iterator<Item = u128> + Clone + '_ {
        let all = self.numbers.values();
        all.flat_map(|numbers| numbers.iter()).copied()
    }

    /// The numbers for the input of an edge.
    pub(crate) fn at(&self, program: &Program, edge: Option<EdgeId>) -> Rc<Vec<u128>> {
        let place = edge.and_then(|edge| match &program.edges[edge.0 as usize].op {
            Op::Input { place, .. } | Op::Havoc { place } => Some(*place),
            _ => None,
        });
        let variable = place.and_then(|place| variable(program, place));
        let numbers = variable.and_then(|variable| self.numbers.get(&variable));
        numbers.map(Rc::clone).unwrap_or_default()
    }

    /// The functions that are called through pointers of a type.
    pub(crate) fn callees(&self, pointer: TypeId) -> impl Iterator<Item = FuncId> + '_ {
        self.callees.get(&pointer).into_iter().flatten().copied()
    }

    /// The functions that a pointer may lead to which an edge reads from memory.
    pub(crate) fn functions(&self, program: &Program, edge: Option<EdgeId>) -> BTreeSet<FuncId> {
        let mut functions = BTreeSet::new();
        for op in reading(program, edge) {
            each_load(program, op, &mut |place| {
                functions.extend(self.callees(program.place(place).ty));
            });
        }
        functions
    }

    /// The numbers that something of so many bytes is compared with where an edge reads it from
    /// memory: those that stand beside it, and those for the variable that it is copied to. The
    /// best one is the last.
    pub(crate) fn nearby(&self, program: &Program, edge: Option<EdgeId>, size: usize) -> Vec<u128> {
        let mut numbers = Vec::new();
        let mut left = Vec::new();
        for op in reading(program, edge) {
            if let Op::Assign { place, .. } = op
                && let Some(variable) = variable(program, *place)
            {
                numbers.extend_from_slice(self.compared(variable));
            }
            each_operand(op, &mut |operand| left.push(operand));
        }
        while let Some(operand) = left.pop() {
            let Operand::Expr(expr) = operand else {
                continue;
            };
            let kind = &program.expr(expr).kind;
            if let ExprKind::Binary(op, one, other) = kind {
                let around = match op {
                    BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => 1,
                    _ => 0,
                };
                let beside = [*one, *other]
                    .into_iter()
                    .filter_map(|e| number(program, e));
                numbers.extend(
                    beside.flat_map(|n| [n.wrapping_sub(around), n.wrapping_add(around), n]),
                );
            }
            operands_of(kind, &mut |operand| left.push(operand));
        }
        numbers.push(1);
        let mask = u128::MAX >> (128 - 8 * size.clamp(1, 16));
        let mut known = BTreeSet::from([0]);
        let kept = numbers.into_iter().map(|number| number & mask);
        kept.filter(|&number| known.insert(number)).collect()
    }
}

/// What may be reading while an edge is the last one that was begun: a condition is read before it
/// is known which edge is taken.
fn reading(program: &Program, edge: Option<EdgeId>) -> impl Iterator<Item = &Op> {
    let last = edge.map(|edge| &program.edges[edge.index()]);
    let next = last
        .into_iter()
        .flat_map(|last| program.edges_from(last.to));
    let next = next.map(|(_, edge)| &edge.op);
    let next = next.filter(|op| matches!(op, Op::Assume { .. }));
    last.map(|last| &last.op).into_iter().chain(next)
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

/// The variable that an expression reads, if it does nothing else but take some bits of it.
fn read(program: &Program, expr: ExprId) -> Option<VarId> {
    let mut at = converted(program, expr);
    while let ExprKind::Binary(BinaryOp::BitAnd, bits, mask) = program.expr(at).kind
        && number(program, mask).is_some()
    {
        at = converted(program, bits);
    }
    match program.expr(at).kind {
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
