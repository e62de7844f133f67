//! The files that a check can leave behind.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The files that a check can leave behind.
#[derive(Clone, Debug, Default, Args)]
pub struct Artifacts {
    /// Write a C file that, compiled together with the program, repeats the first failing run.
    #[arg(long, value_name = "OUT.c", help_heading = "Files to write")]
    pub harness: Option<PathBuf>,
    /// Write the claims behind the answers, for `hardbop certify` to check again.
    #[arg(long, value_name = "FILE", help_heading = "Files to write")]
    pub certificate: Option<PathBuf>,
    /// Write a witness for other tools to check: YAML, or GraphML if the name ends so.
    #[arg(long, value_name = "FILE", help_heading = "Files to write")]
    pub witness: Option<PathBuf>,
    /// The version of YAML witnesses; 2.1 has function contracts.
    #[arg(
        long,
        value_name = "VERSION",
        default_value = "2.0",
        help_heading = "Files to write"
    )]
    pub witness_version: WitnessVersion,
    /// Write a page for a browser to DIR/index.html: the path to step through, the proof.
    #[arg(long, value_name = "DIR", help_heading = "Files to write")]
    pub html: Option<PathBuf>,
    /// Write the results as SARIF 2.1.0, for code hosts and editors.
    #[arg(long, value_name = "FILE", help_heading = "Files to write")]
    pub sarif: Option<PathBuf>,
    /// Write the results as JUnit XML, for continuous integration.
    #[arg(long, value_name = "FILE", help_heading = "Files to write")]
    pub junit: Option<PathBuf>,
    /// Write the control flow by lines, with the first failing run, for Graphviz.
    #[arg(long, value_name = "FILE", help_heading = "Files to write")]
    pub dot: Option<PathBuf>,
    /// Write the same as a drawing.
    #[arg(long, value_name = "FILE", help_heading = "Files to write")]
    pub svg: Option<PathBuf>,
}

/// The version of YAML witnesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum WitnessVersion {
    /// Version 2.0.
    #[default]
    #[value(name = "2.0")]
    V2_0,
    /// Version 2.1.
    #[value(name = "2.1")]
    V2_1,
}
