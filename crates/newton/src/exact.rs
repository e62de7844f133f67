//! Formulas over mathematical integers, read exactly over machine integers.
//!
//! A predicate such as `x + y <= n`, found over the integers, means something definite in a
//! machine state: the same comparison of the numbers that the machine words stand for. Here it
//! becomes a bit-vector formula at a width at which nothing can overflow.

use hardbop_cfront::ids::LocId;
use hardbop_logic::{Op, Sign, Sort, TermId, Terms};
use hardbop_semantics::constants::{Constants, Meaning, Spelling};
use hardbop_semantics::scalar::Shape;
use hardbop_semantics::steps::Ground;
use hardbop_semantics::{Encoding, Semantics};
use std::collections::{BTreeMap, HashMap};

/// Translates formulas of one encoding into another, exact one.
pub struct Translation<'a, 'p> {
    guess: &'a Constants,
    exact: &'a Semantics<'p>,
    bools: HashMap<TermId, Option<TermId>>,
}

/// Invariants over one encoding as the text of invariants in the exact one; `None` if one of them
/// has no exact counterpart.
pub fn spelled(
    terms: &mut Terms,
    guess: &Ground<'_, '_>,
    exact: &Semantics<'_>,
    invariants: BTreeMap<LocId, TermId>,
) -> Option<BTreeMap<LocId, String>> {
    let mut translation = Translation::new(guess.constants, exact);
    let spelling = Spelling::new(exact, terms);
    let mut at = BTreeMap::new();
    for (location, formula) in invariants {
        let formula = match guess.semantics.encoding {
            Encoding::Bits => formula,
            Encoding::Integers { .. } => translation.formula(terms, formula)?,
        };
        at.insert(location, spelling.write(terms, formula)?);
    }
    Some(at)
}

/// Wider numbers than this do not come up in predicates worth having.
const MAX_WIDTH: u32 = 256;

impl<'a, 'p> Translation<'a, 'p> {
    /// A translation of formulas over the constants of `guess` to formulas over those of `exact`.
    pub fn new(guess: &'a Constants, exact: &'a Semantics<'p>) -> Translation<'a, 'p> {
        Translation {
            guess,
            exact,
            bools: HashMap::new(),
        }
    }

    /// The formula in machine terms; `None` if it has no exact counterpart.
    pub fn formula(&mut self, terms: &mut Terms, term: TermId) -> Option<TermId> {
        if let Some(known) = self.bools.get(&term) {
            return *known;
        }
        let result = deep(|| self.boolean(terms, term));
        self.bools.insert(term, result);
        result
    }

    fn boolean(&mut self, terms: &mut Terms, term: TermId) -> Option<TermId> {
        let args = terms.args(term).to_vec();
        match terms.op(term).clone() {
            Op::Bool(value) => Some(terms.bool(value)),
            Op::Not => {
                let inner = self.formula(terms, args[0])?;
                Some(terms.not(inner))
            }
            Op::And | Op::Or => {
                let parts: Option<Vec<TermId>> =
                    args.iter().map(|&arg| self.formula(terms, arg)).collect();
                let parts = parts?;
                Some(if matches!(terms.op(term), Op::And) {
                    terms.and(&parts)
                } else {
                    terms.or(&parts)
                })
            }
            Op::Implies => {
                let (a, b) = (self.formula(terms, args[0])?, self.formula(terms, args[1])?);
                Some(terms.implies(a, b))
            }
            Op::Xor => {
                let (a, b) = (self.formula(terms, args[0])?, self.formula(terms, args[1])?);
                Some(terms.xor(a, b))
            }
            Op::Ite => {
                let c = self.formula(terms, args[0])?;
                let (a, b) = (self.formula(terms, args[1])?, self.formula(terms, args[2])?);
                Some(terms.ite(c, a, b))
            }
            Op::Eq if terms.sort(args[0]) == Sort::Bool => {
                let (a, b) = (self.formula(terms, args[0])?, self.formula(terms, args[1])?);
                Some(terms.iff(a, b))
            }
            Op::Eq | Op::IntLe | Op::IntLt if terms.sort(args[0]) == Sort::Int => {
                let a = self.number(terms, args[0])?;
                let b = self.number(terms, args[1])?;
                let (a, b) = same_width(terms, a, b);
                Some(match terms.op(term) {
                    Op::Eq => terms.eq(a, b),
                    Op::IntLe => terms.bv_sle(a, b),
                    _ => terms.bv_slt(a, b),
                })
            }
            Op::Eq | Op::BvUle | Op::BvUlt | Op::BvSle | Op::BvSlt => {
                let a = self.bits(terms, args[0])?;
                let b = self.bits(terms, args[1])?;
                Some(match terms.op(term) {
                    Op::Eq => terms.eq(a, b),
                    Op::BvUle => terms.bv_ule(a, b),
                    Op::BvUlt => terms.bv_ult(a, b),
                    Op::BvSle => terms.bv_sle(a, b),
                    _ => terms.bv_slt(a, b),
                })
            }
            _ => None,
        }
    }

