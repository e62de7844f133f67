//! What comparing engines with all runs needs: programs, and their runs.

pub mod run;
pub mod tiny;
