//! Keeps the count of the objects on the heap, and asks about them where the program stops.

use super::{Lower, TEXT};
use crate::builder::Builder;
use crate::ids::ExprId;
use crate::program::*;

impl Lower<'_> {
    fn counts_objects(&self) -> bool {
        self.b.heap_facts().next().is_some()
    }

    /// Adds to the count by an operator.
    fn count(&mut self, op: BinaryOp) {
        let source = self.f().source;
        let live = self.b.live_objects(source);
        let place = self.b.var_place(live);
        let ty = self.place_ty(place);
        let (before, one) = (self.b.load(place), self.b.int(1, ty));
        let value = self.b.binary(op, before, one, ty);
        self.emit(Op::Assign { place, value });
    }

    /// An object was allocated.
    pub(super) fn count_allocation(&mut self, lifetime: Lifetime) {
        if lifetime == Lifetime::Heap && self.counts_objects() {
            self.count(BinaryOp::Add);
        }
    }

    /// A pointer is about to be freed.
    pub(super) fn count_free(&mut self, pointer: ExprId) {
        if !self.counts_objects() || self.b.constant(pointer) == Some(0) {
            return;
        }
        let int = self.int_ty();
        let null = self.b.zero(self.b.exprs[pointer.index()].ty);
        let some = self.b.binary(BinaryOp::Ne, pointer, null, int);
        let (one, next) = (self.location(), self.location());
        self.split(some, one, next);
        self.f().cur = one;
        self.count(BinaryOp::Sub);
        self.continue_at(next);
    }

    /// The program stops here: by `exit`, `abort` or the like.
    pub(super) fn stop(&mut self) {
        let facts: Vec<HeapFact> = self.b.heap_facts().collect();
        for fact in facts {
            let source = self.f().source;
            let good = self.b.heap_is(fact, ProgramEnd::Stop, source);
            let message = Builder::heap_message(fact, &format!("the end of the program in {TEXT}"));
            self.require(fact.kind(), good, message);
        }
        self.halt();
    }
}
