//! The engine that looks for ranks: in every loop something that falls with every step.

use crate::system::{Known, Move, System};
use crate::tuples::{Found, Tuples, tuples};
use crate::words::{Word, words};
use hardbop_budget::Budget;
use hardbop_cfront::call_graph::callable;
use hardbop_cfront::ids::{CheckId, FuncId, LocId};
use hardbop_cfront::program::CheckKind;
use hardbop_engine::claim::{CallRank, Component, Invariants, Order, Rank, Ranking};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Figure, Place, Reason, Scope, Task};
use hardbop_graph::components;
use hardbop_houdini::{
    Arguments, Besides, Breadth, Elements, Fixpoint, Guessed, Products, fixpoint, spelt_instance,
};
use hardbop_logic::{Sort, TermId, Terms};
use hardbop_semantics::constants::{Constants, Meaning, Spelling};
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Looks for ranks.
#[derive(Clone, Debug)]
pub struct Ranks {
    /// The most time for invariants; `None` if ranks are looked for that need none.
    pub guessing: Option<Duration>,
}

impl Default for Ranks {
    fn default() -> Ranks {
        Ranks {
            guessing: Some(Duration::from_secs(60)),
        }
    }
}

impl Engine for Ranks {
    fn name(&self) -> &'static str {
        "rank"
    }

    fn scope(&self) -> Scope {
        Scope::Ends
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let checks = &task.model.program.checks;
        let about_ends = |id: &&CheckId| checks[id.index()].kind == CheckKind::Termination;
        let wanted: Vec<CheckId> = task.checks.iter().filter(about_ends).copied().collect();
        let mut search = Search {
            task,
            wanted,
            guessing: self.guessing,
            questions: 0,
        };
        let ended = search.run(desk);
        let statistics = vec![Figure::count("questions", search.questions)];
        match ended {
            Ok(()) => Ended {
                statistics,
                ..Ended::default()
            },
            Err(reason) => Ended {
                statistics,
                ..Ended::open(task, &reason)
            },
        }
    }
}

struct Search<'a> {
    task: &'a Task<'a>,
    wanted: Vec<CheckId>,
    guessing: Option<Duration>,
    questions: u64,
}

/// What is known, and in which words.
struct Facts {
    known: Known,
    words: Vec<TermId>,
    instances: Vec<(LocId, Vec<(usize, TermId)>)>,
}

