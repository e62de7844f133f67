//! The command that shows what matters for checks.

use super::{CInput, EXIT_CODES, RuleNames};
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  hardbop slice driver.c                      what matters for any check
  hardbop slice driver.c --check-line 12      what matters for the check at this line
  hardbop slice driver.c --rule lock          what matters for a rule

Lines of which nothing can matter are left out. Of the others it is said why they are there: what
they decide, which value they give, what they call. For large programs `hardbop check` searches the
slice instead of the program; its answers are about the program.";

/// `hardbop slice`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct SliceArgs {
    /// The C program.
    #[command(flatten)]
    pub input: CInput,
    /// Show what matters for the checks at this line; may be given several times.
    #[arg(long, value_name = "LINE", help_heading = "Slice")]
    pub check_line: Vec<u32>,
    /// Follow control only to the branches in front of the checks and, so often, to those in front
    /// of what writes what they read; without it, all the way.
    #[arg(long, value_name = "N", help_heading = "Slice")]
    pub depth: Option<u32>,
    /// Rules.
    #[command(flatten)]
    pub rules: RuleNames,
}
