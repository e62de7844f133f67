//! The paper's two families of programs (section 4), and one more, as C text.

use std::fmt::Write;

/// A generator of random numbers (SplitMix64), so that a seed always gives the same program.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

const HEADER: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
";

/// Randomised MAX-3SAT: every variable is set by a coin, then the clauses of a random formula are
/// looked at one after the other up to the first that is not satisfied, whose number is the
/// result. The error is that all are satisfied. With as many clauses as the paper has, about
/// forty for each variable, a random formula is practically never satisfiable.
pub fn max_3sat(variables: u32, clauses: u32, seed: u64) -> String {
    let variables = variables.max(3);
    let mut random = Random(seed);
    let mut out = String::from(HEADER);
    out.push_str("int main(void) {\n");
    for x in 0..variables {
        let _ = writeln!(out, "    int x{x};");
    }
    for x in 0..variables {
        let _ = writeln!(
            out,
            "    if (__VERIFIER_nondet_int()) x{x} = 1; else x{x} = 0;"
        );
    }
    for clause in 1..=clauses {
        let mut chosen: Vec<u32> = Vec::new();
        while chosen.len() < 3 {
            let x = random.below(u64::from(variables)) as u32;
            if !chosen.contains(&x) {
                chosen.push(x);
            }
        }
        let literals: Vec<String> = chosen
            .iter()
            .map(|x| format!("{}x{x}", if random.below(2) == 1 { "" } else { "!" }))
            .collect();
        let _ = writeln!(
            out,
            "    if (!({})) return {clause};",
            literals.join(" || ")
        );
    }
    out.push_str("    reach_error();\n    return 0;\n}\n");
    out
}

/// A nondeterministic automaton for floating-point literals, `[+]?[0-9]+\.[0-9]+`, run on one
/// text. For every character a guess is made first; the error is that the automaton accepts.
///
/// States: 0 start, 1 after the sign, 2 among the digits before the point, 3 after the last of
/// them, 4 after the point, 5 among the digits after it, 6 after the last of them (accepting).
/// The guess says whether a digit is the last of its group. An automaton that cannot go on ends.
pub fn nfa(text: &str) -> String {
    let mut out = String::from(HEADER);
    out.push_str("int main(void) {\n    int state = 0;\n");
    for at in 0..text.chars().count() {
        let _ = writeln!(out, "    int g{at};");
        let _ = writeln!(
            out,
            "    if (__VERIFIER_nondet_int()) g{at} = 1; else g{at} = 0;"
        );
    }
    for (at, character) in text.chars().enumerate() {
        let _ = match character {
            '+' => writeln!(out, "    if (state == 0) state = 1; else return 1;"),
            '0'..='9' => writeln!(
                out,
                "    if (state == 0 || state == 1 || state == 2) {{\n        \
                 if (g{at}) state = 2; else state = 3;\n    \
                 }} else if (state == 4 || state == 5) {{\n        \
                 if (g{at}) state = 5; else state = 6;\n    }} else return 1;"
            ),
            '.' => writeln!(out, "    if (state == 3) state = 4; else return 1;"),
            _ => writeln!(out, "    return 1;"),
        };
    }
    out.push_str("    if (state == 6) reach_error();\n    return 0;\n}\n");
    out
}

/// Locks in a loop: each is taken and given back if its own choice says so, and that it is held
/// when it is given back is checked. Every error depends on another choice, so no clause about all
/// errors can leave a choice out. With `forgotten`, that lock is not taken.
pub fn locks(count: u32, forgotten: Option<u32>) -> String {
    let mut out = String::from(HEADER);
    out.push_str("int main(void) {\n");
    for lock in 0..count {
        let _ = writeln!(
            out,
            "    int want{lock} = __VERIFIER_nondet_int(), held{lock};"
        );
    }
    out.push_str("    while (__VERIFIER_nondet_int()) {\n");
    for lock in 0..count {
        let _ = writeln!(out, "        held{lock} = 0;");
    }
    for lock in 0..count {
        let taken = i32::from(forgotten != Some(lock));
        let _ = writeln!(out, "        if (want{lock}) held{lock} = {taken};");
    }
    for lock in 0..count {
        let _ = writeln!(
            out,
            "        if (want{lock}) {{\n            if (held{lock} != 1) reach_error();\n            held{lock} = 0;\n        }}"
        );
    }
    out.push_str("    }\n    return 0;\n}\n");
    out
}

/// A floating-point literal of a length, valid or with one fault.
pub fn sentence(length: usize, validity: Validity) -> String {
    let length = length.max(4);
    let mut text: String = "+".to_owned();
    let before = (length - 2) / 2;
    for at in 0..before {
        text.push(char::from(b'0' + (at * 7 % 10) as u8));
    }
    text.push('.');
    while text.len() < length {
        text.push(char::from(b'0' + (text.len() * 3 % 10) as u8));
    }
    match validity {
        Validity::Valid => text,
        // A second point.
        Validity::Invalid => {
            let at = text.len() - 2;
            text.replace_range(at..=at, ".");
            text
        }
    }
}

/// Whether a text is a floating-point literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// It is.
    Valid,
    /// It is not.
    Invalid,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_have_their_length() {
        assert_eq!(sentence(9, Validity::Valid), "+074.5814");
        assert_eq!(sentence(9, Validity::Invalid), "+074.58.4");
        assert_eq!(sentence(40, Validity::Invalid).len(), 40);
    }

    #[test]
    fn a_seed_gives_one_formula() {
        let text = max_3sat(5, 20, 7);
        assert_eq!(text, max_3sat(5, 20, 7));
        assert_ne!(text, max_3sat(5, 20, 8));
        assert_eq!(text.matches("return").count(), 21);
        assert_eq!(text.matches("__VERIFIER_nondet_int()").count(), 5);
    }
}
