//! Admission for one cluster: which jobs start, which stay pending and why, which are preempted, and when a
//! job would start.
//!
//! A [`Desk`] has the cluster's pools, the queue tree with guarantees and limits, and the pending and running
//! jobs. [`Desk::pass`] runs a scheduling cycle. It visits pending jobs in order (priority, then weighted
//! dominant-resource fairness, then age) and admits whole gangs. It also names preemption targets, and the
//! rule that blocks each remaining job. [`Desk::explain`] says the same of one job as data, with the holders
//! by name. [`Desk::estimate`] says when it may start, by simulating the queue with known run times.
//!
//! Everything is a value: no clock, no randomness but a seed, and nothing blocks. See `docs/admission.md` for
//! the rules.

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
mod queue;
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
pub use queue::PendingGpus;
pub use random::Random;
pub use requeued::Requeued;
pub use settings::Settings;
pub use what_if::{Prospect, Tried};
pub use words::{Whose, in_line, sentence, used_up};
