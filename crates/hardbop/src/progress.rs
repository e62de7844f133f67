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

/// A line on standard error that lives as long as this value.
pub struct Progress {
    line: Option<(Sender<String>, JoinHandle<()>)>,
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
            let _ = sender.send(what.into());
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
fn show(told: &Receiver<String>, terminal: Term) {
    let started = Instant::now();
    let mut last = String::new();
    loop {
        match told.recv_timeout(PATIENCE.saturating_sub(started.elapsed())) {
            Ok(what) => last = what,
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
    while let Ok(what) = told.recv() {
        line.set_message(what);
    }
    line.finish_and_clear();
}
