//! Reads SMT-LIB terms: what solvers say in answers, models and solutions.
//!
//! Reading is iterative, like everything else here: a solver may answer with a deep term. Terms are
//! built through the simplifying builders.

mod sorts;

pub use sorts::parse_declared;
use sorts::read_sort;

use std::fmt;

use num_bigint::{BigInt, BigUint};
use num_traits::Num;
use rustc_hash::FxHashMap;

use crate::float::FloatOperation;
use crate::smtlib::escape;
use crate::sort::Sort;
use crate::term::{FuncId, Op, TermId, Terms};

/// Why a text is not a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(pub String);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseError {}

fn fail<T>(what: impl Into<String>) -> Result<T, ParseError> {
    Err(ParseError(what.into()))
}

/// S-expressions in one flat table, so that neither reading nor dropping them recurses.
#[derive(Debug)]
pub(crate) struct SExprs {
    nodes: Vec<SExpr>,
    /// The expressions at the top, in order.
    pub(crate) top: Vec<usize>,
}

#[derive(Debug)]
enum SExpr {
    Atom(String),
    List(Vec<usize>),
}

impl SExprs {
    pub(crate) fn read(text: &str) -> Result<SExprs, ParseError> {
        let mut out = SExprs {
            nodes: Vec::new(),
            top: Vec::new(),
        };
        let mut open: Vec<Vec<usize>> = Vec::new();
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let node = match c {
                c if c.is_whitespace() => continue,
                ';' => {
                    for (_, c) in chars.by_ref() {
                        if c == '\n' {
                            break;
                        }
                    }
                    continue;
                }
                '(' => {
                    open.push(Vec::new());
                    continue;
                }
                ')' => match open.pop() {
                    Some(list) => SExpr::List(list),
                    None => return fail("a `)` too many"),
                },
                '|' => {
                    let mut name = String::new();
                    loop {
                        match chars.next() {
                            Some((_, '|')) => break,
                            Some((_, c)) => name.push(c),
                            None => return fail("an open `|`"),
                        }
                    }
                    SExpr::Atom(name)
                }
                '"' => {
                    let mut end = text.len();
                    while let Some((at, c)) = chars.next() {
                        if c == '"' {
                            if chars.peek().is_some_and(|&(_, next)| next == '"') {
                                chars.next();
                            } else {
                                end = at + 1;
                                break;
                            }
                        }
                    }
                    SExpr::Atom(text[at..end].to_owned())
                }
                _ => {
                    let mut end = text.len();
                    while let Some(&(next, c)) = chars.peek() {
                        if c.is_whitespace() || matches!(c, '(' | ')' | ';' | '|' | '"') {
                            end = next;
                            break;
                        }
                        chars.next();
                    }
                    SExpr::Atom(text[at..end].to_owned())
                }
            };
            out.nodes.push(node);
            let id = out.nodes.len() - 1;
            match open.last_mut() {
                Some(list) => list.push(id),
                None => out.top.push(id),
            }
        }
        if open.is_empty() {
            Ok(out)
        } else {
            fail("a `)` is missing")
        }
    }

    pub(crate) fn atom(&self, at: usize) -> Option<&str> {
        match &self.nodes[at] {
            SExpr::Atom(text) => Some(text),
            SExpr::List(_) => None,
        }
    }

    pub(crate) fn list(&self, at: usize) -> Option<&[usize]> {
        match &self.nodes[at] {
            SExpr::Atom(_) => None,
            SExpr::List(items) => Some(items),
        }
    }

    fn number(&self, at: usize) -> Result<u32, ParseError> {
        match self.atom(at).and_then(|text| text.parse().ok()) {
            Some(number) => Ok(number),
            None => fail("a number was expected"),
        }
    }
}

/// What the free names of a text stand for.
#[derive(Debug, Default)]
pub struct Names {
    constants: FxHashMap<String, TermId>,
    functions: FxHashMap<String, FuncId>,
    /// What `(:var i)` stands for, where Z3 speaks of the arguments of a relation by number.
    pub(crate) numbered: Vec<TermId>,
}

impl Names {
    /// The free constants and the functions of the given terms, under their printed names.
    pub fn of(terms: &Terms, roots: &[TermId]) -> Names {
        let mut names = Names::default();
        for constant in terms.free_constants(roots) {
            names.add_constant(terms, constant);
        }
        for function in crate::smtlib::functions_in(terms, roots) {
            names.add_function(terms, function);
        }
        names
    }

