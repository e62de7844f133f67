//! Programs, and what the engines find out about their ends.

use expect_test::Expect;
use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::{self, load};
use hardbop_cfront::parse::{Input, InputKind, NoFiles};
use hardbop_cfront::program::{CheckKind, Program};
use hardbop_cfront::types::DataModel;
use hardbop_engine::{Claim, Task};
use hardbop_gate::Outcome;
use hardbop_model::{Model, Prepared};
use hardbop_portfolio::{Found, Listener, Plan, Proofs, Until};
use hardbop_terminate::{Lassos, Ranks, Recurrences};
use std::fmt::Write;
use std::time::Duration;

const PRELUDE: &str = "extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);
extern void abort(void);
#line 1
";

/// Nobody listens.
struct Deaf;

impl Listener for Deaf {
    fn event(&mut self, _: &'static str, _: hardbop_engine::Event) {}

    fn late(&mut self, _: &Found) {}
}

/// The program with the question whether every execution ends.
pub fn program(text: &str) -> Program {
    let input = Input {
        kind: InputKind::of("test.c"),
        name: "test.c".to_owned(),
        bytes: format!("{PRELUDE}{text}").into_bytes(),
        preprocess: Default::default(),
    };
    let mut options = load::Options::new(DataModel::Lp64);
    options.lower.checks.insert(CheckKind::Termination);
    let loaded = load(&[input], &options, &NoFiles, &Budget::unlimited()).unwrap();
    let Some(loaded_program) = loaded.program else {
        panic!("{:?}", loaded.diagnostics);
    };
    loaded_program.program
}

/// The check that every execution ends.
pub fn ends(program: &Program) -> CheckId {
    let mut checks = program.checks.iter();
    let at = checks.position(|check| check.kind == CheckKind::Termination);
    CheckId(at.expect("it was asked for") as u32)
}

/// What the two engines find out about a model.
pub fn decide(model: &Model<'_>, time: Duration) -> Found {
    let check = ends(model.program);
    let budget = Budget::unlimited().with_time(time);
    let task = Task {
        model,
        checks: &[check],
        budget: &budget,
    };
    let plan = Plan {
        first: vec![
            Box::new(Lassos {
                runs: 200,
                steps: 20_000,
                time: Duration::from_secs(2),
            }),
            Box::new(Ranks::default()),
            Box::new(Recurrences::default()),
        ],
        lanes: Vec::new(),
        followers: Vec::new(),
        doubts: Vec::new(),
        proofs: Proofs::AsFound,
        until: Until::AllDecided,
    };
    hardbop_portfolio::check(&plan, &task, &mut Deaf)
}

/// The answer, with ranks or the lasso.
pub fn check(text: &str, expected: Expect) {
    let program = program(text);
    let prepared = Prepared::new(&program, &Budget::unlimited()).unwrap();
    let model = Model::new(&program, &prepared);
    let found = decide(&model, Duration::from_secs(60));
    let mut shown = String::new();
    match &found.report.outcomes[&ends(&program)] {
        Outcome::Proved(_) => {
            shown.push_str("PROVED\n");
            for rank in &found.ranks {
                let line = program
                    .edges_from(rank.at)
                    .next()
                    .map_or(0, |(_, edge)| edge.source.line);
                let _ = writeln!(shown, "line {line}: {}", rank.words.join(", "));
            }
        }
        Outcome::Violated(refutation) => {
            shown.push_str("VIOLATED\n");
            match refutation.claim() {
                Claim::Lasso(lasso) => {
                    let _ = writeln!(shown, "{} steps, then {}", lasso.stem, lasso.cycle);
                }
                Claim::Recurrence(claim) => {
                    let _ = writeln!(shown, "{} steps, then", claim.stem);
                    for (_, set) in &found.sets[&ends(&program)].sets {
                        let _ = writeln!(shown, "{set}");
                    }
                }
                _ => {}
            }
        }
        Outcome::Unknown(reason) => {
            let _ = writeln!(shown, "UNKNOWN: {reason}");
        }
    }
    expected.assert_eq(&shown);
}
