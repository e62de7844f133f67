//! Which lines of which functions a run went through, for pictures of the control flow.

use crate::results::{StepOf, Trace};
use std::collections::BTreeSet;

/// What a run went through. What a rule does beside it does not count.
#[derive(Default)]
pub(crate) struct Walked<'t> {
    /// The functions that were called.
    pub called: BTreeSet<&'t str>,
    /// Lines, by their functions.
    pub lines: BTreeSet<(&'t str, u32)>,
    /// Pairs of lines that followed each other in one call.
    pub steps: BTreeSet<(&'t str, u32, u32)>,
    /// Where it ended.
    pub end: Option<(&'t str, u32)>,
}

impl<'t> Walked<'t> {
    pub fn of(trace: &'t Trace) -> Walked<'t> {
        let mut walked = Walked::default();
        let functions = trace.calls.iter().map(|call| call.function.as_str());
        walked.called = functions.collect();
        let mut last = vec![None; trace.calls.len()];
        for step in trace.steps.iter().filter(|step| step.of == StepOf::Program) {
            let function = trace.calls[step.call as usize].function.as_str();
            let line = step.place.line;
            walked.lines.insert((function, line));
            if let Some(before) = last[step.call as usize].replace(line) {
                walked.steps.insert((function, before, line));
            }
            walked.end = Some((function, line));
        }
        walked
    }
}
