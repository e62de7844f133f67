//! A session with a solver: a cache in front, limits around, a log beside.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hardbop_budget::Budget;
use rustc_hash::FxHashMap;

use super::{Answer, Limits, Solver, Unknown};
use crate::bounds::{self, Decision};
use crate::eval::{Assignment, eval};
use crate::smtlib::{functions_in, script};
use crate::term::{Arena, Op, TermId, Terms};
use crate::value::Value;

/// What a session has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Questions asked by the caller.
    pub queries: u64,
    /// Questions answered from the cache.
    pub hits: u64,
    /// Answers "satisfiable" of the solver.
    pub sat: u64,
    /// Answers "unsatisfiable" of the solver.
    pub unsat: u64,
    /// Questions that the solver left open.
    pub unknown: u64,
    /// Time inside the solver.
    pub time: Duration,
}

/// Takes the text of queries, as they are asked.
pub type Log<'s> = Box<dyn FnMut(&str) + 's>;

/// What a question may cost in which the values of all floats are given.
const AT_A_POINT: Limits = Limits {
    time: None,
    steps: Some(500_000),
};

/// What a query was: enough to find the same one again.
type Key = (u32, Box<[TermId]>);

#[derive(Clone)]
enum Cached {
    Sat,
    /// Unsatisfiable, with the assumptions that suffice.
    Unsat(Box<[TermId]>),
}

/// What the last check left behind.
enum Last {
    Nothing,
    /// The solver itself holds the model.
    Model,
    /// A model that was found without the solver.
    Found(Assignment),
    /// The cache said satisfiable: the solver has to be asked before it can tell a model.
    CachedModel(Vec<TermId>),
    Core(Vec<TermId>),
}

/// One long conversation with one solver about the terms of one arena.
///
/// ```
/// use hardbop_budget::Budget;
/// use hardbop_logic::{Answer, Session, Sort, Terms, Z3Options, Z3Solver};
///
/// let mut terms = Terms::new();
/// let x = terms.constant("x", Sort::BitVec(32));
/// let (one, two) = (terms.bv(1, 32), terms.bv(2, 32));
/// let is_one = terms.eq(x, one);
/// let is_two = terms.eq(x, two);
///
/// let mut session = Session::new(Box::new(Z3Solver::new(Z3Options::default())), Budget::unlimited());
/// session.assert(&terms, is_one);
/// assert_eq!(session.check(&terms, &[is_two]), Answer::Unsat);
/// assert_eq!(session.core(), [is_two]);
/// assert_eq!(session.check(&terms, &[]), Answer::Sat);
/// let model = session.model(&mut terms).unwrap();
/// assert_eq!(model.get(x).unwrap().to_string(), "1");
/// ```
pub struct Session<'s> {
    solver: Box<dyn Solver + 's>,
    budget: Budget,
    limits: Limits,
    assertions: Vec<TermId>,
    /// How many assertions there were when each open level began.
    levels: Vec<usize>,
    /// How many assertions the solver was told. It is told when it is asked: much is decided
    /// without it, and what it makes of circuits costs.
    told: usize,
    /// How many levels are open in the solver.
    told_levels: usize,
    /// Whether the solver was told something that is not among the assertions.
    defined: bool,
    /// Whether questions about floats are decided by intervals first.
    intervals: bool,
    /// Sets of assertions seen so far, numbered, so that a key is small.
    sets: FxHashMap<Box<[TermId]>, u32>,
    current_set: Option<u32>,
    cache: FxHashMap<Key, Cached>,
    statistics: Statistics,
    log: Option<Log<'s>>,
    last: Last,
    /// The arena of all terms that it was told or asked about.
    arena: Option<Arena>,
}

impl<'s> Session<'s> {
    /// A session with a solver that has no assertions yet.
    pub fn new(solver: Box<dyn Solver + 's>, budget: Budget) -> Session<'s> {
        Session {
            solver,
            budget,
            limits: Limits::default(),
            assertions: Vec::new(),
            levels: Vec::new(),
            told: 0,
            told_levels: 0,
            defined: false,
            intervals: true,
            sets: FxHashMap::default(),
            current_set: None,
            cache: FxHashMap::default(),
            statistics: Statistics::default(),
            log: None,
            last: Last::Nothing,
            arena: None,
        }
    }

    /// The same, in which the solver alone answers: no question about floats is decided by
    /// intervals.
    pub fn without_intervals(mut self) -> Session<'s> {
        self.intervals = false;
        self
    }

    /// Sets what each query may cost from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Sets the budget of the whole work from now on.
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// The budget of the whole work.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Every query that reaches the solver is told to the sink, as a script that stands alone; the
    /// answer follows as a comment in a second call.
    pub fn set_log(&mut self, sink: Log<'s>) {
        self.log = Some(sink);
    }

    /// What the session has done so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// How many steps the solver has taken so far, in its own measure.
    pub fn steps(&self) -> u64 {
        self.solver.steps()
    }

    /// The assertions of all open levels.
    pub fn assertions(&self) -> &[TermId] {
        &self.assertions
    }

