//! One run of the program under an oracle (Algorithm 2).
//!
//! Inputs are symbols. Wherever the path so far decides a branch, the run follows it; where it
//! leaves several sides open, the oracle chooses. Sides from which no error can be reached are
//! never taken: a run that would take one is over.

use crate::check::Part;
use crate::nodes::Nodes;
use crate::oracle::Oracles;
use crate::structure::{Return, Structure, is_direct};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{CheckId, EdgeId, FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op};
use hardbop_engine::claim::Decision;
use hardbop_logic::{Answer, Session, TermId, Terms, Unknown};
use hardbop_model::points::PointId;
use hardbop_model::points::{ContextId, Side, sides};
use hardbop_semantics::replay::Choice;
use hardbop_semantics::{Execution, Semantics};
use rustc_hash::FxHashSet;

/// What happens at a position of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// An edge, the only one.
    Edge(EdgeId),
    /// A call of a function by its name.
    Enter(EdgeId, FuncId),
    /// The return from a function.
    Leave,
    /// A branch.
    Branch(Branch),
    /// The path ends here.
    End(End),
}

/// A branch on a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    /// The ways to leave the location.
    pub sides: Vec<Side>,
    /// Those from which an error may be reached.
    pub live: Vec<u32>,
    /// Those among them that the path so far rules out.
    pub ruled_out: Vec<RuledOut>,
    /// The side that was taken; none if all live ones are ruled out.
    pub taken: Option<u32>,
    /// Whether computing alone shows that the side that was taken can be.
    pub certain: Constant,
}

impl Branch {
    /// How many live sides the path leaves open.
    pub(crate) fn open(&self) -> usize {
        self.live.len() - self.ruled_out.len()
    }
}

/// A side that the path so far rules out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuledOut {
    pub side: u32,
    /// The steps whose requirements rule it out, with what was computed; none if computing alone
    /// does. Step 0 is before the first position, 1 the first position, and so on.
    pub by: Vec<usize>,
}

/// Whether computing alone shows something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constant {
    Yes,
    No,
}

/// Why a path ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// No error can be reached from here.
    Dead,
    /// The bound on iterations or activations.
    Cut,
    /// What these steps require contradicts itself: no run comes here.
    Infeasible(Vec<usize>),
}

/// A position of a path: control is at a location and does something.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    pub location: LocId,
    /// The call that control is in, counted along the path.
    pub frame: u32,
    /// Whether an error may follow once that call has returned.
    pub returns: Return,
    pub node: PointId,
    pub act: Act,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Without an error.
    Safely,
    /// At the location of a check, with the values of what the program does not determine.
    Error(CheckId, Vec<Choice>),
    /// The solver could not tell whether a run reaches this check.
    Undecided(CheckId, Unknown),
    /// At a construct that is not supported.
    Unsupported(EdgeId),
    /// At a node where every side that can be taken was explored before.
    Explored,
    /// It took more questions than it was given.
    Abandoned,
    /// A limit was reached.
    Stopped(Stopped),
}

/// A run.
pub(crate) struct Run {
    pub path: Vec<Position>,
    /// What the oracle was asked and said, and what was decided at nodes that have a choice
    /// variable, with the positions.
    pub decisions: Vec<(usize, Decision)>,
    pub ended: Ended,
}

/// Which of several open sides comes first.
pub(crate) trait Prefer {
    /// Puts the sides into the order in which they are tried.
    fn order(&mut self, sides: &mut [(u32, u32)]);
}

/// What a run works with.
pub(crate) struct Runner<'a, 'p> {
    pub semantics: &'a Semantics<'p>,
    pub structure: &'a mut Structure<'p>,
    pub nodes: &'a mut Nodes,
    pub oracles: &'a mut Oracles,
    pub terms: &'a mut Terms,
    /// A session in which the axioms are asserted.
    pub session: &'a mut Session<'static>,
    pub prefer: &'a mut dyn Prefer,
    pub budget: &'a Budget,
    pub depth: u32,
    /// The most positions of a path.
    pub length: usize,
    /// The part of the paths that is run.
    pub part: Option<Part>,
    /// The most questions of this run.
    pub questions: Option<u64>,
}

