//! Live events of runs. No event is lost, and slow listeners take no extra memory on the server.
//!
//! The store is the source of truth: engine events only say what to read. Each run with listeners has one
//! [`keep_run`] task. It reads changes and appends them to the run's [`room::Room`]: a ring buffer of the
//! latest events, each serialized once. A listener is only a position in the buffer. One that has fallen
//! behind, or reconnects too late, gets a snapshot of the current state, and then changes again.

mod elsewhere;
mod frame;
mod hub;
mod keep_run;
mod keep_runs;
mod listener;
mod room;
mod seats;
pub(crate) mod stream;

pub(crate) use hub::Hub;
pub(crate) use listener::{OfRun, OfRuns};
pub(crate) use seats::Seats;
