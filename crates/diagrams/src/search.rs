//! Following all states, point by point, until nothing new is reached.

use crate::order::Order;
use crate::relations::{Maker, Relation};
use crate::said;
use hardbop_bebop::bdd::{Bdd, Manager};
use hardbop_budget::{Budget, Stopped};
use hardbop_engine::Figure;
use hardbop_logic::{TermId, Terms};
use hardbop_pdr::constants::Constants;
use hardbop_pdr::program::Bits;
use hardbop_pdr::rounds::{Reach, Reaching};
use hardbop_pdr::search::Halt;
use hardbop_pdr::system::{PointId, StepId, System};
use std::collections::BTreeSet;

/// How large diagrams may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most nodes that are in use at once.
    pub nodes: usize,
    /// The most nodes that are made in all.
    pub work: usize,
}

/// After so many steps, somebody is told.
const TELL: u64 = 2_000;

/// Some states at a point, in the order in which they were followed.
#[derive(Clone, Copy, Debug)]
struct Followed {
    point: PointId,
    states: Bdd,
}

/// A search.
pub struct Search<'a> {
    fixed: &'a Constants,
    order: Order,
    limits: Limits,
    manager: Manager,
    relations: Vec<Relation>,
    /// By point: the relations that leave it, and those that come to it.
    leaving: Vec<Vec<usize>>,
    coming: Vec<Vec<usize>>,
    /// By point: its turn among those that wait. Points of a loop come before what follows it.
    turns: Vec<u32>,
    /// By point: all states that were reached, and those of them that were not followed yet.
    reached: Vec<Bdd>,
    waiting: Vec<Bdd>,
    queue: BTreeSet<(u32, PointId)>,
    followed: Vec<Followed>,
    images: u64,
    /// How many bits of steps may be anything.
    left: u64,
    /// The nodes that were made in all.
    work: usize,
}

impl<'a> Search<'a> {
    /// A search from the start of a system, whose bits vary as the order says.
    pub fn new(
        system: &System,
        fixed: &'a Constants,
        order: Order,
        limits: Limits,
        budget: &Budget,
    ) -> Result<Search<'a>, Stopped> {
        let mut manager = Manager::new(2 * order.len() as u32, budget.clone());
        let maker = Maker::new(system, fixed, &order, &mut manager);
        let made = maker.all(limits.work)?;
        let relations = made.relations;
        let points = system.points.len();
        let mut leaving = vec![Vec::new(); points];
        let mut coming = vec![Vec::new(); points];
        for (index, relation) in relations.iter().enumerate() {
            leaving[relation.from.index()].push(index);
            coming[relation.to.index()].push(index);
        }
        let mut waiting = vec![Bdd::FALSE; points];
        let start = System::START;
        waiting[start.index()] = Bdd::TRUE;
        let turns = turns(&relations, points);
        Ok(Search {
            fixed,
            order,
            limits,
            manager,
            relations,
            leaving,
            coming,
            queue: BTreeSet::from([(turns[start.index()], start)]),
            turns,
            reached: waiting.clone(),
            waiting,
            followed: Vec::new(),
            images: 0,
            left: made.left,
            work: made.work,
        })
    }

    /// Whether a state was reached at a point: its bits that vary, by their places.
    pub fn is_reached(&self, point: PointId, holds: impl Fn(crate::order::Place) -> bool) -> bool {
        let set = self.reached[point.index()];
        let at = |var| holds(crate::relations::place(var));
        self.manager.evaluate(set, at)
    }

    /// The places of the bits that vary.
    pub fn order(&self) -> &Order {
        &self.order
    }

    fn follow(&mut self, relation: usize, states: Bdd) -> Result<(), Halt> {
        let relation = self.relations[relation];
        let before = self.manager.nodes();
        let to = relation.to.index();
        let after = relation.after(&mut self.manager, states)?;
        let new = self.manager.difference(after, self.reached[to])?;
        self.images += 1;
        if !new.is_false() {
            self.reached[to] = self.manager.or(self.reached[to], new)?;
            self.waiting[to] = self.manager.or(self.waiting[to], new)?;
            self.queue.insert((self.turns[to], relation.to));
        }
        self.work += self.manager.nodes() - before;
        match self.work > self.limits.work {
            true => Err(Halt::Work),
            false => Ok(()),
        }
    }

    /// Frees what is not needed.
    fn tidy(&mut self) -> Result<(), Halt> {
        if !self.manager.wants_collection() {
            return Ok(());
        }
        let roots: Vec<Bdd> = self.roots().collect();
        self.manager.collect(roots);
        match self.manager.nodes() > self.limits.nodes {
            true => Err(Halt::Work),
            false => Ok(()),
        }
    }

    fn roots(&self) -> impl Iterator<Item = Bdd> + '_ {
        let relations = self.relations.iter().map(|it| it.diagram);
        let sets = self.reached.iter().chain(&self.waiting).copied();
        let followed = self.followed.iter().map(|it| it.states);
        relations.chain(sets).chain(followed)
    }

    /// The steps from the start to the states that were followed last.
    fn way(&mut self) -> Result<Vec<StepId>, Halt> {
        let mut steps = Vec::new();
        let mut at = self.followed.len() - 1;
        let mut states = self.followed[at].states;
        while self.followed[at].point != System::START {
            let point = self.followed[at].point;
            // The first of all that lead here: ways become short.
            let Some((before, step, from)) = self.before(point, states, at)? else {
                return Err(Halt::Work);
            };
            steps.push(step);
            (at, states) = (before, from);
        }
        steps.reverse();
        Ok(steps)
    }

    /// Which states led to some of these, followed earlier, by which step.
    fn before(
        &mut self,
        point: PointId,
        states: Bdd,
        until: usize,
    ) -> Result<Option<(usize, StepId, Bdd)>, Halt> {
        let mut ways = Vec::new();
        for index in self.coming[point.index()].clone() {
            let relation = self.relations[index];
            let before = relation.before(&mut self.manager, states)?;
            ways.push((relation.from, relation.step, before));
        }
        for at in 0..until {
            let Followed { point, states } = self.followed[at];
            for &(from, step, before) in &ways {
                if from == point && self.manager.intersects(states, before)? {
                    return Ok(Some((at, step, self.manager.and(states, before)?)));
                }
            }
        }
        Ok(None)
    }
}

