//! Random small programs: whatever an engine decides must be what running all inputs shows.
//!
//! `HARDBOP_CASES=N` compares N programs instead of the usual few, for no more than
//! `HARDBOP_SECONDS=S`; `HARDBOP_SEED=S` starts at another seed; `HARDBOP_MILLISECONDS=T` is the
//! time of each engine for each program. `HARDBOP_FAMILY=tiny|branches` takes programs of one
//! family only, `HARDBOP_ENGINE=NAME` asks one engine only, `HARDBOP_SHOW=1` prints the programs.
//! With `--nocapture`, a table says what each engine decided.
#![allow(clippy::print_stdout)]

use hardbop_budget::Budget;
use hardbop_cegar::Slam;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::inline::{self, inline};
use hardbop_cfront::load::{LoadedProgram, load_text};
use hardbop_cfront::program::Program;
use hardbop_cfront::verify::verify;
use hardbop_dpr::Dpr;
use hardbop_engine::{Encodings, Engine, Event, Task};
use hardbop_gate::Outcome;
use hardbop_horn::WholeProgram;
use hardbop_houdini::Houdini;
use hardbop_leap::Leap;
use hardbop_model::relevance::Depth;
use hardbop_model::{Model, Prepared};
use hardbop_portfolio::{
    Found, Functions, Listener, Plan, Proofs, Slices, Until, check, default_plan,
};
use hardbop_test_support::generate::{branches, tiny};
use hardbop_test_support::inputs::{Ending, Endings, endings};
use hardbop_unroll::{Runs, Unroll};
use hardbop_values::Values;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Hears nothing.
struct Deaf;

impl Listener for Deaf {
    fn event(&mut self, _: &'static str, _: Event) {}

    fn late(&mut self, _: &Found) {}
}

/// Where programs come from.
#[derive(Clone, Copy, Debug)]
enum Family {
    /// A few of the things that C has, and a check that fits.
    Tiny,
    /// Nested branches on inputs of two bits.
    Branches,
}

const FAMILIES: [(&str, Family); 2] = [("tiny", Family::Tiny), ("branches", Family::Branches)];

/// What an engine made of the programs so far.
#[derive(Default)]
struct Row {
    proved: u32,
    violated: u32,
    unknown: u32,
    /// Wrong answers, and programs on which the engine broke.
    wrong: u32,
    time: Duration,
}

/// The engines, each by itself and all together.
struct Campaign {
    engines: Vec<(&'static str, Plan, Row)>,
    limit: Duration,
    programs: u64,
    /// Programs with too many runs to compare.
    large: u64,
}

impl Campaign {
    /// Asks one engine, or all.
    fn new(limit: Duration, only: Option<&str>) -> Campaign {
        fn alone(engine: impl Engine + 'static) -> Plan {
            Plan {
                first: vec![Box::new(engine)],
                lanes: Vec::new(),
                followers: Vec::new(),
                doubts: Vec::new(),
                proofs: Proofs::AsFound,
                until: Until::AllDecided,
            }
        }
        let engines = [
            ("run", alone(Runs::default())),
            ("unroll", alone(Unroll::default())),
            ("dpr", alone(Dpr::default())),
            ("leap", alone(Leap::default())),
            ("houdini", alone(Houdini::default())),
            ("slam", alone(Slam::default())),
            ("horn", alone(WholeProgram::default())),
            ("values", alone(Values::default())),
            ("slice", alone(slices())),
            ("functions", alone(Functions::default())),
            ("all", default_plan(Encodings::IntegersFirst)),
        ];
        Campaign {
            engines: engines
                .into_iter()
                .filter(|(name, _)| only.is_none_or(|only| only == *name))
                .map(|(name, plan)| (name, plan, Row::default()))
                .collect(),
            limit,
            programs: 0,
            large: 0,
        }
    }

