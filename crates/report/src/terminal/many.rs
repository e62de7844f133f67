//! The answers of a program with many checks, in an order that tells a person where to look: what
//! is violated, what is not known and why, and what is proved, by functions.

use super::{Paint, Show, write_check};
use crate::results::{Answer, CheckResult, Results};
use std::fmt::Write;

/// So many checks are simply listed.
pub(super) const FEW: usize = 10;

/// So many places of checks that are open for one reason are listed.
const PLACES: usize = 5;

pub(super) fn write(out: &mut String, results: &Results, show: Show, paint: &dyn Paint) {
    let checks = || results.checks.iter();
    let violated = |check: &&CheckResult| matches!(check.answer, Answer::Violated(_));
    for check in checks().filter(violated) {
        write_check(out, results, check, show, paint);
    }
    for (reason, open) in by(checks(), |check| match &check.answer {
        Answer::Unknown(reason) => Some(reason.clone()),
        _ => None,
    }) {
        for check in open.iter().take(PLACES) {
            let word = paint.paint("33", check.answer.word());
            let (file, line) = results.shown(check.place);
            let CheckResult {
                message, function, ..
            } = check;
            let _ = writeln!(out, "{word} {file}:{line}: {message} (in {function})");
        }
        if open.len() > PLACES {
            let word = paint.paint("33", "UNKNOWN");
            let rest = open.len() - PLACES;
            let _ = writeln!(out, "{word} {} more (`--list` shows them)", counted(rest));
        }
        let _ = writeln!(out, "  because {reason}");
    }
    let proved = |check: &CheckResult| matches!(check.answer, Answer::Proved);
    let of_called = by(checks(), |check| {
        (proved(check) && !check.uncalled).then(|| check.function.clone())
    });
    let word = paint.paint("32", "PROVED");
    for (function, proved) in &of_called {
        let _ = writeln!(out, "{word} {} in {function}", counted(proved.len()));
    }
    let uncalled = checks().filter(|check| check.uncalled).count();
    if uncalled > 0 {
        let count = counted(uncalled);
        let entry = &results.entry;
        let _ = writeln!(
            out,
            "{word} {count} in functions that `{entry}` never calls"
        );
    }
    let of = |is: &dyn Fn(&Answer) -> bool| checks().filter(|check| is(&check.answer)).count();
    let _ = writeln!(
        out,
        "{}: {} proved, {} violated, {} unknown",
        counted(results.checks.len()),
        of(&|answer| matches!(answer, Answer::Proved)),
        of(&|answer| matches!(answer, Answer::Violated(_))),
        of(&|answer| matches!(answer, Answer::Unknown(_))),
    );
}

/// The checks that have a key, by it, in the order in which the keys come first.
fn by<'r>(
    checks: impl Iterator<Item = &'r CheckResult>,
    key: impl Fn(&CheckResult) -> Option<String>,
) -> Vec<(String, Vec<&'r CheckResult>)> {
    let mut groups: Vec<(String, Vec<&CheckResult>)> = Vec::new();
    for check in checks {
        let Some(key) = key(check) else {
            continue;
        };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(check),
            None => groups.push((key, vec![check])),
        }
    }
    groups
}

fn counted(number: usize) -> String {
    match number {
        1 => "1 check".to_owned(),
        _ => format!("{number} checks"),
    }
}