/// The turns of points: those of a loop before what follows it.
fn turns(relations: &[Relation], points: usize) -> Vec<u32> {
    let mut successors = vec![Vec::new(); points];
    for relation in relations {
        successors[relation.from.index()].push(relation.to.index());
    }
    let order = hardbop_graph::depth_first(&successors, [System::START.index()]);
    let mut turns = vec![u32::MAX; points];
    for (turn, point) in order.postorder.iter().rev().enumerate() {
        turns[*point] = turn as u32;
    }
    turns
}

impl Reaching for Search<'_> {
    const DOING: &'static str = "following sets of states";

    fn run(
        &mut self,
        targets: &[PointId],
        told: &mut dyn FnMut(Vec<Figure>),
    ) -> Result<Reach, Halt> {
        if self.work > self.limits.work {
            return Err(Halt::Work);
        }
        let mut tell_at = self.images;
        while let Some((_, point)) = self.queue.pop_first() {
            let states = std::mem::replace(&mut self.waiting[point.index()], Bdd::FALSE);
            self.followed.push(Followed { point, states });
            if targets.contains(&point) {
                let way = self.way()?;
                // What follows is looked at when this target is none any more.
                self.followed.pop();
                self.waiting[point.index()] = states;
                self.queue.insert((self.turns[point.index()], point));
                return Ok(Reach::Found(point, way));
            }
            for relation in self.leaving[point.index()].clone() {
                self.follow(relation, states)?;
            }
            self.tidy()?;
            self.manager.check()?;
            if self.images >= tell_at {
                tell_at = self.images + TELL;
                told(self.figures());
            }
        }
        Ok(Reach::Never)
    }

    fn figures(&self) -> Vec<Figure> {
        vec![
            Figure::count("varying bits", self.order.len() as u64),
            Figure::count("bits left open", self.left),
            Figure::count("steps", self.images),
            Figure::count("diagram nodes", self.manager.nodes() as u64),
        ]
    }

    fn invariant(&mut self, bits: &Bits, terms: &mut Terms, point: PointId) -> Option<TermId> {
        let set = self.reached[point.index()];
        if set.is_false() {
            return None;
        }
        let known = bits.holds(terms, point, &self.fixed.cube(point));
        let said = said::formula(&self.manager, &self.order, bits, terms, set);
        Some(terms.and(&[known, said]))
    }
}
