//! Tables 1 and 2 of the paper again, beside its own figures, as the book shows them:
//! `cargo bench -p hardbop-dpr`; and a table of programs whose errors depend on a choice each.
//!
//! `HARDBOP_TABLES_SECONDS=N` sets the time limit of each run: 500 is the paper's, the usual 5
//! keeps the whole within a few minutes (large programs without learning use it up);
//! `HARDBOP_TABLES_BEYOND=1` goes on to 24 variables and 40 characters;
//! `HARDBOP_TABLES_RANDOM=SEED` takes choices by chance;
//! `HARDBOP_TABLES_VARIABLES=N` stops at so many variables; `HARDBOP_TABLES_WRITE=DIR` writes all
//! programs as C files and measures nothing. Times are CPU seconds. The paper's machine was a 3 GHz
//! dual core of 2008, its instances are not published, and its programs are not either: the
//! families here are described in `generate`.
#![allow(clippy::print_stdout)]

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::load_text;
use hardbop_dpr::generate::{Validity, locks, max_3sat, nfa, sentence};
use hardbop_dpr::{Dpr, Learning, Options, Order};
use hardbop_engine::{Reason, Task};
use hardbop_gate::{Outcome, Report, alone};
use hardbop_model::{Model, Prepared};
use std::path::Path;
use std::time::Duration;

/// Variables, clauses, then what the paper explored, its times with and without learning.
const TABLE_1: [(u32, u32, &str, &str, &str); 11] = [
    (9, 349, "44", "5.44", "3.86"),
    (10, 488, "264", "13.77", "7.61"),
    (11, 660, "140", "9.67", "15.58"),
    (12, 867, "261", "14.53", "30.59"),
    (13, 1114, "1038", "49.61", "70.10"),
    (14, 1404, "965", "54.05", "150.32"),
    (15, 1740, "337", "25.58", "300.80"),
    (16, 2125, "2369", "49.32", "timeout"),
    (17, 2564, "2024", "184.91", "timeout"),
    (18, 3060, "1344", "175.34", "timeout"),
    (19, 3615, "669", "110.14", "timeout"),
];

/// Beyond the paper, with the clauses that its numbers extend to.
const BEYOND_1: [(u32, u32, &str, &str, &str); 5] = [
    (20, 4232, "", "", ""),
    (21, 4914, "", "", ""),
    (22, 5664, "", "", ""),
    (23, 6485, "", "", ""),
    (24, 7380, "", "", ""),
];

/// Length, validity, then what the paper explored and its times.
const TABLE_2: [(usize, Validity, &str, &str, &str); 9] = [
    (13, Validity::Valid, "22", "0.707", "0.085"),
    (14, Validity::Valid, "28", "0.845", "0.144"),
    (18, Validity::Valid, "39", "2.312", "7.285"),
    (20, Validity::Valid, "29", "4.183", "6.699"),
    (21, Validity::Valid, "26", "4.202", "4.339"),
    (11, Validity::Invalid, "15", "1.69", "10.027"),
    (13, Validity::Invalid, "13", "0.52", "16.607"),
    (14, Validity::Invalid, "8", "0.84", "53.358"),
    (20, Validity::Invalid, "28", "3.32", "timeout"),
];

const BEYOND_2: [(usize, Validity, &str, &str, &str); 4] = [
    (30, Validity::Valid, "", "", ""),
    (40, Validity::Valid, "", "", ""),
    (30, Validity::Invalid, "", "", ""),
    (40, Validity::Invalid, "", "", ""),
];

struct Row {
    verdict: &'static str,
    paths: String,
    explored: u64,
    steps: u64,
    queries: u64,
    time: f64,
}

fn run(
    text: &str,
    learning: Learning,
    order: Order,
    together_after: Option<u64>,
    limit: Duration,
) -> Row {
    let loaded = load_text("bench.c", text).expect("generated programs are valid");
    let checks: Vec<CheckId> = (0..loaded.program.checks.len() as u32)
        .map(CheckId)
        .collect();
    let options = Options {
        learning,
        order,
        // The locks' loop has no end.
        depth: if text.contains("while") { 5 } else { 64 },
        together_after,
        ..Options::default()
    };
    let start = cpu();
    let budget = Budget::unlimited().with_time(limit);
    let prepared =
        Prepared::with_points_to(&loaded.program, loaded.points_to, &Budget::unlimited()).unwrap();
    let task = Task {
        model: &Model::new(&loaded.program, &prepared),
        checks: &checks,
        budget: &budget,
    };
    let report = alone(&Dpr(options), &task, &mut |_| {});
    let verdict = match report.outcomes.values().next() {
        Some(Outcome::Proved(_)) => "proved",
        Some(Outcome::Violated(_)) => "violated",
        Some(Outcome::Unknown(Reason::Bound(_))) => "bound",
        _ => "timeout",
    };
    Row {
        verdict,
        paths: shown(&report, "paths"),
        explored: report.count("explored"),
        steps: report.count("steps together"),
        queries: report.count("queries"),
        time: cpu() - start,
    }
}

