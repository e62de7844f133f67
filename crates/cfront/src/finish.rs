//! The end of linking: every function gets a body, and the graphs are laid out.

use crate::builder::{Body, Builder, DraftEdge, FunctionDraft, Strength};
use crate::cfg::{lay_out, shorten};
use crate::ids::{ExprId, FuncId, PlaceId, TypeId, VarId};
use crate::lower::PRESENT;
use crate::lower::environment::ByPointer;
use crate::models::{MAY_FAIL, may_fail, sets, writes};
use crate::operands::{
    Operand, Positions, Renumber, each_operand, operands_of, operands_of_place, positions,
};
use crate::options::{Failures, Undefined};
use crate::program::*;
use crate::quoted::quote_sources;
use crate::types::{Type, Variadic};
use hardbop_diagnostics::{Diagnostic, Severity, Sources};
use std::collections::BTreeSet;

/// What the model of `exit` calls before the program ends.
pub(crate) const SHUTDOWN: &str = "__hardbop_shutdown";

impl Builder {
    /// The finished program, unless the entry is missing, and what is to be said about it.
    pub fn finish(
        mut self,
        sources: Sources,
        presumed_files: Vec<String>,
    ) -> (Option<Program>, Vec<Diagnostic>) {
        let entry_name = self.options.entry.clone();
        let entry = self
            .functions
            .iter()
            .position(|f| f.name == entry_name && f.body.is_some());
        let Some(entry) = entry else {
            let message = crate::start::missing(&self, &entry_name);
            self.diagnostics
                .push(Diagnostic::global(Severity::Error, message));
            return (None, self.diagnostics);
        };
        let entry = self.start.unwrap_or(FuncId(entry as u32));
        let entry = self.with_startup(entry);
        self.define_shutdown();
        self.check_heap_at_return(entry);
        self.define_undefined();
        self.fail_in_error_functions(entry);
        self.note_undefined_variables();
        for place in &mut self.places {
            if let PlaceKind::Var(var) = place.kind {
                place.ty = self.variables[var.index()].ty;
            }
        }
        self.fit_calls();
        self.pass_further();
        let mut bodies: Vec<Body> = self
            .functions
            .iter_mut()
            .map(|f| f.body.take().unwrap_or_default())
            .collect();
        self.follow_rounding(&mut bodies);
        bodies.iter_mut().for_each(shorten);
        self.drop_unused(&mut bodies);
        self.mark_taken();
        let mut program = Program {
            types: self.types,
            variables: self.variables,
            functions: Vec::with_capacity(self.functions.len()),
            locations: Vec::new(),
            edges: Vec::new(),
            exprs: self.exprs,
            places: self.places,
            checks: self.checks,
            entry,
            assumptions: self.assumptions,
            unsupported: self.unsupported,
            sources,
            presumed_files,
            rules: Vec::new(),
            indices: Indices::Confined,
            words: self.words,
        };
        for (i, (draft, body)) in self.functions.into_iter().zip(bodies).enumerate() {
            let id = FuncId(i as u32);
            let (locations, entry, exit) = lay_out(id, body, &mut program);
            program.functions.push(Function {
                name: draft.name,
                ty: draft.ty,
                formals: draft.formals,
                locals: draft.locals,
                result: draft.result,
                origin: draft.origin,
                locations,
                entry,
                exit,
                source: draft.source,
            });
        }
        drop_unreached_checks(&mut program);
        quote_sources(&mut program);
        (Some(program), self.diagnostics)
    }

