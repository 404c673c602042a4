//! Secrets, volumes, registries, clusters.

mod advice;
mod archive;
mod bucket;
pub mod clusters;
mod files;
mod gpus;
mod masks;
mod monitoring;
mod registries;
mod rotation;
mod secrets;
mod volumes;
