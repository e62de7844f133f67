//! MOD and REF by variable: what a function, with everything that it calls, may modify and read.
//!
//! Variables that only their own function can name (locals whose address is not taken) are left
//! out: no caller sees them. An access through a pointer touches the pointer's points-to class
//! and with it every variable of that class. Callees count with all that they touch; functions
//! that call each other have equal sets.
//!
//! This is for judging whether the order of operands matters, before there is any logic: it needs
//! reads and ends of lives, and may be coarse. What the logic's state variables need, regions and
//! values only, is `semantics::effects`; both see an operation through [`each_write`].

use crate::call_graph::{callees, with_callees};
use crate::ids::{ExprId, FuncId, PlaceId, VarId};
use crate::operands::{Write, each_load, each_write};
use crate::points_to::{ClassId, PointsTo};
use crate::program::{Op, Program, Root, VarKind};
use std::collections::BTreeSet;

/// What is touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Variables, in order: those of static storage, and those whose address is taken.
    pub variables: BTreeSet<VarId>,
    /// Points-to classes that are reached through pointers, or whose objects come to life or end.
    pub classes: BTreeSet<ClassId>,
    /// Whether anything that a pointer can reach may be touched besides.
    pub reachable: bool,
}

impl Touched {
    fn absorb(&mut self, other: &Touched) {
        self.variables.extend(&other.variables);
        self.classes.extend(&other.classes);
        self.reachable |= other.reachable;
    }
}

/// What one function touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// What it may write.
    pub modified: Touched,
    /// What it may read.
    pub read: Touched,
}

/// What every function touches, by [`FuncId`].
#[derive(Clone, Debug)]
pub struct ModRef {
    effects: Vec<Effects>,
}

impl ModRef {
    /// What a function touches, its callees included.
    pub fn of(&self, function: FuncId) -> &Effects {
        &self.effects[function.index()]
    }
}

/// Computes the sets for every function. The targets of indirect calls must be filled in.
pub fn analyse(program: &Program, points_to: &PointsTo) -> ModRef {
    let mut effects = vec![Effects::default(); program.functions.len()];
    for (index, function) in program.functions.iter().enumerate() {
        let mut walk = Walk {
            program,
            points_to,
            own: FuncId(index as u32),
            effects: &mut effects[index],
        };
        for location in function.locations.clone() {
            for edge in program.locations[location as usize].edges.clone() {
                walk.op(&program.edges[edge as usize].op);
            }
        }
    }
    let effects = with_callees(&callees(program), effects, |caller, callee| {
        caller.modified.absorb(&callee.modified);
        caller.read.absorb(&callee.read);
    });
    ModRef { effects }
}

struct Walk<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    own: FuncId,
    effects: &'a mut Effects,
}

/// Read or write.
#[derive(Clone, Copy)]
enum Access {
    Read,
    Write,
}

impl Walk<'_> {
    fn op(&mut self, op: &Op) {
        each_load(self.program, op, &mut |place| {
            self.place(place, Access::Read);
        });
        if let Op::CopyMemory { from, .. } = op {
            self.memory(*from, Access::Read);
        }
        each_write(op, &mut |write| match write {
            Write::Place(place) => self.place(place, Access::Write),
            Write::Memory(pointer) | Write::Free(pointer) => self.memory(pointer, Access::Write),
            Write::Everything => self.effects.modified.reachable = true,
            Write::Begin(variable) | Write::End(variable) => {
                self.variable(variable, Access::Write);
            }
            Write::Allocate => {}
        });
    }

    fn place(&mut self, place: PlaceId, access: Access) {
        match self.program.root(place) {
            Root::Variable(variable) => self.variable(variable, access),
            Root::Pointer(pointer) => self.memory(pointer, access),
        }
    }

    fn variable(&mut self, id: VarId, access: Access) {
        let variable = self.program.variable(id);
        let own = match variable.kind {
            VarKind::Global | VarKind::Static(_) | VarKind::Literal => false,
            VarKind::Formal(f) | VarKind::Local(f) | VarKind::Temporary(f) | VarKind::Result(f) => {
                f == self.own
            }
        };
        if own && !variable.address_taken {
            return;
        }
        let class = if variable.address_taken {
            self.points_to.variable(id).map(|spot| spot.class)
        } else {
            None
        };
        let touched = self.touched(access);
        touched.variables.insert(id);
        touched.classes.extend(class);
    }

    fn memory(&mut self, pointer: ExprId, access: Access) {
        match self.points_to.pointer(pointer) {
            Some(spot) => {
                let class = &self.points_to.classes()[spot.class.0 as usize];
                let touched = self.touched(access);
                touched.classes.insert(spot.class);
                touched.variables.extend(&class.variables);
            }
            // An address that the analysis knows nothing about, such as a plain number.
            None => self.touched(access).reachable = true,
        }
    }

    fn touched(&mut self, access: Access) -> &mut Touched {
        match access {
            Access::Read => &mut self.effects.read,
            Access::Write => &mut self.effects.modified,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load_text;
    use expect_test::expect;

    #[test]
    fn functions_are_known_by_what_they_modify_and_read() {
        let loaded = load_text(
            "main.c",
            "int g, h, k; int array[4]; int *p = &h;\n\
             void leaf(void) { g = k; }\n\
             void through(int *q) { *q = 1; }\n\
             void even(int n); void odd(int n) { if (n) even(n - 1); array[n & 3] = 0; }\n\
             void even(int n) { if (n) odd(n - 1); leaf(); }\n\
             int main(void) { int x; through(&x); through(p); even(3); return g; }",
        )
        .expect("a program");
        let program = &loaded.program;
        let sets = analyse(program, &loaded.points_to);
        let mut out = String::new();
        for (index, function) in program.functions.iter().enumerate() {
            let effects = sets.of(FuncId(index as u32));
            let names = |touched: &Touched| {
                let names = touched
                    .variables
                    .iter()
                    .map(|&v| program.variable(v).name.clone());
                names.collect::<Vec<_>>().join(" ")
            };
            out.push_str(&format!(
                "{}: modifies [{}] reads [{}]\n",
                function.name,
                names(&effects.modified),
                names(&effects.read)
            ));
        }
        expect![[r#"
            leaf: modifies [g] reads [k]
            through: modifies [h x] reads []
            even: modifies [g array] reads [k]
            odd: modifies [g array] reads [k]
            main: modifies [g h array x] reads [g k p]
        "#]]
        .assert_eq(&out);
    }
}
