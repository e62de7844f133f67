//! Tokens to syntax, with recovery: after an error the parser goes on at the next statement.
//!
//! Nothing here recurses: blocks and parentheses that are open are kept on stacks of their own.

mod block;
mod expression;
mod statement;

use crate::ast::{Ast, Expr, Item, Kind, List, Name, Procedure, ReturnType, Statement};
use crate::dialect::{Dialect, Feature};
use crate::lexer::{Comment, Lexeme, Lexer, Problem, Symbol, Token};
use crate::program::ExprId;
use crate::report::Reports;
use hardbop_diagnostics::{Diagnostic, FileId, Span};

/// Has been reported; the caller goes on at the next statement.
struct Failed;
type Parsed<T> = Result<T, Failed>;

/// `bool<n>` beyond this is a slip or an attack: every value becomes a variable.
const MOST_RETURN_VALUES: u32 = 1 << 16;

/// A text in parts of some statements each, and the names that all parts share.
pub(crate) struct Parts<'t> {
    pub(crate) parts: Vec<Ast>,
    pub(crate) names: Vec<&'t str>,
    comments: Vec<Comment>,
}

/// Parses a text, whatever is in it.
pub(crate) fn parse(file: FileId, text: &str, dialect: Dialect, reports: &mut Reports) -> Ast {
    let parsed = parse_in_parts(file, text, dialect, reports, usize::MAX);
    let mut ast = parsed
        .parts
        .into_iter()
        .next()
        .unwrap_or_else(|| empty(file));
    ast.names = parsed.names.iter().map(|&name| name.to_owned()).collect();
    ast.comments = parsed.comments;
    ast
}

fn empty(file: FileId) -> Ast {
    Ast {
        file,
        names: Vec::new(),
        items: Vec::new(),
        statements: Vec::new(),
        exprs: Vec::new(),
        name_lists: Vec::new(),
        expr_lists: Vec::new(),
        comments: Vec::new(),
    }
}

/// Parses a text into parts, each of which ends with the item that has its so-many-th statement.
pub(crate) fn parse_in_parts<'t>(
    file: FileId,
    text: &'t str,
    dialect: Dialect,
    reports: &mut Reports,
    statements: usize,
) -> Parts<'t> {
    let mut lexer = Lexer::new(text, file, dialect);
    let current = lexer.next();
    let ahead = lexer.next();
    let mut parser = Parser {
        file,
        dialect,
        lexer,
        current,
        ahead,
        last_end: 0,
        ast: empty(file),
        parts: Vec::new(),
        reports,
        refused: Vec::new(),
        blocks: Vec::new(),
        frames: Vec::new(),
        operands: Vec::new(),
    };
    parser.take_problems();
    parser.file(statements);
    let Parser {
        lexer,
        ast,
        mut parts,
        ..
    } = parser;
    parts.push(ast);
    Parts {
        parts,
        names: lexer.names,
        comments: lexer.comments,
    }
}

struct Parser<'t, 'r> {
    file: FileId,
    dialect: Dialect,
    lexer: Lexer<'t>,
    current: Lexeme,
    ahead: Lexeme,
    /// Where the last token that was consumed ends.
    last_end: u32,
    ast: Ast,
    /// What was parsed before `ast`.
    parts: Vec<Ast>,
    reports: &'r mut Reports,
    /// What has been refused already: once is enough for each construct.
    refused: Vec<&'static str>,
    blocks: Vec<block::Block>,
    frames: Vec<expression::Frame>,
    operands: Vec<ExprId>,
}

impl Parser<'_, '_> {
    fn file(&mut self, part: usize) {
        let mut procedures = 0;
        loop {
            if self.ast.statements.len() >= part {
                let next = empty(self.file);
                self.parts.push(std::mem::replace(&mut self.ast, next));
            }
            let start = self.current.start;
            let item = match self.current.token {
                Token::EndOfText => return,
                Token::Semicolon => {
                    self.bump();
                    continue;
                }
                Token::Decl => {
                    if procedures > 0 {
                        self.require(Feature::LateGlobal, self.here());
                    }
                    self.global()
                }
                Token::Name(name) if self.word(name) == "enforce" => self.global_enforce(),
                Token::Void | Token::Bool | Token::Name(_) => {
                    procedures += 1;
                    self.procedure()
                }
                _ => Err(self.expected("a declaration or a procedure")),
            };
            if item.is_err() {
                self.skip_to_item(start);
            }
        }
    }

