//! Judging traces by the reference interpreter's own rules.

use hardbop_bebop::{Leave, ProgramStep, ProgramTrace};
use hardbop_boolean_program::check::Checker;
use hardbop_boolean_program::program::{Program, VertexId};
use hardbop_boolean_program::replay::{ReplayError, TraceStep, replay};

fn state(checker: &Checker<'_>, program: &Program, step: &ProgramStep) -> Vec<bool> {
    let procedure = program.vertices[step.vertex.index()].procedure;
    let mut state = vec![false; checker.layout().size(procedure)];
    assert_eq!(
        step.state.len(),
        state.len(),
        "every variable in scope has a value"
    );
    for &(var, value) in &step.state {
        state[checker.layout().slot(var)] = value;
    }
    state
}

/// Checks that a fully expanded trace is an execution, step by step, that it ends at its target,
/// and that its length is the one that was reported.
pub fn check_execution(program: &Program, trace: &ProgramTrace, target: VertexId) {
    let checker = Checker::new(program);
    let states: Vec<Vec<bool>> = trace
        .steps
        .iter()
        .map(|step| state(&checker, program, step))
        .collect();
    let mut open: Vec<usize> = Vec::new();
    let main = &program.procedures[program.main.index()];
    assert_eq!(trace.steps[0].vertex, main.entry);
    assert!(checker.allowed(program.main, &states[0]));
    // Of a call that returns, the whole inside is one transition of the hierarchical trajectory.
    let mut length = 0;
    let mut length_at_call = Vec::new();
    for (index, step) in trace.steps.iter().enumerate() {
        assert_eq!(step.depth as usize, open.len());
        let edge_target = |edge: hardbop_boolean_program::program::EdgeId| {
            assert_eq!(program.edges[edge.index()].from, step.vertex);
            program.edges[edge.index()].to
        };
        match step.leaves {
            Leave::Along(edge) => {
                assert_eq!(trace.steps[index + 1].vertex, edge_target(edge));
                assert!(
                    checker.step(edge, &states[index], &states[index + 1]),
                    "step {index} of {trace:#?}"
                );
                length += 1;
            }
            Leave::Into(call) => {
                assert_eq!(program.edges[call.index()].from, step.vertex);
                let next = trace.steps[index + 1].vertex;
                let callee = program.vertices[next.index()].procedure;
                assert_eq!(next, program.procedures[callee.index()].entry);
                assert!(checker.enter(call, &states[index], &states[index + 1]));
                open.push(index);
                length_at_call.push(length);
                length += 1;
            }
            Leave::Return(call) => {
                let entered = open.pop().expect("a call is open");
                assert_eq!(trace.steps[entered].leaves, Leave::Into(call));
                assert_eq!(
                    trace.steps[index + 1].vertex,
                    program.edges[call.index()].to
                );
                assert!(checker.leave(call, &states[entered], &states[index], &states[index + 1]));
                length = length_at_call.pop().expect("a call is open") + 1;
            }
            Leave::Over(_) => panic!("the trace is expanded"),
            Leave::End => assert_eq!(index + 1, trace.steps.len()),
        }
    }
    let last = trace.steps.last().expect("a trace has steps");
    assert_eq!(last.vertex, target);
    assert_eq!(last.leaves, Leave::End);
    assert_eq!(length, trace.length);
}

/// Checks that exactly the values that are called forced are: the replay, which keeps sets of
/// concrete states, must find an execution with the other value for all others, and none for
/// these.
pub fn check_forced(program: &Program, trace: &ProgramTrace) {
    let vertices: Vec<TraceStep> = trace
        .steps
        .iter()
        .map(|step| TraceStep {
            vertex: step.vertex,
            values: Vec::new(),
        })
        .collect();
    for (index, step) in trace.steps.iter().enumerate() {
        for &(var, value) in &step.state {
            let mut other = vertices.clone();
            other[index].values.push((var, !value));
            let forced = step.forced.contains(&(var, value));
            match replay(program, &other) {
                Ok(()) => assert!(!forced, "step {index}: {var:?} can be {}", !value),
                Err(ReplayError::NoExecution(_)) => {
                    assert!(forced, "step {index}: {var:?} must be {value}");
                }
                Err(ReplayError::TooManyStates(_)) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}
