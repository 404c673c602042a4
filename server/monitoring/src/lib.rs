//! What the nodes and cards of clusters do, read from where it is measured: Prometheus, or the executor of this machine.
//!
//! [`Prometheus`] is the only one here that speaks to anybody. What it asks is in `queries`, what becomes of the answers
//! in `assemble`; [`advice`] looks at the history of a card, and of the workers of a task. These are pure.

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
