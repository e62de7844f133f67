//! The command that begins a project.

use clap::Args;
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
