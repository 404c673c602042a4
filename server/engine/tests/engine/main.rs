//! The engine on the real databases, over a cluster that only pretends.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod admission;
mod crash;
mod fixture;
mod flow;
mod history;
mod limits;
mod parts;
mod retries;
mod search;
mod sharing;
mod wishes;
