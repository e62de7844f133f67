//! Invariants by guessing: many candidates at once, those that fail dropped until the rest is
//! inductive (Flanagan and Leino: Houdini, an annotation assistant for ESC/Java, 2001; affine
//! relations from models after Reps, Sagiv and Yorsh, 2004).
//!
//! In come a `Program` and the checks that are still open; out come PROVED for those that the
//! invariants exclude, with the invariants as certificate, and UNKNOWN for the others. Everything
//! is done in the exact meaning, one block at a time, so the cost grows with the number of blocks
//! and not with the number of ways through them.

mod affine;
mod candidates;
mod cells;
mod chosen;
mod fixpoint;
mod local;
mod modes;
mod nodes;
mod objects;
mod place;
mod polynomials;
mod powers;
mod questions;
mod relations;
mod remembered;
mod samples;
mod solvers;
mod texts;
mod words;

use chosen::chosen_indices;
pub use fixpoint::{
    Arguments, Besides, Breadth, Elements, Fixpoint, Guessed, NoInvariants, Products, fixpoint,
};
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_engine::claim::{self, Instance, Invariants};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Figure, Reason, Task};
pub use hardbop_facts::Told;
use hardbop_facts::{Of, told};
use hardbop_logic::{TermId, Terms};
use hardbop_model::View;
use hardbop_semantics::constants::{Constants, Spelling};
use hardbop_semantics::folds::{Adding, Fold};
use local::{concerned, localised};
pub use nodes::Nodes;
use std::collections::{BTreeMap, BTreeSet};

/// Guessing as an engine.
#[derive(Clone, Debug)]
pub struct Houdini {
    /// The most steps of the solver in all, in its own measure: the same on every machine.
    pub steps: u64,
    /// The most edges of a program that is looked at.
    pub edges: usize,
    /// Whether elements of arrays are guessed about.
    pub elements: Elements,
    /// Whether arguments of recursive functions are told apart.
    pub arguments: Arguments,
    /// Whether equations between products are guessed.
    pub products: Products,
    /// What invariants may speak of besides what is live.
    pub besides: Besides,
    /// Of how much invariants speak at one point.
    pub breadth: Breadth,
    /// What is known before anything is guessed.
    pub told: Told,
}

impl Houdini {
    /// Guesses beside what the program's text says of numbers and pointers.
    pub fn told() -> Houdini {
        Houdini {
            told: Told::Facts,
            ..Houdini::default()
        }
    }

    /// Guesses that speak of what the program has forgotten, and was told once.
    pub fn remembering() -> Houdini {
        Houdini {
            elements: Elements::Left,
            besides: Besides::Remembered,
            ..Houdini::default()
        }
    }

    /// Guesses that speak of powers of two.
    pub fn of_powers() -> Houdini {
        Houdini {
            elements: Elements::Left,
            besides: Besides::Powers,
            ..Houdini::default()
        }
    }

    /// Guesses about how much room there is in what was allocated: buffers that grow, say.
    pub fn of_rooms() -> Houdini {
        Houdini {
            elements: Elements::Left,
            besides: Besides::Rooms,
            told: Told::Facts,
            ..Houdini::default()
        }
    }

    /// Guesses about where texts end, and how far each pointer has come, and about numbers that
    /// memory holds byte by byte.
    pub fn of_texts() -> Houdini {
        Houdini {
            elements: Elements::Left,
            besides: Besides::Texts,
            told: Told::Facts,
            ..Houdini::default()
        }
    }

    /// Guesses about products, from runs.
    pub fn of_products() -> Houdini {
        Houdini {
            products: Products::Needed,
            ..Houdini::default()
        }
    }

    /// Guesses about products of the arguments of recursive functions.
    pub fn of_arguments() -> Houdini {
        Houdini {
            elements: Elements::Left,
            products: Products::OfArguments,
            ..Houdini::default()
        }
    }
}

