//! Claimed invariants as users read them: by the locations of the program as it was written.

use crate::quantified;
use hardbop_cfront::ids::LocId;
use hardbop_engine::claim::Ghosts;
use hardbop_engine::{Task, claim};
use hardbop_logic::{Op, Sort, TermId, Terms};
use hardbop_model::Model;
use hardbop_semantics::Semantics;
use hardbop_semantics::c_terms::{Frame, Scope, Words, c_text};
use hardbop_semantics::constants::{Constants, Spelling};
use std::collections::{BTreeMap, BTreeSet};

/// An invariant of a location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invariant {
    /// As text.
    pub formula: String,
    /// What can be said of the variables alone, in C; it may say less than the invariant.
    pub plain: Option<String>,
    /// All of it in C, with `old(x)` for values at the procedure's entry and `$return` for its
    /// result.
    pub contract: Option<String>,
}

/// Invariants of the prepared program as invariants of the program itself; `None` if there is no time
/// to prepare it as the claim wants it.
pub fn invariants(
    task: &Task<'_>,
    claim: &claim::Invariants,
) -> Option<BTreeMap<LocId, Invariant>> {
    if claim.is_usual() {
        return Some(of_model(task.model, claim));
    }
    let (program, points_to) = (task.model.program, task.model.plain.points_to);
    let form = claim.form(program, points_to, task.budget).ok()?;
    Some(of_model(&form.model(program), claim))
}

