//! `logic`'s interface to solvers, by circuits.

use crate::blast::{Blaster, Read};
use crate::graph::{Bit, Graph, Node, NodeId};
use crate::sat::{Outcome, Sat, Switch};
use hardbop_budget::{Budget, Stint};
use hardbop_logic::{
    Answer, ArrayValue, Assignment, BitVec, FuncId, FunctionValue, Limits, Solver, Sort, TermId,
    Terms, Unknown, Value, eval,
};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// An incremental solver that translates to circuits. Reads of memory and values of functions are
/// made to agree when a model shows that they do not.
#[derive(Default)]
pub struct CircuitSolver {
    blaster: Blaster,
    sat: Sat,
    levels: Vec<Level>,
    /// Formulas at the ground that have no circuit.
    ground_gap: bool,
    assumed: Vec<(Bit, TermId)>,
    /// The pairs of reads that were made to agree.
    agreeing: FxHashSet<(Word2, Word2)>,
    /// Who is shown the proofs.
    shown: Option<Box<Show>>,
}

/// What a solver says that gives up since its circuit would become too large.
pub const TOO_LARGE: &str = "the circuit would become larger than it may be";

/// Takes a proof: clauses as DIMACS, and steps as DRAT.
pub type Show = dyn Fn(&str, &str);

/// The values of nodes that the solver was not told of.
type Untold = FxHashMap<NodeId, bool>;

/// An index and the word there.
type Word2 = (Vec<Bit>, Vec<Bit>);

struct Level {
    switch: Switch,
    /// Whether a formula of the level has no circuit.
    gap: bool,
}

impl CircuitSolver {
    /// A solver that knows nothing.
    pub fn new() -> CircuitSolver {
        CircuitSolver::default()
    }

    /// A solver that knows nothing, for questions one after the other about a circuit that grows.
    pub fn growing() -> CircuitSolver {
        CircuitSolver {
            sat: Sat::plain(),
            ..CircuitSolver::default()
        }
    }

    /// A solver whose answers that there is no model are checked: each has a proof, and an answer
    /// whose proof does not stand is not given. Proofs that stand are shown, if somebody wants
    /// to see them.
    pub fn checked(shown: Option<Box<Show>>) -> CircuitSolver {
        let mut sat = Sat::checked();
        if shown.is_some() {
            sat.keep_proofs();
        }
        CircuitSolver {
            sat,
            shown,
            ..CircuitSolver::default()
        }
    }

    /// The same solver, which gives up ([`TOO_LARGE`]) when its circuit becomes larger than this,
    /// in nodes and looks at what was written to memory: what takes minutes to translate is not
    /// decided in seconds either.
    pub fn within(mut self, most: usize) -> CircuitSolver {
        self.blaster.limit(most);
        self
    }

    /// The same solver, which follows words as cases: of an address that is one of a few, which one
    /// it is. For executions that are followed from a state in which much is known.
    pub fn by_cases(mut self) -> CircuitSolver {
        self.blaster.follow_cases();
        self
    }

    /// How many nodes its circuit has.
    pub fn nodes(&self) -> usize {
        self.blaster.graph.len()
    }

    /// Says what a word is, before anything was said of it: what is computed from it is computed
    /// at once then. Does nothing for what is not a word, or was met already.
    pub fn fix(&mut self, terms: &Terms, constant: TermId, value: u64) {
        if let Sort::BitVec(width) = terms.sort(constant)
            && self.blaster.known(constant).is_none()
        {
            let bit = |at: u32| Bit::constant(at < 64 && value >> at & 1 == 1);
            self.blaster.define(constant, (0..width).map(bit).collect());
        }
    }

    /// Says that a constant, or all that an array holds, is smaller than two to the power of so
    /// many bits, before anything was said of it.
    pub fn narrow(&mut self, constant: TermId, bits: usize) {
        self.blaster.narrow(constant, bits);
    }

    /// Says that the lowest bits of a word are all 0, before anything was said of it. Does nothing
    /// for what is not a word, or was met already.
    pub fn align(&mut self, terms: &Terms, constant: TermId, bits: usize) {
        if let Sort::BitVec(width) = terms.sort(constant)
            && self.blaster.known(constant).is_none()
        {
            let (low, width) = (bits.min(width as usize), width as usize);
            let mut word = vec![Bit::FALSE; low];
            word.extend(self.blaster.graph.inputs(width - low));
            self.blaster.define(constant, word);
        }
    }

