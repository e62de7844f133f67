//! The semantics, told three times: by the interpreter, by the checkers of steps and traces, and
//! by an explicit-state tabulation written for this test. They must agree on random programs.

mod tabulate;

use hardbop_boolean_program::chc::{Query, to_chc};
use hardbop_boolean_program::check::Checker;
use hardbop_boolean_program::generate::{Recursion, Shape, arbitrary};
use hardbop_boolean_program::interp::{Blocked, Choices, Machine, Outcome};
use hardbop_boolean_program::program::*;
use hardbop_boolean_program::replay::{ReplayError, TraceStep, replay};
use hardbop_boolean_program::{Dialect, load};
use hardbop_diagnostics::Sources;
use std::collections::BTreeSet;
use tabulate::{State, tabulate};

fn program(text: &str) -> Program {
    let mut sources = Sources::new();
    let file = sources.add("test.bp", text);
    let loaded = load(&sources, file, Dialect::Auto);
    loaded
        .program
        .unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics))
}

fn random_program(seed: u64) -> Program {
    let shape = Shape {
        procedures: 1 + seed as usize % 3,
        globals: seed as usize / 3 % 3,
        locals: 2,
        formals: 2,
        statements: 3 + seed as usize % 9,
        recursion: if seed.is_multiple_of(2) {
            Recursion::Allowed
        } else {
            Recursion::None
        },
    };
    program(&arbitrary(shape, seed))
}

// The interpreter's runs.

/// A run as the checkers want to see it: the vertices with complete states.
struct Run {
    steps: Vec<(VertexId, State)>,
    outcome: Outcome,
}

fn run(program: &Program, choices: &mut Choices, limit: usize) -> Option<Run> {
    let checker = Checker::new(program);
    let mut machine = Machine::start(program, choices).ok()?;
    let mut steps = vec![(machine.vertex()?, machine.state().to_vec())];
    let mut waiting = Vec::new();
    for _ in 0..limit {
        let (before_vertex, before) = steps.last().cloned()?;
        let outcome = machine.step(choices);
        match outcome {
            Outcome::Moved(edge) => {
                let after = machine.state();
                let is_call = program.callee(&program.edges[edge.index()]).is_some();
                if is_call {
                    assert!(checker.enter(edge, &before, after));
                    waiting.push((edge, before.clone()));
                } else {
                    assert!(
                        checker.step(edge, &before, after),
                        "{edge:?} {before:?} {after:?}"
                    );
                    assert_eq!(program.edges[edge.index()].to, machine.vertex()?);
                }
                assert_eq!(program.edges[edge.index()].from, before_vertex);
            }
            Outcome::Returned => {
                let (edge, caller) = waiting.pop().expect("a call");
                assert!(checker.leave(edge, &caller, &before, machine.state()));
            }
            _ => return Some(Run { steps, outcome }),
        }
        steps.push((machine.vertex()?, machine.state().to_vec()));
        assert_eq!(machine.depth(), waiting.len());
    }
    Some(Run {
        steps,
        outcome: Outcome::Returned,
    })
}

fn trace(program: &Program, steps: &[(VertexId, State)]) -> Vec<TraceStep> {
    steps
        .iter()
        .map(|(vertex, state)| {
            let procedure = program.vertices[vertex.index()].procedure;
            let values = program
                .in_scope(procedure)
                .zip(state.iter().copied())
                .collect();
            TraceStep {
                vertex: *vertex,
                values,
            }
        })
        .collect()
}

