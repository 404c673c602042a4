//! The local executor: the conformance suite, and its own tests.

#![allow(clippy::disallowed_methods, reason = "tests make the files that they look at")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod conformance;
mod cpusets;
mod disk_limits;
mod harness;
mod killed;
mod lower;
mod machine;
mod python;
mod terminal;
