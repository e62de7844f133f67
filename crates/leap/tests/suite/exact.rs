//! Leaps by closed forms: the loops of the benchmark with small bounds, compared to the interpreter;
//! claims of them that are false; shapes that must not be leapt; random programs.

#[path = "../../benches/bounds/families.rs"]
#[allow(dead_code, reason = "the benchmark needs more of it")]
mod families;

use crate::support::run;
use families::LOOPS;
use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::{Op, Program};
use hardbop_engine::Claim;
use hardbop_engine::claim::{Chain, ChoiceKey, Count, Leap, Link, Move};
use hardbop_gate::{Gate, Outcome};
use hardbop_leap::{Effort, Options};
use hardbop_logic::{Names, Terms, Value, parse_term};
use hardbop_model::{Model, Prepared};
use hardbop_semantics::FreshOrigin;
use hardbop_semantics::replay::{Choice, replay};
use hardbop_test_support::inputs::load;
use hardbop_test_support::random::Random;
use hardbop_test_support::setting;
use std::fmt::Write;

/// Chains only, by closed forms only.
fn options() -> Options {
    Options {
        replay_steps: 0,
        effort: Effort::Exact,
        ..Options::default()
    }
}

/// The chain that was accepted for the first check of a program.
fn chain(program: &Program, points_to: &PointsTo) -> Option<Chain> {
    let found = run(program, points_to, &options(), 20);
    match found.report.outcomes.get(&CheckId(0))? {
        Outcome::Violated(refutation) => match refutation.claim() {
            Claim::Chain(chain) => Some(chain.clone()),
            other => panic!("not a chain: {other:?}"),
        },
        _ => None,
    }
}

/// Whether the gate accepts a claim about a program.
fn is_accepted(program: &Program, points_to: &PointsTo, chain: &Chain) -> bool {
    let prepared =
        Prepared::with_points_to(program, points_to.clone(), &Budget::unlimited()).unwrap();
    let model = Model::new(program, &prepared);
    let gate = Gate::new(&model, Budget::unlimited());
    gate.check(Claim::Chain(chain.clone())).is_ok()
}

fn literal(text: &str) -> Option<Value> {
    let mut terms = Terms::new();
    let term = parse_term(&mut terms, &Names::default(), text).ok()?;
    terms.value_of(term)
}

/// What a path is given, in the order in which it asks.
fn given(program: &Program, moves: &[Move], chosen: &[(ChoiceKey, String)], out: &mut Vec<Choice>) {
    let mut met: Vec<hardbop_cfront::ids::EdgeId> = Vec::new();
    for step in moves {
        let edge = step.edge();
        if !matches!(program.edges[edge.index()].op, Op::Input { .. }) {
            continue;
        }
        let occurrence = met.iter().filter(|&&before| before == edge).count();
        met.push(edge);
        let found = chosen.iter().find(|(key, _)| *key == (edge, occurrence));
        out.push(Choice {
            edge,
            origin: FreshOrigin::Input(edge),
            value: found.and_then(|(_, text)| literal(text)),
        });
    }
}

/// All inputs of the run that a chain claims; leaps are written out.
fn inputs(program: &Program, chain: &Chain) -> Vec<Choice> {
    let mut out = Vec::new();
    for link in &chain.links {
        match link {
            Link::Walk(walk) => given(program, &walk.moves, &walk.choices, &mut out),
            Link::Leap(leap) if leap.counts.is_empty() => {
                let count = leap.variables.iter().position(Option::is_none);
                let times = count.and_then(|at| literal(&leap.left.as_ref()?[at]));
                let Some(Value::BitVec(times)) = times else {
                    panic!("no count in {leap:?}");
                };
                let times = u64::try_from(times.unsigned().clone()).expect("a small bound");
                for _ in 0..times {
                    given(program, &leap.paths[0].2, &leap.strategy, &mut out);
                }
            }
            Link::Leap(_) => {}
        }
    }
    out
}

/// Whether the interpreter violates the check on the inputs of a chain.
fn is_run(program: &Program, chain: &Chain) -> bool {
    let inputs = inputs(program, chain);
    replay(program, &inputs, chain.check, &Budget::unlimited()).is_ok()
}

/// Every loop of the benchmark is found by a chain, the interpreter takes it, and neither the
/// engine nor the gate believes it of the twin.
#[test]
fn the_loops_of_the_benchmark_are_what_the_interpreter_runs() {
    let mut missing = Vec::new();
    for case in LOOPS {
        let name = format!("{}, {}", case.family, case.name);
        let (program, points_to) = load(&case.program(1_000, true));
        let (twin, twin_points_to) = load(&case.program(1_000, false));
        assert_eq!(chain(&twin, &twin_points_to), None, "the twin of {name}");
        let Some(chain) = chain(&program, &points_to) else {
            missing.push(name);
            continue;
        };
        assert!(is_run(&program, &chain), "{name}: {chain:?}");
        assert!(
            !is_accepted(&twin, &twin_points_to, &chain),
            "the twin of {name}"
        );
    }
    // One of them is walked to its end with so small a bound.
    assert!(missing.len() <= 2, "{missing:?}");
}

