//! Claimed ranks and recurrent sets as users read them: in C, at the locations of the program as it
//! was written.

use hardbop_cfront::ids::{EdgeId, LocId};
use hardbop_engine::claim::{Component, Ranking, Recurrence};
use hardbop_logic::Terms;
use hardbop_model::Model;
use hardbop_semantics::constants::Spelling;

/// What falls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownRank {
    /// At this location of the program, ...
    pub at: LocId,
    /// ... in lexicographic order, in the manner of C.
    pub words: Vec<String>,
}

/// The ranks of a claim: of loops, and of functions that call themselves at their entries. What
/// only puts cut points in order is left out.
pub fn shown(model: &Model<'_>, claim: &Ranking) -> Vec<ShownRank> {
    let flat = &model.flat;
    let mut terms = Terms::new();
    let mut spelling = Spelling::new(&flat.semantics, &mut terms);
    let mut words = |components: &[Component]| -> Vec<String> {
        let read = components.iter().filter_map(|component| {
            // The gate has read it before.
            let term = spelling.read_term(&mut terms, &component.term).ok()?;
            let plain = terms.value_of(term).is_none();
            plain.then(|| in_c(&terms.infix(term).to_string()))
        });
        read.collect()
    };
    let mut found: Vec<ShownRank> = Vec::new();
    let mut add = |at: LocId, words: Vec<String>| {
        let rank = ShownRank { at, words };
        if !rank.words.is_empty() && !found.contains(&rank) {
            found.push(rank);
        }
    };
    for rank in &claim.ranks {
        add(
            model.inlined.locations[rank.at.index()],
            words(&rank.components),
        );
    }
    for rank in &claim.calls {
        let entry = flat.program.function(rank.function).entry;
        let at = model.inlined.locations[entry.index()];
        add(at, words(&rank.components));
    }
    found
}

/// A set of states that an execution need never leave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownSet {
    /// What holds where, in the manner of C.
    pub sets: Vec<(LocId, String)>,
    /// What the program is given by which edge.
    pub chosen: Vec<(EdgeId, String)>,
}

/// The set of a claim.
pub fn shown_set(model: &Model<'_>, claim: &Recurrence) -> ShownSet {
    let mut terms = Terms::new();
    let mut spelling = Spelling::new(&model.flat.semantics, &mut terms);
    let mut shown = ShownSet::default();
    for (at, text) in &claim.sets {
        // The gate has read it before.
        if let Ok(set) = spelling.read(&mut terms, text) {
            let at = model.inlined.locations[at.index()];
            shown.sets.push((at, in_c(&terms.infix(set).to_string())));
        }
    }
    for chosen in &claim.chosen {
        let edge = model.inlined.edges[chosen.edge.index()];
        if let (Some(edge), Ok(value)) = (edge, spelling.read_term(&mut terms, &chosen.value)) {
            let value = in_c(&terms.infix(value).to_string());
            if !shown.chosen.contains(&(edge, value.clone())) {
                shown.chosen.push((edge, value));
            }
        }
    }
    shown
}

/// The text without the widths of words and the functions of variables.
fn in_c(text: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '$' | '#' | '.');
    let mut plain = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix('(').and_then(width) {
            rest = after;
            continue;
        }
        let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        if end == 0 {
            plain.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        }
        let name = &rest[..end];
        let short = name.rsplit("::").next().unwrap_or(name);
        // Copies of a variable that inlining made have a number.
        let short = short.split('#').next().unwrap_or(short);
        rest = &rest[end..];
        // Parentheses that were around a conversion are around a name now.
        match (plain.strip_suffix("-("), rest.strip_prefix(')')) {
            (Some(before), Some(after)) => {
                plain = format!("{before}-{short}");
                rest = after;
            }
            _ => plain.push_str(short),
        }
    }
    plain
}

/// What comes after a width, as in `(s40) x`.
fn width(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['s', 'u'])?;
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < digits.len()).then_some(())?;
    rest.strip_prefix(") ")
}

#[cfg(test)]
mod tests {
    use super::in_c;

    #[test]
    fn ranks_read_like_c() {
        assert_eq!(in_c("(s40) main::n - (s40) main::i"), "n - i");
        assert_eq!(in_c("2 * (s72) f::x#7"), "2 * x");
        assert_eq!(in_c("-((u40) g)"), "-g");
        assert_eq!(in_c("(s + t) * 2"), "(s + t) * 2");
    }
}