#[test]
fn random_runs_stay_within_what_the_tabulation_reaches() {
    let (mut visited, mut reachable) = (0, 0);
    let (mut followed, mut runs) = (0, 0);
    for seed in 0..250 {
        let program = random_program(seed);
        let reached = tabulate(&program);
        let mut seen = BTreeSet::new();
        for path in 0..50 {
            let mut choices = Choices::random(seed * 1000 + path);
            let Some(run) = run(&program, &mut choices, 80) else {
                continue;
            };
            seen.extend(run.steps.iter().map(|(vertex, _)| vertex.0));
            if path < 4 {
                let full = trace(&program, &run.steps);
                assert_eq!(replay(&program, &full), Ok(()), "seed {seed}");
                let without_exits: Vec<_> = full
                    .iter()
                    .filter(|s| program.vertices[s.vertex.index()].kind != VertexKind::Exit)
                    .cloned()
                    .collect();
                assert_eq!(replay(&program, &without_exits), Ok(()), "seed {seed}");
                let bare: Vec<_> = full
                    .iter()
                    .map(|s| TraceStep {
                        vertex: s.vertex,
                        values: vec![],
                    })
                    .collect();
                // Without any values deep stacks can have too many states, but a run is a run.
                let result = replay(&program, &bare);
                assert!(
                    matches!(result, Ok(()) | Err(ReplayError::TooManyStates(_))),
                    "seed {seed}: {result:?}"
                );
                followed += result.is_ok() as usize;
                runs += 1;
            }
        }
        assert!(seen.is_subset(&reached), "seed {seed}");
        visited += seen.len();
        reachable += reached.len();
    }
    // Chance does not find every place, but if it found much less the two would disagree.
    assert!(visited * 100 > reachable * 90, "{visited} of {reachable}");
    assert!(followed * 100 > runs * 90, "{followed} of {runs}");
}

#[test]
fn replay_refuses_a_value_that_was_changed() {
    let mut refused = 0;
    for seed in 0..300 {
        let program = random_program(seed);
        let Some(run) = run(&program, &mut Choices::random(seed), 40) else {
            continue;
        };
        let mut steps = run.steps;
        let position = (seed as usize * 7) % steps.len();
        let Some(value) = steps[position].1.first_mut() else {
            continue;
        };
        *value = !*value;
        // The single steps around the change decide, where no call or return is involved.
        let checker = Checker::new(&program);
        let same_procedure = |a: usize, b: usize| {
            let procedure = |i: usize| program.vertices[steps[i].0.index()].procedure;
            let is_call = program.vertices[steps[a].0.index()].kind == VertexKind::Call;
            let is_exit = program.vertices[steps[a].0.index()].kind == VertexKind::Exit;
            !is_call && !is_exit && procedure(a) == procedure(b)
        };
        let broken = (1..steps.len()).any(|i| {
            same_procedure(i - 1, i)
                && !program.edges_from(steps[i - 1].0).any(|(id, edge)| {
                    edge.to == steps[i].0 && checker.step(id, &steps[i - 1].1, &steps[i].1)
                })
        });
        if broken {
            refused += 1;
            assert!(
                replay(&program, &trace(&program, &steps)).is_err(),
                "seed {seed}"
            );
        }
    }
    assert!(refused > 30, "{refused}");
}

#[test]
fn a_trace_must_start_at_main_and_stay_in_scope() {
    let program = program("decl g; void f(a) begin skip; end void main() begin f(g); skip; end");
    let f = &program.procedures[0];
    let at = |vertex, values: &[(VarId, bool)]| TraceStep {
        vertex,
        values: values.to_vec(),
    };
    let main = &program.procedures[1];
    assert_eq!(
        replay(&program, &[at(f.entry, &[])]),
        Err(ReplayError::Start)
    );
    let a = f.formals[0];
    let g = program.globals[0];
    assert_eq!(
        replay(&program, &[at(main.entry, &[(a, true)])]),
        Err(ReplayError::Scope(0))
    );
    let good = [at(main.entry, &[(g, true)]), at(f.entry, &[(a, true)])];
    assert_eq!(replay(&program, &good), Ok(()));
    let bad = [at(main.entry, &[(g, true)]), at(f.entry, &[(a, false)])];
    assert_eq!(replay(&program, &bad), Err(ReplayError::NoExecution(1)));
    // The value of `g` is open at first; what the second step says about `a` decides it.
    let late = [at(main.entry, &[]), at(f.entry, &[(a, false), (g, true)])];
    assert_eq!(replay(&program, &late), Err(ReplayError::NoExecution(1)));
}

