//! A static order of the slots: FORCE (Aloul, Markov, Sakallah) over the edges' supports.
//!
//! Slots that edges use together should stand close together, since a BDD must remember whatever
//! relates a slot above to one below. FORCE puts each slot at the mean of the centres of gravity
//! of the edges that use it, again and again, and keeps the best order that it has seen.

use crate::hash::FastMap;
use crate::space::Slot;
use crate::supergraph::{Edge, Frame, Supergraph, Vertex};

/// So many rounds of FORCE that find nothing better show that no more will come.
const PATIENCE: usize = 6;

/// Orders of so few slots are not so bad that FORCE does not get away from them.
const SMALL: u32 = 16;

/// How slots are ordered at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlotOrder {
    /// By FORCE.
    #[default]
    Force,
    /// As declared.
    Declared,
}

/// The number of slots that all procedures together need.
pub fn slot_count(graph: &impl Supergraph) -> u32 {
    use crate::supergraph::Proc;
    let ends = (0..graph.procedures()).map(|p| Frame::of(graph, Proc(p)).scope().end);
    ends.max().unwrap_or(0).max(graph.globals())
}

/// The order in which slots should stand.
pub fn slot_order(graph: &impl Supergraph, order: SlotOrder) -> Vec<Slot> {
    let slots = slot_count(graph);
    // With so few slots every order is good.
    if order == SlotOrder::Declared || slots <= 6 {
        return (0..slots).map(Slot).collect();
    }
    force(slots, &supports(graph, slots))
}

/// The distinct sets of slots that edges use, with the number of edges that use each; those of
/// procedures that nobody calls do not count.
fn supports(graph: &impl Supergraph, slots: u32) -> Vec<(Vec<u32>, f64)> {
    let mut found: Vec<(Vec<u32>, f64)> = match slots {
        ..=64 => small_supports(graph),
        _ => large_supports(graph),
    };
    // A loop body that is written once runs often, and a statement that is written a hundred
    // times runs no more often for that: weigh by the logarithm.
    for (_, weight) in &mut found {
        *weight = 1.0 + weight.ln();
    }
    found
}

/// Where one word holds all slots, which is the case in most programs.
fn small_supports(graph: &impl Supergraph) -> Vec<(Vec<u32>, f64)> {
    let mut index: FastMap<u64, usize> = FastMap::default();
    let mut found: Vec<(u64, f64)> = Vec::new();
    for_each_use(graph, &mut |slots| {
        let word = slots.iter().fold(0u64, |word, slot| word | 1 << slot.0);
        if word.count_ones() >= 2 {
            let at = *index.entry(word).or_insert(found.len());
            match found.get_mut(at) {
                Some(known) => known.1 += 1.0,
                None => found.push((word, 1.0)),
            }
        }
    });
    let slots = |word: u64| {
        let mut slots = Vec::with_capacity(word.count_ones() as usize);
        let mut rest = word;
        while rest != 0 {
            slots.push(rest.trailing_zeros());
            rest &= rest - 1;
        }
        slots
    };
    let found = found.into_iter();
    found.map(|(word, count)| (slots(word), count)).collect()
}

fn large_supports(graph: &impl Supergraph) -> Vec<(Vec<u32>, f64)> {
    let mut index: FastMap<Vec<u32>, usize> = FastMap::default();
    let mut found: Vec<(Vec<u32>, f64)> = Vec::new();
    let mut key = Vec::new();
    for_each_use(graph, &mut |slots| {
        slots.sort_unstable();
        slots.dedup();
        if slots.len() < 2 {
            return;
        }
        key.clear();
        key.extend(slots.iter().map(|slot| slot.0));
        match index.get(&key) {
            Some(&known) => found[known].1 += 1.0,
            None => {
                index.insert(key.clone(), found.len());
                found.push((key.clone(), 1.0));
            }
        }
    });
    found
}

/// Shows the slots that each edge uses, in procedures that main may call.
fn for_each_use(graph: &impl Supergraph, visit: &mut dyn FnMut(&mut Vec<Slot>)) {
    let mut met = vec![false; graph.procedures() as usize];
    met[graph.main().index()] = true;
    let mut work = vec![graph.main()];
    let (mut slots, mut results) = (Vec::new(), Vec::new());
    while let Some(procedure) = work.pop() {
        let vertices = graph.procedure(procedure).vertices;
        for edge in vertices.flat_map(|vertex| graph.edges_from(Vertex(vertex))) {
            let edge = Edge(edge);
            slots.clear();
            graph.reads(edge, &mut slots);
            graph.writes(edge, &mut slots);
            if let Some(callee) = graph.ends(edge).callee {
                if !std::mem::replace(&mut met[callee.index()], true) {
                    work.push(callee);
                }
                let formals = Frame::of(graph, callee).formals;
                slots.extend(formals.map(Slot));
                results.clear();
                graph.results(edge, &mut results);
                slots.extend(results.iter().map(|&(value, _)| value));
            }
            visit(&mut slots);
        }
    }
}

/// The best of FORCE from two starts: the declared order, which the author may have chosen well,
/// and a breadth-first one, since FORCE by itself does not untangle a large order that is bad.
fn force(slots: u32, supports: &[(Vec<u32>, f64)]) -> Vec<Slot> {
    let declared = force_from((0..slots).collect(), supports);
    if slots <= SMALL {
        return declared.1.into_iter().map(Slot).collect();
    }
    let layered = force_from(layers(slots, supports), supports);
    // The span predicts the size of BDDs only roughly: leave what was declared for clear gains.
    let best = if layered.0 < declared.0 * 0.8 {
        layered
    } else {
        declared
    };
    best.1.into_iter().map(Slot).collect()
}

