//! Random programs: the checker and the explicit reference must agree on every target, on the
//! length of every shortest trace, and on the reachable states; every trace must replay.
//!
//! `HARDBOP_DIFFERENTIAL=20000` sets the number of programs; `HARDBOP_SEED` the first seed.

#![allow(
    clippy::print_stderr,
    reason = "a failing seed and the campaign's size are worth seeing"
)]

mod support;

use hardbop_bebop::{
    Answer, Checker, Expand, Formula, LiveRanges, ModRef, Options, Reorder, Rest, SlotOrder,
    Tracking, check,
};
use hardbop_boolean_program::generate::{Recursion, Shape, arbitrary};
use hardbop_boolean_program::program::{Program, VarId, VertexId};
use hardbop_budget::Budget;
use hardbop_test_support::setting;
use std::collections::BTreeSet;
use support::{explicit, judge, program};

/// What a campaign went through.
#[derive(Debug, Default)]
struct Seen {
    programs: usize,
    reachable: usize,
    unreachable: usize,
    too_large: usize,
    longest: u32,
}

fn shape(seed: u64) -> Shape {
    let pick = |shift: u32, bound: u64| (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) % bound;
    if pick(5, 10) == 0 {
        // Now and then something larger, as far as the reference can follow.
        return Shape {
            procedures: 3 + pick(10, 5) as usize,
            globals: 2 + pick(20, 3) as usize,
            locals: 1 + pick(30, 2) as usize,
            formals: 1 + pick(40, 2) as usize,
            statements: 6 + pick(50, 14) as usize,
            recursion: Recursion::Allowed,
        };
    }
    Shape {
        procedures: 1 + pick(10, 4) as usize,
        globals: pick(20, 4) as usize,
        locals: pick(30, 3) as usize,
        formals: pick(40, 3) as usize,
        statements: 2 + pick(50, 9) as usize,
        recursion: if pick(60, 2) == 0 {
            Recursion::None
        } else {
            Recursion::Allowed
        },
    }
}

fn options(seed: u64) -> Options {
    let mut options = Options::default();
    if seed % 7 == 3 {
        options.tracking = Tracking {
            live_ranges: LiveRanges::Ignored,
            mod_ref: ModRef::Tracked,
        };
    }
    if seed % 7 == 5 {
        options.tracking = Tracking {
            live_ranges: LiveRanges::Tracked,
            mod_ref: ModRef::Ignored,
        };
    }
    if seed % 5 == 1 {
        options.order = SlotOrder::Declared;
    }
    if seed.is_multiple_of(3) {
        options.collection_floor = 0;
    }
    if seed.is_multiple_of(6) {
        options.reorder = Reorder::Above(0);
    }
    options
}

fn check_one(text: &str, seed: u64, seen: &mut Seen) {
    let program = program(text);
    let Some(reference) = explicit::tabulate(&program, 200_000) else {
        seen.too_large += 1;
        return;
    };
    let budget = Budget::unlimited();
    let mut checker = check(&program, &options(seed), &budget);
    for (target, answer) in program.targets.iter().zip(checker.answers()) {
        let vertex = target.vertex;
        let distance = reference.distance.get(&vertex);
        match answer {
            Answer::Reachable => assert!(distance.is_some(), "{target:?} is unreachable"),
            Answer::Unreachable => assert!(distance.is_none(), "{target:?} is reachable"),
            Answer::Unknown(why) => panic!("{why:?}"),
        }
        let Some(&distance) = distance else {
            seen.unreachable += 1;
            continue;
        };
        seen.reachable += 1;
        seen.longest = seen.longest.max(distance);
        let trace = checker
            .trace(vertex, Expand::Steps(3000))
            .expect("no limit");
        let trace = trace.expect("it is reachable");
        assert_eq!(trace.length, distance, "the length for {target:?}");
        let open = trace
            .steps
            .iter()
            .any(|s| matches!(s.leaves, hardbop_bebop::Leave::Over(_)));
        if !open {
            judge::check_execution(&program, &trace, vertex);
            if trace.steps.len() < 40 && seed.is_multiple_of(4) {
                judge::check_forced(&program, &trace);
            }
        }
        let closed = checker.trace(vertex, Expand::Nothing).expect("no limit");
        assert_eq!(
            closed.expect("it is reachable").steps.len() as u32,
            distance + 1
        );
    }
    for vertex in (0..program.vertices.len() as u32).map(VertexId) {
        let reached = checker.answer_for(vertex) == Answer::Reachable;
        assert_eq!(
            reached,
            reference.distance.contains_key(&vertex),
            "{vertex:?}"
        );
        check_invariant(&program, &mut checker, &reference, vertex);
    }
    seen.programs += 1;
}

