//! Drives preprocessor, parser and type checker over one unit.

use super::files::{Adapter, Files, is_system_file, standard_directories};
use super::texts::{Places, Texts};
use super::{
    Headers, Input, InputKind, ParseOptions, Preprocess, limits, nesting, repair, replaced, report,
    unevaluated,
};
use crate::program::Source;
use crate::types::DataModel;
use hardbop_diagnostics::{Diagnostic, Severity};
use rucc_base::Interner;
use rucc_diag::SourceMap;
use rucc_lex::{Convert, Keywords, PpToken, convert};
use rucc_pp::{Predef, Preprocessor, Timestamp};
use rucc_sema::{Checker, Tast};
use rucc_session::{Preinclude, SearchPath, Std};
use rucc_target::{TargetInfo, Triple};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// GNU C17: C11 with its defects mended, and with gcc's extensions.
const STANDARD: Std = Std::C17;

/// How deep includes may nest, as in gcc.
const INCLUDE_DEPTH: u32 = 200;

/// The typed tree of one unit, without errors.
#[derive(Debug)]
pub struct ParsedUnit {
    /// The unit's name, as the user wrote it.
    pub name: String,
    /// The typed tree.
    pub tree: Tast,
    /// The types that the tree points into.
    pub types: rucc_types::Types,
    /// The spellings of names.
    pub names: Interner,
    /// The machine, which decides about sizes.
    pub target: TargetInfo,
    /// Where `sizeof` stands before an operand with side effects.
    effectful_sizes: HashSet<rucc_diag::Span>,
    places: Places,
}

impl ParsedUnit {
    /// Where a span stands.
    pub fn source(&self, span: rucc_diag::Span) -> Source {
        self.places.source(span)
    }

    /// Whether `sizeof` of an operand with side effects stands at a span.
    pub fn is_effectful_size(&self, span: rucc_diag::Span) -> bool {
        self.effectful_sizes.contains(&span)
    }
}

/// Reads one unit. Errors come with no unit; warnings are dropped.
///
/// The trees can be deep, so call this (and lower the unit) on a thread with a large stack, as
/// `load` does.
pub fn parse_unit(
    input: &Input,
    options: &ParseOptions,
    files: &dyn Files,
    texts: &mut Texts,
) -> (Option<ParsedUnit>, Vec<Diagnostic>) {
    if let Some(refused) = limits::check(&input.name, &input.bytes, texts) {
        return (None, vec![refused]);
    }
    match catch_unwind(AssertUnwindSafe(|| run_with_headers(input, options, files))) {
        Ok(outcome) => finish(input, outcome, texts),
        Err(_) => {
            let message = format!("internal error of the C parser in `{}`", input.name);
            (None, vec![Diagnostic::global(Severity::Error, message)])
        }
    }
}

/// What the front-end crates made of a unit.
struct Outcome {
    names: Interner,
    map: SourceMap,
    /// Where the line markers stand.
    marked: Vec<rucc_diag::Span>,
    target: TargetInfo,
    tree: Tree,
    diagnostics: Vec<rucc_diag::Diagnostic>,
}

fn target(model: DataModel) -> TargetInfo {
    let triple: Triple = match model {
        DataModel::Ilp32 => "i686-unknown-linux-gnu",
        DataModel::Lp64 => "x86_64-unknown-linux-gnu",
    }
    .parse()
    .expect("both triples are known");
    TargetInfo::new(triple)
}

/// Reads a unit. Our own headers and the system's may contradict each other where a unit includes
/// some of both: then it is read again with the system's.
fn run_with_headers(input: &Input, options: &ParseOptions, files: &dyn Files) -> Outcome {
    let outcome = run(input, options, files);
    if !outcome.failed() || !outcome.mixes_headers() || options.preprocess.headers != Headers::Own {
        return outcome;
    }
    let mut options = options.clone();
    options.preprocess.headers = Headers::System;
    let again = run(input, &options, files);
    if again.failed() { outcome } else { again }
}

impl Outcome {
    fn failed(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity.is_fatal())
    }

    fn mixes_headers(&self) -> bool {
        self.map
            .files()
            .iter()
            .any(|file| is_system_file(&file.name))
    }
}

