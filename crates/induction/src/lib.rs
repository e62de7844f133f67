//! Induction over several blocks (k-induction).
//!
//! In come a `Program` and the checks that are still open; out come PROVED for those that no
//! execution violates in its first `k` blocks, and none in the last one of any `k` blocks in a row,
//! from any state of which the invariants hold that guessing finds (`houdini`). What a check needs
//! to have been true a few rounds ago, a buffer that is passed on, say, is no invariant that anybody
//! would guess, and plain induction does not see it. Questions are asked of a SAT solver, on
//! circuits, one block more each time (Sheeran, Singh, Stålmarck: Checking safety properties using
//! induction and a SAT-solver, 2000; Donaldson, Haller, Kroening, Rümmer: Software verification
//! using k-induction, 2011). Programs in which calls are left after inlining are declined.

mod fragments;

use fragments::{Base, Ending, Fragment};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_circuit::{CircuitSolver, TOO_LARGE};
use hardbop_engine::claim::{self, Invariants};
use hardbop_engine::{Claim, Desk, Ended, Engine, Event, Figure, Reason, Task};
use hardbop_facts::{Of, told};
use hardbop_houdini::{
    Arguments, Besides, Breadth, Elements, Guessed, NoInvariants, Products, fixpoint,
};
use hardbop_logic::{Answer, Limits, Session, TermId, Terms, Unknown};
use hardbop_model::state::StateSize;
use hardbop_semantics::constants::{Constants, Spelling};
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::Ground;
use std::collections::BTreeMap;
use std::time::Duration;

/// Induction over several blocks as an engine.
#[derive(Clone, Debug)]
pub struct Induction {
    /// The most blocks.
    pub blocks: u32,
    /// The most edges of a program that is looked at.
    pub edges: usize,
    /// The largest state of a program that is looked at.
    pub state: StateSize,
    /// How large circuits may become, in nodes and looks at what was written to memory.
    pub nodes: usize,
    /// The most steps of the solver for invariants, in its own measure.
    pub steps: u64,
    /// The most time for one question.
    pub query_time: Duration,
}

impl Default for Induction {
    fn default() -> Induction {
        Induction {
            blocks: 64,
            edges: 20_000,
            state: StateSize {
                bits: 100_000,
                memories: 256,
            },
            nodes: 8_000_000,
            steps: 50_000_000,
            query_time: Duration::from_secs(20),
        }
    }
}

impl Induction {
    /// The same engine for a short while: few blocks of programs that are not large.
    pub fn short() -> Induction {
        Induction {
            blocks: 12,
            edges: 1_500,
            steps: 3_000_000,
            query_time: Duration::from_secs(1),
            nodes: 1_000_000,
            ..Induction::default()
        }
    }
}

impl Engine for Induction {
    fn name(&self) -> &'static str {
        "induction"
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let view = &task.model.flat;
        let state = StateSize::of(view);
        let reason = match (view.has_calls(), view.program.edges.len() > self.edges) {
            (true, _) => Some(Reason::NoBits("calls that could not be inlined")),
            (_, true) => Some(Reason::TooLarge),
            _ if !state.fits(self.state) => Some(Reason::NoBits("more state than it takes")),
            _ if task.checks.is_empty() => Some(Reason::Bound(0)),
            _ => None,
        };
        desk.event(Event {
            doing: "looking at the state".into(),
            open: task.checks.len(),
            figures: vec![
                Figure::count("bits", state.bits),
                Figure::count("memories", state.memories as u64),
            ],
        });
        if let Some(reason) = reason {
            return Ended::declined(task, desk, &reason);
        }
        let mut search = Search {
            engine: self,
            task,
            questions: 0,
            blocks: 0,
        };
        let reason = search.run(desk);
        let mut ended = match reason {
            Ok(()) => Ended::default(),
            Err(reason) => Ended::open(task, &reason),
        };
        ended.statistics = vec![
            Figure::count("blocks", search.blocks.into()),
            Figure::count("questions", search.questions),
        ];
        ended
    }
}

struct Search<'a> {
    engine: &'a Induction,
    task: &'a Task<'a>,
    questions: u64,
    blocks: u32,
}

