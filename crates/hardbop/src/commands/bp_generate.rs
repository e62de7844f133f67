//! `hardbop bp generate`: programs of the families used for measuring.

use crate::cli::{Family, GenerateArgs};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use hardbop_boolean_program::generate::{
    Recursion, Shape, Start, arbitrary, counter, template, wide,
};
use hardbop_diagnostics::Sources;
use serde::Serialize;

#[derive(Serialize)]
struct Body<'a> {
    text: &'a str,
}

/// Prints a generated program.
pub fn run(arguments: &GenerateArgs, console: &Console) -> Result<Verdict, Failure> {
    let text = generate(arguments);
    match console.format() {
        Format::Text => console.text(&text)?,
        Format::Json => {
            console.value(Verdict::Fine, &Sources::new(), &[], Body { text: &text })?;
        }
    }
    Ok(Verdict::Fine)
}

fn generate(arguments: &GenerateArgs) -> String {
    let GenerateArgs {
        family,
        size,
        free_start,
        seed,
        statements,
        ..
    } = *arguments;
    match family {
        Family::T => template(size),
        Family::Counter => counter(
            size,
            if free_start {
                Start::Anywhere
            } else {
                Start::Zero
            },
        ),
        Family::Wide => wide(size, statements, seed),
        Family::Random => arbitrary(shape(arguments), seed),
    }
}

fn shape(arguments: &GenerateArgs) -> Shape {
    let recursion = if arguments.no_recursion {
        Recursion::None
    } else {
        Recursion::Allowed
    };
    Shape {
        procedures: arguments.procedures.max(1) as usize,
        globals: arguments.globals as usize,
        locals: arguments.locals as usize,
        formals: arguments.formals as usize,
        statements: arguments.statements as usize,
        recursion,
    }
}
