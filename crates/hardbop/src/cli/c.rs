//! The commands on C programs.

use super::{EXIT_CODES, Limits};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand, ValueEnum};
use hardbop_model::passes::{ALL, Keeps, Pass};
use std::path::PathBuf;

const RUN_EXAMPLES: &str = "\
Examples:
  hardbop c run sort.c --inputs 3,1,2         the values of __VERIFIER_nondet_*(), in order
  hardbop c run sort.c --inputs @values.txt   the same from a file, separated by blanks or commas
  hardbop c run sort.c --check overflow,bounds
  hardbop c run sort.c --trace                show the executed edges";

/// `hardbop c`.
#[derive(Debug, Subcommand)]
pub enum CCommand {
    /// Draw the control-flow graph of every function, in the language of Graphviz.
    #[command(after_help = "\
Examples:
  hardbop c cfg sort.c > sort.dot
  hardbop c cfg sort.c --function swap | dot -Tsvg > swap.svg")]
    Cfg {
        /// The C program.
        #[command(flatten)]
        input: Box<CInput>,
        /// Draw only this function; may be given several times.
        #[arg(long = "function", value_name = "NAME")]
        functions: Vec<String>,
    },
    /// Execute a C program on given inputs.
    #[command(
        after_help = RUN_EXAMPLES,
        after_long_help = format!("{RUN_EXAMPLES}\n\n{EXIT_CODES}")
    )]
    Run {
        /// The C program.
        #[command(flatten)]
        input: Box<CInput>,
        /// The values of `__VERIFIER_nondet_*()` calls in order of execution, separated by
        /// commas or blanks: decimal, hexadecimal (0x...) or character ('a') constants. `@FILE`
        /// reads them from a file. After the last one, 0.
        #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
        inputs: Option<String>,
        /// Stop after this many steps.
        #[arg(long, value_name = "N", default_value_t = 100_000_000)]
        steps: u64,
        /// Show the executed edges: the last N of them, 1000 unless told.
        #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000")]
        trace: Option<usize>,
        /// Compare every access with the points-to analysis that proofs rest on. An access that
        /// contradicts it is a bug of hardbop, and is reported as one.
        #[arg(long)]
        watch: bool,
        /// Limits.
        #[command(flatten)]
        limits: Limits,
    },
    /// Print the lowered program as readable pseudo-C.
    #[command(after_help = "\
Examples:
  hardbop c dump sort.c
  hardbop c dump sort.c --function swap --check overflow
  hardbop c dump sort.c --after inline                    as most engines see it")]
    Dump {
        /// The C program.
        #[command(flatten)]
        input: Box<CInput>,
        /// Print only this function; may be given several times.
        #[arg(long = "function", value_name = "NAME")]
        functions: Vec<String>,
        /// Print the program as it is after this preparation.
        #[arg(
            long,
            value_name = "PASS",
            default_value = "load",
            value_parser = PossibleValuesParser::new(preparations())
        )]
        after: String,
    },
    /// Writes a C program as a sequential circuit, for hardware model checkers.
    ///
    /// Only programs that are bits after inlining have one: no recursion, no memory that is
    /// allocated, no large arrays. The circuit's bad state is a violated check, or something that
    /// is not supported.
    #[command(after_help = "Examples:
  hardbop c export lock.c --aiger > lock.aag
  hardbop c export lock.c --btor2 > lock.btor2")]
    Export {
        /// The C program.
        #[command(flatten)]
        input: Box<CInput>,
        /// The language.
        #[command(flatten)]
        to: CircuitFormat,
    },
}

/// The language of a circuit.
#[derive(Args, Clone, Copy, Debug)]
#[group(required = true, multiple = false)]
pub struct CircuitFormat {
    /// Write AIGER 1.9, as text.
    #[arg(long)]
    pub aiger: bool,
    /// Write BTOR2.
    #[arg(long)]
    pub btor2: bool,
}

/// What may be done to a program before it is searched: reading it, and every pass.
fn preparations() -> Vec<PossibleValue> {
    let load =
        PossibleValue::new("load").help("reading, linking, and adding models of the library");
    std::iter::once(load).chain(passes(ALL)).collect()
}

/// Passes by their names.
pub fn passes(passes: &'static [Pass]) -> impl Iterator<Item = PossibleValue> {
    passes.iter().map(|pass| {
        let keeps = match pass.keeps {
            Keeps::Exact => "exact",
            Keeps::More => "only adds behaviours",
        };
        PossibleValue::new(pass.name).help(format!("{} ({keeps})", pass.does))
    })
}

