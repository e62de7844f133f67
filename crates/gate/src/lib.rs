//! The gate: the only place where a claim becomes PROVED or VIOLATED, and only by being checked.
//!
//! In comes a [`Claim`], data that somebody says about a program; out comes [`Evidence`], or why
//! the claim does not count. There is one check for each kind of claim, a file each. What is
//! trusted is small: the program and the meaning of its edges (`cfront`, `semantics`), which have
//! checkers and tests of their own, the solver's word `unsat`, the interpreter, and this crate,
//! which depends on nothing that searches. It finds its own way through the program
//! (`steps.rs`) and asks a solver of its own.
//!
//! The types see to it: [`Proof`] and [`Refutation`] cannot be made elsewhere, and an [`Outcome`]
//! that says more than UNKNOWN holds one of them.

mod alone;
mod apart;
mod bits;
mod cases;
mod chain;
mod clauses;
mod determined;
mod files;
mod folds;
mod induction;
mod invariants;
mod lasso;
mod nowhere;
mod ranking;
mod recurrence;
mod runs;
mod steps;
mod unrolling;

pub use alone::{Report, alone, alone_telling};
pub use lasso::Endless;

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::interp;
use hardbop_cfront::program::CheckKind;
use hardbop_engine::{Claim, Reason};
use hardbop_logic::{Answer, Limits, Session, Solver, Terms, Unknown, Z3Options, Z3Solver};
use hardbop_model::Model;
use hardbop_semantics::Semantics;
use std::sync::Arc;
use std::time::Duration;

/// What is known of a check.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// No execution violates it.
    Proved(Arc<Proof>),
    /// An execution does.
    Violated(Arc<Refutation>),
    /// Neither is known.
    Unknown(Reason),
}

impl Outcome {
    /// Whether the check is decided.
    pub fn is_decided(&self) -> bool {
        !matches!(self, Outcome::Unknown(_))
    }
}

/// What a claim that was accepted is evidence of.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// Checks hold.
    Proof(Arc<Proof>),
    /// A check is violated.
    Refutation(Arc<Refutation>),
}

/// A claim that checks hold, checked. Whatever its kind, it also shows that no execution comes to
/// what is not supported.
#[derive(Clone, Debug)]
pub struct Proof {
    claim: Claim,
    questions: u64,
}

impl Proof {
    /// What was claimed.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// How many questions were asked of a solver.
    pub fn questions(&self) -> u64 {
        self.questions
    }
}

#[cfg(feature = "forge")]
impl Proof {
    /// A claim that nobody checked: for tests of what becomes of wrong proofs.
    pub fn forged(claim: Claim) -> Arc<Proof> {
        let questions = 0;
        Arc::new(Proof { claim, questions })
    }
}

/// A claim that a check is violated, checked.
#[derive(Clone, Debug)]
pub struct Refutation {
    claim: Claim,
    by: By,
}

/// How a violation is known.
#[derive(Clone, Debug)]
enum By {
    /// The interpreter saw it.
    Run(interp::Run),
    /// So many questions about its chain were answered.
    Questions(u64),
    /// The interpreter saw how it begins and that it goes on like that.
    Lasso(interp::Run, Endless),
}

impl Refutation {
    /// What was claimed.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// What the interpreter saw; `None` for an execution that is too long to be run, or endless.
    pub fn run(&self) -> Option<&interp::Run> {
        match &self.by {
            By::Run(run) => Some(run),
            By::Questions(_) | By::Lasso(..) => None,
        }
    }

    /// How an execution goes on that never ends, and its beginning.
    pub fn endless(&self) -> Option<(&interp::Run, Endless)> {
        match &self.by {
            By::Lasso(run, endless) => Some((run, *endless)),
            By::Run(_) | By::Questions(_) => None,
        }
    }

    /// How many questions were asked of a solver.
    pub fn questions(&self) -> u64 {
        match self.by {
            By::Run(_) => 0,
            By::Lasso(_, endless) => endless.questions,
            By::Questions(questions) => questions,
        }
    }
}

/// Which solver is asked.
pub type MakeSolver = dyn Fn() -> Box<dyn Solver> + Send + Sync;

/// Checks claims about one program.
#[derive(Clone)]
pub struct Gate<'a> {
    model: &'a Model<'a>,
    budget: Budget,
    solver: Arc<MakeSolver>,
    /// Whether the solver is the only one that is believed.
    alone: bool,
    query_time: Duration,
}

