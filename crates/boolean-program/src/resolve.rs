//! Syntax to [`Program`]: names, arities, control flow.

mod statement;
mod warn;

use crate::ast::{Ast, Expr, Item, Kind, List, Name, Procedure as Definition};
use crate::dialect::{Dialect, Operator};
use crate::flow::Flow;
use crate::lexer::Symbol;
use crate::parser::Parts;
use crate::program::*;
use crate::report::Reports;
use hardbop_diagnostics::{Diagnostic, FileId, Severity, Span};
use statement::Body;
use std::sync::Arc;

/// Resolves a file that parsed without errors. The program is there if no error was found.
pub(crate) fn resolve(ast: &Ast, dialect: Dialect, reports: &mut Reports) -> Option<Program> {
    let names: Vec<&str> = ast.names.iter().map(String::as_str).collect();
    let part = std::slice::from_ref(ast);
    let mut resolver = Resolver::new(&names, part, dialect, reports);
    resolver.declare_items(ast);
    resolver.define_items(ast);
    resolver.finish()
}

/// The same for a file in parts. Each of them is gone when its procedures are resolved: syntax and
/// program of a large file are never there together.
pub(crate) fn resolve_parts(
    parsed: Parts<'_>,
    dialect: Dialect,
    reports: &mut Reports,
) -> Option<Program> {
    let Parts { parts, names, .. } = parsed;
    let mut resolver = Resolver::new(&names, &parts, dialect, reports);
    for part in &parts {
        resolver.declare_items(part);
    }
    for part in parts {
        resolver.define_items(&part);
    }
    resolver.finish()
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
    names: &'a [&'a str],
    file: FileId,
    reports: &'a mut Reports,
    discard: Option<Symbol>,
    /// By name: the text that all variables of that name share.
    shared: Vec<Option<Arc<str>>>,
    /// The name of what procedures return.
    returned: Arc<str>,
    program: Program,
    /// How many nodes of the part's syntax are translated.
    translated: usize,
    globals: Table,
    locals: Table,
    procedures: Table,
    /// The position of each label of the current procedure.
    labels: Table,
    /// The targets of the current assignment.
    assigned: Table,
    /// By procedure: its name in the text.
    definitions: Vec<Span>,
    /// How many procedures are defined.
    defined: usize,
    /// How many values procedures may still return.
    values_left: usize,
    /// By variable: whether anything mentions it.
    used: Vec<bool>,
    flow: Flow,
}