    /// Adds a formula to the current level.
    pub fn assert(&mut self, terms: &Terms, formula: TermId) {
        self.belongs(terms);
        self.assertions.push(formula);
        self.current_set = None;
        self.last = Last::Nothing;
    }

    /// What a session and its solver remember, they remember by ids: with the ids of another arena
    /// they would answer another question.
    fn belongs(&mut self, terms: &Terms) {
        let arena = self.arena.get_or_insert_with(|| terms.arena().clone());
        assert!(
            arena.is(terms.arena()),
            "a session is about the terms of one arena"
        );
    }

    /// Adds a formula that constrains fresh constants only, and so does not change the answer to
    /// any question that does not mention them: the cache stays valid.
    pub(crate) fn assert_definition(&mut self, terms: &Terms, formula: TermId) {
        self.tell(terms);
        self.solver.assert(terms, formula);
        self.defined = true;
        self.last = Last::Nothing;
    }

    /// Tells the solver what it does not know yet.
    fn tell(&mut self, terms: &Terms) {
        loop {
            match self.levels.get(self.told_levels) {
                Some(&start) if start == self.told => {
                    self.solver.push();
                    self.told_levels += 1;
                }
                _ => match self.assertions.get(self.told) {
                    Some(&formula) => {
                        self.solver.assert(terms, formula);
                        self.told += 1;
                    }
                    None => return,
                },
            }
        }
    }

    /// Opens a level.
    pub fn push(&mut self) {
        self.levels.push(self.assertions.len());
    }

    /// Forgets what was asserted since the matching push. Does nothing when no level is open.
    pub fn pop(&mut self) {
        if let Some(kept) = self.levels.pop() {
            if self.told_levels > self.levels.len() {
                self.solver.pop();
                self.told_levels -= 1;
                self.told = kept;
            }
            self.assertions.truncate(kept);
            self.current_set = None;
            self.last = Last::Nothing;
        }
    }

    fn set_number(&mut self) -> u32 {
        if let Some(number) = self.current_set {
            return number;
        }
        let set: BTreeSet<TermId> = self.assertions.iter().copied().collect();
        let next = self.sets.len() as u32;
        let number = *self.sets.entry(set.into_iter().collect()).or_insert(next);
        self.current_set = Some(number);
        number
    }

    /// Is there a model of all assertions and assumptions?
    pub fn check(&mut self, terms: &Terms, assumptions: &[TermId]) -> Answer {
        self.belongs(terms);
        self.statistics.queries += 1;
        self.last = Last::Nothing;
        let mut assumed: Vec<TermId> = Vec::with_capacity(assumptions.len());
        for &formula in assumptions {
            match terms.op(formula) {
                Op::Bool(true) => {}
                Op::Bool(false) => {
                    self.statistics.hits += 1;
                    self.last = Last::Core(vec![formula]);
                    return Answer::Unsat;
                }
                _ => assumed.push(formula),
            }
        }
        assumed.sort_unstable();
        assumed.dedup();
        let key = (self.set_number(), assumed.clone().into_boxed_slice());
        match self.cache.get(&key) {
            Some(Cached::Sat) => {
                self.statistics.hits += 1;
                self.last = Last::CachedModel(assumed);
                return Answer::Sat;
            }
            Some(Cached::Unsat(core)) => {
                self.statistics.hits += 1;
                self.last = Last::Core(core.to_vec());
                return Answer::Unsat;
            }
            None => {}
        }
        let answer = self.ask(terms, &assumed);
        match (&answer, &self.last) {
            (Answer::Sat, _) => {
                self.cache.insert(key, Cached::Sat);
            }
            (Answer::Unsat, Last::Core(core)) => {
                self.cache.insert(key, Cached::Unsat(core.clone().into()));
            }
            // More time may bring an answer, so not knowing is not remembered.
            _ => {}
        }
        answer
    }

    /// Like [`Session::check`] for questions that are never asked twice: nothing is looked up, and
    /// nothing is remembered.
    pub(crate) fn check_uncached(&mut self, terms: &Terms, assumptions: &[TermId]) -> Answer {
        self.statistics.queries += 1;
        self.ask(terms, assumptions)
    }

    /// Asks, and remembers what the answer left behind.
    fn ask(&mut self, terms: &Terms, assumptions: &[TermId]) -> Answer {
        if let Some(log) = &mut self.log {
            log(&script(terms, &self.assertions, assumptions));
        }
        let start = Instant::now();
        let answer = self.decide(terms, assumptions);
        let time = start.elapsed();
        self.statistics.time += time;
        let word = match &answer {
            Answer::Sat => {
                self.statistics.sat += 1;
                "sat".to_owned()
            }
            Answer::Unsat => {
                self.statistics.unsat += 1;
                "unsat".to_owned()
            }
            Answer::Unknown(why) => {
                self.statistics.unknown += 1;
                format!("unknown: {why}")
            }
        };
        if let Some(log) = &mut self.log {
            log(&format!("; {word}\n"));
        }
        answer
    }

