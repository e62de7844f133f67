//! Abstract states and ports in words that a person can read: `0 <= x && x < n`, `x == n - 1`.
//!
//! This is not C (`semantics::c_terms`): a port speaks of values that no variable holds where it
//! is told, and remainders and bounds are told without the casts that C would need. So names and
//! near values are put in, and [`Terms::infix`] prints what comes of it.

use crate::chain::{Exactly, Leap};
use crate::graph::CutId;
use crate::theorem::{Theorem, View};
use hardbop_cfront::ids::EdgeId;
use hardbop_cfront::program::Program;
use hardbop_logic::{Assignment, Op, Prover, Sort, TermId, Terms, Value, eval};
use hardbop_semantics::Semantics;
use std::collections::{BTreeMap, BTreeSet};

/// A leap, told to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeapReport {
    /// The cut points of the loop.
    pub cuts: Vec<CutId>,
    /// The abstract state at each of them.
    pub state: Vec<String>,
    /// The entry port.
    pub entry: String,
    /// The exit port.
    pub exit: String,
    /// The theorem.
    pub theorem: Theorem,
    /// The variables that tell states apart, where that is not all of them.
    pub view: Vec<String>,
    /// What is chosen in every iteration, by the edge that asks.
    pub choices: Vec<(EdgeId, String)>,
}

/// Ports that are further apart than this are not told as a range.
const RANGE: usize = 8;

/// Tells a leap.
pub fn describe(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    prover: &mut Prover,
    leap: &Leap,
) -> LeapReport {
    let mut names = names(semantics, terms, leap);
    let ranges = resolve(terms, prover, leap, &mut names);
    let ports = &leap.found.ports;
    let given = leap.body.system.given;
    let mut state = Vec::new();
    for (node, predicates) in leap.found.predicates.iter().enumerate() {
        let full = ports.state.0[node];
        let mut told = weeded(terms, prover, given, full, predicates);
        for conjunct in &mut told {
            *conjunct = ranges.get(conjunct).copied().unwrap_or(*conjunct);
        }
        state.push(text(semantics.program, terms, &names, &told));
    }
    let entry = port(terms, prover, leap, ports.entry.0[leap.entry.node], &names);
    let entry = text(semantics.program, terms, &names, &entry);
    let exit = port(terms, prover, leap, ports.exit.0[leap.exit_node], &names);
    let exit = text(semantics.program, terms, &names, &exit);
    let view = match &leap.found.view {
        View::Whole => Vec::new(),
        View::Of(positions) => {
            let seen: BTreeSet<usize> = positions.iter().flatten().copied().collect();
            seen.into_iter()
                .map(|at| plain_name(semantics.program, &leap.body.system.variables[at].name))
                .collect()
        }
    };
    let choices = leap
        .strategy
        .iter()
        .map(|(&(edge, _), &chosen)| (edge, text(semantics.program, terms, &names, &[chosen])))
        .collect();
    LeapReport {
        cuts: leap.body.nodes.clone(),
        state,
        entry,
        exit,
        theorem: leap.found.theorem,
        view,
        choices,
    }
}

