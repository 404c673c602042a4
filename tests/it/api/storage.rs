//! Secrets, volumes, registries, clusters.

mod bucket;
pub mod clusters;
mod files;
mod masks;
mod registries;
mod secrets;
mod volumes;
