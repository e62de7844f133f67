//! Syntax to [`Program`]: names, arities, control flow.

mod statement;
mod warn;

use crate::ast::{Ast, Expr, Item, Kind, List, Name, Procedure as Definition};
use crate::dialect::{Dialect, Operator};
use crate::flow::Flow;
use crate::lexer::Symbol;
use crate::program::*;
use crate::report::Reports;
use hardbop_diagnostics::{Diagnostic, Severity, Span};
use statement::Body;

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
        let (vertices, edges) = sizes(ast);
        let program = Program {
            variables: Vec::new(),
            globals: Vec::new(),
            procedures: Vec::new(),
            main: ProcId(0),
            vertices: Vec::with_capacity(vertices),
            edges: Vec::with_capacity(edges),
            exprs: Exprs::with_capacity(ast.exprs.len()),
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
}

/// At least as many vertices and edges as the program will have, and not many more: growing
/// tables of millions by doubling them costs memory.
fn sizes(ast: &Ast) -> (usize, usize) {
    let (mut vertices, mut edges) = (ast.items.len(), 0);
    for statement in &ast.statements {
        let (v, e) = match statement.kind {
            Kind::Else | Kind::Fi | Kind::Od => (0, 0),
            Kind::If(_) | Kind::Elsif(_) | Kind::While(_) => (1, 2),
            Kind::Assert(_) => (2, 2),
            Kind::Goto(targets) => (1, targets.len()),
            _ => (1, 1),
        };
        vertices += v;
        edges += e;
    }
    (vertices, edges)
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
