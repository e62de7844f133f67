//! Reads C files and lists what is wrong with the programs they become: the invariants of
//! `Program` and the claims of points-to and of inlining, checked on real code.
//!
//!     cargo run --release --example verify < LIST      (lines `32 FILE` or `64 FILE`)
#![allow(clippy::print_stdout)]

use hardbop_budget::Budget;
use hardbop_cfront::inline::{self, Limits, inline_unchecked};
use hardbop_cfront::load::{Options, load};
use hardbop_cfront::parse::{Files, Input, InputKind, Preprocess};
use hardbop_cfront::points_to::{analyse, analyse_unchecked, check};
use hardbop_cfront::program::CheckKind;
use hardbop_cfront::types::DataModel;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
    }
}

fn main() {
    let unlimited = Budget::unlimited();
    let mut good = 0;
    let (mut inlining, mut checking, mut pointers) = <(Duration, Duration, Duration)>::default();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Some((bits, path)) = line.split_once(' ') else {
            continue;
        };
        let model = if bits == "32" {
            DataModel::Ilp32
        } else {
            DataModel::Lp64
        };
        let Ok(bytes) = std::fs::read(path) else {
            continue;
        };
        let input = Input {
            name: path.to_owned(),
            bytes,
            kind: InputKind::of(path),
            preprocess: Preprocess::default(),
        };
        let mut options = Options::new(model);
        for checks in [false, true] {
            if checks {
                options.lower.checks = [
                    CheckKind::DivisionByZero,
                    CheckKind::Overflow,
                    CheckKind::Pointer,
                    CheckKind::Bounds,
                    CheckKind::Free,
                ]
                .into();
            }
            let loaded = load(std::slice::from_ref(&input), &options, &Disk, &unlimited)
                .expect("nothing limits it");
            let Some(loaded) = loaded.program else {
                println!("refused {path}");
                break;
            };
            let wrong = hardbop_cfront::verify::verify(&loaded.program);
            for what in wrong.iter().take(5) {
                println!("WRONG {path}: {what}");
            }
            let start = Instant::now();
            let inlined = inline_unchecked(&loaded.program, &Limits::default(), &unlimited)
                .expect("nothing limits it");
            let done = Instant::now();
            let checked = inline::check::check(&loaded.program, &inlined, &unlimited)
                .expect("nothing limits it");
            let after = Instant::now();
            analyse(&inlined.program, &unlimited).expect("nothing limits it");
            for (time, spent) in [
                (&mut inlining, done - start),
                (&mut checking, after - done),
                (&mut pointers, after.elapsed()),
            ] {
                *time += spent;
            }
            let mut held = true;
            if let Err(mismatch) = checked {
                println!("WRONG {path}: inlining: {mismatch}");
                held = false;
            }
            for program in [&loaded.program, &inlined.program] {
                let found = analyse_unchecked(program, &unlimited).expect("nothing limits it");
                let checked = check::check(program, &found, &unlimited).expect("nothing limits it");
                if let Err(broken) = checked {
                    println!("WRONG {path}: points-to: {broken}");
                    held = false;
                }
            }
            good += usize::from(wrong.is_empty() && held);
        }
    }
    println!("{good} good");
    println!("inlined in {inlining:?}, checked in {checking:?}; points-to in {pointers:?}");
}
