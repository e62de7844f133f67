//! A program whose loops and recursions end after so many rounds.
//!
//! In comes a program and a depth, out comes the program with an execution ended where a loop
//! begins another iteration than that many, or a function that calls itself is entered that many
//! times already. Loops that count from a number to another one in few steps go to their ends, or
//! a small depth would say nothing of what comes behind a loop that fills a table. It has no other
//! executions than the program has, and all of those that stay
//! within the depth: what is proved of it holds of the program up to the depth, and what violates
//! it violates the program. Checks keep their numbers.

use crate::counting::Counting;
use hardbop_budget::{Budget, Stopped};
use hardbop_cfront::call_graph;
use hardbop_cfront::edit::{Graphs, Tables};
use hardbop_cfront::ids::{EdgeId, ExprId, FuncId, LocId, VarId};
use hardbop_cfront::program::{
    BinaryOp, ExprKind, Initial, LocationKind, Op, Program, Source, VarKind,
};
use hardbop_graph::Loops;

/// The program with at most so many iterations of each loop each time that it is entered, and so
/// many open calls of each function that calls itself.
///
/// ```
/// use hardbop_budget::Budget;
/// use hardbop_cfront::load::load_text;
/// use hardbop_model::bounded::bounded;
///
/// let text = "int main(void) { int i = 0; while (1) i++; return i; }";
/// let program = load_text("loop.c", text).unwrap().program;
/// let bounded = bounded(&program, 8, &Budget::unlimited()).unwrap();
/// assert_eq!(bounded.checks, program.checks);
/// assert!(bounded.edges.len() > program.edges.len());
/// ```
pub fn bounded(program: &Program, depth: u32, budget: &Budget) -> Result<Program, Stopped> {
    let mut weave = Weave {
        graphs: Graphs::new(program),
        tables: Tables::new(program.clone()),
        depth,
    };
    let recursive = call_graph::recursive(program);
    for (index, &calls_itself) in recursive.iter().enumerate() {
        budget.check()?;
        let function = FuncId(index as u32);
        weave.loops(program, function);
        if calls_itself {
            weave.recursion(function);
        }
    }
    let Weave { graphs, tables, .. } = weave;
    let mut program = tables.program;
    graphs.lay_out(&mut program);
    Ok(program)
}

struct Weave {
    graphs: Graphs,
    tables: Tables,
    depth: u32,
}

impl Weave {
    /// Ends executions that go round a loop of a function too often.
    fn loops(&mut self, program: &Program, function: FuncId) {
        let described = program.function(function);
        let first = described.locations.start;
        let position = |location: LocId| (location.0 - first) as usize;
        let successors = program.successors(function);
        let counting = Counting::new(program, function);
        let found = Loops::new(&successors, position(described.entry));
        let source = described.source;
        for one in &found.loops {
            let inside = |location: LocId| one.body[position(location)];
            let head = LocId(first + one.head as u32);
            if counting.ends_soon(head, &inside) {
                continue;
            }
            let name = format!("iterations#{}", one.head);
            let ty = self.tables.program.types.int(32, false);
            let counter = self.tables.temporary(function, name, ty, source);
            for location in described.locations.clone() {
                for (id, edge) in program.edges_from(LocId(location)) {
                    if !inside(edge.to) {
                        continue;
                    }
                    if !inside(edge.from) {
                        self.set_behind(id, counter, edge.source);
                    } else if position(edge.to) == one.head {
                        self.count_behind(id, counter, edge.source);
                    }
                }
            }
            // A loop may begin where the function does.
            let (new, old) = self.graphs.before_entry(function);
            let zero = self.number(0);
            self.assign(new, old, counter, zero, source);
        }
    }

