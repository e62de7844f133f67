//! Where objects were taken, and who refers to them: ghosts, for facts about all nodes of linked
//! structures.
//!
//! Such a fact speaks of every object of a class that was ever allocated. Which addresses these are
//! no program says, so the state has it beside what the program has: for each class with
//! allocations an array from addresses to numbers. It is 0 everywhere at the start, an allocation
//! writes its own number at the address that it takes (the first of the class is 1), and nothing
//! else writes or reads it. So nodes of two lists of one type can be told apart. Another such array
//! notes where objects were freed. So every execution of
//! the program is one with ghosts, in one way only, and what is proved of those is proved of these.
//!
//! That no two nodes point to the same one is a fact about two nodes. It is one about each node by
//! itself if the state has, beside each region of pointers in such objects, an array from addresses
//! to where a pointer to there was written last: what the node points to was referred to last by
//! the node itself. What the array holds before anything is written is anything; only whole pointers
//! are noted, and nothing reads it, so again every execution is one with ghosts.
//!
//! Three more say what became of a node since, where what it holds does not tell ([`Traces`]):
//!
//! - beside each such region, which statement wrote the pointer at an address last, as its number:
//!   so a node that a loop has moved to another list is told from those that it has not;
//! - beside each such region whose pointers lead to nodes of the same class, how many nodes follow
//!   by it, as it was when the pointer was written: one more than for the node that it points to;
//! - for each class, which of the variables that are led from a node to another one (`p = p->next`)
//!   ever pointed to an address: a set of bits. So what lies before such a cursor is told from what
//!   lies behind. What is freed was visited by none.
//!
//! All are written by the program's own statements, from what the state holds, and read by none: for
//! any choice of statements, variables, numbers and bits, every execution is one with ghosts.
//!
//! Nobody has them who does not ask ([`Semantics::with_births`](crate::Semantics::with_births)).

use crate::exec::Execution;
use crate::expr::Evaluated;
use crate::layout::{Layout, StateKind, StateVarId};
use crate::memory::Scalar;
use crate::scalar::Shape;
use hardbop_cfront::ids::{EdgeId, ExprId, PlaceId};
use hardbop_cfront::operands::{Operand, each_below};
use hardbop_cfront::points_to::{ClassId, PointsTo, Spot};
use hardbop_cfront::program::{ExprKind, Op, PlaceKind, Program};
use hardbop_cfront::types::Type;
use hardbop_logic::{TermId, Terms};
use std::collections::BTreeMap;

/// The bits of the number of a statement that writes pointers.
const NUMBER: u32 = 4;
/// The most variables that are known by the nodes that they come to, for one class.
const VISITORS: u32 = 8;
/// The bits of the number of nodes that follow.
const RANK: u32 = 64;

/// The shape of the number of an allocation.
pub(crate) fn born(bits: u32) -> Shape {
    Shape {
        width: bits,
        signed: false,
        float: None,
    }
}

/// How many nodes follow a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// The array from addresses of pointers to numbers.
    pub ghost: StateVarId,
    /// From where a pointer leads to, the pointer of that node lies so many bytes further on.
    pub further: i64,
}

/// A variable that is led from node to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// Where in an object it points to.
    pub to: Spot,
    /// Its bit among those of the class.
    pub bit: u32,
}

/// What statements leave behind at nodes.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    writers: BTreeMap<StateVarId, StateVarId>,
    numbers: BTreeMap<EdgeId, u32>,
    ranks: BTreeMap<StateVarId, Rank>,
    visits: BTreeMap<ClassId, StateVarId>,
    visitors: BTreeMap<StateVarId, Visitor>,
}

