//! Results without an engine: a program is run on given inputs, and the run is the evidence.

use hardbop_budget::Budget;
use hardbop_cfront::interp::{self, Limits, Outcome, Script, parse_inputs};
use hardbop_cfront::load::{Options, load};
use hardbop_cfront::parse::{Input, InputKind, NoFiles, Preprocess};
use hardbop_cfront::program::Program;
use hardbop_cfront::types::DataModel;
use hardbop_report::collect::{Collector, Said};
use hardbop_report::results::Results;

/// Declarations that every program begins with, all on its first line.
const PRELUDE: &str =
    "int __VERIFIER_nondet_int(void); void reach_error(void); void __VERIFIER_assume(int); ";

/// The program of a text, named `x.c`.
pub fn program(text: &str) -> Program {
    let input = Input {
        name: "x.c".to_owned(),
        bytes: format!("{PRELUDE}{text}").into_bytes(),
        kind: InputKind::Source,
        preprocess: Preprocess::default(),
    };
    let loaded = load(
        &[input],
        &Options::new(DataModel::Lp64),
        &NoFiles,
        &Budget::unlimited(),
    )
    .unwrap();
    let sources = loaded.sources().clone();
    match loaded.program {
        Some(loaded) => loaded.program,
        None => panic!("{:?} in {sources:?}", loaded.diagnostics),
    }
}

/// The results of a run that violates a check; the other checks are unknown.
pub fn violated(program: &Program, inputs: &str) -> Results {
    let inputs = parse_inputs(inputs).expect("good inputs");
    let run = interp::run(program, &mut Script::new(inputs), &Limits::default());
    let Outcome::Violated(violated) = run.outcome else {
        panic!("the run ends otherwise: {:?}", run.outcome);
    };
    let mut collector = Collector::new(program);
    for index in 0..program.checks.len() as u32 {
        let id = hardbop_cfront::ids::CheckId(index);
        let said = if id == violated {
            Said::Violated(&run)
        } else {
            Said::Unknown("nobody looked".to_owned())
        };
        collector.check(id, said, &Budget::unlimited());
    }
    collector.finish()
}