impl Default for Houdini {
    fn default() -> Houdini {
        Houdini {
            steps: u64::MAX,
            edges: usize::MAX,
            elements: Elements::Also,
            arguments: Arguments::Together,
            products: Products::Left,
            besides: Besides::Nothing,
            breadth: Breadth::Live,
            told: Told::Nothing,
        }
    }
}

impl Engine for Houdini {
    fn name(&self) -> &'static str {
        match self.products {
            Products::Left => "houdini",
            Products::Needed | Products::OfArguments => "polynomials",
        }
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        if task.model.flat.program.edges.len() > self.edges {
            return Ended::open(task, &Reason::Guesses);
        }
        let mut attempt = Attempt {
            task,
            told: self.told,
            guessed: Guessed {
                elements: self.elements,
                arguments: self.arguments,
                products: self.products,
                besides: self.besides,
                breadth: self.breadth,
                steps: self.steps,
            },
            statistics: Vec::new(),
        };
        let claimed = attempt.run(desk);
        let statistics = attempt.statistics;
        let (proved, reason) = match claimed {
            Ok(claim) => {
                let checks: BTreeSet<CheckId> = claim.checks.iter().copied().collect();
                match desk.submit(Claim::Invariants(claim)).refused() {
                    None => (checks, None),
                    Some(reason) => (BTreeSet::new(), Some(reason)),
                }
            }
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

struct Attempt<'a> {
    task: &'a Task<'a>,
    told: Told,
    guessed: Guessed,
    statistics: Vec<Figure>,
}

impl Attempt<'_> {
    /// The invariants that are left of the guesses, if they exclude any violation.
    fn run(&mut self, desk: &mut dyn Desk) -> Result<Invariants, Reason> {
        let view = &self.task.model.flat;
        let found = self.guess(view, desk);
        if self.guessed.elements == Elements::Left || !matches!(found, Err(Reason::Guesses)) {
            return found;
        }
        let chosen = chosen_indices(view.program);
        match chosen.is_subset(&view.skeleton.cuts) {
            true => found,
            false => self.guess(&view.cut_at(&chosen), desk),
        }
    }

