//! C programs that check themselves, run by the interpreter. A compiler is asked about them when
//! they are written, not when they are tested.

use hardbop_cfront::interp::Outcome;
use hardbop_cfront::types::DataModel;
use hardbop_cfront::verify::verify;
use hardbop_test_support::oracle;

fn check(text: &str, model: DataModel) {
    let program = oracle::program(text, model).expect("the program is accepted");
    assert_eq!(verify(&program), Vec::<String>::new());
    let (run, _) = oracle::interpret(&program, "", 1_000_000);
    match run.outcome {
        Outcome::Returned(Some(value)) => assert_eq!(value.bits, 42),
        Outcome::Violated(check) => {
            panic!("line {}", program.checks[check.index()].source.line)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn expressions_objects_and_control() {
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        check(include_str!("semantics/statements.c"), model);
    }
}
