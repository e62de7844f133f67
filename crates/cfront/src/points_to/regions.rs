//! Regions: the parts of memory that one SMT array has to hold.
//!
//! Two scalar accesses lie in one region if they may touch the same bytes. A region in which all
//! accesses have one size and never overlap in part is *typed*: an array from addresses to values
//! of that size. Any other region is an array of bytes.

use super::content::Content;
use super::{ClassId, Spot};

/// A region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionId(pub u32);

impl RegionId {
    /// The position in the table of regions.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a region holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The class whose objects it is a part of.
    pub class: ClassId,
    /// The first offset in the objects.
    pub start: i64,
    /// The offset after the last one.
    pub end: i64,
    /// The size in bytes of each value; 1 for bytes.
    pub unit: u64,
    /// Whether an object may hold the region many times, as a part of array elements.
    pub repeated: bool,
}

/// How the accesses to a class lie.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    collapsed: bool,
    /// Start, end, and the one size of the accesses or `None` if there are several.
    groups: Vec<(i64, i64, Option<u64>)>,
    /// Where array elements lie.
    arrays: Vec<(i64, i64)>,
}

impl Layout {
    pub fn of(content: &Content) -> Layout {
        let mut groups: Vec<(i64, i64, Option<u64>)> = Vec::new();
        for (&offset, sizes) in &content.accesses {
            for &size in sizes {
                let end = offset + size as i64;
                match groups.last_mut() {
                    Some(group) if group.0 == offset && group.1 == end => {}
                    Some(group) if offset < group.1 => {
                        group.1 = group.1.max(end);
                        group.2 = None;
                    }
                    _ => groups.push((offset, end, Some(size))),
                }
            }
        }
        let only_bytes = content
            .accesses
            .values()
            .all(|sizes| sizes.iter().all(|&s| s == 1));
        let collapsed = content.collapsed && !only_bytes;
        let mut arrays: Vec<(i64, i64)> = content
            .ranges
            .iter()
            .map(|r| (r.start, r.start + r.length as i64))
            .collect();
        if content.period.is_some() || content.collapsed {
            arrays.push((i64::MIN, i64::MAX));
        }
        Layout {
            collapsed,
            groups,
            arrays,
        }
    }
}

/// The regions of a program.
#[derive(Clone, Debug)]
pub struct Regions {
    regions: Vec<Region>,
    /// For every class its regions, as a range of the table.
    by_class: Vec<(u32, u32)>,
}

impl Regions {
    pub(super) fn of(layouts: Vec<Layout>) -> Regions {
        let mut regions = Vec::new();
        let mut by_class = Vec::with_capacity(layouts.len());
        for (index, layout) in layouts.into_iter().enumerate() {
            let class = ClassId(index as u32);
            let first = regions.len() as u32;
            if layout.collapsed {
                regions.push(Region {
                    class,
                    start: i64::MIN,
                    end: i64::MAX,
                    unit: 1,
                    repeated: true,
                });
            } else {
                let arrays = &layout.arrays;
                regions.extend(layout.groups.iter().map(|&(start, end, size)| Region {
                    class,
                    start,
                    end,
                    unit: size.unwrap_or(1),
                    repeated: arrays.iter().any(|&(from, to)| start < to && from < end),
                }));
            }
            by_class.push((first, regions.len() as u32));
        }
        Regions { regions, by_class }
    }

    /// The regions, by [`RegionId`].
    pub fn all(&self) -> &[Region] {
        &self.regions
    }

    /// A region.
    pub fn get(&self, id: RegionId) -> Region {
        self.regions[id.index()]
    }

    /// The region that a scalar access lies in; `None` if no edge of the program accesses it.
    pub fn at(&self, spot: Spot) -> Option<RegionId> {
        self.of_class(spot.class).find(|&id| {
            let region = self.get(id);
            region.start <= spot.offset && spot.offset < region.end
        })
    }

    /// All regions of a class.
    pub fn of_class(&self, class: ClassId) -> impl Iterator<Item = RegionId> + use<> {
        let (first, end) = self.by_class[class.0 as usize];
        (first..end).map(RegionId)
    }
}
