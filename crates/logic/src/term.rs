//! Hash-consed terms: the arena, the operators, and plain (unsimplified) construction.
//!
//! A term is an operator with arguments. Equal terms have equal ids, so equality is a comparison of
//! integers and a DAG is never copied. The builders that simplify are in the `simplify` modules.

use std::fmt;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint};
use rustc_hash::FxHashMap;

use crate::float::FloatOperation;
use crate::sort::{ArraySort, Sort};

/// A term in an arena of [`Terms`]. Ids grow in the order of creation, arguments before users.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(u32);

/// A named uninterpreted constant of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(u32);

/// A declared uninterpreted function of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FuncId(u32);

/// What a term is made of at its top. The comments give the SMT-LIB name and the arguments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// An uninterpreted constant.
    Constant(SymbolId),
    /// An uninterpreted function applied to its arguments.
    Apply(FuncId),
    /// `true` or `false`.
    Bool(bool),
    /// A bit-vector value, below 2^width.
    BitVec(BigUint),
    /// An integer value.
    Int(BigInt),
    /// `not`
    Not,
    /// `and`, two arguments or more
    And,
    /// `or`, two arguments or more
    Or,
    /// `xor`
    Xor,
    /// `=>`
    Implies,
    /// `ite`
    Ite,
    /// `=` of two terms of one sort
    Eq,
    /// `distinct`, two arguments or more
    Distinct,
    /// `bvnot`
    BvNot,
    /// `bvneg`
    BvNeg,
    /// `bvand`
    BvAnd,
    /// `bvor`
    BvOr,
    /// `bvxor`
    BvXor,
    /// `bvadd`
    BvAdd,
    /// `bvsub`
    BvSub,
    /// `bvmul`
    BvMul,
    /// `bvudiv`; all ones when the divisor is zero
    BvUdiv,
    /// `bvsdiv`; truncates
    BvSdiv,
    /// `bvurem`; the dividend when the divisor is zero
    BvUrem,
    /// `bvsrem`; the sign of the dividend
    BvSrem,
    /// `bvsmod`; the sign of the divisor
    BvSmod,
    /// `bvshl`
    BvShl,
    /// `bvlshr`
    BvLshr,
    /// `bvashr`
    BvAshr,
    /// `bvult`
    BvUlt,
    /// `bvule`
    BvUle,
    /// `bvslt`
    BvSlt,
    /// `bvsle`
    BvSle,
    /// `concat`, the high part first
    Concat,
    /// `(_ extract high low)`
    Extract {
        /// The highest bit taken.
        high: u32,
        /// The lowest bit taken.
        low: u32,
    },
    /// `(_ zero_extend n)`
    ZeroExtend(u32),
    /// `(_ sign_extend n)`
    SignExtend(u32),
    /// `+`, two arguments or more
    IntAdd,
    /// `*`, two arguments or more
    IntMul,
    /// `div`, the Euclidean quotient; any value when the divisor is zero
    IntDiv,
    /// `mod`, the Euclidean remainder; any value when the divisor is zero
    IntMod,
    /// `<=`
    IntLe,
    /// `<`
    IntLt,
    /// `ubv_to_int`: the unsigned value of a bit-vector
    BvToInt,
    /// `(_ int_to_bv n)`: an integer modulo 2^n
    IntToBv(u32),
    /// `select`
    Select,
    /// `store`
    Store,
    /// `((as const SORT) value)`
    ConstArray(ArraySort),
    /// `forall` over constants that are bound in the body
    Forall(Box<[TermId]>),
    /// `exists` over constants that are bound in the body
    Exists(Box<[TermId]>),
    /// An operation on floats, as bit-vectors; solvers get its circuit.
    Float(FloatOperation),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    op: Op,
    args: Box<[TermId]>,
    sort: Sort,
}

#[derive(Clone, Debug)]
struct Symbol {
    name: String,
    sort: Sort,
}

#[derive(Clone, Debug)]
struct Function {
    name: String,
    domain: Box<[Sort]>,
    range: Sort,
}

