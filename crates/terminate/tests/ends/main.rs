//! What is found out about the ends of programs.

mod common;
mod enumeration;
mod programs;
mod tiny;
