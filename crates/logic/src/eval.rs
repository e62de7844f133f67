//! The value of a term under an assignment of its constants.

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::term::{FuncId, Op, TermId, Terms};
use crate::value::{Value, apply};

/// Values for constants and functions. What is not assigned counts as the default of its sort.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assignment {
    constants: BTreeMap<TermId, Value>,
    functions: BTreeMap<FuncId, FunctionValue>,
}

/// The meaning of a function: a finite table and a value for everything else.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionValue {
    /// The arguments with a value of their own.
    pub entries: BTreeMap<Vec<Value>, Value>,
    /// The value for all other arguments.
    pub default: Value,
}

/// Why a term has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// The term divides an integer by zero, which SMT-LIB leaves open.
    DivisionByZero(TermId),
    /// The term has a quantifier.
    Quantifier(TermId),
}

impl Assignment {
    /// Nothing assigned.
    pub fn new() -> Assignment {
        Assignment::default()
    }

    /// Gives a constant a value.
    pub fn set(&mut self, constant: TermId, value: Value) {
        self.constants.insert(constant, value);
    }

    /// Gives a function a meaning.
    pub fn set_function(&mut self, function: FuncId, value: FunctionValue) {
        self.functions.insert(function, value);
    }

    /// The value of a constant, if it was given one.
    pub fn get(&self, constant: TermId) -> Option<&Value> {
        self.constants.get(&constant)
    }

    /// The meaning of a function, if it was given one.
    pub fn function(&self, function: FuncId) -> Option<&FunctionValue> {
        self.functions.get(&function)
    }

    /// All constants with their values, in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (TermId, &Value)> {
        self.constants
            .iter()
            .map(|(&constant, value)| (constant, value))
    }
}

/// The value of a term.
///
/// Only the branch of an `ite` that is taken is evaluated, and `and`, `or` stop early only in the
/// result, not in the work: each shared subterm is evaluated once.
///
/// ```
/// use hardbop_logic::{Assignment, BitVec, Sort, Terms, Value, eval};
/// let mut terms = Terms::new();
/// let x = terms.constant("x", Sort::BitVec(8));
/// let one = terms.bv(1, 8);
/// let sum = terms.bv_add(x, one);
/// let mut assignment = Assignment::new();
/// assignment.set(x, Value::BitVec(BitVec::new(255u32.into(), 8)));
/// assert_eq!(eval(&terms, sum, &assignment).unwrap().to_string(), "0");
/// ```
pub fn eval(terms: &Terms, term: TermId, assignment: &Assignment) -> Result<Value, EvalError> {
    let mut known: FxHashMap<TermId, Value> = FxHashMap::default();
    let mut stack = vec![term];
    while let Some(&top) = stack.last() {
        if known.contains_key(&top) {
            stack.pop();
            continue;
        }
        let op = terms.op(top);
        let args = terms.args(top);
        if matches!(op, Op::Forall(_) | Op::Exists(_)) {
            return Err(EvalError::Quantifier(top));
        }
        if *op == Op::Ite {
            match known.get(&args[0]).and_then(Value::as_bool) {
                None => stack.push(args[0]),
                Some(condition) => {
                    let branch = if condition { args[1] } else { args[2] };
                    match known.get(&branch).cloned() {
                        None => stack.push(branch),
                        Some(value) => {
                            known.insert(top, value);
                        }
                    }
                }
            }
            continue;
        }
        let missing = stack.len();
        stack.extend(args.iter().copied().filter(|arg| !known.contains_key(arg)));
        if stack.len() > missing {
            continue;
        }
        let values: Vec<Value> = args.iter().map(|arg| known[arg].clone()).collect();
        let value = match op {
            Op::Constant(symbol) => match assignment.get(top) {
                Some(value) => value.clone(),
                None => Value::default_of(terms, terms.symbol_sort(*symbol)),
            },
            Op::Apply(function) => match assignment.function(*function) {
                Some(table) => table.entries.get(&values).unwrap_or(&table.default).clone(),
                None => Value::default_of(terms, terms.signature(*function).1),
            },
            Op::BitVec(_) => terms.value_of(top).expect("a literal has a value"),
            _ => apply(terms, op, &values).ok_or(EvalError::DivisionByZero(top))?,
        };
        known.insert(top, value);
        stack.pop();
    }
    Ok(known.remove(&term).expect("the root was evaluated"))
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::DivisionByZero(_) => f.write_str("an integer is divided by zero"),
            EvalError::Quantifier(_) => f.write_str("a quantifier has no value by evaluation"),
        }
    }
}

impl std::error::Error for EvalError {}
