//! The constants that stand for a program's state in formulas, and formulas about the state as
//! text that another process can read.

use crate::Semantics;
use crate::layout::StateVarId;
use hardbop_logic::{Names, ParseError, Sort, TermId, Terms, declared_text, parse_declared};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a constant in a predicate stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Meaning {
    /// The value of a state variable now.
    Now(StateVarId),
    /// Its value when the procedure was entered.
    Old(StateVarId),
    /// The origin of addresses.
    Origin,
}

/// The constants of a program's state variables.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    meanings: HashMap<TermId, Meaning>,
}

impl Constants {
    /// The constants of all state variables.
    pub fn new(semantics: &Semantics<'_>, terms: &mut Terms) -> Constants {
        let mut meanings = HashMap::new();
        for index in 0..semantics.layout.variables().len() {
            let id = StateVarId(index as u32);
            meanings.insert(semantics.constant(terms, id), Meaning::Now(id));
            meanings.insert(semantics.old_constant(terms, id), Meaning::Old(id));
        }
        meanings.insert(semantics.origin(terms), Meaning::Origin);
        Constants { meanings }
    }

    /// What a constant stands for; `None` for a symbol that is no state.
    pub fn meaning(&self, constant: TermId) -> Option<Meaning> {
        self.meanings.get(&constant).copied()
    }

    /// What a formula speaks of; `None` if it mentions anything but states.
    pub fn support(&self, terms: &Terms, formula: TermId) -> Option<BTreeSet<Meaning>> {
        terms
            .free_constants(&[formula])
            .into_iter()
            .map(|constant| self.meaning(constant))
            .collect()
    }
}

/// The most bits of an arbitrary word.
const MOST_BITS: u32 = 128;

/// Formulas about the state in a text that does not depend on who wrote it: SMT-LIB, in which a
/// state variable is called by its name and its number, `x#12`, and at the procedure's entry
/// `old(x)#12`.
pub struct Spelling {
    /// What each constant is called, ...
    written: BTreeMap<TermId, TermId>,
    /// ... and the other way round.
    read: BTreeMap<TermId, TermId>,
    names: Names,
}

impl Spelling {
    /// How a program's state is spelt.
    pub fn new(semantics: &Semantics<'_>, terms: &mut Terms) -> Spelling {
        let mut spelling = Spelling {
            written: BTreeMap::new(),
            read: BTreeMap::new(),
            names: Names::default(),
        };
        for index in 0..semantics.layout.variables().len() {
            let id = StateVarId(index as u32);
            let name = semantics.layout.get(id).name.clone();
            let now = semantics.constant(terms, id);
            spelling.spell(terms, now, &format!("{name}#{index}"));
            let old = semantics.old_constant(terms, id);
            spelling.spell(terms, old, &format!("old({name})#{index}"));
        }
        let origin = semantics.origin(terms);
        spelling.spell(terms, origin, "origin#");
        spelling
    }

    /// Gives names to arbitrary words of so many bits each, `any0#`, `any1#` and so on: constants
    /// that are no state. `None` for words that are too large.
    pub fn arbitrary(&mut self, terms: &mut Terms, widths: &[u32]) -> Option<Vec<TermId>> {
        let mut words = Vec::new();
        for (word, &width) in widths.iter().enumerate() {
            if !(1..=MOST_BITS).contains(&width) {
                return None;
            }
            // No variable of a program has a name with a space at its start.
            let constant = terms.constant(&format!(" any{word}"), Sort::BitVec(width));
            self.spell(terms, constant, &format!("any{word}#"));
            words.push(constant);
        }
        Some(words)
    }

    /// Gives one more constant a name in texts. Names with `#` at their end are free.
    pub fn spell(&mut self, terms: &mut Terms, constant: TermId, name: &str) {
        let sort = terms.sort(constant);
        let spelt = terms.constant(name, sort);
        self.written.insert(constant, spelt);
        self.read.insert(spelt, constant);
        self.names.add_constant(terms, spelt);
    }

    /// The term as text; `None` if it speaks of anything but what has a name.
    pub fn write(&self, terms: &mut Terms, formula: TermId) -> Option<String> {
        let constants = terms.free_constants(&[formula]);
        let known = |constant: &TermId| self.written.contains_key(constant);
        if !constants.iter().all(known) {
            return None;
        }
        let spelt = terms.substitute(formula, &self.written);
        Some(declared_text(terms, spelt))
    }

    /// The formula that a text says.
    pub fn read(&mut self, terms: &mut Terms, text: &str) -> Result<TermId, ParseError> {
        let formula = self.read_term(terms, text)?;
        match terms.sort(formula) {
            Sort::Bool => Ok(formula),
            _ => Err(ParseError("a formula was expected".to_owned())),
        }
    }

    /// The term that a text says.
    pub fn read_term(&mut self, terms: &mut Terms, text: &str) -> Result<TermId, ParseError> {
        let spelt = parse_declared(terms, &mut self.names, text)?;
        Ok(terms.substitute(spelt, &self.read))
    }
}
