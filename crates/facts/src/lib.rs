//! Cheap facts: what a program's text says of its numbers and pointers, without any solver.
//!
//! In comes a program, with its calls kept or inlined; out comes, for every location, between which
//! numbers its variables are, into which objects its pointers point and how far, what arrays hold, and
//! where control never comes: an abstract interpretation with widening (Cousot and Cousot, POPL 1977). Nobody
//! takes its word: what it finds is claimed like all else, and candidates for those who guess.

mod contents;
mod ends;
mod eval;
mod flow;
mod heap;
mod objects;
mod reads;
mod refine;
mod spell;
mod start;
mod state;
mod told;
mod touched;
mod value;

pub use told::{Of, Told, about_live, told};

use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_engine::claim::{Instance, Invariants};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Figure, Reason, Task};
use hardbop_logic::{Sort, TermId, Terms};
use hardbop_semantics::Semantics;
use hardbop_semantics::constants::{Constants, Spelling};
use hardbop_semantics::ownership::IDENTITY;
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a program.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What is known at the cut points that control may come to, each fact a formula about the
    /// state there.
    pub at: BTreeMap<LocId, Vec<TermId>>,
    /// What is known there of all elements of arrays, said of the element at an arbitrary address.
    pub elements: BTreeMap<LocId, Vec<TermId>>,
    /// What is known there of all objects on the heap, said of the one of an arbitrary identity.
    pub objects: BTreeMap<LocId, Vec<TermId>>,
    /// What is not supported and control may come to, in the program's list of such.
    pub unsupported: Option<u32>,
}

/// Whether what arrays hold is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrays {
    /// It is not: what is known of plain variables costs next to nothing, and so does its proof.
    Left,
    /// It is.
    Followed,
    /// It is, and what objects on the heap hold, too.
    AndHeap,
}

/// Larger programs are not followed with what their arrays hold: there is much of that, and what
/// is known of each element is a question at each step.
const EDGES: usize = 4_000;

impl Arrays {
    /// What suits a program.
    pub fn of(program: &Program) -> Arrays {
        match program.edges.len() <= EDGES {
            true => Arrays::Followed,
            false => Arrays::Left,
        }
    }
}

/// Works out what is known.
pub fn facts(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    arrays: Arrays,
    budget: &Budget,
) -> Result<Facts, Stopped> {
    let known = flow::flow(ground, arrays, budget)?;
    let mut facts = Facts::default();
    let frees = touched::frees(ground.semantics);
    for (&at, state) in &known {
        if ground.skeleton.cuts.contains(&at) {
            let function = ground.semantics.program.locations[at.index()].function;
            let mut formulas = spell::formulas(ground.semantics, terms, state);
            let word = identity(terms);
            let mut objects = objects::others(ground.semantics, terms, state, word);
            let about = (function, &frees[function.index()]);
            let entry = ground.semantics.program.function(function).entry;
            let states = (known.get(&entry).unwrap_or(state), state);
            let (grows, same) = objects::kept(ground, terms, about, states, word);
            formulas.extend(grows);
            objects.extend(same);
            facts.at.insert(at, formulas);
            if !objects.is_empty() {
                facts.objects.insert(at, objects);
            }
            let word = self::word(ground, terms);
            let elements = spell::elements(ground.semantics, terms, state, word);
            if !elements.is_empty() {
                facts.elements.insert(at, elements);
            }
        }
        for (_, edge) in ground.semantics.program.edges_from(at) {
            if let Op::Unsupported { construct } = edge.op {
                facts.unsupported = Some(construct);
            }
        }
    }
    Ok(facts)
}

/// The arbitrary address of an element, as claims call it.
fn word(ground: &Ground<'_, '_>, terms: &mut Terms) -> TermId {
    let width = ground.semantics.pointer_shape().width;
    terms.constant(" any0", Sort::BitVec(width))
}

/// The arbitrary identity of an object, as claims call it.
fn identity(terms: &mut Terms) -> TermId {
    terms.constant(" any1", Sort::BitVec(IDENTITY.width))
}

/// What the engine is called.
pub const FACTS: &str = "facts";

/// Facts as an engine: what they exclude is claimed.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheapFacts {
    /// Of what.
    pub about: About,
}

/// What facts are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// Whatever costs little.
    #[default]
    All,
    /// Objects on the heap, and what leads to them; where there are none, nothing is claimed.
    Heap,
}

