//! How much memory and CPU a task should get, from what its earlier attempts used.
//!
//! A [`Learner`] takes in attempts that have ended and says what the next one should get, with a reason, how sure that is and
//! how likely memory runs out; [`recommend()`] asks it about one role of the next attempt. [`replay`] plays a trace of attempts to any policy and counts what it would have cost.
//! Everything is a value: no clock, no store, no randomness but a seed. `docs/sizing.md` has the rules and the figures.

pub mod generate;
mod learner;
mod line;
mod place;
mod policy;
mod recommend;
pub mod replay;
mod shares;
mod tail;
pub mod trace;

pub use learner::{Advice, Basis, ENOUGH, Learner, MANY, Settings};
pub use place::{keep_placeable, keep_possible};
pub use policy::{BOUNDS, BUILT_IN, Policy, built_in};
pub use recommend::{
    Question, Taught, grown, in_hindsight, keep_within, recommend, recommend_by, was_short_of_cpu,
};
pub use trace::{Attempt, Status, TraceError};