/// The order of Cuthill and McKee: breadth first over slots that are used together, from a slot
/// far out, those with few partners first.
fn layers(slots: u32, supports: &[(Vec<u32>, f64)]) -> Vec<u32> {
    let mut partners: Vec<Vec<u32>> = vec![Vec::new(); slots as usize];
    for (support, _) in supports {
        // A cycle through the support keeps it together without the square of its size.
        for (place, &slot) in support.iter().enumerate() {
            let next = support[(place + 1) % support.len()];
            partners[slot as usize].push(next);
            partners[next as usize].push(slot);
        }
    }
    for list in &mut partners {
        list.sort_unstable();
        list.dedup();
    }
    let degrees: Vec<usize> = partners.iter().map(Vec::len).collect();
    for list in &mut partners {
        list.sort_by_key(|&slot| (degrees[slot as usize], slot));
    }
    let mut order: Vec<u32> = Vec::with_capacity(slots as usize);
    let mut placed = vec![false; slots as usize];
    for seed in 0..slots {
        if placed[seed as usize] {
            continue;
        }
        if partners[seed as usize].is_empty() {
            order.push(seed);
            continue;
        }
        // The last slot of a search is far from its start; twice is enough in practice.
        let far = |start: u32| {
            breadth_first(start, &partners)
                .last()
                .copied()
                .unwrap_or(start)
        };
        let start = far(far(seed));
        for slot in breadth_first(start, &partners) {
            placed[slot as usize] = true;
            order.push(slot);
        }
    }
    order
}

fn breadth_first(start: u32, partners: &[Vec<u32>]) -> Vec<u32> {
    let mut seen = vec![false; partners.len()];
    seen[start as usize] = true;
    let mut order = vec![start];
    let mut next = 0;
    while next < order.len() {
        for &slot in &partners[order[next] as usize] {
            if !seen[slot as usize] {
                seen[slot as usize] = true;
                order.push(slot);
            }
        }
        next += 1;
    }
    order
}

/// FORCE from a given order: the best order that it came by, and its span.
fn force_from(mut order: Vec<u32>, supports: &[(Vec<u32>, f64)]) -> (f64, Vec<u32>) {
    let slots = order.len() as u32;
    let mut position: Vec<f64> = vec![0.0; order.len()];
    for (place, &slot) in order.iter().enumerate() {
        position[slot as usize] = place as f64;
    }
    let mut best = (span(&position, supports), order.clone());
    let rounds = 10 + 5 * f64::from(slots.max(2)).log2() as usize;
    let mut in_vain = 0;
    for _ in 0..rounds {
        if in_vain >= PATIENCE {
            break;
        }
        let mut pull = vec![(0.0, 0.0); slots as usize];
        for (support, weight) in supports {
            let sum: f64 = support.iter().map(|&slot| position[slot as usize]).sum();
            let centre = sum / support.len() as f64;
            for &slot in support {
                pull[slot as usize].0 += centre * weight;
                pull[slot as usize].1 += weight;
            }
        }
        let wanted = |slot: u32| {
            let (sum, weight) = pull[slot as usize];
            if weight > 0.0 {
                sum / weight
            } else {
                position[slot as usize]
            }
        };
        let before = order.clone();
        order.sort_by(|&a, &b| wanted(a).total_cmp(&wanted(b)).then(a.cmp(&b)));
        // What was pulled to where it was stays there.
        if order == before {
            break;
        }
        for (place, &slot) in order.iter().enumerate() {
            position[slot as usize] = place as f64;
        }
        let now = span(&position, supports);
        in_vain += 1;
        if now < best.0 {
            best = (now, order.clone());
            in_vain = 0;
        }
    }
    best
}

/// The total distance between the outermost slots of each support.
fn span(position: &[f64], supports: &[(Vec<u32>, f64)]) -> f64 {
    let span = |support: &[u32]| {
        let places = support.iter().map(|&slot| position[slot as usize]);
        let (low, high) = places.fold((f64::MAX, 0.0), |(low, high): (f64, f64), place| {
            (low.min(place), high.max(place))
        });
        high - low
    };
    supports
        .iter()
        .map(|(support, weight)| span(support) * weight)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tangled_chain_is_untangled() {
        // 0-7-14-21-... modulo 101: every link is long as declared, and one long chain.
        let links = (0..100u32).map(|i| vec![i * 7 % 101, (i + 1) * 7 % 101]);
        let supports: Vec<_> = links.map(|link| (link, 1.0)).collect();
        let order = force(101, &supports);
        let mut position = vec![0.0; 101];
        for (place, slot) in order.iter().enumerate() {
            position[slot.index()] = place as f64;
        }
        assert_eq!(span(&position, &supports), 100.0);
    }

    #[test]
    fn force_brings_partners_together() {
        // A chain 0-4-1-5-2-6-3 declared so that every link is long.
        let links = [[0, 4], [1, 4], [1, 5], [2, 5], [2, 6], [3, 6]];
        let supports: Vec<_> = links.iter().map(|link| (link.to_vec(), 1.0)).collect();
        let order = force(7, &supports);
        let mut position = vec![0.0; 7];
        for (place, slot) in order.iter().enumerate() {
            position[slot.index()] = place as f64;
        }
        let declared: Vec<f64> = (0..7).map(f64::from).collect();
        assert_eq!(span(&declared, &supports), 21.0);
        assert!(span(&position, &supports) <= 8.0, "{order:?}");
    }
}