impl Traces {
    /// Adds the ghosts to a layout that notes where objects are taken.
    pub(crate) fn new(program: &Program, points_to: &PointsTo, layout: &mut Layout) -> Traces {
        let mut traces = Traces::default();
        let classes: Vec<ClassId> = layout.births().keys().copied().collect();
        let regions = points_to.regions();
        for class in classes {
            for region in regions.of_class(class) {
                let id = layout.region(region);
                if layout.references(id).is_none() {
                    continue;
                }
                let number = StateKind::Births { bits: NUMBER };
                let ghost = layout.add_ghost(format!("writer#{}", region.0), number);
                traces.writers.insert(id, ghost);
                let offset = regions.get(region).start;
                let pointee = points_to.pointee(Spot { class, offset });
                if let Some(pointee) = pointee.filter(|pointee| pointee.class == class) {
                    let number = StateKind::Births { bits: RANK };
                    let ghost = layout.add_ghost(format!("rank#{}", region.0), number);
                    let further = offset - pointee.offset;
                    traces.ranks.insert(id, Rank { ghost, further });
                }
            }
        }
        traces.number(program, points_to, layout);
        traces.visitors(program, points_to, layout);
        traces
    }

    /// Numbers the statements that write pointers.
    fn number(&mut self, program: &Program, points_to: &PointsTo, layout: &Layout) {
        let mut written: BTreeMap<StateVarId, u32> = BTreeMap::new();
        for (edge, place, _) in assignments(program) {
            let region = region_of(points_to, layout, place);
            let Some(id) = region.filter(|id| self.writers.contains_key(id)) else {
                continue;
            };
            let number = written.entry(id).or_default();
            *number += 1;
            if *number < 1 << NUMBER {
                self.numbers.insert(edge, *number);
            }
        }
    }

    /// Finds the variables that are led from node to node, or given the value of such a one.
    fn visitors(&mut self, program: &Program, points_to: &PointsTo, layout: &mut Layout) {
        let mut copies: BTreeMap<StateVarId, Vec<StateVarId>> = BTreeMap::new();
        let mut work = Vec::new();
        for (_, place, value) in assignments(program) {
            let pointer = matches!(program.types.get(program.place(place).ty), Type::Pointer(_));
            let region = region_of(points_to, layout, place).filter(|_| pointer);
            let Some(id) = region.filter(|&id| is_cell(layout, id)) else {
                continue;
            };
            if follows_pointer(program, value) {
                work.push(id);
            } else if let ExprKind::Load(from) = program.expr(value).kind
                && let Some(from) = region_of(points_to, layout, from)
            {
                copies.entry(from).or_default().push(id);
            }
        }
        let mut led: BTreeMap<StateVarId, Spot> = BTreeMap::new();
        while let Some(id) = work.pop() {
            let region = layout.region_of(id);
            let region = region.map(|region| points_to.regions().get(region));
            let to = region.and_then(|region| {
                let (class, offset) = (region.class, region.start);
                points_to.pointee(Spot { class, offset })
            });
            if let Some(to) = to.filter(|to| layout.births().contains_key(&to.class))
                && led.insert(id, to).is_none()
            {
                work.extend(copies.get(&id).into_iter().flatten());
            }
        }
        let mut visited: BTreeMap<ClassId, u32> = BTreeMap::new();
        for (id, to) in led {
            let bit = visited.entry(to.class).or_default();
            if *bit < VISITORS {
                self.visitors.insert(id, Visitor { to, bit: *bit });
                *bit += 1;
            }
        }
        for (class, bits) in visited {
            let kind = StateKind::Births { bits };
            let ghost = layout.add_ghost(format!("visits#{}", class.0), kind);
            self.visits.insert(class, ghost);
        }
    }

    /// Which statement wrote each pointer of a region last.
    pub fn writer(&self, region: StateVarId) -> Option<StateVarId> {
        self.writers.get(&region).copied()
    }

    /// How many nodes follow each pointer of a region.
    pub fn rank(&self, region: StateVarId) -> Option<Rank> {
        self.ranks.get(&region).copied()
    }

    /// Which variables pointed to the nodes of a class.
    pub fn visits(&self, class: ClassId) -> Option<StateVarId> {
        self.visits.get(&class).copied()
    }

