//! All executions at once, and runs on guesses: what each decides of small programs, where they
//! end, and that random programs are answered as running them on all inputs answers them.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_gate::Outcome;
use hardbop_model::stages::Following;
use hardbop_model::state::StateSize;
use hardbop_test_support::answers::{self, report};
use hardbop_test_support::generate::{arrays, branches};
use hardbop_test_support::inputs::{Ending, endings, loaded};
use hardbop_test_support::setting;
use hardbop_unroll::{Effort, Guesses, Runs, Unroll};
use std::time::Duration;

const HEAD: &str = "void reach_error(void); int __VERIFIER_nondet_int(void);
unsigned char __VERIFIER_nondet_uchar(void);\n";

fn unrolled(text: &str) -> Vec<String> {
    answers::said(&Unroll::default(), &format!("{HEAD}{text}"))
}

fn run(text: &str) -> Vec<String> {
    let runs = Runs {
        runs: 2_000,
        ..Runs::default()
    };
    answers::said(&runs, &format!("{HEAD}{text}"))
}

fn explored(text: &str) -> Vec<String> {
    let runs = Runs {
        runs: 5_000,
        guesses: Guesses::Explored {
            most: Effort::Small,
        },
        ..Runs::default()
    };
    answers::said(&runs, &format!("{HEAD}{text}"))
}

/// Where circuits would become too large, that is said instead of an answer.
#[test]
fn programs_that_are_too_large_for_circuits_are_declined() {
    let text = format!(
        "{HEAD} int main(void) {{
           int x = __VERIFIER_nondet_int(), y = x * x;
           if (y == 3) reach_error();
         }}"
    );
    assert_eq!(answers::said(&Unroll::on_circuits(), &text), ["proved"]);
    let small = Unroll {
        nodes: 50,
        ..Unroll::on_circuits()
    };
    let declined = "only bits are searched, and the program has circuits that are too large";
    assert_eq!(answers::said(&small, &text), [declined]);
    let few = Unroll {
        state: StateSize::default(),
        ..Unroll::on_circuits()
    };
    let declined = "only bits are searched, and the program has more state than it takes";
    assert_eq!(answers::said(&few, &text), [declined]);
}

/// A list of six nodes or fewer, each with a number of its own; is there one with `WANTED`?
const LIST: &str = "#include <stdlib.h>
    struct node { int value; struct node *next; };
    int main(void) {
      struct node *head = 0;
      for (int i = 0; i < 6; i++) {
        if (__VERIFIER_nondet_int()) continue;
        struct node *n = malloc(sizeof *n);
        n->value = i;
        n->next = head;
        head = n;
      }
      for (struct node *n = head; n; n = n->next)
        if (n->value == WANTED && n->next == 0) reach_error();
    }";

/// Where an address is a sum of an unknown origin and as many unknown branches as there were, the
/// circuit for these lists is many times as large.
#[test]
fn on_circuits_objects_lie_where_they_are_plain_to_tell_apart() {
    let small = Unroll {
        nodes: 20_000,
        ..Unroll::on_circuits()
    };
    let text = |wanted: &str| format!("{HEAD}{}", LIST.replace("WANTED", wanted));
    assert_eq!(answers::said(&small, &text("3")), ["violated"]);
    let soon = Budget::unlimited().with_time(Duration::from_secs(5));
    let report = report(&small, &text("6"), &soon);
    assert!(
        report
            .outcomes
            .values()
            .all(|outcome| !matches!(outcome, Outcome::Violated(_)))
    );
}

#[test]
fn exploring_goes_on_from_states_that_look_new() {
    // Nine inputs in a row must be right.
    let text = "int state = 0;
        int main(void) {
          while (1) {
            int x = __VERIFIER_nondet_int();
            if (state == 0 && x == 17) state = 1;
            else if (state == 1 && x == -4) state = 2;
            else if (state == 2 && x == 90) state = 3;
            else if (state == 3 && x == 5) state = 4;
            else if (state == 4 && x == 17) state = 5;
            else if (state == 5 && x == 1000) state = 6;
            else if (state == 6 && x == 23) state = 7;
            else if (state == 7 && x == 90) state = 8;
            else state = 0;
            if (state == 8) reach_error();
          }
        }";
    assert_eq!(explored(text), ["violated"]);
    let guesses = Runs {
        runs: 500,
        steps: 5_000,
        guesses: Guesses::Hinted,
        ..Runs::default()
    };
    let said = answers::said(&guesses, &format!("{HEAD}{text}"));
    assert_ne!(said, ["violated"]);
}

