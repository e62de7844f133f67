//! And-inverter graphs: inputs, ands of two edges, and edges that may negate.
//!
//! Equal nodes are one node, and what two levels of nodes decide is decided when a node is made.

use rustc_hash::FxHashMap;
use std::ops::Not;

/// An edge to a node, negated or not: a truth value in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bit(u32);

/// A node of a graph, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// Always false.
    False,
    /// Anything.
    Input,
    /// Both of these.
    And(Bit, Bit),
}

impl Bit {
    /// Never.
    pub const FALSE: Bit = Bit(0);
    /// Always.
    pub const TRUE: Bit = Bit(1);

    /// The constant.
    pub fn constant(value: bool) -> Bit {
        Bit(value.into())
    }

    /// The value, if it is the same always.
    pub fn known(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }

    /// The node.
    pub fn node(self) -> NodeId {
        NodeId(self.0 >> 1)
    }

    /// Whether it is the node's negation.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// This bit if `value`, else its negation.
    pub fn is(self, value: bool) -> Bit {
        if value { self } else { !self }
    }
}

impl NodeId {
    /// The position among the nodes of the graph; arguments come before users.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The edge to it that does not negate.
    pub fn bit(self) -> Bit {
        Bit(self.0 << 1)
    }
}

impl Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        Bit(self.0 ^ 1)
    }
}

/// A graph.
#[derive(Clone, Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    index: FxHashMap<(Bit, Bit), NodeId>,
}

impl Default for Graph {
    fn default() -> Graph {
        Graph {
            nodes: vec![Node::False],
            index: FxHashMap::default(),
        }
    }
}

