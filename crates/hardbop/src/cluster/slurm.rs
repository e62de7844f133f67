//! Slurm: a wave is an array of jobs.

use super::{Alive, Submission, Trouble, quoted};
use hardbop_cluster::TaskId;
use hardbop_cluster::site::Site;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Slurm, reached by its commands.
pub struct Slurm {
    partition: Option<String>,
    arguments: Vec<String>,
    prologue: String,
}

impl Slurm {
    /// Slurm with a partition and what the site says.
    pub fn new(partition: Option<&str>, site: &Site) -> Slurm {
        Slurm {
            partition: partition.map(str::to_owned),
            arguments: site.arguments.clone(),
            prologue: site.prologue.clone(),
        }
    }

    /// Hands tasks over.
    pub fn submit(&self, submission: &Submission<'_>) -> Result<String, Trouble> {
        let arguments = self.submit_arguments(submission);
        let command = quoted(submission.command);
        let script = format!("#!/bin/sh\n{}\nexec {command}\n", self.prologue);
        let mut child = Command::new("sbatch")
            .args(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Trouble(format!("cannot start `sbatch`: {error}")))?;
        if let Some(mut stdin) = child.stdin.take() {
            // If it does not listen, it will say why.
            let _ = stdin.write_all(script.as_bytes());
        }
        let output = child
            .wait_with_output()
            .map_err(|error| Trouble(format!("cannot wait for `sbatch`: {error}")))?;
        let said = said("sbatch", &output)?;
        // `--parsable`: the number, and the cluster's name where there are several.
        let job = said.trim().split(';').next().unwrap_or_default();
        match !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit()) {
            // A controller that lost its state uses numbers again: the name tells jobs apart.
            true => Ok(format!("{job} {}", submission.name)),
            false => Err(Trouble(format!("`sbatch` says `{}`", said.trim()))),
        }
    }

    /// The arguments of `sbatch`.
    fn submit_arguments(&self, submission: &Submission<'_>) -> Vec<String> {
        let request = submission.request;
        let mut arguments = vec![
            "--parsable".to_owned(),
            format!("--job-name={}", submission.name),
            format!("--array=0-{}", submission.tasks.saturating_sub(1)),
            format!("--chdir={}", submission.directory.display()),
            format!("--output={}/%A-%a.txt", submission.complaints.display()),
            "--open-mode=append".to_owned(),
            "--requeue".to_owned(),
            "--ntasks=1".to_owned(),
            format!("--cpus-per-task={}", request.cores),
        ];
        if let Some(seconds) = request.seconds {
            // Slurm counts in minutes.
            arguments.push(format!("--time={}", seconds.div_ceil(60)));
        }
        if let Some(mib) = request.mib {
            arguments.push(format!("--mem={mib}"));
        }
        if let Some(partition) = &self.partition {
            arguments.push(format!("--partition={partition}"));
        }
        arguments.extend(self.arguments.iter().cloned());
        arguments
    }

    /// Which tasks are not over.
    pub fn alive(&self, job: &str) -> Result<Alive, Trouble> {
        let (number, name) = named(job);
        let output = Command::new("squeue")
            .args(["--noheader", "--array", "--format=%K %r", "--jobs", number])
            .args(name)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Trouble(format!("cannot start `squeue`: {error}")))?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        if complaint.contains("Invalid job id") {
            return Ok(Alive::None);
        }
        let said = said("squeue", &output)?;
        let tasks: BTreeSet<TaskId> = said.lines().filter_map(lives).collect();
        Ok(match tasks.is_empty() {
            true => Alive::None,
            false => Alive::These(tasks),
        })
    }

    /// Cancels a job.
    pub fn cancel(&self, job: &str) {
        let (number, name) = named(job);
        // Tasks look for themselves whether they are wanted.
        let _ = Command::new("scancel")
            .args(["--quiet", number])
            .args(name)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

/// The task of a line of `squeue`, with why it waits, if it is going to run.
///
/// A job that could not be started is put back into the queue and held: nobody but an administrator
/// lets it go. That happens if a controller that was killed remembers a job as waiting that a node
/// has started already. (One that a person holds is left to that person.)
fn lives(line: &str) -> Option<TaskId> {
    let (number, reason) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    let stuck = reason.contains("requeued") && reason.contains("held");
    number.parse().ok().map(TaskId).filter(|_| !stuck)
}

/// The number of a job, and the option that names it.
fn named(job: &str) -> (&str, Option<String>) {
    match job.split_once(' ') {
        Some((number, name)) => (number, Some(format!("--name={name}"))),
        None => (job, None),
    }
}

fn said(command: &str, output: &Output) -> Result<String, Trouble> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let first = complaint.lines().next().unwrap_or("it says nothing");
    Err(Trouble(format!("`{command}` failed: {first}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use hardbop_cluster::site::{ItemLimits, On};
    use std::path::Path;

    #[test]
    fn what_slurm_holds_back_by_itself_is_lost() {
        let tasks = |said: &str| said.lines().filter_map(lives).collect::<Vec<_>>();
        let said = "0 None\n1 Resources\n  2 launch failed requeued held\n3 JobHeldUser\n4\n";
        assert_eq!(tasks(said), [TaskId(0), TaskId(1), TaskId(3), TaskId(4)]);
        assert_eq!(
            tasks("5 job requeued in held state\n6 (null)\n"),
            [TaskId(6)]
        );
        assert_eq!(tasks("N/A None\n"), []);
    }

    #[test]
    fn limits_become_arguments_with_margins() {
        let site = Site {
            arguments: vec!["--account=proofs".to_owned()],
            ..Site::default()
        };
        let limits = ItemLimits {
            seconds: Some(60.0),
            mib: Some(2000),
        };
        let request = site.request(limits, 30.0);
        let Ok(On::Slurm(partition)) = On::parse("slurm:long") else {
            panic!("a partition");
        };
        let slurm = Slurm::new(partition.as_deref(), &site);
        let arguments = slurm.submit_arguments(&Submission {
            name: "hardbop",
            command: &[],
            tasks: 12,
            request: &request,
            directory: Path::new("/project"),
            complaints: Path::new("/project/.hardbop/runs/1/complaints"),
            tries: 3,
        });
        expect![[r#"
            --parsable
            --job-name=hardbop
            --array=0-11
            --chdir=/project
            --output=/project/.hardbop/runs/1/complaints/%A-%a.txt
            --open-mode=append
            --requeue
            --ntasks=1
            --cpus-per-task=1
            --time=4
            --mem=3768
            --partition=long
            --account=proofs"#]]
        .assert_eq(&arguments.join("\n"));
    }
}
