//! Small words as machine numbers: formulas evaluated fast, and the concrete graph of a system.
//!
//! Nothing here comes from the crate that is tested but the terms themselves.

use hardbop_leap::system::{States, System};
use hardbop_logic::{Op, Sort, TermId, Terms, Value};
use std::collections::BTreeMap;

/// An operation on numbers, with the positions of its arguments.
enum Kind {
    Input(usize),
    Number(u64),
    And(Vec<usize>),
    Or(Vec<usize>),
    Op(Op, Vec<usize>),
}

/// A term, ready to be evaluated many times.
pub struct Compiled {
    /// Every node with its own width and that of its first argument; truth values have one bit.
    nodes: Vec<(Kind, u32, u32)>,
}

fn width(terms: &Terms, term: TermId) -> u32 {
    match terms.sort(term) {
        Sort::Bool => 1,
        Sort::BitVec(width) => width,
        other => panic!("{other:?} is not a word"),
    }
}

fn signed(value: u64, width: u32) -> i64 {
    let unused = 64 - width;
    ((value << unused) as i64) >> unused
}

impl Compiled {
    /// A term over some inputs.
    pub fn new(terms: &Terms, root: TermId, inputs: &[TermId]) -> Compiled {
        let order = terms.postorder(&[root]);
        let mut place = BTreeMap::new();
        let mut nodes = Vec::new();
        for term in order {
            let args: Vec<usize> = terms.args(term).iter().map(|arg| place[arg]).collect();
            let first = terms.args(term).first();
            let first = first.map_or(0, |&arg| width(terms, arg));
            let kind = match terms.op(term) {
                Op::Constant(_) => {
                    let input = inputs.iter().position(|&input| input == term);
                    Kind::Input(input.expect("an input"))
                }
                Op::Bool(value) => Kind::Number(u64::from(*value)),
                Op::BitVec(_) => match terms.value_of(term) {
                    Some(Value::BitVec(bits)) => {
                        Kind::Number(bits.unsigned().try_into().expect("a small word"))
                    }
                    other => panic!("{other:?} is not a word"),
                },
                Op::And => Kind::And(args),
                Op::Or => Kind::Or(args),
                op => Kind::Op(op.clone(), args),
            };
            place.insert(term, nodes.len());
            nodes.push((kind, width(terms, term), first));
        }
        Compiled { nodes }
    }

    /// The value for some values of the inputs.
    pub fn value(&self, inputs: &[u64], scratch: &mut Vec<u64>) -> u64 {
        scratch.clear();
        for (kind, width, of) in &self.nodes {
            let at = |position: usize| scratch[position];
            let value = match kind {
                Kind::Input(position) => inputs[*position],
                Kind::Number(value) => *value,
                Kind::And(args) => u64::from(args.iter().all(|&arg| at(arg) != 0)),
                Kind::Or(args) => u64::from(args.iter().any(|&arg| at(arg) != 0)),
                Kind::Op(op, args) => {
                    let a = at(args[0]);
                    let b = args.get(1).map_or(0, |&arg| at(arg));
                    let c = args.get(2).map_or(0, |&arg| at(arg));
                    match op {
                        Op::Not => 1 - a,
                        Op::Xor => a ^ b,
                        Op::Implies => (1 - a) | b,
                        Op::Ite if a != 0 => b,
                        Op::Ite => c,
                        Op::Eq => u64::from(a == b),
                        Op::BvNot => !a,
                        Op::BvNeg => a.wrapping_neg(),
                        Op::BvAnd => a & b,
                        Op::BvOr => a | b,
                        Op::BvXor => a ^ b,
                        Op::BvAdd => a.wrapping_add(b),
                        Op::BvSub => a.wrapping_sub(b),
                        Op::BvMul => a.wrapping_mul(b),
                        Op::BvShl => a.checked_shl(b as u32).unwrap_or(0),
                        Op::BvLshr => a.checked_shr(b as u32).unwrap_or(0),
                        Op::BvUlt => u64::from(a < b),
                        Op::BvUle => u64::from(a <= b),
                        Op::BvSlt => u64::from(signed(a, *of) < signed(b, *of)),
                        Op::BvSle => u64::from(signed(a, *of) <= signed(b, *of)),
                        Op::Extract { low, .. } => a >> low,
                        Op::ZeroExtend(_) => a,
                        Op::SignExtend(_) => signed(a, *of) as u64,
                        other => panic!("{other:?} is not expected here"),
                    }
                }
            };
            scratch.push(value & (u64::MAX >> (64 - width)));
        }
        scratch[scratch.len() - 1]
    }
}

