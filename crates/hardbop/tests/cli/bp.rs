//! `hardbop bp`.

use crate::scene::Scene;
use expect_test::expect;

#[test]
fn format() {
    let scene = Scene::file(
        "x.bp",
        "decl   g ;void main( )begin\n// why\n g:=!g&(g|g) ; end",
    );
    scene.check(
        "bp format x.bp",
        expect![[r#"
        decl g;

        void main() begin
          // why
          g := !g & (g | g);
        end
        [exit 0]
    "#]],
    );
    scene.check(
        "bp format x.bp --check",
        expect![[r#"
        x.bp is not in canonical form
        [exit 1]
    "#]],
    );
    scene.check(
        "bp format x.bp --write",
        expect![[r#"
        [exit 0]
    "#]],
    );
    scene.check(
        "bp format x.bp --check",
        expect![[r#"
        [exit 0]
    "#]],
    );
    let value = scene.json("bp format x.bp");
    assert_eq!(value["canonical"], true);
}

#[test]
fn format_of_standard_input_cannot_be_written() {
    let scene = Scene::empty().and_input("void main() begin skip; end");
    scene.check(
        "bp format -",
        expect![[r#"
        void main() begin
          skip;
        end
        [exit 0]
    "#]],
    );
    scene.check(
        "bp format - --write",
        expect![[r#"
        [stderr]
        error: --write needs a file, not standard input
        [exit 2]
    "#]],
    );
}

#[test]
fn format_refuses_what_does_not_parse() {
    let scene = Scene::file("x.bp", "void main() begin if end");
    scene.check(
        "bp format x.bp --write",
        expect![[r#"
        [stderr]
        error: unexpected `end`
         --> x.bp:1:22
          |
        1 | void main() begin if end
          |                      ^^^ expected an expression
        error: unexpected `end`
         --> x.bp:1:22
          |
        1 | void main() begin if end
          |                      ^^^ expected an operator or `then`
        error: this `if` is not closed
         --> x.bp:1:22
          |
        1 | void main() begin if end
          |                      ^^^ expected `fi`
        note: it starts here
         --> x.bp:1:19
          |
        1 | void main() begin if end
          |                   ^^
        3 errors
        [exit 2]
    "#]],
    );
    let text = std::fs::read_to_string(scene.path().join("x.bp")).unwrap();
    assert_eq!(text, "void main() begin if end", "the file is as it was");
}

#[test]
fn graph() {
    let scene = Scene::file("x.bp", "void main() begin while (*) do skip; od end");
    scene.check(
        "bp graph x.bp",
        expect![[r#"
        digraph program {
          node [shape=box, fontname="monospace"];
          edge [fontname="monospace"];
          subgraph cluster_0 {
            label="main";
            v0 [label="1: while (*)", shape=diamond];
            v1 [label="1: skip"];
            v2 [label="1: exit", shape=oval];
          }
          v0 -> v1 [label="true"];
          v0 -> v2 [label="false"];
          v1 -> v0;
        }
        [exit 0]
    "#]],
    );
    let svg = scene.output("bp graph x.bp --to svg").stdout;
    let svg = String::from_utf8(svg).unwrap();
    assert!(
        svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"),
        "{svg}"
    );
    assert_eq!(scene.json("bp graph x.bp --to svg")["text"], svg);
}

#[test]
fn a_scripted_run() {
    let scene = Scene::examples();
    scene.check(
        "bp run bp/figure1.bp --choices 10",
        expect![[r#"
           6  h := !g          g=1 h=0
           7  A(g,h)           g=1 h=0
          20      if (a1)      g=1 a1=1 a2=0
          21      A(a2,a1)     g=1 a1=1 a2=0
          20          if (a1)  g=1 a1=0 a2=1
          24          g := a2  g=1 a1=0 a2=1
          26          end      g=1 a1=0 a2=1
          22      skip         g=1 a1=1 a2=0
          26      end          g=1 a1=1 a2=0
           8  skip             g=1 h=0
           9  A(g,h)           g=1 h=0
          20      if (a1)      g=1 a1=1 a2=0
          21      A(a2,a1)     g=1 a1=1 a2=0
          20          if (a1)  g=1 a1=0 a2=1
          24          g := a2  g=1 a1=0 a2=1
          26          end      g=1 a1=0 a2=1
          22      skip         g=1 a1=1 a2=0
          26      end          g=1 a1=1 a2=0
          10  skip             g=1 h=0
          11  if (g)           g=1 h=0
          12  R: skip          g=1 h=0
          16  end              g=1 h=0
        finished, after 21 steps
        [exit 0]
    "#]],
    );
    scene.check(
        "bp run bp/figure1.bp --choices 12",
        expect![[r#"
        [stderr]
        error: `2` in --choices is neither 0 nor 1, as in `--choices 0110`
        [exit 2]
    "#]],
    );
}

#[test]
fn a_random_run_is_the_same_for_the_same_seed() {
    let scene = Scene::examples();
    scene.check(
        "bp run bp/driver_coarse.bp --seed 3",
        expect![[r#"
          20  locked := F          locked=0
          21  HEAD: acquire()      locked=0
           8      assert(!locked)  locked=0
           9      locked := T      locked=0
          10      end              locked=1
          22  if (*)               locked=1
          23  release()            locked=1
          14      assert(locked)   locked=1
          15      locked := F      locked=1
          16      end              locked=0
          25  if (*)               locked=0
          26  goto HEAD            locked=0
          21  HEAD: acquire()      locked=0
           8      assert(!locked)  locked=0
           9      locked := T      locked=0
          10      end              locked=1
          22  if (*)               locked=1
          25  if (*)               locked=1
          28  release()            locked=1
          14      assert(locked)   locked=1
          15      locked := F      locked=1
          16      end              locked=0
          29  DONE: skip           locked=0
          30  end                  locked=0
        finished, after 23 steps
        [exit 0]
    "#]],
    );
    let one = scene.output("bp run bp/driver_coarse.bp --seed 7").stdout;
    let two = scene.output("bp run bp/driver_coarse.bp --seed 7").stdout;
    assert_eq!(one, two);
}

#[test]
fn the_ways_a_run_ends() {
    let run = |program: &str, options: &str, expected| {
        Scene::file("x.bp", program).check(&format!("bp run x.bp {options}"), expected);
    };
    run(
        "void main() begin assert(F); end",
        "",
        expect![[r#"
           1  assert(F)
           1  the assertion fails
        the assertion fails, after 1 step
        [exit 1]
    "#]],
    );
    run(
        "void main() begin assume(F); end",
        "",
        expect![[r#"
           1  assume(F)
        blocked: an assumption does not hold, after 0 steps
        [exit 0]
    "#]],
    );
    run(
        "void main() begin L: goto L; end",
        "--steps 3",
        expect![[r#"
               1  L: goto L
               1  L: goto L
               1  L: goto L
               1  L: goto L
            stopped: the step limit was reached, after 3 steps
            [exit 3]
        "#]],
    );
    run(
        "decl x; void main() begin x := * constrain 'x & !'x; end",
        "",
        expect![[r#"
               1  x := * constrain 'x & !'x  x=1
            blocked: the choices do not meet the constraint of the assignment, after 0 steps
            [exit 0]
        "#]],
    );
    run(
        "void main() begin L: goto L; end",
        "--steps 100000000000 --time-limit 0",
        expect![[r#"
               1  L: goto L
            stopped: the time limit passed, after 0 steps
            [exit 3]
        "#]],
    );
}

#[test]
fn a_run_as_json() {
    let value = Scene::examples().json("bp run bp/figure1.bp --choices 10 --steps 2");
    expect![[r#"
        {
          "command": "bp run",
          "diagnostics": [],
          "exit_code": 3,
          "outcome": "stopped",
          "steps": 2,
          "trace": [
            {
              "depth": 0,
              "line": 6,
              "statement": "h := !g",
              "values": {
                "g": true,
                "h": false
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
              "depth": 1,
              "line": 20,
              "statement": "if (a1)",
              "values": {
                "a1": true,
                "a2": false,
                "g": true
              }
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&value).unwrap());
}

#[test]
fn export() {
    let scene = Scene::file("x.bp", "decl g; void main() begin g := *; L: skip; end");
    scene.check("bp export x.bp --to chc", expect![[r#"
        (set-logic HORN)
        ; main: s0 g
        (declare-fun v0 (Bool Bool) Bool)
        (declare-fun v1 (Bool Bool) Bool)
        (declare-fun v2 (Bool Bool) Bool)
        (assert (forall ((s0 Bool)) (=> (and true) (v0 s0 s0))))
        (assert (forall ((e0 Bool)(s0 Bool)(n0 Bool)(c0 Bool)) (=> (and true (v0 e0 s0) (= n0 c0)) (v1 e0 n0))))
        (assert (forall ((e0 Bool)(s0 Bool)) (=> (and true (v1 e0 s0)) (v2 e0 s0))))
        (assert (forall ((e0 Bool)(s0 Bool)) (=> (and true (v1 e0 s0)) false)))
        (check-sat)
        [exit 0]
    "#]]);
    assert!(
        scene.json("bp export x.bp")["text"]
            .as_str()
            .unwrap()
            .contains("HORN")
    );
}

#[test]
fn generate() {
    let scene = Scene::empty();
    scene.check(
        "bp generate t --size 1",
        expect![[r#"
        decl g;

        void main()
        begin
          level1();
          skip;
          level1();
          skip;
          done: skip;
        end

        void level1()
        begin
          decl a, b, c;
          if (g) then
            a, b, c := 0, 0, 0;
            while (!a | !b | !c) do
              if (!a) then
                a := 1;
              elsif (!b) then
                a, b := 0, 1;
              elsif (!c) then
                a, b, c := 0, 0, 1;
              else
                skip;
              fi
            od
          else
            skip;
            skip;
          fi
          g := !g;
        end
        [exit 0]
    "#]],
    );
    scene.check(
        "bp generate counter --size 2 --free-start",
        expect![[r#"
        decl b0, b1;

        void main()
        begin
          while (!b0 | !b1) do
            if (!b0) then
              b0 := 1;
            elsif (!b1) then
              b0, b1 := 0, 1;
            fi
          od
          done: skip;
          assert(b0 & b1);
        end
        [exit 0]
    "#]],
    );
}

/// What is generated loads without complaint, and the same again from the same seed.
#[test]
fn generated_programs_load() {
    for arguments in [
        "t --size 3",
        "counter --size 4",
        "wide --size 8 --statements 12 --seed 2",
        "random --seed 11 --procedures 4 --globals 3 --locals 3 --formals 2 --statements 12",
        "random --seed 12 --no-recursion",
    ] {
        let command = format!("bp generate {arguments}");
        let text = Scene::empty().output(&command).stdout;
        assert_eq!(text, Scene::empty().output(&command).stdout, "{arguments}");
        assert_eq!(
            Scene::empty().json(&command)["text"]
                .as_str()
                .unwrap()
                .as_bytes(),
            text,
            "{arguments}"
        );
        let scene = Scene::file("x.bp", &text);
        let output = scene.output("bebop x.bp");
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
