//! The interface: options, outcomes, reports.

use crate::chain::{Counting, Link, Strategy, Values, body, entry};
use crate::claim::claims;
use crate::describe::{LeapReport, describe};
use crate::flat::with_depths;
use crate::graph::{Graph, NoGraph, Suggestion};
use crate::prover::Prover;
use crate::relax::relaxed;
use crate::replay::{length, replay};
use crate::search::{Chain, Counts, Ended, Judgement, Reach, Search};
use crate::strengthen::{Directions, find};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{CheckId, ExprId, FuncId, LocId};
use hardbop_cfront::interp;
use hardbop_cfront::points_to::{self, PointsTo};
use hardbop_cfront::program::Program;
use hardbop_engine::claim;
use hardbop_logic::{Assignment, Limits, Sort, TermId, Terms};
use hardbop_semantics::replay::{Choice, Violation};
use hardbop_semantics::{Encoding, FreshOrigin, Semantics};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How the search goes.
#[derive(Clone, Debug)]
pub struct Options {
    /// The most edges that a replay executes.
    pub replay_steps: u64,
    /// The most time for one question to the solver.
    pub query_time: Duration,
    /// The most leaps in a chain.
    pub leaps: usize,
    /// The most iterations that are walked one by one.
    pub iterations: usize,
    /// The most chains that are made concrete for one check.
    pub chains: usize,
    /// The loops to look at: those of an abstract path that another engine suggests.
    pub suggestion: Suggestion,
    /// Predicates of the user, each with the function in which it makes sense.
    pub predicates: Vec<(Option<FuncId>, ExprId)>,
    /// Whether to look for loops that end on all their states.
    pub endings: Endings,
}

/// Whether to look for loops that end on all their states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endings {
    /// Yes.
    Find,
    /// No.
    Skip,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            replay_steps: 20_000_000,
            query_time: Duration::from_secs(5),
            leaps: 8,
            iterations: 3,
            chains: 64,
            suggestion: Suggestion::None,
            predicates: Vec::new(),
            endings: Endings::Skip,
        }
    }
}

/// What is known of a check.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A run that was replayed violates it.
    Violated(Box<Violation>),
    /// A run violates it that is too long to be replayed; the chain was checked again.
    Leaped(Box<Claim>),
    /// Nothing is known.
    Unknown(Reason),
}

/// A violation that was not replayed.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The check.
    pub check: CheckId,
    /// The values that the program leaves open before and after the loops, in order.
    pub choices: Vec<Choice>,
    /// At least so many edges the run has.
    pub length: u128,
    /// How many questions checked the chain again.
    pub questions: u64,
}

/// Why nothing is known of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The budget ran out.
    Stopped(Stopped),
    /// The program is too large to be looked at as one graph.
    TooLarge,
    /// No chain of walks and leaps leads to it.
    NoChain,
    /// Chains lead to it, but none of them could be made concrete.
    NotConcrete,
}

/// A loop that ends wherever it is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Its head.
    pub head: LocId,
    /// The variables that never come back to where they were.
    pub view: Vec<String>,
}

/// What the search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Cut points.
    pub cuts: usize,
    /// Paths between them.
    pub paths: usize,
    /// Loops that were tried to leap, with all their variants.
    pub attempts: u64,
    /// Leaps that were found.
    pub leaps: u64,
    /// Chains that were made concrete.
    pub chains: usize,
    /// Questions to the solver.
    pub questions: u64,
    /// Questions without an answer.
    pub undecided: u64,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What is known of every check.
    pub outcomes: BTreeMap<CheckId, Outcome>,
    /// The leaps on the way to the violated ones, with the location of every cut point.
    pub explanations: BTreeMap<CheckId, Vec<(LeapReport, Vec<LocId>)>>,
    /// The loops that end wherever they are entered.
    pub endings: Vec<Ending>,
    /// What was done.
    pub statistics: Statistics,
}

/// What an onlooker is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Checks still open.
    pub open: usize,
    /// Leaps found so far.
    pub leaps: u64,
    /// Questions asked so far.
    pub questions: u64,
}

/// Who is told how far it is, and confirms chains whose runs are too long to be replayed.
pub trait Onlooker {
    /// How far it is.
    fn event(&mut self, event: Event);

    /// Checks a chain; gives the number of questions that it took, if the chain stands.
    fn confirm(&mut self, chain: claim::Chain) -> Option<u64>;
}