/// A C program to read.
#[derive(Clone, Debug, Args)]
pub struct CInput {
    /// The program's files: `.c` files are preprocessed, `.i` files are preprocessed already;
    /// `-` reads C from standard input.
    #[arg(value_name = "FILE.c")]
    pub files: Vec<PathBuf>,
    /// Look for included files in this directory too.
    #[arg(short = 'I', value_name = "DIR", help_heading = "Preprocessor")]
    pub include_dirs: Vec<PathBuf>,
    /// Look for `#include <...>` in this directory after those given by -I.
    #[arg(long = "isystem", value_name = "DIR", help_heading = "Preprocessor")]
    pub system_dirs: Vec<PathBuf>,
    /// Define a macro.
    #[arg(
        short = 'D',
        value_name = "NAME[=VALUE]",
        help_heading = "Preprocessor"
    )]
    pub defines: Vec<String>,
    /// Undefine a macro.
    #[arg(short = 'U', value_name = "NAME", help_heading = "Preprocessor")]
    pub undefines: Vec<String>,
    /// Read this file before the first line of every `.c` file.
    #[arg(long = "include", value_name = "FILE", help_heading = "Preprocessor")]
    pub includes: Vec<String>,
    /// Who preprocesses.
    #[arg(
        long,
        value_name = "WHO",
        default_value = "own",
        help_heading = "Preprocessor"
    )]
    pub cpp: Preprocessor,
    /// Take files and their options from a compilation database; with FILE.c given, only those.
    #[arg(long, value_name = "JSON", help_heading = "Preprocessor")]
    pub compile_commands: Option<PathBuf>,
    /// The widths of the basic types [default: that of the compilation database, else lp64].
    #[arg(long, value_name = "MODEL", help_heading = "Meaning")]
    pub data_model: Option<DataModelName>,
    /// Where execution starts.
    #[arg(
        long,
        value_name = "FUNCTION",
        default_value = "main",
        help_heading = "Meaning"
    )]
    pub entry: String,
    /// Assume something of the arguments of the entry, if that is not `main`: `buf is readable for
    /// len`, `s is a string`, `p is not null`, or a condition in C; may be given several times.
    #[arg(long = "assume", value_name = "FACT", help_heading = "Meaning")]
    pub assumed: Vec<String>,
    /// Check more than assertions and error calls.
    #[arg(
        long = "check",
        value_name = "KINDS",
        value_delimiter = ',',
        help_heading = "Meaning"
    )]
    pub checks: Vec<CheckName>,
    /// Memory may run out at any time: `malloc` may return null.
    #[arg(long, help_heading = "Meaning")]
    pub malloc_may_fail: bool,
    /// Executions may go on behind a violation, so that what comes after it is decided for itself.
    #[arg(long, help_heading = "Meaning")]
    pub all: bool,
    /// Reaching this label is an error; may be given several times.
    #[arg(long = "error-label", value_name = "LABEL", help_heading = "Meaning")]
    pub error_labels: Vec<String>,
    /// What a function that no file defines may do, besides returning anything.
    #[arg(
        long,
        value_name = "EFFECT",
        default_value = "pure",
        help_heading = "Meaning"
    )]
    pub undefined: UndefinedName,
}

/// Who preprocesses `.c` files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preprocessor {
    /// Hardbop itself; no compiler is needed.
    Own,
    /// The system's gcc.
    Gcc,
}

/// The widths of the basic types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DataModelName {
    /// `int`, `long` and pointers of 32 bits, as gcc -m32.
    Ilp32,
    /// `int` of 32 bits, `long` and pointers of 64, as gcc on Linux.
    Lp64,
}

/// A check that a user can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckName {
    /// A division or remainder by zero.
    DivByZero,
    /// A signed operation whose result does not fit, or a shift by a wrong amount.
    Overflow,
    /// An unsigned operation that wraps around.
    Unsigned,
    /// An implicit conversion of an integer that changes its value.
    Conversion,
    /// A floating-point number that does not fit the integer type it is converted to.
    FloatCast,
    /// An operation on floating-point numbers that gives no number.
    Nan,
    /// A value that was never initialised and decides something.
    Uninit,
    /// The use of a null, dangling or wild pointer.
    Pointer,
    /// An access outside of its object.
    Bounds,
    /// A pointer that is moved out of its object.
    PointerArithmetic,
    /// A misaligned access.
    Alignment,
    /// A copy of memory to where it overlaps itself.
    Overlap,
    /// A write to a string literal or to a constant.
    Constant,
    /// `free` of what is not the start of a live heap object.
    Free,
    /// Memory that nothing points to any more and that was not freed.
    Leak,
    /// Memory that is not freed when the program ends.
    Cleanup,
    /// What the standard calls undefined: `div-by-zero`, `overflow`, `float-cast`, `uninit`, `pointer`,
    /// `bounds`, `pointer-arithmetic`, `alignment`, `overlap`, `constant` and `free`.
    Undefined,
    /// All of these.
    All,
}

/// What a function that no file defines may do, besides returning anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UndefinedName {
    /// Nothing.
    Pure,
    /// Change the memory that it can reach.
    Havoc,
}
