//! Loads the C program that the user names.

use crate::cli::{CInput, CheckName, DataModelName, Preprocessor, RuleNames, UndefinedName};
use crate::console::Console;
use crate::failure::Failure;
use crate::{input, rules};
use hardbop_cfront::compile_commands::{CompileCommand, compile_commands};
use hardbop_cfront::load::{Loaded, Options, load};
use hardbop_cfront::options::{LowerOptions, Undefined};
use hardbop_cfront::parse::{Files, Input, InputKind, ParseOptions, Preprocess};
use hardbop_cfront::program::{CheckKind, Program};
use hardbop_cfront::types::DataModel;
use hardbop_diagnostics::Diagnostic;
use hardbop_rules::{Woven, weave};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// A C program without errors.
pub struct CProgram {
    /// The program; it holds its texts.
    pub program: Program,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
    /// The files that were read, included ones among them.
    pub files: Vec<String>,
}

/// Reads, types, lowers and links the program; people see its warnings at once.
pub fn program(input: &CInput, console: &Console) -> Result<CProgram, Failure> {
    program_with(input, &RuleNames::default(), console, |_| {})
}

/// Reads the program as [`program`] does, with rules woven into it and a last word on how it is
/// lowered.
pub fn program_with(
    input: &CInput,
    rules: &RuleNames,
    console: &Console,
    adjust: impl FnOnce(&mut LowerOptions),
) -> Result<CProgram, Failure> {
    let rules = rules::read(&rules.rules)?;
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
    let loaded = load(&inputs, &options, &disk);
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
    let mut warnings = diagnostics;
    let Woven {
        program,
        diagnostics,
    } = weave(loaded.program, &rules);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failure::Input {
            sources: program.sources,
            diagnostics,
        });
    }
    warnings.extend(diagnostics);
    console.warn(&program.sources, &warnings);
    Ok(CProgram {
        program,
        warnings,
        files: disk.files(&inputs),
    })
}

/// The files on the disk, for `#include`. It remembers which ones were read.
#[derive(Default)]
struct Disk {
    read: Mutex<BTreeSet<String>>,
}

impl Disk {
    /// The files that were read: the program's own and those that they include.
    fn files(&self, inputs: &[Input]) -> Vec<String> {
        let own = inputs.iter().map(|input| input.name.clone());
        let included = self.read.lock().map(|read| read.clone());
        let all: BTreeSet<String> = own.chain(included.unwrap_or_default()).collect();
        all.into_iter().collect()
    }
}

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = std::fs::read(path)?;
        let name = path.display().to_string();
        if let Ok(mut read) = self.read.lock() {
            read.insert(name);
        }
        Ok(bytes)
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

fn lower_options(input: &CInput) -> LowerOptions {
    let check = |name: &CheckName| match name {
        CheckName::DivByZero => CheckKind::DivisionByZero,
        CheckName::Overflow => CheckKind::Overflow,
        CheckName::Pointer => CheckKind::Pointer,
        CheckName::Bounds => CheckKind::Bounds,
        CheckName::Free => CheckKind::Free,
    };
    LowerOptions {
        entry: input.entry.clone(),
        checks: input.checks.iter().map(check).collect(),
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
