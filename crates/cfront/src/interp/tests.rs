//! Small programs, built by hand, that show what the interpreter does.

use super::*;
use crate::ids::{ExprId, FuncId, LocId, PlaceId, VarId};
use crate::program::*;
use crate::types::{DataModel, Type, Types, Variadic};
use crate::words::Words;
use hardbop_diagnostics::{FileId, Sources, Span};

/// A program of one function, `main`, whose locations are numbered as they are used.
struct Tiny {
    program: Program,
    int: TypeId,
    edges: Vec<(u32, u32, Op)>,
    kinds: Vec<(u32, LocationKind)>,
}

const EXIT: u32 = 99;

fn nowhere() -> Source {
    Source {
        span: Span::new(FileId(0), 0, 0),
        file: 0,
        line: 1,
    }
}

impl Tiny {
    fn new(model: DataModel) -> Tiny {
        let mut types = Types::new(model);
        let int = types.int(32, true);
        let ty = types.intern(Type::Function {
            result: int,
            parameters: Vec::new(),
            variadic: Variadic::No,
        });
        let mut sources = Sources::new();
        sources.add("tiny.c", "");
        let main = Function {
            name: "main".to_string(),
            ty,
            formals: Vec::new(),
            locals: Vec::new(),
            result: None,
            origin: Origin::User,
            locations: 0..0,
            entry: LocId(0),
            exit: LocId(0),
            source: nowhere(),
        };
        let program = Program {
            types,
            variables: Vec::new(),
            functions: vec![main],
            locations: Vec::new(),
            edges: Vec::new(),
            exprs: Vec::new(),
            places: Vec::new(),
            checks: Vec::new(),
            entry: FuncId(0),
            assumptions: Vec::new(),
            unsupported: Vec::new(),
            sources,
            presumed_files: vec!["tiny.c".to_string()],
            rules: Vec::new(),
            indices: Indices::default(),
            words: Words::default(),
        };
        let mut tiny = Tiny {
            program,
            int,
            edges: Vec::new(),
            kinds: Vec::new(),
        };
        let result = tiny.variable("result", int, VarKind::Result(FuncId(0)));
        tiny.program.functions[0].result = Some(result);
        tiny
    }

    fn variable(&mut self, name: &str, ty: TypeId, kind: VarKind) -> VarId {
        let initial = match kind {
            VarKind::Global => Initial::Data(Vec::new()),
            _ => Initial::None,
        };
        self.program.variables.push(Variable {
            name: name.to_string(),
            ty,
            kind,
            address_taken: false,
            source: nowhere(),
            initial,
            read_only: false,
            align: 1,
        });
        VarId(self.program.variables.len() as u32 - 1)
    }

    fn local(&mut self, name: &str, ty: TypeId) -> VarId {
        let variable = self.variable(name, ty, VarKind::Local(FuncId(0)));
        self.program.functions[0].locals.push(variable);
        variable
    }

    fn place(&mut self, kind: PlaceKind, ty: TypeId) -> PlaceId {
        self.program.places.push(Place { kind, ty });
        PlaceId(self.program.places.len() as u32 - 1)
    }

    fn var(&mut self, variable: VarId) -> PlaceId {
        let ty = self.program.variable(variable).ty;
        self.place(PlaceKind::Var(variable), ty)
    }

    fn expr(&mut self, kind: ExprKind, ty: TypeId) -> ExprId {
        self.program.exprs.push(Expr { kind, ty });
        ExprId(self.program.exprs.len() as u32 - 1)
    }

    fn number(&mut self, n: i32) -> ExprId {
        let int = self.int;
        self.expr(ExprKind::Int(u128::from(n as u32)), int)
    }

    fn load(&mut self, variable: VarId) -> ExprId {
        let place = self.var(variable);
        let ty = self.program.place(place).ty;
        self.expr(ExprKind::Load(place), ty)
    }

    fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        let ty = match op {
            BinaryOp::Lt | BinaryOp::Eq => self.int,
            _ => self.program.expr(a).ty,
        };
        self.expr(ExprKind::Binary(op, a, b), ty)
    }

    fn edge(&mut self, from: u32, to: u32, op: Op) {
        self.edges.push((from, to, op));
    }

    fn assign(&mut self, from: u32, to: u32, variable: VarId, value: ExprId) {
        let place = self.var(variable);
        self.edge(from, to, Op::Assign { place, value });
    }

    fn branch(&mut self, from: u32, condition: ExprId, yes: u32, no: u32) {
        self.edge(
            from,
            yes,
            Op::Assume {
                condition,
                holds: true,
            },
        );
        self.edge(
            from,
            no,
            Op::Assume {
                condition,
                holds: false,
            },
        );
    }

    fn result(&self) -> VarId {
        VarId(0)
    }

    fn finish(mut self) -> Program {
        self.kinds.push((EXIT, LocationKind::Exit));
        let count = EXIT + 1;
        for location in 0..count {
            let first = self.program.edges.len() as u32;
            for (from, to, op) in self.edges.iter().filter(|edge| edge.0 == location) {
                self.program.edges.push(Edge {
                    from: LocId(*from),
                    to: LocId(*to),
                    op: op.clone(),
                    source: nowhere(),
                });
            }
            let kind = self.kinds.iter().find(|(at, _)| *at == location);
            self.program.locations.push(Location {
                function: FuncId(0),
                kind: kind.map_or(LocationKind::Plain, |(_, kind)| *kind),
                edges: first..self.program.edges.len() as u32,
                labels: Vec::new(),
            });
        }
        self.program.functions[0].locations = 0..count;
        self.program.functions[0].exit = LocId(EXIT);
        self.program
    }
}

