//! The examples of the papers, with the papers' own outcomes.

mod support;

use expect_test::{Expect, expect};
use hardbop_bebop::{Answer, Checker, Expand, Options, ProgramTrace, check, display_name};
use hardbop_boolean_program::generate;
use hardbop_boolean_program::program::{Program, TargetKind, VertexId, VertexKind};
use hardbop_budget::Budget;
use std::fmt::Write;
use support::{judge, line, program};

/// The vertex of a label.
fn label(program: &Program, name: &str) -> VertexId {
    let wanted = TargetKind::Label(name.to_string());
    program
        .targets
        .iter()
        .find(|target| target.kind == wanted)
        .expect("the label")
        .vertex
}

fn solved(program: &Program) -> Checker<'_> {
    check(program, &Options::default(), &Budget::unlimited())
}

/// A trace in the layout of Bebop's Figure 1: in reverse order of execution, calls indented, with
/// the values that the trace forces.
fn figure(text: &str, program: &Program, trace: &ProgramTrace) -> String {
    let mut out = String::new();
    for step in trace.steps.iter().rev() {
        if program.vertices[step.vertex.index()].kind == VertexKind::Exit {
            continue;
        }
        let indent = "    ".repeat(step.depth as usize);
        let _ = write!(out, "{indent}Line {}", line(text, program, step.vertex));
        if !step.forced.is_empty() {
            out.push_str(" State");
        }
        for &(var, value) in &step.forced {
            let _ = write!(out, " {}={}", display_name(program, var), u8::from(value));
        }
        out.push('\n');
    }
    out
}

/// Checks the trace to a label and that it replays.
fn check_trace(text: &str, name: &str, length: u32, expected: Expect) {
    let program = program(text);
    let mut checker = solved(&program);
    let target = label(&program, name);
    assert_eq!(checker.answer_for(target), Answer::Reachable);
    let trace = checker
        .trace(target, Expand::Steps(1000))
        .expect("no limit")
        .expect("a trace");
    judge::check_execution(&program, &trace, target);
    judge::check_forced(&program, &trace);
    assert_eq!(trace.length, length);
    expected.assert_eq(&figure(text, &program, &trace));
}

/// One line for every target: its line, what it is, the answer.
fn check_answers(text: &str, expected: Expect) {
    let program = program(text);
    let checker = solved(&program);
    let mut out = String::new();
    for (target, answer) in program.targets.iter().zip(checker.answers()) {
        let kind = match &target.kind {
            TargetKind::Label(name) => format!("label {name}"),
            TargetKind::Assertion => "assertion".to_string(),
        };
        let at = text[..target.span.start as usize].matches('\n').count() + 1;
        let _ = writeln!(out, "{at}: {kind}: {answer:?}");
    }
    expected.assert_eq(&out);
}

const FIGURE_1: &str = "\
decl g;

main()
begin
  decl h;
  h := !g;
  A(g,h);
  skip;
  A(g,h);
  skip;
  if (g) then
    R: skip;
  else
    skip;
  fi
end

A(a1,a2)
begin
  if (a1) then
    A(a2,a1);
    skip;
  else
    g := a2;
  fi
end
";

