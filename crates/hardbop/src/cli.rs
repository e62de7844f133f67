//! The command line, defined once: the parser, the help, the man page and the shell completions
//! all come from these definitions.

mod abstraction;
mod artifacts;
mod bmc;
mod bp;
mod c;
mod certify;
mod check;
mod explain;
mod leap;
mod project;
mod rules;
mod slice;
mod terminate;
mod validate;

pub use abstraction::{AbstractArgs, ArithName, CubeLength, Seed};
pub use artifacts::{Artifacts, WitnessVersion};
pub use bmc::{BmcArgs, OrderName};
pub use bp::{
    BebopArgs, BpCommand, BpInput, DialectName, ExportFormat, Family, GenerateArgs, GraphFormat,
};
pub use c::{
    CCommand, CInput, CheckName, CircuitFormat, DataModelName, Preprocessor, UndefinedName,
};
pub use certify::{CertifyArgs, SolverName};
pub use check::{CheckArgs, EngineChoice, SearchArith, Share};
pub use explain::ExplainArgs;
pub use leap::LeapArgs;
pub use project::{CacheArgs, InitArgs, ProjectArgs, WorkArgs};
pub use rules::{RuleCommand, RuleNames};
pub use slice::SliceArgs;
pub use terminate::TerminateArgs;
pub use validate::ValidateArgs;

use clap::parser::ValueSource;
use clap::{Arg, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

/// The exit codes, as the help and the man page tell them.
const EXIT_CODES: &str = "\
Exit codes:
  0  everything asked about is proved or unreachable (or the command did its work)
  1  something is reachable or violated
  2  bad input or usage
  3  unknown, because a limit was reached or the work was cancelled
  4  not all is proved, but nothing is violated up to the depth that `check --depth` asked for";

const TOP_EXAMPLES: &str = "\
Examples:
  hardbop check driver.c                      prove or refute every assertion of a C program
  hardbop check driver.c --rule lock          check a rule, of those that `hardbop rules` lists
  hardbop certify driver.c driver.cert        check again what `check --certificate` wrote down
  hardbop bmc driver.c --depth 8              look for bugs with up to 8 iterations of each loop
  hardbop bebop lock.bp                       decide every label and assertion of a boolean program
  hardbop bebop lock.bp --label ERROR         only this label, with a shortest trace
  hardbop bp generate t --size 800 | hardbop bebop -
  hardbop leap search.c                       find violations behind long loops
  hardbop terminate search.c                  does every execution end?
  hardbop abstract lock.c --pred lock.pred    make a boolean program of a C program
  hardbop c run sort.c --inputs 3,1,2         run C with these inputs
  hardbop c dump sort.c                       see what the front end makes of it

`hardbop help COMMAND` and `hardbop COMMAND --help` teach each command by example.";

/// A software model checker for C and for boolean programs.
///
/// Every answer carries its evidence: a shortest trace that was replayed, or invariants.
#[derive(Debug, Parser)]
#[command(name = "hardbop", version, after_help = TOP_EXAMPLES, after_long_help = format!("{TOP_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Do the work in this process; without it, a child does it that may crash.
    #[arg(long, hide = true)]
    pub in_process: bool,
    /// Output.
    #[command(flatten)]
    pub output: Output,
}

impl Cli {
    /// Reads the command line.
    pub fn read() -> Result<Cli, clap::Error> {
        let matches = Cli::command().try_get_matches()?;
        let mut cli = Cli::from_arg_matches(&matches)?;
        if let Command::Check(arguments) = &mut cli.command
            && let Some((name, given)) = matches.subcommand()
            && let Some(command) = Cli::command().find_subcommand(name)
        {
            let about_files = |option: &&Arg| {
                let heading = option.get_help_heading();
                !option.is_global_set()
                    && !matches!(heading, Some("Projects" | "Limits"))
                    && given.value_source(option.get_id().as_str())
                        == Some(ValueSource::CommandLine)
            };
            let options = command.get_arguments().filter(about_files);
            arguments.about_files = options
                .filter_map(|option| Some(format!("--{}", option.get_long()?)))
                .collect();
        }
        Ok(cli)
    }
}

