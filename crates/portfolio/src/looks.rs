//! A look at a program, which says what of a plan suits it.

use crate::Step;
use hardbop_cfront::ids::{ExprId, PlaceId, RecordId, VarId};
use hardbop_cfront::program::{Expr, ExprKind, Op, Origin, PlaceKind, Program};
use hardbop_cfront::types::Type;
use hardbop_engine::{Desk, Ended, Engine, Event, Figure, Reason, Scope, Suggestion, Task};
use hardbop_model::Model;
use hardbop_model::loops::all_are_short;
use std::collections::{BTreeMap, BTreeSet};

/// What a program looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// What is to be done next is a number that the program wrote down: a protocol, a scheduler.
    Machine,
    /// It is not.
    Arithmetic,
    /// It is such a machine, and has so many edges after inlining, or more.
    LargeMachine(usize),
    /// It has so many edges after inlining, or more.
    Large(usize),
    /// It has fewer edges after inlining, and large numbers: its loops may be long.
    Long(usize),
    /// It has so many edges after inlining, or more, and hardly a place that leaves anything open:
    /// it may have few paths, however much happens on them.
    Narrow(usize),
    /// It has fewer edges after inlining, and numbers that are not small: loops may count to them.
    Counting(usize),
    /// So many of its checks are open, or more.
    Open(usize),
    /// It has so many edges after inlining at most, and loops that end soon: all its executions may be
    /// followed to their ends.
    Short(usize),
    /// It allocates objects, and there are such that point to others of their kind.
    Linked,
    /// It allocates objects, and checks ask which ones pointers belong to.
    Allocating,
}

impl Look {
    fn suits(self, task: &Task<'_>) -> bool {
        match self {
            Look::Machine => is_machine(task.model.program),
            Look::Arithmetic => !is_machine(task.model.program),
            Look::LargeMachine(edges) => {
                Look::Large(edges).suits(task) && Look::Machine.suits(task)
            }
            Look::Large(edges) => task.model.flat.program.edges.len() >= edges,
            Look::Long(edges) => {
                let program = task.model.flat.program;
                program.edges.len() < edges && has_numbers_from(program, FAR)
            }
            Look::Counting(edges) => {
                let program = task.model.flat.program;
                program.edges.len() < edges && has_numbers_from(program, NEAR)
            }
            Look::Open(checks) => task.checks.len() >= checks,
            Look::Narrow(edges) => {
                let program = task.model.flat.program;
                program.edges.len() >= edges && choices(program) <= FEW_CHOICES
            }
            Look::Short(edges) => {
                let flat = &task.model.flat;
                let program = flat.program;
                program.edges.len() <= edges
                    && !flat.has_calls()
                    && all_are_short(program, program.entry)
            }
            Look::Linked => is_linked(task.model.program),
            Look::Allocating => {
                task.model.flat.semantics.layout.ownership().is_some() && allocates(task.model)
            }
        }
    }
}

impl Look {
    /// What a program is said to look like, or not to.
    fn text(self, suits: bool) -> &'static str {
        match (self, suits) {
            (Look::Machine, true) | (Look::Arithmetic, false) => {
                "the program writes down as a number what is to be done next"
            }
            (Look::Machine, false) | (Look::Arithmetic, true) => {
                "the program computes most of what it writes down"
            }
            (Look::LargeMachine(_), true) => {
                "the program is large and writes down as a number what is to be done next"
            }
            (Look::LargeMachine(_), false) => {
                "the program is small or computes most of what it writes down"
            }
            (Look::Large(_), true) => "the program is large",
            (Look::Large(_), false) => "the program is small",
            (Look::Long(_), true) => "the program is small and has large numbers",
            (Look::Counting(_), true) => "the program is small and has numbers to count to",
            (Look::Long(_) | Look::Counting(_), false) => {
                "the program is large or has small numbers only"
            }
            (Look::Open(_), true) => "many checks are open",
            (Look::Open(_), false) => "few checks are open",
            (Look::Narrow(_), true) => "the program leaves little open",
            (Look::Narrow(_), false) => "the program is small or leaves much open",
            (Look::Short(_), true) => "all loops count to small numbers",
            (Look::Short(_), false) => "the program is large or has other loops than short ones",
            (Look::Linked, true) => "the program allocates objects that point to their like",
            (Look::Linked, false) => "the program links no objects",
            (Look::Allocating, true) => "the program allocates what accesses are checked of",
            (Look::Allocating, false) => {
                "the program allocates nothing, or no accesses are checked"
            }
        }
    }
}

/// An engine for programs that look like something; it declines others.
pub(crate) struct Suited {
    pub look: Look,
    pub engine: Step,
}

impl Engine for Suited {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn scope(&self) -> Scope {
        self.engine.scope()
    }

    fn check(&self, task: &Task<'_>, desk: &mut dyn Desk) -> Ended {
        let suits = self.look.suits(task);
        let word = if suits { "has a turn" } else { "is left out" };
        desk.event(Event {
            doing: format!("{word}, for {}", self.look.text(suits)).into(),
            open: task.checks.len(),
            figures: vec![
                Figure::count("edges", task.model.flat.program.edges.len() as u64),
                Figure::count("inputs", choices(task.model.flat.program) as u64),
            ],
        });
        match suits {
            true => self.engine.check(task, desk),
            false => Ended::open(task, &Reason::Turn),
        }
    }

    fn following(&self, suggestion: &Suggestion) -> Option<Step> {
        self.engine.following(suggestion)
    }
}

