//! Statements to vertices and edges.

use super::{Place, Resolver};
use crate::ast::{Item, Kind, List, Name, Procedure as Definition};
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

impl Resolver<'_> {
    pub(super) fn statement(
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

    pub(super) fn vertex(&mut self, body: &Body, kind: VertexKind, span: Span) {
        let edges = self.program.edges.len() as u32;
        self.program.vertices.push(Vertex {
            procedure: body.id,
            kind,
            span,
            edges: edges..edges,
        });
    }

    pub(super) fn goto(&mut self, body: &Body, targets: List) -> Vec<(VertexId, Action)> {
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

    pub(super) fn return_values(&mut self, procedure: ProcId, values: List, span: Span) -> Action {
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

    pub(super) fn assign(
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

    pub(super) fn call(
        &mut self,
        results: List,
        callee: Name,
        arguments: List,
        span: Span,
    ) -> Action {
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
    pub(super) fn targets(&mut self, names: List) -> Vec<Option<VarId>> {
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

    pub(super) fn target(&mut self, name: Name) -> Option<VarId> {
        if Some(name.symbol) == self.discard {
            None
        } else {
            self.variable(name)
        }
    }

    /// Gives new values to variables, each of them once.
    pub(super) fn forget(&mut self, mut variables: Vec<VarId>) -> Action {
        variables.sort();
        variables.dedup();
        let choose = |variable| (variable, self.program.exprs.add(Node::Choice));
        let assignments = variables.into_iter().map(choose).collect();
        Action::Assign {
            assignments,
            constrain: None,
        }
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
