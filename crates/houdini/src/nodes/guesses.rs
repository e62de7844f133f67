//! The literals at a point: of an arbitrary node and the ones that it points to, of the nodes that
//! variables point to, and of variables themselves.

use super::clauses::{Group, Pool, Size};
use super::heap::{Field, Heap, KindId, Pointer, now};
use crate::candidates::{Hints, Variable, is_literal};
use hardbop_logic::{Op, Sign, TermId, Terms};
use hardbop_semantics::layout::StateKind;
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// The most pointers at a point that literals compare with.
const POINTERS: usize = 8;
/// The most pointers that a field of an arbitrary node is compared with.
const EXCEPTIONS: usize = 5;
/// The most conditions about plain variables.
const CONDITIONS: usize = 5;
/// The most literals for one variable that holds literals only.
const MODES: usize = 3;

/// What guesses are made of.
pub struct Guesses<'a, 'g, 'p> {
    /// The program.
    pub ground: &'a Ground<'g, 'p>,
    /// Its nodes.
    pub heap: &'a Heap,
    /// What may hold of them.
    pub properties: &'a [Vec<TermId>],
    /// One more than the sizes that nodes of each kind may have.
    pub sizes: &'a [Vec<TermId>],
    /// What else it says.
    pub hints: &'a Hints,
    /// What it asks of variables that a step has changed.
    pub left: &'a [TermId],
    /// The pairs of variables between which nodes may be counted.
    pub counted: &'a [(TermId, TermId)],
    /// How large clauses are.
    pub size: Size,
}

/// Whether anything is said of the nodes that a node points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    /// What may hold of any node.
    Said,
    /// Nothing but that they point back.
    Left,
}

/// A node that something is said of.
#[derive(Clone, Copy)]
struct Node {
    kind: KindId,
    /// Where it begins.
    start: TermId,
    /// When there is none.
    unless: Option<TermId>,
    /// From where to where it goes, if not all of it is there.
    extent: Option<(i128, i128)>,
}

impl Node {
    /// Whether all properties of its kind can be said of it.
    fn is_whole(self) -> bool {
        self.extent.is_none_or(|(from, _)| from == 0)
    }

    fn has(self, field: Field) -> bool {
        self.extent
            .is_none_or(|(from, to)| from <= field.offset && field.offset < to)
    }
}

/// A point that guesses are about.
struct Here<'l> {
    live: &'l Live,
    plain: BTreeSet<TermId>,
    pointers: Vec<Pointer>,
    conditions: Vec<TermId>,
}

