//! The line on a terminal that says what is going on; nothing anywhere else.

use crate::console::{Console, Format};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A line on standard error that lives as long as this value.
pub struct Progress {
    line: Option<ProgressBar>,
}

impl Progress {
    /// A line for a person who looks on; machines and files get none.
    pub fn new(console: &Console) -> Progress {
        let wanted = console.format() == Format::Text && std::io::stderr().is_terminal();
        let line = wanted.then(|| {
            let line = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                line.set_style(style);
            }
            line.enable_steady_tick(Duration::from_millis(200));
            line
        });
        Progress { line }
    }

    /// Says what is being done now.
    pub fn say(&self, what: impl Into<String>) {
        if let Some(line) = &self.line {
            line.set_message(what.into());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}
