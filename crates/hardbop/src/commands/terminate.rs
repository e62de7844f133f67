//! `hardbop terminate`: decides whether every execution of a C program ends.

use crate::cli::{
    Artifacts, CheckArgs, EngineChoice, ProjectArgs, RuleNames, SearchArith, ShownRuns,
    TerminateArgs,
};
use crate::commands::check;
use crate::console::Console;
use crate::failure::{Failure, Verdict};
use crate::target::Target;

/// Decides it.
pub fn run(arguments: &TerminateArgs, console: &Console) -> Result<Verdict, Failure> {
    if arguments.input.files.is_empty() && arguments.input.compile_commands.is_none() {
        return Err(Failure::message(
            "no file is named: give FILE.c, as in `hardbop terminate FILE.c`",
        ));
    }
    let target = Target::of(&arguments.input, None)?.about_ends();
    let arguments = CheckArgs {
        about_files: Vec::new(),
        project: ProjectArgs::default(),
        input: arguments.input.clone(),
        rules: RuleNames::default(),
        property: None,
        arith: SearchArith::Auto,
        engine: EngineChoice::Auto,
        cube: None,
        group: None,
        first: false,
        depth: None,
        each: false,
        without: Vec::new(),
        invariants: false,
        show_predicates: false,
        runs: ShownRuns {
            full: false,
            no_trace: false,
            trace: false,
        },
        stats: arguments.stats,
        list: false,
        github: false,
        verbose: arguments.verbose,
        artifacts: Artifacts {
            certificate: arguments.certificate.clone(),
            ..Artifacts::default()
        },
        limits: arguments.limits.clone(),
    };
    check::decide_target(&arguments, &target, console)
}
