//! The commands on boolean programs.

use super::{EXIT_CODES, Limits};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Which published dialect of boolean programs the text is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DialectName {
    /// The Bebop paper's Figure 2.
    Bebop,
    /// SLAM's boolean programs, as C2bp writes them.
    Slam,
    /// SATABS and Boppo.
    Boppo,
    /// Getafix and Moped.
    Getafix,
    /// Whatever they have in common and whatever only one of them has.
    Auto,
}

/// A boolean program to read.
#[derive(Clone, Debug, Args)]
pub struct BpInput {
    /// The boolean program; `-` reads standard input.
    #[arg(value_name = "FILE.bp")]
    pub file: PathBuf,
    /// The dialect that the text is in; it decides the precedence of operators.
    #[arg(long, default_value = "auto")]
    pub dialect: DialectName,
}

const BEBOP_EXAMPLES: &str = "\
Examples:
  hardbop bebop figure1.bp                    all labels and assertions, shortest traces
  hardbop bebop figure1.bp --label R          only the label R; main.R picks one of several
  hardbop bebop figure1.bp --reverse          last step first, as in the Bebop paper's Figure 1
  hardbop bebop figure1.bp --expand           step into every call
  hardbop bebop figure1.bp --interactive      step through the trace: into calls, over them, back
  hardbop bebop figure1.bp --invariants       reachable states at every loop head and label
  hardbop bebop big.bp --time-limit 60 --memory-limit 4000 --stats";

/// `hardbop bebop`.
#[derive(Debug, Args)]
#[command(
    after_help = BEBOP_EXAMPLES,
    after_long_help = format!("{BEBOP_EXAMPLES}\n\n{EXIT_CODES}")
)]
pub struct BebopArgs {
    /// The boolean program.
    #[command(flatten)]
    pub input: BpInput,
    /// Decide only this label, in every procedure that has it, or `procedure.LABEL` in one; may
    /// be given several times.
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<String>,
    /// Decide only the assertions (and the labels given by --label).
    #[arg(long)]
    pub assertions: bool,
    /// Stop at the first target that is found reachable.
    #[arg(long)]
    pub first: bool,
    /// Print traces last step first, in the layout of the Bebop paper's Figure 1.
    #[arg(long)]
    pub reverse: bool,
    /// Show the steps inside calls; without it a call that returns is one step.
    #[arg(long)]
    pub expand: bool,
    /// Do not print traces.
    #[arg(long, conflicts_with_all = ["reverse", "expand"])]
    pub no_trace: bool,
    /// Step through the trace by commands from standard input: into calls, over them, back.
    #[arg(long, conflicts_with_all = ["reverse", "expand", "no_trace", "invariants"])]
    pub interactive: bool,
    /// Print the reachable states as a formula: at this label, or at every loop head and label.
    #[arg(long, value_name = "LABEL", num_args = 0..=1, default_missing_value = "*")]
    pub invariants: Option<String>,
    /// Print the size and cost of the run.
    #[arg(long)]
    pub stats: bool,
    /// Limits.
    #[command(flatten)]
    pub limits: Limits,
}

/// `hardbop bp`.
#[derive(Debug, Subcommand)]
pub enum BpCommand {
    /// Print a boolean program in canonical form.
    #[command(after_help = "\
Examples:
  hardbop bp format lock.bp
  hardbop bp format lock.bp --check           exit 1 if it is not in canonical form
  hardbop bp format lock.bp --write           change the file")]
    Format {
        /// The boolean program.
        #[command(flatten)]
        input: BpInput,
        /// Only say whether the text is in canonical form already.
        #[arg(long, conflicts_with = "write")]
        check: bool,
        /// Replace the file's text.
        #[arg(long)]
        write: bool,
    },
    /// Draw the control-flow graph.
    #[command(after_help = "\
Examples:
  hardbop bp graph lock.bp > lock.dot
  hardbop bp graph lock.bp --to svg > lock.svg")]
    Graph {
        /// The boolean program.
        #[command(flatten)]
        input: BpInput,
        /// The format.
        #[arg(long, value_name = "FORMAT", default_value = "dot")]
        to: GraphFormat,
    },
    /// Execute a boolean program with random or scripted choices.
    #[command(after_help = "\
Examples:
  hardbop bp run lock.bp --seed 7             a random run, the same one for the same seed
  hardbop bp run lock.bp --choices 0110       initial values, then choices, in order; then zeros")]
    Run {
        /// The boolean program.
        #[command(flatten)]
        input: BpInput,
        /// Choose at random, from this seed.
        #[arg(
            long,
            value_name = "N",
            default_value_t = 0,
            conflicts_with = "choices"
        )]
        seed: u64,
        /// Choose by these bits, in order of need: first the initial values of the globals and of
        /// main's variables, then every `*`, every goto with several targets, every local of a
        /// callee.
        #[arg(long, value_name = "BITS")]
        choices: Option<String>,
        /// Stop after this many steps.
        #[arg(long, value_name = "N", default_value_t = 1_000)]
        steps: u64,
        /// Limits.
        #[command(flatten)]
        limits: Limits,
    },
    /// Write a boolean program in another language.
    #[command(after_help = "\
Examples:
  hardbop bp export lock.bp --to chc > lock.smt2        any Horn solver can check it
  hardbop bp export lock.bp --to chc --label ERROR      `sat` means that ERROR is unreachable")]
    Export {
        /// The boolean program.
        #[command(flatten)]
        input: BpInput,
        /// The language: constrained Horn clauses in SMT-LIB (logic HORN).
        #[arg(long, value_name = "LANGUAGE", default_value = "chc")]
        to: ExportFormat,
        /// Ask only about this label, or `procedure.LABEL` if several procedures have it. Without
        /// it, ask whether any label or failing assertion is reachable.
        #[arg(long, value_name = "LABEL")]
        label: Option<String>,
    },
    /// Make a boolean program of a family used for measuring.
    #[command(after_help = "\
Examples:
  hardbop bp generate t --size 800            the Bebop paper's template T(800)
  hardbop bp generate counter --size 12       a 12-bit counter
  hardbop bp generate counter --size 12 --free-start
  hardbop bp generate wide --size 200         one procedure with 200 variables
  hardbop bp generate random --seed 7 --procedures 20 --globals 4 --locals 4 --statements 30")]
    Generate(GenerateArgs),
}

/// `hardbop bp generate`.
#[derive(Clone, Debug, Args)]
pub struct GenerateArgs {
    /// The family.
    pub family: Family,
    /// N of T(N), the bits of the counter, the variables of the wide procedure.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub size: u32,
    /// Let the counter start anywhere.
    #[arg(long)]
    pub free_start: bool,
    /// The seed of a random or wide program: the same program for the same seed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// The procedures of a random program.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub procedures: u32,
    /// The globals of a random program.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub globals: u32,
    /// The most locals of each procedure of a random program.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub locals: u32,
    /// The most parameters, and the most return values, of each procedure of a random program.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub formals: u32,
    /// The statements of each procedure of a random or wide program.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub statements: u32,
    /// Let the procedures of a random program not call themselves or each other in circles.
    #[arg(long)]
    pub no_recursion: bool,
}

/// A format of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// Graphviz.
    Dot,
    /// A drawing, laid out without external programs.
    Svg,
}

/// A language to export to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// SMT-LIB HORN.
    Chc,
}

/// A family of generated boolean programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// The template T(N) of the Bebop paper's Section 4.
    T,
    /// A k-bit counter.
    Counter,
    /// One procedure with many variables, each statement touching few.
    Wide,
    /// A random program.
    Random,
}
