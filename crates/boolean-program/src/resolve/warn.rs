//! Warnings about programs that are correct but odd.

use super::Resolver;
use crate::program::{ProcId, VarKind, VertexKind};
use hardbop_diagnostics::Diagnostic;

impl Resolver<'_> {
    pub(super) fn warn_of_unused(&mut self) {
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
    pub(super) fn warn_of_flow(&mut self, id: ProcId) {
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
