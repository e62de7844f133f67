//! The search of a whole task: its options, and what it claims and tells.

use crate::chain::{Counting, Link, Strategy, Values, body, entry};
use crate::claim::claims;
use crate::describe::{LeapReport, describe};
use crate::graph::{Graph, NoGraph, PathId, Suggestion};
use crate::outright::{exactly, is_open_outside};
use crate::relax::relaxed;
use crate::replay::{length, replay};
use crate::search::{self, Chain, Counts, Judgement, Reach, Search};
use crate::strengthen::{Directions, find};
use hardbop_cfront::ids::{CheckId, ExprId, FuncId, LocId, VarId};
use hardbop_cfront::interp;
use hardbop_cfront::points_to;
use hardbop_engine::claim::{Given, Run, Script};
use hardbop_engine::{Answer, Claim, Desk, Ended, Event, Figure, Reason, Task, Turn};
use hardbop_logic::{Assignment, Limits, Prover, Sort, TermId, Terms};
use hardbop_model::passes::depths::with_depths;
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
    /// What is tried.
    pub effort: Effort,
}

/// What is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Only runs whose loops have closed forms, and not many of them: that takes no time.
    Exact,
    /// Those, and then abstract states that a solver is asked about.
    All,
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
            effort: Effort::All,
        }
    }
}

/// A loop that ends wherever it is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Its head.
    pub head: LocId,
    /// The variables that never come back to where they were.
    pub view: Vec<String>,
}

/// What a search has to tell besides its claims.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// The leaps on the way to the violated checks, with the location of every cut point.
    pub explanations: BTreeMap<CheckId, Vec<(LeapReport, Vec<LocId>)>>,
    /// The loops that end wherever they are entered.
    pub endings: Vec<Ending>,
}

/// Looks for runs that violate checks, through loops without unrolling them.
pub fn leap(task: &Task<'_>, options: &Options, desk: &mut dyn Desk) -> (Ended, Told) {
    let Some((program, depths)) = with_depths(task.model.program) else {
        return leap_in(
            task,
            &task.model.plain.semantics,
            &BTreeMap::new(),
            options,
            desk,
        );
    };
    match points_to::analyse(&program, task.budget) {
        Ok(points_to) => {
            let semantics = Semantics::new(&program, &points_to, Encoding::Bits);
            leap_in(task, &semantics, &depths, options, desk)
        }
        Err(stopped) => {
            let reason = Reason::Stopped(stopped);
            (Ended::open(task, &reason), Told::default())
        }
    }
}

/// The same in the task's program, or in that with variables for the depths of recursions.
fn leap_in(
    task: &Task<'_>,
    semantics: &Semantics<'_>,
    depths: &BTreeMap<FuncId, VarId>,
    options: &Options,
    desk: &mut dyn Desk,
) -> (Ended, Told) {
    let mut terms = Terms::new();
    let limits = Limits {
        time: Some(options.query_time),
        steps: None,
    };
    let mut prover = Prover::new(task.budget.clone(), limits);
    let checks: BTreeSet<CheckId> = task.checks.iter().copied().collect();
    let graph = Graph::new(
        semantics,
        &mut terms,
        &mut prover,
        &checks,
        &options.suggestion,
        depths,
    );
    let graph = match graph {
        Ok(graph) => Graph {
            is_of_the_program: depths.is_empty(),
            ..graph
        },
        Err(why) => {
            let reason = match why {
                NoGraph::TooLarge => Reason::TooLarge,
                NoGraph::Stopped(stopped) => Reason::Stopped(stopped),
            };
            return (Ended::open(task, &reason), Told::default());
        }
    };
    let mut told = Told::default();
    let mut open = BTreeMap::new();
    let mut sum = Counts::default();
    for (index, &check) in task.checks.iter().enumerate() {
        desk.event(Event {
            doing: "leaping".into(),
            open: task.checks.len() - index,
            figures: vec![
                Figure::count("leaps", sum.leaps),
                Figure::count("questions", prover.questions),
            ],
        });
        if !graph.checks.contains(&check) {
            open.insert(check, Reason::NoLeap);
            continue;
        }
        let (found, counts) = one(
            semantics,
            &mut terms,
            &mut prover,
            &graph,
            check,
            options,
            desk,
        );
        sum.attempts += counts.attempts;
        sum.leaps += counts.leaps;
        sum.chains += counts.chains;
        match found {
            Ok(leaps) => {
                let leaps = leaps.into_iter().map(|leap| {
                    let heads = leap.cuts.iter().map(|&cut| graph.cut(cut).location);
                    let heads = heads.collect();
                    (leap, heads)
                });
                told.explanations.insert(check, leaps.collect());
            }
            Err(reason) => _ = open.insert(check, reason),
        }
    }
    if options.endings == Endings::Find {
        prover.limits.time = Some(options.query_time.min(Duration::from_millis(500)));
        told.endings = endings(semantics, &mut terms, &mut prover, &graph);
    }
    let ended = Ended {
        open,
        // Leaping never speaks for all executions.
        incomplete: Some(Reason::NoLeap),
        statistics: vec![
            Figure::count("cut points", graph.cuts.len() as u64),
            Figure::count("paths", graph.paths.len() as u64),
            Figure::count("loops tried", sum.attempts),
            Figure::count("leaps", sum.leaps),
            Figure::count("chains", sum.chains as u64),
            Figure::count("questions", prover.questions),
            Figure::count("undecided questions", prover.undecided),
        ],
    };
    (ended, told)
}

