//! The command that decides the checks of C programs.

use super::c::passes;
use super::{Artifacts, CInput, EXIT_CODES, Limits, ProjectArgs, RuleNames, ShownRuns};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use hardbop_model::passes::USUAL;
use hardbop_portfolio::Shows;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hardbop check                               check the project of this directory
  hardbop check --on slurm                    check it on a cluster
  hardbop check driver.c                      decide every assertion and error call
  hardbop check driver.c --rule lock --rule mine.rule
  hardbop check driver.c --check bounds,overflow --time-limit 60
  hardbop check driver.c lock.c -I include -DDEBUG
  hardbop check driver.c --depth 8            an answer up to 8 iterations of each loop at least
  hardbop check driver.c --invariants         show the proof
  hardbop check lib.c --entry parse           start at another function than `main`
  hardbop check lib.c --each --check bounds   every function by itself
  hardbop check task.yml                      decide a task of SV-COMP
  hardbop check driver.c --harness run.c      make a failing run that gcc compiles
  hardbop check driver.c --full               show all steps of failing runs";

/// `hardbop check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct CheckArgs {
    /// The C program.
    #[command(flatten)]
    pub input: CInput,
    /// The rules.
    #[command(flatten)]
    pub rules: RuleNames,
    /// Check every function of the files by itself, with arguments that may be anything and callees
    /// by their bodies; `--time-limit` is that of a function, 10 seconds unless told.
    #[arg(
        long,
        help_heading = "Meaning",
        conflicts_with_all = [
            "entry", "property", "rules", "invariants", "stats", "list", "full", "trace", "arith",
            "without", "first", "github", "verbose", "show_predicates", "harness", "certificate",
            "witness", "html", "sarif", "junit", "dot", "svg"
        ]
    )]
    pub each: bool,
    /// Decide what a property file of SV-COMP asks for, instead of all assertions and error calls.
    #[arg(
        long,
        value_name = "FILE.prp",
        help_heading = "Meaning",
        conflicts_with = "rules"
    )]
    pub property: Option<PathBuf>,
    /// How machine integers are read while searching; answers are exact either way.
    #[arg(
        long,
        value_name = "MEANING",
        default_value = "auto",
        help_heading = "Search"
    )]
    pub arith: SearchArith,
    /// Which engine searches.
    #[arg(
        long,
        value_name = "ENGINE",
        default_value = "auto",
        help_heading = "Search"
    )]
    pub engine: EngineChoice,
    /// Search a part of the paths only, with `--engine dpr`: what clusters split hard items by.
    #[arg(long, value_name = "I/N", value_parser = Share::parse, hide = true)]
    pub cube: Option<Share>,
    /// Decide a group of the checks only: what projects split long lists of checks by.
    #[arg(long, value_name = "I/N", value_parser = Share::parse, hide = true)]
    pub group: Option<Share>,
    /// Stop with the first violation.
    #[arg(long, help_heading = "Search")]
    pub first: bool,
    /// Where no proof comes, look whether anything is violated up to N iterations of each loop, and
    /// N open calls of each function that calls itself. That is an answer of its own: BOUNDED.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = "Search"
    )]
    pub depth: Option<u32>,
    /// Leave a preparation of the program out (see `hardbop c dump --after`); may be given several
    /// times.
    #[arg(
        long,
        value_name = "PASS",
        value_parser = PossibleValuesParser::new(passes(USUAL)),
        help_heading = "Search"
    )]
    pub without: Vec<String>,
    /// Show the invariants that prove the checks.
    #[arg(long, help_heading = "Output")]
    pub invariants: bool,
    /// Show the predicates that the search ended with.
    #[arg(long, help_heading = "Output")]
    pub show_predicates: bool,
    /// How failing runs are shown.
    #[command(flatten)]
    pub runs: ShownRuns,
    /// Show what the search took.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// List every check, also where there are many.
    #[arg(long, help_heading = "Output")]
    pub list: bool,
    /// Print what is not proved as annotations of GitHub Actions, too.
    #[arg(long, help_heading = "Output")]
    pub github: bool,
    /// Tell on standard error what each engine does, a line at a time.
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
    /// What is about projects.
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Files to write.
    #[command(flatten)]
    pub artifacts: Artifacts,
    /// Limits.
    #[command(flatten)]
    pub limits: Limits,
    /// The options that were given and that a project does not take.
    #[arg(skip)]
    pub about_files: Vec<String>,
}

impl CheckArgs {
    /// Whether no file is named: then it is the project that is checked.
    pub fn is_about_a_project(&self) -> bool {
        self.input.files.is_empty() && self.input.compile_commands.is_none()
    }

    /// What of proofs is to be shown, if they are.
    pub fn shown_proofs(&self) -> Option<Shows> {
        if self.show_predicates || self.artifacts.html.is_some() {
            Some(Shows::Predicates)
        } else if self.invariants || self.artifacts.witness.is_some() {
            Some(Shows::Invariants)
        } else {
            None
        }
    }
}

/// One of so many equal parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its number, from zero.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

impl Share {
    /// What is written as `I/N`.
    pub fn parse(text: &str) -> Result<Share, String> {
        let pair = text.split_once('/');
        let numbers = pair.and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if index < of => Ok(Share { index, of }),
            _ => Err(format!("`{text}` is no part: `0/4` is the first of four")),
        }
    }

    /// That part of a list.
    pub fn of<T>(self, list: Vec<T>) -> Vec<T> {
        let cut = |index: u32| list.len() * index as usize / self.of as usize;
        let (begin, end) = (cut(self.index), cut(self.index + 1));
        list.into_iter().take(end).skip(begin).collect()
    }
}

/// How machine integers are read while searching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SearchArith {
    /// As mathematical integers first, as the machine has them where that is not good enough.
    Auto,
    /// As the machine has them from the start.
    Bits,
}

/// Which engine searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineChoice {
    /// Several, on the cores that there are; the first answer with evidence counts.
    Auto,
    /// All states at once, as decision diagrams over the program's words.
    Diagrams,
    /// Dynamic path reduction: run after run, learning from each.
    Dpr,
    /// Invariants by guessing, function by function: calls are kept.
    Functions,
    /// Invariants by guessing: what fails is dropped until the rest is inductive.
    Houdini,
    /// Horn clauses of the whole program: proofs by invariants.
    Horn,
    /// Induction over several blocks (k-induction), with the invariants that guessing finds.
    Induction,
    /// Leaps through loops without unrolling them.
    Leap,
    /// Facts about all nodes of linked structures, guessed.
    Nodes,
    /// Property-directed reachability on circuits: invariants and violations of what is bits.
    Pdr,
    /// Equations between products, guessed from runs and proved by algebra.
    Polynomials,
    /// Runs on guessed inputs, or the only run there is.
    Run,
    /// All executions at once, layer by layer, on circuits.
    Sat,
    /// The SLAM loop: abstraction by predicates, checking and refinement.
    #[value(alias("cegar"))]
    Slam,
    /// All executions at once, layer by layer.
    Unroll,
    /// Variables that take few values, followed value by value.
    Values,
}
