//! Property-directed reachability over points of control (Bradley 2011; Eén, Mishchenko and
//! Brayton 2011; with an explicit program counter after Lange, Neuhäußer and Noll 2015).
//!
//! For every point and every level there is a set of clauses that hold in all states which are
//! reached there over that many steps or fewer. A state from which a target is reached is shown
//! not to be reached itself, one level lower, by a clause that excludes as many others with it as
//! can be; or the states before it are looked at. When two levels are the same, the clauses are
//! an invariant.

pub use crate::asked::Halt;
use crate::asked::{Answer, Asked, Subject, Wanted};
use crate::constants::{Constants, Values};
use crate::justify::Costs;
use crate::program::Bits;
use crate::rounds::{Reach, Reaching};
use crate::system::{Cube, Literal, PointId, StepId, System};
use hardbop_budget::Budget;
use hardbop_circuit::NodeId;
use hardbop_engine::Figure;
use hardbop_logic::{TermId, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// After so many cubes, somebody is told.
const TELL: u32 = 1_000;

/// So many states that stand in the way of leaving out one literal are excluded.
const STATES: u32 = 3;

/// What a search may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The most that the solvers may do in all.
    pub work: u64,
    /// The most decisions for one question.
    pub decisions: u32,
}

impl Allowed {
    /// As much as the budget allows.
    pub const ANYTHING: Allowed = Allowed {
        work: u64::MAX,
        decisions: u32::MAX,
    };
}

/// Whether a clause is learned for its own sake, or to make another one smaller.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outer,
    Inner,
}

/// What is known at a point.
struct Place {
    /// The excluded cubes whose highest level is this.
    lemmas: Vec<Vec<Cube>>,
    /// Where the bits of the state are.
    positions: FxHashMap<NodeId, usize>,
    /// How often each bit was in a clause that was learned.
    used: Vec<u32>,
    /// Which of the derived bits have one value only, by the constants.
    always: Vec<bool>,
}

/// A cube that leads to a target.
struct Obligation {
    point: PointId,
    cube: Cube,
    /// What is reached from it, and how.
    after: Option<(ObligationId, StepId)>,
    depth: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ObligationId(u32);

/// What a search has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// The levels.
    pub levels: u32,
    /// The questions.
    pub questions: u64,
    /// The clauses that were learned, ...
    pub clauses: u64,
    /// ... and how many literals they have in all.
    pub literals: u64,
    /// The cubes that lead to targets.
    pub cubes: u64,
    /// How many literals those have in all.
    pub cube_literals: u64,
    /// How many solvers began anew.
    pub renewed: u64,
    /// What the solvers did, in a number that is the same on every machine.
    pub work: u64,
}

impl Effort {
    fn figures(self) -> Vec<Figure> {
        vec![
            Figure::count("levels", self.levels.into()),
            Figure::count("clauses", self.clauses),
            Figure::count("literals", self.literals),
            Figure::count("cubes", self.cubes),
            Figure::count("cube literals", self.cube_literals),
            Figure::count("solvers made anew", self.renewed),
            Figure::count("propagations", self.work),
            Figure::count("questions", self.questions),
        ]
    }
}

/// A search.
pub struct Search<'a> {
    system: &'a System,
    budget: &'a Budget,
    constants: &'a Constants,
    allowed: Allowed,
    costs: Costs,
    values: Values<'a>,
    places: Vec<Place>,
    /// By step.
    asked: Vec<Asked>,
    /// The steps that leave each point.
    leaving: Vec<Vec<StepId>>,
    obligations: Vec<Obligation>,
    level: usize,
    effort: Effort,
    /// When two levels are the same: the cubes that are excluded at each point.
    excluded: Vec<Vec<Cube>>,
}

