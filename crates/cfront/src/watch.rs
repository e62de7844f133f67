//! Runs against points-to: an observer that compares what a run touches with what was claimed.
//!
//! In come a program and its points-to classes; while the interpreter runs the program, every
//! access is located in the object that it really touches, and that must be where [`PointsTo`]
//! says it is: in the class, and at the offset, from which the logic reads and writes. All proofs
//! rest on these claims, so a single contradiction is a bug whatever was being tested.

use crate::ids::{EdgeId, ExprId, PlaceId};
use crate::interp::{Observer, State};
use crate::operands::{Operand, operands_of};
use crate::points_to::{PointsTo, Spot, leaves};
use crate::program::{BinaryOp, Callee, ExprKind, Gap, Op, PlaceKind, Program};
use crate::types::Type;
use std::collections::HashMap;

/// An access that is not where points-to says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The edge that makes it.
    pub edge: EdgeId,
    /// What is wrong, in words.
    pub what: String,
}

/// Looks on while a program runs, and notes what contradicts points-to.
#[derive(Debug)]
pub struct Watch<'p> {
    program: &'p Program,
    points_to: &'p PointsTo,
    /// The edges that made the allocated objects, by address.
    allocated: HashMap<u64, EdgeId>,
    /// An allocation whose address is known when the next edge of its call is met.
    pending: Option<(EdgeId, PlaceId, usize)>,
    /// Whether the run has come to a place from which on the logic makes no claims.
    left: bool,
    /// What was found: a few of all.
    pub contradictions: Vec<Contradiction>,
    /// The number of accesses that were compared.
    pub compared: u64,
}

/// No more than so many contradictions are kept.
const MOST: usize = 10;

