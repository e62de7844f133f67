//! What a run along a path is given: inputs, contents of new objects, what lies outside.
//!
//! The path is followed once more, edge by edge. Pointers that lead to none of the program's objects
//! are made to lead to objects of the outside, each to one of its own where that is possible; what the
//! run reads there, and in variables that nothing was written to, is read off the model.

use hardbop_cfront::ids::{EdgeId, VarId};
use hardbop_cfront::interp::{OUTSIDE_OBJECT, outside};
use hardbop_cfront::program::{Edge, Initial, Op};
use hardbop_logic::{Answer, BitVec, Session, Sort, TermId, Terms, Value};
use hardbop_semantics::contents::NewObject;
use hardbop_semantics::path::{PathStep, steps_of};
use hardbop_semantics::places::is_fixed;
use hardbop_semantics::replay::Choice;
use hardbop_semantics::touched::Touched;
use hardbop_semantics::{Execution, Fresh, FreshOrigin, Semantics};
use num_bigint::BigUint;
use std::collections::BTreeSet;

/// The choices of a run along these edges, with the contents of the objects that are made on the
/// way; `None` if nobody can tell.
pub(crate) fn choices_along(
    semantics: &Semantics<'_>,
    terms: &mut Terms,
    session: &mut Session<'_>,
    edges: &[EdgeId],
) -> Option<Vec<Choice>> {
    let mut run = Execution::new(semantics);
    run.start(terms);
    let mut conditions = semantics.axioms(terms);
    conditions.append(&mut run.facts);
    let mut met: Vec<(EdgeId, Met)> = Vec::new();
    let mut touched = Vec::new();
    for variable in open_variables(semantics) {
        if let Some(object) = run.contents_of(terms, variable) {
            met.push((EdgeId(0), Met::Variable(variable, object)));
        }
    }
    for step in steps_of(semantics, edges) {
        session.budget().check().ok()?;
        if let PathStep::Edge(edge) | PathStep::Enter(edge, _) = step {
            touched.push((edge, run.touched(terms, edge)));
        }
        let known = run.fresh.len();
        let edge = match step {
            PathStep::Edge(edge) => {
                conditions.push(run.edge(terms, edge).ok()?);
                edge
            }
            PathStep::Enter(call, callee) => {
                conditions.push(run.enter(terms, call, callee));
                call
            }
            PathStep::Leave => {
                run.leave(terms);
                conditions.append(&mut run.facts);
                continue;
            }
        };
        conditions.append(&mut run.facts);
        let fresh = run.fresh[known..].to_vec();
        match run.new_object(terms, edge) {
            Some(object) => {
                let new = match semantics.program.edges[edge.index()].op {
                    Op::Declare { variable } => Met::Variable(variable, object),
                    _ => Met::Object(object),
                };
                met.push((edge, new));
            }
            None => met.extend(fresh.into_iter().map(|fresh| (edge, Met::Symbol(fresh)))),
        }
    }
    session.push();
    for &condition in &conditions {
        session.assert(terms, condition);
    }
    let choices = match session.check(terms, &[]) {
        Answer::Sat => {
            let levels =
                place_outside(&run, terms, session, &touched) + prefer_small(terms, session, &met);
            let choices = match session.check(terms, &[]) {
                Answer::Sat => read_choices(terms, session, &met).map(|mut choices| {
                    choices.extend(read_outside(&run, terms, session, &touched));
                    choices
                }),
                _ => None,
            };
            for _ in 0..levels {
                session.pop();
            }
            choices
        }
        _ => None,
    };
    session.pop();
    choices
}

/// The variables that nothing is written to before the program starts: those that no file defines,
/// and the locals of the entry. A local that is declared on the way is open there: an inlined
/// function has its locals among the entry's.
fn open_variables(semantics: &Semantics<'_>) -> Vec<VarId> {
    let program = semantics.program;
    let external = (0..program.variables.len() as u32)
        .map(VarId)
        .filter(|&id| program.variable(id).initial == Initial::Unknown);
    let declared = |edge: &Edge| match edge.op {
        Op::Declare { variable } => Some(variable),
        _ => None,
    };
    let declared: BTreeSet<VarId> = program.edges.iter().filter_map(declared).collect();
    let entry = program.function(program.entry);
    let locals = entry.locals.iter().copied();
    external
        .chain(locals.filter(|local| !declared.contains(local)))
        .collect()
}

/// So many pointers are made to lead to the outside.
const OUTSIDE_POINTERS: usize = 64;

/// Makes pointers that the run follows lead to objects of the outside, wherever that is possible.
/// Gives the number of levels that were opened for that.
fn place_outside(
    run: &Execution<'_, '_>,
    terms: &mut Terms,
    session: &mut Session<'_>,
    touched: &[(EdgeId, Touched)],
) -> usize {
    let semantics = run.semantics;
    let mut seen = BTreeSet::new();
    let mut pointers: Vec<TermId> = Vec::new();
    for &pointer in touched.iter().flat_map(|(_, touched)| &touched.pointers) {
        if pointers.len() < OUTSIDE_POINTERS
            && seen.insert(pointer)
            && !is_fixed(semantics, terms, pointer)
        {
            pointers.push(pointer);
        }
    }
    if pointers.is_empty() {
        return 0;
    }
    let room = outside(semantics.program.types.model());
    // The program's own objects stay where they are not mistaken for others.
    let origin = semantics.origin(terms);
    let own = run.is_at(terms, origin, OWN_OBJECTS);
    session.push();
    session.assert(terms, own);
    if session.check(terms, &[]) != Answer::Sat {
        session.pop();
        return 0;
    }
    let mut levels = 1;
    let mut address = room.start;
    for pointer in pointers {
        let there = run.is_at(terms, pointer, address);
        session.push();
        session.assert(terms, there);
        if session.check(terms, &[]) == Answer::Sat {
            levels += 1;
            address += OUTSIDE_OBJECT;
        } else {
            session.pop();
        }
    }
    levels
}

