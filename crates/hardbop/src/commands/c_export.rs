//! `hardbop c export`: a C program as a sequential circuit.

use crate::c::{self, CProgram};
use crate::cli::{CInput, CircuitFormat};
use crate::console::{Console, Format};
use crate::failure::{Failure, Verdict};
use crate::reading;
use hardbop_cfront::ids::CheckId;
use hardbop_engine::Task;
use hardbop_model::{Model, Prepared};
use hardbop_pdr::sequential;
use serde::Serialize;

#[derive(Serialize)]
struct Body<'a> {
    text: &'a str,
}

/// Writes the circuit of a program.
pub fn run(input: &CInput, to: CircuitFormat, console: &Console) -> Result<Verdict, Failure> {
    let CProgram {
        program, warnings, ..
    } = c::program(input, console)?;
    let budget = reading::budget();
    let prepared = Prepared::new(&program, &budget)?;
    let model = Model::new(&program, &prepared);
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let task = Task {
        model: &model,
        checks: &checks,
        budget: &budget,
    };
    let circuit = sequential(&task)
        .map_err(|reason| Failure::message(format!("the program has no circuit: {reason}")))?;
    let text = match to.aiger {
        true => circuit.aiger(),
        false => circuit.btor2(),
    };
    match console.format() {
        Format::Text => console.text(&text)?,
        Format::Json => {
            console.value(
                Verdict::Fine,
                &program.sources,
                &warnings,
                Body { text: &text },
            )?;
        }
    }
    Ok(Verdict::Fine)
}
