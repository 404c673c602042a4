//! Transfers for real: on this machine's disk, from web servers with all their faults, with a real S3 server.

mod helpers;
mod local;
mod program;
mod s3;
mod web;
mod web_server;
