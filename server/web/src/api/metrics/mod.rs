//! Measured values.

pub mod view;
