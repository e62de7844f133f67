//! Facts about all nodes of linked structures, by one node that is any of them.
//!
//! Where a program allocates nodes, its state gets ghosts that tell where ([`hardbop_semantics::births`]).
//! An arbitrary address stands for all nodes of a kind: what is guessed of it, if it is one, and
//! survives, holds for all of them. The guesses are clauses over literals: the program's conditions
//! about nodes and what it stores in them, said of the arbitrary node and of the nodes that it
//! points to; where its pointers lead; the program's conditions about plain variables. So lists are
//! described without any notion of what can be reached from where: the nodes behind a node with a
//! property have it, too, or are the last one.
//!
//! A step may use what is known of a point for each node that it touches: the *instances*, which
//! the claim names and the gate takes as well.

mod clauses;
mod guesses;
mod heap;
mod memory;
mod needed;
mod properties;
mod search;
mod traces;

use crate::fixpoint::{
    Arguments, Besides, Breadth, Elements, Fixpoint, Guessed, NoInvariants, Products, fixpoint,
};
use clauses::Size;
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::types::Type;
use hardbop_engine::claim::{Ghosts, Instance, Invariants};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Figure, Reason, Task};
use hardbop_facts::{Of, told};
use hardbop_logic::{Op, TermId, Terms};
use hardbop_model::View;
use hardbop_semantics::constants::{Constants, Meaning, Spelling};
use hardbop_semantics::layout::StateKind;
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{Ground, Step};
use heap::Heap;
use needed::needed;
use properties::{Apart, has_few_allocations, sizes};
use search::{Asked, Found, Known, search};
use std::collections::{BTreeMap, BTreeSet};

/// Guesses about nodes as an engine.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// The most questions about clauses of one size.
    pub questions: u64,
    /// The most edges of a program that is looked at.
    pub edges: usize,
}

impl Default for Nodes {
    fn default() -> Nodes {
        Nodes {
            questions: u64::MAX,
            edges: usize::MAX,
        }
    }
}

impl Engine for Nodes {
    fn name(&self) -> &'static str {
        "nodes"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        if task.model.flat.program.edges.len() > self.edges {
            return Ended::open(task, &Reason::Guesses);
        }
        desk.event(Event {
            doing: "guessing about nodes".into(),
            open: task.checks.len(),
            figures: Vec::new(),
        });
        let mut statistics = Vec::new();
        let claimed = self.claims(task, desk, &mut statistics);
        let submitted = claimed.and_then(|(short, long)| {
            let checks: BTreeSet<CheckId> = short.checks.iter().copied().collect();
            let refused = desk.submit(Claim::Invariants(short)).refused();
            let again = || desk.submit(Claim::Invariants(long)).refused();
            match refused.and_then(|_| again()) {
                None => Ok(checks),
                Some(reason) => Err(reason),
            }
        });
        let (proved, reason) = match submitted {
            Ok(checks) => (checks, None),
            Err(reason) => (BTreeSet::new(), Some(reason)),
        };
        let why = reason.clone().unwrap_or(Reason::Guesses);
        let open = task.checks.iter().filter(|check| !proved.contains(check));
        Ended {
            open: open.map(|&check| (check, why.clone())).collect(),
            incomplete: reason,
            statistics,
        }
    }
}

/// What clauses are made of, from what is soon decided on: nodes are told apart by more than what
/// they hold where that is needed.
const GROWING: [(Size, Apart); 9] = [
    (Size::Two, Apart::Nothing),
    (Size::Two, Apart::Allocations),
    (Size::Two, Apart::Traces),
    (Size::Three, Apart::Nothing),
    (Size::All, Apart::Nothing),
    (Size::Three, Apart::Allocations),
    (Size::Three, Apart::Traces),
    (Size::All, Apart::Allocations),
    (Size::All, Apart::Traces),
];

/// The most steps of the solver for what holds of plain variables.
const PLAIN: u64 = 500_000;

