//! Uninitialised reads: which bits have a value goes along with the program, and a value that
//! decides something must have all the bits that it is decided by.
//!
//! A variable that is reached by its name only has another one beside it, which holds the bits
//! that have no value; those of arguments and results go along in variables of their own. Of
//! memory, the interpreter knows it ([`ExprKind::Open`]), and the logic takes it to be anything.
//! Only what may have bits without a value at all is watched (`dirt.rs`). Copying such a value
//! is no use of it: a branch, an address, an argument that leaves the program are.

mod bits;
mod dirt;
mod flows;
mod operators;
mod uses;

use crate::edit::{Graphs, Tables};
use crate::ids::{EdgeId, ExprId, FuncId, LocId, PlaceId, TypeId, VarId};
use crate::lower::TEXT;
use crate::options::Violations;
use crate::points_to::PointsTo;
use crate::program::*;
use crate::quoted::quote_sources;
use crate::types::Type;
use bits::Bits;
use dirt::Dirt;
use std::collections::{BTreeMap, BTreeSet};

/// The most scalars of an object that is copied one by one.
const MOST_LEAVES: usize = 64;

/// Adds the checks that nothing is decided by bits without a value.
pub(crate) fn weave(mut program: Program, points_to: &PointsTo, violations: Violations) -> Program {
    settle(&mut program);
    let dirt = Dirt::find(&program, points_to);
    if dirt.is_empty() {
        return program;
    }
    let graphs = Graphs::new(&program);
    let edges = program.edges.len();
    let bits = Bits::new(Tables::new(program), points_to, &dirt);
    let mut weaver = Weaver {
        bits,
        graphs,
        violations,
        transfers: BTreeMap::new(),
        constants: BTreeMap::new(),
        met: BTreeSet::new(),
        temporaries: 0,
    };
    weaver.make_shadows();
    weaver.bits.find_all();
    for index in 0..edges {
        weaver.edge(EdgeId(index as u32));
    }
    weaver.enter_and_leave();
    let mut program = weaver.bits.tables.program;
    weaver.graphs.lay_out(&mut program);
    quote_sources(&mut program);
    program
}

/// Puts objects into memory that are copied as a whole and have many parts.
fn settle(program: &mut Program) {
    let mut large = BTreeSet::new();
    let mut note = |place: PlaceId| {
        let ty = program.place(place).ty;
        if !program.types.is_scalar(ty)
            && let Root::Variable(id) = program.root(place)
            && count_leaves(program, ty) > MOST_LEAVES
        {
            large.insert(id);
        }
    };
    for edge in &program.edges {
        match &edge.op {
            Op::Assign { place, value } => {
                note(*place);
                if let ExprKind::Load(from) = program.expr(*value).kind {
                    note(from);
                }
            }
            Op::Call {
                arguments, result, ..
            } => {
                result.iter().for_each(|place| note(*place));
                for argument in arguments {
                    if let ExprKind::Load(from) = program.expr(*argument).kind {
                        note(from);
                    }
                }
            }
            _ => {}
        }
    }
    for id in large {
        program.variables[id.index()].address_taken = true;
    }
}

fn count_leaves(program: &Program, ty: TypeId) -> usize {
    let mut count = 0;
    let mut work = vec![(ty, 1usize)];
    while let Some((ty, times)) = work.pop() {
        match program.types.get(ty) {
            Type::Array { element, length } => {
                work.push((*element, times.saturating_mul(*length as usize)));
            }
            Type::Record(record) => {
                let fields = program.types.record(*record).fields.iter();
                work.extend(fields.map(|field| (field.ty, times)));
            }
            _ => count += times,
        }
        if count > MOST_LEAVES {
            break;
        }
    }
    count
}

/// What goes from a caller to its callee, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Transfer {
    Argument(usize),
    Result,
}

/// The same bits everywhere in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Filled {
    Zeros,
    Ones,
}

struct Weaver<'a> {
    bits: Bits<'a>,
    graphs: Graphs,
    violations: Violations,
    transfers: BTreeMap<(Transfer, TypeId), VarId>,
    constants: BTreeMap<(Filled, TypeId), VarId>,
    /// The locations whose branches are done.
    met: BTreeSet<LocId>,
    temporaries: u32,
}

