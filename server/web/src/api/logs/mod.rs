//! Logs.

pub mod view;