impl<'a> Search<'a> {
    /// A search that knows nothing but some bits that have one value only.
    pub fn new(
        system: &'a System,
        constants: &'a Constants,
        allowed: Allowed,
        budget: &'a Budget,
    ) -> Search<'a> {
        let places = system.points.iter().map(|point| {
            let positions = point.state.iter().enumerate();
            Place {
                lemmas: Vec::new(),
                positions: positions.map(|(at, bit)| (bit.node(), at)).collect(),
                used: vec![0; point.state.len() + point.derived.len()],
                always: vec![false; point.derived.len()],
            }
        });
        let mut leaving = vec![Vec::new(); system.points.len()];
        for (index, step) in system.steps.iter().enumerate() {
            leaving[step.from.index()].push(StepId(index as u32));
        }
        let mut search = Search {
            system,
            budget,
            constants,
            allowed,
            costs: Costs::new(system, constants),
            values: Values::new(&system.graph),
            places: places.collect(),
            asked: Vec::with_capacity(system.steps.len()),
            leaving,
            obligations: Vec::new(),
            level: 0,
            effort: Effort::default(),
            excluded: Vec::new(),
        };
        for index in 0..system.steps.len() as u32 {
            let asked = Asked::new(search.subject(), StepId(index), 0);
            search.asked.push(asked);
        }
        for index in 0..system.points.len() as u32 {
            let always = search.with_derived(PointId(index), Cube::new());
            let first = system.point(PointId(index)).state.len();
            for literal in always {
                search.places[index as usize].always[literal.position() - first] = true;
            }
        }
        search.open_level();
        search.open_level();
        search.level = 1;
        search
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            system: self.system,
            constants: self.constants,
            costs: &self.costs,
            budget: self.budget,
            decisions: self.allowed.decisions,
        }
    }

    /// What it cost so far.
    pub fn effort(&self) -> Effort {
        Effort {
            levels: self.level as u32,
            ..self.effort
        }
    }

    fn open_level(&mut self) {
        for place in &mut self.places {
            place.lemmas.push(Vec::new());
        }
        for asked in &mut self.asked {
            asked.open_level();
        }
    }

    /// After a search that found no way: the cubes that are excluded at each point.
    pub fn excluded(&self) -> &[Vec<Cube>] {
        &self.excluded
    }

    /// The cubes that are excluded above a level.
    fn excluded_above(&self, level: usize) -> Vec<Vec<Cube>> {
        let places = self.places.iter().enumerate();
        places
            .map(|(index, place)| {
                if !self.constants.is_reached(PointId(index as u32)) {
                    return vec![Cube::new()];
                }
                let mut cubes: Vec<Cube> = place.lemmas[level + 1..].concat();
                cubes.sort();
                cubes.dedup();
                cubes
            })
            .collect()
    }

    /// Excludes a target at the highest level, or gives the steps that lead there.
    fn block(
        &mut self,
        target: PointId,
        told: &mut dyn FnMut(Vec<Figure>),
    ) -> Result<Option<Vec<StepId>>, Halt> {
        self.obligations.clear();
        let mut queue: BinaryHeap<Reverse<(usize, u32, ObligationId)>> = BinaryHeap::new();
        let root = self.oblige(Obligation {
            point: target,
            cube: Cube::new(),
            after: None,
            depth: 0,
        });
        queue.push(Reverse((self.level, u32::MAX, root)));
        let mut looked = 0u32;
        while let Some(Reverse((level, depth, id))) = queue.pop() {
            self.budget.check()?;
            looked += 1;
            if looked.is_multiple_of(TELL) {
                told(self.effort().figures());
            }
            let (point, cube) = {
                let obligation = &self.obligations[id.0 as usize];
                (obligation.point, obligation.cube.clone())
            };
            if let Some(known) = self.excluded_at(point, &cube, level) {
                if known < self.level {
                    queue.push(Reverse((known + 1, depth, id)));
                }
                continue;
            }
            match self.step_into(point, &cube, level, Wanted::StatesByBits)? {
                Ok(core) => {
                    let core = self.generalise(point, core, level, Depth::Outer)?;
                    let level = self.highest(point, &core, level)?;
                    self.learn(point, core, level);
                    if level < self.level {
                        queue.push(Reverse((level + 1, depth, id)));
                    }
                }
                Err((step, before)) => {
                    let from = self.system.step(step).from;
                    if from == System::START {
                        return Ok(Some(self.way(id, step)));
                    }
                    let depth = self.obligations[id.0 as usize].depth + 1;
                    let cube = self.with_derived(from, before);
                    let new = self.oblige(Obligation {
                        point: from,
                        cube,
                        after: Some((id, step)),
                        depth,
                    });
                    queue.push(Reverse((level - 1, u32::MAX - depth, new)));
                    queue.push(Reverse((level, u32::MAX - (depth - 1), id)));
                }
            }
        }
        Ok(None)
    }

    fn oblige(&mut self, obligation: Obligation) -> ObligationId {
        self.effort.cubes += 1;
        self.effort.cube_literals += obligation.cube.len() as u64;
        let id = ObligationId(self.obligations.len() as u32);
        self.obligations.push(obligation);
        id
    }

    /// The steps from the start over an obligation to the target.
    fn way(&self, id: ObligationId, first: StepId) -> Vec<StepId> {
        let mut steps = vec![first];
        let mut at = id;
        while let Some((next, step)) = self.obligations[at.0 as usize].after {
            steps.push(step);
            at = next;
        }
        steps
    }

    /// The highest level at which a clause is known to exclude a cube, if that is `level` or more.
    fn excluded_at(&self, point: PointId, cube: &Cube, level: usize) -> Option<usize> {
        let lemmas = &self.places[point.index()].lemmas;
        let levels = (level..lemmas.len()).rev();
        levels
            .into_iter()
            .find(|&level| lemmas[level].iter().any(|lemma| is_part(lemma, cube)))
    }

    /// Whether no step leads into a cube at a level, from the level below: the literals that are
    /// enough for that, or a step and the states that it leads there from.
    fn step_into(
        &mut self,
        point: PointId,
        cube: &Cube,
        level: usize,
        wanted: Wanted,
    ) -> Result<Result<Cube, (StepId, Cube)>, Halt> {
        let mut needed: FxHashSet<Literal> = FxHashSet::default();
        let system = self.system;
        for &step in &system.point(point).into {
            let from = system.step(step).from;
            if level == 1 && from != System::START || !self.constants.is_reached(from) {
                continue;
            }
            match self.over(step, cube, level - 1, wanted)? {
                Answer::Excluded(core) => needed.extend(core),
                Answer::From(before) => return Ok(Err((step, before))),
            }
        }
        let mut core: Cube = needed.into_iter().collect();
        core.sort_unstable();
        Ok(Ok(core))
    }

    /// Whether a step leads from a level into a cube.
    fn over(
        &mut self,
        id: StepId,
        cube: &Cube,
        level: usize,
        wanted: Wanted,
    ) -> Result<Answer, Halt> {
        self.effort.questions += 1;
        if self.asked[id.index()].is_worn() {
            self.renew(id);
        }
        let subject = Subject {
            system: self.system,
            constants: self.constants,
            costs: &self.costs,
            budget: self.budget,
            decisions: self.allowed.decisions,
        };
        let from = self.system.step(id).from;
        let positions = &self.places[from.index()].positions;
        let asked = &mut self.asked[id.index()];
        let before = asked.work();
        let answer = asked.over(subject, cube, level, wanted, positions)?;
        self.effort.work += asked.work() - before;
        if self.effort.work > self.allowed.work {
            return Err(Halt::Work);
        }
        Ok(answer)
    }

    /// Adds to a cube what follows from it, and not from constants alone.
    fn with_derived(&mut self, point: PointId, mut cube: Cube) -> Cube {
        let system = self.system;
        let here = system.point(point);
        if here.derived.is_empty() {
            return cube;
        }
        self.values.forget();
        for literal in self.constants.cube(point) {
            let bit = here.bit(literal.position());
            self.values
                .set(bit.node(), Some(literal.value() != bit.is_negated()));
        }
        for literal in &cube {
            let bit = here.bit(literal.position());
            self.values
                .set(bit.node(), Some(literal.value() != bit.is_negated()));
        }
        let first = here.state.len();
        for (index, &bit) in here.derived.iter().enumerate() {
            let always = self.places[point.index()].always[index];
            if let Some(value) = self.values.of(bit)
                && !always
            {
                cube.push(Literal::new(first + index, value));
            }
        }
        cube
    }

    /// Gives a step a new solver that knows what is known.
    fn renew(&mut self, id: StepId) {
        let mut asked = Asked::new(self.subject(), id, self.asked[id.index()].levels());
        let from = self.system.step(id).from;
        for (level, lemmas) in self.places[from.index()].lemmas.iter().enumerate() {
            for lemma in lemmas {
                asked.learn(self.subject(), lemma, level);
            }
        }
        self.asked[id.index()] = asked;
        self.effort.renewed += 1;
    }

    /// Leaves out of an excluded cube what can be left out.
    fn generalise(
        &mut self,
        point: PointId,
        mut cube: Cube,
        level: usize,
        depth: Depth,
    ) -> Result<Cube, Halt> {
        // What clauses seldom need goes first.
        let used = &self.places[point.index()].used;
        let mut order = cube.clone();
        order.sort_by_key(|literal| (used[literal.position()], *literal));
        for literal in order {
            if !cube.contains(&literal) {
                continue;
            }
            let mut fewer = cube.clone();
            fewer.retain(|other| *other != literal);
            if let Some(smaller) = self.without_states(point, &fewer, level, depth)? {
                cube = smaller;
            }
        }
        Ok(cube)
    }

    /// Whether a cube is excluded at a level, or can be after a few states that lead there are
    /// excluded: counterexamples to generalisation (Hassan, Bradley and Somenzi 2013).
    fn without_states(
        &mut self,
        point: PointId,
        cube: &Cube,
        level: usize,
        depth: Depth,
    ) -> Result<Option<Cube>, Halt> {
        let wanted = match depth {
            Depth::Outer => Wanted::States,
            Depth::Inner => Wanted::Whether,
        };
        let mut excluded = 0;
        loop {
            let (step, before) = match self.step_into(point, cube, level, wanted)? {
                Ok(core) => return Ok(Some(core)),
                Err(found) => found,
            };
            let from = self.system.step(step).from;
            let is_hopeless = from == System::START || level < 2 || excluded == STATES;
            if depth == Depth::Inner || is_hopeless {
                return Ok(None);
            }
            let lower = level - 1;
            let before = self.with_derived(from, before);
            let Ok(core) = self.step_into(from, &before, lower, Wanted::Whether)? else {
                return Ok(None);
            };
            excluded += 1;
            let core = self.generalise(from, core, lower, Depth::Inner)?;
            let lower = self.highest(from, &core, lower)?;
            self.learn(from, core, lower);
        }
    }

    /// The highest level at which no step leads into a cube that is excluded at `level`.
    fn highest(&mut self, point: PointId, cube: &Cube, mut level: usize) -> Result<usize, Halt> {
        while level < self.level {
            match self.step_into(point, cube, level + 1, Wanted::Whether)? {
                Ok(_) => level += 1,
                Err(_) => break,
            }
        }
        Ok(level)
    }

    /// Excludes a cube at all levels up to one.
    fn learn(&mut self, point: PointId, cube: Cube, level: usize) {
        self.effort.clauses += 1;
        self.effort.literals += cube.len() as u64;
        let place = &mut self.places[point.index()];
        for literal in &cube {
            place.used[literal.position()] += 1;
        }
        // What is no longer needed.
        for lemmas in &mut place.lemmas[..=level] {
            lemmas.retain(|lemma| !is_part(&cube, lemma));
        }
        let subject = Subject {
            system: self.system,
            constants: self.constants,
            costs: &self.costs,
            budget: self.budget,
            decisions: self.allowed.decisions,
        };
        for step in &self.leaving[point.index()] {
            self.asked[step.index()].learn(subject, &cube, level);
        }
        self.places[point.index()].lemmas[level].push(cube);
    }

    /// Lifts clauses to the next level where they hold there, too. Gives a level that is the same
    /// as the next one, if there is one.
    fn propagate(&mut self) -> Result<Option<usize>, Halt> {
        for level in 1..self.level {
            for point in 0..self.places.len() {
                let id = PointId(point as u32);
                let lemmas = self.places[point].lemmas[level].clone();
                for lemma in lemmas {
                    if !self.places[point].lemmas[level].contains(&lemma) {
                        continue;
                    }
                    if let Ok(core) = self.step_into(id, &lemma, level + 1, Wanted::Whether)? {
                        self.learn(id, core, level + 1);
                    }
                }
            }
            if self
                .places
                .iter()
                .all(|place| place.lemmas[level].is_empty())
            {
                return Ok(Some(level));
            }
        }
        Ok(None)
    }
}

