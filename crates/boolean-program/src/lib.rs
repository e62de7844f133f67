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
//!
//! # What programs mean
//!
//! - Execution starts in `main`, whose parameters, like all variables, start with any values.
//! - Calls pass values. A procedure that ends without `return` gives back any values.
//! - `*` and `?` are either value, chosen afresh each time; `choose(a, b)` and `schoose[a, b]`
//!   are true if `a`, else false if `b`, else either value.
//! - `x := e constrain r` makes those choices that meet `r`, a relation between the old state
//!   (`x`) and the new one (`'x`, which is the old value where nothing is assigned). Where no
//!   choice meets it, execution stops.
//! - `assume (e)` and `constrain (e)` stop where `e` cannot be true, `abortif e` where it cannot
//!   be false.
//! - `enforce e` leaves out all states, of the program or of its procedure, in which `e` cannot
//!   be true: neither does execution start in one, nor go on to one, nor return to one. It means
//!   the same wherever in a body it stands.
//! - `dead x` gives `x` any value, and so does a `decl` after the first statement of a body. A
//!   variable is visible from its declaration to the end of its procedure.
//! - One statement is one vertex, and one step; `if`, `elsif` and `while` are vertices where
//!   their condition is evaluated. `else`, `fi`, `od`, `enforce` without a label and the
//!   declarations at the start of a body are none.
//! - `dfs` and `thread_local` mean nothing in a program with one thread; what starts others is
//!   refused.
//!
//! # What is in this crate
//!
//! | module | what for |
//! | --- | --- |
//! | [`ast`], [`program`] | the syntax, and the resolved program |
//! | [`interp`] | run a program step by step |
//! | [`check`], [`replay`] | judge single steps, and whole traces |
//! | [`generate`] | families of programs for tests and measurements |
//! | [`chc`] | export to Horn solvers |
//! | [`graph`] | pictures of the control flow |
//!
//! Nothing in it recurses on the depth of its input.

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

/// Parses and resolves a file of `sources` without keeping its syntax: the program, if there are
/// no errors, and what [`Loaded::diagnostics`] says. Takes half the memory of [`load`].
pub fn load_program(
    sources: &Sources,
    file: FileId,
    dialect: Dialect,
) -> (Option<program::Program>, Vec<Diagnostic>) {
    let mut reports = report::Reports::default();
    let parsed = parser::parse_in_parts(
        file,
        sources.text(file),
        dialect,
        &mut reports,
        STATEMENTS_OF_A_PART,
    );
    let program = match reports.has_errors() {
        true => None,
        false => resolve::resolve_parts(parsed, dialect, &mut reports),
    };
    (program, reports.finish())
}

/// Large enough that the system takes the memory of a part back as soon as it is freed.
const STATEMENTS_OF_A_PART: usize = 1 << 18;

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
    if bytes.contains(&0) {
        let position = bytes.iter().take_while(|&&b| b != 0).count();
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
