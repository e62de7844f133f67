//! Boolean connectives, equality, `ite` and quantifiers.

use super::bits::Step;
use crate::sort::Sort;
use crate::term::{Op, TermId, Terms};
use rustc_hash::FxHashMap;

impl Terms {
    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) -> TermId {
        self.plain(Op::Bool(value), &[])
    }

    fn bool_of(&self, term: TermId) -> Option<bool> {
        match self.op(term) {
            Op::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The argument of a negation.
    pub fn negated(&self, term: TermId) -> Option<TermId> {
        match self.op(term) {
            Op::Not => Some(self.args(term)[0]),
            _ => None,
        }
    }

    fn complementary(&self, a: TermId, b: TermId) -> bool {
        self.negated(a) == Some(b) || self.negated(b) == Some(a)
    }

    /// Negation. Comparisons turn round, so that a negated literal is never nested.
    pub fn not(&mut self, a: TermId) -> TermId {
        if let Some(value) = self.bool_of(a) {
            return self.bool(!value);
        }
        if let Some(inner) = self.negated(a) {
            return inner;
        }
        let args = self.args(a).to_vec();
        match self.op(a) {
            Op::BvUlt => self.bv_ule(args[1], args[0]),
            Op::BvUle => self.bv_ult(args[1], args[0]),
            Op::BvSlt => self.bv_sle(args[1], args[0]),
            Op::BvSle => self.bv_slt(args[1], args[0]),
            Op::IntLt => self.int_le(args[1], args[0]),
            Op::IntLe => self.int_lt(args[1], args[0]),
            _ => self.plain(Op::Not, &[a]),
        }
    }

    /// Conjunction of any number of terms.
    pub fn and(&mut self, args: &[TermId]) -> TermId {
        self.junction(Op::And, args)
    }

    /// Disjunction of any number of terms.
    pub fn or(&mut self, args: &[TermId]) -> TermId {
        self.junction(Op::Or, args)
    }

    /// The two sides of a fork: if the terms are `s && p` and `s && !p`, then `s` and `p`. Under
    /// `s`, `p` alone says which of them holds.
    pub fn fork(&mut self, a: TermId, b: TermId) -> Option<(TermId, TermId)> {
        let conjuncts = |term: TermId| match self.op(term) {
            Op::And => self.args(term).to_vec(),
            _ => vec![term],
        };
        let (mut left, right) = (conjuncts(a), conjuncts(b));
        if left.len() != right.len() {
            return None;
        }
        let mut differing = (0..left.len()).filter(|&at| left[at] != right[at]);
        let (at, None) = (differing.next()?, differing.next()) else {
            return None;
        };
        let opposite = self.not(left[at]);
        if opposite != right[at] {
            return None;
        }
        let side = left.remove(at);
        Some((self.and(&left), side))
    }

    fn junction(&mut self, op: Op, args: &[TermId]) -> TermId {
        let neutral = op == Op::And;
        let mut flat = Vec::with_capacity(args.len());
        for &arg in args {
            // One level is enough: arguments were built by this function.
            if *self.op(arg) == op {
                flat.extend_from_slice(self.args(arg));
            } else {
                flat.push(arg);
            }
        }
        // The order of first occurrence is kept, since it is the one that a reader wrote.
        let mut seen = rustc_hash::FxHashSet::default();
        let mut kept = Vec::with_capacity(flat.len());
        for arg in flat {
            assert_eq!(self.sort(arg), Sort::Bool, "{op:?} takes truth values");
            match self.bool_of(arg) {
                Some(value) if value == neutral => {}
                Some(value) => return self.bool(value),
                None if seen.insert(arg) => kept.push(arg),
                None => {}
            }
        }
        for &arg in &kept {
            if let Some(inner) = self.negated(arg)
                && seen.contains(&inner)
            {
                return self.bool(!neutral);
            }
        }
        match kept.as_slice() {
            [] => self.bool(neutral),
            [only] => *only,
            _ => self.plain(op, &kept),
        }
    }

    /// Implication, as a disjunction.
    pub fn implies(&mut self, a: TermId, b: TermId) -> TermId {
        let not_a = self.not(a);
        self.or(&[not_a, b])
    }

    /// Exclusive or.
    pub fn xor(&mut self, a: TermId, b: TermId) -> TermId {
        let same = self.eq(a, b);
        self.not(same)
    }

    /// Equivalence: equality of truth values.
    pub fn iff(&mut self, a: TermId, b: TermId) -> TermId {
        self.eq(a, b)
    }

    /// Pairwise difference.
    pub fn distinct(&mut self, args: &[TermId]) -> TermId {
        let mut pairs = Vec::new();
        for (at, &a) in args.iter().enumerate() {
            for &b in &args[at + 1..] {
                let same = self.eq(a, b);
                pairs.push(self.not(same));
            }
        }
        self.and(&pairs)
    }

    /// `c ? a : b`
    pub fn ite(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        if let Some(value) = self.bool_of(c) {
            return if value { a } else { b };
        }
        if a == b {
            return a;
        }
        if let Some(inner) = self.negated(c) {
            return self.ite(inner, b, a);
        }
        if self.sort(a) == Sort::Bool {
            match (self.bool_of(a), self.bool_of(b)) {
                (Some(true), Some(false)) => return c,
                (Some(false), Some(true)) => return self.not(c),
                (Some(true), None) => return self.or(&[c, b]),
                (None, Some(false)) => return self.and(&[c, a]),
                (Some(false), None) => {
                    let not_c = self.not(c);
                    return self.and(&[not_c, b]);
                }
                (None, Some(true)) => {
                    let not_c = self.not(c);
                    return self.or(&[not_c, a]);
                }
                _ => {}
            }
            if a == c {
                return self.or(&[c, b]);
            }
            if b == c {
                return self.and(&[c, a]);
            }
            if self.complementary(a, b) {
                return self.eq(c, a);
            }
        }
        // The same condition further down is decided here.
        let a = match self.op(a) {
            Op::Ite if self.args(a)[0] == c => self.args(a)[1],
            _ => a,
        };
        let b = match self.op(b) {
            Op::Ite if self.args(b)[0] == c => self.args(b)[2],
            _ => b,
        };
        if a == b {
            return a;
        }
        match self.extreme(c, a, b) {
            Some(same) => same,
            None => self.plain(Op::Ite, &[c, a, b]),
        }
    }

    /// The larger or the smaller of two terms, asked in one order: what is computed from two
    /// words that were put in order is the same then, whichever of them came first.
    fn extreme(&mut self, c: TermId, a: TermId, b: TermId) -> Option<TermId> {
        let less = match self.op(c) {
            Op::BvUlt | Op::BvUle => Terms::bv_ult,
            Op::BvSlt | Op::BvSle => Terms::bv_slt,
            _ => return None,
        };
        let (left, right) = (self.args(c)[0], self.args(c)[1]);
        if (a, b) != (left, right) && (a, b) != (right, left) {
            return None;
        }
        let (first, second) = (left.min(right), left.max(right));
        let condition = less(self, first, second);
        // Another comparison may have become of it, with literals say; then it stays as it is.
        let is_plain = matches!(self.op(condition), Op::BvUlt | Op::BvSlt)
            && self.args(condition) == [first, second];
        let is_smaller = a == left;
        is_plain.then(|| match is_smaller {
            true => self.plain(Op::Ite, &[condition, first, second]),
            false => self.plain(Op::Ite, &[condition, second, first]),
        })
    }

    /// Equality of two terms of one sort.
    pub fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        let (mut a, mut b) = (a, b);
        // Rewriting goes on in a loop, since chains of operators may be long.
        while let (Sort::BitVec(_), Sort::BitVec(_)) = (self.sort(a), self.sort(b))
            && a != b
        {
            match self.bv_equality(a, b) {
                Step::Sides(left, right) => (a, b) = (left, right),
                Step::Decided(value) => return self.bool(value),
                Step::None => break,
            }
        }
        if a == b || self.are_reordered(a, b) {
            return self.bool(true);
        }
        if let Some(folded) = self.fold(&Op::Eq, &[a, b]) {
            return folded;
        }
        match self.sort(a) {
            Sort::Bool => {
                for (literal, other) in [(a, b), (b, a)] {
                    match self.bool_of(literal) {
                        Some(true) => return other,
                        Some(false) => return self.not(other),
                        None => {}
                    }
                }
                if self.complementary(a, b) {
                    return self.bool(false);
                }
                // Negations move outside, so that an equality and its opposite share a node.
                if let Some(inner) = self.negated(a) {
                    let same = self.eq(inner, b);
                    return self.not(same);
                }
                if let Some(inner) = self.negated(b) {
                    let same = self.eq(a, inner);
                    return self.not(same);
                }
            }
            Sort::Int => {
                if let Some(normal) = self.int_equality(a, b) {
                    return normal;
                }
            }
            Sort::BitVec(_) | Sort::Array(_) => {}
        }
        if let Some(decided) = self.eq_with_ite(a, b).or_else(|| self.eq_with_ite(b, a)) {
            return decided;
        }
        self.ordered_eq(a, b)
    }

    /// An equality with its sides in one order: literals to the right, else by age.
    pub(super) fn ordered_eq(&mut self, a: TermId, b: TermId) -> TermId {
        let swap = match (self.value_of(a).is_some(), self.value_of(b).is_some()) {
            (true, false) => true,
            (false, true) => false,
            _ => b < a,
        };
        if swap {
            self.plain(Op::Eq, &[b, a])
        } else {
            self.plain(Op::Eq, &[a, b])
        }
    }

    /// `(c ? 1 : 0) == 1` is `c`: C's conditions arrive in this form, and after paths have met,
    /// whole trees of choices between constants.
    fn eq_with_ite(&mut self, ite: TermId, literal: TermId) -> Option<TermId> {
        self.value_of(literal)?;
        self.over_choices(ite, |terms, leaf| terms.eq(leaf, literal))
    }

    /// A test of a tree of `ite`, done at its leaves instead. Gives nothing if a leaf is no
    /// literal: the test would have to be built more than once.
    pub(super) fn over_choices(
        &mut self,
        root: TermId,
        mut test: impl FnMut(&mut Terms, TermId) -> TermId,
    ) -> Option<TermId> {
        const MOST_NODES: usize = 256;
        if *self.op(root) != Op::Ite {
            return None;
        }
        let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut work = vec![root];
        while let Some(&term) = work.last() {
            if done.contains_key(&term) {
                work.pop();
                continue;
            }
            if done.len() + work.len() > MOST_NODES {
                return None;
            }
            if *self.op(term) != Op::Ite {
                self.value_of(term)?;
                let decided = test(self, term);
                done.insert(term, decided);
                work.pop();
                continue;
            }
            let [c, a, b] = self.args(term).try_into().ok()?;
            match (done.get(&a).copied(), done.get(&b).copied()) {
                (Some(a), Some(b)) => {
                    let joined = self.ite(c, a, b);
                    done.insert(term, joined);
                    work.pop();
                }
                (left, right) => {
                    work.extend(left.is_none().then_some(a));
                    work.extend(right.is_none().then_some(b));
                }
            }
        }
        done.get(&root).copied()
    }

    /// `forall` over constants, which are bound in the body from then on.
    pub fn forall(&mut self, bound: &[TermId], body: TermId) -> TermId {
        self.quantifier(Op::Forall, bound, body)
    }

    /// `exists` over constants, which are bound in the body from then on.
    pub fn exists(&mut self, bound: &[TermId], body: TermId) -> TermId {
        self.quantifier(Op::Exists, bound, body)
    }

    fn quantifier(
        &mut self,
        op: fn(Box<[TermId]>) -> Op,
        bound: &[TermId],
        body: TermId,
    ) -> TermId {
        let free = self.free_constants(&[body]);
        let mut kept: Vec<TermId> = bound
            .iter()
            .copied()
            .filter(|term| free.contains(term))
            .collect();
        kept.sort_unstable();
        kept.dedup();
        // No sort is empty, so a quantifier over nothing that occurs says what its body says.
        if kept.is_empty() {
            body
        } else {
            self.plain(op(kept.into()), &[body])
        }
    }
}
