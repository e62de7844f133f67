//! The only way out of the program: text for people, one JSON value for machines.
//!
//! People get results on standard output, and warnings and errors on standard error. Machines get
//! one JSON value on standard output, whatever happens, errors included.

use crate::cli::{Colour, Output};
use crate::failure::{Failure, REFUSED, Verdict};
use crate::quiet::Stderr;
use hardbop_diagnostics::{Diagnostic, Severity, Sources, Span, Style, render};
use serde::Serialize;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Where a command's results go.
#[derive(Clone, Debug)]
pub struct Console {
    command: String,
    format: Format,
    warnings: Warnings,
    out: Style,
    err: Style,
    stderr: Stderr,
}

/// Who reads the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A person.
    Text,
    /// A machine.
    Json,
}

/// Whether people see warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Warnings {
    Shown,
    Hidden,
}

/// What is common to every JSON result; `docs/src/json.md` describes it.
#[derive(Serialize)]
struct Envelope<'a, T> {
    command: &'a str,
    exit_code: u8,
    diagnostics: Vec<JsonDiagnostic>,
    #[serde(flatten)]
    body: T,
}

/// The body of a JSON result of a command that could not do its work.
#[derive(Serialize)]
struct JsonFailure<'a> {
    error: JsonError<'a>,
}

#[derive(Serialize)]
struct JsonError<'a> {
    kind: &'static str,
    message: &'a str,
}

#[derive(Serialize)]
struct JsonDiagnostic {
    severity: &'static str,
    message: String,
    #[serde(flatten)]
    place: Option<JsonPlace>,
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<JsonNote>,
}

#[derive(Serialize)]
struct JsonNote {
    message: String,
    #[serde(flatten)]
    place: Option<JsonPlace>,
}

/// A place in a text, as JSON.
#[derive(Clone, Debug, Serialize)]
pub struct JsonPlace {
    file: String,
    line: u32,
    column: u32,
}

impl JsonPlace {
    /// Where a range begins.
    pub fn of(sources: &Sources, span: Span) -> JsonPlace {
        let position = sources.position(span.file, span.start);
        JsonPlace {
            file: sources.name(span.file).to_owned(),
            line: position.line,
            column: position.column,
        }
    }
}

impl Console {
    /// The console of a command, by the user's options and by where the output goes.
    pub fn new(command: &str, output: &Output, stderr: Stderr) -> Console {
        let format = if output.json {
            Format::Json
        } else {
            Format::Text
        };
        Console {
            command: command.to_owned(),
            format,
            warnings: if output.quiet {
                Warnings::Hidden
            } else {
                Warnings::Shown
            },
            out: style(output.color, io::stdout().is_terminal()),
            err: style(output.color, stderr.is_terminal()),
            stderr,
        }
    }

    /// Who reads the results.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Where standard error goes.
    pub fn stderr(&self) -> &Stderr {
        &self.stderr
    }

