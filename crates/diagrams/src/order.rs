//! Which bits of the state vary, and in which order diagrams look at them.
//!
//! The bits of a word stand together, so that a word with few values is a few branches. Wide words
//! that are copied to each other stand bit beside bit: that they are equal is a small diagram then,
//! and would be one of 2^32 nodes otherwise. Words that the same steps read and write stand near
//! each other (Aloul, Markov and Sakallah: FORCE, a fast and easy-to-implement variable-ordering
//! heuristic, 2003): what one thread of a scheduler knows of itself, say.

use hardbop_circuit::{Bit, Graph, Node, NodeId, Word};
use hardbop_pdr::constants::Constants;
use hardbop_pdr::system::{PointId, System, Transition};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Words with more bits that vary are wide.
const NARROW: usize = 8;

/// A bit of the state that varies, by its place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u32);

/// The places of the bits that vary.
#[derive(Clone, Debug, Default)]
pub struct Order {
    places: FxHashMap<NodeId, Place>,
    /// By place: the word, and the bit of it.
    bits: Vec<(usize, usize)>,
}

impl Order {
    /// The order for the words of a system.
    pub fn new(system: &System, fixed: &Constants, words: &[Word]) -> Order {
        let varying = varying(system, fixed);
        let mut word_of: FxHashMap<NodeId, usize> = FxHashMap::default();
        for (index, word) in words.iter().enumerate() {
            word_of.extend(word.iter().map(|bit| (bit.node(), index)));
        }
        let mut order = Order::default();
        let clusters = clusters(system, words.len(), &word_of);
        for cluster in side_by_side(system, &word_of, clusters) {
            // Which of a word's bits vary, the highest one first.
            let open = |word: usize| -> Vec<usize> {
                let bits = (0..words[word].len()).rev();
                bits.filter(|&at| varying.contains_key(&words[word][at].node()))
                    .collect()
            };
            let mut bits: Vec<(usize, usize)> = cluster
                .iter()
                .flat_map(|&word| open(word).into_iter().map(move |at| (word, at)))
                .collect();
            if cluster.iter().any(|&word| open(word).len() > NARROW) {
                bits.sort_by_key(|&(word, at)| (std::cmp::Reverse(at), word));
            }
            for (word, at) in bits {
                let place = Place(order.bits.len() as u32);
                order.places.insert(words[word][at].node(), place);
                order.bits.push((word, at));
            }
        }
        order
    }

    /// How many bits vary.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// The place of a bit of the state, if it varies.
    pub fn place(&self, node: NodeId) -> Option<Place> {
        self.places.get(&node).copied()
    }

    /// Which word has its bit at a place, and which bit that is.
    pub fn bit(&self, place: Place) -> (usize, usize) {
        self.bits[place.0 as usize]
    }
}

/// The bits of the state that do not have one value wherever they matter.
fn varying(system: &System, fixed: &Constants) -> FxHashMap<NodeId, ()> {
    let mut only: FxHashMap<NodeId, bool> = FxHashMap::default();
    let mut varying = FxHashMap::default();
    for (index, point) in system.points.iter().enumerate() {
        let id = PointId(index as u32);
        if !fixed.is_reached(id) {
            continue;
        }
        for (position, bit) in point.state.iter().enumerate() {
            if bit.known().is_some() {
                continue;
            }
            match fixed.value(id, position) {
                Some(value) if *only.entry(bit.node()).or_insert(value) == value => {}
                _ => {
                    varying.insert(bit.node(), ());
                }
            }
        }
    }
    varying
}

/// The words in groups that are copied to each other, in the order of their first members.
fn clusters(system: &System, words: usize, word_of: &FxHashMap<NodeId, usize>) -> Vec<Vec<usize>> {
    let mut parents: Vec<usize> = (0..words).collect();
    // An input belongs to the first word that it is put into.
    let mut word_of = word_of.clone();
    for step in &system.steps {
        let state = &system.point(step.to).state;
        for (&bit, &next) in state.iter().zip(&step.next) {
            let Some(&word) = word_of.get(&bit.node()) else {
                continue;
            };
            for from in sources(&system.graph, next) {
                let other = *word_of.entry(from).or_insert(word);
                let (a, b) = (root(&mut parents, word), root(&mut parents, other));
                parents[a.max(b)] = a.min(b);
            }
        }
    }
    let mut clusters: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for word in 0..words {
        let root = root(&mut parents, word);
        clusters.entry(root).or_default().push(word);
    }
    clusters.into_values().collect()
}