#[test]
fn exploring_believes_in_structures_that_others_have_filled_in() {
    // A driver is handed a device that nobody of the program made: its parts, the answers of the
    // functions in its table and an endpoint of the right kind must be there; what is freed on the
    // way may have been allocated outside.
    let text = "struct ops { int (*start)(int); };
        struct endpoint { unsigned char kind; };
        struct interface { int count; struct endpoint *endpoints; };
        struct parent { long id; int number; };
        struct device { struct parent *up; struct interface *current; struct ops *ops; };
        struct private { struct device *device; struct endpoint *in; };
        extern struct ops *fallback;
        void *get(void); void free(void *);
        static int busy;
        int probe(struct device *device) {
          struct parent *whole = (struct parent *)((char *)device->up - 8);
          struct private *own = get();
          if (!own) return -1;
          own->device = device; own->in = 0;
          for (int i = 0; i < device->current->count; i++)
            if ((device->current->endpoints[i].kind & 3) == 3) own->in = &device->current->endpoints[i];
          if (!own->in || whole->number != 4102) { free(own); return -1; }
          if (!fallback->start || fallback->start(own->in->kind)) { free(own); return -1; }
          busy++;
          free(own);
          return 0;
        }
        int main(void) {
          struct device *device;
          while (__VERIFIER_nondet_int())
            if (__VERIFIER_nondet_int() == 7 && probe(device)) return 0;
          if (busy) reach_error();
        }";
    assert_eq!(explored(text), ["violated"]);
}

#[test]
fn choices_in_a_program_with_smaller_numbers_are_stretched() {
    // Four places must go on giving the right answer, some of them a thousand times a thousand.
    let text = |bound: u32| {
        format!(
            "int main(void) {{
          int at, count;
          for (int i = 0; i < 1000; i++) {{
            if (__VERIFIER_nondet_int() != 3) return 0;
            count = __VERIFIER_nondet_int();
            if (count < 0 || count > 900) return 0;
            for (at = 0; at < count; at++)
              if (__VERIFIER_nondet_int() != -1) return 0;
          }}
          if (at > {bound}) reach_error();
          return 0;
        }}"
        )
    };
    let stretched = Runs {
        runs: 8_000,
        steps: 20_000_000,
        guesses: Guesses::Stretched,
        ..Runs::default()
    };
    let said = |bound| answers::said(&stretched, &format!("{HEAD}{}", text(bound)));
    assert_eq!(said(899), ["violated"]);
    assert_ne!(said(900), ["violated"]);
}

#[test]
fn exploring_ends_where_no_state_is_new() {
    let text = "int main(void) {
          int light = 0;
          while (__VERIFIER_nondet_int()) light = !light;
          if (light > 1) reach_error();
          return 0;
        }";
    let engine = Runs {
        guesses: Guesses::Explored { most: Effort::Any },
        runs: u64::MAX,
        ..Runs::default()
    };
    let report = report(&engine, &format!("{HEAD}{text}"), &Budget::unlimited());
    let decided: Vec<bool> = report.outcomes.values().map(Outcome::is_decided).collect();
    assert_eq!(decided, [false]);
}

#[test]
fn a_loop_with_a_bound_is_followed_to_its_end() {
    let text = "int main(void) {
          int n = __VERIFIER_nondet_int(), sum = 0;
          for (int i = 0; i < 5; i++) sum += n & 1;
          if (sum != 0 && sum != 5) reach_error();
          if (sum == 5) reach_error();
          return 0;
        }";
    assert_eq!(unrolled(text), ["proved", "violated"]);
}

#[test]
fn a_loop_without_a_bound_is_followed_as_far_as_may_be() {
    let text = "int main(void) {
          unsigned i = 0;
          while (__VERIFIER_nondet_int()) i += 2;
          if (i == 1) reach_error();
          return 0;
        }";
    let few = Unroll {
        layers: 9,
        ..Unroll::default()
    };
    let said = answers::said(&few, &format!("{HEAD}{text}"));
    assert_eq!(
        said,
        ["nothing was found up to bound 9, and some runs go beyond it"]
    );
}

#[test]
fn large_programs_are_declined_where_that_is_asked_for() {
    let text = format!(
        "{HEAD}int main(void) {{ int x = __VERIFIER_nondet_int(); if (x == 3) reach_error(); return 0; }}"
    );
    let none = Unroll {
        edges: 2,
        ..Unroll::default()
    };
    assert_ne!(answers::said(&none, &text), ["violated"]);
    assert_eq!(answers::said(&Unroll::default(), &text), ["violated"]);
}

