//! `hardbop bebop`.

use crate::scene::Scene;
use expect_test::expect;
use std::time::{Duration, Instant};

#[test]
fn figure_1_in_execution_order() {
    Scene::examples().check(
        "bebop bp/figure1.bp",
        expect![[r#"
        bp/figure1.bp:12: label R in main: reachable after 6 steps

           6  h := !g  g=1
           7  A(g,h)   g=1 h=0
           8  skip     g=1 h=0
           9  A(g,h)   g=1 h=0
          10  skip     g=1 h=0
          11  if (g)   g=1 h=0
          12  R: skip  g=1 h=0

        1 label reachable
        [exit 1]
    "#]],
    );
    Scene::examples().check(
        "bebop bp/figure1.bp --expand",
        expect![[r#"
        bp/figure1.bp:12: label R in main: reachable after 6 steps

           6  h := !g          g=1
           7  A(g,h)           g=1 h=0
          20      if (a1)      g=1 a1=1 a2=0
          21      A(a2,a1)     g=1 a1=1 a2=0
          20          if (a1)  g=1 a1=0 a2=1
          24          g := a2  g=1 a1=0 a2=1
          22      skip         g=1 a1=1 a2=0
           8  skip             g=1 h=0
           9  A(g,h)           g=1 h=0
          20      if (a1)      g=1 a1=1 a2=0
          21      A(a2,a1)     g=1 a1=1 a2=0
          20          if (a1)  g=1 a1=0 a2=1
          24          g := a2  g=1 a1=0 a2=1
          22      skip         g=1 a1=1 a2=0
          10  skip             g=1 h=0
          11  if (g)           g=1 h=0
          12  R: skip          g=1 h=0

        1 label reachable
        [exit 1]
    "#]],
    );
}

/// The trace that the paper prints, line by line.
#[test]
fn figure_1_as_in_the_paper() {
    Scene::examples().check(
        "bebop bp/figure1.bp --reverse --expand --label R",
        expect![[r#"
            bp/figure1.bp:12: label R in main: reachable after 6 steps

            Line 12          State g=1 h=0
            Line 11          State g=1 h=0
            Line 10          State g=1 h=0
                Line 22      State g=1 a1=1 a2=0
                    Line 24  State g=1 a1=0 a2=1
                    Line 20  State g=1 a1=0 a2=1
                Line 21      State g=1 a1=1 a2=0
                Line 20      State g=1 a1=1 a2=0
            Line 9           State g=1 h=0
            Line 8           State g=1 h=0
                Line 22      State g=1 a1=1 a2=0
                    Line 24  State g=1 a1=0 a2=1
                    Line 20  State g=1 a1=0 a2=1
                Line 21      State g=1 a1=1 a2=0
                Line 20      State g=1 a1=1 a2=0
            Line 7           State g=1 h=0
            Line 6           State g=1

            1 label reachable
            [exit 1]
        "#]],
    );
}

#[test]
fn a_proof() {
    Scene::examples().check(
        "bebop bp/driver.bp --assertions",
        expect![[r#"
        bp/driver.bp:9: assertion in acquire: holds
        bp/driver.bp:15: assertion in release: holds
        2 assertions hold
        [exit 0]
    "#]],
    );
}

#[test]
fn a_failing_assertion() {
    Scene::examples().check(
        "bebop bp/driver_coarse.bp --assertions",
        expect![[r#"
        bp/driver_coarse.bp:8: assertion in acquire: fails after 7 steps

          20  locked := F
          21  HEAD: acquire()          locked=0
          22  if (*)                   locked=1
          25  if (*)                   locked=1
          26  goto HEAD                locked=1
          21  HEAD: acquire()          locked=1
           8      assert(!locked)      locked=1
           8      the assertion fails  locked=1

        bp/driver_coarse.bp:14: assertion in release: fails after 7 steps

          20  locked := F
          21  HEAD: acquire()          locked=0
          22  if (*)                   locked=1
          23  release()                locked=1
          25  if (*)                   locked=0
          28  release()                locked=0
          14      assert(locked)       locked=0
          14      the assertion fails  locked=0

        2 assertions fail
        [exit 1]
    "#]],
    );
}

#[test]
fn labels_are_picked_by_name() {
    let scene = Scene::file(
        "x.bp",
        "void main() begin L: f(); M: skip; end void f() begin L: assume(F); end",
    );
    scene.check(
        "bebop x.bp --no-trace",
        expect![[r#"
        x.bp:1: label L in main: reachable
        x.bp:1: label M in main: unreachable
        x.bp:1: label L in f: reachable
        2 labels reachable, 1 label unreachable
        [exit 1]
    "#]],
    );
    scene.check(
        "bebop x.bp --no-trace --label L",
        expect![[r#"
        x.bp:1: label L in main: reachable
        x.bp:1: label L in f: reachable
        2 labels reachable
        [exit 1]
    "#]],
    );
    scene.check(
        "bebop x.bp --no-trace --label f.L --label M",
        expect![[r#"
        x.bp:1: label M in main: unreachable
        x.bp:1: label L in f: reachable
        1 label reachable, 1 label unreachable
        [exit 1]
    "#]],
    );
    scene.check(
        "bp export x.bp --label L",
        expect![[r#"
        [stderr]
        error: `L` could be any of label L in main, label L in f; name the procedure too
        [exit 2]
    "#]],
    );
}

#[test]
fn the_first_target_is_enough() {
    let scene = Scene::examples();
    let output = scene.output("bebop bp/driver.bp --first --no-trace");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("reachable"), "{text}");
}

#[test]
fn invariants() {
    Scene::examples().check(
        "bebop bp/figure1.bp --no-trace --invariants",
        expect![[r#"
        bp/figure1.bp:12: label R in main: reachable
        1 label reachable

        bp/figure1.bp:12: before `R: skip`: g & !h
        [exit 1]
    "#]],
    );
    Scene::examples().check(
        "bebop bp/driver.bp --no-trace --invariants HEAD",
        expect![[r#"
            bp/driver.bp:9: assertion in acquire: holds
            bp/driver.bp:15: assertion in release: holds
            bp/driver.bp:24: label HEAD in main: reachable
            bp/driver.bp:34: label DONE in main: reachable
            2 assertions hold, 2 labels reachable

            bp/driver.bp:24: before `HEAD: acquire()`: !locked
            [exit 1]
        "#]],
    );
    let scene = Scene::file(
        "x.bp",
        "decl a, b, c;\nvoid main() begin\n  a, b := b, b;\n  while (*) do\n    c := a & !b;\n  od\n  L: assume(F);\n  M: skip;\nend\n",
    );
    scene.check(
        "bebop x.bp --no-trace --invariants",
        expect![[r#"
        x.bp:7: label L in main: reachable
        x.bp:8: label M in main: unreachable
        1 label reachable, 1 label unreachable

        x.bp:4: before `while (*)`: a = b
        x.bp:7: before `L: assume(F)`: a = b
        x.bp:8: before `M: skip`: false
        [exit 1]
    "#]],
    );
}

#[test]
fn statistics() {
    let value = Scene::examples().json("bebop bp/figure1.bp --stats --invariants");
    for key in [
        "vertices",
        "path_edge_nodes",
        "summaries",
        "rings",
        "seconds",
        "peak_nodes",
    ] {
        assert!(value["statistics"][key].is_number(), "{key}");
    }
    let text = Scene::examples().output("bebop bp/figure1.bp --stats");
    let text = String::from_utf8(text.stdout).unwrap();
    for row in [
        "vertices",
        "path-edge nodes",
        "summaries",
        "rings",
        "time",
        "peak memory",
    ] {
        assert!(text.lines().any(|line| line.starts_with(row)), "{row}");
    }
}

#[test]
fn as_json() {
    let value = Scene::examples().json("bebop bp/figure1.bp --invariants");
    expect![[r#"
        {
          "command": "bebop",
          "diagnostics": [],
          "exit_code": 1,
          "invariants": [
            {
              "column": 8,
              "file": "bp/figure1.bp",
              "formula": "g & !h",
              "line": 12,
              "procedure": "main",
              "statement": "R: skip"
            }
          ],
          "targets": [
            {
              "answer": "reachable",
              "column": 5,
              "file": "bp/figure1.bp",
              "kind": "label",
              "label": "R",
              "line": 12,
              "procedure": "main",
              "trace": {
                "length": 6,
                "replayed": true,
                "steps": [
                  {
                    "depth": 0,
                    "line": 6,
                    "statement": "h := !g",
                    "values": {
                      "g": true
                    }
                  },
                  {
                    "depth": 0,
                    "line": 7,
                    "statement": "A(g,h)",
                    "values": {
                      "g": true,
                      "h": false
                    }
                  },
                  {
                    "depth": 0,
                    "line": 8,
                    "statement": "skip",
                    "values": {
                      "g": true,
                      "h": false
                    }
                  },
                  {
                    "depth": 0,
                    "line": 9,
                    "statement": "A(g,h)",
                    "values": {
                      "g": true,
                      "h": false
                    }
                  },
                  {
                    "depth": 0,
                    "line": 10,
                    "statement": "skip",
                    "values": {
                      "g": true,
                      "h": false
                    }
                  },
                  {
                    "depth": 0,
                    "line": 11,
                    "statement": "if (g)",
                    "values": {
                      "g": true,
                      "h": false
                    }
                  },
                  {
                    "depth": 0,
                    "line": 12,
                    "statement": "R: skip",
                    "values": {
                      "g": true,
                      "h": false
                    }
                  }
                ]
              }
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn from_standard_input() {
    Scene::empty()
        .and_input("void main() begin L: skip; end")
        .check(
            "bebop -",
            expect![[r#"
            <stdin>:1: label L in main: reachable after 0 steps

               1  L: skip

            1 label reachable
            [exit 1]
        "#]],
        );
}

#[test]
fn names_in_braces() {
    Scene::file(
        "x.bp",
        "decl {x == 0}; void main() begin assume({x == 0}); L: skip; end",
    )
    .check(
        "bebop x.bp",
        expect![[r#"
        x.bp:1: label L in main: reachable after 1 step

           1  assume({x == 0})  {x == 0}=1
           1  L: skip           {x == 0}=1

        1 label reachable
        [exit 1]
    "#]],
    );
}

#[test]
fn nothing_to_decide() {
    Scene::file("x.bp", "void main() begin skip; end").check(
        "bebop x.bp",
        expect![[r#"
        there is nothing to decide: no label and no assertion
        [exit 0]
    "#]],
    );
}

/// A counter that takes far longer than the limit.
fn long_work() -> Scene {
    let program = Scene::empty()
        .output("bp generate counter --size 40")
        .stdout;
    Scene::file("counter.bp", program)
}

#[test]
fn the_time_limit_ends_the_work_with_what_is_known() {
    let started = Instant::now();
    let output = long_work().output("bebop counter.bp --time-limit 1");
    let took = started.elapsed();
    assert_eq!(output.status.code(), Some(3));
    assert!(
        took >= Duration::from_secs(1),
        "it stopped early, after {took:?}"
    );
    // Without a limit it would take hours.
    assert!(
        took < Duration::from_secs(60),
        "it stopped late, after {took:?}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("label done in main: unknown (the time limit passed)"),
        "{text}"
    );
}

/// One list of variables is any rotation of another one: no order of the variables makes the BDD
/// of this small.
fn rotations(size: usize) -> String {
    let list = |letter: char, by: usize| {
        let names = (0..size).map(|i| format!("{letter}{}", (i + by) % size));
        names.collect::<Vec<_>>().join(", ")
    };
    let mut program = format!(
        "decl {}, {};\nvoid main()\nbegin\n",
        list('x', 0),
        list('y', 0)
    );
    for by in 0..size {
        let word = if by == 0 { "if" } else { "elsif" };
        program += &format!(
            "  {word} (*) then\n    {} := {};\n",
            list('y', 0),
            list('x', by)
        );
    }
    let equal = (0..size)
        .map(|i| format!("x{i} = y{i}"))
        .collect::<Vec<_>>()
        .join(" & ");
    program + &format!("  fi\n  assert({equal});\nend\n")
}

#[test]
fn the_memory_limit_ends_the_work_with_what_is_known() {
    let scene = Scene::file("rotations.bp", rotations(40));
    let value = scene.json("bebop rotations.bp --memory-limit 100 --time-limit 60 --stats");
    assert_eq!(value["exit_code"], 3);
    assert_eq!(value["targets"][0]["answer"], "unknown");
    assert_eq!(
        value["targets"][0]["reason"],
        "the memory limit was reached"
    );
    let peak = value["statistics"]["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak < 110 << 20, "{peak} bytes");
}

/// Waits until a process listens for Ctrl-C: until then a signal would just end it.
#[cfg(unix)]
fn wait_for_handler(process: u32) {
    const INTERRUPT: u64 = 1 << 1;
    let path = format!("/proc/{process}/status");
    for _ in 0..6000 {
        let status = std::fs::read_to_string(&path).unwrap();
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .expect("the system tells which signals are caught");
        if u64::from_str_radix(caught.trim(), 16).unwrap() & INTERRUPT != 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("nobody listens for Ctrl-C");
}

#[cfg(unix)]
#[test]
fn the_first_interrupt_ends_the_work_with_what_is_known() {
    use std::process::{Command, Stdio};
    let scene = long_work();
    let child = crate::scene::hardbop(&scene.path())
        .args(["bebop", "counter.bp"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_handler(child.id());
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("unknown (cancelled)"), "{text}");
}

/// Nothing that can be left out is printed, and what has nothing to do with each other stands apart.
#[test]
fn invariants_are_minimal() {
    let scene = Scene::file(
        "x.bp",
        "decl a, b, c, d, e, f, g, h, i;
void main() begin
  assume((a | b) & (b | c | d) & (a | b | c));
  assume((e | f) & (!e | f) & (d => c) & (h | i));
  g := a & !b;
  L: skip;
end
",
    );
    scene.check(
        "bebop x.bp --no-trace --invariants",
        expect![[r#"
        x.bp:6: label L in main: reachable
        1 label reachable

        x.bp:6: before `L: skip`: f & b != g & (a & c | b & c | b & !d) & (h | i)
        [exit 1]
    "#]],
    );
}

/// Into calls, over them with the summary, back, up, out, to a line; what cannot be done is said.
#[test]
fn stepping_through_a_trace() {
    let commands =
        "o\nover\nb\ni\nl 21\nup\ni\no\no\nw\nout\na\nback\nprevious\n\nline 12\no\nt\nq\n";
    Scene::examples().and_input(commands).check(
        "bebop bp/figure1.bp --interactive",
        expect![[r#"
            bp/figure1.bp:12: label R in main: reachable after 6 steps

            the trace to label R in main, 21 steps with calls opened; `help` lists the commands
            1/21  main, line 6: h := !g
                g=1 (h=0)
            > o
            2/21  main, line 7: A(g,h)
                g=1 h=0
            > over
                summary of A: g=1 a1=1 a2=0 -> g=1
            10/21  main, line 8: skip
                g=1 h=0
            > b
            2/21  main, line 7: A(g,h)
                g=1 h=0
            > i
            3/21  A, line 20: if (a1)
                g=1 a1=1 a2=0
            > l 21
            4/21  A, line 21: A(a2,a1)
                g=1 a1=1 a2=0
            > up
            2/21  main, line 7: A(g,h)
                g=1 h=0
            > i
            3/21  A, line 20: if (a1)
                g=1 a1=1 a2=0
            > o
            4/21  A, line 21: A(a2,a1)
                g=1 a1=1 a2=0
            > o
                summary of A: g=1 a1=0 a2=1 -> g=1
            8/21  A, line 22: skip
                g=1 a1=1 a2=0
            > w
                 2  line 7: A(g,h)  g=1 h=0
            *    8      line 22: skip  g=1 a1=1 a2=0
            > out
            10/21  main, line 8: skip
                g=1 h=0
            > a
                 1  line 6: h := !g  g=1 (h=0)
                 2  line 7: A(g,h)  g=1 h=0
            *   10  line 8: skip  g=1 h=0
                11  line 9: A(g,h)  g=1 h=0
                19  line 10: skip  g=1 h=0
                20  line 11: if (g)  g=1 h=0
                21  line 12: R: skip  g=1 h=0
            > back
            2/21  main, line 7: A(g,h)
                g=1 h=0
            > previous
            1/21  main, line 6: h := !g
                g=1 (h=0)
            > 
            2/21  main, line 7: A(g,h)
                g=1 h=0
            > line 12
            21/21  main, line 12: R: skip
                g=1 h=0
            > o
            this is the end of the trace
            > t
            *    1  bp/figure1.bp:12: label R in main
            > q
            [exit 1]
        "#]],
    );
}

#[test]
fn stepping_says_what_is_wrong() {
    let commands = "jump\nback\nup\nout\nline x\nline 99\ninto 3\nt 9\nt 2\ne\nh\n";
    Scene::examples().and_input(commands).check(
        "bebop bp/driver_coarse.bp --interactive --assertions",
        expect![[r#"
            bp/driver_coarse.bp:8: assertion in acquire: fails after 7 steps
            bp/driver_coarse.bp:14: assertion in release: fails after 7 steps

            the trace to assertion in acquire, 11 steps with calls opened; `help` lists the commands
            1/11  main, line 20: locked := F
                (locked=0)
            > jump
            `jump` is no command; `help` lists the commands
            > back
            this is the start of the trace
            > up
            this is main, which nobody called
            > out
            this is main, which nobody called
            > line x
            expected the number of a line behind `line`
            > line 99
            no further step is in that line; `start` goes back
            > into 3
            `into` takes nothing behind it; `help` lists the commands
            > t 9
            expected a number from 1 to 2 behind `targets`
            > t 2
            the trace to assertion in release, 14 steps with calls opened; `help` lists the commands
            1/14  main, line 20: locked := F
                (locked=0)
            > e
            14/14  release, line 14: the assertion fails
                locked=0
            > h
              i, into        the next step; a call leads into the procedure
              o, over        the next step; a call is one step (also an empty line)
              b, back        the step before; a call that returned is one step
              p, previous    the step before; a call that returned leads to the procedure's last step
              u, up          the call of this procedure
              out            behind the call of this procedure
              l, line N      the next step in line N
              s, start       the first step
              e, end         the last step
              w, where       the calls that are open here
              a, all         all steps of this procedure, with calls closed
              t, targets     what has a trace; with a number, go to the start of that trace
              h, help        this
              q, quit        the end
            A value in parentheses is that of one execution; others along the same trace have the other one.
            > 
            [exit 1]
        "#]],
    );
}

#[test]
fn stepping_needs_a_trace_a_file_and_a_reader() {
    Scene::examples().check(
        "bebop bp/driver.bp --interactive --assertions",
        expect![[r#"
            bp/driver.bp:9: assertion in acquire: holds
            bp/driver.bp:15: assertion in release: holds
            there is no trace to step through
            [exit 0]
        "#]],
    );
    Scene::examples().check(
        "bebop - --interactive",
        expect![[r#"
        [stderr]
        error: --interactive reads commands from standard input, so the program must be in a file
        [exit 2]
    "#]],
    );
    Scene::examples().check(
        "bebop bp/figure1.bp --interactive --json",
        expect![[r#"
        {
          "command": "bebop",
          "exit_code": 2,
          "diagnostics": [],
          "error": {
            "kind": "usage",
            "message": "--interactive is for people: it does not go together with --json"
          }
        }
        [exit 2]
    "#]],
    );
}
