//! Explanations of paths: the papers' figures, and what every projection must be.

use expect_test::{Expect, expect};
use hardbop_budget::Budget;
use hardbop_cfront::dump::op_text;
use hardbop_cfront::ids::LocId;
use hardbop_cfront::load::load_text;
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::{LocationKind, Program};
use hardbop_logic::{Answer, Session, Terms, Z3Options, Z3Solver};
use hardbop_newton::annotate::{
    Context, EntryKind, EntryState, Explainer, Explanation, Infeasible,
};
use hardbop_newton::icpp::{deleted_with, without};
use hardbop_newton::shortest::shortest_path;
use hardbop_newton::statements::{Origin, Statements, statements};
use hardbop_semantics::path::PathStep;
use hardbop_semantics::{Encoding, Execution, Overflow, Semantics};
use std::collections::BTreeSet;
use std::fmt::Write;

fn load(text: &str) -> (Program, PointsTo) {
    let prelude = "void reach_error(void); void __VERIFIER_assume(int);
        extern int __VERIFIER_nondet_int(void);\n";
    let loaded = load_text("test.c", &format!("{prelude}{text}")).expect(text);
    (loaded.program, loaded.points_to)
}

fn integers() -> Encoding {
    Encoding::Integers {
        overflow: Overflow::Ignored,
    }
}

/// Everything about the shortest path to the only check of a program.
struct Scene<'p> {
    semantics: &'p Semantics<'p>,
    session: Session<'static>,
    terms: Terms,
    steps: Vec<PathStep>,
    path: Statements,
}

/// Sets a scene and lets something happen in it.
fn with_scene<T>(text: &str, encoding: Encoding, act: impl FnOnce(&mut Scene<'_>) -> T) -> T {
    let (program, points_to) = load(text);
    let semantics = Semantics::new(&program, &points_to, encoding);
    let error = (0..program.locations.len())
        .find(|&at| matches!(program.locations[at].kind, LocationKind::Error(_)))
        .expect("the program has a check");
    let steps = shortest_path(&program, LocId(error as u32)).expect("there is a path");
    let mut terms = Terms::new();
    let path = statements(&semantics, &mut terms, &steps).expect("all edges have a meaning");
    let solver = Box::new(Z3Solver::new(Z3Options::default()));
    act(&mut Scene {
        semantics: &semantics,
        session: Session::new(solver, Budget::unlimited()),
        terms,
        steps,
        path,
    })
}

/// Whether the statements `kept` are a syntactically consistent projection of the statements
/// `whole` (section 5.2).
fn is_consistent(path: &Statements, whole: &[usize], kept: &[usize]) -> bool {
    let left: BTreeSet<usize> = kept.iter().copied().collect();
    let is_projection =
        kept.is_sorted_by(|a, b| a < b) && kept.iter().all(|statement| whole.contains(statement));
    is_projection
        && whole
            .iter()
            .filter(|statement| !left.contains(statement))
            .all(|&gone| deleted_with(path, whole, gone).is_disjoint(&left))
}

impl Scene<'_> {
    fn explain(&mut self) -> Explanation {
        let mut explainer = Explainer {
            semantics: self.semantics,
            session: &mut self.session,
        };
        explainer.explain(&mut self.terms, &self.path)
    }

    fn infeasible(&mut self) -> Infeasible {
        match self.explain() {
            Explanation::Infeasible(why) => *why,
            other => panic!("the path can be run: {other:?}"),
        }
    }

    fn is_infeasible(&mut self, kept: &[usize]) -> bool {
        let mut explainer = Explainer {
            semantics: self.semantics,
            session: &mut self.session,
        };
        explainer.is_infeasible(&mut self.terms, &self.path, kept)
    }

    fn statement(&self, index: usize) -> String {
        match self.path.list[index].origin {
            Origin::Start => "start".to_owned(),
            Origin::Step(step) => match self.steps[step] {
                PathStep::Edge(edge) | PathStep::Enter(edge, _) => {
                    let program = self.semantics.program;
                    op_text(program, &program.edges[edge.index()].op)
                }
                PathStep::Leave => "return".to_owned(),
            },
        }
    }

    /// The tables of a context as the papers draw them.
    fn tables(&self, context: &Context) -> String {
        let mut text = String::new();
        let numbers = |set: &BTreeSet<usize>| {
            let numbers: Vec<String> = set.iter().map(|at| (at + 1).to_string()).collect();
            format!("({})", numbers.join(","))
        };
        for (title, state) in [
            ("store", EntryState::Store),
            ("history", EntryState::History),
            ("forgotten", EntryState::Forgotten),
        ] {
            let entries = context.entries.iter().enumerate();
            let shown: Vec<_> = entries.filter(|(_, entry)| entry.state == state).collect();
            if !shown.is_empty() {
                let _ = writeln!(text, "{title}");
            }
            for (at, entry) in shown {
                let name = self.path.name(entry.instance);
                let value = self.terms.infix(entry.value);
                let needs = numbers(&entry.dependencies);
                let _ = writeln!(text, "  {}. {name}: {value} {needs}", at + 1);
            }
        }
        let _ = writeln!(text, "conditions");
        for condition in &context.conditions {
            let formula = self.terms.infix(condition.formula);
            let needs = numbers(&condition.dependencies);
            let _ = writeln!(text, "  [{}] {formula} {needs}", condition.statement + 1);
        }
        text
    }

    fn picture(&mut self) -> String {
        let why = self.infeasible();
        let mut text = String::new();
        for index in 0..self.path.list.len() {
            let _ = writeln!(text, "[{}] {}", index + 1, self.statement(index));
        }
        text.push_str(&self.tables(&why.context));
        let core: Vec<String> = why
            .core
            .iter()
            .map(|&at| format!("[{}]", why.context.conditions[at].statement + 1))
            .collect();
        let _ = writeln!(text, "core {}", core.join(" "));
        let support = why.context.support(&why.core);
        for at in support {
            let entry = &why.context.entries[at];
            if entry.kind == EntryKind::Symbolic {
                let name = self.path.name(entry.instance);
                let value = self.terms.infix(entry.value);
                let _ = writeln!(
                    text,
                    "annotation <{}, {name} = {value}>",
                    entry.statement + 1
                );
            }
        }
        let kept: Vec<String> = why
            .projection
            .kept
            .iter()
            .map(|at| format!("[{}]", at + 1))
            .collect();
        let _ = writeln!(text, "projection {}", kept.join(" "));
        text.push_str(&self.tables(&why.projection.context));
        text
    }
}

