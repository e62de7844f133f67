//! What an engine found out, as results for people and for machines.

mod json;

pub use json::{Body, body};

use crate::cli::ShownRuns;
use crate::commands::shown::steps;
use crate::console::Console;
use crate::failure::Verdict;
use hardbop_budget::Budget;
use hardbop_cfront::ids::{CheckId, EdgeId, LocId};
use hardbop_cfront::program::{Op, Program};
use hardbop_cfront::types::Type;
use hardbop_engine::claim::{Chain, Link};
use hardbop_engine::{Claim, Value};
use hardbop_gate::{Outcome, Proof, Refutation, Report};
use hardbop_model::stages::Following;
use hardbop_portfolio::{Depth, Found, Invariant, ShownSet};
use hardbop_report::collect::{Collector, Endless, Leapt, Said, Then};
use hardbop_report::results::{Answer, Bounded, Predicate, Results};
use hardbop_report::rows::Detail;
use hardbop_report::terminal::{self, Paint, Show};
use std::collections::BTreeMap;
use std::time::Duration;

/// What is made of failing runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// Nothing but their inputs.
    None,
    /// The user's lines.
    Lines(Detail),
    /// The edges of the control-flow graph.
    Edges,
}

impl Paths {
    /// What the user asked for.
    pub fn of(runs: &ShownRuns) -> Paths {
        match runs {
            ShownRuns { no_trace: true, .. } => Paths::None,
            ShownRuns { trace: true, .. } => Paths::Edges,
            ShownRuns { full: true, .. } => Paths::Lines(Detail::Full),
            _ => Paths::Lines(Detail::Relevant),
        }
    }

    fn detail(self) -> Option<Detail> {
        match self {
            Paths::Lines(detail) => Some(detail),
            Paths::None | Paths::Edges => None,
        }
    }
}

/// Collects what was found out about a program, after a search that used so much.
pub fn collect(program: &Program, found: &Found, paths: Paths, used: &Budget) -> Results {
    let budget = repeating(used);
    let report = &found.report;
    let rule = program.rules.first().map(|rule| rule.name.clone());
    let mut collector = Collector::new(program);
    for (&id, outcome) in &report.outcomes {
        match outcome {
            Outcome::Proved(_) => collector.check(id, Said::Proved, &budget),
            Outcome::Unknown(reason) => {
                let reason_text = reason.to_string();
                let said = match found.bounded.get(&id) {
                    Some(&Depth { reached, wanted }) => Said::Bounded(Bounded {
                        depth: reached,
                        wanted,
                        reason: reason_text,
                    }),
                    None => Said::Unknown(reason_text),
                };
                collector.check(id, said, &budget);
                collector.next_step(reason.next_step());
            }
            Outcome::Violated(refutation) => {
                let said = match (refutation.run(), refutation.claim()) {
                    (Some(run), _) => Said::Violated(run),
                    (None, Claim::Chain(chain)) => {
                        Said::Leapt(chain_told(program, chain, refutation.questions()))
                    }
                    (None, Claim::Lasso(_) | Claim::Recurrence(_)) => {
                        endless(program, found, id, refutation)
                    }
                    (None, _) => Said::Unknown(String::new()),
                };
                collector.check(id, said, &budget);
                if let (Paths::Edges, Some(run)) = (paths, refutation.run()) {
                    collector.edges(steps(program, &run.trace));
                }
            }
        }
    }
    for (&location, invariant) in &found.invariants {
        let Invariant {
            formula,
            plain,
            contract,
        } = invariant.clone();
        collector.invariant(location, formula, plain, contract);
    }
    for rank in &found.ranks {
        collector.rank(rank.at, rank.words.clone());
    }
    let results = collector.results();
    results.incomplete = report.incomplete.as_ref().map(ToString::to_string);
    results.predicates = found
        .predicates
        .iter()
        .map(|predicate| Predicate {
            function: predicate.procedure.clone(),
            formula: predicate.formula.clone(),
            rule: rule.clone(),
        })
        .collect();
    let proofs = report.proofs().into_iter();
    results.evidence = proofs
        .map(|proof| evidence(proof, rule.as_deref()))
        .collect();
    for invariant in &mut results.invariants {
        invariant.rule.clone_from(&rule);
    }
    collector.finish()
}