/// So often clusters are moved to the middle of what they are used with.
const ROUNDS: usize = 30;
/// Steps that have to do with more clusters say nothing of where these belong.
const MANY: usize = 24;

/// The clusters in an order in which those that steps use together are near each other.
fn side_by_side(
    system: &System,
    word_of: &FxHashMap<NodeId, usize>,
    clusters: Vec<Vec<usize>>,
) -> Vec<Vec<usize>> {
    let mut cluster_of: FxHashMap<usize, usize> = FxHashMap::default();
    for (index, cluster) in clusters.iter().enumerate() {
        cluster_of.extend(cluster.iter().map(|&word| (word, index)));
    }
    let mut together: BTreeSet<Vec<usize>> = BTreeSet::new();
    for step in &system.steps {
        let words = used(system, step, word_of);
        let used: BTreeSet<usize> = words.iter().map(|word| cluster_of[word]).collect();
        if (2..=MANY).contains(&used.len()) {
            together.insert(used.into_iter().collect());
        }
    }
    let mut positions: Vec<f64> = (0..clusters.len()).map(|at| at as f64).collect();
    let mut order: Vec<usize> = (0..clusters.len()).collect();
    for _ in 0..ROUNDS {
        let mut sums = vec![(0.0, 0.0); clusters.len()];
        for group in &together {
            let middle = group.iter().map(|&at| positions[at]).sum::<f64>() / group.len() as f64;
            for &at in group {
                sums[at].0 += middle;
                sums[at].1 += 1.0;
            }
        }
        let wanted = |at: usize| match sums[at] {
            (_, 0.0) => positions[at],
            (sum, count) => sum / count,
        };
        order.sort_by(|&a, &b| wanted(a).total_cmp(&wanted(b)).then(a.cmp(&b)));
        for (position, &at) in order.iter().enumerate() {
            positions[at] = position as f64;
        }
    }
    order.into_iter().map(|at| clusters[at].clone()).collect()
}

/// The words that a step reads or changes.
fn used(system: &System, step: &Transition, word_of: &FxHashMap<NodeId, usize>) -> BTreeSet<usize> {
    let graph = &system.graph;
    let mut found = BTreeSet::new();
    let mut work = vec![step.condition.node()];
    for (&bit, &next) in system.point(step.to).state.iter().zip(&step.next) {
        if bit != next {
            found.extend(word_of.get(&bit.node()));
            work.push(next.node());
        }
    }
    let mut seen: FxHashSet<NodeId> = work.iter().copied().collect();
    while let Some(node) = work.pop() {
        match graph.node(node) {
            Node::Input => found.extend(word_of.get(&node)),
            Node::False => {}
            Node::And(left, right) => {
                let parts = [left.node(), right.node()];
                work.extend(parts.into_iter().filter(|&part| seen.insert(part)));
            }
        }
    }
    found
}

/// The most choices that are looked through for what is copied.
const CHOICES: usize = 32;

/// The bits of the state that one may be a copy of.
fn sources(graph: &Graph, bit: Bit) -> Vec<NodeId> {
    let mut found = Vec::new();
    let mut work = vec![bit.node()];
    let mut looked = 0;
    while let Some(node) = work.pop() {
        looked += 1;
        match (graph.node(node), graph.choice(node)) {
            (Node::Input, _) => found.push(node),
            (_, Some((_, then, otherwise))) if looked < CHOICES => {
                work.extend([then.node(), otherwise.node()]);
            }
            _ => {}
        }
    }
    found
}

fn root(parents: &mut [usize], mut word: usize) -> usize {
    while parents[word] != word {
        parents[word] = parents[parents[word]];
        word = parents[word];
    }
    word
}