/// Tells a leap whose variables have closed forms: there is nothing to be asked. The ports are
/// what the forms say of the first and of the last count.
pub fn describe_exact(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    leap: &Leap,
    exactly: &Exactly,
) -> LeapReport {
    let names = BTreeMap::new();
    let program = semantics.program;
    let mut state = Vec::new();
    for predicates in &leap.found.predicates {
        state.push(text(program, terms, &names, predicates));
    }
    let last: BTreeMap<TermId, TermId> = exactly.last.iter().copied().collect();
    let mut first = BTreeMap::new();
    for (&count, &value) in &last {
        let zero = terms.bv(0, terms.width(value));
        first.insert(count, zero);
    }
    let mut port = |node: usize, counts: &BTreeMap<TermId, TermId>| {
        let facts = leap.found.predicates[node].iter();
        let mut facts: Vec<TermId> = facts.map(|&fact| terms.substitute(fact, counts)).collect();
        facts.retain(|&fact| !matches!(terms.op(fact), Op::Bool(true)));
        text(program, terms, &names, &facts)
    };
    let (entry, exit) = (port(leap.entry.node, &first), port(leap.exit_node, &last));
    // What is chosen in a period, one after the other.
    let mut words: BTreeMap<EdgeId, Vec<String>> = BTreeMap::new();
    for (&(edge, _), &chosen) in &leap.strategy {
        let chosen = text(program, terms, &names, &[chosen]);
        words.entry(edge).or_default().push(chosen);
    }
    let choices = words.into_iter().map(|(edge, word)| {
        let same = word.iter().all(|chosen| *chosen == word[0]);
        let told = if same {
            word[0].clone()
        } else {
            word.join(", then ")
        };
        (edge, told)
    });
    let choices = choices.collect();
    let counted = leap.body.system.variables.iter().zip(&leap.body.variables);
    let counted = counted.filter(|(_, id)| id.is_none());
    LeapReport {
        cuts: leap.body.nodes.clone(),
        state,
        entry,
        exit,
        theorem: leap.found.theorem,
        view: counted.map(|(variable, _)| variable.name.clone()).collect(),
        choices,
    }
}

/// An equation as it is written: kept as it is, so that its sides stay where they are.
fn equation(terms: &mut Terms, left: TermId, right: TermId) -> TermId {
    terms.plain(Op::Eq, &[left, right])
}

/// The rigid constants that some variable holds unchanged, with that variable's constant.
fn names(semantics: &Semantics<'_>, terms: &mut Terms, leap: &Leap) -> BTreeMap<TermId, TermId> {
    let mut names = BTreeMap::new();
    let changed: BTreeSet<_> = leap.body.variables.iter().flatten().copied().collect();
    for (&id, &value) in &leap.before {
        if matches!(terms.op(value), Op::Constant(_)) && !changed.contains(&id) {
            let constant = semantics.constant(terms, id);
            names.entry(value).or_insert(constant);
        }
    }
    names
}

/// Says rigid constants that no variable holds by something near to them: the value at the exit
/// port of an earlier loop, say, by the bound of that loop. Where only a range is known, gives
/// what a lower bound by the value on entry comes to.
fn resolve(
    terms: &mut Terms,
    prover: &mut Prover,
    leap: &Leap,
    names: &mut BTreeMap<TermId, TermId>,
) -> BTreeMap<TermId, TermId> {
    let system = &leap.body.system;
    let mut ranges = BTreeMap::new();
    let Ok(Some(model)) = prover.model(terms, &[system.given]) else {
        return ranges;
    };
    let mut references: Vec<TermId> = names.keys().copied().collect();
    for term in terms.postorder(&[system.given]) {
        let named = terms.free_constants(&[term]);
        let compared = matches!(terms.op(term), Op::BvMul | Op::BvShl | Op::BvAdd);
        if compared && !named.is_empty() && named.iter().all(|c| names.contains_key(c)) {
            references.push(term);
        }
    }
    references.truncate(12);
    let widths: BTreeSet<u32> = system
        .variables
        .iter()
        .filter_map(|variable| match terms.sort(variable.constant) {
            Sort::BitVec(width) => Some(width),
            _ => None,
        })
        .collect();
    for width in widths {
        references.push(terms.bv(0, width));
    }
    for (variable, &entry) in system.variables.iter().zip(&leap.entry.values) {
        let free = terms.free_constants(&[entry]);
        if free.is_empty()
            || free.iter().all(|c| names.contains_key(c))
            || !matches!(terms.sort(entry), Sort::BitVec(_))
        {
            continue;
        }
        let fitting: Vec<TermId> = references
            .iter()
            .copied()
            .filter(|&reference| terms.sort(reference) == terms.sort(entry))
            .collect();
        let found = nearest(terms, prover, &[system.given], &model, entry, &fitting);
        let Some((low, high, reference)) = found else {
            continue;
        };
        let width = terms.width(entry);
        let distance = terms.bv(low, width);
        let lowest = terms.bv_add(reference, distance);
        if low == high && matches!(terms.op(entry), Op::Constant(_)) {
            names.insert(entry, lowest);
        } else if low == high {
            // The entry is a sum with one constant in it: solve for that.
            let unnamed: Vec<TermId> = free
                .iter()
                .copied()
                .filter(|c| !names.contains_key(c))
                .collect();
            // A word that was widened on the way in cannot be taken out of the sum.
            if let [symbol] = unnamed[..]
                && terms.sort(symbol) == terms.sort(entry)
            {
                let rest = terms.bv_sub(entry, symbol);
                if terms.free_constants(&[rest]).is_empty() {
                    let value = terms.bv_sub(lowest, rest);
                    names.insert(symbol, value);
                }
            }
        } else {
            for op in [Op::BvSle, Op::BvUle] {
                let bound = match op {
                    Op::BvSle => terms.bv_sle(entry, variable.constant),
                    _ => terms.bv_ule(entry, variable.constant),
                };
                let told = terms.plain(op, &[lowest, variable.constant]);
                ranges.insert(bound, told);
            }
        }
    }
    // The names that were found may speak of rigid constants that have names themselves.
    let settled: Vec<(TermId, TermId)> = names.iter().map(|(&a, &b)| (a, b)).collect();
    for (symbol, value) in settled {
        let value = if matches!(terms.op(value), Op::Constant(_)) {
            value
        } else {
            terms.substitute(value, &names.clone())
        };
        names.insert(symbol, value);
    }
    for told in ranges.values_mut() {
        *told = terms.substitute(*told, names);
    }
    ranges
}

