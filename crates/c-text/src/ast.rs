//! Expressions as they were written.
//!
//! Nodes are kept in a table in the order in which they end, operands before what they are
//! operands of: a chain of operators that is as deep as it is long needs no recursion, and the
//! nodes of an expression are a stretch of the table.

use crate::lexer::{Number, Precision};
use hardbop_cfront::program::BinaryOp;
use hardbop_diagnostics::Span;
use std::ops::RangeInclusive;

/// A name and its place.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A node of an [`Ast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(u32);

/// The expressions of a text.
#[derive(Clone, Debug, Default)]
pub struct Ast {
    nodes: Vec<Node>,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Node {
    /// The top operator.
    pub kind: NodeKind,
    /// Where it stands, with its parentheses.
    pub span: Span,
}

/// The top operator of an expression.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// An integer or character constant.
    Number(Number),
    /// A floating-point constant.
    Float(f64, Precision),
    /// A name.
    Name(String),
    /// `$1` and so on.
    Argument(u32),
    /// `$return`.
    Result,
    /// `old(e)`.
    Old(NodeId),
    /// An operator before its operand.
    Unary(UnaryWord, NodeId),
    /// An operator between its operands.
    Binary(BinaryOp, NodeId, NodeId),
    /// `a ? b : c`.
    Conditional(NodeId, NodeId, NodeId),
    /// `(type)e`.
    Cast(TypeName, NodeId),
    /// `sizeof e`.
    SizeOf(NodeId),
    /// `sizeof(type)`.
    SizeOfType(TypeName),
    /// `e.name`.
    Member(NodeId, Name),
    /// `e->name`.
    Arrow(NodeId, Name),
    /// `e[i]`.
    Index(NodeId, NodeId),
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryWord {
    /// `!`
    Not,
    /// `~`
    BitNot,
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `*`
    Deref,
    /// `&`
    AddressOf,
}

/// The name of a type.
#[derive(Clone, Debug)]
pub struct TypeName {
    /// What stands before the stars.
    pub base: TypeBase,
    /// How many stars there are.
    pub stars: u32,
}

/// A type without its stars.
#[derive(Clone, Debug)]
pub enum TypeBase {
    /// `void`.
    Void,
    /// `_Bool`.
    Bool,
    /// An integer type.
    Int(Width, Signedness),
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `long double`.
    LongDouble,
    /// A struct or union, by its tag.
    Record(Name),
    /// What a `typedef` names.
    Named(Name),
}

/// The width of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// `char`.
    Char,
    /// `short`.
    Short,
    /// `int`.
    Int,
    /// `long`.
    Long,
    /// `long long`.
    LongLong,
}

/// Whether an integer type has negative values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signedness {
    /// It has.
    Signed,
    /// It has none.
    Unsigned,
}

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Ast {
    /// Adds a node, whose operands are there.
    pub fn add(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.nodes.push(Node { kind, span });
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Where an expression stands.
    pub fn span(&self, id: NodeId) -> Span {
        self.node(id).span
    }

    /// Says that an expression stands between parentheses.
    pub(crate) fn enclose(&mut self, id: NodeId, span: Span) {
        self.nodes[id.index()].span = span;
    }

    /// The operands of a node, in order.
    pub fn operands(&self, id: NodeId) -> Vec<NodeId> {
        match self.node(id).kind {
            NodeKind::Number(_)
            | NodeKind::Float(..)
            | NodeKind::Name(_)
            | NodeKind::Argument(_)
            | NodeKind::Result
            | NodeKind::SizeOfType(_) => Vec::new(),
            NodeKind::Old(a)
            | NodeKind::Unary(_, a)
            | NodeKind::Cast(_, a)
            | NodeKind::SizeOf(a)
            | NodeKind::Member(a, _)
            | NodeKind::Arrow(a, _) => vec![a],
            NodeKind::Binary(_, a, b) | NodeKind::Index(a, b) => vec![a, b],
            NodeKind::Conditional(a, b, c) => vec![a, b, c],
        }
    }

    /// The nodes of an expression, operands first.
    pub fn within(&self, root: NodeId) -> impl Iterator<Item = NodeId> {
        self.stretch(root).map(NodeId)
    }

    /// The stretch of the table that an expression takes: it begins with its first leaf.
    pub(crate) fn stretch(&self, root: NodeId) -> RangeInclusive<u32> {
        let mut first = root;
        while let Some(&operand) = self.operands(first).first() {
            first = operand;
        }
        first.0..=root.0
    }
}