/// The arena that owns all terms of one piece of work.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    nodes: Vec<Node>,
    index: FxHashMap<Node, TermId>,
    array_sorts: Vec<(Sort, Sort)>,
    array_index: FxHashMap<(Sort, Sort), ArraySort>,
    symbols: Vec<Symbol>,
    symbol_index: FxHashMap<(String, Sort), SymbolId>,
    functions: Vec<Function>,
    floats: bool,
    products: bool,
    function_index: FxHashMap<(String, Vec<Sort>, Sort), FuncId>,
    /// All names in use by symbols and functions, so that each printed name means one thing.
    names: FxHashMap<String, u32>,
    arena: Arena,
}

/// Which arena it is: ids mean nothing in another one. A copy of an arena is the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena(Arc<()>);

impl Arena {
    pub(crate) fn is(&self, other: &Arena) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for TermId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

impl TermId {
    /// The position in the arena, for tables indexed by term.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl SymbolId {
    /// The position among the symbols of the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl FuncId {
    /// The position among the functions of the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Terms {
    /// An empty arena.
    pub fn new() -> Terms {
        Terms::default()
    }

    /// Which arena it is.
    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    /// How many different terms there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether no term was made yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether there is any operation on floats.
    pub(crate) fn has_floats(&self) -> bool {
        self.floats
    }

    /// Whether there is any product of words that were widened for it.
    pub(crate) fn has_products(&self) -> bool {
        self.products
    }

    /// Whether a term is a product of words that were widened for it.
    pub(crate) fn is_wide_product(&self, op: &Op, args: &[TermId]) -> bool {
        let widened = |&arg: &TermId| matches!(self.op(arg), Op::SignExtend(_) | Op::ZeroExtend(_));
        *op == Op::BvMul && args.iter().all(widened)
    }

    /// The operator of a term.
    pub fn op(&self, term: TermId) -> &Op {
        &self.nodes[term.index()].op
    }

    /// The arguments of a term; for a quantifier, the body.
    pub fn args(&self, term: TermId) -> &[TermId] {
        &self.nodes[term.index()].args
    }

    /// The sort of a term.
    pub fn sort(&self, term: TermId) -> Sort {
        self.nodes[term.index()].sort
    }

    /// The width of a bit-vector term.
    ///
    /// # Panics
    /// When the term is not a bit-vector.
    pub fn width(&self, term: TermId) -> u32 {
        self.sort(term).width()
    }

    /// The sort of arrays from `index` to `element`.
    pub fn array_sort(&mut self, index: Sort, element: Sort) -> Sort {
        if let Some(&known) = self.array_index.get(&(index, element)) {
            return Sort::Array(known);
        }
        let id = ArraySort(self.array_sorts.len() as u32);
        self.array_sorts.push((index, element));
        self.array_index.insert((index, element), id);
        Sort::Array(id)
    }

    /// The index and the element sort of an array sort.
    pub fn array_parts(&self, sort: ArraySort) -> (Sort, Sort) {
        self.array_sorts[sort.0 as usize]
    }

    /// The uninterpreted constant of that name and sort. The same name at another sort is another
    /// constant, and gets a suffix where it is printed.
    pub fn constant(&mut self, name: &str, sort: Sort) -> TermId {
        if let Sort::BitVec(width) = sort {
            assert!(width > 0, "a bit-vector has at least one bit");
        }
        let key = (name.to_owned(), sort);
        let symbol = match self.symbol_index.get(&key) {
            Some(&symbol) => symbol,
            None => {
                let symbol = SymbolId(self.symbols.len() as u32);
                let name = self.unused_name(name);
                self.symbols.push(Symbol { name, sort });
                self.symbol_index.insert(key, symbol);
                symbol
            }
        };
        self.intern(Op::Constant(symbol), Box::default(), sort)
    }