/// The conjunction as text.
fn text(
    program: &Program,
    terms: &mut Terms,
    names: &BTreeMap<TermId, TermId>,
    conjuncts: &[TermId],
) -> String {
    let mut parts = Vec::new();
    for &conjunct in conjuncts {
        let named = match *terms.op(conjunct) {
            // An equation keeps its sides.
            Op::Eq => {
                let sides: Vec<TermId> = terms
                    .args(conjunct)
                    .to_vec()
                    .into_iter()
                    .map(|side| terms.substitute(side, names))
                    .collect();
                terms.plain(Op::Eq, &sides)
            }
            _ => terms.substitute(conjunct, names),
        };
        let named = with_remainders(terms, named);
        let shown = terms.infix(named).to_string();
        let grouped = matches!(terms.op(named), Op::Or) && conjuncts.len() > 1;
        let shown = if grouped { format!("({shown})") } else { shown };
        let shown = plain_name(program, &shown);
        if !parts.contains(&shown) {
            parts.push(shown);
        }
    }
    if parts.is_empty() {
        "true".to_owned()
    } else {
        parts.join(" && ")
    }
}

/// Low bits as remainders: `(x - 5) % 4 == 3`.
fn with_remainders(terms: &mut Terms, formula: TermId) -> TermId {
    let mut map = BTreeMap::new();
    for term in terms.postorder(&[formula]) {
        if !matches!(terms.op(term), Op::Eq) {
            continue;
        }
        let &[a, b] = terms.args(term) else {
            continue;
        };
        for (part, literal) in [(a, b), (b, a)] {
            let Op::Extract { high, low: 0 } = *terms.op(part) else {
                continue;
            };
            let Some(Value::BitVec(bits)) = terms.value_of(literal) else {
                continue;
            };
            let word = terms.args(part)[0];
            let width = terms.width(word);
            if high > 60 || high + 2 > width {
                continue;
            }
            let modulus = terms.bv(1 << (high + 1), width);
            let rest = terms.bv_value(bits.unsigned().clone(), width);
            let remainder = terms.plain(Op::BvUrem, &[word, modulus]);
            let told = terms.plain(Op::Eq, &[remainder, rest]);
            map.insert(term, told);
        }
    }
    if let Some(&told) = map.get(&formula) {
        return told;
    }
    // Replaced by hand: building anew would turn remainders into bits again.
    let args: Vec<TermId> = terms.args(formula).to_vec();
    if map.is_empty() || !matches!(terms.op(formula), Op::And | Op::Or | Op::Not) {
        return formula;
    }
    let op = terms.op(formula).clone();
    let args: Vec<TermId> = args
        .into_iter()
        .map(|arg| map.get(&arg).copied().unwrap_or(arg))
        .collect();
    terms.plain(op, &args)
}

