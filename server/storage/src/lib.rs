//! Files between this machine and the stores that pipelines read from and write to.
//!
//! The only crate that knows OpenDAL. It reads no environment: credentials and addresses are handed in as a map.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make the files that they look at"))]

pub mod browse;
pub mod snapshot;
pub mod transfer;
