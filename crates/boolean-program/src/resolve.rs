//! Syntax to [`Program`]: names, arities, control flow.

use crate::ast::{Ast, Expr, Item, Kind, List, Name, Procedure as Definition};
use crate::dialect::{Dialect, Operator};
use crate::flow::Flow;
use crate::lexer::Symbol;
use crate::program::*;
use crate::report::Reports;
use hardbop_diagnostics::{Diagnostic, Severity, Span};

/// Resolves a file that parsed without errors. The program is there if no error was found.
pub(crate) fn resolve(ast: &Ast, dialect: Dialect, reports: &mut Reports) -> Option<Program> {
    let mut resolver = Resolver::new(ast, dialect, reports);
    resolver.declare_items();
    resolver.define_items();
    resolver.warn_of_unused();
    let main = resolver.main();
    let Resolver { mut program, .. } = resolver;
    program.main = main?;
    (!reports.has_errors()).then_some(program)
}

/// What the variables of an expression may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Anywhere but in a `constrain`.
    State,
    /// In a `constrain`, where `'x` has a meaning.
    Transition,
}

/// A table from names to something, emptied in no time.
struct Table {
    entries: Vec<(u32, u32)>,
    stamp: u32,
}

impl Table {
    fn new(names: usize) -> Table {
        Table {
            entries: vec![(0, 0); names],
            stamp: 1,
        }
    }

    fn clear(&mut self) {
        self.stamp += 1;
    }

    fn get(&self, symbol: Symbol) -> Option<u32> {
        let (stamp, value) = self.entries[symbol.0 as usize];
        (stamp == self.stamp).then_some(value)
    }

    /// Enters a value and gives back the one that was there.
    fn insert(&mut self, symbol: Symbol, value: u32) -> Option<u32> {
        let before = self.get(symbol);
        self.entries[symbol.0 as usize] = (self.stamp, value);
        before
    }
}

struct Resolver<'a> {
    ast: &'a Ast,
    reports: &'a mut Reports,
    discard: Option<Symbol>,
    program: Program,
    /// By node of the syntax, as far as they are translated: the program's node.
    translated: Vec<ExprId>,
    globals: Table,
    locals: Table,
    procedures: Table,
    /// The position of each label of the current procedure.
    labels: Table,
    /// The targets of the current assignment.
    assigned: Table,
    /// By procedure: the item that defines it, or nothing if its name was taken.
    definitions: Vec<usize>,
    /// By variable: whether anything mentions it.
    used: Vec<bool>,
    flow: Flow,
}

