//! Several paths one after the other as one path: what a loop does in a whole period.

use crate::graph::{Graph, Path, PathId, Unknown};
use hardbop_logic::{TermId, Terms};
use hardbop_semantics::{Semantics, State};
use std::collections::BTreeMap;

/// The paths one after the other; each must start where the one before it ends. What they leave
/// open is left open under new names, in the order in which it is met.
pub fn composed(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    graph: &Graph,
    paths: &[PathId],
) -> Option<Path> {
    let (&first, &last) = (paths.first()?, paths.last()?);
    let mut moves = Vec::new();
    let mut conditions = Vec::new();
    let mut state = State::new();
    let mut now: BTreeMap<TermId, TermId> = BTreeMap::new();
    let mut unknowns: Vec<Unknown> = Vec::new();
    let mut exact = true;
    for &id in paths {
        let path = graph.path(id);
        let mut map = now.clone();
        for unknown in &path.unknowns {
            let met = unknowns.iter().filter(|other| other.edge == unknown.edge);
            let occurrence = met.count();
            let sort = terms.sort(unknown.symbol);
            let symbol = terms.fresh("open", sort);
            map.insert(unknown.symbol, symbol);
            unknowns.push(Unknown {
                symbol,
                occurrence,
                ..unknown.clone()
            });
        }
        conditions.push(terms.substitute(path.condition, &map));
        for (id, value) in path.state.written() {
            let value = terms.substitute(value, &map);
            state.set(id, value);
            now.insert(semantics.constant(terms, id), value);
        }
        moves.extend(&path.moves);
        exact &= path.exact;
    }
    Some(Path {
        from: graph.path(first).from,
        to: graph.path(last).to,
        moves,
        condition: terms.and(&conditions),
        state,
        unknowns,
        exact,
    })
}
