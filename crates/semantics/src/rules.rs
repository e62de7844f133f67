//! Rules between points of a program or of a path: what leads where, a call with what its callee
//! gives back.

use crate::Unmodelled;
use crate::segment::Blocks;
use crate::skeleton::{Point, SkeletonEdgeKind, VertexId};
use crate::steps::{Ground, Step};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_logic::Terms;
use std::collections::{BTreeMap, BTreeSet};

/// A point between rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A cut point, however control comes to it.
    Location(LocId),
    /// A place on a path.
    Position(usize),
}

/// A rule: from which points, to which, and what happens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The program begins.
    Start {
        /// At the entry of its first function.
        to: Key,
    },
    /// A block.
    Block {
        /// Where it begins, ...
        from: Key,
        /// ... and ends.
        to: Key,
        /// The cut point where it begins, ...
        start: LocId,
        /// ... and ends.
        end: LocId,
    },
    /// A call enters a function.
    Enter {
        /// Where the call is made.
        from: Key,
        /// The entry of the function.
        to: Key,
        /// The call.
        call: EdgeId,
        /// The function.
        callee: FuncId,
    },
    /// A function returns.
    Leave {
        /// Where the call was made.
        from: Key,
        /// The entry of the function.
        entry: Key,
        /// Its exit.
        exit: Key,
        /// Where the caller goes on.
        to: Key,
        /// The call.
        call: EdgeId,
        /// The function.
        callee: FuncId,
    },
}

/// Rules with their points and goals.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Each once.
    pub rules: Vec<Rule>,
    /// The function and the cut point of every point.
    pub points: BTreeMap<Key, (FuncId, LocId)>,
    /// The points that are asked about.
    pub goals: Vec<Key>,
}

impl Rules {
    /// What can lead to a goal.
    pub fn leading_to_goals(&self) -> Rules {
        let mut leading: BTreeMap<Key, Vec<Key>> = BTreeMap::new();
        for rule in &self.rules {
            match *rule {
                Rule::Start { .. } => {}
                Rule::Block { from, to, .. } | Rule::Enter { from, to, .. } => {
                    leading.entry(to).or_default().push(from);
                }
                Rule::Leave {
                    from,
                    entry,
                    exit,
                    to,
                    ..
                } => leading.entry(to).or_default().extend([from, entry, exit]),
            }
        }
        let mut useful: BTreeSet<Key> = self.goals.iter().copied().collect();
        let mut work = self.goals.clone();
        while let Some(key) = work.pop() {
            for &before in leading.get(&key).into_iter().flatten() {
                if useful.insert(before) {
                    work.push(before);
                }
            }
        }
        let to = |rule: &&Rule| match **rule {
            Rule::Start { to }
            | Rule::Block { to, .. }
            | Rule::Enter { to, .. }
            | Rule::Leave { to, .. } => useful.contains(&to),
        };
        Rules {
            rules: self.rules.iter().filter(to).cloned().collect(),
            points: self
                .points
                .iter()
                .filter(|(key, _)| useful.contains(key))
                .map(|(&key, &point)| (key, point))
                .collect(),
            goals: self.goals.clone(),
        }
    }
}

/// Why it is not known what rules do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSteps {
    /// The budget ended.
    Stopped(Stopped),
    /// An edge has no meaning.
    Unmodelled(Unmodelled),
}

impl Ground<'_, '_> {
    /// All edges between cut points, as far as they can lead to a target.
    pub fn program_rules(&self, targets: &BTreeSet<VertexId>) -> Rules {
        let (program, skeleton) = (self.semantics.program, self.skeleton);
        let mut rules = Vec::new();
        let mut points = BTreeMap::new();
        let at = |point: Point| match point {
            Point::At(location) => Some(location),
            _ => None,
        };
        let function_of = |location: LocId| program.locations[location.index()].function;
        for vertex in &skeleton.vertices {
            if let Some(location) = at(vertex.point) {
                let key = Key::Location(location);
                points.insert(key, (function_of(location), location));
            }
        }
        for edge in &skeleton.edges {
            match edge.kind {
                SkeletonEdgeKind::Start | SkeletonEdgeKind::Unsupported(_) => {}
                SkeletonEdgeKind::Call(None, function) => rules.push(Rule::Start {
                    to: Key::Location(program.function(function).entry),
                }),
                SkeletonEdgeKind::Block(start, end) => rules.push(Rule::Block {
                    from: Key::Location(start),
                    to: Key::Location(end),
                    start,
                    end,
                }),
                SkeletonEdgeKind::Call(Some(call), callee) => rules.push(Rule::Enter {
                    from: Key::Location(program.edges[call.index()].from),
                    to: Key::Location(program.function(callee).entry),
                    call,
                    callee,
                }),
                SkeletonEdgeKind::Return(call, callee) => rules.push(Rule::Leave {
                    from: Key::Location(program.edges[call.index()].from),
                    entry: Key::Location(program.function(callee).entry),
                    exit: Key::Location(program.function(callee).exit),
                    to: Key::Location(program.edges[call.index()].to),
                    call,
                    callee,
                }),
            }
        }
        let goals = targets
            .iter()
            .filter_map(|&target| at(skeleton.vertex(target).point));
        Rules {
            rules,
            goals: goals.map(Key::Location).collect(),
            points,
        }
    }

    /// What every rule does. Those that are never taken go.
    pub fn rule_steps(
        &self,
        terms: &mut Terms,
        rules: &mut Rules,
        budget: &Budget,
    ) -> Result<Vec<Step>, NoSteps> {
        let mut blocks = Blocks::new();
        let mut effects = Vec::with_capacity(rules.rules.len());
        for rule in std::mem::take(&mut rules.rules) {
            if let Err(stopped) = budget.check() {
                return Err(NoSteps::Stopped(stopped));
            }
            let kind = match rule {
                Rule::Start { .. } => SkeletonEdgeKind::Start,
                Rule::Block { start, end, .. } => SkeletonEdgeKind::Block(start, end),
                Rule::Enter { call, callee, .. } => SkeletonEdgeKind::Call(Some(call), callee),
                Rule::Leave { call, callee, .. } => SkeletonEdgeKind::Return(call, callee),
            };
            let step = self.step(terms, &mut blocks, kind);
            if let Some(step) = step.map_err(NoSteps::Unmodelled)? {
                rules.rules.push(rule);
                effects.push(step);
            }
        }
        Ok(effects)
    }
}
