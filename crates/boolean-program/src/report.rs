//! The diagnostics of one file, kept to a number that a person can read.

use hardbop_diagnostics::{Diagnostic, Severity, Span};

/// Beyond this many errors (and as many warnings) one message says that there are more.
const MOST: usize = 50;

#[derive(Debug, Default)]
pub(crate) struct Reports {
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Reports {
    pub fn add(&mut self, diagnostic: Diagnostic) {
        let (count, what) = match diagnostic.severity {
            Severity::Error => (&mut self.errors, "errors"),
            Severity::Warning => (&mut self.warnings, "warnings"),
        };
        *count += 1;
        if *count <= MOST {
            self.diagnostics.push(diagnostic);
        } else if *count == MOST + 1 {
            let message = format!("further {what} are not shown");
            self.diagnostics
                .push(Diagnostic::global(diagnostic.severity, message));
        }
    }

    /// Adds a note to the last diagnostic, unless that one was not kept.
    pub fn annotate(&mut self, span: Span, text: &str) {
        if self.errors <= MOST
            && let Some(last) = self.diagnostics.last_mut()
        {
            last.notes.push((Some(span), text.to_owned()));
        }
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether further errors would not be shown.
    pub fn is_full(&self) -> bool {
        self.errors > MOST
    }

    /// The diagnostics in the order of the text, those without a place last.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics
            .sort_by_key(|d| d.span.map_or(u32::MAX, |span| span.start));
        self.diagnostics
    }
}