/// An execution that never ends, as people read it.
fn endless<'a>(
    program: &Program,
    found: &Found,
    id: CheckId,
    refutation: &'a Refutation,
) -> Said<'a> {
    let Some((run, seen)) = refutation.endless() else {
        return Said::Unknown(String::new());
    };
    let (stem, then) = match refutation.claim() {
        Claim::Lasso(lasso) => {
            let (cycle, inputs) = (lasso.cycle, seen.cycle_inputs);
            (lasso.stem, Then::Again { cycle, inputs })
        }
        Claim::Recurrence(claim) => (claim.stem, stays(program, found.sets.get(&id))),
        _ => return Said::Unknown(String::new()),
    };
    let told = Endless {
        at: program.edges[seen.edge.index()].source,
        stem,
        stem_inputs: seen.stem_inputs,
        then,
    };
    Said::Endless(run, told)
}

/// A set of states that need not be left, as people read it.
fn stays(program: &Program, shown: Option<&ShownSet>) -> Then {
    let shown = shown.cloned().unwrap_or_default();
    let at = |location: LocId| {
        let function = program.locations[location.index()].function;
        let first = program.edges_from(location).next();
        first.map_or(program.function(function).source, |(_, edge)| edge.source)
    };
    let sets = shown
        .sets
        .into_iter()
        .map(|(location, set)| (at(location), set));
    let chosen = shown.chosen.into_iter().map(|(edge, value)| {
        let edge = &program.edges[edge.index()];
        let name = match &edge.op {
            Op::Input { name, .. } => name.clone(),
            _ => "(something unknown)".to_owned(),
        };
        (edge.source, name, value)
    });
    Then::Stays {
        sets: sets.collect(),
        chosen: chosen.collect(),
    }
}

/// A chain of must transitions as people read it. An input that may be anything is 0.
pub(super) fn chain_told(program: &Program, chain: &Chain, questions: u64) -> Leapt {
    let mut inputs = Vec::new();
    let mut loops = Vec::new();
    for link in &chain.links {
        match link {
            Link::Walk(walk) => {
                let mut met: BTreeMap<EdgeId, usize> = BTreeMap::new();
                for step in &walk.moves {
                    let id = step.edge();
                    let edge = &program.edges[id.index()];
                    let Op::Input { name, place } = &edge.op else {
                        continue;
                    };
                    let signed = match program.types.get(program.place(*place).ty) {
                        Type::Int { signed, .. } => *signed,
                        _ => false,
                    };
                    let before = met.entry(id).or_default();
                    let key = (id, *before);
                    *before += 1;
                    let chosen = walk.choices.iter().find(|(known, _)| *known == key);
                    let value = match chosen {
                        Some((_, text)) => number(text, signed),
                        None => "0".to_owned(),
                    };
                    inputs.push((edge.source, name.clone(), value));
                }
            }
            Link::Leap(leap) => {
                let head = leap.nodes.get(leap.entry).map(|node| node.location);
                let edge = head.and_then(|head| program.edges_from(head).next());
                loops.extend(edge.map(|(_, edge)| edge.source));
            }
        }
    }
    Leapt {
        inputs,
        loops,
        length: chain.length.clone(),
        questions,
    }
}

/// A literal of SMT-LIB as C has it.
fn number(text: &str, signed: bool) -> String {
    let (digits, radix, width) = match text.split_at_checked(2) {
        Some(("#x", digits)) => (digits, 16, 4 * digits.len()),
        Some(("#b", digits)) => (digits, 2, digits.len()),
        _ => return text.to_owned(),
    };
    match u128::from_str_radix(digits, radix) {
        Ok(bits) if signed && width < 128 && bits >> (width - 1) == 1 => {
            (bits as i128 - (1i128 << width)).to_string()
        }
        Ok(bits) => bits.to_string(),
        Err(_) => text.to_owned(),
    }
}

