//! The engine on the real databases, with a fake cluster.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod admission;
mod cards;
mod crash;
mod elastic;
mod fixture;
mod flow;
mod given_up;
mod growth;
mod hang;
mod history;
mod limits;
mod marks;
mod nodes;
mod parts;
mod preflight;
mod retries;
mod search;
mod servers;
mod sharing;
mod sizing;
mod wishes;