    /// Compares every engine's answers for the program of a seed.
    fn compare(&mut self, family: Family, seed: u64) {
        let Some((text, loaded, expected)) = program(family, seed) else {
            self.large += 1;
            return;
        };
        let title = format!("{family:?}, seed {seed}");
        if std::env::var_os("HARDBOP_SHOW").is_some() {
            println!("/* {title} */\n{text}");
        }
        self.programs += 1;
        same_when_inlined(&loaded.program, &expected, &format!("{title}\n{text}"));
        let violated = |id: CheckId| expected.contains(&Ending::Violated(id));
        let checks: Vec<CheckId> = (0..loaded.program.checks.len() as u32)
            .map(CheckId)
            .collect();
        let prepared = Prepared::new(&loaded.program, &Budget::unlimited()).unwrap();
        let model = Model::new(&loaded.program, &prepared);
        for (name, plan, row) in &mut self.engines {
            let start = Instant::now();
            let budget = Budget::unlimited().with_time(self.limit);
            let task = Task {
                model: &model,
                checks: &checks,
                budget: &budget,
            };
            let asked = AssertUnwindSafe(|| check(plan, &task, &mut Deaf));
            let found = catch_unwind(asked);
            row.time += start.elapsed();
            let Ok(found) = found else {
                row.wrong += 1;
                println!("BROKEN: {title}, {name}\n{text}");
                continue;
            };
            for (&id, outcome) in &found.report.outcomes {
                let (count, right) = match outcome {
                    Outcome::Proved(_) => (&mut row.proved, !violated(id)),
                    Outcome::Violated(_) => (&mut row.violated, violated(id)),
                    Outcome::Unknown(_) => (&mut row.unknown, true),
                };
                *count += 1;
                if !right {
                    row.wrong += 1;
                    println!("WRONG: {title}, {name}, {id:?}: {outcome:?}\n{text}");
                }
            }
        }
    }

    fn table(&self) -> String {
        let mut text = format!(
            "{} programs compared, {} with too many runs\n\
             engine     proved  violated  unknown  wrong  seconds\n",
            self.programs, self.large
        );
        for (name, _, row) in &self.engines {
            let Row {
                proved,
                violated,
                unknown,
                wrong,
                time,
            } = row;
            let seconds = time.as_secs_f64();
            text +=
                &format!("{name:8} {proved:8} {violated:9} {unknown:8} {wrong:6} {seconds:8.1}\n");
        }
        text
    }
}

/// Slices of every program, however small.
fn slices() -> Slices {
    Slices {
        engines: vec![Box::new(Values::default()), Box::new(Slam::default())],
        depths: vec![Depth::Branches(0), Depth::Branches(1), Depth::All],
        edges: 0,
    }
}

fn loaded(text: &str) -> LoadedProgram {
    load_text("test.c", text).expect(text)
}

/// A program and how its runs end; none if it has too many runs.
fn program(family: Family, seed: u64) -> Option<(String, LoadedProgram, Endings)> {
    let text = match family {
        Family::Tiny => {
            let sketch = tiny::sketch(seed);
            let observed = loaded(&sketch.observed());
            let values: BTreeSet<i32> = endings(&observed.program)?
                .into_iter()
                .filter_map(|ending| match ending {
                    Ending::Returned(value) => Some(value),
                    _ => None,
                })
                .collect();
            sketch.checked(&values)
        }
        Family::Branches => branches::program(seed),
    };
    let loaded = loaded(&text);
    let expected = endings(&loaded.program)?;
    Some((text, loaded, expected))
}

/// Inlining changes nothing that a run shows.
fn same_when_inlined(program: &Program, expected: &Endings, what: &str) {
    let budget = Budget::unlimited();
    let inlined = inline(program, &inline::Limits::default(), &budget).unwrap();
    assert_eq!(verify(&inlined.program), Vec::<String>::new(), "{what}");
    assert_eq!(endings(&inlined.program).as_ref(), Some(expected), "{what}");
}

#[test]
fn verdicts_are_those_of_running_everything() {
    let text = |name: &str| std::env::var(name).ok();
    let number = |name: &str| text(name).and_then(|n| n.parse::<u64>().ok());
    let wanted = number("HARDBOP_CASES").unwrap_or(40);
    let first = number("HARDBOP_SEED").unwrap_or(1);
    let limit = Duration::from_millis(number("HARDBOP_MILLISECONDS").unwrap_or(1000));
    let end = number("HARDBOP_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
    let only = text("HARDBOP_FAMILY");
    let families: Vec<Family> = FAMILIES
        .iter()
        .filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name))
        .map(|&(_, family)| family)
        .collect();
    let mut campaign = Campaign::new(limit, text("HARDBOP_ENGINE").as_deref());
    for seed in first..first + wanted {
        if end.is_some_and(|end| Instant::now() > end) {
            break;
        }
        campaign.compare(families[seed as usize % families.len()], seed);
    }
    let table = campaign.table();
    println!("{table}");
    let right = campaign.engines.iter().all(|(_, _, row)| row.wrong == 0);
    assert!(right, "{table}");
    assert!(campaign.programs > campaign.large, "{table}");
    for (name, _, row) in &campaign.engines {
        let decided = row.violated + row.proved;
        assert!(decided > 0, "{name} decides nothing\n{table}");
    }
}
