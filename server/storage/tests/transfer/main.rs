//! Transfers for real: on this machine's disk, from web servers with all their faults, with a real S3 server.

#![expect(clippy::unwrap_used, reason = "clippy knows functions marked as tests, not their helpers")]

mod helpers;
mod local;
mod names;
mod program;
mod s3;
mod web;
mod web_server;
