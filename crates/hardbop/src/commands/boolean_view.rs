//! The boolean programs that a page shows beside the C lines.

use hardbop_budget::Budget;
use hardbop_c2bp::predicate::PredicateSet;
use hardbop_c2bp::{CubeBound, NoEvents, Options, abstract_program};
use hardbop_cfront::ids::EdgeId;
use hardbop_cfront::program::{Origin, Program};
use hardbop_diagnostics::Sources;
use hardbop_portfolio::Found;
use hardbop_report::results::{BooleanLine, BooleanProgram, PredicatesFrom};
use std::time::Duration;

/// What the abstraction of one program may take: it is a picture, not an answer.
const TIME: Duration = Duration::from_secs(10);
/// More predicates make statements that nobody reads.
const MOST_PREDICATES: usize = 40;

/// The boolean programs of programs, by the predicates of the search or, where it needed none, by
/// the programs' own conditions. One that takes too long is left out.
pub fn of(parts: &[(&Program, &Found)]) -> Vec<BooleanProgram> {
    parts
        .iter()
        .filter_map(|(program, found)| view(program, found))
        .collect()
}

fn view(program: &Program, found: &Found) -> Option<BooleanProgram> {
    let mut set = PredicateSet::new(program.clone());
    let mut predicates = PredicatesFrom::Search;
    for predicate in found.predicates.iter().take(MOST_PREDICATES) {
        let scope = predicate.procedure.as_deref().unwrap_or("global");
        let mut sources = Sources::new();
        let text = format!("{scope}: {}\n", predicate.formula);
        let file = sources.add("predicate", text);
        // Not everything that the search speaks of has words in C.
        let _ = set.read(&sources, file);
    }
    if set.predicates().is_empty() {
        predicates = PredicatesFrom::Conditions;
        set.add_conditions();
    }
    if set.predicates().is_empty() || set.predicates().len() > MOST_PREDICATES {
        return None;
    }
    let budget = Budget::unlimited().with_time(TIME);
    let analysed = set.analyse(&budget).ok()?;
    let options = Options {
        max_cube: CubeBound::Length(2),
        ..Options::default()
    };
    let made = abstract_program(&analysed, &options, &budget, &NoEvents).ok()?;
    let lines = made
        .text
        .lines()
        .zip(1..)
        .map(|(text, number)| BooleanLine {
            text: text.to_owned(),
            c: made
                .edges
                .get(&number)
                .and_then(|&edge| c_line(&analysed.program, edge)),
        });
    Some(BooleanProgram {
        rule: program.rules.first().map(|rule| rule.name.clone()),
        predicates,
        lines: lines.collect(),
    })
}

/// The line of the user's text that an edge is part of.
fn c_line(program: &Program, edge: EdgeId) -> Option<(String, u32, String)> {
    let edge = &program.edges[edge.index()];
    let function = program.locations[edge.from.index()].function;
    if program.function(function).origin != Origin::User {
        return None;
    }
    let source = edge.source;
    let number = program.sources.line(source.span.file, source.span.start);
    let whole = program.sources.line_span(source.span.file, number);
    let file = program.presumed_files.get(source.file as usize)?;
    let text = program.sources.slice(whole).trim().to_owned();
    Some((file.clone(), source.line, text))
}
