//! A small project with proved, violated, broken and hard files, and its runs.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A program that takes all the time that it is given: whether the sequence comes to 1.
const HARD: &str = "extern unsigned long __VERIFIER_nondet_ulong(void);
extern void reach_error(void);
int main(void) {
  unsigned long x = __VERIFIER_nondet_ulong(), y = __VERIFIER_nondet_ulong();
  if (x < 2 || y < 2 || x > 0xfffffffful || y > 0xfffffffful) return 0;
  unsigned long z = x * y, n = 0;
  while (z > 1) { z = z % 2 ? 3 * z + 1 : z / 2; n++; if (n == 0xfffffful && x * y == 0x1fffffffffffff1ul) reach_error(); }
  return 0;
}
";

/// A program whose violation is a matter of two choices and fifty rounds: predicates do not come to
/// its end in seconds, paths do at once, in the two quarters of them that choose differently.
const IN_PARTS: &str = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
  int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int(), n = 0;
  if (a > 0) n += 1; else n += 2;
  if (b > 0) n += 1; else n += 2;
  for (int i = 0; i < 50; i++) n += 3;
  if (n == 153) reach_error();
  return 0;
}
";

/// A project in a directory of its own.
pub struct Project {
    directory: tempfile::TempDir,
}

/// A run of it that goes on.
pub struct Started {
    child: Option<Child>,
}

type Environment = [(String, String)];

impl Project {
    /// So many good, bad and broken files each, and a hard one.
    pub fn new(count: usize) -> Project {
        let project = Project::hard();
        for number in 0..count {
            let good = format!(
                "#include <assert.h>\n#include \"limit.h\"\nint main(void) {{ int x = {number}; assert(x < LIMIT); return 0; }}\n"
            );
            project.write(&format!("good_{number}.c"), &good);
            let bad = format!(
                "extern void reach_error(void);\nint main(void) {{ int x = {number}; if (x >= 0) reach_error(); return x; }}\n"
            );
            project.write(&format!("bad_{number}.c"), &bad);
            let loops = format!(
                "#include <assert.h>\nint main(void) {{ int i = 0; while (i < {}) i++; assert(i > 0); return 0; }}\n",
                number + 5
            );
            project.write(&format!("loop_{number}.c"), &loops);
        }
        project.write("broken.c", "int main(void) { return undeclared; }\n");
        project.write("limit.h", "#define LIMIT 100\n");
        project
    }

    /// The hard file alone.
    pub fn hard() -> Project {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let project = Project { directory };
        project.write(
            "hardbop.toml",
            "files = [\"*.c\"]\ntime_limit = 3\njobs = 2\n",
        );
        project.write("hard.c", HARD);
        project
    }

    /// A file that the project's engine has no time for.
    pub fn in_parts() -> Project {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let project = Project { directory };
        project.write("hardbop.toml", &Project::by_slam(""));
        project.write("parts.c", IN_PARTS);
        project
    }

    /// Hands what it has no time for to others.
    pub fn split_by(&self, lane: &str) {
        self.write(
            "hardbop.toml",
            &Project::by_slam(&format!("split = [\"{lane}\"]\n")),
        );
    }

    fn by_slam(more: &str) -> String {
        format!("files = [\"*.c\"]\nengine = \"slam\"\ntime_limit = 3\n{more}")
    }

    /// One file with six checks, of which the fourth is violated, in three groups.
    pub fn grouped() -> Project {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let project = Project { directory };
        project.write(
            "hardbop.toml",
            "files = [\"many.c\"]\ntime_limit = 60\ngroups = 3\n",
        );
        let checks: String = (0..6)
            .map(|number| {
                let bound = if number == 3 { 3 } else { 10 };
                format!("  assert(x + {number} < {bound});\n")
            })
            .collect();
        let text = format!(
            "#include <assert.h>\nint main(void) {{\n  int x = 1;\n{checks}  return 0;\n}}\n"
        );
        project.write("many.c", &text);
        project
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file of it.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("a file can be written");
    }

    /// Forgets all answers and runs.
    pub fn forget(&self) {
        let _ = std::fs::remove_dir_all(self.path().join(".hardbop"));
    }