#[test]
fn a_long_trace_with_a_deep_stack_is_replayed_in_no_time() {
    let text =
        "decl g; void f(a) begin if (a) then f(a); fi end void main() begin f(g); g := 0; end";
    let program = program(text);
    let g = program.globals[0];
    // `f` calls itself 30,000 times and never returns.
    let (f, main) = (&program.procedures[0], &program.procedures[1]);
    let mut steps = vec![(main.entry, vec![true])];
    for _ in 0..30_000 {
        steps.push((f.entry, vec![true, true]));
        steps.push((VertexId(f.entry.0 + 1), vec![true, true]));
    }
    let going_down = trace(&program, &steps);
    let start = std::time::Instant::now();
    assert_eq!(replay(&program, &going_down), Ok(()));
    // With a choice for the argument it ends and comes all the way back.
    let text =
        "decl g; void f(a) begin if (a) then f(*); fi end void main() begin f(g); g := 0; end";
    let program = self::program(text);
    let mut hidden = going_down.clone();
    hidden.push(TraceStep {
        vertex: f.entry,
        values: vec![(f.formals[0], false)],
    });
    let mut shown = hidden.clone();
    let exit = TraceStep {
        vertex: f.exit,
        values: vec![(g, true)],
    };
    shown.extend(std::iter::repeat_n(exit, 30_001));
    let end = TraceStep {
        vertex: VertexId(main.entry.0 + 1),
        values: vec![(g, true)],
    };
    hidden.push(end.clone());
    shown.push(end);
    assert_eq!(replay(&program, &hidden), Ok(()));
    assert_eq!(replay(&program, &shown), Ok(()));
    shown.remove(70_000);
    assert!(matches!(
        replay(&program, &shown),
        Err(ReplayError::NoExecution(_))
    ));
    assert!(start.elapsed() < std::time::Duration::from_secs(60));
}

/// With `HARDBOP_Z3` set to a Z3 program, asks Spacer about the Horn clauses of random programs;
/// without it, only looks whether the clauses could be written.
#[test]
fn the_horn_clauses_say_what_the_tabulation_says() {
    let solver = std::env::var_os("HARDBOP_Z3");
    let count = if solver.is_some() { 300 } else { 40 };
    for seed in 0..count {
        let program = random_program(seed);
        let reached = tabulate(&program);
        for (index, target) in program.targets.iter().enumerate() {
            let script = to_chc(&program, Query::Target(index));
            assert!(is_balanced(&script), "seed {seed}: {script}");
            let Some(solver) = &solver else { continue };
            let path =
                std::env::temp_dir().join(format!("hardbop-chc-{}.smt2", std::process::id()));
            std::fs::write(&path, script).expect("a file");
            let output = std::process::Command::new(solver)
                .arg(&path)
                .output()
                .expect("Z3 runs");
            let answer = String::from_utf8_lossy(&output.stdout);
            let expected = if reached.contains(&target.vertex.0) {
                "unsat"
            } else {
                "sat"
            };
            assert_eq!(answer.trim(), expected, "seed {seed}, target {index}");
        }
    }
}

/// Whether every line is a complete expression or a comment.
fn is_balanced(script: &str) -> bool {
    let count = |line: &str, c| line.chars().filter(|&x| x == c).count();
    let complete = |line: &str| line.starts_with(';') || count(line, '(') == count(line, ')');
    script.lines().all(complete)
}

// Single constructs, by scripted runs.

/// Runs with the given bits and shows the vertices' lines and the final state.
fn check_run(text: &str, bits: &str, lines: &[u32], outcome: Outcome, state: &str) {
    let mut sources = Sources::new();
    let file = sources.add("test.bp", text);
    let program = load(&sources, file, Dialect::Auto)
        .program
        .expect("no errors");
    let mut choices = Choices::script(bits.chars().map(|c| c == '1').collect());
    let run = run(&program, &mut choices, 100).expect("an allowed start");
    let visited: Vec<_> = run
        .steps
        .iter()
        .map(|(v, _)| sources.line(file, program.vertices[v.index()].span.start))
        .collect();
    assert_eq!(visited, lines);
    assert_eq!(run.outcome, outcome);
    let last = &run.steps.last().expect("a step").1;
    let shown: String = last.iter().map(|&b| if b { '1' } else { '0' }).collect();
    assert_eq!(shown, state);
}

