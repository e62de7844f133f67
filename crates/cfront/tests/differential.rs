//! The front end and the interpreter against gcc: random programs must leave the same checksums.
//!
//! `HARDBOP_DIFFERENTIAL=20000` runs that many programs instead of a few hundred;
//! `HARDBOP_SEED=7` takes other ones.

// How many programs agreed is worth seeing.
#![allow(clippy::print_stderr)]

use hardbop_cfront::interp::Outcome;
use hardbop_cfront::types::DataModel;
use hardbop_test_support::generate::c::{self, Model};
use hardbop_test_support::oracle;
use hardbop_test_support::setting;

/// The programs in one file.
const BATCH: usize = 50;

/// What becomes of the text of a program before it is read.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Nothing.
    Plain,
    /// Every body is deep in braces, which the parser is spared.
    Nested,
}

impl Shape {
    fn of(self, text: String) -> String {
        match self {
            Shape::Plain => text,
            Shape::Nested => nested(&text),
        }
    }
}

/// A program with the bodies of its functions deep in braces.
fn nested(text: &str) -> String {
    const LEVELS: usize = 220;
    let mut out = String::with_capacity(text.len());
    let (mut depth, mut body, mut last) = (0, false, ' ');
    for c in text.chars() {
        if c == '{' {
            body |= depth == 0 && last == ')';
            depth += 1;
        }
        if c == '}' {
            depth -= 1;
            if depth == 0 && body {
                out.push_str(&"}".repeat(LEVELS));
                body = false;
            }
        }
        out.push(c);
        if c == '{' && depth == 1 && body {
            out.push_str(&"{".repeat(LEVELS));
        }
        if !c.is_whitespace() {
            last = c;
        }
    }
    out
}

fn check(model: DataModel, shape: Shape) {
    let folder = oracle::folder(&format!("differential-{model:?}-{shape:?}"));
    if !oracle::gcc_works(&folder, model) {
        return;
    }
    let wanted = setting("HARDBOP_DIFFERENTIAL", 200);
    let first = setting("HARDBOP_SEED", 0) * 1_000_000;
    let generated_model = match model {
        DataModel::Ilp32 => Model::Ilp32,
        DataModel::Lp64 => Model::Lp64,
    };
    let mut failures = Vec::new();
    let (mut agreed, mut skipped) = (0, 0);
    for batch in 0..wanted.div_ceil(BATCH as u64) {
        let seed = first + batch;
        let text = shape.of(c::file(seed, BATCH, generated_model));
        let printed = match oracle::gcc(&folder, &text, model, &[]) {
            Ok(printed) => printed,
            // gcc has bugs of its own.
            Err(message) if message.contains("internal compiler error") => {
                skipped += 1;
                continue;
            }
            Err(message) => panic!("gcc refuses what is generated: {message}"),
        };
        let expected: Vec<u64> = printed.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(expected.len(), BATCH);
        let program = match oracle::program(&text, model) {
            Ok(program) => program,
            Err(message) => {
                failures.push(format!("seed {seed} {model:?}: refused: {message}"));
                continue;
            }
        };
        let (run, bytes) = oracle::interpret(&program, "results", 50_000_000);
        let got = oracle::words(&bytes);
        if !matches!(run.outcome, Outcome::Returned(_)) {
            let report = hardbop_cfront::interp::report(&program, &run);
            failures.push(format!("seed {seed} {model:?}: {report}"));
        }
        for (i, (expected, got)) in expected.iter().zip(&got).enumerate() {
            if expected == got {
                agreed += 1;
            } else {
                failures.push(format!("seed {seed} {model:?}: program_{i}"));
            }
        }
    }
    eprintln!("{agreed} generated {model:?} programs agree with gcc");
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(agreed + skipped * BATCH as u64 >= wanted);
    std::fs::remove_dir_all(&folder).ok();
}

#[test]
fn generated_lp64_programs_agree_with_gcc() {
    check(DataModel::Lp64, Shape::Plain);
}

#[test]
fn generated_ilp32_programs_agree_with_gcc() {
    check(DataModel::Ilp32, Shape::Plain);
}

/// Where brackets are nested more deeply than the parser follows, those go that mean nothing.
#[test]
fn deeply_nested_programs_compute_what_gcc_computes() {
    check(DataModel::Lp64, Shape::Nested);
}
