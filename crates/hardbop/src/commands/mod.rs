//! The commands, one file each.

mod completions;
mod man;

use crate::cli::Command;
use crate::console::Console;
use crate::failure::{Failure, Verdict};

/// Does what the user asked for.
pub fn run(command: &Command, console: &Console) -> Result<Verdict, Failure> {
    match command {
        Command::Man { command } => man::run(command, console),
        Command::Completions { shell } => completions::run(*shell, console),
        _ => unreachable!(),
    }
}
