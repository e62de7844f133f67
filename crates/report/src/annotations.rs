//! Annotations of GitHub Actions: lines on standard output that the service shows beside the
//! lines of a change.

use crate::results::{Answer, Results};
use std::fmt::Write;

/// A line for each check that is not proved; what is only unknown is a notice.
pub fn annotations(results: &Results) -> String {
    let mut out = String::new();
    for check in &results.checks {
        let (level, said) = match &check.answer {
            Answer::Proved => continue,
            Answer::Violated(_) => ("error", format!("{}{}", check.message, check.proviso())),
            Answer::Bounded(bounded) => {
                ("notice", format!("{}: {}", check.message, bounded.words()))
            }
            Answer::Unknown(reason) => (
                "notice",
                format!("{}: unknown, because {reason}", check.message),
            ),
        };
        let (file, line) = results.shown(check.place);
        let _ = writeln!(
            out,
            "::{level} file={},line={line},title={}::{}",
            property(file),
            property(&format!("hardbop: {}", check.kind.name())),
            data(&said)
        );
    }
    out
}

/// What stands behind the colons.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// What stands between them.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
