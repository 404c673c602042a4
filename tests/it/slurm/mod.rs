//! Jobs on a real Slurm of four nodes: `make test-slurm` brings one up and says where it is. Without one there is nothing to
//! run, so these tests are ignored.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

mod alone;
mod conformance;
mod containers;
mod example;
mod executor;
mod gangs;
mod harness;
mod mirror;
mod outside;
mod product;
mod rest;
mod scripts;
mod server;
mod single;
mod sudo;
