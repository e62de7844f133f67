//! Terms as SMT-LIB 2.6 text, with shared subterms written once.

use std::collections::BTreeSet;
use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::float::{FloatOperation, Template};
use crate::sort::Sort;
use crate::term::{FuncId, Op, TermId, Terms};

/// Names that SMT-LIB keeps for itself, as far as a program's names could meet them.
const RESERVED: &[&str] = &[
    "!",
    "_",
    "as",
    "let",
    "forall",
    "exists",
    "match",
    "par",
    "true",
    "false",
    "not",
    "and",
    "or",
    "xor",
    "=>",
    "=",
    "distinct",
    "ite",
    "select",
    "store",
    "concat",
    "extract",
    "const",
    "Bool",
    "Int",
    "Real",
    "BitVec",
    "Array",
    "div",
    "mod",
    "abs",
    "rem",
    "assert",
    "push",
    "pop",
    "exit",
    "+",
    "-",
    "*",
    "/",
    "<",
    "<=",
    ">",
    ">=",
    "to_real",
    "to_int",
    "is_int",
    "repeat",
    "bv2int",
    "int2bv",
    "bv2nat",
    "nat2bv",
    "iff",
    "implies",
    "if",
    "lambda",
    "map",
    "default",
    "set",
    "seq",
    "String",
    "RegLan",
    "zero_extend",
    "sign_extend",
];

