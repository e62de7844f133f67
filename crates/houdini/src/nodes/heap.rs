//! The kinds of nodes that a program allocates: classes of objects with their fields, each with a
//! ghost that tells where such objects were taken and an arbitrary address that is any of them.

use crate::candidates::Variable;
use crate::cells::address::shifted;
use crate::cells::version_of;
use hardbop_cfront::points_to::{ClassId, Spot};
use hardbop_cfront::types::Type;
use hardbop_logic::{Op, Sign, Sort, TermId, Terms};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::ownership::IDENTITY;
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// The most kinds of nodes that are looked at.
const KINDS: usize = 4;
/// The most fields of a kind.
const FIELDS: usize = 8;

/// A kind of nodes, by its number: that of its arbitrary word in claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KindId(pub u32);

impl KindId {
    /// Its position among the kinds.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A field of a kind of nodes.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The memory that holds it, of all nodes.
    pub memory: TermId,
    /// How far from the start of a node it lies.
    pub offset: i128,
    /// For a pointer to nodes: where it points to.
    pub target: Option<Target>,
    /// For a pointer: to which objects the pointers of all nodes belong, if anybody asks ...
    pub owners: Option<TermId>,
    /// ... and where a pointer to somewhere was written last.
    pub references: Option<TermId>,
    /// For a pointer: which statement wrote it last.
    pub writer: Option<TermId>,
    /// For a pointer to nodes of the same kind: how many follow by it.
    pub rank: Option<TermId>,
}

/// Where pointers point to: into nodes of a kind, so far behind their starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The kind.
    pub kind: KindId,
    /// The distance.
    pub inside: i128,
}

/// A pointer to nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer {
    /// Its value.
    pub value: TermId,
    /// Where it points to.
    pub target: Target,
    /// To which object it belongs, if anybody asks.
    pub owner: Option<TermId>,
    /// For the address of a variable: its size.
    pub named: Option<i128>,
}

/// A kind of nodes.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Where nodes were taken, and by which allocation: the number of one of those.
    pub born: TermId,
    /// How many allocations there are.
    pub allocations: usize,
    /// Where nodes were freed.
    pub freed: Option<TermId>,
    /// One more than their sizes, by their identities, if anybody asks: 0 for what was freed.
    pub extents: Option<TermId>,
    /// An address that is any.
    pub any: TermId,
    /// What nodes hold.
    pub fields: Vec<Field>,
    /// The variables that are led from node to node: whether one pointed to the arbitrary one.
    pub visited: Vec<TermId>,
    /// The variables that are such nodes, or parts of them.
    pub named: Vec<Named>,
}

/// A variable that is a node, or that pointers to a part of a node may point to as well.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Its address.
    pub address: TermId,
    /// Where in a node it would lie.
    pub inside: i128,
    /// How large it is.
    pub size: i128,
}

/// The nodes of a program.
#[derive(Clone, Debug)]
pub struct Heap {
    /// The kinds of nodes.
    pub kinds: Vec<Kind>,
    /// The first address that is not taken.
    pub frontier: TermId,
    /// The first one behind all variables.
    pub bottom: TermId,
    by_class: BTreeMap<ClassId, (KindId, i64)>,
    by_memory: BTreeMap<TermId, (KindId, usize)>,
}

