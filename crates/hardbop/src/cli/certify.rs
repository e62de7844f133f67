//! The command that checks certificates.

use super::{CInput, EXIT_CODES, Limits, RuleNames};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hardbop check sort.c --certificate sort.cert       decide, and write down why
  hardbop certify sort.c sort.cert                   check it again, in a new process
  hardbop certify sort.c sort.cert --solver cvc5     and with another solver";

const MEANING: &str = "\
The program and its options must be those that the certificate was made with. The exit code is that
of the answers that stand; a claim that does not stand makes it 3.";

/// `hardbop certify`.
#[derive(Debug, Args)]
#[command(
    after_help = format!("{EXAMPLES}\n\n{MEANING}"),
    after_long_help = format!("{EXAMPLES}\n\n{MEANING}\n\n{EXIT_CODES}")
)]
pub struct CertifyArgs {
    /// The C program, and last the certificate.
    #[command(flatten)]
    pub input: CInput,
    /// The rules.
    #[command(flatten)]
    pub rules: RuleNames,
    /// The property file that the certificate was made with.
    #[arg(
        long,
        value_name = "FILE.prp",
        help_heading = "Meaning",
        conflicts_with = "rules"
    )]
    pub property: Option<PathBuf>,
    /// The solver that is asked. Those that are not built in are run as processes.
    #[arg(
        long,
        value_name = "SOLVER",
        default_value = "z3",
        help_heading = "Search"
    )]
    pub solver: SolverName,
    /// How the solver is started, if it is not on the path: a command that reads SMT-LIB from its
    /// standard input.
    #[arg(
        long,
        value_name = "COMMAND",
        help_heading = "Search",
        conflicts_with = "proofs"
    )]
    pub solver_command: Option<String>,
    /// Write the proofs of `--solver circuits` to this directory: clauses as DIMACS, and what
    /// refutes them as DRAT.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub proofs: Option<PathBuf>,
    /// Limits.
    #[command(flatten)]
    pub limits: Limits,
}

/// A solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SolverName {
    /// Z3, which is built in.
    Z3,
    /// cvc5, as a process.
    Cvc5,
    /// Bitwuzla, as a process.
    Bitwuzla,
    /// Circuits and a SAT solver, both built in: each answer has a proof, which is checked.
    Circuits,
}

impl SolverName {
    /// What people call it.
    pub fn text(self) -> &'static str {
        match self {
            SolverName::Z3 => "z3",
            SolverName::Cvc5 => "cvc5",
            SolverName::Bitwuzla => "bitwuzla",
            SolverName::Circuits => "circuits",
        }
    }

    /// How it is started as a process that reads SMT-LIB from its standard input.
    pub fn command(self) -> &'static [&'static str] {
        match self {
            SolverName::Z3 => &["z3", "-in"],
            SolverName::Cvc5 => &["cvc5", "--incremental", "--lang=smt2.6", "-"],
            SolverName::Bitwuzla => &["bitwuzla", "--lang=smt2", "-"],
            SolverName::Circuits => &[],
        }
    }
}