#[test]
fn bebop_figure_1() {
    // Seven statements of main lead to R, and so six transitions of a hierarchical trajectory.
    check_trace(
        FIGURE_1,
        "R",
        6,
        expect![[r#"
            Line 12 State g=1 h=0
            Line 11 State g=1 h=0
            Line 10 State g=1 h=0
                Line 22 State g=1 a1=1 a2=0
                    Line 24 State g=1 a1=0 a2=1
                    Line 20 State g=1 a1=0 a2=1
                Line 21 State g=1 a1=1 a2=0
                Line 20 State g=1 a1=1 a2=0
            Line 9 State g=1 h=0
            Line 8 State g=1 h=0
                Line 22 State g=1 a1=1 a2=0
                    Line 24 State g=1 a1=0 a2=1
                    Line 20 State g=1 a1=0 a2=1
                Line 21 State g=1 a1=1 a2=0
                Line 20 State g=1 a1=1 a2=0
            Line 7 State g=1 h=0
            Line 6 State g=1
        "#]],
    );
}

#[test]
fn bebop_figure_1_closed() {
    let program = program(FIGURE_1);
    let mut checker = solved(&program);
    let trace = checker
        .trace(label(&program, "R"), Expand::Nothing)
        .unwrap()
        .unwrap();
    expect![[r#"
        Line 12 State g=1 h=0
        Line 11 State g=1 h=0
        Line 10 State g=1 h=0
        Line 9 State g=1 h=0
        Line 8 State g=1 h=0
        Line 7 State g=1 h=0
        Line 6 State g=1
    "#]]
    .assert_eq(&figure(FIGURE_1, &program, &trace));
}

/// Section 3.3: six variables, of which at most three are live at any time. The paper's own text
/// of the program is lost; this one fits what the paper says of it.
const LIVE_RANGES: &str = "\
void main()
begin
  decl a, b, c, d, e, f;
  L1: a := b | c;
  L2: d := a | e;
  L3: e := d | e;
  L4: f := d;
  skip;
end
";

#[test]
fn bebop_live_ranges() {
    // At L1 only b, c and e can flow on; what is dead does not occur in any path edge.
    let program = program(LIVE_RANGES);
    let checker = solved(&program);
    let live = |name| {
        checker
            .live(label(&program, name))
            .into_iter()
            .map(|v| display_name(&program, v))
    };
    let live = |name| live(name).collect::<Vec<_>>().join(" ");
    assert_eq!(live("L1"), "b c e");
    assert_eq!(live("L2"), "a e");
    assert_eq!(live("L3"), "d e");
    assert_eq!(live("L4"), "d");
}

#[test]
fn bebop_section_4_template() {
    let text = generate::template(50);
    let program = program(&text);
    let mut checker = solved(&program);
    let done = label(&program, "done");
    assert_eq!(checker.answer_for(done), Answer::Reachable);
    // Two calls and two skips of main; the inside of the calls is exponentially long, so that
    // only part of it is shown.
    let trace = checker.trace(done, Expand::Steps(2000)).unwrap().unwrap();
    assert_eq!(trace.length, 4);
    assert!(trace.steps.len() >= 1000);
    // Each of the three bits of the counter is in the summary's way, and none in the summary.
    let counts = checker.statistics().counts;
    assert_eq!(counts.summaries, 51);
    assert!(counts.largest_path_edge < 10, "{counts:?}");
}

/// TR 2000-14, Figure 1: the skeleton B1, then B2 with numUnits = 0 tracked, then B3 with
/// canEnter tracked as well.
const B1: &str = "\
void getUnit() begin
  skip;
  if (?) then
    if (?) then
      skip;
      skip;
      skip;
    fi
  else
    skip;
  fi
  if (?) then
    if (?) then
      assert(F);
    else
      skip;
    fi
  fi
end
void main() begin getUnit(); end
";

const B2: &str = "\
decl nU0;
void getUnit() begin
  skip;
  if (nU0) then
    if (?) then
      skip;
      nU0 := F;
      skip;
    fi
  else
    skip;
  fi
  if (?) then
    if (nU0) then
      assert(F);
    else
      skip;
    fi
  fi
end
void main() begin getUnit(); end
";

const B3: &str = "\
decl nU0;
void getUnit() begin
  decl cE;
  cE := F;
  if (nU0) then
    if (?) then
      skip;
      nU0 := F;
      cE := T;
    fi
  else
    cE := T;
  fi
  if (cE) then
    if (nU0) then
      assert(F);
    else
      skip;
    fi
  fi
end
void main() begin getUnit(); end
";

#[test]
fn technical_report_figure_1() {
    check_answers(B1, expect!["14: assertion: Reachable\n"]);
    check_answers(B2, expect!["15: assertion: Reachable\n"]);
    check_answers(B3, expect!["16: assertion: Unreachable\n"]);
    // The way to the assertion in B2 is the paper's [1-3, 8-10]: nU0 stays true.
    let program = program(B2);
    let mut checker = solved(&program);
    let target = program.targets[0].vertex;
    let trace = checker.trace(target, Expand::Steps(100)).unwrap().unwrap();
    judge::check_execution(&program, &trace, target);
    expect![[r#"
            Line 15 State nU0=1
            Line 15 State nU0=1
            Line 14 State nU0=1
            Line 13 State nU0=1
            Line 5 State nU0=1
            Line 4 State nU0=1
            Line 3 State nU0=1
        Line 21 State nU0=1
    "#]]
    .assert_eq(&figure(B2, &program, &trace));
}

/// TR 2000-14, Figure 5, rebuilt from its description: [12] is reached although g starts false,
/// since the first call of C sets g at [13], and so the second one gets true.
const FIGURE_5: &str = "\
decl g;
void main() begin
  assume(!g);
  A(g);
  skip;
  B(!g);
  skip;
end
void A(a) begin
  C(a);
  skip;
  return;
end
void B(b) begin
  C(!b);
  skip;
  return;
end
void C(c) begin
  if (c) then
    L12: skip;
  else
    g := !g;
  fi
  return;
end
";

#[test]
fn technical_report_figure_5() {
    check_trace(
        FIGURE_5,
        "L12",
        6,
        expect![[r#"
                    Line 21 State g=1 c=1
                    Line 20 State g=1 c=1
                Line 15 State g=1 b=0
            Line 6 State g=1
            Line 5 State g=1
                Line 12 State g=1 a=0
                Line 11 State g=1 a=0
                    Line 25 State g=1 c=0
                    Line 23 State g=0 c=0
                    Line 20 State g=0 c=0
                Line 10 State g=0 a=0
            Line 4 State g=0
            Line 3 State g=0
        "#]],
    );
}

/// TR 2000-14, Figure 6: the second call of B returns only if y < x holds after x < y held. The
/// two exclude each other, which is what `enforce` says.
const FIGURE_6: &str = "\
decl xTx, yTy, xLy, yLx;
enforce (!(xLy & yLx));
void main() begin
  xTx, xLy, yLx := T, *, *;
  yTy, xLy, yLx := T, *, *;
  B(xTx, F, yTy, F);
  L2: skip;
  B(F, yTy, F, xTx);
  L4: skip;
end
void B(b1x, b1y, b2y, b2x) begin
  assert(!((b1x & b2y & !xLy) | (b1x & b2x) | (b1y & b2x & !yLx) | (b1y & b2y)));
  xLy, yLx := choose(xLy | (b1x & b2y), !xLy | yLx | (b1y & b2x)),
              choose(yLx | (b1y & b2x), !yLx | xLy | (b1x & b2y));
  return;
end
";

#[test]
fn technical_report_figure_6() {
    check_answers(
        FIGURE_6,
        expect![[r#"
            7: label L2: Reachable
            9: label L4: Unreachable
            12: assertion: Reachable
        "#]],
    );
}

#[test]
fn values_that_differ_between_callers_stay_apart() {
    // A context-insensitive analysis would mix the two calls and reach the label.
    check_answers(
        "\
void main() begin
  decl x, y;
  x := id(T);
  y := id(F);
  if (x = y) then bad: skip; fi
end
bool id(a) begin return a; end
",
        expect!["5: label bad: Unreachable\n"],
    );
}
