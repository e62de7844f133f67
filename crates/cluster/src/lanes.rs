//! One item, several engines: their answers put together, check by check.
//!
//! Each answer has passed the gate where it was found. What one engine decides is decided; if two
//! say the opposite, one of them is wrong, and nothing of the item is believed.

use crate::journal::{Brief, Check, UNKNOWN, Word};

/// Puts another engine's answer to what is known.
pub fn join(known: &Brief, more: &Brief) -> Brief {
    if known.error.is_some() && known.checks.is_empty() {
        return more.clone();
    }
    if more.error.is_some() || more.checks.len() != known.checks.len() {
        return known.clone();
    }
    let mut checks = Vec::with_capacity(known.checks.len());
    for (old, new) in known.checks.iter().zip(&more.checks) {
        if !same(old, new) {
            // It speaks of another program: files may have changed in between.
            return known.clone();
        }
        checks.push(match (old.answer, new.answer) {
            (Word::Proved, Word::Violated) | (Word::Violated, Word::Proved) => {
                return contradiction(old);
            }
            (Word::Unknown, Word::Proved | Word::Violated) => new.clone(),
            _ => old.clone(),
        });
    }
    let any = |word: Word| checks.iter().any(|check: &Check| check.answer == word);
    let exit_code = if any(Word::Violated) {
        1
    } else if any(Word::Unknown) || checks.is_empty() {
        UNKNOWN
    } else {
        0
    };
    Brief {
        exit_code,
        error: None,
        incomplete: match exit_code {
            UNKNOWN => known.incomplete.clone().or(more.incomplete.clone()),
            _ => None,
        },
        checks,
    }
}

fn same(a: &Check, b: &Check) -> bool {
    a.file == b.file && a.line == b.line && a.message == b.message && a.function == b.function
}

fn contradiction(check: &Check) -> Brief {
    Brief::unknown(format!(
        "two engines contradict each other about {}:{}: please report this",
        check.file, check.line
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Word::{Proved, Unknown, Violated};

    fn brief(words: &[Word]) -> Brief {
        let check = |(line, &answer): (usize, &Word)| Check {
            answer,
            file: "a.c".to_owned(),
            line: line as u64,
            message: "assertion".to_owned(),
            function: "main".to_owned(),
            reason: (answer == Unknown).then(|| "time is over".to_owned()),
            unreachable: false,
        };
        let unknown = words.contains(&Unknown);
        Brief {
            exit_code: match words {
                _ if words.contains(&Violated) => 1,
                _ if unknown => UNKNOWN,
                _ => 0,
            },
            incomplete: unknown.then(|| "time is over".to_owned()),
            checks: words.iter().enumerate().map(check).collect(),
            error: None,
        }
    }

    #[test]
    fn two_halves_are_a_proof() {
        let joined = join(&brief(&[Proved, Unknown]), &brief(&[Unknown, Proved]));
        assert_eq!(joined, brief(&[Proved, Proved]));
        let joined = join(&brief(&[Proved, Unknown]), &brief(&[Unknown, Unknown]));
        assert_eq!(joined, brief(&[Proved, Unknown]));
        let joined = join(&brief(&[Unknown, Unknown]), &brief(&[Violated, Unknown]));
        assert_eq!(joined.exit_code, 1);
    }

    #[test]
    fn a_contradiction_is_no_answer() {
        let joined = join(&brief(&[Proved, Unknown]), &brief(&[Violated, Proved]));
        assert_eq!(joined.exit_code, UNKNOWN);
        assert!(joined.checks.is_empty());
        assert!(!joined.is_decided());
    }

    #[test]
    fn another_program_says_nothing_about_this_one() {
        let known = brief(&[Unknown]);
        assert_eq!(join(&known, &brief(&[Proved, Proved])), known);
        let mut other = brief(&[Proved]);
        other.checks[0].file = "b.c".to_owned();
        assert_eq!(join(&known, &other), known);
        let mut failed = brief(&[Proved]);
        failed.error = Some("it crashed".to_owned());
        assert_eq!(join(&known, &failed), known);
    }
}
