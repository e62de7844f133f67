//! Terms as bits.
//!
//! Each term is translated once. Reads from memory are pushed through the writes down to memory
//! that nothing is known of: there they are new words, which must agree where their addresses do.
//! That is not a part of the circuit: whoever asks adds it, where a model needs it. Applications
//! of uninterpreted functions are treated in the same way.

use crate::cases::{self, Cases};
use crate::graph::{Bit, Graph};
use crate::operators::operator;
use crate::words::Word;
use hardbop_logic::{FuncId, Op, Sort, TermId, Terms};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A term that has no circuit: it speaks of integers without bounds, has a quantifier, or compares
/// whole arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoCircuit(pub TermId);

/// A word that was read at some index, or a function's value for some arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The index, or all arguments one after the other.
    pub at: Word,
    /// The word.
    pub value: Word,
}

/// Translates the terms of one arena.
#[derive(Clone, Debug, Default)]
pub struct Blaster {
    /// The circuit.
    pub graph: Graph,
    words: FxHashMap<TermId, Word>,
    /// Whether words are followed as cases where they can be.
    by_cases: bool,
    /// What was translated and is not only bits.
    cases: FxHashMap<TermId, Cases>,
    /// What is in memory at an index.
    held: FxHashMap<(TermId, Word), Cases>,
    /// What is known of memory: at these indices, these words; elsewhere, anything.
    cells: FxHashMap<TermId, Vec<Read>>,
    /// What was read of memory of which nothing is known.
    reads: BTreeMap<TermId, Vec<Read>>,
    /// What functions were applied to.
    applied: BTreeMap<FuncId, Vec<Read>>,
    /// Which read of an array was at an index.
    known_reads: FxHashMap<(TermId, Word), Word>,
    /// How many bits of constants, and of what arrays hold, may be anything: the others are 0.
    narrow: FxHashMap<TermId, usize>,
    /// How large the circuit may become, in nodes and looks at what was written to memory.
    most: Option<usize>,
    looks: usize,
}

impl Blaster {
    /// Nothing translated.
    pub fn new() -> Blaster {
        Blaster::default()
    }

    /// Lets words that are one of a few be cases, and reads of memory one look for each of them:
    /// for executions that are followed from a state in which much is known.
    pub fn follow_cases(&mut self) {
        self.by_cases = true;
    }

    /// Says how large the circuit may become: in nodes, and in looks at what was written to memory
    /// that is read. What would make it larger has no circuit then.
    pub fn limit(&mut self, most: usize) {
        self.most = Some(most);
    }

    /// Whether the circuit is as large as it may become.
    pub fn is_full(&self) -> bool {
        self.most
            .is_some_and(|most| self.graph.len() + self.looks > most)
    }

    /// Says what the bits of a term are, before it is met.
    pub fn define(&mut self, term: TermId, bits: Word) {
        self.words.insert(term, bits);
    }

    /// Says that a constant, or what an array that is a constant holds, is small, before it is met.
    pub fn narrow(&mut self, constant: TermId, bits: usize) {
        self.narrow.insert(constant, bits);
    }

    /// A word of which nothing more is known than how small it is.
    fn unknown(&mut self, constant: TermId, width: usize) -> Word {
        let open = self.narrow.get(&constant).map_or(width, |&n| n.min(width));
        let mut word = self.graph.inputs(open);
        word.resize(width, Bit::FALSE);
        word
    }

    /// Says what an array holds at some indices, which are all different.
    pub fn define_array(&mut self, array: TermId, cells: Vec<Read>) {
        self.cells.insert(array, cells);
    }

    /// The bits of a term, if it was translated.
    pub fn known(&self, term: TermId) -> Option<&Word> {
        self.words.get(&term)
    }

    /// What was read of arrays of which nothing is known, by array.
    pub fn reads(&self) -> &BTreeMap<TermId, Vec<Read>> {
        &self.reads
    }

    /// What functions were applied to.
    pub fn applied(&self) -> &BTreeMap<FuncId, Vec<Read>> {
        &self.applied
    }

