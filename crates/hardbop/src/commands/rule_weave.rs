//! `hardbop rule weave`: what a rule makes of a program.

use crate::c;
use crate::cli::{CInput, RuleNames};
use crate::commands::c_dump;
use crate::console::Console;
use crate::failure::{Failure, Verdict};

/// Prints the program with the rules woven in, or some of its functions.
pub fn run(
    input: &CInput,
    rules: &RuleNames,
    functions: &[String],
    console: &Console,
) -> Result<Verdict, Failure> {
    let program = c::program_with(input, rules, console, |_| {})?;
    c_dump::print(&program, functions, console)
}
