//! Guesses: what may hold at a cut point.
//!
//! The program's own conditions and their negations; bounds by constants that a variable is
//! compared to or set to; the order of two variables. What they speak of is live at the point.

mod broad;
mod inputs;

use crate::fixpoint::Breadth;
use crate::objects;
use hardbop_cfront::ids::LocId;
use hardbop_logic::atoms_of;
use hardbop_logic::{FloatFormat, FloatOp, FloatOperation, Op, Sort, TermId, Terms, Value};
use hardbop_semantics::State;
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::live::Live;
use hardbop_semantics::steps::{Ground, Step};
use std::collections::{BTreeMap, BTreeSet};

/// The most variables of a point that guesses speak of.
const VARIABLES: usize = 24;
/// With more variables than this, two are compared only where the program relates them.
const ALL_PAIRS: usize = 7;
/// Larger terms are not looked at.
const LARGE: usize = 64;
/// The most constants for one variable.
const CONSTANTS: usize = 10;
/// The most of the program's own conditions at one point.
const CONDITIONS: usize = 48;

/// A variable that guesses speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variable {
    /// What guesses call it.
    pub constant: TermId,
    /// What it stands for: that constant, or a term over the state.
    pub term: TermId,
    /// How many bits it has.
    pub width: u32,
    /// Whether it is compared with a sign.
    pub signed: bool,
    /// How it is compared, if it is a floating-point number.
    pub float: Option<FloatFormat>,
}

impl Variable {
    /// A term that is compared without a sign, under a name.
    pub fn unsigned(terms: &Terms, constant: TermId, term: TermId) -> Variable {
        Variable {
            constant,
            term,
            width: terms.width(term),
            signed: false,
            float: None,
        }
    }
}

/// What the program says, from which guesses are made.
#[derive(Debug, Default)]
pub struct Hints {
    /// Its conditions, with the constants in them.
    conditions: BTreeMap<TermId, BTreeSet<TermId>>,
    /// The literals that a variable is compared to or set to.
    literals: BTreeMap<TermId, BTreeSet<TermId>>,
    /// The floating-point literals that anything is compared to.
    floats: BTreeSet<TermId>,
    /// The two sides of comparisons, without extensions.
    compared: BTreeSet<(TermId, TermId)>,
    /// Variables that occur in one condition or in the value of one another.
    related: BTreeSet<(TermId, TermId)>,
    /// The variables that only ever hold literals.
    pub modes: BTreeSet<TermId>,
}

impl Hints {
    /// What the steps of a program say.
    pub fn new(ground: &Ground<'_, '_>, terms: &mut Terms, steps: &[Step]) -> Hints {
        let mut hints = Hints::default();
        // Blocks share most of what they say, so it is looked at once for all of them.
        let conditions: Vec<TermId> = steps.iter().map(|step| step.condition).collect();
        let mut asked = BTreeMap::new();
        for atom in atoms_of(terms, &conditions) {
            hints.compare_floats(terms, atom);
            let Some(constants) = few_constants(terms, atom) else {
                continue;
            };
            hints.relate(&constants);
            hints.compare(terms, atom, &constants);
            let meant = |&constant: &TermId| ground.constants.meaning(constant).is_some();
            if constants.iter().all(meant) && !constants.is_empty() {
                hints.conditions.insert(atom, constants);
            } else {
                asked.insert(atom, constants);
            }
        }
        let written = written(ground, terms, steps);
        hints.modes = modes(terms, &written);
        hints.pass_on(ground, terms, &written, &asked);
        hints.hand_over(ground, terms, steps);
        for (variable, value) in written {
            if let Some(mut constants) = few_constants(terms, value) {
                constants.insert(variable);
                hints.relate(&constants);
            }
            hints.set(terms, variable, value);
        }
        hints
    }

    /// What is said of a variable that a call hands over is said of the parameter.
    fn hand_over(&mut self, ground: &Ground<'_, '_>, terms: &mut Terms, steps: &[Step]) {
        for step in steps.iter().filter(|step| step.entered.is_some()) {
            for (id, value) in step.state.written() {
                if ground.constants.meaning(value).is_some()
                    && let Some(literals) = self.literals.get(&value).cloned()
                {
                    let now = ground.semantics.constant(terms, id);
                    let old = ground.semantics.old_constant(terms, id);
                    for parameter in [now, old] {
                        self.literals
                            .entry(parameter)
                            .or_default()
                            .extend(&literals);
                    }
                }
            }
        }
    }

