//! Tokens to syntax, with recovery: after an error the parser goes on at the next statement.
//!
//! Nothing here recurses: blocks and parentheses that are open are kept on stacks of their own.

mod expression;

use crate::ast::{Ast, Expr, Item, Kind, List, Name, Procedure, ReturnType, Statement};
use crate::dialect::{Dialect, Feature};
use crate::lexer::{Lexeme, Lexer, Problem, Symbol, Token};
use crate::program::ExprId;
use crate::report::Reports;
use hardbop_diagnostics::{Diagnostic, FileId, Span};

/// Has been reported; the caller goes on at the next statement.
struct Failed;
type Parsed<T> = Result<T, Failed>;

/// `bool<n>` beyond this is a slip or an attack: every value becomes a variable.
const MOST_RETURN_VALUES: u32 = 1 << 16;

/// Parses a text, whatever is in it.
pub(crate) fn parse(file: FileId, text: &str, dialect: Dialect, reports: &mut Reports) -> Ast {
    let mut lexer = Lexer::new(text, file, dialect);
    let current = lexer.next();
    let ahead = lexer.next();
    let ast = Ast {
        file,
        names: Vec::new(),
        items: Vec::new(),
        statements: Vec::new(),
        exprs: Vec::new(),
        name_lists: Vec::new(),
        expr_lists: Vec::new(),
        comments: Vec::new(),
    };
    let mut parser = Parser {
        file,
        dialect,
        lexer,
        current,
        ahead,
        last_end: 0,
        ast,
        reports,
        refused: Vec::new(),
        blocks: Vec::new(),
        frames: Vec::new(),
        operands: Vec::new(),
    };
    parser.take_problems();
    parser.file();
    let Parser { lexer, mut ast, .. } = parser;
    ast.names = lexer.names.iter().map(|&name| name.to_owned()).collect();
    ast.comments = lexer.comments;
    ast
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
    reports: &'r mut Reports,
    /// What has been refused already: once is enough for each construct.
    refused: Vec<&'static str>,
    blocks: Vec<Block>,
    frames: Vec<expression::Frame>,
    operands: Vec<ExprId>,
}

/// An open `if` or `while`.
struct Block {
    kind: BlockKind,
    start: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    If,
    /// After `else`, where no further branch may come.
    Else,
    While,
}

