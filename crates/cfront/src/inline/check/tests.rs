//! The check stands on what inlining gives, and on nothing else.

mod changes;
mod mutants;
mod programs;

use super::*;
use crate::inline::Limits;
use crate::load::load_text;
use programs::PROGRAMS;

fn program(text: &str) -> Program {
    load_text("test.c", text).unwrap().program
}

fn inline_unchecked(program: &Program, limits: &Limits) -> Derived {
    crate::inline::inline_unchecked(program, limits, &Budget::unlimited()).unwrap()
}

fn inlined(program: &Program) -> Derived {
    inline_unchecked(program, &Limits::default())
}

fn check(program: &Program, inlined: &Derived) -> Checked {
    super::check(program, inlined, &Budget::unlimited()).unwrap()
}

#[test]
fn a_budget_that_is_over_stops_inlining() {
    let program = program(PROGRAMS[0]);
    let budget = Budget::unlimited();
    budget.cancel();
    let stopped = Some(Stopped::Cancelled);
    let limits = Limits::default();
    assert_eq!(
        crate::inline::inline(&program, &limits, &budget).err(),
        stopped
    );
    let checked = super::check(&program, &inlined(&program), &budget);
    assert_eq!(checked.err(), stopped);
}

#[test]
fn what_inlining_gives_stands() {
    let few = Limits {
        shared: 3,
        function: 40,
        targets: 1,
    };
    for text in PROGRAMS {
        let program = program(text);
        for limits in [Limits::default(), few] {
            let inlined = inline_unchecked(&program, &limits);
            assert_eq!(check(&program, &inlined), Ok(()), "{text}");
        }
    }
}

#[test]
fn a_program_as_it_is_stands() {
    for text in PROGRAMS {
        let program = program(text);
        assert_eq!(
            check(&program, &Derived::unchanged(program.clone())),
            Ok(())
        );
    }
}

#[test]
fn another_program_does_not_stand() {
    let programs: Vec<Program> = PROGRAMS.iter().map(|text| program(text)).collect();
    for (index, program) in programs.iter().enumerate() {
        let other = &programs[(index + 1) % programs.len()];
        assert!(check(program, &inlined(other)).is_err());
    }
}

#[test]
fn the_programs_are_inlined() {
    let copies: usize = PROGRAMS
        .iter()
        .map(|text| inlined(&program(text)))
        .map(|inlined| inlined.edges.iter().filter(|edge| edge.is_none()).count())
        .sum();
    assert!(copies > 300, "{copies}");
}

/// A jump around a declaration reads what the declaration would have made unknown.
#[test]
fn what_a_jump_leaves_unset_is_declared() {
    let text = "int g; int nondet(void);\n\
        int f(int a) { if (a) goto in; { int x; x = 1; in: g += x; } return g; }\n\
        int main(void) { int i; for (i = 0; i < 3; i++) f(i); return g; }";
    let program = program(text);
    assert_eq!(check(&program, &inlined(&program)), Ok(()));
}

#[test]
fn a_mismatch_says_where_and_what() {
    let program = program("int f(int a) { return a; } int main(void) { return f(1); }");
    let mut inlined = inlined(&program);
    let edge = inlined.edges.iter().position(Option::is_some).unwrap();
    inlined.edges[edge] = None;
    let mismatch = check(&program, &inlined).unwrap_err();
    assert_eq!(
        mismatch.to_string(),
        format!("edge {edge}: stands for no edge")
    );
}

/// Expressions can be very deep, and very much shared.
#[test]
fn depth_is_no_problem() {
    let mut text = String::from("int f(int a) { return a");
    for _ in 0..2000 {
        text.push_str(" + a");
    }
    text.push_str("; } int main(void) { return f(f(1)); }");
    let program = program(&text);
    assert_eq!(check(&program, &inlined(&program)), Ok(()));
}