impl Guesses<'_, '_, '_> {
    /// The pools of a point; `plain` are its variables.
    pub fn at(&self, terms: &mut Terms, live: &Live, plain: &[Variable]) -> Vec<Pool> {
        let mut pointers = self.heap.pointers(self.ground, terms, plain);
        pointers.truncate(POINTERS);
        let mut here = Here {
            live,
            plain: plain.iter().map(|variable| variable.constant).collect(),
            pointers,
            conditions: Vec::new(),
        };
        here.conditions = self.conditions(terms, &here);
        let mut pools = Vec::new();
        for kind in 0..self.heap.kinds.len() {
            pools.push(self.of_any(terms, &here, KindId(kind as u32)));
        }
        for at in 0..here.pointers.len() {
            pools.push(self.of_pointer(terms, &here, at));
        }
        for kind in 0..self.heap.kinds.len() {
            pools.extend(self.of_nothing(terms, KindId(kind as u32)));
        }
        let mut plain = Pool::new(None);
        for &condition in &here.conditions {
            both(terms, &mut plain, Group::Plain, condition, &[]);
        }
        let low = terms.extract(self.heap.frontier, 3, 0);
        let zero = terms.bv(0, 4);
        let aligned = terms.eq(low, zero);
        plain.add(Group::Alone, aligned);
        self.of_counts(terms, &here, &mut plain);
        pools.push(plain);
        for pool in &mut pools {
            pool.close(terms, self.size);
        }
        pools
    }

    /// Conditions about plain variables: the program's own, and which literal one holds.
    fn conditions(&self, terms: &mut Terms, here: &Here<'_>) -> Vec<TermId> {
        let mut found = Vec::new();
        let to_nodes: BTreeSet<TermId> = here.pointers.iter().map(|p| p.value).collect();
        let plain: BTreeSet<TermId> = here.plain.difference(&to_nodes).copied().collect();
        for &mode in self.hints.modes.intersection(&plain) {
            for &literal in self.hints.literals_of(mode).take(MODES) {
                found.push(terms.eq(mode, literal));
            }
        }
        let left = self.left.iter().copied().filter(|&condition| {
            let about = terms.free_constants(&[condition]);
            about.is_subset(&plain)
        });
        let left: Vec<TermId> = left.take(CONDITIONS).collect();
        let conditions = self.hints.conditions_about(&plain).take(CONDITIONS);
        for condition in left.into_iter().chain(conditions) {
            let opposite = terms.not(condition);
            if !found.contains(&condition) && !found.contains(&opposite) {
                found.push(condition);
            }
        }
        found.truncate(2 * CONDITIONS);
        found
    }

    /// Whether all that a formula speaks of can still matter at a point.
    fn lives(&self, terms: &Terms, here: &Here<'_>, formula: TermId) -> bool {
        let layout = &self.ground.semantics.layout;
        terms
            .free_constants(&[formula])
            .into_iter()
            .all(|constant| match now(self.ground, constant) {
                Some(id) => match layout.get(id).kind {
                    StateKind::Births { .. } | StateKind::References | StateKind::Frontier => true,
                    StateKind::Cell { .. } => here.plain.contains(&constant),
                    _ => here.live.now.contains(&id),
                },
                // An arbitrary address, or the origin.
                None => true,
            })
    }

    /// A property of a node.
    fn said_of(&self, terms: &mut Terms, kind: KindId, property: TermId, node: TermId) -> TermId {
        let any = self.heap.kinds[kind.index()].any;
        terms.substitute(property, &BTreeMap::from([(any, node)]))
    }

    /// That no variable ever pointed to where nothing was taken yet: what is taken next is new.
    fn of_nothing(&self, terms: &mut Terms, kind: KindId) -> Option<Pool> {
        if !self.tells_visited(kind) {
            return None;
        }
        let described = &self.heap.kinds[kind.index()];
        let taken = terms.bv_ult(described.any, self.heap.frontier);
        let mut pool = Pool::new(Some(taken));
        for &visited in &described.visited {
            let never = terms.not(visited);
            pool.add(Group::Alone, never);
        }
        Some(pool)
    }

    /// Whether nodes of a kind are told apart by who pointed to them.
    fn tells_visited(&self, kind: KindId) -> bool {
        let properties = &self.properties[kind.index()];
        let mut visited = self.heap.kinds[kind.index()].visited.iter();
        visited.any(|visited| properties.contains(visited))
    }

    /// That a node begins where objects do: what is noted at its start is noted at no other's field.
    fn of_start(
        &self,
        terms: &mut Terms,
        kind: KindId,
        start: TermId,
        unless: &[TermId],
        pool: &mut Pool,
    ) {
        if self.tells_visited(kind) {
            let low = terms.extract(start, 3, 0);
            let zero = terms.bv(0, 4);
            let aligned = terms.eq(low, zero);
            add(terms, pool, Group::Alone, aligned, unless);
        }
    }

    /// What may hold of the arbitrary node of a kind.
    fn of_any(&self, terms: &mut Terms, here: &Here<'_>, kind: KindId) -> Pool {
        let any = self.heap.kinds[kind.index()].any;
        let is_node = self.heap.is_node(terms, kind, any);
        let mut pool = Pool::new(Some(terms.not(is_node)));
        let taken = terms.bv_ult(any, self.heap.frontier);
        pool.add(Group::Alone, taken);
        // Who points to a variable says nothing of nodes, and what lies before a variable is none.
        let apart = terms.bv_ule(self.heap.bottom, any);
        pool.add(Group::Alone, apart);
        let zero = terms.bv(0, terms.width(any));
        let null = terms.eq(any, zero);
        let some = terms.not(null);
        pool.add(Group::Alone, some);
        self.of_rank(terms, here, kind, any, &mut pool);
        let low = terms.extract(any, 3, 0);
        let zero = terms.bv(0, 4);
        let aligned = terms.eq(low, zero);
        pool.add(Group::Alone, aligned);
        self.of_size(terms, here, kind, any, &mut pool);
        let own = here.pointers.iter().filter(|p| p.target.kind == kind);
        for &pointer in own.take(EXCEPTIONS) {
            let node = self.heap.node(terms, pointer);
            let same = terms.eq(any, node);
            pool.add(Group::Except, same);
        }
        for &condition in &here.conditions {
            both(terms, &mut pool, Group::Plain, condition, &[]);
        }
        let node = Node {
            kind,
            start: any,
            unless: None,
            extent: None,
        };
        self.of_node(terms, here, node, Behind::Said, &mut pool);
        pool
    }

    /// That one more node follows the arbitrary one than the one that it points to.
    fn of_rank(
        &self,
        terms: &mut Terms,
        here: &Here<'_>,
        kind: KindId,
        any: TermId,
        pool: &mut Pool,
    ) {
        if self.counted.is_empty() {
            return;
        }
        for field in self.heap.kinds[kind.index()].fields.clone() {
            let Some(ranks) = field.rank.filter(|_| self.lives(terms, here, field.memory)) else {
                continue;
            };
            let value = self.heap.field(terms, field, any);
            let Some(behind) = self.heap.rank(terms, field, value) else {
                continue;
            };
            let offset = terms.bv(field.offset, terms.width(any));
            let at = terms.bv_add(any, offset);
            let own = terms.select(ranks, at);
            let one = terms.bv(1, terms.width(behind));
            let more = terms.bv_add(behind, one);
            let counted = terms.eq(own, more);
            pool.add(Group::Alone, counted);
        }
    }

    /// That as many nodes follow a pointer as a variable says, or as two variables are apart.
    fn of_counts(&self, terms: &mut Terms, here: &Here<'_>, pool: &mut Pool) {
        for &(low, high) in self.counted {
            let both: BTreeSet<TermId> = [low, high].into();
            if !both.is_subset(&here.plain) {
                continue;
            }
            let zero = terms.bv(0, terms.width(low));
            for pointer in here.pointers.clone() {
                let fields = self.heap.kinds[pointer.target.kind.index()].fields.clone();
                for field in fields {
                    let value = match pointer.named {
                        // What a variable holds is a pointer, too.
                        Some(_) => {
                            let start = self.heap.node(terms, pointer);
                            self.heap.field(terms, field, start)
                        }
                        None => pointer.value,
                    };
                    if pointer.named.is_none() && field.target != Some(pointer.target) {
                        continue;
                    }
                    let Some(rank) = self.heap.rank(terms, field, value) else {
                        continue;
                    };
                    let rank = terms.resize(rank, terms.width(low), Sign::Unsigned);
                    for (less, more) in [(low, high), (high, low), (zero, low), (zero, high)] {
                        let sum = terms.bv_add(less, rank);
                        let counts = terms.eq(sum, more);
                        pool.add(Group::Alone, counts);
                    }
                }
            }
        }
    }

    /// How large the arbitrary node may be, if anybody asks: as the program's allocations say.
    fn of_size(
        &self,
        terms: &mut Terms,
        here: &Here<'_>,
        kind: KindId,
        any: TermId,
        pool: &mut Pool,
    ) {
        let Some(extent) = self.heap.extent(terms, kind, any) else {
            return;
        };
        if !self.lives(terms, here, extent) {
            return;
        }
        let sizes = &self.sizes[kind.index()];
        let group = match sizes.len() {
            1 => Group::Alone,
            _ => Group::Own,
        };
        for &size in sizes {
            let has = terms.eq(extent, size);
            pool.add(group, has);
        }
    }

    /// What may hold of the node that a variable points to.
    fn of_pointer(&self, terms: &mut Terms, here: &Here<'_>, at: usize) -> Pool {
        let pointer = here.pointers[at];
        let mut pool = Pool::new(None);
        let zero = terms.bv(0, terms.width(pointer.value));
        let null = terms.eq(pointer.value, zero);
        let unless = pointer.named.is_none().then_some(null);
        let start = self.heap.node(terms, pointer);
        if unless.is_some() {
            both(terms, &mut pool, Group::Own, null, &[]);
            let is_node = self.heap.is_node(terms, pointer.target.kind, start);
            let is_node = terms.or(&[null, is_node]);
            pool.add(Group::Own, is_node);
            self.of_start(terms, pointer.target.kind, start, &[null], &mut pool);
        }
        if let Some(owner) = pointer.owner
            && self.lives(terms, here, owner)
        {
            let identity = self.heap.identity(terms, start);
            let own = terms.eq(owner, identity);
            let own = terms.or(&[null, own]);
            pool.add(Group::Own, own);
        }
        // Each two once; what is said of a variable may depend on who points to it.
        let others = here.pointers.iter().enumerate();
        let others = others.filter(|&(other, _)| other > at || pointer.named.is_some());
        for (_, other) in others.filter(|(_, other)| other.target == pointer.target) {
            let same = terms.eq(pointer.value, other.value);
            both(terms, &mut pool, Group::Own, same, &[]);
        }
        for &condition in &here.conditions {
            both(terms, &mut pool, Group::Plain, condition, &[]);
        }
        // What is said of all nodes is said of this one, unless it is a variable.
        let behind = match pointer.named {
            Some(_) => Behind::Said,
            None => Behind::Left,
        };
        let inside = pointer.target.inside;
        let node = Node {
            kind: pointer.target.kind,
            start,
            unless,
            extent: pointer.named.map(|size| (inside, inside + size)),
        };
        self.of_node(terms, here, node, behind, &mut pool);
        pool
    }

    /// What may hold of a node, and of those that it points to.
    fn of_node(
        &self,
        terms: &mut Terms,
        here: &Here<'_>,
        node: Node,
        behind: Behind,
        pool: &mut Pool,
    ) {
        let kind = node.kind;
        for &property in &self.properties[kind.index()] {
            if node.is_whole() && self.lives(terms, here, property) {
                let said = self.said_of(terms, kind, property, node.start);
                both(terms, pool, Group::Own, said, node.unless.as_slice());
            }
        }
        let fields = self.heap.kinds[kind.index()].fields.clone();
        for (number, field) in (0..).zip(fields) {
            if node.has(field) && self.lives(terms, here, field.memory) {
                self.of_link(terms, here, (number, field), node, behind, pool);
            }
        }
    }

    /// What may hold of a pointer in a node, and of the node that it points to.
    fn of_link(
        &self,
        terms: &mut Terms,
        here: &Here<'_>,
        (number, field): (u8, Field),
        from: Node,
        behind: Behind,
        pool: &mut Pool,
    ) {
        let node = from.start;
        let Some(target) = field.target else {
            return;
        };
        let value = self.heap.field(terms, field, node);
        if is_literal(terms, value) {
            return;
        }
        let next = self.heap.start(terms, value, target);
        let zero = terms.bv(0, terms.width(value));
        let null = terms.eq(value, zero);
        let mut unless: Vec<TermId> = from.unless.into_iter().collect();
        both(terms, pool, Group::Link(number), null, &unless);
        // What is said of a node that is pointed to is said if there is one.
        let nowhere = unless.clone();
        unless.push(null);
        let is_node = self.heap.is_node(terms, target.kind, next);
        add(terms, pool, Group::Link(number), is_node, &unless);
        self.of_start(terms, target.kind, next, &unless, pool);
        let offset = terms.bv(field.offset, terms.width(node));
        let here_it_is = terms.bv_add(node, offset);
        if let Some(owners) = field.owners
            && self.lives(terms, here, owners)
        {
            let owner = terms.select(owners, here_it_is);
            let identity = self.heap.identity(terms, next);
            let own = terms.eq(owner, identity);
            add(terms, pool, Group::Next(number), own, &unless);
        }
        if let Some(references) = field.references {
            let last = terms.select(references, value);
            let alone = terms.eq(last, here_it_is);
            add(terms, pool, Group::Next(number), alone, &unless);
        }
        let same_target = here.pointers.iter().filter(|p| p.target == target);
        for pointer in same_target.take(EXCEPTIONS) {
            let same = terms.eq(value, pointer.value);
            let other = terms.not(same);
            add(terms, pool, Group::Link(number), same, &nowhere);
            add(terms, pool, Group::Link(number), other, &unless);
        }
        for back in self.heap.kinds[target.kind.index()].fields.clone() {
            if let Some(inside) = back.target.map(|target| target.inside)
                && self.lives(terms, here, back.memory)
                && terms.width(next) == terms.width(node)
            {
                let behind = self.heap.field(terms, back, next);
                let inside = terms.bv(inside, terms.width(node));
                let start = terms.bv_add(node, inside);
                let comes_back = terms.eq(behind, start);
                add(terms, pool, Group::Next(number), comes_back, &unless);
            }
        }
        if behind == Behind::Left {
            return;
        }
        for &property in &self.properties[target.kind.index()] {
            // What speaks of two nodes is said of the first.
            let near = !self.heap.reads_through(terms, property);
            if near && self.lives(terms, here, property) {
                let said = self.said_of(terms, target.kind, property, next);
                both(terms, pool, Group::Next(number), said, &unless);
            }
        }
    }
}

/// Adds a literal and its opposite, each as what holds unless something else does.
fn both(terms: &mut Terms, pool: &mut Pool, group: Group, literal: TermId, unless: &[TermId]) {
    let opposite = terms.not(literal);
    let one = add(terms, pool, group, literal, unless);
    let other = add(terms, pool, group, opposite, unless);
    if let (Some(one), Some(other)) = (one, other) {
        pool.exclude(one, other);
    }
}

/// Adds a literal, unless it says nothing. Gives its position.
fn add(
    terms: &mut Terms,
    pool: &mut Pool,
    group: Group,
    literal: TermId,
    unless: &[TermId],
) -> Option<usize> {
    if matches!(terms.op(literal), Op::Bool(_)) {
        return None;
    }
    let said = terms.or(&[&[literal], unless].concat());
    match terms.op(said) {
        Op::Bool(_) => None,
        _ => pool.add(group, said),
    }
}