    /// The bit of a formula.
    pub fn bit(&mut self, terms: &Terms, formula: TermId) -> Result<Bit, NoCircuit> {
        let word = self.word(terms, formula)?;
        match (terms.sort(formula), word.as_slice()) {
            (Sort::Bool, &[bit]) => Ok(bit),
            _ => Err(NoCircuit(formula)),
        }
    }

    /// The bits of a term, the lowest one first; a formula has one.
    pub fn word(&mut self, terms: &Terms, root: TermId) -> Result<Word, NoCircuit> {
        let mut stack = vec![root];
        while let Some(&term) = stack.last() {
            if self.is_translated(term) {
                stack.pop();
                continue;
            }
            if self.is_full() {
                return Err(NoCircuit(term));
            }
            let before = stack.len();
            self.missing(terms, term, &mut stack)?;
            if stack.len() > before {
                continue;
            }
            match self.translate_cases(terms, term)? {
                Some(cases) => {
                    self.cases.insert(term, cases);
                }
                None => {
                    let word = self.translate(terms, term)?;
                    self.words.insert(term, word);
                }
            }
            stack.pop();
        }
        Ok(self.bits(root).clone())
    }

    fn is_translated(&self, term: TermId) -> bool {
        self.words.contains_key(&term) || self.cases.contains_key(&term)
    }

    /// The bits of a term that was translated.
    fn bits(&mut self, term: TermId) -> &Word {
        if !self.words.contains_key(&term) {
            let word = cases::flat(&mut self.graph, &self.cases[&term]);
            self.words.insert(term, word);
        }
        &self.words[&term]
    }

    /// The cases of a term that was translated.
    fn cases(&self, term: TermId) -> Cases {
        match self.cases.get(&term) {
            Some(cases) => Cases::clone(cases),
            None => cases::only(self.words[&term].clone()),
        }
    }

    /// The cases of a term whose arguments were translated, if it is not better seen as bits.
    fn translate_cases(&mut self, terms: &Terms, term: TermId) -> Result<Option<Cases>, NoCircuit> {
        let args = terms.args(term);
        if !self.by_cases || args.is_empty() {
            return Ok(None);
        }
        let is_word = |term: TermId| matches!(terms.sort(term), Sort::BitVec(_));
        match terms.op(term) {
            Op::Ite if is_word(term) => {
                let condition = self.bits(args[0])[0];
                let (then, otherwise) = (self.cases(args[1]), self.cases(args[2]));
                let chosen = cases::choose(&mut self.graph, condition, &then, &otherwise);
                Ok(Some(chosen))
            }
            Op::Eq if is_word(args[0]) => {
                let (left, right) = (self.cases(args[0]), self.cases(args[1]));
                let same = cases::same(&mut self.graph, &left, &right);
                Ok(Some(cases::only(vec![same])))
            }
            Op::Select => {
                let mut ways = Vec::new();
                for (at, here) in self.cases(args[1]).iter() {
                    ways.push((*here, self.held(terms, args[0], at)?));
                }
                Ok(Some(cases::through(&mut self.graph, &ways)))
            }
            Op::Apply(_) | Op::Float(_) => Ok(None),
            op if args.iter().all(|&arg| is_word(arg)) => {
                let width = width(terms.sort(term)).ok_or(NoCircuit(term))?;
                let args: Vec<Cases> = args.iter().map(|&arg| self.cases(arg)).collect();
                Ok(cases::apply(&mut self.graph, op, &args, width))
            }
            _ => Ok(None),
        }
    }

