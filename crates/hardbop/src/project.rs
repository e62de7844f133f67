//! `hardbop.toml`: what a project is, and what is to be checked of it.

use crate::cli::{CheckName, DataModelName, EngineChoice, Share};
use crate::failure::Failure;
use crate::{input, rules};
use clap::ValueEnum;
use hardbop_diagnostics::{Diagnostic, Sources, Span};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The name of the file.
pub const FILE: &str = "hardbop.toml";

/// A project file; `docs/src/project.md` describes it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Patterns of the files, each of which is checked by itself.
    #[serde(default)]
    pub files: Vec<String>,
    /// Patterns of files that are left out.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Programs of several files.
    #[serde(default, rename = "program")]
    pub programs: Vec<Program>,
    /// Include directories.
    #[serde(default)]
    pub include: Vec<PathBuf>,
    /// Macros: `NAME` or `NAME=VALUE`.
    #[serde(default)]
    pub define: Vec<String>,
    /// `ilp32` or `lp64`.
    pub data_model: Option<String>,
    /// Where execution starts, or what is assumed of arguments, entry by entry.
    pub entry: Option<Entry>,
    /// Checks beyond assertions and error calls.
    #[serde(default)]
    pub check: Vec<String>,
    /// Rules, each of which every file is checked against.
    #[serde(default)]
    pub rules: Vec<String>,
    /// Seconds for one file and one rule.
    pub time_limit: Option<f64>,
    /// MiB for one file and one rule.
    pub memory_limit: Option<u64>,
    /// The engine that searches; all of them unless told.
    pub engine: Option<String>,
    /// How many are checked at a time; as many as there are cores unless told.
    pub jobs: Option<usize>,
    /// Where the work is done: `local`, `hq`, `slurm`.
    pub on: Option<String>,
    /// Where answers are kept: a directory, or `s3://BUCKET/PREFIX`.
    pub store: Option<String>,
    /// The site file.
    pub site: Option<PathBuf>,
    /// The engines that a hard item is given to, each on a node of its own; `dpr/4` is the search of
    /// `dpr` in four parts.
    #[serde(default)]
    pub split: Vec<String>,
    /// In how many groups the checks of a file or program are decided, each an item of its own.
    pub groups: Option<u32>,
}

/// What a project file says of entries.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// Where execution starts.
    Named(String),
    /// `[entry.parse]`: what is assumed of the arguments of `parse`.
    Assumed(BTreeMap<String, Assumed>),
}

/// What is assumed of the arguments of an entry.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumed {
    /// As `--assume` has it.
    pub assume: Vec<String>,
}

/// A program of several files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its name in the summary.
    pub name: String,
    /// Its files.
    pub files: Vec<PathBuf>,
    /// Where execution starts.
    pub entry: Option<String>,
    /// In how many groups its checks are decided.
    pub groups: Option<u32>,
}

/// A project: its file, read, and where it is.
pub struct Project {
    /// The directory of the project file.
    pub directory: PathBuf,
    /// What the file says.
    pub config: Config,
}

/// A thing to check: files with a rule, or without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name in the summary.
    pub name: String,
    /// Its files, from the project's directory.
    pub files: Vec<PathBuf>,
    /// Where execution starts.
    pub entry: Option<String>,
    /// What else `hardbop check` is told.
    pub options: Vec<String>,
    /// The rule.
    pub rule: Option<String>,
    /// The group of its checks, if there are several.
    pub group: Option<Share>,
}

/// The project of a directory: that of the nearest project file in it or above it.
pub fn find(from: &Path) -> Result<Option<Project>, Failure> {
    let start = from
        .canonicalize()
        .map_err(|error| Failure::message(format!("cannot read `{}`: {error}", from.display())))?;
    for directory in start.ancestors() {
        let path = directory.join(FILE);
        if path.is_file() {
            // Messages name it as the user does.
            let near = Path::new(FILE);
            let here = directory == start && from == Path::new(".");
            let config = read(if here { near } else { &path })?;
            return Ok(Some(Project {
                directory: directory.to_path_buf(),
                config,
            }));
        }
    }
    Ok(None)
}