/// Names without the functions that they belong to, and without the numbers that keep rigid
/// constants apart.
fn plain_name(program: &Program, text: &str) -> String {
    let mut text = text.to_owned();
    for function in &program.functions {
        text = text.replace(&format!("{}::", function.name), "");
    }
    let text = text.replace("%u", "%");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // A name that ends in `!` or `!!3`; `!=` and `!(` are operators.
        let named = out.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '@');
        if c == '!' && named && rest.peek() != Some(&'=') {
            while rest.next_if(|c| *c == '!' || c.is_ascii_digit()).is_some() {}
            continue;
        }
        out.push(c);
    }
    out
}

/// The conjuncts of an abstract state that do not follow from the others. The conditions for
/// staying come first and are kept if possible.
fn weeded(
    terms: &mut Terms,
    prover: &mut Prover,
    given: TermId,
    full: TermId,
    predicates: &[TermId],
) -> Vec<TermId> {
    let mut conjuncts: Vec<TermId> = match terms.op(full) {
        Op::And => terms.args(full).to_vec(),
        Op::Bool(true) => Vec::new(),
        _ => vec![full],
    };
    // The simple ones are the ones to keep.
    conjuncts.sort_by_key(|&conjunct| (terms.size(conjunct), predicates.contains(&conjunct)));
    let mut at = conjuncts.len();
    while at > 0 {
        at -= 1;
        let mut rest = conjuncts.clone();
        let candidate = rest.remove(at);
        rest.push(given);
        rest.push(terms.not(candidate));
        if prover.unsatisfiable(terms, &rest) == Ok(true) {
            conjuncts.remove(at);
        }
    }
    conjuncts
}

/// What a port says of every variable, as an equation or a small range around something that the
/// program compares it with.
fn port(
    terms: &mut Terms,
    prover: &mut Prover,
    leap: &Leap,
    set: TermId,
    names: &BTreeMap<TermId, TermId>,
) -> Vec<TermId> {
    let system = &leap.body.system;
    let given = system.given;
    let Ok(Some(model)) = prover.model(terms, &[given, set]) else {
        return vec![set];
    };
    let mut told: Vec<TermId> = Vec::new();
    let mut known: Vec<TermId> = Vec::new();
    for (at, variable) in system.variables.iter().enumerate() {
        let constant = variable.constant;
        if Some(at) == leap.body.counter || !matches!(terms.sort(constant), Sort::BitVec(_)) {
            continue;
        }
        let references = references(terms, leap, at, set, &known, names);
        if let Some(fact) = near(
            terms,
            prover,
            &[given, set],
            &model,
            constant,
            variable.signed,
            &references,
        ) {
            told.extend(fact);
        }
        known.push(constant);
    }
    if told.is_empty() { vec![set] } else { told }
}

