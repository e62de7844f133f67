//! HyperQueue: a wave is a job with tasks.
//!
//! Its command `hq` is used where it is on the path; else its Python package, which has no such
//! command, by a small program (`hq.py`) that stays for as long as the run is watched.

use super::{Alive, Submission, Trouble, quoted};
use crate::failure::Failure;
use hardbop_cluster::TaskId;
use hardbop_cluster::seal::sha256;
use hardbop_cluster::site::Site;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const BRIDGE: &str = include_str!("hq.py");

/// HyperQueue.
pub struct HyperQueue {
    server: PathBuf,
    given: Option<String>,
    arguments: Vec<String>,
    prologue: String,
    memory_resource: Option<String>,
    by: By,
}

/// How it is reached.
enum By {
    Command,
    Package(Option<Bridge>),
}

/// The Python program that asks for us.
struct Bridge {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // It has nothing to lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl HyperQueue {
    /// The server of a directory, or the usual one.
    pub fn new(server: Option<&str>, site: &Site) -> HyperQueue {
        let home = std::env::home_dir().unwrap_or_default();
        let directory = server.map_or_else(|| home.join(".hq-server"), PathBuf::from);
        let directory = std::path::absolute(&directory).unwrap_or(directory);
        let by = match on_the_path("hq") {
            true => By::Command,
            false => By::Package(None),
        };
        HyperQueue {
            given: server.map(|_| directory.display().to_string()),
            server: directory,
            arguments: site.arguments.clone(),
            prologue: site.prologue.clone(),
            memory_resource: site.memory_resource.clone(),
            by,
        }
    }

    /// Whether there is a server.
    pub fn ready(&self) -> Result<(), Failure> {
        match self.mark() {
            Some(_) => Ok(()),
            None => Err(Failure::message(format!(
                "there is no HyperQueue server in `{}`: start one with `hq server start`, or name \
                 its directory: `--on hq:DIR`",
                self.server.display()
            ))),
        }
    }

    /// What tells this server from one that was started later in the same directory, which counts
    /// its jobs anew.
    fn mark(&self) -> Option<String> {
        let access = self.server.join("hq-current/access.json");
        let bytes = std::fs::read(access).ok()?;
        Some(sha256(&bytes)[..12].to_owned())
    }

    /// Hands tasks over.
    pub fn submit(&mut self, submission: &Submission<'_>) -> Result<String, Trouble> {
        let mark = self.mark().ok_or_else(|| self.gone())?;
        let command = match self.prologue.trim() {
            "" => submission.command.to_vec(),
            prologue => vec![
                "/bin/sh".to_owned(),
                "-c".to_owned(),
                format!("{prologue}\nexec {} \"$@\"", quoted(submission.command)),
                "sh".to_owned(),
            ],
        };
        let number = match &self.by {
            By::Command => self.submit_by_command(submission, &command)?,
            By::Package(_) => {
                let mut resources = BTreeMap::new();
                if let (Some(name), Some(mib)) = (&self.memory_resource, submission.request.mib) {
                    resources.insert(name.clone(), mib);
                }
                let answer = self.ask(&json!({
                    "do": "submit",
                    "name": submission.name,
                    "command": command,
                    "tasks": submission.tasks,
                    "cores": submission.request.cores,
                    "resources": resources,
                    "directory": submission.directory,
                    "complaints": submission.complaints,
                    "tries": submission.tries,
                }))?;
                answer["job"].as_u64()
            }
        };
        let number = number.ok_or_else(|| Trouble("HyperQueue gave no number".to_owned()))?;
        Ok(format!("{mark}:{number}"))
    }

    fn submit_by_command(
        &self,
        submission: &Submission<'_>,
        command: &[String],
    ) -> Result<Option<u64>, Trouble> {
        let request = submission.request;
        let mut arguments = vec![
            "submit".to_owned(),
            format!("--name={}", submission.name),
            format!("--array=0-{}", submission.tasks.saturating_sub(1)),
            format!("--cpus={}", request.cores),
            format!("--crash-limit={}", submission.tries),
            format!("--cwd={}", submission.directory.display()),
            "--stdout=none".to_owned(),
            format!(
                "--stderr={}/%{{TASK_ID}}.txt",
                submission.complaints.display()
            ),
        ];
        if let Some(seconds) = request.seconds {
            arguments.push(format!("--time-limit={seconds}s"));
            arguments.push(format!("--time-request={seconds}s"));
        }
        if let (Some(name), Some(mib)) = (&self.memory_resource, request.mib) {
            arguments.push(format!("--resource={name}={mib}"));
        }
        arguments.extend(self.arguments.iter().cloned());
        arguments.push("--".to_owned());
        arguments.extend(command.iter().cloned());
        let value = self.command(&arguments)?;
        Ok(value["id"].as_u64())
    }

