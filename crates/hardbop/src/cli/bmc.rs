//! The command that looks for violations path by path.

use super::{CInput, EXIT_CODES, Limits, ShownRuns};
use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  hardbop bmc driver.c                        find violations, or prove that there are none
  hardbop bmc driver.c --depth 8              with at most 8 iterations of each loop
  hardbop bmc driver.c --random 1             in an order that this seed gives
  hardbop bmc driver.c --no-learning --stats  what it takes without learning
  hardbop bmc driver.c --clauses              show what was learned, where that is the proof";

/// `hardbop bmc`, or `hardbop dpr`: dynamic path reduction, which is bounded model checking by
/// execution. (One formula for all executions up to a bound is `hardbop check --engine unroll`.)
///
/// Runs the program with symbolic inputs, one path after the other, and learns from every path
/// without an error which others cannot have one either. Where the first path does not say enough,
/// all of them are followed together, merged where they meet, if that is not too much. A check is VIOLATED with a run that was
/// replayed, PROVED if no path is left and none was cut off at the bound, and UNKNOWN else.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct BmcArgs {
    /// The C program.
    #[command(flatten)]
    pub input: CInput,
    /// The most iterations of a loop, and the most calls of a function inside itself.
    #[arg(long, value_name = "K", default_value_t = 64, help_heading = "Search")]
    pub depth: u32,
    /// Take choices by chance; the same seed gives the same search (with --jobs 1).
    #[arg(
        long,
        value_name = "SEED",
        conflicts_with = "order",
        help_heading = "Search"
    )]
    pub random: Option<u64>,
    /// Which choice comes first.
    #[arg(
        long,
        value_name = "ORDER",
        default_value = "guided",
        help_heading = "Search"
    )]
    pub order: OrderName,
    /// Exclude each path by itself and learn nothing from it.
    #[arg(long, help_heading = "Search")]
    pub no_learning: bool,
    /// Run one path after the other, and never follow all of them together.
    #[arg(long, help_heading = "Search")]
    pub one_by_one: bool,
    /// How many paths are run at a time.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=256),
        help_heading = "Search"
    )]
    pub jobs: u16,
    /// Show the clauses that prove the checks.
    #[arg(long, help_heading = "Output")]
    pub clauses: bool,
    /// How failing runs are shown.
    #[command(flatten)]
    pub runs: ShownRuns,
    /// Show what the search took.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Limits.
    #[command(flatten)]
    pub limits: Limits,
}

/// Which choice comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OrderName {
    /// The first side of every branch.
    DepthFirst,
    /// The side that is nearer to an error.
    Guided,
}
