//! `hardbop bp graph`: the control-flow graph of a boolean program as a drawing.

use crate::boolean::{self, BooleanProgram};
use crate::cli::{BpInput, GraphFormat};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use hardbop_boolean_program::graph::{to_dot, to_svg};
use serde::Serialize;

#[derive(Serialize)]
struct Body<'a> {
    format: &'static str,
    text: &'a str,
}

/// Draws a program.
pub fn run(input: &BpInput, to: GraphFormat, console: &Console) -> Result<Verdict, Failure> {
    let BooleanProgram {
        sources,
        program,
        warnings,
    } = boolean::program(input, console)?;
    let (format, text) = match to {
        GraphFormat::Dot => ("dot", to_dot(&program, &sources)),
        GraphFormat::Svg => ("svg", to_svg(&program, &sources)),
    };
    match console.format() {
        Format::Text => console.text(&text)?,
        Format::Json => {
            let body = Body {
                format,
                text: &text,
            };
            console.value(Verdict::Fine, &sources, &warnings, body)?;
        }
    }
    Ok(Verdict::Fine)
}
