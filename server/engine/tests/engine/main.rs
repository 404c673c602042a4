//! The engine on the real databases, over a cluster that only pretends.

mod admission;
mod crash;
mod fixture;
mod flow;
mod retries;
mod wishes;
