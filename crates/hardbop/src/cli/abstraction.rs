//! The command that abstracts C programs.

use super::{CInput, EXIT_CODES, Limits};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hardbop abstract driver.c --pred driver.pred            print the boolean program
  hardbop abstract driver.c --pred-from conditions | hardbop bebop -
  hardbop abstract driver.c --pred driver.pred --max-cube none --stats

A file of predicates has one scope a line; predicates are C expressions without side effects:
  global: locked == 0, count <= limit        # over globals only
  main:   *p <= x                            // over main's variables too
  get:    old(n) < n, $return == 0           old(e): e at the entry; $return: what get returns";

/// `hardbop abstract`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct AbstractArgs {
    /// The C program.
    #[command(flatten)]
    pub input: CInput,
    /// Read predicates from this file; may be given several times. `-` is standard input.
    #[arg(long = "pred", value_name = "FILE", help_heading = "Predicates")]
    pub predicates: Vec<PathBuf>,
    /// Take predicates from the program itself.
    #[arg(long, value_name = "WHERE", help_heading = "Predicates")]
    pub pred_from: Option<Seed>,
    /// The longest combination of predicates that is tried; `none` for exactness at any cost.
    #[arg(long, value_name = "N|none", default_value = "3", value_parser = cube_bound, help_heading = "Abstraction")]
    pub max_cube: CubeLength,
    /// How machine integers are read.
    #[arg(
        long,
        value_name = "MEANING",
        default_value = "exact",
        help_heading = "Abstraction"
    )]
    pub arith: ArithName,
    /// How many procedures are abstracted at a time; as many as there are processors if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024), help_heading = "Abstraction")]
    pub jobs: Option<u64>,
    /// Add what each procedure took: prover calls, cache hits, time.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Write every query to the solver into this directory, as SMT-LIB.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub dump_smt: Option<PathBuf>,
    /// Limits.
    #[command(flatten)]
    pub limits: Limits,
}

/// Where predicates come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Seed {
    /// The atoms of the conditions that the program branches on.
    Conditions,
}

/// How machine integers are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArithName {
    /// As the machine has them, with wrap-around.
    Exact,
    /// As mathematical integers that do not overflow: faster, and a guess.
    Int,
}

/// A number of literals, or no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CubeLength {
    /// Up to so many.
    AtMost(usize),
    /// Any number.
    Any,
}

fn cube_bound(text: &str) -> Result<CubeLength, String> {
    match text {
        "none" => Ok(CubeLength::Any),
        _ => text
            .parse()
            .map(CubeLength::AtMost)
            .map_err(|_| "expected a number, or `none` for no bound".to_owned()),
    }
}
