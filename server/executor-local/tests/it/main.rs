//! The executor for this machine: the conformance suite, and what only it does.

mod conformance;
mod harness;
mod killed;
mod lower;
mod machine;
