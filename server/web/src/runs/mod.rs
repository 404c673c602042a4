//! Runs: reading them for lists and pages, starting them, and user commands.

pub(crate) mod advice;
pub(crate) mod compared;
mod counts;
pub(crate) mod describe;
pub(crate) mod difference;
pub(crate) mod effective;
pub(crate) mod grid;
pub(crate) mod items;
pub(crate) mod job;
mod lines;
pub(crate) mod listed;
mod notes;
pub(crate) mod path;
mod plans;
pub(crate) mod queued;
pub(crate) mod reader;
pub(crate) mod remove;
pub(crate) mod reported;
pub(crate) mod results;
pub(crate) mod resumed;
pub(crate) mod search;
pub(crate) mod secrets;
pub(crate) mod series;
pub(crate) mod start;
pub(crate) mod task;
pub(crate) mod usage;
mod waits;
pub(crate) mod wish;

use counts::Counts;
use effective::Times;
use grid::Grids;
use listed::Read;
pub(crate) use notes::Notes;
use plans::Plans;
pub(crate) use reader::Reader;
use results::ResultCache;

/// In-memory caches of runs.
#[derive(Default)]
pub(crate) struct Runs {
    plans: Plans,
    counts: Counts,
    times: Times,
    read: Read,
    notes: Notes,
    grids: Grids,
    results: ResultCache,
}

impl Runs {
    /// What programs report while they run.
    pub(crate) fn notes(&self) -> &Notes {
        &self.notes
    }
}
