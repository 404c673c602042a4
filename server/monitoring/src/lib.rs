//! Usage of clusters' nodes and GPUs, read from Prometheus or from this machine's executor.
//!
//! Only [`Prometheus`] does any I/O. Its queries are in `queries`, and `assemble` combines the responses.
//! [`advice`] evaluates the history of a GPU, or of a task's workers. These are pure.

mod about;
pub mod advice;
mod answer;
mod assemble;
mod look;
mod prometheus;
mod queries;
mod recent;
mod state;
mod unit;
mod workers;

pub use look::{EXPORTERS, Exporter, Exporters, GOOD_FOR, PATIENCE, exporters, history, look, usage};
pub use prometheus::{Prometheus, SourceError};
pub use recent::Recent;
pub use state::CardState;
pub use workers::{cards_over_time, cards_worked, hour_of, pods_used, workers};
