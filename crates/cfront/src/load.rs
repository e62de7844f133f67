//! The whole way from C files to a [`Program`]: read every unit, lower it, add the models of
//! library functions that it needs, link, and find the targets of indirect calls.

use crate::builder::Builder;
use crate::calls;
use crate::conventions::{self, Noted};
use crate::counts;
use crate::entry;
use crate::ids::FuncId;
use crate::lower::{announce_unit, has_aliases, has_destructor, lower_unit, mentions};
use crate::models::{ERRNO, PRELUDE};
use crate::options::LowerOptions;
use crate::parse::{
    Files, Input, InputKind, NoFiles, ParseOptions, ParsedUnit, Preprocess, Texts, parse_unit,
};
use crate::points_to::{self, PointsTo};
use crate::program::{
    Assumption, Check, CheckKind, Edge, Function, Gap, Lifetime, Op, Origin, Program, Unsupported,
};
use crate::ranges;
use crate::reach::{Reached, reached};
use crate::start::{self, START};
use crate::types::{DataModel, Types};
use crate::uninit;
use hardbop_budget::{Budget, Stopped};
use hardbop_diagnostics::{Diagnostic, Severity, Sources, Style, render};
use std::collections::{BTreeSet, HashSet};

/// How a program is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The data model and what the preprocessor is told.
    pub parse: ParseOptions,
    /// The entry, the checks, what undefined functions do.
    pub lower: LowerOptions,
}

impl Options {
    /// Nothing special: start at `main`, check assertions and error calls.
    pub fn new(model: DataModel) -> Options {
        Options {
            parse: ParseOptions::new(model),
            lower: LowerOptions::default(),
        }
    }
}

/// What came of reading a program.
#[derive(Debug)]
pub struct Loaded {
    /// The program, if there is no error among the diagnostics.
    pub program: Option<LoadedProgram>,
    /// What there is to say: errors, or warnings about what the program rests on.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts, if there is no program that holds them.
    texts: Sources,
}

/// A program with the analysis that its indirect calls rest on.
#[derive(Debug)]
pub struct LoadedProgram {
    /// The program.
    pub program: Program,
    /// What its pointers may point to.
    pub points_to: PointsTo,
}

impl Loaded {
    /// The texts that the diagnostics point into.
    pub fn sources(&self) -> &Sources {
        self.program
            .as_ref()
            .map_or(&self.texts, |loaded| &loaded.program.sources)
    }
}

/// The stack on which units are read and lowered: expressions can be a hundred thousand
/// operators deep. Only what is used takes memory; where so much cannot be reserved, less is.
const STACKS: [usize; 3] = [2 << 30, 512 << 20, 64 << 20];

/// Reads a program of one text that includes none but standard headers, for LP64, with nothing
/// special. What is wrong with it is given as users see it.
///
/// ```
/// use hardbop_cfront::load::load_text;
///
/// let loaded = load_text("one.c", "int main(void) { return 1; }").unwrap();
/// assert_eq!(loaded.program.checks.len(), 0);
/// assert!(load_text("wrong.c", "int main(void) { return x; }").is_err());
/// ```
pub fn load_text(name: &str, text: &str) -> Result<LoadedProgram, String> {
    let input = Input {
        name: name.to_owned(),
        bytes: text.as_bytes().to_vec(),
        kind: InputKind::of(name),
        preprocess: Preprocess::default(),
    };
    let options = Options::new(DataModel::Lp64);
    let loaded = load(&[input], &options, &NoFiles, &Budget::unlimited())
        .map_err(|stopped| stopped.to_string())?;
    let sources = loaded.sources().clone();
    let told = |diagnostic| render(diagnostic, &sources, Style::Plain);
    loaded
        .program
        .ok_or_else(|| loaded.diagnostics.iter().map(told).collect())
}

