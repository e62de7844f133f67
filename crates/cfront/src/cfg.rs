//! The graph of a function: shortened, and laid out as part of the program.

use crate::builder::{Body, DraftEdge};
use crate::ids::{FuncId, LocId};
use crate::program::*;

/// Takes out the edges that do nothing, where no label and no loop head is lost, and the
/// locations that cannot be reached.
pub(crate) fn shorten(body: &mut Body) {
    pass_over(body, |_| true);
    let count = body.locations.len();
    let mut out = leaving(body);
    // A loop head or label with one empty step takes over the edges behind it.
    let mut arrivals = vec![0u32; count];
    for edge in &body.edges {
        arrivals[edge.to as usize] += 1;
    }
    arrivals[body.entry as usize] += 1;
    for at in 0..count {
        while let [only] = out[at][..] {
            let (to, empty) = {
                let edge = &body.edges[only as usize];
                (edge.to as usize, edge.op == Op::Skip)
            };
            let target = &body.locations[to];
            let takes = empty
                && to != at
                && arrivals[to] == 1
                && target.kind == LocationKind::Plain
                && target.labels.is_empty();
            if !takes {
                break;
            }
            let edges = std::mem::take(&mut out[to]);
            for &edge in &edges {
                body.edges[edge as usize].from = at as u32;
            }
            out[at] = edges;
            // The empty edge leaves a location that nothing reaches any more.
            body.edges[only as usize].from = to as u32;
            body.edges[only as usize].to = to as u32;
        }
    }
}

/// The edges that leave every location, by their positions.
fn leaving(body: &Body) -> Vec<Vec<u32>> {
    let mut out: Vec<Vec<u32>> = vec![Vec::new(); body.locations.len()];
    for (i, edge) in body.edges.iter().enumerate() {
        out[edge.from as usize].push(i as u32);
    }
    out
}

/// Leads past the locations that only do an empty step, if it may go: the question is asked of
/// the step's position. What is passed over is not reached any more.
pub(crate) fn pass_over(body: &mut Body, may_go: impl Fn(usize) -> bool) {
    let count = body.locations.len();
    let out = leaving(body);
    let passes = |body: &Body, at: u32| -> Option<u32> {
        let location = &body.locations[at as usize];
        let [only] = out[at as usize][..] else {
            return None;
        };
        let edge = &body.edges[only as usize];
        let plain = location.kind == LocationKind::Plain && location.labels.is_empty();
        let empty = edge.op == Op::Skip && edge.to != at && may_go(only as usize);
        (plain && empty).then_some(edge.to)
    };
    // Follow the empty steps from each location, and remember where they lead.
    let mut leads: Vec<Option<u32>> = vec![None; count];
    for start in 0..count as u32 {
        let mut path = Vec::new();
        let mut at = start;
        while leads[at as usize].is_none() {
            // A cycle of empty steps leads to itself.
            leads[at as usize] = Some(at);
            match passes(body, at) {
                Some(next) => path.push((at, next)),
                None => break,
            }
            at = path[path.len() - 1].1;
        }
        let end = leads[at as usize].unwrap_or(at);
        for (at, _) in path {
            leads[at as usize] = Some(end);
        }
    }
    let lead = |at: u32| leads[at as usize].unwrap_or(at);
    for edge in &mut body.edges {
        edge.to = lead(edge.to);
    }
    // The entry stays a location of its own if a loop comes back to where it leads.
    let to = lead(body.entry);
    if body.locations[to as usize].kind == LocationKind::Plain {
        body.entry = to;
    }
}

/// Numbers the locations that can be reached, from the entry on, and adds them to the program.
pub(crate) fn lay_out(
    function: FuncId,
    body: Body,
    program: &mut Program,
) -> (std::ops::Range<u32>, LocId, LocId) {
    let count = body.locations.len();
    let out = leaving(&body);
    let mut order = Vec::new();
    let mut seen = vec![false; count];
    let mut stack = vec![body.entry];
    while let Some(at) = stack.pop() {
        if at == body.exit || std::mem::replace(&mut seen[at as usize], true) {
            continue;
        }
        order.push(at);
        for &edge in out[at as usize].iter().rev() {
            stack.push(body.edges[edge as usize].to);
        }
    }
    order.push(body.exit);
    let first = program.locations.len() as u32;
    let mut numbers = vec![0u32; count];
    for (i, &at) in order.iter().enumerate() {
        numbers[at as usize] = first + i as u32;
    }
    let mut edges: Vec<Option<DraftEdge>> = body.edges.into_iter().map(Some).collect();
    let mut locations: Vec<_> = body.locations.into_iter().map(Some).collect();
    for &at in &order {
        let start = program.edges.len() as u32;
        for &edge in &out[at as usize] {
            if let Some(edge) = edges[edge as usize].take() {
                program.edges.push(Edge {
                    from: LocId(numbers[at as usize]),
                    to: LocId(numbers[edge.to as usize]),
                    op: edge.op,
                    source: edge.source,
                });
            }
        }
        if let Some(draft) = locations[at as usize].take() {
            program.locations.push(Location {
                function,
                kind: draft.kind,
                edges: start..program.edges.len() as u32,
                labels: draft.labels,
            });
        }
    }
    let entry = LocId(numbers[body.entry as usize]);
    let exit = LocId(numbers[body.exit as usize]);
    (first..program.locations.len() as u32, entry, exit)
}
