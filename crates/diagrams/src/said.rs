//! Diagrams as formulas about the program's words.

use crate::order::Order;
use crate::relations::place;
use hardbop_bebop::bdd::{Bdd, Manager};
use hardbop_logic::{TermId, Terms};
use hardbop_pdr::program::Bits;
use rustc_hash::FxHashMap;

/// The formula that a set of states is: a choice for each node, so that what is shared in the diagram
/// is shared in the formula.
pub(crate) fn formula(
    manager: &Manager,
    order: &Order,
    bits: &Bits,
    terms: &mut Terms,
    set: Bdd,
) -> TermId {
    let (no, yes) = (terms.bool(false), terms.bool(true));
    let mut known = FxHashMap::from_iter([(Bdd::FALSE, no), (Bdd::TRUE, yes)]);
    let mut stack = vec![set];
    while let Some(&next) = stack.last() {
        let Some((var, low, high)) = manager.branch(next).filter(|_| !known.contains_key(&next))
        else {
            stack.pop();
            continue;
        };
        let before = stack.len();
        stack.extend([low, high].into_iter().filter(|it| !known.contains_key(it)));
        if stack.len() > before {
            continue;
        }
        stack.pop();
        let (word, at) = order.bit(place(var));
        let word = bits.words()[word].term;
        let bit = terms.extract(word, at as u32, at as u32);
        let one = terms.bv(1, 1);
        let holds = terms.eq(bit, one);
        let made = terms.ite(holds, known[&high], known[&low]);
        known.insert(next, made);
    }
    known[&set]
}
