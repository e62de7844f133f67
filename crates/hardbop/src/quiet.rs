//! Standard error without the noise of a solver.
//!
//! Z3's Horn engine prints a report of a broken assertion straight to file descriptor 2 when it is
//! interrupted at a bad moment. The answer is "unknown" then, as for every interruption, and a user
//! can do nothing about it. So descriptor 2 becomes a pipe, and a thread copies what comes out of
//! it, except such reports, to where standard error really goes. What this program itself has to
//! say does not take that way: it is written to the real place at once, and is never held back.

use std::fs::File;
use std::io::{self, IsTerminal, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where standard error really goes.
#[derive(Clone, Debug)]
pub struct Stderr {
    /// `None` if the system has no descriptor left; then descriptor 2 is used as it is.
    real: Option<Arc<File>>,
    /// Hears from the copying thread when it is done; `None` if nothing is copied.
    copied: Arc<Mutex<Option<Receiver<()>>>>,
}

/// How long the end of the process waits for the rest to be copied: something else that was
/// started with the same descriptor may keep the pipe open.
const PATIENCE: Duration = Duration::from_millis(200);

impl Stderr {
    /// Standard error as it is.
    pub fn plain() -> Stderr {
        let real = io::stderr().as_fd().try_clone_to_owned().ok();
        Stderr {
            real: real.map(|real| Arc::new(File::from(real))),
            copied: Arc::default(),
        }
    }

    /// Standard error, and from now on what solvers print there is filtered. If that cannot be set
    /// up, there is some noise, and nothing else is wrong.
    pub fn quiet() -> Stderr {
        let stderr = Stderr::plain();
        if let Some(real) = &stderr.real
            && let Ok((reader, writer)) = io::pipe()
        {
            let (done, copied) = channel();
            let real = Arc::clone(real);
            let copy = move || {
                copy(reader, &real);
                // Nobody waits if the process is not ending.
                let _ = done.send(());
            };
            let thread = std::thread::Builder::new().name("stderr".to_owned());
            if thread.spawn(copy).is_ok()
                && rustix::stdio::dup2_stderr(&writer).is_ok()
                && let Ok(mut slot) = stderr.copied.lock()
            {
                *slot = Some(copied);
            }
        }
        stderr
    }

    /// Whether a person looks on.
    pub fn is_terminal(&self) -> bool {
        match &self.real {
            Some(real) => real.is_terminal(),
            None => io::stderr().is_terminal(),
        }
    }

    /// Writes a text; where standard error is closed, nothing can be said.
    pub fn write(&self, text: &str) {
        let _ = match &self.real {
            Some(real) => (&**real).write_all(text.as_bytes()),
            None => io::stderr().lock().write_all(text.as_bytes()),
        };
    }

    /// The terminal that standard error really is, to draw on.
    pub fn terminal(&self) -> Option<::console::Term> {
        let real = self.real.as_ref().filter(|real| real.is_terminal())?;
        let (read, write) = (real.try_clone().ok()?, real.try_clone().ok()?);
        Some(::console::Term::read_write_pair(read, write))
    }

    /// Ends the filter, to be called before the process ends: what is still in the pipe comes out.
    pub fn close(&self) {
        let copied = self.copied.lock().ok().and_then(|mut slot| slot.take());
        let (Some(real), Some(copied)) = (&self.real, copied) else {
            return;
        };
        // Descriptor 2 is the last one that writes into the pipe.
        if rustix::stdio::dup2_stderr(real).is_ok() {
            let _ = copied.recv_timeout(PATIENCE);
        }
    }
}

/// Copies what is no noise until nobody can write any more.
fn copy(mut reader: PipeReader, mut real: &File) {
    let mut filter = Filter::default();
    let mut buffer = [0; 4096];
    loop {
        let read = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        // The pipe is emptied even if nothing can be written, or solvers would wait for ever.
        let _ = real.write_all(&filter.pass(&buffer[..read]));
    }
    let _ = real.write_all(&filter.line);
}

/// Drops Z3's reports of broken assertions, line by line.
#[derive(Debug, Default)]
struct Filter {
    /// What came of the line that has not ended yet.
    line: Vec<u8>,
    /// How many more lines belong to reports that have begun.
    noise: usize,
}

/// How a report begins.
const HEAD: &[u8] = b"ASSERTION VIOLATION";
/// The lines after that: the file, the line, the condition, the version, where to report it.
const REST: usize = 5;

impl Filter {
    /// Gives back the lines that end in these bytes and are no noise.
    fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut passed = Vec::new();
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                if !self.is_noise(&line[..line.len() - 1]) {
                    passed.extend(line);
                }
            }
        }
        passed
    }

    /// Reports of two threads may be mixed within lines, but the number of lines stays the same.
    fn is_noise(&mut self, line: &[u8]) -> bool {
        if line == HEAD || (self.noise > 0 && line.ends_with(HEAD)) {
            self.noise += REST;
            return true;
        }
        let noise = self.noise > 0;
        self.noise = self.noise.saturating_sub(1);
        noise
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// What comes through, however the text is cut into pieces.
    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let mut whole = String::new();
        for size in 1..=text.len() {
            let mut filter = Filter::default();
            let mut passed = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                passed.extend(filter.pass(piece));
            }
            passed.extend(&filter.line);
            whole = String::from_utf8(passed).expect("lines are whole");
            expected.assert_eq(&whole);
        }
        assert!(!whole.contains("Please file an issue"));
    }

    const REPORT: &str = "ASSERTION VIOLATION
File: /src/muz/spacer/spacer_global_generalizer.cpp
Line: 337
UNEXPECTED CODE WAS REACHED.
5.4.0.0
Please file an issue with this message and more detail about how you encountered it
";

    #[test]
    fn reports_are_dropped_and_the_rest_is_kept() {
        check(
            &format!("before\n{REPORT}{REPORT}between\n\n{REPORT}an end without a line end"),
            expect![[r#"
                before
                between

                an end without a line end"#]],
        );
    }

    #[test]
    fn reports_may_be_mixed() {
        check(
            "ASSERTION VIOLATION
File: ASSERTION VIOLATION
/src/a.cpp
File: Line: /src/a.cpp
Line: 337337

UNEXPECTED CODE WAS REACHED.
UNEXPECTED CODE WAS REACHED.
5.4.0.0
5.4.0.0
Please file an issue with this message
Please file an issue with this message
after
",
            expect![[r#"
                after
            "#]],
        );
    }

    #[test]
    fn other_lines_that_speak_of_assertions_stay() {
        check(
            "an ASSERTION VIOLATION\nFile: x.c\nLine: 3\n",
            expect![[r#"
                an ASSERTION VIOLATION
                File: x.c
                Line: 3
            "#]],
        );
    }
}