/// Whether to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal only.
    Auto,
    /// Also in a pipe.
    Always,
    /// Never.
    Never,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
pub struct Output {
    /// Print the result as one JSON value for machines.
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
    /// Do not show warnings.
    #[arg(long, short, global = true, help_heading = "Output")]
    pub quiet: bool,
    /// When to use colours.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output"
    )]
    pub color: Colour,
}

/// How failing runs are shown.
#[derive(Clone, Debug, Args)]
pub struct ShownRuns {
    /// Show every step of failing runs, not only what matters, and fold nothing.
    #[arg(long, help_heading = "Output", conflicts_with = "no_trace")]
    pub full: bool,
    /// Show no steps of failing runs, only their inputs.
    #[arg(long, help_heading = "Output")]
    pub no_trace: bool,
    /// Show failing runs as edges of the control-flow graph, as `hardbop c dump` prints them.
    #[arg(long, help_heading = "Output", conflicts_with = "no_trace")]
    pub trace: bool,
}

/// What every command that can run long takes.
#[derive(Clone, Debug, Args)]
pub struct Limits {
    /// Stop after this many seconds (fractions allowed) and report what is known by then.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits")]
    pub time_limit: Option<f64>,
    /// Stop after this much processor time, that of all threads together.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits")]
    pub cpu_limit: Option<f64>,
    /// Stop before the process holds more than this much memory, in MiB.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub memory_limit: Option<u64>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("expected a number of seconds, such as 30 or 0.5".to_owned()),
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Model check a boolean program.
    Bebop(Box<BebopArgs>),
    /// Work with boolean programs: format, draw, run, export, generate.
    #[command(subcommand)]
    Bp(BpCommand),
    /// Decide the checks of a C program: proved, violated or unknown, each with evidence.
    Check(Box<CheckArgs>),
    /// Write a C file that calls a function with arguments that may be anything, for other
    /// verifiers and for fuzzers.
    #[command(after_help = "\
Examples:
  hardbop harness lib.c --entry parse > harness.c
  hardbop harness lib.c --entry parse --assume 'buf is readable for len' > harness.c
  clang -g -fsanitize=fuzzer,address -DFUZZ harness.c -o fuzz")]
    Harness {
        /// The C program.
        #[command(flatten)]
        input: Box<CInput>,
    },
    /// Serve an editor by the language server protocol, on standard input and output.
    #[command(after_help = "\
The editor may say in `initializationOptions`:
  arguments   an array of further arguments of `hardbop check`, as [\"--check\", \"bounds\"]
  timeLimit   the seconds for a text, 20 unless told")]
    Lsp,
    /// Begin a project: write hardbop.toml, which `hardbop check` without arguments goes by.
    Init(InitArgs),
    /// Show, check and prune the store of answers.
    Cache(CacheArgs),
    /// Do a task of a run that `hardbop check --on` began; schedulers call it.
    #[command(hide = true)]
    Work(WorkArgs),
    /// Check a certificate again: is what `hardbop check --certificate` wrote down true?
    Certify(Box<CertifyArgs>),
    /// Check a witness: is what another run or another tool said of a program true?
    Validate(Box<ValidateArgs>),
    /// Dynamic path reduction: look for violations path by path, up to a bound, and learn from
    /// each what to skip.
    #[command(visible_alias = "dpr")]
    Bmc(Box<BmcArgs>),
    /// Look for violations of a C program behind loops, without unrolling them.
    Leap(Box<LeapArgs>),
    /// Decide whether every execution of a C program ends.
    Terminate(Box<TerminateArgs>),
    /// Explain why the shortest path to a check can or cannot be run.
    Explain(Box<ExplainArgs>),
    /// Show what matters for the checks of a C program, line by line, and why.
    Slice(Box<SliceArgs>),
    /// Abstract a C program to a boolean program by predicates.
    Abstract(Box<AbstractArgs>),
    /// Work with C programs: dump, draw and run what the front end makes of them.
    #[command(subcommand)]
    C(CCommand),
    /// Work with rules: weave them into a program.
    #[command(subcommand)]
    Rule(RuleCommand),
    /// List the rules that come with hardbop, or show what one of them demands.
    #[command(after_help = "\
Examples:
  hardbop rules
  hardbop rules lock
  hardbop rules lock --source > mine.rule")]
    Rules {
        /// The rule to show; all of them, a line each, if left out.
        name: Option<String>,
        /// Print the text of the rule, to start one of your own from.
        #[arg(long, requires = "name")]
        source: bool,
    },
    /// Print the man page of hardbop or of one of its commands (troff).
    #[command(after_help = "Example:\n  hardbop man bebop | man -l -")]
    Man {
        /// The command, e.g. `bebop` or `bp format`; hardbop itself if left out.
        command: Vec<String>,
    },
    /// Print a completion script for a shell.
    #[command(
        after_help = "Example:\n  hardbop completions bash > ~/.local/share/bash-completion/completions/hardbop"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

impl Command {
    /// Whether an SMT solver has a part in it.
    pub fn asks_solvers(&self) -> bool {
        // A project's items are processes of their own.
        if let Command::Check(arguments) = self
            && (arguments.is_about_a_project() || arguments.each)
        {
            return false;
        }
        matches!(
            self,
            Command::Check(_)
                | Command::Certify(_)
                | Command::Validate(_)
                | Command::Bmc(_)
                | Command::Leap(_)
                | Command::Terminate(_)
                | Command::Explain(_)
                | Command::Abstract(_)
        )
    }

    /// The limits of the work, where the command has such.
    pub fn limits(&self) -> Option<&Limits> {
        match self {
            Command::Bebop(arguments) => Some(&arguments.limits),
            Command::Check(arguments) => Some(&arguments.limits),
            Command::Certify(arguments) => Some(&arguments.limits),
            Command::Validate(arguments) => Some(&arguments.limits),
            Command::Bmc(arguments) => Some(&arguments.limits),
            Command::Leap(arguments) => Some(&arguments.limits),
            Command::Terminate(arguments) => Some(&arguments.limits),
            Command::Explain(arguments) => Some(&arguments.limits),
            Command::Abstract(arguments) => Some(&arguments.limits),
            Command::C(CCommand::Run { limits, .. }) => Some(limits),
            Command::Bp(BpCommand::Run { limits, .. }) => Some(limits),
            _ => None,
        }
    }

    /// The command as the user wrote it, e.g. `bp format`.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Bebop(_) => "bebop",
            Command::Check(_) => "check",
            Command::Certify(_) => "certify",
            Command::Validate(_) => "validate",
            Command::Harness { .. } => "harness",
            Command::Lsp => "lsp",
            Command::Init(_) => "init",
            Command::Cache(_) => "cache",
            Command::Work(_) => "work",
            Command::Bmc(_) => "bmc",
            Command::Leap(_) => "leap",
            Command::Terminate(_) => "terminate",
            Command::Explain(_) => "explain",
            Command::Slice(_) => "slice",
            Command::Abstract(_) => "abstract",
            Command::Bp(BpCommand::Format { .. }) => "bp format",
            Command::Bp(BpCommand::Graph { .. }) => "bp graph",
            Command::Bp(BpCommand::Run { .. }) => "bp run",
            Command::Bp(BpCommand::Export { .. }) => "bp export",
            Command::Bp(BpCommand::Generate(_)) => "bp generate",
            Command::C(CCommand::Cfg { .. }) => "c cfg",
            Command::C(CCommand::Run { .. }) => "c run",
            Command::C(CCommand::Dump { .. }) => "c dump",
            Command::C(CCommand::Export { .. }) => "c export",
            Command::Rule(RuleCommand::Weave { .. }) => "rule weave",
            Command::Rules { .. } => "rules",
            Command::Man { .. } => "man",
            Command::Completions { .. } => "completions",
        }
    }
}
