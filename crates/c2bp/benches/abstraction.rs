//! Prover calls and time on ten driver-like procedures with 10 to 30 predicates each, against
//! the naive method: every cube of up to three literals over all predicates, one call each.
//!
//! The naive method is run on the first procedure; on the others its calls are counted (the
//! number of formulas to strengthen times the number of cubes), and its time is what so many
//! calls take at the first one's pace.
//!
//! `cargo bench -p hardbop-c2bp --bench abstraction`

#[path = "../tests/common/mod.rs"]
mod common;

use hardbop_budget::Budget;
use hardbop_c2bp::{CubeBound, NoEvents, Options, ProcedureStatistics, Search, abstract_program};
use std::fmt::Write;

/// A request handler with a state machine, a ring buffer and flags; `size` says how much of it.
fn driver(size: usize) -> (String, String) {
    let mut c = String::from(
        "extern int __VERIFIER_nondet_int(void);\n\
         struct device { int state; int irq; int head; int tail; int flags; };\n\
         struct device dev;\nint locked, pending, budget;\n",
    );
    let mut predicates = vec![
        "locked == 0".to_owned(),
        "pending > 0".to_owned(),
        "status < 0".to_owned(),
        "status == 0".to_owned(),
        "dev.state == 1".to_owned(),
        "dev.state == 2".to_owned(),
        "dev.head < dev.tail".to_owned(),
        "request == 0".to_owned(),
        "count < limit".to_owned(),
        "status <= request".to_owned(),
    ];
    c.push_str("int handle(int request, int limit) {\n  int status = 0, count = 0;\n");
    c.push_str("  if (locked) return -1;\n  locked = 1;\n  dev.state = 1;\n");
    c.push_str("  while (count < limit) {\n    if (dev.head == dev.tail) break;\n");
    c.push_str("    dev.head = dev.head + 1;\n    count = count + 1;\n  }\n");
    for step in 0..size {
        let _ = write!(
            c,
            "  if (request == {step}) {{ dev.state = {}; status = status + {}; pending = pending - status; }}\n\
             \x20 else if (dev.flags > {step}) {{ dev.irq = count; status = dev.irq - {step}; }}\n",
            step % 4,
            step as i64 - 2
        );
        predicates.push(format!("request == {}", step + 1));
        predicates.push(format!("dev.flags > {step}"));
    }
    c.push_str("  if (dev.state == 2) pending = 0;\n  locked = 0;\n  return status;\n}\n");
    c.push_str(
        "int main(void) { dev.flags = __VERIFIER_nondet_int(); \
         return handle(__VERIFIER_nondet_int(), __VERIFIER_nondet_int()); }\n",
    );
    (c, format!("handle: {}\n", predicates.join(", ")))
}

fn measure(c: &str, predicates: &str, search: Search, bound: usize) -> ProcedureStatistics {
    let analysed = common::analysed(c, predicates);
    let options = Options {
        search,
        max_cube: CubeBound::Length(bound),
        ..Options::default()
    };
    let made = abstract_program(&analysed, &options, &Budget::unlimited(), &NoEvents);
    let made = made.expect("no limits");
    made.statistics
        .into_iter()
        .find(|s| s.name == "handle")
        .expect("it is there")
}

/// The number of cubes of up to three literals over so many predicates.
fn cubes(n: u64) -> u64 {
    1 + 2 * n + 4 * (n * (n - 1) / 2) + 8 * (n * (n - 1) * (n - 2) / 6)
}

#[expect(clippy::print_stdout, reason = "a benchmark's result is its output")]
fn main() {
    let mut pace = 0.0;
    println!("| procedure | predicates | calls | time | naive calls | naive time | fewer calls |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for index in 0..10 {
        let (c, predicates) = driver(index + index / 9);
        let guided = measure(&c, &predicates, Search::Guided, 3);
        let naive = match index {
            0 => {
                let naive = measure(&c, &predicates, Search::Naive, 3);
                pace = naive.time.as_secs_f64() / naive.prover.questions as f64;
                naive.prover.questions
            }
            _ => guided.prover.goals * cubes(guided.predicates as u64),
        };
        println!(
            "| {} | {} | {} | {:.2} s | {naive} | {:.0} s | {:.0} times |",
            index + 1,
            guided.predicates,
            guided.prover.calls,
            guided.time.as_secs_f64(),
            naive as f64 * pace,
            naive as f64 / guided.prover.calls as f64
        );
    }
}
