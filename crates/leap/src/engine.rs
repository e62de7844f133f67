//! Leaping behind the interface of all engines.

use crate::check::{Options, leap};
use crate::graph::Suggestion;
use hardbop_engine as engine;
use hardbop_engine::{Desk, Ended, Engine, Task};

/// Leaping as one engine among others.
#[derive(Clone, Debug, Default)]
pub struct Leap {
    /// How the search goes.
    pub options: Options,
}

impl Engine for Leap {
    fn name(&self) -> &'static str {
        "leap"
    }

    fn following(&self, suggestion: &engine::Suggestion) -> Option<Box<dyn Engine>> {
        let mut options = self.options.clone();
        options.suggestion = Suggestion::Through(suggestion.through.clone());
        Some(Box::new(Leap { options }))
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        leap(task, &self.options, desk).0
    }
}
