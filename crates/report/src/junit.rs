//! JUnit XML: one test case a check, for continuous integration.

use crate::results::{Answer, Results};
use crate::rows::Detail;
use crate::terminal::{Listing, Plain, Show, text};
use crate::xml::escaped;
use std::fmt::Write;

/// The results as JUnit XML. An unknown answer is an error, so that nobody takes it for
/// success; what holds up to a depth is neither, and counts as skipped.
pub fn junit(results: &Results, name: &str, seconds: f64) -> String {
    let count = |wanted: fn(&Answer) -> bool| {
        results
            .checks
            .iter()
            .filter(|check| wanted(&check.answer))
            .count()
    };
    let failures = count(|answer| matches!(answer, Answer::Violated(_)));
    let errors = count(|answer| matches!(answer, Answer::Unknown(_)));
    let skipped = count(|answer| matches!(answer, Answer::Bounded(_)));
    let skipped = match skipped {
        0 => String::new(),
        _ => format!(" skipped=\"{skipped}\""),
    };
    let tests = results.checks.len();
    let name = escaped(name);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let totals = format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\"{skipped} time=\"{seconds:.3}\""
    );
    let _ = writeln!(out, "<testsuites name=\"hardbop\" {totals}>");
    let _ = writeln!(out, "  <testsuite name=\"{name}\" {totals}>");
    for check in &results.checks {
        let (file, line) = results.shown(check.place);
        let title = escaped(&format!(
            "line {line}: {} (in {})",
            check.message, check.function
        ));
        let _ = write!(
            out,
            "    <testcase classname=\"{}\" name=\"{title}\" file=\"{}\" line=\"{line}\"",
            escaped(file),
            escaped(file)
        );
        match &check.answer {
            Answer::Proved => out.push_str("/>\n"),
            Answer::Bounded(bounded) => {
                let text = format!(
                    "{}; not proved, because {}",
                    bounded.words(),
                    bounded.reason
                );
                let text = escaped(&text);
                let _ = write!(
                    out,
                    ">\n      <skipped message=\"{text}\"/>\n    </testcase>\n"
                );
            }
            Answer::Unknown(reason) => {
                let _ = write!(
                    out,
                    ">\n      <error type=\"unknown\" message=\"{}\"/>\n    </testcase>\n",
                    escaped(&format!("unknown, because {reason}"))
                );
            }
            Answer::Violated(_) => {
                let alone = Results {
                    checks: vec![check.clone()],
                    assumptions: Vec::new(),
                    ..results.clone()
                };
                let show = Show {
                    listing: Listing::Whole,
                    path: Some(Detail::Relevant),
                    invariants: false,
                    predicates: false,
                    statistics: false,
                };
                let _ = write!(
                    out,
                    ">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                    check.kind.name(),
                    escaped(&check.message),
                    escaped(&text(&alone, show, &Plain))
                );
            }
        }
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}
