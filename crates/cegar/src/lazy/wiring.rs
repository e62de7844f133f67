//! Which predicates an edge reads and writes, and what it does to them.

use super::{Abstraction, Wiring};
use hardbop_bebop::space::Slot;
use hardbop_cfront::ids::{EdgeId, FuncId};
use hardbop_logic::TermId;
use hardbop_semantics::State;
use hardbop_semantics::constants::Meaning;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::skeleton::{
    ProcedureId, Skeleton, SkeletonEdgeId, SkeletonEdgeKind, VertexId,
};
use hardbop_semantics::steps::Step;
use std::collections::{BTreeMap, BTreeSet};

impl Abstraction<'_, '_> {
    /// Works out what an edge reads and writes.
    pub(super) fn wire(&mut self, id: SkeletonEdgeId) {
        let edge = self.ground.skeleton.edge(id);
        let procedure = self.ground.skeleton.vertex(edge.from).procedure;
        let ground = self.ground;
        let step = ground.step(self.terms, &mut self.memory.blocks, edge.kind);
        let step = step.ok().flatten();
        let wiring = match (edge.kind, step) {
            (SkeletonEdgeKind::Start, Some(step)) => self.wire_start(procedure, &step),
            (SkeletonEdgeKind::Block(..), Some(step)) => {
                self.wire_block(procedure, (edge.from, edge.to), &step)
            }
            // A block without meaning may do anything: all its predicates are open.
            (SkeletonEdgeKind::Block(..), None) => Wiring {
                writes: self
                    .visible(procedure)
                    .into_iter()
                    .map(|(slot, _)| slot)
                    .collect(),
                ..Wiring::default()
            },
            (SkeletonEdgeKind::Call(_, callee), step) => {
                self.wire_call(procedure, edge.from, step.as_ref(), callee)
            }
            (SkeletonEdgeKind::Return(call, callee), Some(step)) => {
                self.wire_return(procedure, edge.to, &step, (call, callee))
            }
            _ => Wiring::default(),
        };
        self.wirings[id.index()] = Some(wiring);
    }

    fn wire_start(&mut self, procedure: ProcedureId, start: &Step) -> Wiring {
        let semantics = self.ground.semantics;
        let mut wiring = Wiring {
            condition: Some(start.condition),
            ..Wiring::default()
        };
        for (slot, entry) in self.visible(procedure) {
            if entry.at(Skeleton::READY) {
                wiring.writes.push(slot);
                let after = start.state.apply(semantics, self.terms, entry.formula);
                wiring.after.push(after);
            }
        }
        wiring
    }

    fn wire_block(
        &mut self,
        procedure: ProcedureId,
        (start, end): (VertexId, VertexId),
        exit: &Step,
    ) -> Wiring {
        let semantics = self.ground.semantics;
        let mut wiring = Wiring {
            condition: Some(exit.condition),
            ..Wiring::default()
        };
        let mut open = Vec::new();
        let changed: BTreeSet<StateVarId> = exit.state.written().map(|(id, _)| id).collect();
        for (slot, entry) in self.visible(procedure) {
            let touched = !entry.now.is_disjoint(&changed);
            let kept = entry.at(start) && !touched;
            if entry.at(end) && !kept {
                let after = exit.state.apply(semantics, self.terms, entry.formula);
                if !entry.at(start) || after != entry.formula {
                    wiring.writes.push(slot);
                    wiring.after.push(after);
                }
            } else if !entry.at(end) && touched {
                open.push(slot);
            }
        }
        if self.ground.skeleton.procedure(procedure).exit == end {
            let returns = self.scopes[procedure.index()].returns.clone();
            for (position, &predicate) in returns.iter().enumerate() {
                let formula = self.scopes[procedure.index()].predicates[predicate].formula;
                wiring.writes.push(self.return_slot(procedure, position));
                wiring
                    .after
                    .push(exit.state.apply(semantics, self.terms, formula));
            }
        }
        self.read_relevant(procedure, start, &mut wiring);
        wiring.writes.extend(open);
        wiring
    }

    /// Reads the predicates that can tell anything about the condition and the new values.
    fn read_relevant(&mut self, procedure: ProcedureId, vertex: VertexId, wiring: &mut Wiring) {
        let facts = self
            .visible(procedure)
            .into_iter()
            .filter(|(_, entry)| entry.at(vertex))
            .map(|(slot, entry)| (slot, entry.formula))
            .collect();
        self.read_facts(facts, wiring);
    }

