//! Z3, in process.
//!
//! A solver lives in the Z3 context of the thread that made it, and stays on that thread. Terms are
//! translated once and kept. Assumptions that are not literals get a proxy: a fresh truth value
//! that implies them.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::str::FromStr;

use hardbop_budget::Budget;
use rustc_hash::FxHashMap;
use z3::ast::{Array, Ast, BV, Bool, Dynamic, Int};
use z3::{FuncDecl, Model, Params, SatResult, StatisticsValue};

use super::watchdog::Watchdog;
use super::{Answer, Limits, Solver, Unknown};
use crate::eval::FunctionValue;
use crate::float::{FloatOperation, Template};
use crate::parse::{Names, parse_term};
use crate::smtlib::escape;
use crate::sort::Sort;
use crate::term::{FuncId, Op, TermId, Terms};
use crate::value::{ArrayValue, BitVec, Value, apply};

/// How to set up Z3.
#[derive(Clone, Debug, Default)]
pub struct Z3Options {
    /// The seed of all of Z3's choices: the same seed and the same queries, the same answers.
    pub seed: u32,
    /// The most memory in megabytes that a query may find in use before Z3 gives up.
    pub memory: Option<u32>,
    /// The SMT-LIB logic, for a solver specialised in it; `None` takes all formulas.
    pub logic: Option<&'static str>,
}

/// Z3 behind the interface of all solvers.
pub struct Z3Solver {
    solver: z3::Solver,
    translator: Translator,
    watchdog: Watchdog,
    proxies: FxHashMap<TermId, Bool>,
    /// Which proxies belong to which open level, innermost last.
    levels: Vec<Vec<TermId>>,
    options: Z3Options,
    steps: Option<u32>,
    assumed: Vec<(Bool, TermId)>,
    /// Whether the last thing that happened was a check that found a model.
    satisfied: bool,
    /// That model, once somebody has asked for it: most callers want the answer only.
    model: Option<Model>,
}

impl Z3Solver {
    /// A solver without assertions.
    pub fn new(options: Z3Options) -> Z3Solver {
        let solver = options
            .logic
            .and_then(z3::Solver::new_for_logic)
            .unwrap_or_default();
        let mut this = Z3Solver {
            solver,
            translator: Translator::default(),
            watchdog: Watchdog::new(),
            proxies: FxHashMap::default(),
            levels: Vec::new(),
            options,
            steps: None,
            assumed: Vec::new(),
            satisfied: false,
            model: None,
        };
        this.set_parameters();
        this
    }

    fn set_parameters(&mut self) {
        let mut params = Params::new();
        params.set_u32("random_seed", self.options.seed);
        // Else Z3 takes Ctrl-C for itself while it works, and the user's wish goes unheard.
        params.set_bool("ctrl_c", false);
        if let Some(megabytes) = self.options.memory {
            params.set_u32("max_memory", megabytes);
        }
        // Zero means no limit to Z3.
        params.set_u32("rlimit", self.steps.unwrap_or(0));
        self.solver.set_params(&params);
    }

    fn forget_model(&mut self) {
        self.satisfied = false;
        self.model = None;
    }

    fn fetch_model(&mut self) {
        if self.satisfied && self.model.is_none() {
            self.model = self.solver.get_model();
        }
    }

    /// The literal to assume for a formula.
    fn assumption(&mut self, terms: &Terms, formula: TermId) -> Bool {
        let atom = terms.negated(formula).unwrap_or(formula);
        if matches!(terms.op(atom), Op::Constant(_)) {
            return self.translator.bool(terms, formula);
        }
        if let Some(proxy) = self.proxies.get(&formula) {
            return proxy.clone();
        }
        // No name of a term looks like this: see `escape`.
        let proxy = Bool::new_const(format!("%proxy{}", formula.index()));
        let meaning = self.translator.bool(terms, formula);
        self.solver.assert(proxy.implies(&meaning));
        self.proxies.insert(formula, proxy.clone());
        if let Some(level) = self.levels.last_mut() {
            level.push(formula);
        }
        proxy
    }
}

impl Solver for Z3Solver {
    fn name(&self) -> &str {
        "z3"
    }

