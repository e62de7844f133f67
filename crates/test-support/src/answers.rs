//! What an engine by itself says of the checks of a C text.

use crate::inputs::load;
use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_engine::{Engine, Task};
use hardbop_gate::{Outcome, Report, alone};
use hardbop_model::{Model, Prepared};

/// Lets an engine decide all checks of a text, behind the gate.
pub fn report(engine: &dyn Engine, text: &str, budget: &Budget) -> Report {
    let (program, points_to) = load(text);
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let prepared = Prepared::with_points_to(&program, points_to, &Budget::unlimited());
    let prepared = prepared.expect("nobody stops it");
    let task = Task {
        model: &Model::new(&program, &prepared),
        checks: &checks,
        budget,
    };
    alone(engine, &task, &mut |_| {})
}

/// The answers in the order of the checks: `proved`, `violated`, or why neither.
pub fn said(engine: &dyn Engine, text: &str) -> Vec<String> {
    let report = report(engine, text, &Budget::unlimited());
    let said = report.outcomes.values().map(|outcome| match outcome {
        Outcome::Proved(_) => "proved".to_owned(),
        Outcome::Violated(_) => "violated".to_owned(),
        Outcome::Unknown(reason) => reason.to_string(),
    });
    said.collect()
}
