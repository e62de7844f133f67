//! Predicates by unsatisfiable cores, for paths without calls.
//!
//! From the last block of an infeasible path backwards: which few facts of the state before the
//! block are enough to rule out that it is taken and breaks what was needed after it? The facts are
//! literals over what the block tests, and values that the path has computed by then; all of them
//! hold where the path arrives, so that together they are a chain from its beginning to the
//! contradiction (TR 2000-14, section 4.2, with only what is needed kept).

use crate::predicate::{Predicate, predicates};
use crate::refine::Refiner;
use hardbop_cfront::ids::LocId;
use hardbop_logic::{Answer, Op, Session, Sort, TermId, Terms, Value};
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::places::{Places, is_condition, is_fixed};
use hardbop_semantics::segment::{Blocks, Segment};
use hardbop_semantics::skeleton::SkeletonEdgeKind;
use hardbop_semantics::steps::Step;
use hardbop_semantics::{Execution, State};
use num_bigint::BigInt;
use std::collections::BTreeSet;

/// So often what is known is put into a formula: pointers to pointers to pointers.
const DEPTH: usize = 12;
/// The most facts that are tried at one place.
const FACTS: usize = 200;
/// What is further from the origin is no address of the program's objects.
const NEAR: i128 = 1 << 24;
/// Larger terms are no values that anybody would write down.
const VALUE: usize = 8;
/// Longer conditions are not worth speaking of.
const SHORT: usize = 40;

/// A place that the path passes: what happened until there.
struct Passed {
    state: State,
    /// How many of the conditions belong to the way there.
    conditions: usize,
}

/// Why there are no few facts that rule a path out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unexplained {
    /// The path has calls, nobody knows where it ends, or no facts of this kind are enough.
    NoFacts,
    /// The same where memory is read, over which formulas are hard to solve in any way.
    Memory,
}

/// Terms with their values.
type Facts = Vec<(TermId, TermId)>;

impl Refiner<'_, '_> {
    /// Few predicates that rule out an infeasible path.
    pub fn cores(
        &self,
        terms: &mut Terms,
        session: &mut Session<'_>,
        segments: &[Segment],
    ) -> Result<Vec<(LocId, Predicate)>, Unexplained> {
        session.push();
        let mut why = Unexplained::NoFacts;
        let found = self.chain(terms, session, segments, &mut why);
        session.pop();
        found.ok_or(why)
    }

    fn chain(
        &self,
        terms: &mut Terms,
        session: &mut Session<'_>,
        segments: &[Segment],
        why: &mut Unexplained,
    ) -> Option<Vec<(LocId, Predicate)>> {
        let semantics = self.ground.semantics;
        let mut blocks = Vec::new();
        for segment in segments {
            match *segment {
                Segment::Start(_) => {}
                Segment::Block(from, to) => blocks.push((from, to)),
                Segment::Enter(..) | Segment::Leave(..) => return None,
            }
        }
        for axiom in semantics.axioms(terms) {
            session.assert(terms, axiom);
        }
        let mut places = Places::default();
        let (passed, path) = self.follow(terms, session, &mut places, &blocks)?;
        if path.iter().any(|&part| has(terms, part, &Op::Select)) {
            *why = Unexplained::Memory;
        }
        let blocks = &blocks[..possible(terms, session, &passed, &path)?];
        let mut found = BTreeSet::new();
        let mut needed: Option<TermId> = None;
        for (&(from, to), place) in blocks.iter().zip(&passed).rev() {
            session.budget().check().ok()?;
            let exit = self.exit(terms, from, to)?;
            // That the block is taken and what is needed does not hold after it.
            let mut wrong = vec![exit.condition];
            if let Some(needed) = needed {
                let after = exit.state.apply(semantics, terms, needed);
                wrong.push(terms.not(after));
            }
            let wrong = terms.and(&wrong);
            let core = self.enough(terms, session, &mut places, place, &path, wrong)?;
            let core: Vec<TermId> = core.iter().map(|&(a, b)| terms.eq(a, b)).collect();
            if core.is_empty() {
                break;
            }
            let core = terms.and(&core);
            let function = semantics.program.locations[from.index()].function;
            let atoms = predicates(semantics, self.ground.constants, terms, function, core);
            found.extend(atoms.into_iter().map(|atom| (from, atom)));
            needed = Some(core);
        }
        Some(found.into_iter().collect())
    }

    /// The states in which the path comes to the beginning of each block, and all its conditions.
    fn follow(
        &self,
        terms: &mut Terms,
        session: &mut Session<'_>,
        places: &mut Places,
        blocks: &[(LocId, LocId)],
    ) -> Option<(Vec<Passed>, Vec<TermId>)> {
        let mut run = Execution::new(self.ground.semantics);
        run.start(terms);
        let mut conditions = std::mem::take(&mut run.facts);
        let mut passed = Vec::new();
        for &(from, to) in blocks {
            passed.push(Passed {
                state: run.state.clone(),
                conditions: conditions.len(),
            });
            let cuts = &self.ground.skeleton.cuts;
            let block = Segment::Block(from, to);
            let taken = run.segment(terms, block, cuts, &mut Blocks::new());
            let condition = taken.ok()??;
            // With plain addresses what comes later is plain, too.
            let semantics = self.ground.semantics;
            let (condition, state) = places.plain(semantics, terms, session, condition, &run.state);
            conditions.push(condition);
            run.state = state;
            session.budget().check().ok()?;
        }
        Some((passed, conditions))
    }

