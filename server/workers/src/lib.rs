//! What executors share about workers: their ends as text, their logs with timestamps, their reports, the
//! masking of their secrets in all of these, and terminals.

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
