//! The rounds of the loop.

mod path;
mod story;

pub use story::steps;

use crate::counting::Counting;
use crate::families::Families;
use crate::lazy::{Abstraction, Memory, Precision};
use crate::search::{AbstractAnswer, search};
use hardbop_bebop::supergraph::Vertex;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_circuit::CircuitSolver;
use hardbop_engine::claim::{Invariants, ScopedPredicate};
use hardbop_engine::{Claim, Desk, Encodings, Ended, Engine, Event, Figure, Reason, Task, Turn};
use hardbop_logic::{Limits, Op, Session, TermId, Terms, Z3Options, Z3Solver};
use hardbop_model::{Model, View};
use hardbop_newton::exact::{Translation, spelled};
use hardbop_newton::predicate::Predicate;
use hardbop_newton::refine::Refiner;
use hardbop_semantics::constants::Constants;
use hardbop_semantics::segment::{Blocks, Segment};
use hardbop_semantics::skeleton::VertexId;
use hardbop_semantics::steps::Ground;
use hardbop_semantics::{Encoding, Overflow, Semantics};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What the loop may do.
#[derive(Clone, Debug)]
pub struct Options {
    /// How machine integers are read while searching.
    pub arithmetic: Encodings,
    /// What a reading that is a guess may take.
    pub guess: Turn,
    /// The most time for the Horn clauses of one path.
    pub horn_time: Duration,
    /// The most time for one question about a path, ...
    pub query_time: Duration,
    /// ... and about an abstract step, which may also stay open.
    pub relation_time: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            arithmetic: Encodings::IntegersFirst,
            guess: Turn::GUESS,
            horn_time: Duration::from_secs(6),
            query_time: Duration::from_secs(30),
            relation_time: Duration::from_secs(5),
        }
    }
}

/// A path of the abstraction that the loop met.
#[derive(Clone, Debug)]
pub struct Met {
    /// The round, from 1 on.
    pub round: u32,
    /// The check that is violated at its end; `None` if it leads to what is not supported.
    pub check: Option<CheckId>,
    /// The path through the prepared program.
    pub segments: Vec<Segment>,
    /// The predicates that it gave; none if it can be run.
    pub found: Vec<ScopedPredicate>,
}

/// What the loop did.
#[derive(Clone, Debug, Default)]
struct Statistics {
    /// Rounds of abstraction and checking.
    rounds: u32,
    /// Predicates in the last round.
    predicates: usize,
    /// Relations asked of the solver.
    relations: u64,
    /// Horn queries.
    horn_queries: u32,
    /// Whether the search ended in the exact encoding.
    bits: bool,
}

impl Statistics {
    fn figures(&self) -> Vec<Figure> {
        vec![
            Figure::count("rounds", self.rounds.into()),
            Figure::count("predicates", self.predicates as u64),
            Figure::count("relations", self.relations),
            Figure::count("Horn queries", self.horn_queries.into()),
            Figure::flag("exact search", self.bits),
        ]
    }
}

/// More combinations of predicates behind one state than these, and they are followed one by one, where
/// words are put together from bytes. So many come where little is known of memory, and which of them
/// go together teaches nothing then, and takes long to find out.
const TOGETHER: usize = 8;

/// The loop as an engine.
#[derive(Clone, Debug, Default)]
pub struct Slam(pub Options);

impl Slam {
    /// The loop, with machine integers read in this way.
    pub fn reading(arithmetic: Encodings) -> Slam {
        Slam(Options {
            arithmetic,
            ..Options::default()
        })
    }
}

impl Engine for Slam {
    fn name(&self) -> &'static str {
        "slam"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        self.telling(task, desk).0
    }
}

impl Slam {
    /// Decides what it can, and tells of the paths that it met.
    pub fn telling(&self, task: &Task<'_>, desk: &mut dyn Desk) -> (Ended, Vec<Met>) {
        let view = &task.model.flat;
        let mut rounds = Rounds {
            model: task.model,
            view,
            options: &self.0,
            met: Vec::new(),
            budget: task.budget.clone(),
            desk,
            counting: Counting::default(),
            families: Families::default(),
            closed: BTreeMap::new(),
            open: view.errors(task.checks),
            unsupported: view.unsupported(),
            blocked: None,
            incomplete: None,
            unsolved: 0,
            together: false,
            violated: false,
            proved: false,
            statistics: Statistics::default(),
        };
        rounds.run();
        let Rounds {
            closed,
            blocked,
            incomplete,
            statistics,
            met,
            ..
        } = rounds;
        let blocked = blocked.map(|construct| Reason::unsupported(view.program, construct));
        let ended = Ended {
            open: closed,
            incomplete: incomplete.or(blocked),
            statistics: statistics.figures(),
        };
        (ended, met)
    }
}

/// What a stage ended with.
enum Stage {
    /// Every check has its outcome.
    Decided,
    /// The guess over the integers is not good enough.
    NeedsBits,
    /// The guess took too long.
    OutOfTime,
}

