//! With which values a step ends.

use crate::explore::Halt;
use hardbop_logic::{Answer, Op, Session, Sort, TermId, Terms, Unknown};
use std::collections::BTreeMap;

/// The value of a variable, if it is known.
pub type Value = Option<TermId>;

/// More ends of one step than this: it does too many things at once.
const MOST: usize = 200;

/// All combinations of values that some terms have under a condition and some facts.
///
/// A value is known where the term comes to a number, whatever the choices on the way; what comes to
/// an input, say, has none. That a variable may have any value is no reason to try them all.
pub fn ends(
    terms: &mut Terms,
    session: &mut Session<'_>,
    condition: TermId,
    facts: &[TermId],
    wanted: &[TermId],
) -> Result<Vec<Vec<Value>>, Halt> {
    let known: Vec<TermId> = wanted.iter().map(|&term| is_number(terms, term)).collect();
    let decided = |terms: &Terms, at: usize| {
        terms.value_of(known[at]).is_some()
            && (terms.value_of(wanted[at]).is_some() || *terms.op(known[at]) == Op::Bool(false))
    };
    let all_decided = (0..wanted.len()).all(|at| decided(terms, at));
    let plain: Vec<Value> = wanted
        .iter()
        .map(|&term| terms.value_of(term).map(|_| term))
        .collect();
    if all_decided && *terms.op(condition) == Op::Bool(true) {
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
    /// For each term, whether it comes to a number.
    known: &'a [TermId],
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
            let asked: Vec<TermId> = self.known.iter().chain(self.wanted).copied().collect();
            let values = self.session.values(self.terms, &asked).unwrap_or_default();
            let mut combination = vec![None; self.wanted.len()];
            let mut same = Vec::new();
            for (at, slot) in combination.iter_mut().enumerate() {
                let known = values.get(at).cloned().flatten();
                let value = values.get(self.wanted.len() + at).cloned().flatten();
                if known == Some(hardbop_logic::Value::Bool(true))
                    && let Some(value) = value
                {
                    let literal = self.terms.literal(&value, self.terms.sort(self.wanted[at]));
                    *slot = Some(literal);
                    same.push(self.known[at]);
                    same.push(self.terms.eq(self.wanted[at], literal));
                } else {
                    same.push(self.terms.not(self.known[at]));
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

/// Whether a term comes to a number: under which choices on the way it depends on nothing that is
/// not known.
fn is_number(terms: &mut Terms, term: TermId) -> TermId {
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
            Op::Constant(_) | Op::Forall(_) | Op::Exists(_) => terms.bool(false),
            _ => {
                let args: Vec<TermId> = args.iter().map(|arg| known[arg]).collect();
                terms.and(&args)
            }
        };
        known.insert(part, is_known);
    }
    known[&term]
}
