//! Questions to the solver: each stands alone, and each has a limit of its own.
//!
//! A question is made easier first ([`crate::linear`]). Most are easy then, and a solver that is
//! kept answers them in the time that it takes to set up a new one. The others go to a new solver
//! with the procedure made for bit-vectors. Questions that check others again go to solvers of
//! their own, as they are.

use crate::linear::{Eased, Easing};
use hardbop_budget::Budget;
use hardbop_logic::{
    Answer, Assignment, Limits, Op, Session, Sort, TermId, Terms, Unknown, Z3Options, Z3Solver,
};
use std::time::Duration;

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided(pub Unknown);

/// How questions are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// Made easier first.
    Eased,
    /// As they are.
    Plain,
}

/// Asks questions.
pub struct Prover {
    /// What the whole work may use.
    pub budget: Budget,
    /// What one question may cost.
    pub limits: Limits,
    /// The seed of the solver.
    pub seed: u32,
    /// How questions are answered.
    pub procedure: Procedure,
    /// How many questions were asked.
    pub questions: u64,
    /// How many of them had no answer.
    pub undecided: u64,
    easing: Easing,
    kept: Option<Session<'static>>,
    /// How many questions the kept solver has answered.
    used: u32,
}

/// What an easy question costs at most, in Z3's own measure: the same on every machine.
const EASY: u32 = 1_000_000;
/// And the most time, should the measure deceive.
const PATIENCE: Duration = Duration::from_secs(1);
/// A kept solver that has seen this many questions is replaced.
const WORN: u32 = 400;

impl Prover {
    /// A prover that has not been asked yet.
    pub fn new(budget: Budget, limits: Limits) -> Prover {
        Prover {
            budget,
            limits,
            seed: 0,
            procedure: Procedure::Eased,
            questions: 0,
            undecided: 0,
            easing: Easing::default(),
            kept: None,
            used: 0,
        }
    }

    /// Whether the formulas have no model.
    pub fn unsatisfiable(
        &mut self,
        terms: &mut Terms,
        formulas: &[TermId],
    ) -> Result<bool, Undecided> {
        match self.ask(terms, formulas)? {
            Found::Nothing => Ok(true),
            Found::Kept(_) => {
                self.release();
                Ok(false)
            }
            Found::New(..) => Ok(false),
        }
    }

    /// A model of the formulas, if there is one.
    pub fn model(
        &mut self,
        terms: &mut Terms,
        formulas: &[TermId],
    ) -> Result<Option<Assignment>, Undecided> {
        let (model, eased) = match self.ask(terms, formulas)? {
            Found::Nothing => return Ok(None),
            Found::New(mut session, eased) => (session.model_of(terms, &eased.formulas), eased),
            Found::Kept(eased) => {
                let model = match &mut self.kept {
                    Some(session) => session.model_of(terms, &eased.formulas),
                    None => Err(Unknown::GaveUp("there is no model to tell".to_owned())),
                };
                self.release();
                (model, eased)
            }
        };
        let model = model.map_err(Undecided)?;
        match eased.complete(terms, model) {
            Some(model) => Ok(Some(model)),
            None => Err(Undecided(Unknown::GaveUp(
                "a value cannot be computed".to_owned(),
            ))),
        }
    }

    /// Whether the second formula holds wherever the first one does.
    pub fn implies(&mut self, terms: &mut Terms, a: TermId, b: TermId) -> Result<bool, Undecided> {
        let not = terms.not(b);
        self.unsatisfiable(terms, &[a, not])
    }

    /// Takes the last question back from the kept solver.
    fn release(&mut self) {
        if let Some(session) = &mut self.kept {
            session.pop();
        }
        if self.used >= WORN {
            self.kept = None;
        }
    }

    fn ask(&mut self, terms: &mut Terms, formulas: &[TermId]) -> Result<Found, Undecided> {
        self.questions += 1;
        if let Err(stopped) = self.budget.check() {
            return Err(Undecided(Unknown::Stopped(stopped)));
        }
        let eased = match self.procedure {
            Procedure::Eased => self.easing.ease(terms, formulas),
            Procedure::Plain => Eased::unchanged(formulas),
        };
        let trivial = |&formula: &TermId| matches!(terms.op(formula), Op::Bool(false));
        if eased.formulas.iter().any(trivial) {
            return Ok(Found::Nothing);
        }
        match self.ask_kept(terms, &eased.formulas)? {
            Some(true) => return Ok(Found::Kept(eased)),
            Some(false) => return Ok(Found::Nothing),
            None => {}
        }
        let logic = only_bits(terms, &eased.formulas).then_some("QF_BV");
        let mut session = new_session(&self.budget, self.seed, logic);
        session.set_limits(self.limits);
        for &formula in &eased.formulas {
            session.assert(terms, formula);
        }
        match session.check(terms, &[]) {
            Answer::Sat => Ok(Found::New(Box::new(session), eased)),
            Answer::Unsat => Ok(Found::Nothing),
            Answer::Unknown(why) => {
                self.undecided += 1;
                Err(Undecided(why))
            }
        }
    }

    /// Asks the kept solver, at a level that stays open if there is a model. Nothing is known if
    /// the question is not easy.
    fn ask_kept(&mut self, terms: &Terms, formulas: &[TermId]) -> Result<Option<bool>, Undecided> {
        let session = match &mut self.kept {
            Some(session) => session,
            None => {
                self.used = 0;
                let seed = self.seed;
                let mut session = new_session(&self.budget, seed, None);
                session.set_limits(Limits {
                    time: Some(self.limits.time.map_or(PATIENCE, |time| time.min(PATIENCE))),
                    steps: Some(EASY),
                });
                self.kept.insert(session)
            }
        };
        self.used += 1;
        session.push();
        for &formula in formulas {
            session.assert(terms, formula);
        }
        match session.check(terms, &[]) {
            Answer::Sat => Ok(Some(true)),
            Answer::Unsat => {
                self.release();
                Ok(Some(false))
            }
            Answer::Unknown(Unknown::Stopped(stopped)) => {
                self.kept = None;
                Err(Undecided(Unknown::Stopped(stopped)))
            }
            Answer::Unknown(_) => {
                self.kept = None;
                Ok(None)
            }
        }
    }
}

/// Where a model is, if there is one.
enum Found {
    Nothing,
    /// In the kept solver, whose level is open.
    Kept(Eased),
    New(Box<Session<'static>>, Eased),
}

fn new_session(budget: &Budget, seed: u32, logic: Option<&'static str>) -> Session<'static> {
    let options = Z3Options {
        seed,
        memory: None,
        logic,
    };
    Session::new(Box::new(Z3Solver::new(options)), budget.clone())
}

/// Whether the formulas speak of truth values and bit-vectors only.
fn only_bits(terms: &Terms, formulas: &[TermId]) -> bool {
    terms.postorder(formulas).into_iter().all(|term| {
        matches!(terms.sort(term), Sort::Bool | Sort::BitVec(_))
            && !matches!(
                terms.op(term),
                Op::Forall(_) | Op::Exists(_) | Op::Apply(_) | Op::Select | Op::BvToInt
            )
    })
}
