//! What is known at the cut points of small programs, as formulas.

use expect_test::{Expect, expect};
use hardbop_budget::Budget;
use hardbop_cfront::ids::LocId;
use hardbop_cfront::program::LocationKind;
use hardbop_facts::Arrays;
use hardbop_logic::Terms;
use hardbop_model::{Model, Prepared};
use hardbop_semantics::constants::Constants;
use hardbop_test_support::inputs::load;

/// The facts at loops and at the ends of functions, with the lines that they are at.
fn check(text: &str, expected: Expect) {
    let (program, points_to) = load(text);
    let prepared = Prepared::keeping_calls(&program, points_to);
    let model = Model::new(&program, &prepared);
    let mut terms = Terms::new();
    let constants = Constants::new(&model.flat.semantics, &mut terms);
    let ground = model.flat.ground(&constants);
    let facts =
        hardbop_facts::facts(&ground, &mut terms, Arrays::Followed, &Budget::unlimited()).unwrap();
    let mut out = String::new();
    for index in 0..program.locations.len() as u32 {
        let location = &program.locations[index as usize];
        let name = &program.function(location.function).name;
        let what = match location.kind {
            LocationKind::LoopHead => "loop",
            LocationKind::Exit => "end",
            LocationKind::Error(_) => "violation",
            _ => continue,
        };
        let known = match facts.at.get(&LocId(index)) {
            None => "never".to_owned(),
            Some(facts) => {
                let facts: Vec<String> = facts
                    .iter()
                    .map(|&fact| terms.infix(fact).to_string())
                    .collect();
                facts.join(", ")
            }
        };
        out.push_str(&format!("{name} {what}: {known}\n"));
    }
    expected.assert_eq(&out);
}

#[test]
fn a_loop_counts_up_to_its_bound() {
    check(
        "int main(void) { int i; for (i = 0; i < 10; i++) ; return i; }",
        expect![[r#"
            main loop: main::i >= 0, main::i <= 10
            main end: main::result# == 10, main::i == 10
        "#]],
    );
}

#[test]
fn what_is_widened_too_far_is_narrowed() {
    check(
        "int main(void) { int i = 0; while (1) { if (i < 1000) i += 7; else i = 0; } }",
        expect![[r#"
            main loop: main::i >= 0, main::i <= 1006
            main end: never
        "#]],
    );
}

#[test]
fn functions_are_given_what_all_calls_give_them() {
    check(
        "static int half(int n) { return n / 2; }
         int main(void) { int a = half(10); int b = half(21); return a + b; }",
        expect![[r#"
            half end: half::n >= 10, half::n <= 21, half::result# >= 5, half::result# <= 10
            main end: main::result# >= 10, main::result# <= 20, main::a >= 5, main::a <= 10, main::b >= 5, main::b <= 10
        "#]],
    );
}

#[test]
fn a_pointer_is_null_or_into_an_object() {
    check(
        "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);
         static int table[8]; static int *at;
         int main(void) {
           unsigned i = __VERIFIER_nondet_int();
           if (i < 8) at = &table[i];
           if (at) { if (at == 0) reach_error(); *at = 1; }
           return 0;
         }",
        expect![[r#"
            main violation: never
            main end: at == 0 || at - (origin + 16) <=u 28, main::result# == 0
        "#]],
    );
}

/// Compared with another one into the same object, it is on one side of it.
#[test]
fn a_pointer_is_before_another_one() {
    check(
        "static char text[8];
         int main(void) {
           char *end = text + 8, *p = text;
           while (p < end) p++;
           while (p > text) p--;
           while (p <= text + 2) p += 2;
           return 0;
         }",
        expect![[r#"
            main loop: main::end - (origin + 1) == 8, main::p - (origin + 1) <=u 8
            main loop: main::end - (origin + 1) == 8, main::p - (origin + 1) <=u 8
            main loop: main::end - (origin + 1) == 8, main::p - (origin + 1) <=u 4
            main end: main::result# == 0, main::end - (origin + 1) == 8, main::p - (origin + 1) - 3 <=u 1
        "#]],
    );
    // Of two objects, nobody knows which one is first.
    check(
        "static char text[8], other[8];
         int main(void) { char *p = text; while (p < other) p++; return 0; }",
        expect![[r#"
            main loop: 
            main end: main::result# == 0
        "#]],
    );
}

#[test]
fn negative_numbers_are_large_ones_without_a_sign() {
    check(
        "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);
         int main(void) {
           int i = __VERIFIER_nondet_int();
           if ((unsigned long)(long)i < 5UL) { if (i < 0 || i > 4) reach_error(); }
           return 0;
         }",
        expect![[r#"
            main violation: never
            main end: main::result# == 0
        "#]],
    );
}

#[test]
fn recursion_comes_to_an_end() {
    check(
        "static int down(int n) { if (n <= 0) return 0; return down(n - 1); }
         int main(void) { return down(100); }",
        expect![[r#"
            down end: down::n >= 0, down::n <= 100, down::result# == 0
            main end: main::result# == 0
        "#]],
    );
}
