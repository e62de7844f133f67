//! What is claimed of the regions that scalars lie in.

use super::{Checked, Checker};
use crate::points_to::{Leaf, Spot};
use std::collections::BTreeSet;

impl Checker<'_> {
    /// Scalars that overlap in memory share what they point to.
    pub(super) fn regions(&self) -> Checked {
        let regions = self.claims.regions();
        for (index, region) in regions.all().iter().enumerate() {
            let from = Spot {
                class: region.class,
                offset: region.start,
            };
            let to = Spot {
                class: region.class,
                offset: region.end,
            };
            let inside: BTreeSet<Spot> = self
                .claims
                .pointees
                .range(from..to)
                .map(|(_, &pointee)| pointee)
                .collect();
            self.must(inside.len() <= 1, || {
                format!("region {index} holds pointers to different objects")
            })?;
        }
        Ok(())
    }

    /// A scalar of so many bytes is read or written at a spot: a region holds it as it is.
    pub(super) fn accessed(&self, spot: Spot, leaf: Leaf) -> Checked {
        let (_, ty, bits) = leaf;
        let size = match bits {
            Some((first, width)) => u64::from((first + width).div_ceil(8)),
            None => self.program.types.size_of(ty),
        };
        let regions = self.claims.regions();
        let fine = regions.at(spot).is_some_and(|id| {
            let region = regions.get(id);
            let end = spot.offset.saturating_add_unsigned(size);
            let inside = region.start <= spot.offset && end <= region.end;
            let whole = spot.offset == region.start && size == region.unit;
            inside && (region.unit == 1 || whole)
        });
        self.must(fine, || format!("no region holds {size} bytes at {spot:?}"))
    }
}
