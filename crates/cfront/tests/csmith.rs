//! Programs that csmith makes, against gcc. Needs csmith and its headers:
//!
//! ```text
//! CSMITH_PROGRAMS=500 cargo test --release -p hardbop-cfront --test csmith -- --ignored --nocapture
//! ```

// How many programs agreed is worth seeing.
#![allow(clippy::print_stderr)]

use hardbop_cfront::interp::{Outcome, report};
use hardbop_cfront::parse::{InputKind, NoFiles};
use hardbop_cfront::types::DataModel;
use hardbop_test_support::oracle;
use hardbop_test_support::setting;
use std::process::Command;

/// What a generated program means to both.
enum Verdict {
    Agreed,
    /// gcc refuses it, or it does not end in time.
    Skipped,
    Failed(String),
}

fn check_one(folder: &std::path::Path, seed: u64, model: DataModel) -> Verdict {
    let made = Command::new("csmith")
        .args([
            "--seed",
            &seed.to_string(),
            "--max-funcs",
            "6",
            "--max-block-depth",
            "3",
        ])
        .output();
    let Ok(made) = made else {
        return Verdict::Skipped;
    };
    let text = String::from_utf8_lossy(&made.stdout);
    let include = "-I/usr/include/csmith";
    let Ok(printed) = oracle::gcc(folder, &text, model, &[include]) else {
        return Verdict::Skipped;
    };
    let expected = printed
        .lines()
        .find_map(|line| line.strip_prefix("checksum = "));
    let Some(expected) = expected else {
        return Verdict::Skipped;
    };
    let flag = if model == DataModel::Lp64 {
        "-m64"
    } else {
        "-m32"
    };
    let source = folder.join(format!("{model:?}.c"));
    let preprocessed = Command::new("gcc")
        .args([flag, "-w", "-E", include])
        .arg(source)
        .output()
        .expect("gcc -E");
    let text = String::from_utf8_lossy(&preprocessed.stdout);
    let program = match oracle::program_from(&text, model, InputKind::Preprocessed, &NoFiles) {
        Ok(program) => program,
        Err(message) => return Verdict::Failed(format!("seed {seed}: refused: {message}")),
    };
    let (run, bytes) = oracle::interpret(&program, "crc32_context", 500_000_000);
    if run.outcome == Outcome::StepLimit {
        return Verdict::Skipped;
    }
    if !matches!(run.outcome, Outcome::Returned(_)) {
        return Verdict::Failed(format!("seed {seed}: {}", report(&program, &run)));
    }
    let got = format!("{:X}", !(oracle::words(&bytes[..4])[0] as u32));
    if got == expected {
        Verdict::Agreed
    } else {
        Verdict::Failed(format!("seed {seed}: {got}, gcc has {expected}"))
    }
}

fn check(model: DataModel) {
    let folder = oracle::folder(&format!("csmith-{model:?}"));
    assert!(oracle::gcc_works(&folder, model), "gcc is needed");
    let first = setting("CSMITH_SEED", 1);
    let (mut agreed, mut skipped, mut failures) = (0, 0, Vec::new());
    for seed in first..first + setting("CSMITH_PROGRAMS", 100) {
        match check_one(&folder, seed, model) {
            Verdict::Agreed => agreed += 1,
            Verdict::Skipped => skipped += 1,
            Verdict::Failed(why) => failures.push(why),
        }
    }
    eprintln!("{model:?}: {agreed} csmith programs agree with gcc, {skipped} skipped");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(agreed > 0, "csmith is needed");
    std::fs::remove_dir_all(&folder).ok();
}

#[test]
#[ignore = "needs csmith; see the top of this file"]
fn csmith_lp64_programs_agree_with_gcc() {
    check(DataModel::Lp64);
}

#[test]
#[ignore = "needs csmith; see the top of this file"]
fn csmith_ilp32_programs_agree_with_gcc() {
    check(DataModel::Ilp32);
}
