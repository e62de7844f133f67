//! C text in, the dump out: one test per construct.

mod data;
mod environment;
mod functions;
mod statements;
mod symbols;
mod values;

use crate::builder::Builder;
use crate::options::LowerOptions;
use crate::parse::{Input, InputKind, NoFiles, ParseOptions, Preprocess, Texts, parse_unit};
use crate::program::{Origin, Program};
use crate::types::{DataModel, Types};
use expect_test::Expect;
use hardbop_diagnostics::{Style, render};

/// Parses and lowers some units; the messages come with it.
pub(crate) fn lower_texts(
    texts: &[&str],
    model: DataModel,
    options: &LowerOptions,
) -> (Option<Program>, String) {
    let mut read = Texts::new();
    let mut units = Vec::new();
    let mut said = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let input = Input {
            name: format!("{}.c", char::from(b'a' + i as u8)),
            bytes: text.as_bytes().to_vec(),
            kind: InputKind::Preprocessed,
            preprocess: Preprocess::default(),
        };
        let (unit, diagnostics) =
            parse_unit(&input, &ParseOptions::new(model), &NoFiles, &mut read);
        said.extend(diagnostics);
        units.extend(unit);
    }
    let mut builder = Builder::new(Types::new(model), options.clone());
    for unit in &units {
        super::announce_unit(&mut builder, unit);
    }
    units.sort_by_key(|unit| !super::has_aliases(unit));
    for unit in &units {
        said.extend(super::lower_unit(&mut builder, unit, Origin::User));
    }
    let (program, diagnostics) = builder.finish(read.sources.clone(), read.presumed_files.clone());
    said.extend(diagnostics);
    let said = said
        .iter()
        .map(|d| render(d, &read.sources, Style::Plain))
        .collect();
    (program, said)
}

/// Lowers a program and compares its dump, after whatever is said about it.
fn check(text: &str, expect: Expect) {
    check_with(text, &LowerOptions::default(), expect);
}

fn check_with(text: &str, options: &LowerOptions, expect: Expect) {
    let (program, said) = lower_texts(&[text], DataModel::Lp64, options);
    if let Some(program) = &program {
        assert_eq!(crate::verify::verify(program), Vec::<String>::new());
    }
    let dump = program.as_ref().map_or(String::new(), crate::dump::dump);
    expect.assert_eq(&format!("{said}{dump}"));
}