/// Reads a program. The budget is looked at between units and inside of the analyses that follow;
/// the parser itself does not look.
pub fn load(
    inputs: &[Input],
    options: &Options,
    files: &dyn Files,
    budget: &Budget,
) -> Result<Loaded, Stopped> {
    for stack in STACKS {
        let loaded = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(stack);
            let handle = thread
                .spawn_scoped(scope, || load_here(inputs, options, files, budget))
                .ok()?;
            Some(
                handle
                    .join()
                    .unwrap_or_else(|_| Ok(failed("internal error of the C front end"))),
            )
        });
        if let Some(loaded) = loaded {
            return loaded;
        }
    }
    Ok(failed("no thread could be started to read the program"))
}

fn failed(message: &str) -> Loaded {
    Loaded {
        program: None,
        diagnostics: vec![Diagnostic::global(Severity::Error, message)],
        texts: Sources::new(),
    }
}

fn load_here(
    inputs: &[Input],
    options: &Options,
    files: &dyn Files,
    budget: &Budget,
) -> Result<Loaded, Stopped> {
    let called = entry::with_caller(inputs, &options.parse, &options.lower, files);
    let (inputs, assumed) = match &called {
        Ok(None) => (inputs, None),
        Ok(Some((inputs, caller))) => (inputs.as_slice(), Some(caller.assumed.as_str())),
        Err(diagnostics) => {
            return Ok(Loaded {
                program: None,
                diagnostics: diagnostics.clone(),
                texts: Sources::new(),
            });
        }
    };
    let mut texts = Texts::new();
    let mut diagnostics = Vec::new();
    let mut units = Vec::new();
    for input in inputs {
        budget.check()?;
        let (unit, said) = parse_unit(input, &options.parse, files, &mut texts);
        diagnostics.extend(said);
        units.extend(unit);
    }
    let refused = |diagnostics: &[Diagnostic]| diagnostics.iter().any(Diagnostic::is_error);
    if refused(&diagnostics) {
        return Ok(Loaded {
            program: None,
            diagnostics,
            texts: texts.sources,
        });
    }
    let mut builder = Builder::new(Types::new(options.parse.model), options.lower.clone());
    for unit in &units {
        announce_unit(&mut builder, unit);
    }
    announce_endings(&mut builder, &units);
    announce_failures(&mut builder, &units);
    units.sort_by_key(|unit| !has_aliases(unit));
    for unit in units {
        budget.check()?;
        diagnostics.extend(lower_unit(&mut builder, &unit, Origin::User));
    }
    match assumed {
        Some(assumed) => {
            builder.assume_model(assumed);
            builder.start = function_named(&builder, START);
        }
        None => add_start(&mut builder, options, &mut texts, &mut diagnostics),
    }
    let externals = builder.external_variables();
    add_models(&mut builder, options, &mut texts, &mut diagnostics);
    if refused(&diagnostics) {
        return Ok(Loaded {
            program: None,
            diagnostics,
            texts: texts.sources,
        });
    }
    budget.check()?;
    let unsequenced = std::mem::take(&mut builder.unsequenced);
    let spare = texts.sources.clone();
    let (program, said) = builder.finish(texts.sources, texts.presumed_files);
    diagnostics.extend(said);
    let Some(mut program) = program else {
        return Ok(Loaded {
            program: None,
            diagnostics,
            texts: spare,
        });
    };
    drop(spare);
    let points_to = complete(
        &mut program,
        &options.lower,
        &Noted {
            unsequenced,
            externals,
        },
        &mut diagnostics,
        budget,
    )?;
    let wants = |kind| options.lower.wants(kind);
    // Values that were never set are copied without being looked at, and a copy always ends.
    let looping = match wants(CheckKind::Uninit) || wants(CheckKind::Termination) {
        false => ranges::as_loops(&program, &points_to, budget)?,
        true => None,
    };
    let (program, points_to) = looping.unwrap_or((program, points_to));
    let (program, points_to) = match options.lower.wants(CheckKind::Uninit) {
        false => (program, points_to),
        true => {
            let woven = uninit::weave(program, &points_to, options.lower.violations);
            let points_to = points_to::analyse(&woven, budget)?;
            (woven, points_to)
        }
    };
    let program = Some(LoadedProgram { program, points_to });
    Ok(Loaded {
        program,
        diagnostics,
        texts: Sources::new(),
    })
}