impl Search<'_> {
    /// Claims all checks, or says why it does not.
    fn run(&mut self, desk: &mut dyn Desk) -> Result<(), Reason> {
        let (view, budget) = (&self.task.model.flat, self.task.budget);
        let mut terms = Terms::new();
        let constants = Constants::new(&view.semantics, &mut terms);
        let ground = view.ground(&constants);
        let errors = view.errors(self.task.checks);
        let targets = errors.values().flatten().copied().collect();
        let live = ground.live(&mut terms, &targets, budget);
        budget.check().map_err(Reason::Stopped)?;
        let live = live.ok_or(Reason::Guesses)?;
        let known = self.known(&ground, &mut terms, &live, budget)?;
        let invariants = written(&ground, &mut terms, &known)?;
        let mut sessions = [
            self.session(&ground, &mut terms),
            self.session(&ground, &mut terms),
        ];
        let mut base = Base::new(&ground, &mut terms, self.task.checks);
        let mut steps: Vec<Fragment> = Vec::new();
        for (&at, &formula) in &known {
            steps.push(Fragment::new(at, formula));
        }
        while self.blocks < self.engine.blocks {
            self.blocks += 1;
            desk.event(Event {
                doing: "induction".into(),
                open: self.task.checks.len(),
                figures: vec![Figure::count("blocks", self.blocks.into())],
            });
            budget.check().map_err(Reason::Stopped)?;
            let violated = base.next(&ground, &mut terms).ok_or(Reason::Refinement)?;
            if self.may_hold(&mut sessions[0], &terms, violated, budget)? {
                // Others look for the run.
                return Err(Reason::Bound(self.blocks));
            }
            let mut holds = true;
            let mut distinct = false;
            for step in &mut steps {
                budget.check().map_err(Reason::Stopped)?;
                let ending = step.next(&ground, &mut terms, &known, &live, self.task.checks);
                let Ending { violated, differ } = ending.ok_or(Reason::Refinement)?;
                if !holds || !self.may_hold(&mut sessions[1], &terms, violated, budget)? {
                    continue;
                }
                let simple = match differ {
                    Some(differ) => terms.and(&[violated, differ]),
                    None => violated,
                };
                if simple != violated && !self.may_hold(&mut sessions[1], &terms, simple, budget)? {
                    distinct = true;
                    continue;
                }
                holds = false;
            }
            if holds {
                let claim = claim::Induction {
                    checks: self.task.checks.to_vec(),
                    invariants: invariants.clone(),
                    blocks: self.blocks,
                    distinct,
                };
                let claim = Claim::Induction(Box::new(claim));
                return match desk.submit(claim).refused() {
                    None => Ok(()),
                    Some(reason) => Err(reason),
                };
            }
        }
        Err(Reason::Bound(self.blocks))
    }

    /// What guessing finds of each cut point that may be come to.
    fn known(
        &self,
        ground: &Ground<'_, '_>,
        terms: &mut Terms,
        live: &BTreeMap<LocId, Live>,
        budget: &Budget,
    ) -> Result<BTreeMap<LocId, TermId>, Reason> {
        let view = &self.task.model.flat;
        let steps = ground.steps(terms).ok_or(Reason::Guesses)?;
        let guessed = Guessed {
            elements: Elements::Left,
            arguments: Arguments::Together,
            products: Products::Left,
            besides: Besides::Nothing,
            breadth: Breadth::Live,
            steps: self.engine.steps,
        };
        let told = told(ground, terms, live, Of::Live, budget).map_err(Reason::Stopped)?;
        let found = fixpoint(
            ground,
            terms,
            &steps,
            live,
            guessed,
            told,
            budget,
            &mut |_| {},
        );
        let found = found.map_err(|ended| match ended {
            NoInvariants::Stopped(stopped) => Reason::Stopped(stopped),
            NoInvariants::Steps => Reason::Turn,
            NoInvariants::Nothing => Reason::Guesses,
        })?;
        match found.unsupported {
            Some(construct) => Err(Reason::unsupported(view.program, construct)),
            None => Ok(found.invariants),
        }
    }

    fn session(&self, ground: &Ground<'_, '_>, terms: &mut Terms) -> Session<'static> {
        let solver = Box::new(CircuitSolver::new().within(self.engine.nodes));
        let mut session = Session::new(solver, self.task.budget.clone());
        session.set_limits(Limits {
            time: Some(self.engine.query_time),
            steps: None,
        });
        for axiom in ground.semantics.axioms(terms) {
            session.assert(terms, axiom);
        }
        session
    }

    /// Whether a condition may have a model.
    fn may_hold(
        &mut self,
        session: &mut Session<'static>,
        terms: &Terms,
        condition: TermId,
        budget: &Budget,
    ) -> Result<bool, Reason> {
        self.questions += 1;
        let stopped = |stopped: Stopped| Reason::Stopped(stopped);
        match session.check(terms, &[condition]) {
            Answer::Unsat => Ok(false),
            Answer::Sat => Ok(true),
            Answer::Unknown(Unknown::Stopped(why)) => {
                budget.check().map_err(stopped)?;
                Err(stopped(why))
            }
            Answer::Unknown(Unknown::GaveUp(why)) if why == TOO_LARGE => {
                Err(Reason::NoBits("circuits that are too large"))
            }
            Answer::Unknown(why) => Err(Reason::Solver(why.to_string())),
        }
    }
}

/// Invariants as a part of a claim.
fn written(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    known: &BTreeMap<LocId, TermId>,
) -> Result<Invariants, Reason> {
    let spelling = Spelling::new(ground.semantics, terms);
    let mut at = BTreeMap::new();
    for (&location, &formula) in known {
        let text = spelling.write(terms, formula);
        at.insert(location, text.ok_or(Reason::Certificate)?);
    }
    Ok(Invariants {
        checks: Vec::<CheckId>::new(),
        cuts: ground.skeleton.cuts.iter().copied().collect(),
        at,
        ..Invariants::default()
    })
}
