//! Smallest unsatisfiable subsets, by implicit hitting sets.
//!
//! Every unsatisfiable subset hits every *correction set*, the rest of a satisfiable subset. So
//! the smallest set that hits the correction sets found so far is no larger than the smallest
//! unsatisfiable subset: if it is unsatisfiable itself, it is one; if not, it grows to a
//! satisfiable set with a new correction set.

/// What is known of a subset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Satisfiable, or not known to be unsatisfiable.
    Open,
    /// These members alone are unsatisfiable.
    Unsatisfiable(Vec<usize>),
}

/// How small a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Minimality {
    /// No unsatisfiable subset is smaller.
    Smallest,
    /// No member can be left out, as far as was asked.
    Minimal,
}

/// Makes an unsatisfiable set small. `ask` answers for a subset; at most about `questions` are
/// asked.
pub(crate) fn smallest(
    known: Vec<usize>,
    all: &[usize],
    mut questions: usize,
    ask: &mut dyn FnMut(&[usize]) -> Verdict,
) -> (Vec<usize>, Minimality) {
    let minimal = minimal(known, &mut questions, ask);
    if minimal.len() <= 1 {
        return (minimal, Minimality::Smallest);
    }
    let mut corrections: Vec<Vec<usize>> = Vec::new();
    loop {
        let Some(hitting) = hitting_set(&corrections, minimal.len()) else {
            // Nothing smaller hits them all.
            return (minimal, Minimality::Smallest);
        };
        if questions == 0 {
            return (minimal, Minimality::Minimal);
        }
        questions -= 1;
        let mut grown = hitting;
        match ask(&grown) {
            Verdict::Unsatisfiable(_) => return (grown, Minimality::Smallest),
            Verdict::Open => {}
        }
        for &member in all {
            if grown.contains(&member) {
                continue;
            }
            if questions == 0 {
                return (minimal, Minimality::Minimal);
            }
            questions -= 1;
            grown.push(member);
            if let Verdict::Unsatisfiable(_) = ask(&grown) {
                grown.pop();
            }
        }
        let rest: Vec<usize> = all.iter().copied().filter(|m| !grown.contains(m)).collect();
        if rest.is_empty() {
            // The whole is not known to be unsatisfiable: a question was left open.
            return (minimal, Minimality::Minimal);
        }
        corrections.push(rest);
    }
}

/// Leaves out one member after the other.
fn minimal(
    mut set: Vec<usize>,
    questions: &mut usize,
    ask: &mut dyn FnMut(&[usize]) -> Verdict,
) -> Vec<usize> {
    let mut at = 0;
    while at < set.len() && *questions > 0 {
        *questions -= 1;
        let mut without = set.clone();
        without.remove(at);
        match ask(&without) {
            // What was kept before is kept again: each of it is indispensable.
            Verdict::Unsatisfiable(core) => set.retain(|m| core.contains(m)),
            Verdict::Open => at += 1,
        }
    }
    set
}

/// A smallest set with fewer than `below` members that hits every given set.
fn hitting_set(sets: &[Vec<usize>], below: usize) -> Option<Vec<usize>> {
    (0..below).find_map(|size| {
        let mut chosen = Vec::with_capacity(size);
        hits(sets, size, &mut chosen).then_some(chosen)
    })
}

fn hits(sets: &[Vec<usize>], left: usize, chosen: &mut Vec<usize>) -> bool {
    let missed = sets
        .iter()
        .find(|set| !set.iter().any(|m| chosen.contains(m)));
    let Some(missed) = missed else {
        return true;
    };
    if left == 0 {
        return false;
    }
    missed.iter().any(|&member| {
        chosen.push(member);
        let found = hits(sets, left - 1, chosen);
        if !found {
            chosen.pop();
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(all: &[usize], cores: &[&[usize]], expected: &[usize]) {
        let mut ask = |set: &[usize]| {
            cores
                .iter()
                .find(|core| core.iter().all(|m| set.contains(m)))
                .map_or(Verdict::Open, |core| Verdict::Unsatisfiable(core.to_vec()))
        };
        let (mut found, how) = smallest(all.to_vec(), all, 10_000, &mut ask);
        found.sort_unstable();
        assert_eq!((found.as_slice(), how), (expected, Minimality::Smallest));
    }

    #[test]
    fn finds_the_smallest_of_several() {
        check(&[0, 1, 2, 3, 4], &[&[0, 1, 2], &[3, 4]], &[3, 4]);
        check(
            &[0, 1, 2, 3, 4],
            &[&[2, 3, 4], &[0, 1, 2, 3], &[0, 4]],
            &[0, 4],
        );
        check(&[0, 1, 2], &[&[1]], &[1]);
        check(
            &[0, 1, 2, 3, 4, 5],
            &[&[0, 1, 2, 3], &[0, 4, 5], &[1, 4, 5, 3]],
            &[0, 4, 5],
        );
    }

    #[test]
    fn without_questions_left_the_known_set_stays() {
        let (found, how) = smallest(vec![0, 1, 2], &[0, 1, 2], 0, &mut |_| Verdict::Open);
        assert_eq!((found, how), (vec![0, 1, 2], Minimality::Minimal));
    }
}