    /// The variables that are led from node to node.
    pub fn cursors(&self) -> impl Iterator<Item = Visitor> {
        self.visitors.values().copied()
    }

    /// All that changes with a region of pointers or a cursor.
    pub(crate) fn beside(&self, region: StateVarId) -> impl Iterator<Item = StateVarId> {
        let rank = self.rank(region).map(|rank| rank.ghost);
        let cursor = self.visitors.get(&region);
        let visits = cursor.and_then(|cursor| self.visits(cursor.to.class));
        self.writer(region).into_iter().chain(rank).chain(visits)
    }

    fn all(&self) -> impl Iterator<Item = StateVarId> {
        let ranks = self.ranks.values().map(|rank| &rank.ghost);
        let all = self.writers.values().chain(ranks);
        all.chain(self.visits.values()).copied()
    }
}

/// The assignments of a program, in order.
fn assignments(program: &Program) -> impl Iterator<Item = (EdgeId, PlaceId, ExprId)> {
    let edges = program.edges.iter().enumerate();
    edges.filter_map(|(index, edge)| match edge.op {
        Op::Assign { place, value } => Some((EdgeId(index as u32), place, value)),
        _ => None,
    })
}

/// What holds the scalar at a place.
fn region_of(points_to: &PointsTo, layout: &Layout, place: PlaceId) -> Option<StateVarId> {
    let region = points_to.regions().at(points_to.place(place)?)?;
    Some(layout.region(region))
}

fn is_cell(layout: &Layout, id: StateVarId) -> bool {
    matches!(layout.get(id).kind, StateKind::Cell { .. })
}

/// Whether an expression leads through a pointer.
fn follows_pointer(program: &Program, value: ExprId) -> bool {
    let mut follows = false;
    each_below(program, [Operand::Expr(value)], &mut |operand| {
        if let Operand::Place(place) = operand {
            follows |= matches!(program.place(place).kind, PlaceKind::Deref(_));
        }
    });
    follows
}

impl Execution<'_, '_> {
    /// Before the program starts, nothing is taken.
    pub(crate) fn start_births(&mut self, terms: &mut Terms) {
        let ghosts: Vec<_> = self.semantics.layout.births().values().copied().collect();
        let classes = self.semantics.layout.births().keys();
        let freed = classes.filter_map(|&class| self.semantics.layout.freed(class));
        let traces = self.semantics.layout.traces().all();
        for ghost in freed.chain(ghosts).chain(traces).collect::<Vec<_>>() {
            let nowhere = self.zero(terms, ghost);
            self.state.set(ghost, nowhere);
        }
    }

    /// An object was taken from the frontier.
    pub(crate) fn note_birth(&mut self, terms: &mut Terms, edge: EdgeId, address: TermId) {
        let semantics = self.semantics;
        let spot = semantics.points_to.allocation(edge);
        let Some(spot) = spot else { return };
        if let Some(&ghost) = semantics.layout.births().get(&spot.class) {
            let allocations = &semantics.points_to.classes()[spot.class.0 as usize].allocations;
            let place = allocations.iter().position(|&other| other == edge);
            let number = place.map_or(0, |place| place as i128 + 1);
            let before = self.state.get(semantics, terms, ghost);
            let number = terms.bv(number, semantics.shape(ghost).width);
            let after = terms.store(before, address, number);
            self.state.set(ghost, after);
        }
    }

    /// The object at an address is freed.
    pub(crate) fn note_end(&mut self, terms: &mut Terms, pointer: ExprId) {
        let semantics = self.semantics;
        let spot = semantics.points_to.pointer(pointer);
        if let Some(ghost) = spot.and_then(|spot| semantics.layout.freed(spot.class)) {
            let address = self.pointer(terms, pointer, Evaluated::Always);
            let before = self.state.get(semantics, terms, ghost);
            let one = terms.bv(1, semantics.shape(ghost).width);
            let after = terms.store(before, address, one);
            self.state.set(ghost, after);
        }
        if let Some(ghost) = spot.and_then(|spot| semantics.layout.traces().visits(spot.class)) {
            let address = self.pointer(terms, pointer, Evaluated::Always);
            let before = self.state.get(semantics, terms, ghost);
            let nobody = terms.bv(0, semantics.shape(ghost).width);
            let after = terms.store(before, address, nobody);
            self.state.set(ghost, after);
        }
    }

