//! The tests of leaping: the paper's procedures, further loops, and random ones.

mod concrete;
mod exact;
mod loops;
mod papers;
mod soundness;
mod support;
mod theorems;
