//! `hardbop bp export`: a boolean program in a language that other tools read.

use crate::boolean::{self, BooleanProgram};
use crate::cli::{BpInput, ExportFormat};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::targets;
use hardbop_boolean_program::chc::{Query, to_chc};
use hardbop_boolean_program::program::Program;
use serde::Serialize;

#[derive(Serialize)]
struct Body<'a> {
    text: &'a str,
}

/// Exports a program.
pub fn run(
    input: &BpInput,
    to: ExportFormat,
    label: Option<&str>,
    console: &Console,
) -> Result<Verdict, Failure> {
    let BooleanProgram {
        sources,
        program,
        warnings,
    } = boolean::program(input, console)?;
    let query = match label {
        Some(name) => Query::Target(the_label(&program, name)?),
        None => Query::AnyTarget,
    };
    let text = match to {
        ExportFormat::Chc => to_chc(&program, query),
    };
    match console.format() {
        Format::Text => console.text(&text)?,
        Format::Json => {
            console.value(Verdict::Fine, &sources, &warnings, Body { text: &text })?;
        }
    }
    Ok(Verdict::Fine)
}

fn the_label(program: &Program, name: &str) -> Result<usize, Failure> {
    match targets::labels(program, name)?.as_slice() {
        &[one] => Ok(one),
        several => {
            let names = several
                .iter()
                .map(|&position| targets::describe(program, &program.targets[position]));
            let names = names.collect::<Vec<_>>().join(", ");
            Err(Failure::message(format!(
                "`{name}` could be any of {names}; name the procedure too"
            )))
        }
    }
}
