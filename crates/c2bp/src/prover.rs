//! F and G: the strongest combinations of predicates around a formula.
//!
//! F(ψ) is the weakest disjunction of cubes over the predicates that implies ψ, G(ψ) = ¬F(¬ψ)
//! the strongest that ψ implies. Cubes are tried by increasing length, prime ones only. What
//! keeps the number of prover calls small: every model that the solver gives rules out all cubes
//! that it satisfies, so that a call is made only for a cube that no model so far decides; only
//! predicates that share a state variable with ψ, directly or not, are tried (the cone of
//! influence); and what was asked before is remembered.
//!
//! An answer "unknown" of the solver means that the cube is left out: precision is lost, never
//! soundness.

use crate::cube::{Cube, Dnf, Valuation};
use hardbop_budget::{Budget, Stopped};
use hardbop_logic::{Answer, Limits, Session, TermId, Terms, Unknown, Value, Z3Options, Z3Solver};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How long cubes may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CubeBound {
    /// Up to so many literals.
    Length(usize),
    /// As long as needed: F and G are exact.
    Exact,
}

/// How cubes are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// With all that saves prover calls.
    Guided,
    /// One call for every cube over all predicates, as the papers first describe it: to measure
    /// against.
    Naive,
}

/// What the prover did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProverStatistics {
    /// Formulas ψ for which F(ψ) was wanted and that are not constants.
    pub goals: u64,
    /// Questions asked.
    pub questions: u64,
    /// Calls that reached the solver.
    pub calls: u64,
    /// Questions that were answered without it: from the cache of queries or of whole F's.
    pub hits: u64,
    /// Questions that the solver left open.
    pub unknown: u64,
}

/// What can be in a cone of influence.
#[derive(Clone, Copy)]
enum Member {
    Literal(u32),
    Fact(TermId),
}

/// Cubes over some of the predicates as cubes over all of them.
fn renamed(cubes: &[Cube], names: &[u32]) -> Dnf {
    let one = |cube: &Cube| {
        let literals = cube.literals().iter();
        Cube::new(
            literals
                .map(|&(at, sign)| (names[at as usize], sign))
                .collect(),
        )
    };
    let mut dnf = Dnf {
        cubes: cubes.iter().map(one).collect(),
    };
    dnf.sort();
    dnf
}

/// How many cubes are worth listing one by one in exact mode; beyond that, states are split.
const MOST_LISTED: f64 = 60_000.0;

type Asked = (Vec<TermId>, TermId, Vec<TermId>);

/// A session with the solver about one procedure.
pub struct Prover<'s> {
    /// The terms of the session.
    pub terms: Terms,
    session: Session<'s>,
    bound: CubeBound,
    search: Search,
    answers: HashMap<Asked, Vec<Cube>>,
    remembered: u64,
    goals: u64,
    constants: HashMap<TermId, BTreeSet<TermId>>,
    /// Cubes that hold in no state at all.
    impossible: Vec<Vec<(TermId, bool)>>,
}

/// A question about some predicates under some assumptions.
struct Question<'a> {
    literals: &'a [TermId],
    negated: Vec<TermId>,
    /// Models of the assumptions.
    models: Vec<Valuation>,
    /// Cubes that contradict the assumptions.
    absurd: Vec<Cube>,
}

