//! The commands, one file each.

mod abstraction;
pub mod artifacts;
mod bebop;
mod bmc;
mod boolean_view;
mod bp_export;
mod bp_format;
mod bp_generate;
mod bp_graph;
mod bp_run;
mod c_cfg;
mod c_dump;
mod c_export;
mod c_run;
mod cache;
mod certify;
mod check;
mod completions;
mod contradiction;
mod depth;
mod each;
mod engines;
mod explain;
mod harness;
mod init;
mod leap;
mod lines;
mod lsp;
mod man;
mod passes;
pub mod project;
mod results;
mod rule_weave;
mod rules;
mod shown;
mod slice;
mod terminate;
mod validate;
mod work;

use crate::cli::{BpCommand, CCommand, Command, RuleCommand};
use crate::console::Console;
use crate::failure::{Failure, Verdict};

/// Does what the user asked for.
pub fn run(command: &Command, console: &Console) -> Result<Verdict, Failure> {
    match command {
        Command::Bebop(arguments) => bebop::run(arguments, console),
        Command::Check(arguments) => check::run(arguments, console),
        Command::Certify(arguments) => certify::run(arguments, console),
        Command::Validate(arguments) => validate::run(arguments, console),
        Command::Harness { input } => harness::run(input, console),
        Command::Lsp => lsp::run(),
        Command::Init(arguments) => init::run(arguments, console),
        Command::Cache(arguments) => cache::run(arguments, console),
        Command::Work(arguments) => work::run(arguments),
        Command::Bmc(arguments) => bmc::run(arguments, console),
        Command::Leap(arguments) => leap::run(arguments, console),
        Command::Terminate(arguments) => terminate::run(arguments, console),
        Command::Explain(arguments) => explain::run(arguments, console),
        Command::Slice(arguments) => slice::run(arguments, console),
        Command::Abstract(arguments) => abstraction::run(arguments, console),
        Command::Bp(command) => boolean_program(command, console),
        Command::Rule(RuleCommand::Weave {
            input,
            rules,
            functions,
        }) => rule_weave::run(input, rules, functions, console),
        Command::Rules { name, source } => {
            let show = match (name, source) {
                (None, _) => rules::Show::List,
                (Some(name), false) => rules::Show::Page(name),
                (Some(name), true) => rules::Show::Source(name),
            };
            rules::run(show, console)
        }
        Command::Man { command } => man::run(command, console),
        Command::Completions { shell } => completions::run(*shell, console),
        Command::C(command) => c_program(command, console),
    }
}

fn c_program(command: &CCommand, console: &Console) -> Result<Verdict, Failure> {
    match command {
        CCommand::Cfg { input, functions } => c_cfg::run(input, functions, console),
        CCommand::Run {
            input,
            inputs,
            steps,
            trace,
            watch,
            limits,
        } => {
            let given = c_run::Given {
                inputs: inputs.as_deref(),
                steps: *steps,
                trace: *trace,
                watch: *watch,
            };
            c_run::run(input, &given, limits, console)
        }
        CCommand::Export { input, to } => c_export::run(input, *to, console),
        CCommand::Dump {
            input,
            functions,
            after,
        } => c_dump::run(input, functions, after, console),
    }
}

fn boolean_program(command: &BpCommand, console: &Console) -> Result<Verdict, Failure> {
    match command {
        BpCommand::Format {
            input,
            check,
            write,
        } => {
            let mode = match (check, write) {
                (true, _) => bp_format::Mode::Check,
                (_, true) => bp_format::Mode::Write,
                _ => bp_format::Mode::Print,
            };
            bp_format::run(input, mode, console)
        }
        BpCommand::Graph { input, to } => bp_graph::run(input, *to, console),
        BpCommand::Run {
            input,
            seed,
            choices,
            steps,
            limits,
        } => {
            let given = bp_run::Given {
                seed: *seed,
                choices: choices.as_deref(),
                steps: *steps,
            };
            bp_run::run(input, &given, limits, console)
        }
        BpCommand::Export { input, to, label } => {
            bp_export::run(input, *to, label.as_deref(), console)
        }
        BpCommand::Generate(arguments) => bp_generate::run(arguments, console),
    }
}
