//! The conditions of Theorem 2 for one leap, and what is known after it.

use super::{Checker, NO, Step, Values};
use hardbop_engine::Reason;
use hardbop_engine::claim::Leap;
use hardbop_logic::TermId;
use hardbop_semantics::layout::StateVarId;
use std::collections::BTreeMap;

impl Checker<'_, '_> {
    /// A formula about the state after a step.
    fn after(&mut self, names: &[TermId], step: &Step, formula: TermId) -> TermId {
        let onto = names.iter().copied().zip(step.post.iter().copied());
        self.terms.substitute(formula, &onto.collect())
    }

    /// Every state that is no exit goes on inside, to a view that is not the entry's.
    pub(super) fn goes_on(
        &mut self,
        leap: &Leap,
        names: &[TermId],
        steps: &[Step],
        state: &[TermId],
        exit: &[TermId],
        entry: &[TermId],
    ) -> Result<(), Reason> {
        for node in 0..leap.nodes.len() {
            let mut blocked = vec![state[node], self.terms.not(exit[node])];
            for step in steps.iter().filter(|step| step.from == node) {
                let mut parts = vec![step.condition, self.after(names, step, state[step.to])];
                if step.to == leap.entry {
                    let mut same = Vec::new();
                    for &at in &leap.nodes[leap.entry].view {
                        same.push(self.terms.eq(step.post[at], entry[at]));
                    }
                    let same = self.terms.and(&same);
                    parts.push(self.terms.not(same));
                }
                let way = self.terms.and(&parts);
                blocked.push(self.terms.not(way));
            }
            self.never(&blocked)?;
        }
        Ok(())
    }

    /// No view has two views before it.
    pub(super) fn no_merging(
        &mut self,
        leap: &Leap,
        names: &[TermId],
        steps: &[Step],
        state: &[TermId],
    ) -> Result<(), Reason> {
        let mut twins = BTreeMap::new();
        for &name in names {
            let sort = self.terms.sort(name);
            twins.insert(name, self.terms.fresh("other", sort));
        }
        for (index, one) in steps.iter().enumerate() {
            for other in &steps[index..] {
                if one.to != other.to {
                    continue;
                }
                let mut together = vec![state[one.from], one.condition];
                together.push(self.after(names, one, state[one.to]));
                let mut second = vec![state[other.from], other.condition];
                second.push(self.after(names, other, state[other.to]));
                for formula in second {
                    together.push(self.terms.substitute(formula, &twins));
                }
                for &at in &leap.nodes[one.to].view {
                    let post = self.terms.substitute(other.post[at], &twins);
                    together.push(self.terms.eq(one.post[at], post));
                }
                if one.from == other.from {
                    let mut differ = Vec::new();
                    for &at in &leap.nodes[one.from].view {
                        let equal = self.terms.eq(names[at], twins[&names[at]]);
                        differ.push(self.terms.not(equal));
                    }
                    together.push(self.terms.or(&differ));
                }
                self.never(&together)?;
            }
        }
        Ok(())
    }

    /// After the leap: at the exit port of one node, and nowhere else. Where only one state is
    /// possible, its values are known; else only that they are at the port.
    pub(super) fn exits(
        &mut self,
        leap: &Leap,
        index: usize,
        names: &[TermId],
        exit: &[TermId],
        changed: &[bool],
        values: &mut Values,
    ) -> Result<(), Reason> {
        for (node, &elsewhere) in exit.iter().enumerate() {
            if node != leap.exit {
                self.never(&[elsewhere])?;
            }
        }
        let mut now = Vec::new();
        for (position, &name) in names.iter().enumerate() {
            let sort = self.terms.sort(name);
            let left = self
                .terms
                .constant(&format!("left{index}.{position}"), sort);
            let spelt = format!("left{index}.{position}#");
            self.spelling.spell(&mut self.terms, left, &spelt);
            now.push(left);
        }
        let onto = names.iter().copied().zip(now.iter().copied()).collect();
        let there = self.terms.substitute(exit[leap.exit], &onto);
        match &leap.left {
            None => self.loose.push(there),
            Some(texts) if texts.len() == now.len() => {
                let mut others = Vec::new();
                let mut known = Vec::new();
                for (text, &left) in texts.iter().zip(&now) {
                    let value = self.read(text)?;
                    if self.terms.sort(value) != self.terms.sort(left) {
                        return Err(NO);
                    }
                    let equal = self.terms.eq(left, value);
                    others.push(self.terms.not(equal));
                    known.push(value);
                }
                let other = self.terms.or(&others);
                self.never(&[there, other])?;
                // What is known of them is what they are, and what the port says of arrays.
                self.loose.push(there);
                for (&left, &value) in now.iter().zip(&known) {
                    self.loose.push(self.terms.eq(left, value));
                }
                now = known;
            }
            Some(_) => return Err(NO),
        }
        for (index, value) in values.iter_mut().enumerate() {
            if changed[index] {
                *value = self.anything(StateVarId(index as u32));
            }
        }
        let relevant = &leap.nodes[leap.exit].relevant;
        for (position, (id, value)) in leap.variables.iter().zip(now).enumerate() {
            if let Some(id) = id
                && relevant.contains(&position)
            {
                values[id.0 as usize] = value;
            }
        }
        Ok(())
    }
}
