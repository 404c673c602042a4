//! When a pipeline runs by itself: the moments of a schedule, what becomes of those that were missed, and whether one
//! that is due may start. There is no clock here: the present is handed in.

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
