//! The system of bits that a program is.
//!
//! Addresses are fixed: objects lie where they would if the origin of addresses were a certain
//! number. That is a guess, as good as any other for programs that do not look at addresses;
//! invariants are told by the distance from the origin, and the gate asks about all of them.

use crate::predicates::Comparisons;
use crate::system::{Cube, Point, PointId, System, Transition};
use hardbop_cfront::ids::{CheckId, LocId};
use hardbop_cfront::types::Type;
use hardbop_circuit::{Bit, Blaster, NoCircuit, Read, Word};
use hardbop_engine::{Reason, Task};
use hardbop_facts::{Arrays, Told, about_live, facts};
use hardbop_logic::{TermId, Terms};
use hardbop_model::View;
use hardbop_semantics::layout::{StateKind, StateVarId};
use hardbop_semantics::live::Live;
use hardbop_semantics::skeleton::{SkeletonEdgeKind, VertexId};
use hardbop_semantics::steps::{End, Ground, Step};
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};

/// Where addresses are counted from: some page above the first one.
const ORIGIN: u64 = 1 << 20;
/// Numbers below this are no addresses.
const PAGE: u64 = 4096;

/// How much of a program fits into a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The most bits of the state at one point.
    pub bits: usize,
    /// The most nodes of the circuit.
    pub nodes: usize,
    /// The most cells of one memory.
    pub cells: usize,
    /// The most comparisons at a point that clauses may speak of.
    pub predicates: usize,
}

/// What must not be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A violated check.
    Check(CheckId),
    /// Something that is not supported: an index into the program's list of such.
    Unsupported(u32),
}

/// A word of the state.
#[derive(Clone, Debug)]
pub struct StateWord {
    /// What it is in logic, relative to the origin if it is an address.
    pub term: TermId,
    /// Its bits.
    pub bits: Word,
    /// The state variable that it is or lies in.
    variable: StateVarId,
    /// Where it lies in a memory.
    cell: Option<Word>,
    /// Whether it is a number that is a state variable by itself.
    is_plain: bool,
}

/// A word of the state, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WordId(u32);

/// A program as a system of bits.
pub struct Bits {
    /// The system.
    pub system: System,
    /// The words of the state.
    words: Vec<StateWord>,
    /// The words that matter at each point, in the order of its bits.
    at: Vec<Vec<WordId>>,
    /// What clauses may speak of besides bits, at each point.
    predicates: Vec<Vec<TermId>>,
    /// The cut points.
    pub points: BTreeMap<LocId, PointId>,
    /// What must not be reached, and where.
    pub targets: BTreeMap<PointId, Target>,
    /// Where each step leads from and to.
    pub ends: Vec<(Option<LocId>, LocId)>,
    /// What the program's text says at cut points, in states of the program.
    pub told: BTreeMap<LocId, TermId>,
}

fn no_circuit(_: NoCircuit) -> Reason {
    Reason::NoBits("values that are no bits")
}

impl Bits {
    /// The system of a program with these cut points, as far as it can decide the task's checks; or
    /// why there is none. The ground is that of the view.
    pub fn new(
        size: Size,
        told: Told,
        task: &Task<'_>,
        view: &View<'_>,
        ground: Ground<'_, '_>,
        terms: &mut Terms,
    ) -> Result<Bits, Reason> {
        let (targets, vertices) = targets(task, view);
        let live = ground.live(terms, &vertices, task.budget);
        task.budget.check().map_err(Reason::Stopped)?;
        let live = live.ok_or(Reason::NoBits("edges without a meaning"))?;
        let mut making = Making {
            size,
            task,
            ground,
            blaster: Blaster::new(),
            bits: Bits {
                system: System::default(),
                words: Vec::new(),
                at: Vec::new(),
                predicates: Vec::new(),
                points: BTreeMap::new(),
                targets: BTreeMap::new(),
                ends: Vec::new(),
                told: BTreeMap::new(),
            },
            words: BTreeMap::new(),
            told: BTreeMap::new(),
        };
        let origin = ground.semantics.origin(terms);
        let width = terms.width(origin);
        making.blaster.define(origin, number(ORIGIN, width));
        making.points(terms, &live, &targets)?;
        if told == Told::Facts {
            let facts = facts(&ground, terms, Arrays::Left, task.budget);
            let facts = facts.map_err(Reason::Stopped)?.at;
            let told = facts.iter().map(|(&at, facts)| (at, terms.and(facts)));
            making.bits.told = told.collect();
            for (at, facts) in about_live(terms, ground.constants, facts, &live) {
                making.told.insert(at, terms.and(&facts));
            }
        }
        let steps = ground.steps(terms);
        let steps = steps.ok_or(Reason::NoBits("edges without a meaning"))?;
        making.predicates(terms, &steps).map_err(no_circuit)?;
        for step in &steps {
            task.budget.check().map_err(Reason::Stopped)?;
            making.step(terms, step).map_err(no_circuit)?;
            if making.blaster.graph.len() > size.nodes {
                return Err(Reason::NoBits("a circuit that is too large"));
            }
        }
        let mut bits = making.bits;
        bits.system.graph = making.blaster.graph;
        Ok(bits)
    }

