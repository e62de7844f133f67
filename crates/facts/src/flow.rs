//! What is known at every location: states flow along edges, into calls and back, until nothing new
//! comes (Cousot and Cousot, POPL 1977); what grows in loops is widened, and what was widened too far
//! is narrowed afterwards.

use crate::Arrays;
use crate::contents;
use crate::eval::{DEPTH, Reader};
use crate::heap::{self, Heap};
use crate::refine::refined;
use crate::start::start;
use crate::state::{State, cell, cell_at, held, mortal, numbers, reread};
use crate::value::Value;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
use hardbop_cfront::points_to::ClassId;
use hardbop_cfront::program::{ExprKind, LocationKind, Op, Program};
use hardbop_cfront::types::Type;
use hardbop_semantics::effects::written_by;
use hardbop_semantics::layout::StateVarId;
use hardbop_semantics::steps::Ground;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the locations that control may come to.
pub type Known = BTreeMap<LocId, State>;

/// So often states are joined where they meet before what grows is widened.
const PATIENCE: u32 = 3;
/// So often what grows goes on to a number of the program; then, to the end.
const STOPS: u32 = 12;
/// How often what is known is narrowed at most: each time, that goes one step further.
const NARROWED: u32 = 24;

/// Follows states through a program.
pub(crate) struct Flow<'a, 'p> {
    ground: &'a Ground<'a, 'p>,
    /// Numbers of the program, in order.
    stops: Vec<i128>,
    /// What functions, and those that they call, read or write beside their own frames.
    touched: Vec<BTreeSet<StateVarId>>,
    /// The classes of what functions, and those that they call, may free.
    frees: Vec<BTreeSet<ClassId>>,
    /// What an edge writes.
    written: Vec<Vec<StateVarId>>,
    /// Where functions are called.
    calls: BTreeMap<FuncId, Vec<EdgeId>>,
    /// The order in which locations are looked at.
    order: Vec<u32>,
    /// Whether what arrays hold is followed.
    arrays: Arrays,
}

/// What is known at every location.
pub(crate) fn flow(
    ground: &Ground<'_, '_>,
    arrays: Arrays,
    budget: &Budget,
) -> Result<Known, Stopped> {
    let flow = Flow::new(ground, arrays);
    let mut known = flow.grow(budget)?;
    for _ in 0..NARROWED {
        budget.check()?;
        let narrowed = flow.narrowed(&known);
        if narrowed == known {
            break;
        }
        known = narrowed;
    }
    Ok(known)
}

impl<'a, 'p> Flow<'a, 'p> {
    fn new(ground: &'a Ground<'a, 'p>, arrays: Arrays) -> Flow<'a, 'p> {
        let semantics = ground.semantics;
        let program = semantics.program;
        let mut written = Vec::with_capacity(program.edges.len());
        let mut calls: BTreeMap<FuncId, Vec<EdgeId>> = BTreeMap::new();
        for (index, edge) in program.edges.iter().enumerate() {
            let mut ids = BTreeSet::new();
            written_by(semantics, &edge.op, &mut ids);
            written.push(ids.into_iter().collect());
            if let Op::Call { callee, .. } = &edge.op {
                for &target in callee.targets() {
                    calls.entry(target).or_default().push(EdgeId(index as u32));
                }
            }
        }
        Flow {
            stops: stops(semantics.program),
            touched: crate::touched::touched(ground),
            frees: crate::touched::frees(semantics),
            written,
            calls,
            order: order(semantics.program),
            arrays,
            ground,
        }
    }

