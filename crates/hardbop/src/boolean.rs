//! Loads the boolean program that the user names.

use crate::cli::{BpInput, DialectName};
use crate::console::Console;
use crate::failure::Failure;
use crate::input;
use hardbop_boolean_program::ast::Ast;
use hardbop_boolean_program::program::Program;
use hardbop_boolean_program::{Dialect, load_program, parse};
use hardbop_diagnostics::{Diagnostic, FileId, Sources};

/// A boolean program without errors, and where it came from.
pub struct BooleanProgram {
    /// The text.
    pub sources: Sources,
    /// The program.
    pub program: Program,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Reads, parses and resolves the program; people see its warnings at once.
pub fn program(input: &BpInput, console: &Console) -> Result<BooleanProgram, Failure> {
    let (sources, file) = read(input)?;
    let (program, diagnostics) = load_program(&sources, file, dialect(input.dialect));
    match program {
        Some(program) => {
            console.warn(&sources, &diagnostics);
            Ok(BooleanProgram {
                sources,
                program,
                warnings: diagnostics,
            })
        }
        None => Err(Failure::Input {
            sources,
            diagnostics,
        }),
    }
}

/// The syntax of a boolean program without syntax errors, and where it came from.
pub struct BooleanSyntax {
    /// The text.
    pub sources: Sources,
    /// The file in it.
    pub file: FileId,
    /// The syntax.
    pub ast: Ast,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Reads and parses the program without resolving its names.
pub fn syntax(input: &BpInput, console: &Console) -> Result<BooleanSyntax, Failure> {
    let (sources, file) = read(input)?;
    let loaded = parse(&sources, file, dialect(input.dialect));
    if loaded.has_errors() {
        return Err(Failure::Input {
            sources,
            diagnostics: loaded.diagnostics,
        });
    }
    console.warn(&sources, &loaded.diagnostics);
    Ok(BooleanSyntax {
        sources,
        file,
        ast: loaded.ast,
        warnings: loaded.diagnostics,
    })
}

fn read(input: &BpInput) -> Result<(Sources, FileId), Failure> {
    let mut sources = Sources::new();
    let file = input::text(&input.file, &mut sources)?;
    Ok((sources, file))
}

/// The dialect behind a name.
pub fn dialect(name: DialectName) -> Dialect {
    match name {
        DialectName::Bebop => Dialect::Bebop,
        DialectName::Slam => Dialect::Slam,
        DialectName::Boppo => Dialect::Boppo,
        DialectName::Getafix => Dialect::Getafix,
        DialectName::Auto => Dialect::Auto,
    }
}
