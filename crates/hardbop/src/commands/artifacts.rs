//! Writes the files that a check leaves behind.

use crate::certificate::Certificate;
use crate::cli::{Artifacts, WitnessVersion};
use crate::commands::results::repeating;
use crate::failure::Failure;
use crate::input;
use crate::target::Target;
use hardbop_budget::Budget;
use hardbop_cfront::program::Program;
use hardbop_gate::Outcome;
use hardbop_portfolio::Found;
use hardbop_report::dot::dot;
use hardbop_report::harness::harness;
use hardbop_report::html::html;
use hardbop_report::junit::junit;
use hardbop_report::results::Results;
use hardbop_report::sarif::sarif;
use hardbop_report::svg::svg;
use hardbop_witness::graphml;
use hardbop_witness::read::sha256;
use hardbop_witness::write::{self, Origin, Version};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What is known when the files are written.
pub struct Known<'a> {
    /// What was to be decided.
    pub target: &'a Target,
    /// The programs, each with what engines say of it.
    pub parts: &'a [(&'a Program, &'a Found)],
    /// The usual passes that they were prepared without.
    pub without: &'a [String],
    /// The same as results.
    pub results: &'a Results,
    /// How long it took.
    pub seconds: f64,
    /// What was allowed.
    pub budget: &'a Budget,
}

/// The version of this tool.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes the files that the user asked for. Says what there is to say about them, and what could
/// not be written.
pub fn write(wanted: &Artifacts, known: &Known<'_>) -> (String, Vec<Failure>) {
    let mut said = String::new();
    let mut lost = Vec::new();
    if let Some(path) = &wanted.harness {
        lost.extend(write_harness(path, known, &mut said).err());
    }
    if let Some(path) = &wanted.certificate {
        lost.extend(write_certificate(path, known).err());
    }
    if let Some(path) = &wanted.witness {
        lost.extend(write_witness(path, wanted.witness_version, known, &mut said).err());
    }
    let results = known.results;
    let title = known.title();
    if let Some(directory) = &wanted.html {
        let page = html(results, &title, VERSION);
        lost.extend(save(&directory.join("index.html"), &page).err());
    }
    let mut report = |path: &Option<PathBuf>, text: &dyn Fn() -> String| {
        if let Some(path) = path {
            lost.extend(save(path, &text()).err());
        }
    };
    report(&wanted.sarif, &|| sarif(results, VERSION));
    report(&wanted.junit, &|| junit(results, &title, known.seconds));
    report(&wanted.dot, &|| dot(results));
    report(&wanted.svg, &|| svg(results));
    (said, lost)
}

impl Known<'_> {
    /// The files, as a title.
    fn title(&self) -> String {
        let files = self.target.input.files.iter();
        let names: Vec<String> = files.map(|path| path.display().to_string()).collect();
        names.join(", ")
    }
}

fn write_harness(path: &Path, known: &Known<'_>, said: &mut String) -> Result<(), Failure> {
    let all = known.parts.iter().flat_map(|(program, found)| {
        let outcomes = found.report.outcomes.values();
        outcomes.map(move |outcome| (program, outcome))
    });
    let mut violations = all.filter_map(|(program, outcome)| match outcome {
        Outcome::Violated(violation) => Some((program, violation.run()?)),
        _ => None,
    });
    let shown = path.display();
    match violations.next() {
        Some((program, run)) => {
            let budget = repeating(known.budget);
            let harness = harness(program, run, VERSION, &budget);
            save(path, &harness.text)?;
            for doubt in &harness.doubts {
                let _ = writeln!(said, "{shown}: {doubt}");
            }
        }
        None => {
            let outcomes = known
                .parts
                .iter()
                .flat_map(|(_, found)| found.report.outcomes.values());
            let violated = |outcome: &Outcome| matches!(outcome, Outcome::Violated(_));
            let why = match outcomes.into_iter().any(violated) {
                true => "no violation with a run that can be repeated",
                false => "no violation",
            };
            let _ = writeln!(said, "{why}, so {shown} is not written");
        }
    }
    Ok(())
}

fn write_certificate(path: &Path, known: &Known<'_>) -> Result<(), Failure> {
    let parts = known.parts.iter().copied();
    let (files, without) = (hashes(known.target)?, known.without.to_vec());
    save(path, &Certificate::new(files, without, parts).text())
}

fn write_witness(
    path: &Path,
    version: WitnessVersion,
    known: &Known<'_>,
    said: &mut String,
) -> Result<(), Failure> {
    if known
        .results
        .checks
        .iter()
        .any(|check| check.rule.is_some())
    {
        let shown = path.display();
        let _ = writeln!(
            said,
            "witnesses do not speak of rules, so {shown} is not written"
        );
        return Ok(());
    }
    if known.target.is_about_ends() {
        let shown = path.display();
        let _ = writeln!(
            said,
            "witnesses about the ends of executions are not made, so {shown} is not written"
        );
        return Ok(());
    }
    let origin = Origin {
        version: VERSION.to_owned(),
        time: now(),
        files: hashes(known.target)?,
        specification: known.target.specification(known.results),
    };
    let xml = path
        .extension()
        .is_some_and(|extension| extension == "graphml");
    let text = if xml {
        graphml::write(known.results, &origin)
    } else {
        let version = match version {
            WitnessVersion::V2_0 => Version::V2_0,
            WitnessVersion::V2_1 => Version::V2_1,
        };
        write::yaml(known.results, &origin, version)
    };
    match text {
        Some(text) => save(path, &text),
        None => {
            let shown = path.display();
            let _ = writeln!(said, "not everything is decided, so {shown} is not written");
            Ok(())
        }
    }
}

/// The files of the program, with the SHA-256 of their contents.
pub fn hashes(target: &Target) -> Result<Vec<(String, String)>, Failure> {
    let files = target
        .input
        .files
        .iter()
        // What came through a pipe is gone.
        .filter(|path| !input::is_stdin(path) && path.is_file());
    files
        .map(|path| {
            let input::Bytes { name, bytes } = input::bytes(path)?;
            Ok((name, sha256(&bytes)))
        })
        .collect()
}

/// Writes a file.
pub fn save(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::message(format!("cannot write `{}`: {error}", path.display())))
}

/// The time now, or that of `SOURCE_DATE_EPOCH`, so that builds can be repeated exactly.
pub fn now() -> String {
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok();
    let seconds = match fixed.and_then(|text| text.parse::<u64>().ok()) {
        Some(seconds) => seconds,
        None => SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_secs()),
    };
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 1970 to a date of the Gregorian calendar, by years that begin in March.
    let shifted = days as i64 + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest % 3_600 / 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