    /// Paints text for standard output.
    pub fn paint(&self, code: &str, text: &str) -> String {
        match self.out {
            Style::Plain => text.to_owned(),
            Style::Colour => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    /// Prints a result for people.
    pub fn text(&self, text: &str) -> Result<(), Failure> {
        write_all(text.as_bytes())
    }

    /// Prints a result for machines.
    pub fn value(
        &self,
        verdict: Verdict,
        sources: &Sources,
        diagnostics: &[Diagnostic],
        body: impl Serialize,
    ) -> Result<(), Failure> {
        self.envelope(verdict.exit_code(), sources, diagnostics, body)
    }

    /// Shows warnings to people at once; machines get them with the result.
    pub fn warn(&self, sources: &Sources, diagnostics: &[Diagnostic]) {
        if self.format == Format::Text {
            self.show(sources, diagnostics);
        }
    }

    fn show(&self, sources: &Sources, diagnostics: &[Diagnostic]) {
        let wanted = |d: &&Diagnostic| d.is_error() || self.warnings == Warnings::Shown;
        for diagnostic in diagnostics.iter().filter(wanted) {
            self.stderr.write(&render(diagnostic, sources, self.err));
        }
    }

    /// Says on standard error what went wrong after the result was printed.
    pub fn complain(&self, failure: &Failure) {
        self.fail_in_text(failure);
    }

    /// Says why the command could not do its work. Gives back the exit code.
    pub fn fail(&self, failure: &Failure) -> u8 {
        if let Failure::Stopped(stopped) = failure {
            return self.stopped(&while_reading(stopped));
        }
        // There is nobody left to tell if even this cannot be written.
        let _ = match self.format {
            Format::Text => {
                self.fail_in_text(failure);
                Ok(())
            }
            Format::Json => self.fail_in_json(failure),
        };
        REFUSED
    }

    /// Says that the process that did the work crashed. Gives back the exit code.
    pub fn crashed(&self, signal: &str) -> u8 {
        let text = format!("the process that did the work crashed ({signal}); nothing is known");
        self.unknown("crash", &text)
    }

    /// Says that a limit was reached before there was anything to say. Gives back the exit code.
    pub fn stopped(&self, reason: &str) -> u8 {
        self.unknown("limit", reason)
    }

    fn unknown(&self, kind: &'static str, text: &str) -> u8 {
        let code = Verdict::Unknown.exit_code();
        // There is nobody left to tell if even this cannot be written.
        let _ = match self.format {
            Format::Text => self.text(&format!("UNKNOWN because {text}\n")),
            Format::Json => {
                let error = JsonError {
                    kind,
                    message: text,
                };
                self.envelope(code, &Sources::new(), &[], JsonFailure { error })
            }
        };
        code
    }

    /// Says that something of ours is wrong.
    pub fn internal(&self, text: &str) {
        self.stderr.write(&format!(
            "internal error: {text}\nThis is a bug in hardbop: please report it with the input.\n"
        ));
    }

    fn fail_in_text(&self, failure: &Failure) {
        match failure {
            Failure::Input {
                sources,
                diagnostics,
            } => {
                self.show(sources, diagnostics);
                let count = diagnostics.iter().filter(|d| d.is_error()).count();
                if count > 1 {
                    self.stderr.write(&format!("{count} errors\n"));
                }
            }
            Failure::Message(text) => {
                let global = Diagnostic::global(Severity::Error, text);
                self.stderr
                    .write(&render(&global, &Sources::new(), self.err));
            }
            Failure::Internal(text) => self.internal(text),
            Failure::Told | Failure::Stopped(_) => {}
        }
    }

    fn fail_in_json(&self, failure: &Failure) -> Result<(), Failure> {
        let no_sources = Sources::new();
        let (kind, message, sources, diagnostics) = match failure {
            Failure::Input {
                sources,
                diagnostics,
            } => {
                let first = diagnostics.iter().find(|d| d.is_error());
                let message = first.map_or("the input has errors", |d| &d.message);
                ("input", message, sources, diagnostics.as_slice())
            }
            Failure::Message(text) => ("usage", text.as_str(), &no_sources, [].as_slice()),
            Failure::Internal(text) => ("internal", text.as_str(), &no_sources, [].as_slice()),
            Failure::Told | Failure::Stopped(_) => return Ok(()),
        };
        let body = JsonFailure {
            error: JsonError { kind, message },
        };
        self.envelope(REFUSED, sources, diagnostics, body)
    }

    fn envelope(
        &self,
        exit_code: u8,
        sources: &Sources,
        diagnostics: &[Diagnostic],
        body: impl Serialize,
    ) -> Result<(), Failure> {
        let diagnostics = diagnostics
            .iter()
            .map(|d| json_diagnostic(sources, d))
            .collect();
        let envelope = Envelope {
            command: &self.command,
            exit_code,
            diagnostics,
            body,
        };
        let mut text = serde_json::to_string_pretty(&envelope)
            .map_err(|error| Failure::internal(format!("cannot write JSON: {error}")))?;
        text.push('\n');
        write_all(text.as_bytes())
    }
}

fn json_diagnostic(sources: &Sources, diagnostic: &Diagnostic) -> JsonDiagnostic {
    let place = |span: Option<Span>| span.map(|span| JsonPlace::of(sources, span));
    JsonDiagnostic {
        severity: match diagnostic.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        message: diagnostic.message.clone(),
        place: place(diagnostic.span),
        label: diagnostic.label.clone(),
        notes: diagnostic
            .notes
            .iter()
            .map(|(span, text)| JsonNote {
                message: text.clone(),
                place: place(*span),
            })
            .collect(),
    }
}

fn style(wanted: Colour, terminal: bool) -> Style {
    let plain_wanted = || {
        std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb")
    };
    match wanted {
        Colour::Always => Style::Colour,
        Colour::Auto if terminal && !plain_wanted() => Style::Colour,
        Colour::Auto | Colour::Never => Style::Plain,
    }
}

/// Writes to standard output. A reader that has seen enough (`| head`) is no failure, and does
/// not change the verdict: the rest of the output is dropped.
fn write_all(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::message(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}

/// That a limit ended the reading of a program.
pub fn while_reading(reason: impl std::fmt::Display) -> String {
    format!("{reason} while the program was being read")
}