/// What can be wrong with a leap; `None` where there is nothing of that kind.
fn mutants(leap: &Leap) -> Vec<(&'static str, Leap)> {
    let mut found = Vec::new();
    let mut add = |what, change: &dyn Fn(&mut Leap)| {
        let mut other = leap.clone();
        change(&mut other);
        if other != *leap {
            found.push((what, other));
        }
    };
    add("nothing tells states apart", &|leap| {
        leap.nodes.iter_mut().for_each(|node| node.view.clear());
    });
    add("nothing is known inside", &|leap| {
        leap.nodes
            .iter_mut()
            .for_each(|node| node.state = "true".to_owned());
    });
    add("it is left anywhere", &|leap| {
        let exit = leap.exit;
        leap.nodes[exit].exit = leap.nodes[exit].state.clone();
    });
    add("nothing counts", &|leap| {
        leap.counter = None;
    });
    add("a count stays", &|leap| {
        leap.counts.iter_mut().flatten().for_each(|count| {
            if *count == Count::Next {
                *count = Count::Same;
            }
        });
    });
    add("a count does not begin again", &|leap| {
        leap.counts.iter_mut().flatten().for_each(|count| {
            if *count == Count::Zero {
                *count = Count::Next;
            }
        });
    });
    add("nobody said what is counted", &|leap| {
        leap.counts.truncate(1)
    });
    add("other values at the end", &|leap| {
        for text in leap.left.iter_mut().flatten() {
            *text = other_literal(text);
        }
    });
    add("one more or one less", &|leap| {
        let count = leap.variables.iter().position(Option::is_none);
        let Some(text) = count.and_then(|at| leap.left.as_ref()?.get(at).cloned()) else {
            return;
        };
        let other = other_literal(&text);
        for node in &mut leap.nodes {
            node.state = node.state.replace(&text, &other);
            node.exit = node.exit.replace(&text, &other);
        }
        for left in leap.left.iter_mut().flatten() {
            *left = left.replace(&text, &other);
        }
    });
    add("a path less", &|leap| {
        leap.paths.pop();
        leap.counts.pop();
    });
    found
}

/// A literal in hexadecimal digits with its last digit changed.
fn other_literal(text: &str) -> String {
    let mut other = text.to_owned();
    match other.pop() {
        Some('0') => other.push('1'),
        Some(digit) if digit.is_ascii_hexdigit() => other.push('0'),
        Some(end) => other.push(end),
        None => {}
    }
    other
}

#[test]
fn a_leap_with_something_wrong_is_refused() {
    let mut tried = 0;
    for case in LOOPS {
        let name = format!("{}, {}", case.family, case.name);
        let (program, points_to) = load(&case.program(1_000, true));
        let Some(chain) = chain(&program, &points_to) else {
            continue;
        };
        for (at, link) in chain.links.iter().enumerate() {
            let Link::Leap(leap) = link else {
                continue;
            };
            for (what, mutant) in mutants(leap) {
                let mut claim = chain.clone();
                claim.links[at] = Link::Leap(Box::new(mutant));
                tried += 1;
                let accepted = is_accepted(&program, &points_to, &claim);
                assert!(!accepted, "{name}: {what}: {claim:?}");
            }
        }
    }
    assert!(tried > 300, "{tried}");
}

#[track_caller]
fn not_found(text: &str) {
    let (program, points_to) = load(&format!("extern void reach_error(void);\n{text}"));
    assert_eq!(chain(&program, &points_to), None, "{text}");
}

#[track_caller]
fn found(text: &str) {
    let (program, points_to) = load(&format!("extern void reach_error(void);\n{text}"));
    assert!(chain(&program, &points_to).is_some(), "{text}");
}

#[test]
fn an_index_beyond_its_array_is_not_leapt() {
    let text = |length: u32| {
        format!(
            "int main(void) {{ unsigned a[{length}], i = 0, n = 0;
             while (i < 1000000) {{ a[i % 11] = i; i++; }} reach_error(); return 0; }}"
        )
    };
    found(&text(11));
    not_found(&text(10));
    not_found(
        "int main(void) { int a[10], i = 0, k = 0;
         while (i < 1000000) { a[k - 1] = i; k = k ? 0 : 1; i++; } reach_error(); return 0; }",
    );
}

