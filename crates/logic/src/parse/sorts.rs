//! Sorts, and the declarations of functions by them.

use super::{Names, ParseError, SExprs, fail, read_term};
use crate::sort::Sort;
use crate::term::{TermId, Terms};

/// Reads one term after the declarations of the functions in it, as
/// [`declared_text`](crate::declared_text) writes it.
pub fn parse_declared(
    terms: &mut Terms,
    names: &mut Names,
    text: &str,
) -> Result<TermId, ParseError> {
    let expressions = SExprs::read(text)?;
    let Some((&term, declarations)) = expressions.top.split_last() else {
        return fail("a term was expected");
    };
    for &declaration in declarations {
        let items = expressions.list(declaration).unwrap_or_default();
        let &[keyword, name, domain, range] = items else {
            return fail("a declaration of a function was expected");
        };
        let (Some("declare-fun"), Some(name), Some(domain)) = (
            expressions.atom(keyword),
            expressions.atom(name),
            expressions.list(domain),
        ) else {
            return fail("a declaration of a function was expected");
        };
        let mut sorts = Vec::new();
        for &sort in domain {
            sorts.push(read_sort(terms, &expressions, sort)?);
        }
        let range = read_sort(terms, &expressions, range)?;
        let function = terms.function(name, &sorts, range);
        names.functions.insert(name.to_owned(), function);
    }
    read_term(terms, names, &expressions, term)
}

/// Sorts nest no deeper than this: arrays of arrays are the most that anybody declares.
const SORT_DEPTH: usize = 8;

pub(super) fn read_sort(terms: &mut Terms, from: &SExprs, at: usize) -> Result<Sort, ParseError> {
    read_sort_within(terms, from, at, SORT_DEPTH)
}

fn read_sort_within(
    terms: &mut Terms,
    from: &SExprs,
    at: usize,
    depth: usize,
) -> Result<Sort, ParseError> {
    if let Some(name) = from.atom(at) {
        return match name {
            "Bool" => Ok(Sort::Bool),
            "Int" => Ok(Sort::Int),
            other => fail(format!("no sort is called {other}")),
        };
    }
    let items = from.list(at).unwrap_or_default();
    match (items.first().and_then(|&head| from.atom(head)), items.len()) {
        (Some("_"), 3) if from.atom(items[1]) == Some("BitVec") => {
            let width = from.number(items[2])?;
            if width == 0 {
                fail("a bit-vector without bits")
            } else {
                Ok(Sort::BitVec(width))
            }
        }
        (Some("Array"), 3) if depth > 0 => {
            let index = read_sort_within(terms, from, items[1], depth - 1)?;
            let element = read_sort_within(terms, from, items[2], depth - 1)?;
            Ok(terms.array_sort(index, element))
        }
        _ => fail("a sort was expected"),
    }
}