/// How often a unit is repaired before it is refused: braces inside of braces take a round each.
const MOST_REPAIRS: usize = 8;

fn run(input: &Input, options: &ParseOptions, files: &dyn Files) -> Outcome {
    let target = target(options.model);
    let mut names = Interner::new();
    let keywords = Keywords::new(&mut names, STANDARD, true);
    let mut map = SourceMap::new();
    let (tokens, marked, diagnostics) =
        preprocess(input, options, files, &target, &mut names, &mut map);
    let tokens = repair::tidy(tokens, &mut names);
    let mut tokens = nesting::flattened(tokens, &mut names);
    let refused =
        limits::too_many_subscripts(&tokens).or_else(|| limits::unfaithful_layout(&tokens, &names));
    if let Some(refused) = refused {
        let diagnostics = diagnostics.into_iter().chain([refused]).collect();
        return Outcome {
            names,
            map,
            marked,
            target,
            tree: None,
            diagnostics,
        };
    }
    let mut tries = 0;
    loop {
        let (tree, said) = check(&tokens, &keywords, &names, &target);
        let errors: Vec<_> = said
            .iter()
            .filter(|d| d.severity.is_fatal() && !repair::is_harmless(d, &tokens, &names))
            .cloned()
            .collect();
        if !errors.is_empty() && tries < MOST_REPAIRS {
            tries += 1;
            let errors: Vec<&rucc_diag::Diagnostic> = errors.iter().collect();
            if let Some(repaired) = repair::repair(&tokens, &errors, &mut names) {
                tokens = repaired;
                continue;
            }
        }
        let all = diagnostics.into_iter().chain(errors).collect();
        return Outcome {
            names,
            map,
            marked,
            target,
            tree,
            diagnostics: all,
        };
    }
}

type Tree = Option<(Tast, rucc_types::Types, HashSet<rucc_diag::Span>)>;

/// Parses and types a unit's tokens.
fn check(
    tokens: &[PpToken],
    keywords: &Keywords,
    names: &Interner,
    target: &TargetInfo,
) -> (Tree, Vec<rucc_diag::Diagnostic>) {
    let conversion = Convert {
        keywords,
        interner: names,
        target,
        std: STANDARD,
        gnu: true,
        pedantic: false,
    };
    let (tokens, mut diagnostics) = convert(tokens, &conversion);
    let type_names: Vec<_> = target
        .type_names()
        .iter()
        .filter_map(|(name, _)| names.find(name))
        .collect();
    let mut context = rucc_parse::Context::new(names, STANDARD);
    context.error_limit = 0;
    context.type_names = &type_names;
    let parsed = rucc_parse::parse(&tokens, context);
    drop(tokens);
    let failed = parsed.failed();
    diagnostics.extend(parsed.diagnostics);
    if failed {
        // The type checker would complain about what the parser left out.
        return (None, diagnostics);
    }
    let mut context = rucc_sema::Context::new(names, target, STANDARD);
    context.permissive = true;
    context.gnu89_inline = true;
    context.error_limit = 0;
    let mut checker = Checker::new(&parsed.ast, context);
    checker.check_unit();
    for weak in &parsed.weak_pragmas {
        checker.pragma_weak(weak.name, weak.target, weak.span);
    }
    for renamed in &parsed.extname_pragmas {
        checker.pragma_extname(renamed.old, renamed.new, renamed.span);
    }
    let checked = checker.finish();
    diagnostics.extend(checked.diagnostics);
    diagnostics.extend(unevaluated::refused(&parsed.ast, &checked.types, names));
    diagnostics.extend(unevaluated::qualified_choice(&parsed.ast));
    diagnostics.extend(replaced::refused(&parsed.ast, &checked.types));
    let sizes = unevaluated::effectful_sizes(&parsed.ast);
    (Some((checked.tast, checked.types, sizes)), diagnostics)
}

type Preprocessed = (
    Vec<PpToken>,
    Vec<rucc_diag::Span>,
    Vec<rucc_diag::Diagnostic>,
);

