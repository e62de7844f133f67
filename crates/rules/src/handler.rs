//! The body of a handler as edges of the function that it is woven into.

use crate::ast::*;
use crate::typing::{Expressions, Refused, Site};
use crate::watching::{Nulls, Subject, Tracked, Watching, object_type};
use crate::weave::Home;
use hardbop_cfront::edit::{Graphs, Tables};
use hardbop_cfront::ids::{ExprId, FuncId, LocId, VarId};
use hardbop_cfront::program::{BinaryOp, Check, CheckKind, ExprKind, LocationKind, Op, Source};
use hardbop_cfront::types::Type;
use hardbop_diagnostics::{Diagnostic, Span};

/// Where a handler is woven in.
pub(crate) struct Into<'a> {
    pub graphs: &'a mut Graphs,
    /// The handler runs from the first location to the second.
    pub between: (LocId, LocId),
}

/// Weaves a handler in.
pub(crate) struct Body<'a> {
    tables: &'a mut Tables,
    home: &'a Home<'a>,
    site: &'a Site,
    function: FuncId,
    graphs: &'a mut Graphs,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// Where the handler goes on; nowhere after `abort`, `halt` and `return`.
    at: Option<LocId>,
    end: LocId,
}

type Lowered = Result<(), Refused>;

impl Body<'_> {
    /// Adds the statements; errors are among the diagnostics.
    pub fn weave(
        tables: &mut Tables,
        home: &Home<'_>,
        site: &Site,
        into: Into<'_>,
        statements: &[Stmt],
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let (start, end) = into.between;
        let mut body = Body {
            tables,
            home,
            site,
            function: into.graphs.function(start),
            graphs: into.graphs,
            diagnostics,
            at: Some(start),
            end,
        };
        let _ = body.statements(statements);
        if let Some(at) = body.at {
            let span = statements
                .last()
                .map_or(home.start(), |statement| statement.span);
            let source = body.source(span);
            body.graphs.edge(at, end, Op::Skip, source);
        }
    }

    /// Where an expression stands in the rule.
    fn span(&self, expr: NodeId) -> Span {
        self.home.rule.exprs.span(expr)
    }

    fn source(&self, span: Span) -> Source {
        self.home.source(&self.tables.program, span)
    }

    fn expressions(&mut self) -> Expressions<'_> {
        Expressions {
            tables: self.tables,
            home: self.home,
            site: self.site,
            diagnostics: self.diagnostics,
        }
    }

    /// The statements that can be reached; one that cannot gets a warning.
    fn statements(&mut self, statements: &[Stmt]) -> Lowered {
        let mut result = Ok(());
        for statement in statements {
            let Some(at) = self.at else {
                let span = self.home.span(statement.span);
                self.diagnostics.push(
                    Diagnostic::warning(span, "this statement is never reached")
                        .label("control leaves the handler before it"),
                );
                break;
            };
            // One statement's error does not hide those of the next ones.
            if self.statement(statement, at).is_err() {
                result = Err(Refused);
            }
        }
        result
    }

    fn statement(&mut self, statement: &Stmt, at: LocId) -> Lowered {
        let source = self.source(statement.span);
        match &statement.kind {
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => self.conditional(*condition, then, otherwise),
            StmtKind::Assign { target, op, value } => {
                self.assign(*target, *op, *value, statement.span)
            }
            StmtKind::Abort { message } => {
                let message = message.replace("$fname", &self.site.function);
                let check = self.tables.program.add_check(Check {
                    kind: CheckKind::Rule,
                    message,
                    function: self.function,
                    source,
                });
                let error = self.location(LocationKind::Error(check));
                self.graphs.edge(at, error, Op::Skip, source);
                self.at = None;
                Ok(())
            }
            StmtKind::Halt => {
                let halt = self.location(LocationKind::Halt);
                self.graphs.edge(at, halt, Op::Skip, source);
                self.at = None;
                Ok(())
            }
            StmtKind::Return => {
                self.graphs.edge(at, self.end, Op::Skip, source);
                self.at = None;
                Ok(())
            }
            StmtKind::Watch(expr) => {
                let value = self.expressions().value(*expr)?;
                let go_on = self.location(LocationKind::Plain);
                self.meets(Subject::Watch, value, go_on, self.end, source);
                self.at = Some(go_on);
                Ok(())
            }
            StmtKind::Track(expr) => {
                let value = self.expressions().value(*expr)?;
                self.track(value, source);
                Ok(())
            }
        }
    }

    /// Goes on with an object that begins its life, if it is the one to be watched from now on.
    fn track(&mut self, value: ExprId, source: Source) {
        let tracked = match self.home.watching.get(&Subject::Watch) {
            Some(&Watching::Tracked(tracked)) => tracked,
            Some(&Watching::TheOnlyOneTracked { tracking, nulls }) => {
                // Whichever of its lives is looked at, it is the last one that has begun.
                if nulls == Nulls::Passed {
                    let some = self.location(LocationKind::Plain);
                    self.split(value, some, self.end, source);
                    self.at = Some(some);
                }
                self.set(tracking, 1, source);
                self.begin(source);
                return;
            }
            _ => return,
        };
        let Tracked {
            tracking,
            object,
            chance,
        } = tracked;
        // An object that begins its life anew is another one.
        let (known, free) = (
            self.location(LocationKind::Plain),
            self.location(LocationKind::Plain),
        );
        self.meets(Subject::Watch, value, known, free, source);
        self.at = Some(known);
        self.set(tracking, 0, source);
        self.go(free, source);
        self.at = Some(free);
        if matches!(self.tables.type_of(value), Type::Pointer(_)) {
            let some = self.location(LocationKind::Plain);
            self.split(value, some, self.end, source);
            self.at = Some(some);
        }
        let choosing = self.location(LocationKind::Plain);
        let tracks = self.tables.load_variable(tracking);
        self.split(tracks, self.end, choosing, source);
        self.at = Some(choosing);
        let place = self.tables.variable_place(chance);
        self.emit(Op::Havoc { place }, source);
        let chosen = self.location(LocationKind::Plain);
        let taken = self.tables.load_variable(chance);
        self.split(taken, chosen, self.end, source);
        self.at = Some(chosen);
        self.set(tracking, 1, source);
        let ty = self.tables.program.variable(object).ty;
        let value = self.tables.convert(value, ty);
        let place = self.tables.variable_place(object);
        self.emit(Op::Assign { place, value }, source);
        self.begin(source);
    }

    /// The state begins anew.
    fn begin(&mut self, source: Source) {
        for (&position, &variable) in &self.home.variables {
            let initial = self.home.rule.state[position].initial;
            self.set(variable, initial, source);
        }
    }

    /// Sets a variable to a constant.
    fn set(&mut self, variable: VarId, value: i128, source: Source) {
        let ty = self.tables.program.variable(variable).ty;
        let value = self.tables.constant(value, ty);
        let place = self.tables.variable_place(variable);
        self.emit(Op::Assign { place, value }, source);
    }

    fn location(&mut self, kind: LocationKind) -> LocId {
        self.graphs.location(self.function, kind)
    }

    /// Goes on after an edge.
    fn emit(&mut self, op: Op, source: Source) {
        let Some(at) = self.at else { return };
        let next = self.location(LocationKind::Plain);
        self.graphs.edge(at, next, op, source);
        self.at = Some(next);
    }

    /// Goes to a location.
    fn go(&mut self, to: LocId, source: Source) {
        if let Some(at) = self.at.take() {
            self.graphs.edge(at, to, Op::Skip, source);
        }
    }

    fn conditional(&mut self, condition: NodeId, then: &[Stmt], otherwise: &[Stmt]) -> Lowered {
        let yes = self.location(LocationKind::Plain);
        let no = self.location(LocationKind::Plain);
        let join = self.location(LocationKind::Plain);
        let source = self.source(self.span(condition));
        let decided = self.branch(condition, yes, no);
        let mut reached = false;
        let mut result = decided;
        for (start, statements) in [(yes, then), (no, otherwise)] {
            self.at = Some(start);
            if self.statements(statements).is_err() {
                result = Err(Refused);
            }
            if let Some(end) = self.at {
                self.graphs.edge(end, join, Op::Skip, source);
                reached = true;
            }
        }
        self.at = reached.then_some(join);
        result
    }

    /// Goes to one of two locations by a condition.
    fn branch(&mut self, condition: NodeId, yes: LocId, no: LocId) -> Lowered {
        match self.home.rule.exprs.node(condition).kind {
            NodeKind::Unary(UnaryWord::Not, inner) => self.branch(inner, no, yes),
            NodeKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let second = self.location(LocationKind::Plain);
                let first = match op {
                    BinaryOp::And => self.branch(left, second, no),
                    _ => self.branch(left, yes, second),
                };
                self.at = Some(second);
                self.branch(right, yes, no)?;
                first
            }
            NodeKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), left, right) => {
                let expressions = self.expressions();
                let objects = (expressions.object(left), expressions.object(right));
                let (object, other) = match objects {
                    (None, None) => return self.test(condition, yes, no),
                    (Some(_), Some(_)) => {
                        let message = "two objects cannot be compared with each other";
                        let span = self.span(condition);
                        return self.expressions().refuse(span, message, "");
                    }
                    (Some(object), None) => (object, right),
                    (None, Some(object)) => (object, left),
                };
                let value = self.expressions().value(other)?;
                let (yes, no) = match op {
                    BinaryOp::Eq => (yes, no),
                    _ => (no, yes),
                };
                let source = self.source(self.span(condition));
                self.meets(Subject::Object(object), value, yes, no, source);
                Ok(())
            }
            _ => self.test(condition, yes, no),
        }
    }

    fn test(&mut self, condition: NodeId, yes: LocId, no: LocId) -> Lowered {
        let value = self.expressions().value(condition)?;
        let source = self.source(self.span(condition));
        self.split(value, yes, no, source);
        Ok(())
    }

    fn split(&mut self, condition: ExprId, yes: LocId, no: LocId, source: Source) {
        let Some(at) = self.at else { return };
        self.graphs.branch(at, condition, yes, no, source);
    }

    /// Whether a value is a watched object. Null is no object.
    fn meets(&mut self, subject: Subject, value: ExprId, yes: LocId, no: LocId, source: Source) {
        match self.home.watching.get(&subject).cloned() {
            None | Some(Watching::TheOnlyOne(Nulls::Never)) => self.go(yes, source),
            Some(Watching::TheOnlyOne(Nulls::Passed)) => self.split(value, yes, no, source),
            Some(Watching::Address(object)) => self.is_object(value, object, yes, no, source),
            Some(Watching::Chosen(chosen)) => {
                let met = match self.site.met.get(&subject) {
                    Some(&met) => met,
                    None => self.tables.load_variable(chosen.met),
                };
                self.split(met, yes, no, source);
            }
            Some(Watching::TheOnlyOneTracked { tracking, nulls }) => {
                let tracking = self.tables.load_variable(tracking);
                let some = self.location(LocationKind::Plain);
                self.split(tracking, some, no, source);
                self.at = Some(some);
                match nulls {
                    Nulls::Never => self.go(yes, source),
                    Nulls::Passed => self.split(value, yes, no, source),
                }
            }
            Some(Watching::Tracked(tracked)) => {
                let tracking = self.tables.load_variable(tracked.tracking);
                let some = self.location(LocationKind::Plain);
                self.split(tracking, some, no, source);
                self.at = Some(some);
                self.is_object(value, tracked.object, yes, no, source);
            }
        }
    }

    fn is_object(&mut self, value: ExprId, object: VarId, yes: LocId, no: LocId, source: Source) {
        if matches!(self.tables.type_of(value), Type::Pointer(_)) {
            let some = self.location(LocationKind::Plain);
            self.split(value, some, no, source);
            self.at = Some(some);
        }
        let ty = object_type(self.tables);
        let value = self.tables.convert(value, ty);
        let object = self.tables.load_variable(object);
        let int = self.tables.int();
        let same = ExprKind::Binary(BinaryOp::Eq, value, object);
        let same = self.tables.expr(same, int);
        self.split(same, yes, no, source);
    }

    fn assign(
        &mut self,
        target: NodeId,
        op: Option<BinaryOp>,
        value: NodeId,
        span: Span,
    ) -> Lowered {
        let variable = self.target(target)?;
        let value_span = self.span(value);
        let mut expressions = self.expressions();
        let mut result = expressions.value(value)?;
        if let Some(op) = op {
            let old = expressions.tables.load_variable(variable);
            result = expressions.combine(op, old, result, span)?;
        }
        let ty = expressions.tables.program.variable(variable).ty;
        let result = expressions.assigned(result, ty, value_span)?;
        let place = self.tables.variable_place(variable);
        let source = self.source(span);
        let op = Op::Assign {
            place,
            value: result,
        };
        self.emit(op, source);
        Ok(())
    }

    /// The variable that is assigned to: one of the rule's own.
    fn target(&mut self, target: NodeId) -> Result<VarId, Refused> {
        let rule = self.home.rule;
        let span = self.span(target);
        let mut expressions = self.expressions();
        if let Some(object) = expressions.object(target) {
            let name = &rule.state[object].name.text;
            let message = format!("the object `{name}` never changes");
            return expressions.refuse(span, message, "assigned here");
        }
        if let NodeKind::Name(name) = &rule.exprs.node(target).kind {
            let known = rule.state_variable(name);
            let variables = &expressions.home.variables;
            if let Some(&variable) = known.and_then(|known| variables.get(&known)) {
                return Ok(variable);
            }
            let mut constants = rule.constants.iter();
            if constants.any(|constant| constant.name.text == *name) {
                let message = format!("`{name}` is a constant");
                return expressions.refuse(span, message, "assigned here");
            }
            // An unknown name is told as such.
            expressions.value(target)?;
            let message =
                format!("`{name}` belongs to the program: a rule changes its own state only");
            return expressions.refuse(span, message, "assigned here");
        }
        expressions.refuse(
            span,
            "a rule changes the variables of its own state only",
            "assigned here",
        )
    }
}
