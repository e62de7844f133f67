//! A check decided outright, by a run whose loops have closed forms: which chains are handed in, and
//! as what.

use crate::chain::Link;
use crate::check::{Effort, Options};
use crate::claim::claim;
use crate::describe::{LeapReport, describe_exact};
use crate::exact::{Exact, Wanted, exact};
use crate::graph::{Graph, PathId, Suggestion};
use crate::replay::{length, replay};
use crate::schedule::keys;
use crate::search::Chain;
use hardbop_budget::Stopped;
use hardbop_cfront::ids::CheckId;
use hardbop_engine::claim::{Given, Run, Script};
use hardbop_engine::{Answer, Claim, Desk, Reason};
use hardbop_logic::{Assignment, Prover, Terms};
use hardbop_semantics::Semantics;

/// Whether something is left open before, between or after the loops.
pub fn is_open_outside(terms: &Terms, graph: &Graph) -> bool {
    let outside = |&path: &PathId| graph.cut(graph.path(path).from).part.is_none();
    let paths: Vec<PathId> = graph.path_ids().filter(outside).collect();
    !keys(terms, graph, &paths).is_empty()
}

/// Decides a check by following runs whose leaps are exact; `None` if that does not decide it.
pub fn exactly(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    prover: &mut Prover,
    graph: &Graph,
    check: CheckId,
    options: &Options,
    desk: &mut dyn Desk,
) -> Result<Option<Result<Vec<LeapReport>, Reason>>, Stopped> {
    if !graph.is_of_the_program || options.suggestion != Suggestion::None {
        return Ok(None);
    }
    // Where inputs come in before the loops, others find smaller ones.
    if options.effort == Effort::Exact && is_open_outside(terms, graph) {
        return Ok(None);
    }
    let mut periods = graph.clone();
    let budget = prover.budget.clone();
    let mut accepted = None;
    let mut judge = |terms: &mut Terms, graph: &Graph, chain: &Chain, model: &Assignment| {
        let found = one_run(semantics, terms, prover, graph, chain, model, options, desk);
        if found == Some(Answer::Accepted) {
            accepted = Some(chain.clone());
        }
        accepted.is_some()
    };
    let parts = match options.effort {
        Effort::Exact => 3_000,
        Effort::All => 50_000,
    };
    let course = Wanted { check, parts };
    let found = exact(semantics, terms, &budget, &mut periods, &course, &mut judge)?;
    if let Some(chain) = accepted {
        let leaps = chain.links.iter().filter_map(|link| match link {
            Link::Leap(leap) => {
                let exactly = leap.exactly.as_ref()?;
                Some(describe_exact(semantics, terms, leap, exactly))
            }
            Link::Walk(_) => None,
        });
        return Ok(Some(Ok(leaps.collect())));
    }
    Ok(match found {
        Exact::Never => Some(Err(Reason::NoLeap)),
        _ => None,
    })
}

#[expect(clippy::too_many_arguments, reason = "all of it is about one run")]
/// Hands in the chain of a run: as the run, where that is short, else as it is, and where that is
/// refused, as the run after all.
fn one_run(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    prover: &mut Prover,
    graph: &Graph,
    chain: &Chain,
    model: &Assignment,
    options: &Options,
    desk: &mut dyn Desk,
) -> Option<Answer> {
    let length = length(terms, graph, chain, model);
    let budget = prover.budget.clone();
    let run = |terms: &mut Terms, desk: &mut dyn Desk| {
        let steps = options.replay_steps;
        let violation = replay(semantics, terms, graph, chain, model, steps, &budget).ok()?;
        let (check, given) = (chain.check, Given::Script(Script::of(&violation.run)));
        Some(desk.submit(Claim::Run(Run { check, given })))
    };
    if length <= u128::from(options.replay_steps.min(SHORT)) {
        return run(terms, desk);
    }
    let claim = claim(semantics, terms, graph, chain, model, length, prover)?;
    match desk.submit(Claim::Chain(claim)) {
        Answer::Accepted => Some(Answer::Accepted),
        _ if length <= u128::from(options.replay_steps) => run(terms, desk),
        refused => Some(refused),
    }
}

/// Runs of so many steps are replayed before anything else is tried: that takes no time.
const SHORT: u64 = 50_000;
