//! What is known of objects that are allocated: of all that live of one kind together, and of the one
//! among them that was allocated last by itself (Balakrishnan and Reps: Recency-abstraction for
//! heap-allocated storage, SAS 2006).
//!
//! Objects are of one kind if they are in one points-to class. The newest is known by a variable that
//! points to its beginning: while it has such a name, what is written to it takes the place of what was
//! there; when it has none any more, it is one of the others. So an object that is filled in after it
//! was made is never unknown to those who come later.

use crate::contents::{element, fits, is_pointer};
use crate::eval::{DEPTH, Reader};
use crate::state::{State, cell, joined, widened};
use crate::value::{Base, Range, Value};
use hardbop_cfront::ids::{EdgeId, ExprId, PlaceId};
use hardbop_cfront::points_to::ClassId;
use hardbop_cfront::program::Op;
use hardbop_semantics::Semantics;
use hardbop_semantics::layout::{StateKind, StateVarId};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of some objects that live.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// They have at least so many bytes.
    pub least: i128,
    /// What they hold, by region.
    pub fields: BTreeMap<StateVarId, Value>,
}

/// What is known of the objects of a class that live.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heap {
    /// All but the newest; `None` if there are no others.
    pub others: Option<Objects>,
    /// The one that was allocated last, if it has a name.
    pub newest: Option<Objects>,
}

/// A member of the objects of a class.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The class.
    pub class: ClassId,
    /// How far it is from the beginning of an object.
    pub distance: i128,
    /// How many bytes it has.
    pub bytes: i128,
}

/// What a pointer may point into, and how far.
type Bases = BTreeMap<Base, Range>;

/// The classes whose objects are followed: all of them are on the heap, or are variables.
pub fn classes(semantics: &Semantics<'_>) -> Vec<ClassId> {
    let Some(ownership) = semantics.layout.ownership() else {
        return Vec::new();
    };
    let classes = ownership.all_extents().map(|(class, _)| class);
    let is_followed = |class: &ClassId| {
        let known = &semantics.points_to.classes()[class.0 as usize];
        ownership.is_heap(*class)
            && !known.external
            && !known.allocations.is_empty()
            && begin(semantics, *class).is_some()
    };
    classes.filter(is_followed).collect()
}

/// Where objects of a class begin, if that is the same for all.
fn begin(semantics: &Semantics<'_>, class: ClassId) -> Option<i64> {
    let known = &semantics.points_to.classes()[class.0 as usize];
    let mut spots = known.allocations.iter();
    let first = semantics.points_to.allocation(*spots.next()?)?;
    let same = spots.all(|&edge| semantics.points_to.allocation(edge) == Some(first));
    (same && first.class == class).then_some(first.offset)
}

/// The member of objects that a region is.
pub fn field(semantics: &Semantics<'_>, region: StateVarId) -> Option<Field> {
    let StateKind::Memory { unit } = semantics.layout.get(region).kind else {
        return None;
    };
    let described = semantics
        .points_to
        .regions()
        .get(semantics.layout.region_of(region)?);
    if described.repeated || described.start == i64::MIN {
        return None;
    }
    let distance = described
        .start
        .checked_sub(begin(semantics, described.class)?)?;
    Some(Field {
        class: described.class,
        distance: i128::from(distance),
        bytes: i128::from(unit),
    })
}

impl Objects {
    fn join(&self, other: &Objects) -> Objects {
        Objects {
            least: self.least.min(other.least),
            fields: joined(&self.fields, &other.fields),
        }
    }

    fn widened(&self, semantics: &Semantics<'_>, older: &Objects, stops: &[i128]) -> Objects {
        let all = |region: &StateVarId| crate::contents::stored(semantics, *region);
        Objects {
            least: match self.least < older.least {
                true => 0,
                false => self.least,
            },
            fields: widened(&self.fields, &older.fields, stops, all),
        }
    }
}

/// Either of what two know, where what is not there says nothing.
fn either(
    a: Option<&Objects>,
    b: Option<&Objects>,
    both: impl Fn(&Objects, &Objects) -> Objects,
) -> Option<Objects> {
    match (a, b) {
        (Some(a), Some(b)) => Some(both(a, b)),
        (a, b) => a.or(b).cloned(),
    }
}

impl Heap {
    /// Nothing is known of a class.
    pub fn unknown() -> Heap {
        Heap {
            others: Some(Objects::default()),
            newest: None,
        }
    }

    /// What is known where one or the other is; either has a newest one if the other has.
    pub fn join(&self, other: &Heap) -> Heap {
        let both = |a: &Objects, b: &Objects| a.join(b);
        Heap {
            others: either(self.others.as_ref(), other.others.as_ref(), both),
            newest: either(self.newest.as_ref(), other.newest.as_ref(), both),
        }
    }