/// What a variable may be near to: what it is compared with, its value on entry, the variables
/// told already.
fn references(
    terms: &mut Terms,
    leap: &Leap,
    at: usize,
    set: TermId,
    known: &[TermId],
    names: &BTreeMap<TermId, TermId>,
) -> Vec<TermId> {
    let constant = leap.body.system.variables[at].constant;
    let own: BTreeSet<TermId> = leap
        .body
        .system
        .variables
        .iter()
        .map(|v| v.constant)
        .collect();
    let mut found = vec![terms.bv(0, terms.width(constant))];
    for term in terms.postorder(&[set]) {
        if !matches!(
            terms.op(term),
            Op::BvSle | Op::BvSlt | Op::BvUle | Op::BvUlt | Op::Eq
        ) {
            continue;
        }
        for side in terms.args(term).to_vec() {
            let free = terms.free_constants(&[side]);
            let told = free.is_disjoint(&own) && free.iter().all(|c| names.contains_key(c));
            if told && terms.sort(side) == terms.sort(constant) {
                found.push(side);
            }
        }
    }
    found.extend(
        names
            .keys()
            .copied()
            .filter(|&name| terms.sort(name) == terms.sort(constant)),
    );
    // Something simple that the bounds are made of.
    for term in terms.postorder(&[leap.body.system.given]) {
        let free = terms.free_constants(&[term]);
        if matches!(terms.op(term), Op::BvMul)
            && terms.sort(term) == terms.sort(constant)
            && free.iter().all(|c| names.contains_key(c))
        {
            found.push(term);
        }
    }
    found.truncate(10);
    let entry = leap.entry.values[at];
    if terms
        .free_constants(&[entry])
        .iter()
        .all(|c| names.contains_key(c))
    {
        found.push(entry);
    }
    found.extend(
        known
            .iter()
            .copied()
            .filter(|&other| terms.sort(other) == terms.sort(constant)),
    );
    let mut seen = BTreeSet::new();
    found.retain(|&reference| seen.insert(reference));
    found
}

/// That a variable is at a fixed distance from a reference, or within a small range of it.
fn near(
    terms: &mut Terms,
    prover: &mut Prover,
    set: &[TermId],
    model: &Assignment,
    constant: TermId,
    signed: bool,
    references: &[TermId],
) -> Option<Vec<TermId>> {
    let width = terms.width(constant);
    let (low, high, reference) = nearest(terms, prover, set, model, constant, references)?;
    let mut bound = |distance: i128| {
        let distance = terms.bv(distance, width);
        terms.bv_add(reference, distance)
    };
    let (lowest, highest) = (bound(low), bound(high));
    if low == high {
        return Some(vec![equation(terms, constant, lowest)]);
    }
    let (below, above) = if signed {
        (Op::BvSle, Op::BvSle)
    } else {
        (Op::BvUle, Op::BvUle)
    };
    Some(vec![
        terms.plain(below, &[lowest, constant]),
        terms.plain(above, &[constant, highest]),
    ])
}

/// The smallest range of distances from one of the references that a term keeps to in a set of
/// states.
fn nearest(
    terms: &mut Terms,
    prover: &mut Prover,
    set: &[TermId],
    model: &Assignment,
    term: TermId,
    references: &[TermId],
) -> Option<(i128, i128, TermId)> {
    let width = terms.width(term);
    let mut best: Option<(i128, i128, TermId)> = None;
    for &reference in references {
        let difference = terms.bv_sub(term, reference);
        let value = eval(terms, difference, model).ok()?;
        let first = crate::sample::number(&value, true)?;
        let mut seen = BTreeSet::from([first]);
        let literal = terms.value_of(reference).is_some();
        if first.abs() > 64 && !literal {
            continue;
        }
        loop {
            let mut question = set.to_vec();
            for &distance in &seen {
                let distance = terms.bv(distance, width);
                let equal = terms.eq(difference, distance);
                question.push(terms.not(equal));
            }
            match prover.model(terms, &question) {
                Ok(None) => {
                    let (low, high) = (*seen.first()?, *seen.last()?);
                    let contiguous = high - low + 1 == seen.len() as i128;
                    let closer = best.is_none_or(|(a, b, _)| high - low < b - a);
                    if contiguous && closer {
                        best = Some((low, high, reference));
                    }
                    break;
                }
                Ok(Some(other)) if seen.len() < RANGE => {
                    let value = eval(terms, difference, &other).ok()?;
                    let distance = crate::sample::number(&value, true)?;
                    if distance.abs() > 64 && !literal {
                        break;
                    }
                    seen.insert(distance);
                }
                _ => break,
            }
        }
        // A literal says it best; otherwise the first that fits exactly.
        if best.is_some_and(|(low, high, _)| low == high) {
            break;
        }
    }
    best
}
