//! The rounds of the loop.

mod path;

use crate::counting::Counting;
use crate::lazy::{Abstraction, Ground, Memory, Precision};
use crate::search::{Found, search};
use hardbop_bebop::supergraph::Vertex;
use hardbop_budget::{Budget, Stopped};
use hardbop_certify::{Certificate, Certified, Certifier};
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::inline::{self, Inlined, inline};
use hardbop_cfront::points_to::{self, PointsTo};
use hardbop_cfront::program::{LocationKind, Program};
use hardbop_engine::{
    Engine, Event, Figure, Invariants, Outcome, Proof, Reason, Report, ScopedPredicate, Suggestion,
    Task,
};
use hardbop_logic::{Limits, Session, TermId, Terms, Z3Options, Z3Solver};
use hardbop_newton::atoms::{Constants, Predicate, predicates};
use hardbop_newton::exact::Translation;
use hardbop_newton::refine::{self, Refiner};
use hardbop_semantics::effects::Effects;
use hardbop_semantics::skeleton::{Point, Skeleton};
use hardbop_semantics::{Encoding, Overflow, Semantics};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How machine integers are read while searching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Over the integers first; exactly where that was not good enough.
    Auto,
    /// Exactly from the start.
    Bits,
}

/// What the loop may do.
#[derive(Clone, Debug)]
pub struct Options {
    /// How machine integers are read while searching.
    pub arithmetic: Arithmetic,
    /// The most time for the Horn clauses of the whole program, per encoding.
    pub whole_time: Duration,
    /// The most time for those of one path.
    pub horn_time: Duration,
    /// The most time for one solver query.
    pub query_time: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            arithmetic: Arithmetic::Auto,
            whole_time: Duration::from_secs(18),
            horn_time: Duration::from_secs(6),
            query_time: Duration::from_secs(30),
        }
    }
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
    /// Questions that certification asked.
    certificate_questions: u64,
}

impl Statistics {
    fn figures(&self) -> Vec<Figure> {
        vec![
            Figure::count("rounds", self.rounds.into()),
            Figure::count("predicates", self.predicates as u64),
            Figure::count("relations", self.relations),
            Figure::count("Horn queries", self.horn_queries.into()),
            Figure::count("certificate questions", self.certificate_questions),
            Figure::flag("exact search", self.bits),
        ]
    }
}

/// The loop as an engine.
#[derive(Clone, Debug, Default)]
pub struct Cegar(pub Options);

impl Engine for Cegar {
    fn name(&self) -> &'static str {
        "cegar"
    }

    fn check(&self, task: &Task<'_>, events: &mut dyn FnMut(Event)) -> Report {
        check(task, &self.0, events)
    }

    fn check_suggesting(
        &self,
        task: &Task<'_>,
        events: &mut dyn FnMut(Event),
        suggest: &mut dyn FnMut(Suggestion),
    ) -> Report {
        check_suggesting(task, &self.0, events, suggest)
    }
}

/// Decides checks of a program.
pub fn check(task: &Task<'_>, options: &Options, events: &mut dyn FnMut(Event)) -> Report {
    check_suggesting(task, options, events, &mut |_| {})
}