    /// The same with what grew brought to an end soon.
    pub fn widened(&self, semantics: &Semantics<'_>, older: &Heap, stops: &[i128]) -> Heap {
        let grown = |new: &Option<Objects>, old: &Option<Objects>| {
            new.as_ref().map(|new| match old {
                Some(old) => new.widened(semantics, old, stops),
                None => new.clone(),
            })
        };
        Heap {
            others: grown(&self.others, &older.others),
            newest: grown(&self.newest, &older.newest),
        }
    }

    /// What is known of its objects.
    pub fn objects_mut(&mut self) -> impl Iterator<Item = &mut Objects> {
        self.others.iter_mut().chain(&mut self.newest)
    }
}

impl State {
    /// Every value that is known.
    fn retain_values(&mut self, mut keep: impl FnMut(&mut Value) -> bool) {
        self.values.retain(|_, value| keep(value));
        self.contents.retain(|_, value| keep(value));
        for objects in self.heaps.values_mut().flat_map(Heap::objects_mut) {
            objects.fields.retain(|_, value| keep(value));
        }
    }

    /// The newest object of a class is one of the others from now on.
    pub fn age(&mut self, class: ClassId) {
        let Some(heap) = self.heaps.get_mut(&class) else {
            return;
        };
        let Some(newest) = heap.newest.take() else {
            return;
        };
        heap.others = match heap.others.take() {
            Some(others) => Some(others.join(&newest)),
            None => Some(newest),
        };
        self.retain_values(|value| {
            if let Value::Pointer(bases) = value
                && let Some(range) = bases.remove(&Base::Newest(class))
            {
                let known = bases.entry(Base::Other(class)).or_insert(range);
                *known = known.join(range);
            }
            true
        });
    }

    /// Nothing is known of pointers into objects of a class, but for the newest one.
    fn forget_others(&mut self, class: ClassId) {
        self.retain_values(|value| !value.has(Base::Other(class)));
    }

    /// Whether a value may be a pointer into this.
    fn speaks_of(&self, base: Base) -> bool {
        let of_heap = self.heaps.values();
        let of_heap = of_heap.flat_map(|heap| heap.others.iter().chain(&heap.newest));
        let of_heap = of_heap.flat_map(|objects| objects.fields.values());
        let plain = self.values.values().chain(self.contents.values());
        plain.chain(of_heap).any(|value| value.has(base))
    }

    /// The variables that point to the beginning of the newest object of a class.
    pub fn names(&self, class: ClassId) -> impl Iterator<Item = StateVarId> + '_ {
        let name = Value::Pointer(Bases::from([(Base::Newest(class), Range::of(0))]));
        let values = self.values.iter();
        values
            .filter(move |(_, value)| **value == name)
            .map(|(&id, _)| id)
    }

    /// Objects that have no name any more are among the others.
    pub fn settle_nameless(&mut self) {
        let newest = self.heaps.iter().filter(|(_, heap)| heap.newest.is_some());
        let nameless = newest.filter(|(class, _)| self.names(**class).next().is_none());
        let nameless: Vec<ClassId> = nameless.map(|(&class, _)| class).collect();
        nameless.into_iter().for_each(|class| self.age(class));
    }

    /// The classes of which this state has a newest object, and another one has not.
    pub fn newest_beside(&self, other: &State) -> Vec<ClassId> {
        let newest = self.heaps.iter().filter(|(_, heap)| heap.newest.is_some());
        let lacks = |class: &ClassId| {
            let heap = other.heaps.get(class);
            heap.is_none_or(|heap| heap.newest.is_none())
        };
        newest.map(|(&class, _)| class).filter(lacks).collect()
    }
}

/// What a place holds in objects on the heap that it may be in.
pub fn held(
    reader: &Reader<'_, '_>,
    region: StateVarId,
    place: PlaceId,
    depth: u32,
) -> Option<Value> {
    let field = field(reader.semantics, region)?;
    let heap = reader.state.heaps.get(&field.class)?;
    let mut found: Option<Value> = None;
    for (base, range) in reader.address(place, depth)? {
        let objects = match base {
            Base::Null => continue,
            Base::Newest(class) if class == field.class => heap.newest.as_ref()?,
            Base::Other(class) if class == field.class => heap.others.as_ref()?,
            _ => return None,
        };
        if range.single() != Some(field.distance) {
            return None;
        }
        let value = objects.fields.get(&region)?;
        found = Some(match found {
            Some(found) => found.join(value)?,
            None => value.clone(),
        });
    }
    found
}