    /// A state variable's word in the exact encoding, with its shape.
    fn word(&self, terms: &mut Terms, constant: TermId) -> Option<(TermId, Shape)> {
        let (id, old) = match self.guess.meaning(constant)? {
            Meaning::Now(id) => (id, false),
            Meaning::Old(id) => (id, true),
            Meaning::Origin => {
                return Some((self.exact.origin(terms), self.exact.pointer_shape()));
            }
        };
        let word = if old {
            self.exact.old_constant(terms, id)
        } else {
            self.exact.constant(terms, id)
        };
        Some((word, self.exact.shape(id)))
    }

    /// A bit-vector term: its constants are the same in both encodings.
    fn bits(&mut self, terms: &mut Terms, term: TermId) -> Option<TermId> {
        let mut map = BTreeMap::new();
        for constant in terms.free_constants(&[term]) {
            let (word, _) = self.word(terms, constant)?;
            if terms.sort(word) != terms.sort(constant) {
                return None;
            }
            map.insert(constant, word);
        }
        Some(terms.substitute(term, &map))
    }

    /// An integer term as a signed bit-vector that is wide enough for its value.
    fn number(&mut self, terms: &mut Terms, term: TermId) -> Option<TermId> {
        deep(|| self.number_here(terms, term))
    }

    fn number_here(&mut self, terms: &mut Terms, term: TermId) -> Option<TermId> {
        let args = terms.args(term).to_vec();
        let result = match terms.op(term).clone() {
            Op::Int(value) => {
                let width = value.bits() as u32 + 2;
                let small = i128::try_from(value).ok()?;
                terms.bv(small, width)
            }
            Op::Constant(_) => {
                let (word, shape) = self.word(terms, term)?;
                widen(terms, word, shape)
            }
            Op::IntAdd => {
                let mut sum = self.number(terms, args[0])?;
                for &arg in &args[1..] {
                    let next = self.number(terms, arg)?;
                    let (a, b) = same_width(terms, sum, next);
                    let width = terms.width(a) + 1;
                    let a = terms.resize(a, width, Sign::Signed);
                    let b = terms.resize(b, width, Sign::Signed);
                    sum = terms.bv_add(a, b);
                }
                sum
            }
            Op::IntMul => {
                let mut product = self.number(terms, args[0])?;
                for &arg in &args[1..] {
                    let next = self.number(terms, arg)?;
                    let width = terms.width(product) + terms.width(next);
                    if width > MAX_WIDTH {
                        return None;
                    }
                    let a = terms.resize(product, width, Sign::Signed);
                    let b = terms.resize(next, width, Sign::Signed);
                    product = terms.bv_mul(a, b);
                }
                product
            }
            Op::IntMod | Op::IntDiv => {
                // Euclidean, by a positive constant.
                let positive = matches!(terms.op(args[1]), Op::Int(value)
                    if value.sign() == num_bigint::Sign::Plus);
                if !positive {
                    return None;
                }
                let a = self.number(terms, args[0])?;
                let b = self.number(terms, args[1])?;
                let (a, b) = same_width(terms, a, b);
                let rest = terms.bv_smod(a, b);
                if matches!(terms.op(term), Op::IntMod) {
                    rest
                } else {
                    let width = terms.width(a) + 1;
                    let [a, b, rest] = [a, b, rest].map(|t| terms.resize(t, width, Sign::Signed));
                    let multiple = terms.bv_sub(a, rest);
                    terms.bv_sdiv(multiple, b)
                }
            }
            Op::Ite => {
                let c = self.formula(terms, args[0])?;
                let a = self.number(terms, args[1])?;
                let b = self.number(terms, args[2])?;
                let (a, b) = same_width(terms, a, b);
                terms.ite(c, a, b)
            }
            Op::Select => {
                let Op::Constant(_) = terms.op(args[0]) else {
                    return None;
                };
                let (memory, shape) = self.word(terms, args[0])?;
                let address = self.number(terms, args[1])?;
                // Most arrays are indexed by addresses, sizes of objects by wider identities.
                let Sort::Array(array) = terms.sort(memory) else {
                    return None;
                };
                let (Sort::BitVec(width), _) = terms.array_parts(array) else {
                    return None;
                };
                let address = terms.resize(address, width, Sign::Signed);
                let value = terms.select(memory, address);
                widen(terms, value, shape)
            }
            Op::BvToInt => {
                let bits = self.bits(terms, args[0])?;
                terms.zero_extend(bits, 1)
            }
            _ => return None,
        };
        (terms.width(result) <= MAX_WIDTH).then_some(result)
    }
}

/// Does something on a stack that is large enough: what solvers give back can be deep.
fn deep<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 << 10, 1 << 20, work)
}

fn widen(terms: &mut Terms, word: TermId, shape: Shape) -> TermId {
    if shape.signed {
        word
    } else {
        terms.zero_extend(word, 1)
    }
}

fn same_width(terms: &mut Terms, a: TermId, b: TermId) -> (TermId, TermId) {
    let width = terms.width(a).max(terms.width(b));
    (
        terms.resize(a, width, Sign::Signed),
        terms.resize(b, width, Sign::Signed),
    )
}