    /// A function that runs the constructors, the entry and the destructors, if there are any.
    fn with_startup(&mut self, entry: FuncId) -> FuncId {
        if self.startup.is_empty() && self.shutdown.is_empty() {
            return entry;
        }
        let draft = self.functions[entry.index()].clone();
        let id = self.static_function(&format!("{}#start", draft.name), draft.ty, draft.source);
        let formals: Vec<VarId> = draft
            .formals
            .iter()
            .map(|&formal| {
                let mut variable = self.variables[formal.index()].clone();
                variable.kind = VarKind::Formal(id);
                self.add_variable(variable)
            })
            .collect();
        let result = draft.result.map(|result| {
            let mut variable = self.variables[result.index()].clone();
            variable.kind = VarKind::Result(id);
            self.add_variable(variable)
        });
        let mut body = Body::default();
        body.entry = body.location(LocationKind::Plain);
        body.exit = body.location(LocationKind::Exit);
        let mut at = body.entry;
        let mut call = |body: &mut Body, func, arguments, result| {
            let to = body.location(LocationKind::Plain);
            let op = Op::Call {
                callee: Callee::Direct(func),
                arguments,
                result,
            };
            body.edge(at, to, op, draft.source);
            at = to;
        };
        for &func in self.startup.values() {
            call(&mut body, func, Vec::new(), None);
        }
        let mut arguments = Vec::new();
        let mut places = Vec::new();
        for &formal in &formals {
            let ty = self.variables[formal.index()].ty;
            places.push((formal, ty));
        }
        for (formal, ty) in places {
            // Borrowed apart from the maps above, hence not by the helpers.
            let place = self.place(PlaceKind::Var(formal), ty);
            arguments.push(self.expr(ExprKind::Load(place), ty));
        }
        let result_place = result.map(|r| self.var_place(r));
        call(&mut body, entry, arguments, result_place);
        for &func in self.shutdown.values() {
            call(&mut body, func, Vec::new(), None);
        }
        let exit = body.exit;
        body.edge(at, exit, Op::Skip, draft.source);
        let start = &mut self.functions[id.index()];
        start.formals = formals;
        start.result = result;
        start.origin = draft.origin;
        start.strength = Strength::Strong;
        start.body = Some(body);
        id
    }

    /// What the model of `exit` calls: everything that runs after the entry.
    fn define_shutdown(&mut self) {
        let undefined = |f: &FunctionDraft| f.name == SHUTDOWN && f.body.is_none();
        let Some(index) = self.functions.iter().position(undefined) else {
            return;
        };
        let source = self.functions[index].source;
        let mut body = Body::default();
        body.entry = body.location(LocationKind::Plain);
        body.exit = body.location(LocationKind::Exit);
        let mut at = body.entry;
        for &func in self.shutdown.values() {
            let to = body.location(LocationKind::Plain);
            let op = Op::Call {
                callee: Callee::Direct(func),
                arguments: Vec::new(),
                result: None,
            };
            body.edge(at, to, op, source);
            at = to;
        }
        let exit = body.exit;
        body.edge(at, exit, Op::Skip, source);
        let draft = &mut self.functions[index];
        draft.origin = Origin::Model;
        draft.strength = Strength::Strong;
        draft.body = Some(body);
    }