/// What is known of the heap after a plain edge, by what is known before.
pub fn written(
    reader: &Reader<'_, '_>,
    next: &mut State,
    (edge, op): (EdgeId, &Op),
    regions: &[StateVarId],
) {
    if reader.state.heaps.is_empty() {
        return;
    }
    match *op {
        Op::Allocate { place, size, .. } => {
            let class = reader.semantics.points_to.allocation(edge);
            let class = class.map(|spot| spot.class);
            let class = class.filter(|class| next.heaps.contains_key(class));
            let pointer = class.map(|class| {
                next.age(class);
                let size = reader.number(size).map_or(0, |size| size.low.max(0));
                let heap = next.heaps.entry(class).or_default();
                heap.newest = Some(Objects {
                    least: size,
                    ..Objects::default()
                });
                Value::Pointer(Bases::from([(Base::Newest(class), Range::of(0))]))
            });
            match (cell(reader.semantics, place), pointer) {
                (Some(id), Some(pointer)) => {
                    next.values.insert(id, pointer);
                }
                (_, pointer) => store(reader, next, place, pointer, regions),
            }
        }
        Op::Free { pointer } => free(reader, next, pointer),
        Op::Assign { place, value } => store(reader, next, place, reader.value(value), regions),
        Op::Input { place, .. } | Op::Havoc { place } => store(reader, next, place, None, regions),
        Op::FillMemory { to, byte, size } => fill(reader, next, to, (byte, size), regions),
        Op::CopyMemory { to, .. } => forget(reader, next, bases_of(reader, to).as_ref(), regions),
        // What is new of it is known where it begins.
        Op::Declare { .. } => {}
        _ => forget(reader, next, None, regions),
    }
}

fn bases_of(reader: &Reader<'_, '_>, pointer: ExprId) -> Option<Bases> {
    match reader.value(pointer) {
        Some(Value::Pointer(bases)) => Some(bases),
        _ => None,
    }
}

/// A value is written to a place.
pub fn store(
    reader: &Reader<'_, '_>,
    next: &mut State,
    place: PlaceId,
    value: Option<Value>,
    regions: &[StateVarId],
) {
    let semantics = reader.semantics;
    if !regions.iter().any(|&id| field(semantics, id).is_some()) {
        return;
    }
    let bases = match reader.is_named(place) {
        true => return,
        false => reader.address(place, DEPTH),
    };
    let region = element(semantics, place);
    let known = region.and_then(|region| Some((region, field(semantics, region)?)));
    let (Some((region, field)), Some(bases)) = (known, &bases) else {
        forget(reader, next, bases.as_ref(), regions);
        return;
    };
    let into_heap = bases.iter().filter(|(base, _)| base.class().is_some());
    let exact = into_heap.clone().all(|(base, range)| {
        base.class() == Some(field.class) && range.single() == Some(field.distance)
    });
    if !exact {
        forget(reader, next, Some(bases), regions);
        return;
    }
    let value = value.and_then(|value| fits(semantics, region, value));
    let without_null = bases.keys().filter(|&&base| base != Base::Null).count();
    for (&base, _) in into_heap {
        let Some(heap) = next.heaps.get_mut(&field.class) else {
            continue;
        };
        let objects = match base {
            Base::Newest(_) => heap.newest.as_mut(),
            _ => heap.others.as_mut(),
        };
        let Some(objects) = objects else { continue };
        let new = match matches!(base, Base::Newest(_)) && without_null == 1 {
            true => value.clone(),
            false => match (objects.fields.get(&region), &value) {
                (Some(old), Some(new)) => old.join(new),
                _ => None,
            },
        };
        match new {
            Some(new) => objects.fields.insert(region, new),
            None => objects.fields.remove(&region),
        };
    }
}

/// Nothing is known any more of what objects hold in some regions, if a pointer into some of them was
/// written through.
fn forget(
    reader: &Reader<'_, '_>,
    next: &mut State,
    bases: Option<&Bases>,
    regions: &[StateVarId],
) {
    if bases.is_some_and(|bases| bases.keys().all(|base| base.class().is_none())) {
        return;
    }
    for &region in regions {
        if let Some(field) = field(reader.semantics, region)
            && let Some(heap) = next.heaps.get_mut(&field.class)
        {
            for objects in heap.objects_mut() {
                objects.fields.remove(&region);
            }
        }
    }
}