#[test]
fn a_variable_called_iteration_is_not_the_count() {
    found(
        "unsigned iteration = 1000000;
         int main(void) { unsigned x = 0; while (x < iteration) x++;
         if (x == 1000000) reach_error(); return 0; }",
    );
    not_found(
        "unsigned iteration = 1000000;
         int main(void) { unsigned x = 0; while (x < iteration) x += 2;
         if (x == iteration + 1) reach_error(); return 0; }",
    );
}

#[test]
fn a_counter_that_comes_round_is_followed_round() {
    found(
        "int main(void) { unsigned char c = 0; unsigned i = 0; while (i < 1000000) { c += 3; i++; }
         if (c == (3000000 & 255)) reach_error(); return 0; }",
    );
    not_found(
        "int main(void) { unsigned char c = 0; unsigned i = 0; while (i < 1000000) { c += 3; i++; }
         if (c != (3000000 & 255)) reach_error(); return 0; }",
    );
    not_found("int main(void) { unsigned x = 1; while (x != 0) x += 2; reach_error(); return 0; }");
}

/// A random program without inputs: loops with small state that cycles, members, cells, calls,
/// nests.
fn program(random: &mut Random) -> String {
    let mut text = String::from(
        "extern void reach_error(void);\nstruct s { unsigned short a; unsigned char b; };\n\
         unsigned char g; unsigned char step(unsigned char x) { g ^= 1; return x + 3; }\n\
         int main(void) {\n  struct s s; s.a = 0; s.b = 1; unsigned char c[4] = { 1, 2, 3, 4 };\n\
         \x20 unsigned short x = 0, y = 0, z = 0;\n",
    );
    let statement = |text: &mut String, random: &mut Random| {
        let k = 1 + random.below(5);
        let m = 2 + random.below(5);
        let line = match random.below(14) {
            0 => format!("y += {k};"),
            1 => format!("y = (y + 1) % {m};"),
            2 => format!("s.a += {k};"),
            3 => "s.b ^= 1;".to_owned(),
            4 => format!("c[x % 4] += {k};"),
            5 => format!("c[x & 1]++; z += c[{}];", random.below(4)),
            6 => "z += x;".to_owned(),
            7 => "y = step(y);".to_owned(),
            8 => format!("if (x % {m} == 1) z += {k}; else y ^= {k};"),
            9 => format!("if (++s.b == {m}) s.b = 0;"),
            10 => format!(
                "{{ unsigned short j = 0; while (j < {}) {{ j++; z++; }} }}",
                10 * k
            ),
            11 => format!(
                "{{ unsigned short j = 0; while (j < {}) {{ j++; z += {m}; }} }}",
                90 + k
            ),
            12 => format!("if (x < {}) y++; else z--;", 40 * k),
            _ => "{ unsigned short t = y; y = z; z = t; }".to_owned(),
        };
        let _ = writeln!(text, "    {line}");
    };
    for _ in 0..1 + random.below(2) {
        let bound = 300 + random.below(700);
        let by = 1 + random.below(3);
        let _ = writeln!(text, "  for (x = 0; x < {bound}; x += {by}) {{");
        for _ in 0..1 + random.below(3) {
            statement(&mut text, random);
        }
        text.push_str("  }\n");
    }
    let value = random.below(64);
    let goals = [
        format!("(y & 15) == {}", value % 16),
        format!("(z & 7) == {}", value % 8),
        format!("s.b == {}", value % 3),
        format!("(c[1] & 7) == {}", value % 8),
        "s.a > y".to_owned(),
        "g == 1".to_owned(),
        "z >= y".to_owned(),
    ];
    let goal = &goals[random.below(goals.len() as u64) as usize];
    let _ = writeln!(text, "  if ({goal}) reach_error();\n  return 0;\n}}");
    text
}

/// What is claimed of random programs is what they do, and what they do not do is refused even
/// where it is claimed of a program that does.
#[test]
fn random_programs_do_what_is_claimed() {
    let (first, count) = (setting("HARDBOP_SEED", 1), setting("HARDBOP_CASES", 60));
    let (mut claimed, mut violated) = (0, 0);
    for seed in first..first + count {
        let text = program(&mut Random(seed ^ 0xf0c5_0000));
        let (program, points_to) = load(&text);
        let runs = replay(&program, &[], CheckId(0), &Budget::unlimited()).is_ok();
        violated += u32::from(runs);
        if let Some(chain) = chain(&program, &points_to) {
            claimed += 1;
            assert!(runs, "seed {seed}\n{text}");
            let not = text
                .replace("\n  if (", "\n  if (!(")
                .replace(") reach_error", ")) reach_error");
            let (other, other_points_to) = load(&not);
            assert!(
                !is_accepted(&other, &other_points_to, &chain),
                "seed {seed}\n{text}"
            );
        }
    }
    assert!(
        count < 50 || claimed * 2 > violated,
        "{claimed} of {violated}"
    );
}
