//! Classes of objects under unification: a union-find whose members may sit at an offset inside
//! the class that they were merged into.

use super::content::{ArrayRange, Cell, Content, add_range, folded, nested};
use crate::ids::FuncId;
use std::collections::BTreeSet;

/// Offsets that are larger than any object are not told apart.
const FARTHEST: u64 = 1 << 40;

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

    /// A pointer is moved on from where it is, by elements: where there is an array, it walks through
    /// that, as is known when everything is.
    pub fn walk(&mut self, cell: Cell, scale: u64) -> Cell {
        let at = self.find(cell);
        let content = &mut self.nodes[at.node as usize].content;
        if !content.collapsed && content.period != Some(scale) {
            content.walks.insert((at.offset, scale));
        }
        at
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
            if let Some(scale) = self.nodes[node as usize].content.walked_alone() {
                self.nodes[node as usize].content.period = Some(scale);
                self.refold(node);
                self.settle();
                changed = true;
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
