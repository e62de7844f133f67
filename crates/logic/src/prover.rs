//! Questions to the solver: each stands alone, and each has a limit of its own.
//!
//! A question is made easier first (`linear.rs`), and put in integers if that can be done
//! (`integers.rs`). Most are easy then, and a solver that is kept answers them in the time
//! that it takes to set up a new one. The others go to a new solver with the procedure made for
//! bit-vectors. This is for those who search: what checks evidence asks solvers of its own, as the
//! questions are.

mod integers;
mod linear;

use crate::{
    Answer, Assignment, Limits, Op, Session, Sort, TermId, Terms, Unknown, Z3Options, Z3Solver,
};
use hardbop_budget::Budget;
use integers::Integers;
use linear::{Eased, Easing};
use std::time::Duration;

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided(pub Unknown);

/// Asks questions.
pub struct Prover {
    /// What the whole work may use.
    pub budget: Budget,
    /// What one question may cost.
    pub limits: Limits,
    /// How many questions were asked.
    pub questions: u64,
    /// How many of them had no answer.
    pub undecided: u64,
    easing: Easing,
    words: Kept,
    integers: Kept,
}

/// A solver that is kept from question to question.
struct Kept {
    session: Option<Session<'static>>,
    /// How many questions it has answered.
    used: u32,
    /// What an answer may cost.
    steps: u32,
}

/// What an easy question costs at most, in Z3's own measure: the same on every machine.
const EASY: u32 = 1_000_000;
/// The same for a question in integers, which are no help where they do not help at once.
const EASY_INTEGERS: u32 = 200_000;
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
            questions: 0,
            undecided: 0,
            easing: Easing::default(),
            words: Kept::new(EASY),
            integers: Kept::new(EASY_INTEGERS),
        }
    }

    /// Whether the formulas have no model.
    pub fn unsatisfiable(
        &mut self,
        terms: &mut Terms,
        formulas: &[TermId],
    ) -> Result<bool, Undecided> {
        match self.ask(terms, formulas)? {
            ModelIn::Nothing => Ok(true),
            ModelIn::Words(_) => {
                self.words.release();
                Ok(false)
            }
            ModelIn::Integers(..) => {
                self.integers.release();
                Ok(false)
            }
            ModelIn::New(..) => Ok(false),
        }
    }

    /// A model of the formulas, if there is one.
    pub fn model(
        &mut self,
        terms: &mut Terms,
        formulas: &[TermId],
    ) -> Result<Option<Assignment>, Undecided> {
        let mut found = self.ask(terms, formulas)?;
        if let ModelIn::Integers(eased, integers) = found {
            let model = self.integers.model(terms, &integers.formulas);
            let completed = model
                .ok()
                .and_then(|model| integers.complete(terms, &eased.formulas, model));
            if let Some(model) = completed {
                return told(eased.complete(terms, model));
            }
            found = self.ask_words(terms, eased)?;
        }
        let (model, eased) = match found {
            ModelIn::Nothing => return Ok(None),
            ModelIn::New(mut session, eased) => (session.model_of(terms, &eased.formulas), eased),
            ModelIn::Words(eased) => (self.words.model(terms, &eased.formulas), eased),
            ModelIn::Integers(..) => (Err(no_model()), Eased::unchanged(formulas)),
        };
        let model = model.map_err(Undecided)?;
        told(eased.complete(terms, model))
    }

    /// Whether the second formula holds wherever the first one does.
    pub fn implies(&mut self, terms: &mut Terms, a: TermId, b: TermId) -> Result<bool, Undecided> {
        let not = terms.not(b);
        self.unsatisfiable(terms, &[a, not])
    }

    fn ask(&mut self, terms: &mut Terms, formulas: &[TermId]) -> Result<ModelIn, Undecided> {
        self.questions += 1;
        if let Err(stopped) = self.budget.check() {
            return Err(Undecided(Unknown::Stopped(stopped)));
        }
        let eased = self.easing.ease(terms, formulas);
        let trivial = |&formula: &TermId| matches!(terms.op(formula), Op::Bool(false));
        if eased.formulas.iter().any(trivial) {
            return Ok(ModelIn::Nothing);
        }
        if let Some(integers) = Integers::new(terms, &eased.formulas, formulas) {
            let (budget, limits) = (self.budget.clone(), self.limits);
            let kept = &mut self.integers;
            match kept.ask(terms, &integers.formulas, &budget, limits)? {
                Some(true) => return Ok(ModelIn::Integers(eased, integers)),
                Some(false) => return Ok(ModelIn::Nothing),
                None => {}
            }
        }
        self.ask_words(terms, eased)
    }

    /// Asks solvers of words.
    fn ask_words(&mut self, terms: &Terms, eased: Eased) -> Result<ModelIn, Undecided> {
        let (budget, limits) = (self.budget.clone(), self.limits);
        let kept = &mut self.words;
        match kept.ask(terms, &eased.formulas, &budget, limits)? {
            Some(true) => return Ok(ModelIn::Words(eased)),
            Some(false) => return Ok(ModelIn::Nothing),
            None => {}
        }
        let logic = only_bits(terms, &eased.formulas).then_some("QF_BV");
        let mut session = new_session(&self.budget, logic);
        session.set_limits(self.limits);
        for &formula in &eased.formulas {
            session.assert(terms, formula);
        }
        match session.check(terms, &[]) {
            Answer::Sat => Ok(ModelIn::New(Box::new(session), eased)),
            Answer::Unsat => Ok(ModelIn::Nothing),
            Answer::Unknown(why) => {
                self.undecided += 1;
                Err(Undecided(why))
            }
        }
    }
}

