//! Claims written by hand, the way an engine that is wrong could hand them in: what stands is
//! accepted, and whatever was left out, weakened or made up is refused. Random ones are in
//! `portfolio/tests/mutated_claims.rs`, beside the engines that make them.

use hardbop_budget::Budget;
use hardbop_engine::Claim;
use hardbop_gate::{Evidence, Gate};
use hardbop_model::{Model, Prepared};
use hardbop_test_support::inputs::load;
use serde_json::{Value, json};

const HEAD: &str = "void reach_error(void); int __VERIFIER_nondet_int(void);\n";

/// What the gate says of a claim about a program.
fn said(text: &str, claim: Value) -> String {
    let (program, points_to) = load(&format!("{HEAD}{text}"));
    let prepared = Prepared::with_points_to(&program, points_to, &Budget::unlimited()).unwrap();
    let model = Model::new(&program, &prepared);
    let claim: Claim = serde_json::from_value(claim).expect("a claim");
    match Gate::new(&model, Budget::unlimited()).check(claim) {
        Ok(Evidence::Proof(_)) => "proof".to_owned(),
        Ok(Evidence::Refutation(_)) => "refutation".to_owned(),
        Err(reason) => format!("refused: {reason}"),
    }
}

/// Asserts that a claim is refused, for whatever reason.
#[track_caller]
fn refused(text: &str, claim: Value) {
    let said = said(text, claim);
    assert!(said.starts_with("refused: "), "{said}");
}

/// What is passed behind `...` is what is read; the list that says where it is belongs to nobody
/// else.
#[test]
fn the_only_run_reads_further_arguments_as_they_were_passed() {
    let claim = json!({ "kind": "only-run", "checks": [0], "steps": 1000 });
    let text = |ty: &str, passed: &str, seen: &str| {
        format!(
            "int x;
             int f(int n, ...) {{
               __builtin_va_list a, b;
               __builtin_va_start(a, n);
               __builtin_va_copy(b, a);
               {ty} first = __builtin_va_arg(a, {ty}), again = __builtin_va_arg(b, {ty});
               {seen}
               return first == again;
             }}
             int main(void) {{ if (!f(1, {passed})) reach_error(); return 0; }}"
        )
    };
    assert_eq!(said(&text("int", "5", ""), claim.clone()), "proof");
    assert_eq!(said(&text("long", "5L", ""), claim.clone()), "proof");
    // An address as a number, fewer bytes than are asked for, and the list itself.
    refused(&text("long", "&x", ""), claim.clone());
    refused(&text("long", "5", ""), claim.clone());
    refused(&text("int", "5", "n = *(int *)a;"), claim.clone());
    refused(&text("int", "5", "n = a[0].gp_offset;"), claim);
}

/// Locations: 0 the entry, 2 the loop's head, 5 the violation, 7 the exit.
const COUNTS: &str = "int main(void) {
      int n = __VERIFIER_nondet_int(); int i = 0;
      while (i < n) { i++; if (i < 1) reach_error(); }
      return 0;
    }";

fn counts(at: Value) -> Value {
    json!({ "kind": "invariants", "checks": [0], "cuts": [0, 2, 5, 7], "at": at })
}

#[test]
fn an_invariant_that_is_inductive_and_excludes_the_violation_is_a_proof() {
    let at = json!([
        [0, "true"],
        [2, "(bvsle #x00000000 |main::i#2|)"],
        [7, "true"]
    ]);
    assert_eq!(said(COUNTS, counts(at)), "proof");
}

#[test]
fn an_invariant_that_says_too_little_is_refused() {
    let at = json!([[0, "true"], [2, "true"], [7, "true"]]);
    refused(COUNTS, counts(at));
}

#[test]
fn an_invariant_that_does_not_hold_at_first_is_refused() {
    let at = json!([
        [0, "true"],
        [2, "(bvsle #x00000001 |main::i#2|)"],
        [7, "true"]
    ]);
    refused(COUNTS, counts(at));
}

#[test]
fn an_invariant_that_no_step_need_keep_is_refused() {
    let at = json!([[0, "true"], [2, "(= |main::i#2| #x00000000)"], [7, "true"]]);
    refused(COUNTS, counts(at));
}

#[test]
fn nothing_is_said_of_the_entry_that_callers_do_not_see_to() {
    let at = json!([[0, "false"], [2, "false"], [7, "false"]]);
    refused(COUNTS, counts(at));
    // An entry that has no invariant is one that control never comes to.
    refused(COUNTS, counts(json!([])));
}

#[test]
fn a_loop_that_is_not_cut_is_refused() {
    let claim = json!({
        "kind": "invariants", "checks": [0], "cuts": [0, 5, 7],
        "at": [[0, "true"], [7, "true"]],
    });
    refused(COUNTS, claim);
}

#[test]
fn a_violation_that_is_no_cut_point_is_refused() {
    let claim = json!({
        "kind": "invariants", "checks": [0], "cuts": [0, 2, 7],
        "at": [[0, "true"], [2, "true"], [7, "true"]],
    });
    refused(COUNTS, claim);
}