#[test]
fn recursion_ends_where_its_argument_does() {
    let text = "static int depth(int n) { return n <= 0 ? 0 : 1 + depth(n - 1); }
        int main(void) {
          int n = __VERIFIER_nondet_int();
          if (n < 0 || n > 4) return 0;
          if (depth(n) != n) reach_error();
          if (depth(n) == 4) reach_error();
          return 0;
        }";
    assert_eq!(unrolled(text), ["proved", "violated"]);
}

#[test]
fn what_pointers_lead_to_is_followed() {
    let text = "int main(void) {
          int a[3] = { 1, 2, 3 }, *p = a, i = __VERIFIER_nondet_int();
          if (i < 0 || i > 2) return 0;
          p += i; *p = 7;
          if (a[0] + a[1] + a[2] > 13) reach_error();
          if (a[i] == 7 && i == 2 && a[1] == 2) reach_error();
          return 0;
        }";
    assert_eq!(unrolled(text), ["proved", "violated"]);
}

#[test]
fn a_program_that_leaves_nothing_open_has_one_run() {
    let text = "int main(void) {
          unsigned x = 1;
          for (int i = 0; i < 1000; i++) x = x * 1103515245u + 12345u;
          if (x == 1) reach_error();
          return 0;
        }";
    assert_eq!(run(text), ["proved"]);
    assert_eq!(run(&text.replace("x == 1", "x != 1")), ["violated"]);
}

#[test]
fn guesses_find_what_is_compared_with_a_number_and_prove_nothing() {
    let text = "int main(void) {
          int a = __VERIFIER_nondet_int();
          if (a > 100) reach_error();
          if (a == a + 1) reach_error();
          return 0;
        }";
    let said = run(text);
    assert_eq!(said[0], "violated");
    assert_ne!(said[1], "proved");
}

/// Executions that are merged in the same iteration of each loop, however long they took.
fn by_points() -> Unroll {
    Unroll {
        following: Following::Points,
        ..Unroll::on_circuits()
    }
}

/// Behind the first loop there is one state by points, and one for each number of its iterations
/// by blocks.
#[test]
fn what_comes_behind_a_loop_is_looked_at_once() {
    let text = "static int twice(int x) { int n = 0; for (int i = 0; i < 3; i++) if (x > i) n += 2; return n; }
        int main(void) {
          int n = __VERIFIER_nondet_int(), s = 0, t = 0;
          if (n < 0 || n > 3) return 0;
          for (int i = 0; i < n; i++) { int j = 0; while (j < i) { j++; s++; } if (s > 9) break; }
          for (int i = 0; i < n; i++) t += twice(i);
          if (s > 3 || t > 6) reach_error();
          if (s == 3 && t == 6) reach_error();
          return 0;
        }";
    let said = answers::said(&by_points(), &format!("{HEAD}{text}"));
    assert_eq!(said, ["proved", "violated"]);
    let list = format!("{HEAD}{}", LIST.replace("WANTED", "9"));
    assert_eq!(answers::said(&by_points(), &list), ["proved"]);
    let list = format!("{HEAD}{}", LIST.replace("WANTED", "3"));
    assert_eq!(answers::said(&by_points(), &list), ["violated"]);
}

#[test]
fn recursion_is_followed_by_points() {
    let text = "static int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += sum(i) + 1; return s; }
        int main(void) {
          int n = __VERIFIER_nondet_int();
          if (n < 0 || n > 3) return 0;
          if (sum(n) != (1 << n) - 1) reach_error();
          if (sum(n) == 7) reach_error();
          return 0;
        }";
    let said = answers::said(&by_points(), &format!("{HEAD}{text}"));
    assert_eq!(said, ["proved", "violated"]);
}

/// Random programs, against their runs on all inputs. `HARDBOP_CASES=N` takes N of each family.
#[test]
fn random_programs_are_answered_as_their_runs_do() {
    for engine in [Unroll::default(), by_points()] {
        random_programs_are_answered_by(&engine);
    }
}

fn random_programs_are_answered_by(engine: &Unroll) {
    let mut decided = 0;
    for family in [branches::program, arrays::program] {
        for seed in 1..=setting("HARDBOP_CASES", 40) {
            let text = family(seed);
            let Some(truth) = endings(&loaded(&text).program) else {
                continue;
            };
            let budget = Budget::unlimited().with_time(Duration::from_secs(20));
            for (&check, outcome) in &report(engine, &text, &budget).outcomes {
                let violated = truth.contains(&Ending::Violated(check));
                let right = match outcome {
                    Outcome::Proved(_) => !violated,
                    Outcome::Violated(_) => violated,
                    Outcome::Unknown(_) => continue,
                };
                let CheckId(number) = check;
                assert!(right, "seed {seed}, check {number}: {outcome:?}\n{text}");
                decided += 1;
            }
        }
    }
    assert!(decided > 40, "only {decided} checks were decided");
}
