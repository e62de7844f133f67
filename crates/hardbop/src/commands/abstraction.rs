//! `hardbop abstract`: the boolean program that predicates make of a C program.

use crate::c;
use crate::cli::{AbstractArgs, ArithName, CubeLength, Seed};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::input;
use crate::limits;
use crate::progress::Progress;
use crate::reading;
use hardbop_budget::Stopped;
use hardbop_c2bp::{
    Arithmetic, BooleanProgram, CubeBound, Events, Options, ProcedureStatistics, abstract_program,
};
use hardbop_diagnostics::{Diagnostic, Severity, Sources};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

#[derive(Serialize)]
struct Body<'a> {
    /// The boolean program; missing where a limit was reached first.
    text: Option<&'a str>,
    /// Why there is none.
    stopped: Option<String>,
    procedures: Vec<Procedure<'a>>,
}

#[derive(Serialize)]
struct Procedure<'a> {
    name: &'a str,
    predicates: usize,
    prover_calls: u64,
    cache_hits: u64,
    unknown: u64,
    seconds: f64,
}

/// Abstracts a program.
pub fn run(arguments: &AbstractArgs, console: &Console) -> Result<Verdict, Failure> {
    let program = c::program(&arguments.input, console)?;
    let mut warnings = program.warnings;
    let sources = program.program.sources.clone();
    let mut set = input::predicates(&arguments.predicates, program.program)?;
    if arguments.pred_from == Some(Seed::Conditions) {
        set.add_conditions();
    }
    let budget = limits::budget(&arguments.limits)?;
    let jobs = match arguments.jobs {
        Some(jobs) => jobs as usize,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let options = Options {
        max_cube: match arguments.max_cube {
            CubeLength::AtMost(length) => CubeBound::Length(length),
            CubeLength::Any => CubeBound::Exact,
        },
        arithmetic: match arguments.arith {
            ArithName::Exact => Arithmetic::Bits,
            ArithName::Int => Arithmetic::Integers,
        },
        threads: jobs,
        ..Options::default()
    };
    let watcher = Watcher::new(console, arguments.dump_smt.as_deref())?;
    let analysed = set.analyse(&reading::budget())?;
    let result = abstract_program(&analysed, &options, &budget, &watcher);
    watcher.finish()?;
    match result {
        Ok(found) => {
            report(arguments, console, &sources, &warnings, &found)?;
            Ok(Verdict::Fine)
        }
        Err(stopped) => {
            warnings.push(unfinished(stopped));
            console.warn(&sources, &warnings[warnings.len() - 1..]);
            if console.format() == Format::Json {
                let stopped = Some(stopped.to_string());
                let body = Body {
                    text: None,
                    stopped,
                    procedures: Vec::new(),
                };
                console.value(Verdict::Unknown, &sources, &warnings, body)?;
            }
            Ok(Verdict::Unknown)
        }
    }
}

fn unfinished(stopped: Stopped) -> Diagnostic {
    let text = format!("{stopped} before the abstraction was done: nothing is printed");
    Diagnostic::global(Severity::Warning, text)
}

fn report(
    arguments: &AbstractArgs,
    console: &Console,
    sources: &Sources,
    warnings: &[Diagnostic],
    found: &BooleanProgram,
) -> Result<(), Failure> {
    match console.format() {
        Format::Json => {
            let body = Body {
                text: Some(&found.text),
                stopped: None,
                procedures: found.statistics.iter().map(procedure).collect(),
            };
            console.value(Verdict::Fine, sources, warnings, body)
        }
        Format::Text => {
            let mut text = found.text.clone();
            if arguments.stats {
                text.push_str(&statistics(&found.statistics));
            }
            console.text(&text)
        }
    }
}

fn procedure(of: &ProcedureStatistics) -> Procedure<'_> {
    Procedure {
        name: &of.name,
        predicates: of.predicates,
        prover_calls: of.prover.calls,
        cache_hits: of.prover.hits,
        unknown: of.prover.unknown,
        seconds: of.time.as_secs_f64(),
    }
}

/// The statistics as comments, so that the output is still a boolean program.
fn statistics(of: &[ProcedureStatistics]) -> String {
    let mut out =
        String::from("\n// predicates  prover calls  cache hits  unknown   seconds  procedure\n");
    for one in of {
        let _ = writeln!(
            out,
            "// {:>10}  {:>12}  {:>10}  {:>7}  {:>8.3}  {}",
            one.predicates,
            one.prover.calls,
            one.prover.hits,
            one.prover.unknown,
            one.time.as_secs_f64(),
            one.name
        );
    }
    out
}

/// Shows progress, and keeps queries.
struct Watcher {
    progress: Progress,
    dump: Option<Dump>,
}

struct Dump {
    directory: PathBuf,
    /// How many queries each procedure has had, and what could not be written.
    state: Mutex<(BTreeMap<String, u32>, Option<String>)>,
}

impl Watcher {
    fn new(console: &Console, directory: Option<&Path>) -> Result<Watcher, Failure> {
        let dump = match directory {
            Some(directory) => {
                std::fs::create_dir_all(directory).map_err(|error| {
                    Failure::message(format!("cannot make `{}`: {error}", directory.display()))
                })?;
                Some(Dump {
                    directory: directory.to_owned(),
                    state: Mutex::default(),
                })
            }
            None => None,
        };
        Ok(Watcher {
            progress: Progress::new(console),
            dump,
        })
    }

    /// Says whether all queries could be written.
    fn finish(self) -> Result<(), Failure> {
        let failed = self
            .dump
            .and_then(|dump| dump.state.into_inner().ok())
            .and_then(|s| s.1);
        match failed {
            Some(text) => Err(Failure::message(text)),
            None => Ok(()),
        }
    }
}

impl Events for Watcher {
    fn procedure(&self, done: usize, of: usize, name: &str) {
        self.progress
            .say(format!("abstracted {done} of {of} procedures: {name}"));
    }

    fn wants_queries(&self) -> bool {
        self.dump.is_some()
    }

    fn query(&self, procedure: &str, text: &str) {
        let Some(dump) = &self.dump else { return };
        let Ok(mut state) = dump.state.lock() else {
            return;
        };
        // The answer comes as a comment after the query: it goes to the end of the same file.
        let answer = text.starts_with(';') && text.lines().count() == 1;
        let count = state.0.entry(procedure.to_owned()).or_insert(0);
        if !answer {
            *count += 1;
        }
        let clean: String = procedure
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '_' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        let path = dump.directory.join(format!("{clean}-{:05}.smt2", *count));
        let written = std::fs::OpenOptions::new()
            .create(true)
            .write(true)
            .append(answer)
            .truncate(!answer)
            .open(&path)
            .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
        if let Err(error) = written {
            state.1 = Some(format!("cannot write `{}`: {error}", path.display()));
        }
    }
}
