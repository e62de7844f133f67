//! A program as steps between cut points, of which ranks are asked.

use hardbop_budget::Budget;
use hardbop_cfront::ids::LocId;
use hardbop_engine::Reason;
use hardbop_logic::{Answer, Limits, Session, TermId, Terms, Unknown, Value, Z3Options, Z3Solver};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::steps::{End, Ground, Step};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most time for one question.
const QUERY: Duration = Duration::from_secs(3);

/// What is known at cut points. Control never comes to those that are missing; `None` if nothing
/// is known of any.
pub(crate) type Known = Option<BTreeMap<LocId, TermId>>;

/// A step between two cut points of one function, or a call.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    /// Where it begins.
    pub(crate) from: LocId,
    /// Where it ends.
    pub(crate) to: LocId,
    /// Which step of the program it is.
    pub(crate) step: usize,
    /// When it is taken, from states that are known.
    pub(crate) taken: TermId,
    /// Which state the rank before it is about.
    pub(crate) before: Before,
}

/// The state that the rank before a step is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// That in which the step begins.
    Now,
    /// That in which the procedure was entered.
    Entry,
}

/// The steps of a program, and somebody to ask about them.
pub(crate) struct System<'a, 'p> {
    pub(crate) ground: Ground<'a, 'p>,
    pub(crate) steps: &'a [Step],
    pub(crate) terms: &'a mut Terms,
    pub(crate) session: Session<'static>,
    pub(crate) questions: u64,
    /// Whether more is tried that costs more.
    pub(crate) patient: bool,
    /// What some constants stand for at some cut points: the parameters of functions that call each
    /// other have names of their own in each.
    pub(crate) named: BTreeMap<LocId, BTreeMap<TermId, TermId>>,
}

/// A step that a solver found: words before and after it.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) before: Vec<i128>,
    pub(crate) after: Vec<i128>,
}

impl<'a, 'p> System<'a, 'p> {
    pub(crate) fn new(
        ground: Ground<'a, 'p>,
        steps: &'a [Step],
        terms: &'a mut Terms,
        budget: &Budget,
    ) -> System<'a, 'p> {
        let solver = Z3Solver::new(Z3Options::default());
        let mut session = Session::new(Box::new(solver), budget.clone());
        session.set_limits(Limits {
            time: Some(QUERY),
            steps: None,
        });
        for axiom in ground.semantics.axioms(terms) {
            session.assert(terms, axiom);
        }
        System {
            ground,
            steps,
            terms,
            session,
            questions: 0,
            patient: false,
            named: BTreeMap::new(),
        }
    }

    /// The steps within functions, and the calls, from states that are known.
    pub(crate) fn moves(&mut self, known: &Known) -> (Vec<Move>, Vec<Move>) {
        let (mut within, mut calls) = (Vec::new(), Vec::new());
        for (index, step) in self.steps.iter().enumerate() {
            let (Some(from), End::At(to)) = (step.from, step.to) else {
                continue;
            };
            let mut conjuncts = vec![step.condition];
            if let Some(known) = known {
                let Some(&before) = known.get(&from) else {
                    continue;
                };
                conjuncts.push(before);
                if let Some(returned) = &step.returned {
                    let Some(&exit) = known.get(&returned.exit) else {
                        continue;
                    };
                    let left = self.ground.at_exit(self.terms, returned, exit);
                    conjuncts.push(left);
                }
            }
            let taken = self.terms.and(&conjuncts);
            if taken == self.terms.bool(false) {
                continue;
            }
            let found = Move {
                from,
                to,
                step: index,
                taken,
                before: Before::Now,
            };
            match step.entered {
                Some(_) => calls.push(self.call(found)),
                None => within.push(found),
            }
        }
        (within, calls)
    }

    /// A call as a step from one entry to the other.
    fn call(&self, step: Move) -> Move {
        let program = self.ground.semantics.program;
        let caller = program.locations[step.from.index()].function;
        Move {
            from: program.function(caller).entry,
            before: Before::Entry,
            ..step
        }
    }

    /// A term in the names of a cut point.
    pub(crate) fn at(&mut self, location: LocId, term: TermId) -> TermId {
        match self.named.get(&location) {
            Some(names) => self.terms.substitute(term, names),
            None => term,
        }
    }

    /// What a term about the state at a procedure's entry is called later in that procedure.
    pub(crate) fn at_entry(&mut self, term: TermId) -> TermId {
        let mut map = BTreeMap::new();
        for constant in self.terms.free_constants(&[term]) {
            if let Some(Meaning::Now(id)) = self.ground.constants.meaning(constant) {
                let old = self.ground.semantics.old_constant(self.terms, id);
                map.insert(constant, old);
            }
        }
        self.terms.substitute(term, &map)
    }

    /// What a term about a state says of the state at the end of a step.
    pub(crate) fn after(&mut self, step: usize, term: TermId) -> TermId {
        let step = &self.steps[step];
        let mut map = BTreeMap::new();
        for constant in self.terms.free_constants(&[term]) {
            map.insert(constant, self.ground.at_end(self.terms, step, constant));
        }
        self.terms.substitute(term, &map)
    }

    /// Whether formulas can hold together; with values of words if they can.
    pub(crate) fn ask(
        &mut self,
        together: &[TermId],
        words: &[(TermId, TermId, bool)],
    ) -> Result<Asked, Reason> {
        self.questions += 1;
        let question = self.terms.and(together);
        match self.session.check(self.terms, &[question]) {
            Answer::Unsat => Ok(Asked::Never),
            Answer::Unknown(Unknown::Stopped(stopped)) => Err(Reason::Stopped(stopped)),
            Answer::Unknown(_) => Ok(Asked::Unknown),
            Answer::Sat => {
                let before: Vec<TermId> = words.iter().map(|word| word.0).collect();
                let after: Vec<TermId> = words.iter().map(|word| word.1).collect();
                let asked = [before, after].concat();
                let values = self.session.values(self.terms, &asked);
                let values = values.unwrap_or_else(|_| vec![None; asked.len()]);
                let signs = words.iter().chain(words).map(|word| word.2);
                let read: Option<Vec<i128>> = values
                    .iter()
                    .zip(signs)
                    .map(|(value, signed)| number(value.as_ref()?, signed))
                    .collect();
                Ok(match read {
                    Some(mut before) => {
                        let after = before.split_off(words.len());
                        Asked::Sample(Sample { before, after })
                    }
                    None => Asked::Unknown,
                })
            }
        }
    }
}

/// What became of a question.
pub(crate) enum Asked {
    /// It cannot be.
    Never,
    /// It can.
    Sample(Sample),
    /// Nobody knows.
    Unknown,
}

/// A word as a number.
fn number(value: &Value, signed: bool) -> Option<i128> {
    let Value::BitVec(bits) = value else {
        return None;
    };
    match signed {
        true => i128::try_from(bits.signed()).ok(),
        false => i128::try_from(bits.unsigned().clone()).ok(),
    }
}