    /// The same, with the cut points of a view.
    fn guess(&mut self, view: &View<'_>, desk: &mut dyn Desk) -> Result<Invariants, Reason> {
        let mut terms = Terms::new();
        let constants = Constants::new(&view.semantics, &mut terms);
        let ground = view.ground(&constants);
        let errors = view.errors(self.task.checks);
        let budget = self.task.budget;
        let targets = errors.values().flatten().copied().collect();
        let live = ground.live(&mut terms, &targets, budget);
        budget.check().map_err(Reason::Stopped)?;
        let (Some(mut live), Some(steps)) = (live, ground.relations(&mut terms)) else {
            return Err(Reason::Guesses);
        };
        if self.guessed.breadth == Breadth::Touched {
            localised(&ground, &terms, &steps, &mut live);
        }
        let told = match self.told {
            Told::Nothing => BTreeMap::new(),
            Told::Facts => {
                let of = match self.guessed.besides {
                    Besides::Texts => Of::All,
                    _ => Of::Live,
                };
                told(&ground, &mut terms, &live, of, budget).map_err(Reason::Stopped)?
            }
        };
        if self.guessed.breadth == Breadth::Touched {
            let checked = errors.values().flatten();
            let checked: Vec<LocId> = checked.filter_map(|&at| view.location(at)).collect();
            concerned(&ground, &checked, &mut live);
        }
        let open = self.task.checks.len();
        let mut tell = |found: &Fixpoint| {
            desk.event(Event {
                doing: "guessing".into(),
                open,
                figures: vec![Figure::count("questions", found.questions)],
            });
        };
        let found = fixpoint(
            &ground,
            &mut terms,
            &steps,
            &live,
            self.guessed,
            told,
            budget,
            &mut tell,
        );
        if self.guessed.products != Products::Left && matches!(found, Err(NoInvariants::Nothing)) {
            desk.event(Event {
                doing: "no products of unknown words, or no equations between them".into(),
                open,
                figures: Vec::new(),
            });
        }
        let found = found.map_err(|ended| match ended {
            NoInvariants::Stopped(stopped) => Reason::Stopped(stopped),
            NoInvariants::Steps => Reason::Turn,
            NoInvariants::Nothing => Reason::Guesses,
        })?;
        self.statistics = vec![
            Figure::count("guesses", found.guesses.0 as u64),
            Figure::count("guesses left", found.guesses.1 as u64),
            Figure::count("questions", found.questions),
        ];
        if let Some(construct) = found.unsupported {
            return Err(Reason::unsupported(view.program, construct));
        }
        let mut proved = Vec::new();
        for (check, vertices) in errors {
            let mut locations = vertices.into_iter().filter_map(|at| view.location(at));
            if !locations.any(|at| found.invariants.contains_key(&at)) {
                proved.push(check);
            }
        }
        // Without checks it is still worth knowing that nothing unsupported can be reached.
        if proved.is_empty() && !self.task.checks.is_empty() {
            return Err(Reason::Guesses);
        }
        let mut spelling = Spelling::new(&view.semantics, &mut terms);
        let widths = found.words.iter().map(|&word| terms.width(word));
        let arbitrary: Vec<u32> = widths.collect();
        spelling.arbitrary(&mut terms, &arbitrary);
        let mut folds = Vec::new();
        for (fold, steps) in found.folds {
            let fold = spelt_fold(&mut spelling, &mut terms, folds.len(), &fold, &steps);
            folds.push(fold.ok_or(Reason::Certificate)?);
        }
        let mut instances = Vec::new();
        for (at, instance) in found.instances {
            let instance = spelt_instance(&spelling, &mut terms, at, &instance);
            instances.push(instance.ok_or(Reason::Certificate)?);
        }
        let mut at: BTreeMap<LocId, String> = BTreeMap::new();
        for (location, formula) in found.invariants {
            let text = spelling.write(&mut terms, formula);
            at.insert(location, text.ok_or(Reason::Certificate)?);
        }
        Ok(Invariants {
            checks: proved,
            cuts: view.skeleton.cuts.iter().copied().collect(),
            at,
            arbitrary,
            folds,
            instances,
            ..Invariants::default()
        })
    }
}

/// A fold as claims have it, with where it is used. From then on its sums have a name in texts.
pub fn spelt_fold(
    spelling: &mut Spelling,
    terms: &mut Terms,
    number: usize,
    fold: &Fold,
    steps: &[(LocId, TermId)],
) -> Option<claim::Fold> {
    spelling.spell(terms, fold.element, &format!("element{number}#"));
    spelling.spell(terms, fold.sums, &format!("sums{number}#"));
    let mut written = Vec::new();
    for &(at, count) in steps {
        written.push((at, spelling.write(terms, count)?));
    }
    Some(claim::Fold {
        memory: spelling.write(terms, fold.memory)?,
        base: spelling.write(terms, fold.base)?,
        stride: fold.stride,
        bits: terms.width(fold.element),
        summand: spelling.write(terms, fold.summand)?,
        adding: match fold.adding {
            Adding::Sum => claim::Adding::Sum,
            Adding::Xor => claim::Adding::Xor,
        },
        steps: written,
    })
}

/// An instance as claims have it: the words, by their positions, with the terms in their places.
pub fn spelt_instance(
    spelling: &Spelling,
    terms: &mut Terms,
    at: LocId,
    instance: &[(usize, TermId)],
) -> Option<Instance> {
    let mut written = Vec::new();
    for &(word, term) in instance {
        written.push((word, spelling.write(terms, term)?));
    }
    let mut written = written.into_iter();
    let (word, term) = written.next()?;
    Some(Instance {
        at,
        word,
        term,
        besides: written.collect(),
    })
}