#[test]
fn parallel_assignment_reads_the_old_state() {
    let text = "decl a, b;\nvoid main() begin\n a, b := b, a;\nend";
    check_run(text, "10", &[3, 4], Outcome::Finished, "01");
}

#[test]
fn calls_pass_values_and_results() {
    let text = "decl g;\nbool<2> f(a) begin\n g := !g;\n return !a, g;\nend\nvoid main() begin\n decl x;\n _, x := f(g);\nend";
    // g = 1, x = 0; in f the return values start as 0, 0.
    check_run(text, "1000", &[8, 3, 4, 5, 9], Outcome::Finished, "00");
}

#[test]
fn the_results_are_assigned_after_the_globals_come_back() {
    let text =
        "decl g;\nbool f() begin\n g := 0;\n return 1;\nend\nvoid main() begin\n g := f();\nend";
    check_run(text, "10", &[7, 3, 4, 5, 8], Outcome::Finished, "1");
}

#[test]
fn choose_is_true_then_false_then_free() {
    let text = "decl x;\nvoid main() begin\n x := choose(1, 1);\n x := schoose[0, 1];\n x := schoose[0, 0];\nend";
    check_run(text, "01", &[3, 4, 5, 6], Outcome::Finished, "1");
}

#[test]
fn constrain_relates_the_old_and_the_new_state() {
    let text = "decl x, y;\nvoid main() begin\n x := * constrain 'x != 'y;\nend";
    check_run(text, "001", &[3, 4], Outcome::Finished, "10");
    check_run(
        text,
        "000",
        &[3],
        Outcome::Blocked(Blocked::Constrain),
        "00",
    );
}

#[test]
fn enforce_leaves_out_states() {
    let text = "decl x;\nvoid main() begin\n enforce x;\n x := *;\nend";
    check_run(text, "10", &[4], Outcome::Blocked(Blocked::Enforce), "1");
    check_run(text, "11", &[4, 5], Outcome::Finished, "1");
    let program = program(text);
    assert_eq!(
        Machine::start(&program, &mut Choices::script(vec![false])).err(),
        Some(Blocked::Enforce)
    );
}

#[test]
fn enforce_means_the_same_anywhere_in_a_body() {
    let text = "decl x;\nvoid main() begin\n x := *;\n enforce x;\n skip;\nend";
    check_run(text, "10", &[3], Outcome::Blocked(Blocked::Enforce), "1");
    check_run(text, "11", &[3, 5, 6], Outcome::Finished, "1");
    // It holds before it, too: execution does not start in a state without it.
    assert_eq!(
        Machine::start(&program(text), &mut Choices::script(vec![false])).err(),
        Some(Blocked::Enforce)
    );
    // In a branch that is not taken, about a variable that is declared on the way.
    let text =
        "decl x;\nvoid main() begin\n if (0) then\n decl y;\n enforce y;\n fi\n x := 1;\nend";
    let program = program(text);
    let start = Machine::start(&program, &mut Choices::script(vec![true, false]));
    assert_eq!(start.err(), Some(Blocked::Enforce));
}

#[test]
fn assume_abortif_and_assert() {
    let text = "decl x;\nvoid main() begin\n assume(x);\n abortif !x;\n assert(!x);\nend";
    check_run(text, "0", &[3], Outcome::Blocked(Blocked::Assume), "0");
    check_run(text, "1", &[3, 4, 5, 5], Outcome::Failed, "1");
}

#[test]
fn goto_takes_any_of_its_targets() {
    let text = "void main() begin\n goto A, B, C;\n A: skip;\n B: skip;\n C: skip;\nend";
    check_run(text, "00", &[2, 3, 4, 5, 6], Outcome::Finished, "");
    check_run(text, "01", &[2, 4, 5, 6], Outcome::Finished, "");
    check_run(text, "10", &[2, 5, 6], Outcome::Finished, "");
}

#[test]
fn dead_and_late_declarations_give_new_values() {
    let text = "decl x;\nvoid main() begin\n dead x;\n decl y;\n x := y;\nend";
    check_run(text, "0001", &[3, 4, 5, 6], Outcome::Finished, "11");
}