#[test]
fn formulas_about_nothing_or_of_another_sort_are_refused() {
    for formula in [
        "(bvsle #x00000000 |main::nobody#9|)",
        "|main::i#2|",
        "(bvsle #x00 |main::i#2|)",
        "(and",
        "",
    ] {
        let at = json!([[0, "true"], [2, formula], [7, "true"]]);
        refused(COUNTS, counts(at));
    }
}

#[test]
fn checks_that_do_not_exist_are_refused() {
    let claim = json!({
        "kind": "invariants", "checks": [0, 7], "cuts": [0, 2, 5, 7],
        "at": [[0, "true"], [2, "(bvsle #x00000000 |main::i#2|)"], [7, "true"]],
    });
    refused(COUNTS, claim);
}

#[test]
fn what_code_can_violate_is_not_nowhere() {
    refused(COUNTS, json!({ "kind": "nowhere", "checks": [0] }));
    let unused = "static void f(void) { reach_error(); } int main(void) { return 0; }";
    assert_eq!(
        said(unused, json!({ "kind": "nowhere", "checks": [0] })),
        "proof"
    );
}

#[test]
fn a_run_has_to_get_there() {
    let text = "int main(void) {
          int a = __VERIFIER_nondet_int();
          if (a == 7) reach_error();
          return 0;
        }";
    let run = |inputs: Value| json!({ "kind": "run", "check": 0, "given": { "script": { "inputs": inputs } } });
    assert_eq!(said(text, run(json!([{ "bits": "7" }]))), "refutation");
    refused(text, run(json!([{ "bits": "8" }])));
    refused(text, run(json!([])));
    refused(text, run(json!([{ "bits": "seven" }])));
}

#[test]
fn the_only_run_is_none_where_something_is_open() {
    let claim = json!({ "kind": "only-run", "checks": [0], "steps": 1000 });
    let closed =
        "int main(void) { int i = 0; while (i < 9) i++; if (i != 9) reach_error(); return 0; }";
    assert_eq!(said(closed, claim.clone()), "proof");
    let violated = closed.replace("i != 9", "i == 9");
    refused(&violated, claim.clone());
    let open = closed.replace("int i = 0", "int i = __VERIFIER_nondet_int() & 1");
    refused(&open, claim.clone());
    // Not initialised is open, too.
    let open = closed.replace("int i = 0", "int i, j; if (j) i = 0; else i = 1");
    refused(&open, claim.clone());
    // A run that is not over says nothing of what comes.
    let claim = json!({ "kind": "only-run", "checks": [0], "steps": 5 });
    refused(closed, claim);
}

/// Locations: 0 the entry, 2 the loop's head, 5 the violation, 7 the exit.
const ONCE: &str = "int main(void) {
      int n = __VERIFIER_nondet_int(), i = 0;
      while (i < (n & 1)) i++;
      if (i > 1) reach_error();
      return 0;
    }";

fn once(layers: u32, dead: &[(u32, u32)]) -> Value {
    let dead: Vec<Value> = dead
        .iter()
        .map(|(layer, location)| json!({ "layer": layer, "location": location }))
        .collect();
    json!({
        "kind": "unrolling", "checks": [0], "cuts": [0, 2, 5, 7],
        "layers": layers, "dead": dead,
    })
}

#[test]
fn an_unrolling_is_followed_to_where_it_says_that_nothing_is_alive() {
    let dead = [(2, 5), (3, 2), (3, 5)];
    assert_eq!(said(ONCE, once(4, &dead)), "proof");
    // Where the loop goes on, there is more to follow than was said.
    refused(ONCE, once(4, &[(2, 5), (3, 5)]));
    refused(ONCE, once(3, &[(2, 5)]));
}

#[test]
fn what_is_alive_is_not_dead() {
    refused(ONCE, once(2, &[(1, 2)]));
    refused(ONCE, once(3, &[(2, 2), (2, 5), (2, 7)]));
    let violated = ONCE.replace("i > 1", "i > 0");
    refused(&violated, once(4, &[(2, 5), (3, 2), (3, 5)]));
}

/// All executions of a program without loops, none of which is said to violate anything.
fn straight() -> Value {
    json!({ "kind": "unrolling", "checks": [0], "cuts": [], "layers": 2, "dead": [] })
}