/// The first bytes of an object are filled, mostly with zero.
fn fill(
    reader: &Reader<'_, '_>,
    next: &mut State,
    to: ExprId,
    (byte, size): (ExprId, ExprId),
    regions: &[StateVarId],
) {
    let bases = bases_of(reader, to);
    forget(reader, next, bases.as_ref(), regions);
    let mut into = bases
        .iter()
        .flatten()
        .filter(|&(&base, _)| base != Base::Null);
    let (Some((&Base::Newest(class), at)), None) = (into.next(), into.next()) else {
        return;
    };
    let (Some(size), Some(zero)) = (reader.number(size), reader.number(byte)) else {
        return;
    };
    if *at != Range::of(0) || zero != Range::of(0) || size.single().is_none() {
        return;
    }
    let semantics = reader.semantics;
    for &region in regions {
        let Some(field) = field(semantics, region).filter(|field| field.class == class) else {
            continue;
        };
        let inside = field.distance >= 0 && field.distance + field.bytes <= size.low;
        let value = match is_pointer(semantics, region) {
            true => Some(Value::null()),
            false => fits(semantics, region, Value::Number(Range::of(0))),
        };
        if let (true, Some(value)) = (inside, value)
            && let Some(newest) = next.heaps.get_mut(&class).and_then(|it| it.newest.as_mut())
        {
            newest.fields.insert(region, value);
        }
    }
}

/// An object ends its life: pointers to it lead nowhere.
fn free(reader: &Reader<'_, '_>, next: &mut State, pointer: ExprId) {
    let bases = bases_of(reader, pointer);
    if let Some(bases) = &bases
        && bases.len() == 1
        && let Some(&Base::Newest(class)) = bases.keys().next()
    {
        next.retain_values(|value| !value.has(Base::Newest(class)));
        if let Some(heap) = next.heaps.get_mut(&class) {
            heap.newest = None;
        }
        return;
    }
    let own = reader.semantics.points_to.pointer(pointer);
    let mut classes: Vec<ClassId> = match &bases {
        Some(bases) => bases.keys().filter_map(|base| base.class()).collect(),
        None => own.into_iter().map(|spot| spot.class).collect(),
    };
    classes.dedup();
    let newest = |class| {
        let newest = Base::Newest(class);
        bases
            .as_ref()
            .is_none_or(|bases| bases.contains_key(&newest))
    };
    for class in classes {
        if newest(class) {
            next.age(class);
        }
        next.forget_others(class);
    }
}

/// Puts together what is known of the heap after a call: of what the callee may change, what is known
/// at its end; of all else, what was known before, as far as it does not point into what may have
/// been freed. What the callee has allocated is newer than what the caller has.
pub fn left(
    semantics: &Semantics<'_>,
    (next, left): (&mut State, &mut State),
    modified: &BTreeSet<StateVarId>,
    frees: &BTreeSet<ClassId>,
) {
    let ownership = semantics.layout.ownership();
    let extents = |class| ownership.and_then(|known| known.extents(class));
    let classes: Vec<ClassId> = next.heaps.keys().copied().collect();
    let mut changed = BTreeSet::new();
    for &class in &classes {
        if extents(class).is_some_and(|extents| modified.contains(&extents)) {
            next.age(class);
            changed.insert(class);
        } else {
            // One that is the newest for the other only is one of the others there.
            let newest = |state: &State| {
                let heap = state.heaps.get(&class);
                heap.is_some_and(|heap| heap.newest.is_some())
            };
            match (newest(left), newest(next)) {
                (true, false) => left.age(class),
                (false, true) if left.speaks_of(Base::Other(class)) => next.age(class),
                _ => {}
            }
        }
    }
    // Facts that lie in memory would have to be said of what they point into.
    next.contents.retain(|_, value| !value.is_among(&changed));
    for objects in next.heaps.values_mut().flat_map(Heap::objects_mut) {
        objects.fields.retain(|_, value| !value.is_among(&changed));
    }
    next.values.retain(|_, value| !value.is_among(frees));
    for class in classes {
        let (Some(after), Some(before)) = (left.heaps.get(&class), next.heaps.get_mut(&class))
        else {
            continue;
        };
        if changed.contains(&class) {
            *before = after.clone();
            continue;
        }
        for (known, there) in [
            (&mut before.others, &after.others),
            (&mut before.newest, &after.newest),
        ] {
            let Some(known) = known else { continue };
            known.fields.retain(|region, _| !modified.contains(region));
            // Where the callee knows no newest one, that is one of the others for it.
            let there = there.as_ref().or(after.others.as_ref());
            for (&region, value) in there.iter().flat_map(|there| &there.fields) {
                if modified.contains(&region) {
                    known.fields.insert(region, value.clone());
                }
            }
        }
    }
}
