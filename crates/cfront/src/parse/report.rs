//! What the front-end crates say, as our own diagnostics.

use super::texts::Places;
use hardbop_diagnostics::{Diagnostic, Severity};

/// At most this many errors of one unit are shown: one missing brace can make thousands.
const MOST_ERRORS: usize = 100;

/// A diagnostic at its place, with a note for what it hangs on.
pub(super) fn diagnostic(of: &rucc_diag::Diagnostic, places: &Places) -> Diagnostic {
    let severity = if of.severity.is_fatal() {
        Severity::Error
    } else {
        Severity::Warning
    };
    let mut out = Diagnostic::global(severity, of.message.clone());
    if places.is_known(of.span) {
        out.span = Some(places.source(of.span).span);
        for from in places.include_chain(of.span).into_iter().take(8) {
            out = out.note(Some(places.source(from).span), "included from here");
        }
    }
    for child in &of.children {
        let span = places
            .is_known(child.span)
            .then(|| places.source(child.span).span);
        out = out.note(span, child.message.clone());
    }
    out
}

/// The errors of a unit, in order, each once.
pub(super) fn errors(all: &[rucc_diag::Diagnostic], places: &Places) -> Vec<Diagnostic> {
    let mut out: Vec<Diagnostic> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut more = 0;
    for one in all.iter().filter(|d| d.severity.is_fatal()) {
        if !seen.insert((one.span.lo, one.message.as_str())) {
            continue;
        }
        if out.len() == MOST_ERRORS {
            more += 1;
            continue;
        }
        out.push(diagnostic(one, places));
    }
    if more > 0 {
        out.push(Diagnostic::global(
            Severity::Error,
            format!("and {more} more errors"),
        ));
    }
    out
}
