//! Where executions may end without being asked about: divisions by zero, accesses outside of
//! live objects, wrong calls of `free`.

use super::View;
use crate::ids::{ExprId, FuncId, PlaceId, VarId};
use crate::operands::{Operand, each_below, each_load, each_operand};
use crate::options::LowerOptions;
use crate::program::{
    Assumption, BinaryOp, Callee, CheckKind, Edge, ExprKind, Op, Origin, PlaceKind, Program, Root,
    Source, VarKind,
};
use crate::types::Type;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn find(view: &View<'_>, options: &LowerOptions) -> Vec<Assumption> {
    let sound = Sound::new(view);
    let models = Risks::of_models(view, &sound);
    let mut first: BTreeMap<CheckKind, Source> = BTreeMap::new();
    for (_, edge) in view.user_edges() {
        for kind in Risks::of_edge(view.program, &sound, &models, edge) {
            let known = first.entry(kind).or_insert(edge.source);
            *known = (*known).min(edge.source);
        }
    }
    let pointers = [CheckKind::Pointer, CheckKind::Bounds];
    first
        .into_iter()
        .filter(|(kind, _)| match kind {
            CheckKind::Pointer => !pointers.iter().any(|&kind| options.wants(kind)),
            kind => !options.wants(*kind),
        })
        .map(|(check, source)| Assumption::Ends { check, source })
        .collect()
}

/// The models that divide by what the user gives them.
const DIVIDERS: [&str; 4] = ["div", "ldiv", "lldiv", "imaxdiv"];

/// What may go wrong in the functions of the library's models.
struct Risks {
    of: Vec<BTreeSet<CheckKind>>,
}

impl Risks {
    fn of_models(view: &View<'_>, sound: &Sound) -> Risks {
        let program = view.program;
        let mut risks = Risks {
            of: vec![BTreeSet::new(); program.functions.len()],
        };
        loop {
            let mut changed = false;
            for (_, edge) in view.edges(|origin| origin == Origin::Model) {
                let function = program.locations[edge.from.index()].function;
                let mut found = Risks::of_edge(program, sound, &risks, edge);
                // The models divide by what cannot be zero, except for those that have to.
                if !DIVIDERS.contains(&program.function(function).name.as_str()) {
                    found.remove(&CheckKind::DivisionByZero);
                }
                let known = &mut risks.of[function.index()];
                let before = known.len();
                known.extend(found);
                changed |= known.len() > before;
            }
            if !changed {
                return risks;
            }
        }
    }

    /// What may go wrong at an edge, or in the models that it calls.
    fn of_edge(
        program: &Program,
        sound: &Sound,
        models: &Risks,
        edge: &Edge,
    ) -> BTreeSet<CheckKind> {
        let mut found = BTreeSet::new();
        let mut roots = Vec::new();
        each_operand(&edge.op, &mut |operand| roots.push(operand));
        each_below(program, roots, &mut |operand| {
            if let Operand::Expr(id) = operand
                && divides(program, id)
            {
                found.insert(CheckKind::DivisionByZero);
            }
        });
        let function = program.locations[edge.from.index()].function;
        let origin = program.function(function).origin;
        if accesses(program, sound, &edge.op, origin) {
            found.insert(CheckKind::Pointer);
        }
        match &edge.op {
            Op::Free { pointer } if !matches!(program.expr(*pointer).kind, ExprKind::Int(0)) => {
                found.insert(CheckKind::Free);
            }
            Op::Call { callee, .. } => {
                for target in callee.targets() {
                    found.extend(&models.of[target.index()]);
                }
            }
            _ => {}
        }
        found
    }
}

/// Whether an expression divides an integer by what may be zero.
fn divides(program: &Program, id: ExprId) -> bool {
    let expr = program.expr(id);
    let ExprKind::Binary(BinaryOp::Div | BinaryOp::Rem, _, right) = expr.kind else {
        return false;
    };
    let zero = !matches!(program.expr(right).kind, ExprKind::Int(bits) if bits != 0);
    zero && matches!(program.types.get(expr.ty), Type::Int { .. })
}

