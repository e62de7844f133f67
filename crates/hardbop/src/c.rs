//! Loads the C program that the user names.

use crate::cli::{CInput, CheckName, DataModelName, Preprocessor, RuleNames, UndefinedName};
use crate::console::Console;
use crate::failure::Failure;
use crate::reading::Reading;
use crate::{input, project, reading, rules};
use hardbop_cfront::compile_commands::{CompileCommand, compile_commands};
use hardbop_cfront::entry::{defined_functions, harness_file};
use hardbop_cfront::load::{Loaded, Options, load};
use hardbop_cfront::options::{Allocations, LowerOptions, Undefined, Violations};
use hardbop_cfront::parse::{self, Input, InputKind, ParseOptions, Preprocess};
use hardbop_cfront::points_to::PointsTo;
use hardbop_cfront::program::{CheckKind, Program};
use hardbop_cfront::types::DataModel;
use hardbop_diagnostics::{Diagnostic, Sources};
use hardbop_rules::{Rule, RuleOrigin, Woven, weave};
use hardbop_witness::read::sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// A C program without errors.
pub struct CProgram {
    /// The program; it holds its texts.
    pub program: Program,
    /// Where its pointers may point, if nothing was woven into it since that was found out.
    pub points_to: Option<PointsTo>,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
    /// The files that it depends on.
    pub files: Files,
}

/// The files that a program depends on.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Those that were read: the program's own, included ones, and rules.
    pub read: Vec<String>,
    /// Those that were looked for where there is none: if one appears, it may be read instead.
    pub absent: Vec<String>,
    /// The SHA-256 of what was read, where it is known: a file may change while it is looked at.
    pub hashes: BTreeMap<String, String>,
}

/// Reads, types, lowers and links the program; people see its warnings at once.
pub fn program(input: &CInput, console: &Console) -> Result<CProgram, Failure> {
    program_with(input, &RuleNames::default(), console, |_| {})
}

/// Reads the program as [`program`] does, with rules woven into it, all into one, and a last word
/// on how it is lowered.
pub fn program_with(
    input: &CInput,
    rules: &RuleNames,
    console: &Console,
    adjust: impl FnOnce(&mut LowerOptions),
) -> Result<CProgram, Failure> {
    let rules = rules::read(&rules.rules)?;
    let CProgram {
        program,
        points_to,
        mut warnings,
        files,
    } = load_for(input, &rules, adjust)?;
    let program = woven(program, &rules, &mut warnings)?;
    console.warn(&program.sources, &warnings);
    Ok(CProgram {
        program,
        points_to: points_to.filter(|_| rules.is_empty()),
        warnings,
        files,
    })
}

/// A program and the same program beside each rule.
pub struct Parts {
    /// The programs.
    pub parts: Vec<Part>,
    /// The texts that warnings point into.
    pub sources: Sources,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
    /// The files that they depend on.
    pub files: Files,
}

/// A program by itself or with a rule.
pub struct Part {
    /// The program.
    pub program: Program,
    /// Where its pointers may point, if that is known already.
    pub points_to: Option<PointsTo>,
    /// The rule.
    pub rule: Option<String>,
}

/// Reads the program, and weaves every rule into a copy of its own: the first one that is
/// violated ends an execution, and would hide the others. The program itself comes first.
pub fn parts(
    input: &CInput,
    rules: &RuleNames,
    console: &Console,
    adjust: impl FnOnce(&mut LowerOptions),
) -> Result<Parts, Failure> {
    let rules = rules::read(&rules.rules)?;
    let CProgram {
        mut program,
        points_to,
        mut warnings,
        files,
    } = load_for(input, &rules, adjust)?;
    for rule in &rules {
        // So that the same text is the same file in every copy.
        if program.sources.find(&rule.path, &rule.text).is_none() {
            program.sources.add(rule.path.clone(), rule.text.clone());
        }
    }
    let sources = program.sources.clone();
    let mut parts = Vec::new();
    let mut errors = Vec::new();
    for rule in &rules {
        match woven(program.clone(), std::slice::from_ref(rule), &mut warnings) {
            Ok(program) => parts.push(Part {
                program,
                points_to: None,
                rule: Some(rule.name.clone()),
            }),
            Err(Failure::Input { diagnostics, .. }) => errors.extend(diagnostics),
            Err(other) => return Err(other),
        }
    }
    if !errors.is_empty() {
        return Err(Failure::Input {
            sources,
            diagnostics: errors,
        });
    }
    let rule = None;
    let part = Part {
        program,
        points_to,
        rule,
    };
    parts.insert(0, part);
    console.warn(&sources, &warnings);
    Ok(Parts {
        parts,
        sources,
        warnings,
        files,
    })
}

