//! Allocation, the count of the objects on the heap, and what is asked about them where the program
//! stops.

use super::{Lower, TEXT};
use crate::builder::Builder;
use crate::ids::{ExprId, PlaceId, TypeId};
use crate::models::FAILS;
use crate::options::Allocations;
use crate::program::*;
use crate::types::Type;
use rucc_sema as sema;

/// What is assumed of memory on the stack whose size is computed.
const STACK_IS_THERE: &str =
    "sizes of variable-length arrays and of `alloca` are not negative and fit on the stack";

impl Lower<'_> {
    /// No object has two to the power of this many bytes: that is what an address space of x86 has
    /// for programs, and on 32 bits what `ptrdiff_t` can count.
    fn address_bits(&self) -> u32 {
        if self.b.pointer_width() == 64 { 47 } else { 31 }
    }

    /// Takes memory of a size that may be too large for any object: then `malloc` gives null, and
    /// an array on the stack ends the execution, which is said.
    pub(super) fn allocate(&mut self, size: ExprId, lifetime: Lifetime, ty: TypeId) -> ExprId {
        // An implicitly declared `malloc` returns an `int`: allocate to a pointer all the same.
        let to = if matches!(self.b.types.get(ty), Type::Pointer(_)) {
            ty
        } else {
            let void = self.b.types.intern(Type::Void);
            self.b.types.pointer(void)
        };
        let place = self.temporary(to);
        self.allocate_to(place, size, lifetime);
        self.b.load(place)
    }

    /// The same with the address written to a place.
    pub(super) fn allocate_to(&mut self, place: PlaceId, size: ExprId, lifetime: Lifetime) {
        let may_fail = self.b.options.allocations == Allocations::MayFail;
        if lifetime == Lifetime::Heap && may_fail {
            self.fail_or_allocate(place, size);
            return;
        }
        if lifetime != Lifetime::Frame {
            let limit = self.address_bits();
            self.b.assume_model(&format!(
                "memory can always be allocated: `malloc` returns null only for 2^{limit} bytes or \
                 more, and no execution fills the address space"
            ));
        }
        self.allocate_if_possible(place, size, lifetime);
    }

    /// Either there is no memory, and null is what there is, or there is.
    fn fail_or_allocate(&mut self, place: PlaceId, size: ExprId) {
        let int = self.int_ty();
        let size = self.keep(size);
        let fails = self.temporary(int);
        self.emit(Op::Havoc { place: fails });
        let fails = self.b.load(fails);
        let (no, yes, join) = (self.location(), self.location(), self.location());
        self.split(fails, no, yes);
        self.f().cur = no;
        self.fail_to_allocate(place, Lifetime::Heap);
        self.continue_at(join);
        self.f().cur = yes;
        self.allocate_if_possible(place, size, Lifetime::Heap);
        self.continue_at(join);
    }

    /// There is no memory, which `errno` says where somebody looks at it.
    fn fail_to_allocate(&mut self, place: PlaceId, lifetime: Lifetime) {
        let nothing = self.b.zero(self.place_ty(place));
        self.assign(place, nothing);
        if lifetime == Lifetime::Heap && self.b.looks_at_errno {
            self.call_model(FAILS);
        }
    }

    fn allocate_if_possible(&mut self, place: PlaceId, size: ExprId, lifetime: Lifetime) {
        let most = (1u128 << self.address_bits()) - 1;
        if self.b.constant(size).is_some_and(|size| size <= most) {
            self.emit(Op::Allocate {
                place,
                size,
                lifetime,
            });
            self.count_allocation(lifetime);
            return;
        }
        let (int, size_ty) = (self.int_ty(), self.size_ty());
        let size = self.keep(size);
        let most = self.b.int(most as i128, size_ty);
        let large = self.b.binary(BinaryOp::Gt, size, most, int);
        let (too_large, fits, join) = (self.location(), self.location(), self.location());
        self.split(large, too_large, fits);
        self.f().cur = too_large;
        match lifetime {
            Lifetime::Heap | Lifetime::Library => {
                self.fail_to_allocate(place, lifetime);
                self.continue_at(join);
            }
            Lifetime::Frame => {
                // The texts that `main` is given are no longer than memory allows.
                if self.origin == Origin::User {
                    self.b.assume_model(STACK_IS_THERE);
                }
                let halt = self.halt_location();
                self.jump_to(halt);
            }
        }
        self.f().cur = fits;
        self.emit(Op::Allocate {
            place,
            size,
            lifetime,
        });
        self.count_allocation(lifetime);
        self.continue_at(join);
    }

    pub(super) fn calloc(&mut self, id: sema::ExprId, args: sema::ExprList, ty: TypeId) -> ExprId {
        let values = self.size_arguments(args);
        self.at_expr(id);
        let size_ty = self.size_ty();
        let int = self.int_ty();
        let total = self.b.binary(BinaryOp::Mul, values[0], values[1], size_ty);
        let overflow = self
            .b
            .overflows(BinaryOp::Mul, values[0], values[1], size_ty);
        let zero = self.b.int(0, int);
        let most = (1u128 << self.address_bits()) - 1;
        let small = |total| total <= most;
        if self.b.constant(overflow) == Some(0) && self.b.constant(total).is_some_and(small) {
            let pointer = self.allocate(total, Lifetime::Heap, ty);
            match self.b.options.allocations {
                Allocations::Succeed => self.emit(Op::FillMemory {
                    to: pointer,
                    byte: zero,
                    size: total,
                }),
                Allocations::MayFail => self.clear_if_there(pointer, total),
            }
            return pointer;
        }
        // A product that does not fit is larger than any object, and so is `size_t`'s largest.
        let largest = self.b.int(-1, size_ty);
        let total = self.b.conditional(overflow, largest, total);
        let total = self.keep(total);
        let pointer = self.allocate(total, Lifetime::Heap, ty);
        self.clear_if_there(pointer, total);
        pointer
    }

    /// Fills memory with zeros, where it could be allocated.
    fn clear_if_there(&mut self, pointer: ExprId, size: ExprId) {
        let int = self.int_ty();
        let byte = self.b.int(0, int);
        let (fill, join) = (self.location(), self.location());
        self.split(pointer, fill, join);
        self.f().cur = fill;
        self.emit(Op::FillMemory {
            to: pointer,
            byte,
            size,
        });
        self.continue_at(join);
    }

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