    fn global(&mut self) -> Parsed<()> {
        let start = self.current.start;
        self.bump();
        let names = self.declared_names()?;
        let span = self.span_from(start);
        self.ast.items.push(Item::Global { names, span });
        self.eat(Token::Semicolon, "`,` or `;`")
    }

    fn global_enforce(&mut self) -> Parsed<()> {
        let start = self.current.start;
        self.require(Feature::GlobalEnforce, self.here());
        self.bump();
        let condition = self.expression()?;
        let span = self.span_from(start);
        self.ast.items.push(Item::Enforce { condition, span });
        self.eat(Token::Semicolon, "an operator or `;`")
    }

    fn declared_names(&mut self) -> Parsed<List> {
        if let (Token::Name(name), Token::Name(_)) = (self.current.token, self.ahead.token)
            && self.word(name) == "thread_local"
        {
            // In a program with one thread it makes no difference.
            self.require(Feature::ThreadLocal, self.here());
            self.bump();
        }
        self.names("the name of a variable")
    }

    fn procedure(&mut self) -> Parsed<()> {
        let start = self.current.start;
        if let Token::Name(name) = self.current.token
            && self.word(name) == "dfs"
            && self.ahead.token != Token::Open
        {
            // Tells Boppo how to search, and us nothing.
            self.require(Feature::Dfs, self.here());
            self.bump();
        }
        let returns = self.return_type()?;
        let name = self.name("the name of a procedure")?;
        self.eat(Token::Open, "`(`")?;
        let formals = if self.current.token == Token::Close {
            List { start: 0, end: 0 }
        } else {
            self.names("a parameter or `)`")?
        };
        self.eat(Token::Close, "`,` or `)`")?;
        self.eat(Token::Begin, "`begin`")?;
        let first = self.ast.statements.len() as u32;
        self.body(name);
        let statements = List {
            start: first,
            end: self.ast.statements.len() as u32,
        };
        let end = self.here();
        if self.current.token == Token::End {
            self.bump();
        }
        let span = self.span_from(start);
        let procedure = Procedure {
            name,
            returns,
            formals,
            statements,
            span,
            end,
        };
        self.ast.items.push(Item::Procedure(procedure));
        Ok(())
    }

    fn return_type(&mut self) -> Parsed<ReturnType> {
        let span = self.here();
        let returns = match self.current.token {
            Token::Void => ReturnType::Void,
            Token::Bool => ReturnType::Bool,
            _ => {
                self.require(Feature::UntypedProcedure, span);
                return Ok(ReturnType::Untyped);
            }
        };
        self.require(Feature::ReturnType, span);
        self.bump();
        if returns == ReturnType::Void || self.current.token != Token::Less {
            return Ok(returns);
        }
        self.bump();
        let count = match self.current.token {
            Token::Number(count) if count <= MOST_RETURN_VALUES => count,
            Token::Number(_) => {
                let message = format!("more than {MOST_RETURN_VALUES} return values");
                self.reports
                    .add(Diagnostic::error(self.here(), message).label("too many"));
                1
            }
            Token::Constant(true) => 1,
            Token::Constant(false) => 0,
            _ => return Err(self.expected("the number of return values")),
        };
        self.bump();
        self.eat(Token::Greater, "`>`")?;
        Ok(ReturnType::Bools(count))
    }

    /// Everything between `begin` and `end`.
    fn body(&mut self, procedure: Name) {
        self.blocks.clear();
        let mut statements_so_far = false;
        loop {
            match self.current.token {
                Token::End => break,
                Token::EndOfText => {
                    let name = self.word(procedure.symbol);
                    let message = format!("the body of `{name}` is not closed");
                    let opened = Span::new(self.file, procedure.start, procedure.end);
                    self.reports.add(
                        Diagnostic::error(self.here(), message)
                            .label("expected `end`")
                            .note(Some(opened), "it starts here"),
                    );
                    break;
                }
                Token::Semicolon => self.bump(),
                token => {
                    let start = self.current.start;
                    if token != Token::Decl {
                        statements_so_far |= !self.at_word("enforce");
                    } else if statements_so_far {
                        self.require(Feature::LateDeclaration, self.here());
                    }
                    if self.statement().is_err() {
                        self.skip_to_statement(start);
                    }
                }
            }
        }
        if !self.blocks.is_empty() {
            self.close_blocks(0);
        }
    }

