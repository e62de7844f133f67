//! Mutated claims of every kind: what the gate accepts must be true.
//!
//! Engines decide random small programs; each claim that was accepted is changed at one place of
//! its text, many times, and handed in again. A mutant may still be a proof (an invariant may say
//! less, a dead place may be named twice). So what it claims is compared with what running the
//! program on all its inputs shows: a mutant that is accepted must not claim anything false. A
//! chain that is accepted must do what it says: run on the inputs that it names, the program must
//! violate the check.
//! Besides, checks are added to claims that are violated, and violated ones are claimed of runs
//! that do something else: those must all be refused.
//!
//! `HARDBOP_CASES=N` takes N programs instead of the usual few, `HARDBOP_SEED=S` starts at another
//! seed; with `--nocapture` a table tells how many mutants of each kind were tried.
#![allow(clippy::print_stdout)]

use hardbop_budget::Budget;
use hardbop_cegar::Slam;
use hardbop_cfront::ids::{CheckId, EdgeId};
use hardbop_cfront::interp::{self, InputValue};
use hardbop_cfront::program::{Op, Program};
use hardbop_dpr::Dpr;
use hardbop_engine::claim::{self, Link};
use hardbop_engine::{Claim, Engine, Task};
use hardbop_gate::Gate;
use hardbop_horn::WholeProgram;
use hardbop_houdini::{Houdini, Nodes};
use hardbop_leap::Leap;
use hardbop_logic::{Names, Terms, parse_term};
use hardbop_model::{Model, Prepared};
use hardbop_test_support::desk::Keeping;
use hardbop_test_support::generate::{arrays, branches, lists, loops, tiny};
use hardbop_test_support::inputs::{Ending, Endings, endings, loaded};
use hardbop_test_support::random::Random;
use hardbop_test_support::setting;
use hardbop_unroll::{Runs, Unroll};
use hardbop_values::Values;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How many mutants of each claim are tried.
const MUTANTS: u64 = 12;
/// The same of a chain: it is long, and most of it is checked by itself.
const CHAIN_MUTANTS: u64 = 60;

/// What is claimed must be so.
fn is_true(claim: &Claim, truth: &Endings) -> bool {
    let violated = |check: CheckId| truth.contains(&Ending::Violated(check));
    let proved = claim.proves().iter().all(|&check| !violated(check));
    proved && claim.violates().is_none_or(violated)
}

/// Runs a program on the inputs that a chain names: it must violate the check, whatever the inputs
/// are that it does not name.
fn is_taken(program: &Program, chain: &claim::Chain) -> bool {
    [0, 1, 7, 255].into_iter().all(|other| {
        let mut inputs = Vec::new();
        for link in &chain.links {
            let Link::Walk(walk) = link else { continue };
            let mut met: BTreeMap<EdgeId, usize> = BTreeMap::new();
            for step in &walk.moves {
                let edge = step.edge();
                if !matches!(program.edges[edge.index()].op, Op::Input { .. }) {
                    continue;
                }
                let before = met.entry(edge).or_default();
                let key = (edge, *before);
                *before += 1;
                let chosen = walk.choices.iter().find(|(known, _)| *known == key);
                let value = chosen.map_or(other, |(_, text)| literal(text));
                inputs.push(InputValue::Bits(value));
            }
        }
        let mut script = interp::Script::new(inputs);
        let run = interp::run(program, &mut script, &interp::Limits::default());
        run.outcome == interp::Outcome::Violated(chain.check)
    })
}

/// The bits of a literal.
fn literal(text: &str) -> u128 {
    let mut terms = Terms::new();
    let literal = parse_term(&mut terms, &Names::default(), text).expect("the gate has read it");
    match terms.value_of(literal) {
        Some(hardbop_logic::Value::BitVec(bits)) => {
            u128::try_from(bits.unsigned()).expect("inputs are small")
        }
        other => panic!("{other:?} is no word"),
    }
}

/// Places in a value that can be changed, by the way to them.
fn places(value: &Value, at: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    found.push(at.clone());
    let below: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    };
    for (index, value) in below.into_iter().enumerate() {
        at.push(index);
        places(value, at, found);
        at.pop();
    }
}

fn place<'a>(value: &'a mut Value, at: &[usize]) -> &'a mut Value {
    let Some((&first, rest)) = at.split_first() else {
        return value;
    };
    let below = match value {
        Value::Array(items) => &mut items[first],
        Value::Object(fields) => fields
            .values_mut()
            .nth(first)
            .expect("the way leads somewhere"),
        _ => unreachable!("only lists and objects have something below"),
    };
    place(below, rest)
}

