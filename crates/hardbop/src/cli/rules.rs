//! The rules that a C program is checked against, and the commands about them.

use super::CInput;
use clap::{Args, Subcommand};

/// The rules that a program is checked against.
#[derive(Clone, Debug, Default, Args)]
pub struct RuleNames {
    /// Check this rule: one of those that `hardbop rules` lists, or a file that ends in `.rule`;
    /// may be given several times.
    #[arg(long = "rule", value_name = "NAME|FILE", help_heading = "Meaning")]
    pub rules: Vec<String>,
}

/// `hardbop rule`.
#[derive(Debug, Subcommand)]
pub enum RuleCommand {
    /// Print the program with rules woven in, as readable pseudo-C.
    #[command(after_help = "\
Examples:
  hardbop rule weave driver.c --rule lock
  hardbop rule weave driver.c --rule mine.rule --function dispatch")]
    Weave {
        /// The C program.
        #[command(flatten)]
        input: Box<CInput>,
        /// The rules.
        #[command(flatten)]
        rules: RuleNames,
        /// Print only this function; may be given several times.
        #[arg(long = "function", value_name = "NAME")]
        functions: Vec<String>,
    },
}
