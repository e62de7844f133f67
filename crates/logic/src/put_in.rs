//! Terms with values put in, looked at only as far as that needs.
//!
//! A large block of a program is a large term, and a few values decide most of its branches.
//! [`Terms::substitute`] would still build every side of them; here a choice is looked at before
//! its sides, and a conjunction no further than to its first `false`.

use rustc_hash::FxHashMap;

use crate::term::{Op, TermId, Terms};

/// Values to be put in, and what became of the terms that were looked at.
#[derive(Clone, Debug, Default)]
pub struct PutIn {
    done: FxHashMap<TermId, TermId>,
}

impl PutIn {
    /// These terms have these values.
    pub fn new(values: impl IntoIterator<Item = (TermId, TermId)>) -> PutIn {
        PutIn {
            done: values.into_iter().collect(),
        }
    }
}

/// What is still to be done for a term.
enum Work {
    /// Everything.
    Enter(TermId),
    /// The condition of a choice is known.
    Choose(TermId),
    /// It is the same as another term.
    Same(TermId, TermId),
    /// So many arguments of a conjunction or disjunction are known, but for the last of them.
    Junction(TermId, usize),
    /// All its arguments are known.
    Leave(TermId),
}

impl Terms {
    /// A term with values put in, simplified. Terms with quantifiers stay as they are.
    ///
    /// ```
    /// use hardbop_logic::{PutIn, Sort, Terms};
    /// let mut terms = Terms::new();
    /// let (x, y) = (terms.constant("x", Sort::Int), terms.constant("y", Sort::Int));
    /// let (one, two) = (terms.int(1), terms.int(2));
    /// let is_one = terms.eq(x, one);
    /// let term = terms.ite(is_one, two, y);
    /// assert_eq!(terms.put_in(term, &mut PutIn::new([(x, one)])), two);
    /// assert_eq!(terms.put_in(term, &mut PutIn::new([(x, two)])), y);
    /// ```
    pub fn put_in(&mut self, root: TermId, values: &mut PutIn) -> TermId {
        let done = &mut values.done;
        let mut work = vec![Work::Enter(root)];
        while let Some(next) = work.pop() {
            match next {
                Work::Enter(term) if done.contains_key(&term) => {}
                Work::Enter(term) => match (self.op(term), self.args(term)) {
                    (_, []) | (Op::Forall(_) | Op::Exists(_), _) => {
                        done.insert(term, term);
                    }
                    (Op::Ite, args) => {
                        work.extend([Work::Choose(term), Work::Enter(args[0])]);
                    }
                    (Op::And | Op::Or, args) => {
                        work.extend([Work::Junction(term, 0), Work::Enter(args[0])]);
                    }
                    (_, args) => {
                        work.push(Work::Leave(term));
                        work.extend(args.iter().map(|&arg| Work::Enter(arg)));
                    }
                },
                Work::Choose(term) => {
                    let args = self.args(term);
                    let chosen = match self.op(done[&args[0]]) {
                        Op::Bool(true) => args[1],
                        Op::Bool(false) => args[2],
                        _ => {
                            let sides = [Work::Enter(args[1]), Work::Enter(args[2])];
                            work.push(Work::Leave(term));
                            work.extend(sides);
                            continue;
                        }
                    };
                    work.extend([Work::Same(term, chosen), Work::Enter(chosen)]);
                }
                Work::Same(term, other) => {
                    done.insert(term, done[&other]);
                }
                Work::Junction(term, at) => {
                    let decides = *self.op(term) == Op::Or;
                    let args = self.args(term);
                    let known = done[&args[at]];
                    if *self.op(known) == Op::Bool(decides) {
                        done.insert(term, known);
                    } else if let Some(&next) = args.get(at + 1) {
                        work.extend([Work::Junction(term, at + 1), Work::Enter(next)]);
                    } else {
                        work.push(Work::Leave(term));
                    }
                }
                Work::Leave(term) => {
                    let args: Vec<TermId> = self.args(term).iter().map(|arg| done[arg]).collect();
                    let (op, sort) = (self.op(term).clone(), self.sort(term));
                    let built = self.build(op, &args, sort);
                    done.insert(term, built);
                }
            }
        }
        done[&root]
    }
}
