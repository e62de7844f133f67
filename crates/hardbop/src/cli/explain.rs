//! The command that explains paths of C programs.

use super::{ArithName, CInput, EXIT_CODES, Limits};
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  hardbop explain driver.c                    the shortest path to every check
  hardbop explain driver.c --check-line 12    only to the check at this line
  hardbop explain driver.c --loop             every path that the SLAM loop meets, and its predicates
  hardbop explain driver.c --arith int        over mathematical integers, which is easier to read

The path is that of the control-flow graph, whether it can be run or not. Each statement is shown
with what it adds: values of variables, numbered, and conditions, both over symbolic constants
(θx: the value of x at that point, whatever it is) and with the numbers that they depend on. A
path that cannot be run is followed by the conditions that contradict each other, and by its
smallest part that cannot be run either.

With `--loop` the paths are those that Bebop finds in the abstractions of `check --engine slam`,
round by round, over the predicates that came before; the predicates of a round are printed as
`hardbop abstract --pred` reads them.

That a path cannot be run proves nothing of other paths: `hardbop check` does.";

/// `hardbop explain`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct ExplainArgs {
    /// The C program.
    #[command(flatten)]
    pub input: CInput,
    /// Explain only the checks at this line; may be given several times.
    #[arg(long, value_name = "LINE", help_heading = "Explanation")]
    pub check_line: Vec<u32>,
    /// How machine integers are read.
    #[arg(
        long,
        value_name = "MEANING",
        default_value = "exact",
        help_heading = "Explanation"
    )]
    pub arith: ArithName,
    /// Explain every path that the SLAM loop meets, with the predicates that come of it.
    #[arg(long, help_heading = "Explanation")]
    pub r#loop: bool,
    /// Limits.
    #[command(flatten)]
    pub limits: Limits,
}
