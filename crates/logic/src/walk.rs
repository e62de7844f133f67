//! Walks over terms: order of visits, size, free constants, substitution.
//!
//! Nothing here recurses: terms may be nested as deep as memory allows.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::term::{Op, TermId, Terms};

impl Terms {
    /// All different subterms of the given terms, each after its arguments. Bodies of quantifiers
    /// are visited, bound constants only where the body mentions them.
    pub fn postorder(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut seen = FxHashSet::default();
        let mut order = Vec::new();
        let mut stack: Vec<(TermId, bool)> =
            roots.iter().rev().map(|&root| (root, false)).collect();
        while let Some((term, done)) = stack.pop() {
            if done {
                order.push(term);
            } else if seen.insert(term) {
                stack.push((term, true));
                stack.extend(self.args(term).iter().rev().map(|&arg| (arg, false)));
            }
        }
        order
    }

    /// How many different subterms a term has, itself included.
    pub fn size(&self, term: TermId) -> usize {
        self.postorder(&[term]).len()
    }

    /// The constants that occur in the terms outside the scope of a quantifier that binds them, in
    /// order of their ids.
    pub fn free_constants(&self, roots: &[TermId]) -> BTreeSet<TermId> {
        let mut free = BTreeSet::new();
        let mut scopes: Vec<BTreeSet<TermId>> = vec![BTreeSet::new()];
        let mut seen = FxHashSet::default();
        let mut stack: Vec<(usize, TermId)> = roots.iter().map(|&root| (0, root)).collect();
        while let Some((scope, term)) = stack.pop() {
            if !seen.insert((scope, term)) {
                continue;
            }
            match self.op(term) {
                Op::Constant(_) => {
                    if !scopes[scope].contains(&term) {
                        free.insert(term);
                    }
                }
                Op::Forall(bound) | Op::Exists(bound) => {
                    let mut inner = scopes[scope].clone();
                    inner.extend(bound.iter().copied());
                    scopes.push(inner);
                    stack.push((scopes.len() - 1, self.args(term)[0]));
                }
                _ => stack.extend(self.args(term).iter().map(|&arg| (scope, arg))),
            }
        }
        free
    }

    /// Replaces constants (or whole subterms) at once, and simplifies on the way up. Bound
    /// constants are left alone, and renamed where a replacement would be captured.
    ///
    /// ```
    /// use hardbop_logic::{Sort, Terms};
    /// let mut terms = Terms::new();
    /// let x = terms.constant("x", Sort::Int);
    /// let y = terms.constant("y", Sort::Int);
    /// let sum = terms.int_add(&[x, y]);
    /// let two = terms.int(2);
    /// let swapped = terms.substitute(sum, &[(x, two), (y, x)].into());
    /// assert_eq!(terms.infix(swapped).to_string(), "x + 2");
    /// ```
    pub fn substitute(&mut self, root: TermId, map: &BTreeMap<TermId, TermId>) -> TermId {
        self.rebuild(root, map)
    }

    /// The same term, built again with all simplifications.
    pub fn simplify(&mut self, root: TermId) -> TermId {
        self.rebuild(root, &BTreeMap::new())
    }

    fn rebuild(&mut self, root: TermId, map: &BTreeMap<TermId, TermId>) -> TermId {
        enum Step {
            Enter(usize, TermId),
            Leave(usize, TermId),
            LeaveQuantifier {
                outer: usize,
                inner: usize,
                term: TermId,
                bound: Vec<TermId>,
            },
        }
        // A whole program's state may be in the map, and a formula speak of two variables.
        let mut scopes = vec![Cow::Borrowed(map)];
        let mut done: FxHashMap<(usize, TermId), TermId> = FxHashMap::default();
        let mut stack = vec![Step::Enter(0, root)];
        while let Some(step) = stack.pop() {
            match step {
                Step::Enter(scope, term) => {
                    if done.contains_key(&(scope, term)) {
                        continue;
                    }
                    if let Some(&replacement) = scopes[scope].get(&term) {
                        done.insert((scope, term), replacement);
                        continue;
                    }
                    if let Op::Forall(bound) | Op::Exists(bound) = self.op(term) {
                        let bound = bound.to_vec();
                        let (inner, bound) = self.enter_binder(&scopes[scope], &bound, term);
                        scopes.push(Cow::Owned(inner));
                        let inner = scopes.len() - 1;
                        stack.push(Step::LeaveQuantifier {
                            outer: scope,
                            inner,
                            term,
                            bound,
                        });
                        stack.push(Step::Enter(inner, self.args(term)[0]));
                        continue;
                    }
                    stack.push(Step::Leave(scope, term));
                    stack.extend(self.args(term).iter().map(|&arg| Step::Enter(scope, arg)));
                }
                Step::Leave(scope, term) => {
                    let args: Vec<TermId> = self
                        .args(term)
                        .iter()
                        .map(|&arg| done[&(scope, arg)])
                        .collect();
                    let op = self.op(term).clone();
                    // The sort goes along because a bit-vector literal does not tell its width.
                    let sort = self.sort(term);
                    let built = self.build(op, &args, sort);
                    done.insert((scope, term), built);
                }
                Step::LeaveQuantifier {
                    outer,
                    inner,
                    term,
                    bound,
                } => {
                    let body = done[&(inner, self.args(term)[0])];
                    let built = match self.op(term) {
                        Op::Forall(_) => self.forall(&bound, body),
                        _ => self.exists(&bound, body),
                    };
                    done.insert((outer, term), built);
                }
            }
        }
        done[&(0, root)]
    }

    /// The replacements that hold below a quantifier, and the constants it binds afterwards.
    fn enter_binder(
        &mut self,
        scope: &BTreeMap<TermId, TermId>,
        bound: &[TermId],
        quantifier: TermId,
    ) -> (BTreeMap<TermId, TermId>, Vec<TermId>) {
        // A replacement of a term that mentions a bound constant speaks of another constant.
        let mut inner: BTreeMap<TermId, TermId> = BTreeMap::new();
        for (&from, &to) in scope {
            let mentions = matches!(self.op(from), Op::Constant(_));
            let shadowed = if mentions {
                bound.contains(&from)
            } else {
                !self
                    .free_constants(&[from])
                    .is_disjoint(&bound.iter().copied().collect())
            };
            if !shadowed {
                inner.insert(from, to);
            }
        }
        if inner.is_empty() {
            return (inner, bound.to_vec());
        }
        let here = self.free_constants(&[quantifier]);
        let used: Vec<TermId> = inner
            .iter()
            .filter(|&(from, _)| !matches!(self.op(*from), Op::Constant(_)) || here.contains(from))
            .map(|(_, &to)| to)
            .collect();
        let captured = self.free_constants(&used);
        let mut renamed = Vec::with_capacity(bound.len());
        for &constant in bound {
            if captured.contains(&constant) {
                let Op::Constant(symbol) = *self.op(constant) else {
                    unreachable!("only constants are bound")
                };
                let name = self.symbol_name(symbol).to_owned();
                let fresh = self.fresh(&name, self.sort(constant));
                inner.insert(constant, fresh);
                renamed.push(fresh);
            } else {
                renamed.push(constant);
            }
        }
        (inner, renamed)
    }
}