    /// Makes one more constant known.
    pub fn add_constant(&mut self, terms: &Terms, constant: TermId) {
        if let Op::Constant(symbol) = terms.op(constant) {
            self.constants
                .insert(escape(terms.symbol_name(*symbol)), constant);
        }
    }

    /// Makes one more function known.
    pub fn add_function(&mut self, terms: &Terms, function: FuncId) {
        self.functions
            .insert(escape(terms.function_name(function)), function);
    }
}

/// Reads one term.
///
/// ```
/// use hardbop_logic::{Names, Sort, Terms, parse_term};
/// let mut terms = Terms::new();
/// let x = terms.constant("x", Sort::Int);
/// let names = Names::of(&terms, &[x]);
/// let read = parse_term(&mut terms, &names, "(let ((y (+ x 1))) (and (< x y) (>= y 3)))").unwrap();
/// assert_eq!(terms.infix(read).to_string(), "x >= 2");
/// ```
pub fn parse_term(terms: &mut Terms, names: &Names, text: &str) -> Result<TermId, ParseError> {
    let expressions = SExprs::read(text)?;
    match expressions.top.as_slice() {
        &[only] => read_term(terms, names, &expressions, only),
        other => fail(format!("one term was expected, not {}", other.len())),
    }
}

/// A step of the reader.
enum Step {
    /// Read the expression in the scope.
    Read { at: usize, scope: usize },
    /// Apply the operator of the list to the terms read last.
    Apply {
        at: usize,
        scope: usize,
        count: usize,
    },
    /// Bind the terms read last to the names of a `let`, then read its body.
    Let { at: usize, scope: usize },
    /// Close a quantifier over the term read last.
    Close { forall: bool, bound: Vec<TermId> },
}

/// A linked list of scopes: the names bound at one place, and the scope around it.
struct Scope {
    around: usize,
    names: Vec<(String, TermId)>,
}

pub(crate) fn read_term(
    terms: &mut Terms,
    names: &Names,
    from: &SExprs,
    root: usize,
) -> Result<TermId, ParseError> {
    let mut scopes = vec![Scope {
        around: 0,
        names: Vec::new(),
    }];
    let mut results: Vec<TermId> = Vec::new();
    let mut steps = vec![Step::Read { at: root, scope: 0 }];
    while let Some(step) = steps.pop() {
        match step {
            Step::Read { at, scope } => {
                if let Some(text) = from.atom(at) {
                    results.push(read_atom(terms, names, &scopes, scope, text)?);
                    continue;
                }
                let items = from.list(at).unwrap_or_default();
                let Some(&head) = items.first() else {
                    return fail("an empty list");
                };
                match from.atom(head) {
                    Some("let") if items.len() == 3 => {
                        let bindings = from.list(items[1]).unwrap_or_default();
                        steps.push(Step::Let { at, scope });
                        for &binding in bindings.iter().rev() {
                            match from.list(binding) {
                                Some(&[_, value]) => steps.push(Step::Read { at: value, scope }),
                                _ => return fail("a `let` binds pairs"),
                            }
                        }
                    }
                    Some(word @ ("forall" | "exists")) if items.len() == 3 => {
                        let mut bound = Vec::new();
                        let mut inner = Vec::new();
                        for &pair in from.list(items[1]).unwrap_or_default() {
                            let Some(&[name, sort]) = from.list(pair) else {
                                return fail("a quantifier binds pairs");
                            };
                            let sort = read_sort(terms, from, sort)?;
                            let name = from.atom(name).unwrap_or_default().to_owned();
                            let constant = terms.fresh(&name, sort);
                            bound.push(constant);
                            inner.push((name, constant));
                        }
                        scopes.push(Scope {
                            around: scope,
                            names: inner,
                        });
                        steps.push(Step::Close {
                            forall: word == "forall",
                            bound,
                        });
                        steps.push(Step::Read {
                            at: items[2],
                            scope: scopes.len() - 1,
                        });
                    }
                    // Attributes say nothing about the meaning.
                    Some("!") if items.len() >= 2 => steps.push(Step::Read {
                        at: items[1],
                        scope,
                    }),
                    Some(":var") if items.len() == 2 => {
                        let index = from.number(items[1])? as usize;
                        match names.numbered.get(index) {
                            Some(&term) => results.push(term),
                            None => return fail(format!("no argument has the number {index}")),
                        }
                    }
                    Some("_") if items.len() == 3 => {
                        results.push(indexed_literal(terms, from, items)?);
                    }
                    _ => {
                        let args = &items[1..];
                        steps.push(Step::Apply {
                            at,
                            scope,
                            count: args.len(),
                        });
                        steps.extend(args.iter().rev().map(|&at| Step::Read { at, scope }));
                    }
                }
            }
            Step::Apply { at, scope, count } => {
                let args = results.split_off(results.len() - count);
                let head = from.list(at).unwrap_or_default()[0];
                let _ = scope;
                results.push(apply(terms, names, from, head, &args)?);
            }
            Step::Let { at, scope } => {
                let items = from.list(at).unwrap_or_default();
                let bindings = from.list(items[1]).unwrap_or_default();
                let values = results.split_off(results.len() - bindings.len());
                let bound = bindings
                    .iter()
                    .map(|&binding| from.list(binding).unwrap_or_default()[0])
                    .map(|name| from.atom(name).unwrap_or_default().to_owned())
                    .zip(values)
                    .collect();
                scopes.push(Scope {
                    around: scope,
                    names: bound,
                });
                steps.push(Step::Read {
                    at: items[2],
                    scope: scopes.len() - 1,
                });
            }
            Step::Close { forall, bound } => {
                let body = results.pop().expect("the body was read");
                if terms.sort(body) != Sort::Bool {
                    return fail("a quantifier over something that is not true or false");
                }
                results.push(match forall {
                    true => terms.forall(&bound, body),
                    false => terms.exists(&bound, body),
                });
            }
        }
    }
    Ok(results.pop().expect("the root was read"))
}

