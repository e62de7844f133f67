//! `hardbop bp format`: the canonical text of a boolean program.

use crate::boolean::{self, BooleanSyntax};
use crate::cli::BpInput;
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::input;
use hardbop_boolean_program::format;
use serde::Serialize;
use std::path::Path;

/// What becomes of the canonical text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is printed.
    Print,
    /// It is compared with the text there is.
    Check,
    /// It replaces the file.
    Write,
}

#[derive(Serialize)]
struct Body<'a> {
    /// Whether the text was in canonical form already.
    canonical: bool,
    text: &'a str,
}

/// Formats a program.
pub fn run(input: &BpInput, mode: Mode, console: &Console) -> Result<Verdict, Failure> {
    let BooleanSyntax {
        sources,
        file,
        ast,
        warnings,
    } = boolean::syntax(input, console)?;
    let before = sources.text(file);
    let after = format(&ast, before, boolean::dialect(input.dialect));
    let canonical = before == after;
    let verdict = match mode {
        Mode::Check if !canonical => Verdict::Found,
        _ => Verdict::Fine,
    };
    if mode == Mode::Write && !canonical {
        replace(&input.file, &after)?;
    }
    match (console.format(), mode) {
        (Format::Json, _) => {
            console.value(
                verdict,
                &sources,
                &warnings,
                Body {
                    canonical,
                    text: &after,
                },
            )?;
        }
        (Format::Text, Mode::Print) => console.text(&after)?,
        (Format::Text, Mode::Check) if !canonical => {
            console.text(&format!(
                "{} is not in canonical form\n",
                sources.name(file)
            ))?;
        }
        (Format::Text, _) => {}
    }
    Ok(verdict)
}

fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    if input::is_stdin(path) {
        return Err(Failure::message("--write needs a file, not standard input"));
    }
    std::fs::write(path, text)
        .map_err(|error| Failure::message(format!("cannot write `{}`: {error}", path.display())))
}
