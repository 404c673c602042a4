//! How much memory and CPU a task should get, from the usage of its earlier attempts.
//!
//! A [`Learner`] learns from attempts that have ended and recommends what the next one should get. A
//! recommendation has a reason, a confidence and the probability of an OOM kill. [`recommend()`] applies it
//! to one role of the next attempt. [`replay`] plays a trace of attempts to any policy and computes the cost.
//! Everything is a value: no clock, no store, no randomness but a seed. See `docs/sizing.md` for the rules
//! and results.

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
