//! Statements.

use super::Lower;
use super::body::{Goto, Label};
use crate::ids::PlaceId;
use crate::program::*;
use rucc_sema as sema;
use rucc_sema::Stmt;
use rucc_types as rt;

impl Lower<'_> {
    /// Lowers a statement.
    pub(super) fn stmt(&mut self, id: sema::StmtId) {
        match self.unit.tree[id] {
            Stmt::Error => {
                self.at_stmt(id);
                self.unsupported("a statement with an error");
            }
            Stmt::Empty => {}
            Stmt::Expr(expr) => {
                self.at_stmt(id);
                self.effect(expr);
            }
            Stmt::Block(list) => {
                let outer = self.enter_scope_unless_body();
                let list = self.unit.tree[list].to_vec();
                for stmt in list {
                    self.stmt(stmt);
                }
                self.leave_scope_unless_body(outer, id);
            }
            Stmt::Decls(list) => self.declarations(list),
            Stmt::If { .. } => self.if_chain(id),
            Stmt::While { cond, body } => self.while_loop(cond, body),
            Stmt::DoWhile { body, cond } => self.do_loop(id, body, cond),
            Stmt::For {
                init,
                cond,
                step,
                body,
            } => self.for_loop(init, cond, step, body),
            Stmt::Switch {
                cond,
                body,
                cases,
                default,
            } => {
                self.switch(id, cond, body, cases, default);
            }
            Stmt::Case { case, body } => {
                self.case(case);
                self.stmt(body);
            }
            Stmt::Default { body } => {
                self.default();
                self.stmt(body);
            }
            Stmt::Label { label, body } => {
                self.at_stmt(id);
                self.label(label);
                self.stmt(body);
            }
            Stmt::Goto(label) => {
                self.at_stmt(id);
                self.goto(label);
            }
            Stmt::IndirectGoto(target) => {
                self.at_stmt(id);
                self.computed_goto(target);
            }
            Stmt::Asm(asm) => {
                self.at_stmt(id);
                self.assembly(asm);
            }
            Stmt::Break => {
                self.at_stmt(id);
                if let Some(&(to, scope)) = self.f().breaks.last() {
                    self.unwind_to(scope);
                    self.jump_to(to);
                }
            }
            Stmt::Continue => {
                self.at_stmt(id);
                if let Some(&(to, scope)) = self.f().continues.last() {
                    self.unwind_to(scope);
                    self.jump_to(to);
                }
            }
            Stmt::Return(value) => {
                self.at_stmt(id);
                self.return_statement(id, value);
            }
        }
    }

    /// The scope of a block; the body of the function uses the outermost scope.
    fn enter_scope_unless_body(&mut self) -> Option<usize> {
        let f = self.f();
        if !f.entered {
            f.entered = true;
            return None;
        }
        Some(self.enter_scope())
    }

    fn leave_scope_unless_body(&mut self, outer: Option<usize>, id: sema::StmtId) {
        match outer {
            Some(outer) => {
                self.end_of(id);
                self.leave_scope(outer);
            }
            None => {
                self.end_of(id);
                self.unwind_for_return();
            }
        }
    }

    /// Sets the current text to the last character of a statement.
    fn end_of(&mut self, id: sema::StmtId) {
        let span = self.unit.tree.stmt_span(id);
        if span.hi > span.lo {
            let end = rucc_diag::Span::new(span.hi - 1, span.hi);
            let source = self.unit.source(end);
            self.f().source = source;
        }
    }

    /// `if`, with its chain of `else if`s.
    fn if_chain(&mut self, id: sema::StmtId) {
        let join = self.location();
        let mut at = id;
        loop {
            let Stmt::If {
                cond,
                then,
                otherwise,
            } = self.unit.tree[at]
            else {
                self.stmt(at);
                self.continue_at(join);
                return;
            };
            let yes = self.location();
            let no = if otherwise.is_some() {
                self.location()
            } else {
                join
            };
            self.branch(cond, yes, no);
            self.f().cur = yes;
            self.stmt(then);
            self.continue_at(join);
            match otherwise {
                Some(otherwise) => {
                    self.f().cur = no;
                    at = otherwise;
                }
                None => return,
            }
        }
    }

    fn loop_head(&mut self) -> u32 {
        self.f().body.location(LocationKind::LoopHead)
    }

    /// Lowers the body of a loop.
    fn loop_body(&mut self, body: sema::StmtId, on_break: u32, on_continue: u32) {
        let f = self.f();
        let scope = f.scope;
        f.breaks.push((on_break, scope));
        f.continues.push((on_continue, scope));
        let outer = std::mem::replace(&mut f.repeats, true);
        self.stmt(body);
        let f = self.f();
        f.repeats = outer;
        f.breaks.pop();
        f.continues.pop();
    }

    fn while_loop(&mut self, cond: sema::ExprId, body: sema::StmtId) {
        let (head, inside, after) = (self.loop_head(), self.location(), self.location());
        self.at_expr(cond);
        self.continue_at(head);
        self.repeating(|lower| lower.branch(cond, inside, after));
        self.f().cur = inside;
        self.loop_body(body, after, head);
        self.continue_at(head);
        self.f().cur = after;
    }

    fn do_loop(&mut self, id: sema::StmtId, body: sema::StmtId, cond: sema::ExprId) {
        let (head, test, after) = (self.loop_head(), self.location(), self.location());
        self.at_stmt(id);
        self.continue_at(head);
        self.loop_body(body, after, test);
        self.continue_at(test);
        self.repeating(|lower| lower.branch(cond, head, after));
        self.f().cur = after;
    }

    fn for_loop(
        &mut self,
        init: Option<sema::StmtId>,
        cond: Option<sema::ExprId>,
        step: Option<sema::ExprId>,
        body: sema::StmtId,
    ) {
        let outer = self.enter_scope();
        if let Some(init) = init {
            self.stmt(init);
        }
        let (head, inside, next, after) = (
            self.loop_head(),
            self.location(),
            self.location(),
            self.location(),
        );
        self.continue_at(head);
        match cond {
            Some(cond) => self.repeating(|lower| lower.branch(cond, inside, after)),
            None => self.jump_to(inside),
        }
        self.f().cur = inside;
        self.loop_body(body, after, next);
        self.continue_at(next);
        if let Some(step) = step {
            self.at_expr(step);
            self.repeating(|lower| lower.effect(step));
        }
        self.continue_at(head);
        self.f().cur = after;
        self.leave_scope(outer);
    }

    /// Lowers a part of a loop that is not its body.
    fn repeating(&mut self, part: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.f().repeats, true);
        part(self);
        self.f().repeats = outer;
    }

    fn label(&mut self, id: sema::LabelId) {
        let name = self.unit.names.resolve(self.unit.tree[id].name).to_owned();
        let location = self.label_location(id);
        self.continue_at(location);
        let chain = self.f().chain();
        let f = self.f();
        // A jump from below may pass the declarations that follow again.
        f.repeats = true;
        f.body.locations[location as usize]
            .labels
            .push(name.clone());
        if let Some(label) = f.labels.get_mut(&id) {
            label.chain = Some(chain);
        }
        if self.b.options.error_labels.contains(&name) {
            self.error(CheckKind::ErrorLabel, format!("label `{name}` is reached"));
        }
    }

    fn label_location(&mut self, id: sema::LabelId) -> u32 {
        if let Some(label) = self.f().labels.get(&id) {
            return label.location;
        }
        let location = self.location();
        self.f().labels.insert(
            id,
            Label {
                location,
                chain: None,
            },
        );
        location
    }

    fn goto(&mut self, id: sema::LabelId) {
        let location = self.label_location(id);
        let chain = self.f().chain();
        let f = self.f();
        if f.labels[&id].chain.is_some() {
            f.body.locations[location as usize].kind = LocationKind::LoopHead;
        }
        let (from, source) = (f.cur, f.source);
        f.gotos.push(Goto {
            from,
            chain,
            label: id,
            source,
        });
        f.cur = f.body.location(LocationKind::Plain);
    }

    fn return_statement(&mut self, id: sema::StmtId, value: Option<sema::ExprId>) {
        let result = self.f().result;
        match (value, result) {
            (Some(value), Some(result)) => {
                let place = self.b.var_place(result);
                self.result_into(value, place);
            }
            (Some(value), None) => self.effect(value),
            (None, _) => {}
        }
        self.at_stmt(id);
        self.unwind_for_return();
        let exit = self.f().body.exit;
        self.jump_to(exit);
    }

    /// Evaluates an expression into a place.
    fn result_into(&mut self, value: sema::ExprId, place: PlaceId) {
        let ty = self.place_ty(place);
        let value_ty = self.unit.tree[value].ty;
        if !self.b.types.is_scalar(ty) {
            if self.is_supported(value_ty) {
                self.record_into(value, place);
            } else {
                self.unsupported("a vector or a complex number");
            }
            return;
        }
        if let sema::ExprKind::Call { callee, args } = self.unit.tree[value].kind
            && self.ty(value_ty) == ty
        {
            self.call_into(value, callee, args, Some(place));
            return;
        }
        let source = self.f().source;
        let value = self.value(value);
        let value = self.convert_scalar(value, ty);
        self.f().source = source;
        self.assign(place, value);
    }

    /// Lowers the body of a statement expression and writes its value to a place.
    pub(super) fn statement_value(&mut self, body: sema::StmtId, place: PlaceId) {
        match self.unit.tree[body] {
            Stmt::Block(list) => {
                let outer = self.enter_scope();
                let list = self.unit.tree[list].to_vec();
                if let Some((&last, before)) = list.split_last() {
                    for &stmt in before {
                        self.stmt(stmt);
                    }
                    self.statement_value(last, place);
                }
                self.leave_scope(outer);
            }
            Stmt::Expr(value) => {
                self.at_stmt(body);
                let value = self.without_void(value);
                let ty = self.unit.tree[value].ty;
                if matches!(self.bare(ty), rt::TypeKind::Void) {
                    self.effect(value);
                } else {
                    self.result_into(value, place);
                }
            }
            Stmt::Label { label, body } => {
                self.at_stmt(body);
                self.label(label);
                self.statement_value(body, place);
            }
            _ => self.stmt(body),
        }
    }

    /// The expression of an expression statement, before its value was dropped.
    fn without_void(&self, id: sema::ExprId) -> sema::ExprId {
        match self.unit.tree[id].kind {
            sema::ExprKind::Convert {
                kind: sema::Conversion::Void,
                operand,
            } => operand,
            _ => id,
        }
    }
}
