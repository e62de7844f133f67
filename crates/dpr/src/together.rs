//! All paths up to the bound together: the sides of a branch are followed one after the other, and
//! merged where they meet.
//!
//! In comes a program with its open checks; out come the runs that violate some, whether a run
//! goes beyond the bound, and the points of the unrolled program that were found to be reached by
//! no run. Each point is looked at once, after everything that leads to it, with one state and the
//! condition of being there. So the work grows with the number of points and not of paths, and an
//! error that depends on its own choice does not make other errors ask about that choice. What is
//! paid for it are larger questions, so this is tried for programs that have few points.

mod path;

use crate::nodes::Nodes;
use crate::structure::{Return, Structure};
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{CheckId, EdgeId, FuncId, LocId};
use hardbop_cfront::program::{LocationKind, Op, Program};
use hardbop_logic::{Answer, Session, Sort, TermId, Terms, Unknown};
use hardbop_model::order::{Key, Order};
use hardbop_model::points::{ContextId, PointId, Side, sides};
use hardbop_semantics::frontier::same_frontier;
use hardbop_semantics::replay::Choice;
use hardbop_semantics::{Execution, Semantics};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What following all paths found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The violated checks, with the values of what the program does not determine.
    pub violated: Vec<(CheckId, Vec<Choice>)>,
    /// Whether a run may go beyond the bound.
    pub cut: bool,
    /// The points that were asked about and that no run comes to.
    pub unreached: Vec<PointId>,
    /// How many points were looked at, and steps taken.
    pub points: u64,
    pub steps: u64,
    /// How many questions were asked.
    pub questions: u64,
}

/// Why paths cannot be followed together.
#[derive(Debug)]
pub(crate) enum Apart {
    /// There are too many points, loops with several entries, or questions without an answer.
    TooMuch,
    Stopped(Stopped),
}

impl From<Stopped> for Apart {
    fn from(stopped: Stopped) -> Apart {
        Apart::Stopped(stopped)
    }
}

/// Something that a path does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Take(Side),
    Leave,
}

/// A call that is open.
struct Call {
    up: Option<Rc<Call>>,
    context: ContextId,
    returns: Return,
    back: LocId,
}

/// Where control is.
#[derive(Clone)]
struct Place {
    call: Rc<Call>,
    context: ContextId,
    at: LocId,
    /// The number of arrivals, at the head of a loop.
    arrivals: u32,
}

/// A way to a point.
struct Arrival<'s, 'p> {
    from: usize,
    moves: Vec<Move>,
    condition: TermId,
    run: Execution<'s, 'p>,
}

/// A point that is still to be looked at.
struct Waiting<'s, 'p> {
    place: Place,
    arrivals: Vec<Arrival<'s, 'p>>,
}

/// How a point was come to: from where, over what, under which condition.
type Ways = Vec<(usize, Vec<Move>, TermId)>;

/// What it works with.
pub(crate) struct Together<'a, 's, 'p> {
    pub semantics: &'s Semantics<'p>,
    pub structure: &'a mut Structure<'p>,
    pub nodes: &'a Nodes,
    pub terms: &'a mut Terms,
    /// A session in which the axioms are asserted, for the questions about many paths.
    pub session: &'a mut Session<'static>,
    /// Another one, for those about one path.
    pub single: &'a mut Session<'static>,
    pub budget: &'a Budget,
    pub depth: u32,
}

/// The most steps.
const STEPS: u64 = 20_000;
/// The most terms that are made.
const TERMS: usize = 400_000;
/// A condition with more parts than this gets a name.
const PARTS: usize = 6;

struct Search<'a, 's, 'p> {
    with: Together<'a, 's, 'p>,
    order: Order,
    waiting: BTreeMap<Key, Waiting<'s, 'p>>,
    /// By the number of the point in the order in which they were looked at.
    ways: Vec<Ways>,
    /// What holds on the way, and is told to the solver where it is needed.
    facts: Vec<TermId>,
    /// Where paths were cut off.
    cut: Vec<(PointId, TermId)>,
    /// Whether several edges lead to a location.
    joins: Vec<bool>,
    found: Found,
    most_terms: usize,
}

impl<'s, 'p> Together<'_, 's, 'p> {
    /// Follows all paths. What was found before it had to be given up counts, too.
    pub(crate) fn follow(self) -> (Found, Result<(), Apart>) {
        let program = self.semantics.program;
        let mut incoming = vec![0u32; program.locations.len()];
        for edge in &program.edges {
            incoming[edge.to.index()] += 1;
        }
        let most_terms = self.terms.len() + TERMS;
        let mut search = Search {
            with: self,
            order: Order::new(),
            waiting: BTreeMap::new(),
            ways: vec![Vec::new()],
            facts: Vec::new(),
            cut: Vec::new(),
            joins: incoming.into_iter().map(|count| count > 1).collect(),
            found: Found::default(),
            most_terms,
        };
        let ended = search.run();
        (search.found, ended)
    }
}

