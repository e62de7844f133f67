//! The line on a terminal that says what is going on; nothing anywhere else.

use crate::console::{Console, Format};
use ::console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Work that takes less long needs no line.
const PATIENCE: Duration = Duration::from_secs(1);
/// The line is not drawn more often.
const DRAWS_PER_SECOND: u8 = 20;

/// What the line is told.
enum Said {
    /// This is being done now.
    Now(String),
    /// This is known, and stays in view.
    Known(String),
}

/// A line on standard error that lives as long as this value.
pub struct Progress {
    line: Option<(Sender<Said>, JoinHandle<()>)>,
}

impl Progress {
    /// A line for a person who looks on; machines and files get none.
    pub fn new(console: &Console) -> Progress {
        let terminal = match console.format() {
            Format::Text => console.stderr().terminal(),
            Format::Json => None,
        };
        let line = terminal.map(|terminal| {
            let (sender, receiver) = channel();
            (
                sender,
                std::thread::spawn(move || show(&receiver, terminal)),
            )
        });
        Progress { line }
    }

    /// Says what is being done now.
    pub fn say(&self, what: impl Into<String>) {
        if let Some((sender, _)) = &self.line {
            // The line may be gone, which is no reason to stop the work.
            let _ = sender.send(Said::Now(what.into()));
        }
    }

    /// Says what is known already; it stands above the line from then on.
    pub fn keep(&self, what: impl Into<String>) {
        if let Some((sender, _)) = &self.line {
            let _ = sender.send(Said::Known(what.into()));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.line.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// Shows what it is told, after a while, until there is nobody left to tell it anything.
fn show(told: &Receiver<Said>, terminal: Term) {
    let started = Instant::now();
    let mut last = String::new();
    let mut known = Vec::new();
    loop {
        match told.recv_timeout(PATIENCE.saturating_sub(started.elapsed())) {
            Ok(Said::Now(what)) => last = what,
            Ok(Said::Known(what)) => known.push(what),
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
    let line = ProgressBar::new_spinner().with_elapsed(started.elapsed());
    line.set_draw_target(ProgressDrawTarget::term(terminal, DRAWS_PER_SECOND));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        line.set_style(style);
    }
    line.set_message(last);
    line.enable_steady_tick(Duration::from_millis(200));
    for what in known {
        line.println(what);
    }
    while let Ok(said) = told.recv() {
        match said {
            Said::Now(what) => line.set_message(what),
            Said::Known(what) => line.println(what),
        }
    }
    line.finish_and_clear();
}
