//! Live events: what happens to runs, told to whoever listens, so that nothing is lost and nobody who is slow makes
//! the server hold more for them.
//!
//! The store is the truth; the engine's events only say where to look. Of each run that somebody listens to, one
//! [`keep_run`] task reads what has changed and puts it into the run's [`room::Room`]: a ring of the latest events, each
//! made into text once. A listener has nothing but its place in the ring. Whoever has fallen behind it, or comes back
//! after too long, gets a snapshot of the present state, and then changes again.

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
