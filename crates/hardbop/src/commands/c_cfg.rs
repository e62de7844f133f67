//! `hardbop c cfg`: the control-flow graphs of a C program as a drawing.

use crate::c::{self, CProgram};
use crate::cli::CInput;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use hardbop_cfront::dot::{dot, user_functions};
use serde::Serialize;

#[derive(Serialize)]
struct Body<'a> {
    format: &'static str,
    text: &'a str,
}

/// Draws the functions that the user wrote, or those that the user names.
pub fn run(input: &CInput, names: &[String], console: &Console) -> Result<Verdict, Failure> {
    let CProgram {
        program, warnings, ..
    } = c::program(input, console)?;
    let functions = match names {
        [] => user_functions(&program),
        names => c::functions(&program, names)?,
    };
    let text = dot(&program, &functions);
    match console.format() {
        Format::Text => console.text(&text)?,
        Format::Json => {
            let body = Body {
                format: "dot",
                text: &text,
            };
            console.value(Verdict::Fine, &program.sources, &warnings, body)?;
        }
    }
    Ok(Verdict::Fine)
}