    /// Ends executions that enter a function which calls itself too often.
    fn recursion(&mut self, function: FuncId) {
        let source = self.tables.program.function(function).source;
        let ty = self.tables.program.types.int(32, false);
        let name = format!("calls#{}", function.0);
        let initial = Initial::Data(Vec::new());
        let counter = self
            .tables
            .variable(name, ty, VarKind::Global, source, initial);
        let (new, old) = self.graphs.before_entry(function);
        self.count(new, old, counter, source);
        let (last, exit) = self.graphs.before_exit(function);
        let fewer = self.moved(counter, BinaryOp::Sub);
        self.assign(last, exit, counter, fewer, source);
    }

    /// A counter begins again behind an edge.
    fn set_behind(&mut self, edge: EdgeId, counter: VarId, source: Source) {
        let (middle, to) = self.graphs.split_after(edge);
        let zero = self.number(0);
        self.assign(middle, to, counter, zero, source);
    }

    /// A counter goes on behind an edge.
    fn count_behind(&mut self, edge: EdgeId, counter: VarId, source: Source) {
        let (middle, to) = self.graphs.split_after(edge);
        self.count(middle, to, counter, source);
    }

    /// Leads from one location to another where a counter is below the depth, and counts.
    fn count(&mut self, from: LocId, to: LocId, counter: VarId, source: Source) {
        let function = self.graphs.function(from);
        let counted = self.graphs.location(function, LocationKind::Plain);
        let halt = self.graphs.location(function, LocationKind::Halt);
        let now = self.tables.load_variable(counter);
        let depth = self.number(self.depth);
        let int = self.tables.int();
        let below = ExprKind::Binary(BinaryOp::Lt, now, depth);
        let below = self.tables.expr(below, int);
        self.graphs.branch(from, below, counted, halt, source);
        let more = self.moved(counter, BinaryOp::Add);
        self.assign(counted, to, counter, more, source);
    }

    /// What a counter holds, one more or less.
    fn moved(&mut self, counter: VarId, op: BinaryOp) -> ExprId {
        let now = self.tables.load_variable(counter);
        let one = self.number(1);
        let ty = self.tables.ty(now);
        self.tables.expr(ExprKind::Binary(op, now, one), ty)
    }

    fn number(&mut self, value: u32) -> ExprId {
        let ty = self.tables.program.types.int(32, false);
        self.tables.constant(value.into(), ty)
    }

    fn assign(&mut self, from: LocId, to: LocId, counter: VarId, value: ExprId, source: Source) {
        let place = self.tables.variable_place(counter);
        self.graphs
            .edge(from, to, Op::Assign { place, value }, source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardbop_cfront::load::load_text;

    /// How many loops are cut off.
    fn cut(text: &str) -> usize {
        let program = load_text("loops.c", text).unwrap().program;
        let bounded = bounded(&program, 2, &Budget::unlimited()).unwrap();
        let mut variables = bounded.variables.iter();
        let counters = variables.by_ref();
        let named = counters.filter(|variable| variable.name.starts_with("iterations#"));
        named.count()
    }

    #[test]
    fn a_loop_that_counts_to_a_small_number_goes_to_its_end() {
        assert_eq!(
            cut("int main(void) { int a[6]; for (int i = 0; i < 6; i++) a[i] = i; }"),
            0
        );
        let sized =
            "int main(void) { char a[6]; for (unsigned long i = 0; i < sizeof a; i++) a[i] = 0; }";
        assert_eq!(cut(sized), 0);
        assert_eq!(
            cut("int main(void) { int i = 2, j = 0; while (i <= 9) { i += 3; j++; } }"),
            0
        );
    }

    #[test]
    fn others_are_cut_off() {
        assert_eq!(cut("int main(void) { for (int i = 0; i < 600; i++) ; }"), 1);
        assert_eq!(
            cut(
                "int f(int n) { for (int i = 0; i < n; i++) ; return n; } int main(void) { return f(2); }"
            ),
            1
        );
        assert_eq!(
            cut("int f(int i) { while (i < 6) i++; return i; } int main(void) { return f(2); }"),
            1
        );
        assert_eq!(
            cut("int main(void) { for (int i = 0; i < 6; i++) if (i == 3) i = 0; }"),
            1
        );
    }
}