/// Looks for runs that violate checks, through loops without unrolling them.
pub fn leap(
    program: &Program,
    points_to: &PointsTo,
    checks: &[CheckId],
    options: &Options,
    budget: &Budget,
    onlooker: &mut dyn Onlooker,
) -> Report {
    let recursive = with_depths(program);
    let none = BTreeMap::new();
    let analysed = recursive
        .as_ref()
        .map(|(program, depths)| (program, points_to::analyse(program), depths));
    let (program, points_to, depths) = match &analysed {
        Some((program, points_to, depths)) => (*program, points_to, *depths),
        None => (program, points_to, &none),
    };
    let semantics = Semantics::new(program, points_to, Encoding::Bits);
    let mut terms = Terms::new();
    let limits = Limits {
        time: Some(options.query_time),
        steps: None,
    };
    let mut prover = Prover::new(budget.clone(), limits);
    let mut report = Report::default();
    let open: BTreeSet<CheckId> = checks.iter().copied().collect();
    let graph = Graph::new(
        &semantics,
        &mut terms,
        &mut prover,
        &open,
        &options.suggestion,
        depths,
    );
    let graph = match graph {
        Ok(graph) => Graph {
            is_of_the_program: analysed.is_none(),
            ..graph
        },
        Err(why) => {
            let reason = match why {
                NoGraph::TooLarge => Reason::TooLarge,
                NoGraph::Stopped(stopped) => Reason::Stopped(stopped),
            };
            for &check in checks {
                report
                    .outcomes
                    .insert(check, Outcome::Unknown(reason.clone()));
            }
            return report;
        }
    };
    report.statistics.cuts = graph.cuts.len();
    report.statistics.paths = graph.paths.len();
    for (index, &check) in checks.iter().enumerate() {
        onlooker.event(Event {
            open: checks.len() - index,
            leaps: report.statistics.leaps,
            questions: prover.questions,
        });
        if !graph.checks.contains(&check) {
            report
                .outcomes
                .insert(check, Outcome::Unknown(Reason::NoChain));
            continue;
        }
        let (outcome, explanation, counts) = one(
            &semantics,
            &mut terms,
            &mut prover,
            &graph,
            check,
            options,
            onlooker,
        );
        report.statistics.attempts += counts.attempts;
        report.statistics.leaps += counts.leaps;
        report.statistics.chains += counts.chains;
        report.outcomes.insert(check, outcome);
        if let Some(leaps) = explanation {
            let leaps = leaps.into_iter().map(|leap| {
                let heads = leap.cuts.iter().map(|&cut| graph.cuts[cut].location);
                let heads = heads.collect();
                (leap, heads)
            });
            report.explanations.insert(check, leaps.collect());
        }
    }
    if options.endings == Endings::Find {
        prover.limits.time = Some(options.query_time.min(Duration::from_millis(500)));
        report.endings = endings(&semantics, &mut terms, &mut prover, &graph);
    }
    report.statistics.questions = prover.questions;
    report.statistics.undecided = prover.undecided;
    report
}

/// Decides one check.
fn one(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    prover: &mut Prover,
    graph: &Graph,
    check: CheckId,
    options: &Options,
    onlooker: &mut dyn Onlooker,
) -> (Outcome, Option<Vec<LeapReport>>, Counts) {
    let mut search = Search {
        semantics,
        graph,
        terms,
        prover,
        predicates: &options.predicates,
        reach: Reach {
            leaps: options.leaps,
            iterations: options.iterations,
            chains: options.chains,
        },
        counts: Counts::default(),
    };
    let mut accepted: Option<(Outcome, Chain)> = None;
    let mut judge = |terms: &mut Terms, prover: &mut Prover, chain: &Chain| match concrete(
        semantics, terms, prover, graph, chain, options, onlooker,
    ) {
        Some(outcome) => {
            accepted = Some((outcome, chain.clone()));
            Judgement::Accept
        }
        None => Judgement::Reject,
    };
    let ended = search.run(check, &mut judge);
    let counts = search.counts;
    match accepted {
        Some((outcome, chain)) => {
            let mut leaps = Vec::new();
            for (at, link) in chain.links.iter().enumerate() {
                if let Link::Leap(leap) = link {
                    let after = &chain.links[at + 1..];
                    let leap = relaxed(semantics, terms, prover, graph, leap, after);
                    leaps.push(describe(semantics, terms, prover, &leap));
                }
            }
            (outcome, Some(leaps), counts)
        }
        None => {
            let reason = match ended {
                Ended::Stopped(stopped) => Reason::Stopped(stopped),
                _ if counts.chains > 0 => Reason::NotConcrete,
                _ => Reason::NoChain,
            };
            (Outcome::Unknown(reason), None, counts)
        }
    }
}