    /// Gives each function that no unit defines a body that returns anything.
    fn define_undefined(&mut self) {
        let mut order: Vec<usize> = (0..self.functions.len())
            .filter(|&i| self.functions[i].body.is_none())
            .collect();
        order.sort_by_key(|&i| (self.functions[i].first_use, i));
        let externals = self.external_variables();
        for i in order {
            let id = FuncId(i as u32);
            let (name, ty, source) = {
                let f = &self.functions[i];
                (f.name.clone(), f.ty, f.first_use.unwrap_or(f.source))
            };
            let Type::Function {
                result, parameters, ..
            } = self.types.get(ty).clone()
            else {
                continue;
            };
            let formals: Vec<VarId> = parameters
                .iter()
                .map(|&ty| self.synthetic("p#", ty, VarKind::Formal(id), source))
                .collect();
            let result = match self.types.get(result) {
                Type::Void => None,
                _ => Some(self.synthetic("result#", result, VarKind::Result(id), source)),
            };
            let mut body = Body::default();
            body.entry = body.location(LocationKind::Plain);
            body.exit = body.location(LocationKind::Exit);
            let mut at = body.entry;
            let mut ops = Vec::new();
            let havoc = self.options.undefined == Undefined::Havoc || writes(&name);
            if havoc {
                for &formal in &formals {
                    let ty = self.variables[formal.index()].ty;
                    if matches!(self.types.get(ty), Type::Pointer(_)) {
                        let place = self.var_place(formal);
                        let pointer = self.load(place);
                        ops.push(Op::HavocMemory {
                            pointer,
                            size: None,
                            input: false,
                        });
                    }
                }
                // What it knows through numbers, records or `...`, no pointer here leads to: in the
                // logic one of these is enough for everything that can be reached.
                if ops.is_empty() && externals.is_empty() {
                    let byte = self.types.int(8, false);
                    let to = self.types.pointer(byte);
                    ops.push(Op::HavocMemory {
                        pointer: self.zero(to),
                        size: None,
                        input: false,
                    });
                }
                for &global in &externals {
                    let place = self.var_place(global);
                    let ty = self.types.pointer(self.variables[global.index()].ty);
                    let pointer = self.address_of(place, ty);
                    ops.push(Op::HavocMemory {
                        pointer,
                        size: None,
                        input: false,
                    });
                }
            }
            if self.looks_at_errno
                && may_fail(&name)
                && let Some(failure) = self.functions.iter().position(|f| f.name == MAY_FAIL)
            {
                ops.push(Op::Call {
                    callee: Callee::Direct(FuncId(failure as u32)),
                    arguments: Vec::new(),
                    result: None,
                });
            }
            for variable in sets(&name) {
                if let Some(&variable) = self.external_variables.get(variable) {
                    let place = self.var_place(variable);
                    ops.push(Op::Havoc { place });
                }
            }
            let known = ByPointer::of(&name);
            let known = match self.refused.get(&id) {
                Some(what) => Some(ByPointer::Refuse(what.clone())),
                None if self.error_functions.contains(&id) => Some(ByPointer::Fail),
                None => known,
            };
            if let Some(known) = &known {
                ops.clear();
                self.known_body(known, &name, (id, source), &formals, &mut body, &mut at);
            }
            if let Some(result) = result {
                let place = self.var_place(result);
                let scalar = self.types.is_scalar(self.variables[result.index()].ty);
                ops.push(match known {
                    Some(ByPointer::Input) if scalar => Op::Input {
                        place,
                        name: name.clone(),
                    },
                    _ => Op::Havoc { place },
                });
            }
            for op in ops {
                let to = body.location(LocationKind::Plain);
                body.edge(at, to, op, source);
                at = to;
            }
            let returns = known.is_some() || !self.noreturn.contains(&id);
            if returns {
                let exit = body.exit;
                body.edge(at, exit, Op::Skip, source);
            } else {
                self.end_of_noreturn(id, source, &mut body, at);
            }
            let f = &mut self.functions[i];
            f.formals = formals;
            f.result = result;
            f.body = Some(body);
            if f.first_use.is_some() && known.is_none() {
                let does = match (havoc, returns) {
                    (true, true) => "change memory and return anything",
                    (false, true) => "return anything",
                    (_, false) => "end the program, as its declaration says",
                };
                self.diagnostics.push(
                    Diagnostic::warning(source.span, format!("function `{name}` is not defined"))
                        .label(format!("it is taken to {does}")),
                );
                self.assumptions.push(Assumption::UndefinedFunction {
                    name,
                    source,
                    havoc,
                    returns,
                });
            }
        }
    }

