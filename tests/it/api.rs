//! The REST API and the pages, against the real server.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

pub mod support;

mod accounting;
pub mod alerts;
mod assets;
mod command_line;
mod events;
mod forecast;
mod hostile;
pub mod identity;
mod models;
mod openapi;
mod operations;
mod pipelines;
mod places;
mod policy;
mod python;
mod quota_changes;
mod quotas;
mod rights;
pub mod runs;
mod schedules;
mod schemathesis;
mod search;
mod server;
mod sizing;
mod sorts;
mod storage;