/// The name without characters that SMT-LIB cannot write. Different names stay different.
pub(crate) fn escape(name: &str) -> String {
    let clash = name.is_empty()
        || name.starts_with('?')
        || RESERVED.contains(&name)
        || ["bv", "str.", "re.", "fp.", "float.", "sbv", "ubv", "int_to"]
            .iter()
            .any(|at| name.starts_with(at));
    let mut escaped = String::with_capacity(name.len() + 1);
    if clash {
        escaped.push('%');
    }
    for c in name.chars() {
        match c {
            '|' | '\\' | '%' => write!(escaped, "%{:02X}", c as u32).expect("strings take text"),
            c if c.is_control() || !c.is_ascii() => {
                write!(escaped, "%u{:X};", c as u32).expect("strings take text");
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// The name as a symbol: quoted where it has to be.
pub(crate) fn quote(name: &str) -> String {
    let name = escape(name);
    let simple = |c: char| c.is_ascii_alphanumeric() || "~!@$%^&*_-+=<>.?/".contains(c);
    if name.chars().all(simple) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        name
    } else {
        format!("|{name}|")
    }
}

/// The sort as SMT-LIB text.
pub fn sort_text(terms: &Terms, sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".to_owned(),
        Sort::Int => "Int".to_owned(),
        Sort::BitVec(width) => format!("(_ BitVec {width})"),
        Sort::Array(array) => {
            let (index, element) = terms.array_parts(array);
            format!(
                "(Array {} {})",
                sort_text(terms, index),
                sort_text(terms, element)
            )
        }
    }
}

/// A term as SMT-LIB text; subterms that occur more than once are named by `let`.
///
/// ```
/// use hardbop_logic::{Sort, Terms, smtlib_text};
/// let mut terms = Terms::new();
/// let x = terms.constant("x", Sort::BitVec(8));
/// let three = terms.bv(3, 8);
/// let small = terms.bv_sle(x, three);
/// assert_eq!(smtlib_text(&terms, small), "(bvsle x #x03)");
/// ```
pub fn smtlib_text(terms: &Terms, term: TermId) -> String {
    // Each quantifier is a scope of its own: what is shared below it may mention what it binds.
    // Inner quantifiers come first, so that their text is there when it is needed.
    let mut quantifiers: FxHashMap<TermId, String> = FxHashMap::default();
    for inner in terms.postorder(&[term]) {
        if let Op::Forall(bound) | Op::Exists(bound) = terms.op(inner) {
            let word = if matches!(terms.op(inner), Op::Forall(_)) {
                "forall"
            } else {
                "exists"
            };
            let bound: Vec<String> = bound
                .iter()
                .map(|&at| format!("({} {})", leaf(terms, at), sort_text(terms, terms.sort(at))))
                .collect();
            let body = scope(terms, terms.args(inner)[0], &quantifiers);
            quantifiers.insert(inner, format!("({word} ({}) {body})", bound.join(" ")));
        }
    }
    scope(terms, term, &quantifiers)
}

fn scope(terms: &Terms, root: TermId, quantifiers: &FxHashMap<TermId, String>) -> String {
    if let Some(text) = quantifiers.get(&root) {
        return text.clone();
    }
    let children = |term: TermId| match quantifiers.contains_key(&term) {
        true => &[][..],
        false => terms.args(term),
    };
    // Count the uses of each subterm, in post-order.
    let mut uses: FxHashMap<TermId, u32> = FxHashMap::default();
    let mut order = Vec::new();
    let mut stack = vec![(root, false)];
    while let Some((term, done)) = stack.pop() {
        if done {
            order.push(term);
            continue;
        }
        let count = uses.entry(term).or_default();
        *count += 1;
        if *count == 1 {
            stack.push((term, true));
            stack.extend(children(term).iter().rev().map(|&arg| (arg, false)));
        }
    }
    let mut names: FxHashMap<TermId, String> = FxHashMap::default();
    let mut text = String::new();
    let mut open = 0;
    for term in order {
        let leafy = terms.args(term).is_empty();
        if term != root && uses[&term] > 1 && !leafy {
            let name = format!("?{}", names.len());
            text.push_str("(let ((");
            text.push_str(&name);
            text.push(' ');
            tree(terms, term, &names, quantifiers, &mut text);
            text.push_str(")) ");
            names.insert(term, name);
            open += 1;
        }
    }
    tree(terms, root, &names, quantifiers, &mut text);
    text.extend(std::iter::repeat_n(')', open));
    text
}

/// Writes a term down to the subterms that have a name.
fn tree(
    terms: &Terms,
    root: TermId,
    names: &FxHashMap<TermId, String>,
    quantifiers: &FxHashMap<TermId, String>,
    text: &mut String,
) {
    enum Piece {
        Term(TermId),
        Text(&'static str),
    }
    let mut stack = vec![Piece::Term(root)];
    while let Some(piece) = stack.pop() {
        let term = match piece {
            Piece::Text(piece) => {
                text.push_str(piece);
                continue;
            }
            Piece::Term(term) => term,
        };
        if let Some(name) = names.get(&term) {
            text.push_str(name);
        } else if let Some(quantifier) = quantifiers.get(&term) {
            text.push_str(quantifier);
        } else if terms.args(term).is_empty() {
            text.push_str(&leaf(terms, term));
        } else {
            text.push('(');
            text.push_str(&head(terms, term));
            stack.push(Piece::Text(")"));
            for &arg in terms.args(term).iter().rev() {
                stack.push(Piece::Term(arg));
                stack.push(Piece::Text(" "));
            }
        }
    }
}

fn leaf(terms: &Terms, term: TermId) -> String {
    match terms.op(term) {
        Op::Constant(symbol) => quote(terms.symbol_name(*symbol)),
        Op::Apply(function) => quote(terms.function_name(*function)),
        Op::Bool(value) => value.to_string(),
        Op::Int(value) if value.sign() == num_bigint::Sign::Minus => {
            format!("(- {})", value.magnitude())
        }
        Op::Int(value) => value.to_string(),
        Op::BitVec(bits) => {
            let width = terms.width(term) as usize;
            if width.is_multiple_of(4) {
                format!("#x{:0>1$}", bits.to_str_radix(16), width / 4)
            } else {
                format!("#b{:0>1$}", bits.to_str_radix(2), width)
            }
        }
        op => unreachable!("{op:?} has arguments"),
    }
}

fn head(terms: &Terms, term: TermId) -> String {
    let name = match terms.op(term) {
        Op::Apply(function) => return quote(terms.function_name(*function)),
        Op::Float(operation) => return operation.to_string(),
        Op::Extract { high, low } => return format!("(_ extract {high} {low})"),
        Op::ZeroExtend(by) => return format!("(_ zero_extend {by})"),
        Op::SignExtend(by) => return format!("(_ sign_extend {by})"),
        Op::IntToBv(width) => return format!("(_ int2bv {width})"),
        Op::ConstArray(sort) => {
            return format!("(as const {})", sort_text(terms, Sort::Array(*sort)));
        }
        Op::Not => "not",
        Op::And => "and",
        Op::Or => "or",
        Op::Xor => "xor",
        Op::Implies => "=>",
        Op::Ite => "ite",
        Op::Eq => "=",
        Op::Distinct => "distinct",
        Op::BvNot => "bvnot",
        Op::BvNeg => "bvneg",
        Op::BvAnd => "bvand",
        Op::BvOr => "bvor",
        Op::BvXor => "bvxor",
        Op::BvAdd => "bvadd",
        Op::BvSub => "bvsub",
        Op::BvMul => "bvmul",
        Op::BvUdiv => "bvudiv",
        Op::BvSdiv => "bvsdiv",
        Op::BvUrem => "bvurem",
        Op::BvSrem => "bvsrem",
        Op::BvSmod => "bvsmod",
        Op::BvShl => "bvshl",
        Op::BvLshr => "bvlshr",
        Op::BvAshr => "bvashr",
        Op::BvUlt => "bvult",
        Op::BvUle => "bvule",
        Op::BvSlt => "bvslt",
        Op::BvSle => "bvsle",
        Op::Concat => "concat",
        Op::IntAdd => "+",
        Op::IntMul => "*",
        Op::IntDiv => "div",
        Op::IntMod => "mod",
        Op::IntLe => "<=",
        Op::IntLt => "<",
        // The older name: solvers know it, and few know the one of SMT-LIB 2.7.
        Op::BvToInt => "bv2nat",
        Op::Select => "select",
        Op::Store => "store",
        op => unreachable!("{op:?} has no arguments, or is a quantifier"),
    };
    name.to_owned()
}

/// The functions that occur in the terms, in order of their declaration.
pub(crate) fn functions_in(terms: &Terms, roots: &[TermId]) -> BTreeSet<FuncId> {
    terms
        .postorder(roots)
        .into_iter()
        .filter_map(|term| match terms.op(term) {
            Op::Apply(function) => Some(*function),
            _ => None,
        })
        .collect()
}

/// The term as SMT-LIB text, after the declarations of the functions in it.
pub fn declared_text(terms: &Terms, term: TermId) -> String {
    let mut text = String::new();
    for function in functions_in(terms, &[term]) {
        text.push_str(&declare_function(terms, function));
    }
    text.push_str(&smtlib_text(terms, term));
    text
}

/// The operations on floats that occur in the terms.
pub(crate) fn floats_in(terms: &Terms, roots: &[TermId]) -> BTreeSet<FloatOperation> {
    terms
        .postorder(roots)
        .into_iter()
        .filter_map(|term| match terms.op(term) {
            Op::Float(operation) => Some(*operation),
            _ => None,
        })
        .collect()
}

/// The definition of an operation on floats by its circuit.
pub(crate) fn define_float(operation: FloatOperation) -> String {
    let circuit = Template::of(operation);
    let inputs: Vec<String> = circuit
        .inputs
        .iter()
        .map(|&at| {
            let sort = sort_text(&circuit.terms, circuit.terms.sort(at));
            format!("({} {sort})", leaf(&circuit.terms, at))
        })
        .collect();
    format!(
        "(define-fun {operation} ({}) {} {})\n",
        inputs.join(" "),
        sort_text(&circuit.terms, circuit.terms.sort(circuit.output)),
        smtlib_text(&circuit.terms, circuit.output)
    )
}

/// The declarations of everything free in the terms.
pub(crate) fn declarations(terms: &Terms, roots: &[TermId]) -> String {
    let mut text = String::new();
    for operation in floats_in(terms, roots) {
        text.push_str(&define_float(operation));
    }
    for function in functions_in(terms, roots) {
        text.push_str(&declare_function(terms, function));
    }
    for constant in terms.free_constants(roots) {
        text.push_str(&declare_constant(terms, constant));
    }
    text
}

pub(crate) fn declare_constant(terms: &Terms, constant: TermId) -> String {
    format!(
        "(declare-fun {} () {})\n",
        leaf(terms, constant),
        sort_text(terms, terms.sort(constant))
    )
}

pub(crate) fn declare_function(terms: &Terms, function: FuncId) -> String {
    let (domain, range) = terms.signature(function);
    let domain: Vec<String> = domain.iter().map(|&sort| sort_text(terms, sort)).collect();
    format!(
        "(declare-fun {} ({}) {})\n",
        quote(terms.function_name(function)),
        domain.join(" "),
        sort_text(terms, range)
    )
}

/// A whole script: declarations, assertions, assumptions as assertions, one check. It stands alone,
/// so that a query can be handed to any solver.
pub fn script(terms: &Terms, assertions: &[TermId], assumptions: &[TermId]) -> String {
    let all: Vec<TermId> = assertions.iter().chain(assumptions).copied().collect();
    let mut text = String::from("(set-logic ALL)\n");
    text.push_str(&declarations(terms, &all));
    for &assertion in assertions {
        writeln!(text, "(assert {})", smtlib_text(terms, assertion)).expect("strings take text");
    }
    for &assumption in assumptions {
        writeln!(
            text,
            "(assert {}) ; assumed",
            smtlib_text(terms, assumption)
        )
        .expect("strings take text");
    }
    text.push_str("(check-sat)\n");
    text
}
