//! Runs the `hardbop` command as a user does, and compares what the user sees.

mod abstraction;
mod arguments;
mod bad_input;
mod bebop;
mod bmc;
mod book;
mod bp;
mod c;
mod certify;
mod check;
mod conventions;
mod conventions_library;
mod conventions_unsupported;
mod explain;
mod leap;
mod limits;
mod project;
mod reports;
mod rules;
mod sarif;
mod scene;
mod sound_environment;
mod sound_language;
mod sound_memory;
mod svcomp;
mod witness;
