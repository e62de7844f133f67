//! Runs the work in a process of its own, so that a solver that crashes is an answer (UNKNOWN) and
//! not the end of the story: Z3's Horn engine, interrupted at a bad moment, may follow a pointer
//! to nowhere, and nothing inside a process can be trusted after that.
//!
//! The child gets everything from its parent but the terminal's signals: those are passed on, one
//! for one. It ends with its parent, however that ends.

use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};

/// The argument that tells the child that it is the child.
pub const IN_PROCESS: &str = "--in-process";

/// How the child ended.
pub enum Ended {
    /// With an exit code.
    Exit(u8),
    /// By a signal that it did not expect.
    Crash(String),
}

/// Runs this very command in a child and waits for it. `None` if there can be no child: then the
/// work has to be done here.
pub fn run() -> Option<Ended> {
    let program = std::env::current_exe().ok()?;
    let mut command = Command::new(program);
    command.arg(IN_PROCESS).args(std::env::args_os().skip(1));
    command.process_group(0);
    let mut child = command.spawn().ok()?;
    let pid = Pid::from_child(&child);
    // A signal that cannot be passed on comes too late.
    let _ = ctrlc::set_handler(move || {
        let _ = kill_process(pid, Signal::INT);
    });
    let status = child.wait().ok()?;
    Some(ended(status))
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exit(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            let name = match signal {
                6 => "SIGABRT".to_owned(),
                9 => "SIGKILL: it was killed, perhaps for want of memory".to_owned(),
                11 => "SIGSEGV".to_owned(),
                other => format!("signal {other}"),
            };
            Ended::Crash(name)
        }
    }
}

/// Makes the child end with its parent.
pub fn end_with_parent() {
    // Where this is not possible, a parent that is killed leaves a child behind that stops at its
    // limits.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}
