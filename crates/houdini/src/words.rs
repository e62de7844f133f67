//! Numbers that memory holds byte by byte: members of a structure beside an array whose index may
//! lead anywhere in it, say.
//!
//! Where bytes are the truth, no variable of the state is such a number. Guesses call it by a name,
//! and say how it compares with the program's numbers and with others of its kind.

use crate::candidates::{Variable, is_literal};
use crate::cells::{is_known, root};
use crate::texts::{Guessed, is_fixed};
use hardbop_logic::{Op, TermId, Terms};
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::BTreeSet;

/// The most numbers, ...
const WORDS: usize = 6;
/// ... the most bytes of each, ...
const BYTES: usize = 8;
/// ... and the most numbers of the program that one is compared with.
const LITERALS: usize = 10;

/// The numbers that a program holds byte by byte.
#[derive(Debug, Default)]
pub struct Words {
    words: Vec<TermId>,
    /// The numbers in the program.
    literals: BTreeSet<TermId>,
}

impl Words {
    /// Finds them in the steps of a program.
    pub fn new(ground: &Ground<'_, '_>, terms: &mut Terms, steps: &[Step]) -> Words {
        let mut roots = Vec::new();
        for step in steps {
            roots.push(step.condition);
            roots.extend(step.state.written().map(|(_, value)| value));
        }
        let mut found = Words::default();
        for part in terms.postorder(&roots) {
            if is_literal(terms, part) {
                found.literals.insert(part);
            }
            if *terms.op(part) == Op::Concat
                && found.words.len() < WORDS
                && let Some(word) = whole(ground, terms, part)
                && !found.words.contains(&word)
            {
                found.words.push(word);
            }
        }
        found.drop_parts(terms);
        found
    }

    /// A part of a number is none by itself.
    fn drop_parts(&mut self, terms: &Terms) {
        let all = self.words.clone();
        let is_part = |&word: &TermId| {
            let mut others = all.iter().filter(|&&other| other != word);
            others.any(|&other| terms.postorder(&[other]).contains(&word))
        };
        self.words.retain(|word| !is_part(word));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// What may hold of them at a point.
    pub fn guesses(&self, ground: &Ground<'_, '_>, terms: &mut Terms, live: &Live) -> Guessed {
        let mut found = Guessed::default();
        let here = self.words.iter().copied();
        let here: Vec<TermId> = here
            .filter(|&at| is_known(ground, terms, live, at))
            .collect();
        for &word in &here {
            let sort = terms.sort(word);
            let literals = self.literals.iter().copied();
            let literals: Vec<TermId> = literals.filter(|&at| terms.sort(at) == sort).collect();
            let one = terms.bv(1, terms.width(word));
            for &literal in literals.iter().take(LITERALS) {
                let below = terms.bv_sub(literal, one);
                found.order(terms, word, below);
                found.order(terms, word, literal);
                found.order(terms, literal, word);
            }
            for &other in &here {
                if other != word && terms.sort(other) == sort {
                    found.order(terms, word, other);
                }
            }
        }
        found
    }
}

/// A number that is read byte by byte, as the state holds it; `None` if it is none.
fn whole(ground: &Ground<'_, '_>, terms: &mut Terms, concat: TermId) -> Option<TermId> {
    let mut bytes = Vec::new();
    let mut work = vec![concat];
    while let Some(part) = work.pop() {
        let args = terms.args(part).to_vec();
        match terms.op(part) {
            // The first comes first.
            Op::Concat => work.extend(args.iter().rev()),
            Op::Select if is_fixed(ground, terms, args[1]) => {
                let memory = root(ground, terms, args[0])?;
                bytes.push(terms.select(memory, args[1]));
            }
            _ => return None,
        }
        if bytes.len() > BYTES {
            return None;
        }
    }
    let last = bytes.pop()?;
    let word = bytes
        .into_iter()
        .rev()
        .fold(last, |low, high| terms.concat(high, low));
    (word != last).then_some(word)
}

/// Those of the variables of guesses that a point does not have yet.
pub fn new_variables(known: &[Variable], more: Vec<Variable>) -> Vec<Variable> {
    let is_new = |variable: &Variable| !known.iter().any(|at| at.constant == variable.constant);
    more.into_iter().filter(is_new).collect()
}