/// Where something runs after a call that ends the program, the call is more than the end: it is
/// that of a model.
fn announce_endings(builder: &mut Builder, units: &[ParsedUnit]) {
    let mentions = |name| units.iter().any(|unit| mentions(unit, name));
    let endings = [
        (
            "exit",
            mentions("atexit") || units.iter().any(has_destructor),
        ),
        ("quick_exit", mentions("at_quick_exit")),
        (ABORT, mentions("signal")),
    ];
    for (name, _) in endings.into_iter().filter(|(_, more)| *more) {
        builder.announced.insert(name.to_owned());
    }
}

/// Where the program looks at `errno`, functions that may set it are more than the operation that
/// lowering knows: they are their models.
fn announce_failures(builder: &mut Builder, units: &[ParsedUnit]) {
    builder.looks_at_errno = units.iter().any(|unit| mentions(unit, ERRNO));
    if builder.looks_at_errno {
        // Of an allocation, lowering knows when it fails.
        let failing: Vec<&str> = builder
            .models
            .failing()
            .filter(|&name| name != "calloc")
            .collect();
        for name in failing {
            builder.announced.insert(name.to_owned());
            builder.announced.insert(format!("__builtin_{name}"));
        }
    }
}

/// Adds what calls `main`, if `main` looks at its arguments.
fn add_start(
    builder: &mut Builder,
    options: &Options,
    texts: &mut Texts,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(text) = start::text(builder) else {
        return;
    };
    let text = format!("{PRELUDE}# 1 \"<hardbop>/start.c\"\n{text}");
    // Nothing can go wrong there.
    let checks = std::mem::take(&mut builder.options.checks);
    lower_model(builder, text, options, texts, diagnostics);
    builder.options.checks = checks;
    builder.start = function_named(builder, START);
}

fn function_named(builder: &Builder, name: &str) -> Option<FuncId> {
    let position = builder.functions.iter().position(|f| f.name == name);
    position.map(|index| FuncId(index as u32))
}

/// Reads and lowers a text of ours.
fn lower_model(
    builder: &mut Builder,
    text: String,
    options: &Options,
    texts: &mut Texts,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let input = Input {
        name: format!("<models {}>", texts.presumed("<models>")),
        bytes: text.into_bytes(),
        kind: InputKind::Source,
        preprocess: Preprocess::default(),
    };
    let parse = ParseOptions::new(options.parse.model);
    let (unit, said) = parse_unit(&input, &parse, &NoFiles, texts);
    diagnostics.extend(said);
    let Some(unit) = unit else { return };
    let said = lower_unit(builder, &unit, Origin::Model);
    // That the user declares a function with another type than the model is not the user's
    // fault: the types of the C library differ from system to system.
    diagnostics.extend(said.into_iter().filter(Diagnostic::is_error));
}

/// Adds the models of the library functions that are used and not defined, and of those that
/// they use.
fn add_models(
    builder: &mut Builder,
    options: &Options,
    texts: &mut Texts,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut taken = BTreeSet::new();
    loop {
        let undefined = builder.undefined_functions();
        let wanted = undefined.iter().map(|(name, _)| name.as_str());
        let selection = builder
            .models
            .select(wanted, &taken, builder.looks_at_errno);
        if selection.names.is_empty() {
            break;
        }
        taken.extend(&selection.names);
        lower_model(builder, selection.text, options, texts, diagnostics);
        for text in selection.assumptions {
            builder.assume_model(text);
        }
    }
    let handlers = builder
        .functions
        .iter()
        .position(|f| f.name == RUN_HANDLERS);
    if let Some(index) = handlers {
        builder.shutdown.insert((0, 0), FuncId(index as u32));
    }
}