    fn assert(&mut self, terms: &Terms, formula: TermId) {
        self.forget_model();
        let formula = self.translator.bool(terms, formula);
        self.solver.assert(&formula);
    }

    fn push(&mut self) {
        self.forget_model();
        self.solver.push();
        self.levels.push(Vec::new());
    }

    fn pop(&mut self) {
        self.forget_model();
        if let Some(level) = self.levels.pop() {
            for formula in level {
                self.proxies.remove(&formula);
            }
            self.solver.pop(1);
        }
    }

    fn check(
        &mut self,
        terms: &Terms,
        assumptions: &[TermId],
        limits: Limits,
        budget: &Budget,
    ) -> Answer {
        self.forget_model();
        self.assumed.clear();
        for &formula in assumptions {
            let literal = self.assumption(terms, formula);
            self.assumed.push((literal, formula));
        }
        if limits.steps != self.steps {
            self.steps = limits.steps;
            self.set_parameters();
        }
        if let Err(why) = self.watchdog.arm(limits, budget) {
            return Answer::Unknown(why);
        }
        let literals: Vec<Bool> = self
            .assumed
            .iter()
            .map(|(literal, _)| literal.clone())
            .collect();
        let result = self.solver.check_assumptions(&literals);
        let interrupted = self.watchdog.disarm();
        match result {
            // An answer that came in time for itself counts, even if the watchdog barked.
            SatResult::Unsat => Answer::Unsat,
            SatResult::Sat => {
                self.satisfied = true;
                Answer::Sat
            }
            SatResult::Unknown => {
                Answer::Unknown(interrupted.unwrap_or_else(|| {
                    reason(self.solver.get_reason_unknown().unwrap_or_default())
                }))
            }
        }
    }

    fn check_at(
        &mut self,
        terms: &Terms,
        formulas: &[TermId],
        point: &[(TermId, Value)],
        limits: Limits,
        budget: &Budget,
    ) -> Answer {
        self.forget_model();
        // A solver of its own sees only what the point leaves open.
        let solver = z3::Solver::new();
        let mut params = Params::new();
        params.set_u32("random_seed", self.options.seed);
        params.set_bool("ctrl_c", false);
        params.set_u32("rlimit", limits.steps.unwrap_or(0));
        solver.set_params(&params);
        for formula in Translator::at(terms, formulas, point) {
            solver.assert(&formula);
        }
        // The model tells the point, too.
        for (term, value) in point {
            if let Some(literal) = literal_ast(value) {
                let term = self.translator.ast(terms, *term);
                solver.assert(Ast::eq(&term, &literal));
            }
        }
        if let Err(why) = self.watchdog.arm(limits, budget) {
            return Answer::Unknown(why);
        }
        let result = solver.check();
        let interrupted = self.watchdog.disarm();
        match result {
            SatResult::Sat => {
                self.satisfied = true;
                self.model = solver.get_model();
                Answer::Sat
            }
            SatResult::Unsat => Answer::Unsat,
            SatResult::Unknown => Answer::Unknown(interrupted.unwrap_or(Unknown::Steps)),
        }
    }

    fn steps(&self) -> u64 {
        match self.solver.get_statistics().value("rlimit count") {
            Some(StatisticsValue::UInt(steps)) => u64::from(steps),
            Some(StatisticsValue::Double(steps)) => steps as u64,
            None => 0,
        }
    }

    fn values(&mut self, terms: &mut Terms, of: &[TermId]) -> Vec<Option<Value>> {
        self.fetch_model();
        let Some(model) = &self.model else {
            return vec![None; of.len()];
        };
        of.iter()
            .map(|&term| {
                let ast = self.translator.ast(terms, term);
                let value = model.eval(&ast, true)?;
                read_value(terms, &value, terms.sort(term))
            })
            .collect()
    }

