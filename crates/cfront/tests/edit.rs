//! Programs that are changed and laid out anew are programs.

use hardbop_cfront::dump::dump;
use hardbop_cfront::edit::{Graphs, Tables};
use hardbop_cfront::ids::{EdgeId, FuncId, LocId, VarId};
use hardbop_cfront::load::load_text;
use hardbop_cfront::program::{ExprKind, LocationKind, Op, Program};
use hardbop_cfront::verify::verify;

const C: &str = "
    int g;
    int f(int n) { if (n > 3) return 1; while (n) { n--; if (n == g) goto out; } out: return n; }
    void empty(void) {}
    int main(void) {
        int (*p)(int) = f;
        for (int i = 0; i < 3; i++) { switch (i) { case 1: g += p(i); break; default: empty(); } }
        return f(g);
    }
";

fn program() -> Program {
    load_text("x.c", C).expect(C).program
}

#[test]
fn steps_that_do_nothing_leave_no_trace() {
    let program = program();
    let source = program.function(program.entry).source;
    let mut changed = program.clone();
    let mut graphs = Graphs::new(&program);
    for edge in (0..program.edges.len() as u32).map(EdgeId) {
        for _ in 0..2 {
            let (middle, to) = graphs.split_after(edge);
            graphs.edge(middle, to, Op::Skip, source);
        }
    }
    for function in (0..program.functions.len() as u32).map(FuncId) {
        let (start, entry) = graphs.before_entry(function);
        graphs.edge(start, entry, Op::Skip, source);
        let (last, exit) = graphs.before_exit(function);
        graphs.edge(last, exit, Op::Skip, source);
    }
    graphs.lay_out(&mut changed);
    assert_eq!(dump(&changed), dump(&program));
    assert_eq!(verify(&changed), Vec::<String>::new());
}

#[test]
fn what_is_woven_in_is_where_it_belongs() {
    let program = program();
    let mut tables = Tables::new(program.clone());
    let mut graphs = Graphs::new(&program);
    let source = program.function(program.entry).source;
    let int = tables.int();
    let g = program.variables.iter().position(|v| v.name == "g");
    let g = VarId(g.expect("it is there") as u32);
    let condition = tables.load_variable(g);
    assert_eq!(condition, tables.load_variable(g));
    let one = tables.constant(1, int);
    let place = tables.variable_place(g);
    for location in (0..program.locations.len() as u32).map(LocId) {
        if graphs.kind(location) != LocationKind::LoopHead {
            continue;
        }
        let behind = graphs.split(location);
        let halt = graphs.location(graphs.function(location), LocationKind::Halt);
        graphs.branch(location, condition, behind, halt, source);
    }
    for edge in (0..program.edges.len() as u32).map(EdgeId) {
        if matches!(graphs.edges()[edge.index()].op, Op::Call { .. }) {
            let (from, middle) = graphs.split_before(edge);
            graphs.edge(from, middle, Op::Assign { place, value: one }, source);
        }
    }
    graphs.lay_out(&mut tables.program);
    let woven = &tables.program;
    assert_eq!(verify(woven), Vec::<String>::new());
    let heads = |p: &Program| {
        let kinds = p.locations.iter().map(|location| location.kind);
        kinds.filter(|kind| *kind == LocationKind::LoopHead).count()
    };
    assert_eq!(heads(woven), heads(&program));
    let guards = woven
        .edges
        .iter()
        .filter(|edge| matches!(edge.op, Op::Assume { condition: c, .. } if c == condition));
    assert_eq!(guards.count(), 2 * heads(&program));
    let calls = woven
        .edges
        .iter()
        .filter(|edge| matches!(edge.op, Op::Call { .. }));
    for call in calls {
        let before: Vec<_> = woven
            .edges
            .iter()
            .filter(|edge| edge.to == call.from)
            .collect();
        assert!(before.iter().all(|edge| matches!(
            edge.op,
            Op::Assign { value, .. } if woven.expr(value).kind == ExprKind::Int(1)
        )));
        assert!(!before.is_empty());
    }
}
