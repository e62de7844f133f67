//! What inlining may not touch: the tables that the program and its inlined form share, and the
//! order in which locations and edges are laid out.

use super::{Checked, Mismatch, Where};
use crate::derived::Derived;
use crate::ids::{EdgeId, FuncId, LocId, VarId};
use crate::program::{Function, Program, VarKind, Variable};
use crate::types::Types;

/// Old ids mean what they meant. The texts that the program was read from are not compared: no
/// execution depends on them.
pub(super) fn shared(original: &Program, program: &Program) -> Checked {
    let must = |holds: bool, what: &str| match holds {
        true => Ok(()),
        false => Err(Mismatch::new(Where::Tables, what)),
    };
    must(
        begins(&program.exprs, &original.exprs),
        "expressions changed",
    )?;
    must(begins(&program.places, &original.places), "places changed")?;
    must(same_types(&original.types, &program.types), "types changed")?;
    must(program.checks == original.checks, "checks changed")?;
    must(program.entry == original.entry, "another entry")?;
    must(
        program.assumptions == original.assumptions,
        "assumptions changed",
    )?;
    must(
        program.unsupported == original.unsupported,
        "what is not supported changed",
    )?;
    must(
        program.presumed_files == original.presumed_files,
        "names of files changed",
    )?;
    must(program.rules == original.rules, "rules changed")?;
    let known = program.variables.len() >= original.variables.len();
    must(known, "variables are lost")?;
    for (index, (new, old)) in program
        .variables
        .iter()
        .zip(&original.variables)
        .enumerate()
    {
        if !like(new, old) || new.kind != old.kind {
            let at = Where::Variable(VarId(index as u32));
            return Err(Mismatch::new(at, "a variable of the program changed"));
        }
    }
    let known = program.functions.len() == original.functions.len();
    must(known, "functions are lost or added")?;
    for (index, (new, old)) in program
        .functions
        .iter()
        .zip(&original.functions)
        .enumerate()
    {
        if !same_function(new, old) {
            let at = Where::Function(FuncId(index as u32));
            return Err(Mismatch::new(at, "is another function"));
        }
    }
    Ok(())
}

fn begins<T: PartialEq>(new: &[T], old: &[T]) -> bool {
    new.get(..old.len()).is_some_and(|start| start == old)
}

fn same_types(old: &Types, new: &Types) -> bool {
    let mut found = new.all();
    old.model() == new.model()
        && old.all().all(|known| found.next() == Some(known))
        && old.record_count() == new.record_count()
        && (0..old.record_count() as u32)
            .map(crate::ids::RecordId)
            .all(|id| old.record(id) == new.record(id))
}

/// Whether two variables are alike in all but their kind.
pub(super) fn like(new: &Variable, old: &Variable) -> bool {
    new.name == old.name
        && new.ty == old.ty
        && new.address_taken == old.address_taken
        && new.source == old.source
        && new.initial == old.initial
}

/// What does not depend on the body.
fn same_function(new: &Function, old: &Function) -> bool {
    new.name == old.name
        && new.ty == old.ty
        && new.formals == old.formals
        && new.result == old.result
        && new.origin == old.origin
        && new.source == old.source
}

/// Functions, locations and edges follow each other without gaps, and no edge leads out of its
/// function: then a walk from a function's entry stays in it, and what leaves a location is what
/// its edges say.
pub(super) fn laid_out(inlined: &Derived) -> Checked {
    let program = &inlined.program;
    let counted = inlined.locations.len() == program.locations.len()
        && inlined.edges.len() == program.edges.len();
    if !counted {
        return Err(Mismatch::new(Where::Tables, "something has no origin"));
    }
    let mut next = 0;
    for (index, function) in program.functions.iter().enumerate() {
        let id = FuncId(index as u32);
        let range = function.locations.clone();
        let fine = range.start == next
            && range.end >= range.start
            && range.end as usize <= program.locations.len()
            && range.contains(&function.entry.0)
            && range.contains(&function.exit.0);
        if !fine {
            return Err(Mismatch::new(
                Where::Function(id),
                "is not laid out in order",
            ));
        }
        next = range.end;
        for at in range.clone() {
            let location = &program.locations[at as usize];
            let before = match at {
                0 => 0,
                at => program.locations[at as usize - 1].edges.end,
            };
            let edges = location.edges.clone();
            let fine = location.function == id
                && edges.start == before
                && edges.end >= edges.start
                && edges.end as usize <= program.edges.len();
            if !fine {
                let at = Where::Location(LocId(at));
                return Err(Mismatch::new(at, "is not laid out in order"));
            }
            for edge in edges {
                let step = &program.edges[edge as usize];
                if step.from != LocId(at) || !range.contains(&step.to.0) {
                    let at = Where::Edge(EdgeId(edge));
                    return Err(Mismatch::new(at, "leaves its location or its function"));
                }
            }
        }
    }
    let last = program.locations.last().map_or(0, |last| last.edges.end);
    if next as usize != program.locations.len() || last as usize != program.edges.len() {
        return Err(Mismatch::new(
            Where::Tables,
            "something belongs to no function",
        ));
    }
    Ok(())
}

/// Every added variable is a local of one function, by its kind and by that function's list.
///
/// That is what makes it one variable for each activation of the function: the interpreter lays
/// out a frame by the list, and the logic saves and restores what belongs to a function by its
/// kind. So a copy that is alive while its holder is called again keeps its value.
pub(super) fn locals(original: &Program, program: &Program) -> Checked {
    let first = original.variables.len();
    let mut listed = vec![false; program.variables.len() - first];
    for (index, (new, old)) in program
        .functions
        .iter()
        .zip(&original.functions)
        .enumerate()
    {
        let id = FuncId(index as u32);
        if !begins(&new.locals, &old.locals) {
            return Err(Mismatch::new(Where::Function(id), "lost its locals"));
        }
        for &local in &new.locals[old.locals.len()..] {
            let new = local
                .index()
                .checked_sub(first)
                .and_then(|at| listed.get_mut(at));
            let fresh = new.is_some_and(|listed| !std::mem::replace(listed, true));
            if !fresh || holder(program, local) != Some(id) {
                let at = Where::Variable(local);
                return Err(Mismatch::new(at, "is not a local of the one that lists it"));
            }
        }
    }
    match listed.iter().position(|listed| !listed) {
        Some(at) => {
            let at = Where::Variable(VarId((first + at) as u32));
            Err(Mismatch::new(at, "belongs to no function"))
        }
        None => Ok(()),
    }
}

/// The function whose local a variable is.
fn holder(program: &Program, variable: VarId) -> Option<FuncId> {
    match program.variable(variable).kind {
        VarKind::Local(function) | VarKind::Temporary(function) => Some(function),
        VarKind::Global
        | VarKind::Static(_)
        | VarKind::Literal
        | VarKind::Formal(_)
        | VarKind::Result(_) => None,
    }
}

/// The function that has a variable in its frame.
pub(super) fn owner(variable: &Variable) -> Option<FuncId> {
    match variable.kind {
        VarKind::Formal(function)
        | VarKind::Local(function)
        | VarKind::Temporary(function)
        | VarKind::Result(function) => Some(function),
        VarKind::Global | VarKind::Static(_) | VarKind::Literal => None,
    }
}
