//! Counters, wide procedures and random programs, and what each optimisation buys.
//!
//! `cargo bench -p hardbop-bebop --bench families`
//!
//! Times are of the check alone, without loading, the best of several runs; a ratio says how much
//! slower the check is without the optimisation.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use hardbop_bebop::{
    Answer, Expand, LiveRanges, ModRef, Options, Reorder, SlotOrder, Statistics, Tracking, Unknown,
    check,
};
use hardbop_boolean_program::generate::{self, Recursion, Shape, Start};
use hardbop_boolean_program::program::Program;
use hardbop_boolean_program::{Dialect, Random, load};
use hardbop_budget::{Budget, Stopped};
use hardbop_diagnostics::Sources;
use std::time::{Duration, Instant};

/// No check may take longer than this.
const LIMIT: Duration = Duration::from_secs(20);

fn program(text: String) -> Program {
    let mut sources = Sources::new();
    let file = sources.add("bench.bp", text);
    load(&sources, file, Dialect::Auto)
        .program
        .expect("generated programs are right")
}

/// The time of a check and what it cost.
fn measure(program: &Program, options: &Options) -> (Option<Duration>, Statistics) {
    let mut best: Option<Duration> = None;
    for _ in 0..3 {
        let start = Instant::now();
        let checker = check(program, options, &Budget::unlimited().with_time(LIMIT));
        let time = start.elapsed();
        let stopped = checker
            .answers()
            .contains(&Answer::Unknown(Unknown::Stopped(Stopped::Time)));
        if stopped || time > Duration::from_secs(2) {
            return ((!stopped).then_some(time), checker.statistics());
        }
        best = Some(best.map_or(time, |best| best.min(time)));
        if best.is_some_and(|best| best > Duration::from_millis(300)) {
            return (best, checker.statistics());
        }
    }
    let checker = check(program, options, &Budget::unlimited());
    (best, checker.statistics())
}

/// The time for a shortest trace to the first target that is reachable.
fn trace_time(program: &Program) -> Option<Duration> {
    let budget = Budget::unlimited().with_time(LIMIT);
    let mut checker = check(program, &Options::default(), &budget);
    let reachable = checker
        .answers()
        .iter()
        .position(|answer| *answer == Answer::Reachable)?;
    let start = Instant::now();
    let trace = checker.trace(program.targets[reachable].vertex, Expand::Nothing);
    trace.ok().flatten().map(|_| start.elapsed())
}

fn row(name: &str, text: String) {
    let program = program(text);
    let (time, statistics) = measure(&program, &Options::default());
    let shown = |time: Option<Duration>| match time {
        Some(time) => format!("{:.4} s", time.as_secs_f64()),
        None => "-".to_string(),
    };
    let ratio = |options: Options| {
        let (other, _) = measure(&program, &options);
        match (time, other) {
            (Some(time), Some(other)) => format!("{:.2}", other.as_secs_f64() / time.as_secs_f64()),
            (Some(time), None) => format!("> {:.0}", LIMIT.as_secs_f64() / time.as_secs_f64()),
            (None, _) => "-".to_string(),
        }
    };
    let without_order = Options {
        order: SlotOrder::Declared,
        ..Options::default()
    };
    let tracking = Tracking {
        live_ranges: LiveRanges::Ignored,
        ..Tracking::default()
    };
    let without_live = Options {
        tracking,
        ..Options::default()
    };
    let tracking = Tracking {
        mod_ref: ModRef::Ignored,
        ..Tracking::default()
    };
    let without_mod_ref = Options {
        tracking,
        ..Options::default()
    };
    println!(
        "{name:<34} {:>10} {:>10} {:>8} {:>8} {:>8} {:>11} {:>7} {:>7}",
        shown(time),
        shown(trace_time(&program)),
        statistics.counts.steps,
        statistics.counts.peak_nodes,
        ratio(without_order),
        ratio(without_live),
        ratio(without_mod_ref),
        ratio(Options {
            reorder: Reorder::WHEN_LARGE,
            ..Options::default()
        }),
    );
}

/// The program with its main procedure called from another one.
fn called(text: &str) -> String {
    format!(
        "{}\nvoid main() begin run(); end\n",
        text.replace("void main()", "void run()")
    )
}

/// The program with the names that its statements use shuffled, so that neighbours in the order
/// of declaration have nothing to do with each other.
fn shuffled(text: &str, variables: usize, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut names: Vec<usize> = (0..variables - 2).collect();
    for place in (1..names.len()).rev() {
        names.swap(place, random.below(place + 1));
    }
    let rename = |line: &str| {
        let mut parts = line.split('v');
        let mut out = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let digits = part.chars().take_while(char::is_ascii_digit).count();
            match part[..digits].parse::<usize>() {
                Ok(number) => out.push_str(&format!("v{}{}", names[number], &part[digits..])),
                Err(_) => out.push_str(&format!("v{part}")),
            }
        }
        out
    };
    let line = |line: &str| {
        if line.contains("decl") {
            line.to_string()
        } else {
            rename(line)
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn main() {
    println!(
        "{:<34} {:>10} {:>10} {:>8} {:>8} {:>8} {:>11} {:>7} {:>7}",
        "program",
        "check",
        "trace",
        "steps",
        "nodes",
        "no FORCE",
        "no liveness",
        "no MOD",
        "sifting"
    );
    for bits in [8, 10, 12, 14, 16] {
        row(
            &format!("counter, {bits} bits, from zero"),
            generate::counter(bits, Start::Zero),
        );
    }
    for bits in [8, 10, 12, 14, 16] {
        row(
            &format!("counter, {bits} bits, from anywhere"),
            generate::counter(bits, Start::Anywhere),
        );
    }
    for bits in [8, 10, 12, 14] {
        // In a procedure of its own, the relation between start and end must be found.
        let name = format!("counter, {bits} bits, called, anywhere");
        row(&name, called(&generate::counter(bits, Start::Anywhere)));
    }
    for (variables, statements) in [(50, 100), (100, 200), (200, 400)] {
        let name = format!("wide, {variables} variables, {statements} st.");
        let text = generate::wide(variables, statements, 1);
        row(&name, text.clone());
        let name = format!("the same, {variables} names shuffled");
        row(&name, shuffled(&text, variables as usize, 7));
    }
    for (globals, statements, seed) in [(6, 20, 1), (10, 30, 2), (14, 40, 3)] {
        let shape = Shape {
            procedures: 10,
            globals,
            locals: 6,
            formals: 4,
            statements,
            recursion: Recursion::Allowed,
        };
        let name = format!("random, 10 procedures, {globals} globals");
        row(&name, generate::arbitrary(shape, seed));
    }
}