    /// The value of a bit in the model. What the solver was not told of follows from what it was;
    /// other inputs are false.
    fn holds(&self, bit: Bit, known: &mut Untold) -> bool {
        let mut work = vec![bit.node()];
        while let Some(&node) = work.last() {
            if self.sat.value(node.bit()).is_some() || known.contains_key(&node) {
                work.pop();
                continue;
            }
            let value = |bit: Bit, known: &Untold| {
                let told = self.sat.value(bit.node().bit());
                let value = told.or_else(|| known.get(&bit.node()).copied())?;
                Some(value != bit.is_negated())
            };
            let here = match self.blaster.graph.node(node) {
                Node::False | Node::Input => false,
                Node::And(left, right) => match (value(left, known), value(right, known)) {
                    (Some(left), Some(right)) => left && right,
                    (None, _) => {
                        work.push(left.node());
                        continue;
                    }
                    (_, None) => {
                        work.push(right.node());
                        continue;
                    }
                },
            };
            known.insert(node, here);
            work.pop();
        }
        let told = self.sat.value(bit.node().bit());
        let value = told.or_else(|| known.get(&bit.node()).copied());
        value.unwrap_or(false) != bit.is_negated()
    }

    fn number(&self, bits: &[Bit], known: &mut Untold) -> BigUint {
        let mut number = BigUint::default();
        for (at, &bit) in bits.iter().enumerate() {
            number.set_bit(at as u64, self.holds(bit, known));
        }
        number
    }

    fn value(&self, sort: Sort, bits: &[Bit], known: &mut Untold) -> Option<Value> {
        match sort {
            Sort::Bool => Some(Value::Bool(self.holds(*bits.first()?, known))),
            Sort::BitVec(width) => {
                let number = self.number(bits, known);
                Some(Value::BitVec(BitVec::new(number, width)))
            }
            Sort::Int | Sort::Array(_) => None,
        }
    }

    /// Whether the solver was told of what was read: if not, it does not matter.
    fn matters(&self, read: &Read) -> bool {
        let told = |&bit: &Bit| self.sat.value(bit).is_some();
        read.value.iter().any(told)
    }

    /// Adds that reads agree where the model says that their indices do and their words do not.
    /// Says whether there was anything to add.
    fn agree(&mut self) -> bool {
        let mut new: Vec<(Read, Read)> = Vec::new();
        let mut known = Untold::default();
        let groups = self
            .blaster
            .reads()
            .values()
            .chain(self.blaster.applied().values());
        for reads in groups {
            let mut first: BTreeMap<BigUint, (BigUint, &Read)> = BTreeMap::new();
            for read in reads.iter().filter(|read| self.matters(read)) {
                let at = self.number(&read.at, &mut known);
                let value = self.number(&read.value, &mut known);
                match first.get(&at) {
                    None => {
                        first.insert(at, (value, read));
                    }
                    Some((other, earlier)) if *other != value => {
                        new.push(((*earlier).clone(), read.clone()));
                    }
                    Some(_) => {}
                }
            }
        }
        let mut added = false;
        for (left, right) in new {
            let key = (
                (left.at.clone(), left.value.clone()),
                (right.at.clone(), right.value.clone()),
            );
            if !self.agreeing.insert(key) {
                continue;
            }
            added = true;
            let graph = &mut self.blaster.graph;
            let here = graph.same(&left.at, &right.at);
            for (&a, &b) in left.value.iter().zip(&right.value) {
                self.sat.clause(graph, &[!here, !a, b]);
                self.sat.clause(graph, &[!here, a, !b]);
            }
        }
        added
    }

    /// What the solver's model says of all constants and functions that it was told of.
    fn assignment(&self, terms: &Terms, of: &[TermId]) -> Assignment {
        let mut model = Assignment::new();
        let mut known = Untold::default();
        for constant in terms.free_constants(of) {
            let sort = terms.sort(constant);
            if let Sort::Array(array) = sort {
                let (index, element) = terms.array_parts(array);
                let mut value = ArrayValue::constant(index, Value::default_of(terms, element));
                let reads = self.blaster.reads().get(&constant);
                let reads = reads.into_iter().flatten();
                for read in reads.filter(|read| self.matters(read)) {
                    if let (Some(at), Some(word)) = (
                        self.value(index, &read.at, &mut known),
                        self.value(element, &read.value, &mut known),
                    ) {
                        value = value.set(at, word);
                    }
                }
                model.set(constant, Value::Array(value));
            } else if let Some(bits) = self.blaster.known(constant)
                && let Some(value) = self.value(sort, bits, &mut known)
            {
                model.set(constant, value);
            }
        }
        for &function in self.blaster.applied().keys() {
            if let Some(value) = self.table(terms, function) {
                model.set_function(function, value);
            }
        }
        model
    }

