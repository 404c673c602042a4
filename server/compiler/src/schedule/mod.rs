//! When a pipeline runs by schedule: the scheduled moments, catch-up for missed ones, and whether a due run
//! may start. There is no clock here: the caller passes the current time.

mod after;
mod arrivals;
mod bounds;
mod calendar;
mod decide;
mod missed;
mod rhythm;

pub use after::awaited;
pub use arrivals::Arrivals;
pub use calendar::Calendar;
pub use decide::{Past, Situation, Verdict, Why, decide, starts_at};
pub use missed::{Due, GRACE, due};
