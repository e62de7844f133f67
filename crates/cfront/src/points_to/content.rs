//! What is known of the objects of a class: where arrays lie in them, which scalars are accessed,
//! and when offsets no longer tell these apart.

use crate::ids::{EdgeId, FuncId, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// A point in a class: where a pointer points, or where a place lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Cell {
    pub node: u32,
    pub offset: i64,
}

/// An array inside the objects of a class: `length` bytes from `start` on are elements of
/// `element` bytes each. All elements share the offsets of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ArrayRange {
    pub start: i64,
    pub length: u64,
    pub element: u64,
}

/// What is known of the objects of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    /// Offsets are unknown: everything is at offset 0.
    pub collapsed: bool,
    /// The whole object is an array of elements of that many bytes, of unknown length.
    pub period: Option<u64>,
    /// Arrays at known places, outer ones before what lies inside them.
    pub ranges: Vec<ArrayRange>,
    /// Where pointers move by a number of elements that is not known, and the size of those: an
    /// offset in an array, which they may leave for what lies beside it.
    pub walks: BTreeSet<(i64, u64)>,
    /// Where pointers move by a known number of bytes.
    pub moves: BTreeSet<(i64, i64)>,
    /// The arrays of which pointers to later elements are made: an offset, the size of elements.
    pub entered: BTreeSet<(i64, u64)>,
    /// Where records of a size are seen through pointers.
    pub views: BTreeSet<(i64, u64)>,
    /// What the scalar at an offset may point to.
    pub pointees: BTreeMap<i64, Cell>,
    /// The sizes in bytes of the scalars read or written at an offset.
    pub accesses: BTreeMap<i64, BTreeSet<u64>>,
    /// The functions that a pointer to this class may point to.
    pub functions: BTreeSet<FuncId>,
    /// The variables in the class.
    pub variables: BTreeSet<VarId>,
    /// The allocations in the class.
    pub allocations: BTreeSet<EdgeId>,
    /// Whether objects that the program did not make may be in it.
    pub external: bool,
}

/// Which offsets in the objects of a class are told apart.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    collapsed: bool,
    period: Option<u64>,
    ranges: Vec<ArrayRange>,
}

impl Fold {
    /// The offset that stands for one: elements of arrays share those of the first.
    pub fn apply(&self, offset: i64) -> i64 {
        if self.collapsed {
            return 0;
        }
        folded(self.period, &self.ranges, offset)
    }
}

impl Fold {
    /// The offsets that something lies at from `low` to `high` and in the elements around.
    pub fn extent(&self, low: i64, high: i64) -> (i64, i64) {
        let period = self.period.map_or(high, |period| period as i64);
        let elements = self.ranges.iter();
        let elements = elements.map(|range| range.start + range.element as i64);
        let high = elements.fold(high.max(period), i64::max);
        (low, high)
    }

    /// The sizes of the elements of the arrays around an offset.
    pub fn around(&self, offset: i64) -> impl Iterator<Item = u64> {
        let ranges = self.ranges.iter().filter(move |range| range.holds(offset));
        ranges.map(|range| range.element).chain(self.period)
    }

    /// Where a walk by `step` bytes from an offset leaves the array of such elements that it is
    /// in.
    pub fn leaves_at(&self, offset: i64, step: i64) -> Option<i64> {
        let of_step = |range: &&ArrayRange| {
            range.element as i64 == step
                && range.holds(offset)
                && (offset - range.start) % step == 0
        };
        let range = self.ranges.iter().find(of_step)?;
        let steps = (range.end() - offset + step - 1) / step;
        Some(offset + steps * step)
    }

    /// The offsets of elements that an offset stands for: the first ones, and the last `margin`
    /// bytes and some more of every array.
    pub fn twins(&self, offset: i64, margin: u64) -> Vec<i64> {
        let mut out = vec![offset];
        for range in self.ranges.iter().filter(|range| range.holds(offset)) {
            let element = range.element as i64;
            let own = (offset - range.start).div_euclid(element);
            let last = (range.length / range.element).saturating_sub(1) as i64;
            let some = (margin / range.element + 2).min(64) as i64;
            let indices = (0..some.min(last + 1)).chain((last - some).max(0)..=last);
            let indices: BTreeSet<i64> = indices.collect();
            out = out
                .iter()
                .flat_map(|&at| {
                    indices
                        .iter()
                        .map(move |index| at + (index - own) * element)
                })
                .take(4096)
                .collect();
        }
        out
    }