impl Search<'_> {
    fn run(&mut self, desk: &mut dyn Desk) -> Result<(), Reason> {
        let view = &self.task.model.flat;
        let mut terms = Terms::new();
        let constants = Constants::new(&view.semantics, &mut terms);
        let ground = view.ground(&constants);
        let Some(steps) = ground.steps(&mut terms) else {
            return Err(Reason::Guesses);
        };
        let nothing = Facts {
            known: None,
            words: Vec::new(),
            instances: Vec::new(),
        };
        let mut reason = None;
        // Where something is not supported, it takes more to show that nobody comes there.
        if view.unsupported().is_empty() {
            match self.attempt(ground, &mut terms, &steps, nothing, desk) {
                Err(why @ (Reason::NoRank(_) | Reason::Recursion(_))) => reason = Some(why),
                other => return other,
            }
        }
        let Some(time) = self.guessing else {
            return Err(reason.unwrap_or(Reason::Guesses));
        };
        tell(desk, "guessing invariants", self.questions);
        let facts = match self.guess(ground, &mut terms, &steps, time)? {
            Some(facts) => facts,
            None => return Err(reason.unwrap_or(Reason::Guesses)),
        };
        self.attempt(ground, &mut terms, &steps, facts, desk)
    }

    /// Invariants of the program.
    fn guess(
        &mut self,
        ground: Ground<'_, '_>,
        terms: &mut Terms,
        steps: &[Step],
        time: Duration,
    ) -> Result<Option<Facts>, Reason> {
        let budget = within(self.task.budget, time);
        // Whatever decides where control goes in a loop matters, and what a call is entered with.
        let mut targets = BTreeSet::new();
        for (id, vertex) in ground.skeleton.numbered_vertices() {
            if !vertex.edges.is_empty() {
                targets.insert(id);
            }
        }
        let live = ground.live(terms, &targets, &budget);
        self.task.budget.check().map_err(Reason::Stopped)?;
        let Some(live) = live else {
            return Ok(None);
        };
        let guessed = Guessed {
            arguments: Arguments::Together,
            products: Products::Left,
            besides: Besides::Nothing,
            breadth: Breadth::Live,
            elements: Elements::Left,
            steps: u64::MAX,
        };
        let mut deaf = |_: &Fixpoint| {};
        let found = fixpoint(
            &ground,
            terms,
            steps,
            &live,
            guessed,
            BTreeMap::new(),
            &budget,
            &mut deaf,
        );
        let Ok(found) = found else {
            self.task.budget.check().map_err(Reason::Stopped)?;
            return Ok(None);
        };
        self.questions += found.questions;
        if let Some(construct) = found.unsupported {
            return Err(Reason::unsupported(ground.semantics.program, construct));
        }
        Ok(Some(Facts {
            known: Some(found.invariants),
            words: found.words,
            instances: found.instances,
        }))
    }

    /// Looks for ranks, by what is known, and claims them.
    fn attempt(
        &mut self,
        ground: Ground<'_, '_>,
        terms: &mut Terms,
        steps: &[Step],
        facts: Facts,
        desk: &mut dyn Desk,
    ) -> Result<(), Reason> {
        let program = ground.semantics.program;
        let mut system = System::new(ground, steps, terms, self.task.budget);
        system.patient = facts.known.is_some();
        let (moves, calls) = system.moves(&facts.known);
        tell(desk, "looking for ranks", self.questions);
        let found = loops(&mut system, &moves);
        self.questions += system.questions;
        let points = found?;
        system.questions = 0;
        let found = recursion(&mut system, &moves, &calls);
        self.questions += system.questions;
        let functions = found?;
        let claim = self.claim(ground, terms, facts, &points, &functions);
        let claim = claim.ok_or(Reason::Certificate)?;
        let claim = Claim::Ranking(Box::new(claim));
        match desk.submit(claim).refused() {
            None => Ok(()),
            Some(Reason::Certificate | Reason::Evidence) => Err(Reason::NoRank(Place::of(
                program,
                program.function(program.entry).entry,
            ))),
            Some(reason) => Err(reason),
        }
    }

    fn claim(
        &self,
        ground: Ground<'_, '_>,
        terms: &mut Terms,
        facts: Facts,
        points: &Levels<LocId>,
        functions: &Levels<FuncId>,
    ) -> Option<Ranking> {
        let mut spelling = Spelling::new(ground.semantics, terms);
        let widths = facts.words.iter().map(|&word| terms.width(word));
        let arbitrary: Vec<u32> = widths.collect();
        spelling.arbitrary(terms, &arbitrary);
        let cuts: Vec<LocId> = ground.skeleton.cuts.iter().copied().collect();
        let mut at = BTreeMap::new();
        match facts.known {
            Some(known) => {
                for (location, formula) in known {
                    at.insert(location, spelling.write(terms, formula)?);
                }
            }
            None => {
                let anything = terms.bool(true);
                let anything = spelling.write(terms, anything)?;
                at.extend(cuts.iter().map(|&cut| (cut, anything.clone())));
            }
        }
        let mut instances = Vec::new();
        for (at, instance) in facts.instances {
            instances.push(spelt_instance(&spelling, terms, at, &instance)?);
        }
        let mut components = |words: &[(Order, TermId)]| -> Option<Vec<Component>> {
            let one = |&(order, term): &(Order, TermId)| {
                let term = spelling.write(terms, term)?;
                Some(Component { order, term })
            };
            words.iter().map(one).collect()
        };
        let mut ranking = Ranking {
            checks: self.wanted.clone(),
            ..Ranking::default()
        };
        for (&at, (level, words)) in points {
            let (level, components) = (*level, components(words)?);
            ranking.ranks.push(Rank {
                at,
                level,
                components,
            });
        }
        for (&function, (level, words)) in functions {
            let (level, components) = (*level, components(words)?);
            ranking.calls.push(CallRank {
                function,
                level,
                components,
            });
        }
        ranking.invariants = Invariants {
            cuts,
            at,
            arbitrary,
            instances,
            ..Invariants::default()
        };
        Some(ranking)
    }
}

