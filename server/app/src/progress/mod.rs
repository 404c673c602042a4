//! The progress of a run for people: the known state of every task, as lines, as a live block, and as the
//! final table.

mod live;
mod model;
mod report;
mod status;

pub use live::Live;
pub use model::View;
pub use report::{failures, report, report_json};

#[cfg(test)]
mod tests;
