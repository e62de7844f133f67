//! Limits, early ends, and programs that are large in one direction.

mod support;

use hardbop_bebop::{Answer, Expand, Goal, LiveRanges, Options, Tracking, Unknown, Value, check};
use hardbop_boolean_program::generate::{self, Start};
use hardbop_boolean_program::program::{Program, TargetKind, VertexId};
use hardbop_budget::{Budget, Stopped};
use std::fmt::Write;
use std::time::Duration;
use support::{judge, program};

fn label(program: &Program, name: &str) -> VertexId {
    let wanted = TargetKind::Label(name.to_string());
    let found = program.targets.iter().find(|target| target.kind == wanted);
    found.expect("the label").vertex
}

#[test]
fn without_time_nothing_is_claimed_and_the_search_can_go_on() {
    let program = program(&generate::counter(14, Start::Zero));
    let budget = Budget::unlimited().with_time(Duration::ZERO);
    let mut checker = check(&program, &Options::default(), &budget);
    let unknown = Answer::Unknown(Unknown::Stopped(Stopped::Time));
    assert_eq!(checker.answers(), [unknown, unknown]);
    assert!(
        checker
            .invariant(program.targets[0].vertex)
            .unwrap()
            .is_none()
    );
    checker.resume(&Goal::All, &Budget::unlimited());
    assert_eq!(checker.answers(), [Answer::Reachable, Answer::Unreachable]);
}

#[test]
fn interruptions_anywhere_do_not_change_the_answers() {
    let text = generate::counter(12, Start::Zero);
    let program = program(&text);
    let mut interrupted = 0;
    let mut checker = check(
        &program,
        &Options::default(),
        &Budget::unlimited().with_time(Duration::from_nanos(1)),
    );
    while checker
        .answers()
        .iter()
        .any(|answer| matches!(answer, Answer::Unknown(_)))
    {
        interrupted += 1;
        let budget = Budget::unlimited().with_time(Duration::from_micros(20 * interrupted));
        checker.resume(&Goal::All, &budget);
    }
    assert!(interrupted > 1);
    assert_eq!(checker.answers(), [Answer::Reachable, Answer::Unreachable]);
    checker.resume(&Goal::All, &Budget::unlimited());
    let done = label(&program, "done");
    let trace = checker.trace(done, Expand::Nothing).unwrap().unwrap();
    judge::check_execution(&program, &trace, done);
}

#[test]
fn a_cancelled_search_stops() {
    let program = program(&generate::counter(16, Start::Zero));
    let budget = Budget::unlimited();
    budget
        .cancellation()
        .store(true, std::sync::atomic::Ordering::Relaxed);
    let checker = check(&program, &Options::default(), &budget);
    let unknown = Answer::Unknown(Unknown::Stopped(Stopped::Cancelled));
    assert_eq!(checker.answers(), [unknown, unknown]);
}

#[test]
fn a_trace_that_runs_out_of_time_says_so() {
    let program = program(&generate::counter(12, Start::Zero));
    let mut checker = check(&program, &Options::default(), &Budget::unlimited());
    let done = label(&program, "done");
    checker.resume(&Goal::All, &Budget::unlimited().with_time(Duration::ZERO));
    assert_eq!(checker.answer_for(done), Answer::Reachable);
    assert_eq!(
        checker.trace(done, Expand::Nothing).unwrap_err(),
        Stopped::Time
    );
    checker.resume(&Goal::All, &Budget::unlimited());
    assert!(checker.trace(done, Expand::Nothing).unwrap().is_some());
}

#[test]
fn the_first_target_is_enough_when_asked() {
    let text = "decl a, b; void main() begin
        one: skip;
        a := 0; b := 0;
        while (*) do a, b := b, !a; od
        two: skip;
        if (a & !a) then three: skip; fi
        end";
    let program = program(text);
    let goal = Goal::FirstOf(vec![0]);
    let options = Options {
        goal,
        ..Options::default()
    };
    let mut checker = check(&program, &options, &Budget::unlimited());
    assert_eq!(checker.answers()[0], Answer::Reachable);
    assert_eq!(checker.answers()[2], Answer::Unknown(Unknown::Enough));
    let trace = checker
        .trace(program.targets[0].vertex, Expand::Nothing)
        .unwrap()
        .unwrap();
    assert_eq!(trace.length, 0);
    checker.resume(&Goal::All, &Budget::unlimited());
    assert_eq!(
        checker.answers(),
        [Answer::Reachable, Answer::Reachable, Answer::Unreachable]
    );
    // A trace made before must not stand in the way of one that needs what was found since.
    let two = program.targets[1].vertex;
    let trace = checker.trace(two, Expand::Nothing).unwrap().unwrap();
    judge::check_execution(&program, &trace, two);
    assert_eq!(trace.length, 4);
}