    fn function_value(&mut self, terms: &mut Terms, function: FuncId) -> Option<FunctionValue> {
        self.fetch_model();
        let model = self.model.as_ref()?;
        let declared = self.translator.function(terms, function);
        let (domain, range) = terms.signature(function);
        let (domain, range) = (domain.to_vec(), range);
        let Some(meaning) = model.get_func_interp(&declared) else {
            let default = Value::default_of(terms, range);
            return Some(FunctionValue {
                entries: BTreeMap::new(),
                default,
            });
        };
        let mut entries = BTreeMap::new();
        for entry in meaning.get_entries() {
            let args: Option<Vec<Value>> = entry
                .get_args()
                .iter()
                .zip(&domain)
                .map(|(arg, &sort)| read_value(terms, arg, sort))
                .collect();
            entries.insert(args?, read_value(terms, &entry.get_value(), range)?);
        }
        let default = match meaning.get_else() {
            Some(value) => read_value(terms, &value, range)?,
            None => Value::default_of(terms, range),
        };
        Some(FunctionValue { entries, default })
    }

    fn core(&mut self) -> Vec<TermId> {
        let core = self.solver.get_unsat_core();
        self.assumed
            .iter()
            .filter(|(literal, _)| core.contains(literal))
            .map(|&(_, formula)| formula)
            .collect()
    }
}

/// Z3's words for not knowing.
pub(crate) fn reason(text: String) -> Unknown {
    if text.contains("resource limit") {
        Unknown::Steps
    } else if text.contains("timeout") || text.contains("canceled") {
        // Nobody but the clock cancels.
        Unknown::Time
    } else {
        Unknown::GaveUp(text)
    }
}

/// A value that Z3 tells. What is no truth value and no word is read from its text, which takes Z3
/// much longer: numbers of any size, arrays as chains of stores.
fn read_value(terms: &mut Terms, value: &Dynamic, sort: Sort) -> Option<Value> {
    match sort {
        Sort::Bool => return value.as_bool()?.as_bool().map(Value::Bool),
        Sort::BitVec(width) if width <= 64 => {
            let word = value.as_bv()?.as_u64()?;
            return Some(Value::BitVec(BitVec::new(word.into(), width)));
        }
        _ => {}
    }
    let term = parse_term(terms, &Names::default(), &value.to_string()).ok()?;
    literal_value(terms, term)
}

/// The value of a closed literal; chains of stores are walked, not evaluated recursively.
pub(crate) fn literal_value(terms: &Terms, term: TermId) -> Option<Value> {
    if let Some(value) = terms.value_of(term) {
        return Some(value);
    }
    let mut writes = Vec::new();
    let mut at = term;
    loop {
        match (terms.op(at), terms.args(at)) {
            (Op::Store, &[below, index, value]) => {
                writes.push((literal_value(terms, index)?, literal_value(terms, value)?));
                at = below;
            }
            (Op::ConstArray(sort), &[value]) => {
                let default = literal_value(terms, value)?;
                let mut array = ArrayValue::constant(terms.array_parts(*sort).0, default);
                for (index, value) in writes.into_iter().rev() {
                    array = array.set(index, value);
                }
                return Some(Value::Array(array));
            }
            _ => return None,
        }
    }
}

/// A truth value or a bit-vector as Z3's.
fn literal_ast(value: &Value) -> Option<Dynamic> {
    match value {
        Value::Bool(truth) => Some(Bool::from_bool(*truth).into()),
        Value::BitVec(bits) if bits.width() <= 64 => {
            let word = u64::try_from(bits.unsigned()).ok()?;
            Some(BV::from_u64(word, bits.width()).into())
        }
        Value::BitVec(bits) => {
            let digits = bits.unsigned().to_string();
            BV::from_str(bits.width(), &digits).map(Dynamic::from)
        }
        _ => None,
    }
}

/// Our terms as Z3's, each translated once.
#[derive(Default)]
pub(crate) struct Translator {
    known: FxHashMap<TermId, Dynamic>,
    functions: FxHashMap<FuncId, Rc<FuncDecl>>,
}

impl Translator {
    pub(crate) fn sort(terms: &Terms, sort: Sort) -> z3::Sort {
        match sort {
            Sort::Bool => z3::Sort::bool(),
            Sort::Int => z3::Sort::int(),
            Sort::BitVec(width) => z3::Sort::bitvector(width),
            Sort::Array(array) => {
                let (index, element) = terms.array_parts(array);
                z3::Sort::array(&Self::sort(terms, index), &Self::sort(terms, element))
            }
        }
    }