/// The formula for a vertex must hold in exactly the states that the reference has found, when
/// both are seen through the variables that are live there.
fn check_invariant(
    program: &Program,
    checker: &mut Checker<'_>,
    reference: &explicit::Tabulation,
    vertex: VertexId,
) {
    let procedure = program.vertices[vertex.index()].procedure;
    let scope: Vec<VarId> = program.in_scope(procedure).collect();
    let bit = |var: VarId| {
        scope
            .iter()
            .position(|&other| other == var)
            .expect("in scope")
    };
    let live = checker
        .live(vertex)
        .into_iter()
        .fold(0u64, |mask, var| mask | 1 << bit(var));
    let found = reference.states.get(&vertex);
    let expected: BTreeSet<u64> = found
        .into_iter()
        .flatten()
        .map(|state| state & live)
        .collect();
    let formula = checker
        .invariant(vertex)
        .expect("no limit")
        .expect("complete")
        .formula;
    let meets = |formula: &Formula<VarId>| -> BTreeSet<u64> {
        let all = (0..1u64 << scope.len()).filter(|state| state & !live == 0);
        all.filter(|&state| holds(formula, &|var| state >> bit(var) & 1 != 0))
            .collect()
    };
    assert_eq!(meets(&formula), expected, "{vertex:?}: {formula:?}");
    for less in with_less(&formula) {
        assert_ne!(
            meets(&less),
            expected,
            "{formula:?} says too much: {less:?}"
        );
    }
}

fn holds(formula: &Formula<VarId>, value: &dyn Fn(VarId) -> bool) -> bool {
    let literal = |&(var, wanted): &(VarId, bool)| value(var) == wanted;
    match formula {
        Formula::False => false,
        Formula::And { fixed, equal, rest } => {
            fixed.iter().all(literal)
                && equal
                    .iter()
                    .all(|&(a, b, same)| (value(a) == value(b)) == same)
                && rest.iter().all(|part| match part {
                    Rest::AnyOf(cubes) => cubes.iter().any(|cube| cube.iter().all(literal)),
                    Rest::AllOf(clauses) => clauses.iter().all(|clause| clause.iter().any(literal)),
                    Rest::TooLong => panic!("small programs have small formulas"),
                })
        }
    }
}

/// The formula without one of its parts, cubes, clauses or literals.
fn with_less(formula: &Formula<VarId>) -> Vec<Formula<VarId>> {
    let Formula::And { fixed, equal, rest } = formula else {
        return Vec::new();
    };
    let and = |fixed: &[_], equal: &[_], rest: &[_]| Formula::And {
        fixed: fixed.to_vec(),
        equal: equal.to_vec(),
        rest: rest.to_vec(),
    };
    let mut found = Vec::new();
    for place in 0..fixed.len() {
        let mut fewer = fixed.clone();
        fewer.remove(place);
        found.push(and(&fewer, equal, rest));
    }
    for place in 0..equal.len() {
        let mut fewer = equal.clone();
        fewer.remove(place);
        found.push(and(fixed, &fewer, rest));
    }
    for place in 0..rest.len() {
        let (Rest::AnyOf(lists) | Rest::AllOf(lists)) = &rest[place] else {
            continue;
        };
        let mut put = |lists: Vec<Vec<(VarId, bool)>>| {
            let mut other = rest.clone();
            other[place] = match &rest[place] {
                Rest::AnyOf(_) => Rest::AnyOf(lists),
                _ => Rest::AllOf(lists),
            };
            found.push(and(fixed, equal, &other));
        };
        for list in 0..lists.len() {
            let mut fewer = lists.clone();
            fewer.remove(list);
            put(fewer);
            for literal in 0..lists[list].len() {
                let mut shorter = lists.clone();
                shorter[list].remove(literal);
                put(shorter);
            }
        }
    }
    found
}

