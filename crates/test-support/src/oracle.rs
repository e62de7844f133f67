//! gcc as the judge of what a C program means.

use hardbop_budget::Budget;
use hardbop_cfront::inline::{self, Limits as InlineLimits, inline_unchecked};
use hardbop_cfront::interp::{
    Environment, Interpreter, Limits, Observer, Outcome, Run, Script, State,
};
use hardbop_cfront::load::{Options, load};
use hardbop_cfront::parse::{Files, Input, InputKind, NoFiles, Preprocess};
use hardbop_cfront::points_to::{self, PointsTo};
use hardbop_cfront::program::Program;
use hardbop_cfront::types::DataModel;
use hardbop_cfront::watch::Watch;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The options that make gcc follow the meaning that programs have here: signed arithmetic
/// wraps, and floats of 32-bit programs are not computed with excess precision.
pub fn gcc_options(model: DataModel) -> &'static [&'static str] {
    match model {
        DataModel::Lp64 => &["-m64", "-fwrapv", "-fno-strict-aliasing", "-w", "-O0"],
        DataModel::Ilp32 => &[
            "-m32",
            "-msse2",
            "-mfpmath=sse",
            "-fexcess-precision=standard",
            "-fwrapv",
            "-fno-strict-aliasing",
            "-w",
            "-O0",
        ],
    }
}

/// A folder of our own under the system's, named for the test.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("hardbop-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

/// Whether gcc can build and run programs for a data model; says so if it cannot.
pub fn gcc_works(folder: &Path, model: DataModel) -> bool {
    let works = gcc(folder, "int main(void) { return 0; }", model, &[]).is_ok();
    if !works {
        eprintln!("SKIPPED: no gcc that builds and runs {model:?} programs on this machine");
    }
    works
}

/// Compiles a text, runs it, and gives back what it printed.
pub fn gcc(
    folder: &Path,
    text: &str,
    model: DataModel,
    further: &[&str],
) -> Result<String, String> {
    let source = folder.join(format!("{model:?}.c"));
    let binary = folder.join(format!("{model:?}"));
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    let compiled = Command::new("gcc")
        .args(gcc_options(model))
        .args(further)
        .arg("-o")
        .args([&binary, &source])
        .output()
        .map_err(|error| error.to_string())?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let ran = Command::new("timeout")
        .arg("10")
        .arg(&binary)
        .output()
        .map_err(|error| error.to_string())?;
    if !ran.status.success() {
        return Err(format!("{:?}", ran.status));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// Loads a text as a C file, or says why it is refused.
pub fn program(text: &str, model: DataModel) -> Result<Program, String> {
    program_from(text, model, InputKind::Source, &NoFiles)
}

/// Loads a text, preprocessed or not.
pub fn program_from(
    text: &str,
    model: DataModel,
    kind: InputKind,
    files: &dyn Files,
) -> Result<Program, String> {
    let input = Input {
        name: "test.c".into(),
        bytes: text.into(),
        kind,
        preprocess: Preprocess::default(),
    };
    let loaded = load(&[input], &Options::new(model), files, &Budget::unlimited())
        .map_err(|stopped| stopped.to_string())?;
    let said: Vec<String> = loaded
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.is_error())
        .map(|diagnostic| diagnostic.message.clone())
        .collect();
    loaded
        .program
        .map(|loaded| loaded.program)
        .ok_or_else(|| said.join("\n"))
}

/// Copies a variable of static storage when the run ends, and compares the run with points-to.
struct Keep<'a> {
    program: &'a Program,
    name: &'a str,
    bytes: Vec<u8>,
    watch: Watch<'a>,
}

impl Observer for Keep<'_> {
    fn edge(&mut self, edge: hardbop_cfront::ids::EdgeId, state: &mut State<'_, '_>) {
        self.watch.edge(edge, state);
    }

    fn end(&mut self, _: &Outcome, state: &mut State<'_, '_>) {
        let named = self
            .program
            .variables
            .iter()
            .position(|v| v.name == self.name);
        if let Some(i) = named
            && let Some(bytes) = state.static_bytes(hardbop_cfront::ids::VarId(i as u32))
        {
            self.bytes = bytes.to_vec();
        }
    }
}

/// Runs a program, and gives back the bytes of one of its globals at the end. No access may
/// contradict points-to, neither in the program nor where its calls are inlined.
pub fn interpret(program: &Program, global: &str, steps: u64) -> (Run, Vec<u8>) {
    let points_to = checked(program);
    let budget = Budget::unlimited();
    let inlined = inline_unchecked(program, &InlineLimits::default(), &budget);
    let inlined = inlined.expect("nothing limits it");
    assert_eq!(inline::check::check(program, &inlined, &budget), Ok(Ok(())));
    let inlined = inlined.program;
    let inlined_points_to = checked(&inlined);
    let _ = interpret_against(&inlined, &inlined_points_to, global, steps);
    interpret_against(program, &points_to, global, steps)
}

/// What points-to finds, which must stand its own check.
fn checked(program: &Program) -> PointsTo {
    let budget = Budget::unlimited();
    let found = points_to::analyse_unchecked(program, &budget).expect("nothing limits it");
    assert_eq!(
        points_to::check::check(program, &found, &budget),
        Ok(Ok(()))
    );
    found
}

fn interpret_against(
    program: &Program,
    points_to: &PointsTo,
    global: &str,
    steps: u64,
) -> (Run, Vec<u8>) {
    let mut keep = Keep {
        program,
        name: global,
        bytes: Vec::new(),
        watch: Watch::new(program, points_to),
    };
    let limits = Limits {
        steps,
        ..Limits::default()
    };
    let mut script = Script::new(Vec::new());
    let environment: &mut dyn Environment = &mut script;
    let run = Interpreter::new(program).run_observed(environment, &limits, &mut keep);
    if let Some(contradiction) = keep.watch.contradictions.first() {
        let source = program.edges[contradiction.edge.index()].source;
        panic!("line {}: {}", source.line, contradiction.what);
    }
    (run, keep.bytes)
}

/// The numbers of 64 bits in some bytes.
pub fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        chunk
            .iter()
            .rev()
            .fold(0, |word, &b| word << 8 | u64::from(b))
    };
    bytes.chunks(8).map(word).collect()
}