/// A level for each of something, and what falls on it.
type Levels<T> = BTreeMap<T, (u32, Vec<(Order, TermId)>)>;

/// The ranks of all cut points.
fn loops(system: &mut System<'_, '_>, moves: &[Move]) -> Result<Levels<LocId>, Reason> {
    let nodes: Vec<LocId> = system.ground.skeleton.cuts.iter().copied().collect();
    let number: BTreeMap<LocId, usize> = nodes.iter().copied().zip(0..).collect();
    let mut successors = vec![Vec::new(); nodes.len()];
    for step in moves {
        if let (Some(&from), Some(&to)) = (number.get(&step.from), number.get(&step.to)) {
            successors[from].push(to);
        }
    }
    let mut levels = Levels::new();
    for (level, members) in components(&successors).into_iter().enumerate() {
        let level = level as u32;
        let members: Vec<LocId> = members.into_iter().map(|member| nodes[member]).collect();
        let inside: Vec<Move> = moves
            .iter()
            .filter(|step| members.contains(&step.from) && members.contains(&step.to))
            .cloned()
            .collect();
        if inside.is_empty() {
            levels.extend(members.into_iter().map(|node| (node, (level, Vec::new()))));
            continue;
        }
        let taken: Vec<&Step> = inside.iter().map(|step| &system.steps[step.step]).collect();
        let words = words(&system.ground, system.terms, &taken);
        match tuples(system, members, inside, words)? {
            Found::Tuples(found) => {
                levels.extend(
                    found
                        .into_iter()
                        .map(|(node, words)| (node, (level, words))),
                );
            }
            Found::Stuck(at) => {
                let program = system.ground.semantics.program;
                return Err(Reason::NoRank(Place::of(program, at)));
            }
        }
    }
    Ok(levels)
}

/// The ranks of all calls.
fn recursion(
    system: &mut System<'_, '_>,
    moves: &[Move],
    calls: &[Move],
) -> Result<Levels<FuncId>, Reason> {
    let program = system.ground.semantics.program;
    let functions: Vec<FuncId> = callable(program).into_iter().collect();
    let owner = |location: LocId| program.locations[location.index()].function;
    let number: BTreeMap<FuncId, usize> = functions.iter().copied().zip(0..).collect();
    let mut successors = vec![Vec::new(); functions.len()];
    for call in calls {
        if let (Some(&from), Some(&to)) =
            (number.get(&owner(call.from)), number.get(&owner(call.to)))
        {
            successors[from].push(to);
        }
    }
    let mut levels = Levels::new();
    for (level, members) in components(&successors).into_iter().enumerate() {
        let level = level as u32;
        let members: Vec<FuncId> = members.into_iter().map(|at| functions[at]).collect();
        let inside: Vec<Move> = calls
            .iter()
            .filter(|call| members.contains(&owner(call.from)) && members.contains(&owner(call.to)))
            .cloned()
            .collect();
        if inside.is_empty() {
            levels.extend(
                members
                    .into_iter()
                    .map(|function| (function, (level, Vec::new()))),
            );
            continue;
        }
        let words = entry_words(system, &members, moves, &inside);
        let entries = members
            .iter()
            .map(|&function| program.function(function).entry);
        let found: Tuples = match tuples(system, entries.collect(), inside, words)? {
            Found::Tuples(found) => found,
            Found::Stuck(at) => {
                let name = program.function(owner(at)).name.clone();
                return Err(Reason::Recursion(name));
            }
        };
        levels.extend(
            found
                .into_iter()
                .map(|(entry, words)| (owner(entry), (level, words))),
        );
    }
    Ok(levels)
}