    /// A pointer was put in a variable: if that is led from node to node, it came to where the
    /// pointer points.
    pub(crate) fn note_visit(&mut self, terms: &mut Terms, place: PlaceId) {
        let semantics = self.semantics;
        let traces = semantics.layout.traces();
        let region = region_of(semantics.points_to, &semantics.layout, place);
        let visitor = region.and_then(|region| traces.visitors.get(&region));
        let Some(&Visitor { to, bit }) = visitor else {
            return;
        };
        let Some(ghost) = traces.visits(to.class) else {
            return;
        };
        let Some(scalar) = self.scalar(terms, place, Evaluated::Perhaps) else {
            return;
        };
        let (shape, from) = (semantics.pointer_shape(), self.shape_of(scalar.ty));
        let value = self.read(terms, scalar);
        let address = self.stored(terms, value, from, shape, semantics.pointer_arithmetic());
        let before = self.state.get(semantics, terms, ghost);
        let known = terms.select(before, address);
        let own = terms.bv(1 << bit, semantics.shape(ghost).width);
        let known = terms.bv_or(known, own);
        let after = terms.store(before, address, known);
        self.state.set(ghost, after);
    }

    /// A pointer was written: its place is the last that refers to where it points.
    pub(crate) fn note_reference(&mut self, terms: &mut Terms, scalar: &Scalar, value: TermId) {
        let semantics = self.semantics;
        let Some((region, _)) = self.kind_at(scalar.spot) else {
            return;
        };
        let (Some(ghost), Some(address)) = (semantics.layout.references(region), scalar.address)
        else {
            return;
        };
        let (shape, from) = (semantics.pointer_shape(), self.shape_of(scalar.ty));
        if scalar.bits.is_some() || from.width != shape.width {
            return;
        }
        let to = self.stored(terms, value, from, shape, semantics.pointer_arithmetic());
        let before = self.state.get(semantics, terms, ghost);
        let after = terms.store(before, to, address);
        self.state.set(ghost, after);
        self.note_writer(terms, region, address);
        self.note_rank(terms, region, address, to);
    }

    /// The statement that is run wrote the pointer at an address.
    fn note_writer(&mut self, terms: &mut Terms, region: StateVarId, address: TermId) {
        let semantics = self.semantics;
        let traces = semantics.layout.traces();
        let Some(ghost) = traces.writer(region) else {
            return;
        };
        // Those without a number are one to each other.
        let number = self.running.and_then(|edge| traces.numbers.get(&edge));
        let number = number.copied().unwrap_or(0);
        let before = self.state.get(semantics, terms, ghost);
        let number = terms.bv(i128::from(number), NUMBER);
        let after = terms.store(before, address, number);
        self.state.set(ghost, after);
    }

    /// The pointer at an address leads to a node, behind which others follow.
    fn note_rank(&mut self, terms: &mut Terms, region: StateVarId, address: TermId, to: TermId) {
        let semantics = self.semantics;
        let Some(rank) = semantics.layout.traces().rank(region) else {
            return;
        };
        let before = self.state.get(semantics, terms, rank.ghost);
        let further = self.bytes(terms, i128::from(rank.further));
        let next = self.advance(terms, to, further);
        let behind = terms.select(before, next);
        let null = self.bytes(terms, 0);
        let is_last = terms.eq(to, null);
        let (none, one) = (terms.bv(0, RANK), terms.bv(1, RANK));
        let behind = terms.ite(is_last, none, behind);
        let number = terms.bv_add(behind, one);
        let after = terms.store(before, address, number);
        self.state.set(rank.ghost, after);
    }
}