    pub(crate) fn function(&mut self, terms: &Terms, function: FuncId) -> Rc<FuncDecl> {
        if let Some(known) = self.functions.get(&function) {
            return Rc::clone(known);
        }
        let (domain, range) = terms.signature(function);
        let domain: Vec<z3::Sort> = domain.iter().map(|&sort| Self::sort(terms, sort)).collect();
        let domain: Vec<&z3::Sort> = domain.iter().collect();
        let name = escape(terms.function_name(function));
        let declared = Rc::new(FuncDecl::new(name, &domain, &Self::sort(terms, range)));
        self.functions.insert(function, Rc::clone(&declared));
        declared
    }

    pub(crate) fn bool(&mut self, terms: &Terms, term: TermId) -> Bool {
        self.ast(terms, term)
            .as_bool()
            .expect("a formula is true or false")
    }

    pub(crate) fn ast(&mut self, terms: &Terms, root: TermId) -> Dynamic {
        if let Some(known) = self.known.get(&root) {
            return known.clone();
        }
        let mut stack = vec![(root, false)];
        while let Some((term, done)) = stack.pop() {
            if self.known.contains_key(&term) {
                continue;
            }
            if done {
                let ast = self.node(terms, term);
                self.known.insert(term, ast);
            } else {
                stack.push((term, true));
                stack.extend(terms.args(term).iter().map(|&arg| (arg, false)));
                if let Op::Forall(bound) | Op::Exists(bound) = terms.op(term) {
                    stack.extend(bound.iter().map(|&constant| (constant, false)));
                }
            }
        }
        self.known[&root].clone()
    }

    /// Formulas at a point: what has a value there is that value.
    fn at(terms: &Terms, formulas: &[TermId], point: &[(TermId, Value)]) -> Vec<Bool> {
        let mut here = Translator::default();
        let mut values: FxHashMap<TermId, Value> = point.iter().cloned().collect();
        for term in terms.postorder(formulas) {
            let given = values.get(&term).cloned();
            let value = given.or_else(|| terms.value_of(term)).or_else(|| {
                let args: Option<Vec<Value>> = terms
                    .args(term)
                    .iter()
                    .map(|arg| values.get(arg).cloned())
                    .collect();
                let args = args.filter(|args| !args.is_empty())?;
                apply(terms, terms.op(term), &args)
            });
            let literal = value.as_ref().and_then(literal_ast);
            if let (Some(literal), Some(value)) = (literal, value) {
                here.known.insert(term, literal);
                values.insert(term, value);
            } else {
                here.ast(terms, term);
            }
        }
        let formulas = formulas.iter();
        formulas.map(|&at| here.bool(terms, at)).collect()
    }

    /// The circuit of an operation on floats, with these arguments.
    fn copied(operation: FloatOperation, args: &[Dynamic]) -> Dynamic {
        let circuit = Template::of(operation);
        let inputs = circuit.inputs.iter().copied().zip(args.iter().cloned());
        let mut inner = Translator {
            known: inputs.collect(),
            functions: FxHashMap::default(),
        };
        inner.ast(&circuit.terms, circuit.output)
    }

