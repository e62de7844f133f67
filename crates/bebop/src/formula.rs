//! Sets of states as small formulas that people can read.
//!
//! A formula is a conjunction: values that are fixed, pairs of variables that always agree or
//! always differ, and a remainder that falls into parts which share no variables. Each part is
//! written as a disjunction of cubes or as a conjunction of clauses, whichever is shorter. No
//! literal and no clause or cube can be left out, and what was written down is built again and
//! compared with the set: a formula that says anything else is not shown.

use crate::bdd::{Bdd, Cube, Literal, Manager, Var};
use hardbop_budget::Stopped;

/// A set of assignments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula<V> {
    /// The empty set.
    False,
    /// A conjunction; with no parts at all it is true.
    And {
        /// Variables with a fixed value.
        fixed: Vec<(V, bool)>,
        /// Pairs of variables: equal, or (with `false`) different.
        equal: Vec<(V, V, bool)>,
        /// What else must hold: parts that share no variables.
        rest: Vec<Rest<V>>,
    },
}

/// A part of the remainder of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest<V> {
    /// One of these conjunctions.
    AnyOf(Vec<Vec<(V, bool)>>),
    /// All of these disjunctions.
    AllOf(Vec<Vec<(V, bool)>>),
    /// A formula with too many parts to be worth printing.
    TooLong,
}

/// Formulas with more cubes than this are not written out.
const MOST_CUBES: usize = 4096;

/// Among more cubes than this nobody looks for one that can be left out.
const MOST_TRIED: usize = 256;

/// Writes a set over these variables as a formula.
pub(crate) fn formula(
    bdds: &mut Manager,
    set: Bdd,
    variables: &[Var],
) -> Result<Formula<Var>, Stopped> {
    if set.is_false() {
        return Ok(Formula::False);
    }
    let mut rest = set;
    let mut fixed = Vec::new();
    let mut open = Vec::new();
    let implied = bdds.implied(set);
    for &var in variables {
        match implied.iter().find(|(other, _)| *other == var) {
            Some(&literal) => fixed.push(literal),
            None => open.push(var),
        }
    }
    let known: Vec<Var> = fixed.iter().map(|&(var, _)| var).collect();
    let pass = bdds.pass(&known, &[]);
    rest = bdds.project(rest, pass)?;
    let mut equal = Vec::new();
    let support = bdds.support(rest);
    open.retain(|var| support.contains(var));
    let mut index = 0;
    while index < open.len() {
        let a = open[index];
        index += 1;
        let mut other = index;
        while other < open.len() {
            let b = open[other];
            let (x, y) = (bdds.literal(a, true)?, bdds.literal(b, true)?);
            let different = bdds.xor(x, y)?;
            let can_differ = bdds.intersects(rest, different)?;
            let same = bdds.not(different)?;
            if can_differ && bdds.intersects(rest, same)? {
                other += 1;
                continue;
            }
            equal.push((a, b, !can_differ));
            rest = without(bdds, rest, b)?;
            open.remove(other);
        }
    }
    let rest = remainder(bdds, rest)?;
    let all = conjunction(bdds, &fixed, &equal, &rest)?;
    let rest = match all {
        Some(all) if all != set => vec![Rest::TooLong],
        _ => rest,
    };
    Ok(Formula::And { fixed, equal, rest })
}

/// The set of what meets all of these; `None` if a part is too long to be written down.
fn conjunction(
    bdds: &mut Manager,
    fixed: &[(Var, bool)],
    equal: &[(Var, Var, bool)],
    rest: &[Rest<Var>],
) -> Result<Option<Bdd>, Stopped> {
    let mut all = bdds.cube(fixed)?;
    for &(a, b, same) in equal {
        let (a, b) = (bdds.literal(a, true)?, bdds.literal(b, same)?);
        let fits = bdds.iff(a, b)?;
        all = bdds.and(all, fits)?;
    }
    for part in rest {
        let part = match part {
            Rest::AnyOf(cubes) => union(bdds, cubes)?,
            Rest::AllOf(clauses) => all_of(bdds, clauses)?,
            Rest::TooLong => return Ok(None),
        };
        all = bdds.and(all, part)?;
    }
    Ok(Some(all))
}

fn union(bdds: &mut Manager, cubes: &[Literals]) -> Result<Bdd, Stopped> {
    let mut any = Bdd::FALSE;
    for cube in cubes {
        let cube = bdds.cube(cube)?;
        any = bdds.or(any, cube)?;
    }
    Ok(any)
}

fn all_of(bdds: &mut Manager, clauses: &[Literals]) -> Result<Bdd, Stopped> {
    let refuted: Vec<Literals> = clauses.iter().map(|clause| negated(clause)).collect();
    let none = union(bdds, &refuted)?;
    bdds.not(none)
}

/// Forgets a variable whose value was written down.
fn without(bdds: &mut Manager, set: Bdd, var: Var) -> Result<Bdd, Stopped> {
    let pass = bdds.pass(&[var], &[]);
    bdds.project(set, pass)
}

/// Literals of a cube or of a clause.
type Literals = Vec<(Var, bool)>;

/// The set as parts that share no variables.
fn remainder(bdds: &mut Manager, set: Bdd) -> Result<Vec<Rest<Var>>, Stopped> {
    if set.is_true() {
        return Ok(Vec::new());
    }
    let complement = bdds.not(set)?;
    let Some(refuted) = shortest(bdds, complement)? else {
        let cubes = shortest(bdds, set)?;
        return Ok(vec![cubes.map_or(Rest::TooLong, Rest::AnyOf)]);
    };
    let mut parts = Vec::new();
    for refuted in components(refuted) {
        let none = union(bdds, &refuted)?;
        let part = bdds.not(none)?;
        let cubes = shortest(bdds, part)?;
        let size = |lists: &[Literals]| -> usize { lists.iter().map(|list| list.len() + 1).sum() };
        parts.push(match cubes {
            Some(cubes) if size(&cubes) <= size(&refuted) => Rest::AnyOf(cubes),
            _ => Rest::AllOf(refuted.iter().map(|cube| negated(cube)).collect()),
        });
    }
    Ok(parts)
}