impl Parser<'_, '_> {
    fn file(&mut self) {
        let mut procedures = 0;
        loop {
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

    /// A labelled statement with its `;`, or one part of a structured one.
    fn statement(&mut self) -> Parsed<()> {
        let labels = self.labels()?;
        let start = self.current.start;
        let kind = match self.current.token {
            Token::Skip => {
                self.bump();
                Kind::Skip
            }
            Token::Decl => {
                self.bump();
                Kind::Decl(self.declared_names()?)
            }
            Token::Goto => {
                self.bump();
                let targets = self.names("a label")?;
                if targets.len() > 1 {
                    self.require(Feature::SeveralTargets, self.span_from(start));
                }
                Kind::Goto(targets)
            }
            Token::Return => {
                self.bump();
                Kind::Return(self.returned_values()?)
            }
            Token::If => return self.open(labels, BlockKind::If),
            Token::While => return self.open(labels, BlockKind::While),
            Token::Elsif | Token::Else | Token::Fi | Token::Od => {
                if !labels.is_empty() {
                    self.label_without_statement(labels);
                }
                return self.branch_or_close();
            }
            Token::End | Token::EndOfText | Token::Semicolon if !labels.is_empty() => {
                self.label_without_statement(labels);
                return Ok(());
            }
            Token::Name(name) => self.statement_by_name(name)?,
            Token::Constant(_)
                if matches!(
                    self.ahead.token,
                    Token::Assign | Token::Comma | Token::Colon
                ) =>
            {
                return Err(self.constant_as_name());
            }
            _ => return Err(self.expected("a statement")),
        };
        self.push(labels, kind, start, self.last_end);
        self.separator(kind)
    }

    /// `;` after a simple statement, unless what follows closes the block.
    fn separator(&mut self, kind: Kind) -> Parsed<()> {
        match self.current.token {
            Token::Semicolon => {
                self.bump();
                Ok(())
            }
            Token::End | Token::Fi | Token::Od | Token::Else | Token::Elsif => Ok(()),
            // The missing `end` is about to be reported.
            Token::EndOfText => Ok(()),
            _ => {
                let wanted = match kind {
                    Kind::Goto(_) | Kind::Dead(_) | Kind::Decl(_) => "`,` or `;`",
                    Kind::Assign {
                        constrain: None, ..
                    } => "an operator, `,` or `;`",
                    Kind::Return(_) | Kind::Assign { .. } | Kind::Enforce(_) | Kind::AbortIf(_) => {
                        "an operator or `;`"
                    }
                    _ => "`;`",
                };
                Err(self.expected(wanted))
            }
        }
    }

    fn labels(&mut self) -> Parsed<List> {
        let first = self.ast.name_lists.len() as u32;
        while let (Token::Name(symbol), Token::Colon) = (self.current.token, self.ahead.token) {
            let span = self.here();
            if self.ast.name_lists.len() as u32 > first {
                self.require(Feature::SeveralLabels, span);
            }
            if self.word(symbol).starts_with("ASYNC_") {
                self.refuse_thread("ASYNC_", span);
            }
            let Lexeme { start, end, .. } = self.current;
            self.ast.name_lists.push(Name { symbol, start, end });
            self.bump();
            self.bump();
        }
        Ok(List {
            start: first,
            end: self.ast.name_lists.len() as u32,
        })
    }

    fn label_without_statement(&mut self, labels: List) {
        let label = self.ast.name_lists[labels.end as usize - 1];
        let message = format!(
            "the label `{}` stands before no statement",
            self.word(label.symbol)
        );
        self.reports
            .add(Diagnostic::error(self.here(), message).label("expected a statement"));
        self.push(labels, Kind::Skip, label.start, label.end);
    }

    fn returned_values(&mut self) -> Parsed<List> {
        match self.current.token {
            Token::Semicolon
            | Token::End
            | Token::Fi
            | Token::Od
            | Token::Else
            | Token::Elsif
            | Token::EndOfText => Ok(List { start: 0, end: 0 }),
            _ => {
                self.require(Feature::ReturnValue, self.here());
                self.expressions()
            }
        }
    }

    /// A statement that starts with a name: an assignment, a call, or one of the words that are
    /// keywords only here.
    fn statement_by_name(&mut self, name: Symbol) -> Parsed<Kind> {
        let here = self.here();
        if matches!(self.ahead.token, Token::Assign | Token::Comma) {
            return self.assignment();
        }
        let word = self.word(name);
        let feature = match word {
            "assert" => None,
            "assume" => Some(Feature::Assume),
            "constrain" => Some(Feature::ConstrainStatement),
            "print" => Some(Feature::Print),
            "enforce" => Some(Feature::Enforce),
            "abortif" => Some(Feature::AbortIf),
            "dead" => Some(Feature::Dead),
            "start_thread" => return Err(self.refuse_thread("start_thread", here)),
            "end_thread" => return Err(self.refuse_thread("end_thread", here)),
            "sync" => return Err(self.refuse_thread("sync", here)),
            "atomic_begin" => return Err(self.refuse_thread("atomic_begin", here)),
            "atomic_end" => return Err(self.refuse_thread("atomic_end", here)),
            _ if self.ahead.token == Token::Open => {
                let callee = self.name("the name of a procedure")?;
                let arguments = self.arguments()?;
                let none = List { start: 0, end: 0 };
                return Ok(Kind::Call {
                    results: none,
                    callee,
                    arguments,
                });
            }
            _ => {
                self.bump();
                return Err(self.expected("`:=`, `,`, `(` or `:`"));
            }
        };
        let word = word.to_owned();
        if let Some(feature) = feature {
            self.require(feature, here);
        }
        self.bump();
        Ok(match word.as_str() {
            "assert" => Kind::Assert(self.condition()?),
            "assume" => Kind::Assume(self.condition()?),
            "constrain" => Kind::Constrain(self.condition()?),
            "print" => Kind::Print(self.arguments()?),
            "enforce" => Kind::Enforce(self.expression()?),
            "abortif" => Kind::AbortIf(self.expression()?),
            _ => Kind::Dead(self.names("the name of a variable")?),
        })
    }

    fn assignment(&mut self) -> Parsed<Kind> {
        let start = self.current.start;
        let targets = self.names("the name of a variable")?;
        self.eat(Token::Assign, "`,` or `:=`")?;
        if let (Token::Name(name), Token::Open) = (self.current.token, self.ahead.token)
            && self.word(name) != "choose"
        {
            self.require(Feature::CallResult, self.span_from(start));
            let callee = self.name("the name of a procedure")?;
            let arguments = self.arguments()?;
            return Ok(Kind::Call {
                results: targets,
                callee,
                arguments,
            });
        }
        let values = self.expressions()?;
        let constrain = if self.at_word("constrain") {
            self.require(Feature::ConstrainSuffix, self.here());
            self.bump();
            Some(self.expression()?)
        } else {
            None
        };
        Ok(Kind::Assign {
            targets,
            values,
            constrain,
        })
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

    // Structured statements.

    fn open(&mut self, labels: List, kind: BlockKind) -> Parsed<()> {
        let start = self.current.start;
        self.bump();
        let condition = self.decider();
        // The block is opened even if its condition is wrong, so that its end finds it.
        self.blocks.push(Block { kind, start });
        let condition = match condition {
            Ok(condition) => condition,
            Err(Failed) => {
                self.skip_in_head();
                self.add_expr(Expr::Const(false))
            }
        };
        let end = self.last_end;
        let (part, token, wanted) = match kind {
            BlockKind::While => (Kind::While(condition), Token::Do, "an operator or `do`"),
            _ => (Kind::If(condition), Token::Then, "an operator or `then`"),
        };
        self.push(labels, part, start, end);
        self.eat(token, wanted)
    }

    /// `elsif`, `else`, `fi` or `od`.
    fn branch_or_close(&mut self) -> Parsed<()> {
        let Lexeme { token, start, end } = self.current;
        let wants_while = token == Token::Od;
        let fits = |block: &Block| (block.kind == BlockKind::While) == wants_while;
        let Some(depth) = self.blocks.iter().rposition(fits) else {
            let opener = if wants_while { "while" } else { "if" };
            let message = format!("`{}` without `{opener}`", self.current_text());
            self.reports
                .add(Diagnostic::error(self.here(), message).label("closes nothing"));
            self.bump();
            if token == Token::Elsif {
                let _ = self.decider();
                self.skip_in_head();
                return self.eat(Token::Then, "`then`");
            }
            return Ok(());
        };
        if depth + 1 < self.blocks.len() {
            self.close_blocks(depth + 1);
        }
        let none = List { start: 0, end: 0 };
        if matches!(token, Token::Else | Token::Elsif) && self.blocks[depth].kind == BlockKind::Else
        {
            let text = self.current_text();
            let message = format!("`{text}` after `else`");
            let opened = Span::new(
                self.file,
                self.blocks[depth].start,
                self.blocks[depth].start + 2,
            );
            self.reports.add(
                Diagnostic::error(self.here(), message)
                    .label("expected `fi`")
                    .note(Some(opened), "in this `if`"),
            );
            // Reads on as if a new `if` had started, so that its parts still match.
            self.push(none, Kind::Fi, start, start);
            let condition = self.add_expr(Expr::Const(false));
            self.push(none, Kind::If(condition), start, start);
            self.blocks[depth].kind = BlockKind::If;
        }
        self.bump();
        match token {
            Token::Else => {
                self.blocks[depth].kind = BlockKind::Else;
                self.push(none, Kind::Else, start, end);
            }
            Token::Elsif => {
                let condition = match self.decider() {
                    Ok(condition) => condition,
                    Err(Failed) => {
                        self.skip_in_head();
                        self.add_expr(Expr::Const(false))
                    }
                };
                self.push(none, Kind::Elsif(condition), start, self.last_end);
                return self.eat(Token::Then, "an operator or `then`");
            }
            Token::Fi => {
                self.blocks.pop();
                self.push(none, Kind::Fi, start, end);
            }
            _ => {
                self.blocks.pop();
                self.push(none, Kind::Od, start, end);
            }
        }
        if matches!(token, Token::Fi | Token::Od) && self.current.token == Token::Semicolon {
            self.bump();
        }
        Ok(())
    }

    /// Reports and closes the open blocks from `depth` on.
    fn close_blocks(&mut self, depth: usize) {
        let none = List { start: 0, end: 0 };
        let here = self.here();
        // One message: the innermost block is where the closing word was forgotten.
        if let Some(block) = self.blocks.last() {
            let (word, close, length) = match block.kind {
                BlockKind::While => ("while", "od", 5),
                _ => ("if", "fi", 2),
            };
            let opened = Span::new(self.file, block.start, block.start + length);
            if self.current.token != Token::EndOfText {
                self.reports.add(
                    Diagnostic::error(here, format!("this `{word}` is not closed"))
                        .label(format!("expected `{close}`"))
                        .note(Some(opened), "it starts here"),
                );
            }
        }
        while self.blocks.len() > depth {
            let kind = match self.blocks.pop().map(|block| block.kind) {
                Some(BlockKind::While) => Kind::Od,
                _ => Kind::Fi,
            };
            self.push(none, kind, here.start, here.start);
        }
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