impl Engine for CheapFacts {
    fn name(&self) -> &'static str {
        FACTS
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let mut open = task.checks.to_vec();
        let mut reason = None;
        let mut accepted = false;
        for arrays in ways(&task.model.flat.semantics, self.about) {
            if open.is_empty() && !task.checks.is_empty() {
                break;
            }
            let task = Task {
                checks: &open,
                ..*task
            };
            reason = match claimed(&task, arrays, desk) {
                Ok(claim) => {
                    let checks: BTreeSet<CheckId> = claim.checks.iter().copied().collect();
                    let refused = desk.submit(Claim::Invariants(claim)).refused();
                    if refused.is_none() {
                        accepted = true;
                        open.retain(|check| !checks.contains(check));
                    }
                    refused
                }
                Err(reason) => Some(reason),
            };
        }
        let why = reason.clone().unwrap_or(Reason::Guesses);
        Ended {
            open: open.into_iter().map(|check| (check, why.clone())).collect(),
            incomplete: reason.filter(|_| !accepted),
            statistics: Vec::new(),
        }
    }
}

/// What is followed, from what is cheap on.
fn ways(semantics: &Semantics<'_>, about: About) -> Vec<Arrays> {
    let large = Arrays::of(semantics.program) == Arrays::Left;
    let heap = !large && !heap::classes(semantics).is_empty();
    match (about, heap) {
        (About::All, true) => vec![Arrays::Left, Arrays::Followed, Arrays::AndHeap],
        (About::All, false) if large => vec![Arrays::Left],
        (About::All, false) => vec![Arrays::Left, Arrays::Followed],
        (About::Heap, true) => vec![Arrays::AndHeap],
        (About::Heap, false) => Vec::new(),
    }
}

/// What is known as invariants, if they exclude any violation.
fn claimed(task: &Task<'_>, arrays: Arrays, desk: &mut dyn Desk) -> Result<Invariants, Reason> {
    let view = &task.model.flat;
    let mut terms = Terms::new();
    let constants = Constants::new(&view.semantics, &mut terms);
    let ground = view.ground(&constants);
    let facts = facts(&ground, &mut terms, arrays, task.budget).map_err(Reason::Stopped)?;
    if let Some(construct) = facts.unsupported {
        return Err(Reason::unsupported(view.program, construct));
    }
    let mut reached = BTreeSet::new();
    for &at in facts.at.keys() {
        if let LocationKind::Error(check) = view.program.locations[at.index()].kind {
            reached.insert(check);
        }
    }
    let checks: Vec<CheckId> = task
        .checks
        .iter()
        .copied()
        .filter(|check| !reached.contains(check))
        .collect();
    desk.event(Event {
        doing: "following ranges".into(),
        open: reached.len(),
        figures: vec![Figure::count("points", facts.at.len() as u64)],
    });
    if checks.is_empty() {
        return Err(Reason::Guesses);
    }
    let mut spelling = Spelling::new(&view.semantics, &mut terms);
    let read = reads::reads(&ground, &mut terms, &facts.elements);
    let identified = reads::identities(&ground, &mut terms, &facts.objects);
    let mut arbitrary = Vec::new();
    if !(facts.elements.is_empty() && facts.objects.is_empty()) {
        arbitrary = vec![view.semantics.pointer_shape().width, IDENTITY.width];
    }
    spelling.arbitrary(&mut terms, &arbitrary);
    let mut instances = Vec::new();
    for (word, read) in [read, identified].into_iter().enumerate() {
        for (at, at_terms) in read {
            for term in at_terms {
                let term = spelling.write(&mut terms, term);
                instances.push(Instance {
                    at,
                    word,
                    term: term.ok_or(Reason::Certificate)?,
                    besides: Vec::new(),
                });
            }
        }
    }
    let mut at = BTreeMap::new();
    for (location, mut known) in facts.at {
        known.extend(facts.elements.get(&location).into_iter().flatten());
        known.extend(facts.objects.get(&location).into_iter().flatten());
        let formula = terms.and(&known);
        let text = spelling.write(&mut terms, formula);
        at.insert(location, text.ok_or(Reason::Certificate)?);
    }
    Ok(Invariants {
        checks,
        cuts: view.skeleton.cuts.iter().copied().collect(),
        at,
        arbitrary,
        instances,
        ..Invariants::default()
    })
}