fn no_model() -> Unknown {
    Unknown::GaveUp("there is no model to tell".to_owned())
}

/// A model, or that its values cannot be computed.
fn told(model: Option<Assignment>) -> Result<Option<Assignment>, Undecided> {
    match model {
        Some(model) => Ok(Some(model)),
        None => Err(Undecided(no_model())),
    }
}

impl Kept {
    fn new(steps: u32) -> Kept {
        Kept {
            session: None,
            used: 0,
            steps,
        }
    }

    /// Asks at a level that stays open if there is a model. Nothing is known if the question is
    /// not easy.
    fn ask(
        &mut self,
        terms: &Terms,
        formulas: &[TermId],
        budget: &Budget,
        limits: Limits,
    ) -> Result<Option<bool>, Undecided> {
        let session = match &mut self.session {
            Some(session) => session,
            None => {
                self.used = 0;
                let mut session = new_session(budget, None);
                session.set_limits(Limits {
                    time: Some(limits.time.map_or(PATIENCE, |time| time.min(PATIENCE))),
                    steps: Some(self.steps),
                });
                self.session.insert(session)
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
                self.session = None;
                Err(Undecided(Unknown::Stopped(stopped)))
            }
            Answer::Unknown(_) => {
                self.session = None;
                Ok(None)
            }
        }
    }

    /// The model of the last question, which is taken back.
    fn model(&mut self, terms: &mut Terms, formulas: &[TermId]) -> Result<Assignment, Unknown> {
        let model = match &mut self.session {
            Some(session) => session.model_of(terms, formulas),
            None => Err(no_model()),
        };
        self.release();
        model
    }

    /// Takes the last question back.
    fn release(&mut self) {
        if let Some(session) = &mut self.session {
            session.pop();
        }
        if self.used >= WORN {
            self.session = None;
        }
    }
}

/// Where a model is, if there is one.
enum ModelIn {
    Nothing,
    /// In the solver of words that is kept, whose level is open.
    Words(Eased),
    /// In the solver of integers that is kept, whose level is open.
    Integers(Eased, Integers),
    New(Box<Session<'static>>, Eased),
}

fn new_session(budget: &Budget, logic: Option<&'static str>) -> Session<'static> {
    let options = Z3Options {
        logic,
        ..Z3Options::default()
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
