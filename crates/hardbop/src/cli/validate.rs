//! The command that checks witnesses.

use super::{CInput, EXIT_CODES, Limits};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hardbop validate --witness witness.yml sort.c     does the witness say something true?
  hardbop validate --witness witness.yml --lint     is it well formed?";

const MEANING: &str = "\
Exit code 0 says that the witness is confirmed (or, with --lint, well formed), 1 that it is rejected.";

/// `hardbop validate`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("{EXAMPLES}\n\n{MEANING}"),
    after_long_help = format!("{EXAMPLES}\n\n{MEANING}\n\n{EXIT_CODES}")
)]
pub struct ValidateArgs {
    /// The witness: YAML (2.0, 2.1) or GraphML (1.0).
    #[arg(long, value_name = "FILE")]
    pub witness: PathBuf,
    /// Only say what is wrong with the file; needs no program.
    #[arg(long)]
    pub lint: bool,
    /// The C program.
    #[command(flatten)]
    pub input: CInput,
    /// The property [default: the one that the witness names].
    #[arg(long, value_name = "FILE.prp", help_heading = "Meaning")]
    pub property: Option<PathBuf>,
    /// Limits.
    #[command(flatten)]
    pub limits: Limits,
}