/// What functions that call each other look at and have from their callers.
fn entry_words(
    system: &mut System<'_, '_>,
    members: &[FuncId],
    moves: &[Move],
    calls: &[Move],
) -> Vec<Word> {
    let program = system.ground.semantics.program;
    let all = moves.iter().chain(calls);
    let inside =
        all.filter(|step| members.contains(&program.locations[step.from.index()].function));
    let taken: Vec<&Step> = inside.map(|step| &system.steps[step.step]).collect();
    let mut found = words(&system.ground, system.terms, &taken);
    let given: Vec<Vec<Word>> = members
        .iter()
        .map(|&function| parameters(system, function))
        .collect();
    let own: BTreeSet<TermId> = match given.as_slice() {
        [only] => only.iter().map(|word| word.term).collect(),
        _ => BTreeSet::new(),
    };
    let (semantics, constants) = (system.ground.semantics, system.ground.constants);
    found.retain(|word| {
        let terms = &*system.terms;
        let there = |constant: &TermId| match constants.meaning(*constant) {
            Some(Meaning::Now(id)) => {
                semantics.layout.get(id).owner.is_none() || own.contains(constant)
            }
            _ => false,
        };
        terms.free_constants(&[word.term]).iter().all(there)
    });
    if members.len() > 1 {
        found.extend(common_parameters(system, members, &given));
    }
    found
}

/// The scalar parameters of a function.
fn parameters(system: &mut System<'_, '_>, function: FuncId) -> Vec<Word> {
    let semantics = system.ground.semantics;
    let formals = &semantics.program.function(function).formals;
    let mut found = Vec::new();
    for index in 0..semantics.layout.variables().len() {
        let id = StateVarId(index as u32);
        let described = semantics.layout.get(id);
        let cell = matches!(described.kind, StateKind::Cell { .. });
        let formal = described
            .variable
            .and_then(|variable| formals.iter().position(|&formal| formal == variable));
        if let Some(position) = formal.filter(|_| cell) {
            let term = semantics.constant(system.terms, id);
            if matches!(system.terms.sort(term), Sort::BitVec(1..=64)) {
                let word = Word {
                    term,
                    signed: semantics.shape(id).signed,
                    wraps: false,
                };
                found.push((position, word));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, word)| word).collect()
}

/// Names for the parameters that several functions have in the same place.
fn common_parameters(
    system: &mut System<'_, '_>,
    members: &[FuncId],
    given: &[Vec<Word>],
) -> Vec<Word> {
    let program = system.ground.semantics.program;
    let shortest = given.iter().map(Vec::len).min().unwrap_or(0);
    let mut found = Vec::new();
    for position in 0..shortest {
        let first = given[0][position];
        let sort = system.terms.sort(first.term);
        let alike = |words: &Vec<Word>| {
            let word = words[position];
            system.terms.sort(word.term) == sort && word.signed == first.signed
        };
        if !given.iter().all(alike) {
            continue;
        }
        let name = system.terms.fresh("parameter", sort);
        for (&function, words) in members.iter().zip(given) {
            let entry = program.function(function).entry;
            let names = system.named.entry(entry).or_default();
            names.insert(name, words[position].term);
        }
        let word = Word {
            term: name,
            ..first
        };
        found.extend([
            word,
            // Also as it is without a sign.
            Word {
                signed: false,
                wraps: true,
                ..word
            },
        ]);
    }
    found
}

/// The same budget with an end of its own.
fn within(budget: &Budget, time: Duration) -> Budget {
    let left = budget.remaining().unwrap_or(Duration::MAX);
    let end = budget.elapsed() + time.min(left / 2);
    budget.clone().with_time(end)
}

fn tell(desk: &mut dyn Desk, doing: &'static str, questions: u64) {
    desk.event(Event {
        doing: doing.into(),
        open: 1,
        figures: vec![Figure::count("questions", questions)],
    });
}