    /// States from the start on, until nothing new comes.
    fn grow(&self, budget: &Budget) -> Result<Known, Stopped> {
        let program = self.ground.semantics.program;
        let entry = program.function(program.entry).entry;
        let mut known = Known::from([(entry, start(self.ground.semantics, self.arrays))]);
        let mut joins: BTreeMap<LocId, u32> = BTreeMap::new();
        let mut work: BTreeSet<(u32, LocId)> = BTreeSet::from([(self.order[entry.index()], entry)]);
        let mut looked = 0u32;
        while let Some((_, at)) = work.pop_first() {
            looked += 1;
            if looked.is_multiple_of(256) {
                budget.check()?;
            }
            let Some(state) = known.get(&at).cloned() else {
                continue;
            };
            for (to, next) in self.steps(&known, at, &state) {
                let Some(new) = self.arrive(&known, &mut joins, to, next) else {
                    continue;
                };
                known.insert(to, new);
                work.insert((self.order[to.index()], to));
                // What a function gives back is given back to all who called it.
                let function = program.locations[to.index()].function;
                if program.function(function).exit == to {
                    for call in self.calls.get(&function).into_iter().flatten() {
                        let from = program.edges[call.index()].from;
                        if known.contains_key(&from) {
                            work.insert((self.order[from.index()], from));
                        }
                    }
                }
            }
        }
        Ok(known)
    }

    /// What is known of a location where one more state comes; `None` if that is nothing new.
    fn arrive(
        &self,
        known: &Known,
        joins: &mut BTreeMap<LocId, u32>,
        to: LocId,
        next: State,
    ) -> Option<State> {
        let Some(old) = known.get(&to) else {
            return Some(next);
        };
        let joined = old.join(&next);
        if joined == *old {
            return None;
        }
        let joins = joins.entry(to).or_default();
        *joins += 1;
        if *joins <= PATIENCE || !self.is_widened(to) {
            return Some(joined);
        }
        let stops: &[i128] = match *joins <= STOPS {
            true => &self.stops,
            false => &[],
        };
        Some(joined.widened(self.ground.semantics, old, stops))
    }

    /// Whether states come again and again.
    fn is_widened(&self, at: LocId) -> bool {
        let program = self.ground.semantics.program;
        let location = &program.locations[at.index()];
        let function = program.function(location.function);
        location.kind == LocationKind::LoopHead || at == function.entry || at == function.exit
    }

    /// What comes in one step from what is known.
    fn narrowed(&self, known: &Known) -> Known {
        let program = self.ground.semantics.program;
        let entry = program.function(program.entry).entry;
        let mut narrowed = Known::from([(entry, start(self.ground.semantics, self.arrays))]);
        for (&at, state) in known {
            for (to, next) in self.steps(known, at, state) {
                let joined = match narrowed.get(&to) {
                    Some(old) => old.join(&next),
                    None => next,
                };
                narrowed.insert(to, joined);
            }
        }
        narrowed
    }

    /// Where control comes from a location in one step, and what is known there.
    fn steps(&self, known: &Known, at: LocId, state: &State) -> Vec<(LocId, State)> {
        let program = self.ground.semantics.program;
        let semantics = self.ground.semantics;
        let mut steps = Vec::new();
        for (id, edge) in program.edges_from(at) {
            match &edge.op {
                Op::Assume { condition, holds } => {
                    if let Some(next) = refined(semantics, state, *condition, *holds, DEPTH) {
                        steps.push((edge.to, next));
                    }
                }
                Op::Call {
                    callee,
                    arguments,
                    result,
                } => {
                    for &target in callee.targets() {
                        let entered = self.enter(state, target, arguments);
                        steps.push((program.function(target).entry, entered));
                        if let Some(left) = known.get(&program.function(target).exit) {
                            let back = self.leave(state, target, left, *result);
                            steps.push((edge.to, back));
                        }
                    }
                }
                Op::Unsupported { .. } => {}
                op => steps.push((edge.to, self.after(state, id, op))),
            }
        }
        steps
    }

    /// What is known after a plain edge.
    fn after(&self, state: &State, edge: EdgeId, op: &Op) -> State {
        let mut next = state.clone();
        let assigned = match *op {
            Op::Assign { place, value } => self.assigned(state, place, value),
            _ => None,
        };
        for id in &self.written[edge.index()] {
            next.values.remove(id);
        }
        let written = &self.written[edge.index()];
        let reader = Reader::new(self.ground.semantics, state);
        if self.arrays != Arrays::Left {
            contents::written(&reader, &mut next, op, written);
            heap::written(&reader, &mut next, (edge, op), written);
        }
        match op {
            Op::Declare { variable } => self.begins(&mut next, *variable),
            Op::EndScope { variables } => {
                variables.iter().for_each(|&variable| next.ends(variable));
            }
            _ => {}
        }
        if let Some((id, value)) = assigned {
            next.values.insert(id, value);
        }
        next.settle_nameless();
        next
    }

