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

/// What is known of the objects of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    /// Offsets are unknown: everything is at offset 0.
    pub collapsed: bool,
    /// The whole object is an array of elements of that many bytes, of unknown length.
    pub period: Option<u64>,
    /// Arrays at known places, outer ones before what lies inside them.
    pub ranges: Vec<ArrayRange>,
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

fn folded(period: Option<u64>, ranges: &[ArrayRange], mut offset: i64) -> i64 {
    if let Some(period) = period {
        offset = offset.rem_euclid(period as i64);
    }
    for range in ranges {
        if offset >= range.start && offset < range.start + range.length as i64 {
            offset = range.start + (offset - range.start).rem_euclid(range.element as i64);
        }
    }
    offset
}

impl Content {
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
    }

    /// Moves a pointer by a multiple of `scale` bytes that is not known: it stays in its array.
    pub fn step(&mut self, cell: Cell, scale: u64) -> Cell {
        let at = self.find(cell);
        let content = &mut self.nodes[at.node as usize].content;
        if content.collapsed || scale == 0 {
            return at;
        }
        let in_array = content.ranges.iter().any(|range| {
            range.element == scale
                && at.offset >= range.start
                && at.offset < range.start + range.length as i64
                && (at.offset - range.start) % range.element as i64 == 0
        });
        if in_array || content.period == Some(scale) {
            return at;
        }
        if content.period.is_none() && at.offset == 0 && content.ranges.is_empty() {
            content.period = Some(scale);
            self.refold(at.node);
            return self.find(at);
        }
        self.collapse(at);
        self.find(at)
    }

    /// Moves a pointer by a number of bytes.
    pub fn shift(&mut self, cell: Cell, bytes: i64) -> Cell {
        let at = self.find(cell);
        if self.nodes[at.node as usize].content.collapsed {
            return at;
        }
        self.find(Cell {
            node: at.node,
            offset: at.offset + bytes,
        })
    }

    /// Forgets where things lie in the objects of a class.
    pub fn collapse(&mut self, cell: Cell) {
        let at = self.find(cell);
        let content = &mut self.nodes[at.node as usize].content;
        if content.collapsed {
            return;
        }
        content.collapsed = true;
        content.period = None;
        content.ranges.clear();
        self.refold(at.node);
        self.settle();
    }

    /// Brings what a class holds to the offsets that count now.
    fn refold(&mut self, node: u32) {
        let content = &mut self.nodes[node as usize].content;
        let pointees = std::mem::take(&mut content.pointees);
        let accesses = std::mem::take(&mut content.accesses);
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
            target.collapsed = true;
            target.period = None;
            target.ranges.clear();
        } else {
            target.period = target.period.or(moved.period);
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
                    target.collapsed = true;
                    target.period = None;
                    target.ranges.clear();
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
    let outer_end = outer.start + outer.length as i64;
    let inner_end = inner.start + inner.length as i64;
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
