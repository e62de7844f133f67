//! No recursion over what a user writes: its depth is the user's, our stack is not.
//!
//! Calls are known by their names, within a crate: `f(…)`, `self.f(…)`, `Self::f(…)`,
//! `Type::f(…)`, `module::f(…)`. What another value's method calls is not seen. Functions that can
//! come back to themselves must be on the list, each with the reason why that is safe.

use crate::source::{Function, is_word, sources};
use hardbop_graph::cycles;
use std::collections::{BTreeMap, BTreeSet};

/// Functions that may come back to themselves: the file (or folder), their names (all if there are
/// none), and why the stack holds.
const MAY_RECURSE: &[(&str, &[&str], &str)] = &[
    (
        "bebop/src/bdd/",
        &[],
        "as deep as there are levels; every operation grows the stack by as much (`stacker`)",
    ),
    (
        "boolean-program/src/generate/arbitrary.rs",
        &[],
        "as deep as the generator is told to nest",
    ),
    (
        "c-text/src/parser.rs",
        &[],
        "has a limit on nesting, which is an error with a place",
    ),
    (
        "c-text/src/print.rs",
        &["binary", "expr", "index", "place", "unary", "with_constant"],
        "prints what the parser with its limit has read",
    ),
    (
        "cfront/src/lower/",
        &[],
        "nesting is limited before the parser (`parse/limits.rs`), and units are lowered on a stack for it (`load.rs`)",
    ),
    (
        "cfront/src/builder.rs",
        &["compatible", "compatible_functions"],
        "as deep as a type is written; on the stack of `load.rs`",
    ),
    (
        "cfront/src/conventions/ends.rs",
        &["place", "room"],
        "as deep as an expression is written; on the stack of `load.rs`",
    ),
    (
        "cfront/src/dump.rs",
        &["write_expr", "write_place"],
        "stops at a depth and prints dots",
    ),
    (
        "cfront/src/dump/types.rs",
        &["declare", "type_name"],
        "as deep as a type is written, which the parser limits",
    ),
    (
        "cfront/src/entry/objects.rs",
        &["contents", "holds_pointers", "member", "object", "pointer"],
        "as deep as records are written inside of records, which the parser limits; pointers are followed twice",
    ),
    (
        "cfront/src/fold.rs",
        &["convert"],
        "once more, for the conversion under a conversion",
    ),
    (
        "cfront/src/points_to/nodes.rs",
        &["collapse", "settle"],
        "a class that is collapsed once does not collapse again, and what is to be done waits in a list",
    ),
    (
        "cfront/src/points_to/solver.rs",
        &["blurred", "place", "value"],
        "the table of expressions is gone through in its order, operands first, and what is known is kept",
    ),
    (
        "cfront/src/points_to/solver.rs",
        &["declare_arrays", "outside"],
        "as deep as types are written; each once",
    ),
    (
        "cfront/src/types.rs",
        &["size_of"],
        "as deep as a type is written",
    ),
    (
        "dpr/src/smus.rs",
        &["hits"],
        "as deep as the set that is looked for is large; sizes are tried from 1 on",
    ),
    (
        "facts/src/",
        &[],
        "expressions are looked at to a depth, which is handed on (`eval.rs`); a comparison is turned round once",
    ),
    (
        "hardbop/src/commands/results.rs",
        &["paint"],
        "the trait's function calls the type's own",
    ),
    (
        "logic/src/algebra.rs",
        &["refuted"],
        "as deep as cases are told apart, which are few (`CASES`)",
    ),
    (
        "logic/src/algebra/polynomial.rs",
        &["read"],
        "has a limit on nesting, below which everything is an atom",
    ),
    (
        "logic/src/relative.rs",
        &["over_sides"],
        "as often as choices are taken to their sides, which is counted (`SIDES`)",
    ),
    (
        "logic/src/parse/sorts.rs",
        &["read_sort_within"],
        "has a limit on nesting, which is an error",
    ),
    (
        "logic/src/simplify/",
        &[],
        "a rule goes to an operand only where it takes a layer off; terms are built bottom up",
    ),
    (
        "logic/src/smtlib.rs",
        &["sort_text"],
        "sorts nest as deep as we declared them",
    ),
    (
        "logic/src/solver/z3.rs",
        &["literal_value", "sort"],
        "sorts nest as deep as we declared them",
    ),
    (
        "logic/src/value.rs",
        &["default_of"],
        "sorts nest as deep as we declared them",
    ),
    (
        "newton/src/exact.rs",
        &["boolean", "formula", "number", "number_here"],
        "grows the stack (`stacker`)",
    ),
    (
        "pdr/src/search.rs",
        &["generalise", "without_states"],
        "two levels: states that stand in the way of a clause are generalised without others (`Depth`)",
    ),
    (
        "rules/src/",
        &[],
        "the parser has a limit on nesting, which is an error with a place",
    ),
    (
        "semantics/src/exec/ownership.rs",
        &[],
        "by way of `expr.rs`, and grows the stack itself (`stacker`)",
    ),
    (
        "semantics/src/exec/sizes.rs",
        &[],
        "by way of `expr.rs`, which grows the stack",
    ),
    ("semantics/src/expr.rs", &[], "grows the stack (`stacker`)"),
    (
        "semantics/src/memory.rs",
        &[],
        "by way of `expr.rs`, which grows the stack",
    ),
];