fn read_atom(
    terms: &mut Terms,
    names: &Names,
    scopes: &[Scope],
    scope: usize,
    text: &str,
) -> Result<TermId, ParseError> {
    let mut at = scope;
    while at != 0 {
        if let Some((_, term)) = scopes[at].names.iter().find(|(name, _)| name == text) {
            return Ok(*term);
        }
        at = scopes[at].around;
    }
    if let Some(&constant) = names.constants.get(text) {
        return Ok(constant);
    }
    if let Some(&function) = names.functions.get(text) {
        return checked(terms, Op::Apply(function), &[]);
    }
    match text {
        "true" => return Ok(terms.bool(true)),
        "false" => return Ok(terms.bool(false)),
        _ => {}
    }
    for (prefix, radix, digit) in [("#x", 16, 4), ("#b", 2, 1)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let bits = BigUint::from_str_radix(digits, radix);
            return match bits {
                Ok(bits) if !digits.is_empty() => {
                    Ok(terms.bv_value(bits, digits.len() as u32 * digit))
                }
                _ => fail(format!("{text} is not a bit-vector")),
            };
        }
    }
    match BigInt::from_str_radix(text, 10) {
        Ok(value) => Ok(terms.int_value(value)),
        Err(_) => fail(format!("the name {text} is unknown")),
    }
}

/// `(_ bv5 32)`
fn indexed_literal(
    terms: &mut Terms,
    from: &SExprs,
    items: &[usize],
) -> Result<TermId, ParseError> {
    let value = from.atom(items[1]).and_then(|text| text.strip_prefix("bv"));
    let bits = value.and_then(|digits| BigUint::from_str_radix(digits, 10).ok());
    match (bits, from.number(items[2])?) {
        (Some(bits), width) if width > 0 => Ok(terms.bv_value(bits, width)),
        _ => fail("an indexed name that is no bit-vector"),
    }
}

fn checked(terms: &mut Terms, op: Op, args: &[TermId]) -> Result<TermId, ParseError> {
    match terms.sort_of(&op, args) {
        Ok(sort) => Ok(terms.build(op, args, sort)),
        Err(error) => fail(error.0),
    }
}

fn apply(
    terms: &mut Terms,
    names: &Names,
    from: &SExprs,
    head: usize,
    args: &[TermId],
) -> Result<TermId, ParseError> {
    if let Some(items) = from.list(head) {
        let word = |at: usize| items.get(at).and_then(|&at| from.atom(at));
        return match (word(0), word(1), items.len()) {
            (Some("as"), Some("const"), 3) => match read_sort(terms, from, items[2])? {
                Sort::Array(sort) => checked(terms, Op::ConstArray(sort), args),
                _ => fail("a constant array needs an array sort"),
            },
            (Some("_"), Some("extract"), 4) => {
                let (high, low) = (from.number(items[2])?, from.number(items[3])?);
                checked(terms, Op::Extract { high, low }, args)
            }
            (Some("_"), Some("zero_extend"), 3) => {
                checked(terms, Op::ZeroExtend(from.number(items[2])?), args)
            }
            (Some("_"), Some("sign_extend"), 3) => {
                checked(terms, Op::SignExtend(from.number(items[2])?), args)
            }
            (Some("_"), Some("int2bv" | "int_to_bv"), 3) => {
                checked(terms, Op::IntToBv(from.number(items[2])?), args)
            }
            _ => fail("an operator that is not known here"),
        };
    }
    let name = from.atom(head).unwrap_or_default();
    if let Some(&function) = names.functions.get(name) {
        return checked(terms, Op::Apply(function), args);
    }
    operator(terms, name, args)
}

