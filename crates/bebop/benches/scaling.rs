//! T(N), the paper's template (section 4): CPU time and peak memory against N.
//!
//! `cargo bench -p hardbop-bebop --bench scaling [-- N...]`
//!
//! Every N runs in a process of its own, from a file on, as a user's run would: the time is that
//! process's CPU time for reading, loading and checking, the memory its peak. Growth exponents
//! are the slopes of the least-squares lines through the logarithms, from N = 1,000 on.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use hardbop_bebop::{Answer, Expand, Options, check};
use hardbop_boolean_program::{Dialect, generate, load_program};
use hardbop_budget::{Budget, peak_resident_bytes};
use hardbop_diagnostics::Sources;
use std::process::Command;

/// One row of the table.
struct Row {
    n: f64,
    load: f64,
    check: f64,
    trace: f64,
    megabytes: f64,
}

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    let first = arguments.next();
    if first.as_deref() == Some("file") {
        return measure(&arguments.next().expect("a file"));
    }
    let mut sizes: Vec<u32> = first
        .into_iter()
        .chain(arguments)
        .filter_map(|text| text.parse().ok())
        .collect();
    if sizes.is_empty() {
        sizes = vec![800, 1_000, 3_000, 10_000, 30_000, 100_000];
    }
    println!(
        "{:>8} {:>10} {:>10} {:>10} {:>10} {:>9}",
        "N", "load", "check", "trace", "sum", "peak"
    );
    let rows: Vec<Row> = sizes.into_iter().map(in_own_process).collect();
    for row in &rows {
        println!(
            "{:>8} {:>8.3} s {:>8.3} s {:>8.3} s {:>8.3} s {:>6.0} MB",
            row.n,
            row.load,
            row.check,
            row.trace,
            row.load + row.check + row.trace,
            row.megabytes
        );
    }
    let large = || rows.iter().filter(|row| row.n >= 1_000.0);
    if large().count() > 1 {
        let time = large().map(|row| (row.n, row.load + row.check + row.trace));
        let check_time = large().map(|row| (row.n, row.check));
        let memory = large().map(|row| (row.n, row.megabytes));
        println!(
            "growth exponents: time {:.2}, check alone {:.2}, memory {:.2}",
            exponent(time),
            exponent(check_time),
            exponent(memory)
        );
    }
}

/// Writes T(N) to a file and measures it; the best of three, since other work disturbs.
fn in_own_process(n: u32) -> Row {
    let path = std::env::temp_dir().join(format!("hardbop-t{n}.bp"));
    std::fs::write(&path, generate::template(n)).expect("the temporary directory is writable");
    let program = std::env::current_exe().expect("the benchmark's own path");
    let runs = (0..3).map(|_| {
        let output = Command::new(&program)
            .arg("file")
            .arg(&path)
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let numbers: Vec<f64> = text
            .split_whitespace()
            .filter_map(|x| x.parse().ok())
            .collect();
        let [load, check, trace, megabytes] = numbers[..] else {
            panic!("{text}")
        };
        Row {
            n: f64::from(n),
            load,
            check,
            trace,
            megabytes,
        }
    });
    let best = runs.min_by(|a, b| (a.load + a.check).total_cmp(&(b.load + b.check)));
    let _ = std::fs::remove_file(&path);
    best.expect("three runs")
}

/// The process for one file: prints CPU seconds for load, check and trace, and peak megabytes.
fn measure(path: &str) {
    let start = cpu_seconds();
    let text = std::fs::read_to_string(path).expect("a readable file");
    let mut sources = Sources::new();
    let file = sources.add(path, text);
    let (program, _) = load_program(&sources, file, Dialect::Auto);
    let program = program.expect("a right program");
    let loaded = cpu_seconds();
    let mut checker = check(&program, &Options::default(), &Budget::unlimited());
    assert_eq!(checker.answers(), [Answer::Reachable]);
    let checked = cpu_seconds();
    let trace = checker.trace(program.targets[0].vertex, Expand::Nothing);
    assert!(trace.is_ok_and(|trace| trace.is_some_and(|trace| trace.length == 4)));
    let traced = cpu_seconds();
    let peak = peak_resident_bytes().unwrap_or(0) as f64 / 1e6;
    println!(
        "{} {} {} {peak}",
        loaded - start,
        checked - loaded,
        traced - checked
    );
    // Taking everything apart again is no part of a run.
    std::mem::forget((sources, checker));
    std::mem::forget(program);
}

/// The CPU time of this (single-threaded) process, as the kernel counts it.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text
        .split_whitespace()
        .next()
        .and_then(|ns| ns.parse::<f64>().ok());
    nanoseconds.expect("Linux counts CPU time in /proc/self/schedstat") / 1e9
}

/// The slope of the least-squares line through the logarithms.
fn exponent(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let logs: Vec<(f64, f64)> = points.map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let (mean_x, mean_y) = (
        logs.iter().map(|(x, _)| x).sum::<f64>() / count,
        logs.iter().map(|(_, y)| y).sum::<f64>() / count,
    );
    let over: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let under: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    over / under
}