    fn wire_call(
        &mut self,
        caller: ProcedureId,
        vertex: VertexId,
        entered: Option<&Step>,
        callee: FuncId,
    ) -> Wiring {
        let semantics = self.ground.semantics;
        let Some(target) = self.ground.skeleton.procedure_of(callee) else {
            return Wiring::default();
        };
        // The root calls the entry function without doing anything.
        let nothing = State::new();
        let (condition, state) = match entered {
            Some(step) => (step.condition, &step.state),
            None => (self.terms.bool(true), &nothing),
        };
        let mut wiring = Wiring {
            condition: Some(condition),
            ..Wiring::default()
        };
        for position in 0..self.scopes[target.index()].formals {
            let formula = self.scopes[target.index()].predicates[position].formula;
            let entry = self.old_is_now(formula);
            wiring.writes.push(self.local_slot(target, position));
            wiring.after.push(state.apply(semantics, self.terms, entry));
        }
        self.read_relevant(caller, vertex, &mut wiring);
        for position in 0..self.scopes[target.index()].returns.len() {
            let value = self.return_slot(target, position);
            wiring
                .results
                .push((value, self.temporary_slot(caller, position)));
        }
        wiring
    }

    /// A formula at a procedure's entry: what was is what is.
    fn old_is_now(&mut self, formula: TermId) -> TermId {
        let semantics = self.ground.semantics;
        let mut map = BTreeMap::new();
        for constant in self.terms.free_constants(&[formula]) {
            if let Some(Meaning::Old(id)) = self.ground.constants.meaning(constant) {
                map.insert(constant, semantics.constant(self.terms, id));
            }
        }
        self.terms.substitute(formula, &map)
    }

    fn wire_return(
        &mut self,
        caller: ProcedureId,
        end: VertexId,
        step: &Step,
        (call, callee): (EdgeId, FuncId),
    ) -> Wiring {
        let semantics = self.ground.semantics;
        let target = self.ground.skeleton.procedure_of(callee);
        let (Some(target), Some(returned)) = (target, &step.returned) else {
            return Wiring::default();
        };
        let mut wiring = Wiring {
            condition: Some(step.condition),
            ..Wiring::default()
        };
        let globals = self.globals.len() as u32;
        let exit = self.ground.skeleton.procedure(target).exit;
        let call_from = self.ground.semantics.program.edges[call.index()].from;
        let before = self.ground.skeleton.vertex_at(call_from);
        let mut facts = Vec::new();
        let mut open = Vec::new();
        for index in 0..globals {
            let entry = self.globals[index as usize].clone();
            // The callee has kept the global predicates up to date; only the result can change
            // them further.
            let now = returned.state.apply(semantics, self.terms, entry.formula);
            let then = step.state.apply(semantics, self.terms, entry.formula);
            // Where the callee does not touch it, it is what it was at the call.
            let untouched = now == entry.formula && before.is_some_and(|b| entry.at(b));
            let valid = entry.at(exit) || untouched;
            if valid {
                facts.push((Slot(index), now));
            }
            if entry.at(end) && (!valid || then != now) {
                wiring.writes.push(Slot(index));
                wiring.after.push(then);
            } else if !entry.at(end) && then != now {
                open.push(Slot(index));
            }
        }
        for (slot, entry) in self.visible(caller) {
            if slot.0 < globals {
                continue;
            }
            let held = before.is_some_and(|b| entry.at(b));
            if entry.at(end) {
                let then = step.state.apply(semantics, self.terms, entry.formula);
                if !held || then != entry.formula {
                    wiring.writes.push(slot);
                    wiring.after.push(then);
                }
            }
            // The caller's own predicates still speak of the state before the call.
            if held {
                facts.push((slot, entry.formula));
            }
        }
        // Return predicates: over what the callee found at its entry and left at its exit.
        for position in 0..self.scopes[target.index()].returns.len() {
            let predicate = self.scopes[target.index()].returns[position];
            let formula = self.scopes[target.index()].predicates[predicate].formula;
            let ground = self.ground;
            let fact = ground.at_exit(self.terms, returned, formula);
            facts.push((self.temporary_slot(caller, position), fact));
        }
        self.read_facts(facts, &mut wiring);
        wiring.writes.extend(open);
        wiring
    }

    fn read_facts(&mut self, facts: Vec<(Slot, TermId)>, wiring: &mut Wiring) {
        let mut roots = wiring.after.clone();
        roots.extend(wiring.condition);
        let mut known: BTreeSet<TermId> = self.terms.free_constants(&roots);
        let mut rest = facts;
        loop {
            let before = rest.len();
            rest.retain(|&(slot, formula)| {
                let support = self.terms.free_constants(&[formula]);
                if support.is_disjoint(&known) {
                    return true;
                }
                known.extend(support);
                wiring.reads.push(slot);
                wiring.before.push(formula);
                false
            });
            if rest.len() == before {
                return;
            }
        }
    }
}