impl Weaver<'_> {
    fn program(&self) -> &Program {
        &self.bits.tables.program
    }

    fn make_shadows(&mut self) {
        for index in 0..self.program().variables.len() {
            let id = VarId(index as u32);
            if !self.bits.dirt.of_variable(id) {
                continue;
            }
            let variable = self.program().variable(id).clone();
            let ty = self.bits.shadow_type(variable.ty);
            let name = format!("bits of {} without a value", variable.name);
            let shadow = match variable.kind {
                VarKind::Global | VarKind::Static(_) | VarKind::Literal => {
                    self.global(name, ty, variable.source, Vec::new())
                }
                VarKind::Formal(f)
                | VarKind::Local(f)
                | VarKind::Temporary(f)
                | VarKind::Result(f) => self.bits.tables.temporary(f, name, ty, variable.source),
            };
            self.bits.shadows.insert(id, shadow);
        }
    }

    fn global(
        &mut self,
        name: String,
        ty: TypeId,
        source: Source,
        parts: Vec<InitialPart>,
    ) -> VarId {
        let initial = Initial::Data(parts);
        let kind = VarKind::Global;
        self.bits.tables.variable(name, ty, kind, source, initial)
    }

    fn start(&self) -> Source {
        self.program().function(self.program().entry).source
    }

    fn transfer(&mut self, what: Transfer, ty: TypeId) -> PlaceId {
        let known = self.transfers.get(&(what, ty)).copied();
        let variable = known.unwrap_or_else(|| {
            let name = match what {
                Transfer::Argument(index) => {
                    format!("bits of argument {} without a value", index + 1)
                }
                Transfer::Result => "bits of the result without a value".to_owned(),
            };
            let name = format!("{name} #{}", self.transfers.len());
            let source = self.start();
            let variable = self.global(name, ty, source, Vec::new());
            self.transfers.insert((what, ty), variable);
            variable
        });
        self.bits.tables.variable_place(variable)
    }

    /// A value of a shadow's type that has the same bits everywhere.
    fn filled(&mut self, with: Filled, ty: TypeId) -> ExprId {
        if self.program().types.is_scalar(ty) {
            let value = match with {
                Filled::Zeros => 0,
                Filled::Ones => -1,
            };
            return self.bits.tables.constant(value, ty);
        }
        let known = self.constants.get(&(with, ty)).copied();
        let variable = known.unwrap_or_else(|| {
            let size = self.program().types.size_of(ty) as usize;
            let parts = match with {
                Filled::Zeros => Vec::new(),
                Filled::Ones => vec![InitialPart {
                    offset_bits: 0,
                    value: InitialValue::Bytes(vec![u8::MAX; size]),
                }],
            };
            let name = match with {
                Filled::Zeros => "all bits have a value",
                Filled::Ones => "no bit has a value",
            };
            let name = format!("{name} #{}", self.constants.len());
            let source = self.start();
            let variable = self.global(name, ty, source, parts);
            self.constants.insert((with, ty), variable);
            variable
        });
        self.bits.tables.load_variable(variable)
    }

    fn temporary(&mut self, function: FuncId, ty: TypeId, source: Source) -> PlaceId {
        self.temporaries += 1;
        let name = format!("u#{}", self.temporaries);
        let variable = self.bits.tables.temporary(function, name, ty, source);
        self.bits.tables.variable_place(variable)
    }

    /// Does what belongs to an edge of the program.
    fn edge(&mut self, id: EdgeId) {
        // As the program has it: the graphs may have cut it off from its start.
        let edge = self.program().edges[id.index()].clone();
        let function = self.graphs.function(edge.from);
        let checks = self.uses(&edge);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        self.flows(&edge, function, &mut before, &mut after);
        if checks.is_empty() && before.is_empty() && after.is_empty() {
            return;
        }
        let (mut at, last) = match edge.op {
            Op::Assume { .. } => {
                // Both branches ask the same.
                if !self.met.insert(edge.from) {
                    return;
                }
                let from = self.graphs.edges()[id.index()].from;
                (from, self.graphs.split(from))
            }
            _ => self.graphs.split_before(id),
        };
        for bad in checks {
            at = self.check(at, function, bad, edge.source);
        }
        for op in before {
            let next = self.graphs.location(function, LocationKind::Plain);
            self.graphs.edge(at, next, op, edge.source);
            at = next;
        }
        self.graphs.edge(at, last, Op::Skip, edge.source);
        if after.is_empty() {
            return;
        }
        let (mut at, to) = self.graphs.split_after(id);
        for op in after {
            let next = self.graphs.location(function, LocationKind::Plain);
            self.graphs.edge(at, next, op, edge.source);
            at = next;
        }
        self.graphs.edge(at, to, Op::Skip, edge.source);
    }

    /// Adds a check that is violated where a condition holds, and gives where it goes on.
    fn check(&mut self, at: LocId, function: FuncId, bad: ExprId, source: Source) -> LocId {
        let check = self.bits.tables.program.add_check(Check {
            kind: CheckKind::Uninit,
            message: format!("uninitialised value used in {TEXT}"),
            function,
            source,
        });
        let error = self.graphs.location(function, LocationKind::Error(check));
        let next = self.graphs.location(function, LocationKind::Plain);
        match self.violations {
            Violations::End => self.graphs.branch(at, bad, error, next, source),
            Violations::Pass => {
                let (violated, chosen) = (
                    self.graphs.location(function, LocationKind::Plain),
                    self.graphs.location(function, LocationKind::Plain),
                );
                self.graphs.branch(at, bad, violated, next, source);
                let int = self.bits.tables.int();
                let place = self.temporary(function, int, source);
                self.graphs
                    .edge(violated, chosen, Op::Havoc { place }, source);
                let passes = self.bits.tables.load(place);
                self.graphs.branch(chosen, passes, next, error, source);
            }
        }
        next
    }
}

#[cfg(test)]
mod tests;
