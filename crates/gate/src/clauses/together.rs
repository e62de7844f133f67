//! A clause that all paths show together.
//!
//! In come the decisions of a clause and the points that are said to be reached by no execution
//! that makes them. Every execution that makes them is followed, point by point of the unrolled
//! program; what comes to the same point is merged. Where an execution would violate a check, go
//! beyond what is supported, or come to one of those points, its condition is kept; the clause
//! stands if no condition that was kept has a model.
//!
//! Merging needs that an execution takes one way only. Sides whose conditions are not each other's
//! negation are therefore told apart by choices that are made up; so an execution that might take
//! either is seen on both. Points come in an order in which all that leads to one was seen before
//! it. Should it not be so, the rest is followed by itself: nothing rests on the order.

use super::{Rechecker, Return};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId};
use hardbop_cfront::program::LocationKind;
use hardbop_engine::claim::Clause;
use hardbop_logic::{Answer, Op as TermOp, Session, Sort, TermId, Terms};
use hardbop_model::order::{Key, Order};
use hardbop_model::points::{ContextId, PointId, Side, sides};
use hardbop_semantics::Execution;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The most points that are looked at.
const POINTS: usize = 40_000;
/// A condition with more parts than this gets a name.
const PARTS: usize = 6;

/// A call that is open.
struct Open {
    caller: Option<Rc<Open>>,
    context: ContextId,
    returns: Return,
    back: LocId,
}

/// Executions at a point.
struct Here<'s, 'p> {
    call: Rc<Open>,
    context: ContextId,
    at: LocId,
    condition: TermId,
    run: Execution<'s, 'p>,
}

/// What is to be looked at, and what was found so far.
struct Following<'s, 'p> {
    order: Order,
    work: BTreeMap<Key, Vec<Here<'s, 'p>>>,
    /// What holds in every execution.
    known: Vec<TermId>,
    /// What must not be possible.
    never: Vec<TermId>,
}

/// Something that is followed no further by this check.
struct Lost;

impl<'a, 'p> Rechecker<'a, 'p> {
    /// Whether no execution that makes the decisions of a clause violates a check; no, if the
    /// budget does not reach for finding out.
    pub(super) fn holds_together(
        &mut self,
        terms: &mut Terms,
        session: &mut Session<'static>,
        clause: &Clause,
        unreached: &[PointId],
    ) -> bool {
        let Ok(following) = self.follow_all(terms, clause, unreached) else {
            return false;
        };
        session.push();
        for fact in following.known {
            session.assert(terms, fact);
        }
        let any = terms.or(&following.never);
        let answer = session.check(terms, &[any]);
        session.pop();
        answer == Answer::Unsat
    }

    fn follow_all(
        &mut self,
        terms: &mut Terms,
        clause: &Clause,
        unreached: &[PointId],
    ) -> Result<Following<'a, 'p>, Lost> {
        let program = self.program();
        let unreached: BTreeSet<PointId> = unreached.iter().copied().collect();
        let entry = program.function(program.entry).entry;
        let start = self.numbering.start();
        let mut run = Execution::new(self.semantics);
        run.start(terms);
        let mut all = Following {
            order: Order::new(),
            work: BTreeMap::new(),
            known: Vec::new(),
            never: Vec::new(),
        };
        let first = Here {
            call: Rc::new(Open {
                caller: None,
                context: start,
                returns: Return::Dead,
                back: entry,
            }),
            context: start,
            at: entry,
            condition: terms.bool(true),
            run,
        };
        self.arrive_at(terms, &mut all, first)?;
        let mut points = 0;
        while let Some((_, arrivals)) = all.work.pop_first() {
            points += 1;
            if points > POINTS || self.budget.check().is_err() {
                return Err(Lost);
            }
            if let Some(here) = merged(terms, &mut all.known, arrivals) {
                self.look(terms, &mut all, here, clause, &unreached)?;
            }
        }
        Ok(all)
    }

    /// Executions come to a location.
    fn arrive_at(
        &mut self,
        terms: &mut Terms,
        all: &mut Following<'a, 'p>,
        mut here: Here<'a, 'p>,
    ) -> Result<(), Lost> {
        for fact in here.run.facts.drain(..) {
            match terms.op(fact) {
                TermOp::Bool(true) => {}
                // No execution passes.
                TermOp::Bool(false) => return Ok(()),
                _ => {
                    let elsewhere = terms.not(here.condition);
                    all.known.push(terms.or(&[elsewhere, fact]));
                }
            }
        }
        if *terms.op(here.condition) == TermOp::Bool(false) {
            return Ok(());
        }
        let program = self.program();
        let function = program.locations[here.at.index()].function;
        let graph = self.graph(function);
        here.context = self.numbering.arrive(&graph, here.context, here.at).0;
        let key = all
            .order
            .key(program, self.numbering, here.context, here.at)
            .ok_or(Lost)?;
        all.work.entry(key).or_default().push(here);
        Ok(())
    }

