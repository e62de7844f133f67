//! The `hardbop` command: arguments in, exit code out.
//!
//! This crate is the only one that reads arguments and files, prints, or exits; the work is done
//! by the libraries that the `hardbop` library puts together.

mod boolean;
mod c;
mod certificate;
mod cli;
mod cluster;
mod commands;
mod console;
mod failure;
mod guard;
mod input;
mod item;
mod limits;
mod listing;
mod outputs;
mod panics;
mod progress;
mod project;
mod quiet;
mod reading;
mod rules;
mod store;
mod target;
mod targets;
mod tool;
mod usage;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match cli::Cli::read() {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error).into(),
    };
    if cli.in_process {
        guard::end_with_parent();
    } else if cli.command.asks_solvers()
        && let Some(ended) = guard::run(cli.command.limits())
    {
        let stderr = quiet::Stderr::plain();
        let console = console::Console::new(cli.command.name(), &cli.output, stderr);
        return match ended {
            guard::Ended::Exit(code) => code.into(),
            guard::Ended::Crash(signal) => console.crashed(&signal).into(),
            guard::Ended::Stopped(stopped) => {
                let text = format!("{stopped}, and the process that did the work did not end");
                console.stopped(&text).into()
            }
        };
    }
    let stderr = quiet::Stderr::quiet();
    let console = console::Console::new(cli.command.name(), &cli.output, stderr);
    reading::watch(cli.command.limits(), &console);
    let code = match panics::caught(|| commands::run(&cli.command, &console)) {
        Ok(verdict) => verdict.exit_code(),
        Err(failure) => console.fail(&failure),
    };
    console.stderr().close();
    if cli.in_process {
        guard::leave(code);
    }
    code.into()
}