/// Decides one check: the leaps on the way to its violation, or why it is open.
fn one(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    prover: &mut Prover,
    graph: &Graph,
    check: CheckId,
    options: &Options,
    desk: &mut dyn Desk,
) -> (Result<Vec<LeapReport>, Reason>, Counts) {
    // Where inputs come in before the loops, ports that speak of them tell more than one run does.
    let whole = prover.budget.clone();
    if options.effort == Effort::All && is_open_outside(terms, graph) {
        prover.budget = Turn::of(FIRST, &whole);
        let found = searched(semantics, terms, prover, graph, check, options, desk);
        prover.budget = whole;
        if found.0.is_ok() {
            return found;
        }
    }
    match exactly(semantics, terms, prover, graph, check, options, desk) {
        Ok(Some(found)) => return (found, Counts::default()),
        Ok(None) if options.effort == Effort::Exact => {
            return (Err(Reason::NoLeap), Counts::default());
        }
        Ok(None) => {}
        Err(stopped) => return (Err(Reason::Stopped(stopped)), Counts::default()),
    }
    searched(semantics, terms, prover, graph, check, options, desk)
}

/// How long abstract states are looked for before runs are followed.
const FIRST: Turn = Turn {
    parts: 1,
    of: 4,
    at_most: Duration::from_secs(20),
};

/// Decides one check by looking for abstract states to leap through.
fn searched(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    prover: &mut Prover,
    graph: &Graph,
    check: CheckId,
    options: &Options,
    desk: &mut dyn Desk,
) -> (Result<Vec<LeapReport>, Reason>, Counts) {
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
    let mut judged: Option<(Chain, Answer)> = None;
    let mut judge = |terms: &mut Terms, prover: &mut Prover, chain: &Chain| match concrete(
        semantics, terms, prover, graph, chain, options, desk,
    ) {
        Some(answer) => {
            judged = Some((chain.clone(), answer));
            Judgement::Accept
        }
        None => Judgement::Reject,
    };
    let ended = search.run(check, &mut judge);
    let counts = search.counts;
    let found = match judged {
        Some((_, Answer::Refused(reason))) => Err(reason),
        Some((chain, Answer::Accepted)) => {
            let mut leaps = Vec::new();
            for (at, link) in chain.links.iter().enumerate() {
                if let Link::Leap(leap) = link {
                    let after = &chain.links[at + 1..];
                    let leap = relaxed(semantics, terms, prover, graph, leap, after);
                    leaps.push(describe(semantics, terms, prover, &leap));
                }
            }
            Ok(leaps)
        }
        None => Err(match ended {
            search::Ended::Stopped(stopped) => Reason::Stopped(stopped),
            _ if counts.chains > 0 => Reason::NotConcrete,
            _ => Reason::NoLeap,
        }),
    };
    (found, counts)
}

/// Makes a chain concrete: inputs from a model, then a replay, or else the chain itself is
/// claimed. Gives what became of the claim; `None` if there is nothing to claim.
fn concrete(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    prover: &mut Prover,
    graph: &Graph,
    chain: &Chain,
    options: &Options,
    desk: &mut dyn Desk,
) -> Option<Answer> {
    let mut model = small_model(terms, prover, chain, &[])?;
    let mut length = length(terms, graph, chain, &model);
    let mut tried = Vec::new();
    while length <= u128::from(options.replay_steps) {
        let steps = options.replay_steps;
        let budget = prover.budget.clone();
        match replay(semantics, terms, graph, chain, &model, steps, &budget) {
            Ok(violation) => {
                let check = chain.check;
                let given = Given::Script(Script::of(&violation.run));
                return Some(desk.submit(Claim::Run(Run { check, given })));
            }
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
    // The desk knows the program as it was, without variables for depths.
    if !graph.is_of_the_program {
        return None;
    }
    let claims = claims(semantics, terms, graph, chain, &model, length, prover);
    claims
        .into_iter()
        .map(|chain| desk.submit(Claim::Chain(chain)))
        .find(|answer| *answer == Answer::Accepted)
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
            let unknowns = &graph.path(walk.path).unknowns;
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
    for (cut, described) in graph.cut_ids().zip(&graph.cuts) {
        let Some(part) = described.part else {
            continue;
        };
        let alone = graph
            .cuts
            .iter()
            .filter(|other| other.part == Some(part))
            .count()
            == 1;
        let paths: Vec<PathId> = described
            .paths
            .iter()
            .copied()
            .filter(|&path| graph.path(path).to == crate::graph::End::Cut(cut))
            .collect();
        let plain = paths
            .iter()
            .all(|&path| graph.is_plain(semantics, terms, graph.path(path)));
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
                for atom in hardbop_logic::atoms(terms, graph.path(path).condition) {
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