    /// `(e1, e2)` or `()`
    fn arguments(&mut self) -> Parsed<List> {
        self.eat(Token::Open, "`(`")?;
        let list = if self.current.token == Token::Close {
            List { start: 0, end: 0 }
        } else {
            self.expressions()?
        };
        self.eat(Token::Close, "an operator, `,` or `)`")?;
        Ok(list)
    }

    /// `(e)` after `assert` and its like.
    fn condition(&mut self) -> Parsed<ExprId> {
        if self.current.token != Token::Open {
            return Err(self.expected("`(`"));
        }
        self.decider()
    }

    /// The condition of a statement, where every dialect allows a choice.
    fn decider(&mut self) -> Parsed<ExprId> {
        let start = self.current.start;
        let choices = self.expression_with_choices()?;
        let root = self.last_expression();
        let whole = matches!(self.ast.expr(root), Expr::Star | Expr::QuestionMark);
        if choices && !whole {
            self.require(Feature::ChoiceInExpression, self.span_from(start));
        }
        Ok(root)
    }

    fn expression(&mut self) -> Parsed<ExprId> {
        let start = self.current.start;
        if self.expression_with_choices()? {
            self.require(Feature::ChoiceInExpression, self.span_from(start));
        }
        Ok(self.last_expression())
    }

    fn last_expression(&self) -> ExprId {
        ExprId(self.ast.exprs.len() as u32 - 1)
    }

    fn expressions(&mut self) -> Parsed<List> {
        let first = self.ast.expr_lists.len() as u32;
        loop {
            let value = self.expression()?;
            self.ast.expr_lists.push(value);
            if self.current.token != Token::Comma {
                return Ok(List {
                    start: first,
                    end: self.ast.expr_lists.len() as u32,
                });
            }
            self.bump();
        }
    }

    fn names(&mut self, wanted: &str) -> Parsed<List> {
        let first = self.ast.name_lists.len() as u32;
        loop {
            let name = self.name(wanted)?;
            self.ast.name_lists.push(name);
            if self.current.token != Token::Comma {
                return Ok(List {
                    start: first,
                    end: self.ast.name_lists.len() as u32,
                });
            }
            self.bump();
        }
    }

    /// The name of who is called, a position in the table of names.
    fn callee(&mut self) -> Parsed<u32> {
        let name = self.name("the name of a procedure")?;
        self.ast.name_lists.push(name);
        Ok(self.ast.name_lists.len() as u32 - 1)
    }

    fn name(&mut self, wanted: &str) -> Parsed<Name> {
        match self.current.token {
            Token::Name(symbol) => {
                let Lexeme { start, end, .. } = self.current;
                self.bump();
                Ok(Name { symbol, start, end })
            }
            Token::Constant(_) => Err(self.constant_as_name()),
            _ => Err(self.expected(wanted)),
        }
    }

    fn constant_as_name(&mut self) -> Failed {
        let text = self.current_text();
        let label = match text {
            "T" | "F" => "use --dialect bebop, where it is a name, or put it in braces",
            _ => "expected a name",
        };
        let message = format!("`{text}` is a constant");
        self.reports
            .add(Diagnostic::error(self.here(), message).label(label));
        Failed
    }

    fn push(&mut self, labels: List, kind: Kind, start: u32, end: u32) {
        self.ast.statements.push(Statement {
            labels,
            kind,
            start,
            end,
        });
    }

    fn add_expr(&mut self, expr: Expr) -> ExprId {
        self.ast.exprs.push(expr);
        self.last_expression()
    }

    // Recovery.