    /// What bounds a variable bounds those of its width that are compared with it.
    pub fn share_literals(&mut self, terms: &Terms) {
        let mut more = Vec::new();
        for &(a, b) in &self.compared {
            if terms.sort(a) != terms.sort(b) {
                continue;
            }
            for (from, to) in [(a, b), (b, a)] {
                if !self.literals.values().any(|known| known.contains(&to)) {
                    let literals = self.literals.get(&from).cloned();
                    more.push((to, literals.unwrap_or_default()));
                }
            }
        }
        for (variable, literals) in more {
            self.literals.entry(variable).or_default().extend(literals);
        }
    }

    /// The literals that a variable is compared to or set to.
    pub fn literals_of(&self, variable: TermId) -> impl Iterator<Item = &TermId> {
        self.literals.get(&variable).into_iter().flatten()
    }

    /// The program's conditions that speak of nothing but some variables.
    pub fn conditions_about(&self, variables: &BTreeSet<TermId>) -> impl Iterator<Item = TermId> {
        let conditions = self.conditions.iter();
        let about = conditions.filter(|(_, constants)| constants.is_subset(variables));
        about.map(|(&condition, _)| condition)
    }

    /// What a variable is compared with, other than literals.
    pub fn compared_to(&self, variable: TermId) -> impl Iterator<Item = TermId> + '_ {
        let sides = self
            .compared
            .iter()
            .filter_map(move |&(a, b)| match variable {
                _ if variable == a => Some(b),
                _ if variable == b => Some(a),
                _ => None,
            });
        sides.filter(|side| !self.literals.values().any(|known| known.contains(side)))
    }

    fn relate(&mut self, constants: &BTreeSet<TermId>) {
        for &a in constants {
            for &b in constants.range(a..).skip(1) {
                self.related.insert((a, b));
            }
        }
    }

    /// The literals in a comparison, for every variable in it.
    fn compare(&mut self, terms: &Terms, atom: TermId, constants: &BTreeSet<TermId>) {
        if let &[a, b] = terms.args(atom) {
            self.compared.insert((narrow(terms, a), narrow(terms, b)));
        }
        let literals = terms.args(atom).iter().copied();
        let literals: Vec<TermId> = literals.filter(|&at| is_literal(terms, at)).collect();
        for &constant in constants {
            for &literal in &literals {
                if terms.sort(literal) == terms.sort(constant) {
                    self.literals.entry(constant).or_default().insert(literal);
                }
            }
        }
    }

    /// The literals in a comparison of floating-point numbers: a bound of one variable is often
    /// one of others, and with the other sign, too.
    fn compare_floats(&mut self, terms: &mut Terms, atom: TermId) {
        let Op::Float(operation) = *terms.op(atom) else {
            return;
        };
        let (wide, narrow) = (FloatFormat::DOUBLE, FloatFormat::SINGLE);
        for literal in terms.args(atom).to_vec() {
            if !is_literal(terms, literal) {
                continue;
            }
            self.floats.insert(literal);
            if operation.format == wide {
                // Numbers of type `float` are compared as `double`.
                let nan = terms.bv(0, narrow.width());
                let convert = FloatOperation::nearest(FloatOp::Convert(narrow), wide);
                self.floats.insert(terms.float(convert, &[literal, nan]));
            }
        }
    }

    /// The literals that a value may be.
    fn set(&mut self, terms: &Terms, variable: TermId, value: TermId) {
        let mut work = vec![value];
        let mut seen = BTreeSet::new();
        while let Some(value) = work.pop() {
            if !seen.insert(value) || seen.len() > 64 {
                continue;
            }
            match terms.op(value) {
                Op::Ite => work.extend(&terms.args(value)[1..]),
                _ if is_literal(terms, value) => {
                    self.literals.entry(variable).or_default().insert(value);
                }
                _ => {}
            }
        }
    }
}