    /// A local begins a life.
    fn begins(&self, state: &mut State, variable: VarId) {
        state.ends(variable);
        if mortal(self.ground.semantics, variable) {
            state.alive.insert(variable);
        }
    }

    /// The state variable that an assignment writes as a whole, and what is known of it then.
    fn assigned(
        &self,
        state: &State,
        place: PlaceId,
        value: ExprId,
    ) -> Option<(StateVarId, Value)> {
        let semantics = self.ground.semantics;
        let reader = Reader::new(semantics, state);
        let id = cell(semantics, place)?;
        let value = reader.value(value)?;
        self.fits(id, value).map(|value| (id, value))
    }

    /// A value as a state variable holds it, if it says anything.
    fn fits(&self, id: StateVarId, value: Value) -> Option<Value> {
        match value {
            Value::Pointer(_) => Some(value),
            Value::Number(range) => {
                let all = held(self.ground.semantics, id)?;
                let range = reread(range, all)?;
                (range != all).then_some(Value::Number(range))
            }
        }
    }

    /// What is known where a function begins.
    fn enter(&self, state: &State, callee: FuncId, arguments: &[ExprId]) -> State {
        let semantics = self.ground.semantics;
        let program = self.ground.semantics.program;
        let reader = Reader::new(semantics, state);
        let touched = &self.touched[callee.index()];
        let kept = state.values.iter().filter(|(id, _)| touched.contains(id));
        let contents = state.contents.iter();
        let contents = contents.filter(|(part, _)| touched.contains(&part.region));
        let mut entered = State {
            values: kept.map(|(&id, value)| (id, value.clone())).collect(),
            contents: contents
                .map(|(&part, value)| (part, value.clone()))
                .collect(),
            heaps: state.heaps.clone(),
            alive: state.alive.clone(),
        };
        let described = program.function(callee);
        let passed: Vec<(VarId, Option<Value>)> = described
            .formals
            .iter()
            .zip(arguments)
            .map(|(&formal, &argument)| (formal, reader.value(argument)))
            .collect();
        for &variable in described.locals.iter().chain(&described.formals) {
            self.begins(&mut entered, variable);
        }
        for (formal, value) in passed {
            let ty = program.variable(formal).ty;
            if let Some(value) = value
                && let Some(id) = self.variable_cell(formal, ty)
                && let Some(value) = self.fits(id, value)
            {
                entered.values.insert(id, value);
            }
        }
        let classes: Vec<ClassId> = entered.heaps.keys().copied().collect();
        for class in classes {
            if !self.has_to_do_with(callee, class) {
                entered.age(class);
                entered.heaps.insert(class, Heap::unknown());
            }
        }
        entered.settle_nameless();
        entered
    }

    /// Whether a function, or what it calls, reads or writes objects of a class.
    fn has_to_do_with(&self, callee: FuncId, class: ClassId) -> bool {
        let layout = &self.ground.semantics.layout;
        let touched = &self.touched[callee.index()];
        let extents = layout.ownership().and_then(|known| known.extents(class));
        let regions = self.ground.semantics.points_to.regions().of_class(class);
        let mut regions = regions.map(|region| layout.region(region));
        extents.is_some_and(|extents| touched.contains(&extents))
            || regions.any(|region| touched.contains(&region))
    }

    fn variable_cell(&self, variable: VarId, ty: TypeId) -> Option<StateVarId> {
        let spot = self.ground.semantics.points_to.variable(variable)?;
        cell_at(self.ground.semantics, spot, ty)
    }