impl<'s> Prover<'s> {
    /// A new session.
    pub fn new(bound: CubeBound, search: Search, limits: Limits, budget: Budget) -> Prover<'s> {
        let solver = Z3Solver::new(Z3Options::default());
        let mut session = Session::new(Box::new(solver), budget);
        session.set_limits(limits);
        Prover {
            terms: Terms::new(),
            session,
            bound,
            search,
            answers: HashMap::new(),
            remembered: 0,
            goals: 0,
            constants: HashMap::new(),
            impossible: Vec::new(),
        }
    }

    /// Every query that reaches the solver is told to the sink as SMT-LIB text.
    pub fn set_log(&mut self, sink: Box<dyn FnMut(&str) + 's>) {
        self.session.set_log(sink);
    }

    /// What the prover did so far.
    pub fn statistics(&self) -> ProverStatistics {
        let of = self.session.statistics();
        ProverStatistics {
            goals: self.goals,
            questions: of.queries + self.remembered,
            calls: of.sat + of.unsat + of.unknown,
            hits: of.hits + self.remembered,
            unknown: of.unknown,
        }
    }

    /// F(goal): the prime cubes over the literals that imply the goal where the context holds.
    /// Cubes that contradict the context are left out.
    pub fn implying(
        &mut self,
        context: &[TermId],
        goal: TermId,
        literals: &[TermId],
    ) -> Result<Dnf, Stopped> {
        if let hardbop_logic::Op::Bool(value) = *self.terms.op(goal) {
            return Ok(if value { Dnf::always() } else { Dnf::never() });
        }
        self.goals += 1;
        let (cone, context) = self.cone(context, goal, literals);
        let inside: Vec<TermId> = cone.iter().map(|&index| literals[index as usize]).collect();
        let key = (context.clone(), goal, inside.clone());
        if let Some(known) = self.answers.get(&key)
            && self.search == Search::Guided
        {
            self.remembered += 1;
            return Ok(renamed(known, &cone));
        }
        let found = self.cubes(&context, Some(goal), &inside)?;
        self.answers.insert(key, found.clone());
        Ok(renamed(&found, &cone))
    }

    /// The minimal cubes over the literals that contradict the context.
    pub fn contradictions(
        &mut self,
        context: &[TermId],
        literals: &[TermId],
    ) -> Result<Vec<Cube>, Stopped> {
        // Predicates that share no state variable cannot contradict each other.
        let mut out = Dnf::never();
        for (group, context) in self.groups(context, literals) {
            let inside: Vec<TermId> = group.iter().map(|&i| literals[i as usize]).collect();
            let found = self.cubes(&context, None, &inside)?;
            out.cubes.extend(renamed(&found, &group).cubes);
        }
        out.sort();
        Ok(out.cubes)
    }

    /// Tells the prover of cubes that hold in no state: they need not be found again.
    pub(crate) fn set_impossible(&mut self, cubes: &[Cube], literals: &[TermId]) {
        self.impossible = cubes
            .iter()
            .map(|cube| {
                let literal = |&(at, sign): &(u32, bool)| (literals[at as usize], sign);
                cube.literals().iter().map(literal).collect()
            })
            .collect();
    }

    /// The constants of a term.
    pub(crate) fn constants_of(&mut self, term: TermId) -> BTreeSet<TermId> {
        if let Some(known) = self.constants.get(&term) {
            return known.clone();
        }
        let found = self.terms.free_constants(&[term]);
        self.constants.insert(term, found.clone());
        found
    }

    /// The literals that can matter for a goal: those that share a constant with it, directly or
    /// through others or the context; and the part of the context that matters.
    fn cone(
        &mut self,
        context: &[TermId],
        goal: TermId,
        literals: &[TermId],
    ) -> (Vec<u32>, Vec<TermId>) {
        if self.search == Search::Naive {
            return ((0..literals.len() as u32).collect(), context.to_vec());
        }
        let mut reached = self.constants_of(goal);
        let mut rest: Vec<(Member, BTreeSet<TermId>)> = Vec::new();
        for (index, &literal) in literals.iter().enumerate() {
            rest.push((Member::Literal(index as u32), self.constants_of(literal)));
        }
        for &fact in context {
            rest.push((Member::Fact(fact), self.constants_of(fact)));
        }
        let (mut cone, mut facts) = (Vec::new(), Vec::new());
        loop {
            let before = rest.len();
            rest.retain(|(member, constants)| {
                let touches = !constants.is_disjoint(&reached);
                if touches {
                    reached.extend(constants);
                    match *member {
                        Member::Literal(index) => cone.push(index),
                        Member::Fact(fact) => facts.push(fact),
                    }
                }
                !touches
            });
            if rest.len() == before {
                cone.sort_unstable();
                facts.sort_unstable();
                return (cone, facts);
            }
        }
    }

    /// The literals in groups that share no constant with each other.
    fn groups(&mut self, context: &[TermId], literals: &[TermId]) -> Vec<(Vec<u32>, Vec<TermId>)> {
        if self.search == Search::Naive {
            return vec![((0..literals.len() as u32).collect(), context.to_vec())];
        }
        let mut left: BTreeSet<u32> = (0..literals.len() as u32).collect();
        let mut groups = Vec::new();
        while let Some(&first) = left.first() {
            let (mut group, facts) = self.cone(context, literals[first as usize], literals);
            if !group.contains(&first) {
                // A literal without constants: on its own.
                group.push(first);
                group.sort_unstable();
            }
            group.retain(|index| left.contains(index));
            for index in &group {
                left.remove(index);
            }
            groups.push((group, facts));
        }
        groups
    }

    /// The minimal cubes that imply the goal without contradicting the context; without a goal,
    /// the minimal cubes that contradict it.
    fn cubes(
        &mut self,
        context: &[TermId],
        goal: Option<TermId>,
        literals: &[TermId],
    ) -> Result<Vec<Cube>, Stopped> {
        let negated = literals
            .iter()
            .map(|&literal| self.terms.not(literal))
            .collect();
        let absurd = self.impossible_among(literals);
        let question = Question {
            literals,
            negated,
            models: Vec::new(),
            absurd,
        };
        let refuted = goal.map(|goal| self.terms.not(goal));
        self.session.push();
        for &fact in context {
            self.session.assert(&self.terms, fact);
        }
        let listed = 3f64.powi(literals.len() as i32) <= MOST_LISTED;
        let result = match (self.search, self.bound) {
            (Search::Naive, CubeBound::Length(bound)) => self.naive(question, refuted, bound),
            (Search::Naive, CubeBound::Exact) => self.naive(question, refuted, literals.len()),
            (_, CubeBound::Length(bound)) => self.by_length(question, refuted, bound),
            (_, CubeBound::Exact) if listed => self.by_length(question, refuted, literals.len()),
            (_, CubeBound::Exact) => self.by_splitting(question, refuted),
        };
        self.session.pop();
        result
    }

    fn impossible_among(&self, literals: &[TermId]) -> Vec<Cube> {
        let places: HashMap<TermId, u32> = literals
            .iter()
            .enumerate()
            .map(|(index, &term)| (term, index as u32))
            .collect();
        self.impossible
            .iter()
            .filter_map(|cube| {
                let literal = |&(term, sign): &(TermId, bool)| Some((*places.get(&term)?, sign));
                cube.iter()
                    .map(literal)
                    .collect::<Option<Vec<_>>>()
                    .map(Cube::new)
            })
            .collect()
    }

    /// Whether a cube, with the refuted goal if there is one, contradicts the context.
    fn contradicts(
        &mut self,
        question: &mut Question<'_>,
        cube: &Cube,
        refuted: Option<TermId>,
    ) -> Result<bool, Stopped> {
        let mut assumed: Vec<TermId> = cube
            .literals()
            .iter()
            .map(|&(at, sign)| match sign {
                true => question.literals[at as usize],
                false => question.negated[at as usize],
            })
            .collect();
        assumed.extend(refuted);
        match self.session.check(&self.terms, &assumed) {
            Answer::Unsat => Ok(true),
            Answer::Sat => {
                let values = self.session.values(&mut self.terms, question.literals);
                if let Ok(values) = values {
                    let truth = |value: Option<Value>| value.and_then(|v| v.as_bool());
                    let model = Valuation::new(values.into_iter().map(truth).collect());
                    question.models.push(model);
                }
                Ok(false)
            }
            Answer::Unknown(Unknown::Stopped(stopped)) => Err(stopped),
            Answer::Unknown(_) => {
                self.session.budget().check()?;
                Ok(false)
            }
        }
    }

    fn by_length(
        &mut self,
        mut question: Question<'_>,
        refuted: Option<TermId>,
        bound: usize,
    ) -> Result<Vec<Cube>, Stopped> {
        let mut primes: Vec<Cube> = Vec::new();
        // Models of the context in which the goal fails: no cube of theirs implies it.
        let mut against: Vec<Valuation> = Vec::new();
        let mut level = vec![Cube::default()];
        for length in 0..=bound.min(question.literals.len()) {
            let mut next = Vec::new();
            let mut steps = 0u32;
            for cube in level {
                steps += 1;
                if steps.is_multiple_of(4096) {
                    self.session.budget().check()?;
                }
                if primes
                    .iter()
                    .chain(&question.absurd)
                    .any(|known| cube.contains(known))
                {
                    continue;
                }
                if !against.iter().any(|model| model.satisfies(&cube)) {
                    let known = question.models.len();
                    if self.contradicts(&mut question, &cube, refuted)? {
                        match refuted {
                            None => primes.push(cube),
                            Some(_) if self.is_absurd(&mut question, &cube)? => {
                                question.absurd.push(cube);
                            }
                            Some(_) => primes.push(cube),
                        }
                        continue;
                    }
                    against.extend(question.models[known..].iter().cloned());
                }
                if length < bound {
                    let first = cube.literals().last().map_or(0, |&(at, _)| at + 1);
                    for at in first..question.literals.len() as u32 {
                        next.push(cube.with(at, true));
                        next.push(cube.with(at, false));
                    }
                }
            }
            level = next;
        }
        Ok(primes)
    }

    /// Whether a cube contradicts the context by itself.
    fn is_absurd(&mut self, question: &mut Question<'_>, cube: &Cube) -> Result<bool, Stopped> {
        if question.models.iter().any(|model| model.satisfies(cube)) {
            return Ok(false);
        }
        self.contradicts(question, cube, None)
    }

    /// Exact cubes over many predicates: splits the states until each part is decided.
    fn by_splitting(
        &mut self,
        mut question: Question<'_>,
        refuted: Option<TermId>,
    ) -> Result<Vec<Cube>, Stopped> {
        let mut primes: Vec<Cube> = Vec::new();
        let mut against: Vec<Valuation> = Vec::new();
        let mut pending = vec![Cube::default()];
        while let Some(cube) = pending.pop() {
            self.session.budget().check()?;
            if primes
                .iter()
                .chain(&question.absurd)
                .any(|p| cube.contains(p))
            {
                continue;
            }
            let mut model = against.iter().find(|model| model.satisfies(&cube)).cloned();
            if model.is_none() {
                let known = question.models.len();
                if self.contradicts(&mut question, &cube, refuted)? {
                    let shorter = self.shortened(&mut question, cube, refuted)?;
                    if refuted.is_some() && self.is_absurd(&mut question, &shorter)? {
                        let least = self.shortened(&mut question, shorter, None)?;
                        question.absurd.push(least);
                    } else {
                        primes.push(shorter);
                    }
                    continue;
                }
                against.extend(question.models[known..].iter().cloned());
                model = question.models[known..].last().cloned();
            }
            let free = (0..question.literals.len() as u32)
                .find(|at| !cube.literals().iter().any(|(position, _)| position == at));
            if let Some(at) = free {
                // The model's own side last: it is known not to be a cube and costs no call.
                let side = model.and_then(|m| m.get(at as usize)).unwrap_or(true);
                for sign in [side, !side] {
                    let mut literals = cube.literals().to_vec();
                    literals.push((at, sign));
                    pending.push(Cube::new(literals));
                }
            }
        }
        Ok(primes)
    }

    /// A cube without the literals that its contradiction does not need.
    fn shortened(
        &mut self,
        question: &mut Question<'_>,
        cube: Cube,
        refuted: Option<TermId>,
    ) -> Result<Cube, Stopped> {
        // What the solver says it used is a good start.
        let core: BTreeSet<TermId> = self.session.core().into_iter().collect();
        let used = |&(at, sign): &(u32, bool)| {
            let at = at as usize;
            core.contains(&if sign {
                question.literals[at]
            } else {
                question.negated[at]
            })
        };
        let mut literals = cube.literals().to_vec();
        let kept: Vec<_> = literals.iter().copied().filter(used).collect();
        if self.contradicts(question, &Cube::new(kept.clone()), refuted)? {
            literals = kept;
        }
        let mut at = 0;
        while at < literals.len() {
            let mut fewer = literals.clone();
            fewer.remove(at);
            let shorter = Cube::new(fewer.clone());
            if self.contradicts(question, &shorter, refuted)? {
                literals = fewer;
            } else {
                at += 1;
            }
        }
        Ok(Cube::new(literals))
    }

    /// Every cube in turn, one call each.
    fn naive(
        &mut self,
        mut question: Question<'_>,
        refuted: Option<TermId>,
        bound: usize,
    ) -> Result<Vec<Cube>, Stopped> {
        let mut found = Vec::new();
        let mut level = vec![Cube::default()];
        for length in 0..=bound.min(question.literals.len()) {
            let mut next = Vec::new();
            for cube in level {
                question.models.clear();
                if self.contradicts(&mut question, &cube, refuted)? {
                    let absurd =
                        refuted.is_some() && self.contradicts(&mut question, &cube, None)?;
                    let shorter = found.iter().any(|known| cube.contains(known));
                    if !absurd && !shorter {
                        found.push(cube.clone());
                    }
                }
                if length < bound {
                    let first = cube.literals().last().map_or(0, |&(at, _)| at + 1);
                    for at in first..question.literals.len() as u32 {
                        next.push(cube.with(at, true));
                        next.push(cube.with(at, false));
                    }
                }
            }
            level = next;
        }
        Ok(found)
    }
}

/// The literal that a formula is, up to its sign, if it is one.
pub(crate) fn as_literal(
    terms: &mut Terms,
    formula: TermId,
    positions: &BTreeMap<TermId, u32>,
) -> Option<(u32, bool)> {
    if let Some(&position) = positions.get(&formula) {
        return Some((position, true));
    }
    let negation = terms.not(formula);
    positions.get(&negation).map(|&position| (position, false))
}
