//! A directory with files, in which commands are run and shown as a session.

use expect_test::Expect;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The command under test, with nothing of the developer's terminal settings.
pub fn hardbop(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardbop"));
    command
        .current_dir(directory)
        .env_remove("NO_COLOR")
        .env("COLUMNS", "100");
    command
}

/// A directory with files, in which commands are run.
pub struct Scene {
    directory: Place,
    input: String,
}

enum Place {
    Temporary(tempfile::TempDir),
    Examples,
}

impl Scene {
    /// An empty directory.
    pub fn empty() -> Scene {
        let directory = tempfile::tempdir().expect("a temporary directory");
        Scene {
            directory: Place::Temporary(directory),
            input: String::new(),
        }
    }

    /// The directory of the shipped examples.
    pub fn examples() -> Scene {
        Scene {
            directory: Place::Examples,
            input: String::new(),
        }
    }

    /// A directory with one file.
    pub fn file(name: &str, contents: impl AsRef<[u8]>) -> Scene {
        Scene::empty().and_file(name, contents)
    }

    /// The same with one more file.
    pub fn and_file(self, name: &str, contents: impl AsRef<[u8]>) -> Scene {
        std::fs::write(self.path().join(name), contents).expect("a file can be written");
        self
    }

    /// The same with this text on standard input.
    pub fn and_input(mut self, text: &str) -> Scene {
        text.clone_into(&mut self.input);
        self
    }

    /// The directory.
    pub fn path(&self) -> PathBuf {
        match &self.directory {
            Place::Temporary(directory) => directory.path().to_path_buf(),
            Place::Examples => root().join("examples"),
        }
    }

    /// Runs `hardbop` with arguments that are separated by blanks.
    pub fn output(&self, arguments: &str) -> Output {
        let mut child = hardbop(&self.path())
            .args(arguments.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("hardbop starts");
        // A command that reads no input may be gone before it is written.
        let _ = child
            .stdin
            .take()
            .expect("it is piped")
            .write_all(self.input.as_bytes());
        child.wait_with_output().expect("hardbop ends")
    }

    /// Runs a command and compares what the user sees: standard output, standard error, the exit
    /// code.
    #[track_caller]
    pub fn check(&self, arguments: &str, expected: Expect) {
        expected.assert_eq(&picture(&self.output(arguments)));
    }

    /// Runs a command with `--json` and gives back the value that it prints.
    #[track_caller]
    pub fn json(&self, arguments: &str) -> serde_json::Value {
        let output = self.output(&format!("{arguments} --json"));
        assert_eq!(
            text(&output.stderr),
            "",
            "machines get everything on standard output"
        );
        let value: serde_json::Value =
            serde_json::from_slice(&output.stdout).expect("the output is one JSON value");
        let code = output.status.code().expect("it was not killed");
        assert_eq!(value["exit_code"], code, "the value tells the exit code");
        value
    }
}

/// What the user sees.
pub fn picture(output: &Output) -> String {
    let mut picture = text(&output.stdout);
    let errors = text(&output.stderr);
    if !errors.is_empty() {
        picture.push_str("[stderr]\n");
        picture.push_str(&errors);
    }
    let code = output
        .status
        .code()
        .map_or("killed".to_owned(), |code| code.to_string());
    picture.push_str(&format!("[exit {code}]\n"));
    picture
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the output is UTF-8")
}