/// A call on the path.
struct Frame {
    number: u32,
    context: ContextId,
    returns: Return,
    back: LocId,
}

struct Walk<'s, 'p> {
    run: Execution<'s, 'p>,
    /// What the path requires, without what is trivially true.
    constraints: Vec<TermId>,
    /// The step that each of them comes from.
    steps: Vec<usize>,
    /// The symbols that occur in it.
    constrained: FxHashSet<TermId>,
    path: Vec<Position>,
    decisions: Vec<(usize, Decision)>,
    /// The decisions alone.
    made: Vec<Decision>,
    /// How many branches with several open sides came so far.
    forks: u32,
    /// The step that is being done.
    step: usize,
    /// The symbols that were made up so far, with the edge that met them.
    met: Vec<Option<EdgeId>>,
}

impl Walk<'_, '_> {
    fn require(&mut self, terms: &Terms, term: TermId) {
        if *terms.op(term) != hardbop_logic::Op::Bool(true) {
            self.constrained.extend(terms.free_constants(&[term]));
            self.constraints.push(term);
            self.steps.push(self.step);
        }
    }

    /// The steps that some of the constraints come from.
    fn steps_of(&self, core: &[TermId]) -> Vec<usize> {
        let core: FxHashSet<TermId> = core.iter().copied().collect();
        let pairs = self.constraints.iter().zip(&self.steps);
        let mut steps: Vec<usize> = pairs
            .filter(|(term, _)| core.contains(term))
            .map(|(_, &step)| step)
            .collect();
        steps.dedup();
        steps
    }

    fn take_facts(&mut self, terms: &Terms) {
        for fact in std::mem::take(&mut self.run.facts) {
            self.require(terms, fact);
        }
    }

    fn is_contradictory(&self, terms: &Terms) -> bool {
        self.constraints
            .last()
            .is_some_and(|&term| *terms.op(term) == hardbop_logic::Op::Bool(false))
    }
}

/// Whether a side can be taken.
enum Open {
    Yes,
    /// Not, because of what these steps require.
    No(Vec<usize>),
}

