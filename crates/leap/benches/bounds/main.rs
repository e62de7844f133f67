//! Loops in families, with bounds from a hundred to two billion and beyond 32 bits: the time to
//! leap them does not depend on the bound, and their twins, whose call is never reached, are not
//! said to fail.
//!
//! `cargo bench -p hardbop-leap --bench bounds` prints a table and a summary. What is measured is
//! the time on a processor, so that others on the machine do not count.
//!
//! - `-- NAME` takes only the loops whose family and name contain NAME;
//! - `-- --times N` takes the median of N runs instead of three;
//! - `-- --limit S` gives a run S seconds instead of 20;
//! - `-- --hardbop PATH` measures whole processes of that program, `hardbop leap`, and adds the
//!   largest time that `hardbop check` takes for the same loop;
//! - `-- --write DIR` writes the programs to a directory, and measures nothing.
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measures")]

mod families;

use families::{LOOPS, Loop};
use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::{LoadedProgram, load_text};
use hardbop_engine::Task;
use hardbop_gate::{Outcome, alone};
use hardbop_leap::Leap;
use hardbop_model::{Model, Prepared};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// What is asked for on the command line.
struct Settings {
    wanted: Vec<String>,
    times: usize,
    limit: Duration,
    hardbop: Option<String>,
    write: Option<String>,
}

/// What a search answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Replayed,
    Leapt,
    Unknown,
    Broken,
}

impl Word {
    fn found(self) -> bool {
        matches!(self, Word::Replayed | Word::Leapt)
    }

    fn text(self) -> &'static str {
        match self {
            Word::Replayed => "run",
            Word::Leapt => "leap",
            Word::Unknown => "unknown",
            Word::Broken => "does not load",
        }
    }
}

fn settings() -> Settings {
    let mut settings = Settings {
        wanted: Vec::new(),
        times: 3,
        limit: Duration::from_secs(20),
        hardbop: None,
        write: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--times" => {
                let times = arguments.next().and_then(|times| times.parse().ok());
                settings.times = times.unwrap_or(settings.times).max(1);
            }
            "--limit" => {
                let limit = arguments.next().and_then(|limit| limit.parse().ok());
                settings.limit = limit.map_or(settings.limit, Duration::from_secs);
            }
            "--hardbop" => settings.hardbop = arguments.next(),
            "--write" => settings.write = arguments.next(),
            option if option.starts_with("--") => {}
            name => settings.wanted.push(name.to_owned()),
        }
    }
    settings
}

fn main() {
    let settings = settings();
    let wanted = |case: &&Loop| {
        let name = format!("{}, {}", case.family, case.name);
        let parts = &settings.wanted;
        parts.is_empty() || parts.iter().any(|part| name.contains(part.as_str()))
    };
    let cases: Vec<&Loop> = LOOPS.iter().filter(wanted).collect();
    if let Some(directory) = &settings.write {
        write(&cases, Path::new(directory));
        return;
    }
    // The solver sets itself up once in a process.
    ours(&LOOPS[0].program(100, true), settings.limit);
    println!(
        "| family | loop | first bound | … | … | last bound | largest / smallest | twins | check |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |");
    let (mut found, mut flat, mut wrong) = (0, 0, 0);
    let (mut in_time, mut slowest) = (0, 0.0f64);
    for case in &cases {
        let mut cells = Vec::new();
        let mut times = Vec::new();
        let mut all = true;
        for &bound in case.bounds() {
            let text = case.program(bound, true);
            let mut runs: Vec<(Duration, Word)> = Vec::new();
            for _ in 0..settings.times {
                runs.push(match &settings.hardbop {
                    Some(program) => process(program, "leap --no-endings", &text, settings.limit),
                    None => ours(&text, settings.limit),
                });
                // What is not found takes long, and once is enough to see it.
                if !runs[0].1.found() {
                    break;
                }
            }
            runs.sort();
            let (time, word) = runs[runs.len() / 2];
            all &= word.found();
            times.push(time.as_secs_f64());
            cells.push(format!("{:.3} s {}", time.as_secs_f64(), word.text()));
        }
        let mut twins = "open";
        for &bound in case.bounds() {
            let limit = settings.limit.min(Duration::from_secs(2));
            match ours(&case.program(bound, false), limit).1 {
                word if word.found() => twins = "WRONG",
                Word::Broken => twins = "does not load",
                _ => {}
            }
        }
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        let most = times.iter().copied().fold(0.0, f64::max);
        found += usize::from(all);
        flat += usize::from(all && most <= 2.0 * least);
        wrong += usize::from(twins == "WRONG");
        let mut checked = String::new();
        if let Some(program) = &settings.hardbop {
            let (mut most, mut violated) = (Duration::ZERO, true);
            for &bound in case.bounds() {
                let text = case.program(bound, true);
                let (time, word) = process(program, "check", &text, settings.limit);
                most = most.max(time);
                violated &= word.found();
            }
            let most = most.as_secs_f64();
            slowest = slowest.max(most);
            in_time += usize::from(violated && most < 1.0);
            let word = if violated { "" } else { " not found" };
            checked = format!("{most:.2} s{word}");
        }
        println!(
            "| {} | {} | {} | {:.1} | {twins} | {checked} |",
            case.family,
            case.name,
            cells.join(" | "),
            most / least
        );
    }
    println!(
        "\n{found} of {} loops found at every bound, {flat} of them flat within a factor of 2, \
         {wrong} twins wrong",
        cases.len()
    );
    if settings.hardbop.is_some() {
        println!("`check`: {in_time} found in less than a second; the slowest took {slowest:.2} s");
    }
}