/// The model of `abort` where signals are handled.
pub(crate) const ABORT: &str = "__hardbop_abort";

/// The model of what `atexit` registered, which runs before the destructors.
const RUN_HANDLERS: &str = "__hardbop_run_handlers";

/// Control leaves in ways that the graph does not have.
const JUMPS: &str = "control leaves the function's graph";
const THREADS: &str = "only sequential programs are understood";
const SIGNALS: &str = "signals are understood where `signal` and `raise` are used";
const FAULTS: &str = "a handler of faults runs where executions are taken to end";
const BUILTIN: &str = "a function of the compiler that is not known";
const PRINTED: &str = "what is printed goes to the program's memory";
const HANDLERS: &str = "what runs at the end is understood where `atexit` is used";

/// Functions that do what no model can say, by whatever way they are called.
const UNSUPPORTED: [(&str, &str); 35] = [
    ("longjmp", JUMPS),
    ("_longjmp", JUMPS),
    ("siglongjmp", JUMPS),
    ("__longjmp_chk", JUMPS),
    ("getcontext", JUMPS),
    ("setcontext", JUMPS),
    ("makecontext", JUMPS),
    ("swapcontext", JUMPS),
    ("on_exit", HANDLERS),
    ("__cxa_atexit", HANDLERS),
    ("pthread_create", THREADS),
    ("pthread_atfork", THREADS),
    ("pthread_once", THREADS),
    ("pthread_exit", THREADS),
    ("call_once", THREADS),
    ("thrd_create", THREADS),
    ("thrd_exit", THREADS),
    ("fork", THREADS),
    ("vfork", THREADS),
    ("clone", THREADS),
    ("posix_spawn", THREADS),
    ("timer_create", SIGNALS),
    ("sigaction", SIGNALS),
    ("bsd_signal", SIGNALS),
    ("sysv_signal", SIGNALS),
    ("sigset", SIGNALS),
    ("sigqueue", SIGNALS),
    ("killpg", SIGNALS),
    ("pthread_kill", SIGNALS),
    ("tgkill", SIGNALS),
    ("__hardbop_fault_handler", FAULTS),
    ("__hardbop_buffer", PRINTED),
    ("open_memstream", PRINTED),
    ("open_wmemstream", PRINTED),
    ("fmemopen", PRINTED),
];

/// Fills in what needs the whole program, and says what its verdicts rest on.
fn complete(
    program: &mut Program,
    options: &LowerOptions,
    noted: &Noted,
    diagnostics: &mut Vec<Diagnostic>,
    budget: &Budget,
) -> Result<PointsTo, Stopped> {
    refuse_functions(program);
    let points_to = calls::resolve(program, options, budget)?;
    counts::refuse(program);
    budget.check()?;
    let reached = reached(program);
    keep_reached_assumptions(program, &reached, diagnostics);
    conventions::note(program, &points_to, &reached, options, noted);
    warn_unsupported(program, &reached, diagnostics);
    let allocates = |edge: &Edge| {
        let Op::Allocate { lifetime, .. } = edge.op else {
            return false;
        };
        lifetime == Lifetime::Heap
    };
    if options.wants(CheckKind::Termination) {
        ask_for_the_end(program, "every execution ends");
    } else if options.wants(CheckKind::Leak) && program.edges.iter().any(allocates) {
        ask_for_the_end(program, "every execution ends, so that lost memory is seen");
    }
    Ok(points_to)
}

/// Adds the check that every execution ends: it belongs to no edge, only to the whole program.
fn ask_for_the_end(program: &mut Program, message: &str) {
    let named = |function: &Function| !function.passes_on();
    let entry = program.function(program.entry);
    let function = match named(entry) {
        true => program.entry,
        false => {
            let mut functions = program.functions.iter();
            let main = functions.position(|function| function.name == "main");
            main.map_or(program.entry, |main| FuncId(main as u32))
        }
    };
    program.checks.push(Check {
        kind: CheckKind::Termination,
        message: message.to_owned(),
        function,
        source: program.function(function).source,
    });
}