/// What steps write to variables.
fn written(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    steps: &[Step],
) -> BTreeSet<(TermId, TermId)> {
    let mut found = BTreeSet::new();
    let mut before = &State::new();
    // Neighbouring states share most of what they hold.
    let states = steps.iter().map(|step| &step.state);
    for state in states.chain(steps.iter().filter_map(|step| step.entered.as_ref())) {
        for (id, value) in state.written_beside(before) {
            found.insert((ground.semantics.constant(terms, id), value));
        }
        before = state;
    }
    found
}

/// The variables that hold literals whatever happens: what is written to them is a literal, what
/// they hold already, or what another one of them holds.
fn modes(terms: &Terms, written: &BTreeSet<(TermId, TermId)>) -> BTreeSet<TermId> {
    // What may be written to each variable that is written at all.
    let mut sources: BTreeMap<TermId, BTreeSet<TermId>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for &(variable, value) in written {
        let mut work = vec![value];
        while let Some(value) = work.pop() {
            if seen.insert((variable, value)) {
                match terms.op(value) {
                    Op::Ite => work.extend(&terms.args(value)[1..]),
                    _ => {
                        sources.entry(variable).or_default().insert(value);
                    }
                }
            }
        }
    }
    let mut modes: BTreeSet<TermId> = sources.keys().copied().collect();
    loop {
        let holds_literals = |variable: &TermId| {
            sources[variable].iter().all(|&source| {
                source == *variable || modes.contains(&source) || is_literal(terms, source)
            })
        };
        let left: BTreeSet<TermId> = modes.iter().copied().filter(holds_literals).collect();
        if left.len() == modes.len() {
            return left;
        }
        modes = left;
    }
}

/// The constants of a term; `None` if it is large or has many: such a term hints at nothing.
fn few_constants(terms: &Terms, term: TermId) -> Option<BTreeSet<TermId>> {
    let mut constants = BTreeSet::new();
    let mut seen = BTreeSet::from([term]);
    let mut work = vec![term];
    while let Some(term) = work.pop() {
        if matches!(terms.op(term), Op::Constant(_)) {
            constants.insert(term);
        }
        let new = terms.args(term).iter().filter(|&&arg| seen.insert(arg));
        work.extend(new);
        if seen.len() > LARGE || constants.len() > ALL_PAIRS {
            return None;
        }
    }
    Some(constants)
}

/// What is extended.
fn narrow(terms: &Terms, term: TermId) -> TermId {
    match terms.op(term) {
        Op::SignExtend(_) | Op::ZeroExtend(_) => terms.args(term)[0],
        _ => term,
    }
}

/// Whether a term is a number.
pub fn is_literal(terms: &Terms, term: TermId) -> bool {
    matches!(terms.value_of(term), Some(Value::BitVec(_)))
}

/// The variables that guesses at a point speak of.
pub fn variables(
    ground: &Ground<'_, '_>,
    terms: &mut Terms,
    at: LocId,
    live: &Live,
    breadth: Breadth,
) -> Vec<Variable> {
    let program = ground.semantics.program;
    let function = program.locations[at.index()].function;
    let layout = &ground.semantics.layout;
    let mut found = Vec::new();
    let is_here = |id: StateVarId| {
        let variable = layout.get(id);
        variable.owner.is_none_or(|owner| owner == function)
            && matches!(variable.kind, StateKind::Cell { .. })
    };
    let now = live.now.iter().map(|&id| Meaning::Now(id));
    let old = live.old.iter().map(|&id| Meaning::Old(id));
    for meaning in now.chain(old) {
        let (id, constant) = match meaning {
            Meaning::Now(id) => (id, ground.semantics.constant(terms, id)),
            Meaning::Old(id) => (id, ground.semantics.old_constant(terms, id)),
            Meaning::Origin => continue,
        };
        if let (true, Sort::BitVec(width @ 1..=64)) = (is_here(id), terms.sort(constant)) {
            found.push(Variable {
                constant,
                term: constant,
                width,
                signed: ground.semantics.shape(id).signed,
                float: ground.semantics.float(id),
            });
        }
    }
    if breadth == Breadth::Live {
        found.truncate(VARIABLES);
    }
    // First those that only hulls relate to others: a hull has few dimensions.
    let mut all = objects::variables(ground, terms, &found, live, breadth);
    all.extend(found);
    all
}

