//! `hardbop check --each`: every function of the files by itself, as items of a project.

use crate::c;
use crate::cli::{CInput, CheckArgs, EngineChoice, Preprocessor};
use crate::commands::project;
use crate::console::Console;
use crate::failure::{Failure, Verdict};
use crate::limits;
use crate::project::{Config, Item, Project};
use clap::ValueEnum;
use std::path::Path;

/// The seconds for a function, unless told.
const SECONDS: f64 = 10.0;

/// Checks every function.
pub fn run(arguments: &CheckArgs, console: &Console) -> Result<Verdict, Failure> {
    let here = Path::new(".");
    let directory = here
        .canonicalize()
        .map_err(|error| Failure::message(format!("cannot read `.`: {error}")))?;
    let input = &arguments.input;
    let functions = c::defined(input)?;
    if functions.is_empty() {
        return Err(Failure::message("no function is defined here"));
    }
    // What a project file says of arguments holds here, too.
    let entry = crate::project::find(here)?.and_then(|found| found.config.entry);
    let project = Project {
        directory,
        config: Config {
            entry,
            time_limit: Some(arguments.limits.time_limit.unwrap_or(SECONDS)),
            memory_limit: arguments.limits.memory_limit,
            engine: (arguments.engine != EngineChoice::Auto).then(|| word(&arguments.engine)),
            ..Config::default()
        },
    };
    let options = options(arguments);
    let item = |function: String| Item {
        name: function.clone(),
        files: input.files.clone(),
        entry: Some(function),
        options: options.clone(),
        rule: None,
        group: None,
    };
    let items = functions.into_iter().map(item).collect();
    let unlimited = crate::cli::Limits {
        time_limit: None,
        cpu_limit: None,
        memory_limit: None,
    };
    let budget = limits::budget(&unlimited)?;
    project::check(&project, items, &arguments.project, &budget, console)
}

/// What else each function is checked with.
fn options(arguments: &CheckArgs) -> Vec<String> {
    let mut options = Vec::new();
    let CInput {
        files: _,
        include_dirs,
        system_dirs,
        defines,
        undefines,
        includes,
        cpp,
        compile_commands,
        data_model,
        entry: _,
        assumed,
        checks,
        malloc_may_fail,
        all,
        error_labels,
        undefined,
    } = &arguments.input;
    let mut option = |name: &str, value: String| options.extend([name.to_owned(), value]);
    let path = |path: &std::path::PathBuf| path.display().to_string();
    include_dirs.iter().for_each(|one| option("-I", path(one)));
    system_dirs
        .iter()
        .for_each(|one| option("--isystem", path(one)));
    defines.iter().for_each(|one| option("-D", one.clone()));
    undefines.iter().for_each(|one| option("-U", one.clone()));
    includes
        .iter()
        .for_each(|one| option("--include", one.clone()));
    assumed
        .iter()
        .for_each(|one| option("--assume", one.clone()));
    error_labels
        .iter()
        .for_each(|one| option("--error-label", one.clone()));
    compile_commands
        .iter()
        .for_each(|one| option("--compile-commands", path(one)));
    if *cpp != Preprocessor::Own {
        option("--cpp", word(cpp));
    }
    data_model
        .iter()
        .for_each(|one| option("--data-model", word(one)));
    checks.iter().for_each(|one| option("--check", word(one)));
    option("--undefined", word(undefined));
    if let Some(seconds) = arguments.limits.cpu_limit {
        option("--cpu-limit", seconds.to_string());
    }
    if let Some(depth) = arguments.depth {
        option("--depth", depth.to_string());
    }
    if *malloc_may_fail {
        options.push("--malloc-may-fail".to_owned());
    }
    if *all {
        options.push("--all".to_owned());
    }
    options
}

/// A word of the command line.
fn word(value: &impl ValueEnum) -> String {
    let known = value.to_possible_value();
    known.map_or(String::new(), |known| known.get_name().to_owned())
}
