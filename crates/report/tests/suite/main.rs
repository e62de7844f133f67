//! Renders results of small programs and compares what the reader sees.

mod support;
mod traces;
