//! Which engines run, and when.

use hardbop_cegar::{Cegar, Options};
use hardbop_dpr::Dpr;
use hardbop_engine::Engine;
use hardbop_unroll::{Runs, Unroll};
use std::time::Duration;

/// An engine of a plan.
pub type Step = Box<dyn Engine + Send + Sync>;

/// Which engines run, and when.
pub struct Plan {
    /// These, one after the other.
    pub first: Vec<Step>,
    /// Then these side by side, each lane one engine after the other.
    pub lanes: Vec<Vec<Step>>,
}

/// The plan for programs of which nothing is known: a few runs, a few layers, then proofs on one
/// core and longer searches for violations on another.
pub fn default_plan(cegar: Options) -> Plan {
    let quick = Runs {
        guessing: Duration::from_millis(20),
        steps: 20_000,
        only_run: 2_000_000,
    };
    let shallow = Unroll {
        layers: 8,
        time: Some(Duration::from_millis(400)),
        ..Unroll::default()
    };
    Plan {
        first: vec![Box::new(quick), Box::new(shallow)],
        lanes: vec![
            vec![Box::new(Cegar(cegar))],
            vec![
                Box::new(Runs::default()),
                Box::new(Unroll::default()),
                Box::new(Dpr::default()),
            ],
        ],
    }
}