/// Makes a chain concrete: inputs from a model, then a replay, or else a claim.
fn concrete(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    prover: &mut Prover,
    graph: &Graph,
    chain: &Chain,
    options: &Options,
    onlooker: &mut dyn Onlooker,
) -> Option<Outcome> {
    let mut model = small_model(terms, prover, chain, &[])?;
    let mut length = length(terms, graph, chain, &model);
    let mut tried = Vec::new();
    while length <= u128::from(options.replay_steps) {
        let steps = options.replay_steps;
        let budget = prover.budget.clone();
        match replay(semantics, terms, graph, chain, &model, steps, &budget) {
            Ok(violation) => return Some(Outcome::Violated(Box::new(violation))),
            Err(interp::Outcome::StepLimit) => break,
            Err(_) => {}
        }
        // What is known at an exit port may not tell everything: other inputs may do better.
        tried.push(others(terms, graph, chain, &model)?);
        if tried.len() > MODELS {
            return None;
        }
        model = small_model(terms, prover, chain, &tried)?;
        length = self::length(terms, graph, chain, &model);
    }
    // The onlooker knows the program as it was, without variables for depths.
    if !graph.is_of_the_program {
        return None;
    }
    let claims = claims(semantics, terms, graph, chain, &model, length, prover);
    let questions = claims
        .into_iter()
        .find_map(|claim| onlooker.confirm(claim))?;
    let choices = choices(terms, graph, chain, &model);
    Some(Outcome::Leaped(Box::new(Claim {
        check: chain.check,
        choices,
        length,
        questions,
    })))
}

/// How many times other inputs are tried for a chain whose replay went elsewhere.
const MODELS: usize = 12;

/// That some input of the walks is not what the model says; `None` if there is none.
fn others(terms: &mut Terms, graph: &Graph, chain: &Chain, model: &Assignment) -> Option<TermId> {
    let mut differences = Vec::new();
    for link in &chain.links {
        let Link::Walk(walk) = link else {
            continue;
        };
        for &(key, symbol) in &walk.choices {
            let unknowns = &graph.paths[walk.path].unknowns;
            let input = unknowns.iter().any(|unknown| {
                (unknown.edge, unknown.occurrence) == key
                    && matches!(unknown.origin, FreshOrigin::Input(_))
            });
            if let (true, Ok(value)) = (input, hardbop_logic::eval(terms, symbol, model)) {
                let sort = terms.sort(symbol);
                let literal = terms.literal(&value, sort);
                let equal = terms.eq(symbol, literal);
                differences.push(terms.not(equal));
            }
        }
    }
    (!differences.is_empty()).then(|| terms.or(&differences))
}

/// What a model gives to that which the walks of a chain leave open: inputs, and whatever else
/// the chain depends on.
fn choices(terms: &Terms, graph: &Graph, chain: &Chain, model: &Assignment) -> Vec<Choice> {
    let free = terms.free_constants(&[chain.condition]);
    let mut found = Vec::new();
    for link in &chain.links {
        let Link::Walk(walk) = link else {
            continue;
        };
        for &(key, symbol) in &walk.choices {
            let unknowns = &graph.paths[walk.path].unknowns;
            let unknown = unknowns.iter().find(|u| (u.edge, u.occurrence) == key);
            let Some(origin) = unknown.map(|unknown| unknown.origin) else {
                continue;
            };
            if matches!(origin, FreshOrigin::Input(_)) || free.contains(&symbol) {
                found.push(Choice {
                    edge: key.0,
                    origin,
                    value: hardbop_logic::eval(terms, symbol, model).ok(),
                });
            }
        }
    }
    found
}