struct Place {
    path: String,
    function: Function,
}

#[test]
fn recursion_has_its_reasons() {
    let mut crates: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for file in sources() {
        let places = crates.entry(file.krate.clone()).or_default();
        places.extend(file.functions().into_iter().map(|function| Place {
            path: file.path.clone(),
            function,
        }));
    }
    let mut found: BTreeSet<(String, String)> = BTreeSet::new();
    for places in crates.values() {
        let calls: Vec<Vec<usize>> = places.iter().map(|place| calls(places, place)).collect();
        for (place, cycle) in places.iter().zip(cycles(&calls)) {
            if cycle.is_some() {
                found.insert((place.path.clone(), place.function.name.clone()));
            }
        }
    }
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for (path, name) in &found {
        let reason = MAY_RECURSE.iter().position(|(prefix, names, _)| {
            path.starts_with(prefix) && (names.is_empty() || names.contains(&name.as_str()))
        });
        match reason {
            Some(reason) => _ = used.insert(reason),
            None => wrong.push(format!("{path}: {name}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "recursion without a reason:\n{}",
        wrong.join("\n")
    );
    for (index, (path, names, _)) in MAY_RECURSE.iter().enumerate() {
        assert!(
            used.contains(&index),
            "nothing of {names:?} in {path} recurses any more: take it off the list"
        );
    }
}

/// The functions of a crate that one of them may call.
fn calls(places: &[Place], caller: &Place) -> Vec<usize> {
    let body = &caller.function.body;
    let all: Vec<(usize, &Place)> = places.iter().enumerate().collect();
    // Names that the body gives to closures of its own.
    let bound: BTreeSet<&str> = body
        .windows(3)
        .filter(|words| words[0] == "let")
        .map(|words| words[1 + usize::from(words[1] == "mut")].as_str())
        .collect();
    let mut out = BTreeSet::new();
    for at in 1..body.len() {
        let name = &body[at];
        if !is_word(name) || !is_called(body, at) || body[at - 1] == "fn" {
            continue;
        }
        let before = |n: usize| at.checked_sub(n).map_or("", |at| body[at].as_str());
        let owner = caller.function.owner.as_str();
        let named = |place: &&(usize, &Place)| place.1.function.name == *name;
        let owned = |ty: &str| -> Vec<usize> {
            let found = all.iter().filter(named);
            let of: Vec<_> = found
                .filter(|(_, place)| place.function.owner == ty)
                .collect();
            // Two types of one crate may have one name; the nearer one is meant.
            let near = |&&&(_, place): &&&(usize, &Place)| place.path == caller.path;
            let here: Vec<usize> = of.iter().filter(near).map(|(index, _)| *index).collect();
            match here.is_empty() {
                true => of.iter().map(|(index, _)| *index).collect(),
                false => here,
            }
        };
        match (before(1), before(2)) {
            (".", "self") if before(3) != "." => out.extend(owned(owner)),
            (".", _) => {}
            (_, _) if bound.contains(name.as_str()) => {}
            ("::", "Self") => out.extend(owned(owner)),
            ("::", ty) if ty.starts_with(char::is_uppercase) => out.extend(owned(ty)),
            ("::", module) => {
                let found = all.iter().filter(named);
                let inside = found.filter(|(_, place)| {
                    let path = place.path.trim_end_matches(".rs").trim_end_matches("/mod");
                    place.function.owner.is_empty() && path.ends_with(&format!("/{module}"))
                });
                out.extend(inside.map(|(index, _)| *index));
            }
            _ => {
                let free: Vec<&(usize, &Place)> = all
                    .iter()
                    .filter(named)
                    .filter(|(_, place)| place.function.owner.is_empty())
                    .collect();
                let here = free.iter().filter(|(_, place)| place.path == caller.path);
                let here: Vec<usize> = here.map(|(index, _)| *index).collect();
                match (&here[..], &free[..]) {
                    ([], [(only, _)]) => out.extend([*only]),
                    _ => out.extend(here),
                }
            }
        }
    }
    out.into_iter().collect()
}

/// Whether the name at a position is followed by arguments, perhaps behind types.
fn is_called(body: &[String], at: usize) -> bool {
    let mut next = at + 1;
    if body.get(next).is_some_and(|t| t == "::") && body.get(next + 1).is_some_and(|t| t == "<") {
        let mut depth = 0;
        next += 1;
        while next < body.len() {
            match body[next].as_str() {
                "<" => depth += 1,
                ">" => depth -= 1,
                _ => {}
            }
            next += 1;
            if depth == 0 {
                break;
            }
        }
    }
    body.get(next).is_some_and(|token| token == "(")
}
