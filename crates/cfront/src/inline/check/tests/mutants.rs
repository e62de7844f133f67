//! Inlined programs with one thing changed: each is refused, or shown to mean the same.

use super::super::*;
use super::changes::{About, Firsts, insert, is_written_first, other_kinds, remove, seen};
use super::{PROGRAMS, check, inlined, program};
use crate::ids::CheckId;
use crate::operands::Renumber;
use std::collections::HashSet;

struct Mutation<'a> {
    original: &'a Program,
    base: &'a Derived,
    firsts: Firsts,
    seen: HashSet<About>,
    refused: usize,
    /// Changes that nothing sees.
    unseen: usize,
    /// Lives that need not have begun.
    idle: usize,
}

impl Mutation<'_> {
    fn accepts(&self, change: impl FnOnce(&mut Derived)) -> bool {
        let mut mutant = self.base.clone();
        change(&mut mutant);
        check(self.original, &mutant).is_ok()
    }

    /// A change is refused, unless it is about something that nothing sees.
    fn refuse(&mut self, what: &str, about: About, change: impl FnOnce(&mut Derived)) {
        if !self.accepts(change) {
            self.refused += 1;
        } else if about != About::All && !self.seen.contains(&about) {
            self.unseen += 1;
        } else {
            panic!("accepted: {what} of {about:?}");
        }
    }

    fn locations(&mut self) {
        let count = self.base.program.locations.len() as u32;
        for index in 0..count {
            let (id, at) = (LocId(index), index as usize);
            let here = About::Location(id);
            self.refuse("origin", here, |m| m.locations[at].0 += 1);
            self.refuse("label", here, |m| {
                m.program.locations[at].labels.push("more".to_owned());
            });
            self.refuse("function", About::All, |m| {
                m.program.locations[at].function.0 += 1;
            });
            let kinds = [
                LocationKind::Plain,
                LocationKind::LoopHead,
                LocationKind::Exit,
                LocationKind::Halt,
                LocationKind::Error(CheckId(0)),
                LocationKind::Error(CheckId(1)),
            ];
            for kind in kinds {
                if self.base.program.locations[at].kind != kind {
                    self.refuse("kind", here, |m| m.program.locations[at].kind = kind);
                }
            }
            self.refuse("more edges", About::All, |m| {
                m.program.locations[at].edges.end += 1;
            });
        }
    }

    fn edges(&mut self) {
        for index in 0..self.base.program.edges.len() {
            let id = EdgeId(index as u32);
            let here = About::Edge(id);
            let edge = self.base.program.edges[index].clone();
            let function = self.base.program.locations[edge.from.index()].function;
            let range = self.base.program.function(function).locations.clone();
            for to in range {
                if self.skips_idle(edge.to, LocId(to)) {
                    self.idle += 1;
                } else if to != edge.to.0 {
                    self.refuse("target", here, |m| m.program.edges[index].to = LocId(to));
                }
            }
            self.refuse("start", About::All, |m| m.program.edges[index].from.0 += 1);
            self.refuse("source", here, |m| m.program.edges[index].source.line += 1);
            self.refuse("origin", here, |m| {
                m.edges[index] = match m.edges[index] {
                    Some(_) => None,
                    None => Some(EdgeId(0)),
                };
            });
            if let Some(origin) = self.base.edges[index] {
                self.refuse("other origin", here, |m| {
                    m.edges[index] = Some(EdgeId(origin.0 ^ 1));
                });
            }
            self.refuse("edge twice", here, |m| insert(m, index));
            if let Op::Declare { variable } = edge.op
                && self.base.edges[index].is_none()
            {
                self.entry_life(index, variable);
            } else {
                self.refuse("no edge", here, |m| remove(m, index));
                if edge.op != Op::Skip {
                    self.refuse("no op", here, |m| m.program.edges[index].op = Op::Skip);
                }
            }
            self.op(index, &edge.op);
            if index > 0 {
                self.swapped(index);
            }
        }
    }

    /// Two edges that follow each other in the table exchange what they do, or where they lead.
    fn swapped(&mut self, index: usize) {
        let program = &self.base.program;
        let both = [EdgeId(index as u32 - 1), EdgeId(index as u32)].map(About::Edge);
        let here = both.into_iter().find(|edge| self.seen.contains(edge));
        let here = here.unwrap_or(both[0]);
        let [one, two] = [index - 1, index].map(|at| &program.edges[at]);
        if one.to != two.to && !self.skips_idle(one.to, two.to) {
            self.refuse("exchanged targets", here, |m| {
                let to = m.program.edges[index].to;
                m.program.edges[index].to =
                    std::mem::replace(&mut m.program.edges[index - 1].to, to);
            });
        }
        // The order in which lives begin is not told.
        let begins = |at: usize| {
            self.base.edges[at].is_none() && matches!(program.edges[at].op, Op::Declare { .. })
        };
        if one.op != two.op && !(begins(index - 1) && begins(index)) {
            self.refuse("exchanged ops", here, |m| {
                let op = m.program.edges[index].op.clone();
                m.program.edges[index].op =
                    std::mem::replace(&mut m.program.edges[index - 1].op, op);
            });
        }
    }

    /// The life that begins with an edge, if nothing sees what was there before.
    fn idle_life(&self, id: EdgeId) -> Option<VarId> {
        let program = &self.base.program;
        match program.edges[id.index()].op {
            Op::Declare { variable } => {
                let idle = self.base.edges[id.index()].is_none()
                    && !program.variable(variable).address_taken
                    && is_written_first(program, id, variable);
                idle.then_some(variable)
            }
            _ => None,
        }
    }

    /// Whether only lives that need not begin lie between two locations.
    fn skips_idle(&self, mut from: LocId, to: LocId) -> bool {
        let program = &self.base.program;
        let start = from;
        while let Some((id, edge)) = program.edges_from(from).next()
            && self.idle_life(id).is_some()
            && from != to
        {
            from = edge.to;
        }
        from == to && start != to
    }

    /// A life that begins with a copy may only be left out if nothing sees what was there before.
    fn entry_life(&mut self, index: usize, variable: VarId) {
        let program = &self.base.program;
        let id = EdgeId(index as u32);
        let needless = self.idle_life(id).is_some();
        // What comes before a copy leads to what follows the life.
        let skipped = |m: &mut Derived| {
            let (from, to) = (program.edges[index].from, program.edges[index].to);
            for edge in &mut m.program.edges {
                if edge.to == from {
                    edge.to = to;
                }
            }
        };
        match self.accepts(skipped) {
            true => {
                let unseen = !self.seen.contains(&About::Edge(id));
                assert!(needless || unseen, "a life of {variable:?} is left out");
                self.idle += 1;
            }
            false => self.refused += 1,
        }
        self.refuse("no op", About::Edge(id), |m| {
            m.program.edges[index].op = Op::Skip;
        });
    }

    fn op(&mut self, index: usize, op: &Op) {
        let here = About::Edge(EdgeId(index as u32));
        if let Op::Declare { variable } = *op {
            let idle = self.idle_life(EdgeId(index as u32)).is_some();
            for variable in [VarId(variable.0 - 1), VarId(variable.0 + 1)] {
                let id = EdgeId(index as u32);
                let change = |m: &mut Derived| {
                    m.program.edges[index].op = Op::Declare { variable };
                };
                // Another life that need not begin.
                if idle
                    && is_written_first(&self.base.program, id, variable)
                    && self.accepts(change)
                {
                    self.idle += 1;
                } else {
                    self.refuse("declared", here, change);
                }
            }
            return;
        }
        let mut change = |what: &str, to: Op| {
            let (mut new, mut old) = (to.clone(), op.clone());
            self.firsts.op(&mut new);
            self.firsts.op(&mut old);
            if new != old {
                self.refuse(what, here, |m| m.program.edges[index].op = to);
            }
        };
        let next = |expr: ExprId| ExprId(expr.0.wrapping_sub(1));
        let other = |place: PlaceId| PlaceId(place.0.wrapping_sub(1));
        match op.clone() {
            Op::Assume { condition, holds } => {
                change(
                    "sense",
                    Op::Assume {
                        condition,
                        holds: !holds,
                    },
                );
                change(
                    "condition",
                    Op::Assume {
                        condition: next(condition),
                        holds,
                    },
                );
            }
            Op::Assign { place, value } => {
                change(
                    "place",
                    Op::Assign {
                        place: other(place),
                        value,
                    },
                );
                change(
                    "value",
                    Op::Assign {
                        place,
                        value: next(value),
                    },
                );
                change("havoc", Op::Havoc { place });
            }
            Op::Input { place, name } => {
                change("havoc", Op::Havoc { place });
                change(
                    "name",
                    Op::Input {
                        place,
                        name: format!("{name}2"),
                    },
                );
            }
            Op::Havoc { place } => change(
                "place",
                Op::Havoc {
                    place: other(place),
                },
            ),
            Op::Call {
                callee,
                mut arguments,
                result,
            } => {
                let call = |callee: &Callee, arguments: &[ExprId], result| Op::Call {
                    callee: callee.clone(),
                    arguments: arguments.to_vec(),
                    result,
                };
                change("result", call(&callee, &arguments, None));
                let target = FuncId(callee.targets()[0].0 ^ 1);
                change("callee", call(&Callee::Direct(target), &arguments, result));
                arguments.reverse();
                change("order", call(&callee, &arguments, result));
                arguments.pop();
                change("arguments", call(&callee, &arguments, result));
            }
            Op::EndScope { mut variables } => {
                let last = variables.pop();
                change(
                    "ended",
                    Op::EndScope {
                        variables: variables.clone(),
                    },
                );
                variables.extend(last.map(|last| VarId(last.0 - 1)));
                change("ended", Op::EndScope { variables });
            }
            Op::Allocate {
                place,
                size,
                lifetime,
            } => {
                let size = next(size);
                change(
                    "size",
                    Op::Allocate {
                        place,
                        size,
                        lifetime,
                    },
                );
            }
            _ => {}
        }
    }

    fn added(&mut self) {
        let (old, new) = (self.original, &self.base.program);
        for index in old.exprs.len()..new.exprs.len() {
            let here = About::Expr(ExprId(index as u32));
            let expr = new.exprs[index].clone();
            self.refuse("type", here, |m| {
                m.program.exprs[index].ty = TypeId(expr.ty.0 ^ 1);
            });
            for kind in other_kinds(expr.kind) {
                if self.firsts.expr_kind(kind) == self.firsts.expr_kind(expr.kind) {
                    continue;
                }
                self.refuse("kind", here, |m| m.program.exprs[index].kind = kind);
            }
        }
        for index in old.places.len()..new.places.len() {
            let here = About::Place(PlaceId(index as u32));
            let place = new.places[index].clone();
            self.refuse("type", here, |m| {
                m.program.places[index].ty = TypeId(place.ty.0 ^ 1);
            });
            let less = |id: u32| id.wrapping_sub(1);
            let kinds = match place.kind {
                PlaceKind::Var(v) => {
                    vec![
                        PlaceKind::Var(VarId(less(v.0))),
                        PlaceKind::Var(VarId(v.0 + 1)),
                    ]
                }
                PlaceKind::Deref(e) => vec![PlaceKind::Deref(ExprId(less(e.0)))],
                PlaceKind::Field(base, field) => vec![
                    PlaceKind::Field(base, field ^ 1),
                    PlaceKind::Field(PlaceId(less(base.0)), field),
                ],
                PlaceKind::Index(base, e) => vec![
                    PlaceKind::Index(base, ExprId(less(e.0))),
                    PlaceKind::Index(PlaceId(less(base.0)), e),
                ],
            };
            for kind in kinds {
                if self.firsts.place_kind(kind) == self.firsts.place_kind(place.kind) {
                    continue;
                }
                self.refuse("kind", here, |m| m.program.places[index].kind = kind);
            }
        }
        for index in old.variables.len()..new.variables.len() {
            let here = About::Variable(VarId(index as u32));
            let variable = new.variables[index].clone();
            let (VarKind::Local(f) | VarKind::Temporary(f)) = variable.kind else {
                panic!("a copy that is no local");
            };
            self.variable(index, here, f);
        }
    }

    fn variable(&mut self, index: usize, here: About, holder: FuncId) {
        let kinds = [
            VarKind::Global,
            VarKind::Formal(holder),
            VarKind::Local(FuncId(holder.0 ^ 1)),
            VarKind::Temporary(FuncId(holder.0 ^ 1)),
        ];
        for kind in kinds {
            self.refuse("kind", About::All, |m| {
                m.program.variables[index].kind = kind
            });
        }
        // A life that begins or ends without a use says nothing of what the variable is like.
        let mentioned = self
            .base
            .program
            .places
            .iter()
            .enumerate()
            .any(|(at, place)| {
                place.kind == PlaceKind::Var(VarId(index as u32))
                    && self.seen.contains(&About::Place(PlaceId(at as u32)))
            });
        let here = match mentioned {
            true => here,
            false => About::Variable(VarId(u32::MAX)),
        };
        self.refuse("type", here, |m| m.program.variables[index].ty.0 ^= 1);
        self.refuse("name", here, |m| m.program.variables[index].name.push('2'));
        self.refuse("address", here, |m| {
            m.program.variables[index].address_taken ^= true
        });
        self.refuse("initial", here, |m| {
            m.program.variables[index].initial = Initial::Data(Vec::new());
        });
        let first = self.original.variables.len();
        if index > first {
            self.refuse("sharing", here, |m| {
                for place in &mut m.program.places {
                    if place.kind == PlaceKind::Var(VarId(index as u32)) {
                        place.kind = PlaceKind::Var(VarId(index as u32 - 1));
                    }
                }
            });
        }
    }

    fn shared(&mut self) {
        let all = About::All;
        for index in (0..self.original.exprs.len()).step_by(9) {
            self.refuse("old type", all, |m| m.program.exprs[index].ty.0 ^= 1);
        }
        for index in (0..self.original.places.len()).step_by(9) {
            self.refuse("old type", all, |m| m.program.places[index].ty.0 ^= 1);
        }
        for index in (0..self.original.variables.len()).step_by(9) {
            self.refuse("old variable", all, |m| {
                m.program.variables[index].address_taken ^= true;
            });
        }
        for index in 0..self.original.functions.len() {
            let function = self.base.program.functions[index].clone();
            if !function.formals.is_empty() {
                self.refuse("formals", all, |m| {
                    m.program.functions[index].formals.pop();
                });
            }
            if !function.locals.is_empty() {
                self.refuse("locals", all, |m| {
                    m.program.functions[index].locals.pop();
                });
                self.refuse("a local twice", all, |m| {
                    m.program.functions[index].locals.push(function.locals[0]);
                });
            }
            self.refuse("entry", all, |m| {
                m.program.functions[index].entry = function.exit;
            });
            self.refuse("exit", all, |m| {
                m.program.functions[index].exit = function.entry;
            });
            self.refuse("origin", all, |m| {
                m.program.functions[index].origin = match function.origin {
                    Origin::User => Origin::Model,
                    _ => Origin::User,
                };
            });
        }
        self.refuse("entry", all, |m| m.program.entry.0 ^= 1);
        self.refuse("origins", all, |m| m.locations.push(LocId(0)));
        self.refuse("origins", all, |m| m.edges.push(None));
    }
}

#[test]
fn every_change_is_found_out() {
    let (mut refused, mut unseen, mut idle) = (0, 0, 0);
    for text in PROGRAMS {
        let original = program(text);
        let base = inlined(&original);
        let mut mutation = Mutation {
            original: &original,
            base: &base,
            firsts: Firsts::new(&base.program),
            seen: seen(&base.program),
            refused: 0,
            unseen: 0,
            idle: 0,
        };
        mutation.locations();
        mutation.edges();
        mutation.added();
        mutation.shared();
        refused += mutation.refused;
        unseen += mutation.unseen;
        idle += mutation.idle;
    }
    assert!(refused > 30_000, "{refused}");
    assert!((unseen + idle) * 20 < refused, "{unseen} and {idle}");
}