impl Nodes {
    /// What holds of plain variables: facts about nodes are made of less.
    fn plain(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        steps: &[Step],
        live: &BTreeMap<LocId, Live>,
        task: &Task<'_>,
    ) -> Result<BTreeMap<LocId, Vec<TermId>>, Reason> {
        let guessed = Guessed {
            elements: Elements::Left,
            arguments: Arguments::Together,
            products: Products::Left,
            besides: Besides::Nothing,
            breadth: Breadth::Live,
            steps: PLAIN,
        };
        let budget = task.budget;
        // Ranges cost no question, so they are known where guessing is given up.
        let mut ranges = told(ground, terms, live, Of::Live, budget).map_err(Reason::Stopped)?;
        for facts in ranges.values_mut() {
            facts.retain(|&fact| is_about_numbers(ground, terms, fact));
        }
        let mut deaf = |_: &Fixpoint| {};
        let found = fixpoint(
            ground,
            terms,
            steps,
            live,
            guessed,
            ranges.clone(),
            budget,
            &mut deaf,
        );
        match found {
            Ok(found) if found.unsupported.is_none() => {
                let facts = found.invariants.into_iter();
                let facts = facts.map(|(at, fact)| match terms.op(fact) {
                    Op::And => (at, terms.args(fact).to_vec()),
                    _ => (at, vec![fact]),
                });
                Ok(facts.collect())
            }
            Err(NoInvariants::Stopped(stopped)) => Err(Reason::Stopped(stopped)),
            _ => Ok(ranges),
        }
    }

    /// The invariants that are left of the guesses, if they exclude any violation: what a proof
    /// needs of them, and all.
    fn claims(
        &self,
        task: &Task<'_>,
        desk: &mut dyn Desk,
        statistics: &mut Vec<Figure>,
    ) -> Result<(Invariants, Invariants), Reason> {
        let view = task.model.flat.with_births();
        if view.semantics.layout.births().is_empty() {
            return Err(Reason::Guesses);
        }
        let mut terms = Terms::new();
        let constants = Constants::new(&view.semantics, &mut terms);
        let ground = view.ground(&constants);
        let errors = view.errors(task.checks);
        let targets = errors.values().flatten().copied().collect();
        let live = ground.live(&mut terms, &targets, task.budget);
        task.budget.check().map_err(Reason::Stopped)?;
        let (Some(live), Some(steps)) = (live, ground.relations(&mut terms)) else {
            return Err(Reason::Guesses);
        };
        let heap = Heap::new(&ground, &mut terms);
        if heap.kinds.is_empty() {
            return Err(Reason::Guesses);
        }
        let sizes = sizes(&ground, &mut terms, &heap, &steps);
        let nodes = (&heap, sizes.as_slice());
        let plain = self.plain(&ground, &mut terms, &steps, &live, task)?;
        // What smaller clauses of the same kind say.
        let mut small: BTreeMap<Apart, (BTreeMap<LocId, Vec<TermId>>, Known)> = BTreeMap::new();
        let mut proved: Vec<CheckId> = Vec::new();
        let mut best = Err(Reason::Guesses);
        let told_apart = heap.kinds.iter().any(has_few_allocations);
        for (size, apart) in GROWING {
            if apart == Apart::Allocations && !told_apart {
                continue;
            }
            let (given, known) = small
                .entry(apart)
                .or_insert_with(|| (plain.clone(), Known::new()));
            desk.event(Event {
                doing: doing(size, apart).into(),
                open: task.checks.len(),
                figures: Vec::new(),
            });
            let asked = Asked {
                size,
                apart,
                given,
                known,
                most: self.questions,
            };
            let found = search(
                &ground,
                &mut terms,
                &steps,
                &live,
                nodes,
                asked,
                task.budget,
            );
            if let Ok(found) = &found {
                desk.event(Event {
                    doing: "searched".into(),
                    open: task.checks.len(),
                    figures: vec![
                        Figure::count("questions", found.questions),
                        Figure::count(
                            "clauses",
                            found.invariants.values().map(Vec::len).sum::<usize>() as u64,
                        ),
                    ],
                });
            }
            let found = match found {
                Ok(found) => found,
                Err(ended) if proved.is_empty() => {
                    return Err(match ended {
                        NoInvariants::Stopped(stopped) => Reason::Stopped(stopped),
                        NoInvariants::Steps => Reason::Turn,
                        NoInvariants::Nothing => Reason::Guesses,
                    });
                }
                // What smaller clauses prove is proved.
                Err(_) => break,
            };
            let mut excluded = Vec::new();
            for (check, vertices) in &errors {
                let mut locations = vertices.iter().filter_map(|&at| view.location(at));
                if !locations.any(|at| found.invariants.contains_key(&at)) {
                    excluded.push(*check);
                }
            }
            if let Some(construct) = found.unsupported {
                if proved.is_empty() {
                    best = Err(Reason::unsupported(view.program, construct));
                }
                continue;
            }
            // What small clauses say is known to the larger ones.
            *given = found.invariants.clone();
            for (&at, pools) in &found.clauses {
                let all = known.entry(at).or_default();
                all.resize(pools.len(), Vec::new());
                for (all, pool) in all.iter_mut().zip(pools) {
                    all.extend(pool);
                }
            }
            if excluded.len() > proved.len() {
                proved = excluded;
                best = Ok(found);
            }
            if proved.len() == errors.len() {
                break;
            }
        }
        let found: Found = best?;
        let left: usize = found.invariants.values().map(Vec::len).sum();
        *statistics = vec![
            Figure::count("guesses left", left as u64),
            Figure::count("questions", found.questions),
        ];
        let session = memory::session(&ground, &mut terms, &heap, &sizes, task.budget);
        let short = needed(&ground, &mut terms, &steps, &found, session, task.budget);
        let short = short.map_err(Reason::Stopped)?;
        let facts: usize = short.invariants.values().map(Vec::len).sum();
        desk.event(Event {
            doing: "found what the proof needs".into(),
            open: task.checks.len(),
            figures: vec![
                Figure::count("facts", facts as u64),
                Figure::count("instances", short.instances.len() as u64),
            ],
        });
        let short = claimed(&view, &mut terms, proved.clone(), short)?;
        Ok((short, claimed(&view, &mut terms, proved, found)?))
    }
}