    /// Which tasks are not over.
    pub fn alive(&mut self, job: &str, tasks: usize) -> Result<Alive, Trouble> {
        let Some((mark, number)) = job.split_once(':') else {
            return Ok(Alive::None);
        };
        match self.mark() {
            None => return Err(self.gone()),
            Some(now) if now != mark => return Ok(Alive::None),
            Some(_) => {}
        }
        let all = (0..u32::try_from(tasks).unwrap_or(u32::MAX)).map(TaskId);
        let alive: BTreeSet<TaskId> = match &self.by {
            By::Command => {
                let arguments = ["job", "info", number].map(str::to_owned);
                let value = self.command(&arguments)?;
                let over: BTreeSet<u64> = value[0]["tasks"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|task| {
                        let state = task["state"].as_str().unwrap_or_default();
                        matches!(state, "finished" | "failed" | "canceled" | "aborted")
                    })
                    .filter_map(|task| task["id"].as_u64())
                    .collect();
                if value[0].is_null() {
                    return Ok(Alive::None);
                }
                all.filter(|task| !over.contains(&u64::from(task.0)))
                    .collect()
            }
            By::Package(_) => {
                let number: u64 = number.parse().unwrap_or(0);
                let answer = self.ask(&json!({ "do": "alive", "job": number }))?;
                if answer["over"] == true {
                    return Ok(Alive::None);
                }
                let failed = answer["failed"].as_array();
                let failed: BTreeSet<u64> = failed
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_u64)
                    .collect();
                all.filter(|task| !failed.contains(&u64::from(task.0)))
                    .collect()
            }
        };
        Ok(match alive.is_empty() {
            true => Alive::None,
            false => Alive::These(alive),
        })
    }

    /// Cancels a job, where there is a command for that.
    pub fn cancel(&self, job: &str) {
        if let (By::Command, Some((mark, number))) = (&self.by, job.split_once(':'))
            && self.mark().as_deref() == Some(mark)
        {
            let _ = self.command(&["job", "cancel", number].map(str::to_owned));
        }
    }

    fn gone(&self) -> Trouble {
        let server = self.server.display();
        Trouble(format!("there is no HyperQueue server in `{server}`"))
    }

    /// What `hq` says.
    fn command(&self, arguments: &[String]) -> Result<Value, Trouble> {
        let mut command = Command::new("hq");
        command.arg("--output-mode=json");
        if let Some(server) = &self.given {
            command.arg(format!("--server-dir={server}"));
        }
        let output = command
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Trouble(format!("cannot start `hq`: {error}")))?;
        let value: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        if output.status.success() {
            return Ok(value);
        }
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        let complaint = value["error"].as_str().map_or(complaint, str::to_owned);
        let first = complaint.lines().next().unwrap_or("it says nothing");
        Err(Trouble(format!("`hq` failed: {first}")))
    }

    /// What the package says.
    fn ask(&mut self, what: &Value) -> Result<Value, Trouble> {
        let given = self.given.clone();
        let By::Package(bridge) = &mut self.by else {
            return Err(Trouble("`hq` is there".to_owned()));
        };
        let asked = bridge
            .take()
            .map_or_else(|| start(given.as_deref()), Ok)
            .and_then(|mut up| exchange(&mut up, what).map(|answer| (up, answer)));
        let (up, answer) = asked.map_err(|error| {
            Trouble(format!(
                "HyperQueue cannot be asked: there is no `hq` on the path, and Python's package \
                 `hyperqueue` says: {error}"
            ))
        })?;
        *bridge = Some(up);
        match answer["trouble"].as_str() {
            Some(trouble) => Err(Trouble(format!("HyperQueue says: {trouble}"))),
            None => Ok(answer),
        }
    }
}

fn start(server: Option<&str>) -> std::io::Result<Bridge> {
    let mut child = Command::new("python3")
        .args(["-c", BRIDGE])
        .args(server)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A Ctrl-C is for us.
        .process_group_of_its_own()
        .spawn()?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(stdin), Some(stdout)) => {
            let stdout = BufReader::new(stdout);
            Ok(Bridge {
                child,
                stdin,
                stdout,
            })
        }
        _ => Err(std::io::Error::other("no pipe")),
    }
}

trait Apart {
    fn process_group_of_its_own(&mut self) -> &mut Self;
}

impl Apart for Command {
    fn process_group_of_its_own(&mut self) -> &mut Command {
        std::os::unix::process::CommandExt::process_group(self, 0)
    }
}

fn exchange(bridge: &mut Bridge, what: &Value) -> std::io::Result<Value> {
    let sent = bridge.stdin.write_all(format!("{what}\n").as_bytes());
    let mut line = String::new();
    if sent.and_then(|()| bridge.stdin.flush()).is_err() || bridge.stdout.read_line(&mut line)? == 0
    {
        let mut said = String::new();
        if let Some(stderr) = &mut bridge.child.stderr {
            let _ = std::io::Read::read_to_string(stderr, &mut said);
        }
        let last = said.trim().lines().next_back().unwrap_or("it ended");
        return Err(std::io::Error::other(last.to_owned()));
    }
    serde_json::from_str(&line).map_err(std::io::Error::other)
}

fn on_the_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}