    /// What is at an index of an array, by how the array was written: only as far as that matters
    /// for this index. Indices and values that were written have been translated.
    fn held(&mut self, terms: &Terms, array: TermId, at: &Word) -> Result<Cases, NoCircuit> {
        let index = cases::only(at.clone());
        let mut stack = vec![array];
        while let Some(&next) = stack.last() {
            if self.held.contains_key(&(next, at.clone())) {
                stack.pop();
                continue;
            }
            self.looks += 1;
            if self.is_full() {
                return Err(NoCircuit(next));
            }
            let args = terms.args(next);
            // The condition, what is there if it holds, and else.
            let (condition, then, otherwise) = match terms.op(next) {
                Op::Ite => (self.bits(args[0])[0], Err(args[1]), args[2]),
                Op::Store => {
                    let written = self.cases(args[1]);
                    let here = cases::same(&mut self.graph, &written, &index);
                    (here, Ok(self.cases(args[2])), args[0])
                }
                Op::ConstArray(_) => (Bit::TRUE, Ok(self.cases(args[0])), next),
                Op::Constant(_) => {
                    let word = self.first_read(terms, next, at)?;
                    (Bit::TRUE, Ok(cases::only(word)), next)
                }
                _ => return Err(NoCircuit(next)),
            };
            let below = |array: TermId| self.held.get(&(array, at.clone())).cloned();
            let nothing = || cases::only(Word::new());
            let then = match then {
                Ok(cases) => Ok(cases),
                Err(_) if condition == Bit::FALSE => Ok(nothing()),
                Err(array) => below(array).ok_or(array),
            };
            let otherwise = match condition {
                Bit::TRUE => Ok(nothing()),
                _ => below(otherwise).ok_or(otherwise),
            };
            match (then, otherwise) {
                (Ok(then), Ok(otherwise)) => {
                    let held = cases::choose(&mut self.graph, condition, &then, &otherwise);
                    self.held.insert((next, at.clone()), held);
                    stack.pop();
                }
                (then, otherwise) => stack.extend(then.err().into_iter().chain(otherwise.err())),
            }
        }
        Ok(Cases::clone(&self.held[&(array, at.clone())]))
    }

    /// What has to be translated before a term: its arguments, and for a read all that was written
    /// to the array.
    fn missing(
        &mut self,
        terms: &Terms,
        term: TermId,
        stack: &mut Vec<TermId>,
    ) -> Result<(), NoCircuit> {
        if let Sort::Array(_) | Sort::Int = terms.sort(term) {
            return Err(NoCircuit(term));
        }
        let (words, cases) = (&self.words, &self.cases);
        let mut need = |part: TermId| {
            if !words.contains_key(&part) && !cases.contains_key(&part) {
                stack.push(part);
            }
        };
        match terms.op(term) {
            Op::Select => {
                let args = terms.args(term);
                need(args[1]);
                for array in arrays_below(terms, args[0]) {
                    self.looks += 1;
                    for &part in terms.args(array) {
                        if !matches!(terms.sort(part), Sort::Array(_)) {
                            need(part);
                        }
                    }
                }
            }
            Op::Forall(_) | Op::Exists(_) => return Err(NoCircuit(term)),
            _ => {
                for &part in terms.args(term) {
                    if let Sort::Array(_) | Sort::Int = terms.sort(part) {
                        return Err(NoCircuit(term));
                    }
                    need(part);
                }
            }
        }
        Ok(())
    }

    fn translate(&mut self, terms: &Terms, term: TermId) -> Result<Word, NoCircuit> {
        let args = terms.args(term);
        for &arg in args {
            if self.cases.contains_key(&arg) {
                self.bits(arg);
            }
        }
        match terms.op(term) {
            Op::Constant(_) => {
                let width = width(terms.sort(term)).ok_or(NoCircuit(term))?;
                Ok(self.unknown(term, width))
            }
            Op::Select => {
                let at = self.words[&args[1]].clone();
                self.read(terms, args[0], &at)
            }
            Op::Apply(function) => {
                let at: Word = args
                    .iter()
                    .flat_map(|arg| self.words[arg].clone())
                    .collect();
                let width = width(terms.sort(term)).ok_or(NoCircuit(term))?;
                let value = self.graph.inputs(width);
                let read = Read {
                    at,
                    value: value.clone(),
                };
                let known = self.applied.entry(*function).or_default();
                match known.iter().find(|other| other.at == read.at) {
                    Some(other) => Ok(other.value.clone()),
                    None => {
                        known.push(read);
                        Ok(value)
                    }
                }
            }
            Op::Float(operation) => {
                let circuit = operation.circuit();
                let mut inner = Blaster {
                    graph: std::mem::take(&mut self.graph),
                    ..Blaster::default()
                };
                for (&input, arg) in circuit.inputs.iter().zip(args) {
                    inner.define(input, self.words[arg].clone());
                }
                let result = inner.word(&circuit.terms, circuit.output);
                self.graph = inner.graph;
                result.map_err(|_| NoCircuit(term))
            }
            op => {
                let args: Vec<&[Bit]> = args.iter().map(|arg| self.words[arg].as_slice()).collect();
                let width = width(terms.sort(term)).ok_or(NoCircuit(term))?;
                operator(&mut self.graph, op, &args, width).ok_or(NoCircuit(term))
            }
        }
    }