    /// A constant that no other term mentions, with a name that starts with `prefix`.
    pub fn fresh(&mut self, prefix: &str, sort: Sort) -> TermId {
        let name = self.unused_name(&format!("{prefix}!"));
        // The name is taken back at once, for `constant` to take it for good.
        self.names.remove(&name);
        self.constant(&name, sort)
    }

    /// Declares an uninterpreted function.
    pub fn function(&mut self, name: &str, domain: &[Sort], range: Sort) -> FuncId {
        let key = (name.to_owned(), domain.to_vec(), range);
        if let Some(&known) = self.function_index.get(&key) {
            return known;
        }
        let id = FuncId(self.functions.len() as u32);
        let name = self.unused_name(name);
        self.functions.push(Function {
            name,
            domain: domain.into(),
            range,
        });
        self.function_index.insert(key, id);
        id
    }

    fn unused_name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut count = self.names.get(wanted).copied().unwrap_or(0);
        while self.names.contains_key(&name) {
            count += 1;
            name = format!("{wanted}!{count}");
        }
        if count > 0 {
            self.names.insert(wanted.to_owned(), count);
        }
        self.names.insert(name.clone(), 0);
        name
    }

    /// The name of a constant, unique among the constants and functions of the arena.
    pub fn symbol_name(&self, symbol: SymbolId) -> &str {
        &self.symbols[symbol.index()].name
    }

    /// The sort of a constant.
    pub fn symbol_sort(&self, symbol: SymbolId) -> Sort {
        self.symbols[symbol.index()].sort
    }

    /// The name of a function.
    pub fn function_name(&self, function: FuncId) -> &str {
        &self.functions[function.index()].name
    }

    /// The argument sorts and the result sort of a function.
    pub fn signature(&self, function: FuncId) -> (&[Sort], Sort) {
        let function = &self.functions[function.index()];
        (&function.domain, function.range)
    }

    fn intern(&mut self, op: Op, args: Box<[TermId]>, sort: Sort) -> TermId {
        let node = Node { op, args, sort };
        if let Some(&known) = self.index.get(&node) {
            return known;
        }
        self.floats |= matches!(node.op, Op::Float(_));
        self.products |= self.is_wide_product(&node.op, &node.args);
        let id = TermId(u32::try_from(self.nodes.len()).expect("more than 2^32 terms"));
        self.nodes.push(node.clone());
        self.index.insert(node, id);
        id
    }

    /// A term exactly as given: no simplification, sorts checked.
    ///
    /// # Panics
    /// When the arguments do not fit the operator. [`Terms::sort_of`] tells without a panic.
    pub fn plain(&mut self, op: Op, args: &[TermId]) -> TermId {
        match self.sort_of(&op, args) {
            Ok(sort) => self.intern(op, args.into(), sort),
            Err(SortError(why)) => panic!("ill-sorted term: {why}"),
        }
    }

    /// A bit-vector value; only the lowest `width` bits count.
    pub fn bv_value(&mut self, value: BigUint, width: u32) -> TermId {
        assert!(width > 0, "a bit-vector has at least one bit");
        let value = if value.bits() > u64::from(width) {
            value % (BigUint::from(1u8) << width)
        } else {
            value
        };
        self.intern(Op::BitVec(value), Box::default(), Sort::BitVec(width))
    }

