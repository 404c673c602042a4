//! Integration tests, one binary.

mod api;
mod architecture;
mod benchmarks;
mod cli;
mod cluster;
mod crash;
mod e2e;
mod guide;
mod hostile;
mod sentences;
mod slurm;
mod support;
mod templates;
mod texts;
mod tools;
