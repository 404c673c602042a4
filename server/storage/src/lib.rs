//! Transfers files between this machine and the stores that pipelines use.
//!
//! The only crate that uses OpenDAL. It reads no environment variables: callers pass credentials and
//! addresses as a map.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make the files that they look at"))]

pub mod browse;
pub mod snapshot;
pub mod transfer;