    /// Whether the bounds of floats and products alone tell that there is no model; the solver is not asked.
    pub fn contradicts_bounds(&self, terms: &Terms, assumptions: &[TermId]) -> bool {
        let formulas = self.assertions.iter().chain(assumptions).copied();
        let formulas: Vec<TermId> = formulas.collect();
        let decision = bounds::decide(terms, &formulas, &mut |_| false);
        matches!(decision, Some(Decision::Unsat))
    }

    /// Asks the bounds of floats and of products first, then the solver.
    fn decide(&mut self, terms: &Terms, assumptions: &[TermId]) -> Answer {
        let formulas = || self.assertions.iter().chain(assumptions).copied();
        if self.intervals && (terms.has_floats() || terms.has_products()) {
            let formulas: Vec<TermId> = formulas().collect();
            let (solver, budget) = (&mut self.solver, &self.budget);
            let mut at = |point: &[(TermId, Value)]| {
                solver.check_at(terms, &formulas, point, AT_A_POINT, budget) == Answer::Sat
            };
            let defined = self.defined;
            match bounds::decide(terms, &formulas, &mut |point| !defined && at(point)) {
                Some(Decision::Unsat) => {
                    self.last = Last::Core(assumptions.to_vec());
                    return Answer::Unsat;
                }
                Some(Decision::Sat(model)) if !defined => {
                    self.last = Last::Found(model);
                    return Answer::Sat;
                }
                Some(Decision::SatAtPoint) if !defined => {
                    self.last = Last::Model;
                    return Answer::Sat;
                }
                _ => {}
            }
        }
        self.tell(terms);
        let answer = self
            .solver
            .check(terms, assumptions, self.limits, &self.budget);
        self.last = match answer {
            Answer::Sat => Last::Model,
            Answer::Unsat => Last::Core(self.solver.core()),
            Answer::Unknown(_) => Last::Nothing,
        };
        answer
    }

    /// After [`Answer::Unsat`]: assumptions that suffice for it. Empty when the assertions alone do.
    pub fn core(&self) -> Vec<TermId> {
        match &self.last {
            Last::Core(core) => core.clone(),
            _ => Vec::new(),
        }
    }

    /// After [`Answer::Unsat`]: a core from which nothing can be left out, found by leaving out one
    /// assumption after the other. When the budget ends first, what is left by then.
    pub fn minimal_core(&mut self, terms: &Terms) -> Vec<TermId> {
        let mut core = self.core();
        let mut at = 0;
        while at < core.len() {
            if self.budget.check().is_err() {
                break;
            }
            let mut without = core.clone();
            without.remove(at);
            match self.check(terms, &without) {
                Answer::Unsat => core = self.core(),
                Answer::Sat | Answer::Unknown(_) => at += 1,
            }
        }
        self.last = Last::Core(core.clone());
        core
    }

    /// Makes sure that the solver itself holds the model of the last check.
    fn hold_model(&mut self, terms: &Terms) -> Result<(), Unknown> {
        match std::mem::replace(&mut self.last, Last::Nothing) {
            Last::Model => self.last = Last::Model,
            Last::Found(model) => self.last = Last::Found(model),
            Last::CachedModel(assumptions) => match self.ask(terms, &assumptions) {
                Answer::Sat => {}
                Answer::Unsat => {
                    return Err(Unknown::GaveUp("the solver contradicts itself".to_owned()));
                }
                Answer::Unknown(why) => return Err(why),
            },
            _ => return Err(Unknown::GaveUp("there is no model to tell".to_owned())),
        }
        Ok(())
    }

    /// After [`Answer::Sat`]: the values of terms in the model. `None` where the solver tells a
    /// value in a form that is not understood.
    pub fn values(
        &mut self,
        terms: &mut Terms,
        of: &[TermId],
    ) -> Result<Vec<Option<Value>>, Unknown> {
        self.hold_model(terms)?;
        if let Last::Found(model) = &self.last {
            let value = |&term: &TermId| eval(terms, term, model).ok();
            return Ok(of.iter().map(value).collect());
        }
        Ok(self.solver.values(terms, of))
    }

    /// After [`Answer::Sat`]: the values of all constants and functions of the assertions.
    pub fn model(&mut self, terms: &mut Terms) -> Result<Assignment, Unknown> {
        let roots = self.assertions.clone();
        self.model_of(terms, &roots)
    }

    /// After [`Answer::Sat`]: the values of all constants and functions of the given terms.
    pub fn model_of(&mut self, terms: &mut Terms, roots: &[TermId]) -> Result<Assignment, Unknown> {
        let constants: Vec<TermId> = terms.free_constants(roots).into_iter().collect();
        let values = self.values(terms, &constants)?;
        let mut model = Assignment::new();
        for (constant, value) in constants.into_iter().zip(values) {
            if let Some(value) = value {
                model.set(constant, value);
            }
        }
        if let Last::Found(_) = &self.last {
            // No function is in the question, so none needs a value of its own.
            return Ok(model);
        }
        for function in functions_in(terms, roots) {
            if let Some(value) = self.solver.function_value(terms, function) {
                model.set_function(function, value);
            }
        }
        Ok(model)
    }
}