/// A model of a chain with small inputs, if there is one: such runs are short.
fn small_model(
    terms: &mut Terms,
    prover: &mut Prover,
    chain: &Chain,
    also: &[TermId],
) -> Option<Assignment> {
    let mut symbols: Vec<TermId> = Vec::new();
    for link in &chain.links {
        if let Link::Walk(walk) = link {
            symbols.extend(walk.choices.iter().map(|&(_, symbol)| symbol));
        }
    }
    let free = terms.free_constants(&[chain.condition]);
    symbols.retain(|symbol| free.contains(symbol));
    // Numbers that are not negative come first: read without a sign, the others are large.
    let signs = [false, true];
    let sizes = [4u32, 10, 20, 24];
    for (negative, bits) in signs
        .into_iter()
        .flat_map(|sign| sizes.map(|bits| (sign, bits)))
    {
        let mut question = vec![chain.condition];
        question.extend(also);
        for &symbol in &symbols {
            let Sort::BitVec(width) = terms.sort(symbol) else {
                continue;
            };
            if width > bits + 1 {
                let limit = terms.bv(1 << bits, width);
                let low = match negative {
                    true => terms.bv_neg(limit),
                    false => terms.bv(0, width),
                };
                question.push(terms.bv_sle(low, symbol));
                question.push(terms.bv_sle(symbol, limit));
            }
        }
        if question.len() == 1 + also.len() {
            break;
        }
        if let Ok(Some(model)) = prover.model(terms, &question) {
            return Some(model);
        }
    }
    let mut question = vec![chain.condition];
    question.extend(also);
    prover.model(terms, &question).ok().flatten()
}

/// The loops that end on all their states: Theorem 2 from an arbitrary state.
fn endings(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    prover: &mut Prover,
    graph: &Graph,
) -> Vec<Ending> {
    let mut found = Vec::new();
    if !semantics.program.unsupported.is_empty() || !graph.complete {
        return found;
    }
    let mut seen: BTreeSet<LocId> = BTreeSet::new();
    for (cut, described) in graph.cuts.iter().enumerate() {
        let Some(part) = described.part else {
            continue;
        };
        let alone = graph
            .cuts
            .iter()
            .filter(|other| other.part == Some(part))
            .count()
            == 1;
        let paths: Vec<usize> = described
            .paths
            .iter()
            .copied()
            .filter(|&path| graph.paths[path].to == crate::graph::End::Cut(cut))
            .collect();
        let plain = paths
            .iter()
            .all(|&path| graph.is_plain(semantics, terms, &graph.paths[path]));
        if !alone || !plain || !seen.insert(described.location) {
            continue;
        }
        let mut values = Values::new();
        for &id in &described.relevant {
            let sort = semantics.sort(terms, id);
            let name = format!("{}@any", semantics.layout.get(id).name);
            values.insert(id, terms.fresh(&name, sort));
        }
        for counting in [Counting::Off, Counting::On] {
            let given = terms.bool(true);
            let strategy = Strategy::new();
            let body = body(
                semantics, terms, graph, &paths, &values, &strategy, counting, given,
            );
            // A choice that is left open would be ours to make here; it is not.
            if body
                .system
                .steps
                .iter()
                .any(|step| !step.choices.is_empty())
            {
                break;
            }
            let Some(start) = entry(terms, &body, cut, &values) else {
                break;
            };
            let mut conditions = BTreeSet::new();
            let map: BTreeMap<TermId, TermId> = values
                .iter()
                .map(|(&id, &value)| (semantics.constant(terms, id), value))
                .filter(|(constant, _)| {
                    !body
                        .system
                        .variables
                        .iter()
                        .any(|v| v.constant == *constant)
                })
                .collect();
            for &path in &paths {
                for atom in hardbop_newton::atoms::atoms(terms, graph.paths[path].condition) {
                    conditions.insert(terms.substitute(atom, &map));
                }
            }
            let result = find(
                prover,
                terms,
                &body.system,
                &start,
                &conditions,
                body.counter,
                Directions::Forward,
            );
            if let Ok(leap) = result {
                let view = match &leap.view {
                    crate::theorem::View::Whole => body
                        .system
                        .variables
                        .iter()
                        .map(|variable| variable.name.clone())
                        .collect(),
                    crate::theorem::View::Of(positions) => positions[0]
                        .iter()
                        .map(|&at| body.system.variables[at].name.clone())
                        .collect(),
                };
                found.push(Ending {
                    head: described.location,
                    view,
                });
                break;
            }
        }
    }
    found
}
