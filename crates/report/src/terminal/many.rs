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
    let reachable = || checks().filter(|check| !check.uncalled);
    for (reason, open) in by(reachable(), |check| match &check.answer {
        Answer::Unknown(reason) => Some(reason.clone()),
        _ => None,
    }) {
        write_places(out, results, &open, paint);
        let _ = writeln!(out, "  because {reason}");
        write_next_step(out, &open);
    }
    for (bounded, open) in by(reachable(), |check| match &check.answer {
        Answer::Bounded(bounded) => Some(bounded.clone()),
        _ => None,
    }) {
        write_places(out, results, &open, paint);
        let _ = writeln!(out, "  {}", bounded.words());
        let _ = writeln!(out, "  not proved, because {}", bounded.reason);
        let next = match bounded.depth < bounded.wanted {
            true => "a longer `--time-limit`",
            false => "a larger `--depth`",
        };
        let _ = writeln!(out, "  try {next}");
    }
    let of_called = by(reachable(), |check| {
        matches!(check.answer, Answer::Proved).then(|| check.function.clone())
    });
    let word = paint.paint("32", "PROVED");
    for (function, proved) in &of_called {
        let _ = writeln!(out, "{word} {} in {function}", counted(proved.len()));
    }
    write_uncalled(out, results, paint);
    write_counts(out, results);
}

/// The first of the checks that are open for one reason.
fn write_places(out: &mut String, results: &Results, open: &[&CheckResult], paint: &dyn Paint) {
    for check in open.iter().take(PLACES) {
        let word = paint.paint("33", check.answer.word());
        let (file, line) = results.shown(check.place);
        let CheckResult {
            message, function, ..
        } = check;
        let _ = writeln!(out, "{word} {file}:{line}: {message} (in {function})");
    }
    if let Some(more) = open.get(PLACES..).filter(|more| !more.is_empty()) {
        let word = paint.paint("33", more[0].answer.word());
        let count = counted(more.len());
        let _ = writeln!(out, "{word} {count} more (`--list` shows them)");
    }
}

fn write_next_step(out: &mut String, open: &[&CheckResult]) {
    if let Some(next) = open.iter().find_map(|check| check.next_step) {
        let _ = writeln!(out, "  try {next}");
    }
}

/// Checks in functions that are never called, in a line: they are no achievement. Where something
/// is reached that nobody understands, it is not sure that they are not called.
fn write_uncalled(out: &mut String, results: &Results, paint: &dyn Paint) {
    let uncalled = || results.checks.iter().filter(|check| check.uncalled);
    let entry = &results.entry;
    for word in ["UNKNOWN", "BOUNDED"] {
        let unsure = uncalled()
            .filter(|check| check.answer.word() == word)
            .count();
        if unsure == 0 {
            continue;
        }
        let (word, count) = (paint.paint("33", word), counted(unsure));
        let _ = writeln!(
            out,
            "{word} {count} in functions that `{entry}` is not seen to call"
        );
    }
    let never = uncalled().filter(|check| check.is_unreachable()).count();
    if never > 0 {
        let count = counted(never);
        let _ = writeln!(
            out,
            "unreachable: {count} in functions that `{entry}` never calls"
        );
    }
}

/// How many checks have which answer.
pub(super) fn write_counts(out: &mut String, results: &Results) {
    let never = |check: &&CheckResult| check.is_unreachable();
    let of = |word: &str| {
        let checks = results.checks.iter().filter(|check| !never(check));
        checks.filter(|check| check.answer.word() == word).count()
    };
    let _ = write!(
        out,
        "{}: {} proved, {} violated, ",
        counted(results.checks.len()),
        of("PROVED"),
        of("VIOLATED"),
    );
    let bounded = of("BOUNDED");
    if bounded > 0 {
        let _ = write!(out, "{bounded} bounded, ");
    }
    let _ = write!(out, "{} unknown", of("UNKNOWN"));
    match results.checks.iter().filter(never).count() {
        0 => {}
        never => {
            let _ = write!(out, ", {never} unreachable");
        }
    }
    out.push('\n');
}

/// The checks that have a key, by it, in the order in which the keys come first.
fn by<'r, K: PartialEq>(
    checks: impl Iterator<Item = &'r CheckResult>,
    key: impl Fn(&CheckResult) -> Option<K>,
) -> Vec<(K, Vec<&'r CheckResult>)> {
    let mut groups: Vec<(K, Vec<&CheckResult>)> = Vec::new();
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