/// An address below the outside, with room for all that a program makes.
const OWN_OBJECTS: u64 = 0x10_0000;

/// What the run reads in objects of the outside.
fn read_outside(
    run: &Execution<'_, '_>,
    terms: &mut Terms,
    session: &mut Session<'_>,
    touched: &[(EdgeId, Touched)],
) -> Vec<Choice> {
    let room = outside(run.semantics.program.types.model());
    let reads = || {
        touched.iter().flat_map(|(edge, touched)| {
            let read = touched.read.iter();
            read.map(|&(address, _, value)| (*edge, address, value))
        })
    };
    let asked: Vec<TermId> = reads()
        .flat_map(|(_, address, value)| [address, value])
        .collect();
    let Ok(values) = session.values(terms, &asked) else {
        return Vec::new();
    };
    let mut choices = Vec::new();
    for ((edge, ..), pair) in reads().zip(values.chunks(2)) {
        if let [Some(address), value] = pair
            && let Some(address) = address_of(address)
            && room.contains(&address)
        {
            choices.push(Choice {
                edge,
                origin: FreshOrigin::Outside(address),
                value: value.clone(),
            });
        }
    }
    choices
}

fn address_of(value: &Value) -> Option<u64> {
    match value {
        Value::BitVec(bits) => u64::try_from(bits.unsigned().clone()).ok(),
        Value::Int(number) => u64::try_from(number.clone()).ok(),
        Value::Bool(_) | Value::Array(_) => None,
    }
}

/// So many inputs are made small: the first ones are what a reader looks at.
const SMALL_INPUTS: usize = 24;

/// Asserts small values for inputs wherever they are possible: people read them. Gives the number
/// of levels that were opened for that.
fn prefer_small(terms: &mut Terms, session: &mut Session<'_>, met: &[(EdgeId, Met)]) -> usize {
    let inputs = met.iter().filter_map(|(_, met)| match met {
        Met::Symbol(fresh) if matches!(fresh.origin, FreshOrigin::Input(_)) => Some(fresh.term),
        _ => None,
    });
    let mut levels = 0;
    for input in inputs.take(SMALL_INPUTS) {
        for small in [0, 1, 2, -1] {
            let value = match terms.sort(input) {
                Sort::BitVec(width) => terms.bv(small, width),
                Sort::Int => terms.int(small),
                _ => continue,
            };
            let chosen = terms.eq(input, value);
            session.push();
            session.assert(terms, chosen);
            if session.check(terms, &[]) == Answer::Sat {
                levels += 1;
                break;
            }
            session.pop();
        }
    }
    levels
}

/// Something that the program leaves open.
enum Met {
    Symbol(Fresh),
    Object(NewObject),
    /// What a variable holds before anything is written to it.
    Variable(VarId, NewObject),
}

fn read_choices(
    terms: &mut Terms,
    session: &mut Session<'_>,
    met: &[(EdgeId, Met)],
) -> Option<Vec<Choice>> {
    let asked: Vec<TermId> = met
        .iter()
        .flat_map(|(_, met)| match met {
            Met::Symbol(fresh) => vec![fresh.term],
            Met::Object(object) | Met::Variable(_, object) => {
                object.cells.iter().map(|cell| cell.2).collect()
            }
        })
        .collect();
    let mut values = session.values(terms, &asked).ok()?.into_iter();
    let mut choices = Vec::new();
    for (edge, met) in met {
        let (origin, value) = match met {
            Met::Symbol(fresh) => (fresh.origin, values.next()?),
            Met::Object(object) | Met::Variable(_, object) => {
                let mut bytes = vec![0u8; object.size as usize];
                for &(offset, size, _) in &object.cells {
                    let Some(Value::BitVec(bits)) = values.next()? else {
                        continue;
                    };
                    let at = offset as usize..(offset + size) as usize;
                    for (byte, value) in bytes
                        .get_mut(at)?
                        .iter_mut()
                        .zip(bits.unsigned().to_bytes_le())
                    {
                        *byte = value;
                    }
                }
                let number = BigUint::from_bytes_le(&bytes);
                let bits = BitVec::new(number, 8 * object.size as u32);
                let origin = match met {
                    Met::Variable(variable, _) => FreshOrigin::Uninitialised(*variable),
                    _ => FreshOrigin::Havoc(*edge),
                };
                (origin, Some(Value::BitVec(bits)))
            }
        };
        choices.push(Choice {
            edge: *edge,
            origin,
            value,
        });
    }
    Some(choices)
}