    /// A function without a body that does not return may end the program by `exit`, after which
    /// handlers run, or without.
    fn end_of_noreturn(&mut self, id: FuncId, source: Source, body: &mut Body, at: u32) {
        let halt = body.location(LocationKind::Halt);
        if self.shutdown.is_empty() {
            body.edge(at, halt, Op::Skip, source);
            return;
        }
        let int = self.types.int(32, true);
        let how = self.synthetic("exits#", int, VarKind::Temporary(id), source);
        self.functions[id.index()].locals.push(how);
        let place = self.var_place(how);
        let condition = self.load(place);
        let (chosen, mut exits) = (
            body.location(LocationKind::Plain),
            body.location(LocationKind::Plain),
        );
        body.edge(at, chosen, Op::Havoc { place }, source);
        for (to, holds) in [(exits, true), (halt, false)] {
            body.edge(chosen, to, Op::Assume { condition, holds }, source);
        }
        for &func in self.shutdown.values() {
            let to = body.location(LocationKind::Plain);
            let op = Op::Call {
                callee: Callee::Direct(func),
                arguments: Vec::new(),
                result: None,
            };
            body.edge(exits, to, op, source);
            exits = to;
        }
        body.edge(exits, halt, Op::Skip, source);
    }

    /// Begins the body of a function that is called by a pointer and that lowering knows where it
    /// is called by name.
    fn known_body(
        &mut self,
        known: &ByPointer,
        name: &str,
        (function, source): (FuncId, Source),
        formals: &[VarId],
        body: &mut Body,
        at: &mut u32,
    ) {
        let next = body.location(LocationKind::Plain);
        match known {
            ByPointer::Input => return,
            ByPointer::Refuse(what) => {
                let construct = self.add_unsupported(what.clone(), source);
                body.edge(*at, next, Op::Unsupported { construct }, source);
            }
            ByPointer::Fail | ByPointer::Assert if self.options.failures == Failures::Ends => {
                let construct = self.add_unsupported(format!("an end in `{name}`"), source);
                body.edge(*at, next, Op::Unsupported { construct }, source);
            }
            ByPointer::Fail | ByPointer::Assert => {
                let check = self.add_check(Check {
                    kind: match self.error_functions.contains(&function) {
                        true => CheckKind::ErrorCall,
                        false => CheckKind::Assertion,
                    },
                    message: format!("call of `{name}`"),
                    function,
                    source,
                });
                let error = body.location(LocationKind::Error(check));
                match (known, formals.first()) {
                    (ByPointer::Assert, Some(&formal)) => {
                        let place = self.var_place(formal);
                        let condition = self.load(place);
                        for (to, holds) in [(next, true), (error, false)] {
                            let op = Op::Assume { condition, holds };
                            body.edge(*at, to, op, source);
                        }
                    }
                    _ => body.edge(*at, error, Op::Skip, source),
                }
            }
        }
        *at = next;
    }

    /// A function that stands for an error may be called by a pointer, or at the start or the end
    /// of the program: then coming into it is the error, whatever its body.
    fn fail_in_error_functions(&mut self, entry: FuncId) {
        let run: BTreeSet<FuncId> = self
            .startup
            .values()
            .chain(self.shutdown.values())
            .copied()
            .collect();
        for id in self.error_functions.clone() {
            let draft = &self.functions[id.index()];
            let called = draft.first_use.is_some() || run.contains(&id) || id == entry;
            if draft.origin == Origin::Undefined || !called {
                continue;
            }
            let (name, source) = (draft.name.clone(), draft.source);
            let mut body = Body::default();
            body.entry = body.location(LocationKind::Plain);
            body.exit = body.location(LocationKind::Exit);
            let mut at = body.entry;
            self.known_body(
                &ByPointer::Fail,
                &name,
                (id, source),
                &[],
                &mut body,
                &mut at,
            );
            let exit = body.exit;
            body.edge(at, exit, Op::Skip, source);
            let draft = &mut self.functions[id.index()];
            draft.locals.clear();
            draft.body = Some(body);
        }
    }