/// The program with rules in it.
fn woven(
    program: Program,
    rules: &[Rule],
    warnings: &mut Vec<Diagnostic>,
) -> Result<Program, Failure> {
    let Woven {
        program,
        diagnostics,
    } = weave(program, rules, &reading::budget())?;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failure::Input {
            sources: program.sources,
            diagnostics,
        });
    }
    warnings.extend(diagnostics);
    Ok(program)
}

/// Reads the program in such a way that rules can be woven into it.
fn load_for(
    input: &CInput,
    rules: &[Rule],
    adjust: impl FnOnce(&mut LowerOptions),
) -> Result<CProgram, Failure> {
    let _reading = Reading::begin();
    let units = units(input)?;
    let model = data_model(input, &units);
    let common = common_options(input);
    let inputs = units
        .iter()
        .map(|unit| match input.cpp {
            Preprocessor::Own => read(unit),
            Preprocessor::Gcc => preprocess_by_gcc(unit, &common, model),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut options = Options {
        parse: ParseOptions {
            model,
            preprocess: common,
        },
        lower: LowerOptions {
            arguments: assumed(input)?,
            hooks: rules
                .iter()
                .flat_map(|rule| rule.functions())
                .map(str::to_owned)
                .collect(),
            ..lower_options(input)
        },
    };
    adjust(&mut options.lower);
    let disk = Disk::default();
    let loaded = load(&inputs, &options, &disk, &reading::budget())?;
    let sources = loaded.sources().clone();
    let Loaded {
        program,
        diagnostics,
        ..
    } = loaded;
    let Some(loaded) = program else {
        return Err(Failure::Input {
            sources,
            diagnostics,
        });
    };
    Ok(CProgram {
        program: loaded.program,
        points_to: Some(loaded.points_to),
        warnings: diagnostics,
        files: disk.files(&inputs, rules, input.cpp),
    })
}

/// What is assumed of the arguments of the entry: what the command says, else what a project file
/// says that is near.
fn assumed(input: &CInput) -> Result<Vec<String>, Failure> {
    if input.entry == "main" || !input.assumed.is_empty() {
        return Ok(input.assumed.clone());
    }
    let project = project::find(Path::new("."))?;
    Ok(project.map_or(Vec::new(), |found| {
        found.config.assumed(&input.entry).to_vec()
    }))
}

/// What is read of a program before anybody makes sense of it.
fn unread(input: &CInput) -> Result<(Vec<Input>, ParseOptions), Failure> {
    let units = units(input)?;
    let parse = ParseOptions {
        model: data_model(input, &units),
        preprocess: common_options(input),
    };
    let inputs = units.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok((inputs, parse))
}

fn said(diagnostics: Vec<Diagnostic>) -> Failure {
    Failure::Input {
        sources: Sources::new(),
        diagnostics,
    }
}

/// A file in C that calls the entry with arguments that may be anything.
pub fn harness(input: &CInput) -> Result<String, Failure> {
    let (inputs, parse) = unread(input)?;
    let lower = LowerOptions {
        arguments: assumed(input)?,
        ..lower_options(input)
    };
    harness_file(&inputs, &parse, &lower, &Disk::default()).map_err(said)
}

/// The functions that the files themselves define, in their order.
pub fn defined(input: &CInput) -> Result<Vec<String>, Failure> {
    let (inputs, parse) = unread(input)?;
    defined_functions(&inputs, &parse, &Disk::default()).map_err(|(sources, diagnostics)| {
        Failure::Input {
            sources,
            diagnostics,
        }
    })
}

/// The files on the disk, for `#include`. It remembers which ones were read.
#[derive(Default)]
struct Disk {
    read: Mutex<BTreeMap<String, String>>,
    absent: Mutex<BTreeSet<String>>,
}

impl Disk {
    /// The files that a program depends on.
    fn files(&self, inputs: &[Input], rules: &[Rule], cpp: Preprocessor) -> Files {
        let written = |rule: &&Rule| rule.origin == RuleOrigin::File;
        let rules = rules.iter().filter(written);
        let mut hashes = self
            .read
            .lock()
            .map_or_else(|_| BTreeMap::new(), |read| read.clone());
        let included = hashes.keys().cloned();
        let own = inputs.iter().map(|input| input.name.clone());
        let paths = rules.clone().map(|rule| rule.path.clone());
        let all: BTreeSet<String> = own.chain(paths).chain(included).collect();
        let absent = self
            .absent
            .lock()
            .map_or_else(|_| BTreeSet::new(), |absent| absent.clone());
        if cpp == Preprocessor::Own {
            // What gcc was given is not what it gives back.
            let own = inputs.iter();
            hashes.extend(own.map(|input| (input.name.clone(), sha256(&input.bytes))));
        }
        hashes.extend(rules.map(|rule| (rule.path.clone(), sha256(rule.text.as_bytes()))));
        Files {
            read: all.into_iter().collect(),
            absent: absent.into_iter().collect(),
            hashes,
        }
    }
}

impl parse::Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = input::contents(path);
        let name = path.display().to_string();
        match &bytes {
            Ok(bytes) => {
                if let Ok(mut read) = self.read.lock() {
                    let hash = sha256(bytes);
                    // What reads differently a second time has no hash that stands for it.
                    let known = read.entry(name).or_insert_with(|| hash.clone());
                    if *known != hash {
                        *known = "changed".to_owned();
                    }
                }
            }
            Err(_) => {
                if let Ok(mut absent) = self.absent.lock() {
                    absent.insert(name);
                }
            }
        }
        bytes
    }

    fn identity(&self, path: &Path) -> PathBuf {
        identity(path)
    }
}

fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// The files of the program, each with the options that only it has.
fn units(input: &CInput) -> Result<Vec<CompileCommand>, Failure> {
    let plain = |file: &PathBuf| CompileCommand {
        file: file.clone(),
        preprocess: Preprocess::default(),
        model: None,
    };
    let Some(database) = &input.compile_commands else {
        if input.files.is_empty() {
            return Err(Failure::message(
                "no file is named: give FILE.c, or --compile-commands JSON",
            ));
        }
        return Ok(input.files.iter().map(plain).collect());
    };
    let bytes = input::bytes(database)?;
    let text = String::from_utf8_lossy(&bytes.bytes);
    let commands = compile_commands(&text)
        .map_err(|error| Failure::message(format!("`{}`: {error}", bytes.name)))?;
    if input.files.is_empty() {
        if commands.is_empty() {
            return Err(Failure::message(format!(
                "`{}` names no C file",
                bytes.name
            )));
        }
        return Ok(commands);
    }
    let find = |file: &PathBuf| {
        let same = |command: &&CompileCommand| {
            command.file == *file || identity(&command.file) == identity(file)
        };
        commands.iter().find(same).cloned().ok_or_else(|| {
            Failure::message(format!(
                "`{}` does not name `{}`",
                bytes.name,
                file.display()
            ))
        })
    };
    input.files.iter().map(find).collect()
}

fn read(unit: &CompileCommand) -> Result<Input, Failure> {
    let input::Bytes { name, bytes } = input::bytes(&unit.file)?;
    let kind = InputKind::of(&name);
    Ok(Input {
        name,
        bytes,
        kind,
        preprocess: unit.preprocess.clone(),
    })
}

/// What gcc's preprocessor makes of a file; `.i` files are left as they are.
fn preprocess_by_gcc(
    unit: &CompileCommand,
    common: &Preprocess,
    model: DataModel,
) -> Result<Input, Failure> {
    let unprocessed = read(unit)?;
    if unprocessed.kind == InputKind::Preprocessed {
        return Ok(unprocessed);
    }
    let mut gcc = Command::new("gcc");
    gcc.arg("-E");
    gcc.arg(match model {
        DataModel::Ilp32 => "-m32",
        DataModel::Lp64 => "-m64",
    });
    for options in [common, &unit.preprocess] {
        for directory in &options.include_dirs {
            gcc.arg("-I").arg(directory);
        }
        for directory in &options.system_dirs {
            gcc.arg("-isystem").arg(directory);
        }
        gcc.args(options.defines.iter().map(|define| format!("-D{define}")));
        gcc.args(options.undefines.iter().map(|name| format!("-U{name}")));
        for file in &options.forced_includes {
            gcc.arg("-include").arg(file);
        }
    }
    if input::is_stdin(&unit.file) {
        return Err(Failure::message(
            "--cpp gcc needs a file, not standard input",
        ));
    }
    let output = gcc
        .arg(not_an_option(&unit.file))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            Failure::message(format!(
                "cannot run gcc: {error}; leave out --cpp gcc to do without it"
            ))
        })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::message(format!(
            "gcc -E failed:\n{}",
            said.trim_end()
        )));
    }
    let kind = InputKind::Preprocessed;
    Ok(Input {
        bytes: output.stdout,
        kind,
        ..unprocessed
    })
}