impl<'a> Resolver<'a> {
    fn new(
        names: &'a [&'a str],
        parts: &[Ast],
        dialect: Dialect,
        reports: &'a mut Reports,
    ) -> Resolver<'a> {
        let discard = dialect
            .has_discard()
            .then(|| names.iter().position(|&name| name == "_"))
            .flatten()
            .map(|index| Symbol(index as u32));
        let (vertices, edges) = sizes(parts);
        let exprs = parts.iter().map(|part| part.exprs.len()).sum();
        let table = || Table::new(names.len());
        let program = Program {
            variables: Vec::new(),
            globals: Vec::new(),
            procedures: Vec::new(),
            main: ProcId(0),
            vertices: Vec::with_capacity(vertices),
            edges: Vec::with_capacity(edges),
            effects: Effects::default(),
            exprs: Exprs::with_capacity(exprs),
            enforce: None,
            targets: Vec::new(),
        };
        Resolver {
            names,
            file: parts.first().map_or(FileId(0), |part| part.file),
            reports,
            discard,
            shared: vec![None; names.len()],
            returned: "return".into(),
            program,
            translated: 0,
            globals: table(),
            locals: table(),
            procedures: table(),
            labels: table(),
            assigned: table(),
            definitions: Vec::new(),
            defined: 0,
            // Every value that is really returned is an expression of the text.
            values_left: exprs + (1 << 16),
            used: Vec::new(),
            flow: Flow::default(),
        }
    }

    // Declarations.

    /// Globals and the signatures of procedures, which are visible in the whole file.
    fn declare_items(&mut self, ast: &Ast) {
        for item in &ast.items {
            match item {
                Item::Global { names, .. } => {
                    for &name in ast.names(*names) {
                        self.declare(name, VarKind::Global);
                    }
                }
                Item::Enforce { .. } => {}
                Item::Procedure(definition) => {
                    let count = definition.returns.count() as usize;
                    let Some(left) = self.values_left.checked_sub(count) else {
                        let span = ast.name_span(definition.name);
                        self.reports
                            .add(Diagnostic::error(span, "too many return values"));
                        return;
                    };
                    self.values_left = left;
                    self.declare_procedure(ast, definition);
                }
            }
        }
    }

    fn declare_procedure(&mut self, ast: &Ast, definition: &Definition) {
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
            let message = format!("the procedure `{}` is defined twice", self.text(name));
            self.duplicate(name, message, first);
        } else {
            self.procedures.insert(name.symbol, id.0);
        }
        self.definitions.push(ast.name_span(name));
        self.locals.clear();
        let formals = ast.names(definition.formals);
        let formals = formals
            .iter()
            .map(|&f| self.declare(f, VarKind::Formal(id)))
            .collect();
        let returns = (1..=definition.returns.count())
            .map(|i| {
                let name = match i {
                    1 => Arc::clone(&self.returned),
                    i => format!("return.{i}").into(),
                };
                let span = ast.name_span(definition.name);
                self.add_variable(name, VarKind::Return(id), span)
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
        let shared = self.shared(name);
        let id = self.add_variable(shared, kind, self.span(name));
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

    fn add_variable(&mut self, name: Arc<str>, kind: VarKind, span: Span) -> VarId {
        self.program.variables.push(Variable { name, kind, span });
        self.used.push(false);
        VarId(self.program.variables.len() as u32 - 1)
    }

    // Bodies.

    fn define_items(&mut self, ast: &Ast) {
        self.translated = 0;
        for item in &ast.items {
            match item {
                Item::Global { .. } => {}
                Item::Enforce { condition, .. } => {
                    self.locals.clear();
                    let condition = self.translate(ast, *condition, Place::State);
                    self.program.enforce = Some(self.also(self.program.enforce, condition));
                }
                Item::Procedure(definition) => {
                    if self.defined == self.program.procedures.len() {
                        return;
                    }
                    self.define(ast, ProcId(self.defined as u32), definition);
                    self.defined += 1;
                }
            }
        }
    }

    fn define(&mut self, ast: &Ast, id: ProcId, definition: &Definition) {
        let statements = &ast.statements[definition.statements.range()];
        self.locals.clear();
        let formals = self.program.procedures[id.index()].formals.clone();
        for (&name, formal) in ast.names(definition.formals).iter().zip(formals) {
            self.locals.insert(name.symbol, formal.0);
        }
        let mut flow = std::mem::take(&mut self.flow);
        flow.compute(statements);
        self.collect_labels(ast, definition);

        let first = self.program.vertices.len() as u32;
        let body = Body {
            id,
            first,
            flow: &flow,
            exit: first + flow.exit(),
        };
        let mut failures = Vec::new();
        for (position, statement) in statements.iter().enumerate() {
            self.statement(ast, &body, statement, position, &mut failures);
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

    fn collect_labels(&mut self, ast: &Ast, definition: &Definition) {
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

    fn translate_list(&mut self, ast: &Ast, list: List) -> Vec<ExprId> {
        ast.list(list)
            .iter()
            .map(|&expr| self.translate(ast, expr, Place::State))
            .collect()
    }

    /// Translates the nodes up to `root`. Expressions must be asked for in the order of the
    /// text, which is the order of their nodes.
    fn translate(&mut self, ast: &Ast, root: ExprId, place: Place) -> ExprId {
        let first = self.translated;
        let start = self.program.exprs.len();
        // An expression's nodes stand together, so all of them move by the same distance.
        let mapped = |id: ExprId| ExprId((id.index() - first + start) as u32);
        for index in first..=root.index() {
            let node = match ast.exprs[index] {
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
            self.program.exprs.add(node);
        }
        self.translated = root.index() + 1;
        mapped(root)
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

    /// A name as variables have it: one text for all that are called so.
    fn shared(&mut self, name: Name) -> Arc<str> {
        let text = self.text(name);
        let shared = &mut self.shared[name.symbol.0 as usize];
        Arc::clone(shared.get_or_insert_with(|| text.into()))
    }

    fn text(&self, name: Name) -> &'a str {
        self.names[name.symbol.0 as usize]
    }

    fn span(&self, name: Name) -> Span {
        Span::new(self.file, name.start, name.end)
    }

    fn error(&mut self, name: Name, message: impl Into<String>, label: &str) {
        self.reports
            .add(Diagnostic::error(self.span(name), message).label(label));
    }

    fn duplicate(&mut self, name: Name, message: String, first: Span) {
        let span = self.span(name);
        self.reports.add(
            Diagnostic::error(span, message)
                .label("again")
                .note(Some(first), "first here"),
        );
    }

    /// Warns of what is odd in the whole, and gives the program if there are no errors.
    fn finish(mut self) -> Option<Program> {
        self.warn_of_unused();
        self.program.main = self.main()?;
        (!self.reports.has_errors()).then_some(self.program)
    }

    fn main(&mut self) -> Option<ProcId> {
        let main = self.names.iter().position(|&name| name == "main");
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
fn sizes(parts: &[Ast]) -> (usize, usize) {
    let mut vertices = parts.iter().map(|part| part.items.len()).sum();
    let mut edges = 0;
    for statement in parts.iter().flat_map(|part| &part.statements) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser;

    /// The program and all that was said, from parts that end after so many statements.
    fn in_parts(text: &str, statements: usize) -> (String, Vec<Diagnostic>) {
        let mut reports = Reports::default();
        let dialect = Dialect::Auto;
        let parsed = parser::parse_in_parts(FileId(0), text, dialect, &mut reports, statements);
        let program = resolve_parts(parsed, dialect, &mut reports);
        (format!("{program:?}"), reports.finish())
    }

    #[test]
    fn parts_make_the_same_program_as_the_whole() {
        let texts = [
            "decl g; enforce g | h; bool<2> f(a, b) begin decl x; x := a & b; return x, !h; end
             decl h; void main() begin decl y, z; y, _ := f(g, *); z := y; g, h := !g, *
             constrain ('g | 'h); if (y) then f(z, 0); L: skip; fi late(); end
             decl k; enforce k; void late() begin k := 1; enforce !h; decl m; m := h; end",
            "void main() begin x := 1; f(0); end void f() begin end void f() begin skip; end",
            "void f() begin f(1); goto N; end",
        ];
        for text in texts {
            let whole = in_parts(text, usize::MAX);
            for statements in [1, 2, 5] {
                assert_eq!(in_parts(text, statements), whole, "{text}");
            }
        }
    }
}
