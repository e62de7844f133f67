//! `hardbop completions`: scripts that teach a shell to complete hardbop's arguments.

use crate::cli::Cli;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use clap::CommandFactory;
use clap_complete::Shell;
use hardbop_diagnostics::Sources;
use serde::Serialize;

#[derive(Serialize)]
struct Body<'a> {
    script: &'a str,
}

/// Prints the completion script for a shell.
pub fn run(shell: Shell, console: &Console) -> Result<Verdict, Failure> {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hardbop", &mut bytes);
    let script = String::from_utf8(bytes)
        .map_err(|_| Failure::internal("a completion script is not UTF-8"))?;
    match console.format() {
        Format::Text => console.text(&script)?,
        Format::Json => {
            console.value(
                Verdict::Fine,
                &Sources::new(),
                &[],
                Body { script: &script },
            )?;
        }
    }
    Ok(Verdict::Fine)
}
