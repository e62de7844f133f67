//! The command that leaps through loops of C programs.

use super::{CInput, EXIT_CODES, Limits};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hardbop leap search.c                       look for violations behind long loops
  hardbop leap search.c --pred search.pred    with predicates to go through the loops by
  hardbop leap search.c --loop 12 --loop 20   only through the loops at these lines
  hardbop leap search.c --replay-steps 1000000000

A violation is VIOLATED if the interpreter has replayed it. A run that is too long for that is
VIOLATED(leap): its chain of must transitions was checked again, with questions put together by
other code. What is not violated stays UNKNOWN; `hardbop check` proves.

A file of predicates is what `hardbop abstract` takes.";

/// `hardbop leap`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct LeapArgs {
    /// The C program.
    #[command(flatten)]
    pub input: CInput,
    /// Read predicates from this file; may be given several times. `-` is standard input.
    #[arg(long = "pred", value_name = "FILE", help_heading = "Search")]
    pub predicates: Vec<PathBuf>,
    /// Go through no other loop than the ones at these lines.
    #[arg(long = "loop", value_name = "LINE", help_heading = "Search")]
    pub loops: Vec<u32>,
    /// The most steps of the program that a replay executes.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20_000_000,
        help_heading = "Search"
    )]
    pub replay_steps: u64,
    /// Do not look for loops that end wherever they are entered.
    #[arg(long, help_heading = "Output")]
    pub no_endings: bool,
    /// Show the steps of failing runs.
    #[arg(long, help_heading = "Output")]
    pub trace: bool,
    /// Show what the search took.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Limits.
    #[command(flatten)]
    pub limits: Limits,
}
