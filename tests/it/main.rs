//! Integration tests, one binary.

mod api;
mod architecture;
mod cli;
mod cluster;
mod crash;
mod e2e;
mod guide;
mod sentences;
mod slurm;
mod support;
mod templates;
mod texts;