impl Graph {
    /// How many nodes there are, the constant among them.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing but the constant.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.index()]
    }

    /// All nodes, arguments before users.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    fn push(&mut self, node: Node) -> NodeId {
        let id = u32::try_from(self.nodes.len()).expect("more than 2^31 nodes");
        self.nodes.push(node);
        NodeId(id)
    }

    /// A new input.
    pub fn input(&mut self) -> Bit {
        self.push(Node::Input).bit()
    }

    /// So many new inputs.
    pub fn inputs(&mut self, count: usize) -> Vec<Bit> {
        (0..count).map(|_| self.input()).collect()
    }

    /// The arguments of the and that an edge leads to, negated or not.
    fn ands(&self, bit: Bit) -> Option<(Bit, Bit)> {
        match self.node(bit.node()) {
            Node::And(left, right) => Some((left, right)),
            _ => None,
        }
    }

    /// Both.
    pub fn and(&mut self, mut left: Bit, mut right: Bit) -> Bit {
        // Every turn makes an argument smaller, or ends.
        loop {
            if left > right {
                (left, right) = (right, left);
            }
            if left == Bit::FALSE || left == !right {
                return Bit::FALSE;
            }
            if left == Bit::TRUE || left == right {
                return right;
            }
            match self
                .rewrite(left, right)
                .or_else(|| self.rewrite(right, left))
            {
                Some(Rewritten::To(bit)) => return bit,
                Some(Rewritten::And(one, other)) => (left, right) = (one, other),
                None => break,
            }
        }
        if let Some(&known) = self.index.get(&(left, right)) {
            return known.bit();
        }
        let id = self.push(Node::And(left, right));
        self.index.insert((left, right), id);
        id.bit()
    }

    /// What the two levels below `one` decide about `one & other`.
    fn rewrite(&self, one: Bit, other: Bit) -> Option<Rewritten> {
        let (a, b) = self.ands(one)?;
        let below = self.ands(other);
        if one.is_negated() {
            if other == !a || other == !b {
                return Some(Rewritten::To(other));
            }
            if other == a {
                return Some(Rewritten::And(a, !b));
            }
            if other == b {
                return Some(Rewritten::And(b, !a));
            }
            let (c, d) = below?;
            if !other.is_negated() {
                if c == !a || c == !b || d == !a || d == !b {
                    return Some(Rewritten::To(other));
                }
                if c == a || d == a {
                    return Some(Rewritten::And(other, !b));
                }
                if c == b || d == b {
                    return Some(Rewritten::And(other, !a));
                }
            } else {
                if (a == c && b == !d) || (a == d && b == !c) {
                    return Some(Rewritten::To(!a));
                }
                if (b == c && a == !d) || (b == d && a == !c) {
                    return Some(Rewritten::To(!b));
                }
            }
            return None;
        }
        if other == a || other == b {
            return Some(Rewritten::To(one));
        }
        if other == !a || other == !b {
            return Some(Rewritten::To(Bit::FALSE));
        }
        let (c, d) = below?;
        if !other.is_negated() && (c == !a || c == !b || d == !a || d == !b) {
            return Some(Rewritten::To(Bit::FALSE));
        }
        None
    }

    /// One of them.
    pub fn or(&mut self, left: Bit, right: Bit) -> Bit {
        !self.and(!left, !right)
    }

    /// Exactly one of them.
    pub fn xor(&mut self, left: Bit, right: Bit) -> Bit {
        // Negations go to the outside, so that more is found to be equal.
        let outside = left.is_negated() != right.is_negated();
        let (left, right) = (left.node().bit(), right.node().bit());
        let one = self.and(left, !right);
        let other = self.and(!left, right);
        self.or(one, other).is(!outside)
    }

    /// The first one where the condition holds, the other one where it does not.
    pub fn ite(&mut self, condition: Bit, then: Bit, otherwise: Bit) -> Bit {
        if then == otherwise {
            return then;
        }
        if then == !otherwise {
            return !self.xor(condition, then);
        }
        let (condition, then, otherwise) = match condition.is_negated() {
            true => (!condition, otherwise, then),
            false => (condition, then, otherwise),
        };
        let yes = self.and(condition, then);
        let no = self.and(!condition, otherwise);
        self.or(yes, no)
    }

    /// All of them.
    pub fn all(&mut self, bits: &[Bit]) -> Bit {
        self.tree(bits, Bit::TRUE, Graph::and)
    }

    /// One of them or more.
    pub fn any(&mut self, bits: &[Bit]) -> Bit {
        self.tree(bits, Bit::FALSE, Graph::or)
    }

    /// A tree of little depth.
    fn tree(&mut self, bits: &[Bit], none: Bit, join: fn(&mut Graph, Bit, Bit) -> Bit) -> Bit {
        let mut level = bits.to_vec();
        while level.len() > 1 {
            let pairs = level.chunks(2);
            level = pairs
                .map(|pair| match *pair {
                    [left, right] => join(self, left, right),
                    _ => pair[0],
                })
                .collect();
        }
        level.first().copied().unwrap_or(none)
    }

    /// The values of some bits when `true` inputs are these nodes.
    pub fn simulate(&self, holds: impl Fn(NodeId) -> bool, bits: &[Bit]) -> Vec<bool> {
        let most = bits.iter().map(|bit| bit.node().index()).max();
        let mut values: Vec<bool> = Vec::with_capacity(most.map_or(0, |most| most + 1));
        for (index, node) in self.nodes.iter().enumerate() {
            if most.is_none_or(|most| index > most) {
                break;
            }
            let value = |bit: &Bit| values[bit.node().index()] != bit.is_negated();
            let here = match node {
                Node::False => false,
                Node::Input => holds(NodeId(index as u32)),
                Node::And(left, right) => value(left) && value(right),
            };
            values.push(here);
        }
        let value = |bit: &Bit| values[bit.node().index()] != bit.is_negated();
        bits.iter().map(value).collect()
    }

    /// If a node chooses between two bits, the condition and both: `(c, t, e)` for a bit that is
    /// `t` where `c` holds and else `e`.
    pub fn choice(&self, id: NodeId) -> Option<(Bit, Bit, Bit)> {
        let Node::And(left, right) = self.node(id) else {
            return None;
        };
        if !left.is_negated() || !right.is_negated() {
            return None;
        }
        let ((a, b), (c, d)) = (self.ands(left)?, self.ands(right)?);
        // not (a and b), not (c and d), where one of the first is the negation of one of the others
        for (condition, then) in [(a, b), (b, a)] {
            for (other, otherwise) in [(c, d), (d, c)] {
                if condition == !other {
                    return Some((condition, !then, !otherwise));
                }
            }
        }
        None
    }
}

/// What an and becomes.
enum Rewritten {
    To(Bit),
    And(Bit, Bit),
}
