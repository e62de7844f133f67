//! Loops with bounds from a hundred to two billion: the time to leap them does not depend on the
//! bound.
//!
//! `cargo bench -p hardbop-leap --bench bounds` prints a table; `-- NAME` takes only the loops
//! whose name contains NAME, `-- --times N` takes the median of N runs instead of five. What is
//! measured is the time on a processor, so that others on the machine do not count. Where `cbmc`
//! is installed, its time is measured beside, with a limit of a minute.
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::{LoadedProgram, load_text};
use hardbop_engine::Task;
use hardbop_gate::{Outcome, alone};
use hardbop_leap::Leap;
use hardbop_model::{Model, Prepared};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BOUNDS: [u64; 4] = [100, 10_000, 1_000_000, (1 << 31) - 1];

/// The loops: a name, and the program with `N` for the bound. All of them violate their check.
const LOOPS: [(&str, &str); 9] = [
    (
        "up",
        "unsigned x = 0; while (x < N) x++; if (x == N) reach_error();",
    ),
    (
        "down",
        "unsigned x = N; while (x > 0) x--; if (x == 0) reach_error();",
    ),
    (
        "by steps",
        "unsigned x = 0; while (x < N) x += 3; if (x >= N && x <= N + 2) reach_error();",
    ),
    (
        "by steps, exact end",
        "unsigned x = 0, y = 0; while (x < N) { x += 3; y++; } if (3 * y == x) reach_error();",
    ),
    (
        "nested",
        "unsigned x = 0, y = 0; while (x < N) { y = 0; while (y < 10) y++; x++; }
         if (y == 10) reach_error();",
    ),
    (
        "two phases",
        "unsigned x = 0, y = 0; while (x < N) { if (x < N / 2) y++; else y--; x++; }
         if (y <= 1 || y + 1 == 0) reach_error();",
    ),
    (
        "two loops",
        "unsigned x = 0, y = 0; while (x < N) x++; while (y < x) y++; if (y == N) reach_error();",
    ),
    (
        "data-dependent",
        "unsigned x = 0; while (x < N) x += (x & 3) + 1; if (x >= N) reach_error();",
    ),
    (
        "branches",
        "unsigned x = 0, y = 0, z = 0; while (x < N) { if (x & 1) y++; else z++; x++; }
         if (y + z == N) reach_error();",
    ),
];

fn main() {
    let mut wanted: Vec<String> = Vec::new();
    let mut repetitions = 5;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--times" => {
                let times = arguments.next().and_then(|times| times.parse().ok());
                repetitions = times.unwrap_or(repetitions).max(1);
            }
            option if option.starts_with("--") => {}
            name => wanted.push(name.to_owned()),
        }
    }
    // The solver sets itself up once in a process.
    ours(&program(LOOPS[0].1, BOUNDS[0]));
    let cbmc = Command::new("cbmc")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let bounds: Vec<String> = BOUNDS.iter().map(u64::to_string).collect();
    println!(
        "| loop | {} | last / first | largest / smallest |",
        bounds.join(" | ")
    );
    println!("| --- |{} ---: | ---: |", " ---: |".repeat(BOUNDS.len()));
    for (name, body) in LOOPS {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let mut cells = Vec::new();
        let mut others = Vec::new();
        let mut times = Vec::new();
        for bound in BOUNDS {
            let text = program(body, bound);
            let mut runs: Vec<(Duration, &str)> = Vec::new();
            for _ in 0..repetitions {
                runs.push(ours(&text));
            }
            runs.sort();
            let (time, word) = runs[runs.len() / 2];
            times.push(time.as_secs_f64());
            cells.push(format!("{:.3} s {word}", time.as_secs_f64()));
            if cbmc {
                others.push(theirs(&text));
            }
        }
        let ends = times[times.len() - 1] / times[0];
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        let most = times.iter().copied().fold(0.0, f64::max);
        println!(
            "| {name} | {} | {ends:.1} | {:.1} |",
            cells.join(" | "),
            most / least
        );
        if cbmc {
            println!("| {name}, cbmc | {} | | |", others.join(" | "));
        }
    }
}

fn program(body: &str, bound: u64) -> String {
    let body = body.replace('N', &format!("{bound}u"));
    format!("extern void reach_error(void);\nint main(void) {{ {body} return 0; }}\n")
}

/// The time that this thread has had a processor; where the system does not tell, time goes by.
fn on_processor(since: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds = told
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

fn ours(text: &str) -> (Duration, &'static str) {
    let clock = Instant::now();
    let start = on_processor(clock);
    let took = || on_processor(clock).saturating_sub(start);
    let Ok(LoadedProgram { program, points_to }) = load_text("loop.c", text) else {
        return (took(), "does not load");
    };
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let budget = Budget::unlimited().with_time(Duration::from_secs(120));
    let prepared = Prepared::with_points_to(&program, points_to, &Budget::unlimited()).unwrap();
    let task = Task {
        model: &Model::new(&program, &prepared),
        checks: &checks,
        budget: &budget,
    };
    let report = alone(&Leap::default(), &task, &mut |_| {});
    let word = match report.outcomes.values().next() {
        Some(Outcome::Violated(found)) if found.run().is_some() => "replayed",
        Some(Outcome::Violated(_)) => "leap",
        Some(Outcome::Unknown(_) | Outcome::Proved(_)) => "unknown",
        None => "no check",
    };
    (took(), word)
}

fn theirs(text: &str) -> String {
    let path = std::env::temp_dir().join(format!("hardbop-bounds-{}.c", std::process::id()));
    let text = text.replace("extern void reach_error(void);", "");
    let text = text.replace("reach_error();", "__CPROVER_assert(0, \"reached\");");
    if std::fs::write(&path, text).is_err() {
        return "no file".to_owned();
    }
    let start = Instant::now();
    let status = Command::new("timeout")
        .arg("60")
        .arg("cbmc")
        .arg(&path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let took = start.elapsed().as_secs_f64();
    let _ = std::fs::remove_file(&path);
    match status.ok().and_then(|status| status.code()) {
        Some(10) => format!("{took:.1} s"),
        Some(124) => "over 60 s".to_owned(),
        _ => "failed".to_owned(),
    }
}
