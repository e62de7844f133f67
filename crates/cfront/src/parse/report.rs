//! What the front-end crates say, as our own diagnostics.

use super::texts::Places;
use hardbop_diagnostics::{Diagnostic, Severity};

/// At most this many errors of one unit are shown: one missing brace can make thousands.
const MOST_ERRORS: usize = 20;

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
        let source = places.source(of.span);
        if let Some(name) = places.presumed_elsewhere(of.span) {
            out = out.note(None, format!("this is line {} of `{name}`", source.line));
        }
        for from in places.include_chain(of.span).into_iter().take(8) {
            out = out.note(Some(places.source(from).span), "included from here");
        }
    }
    for child in &of.children {
        let elsewhere = child.span.lo != of.span.lo && places.is_known(child.span);
        let span = elsewhere.then(|| places.source(child.span).span);
        out = out.note(span, child.message.clone());
    }
    out
}

/// How the messages end after which all others are noise: a header that is not there, nesting that
/// is too deep.
const LAST_WORDS: [&str; 2] = ["file not found", "levels"];

/// The errors of a unit, in order, each once.
pub(super) fn errors(all: &[rucc_diag::Diagnostic], places: &Places) -> Vec<Diagnostic> {
    let fatal: Vec<_> = all.iter().filter(|d| d.severity.is_fatal()).collect();
    let last = |d: &rucc_diag::Diagnostic| LAST_WORDS.iter().any(|end| d.message.ends_with(end));
    let only_last = fatal.iter().any(|d| last(d));
    let mut out: Vec<Diagnostic> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut more = 0;
    for one in fatal.into_iter().filter(|d| !only_last || last(d)) {
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
        let message = format!("and {more} more errors");
        out.push(Diagnostic::global(Severity::Error, message));
    }
    out
}
