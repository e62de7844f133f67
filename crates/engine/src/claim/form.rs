//! The program as invariants speak of it: opened or not, its calls inlined, passed over or kept.

use super::{Calls, Invariants, Reach};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::indices::{self, Opened};
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::Program;
use hardbop_model::{Model, Prepared};

/// A program in the form that a claim speaks of.
#[derive(Debug)]
pub struct Form {
    opened: Option<Opened>,
    prepared: Prepared,
}

impl Form {
    /// The model of a program in this form.
    pub fn model<'a>(&'a self, program: &'a Program) -> Model<'a> {
        let program = self.opened.as_ref().map_or(program, |open| &open.program);
        Model::new(program, &self.prepared)
    }
}

/// Why there is no such form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoForm {
    /// There was no time for it.
    Stopped(Stopped),
    /// The program cannot be opened.
    Impossible,
}

impl Invariants {
    /// Whether they speak of the program as everybody prepares it.
    pub fn is_usual(&self) -> bool {
        let Invariants { indices, calls, .. } = self;
        *indices == Reach::Elements && *calls == Calls::Inlined && self.apart.is_empty()
    }

    /// Prepares a program as they speak of it.
    pub fn form(
        &self,
        program: &Program,
        points_to: &PointsTo,
        budget: &Budget,
    ) -> Result<Form, NoForm> {
        let opened = match self.indices {
            Reach::Elements => None,
            Reach::Object => {
                let opened = indices::open(program, points_to, budget);
                let opened = opened.map_err(NoForm::Stopped)?;
                Some(opened.ok_or(NoForm::Impossible)?)
            }
        };
        let (program, points_to) = match &opened {
            Some(opened) => (&opened.program, &opened.points_to),
            None => (program, points_to),
        };
        let points_to = points_to.clone();
        let prepared = match self.calls {
            Calls::Inlined => {
                let apart = self.apart.iter().copied().collect();
                let prepared = Prepared::leaving(&apart, program, points_to, budget);
                prepared.map_err(NoForm::Stopped)?
            }
            Calls::Kept => Prepared::keeping_calls(program, points_to),
        };
        Ok(Form { opened, prepared })
    }
}