/// The states of a system for one value of a rigid constant, with their successors. A choice of
/// one bit is left to the system. States are numbered: the node, then the values, one digit each.
pub struct Graph {
    /// The successors of every state.
    pub successors: Vec<Vec<usize>>,
}

/// A system, ready to be enumerated.
pub struct Enumeration {
    width: u32,
    variables: usize,
    nodes: usize,
    /// For every step where it starts and ends, its condition and its effect.
    steps: Vec<(usize, usize, Compiled, Vec<Compiled>)>,
    inputs: Vec<TermId>,
}

impl Enumeration {
    /// A system over words of one width, with a rigid constant and a choice.
    pub fn new(
        terms: &Terms,
        system: &System,
        rigid: TermId,
        choice: TermId,
        width: u32,
    ) -> Enumeration {
        let mut inputs: Vec<TermId> = system.variables.iter().map(|v| v.constant).collect();
        inputs.extend([rigid, choice]);
        let steps = system
            .steps
            .iter()
            .map(|step| {
                let compiled = |&term: &TermId| Compiled::new(terms, term, &inputs);
                let post = step.post.iter().map(compiled).collect();
                (step.from, step.to, compiled(&step.condition), post)
            })
            .collect();
        Enumeration {
            width,
            variables: system.variables.len(),
            nodes: system.nodes,
            steps,
            inputs,
        }
    }

    fn size(&self) -> usize {
        1 << (self.width as usize * self.variables)
    }

    /// The inputs of formulas in a state.
    fn values(&self, state: usize, rigid: u64, choice: u64) -> Vec<u64> {
        let mut rest = (state % self.size()) as u64;
        let mut values = Vec::with_capacity(self.variables + 2);
        for _ in 0..self.variables {
            values.push(rest & ((1 << self.width) - 1));
            rest >>= self.width;
        }
        values.extend([rigid, choice]);
        values
    }

    /// The concrete graph for one value of the rigid constant.
    pub fn graph(&self, rigid: u64) -> Graph {
        let mut successors = vec![Vec::new(); self.nodes * self.size()];
        let mut scratch = Vec::new();
        for (state, successors) in successors.iter_mut().enumerate() {
            for (from, to, condition, post) in &self.steps {
                if *from != state / self.size() {
                    continue;
                }
                for choice in 0..2 {
                    let inputs = self.values(state, rigid, choice);
                    if condition.value(&inputs, &mut scratch) == 0 {
                        continue;
                    }
                    let mut next = 0;
                    for (position, post) in post.iter().enumerate() {
                        let value = post.value(&inputs, &mut scratch) as usize;
                        next |= value << (position * self.width as usize);
                    }
                    let next = to * self.size() + next;
                    if !successors.contains(&next) {
                        successors.push(next);
                    }
                }
            }
        }
        Graph { successors }
    }

    /// A set of states, ready to be enumerated.
    pub fn set(&self, terms: &Terms, set: &States) -> Vec<Compiled> {
        let mut terms = terms.clone();
        let plain = |&formula: &TermId| {
            let formula = expanded(&mut terms, formula);
            Compiled::new(&terms, formula, &self.inputs)
        };
        set.0.iter().map(plain).collect()
    }

    /// Which states are in a set.
    pub fn members(&self, rigid: u64, set: &[Compiled]) -> Vec<bool> {
        let mut scratch = Vec::new();
        (0..self.nodes * self.size())
            .map(|state| {
                let inputs = self.values(state, rigid, 0);
                set[state / self.size()].value(&inputs, &mut scratch) != 0
            })
            .collect()
    }
}

impl Graph {
    /// Which states can be reached from some of them, those included.
    pub fn reachable(&self, from: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut seen = vec![false; self.successors.len()];
        let mut work: Vec<usize> = from.into_iter().collect();
        for &state in &work {
            seen[state] = true;
        }
        while let Some(state) = work.pop() {
            for &next in &self.successors[state] {
                if !std::mem::replace(&mut seen[next], true) {
                    work.push(next);
                }
            }
        }
        seen
    }
}

/// The same formula without quantifiers: those over single bits are written out.
fn expanded(terms: &mut Terms, formula: TermId) -> TermId {
    let mut map = BTreeMap::new();
    for term in terms.postorder(&[formula]) {
        if let Op::Exists(bound) = terms.op(term).clone() {
            let body = terms.args(term)[0];
            let mut ways = vec![body];
            for &bit in &bound {
                let mut longer = Vec::new();
                for value in 0..2 {
                    let value = terms.bv(value, 1);
                    for &way in &ways {
                        longer.push(terms.substitute(way, &[(bit, value)].into()));
                    }
                }
                ways = longer;
            }
            let some = terms.or(&ways);
            map.insert(term, some);
        }
    }
    terms.substitute(formula, &map)
}
