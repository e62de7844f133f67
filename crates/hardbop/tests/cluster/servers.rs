//! Servers of this machine, started for a test and stopped with it.

use crate::project::{tell, wait};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A process that ends with the test.
pub struct Process {
    child: Child,
}

impl Process {
    /// Starts a command and waits until it says `ready`.
    fn ready(mut command: Command) -> Option<Process> {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut process = Process { child: child.ok()? };
        let stdout = process.child.stdout.take()?;
        let mut lines = BufReader::new(stdout).lines();
        lines
            .any(|line| line.is_ok_and(|line| line == "ready"))
            .then_some(process)
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Politely: it may have processes of its own.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &pid]).status();
        for _ in 0..50 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        self.kill();
    }
}

/// Where Python's packages of the tests are.
fn packages() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../third_party/cluster");
    path.join("hyperqueue").is_dir().then_some(path)
}

fn skipped(what: &str) {
    tell(&format!(
        "skipped: {what} is not installed; scripts/setup-test-tools installs it if it may"
    ));
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cluster")
        .join(name)
}

/// HyperQueue: a server and workers of one core, each a process.
pub struct HyperQueue {
    directory: tempfile::TempDir,
    workers: Vec<Process>,
    _server: Process,
    environment: Vec<(String, String)>,
}

impl HyperQueue {
    /// Starts it; `None` if it is not installed.
    pub fn start(workers: usize) -> Option<HyperQueue> {
        let Some(packages) = packages() else {
            skipped("HyperQueue");
            return None;
        };
        let directory = tempfile::tempdir().expect("a temporary directory");
        let environment = vec![("PYTHONPATH".to_owned(), packages.display().to_string())];
        let server = python("start-hq.py", &["server"], directory.path(), &environment);
        let mut hq = HyperQueue {
            directory,
            workers: Vec::new(),
            _server: server,
            environment,
        };
        for _ in 0..workers {
            hq.add_worker();
        }
        Some(hq)
    }

    /// One more worker.
    pub fn add_worker(&mut self) {
        let (directory, environment) = (self.directory.path(), &self.environment);
        let worker = python("start-hq.py", &["worker"], directory, environment);
        self.workers.push(worker);
    }

    /// Ends a worker, as if its machine lost power.
    pub fn kill_worker(&mut self) {
        let mut worker = self.workers.remove(0);
        worker.kill();
    }

    /// What `--on` is.
    pub fn on(&self) -> String {
        format!("hq:{}", self.directory.path().display())
    }

    /// What its clients need.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// The same with a command `hq` on the path.
    pub fn environment_with_command(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", script("bin").display());
        let mut environment = self.environment.clone();
        environment.push(("PATH".to_owned(), path));
        environment
    }
}

fn python(
    name: &str,
    arguments: &[&str],
    directory: &Path,
    environment: &[(String, String)],
) -> Process {
    let mut command = Command::new("python3");
    command
        .arg(script(name))
        .args(arguments)
        .arg(directory)
        .arg("1");
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    Process::ready(command).expect("it starts")
}

/// What a controller that was killed knows when it comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// What it wrote down the last time.
    Kept,
    /// Nothing of its jobs.
    Lost,
    /// What it knew when [`Slurm::start_late`] let it go on.
    Earlier,
}

/// Slurm: a controller and two nodes of one core.
pub struct Slurm {
    directory: tempfile::TempDir,
    /// The least number of a job, if it was restarted.
    first: std::cell::Cell<u32>,
    _process: Process,
    environment: Vec<(String, String)>,
}

impl Slurm {
    /// Starts it; `None` if it is not installed, or cannot be started by this user.
    pub fn start() -> Option<Slurm> {
        let installed = ["slurmctld", "slurmd", "munged", "sbatch"]
            .iter()
            .all(|name| {
                let directories = ["/usr/sbin", "/usr/bin"];
                directories
                    .iter()
                    .any(|directory| Path::new(directory).join(name).exists())
            });
        if !installed || !rustix::process::geteuid().is_root() {
            skipped("Slurm (for root)");
            return None;
        }
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut command = Command::new(script("start-slurm"));
        command.arg(directory.path());
        let process = Process::ready(command).expect("Slurm starts");
        let conf = directory.path().join("slurm.conf").display().to_string();
        Some(Slurm {
            directory,
            first: std::cell::Cell::new(0),
            _process: process,
            environment: vec![("SLURM_CONF".to_owned(), conf)],
        })
    }

    /// What its clients need.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The controller's process, as far as its file names one that is there: an empty one is being
    /// written, and one that is gone was killed.
    fn controller(&self) -> Option<String> {
        let pid = std::fs::read_to_string(self.directory.path().join("slurmctld.pid")).ok()?;
        let pid: u32 = pid.trim().parse().ok()?;
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        name.starts_with("slurmctld").then(|| pid.to_string())
    }