impl Heap {
    /// The kinds of nodes of a program whose state has ghosts.
    pub fn new(ground: &Ground<'_, '_>, terms: &mut Terms) -> Heap {
        let semantics = ground.semantics;
        let width = semantics.pointer_shape().width;
        let ownership = semantics.layout.ownership();
        let traces = semantics.layout.traces();
        let origin = semantics.origin(terms);
        let total = terms.bv(i128::from(semantics.layout.total()), width);
        let mut heap = Heap {
            kinds: Vec::new(),
            bottom: terms.bv_add(origin, total),
            frontier: semantics.constant(terms, semantics.layout.frontier()),
            by_class: BTreeMap::new(),
            by_memory: BTreeMap::new(),
        };
        for (&class, &ghost) in semantics.layout.births() {
            let described = &semantics.points_to.classes()[class.0 as usize];
            let starts: BTreeSet<i64> = described
                .allocations
                .iter()
                .filter_map(|&edge| semantics.points_to.allocation(edge))
                .map(|spot| spot.offset)
                .collect();
            let (Some(&start), 1) = (starts.first(), starts.len()) else {
                continue;
            };
            let regions = semantics.points_to.regions();
            let mut fields = Vec::new();
            for region in regions.of_class(class) {
                let id = semantics.layout.region(region);
                let region = regions.get(region);
                let memory = matches!(semantics.layout.get(id).kind, StateKind::Memory { .. });
                if memory && !region.repeated && fields.len() < FIELDS {
                    let owners = ownership.and_then(|ownership| ownership.owners(id));
                    let references = semantics.layout.references(id);
                    fields.push(Field {
                        memory: semantics.constant(terms, id),
                        offset: i128::from(region.start - start),
                        target: None,
                        owners: owners.map(|id| semantics.constant(terms, id)),
                        references: references.map(|id| semantics.constant(terms, id)),
                        writer: traces.writer(id).map(|id| semantics.constant(terms, id)),
                        rank: traces
                            .rank(id)
                            .map(|rank| semantics.constant(terms, rank.ghost)),
                    });
                }
            }
            if fields.is_empty() || heap.kinds.len() == KINDS {
                continue;
            }
            let kind = KindId(heap.kinds.len() as u32);
            heap.by_class.insert(class, (kind, start));
            for (field, described) in fields.iter().enumerate() {
                heap.by_memory.insert(described.memory, (kind, field));
            }
            let any = terms.constant(&format!(" any{}", kind.0), Sort::BitVec(width));
            let mut named = Vec::new();
            for &variable in &described.variables {
                let distance = semantics.layout.distance(variable);
                let spot = semantics.points_to.variable(variable);
                if let (Some(distance), Some(spot)) = (distance, spot) {
                    let distance = terms.bv(i128::from(distance), width);
                    let ty = semantics.program.variable(variable).ty;
                    named.push(Named {
                        address: terms.bv_add(origin, distance),
                        inside: i128::from(spot.offset - start),
                        size: i128::from(semantics.program.types.size_of(ty)),
                    });
                }
            }
            let mut visited = Vec::new();
            for visitor in traces.cursors().filter(|visitor| visitor.to.class == class) {
                if let Some(ghost) = traces.visits(class) {
                    let ghost = semantics.constant(terms, ghost);
                    let inside = terms.bv(i128::from(visitor.to.offset - start), width);
                    let at = terms.bv_add(any, inside);
                    let bits = terms.select(ghost, at);
                    let bit = terms.extract(bits, visitor.bit, visitor.bit);
                    let one = terms.bv(1, 1);
                    visited.push(terms.eq(bit, one));
                }
            }
            let extents = ownership.and_then(|ownership| ownership.extents(class));
            heap.kinds.push(Kind {
                born: semantics.constant(terms, ghost),
                allocations: described.allocations.len(),
                freed: semantics
                    .layout
                    .freed(class)
                    .map(|id| semantics.constant(terms, id)),
                extents: extents.map(|id| semantics.constant(terms, id)),
                any,
                fields,
                visited,
                named,
            });
        }
        for kind in 0..heap.kinds.len() {
            for field in 0..heap.kinds[kind].fields.len() {
                let memory = heap.kinds[kind].fields[field].memory;
                heap.kinds[kind].fields[field].target = heap.target(ground, memory);
            }
        }
        heap
    }

    /// Where the pointers that a part of the state holds point to.
    pub fn target(&self, ground: &Ground<'_, '_>, constant: TermId) -> Option<Target> {
        let semantics = ground.semantics;
        let Some(Meaning::Now(id)) = ground.constants.meaning(constant) else {
            return None;
        };
        let ty = semantics.layout.get(id).ty?;
        if !matches!(semantics.program.types.get(ty), Type::Pointer(_)) {
            return None;
        }
        let region = semantics.layout.region_of(id)?;
        let region = semantics.points_to.regions().get(region);
        let pointee = semantics.points_to.pointee(Spot {
            class: region.class,
            offset: region.start,
        })?;
        let &(kind, start) = self.by_class.get(&pointee.class)?;
        Some(Target {
            kind,
            inside: i128::from(pointee.offset - start),
        })
    }

    /// The pointers to nodes at a point: variables, and variables' addresses.
    pub fn pointers(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        plain: &[Variable],
    ) -> Vec<Pointer> {
        let mut found = Vec::new();
        for variable in plain.iter().filter(|v| v.constant == v.term) {
            let wide = variable.width == terms.width(self.frontier);
            if let Some(target) = self.target(ground, variable.constant).filter(|_| wide) {
                let value = variable.constant;
                let owner = self.owner_of(ground, terms, value);
                found.push(Pointer {
                    value,
                    target,
                    owner,
                    named: None,
                });
            }
        }
        for (index, kind) in self.kinds.iter().enumerate() {
            found.extend(kind.named.iter().map(|named| Pointer {
                value: named.address,
                target: Target {
                    kind: KindId(index as u32),
                    inside: named.inside,
                },
                owner: None,
                named: Some(named.size),
            }));
        }
        found
    }

    /// To which object the pointer belongs that a variable of the state holds, if anybody asks.
    fn owner_of(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        variable: TermId,
    ) -> Option<TermId> {
        let id = now(ground, variable)?;
        let owner = ground.semantics.layout.ownership()?.owners(id)?;
        Some(ground.semantics.constant(terms, owner))
    }

    /// The identity of the node that begins at an address.
    pub fn identity(&self, terms: &mut Terms, node: TermId) -> TermId {
        terms.resize(node, IDENTITY.width, Sign::Unsigned)
    }

    /// One more than the size of the node that begins at an address, 0 if it was freed.
    pub fn extent(&self, terms: &mut Terms, kind: KindId, node: TermId) -> Option<TermId> {
        let extents = self.kinds[kind.index()].extents?;
        let identity = self.identity(terms, node);
        Some(terms.select(extents, identity))
    }