/// How what is proved was shown, in words.
fn evidence(proof: &Proof, rule: Option<&str>) -> String {
    let questions = proof.questions();
    let words = match proof.claim() {
        Claim::Nowhere(_) => "no code that can be called violates it".to_owned(),
        Claim::Invariants(invariants) => format!(
            "invariants at {} places; that each block leads from one to the next and none admits a violation was \
             asked of the solver again, in {questions} questions, in the exact arithmetic of the machine",
            invariants.at.len()
        ),
        Claim::Induction(induction) => format!(
            "induction over {} blocks: no execution violates it in as many, and none does in the next one; both, and the \
             invariants that this rests on, were asked of the solver again, in {questions} questions",
            induction.blocks
        ),
        Claim::Clauses(clauses) => format!(
            "{} clauses over the choices of the program, each checked again by other means, that leave no path",
            clauses.clauses.len()
        ),
        Claim::Unrolling(unrolling) => format!(
            "all executions were followed to their ends, {}; {questions} conditions without a model, \
             each found by two solvers",
            match unrolling.following {
                Following::Blocks => format!("at most {} blocks", unrolling.layers),
                Following::Points => format!("through {} points", unrolling.layers),
            }
        ),
        Claim::OnlyRun(run) => {
            let steps = run.steps;
            format!("there is one execution only, and it was run: {steps} steps")
        }
        Claim::Ranking(ranking) => {
            let ranked = ranking.ranks.iter();
            let loops = ranked.filter(|rank| !rank.components.is_empty()).count();
            format!(
                "something falls with every step, in lexicographic order, at {loops} places in loops; that was asked \
                 of the solver again, in {questions} questions, in the exact arithmetic of the machine"
            )
        }
        // These are no proofs.
        Claim::Run(_) | Claim::Chain(_) | Claim::Lasso(_) | Claim::Recurrence(_) => String::new(),
    };
    match rule {
        Some(rule) => format!("rule {rule}: {words}"),
        None => words,
    }
}

/// Adds what the search took. Counts of several searches are added up.
pub fn statistics(results: &mut Results, reports: &[&Report], used: &Budget) {
    let seconds = used.elapsed().as_secs_f64();
    let mut figures: Vec<hardbop_engine::Figure> = Vec::new();
    for next in reports.iter().flat_map(|report| &report.statistics) {
        match figures.iter_mut().find(|known| known.name == next.name) {
            None => figures.push(next.clone()),
            Some(known) => {
                if let (Value::Count(sum), Value::Count(more)) = (&mut known.value, &next.value) {
                    *sum += more;
                }
            }
        }
    }
    let figure = |figure: &hardbop_engine::Figure| {
        let value = match &figure.value {
            Value::Count(count) => serde_json::json!(count),
            Value::Big(count) => serde_json::json!(count.to_string()),
            Value::Share(share) => serde_json::json!(share),
            Value::Flag(flag) => serde_json::json!(flag),
        };
        hardbop_report::results::Figure {
            key: figure.key(),
            text: figure.to_string(),
            value,
        }
    };
    results.statistics = figures.iter().map(figure).collect();
    results.statistics.push(hardbop_report::results::Figure {
        key: "seconds".to_owned(),
        text: format!("{seconds:.2} s"),
        value: serde_json::json!(seconds),
    });
}

/// What repeating a run may use, after a search that used so much: what is left of it. Most runs
/// take no time, and a limit that ended the search shall not cut the report of those short.
pub fn repeating(used: &Budget) -> Budget {
    let left = used.remaining().unwrap_or(Duration::MAX);
    let time = left.clamp(Duration::from_millis(500), Duration::from_secs(20));
    Budget::unlimited().with_time(time)
}

/// The worst answer decides: a violation, then anything unknown.
pub fn verdict(results: &Results) -> Verdict {
    let any = |wanted: fn(&Answer) -> bool| results.checks.iter().any(|c| wanted(&c.answer));
    let far_enough =
        |answer: &Answer| matches!(answer, Answer::Bounded(far) if far.depth >= far.wanted);
    let mut open = results.checks.iter().filter(|check| check.answer.is_open());
    if any(|answer| matches!(answer, Answer::Violated(_))) {
        Verdict::Found
    } else if any(Answer::is_open) && open.all(|check| far_enough(&check.answer)) {
        Verdict::Bounded
    } else if results.incomplete.is_some() || any(Answer::is_open) {
        Verdict::Unknown
    } else {
        Verdict::Fine
    }
}

impl Paint for Console {
    fn paint(&self, code: &str, text: &str) -> String {
        Console::paint(self, code, text)
    }
}

/// The results as text.
pub fn text(results: &Results, paths: Paths, show: Show, console: &Console) -> String {
    let show = Show {
        path: paths.detail(),
        ..show
    };
    terminal::text(results, show, console)
}