    fn synthetic(&mut self, name: &str, ty: TypeId, kind: VarKind, source: Source) -> VarId {
        self.add_variable(Variable {
            name: name.to_owned(),
            ty,
            kind,
            address_taken: false,
            source,
            initial: Initial::None,
            read_only: false,
            align: 1,
        })
    }

    fn note_undefined_variables(&mut self) {
        for variable in &self.variables {
            let own = variable.name.ends_with(PRESENT);
            if variable.kind == VarKind::Global && variable.initial == Initial::Unknown && !own {
                self.assumptions.push(Assumption::UndefinedVariable {
                    name: variable.name.clone(),
                    source: variable.source,
                });
            }
        }
    }

    /// Makes the arguments of direct calls fit the formals: functions without a prototype are
    /// called with promoted arguments, and units may disagree about a function.
    fn fit_calls(&mut self) {
        for i in 0..self.functions.len() {
            let Some(mut body) = self.functions[i].body.take() else {
                continue;
            };
            let mut more: Vec<DraftEdge> = Vec::new();
            for at in 0..body.edges.len() {
                let Op::Call {
                    callee: Callee::Direct(callee),
                    arguments,
                    result,
                } = &body.edges[at].op
                else {
                    continue;
                };
                let (callee, result) = (*callee, *result);
                let mut arguments = arguments.clone();
                let source = body.edges[at].source;
                let (to_result, variadic) = {
                    let f = &self.functions[callee.index()];
                    let variadic = matches!(
                        self.types.get(f.ty),
                        Type::Function {
                            variadic: Variadic::Yes,
                            ..
                        }
                    );
                    (f.result, variadic)
                };
                let formals = self.functions[callee.index()].formals.clone();
                for (position, &formal) in formals.iter().enumerate() {
                    let ty = self.variables[formal.index()].ty;
                    match arguments.get(position).copied() {
                        Some(argument) => {
                            let from = self.ty_of(argument);
                            if from == ty {
                                continue;
                            }
                            arguments[position] =
                                if self.types.is_scalar(from) && self.types.is_scalar(ty) {
                                    self.convert(argument, ty)
                                } else {
                                    self.unknown_value(i, ty, source)
                                };
                        }
                        None => {
                            let value = self.unknown_value(i, ty, source);
                            arguments.push(value);
                        }
                    }
                }
                if !variadic {
                    arguments.truncate(formals.len());
                }
                let mut new_result = result;
                if let Some(place) = result {
                    let wanted = self.places[place.index()].ty;
                    match to_result.map(|r| self.variables[r.index()].ty) {
                        Some(given) if given == wanted => {}
                        Some(given) => {
                            let kept = self.unknown_place(i, given, source);
                            new_result = Some(kept);
                            let (next, to) =
                                (body.location(LocationKind::Plain), body.edges[at].to);
                            let op = if self.types.is_scalar(given) && self.types.is_scalar(wanted)
                            {
                                let value = self.load(kept);
                                let value = self.convert(value, wanted);
                                Op::Assign { place, value }
                            } else {
                                Op::Havoc { place }
                            };
                            body.edges[at].to = next;
                            more.push(DraftEdge {
                                from: next,
                                to,
                                op,
                                source,
                            });
                        }
                        None => {
                            new_result = None;
                            let (next, to) =
                                (body.location(LocationKind::Plain), body.edges[at].to);
                            body.edges[at].to = next;
                            more.push(DraftEdge {
                                from: next,
                                to,
                                op: Op::Havoc { place },
                                source,
                            });
                        }
                    }
                }
                body.edges[at].op = Op::Call {
                    callee: Callee::Direct(callee),
                    arguments,
                    result: new_result,
                };
            }
            body.edges.append(&mut more);
            self.functions[i].body = Some(body);
        }
    }

    fn unknown_place(&mut self, function: usize, ty: TypeId, source: Source) -> PlaceId {
        let func = FuncId(function as u32);
        let var = self.synthetic("t#unknown", ty, VarKind::Temporary(func), source);
        self.functions[function].locals.push(var);
        self.var_place(var)
    }