    /// The sort that the operator gives to these arguments, or why it does not take them.
    pub fn sort_of(&self, op: &Op, args: &[TermId]) -> Result<Sort, SortError> {
        let sorts: Vec<Sort> = args.iter().map(|&arg| self.sort(arg)).collect();
        let fail = || Err(SortError(format!("{op:?} does not take {sorts:?}")));
        let all_bool = sorts.iter().all(|&sort| sort == Sort::Bool);
        let all_int = sorts.iter().all(|&sort| sort == Sort::Int);
        let same = sorts.windows(2).all(|pair| pair[0] == pair[1]);
        let first_bv = matches!(sorts.first(), Some(Sort::BitVec(_)));
        let sort = match op {
            Op::Constant(symbol) if args.is_empty() => self.symbol_sort(*symbol),
            Op::Apply(function) => {
                let (domain, range) = self.signature(*function);
                if domain != sorts.as_slice() {
                    return fail();
                }
                range
            }
            Op::Bool(_) if args.is_empty() => Sort::Bool,
            Op::Int(_) if args.is_empty() => Sort::Int,
            Op::Not if all_bool && args.len() == 1 => Sort::Bool,
            Op::And | Op::Or if all_bool && args.len() >= 2 => Sort::Bool,
            Op::Xor | Op::Implies if all_bool && args.len() == 2 => Sort::Bool,
            Op::Ite if args.len() == 3 && sorts[0] == Sort::Bool && sorts[1] == sorts[2] => {
                sorts[1]
            }
            Op::Eq if same && args.len() == 2 => Sort::Bool,
            Op::Distinct if same && args.len() >= 2 => Sort::Bool,
            Op::BvNot | Op::BvNeg if first_bv && args.len() == 1 => sorts[0],
            Op::BvAnd
            | Op::BvOr
            | Op::BvXor
            | Op::BvAdd
            | Op::BvSub
            | Op::BvMul
            | Op::BvUdiv
            | Op::BvSdiv
            | Op::BvUrem
            | Op::BvSrem
            | Op::BvSmod
            | Op::BvShl
            | Op::BvLshr
            | Op::BvAshr
                if first_bv && same && args.len() == 2 =>
            {
                sorts[0]
            }
            Op::BvUlt | Op::BvUle | Op::BvSlt | Op::BvSle
                if first_bv && same && args.len() == 2 =>
            {
                Sort::Bool
            }
            Op::Concat => match sorts.as_slice() {
                [Sort::BitVec(high), Sort::BitVec(low)] => match high.checked_add(*low) {
                    Some(width) => Sort::BitVec(width),
                    None => return fail(),
                },
                _ => return fail(),
            },
            Op::Extract { high, low } => match sorts.as_slice() {
                [Sort::BitVec(width)] if low <= high && high < width => {
                    Sort::BitVec(high - low + 1)
                }
                _ => return fail(),
            },
            Op::ZeroExtend(by) | Op::SignExtend(by) => match sorts.as_slice() {
                [Sort::BitVec(width)] => match width.checked_add(*by) {
                    Some(width) => Sort::BitVec(width),
                    None => return fail(),
                },
                _ => return fail(),
            },
            Op::IntAdd | Op::IntMul if all_int && args.len() >= 2 => Sort::Int,
            Op::IntDiv | Op::IntMod if all_int && args.len() == 2 => Sort::Int,
            Op::IntLe | Op::IntLt if all_int && args.len() == 2 => Sort::Bool,
            Op::BvToInt if first_bv && args.len() == 1 => Sort::Int,
            Op::IntToBv(width) if all_int && args.len() == 1 && *width > 0 => Sort::BitVec(*width),
            Op::Select => match sorts.as_slice() {
                [Sort::Array(array), index] if self.array_parts(*array).0 == *index => {
                    self.array_parts(*array).1
                }
                _ => return fail(),
            },
            Op::Store => match sorts.as_slice() {
                [Sort::Array(array), index, value]
                    if self.array_parts(*array) == (*index, *value) =>
                {
                    sorts[0]
                }
                _ => return fail(),
            },
            Op::ConstArray(array) if sorts == [self.array_parts(*array).1] => Sort::Array(*array),
            Op::Float(operation) => match operation.signature() {
                Some((widths, sort)) if widths.iter().map(|&w| Sort::BitVec(w)).eq(sorts) => sort,
                _ => return Err(SortError(format!("{operation} does not take these"))),
            },
            Op::Forall(bound) | Op::Exists(bound) if all_bool && args.len() == 1 => {
                if !bound
                    .iter()
                    .all(|&term| matches!(self.op(term), Op::Constant(_)))
                {
                    return fail();
                }
                Sort::Bool
            }
            _ => return fail(),
        };
        Ok(sort)
    }
}

/// Why an operator does not take its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortError(pub String);

impl fmt::Display for SortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SortError {}
