//! The progress of a run for people: the known state of every task, as lines, as a live block, and as the
//! final table.

mod board;
mod live;
mod model;
mod report;
mod status;

pub use board::{Board, Line};
pub use live::Live;
pub use model::View;
pub use report::{FAILURES, Failed, OUTPUTS, Report, Results, Row, junit, records_json};
pub use status::Status;

#[cfg(test)]
mod tests;