/// What is asked about addresses is asked for every place where objects may lie.
#[test]
fn executions_are_followed_wherever_objects_lie() {
    let main = |body: &str| {
        format!(
            "void *malloc(unsigned long);
             struct node {{ int value; struct node *next; }};
             static int x, *cell = &x;
             int main(void) {{
               struct node *p = malloc(sizeof *p), *q = malloc(sizeof *q);
               p->value = 1; p->next = q; q->value = 2; q->next = 0;
               struct node *n = __VERIFIER_nondet_int() ? p : p->next;
               {body}
               return 0;
             }}"
        )
    };
    for never in [
        "if (p == q || n == 0) reach_error();",
        "if (n->value != 1 && n->value != 2) reach_error();",
        "if (n->value == 2 && n->next) reach_error();",
        "if (n->next && n->next->value != 2) reach_error();",
        "*cell = 3; if (x != 3 || n->value == 3) reach_error();",
        // No object lies on the first page, or ends behind the middle of the address space.
        "if ((unsigned long)&x >> 12 == 0) reach_error();",
        "if ((long)&x < 0) reach_error();",
    ] {
        assert_eq!(said(&main(never), straight()), "proof", "{never}");
    }
    for sometimes in [
        "if (n == q) reach_error();",
        "if (n->value == 2) reach_error();",
        "if (n->next == q) reach_error();",
        // Of what was not written anything may be there, an address as well.
        "struct node *r = malloc(sizeof *r); if (r->next == q) reach_error();",
        // Objects may begin on any page but the first, and which one it is can be seen.
        "if ((unsigned long)&x >> 12 == 16) reach_error();",
        "if ((unsigned long)&x >> 12 == 17) reach_error();",
        "if ((unsigned long)n >> 12 == 12345) reach_error();",
        "if ((unsigned long)cell * 3 >> 40 == 5) reach_error();",
    ] {
        refused(&main(sometimes), straight());
    }
}

/// By points, as well, all executions have to be followed to their ends.
#[test]
fn an_unrolling_by_points_is_followed_to_its_end() {
    let by_points = |cuts: &[u32], layers: u32, dead: Value| {
        json!({
            "kind": "unrolling", "checks": [0], "cuts": cuts, "following": "points",
            "layers": layers, "dead": dead,
        })
    };
    let straight = |condition: &str| {
        format!(
            "int main(void) {{
               int n = __VERIFIER_nondet_int();
               if ({condition}) reach_error();
               return 0;
             }}"
        )
    };
    let never = straight("n > 3 && n < 3");
    assert_eq!(said(&never, by_points(&[], 2, json!([]))), "proof");
    refused(&never, by_points(&[], 0, json!([])));
    refused(&straight("n == 3"), by_points(&[], 2, json!([])));
    // The loop is not said to end, or is said to end where it does not.
    refused(ONCE, by_points(&[0, 2, 5, 7], 50, json!([])));
    let anywhere = json!([{ "layer": [0], "location": 2 }, { "layer": 3, "location": 2 }]);
    refused(ONCE, by_points(&[0, 2, 5, 7], 50, anywhere));
    // Without a cut the loop is no block.
    refused(ONCE, by_points(&[], 50, json!([])));
}

#[test]
fn claims_of_endings_are_no_claims_of_checks() {
    // The check is an error call, which a rank says nothing of.
    let claim = json!({
        "kind": "ranking", "checks": [0], "invariants": { "checks": [], "cuts": [0, 2, 5, 7], "at": [] },
        "ranks": [], "calls": [],
    });
    refused(COUNTS, claim);
    let lasso =
        json!({ "kind": "lasso", "check": 0, "script": { "inputs": [] }, "stem": 0, "cycle": 1 });
    refused(COUNTS, lasso);
}

/// Locations: 0 and 3 the callee's entry and exit, 4 the entry, 6 the call, 7 behind it, 8 the exit.
const CALLS: &str = "static int g(int x) { if (x < 1) reach_error(); return x; }
    int main(void) {
      int n = __VERIFIER_nondet_int();
      if (n > 0) g(n);
      return 0;
    }";

/// Invariants of a program whose calls are kept. The one at the call is used for another word, too, so
/// that what it leads to is asked about part by part.
fn called(before: &str, entered: &str, left: &str, after: &str) -> String {
    let at = json!([
        [0, entered],
        [3, left],
        [4, "true"],
        [6, before],
        [7, after],
        [8, "true"]
    ]);
    let claim = json!({
        "kind": "invariants", "checks": [0], "cuts": [0, 1, 3, 4, 6, 7, 8], "at": at,
        "arbitrary": [32], "calls": "kept",
        "instances": [{ "at": 6, "word": 0, "term": "|main::n#3|" }],
    });
    said(CALLS, claim)
}

#[test]
fn each_part_of_what_callees_are_given_and_give_back_is_asked_for() {
    let before = "(bvsle #x00000001 |main::n#3|)";
    let entered = "(and (bvsle #x00000001 |g::x#0|) (bvsle #x00000000 |g::x#0|))";
    let left = "(bvsle #x00000001 |g::result##1|)";
    assert_eq!(called(before, entered, left, "true"), "proof");
    let refused = |said: String| assert!(said.starts_with("refused: "), "{said}");
    // One part of what the callee is given is not so, ...
    let more = "(and (bvsle #x00000001 |g::x#0|) (bvsle #x00000002 |g::x#0|))";
    refused(called(before, more, left, "true"));
    // ... or of what holds behind the call, ...
    let behind = "(and (bvsle #x00000001 |main::n#3|) (bvsle #x00000002 |main::n#3|))";
    refused(called(before, entered, left, behind));
    // ... or the callee does not see to what it is said to give back.
    refused(called(
        before,
        entered,
        "(bvsle #x00000002 |g::result##1|)",
        "true",
    ));
}
