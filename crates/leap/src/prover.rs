//! Questions to the solver: each stands alone, and each has a limit of its own.
//!
//! Most are easy, and a solver that is kept answers them in the time that it takes to set up a new
//! one. The others go to a new solver with the procedure made for bit-vectors.

use hardbop_budget::Budget;
use hardbop_logic::{
    Answer, Assignment, Limits, Op, Session, Sort, TermId, Terms, Unknown, Z3Options, Z3Solver,
};
use std::time::Duration;

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided(pub Unknown);

/// Which procedure the solver takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// The one made for the logic of the question.
    ByLogic,
    /// The general one.
    General,
}

/// Asks questions.
pub struct Prover {
    /// What the whole work may use.
    pub budget: Budget,
    /// What one question may cost.
    pub limits: Limits,
    /// The seed of the solver.
    pub seed: u32,
    /// The solver's procedure.
    pub procedure: Procedure,
    /// How many questions were asked.
    pub questions: u64,
    /// How many of them had no answer.
    pub undecided: u64,
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
            procedure: Procedure::ByLogic,
            questions: 0,
            undecided: 0,
            kept: None,
            used: 0,
        }
    }

    /// Whether the formulas have no model.
    pub fn unsatisfiable(&mut self, terms: &Terms, formulas: &[TermId]) -> Result<bool, Undecided> {
        match self.ask(terms, formulas)? {
            Found::Nothing => Ok(true),
            Found::Kept => {
                self.release();
                Ok(false)
            }
            Found::New(_) => Ok(false),
        }
    }

    /// A model of the formulas, if there is one.
    pub fn model(
        &mut self,
        terms: &mut Terms,
        formulas: &[TermId],
    ) -> Result<Option<Assignment>, Undecided> {
        let model = match self.ask(terms, formulas)? {
            Found::Nothing => return Ok(None),
            Found::New(mut session) => session.model_of(terms, formulas),
            Found::Kept => {
                let model = match &mut self.kept {
                    Some(session) => session.model_of(terms, formulas),
                    None => Err(Unknown::GaveUp("there is no model to tell".to_owned())),
                };
                self.release();
                model
            }
        };
        model.map(Some).map_err(Undecided)
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

    fn ask(&mut self, terms: &Terms, formulas: &[TermId]) -> Result<Found, Undecided> {
        self.questions += 1;
        let trivial = |&formula: &TermId| matches!(terms.op(formula), Op::Bool(false));
        if formulas.iter().any(trivial) {
            return Ok(Found::Nothing);
        }
        if let Err(stopped) = self.budget.check() {
            return Err(Undecided(Unknown::Stopped(stopped)));
        }
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
            Answer::Sat => return Ok(Found::Kept),
            Answer::Unsat => {
                self.release();
                return Ok(Found::Nothing);
            }
            Answer::Unknown(Unknown::Stopped(stopped)) => {
                self.kept = None;
                return Err(Undecided(Unknown::Stopped(stopped)));
            }
            Answer::Unknown(_) => self.kept = None,
        }
        let logic = self.procedure == Procedure::ByLogic && only_bits(terms, formulas);
        let mut session = new_session(&self.budget, self.seed, logic.then_some("QF_BV"));
        session.set_limits(self.limits);
        for &formula in formulas {
            session.assert(terms, formula);
        }
        match session.check(terms, &[]) {
            Answer::Sat => Ok(Found::New(Box::new(session))),
            Answer::Unsat => Ok(Found::Nothing),
            Answer::Unknown(why) => {
                self.undecided += 1;
                Err(Undecided(why))
            }
        }
    }
}

/// Where a model is, if there is one.
enum Found {
    Nothing,
    /// In the kept solver, whose level is open.
    Kept,
    New(Box<Session<'static>>),
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