/// The same; where refinement only counts the iterations of a loop, the path is suggested to
/// others.
pub fn check_suggesting(
    task: &Task<'_>,
    options: &Options,
    events: &mut dyn FnMut(Event),
    suggest: &mut dyn FnMut(Suggestion),
) -> Report {
    let &Task { checks, budget, .. } = task;
    let original = task.program;
    let inlined = inline(original, &inline::Limits::default());
    let program = &inlined.program;
    let points_to = &points_to::analyse(program);
    let skeleton = Skeleton::new(program);
    let mut rounds = Rounds {
        original,
        inlined: &inlined,
        program,
        skeleton: &skeleton,
        options,
        budget: budget.clone(),
        events,
        suggest,
        counting: Counting::default(),
        outcomes: BTreeMap::new(),
        open: BTreeMap::new(),
        unsupported: BTreeMap::new(),
        blocked: None,
        incomplete: None,
        hard_path_programs: 0,
        statistics: Statistics::default(),
        proof: None,
    };
    for &check in checks {
        let is_here = |point: &Point| match point {
            Point::At(location) => {
                program.locations[location.index()].kind == LocationKind::Error(check)
            }
            _ => false,
        };
        let at: BTreeSet<usize> = (0..skeleton.vertices.len())
            .filter(|&vertex| is_here(&skeleton.vertices[vertex].point))
            .collect();
        if at.is_empty() {
            // Nothing that can be called holds the check.
            rounds.outcomes.insert(check, Outcome::Proved);
        } else {
            rounds.open.insert(check, at);
        }
    }
    for (index, vertex) in skeleton.vertices.iter().enumerate() {
        if let Point::Unsupported(edge) = vertex.point
            && let hardbop_cfront::program::Op::Unsupported { construct } =
                program.edges[edge.index()].op
        {
            rounds.unsupported.insert(index, construct);
        }
    }
    rounds.run(points_to);
    let Rounds {
        outcomes,
        blocked,
        incomplete,
        proof,
        statistics,
        ..
    } = rounds;
    Report {
        outcomes,
        incomplete: incomplete.or(blocked.map(|construct| Reason::unsupported(program, construct))),
        proof: proof.map(Proof::Invariants),
        statistics: statistics.figures(),
    }
}

/// What a stage ended with.
enum Ended {
    /// Every check has its outcome.
    Decided,
    /// The guess over the integers is not good enough.
    NeedsBits,
    /// The guess took too long.
    OutOfTime,
}

struct Rounds<'a> {
    /// The program as the user knows it, on which runs are replayed.
    original: &'a Program,
    inlined: &'a Inlined,
    /// The program that is searched: the same with calls inlined.
    program: &'a Program,
    skeleton: &'a Skeleton,
    options: &'a Options,
    budget: Budget,
    events: &'a mut dyn FnMut(Event),
    suggest: &'a mut dyn FnMut(Suggestion),
    counting: Counting,
    outcomes: BTreeMap<CheckId, Outcome>,
    /// The checks that are not decided, with the vertices where they are violated.
    open: BTreeMap<CheckId, BTreeSet<usize>>,
    unsupported: BTreeMap<usize, u32>,
    blocked: Option<u32>,
    incomplete: Option<Reason>,
    /// How many path programs in a row were too hard.
    hard_path_programs: u32,
    statistics: Statistics,
    proof: Option<Invariants>,
}