/// A path that gcc does not take for an option.
fn not_an_option(path: &Path) -> PathBuf {
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        Path::new(".").join(path)
    } else {
        path.to_path_buf()
    }
}

fn common_options(input: &CInput) -> Preprocess {
    Preprocess {
        include_dirs: input.include_dirs.clone(),
        system_dirs: input.system_dirs.clone(),
        defines: input.defines.clone(),
        undefines: input.undefines.clone(),
        forced_includes: input.includes.clone(),
        ..Preprocess::default()
    }
}

/// The user's data model, else that of the compilation database, else LP64.
fn data_model(input: &CInput, units: &[CompileCommand]) -> DataModel {
    match input.data_model {
        Some(DataModelName::Ilp32) => DataModel::Ilp32,
        Some(DataModelName::Lp64) => DataModel::Lp64,
        None => units
            .iter()
            .find_map(|unit| unit.model)
            .unwrap_or(DataModel::Lp64),
    }
}

/// What the C standard calls undefined, as far as it is seen.
pub const UNDEFINED: &[CheckKind] = &[
    CheckKind::DivisionByZero,
    CheckKind::Overflow,
    CheckKind::FloatCast,
    CheckKind::Uninit,
    CheckKind::Pointer,
    CheckKind::Bounds,
    CheckKind::PointerArithmetic,
    CheckKind::Alignment,
    CheckKind::Overlap,
    CheckKind::Constant,
    CheckKind::Free,
];

/// What a word of `--check` asks for.
fn kinds(name: &CheckName) -> &'static [CheckKind] {
    use CheckKind::{
        Alignment, Bounds, Cleanup, Constant, Conversion, DivisionByZero, FloatCast, Free, Leak,
        Nan, Overflow, Overlap, Pointer, PointerArithmetic, Uninit, Unsigned,
    };
    match name {
        CheckName::DivByZero => &[DivisionByZero],
        CheckName::Overflow => &[Overflow],
        CheckName::Unsigned => &[Unsigned],
        CheckName::Conversion => &[Conversion],
        CheckName::FloatCast => &[FloatCast],
        CheckName::Nan => &[Nan],
        CheckName::Uninit => &[Uninit],
        CheckName::Pointer => &[Pointer],
        CheckName::Bounds => &[Bounds],
        CheckName::PointerArithmetic => &[PointerArithmetic],
        CheckName::Alignment => &[Alignment],
        CheckName::Overlap => &[Overlap],
        CheckName::Constant => &[Constant],
        CheckName::Free => &[Free],
        CheckName::Leak => &[Leak],
        CheckName::Cleanup => &[Cleanup],
        CheckName::Undefined => UNDEFINED,
        CheckName::All => &[
            DivisionByZero,
            Overflow,
            Unsigned,
            Conversion,
            FloatCast,
            Nan,
            Uninit,
            Pointer,
            Bounds,
            PointerArithmetic,
            Alignment,
            Overlap,
            Constant,
            Free,
            Leak,
            Cleanup,
        ],
    }
}

fn lower_options(input: &CInput) -> LowerOptions {
    LowerOptions {
        entry: input.entry.clone(),
        checks: input.checks.iter().flat_map(kinds).copied().collect(),
        allocations: match input.malloc_may_fail {
            true => Allocations::MayFail,
            false => Allocations::Succeed,
        },
        violations: match input.all {
            true => Violations::Pass,
            false => Violations::End,
        },
        error_labels: input.error_labels.iter().cloned().collect(),
        undefined: match input.undefined {
            UndefinedName::Pure => Undefined::Pure,
            UndefinedName::Havoc => Undefined::Havoc,
        },
        ..LowerOptions::default()
    }
}

/// The functions that the user names, or all of them; `None` for a name that no function has.
pub fn functions(
    program: &Program,
    names: &[String],
) -> Result<Vec<hardbop_cfront::ids::FuncId>, Failure> {
    let find = |name: &String| {
        program
            .function_named(name)
            .ok_or_else(|| Failure::message(format!("there is no function `{name}`")))
    };
    names.iter().map(find).collect()
}
