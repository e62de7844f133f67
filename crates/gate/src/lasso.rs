//! A run that comes back to a state that it was in, repeated in the interpreter.
//!
//! What a run does follows from its state and from what it is given. So if it is twice before the
//! same edge in the same state, it can be given once more what it was given in between, and again,
//! and never ends.

use crate::Gate;
use crate::files::{may_read_back, reads_back};
use hardbop_cfront::ids::{EdgeId, FuncId};
use hardbop_cfront::interp::{Interpreter, Limits, Observer, Snapshot, State, TraceMode};
use hardbop_cfront::program::{Origin, Program};
use hardbop_engine::Reason;
use hardbop_engine::claim::Lasso;

/// What a lasso looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endless {
    /// The edge before which the state comes again.
    pub edge: EdgeId,
    /// How many inputs the run was given before that, ...
    pub stem_inputs: usize,
    /// ... and how many from then on until it was there again.
    pub cycle_inputs: usize,
    /// How many questions were asked of a solver.
    pub questions: u64,
}

impl Gate<'_> {
    /// Runs the program as a claim says.
    pub(crate) fn lasso(
        &self,
        claim: &Lasso,
    ) -> Result<(hardbop_cfront::interp::Run, Endless), Reason> {
        let program = self.model.program;
        let end = claim.stem.checked_add(claim.cycle);
        let end = end.filter(|_| claim.cycle > 0).ok_or(Reason::Certificate)?;
        let limits = Limits {
            // One step more, so that somebody looks before it.
            steps: end.saturating_add(1),
            budget: self.budget.clone(),
            trace: TraceMode::Off,
            ..Limits::default()
        };
        let environment = || claim.script.environment().ok_or(Reason::Certificate);
        let mut watch = Watch {
            program,
            stem: claim.stem,
            end,
            step: 0,
            seen: None,
            endless: None,
        };
        let run = Interpreter::new(program).run_observed(&mut environment()?, &limits, &mut watch);
        let Some(endless) = watch.endless else {
            return Err(Reason::Replay(Box::new(run.outcome)));
        };
        if may_read_back(program) && reads_back(program, &mut environment()?, &limits) {
            return Err(Reason::ReadsBack);
        }
        Ok((run, endless))
    }
}

/// Whether only the user's own functions are active: that a model of the library does not end says
/// nothing of the library.
pub(crate) fn is_users(program: &Program, functions: &[FuncId]) -> bool {
    functions.iter().all(|&function| {
        let function = program.function(function);
        function.origin == Origin::User || function.passes_on()
    })
}

/// Looks at the state at two moments.
struct Watch<'a> {
    program: &'a Program,
    stem: u64,
    end: u64,
    step: u64,
    seen: Option<(Snapshot, usize)>,
    endless: Option<Endless>,
}

impl Observer for Watch<'_> {
    fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
        if self.step == self.stem && is_users(self.program, &state.functions()) {
            self.seen = Some((state.snapshot(), state.inputs()));
        }
        if self.step == self.end
            && let Some((seen, stem_inputs)) = &self.seen
            && state.is(seen)
        {
            self.endless = Some(Endless {
                edge,
                stem_inputs: *stem_inputs,
                cycle_inputs: state.inputs() - stem_inputs,
                questions: 0,
            });
        }
        self.step += 1;
    }
}
