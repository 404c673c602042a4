//! GPUs over time: samples in the database, and what pages and the API show of them.

mod groups;
mod history;
mod idle;
mod node;
mod sample;
mod sampler;
mod span;

use crate::state::Web;

pub(crate) use history::gpu_history;
pub(crate) use idle::idle_gpus;

/// Starts the sampling.
pub(super) fn start(web: &Web) {
    sampler::start(web);
}
