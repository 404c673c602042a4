//! Shared test utilities: builders for domain types, a clock moved by hand, a simulated cluster.

pub mod builders;
pub mod clock;
pub mod conformance;
pub mod cpu;
pub mod exporter;
pub mod fake;
pub mod ports;
pub mod postgres;
pub mod prometheus;
pub mod recording;
