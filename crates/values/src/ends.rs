//! With which values a step ends.

use crate::explore::Halt;
use crate::known::Tools;
use hardbop_logic::{Answer, Op, Session, Sort, TermId, Terms, Unknown};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The value of a variable, if it is known.
pub type Value = Option<TermId>;

/// More ends of one step than this: it does too many things at once.
const MOST: usize = 200;

/// All combinations of values that some terms have under a condition and some facts.
///
/// A value is known where the term comes to a number or to an address, whatever the choices on the
/// way; what comes to an input, say, has none. That a variable may have any value is no reason to try them all.
pub fn ends(
    tools: &mut Tools<'_, '_>,
    condition: TermId,
    facts: &[TermId],
    wanted: &[TermId],
) -> Result<Vec<Vec<Value>>, Halt> {
    let Tools {
        ground,
        terms,
        session,
        ..
    } = tools;
    let origin = ground.semantics.origin(terms);
    let known: Vec<TermId> = wanted
        .iter()
        .map(|&term| is_fixed(terms, origin, term))
        .collect();
    let leaves: Vec<Vec<TermId>> = wanted
        .iter()
        .map(|&term| leaves(terms, origin, term))
        .collect();
    // What is just one value, or nothing that is known.
    let plain = |at: usize| match (terms.op(known[at]), leaves[at].as_slice()) {
        (Op::Bool(true), &[leaf]) => Some(Some(leaf)),
        (Op::Bool(false), _) => Some(None),
        _ => None,
    };
    if *terms.op(condition) == Op::Bool(true)
        && let Some(plain) = (0..wanted.len()).map(plain).collect()
    {
        return Ok(vec![plain]);
    }
    session.push();
    for &fact in facts.iter().chain([&condition]) {
        session.assert(terms, fact);
    }
    let mut search = Search {
        terms,
        session,
        wanted,
        known: &known,
        leaves: &leaves,
        found: Vec::new(),
    };
    let ended = search.run();
    let found = search.found;
    session.pop();
    ended.map(|()| found)
}

struct Search<'a, 's> {
    terms: &'a mut Terms,
    session: &'a mut Session<'s>,
    wanted: &'a [TermId],
    /// For each term, whether it comes to something fixed, ...
    known: &'a [TermId],
    /// ... and what it may come to.
    leaves: &'a [Vec<TermId>],
    found: Vec<Vec<Value>>,
}

impl Search<'_, '_> {
    /// Finds one combination after the other.
    fn run(&mut self) -> Result<(), Halt> {
        loop {
            match self.session.check(self.terms, &[]) {
                Answer::Unsat => return Ok(()),
                Answer::Unknown(Unknown::Stopped(stopped)) => return Err(stopped.into()),
                // It may be taken with any values: that is no more than ways too many.
                Answer::Unknown(_) => {
                    self.found.push(vec![None; self.wanted.len()]);
                    return Ok(());
                }
                Answer::Sat => {}
            }
            let leaves = self.leaves.iter().flatten();
            let asked: Vec<TermId> = self
                .known
                .iter()
                .chain(self.wanted)
                .chain(leaves)
                .copied()
                .collect();
            let values = self.session.values(self.terms, &asked).unwrap_or_default();
            let told: HashMap<TermId, _> = asked.into_iter().zip(values).collect();
            let value = |term: &TermId| told.get(term).cloned().flatten();
            let mut combination = vec![None; self.wanted.len()];
            let mut same = Vec::new();
            for (at, slot) in combination.iter_mut().enumerate() {
                let (wanted, known) = (self.wanted[at], self.known[at]);
                if value(&known) == Some(hardbop_logic::Value::Bool(true)) {
                    same.push(known);
                    let now = value(&wanted);
                    let mut leaves = self.leaves[at].iter().copied();
                    *slot = match leaves.find(|leaf| now.is_some() && value(leaf) == now) {
                        // An address stays one, wherever objects begin.
                        Some(leaf) => Some(leaf),
                        None => now.map(|now| self.terms.literal(&now, self.terms.sort(wanted))),
                    };
                    same.extend(slot.map(|slot| self.terms.eq(wanted, slot)));
                } else {
                    same.push(self.terms.not(known));
                }
            }
            self.found.push(combination);
            if self.found.len() > MOST {
                return Err(Halt::States);
            }
            let same = self.terms.and(&same);
            let other = self.terms.not(same);
            if *self.terms.op(other) == Op::Bool(false) {
                return Ok(());
            }
            self.session.assert(self.terms, other);
        }
    }
}

/// Whether a term comes to a number or an address: under which choices on the way it depends on
/// nothing that is not known.
fn is_fixed(terms: &mut Terms, origin: TermId, term: TermId) -> TermId {
    let mut known: BTreeMap<TermId, TermId> = BTreeMap::new();
    for part in terms.postorder(&[term]) {
        let args = terms.args(part).to_vec();
        let is_known = match terms.op(part) {
            Op::Ite => {
                let (then, otherwise) = (known[&args[1]], known[&args[2]]);
                terms.ite(args[0], then, otherwise)
            }
            // There are just two of them.
            _ if terms.sort(part) == Sort::Bool => terms.bool(true),
            Op::Constant(_) | Op::Forall(_) | Op::Exists(_) => terms.bool(part == origin),
            _ => {
                let args: Vec<TermId> = args.iter().map(|arg| known[arg]).collect();
                terms.and(&args)
            }
        };
        known.insert(part, is_known);
    }
    known[&term]
}

/// The numbers and addresses that a term may come to by the choices on the way.
fn leaves(terms: &Terms, origin: TermId, term: TermId) -> Vec<TermId> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::from([term]);
    let mut work = vec![term];
    while let Some(part) = work.pop() {
        match (terms.op(part), terms.args(part)) {
            (Op::Ite, &[_, then, otherwise]) if terms.sort(part) != Sort::Bool => {
                work.extend(
                    [then, otherwise]
                        .into_iter()
                        .filter(|&side| seen.insert(side)),
                );
            }
            _ if terms.free_constants(&[part]).iter().all(|&it| it == origin) => {
                found.insert(part);
            }
            _ => {}
        }
    }
    found.into_iter().collect()
}
