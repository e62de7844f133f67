//! The command that decides whether every execution of a C program ends.

use super::{CInput, EXIT_CODES, Limits};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hardbop terminate search.c                  does every execution end?
  hardbop terminate search.c --check overflow end also where signed arithmetic overflows
  hardbop terminate search.c --time-limit 60 --json
  hardbop check search.c --property termination.prp

PROVED comes with what falls with every step of each loop, or with all executions followed to
their ends; VIOLATED with the inputs of an execution that comes back to where it was. Checks that
are asked for, and assertions, end the execution that violates them.";

/// `hardbop terminate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct TerminateArgs {
    /// The C program.
    #[command(flatten)]
    pub input: CInput,
    /// Write the claims behind the answers, for `hardbop certify` to check again.
    #[arg(long, value_name = "FILE", help_heading = "Files to write")]
    pub certificate: Option<PathBuf>,
    /// Show what the search took.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Tell on standard error what each engine does, a line at a time.
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
    /// Limits.
    #[command(flatten)]
    pub limits: Limits,
}
