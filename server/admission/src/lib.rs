//! Who starts, who waits and why, who gives back, and when a job would start: the sharing of one cluster.
//!
//! A [`Desk`] knows the cluster's pools, the tree of queues with what each is guaranteed and may hold, the jobs that wait
//! and those that hold something. [`Desk::pass`] decides: it goes through what waits in order (priority, then weighted
//! dominant-resource fairness, then age), lets in whole gangs, names those that have to give back, and says of the others
//! which rule keeps them. [`Desk::explain`] says the same of one job as data, with the holders by name, and
//! [`Desk::estimate`] when it may start, by playing the queue with the run times that are known.
//!
//! Everything is a value: no clock, no randomness but a seed, nothing that waits. `docs/admission.md` has the rules.

mod amounts;
mod behind;
mod check;
mod claims;
mod desk;
mod elsewhere;
mod explain;
mod faulty;
mod fits;
mod forecast;
mod giving;
mod grow;
mod head;
mod job;
mod ledger;
mod line;
mod makespan;
mod misfit;
mod named;
mod nodes;
mod order;
mod pass;
mod past;
mod planned;
mod random;
mod requeued;
mod room;
mod scattered;
mod settings;
pub mod simulate;
mod tree;
mod what_if;
mod words;

pub use amounts::Ask;
pub use desk::{Desk, JobId};
pub use fits::Block;
pub use forecast::Lasts;
pub use job::{Apart, Elastic, Length, Spec, TakenUp};
pub use line::turns;
pub use makespan::{Makespan, Step, makespan};
pub use named::{NamedLimit, NamedUse};
pub use nodes::NodeRoom;
pub use pass::{Pass, Preemption, Start, Victim};
pub use past::HeldBefore;
pub use planned::Scaler;
pub use random::Random;
pub use requeued::Requeued;
pub use settings::Settings;
pub use what_if::{Prospect, Tried};
pub use words::{Whose, in_line, sentence, used_up};