/// Changes something at one place.
fn mutate(value: &mut Value, random: &mut Random) {
    match value {
        Value::Number(number) => {
            let number = number.as_u64().unwrap_or(0);
            let new = match random.below(4u64) {
                0 => number + 1,
                1 => number.saturating_sub(1),
                2 => 0,
                _ => random.below(40u64),
            };
            *value = new.into();
        }
        Value::Array(items) if !items.is_empty() => {
            let one = random.below(items.len() as u64) as usize;
            let other = random.below(items.len() as u64) as usize;
            match random.below(4u64) {
                0 => {
                    items.remove(one);
                }
                1 => items.swap(one, other),
                2 => items.push(items[one].clone()),
                _ => items.clear(),
            }
        }
        Value::String(text) => *text = mutated_text(text, random),
        Value::Bool(flag) => *flag = !*flag,
        _ => {}
    }
}

/// A formula, or a number, with one thing changed.
fn mutated_text(text: &str, random: &mut Random) -> String {
    let swaps = [
        ("bvsle", "bvslt"),
        ("bvslt", "bvsle"),
        ("bvule", "bvult"),
        ("(and ", "(or "),
        ("(or ", "(and "),
        ("(= ", "(distinct "),
        ("true", "false"),
        ("false", "true"),
        ("(not ", "(and true "),
        ("0", "1"),
        ("1", "0"),
        ("bvadd", "bvsub"),
    ];
    let (from, to) = random.pick(&swaps);
    let spots: Vec<usize> = text.match_indices(from).map(|(at, _)| at).collect();
    if spots.is_empty() {
        return random.pick(&["true", "false", "1"]).to_owned();
    }
    let at = random.pick(&spots);
    format!("{}{to}{}", &text[..at], &text[at + from.len()..])
}

/// The kind of a claim, in the word of its text.
fn kind(claim: &Claim) -> String {
    let text = serde_json::to_value(claim).expect("claims can be written");
    let kind = text["kind"].as_str().unwrap_or_default();
    match text.get("arbitrary") {
        Some(_) => format!("{kind} of all"),
        None => kind.to_owned(),
    }
}

#[derive(Debug, Default)]
struct Row {
    claims: u64,
    refused: u64,
    accepted: u64,
    unreadable: u64,
}

/// By the kinds of claims.
type Table = BTreeMap<String, Row>;

#[test]
fn no_mutant_that_is_accepted_is_false() {
    let engines: [Box<dyn Engine>; 8] = [
        Box::new(Runs {
            runs: 200,
            ..Runs::default()
        }),
        Box::new(Houdini::default()),
        Box::new(Unroll::default()),
        Box::new(Dpr::default()),
        Box::new(Leap::default()),
        Box::new(Slam::default()),
        Box::new(WholeProgram::default()),
        Box::new(Values::default()),
    ];
    let table = tried(program, 30, &engines, Duration::from_millis(800));
    let kinds = [
        "invariants",
        "invariants of all",
        "unrolling",
        "clauses",
        "only-run",
        "run",
    ];
    for kind in kinds {
        let refused = table.get(kind).map_or(0, |row| row.refused);
        assert!(refused > 0, "no mutant of kind {kind} was refused");
    }
}

/// The state of these claims has ghosts.
#[test]
fn no_mutant_about_all_nodes_that_is_accepted_is_false() {
    // Counted, so that it is the same on every machine.
    let nodes: [Box<dyn Engine>; 1] = [Box::new(Nodes {
        questions: 500,
        ..Nodes::default()
    })];
    let table = tried(lists::program, 12, &nodes, Duration::from_secs(60));
    assert_eq!(table.keys().collect::<Vec<_>>(), ["invariants of all"]);
    let row = &table["invariants of all"];
    assert!(row.claims > 0 && row.refused > 0, "{row:?}");
}

/// Runs that could be replayed are claimed as chains, so that they can be compared.
#[test]
fn no_mutant_of_a_chain_that_is_accepted_is_false() {
    let chains = Leap {
        options: hardbop_leap::Options {
            replay_steps: 0,
            leaps: 2,
            iterations: 0,
            chains: 4,

            ..hardbop_leap::Options::default()
        },
    };
    let table = tried(
        loops::program,
        10,
        &[Box::new(chains)],
        Duration::from_secs(60),
    );
    assert_eq!(table.keys().collect::<Vec<_>>(), ["chain"]);
    let row = &table["chain"];
    assert!(row.claims > 2 && row.refused > 60, "{row:?}");
}