/// The usual order, or by chance with the seed that is given.
fn order() -> Order {
    number("HARDBOP_TABLES_RANDOM").map_or(Options::default().order, Order::Random)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The CPU seconds of this process so far: the machine may have other work to do.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux tells CPU times");
    let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
    let mut ticks = fields.split_ascii_whitespace().skip(11);
    let mut next = || ticks.next().and_then(|text| text.parse::<f64>().ok());
    // The kernel counts a hundred ticks a second for all programs.
    (next().unwrap_or(0.0) + next().unwrap_or(0.0)) / 100.0
}

/// Writes every program as a C file.
fn write(directory: &Path) {
    let write = |name: String, text: String| {
        std::fs::write(directory.join(name), text).expect("the directory can be written to");
    };
    for &(length, validity, ..) in TABLE_2.iter().chain(&BEYOND_2) {
        let name = match validity {
            Validity::Valid => format!("nfa-valid-{length}.c"),
            Validity::Invalid => format!("nfa-invalid-{length}.c"),
        };
        write(name, nfa(&sentence(length, validity)));
    }
    for &(variables, clauses, ..) in TABLE_1.iter().chain(&BEYOND_1) {
        let text = max_3sat(variables, clauses, 1);
        write(format!("max3sat-{variables}.c"), text);
    }
}

fn shown(report: &Report, name: &str) -> String {
    report
        .figure(name)
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// What a run without learning took; nothing if it was not done within the limit.
fn without(text: &str, limit: Duration) -> (String, String) {
    let row = run(text, Learning::Off, order(), None, limit);
    match row.verdict {
        "timeout" => (
            format!("stopped after {} s", limit.as_secs()),
            String::new(),
        ),
        _ => (row.explored.to_string(), format!("{:.1}", row.time)),
    }
}

/// The table of the automaton, as the book shows it.
fn automaton(limit: Duration, extra: &[(usize, Validity, &str, &str, &str)]) {
    println!(
        "| length | valid | paths | explored | by chance | CPU s | paper explored | without learning | CPU s, without |"
    );
    println!("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for &(length, validity, explored, ..) in TABLE_2.iter().chain(extra) {
        let valid = match validity {
            Validity::Valid => "yes",
            Validity::Invalid => "no",
        };
        let text = nfa(&sentence(length, validity));
        let with = run(&text, Learning::On, order(), None, limit);
        let chance = run(&text, Learning::On, Order::Random(1), None, limit);
        let (all, time) = without(&text, limit);
        println!(
            "| {length} | {valid} | {} | {} | {} | {:.2} | {explored} | {all} | {time} |",
            with.paths, with.explored, chance.explored, with.time,
        );
    }
}

/// The table of the formulas.
fn formulas(limit: Duration, most: u64, extra: &[(u32, u32, &str, &str, &str)]) {
    println!(
        "| variables | clauses | paths | explored | by chance | CPU s | without learning | CPU s, without | paper explored | paper s | paper without learning, s |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let all = TABLE_1.iter().chain(extra);
    for &(variables, clauses, explored, seconds, slow) in
        all.take_while(|row| u64::from(row.0) <= most)
    {
        let text = max_3sat(variables, clauses, 1);
        let with = run(&text, Learning::On, order(), None, limit);
        let chance = run(&text, Learning::On, Order::Random(1), None, limit);
        let (all, time) = without(&text, limit);
        println!(
            "| {variables} | {clauses} | {} | {} | {} | {:.2} | {all} | {time} | {explored} | {seconds} | {slow} |",
            with.paths, with.explored, chance.explored, with.time,
        );
    }
}

/// The table of the locks, up to five iterations: one by one and together.
fn of_locks(limit: Duration) {
    println!("| locks | one by one, CPU s | together, CPU s | steps | questions |");
    println!("| ---: | ---: | ---: | ---: | ---: |");
    for count in (1..=8).map(|fives| 5 * fives) {
        let text = locks(count, None);
        let alone = run(&text, Learning::On, order(), None, limit);
        let all = run(&text, Learning::On, order(), Some(0), limit);
        let alone = match alone.verdict {
            "timeout" => format!("stopped after {} s", limit.as_secs()),
            _ => format!("{:.2}", alone.time),
        };
        println!(
            "| {count} | {alone} | {:.2} | {} | {} |",
            all.time, all.steps, all.queries
        );
    }
}

fn main() {
    let limit = Duration::from_secs(number("HARDBOP_TABLES_SECONDS").unwrap_or(5));
    if let Some(directory) = std::env::var_os("HARDBOP_TABLES_WRITE") {
        return write(Path::new(&directory));
    }
    let beyond = number("HARDBOP_TABLES_BEYOND").is_some();
    let most = number("HARDBOP_TABLES_VARIABLES").unwrap_or(u64::MAX);
    println!("\nThe automaton for floating-point literals (the paper's Table 2)\n");
    automaton(limit, if beyond { &BEYOND_2 } else { &[] });
    println!("\nRandomised MAX-3SAT (Table 1)\n");
    formulas(limit, most, if beyond { &BEYOND_1 } else { &[] });
    println!("\nLocks: every error depends on another choice\n");
    of_locks(limit);
}