impl<'p> Watch<'p> {
    /// Watches runs of a program.
    pub fn new(program: &'p Program, points_to: &'p PointsTo) -> Watch<'p> {
        Watch {
            program,
            points_to,
            allocated: HashMap::new(),
            pending: None,
            left: false,
            contradictions: Vec::new(),
            compared: 0,
        }
    }

    /// Notes the address of an object that was just allocated.
    fn settle_allocation(&mut self, state: &mut State<'_, '_>) {
        let Some((edge, place, depth)) = self.pending else {
            return;
        };
        if state.depth() != depth {
            return;
        }
        self.pending = None;
        let address = match self.program.place(place).kind {
            PlaceKind::Var(variable) => state.variable(variable).map(|value| value.bits as u64),
            _ => {
                let size = self.program.types.model().pointer_size() as usize;
                let bytes = self
                    .address(state, place)
                    .and_then(|at| state.bytes(at, size));
                bytes.map(|bytes| {
                    let digits = bytes.iter().rev();
                    digits.fold(0, |word, &byte| word << 8 | u64::from(byte))
                })
            }
        };
        if let Some(object) = address.and_then(|address| state.object_at(address)) {
            self.allocated.insert(object.base, edge);
        }
    }

    /// The address of a place; `None` if it is a variable in no memory, or computing it traps.
    fn address(&self, state: &mut State<'_, '_>, place: PlaceId) -> Option<u64> {
        let program = self.program;
        let (mut at, mut offset) = (place, 0u64);
        loop {
            match program.place(at).kind {
                PlaceKind::Var(variable) => {
                    return Some(state.address(variable)?.wrapping_add(offset));
                }
                PlaceKind::Deref(pointer) => {
                    let base = state.eval(pointer).ok()??.bits as u64;
                    return Some(base.wrapping_add(offset));
                }
                PlaceKind::Field(base, index) => {
                    let Type::Record(record) = program.types.get(program.place(base).ty) else {
                        return None;
                    };
                    let field = &program.types.record(*record).fields[index as usize];
                    offset = offset.wrapping_add(field.offset());
                    at = base;
                }
                PlaceKind::Index(base, index) => {
                    let size = program.types.size_of(program.place(at).ty);
                    let index = state.eval(index).ok()??.bits as u64;
                    offset = offset.wrapping_add(index.wrapping_mul(size));
                    at = base;
                }
            }
        }
    }

    /// Where points-to has what lies at an address, if so many bytes from there on lie in one
    /// object that it knows.
    fn located(&self, state: &State<'_, '_>, address: u64, size: u64) -> Option<Spot> {
        let object = state.object_at(address)?;
        let offset = address.wrapping_sub(object.base);
        if offset.checked_add(size)? > object.size {
            return None;
        }
        let start = match object.variable {
            Some(variable) => self.points_to.variable(variable)?,
            None => self
                .points_to
                .allocation(*self.allocated.get(&object.base)?)?,
        };
        Some(self.points_to.part(start, offset as i64))
    }

    fn contradict(&mut self, edge: EdgeId, what: String) {
        if self.contradictions.len() < MOST {
            self.contradictions.push(Contradiction { edge, what });
        }
    }

    /// Compares an access of a place.
    fn access(&mut self, state: &mut State<'_, '_>, edge: EdgeId, place: PlaceId) {
        let ty = self.program.place(place).ty;
        let Some(address) = self.address(state, place) else {
            return;
        };
        let size = self.program.types.size_of(ty);
        let Some(found) = self.located(state, address, size) else {
            return;
        };
        self.compared += 1;
        let Some(claimed) = self.points_to.place(place) else {
            return self.contradict(edge, "a place that lies nowhere is accessed".to_owned());
        };
        for (offset, _, _) in leaves(&self.program.types, ty) {
            let there = self.points_to.part(found, offset as i64);
            let here = self.points_to.part(claimed, offset as i64);
            if there != here {
                let what = format!("an access at {address:#x} is at {there:?}, not at {here:?}");
                return self.contradict(edge, what);
            }
            if self.points_to.regions().at(here).is_none() {
                return self.contradict(edge, format!("no region holds {here:?}"));
            }
        }
    }

    /// Compares the first byte of a range.
    fn range(&mut self, state: &mut State<'_, '_>, edge: EdgeId, pointer: ExprId, size: ExprId) {
        let value = |state: &mut State<'_, '_>, expr| {
            let value = state.eval(expr).ok().flatten()?;
            Some(value.bits as u64)
        };
        let (Some(address), Some(size)) = (value(state, pointer), value(state, size)) else {
            return;
        };
        if size == 0 {
            return;
        }
        let Some(found) = self.located(state, address, size) else {
            return;
        };
        self.compared += 1;
        let claimed = self.points_to.pointer(pointer);
        if claimed != Some(found) {
            let what = format!("a range at {address:#x} is at {found:?}, not at {claimed:?}");
            self.contradict(edge, what);
        }
    }

    /// Compares every load in an expression that is evaluated.
    fn loads(&mut self, state: &mut State<'_, '_>, edge: EdgeId, expr: ExprId) {
        let mut exprs = vec![expr];
        while let Some(id) = exprs.pop() {
            let holds = |state: &mut State<'_, '_>, expr| {
                let value = state.eval(expr).ok().flatten();
                value.is_some_and(|value| value.bits != 0)
            };
            match self.program.expr(id).kind {
                ExprKind::Load(place) => {
                    self.access(state, edge, place);
                    self.path(place, &mut exprs);
                }
                ExprKind::AddressOf(place) => self.path(place, &mut exprs),
                ExprKind::Conditional {
                    condition,
                    then,
                    otherwise,
                } => {
                    let taken = if holds(state, condition) {
                        then
                    } else {
                        otherwise
                    };
                    exprs.extend([condition, taken]);
                }
                ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                    exprs.push(left);
                    if holds(state, left) == (op == BinaryOp::And) {
                        exprs.push(right);
                    }
                }
                // Whether an access would be good is asked without making it.
                ExprKind::ValidAccess { .. }
                | ExprKind::ValidFree { .. }
                | ExprKind::PointsToConstant { .. }
                | ExprKind::HeapIs { .. }
                | ExprKind::ObjectSize { .. }
                | ExprKind::Open { .. } => {}
                ref plain => operands_of(plain, &mut |operand| {
                    if let Operand::Expr(operand) = operand {
                        exprs.push(operand);
                    }
                }),
            }
        }
    }

    /// The expressions on the way to a place.
    fn path(&self, place: PlaceId, exprs: &mut Vec<ExprId>) {
        let mut at = place;
        loop {
            match self.program.place(at).kind {
                PlaceKind::Var(_) => return,
                PlaceKind::Deref(pointer) => return exprs.push(pointer),
                PlaceKind::Field(base, _) => at = base,
                PlaceKind::Index(base, index) => {
                    exprs.push(index);
                    at = base;
                }
            }
        }
    }

    fn written(&mut self, state: &mut State<'_, '_>, edge: EdgeId, place: PlaceId) {
        let mut exprs = Vec::new();
        self.path(place, &mut exprs);
        for expr in exprs {
            self.loads(state, edge, expr);
        }
        self.access(state, edge, place);
    }
}

