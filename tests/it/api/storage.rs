//! Secrets, volumes, registries, clusters.

mod archive;
mod bucket;
pub mod clusters;
mod files;
mod masks;
mod registries;
mod secrets;
mod volumes;