    /// The words of the state.
    pub fn words(&self) -> &[StateWord] {
        &self.words
    }

    /// The formula that excludes a cube at a point.
    pub fn excludes(&self, terms: &mut Terms, point: PointId, cube: &Cube) -> TermId {
        let all = self.holds(terms, point, cube);
        terms.not(all)
    }

    /// The formula of a cube at a point.
    pub fn holds(&self, terms: &mut Terms, point: PointId, cube: &Cube) -> TermId {
        let mut values: BTreeMap<usize, bool> = BTreeMap::new();
        for literal in cube {
            values.insert(literal.position(), literal.value());
        }
        let mut parts = Vec::new();
        let mut first = 0;
        for &word in &self.at[point.index()] {
            let word = &self.words[word.0 as usize];
            let width = word.bits.len();
            // Runs of bits that are known.
            let mut low = 0;
            while low < width {
                let known = |at: usize| values.get(&(first + at)).copied();
                let length = (low..width).take_while(|&at| known(at).is_some()).count();
                if length == 0 {
                    low += 1;
                    continue;
                }
                let mut value = BigUint::default();
                for at in 0..length {
                    value.set_bit(at as u64, known(low + at) == Some(true));
                }
                let value = terms.bv_value(value, length as u32);
                let part = match length == width {
                    true => word.term,
                    false => terms.extract(word.term, (low + length - 1) as u32, low as u32),
                };
                parts.push(terms.eq(part, value));
                low += length;
            }
            first += width;
        }
        for (index, &predicate) in self.predicates[point.index()].iter().enumerate() {
            match values.get(&(first + index)) {
                Some(true) => parts.push(predicate),
                Some(false) => parts.push(terms.not(predicate)),
                None => {}
            }
        }
        terms.and(&parts)
    }
}

/// Where the task's checks are violated, and what else must not be reached.
fn targets(task: &Task<'_>, view: &View<'_>) -> (BTreeMap<LocId, Target>, BTreeSet<VertexId>) {
    let mut targets = BTreeMap::new();
    let mut vertices = BTreeSet::new();
    for (check, at) in view.errors(task.checks) {
        for vertex in at {
            targets.extend(view.location(vertex).map(|at| (at, Target::Check(check))));
            vertices.insert(vertex);
        }
    }
    let unsupported = view.unsupported();
    for edge in &view.skeleton.edges {
        if let SkeletonEdgeKind::Unsupported(_) = edge.kind
            && let Some(&construct) = unsupported.get(&edge.to)
        {
            let at = view.location(edge.from);
            targets.extend(at.map(|at| (at, Target::Unsupported(construct))));
            vertices.insert(edge.from);
        }
    }
    (targets, vertices)
}

fn number(value: u64, width: u32) -> Word {
    let bit = |at: u32| Bit::constant(at < 64 && value >> at & 1 == 1);
    (0..width).map(bit).collect()
}

/// Where a value of a memory lies.
#[derive(Clone, Copy, Debug)]
enum Lies {
    /// So far from the origin.
    FromOrigin(u64),
    /// In an array that is reached by its name alone, at an offset.
    At(u64),
}

/// A system in the making.
struct Making<'a, 'g, 'p> {
    size: Size,
    task: &'a Task<'a>,
    ground: Ground<'g, 'p>,
    blaster: Blaster,
    bits: Bits,
    words: BTreeMap<StateVarId, Vec<WordId>>,
    /// What the program's text says of what matters at a cut point: no step begins otherwise.
    told: BTreeMap<LocId, TermId>,
}