    /// Goes on from a point by one step.
    fn look(
        &mut self,
        terms: &mut Terms,
        all: &mut Following<'a, 'p>,
        here: Here<'a, 'p>,
        clause: &Clause,
        unreached: &BTreeSet<PointId>,
    ) -> Result<(), Lost> {
        let program = self.program();
        let (at, returns) = (here.at, here.call.returns);
        let point = self.numbering.point(here.context, at);
        if self.is_open(at).is_some() || unreached.contains(&point) {
            all.never.push(here.condition);
            return Ok(());
        }
        if !self.is_live(at, returns) {
            return Ok(());
        }
        if program.locations[at.index()].kind == LocationKind::Exit {
            let Some(caller) = here.call.caller.clone() else {
                return Ok(());
            };
            let mut run = here.run;
            run.leave(terms);
            let back = Here {
                call: caller,
                context: here.call.context,
                at: here.call.back,
                condition: here.condition,
                run,
            };
            return self.arrive_at(terms, all, back);
        }
        let mut decided = clause.decisions.iter().filter(|d| d.point == point);
        let only = decided.next().map(|decision| decision.side);
        let mut ways = Vec::new();
        for (number, side) in sides(program, at).into_iter().enumerate() {
            if only.is_some_and(|only| only as usize != number) || !self.is_live_side(side, returns)
            {
                continue;
            }
            let mut run = here.run.clone();
            let (condition, to) = match side {
                Side::Edge(edge) => {
                    let Ok(condition) = run.edge(terms, edge) else {
                        all.never.push(here.condition);
                        continue;
                    };
                    (condition, None)
                }
                Side::Enter(edge, callee) => {
                    let condition = run.enter(terms, edge, callee);
                    (condition, Some((edge, callee)))
                }
            };
            ways.push((side, condition, to, run));
        }
        let conditions: Vec<TermId> = ways.iter().map(|way| way.1).collect();
        let exclusive = match *conditions.as_slice() {
            [] | [_] => true,
            [one, other] => terms.not(one) == other,
            _ => false,
        };
        let mut others = vec![here.condition];
        for (side, condition, entered, run) in ways {
            let mut parts = if exclusive {
                vec![here.condition]
            } else {
                let choice = terms.fresh("way", Sort::Bool);
                let mut parts = others.clone();
                parts.push(choice);
                others.push(terms.not(choice));
                parts
            };
            parts.push(condition);
            let condition = terms.and(&parts);
            let next = match entered {
                None => Here {
                    call: Rc::clone(&here.call),
                    context: here.context,
                    at: self.behind(side),
                    condition,
                    run,
                },
                Some((edge, callee)) => self.inside(&here, edge, callee, condition, run),
            };
            self.arrive_at(terms, all, next)?;
        }
        Ok(())
    }

    fn behind(&self, side: Side) -> LocId {
        let (Side::Edge(edge) | Side::Enter(edge, _)) = side;
        self.program().edges[edge.index()].to
    }

    /// At the entry of a function that is called.
    fn inside(
        &mut self,
        here: &Here<'a, 'p>,
        edge: EdgeId,
        callee: FuncId,
        condition: TermId,
        run: Execution<'a, 'p>,
    ) -> Here<'a, 'p> {
        let program = self.program();
        let back = program.edges[edge.index()].to;
        let returns = match self.is_live(back, here.call.returns) {
            true => Return::Live,
            false => Return::Dead,
        };
        Here {
            call: Rc::new(Open {
                caller: Some(Rc::clone(&here.call)),
                context: here.context,
                returns,
                back,
            }),
            context: self.numbering.call(here.context, edge, callee),
            at: program.function(callee).entry,
            condition,
            run,
        }
    }
}

/// What comes to one point, as one.
fn merged<'s, 'p>(
    terms: &mut Terms,
    known: &mut Vec<TermId>,
    arrivals: Vec<Here<'s, 'p>>,
) -> Option<Here<'s, 'p>> {
    let mut list = arrivals.into_iter().rev();
    let mut all = list.next()?;
    for one in list {
        let (both, side) = match terms.fork(one.condition, all.condition) {
            Some(fork) => fork,
            None => (terms.or(&[one.condition, all.condition]), one.condition),
        };
        all = Here {
            call: one.call,
            context: one.context,
            at: one.at,
            condition: both,
            run: one.run.merge(all.run, side, terms),
        };
    }
    let long = matches!(terms.op(all.condition), TermOp::And | TermOp::Or)
        && terms.args(all.condition).len() > PARTS;
    if long {
        let name = terms.fresh("here", Sort::Bool);
        known.push(terms.eq(name, all.condition));
        all.condition = name;
    }
    Some(all)
}
