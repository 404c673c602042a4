//! What tests share: builders that speak the domain, a clock moved by hand, a cluster that only pretends.

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