impl<'a> Resolver<'a> {
    fn new(ast: &'a Ast, dialect: Dialect, reports: &'a mut Reports) -> Resolver<'a> {
        let names = ast.names.len();
        let discard = dialect
            .has_discard()
            .then(|| ast.names.iter().position(|name| name == "_"))
            .flatten()
            .map(|index| Symbol(index as u32));
        let program = Program {
            variables: Vec::new(),
            globals: Vec::new(),
            procedures: Vec::new(),
            main: ProcId(0),
            vertices: Vec::new(),
            edges: Vec::new(),
            exprs: Exprs::default(),
            enforce: None,
            targets: Vec::new(),
        };
        Resolver {
            ast,
            reports,
            discard,
            program,
            translated: Vec::with_capacity(ast.exprs.len()),
            globals: Table::new(names),
            locals: Table::new(names),
            procedures: Table::new(names),
            labels: Table::new(names),
            assigned: Table::new(names),
            definitions: Vec::new(),
            used: Vec::new(),
            flow: Flow::default(),
        }
    }

    // Declarations.

    /// Globals and the signatures of procedures, which are visible in the whole file.
    fn declare_items(&mut self) {
        let ast = self.ast;
        // Every value that is really returned is an expression of the text.
        let mut values_left = ast.exprs.len() + (1 << 16);
        for (index, item) in ast.items.iter().enumerate() {
            match item {
                Item::Global { names, .. } => {
                    for &name in ast.names(*names) {
                        self.declare(name, VarKind::Global);
                    }
                }
                Item::Enforce { .. } => {}
                Item::Procedure(definition) => {
                    let count = definition.returns.count() as usize;
                    let Some(left) = values_left.checked_sub(count) else {
                        let span = ast.name_span(definition.name);
                        self.reports
                            .add(Diagnostic::error(span, "too many return values"));
                        return;
                    };
                    values_left = left;
                    self.declare_procedure(index, definition);
                }
            }
        }
    }

    fn declare_procedure(&mut self, index: usize, definition: &Definition) {
        let id = ProcId(self.program.procedures.len() as u32);
        let name = definition.name;
        if Some(name.symbol) == self.discard {
            self.error(
                name,
                "`_` is not a name",
                "expected a name for the procedure",
            );
        }
        if let Some(first) = self.procedures.get(name.symbol) {
            let first = self.definitions[first as usize];
            let first = match &self.ast.items[first] {
                Item::Procedure(first) => self.ast.name_span(first.name),
                Item::Global { span, .. } | Item::Enforce { span, .. } => *span,
            };
            let message = format!("the procedure `{}` is defined twice", self.text(name));
            self.duplicate(name, message, first);
        } else {
            self.procedures.insert(name.symbol, id.0);
        }
        self.definitions.push(index);
        self.locals.clear();
        let formals = self.ast.names(definition.formals);
        let formals = formals
            .iter()
            .map(|&f| self.declare(f, VarKind::Formal(id)))
            .collect();
        let returns = (1..=definition.returns.count())
            .map(|i| {
                let name = if i == 1 {
                    "return".to_owned()
                } else {
                    format!("return.{i}")
                };
                self.add_variable(
                    name,
                    VarKind::Return(id),
                    self.ast.name_span(definition.name),
                )
            })
            .collect();
        self.program.procedures.push(Procedure {
            name: self.text(name).to_owned(),
            formals,
            locals: Vec::new(),
            returns,
            enforce: None,
            vertices: 0..0,
            entry: VertexId(0),
            exit: VertexId(0),
            span: definition.span,
        });
    }

    fn declare(&mut self, name: Name, kind: VarKind) -> VarId {
        if Some(name.symbol) == self.discard {
            self.error(
                name,
                "`_` cannot be declared",
                "expected a name for the variable",
            );
        }
        let id = self.add_variable(self.text(name).to_owned(), kind, self.ast.name_span(name));
        let table = match kind {
            VarKind::Global => &mut self.globals,
            _ => &mut self.locals,
        };
        if let Some(first) = table.insert(name.symbol, id.0) {
            table.insert(name.symbol, first);
            let first = self.program.variables[first as usize].span;
            self.duplicate(
                name,
                format!("`{}` is declared twice", self.text(name)),
                first,
            );
            // The first complaint is enough.
            self.used[id.index()] = true;
        }
        if kind == VarKind::Global {
            self.program.globals.push(id);
        }
        id
    }

    fn add_variable(&mut self, name: String, kind: VarKind, span: Span) -> VarId {
        self.program.variables.push(Variable { name, kind, span });
        self.used.push(false);
        VarId(self.program.variables.len() as u32 - 1)
    }

    // Bodies.

    fn define_items(&mut self) {
        let ast = self.ast;
        let mut procedure = 0;
        for item in &ast.items {
            match item {
                Item::Global { .. } => {}
                Item::Enforce { condition, .. } => {
                    self.locals.clear();
                    let condition = self.translate(*condition, Place::State);
                    self.program.enforce = Some(self.also(self.program.enforce, condition));
                }
                Item::Procedure(definition) => {
                    if procedure == self.program.procedures.len() {
                        return;
                    }
                    self.define(ProcId(procedure as u32), definition);
                    procedure += 1;
                }
            }
        }
    }

    fn define(&mut self, id: ProcId, definition: &Definition) {
        let ast = self.ast;
        let statements = &ast.statements[definition.statements.range()];
        self.locals.clear();
        let formals = self.program.procedures[id.index()].formals.clone();
        for (&name, formal) in ast.names(definition.formals).iter().zip(formals) {
            self.locals.insert(name.symbol, formal.0);
        }
        let mut flow = std::mem::take(&mut self.flow);
        flow.compute(statements);
        self.collect_labels(definition);

        let first = self.program.vertices.len() as u32;
        let body = Body {
            id,
            first,
            flow: &flow,
            exit: first + flow.exit(),
        };
        let mut failures = Vec::new();
        for position in 0..statements.len() {
            self.statement(&body, definition, position, &mut failures);
        }
        self.vertex(&body, VertexKind::Exit, definition.end);
        for span in failures {
            self.vertex(&body, VertexKind::Failed, span);
        }
        let procedure = &mut self.program.procedures[id.index()];
        procedure.vertices = first..self.program.vertices.len() as u32;
        procedure.entry = VertexId(first + flow.arrival(0));
        procedure.exit = VertexId(body.exit);
        self.flow = flow;
        if !self.reports.has_errors() {
            self.warn_of_flow(id);
        }
    }

    fn collect_labels(&mut self, definition: &Definition) {
        let ast = self.ast;
        self.labels.clear();
        let base = definition.statements.start;
        for (position, statement) in ast.statements[definition.statements.range()]
            .iter()
            .enumerate()
        {
            for &label in ast.names(statement.labels) {
                // SLAM prints some labels several times on the same statement.
                match self.labels.get(label.symbol) {
                    Some(first) if first as usize != position => {
                        let first = &ast.statements[(base + first) as usize];
                        let first = ast
                            .names(first.labels)
                            .iter()
                            .find(|other| other.symbol == label.symbol)
                            .map_or(definition.span, |&name| ast.name_span(name));
                        let message = format!("the label `{}` is set twice", self.text(label));
                        self.duplicate(label, message, first);
                    }
                    Some(_) => {}
                    None => {
                        self.labels.insert(label.symbol, position as u32);
                    }
                }
            }
        }
    }

    fn statement(
        &mut self,
        body: &Body,
        definition: &Definition,
        position: usize,
        failures: &mut Vec<Span>,
    ) {
        let ast = self.ast;
        let statement = &ast.statements[definition.statements.start as usize + position];
        let span = Span::new(ast.file, statement.start, statement.end);
        let vertex = body.flow.vertex(position).map(|v| VertexId(body.first + v));
        let next = VertexId(body.first + body.flow.arrival(position + 1));
        let exit = VertexId(body.exit);
        if let Some(vertex) = vertex {
            self.assigned.clear();
            for &label in ast.names(statement.labels) {
                if self.assigned.insert(label.symbol, 0).is_some() {
                    continue;
                }
                self.program.targets.push(Target {
                    kind: TargetKind::Label(ast.name(label.symbol).to_owned()),
                    vertex,
                    span: ast.name_span(label),
                });
            }
        }
        let (kind, edges) = match statement.kind {
            Kind::Skip => (VertexKind::Skip, vec![(next, Action::Skip)]),
            Kind::Print(values) => {
                self.translate_list(values);
                (VertexKind::Skip, vec![(next, Action::Skip)])
            }
            Kind::Goto(targets) => (VertexKind::Goto, self.goto(body, targets)),
            Kind::Return(values) => (
                VertexKind::Return,
                vec![(exit, self.return_values(body.id, values, span))],
            ),
            Kind::Assign {
                targets,
                values,
                constrain,
            } => {
                let action = self.assign(targets, values, constrain, span);
                (VertexKind::Assign, vec![(next, action)])
            }
            Kind::Call {
                results,
                callee,
                arguments,
            } => {
                let action = self.call(results, callee, arguments, span);
                (VertexKind::Call, vec![(next, action)])
            }
            Kind::If(condition) | Kind::Elsif(condition) | Kind::While(condition) => {
                let condition = self.translate(condition, Place::State);
                let otherwise = VertexId(body.first + body.flow.otherwise(position));
                let kind = match statement.kind {
                    Kind::While(_) => VertexKind::While,
                    _ => VertexKind::If,
                };
                let yes = (
                    next,
                    Action::Assume {
                        condition,
                        holds: true,
                    },
                );
                let no = (
                    otherwise,
                    Action::Assume {
                        condition,
                        holds: false,
                    },
                );
                (kind, vec![yes, no])
            }
            Kind::Assert(condition) => {
                let condition = self.translate(condition, Place::State);
                failures.push(span);
                let failed = VertexId(body.exit + failures.len() as u32);
                self.program.targets.push(Target {
                    kind: TargetKind::Assertion,
                    vertex: failed,
                    span,
                });
                let yes = (
                    next,
                    Action::Assume {
                        condition,
                        holds: true,
                    },
                );
                let no = (
                    failed,
                    Action::Assume {
                        condition,
                        holds: false,
                    },
                );
                (VertexKind::Assert, vec![yes, no])
            }
            Kind::Assume(condition) | Kind::Constrain(condition) => {
                // As a statement `constrain` relates no two states, so `'x` means nothing there.
                let condition = self.translate(condition, Place::State);
                (
                    VertexKind::Assume,
                    vec![(
                        next,
                        Action::Assume {
                            condition,
                            holds: true,
                        },
                    )],
                )
            }
            Kind::AbortIf(condition) => {
                let condition = self.translate(condition, Place::State);
                (
                    VertexKind::Assume,
                    vec![(
                        next,
                        Action::Assume {
                            condition,
                            holds: false,
                        },
                    )],
                )
            }
            Kind::Enforce(condition) => {
                let condition = self.translate(condition, Place::State);
                if self.program.vertices.len() as u32 > body.first {
                    let message = "`enforce` after the first statement";
                    let label = "must stand before it: it holds in every state of the procedure";
                    self.reports
                        .add(Diagnostic::error(span, message).label(label));
                }
                let before = self.program.procedures[body.id.index()].enforce;
                let enforce = self.also(before, condition);
                self.program.procedures[body.id.index()].enforce = Some(enforce);
                (VertexKind::Skip, vec![(next, Action::Skip)])
            }
            Kind::Dead(names) => {
                let targets = ast
                    .names(names)
                    .iter()
                    .filter_map(|&n| self.target(n))
                    .collect();
                (VertexKind::Dead, vec![(next, self.forget(targets))])
            }
            Kind::Decl(names) => {
                let kind = VarKind::Local(body.id);
                let names = ast.names(names);
                let locals: Vec<_> = names.iter().map(|&n| self.declare(n, kind)).collect();
                self.program.procedures[body.id.index()]
                    .locals
                    .extend(&locals);
                if vertex.is_none() {
                    return;
                }
                (VertexKind::Dead, vec![(next, self.forget(locals))])
            }
            Kind::Else | Kind::Fi | Kind::Od => return,
        };
        let Some(vertex) = vertex else { return };
        debug_assert_eq!(vertex.index(), self.program.vertices.len());
        self.vertex(body, kind, span);
        for (to, action) in edges {
            self.program.edges.push(Edge {
                from: vertex,
                to,
                action,
            });
        }
        self.program.vertices[vertex.index()].edges.end = self.program.edges.len() as u32;
    }

    fn vertex(&mut self, body: &Body, kind: VertexKind, span: Span) {
        let edges = self.program.edges.len() as u32;
        self.program.vertices.push(Vertex {
            procedure: body.id,
            kind,
            span,
            edges: edges..edges,
        });
    }

    fn goto(&mut self, body: &Body, targets: List) -> Vec<(VertexId, Action)> {
        let mut edges = Vec::new();
        self.assigned.clear();
        for &name in self.ast.names(targets) {
            let Some(position) = self.labels.get(name.symbol) else {
                let message = format!("unknown label `{}`", self.text(name));
                self.error(name, message, "no statement of this procedure has it");
                continue;
            };
            // The same place twice is one way on, not two.
            if self.assigned.insert(name.symbol, 0).is_none() {
                let vertex = VertexId(body.first + body.flow.arrival(position as usize));
                edges.push((vertex, Action::Skip));
            }
        }
        edges
    }

    fn return_values(&mut self, procedure: ProcId, values: List, span: Span) -> Action {
        let values = self.translate_list(values);
        let returns = &self.program.procedures[procedure.index()].returns;
        if returns.len() != values.len() {
            let procedure = &self.program.procedures[procedure.index()];
            let message = format!(
                "`{}` returns {}, not {}",
                procedure.name,
                count(returns.len(), "value"),
                values.len()
            );
            let label = format!("expected {}", count(returns.len(), "value"));
            self.reports
                .add(Diagnostic::error(span, message).label(label));
            return Action::Skip;
        }
        if values.is_empty() {
            return Action::Skip;
        }
        let assignments = returns.iter().copied().zip(values).collect();
        Action::Assign {
            assignments,
            constrain: None,
        }
    }

    fn assign(
        &mut self,
        targets: List,
        values: List,
        constrain: Option<ExprId>,
        span: Span,
    ) -> Action {
        let targets = self.targets(targets);
        let values = self.translate_list(values);
        let constrain = constrain.map(|relation| self.translate(relation, Place::Transition));
        if targets.len() != values.len() {
            let message = format!(
                "{} assigned to {}",
                count(values.len(), "value"),
                count(targets.len(), "variable")
            );
            let label = format!("expected {}", count(targets.len(), "value"));
            self.reports
                .add(Diagnostic::error(span, message).label(label));
        }
        let assignments = targets
            .into_iter()
            .zip(values)
            .filter_map(|(target, value)| Some((target?, value)))
            .collect();
        Action::Assign {
            assignments,
            constrain,
        }
    }

    fn call(&mut self, results: List, callee: Name, arguments: List, span: Span) -> Action {
        let results = self.targets(results);
        let arguments = self.translate_list(arguments);
        let Some(id) = self.procedures.get(callee.symbol) else {
            let message = format!("unknown procedure `{}`", self.text(callee));
            self.error(callee, message, "not defined in this file");
            return Action::Skip;
        };
        let procedure = &self.program.procedures[id as usize];
        let defined = match &self.ast.items[self.definitions[id as usize]] {
            Item::Procedure(definition) => self.ast.name_span(definition.name),
            Item::Global { span, .. } | Item::Enforce { span, .. } => *span,
        };
        if procedure.formals.len() != arguments.len() {
            let wanted = count(procedure.formals.len(), "argument");
            let message = format!(
                "`{}` takes {wanted}, not {}",
                procedure.name,
                arguments.len()
            );
            self.reports.add(
                Diagnostic::error(span, message)
                    .label(format!("expected {wanted}"))
                    .note(Some(defined), "defined here"),
            );
        }
        let procedure = &self.program.procedures[id as usize];
        if !results.is_empty() && procedure.returns.len() != results.len() {
            let wanted = count(procedure.returns.len(), "value");
            let message = format!(
                "`{}` returns {wanted}, not {}",
                procedure.name,
                results.len()
            );
            self.reports.add(
                Diagnostic::error(span, message)
                    .label(format!(
                        "expected {} to assign to",
                        count(procedure.returns.len(), "variable")
                    ))
                    .note(Some(defined), "defined here"),
            );
        }
        Action::Call {
            callee: ProcId(id),
            arguments,
            results,
        }
    }

    /// The targets of an assignment, `None` for `_` and for what was reported.
    fn targets(&mut self, names: List) -> Vec<Option<VarId>> {
        let ast = self.ast;
        self.assigned.clear();
        ast.names(names)
            .iter()
            .map(|&name| {
                let variable = self.target(name)?;
                if let Some(first) = self.assigned.insert(name.symbol, name.start) {
                    let length = name.end - name.start;
                    let first = Span::new(ast.file, first, first + length);
                    let message = format!("`{}` is assigned twice", self.text(name));
                    self.duplicate(name, message, first);
                    return None;
                }
                Some(variable)
            })
            .collect()
    }

    fn target(&mut self, name: Name) -> Option<VarId> {
        if Some(name.symbol) == self.discard {
            None
        } else {
            self.variable(name)
        }
    }

    /// Gives new values to variables, each of them once.
    fn forget(&mut self, mut variables: Vec<VarId>) -> Action {
        variables.sort();
        variables.dedup();
        let choose = |variable| (variable, self.program.exprs.add(Node::Choice));
        let assignments = variables.into_iter().map(choose).collect();
        Action::Assign {
            assignments,
            constrain: None,
        }
    }

    // Expressions.

    fn translate_list(&mut self, list: List) -> Vec<ExprId> {
        let ast = self.ast;
        ast.list(list)
            .iter()
            .map(|&expr| self.translate(expr, Place::State))
            .collect()
    }

    /// Translates the nodes up to `root`. Expressions must be asked for in the order of the
    /// text, which is the order of their nodes.
    fn translate(&mut self, root: ExprId, place: Place) -> ExprId {
        for index in self.translated.len()..=root.index() {
            let mapped = |id: ExprId| self.translated[id.index()];
            let node = match self.ast.exprs[index] {
                Expr::Const(value) => Node::Const(value),
                Expr::Star | Expr::QuestionMark => Node::Choice,
                Expr::Not(e) => Node::Not(mapped(e)),
                Expr::Binary(operator, a, b) => {
                    Node::Binary(binary(operator), mapped(a), mapped(b))
                }
                Expr::Choose(a, b) | Expr::Schoose(a, b) => Node::Choose(mapped(a), mapped(b)),
                Expr::Var(name) => self.variable(name).map_or(Node::Const(false), Node::Var),
                Expr::Next(name) => {
                    if place == Place::State {
                        let message = "`'` outside of `constrain`";
                        self.error(name, message, "only an assignment has a next state");
                    }
                    self.variable(name).map_or(Node::Const(false), Node::Next)
                }
            };
            let id = self.program.exprs.add(node);
            self.translated.push(id);
        }
        self.translated[root.index()]
    }

    /// The conjunction of what is enforced already and one more condition.
    fn also(&mut self, before: Option<ExprId>, condition: ExprId) -> ExprId {
        match before {
            None => condition,
            Some(before) => self
                .program
                .exprs
                .add(Node::Binary(BinaryOp::And, before, condition)),
        }
    }

    fn variable(&mut self, name: Name) -> Option<VarId> {
        let found = self
            .locals
            .get(name.symbol)
            .or_else(|| self.globals.get(name.symbol));
        if found.is_none() {
            if Some(name.symbol) == self.discard {
                self.error(name, "`_` has no value", "expected a variable");
            } else {
                let message = format!("unknown variable `{}`", self.text(name));
                self.error(name, message, "not declared before this place");
            }
        }
        let id = VarId(found?);
        self.used[id.index()] = true;
        Some(id)
    }

    // Messages.

    fn text(&self, name: Name) -> &'a str {
        self.ast.name(name.symbol)
    }

    fn error(&mut self, name: Name, message: impl Into<String>, label: &str) {
        self.reports
            .add(Diagnostic::error(self.ast.name_span(name), message).label(label));
    }

    fn duplicate(&mut self, name: Name, message: String, first: Span) {
        let span = self.ast.name_span(name);
        self.reports.add(
            Diagnostic::error(span, message)
                .label("again")
                .note(Some(first), "first here"),
        );
    }

    fn main(&mut self) -> Option<ProcId> {
        let main = self.ast.names.iter().position(|name| name == "main");
        let main = main.and_then(|index| self.procedures.get(Symbol(index as u32)));
        if main.is_none() {
            let message = "there is no procedure `main` to start with";
            self.reports
                .add(Diagnostic::global(Severity::Error, message));
        }
        main.map(ProcId)
    }

    fn warn_of_unused(&mut self) {
        if self.reports.has_errors() {
            return;
        }
        for (variable, &used) in self.program.variables.iter().zip(&self.used) {
            let declared = matches!(variable.kind, VarKind::Global | VarKind::Local(_));
            if declared && !used {
                let message = format!("the variable `{}` is never used", variable.name);
                self.reports
                    .add(Diagnostic::warning(variable.span, message));
            }
        }
    }

    /// Warns of statements that no path leads to, and of results that are left open.
    fn warn_of_flow(&mut self, id: ProcId) {
        let program = &self.program;
        let procedure = &program.procedures[id.index()];
        let first = procedure.vertices.start;
        let mut reached = vec![false; procedure.vertices.len()];
        let mut open = procedure.entry == procedure.exit;
        let mut work = vec![procedure.entry];
        reached[(procedure.entry.0 - first) as usize] = true;
        while let Some(vertex) = work.pop() {
            for (_, edge) in program.edges_from(vertex) {
                open |= edge.to == procedure.exit
                    && program.vertices[vertex.index()].kind != VertexKind::Return;
                let seen = &mut reached[(edge.to.0 - first) as usize];
                if !*seen {
                    *seen = true;
                    work.push(edge.to);
                }
            }
        }
        let mut before = true;
        for vertex in procedure.vertices.start..procedure.exit.0 {
            let now = reached[(vertex - first) as usize];
            if before && !now {
                let span = program.vertices[vertex as usize].span;
                let message = "unreachable statement";
                self.reports
                    .add(Diagnostic::warning(span, message).label("no path leads here"));
            }
            before = now;
        }
        if open && !procedure.returns.is_empty() {
            let span = program.vertices[procedure.exit.index()].span;
            let message = format!("`{}` can end without `return`", procedure.name);
            let label = "its results are then anything";
            self.reports
                .add(Diagnostic::warning(span, message).label(label));
        }
    }
}

fn binary(operator: Operator) -> BinaryOp {
    match operator {
        Operator::And => BinaryOp::And,
        Operator::Or => BinaryOp::Or,
        Operator::Xor | Operator::NotEqual => BinaryOp::Xor,
        Operator::Equal | Operator::Equivalent => BinaryOp::Iff,
        Operator::Implies => BinaryOp::Implies,
    }
}

/// What the statements of one procedure have in common.
struct Body<'f> {
    id: ProcId,
    /// Its first vertex.
    first: u32,
    flow: &'f Flow,
    exit: u32,
}

/// "1 value", "2 values"
fn count(number: usize, thing: &str) -> String {
    match number {
        0 => format!("no {thing}s"),
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}
