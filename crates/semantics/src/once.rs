//! Which objects on the heap are the only ones of their kind.
//!
//! In come a program and its points-to classes; out come the classes that hold one object, however
//! long a run is: all of their pointers come from one allocation, and no run comes to that twice.
//! Such an object is like a variable, and its members can be cells.

use crate::Semantics;
use crate::layout::{StateKind, StateVarId};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId, PlaceId};
use hardbop_cfront::points_to::{ClassId, PointsTo};
use hardbop_cfront::program::{Op, Program};
use std::collections::{BTreeMap, BTreeSet};

/// The classes that hold one object, which the program allocates.
pub(crate) fn only_objects(program: &Program, points_to: &PointsTo) -> BTreeSet<ClassId> {
    let mut allocations: BTreeMap<ClassId, Vec<EdgeId>> = BTreeMap::new();
    for (index, edge) in program.edges.iter().enumerate() {
        if !matches!(edge.op, Op::Allocate { .. }) {
            continue;
        }
        let id = EdgeId(index as u32);
        let Some(spot) = points_to.allocation(id) else {
            // It may be anywhere.
            return BTreeSet::new();
        };
        allocations.entry(spot.class).or_default().push(id);
    }
    if allocations.is_empty() {
        return BTreeSet::new();
    }
    let runs = Runs::new(program);
    let is_only = |(class, edges): &(ClassId, Vec<EdgeId>)| {
        let class = &points_to.classes()[class.0 as usize];
        class.variables.is_empty()
            && class.functions.is_empty()
            && !class.external
            && matches!(edges.as_slice(), &[edge] if runs.comes_once(edge))
    };
    let only = allocations.into_iter().filter(is_only);
    only.map(|(class, _)| class).collect()
}

impl Semantics<'_> {
    /// The cells of the object that an allocation makes whose address goes to a place: they hold
    /// anything when it begins.
    pub(crate) fn cells_of_new_object(&self, place: PlaceId) -> Vec<StateVarId> {
        let held = self.points_to.place(place);
        let Some(object) = held.and_then(|spot| self.points_to.pointee(spot)) else {
            return Vec::new();
        };
        let regions = self.points_to.regions().of_class(object.class);
        let all = regions.map(|region| self.layout.region(region));
        all.filter(|&id| {
            let described = self.layout.get(id);
            described.variable.is_none() && matches!(described.kind, StateKind::Cell { .. })
        })
        .collect()
    }
}

/// How often runs come to places.
struct Runs<'a> {
    program: &'a Program,
    /// By function, the edges that may call it.
    calls: Vec<Vec<EdgeId>>,
}

impl Runs<'_> {
    fn new(program: &Program) -> Runs<'_> {
        let mut calls = vec![Vec::new(); program.functions.len()];
        for (index, edge) in program.edges.iter().enumerate() {
            if let Op::Call { callee, .. } = &edge.op {
                for target in callee.targets() {
                    calls[target.index()].push(EdgeId(index as u32));
                }
            }
        }
        Runs { program, calls }
    }

    /// Whether no run takes an edge twice: it is on no cycle, its function is called from one place
    /// only, and no run comes to that twice.
    fn comes_once(&self, edge: EdgeId) -> bool {
        let (mut edge, mut seen) = (edge, BTreeSet::new());
        loop {
            let from = self.program.edges[edge.index()].from;
            let function = self.program.locations[from.index()].function;
            if !seen.insert(function) || self.comes_again(edge) {
                return false;
            }
            match (
                self.is_entry(function),
                self.calls[function.index()].as_slice(),
            ) {
                (true, []) => return true,
                (false, &[call]) => edge = call,
                _ => return false,
            }
        }
    }

    fn is_entry(&self, function: FuncId) -> bool {
        function == self.program.entry
    }

    /// Whether control can come from behind an edge to its beginning again, in one activation.
    fn comes_again(&self, edge: EdgeId) -> bool {
        let edge = &self.program.edges[edge.index()];
        let mut seen: BTreeSet<LocId> = BTreeSet::from([edge.to]);
        let mut work = vec![edge.to];
        while let Some(location) = work.pop() {
            if location == edge.from {
                return true;
            }
            let next = self.program.edges_from(location);
            work.extend(next.map(|(_, edge)| edge.to).filter(|&to| seen.insert(to)));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::only_objects;
    use hardbop_cfront::load::load_text;

    const PRELUDE: &str = "#include <stdlib.h>
        extern int __VERIFIER_nondet_int(void);
        extern struct node *get(void);
        struct node { int value; struct node *next; };\n";

    /// How many classes hold one object.
    fn only(text: &str) -> usize {
        let loaded = load_text("once.c", &format!("{PRELUDE}{text}")).unwrap();
        only_objects(&loaded.program, &loaded.points_to).len()
    }

    #[test]
    fn what_is_allocated_once_is_alone() {
        let text = "int main(void) { struct node *n = malloc(sizeof *n);
            n->value = 1; return n->value; }";
        assert_eq!(only(text), 1);
    }

    #[test]
    fn each_place_has_its_own() {
        let text = "int main(void) { struct node *a = malloc(sizeof *a);
            struct node *b = malloc(sizeof *b); a->value = 1; b->value = 2; return 0; }";
        assert_eq!(only(text), 2);
    }

    #[test]
    fn two_behind_one_pointer_are_not_alone() {
        let text = "int main(void) { struct node *a = malloc(sizeof *a);
            struct node *b = malloc(sizeof *b); a->next = b;
            struct node *c = __VERIFIER_nondet_int() ? a : b; c->value = 1; return 0; }";
        assert_eq!(only(text), 0);
    }

    #[test]
    fn a_loop_makes_many() {
        let text = "int main(void) { while (__VERIFIER_nondet_int()) {
            struct node *n = malloc(sizeof *n); n->value = 1; } return 0; }";
        assert_eq!(only(text), 0);
    }

    #[test]
    fn so_does_a_function_that_is_called_twice() {
        let make = "struct node *make(void) { return malloc(sizeof(struct node)); }";
        let once = format!("{make} int main(void) {{ make()->value = 1; return 0; }}");
        let twice = format!("{make} int main(void) {{ make()->value = make()->value; return 0; }}");
        let again = format!("{make} int main(void) {{ for (;;) make()->value = 1; }}");
        assert_eq!([only(&once), only(&twice), only(&again)], [1, 0, 0]);
    }

    #[test]
    fn and_one_that_calls_itself() {
        let text = "void make(int n) { struct node *p = malloc(sizeof *p); p->value = n;
            if (n > 0) make(n - 1); } int main(void) { make(3); return 0; }";
        assert_eq!(only(text), 0);
    }

    #[test]
    fn what_may_come_from_outside_is_not_alone() {
        let text = "int main(void) { struct node *n = malloc(sizeof *n);
            if (__VERIFIER_nondet_int()) n = get(); n->value = 1; return n->value; }";
        assert_eq!(only(text), 0);
    }
}
