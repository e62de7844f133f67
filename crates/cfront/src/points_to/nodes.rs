//! Classes of objects under unification: a union-find whose members may sit at an offset inside
//! the class that they were merged into.

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

/// Offsets that are larger than any object are not told apart.
const FARTHEST: u64 = 1 << 40;

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

fn folded(period: Option<u64>, ranges: &[ArrayRange], mut offset: i64) -> i64 {
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
    fn array_of(&self, offset: i64, element: u64) -> Option<&ArrayRange> {
        self.ranges.iter().find(|range| {
            range.element == element
                && range.holds(offset)
                && (offset - range.start) % range.element as i64 == 0
        })
    }

    fn lose_offsets(&mut self) {
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

    /// Whether offsets do not tell which scalar an access means: one runs over the end of an
    /// array element, or a pointer that walks through an array may leave it for something else.
    fn is_blurred(&self) -> bool {
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
    fn overlapping_pointees(&self) -> Vec<(Cell, Cell)> {
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

#[derive(Clone, Debug)]
struct Node {
    /// The node that this one was merged into, and where it lies in it.
    parent: Option<(u32, i64)>,
    content: Content,
}

/// All classes.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    /// Unifications still to do; a worklist in place of recursion.
    pending: Vec<(Cell, Cell)>,
    /// Counts the functions that became members of a class, to see when indirect calls are done.
    pub function_joins: u64,
}

impl Nodes {
    /// A class of its own.
    pub fn fresh(&mut self) -> Cell {
        self.nodes.push(Node {
            parent: None,
            content: Content::default(),
        });
        Cell {
            node: self.nodes.len() as u32 - 1,
            offset: 0,
        }
    }

    /// The class that a cell belongs to now, and where it lies in it.
    pub fn find(&mut self, cell: Cell) -> Cell {
        let mut at = cell;
        let mut path = Vec::new();
        while let Some((parent, shift)) = self.nodes[at.node as usize].parent {
            path.push(at.node);
            at = Cell {
                node: parent,
                offset: at.offset + shift,
            };
        }
        // Path compression: every node on the way now points to the root directly.
        let total = at.offset - cell.offset;
        let mut passed = 0;
        for node in path {
            let shift = self.nodes[node as usize]
                .parent
                .map_or(0, |(_, shift)| shift);
            self.nodes[node as usize].parent = Some((at.node, total - passed));
            passed += shift;
        }
        Cell {
            node: at.node,
            offset: self.normalise(at),
        }
    }

    /// The offset that stands for a cell of a root: elements of arrays share one.
    fn normalise(&self, cell: Cell) -> i64 {
        let content = &self.nodes[cell.node as usize].content;
        if content.collapsed {
            return 0;
        }
        folded(content.period, &content.ranges, cell.offset)
    }

    /// What is known of a cell's class.
    pub fn content(&mut self, cell: Cell) -> &mut Content {
        let root = self.find(cell);
        &mut self.nodes[root.node as usize].content
    }

    /// What the scalar at a cell may point to; a class of its own if nothing is known yet.
    pub fn pointee(&mut self, cell: Cell) -> Cell {
        let at = self.find(cell);
        if let Some(&found) = self.nodes[at.node as usize]
            .content
            .pointees
            .get(&at.offset)
        {
            return self.find(found);
        }
        let fresh = self.fresh();
        self.nodes[at.node as usize]
            .content
            .pointees
            .insert(at.offset, fresh);
        fresh
    }

    /// Says that a scalar of that many bytes is read or written at a cell.
    pub fn access(&mut self, cell: Cell, size: u64) {
        let at = self.find(cell);
        let content = &mut self.nodes[at.node as usize].content;
        content.accesses.entry(at.offset).or_default().insert(size);
    }

    /// Says that a pointer to a later element of the array at a cell is made.
    pub fn enter(&mut self, cell: Cell, element: u64) {
        let at = self.find(cell);
        let content = &mut self.nodes[at.node as usize].content;
        if !content.collapsed {
            content.entered.insert((at.offset, element));
        }
    }

    /// Says that a record of that many bytes is seen through a pointer at a cell.
    pub fn view(&mut self, cell: Cell, size: u64) {
        let at = self.find(cell);
        let content = &mut self.nodes[at.node as usize].content;
        if !content.collapsed {
            content.views.insert((at.offset, size));
        }
    }

    /// Says that a pointer to the class may point to a function.
    pub fn add_function(&mut self, cell: Cell, function: FuncId) {
        if self.content(cell).functions.insert(function) {
            self.function_joins += 1;
        }
    }

    /// Says that an array lies at a cell.
    pub fn add_array(&mut self, cell: Cell, length: u64, element: u64) {
        let at = self.find(cell);
        let content = &mut self.nodes[at.node as usize].content;
        if content.collapsed || element == 0 || length <= element {
            return;
        }
        let range = ArrayRange {
            start: at.offset,
            length,
            element,
        };
        if content.ranges.contains(&range) {
            return;
        }
        let fits = content.ranges.iter().all(|other| nested(&range, other));
        let in_period = content
            .period
            .is_none_or(|p| at.offset as u64 + length <= p || element == p);
        if !fits || !in_period {
            self.collapse(at);
            return;
        }
        if content.period == Some(element) {
            return;
        }
        add_range(&mut content.ranges, range);
        self.refold(at.node);
        self.settle();
    }

    /// Moves a pointer by a multiple of `scale` bytes that is not known: it stays in its object.
    pub fn step(&mut self, cell: Cell, scale: u64) -> Cell {
        let at = self.find(cell);
        let content = &mut self.nodes[at.node as usize].content;
        if content.collapsed || scale == 0 || content.period == Some(scale) {
            return at;
        }
        if content.array_of(at.offset, scale).is_some() {
            content.walks.insert((at.offset, scale));
            return at;
        }
        let inside = |range: &ArrayRange| range.start >= 0 && range.end() <= scale as i64;
        if content.period.is_none() && at.offset == 0 && content.ranges.iter().all(inside) {
            content.period = Some(scale);
            self.refold(at.node);
            self.settle();
            return self.find(at);
        }
        self.collapse(at);
        self.find(at)
    }

    /// A part of the object at a cell, so many bytes from its start.
    pub fn member(&mut self, cell: Cell, bytes: i64) -> Cell {
        let at = self.find(cell);
        self.find(Cell {
            node: at.node,
            offset: at.offset + bytes,
        })
    }

    /// Moves a pointer by a number of bytes.
    pub fn shift(&mut self, cell: Cell, bytes: i64) -> Cell {
        let at = self.find(cell);
        let content = &mut self.nodes[at.node as usize].content;
        if content.collapsed || bytes == 0 {
            return at;
        }
        let moved = at.offset.saturating_add(bytes);
        if moved.unsigned_abs() > FARTHEST {
            self.collapse(at);
            return self.find(at);
        }
        content.moves.insert((at.offset, bytes));
        self.find(Cell {
            node: at.node,
            offset: moved,
        })
    }

    /// Forgets where things lie in the objects of a class.
    pub fn collapse(&mut self, cell: Cell) {
        let at = self.find(cell);
        let content = &mut self.nodes[at.node as usize].content;
        if content.collapsed {
            return;
        }
        content.lose_offsets();
        self.refold(at.node);
        self.settle();
    }

    /// Brings what a class holds to the offsets that count now.
    fn refold(&mut self, node: u32) {
        let content = &mut self.nodes[node as usize].content;
        let pointees = std::mem::take(&mut content.pointees);
        let accesses = std::mem::take(&mut content.accesses);
        let marks = |content: &mut Content| -> [BTreeSet<(i64, u64)>; 3] {
            [&mut content.walks, &mut content.entered, &mut content.views].map(std::mem::take)
        };
        let [walks, entered, views] = marks(content).map(|marks| {
            let moved = marks.into_iter();
            moved
                .map(|(offset, size)| (self.normalise(Cell { node, offset }), size))
                .collect()
        });
        let moves = std::mem::take(&mut self.nodes[node as usize].content.moves);
        let moves = moves
            .into_iter()
            .map(|(offset, bytes)| (self.normalise(Cell { node, offset }), bytes))
            .collect();
        let content = &mut self.nodes[node as usize].content;
        content.moves = moves;
        (content.walks, content.entered, content.views) = (walks, entered, views);
        for (offset, sizes) in accesses {
            let offset = self.normalise(Cell { node, offset });
            self.nodes[node as usize]
                .content
                .accesses
                .entry(offset)
                .or_default()
                .extend(sizes);
        }
        for (offset, target) in pointees {
            let offset = self.normalise(Cell { node, offset });
            match self.nodes[node as usize].content.pointees.get(&offset) {
                Some(&other) => self.pending.push((other, target)),
                None => {
                    self.nodes[node as usize]
                        .content
                        .pointees
                        .insert(offset, target);
                }
            }
        }
    }

    /// Makes two cells one.
    pub fn unify(&mut self, a: Cell, b: Cell) {
        self.pending.push((a, b));
        self.settle();
    }

    fn settle(&mut self) {
        while let Some((a, b)) = self.pending.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a.node == b.node {
                if a.offset != b.offset {
                    self.collapse(a);
                }
                continue;
            }
            if (a.offset - b.offset).unsigned_abs() > FARTHEST {
                self.collapse(a);
                self.collapse(b);
                self.pending.push((a, b));
                continue;
            }
            // The one whose cell lies deeper takes the other in, at the difference.
            let (into, from) = if a.offset >= b.offset { (a, b) } else { (b, a) };
            self.merge(into, from);
        }
    }

    fn merge(&mut self, into: Cell, from: Cell) {
        let shift = into.offset - from.offset;
        let moved = std::mem::take(&mut self.nodes[from.node as usize].content);
        self.nodes[from.node as usize].parent = Some((into.node, shift));
        let target = &mut self.nodes[into.node as usize].content;
        let joined = !moved.functions.is_empty() && !moved.functions.is_subset(&target.functions);
        let brought = !target.functions.is_empty() && !target.functions.is_subset(&moved.functions);
        target.functions.extend(moved.functions);
        target.variables.extend(moved.variables);
        target.allocations.extend(moved.allocations);
        target.external |= moved.external;
        if joined || brought {
            self.function_joins += 1;
        }
        let target = &mut self.nodes[into.node as usize].content;

        let shifted: Vec<ArrayRange> = moved
            .ranges
            .iter()
            .map(|range| ArrayRange {
                start: range.start + shift,
                ..*range
            })
            .collect();
        let periods_agree = match (target.period, moved.period) {
            (None, None) => true,
            (Some(p), Some(q)) => p == q && shift == 0,
            (Some(_), None) => shift == 0,
            (None, Some(_)) => shift == 0,
        };
        let compatible = periods_agree
            && shifted
                .iter()
                .all(|r| target.ranges.iter().all(|other| nested(r, other)));
        let lost = target.collapsed || moved.collapsed || !compatible;
        if lost {
            target.lose_offsets();
        } else {
            target.period = target.period.or(moved.period);
            let marks_moved = |marks: BTreeSet<(i64, u64)>| {
                let marks = marks.into_iter();
                marks.map(|(offset, size)| (offset + shift, size))
            };
            let moves = moved.moves.into_iter();
            target
                .moves
                .extend(moves.map(|(offset, bytes)| (offset + shift, bytes)));
            target.walks.extend(marks_moved(moved.walks));
            target.entered.extend(marks_moved(moved.entered));
            target.views.extend(marks_moved(moved.views));
            for range in shifted {
                add_range(&mut target.ranges, range);
            }
            if let Some(period) = target.period
                && target
                    .ranges
                    .iter()
                    .any(|r| r.start as u64 + r.length > period)
            {
                // An array of known length whose elements are the period says nothing new.
                target
                    .ranges
                    .retain(|r| r.element != period || r.start != 0);
                if target
                    .ranges
                    .iter()
                    .any(|r| r.start as u64 + r.length > period)
                {
                    target.lose_offsets();
                }
            }
        }
        for (offset, sizes) in moved.accesses {
            target
                .accesses
                .entry(offset + shift)
                .or_default()
                .extend(sizes);
        }
        for (offset, pointee) in moved.pointees {
            match target.pointees.get(&(offset + shift)) {
                Some(&other) => self.pending.push((other, pointee)),
                None => {
                    target.pointees.insert(offset + shift, pointee);
                }
            }
        }
        self.refold(into.node);
    }

    /// Brings the classes in line with how they are accessed: offsets that do not tell scalars
    /// apart are forgotten, and scalars that overlap share what they point to. Gives whether
    /// anything changed.
    pub fn settle_accesses(&mut self) -> bool {
        let mut changed = false;
        let roots: Vec<u32> = self.roots().collect();
        for node in roots {
            if self.nodes[node as usize].parent.is_some() {
                continue;
            }
            if self.nodes[node as usize].content.is_blurred() {
                self.collapse(Cell { node, offset: 0 });
                changed = true;
            }
            for (a, b) in self.nodes[node as usize].content.overlapping_pointees() {
                if self.find(a) != self.find(b) {
                    self.unify(a, b);
                    changed = true;
                }
            }
        }
        changed
    }

    /// The roots, in the order of their making.
    pub fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.nodes.len() as u32).filter(|&n| self.nodes[n as usize].parent.is_none())
    }
}

/// Adds a range behind those that may hold it.
fn add_range(ranges: &mut Vec<ArrayRange>, range: ArrayRange) {
    if !ranges.contains(&range) {
        ranges.push(range);
        ranges.sort_by_key(|range| std::cmp::Reverse((range.element, range.length, range.start)));
    }
}

/// Whether one array lies apart from the other, or inside one element of it.
fn nested(a: &ArrayRange, b: &ArrayRange) -> bool {
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