    fn unknown_value(&mut self, function: usize, ty: TypeId, source: Source) -> ExprId {
        let place = self.unknown_place(function, ty, source);
        self.load(place)
    }

    /// Drops the expressions and places that nothing uses, so that later stages that look at
    /// all of them see the program only.
    fn drop_unused(&mut self, bodies: &mut [Body]) {
        let mut live = Live {
            exprs: vec![false; self.exprs.len()],
            places: vec![false; self.places.len()],
        };
        let mut work = Vec::new();
        for body in bodies.iter() {
            for edge in &body.edges {
                each_operand(&edge.op, &mut |operand| work.push(operand));
            }
        }
        for variable in &self.variables {
            if let Initial::Data(parts) = &variable.initial {
                for part in parts {
                    match part.value {
                        InitialValue::Scalar(e) | InitialValue::Bits(e, _) => {
                            work.push(Operand::Expr(e));
                        }
                        InitialValue::Bytes(_) => {}
                    }
                }
            }
        }
        while let Some(operand) = work.pop() {
            match operand {
                Operand::Expr(e) => {
                    if !std::mem::replace(&mut live.exprs[e.index()], true) {
                        operands_of(&self.exprs[e.index()].kind, &mut |o| work.push(o));
                    }
                }
                Operand::Place(p) => {
                    if !std::mem::replace(&mut live.places[p.index()], true) {
                        operands_of_place(&self.places[p.index()].kind, &mut |o| work.push(o));
                    }
                }
            }
        }
        let new_exprs = positions(&live.exprs);
        let new_places = positions(&live.places);
        let map = Positions {
            exprs: &new_exprs,
            places: &new_places,
        };
        let exprs = std::mem::take(&mut self.exprs);
        self.exprs = exprs
            .into_iter()
            .zip(&live.exprs)
            .filter(|(_, live)| **live)
            .map(|(e, _)| Expr {
                kind: map.expr_kind(e.kind),
                ty: e.ty,
            })
            .collect();
        let places = std::mem::take(&mut self.places);
        self.places = places
            .into_iter()
            .zip(&live.places)
            .filter(|(_, live)| **live)
            .map(|(p, _)| Place {
                kind: map.place_kind(p.kind),
                ty: p.ty,
            })
            .collect();
        for body in bodies {
            for edge in &mut body.edges {
                map.op(&mut edge.op);
            }
        }
        for variable in &mut self.variables {
            if let Initial::Data(parts) = &mut variable.initial {
                for part in parts {
                    if let InitialValue::Scalar(e) | InitialValue::Bits(e, _) = &mut part.value {
                        *e = map.expr(*e);
                    }
                }
            }
        }
    }

    fn mark_taken(&mut self) {
        for expr in &self.exprs {
            let ExprKind::AddressOf(mut place) = expr.kind else {
                continue;
            };
            loop {
                match self.places[place.index()].kind {
                    PlaceKind::Var(var) => {
                        self.variables[var.index()].address_taken = true;
                        break;
                    }
                    PlaceKind::Deref(_) => break,
                    PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => place = base,
                }
            }
        }
    }
}

struct Live {
    exprs: Vec<bool>,
    places: Vec<bool>,
}

/// Drops the checks whose location was not reachable in its function.
fn drop_unreached_checks(program: &mut Program) {
    let mut kept = vec![false; program.checks.len()];
    for location in &program.locations {
        if let LocationKind::Error(check) = location.kind {
            kept[check.index()] = true;
        }
    }
    let numbers = positions(&kept);
    for location in &mut program.locations {
        if let LocationKind::Error(check) = &mut location.kind {
            check.0 = numbers[check.index()];
        }
    }
    let mut keep = kept.iter();
    program
        .checks
        .retain(|_| keep.next().copied().unwrap_or(false));
}