fn negated(literals: &[(Var, bool)]) -> Literals {
    literals.iter().map(|&(var, value)| (var, !value)).collect()
}

/// Cubes whose union is the set, none of which, nor a literal of them, can be left out; `None` if
/// they are too many.
fn shortest(bdds: &mut Manager, set: Bdd) -> Result<Option<Vec<Literals>>, Stopped> {
    let Some(cubes) = bdds.cubes(set, set, MOST_CUBES)? else {
        return Ok(None);
    };
    let pairs = |cube: Cube| -> Literals {
        let pair = |literal: Literal| (literal.var, literal.value);
        cube.into_iter().map(pair).collect()
    };
    let mut cubes: Vec<Literals> = cubes.into_iter().map(pairs).collect();
    if cubes.len() > MOST_TRIED {
        return Ok(Some(cubes));
    }
    // Without the literal a cube is larger; it may be, as long as it stays in the set.
    for cube in &mut cubes {
        let mut place = 0;
        while place < cube.len() {
            let mut larger = cube.clone();
            larger.remove(place);
            let covered = bdds.cube(&larger)?;
            match bdds.is_subset(covered, set)? {
                true => *cube = larger,
                false => place += 1,
            }
        }
    }
    let mut place = 0;
    while place < cubes.len() {
        let mut fewer = cubes.clone();
        fewer.remove(place);
        match union(bdds, &fewer)? == set {
            true => cubes = fewer,
            false => place += 1,
        }
    }
    Ok(Some(cubes))
}

/// Lists that share variables together, in the order in which they begin.
fn components(lists: Vec<Literals>) -> Vec<Vec<Literals>> {
    let mut components: Vec<Vec<Literals>> = Vec::new();
    for list in lists {
        let meets = |component: &Vec<Literals>| {
            let mut known = component.iter().flatten().map(|&(var, _)| var);
            known.any(|var| list.iter().any(|&(other, _)| other == var))
        };
        let mut joined = Vec::new();
        let mut first = components.len();
        let mut place = 0;
        while place < components.len() {
            if meets(&components[place]) {
                first = first.min(place);
                joined.append(&mut components.remove(place));
            } else {
                place += 1;
            }
        }
        joined.push(list);
        components.insert(first.min(components.len()), joined);
    }
    components
}

impl<V> Formula<V> {
    /// The same formula with other names.
    pub fn map<W>(self, name: impl Fn(V) -> W) -> Formula<W> {
        let cubes = |cubes: Vec<Vec<(V, bool)>>| -> Vec<Vec<(W, bool)>> {
            let cube = |cube: Vec<(V, bool)>| {
                cube.into_iter()
                    .map(|(var, value)| (name(var), value))
                    .collect()
            };
            cubes.into_iter().map(cube).collect()
        };
        match self {
            Formula::False => Formula::False,
            Formula::And { fixed, equal, rest } => Formula::And {
                fixed: fixed
                    .into_iter()
                    .map(|(var, value)| (name(var), value))
                    .collect(),
                equal: equal
                    .into_iter()
                    .map(|(a, b, same)| (name(a), name(b), same))
                    .collect(),
                rest: rest
                    .into_iter()
                    .map(|part| match part {
                        Rest::AnyOf(all) => Rest::AnyOf(cubes(all)),
                        Rest::AllOf(all) => Rest::AllOf(cubes(all)),
                        Rest::TooLong => Rest::TooLong,
                    })
                    .collect(),
            },
        }
    }
}

impl<V: std::fmt::Display> std::fmt::Display for Formula<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Formula::And { fixed, equal, rest } = self else {
            return f.write_str("false");
        };
        let literal = |(var, value): &(V, bool)| {
            if *value {
                var.to_string()
            } else {
                format!("!{var}")
            }
        };
        let mut parts: Vec<String> = fixed.iter().map(literal).collect();
        parts.extend(equal.iter().map(|(a, b, same)| {
            if *same {
                format!("{a} = {b}")
            } else {
                format!("{a} != {b}")
            }
        }));
        let joined = |cube: &Vec<(V, bool)>, sign: &str| {
            cube.iter().map(literal).collect::<Vec<_>>().join(sign)
        };
        let conjuncts = rest.iter().map(|part| match part {
            Rest::AllOf(clauses) => clauses.len(),
            Rest::AnyOf(_) | Rest::TooLong => 1,
        });
        let several = parts.len() + conjuncts.sum::<usize>() > 1;
        let bracketed = |text: String, one: bool| match several && !one {
            true => format!("({text})"),
            false => text,
        };
        for part in rest {
            match part {
                Rest::TooLong => parts.push("...".to_string()),
                Rest::AllOf(clauses) => parts.extend(
                    clauses
                        .iter()
                        .map(|clause| bracketed(joined(clause, " | "), clause.len() == 1)),
                ),
                Rest::AnyOf(cubes) => {
                    let texts: Vec<String> = cubes.iter().map(|cube| joined(cube, " & ")).collect();
                    parts.push(bracketed(texts.join(" | "), cubes.len() == 1));
                }
            }
        }
        if parts.is_empty() {
            f.write_str("true")
        } else {
            f.write_str(&parts.join(" & "))
        }
    }
}