    /// The word at an index of an array, by how the array was written. Indices and values that were
    /// written have been translated.
    pub fn read(&mut self, terms: &Terms, array: TermId, at: &[Bit]) -> Result<Word, NoCircuit> {
        let mut found: FxHashMap<TermId, Word> = FxHashMap::default();
        for next in arrays_below(terms, array) {
            self.looks += 1;
            let args = terms.args(next);
            let word = match terms.op(next) {
                Op::Ite => {
                    let condition = self.bits(args[0])[0];
                    let (then, otherwise) = (&found[&args[1]], &found[&args[2]]);
                    self.graph.choose(condition, then, otherwise)
                }
                Op::Store => {
                    let written = self.bits(args[1]).clone();
                    let here = self.graph.same(&written, at);
                    let value = self.bits(args[2]).clone();
                    self.graph.choose(here, &value, &found[&args[0]])
                }
                Op::ConstArray(_) => self.bits(args[0]).clone(),
                Op::Constant(_) => self.first_read(terms, next, at)?,
                _ => return Err(NoCircuit(next)),
            };
            found.insert(next, word);
        }
        found.remove(&array).ok_or(NoCircuit(array))
    }

    /// Translates what was written to an array, so that it can be read.
    pub fn prepare(&mut self, terms: &Terms, array: TermId) -> Result<(), NoCircuit> {
        for next in arrays_below(terms, array) {
            for &part in terms.args(next) {
                if !matches!(terms.sort(part), Sort::Array(_)) {
                    self.word(terms, part)?;
                }
            }
        }
        Ok(())
    }

    /// The word at an index of an array that nothing was written to.
    fn first_read(&mut self, terms: &Terms, array: TermId, at: &[Bit]) -> Result<Word, NoCircuit> {
        let key = (array, at.to_vec());
        if let Some(known) = self.known_reads.get(&key) {
            return Ok(known.clone());
        }
        let Sort::Array(sort) = terms.sort(array) else {
            return Err(NoCircuit(array));
        };
        let width = width(terms.array_parts(sort).1).ok_or(NoCircuit(array))?;
        let mut word = None;
        let cells = self.cells.get(&array).map_or(&[][..], Vec::as_slice);
        let mut ways = Vec::new();
        for cell in cells {
            match self.graph.same(&cell.at, at) {
                Bit::FALSE => {}
                Bit::TRUE => {
                    word = Some(cell.value.clone());
                    break;
                }
                here => ways.push((here, cell.value.clone())),
            }
        }
        let word = match word {
            Some(word) => word,
            None => {
                let mut word = self.unknown(array, width);
                let read = Read {
                    at: at.to_vec(),
                    value: word.clone(),
                };
                self.reads.entry(array).or_default().push(read);
                for (here, value) in ways {
                    word = self.graph.choose(here, &value, &word);
                }
                word
            }
        };
        self.known_reads.insert(key, word.clone());
        Ok(word)
    }
}

/// The arrays that an array is made of, each after those that it is made of.
fn arrays_below(terms: &Terms, array: TermId) -> Vec<TermId> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut order = Vec::new();
    let mut stack = vec![(array, false)];
    while let Some((next, below)) = stack.pop() {
        if below {
            order.push(next);
            continue;
        }
        if !seen.insert(next) {
            continue;
        }
        stack.push((next, true));
        for &part in terms.args(next) {
            if matches!(terms.sort(part), Sort::Array(_)) {
                stack.push((part, false));
            }
        }
    }
    order
}

/// How many bits a value of a sort has.
fn width(sort: Sort) -> Option<usize> {
    match sort {
        Sort::Bool => Some(1),
        Sort::BitVec(width) => Some(width as usize),
        Sort::Int | Sort::Array(_) => None,
    }
}