fn preprocess(
    input: &Input,
    options: &ParseOptions,
    files: &dyn Files,
    target: &TargetInfo,
    names: &mut Interner,
    map: &mut SourceMap,
) -> Preprocessed {
    let adapter = Adapter(files);
    let common = &options.preprocess;
    let search = search_path(common, &input.preprocess);
    // The main file comes first, so that what stands nowhere can be said to stand there.
    let file = match map.add(&input.name, input.bytes.clone()) {
        Ok(file) => file,
        Err(full) => {
            let error = rucc_diag::Diagnostic::error(full.to_string(), rucc_diag::Span::DUMMY);
            return (Vec::new(), Vec::new(), vec![error]);
        }
    };
    let mut context = rucc_pp::Context::new(names, map, &adapter, &search);
    context.lex = rucc_lex::Options::for_dialect(STANDARD, true, false);
    context.max_include_depth = INCLUDE_DEPTH;
    let mut preprocessor = Preprocessor::new();
    let mut tokens = Vec::new();
    let mut full = false;
    if input.kind == InputKind::Source {
        let predefined = predefined(common, &input.preprocess);
        full |= preprocessor
            .predefine(target, &predefined, &mut context)
            .is_err();
        let forced: Vec<Preinclude> = common
            .forced_includes
            .iter()
            .chain(&input.preprocess.forced_includes)
            .map(|name| Preinclude {
                name: name.clone(),
                macros_only: false,
            })
            .collect();
        full |= preprocessor
            .preinclude(&forced, &mut tokens, &mut context)
            .is_err();
    }
    tokens.extend(preprocessor.run(file, &mut context));
    let mut diagnostics = preprocessor.take_diagnostics();
    if full {
        let message = "the unit with its headers is larger than 4 GiB";
        diagnostics.push(rucc_diag::Diagnostic::error(
            message,
            rucc_diag::Span::DUMMY,
        ));
    }
    let marked = preprocessor
        .line_directives()
        .iter()
        .map(|line| line.span)
        .collect();
    (
        tokens.into_iter().map(rucc_pp::Tok::to_pp).collect(),
        marked,
        diagnostics,
    )
}

fn search_path(common: &Preprocess, own: &Preprocess) -> SearchPath {
    let mut search = SearchPath::new();
    for options in [common, own] {
        options
            .include_dirs
            .iter()
            .for_each(|dir| search.push_bracket(dir));
    }
    for options in [common, own] {
        options
            .system_dirs
            .iter()
            .for_each(|dir| search.push_system(dir));
    }
    let headers = match (common.headers, own.headers) {
        (Headers::Own, Headers::Own) => Headers::Own,
        _ => Headers::System,
    };
    standard_directories(headers)
        .into_iter()
        .for_each(|dir| search.push_system(dir));
    search
}

fn predefined(common: &Preprocess, own: &Preprocess) -> Predef {
    let mut predefined = Predef::new();
    predefined.std = STANDARD;
    predefined.gnu89_inline = true;
    // A fixed date: the same text always means the same program.
    predefined.timestamp = Timestamp {
        date: "Jan  1 1970".to_owned(),
        time: "00:00:00".to_owned(),
    };
    for options in [common, own] {
        predefined.defines.extend(options.defines.iter().cloned());
        predefined
            .undefines
            .extend(options.undefines.iter().cloned());
    }
    predefined
}

fn finish(
    input: &Input,
    outcome: Outcome,
    texts: &mut Texts,
) -> (Option<ParsedUnit>, Vec<Diagnostic>) {
    let Outcome {
        names,
        map,
        marked,
        target,
        tree,
        diagnostics,
    } = outcome;
    // The preprocessor keeps the names as they were written, quotes included.
    let places = Places::new(map, &marked, texts);
    let errors = report::errors(&diagnostics, &places);
    if !errors.is_empty() {
        return (None, errors);
    }
    let unit = tree.map(|(tree, types, effectful_sizes)| ParsedUnit {
        name: input.name.clone(),
        tree,
        types,
        names,
        target,
        effectful_sizes,
        places,
    });
    (unit, errors)
}