/// `for (i = 0; i < n; i++) s += i; return s;`
fn counting(n: i32) -> Program {
    let mut t = Tiny::new(DataModel::Lp64);
    let (i, s) = (t.local("i", t.int), t.local("s", t.int));
    let (zero, one, n) = (t.number(0), t.number(1), t.number(n));
    let (load_i, load_s) = (t.load(i), t.load(s));
    let condition = t.binary(BinaryOp::Lt, load_i, n);
    let sum = t.binary(BinaryOp::Add, load_s, load_i);
    let next = t.binary(BinaryOp::Add, load_i, one);
    t.assign(0, 1, i, zero);
    t.assign(1, 2, s, zero);
    t.branch(2, condition, 3, 5);
    t.assign(3, 4, s, sum);
    t.assign(4, 2, i, next);
    t.assign(5, EXIT, t.result(), load_s);
    t.finish()
}

fn returned(run: &Run) -> i32 {
    match run.outcome {
        Outcome::Returned(Some(value)) => value.bits as u32 as i32,
        ref outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn a_loop_counts_its_edges() {
    let run = run(
        &counting(10),
        &mut Script::new(Vec::new()),
        &Limits::default(),
    );
    assert_eq!(returned(&run), 45);
    assert_eq!(run.steps, 2 + 10 * 3 + 1 + 1);
}

#[test]
fn limits_end_a_run() {
    let program = counting(i32::MAX);
    let limits = Limits {
        steps: 1_000_003,
        ..Limits::default()
    };
    let stopped = run(&program, &mut Script::new(Vec::new()), &limits);
    assert_eq!(
        (stopped.outcome, stopped.steps),
        (Outcome::StepLimit, 1_000_003)
    );
    let budget = Budget::unlimited().with_time(std::time::Duration::ZERO);
    let limits = Limits {
        budget,
        ..Limits::default()
    };
    let stopped = run(&program, &mut Script::new(Vec::new()), &limits);
    assert_eq!(stopped.outcome, Outcome::Stopped(Stopped::Time));
}

#[test]
fn traces_keep_the_first_or_the_last_edges() {
    let program = counting(2);
    let trace = |trace| {
        let limits = Limits {
            trace,
            ..Limits::default()
        };
        let run = run(&program, &mut Script::new(Vec::new()), &limits);
        run.trace.iter().map(|edge| edge.0).collect::<Vec<_>>()
    };
    assert_eq!(trace(TraceMode::First(100)), [0, 1, 2, 4, 5, 2, 4, 5, 3, 6]);
    assert_eq!(trace(TraceMode::First(2)), [0, 1]);
    assert_eq!(trace(TraceMode::Last(3)), [5, 3, 6]);
    assert!(trace(TraceMode::Off).is_empty());
}

#[test]
fn an_observer_sees_values_at_each_step() {
    struct Sums {
        expr: ExprId,
        i: VarId,
        seen: Vec<(u128, u128)>,
    }
    impl Observer for Sums {
        fn edge(&mut self, edge: EdgeId, state: &mut State<'_, '_>) {
            if edge.0 == 2 {
                let i = state.variable(self.i).map(|v| v.bits).unwrap_or(999);
                let sum = state
                    .eval(self.expr)
                    .ok()
                    .flatten()
                    .map(|v| v.bits)
                    .unwrap_or(999);
                self.seen.push((i, sum));
            }
        }
    }
    let program = counting(4);
    let is_sum = |e: &Expr| matches!(e.kind, ExprKind::Binary(BinaryOp::Add, ..));
    let expr = ExprId(program.exprs.iter().position(is_sum).unwrap() as u32);
    let mut observer = Sums {
        expr,
        i: VarId(1),
        seen: Vec::new(),
    };
    Interpreter::new(&program).run_observed(
        &mut Script::new(Vec::new()),
        &Limits::default(),
        &mut observer,
    );
    assert_eq!(observer.seen, [(0, 0), (1, 1), (2, 3), (3, 6)]);
}

#[test]
fn inputs_are_consumed_recorded_and_replayed() {
    let mut t = Tiny::new(DataModel::Lp64);
    let (a, b) = (t.local("a", t.int), t.local("b", t.int));
    for (from, variable) in [(0, a), (1, b)] {
        let place = t.var(variable);
        t.edge(
            from,
            from + 1,
            Op::Input {
                place,
                name: "__VERIFIER_nondet_int".into(),
            },
        );
    }
    let (x, y) = (t.load(a), t.load(b));
    let quotient = t.binary(BinaryOp::Div, x, y);
    t.assign(2, EXIT, t.result(), quotient);
    let program = t.finish();
    let go = |script: &mut Script| run(&program, script, &Limits::default());

    let first = go(&mut Script::new(parse_inputs("7,-2").unwrap()));
    assert_eq!(returned(&first), -3);
    assert_eq!(go(&mut Script::replay(&first)), first);
    let shown = report(&program, &first).to_string();
    expect_test::expect![[r#"
        returned -3
        inputs:
          __VERIFIER_nondet_int = 7  (tiny.c:1)
          __VERIFIER_nondet_int = -2  (tiny.c:1)
        3 steps
    "#]]
    .assert_eq(&shown);

    let zero = go(&mut Script::new(parse_inputs("7").unwrap()));
    let kind = TrapKind::DivisionByZero;
    assert_eq!(
        zero.outcome,
        Outcome::Trapped {
            kind,
            edge: EdgeId(2)
        }
    );
    let stop = Script::new(parse_inputs("7").unwrap()).exhausted(Exhausted::Stop);
    assert_eq!(go(&mut { stop }).outcome, Outcome::OutOfInputs(EdgeId(1)));
    let random = || Script::new(Vec::new()).exhausted(Exhausted::Random).seed(5);
    assert_eq!(go(&mut random()), go(&mut random()));
}

/// A chain of 200,000 additions: neither compiling nor running it may recurse.
#[test]
fn deep_expressions_do_not_overflow_the_stack() {
    let mut t = Tiny::new(DataModel::Lp64);
    let i = t.local("i", t.int);
    let (one, mut sum) = (t.number(1), t.load(i));
    let mut nested = one;
    for _ in 0..200_000 {
        sum = t.binary(BinaryOp::Add, sum, one);
        let load = t.load(i);
        nested = t.binary(BinaryOp::Sub, load, nested);
    }
    let total = t.binary(BinaryOp::Add, sum, nested);
    t.assign(0, 1, i, one);
    t.assign(1, EXIT, t.result(), total);
    let run = run(
        &t.finish(),
        &mut Script::new(Vec::new()),
        &Limits::default(),
    );
    assert_eq!(returned(&run), 200_002);
}

/// Allocates, goes to an offset, and reads there.
fn heap_access(model: DataModel, offset: i32, free: bool) -> Outcome {
    let mut t = Tiny::new(model);
    let pointer = t.program.types.pointer(t.int);
    let word = t.program.types.intptr();
    let p = t.local("p", pointer);
    let size = t.number(8);
    let place = t.var(p);
    t.edge(
        0,
        1,
        Op::Allocate {
            place,
            size,
            lifetime: Lifetime::Heap,
        },
    );
    let load_p = t.load(p);
    if free {
        t.edge(1, 2, Op::Free { pointer: load_p });
    } else {
        t.edge(1, 2, Op::Skip);
    }
    let index = t.expr(ExprKind::Int(u128::from(offset as u32)), t.int);
    let index = t.expr(ExprKind::Convert(index), word);
    let moved = t.expr(
        ExprKind::PointerAdd {
            pointer: load_p,
            index,
            scale: 4,
        },
        pointer,
    );
    let target = t.place(PlaceKind::Deref(moved), t.int);
    let value = t.expr(ExprKind::Load(target), t.int);
    t.assign(2, EXIT, t.result(), value);
    run(
        &t.finish(),
        &mut Script::new(Vec::new()),
        &Limits::default(),
    )
    .outcome
}

#[test]
fn accesses_are_checked_against_the_pointers_own_object() {
    for model in [DataModel::Ilp32, DataModel::Lp64] {
        let trapped = |kind| Outcome::Trapped {
            kind,
            edge: EdgeId(2),
        };
        assert!(matches!(heap_access(model, 1, false), Outcome::Returned(_)));
        assert_eq!(heap_access(model, 2, false), trapped(TrapKind::OutOfBounds));
        assert_eq!(
            heap_access(model, -1, false),
            trapped(TrapKind::OutOfBounds)
        );
        // Far enough to be inside of another object, if there were one.
        assert_eq!(
            heap_access(model, 1 << 20, false),
            trapped(TrapKind::OutOfBounds)
        );
        assert_eq!(heap_access(model, 0, true), trapped(TrapKind::Dangling));
    }
}