    /// The start of the node that a pointer points into.
    pub fn node(&self, terms: &mut Terms, pointer: Pointer) -> TermId {
        self.start(terms, pointer.value, pointer.target)
    }

    /// The same of a value that is a pointer.
    pub fn start(&self, terms: &mut Terms, value: TermId, target: Target) -> TermId {
        let inside = terms.bv(target.inside, terms.width(value));
        terms.bv_sub(value, inside)
    }

    /// A field of the node that begins at an address.
    pub fn field(&self, terms: &mut Terms, field: Field, node: TermId) -> TermId {
        let offset = terms.bv(field.offset, terms.width(node));
        let address = terms.bv_add(node, offset);
        terms.select(field.memory, address)
    }

    /// How many nodes follow a pointer that leads to nodes with such a field.
    pub fn rank(&self, terms: &mut Terms, field: Field, value: TermId) -> Option<TermId> {
        let (rank, target) = (field.rank?, field.target?);
        let node = self.start(terms, value, target);
        let offset = terms.bv(field.offset, terms.width(node));
        let at = terms.bv_add(node, offset);
        let behind = terms.select(rank, at);
        let null = terms.bv(0, terms.width(value));
        let is_last = terms.eq(value, null);
        let none = terms.bv(0, terms.width(behind));
        Some(terms.ite(is_last, none, behind))
    }

    /// Whether a node was taken at an address; where it matters, one that was not freed.
    pub fn is_node(&self, terms: &mut Terms, kind: KindId, node: TermId) -> TermId {
        if let Some(extent) = self.extent(terms, kind, node) {
            let nothing = terms.bv(0, IDENTITY.width);
            let gone = terms.eq(extent, nothing);
            return terms.not(gone);
        }
        let born = terms.select(self.kinds[kind.index()].born, node);
        let width = terms.width(born);
        if width == 1 {
            // Questions about an equation take a tenth of the time.
            let one = terms.bv(1, 1);
            return terms.eq(born, one);
        }
        let never = terms.bv(0, width);
        let never = terms.eq(born, never);
        terms.not(never)
    }

    /// Whether a formula reads a field of a node that it finds in a field of another one.
    pub fn reads_through(&self, terms: &Terms, formula: TermId) -> bool {
        let is_field = |term: TermId| {
            *terms.op(term) == Op::Select && self.by_memory.contains_key(&terms.args(term)[0])
        };
        let parts = terms.postorder(&[formula]);
        let mut fields = parts.into_iter().filter(|&part| is_field(part));
        fields.any(|field| {
            let address = terms.args(field)[1];
            terms.postorder(&[address]).into_iter().any(is_field)
        })
    }

    /// Whether a term is what a variable holds that pointers to parts of nodes may point to.
    pub fn is_held(&self, memory: TermId, address: TermId) -> bool {
        let kind = self.by_memory.get(&memory).map(|&(kind, _)| kind);
        kind.is_some_and(|kind| {
            let mut named = self.kinds[kind.index()].named.iter();
            named.any(|named| named.address == address)
        })
    }

    /// Whether an array of the state holds sizes of nodes.
    pub fn has_extents(&self, array: TermId) -> bool {
        self.kinds.iter().any(|kind| kind.extents == Some(array))
    }

    /// The node that a pointer belongs to whose owner this is, if it points where it should.
    pub fn identified(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        owner: TermId,
    ) -> Option<(KindId, TermId)> {
        let (array, address) = match *terms.op(owner) {
            Op::Select => (terms.args(owner)[0], Some(terms.args(owner)[1])),
            _ => (owner, None),
        };
        let owners = now(ground, version_of(ground, terms, array)?)?;
        let mut all = ground.semantics.layout.ownership()?.all_owners();
        let (region, _) = all.find(|&(_, other)| other == owners)?;
        let held = ground.semantics.constant(terms, region);
        let target = self.target(ground, held)?;
        let value = match address {
            Some(address) => terms.select(held, address),
            None => held,
        };
        Some((target.kind, self.start(terms, value, target)))
    }

    /// The field that a memory of the state holds.
    pub fn field_of(&self, memory: TermId) -> Option<(KindId, Field)> {
        let &(kind, field) = self.by_memory.get(&memory)?;
        Some((kind, self.kinds[kind.index()].fields[field]))
    }

    /// The node that an address in a memory belongs to: a term, and a number that is added to it.
    pub fn owner(&self, terms: &Terms, memory: TermId, address: TermId) -> Option<Owner> {
        let (kind, field) = self.field_of(memory)?;
        let (base, more) = shifted(terms, address)?;
        let more = more - field.offset;
        Some(Owner { kind, base, more })
    }
}

/// A node as the program finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// Its kind.
    pub kind: KindId,
    /// A term ...
    pub base: TermId,
    /// ... that this is added to.
    pub more: i128,
}

/// The state variable that a constant is the present value of.
pub fn now(ground: &Ground<'_, '_>, constant: TermId) -> Option<StateVarId> {
    match ground.constants.meaning(constant) {
        Some(Meaning::Now(id)) => Some(id),
        _ => None,
    }
}
