//! What is known before anything is guessed: what the program's text says of numbers and pointers.
//!
//! It costs no question, and guesses that need it are not lost for want of it: ranges that no
//! condition of the program names, and the objects that pointers point into. Nobody takes its word:
//! it is a part of what is claimed.

use crate::{Arrays, facts};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::LocId;
use hardbop_logic::{TermId, Terms};
use hardbop_semantics::constants::{Constants, Meaning};
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::Ground;
use std::collections::BTreeMap;

/// What is known before an engine begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing.
    Nothing,
    /// What the program's text says of numbers and pointers: it is claimed like all else.
    Facts,
}

/// Of what it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Of what is live.
    Live,
    /// Of what the program has forgotten, too: where a text ends that was filled by a loop, say.
    All,
}

/// What the text says at cut points of what is live there, or of all. What arrays hold is left out:
/// it would have to be said of all elements.
pub fn told(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    live: &BTreeMap<LocId, Live>,
    of: Of,
    budget: &Budget,
) -> Result<BTreeMap<LocId, Vec<TermId>>, Stopped> {
    let facts = facts(ground, terms, Arrays::Left, budget)?;
    Ok(match of {
        Of::Live => about_live(terms, ground.constants, facts.at, live),
        Of::All => facts.at,
    })
}

/// The facts that speak of nothing but what is live.
pub fn about_live(
    terms: &Terms,
    constants: &Constants,
    facts: BTreeMap<LocId, Vec<TermId>>,
    live: &BTreeMap<LocId, Live>,
) -> BTreeMap<LocId, Vec<TermId>> {
    let mut found = BTreeMap::new();
    for (at, mut facts) in facts {
        let Some(live) = live.get(&at) else { continue };
        facts.retain(|&fact| {
            let mut spoken = terms.free_constants(&[fact]).into_iter();
            spoken.all(|constant| match constants.meaning(constant) {
                Some(Meaning::Now(id)) => live.now.contains(&id),
                Some(Meaning::Old(id)) => live.old.contains(&id),
                Some(Meaning::Origin) | None => true,
            })
        });
        found.insert(at, facts);
    }
    found
}