/// Lets engines decide so many programs, each within a time, and changes what they claim.
fn tried(
    program: fn(u64) -> String,
    usual: u64,
    engines: &[Box<dyn Engine>],
    time: Duration,
) -> Table {
    let (first, wanted) = (setting("HARDBOP_SEED", 1), setting("HARDBOP_CASES", usual));
    let mut table = Table::new();
    for seed in first..first + wanted {
        let text = program(seed);
        let loaded = loaded(&text);
        let Some(truth) = endings(&loaded.program) else {
            continue;
        };
        let prepared =
            Prepared::with_points_to(&loaded.program, loaded.points_to, &Budget::unlimited())
                .unwrap();
        let model = Model::new(&loaded.program, &prepared);
        let checks: Vec<CheckId> = (0..loaded.program.checks.len() as u32)
            .map(CheckId)
            .collect();
        let mut random = Random(seed);
        for claim in claims(&model, &checks, engines, time) {
            assert!(is_true(&claim, &truth), "seed {seed}: {claim:?}\n{text}");
            let row = table.entry(kind(&claim)).or_default();
            row.claims += 1;
            let gate = |seconds: u64| {
                let budget = Budget::unlimited().with_time(Duration::from_secs(seconds));
                Gate::new(&model, budget)
            };
            let taken = |claim: &Claim| match claim {
                Claim::Chain(chain) => is_taken(&loaded.program, chain),
                _ => true,
            };
            assert!(taken(&claim), "seed {seed}: {claim:?}\n{text}");
            let whole = serde_json::to_value(&claim).expect("claims can be written");
            // What was read again is the same, and is accepted again.
            let again: Claim = serde_json::from_value(whole.clone()).expect("and read again");
            assert_eq!(again, claim);
            assert!(
                gate(600).check(again).is_ok(),
                "seed {seed}: {claim:?}\n{text}"
            );
            let mutants = match claim {
                Claim::Chain(_) => CHAIN_MUTANTS,
                _ => MUTANTS,
            };
            for _ in 0..mutants {
                let mut mutant = whole.clone();
                let mut ways = Vec::new();
                places(&mutant, &mut Vec::new(), &mut ways);
                let at = random.below(ways.len() as u64) as usize;
                mutate(place(&mut mutant, &ways[at]), &mut random);
                let shown = mutant.to_string();
                let Ok(mutant) = serde_json::from_value::<Claim>(mutant) else {
                    row.unreadable += 1;
                    continue;
                };
                let holds = is_true(&mutant, &truth);
                match gate(1).check(mutant.clone()) {
                    Ok(_) => {
                        let holds = holds && taken(&mutant);
                        assert!(holds, "seed {seed}: {shown} is accepted\n{text}");
                        row.accepted += 1;
                    }
                    Err(_) => row.refused += 1,
                }
            }
            for &check in &checks {
                assert_refused(gate(600), &claim, check, &truth, &text);
            }
        }
    }
    println!("kind                claims  refused  accepted  unreadable");
    for (kind, row) in &table {
        let Row {
            claims,
            refused,
            accepted,
            unreadable,
        } = row;
        println!("{kind:19} {claims:6} {refused:8} {accepted:9} {unreadable:11}");
    }
    table
}

/// A claim about one more check, which it does not speak of, is refused if that is not so.
fn assert_refused(gate: Gate<'_>, claim: &Claim, check: CheckId, truth: &Endings, text: &str) {
    let mut more = serde_json::to_value(claim).expect("claims can be written");
    match more.get_mut("checks").and_then(Value::as_array_mut) {
        Some(checks) => checks.push(check.0.into()),
        None => more["check"] = check.0.into(),
    }
    let more: Claim = serde_json::from_value(more).expect("it has the same form");
    if !is_true(&more, truth) {
        assert!(gate.check(more.clone()).is_err(), "{more:?}\n{text}");
    }
}

/// A program of one of three families.
fn program(seed: u64) -> String {
    match seed % 3 {
        0 => return branches::program(seed),
        1 => return arrays::program(seed),
        _ => {}
    }
    let sketch = tiny::sketch(seed);
    let observed = loaded(&sketch.observed());
    let seen: BTreeSet<i32> = endings(&observed.program)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|ending| match ending {
            Ending::Returned(value) => Some(value),
            _ => None,
        })
        .collect();
    sketch.checked(&seen)
}

/// The claims of engines that are accepted.
fn claims(
    model: &Model<'_>,
    checks: &[CheckId],
    engines: &[Box<dyn Engine>],
    time: Duration,
) -> Vec<Claim> {
    let mut kept = Vec::new();
    for engine in engines {
        let budget = Budget::unlimited().with_time(time);
        let task = Task {
            model,
            checks,
            budget: &budget,
        };
        let mut desk = Keeping::new(model, budget.clone());
        engine.check(&task, &mut desk);
        kept.append(&mut desk.kept);
    }
    kept
}