/// Writes the programs for the largest bounds, and their twins.
fn write(cases: &[&Loop], directory: &Path) {
    for case in cases {
        for (fails, end) in [(true, "fails"), (false, "twin")] {
            let name =
                format!("{}-{}-{end}.c", case.family, case.name).replace([' ', ',', '%'], "_");
            if let Some(&bound) = case.bounds().last()
                && let Err(error) =
                    std::fs::write(directory.join(&name), case.program(bound, fails))
            {
                println!("{name}: {error}");
            }
        }
    }
}

/// The time that a process of the program takes on a processor, and what it says.
fn process(program: &str, command: &str, text: &str, limit: Duration) -> (Duration, Word) {
    let path = std::env::temp_dir().join(format!("hardbop-bounds-{}.c", std::process::id()));
    if std::fs::write(&path, text).is_err() {
        return (Duration::ZERO, Word::Broken);
    }
    let script = format!(
        "TIMEFORMAT='%3U %3S'; time \"$0\" {command} --time-limit {} \"$1\" 2> /dev/null",
        limit.as_secs()
    );
    let out = Command::new("bash")
        .args(["-c", &script, program])
        .arg(&path)
        .output();
    let _ = std::fs::remove_file(&path);
    let (told, times) = out.map_or_else(|_| Default::default(), |out| (out.stdout, out.stderr));
    let told = String::from_utf8_lossy(&told);
    let times = String::from_utf8_lossy(&times);
    let seconds = times
        .split_whitespace()
        .filter_map(|part| part.parse::<f64>().ok());
    let time: f64 = seconds.sum();
    let word = match told.split_whitespace().next() {
        Some("VIOLATED(leap)") => Word::Leapt,
        Some("VIOLATED") => Word::Replayed,
        Some("UNKNOWN" | "PROVED") => Word::Unknown,
        _ => Word::Broken,
    };
    (Duration::from_secs_f64(time), word)
}

/// The time that this thread has had a processor; where the system does not tell, time goes by.
fn on_processor(since: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds = told
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

fn ours(text: &str, limit: Duration) -> (Duration, Word) {
    let clock = Instant::now();
    let start = on_processor(clock);
    let took = || on_processor(clock).saturating_sub(start);
    let Ok(LoadedProgram { program, points_to }) = load_text("loop.c", text) else {
        return (took(), Word::Broken);
    };
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let budget = Budget::unlimited().with_time(limit);
    let Ok(prepared) = Prepared::with_points_to(&program, points_to, &Budget::unlimited()) else {
        return (took(), Word::Broken);
    };
    let task = Task {
        model: &Model::new(&program, &prepared),
        checks: &checks,
        budget: &budget,
    };
    let report = alone(&Leap::default(), &task, &mut |_| {});
    let word = match report.outcomes.values().next() {
        Some(Outcome::Violated(found)) if found.run().is_some() => Word::Replayed,
        Some(Outcome::Violated(_)) => Word::Leapt,
        Some(Outcome::Unknown(_) | Outcome::Proved(_)) => Word::Unknown,
        None => Word::Broken,
    };
    (took(), word)
}
