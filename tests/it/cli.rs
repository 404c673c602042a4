//! The command-line interface, as people and scripts use it.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

mod control;
mod documents;
mod examples;
mod faults;
mod first_run;
mod flow;
mod import;
mod kubernetes;
mod logs;
mod preflight;
mod processes;
mod rules;
mod secrets;
mod sizing;
mod slurm;