/// Guesses, each once, in the order in which they say most to a reader.
#[derive(Default)]
struct Guesses {
    found: Vec<TermId>,
    seen: BTreeSet<TermId>,
}

impl Guesses {
    fn push(&mut self, terms: &Terms, guess: TermId) {
        if !matches!(terms.op(guess), Op::Bool(_)) && self.seen.insert(guess) {
            self.found.push(guess);
        }
    }
}

/// The guesses at a point with these variables; the values of all but the others are known.
pub fn guesses(
    terms: &mut Terms,
    hints: &Hints,
    variables: &[Variable],
    others: &[Variable],
) -> Vec<TermId> {
    let mut found = Guesses::default();
    let here: BTreeSet<TermId> = variables.iter().map(|variable| variable.constant).collect();
    let variables = others;
    let literals: Vec<Vec<TermId>> = variables
        .iter()
        .map(|variable| literals(terms, hints, variable))
        .collect();
    for (variable, literals) in variables.iter().zip(&literals) {
        for &literal in literals {
            let same = terms.eq(variable.constant, literal);
            found.push(terms, same);
        }
    }
    let mut pairs = Vec::new();
    for (index, a) in variables.iter().enumerate() {
        for b in &variables[index + 1..] {
            let pair = (a.constant.min(b.constant), a.constant.max(b.constant));
            if a.width == b.width && (variables.len() <= ALL_PAIRS || hints.related.contains(&pair))
            {
                pairs.push((a, b));
            }
        }
    }
    for &(a, b) in &pairs {
        for guess in order(terms, a, b) {
            found.push(terms, guess);
        }
    }
    for (variable, literals) in variables.iter().zip(&literals) {
        for &literal in literals {
            for bound in bounds(terms, variable, literal) {
                found.push(terms, bound);
            }
        }
    }
    let conditions = hints.conditions.iter();
    let conditions = conditions.filter(|(_, constants)| constants.is_subset(&here));
    for (&condition, _) in conditions.take(CONDITIONS) {
        let opposite = terms.not(condition);
        found.push(terms, condition);
        found.push(terms, opposite);
        for guess in passed(terms, condition) {
            found.push(terms, guess);
        }
    }
    // That things differ is said last: it mostly follows. Of floats, it hardly ever helps.
    for (variable, literals) in variables.iter().zip(&literals) {
        let words = literals.iter().filter(|_| variable.float.is_none());
        for &literal in words {
            let same = terms.eq(variable.constant, literal);
            let differ = terms.not(same);
            found.push(terms, differ);
        }
    }
    for (a, b) in pairs {
        if a.float.is_some() || b.float.is_some() {
            continue;
        }
        let same = terms.eq(a.constant, b.constant);
        let differ = terms.not(same);
        found.push(terms, differ);
    }
    found.found
}

/// What holds of a bound that a loop counts up or down to, when it is passed at last: the bound is
/// more than a variable or a number, for which there are guesses anyway.
fn passed(terms: &mut Terms, condition: TermId) -> Vec<TermId> {
    let (Op::BvSle | Op::BvSlt) = terms.op(condition) else {
        return Vec::new();
    };
    let args = terms.args(condition).to_vec();
    let variable = |arg: &TermId| matches!(terms.op(*arg), Op::Constant(_));
    if args.iter().all(variable) {
        // Two that come nearer to each other pass each other by one.
        let (low, high) = match terms.op(condition) {
            Op::BvSle => (args[0], args[1]),
            _ => (args[1], args[0]),
        };
        let one = terms.bv(1, terms.width(low));
        let before = terms.bv_sub(low, one);
        return vec![terms.bv_sle(before, high)];
    }
    if args
        .iter()
        .all(|arg| is_literal(terms, *arg) || variable(arg))
    {
        return Vec::new();
    }
    let one = terms.bv(1, terms.width(args[0]));
    let mut found = Vec::new();
    for (low, high) in [(args[0], args[1]), (args[1], args[0])] {
        found.push(terms.bv_sle(low, high));
        let before = terms.bv_sub(low, one);
        found.push(terms.bv_sle(before, high));
    }
    found
}

