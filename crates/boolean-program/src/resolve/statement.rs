//! Statements to vertices and edges.

use super::{Place, Resolver};
use crate::ast::{Ast, Kind, List, Name, Statement};
use crate::flow::Flow;
use crate::program::*;
use hardbop_diagnostics::{Diagnostic, Span};

/// What the statements of one procedure have in common.
pub(super) struct Body<'f> {
    pub id: ProcId,
    /// Its first vertex.
    pub first: u32,
    pub flow: &'f Flow,
    pub exit: u32,
}

/// Adds the edges of one statement, if it has a vertex that they can leave.
struct Edges {
    from: Option<VertexId>,
}

impl Edges {
    fn edge(&mut self, resolver: &mut Resolver<'_>, to: VertexId, effect: Effect) {
        if let Some(from) = self.from {
            let edge = Edge { from, to, effect };
            resolver.program.edges.push(edge);
        }
    }

    fn branch(
        &mut self,
        resolver: &mut Resolver<'_>,
        condition: ExprId,
        yes: VertexId,
        no: VertexId,
    ) {
        for (holds, to) in [(true, yes), (false, no)] {
            self.edge(resolver, to, Effect::Assume { condition, holds });
        }
    }
}

impl Resolver<'_> {
    pub(super) fn statement(
        &mut self,
        ast: &Ast,
        body: &Body,
        statement: &Statement,
        position: usize,
        failures: &mut Vec<Span>,
    ) {
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
                    kind: TargetKind::Label(self.text(label).to_owned()),
                    vertex,
                    span: ast.name_span(label),
                });
            }
        }
        // What a statement without a vertex says is said elsewhere.
        let first_edge = self.program.edges.len() as u32;
        let mut add = Edges { from: vertex };
        let kind = match statement.kind {
            Kind::Skip => {
                add.edge(self, next, Effect::Skip);
                VertexKind::Skip
            }
            Kind::Print(values) => {
                self.translate_list(ast, values);
                add.edge(self, next, Effect::Skip);
                VertexKind::Skip
            }
            Kind::Goto(targets) => {
                self.goto(ast, body, targets, &mut add);
                VertexKind::Goto
            }
            Kind::Return(values) => {
                let effect = self.return_values(ast, body.id, values, span);
                add.edge(self, exit, effect);
                VertexKind::Return
            }
            Kind::Assign {
                targets,
                values,
                constrain,
            } => {
                let effect = self.assign(ast, targets, values, constrain, span);
                add.edge(self, next, effect);
                VertexKind::Assign
            }
            Kind::Call {
                results,
                callee,
                arguments,
            } => {
                let callee = ast.name_lists[callee as usize];
                let effect = self.call(ast, results, callee, arguments, span);
                add.edge(self, next, effect);
                VertexKind::Call
            }
            Kind::If(condition) | Kind::Elsif(condition) | Kind::While(condition) => {
                let condition = self.translate(ast, condition, Place::State);
                let otherwise = VertexId(body.first + body.flow.otherwise(position));
                add.branch(self, condition, next, otherwise);
                match statement.kind {
                    Kind::While(_) => VertexKind::While,
                    _ => VertexKind::If,
                }
            }
            Kind::Assert(condition) => {
                let condition = self.translate(ast, condition, Place::State);
                failures.push(span);
                let failed = VertexId(body.exit + failures.len() as u32);
                self.program.targets.push(Target {
                    kind: TargetKind::Assertion,
                    vertex: failed,
                    span,
                });
                add.branch(self, condition, next, failed);
                VertexKind::Assert
            }
            Kind::Assume(condition) | Kind::Constrain(condition) => {
                // As a statement `constrain` relates no two states, so `'x` means nothing there.
                let condition = self.translate(ast, condition, Place::State);
                let holds = true;
                add.edge(self, next, Effect::Assume { condition, holds });
                VertexKind::Assume
            }
            Kind::AbortIf(condition) => {
                let condition = self.translate(ast, condition, Place::State);
                let holds = false;
                add.edge(self, next, Effect::Assume { condition, holds });
                VertexKind::Assume
            }
            Kind::Enforce(condition) => {
                let condition = self.translate(ast, condition, Place::State);
                let before = self.program.procedures[body.id.index()].enforce;
                let enforce = self.also(before, condition);
                self.program.procedures[body.id.index()].enforce = Some(enforce);
                add.edge(self, next, Effect::Skip);
                VertexKind::Skip
            }
            Kind::Dead(names) => {
                let targets = ast
                    .names(names)
                    .iter()
                    .filter_map(|&n| self.target(n))
                    .collect();
                let effect = self.forget(targets);
                add.edge(self, next, effect);
                VertexKind::Dead
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
                let effect = self.forget(locals);
                add.edge(self, next, effect);
                VertexKind::Dead
            }
            Kind::Else | Kind::Fi | Kind::Od => return,
        };
        let Some(vertex) = vertex else { return };
        debug_assert_eq!(vertex.index(), self.program.vertices.len());
        self.vertex(body, kind, span);
        self.program.vertices[vertex.index()].edges.start = first_edge;
    }

    pub(super) fn vertex(&mut self, body: &Body, kind: VertexKind, span: Span) {
        let edges = self.program.edges.len() as u32;
        self.program.vertices.push(Vertex {
            procedure: body.id,
            kind,
            span,
            edges: edges..edges,
        });
    }

    fn goto(&mut self, ast: &Ast, body: &Body, targets: List, add: &mut Edges) {
        self.assigned.clear();
        for &name in ast.names(targets) {
            let Some(position) = self.labels.get(name.symbol) else {
                let message = format!("unknown label `{}`", self.text(name));
                self.error(name, message, "no statement of this procedure has it");
                continue;
            };
            // The same place twice is one way on, not two.
            if self.assigned.insert(name.symbol, 0).is_none() {
                let vertex = VertexId(body.first + body.flow.arrival(position as usize));
                add.edge(self, vertex, Effect::Skip);
            }
        }
    }

    pub(super) fn return_values(
        &mut self,
        ast: &Ast,
        procedure: ProcId,
        values: List,
        span: Span,
    ) -> Effect {
        let values = self.translate_list(ast, values);
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
            return Effect::Skip;
        }
        if values.is_empty() {
            return Effect::Skip;
        }
        let assignments = returns.iter().copied().zip(values);
        self.program.effects.assign(assignments, None)
    }

    pub(super) fn assign(
        &mut self,
        ast: &Ast,
        targets: List,
        values: List,
        constrain: Option<ExprId>,
        span: Span,
    ) -> Effect {
        let targets = self.targets(ast, targets);
        let values = self.translate_list(ast, values);
        let constrain = constrain.map(|relation| self.translate(ast, relation, Place::Transition));
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
            .filter_map(|(target, value)| Some((target?, value)));
        self.program.effects.assign(assignments, constrain)
    }

    pub(super) fn call(
        &mut self,
        ast: &Ast,
        results: List,
        callee: Name,
        arguments: List,
        span: Span,
    ) -> Effect {
        let results = self.targets(ast, results);
        let arguments = self.translate_list(ast, arguments);
        let Some(id) = self.procedures.get(callee.symbol) else {
            let message = format!("unknown procedure `{}`", self.text(callee));
            self.error(callee, message, "not defined in this file");
            return Effect::Skip;
        };
        let procedure = &self.program.procedures[id as usize];
        let defined = self.definitions[id as usize];
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
        self.program.effects.call(ProcId(id), &arguments, &results)
    }

    /// The targets of an assignment, `None` for `_` and for what was reported.
    pub(super) fn targets(&mut self, ast: &Ast, names: List) -> Vec<Option<VarId>> {
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

    pub(super) fn target(&mut self, name: Name) -> Option<VarId> {
        if Some(name.symbol) == self.discard {
            None
        } else {
            self.variable(name)
        }
    }

    /// Gives new values to variables, each of them once.
    pub(super) fn forget(&mut self, mut variables: Vec<VarId>) -> Effect {
        variables.sort();
        variables.dedup();
        let Program { exprs, effects, .. } = &mut self.program;
        let choose = |variable| (variable, exprs.add(Node::Choice));
        effects.assign(variables.into_iter().map(choose), None)
    }
}

/// "1 value", "2 values"
fn count(number: usize, thing: &str) -> String {
    match number {
        0 => format!("no {thing}s"),
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}
