//! Random C programs: a seed is a program, on every machine.

pub mod arrays;
pub mod branches;
pub mod bytes;
pub mod c;
pub mod lists;
pub mod loops;
pub mod pointers;
pub mod tiny;