/// What holds of the bounds of loops that count without a sign, when they are passed at last.
pub fn left(terms: &mut Terms, hints: &Hints, variables: &[Variable]) -> Vec<TermId> {
    let here = variables.iter().map(|variable| variable.constant).collect();
    let mut found = Vec::new();
    for condition in hints.conditions_about(&here).collect::<Vec<_>>() {
        if !matches!(terms.op(condition), Op::BvUle | Op::BvUlt) {
            continue;
        }
        let args = terms.args(condition).to_vec();
        let one = terms.bv(1, terms.width(args[0]));
        for (low, high) in [(args[0], args[1]), (args[1], args[0])] {
            let before = terms.bv_sub(low, one);
            found.push(terms.bv_ule(low, high));
            found.push(terms.bv_ule(before, high));
        }
    }
    found
}

/// What a variable is compared with: zero, the program's constants for it, then their neighbours.
fn literals(terms: &mut Terms, hints: &Hints, variable: &Variable) -> Vec<TermId> {
    let one = terms.bv(1, variable.width);
    let mut literals = vec![terms.bv(0, variable.width)];
    let known = hints.literals.get(&variable.constant).into_iter().flatten();
    // Those of a word that it is compared with may be of another width.
    let known = known.filter(|&&literal| terms.sort(literal) == terms.sort(variable.constant));
    literals.extend(known.take(CONSTANTS));
    if let Some(format) = variable.float {
        let sign = terms.bv(1i128 << (format.width() - 1), format.width());
        let known = hints.floats.iter();
        for &literal in known.filter(|&&at| terms.sort(at) == terms.sort(sign)) {
            if literals.len() >= 2 * CONSTANTS {
                break;
            }
            literals.push(literal);
        }
        let mut both = Vec::new();
        for literal in literals {
            let opposite = terms.bv_xor(literal, sign);
            for literal in [literal, opposite] {
                if !both.contains(&literal) {
                    both.push(literal);
                }
            }
        }
        return both;
    }
    for literal in literals.clone() {
        literals.push(terms.bv_add(literal, one));
        literals.push(terms.bv_sub(literal, one));
    }
    literals
}

/// Bounds of a variable.
fn bounds(terms: &mut Terms, variable: &Variable, literal: TermId) -> [TermId; 2] {
    let x = variable.constant;
    if let Some(format) = variable.float {
        let below = FloatOperation::nearest(FloatOp::Le, format);
        return [(literal, x), (x, literal)].map(|(low, high)| terms.float(below, &[low, high]));
    }
    match variable.signed {
        true => [terms.bv_sle(literal, x), terms.bv_sle(x, literal)],
        false => [terms.bv_ule(literal, x), terms.bv_ule(x, literal)],
    }
}

/// Bounds of variables by powers of two, for numbers that no literal of the program bounds.
pub fn magnitudes(terms: &mut Terms, variables: &[Variable]) -> Vec<TermId> {
    let mut found = Vec::new();
    for variable in variables.iter().filter(|variable| variable.float.is_none()) {
        for bits in (4..variable.width.min(40) - 1).step_by(2) {
            let power = terms.bv(1i128 << bits, variable.width);
            let negative = terms.bv(-(1i128 << bits), variable.width);
            let [_, above] = bounds(terms, variable, power);
            found.push(above);
            if variable.signed {
                let [below, _] = bounds(terms, variable, negative);
                found.push(below);
            }
        }
    }
    found
}

/// How two variables may compare.
fn order(terms: &mut Terms, a: &Variable, b: &Variable) -> Vec<TermId> {
    let (x, y) = (a.constant, b.constant);
    let mut found = Vec::new();
    if let (Some(format), Some(_)) = (a.float, b.float) {
        for op in [FloatOp::Lt, FloatOp::Le] {
            let order = FloatOperation::nearest(op, format);
            found.extend([(x, y), (y, x)].map(|(low, high)| terms.float(order, &[low, high])));
        }
        return found;
    }
    if a.float.is_some() || b.float.is_some() {
        return found;
    }
    if a.signed || b.signed {
        found.extend([terms.bv_slt(x, y), terms.bv_slt(y, x)]);
        found.extend([terms.bv_sle(x, y), terms.bv_sle(y, x)]);
    }
    if !a.signed || !b.signed {
        found.extend([terms.bv_ult(x, y), terms.bv_ult(y, x)]);
        found.extend([terms.bv_ule(x, y), terms.bv_ule(y, x)]);
    }
    found
}