/// Turns the bodies of undefined functions that cannot be taken to return anything into
/// unsupported constructs.
fn refuse_functions(program: &mut Program) {
    for index in 0..program.functions.len() {
        let function = &program.functions[index];
        let name = function.name.as_str();
        let why = match UNSUPPORTED.iter().find(|(known, _)| *known == name) {
            Some((_, why)) => why,
            None if name.starts_with("__builtin_") => BUILTIN,
            None => continue,
        };
        if function.origin != Origin::Undefined {
            continue;
        }
        let construct = program.unsupported.len() as u32;
        let mut source = function.source;
        for assumption in &program.assumptions {
            if let Assumption::UndefinedFunction {
                name: known,
                source: first,
                ..
            } = assumption
                && known == name
            {
                source = *first;
            }
        }
        let what = match name.starts_with("__hardbop_") {
            true => why.to_string(),
            false => format!("`{name}`: {why}"),
        };
        program.unsupported.push(Unsupported {
            what,
            source,
            gap: Gap::Everywhere,
        });
        let entry = function.entry;
        for edge in program.locations[entry.index()].edges.clone() {
            program.edges[edge as usize].op = Op::Unsupported { construct };
        }
    }
}

/// Drops what is assumed of functions and variables that no execution can reach, and the warnings
/// that go with them.
fn keep_reached_assumptions(
    program: &mut Program,
    reached: &Reached,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut silent = HashSet::new();
    let called: HashSet<&str> = program
        .functions
        .iter()
        .enumerate()
        .filter(|(index, _)| reached.functions[*index])
        .map(|(_, function)| function.name.as_str())
        .collect();
    let used: HashSet<&str> = reached
        .variables
        .iter()
        .enumerate()
        .filter(|(_, used)| **used)
        .map(|(index, _)| program.variables[index].name.as_str())
        .collect();
    program.assumptions.retain(|assumption| match assumption {
        Assumption::UndefinedFunction { name, source, .. } => {
            let known = UNSUPPORTED.iter().any(|(refused, _)| refused == name);
            let keep = called.contains(name.as_str()) && !known;
            if !keep {
                silent.insert((source.span, format!("function `{name}` is not defined")));
            }
            keep
        }
        Assumption::UndefinedVariable { name, .. } => {
            // What the streams point to is never looked at.
            used.contains(name.as_str()) && !matches!(name.as_str(), "stdin" | "stdout" | "stderr")
        }
        Assumption::InlineAssembly { .. } | Assumption::Model { .. } | Assumption::Ends { .. } => {
            true
        }
    });
    diagnostics.retain(|diagnostic| match diagnostic.span {
        Some(span) => !silent.contains(&(span, diagnostic.message.clone())),
        None => true,
    });
}

/// Warns of every construct that is not supported and can be reached.
fn warn_unsupported(program: &Program, reached: &Reached, diagnostics: &mut Vec<Diagnostic>) {
    let mut told = BTreeSet::new();
    for edge in &program.edges {
        if let Op::Unsupported { construct } = edge.op
            && reached.locations[edge.from.index()]
            && told.insert(construct)
        {
            let construct = &program.unsupported[construct as usize];
            // What a model refuses is said if an execution comes there.
            let function = program.locations[edge.from.index()].function;
            let ours = program.function(function).name.starts_with("__hardbop_");
            if construct.gap != Gap::Everywhere || ours {
                continue;
            }
            let message = format!("not supported: {}", construct.what);
            diagnostics.push(
                Diagnostic::warning(construct.source.span, message)
                    .label("executions that come here have no verdict"),
            );
        }
    }
}