    /// Ends the controller at once, and starts it again with what it kept of its state.
    ///
    /// It writes its state down every few seconds, so it may take a job that runs for one that waits,
    /// or have forgotten it. Then it would use the job's number again; a node that still has that job
    /// refuses the second, is set aside by the controller, and nothing moves for minutes.
    /// `FirstJobId` is Slurm's way out of the latter; the former is for hardbop to see.
    pub fn restart_controller(&self, state: State) {
        wait("the controller's number", || self.controller().is_some());
        let pid = self.controller().expect("the controller");
        let killed = Command::new("kill").args(["-KILL", &pid]).status();
        assert!(killed.expect("kill").success());
        let down = || {
            !self
                .command("scontrol")
                .arg("ping")
                .status()
                .expect("scontrol")
                .success()
        };
        wait("its end", down);
        if state == State::Earlier {
            let path = self.directory.path();
            std::fs::copy(path.join("earlier"), path.join("state/job_state")).expect("a copy");
        }
        if state == State::Lost {
            let pattern = self.directory.path().join("state/job_state*");
            let found = glob::glob(pattern.to_str().expect("a plain path")).expect("a pattern");
            for file in found.filter_map(Result::ok) {
                std::fs::remove_file(file).expect("it can be removed");
            }
        }
        let first = self.first.get() + 1000;
        self.first.set(first);
        let conf = self.directory.path().join("slurm.conf");
        let text = std::fs::read_to_string(&conf).expect("a file");
        let kept = text.lines().filter(|line| !line.starts_with("FirstJobId"));
        let mut text: String = kept.map(|line| format!("{line}\n")).collect();
        text.push_str(&format!("FirstJobId={first}\n"));
        std::fs::write(&conf, text).expect("it can be written");
        let started = self.command("slurmctld").arg("-f").arg(conf).status();
        assert!(started.expect("slurmctld").success());
        wait("the controller", || !down());
    }

    /// Lets no job start until one is handed over and is written down as waiting.
    pub fn start_late(&self, hand_over: impl FnOnce()) {
        let partition = |state: &str| {
            let mut update = self.command("scontrol");
            let update = update.args(["update", "PartitionName=main", &format!("State={state}")]);
            assert!(update.status().expect("scontrol").success());
        };
        let path = self.directory.path();
        // One that is written there by its name, and no other that waits.
        let jobs = || {
            let bytes = std::fs::read(path.join("state/job_state")).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            text.matches("hardbop-").count()
        };
        partition("DOWN");
        let before = jobs();
        hand_over();
        wait("what it writes down", || jobs() > before);
        std::fs::copy(path.join("state/job_state"), path.join("earlier")).expect("a copy");
        partition("UP");
    }

    /// Ends the processes of all jobs at once, as if their nodes lost power, and lets Slurm start
    /// them again.
    pub fn kill_jobs(&self) {
        let output = Command::new("squeue")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .args(["--noheader", "--array", "--states=R", "--format=%i"])
            .output()
            .expect("squeue");
        for job in String::from_utf8_lossy(&output.stdout).lines() {
            let _ = self
                .command("scancel")
                .args(["--signal=KILL", "--full", job.trim()])
                .status();
        }
    }
}

impl Slurm {
    /// Tells how Slurm sees its nodes and jobs, and what it wrote down last.
    fn tell_state(&self) {
        for (name, argument) in [("sinfo", "--long"), ("squeue", "--long")] {
            let mut command = self.command(name);
            command.arg(argument).stdout(Stdio::piped());
            let output = command.stderr(Stdio::piped()).output().expect("it runs");
            tell(&format!("{name}: {output:?}"));
        }
        for name in ["slurmctld.log", "slurmd-one.log", "slurmd-two.log"] {
            let text = std::fs::read_to_string(self.directory.path().join(name));
            let text = text.unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let last = &lines[lines.len().saturating_sub(40)..];
            tell(&format!("{name}:\n{}", last.join("\n")));
        }
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.tell_state();
        }
        // A controller that was restarted is nobody's child.
        if let Some(pid) = self.controller() {
            let _ = Command::new("kill").arg(pid).status();
        }
    }
}

/// An object store that speaks S3's protocol: moto's server, on the loopback interface.
pub struct ObjectStore {
    _process: Process,
    environment: Vec<(String, String)>,
}

impl ObjectStore {
    /// Starts it; `None` if it is not installed.
    pub fn start() -> Option<ObjectStore> {
        let packages = packages().filter(|path| path.join("moto").is_dir());
        let Some(packages) = packages else {
            skipped("moto, an object store,");
            return None;
        };
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let child = Command::new("python3")
            .args([
                "-m",
                "moto.server",
                "-H",
                "127.0.0.1",
                "-p",
                &port.to_string(),
            ])
            .env("PYTHONPATH", &packages)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let process = Process { child };
        wait("moto", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let url = format!("http://127.0.0.1:{port}");
        let store = ObjectStore {
            _process: process,
            environment: vec![
                pair("AWS_ENDPOINT_URL", &url),
                pair("AWS_ACCESS_KEY_ID", "test"),
                pair("AWS_SECRET_ACCESS_KEY", "test"),
                pair("PYTHONPATH", &packages.display().to_string()),
            ],
        };
        store.python("import boto3; boto3.client('s3', region_name='us-east-1').create_bucket(Bucket='proofs')");
        Some(store)
    }

    /// What its clients need.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Does something with another client.
    pub fn python(&self, program: &str) {
        let status = Command::new("python3")
            .args(["-c", program])
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .status();
        assert!(status.expect("python").success());
    }
}