impl<'s, 'p> Search<'_, 's, 'p> {
    fn program(&self) -> &'p Program {
        self.with.semantics.program
    }

    fn run(&mut self) -> Result<(), Apart> {
        let program = self.program();
        let mut run = Execution::new(self.with.semantics);
        run.start(self.with.terms);
        let entry = program.function(program.entry).entry;
        let start = self.with.nodes.start();
        let call = Rc::new(Call {
            up: None,
            context: start,
            returns: Return::Dead,
            back: entry,
        });
        let condition = self.with.terms.bool(true);
        let condition = self.take_facts(&mut run, condition);
        let place = self.arrive(call, start, entry);
        self.walk(0, place, condition, run)?;
        while let Some((_, waiting)) = self.waiting.pop_first() {
            self.with.budget.check()?;
            if self.with.structure.open().is_empty() {
                return Ok(());
            }
            self.meet(waiting)?;
        }
        self.ask_about_the_bound()
    }

    fn arrive(&mut self, call: Rc<Call>, context: ContextId, at: LocId) -> Place {
        let function = self.program().locations[at.index()].function;
        let graph = self.with.structure.graph(function);
        let (context, arrivals) = self.with.nodes.arrive(&graph, context, at);
        Place {
            call,
            context,
            at,
            arrivals,
        }
    }

    /// Notes what a run under a condition makes known. Gives the condition, which is false if no
    /// run passes.
    fn take_facts(&mut self, run: &mut Execution<'s, 'p>, condition: TermId) -> TermId {
        let terms = &mut *self.with.terms;
        let mut condition = condition;
        for fact in std::mem::take(&mut run.facts) {
            match terms.op(fact) {
                hardbop_logic::Op::Bool(true) => {}
                hardbop_logic::Op::Bool(false) => condition = fact,
                _ => {
                    let elsewhere = terms.not(condition);
                    self.facts.push(terms.or(&[elsewhere, fact]));
                }
            }
        }
        // The path's own model tells the inputs.
        run.fresh.clear();
        condition
    }

    /// A short name for a condition of many parts.
    fn named(&mut self, condition: TermId) -> TermId {
        let terms = &mut *self.with.terms;
        let long = matches!(terms.op(condition), hardbop_logic::Op::And)
            && terms.args(condition).len() > PARTS;
        if !long {
            return condition;
        }
        let name = terms.fresh("here", Sort::Bool);
        let means = terms.eq(name, condition);
        self.with.session.assert(terms, means);
        name
    }

    fn enqueue(&mut self, place: Place, arrival: Arrival<'s, 'p>) -> Result<(), Apart> {
        let (context, at) = (place.context, place.at);
        let program = self.program();
        let key = self
            .with
            .nodes
            .key(&mut self.order, program, context, at)
            .ok_or(Apart::TooMuch)?;
        let waiting = self.waiting.entry(key).or_insert_with(|| Waiting {
            place,
            arrivals: Vec::new(),
        });
        waiting.arrivals.push(arrival);
        Ok(())
    }

    /// Merges what comes to a point, and goes on from it.
    fn meet(&mut self, waiting: Waiting<'s, 'p>) -> Result<(), Apart> {
        let Waiting { place, arrivals } = waiting;
        let from = self.ways.len();
        let several = arrivals.len() > 1;
        let mut ways = Vec::with_capacity(arrivals.len());
        let mut merged: Option<(TermId, Execution<'s, 'p>)> = None;
        for mut arrival in arrivals.into_iter().rev() {
            ways.push((arrival.from, arrival.moves, arrival.condition));
            merged = Some(match merged {
                None => (arrival.condition, arrival.run),
                Some((condition, mut run)) => {
                    let terms = &mut *self.with.terms;
                    same_frontier(terms, &mut arrival.run, &mut run);
                    let (both, side) = match terms.fork(arrival.condition, condition) {
                        Some(fork) => fork,
                        None => (terms.or(&[arrival.condition, condition]), arrival.condition),
                    };
                    (both, arrival.run.merge(run, side, terms))
                }
            });
        }
        self.ways.push(ways);
        self.found.points += 1;
        let Some((mut condition, run)) = merged else {
            return Ok(());
        };
        if several {
            condition = self.named(condition);
        }
        self.walk(from, place, condition, run)
    }

    /// Goes on from a place up to where paths part or meet.
    fn walk(
        &mut self,
        from: usize,
        mut place: Place,
        mut condition: TermId,
        mut run: Execution<'s, 'p>,
    ) -> Result<(), Apart> {
        let program = self.program();
        let never = self.with.terms.bool(false);
        let mut moves = Vec::new();
        loop {
            if condition == never {
                return Ok(());
            }
            self.found.steps += 1;
            if self.found.steps > STEPS || self.with.terms.len() > self.most_terms {
                return Err(Apart::TooMuch);
            }
            let (at, returns) = (place.at, place.call.returns);
            let kind = program.locations[at.index()].kind;
            if let LocationKind::Error(check) = kind
                && self.with.structure.open().contains(&check)
            {
                return self.error(check, from, &moves, condition);
            }
            if !self.with.structure.is_live(at, returns) {
                return Ok(());
            }
            if place.arrivals > self.with.depth.saturating_add(1) {
                self.cut_off(&place, condition);
                return Ok(());
            }
            // Whether a loop goes on is asked once for all paths in it.
            if place.arrivals > 1 && moves.is_empty() && !self.may_hold(&place, condition)? {
                return Ok(());
            }
            if kind == LocationKind::Exit {
                run.leave(self.with.terms);
                condition = self.take_facts(&mut run, condition);
                moves.push(Move::Leave);
                let Some(up) = place.call.up.clone() else {
                    return Ok(());
                };
                let (context, back) = (place.call.context, place.call.back);
                let place = self.arrive(up, context, back);
                let arrival = Arrival {
                    from,
                    moves,
                    condition,
                    run,
                };
                return self.enqueue(place, arrival);
            }
            let sides = sides(program, at);
            let next = match sides.as_slice() {
                [] => return Ok(()),
                &[side] if !is_assume(program, side) => {
                    let Some((passed, to)) = self.take(&place, side, condition, &mut run)? else {
                        return Ok(());
                    };
                    condition = passed;
                    moves.push(Move::Take(side));
                    to
                }
                _ => return self.part(from, &place, condition, &run, &moves, &sides),
            };
            if self.meets(&next) {
                let arrival = Arrival {
                    from,
                    moves,
                    condition,
                    run,
                };
                return self.enqueue(next, arrival);
            }
            place = next;
        }
    }

    /// Whether paths may meet at a place.
    fn meets(&self, place: &Place) -> bool {
        place.arrivals > 0 || self.joins[place.at.index()]
    }

    /// Follows every side of a branch.
    fn part(
        &mut self,
        from: usize,
        place: &Place,
        condition: TermId,
        run: &Execution<'s, 'p>,
        moves: &[Move],
        sides: &[Side],
    ) -> Result<(), Apart> {
        let program = self.program();
        let returns = place.call.returns;
        let mut ways = Vec::new();
        for &side in sides {
            let live = match side {
                Side::Edge(edge) => self.with.structure.is_live_edge(edge, returns),
                Side::Enter(edge, callee) => {
                    let back = program.edges[edge.index()].to;
                    self.with.structure.may_fail(callee)
                        || self.with.structure.is_live(back, returns)
                }
            };
            if !live {
                continue;
            }
            let mut run = run.clone();
            if let Some((taken, to)) = self.take(place, side, condition, &mut run)? {
                ways.push((side, taken, to, run));
            }
        }
        // Where conditions do not tell the sides apart, a choice does: an execution goes one way.
        let terms = &mut *self.with.terms;
        let apart = match ways.as_slice() {
            [] | [_] => true,
            [one, other] => terms.fork(one.1, other.1).is_some(),
            _ => false,
        };
        let mut others: Vec<TermId> = Vec::new();
        for (side, condition, to, run) in ways {
            let terms = &mut *self.with.terms;
            let mut parts = vec![condition];
            if !apart {
                let chosen = terms.fresh("choice", Sort::Bool);
                parts.extend(&others);
                parts.push(chosen);
                others.push(terms.not(chosen));
            }
            let condition = terms.and(&parts);
            if condition == terms.bool(false) {
                continue;
            }
            let mut moves = moves.to_vec();
            moves.push(Move::Take(side));
            let condition = self.named(condition);
            let arrival = Arrival {
                from,
                moves,
                condition,
                run,
            };
            self.enqueue(to, arrival)?;
        }
        Ok(())
    }

    /// Takes a side. Gives the condition of having done so and where it leads; nothing if paths
    /// end here.
    fn take(
        &mut self,
        place: &Place,
        side: Side,
        condition: TermId,
        run: &mut Execution<'s, 'p>,
    ) -> Result<Option<(TermId, Place)>, Apart> {
        let program = self.program();
        match side {
            Side::Edge(edge) => {
                let Ok(passed) = run.edge(self.with.terms, edge) else {
                    // Nothing is known beyond what is not supported.
                    return match self.ask_strictly(condition)? {
                        true => Err(Apart::TooMuch),
                        false => Ok(None),
                    };
                };
                let condition = self.with.terms.and(&[condition, passed]);
                let condition = self.take_facts(run, condition);
                let to = program.edges[edge.index()].to;
                let call = Rc::clone(&place.call);
                Ok(Some((condition, self.arrive(call, place.context, to))))
            }
            Side::Enter(edge, callee) => {
                let activations = self.with.nodes.activations(place.context, callee);
                if activations >= self.with.depth.saturating_add(1) {
                    self.cut_off(place, condition);
                    return Ok(None);
                }
                // As for the next iteration of a loop.
                if activations > 0 && !self.may_hold(place, condition)? {
                    return Ok(None);
                }
                let called = run.enter(self.with.terms, edge, callee);
                let condition = self.with.terms.and(&[condition, called]);
                let condition = self.take_facts(run, condition);
                Ok(Some((condition, self.entered(place, edge, callee))))
            }
        }
    }

    /// The entry of a function that is called.
    fn entered(&mut self, place: &Place, edge: EdgeId, callee: FuncId) -> Place {
        let program = self.program();
        let back = program.edges[edge.index()].to;
        let live = self.with.structure.is_live(back, place.call.returns);
        let call = Rc::new(Call {
            up: Some(Rc::clone(&place.call)),
            context: place.context,
            returns: if live { Return::Live } else { Return::Dead },
            back,
        });
        let context = self.with.nodes.call(place.context, edge, callee);
        self.arrive(call, context, program.function(callee).entry)
    }

    fn cut_off(&mut self, place: &Place, condition: TermId) {
        let point = self.with.nodes.node(place.context, place.at);
        self.cut.push((point, condition));
    }

    /// Whether a run may come to a place; if not, that is noted.
    fn may_hold(&mut self, place: &Place, condition: TermId) -> Result<bool, Apart> {
        if *self.with.terms.op(condition) == hardbop_logic::Op::Bool(true) {
            return Ok(true);
        }
        let may = self.ask(condition)?;
        if !may {
            let point = self.with.nodes.node(place.context, place.at);
            self.found.unreached.push(point);
        }
        Ok(may)
    }

    /// Whether a condition has a model, as far as is known.
    fn ask(&mut self, condition: TermId) -> Result<bool, Apart> {
        self.found.questions += 1;
        match self.with.session.check(self.with.terms, &[condition]) {
            Answer::Unsat => Ok(false),
            Answer::Sat => Ok(true),
            Answer::Unknown(Unknown::Stopped(stopped)) => Err(stopped.into()),
            Answer::Unknown(_) => Err(Apart::TooMuch),
        }
    }

    /// The same with all that is known on the way.
    fn ask_strictly(&mut self, condition: TermId) -> Result<bool, Apart> {
        if !self.ask(condition)? {
            return Ok(false);
        }
        if self.facts.is_empty() {
            return Ok(true);
        }
        for fact in std::mem::take(&mut self.facts) {
            self.with.session.assert(self.with.terms, fact);
        }
        self.ask(condition)
    }

    fn ask_about_the_bound(&mut self) -> Result<(), Apart> {
        let cut = std::mem::take(&mut self.cut);
        if cut.is_empty() {
            return Ok(());
        }
        let conditions: Vec<TermId> = cut.iter().map(|&(_, condition)| condition).collect();
        let any = self.with.terms.or(&conditions);
        if self.ask_strictly(any)? {
            self.found.cut = true;
        } else {
            let points = cut.into_iter().map(|(point, _)| point);
            self.found.unreached.extend(points);
        }
        Ok(())
    }

    /// Control may be at an error.
    fn error(
        &mut self,
        check: CheckId,
        from: usize,
        moves: &[Move],
        condition: TermId,
    ) -> Result<(), Apart> {
        if !self.ask_strictly(condition)? {
            return Ok(());
        }
        let path = self.path(from, moves)?;
        let choices = self.retrace(&path)?;
        self.found.violated.push((check, choices));
        self.with.structure.close(check);
        Ok(())
    }
}

fn is_assume(program: &Program, side: Side) -> bool {
    match side {
        Side::Edge(edge) => matches!(program.edges[edge.index()].op, Op::Assume { .. }),
        Side::Enter(edge, _) => match &program.edges[edge.index()].op {
            Op::Call { callee, .. } => callee.targets().len() > 1,
            _ => false,
        },
    }
}
