//! Terms with the values that are known in a state put in.

use crate::differences::{difference, sides, solved};
use crate::steps::{StepId, Steps};
use hardbop_logic::{Op, PutIn, Session, TermId, Terms};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::places::Places;
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// What a search works with.
pub struct Tools<'g, 'p> {
    /// What the program means.
    pub ground: Ground<'g, 'p>,
    /// The terms.
    pub terms: Terms,
    /// Who is asked about them.
    pub session: Session<'static>,
    /// Where objects lie.
    pub places: Places,
    /// The steps of the program.
    pub steps: Steps,
}

/// What is known in a state.
pub struct Known {
    values: BTreeMap<TermId, TermId>,
    /// The same, with what became of the terms that were looked at.
    put_in: PutIn,
}

impl Known {
    /// These terms have these values: numbers, and addresses by their distance from the origin.
    pub fn new(terms: &mut Terms, values: &[(TermId, TermId)]) -> Known {
        let solved = solved(terms, values);
        let all = || values.iter().chain(&solved).copied();
        Known {
            values: all().collect(),
            put_in: PutIn::new(all()),
        }
    }

    /// What a followed term is at the end of a step, with the values put in.
    pub fn end(&mut self, tools: &mut Tools<'_, '_>, step: StepId, term: TermId) -> TermId {
        let mut at_end = |tools: &mut Tools<'_, '_>, term: TermId| {
            let end = tools.steps.end(&tools.ground, &mut tools.terms, step, term);
            self.settle(tools, end)
        };
        match sides(&tools.terms, term) {
            Some((left, right)) => {
                let (left, right) = (at_end(tools, left), at_end(tools, right));
                difference(&mut tools.terms, left, right)
            }
            None => at_end(tools, term),
        }
    }

    /// A term with the values put in, also where they show only after others were put in: which
    /// word of memory is read is plain once the pointer has its value.
    pub fn settle(&mut self, tools: &mut Tools<'_, '_>, term: TermId) -> TermId {
        let Tools {
            ground,
            terms,
            session,
            places,
            ..
        } = tools;
        let rest = terms.put_in(term, &mut self.put_in);
        let of_memory = |constant: &TermId| match ground.constants.meaning(*constant) {
            Some(Meaning::Now(id)) => ground.semantics.layout.get(id).kind.is_array(),
            meaning => meaning == Some(Meaning::Origin),
        };
        if !terms.free_constants(&[rest]).iter().any(of_memory) {
            return rest;
        }
        let mut rest = places.put_in(ground.semantics, terms, session, &self.values, rest);
        for _ in 0..DEPTH {
            let words = chosen_words(terms, rest);
            if words.is_empty() {
                break;
            }
            let lifted = terms.substitute(rest, &words);
            rest = places.put_in(ground.semantics, terms, session, &self.values, lifted);
        }
        rest
    }
}

/// So often words are looked for in what memory held before: pointers to pointers to pointers.
const DEPTH: usize = 6;

/// The words in a term that are read from memory which was written, or written in one of two ways:
/// what they are by the words of the memory before.
fn chosen_words(terms: &mut Terms, term: TermId) -> BTreeMap<TermId, TermId> {
    let mut words = BTreeMap::new();
    for part in terms.postorder(&[term]) {
        if let (Op::Select, &[memory, address]) = (terms.op(part), terms.args(part))
            && matches!(terms.op(memory), Op::Ite | Op::Store)
        {
            let word = word_in(terms, memory, address);
            if word != part {
                words.insert(part, word);
            }
        }
    }
    words
}

/// The word at an address, by how the memory was written.
fn word_in(terms: &mut Terms, memory: TermId, address: TermId) -> TermId {
    let before = |terms: &Terms, memory: TermId| match (terms.op(memory), terms.args(memory)) {
        (Op::Ite, &[_, then, otherwise]) => vec![then, otherwise],
        (Op::Store, &[before, ..]) => vec![before],
        _ => Vec::new(),
    };
    let mut known: BTreeMap<TermId, TermId> = BTreeMap::new();
    let mut work = vec![memory];
    while let Some(&next) = work.last() {
        let open: Vec<TermId> = before(terms, next)
            .into_iter()
            .filter(|before| !known.contains_key(before))
            .collect();
        if !open.is_empty() {
            work.extend(open);
            continue;
        }
        work.pop();
        let args = terms.args(next).to_vec();
        let word = match (terms.op(next), args.as_slice()) {
            (Op::Ite, &[choice, then, otherwise]) => {
                terms.ite(choice, known[&then], known[&otherwise])
            }
            (Op::Store, &[before, at, value]) => {
                let here = terms.eq(at, address);
                terms.ite(here, value, known[&before])
            }
            _ => terms.select(next, address),
        };
        known.insert(next, word);
    }
    known[&memory]
}

/// A word in memory: which memory, and its address there.
pub fn word(ground: &Ground<'_, '_>, terms: &Terms, term: TermId) -> Option<(StateVarId, TermId)> {
    let (Op::Select, &[memory, address]) = (terms.op(term), terms.args(term)) else {
        return None;
    };
    match ground.constants.meaning(memory) {
        Some(Meaning::Now(id)) => Some((id, address)),
        _ => None,
    }
}

/// The variables that some terms read, and the words in memory whose addresses are known.
pub fn reads(ground: &Ground<'_, '_>, terms: &Terms, of: &[TermId]) -> BTreeSet<TermId> {
    let fixed = |address: TermId| {
        let constants = terms.free_constants(&[address]);
        constants
            .iter()
            .all(|&it| ground.constants.meaning(it) == Some(Meaning::Origin))
    };
    let mut found: BTreeSet<TermId> = terms.postorder(of).into_iter().collect();
    found.retain(|&term| match ground.constants.meaning(term) {
        Some(Meaning::Now(id)) => !ground.semantics.layout.get(id).kind.is_array(),
        Some(_) => false,
        None => word(ground, terms, term).is_some_and(|(_, address)| fixed(address)),
    });
    found
}
