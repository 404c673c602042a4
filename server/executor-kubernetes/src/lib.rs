//! The Kubernetes executor: applies, watches, stops and deletes the manifests of jobs, and follows their
//! logs.
//!
//! `watch` keeps the state of all objects on the `board`. Each `attempt` reads it after a change, and the
//! pure modules (`pods`, `roots`, `judge`) draw conclusions. Operators handle their objects themselves: an
//! object's status says how its job ended, and the pods say which worker was the first cause.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make the files that they look at"))]

mod access;
mod aside;
mod attempt;
mod board;
mod cards;
mod claim;
mod cluster;
mod config;
mod deleted;
mod elastic;
mod error;
mod executor;
mod facts;
mod folders;
mod follow;
mod idle;
mod janitor;
mod judge;
mod logs;
mod lost;
mod measured;
mod node_use;
mod objects;
mod outputs;
mod pace;
mod pods;
mod present;
mod pulse;
mod quantity;
mod queues;
mod resized;
mod resizes;
mod roots;
mod rules;
mod samples;
mod stacks;
mod stamped;
mod standing;
mod stop;
mod submit;
mod survey;
mod suspend;
mod taken;
mod terminal;
#[cfg(test)]
mod testing;
mod used;
mod watch;

pub use access::{Access, AccessError, contexts};
pub use config::{CardLines, CardMeter, CardsWorked, KubernetesConfig, Owners, PodMeter, PodsUsed};
pub use executor::KubernetesExecutor;
