//! `hardbop harness`: a C file that calls a function with arguments that may be anything.

use crate::c;
use crate::cli::CInput;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use hardbop_diagnostics::Sources;
use serde::Serialize;

#[derive(Serialize)]
struct Body {
    harness: String,
}

/// Prints it.
pub fn run(input: &CInput, console: &Console) -> Result<Verdict, Failure> {
    if input.entry == "main" {
        return Err(Failure::message(
            "`main` needs nobody who calls it: say with `--entry` which function is to be called",
        ));
    }
    let harness = c::harness(input)?;
    match console.format() {
        Format::Text => console.text(&harness)?,
        Format::Json => {
            let body = Body { harness };
            console.value(Verdict::Fine, &Sources::new(), &[], body)?;
        }
    }
    Ok(Verdict::Fine)
}
