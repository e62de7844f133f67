//! Runs the work in a process of its own, so that a solver that crashes is an answer (UNKNOWN) and
//! not the end of the story: Z3's Horn engine, interrupted at a bad moment, may follow a pointer
//! to nowhere, and nothing inside a process can be trusted after that.
//!
//! The child gets everything from its parent but the terminal's signals: those are passed on, one
//! for one. It ends with its parent, however that ends. It keeps to its limits by itself; where it
//! does not, because a solver or something that nobody thought of does not look up, it is ended.

use crate::cli::Limits;
use crate::limits;
use hardbop_budget::{Stopped, cpu_time_in};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The argument that tells the child that it is the child.
pub const IN_PROCESS: &str = "--in-process";

/// How the child ended.
pub enum Ended {
    /// With an exit code.
    Exit(u8),
    /// By a signal that it did not expect.
    Crash(String),
    /// Because it went far beyond a limit.
    Stopped(Stopped),
}

/// How much longer than its limit the child may take: when time is over it still repeats runs to
/// show them.
const MORE_TIME: Duration = Duration::from_secs(15);
/// How much more memory than its limit the child may hold, beside a half: solvers are told to stop
/// before the limit, and take a little until they do.
const MORE_MEMORY: u64 = 256 << 20;
/// How often the child's memory is looked at.
const INTERVAL: Duration = Duration::from_millis(20);

/// Runs this very command in a child and waits for it. `None` if there can be no child: then the
/// work has to be done here.
pub fn run(limits: Option<&Limits>) -> Option<Ended> {
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
    let time = limits.and_then(|limits| limits.time_limit);
    let time = time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = time.map(|limit| limit.saturating_add(MORE_TIME));
    let memory = limits.and_then(|limits| {
        let limit = limits::memory(limits)?;
        // Where nobody says, the limit is most of what there is.
        let more = match limits.memory_limit {
            Some(_) => limit / 2 + MORE_MEMORY,
            None => limit / 6,
        };
        Some(limit.saturating_add(more))
    });
    let cpu = limits.and_then(limits::cpu);
    let cpu = cpu.map(|limit| limit.saturating_add(MORE_TIME));
    let most = Most { time, cpu, memory };
    let (done, ending) = channel();
    let watch = std::thread::spawn(move || watch(pid, most, &ending));
    let status = child.wait().ok()?;
    drop(done);
    match (watch.join(), status.signal()) {
        (Ok(Some(stopped)), Some(_)) => Some(Ended::Stopped(stopped)),
        _ => Some(ended(status)),
    }
}

/// What a child may take until it is ended.
#[derive(Clone, Copy, Debug, Default)]
struct Most {
    time: Option<Duration>,
    cpu: Option<Duration>,
    memory: Option<u64>,
}

/// Ends the child where it does not keep to its limits. Says why, if it did.
fn watch(pid: Pid, most: Most, ending: &Receiver<()>) -> Option<Stopped> {
    let started = Instant::now();
    let Most { time, cpu, memory } = most;
    if time.is_none() && cpu.is_none() && memory.is_none() {
        return None;
    }
    while ending.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let late = time.is_some_and(|limit| started.elapsed() > limit)
            || cpu.is_some_and(|limit| worked(pid) > Some(limit));
        let large = memory.is_some_and(|limit| resident(pid) > Some(limit));
        if late || large {
            // If it ended just now, there is nothing left to end.
            let _ = kill_process(pid, Signal::KILL);
            return Some(if late { Stopped::Time } else { Stopped::Memory });
        }
    }
    None
}

/// The memory that a process holds.
fn resident(pid: Pid) -> Option<u64> {
    let path = format!("/proc/{}/statm", pid.as_raw_nonzero());
    let statm = std::fs::read_to_string(path).ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// The processor time that a process has used.
fn worked(pid: Pid) -> Option<Duration> {
    let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
    cpu_time_in(&std::fs::read_to_string(path).ok()?)
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

/// Ends the process at once, after what was printed. Other threads may be inside of a solver:
/// destructors of its globals, which the usual exit calls, would take its memory from under them,
/// and a crash would take back an answer that was given.
pub fn leave(code: u8) -> ! {
    // There is nobody left to tell if this cannot be written.
    let _ = std::io::stdout().flush();
    let _ = std::io::stderr().flush();
    signal_hook::low_level::exit(code.into())
}

/// Makes the child end with its parent.
pub fn end_with_parent() {
    // Where this is not possible, a parent that is killed leaves a child behind that stops at its
    // limits.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(most: Most) -> (Option<Stopped>, ExitStatus) {
        let mut child = Command::new("sleep").arg("2").spawn().expect("sleep runs");
        let pid = Pid::from_child(&child);
        let (done, ending) = channel();
        let watch = std::thread::spawn(move || watch(pid, most, &ending));
        let status = child.wait().expect("it ends");
        drop(done);
        (watch.join().expect("a watch"), status)
    }

    #[test]
    fn a_child_that_goes_far_beyond_its_limits_is_ended() {
        let (stopped, status) = watched(Most {
            time: Some(Duration::from_millis(50)),
            ..Most::default()
        });
        assert_eq!(stopped, Some(Stopped::Time));
        assert_eq!(status.signal(), Some(9));
        let (stopped, status) = watched(Most {
            memory: Some(1),
            ..Most::default()
        });
        assert_eq!(stopped, Some(Stopped::Memory));
        assert_eq!(status.signal(), Some(9));
    }

    #[test]
    fn a_child_within_its_limits_is_left_alone() {
        let (stopped, status) = watched(Most {
            time: Some(Duration::from_secs(60)),
            cpu: Some(Duration::from_secs(60)),
            memory: Some(1 << 40),
        });
        assert_eq!(stopped, None);
        assert!(status.success());
    }
}