/// What is said of a location is said of all copies of it that inlining made.
fn of_model(model: &Model<'_>, claim: &claim::Invariants) -> BTreeMap<LocId, Invariant> {
    let mut terms = Terms::new();
    let semantics = match claim.ghosts {
        Ghosts::Nothing => model.flat.semantics.clone(),
        Ghosts::Births => model.flat.semantics.with_births(),
    };
    let constants = Constants::new(&semantics, &mut terms);
    let mut spelling = Spelling::new(&semantics, &mut terms);
    let words = spelling.arbitrary(&mut terms, &claim.arbitrary);
    let words = words.unwrap_or_default();
    let mut copies: BTreeMap<LocId, Vec<(LocId, TermId)>> = BTreeMap::new();
    for (&location, text) in &claim.at {
        // The gate has read it before.
        let Ok(formula) = spelling.read(&mut terms, text) else {
            continue;
        };
        let here = model.inlined.locations[location.index()];
        copies.entry(here).or_default().push((location, formula));
    }
    let mut shown = BTreeMap::new();
    for (location, copies) in copies {
        let mut texts: Vec<String> = Vec::new();
        for &(_, formula) in &copies {
            let formula = in_scope(model, &mut terms, location, formula);
            let text = quantified::text(&semantics, &constants, &mut terms, &words, formula);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let (plain, contract) = in_c(model, &semantics, &constants, &terms, location, &copies);
        let invariant = Invariant {
            // One of the invariants of its copies holds wherever a location was inlined.
            formula: texts.join(" || "),
            plain,
            contract,
        };
        shown.insert(location, invariant);
    }
    shown
}

/// A formula with the variables of the function that it is about called by their own names, where
/// only one of that name is spoken of.
fn in_scope(model: &Model<'_>, terms: &mut Terms, location: LocId, formula: TermId) -> TermId {
    let program = model.program;
    let function = program.locations[location.index()].function;
    let prefix = format!("{}::", program.function(function).name);
    let mut named: BTreeMap<String, Vec<TermId>> = BTreeMap::new();
    for constant in terms.free_constants(&[formula]) {
        // Memory keeps its name: elements of it are called by other ones.
        if let (Op::Constant(symbol), Sort::BitVec(_)) = (terms.op(constant), terms.sort(constant))
            && let Some(own) = terms.symbol_name(*symbol).strip_prefix(&prefix)
        {
            // Of variables of one name, later ones have a number.
            let (name, rest) = match own.split_once('#') {
                Some((name, rest)) => (name, rest.trim_start_matches(|c: char| c.is_ascii_digit())),
                None => (own, ""),
            };
            named
                .entry(format!("{name}{rest}"))
                .or_default()
                .push(constant);
        }
    }
    let mut map = BTreeMap::new();
    for (name, constants) in named {
        if let [constant] = constants[..] {
            let sort = terms.sort(constant);
            map.insert(constant, terms.constant(&name, sort));
        }
    }
    terms.substitute(formula, &map)
}

/// What two claims say together: where one of them says that control never comes, it does not.
pub fn both(
    one: BTreeMap<LocId, Invariant>,
    other: &BTreeMap<LocId, Invariant>,
) -> BTreeMap<LocId, Invariant> {
    let mut both = BTreeMap::new();
    for (location, a) in one {
        let Some(b) = other.get(&location) else {
            continue;
        };
        let invariant = Invariant {
            formula: conjunction(&a.formula, &b.formula, "true"),
            // What one of them leaves out may be left out.
            plain: match (a.plain, &b.plain) {
                (Some(a), Some(b)) => Some(conjunction(&a, b, "1")),
                (a, b) => a.or_else(|| b.clone()),
            },
            contract: match (a.contract, &b.contract) {
                (Some(a), Some(b)) => Some(conjunction(&a, b, "1")),
                _ => None,
            },
        };
        both.insert(location, invariant);
    }
    both
}

/// Both texts; `always` is how they say nothing.
fn conjunction(a: &str, b: &str, always: &str) -> String {
    if a == b || b == always {
        a.to_owned()
    } else if a == always {
        b.to_owned()
    } else {
        format!("({a}) && ({b})")
    }
}

/// The invariants of all copies of a location as C expressions: plain, and as a contract.
fn in_c(
    model: &Model<'_>,
    semantics: &Semantics<'_>,
    constants: &Constants,
    terms: &Terms,
    location: LocId,
    copies: &[(LocId, TermId)],
) -> (Option<String>, Option<String>) {
    let (original, flat) = (model.program, &model.flat);
    let function = original.locations[location.index()].function;
    let is_own = |at: LocId| flat.program.locations[at.index()].function == function;
    let own = copies.len() == 1 && copies.iter().all(|&(at, _)| is_own(at));
    let scope = Scope {
        function,
        frame: if own { Frame::Own } else { Frame::Caller },
        variables: original.variables.len(),
    };
    let text = |words| {
        let one = |&(_, formula): &(LocId, TermId)| {
            c_text(semantics, constants, terms, scope, formula, words)
        };
        let texts: Option<BTreeSet<String>> = copies.iter().map(one).collect();
        let texts: Vec<String> = texts?.into_iter().collect();
        match texts.as_slice() {
            [one] => Some(one.clone()),
            many => Some(format!("({})", many.join(") || ("))),
        }
    };
    let plain = text(Words::Plain);
    let contract = if !own {
        // Values at the entry are those of another function's entry here.
        plain.clone()
    } else if location == original.function(function).entry {
        text(Words::Entry)
    } else {
        text(Words::Contract)
    };
    (plain, contract)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_proofs_say_together_what_each_says() {
        let proof = |at: &[(u32, &str)]| -> BTreeMap<LocId, Invariant> {
            let invariant = |text: &str| Invariant {
                formula: text.to_owned(),
                ..Invariant::default()
            };
            at.iter()
                .map(|&(l, text)| (LocId(l), invariant(text)))
                .collect()
        };
        let first = proof(&[(1, "x == 0"), (2, "true"), (3, "y"), (4, "z")]);
        let second = proof(&[(1, "y < 2"), (2, "x == 1"), (3, "y")]);
        let both = both(first, &second).into_values();
        let texts: Vec<String> = both.map(|invariant| invariant.formula).collect();
        assert_eq!(texts, ["(x == 0) && (y < 2)", "x == 1", "y"]);
    }
}