impl Rounds<'_> {
    fn run(&mut self, points_to: &PointsTo) {
        let exact = Semantics::new(self.program, points_to, Encoding::Bits);
        let effects = Effects::new(&exact);
        let mut terms = Terms::new();
        let mut precision = Precision::new();
        // The exact constants first: they get the plain names, which users are shown.
        Constants::new(&exact, &mut terms);
        let total = self.budget.clone();
        if self.options.arithmetic == Arithmetic::Auto {
            for overflow in [Overflow::Ignored, Overflow::Wraps] {
                let encoding = Encoding::Integers {
                    except: BTreeSet::new(),
                    overflow,
                };
                let guess = Semantics::new(self.program, points_to, encoding);
                // A guess that takes long is no good one.
                if let Some(left) = total.remaining() {
                    let share = total.elapsed() + left * 3 / 5;
                    self.budget = total.clone().with_time(share);
                }
                let mut found = Precision::new();
                let ended = self.stage(&mut terms, &guess, &exact, &effects, &mut found);
                self.budget = total.clone();
                if let Ended::Decided = ended {
                    return;
                }
                let slow = matches!(ended, Ended::OutOfTime);
                for (location, predicates) in self.translated(&mut terms, &guess, &exact, &found) {
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
        let ended = self.stage(&mut terms, &exact, &exact, &effects, &mut found);
        if !matches!(ended, Ended::Decided) {
            self.give_up(Reason::Refinement);
        }
    }

    /// Predicates over the integers as predicates over machine words, as far as there are such.
    fn translated(
        &self,
        terms: &mut Terms,
        guess: &Semantics<'_>,
        exact: &Semantics<'_>,
        precision: &Precision,
    ) -> Precision {
        let constants = Constants::new(guess, terms);
        let mut translation = Translation::new(&constants, exact);
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
        session.set_limits(Limits {
            time: Some(self.options.query_time),
            steps: None,
        });
        session
    }

    fn give_up(&mut self, reason: Reason) -> Ended {
        self.incomplete = Some(reason.clone());
        for (check, _) in std::mem::take(&mut self.open) {
            self.outcomes
                .insert(check, Outcome::Unknown(reason.clone()));
        }
        Ended::Decided
    }

    /// Time or memory ran out: for this guess, or for all.
    fn stopped(&mut self, stopped: Stopped, guessing: bool) -> Ended {
        match (stopped, guessing) {
            (Stopped::Time, true) => Ended::OutOfTime,
            _ => self.give_up(Reason::Stopped(stopped)),
        }
    }

    fn tell(&mut self, predicates: usize, doing: &'static str) {
        (self.events)(Event {
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
        exact: &Semantics<'_>,
        effects: &Effects,
        precision: &mut Precision,
    ) -> Ended {
        let guessing = guess.encoding != Encoding::Bits;
        let exact_constants = Constants::new(exact, terms);
        let constants = Constants::new(guess, terms);
        let mut session = self.session();
        let mut path_session = self.session();
        let mut memory = Memory::default();
        let skeleton = self.skeleton;
        let ground = Ground {
            semantics: guess,
            effects,
            skeleton,
            constants: &constants,
        };
        let refiner = Refiner {
            semantics: guess,
            effects,
            cuts: &skeleton.cuts,
            constants: &constants,
        };
        let certifier = Certifier {
            semantics: exact,
            effects,
            skeleton,
            constants: &exact_constants,
        };
        if let Some(ended) = self.whole(
            terms,
            &mut path_session,
            &refiner,
            &certifier,
            guessing,
            precision,
        ) {
            return ended;
        }
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
                let result = search(&mut graph, self.targets(), &self.budget, skeleton);
                self.statistics.relations += graph.queries;
                match result {
                    Ok(Found::Path(vertex, segments)) => Ok((vertex, segments)),
                    Ok(Found::Nothing(invariants)) => Err(invariants),
                    Err(stopped) => return self.stopped(stopped, guessing),
                }
            };
            match found {
                Err(invariants) => {
                    if let Some(construct) = self.blocked {
                        return self.give_up(Reason::unsupported(self.program, construct));
                    }
                    self.tell(count, "certifying");
                    let certificate = certificate(terms, &constants, exact, guessing, invariants);
                    let certified = match certificate {
                        Some(certificate) => {
                            let errors = self.errors();
                            let verdict =
                                certifier.certify(terms, &mut path_session, &certificate, &errors);
                            Some((verdict, certificate))
                        }
                        None => None,
                    };
                    match certified {
                        Some((Certified::Yes { questions }, certificate)) => {
                            self.proved(terms, &certifier, &certificate, questions);
                            self.show_predicates(terms, &constants, exact, precision);
                            return Ended::Decided;
                        }
                        Some((Certified::Unknown { why, .. }, _)) if !guessing => {
                            return self.give_up(Reason::Solver(why.to_string()));
                        }
                        _ if guessing => return Ended::NeedsBits,
                        _ => return self.give_up(Reason::Certificate),
                    }
                }
                Ok((vertex, segments)) => {
                    let Some(segments) = segments else {
                        self.close(vertex, Reason::LongPath);
                        continue;
                    };
                    self.tell(count, "checking a path");
                    let ended = self.path(
                        terms,
                        &mut path_session,
                        &refiner,
                        exact,
                        guessing,
                        vertex,
                        &segments,
                        precision,
                    );
                    if let Some(ended) = ended {
                        return ended;
                    }
                }
            }
        }
        Ended::Decided
    }

    /// Asks for invariants of the whole program at once. If they hold in the exact meaning, that
    /// decides everything; else they are predicates to begin with.
    fn whole(
        &mut self,
        terms: &mut Terms,
        session: &mut Session<'static>,
        refiner: &Refiner<'_, '_>,
        certifier: &Certifier<'_, '_>,
        guessing: bool,
        precision: &mut Precision,
    ) -> Option<Ended> {
        let targets = self.targets().into_iter().map(Vertex::index).collect();
        // Something must be left for the rounds.
        let left = self.budget.remaining();
        let whole_time = self
            .options
            .whole_time
            .min(left.map_or(Duration::MAX, |left| left * 2 / 3));
        let limits = Limits {
            time: Some(whole_time),
            steps: None,
        };
        self.tell(0, "solving the whole program");
        self.statistics.horn_queries += 1;
        let found = refiner.invariants(terms, self.skeleton, &targets, limits, &self.budget);
        let refine::Invariants::Found(invariants) = found else {
            return None;
        };
        self.tell(0, "certifying");
        let constants = refiner.constants;
        let exact = certifier.semantics;
        if let Some(certificate) =
            certificate(terms, constants, exact, guessing, invariants.clone())
            && let Certified::Yes { questions } =
                certifier.certify(terms, session, &certificate, &self.errors())
        {
            self.proved(terms, certifier, &certificate, questions);
            return Some(Ended::Decided);
        }
        for (location, formula) in invariants {
            let function = self.program.locations[location.index()].function;
            let atoms = predicates(refiner.semantics, constants, terms, function, formula);
            precision.entry(location).or_default().extend(atoms);
        }
        guessing.then_some(Ended::NeedsBits)
    }

    /// Whether there is still something to find out: an open check, or, where all that is known
    /// is good, whether something that is not supported can be reached.
    fn is_unsettled(&self) -> bool {
        let good = |outcome: &Outcome| matches!(outcome, Outcome::Proved);
        let unseen = !self.unsupported.is_empty() && self.blocked.is_none();
        !self.open.is_empty()
            || (unseen && self.proof.is_none() && self.outcomes.values().all(good))
    }

    /// Where the open checks are violated.
    fn errors(&self) -> Vec<LocId> {
        let vertices = self.open.values().flatten();
        vertices
            .filter_map(|&vertex| match self.skeleton.vertices[vertex].point {
                Point::At(location) => Some(location),
                _ => None,
            })
            .collect()
    }

    fn targets(&self) -> Vec<Vertex> {
        let open = self.open.values().flatten().copied();
        let unsupported = self
            .unsupported
            .keys()
            .copied()
            .filter(|_| self.blocked.is_none());
        open.chain(unsupported)
            .map(|vertex| Vertex(vertex as u32))
            .collect()
    }

    /// Nothing open can be reached: this is why.
    fn proved(
        &mut self,
        terms: &Terms,
        certifier: &Certifier<'_, '_>,
        certificate: &Certificate,
        questions: u64,
    ) {
        for (check, _) in std::mem::take(&mut self.open) {
            self.outcomes.insert(check, Outcome::Proved);
        }
        self.statistics.certificate_questions = questions;
        let proof = certifier.invariants(terms, self.original, self.inlined, certificate);
        self.proof = Some(Invariants { questions, ..proof });
    }

    /// Keeps the predicates as text, in machine terms where they have such.
    fn show_predicates(
        &mut self,
        terms: &mut Terms,
        constants: &Constants,
        exact: &Semantics<'_>,
        precision: &Precision,
    ) {
        let mut translation = Translation::new(constants, exact);
        let mut texts = BTreeSet::new();
        for predicate in distinct(precision) {
            let exact = translation.formula(terms, predicate.formula);
            let formula = exact.unwrap_or(predicate.formula);
            let procedure = predicate
                .scope
                .map(|function| self.program.function(function).name.clone());
            texts.insert(ScopedPredicate {
                procedure,
                formula: terms.infix(formula).to_string(),
            });
        }
        if let Some(proof) = &mut self.proof {
            proof.predicates = texts.into_iter().collect();
        }
    }
}

/// The predicates of a precision, each once.
fn distinct(precision: &Precision) -> BTreeSet<Predicate> {
    precision.values().flatten().cloned().collect()
}

/// The invariants in the exact encoding.
fn certificate(
    terms: &mut Terms,
    constants: &Constants,
    exact: &Semantics<'_>,
    guessing: bool,
    invariants: BTreeMap<LocId, TermId>,
) -> Option<Certificate> {
    if !guessing {
        return Some(Certificate { invariants });
    }
    let mut translation = Translation::new(constants, exact);
    let mut translated = BTreeMap::new();
    for (location, formula) in invariants {
        translated.insert(location, translation.formula(terms, formula)?);
    }
    Some(Certificate {
        invariants: translated,
    })
}
