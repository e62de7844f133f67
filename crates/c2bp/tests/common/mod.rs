//! What the tests share: from C text and predicates to a boolean program and its answers.
#![allow(dead_code)] // Each test uses its part.

use hardbop_bebop as bebop;
use hardbop_boolean_program::program::{Program as Boolean, TargetKind};
use hardbop_boolean_program::{Dialect, load as load_boolean};
use hardbop_budget::Budget;
use hardbop_c2bp::predicate::{Analysed, PredicateSet};
use hardbop_c2bp::{BooleanProgram, NoEvents, Options, abstract_program};
use hardbop_cfront::load::load_text;
use hardbop_cfront::program::Program;
use hardbop_diagnostics::{Sources, Style, render};

pub fn program(text: &str) -> Program {
    load_text("x.c", text).expect(text).program
}

/// The errors that a text of predicates gets, as a user sees them.
pub fn errors(c: &str, predicates: &str) -> String {
    let mut set = PredicateSet::new(program(c));
    let mut sources = Sources::new();
    let file = sources.add("x.pred", predicates);
    let errors = set.read(&sources, file);
    errors
        .iter()
        .map(|error| render(error, &sources, Style::Plain))
        .collect()
}

pub fn analysed(c: &str, predicates: &str) -> Analysed {
    let mut set = PredicateSet::new(program(c));
    let mut sources = Sources::new();
    let file = sources.add("x.pred", predicates);
    let errors = set.read(&sources, file);
    let text: String = errors
        .iter()
        .map(|e| render(e, &sources, Style::Plain))
        .collect();
    assert!(errors.is_empty(), "{text}");
    set.analyse(&Budget::unlimited()).unwrap()
}

pub fn abstracted(c: &str, predicates: &str, options: &Options) -> BooleanProgram {
    let analysed = analysed(c, predicates);
    abstract_program(&analysed, options, &Budget::unlimited(), &NoEvents).expect("no limits")
}

/// The text loaded as `hardbop bebop` loads it; there must be no complaint.
pub fn loaded(text: &str) -> Boolean {
    let mut sources = Sources::new();
    let file = sources.add("x.bp", text);
    let loaded = load_boolean(&sources, file, Dialect::Auto);
    let said: String = loaded
        .diagnostics
        .iter()
        .map(|d| render(d, &sources, Style::Plain))
        .collect();
    assert!(loaded.diagnostics.is_empty(), "{said}\n{text}");
    loaded.program.expect("no errors")
}

/// The labels of a boolean program that can be reached.
pub fn reachable(text: &str) -> Vec<String> {
    let program = loaded(text);
    let checker = bebop::check(&program, &bebop::Options::default(), &Budget::unlimited());
    let answers = checker.answers();
    let mut out = Vec::new();
    for (target, answer) in program.targets.iter().zip(answers) {
        if let TargetKind::Label(name) = &target.kind
            && answer == bebop::Answer::Reachable
        {
            out.push(name.clone());
        }
    }
    out
}

/// The lines of a boolean program without its header, comments and blank lines.
pub fn code(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = match line.find("//") {
            Some(at) => line[..at].trim_end(),
            None => line,
        };
        if !line.is_empty() {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

thread_local! {
    static SMALL: Program = program("int g; int main(void) { int x = g; return x; }");
}

/// The number of errors of a text of predicates over a small program.
pub fn try_errors(predicates: &str) -> usize {
    SMALL.with(|program| {
        let mut set = PredicateSet::new(program.clone());
        let mut sources = Sources::new();
        let file = sources.add("x.pred", predicates);
        set.read(&sources, file).len()
    })
}
