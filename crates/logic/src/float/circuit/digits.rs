//! Pieces of circuits that know nothing of floats: shifts that keep what falls out, leading zeros.

use crate::simplify::Sign;
use crate::term::{TermId, Terms};

/// How many bits a number needs.
pub(super) fn bits_for(number: u64) -> u32 {
    64 - number.leading_zeros()
}

/// Whether any bit is set, as a bit.
pub(super) fn any(terms: &mut Terms, bits: TermId) -> TermId {
    let zero = terms.bv(0, terms.width(bits));
    let none = terms.eq(bits, zero);
    let (off, on) = (terms.bv(0, 1), terms.bv(1, 1));
    terms.ite(none, off, on)
}

/// Whether a bit is set.
pub(super) fn is_set(terms: &mut Terms, bits: TermId, at: u32) -> TermId {
    let bit = terms.extract(bits, at, at);
    let one = terms.bv(1, 1);
    terms.eq(bit, one)
}

/// A truth value as a bit.
pub(super) fn bit(terms: &mut Terms, truth: TermId) -> TermId {
    let (off, on) = (terms.bv(0, 1), terms.bv(1, 1));
    terms.ite(truth, on, off)
}

/// The bits with zeros after them.
pub(super) fn followed_by_zeros(terms: &mut Terms, bits: TermId, zeros: u32) -> TermId {
    if zeros == 0 {
        return bits;
    }
    let zeros = terms.bv(0, zeros);
    terms.concat(bits, zeros)
}

/// The highest bits, of which the last one also stands for all that are cut off.
pub(super) fn shortened(terms: &mut Terms, bits: TermId, width: u32) -> TermId {
    let all = terms.width(bits);
    if all < width {
        return followed_by_zeros(terms, bits, width - all);
    }
    if all == width {
        return bits;
    }
    let high = terms.extract(bits, all - 1, all - width + 1);
    let low = terms.extract(bits, all - width, 0);
    let rest = any(terms, low);
    terms.concat(high, rest)
}

/// The bits moved down; the last one also stands for all that fall out. The distance is a number
/// without a sign.
pub(super) fn shifted_down(terms: &mut Terms, bits: TermId, by: TermId) -> TermId {
    let width = terms.width(bits);
    let mut moved = bits;
    let mut lost = terms.bv(0, 1);
    // A distance of the width or more leaves nothing.
    let steps = bits_for(u64::from(width)).min(terms.width(by));
    for step in 0..steps {
        let here = is_set(terms, by, step);
        let distance = 1u32 << step;
        let (low, high) = if distance >= width {
            (moved, terms.bv(0, width))
        } else {
            let low = terms.extract(moved, distance - 1, 0);
            let high = terms.extract(moved, width - 1, distance);
            (low, terms.zero_extend(high, distance))
        };
        let out = any(terms, low);
        let more = terms.bv_or(lost, out);
        lost = terms.ite(here, more, lost);
        moved = terms.ite(here, high, moved);
    }
    if steps < terms.width(by) {
        let top = terms.width(by) - 1;
        let far = terms.extract(by, top, steps);
        let far = any(terms, far);
        let one = terms.bv(1, 1);
        let far = terms.eq(far, one);
        let out = any(terms, moved);
        let more = terms.bv_or(lost, out);
        lost = terms.ite(far, more, lost);
        let nothing = terms.bv(0, width);
        moved = terms.ite(far, nothing, moved);
    }
    let lost = if width > 1 {
        terms.zero_extend(lost, width - 1)
    } else {
        lost
    };
    terms.bv_or(moved, lost)
}

/// The bits moved up until the highest one is set, and by how many places. Zero stays zero.
pub(super) fn normalised(terms: &mut Terms, bits: TermId) -> (TermId, TermId) {
    let width = terms.width(bits);
    let steps = bits_for(u64::from(width - 1));
    let mut moved = bits;
    let mut count: Option<TermId> = None;
    for step in (0..steps).rev() {
        let distance = 1u32 << step;
        let top = terms.extract(moved, width - 1, width - distance);
        let zeros = terms.bv(0, distance);
        let empty = terms.eq(top, zeros);
        let rest = terms.extract(moved, width - 1 - distance, 0);
        let up = terms.concat(rest, zeros);
        moved = terms.ite(empty, up, moved);
        let digit = bit(terms, empty);
        count = Some(match count {
            Some(before) => terms.concat(before, digit),
            None => digit,
        });
    }
    let count = count.unwrap_or_else(|| terms.bv(0, 1));
    (moved, count)
}

/// A number with a sign at another width.
pub(super) fn signed(terms: &mut Terms, number: TermId, width: u32) -> TermId {
    terms.resize(number, width, Sign::Signed)
}

/// A number without a sign at another width.
pub(super) fn unsigned(terms: &mut Terms, number: TermId, width: u32) -> TermId {
    terms.resize(number, width, Sign::Unsigned)
}
