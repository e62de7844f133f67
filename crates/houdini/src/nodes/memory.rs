//! A solver for questions about nodes, with a small memory.
//!
//! What is guessed of nodes says which are the same, which came first, and what they hold. If such
//! a guess is wrong, it is wrong in a memory of some dozen nodes, too. So addresses are small here,
//! which makes questions about them easy; the gate, which believes nothing, asks about all memories.

use super::heap::Heap;
use hardbop_budget::Budget;
use hardbop_cfront::types::Type;
use hardbop_circuit::CircuitSolver;
use hardbop_logic::{Limits, Session, TermId, Terms, Value};
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::steps::Ground;
use std::time::Duration;

/// What a question may take.
const QUERY: Duration = Duration::from_secs(3);
/// Where the first object lies.
const ORIGIN: u64 = 4096;
/// For so many nodes there is room.
const NODES: u64 = 64;
/// The size of a node that nobody knows.
const USUAL: u64 = 32;
/// Sizes of objects have no more bits.
const SIZE: usize = 24;
/// With more bits nothing would be won.
const WIDE: usize = 24;

/// A solver that knows what always holds. Nodes are told apart by their addresses, and little is
/// computed: that is easy for circuits.
pub fn session(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    heap: &Heap,
    sizes: &[Vec<TermId>],
    budget: &Budget,
) -> Session<'static> {
    let mut solver = CircuitSolver::new();
    let semantics = ground.semantics;
    let number = |&size: &TermId| match terms.value_of(size) {
        Some(Value::BitVec(size)) => u64::try_from(size.unsigned()).ok(),
        _ => None,
    };
    let largest = sizes.iter().flatten().filter_map(number).max();
    let room = NODES.saturating_mul(largest.unwrap_or(USUAL).max(USUAL));
    let end = (ORIGIN + semantics.layout.total()).saturating_add(room);
    let bits = (u64::BITS - end.leading_zeros()) as usize;
    if bits <= WIDE {
        let origin = semantics.origin(terms);
        solver.fix(terms, origin, ORIGIN);
        for kind in &heap.kinds {
            solver.narrow(kind.any, bits);
        }
        let layout = &semantics.layout;
        for (index, variable) in layout.variables().iter().enumerate() {
            let constant = semantics.constant(terms, StateVarId(index as u32));
            let is_pointer = variable
                .ty
                .is_some_and(|ty| matches!(semantics.program.types.get(ty), Type::Pointer(_)));
            match variable.kind {
                StateKind::Cell { .. } | StateKind::Memory { .. } if !is_pointer => {}
                StateKind::Births { .. } => {}
                StateKind::Extents => solver.narrow(constant, SIZE),
                _ => solver.narrow(constant, bits),
            }
        }
    }
    let mut session = Session::new(Box::new(solver), budget.clone());
    session.set_limits(Limits {
        steps: None,
        time: Some(QUERY),
    });
    for axiom in semantics.axioms(terms) {
        session.assert(terms, axiom);
    }
    session
}
