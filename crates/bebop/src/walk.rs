//! Walking along a trace: where a reader who steps into a call, over it, back, up or to a place
//! gets to. In come the steps of a trace, out come positions in it.

use crate::checker::{Leave, ProgramStep};

/// Which calls of a trace enclose which steps.
#[derive(Clone, Debug)]
pub struct Walk {
    /// By step: for a step into a call, the callee's last step, if the call returns in the trace;
    /// for that last step, the call.
    partner: Vec<Option<usize>>,
    /// By step: the step that called the procedure that it is in.
    caller: Vec<Option<usize>>,
}

impl Walk {
    /// The calls of a trace.
    pub fn new(steps: &[ProgramStep]) -> Walk {
        let mut walk = Walk {
            partner: vec![None; steps.len()],
            caller: vec![None; steps.len()],
        };
        let mut open: Vec<usize> = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            walk.caller[index] = open.last().copied();
            match step.leaves {
                Leave::Into(_) => open.push(index),
                Leave::Return(_) => {
                    if let Some(call) = open.pop() {
                        walk.partner[call] = Some(index);
                        walk.partner[index] = Some(call);
                    }
                }
                Leave::Along(_) | Leave::Over(_) | Leave::End => {}
            }
        }
        walk
    }

    fn exists(&self, index: usize) -> Option<usize> {
        (index < self.partner.len()).then_some(index)
    }

    /// The next step, be it in a procedure that is called.
    pub fn next(&self, index: usize) -> Option<usize> {
        self.exists(index + 1)
    }

    /// The callee's last step, if this is a call that is shown inside and that returns.
    pub fn exit_of(&self, index: usize) -> Option<usize> {
        self.partner[index].filter(|&other| other > index)
    }

    /// The next step that is not inside the call of this one. A call that does not return in the
    /// trace cannot be stepped over: then this is the callee's first step.
    pub fn over(&self, index: usize) -> Option<usize> {
        self.exists(self.exit_of(index).unwrap_or(index) + 1)
    }

    /// The step before, be it in a procedure that was called.
    pub fn previous(&self, index: usize) -> Option<usize> {
        index.checked_sub(1)
    }

    /// The step from which [`Walk::over`] leads here.
    pub fn back(&self, index: usize) -> Option<usize> {
        let before = index.checked_sub(1)?;
        Some(
            self.partner[before]
                .filter(|&call| call < before)
                .unwrap_or(before),
        )
    }

    /// The step that called the procedure that this one is in.
    pub fn up(&self, index: usize) -> Option<usize> {
        self.caller[index]
    }

    /// The step behind the call of the procedure that this one is in, if that call returns.
    pub fn out(&self, index: usize) -> Option<usize> {
        let call = self.caller[index]?;
        self.exists(self.exit_of(call)? + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_boolean_program::program::{EdgeId, VertexId};

    fn steps(leaves: &[Leave]) -> Vec<ProgramStep> {
        let step = |&leaves: &Leave| ProgramStep {
            vertex: VertexId(0),
            depth: 0,
            leaves,
            state: Vec::new(),
            forced: Vec::new(),
        };
        leaves.iter().map(step).collect()
    }

    #[test]
    fn over_and_back_are_each_other_s_inverse_and_calls_enclose_their_steps() {
        let edge = EdgeId(0);
        let (along, into, back) = (Leave::Along(edge), Leave::Into(edge), Leave::Return(edge));
        // 0 call { 1 call { 2 } 3 } 4 call (open) { 5 end }
        let trace = steps(&[into, into, back, back, into, Leave::End]);
        let walk = Walk::new(&trace);
        assert_eq!([0, 1, 3, 4].map(|at| walk.over(at)), [4, 3, 4, 5].map(Some));
        assert_eq!([4, 3, 5].map(|at| walk.back(at)), [0, 1, 4].map(Some));
        assert_eq!(
            [0, 1, 2, 3, 5].map(|at| walk.up(at)),
            [None, Some(0), Some(1), Some(0), Some(4)]
        );
        assert_eq!(
            [2, 1, 0, 5].map(|at| walk.out(at)),
            [Some(3), Some(4), None, None]
        );
        assert_eq!(
            (walk.next(5), walk.over(5), walk.back(0)),
            (None, None, None)
        );
        assert_eq!((walk.next(0), walk.previous(4)), (Some(1), Some(3)));
        let flat = Walk::new(&steps(&[along, Leave::Over(edge), Leave::End]));
        assert_eq!([0, 1, 2].map(|at| flat.over(at)), [Some(1), Some(2), None]);
    }
}