/// Whether an edge reads or writes memory that may not be there.
fn accesses(program: &Program, sound: &Sound, op: &Op, origin: Origin) -> bool {
    let mut risky = false;
    // The models stay inside of their own arrays.
    let own = |place: PlaceId| {
        origin == Origin::Model && matches!(program.root(place), Root::Variable(_))
    };
    each_load(program, op, &mut |place| {
        risky |= !own(place) && !sound.place(program, place);
    });
    let mut writes = |place: PlaceId| risky |= !own(place) && !sound.place(program, place);
    match op {
        Op::Assign { place, .. }
        | Op::Input { place, .. }
        | Op::Havoc { place }
        | Op::Allocate { place, .. } => writes(*place),
        Op::Call {
            result: Some(place),
            ..
        } => writes(*place),
        _ => {}
    }
    let mut range = |pointer: ExprId, size: ExprId| {
        let covers = match program.expr(size).kind {
            ExprKind::Int(bytes) => u128::from(sound.room(program, pointer)) >= bytes,
            _ => false,
        };
        risky |= !covers;
    };
    match *op {
        Op::CopyMemory { to, from, size } => {
            range(to, size);
            range(from, size);
        }
        Op::FillMemory { to, size, .. } => range(to, size),
        Op::HavocMemory {
            pointer,
            size: Some(size),
            ..
        } => range(pointer, size),
        _ => {}
    }
    risky
}

/// Pointers of which it is plain that they point to live objects: addresses of variables, and
/// parameters and results that are given nothing else.
struct Sound {
    /// The bytes that are there behind a variable's value, if it is a pointer.
    rooms: BTreeMap<VarId, u64>,
}

impl Sound {
    fn new(view: &View<'_>) -> Sound {
        let program = view.program;
        let mut sound = Sound {
            rooms: candidates(view),
        };
        loop {
            let mut changed = false;
            let mut lower = |sound: &mut Sound, variable: VarId, room: u64| {
                if let Some(known) = sound.rooms.get_mut(&variable)
                    && room < *known
                {
                    *known = room;
                    changed = true;
                }
            };
            for edge in &program.edges {
                match &edge.op {
                    Op::Assign { place, value } => {
                        if let PlaceKind::Var(variable) = program.place(*place).kind {
                            let room = sound.room(program, *value);
                            lower(&mut sound, variable, room);
                        }
                    }
                    Op::Call {
                        callee,
                        arguments,
                        result,
                    } => {
                        for target in callee.targets() {
                            let function = program.function(*target);
                            for (&formal, &argument) in function.formals.iter().zip(arguments) {
                                let room = sound.room(program, argument);
                                lower(&mut sound, formal, room);
                            }
                            if let Some(place) = result
                                && let PlaceKind::Var(variable) = program.place(*place).kind
                            {
                                let given = function.result;
                                let room = given.and_then(|id| sound.rooms.get(&id).copied());
                                lower(&mut sound, variable, room.unwrap_or(0));
                            }
                        }
                    }
                    _ => {}
                }
            }
            if !changed {
                return sound;
            }
        }
    }

    /// Whether a place lies in a live object.
    fn place(&self, program: &Program, id: PlaceId) -> bool {
        let place = program.place(id);
        match place.kind {
            PlaceKind::Var(_) => true,
            PlaceKind::Deref(pointer) => {
                self.room(program, pointer) >= program.types.size_of(place.ty)
            }
            PlaceKind::Field(base, _) => self.place(program, base),
            PlaceKind::Index(base, index) => {
                let Type::Array { length, .. } = *program.types.get(program.place(base).ty) else {
                    return false;
                };
                let inside = matches!(program.expr(index).kind, ExprKind::Int(at) if at < u128::from(length));
                inside && self.place(program, base)
            }
        }
    }