    /// To where a condition with an error in it ends.
    fn skip_in_head(&mut self) {
        while !matches!(
            self.current.token,
            Token::Then | Token::Do | Token::Semicolon | Token::EndOfText | Token::End
        ) && !self.at_statement()
        {
            self.bump();
        }
    }

    fn skip_to_statement(&mut self, start: u32) {
        // An error at the statement's own first token would be met again forever.
        if self.current.start == start {
            self.bump();
        }
        loop {
            match self.current.token {
                Token::Semicolon | Token::Then | Token::Do => {
                    self.bump();
                    return;
                }
                Token::EndOfText | Token::End => return,
                _ if self.at_statement() => return,
                _ => self.bump(),
            }
        }
    }

    /// Whether the current token can only be the start of a statement or of a part of one.
    fn at_statement(&self) -> bool {
        matches!(
            self.current.token,
            Token::Skip
                | Token::Goto
                | Token::Return
                | Token::If
                | Token::Elsif
                | Token::Else
                | Token::Fi
                | Token::While
                | Token::Od
                | Token::Decl
        )
    }

    fn skip_to_item(&mut self, start: u32) {
        if self.current.start == start {
            self.bump();
        }
        loop {
            match self.current.token {
                Token::EndOfText | Token::Decl | Token::Void | Token::Bool => return,
                Token::End => {
                    self.bump();
                    return;
                }
                _ => self.bump(),
            }
        }
    }

    // Tokens.

    fn bump(&mut self) {
        self.last_end = self.current.end;
        self.current = self.ahead;
        self.ahead = self.lexer.next();
        if !self.lexer.problems.is_empty() {
            self.take_problems();
        }
        if self.reports.is_full() && self.current.token != Token::EndOfText {
            self.lexer.stop();
            let end = self.current.start;
            self.current = Lexeme {
                token: Token::EndOfText,
                start: end,
                end,
            };
            self.ahead = self.current;
        }
    }

    fn take_problems(&mut self) {
        for problem in std::mem::take(&mut self.lexer.problems) {
            match problem {
                Problem::Error(diagnostic) => self.reports.add(diagnostic),
                Problem::Uses(feature, span) => self.require(feature, span),
            }
        }
    }

    fn eat(&mut self, token: Token, wanted: &str) -> Parsed<()> {
        if self.current.token != token {
            return Err(self.expected(wanted));
        }
        self.bump();
        Ok(())
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.current.token, Token::Name(name) if self.word(name) == word)
    }

    fn word(&self, symbol: Symbol) -> &str {
        self.lexer.names[symbol.0 as usize]
    }

    fn here(&self) -> Span {
        Span::new(self.file, self.current.start, self.current.end)
    }

    fn span_from(&self, start: u32) -> Span {
        Span::new(self.file, start, self.last_end.max(start))
    }

    fn current_text(&self) -> &str {
        self.lexer.text(self.current)
    }

    fn expected(&mut self, wanted: &str) -> Failed {
        let found = match self.current.token {
            Token::EndOfText => "the end of the file".to_owned(),
            _ => {
                let text = self.current_text();
                let shown: String = text.chars().take(40).collect();
                if shown.len() < text.len() {
                    format!("`{shown}...`")
                } else {
                    format!("`{shown}`")
                }
            }
        };
        let diagnostic = Diagnostic::error(self.here(), format!("unexpected {found}"))
            .label(format!("expected {wanted}"));
        self.reports.add(diagnostic);
        Failed
    }

    /// Reports a construct that the dialect does not have, the first time it comes up.
    fn require(&mut self, feature: Feature, span: Span) {
        let name = feature.name();
        if self.dialect.has(feature) || self.refused.contains(&name) {
            return;
        }
        self.refused.push(name);
        let message = format!(
            "{name} is not part of the {} dialect; use --dialect auto",
            self.dialect.title()
        );
        self.reports.add(Diagnostic::error(span, message));
    }

    fn refuse_thread(&mut self, construct: &'static str, span: Span) -> Failed {
        if !self.refused.contains(&construct) {
            self.refused.push(construct);
            self.reports.add(
                Diagnostic::error(span, format!("threads are not supported: `{construct}`"))
                    .label("only sequential programs can be checked"),
            );
        }
        Failed
    }
}