    /// The greatest distance by which all that one offset stands for lies apart; `None` if it
    /// stands for itself.
    pub fn element_at(&self, offset: i64) -> Option<u64> {
        if self.collapsed {
            return Some(1);
        }
        let around = self.ranges.iter().filter(|range| range.holds(offset));
        let sizes = around.map(|range| range.element).chain(self.period);
        sizes.reduce(greatest_common_divisor)
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

pub(super) fn folded(period: Option<u64>, ranges: &[ArrayRange], mut offset: i64) -> i64 {
    if let Some(period) = period {
        offset = offset.rem_euclid(period as i64);
    }
    for range in ranges {
        if range.holds(offset) {
            offset = range.start + (offset - range.start).rem_euclid(range.element as i64);
        }
    }
    offset
}

impl ArrayRange {
    /// The offset after its last element.
    pub fn end(&self) -> i64 {
        self.start.saturating_add_unsigned(self.length)
    }

    /// Whether an offset lies in it.
    pub fn holds(&self, offset: i64) -> bool {
        self.start <= offset && offset < self.end()
    }
}

impl Content {
    /// The array of elements of that size in which an element starts at an offset.
    pub fn array_of(&self, offset: i64, element: u64) -> Option<&ArrayRange> {
        self.ranges.iter().find(|range| {
            range.element == element
                && range.holds(offset)
                && (offset - range.start) % range.element as i64 == 0
        })
    }

    pub fn lose_offsets(&mut self) {
        self.collapsed = true;
        self.period = None;
        self.ranges.clear();
        self.walks.clear();
        self.moves.clear();
        self.entered.clear();
        self.views.clear();
    }

    /// Whether the class has no object that the program knows.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.allocations.is_empty() && self.functions.is_empty()
    }

    /// The size of elements, if pointers walk from the start of objects that nobody says are arrays.
    pub fn walked_alone(&self) -> Option<u64> {
        let plain = !self.collapsed && self.period.is_none() && self.ranges.is_empty();
        let &(_, scale) = self.walks.first().filter(|_| plain)?;
        let same = self.walks.iter().all(|&walk| walk == (0, scale));
        same.then_some(scale)
    }

    /// Whether offsets do not tell which scalar an access means: one runs over the end of an
    /// array element, or a pointer that walks through an array may leave it for something else.
    pub fn is_blurred(&self) -> bool {
        if self.collapsed {
            return false;
        }
        let accesses = || {
            self.accesses
                .iter()
                .flat_map(|(&offset, sizes)| sizes.iter().map(move |&size| (offset, size)))
        };
        let straddles = |(offset, size): (i64, u64)| {
            let over = |start: i64, element: u64| {
                (offset - start).rem_euclid(element as i64) as u64 + size > element
            };
            self.period.is_some_and(|period| over(0, period))
                || self
                    .ranges
                    .iter()
                    .any(|range| range.holds(offset) && over(range.start, range.element))
        };
        let escapes = |&(offset, scale): &(i64, u64)| {
            if self.period == Some(scale) {
                return false;
            }
            let Some(range) = self.array_of(offset, scale) else {
                return true;
            };
            // Every copy of the array lies at the same distance from its elements.
            let around = self.ranges.iter().filter(|outer| outer.element > scale);
            let around = around.filter(|outer| outer.holds(offset));
            let steps = around.map(|outer| outer.element).chain(self.period);
            if steps.into_iter().any(|step| step % scale != 0) {
                return true;
            }
            let (start, end) = (range.start, range.start + scale as i64);
            accesses().any(|(offset, size)| offset < start || offset + size as i64 > end)
        };
        // In an array an offset stands for that of any element: a move that leaves the element may
        // leave the array, too.
        let leaves = |&(offset, bytes): &(i64, i64)| {
            let around = self.ranges.iter().filter(|range| range.holds(offset));
            around.into_iter().any(|range| {
                let element = range.element as i64;
                let index = |offset: i64| (offset - range.start).div_euclid(element);
                let moved = offset.saturating_add(bytes);
                index(offset) != index(moved)
                    && (bytes % element != 0 || escapes(&(offset, range.element)))
            })
        };
        // The first element of an array lies where the record begins that begins with the array:
        // a pointer to a later element may be taken for one to the record.
        let mistaken = |&(offset, element): &(i64, u64)| {
            let range = self.array_of(offset, element);
            range.is_some_and(|range| {
                self.views
                    .iter()
                    .any(|&(view, size)| range.holds(view) && size > element)
            })
        };
        accesses().any(straddles)
            || self.walks.iter().any(escapes)
            || self.moves.iter().any(leaves)
            || self.walks.iter().chain(&self.entered).any(mistaken)
    }

    /// What lies in each run of accesses that overlap may hold (parts of) the same pointers.
    pub fn overlapping_pointees(&self) -> Vec<(Cell, Cell)> {
        let mut pairs = Vec::new();
        let mut end = i64::MIN;
        let mut held: Option<Cell> = None;
        for (&offset, sizes) in &self.accesses {
            if offset >= end {
                held = None;
            }
            let size = sizes.last().copied().unwrap_or(0);
            end = end.max(offset + size as i64);
            if let Some(&pointee) = self.pointees.get(&offset) {
                if let Some(other) = held {
                    pairs.push((other, pointee));
                }
                held = Some(pointee);
            }
        }
        pairs
    }

    pub fn fold(&self) -> Fold {
        Fold {
            collapsed: self.collapsed,
            period: self.period,
            ranges: self.ranges.clone(),
        }
    }
}

/// Adds a range behind those that may hold it.
pub(super) fn add_range(ranges: &mut Vec<ArrayRange>, range: ArrayRange) {
    if !ranges.contains(&range) {
        ranges.push(range);
        ranges.sort_by_key(|range| std::cmp::Reverse((range.element, range.length, range.start)));
    }
}

/// Whether one array lies apart from the other, or inside one element of it.
pub(super) fn nested(a: &ArrayRange, b: &ArrayRange) -> bool {
    let (outer, inner) = if a.element >= b.element {
        (a, b)
    } else {
        (b, a)
    };
    let (outer_end, inner_end) = (outer.end(), inner.end());
    if inner_end <= outer.start || outer_end <= inner.start {
        return true;
    }
    if outer.element == inner.element {
        // The same array known with two lengths, as through a cast.
        return (inner.start - outer.start) % outer.element as i64 == 0;
    }
    if inner.start < outer.start || inner_end > outer_end {
        return false;
    }
    let first = (inner.start - outer.start) / outer.element as i64;
    let last = (inner_end - 1 - outer.start) / outer.element as i64;
    first == last
}
