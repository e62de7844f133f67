//! T(N), the paper's template (section 4): time and memory against N.
//!
//! `cargo bench -p hardbop-bebop --bench scaling`

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use hardbop_bebop::{Options, check};
use hardbop_boolean_program::{Dialect, generate, load};
use hardbop_budget::{Budget, resident_bytes};
use hardbop_diagnostics::Sources;
use std::time::Instant;

fn main() {
    let sizes = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect::<Vec<u32>>();
    let sizes = if sizes.is_empty() {
        vec![800, 1000, 3000, 10_000, 30_000, 100_000]
    } else {
        sizes
    };
    for n in sizes {
        let text = generate::template(n);
        let mut sources = Sources::new();
        let file = sources.add("t.bp", text);
        let start = Instant::now();
        let loaded = load(&sources, file, Dialect::Auto);
        let load_time = start.elapsed();
        let program = loaded.program.expect("right");
        let before = resident_bytes().unwrap_or(0);
        let start = Instant::now();
        let checker = check(&program, &Options::default(), &Budget::unlimited());
        let time = start.elapsed();
        let memory = resident_bytes().unwrap_or(0) - before;
        let statistics = checker.statistics();
        println!(
            "{n:>7} load {load_time:>9.3?} check {time:>9.3?} {:>6.1} MB  peak {:?} MB {:?}",
            memory as f64 / 1e6,
            statistics.peak_memory.map(|b| b / 1_000_000),
            statistics.counts
        );
    }
}
