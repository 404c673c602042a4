//! What executors have in common about workers: how one ended, in words; its logs, with the moments at which lines came;
//! what it reported; how its secrets are kept out of all of it; and a terminal in its place.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make the files that they look at"))]

pub mod ends;
pub mod log_times;
pub mod logs;
pub mod mask;
pub mod outputs;
pub mod place;
pub mod reports;
pub mod screen;
pub mod shell;
pub mod tails;