impl<'a> Gate<'a> {
    /// A gate for claims about a program, within a budget.
    pub fn new(model: &'a Model<'a>, budget: Budget) -> Gate<'a> {
        Gate {
            model,
            budget,
            solver: Arc::new(|| Box::new(Z3Solver::new(Z3Options::default()))),
            alone: false,
            query_time: Duration::from_secs(30),
        }
    }

    /// The same, which asks another solver, and believes nobody else.
    pub fn asking(mut self, solver: Arc<MakeSolver>) -> Gate<'a> {
        self.solver = solver;
        self.alone = true;
        self
    }

    /// Checks a claim.
    pub fn check(&self, claim: Claim) -> Result<Evidence, Reason> {
        let proof =
            |claim: Claim, questions: u64| Evidence::Proof(Arc::new(Proof { claim, questions }));
        self.suits(&claim)?;
        match claim {
            Claim::Nowhere(nowhere) => {
                self.nowhere(&nowhere)?;
                Ok(proof(Claim::Nowhere(nowhere), 0))
            }
            Claim::Invariants(invariants) => {
                let questions = self.invariants(&invariants)?;
                Ok(proof(Claim::Invariants(invariants), questions))
            }
            Claim::Induction(induction) => {
                let questions = self.induction(&induction)?;
                Ok(proof(Claim::Induction(induction), questions))
            }
            Claim::Unrolling(unrolling) => {
                let questions = self.unrolling(&unrolling)?;
                Ok(proof(Claim::Unrolling(unrolling), questions))
            }
            Claim::Clauses(clauses) => {
                let questions = self.clauses(&clauses)?;
                Ok(proof(Claim::Clauses(clauses), questions))
            }
            Claim::OnlyRun(only) => {
                let seen = self.only_run(&only)?;
                Ok(proof(Claim::OnlyRun(seen), 0))
            }
            Claim::Run(run) => {
                let (run, seen) = self.run(&run)?;
                let claim = Claim::Run(run);
                Ok(Evidence::Refutation(Arc::new(Refutation {
                    claim,
                    by: By::Run(seen),
                })))
            }
            Claim::Chain(chain) => {
                let questions = self.chain(&chain)?;
                Ok(Evidence::Refutation(Arc::new(Refutation {
                    claim: Claim::Chain(chain),
                    by: By::Questions(questions),
                })))
            }
            Claim::Ranking(ranking) => {
                let questions = self.inductive(&ranking.invariants, Some(&ranking))?;
                Ok(proof(Claim::Ranking(ranking), questions))
            }
            Claim::Recurrence(recurrence) => {
                let (run, endless) = self.recurrence(&recurrence)?;
                Ok(Evidence::Refutation(Arc::new(Refutation {
                    claim: Claim::Recurrence(recurrence),
                    by: By::Lasso(run, endless),
                })))
            }
            Claim::Lasso(lasso) => {
                let (run, endless) = self.lasso(&lasso)?;
                Ok(Evidence::Refutation(Arc::new(Refutation {
                    claim: Claim::Lasso(lasso),
                    by: By::Lasso(run, endless),
                })))
            }
        }
    }

    /// Whether a claim is of a kind that can say anything of the checks that it names, and these
    /// exist: that every execution ends is no matter of places, and the ends of executions tell
    /// nothing of others.
    fn suits(&self, claim: &Claim) -> Result<(), Reason> {
        let checks = &self.model.program.checks;
        let about_ends = |check: &CheckId| {
            let check = checks.get(check.index());
            check.is_some_and(|check| check.kind == CheckKind::Termination)
        };
        let violated = claim.violates();
        let mut named = claim.proves().iter().chain(&violated);
        let is_known = |check: &CheckId| check.index() < checks.len();
        if !named.clone().all(is_known) {
            return Err(Reason::Certificate);
        }
        let suits = match claim {
            Claim::Ranking(_) | Claim::Lasso(_) | Claim::Recurrence(_) => named.all(about_ends),
            // These follow executions to their ends.
            Claim::Unrolling(_) | Claim::OnlyRun(_) => true,
            Claim::Nowhere(_)
            | Claim::Invariants(_)
            | Claim::Induction(_)
            | Claim::Clauses(_)
            | Claim::Run(_)
            | Claim::Chain(_) => !named.any(about_ends),
        };
        match suits {
            true => Ok(()),
            false => Err(Reason::Certificate),
        }
    }

    /// A session that knows what holds in every state of a program.
    fn session_about(&self, semantics: &Semantics<'_>, terms: &mut Terms) -> Session<'static> {
        let mut session = self.session();
        for axiom in semantics.axioms(terms) {
            session.assert(terms, axiom);
        }
        session
    }

    fn session(&self) -> Session<'static> {
        let mut session = Session::new((self.solver)(), self.budget.clone());
        if self.alone {
            session = session.without_intervals();
        }
        session.set_limits(self.query_limits());
        session
    }

    /// What one question may cost.
    fn query_limits(&self) -> Limits {
        Limits {
            time: Some(self.query_time),
            steps: None,
        }
    }
}

/// What an answer other than `unsat` means for a claim.
fn refused(answer: Answer) -> Reason {
    match answer {
        Answer::Unknown(Unknown::Stopped(stopped)) => Reason::Stopped(stopped),
        Answer::Unknown(why) => Reason::Solver(why.to_string()),
        Answer::Sat | Answer::Unsat => Reason::Certificate,
    }
}