struct Rounds<'a> {
    model: &'a Model<'a>,
    /// The program that is searched: the user's with calls inlined.
    view: &'a View<'a>,
    options: &'a Options,
    budget: Budget,
    desk: &'a mut dyn Desk,
    /// The paths that were met.
    met: Vec<Met>,
    counting: Counting,
    /// The numbers that variables are given, in the reading of this stage.
    families: Families,
    /// The checks that will not be decided, with the reason.
    closed: BTreeMap<CheckId, Reason>,
    /// The checks that are not decided yet, with the vertices where they are violated.
    open: BTreeMap<CheckId, BTreeSet<VertexId>>,
    unsupported: BTreeMap<VertexId, u32>,
    blocked: Option<u32>,
    incomplete: Option<Reason>,
    /// For how many paths in a row nobody solved the Horn clauses.
    unsolved: u32,
    /// Whether predicates are followed together, however many combinations they come to: without
    /// that, a path was not ruled out.
    together: bool,
    /// Whether some check is violated, ...
    violated: bool,
    /// ... and whether the others are proved.
    proved: bool,
    statistics: Statistics,
}

impl Rounds<'_> {
    fn run(&mut self) {
        let view = self.view;
        let mut terms = Terms::new();
        let mut precision = Precision::new();
        // The exact constants first: they get the plain names, which users are shown.
        Constants::new(&view.semantics, &mut terms);
        let total = self.budget.clone();
        if self.options.arithmetic == Encodings::IntegersFirst {
            for overflow in [Overflow::Ignored, Overflow::Wraps] {
                let guess = view.encoded(Encoding::Integers { overflow });
                self.budget = self.options.guess.of(&total);
                let mut found = Precision::new();
                let ended = self.stage(&mut terms, &guess, &mut found);
                self.budget = total.clone();
                if let Stage::Decided = ended {
                    return;
                }
                let slow = matches!(ended, Stage::OutOfTime);
                for (location, predicates) in self.translated(&mut terms, &guess, &found) {
                    precision.entry(location).or_default().extend(predicates);
                }
                // Wrapping makes nothing faster.
                if slow {
                    break;
                }
            }
        }
        self.statistics.bits = true;
        let mut found = precision;
        let ended = self.stage(&mut terms, &view.semantics, &mut found);
        if !matches!(ended, Stage::Decided) {
            self.give_up(Reason::Refinement);
        }
    }

    /// Predicates over the integers as predicates over machine words, as far as there are such.
    fn translated(
        &self,
        terms: &mut Terms,
        guess: &Semantics<'_>,
        precision: &Precision,
    ) -> Precision {
        let constants = Constants::new(guess, terms);
        let mut translation = Translation::new(&constants, &self.view.semantics);
        let mut result = Precision::new();
        for (&location, predicates) in precision {
            for predicate in predicates {
                if let Some(formula) = translation.formula(terms, predicate.formula) {
                    let scope = predicate.scope;
                    let here = result.entry(location).or_default();
                    here.insert(Predicate { scope, formula });
                }
            }
        }
        result
    }

    fn session(&self) -> Session<'static> {
        let mut session = Session::new(
            Box::new(Z3Solver::new(Z3Options::default())),
            self.budget.clone(),
        );
        session.set_limits(self.limits(self.options.query_time));
        session
    }

    fn limits(&self, time: Duration) -> Limits {
        Limits {
            time: Some(time),
            steps: None,
        }
    }

    fn give_up(&mut self, reason: Reason) -> Stage {
        self.incomplete = Some(reason.clone());
        for (check, _) in std::mem::take(&mut self.open) {
            self.closed.insert(check, reason.clone());
        }
        Stage::Decided
    }

    /// Time or memory ran out: for this guess, or for all.
    fn stopped(&mut self, stopped: Stopped, guessing: bool) -> Stage {
        match (stopped, guessing) {
            (Stopped::Time, true) => Stage::OutOfTime,
            _ => self.give_up(Reason::Stopped(stopped)),
        }
    }

    fn tell(&mut self, predicates: usize, doing: impl Into<Cow<'static, str>>) {
        self.desk.event(Event {
            doing: doing.into(),
            open: self.open.len(),
            figures: vec![
                Figure::count("rounds", self.statistics.rounds.into()),
                Figure::count("predicates", predicates as u64),
                Figure::count("relations", self.statistics.relations),
                Figure::count("Horn queries", self.statistics.horn_queries.into()),
            ],
        });
    }

    /// Searches with one encoding until every check is decided or the encoding fails.
    fn stage(
        &mut self,
        terms: &mut Terms,
        guess: &Semantics<'_>,
        precision: &mut Precision,
    ) -> Stage {
        let view = self.view;
        let guessing = guess.encoding != Encoding::Bits;
        let constants = Constants::new(guess, terms);
        let mut path_session = self.session();
        let mut memory = Memory::default();
        let ground = Ground {
            semantics: guess,
            effects: &view.effects,
            skeleton: &view.skeleton,
            constants: &constants,
        };
        let by_bytes = reads_words_by_bytes(&ground, terms, &mut memory.blocks);
        if guessing && by_bytes {
            return Stage::OutOfTime;
        }
        let mut session = match by_bytes {
            true => Session::new(Box::new(CircuitSolver::new()), self.budget.clone()),
            false => self.session(),
        };
        session.set_limits(self.limits(self.options.relation_time));
        self.families = Families::new(&ground, terms, &mut memory.blocks);
        self.together = !by_bytes;
        memory.follow(if by_bytes { TOGETHER } else { usize::MAX });
        let refiner = Refiner { ground };
        while self.is_unsettled() {
            if let Err(stopped) = self.budget.check() {
                return self.stopped(stopped, guessing);
            }
            self.statistics.rounds += 1;
            let count = distinct(precision).len();
            self.statistics.predicates = count;
            self.tell(count, "abstracting");
            let found = {
                let mut graph =
                    Abstraction::new(&ground, terms, &mut session, &mut memory, precision);
                let result = search(&mut graph, self.targets(), &self.budget, &view.skeleton);
                self.statistics.relations += graph.queries;
                match result {
                    Ok(AbstractAnswer::Path(vertex, segments)) => Ok((vertex, segments)),
                    Ok(AbstractAnswer::Nothing(invariants)) => Err(invariants),
                    Err(stopped) => return self.stopped(stopped, guessing),
                }
            };
            match found {
                Err(invariants) => {
                    if let Some(construct) = self.blocked {
                        return self.give_up(Reason::unsupported(view.program, construct));
                    }
                    self.tell(count, "certifying");
                    let predicates = self.shown_predicates(terms, &constants, precision);
                    let refused = self.claim(terms, &ground, invariants, predicates);
                    return match refused {
                        None => Stage::Decided,
                        Some(_) if guessing => Stage::NeedsBits,
                        Some(reason) => self.give_up(reason),
                    };
                }
                Ok((vertex, segments)) => {
                    let Some(segments) = segments else {
                        self.close(vertex, Reason::LongPath);
                        continue;
                    };
                    let lines = story::lines(self.model, &segments);
                    self.meet(vertex, &segments);
                    self.tell(count, format!("checking the path through {lines}"));
                    let ended = self.path(
                        terms,
                        &mut path_session,
                        &refiner,
                        guessing,
                        vertex,
                        &segments,
                        precision,
                    );
                    if let Some(ended) = ended {
                        return ended;
                    }
                    if self.together {
                        memory.follow(usize::MAX);
                    }
                }
            }
        }
        Stage::Decided
    }

    /// Claims that invariants exclude whatever is open. Gives why that does not count.
    fn claim(
        &mut self,
        terms: &mut Terms,
        ground: &Ground<'_, '_>,
        invariants: BTreeMap<LocId, TermId>,
        predicates: Vec<ScopedPredicate>,
    ) -> Option<Reason> {
        let Some(at) = spelled(terms, ground, &self.view.semantics, invariants) else {
            return Some(Reason::Certificate);
        };
        let claim = Claim::Invariants(Invariants {
            checks: self.open.keys().copied().collect(),
            cuts: self.view.skeleton.cuts.iter().copied().collect(),
            at,
            predicates,
            ..Invariants::default()
        });
        let refused = self.desk.submit(claim).refused();
        if refused.is_none() {
            self.open.clear();
            self.proved = true;
        }
        refused
    }

    /// Whether there is still something to find out: an open check, or, where all that is known
    /// is good, whether something that is not supported can be reached.
    fn is_unsettled(&self) -> bool {
        let good = !self.violated && self.closed.is_empty();
        !self.open.is_empty() || (good && !self.proved && self.blocked.is_none())
    }

    fn targets(&self) -> Vec<Vertex> {
        let open = self.open.values().flatten().copied();
        let unsupported = self
            .unsupported
            .keys()
            .copied()
            .filter(|_| self.blocked.is_none());
        open.chain(unsupported)
            .map(|vertex| Vertex(vertex.0))
            .collect()
    }

    /// The predicates as text, in machine terms where they have such.
    fn shown_predicates(
        &self,
        terms: &mut Terms,
        constants: &Constants,
        precision: &Precision,
    ) -> Vec<ScopedPredicate> {
        let mut texts = BTreeSet::new();
        for predicate in distinct(precision) {
            texts.insert(self.shown(terms, constants, &predicate));
        }
        texts.into_iter().collect()
    }
}

/// Whether words in memory are put together from bytes, as in lists whose nodes are found by
/// `container_of`. Bytes are bits in every reading, and questions that mix them with integers take
/// solvers longer than those about machine words; circuits take those in the least time.
fn reads_words_by_bytes(ground: &Ground<'_, '_>, terms: &mut Terms, blocks: &mut Blocks) -> bool {
    let mut roots = Vec::new();
    for edge in &ground.skeleton.edges {
        if let Ok(Some(step)) = ground.step(terms, blocks, edge.kind) {
            roots.push(step.condition);
        }
    }
    let is_byte = |&part: &TermId| *terms.op(part) == Op::Select;
    terms
        .postorder(&roots)
        .iter()
        .any(|&term| *terms.op(term) == Op::Concat && terms.args(term).iter().any(is_byte))
}

/// The predicates of a precision, each once.
fn distinct(precision: &Precision) -> BTreeSet<Predicate> {
    precision.values().flatten().cloned().collect()
}
