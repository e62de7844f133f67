//! The commands and options that are about projects.

use clap::Args;
use hardbop_cluster::site::On;
use std::path::PathBuf;

/// `hardbop init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hardbop init                 write hardbop.toml for the C files below this directory
  hardbop check                then check them all")]
pub struct InitArgs {
    /// The project's directory.
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
}

/// What `hardbop check` takes about projects.
#[derive(Clone, Debug, Default, Args)]
pub struct ProjectArgs {
    /// Where the items of the project are checked: `local`, `hq[:SERVER]` or `slurm[:PARTITION]`.
    #[arg(long, value_name = "WHERE", value_parser = On::parse, help_heading = "Projects")]
    pub on: Option<On>,
    /// Go on watching the run of the project that is on.
    #[arg(long, help_heading = "Projects", conflicts_with_all = ["cancel", "on"])]
    pub attach: bool,
    /// Cancel the run of the project that is on.
    #[arg(long, help_heading = "Projects", conflicts_with = "on")]
    pub cancel: bool,
    /// Put the claims behind stored answers through the gate again, before they are believed.
    #[arg(long, help_heading = "Projects")]
    pub recheck: bool,
    /// Give items that run out of time to several engines, each on a node of its own.
    #[arg(long, help_heading = "Projects")]
    pub split: bool,
    /// The site file: what the scheduler is asked for.
    #[arg(long, value_name = "FILE", help_heading = "Projects")]
    pub site: Option<PathBuf>,
    /// Where answers are kept: a directory that all machines see, or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "PLACE", help_heading = "Projects")]
    pub store: Option<String>,
}

impl ProjectArgs {
    /// The first option that was given.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--on", self.on.is_some()),
            ("--attach", self.attach),
            ("--cancel", self.cancel),
            ("--recheck", self.recheck),
            ("--split", self.split),
            ("--site", self.site.is_some()),
            ("--store", self.store.is_some()),
        ];
        all.into_iter()
            .find(|(_, given)| *given)
            .map(|(name, _)| name)
    }
}

/// `hardbop cache`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hardbop cache                        what is kept for this project, and how large it is
  hardbop cache --check                read all of it; what is damaged is thrown away
  hardbop cache --prune --days 30      throw away what was written more than 30 days ago
  hardbop cache --store s3://ci/proofs")]
pub struct CacheArgs {
    /// The store: a directory, or s3://BUCKET/PREFIX; that of the project, unless told.
    #[arg(long, value_name = "PLACE")]
    pub store: Option<String>,
    /// Read everything; throw away what is damaged.
    #[arg(long)]
    pub check: bool,
    /// Throw away old entries, and claims that no entry names.
    #[arg(long)]
    pub prune: bool,
    /// How old an entry is that is thrown away.
    #[arg(long, value_name = "DAYS", default_value_t = 30.0, requires = "prune")]
    pub days: f64,
    /// Throw away the oldest entries until the rest is no larger than this, in MiB.
    #[arg(long, value_name = "MIB", requires = "prune")]
    pub most: Option<u64>,
}

/// `hardbop work`.
#[derive(Debug, Args)]
pub struct WorkArgs {
    /// The run's directory.
    #[arg(long, value_name = "DIR")]
    pub run: PathBuf,
    /// The wave.
    #[arg(long, value_name = "NUMBER")]
    pub wave: u32,
    /// The task; unless told, the one that the scheduler says.
    #[arg(long, value_name = "NUMBER")]
    pub task: Option<u32>,
}