/// A place that is known by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Variable(VarId),
    /// A member of whatever record of its kind.
    Member(u32, u32),
}

/// So many numbers in one place are the states of a machine, ...
const STATES: usize = 5;
/// ... and so are so many places that hold nothing but numbers of the text.
const FLAGS: usize = 3;

/// Whether a program writes its state down as numbers.
fn is_machine(program: &Program) -> bool {
    let mut literals: BTreeMap<Cell, BTreeSet<u128>> = BTreeMap::new();
    let mut computed: BTreeSet<Cell> = BTreeSet::new();
    for edge in &program.edges {
        let function = program.locations[edge.from.index()].function;
        if program.function(function).origin != Origin::User {
            continue;
        }
        match edge.op {
            Op::Assign { place, value } => {
                let Some(cell) = cell(program, place) else {
                    continue;
                };
                match literal(program, value) {
                    Some(number) => {
                        literals.entry(cell).or_default().insert(number);
                    }
                    None => {
                        computed.insert(cell);
                    }
                }
            }
            Op::Input { place, .. }
            | Op::Havoc { place }
            | Op::Call {
                result: Some(place),
                ..
            } => computed.extend(cell(program, place)),
            _ => {}
        }
    }
    let flag =
        |(cell, numbers): &(&Cell, &BTreeSet<u128>)| numbers.len() > 1 && !computed.contains(cell);
    literals.values().any(|numbers| numbers.len() >= STATES)
        || literals.iter().filter(flag).count() >= FLAGS
}

/// More choices make more paths than can be run one after the other.
const FEW_CHOICES: usize = 8;

/// At how many places something is left open.
fn choices(program: &Program) -> usize {
    let is_open = |op: &Op| matches!(op, Op::Input { .. } | Op::Havoc { .. });
    program
        .edges
        .iter()
        .filter(|edge| is_open(&edge.op))
        .count()
}

/// Whether objects are allocated.
pub(crate) fn allocates(model: &Model<'_>) -> bool {
    let mut edges = model.flat.program.edges.iter();
    edges.any(|edge| matches!(edge.op, Op::Allocate { .. }))
}

/// Whether objects are allocated, and records point to records of their kind.
fn is_linked(program: &Program) -> bool {
    let mut edges = program.edges.iter();
    if !edges.any(|edge| matches!(edge.op, Op::Allocate { .. })) {
        return false;
    }
    (0..program.types.record_count() as u32)
        .map(RecordId)
        .any(|record| {
            let mut fields = program.types.record(record).fields.iter();
            fields.any(|field| match program.types.get(field.ty) {
                Type::Pointer(to) => *program.types.get(*to) == Type::Record(record),
                _ => false,
            })
        })
}

/// Smaller numbers are no reason to leap.
const FAR: i128 = 10_000;
/// Loops that count no further are walked through.
const NEAR: i128 = 64;

fn has_numbers_from(program: &Program, least: i128) -> bool {
    let is_far = |expr: &Expr| match (&expr.kind, program.types.get(expr.ty)) {
        (ExprKind::Int(number), Type::Int { width, signed }) => {
            let number = *number as i128;
            let number = match signed {
                true => number << (128 - width) >> (128 - width),
                false => number,
            };
            number.abs() >= least
        }
        _ => false,
    };
    program.exprs.iter().any(is_far)
}

fn cell(program: &Program, place: PlaceId) -> Option<Cell> {
    match program.place(place).kind {
        PlaceKind::Var(variable) => Some(Cell::Variable(variable)),
        PlaceKind::Field(base, index) => match program.types.get(program.place(base).ty) {
            Type::Record(record) => Some(Cell::Member(record.0, index)),
            _ => None,
        },
        PlaceKind::Deref(_) | PlaceKind::Index(..) => None,
    }
}

fn literal(program: &Program, mut value: ExprId) -> Option<u128> {
    loop {
        match program.expr(value).kind {
            ExprKind::Int(number) => return Some(number),
            ExprKind::Convert(from) => value = from,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_cfront::load::load_text;

    #[track_caller]
    fn check(look: &str, text: &str) {
        let loaded = load_text("x.c", text).expect("a good program");
        let seen = match is_machine(&loaded.program) {
            true => "machine",
            false => "arithmetic",
        };
        assert_eq!(seen, look, "{text}");
    }

    #[test]
    fn states_are_numbers_of_the_text() {
        check(
            "machine",
            "struct s { int state; } s; int get(void);
             int main(void) {
               struct s *p = &s;
               p->state = 1;
               for (;;) switch (p->state) {
                 case 1: p->state = get() ? 2 : 3; p->state = 2; break;
                 case 2: p->state = 3; break;
                 case 3: p->state = 4; break;
                 case 4: p->state = 5; break;
                 default: return 0;
               }
             }",
        );
        check(
            "machine",
            "int a, b, c; int get(void);
             int main(void) {
               while (get()) {
                 if (get()) { a = 1; b = 0; } else { a = 0; c = 1; }
                 if (a) { b = 1; c = 0; }
               }
             }",
        );
    }

    #[test]
    fn counters_are_computed() {
        check(
            "arithmetic",
            "int get(void);
             int main(void) {
               int n = get(), l = n / 2 + 1, r = n, i = 0, j = 1;
               while (r > 1) { if (l > 1) l--; else r--; i = l; j = 2 * l; }
               return i + j;
             }",
        );
    }
}
