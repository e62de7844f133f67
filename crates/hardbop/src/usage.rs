//! What clap has to say: help, the version, or what is wrong with the arguments.

use crate::cli::{Colour, Output};
use crate::console::Console;
use crate::failure::Failure;
use crate::quiet::Stderr;
use std::ffi::OsStr;

/// Prints what clap has to say and gives back the exit code: 0 for help and version, else 2.
pub fn report(error: &clap::Error) -> u8 {
    // The arguments could not be parsed, so whether JSON is wanted can only be seen in the raw
    // ones, which `--` ends.
    let options = std::env::args_os().take_while(|argument| argument != OsStr::new("--"));
    let json = options
        .into_iter()
        .any(|argument| argument == OsStr::new("--json"));
    if error.use_stderr() && json {
        let console = Console::new(
            "",
            &Output {
                json,
                quiet: false,
                color: Colour::Never,
            },
            Stderr::plain(),
        );
        let text = error.render().to_string();
        let message = text.trim_start_matches("error: ").trim_end();
        return console.fail(&Failure::message(message));
    }
    // Clap knows the right stream, and colours only for a terminal. A closed pipe is no failure.
    let _ = error.print();
    u8::try_from(error.exit_code()).unwrap_or(crate::failure::REFUSED)
}