fn check(text: &str, encoding: Encoding, expected: Expect) {
    expected.assert_eq(&with_scene(text, encoding, |scene| scene.picture()));
}

/// The path of the Newton paper's Figure 1.
const NEWTON: &str = "int main(void) {
  int a, b, c;
  if (b > 0) {
    c = 2 * b;
    a = b;
    a = a - 1;
    if (a < b) { if (c == a) reach_error(); }
  }
  return 0;
}";

/// Figure 4 of the Newton paper: `a` is forgotten where `a < b` says nothing new.
#[test]
fn newtons_example() {
    check(
        NEWTON,
        integers(),
        expect![[r#"
        [1] assume(b > 0);
        [2] c = 2 * b;
        [3] a = b;
        [4] a = a - 1;
        [5] assume(a < b);
        [6] assume(c == a);
        store
          1. b: θb ()
          2. c: 2 * θb (1)
          5. a: θa ()
        history
          3. a: θb (1)
        forgotten
          4. a: θb - 1 (3)
        conditions
          [1] θb >= 1 (1)
          [5] θa + 1 <= θb (1,5)
          [6] 2 * θb == θa (2,5)
        core [1] [5] [6]
        annotation <1, b = θb>
        annotation <5, a = θa>
        projection [1] [2] [5] [6]
        store
          1. b: θb ()
          2. c: 2 * θb (1)
          3. a: θa ()
        conditions
          [1] θb >= 1 (1)
          [5] θa + 1 <= θb (1,3)
          [6] 2 * θb == θa (2,3)
    "#]],
    );
}

/// In machine words, twice a positive number may be negative: the exact value of `a` matters.
#[test]
fn newtons_example_in_machine_words() {
    check(
        NEWTON,
        Encoding::Bits,
        expect![[r#"
        [1] assume(b > 0);
        [2] c = 2 * b;
        [3] a = b;
        [4] a = a - 1;
        [5] assume(a < b);
        [6] assume(c == a);
        store
          1. b: θb ()
          2. c: θb * 2 (1)
          4. a: θb - 1 (3)
        history
          3. a: θb (1)
        conditions
          [1] θb > 0 (1)
          [5] θb - 1 < θb (1,4)
          [6] θb * 2 == θb - 1 (2,4)
        core [1] [6]
        annotation <1, b = θb>
        projection [1] [2] [3] [4] [6]
        store
          1. b: θb ()
          2. c: θb * 2 (1)
          4. a: θb - 1 (3)
        history
          3. a: θb (1)
        conditions
          [1] θb > 0 (1)
          [6] θb * 2 == θb - 1 (2,4)
    "#]],
    );
}

/// The path p1 of TR 2000-14, Figure 7.
const FIGURE_7: &str = "int main(void) {
  int a, b, c, x, z;
  if (b > 0) {
    c = b + b;
    z = c;
    a = b;
    a = a - 1;
    x = b;
    if (a < b) { if (c == a) reach_error(); }
  }
  return 0;
}";

/// The positions of p1's statements, p2's and p3's.
const P1: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
const P2: [usize; 6] = [0, 1, 3, 4, 6, 7];
const P3: [usize; 4] = [0, 1, 6, 7];

#[test]
fn figure_7() {
    with_scene(FIGURE_7, integers(), |scene| {
        assert_eq!(scene.path.list.len(), P1.len());
        // p2 and p3 are ICPPs of p1, and p3 is one of p2.
        for (whole, kept) in [(&P1[..], &P2[..]), (&P1, &P3), (&P2, &P3)] {
            assert!(is_consistent(&scene.path, whole, kept));
            assert!(scene.is_infeasible(kept));
        }
        // Leaving out `a = a - 1` without the `a = b` before it is not consistent.
        assert!(!is_consistent(&scene.path, &P1, &[0, 1, 2, 3, 5, 6, 7]));
        // Without its last condition p1 can be run, and so can each of its projections.
        assert!(!scene.is_infeasible(&P1[..7]));
        assert!(!scene.is_infeasible(&P3[..3]));
        // The greedy algorithm finds p3.
        assert_eq!(scene.infeasible().projection.kept, P3);
    });
    // In machine words p3 can be run (b = 2^30), p2 cannot.
    with_scene(FIGURE_7, Encoding::Bits, |scene| {
        assert!(scene.is_infeasible(&P2));
        assert!(!scene.is_infeasible(&P3));
        assert_eq!(scene.infeasible().projection.kept, [0, 1, 3, 4, 7]);
    });
}

/// TR 2000-14, Figure 6: each call has its own `b1` and `b2`.
#[test]
fn figure_6() {
    check(
        "extern int x, y;
         void B(int b1, int b2) { __VERIFIER_assume(b1 < b2); }
         int main(void) { B(x, y); B(y, x); reach_error(); return 0; }",
        Encoding::Bits,
        expect![[r#"
            [1] B(x, y);
            [2] assume(b1 < b2);
            [3] B(y, x);
            [4] assume(b1 < b2);
            store
              1. x: θx ()
              2. y: θy ()
              3. b1: θx (1)
              4. b2: θy (2)
              5. b1.2: θy (2)
              6. b2.2: θx (1)
            conditions
              [2] θx < θy (3,4)
              [4] θy < θx (5,6)
            core [2] [4]
            annotation <1, x = θx>
            annotation <1, y = θy>
            projection [1] [2] [3] [4]
            store
              1. x: θx ()
              2. y: θy ()
              3. b1: θx (1)
              4. b2: θy (2)
              5. b1.2: θy (2)
              6. b2.2: θx (1)
            conditions
              [2] θx < θy (3,4)
              [4] θy < θx (5,6)
        "#]],
    );
}

/// Paths that cannot be run, for different reasons.
const INFEASIBLE: &[&str] = &[
    FIGURE_7,
    // Globals, initial values among them.
    "int lock, other; int main(void) { other = 3; lock = 1; if (!lock) reach_error(); return 0; }",
    "int lock = 1, other; int main(void) { other++; if (lock != 1) reach_error(); return 0; }",
    // A loop that is not entered on the shortest path.
    "int main(void) { int i = 0, n = __VERIFIER_nondet_int(); __VERIFIER_assume(n > 4);
       while (i < n) i++; if (i != n) reach_error(); return 0; }",
    // Results and parameters.
    "int twice(int v) { int w = v + v; return w; }
     int main(void) { int n = __VERIFIER_nondet_int(); __VERIFIER_assume(n > 0 && n < 9);
       int m = twice(n), k = twice(m); if (k < m) reach_error(); return 0; }",
    // Recursion: activations do not share their locals.
    "int f(int n) { int own = n; if (n > 0) f(n - 1); return own; }
     int main(void) { int r = f(2); if (r != 2) reach_error(); return 0; }",
    // Memory.
    "int main(void) { int a[4], i = __VERIFIER_nondet_int(); __VERIFIER_assume(i >= 0 && i < 4);
       int *p = a; p[i] = 7; a[1] = 7; if (i > 1 && a[i] != 7) reach_error(); return 0; }",
];

/// What the greedy algorithm finds is a consistent projection of the path, it cannot be run, it
/// ends with the path's last condition, and no statement of it can be left out.
#[test]
fn projections_are_consistent_infeasible_and_minimal() {
    for (number, text) in INFEASIBLE.iter().enumerate() {
        for encoding in [integers(), Encoding::Bits] {
            with_scene(text, encoding, |scene| {
                let why = scene.infeasible();
                let whole: Vec<usize> = (0..why.length).collect();
                let kept = why.projection.kept;
                assert!(is_consistent(&scene.path, &whole, &kept), "{number}");
                assert!(scene.is_infeasible(&kept), "{number}");
                assert_eq!(kept.last(), whole.last(), "{number}");
                for &statement in &kept {
                    let smaller = without(&scene.path, &kept, statement);
                    assert!(!scene.is_infeasible(&smaller), "{number}: {smaller:?}");
                }
                // No prefix of the path is infeasible already.
                assert!(!scene.is_infeasible(&whole[..whole.len() - 1]), "{number}");
                // The core's conditions contradict each other, and each of them is needed.
                assert!(!why.core.is_empty(), "{number}");
            });
        }
    }
}

/// Paths that can be run.
const FEASIBLE: &[&str] = &[
    "int lock; int main(void) { int n = __VERIFIER_nondet_int(); lock = n; if (!lock) reach_error();
       return 0; }",
    "int twice(int v) { int w = v + v; return w; }
     int main(void) { int n = __VERIFIER_nondet_int(), m = twice(n), k = twice(m);
       if (k < m) reach_error(); return 0; }",
    "int f(int n) { int own = n; if (n > 0) own = f(n - 1); return own; }
     int main(void) { int r = f(0); if (r == 0) reach_error(); return 0; }",
    "int main(void) { int a[4] = { 0 }, i = __VERIFIER_nondet_int();
       __VERIFIER_assume(i >= 0 && i < 4); a[i] = 7; if (a[2] == 7) reach_error(); return 0; }",
];

/// Statements of activations say the same as the path's formula, which keeps a stack of frames.
#[test]
fn statements_mean_what_the_path_means() {
    for text in INFEASIBLE.iter().chain(FEASIBLE).chain([&NEWTON]) {
        for encoding in [integers(), Encoding::Bits] {
            with_scene(text, encoding, |scene| {
                let terms = &mut scene.terms;
                let mut run = Execution::new(scene.semantics);
                run.start(terms);
                let mut conjuncts = scene.semantics.axioms(terms);
                for step in &scene.steps {
                    conjuncts.push(match *step {
                        PathStep::Edge(edge) => {
                            run.edge(terms, edge).expect("all edges have a meaning")
                        }
                        PathStep::Enter(call, callee) => run.enter(terms, call, callee),
                        PathStep::Leave => {
                            run.leave(terms);
                            continue;
                        }
                    });
                }
                conjuncts.append(&mut run.facts);
                let expected = match scene.session.check(terms, &conjuncts) {
                    Answer::Sat => false,
                    Answer::Unsat => true,
                    Answer::Unknown(why) => panic!("{why}"),
                };
                let all: Vec<usize> = (0..scene.path.list.len()).collect();
                assert_eq!(scene.is_infeasible(&all), expected, "{text}");
            });
        }
    }
}

/// A path that can be run comes with values that do it.
#[test]
fn feasible_paths_have_values() {
    with_scene(
        "int main(void) { int n = __VERIFIER_nondet_int(); if (n + 3 == 45) reach_error(); return 0; }",
        Encoding::Bits,
        |scene| {
            let Explanation::Feasible(how) = scene.explain() else {
                panic!("the path can be run");
            };
            let values: Vec<String> = how
                .values
                .iter()
                .map(|(_, _, value)| format!("{value:?}"))
                .collect();
            assert_eq!(values.len(), 1, "{values:?}");
            assert!(values[0].contains("42"), "{values:?}");
        },
    );
}