/// Whether a fact speaks of nothing but variables that are no pointers.
fn is_about_numbers(ground: &Ground<'_, '_>, terms: &Terms, fact: TermId) -> bool {
    let semantics = ground.semantics;
    let types = &semantics.program.types;
    terms.free_constants(&[fact]).into_iter().all(|constant| {
        let Some(Meaning::Now(id)) = ground.constants.meaning(constant) else {
            return false;
        };
        let described = semantics.layout.get(id);
        let is_number = |ty| !matches!(types.get(ty), Type::Pointer(_));
        matches!(described.kind, StateKind::Cell { .. }) && described.ty.is_some_and(is_number)
    })
}

/// What is looked for, in words.
fn doing(size: Size, apart: Apart) -> &'static str {
    match (size, apart) {
        (Size::Two, Apart::Nothing) => "guessing about nodes and what they point to",
        (Size::Two, Apart::Allocations) => "telling nodes apart by their allocations",
        (Size::Two, Apart::Traces) => "telling nodes apart by what came to them",
        (_, Apart::Nothing) => "guessing more about nodes",
        (_, Apart::Allocations) => "guessing more about nodes of each allocation",
        (_, Apart::Traces) => "guessing more about what came to nodes",
    }
}

/// What was found as a claim.
fn claimed(
    view: &View<'_>,
    terms: &mut Terms,
    checks: Vec<CheckId>,
    found: Found,
) -> Result<Invariants, Reason> {
    let mut spelling = Spelling::new(&view.semantics, terms);
    let widths = found.words.iter().map(|&word| terms.width(word));
    let arbitrary: Vec<u32> = widths.collect();
    spelling.arbitrary(terms, &arbitrary);
    let mut instances = Vec::new();
    for (at, kind, term) in found.instances {
        let word = kind.index();
        let term = spelling.write(terms, term);
        let term = term.ok_or(Reason::Certificate)?;
        instances.push(Instance {
            at,
            word,
            term,
            besides: Vec::new(),
        });
    }
    let mut at: BTreeMap<LocId, String> = BTreeMap::new();
    for (location, facts) in found.invariants {
        let formula = terms.and(&facts);
        let text = spelling.write(terms, formula);
        at.insert(location, text.ok_or(Reason::Certificate)?);
    }
    Ok(Invariants {
        checks,
        cuts: view.skeleton.cuts.iter().copied().collect(),
        at,
        arbitrary,
        instances,
        ghosts: Ghosts::Births,
        ..Invariants::default()
    })
}