    /// What a block does, over the state before it.
    fn exit(&self, terms: &mut Terms, from: LocId, to: LocId) -> Option<Step> {
        let block = SkeletonEdgeKind::Block(from, to);
        self.ground.step(terms, &mut Blocks::new(), block).ok()?
    }

    /// A small set of facts that hold where the path comes to a place and exclude a formula; `None`
    /// if none is found.
    fn enough(
        &self,
        terms: &mut Terms,
        session: &mut Session<'_>,
        places: &mut Places,
        place: &Passed,
        path: &[TermId],
        formula: TermId,
    ) -> Option<Facts> {
        session.push();
        for &condition in &path[..place.conditions] {
            session.assert(terms, condition);
        }
        let tested = self.tested(terms, formula);
        let tested = self.known(terms, session, place, tested);
        let values = self.values(terms, session, places, place, formula);
        session.pop();
        let all: Facts = tested.into_iter().chain(values.iter().copied()).collect();
        // What the program tests says more than single values; but where memory is read and
        // written, solvers are slow unless it is known where.
        let reads_memory = has(terms, formula, &Op::Select);
        if !reads_memory && let Some(found) = self.solved(terms, session, &all, formula) {
            return Some(found);
        }
        let mut settle = |facts: &Facts| {
            let known = facts.iter().copied().collect();
            let rest = places.put_in(self.ground.semantics, terms, session, &known, formula);
            *terms.op(rest) == Op::Bool(false)
        };
        if settle(&values) {
            let mut core = values;
            let mut at = 0;
            while at < core.len() {
                let mut without = core.clone();
                without.remove(at);
                match settle(&without) {
                    true => core = without,
                    false => at += 1,
                }
            }
            return Some(core);
        }
        match reads_memory {
            true => self.solved(terms, session, &all, formula),
            false => None,
        }
    }

    /// The values that decide a formula where the path comes to a place. What is known is put into
    /// the formula, which then shows what else it depends on: which word of memory is read is plain
    /// once the pointer has its value.
    fn values(
        &self,
        terms: &mut Terms,
        session: &mut Session<'_>,
        places: &mut Places,
        place: &Passed,
        formula: TermId,
    ) -> Facts {
        let mut facts = Facts::new();
        for _ in 0..DEPTH {
            let known = facts.iter().copied().collect();
            let rest = places.put_in(self.ground.semantics, terms, session, &known, formula);
            let mut reads = self.reads(terms, rest);
            reads.retain(|read| !facts.iter().any(|(known, _)| known == read));
            let new = self.known(terms, session, place, reads);
            if new.is_empty() || facts.len() >= FACTS {
                break;
            }
            facts.extend(new);
        }
        facts
    }

    /// Those of some terms whose value is fixed where the path comes to a place: numbers, and
    /// addresses by their distance from the origin.
    fn known(
        &self,
        terms: &mut Terms,
        session: &mut Session<'_>,
        place: &Passed,
        mut parts: Vec<TermId>,
    ) -> Facts {
        let semantics = self.ground.semantics;
        parts.truncate(FACTS);
        let mut asked: Vec<TermId> = parts
            .iter()
            .map(|&part| place.state.apply(semantics, terms, part))
            .collect();
        let origin = semantics.origin(terms);
        asked.push(origin);
        let mut known = Facts::new();
        if session.check(terms, &[]) != Answer::Sat {
            return known;
        }
        let Ok(mut values) = session.values(terms, &asked) else {
            return known;
        };
        let Some(Some(first)) = values.pop() else {
            return known;
        };
        for ((&part, &now), value) in parts.iter().zip(&asked).zip(values) {
            if is_fixed(self.ground.semantics, terms, now) && terms.size(now) <= VALUE {
                known.push((part, now));
                continue;
            }
            let Some(value) = value else { continue };
            let relative = distance(terms, origin, &first, &value);
            let absolute = literal(terms, &value);
            for value in [relative, absolute].into_iter().flatten() {
                let same = terms.eq(now, value);
                let other = terms.not(same);
                match session.check(terms, &[other]) {
                    Answer::Unsat => {
                        known.push((part, value));
                        break;
                    }
                    Answer::Sat => {}
                    // The next question would be as hard.
                    Answer::Unknown(_) => return known,
                }
            }
        }
        known
    }