impl Observer for Watch<'_> {
    fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
        self.settle_allocation(state);
        if self.left {
            return;
        }
        match &self.program.edges[edge.index()].op {
            Op::Assume { condition, .. } => self.loads(state, edge, *condition),
            Op::Assign { place, value } => {
                self.loads(state, edge, *value);
                self.written(state, edge, *place);
            }
            Op::Input { place, .. } | Op::Havoc { place } => self.written(state, edge, *place),
            Op::Call {
                callee,
                arguments,
                result,
            } => {
                if let Callee::Indirect { pointer, .. } = callee {
                    self.loads(state, edge, *pointer);
                }
                for &argument in arguments {
                    self.loads(state, edge, argument);
                }
                if let Some(place) = result {
                    self.written(state, edge, *place);
                }
            }
            Op::Allocate { place, size, .. } => {
                self.loads(state, edge, *size);
                self.written(state, edge, *place);
                self.pending = Some((edge, *place, state.depth()));
            }
            Op::CopyMemory { to, from, size } => {
                for pointer in [*to, *from] {
                    self.loads(state, edge, pointer);
                    self.range(state, edge, pointer, *size);
                }
            }
            Op::FillMemory { to, size, .. } => {
                self.loads(state, edge, *to);
                self.range(state, edge, *to, *size);
            }
            Op::HavocMemory { pointer, .. } | Op::Free { pointer } => {
                self.loads(state, edge, *pointer);
            }
            Op::Unsupported { construct } => {
                let construct = &self.program.unsupported[*construct as usize];
                self.left |= construct.gap == Gap::Logic;
            }
            Op::Skip | Op::SetOpen { .. } | Op::Declare { .. } | Op::EndScope { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{Interpreter, Limits, Script};
    use crate::load::load_text;

    /// Runs a program while the claims about another one of the same shape are watched.
    fn watched(text: &str, claims: &str) -> (u64, Vec<String>) {
        let loaded = load_text("run.c", text).unwrap();
        let claims = load_text("claims.c", claims).unwrap();
        let mut watch = Watch::new(&loaded.program, &claims.points_to);
        let mut script = Script::new(Vec::new());
        let interpreter = Interpreter::new(&loaded.program);
        interpreter.run_observed(&mut script, &Limits::default(), &mut watch);
        let found = watch.contradictions.into_iter();
        (watch.compared, found.map(|found| found.what).collect())
    }

    const TWO: &str = "int x, y; int main(void) { int *p = &x; int *q = &y; *p = 1; return *q; }";

    #[test]
    fn a_run_agrees_with_the_claims_about_its_program() {
        let (compared, found) = watched(TWO, TWO);
        assert!(compared >= 2, "{compared}");
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_pointer_to_another_object_is_a_contradiction() {
        let swapped = TWO.replace("*p = &x; int *q = &y", "*p = &y; int *q = &x");
        let (_, found) = watched(TWO, &swapped);
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn allocated_objects_are_told_apart_by_where_they_are_made() {
        let text = "#include <stdlib.h>\n\
            int main(void) { int *p = malloc(4); int *q = malloc(4); *p = 1; *q = 2; return 0; }";
        let swapped = text.replace("*p = malloc(4); int *q", "*q = malloc(4); int *p");
        let (compared, found) = watched(text, text);
        assert!(compared >= 2 && found.is_empty(), "{compared} {found:?}");
        assert!(!watched(text, &swapped).1.is_empty());
    }
}
