//! What is asked about the heap where the program ends: is all of it freed, is none of it lost.
//!
//! A count of the objects that live goes along with the program, as a variable that the text does
//! not have: it grows by one at every allocation and falls by one at every `free` of a pointer that
//! is not null (an execution does not come past a wrong `free`). At the end, either it is zero, and
//! all is well, or the interpreter looks at the objects themselves. So a proof is one about a
//! plain variable, and a violation is a run that shows the object.

use crate::builder::{Body, Builder};
use crate::ids::{ExprId, FuncId, VarId};
use crate::program::*;

/// The name of the count.
const LIVE_OBJECTS: &str = "live heap objects";

/// The facts in the order in which they are asked for: what was lost was not freed either.
const FACTS: [HeapFact; 2] = [HeapFact::Reached, HeapFact::Freed];

impl Builder {
    /// What was asked about the heap at the end of the program.
    pub(crate) fn heap_facts(&self) -> impl Iterator<Item = HeapFact> + use<> {
        let asked = FACTS.map(|fact| self.asked.contains(&fact.kind()).then_some(fact));
        asked.into_iter().flatten()
    }

    /// The count of the objects that live on the heap.
    pub(crate) fn live_objects(&mut self, source: Source) -> VarId {
        if let Some(known) = self.live_objects {
            return known;
        }
        let width = self.types.model().pointer_size() as u32 * 8;
        let ty = self.types.int(width, false);
        let variable = self.add_variable(Variable {
            name: LIVE_OBJECTS.to_owned(),
            ty,
            kind: VarKind::Global,
            address_taken: false,
            source,
            initial: Initial::Data(Vec::new()),
            read_only: false,
            align: 1,
        });
        self.live_objects = Some(variable);
        variable
    }

    /// Whether a fact holds of the heap.
    pub(crate) fn heap_is(&mut self, fact: HeapFact, end: ProgramEnd, source: Source) -> ExprId {
        let int = self.types.int(32, true);
        let live = self.live_objects(source);
        let place = self.var_place(live);
        let count = self.load(place);
        let none = self.zero(self.variables[live.index()].ty);
        let empty = self.binary(BinaryOp::Eq, count, none, int);
        let holds = self.expr(ExprKind::HeapIs { fact, end }, int);
        self.binary(BinaryOp::Or, empty, holds, int)
    }

    /// What is said when a fact does not hold.
    pub(crate) fn heap_message(fact: HeapFact, where_from: &str) -> String {
        match fact {
            HeapFact::Freed => format!("memory left at {where_from}"),
            HeapFact::Reached => format!("memory lost at {where_from}"),
        }
    }

    /// Adds the checks of the heap where the entry returns.
    pub(crate) fn check_heap_at_return(&mut self, entry: FuncId) {
        let facts: Vec<HeapFact> = self.heap_facts().collect();
        // Without any allocation there is nothing to ask.
        if facts.is_empty() || self.live_objects.is_none() {
            return;
        }
        let draft = &self.functions[entry.index()];
        let source = draft.source;
        let Some(mut body) = draft.body.clone() else {
            return;
        };
        let mut at = before_exit(&mut body);
        for fact in facts {
            let condition = self.heap_is(fact, ProgramEnd::Return, source);
            let check = self.add_check(Check {
                kind: fact.kind(),
                message: Builder::heap_message(fact, "the end of the program"),
                function: entry,
                source,
            });
            let error = body.location(LocationKind::Error(check));
            let next = body.location(LocationKind::Plain);
            for (to, holds) in [(next, true), (error, false)] {
                body.edge(at, to, Op::Assume { condition, holds }, source);
            }
            at = next;
        }
        let exit = body.exit;
        body.edge(at, exit, Op::Skip, source);
        self.functions[entry.index()].body = Some(body);
    }
}

/// Leads everything that leads to the exit to a new location, and gives that.
fn before_exit(body: &mut Body) -> u32 {
    let last = body.location(LocationKind::Plain);
    for edge in &mut body.edges {
        if edge.to == body.exit {
            edge.to = last;
        }
    }
    if body.entry == body.exit {
        body.entry = last;
    }
    last
}