    /// The conditions in a formula that are worth speaking of.
    fn tested(&self, terms: &mut Terms, formula: TermId) -> Vec<TermId> {
        let mut found = terms.postorder(&[formula]);
        found.retain(|&term| {
            is_condition(terms, term)
                && terms.size(term) <= SHORT
                && self.ground.constants.support(terms, term).is_some()
                && !has(terms, term, &Op::Ite)
                && !is_fixed(self.ground.semantics, terms, term)
        });
        found
    }

    /// The variables that a formula reads, and the words in memory at addresses that are known.
    fn reads(&self, terms: &mut Terms, formula: TermId) -> Vec<TermId> {
        let mut all = terms.postorder(&[formula]);
        // A word in memory is made of bytes, which are not worth speaking of.
        let bytes: BTreeSet<TermId> = all
            .iter()
            .filter(|&&term| *terms.op(term) == Op::Concat)
            .flat_map(|&term| terms.args(term).to_vec())
            .collect();
        all.retain(|&term| {
            let plain = matches!(terms.sort(term), Sort::BitVec(_) | Sort::Int);
            let meaning = self.ground.constants.meaning(term);
            let variable = matches!(meaning, Some(Meaning::Now(_)));
            plain && (variable || !bytes.contains(&term) && self.is_word(terms, term))
        });
        all
    }

    /// Whether a term is what memory holds at an address that is known.
    fn is_word(&self, terms: &mut Terms, term: TermId) -> bool {
        let mut parts = vec![term];
        while let Some(part) = parts.pop() {
            let args = terms.args(part).to_vec();
            match terms.op(part) {
                Op::Concat => parts.extend(args),
                Op::Select => {
                    let memory = self.ground.constants.meaning(args[0]);
                    let is_memory = matches!(memory, Some(Meaning::Now(_)));
                    if !is_memory || !is_fixed(self.ground.semantics, terms, args[1]) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// A small part of some facts of which the solver says that it excludes a formula.
    fn solved(
        &self,
        terms: &mut Terms,
        session: &mut Session<'_>,
        facts: &[(TermId, TermId)],
        formula: TermId,
    ) -> Option<Facts> {
        session.push();
        session.assert(terms, formula);
        for constant in terms.free_constants(&[formula]) {
            if let Some(Meaning::Now(id)) = self.ground.constants.meaning(constant) {
                let typing = self.ground.semantics.typing(terms, id);
                session.assert(terms, typing);
            }
        }
        let asked: Vec<TermId> = facts.iter().map(|&(a, b)| terms.eq(a, b)).collect();
        let found = match session.check(terms, &asked) {
            Answer::Unsat => {
                let core = session.minimal_core(terms);
                let needed = facts.iter().zip(&asked);
                let needed = needed.filter(|(_, fact)| core.contains(fact));
                Some(needed.map(|(&fact, _)| fact).collect())
            }
            _ => None,
        };
        session.pop();
        found
    }
}

/// How many blocks of a path it takes until it cannot be run; `None` if nobody knows.
fn possible(
    terms: &mut Terms,
    session: &mut Session<'_>,
    passed: &[Passed],
    path: &[TermId],
) -> Option<usize> {
    session.push();
    let mut asserted = 0;
    let mut found = None;
    for count in 1..=passed.len() {
        let end = passed.get(count).map_or(path.len(), |next| next.conditions);
        for &condition in &path[asserted..end] {
            session.assert(terms, condition);
        }
        asserted = end;
        match session.check(terms, &[]) {
            Answer::Sat => {}
            Answer::Unsat => {
                found = Some(count);
                break;
            }
            Answer::Unknown(_) => break,
        }
    }
    session.pop();
    found
}

/// Whether an operator occurs in a term.
fn has(terms: &Terms, term: TermId, op: &Op) -> bool {
    let parts = terms.postorder(&[term]);
    parts.iter().any(|&part| terms.op(part) == op)
}

/// A value as the origin plus a number that is not large.
fn distance(terms: &mut Terms, origin: TermId, first: &Value, value: &Value) -> Option<TermId> {
    match (first, value) {
        (Value::BitVec(first), Value::BitVec(value)) if first.width() == value.width() => {
            let by =
                BigInt::from(value.unsigned().clone()) - BigInt::from(first.unsigned().clone());
            let by = i128::try_from(by).ok().filter(|by| by.abs() < NEAR)?;
            let by = terms.bv(by, first.width());
            Some(terms.bv_add(origin, by))
        }
        (Value::Int(first), Value::Int(value)) => {
            let by = i128::try_from(value - first)
                .ok()
                .filter(|by| by.abs() < NEAR)?;
            let by = terms.int(by);
            Some(terms.int_add(&[origin, by]))
        }
        _ => None,
    }
}

/// A value as it is written.
fn literal(terms: &mut Terms, value: &Value) -> Option<TermId> {
    match value {
        Value::BitVec(value) => {
            let number = i128::try_from(value.signed()).ok()?;
            Some(terms.bv(number, value.width()))
        }
        Value::Bool(value) => Some(terms.bool(*value)),
        Value::Int(value) => Some(terms.int(i128::try_from(value.clone()).ok()?)),
        _ => None,
    }
}