fn campaign(count: u64, first: u64) -> Seen {
    let mut seen = Seen::default();
    for seed in first..first + count {
        let text = arbitrary(shape(seed), seed);
        let run = std::panic::AssertUnwindSafe(|| check_one(&text, seed, &mut seen));
        if let Err(panic) = std::panic::catch_unwind(run) {
            let _ = std::fs::write(std::env::temp_dir().join("hardbop-failed.bp"), &text);
            eprintln!("seed {seed} failed; the program:\n{text}");
            std::panic::resume_unwind(panic);
        }
    }
    seen
}

#[test]
fn agrees_with_the_explicit_reference() {
    let count = setting("HARDBOP_DIFFERENTIAL", 1500);
    let seen = campaign(count, setting("HARDBOP_SEED", 0));
    eprintln!("{seen:?}");
    assert_eq!((seen.programs + seen.too_large) as u64, count);
    // The campaign means something only if both answers and long traces occur.
    assert!(seen.too_large * 10 < count as usize, "{seen:?}");
    assert!(seen.reachable > count as usize / 2, "{seen:?}");
    assert!(seen.unreachable > count as usize / 20, "{seen:?}");
}

/// Programs in which the less usual constructs meet.
const HANDMADE: &[&str] = &[
    // Main is called: it needs a summary of its own.
    "decl g, h; void main() begin
       if (g) then g := 0; main(); L: skip; assert(h); fi
       if (h) then h := *; main(); M: skip; fi
     end",
    // Results go to a global that the callee modifies, to a local, and nowhere; a swap.
    "decl g, h; void main() begin decl x, y;
       g, x := pair(x, y); A: assert(g = x);
       _, h := pair(h, g); B: assert(h);
       x, y := pair(y, x); assert(x = y);
     end
     bool<2> pair(a, b) begin g := !a; if (*) then h := b; fi return b, a; end",
    // The return point of a call is the exit, under an invariant that reads a dead local.
    "decl g, h; void main() begin p(); L: assert(g | h); p(); M: skip; end
     void p() begin decl l; enforce(l | g); h := l; if (*) then g := !g; q(); fi q(); end
     void q() begin g := *; end",
    // A global invariant cuts off states in callees and after returns.
    "decl g, h; enforce(!(g & h));
     void main() begin g := 0; flip(); L: assert(!g); h := 1; flip(); M: skip; end
     void flip() begin g := !g; if (g) then N: skip; fi end",
    // Invariants of procedures that stand in the middle of them, with a label and in a branch.
    "decl g, h; void main() begin decl l; l := g; enforce l | h; p(l); A: assert(h);
       h := *; B: enforce g | !l; assert(l); end
     void p(a) begin g := *; if (a) then enforce g | h; M: h := !h; else N: skip; fi end",
    // A loop back to the entry vertex, in a procedure that calls itself.
    "decl g; void main() begin r(g); assert(g); end
     void r(a) begin
       L: a := !a; if (*) then goto L; fi
       if (a) then r(!a); M: g := a; goto L; fi
     end",
    // Relations between old and new values, and choices inside of conditions.
    "decl a, b, c; void main() begin
       a, b := *, * constrain (('a = !('b)) & ('a => c));
       L: assert(a != b);
       c := choose(a, b); assert(c = a);
       if (* & c) then M: assert(!c); fi
       c := schoose[F, F]; N: assert(c);
       dead a; assert(a);
     end",
    // Targets in procedures that nobody calls, and behind assumptions that never hold.
    "decl g; void main() begin assume(g); assume(!g); L: skip; end
     void unused() begin M: assert(F); end",
    // A callee that never returns.
    "decl g; void main() begin g := 1; spin(); L: skip; end
     void spin() begin M: while (T) do g := !g; od N: skip; end",
    // Mutual recursion that carries values in both directions.
    "decl n0, n1;
     void main() begin decl r; r := even(); L: assert(r); if (!r) then N: skip; fi end
     bool even() begin decl x;
       if (!n0 & !n1) then return T; fi
       n0, n1 := !n0, n0 = n1; x := odd(); return x;
     end
     bool odd() begin decl x;
       if (!n0 & !n1) then return F; fi
       n0, n1 := !n0, n0 = n1; x := even(); return x;
     end",
];

#[test]
fn handmade_programs_agree() {
    let mut seen = Seen::default();
    for text in HANDMADE {
        // Every combination of options that the seeds stand for.
        for seed in 0..210 {
            check_one(text, seed, &mut seen);
        }
    }
    assert_eq!(seen.programs, HANDMADE.len() * 210);
}