    /// The bytes that are there behind a pointer.
    fn room(&self, program: &Program, id: ExprId) -> u64 {
        let expr = program.expr(id);
        match expr.kind {
            ExprKind::AddressOf(place) if self.place(program, place) => {
                program.types.size_of(program.place(place).ty)
            }
            ExprKind::Convert(operand)
                if matches!(program.types.get(expr.ty), Type::Pointer(_))
                    && matches!(
                        program.types.get(program.expr(operand).ty),
                        Type::Pointer(_)
                    ) =>
            {
                self.room(program, operand)
            }
            ExprKind::Load(place) => match program.place(place).kind {
                PlaceKind::Var(variable) => self.rooms.get(&variable).copied().unwrap_or(0),
                _ => 0,
            },
            _ => 0,
        }
    }
}

/// The variables that may turn out to be such pointers: parameters that are not written and whose
/// functions are called by name only, results, and temporaries that are written once.
fn candidates(view: &View<'_>) -> BTreeMap<VarId, u64> {
    let program = view.program;
    let mut writes: BTreeMap<VarId, u32> = BTreeMap::new();
    let mut spoiled: BTreeSet<VarId> = BTreeSet::new();
    let variable = |place: PlaceId| match program.place(place).kind {
        PlaceKind::Var(variable) => Some(variable),
        _ => None,
    };
    let mut unknown: BTreeSet<FuncId> = BTreeSet::from([program.entry]);
    for edge in &program.edges {
        match &edge.op {
            Op::Assign { place, .. } => {
                if let Some(id) = variable(*place) {
                    *writes.entry(id).or_default() += 1;
                }
            }
            Op::Call { callee, result, .. } => {
                if let Some(id) = result.and_then(variable) {
                    *writes.entry(id).or_default() += 1;
                }
                if let Callee::Indirect { targets, .. } = callee {
                    unknown.extend(targets);
                }
            }
            Op::Input { place, .. } | Op::Havoc { place } | Op::Allocate { place, .. } => {
                spoiled.extend(variable(*place));
            }
            _ => {}
        }
    }
    let mut found = BTreeMap::new();
    for (index, entry) in program.variables.iter().enumerate() {
        let id = VarId(index as u32);
        if entry.address_taken
            || spoiled.contains(&id)
            || !matches!(program.types.get(entry.ty), Type::Pointer(_))
        {
            continue;
        }
        let written = writes.get(&id).copied().unwrap_or(0);
        let plain = match entry.kind {
            VarKind::Formal(function) => {
                written == 0
                    && !unknown.contains(&function)
                    && program.function(function).formals.contains(&id)
            }
            VarKind::Temporary(_) => written == 1,
            // What a function returns at most once must outlive it.
            VarKind::Result(function) => written >= 1 && returns_statics(program, function, id),
            _ => false,
        };
        if plain {
            found.insert(id, u64::MAX);
        }
    }
    found
}

/// Whether a function gives back nothing but addresses of what lives as long as the program.
fn returns_statics(program: &Program, function: FuncId, result: VarId) -> bool {
    let locations = program.function(function).locations.clone();
    let mut edges = locations.flat_map(|at| program.edges_from(crate::ids::LocId(at)));
    edges.all(|(_, edge)| match &edge.op {
        Op::Assign { place, value } if program.place(*place).kind == PlaceKind::Var(result) => {
            let ExprKind::AddressOf(place) = program.expr(*value).kind else {
                return false;
            };
            let mut at = place;
            loop {
                match program.place(at).kind {
                    PlaceKind::Var(id) => {
                        return matches!(
                            program.variable(id).kind,
                            VarKind::Global | VarKind::Static(_) | VarKind::Literal
                        );
                    }
                    PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => at = base,
                    PlaceKind::Deref(_) => return false,
                }
            }
        }
        Op::Call {
            result: Some(place),
            ..
        } => program.place(*place).kind != PlaceKind::Var(result),
        _ => true,
    })
}
