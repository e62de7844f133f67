//! Certificates as users read them: invariants by the locations of the program as it was written.

use crate::{Certificate, Certifier};
use hardbop_cfront::ids::LocId;
use hardbop_cfront::inline::Inlined;
use hardbop_cfront::program::Program;
use hardbop_engine::{CInvariant, Invariants};
use hardbop_logic::{TermId, Terms};
use hardbop_newton::c_text::{Frame, Scope, Words, c_text};
use std::collections::{BTreeMap, BTreeSet};

impl Certifier<'_, '_> {
    /// A certificate of an inlined program as invariants of the program itself. What is said of a
    /// location is said of all copies of it that inlining made.
    pub fn invariants(
        &self,
        terms: &Terms,
        original: &Program,
        inlined: &Inlined,
        certificate: &Certificate,
    ) -> Invariants {
        let mut copies: BTreeMap<LocId, Vec<(LocId, TermId)>> = BTreeMap::new();
        for (&location, &formula) in &certificate.invariants {
            let here = inlined.locations[location.index()];
            copies.entry(here).or_default().push((location, formula));
        }
        let mut invariants = Invariants::default();
        for (location, copies) in copies {
            let mut texts: Vec<String> = Vec::new();
            for &(_, formula) in &copies {
                let text = terms.infix(formula).to_string();
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
            // One of the invariants of its copies holds wherever a location was inlined.
            invariants.at.insert(location, texts.join(" || "));
            let in_c = self.in_c(terms, original, location, &copies);
            invariants.c.insert(location, in_c);
        }
        invariants
    }

    /// The invariants of all copies of a location as C expressions.
    fn in_c(
        &self,
        terms: &Terms,
        original: &Program,
        location: LocId,
        copies: &[(LocId, TermId)],
    ) -> CInvariant {
        let program = self.semantics.program;
        let function = original.locations[location.index()].function;
        let is_own = |at: LocId| program.locations[at.index()].function == function;
        let own = copies.len() == 1 && copies.iter().all(|&(at, _)| is_own(at));
        let scope = Scope {
            function,
            frame: if own { Frame::Own } else { Frame::Caller },
            variables: original.variables.len(),
        };
        let text = |words| {
            let one = |&(_, formula): &(LocId, TermId)| {
                c_text(self.semantics, self.constants, terms, scope, formula, words)
            };
            let texts: Option<BTreeSet<String>> = copies.iter().map(one).collect();
            let texts: Vec<String> = texts?.into_iter().collect();
            match texts.as_slice() {
                [one] => Some(one.clone()),
                many => Some(format!("({})", many.join(") || ("))),
            }
        };
        let plain = text(Words::Plain);
        let contract = if !own {
            // Values at the entry are those of another function's entry here.
            plain.clone()
        } else if location == original.function(function).entry {
            text(Words::Entry)
        } else {
            text(Words::Contract)
        };
        CInvariant { plain, contract }
    }
}
