//! Runs.

pub mod view;
