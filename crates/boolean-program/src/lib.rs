//! The language of boolean programs: programs with procedures, recursion and nondeterminism in
//! which every variable is a boolean.
//!
//! In comes the text of a `.bp` file in any published [`Dialect`]; out come its syntax and the
//! resolved [`program::Program`], a control-flow graph as in section 2 of "Bebop: A Symbolic
//! Model Checker for Boolean Programs" (Ball, Rajamani, SPIN 2000), and whatever there is to say
//! about the text.
//!
//! ```
//! use hardbop_boolean_program::{Dialect, load};
//! use hardbop_diagnostics::Sources;
//!
//! let mut sources = Sources::new();
//! let file = sources.add("a.bp", "decl g; void main() begin L: g := !g; goto L; end");
//! let loaded = load(&sources, file, Dialect::Auto);
//! let program = loaded.program.expect("it has no errors");
//! assert_eq!(program.targets.len(), 1);
//! ```

pub mod ast;
pub mod chc;
pub mod check;
mod dialect;
mod flow;
pub mod generate;
pub mod graph;
pub mod interp;
mod lexer;
mod parser;
mod print;
pub mod program;
mod random;
pub mod replay;
mod report;
mod resolve;
pub mod values;

pub use dialect::{Dialect, Operator};
pub use lexer::{Comment, Symbol};
pub use print::format;
pub use random::Random;

use hardbop_diagnostics::{Diagnostic, FileId, Severity, Sources};

/// What a text turned out to be.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program, if there are no errors.
    pub program: Option<program::Program>,
    /// The syntax, as far as it could be read.
    pub ast: ast::Ast,
    /// Errors and warnings in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Whether the text is refused.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Parses and resolves a file of `sources`.
pub fn load(sources: &Sources, file: FileId, dialect: Dialect) -> Loaded {
    let mut reports = report::Reports::default();
    let ast = parser::parse(file, sources.text(file), dialect, &mut reports);
    // Names that a damaged statement would have declared are not worth a complaint each.
    let program = match reports.has_errors() {
        true => None,
        false => resolve::resolve(&ast, dialect, &mut reports),
    };
    Loaded {
        program,
        ast,
        diagnostics: reports.finish(),
    }
}

/// Parses a file of `sources` without resolving its names, as the printer needs it.
pub fn parse(sources: &Sources, file: FileId, dialect: Dialect) -> Loaded {
    let mut reports = report::Reports::default();
    let ast = parser::parse(file, sources.text(file), dialect, &mut reports);
    Loaded {
        program: None,
        ast,
        diagnostics: reports.finish(),
    }
}

/// The text of a file as it came from the disk, or why it cannot be a program.
pub fn decode(name: &str, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    let refuse = |message: String| Err(Diagnostic::global(Severity::Error, message));
    if bytes.len() >= u32::MAX as usize {
        return refuse(format!("{name} is larger than 4 GiB"));
    }
    if let Some(position) = bytes.iter().position(|&b| b == 0) {
        return refuse(format!("{name} is a binary file: byte {position} is zero"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        }),
        Err(error) => {
            let position = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..position]
                .iter()
                .filter(|&&b| b == b'\n')
                .count()
                + 1;
            refuse(format!(
                "{name} is not text in UTF-8: see byte {position} in line {line}"
            ))
        }
    }
}