    fn node(&mut self, terms: &Terms, term: TermId) -> Dynamic {
        let args: Vec<Dynamic> = terms
            .args(term)
            .iter()
            .map(|arg| self.known[arg].clone())
            .collect();
        let b = |at: usize| args[at].as_bool().expect("sorts were checked");
        let v = |at: usize| args[at].as_bv().expect("sorts were checked");
        let i = |at: usize| args[at].as_int().expect("sorts were checked");
        let a = |at: usize| args[at].as_array().expect("sorts were checked");
        let bools = || (0..args.len()).map(b).collect::<Vec<Bool>>();
        let ints = || (0..args.len()).map(i).collect::<Vec<Int>>();
        match terms.op(term) {
            Op::Constant(symbol) => {
                let sort = Self::sort(terms, terms.symbol_sort(*symbol));
                FuncDecl::new(escape(terms.symbol_name(*symbol)), &[], &sort).apply(&[])
            }
            Op::Apply(function) => {
                let args: Vec<&dyn Ast> = args.iter().map(|arg| arg as &dyn Ast).collect();
                self.function(terms, *function).apply(&args)
            }
            Op::Bool(value) => Bool::from_bool(*value).into(),
            Op::BitVec(bits) => BV::from_str(terms.width(term), &bits.to_string())
                .expect("Z3 reads decimal numbers")
                .into(),
            Op::Int(value) => Int::from_str(&value.to_string())
                .expect("Z3 reads decimal numbers")
                .into(),
            Op::Not => b(0).not().into(),
            Op::And => Bool::and(&bools()).into(),
            Op::Or => Bool::or(&bools()).into(),
            Op::Xor => b(0).xor(b(1)).into(),
            Op::Implies => b(0).implies(b(1)).into(),
            Op::Ite => b(0).ite(&args[1], &args[2]),
            Op::Eq => Ast::eq(&args[0], &args[1]).into(),
            Op::Distinct => Dynamic::distinct(&args).into(),
            Op::BvNot => v(0).bvnot().into(),
            Op::BvNeg => v(0).bvneg().into(),
            Op::BvAnd => v(0).bvand(v(1)).into(),
            Op::BvOr => v(0).bvor(v(1)).into(),
            Op::BvXor => v(0).bvxor(v(1)).into(),
            Op::BvAdd => v(0).bvadd(v(1)).into(),
            Op::BvSub => v(0).bvsub(v(1)).into(),
            Op::BvMul => v(0).bvmul(v(1)).into(),
            Op::BvUdiv => v(0).bvudiv(v(1)).into(),
            Op::BvSdiv => v(0).bvsdiv(v(1)).into(),
            Op::BvUrem => v(0).bvurem(v(1)).into(),
            Op::BvSrem => v(0).bvsrem(v(1)).into(),
            Op::BvSmod => v(0).bvsmod(v(1)).into(),
            Op::BvShl => v(0).bvshl(v(1)).into(),
            Op::BvLshr => v(0).bvlshr(v(1)).into(),
            Op::BvAshr => v(0).bvashr(v(1)).into(),
            Op::BvUlt => v(0).bvult(v(1)).into(),
            Op::BvUle => v(0).bvule(v(1)).into(),
            Op::BvSlt => v(0).bvslt(v(1)).into(),
            Op::BvSle => v(0).bvsle(v(1)).into(),
            Op::Concat => v(0).concat(v(1)).into(),
            Op::Extract { high, low } => v(0).extract(*high, *low).into(),
            Op::ZeroExtend(by) => v(0).zero_ext(*by).into(),
            Op::SignExtend(by) => v(0).sign_ext(*by).into(),
            Op::IntAdd => Int::add(&ints()).into(),
            Op::IntMul => Int::mul(&ints()).into(),
            Op::IntDiv => i(0).div(i(1)).into(),
            Op::IntMod => i(0).modulo(i(1)).into(),
            Op::IntLe => i(0).le(i(1)).into(),
            Op::IntLt => i(0).lt(i(1)).into(),
            Op::BvToInt => Int::from_bv(&v(0), false).into(),
            Op::IntToBv(width) => BV::from_int(&i(0), *width).into(),
            Op::Select => a(0).select(&args[1]),
            Op::Store => a(0).store(&args[1], &args[2]).into(),
            Op::Float(operation) => Self::copied(*operation, &args),
            Op::ConstArray(sort) => {
                let index = Self::sort(terms, terms.array_parts(*sort).0);
                Array::const_array(&index, &args[0]).into()
            }
            Op::Forall(bound) | Op::Exists(bound) => {
                let bound: Vec<Dynamic> = bound
                    .iter()
                    .map(|constant| self.known[constant].clone())
                    .collect();
                let bound: Vec<&dyn Ast> = bound.iter().map(|ast| ast as &dyn Ast).collect();
                match terms.op(term) {
                    Op::Forall(_) => z3::ast::forall_const(&bound, &[], &b(0)).into(),
                    _ => z3::ast::exists_const(&bound, &[], &b(0)).into(),
                }
            }
        }
    }
}
