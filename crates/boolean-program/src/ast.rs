//! The syntax of a boolean program as it was written, names unresolved.
//!
//! Everything lies in flat tables. Expressions are in postfix order, and a structured statement
//! is the row of its parts (`if`, its branch, `else`, its branch, `fi`) between two positions of
//! one list, so that no program is too deeply nested for any loop over it.

use crate::dialect::Operator;
use crate::lexer::{Comment, Symbol};
use crate::program::ExprId;
use hardbop_diagnostics::{FileId, Span};

/// A name where it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// Which name.
    pub symbol: Symbol,
    /// Its first byte.
    pub start: u32,
    /// The byte after its last one.
    pub end: u32,
}

/// A range of one of the tables of [`Ast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// The first position.
    pub start: u32,
    /// The position after the last one.
    pub end: u32,
}

impl List {
    /// The number of elements.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A parsed file, or a part of one.
#[derive(Clone, Debug)]
pub struct Ast {
    /// The file it comes from.
    pub file: FileId,
    /// Every name of the program; [`Symbol`]s index it. Empty in a part.
    pub names: Vec<String>,
    /// Declarations, invariants and procedures in the order of the text.
    pub items: Vec<Item>,
    /// The statements of all procedures, one after the other.
    pub statements: Vec<Statement>,
    /// The expressions, each one's nodes in postfix order.
    pub exprs: Vec<Expr>,
    /// The lists of names.
    pub name_lists: Vec<Name>,
    /// The lists of expressions.
    pub expr_lists: Vec<ExprId>,
    /// The comments in the order of the text.
    pub comments: Vec<Comment>,
}

/// What stands at the top level of a file.
#[derive(Clone, Debug)]
pub enum Item {
    /// `decl x, y;`
    Global {
        /// The variables, a range of [`Ast::name_lists`].
        names: List,
        /// The whole declaration.
        span: Span,
    },
    /// `enforce e;`
    Enforce {
        /// The invariant.
        condition: ExprId,
        /// The whole statement.
        span: Span,
    },
    /// A procedure.
    Procedure(Procedure),
}

/// A procedure definition.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// Its name.
    pub name: Name,
    /// The type in front of it.
    pub returns: ReturnType,
    /// The formals, a range of [`Ast::name_lists`].
    pub formals: List,
    /// Its body, a range of [`Ast::statements`].
    pub statements: List,
    /// The whole definition.
    pub span: Span,
    /// Its final `end`.
    pub end: Span,
}

/// The type in front of a procedure's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnType {
    /// None, as in the Bebop paper.
    Untyped,
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// `bool<n>`
    Bools(u32),
}

impl ReturnType {
    /// The number of values that a call gives back.
    pub fn count(self) -> u32 {
        match self {
            ReturnType::Untyped | ReturnType::Void => 0,
            ReturnType::Bool => 1,
            ReturnType::Bools(count) => count,
        }
    }
}

/// A statement, or one part of a structured one.
#[derive(Clone, Copy, Debug)]
pub struct Statement {
    /// Its labels, a range of [`Ast::name_lists`].
    pub labels: List,
    /// What it is.
    pub kind: Kind,
    /// Its first byte, after the labels.
    pub start: u32,
    /// The byte after its last one; for `if` and `while`, the end of the condition.
    pub end: u32,
}

/// What a statement is. Lists of names and of expressions are ranges of [`Ast::name_lists`] and
/// [`Ast::expr_lists`].
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `skip`
    Skip,
    /// `print (e1, e2)`
    Print(List),
    /// `goto l1, l2`
    Goto(List),
    /// `return e1, e2`
    Return(List),
    /// `x, y := e1, e2 constrain e`
    Assign {
        /// The targets.
        targets: List,
        /// The values.
        values: List,
        /// The relation that they must meet.
        constrain: Option<ExprId>,
    },
    /// `x, y := f (e1, e2)`
    Call {
        /// The targets of the results.
        results: List,
        /// The procedure called, a position in [`Ast::name_lists`].
        callee: u32,
        /// The arguments.
        arguments: List,
    },
    /// `if e then`, up to an [`Kind::Elsif`], [`Kind::Else`] or [`Kind::Fi`]
    If(ExprId),
    /// `elsif e then`
    Elsif(ExprId),
    /// `else`
    Else,
    /// `fi`
    Fi,
    /// `while e do`, up to an [`Kind::Od`]
    While(ExprId),
    /// `od`
    Od,
    /// `assert (e)`
    Assert(ExprId),
    /// `assume (e)`
    Assume(ExprId),
    /// `constrain (e)`
    Constrain(ExprId),
    /// `abortif e`
    AbortIf(ExprId),
    /// `enforce e`
    Enforce(ExprId),
    /// `dead x, y`
    Dead(List),
    /// `decl x, y`
    Decl(List),
}

/// An expression's top operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expr {
    /// `0`, `1`, `F`, `T`
    Const(bool),
    /// `x`
    Var(Name),
    /// `'x`
    Next(Name),
    /// `*`
    Star,
    /// `?`
    QuestionMark,
    /// `! e`
    Not(ExprId),
    /// `a & b`
    Binary(Operator, ExprId, ExprId),
    /// `choose (a, b)`
    Choose(ExprId, ExprId),
    /// `schoose [a, b]`
    Schoose(ExprId, ExprId),
}

impl Ast {
    /// The text of a name, without braces.
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol.0 as usize]
    }

    /// The place of a name.
    pub fn name_span(&self, name: Name) -> Span {
        Span::new(self.file, name.start, name.end)
    }

    /// The names of a list.
    pub fn names(&self, list: List) -> &[Name] {
        &self.name_lists[list.range()]
    }

    /// The expressions of a list.
    pub fn list(&self, list: List) -> &[ExprId] {
        &self.expr_lists[list.range()]
    }

    /// The top operator of an expression.
    pub fn expr(&self, id: ExprId) -> Expr {
        self.exprs[id.index()]
    }
}
