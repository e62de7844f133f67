//! Which variables of a function may be read before it writes them.
//!
//! A call gives each of them any value. A copy of the function in a loop would find the value of
//! the last round there, unless it begins a new life at each entry. Formals get their arguments,
//! what is declared by the body gets its life there, and lowering writes its temporaries before it
//! reads them: none of that is believed, it is looked up here.

use super::open::{Part, open_expr, open_op, open_place, written};
use super::tables::owner;
use crate::ids::{FuncId, LocId, VarId};
use crate::program::{Edge, Op, PlaceKind, Program};
use std::collections::{HashMap, HashSet};

/// The variables of functions that may be read before they are written.
pub(super) struct Entries<'a> {
    program: &'a Program,
    known: HashMap<FuncId, HashSet<VarId>>,
    /// The edge that an expression or a place was met at last.
    exprs: Vec<u32>,
    places: Vec<u32>,
}

/// Where no edge was met.
const NOWHERE: u32 = u32::MAX;

impl<'a> Entries<'a> {
    pub fn new(program: &'a Program) -> Entries<'a> {
        Entries {
            program,
            known: HashMap::new(),
            exprs: vec![NOWHERE; program.exprs.len()],
            places: vec![NOWHERE; program.places.len()],
        }
    }

    /// Whether a path from a function's entry reads a variable of its frame, other than one whose
    /// address is taken, before it writes it as a whole. The result is read at the exit.
    pub fn is_open(&mut self, function: FuncId, variable: VarId) -> bool {
        if !self.known.contains_key(&function) {
            let open = self.open(function);
            self.known.insert(function, open);
        }
        self.known[&function].contains(&variable)
    }

    /// For each variable, the locations where it is read are followed backwards until it is
    /// written: the cost is the size of the ranges in which variables are alive.
    fn open(&mut self, id: FuncId) -> HashSet<VarId> {
        let program = self.program;
        let function = program.function(id);
        let first = function.locations.start as usize;
        let count = function.locations.len();
        let mut arrivals: Vec<Vec<(usize, Option<VarId>)>> = vec![Vec::new(); count];
        let mut reads: Vec<(VarId, usize)> = Vec::new();
        let mut read = Vec::new();
        for at in function.locations.clone() {
            for (edge_id, edge) in program.edges_from(LocId(at)) {
                let from = at as usize - first;
                arrivals[edge.to.index() - first].push((from, set(program, edge)));
                self.read(edge_id.0, edge, &mut read);
                for variable in read.drain(..) {
                    let local = program.variable(variable);
                    if owner(local) == Some(id) && !local.address_taken {
                        reads.push((variable, from));
                    }
                }
            }
        }
        reads.extend(
            function
                .result
                .map(|held| (held, function.exit.index() - first)),
        );
        reads.sort_unstable();
        let entry = function.entry.index() - first;
        let mut seen = vec![VarId(u32::MAX); count];
        let mut open = HashSet::new();
        let mut work = Vec::new();
        for (variable, at) in reads {
            work.push(at);
            while let Some(at) = work.pop() {
                if std::mem::replace(&mut seen[at], variable) == variable {
                    continue;
                }
                if at == entry {
                    open.insert(variable);
                }
                let unset = arrivals[at]
                    .iter()
                    .filter(|(_, set)| *set != Some(variable));
                work.extend(unset.map(|(from, _)| *from));
            }
        }
        open
    }

    /// The variables that an edge mentions beside the one that it sets: what it writes in part
    /// counts as read.
    fn read(&mut self, id: u32, edge: &Edge, read: &mut Vec<VarId>) {
        let program = self.program;
        if matches!(edge.op, Op::Declare { .. } | Op::EndScope { .. }) {
            return;
        }
        let mut parts = Vec::new();
        open_op(&mut edge.op.clone(), &mut parts);
        if set(program, edge).is_some()
            && let Some(whole) = written(&edge.op).map(Part::Place)
            && let Some(at) = parts.iter().rposition(|part| *part == whole)
        {
            parts.remove(at);
        }
        while let Some(part) = parts.pop() {
            match part {
                Part::Variable(variable) => read.push(variable),
                Part::Expr(expr) => {
                    if std::mem::replace(&mut self.exprs[expr.index()], id) != id {
                        open_expr(&mut program.expr(expr).kind.clone(), &mut parts);
                    }
                }
                Part::Place(place) => {
                    if std::mem::replace(&mut self.places[place.index()], id) != id {
                        open_place(&mut program.place(place).kind.clone(), &mut parts);
                    }
                }
            }
        }
    }
}

/// The variable that an edge gives a new value, or a new life, as a whole.
fn set(program: &Program, edge: &Edge) -> Option<VarId> {
    if let Op::Declare { variable } = edge.op {
        return Some(variable);
    }
    let place = program.place(written(&edge.op)?);
    match place.kind {
        PlaceKind::Var(variable) => (program.variable(variable).ty == place.ty).then_some(variable),
        _ => None,
    }
}