    /// The command that checks it.
    pub fn command(&self, environment: &Environment, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hardbop"));
        let variables = environment.iter().map(|(name, value)| (name, value));
        command
            .arg("check")
            .args(arguments)
            .envs(variables)
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// What checking it gives.
    pub fn output_in(&self, environment: &Environment, arguments: &[&str]) -> Output {
        self.command(environment, arguments)
            .output()
            .expect("it runs")
    }

    /// The final table.
    pub fn table_in(&self, environment: &Environment, arguments: &[&str]) -> String {
        let output = self.output_in(environment, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(1),
            "a violation is found: {said}"
        );
        plain(&output.stdout)
    }

    /// The final table, with nothing of a cluster in the environment.
    pub fn table(&self, arguments: &[&str]) -> String {
        self.table_in(&[], arguments)
    }

    /// What it complains about.
    pub fn complaint(&self, environment: &Environment, arguments: &[&str]) -> String {
        let output = self.output_in(environment, arguments);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).expect("text")
    }

    /// Starts checking it.
    pub fn start_in(&self, environment: &Environment, arguments: &[&str]) -> Started {
        let mut command = self.command(environment, arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = Some(command.spawn().expect("it starts"));
        Started { child }
    }

    /// The journals of the run.
    pub fn journals(&self) -> Vec<std::path::PathBuf> {
        let pattern = self.path().join(".hardbop/runs/*/journals/[0-9]*.journal");
        let found = glob::glob(pattern.to_str().expect("a plain path")).expect("a pattern");
        found.filter_map(Result::ok).collect()
    }

    /// How many runs are known.
    pub fn runs(&self) -> usize {
        let runs = std::fs::read_dir(self.path().join(".hardbop/runs"));
        runs.map_or(0, Iterator::count)
    }

    /// Whether the scheduler has the first wave.
    pub fn is_handed_out(&self) -> bool {
        let pattern = self.path().join(".hardbop/runs/*/wave-0.job");
        let mut found = glob::glob(pattern.to_str().expect("a plain path")).expect("a pattern");
        found.next().is_some()
    }

    /// Waits until so many processes have taken a task.
    pub fn wait_for_journals(&self, count: usize) {
        wait("journals", || self.journals().len() >= count);
    }

    /// Waits until a node has written something down.
    pub fn wait_for_line(&self, word: &str) {
        wait(word, || self.has_line(word));
    }

    /// Whether a node has written something down.
    pub fn has_line(&self, word: &str) -> bool {
        let texts = self
            .journals()
            .into_iter()
            .filter_map(|path| std::fs::read_to_string(path).ok());
        texts
            .into_iter()
            .any(|text| text.contains(&format!("{{\"{word}\"")))
    }
}

/// A table as text. Which of several clocks ended the hard item is not always told alike.
pub fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.replace("the solver does not know: the time", "the time")
}

#[expect(
    clippy::print_stderr,
    reason = "whoever reads the log of a failure must see what it came from"
)]
pub fn tell(what: &str) {
    eprintln!("{what}");
}

/// Waits until something is so. Only what will never be so ends that: Slurm lets two minutes pass
/// before it starts again what a node did not take, and the machine may have other work.
pub fn wait(what: &str, is: impl Fn() -> bool) {
    let started = Instant::now();
    while !is() {
        assert!(
            started.elapsed() < Duration::from_secs(400),
            "waited for {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Started {
    /// Ends the client at once, as a closed laptop does.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("it was started");
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    }

    /// The final table.
    pub fn finish(mut self) -> String {
        let child = self.child.take().expect("it was started");
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(1),
            "a violation is found: {said}"
        );
        plain(&output.stdout)
    }

    /// The exit code and the table.
    pub fn end(mut self) -> (i32, String) {
        let child = self.child.take().expect("it was started");
        let output = child.wait_with_output().expect("it ends");
        let code = output.status.code().expect("it is not killed");
        (code, plain(&output.stdout))
    }

    /// Presses Ctrl-C. What it prints, and what it says.
    pub fn interrupt(mut self) -> (String, String) {
        let child = self.child.take().expect("it was started");
        let pid = child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &pid]).status();
        assert!(sent.expect("kill").success());
        let output = child.wait_with_output().expect("it ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (text(output.stdout), text(output.stderr))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        let ended = child.try_wait();
        let _ = child.kill();
        let output = child.wait_with_output();
        if std::thread::panicking() {
            tell(&format!("the client: {ended:?}, {output:?}"));
        }
    }
}