    /// What is known after a call, where something is known of the end of the callee.
    fn leave(&self, state: &State, callee: FuncId, left: &State, result: Option<PlaceId>) -> State {
        let semantics = self.ground.semantics;
        let program = self.ground.semantics.program;
        let mut next = state.clone();
        let mut left = left.clone();
        let described = program.function(callee);
        for &variable in described.locals.iter().chain(&described.formals) {
            left.ends(variable);
            next.ends(variable);
        }
        let is_gone = |value: &Value| {
            let mut own = described.locals.iter().chain(&described.formals);
            own.any(|&variable| value.points_into(variable))
        };
        next.alive.retain(|variable| left.alive.contains(variable));
        let modified = self.ground.effects.modified(callee);
        let frees = &self.frees[callee.index()];
        heap::left(semantics, (&mut next, &mut left), modified, frees);
        let returned = described.result.and_then(|variable| {
            let ty = program.variable(variable).ty;
            let id = self.variable_cell(variable, ty)?;
            let value = left.values.get(&id).cloned()?;
            Some((ty, value))
        });
        next.contents
            .retain(|part, _| !modified.contains(&part.region));
        for (&part, value) in &left.contents {
            if modified.contains(&part.region) {
                next.contents.insert(part, value.clone());
            }
        }
        for &id in modified {
            match left.values.get(&id) {
                Some(value) => next.values.insert(id, value.clone()),
                None => next.values.remove(&id),
            };
        }
        if let Some(place) = result {
            let mut written = BTreeSet::new();
            let op = Op::Havoc { place };
            written_by(semantics, &op, &mut written);
            for &id in &written {
                next.values.remove(&id);
            }
            let written: Vec<StateVarId> = written.into_iter().collect();
            if self.arrays != Arrays::Left {
                let reader = Reader::new(semantics, state);
                contents::written(&reader, &mut next, &op, &written);
                let value = returned.as_ref().map(|(_, value)| value.clone());
                let value = value.filter(|value| !is_gone(value));
                heap::store(&reader, &mut next, place, value, &written);
            }
            if let Some(id) = cell(semantics, place)
                && let Some((ty, value)) = returned.filter(|(_, value)| !is_gone(value))
                && let Some(value) = self.converted(ty, program.place(place).ty, value)
                && let Some(value) = self.fits(id, value)
            {
                next.values.insert(id, value);
            }
        }
        next.settle_nameless();
        next
    }

    /// A value of one type in a place of another one, if it is the same there.
    fn converted(&self, from: TypeId, to: TypeId, value: Value) -> Option<Value> {
        let types = &self.ground.semantics.program.types;
        match (&value, types.get(from), types.get(to)) {
            (Value::Pointer(_), Type::Pointer(_), Type::Pointer(_)) => Some(value),
            (Value::Number(range), _, _) => {
                let all = numbers(self.ground.semantics, to)?;
                reread(*range, all).map(Value::Number)
            }
            _ => None,
        }
    }
}

/// The numbers of a program, and their neighbours, in order.
fn stops(program: &Program) -> Vec<i128> {
    let mut stops = BTreeSet::from([0]);
    for expr in &program.exprs {
        if let (ExprKind::Int(bits), Type::Int { width, signed }) =
            (&expr.kind, program.types.get(expr.ty))
            && *width <= 64
        {
            let number = (*bits & ((1u128 << width) - 1)) as i128;
            let number = match *signed && number >= 1 << (width - 1) {
                true => number - (1 << width),
                false => number,
            };
            stops.extend([number - 1, number, number + 1]);
        }
    }
    stops.into_iter().collect()
}

/// Numbers for locations: callers before callees, and within a function, what leads somewhere before
/// where it leads to, loops aside.
fn order(program: &Program) -> Vec<u32> {
    let mut order = vec![0; program.locations.len()];
    let callees = hardbop_cfront::call_graph::callees(program);
    let mut next = 0;
    let mut functions = hardbop_graph::components(&callees);
    // Components come with callees first.
    functions.reverse();
    for function in functions.into_iter().flatten() {
        let function = FuncId(function as u32);
        let described = program.function(function);
        let first = described.locations.start;
        let successors = program.successors(function);
        let entry = (described.entry.0 - first) as usize;
        let mut postorder = hardbop_graph::depth_first(&successors, [entry]).postorder;
        postorder.reverse();
        for location in postorder {
            order[first as usize + location] = next;
            next += 1;
        }
    }
    order
}
