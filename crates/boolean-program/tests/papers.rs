//! The figures of the papers, with the outcomes that the papers give.

mod tabulate;

use hardbop_boolean_program::program::{Program, TargetKind};
use hardbop_boolean_program::{Dialect, format, load};
use hardbop_diagnostics::{FileId, Sources};

fn example(name: &str, dialect: Dialect) -> (Sources, FileId, Program) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bp/");
    let text = std::fs::read_to_string(format!("{path}{name}")).expect("a shipped example");
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let loaded = load(&sources, file, dialect);
    assert_eq!(loaded.diagnostics, []);
    let again = format(&loaded.ast, sources.text(file), dialect);
    let second = sources.add(name, again.clone());
    let reloaded = load(&sources, second, dialect);
    assert_eq!(format(&reloaded.ast, &again, dialect), again);
    (sources, file, loaded.program.expect("no errors"))
}

/// The labels of an example that can be reached and those that cannot.
fn check(name: &str, dialect: Dialect, reachable: &[&str], unreachable: &[&str]) {
    let (_, _, program) = example(name, dialect);
    let reached = tabulate::tabulate(&program);
    let mut found = (Vec::new(), Vec::new());
    for target in &program.targets {
        let TargetKind::Label(label) = &target.kind else {
            continue;
        };
        match reached.contains(&target.vertex.0) {
            true => found.0.push(label.as_str()),
            false => found.1.push(label.as_str()),
        }
    }
    assert_eq!(found.0, reachable);
    assert_eq!(found.1, unreachable);
}

#[test]
fn bebop_figure_1() {
    check("figure1.bp", Dialect::Bebop, &["R"], &[]);
}

#[test]
fn the_statements_of_figure_1_stand_on_the_lines_of_the_paper() {
    let (sources, file, program) = example("figure1.bp", Dialect::Bebop);
    let lines: Vec<_> = program
        .vertices
        .iter()
        .map(|v| sources.line(file, v.span.start))
        .collect();
    assert_eq!(lines, [6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 21, 22, 24, 26]);
}

#[test]
fn bebop_live_ranges() {
    check(
        "live_ranges.bp",
        Dialect::Bebop,
        &["L1", "L2", "L3", "L4", "L5", "L6"],
        &[],
    );
}

#[test]
fn boolean_programs_figure_1() {
    let all = [
        "L1", "L2", "L3", "L4", "L5", "L6", "L7", "L8", "L9", "L10", "L11",
    ];
    check("tr_b1.bp", Dialect::Bebop, &all, &[]);
    check("tr_b2.bp", Dialect::Bebop, &all, &[]);
    let rest: Vec<_> = all.into_iter().filter(|&l| l != "L10").collect();
    check("tr_b3.bp", Dialect::Bebop, &rest, &["L10"]);
}

#[test]
fn boolean_programs_figure_5() {
    let all: Vec<_> = (1..=14).map(|i| format!("L{i}")).collect();
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    check("tr_fig5.bp", Dialect::Bebop, &all, &[]);
}

#[test]
fn boolean_programs_figure_6() {
    let (reachable, unreachable) = (["L1", "L2", "L3", "L5", "L6", "L7"], ["L4"]);
    check("tr_fig6.bp", Dialect::Auto, &reachable, &unreachable);
}