/// A chain of procedures, each calling the next; the last one holds the label.
fn chain(depth: usize) -> String {
    let mut text = "decl g;\nvoid main() begin p0(g); end\n".to_string();
    for level in 0..depth {
        let _ = writeln!(text, "void p{level}(a) begin p{}(!a); end", level + 1);
    }
    let _ = writeln!(
        text,
        "void p{depth}(a) begin if (a) then deep: skip; fi end"
    );
    text
}

#[test]
fn deep_call_chains_need_no_deep_stack() {
    let work = || {
        let program = program(&chain(20_000));
        let mut checker = check(&program, &Options::default(), &Budget::unlimited());
        let deep = label(&program, "deep");
        assert_eq!(checker.answer_for(deep), Answer::Reachable);
        let trace = checker.trace(deep, Expand::Steps(1000)).unwrap().unwrap();
        assert_eq!(trace.length, 20_002);
        judge::check_execution(&program, &trace, deep);
        // What reaches the label at the bottom decides what g is at the top.
        assert_eq!(trace.steps[0].forced.len(), 1);
    };
    std::thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn long_procedures_take_linear_time() {
    let mut text = "decl g;\nvoid main() begin\n".to_string();
    for _ in 0..30_000 {
        text.push_str("g := !g;\n");
    }
    text.push_str("if (g) then end: skip; fi\nend\n");
    let text = text.replace("end: skip", "bottom: skip");
    let program = program(&text);
    let mut checker = check(&program, &Options::default(), &Budget::unlimited());
    let bottom = label(&program, "bottom");
    let trace = checker.trace(bottom, Expand::Nothing).unwrap().unwrap();
    assert_eq!(trace.length, 30_001);
    judge::check_execution(&program, &trace, bottom);
}

#[test]
fn closed_calls_leave_dead_globals_open() {
    // Nobody reads g after the call, so the summary does not speak of it; a closed call must not
    // pretend to know it, an open one knows it.
    let text = "decl g, h;
        void main() begin set(); L: skip; end
        void set() begin g := 1; h := !h; end";
    let program = program(text);
    let mut checker = check(&program, &Options::default(), &Budget::unlimited());
    let target = label(&program, "L");
    let closed = checker.trace(target, Expand::Nothing).unwrap().unwrap();
    assert!(closed.steps.last().unwrap().state.is_empty());
    let open = checker.trace(target, Expand::Steps(100)).unwrap().unwrap();
    let last = open.steps.last().unwrap();
    assert_eq!(last.state.len(), 2);
    assert_eq!(last.forced, [(program.globals[0], true)]);
    assert_eq!(Value::Unknown.get(), None);

    // Where path edges track everything, closed calls know it, too.
    let tracking = Tracking {
        live_ranges: LiveRanges::Ignored,
        ..Tracking::default()
    };
    let options = Options {
        tracking,
        ..Options::default()
    };
    let mut checker = check(&program, &options, &Budget::unlimited());
    let closed = checker.trace(target, Expand::Nothing).unwrap().unwrap();
    assert_eq!(
        closed.steps.last().unwrap().forced,
        [(program.globals[0], true)]
    );
}

#[test]
fn formulas_are_small_and_readable() {
    let text = "decl a, b, c, d;
        void main() begin
          a := 1; b := c;
          assume(c | d);
          while (*) do if (c) then d := !d; fi od
          L: skip;
          if (a & b & c & d) then M: skip; fi
        end";
    let program = program(text);
    let mut checker = check(&program, &Options::default(), &Budget::unlimited());
    let mut show = |name: &str| {
        let invariant = checker.invariant(label(&program, name)).unwrap().unwrap();
        let named = invariant
            .formula
            .map(|var| hardbop_bebop::display_name(&program, var));
        named.to_string()
    };
    assert_eq!(show("L"), "a & b = c & (b | d)");
    assert_eq!(show("M"), "true");
    let heads = checker.loop_heads();
    assert_eq!(heads.len(), 1);
    let head = checker.invariant(heads[0]).unwrap().unwrap();
    let named = head
        .formula
        .map(|var| hardbop_bebop::display_name(&program, var));
    assert_eq!(named.to_string(), "a & b = c & (b | d)");
}
