//! `hardbop c dump`: what the front end makes of a C program.

use crate::c::{self, CProgram};
use crate::cli::CInput;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::reading;
use hardbop_cfront::dump::{dump, dump_function};
use hardbop_model::passes::ALL;
use serde::Serialize;

#[derive(Serialize)]
struct Body<'a> {
    text: &'a str,
}

/// Prints the program after a pass, or some of its functions.
pub fn run(
    input: &CInput,
    names: &[String],
    after: &str,
    console: &Console,
) -> Result<Verdict, Failure> {
    let mut read = c::program(input, console)?;
    if let Some(pass) = ALL.iter().find(|pass| pass.name == after) {
        read.program = (pass.run)(&read.program, &reading::budget())?.program;
    }
    print(&read, names, console)
}

/// Prints a program, or some of its functions.
pub fn print(
    CProgram {
        program, warnings, ..
    }: &CProgram,
    names: &[String],
    console: &Console,
) -> Result<Verdict, Failure> {
    let text = if names.is_empty() {
        dump(program)
    } else {
        let functions = c::functions(program, names)?;
        let texts = functions
            .into_iter()
            .map(|function| dump_function(program, function));
        texts.collect::<Vec<_>>().join("\n")
    };
    match console.format() {
        Format::Text => console.text(&text)?,
        Format::Json => {
            console.value(
                Verdict::Fine,
                &program.sources,
                warnings,
                Body { text: &text },
            )?;
        }
    }
    Ok(Verdict::Fine)
}
