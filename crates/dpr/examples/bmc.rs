//! Decides the checks of one C file: `bmc FILE [SECONDS] [DEPTH] [SEED]`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use hardbop_budget::Budget;
use hardbop_cfront::ids::CheckId;
use hardbop_cfront::load::{self, load};
use hardbop_cfront::parse::{Input, InputKind, NoFiles};
use hardbop_cfront::types::DataModel;
use hardbop_dpr::{Options, Order, Outcome, check};
use std::time::Duration;

fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().expect("a file");
    let seconds: f64 = args.next().and_then(|s| s.parse().ok()).unwrap_or(30.0);
    let depth: Option<u32> = args.next().and_then(|s| s.parse().ok());
    let seed: Option<u64> = args.next().and_then(|s| s.parse().ok());
    let bytes = std::fs::read(&file).expect("a file that can be read");
    let input = Input {
        kind: InputKind::of(&file),
        name: file,
        bytes,
        preprocess: Default::default(),
    };
    let loaded = load(&[input], &load::Options::new(DataModel::Lp64), &NoFiles);
    let Some(loaded) = loaded.program else {
        for diagnostic in &loaded.diagnostics {
            eprintln!("{}", diagnostic.message);
        }
        return;
    };
    let checks: Vec<CheckId> = (0..loaded.program.checks.len() as u32)
        .map(CheckId)
        .collect();
    let mut options = Options::default();
    options.depth = depth.unwrap_or(options.depth);
    options.order = seed.map_or(options.order, Order::Random);
    let budget = Budget::unlimited().with_time(Duration::from_secs_f64(seconds));
    let report = check(
        &loaded.program,
        &loaded.points_to,
        &checks,
        &options,
        &budget,
        &mut |event| eprint!("\r{} runs, {} clauses ", event.explored, event.clauses),
    );
    eprintln!();
    for (check, outcome) in &report.outcomes {
        let message = &loaded.program.checks[check.index()].message;
        match outcome {
            Outcome::Proved => println!("PROVED {message}"),
            Outcome::Violated(violation) => println!(
                "VIOLATED {message}\n{}",
                hardbop_cfront::interp::report(&loaded.program, &violation.run)
            ),
            Outcome::Unknown(why) => println!("UNKNOWN {message}: {why:?}"),
        }
    }
    println!("{:?} in {:?}", report.statistics, budget.elapsed());
}
