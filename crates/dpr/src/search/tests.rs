//! Clause by clause: nothing that was learned excludes a run that meets an error.
//!
//! Random small programs are run on all their inputs; every run that violates a check must
//! disagree, at a branch that it visits, with every clause that was learned while the check was
//! open. `HARDBOP_BRUTE_FORCE=N`, `HARDBOP_BRUTE_FORCE_SEED=S` and `HARDBOP_SECONDS=T` as for the
//! verdicts; with `--nocapture`, the numbers of programs and comparisons are told.
#![allow(clippy::print_stdout)]

use super::*;
use hardbop_cfront::ids::LocId;
use hardbop_cfront::interp;
use hardbop_cfront::load::LoadedProgram;
use hardbop_cfront::program::LocationKind;
use hardbop_engine::Answer;
use hardbop_model::points::{ContextId, Side, sides};
use hardbop_semantics::Encoding;
use hardbop_test_support::generate::branches::{VALUES, program};
use hardbop_test_support::inputs::{loaded, run_all};
use rustc_hash::FxHashMap;

/// Takes everything for true, and ends the search after a number of runs.
struct Believing {
    budget: Budget,
    runs: u32,
}

impl Desk for Believing {
    fn event(&mut self, _: Event) {
        self.runs += 1;
        if self.runs == RUNS {
            self.budget.cancel();
        }
    }

    fn submit(&mut self, _: Claim) -> Answer {
        Answer::Accepted
    }
}

/// So many runs are learned from: what was learned until then is compared, whether the search is
/// over or not.
const RUNS: u32 = 1000;

/// What is learned about one check until it is decided, and the numbers of the nodes.
fn learned(loaded: &LoadedProgram, check: CheckId, order: Order) -> (Vec<Vec<Decision>>, Nodes) {
    let semantics = Semantics::new(&loaded.program, &loaded.points_to, Encoding::Bits);
    let effects = Effects::new(&semantics);
    let options = Options {
        order,
        ..Options::default()
    };
    let budget = Budget::unlimited();
    let open = BTreeSet::from([check]);
    let mut desk = Believing {
        budget: budget.clone(),
        runs: 0,
    };
    let common = Common::new(&semantics, &effects, &options, &budget, open, &mut desk);
    Worker::new(&common, 0).search();
    let shared = common.shared();
    let clauses = shared.clauses.iter().map(|c| c.clause.decisions.clone());
    (clauses.collect(), common.nodes.clone())
}

/// The sides that a run took at the branches that it visited.
fn decisions(program: &Program, nodes: &Nodes, trace: &[EdgeId]) -> FxHashMap<PointId, u32> {
    let mut structure = Structure::new(program, BTreeSet::new());
    let mut made = FxHashMap::default();
    let entry = program.function(program.entry).entry;
    let mut frames: Vec<(ContextId, LocId)> = vec![(nodes.start(), entry)];
    let mut here = entry;
    for (index, &id) in trace.iter().enumerate() {
        let edge = &program.edges[id.index()];
        loop {
            let function = program.locations[here.index()].function;
            let frame = frames.last_mut().expect("a run stays in its calls");
            let graph = structure.graph(function);
            frame.0 = nodes.arrive(&graph, frame.0, here).0;
            if here == edge.from {
                break;
            }
            let kind = program.locations[here.index()].kind;
            assert_eq!(kind, LocationKind::Exit, "only returns are not edges");
            here = frame.1;
            frames.pop();
        }
        let (context, _) = *frames.last().expect("a run stays in its calls");
        let callee = match &edge.op {
            Op::Call { callee, .. } => match callee.targets() {
                &[only] => Some(only),
                _ => {
                    let next = program.edges[trace[index + 1].index()].from;
                    Some(program.locations[next.index()].function)
                }
            },
            _ => None,
        };
        let taken = match callee {
            Some(callee) => Side::Enter(id, callee),
            None => Side::Edge(id),
        };
        let sides = sides(program, here);
        let side = sides.iter().position(|&side| side == taken);
        let side = side.expect("an executed edge leaves its location") as u32;
        made.insert(nodes.node(context, here), side);
        here = edge.to;
        if let Some(callee) = callee {
            frames.push((nodes.call(context, id, callee), here));
            here = program.function(callee).entry;
        }
    }
    made
}

/// Compares clauses with runs that violate a check; gives the number of comparisons.
fn check(seed: u64) -> u64 {
    let text = program(seed);
    let loaded = loaded(&text);
    let program = &loaded.program;
    // Clauses speak of branches: most runs take the same ones as others.
    let mut failing: BTreeMap<CheckId, BTreeSet<Vec<EdgeId>>> = BTreeMap::new();
    run_all(
        program,
        VALUES,
        interp::TraceMode::First(10_000),
        &mut |run| {
            if let interp::Outcome::Violated(check) = run.outcome {
                failing.entry(check).or_default().insert(run.trace);
            }
        },
    );
    let mut compared = 0;
    for (&check, traces) in &failing {
        for order in [Order::Random(seed), Order::Random(!seed), Order::DepthFirst] {
            let (clauses, nodes) = learned(&loaded, check, order);
            for trace in traces {
                let made = decisions(program, &nodes, trace);
                for clause in &clauses {
                    let disagrees = clause.iter().any(|decision| {
                        let side = made.get(&decision.point);
                        side.is_some_and(|&side| side != decision.side)
                    });
                    assert!(
                        disagrees,
                        "seed {seed}, {order:?}: {clause:?} excludes a run that violates {check:?}\n{text}"
                    );
                    compared += 1;
                }
            }
        }
    }
    compared
}

#[test]
fn no_clause_excludes_a_run_that_meets_an_error() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let wanted = number("HARDBOP_BRUTE_FORCE").unwrap_or(200);
    let first = number("HARDBOP_BRUTE_FORCE_SEED").unwrap_or(1);
    let end = number("HARDBOP_SECONDS").map(|s| Instant::now() + Duration::from_secs(s));
    let (mut programs, mut compared) = (0, 0);
    for seed in first..first + wanted {
        if end.is_some_and(|end| Instant::now() > end) {
            break;
        }
        compared += check(seed);
        programs += 1;
    }
    println!("{programs} programs, {compared} comparisons of a clause with a failing run");
    assert!(
        compared * 2 > programs,
        "only {compared} comparisons with {programs} programs"
    );
}