fn operator(terms: &mut Terms, name: &str, args: &[TermId]) -> Result<TermId, ParseError> {
    let op = match name {
        "not" => Op::Not,
        "and" | "or" if args.len() < 2 => {
            return match args {
                &[only] if terms.sort(only) == Sort::Bool => Ok(only),
                [] => Ok(terms.bool(name == "and")),
                _ => fail(format!("`{name}` takes truth values")),
            };
        }
        "and" => Op::And,
        "or" => Op::Or,
        "xor" => Op::Xor,
        "=>" => Op::Implies,
        "ite" | "if" => Op::Ite,
        "=" | "iff" => Op::Eq,
        "distinct" => Op::Distinct,
        "bvnot" => Op::BvNot,
        "bvneg" => Op::BvNeg,
        "bvand" => Op::BvAnd,
        "bvor" => Op::BvOr,
        "bvxor" => Op::BvXor,
        "bvadd" => Op::BvAdd,
        "bvsub" => Op::BvSub,
        "bvmul" => Op::BvMul,
        // Z3 writes the second name where it has seen that the divisor is not zero.
        "bvudiv" | "bvudiv_i" => Op::BvUdiv,
        "bvsdiv" | "bvsdiv_i" => Op::BvSdiv,
        "bvurem" | "bvurem_i" => Op::BvUrem,
        "bvsrem" | "bvsrem_i" => Op::BvSrem,
        "bvsmod" | "bvsmod_i" => Op::BvSmod,
        "bvshl" => Op::BvShl,
        "bvlshr" => Op::BvLshr,
        "bvashr" => Op::BvAshr,
        "bvult" | "bvugt" => Op::BvUlt,
        "bvule" | "bvuge" => Op::BvUle,
        "bvslt" | "bvsgt" => Op::BvSlt,
        "bvsle" | "bvsge" => Op::BvSle,
        "concat" => Op::Concat,
        "+" => Op::IntAdd,
        "*" => Op::IntMul,
        "div" => Op::IntDiv,
        "mod" => Op::IntMod,
        "<=" | ">=" => Op::IntLe,
        "<" | ">" => Op::IntLt,
        "bv2nat" | "bv2int" | "ubv_to_int" => Op::BvToInt,
        "select" => Op::Select,
        "store" => Op::Store,
        "-" => {
            if args.is_empty() || args.iter().any(|&arg| terms.sort(arg) != Sort::Int) {
                return fail("`-` takes integers");
            }
            let rest = terms.int_add(&args[1..]);
            return Ok(match args {
                &[only] => terms.int_neg(only),
                _ => terms.int_sub(args[0], rest),
            });
        }
        other => match FloatOperation::of_name(other) {
            Some(operation) => Op::Float(operation),
            None => return fail(format!("the operator {other} is not known here")),
        },
    };
    let turned = matches!(name, "bvugt" | "bvuge" | "bvsgt" | "bvsge" | ">" | ">=");
    let left_associative = matches!(
        op,
        Op::BvAnd | Op::BvOr | Op::BvXor | Op::BvAdd | Op::BvMul | Op::Concat | Op::Xor
    );
    let chained = matches!(op, Op::Eq | Op::IntLe | Op::IntLt);
    match args {
        &[a, b] if turned => checked(terms, op, &[b, a]),
        [first, rest @ ..] if left_associative && rest.len() > 1 => {
            let mut result = *first;
            for &next in rest {
                result = checked(terms, op.clone(), &[result, next])?;
            }
            Ok(result)
        }
        [init @ .., last] if op == Op::Implies && init.len() > 1 => {
            let mut result = *last;
            for &before in init.iter().rev() {
                result = checked(terms, op.clone(), &[before, result])?;
            }
            Ok(result)
        }
        args if chained && args.len() > 2 => {
            let mut all = Vec::new();
            for pair in args.windows(2) {
                let pair = if turned {
                    [pair[1], pair[0]]
                } else {
                    [pair[0], pair[1]]
                };
                all.push(checked(terms, op.clone(), &pair)?);
            }
            Ok(terms.and(&all))
        }
        args => checked(terms, op, args),
    }
}