fn read(path: &Path) -> Result<Config, Failure> {
    read_toml(path)
}

/// Reads a file in TOML; what is wrong with it is told with its place.
pub fn read_toml<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, Failure> {
    let mut sources = Sources::new();
    let file = input::text(path, &mut sources)?;
    toml::from_str(sources.text(file)).map_err(|error| {
        let range = error.span().unwrap_or(0..0);
        let span = Span::new(file, range.start as u32, range.end as u32);
        let diagnostic = Diagnostic::error(span, error.message().trim().to_owned());
        Failure::Input {
            sources,
            diagnostics: vec![diagnostic],
        }
    })
}

impl Config {
    /// Where execution starts.
    fn named_entry(&self) -> Option<String> {
        match &self.entry {
            Some(Entry::Named(entry)) => Some(entry.clone()),
            _ => None,
        }
    }

    /// What is assumed of the arguments of an entry.
    pub fn assumed(&self, entry: &str) -> &[String] {
        match &self.entry {
            Some(Entry::Assumed(entries)) => {
                entries.get(entry).map_or(&[], |one| one.assume.as_slice())
            }
            _ => &[],
        }
    }
}

impl Project {
    /// Looks at what every item would stumble over: it is told once, and before any work.
    pub fn validate(&self) -> Result<(), Failure> {
        let wrong = |what: String| Failure::message(format!("`{FILE}`: {what}"));
        if let Some(model) = &self.config.data_model {
            let _: DataModelName = word(model, "data model").map_err(wrong)?;
        }
        for check in &self.config.check {
            let _: CheckName = word(check, "check").map_err(wrong)?;
        }
        if let Some(engine) = &self.config.engine {
            let _: EngineChoice = word(engine, "engine").map_err(wrong)?;
        }
        if let Some(seconds) = self.config.time_limit
            && !(seconds > 0.0 && seconds.is_finite())
        {
            return Err(wrong(format!("`time_limit` is {seconds}: give seconds")));
        }
        let programs = self.config.programs.iter().map(|program| program.groups);
        let mut groups = programs.chain([self.config.groups]).flatten();
        if let Some(groups) = groups.find(|groups| !(1..=1000).contains(groups)) {
            return Err(wrong(format!("`groups` is {groups}: give 1 to 1000")));
        }
        // Messages name rules as the file does, if that is where the user is.
        let here = Path::new(".").canonicalize().ok();
        let near = here.as_deref() == Some(self.directory.as_path());
        let paths = self.config.rules.iter().map(|rule| {
            if near || !rules::is_file(rule) {
                rule.clone()
            } else {
                self.directory.join(rule).display().to_string()
            }
        });
        rules::read(&paths.collect::<Vec<_>>()).map(|_| ())
    }