    fn table(&self, terms: &Terms, function: FuncId) -> Option<FunctionValue> {
        let (domain, range) = terms.signature(function);
        let mut entries = BTreeMap::new();
        let mut known = Untold::default();
        let applied = self.blaster.applied().get(&function)?;
        for read in applied.iter().filter(|read| self.matters(read)) {
            let mut at = read.at.as_slice();
            let mut arguments = Vec::with_capacity(domain.len());
            for &sort in domain {
                let width = match sort {
                    Sort::Bool => 1,
                    Sort::BitVec(width) => width as usize,
                    Sort::Int | Sort::Array(_) => return None,
                };
                let (own, rest) = at.split_at(width);
                arguments.push(self.value(sort, own, &mut known)?);
                at = rest;
            }
            let value = self.value(range, &read.value, &mut known)?;
            entries.insert(arguments, value);
        }
        Some(FunctionValue {
            entries,
            default: Value::default_of(terms, range),
        })
    }

    fn ask(&mut self, bits: &[Bit], limits: Limits, budget: &Budget) -> Answer {
        let began = Stint::begin();
        let switches: Vec<Switch> = self.levels.iter().map(|level| level.switch).collect();
        loop {
            let left = limits.time.map(|time| time.saturating_sub(began.worked()));
            let graph: &Graph = &self.blaster.graph;
            match self.sat.check(graph, bits, &switches, left, budget) {
                Outcome::Unsat => {
                    if let (Some(show), Some((clauses, proof))) =
                        (&self.shown, self.sat.proof(&switches))
                    {
                        show(&clauses, &proof);
                    }
                    return Answer::Unsat;
                }
                Outcome::Sat => {
                    if !self.agree() {
                        return Answer::Sat;
                    }
                }
                Outcome::Stopped => {
                    return Answer::Unknown(match budget.check() {
                        Err(stopped) => Unknown::Stopped(stopped),
                        Ok(()) => Unknown::Time,
                    });
                }
            }
        }
    }
}

impl Solver for CircuitSolver {
    fn name(&self) -> &str {
        "circuits"
    }

    fn assert(&mut self, terms: &Terms, formula: TermId) {
        let switches: Vec<Switch> = self.levels.iter().map(|level| level.switch).collect();
        match self.blaster.bit(terms, formula) {
            // Levels are left from the top, so the last switch is enough.
            Ok(bit) => {
                let last = switches
                    .last()
                    .map(std::slice::from_ref)
                    .unwrap_or_default();
                self.sat.clause_under(&self.blaster.graph, &[bit], last);
            }
            Err(_) => match self.levels.last_mut() {
                Some(level) => level.gap = true,
                None => self.ground_gap = true,
            },
        }
    }

    fn push(&mut self) {
        let switch = self.sat.switch();
        self.levels.push(Level { switch, gap: false });
    }

    fn pop(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.sat.drop_switch(level.switch);
        }
    }

    fn check(
        &mut self,
        terms: &Terms,
        assumptions: &[TermId],
        limits: Limits,
        budget: &Budget,
    ) -> Answer {
        self.assumed.clear();
        let gap = self.ground_gap || self.levels.iter().any(|level| level.gap);
        let no_circuit = |full: bool| {
            let why = match full {
                true => TOO_LARGE,
                false => "integers without bounds, quantifiers and whole arrays have no circuit",
            };
            Answer::Unknown(Unknown::GaveUp(why.to_owned()))
        };
        let mut known: FxHashMap<Bit, TermId> = FxHashMap::default();
        for &formula in assumptions {
            match self.blaster.bit(terms, formula) {
                Ok(bit) => {
                    if known.insert(bit, formula).is_none() {
                        self.assumed.push((bit, formula));
                    }
                }
                Err(_) => return no_circuit(self.blaster.is_full()),
            }
        }
        let bits: Vec<Bit> = self.assumed.iter().map(|&(bit, _)| bit).collect();
        match self.ask(&bits, limits, budget) {
            // What has no circuit could only rule models out.
            Answer::Sat if gap => no_circuit(self.blaster.is_full()),
            answer => answer,
        }
    }

    fn values(&mut self, terms: &mut Terms, of: &[TermId]) -> Vec<Option<Value>> {
        let model = self.assignment(terms, of);
        of.iter()
            .map(|&term| eval(terms, term, &model).ok())
            .collect()
    }

    fn function_value(&mut self, terms: &mut Terms, function: FuncId) -> Option<FunctionValue> {
        self.table(terms, function)
    }

    fn core(&mut self) -> Vec<TermId> {
        let core: FxHashSet<Bit> = self.sat.core().into_iter().collect();
        let failed = self.assumed.iter().filter(|(bit, _)| core.contains(bit));
        failed.map(|&(_, formula)| formula).collect()
    }
}