/// Whether all literals of one cube are in another one.
fn is_part(part: &Cube, whole: &Cube) -> bool {
    if part.len() > whole.len() {
        return false;
    }
    let mut whole = whole.iter();
    part.iter()
        .all(|literal| whole.any(|other| other == literal))
}

impl Reaching for Search<'_> {
    const DOING: &'static str = "learning clauses";

    fn run(
        &mut self,
        targets: &[PointId],
        told: &mut dyn FnMut(Vec<Figure>),
    ) -> Result<Reach, Halt> {
        loop {
            for &target in targets {
                if let Some(steps) = self.block(target, told)? {
                    return Ok(Reach::Found(target, steps));
                }
            }
            told(self.effort().figures());
            self.open_level();
            self.level += 1;
            if let Some(level) = self.propagate()? {
                self.excluded = self.excluded_above(level);
                return Ok(Reach::Never);
            }
        }
    }

    fn figures(&self) -> Vec<Figure> {
        self.effort().figures()
    }

    fn invariant(&mut self, bits: &Bits, terms: &mut Terms, point: PointId) -> Option<TermId> {
        let cubes = &self.excluded[point.index()];
        if cubes.iter().any(Vec::is_empty) {
            return None;
        }
        let mut clauses = vec![bits.holds(terms, point, &self.constants.cube(point))];
        for cube in cubes {
            clauses.push(bits.excludes(terms, point, cube));
        }
        Some(terms.and(&clauses))
    }
}