    /// What is to be checked: files and programs, times rules.
    pub fn items(&self) -> Result<Vec<Item>, Failure> {
        let mut excluded = BTreeSet::new();
        for pattern in &self.config.exclude {
            excluded.extend(self.matching(pattern)?);
        }
        let mut files = BTreeSet::new();
        for pattern in &self.config.files {
            let found = self.matching(pattern)?;
            if found.is_empty() {
                return Err(Failure::message(format!(
                    "`{FILE}`: no file matches `{pattern}`"
                )));
            }
            files.extend(found);
        }
        let mut whole: Vec<(Item, u32)> = files
            .difference(&excluded)
            .map(|file| Item {
                name: file.display().to_string(),
                files: vec![file.clone()],
                entry: self.config.named_entry(),
                options: Vec::new(),
                rule: None,
                group: None,
            })
            .map(|item| (item, self.config.groups.unwrap_or(1)))
            .collect();
        for program in &self.config.programs {
            for file in &program.files {
                if !self.directory.join(file).is_file() {
                    let (name, file) = (&program.name, file.display());
                    return Err(Failure::message(format!(
                        "`{FILE}`: the program `{name}` names `{file}`, which does not exist"
                    )));
                }
            }
            let item = Item {
                name: program.name.clone(),
                files: program.files.clone(),
                entry: program.entry.clone().or(self.config.named_entry()),
                options: Vec::new(),
                rule: None,
                group: None,
            };
            whole.push((item, program.groups.or(self.config.groups).unwrap_or(1)));
        }
        if whole.is_empty() {
            return Err(Failure::message(format!(
                "`{FILE}` names nothing to check: give `files = [\"src/*.c\"]` or a [[program]]"
            )));
        }
        let rules: Vec<Option<&String>> = match self.config.rules.as_slice() {
            [] => vec![None],
            rules => rules.iter().map(Some).collect(),
        };
        let mut items = Vec::new();
        for (item, groups) in &whole {
            for index in 0..*groups {
                let of = *groups;
                let (name, group) = match of {
                    1 => (item.name.clone(), None),
                    _ => {
                        let name = format!("{} ({} of {of})", item.name, index + 1);
                        (name, Some(Share { index, of }))
                    }
                };
                items.extend(rules.iter().map(|rule| Item {
                    name: name.clone(),
                    rule: rule.cloned(),
                    group,
                    ..item.clone()
                }));
            }
        }
        Ok(items)
    }

    fn matching(&self, pattern: &str) -> Result<BTreeSet<PathBuf>, Failure> {
        let whole = self.directory.join(pattern);
        let paths = glob::glob(&whole.to_string_lossy()).map_err(|error| {
            Failure::message(format!("`{FILE}`: `{pattern}` is no pattern: {error}"))
        })?;
        let inside = |path: PathBuf| {
            let relative = path.strip_prefix(&self.directory).map(Path::to_path_buf);
            relative.unwrap_or(path)
        };
        Ok(paths
            .filter_map(Result::ok)
            .filter(|path| path.is_file())
            .map(inside)
            .collect())
    }

    /// The arguments of `hardbop check` for an item.
    pub fn arguments(&self, item: &Item) -> Vec<String> {
        let config = &self.config;
        let mut arguments = vec!["check".to_owned(), "--json".to_owned()];
        let mut option = |name: &str, value: String| {
            arguments.push(name.to_owned());
            arguments.push(value);
        };
        for directory in &config.include {
            option("-I", directory.display().to_string());
        }
        for define in &config.define {
            option("-D", define.clone());
        }
        if let Some(model) = &config.data_model {
            option("--data-model", model.clone());
        }
        if let Some(entry) = &item.entry {
            option("--entry", entry.clone());
            for fact in config.assumed(entry) {
                option("--assume", fact.clone());
            }
        }
        if !config.check.is_empty() {
            option("--check", config.check.join(","));
        }
        if let Some(rule) = &item.rule {
            option("--rule", rule.clone());
        }
        if let Some(engine) = &config.engine {
            option("--engine", engine.clone());
        }
        if let Some(Share { index, of }) = item.group {
            option("--group", format!("{index}/{of}"));
        }
        if let Some(seconds) = config.time_limit {
            option("--time-limit", seconds.to_string());
        }
        if let Some(mib) = config.memory_limit {
            option("--memory-limit", mib.to_string());
        }
        arguments.extend(item.options.iter().cloned());
        arguments.push("--".to_owned());
        arguments.extend(item.files.iter().map(|file| file.display().to_string()));
        arguments
    }
}

/// A word of a list, or what the list is.
fn word<T: ValueEnum>(given: &str, what: &str) -> Result<T, String> {
    T::from_str(given, false).map_err(|_| {
        let known = T::value_variants().iter();
        let names: Vec<String> = known
            .filter_map(|variant| variant.to_possible_value())
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        format!("`{given}` is no {what}: there are {}", names.join(", "))
    })
}
