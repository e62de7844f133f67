//! What the parsers have to say about their input: places in source text, messages, and their
//! rendering for people.
//!
//! Every parser in the house gives back a value and a list of [`Diagnostic`]s. They are rendered
//! once, by the command line, with file, line, column, the source line and a caret.

mod render;
mod source;

pub use render::{Style, render};
pub use source::{FileId, Position, Sources, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the input is accepted.
    Warning,
    /// The input is refused.
    Error,
}

/// One message about one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether the input is refused because of it.
    pub severity: Severity,
    /// What is wrong, in one line without a full stop.
    pub message: String,
    /// Where; `None` for what concerns a whole input.
    pub span: Option<Span>,
    /// What stands under the caret, usually what was expected; may be empty.
    pub label: String,
    /// Further lines, each with its place if it has one ("first declared here").
    pub notes: Vec<(Option<Span>, String)>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, Some(span), message.into())
    }

    /// A warning at a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, Some(span), message.into())
    }

    /// A message without a place.
    pub fn global(severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(severity, None, message.into())
    }

    fn new(severity: Severity, span: Option<Span>, message: String) -> Diagnostic {
        Diagnostic {
            severity,
            message,
            span,
            label: String::new(),
            notes: Vec::new(),
        }
    }

    /// The same message with a text under the caret.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// The same message with a further line.
    pub fn note(mut self, span: Option<Span>, text: impl Into<String>) -> Diagnostic {
        self.notes.push((span, text.into()));
        self
    }

    /// Whether the input is refused because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
