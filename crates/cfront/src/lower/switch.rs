//! `switch`: one edge per group of cases that share their target, and one for the rest.

use super::Lower;
use super::body::Switch;
use crate::ids::{ExprId, TypeId};
use crate::program::*;
use rucc_sema as sema;

impl Lower<'_> {
    pub(super) fn switch(
        &mut self,
        id: sema::StmtId,
        cond: sema::ExprId,
        body: sema::StmtId,
        cases: sema::CaseList,
        default: Option<sema::StmtId>,
    ) {
        let value = self.value(cond);
        self.at_expr(cond);
        // Not evaluated again on each edge if it is more than a read or may go wrong.
        let value = if self.effects.of(cond).traps {
            self.keep(value)
        } else {
            value
        };
        let head = self.f().cur;
        let chain = self.f().chain();
        let after = self.location();
        let scope = self.f().scope;
        self.f().breaks.push((after, scope));
        self.f().switches.push(Switch::default());
        let nowhere = self.location();
        self.f().cur = nowhere;
        self.stmt(body);
        self.continue_at(after);
        let switch = self.f().switches.pop().unwrap_or_default();
        self.f().breaks.pop();
        self.at_expr(cond);

        // The groups in the order of their first case.
        let ty = self.b.ty_of(value);
        let mut groups: Vec<(u32, super::body::Chain, Vec<ExprId>)> = Vec::new();
        let mut constant_target = None;
        for case in cases.iter() {
            let Some((location, to)) = switch.cases.get(&case).cloned() else {
                continue;
            };
            let entry = self.unit.tree[case];
            let condition = self.case_condition(value, ty, entry.low, entry.high);
            match self.b.constant(condition) {
                Some(0) => continue,
                Some(_) => constant_target = Some((location, to.clone())),
                None => {}
            }
            match groups.iter_mut().find(|g| g.0 == location) {
                Some(group) => group.2.push(condition),
                None => groups.push((location, to, vec![condition])),
            }
        }
        let (otherwise, otherwise_chain) = match (default, switch.default) {
            (Some(_), Some((location, to))) => (location, to),
            _ => (after, chain.clone()),
        };
        self.f().cur = head;
        if let Some((location, to)) = constant_target {
            self.jump_between(&chain, &to, location);
        } else if groups.is_empty() {
            self.jump_between(&chain, &otherwise_chain, otherwise);
        } else {
            let source = self.f().source;
            let mut any = Vec::with_capacity(groups.len());
            for (location, to, conditions) in groups {
                let condition = self.disjunction(&conditions);
                any.push(condition);
                let entry = self.entry_to(&chain, &to, location);
                let op = Op::Assume {
                    condition,
                    holds: true,
                };
                self.f().body.edge(head, entry, op, source);
            }
            let condition = self.disjunction(&any);
            let entry = self.entry_to(&chain, &otherwise_chain, otherwise);
            self.f().body.edge(
                head,
                entry,
                Op::Assume {
                    condition,
                    holds: false,
                },
                source,
            );
        }
        self.at_stmt(id);
        self.f().cur = after;
    }

    /// Where to go in order to arrive at a label inside of other blocks.
    pub(super) fn entry_to(
        &mut self,
        from: &super::body::Chain,
        to: &super::body::Chain,
        location: u32,
    ) -> u32 {
        let direct = from.iter().zip(to).all(|(a, b)| a.0 == b.0 && a.1 >= b.1)
            && to
                .iter()
                .skip(from.len())
                .all(|&(_, declared)| declared == 0);
        if direct {
            return location;
        }
        let entry = self.location();
        self.f().cur = entry;
        self.jump_between(from, to, location);
        entry
    }

    /// Whether the value is one of a case.
    fn case_condition(&mut self, value: ExprId, ty: TypeId, low: i128, high: i128) -> ExprId {
        let int = self.int_ty();
        if low == high {
            let low = self.b.int(low, ty);
            return self.b.binary(BinaryOp::Eq, value, low, int);
        }
        // `low <= value <= high` as one comparison: the distance from `low`, without a sign.
        let width = self.b.types.bit_width(ty).unwrap_or(128);
        let unsigned = self.b.types.int(width, false);
        let value = self.b.convert(value, unsigned);
        let start = self.b.int(low, unsigned);
        let distance = self.b.binary(BinaryOp::Sub, value, start, unsigned);
        let most = self.b.int(high.wrapping_sub(low), unsigned);
        self.b.binary(BinaryOp::Le, distance, most, int)
    }

    /// `a || b || ...`, balanced so that it is not deep.
    fn disjunction(&mut self, conditions: &[ExprId]) -> ExprId {
        let int = self.int_ty();
        match conditions {
            [] => self.b.int(0, int),
            [one] => *one,
            _ => {
                let (left, right) = conditions.split_at(conditions.len() / 2);
                let left = self.disjunction(left);
                let right = self.disjunction(right);
                self.b.binary(BinaryOp::Or, left, right, int)
            }
        }
    }

    pub(super) fn case(&mut self, id: sema::CaseId) {
        let location = self.case_location();
        let chain = self.f().chain();
        if let Some(switch) = self.f().switches.last_mut() {
            switch.cases.insert(id, (location, chain));
        }
    }

    pub(super) fn default(&mut self) {
        let location = self.case_location();
        let chain = self.f().chain();
        if let Some(switch) = self.f().switches.last_mut() {
            switch.default = Some((location, chain));
        }
    }

    /// A location at which a case can stand: the current one if another case stands there.
    fn case_location(&mut self) -> u32 {
        let f = self.f();
        let shared = f.switches.last().is_some_and(|s| s.last == Some(f.cur));
        let location = if shared {
            f.cur
        } else {
            let location = self.location();
            self.continue_at(location);
            location
        };
        if let Some(switch) = self.f().switches.last_mut() {
            switch.last = Some(location);
        }
        location
    }
}
