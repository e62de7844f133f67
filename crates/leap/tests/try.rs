use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::{self, LoadedProgram};
use hardbop_cfront::parse::{Input, InputKind, NoFiles, Preprocess};
use hardbop_cfront::types::DataModel;
use hardbop_leap::check::{Options, leap, Endings};

#[test]
fn try_file() {
    let Ok(files) = std::env::var("LEAP_FILE") else { return };
    for file in files.split_whitespace() {
    let text = std::fs::read_to_string(file).unwrap();
    let input = Input {
        name: "test.c".to_owned(),
        bytes: text.as_bytes().to_vec(),
        kind: if file.ends_with(".i") { InputKind::Preprocessed } else { InputKind::Source },
        preprocess: Preprocess::default(),
    };
    let loaded = load::load(&[input], &load::Options::new(DataModel::Ilp32), &NoFiles);
    let Some(LoadedProgram { program, points_to }) = loaded.program else {
        panic!("{:#?}\n{text}", loaded.diagnostics);
    };
    let checks: Vec<CheckId> = (0..program.checks.len() as u32).map(CheckId).collect();
    let options = Options { endings: Endings::Find, ..Options::default() };
    let start = std::time::Instant::now();
    let budget = Budget::unlimited().with_time(std::time::Duration::from_secs(60));
    let report = leap(&program, &points_to, &checks, &options, &budget, &mut |_| {});
    println!("== {file} {:?}", start.elapsed());
    for (check, outcome) in &report.outcomes {
        match outcome {
            hardbop_leap::check::Outcome::Violated(v) => println!("{check:?} VIOLATED {} steps, {} inputs", v.run.steps, v.run.inputs.len()),
            other => println!("{check:?} {other:?}"),
        }
    }
    println!("{:#?}\n{:?}\n{:?}", report.explanations, report.endings, report.statistics);
    }
}