impl<'p> Runner<'_, 'p> {
    /// Runs the program once.
    pub(crate) fn run(mut self) -> Run {
        let program = self.semantics.program;
        let mut walk = Walk {
            run: Execution::new(self.semantics),
            constraints: Vec::new(),
            steps: Vec::new(),
            step: 0,
            constrained: FxHashSet::default(),
            path: Vec::new(),
            decisions: Vec::new(),
            made: Vec::new(),
            forks: 0,
            met: Vec::new(),
        };
        walk.run.start(self.terms);
        walk.take_facts(self.terms);
        walk.met.resize(walk.run.fresh.len(), None);
        let entry = program.function(program.entry).entry;
        let mut frames = vec![Frame {
            number: 0,
            context: self.nodes.start(),
            returns: Return::Dead,
            back: entry,
        }];
        let mut next_frame = 1;
        let mut at = entry;
        let asked = self.session.statistics().queries;
        let ended = loop {
            if walk.path.len() % 256 == 255
                && let Err(stopped) = self.budget.check()
            {
                break Ended::Stopped(stopped);
            }
            let asked = self.session.statistics().queries - asked;
            if self.questions.is_some_and(|most| asked > most) {
                break Ended::Abandoned;
            }
            let Some(frame) = frames.last_mut() else {
                break Ended::Safely;
            };
            walk.step = walk.path.len() + 1;
            let function = program.locations[at.index()].function;
            let graph = self.structure.graph(function);
            let (context, arrivals) = self.nodes.arrive(&graph, frame.context, at);
            frame.context = context;
            let node = self.nodes.node(context, at);
            let (number, returns) = (frame.number, frame.returns);
            let position = |act| Position {
                location: at,
                frame: number,
                returns,
                node,
                act,
            };
            if let LocationKind::Error(check) = program.locations[at.index()].kind
                && self.structure.open().contains(&check)
            {
                match self.session.check(self.terms, &walk.constraints) {
                    Answer::Sat => break Ended::Error(check, self.values(&walk)),
                    Answer::Unsat => {
                        let steps = walk.steps_of(&self.session.core());
                        walk.path.push(position(Act::End(End::Infeasible(steps))));
                        break Ended::Safely;
                    }
                    Answer::Unknown(Unknown::Stopped(stopped)) => break Ended::Stopped(stopped),
                    Answer::Unknown(why) => break Ended::Undecided(check, why),
                }
            }
            if !self.structure.is_live(at, returns) {
                walk.path.push(position(Act::End(End::Dead)));
                break Ended::Safely;
            }
            if arrivals > self.depth.saturating_add(1) || walk.path.len() >= self.length {
                walk.path.push(position(Act::End(End::Cut)));
                break Ended::Safely;
            }
            if program.locations[at.index()].kind == LocationKind::Exit {
                walk.path.push(position(Act::Leave));
                walk.run.leave(self.terms);
                walk.take_facts(self.terms);
                walk.met.resize(walk.run.fresh.len(), None);
                at = frame.back;
                frames.pop();
                continue;
            }
            let sides = sides(program, at);
            let entered = match sides.as_slice() {
                [] => {
                    walk.path.push(position(Act::End(End::Dead)));
                    break Ended::Safely;
                }
                [Side::Edge(edge)]
                    if !matches!(program.edges[edge.index()].op, Op::Assume { .. }) =>
                {
                    let edge = *edge;
                    let Ok(_) = walk.run.edge(self.terms, edge) else {
                        break Ended::Unsupported(edge);
                    };
                    walk.take_facts(self.terms);
                    walk.met.resize(walk.run.fresh.len(), Some(edge));
                    if walk.is_contradictory(self.terms) {
                        let step = walk.step;
                        walk.path.push(position(Act::Edge(edge)));
                        walk.path
                            .push(position(Act::End(End::Infeasible(vec![step]))));
                        break Ended::Safely;
                    }
                    walk.path.push(position(Act::Edge(edge)));
                    at = program.edges[edge.index()].to;
                    None
                }
                [Side::Enter(edge, callee)] if is_direct(program, *edge) => {
                    let (edge, callee) = (*edge, *callee);
                    if self.nodes.activations(context, callee) >= self.depth.saturating_add(1) {
                        walk.path.push(position(Act::End(End::Cut)));
                        break Ended::Safely;
                    }
                    walk.run.enter(self.terms, edge, callee);
                    walk.take_facts(self.terms);
                    walk.met.resize(walk.run.fresh.len(), Some(edge));
                    walk.path.push(position(Act::Enter(edge, callee)));
                    Some((edge, callee))
                }
                _ => {
                    let cut = sides.iter().any(|side| match *side {
                        Side::Enter(_, callee) => {
                            self.nodes.activations(context, callee) >= self.depth.saturating_add(1)
                        }
                        Side::Edge(_) => false,
                    });
                    if cut {
                        walk.path.push(position(Act::End(End::Cut)));
                        break Ended::Safely;
                    }
                    let branch = match self.branch(&mut walk, node, &sides, returns) {
                        Ok(branch) => branch,
                        Err((branch, ended)) => {
                            if let Some(branch) = branch {
                                walk.path.push(position(Act::Branch(branch)));
                            }
                            break ended;
                        }
                    };
                    let taken = branch.taken;
                    walk.path.push(position(Act::Branch(branch)));
                    let Some(taken) = taken else {
                        break Ended::Safely;
                    };
                    match sides[taken as usize] {
                        Side::Edge(edge) => {
                            if !matches!(program.edges[edge.index()].op, Op::Assume { .. }) {
                                let Ok(_) = walk.run.edge(self.terms, edge) else {
                                    break Ended::Unsupported(edge);
                                };
                                walk.take_facts(self.terms);
                                walk.met.resize(walk.run.fresh.len(), Some(edge));
                            }
                            at = program.edges[edge.index()].to;
                            None
                        }
                        Side::Enter(edge, callee) => {
                            let condition = walk.run.enter(self.terms, edge, callee);
                            walk.require(self.terms, condition);
                            walk.take_facts(self.terms);
                            walk.met.resize(walk.run.fresh.len(), Some(edge));
                            Some((edge, callee))
                        }
                    }
                }
            };
            if let Some((edge, callee)) = entered {
                let back = program.edges[edge.index()].to;
                let returns = if self.structure.is_live(back, returns) {
                    Return::Live
                } else {
                    Return::Dead
                };
                frames.push(Frame {
                    number: next_frame,
                    context: self.nodes.call(context, edge, callee),
                    returns,
                    back,
                });
                next_frame += 1;
                at = program.function(callee).entry;
            }
        };
        Run {
            path: walk.path,
            decisions: walk.decisions,
            ended,
        }
    }

    /// The condition of a side, and what evaluating it requires.
    fn condition(&mut self, walk: &mut Walk<'_, '_>, side: Side) -> (TermId, Vec<TermId>) {
        match side {
            Side::Edge(edge)
                if !matches!(
                    self.semantics.program.edges[edge.index()].op,
                    Op::Assume { .. }
                ) =>
            {
                (self.terms.bool(true), Vec::new())
            }
            Side::Edge(edge) => {
                let condition = walk.run.edge(self.terms, edge);
                let facts = std::mem::take(&mut walk.run.facts);
                walk.met.resize(walk.run.fresh.len(), Some(edge));
                (condition.unwrap_or_else(|_| self.terms.bool(true)), facts)
            }
            Side::Enter(edge, callee) => {
                let mut trial = walk.run.clone();
                let condition = trial.enter(self.terms, edge, callee);
                (condition, Vec::new())
            }
        }
    }

    /// Decides a branch.
    fn branch(
        &mut self,
        walk: &mut Walk<'_, '_>,
        node: PointId,
        sides: &[Side],
        returns: Return,
    ) -> Result<Branch, (Option<Branch>, Ended)> {
        let program = self.semantics.program;
        let position = walk.path.len();
        let mut branch = Branch {
            sides: sides.to_vec(),
            live: Vec::new(),
            ruled_out: Vec::new(),
            taken: None,
            certain: Constant::No,
        };
        let mut open: Vec<(u32, u32, TermId, Vec<TermId>)> = Vec::new();
        for (index, &side) in sides.iter().enumerate() {
            let index = index as u32;
            let (live, towards) = match side {
                Side::Edge(edge) => {
                    let to = program.edges[edge.index()].to;
                    (self.structure.is_live_edge(edge, returns), to)
                }
                Side::Enter(edge, callee) => {
                    let back = program.edges[edge.index()].to;
                    let live =
                        self.structure.may_fail(callee) || self.structure.is_live(back, returns);
                    (live, program.function(callee).entry)
                }
            };
            if !live {
                continue;
            }
            branch.live.push(index);
            if let Side::Edge(edge) = side
                && matches!(program.edges[edge.index()].op, Op::Unsupported { .. })
            {
                return Err((None, Ended::Unsupported(edge)));
            }
            let (condition, facts) = self.condition(walk, side);
            match self.is_open(walk, condition, &facts) {
                Ok(Open::Yes) => {
                    open.push((index, self.structure.distance(towards), condition, facts));
                }
                Ok(Open::No(by)) => branch.ruled_out.push(RuledOut { side: index, by }),
                Err(stopped) => return Err((None, Ended::Stopped(stopped))),
            }
        }
        if open.is_empty() {
            return Ok(branch);
        }
        let has_variable = self.oracles.sides(node).is_some();
        if open.len() == 1 && !has_variable {
            branch.taken = Some(open[0].0);
        } else {
            if !has_variable {
                self.oracles.introduce(node, &branch.live);
            }
            let forks = walk.forks;
            let ours = |number: usize| match self.part {
                Some(part) if open.len() > 1 => part.has(forks, number),
                _ => true,
            };
            let mut order: Vec<(u32, u32)> = open
                .iter()
                .enumerate()
                .filter(|(number, _)| ours(*number))
                .map(|(_, o)| (o.0, o.1))
                .collect();
            walk.forks += u32::from(open.len() > 1);
            self.prefer.order(&mut order);
            for (side, _) in order {
                walk.made.push(Decision { point: node, side });
                if self.oracles.allows(&walk.made) {
                    branch.taken = Some(side);
                    walk.decisions
                        .push((position, Decision { point: node, side }));
                    break;
                }
                walk.made.pop();
            }
            if branch.taken.is_none() {
                return Err((Some(branch), Ended::Explored));
            }
        }
        if let Some(taken) = branch.taken {
            let (_, _, condition, facts) = open
                .into_iter()
                .find(|o| o.0 == taken)
                .unwrap_or_else(|| unreachable!("the side that was taken is open"));
            if *self.terms.op(condition) == hardbop_logic::Op::Bool(true) {
                branch.certain = Constant::Yes;
            }
            walk.require(self.terms, condition);
            for fact in facts {
                walk.require(self.terms, fact);
            }
        }
        Ok(branch)
    }

    /// Whether a condition is compatible with the path so far.
    fn is_open(
        &mut self,
        walk: &Walk<'_, '_>,
        condition: TermId,
        facts: &[TermId],
    ) -> Result<Open, Stopped> {
        let constant = |term: &TermId| match self.terms.op(*term) {
            hardbop_logic::Op::Bool(value) => Some(*value),
            _ => None,
        };
        let all: Vec<TermId> = facts.iter().copied().chain([condition]).collect();
        if all.iter().any(|term| constant(term) == Some(false)) {
            return Ok(Open::No(Vec::new()));
        }
        let rest: Vec<TermId> = all
            .into_iter()
            .filter(|term| constant(term).is_none())
            .collect();
        match rest.as_slice() {
            [] => return Ok(Open::Yes),
            // An input that nothing has been asked of may be zero or not.
            &[only] if self.is_free_test(walk, only) => return Ok(Open::Yes),
            _ => {}
        }
        let mut question = walk.constraints.clone();
        question.extend(rest);
        match self.session.check(self.terms, &question) {
            Answer::Unsat => Ok(Open::No(walk.steps_of(&self.session.core()))),
            Answer::Unknown(Unknown::Stopped(stopped)) => Err(stopped),
            // What is not known to be impossible is tried.
            Answer::Sat | Answer::Unknown(_) => Ok(Open::Yes),
        }
    }

    /// Whether a condition compares an unconstrained symbol with a value: then it can be true.
    fn is_free_test(&self, walk: &Walk<'_, '_>, condition: TermId) -> bool {
        let atom = self.terms.negated(condition).unwrap_or(condition);
        let is_free = |term: TermId| {
            matches!(self.terms.op(term), hardbop_logic::Op::Constant(_))
                && !walk.constrained.contains(&term)
                && walk
                    .run
                    .fresh
                    .iter()
                    .rev()
                    .take(64)
                    .any(|fresh| fresh.term == term)
        };
        if is_free(atom) {
            return true;
        }
        match (self.terms.op(atom), self.terms.args(atom)) {
            (hardbop_logic::Op::Eq, &[a, b]) => {
                (is_free(a) && self.terms.value_of(b).is_some())
                    || (is_free(b) && self.terms.value_of(a).is_some())
            }
            _ => false,
        }
    }

    /// What the model of the last answer says about everything that the program does not
    /// determine.
    fn values(&mut self, walk: &Walk<'_, '_>) -> Vec<Choice> {
        let asked: Vec<TermId> = walk.run.fresh.iter().map(|fresh| fresh.term).collect();
        let values = self
            .session
            .values(self.terms, &asked)
            .unwrap_or_else(|_| vec![None; asked.len()]);
        let met = walk.met.iter().zip(&walk.run.fresh);
        met.zip(values)
            .filter_map(|((&edge, fresh), value)| {
                Some(Choice {
                    edge: edge?,
                    origin: fresh.origin,
                    value,
                })
            })
            .collect()
    }
}