impl Making<'_, '_, '_> {
    /// Makes the start, and a point for every location from which a target may be reached.
    fn points(
        &mut self,
        terms: &mut Terms,
        live: &BTreeMap<LocId, Live>,
        targets: &BTreeMap<LocId, Target>,
    ) -> Result<(), Reason> {
        self.bits.system.points.push(Point::default());
        self.bits.at.push(Vec::new());
        let nothing = Live::default();
        let locations: BTreeSet<LocId> = live.keys().chain(targets.keys()).copied().collect();
        for location in locations {
            let id = PointId(self.bits.system.points.len() as u32);
            self.bits.points.insert(location, id);
            if let Some(&target) = targets.get(&location) {
                self.bits.targets.insert(id, target);
            }
            let mut words = Vec::new();
            let is_violation = matches!(targets.get(&location), Some(Target::Check(_)));
            let live = live.get(&location).filter(|_| !is_violation);
            for &variable in &live.unwrap_or(&nothing).now {
                words.extend(self.words_of(terms, variable)?);
            }
            let all = words.iter();
            let state: Word = all
                .flat_map(|word| self.bits.words[word.0 as usize].bits.clone())
                .collect();
            if state.len() > self.size.bits {
                return Err(Reason::NoBits("more state than it takes"));
            }
            self.bits.system.points.push(Point {
                state,
                ..Point::default()
            });
            self.bits.at.push(words);
        }
        Ok(())
    }

    /// Finds what the steps compare, and at which points clauses may speak of it.
    fn predicates(&mut self, terms: &mut Terms, steps: &[Step]) -> Result<(), NoCircuit> {
        if self.size.predicates == 0 {
            let none = vec![Vec::new(); self.bits.system.points.len()];
            self.bits.predicates = none;
            return Ok(());
        }
        let words = |ids: &[WordId], bits: &Bits| -> BTreeSet<TermId> {
            let words = ids.iter().map(|word| &bits.words[word.0 as usize]);
            words
                .filter(|word| word.is_plain)
                .map(|word| word.term)
                .collect()
        };
        let all: Vec<WordId> = (0..self.bits.words.len() as u32).map(WordId).collect();
        let all = words(&all, &self.bits);
        let mut comparisons = Comparisons::new(&all);
        for step in steps {
            comparisons.add(terms, step.condition);
            for &word in &all {
                let after = self.ground.at_end(terms, step, word);
                comparisons.add_value(terms, word, after);
            }
        }
        comparisons.go_back(terms);
        let found: Vec<(TermId, BTreeSet<TermId>)> = comparisons
            .found
            .iter()
            .map(|&predicate| (predicate, terms.free_constants(&[predicate])))
            .collect();
        for index in 0..self.bits.system.points.len() {
            let here = words(&self.bits.at[index], &self.bits);
            let is_known = |of: &BTreeSet<TermId>| !of.is_empty() && of.is_subset(&here);
            let known = found.iter().filter(|(_, of)| is_known(of));
            let predicates: Vec<TermId> = known
                .map(|&(it, _)| it)
                .take(self.size.predicates)
                .collect();
            let derived: Result<Word, NoCircuit> = predicates
                .iter()
                .map(|&predicate| self.blaster.bit(terms, predicate))
                .collect();
            self.bits.system.points[index].derived = derived?;
            self.bits.predicates.push(predicates);
        }
        Ok(())
    }

    /// The words of a state variable.
    fn words_of(&mut self, terms: &mut Terms, id: StateVarId) -> Result<Vec<WordId>, Reason> {
        if let Some(known) = self.words.get(&id) {
            return Ok(known.clone());
        }
        let semantics = self.ground.semantics;
        let variable = semantics.layout.get(id);
        let constant = semantics.constant(terms, id);
        let types = &semantics.program.types;
        let is_address = match variable.kind {
            StateKind::Frontier | StateKind::Address => true,
            _ => variable
                .ty
                .is_some_and(|ty| matches!(types.get(ty), Type::Pointer(_))),
        };
        let mut words = Vec::new();
        match variable.kind {
            StateKind::Cell { .. } | StateKind::Frontier | StateKind::Identity => {
                let bits = self.blaster.word(terms, constant).map_err(no_circuit)?;
                let term = match is_address {
                    true => self.counted_from_origin(terms, constant),
                    false => constant,
                };
                words.push(StateWord {
                    term,
                    bits,
                    variable: id,
                    cell: None,
                    is_plain: !is_address,
                });
            }
            StateKind::Memory { unit } => {
                let origin = semantics.origin(terms);
                let width = terms.width(origin);
                let mut cells = Vec::new();
                for lies in self.places(id, unit)? {
                    let (address, number_of) = match lies {
                        Lies::FromOrigin(distance) => {
                            let offset = terms.bv(distance.into(), width);
                            (terms.bv_add(origin, offset), ORIGIN + distance)
                        }
                        Lies::At(offset) => (terms.bv(offset.into(), width), offset),
                    };
                    let word = terms.select(constant, address);
                    let term = match is_address {
                        true => self.counted_from_origin(terms, word),
                        false => word,
                    };
                    let size = terms.width(word) as usize;
                    let read = Read {
                        at: number(number_of, width),
                        value: self.blaster.graph.inputs(size),
                    };
                    words.push(StateWord {
                        term,
                        bits: read.value.clone(),
                        variable: id,
                        cell: Some(read.at.clone()),
                        is_plain: false,
                    });
                    cells.push(read);
                }
                self.blaster.define_array(constant, cells);
            }
            StateKind::Address
            | StateKind::Identities
            | StateKind::Extents
            | StateKind::Births { .. }
            | StateKind::References => {
                return Err(Reason::NoBits("objects that are told apart by number"));
            }
        }
        let first = self.bits.words.len() as u32;
        let ids: Vec<WordId> = (first..first + words.len() as u32).map(WordId).collect();
        self.bits.words.extend(words);
        self.words.insert(id, ids.clone());
        Ok(ids)
    }

    /// Where the values of a memory lie.
    fn places(&self, id: StateVarId, unit: u64) -> Result<Vec<Lies>, Reason> {
        let semantics = self.ground.semantics;
        let endless = || Reason::NoBits("memory that is allocated");
        let region = semantics.layout.region_of(id).ok_or_else(endless)?;
        let region = &semantics.points_to.regions().all()[region.0 as usize];
        let class = &semantics.points_to.classes()[region.class.0 as usize];
        if !class.allocations.is_empty() || class.external {
            return Err(endless());
        }
        let stride = semantics.layout.stride(unit).max(1);
        let mut all = Vec::new();
        for &variable in &class.variables {
            let at = match semantics.layout.distance(variable) {
                Some(distance) => Some(distance),
                // It is reached by its name alone, and has no address but the one in its own array.
                None if class.variables.len() == 1
                    && semantics.layout.activation_address(variable).is_none() =>
                {
                    None
                }
                None => return Err(endless()),
            };
            let size = semantics
                .program
                .types
                .size_of(semantics.program.variable(variable).ty);
            let (mut offset, end) = match region.repeated || class.collapsed {
                true => (0, size),
                false => (
                    region.start.max(0) as u64,
                    (region.end.max(0) as u64).min(size),
                ),
            };
            while offset + unit <= end {
                all.push(match at {
                    Some(distance) => Lies::FromOrigin(distance + offset),
                    None => Lies::At(offset),
                });
                if all.len() > self.size.cells {
                    return Err(Reason::NoBits("more memory than it takes"));
                }
                offset += stride;
            }
        }
        Ok(all)
    }

    /// An address as it is where the origin is the one of the system.
    fn counted_from_origin(&self, terms: &mut Terms, address: TermId) -> TermId {
        let origin = self.ground.semantics.origin(terms);
        let width = terms.width(origin);
        if terms.width(address) != width {
            return address;
        }
        let page = terms.bv(PAGE.into(), width);
        let number = terms.plain(hardbop_logic::Op::BvUlt, &[address, page]);
        let distance = terms.bv_sub(address, origin);
        let own = terms.bv(ORIGIN.into(), width);
        let moved = terms.bv_add(distance, own);
        terms.ite(number, address, moved)
    }

    /// Makes a step, if it leads from and to where it matters.
    fn step(&mut self, terms: &mut Terms, step: &Step) -> Result<(), NoCircuit> {
        let End::At(location) = step.to else {
            // To be in front of it is a target.
            return Ok(());
        };
        let Some(&to) = self.bits.points.get(&location) else {
            return Ok(());
        };
        let from = match step.from {
            None => System::START,
            Some(from) => match self.bits.points.get(&from) {
                Some(&from) => from,
                None => return Ok(()),
            },
        };
        let told = step.from.and_then(|from| self.told.get(&from));
        let told = told.copied().unwrap_or_else(|| terms.bool(true));
        let condition = terms.and(&[told, step.condition]);
        let condition = self.blaster.bit(terms, condition)?;
        if condition == Bit::FALSE {
            return Ok(());
        }
        let mut next = Vec::new();
        for word in self.bits.at[to.index()].clone() {
            let (variable, cell) = {
                let word = &self.bits.words[word.0 as usize];
                (word.variable, word.cell.clone())
            };
            let constant = self.ground.semantics.constant(terms, variable);
            let after = self.ground.at_end(terms, step, constant);
            next.extend(match cell {
                None => self.blaster.word(terms, after)?,
                Some(at) => {
                    self.blaster.prepare(terms, after)?;
                    self.blaster.read(terms, after, &at)?
                }
            });
            if self.task.budget.check().is_err() {
                return Ok(());
            }
        }
        let mut derived = Vec::new();
        for predicate in self.bits.predicates[to.index()].clone() {
            let mut map = BTreeMap::new();
            for constant in terms.free_constants(&[predicate]) {
                map.insert(constant, self.ground.at_end(terms, step, constant));
            }
            let after = terms.substitute(predicate, &map);
            derived.push(self.blaster.bit(terms, after)?);
            if self.task.budget.check().is_err() {
                return Ok(());
            }
        }
        self.bits.system.add(Transition {
            from,
            to,
            condition,
            next,
            derived,
        });
        self.bits.ends.push((step.from, location));
        Ok(())
    }
}
