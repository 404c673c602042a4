//! Real transfers: on this machine's disk, from faulty web servers, with a real S3 server and a real HDFS.

#![allow(clippy::disallowed_methods, reason = "tests make the files that they look at")]
#![expect(clippy::unwrap_used, reason = "clippy knows functions marked as tests, not their helpers")]

mod clouds;
mod full;
mod hdfs;
mod helpers;
mod local;
mod names;
mod program;
mod s3;
mod web;
mod web_server;
