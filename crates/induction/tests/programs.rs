//! Small programs: what is proved by induction over several blocks, and what is not.

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_engine::{Answer, Claim, Desk, Engine, Event, Task, claim};
use hardbop_gate::Gate;
use hardbop_houdini::Houdini;
use hardbop_induction::Induction;
use hardbop_model::state::StateSize;
use hardbop_model::{Model, Prepared};
use hardbop_test_support::answers;
use hardbop_test_support::inputs::loaded;

const HEAD: &str = "void reach_error(void); int __VERIFIER_nondet_int(void);
    unsigned __VERIFIER_nondet_uint(void); unsigned char __VERIFIER_nondet_uchar(void);";

/// What is said of each check of a program.
fn said(text: &str) -> Vec<String> {
    answers::said(&Induction::short(), &format!("{HEAD}\n{text}"))
}

/// Numbers go round; the sums of neighbours are looked at one by one.
fn rotation(sum: &str) -> String {
    format!(
        "int main(void) {{
           unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
           unsigned c = __VERIFIER_nondet_uint(), d = __VERIFIER_nondet_uint();
           if (a + b == 7 || b + c == 7 || c + d == 7 || {sum} == 7) return 0;
           while (1) {{
             if (a + b == 7) reach_error();
             unsigned t = a; a = b; b = c; c = d; d = t;
           }}
         }}"
    )
}

#[test]
fn what_goes_round_is_proved_where_guesses_are_not_enough() {
    let text = rotation("d + a");
    assert_eq!(said(&text), ["proved"]);
    let guessed = answers::said(&Houdini::default(), &format!("{HEAD}\n{text}"));
    assert_ne!(guessed, ["proved"]);
}

/// A program with more state than that is not tried, however small its loops are.
#[test]
fn programs_with_much_state_are_declined() {
    let text = format!("{HEAD}\n{}", rotation("d + a"));
    let few = StateSize {
        bits: 64,
        memories: 0,
    };
    let engine = Induction {
        state: few,
        ..Induction::short()
    };
    let declined = "only bits are searched, and the program has more state than it takes";
    assert_eq!(answers::said(&engine, &text), [declined]);
    let engine = Induction {
        nodes: 100,
        ..Induction::short()
    };
    let declined = "only bits are searched, and the program has circuits that are too large";
    assert_eq!(answers::said(&engine, &text), [declined]);
}

#[test]
fn a_violation_after_some_rounds_is_not_proved() {
    assert_ne!(said(&rotation("d + b")), ["proved"]);
}

#[test]
fn states_that_come_twice_are_left_aside() {
    // What is no sample moves nothing, however often it comes. A sample is made of two inputs, so
    // that no guess says of one what was asked of it.
    let text = "int main(void) {
          int a = 0, b = 0, c = 0;
          while (1) {
            int t = __VERIFIER_nondet_int(), u = __VERIFIER_nondet_int();
            if ((t ^ u) < -100 || (t ^ u) > 100) continue;
            if (a + b + c > 300) reach_error();
            c = b; b = a; a = t ^ u;
          }
        }";
    let (claim, accepted) = changed(text, |_| {}).expect("a claim");
    assert!(claim.distinct && accepted);
    let (_, accepted) = changed(text, |claim| claim.distinct = false).expect("a claim");
    assert!(!accepted);
    assert_eq!(said(text), ["proved"]);
}

#[test]
fn recursion_is_declined() {
    let text = "int f(int n) { return n > 0 ? f(n - 1) + 1 : 0; }
        int main(void) { if (f(__VERIFIER_nondet_int()) < 0) reach_error(); }";
    assert_ne!(said(text), ["proved"]);
}

/// Keeps the claim of an engine.
struct Kept(Option<claim::Induction>);

impl Desk for Kept {
    fn event(&mut self, _: Event) {}

    fn submit(&mut self, claim: Claim) -> Answer {
        if let Claim::Induction(claim) = claim {
            self.0 = Some(*claim);
        }
        Answer::Accepted
    }
}

/// What is claimed of a program, and what the gate says of it after a change.
fn changed(text: &str, change: impl Fn(&mut claim::Induction)) -> Option<(claim::Induction, bool)> {
    let program = &loaded(&format!("{HEAD}\n{text}")).program;
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let budget = Budget::unlimited();
    let prepared = Prepared::new(program, &budget).expect("nobody stops it");
    let model = Model::new(program, &prepared);
    let task = Task {
        model: &model,
        checks: &checks,
        budget: &budget,
    };
    let mut kept = Kept(None);
    Induction::short().check(&task, &mut kept);
    let mut claim = kept.0?;
    change(&mut claim);
    let gate = Gate::new(&model, budget.clone());
    let accepted = gate
        .check(Claim::Induction(Box::new(claim.clone())))
        .is_ok();
    Some((claim, accepted))
}

#[test]
fn claims_that_say_too_much_are_refused() {
    let text = rotation("d + a");
    let accepted = |change: fn(&mut claim::Induction)| {
        changed(&text, change).is_some_and(|(_, accepted)| accepted)
    };
    assert!(accepted(|_| {}));
    assert!(accepted(|claim| claim.blocks += 1));
    assert!(!accepted(|claim| claim.blocks = 2));
    assert!(!accepted(|claim| claim.blocks = 0));
    // Control comes to cut points of which nothing is said.
    assert!(!accepted(|claim| claim.invariants.at.clear()));
    // What is claimed of the program's state has to hold.
    assert!(!accepted(|claim| {
        for formula in claim.invariants.at.values_mut() {
            *formula = "false".to_owned();
        }
    }));
}
